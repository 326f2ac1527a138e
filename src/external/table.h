/* table: shared by the constructors of tables: a matrix from a file or from arguments, and the table made from it (lookup.h). */
#pragma once

#include "external/external.h"
#include "external/lookup.h"
#include "external/matrix_file.h"

typedef struct Table {
  Lookup lookup;
  uint32_t rows, columns;
  const double *values; /* row-major */
} Table;

/* Classes of tables. */
typedef enum TableKind { TABLE_CURVES, TABLE_TIMES, TABLE_GRID, TABLE_KINDS } TableKind;

/* Positions of the arguments of a constructor. All constructors have file name, table name and matrix (0, 1, 2). */
typedef struct TableArguments {
  uint32_t columns, smoothness, extrapolation,
      verbose;    /* the arguments after verbose are delimiter and header lines, if given */
  int dimensions; /* 0: over time */
} TableArguments;

/* Reads the matrix from a constructor's arguments and checks its kinds; false after external_fail. */
bool table_matrix(ExternalCall *call, TableArguments at, Table *table);

/* Makes a curve for each column in a constructor's arguments; false after external_fail. */
bool table_make_curves(ExternalCall *call, TableArguments at, bool allows_jumps, Table *table);

/* Returns a table as the result. */
bool table_give(ExternalCall *call, TableKind kind, Table *table);

/* The table of argument 0; NULL after external_fail. */
const Table *table_argument(ExternalCall *call, TableKind kind);

/* Element (row, column), both from 1, of the matrix. */
bool table_element(ExternalCall *call, TableKind kind);

/* The value or a derivative along a path, as the result; false after external_fail. */
bool table_interpolate(ExternalCall *call, TableKind kind, uint32_t order);

/* The table of an object; NULL: it is not one. */
const Lookup *table_lookup(const ExternalInstance *object);
