/* view: see view.h. */
#include "view/view.h"

#include "base/copy.h"
#include "segment/inside.h"
#include "view/branch.h"

#include <math.h>
#include <string.h>

/* Copies columns, with 0 for those that are only round-off. false: no column is only round-off. */
static bool clear_round_off(const System *system, const double *y, double *cleared) {
  bool any = false;
  for (int32_t q = 0; q < system->columns; q++) {
    bool is = statespace_is_round_off(y[q], system->nominal[q]);
    cleared[q] = is ? 0 : y[q];
    any = any || is;
  }
  return any;
}

/* The rows. Corrections of an integrator may leave round-off on the other side of 0, which may be outside the domain of a row, as for
 * sqrt(u). */
static EvalStatus whole_residual(void *context, double t, const double *y, double *residual) {
  View *view = context;
  EvalStatus status = evaluator_rows(view->evaluator, t, y, residual);
  if (status != EVAL_DOMAIN) return status;
  void *ticket = NULL;
  Heap *heap = heap_within(view->evaluator->heap, &ticket);
  double *cleared = heap_array(heap, (size_t)view->system.columns, sizeof *cleared);
  if (clear_round_off(&view->system, y, cleared)) status = evaluator_rows(view->evaluator, t, cleared, residual);
  heap_release(view->evaluator->heap, ticket);
  return status;
}

static EvalStatus whole_residuals(void *context, uint32_t count, const double *t, double *const *y,
                                  double *const *residual) {
  EvalStatus status = evaluator_rows_at(((View *)context)->evaluator, count, t, y, residual);
  if (status != EVAL_DOMAIN) return status;
  status = EVAL_OK;
  for (uint32_t k = 0; k < count && status == EVAL_OK; k++) status = whole_residual(context, t[k], y[k], residual[k]);
  return status;
}

static EvalStatus whole_jacobian(void *context, double t, const double *y, double *values) {
  return evaluator_jacobian(((View *)context)->evaluator, t, y, values);
}

const double *view_make_sizes(Heap *heap, View *view, const Evaluator *evaluator) {
  uint32_t columns = evaluator->array->columns;
  heap_numbers(heap, columns, &view->size, &view->seen);
  copy_numbers(view->size, evaluator->size, columns);
  return view->size;
}

System view_whole_system(Heap *heap, View *view, Evaluator *evaluator) {
  const Array *array = evaluator->array;
  const Jacobian *jacobian = evaluator->jacobian;
  int32_t *successor = heap_array(heap, array->columns, sizeof *successor);
  for (uint32_t q = 0; q < array->columns; q++)
    successor[q] = (int32_t)array_order(array, q) < array->d[array->column_unknown[q]] ? (int32_t)q + 1 : -1;
  return (System){.context = view,
                  .columns = (int32_t)array->columns,
                  .rows = (int32_t)array->rows,
                  .successor = successor,
                  .column_start = jacobian->column_start,
                  .row_index = jacobian->row_index,
                  .constant = jacobian->is_constant,
                  .nominal = evaluator->nominal,
                  .size = view_make_sizes(heap, view, evaluator),
                  .residual = whole_residual,
                  .residuals = whole_residuals,
                  .jacobian = whole_jacobian};
}

/* Solves at a time of the last step, on its branch. If the branch is not where it is expected, it must be followed up to
 * that time. */
static EvalStatus solve_on_branch(View *view, const Segment *segment, double t, double *y) {
  Branch *branch = view->branch;
  if (branch && branch_expects(branch, segment, t, y)) {
    if (view->methods->solve(view, t, y) == EVAL_OK && branch_expects(branch, segment, t, y)) return EVAL_OK;
    segment_values(segment, t, y);
  }
  if (branch) branch_take(branch, segment, t, y);
  return view->methods->solve(view, t, y);
}

static EvalStatus solve(void *host, double t, double *y) { return ((View *)host)->methods->solve(host, t, y); }
static EvalStatus find(void *host, double t, double *y) { return ((View *)host)->methods->find(host, t, y); }

EvalStatus view_point(View *view, const Segment *segment, double t, double *y) {
  InsideHost host = {view->evaluator->heap, &view->system, solve, find, view};
  view->is_between = false;
  segment_values(segment, t, y);
  if (solve_on_branch(view, segment, t, y) == EVAL_OK) return EVAL_OK;
  return t == segment->t1 ? find(view, t, y) : inside_solve(&host, segment, t, y, &view->is_between);
}

const System *view_system(const View *view, const Integrator *integrator) {
  return integrator->removes_superfluous && view->without_superfluous.rows ? &view->without_superfluous : &view->system;
}

/* Copies the discrete variables and their values before the event. */
static void copy_discretes(Evaluator *to, const Evaluator *from) {
  size_t count = to->model->discretes.count;
  copy_numbers(to->discretes, from->discretes, count);
  copy_numbers(to->pre, from->pre, count);
}

void view_set_original(View *view) {
  if (!view->mode) return;
  const Modes *modes = view->original->code->modes;
  copy_discretes(view->original, view->evaluator);
  for (uint32_t m = 0; m < modes->count; m++)
    if (view->mode[m] != MAP_NONE)
      view->original->discretes[modes->first + m] =
          view->evaluator->discretes[view->evaluator->code->modes->first + view->mode[m]];
}

bool view_is_state(const System *system, uint32_t column) {
  for (int32_t k = 0; k < system->links; k++)
    if (system->link_from[k] == (int32_t)column) return true;
  return false;
}

bool view_restructured(View *view) {
  if (!view->conditions || !view->holds) return false;
  Point point = evaluator_point(view->evaluator, 0, NULL);
  workspace_run(view->conditions, &point, view->values);
  for (uint32_t k = 0; k < view->branches && !view->settle.restructured; k++)
    view->settle.restructured = (view->values[k] != 0) != view->holds[k];
  return view->settle.restructured;
}
