/* events: where within the last step a mode changes. Only the dense output is asked, so an event costs no
 * steps; inside the step the modes stay frozen, and the place found is the first point, to round-off, where a
 * difference has left the range of its mode. Modes of time alone are never searched for: their times are known in advance. */
#pragma once

#include "view/view.h"

/* The run begins at (t, y), whose modes agree, or goes back there. */
void events_begin(View *view, double t, const double *y);

/* Does what the integrator knows of the last step, from (before, begin) on, tell that no mode changes in it? That makes no
 * evaluation of the equations. Nothing slides. is_unread: the step was taken as if nobody looked inside. y is for any columns. */
bool events_rule_out(View *view, const Integrator *integrator, void *self, double before, const double *begin,
                     bool is_unread, double *y);

/* Where in the step from `before` on the first event is: nothing contradicts its mode up to `low`, something does at `high`. */
typedef struct EventBracket {
  double before, low, high;
  bool inside;       /* all agree again at the end of the step: only the dense output tells of the event */
  bool looks_inside; /* of the switches, while it is looked for */
  bool interpolates; /* conditions may be looked at with interpolated columns */
} EventBracket;

/* Does something contradict its mode in the last step, from `before` on, also if it agrees again at the end? Finds about where it
 * does so first; *mode is one that changes there. y is for any columns. */
bool events_find(View *view, const Integrator *integrator, void *self, double before, double *y, uint32_t *mode,
                 EventBracket *bracket);

/* The time of the event in the bracket that events_find found just before, with the y that it left; to round-off. The columns there,
 * closed in the old modes, in y. */
double events_locate(View *view, const Integrator *integrator, void *self, const EventBracket *bracket, double *y,
                     uint32_t *mode);

/* Does something contradict its mode at (t, y)? *mode is it. */
bool events_contradict(View *view, double t, const double *y, uint32_t *mode);

/* The first time behind t, up to stop, at which a mode of time alone changes, and which, or a sample is due or
 * an input has a kink or a jump (MAP_NONE); INFINITY: nothing happens. */
double events_next_time(View *view, double t, double stop, uint32_t *mode);

/* Does a solution that slides along an edge leave it in the step from `before` to *t? *t is then
 * the time of that, and y has the columns there. */
bool events_leave(View *view, const Integrator *integrator, void *self, double before, double *t, double *y);

/* Takes the modes over at the event (t, y) of this mode (MAP_NONE: of none) and all else that is discrete, and solves the other
 * columns for them, until all agree, or begins to slide along an edge; then does what whens ask for, and so on until nothing
 * changes. Where the equations have no value at the time of an event of time, as log(time) has none at 0, *t moves to just behind it.
 * Returns false when they do not settle. */
bool events_settle(View *view, double *t, double *y, uint32_t mode);

/* Gives the columns with a mark in `held` these values at (t, y), and solves the others: states stay as far as the
 * rows allow. MAP_NONE: they have them; otherwise a column that cannot have its value. */
uint32_t events_reset(View *view, double t, double *y, const uint8_t *held, const double *values);

/* As events_settle in the midst of an event, in another system: its iteration goes on, and what has fired in it stays so. */
bool events_resume(View *view, double *t, double *y);

/* Looks at the assertions outside of whens that the logic has, at (t, y) between events: those that do not hold are in view->fired. */
void events_watch(View *view, double t, const double *y);
