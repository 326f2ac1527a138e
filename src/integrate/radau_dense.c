/* radau_dense: see radau_dense.h. Polynomials are arrays of coefficients, lowest power first. */
#include "integrate/radau_dense.h"

/* Multiplies by (x - root) in place; `terms` counts before. */
static void multiply_root(double *polynomial, int terms, double root) {
  polynomial[terms] = 0;
  for (int k = terms; k > 0; k--) polynomial[k] = polynomial[k - 1] - root * polynomial[k];
  polynomial[0] *= -root;
}

static void integrate(const double *polynomial, int terms, double *integral) {
  integral[0] = 0;
  for (int k = 0; k < terms; k++) integral[k + 1] = polynomial[k] / (k + 1);
}

static double value(const double *polynomial, int terms, double x) {
  double sum = 0;
  for (int k = terms - 1; k >= 0; k--) sum = sum * x + polynomial[k];
  return sum;
}

/* Derivative at x of the Lagrange polynomial of point j among the points 0, c. */
static double lagrange_slope(const RadauCoefficients *method, int j, double x) {
  int s = method->stages;
  double point[RADAU_STAGES_MAX + 1] = {0}, sum = 0;
  for (int i = 1; i <= s; i++) point[i] = method->node[i - 1];
  for (int left_out = 0; left_out <= s; left_out++) {
    if (left_out == j) continue;
    double product = 1 / (point[j] - point[left_out]);
    for (int i = 0; i <= s; i++)
      if (i != j && i != left_out) product *= (x - point[i]) / (point[j] - point[i]);
    sum += product;
  }
  return sum;
}

/* Slope of the integral of prod (1 - x / c). */
static double rise_slope(const RadauCoefficients *method, double x) {
  double product = 1;
  for (int i = 0; i < method->stages; i++) product *= 1 - x / method->node[i];
  return product;
}

/* factor times (x - other) / (own - other) times a polynomial of `terms`, added to `sum`. */
static void add_line(const double *polynomial, int terms, double own, double other, double factor, double *sum) {
  double product[RADAU_DENSE_TERMS] = {0};
  for (int i = 0; i < terms; i++) product[i] = polynomial[i];
  multiply_root(product, terms, other);
  for (int i = 0; i <= terms; i++) sum[i] += factor / (own - other) * product[i];
}

/* The polynomials of delta by its values at the points: s + 3 terms. */
static void share_delta(RadauDense *dense, const RadauCoefficients *method) {
  int terms = method->stages + 2;
  double(*share)[RADAU_DENSE_TERMS] = dense->share;
  double bubble[RADAU_DENSE_TERMS] = {1};
  multiply_root(bubble, 1, 0);
  for (int i = 0; i < method->stages; i++) multiply_root(bubble, i + 2, method->node[i]);
  for (int k = 2; k < 4; k++) { /* q */
    double own = dense->sample[k], other = dense->sample[5 - k];
    add_line(bubble, terms, own, other, 1 / value(bubble, terms, own), share[k]);
  }
  for (int k = 0; k < 2; k++) { /* j, and what it takes from q */
    double own = dense->sample[k], other = dense->sample[1 - k];
    add_line(method->rise, terms, own, other, 1 / value(method->rise, terms, own), share[k]);
    const double at[2] = {value(share[k], terms + 1, dense->sample[2]), value(share[k], terms + 1, dense->sample[3])};
    for (int i = 0; i <= terms; i++) share[k][i] -= at[0] * share[2][i] + at[1] * share[3][i];
  }
}

RadauDense radau_dense_make(const RadauCoefficients *method) {
  RadauDense dense = {0};
  int s = method->stages;
  const double *node = method->node;
  dense.sample[0] = node[1];
  dense.sample[1] = node[(s + 1) / 2];
  dense.sample[2] = (node[(s - 5) / 2] + node[(s - 3) / 2]) / 2;
  dense.sample[3] = (node[s - 3] + node[s - 2]) / 2;
  for (int k = 0; k < RADAU_SAMPLES; k++) {
    for (int j = 0; j <= s; j++) dense.slope[k][j] = lagrange_slope(method, j, dense.sample[k]);
    dense.rise_slope[k] = rise_slope(method, dense.sample[k]);
  }
  share_delta(&dense, method);
  for (int k = 0; k < RADAU_SAMPLES; k++) {
    integrate(dense.share[k], s + 3, dense.once[k]);
    integrate(dense.once[k], s + 4, dense.twice[k]);
  }
  return dense;
}

void radau_dense_weights(const RadauDense *dense, const RadauCoefficients *method, double x, double (*weight)[3]) {
  int terms = method->stages + 5;
  double mu = method->mu_real;
  for (int k = 0; k < RADAU_SAMPLES; k++) {
    double share = mu * value(dense->share[k], terms, x), once = value(dense->once[k], terms, x);
    double turned = value(dense->twice[k], terms, x) / mu - 3 * once;
    weight[k][0] = share;
    weight[k][1] = -turned - 2 * share;
    weight[k][2] = once + turned + share;
  }
}
