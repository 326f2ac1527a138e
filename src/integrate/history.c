/* history: see history.h. Formulas without a number have none in section 5.2.2; the names psi, beta, gamma, sigma are those of
 * the book. */
#include "integrate/history.h"

#include <math.h>
#include <string.h>

/* Loops over all columns go through so many at a time, which stay in the cache while the differences are visited. */
enum { CHUNK = 512 };

static int32_t chunk_length(const History *history, int32_t first) {
  return history->columns - first < CHUNK ? history->columns - first : CHUNK;
}

History *history_new(Heap *heap, int32_t columns) {
  History *history = heap_alloc(heap, sizeof *history);
  history->columns = columns;
  for (int i = 0; i < HISTORY_DIFFERENCES; i++)
    history->difference[i] = heap_array(heap, (size_t)columns, sizeof(double));
  return history;
}

void history_begin(History *history, const double *y, const double *rate, double step) {
  size_t size = (size_t)history->columns * sizeof(double);
  for (int i = 2; i < history->used; i++) memset(history->difference[i], 0, size);
  history->used = 2;
  memcpy(history->difference[0], y, size);
  for (int32_t c = 0; c < history->columns; c++) history->difference[1][c] = step * rate[c];
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
  for (int32_t first = 0; first < history->columns; first += CHUNK) {
    int32_t count = chunk_length(history, first);
    double *value = y + first;
    for (int32_t c = 0; c < count; c++) value[c] = 0;
    for (int i = history->planned_order; i > 0; i--) {
      const double *difference = history->difference[i] + first;
      for (int32_t c = 0; c < count; c++) value[c] += history->beta[i] * difference[c];
    }
    for (int32_t c = 0; c < count; c++) value[c] += history->difference[0][first + c];
  }
}

void history_slopes(const History *history, const int32_t *columns, int32_t count, double *rate) {
  int order = history->planned_order;
  double factor[HISTORY_ORDER + 1];
  for (int i = 1; i <= order; i++) factor[i] = history->gamma[i] * history->beta[i];
  for (int32_t k = 0; k < count; k++) {
    double slope = 0;
    for (int i = order; i > 0; i--) slope += factor[i] * history->difference[i][columns[k]];
    rate[columns[k]] = slope;
  }
}

void history_keep(History *history, const double *change) {
  int order = history->planned_order;
  double sum[CHUNK];
  for (int32_t first = 0; first < history->columns; first += CHUNK) {
    int32_t count = chunk_length(history, first);
    memcpy(sum, change + first, (size_t)count * sizeof *sum);
    memcpy(history->difference[order + 1] + first, sum, (size_t)count * sizeof *sum);
    for (int i = order; i >= 0; i--) {
      double *difference = history->difference[i] + first;
      for (int32_t c = 0; c < count; c++) difference[c] = sum[c] += history->beta[i] * difference[c];
    }
  }
  if (order + 2 > history->used) history->used = order + 2;
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
  double value = 0;
  for (int i = history->order; i >= 0; i--) value += factor[i] * history->difference[i][column];
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
  memcpy(history->difference[0], y, (size_t)history->columns * sizeof *y);
}
