/* compare: several methods and solvers on one model, side by side: sizes, work, residuals of the
 * constraints by level, drift of invariants, how far each is from a run that is a hundred times more
 * accurate, and how much the system it integrates amplifies a change at the start. */
#pragma once

#include "pipeline/pipeline.h"
#include "result/drift.h"

/* What to compare. Names were checked; a NULL integrator stands for `auto`. */
typedef struct CompareRequest {
  Request request; /* method and integrator are set for each run */
  const Method **methods;
  uint32_t method_count;
  const Integrator **solvers;
  uint32_t solver_count;
  const char *const *invariants;
  uint32_t invariant_count;
} CompareRequest;

typedef struct CompareRun {
  const Method *method;
  Diags diags;
  Simulation simulation;
  bool ok;
  double seconds;              /* of everything but reading the model */
  double difference;           /* from the reference, of the variables whose derivatives the model writes; NAN: none */
  double algebraic_difference; /* of the others */
  uint32_t farthest;           /* signal of the reference with the largest difference */
  double amplification; /* largest difference that a small one in the states at the start becomes; NAN: not known */
  Drift *invariants;
} CompareRun;

typedef struct Comparison {
  Heap *heap;
  const CompareRequest *request;
  CompareRun reference; /* method dummy at a hundredth of the tolerance */
  CompareRun *runs;
  uint32_t count;
  bool stopped; /* by the callback: the runs that follow were not made */
} Comparison;

/* Runs everything. The result lives in the heap; the request must outlive it. */
Comparison *compare_run(Heap *heap, const Model *model, const CompareRequest *request);

/* Reports, appended. The plot is an SVG of the constraint residuals over time, a panel a level. */
void compare_text(const Comparison *comparison, TextVec *text);
void compare_json(const Comparison *comparison, TextVec *text);
extern const char compare_nothing[]; /* the JSON where nothing was compared */
void compare_svg(const Comparison *comparison, TextVec *text);
