/* dependents: see dependents.h. */
#include "code/dependents.h"

#include <string.h>

typedef struct ParameterWalk {
  Evaluator *evaluator;
  bool *varies, *placed; /* per parameter */
  IndexVec below;
} ParameterWalk;

static const Variable *variable_of(const Evaluator *evaluator, uint32_t parameter) {
  return &evaluator->model->variables.data[evaluator->model->parameters.data[parameter]];
}

/* The number of distinct parameters of a class that the expression uses. */
static uint32_t count_uses(ParameterWalk *search, Expr e, const bool *of) {
  const Dag *dag = search->evaluator->model->dag;
  uint32_t count = 0;
  search->below.count = 0;
  dag_below(dag, &search->evaluator->scratch, &e, 1, &search->below);
  for (uint32_t k = 0; k < search->below.count; k++)
    count += dag_op(dag, search->below.data[k]) == OP_PARAMETER && of[dag_index(dag, search->below.data[k])];
  return count;
}

/* A parameter that was overridden no longer follows its binding. */
static bool follows_binding(Evaluator *evaluator, uint32_t parameter) {
  const Variable *variable = variable_of(evaluator, parameter);
  double value;
  if (variable->binding == EXPR_NONE || variable->type == TYPE_STRING) return false;
  return !evaluator_constant(evaluator, variable->binding, &value) || value == evaluator->parameters[parameter];
}

static void mark_varying(ParameterWalk *search) {
  uint32_t count = search->evaluator->model->parameters.count;
  for (bool grown = true; grown;) {
    grown = false;
    for (uint32_t p = 0; p < count; p++) {
      if (search->varies[p] || !follows_binding(search->evaluator, p)) continue;
      if (!count_uses(search, variable_of(search->evaluator, p)->binding, search->varies)) continue;
      search->varies[p] = grown = true;
    }
  }
}

static void place_varying(ParameterWalk *search, Heap *heap, IndexVec *dependents) {
  uint32_t count = search->evaluator->model->parameters.count;
  for (bool grown = true; grown;) {
    grown = false;
    for (uint32_t p = 0; p < count; p++) {
      Expr binding = variable_of(search->evaluator, p)->binding;
      if (!search->varies[p] || search->placed[p]) continue;
      if (count_uses(search, binding, search->varies) != count_uses(search, binding, search->placed)) continue;
      search->placed[p] = grown = true;
      vec_push(heap, dependents, p);
    }
  }
}

void dependents_find(Evaluator *evaluator, Heap *heap, const IndexVec *given, IndexVec *dependents) {
  if (!given->count) return;
  uint32_t count = evaluator->model->parameters.count;
  ParameterWalk search = {.evaluator = evaluator};
  search.varies = heap_array(heap, count, sizeof(bool));
  search.placed = heap_array(heap, count, sizeof(bool));
  for (uint32_t k = 0; k < given->count; k++) search.varies[given->data[k]] = search.placed[given->data[k]] = true;
  mark_varying(&search);
  place_varying(&search, heap, dependents);
  vec_free(evaluator->scratch.heap, &search.below);
  heap_free(heap, search.varies);
  heap_free(heap, search.placed);
}

void dependents_mark_sources(Evaluator *evaluator, IndexVec *of, bool *marked) {
  const Dag *dag = evaluator->model->dag;
  IndexVec below = {0};
  while (of->count) {
    Expr binding = variable_of(evaluator, vec_pop(of))->binding;
    below.count = 0;
    if (binding != EXPR_NONE) dag_below(dag, &evaluator->scratch, &binding, 1, &below);
    for (uint32_t k = 0; k < below.count; k++) {
      if (dag_op(dag, below.data[k]) != OP_PARAMETER) continue;
      uint32_t p = dag_index(dag, below.data[k]);
      if (!marked[p]) vec_push(evaluator->heap, of, p);
      marked[p] = true;
    }
  }
  vec_free(evaluator->heap, &below);
}

void dependents_set(Evaluator *evaluator, const IndexVec *dependents) {
  for (uint32_t k = 0; k < dependents->count; k++) {
    uint32_t p = dependents->data[k];
    double value;
    if (evaluator_constant(evaluator, variable_of(evaluator, p)->binding, &value)) evaluator->parameters[p] = value;
  }
}
