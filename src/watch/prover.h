/* prover: does no condition change within a step? Over a stretch of the step the states follow polynomials. The units of the state-space form
 * that conditions depend on run as an interval program; what has to be solved for is enclosed by Krawczyk's operator. One success says four
 * things of the stretch: no difference leaves the range of its mode, the columns they depend on are enclosed, so that no pulse of them
 * hides, each has one solution there, and its Jacobian is regular. Where that fails the stretch is halved, as far as a budget goes.
 *
 * What is proven is about the polynomials of the step: they are as near to the solution of the equations as the tolerance asks for. */
#pragma once

#include "code/switches.h"
#include "reduce/state_plan.h"
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
  double proven;      /* time on which nothing changes */
  double first, last; /* the rest lies between these times; NAN: there is none */
  double low,
      high; /* conditions that change between these times do so once, and the first change is there; NAN: no such times were found */
  uint64_t evaluations; /* of the interval program */
  uint64_t cost;        /* of these, in lines of plain numbers */
} Proof;

/* Where the last proof found all conditions so far from their edges that none changes as long as the columns stay in a region around its step, and the time, too:
 * the bounds of each column of prover_columns. NULL: there is none for these states and the time `until`. */
const Interval *prover_region(const Prover *prover, const int32_t *states, int32_t links, double until);

/* Looks at the step, at whose start all modes agree, at this cost or little more. agrees: they do at its end, too. is_far: conditions seem to be far
 * from their edges. The result goes from left to right: what is after a change counts for nothing. */
Proof prover_prove(Prover *prover, const ProverStep *step, bool agrees, bool is_far, uint64_t budget);
