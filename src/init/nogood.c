/* nogood: see nogood.h. */
#include "init/nogood.h"

static double leaf_value(const Evaluator *evaluator, const NogoodLeaf *leaf) {
  return leaf->is_pre ? evaluator->pre[leaf->index] : evaluator->discretes[leaf->index];
}

Nogood nogood_of_rows(const InitialSystem *system, const IndexVec *rows) {
  Dag *dag = system->model->dag;
  Nogood nogood = {0};
  ExprVec roots = {0};
  IndexVec below = {0};
  uint32_t count = rows ? rows->count : system->rows;
  for (uint32_t k = 0; k < count; k++) vec_push(system->heap, &roots, system->row[rows ? rows->data[k] : k]);
  dag_below(dag, dag_scratch(dag), roots.data, roots.count, &below);
  for (uint32_t k = 0; k < below.count; k++) {
    Op op = dag_op(dag, below.data[k]);
    if (op != OP_DISCRETE && op != OP_PRE) continue;
    NogoodLeaf leaf = {.index = dag_index(dag, below.data[k]), .is_pre = op == OP_PRE};
    leaf.value = leaf_value(system->evaluator, &leaf);
    vec_push(system->heap, &nogood, leaf);
  }
  vec_free(system->heap, &roots);
  vec_free(dag_heap(dag), &below);
  return nogood;
}

static bool has_values(const Nogood *nogood, const Evaluator *evaluator) {
  bool has = true;
  for (uint32_t k = 0; k < nogood->count && has; k++)
    has = leaf_value(evaluator, &nogood->data[k]) == nogood->data[k].value;
  return has;
}

bool nogood_holds(const NogoodVec *nogoods, const Evaluator *evaluator) {
  bool holds = false;
  for (uint32_t k = 0; k < nogoods->count && !holds; k++) holds = has_values(&nogoods->data[k], evaluator);
  return holds;
}
