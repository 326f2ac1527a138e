/* definitions: see definitions.h. */
#include "array/definitions.h"

/* The number of definitions in a row that are followed, enough for x'' -> v' -> f. */
enum { ROUNDS = 4 };

/* Does the value of unknown j contain only derivatives that are defined or already determined? */
static bool is_determined(const Definitions *definitions, const bool *determined, uint32_t j, ExprVec *leaves) {
  Dag *dag = definitions->problem->model->dag;
  leaves->count = 0;
  dag_variables(dag, dag_scratch(dag), definitions->value[j], leaves);
  for (uint32_t k = 0; k < leaves->count; k++) {
    uint32_t other = definitions->problem->local[dag_index(dag, leaves->data[k])];
    uint32_t order = dag_order(dag, leaves->data[k]);
    if (order == 0 || determined[other]) continue;
    if (definitions->leaf[other] == EXPR_NONE || order >= dag_order(dag, definitions->leaf[other])) return false;
  }
  return true;
}

/* A definition is useless if it contains derivatives that no equation gives, or derivatives that depend on the definition itself:
 * it would only exchange one derivative for others. */
static void drop_undetermined(const Definitions *definitions, Arena *arena) {
  uint32_t unknowns = definitions->problem->unknowns;
  bool *determined = arena_array(arena, unknowns, sizeof *determined);
  ExprVec leaves = {0};
  for (int round = 0; round < ROUNDS; round++)
    for (uint32_t j = 0; j < unknowns; j++)
      if (definitions->leaf[j] != EXPR_NONE && !determined[j])
        determined[j] = is_determined(definitions, determined, j, &leaves);
  for (uint32_t j = 0; j < unknowns; j++)
    if (!determined[j]) definitions->leaf[j] = EXPR_NONE;
  vec_free(arena->heap, &leaves);
}

static bool is_constant(const Dag *dag, Expr e) {
  return !dag_depends(dag, e, OP_VARIABLE) && !dag_depends(dag, e, OP_TIME) && !dag_depends(dag, e, OP_DISCRETE);
}

/* An equation defines a derivative if it is linear in that derivative, which must be the highest one of its unknown in the equation
 * and in the array. Every equation defines at most one derivative: the first one that no other equation has defined. */
Definitions definitions_find(const Problem *problem, const Structure *structure, bool constant, Arena *arena) {
  const Incidence *incidence = &problem->incidence;
  Dag *dag = problem->model->dag;
  Definitions definitions = {problem, arena_array(arena, problem->unknowns, sizeof(Expr)),
                             arena_array(arena, problem->unknowns, sizeof(Expr)),
                             arena_array(arena, problem->equations, sizeof(bool))};
  for (uint32_t j = 0; j < problem->unknowns; j++) definitions.leaf[j] = EXPR_NONE;
  for (uint32_t i = 0; i < problem->equations; i++) {
    for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1] && !definitions.defines[i]; e++) {
      int32_t j = incidence->column[e], order = incidence->order[e];
      if (order == 0 || order != structure->d[j] - structure->c[i] || definitions.leaf[j] != EXPR_NONE) continue;
      Expr leaf = dag_variable(dag, problem->unknown[j], (uint32_t)order), slope, rest;
      if (!dag_linear(dag, problem->residual[i], leaf, &slope, &rest)) continue;
      if (constant && !is_constant(dag, slope)) continue;
      definitions.leaf[j] = leaf;
      definitions.value[j] = dag_divide(dag, dag_negate(dag, rest), slope);
      definitions.defines[i] = true;
    }
  }
  drop_undetermined(&definitions, arena);
  return definitions;
}

Expr definitions_put_in(const Definitions *definitions, Expr e, Heap *heap) {
  Dag *dag = definitions->problem->model->dag;
  ExprVec leaves = {0}, from = {0}, to = {0};
  for (int round = 0; round < ROUNDS; round++) {
    leaves.count = from.count = to.count = 0;
    dag_variables(dag, dag_scratch(dag), e, &leaves);
    for (uint32_t k = 0; k < leaves.count; k++) {
      uint32_t j = definitions->problem->local[dag_index(dag, leaves.data[k])];
      if (definitions->leaf[j] == EXPR_NONE) continue;
      uint32_t given = dag_order(dag, definitions->leaf[j]), order = dag_order(dag, leaves.data[k]);
      if (order < given) continue;
      Expr value = definitions->value[j];
      for (; order > given; order--) value = dag_time_derivative(dag, value);
      vec_push(heap, &from, leaves.data[k]);
      vec_push(heap, &to, value);
    }
    if (!from.count) break;
    dag_substitute(dag, from.data, to.data, from.count, &e, 1);
  }
  vec_free(heap, &leaves, &from, &to);
  return e;
}
