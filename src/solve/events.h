/* events: where within the last step a mode changes. Only the dense output is asked, so an event costs no
 * steps; inside the step the modes stay frozen, and the place found is the first point, to round-off, where a
 * difference has left the range of its mode. Modes of time alone are never searched for: their times are known in advance. */
#pragma once

#include "solve/view.h"

/* The run begins at (t, y), whose modes agree, or goes back there. */
void events_begin(View *view, double t, const double *y);

/* The first time in the step from `before` to *t at which something contradicts its mode, also if it agrees again at the end:
 * leaves it in *t and the columns there, closed in the old modes, in y. *mode is one that changes there. *inside: it
 * agrees again at the end, so that only the dense output tells of it. Returns false without an event. */
bool events_locate(View *view, const Integrator *integrator, void *self, double before, double *t, double *y,
                   uint32_t *mode, bool *inside);

/* Does something contradict its mode at (t, y)? *mode is it. */
bool events_contradict(View *view, double t, const double *y, uint32_t *mode);

/* The first time behind t, up to stop, at which a mode of time alone changes, and which, or a sample is due or
 * an input has a kink or a jump (MAP_NONE); INFINITY: nothing happens. */
double events_next_time(View *view, double t, double stop, uint32_t *mode);

/* Does a solution that slides along an edge leave it in the step from `before` to *t? As events_locate. */
bool events_leave(View *view, const Integrator *integrator, void *self, double before, double *t, double *y);

/* Takes the modes over at the event (t, y) of this mode (MAP_NONE: of none) and all else that is discrete, and solves the other
 * columns for them, until all agree, or begins to slide along an edge; then does what whens ask for, and so on until nothing
 * changes. Returns false when they do not settle. */
bool events_settle(View *view, double t, double *y, uint32_t mode);

/* Gives the columns with a mark in `held` these values at (t, y), and solves the others: states stay as far as the
 * rows allow. false: the rows cannot be solved. */
bool events_reset(View *view, double t, double *y, const uint8_t *held, const double *values);

/* As events_settle in the midst of an event, in another system: its iteration goes on, and what has fired in it stays so. */
bool events_resume(View *view, double t, double *y);

/* Looks at the assertions outside of whens that the logic has, at (t, y) between events: those that do not hold are in view->fired. */
void events_watch(View *view, double t, const double *y);
