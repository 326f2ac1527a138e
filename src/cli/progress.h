/* progress: shows a bar on the terminal during a run, and lets a signal stop the run.
 *
 * Invariant: a command that SIGINT, SIGTERM or SIGHUP ends has the exit status 128 plus the number of the signal, in every
 * phase. */
#pragma once

#include "daedal.h"

typedef struct ProgressBar {
  bool shown;         /* draw the bar */
  bool drawn;         /* the bar is on the screen */
  int stopped;        /* the signal that ended the run; 0: none */
  bool announces;     /* announce the size of a large CSV file, once */
  double begun, next; /* clock in seconds: start of the run, next time to draw */
} ProgressBar;

/* Catches the three signals, unless they are ignored. From now on they end the program at once, except between progress_begin and
 * progress_end. */
void progress_catch_signals(void);

/* From now on a signal ends the run, and the command continues with the rows so far. A second signal ends the program at once, and
 * so does a step that takes more than a few seconds. The bar is drawn only if `shown`. */
ProgressBar progress_begin(bool shown);

/* For daedal_options.on_step; the context is the ProgressBar. Returns true after a signal. */
bool progress_step(void *context, const daedal_progress *now);

/* Like progress_step, between the points of a sweep; shows the remaining time. */
bool progress_points(ProgressBar *progress, const daedal_sweep_progress *now);

/* Erases the bar. From now on signals end the program again. */
void progress_end(ProgressBar *progress);
