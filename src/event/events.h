/* events: handles an event that the watcher (watch/watcher.h) has found. Modes and other discrete values change until they
 * agree with the columns, which are solved again, or the solution begins to slide along an edge. */
#pragma once

#include "view/view.h"

/* The run begins at (t, y), or returns there; the modes agree at that point. */
void events_begin(View *view, double t, const double *y);

/* The time of the next event in (t, stop] that is known in advance; INFINITY: none. *mode is the timed mode that changes there; -1:
 * a sample is due, or an input has a kink or a jump. */
double events_next_time(View *view, double t, double stop, int *mode);

/* Handles the event (t, y) of this mode (MAP_NONE: no mode). Sets modes and other discrete values and solves the other columns
 * until all agree, or begins to slide along an edge. Then executes the whens, and repeats until nothing changes. If the
 * equations are undefined at a time event, as log(time) is at 0, *t moves to just after it. false: the modes do not settle. */
bool events_settle(View *view, double *t, double *y, uint32_t mode);

/* Sets the columns marked in `held` to these values at (t, y), and solves the others; states keep their values as far as the rows
 * allow. Returns MAP_NONE on success, otherwise a column that cannot have its value. */
uint32_t events_reset(View *view, double t, double *y, const uint8_t *held, const double *values);

/* Like events_settle, but continues an event in another system: its iteration continues, and whens that have fired do
 * not fire again. */
bool events_resume(View *view, double *t, double *y);

/* Checks the assertions outside of whens at (t, y), between events. Those that fail are in view->fired. */
void events_watch(View *view, double t, const double *y);
