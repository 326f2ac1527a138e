/* derived_discrete: copies the event logic into the derived model as written. */
#include "reduce/derived.h"

static Expr image(Derived *derived, Expr e) { return e == EXPR_NONE ? e : transplant(&derived->plan, e); }

static Action copy_action(Derived *derived, const Action *action) {
  Action copy = *action;
  copy.guard = image(derived, action->guard);
  copy.value = image(derived, action->value);
  copy.message = image(derived, action->message);
  return copy;
}

static When copy_when(Derived *derived, const When *when) {
  Heap *heap = derived->model->heap;
  When copy = {.algorithm = when->algorithm, .span = when->span};
  for (uint32_t b = 0; b < when->branches.count; b++) {
    const WhenBranch *branch = &when->branches.data[b];
    WhenBranch own = {0};
    for (uint32_t c = 0; c < branch->conditions.count; c++)
      vec_push(heap, &own.conditions, image(derived, branch->conditions.data[c]));
    for (uint32_t a = 0; a < branch->actions.count; a++)
      vec_push(heap, &own.actions, copy_action(derived, &branch->actions.data[a]));
    vec_push(heap, &copy.branches, own);
  }
  return copy;
}

/* The discrete variables start with their values before the initial event, which also happens in the derived model. */
static void set_starts(Derived *derived) {
  Model *model = derived->model;
  const Reduction *reduction = derived->reduction;
  const double *start = reduction->discrete_starts ? reduction->discrete_starts : reduction->at.evaluator->discretes;
  for (uint32_t d = 0; d < model->discretes.count; d++) {
    Variable *variable = &model->variables.data[model->discretes.data[d]];
    if (variable->type != TYPE_STRING) variable->start = dag_constant(model->dag, start[d]);
  }
}

void derived_add_discrete(Derived *derived) {
  const Model *source = derived->source;
  Model *model = derived->model;
  for (uint32_t i = 0; i < source->discrete_equations.count; i++) {
    Equation equation = source->discrete_equations.data[i];
    equation.left = image(derived, equation.left);
    equation.right = image(derived, equation.right);
    equation.residual = image(derived, equation.residual);
    equation.is_declared = false; /* inputs with bindings are variables here */
    vec_push(model->heap, &model->discrete_equations, equation);
  }
  for (uint32_t w = 0; w < source->whens.count; w++)
    vec_push(model->heap, &model->whens, copy_when(derived, &source->whens.data[w]));
  for (uint32_t a = 0; a < source->asserts.count; a++)
    vec_push(model->heap, &model->asserts, copy_action(derived, &source->asserts.data[a]));
  set_starts(derived);
}
