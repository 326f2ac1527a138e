/* progress: the bar appears when a run takes long enough to be waited for, and is drawn ten times a second at most, so
 * that it costs nothing. */
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

static volatile sig_atomic_t signal_seen; /* the only way out of a signal handler */

/* A run that does not look at the flag in time, because no step ends, is ended by the alarm. */
static void on_signal(int number) {
  signal_seen = number;
  alarm(PATIENCE);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Signals that are handled in the `present` way, not those that the caller of the program lets be ignored. */
static void handle(void (*handler)(int), void (*present)(int)) {
  static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND}, before;
  for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
    if (sigaction(caught[i], NULL, &before) == 0 && before.sa_handler == present) sigaction(caught[i], &action, NULL);
}

ProgressBar progress_begin(bool shown) {
  handle(on_signal, SIG_DFL);
  double now = seconds();
  return (ProgressBar){.shown = shown && terminal_is_watched(), .begun = now, .next = now + FIRST_DRAWN};
}

static void draw_bar(double done, double whole) {
  static const char full[] = "==============================", empty[] = "                              ";
  int filled = whole > 0 ? (int)(BAR * done / whole) : BAR;
  filled = filled < 0 ? 0 : filled > BAR ? BAR : filled;
  fprintf(stderr, "\r[%.*s%.*s]", filled, full, BAR - filled, empty);
}

static void draw(const ProgressBar *progress, const daedal_progress *now, double clock) {
  double length = now->stop_time - now->start_time, done = now->time - now->start_time;
  draw_bar(done, length);
  fprintf(stderr, " t = %.4g of %.4g, %" PRIu64 " steps, %.3g simulated s/s\033[K", now->time, now->stop_time,
          now->steps, done / (clock - progress->begun));
  fflush(stderr);
}

static void draw_points(const daedal_sweep_progress *now) {
  double computed = now->finished - now->resumed, left = now->points - now->finished;
  draw_bar(now->finished, now->points);
  fprintf(stderr, " %" PRIu32 " of %" PRIu32 " points", now->finished, now->points);
  if (now->failed) fprintf(stderr, ", %" PRIu32 " failed", now->failed);
  if (computed > 0) fprintf(stderr, ", %.0f s left", ceil(left * now->seconds / computed));
  fputs("\033[K", stderr);
  fflush(stderr);
}

/* Whether it is time to draw; the clock is read only if somebody looks. */
static bool is_due(ProgressBar *progress, double *clock) {
  progress->stopped = (int)signal_seen;
  if (!progress->shown) return false;
  *clock = seconds();
  if (*clock < progress->next) return false;
  progress->drawn = true;
  progress->next = *clock + DRAWN_EVERY;
  return true;
}

bool progress_step(void *context, const daedal_progress *now) {
  ProgressBar *progress = context;
  double clock;
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
  handle(SIG_DFL, on_signal);
  alarm(0);
  progress->stopped = (int)signal_seen;
}
