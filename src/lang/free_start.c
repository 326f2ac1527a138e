/* free_start: start values that initial equations determine. A fixed start value that depends on a parameter with fixed = false is not known before
 * the initial system is solved: it becomes an equation of that system (Modelica Language Specification 3.6, 8.6). */
#include "lang/elaborate.h"

typedef struct FreeParameters {
  Elaboration *el;
  bool *is_free; /* per parameter: with fixed = false, or bound to such a one */
  IndexVec below;
} FreeParameters;

static bool depends_on_free(FreeParameters *free, Expr e) {
  const Dag *dag = free->el->dag;
  bool found = false;
  free->below.count = 0;
  dag_below(dag, dag_scratch(free->el->dag), &e, 1, &free->below);
  for (uint32_t k = 0; k < free->below.count && !found; k++)
    found = dag_op(dag, free->below.data[k]) == OP_PARAMETER && free->is_free[dag_index(dag, free->below.data[k])];
  return found;
}

/* Returns whether there are any. */
static bool mark_free(FreeParameters *free) {
  const Model *model = free->el->model;
  bool any = false;
  for (uint32_t p = 0; p < model->parameters.count; p++) {
    const Variable *variable = &model->variables.data[model->parameters.data[p]];
    any |= free->is_free[p] = variable->fixed == FIXED_FALSE && variable->binding == EXPR_NONE;
  }
  for (bool grown = any; grown;) {
    grown = false;
    for (uint32_t p = 0; p < model->parameters.count; p++) {
      Expr binding = model->variables.data[model->parameters.data[p]].binding;
      if (free->is_free[p] || binding == EXPR_NONE || !depends_on_free(free, binding)) continue;
      free->is_free[p] = grown = true;
    }
  }
  return any;
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
  if (mark_free(&free)) {
    for (uint32_t u = 0; u < model->unknowns.count; u++) free_one(&free, model->unknowns.data[u]);
    for (uint32_t d = 0; d < model->discretes.count; d++) free_one(&free, model->discretes.data[d]);
  }
  vec_free(el->heap, &free.below);
  heap_free(el->heap, free.is_free);
}
