/* surface: tables in two dimensions (CombiTable2D). The first column holds the places of u1, the first row those of u2 (grid.h). */
#include "external/functions.h"
#include "external/table.h"

#include <string.h>

/* ---- making ---- */

static bool make_axis(ExternalCall *call, const Table *table, uint32_t direction, GridAxis *axis) {
  uint32_t stride = direction ? 1 : table->columns;
  axis->count = (direction ? table->columns : table->rows) - 1;
  double *x = heap_array(call->state->heap, axis->count, sizeof *x);
  for (uint32_t i = 0; i < axis->count; i++) {
    x[i] = table->values[(size_t)(i + 1) * stride];
    if (i && !(x[i] > x[i - 1]))
      return external_fail(call, "the first %s of a table must increase: %g comes after %g",
                           direction ? "row" : "column", x[i], x[i - 1]);
  }
  axis->x = x;
  return true;
}

static void make_bicubic(Grid *grid, Heap *heap) {
  size_t places = (size_t)grid->axis[0].count + grid->axis[1].count,
         points = (size_t)grid->axis[0].count * grid->axis[1].count;
  double *room = heap_array(heap, 2 * points + places + 6, sizeof *room), *slope[2],
         *twist = heap_array(heap, points, sizeof *twist);
  for (uint32_t k = 0; k < 2; k++) grid->slope[k] = slope[k] = heap_array(heap, points, sizeof(double));
  grid_fill_slopes(grid, room, slope, twist);
  grid->twist = twist;
  heap_free(heap, room);
}

static double *copy_inner(Heap *heap, const Table *table) {
  double *z = heap_array(heap, (size_t)table->rows * table->columns, sizeof *z);
  for (uint32_t i = 1; i < table->rows; i++)
    memcpy(z + (size_t)(i - 1) * (table->columns - 1), table->values + (size_t)i * table->columns + 1,
           (table->columns - 1) * sizeof *z);
  return z;
}

bool external_surface_init(ExternalCall *call) {
  static const TableArguments at = {.smoothness = 5, .extrapolation = 6, .verbose = 7, .dimensions = 2};
  Heap *heap = call->state->heap;
  Table *table = heap_alloc(heap, sizeof *table);
  Grid *grid = heap_alloc(heap, sizeof *grid);
  if (!table_matrix(call, at, table)) return false;
  if (table->rows < 2 || table->columns < 2)
    return external_fail(call, "a table in two dimensions has at least two rows and two columns");
  *grid = (Grid){.smoothness = (Smoothness)external_integer(call, at.smoothness),
                 .extrapolation = (Extrapolation)external_integer(call, at.extrapolation)};
  if (grid->smoothness > SMOOTH_CONSTANT)
    return external_fail(call, "smoothness %d is not defined in two dimensions", (int)grid->smoothness);
  for (uint32_t k = 0; k < 2; k++)
    if (!make_axis(call, table, k, &grid->axis[k])) return false;
  grid->z = copy_inner(heap, table);
  if (grid->smoothness == SMOOTH_AKIMA) make_bicubic(grid, heap);
  table->lookup = (Lookup){.grid = grid};
  return table_give(call, TABLE_GRID, table);
}

/* ---- reading ---- */

bool external_surface_read(ExternalCall *call) { return table_element(call, TABLE_GRID); }

static bool give_ends(ExternalCall *call, bool is_last) {
  const Table *table = table_argument(call, TABLE_GRID);
  for (uint32_t k = 0; table && k < 2 && k < call->arguments[1].count; k++) {
    const GridAxis *axis = &table->lookup.grid->axis[k];
    call->arguments[1].numbers[k] = axis->x[is_last ? axis->count - 1 : 0];
  }
  return table != NULL;
}

bool external_surface_minimum(ExternalCall *call) { return give_ends(call, false); }
bool external_surface_maximum(ExternalCall *call) { return give_ends(call, true); }
bool external_surface_value(ExternalCall *call) { return table_interpolate(call, TABLE_GRID, 0); }
bool external_surface_derivative(ExternalCall *call) { return table_interpolate(call, TABLE_GRID, 1); }
bool external_surface_second_derivative(ExternalCall *call) { return table_interpolate(call, TABLE_GRID, 2); }
