/* history: see history.h. Formulas without a number have none in section 5.2.2; the names psi, beta, gamma, sigma are those of
 * the book. */
#include "integrate/history.h"

#include <math.h>
#include <string.h>

History *history_new(Heap *heap, int32_t columns) {
  History *history = heap_alloc(heap, sizeof *history);
  history->columns = columns;
  history->difference = heap_array(heap, (size_t)columns * HISTORY_STRIDE, sizeof(double));
  return history;
}

void history_begin(History *history, const double *y, const double *rate, double step) {
  memset(history->difference, 0, (size_t)history->columns * HISTORY_STRIDE * sizeof(double));
  for (int32_t c = 0; c < history->columns; c++) {
    history->difference[(size_t)c * HISTORY_STRIDE] = y[c];
    history->difference[(size_t)c * HISTORY_STRIDE + 1] = step * rate[c];
  }
  memset(history->psi, 0, sizeof history->psi);
  history->psi[0] = step;
  history->order = 1;
  history->step = step;
  history->equal = 0;
}

void history_plan(History *history, int order, double step) {
  double alpha[HISTORY_ORDER + 1], span = step, harmonic = 0, sum = 0;
  bool same = step == history->step && order == history->order;
  history->planned_order = order;
  history->planned_step = step;
  history->planned_equal = same ? history->equal + 1 : 1;
  history->beta[0] = history->sigma[0] = alpha[0] = 1;
  history->gamma[0] = 0;
  for (int i = 1; i <= order; i++) {
    history->planned_psi[i - 1] = span;
    history->beta[i] = history->beta[i - 1] * span / history->psi[i - 1];
    span = history->psi[i - 1] + step;
    alpha[i] = step / span;
    history->sigma[i] = i * history->sigma[i - 1] * alpha[i];
    history->gamma[i] = history->gamma[i - 1] + alpha[i - 1] / step;
    harmonic += 1.0 / i;
    sum += alpha[i - 1];
  }
  history->planned_psi[order] = span;
  history->leading = harmonic / step;
  history->error = fmax(fabs(alpha[order] - harmonic + sum), alpha[order]);
}

void history_predict(const History *history, double *y) {
  int order = history->planned_order;
  for (int32_t c = 0; c < history->columns; c++) {
    const double *difference = history->difference + (size_t)c * HISTORY_STRIDE;
    double value = 0;
    for (int i = order; i > 0; i--) value += history->beta[i] * difference[i];
    y[c] = value + difference[0];
  }
}

void history_slopes(const History *history, const int32_t *columns, int32_t count, double *rate) {
  int order = history->planned_order;
  double factor[HISTORY_ORDER + 1];
  for (int i = 1; i <= order; i++) factor[i] = history->gamma[i] * history->beta[i];
  for (int32_t k = 0; k < count; k++) {
    const double *difference = history->difference + (size_t)columns[k] * HISTORY_STRIDE;
    double slope = 0;
    for (int i = order; i > 0; i--) slope += factor[i] * difference[i];
    rate[columns[k]] = slope;
  }
}

void history_keep(History *history, const double *change) {
  int order = history->planned_order;
  for (int32_t c = 0; c < history->columns; c++) {
    double *difference = history->difference + (size_t)c * HISTORY_STRIDE, sum = change[c];
    difference[order + 1] = sum;
    for (int i = order; i >= 0; i--) difference[i] = sum += history->beta[i] * difference[i];
  }
  memcpy(history->psi, history->planned_psi, sizeof history->psi);
  history->order = order;
  history->step = history->planned_step;
  history->equal = history->planned_equal;
}

static void set_factors(const History *history, double distance, double *factor) {
  factor[0] = 1;
  for (int i = 1; i <= history->order; i++)
    factor[i] = factor[i - 1] * (distance + (i > 1 ? history->psi[i - 2] : 0)) / history->psi[i - 1];
}

static double value_of(const History *history, const double *factor, size_t column) {
  const double *difference = history->difference + column * HISTORY_STRIDE;
  double value = 0;
  for (int i = history->order; i >= 0; i--) value += factor[i] * difference[i];
  return value;
}

void history_evaluate(const History *history, double distance, const uint32_t *columns, uint32_t count, double *y) {
  double factor[HISTORY_ORDER + 1];
  set_factors(history, distance, factor);
  for (uint32_t k = 0; k < count; k++) {
    uint32_t column = columns ? columns[k] : k;
    y[column] = value_of(history, factor, column);
  }
}

void history_move(History *history, const double *y) {
  for (int32_t c = 0; c < history->columns; c++) history->difference[(size_t)c * HISTORY_STRIDE] = y[c];
}
