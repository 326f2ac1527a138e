/* run: the loop around an integrator: steps, output points, pivots of dummy derivatives, constraint check.
 *
 * Invariant: output points and pivots cost no steps. At an output point only the states are interpolated; all
 * other columns are solved from the rows again, so that every constraint holds there to round-off. */
#ifndef DAEDAL_SOLVE_RUN_H
#define DAEDAL_SOLVE_RUN_H

#include "solve/constraints.h"
#include "solve/record.h"
#include "solve/turning.h"

typedef struct RunOptions {
  double start, stop, tolerance, interval, max_step;
  uint32_t intervals;
  double constraint_tolerance; /* beyond it the run fails, if the method enforces every level */
  bool enforces_constraints;
  const Integrator *integrator;                                /* NULL: chosen and changed automatically */
  bool (*on_step)(void *context, double time, uint64_t steps); /* true stops the run */
  void *context;
} RunOptions;

typedef struct PivotRecord {
  double time;
  uint32_t out, in; /* columns */
} PivotRecord;

typedef struct RunStatistics {
  const char *solver, *solver_reason;
  uint64_t steps, rejected, factorizations;
  uint32_t left_out; /* superfluous differentiations that the system integrated does without */
  double residual_evaluations, output_evaluations, jacobian_evaluations; /* in units of all rows */
  uint64_t events;
  double constraint_residual, constraint_time;
  uint32_t constraint_row;        /* of the model's array; MAP_NONE: no constraint */
  const Constraints *constraints; /* residuals by level along the run */
  double end_time;
  const TurningPoint *turning; /* where the Jacobian of a block is singular, which ended the run; NULL: nowhere */
  bool stopped;                /* by the callback */
  VEC(PivotRecord) pivots;
} RunStatistics;

/* Integrates from the consistent y at options->start; rows go to the recorder. false: an error is in diags,
 * and what was reached is in the recorder. */
bool run_integrate(Heap *heap, View *view, const Structure *structure, const double *y, const RunOptions *options,
                   Recorder *recorder, RunStatistics *statistics, Diags *diags);

#endif
