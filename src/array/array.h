/* array: the derivative array. Every reduction method is a view of it.
 *
 * Rows (i, l), 0 <= l <= c[i], are the l-th time derivatives of the equations; columns (j, k), 0 <= k <= d[j], the derivatives of
 * the unknowns. Row (i, l) is at row_start[i] + l, column (j, k) at column_start[j] + k. The stage s of a row is l - c[i], of a
 * column k - d[j]. If all columns of lower stages are given, the rows of stage s determine the columns of stage s (Pryce 2001).
 * Stage 0 is the differentiated problem of Mattsson and Söderlind, section 2.
 *
 * The array is built over an incidence of the model's equations, with or without aliases substituted, and for any offsets. */
#pragma once

#include "array/logic.h"
#include "structure/structure.h"

/* An equation of the problem with another residual than the model's. */
typedef struct Replaced {
  uint32_t equation;
  Expr residual; /* the residual in the model */
} Replaced;

/* The equations that the array is made of, in the form that structural analysis needs. */
typedef struct Problem {
  Model *model;
  uint32_t equations, unknowns;
  Expr *residual;      /* per equation */
  const Expr *written; /* the residuals before conversions (convert.h); NULL: there were none */
  Replaced *replaced;  /* equations that declared inverses replaced (inverse.h) */
  uint32_t replaced_count;
  uint32_t *equation;      /* equation of the model, per equation of the problem */
  uint32_t *unknown;       /* unknown of the model, per unknown of the problem */
  uint32_t *local;         /* unknown of the problem per unknown of the model; MAP_NONE if eliminated */
  const uint32_t *highest; /* per unknown of the model: its highest derivative that the equations of the model write */
  Aliases aliases;         /* how eliminated unknowns follow; removed == 0 if none were searched for */
  Logic *logic;            /* the discrete part, over the unknowns of the problem */
  Incidence incidence;     /* sorted by unknown within a row */
  const bool
      *opened; /* per equation: its kinks have become conditions (kink_modes.h); NULL: no kinks became conditions */
  const bool
      *by_mode; /* per equation: it differs in other modes (branches.h); NULL: the problem is valid for all modes */
} Problem;

/* The problem of a model as written, or with aliases eliminated. Owned by the arena. O(size of the equations). */
Problem problem_make(Model *model, bool eliminate_aliases, Arena *arena);

/* Replaces the equations of a problem: one residual for each equation, with the same unknowns. Owned by the arena. */
Problem problem_replace(const Problem *problem, const Expr *residual, Arena *arena);

/* Some of the equations, with the unknowns that occur in them. Owned by the arena. */
Problem problem_narrow(const Problem *problem, const uint32_t *equation, uint32_t count, Arena *arena);

/* Per unknown: its highest derivative in the equations. Owned by the arena. */
int32_t *problem_orders(const Problem *problem, Arena *arena);

/* Extends a problem by `count` unknowns and as many equations: new unknown k equals value[k]. `residual` are
 * new residuals of the old equations, in which the new unknowns are the leaves dag_variable(model->unknowns.count + k,
 * 0). The model is a copy that has the new unknowns as variables. Owned by the arena. */
Problem problem_extend(const Problem *problem, const Expr *residual, const Expr *value, uint32_t count, Arena *arena);

/* Adds one equation, left = right, to a problem, in a copy of the model. Owned by the arena. */
Problem problem_append(const Problem *problem, Expr left, Expr right, Arena *arena);

/* An expression of the model over the unknowns of the problem, with aliases substituted. */
Expr problem_expression(const Problem *problem, Expr e);

/* least[unknowns]: the highest derivative of each unknown that the model writes, including eliminated equations v = der(x). true if
 * one of them is beyond d: then the offsets must be raised (structure_raise). */
bool problem_least_orders(const Problem *problem, const int32_t *d, int32_t *least);

/* Like problem_least_orders, for orders of unknowns of the model, the first `count` of them. */
bool problem_raise_orders(const Problem *problem, const uint32_t *written, uint32_t count, const int32_t *d,
                          int32_t *least);

/* named[unknowns]: does an eliminated variable v = der(x) of the model name the highest derivative d[j] of the unknown? */
void problem_named_derivatives(const Problem *problem, const int32_t *d, bool *named);

typedef struct Array {
  const Problem *problem;
  Dag *dag;
  uint32_t rows, columns;
  const int32_t *c, *d;
  uint32_t *row_start;      /* equations + 1 */
  uint32_t *column_start;   /* unknowns + 1 */
  uint32_t *row_equation;   /* per row: i */
  uint32_t *column_unknown; /* per column: j */
  uint32_t *model_column;   /* per unknown of the model: column of its order 0, MAP_NONE if eliminated */
  Expr *row;                /* per row; EXPR_NONE until array_row makes it */
} Array;

/* An array for offsets c, d (which must outlive it). Owned by the arena. */
Array array_make(const Problem *problem, const int32_t *c, const int32_t *d, Arena *arena);

/* The array over the graph of a layer of its model. Its rows must have been made. Owned by the arena. */
Array *array_layer(const Array *array, Model *own, Arena *arena);

/* Row (i, l) as an expression, differentiated now if necessary. */
Expr array_row(Array *array, uint32_t row);

/* The level l of a row and the order k of a column. */
uint32_t array_level(const Array *array, uint32_t row);
uint32_t array_order(const Array *array, uint32_t column);

/* Is the column the highest derivative of its unknown? */
bool array_is_highest(const Array *array, uint32_t column);

/* The column of a variable leaf that occurs in a row. */
uint32_t array_column(const Array *array, Expr leaf);

/* The column of any variable leaf; MAP_NONE if the array has none, for example for derivatives that no row needs. */
uint32_t array_find_column(const Array *array, Expr leaf);

/* Is every variable in the expression a column? */
bool array_holds(const Array *array, Expr e);

/* The column of an unknown of the model, by its alias if it was eliminated; MAP_NONE: it is constant, or the array has no such column. */
uint32_t array_variable_column(const Array *array, uint32_t unknown);

/* The name of a column: x, der(x), der(der(x)), or that of an alias v = der(x). Lives in the arena. */
const char *array_column_name(const Array *array, uint32_t column, Arena *arena);

/* Appends the names of the marked columns, separated by commas; after the first twelve, only the number of the others. */
void array_list_columns(const Array *array, const bool *marked, Arena *arena, TextVec *text);

/* Text of a row as an equation, `left = right` with both sides differentiated, and the place in the source that it comes from. own:
 * the array's model or a layer over it; its graph gets the derivatives. */
const char *array_row_text(const Array *array, Model *own, uint32_t row, Arena *arena);
Span array_row_span(const Array *array, uint32_t row);

/* Was its equation added for a rewriting or for free variables? */
bool array_row_is_added(const Array *array, uint32_t row);

/* The pattern of all rows against all columns. Makes every row. Owned by the arena. */
Pattern array_pattern(Array *array, Arena *arena);
