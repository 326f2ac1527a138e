/* report: a run for people and for programs (JSON keys: docs/command.md). */
#pragma once

#include "array/convert.h"
#include "init/initial.h"
#include "run/run.h"
#include "vary/adjoint.h"

typedef struct Seconds {
  double parse, structure, code, init, integrate;
} Seconds;

/* A singular arc at its middle: its order q, 0 if unknown or not such an arc, and (-1)^q d/du d^2q/dt^2q dH/du. */
typedef struct ArcOrder {
  uint32_t order;
  double legendre; /* NAN: unknown */
} ArcOrder;

/* An interval on which an optimal control that occurs linearly is at a bound or singular. */
typedef struct ArcFacts {
  const char *control, *kind; /* kind: "min", "max", "singular" */
  double from, to;
  ArcOrder order;
} ArcFacts;

/* How a boundary value problem was solved. */
typedef struct BoundaryFacts {
  const char **name; /* parameters and start values that were computed */
  double *value;
  uint32_t count, conditions, segments, iterations, runs;
  double residual; /* the largest residual of the conditions */
  ArcFacts *arcs;  /* the arcs of one control after another; empty if the controls switch only by signs */
  uint32_t arc_count;
} BoundaryFacts;

/* A variable compared between two runs. */
typedef struct VerifiedVariable {
  const char *name;
  double digits;     /* digits to which they agree; NAN: it stays below its absolute tolerance */
  double difference; /* the largest */
  double size;       /* the largest of its values; NAN: the runs are equal */
  double time;       /* time of the largest difference; NAN: the runs are equal */
} VerifiedVariable;

/* A run compared with a second one, by another family of methods and with a smaller tolerance. */
typedef struct VerifyFacts {
  const char *status, *message; /* status of the second run, as for any run; its first error, or NULL */
  const char *solver;           /* solver of the second run */
  double tolerance;
  size_t points;       /* number of points compared */
  uint64_t events[2];  /* of both runs */
  double least_digits; /* the fewest digits of any variable; NAN: nothing was compared */
  VerifiedVariable
      *variables;        /* the variable with the fewest digits first; variables below their absolute tolerance last */
  uint32_t count, below; /* number of variables; number of those below their absolute tolerance */
} VerifyFacts;

/* The facts for a report. Fields that a run did not reach are NULL or 0. */
typedef struct RunFacts {
  const char *status; /* "ok", "input", "unbalanced", "singular", "init", "integration" */
  const char *method;
  uint32_t equations, states;
  const ConversionVec *conversions; /* NULL before the check */
  Evaluator *evaluator;             /* evaluator of the model's array; NULL before the code exists */
  Evaluator *run_evaluator;         /* evaluator of the system that is integrated; NULL before it exists */
  const Reduction *reduction;       /* NULL before it exists */
  const Strangeness *strangeness;   /* ranks of that method; NULL for others */
  const Initial *initial;           /* NULL before they are found */
  const Recorder *recorder;
  const RunStatistics *statistics; /* NULL before the integration */
  const char *const *invariants;   /* names of variables whose drift is reported */
  uint32_t invariant_count;
  const Gradient *gradient;      /* NULL: none was requested, or it is not known yet */
  const BoundaryFacts *boundary; /* NULL: it is an initial value problem */
  double tolerance;              /* tolerance of the run; 0 before the integration */
  const VerifyFacts *verify;     /* NULL: it was not requested, or there is nothing to verify */
  Seconds seconds;
} RunFacts;

void run_report_text(const RunFacts *facts, Heap *heap, TextVec *text);
void run_report_json(const RunFacts *facts, Heap *heap, TextVec *text);

/* The system that the method made: its sizes, and the counts defined in the papers. */
void reduction_report_json(const RunFacts *facts, Heap *heap, TextVec *text);

/* Reports for the case that there was no memory to make them: every value is null. */
extern const char run_report_nothing[], reduction_report_nothing[];
