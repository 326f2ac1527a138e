/* system: the initial system. Its rows are all rows of the derivative array at the start, then the initial equations with aliases
 * substituted. Its columns are all columns of the array, then the parameters with fixed = false.
 *
 * Invariant: every expression of `row` is over columns only (and known parameters): a free parameter is the leaf of its own column,
 * and parameters bound to it are substituted. The array is the evaluator's, unless an initial equation needs a higher derivative
 * than it has. Then it is one with larger offsets, and system_store copies the solution back. */
#pragma once

#include "code/evaluator.h"

typedef struct InitialSystem {
  Heap *heap;
  Arena arena;
  Evaluator *evaluator;
  Model *model;     /* the run's layer over the evaluator's */
  Array *array;     /* over that */
  bool is_extended; /* its offsets are larger than the evaluator's */
  bool is_start;    /* delays have their values at the start, which are substituted */
  uint32_t rows, columns;
  Expr *row;
  Layout layout;
  IndexVec parameters;   /* leaf indices of the free ones; parameter k is column array->columns + k */
  IndexVec dependents;   /* leaf indices of parameters bound to free ones, in the order of their dependencies */
  double *nominal;       /* per column */
  int32_t *row_stage;    /* l - c of a row of the array; for an initial equation, the highest stage in it */
  int32_t *column_stage; /* k - d; INT32_MIN of a parameter */
  Pattern pattern;       /* rows by columns */
  IndexVec initial;      /* initial equations that are rows, after those of the array */
  uint32_t homotopy;     /* column of the continuation parameter; MAP_NONE if no row contains homotopy() */
  Workspace *program;    /* program of all rows; NULL before system_compile */
  const Jacobian *jacobian;
  Workspace *entries;               /* of the Jacobian */
  const struct InitialCodes *known; /* code of patches that the plan has (patch.h); NULL: none */
  struct InitialCodes *collected;   /* where new code is added; NULL: nowhere */
  bool encloses;                    /* small units that fail are searched by intervals (enclose.h) */
  struct StepsTrace *trace;         /* where solved units are recorded (steps.h); NULL: nowhere */
} InitialSystem;

/* Makes the system for an evaluator whose array has the offsets of `structure`. with_equations: the initial
 * equations and free parameters too (not after an event). Lives in the heap. About linear in the size of the
 * model. */
InitialSystem *system_new(Heap *heap, Evaluator *evaluator, const Structure *structure, bool with_equations);

/* Are rows and columns those of the evaluator's array? */
bool system_is_plain(const InitialSystem *system);

/* The system with s + lambda*(a - s) for homotopy(a, s), lambda the last column; NULL when no row contains
 * homotopy(). */
InitialSystem *system_continued(InitialSystem *system);

/* The point (t, y), with one value of y for each column. */
Point system_point(const InitialSystem *system, double t, const double *y);

/* Program and Jacobian of all rows, made at the first call. */
void system_compile(InitialSystem *system);

/* Converts columns of the system to columns of the evaluator's array. Sets the free parameters of the evaluator, and those bound
 * to them. */
void system_store(const InitialSystem *system, const double *y, double *columns);

/* The system's column of a column of the evaluator's array. */
uint32_t system_column(const InitialSystem *system, uint32_t column);

/* The leaf of a column. */
Expr system_leaf(const InitialSystem *system, uint32_t q);

/* The names of a row, a column and a part of a row, and where a row was written. Texts live in the arena. */
const char *system_row_text(const InitialSystem *system, uint32_t row, Arena *arena);
Span system_row_span(const InitialSystem *system, uint32_t row);
const char *system_part_text(const InitialSystem *system, Expr part, Arena *arena);
const char *system_column_name(const InitialSystem *system, uint32_t column, Arena *arena);
bool system_row_is_initial(const InitialSystem *system, uint32_t row);
