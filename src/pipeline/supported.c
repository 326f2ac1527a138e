/* supported: which operators of a model can be run. */
#include "array/verdict.h"
#include "pipeline/parts.h"

/* Has the node no numeric value? Calls that are made only for their effects can be left out. */
static bool is_unsupported(const Model *model, Expr e) {
  if (dag_op(model->dag, e) != OP_CALL) return false;
  const Function *function = model->functions.data[dag_call_info(model->dag, e).function];
  return !routine_can_run(function->routine) && !(function->is_once && function->routine->is_forbidden);
}

/* The first such node at or below the roots; EXPR_NONE if there is none. */
static Expr first_unsupported(const Model *model, const Expr *roots, uint32_t count) {
  Expr found = EXPR_NONE;
  IndexVec below = {0};
  dag_below_nonsmooth(model->dag, dag_scratch(model->dag), roots, count, &below);
  for (uint32_t k = 0; k < below.count && found == EXPR_NONE; k++)
    if (is_unsupported(model, below.data[k])) found = below.data[k];
  vec_free(dag_heap(model->dag), &below);
  return found;
}

static void report_unsupported(const Model *model, Expr e, Span span, Diags *diags) {
  const Routine *routine = model->functions.data[dag_call_info(model->dag, e).function]->routine;
  Diag *diag =
      diag_error(diags, DIAG_FUNCTION_UNAVAILABLE, span, "`%s` cannot be run", names_text(model->names, routine->name));
  diag_note(diags, diag, (Span){0}, routine_lacks(routine), names_text(model->names, routine->external));
}

/* An expression that a run evaluates, and where it was written. */
typedef struct Written {
  Expr e;
  Span span;
} Written;

typedef VEC(Written) WrittenVec;

static void list_actions(Heap *heap, const Action *actions, uint32_t count, WrittenVec *list) {
  for (uint32_t a = 0; a < count; a++) {
    const Expr parts[] = {actions[a].guard, actions[a].value};
    for (int k = 0; k < 2; k++)
      if (parts[k] != EXPR_NONE) vec_push(heap, list, (Written){parts[k], actions[a].span});
  }
}

static void list_when(Heap *heap, const When *when, WrittenVec *list) {
  for (uint32_t b = 0; b < when->branches.count; b++) {
    const WhenBranch *branch = &when->branches.data[b];
    for (uint32_t c = 0; c < branch->conditions.count; c++)
      vec_push(heap, list, (Written){branch->conditions.data[c], when->span});
    list_actions(heap, branch->actions.data, branch->actions.count, list);
  }
}

static void list_written(const Model *model, Heap *heap, WrittenVec *list) {
  for (uint32_t i = 0; i < model->equations.count; i++)
    vec_push(heap, list, (Written){model->equations.data[i].residual, model->equations.data[i].span});
  for (uint32_t i = 0; i < model->initial_equations.count; i++)
    vec_push(heap, list, (Written){model->initial_equations.data[i].residual, model->initial_equations.data[i].span});
  for (uint32_t i = 0; i < model->discrete_equations.count; i++)
    vec_push(heap, list, (Written){model->discrete_equations.data[i].right, model->discrete_equations.data[i].span});
  for (uint32_t w = 0; w < model->whens.count; w++) list_when(heap, &model->whens.data[w], list);
  list_actions(heap, model->asserts.data, model->asserts.count, list);
}

/* Checks that all operators can be run, and names the first that cannot. */
static bool operators_supported(Plan *plan) {
  const Model *model = plan->own;
  WrittenVec list = {0};
  list_written(model, plan->heap, &list);
  Expr *roots = heap_array(plan->heap, list.count, sizeof *roots), found = EXPR_NONE;
  for (uint32_t k = 0; k < list.count; k++) roots[k] = list.data[k].e;
  bool fine = first_unsupported(model, roots, list.count) == EXPR_NONE;
  for (uint32_t k = 0; k < list.count && !fine && found == EXPR_NONE; k++) {
    found = first_unsupported(model, &roots[k], 1);
    if (found != EXPR_NONE) report_unsupported(model, found, list.data[k].span, plan->diags);
  }
  heap_free(plan->heap, roots);
  vec_free(plan->heap, &list);
  return fine;
}

/* A derived plan comes from a model that has already been checked. */
static bool discretes_determined(Plan *plan) {
  if (plan->base || model_check_discrete(plan->model, plan->heap, plan->diags)) return true;
  plan->facts.status = "unbalanced";
  return false;
}

/* Can the variable be a state? Then the array has a derivative of it, through its alias. */
static bool may_be_state(const Array *array, Expr target) {
  const Term *terms;
  double constant;
  if (dag_op(array->dag, target) == OP_SUM && dag_terms(array->dag, target, &constant, &terms) == 1)
    target = terms[0].node;
  uint32_t column = dag_op(array->dag, target) == OP_VARIABLE ? array_column(array, target) : MAP_NONE;
  return column != MAP_NONE && (int32_t)array_order(array, column) < array->d[array->column_unknown[column]];
}

bool pass_resets(Plan *plan) {
  bool is_for_all = plan->array.dag && !plan->holds && !plan->request.handover;
  const Logic *logic = is_for_all ? plan->modes.logic : NULL;
  for (uint32_t a = 0; logic && a < logic->actions.count; a++) {
    const LogicAction *action = &logic->actions.data[a];
    if (action->kind != ACTION_REINIT || may_be_state(&plan->array, action->target)) continue;
    reset_report(plan->model, action->written, plan->diags);
    return false;
  }
  return true;
}

bool pass_supported(Plan *plan) { return discretes_determined(plan) && operators_supported(plan); }
