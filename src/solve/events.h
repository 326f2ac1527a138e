/* events: where within the last step a relation changes. Only the dense output is asked, so an event costs no
 * steps; inside the step the modes stay frozen, and the place found is the first point, to round-off, where a
 * relation contradicts its mode. */
#ifndef DAEDAL_SOLVE_EVENTS_H
#define DAEDAL_SOLVE_EVENTS_H

#include "solve/view.h"

/* The run begins at (t, y), whose modes agree. */
void events_begin(View *view, double t, const double *y);

/* If a relation contradicts its mode at (t, y), the end of a step from `before`: finds the first such time in
 * the step, leaves it in *t and the columns there, closed in the old modes, in y. *mode is one relation that
 * changes there. Returns false without an event. */
bool events_locate(View *view, const Integrator *integrator, void *self, double before, double *t, double *y,
                   uint32_t *mode);

/* Takes the modes over at the event (t, y) and solves the other columns for them, until all agree. Returns
 * false when they do not settle. */
bool events_settle(View *view, double t, double *y);

#endif
