/* view_strangeness: the selection of a strangeness-free system (reduce/strangeness.h) as the system that integrators see: the rows
 * selected, then one row for each column that is held. */
#include "solve/view.h"

#include <string.h>

/* The view comes first, so that one pointer serves as both. */
typedef struct SelectedView {
  View view;
  Strangeness *strangeness;
  double *rows, *values; /* of the whole array */
  double *held;          /* value per column */
  int32_t *place; /* per entry of the system: entry of the array's Jacobian, -1 for the 1 of a held column */
} SelectedView;

static EvalStatus selected_residual(void *context, double t, const double *y, double *residual) {
  SelectedView *selected = context;
  const Strangeness *strangeness = selected->strangeness;
  EvalStatus status = evaluator_rows(strangeness->evaluator, t, y, selected->rows);
  int32_t next = strangeness->rows;
  for (uint32_t i = 0; i < strangeness->array->rows; i++)
    if (strangeness->row[i] >= 0) residual[strangeness->row[i]] = selected->rows[i];
  for (uint32_t q = 0; q < strangeness->array->columns; q++)
    if (strangeness->held[q]) residual[next++] = y[q] - selected->held[q];
  return status;
}

static EvalStatus selected_jacobian(void *context, double t, const double *y, double *values) {
  SelectedView *selected = context;
  const System *system = &selected->view.system;
  EvalStatus status = evaluator_jacobian(selected->strangeness->evaluator, t, y, selected->values);
  for (int32_t e = 0; e < system->column_start[system->columns]; e++)
    values[e] = selected->place[e] < 0 ? 1 : selected->values[selected->place[e]];
  return status;
}

/* Entries of the selected rows, column by column; a held column has its own row too. */
static void make_pattern(Heap *heap, SelectedView *selected) {
  const Strangeness *strangeness = selected->strangeness;
  const Jacobian *jacobian = strangeness->evaluator->jacobian;
  uint32_t columns = jacobian->columns;
  int32_t *start = heap_array(heap, (size_t)columns + 1, sizeof *start);
  int32_t *row = heap_array(heap, (size_t)jacobian->nonzeros + columns, sizeof *row), count = 0,
          next = strangeness->rows;
  selected->place = heap_array(heap, (size_t)jacobian->nonzeros + columns, sizeof(int32_t));
  for (uint32_t q = 0; q < columns; q++) {
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++) {
      if (strangeness->row[jacobian->row_index[e]] < 0) continue;
      selected->place[count] = e;
      row[count++] = strangeness->row[jacobian->row_index[e]];
    }
    if (strangeness->held[q]) {
      selected->place[count] = -1;
      row[count++] = next++;
    }
    start[q + 1] = count;
  }
  selected->view.system.column_start = start;
  selected->view.system.row_index = row;
  selected->view.system.rows = next;
}

/* The system of the present selection at y. */
static void take_selection(Heap *heap, SelectedView *selected, const double *y) {
  View *view = &selected->view;
  memcpy(selected->held, y, selected->strangeness->array->columns * sizeof *y);
  view->system.links = selected->strangeness->links;
  make_pattern(heap, selected);
  view->nearest = nearest_new(heap, &view->system);
}

/* A selection with the same states would only disturb a run that gets on: the old one is put back. */
static bool reselect(View *view, double t, double *y, bool failed) {
  SelectedView *selected = (SelectedView *)view;
  Strangeness *strangeness = selected->strangeness;
  Heap *heap = strangeness->heap;
  Strangeness before = *strangeness;
  size_t rows = strangeness->array->rows, columns = strangeness->array->columns;
  strangeness->row = heap_array(heap, rows, sizeof(int32_t));
  strangeness->held = heap_array(heap, columns, sizeof(bool));
  strangeness->from = heap_array(heap, columns, sizeof(int32_t));
  strangeness->to = heap_array(heap, columns, sizeof(int32_t));
  strangeness_refresh(strangeness, t, y);
  bool ok = strangeness_select(strangeness, t, y);
  bool same = !memcmp(before.from, strangeness->from, (size_t)before.links * sizeof(int32_t));
  if (failed)
    same = same && !memcmp(before.held, strangeness->held, columns * sizeof(bool)) &&
           !memcmp(before.row, strangeness->row, rows * sizeof(int32_t));
  if (!ok || same) {
    *strangeness = before;
    return false;
  }
  view->system.link_from = strangeness->from;
  view->system.link_to = strangeness->to;
  take_selection(heap, selected, y);
  return true;
}

View *view_strangeness(Heap *heap, Strangeness *strangeness, const double *y) {
  SelectedView *selected = heap_alloc(heap, sizeof *selected);
  uint32_t columns = strangeness->array->columns;
  View *view = &selected->view;
  selected->strangeness = strangeness;
  selected->rows = heap_array(heap, strangeness->array->rows, sizeof(double));
  selected->values = heap_array(heap, strangeness->evaluator->jacobian->nonzeros, sizeof(double));
  selected->held = heap_array(heap, columns, sizeof(double));
  view->evaluator = view->original = strangeness->evaluator;
  uint32_t *source = heap_array(heap, columns, sizeof *source);
  int8_t *sign = heap_array(heap, columns, sizeof *sign);
  for (uint32_t q = 0; q < columns; q++) source[q] = q, sign[q] = 1;
  view->source = source;
  view->sign = sign;
  view->system = (System){.context = view,
                          .columns = (int32_t)columns,
                          .link_from = strangeness->from,
                          .link_to = strangeness->to,
                          .nominal = strangeness->evaluator->nominal,
                          .residual = selected_residual,
                          .jacobian = selected_jacobian};
  view->reselect = reselect;
  take_selection(heap, selected, y);
  return view;
}
