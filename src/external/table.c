/* table: tables in one dimension (CombiTable1D), and the code that all tables share (table.h). */
#include "external/table.h"

#include "external/foreign.h"
#include "external/functions.h"

#include <string.h>

/* ---- making ---- */

static bool has_name(const char *name) { return name[0] && strcmp(name, "NoName") != 0; }

/* Finds the matrix. If both names are given, the table is in a file; if the table has a name but its matrix is empty, the user's
 * function usertab gives it; otherwise it is in the arguments. */
static bool find_matrix(ExternalCall *call, TableArguments at, Matrix *matrix) {
  uint32_t verbose = at.verbose;
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
  void (*address)(void) = external_address(call->function->rights, "usertab");
  if (has_name(name) && !given->count && address) return foreign_table(call, address, name, at.dimensions, matrix);
  if (given->dimensions != 2) return external_fail(call, "a table is a matrix");
  *matrix = (Matrix){given->sizes[0], given->sizes[1], heap_array(call->state->heap, given->count, sizeof(double))};
  memcpy(matrix->values, given->numbers, given->count * sizeof(double));
  return true;
}

static bool check_order(ExternalCall *call, const double *x, uint32_t rows, bool allows_jumps) {
  for (uint32_t i = 1; i < rows; i++) {
    double step = x[i] - x[i - 1];
    if (!(step > 0 || (step == 0 && allows_jumps)))
      return external_fail(call, "the first column of a table must increase: row %u has %g after %g", i + 1, x[i],
                           x[i - 1]);
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

bool table_matrix(ExternalCall *call, TableArguments at, Table *table) {
  Matrix matrix;
  if (!check_kinds(call, at) || !find_matrix(call, at, &matrix)) return false;
  *table = (Table){.rows = matrix.rows, .columns = matrix.columns, .values = matrix.values};
  return true;
}

static double *copy_column(Heap *heap, const Table *table, uint32_t column) {
  double *copy = heap_array(heap, table->rows, sizeof *copy);
  for (uint32_t i = 0; i < table->rows; i++) copy[i] = table->values[(size_t)i * table->columns + column];
  return copy;
}

static void add_slopes(Heap *heap, Curve *curve) {
  if (!curve_is_cubic(curve->smoothness)) return;
  double *steps = heap_array(heap, (size_t)curve->count + 3, sizeof *steps);
  double *slope = heap_array(heap, curve->count, sizeof *slope);
  curve_fill_slopes(curve, steps, slope);
  curve->slope = slope;
  heap_free(heap, steps);
}

bool table_make_curves(ExternalCall *call, TableArguments at, bool allows_jumps, Table *table) {
  Heap *heap = call->state->heap;
  if (!table_matrix(call, at, table)) return false;
  if (!table->rows || !table->columns) return external_fail(call, "a table has at least one row and one column");
  const double *x = copy_column(heap, table, 0);
  if (!check_order(call, x, table->rows, allows_jumps)) return false;
  const ExternalValue *columns = &call->arguments[at.columns];
  Curve *curves = heap_array(heap, (size_t)columns->count + 1, sizeof *curves);
  Curve plain = {.smoothness = (Smoothness)external_integer(call, at.smoothness),
                 .extrapolation = (Extrapolation)external_integer(call, at.extrapolation),
                 .count = table->rows,
                 .x = x,
                 .y = x};
  curves[0] = plain; /* a table without columns still needs the abscissas */
  for (uint32_t k = 0; k < columns->count; k++) {
    double column = columns->numbers[k];
    if (!(column >= 1 && column <= table->columns))
      return external_fail(call, "column %g is requested, the table has %u", column, table->columns);
    curves[k] = plain;
    curves[k].y = copy_column(heap, table, (uint32_t)column - 1);
    add_slopes(heap, &curves[k]);
  }
  table->lookup = (Lookup){.count = columns->count, .curves = curves};
  return true;
}

/* ---- objects ---- */

static const char KINDS[TABLE_KINDS]; /* their addresses distinguish the kinds */

bool table_give(ExternalCall *call, TableKind kind, Table *table) {
  return external_give_object(call, &KINDS[kind], table, true);
}

const Table *table_argument(ExternalCall *call, TableKind kind) { return external_content(call, 0, &KINDS[kind]); }

const Lookup *table_lookup(const ExternalInstance *object) {
  for (size_t k = 0; object && k < TABLE_KINDS; k++)
    if (object->kind == &KINDS[k]) return &((const Table *)object->content)->lookup;
  return NULL;
}

/* ---- reading ---- */

bool table_element(ExternalCall *call, TableKind kind) {
  const Table *table = table_argument(call, kind);
  if (!table) return false;
  int64_t row = external_integer(call, 1), column = external_integer(call, 2);
  if (row < 1 || row > table->rows || column < 1 || column > table->columns)
    return external_fail(call, "element (%lld, %lld) of a table of %u rows and %u columns", (long long)row,
                         (long long)column, table->rows, table->columns);
  return external_give(call, table->values[(size_t)(row - 1) * table->columns + (size_t)column - 1]);
}

static bool fail_outside(ExternalCall *call, double place, double begin, double end) {
  return external_fail(call, "%.17g is outside of the table, from %g to %g, which must not be extrapolated", place,
                       begin, end);
}

/* Reports why there is no value. */
static bool explain_fault(ExternalCall *call, const Lookup *lookup, double place) {
  if (!lookup->grid) return fail_outside(call, place, lookup_minimum(lookup), lookup_maximum(lookup));
  for (uint32_t k = 0; k < 2; k++) {
    const GridAxis *axis = &lookup->grid->axis[k];
    double u = external_number(call, 1 + k);
    if (u < axis->x[0] || u > axis->x[axis->count - 1])
      return fail_outside(call, u, axis->x[0], axis->x[axis->count - 1]);
  }
  return external_fail(call, "there is no value");
}

bool table_interpolate(ExternalCall *call, TableKind kind, uint32_t order) {
  const Table *table = table_argument(call, kind);
  const double *arguments[LOOKUP_ARGUMENTS] = {0};
  double place = 0;
  if (!table) return false;
  if (call->nilpotents + order > JET_LIMIT) return external_fail(call, "derivatives of order above %d", JET_LIMIT);
  int64_t number = kind == TABLE_GRID ? 1 : external_integer(call, 1);
  if (kind != TABLE_GRID && (number < 1 || number > table->lookup.count))
    return external_fail(call, "output %lld of a table with %u", (long long)number, table->lookup.count);
  for (uint32_t k = 1; k < call->count; k++) arguments[k - 1] = call->arguments[k].numbers;
  return lookup_value(&table->lookup, call->nilpotents, order, arguments, call->result.numbers, &place) ||
         explain_fault(call, &table->lookup, place);
}

/* ---- tables in one dimension ---- */

bool external_table_init(ExternalCall *call) {
  static const TableArguments at = {.columns = 5, .smoothness = 7, .extrapolation = 8, .verbose = 9, .dimensions = 1};
  Table *table = heap_alloc(call->state->heap, sizeof *table);
  return table_make_curves(call, at, false, table) && table_give(call, TABLE_CURVES, table);
}

bool external_table_read(ExternalCall *call) { return table_element(call, TABLE_CURVES); }

bool external_table_minimum(ExternalCall *call) {
  const Table *table = table_argument(call, TABLE_CURVES);
  return table && external_give(call, lookup_minimum(&table->lookup));
}

bool external_table_maximum(ExternalCall *call) {
  const Table *table = table_argument(call, TABLE_CURVES);
  return table && external_give(call, lookup_maximum(&table->lookup));
}

bool external_table_value(ExternalCall *call) { return table_interpolate(call, TABLE_CURVES, 0); }
bool external_table_derivative(ExternalCall *call) { return table_interpolate(call, TABLE_CURVES, 1); }
bool external_table_second_derivative(ExternalCall *call) { return table_interpolate(call, TABLE_CURVES, 2); }
