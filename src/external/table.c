/* table: tables in one dimension (CombiTable1D), and what others share with them (table.h). */
#include "external/table.h"

#include "external/functions.h"
#include "external/jet.h"

#include <string.h>

/* ---- making ---- */

static bool has_name(const char *name) { return name[0] && strcmp(name, "NoName") != 0; }

/* The matrix: from a file if both names are given, else that of the arguments. */
static bool find_matrix(ExternalCall *call, uint32_t verbose, Matrix *matrix) {
  const char *file = external_text(call, 0), *name = external_text(call, 1);
  if (has_name(file) && has_name(name)) {
    MatrixFormat format = {0};
    if (call->count > verbose + 2) {
      format.delimiter = external_text(call, verbose + 1)[0];
      format.header_lines = external_integer(call, verbose + 2);
    }
    return matrix_read(call, file, name, format, matrix);
  }
  const ExternalValue *given = &call->arguments[2];
  if (given->dimensions != 2) return external_fail(call, "a table is a matrix");
  *matrix = (Matrix){given->sizes[0], given->sizes[1], heap_array(call->state->heap, given->count, sizeof(double))};
  memcpy(matrix->values, given->numbers, given->count * sizeof(double));
  return true;
}

static bool check_order(ExternalCall *call, const Table *table, bool allows_jumps) {
  for (uint32_t i = 1; i < table->rows; i++) {
    double step = table->x[i] - table->x[i - 1];
    if (!(step > 0 || (step == 0 && allows_jumps)))
      return external_fail(call, "the first column of a table must increase: row %u has %g after %g", i + 1,
                           table->x[i], table->x[i - 1]);
  }
  return true;
}

static bool check_kinds(ExternalCall *call, TableArguments at) {
  int64_t smoothness = external_integer(call, at.smoothness), extrapolation = external_integer(call, at.extrapolation);
  if (smoothness < SMOOTH_LINEAR || smoothness > SMOOTH_MODIFIED_AKIMA)
    return external_fail(call, "smoothness %lld of a table is not known", (long long)smoothness);
  if (extrapolation < EXTRAPOLATE_HOLD || extrapolation > EXTRAPOLATE_NONE)
    return external_fail(call, "extrapolation %lld of a table is not known", (long long)extrapolation);
  return true;
}

bool table_matrix(ExternalCall *call, TableArguments at, Matrix *matrix) {
  return check_kinds(call, at) && find_matrix(call, at.verbose, matrix);
}

static double *copy_column(Heap *heap, const Table *table, uint32_t column) {
  double *copy = heap_array(heap, table->rows, sizeof *copy);
  for (uint32_t i = 0; i < table->rows; i++) copy[i] = table->values[(size_t)i * table->columns + column];
  return copy;
}

bool table_make(ExternalCall *call, TableArguments at, bool allows_jumps, Table *table) {
  Heap *heap = call->state->heap;
  Matrix matrix;
  if (!table_matrix(call, at, &matrix)) return false;
  if (!matrix.rows || !matrix.columns) return external_fail(call, "a table has at least one row and one column");
  *table = (Table){.rows = matrix.rows, .columns = matrix.columns, .values = matrix.values};
  table->x = copy_column(heap, table, 0);
  if (!check_order(call, table, allows_jumps)) return false;
  const ExternalValue *columns = &call->arguments[at.columns];
  table->count = columns->count;
  table->curves = heap_array(heap, columns->count, sizeof *table->curves);
  for (uint32_t k = 0; k < columns->count; k++) {
    double column = columns->numbers[k];
    if (!(column >= 1 && column <= matrix.columns))
      return external_fail(call, "column %g is asked for, the table has %u", column, matrix.columns);
    table->curves[k] = curve_make(heap, table->x, copy_column(heap, table, (uint32_t)column - 1), table->rows,
                                  (Smoothness)external_integer(call, at.smoothness),
                                  (Extrapolation)external_integer(call, at.extrapolation));
  }
  return true;
}

/* ---- reading ---- */

bool table_element(ExternalCall *call, const Table *table) {
  int64_t row = external_integer(call, 1), column = external_integer(call, 2);
  if (row < 1 || row > table->rows || column < 1 || column > table->columns)
    return external_fail(call, "element (%lld, %lld) of a table of %u rows and %u columns", (long long)row,
                         (long long)column, table->rows, table->columns);
  return external_give(call, table->values[(size_t)(row - 1) * table->columns + (size_t)column - 1]);
}

const Curve *table_curve(ExternalCall *call, const Table *table) {
  int64_t number = external_integer(call, 1);
  if (number >= 1 && number <= table->count) return &table->curves[number - 1];
  external_fail(call, "output %lld of a table with %u", (long long)number, table->count);
  return NULL;
}

bool table_outside(ExternalCall *call, const Table *table, double u) {
  return external_fail(call, "%.17g is outside of the table, from %g to %g, which is not to be extrapolated", u,
                       table->x[0], table->x[table->rows - 1]);
}

bool table_path(ExternalCall *call, uint32_t first, uint32_t order, double *u) {
  size_t size = (size_t)1 << call->nilpotents, bytes = size * sizeof *u;
  if (call->nilpotents + order > JET_LIMIT) return external_fail(call, "derivatives of order above %d", JET_LIMIT);
  memcpy(u, call->arguments[2].numbers, bytes);
  if (order > 0) memcpy(u + size, call->arguments[first].numbers, bytes);
  if (order > 1) memcpy(u + 2 * size, call->arguments[first].numbers, bytes);
  if (order > 1) memcpy(u + 3 * size, call->arguments[first + 1].numbers, bytes);
  return true;
}

bool table_give(ExternalCall *call, uint32_t order, const double *element) {
  size_t size = (size_t)1 << call->nilpotents;
  memcpy(call->result.numbers, element + (((size_t)1 << order) - 1) * size, size * sizeof *element);
  return true;
}

/* ---- tables in one dimension ---- */

static const char TABLE_KIND = 0;

bool external_table_init(ExternalCall *call) {
  static const TableArguments at = {.columns = 5, .smoothness = 7, .extrapolation = 8, .verbose = 9};
  Table *table = heap_alloc(call->state->heap, sizeof *table);
  return table_make(call, at, false, table) && external_give_object(call, &TABLE_KIND, table, true);
}

bool external_table_read(ExternalCall *call) {
  const Table *table = external_content(call, 0, &TABLE_KIND);
  return table && table_element(call, table);
}

bool external_table_minimum(ExternalCall *call) {
  const Table *table = external_content(call, 0, &TABLE_KIND);
  return table && external_give(call, table->x[0]);
}

bool external_table_maximum(ExternalCall *call) {
  const Table *table = external_content(call, 0, &TABLE_KIND);
  return table && external_give(call, table->x[table->rows - 1]);
}

static bool interpolate(ExternalCall *call, uint32_t order) {
  double u[JET_SIZE], element[JET_SIZE], derivative[JET_LIMIT + 1];
  const Table *table = external_content(call, 0, &TABLE_KIND);
  const Curve *curve = table ? table_curve(call, table) : NULL;
  uint32_t n = call->nilpotents + order;
  if (!curve || !table_path(call, 3, order, u)) return false;
  if (!curve_derivatives(curve, u[0], false, n, derivative)) return table_outside(call, table, u[0]);
  jet_compose(n, derivative, u, element);
  return table_give(call, order, element);
}

bool external_table_value(ExternalCall *call) { return interpolate(call, 0); }
bool external_table_derivative(ExternalCall *call) { return interpolate(call, 1); }
bool external_table_second_derivative(ExternalCall *call) { return interpolate(call, 2); }
