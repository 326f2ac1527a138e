/* progress: what happens between the steps of a run: a bar on the terminal for the person who waits, and the end of the
 * run when that person loses patience.
 *
 * Invariant: a command that SIGINT, SIGTERM or SIGHUP ends has the exit status 128 and the number of the signal, in every phase. */
#pragma once

#include "daedal.h"

typedef struct ProgressBar {
  bool shown;         /* draw the bar */
  bool drawn;         /* it is on the screen */
  int stopped;        /* the signal that ended the run; 0 for none */
  bool announces;     /* the size of a CSV file that gets large, once */
  double begun, next; /* seconds of the clock: start of the run, next time to draw */
} ProgressBar;

/* Catches the three signals, unless they are ignored. From now on they end the program at once, except for the time between
 * progress_begin and progress_end. */
void progress_catch_signals(void);

/* From now on a signal ends the run, and the command continues with what was reached. A second one, or no end of a step for some
 * seconds, ends the program at once. The bar is drawn only if `shown`. */
ProgressBar progress_begin(bool shown);

/* For daedal_options.on_step; the context is the ProgressBar. True once a signal came. */
bool progress_step(void *context, const daedal_progress *now);

/* The same between the points of a sweep, with the time that is left. */
bool progress_points(ProgressBar *progress, const daedal_sweep_progress *now);

/* Wipes the bar, and signals end the program again. */
void progress_end(ProgressBar *progress);
