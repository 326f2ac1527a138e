/* lookup: values and derivatives of the tables of the Modelica Standard Library: in one dimension (CombiTable1D), over time
 * (CombiTimeTable), in two dimensions (CombiTable2D). It is C99 that exported models contain, and allocates nothing.
 *
 * A table over time is read at time - shift from the start time on, and is 0 before. There are time events where it jumps, kinks,
 * begins or ends. The model requests the next event and passes it back as an argument. Once time has reached that event, values are
 * left limits until the model has handled it. */
#pragma once

#include "external/grid.h"
#include "external/jet.h"

typedef struct TimeEvents {
  double start, shift;
  bool is_periodic, begins; /* begins: the start itself is an event */
  uint32_t count;
  const double *places; /* places of events in the table, ascending */
} TimeEvents;

typedef struct Lookup {
  uint32_t count; /* of the curves */
  const Curve *curves;
  const TimeEvents *events; /* NULL: not over time */
  const Grid *grid;         /* NULL: in one dimension */
} Lookup;

/* The largest number of arguments of its functions, without the table itself. */
enum { LOOKUP_ARGUMENTS = 6 };

/* The value, or its derivative of this order along a path, as an element with n nilpotents. The arguments are also such
 * elements: the number of the curve, the place, and its first and second derivative. For a table over time, the next event and
 * its pre() value follow the time. For a table of two variables, there are two places, followed by the derivatives of both.
 * false: there is no such curve, n is too large, or *place is outside of a table that must not be extrapolated. */
bool lookup_value(const Lookup *lookup, uint32_t n, uint32_t order, const double *const *arguments, double *result,
                  double *place);

/* The ends of a table in one dimension or over time. */
double lookup_minimum(const Lookup *lookup);
double lookup_maximum(const Lookup *lookup);

/* The first event later than a time; DBL_MAX if there is none. */
double lookup_next_event(const Lookup *lookup, double time);
