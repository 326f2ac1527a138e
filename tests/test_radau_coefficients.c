/* The constants of Radau IIA compared with their definitions, in long double: nodes by Newton's method on the Radau polynomial,
 * the matrix by integrating Lagrange's polynomials, eigenvectors in closed form. Eigenvalues are reciprocal zeros of the Pade
 * denominator (Hairer and Wanner, Solving Ordinary Differential Equations II, sections IV.3 and IV.5).
 */
#include "integrate/radau_coefficients.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef long double Real;
typedef long double complex Complex;

enum { SMAX = RADAU_STAGES_MAX, NEWTON_STEPS = 12, KERNER_ROUNDS = 40 };

/* P_s(u) - P_(s-1)(u) of Legendre's polynomials and its derivative, by their recurrence. */
static Real radau_polynomial(int s, Real u, Real *slope) {
  Real p0 = 1, p1 = u, d0 = 0, d1 = 1;
  for (int k = 2; k <= s; k++) {
    Real p2 = ((2 * k - 1) * u * p1 - (k - 1) * p0) / k;
    Real d2 = ((2 * k - 1) * (p1 + u * d1) - (k - 1) * d0) / k;
    p0 = p1, p1 = p2, d0 = d1, d1 = d2;
  }
  *slope = d1 - d0;
  return p1 - p0;
}

/* Zeros in (-1, 1], found from the right; each one found is divided out. */
static void radau_nodes(int s, Real *node) {
  node[s - 1] = 1;
  for (int found = 1; found < s; found++) {
    Real u = cosl(acosl(-1.0L) * (Real)(2 * found + 0.5L) / (Real)(2 * s - 0.5L));
    for (int i = 0; i < NEWTON_STEPS; i++) {
      Real slope, value = radau_polynomial(s, u, &slope), others = 0;
      for (int k = 0; k < found; k++) others += 1 / (u - (2 * node[s - 1 - k] - 1));
      u -= value / (slope - value * others);
    }
    node[s - 1 - found] = (u + 1) / 2;
  }
}

/* Coefficients of the polynomial that is 1 at node[j] and 0 at the others, lowest power first. */
static void radau_lagrange(int s, const Real *node, int j, Real *coefficient) {
  int degree = 0;
  coefficient[0] = 1;
  for (int m = 0; m < s; m++) {
    if (m == j) continue;
    Real scale = 1 / (node[j] - node[m]);
    coefficient[degree + 1] = coefficient[degree] * scale;
    for (int k = degree; k > 0; k--) coefficient[k] = (coefficient[k - 1] - node[m] * coefficient[k]) * scale;
    coefficient[0] *= -node[m] * scale;
    degree++;
  }
}

/* Zeros of det(I - zA) = sum_j s! (2s-1-j)! / ((2s-1)! j! (s-j)!) (-z)^j by the Durand-Kerner iteration: the
 * eigenvalues of the inverse of A, the real one first, then those with positive imaginary part. */
static void radau_eigenvalues(int s, Complex *lambda) {
  Real coefficient[SMAX + 1];
  Complex zero[SMAX];
  coefficient[0] = 1;
  for (int j = 1; j <= s; j++) coefficient[j] = -coefficient[j - 1] * (Real)(s - j + 1) / (Real)((2 * s - j) * j);
  for (int i = 0; i < s; i++) zero[i] = (Real)s * cexpl(2.0L * I * acosl(-1.0L) * (Real)(i + 0.35L) / (Real)s);
  for (int round = 0; round < KERNER_ROUNDS; round++) {
    for (int i = 0; i < s; i++) {
      Complex value = coefficient[s], product = coefficient[s];
      for (int k = s - 1; k >= 0; k--) value = value * zero[i] + coefficient[k];
      for (int k = 0; k < s; k++)
        if (k != i) product *= zero[i] - zero[k];
      zero[i] -= value / product;
    }
  }
  int count = 1;
  for (int i = 0; i < s; i++) {
    if (fabsl(cimagl(zero[i])) < 1e-9L) lambda[0] = creall(zero[i]);
    if (cimagl(zero[i]) >= 1e-9L) lambda[count++] = zero[i];
  }
}

/* Eigenvector of A for mu: the values of the polynomial sum_k mu^k M^(k)(x) at the nodes, with M(x) = prod (x - c_i). The
 * reason is that its integral from 0 differs from mu times itself by a multiple of M. */
