/* piece: a stretch of a function as a polynomial over [-1, 1], through its values at Chebyshev nodes of the second kind. */
#include "solver.h"

#include <math.h>
#include <string.h>

enum { NODES = PAST_DEGREE + 1 };

static const double NODE[NODES] = {
    -1, -0.80901699437494742, -0.30901699437494742, 0.30901699437494742, 0.80901699437494742, 1};

/* Where a node is; the first and the last are the ends. */
double piece_node(int node) { return NODE[node]; }

/* The coefficients of the polynomial through values at the nodes, which stand `stride` numbers apart: divided differences, then Horner's
 * scheme. */
void piece_fit(const double *values, int stride, double *c) {
  double difference[NODES];
  for (int i = 0; i < NODES; i++) difference[i] = values[i * stride], c[i] = 0;
  for (int order = 1; order < NODES; order++)
    for (int i = NODES - 1; i >= order; i--)
      difference[i] = (difference[i] - difference[i - 1]) / (NODE[i] - NODE[i - order]);
  for (int i = NODES - 1; i >= 0; i--) {
    for (int p = NODES - 1; p > 0; p--) c[p] = c[p - 1] - NODE[i] * c[p];
    c[0] = difference[i] - NODE[i] * c[0];
  }
}

/* How fast the last terms of Chebyshev's kind fall, in pairs: those of odd or of even order may vanish. */
double piece_error(const double *c) {
  double last = fmax(fabs(c[5]) / 16, fabs(c[4]) / 8);
  double before = fmax(fabs(c[3] / 4 + c[5] * 5 / 16), fabs(c[2] + c[4]) / 2);
  return before > last ? last * last / before : last;
}

/* The coefficients of the same polynomial in powers of what is beyond `s`, by repeated division by the distance from there. */
void piece_expand(const double *coefficients, double s, double *expanded) {
  memcpy(expanded, coefficients, NODES * sizeof *expanded);
  for (int order = 0; order < NODES; order++)
    for (int i = NODES - 2; i >= order; i--) expanded[i] += s * expanded[i + 1];
}
