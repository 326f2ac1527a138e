/* leaf_jacobian: see leaf_jacobian.h. A row is differentiated only with respect to the leaves that it contains. */
#include "code/leaf_jacobian.h"

#include <string.h>

typedef struct LeafEntry {
  uint32_t leaf, row; /* positions */
  Expr partial;
} LeafEntry;
typedef VEC(LeafEntry) LeafEntryVec;

/* position: leaf -> its position in the list. */
static void differentiate_row(Heap *heap, Dag *dag, const Map *position, Expr row, uint32_t r, IndexVec *below,
                              LeafEntryVec *entries) {
  below->count = 0;
  dag_below(dag, dag_scratch(dag), &row, 1, below);
  for (uint32_t k = 0; k < below->count; k++) {
    Expr leaf = below->data[k];
    uint32_t place = dag_child_count(dag, leaf) == 0 ? map_get(position, leaf) : MAP_NONE;
    double value;
    if (place == MAP_NONE) continue;
    Expr partial = dag_partial(dag, row, leaf);
    if (dag_is_constant(dag, partial, &value) && value == 0) continue;
    vec_push(heap, entries, (LeafEntry){place, r, partial});
  }
}

/* Counting sort by leaf; rows stay in order. */
static Expr *sort_entries(Heap *heap, LeafJacobian *jacobian, const LeafEntryVec *entries) {
  Expr *roots = heap_array(heap, entries->count, sizeof *roots);
  uint32_t *next = heap_array(heap, jacobian->leaves, sizeof *next);
  jacobian->start = heap_array(heap, (size_t)jacobian->leaves + 1, sizeof *jacobian->start);
  jacobian->row = heap_array(heap, entries->count, sizeof *jacobian->row);
  for (uint32_t e = 0; e < entries->count; e++) jacobian->start[entries->data[e].leaf + 1]++;
  for (uint32_t k = 0; k < jacobian->leaves; k++) jacobian->start[k + 1] += jacobian->start[k];
  memcpy(next, jacobian->start, jacobian->leaves * sizeof *next);
  for (uint32_t e = 0; e < entries->count; e++) {
    uint32_t place = next[entries->data[e].leaf]++;
    jacobian->row[place] = entries->data[e].row;
    roots[place] = entries->data[e].partial;
  }
  jacobian->entries = entries->count;
  heap_free(heap, next);
  return roots;
}

LeafJacobian *leaf_jacobian_new(Heap *heap, Model *model, const Layout *layout, const Expr *rows, uint32_t count,
                                const Expr *leaves, uint32_t leaf_count) {
  LeafJacobian *jacobian = heap_alloc(heap, sizeof *jacobian);
  LeafEntryVec entries = {0};
  IndexVec below = {0};
  Map position = map_make(heap);
  jacobian->leaves = leaf_count;
  for (uint32_t k = 0; k < leaf_count; k++) map_put(&position, leaves[k], k);
  for (uint32_t r = 0; r < count; r++) differentiate_row(heap, model->dag, &position, rows[r], r, &below, &entries);
  jacobian->entry = sort_entries(heap, jacobian, &entries);
  if (entries.count) jacobian->program = program_new(heap, model, layout, jacobian->entry, entries.count);
  map_free(&position);
  vec_free(dag_heap(model->dag), &below);
  vec_free(heap, &entries);
  return jacobian;
}

void leaf_jacobian_add(const LeafJacobian *jacobian, uint32_t k, const double *values, double factor, double *out) {
  for (uint32_t e = jacobian->start[k]; e < jacobian->start[k + 1]; e++) out[jacobian->row[e]] += factor * values[e];
}

double leaf_jacobian_dot(const LeafJacobian *jacobian, uint32_t k, const double *values, const double *vector) {
  double sum = 0;
  for (uint32_t e = jacobian->start[k]; e < jacobian->start[k + 1]; e++) sum += vector[jacobian->row[e]] * values[e];
  return sum;
}
