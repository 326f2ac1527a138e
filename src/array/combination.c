/* combination: linear combinations of derivatives of equations, without the terms that cancel (see convert_internal.h). */
#include "array/convert_internal.h"

#include <math.h>
#include <string.h>

Expr converter_drop_leaves(const Converter *converter, Expr e, const ExprVec *leaves, double number) {
  ExprVec numbers = {0};
  for (uint32_t k = 0; k < leaves->count; k++)
    vec_push(converter->heap, &numbers, dag_constant(converter->dag, number));
  Expr dropped = e;
  dag_substitute(converter->dag, leaves->data, numbers.data, leaves->count, &dropped, 1);
  vec_free(converter->heap, &numbers);
  return dropped;
}

/* Is the sum over k of factor[k] * part[k] round-off of its terms at every point at which it is defined? */
static bool sum_vanishes(const Converter *converter, const Expr *factor, const Expr *part, uint32_t count) {
  Arena scratch = arena_make(converter->heap);
  double *values = arena_array(&scratch, 2 * (size_t)count, sizeof *values),
         *sizes = arena_array(&scratch, 2 * (size_t)count, sizeof *sizes);
  Expr *all = arena_array(&scratch, 2 * (size_t)count, sizeof *all);
  int defined = 0;
  bool vanishes = true;
  memcpy(all, factor, count * sizeof *all);
  memcpy(all + count, part, count * sizeof *all);
  for (uint32_t s = 0; s < SAMPLE_COUNT && vanishes; s++) {
    double sum = 0, size = 0;
    samples_evaluate(&converter->samples, s, all, 2 * count, values, sizes, NULL);
    for (uint32_t k = 0; k < count; k++) {
      sum += values[k] * values[count + k];
      size += sample_product_size(values[k], sizes[k], values[count + k], sizes[count + k]);
    }
    if (isnan(sum)) continue;
    defined++;
    vanishes = sample_is_zero(sum, size);
  }
  arena_free(&scratch);
  return vanishes && defined >= 3;
}

static bool contains_leaf(const ExprVec *leaves, Expr leaf) {
  for (uint32_t k = 0; k < leaves->count; k++)
    if (leaves->data[k] == leaf) return true;
  return false;
}

/* The leaves whose partial derivatives cancel in the sum. Leaves of the factors are not changed. */
static void find_cancelled(const Converter *converter, const Combination *combination, ExprVec *cancelled) {
  Heap *heap = converter->heap;
  Dag *dag = converter->dag;
  ExprVec leaves = {0}, inside = {0}, gradient = {0}, partials = {0};
  dag_variables(dag, dag_scratch(dag), combination->left, &leaves);
  for (uint32_t k = 0; k < combination->count; k++)
    dag_variables(dag, dag_scratch(dag), combination->factor[k], &inside);
  Expr *part = heap_array(heap, (size_t)combination->count * (leaves.count + 1), sizeof *part);
  for (uint32_t q = 0; q < combination->count * leaves.count; q++) part[q] = dag_constant(dag, 0);
  for (uint32_t k = 0; k < combination->count; k++) {
    gradient.count = partials.count = 0;
    dag_gradient(dag, combination->row[k], &gradient, &partials);
    for (uint32_t g = 0; g < gradient.count; g++)
      for (uint32_t q = 0; q < leaves.count; q++)
        if (leaves.data[q] == gradient.data[g]) part[q * combination->count + k] = partials.data[g];
  }
  for (uint32_t q = 0; q < leaves.count; q++)
    if (!contains_leaf(&inside, leaves.data[q]) &&
        sum_vanishes(converter, combination->factor, part + q * combination->count, combination->count))
      vec_push(heap, cancelled, leaves.data[q]);
  heap_free(heap, part);
  vec_free(heap, &leaves, &inside, &gradient, &partials);
}

Combination combination_make(const Converter *converter, const Dependence *dependence) {
  uint32_t count = dependence->count;
  return (Combination){.count = count,
                       .equation = arena_array(converter->arena, count, sizeof(uint32_t)),
                       .times = arena_array(converter->arena, count, sizeof(int32_t)),
                       .row = arena_array(converter->arena, count, sizeof(Expr)),
                       .factor = dependence->factor};
}

Expr converter_derivative(const Converter *converter, uint32_t i, int32_t times) {
  Expr row = converter->problem.residual[i];
  for (int32_t l = 0; l < times; l++) row = dag_time_derivative(converter->dag, row);
  return row;
}

void combination_sum(const Converter *converter, Combination *combination) {
  Dag *dag = converter->dag;
  ExprVec cancelled = {0};
  combination->left = dag_constant(dag, 0);
  for (uint32_t k = 0; k < combination->count; k++) {
    combination->row[k] = converter_derivative(converter, combination->equation[k], combination->times[k]);
    combination->left = dag_add(dag, combination->left, dag_multiply(dag, combination->factor[k], combination->row[k]));
  }
  find_cancelled(converter, combination, &cancelled);
  if (cancelled.count) combination->left = converter_drop_leaves(converter, combination->left, &cancelled, 0);
  vec_free(converter->heap, &cancelled);
  if (sum_vanishes(converter, combination->factor, combination->row, combination->count))
    combination->left = dag_constant(dag, 0);
}
