/* record: from columns of the array to named signals of a result: every unknown of the model through its alias, the
 * derivatives that the model writes, discrete variables and parameters. */
#pragma once

#include "code/evaluator.h"
#include "result/drift.h"
#include "result/signal_filter.h"
#include "result/trajectory.h"

/* The meaning of a column of the rows: a derivative of an unknown, or a discrete variable. */
typedef struct RecordPlace {
  bool is_discrete;
  uint32_t index, order;
} RecordPlace;

typedef struct Recorder {
  SignalTable *signals;
  Trajectory *trajectory;
  Evaluator *evaluator;
  uint32_t count;
  /* Per column of the rows: column of the array, or array->columns + discrete variable. MAP_NONE: the array has none, for example a
   * derivative that the equations of a mode do not have. */
  uint32_t *source;
  const RecordPlace *places;       /* meaning of the columns, in any derivative array of the model */
  uint32_t directions;             /* number of directions whose variations are in the rows, too, as further columns */
  const double *const *variations; /* per direction, by source: variations of the next row; NULL: none */
} Recorder;

/* From here on values come from another evaluator, with an array of the same model. */
void recorder_rebind(Recorder *recorder, Evaluator *evaluator);

/* Do all columns of the rows have a source? */
bool recorder_has_all(const Recorder *recorder);

/* The value of a column of the rows at (t, y). */
double recorder_value(const Recorder *recorder, uint32_t column, const double *y);

/* The signals to keep: NULL means all for `listed`, none for `hidden`. */
typedef struct RecorderChoice {
  const SignalFilter *listed; /* signals in files and counts */
  const SignalFilter *hidden; /* further signals, for pictures only */
  bool leaves_out; /* without `listed`: leave out variables that are protected or have HideResult, except for states */
  uint8_t digits;  /* digits of numbers in CSV files; 0: all */
  bool by_mode;    /* the array belongs to a mode: derivatives that it lacks may exist in another mode */
} RecorderChoice;

/* orders: per unknown of the model, its highest derivative that is a
 * signal (model_highest_orders). is_state: per column of the array. Lives in the heap. */
Recorder *recorder_new(Heap *heap, Evaluator *evaluator, const uint32_t *orders, const bool *is_state,
                       RecorderChoice choice);

/* Adds signals der(x, NAME) for all other signals that vary, one for each direction. `constant` gives the derivative of an unknown
 * that is an expression over parameters. Call it before any row. */
typedef double RecorderSlope(void *context, uint32_t direction, Expr constant);
void recorder_add_directions(Recorder *recorder, const char *const *names, uint32_t count, RecorderSlope *slope,
                             void *context);

/* Appends the row (t, y). */
void recorder_add(Recorder *recorder, double t, const double *y);

/* Replaces the rows by the first `count` rows of an earlier run, matched by names. */
void recorder_take_rows(Recorder *recorder, const Trajectory *rows, size_t count);

/* How a recorded quantity drifts from its first value. O(rows). */
Drift recorder_drift(Heap *heap, const Recorder *recorder, const char *name);
