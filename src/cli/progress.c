/* progress: the bar appears when a run takes long, and is drawn at most ten times a second, so that its cost is negligible. */
#include "cli/progress.h"
#include "cli/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define FIRST_DRAWN 0.3
#define DRAWN_EVERY 0.1
enum { BAR = 30, PATIENCE = 5 };

/* The only variables that the signal handler and the program share. */
static volatile sig_atomic_t is_watched, signal_seen;

/* The alarm ends a run that does not check the flag in time, because no step ends. The library blocks signals while a file is half
 * written. */
static void on_signal(int number) {
  if (!is_watched || signal_seen) _exit(128 + (number == SIGALRM && signal_seen ? (int)signal_seen : number));
  signal_seen = number;
  alarm(PATIENCE);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_catch_signals(void) {
  static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
  struct sigaction action = {.sa_handler = on_signal}, before;
  for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
    if (sigaction(caught[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) sigaction(caught[i], &action, NULL);
}

ProgressBar progress_begin(bool shown) {
  is_watched = true;
  double now = seconds();
  return (ProgressBar){.shown = shown && terminal_is_watched(), .begun = now, .next = now + FIRST_DRAWN};
}

static void draw_bar(double part) {
  static const char full[] = "==============================", empty[] = "                              ";
  int filled = (int)(BAR * part);
  fprintf(stderr, "\r[%.*s%.*s]", filled, full, BAR - filled, empty);
}

/* Seconds as people read them: 42 s, 3:20, 5 h. */
static void remaining(double seconds_left, char text[16]) {
  if (seconds_left < 100) snprintf(text, 16, "%.0f s", seconds_left);
  else if (seconds_left < 6000) snprintf(text, 16, "%d:%02d", (int)seconds_left / 60, (int)seconds_left % 60);
  else if (seconds_left < 3.6e6) snprintf(text, 16, "%.0f h", seconds_left / 3600);
  else snprintf(text, 16, "days");
}

static void draw(const ProgressBar *progress, const daedal_progress *now, double clock) {
  double length = now->stop_time - now->start_time, done = now->time - now->start_time;
  double part = length > 0 ? done / length : 1, gone = clock - progress->begun;
  part = part < 0 ? 0 : part > 1 ? 1 : part;
  char left[16];
  remaining(part > 0 ? gone * (1 - part) / part : HUGE_VAL, left);
  draw_bar(part);
  fprintf(stderr, " %3.0f%%  t = %.4g of %.4g, %" PRIu64 " steps, %.3g simulated s/s, %s left\033[K", 100 * part,
          now->time, now->stop_time, now->steps, done / gone, left);
  fflush(stderr);
}

static void draw_points(const daedal_sweep_progress *now) {
  double computed = now->finished - now->resumed, left = now->points - now->finished;
  char time_left[16];
  remaining(computed > 0 ? left * now->seconds / computed : HUGE_VAL, time_left);
  draw_bar(now->finished / (double)now->points);
  fprintf(stderr, " %" PRIu32 " of %" PRIu32 " points, %" PRIu32 " failed, %s left\033[K", now->finished, now->points,
          now->failed, time_left);
  fflush(stderr);
}

/* Is it time to draw? The clock is read only if the bar is shown. */
static bool is_due(ProgressBar *progress, double *clock) {
  progress->stopped = (int)signal_seen;
  if (!progress->shown) return false;
  *clock = seconds();
  if (*clock < progress->next) return false;
  progress->drawn = true;
  progress->next = *clock + DRAWN_EVERY;
  return true;
}

/* Announces the size of a large file before it fills the disk. */
static void announce_size(double bytes) {
  static const double gigabyte = 1e9;
  if (!(bytes > gigabyte)) return;
  fprintf(
      stderr,
      "daedal: the CSV file will have about %.1f GB. Smaller: --variables for some of the variables, --short for fewer "
      "digits, --output-interval for fewer rows, or --output-file FILE.mat, which holds aliases once\n",
      bytes / gigabyte);
}

bool progress_step(void *context, const daedal_progress *now) {
  ProgressBar *progress = context;
  double clock;
  if (progress->announces) announce_size(now->csv_bytes), progress->announces = false;
  if (is_due(progress, &clock)) draw(progress, now, clock);
  return progress->stopped != 0;
}

bool progress_points(ProgressBar *progress, const daedal_sweep_progress *now) {
  double clock;
  if (is_due(progress, &clock)) draw_points(now);
  return progress->stopped != 0;
}

void progress_end(ProgressBar *progress) {
  if (progress->drawn) fputs("\r\033[K", stderr);
  is_watched = false;
  alarm(0);
  progress->stopped = (int)signal_seen;
}
