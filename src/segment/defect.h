/* defect: how much the polynomials of a step miss the equations inside of it.
 *
 * At a point of the step the rows are solved for all other columns from the states that the polynomials have there. The defect of a state is
 * its slope minus the rate that comes out, times the step: the error that such a miss makes over the whole step. Where the
 * equations are stiff, a state that is off returns at once: there (1 - h J)^-1, J the Jacobian of the rates at the point, leaves what remains of it.
 * The defect of an asymptotic step is a known multiple of its error (Enright, "A new error-control for initial value solvers", 1989;
 * Shampine, "Solving ODEs and DDEs with residual control", 2005); what jumps, bends or passes between the points of the method makes it larger,
 * whatever the cause.
 *
 * Columns that are no states count through the rates that depend on them: where output is wanted they are solved for, and what their
 * polynomials miss is no error.
 */
#pragma once

#include "segment/segment.h"
#include "segment/system.h"

typedef struct Defect Defect;

/* For the system, at this relative tolerance; lives in the heap. The system must have a state-space form. */
Defect *defect_new(Heap *heap, const System *system, double tolerance);

/* The defect at a part of a step whose segment holds the states: root mean square over the states, in tolerances; INFINITY where the rows cannot
 * be solved. y: all columns there, interpolated; it is spoilt. Beyond `largest` the defect is filtered. */
double defect_at(Defect *defect, const Segment *segment, double part, double *y, double largest);

/* A number in [0, 1) that is drawn for this one, always the same: what happens in a run must not depend on how it was begun. */
double defect_drawn(double number);
