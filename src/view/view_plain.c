/* view_plain: a system integrated as it is, at any index: each pair of a column and its derivative is a link, and the states never
 * change. Between steps, y is moved to the nearest point that satisfies the rows. */
#include "core/jump.h"
#include "integrate/nearest.h"
#include "view/model_jump.h"
#include "view/view.h"

/* The view comes first, so that one pointer is used for both. */
typedef struct PlainView {
  View view;
  Nearest *nearest;
} PlainView;

static EvalStatus solve(View *view, double t, double *y) {
  nearest_move(((PlainView *)view)->nearest, t, y);
  return EVAL_OK;
}

/* The column of the model's array for a column of the view. */
static uint32_t find_source(const View *view, int32_t column) {
  for (uint32_t q = 0; q < view->original->array->columns; q++)
    if (view->source[q] == (uint32_t)column) return q;
  return 0;
}

/* Keeps the states; if the rows do not allow that, their jump is not determined. */
static EvalStatus keep_states(PlainView *plain, double t, double *y) {
  int32_t column = 0;
  nearest_move_others(plain->nearest, t, y);
  if (nearest_missed(plain->nearest, t, y, &column) <= JUMPED) return EVAL_OK;
  plain->view.settle.undetermined = find_source(&plain->view, column);
  return EVAL_STOP;
}

static EvalStatus solve_at_event(View *view, double t, double *y) {
  PlainView *plain = (PlainView *)view;
  if (view->model_jump && !model_jump_apply(view->model_jump, t, y)) return EVAL_STOP;
  bool is_solved = view->model_jump && model_jump_solve(view->model_jump, t, y);
  if (view->settle.undetermined != MAP_NONE) return EVAL_STOP;
  return is_solved && !view->mode ? EVAL_OK : keep_states(plain, t, y);
}

static EvalStatus solve_holding(View *view, double t, double *y, const uint8_t *held) {
  PlainView *plain = (PlainView *)view;
  if (!view->model_jump) return keep_states(plain, t, y);
  if (!model_jump_solve_holding(view->model_jump, t, y, held)) return EVAL_STOP;
  return view->mode ? keep_states(plain, t, y) : EVAL_OK;
}

/* There is no choice, but the matrices keep their pivots. */
static void restore_choice(View *view, const void *choice, const double *y) {
  (void)choice;
  (void)y;
  nearest_forget(((PlainView *)view)->nearest);
}

static SolveFailure failure(const View *view) {
  (void)view;
  return (SolveFailure){0};
}

static uint64_t factorizations(const View *view) {
  (void)view;
  return 0;
}

static const ViewMethods METHODS = {.solve = solve,
                                    .find = solve,
                                    .solve_at_event = solve_at_event,
                                    .solve_holding = solve_holding,
                                    .restore_choice = restore_choice,
                                    .failure = failure,
                                    .factorizations = factorizations};

static void make_links(Heap *heap, System *system, const Array *array, const uint8_t *tie) {
  int32_t *from = heap_array(heap, array->columns, sizeof *from);
  int32_t *to = heap_array(heap, array->columns, sizeof *to);
  for (uint32_t q = 0; q < array->columns; q++) {
    if ((int32_t)array_order(array, q) == array->d[array->column_unknown[q]] || (tie && tie[q] == TIE_NONE)) continue;
    from[system->links] = (int32_t)q;
    to[system->links++] = (int32_t)q + 1;
  }
  system->link_from = from;
  system->link_to = to;
}

View *view_plain(Heap *heap, const Reduction *reduction, const ArrayRun *original, const ArrayRun *run) {
  PlainView *plain = heap_alloc(heap, sizeof *plain);
  View *view = &plain->view;
  const Reduced *reduced = &reduction->reduced;
  view->methods = &METHODS;
  view->settle.undetermined = MAP_NONE;
  view->evaluator = run->evaluator;
  view->switches = switches_new(heap, run->evaluator);
  view->system = view_whole_system(heap, view, run->evaluator);
  view->system.column_index = reduced->column_index;
  make_links(heap, &view->system, run->evaluator->array, reduced->tie);
  plain->nearest = nearest_new(heap, &view->system);
  view->model_jump = model_jump_new(heap, view, reduction, original);
  return view;
}