static void radau_eigenvector(int s, const Real *node, Complex mu, Complex *vector) {
  Real derivative[SMAX + 1];
  for (int i = 0; i < s; i++) {
    Complex sum = 0, power = 1;
    Real expanded[SMAX + 1] = {1}; /* M around node[i], in powers of x - node[i] */
    for (int m = 0; m < s; m++) {
      Real shift = node[i] - node[m];
      for (int k = m + 1; k > 0; k--) expanded[k] = expanded[k] * shift + expanded[k - 1];
      expanded[0] *= shift;
    }
    Real factorial = 1;
    for (int k = 0; k <= s; k++) {
      derivative[k] = expanded[k] * factorial;
      factorial *= k + 1;
      sum += power * derivative[k];
      power *= mu;
    }
    vector[i] = sum;
  }
  Real norm = 0;
  for (int i = 0; i < s; i++) norm = fmaxl(norm, cabsl(vector[i]));
  for (int i = 0; i < s; i++) vector[i] /= norm;
}

/* inverse = matrix^-1 by Gauss and Jordan with partial pivoting; the matrix is destroyed. */
static void radau_invert(int s, Real matrix[SMAX][SMAX], Real inverse[SMAX][SMAX]) {
  for (int i = 0; i < s; i++)
    for (int j = 0; j < s; j++) inverse[i][j] = i == j;
  for (int k = 0; k < s; k++) {
    int p = k;
    for (int i = k + 1; i < s; i++)
      if (fabsl(matrix[i][k]) > fabsl(matrix[p][k])) p = i;
    for (int j = 0; j < s; j++) {
      Real swap = matrix[k][j];
      matrix[k][j] = matrix[p][j], matrix[p][j] = swap;
      swap = inverse[k][j];
      inverse[k][j] = inverse[p][j], inverse[p][j] = swap;
    }
    Real scale = 1 / matrix[k][k];
    for (int j = 0; j < s; j++) matrix[k][j] *= scale, inverse[k][j] *= scale;
    for (int i = 0; i < s; i++) {
      Real factor = matrix[i][k];
      if (i == k) continue;
      for (int j = 0; j < s; j++) matrix[i][j] -= factor * matrix[k][j], inverse[i][j] -= factor * inverse[k][j];
    }
  }
}

static void radau_transformation(int s, const Real *node, RadauCoefficients *out) {
  Complex lambda[SMAX], vector[SMAX];
  Real back[SMAX][SMAX] = {{0}}, forward[SMAX][SMAX];
  radau_eigenvalues(s, lambda);
  for (int k = 0; k <= s / 2; k++) {
    Complex mu = 1 / lambda[k];
    radau_eigenvector(s, node, mu, vector);
    if (k == 0) out->mu_real = (double)creall(mu);
    else out->mu[k - 1][0] = (double)creall(mu), out->mu[k - 1][1] = (double)cimagl(mu);
    for (int i = 0; i < s; i++) {
      if (k == 0) back[i][0] = creall(vector[i]);
      else back[i][2 * k - 1] = 2 * creall(vector[i]), back[i][2 * k] = -2 * cimagl(vector[i]);
    }
  }
  for (int i = 0; i < s; i++)
    for (int j = 0; j < s; j++) out->back[i][j] = (double)back[i][j];
  radau_invert(s, back, forward);
  for (int i = 0; i < s; i++)
    for (int j = 0; j < s; j++) out->forward[i][j] = (double)forward[i][j];
}

/* The error estimate that the method with s - 2 stages would make, mu' (rate(0) - its stages' rates continued to
 * 0), on the polynomial through the rates at 0 and at this method's nodes. */
static void radau_lower_error(int s, const Real *node, RadauCoefficients *out) {
  int lower = s - 2;
  Real sample[SMAX], point[SMAX + 1], coefficient[SMAX + 1], sum[SMAX + 1] = {1};
  Complex lambda[SMAX] = {1};
  if (lower == 1) sample[0] = 1;
  else radau_nodes(lower, sample), radau_eigenvalues(lower, lambda);
  point[0] = 0;
  for (int i = 0; i < s; i++) point[i + 1] = node[i];
  for (int j = 0; j < lower; j++) {
    radau_lagrange(lower, sample, j, coefficient);
    Real weight = coefficient[0];
    for (int k = 0; k <= s; k++) {
      Real value = 1;
      for (int m = 0; m <= s; m++)
        if (m != k) value *= (sample[j] - point[m]) / (point[k] - point[m]);
      sum[k] -= weight * value;
    }
  }
  for (int k = 0; k <= s; k++) out->lower_error[k] = (double)(sum[k] / creall(lambda[0]));
}

