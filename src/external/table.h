/* table: what tables in one dimension and over time share: a matrix whose first column holds the places, and a curve
 * for each other column that is used. */
#pragma once

#include "external/curve.h"
#include "external/external.h"
#include "external/matrix_file.h"

typedef struct Table {
  uint32_t rows, columns;
  const double *values; /* row-major */
  double *x;            /* the first column */
  Curve *curves;
  uint32_t count; /* curves */
} Table;

/* Where the arguments of a constructor stand: those that all have are file name, table name and matrix (0, 1, 2). */
typedef struct TableArguments {
  uint32_t columns, smoothness, extrapolation, verbose; /* behind verbose: delimiter and header lines, if given */
} TableArguments;

/* The matrix of a constructor's arguments, and its kinds checked; false after external_fail. */
bool table_matrix(ExternalCall *call, TableArguments at, Matrix *matrix);

/* Makes the table of a constructor's arguments; false after external_fail. */
bool table_make(ExternalCall *call, TableArguments at, bool allows_jumps, Table *table);

/* Element (row, column), both from 1, of the matrix. */
bool table_element(ExternalCall *call, const Table *table);

/* The curve that argument 1, the number of an output, stands for; NULL after external_fail. */
const Curve *table_curve(ExternalCall *call, const Table *table);

/* Says that u is outside. */
bool table_outside(ExternalCall *call, const Table *table, double u);

/* Derivative of order `order` along a path: the call gives the place as argument 2, its derivatives as arguments
 * `first`, `first` + 1. As an element with `order` more nilpotents; false after external_fail. */
bool table_path(ExternalCall *call, uint32_t first, uint32_t order, double *u);

/* The highest coefficients of the element, as the result. */
bool table_give(ExternalCall *call, uint32_t order, const double *element);
