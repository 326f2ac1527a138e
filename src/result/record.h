/* record: from columns of the array to named signals of a result: every unknown of the model through its alias, the
 * derivatives that the model writes, discrete variables and parameters. */
#pragma once

#include "code/evaluator.h"
#include "result/drift.h"
#include "result/signal_filter.h"
#include "result/trajectory.h"

/* What a column of the rows is: a derivative of an unknown, or a discrete variable. */
typedef struct RecordPlace {
  bool is_discrete;
  uint32_t index, order;
} RecordPlace;

typedef struct Recorder {
  SignalTable *signals;
  Trajectory *trajectory;
  Evaluator *evaluator;
  uint32_t count;
  /* Per column of the rows: column of the array, or array->columns + discrete variable. MAP_NONE: the array has none, as of a derivative
   * that the equations of a mode do not have. */
  uint32_t *source;
  const RecordPlace *places;       /* of the columns, in any derivative array of the model */
  uint32_t directions;             /* whose variations rows have, too: so many columns more */
  const double *const *variations; /* per direction, by source: those of the row added next; NULL: none */
} Recorder;

/* From here on values come from another evaluator, whose array is one of the same model. */
void recorder_rebind(Recorder *recorder, Evaluator *evaluator);

/* Do all columns of the rows have a source? */
bool recorder_has_all(const Recorder *recorder);

/* What a column of the rows is at (t, y). */
double recorder_value(const Recorder *recorder, uint32_t column, const double *y);

/* Which signals are kept: NULL means all in `listed`, none in `hidden`. */
typedef struct RecorderChoice {
  const SignalFilter *listed; /* that files and counts have */
  const SignalFilter *hidden; /* further ones, for pictures */
  bool leaves_out; /* without `listed`: what is protected or has HideResult, except for states, is not kept */
  uint8_t digits;  /* of numbers in CSV files; 0: all */
  bool by_mode;    /* the array is that of a mode: derivatives that it does not have may be those of another */
} RecorderChoice;

/* orders: per unknown of the model, its highest derivative that is a
 * signal (problem_written_orders). is_state: per column of the array. Lives in the heap. */
Recorder *recorder_new(Heap *heap, Evaluator *evaluator, const uint32_t *orders, const bool *is_state,
                       RecorderChoice choice);

/* Adds signals der(x, NAME) for those of all others that vary, one for each direction; `constant` gives the derivative of an
 * unknown that is an expression over parameters. To be called before any row. */
typedef double RecorderSlope(void *context, uint32_t direction, Expr constant);
void recorder_add_directions(Recorder *recorder, const char *const *names, uint32_t count, RecorderSlope *slope,
                             void *context);

/* Appends the row (t, y). */
void recorder_add(Recorder *recorder, double t, const double *y);

/* The first `count` rows of an earlier run, by names, in place of those there are. */
void recorder_take_rows(Recorder *recorder, const Trajectory *rows, size_t count);

/* How a recorded quantity drifts from its first value. O(rows). */
Drift recorder_drift(Heap *heap, const Recorder *recorder, const char *name);
