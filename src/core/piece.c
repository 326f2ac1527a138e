/* piece: see piece.h. */
#include "core/piece.h"

#include <math.h>
#include <string.h>

static const double NODES[PIECE_NODES] = {
    -1, -0.80901699437494742, -0.30901699437494742, 0.30901699437494742, 0.80901699437494742, 1};

double piece_node(uint32_t node) { return NODES[node]; }

/* Divided differences, then Horner's scheme. */
void piece_fit(const double *values, size_t stride, double *coefficients) {
  double difference[PIECE_NODES], *c = coefficients;
  for (uint32_t i = 0; i < PIECE_NODES; i++) difference[i] = values[i * stride], c[i] = 0;
  for (uint32_t order = 1; order < PIECE_NODES; order++)
    for (uint32_t i = PIECE_NODES; i-- > order;)
      difference[i] = (difference[i] - difference[i - 1]) / (NODES[i] - NODES[i - order]);
  for (uint32_t i = PIECE_NODES; i-- > 0;) {
    double s = NODES[i];
    for (uint32_t p = PIECE_NODES - 1; p > 0; p--) c[p] = c[p - 1] - s * c[p];
    c[0] = difference[i] - s * c[0];
  }
}

/* The degree is 5. Terms are taken in pairs because those of odd or even order may vanish. */
double piece_error(const double *coefficients) {
  const double *c = coefficients;
  double last = fmax(fabs(c[5]) / 16, fabs(c[4]) / 8);
  double before = fmax(fabs(c[3] / 4 + c[5] * 5 / 16), fabs(c[2] + c[4]) / 2);
  return before > last ? last * last / before : last;
}

/* Divides by (x - s) repeatedly. */
void piece_expand(const double *coefficients, double s, double *expanded) {
  memcpy(expanded, coefficients, PIECE_NODES * sizeof *expanded);
  for (int order = 0; order < PIECE_NODES; order++)
    for (int i = PIECE_NODES - 1; i-- > order;) expanded[i] += s * expanded[i + 1];
}

double piece_value(const double *coefficients, double s, double *rate) {
  double value = 0;
  *rate = 0;
  for (int i = PIECE_NODES; i-- > 0;) {
    *rate = *rate * s + value;
    value = value * s + coefficients[i];
  }
  return value;
}