/* The largest value of the polynomial that vanishes at 0 and the nodes, found by sampling many points. */
static void radau_bulge(int s, const Real *node, RadauCoefficients *out) {
  enum { POINTS = 100000 };
  Real largest = 0, factorial = 1;
  for (int k = 2; k <= s + 1; k++) factorial *= k;
  for (int point = 0; point <= POINTS; point++) {
    Real x = (Real)point / POINTS, product = x;
    for (int i = 0; i < s; i++) product *= x - node[i];
    if (product < 0) product = -product;
    if (product > largest) largest = product;
  }
  out->bulge = (double)(largest / factorial);
}

static void radau_rise(int s, const Real *node, RadauCoefficients *out) {
  Real product[SMAX + 1] = {1};
  for (int m = 0; m < s; m++)
    for (int k = m + 1; k > 0; k--) product[k] -= product[k - 1] / node[m];
  for (int k = 0; k <= s; k++) out->rise[k + 1] = (double)(product[k] / (k + 1));
}

static void radau_coefficients(int stages, RadauCoefficients *out) {
  int s = stages;
  Real node[SMAX], coefficient[SMAX + 1];
  *out = (RadauCoefficients){.stages = s};
  radau_nodes(s, node);
  for (int j = 0; j < s; j++) {
    radau_lagrange(s, node, j, coefficient);
    out->node[j] = (double)node[j];
    out->at_zero[j] = (double)coefficient[0];
    for (int i = 0; i < s; i++) {
      Real sum = 0;
      for (int k = s - 1; k >= 0; k--) sum = (sum + coefficient[k] / (k + 1)) * node[i];
      out->a[i][j] = (double)sum;
    }
  }
  for (int i = 0; i <= s; i++) {
    Real product = 1, x = i == 0 ? 0 : node[i - 1];
    for (int j = 0; j <= s; j++)
      if (j != i) product *= x - (j == 0 ? 0 : node[j - 1]);
    out->barycentric[i] = (double)(1 / product);
  }
  radau_transformation(s, node, out);
  radau_lower_error(s, node, out);
  radau_rise(s, node, out);
  radau_bulge(s, node, out);
}

/* ---- The table as in src/integrate/radau_coefficients.c, before formatting ---- */

static void print_row(const char *name, const double *value, int count) {
  printf("%s{", name);
  for (int i = 0; i < count; i++) printf("%s%.17g", i ? ", " : "", value[i]);
  printf("},\n");
}

static void print_matrix(const char *name, const double (*value)[SMAX], int count) {
  printf("%s{\n", name);
  for (int i = 0; i < count; i++) print_row("", value[i], count);
  printf("},\n");
}

static int print_table(void) {
  for (int s = 3; s <= SMAX; s += 2) {
    RadauCoefficients c;
    radau_coefficients(s, &c);
    printf("{ .stages = %d,\n.mu_real = %.17g,\n.mu = {", s, c.mu_real);
    for (int k = 0; k < s / 2; k++) print_row("", c.mu[k], 2);
    printf("},\n");
    print_row(".node = ", c.node, s);
    print_matrix(".a = ", (const double(*)[SMAX])c.a, s);
    print_matrix(".forward = ", (const double(*)[SMAX])c.forward, s);
    print_matrix(".back = ", (const double(*)[SMAX])c.back, s);
    print_row(".at_zero = ", c.at_zero, s);
    print_row(".lower_error = ", c.lower_error, s + 1);
    print_row(".rise = ", c.rise, s + 2);
    print_row(".barycentric = ", c.barycentric, s + 1);
    printf(".bulge = %.17g\n", c.bulge);
    printf("},\n");
  }
  return 0;
}

/* ---- Tests ---- */

static void assert_near(double a, double b, double tolerance) {
  if (!(fabs(a - b) <= tolerance * fmax(1, fabs(b)))) fail_msg("%.17g is not %.17g", a, b);
}

