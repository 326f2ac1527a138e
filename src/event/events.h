/* events: what happens at an event, once the watcher (watch/watcher.h) has found it: modes and all else that is discrete change until they agree, columns
 * follow, or begin to slide along an edge. */
#pragma once

#include "view/view.h"

/* The run begins at (t, y), whose modes agree, or goes back there. */
void events_begin(View *view, double t, const double *y);

/* Does something contradict its mode at (t, y)? *mode is it. */
bool events_contradict(View *view, double t, const double *y, uint32_t *mode);

/* The first time after t, up to stop, at which a mode of time alone changes, and which, or a sample is due or
 * an input has a kink or a jump (MAP_NONE); INFINITY: nothing happens. */
double events_next_time(View *view, double t, double stop, uint32_t *mode);

/* Takes the modes over at the event (t, y) of this mode (MAP_NONE: of none) and all else that is discrete, and solves the other
 * columns for them, until all agree, or begins to slide along an edge; then does what whens ask for, and so on until nothing
 * changes. Where the equations have no value at the time of an event of time, as log(time) has none at 0, *t moves to just after it.
 * Returns false when they do not settle. */
bool events_settle(View *view, double *t, double *y, uint32_t mode);

/* Gives the columns with a mark in `held` these values at (t, y), and solves the others: states stay as far as the
 * rows allow. MAP_NONE: they have them; otherwise a column that cannot have its value. */
uint32_t events_reset(View *view, double t, double *y, const uint8_t *held, const double *values);

/* As events_settle in the midst of an event, in another system: its iteration goes on, and what has fired in it stays so. */
bool events_resume(View *view, double *t, double *y);

/* Looks at the assertions outside of whens that the logic has, at (t, y) between events: those that do not hold are in view->fired. */
void events_watch(View *view, double t, const double *y);
