/* view: see view.h. */
#include "solve/view.h"

#include <string.h>

static EvalStatus view_residual(void *context, double t, const double *y, double *residual) {
  return evaluator_rows(((View *)context)->evaluator, t, y, residual);
}

static EvalStatus view_jacobian(void *context, double t, const double *y, double *values) {
  return evaluator_jacobian(((View *)context)->evaluator, t, y, values);
}

static EvalStatus view_close(void *context, double t, double *y) {
  return statespace_close(((View *)context)->space, t, y);
}

static EvalStatus view_rates(void *context, double t, double *y) {
  return statespace_rates(((View *)context)->space, t, y);
}

/* The columns that are not states, in order, as one square matrix; place[] numbers them, states have -1. */
static void mark_states(View *view) {
  const System *system = &view->system;
  for (int32_t q = 0; q < system->columns; q++) view->place[q] = 0;
  for (int32_t k = 0; k < system->links; k++) view->place[system->link_from[k]] = -1;
  int32_t next = 0, entry = 0;
  for (int32_t q = 0; q < system->columns; q++) {
    if (view->place[q] < 0) continue;
    view->place[q] = next;
    view->pattern_start[next++] = entry;
    for (int32_t e = system->column_start[q]; e < system->column_start[q + 1]; e++)
      view->pattern_row[entry++] = system->row_index[e];
  }
  view->pattern_start[next] = entry;
  linear_set_pattern(view->linear, view->pattern_start, view->pattern_row);
}

/* Implicit function theorem: G_z dz/dx = -G_x, and the rates are among z, or are states themselves. */
static EvalStatus view_rates_jacobian(void *context, double t, const double *y, double *jacobian) {
  View *view = context;
  const System *system = &view->system;
  EvalStatus status = evaluator_jacobian(view->evaluator, t, y, view->values);
  if (status != EVAL_OK) return status;
  mark_states(view);
  int32_t entry = 0, n = system->links;
  for (int32_t q = 0; q < system->columns; q++)
    for (int32_t e = system->column_start[q]; e < system->column_start[q + 1] && view->place[q] >= 0; e++)
      view->pattern_value[entry++] = view->values[e];
  if (!linear_factor(view->linear, view->pattern_value)) return EVAL_DOMAIN;
  double *b = view->pattern_value + entry;
  for (int32_t k = 0; k < n; k++) {
    int32_t from = system->link_from[k];
    memset(b, 0, (size_t)system->rows * sizeof *b);
    for (int32_t e = system->column_start[from]; e < system->column_start[from + 1]; e++)
      b[system->row_index[e]] = -view->values[e];
    linear_solve(view->linear, b);
    for (int32_t i = 0; i < n; i++) {
      int32_t to = system->link_to[i];
      jacobian[i + k * n] = view->place[to] >= 0 ? b[view->place[to]] : to == from;
    }
  }
  return EVAL_OK;
}

static View *view_new(Heap *heap, Evaluator *evaluator) {
  View *view = heap_alloc(heap, sizeof *view);
  const Jacobian *jacobian = evaluator->jacobian;
  view->evaluator = evaluator;
  const Array *array = evaluator->array;
  int32_t *successor = heap_array(heap, array->columns, sizeof *successor);
  for (uint32_t q = 0; q < array->columns; q++)
    successor[q] = (int32_t)array_order(array, q) < array->d[array->column_unknown[q]] ? (int32_t)q + 1 : -1;
  view->system = (System){.context = view,
                          .columns = (int32_t)evaluator->array->columns,
                          .rows = (int32_t)evaluator->array->rows,
                          .successor = successor,
                          .column_start = jacobian->column_start,
                          .row_index = jacobian->row_index,
                          .constant = jacobian->is_constant,
                          .nominal = evaluator->nominal,
                          .residual = view_residual,
                          .jacobian = view_jacobian};
  return view;
}

void view_update_links(View *view) {
  System *system = &view->system, *lean = &view->lean;
  if (!view->dummy) return;
  system->links = (int32_t)dummy_links(view->dummy, &system->link_from, &system->link_to);
  lean->link_from = system->link_from;
  lean->link_to = system->link_to;
  lean->links = system->links + (int32_t)dummy_ties(view->dummy);
}

/* ---- without superfluous differentiations ---- */

static EvalStatus lean_residual(void *context, double t, const double *y, double *residual) {
  View *view = context;
  Point point = evaluator_point(view->evaluator, t, y);
  view->evaluator->row_evaluations += (uint64_t)view->lean.rows;
  return program_run(view->lean_rows, &point, residual);
}

static EvalStatus lean_jacobian(void *context, double t, const double *y, double *values) {
  View *view = context;
  Point point = evaluator_point(view->evaluator, t, y);
  view->evaluator->entry_evaluations += view->lean_jacobian->nonzeros;
  return jacobian_run(view->lean_jacobian, &point, values);
}

/* Leaves out the superfluous last rows of spare blocks. */
static void make_lean(Heap *heap, View *view, const Structure *structure) {
  Evaluator *evaluator = view->evaluator;
  Array *array = evaluator->array;
  ExprVec rows = {0};
  for (uint32_t r = 0; r < array->rows; r++) {
    uint32_t i = array->row_equation[r];
    bool last = (int32_t)array_level(array, r) == array->c[i];
    bool spare = structure->superfluous[i] && structure->spare[structure->blocks.block_of_row[i]];
    if (!(last && spare)) vec_push(heap, &rows, array_row(array, r));
  }
  view->lean_rows = evaluator_program(evaluator, rows.data, rows.count);
  view->lean_jacobian = jacobian_new(heap, evaluator->model, &evaluator->layout, rows.data, rows.count, NULL, 0);
  vec_push(heap, &evaluator->programs, view->lean_jacobian->program);
  view->lean = view->system;
  view->lean.rows = (int32_t)rows.count;
  view->lean.column_start = view->lean_jacobian->column_start;
  view->lean.row_index = view->lean_jacobian->row_index;
  view->lean.constant = view->lean_jacobian->is_constant;
  view->lean.residual = lean_residual;
  view->lean.jacobian = lean_jacobian;
  vec_free(heap, &rows);
}