static void test_table_is_computed(void **state) {
  (void)state;
  for (int index = 0; index < RADAU_METHODS; index++) {
    RadauCoefficients computed;
    radau_coefficients(3 + 2 * index, &computed);
    size_t first = offsetof(RadauCoefficients, node);
    const double *a = (const double *)((const char *)&computed + first);
    const double *b = (const double *)((const char *)&radau_methods[index] + first);
    size_t count = (sizeof computed - first) / sizeof(double);
    assert_int_equal(computed.stages, radau_methods[index].stages);
    for (size_t i = 0; i < count; i++) assert_near(b[i], a[i], 4e-16 * 100);
    assert_near(radau_methods[index].bulge / computed.bulge, 1, 1e-12);
  }
}

/* Known in closed form: Hairer and Wanner, section IV.5, table 5.6 and section IV.8. */
static void test_order_5(void **state) {
  (void)state;
  const RadauCoefficients *m = &radau_methods[0];
  double r6 = sqrt(6), third = cbrt(81), ninth = cbrt(9);
  assert_near(m->node[0], (4 - r6) / 10, 1e-15);
  assert_near(m->node[1], (4 + r6) / 10, 1e-15);
  assert_near(m->a[0][0], (88 - 7 * r6) / 360, 1e-15);
  assert_near(m->a[1][0], (296 + 169 * r6) / 1800, 1e-15);
  assert_near(m->a[2][2], 1.0 / 9, 1e-15);
  assert_near(1 / m->mu_real, 30 / (6 + third - ninth), 1e-14);
}

/* Quadrature of order 2s - 1 and stage order s. */
static void test_orders(void **state) {
  (void)state;
  for (int index = 0; index < RADAU_METHODS; index++) {
    const RadauCoefficients *m = &radau_methods[index];
    int s = m->stages;
    for (int k = 1; k <= 2 * s - 1; k++) {
      double sum = 0;
      for (int j = 0; j < s; j++) sum += m->a[s - 1][j] * pow(m->node[j], k - 1);
      assert_near(sum, 1.0 / k, 1e-14);
    }
    for (int i = 0; i < s; i++)
      for (int k = 1; k <= s; k++) {
        double sum = 0;
        for (int j = 0; j < s; j++) sum += m->a[i][j] * pow(m->node[j], k - 1);
        assert_near(sum, pow(m->node[i], k) / k, 1e-14);
      }
  }
}

static void test_transformation(void **state) {
  (void)state;
  for (int index = 0; index < RADAU_METHODS; index++) {
    const RadauCoefficients *m = &radau_methods[index];
    int s = m->stages;
    for (int i = 0; i < s; i++)
      for (int j = 0; j < s; j++) {
        double sum = m->back[i][0] * m->mu_real * m->forward[0][j];
        for (int k = 0; k < s / 2; k++) {
          double re = m->mu[k][0], im = m->mu[k][1], x = m->forward[2 * k + 1][j], y = m->forward[2 * k + 2][j];
          sum += m->back[i][2 * k + 1] * (re * x - im * y) + m->back[i][2 * k + 2] * (im * x + re * y);
        }
        assert_near(sum, m->a[i][j], 1e-13);
      }
  }
}

/* The term of the continuous output vanishes at the end and has slope 1 at the start, 0 at the nodes. */
static void test_rise(void **state) {
  (void)state;
  for (int index = 0; index < RADAU_METHODS; index++) {
    const RadauCoefficients *m = &radau_methods[index];
    double end = 0;
    for (int k = 0; k <= m->stages + 1; k++) end += m->rise[k];
    assert_near(end, 0, 1e-12);
    assert_near(m->rise[1], 1, 0);
    for (int i = 0; i < m->stages; i++) {
      double slope = 0;
      for (int k = m->stages + 1; k >= 1; k--) slope = slope * m->node[i] + k * m->rise[k];
      assert_near(slope, 0, 1e-11);
    }
  }
}

int main(int count, char **arguments) {
  if (count > 1 && strcmp(arguments[1], "print") == 0) return print_table();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table_is_computed), cmocka_unit_test(test_order_5), cmocka_unit_test(test_orders),
      cmocka_unit_test(test_transformation),    cmocka_unit_test(test_rise),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
