/* prover: proves that no condition changes within a step. Over an interval of the step the states follow polynomials. The units of
 * the state-space form that conditions depend on run as an interval program, and Krawczyk's operator encloses the solutions of
 * equations that are solved together. One success proves four things about the interval. No difference leaves the range of its
 * mode. The columns on which differences depend are enclosed, so none of them hides a pulse. Each column has exactly one solution
 * in its enclosure. The Jacobian is regular. If that fails, the interval is halved, as far as the budget allows.
 *
 * The proof is about the polynomials of the step. They are as close to the solution of the equations as the tolerance requires. */
#pragma once

#include "code/switches.h"
#include "reduce/state_plan.h"
#include "segment/segment.h"

typedef struct Prover Prover;

/* Makes a prover for the conditions of the evaluator's code. states: NULL if conditions can only be bounded if all columns that
 * they read are states. Lives in the heap. */
Prover *prover_new(Heap *heap, Evaluator *evaluator, Switches *switches, const StatePlan *states);

/* The columns whose polynomials a proof needs with these `links` states. Valid until the next call. */
const IndexVec *prover_columns(Prover *prover, const int32_t *states, int32_t links);

/* The cost of listing these columns since the last call, in the units of Proof.cost. */
uint64_t prover_take_debt(Prover *prover);

/* Is there something to prove, and can it be proven? */
typedef enum ProverScope {
  PROVER_NOTHING, /* no condition causes events, except by the schedule */
  PROVER_UNABLE, /* some condition has no bounds: because of called functions, inputs, delays or large blocks, or while the solution
                  * slides */
  PROVER_ABLE,
} ProverScope;
ProverScope prover_scope(Prover *prover);

/* Call this where columns may have jumped since the last step. */
void prover_restart(Prover *prover);

/* Resets the prover: its next results depend only on the step. */
void prover_forget(Prover *prover);

/* A step whose segment knows the columns of prover_columns. Its coefficients have an error of at most `slack` times the largest one
 * of a column. */
typedef struct ProverStep {
  const Segment *segment;
  double slack;
} ProverStep;

typedef struct Proof {
  double proven;      /* length of time on which nothing changes */
  double first, last; /* nothing is proven between these times; NAN: all of the step is proven */
  double low,
      high; /* between these times each condition changes at most once, and the first change is there; NAN: no such times were
             * found */
  uint64_t evaluations; /* evaluations of the interval program */
  uint64_t cost;        /* cost of these evaluations, counted in lines of a program for plain numbers */
} Proof;

/* The region of the last proof: no condition changes while the columns stay within these bounds, one for each of prover_columns.
 * NULL: there is none for these states and the time `until`. */
const Interval *prover_region(const Prover *prover, const int32_t *states, int32_t links, double until);

/* Examines the step, at about this cost. All modes must agree with their conditions at its start. agrees: they also agree at its
 * end. is_far: conditions seem to be far from their edges. The proof goes from left to right, and nothing after a change counts. */
Proof prover_prove(Prover *prover, const ProverStep *step, bool agrees, bool is_far, uint64_t budget);
