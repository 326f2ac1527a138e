/* lookup: the tables of the Modelica Standard Library at a place, with derivatives: in one dimension (CombiTable1D), over time
 * (CombiTimeTable), in two dimensions (CombiTable2D). C99 that exported models carry, and allocates nothing.
 *
 * A table over time is read at time - shift from the start time on, and is 0 before. Where it jumps, kinks, begins
 * or ends, time events happen; the model asks for the next one and hands it back: while time has reached that event
 * and the model has not handled it yet, values are left limits. */
#pragma once

#include "external/grid.h"
#include "external/jet.h"

typedef struct TimeEvents {
  double start, shift;
  bool is_periodic, begins; /* begins: the start itself is an event */
  uint32_t count;
  const double *places; /* of events in the table, ascending */
} TimeEvents;

typedef struct Lookup {
  uint32_t count; /* of the curves */
  const Curve *curves;
  const TimeEvents *events; /* NULL: not over time */
  const Grid *grid;         /* NULL: in one dimension */
} Lookup;

/* Arguments of its functions at most, without the table itself. */
enum { LOOKUP_ARGUMENTS = 6 };

/* The value, or its derivative of an order along a path, as an element with n nilpotents, as the arguments are: number of the curve, place,
 * first and second derivative of the place; over time the event awaited and the one taken are after the time; in two dimensions both
 * places, then their derivatives. false: there is no such curve, or *place is outside of what is not to be extrapolated, or n is too
 * large. */
bool lookup_value(const Lookup *lookup, uint32_t n, uint32_t order, const double *const *arguments, double *result,
                  double *place);

/* The ends of a table in one dimension or over time. */
double lookup_minimum(const Lookup *lookup);
double lookup_maximum(const Lookup *lookup);

/* The first event later than a time; DBL_MAX if there is none. */
double lookup_next_event(const Lookup *lookup, double time);
