/* compare: several methods and solvers on one model, side by side: sizes, work, residuals of the constraints by level, and drift of
 * invariants. It also measures the distance of each run from one that is a hundred times more accurate, and how much its system
 * amplifies a change at the start. */
#pragma once

#include "pipeline/pipeline.h"
#include "result/drift.h"

/* What to compare. The names are already checked; a NULL integrator means `auto`. */
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
  double seconds;    /* time for everything except reading the model */
  double difference; /* distance from the reference, over the variables whose derivatives the model writes; NAN: none */
  double algebraic_difference; /* distance over the other variables */
  uint32_t farthest;           /* signal of the reference with the largest difference */
  double amplification; /* the largest difference caused by a small change of the states at the start; NAN: unknown */
  Drift *invariants;
} CompareRun;

typedef struct Comparison {
  Heap *heap;
  const CompareRequest *request;
  CompareRun reference; /* method dummy at a hundredth of the tolerance */
  CompareRun *runs;
  uint32_t count;
  bool stopped; /* the callback stopped it: the remaining runs were not made */
} Comparison;

/* Makes all runs. The result lives in the heap; the request must outlive it. */
Comparison *compare_run(Heap *heap, const Model *model, const CompareRequest *request);

/* Appends reports. The plot is an SVG of the constraint residuals over time, with one panel for each level. */
void compare_text(const Comparison *comparison, TextVec *text);
void compare_json(const Comparison *comparison, TextVec *text);
extern const char compare_nothing[]; /* the JSON text when nothing was compared */
void compare_svg(const Comparison *comparison, TextVec *text);
