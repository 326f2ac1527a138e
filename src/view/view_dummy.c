/* view_dummy: the array with dummy derivatives. The states are the columns that are not dummies, and change with the choice. Given
 * the states, the state-space form solves for everything else. */
#include "code/watched.h"
#include "integrate/variation.h"
#include "reduce/preference.h"
#include "view/array_jump.h"
#include "view/model_jump.h"
#include "view/view.h"

#include <string.h>

/* The view comes first, so that one pointer is used for both. */
typedef struct DummyView {
  View view;
  StateForm form;
  ArrayJump *jump; /* for the model's own array; NULL: the array is different, or there are no events */
  Workspace *kept_rows, *kept_entries;
  Variation *variation;
} DummyView;

static EvalStatus solve_corner(View *view, double t, double *y, int corner) {
  edges_set_corner(&view->switches->edges, corner);
  return state_form_corner(&((DummyView *)view)->form, t, y);
}

static EvalStatus complete_states(void *context, double t, double *y) {
  return state_form_follow(&((DummyView *)context)->form, t, y);
}

static EvalStatus find_states(void *context, double t, double *y) {
  return state_form_find(&((DummyView *)context)->form, t, y);
}

static EvalStatus find_rates(void *context, double t, double *y) {
  return state_form_rates(&((DummyView *)context)->form, t, y);
}

static EvalStatus rates_jacobian(void *context, double t, const double *y, double *jacobian) {
  return variation_rates(((DummyView *)context)->variation, t, y, jacobian);
}

/* Updates the links after a new choice of dummies. */
static void update_links(DummyView *chosen) {
  System *system = &chosen->view.system, *without = &chosen->view.without_superfluous;
  system->links = (int32_t)dummy_links(chosen->form.dummy, &system->link_from, &system->link_to);
  without->link_from = system->link_from;
  without->link_to = system->link_to;
  without->links = system->links + (int32_t)dummy_removable_links(chosen->form.dummy);
}

/* ---- without superfluous differentiations ---- */

static EvalStatus kept_residual(void *context, double t, const double *y, double *residual) {
  DummyView *chosen = context;
  Evaluator *evaluator = chosen->view.evaluator;
  Point point = evaluator_point(evaluator, t, y);
  evaluator->row_evaluations += (uint64_t)chosen->view.without_superfluous.rows;
  return workspace_run(chosen->kept_rows, &point, residual);
}

static EvalStatus kept_jacobian(void *context, double t, const double *y, double *values) {
  DummyView *chosen = context;
  Evaluator *evaluator = chosen->view.evaluator;
  Point point = evaluator_point(evaluator, t, y);
  const System *without = &chosen->view.without_superfluous;
  size_t count = (size_t)without->column_start[without->columns];
  evaluator->entry_evaluations += count;
  if (workspace_run(chosen->kept_entries, &point, values) != EVAL_OK) evaluator_drop_infinite(values, count);
  return EVAL_OK;
}

static void remove_superfluous(Heap *heap, DummyView *chosen, const Reduced *reduced) {
  System *without = &chosen->view.without_superfluous;
  chosen->kept_rows = workspace_new(heap, reduced->kept_rows);
  chosen->kept_entries = workspace_new(heap, reduced->kept_jacobian->program);
  *without = chosen->view.system;
  without->rows = (int32_t)reduced->kept_jacobian->rows;
  without->column_start = reduced->kept_jacobian->column_start;
  without->row_index = reduced->kept_jacobian->row_index;
  without->constant = reduced->kept_jacobian->is_constant;
  without->residual = kept_residual;
  without->residuals = NULL;
  without->jacobian = kept_jacobian;
}

/* ---- the view ---- */

static EvalStatus solve(View *view, double t, double *y) { return complete_states(view, t, y); }
static EvalStatus follow(View *view, double t, double *y, BranchGuess guess) {
  return statespace_branch(((DummyView *)view)->form.space, t, y, guess);
}
static EvalStatus find(View *view, double t, double *y) { return find_states(view, t, y); }

static bool share(DummyView *chosen, double t, double *y) {
  if (chosen->view.model_jump) return model_jump_apply(chosen->view.model_jump, t, y);
  uint32_t column;
  if (!chosen->jump || array_jump_is_ruled_out(chosen->jump) || array_jump_solve(chosen->jump, t, y, &column))
    return true;
  chosen->view.settle.undetermined = column;
  return false;
}

/* First distributes a jump over the columns, so that the result does not depend on which of them are states. */
static EvalStatus solve_at_event(View *view, double t, double *y) {
  DummyView *chosen = (DummyView *)view;
  if (!share(chosen, t, y)) return EVAL_STOP;
  EvalStatus status = state_form_pass(&chosen->form, t, y);
  update_links(chosen);
  return status;
}

