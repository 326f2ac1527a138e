/* signal: the contents of a result: named signals. Each signal is a column of the rows (possibly negated: an alias) or a constant.
 * Rows hold each distinct column once, so aliases cost only their names.
 *
 * Invariant: every text of a table is non-NULL and owned by the table, or by the names it was made over. Columns are numbered 0 ..
 * columns-1. */
#pragma once

#include "base/diag.h"
#include "base/map.h"

typedef enum SignalKind {
  SIGNAL_STATE,
  SIGNAL_DERIVATIVE, /* named der(x) */
  SIGNAL_ALGEBRAIC,
  SIGNAL_DISCRETE,
  SIGNAL_PARAMETER, /* a parameter or constant of the model; CSV leaves these out, MAT has them */
} SignalKind;

/* The column of a signal that does not vary: its value is in the table. */
#define SIGNAL_CONSTANT UINT32_MAX

typedef struct Signal {
  const char *name;                              /* as it appears in files: flat, without Modelica quotes */
  const char *unit, *display_unit, *description; /* NULL or "" if there is none */
  SignalKind kind : 8;                           /* packed, because large models have millions of signals */
  bool is_output;                                /* an output of the model as a whole */
  bool negated;                                  /* the signal is minus its column; not used for a constant */
  uint32_t column;                               /* or SIGNAL_CONSTANT */
  double value;                                  /* of a constant */
} Signal;

/* The signals by name. */
typedef struct SignalIndex SignalIndex;

typedef struct SignalTable {
  Heap *heap;
  VEC(Signal) list;
  uint32_t columns;                /* 1 + the largest column of any signal */
  uint8_t digits;                  /* significant digits of continuous signals in CSV files; 0: all 17 */
  bool hides;                      /* signals that are added from now on are only for pictures, not for files */
  uint32_t listed, listed_columns; /* signals and columns before that */
  Names texts;
  SignalIndex *index; /* made when a name is first looked up: most runs only write their signals */
} SignalTable;

SignalTable *signals_new(Heap *heap);

/* A table whose texts may be those of the names given. The names no longer grow and outlive the table, so no copies are needed. */
SignalTable *signals_over(Heap *heap, const Names *names);

/* Makes room for this many signals. */
void signals_reserve(SignalTable *table, uint32_t count);

/* Appends a signal (texts are copied) and returns its index. If a name occurs twice, only the first can be found. */
uint32_t signals_add(SignalTable *table, const Signal *signal);

/* Like signals_add, for a signal whose texts outlive the table, or are in it: they are not copied. */
uint32_t signals_add_kept(SignalTable *table, const Signal *signal);

/* The text of a name, for signals_add_kept: the text in the names over which the table was made, or a copy. */
const char *signals_text(SignalTable *table, const Names *names, Name name);

/* The name of a variable's signal: its flat name. It is in quotes, in the table, if it is `time` or looks like a derivative or like
 * a formula of a spreadsheet. */
const char *signals_name(SignalTable *table, const char *flat);

/* Appends the name of a variable's signal to a text. */
void signals_print_name(Heap *heap, TextVec *text, const char *flat);

/* The index of the signal of this name; MAP_NONE if there is none. The first call takes memory for the index of the table, so only
 * one thread may look up names at a time. */
uint32_t signals_find(const SignalTable *table, const char *name);

/* The index of a variable's signal, by the variable's flat name. */
uint32_t signals_find_variable(const SignalTable *table, const char *flat);

/* Adds a suggestion to a diagnostic about an unknown name, if a signal has a similar name. */
void signals_suggest(const SignalTable *table, Diags *diags, Diag *diag, const char *name);

/* The value of a signal in a row of columns. */
static inline double signal_value(const Signal *signal, const double *columns) {
  if (signal->column == SIGNAL_CONSTANT) return signal->value;
  double value = columns[signal->column];
  return signal->negated ? -value : value;
}
