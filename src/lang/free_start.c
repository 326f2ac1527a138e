/* free_start: start values that initial equations determine. A fixed start value that depends on a parameter with fixed = false is
 * not known before the initial system is solved, so it becomes an equation of that system (Modelica Language Specification 3.6,
 * 8.6). */
#include "lang/elaborate.h"

typedef struct FreeParameters {
  Elaboration *el;
  bool *is_free; /* per parameter: initial equations determine it, or it is bound to such a parameter */
} FreeParameters;

static bool depends_on_free(const FreeParameters *free, Expr e) {
  return model_depends_on(free->el->model, dag_scratch(free->el->dag), e, free->is_free);
}

static void free_one(FreeParameters *free, uint32_t position) {
  Elaboration *el = free->el;
  Variable *variable = &el->model->variables.data[position];
  if (variable->fixed != FIXED_TRUE || variable->start == EXPR_NONE || variable->type == TYPE_STRING) return;
  if (!depends_on_free(free, variable->start)) return;
  Expr left = variable->role == ROLE_DISCRETE ? dag_pre(el->dag, variable->index) : model_leaf(el->model, position, 0);
  Equation equation = {.left = left,
                       .right = variable->start,
                       .residual = dag_subtract(el->dag, left, variable->start),
                       .span = variable->span};
  vec_push(el->heap, &el->model->initial_equations, equation);
  variable->fixed = FIXED_FALSE;
  variable->has_fixed_start = true;
}

void starts_free(Elaboration *el) {
  const Model *model = el->model;
  FreeParameters free = {.el = el, .is_free = heap_array(el->heap, model->parameters.count, sizeof(bool))};
  if (model_sought_parameters(model, dag_scratch(el->dag), free.is_free)) {
    for (uint32_t u = 0; u < model->unknowns.count; u++) free_one(&free, model->unknowns.data[u]);
    for (uint32_t d = 0; d < model->discretes.count; d++) free_one(&free, model->discretes.data[d]);
  }
  heap_free(el->heap, free.is_free);
}
