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

/* Seconds as people read them: 42 s, 3:20, 5 h. */
static void remaining(double seconds_left, char text[16]) {
  if (seconds_left < 100) snprintf(text, 16, "%.0f s", seconds_left);
  else if (seconds_left < 6000) snprintf(text, 16, "%d:%02d", (int)seconds_left / 60, (int)seconds_left % 60);
  else if (seconds_left < 3.6e6) snprintf(text, 16, "%.0f h", seconds_left / 3600);
  else snprintf(text, 16, "days");
}

static void draw(const ProgressBar *progress, const daedal_progress *now, double clock) {
  static const char full[] = "==============================", empty[] = "                              ";
  double length = now->stop_time - now->start_time, done = now->time - now->start_time;
  double part = length > 0 ? done / length : 1, gone = clock - progress->begun;
  part = part < 0 ? 0 : part > 1 ? 1 : part;
  int filled = (int)(BAR * part);
  char left[16];
  remaining(part > 0 ? gone * (1 - part) / part : HUGE_VAL, left);
  fprintf(stderr, "\r[%.*s%.*s] %3.0f%%  t = %.4g of %.4g, %" PRIu64 " steps, %.3g simulated s/s, %s left\033[K",
          filled, full, BAR - filled, empty, 100 * part, now->time, now->stop_time, now->steps, done / gone, left);
  fflush(stderr);
}

bool progress_step(void *context, const daedal_progress *now) {
  ProgressBar *progress = context;
  progress->stopped = (int)signal_seen;
  if (!progress->shown) return progress->stopped != 0;
  double clock = seconds();
  if (clock >= progress->next) {
    draw(progress, now, clock);
    progress->drawn = true;
    progress->next = clock + DRAWN_EVERY;
  }
  return progress->stopped != 0;
}

void progress_end(ProgressBar *progress) {
  if (progress->drawn) fputs("\r\033[K", stderr);
  handle(SIG_DFL, on_signal);
  alarm(0);
  progress->stopped = (int)signal_seen;
}
