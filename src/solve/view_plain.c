/* view_plain: a system integrated as it is, at whatever index: every tie to the next column is a link, and the states never
 * change. Between steps the rows are met at the nearest point. */
#include "solve/jump.h"
#include "solve/nearest.h"
#include "solve/view.h"

/* The view comes first, so that one pointer serves as both. */
typedef struct PlainView {
  View view;
  Nearest *nearest;
  /* The array of the model, by which an event is solved: hidden constraints that the system does not hold must hold
   * where it starts again. Its space is NULL where the evaluators do not share their modes. */
  ArrayRun original;
  Jump *jump;
} PlainView;

static EvalStatus solve(View *view, double t, double *y) {
  nearest_move(((PlainView *)view)->nearest, t, y);
  return EVAL_OK;
}

/* By the array of the model: every level holds then. false: it cannot be solved there, and y stays as it is. */
static bool solve_original(PlainView *plain, double t, double *y) {
  const View *view = &plain->view;
  int32_t block;
  uint32_t undetermined;
  double *whole = plain->original.y;
  for (uint32_t q = 0; q < view->original->array->columns; q++)
    if (view->source[q] != MAP_NONE) whole[q] = view->sign[q] * y[view->source[q]];
  if (!jump_solve(plain->jump, t, whole, &undetermined) || !dummy_select(plain->original.dummy, t, whole, &block))
    return false;
  statespace_choose(plain->original.space, dummy_depth(plain->original.dummy));
  if (statespace_complete(plain->original.space, t, whole) != EVAL_OK) return false;
  for (uint32_t q = 0; q < view->original->array->columns; q++)
    if (view->source[q] != MAP_NONE) y[view->source[q]] = view->sign[q] * whole[q];
  return true;
}

static EvalStatus solve_at_event(View *view, double t, double *y) {
  PlainView *plain = (PlainView *)view;
  if (!plain->original.space || !solve_original(plain, t, y)) nearest_move_others(plain->nearest, t, y);
  return EVAL_OK;
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
  view->undetermined = MAP_NONE;
  view->evaluator = run->evaluator;
  view->system = view_whole_system(heap, view, run->evaluator);
  view->system.column_index = reduced->column_index;
  make_links(heap, &view->system, run->evaluator->array, reduced->tie);
  plain->nearest = nearest_new(heap, &view->system);
  if (reduced->modes != reduction->modes || !modes_make_events(reduced->modes)) return view;
  size_t columns = reduction->array->columns;
  plain->original = *original;
  plain->original.y = heap_copy(heap, original->y, columns, sizeof(double));
  plain->jump = jump_new(heap, original->evaluator);
  return view;
}