const System *view_system(const View *view, const Integrator *integrator) {
  return integrator->lean && view->lean.rows ? &view->lean : &view->system;
}

/* ---- the views ---- */

View *view_dummy(Heap *heap, Evaluator *evaluator, Dummy *dummy, StateSpace *space) {
  View *view = view_new(heap, evaluator);
  const Jacobian *jacobian = evaluator->jacobian;
  view->dummy = dummy;
  view->space = space;
  view->system.close = view_close;
  view->system.rates_jacobian = view_rates_jacobian;
  view->values = heap_array(heap, jacobian->nonzeros, sizeof(double));
  view->place = heap_array(heap, jacobian->columns, sizeof(int32_t));
  view->pattern_start = heap_array(heap, (size_t)jacobian->columns + 1, sizeof(int32_t));
  view->pattern_row = heap_array(heap, jacobian->nonzeros, sizeof(int32_t));
  view->pattern_value = heap_array(heap, (size_t)jacobian->nonzeros + jacobian->rows, sizeof(double));
  view->linear = linear_new(heap, (int32_t)jacobian->rows, (int32_t)jacobian->nonzeros, false);
  view_update_links(view);
  return view;
}

View *view_plain(Heap *heap, Evaluator *evaluator, const uint8_t *tie, const int32_t *column_index) {
  View *view = view_new(heap, evaluator);
  const Array *array = evaluator->array;
  int32_t *from = heap_array(heap, array->columns, sizeof *from);
  int32_t *to = heap_array(heap, array->columns, sizeof *to);
  int32_t links = 0;
  for (uint32_t q = 0; q < array->columns; q++) {
    if ((int32_t)array_order(array, q) == array->d[array->column_unknown[q]] || (tie && tie[q] == TIE_NONE)) continue;
    from[links] = (int32_t)q;
    to[links++] = (int32_t)q + 1;
  }
  view->system.links = links;
  view->system.link_from = from;
  view->system.link_to = to;
  view->system.column_index = column_index;
  view->nearest = nearest_new(heap, &view->system);
  return view;
}

uint64_t view_factorizations(const View *view) {
  return view->factorizations + (view->space ? statespace_factorizations(view->space) : 0);
}

EvalStatus view_solve(View *view, double t, double *y) {
  if (view->system.close) return view->system.close(view, t, y);
  nearest_move(view->nearest, t, y);
  return EVAL_OK;
}

/* By the array of the model: every level holds then. false: it cannot be solved there, and y stays as it
 * is. */
static bool settle_original(View *view, double t, double *y) {
  int32_t block;
  double *whole = view->original_y;
  for (uint32_t q = 0; q < view->original->array->columns; q++)
    if (view->source[q] != MAP_NONE) whole[q] = view->sign[q] * y[view->source[q]];
  if (!dummy_select(view->original_dummy, t, whole, &block)) return false;
  statespace_choose(view->original_space, dummy_depth(view->original_dummy));
  if (statespace_close(view->original_space, t, whole) != EVAL_OK) return false;
  for (uint32_t q = 0; q < view->original->array->columns; q++)
    if (view->source[q] != MAP_NONE) y[view->source[q]] = view->sign[q] * whole[q];
  return true;
}

EvalStatus view_settle(View *view, double t, double *y) {
  if (view->system.close) return view->system.close(view, t, y);
  if (!view->original_space || !settle_original(view, t, y)) nearest_settle(view->nearest, t, y);
  return EVAL_OK;
}

View *view_reduced(Heap *heap, const Reduction *reduction) {
  const Reduced *reduced = &reduction->reduced;
  View *view;
  if (reduced->structure) {
    int32_t block;
    dummy_select(reduced->dummy, reduction->time, reduced->y, &block);
    statespace_choose(reduced->space, dummy_depth(reduced->dummy));
    view = view_dummy(heap, reduced->evaluator, reduced->dummy, reduced->space);
    if (reduction->counts.left_out && dummy_ties(reduced->dummy)) {
      make_lean(heap, view, reduced->structure);
      view_update_links(view);
    }
  } else {
    view = view_plain(heap, reduced->evaluator, reduced->tie, reduced->column_index);
  }
  if (reduced->modes->count) {
    view->switches = switches_new(heap, reduced->evaluator, reduced->modes); /* may look at any column inside a step */
  } else if (view->space) {
    view->system.rates = view_rates;
    view->system.given = statespace_given(view->space);
  }
  view->original = reduction->evaluator;
  if (reduced->modes != reduction->modes && reduction->modes->count)
    view->original_switches = switches_new(heap, reduction->evaluator, reduction->modes);
  view->source = reduced->source;
  view->sign = reduced->sign;
  if (!reduced->structure && reduced->modes == reduction->modes && reduction->modes->count) {
    view->original_dummy = reduction->dummy;
    view->original_space = reduction->space;
    view->original_y = heap_array(heap, reduction->array->columns, sizeof(double));
    memcpy(view->original_y, reduction->y, (size_t)reduction->array->columns * sizeof(double));
  }
  return view;
}
