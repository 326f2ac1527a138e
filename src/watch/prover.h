/* prover: does no condition change within a step? Over a stretch of the step the states follow polynomials. The units of the state-space form
 * that conditions depend on run as an interval program; what has to be solved for is enclosed by Krawczyk's operator. One success says four
 * things of the stretch: no difference leaves the range of its mode, the columns they depend on are enclosed, so that no pulse of them
 * hides, each has one solution there, and its Jacobian is regular. Where that fails the stretch is halved, as far as a budget goes.
 *
 * What is proven is about the polynomials of the step: they are as near to the solution of the equations as the tolerance asks for. */
#pragma once

#include "code/switches.h"
#include "reduce/statespace.h"
#include "segment/segment.h"

typedef struct Prover Prover;

/* For the conditions of the evaluator's code. states: NULL where conditions can only be bounded if all columns that they read are states.
 * Lives in the heap. */
Prover *prover_new(Heap *heap, Evaluator *evaluator, Switches *switches, const StatePlan *states);

/* The columns whose polynomials a proof needs with these states: `links` columns. Until the next call. */
const IndexVec *prover_columns(Prover *prover, const int32_t *states, int32_t links);

/* What it has cost since the last call to list these columns, as Proof.cost. */
uint64_t prover_take_debt(Prover *prover);

/* Is there something to prove, and can it be? */
typedef enum ProverScope {
  PROVER_NOTHING, /* no condition makes events but by the schedule */
  PROVER_UNABLE, /* some condition has no bounds: of called functions, inputs, delays, large blocks, or while the solution slides */
  PROVER_ABLE,
} ProverScope;
ProverScope prover_scope(Prover *prover);

/* Columns may have jumped since the last step. */
void prover_restart(Prover *prover);

/* It is as if it were new: what it does next depends on the step alone. */
void prover_forget(Prover *prover);

/* A step, whose segment knows the columns of prover_columns. Its coefficients are off by `slack` times the largest of a column at most. */
typedef struct ProverStep {
  const Segment *segment;
  double slack;
} ProverStep;

typedef struct Proof {
  double proven;        /* time on which nothing changes */
  double first, last;   /* the rest lies between these times */
  double candidate;     /* a time at which a condition seems to have changed; NAN: none was found */
  uint64_t evaluations; /* of the interval program */
  uint64_t cost;        /* of these, in lines of plain numbers */
} Proof;

/* Looks at the step from its start to `until`, where all modes agree as they do at its start; at this cost or little more. The result goes from left to right: with a
 * candidate, what is behind it counts as not proven. */
Proof prover_prove(Prover *prover, const ProverStep *step, double until, uint64_t budget);
