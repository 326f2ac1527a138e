/* defect: by how much the polynomials of a step violate the equations inside it.
 *
 * At a point of the step the rows are solved for all other columns, from the states that the polynomials have there. The defect
 * of a state is its slope minus the resulting rate, times the step: the error that this difference causes over the whole step.
 * If the equations are stiff, the error of a state decays at once. Then (1 - h J)^-1 gives the remaining error, with J the
 * Jacobian of the rates at the point. The defect of an asymptotic step is a known multiple of its error (Enright, "A new
 * error-control for initial value solvers", 1989; Shampine, "Solving ODEs and DDEs with residual control", 2005). Jumps, bends
 * and pulses between the points of the method make it larger.
 *
 * Columns that are not states count through the rates that depend on them. They are solved for at output points, so errors of
 * their polynomials do not matter. */
#pragma once

#include "segment/segment.h"
#include "segment/system.h"

typedef struct Defect Defect;

/* For the system, at this relative tolerance; lives in the heap. The system must have a state-space form. */
Defect *defect_new(Heap *heap, const System *system, double tolerance);

/* The defect at a part of a step: root mean square over the states, in tolerances; INFINITY: the rows cannot be solved. The segment
 * must have the states. y: all columns at this part, interpolated; it is overwritten. A defect above `largest` is filtered. */
double defect_at(Defect *defect, const Segment *segment, double part, double *y, double largest);

/* Decides which steps of a run are examined, and at which places. */
typedef struct DefectLooks {
  double start, span; /* of the run */
  bool is_rough;      /* rows are not smooth by construction: they are examined more often */
  double rejected;    /* the farthest end of a step that was rejected; at first -INFINITY */
  double planned;     /* size of the next step */
  uint64_t rejections;
} DefectLooks;

/* Has the method rejected a step of a rough system that reached beyond the beginning of this one? Across a jump, the error
 * estimate of the method is small by chance for some step sizes. rejections: of the method so far; next: the size of its
 * next step. */
bool defect_is_in_doubt(DefectLooks *looks, const Segment *segment, uint64_t rejections, double next);

/* What doubt is there about a step? */
typedef enum DefectDoubt {
  DEFECT_SELDOM, /* none: one step in many is examined */
  DEFECT_INSIDE, /* it must be examined inside */
  DEFECT_AT_END, /* it must also be examined at its end */
} DefectDoubt;

/* Examines the defect of one step in `every`, and of each step that is in doubt. Is the defect larger than the error of the step
 * can explain, and can the step be made shorter? *found: the largest defect seen, -1 if the step is not examined. y: room for all
 * columns. */
bool defect_is_too_large(Defect *defect, DefectLooks *looks, Segment *segment, int every, DefectDoubt doubt, double *y,
                         double *found);
