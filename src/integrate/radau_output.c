/* radau_output: see radau_output.h. */
#include "integrate/radau_output.h"

#include <string.h>

void radau_output_make(RadauOutput *output, Heap *heap, int32_t columns) {
  double *block = heap_array(heap, 3 * RADAU_SAMPLES * (size_t)columns, sizeof(double));
  for (int k = 0; k < RADAU_SAMPLES; k++)
    for (int i = 0; i < 3; i++) output->missing[k][i] = block + (3 * k + i) * columns;
}

void radau_output_continue(const RadauOutput *output, double x, double *y) {
  enum { MOST = RADAU_STAGES_MAX + 2 };
  const double *vectors[MOST];
  double weight[MOST];
  int count = output->method->stages + 1;
  radau_node_weights(output->method, x, weight);
  weight[count] = radau_rise_at(output->method, x);
  for (int j = 0; j < count; j++) vectors[j] = output->value[j];
  vectors[count] = output->defect;
  set_to_sum(y, vectors, weight, count + 1, output->stages->system->columns);
}

/* The slope of the polynomial of a column at sample k, times h. */
static double slope_at(const RadauOutput *output, int k, int32_t column) {
  double slope = output->dense->rise_slope[k] * output->defect[column];
  for (int j = 0; j <= output->method->stages; j++) slope += output->dense->slope[k][j] * output->value[j][column];
  return slope;
}

/* In terms of G: d with G_y d + G(y) = 0 and d_from = h mu (d_to + y_to - slope_from), which is mu times what is missing. */
static void find_missing(RadauOutput *output, int k, const double *y, double *residual, double *missing) {
  Stages *stages = output->stages;
  const System *system = stages->system;
  const Elimination *elimination = stages->elimination;
  double step = output->h * output->method->mu_real, *right = stages->right, *work = stages->work;
  stages_take_right(stages, residual, right);
  for (int32_t r = 0; r < stages->rows; r++) right[r] = -right[r];
  memset(missing, 0, (size_t)system->columns * sizeof(double));
  for (int32_t l = 0; l < system->links; l++) {
    int32_t from = elimination->from[l], to = elimination->to[l];
    work[from] = y[to] - slope_at(output, k, from) / output->h;
    missing[from] = step * (missing[to] + work[from]);
  }
  elimination_subtract(elimination, condense_values(stages->condense), missing, right);
  linear_solve(stages->real, right);
  for (int32_t u = 0; u < stages->rows; u++) missing[elimination->unknown[u]] = right[u];
  for (int32_t l = 0; l < system->links; l++)
    missing[elimination->from[l]] = step * (missing[elimination->to[l]] + work[elimination->from[l]]);
  for (int32_t c = 0; c < system->columns; c++) missing[c] /= output->method->mu_real;
}

void radau_output_sample(RadauOutput *output, int k, const double *y, double *residual) {
  size_t bytes = (size_t)output->stages->system->columns * sizeof(double);
  find_missing(output, k, y, residual, output->missing[k][0]);
  for (int i = 1; i < 3; i++) {
    memcpy(output->missing[k][i], output->missing[k][i - 1], bytes);
    stages_filter(output->stages, output->h * output->method->mu_real, output->missing[k][i]);
  }
}

RadauWeights radau_output_weights(const RadauOutput *output, double x, bool is_corrected) {
  RadauWeights weights;
  radau_node_weights(output->method, x, weights.node);
  weights.rise = radau_rise_at(output->method, x);
  if (is_corrected) radau_dense_weights(output->dense, output->method, x, weights.missing);
  return weights;
}

double radau_output_value(const RadauOutput *output, const RadauWeights *weights, bool is_corrected, int32_t column) {
  double sum = weights->rise * output->defect[column];
  for (int j = 0; j <= output->method->stages; j++) sum += weights->node[j] * output->value[j][column];
  for (int k = 0; k < RADAU_SAMPLES && is_corrected; k++)
    for (int i = 0; i < 3; i++) sum += weights->missing[k][i] * output->missing[k][i][column];
  return sum;
}

void radau_output_states(const RadauOutput *output, const RadauWeights *weights, bool is_corrected, double *y) {
  for (int32_t l = 0; l < output->stages->system->links; l++) {
    int32_t c = output->stages->elimination->from[l];
    y[c] = radau_output_value(output, weights, is_corrected, c);
  }
}
