/* watched: see watched.h. */
#include "code/watched.h"

IndexVec watched_columns(Heap *heap, const Evaluator *evaluator, const Modes *modes) {
  const Dag *dag = evaluator->model->dag;
  DagScratch scratch = dag_scratch_make(heap); /* the graph belongs to the plan, which others may run */
  ExprVec roots = {0};
  IndexVec order = {0}, columns = {0};
  for (uint32_t m = 0; m < modes->count; m++) {
    vec_push(heap, &roots, modes->difference[m]);
    vec_push(heap, &roots, modes->size[m]);
  }
  dag_below(dag, &scratch, roots.data, roots.count, &order);
  for (uint32_t k = 0; k < order.count; k++) {
    if (dag_op(dag, order.data[k]) != OP_VARIABLE) continue;
    uint32_t column = array_find_column(evaluator->array, order.data[k]);
    if (column != MAP_NONE) vec_push(heap, &columns, column);
  }
  vec_free(heap, &roots, &order);
  dag_scratch_free(&scratch);
  return columns;
}

/* Do columns depend on more than the states? If not, they are constant while the states are. */
static bool follows_time(Heap *heap, const Evaluator *evaluator) {
  const Problem *problem = evaluator->array->problem;
  if (evaluator->inputs || evaluator->past) return true;
  DagScratch scratch = dag_scratch_make(heap);
  IndexVec order = {0};
  dag_below(evaluator->model->dag, &scratch, problem->residual, problem->equations, &order);
  bool follows = false;
  for (uint32_t k = 0; k < order.count && !follows; k++)
    follows = dag_op(evaluator->model->dag, order.data[k]) == OP_TIME;
  vec_free(heap, &order);
  dag_scratch_free(&scratch);
  return follows;
}

const bool *watched_marks(Heap *heap, const Evaluator *evaluator, const IndexVec *columns) {
  const Array *array = evaluator->array;
  bool *marks = heap_array(heap, array->columns, sizeof *marks), any = false;
  for (uint32_t k = 0; k < columns->count; k++) {
    uint32_t q = columns->data[k];
    marks[q] = (int32_t)array_order(array, q) >= array->d[array->column_unknown[q]];
    any = any || marks[q];
  }
  return any && follows_time(heap, evaluator) ? marks : NULL;
}
