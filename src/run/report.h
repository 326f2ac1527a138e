/* report: a run for people and for programs (JSON keys: docs/command.md). */
#pragma once

#include "array/convert.h"
#include "init/initial.h"
#include "run/run.h"
#include "vary/adjoint.h"

typedef struct Seconds {
  double parse, structure, code, init, integrate;
} Seconds;

/* What a report is about. Fields that a run did not reach are NULL or 0. */
/* How a boundary value problem was solved. */
typedef struct BoundaryFacts {
  const char **name; /* parameters and start values that were sought */
  double *value;
  uint32_t count, conditions, segments, iterations, runs;
  double residual; /* the largest of the conditions */
} BoundaryFacts;

typedef struct RunFacts {
  const char *status; /* "ok", "input", "unbalanced", "singular", "init", "integration" */
  const char *method;
  uint32_t equations, states;
  const ConversionVec *conversions; /* NULL before the check */
  Evaluator *evaluator;             /* of the model's array; NULL before the code exists */
  Evaluator *run_evaluator;         /* of the system that is integrated; NULL before it exists */
  const Reduction *reduction;       /* NULL before it exists */
  const Strangeness *strangeness;   /* of that method; NULL for others */
  const Recorder *recorder;
  const RunStatistics *statistics; /* NULL before the integration */
  const char *const *invariants;   /* names of variables whose drift is reported */
  uint32_t invariant_count;
  const Gradient *gradient;      /* NULL: none was asked for, or it is not known yet */
  const BoundaryFacts *boundary; /* NULL: it is an initial value problem */
  Seconds seconds;
} RunFacts;

void run_report_text(const RunFacts *facts, Heap *heap, TextVec *text);
void run_report_json(const RunFacts *facts, Heap *heap, TextVec *text);

/* What the method made of the model: sizes, counts of the papers. */
void reduction_report_json(const RunFacts *facts, Heap *heap, TextVec *text);

/* The same reports where there was no memory to make them: every value is null. */
extern const char run_report_nothing[], reduction_report_nothing[];