static EvalStatus solve_holding(View *view, double t, double *y, const uint8_t *held) {
  DummyView *chosen = (DummyView *)view;
  int32_t block;
  if (view->model_jump && !model_jump_solve_holding(view->model_jump, t, y, held)) return EVAL_STOP;
  bool is_solved = state_form_hold(&chosen->form, t, y, held, &block);
  update_links(chosen);
  return is_solved ? EVAL_OK : EVAL_STOP;
}

static int32_t exchange(View *view, Moment now, ConstMoment ahead, bool sure, Exchanges *exchanges) {
  DummyView *chosen = (DummyView *)view;
  (void)sure;
  int32_t count = state_form_exchange(&chosen->form, now.t, now.y, ahead.t, ahead.y, &exchanges->block);
  exchanges->list = dummy_exchanges(chosen->form.dummy);
  if (count > 0) update_links(chosen);
  return count;
}

static SolveFailure failure(const View *view) { return statespace_failure(((const DummyView *)view)->form.space); }
static uint64_t factorizations(const View *view) {
  return statespace_factorizations(((const DummyView *)view)->form.space);
}

static size_t choice_size(const View *view) { return view->evaluator->array->problem->unknowns * sizeof(int32_t); }

static void *save_choice(const View *view, Heap *heap) {
  return heap_copy(heap, dummy_depth(((const DummyView *)view)->form.dummy), 1, choice_size(view));
}

static void transfer_choice(const View *view, void *choice, Transfer *transfer) {
  transfer_array(transfer, choice, 1, choice_size(view));
  transfer_require(transfer, dummy_fits(((const DummyView *)view)->form.dummy, choice));
}

static void restore_choice(View *view, const void *choice, const double *y) {
  DummyView *chosen = (DummyView *)view;
  (void)y;
  state_form_restore(&chosen->form, choice);
  update_links(chosen);
  if (chosen->jump) array_jump_forget(chosen->jump);
}

static const ViewMethods METHODS = {.solve = solve,
                                    .follow = follow,
                                    .find = find,
                                    .solve_at_event = solve_at_event,
                                    .solve_corner = solve_corner,
                                    .solve_holding = solve_holding,
                                    .exchange = exchange,
                                    .save_choice = save_choice,
                                    .transfer_choice = transfer_choice,
                                    .restore_choice = restore_choice,
                                    .failure = failure,
                                    .factorizations = factorizations};

/* Does every watched column have a value inside steps, with the current states? A column that `rates` leaves out has no such
 * value. */
static bool interpolates_watched(const View *view) {
  const System *system = &view->system;
  if (!system->rates || !system->given) return true;
  for (uint32_t k = 0; k < view->watched.count; k++)
    if (system->given[view->watched.data[k]] && !view_is_state(system, view->watched.data[k])) return false;
  return true;
}

View *view_dummy(Heap *heap, const Reduction *reduction, const ArrayRun *original, const ArrayRun *run) {
  const Reduced *reduced = &reduction->reduced;
  DummyView *chosen = heap_alloc(heap, sizeof *chosen);
  View *view = &chosen->view;
  view->methods = &METHODS;
  view->evaluator = run->evaluator;
  view->switches = switches_new(heap, run->evaluator);
  view->system = view_whole_system(heap, view, run->evaluator);
  view->system.complete = complete_states;
  view->system.find = find_states;
  view->system.rates_jacobian = rates_jacobian;
  view->system.given = state_plan_given(reduced->states);
  view->system.spare = state_plan_spare(reduced->states);
  view->system.follower = reduced->states->follower;
  view->system.followers = reduced->states->followers;
  view->system.given_by = reduced->states->given_by;
  view->states = reduced->states;
  view->branching = state_plan_branching(reduced->states);
  view->is_direct = state_plan_is_direct(reduced->states) && !evaluator_calls_functions(run->evaluator);
  view->preferred = preference_columns(heap, run->evaluator->array);
  view->watched = watched_columns(heap, run->evaluator, reduced->modes);
  view->reads_none = !view->watched.count && !run->evaluator->past;
  view->system.watched = watched_marks(heap, run->evaluator, &view->watched);
  view->chooses = dummy_chooses(run->dummy);
  chosen->form = (StateForm){.heap = heap,
                             .dummy = run->dummy,
                             .space = run->space,
                             .edges = view->switches ? &view->switches->edges : NULL,
                             .columns = view->system.columns};
  if (reduced->array != reduction->array) view->model_jump = model_jump_new(heap, view, reduction, original);
  else if (modes_make_events(reduced->modes)) chosen->jump = array_jump_new(heap, run->evaluator);
  view->settle.undetermined = MAP_NONE;
  chosen->variation = variation_new(heap, &view->system);
  if (reduced->kept_rows) remove_superfluous(heap, chosen, reduced);
  update_links(chosen);
  view->system.rates = find_rates;
  if (!interpolates_watched(view)) view->system.rates = NULL;
  return view;
}
