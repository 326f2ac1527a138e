/* problems: small systems written by hand against integrate/integrator.h, with their counters and known solutions. */
#ifndef DAEDAL_TESTS_PROBLEMS_H
#define DAEDAL_TESTS_PROBLEMS_H

#include "base/linear.h"
#include "integrate/integrator.h"

#include <complex.h>
#include <math.h>
#include <string.h>

/* ---- The pendulum of Mattsson and Soderlind, section 5: m = g = L = 1, y up. ----
 * Columns x, y, x1, y1, x2, y2, lam. Rows: x2 + lam x, y2 + lam y + 1, and the length with two derivatives. */
enum { PX, PY, PX1, PY1, PX2, PY2, PLAM, PENDULUM_COLUMNS, PENDULUM_ROWS = 5 };

typedef struct Pendulum {
  System system;
  int32_t from[2], to[2];
  uint64_t residuals, jacobians, completions, newton;
  double row_evaluations; /* in units of all rows */
} Pendulum;

static const int32_t pendulum_start[] = {0, 4, 8, 10, 12, 14, 16, 18};
static const int32_t pendulum_row[] = {0, 2, 3, 4, 1, 2, 3, 4, 3, 4, 3, 4, 0, 4, 1, 4, 0, 1};
static const int32_t pendulum_successor[] = {PX1, PY1, PX2, PY2, -1, -1, -1};
static const double pendulum_nominal[] = {1, 1, 1, 1, 1, 1, 1};

static inline EvalStatus pendulum_residual(void *context, double t, const double *y, double *r) {
  Pendulum *p = context;
  (void)t;
  p->residuals++;
  p->row_evaluations += 1;
  r[0] = y[PX2] + y[PLAM] * y[PX];
  r[1] = y[PY2] + y[PLAM] * y[PY] + 1;
  r[2] = y[PX] * y[PX] + y[PY] * y[PY] - 1;
  r[3] = 2 * (y[PX] * y[PX1] + y[PY] * y[PY1]);
  r[4] = 2 * (y[PX] * y[PX2] + y[PX1] * y[PX1] + y[PY] * y[PY2] + y[PY1] * y[PY1]);
  return EVAL_OK;
}

static inline EvalStatus pendulum_jacobian(void *context, double t, const double *y, double *v) {
  Pendulum *p = context;
  (void)t;
  p->jacobians++;
  const double values[18] = {
      y[PLAM],    2 * y[PX], 2 * y[PX1], 2 * y[PX2], y[PLAM],   2 * y[PY], 2 * y[PY1], 2 * y[PY2], 2 * y[PX],
      4 * y[PX1], 2 * y[PY], 4 * y[PY1], 1,          2 * y[PX], 1,         2 * y[PY],  y[PX],      y[PY],
  };
  memcpy(v, values, sizeof values);
  return EVAL_OK;
}

static inline EvalStatus pendulum_complete(void *context, double t, double *y) {
  Pendulum *p = context;
  (void)t;
  p->completions++;
  bool x_state = p->from[0] == PX;
  int a = x_state ? PX : PY, b = x_state ? PY : PX;
  for (int i = 0;; i++) {
    double r = y[a] * y[a] + y[b] * y[b] - 1, d = -r / (2 * y[b]);
    p->row_evaluations += 0.2;
    if (!isfinite(d) || i > 8) return EVAL_DOMAIN;
    y[b] += d;
    p->newton++;
    if (fabs(d) < 1e-7) break; /* the next correction would be below 1e-14 */
  }
  p->row_evaluations += 0.8;
  y[b + 2] = -y[a] * y[a + 2] / y[b];
  y[PLAM] = y[PX1] * y[PX1] + y[PY1] * y[PY1] - y[PY];
  y[PX2] = -y[PLAM] * y[PX];
  y[PY2] = -y[PLAM] * y[PY] - 1;
  return EVAL_OK;
}

/* Rates (x1, x2) with respect to the states (x, x1), from the angle: x = sin a; or the same with y = -cos a. */
static inline EvalStatus pendulum_rates_jacobian(void *context, double t, const double *y, double *jacobian) {
  Pendulum *p = context;
  (void)t;
  bool x_state = p->from[0] == PX;
  int a = x_state ? PX : PY, b = x_state ? PY : PX;
  double q = y[a], v = y[a + 2], s = y[b], w = y[b + 2];
  double s_q = -q / s, w_v = -q / s, w_q = -v / s + q * v / (s * s) * s_q;
  double lam_q = 2 * w * w_q - (x_state ? s_q : 1), lam_v = 2 * v + 2 * w * w_v;
  jacobian[0] = 0;
  jacobian[1] = -lam_q * q - y[PLAM];
  jacobian[2] = 1;
  jacobian[3] = -lam_v * q;
  return EVAL_OK;
}

static inline void pendulum_choose(Pendulum *p, bool x_state) {
  p->from[0] = x_state ? PX : PY;
  p->from[1] = x_state ? PX1 : PY1;
  p->to[0] = x_state ? PX1 : PY1;
  p->to[1] = x_state ? PX2 : PY2;
}

static inline void pendulum_make(Pendulum *p, double angle, double speed, double *y) {
  memset(p, 0, sizeof *p);
  pendulum_choose(p, fabs(sin(angle)) <= fabs(cos(angle)));
  p->system = (System){
      .context = p,
      .columns = PENDULUM_COLUMNS,
      .rows = PENDULUM_ROWS,
      .links = 2,
      .link_from = p->from,
      .link_to = p->to,
      .successor = pendulum_successor,
      .column_start = pendulum_start,
      .row_index = pendulum_row,
      .nominal = pendulum_nominal,
      .size = pendulum_nominal,
      .residual = pendulum_residual,
      .jacobian = pendulum_jacobian,
      .complete = pendulum_complete,
      .rates_jacobian = pendulum_rates_jacobian,
  };
  y[PX] = sin(angle);
  y[PY] = -cos(angle);
  y[PX1] = cos(angle) * speed;
  y[PY1] = sin(angle) * speed;
  y[PLAM] = speed * speed - y[PY];
  y[PX2] = -y[PLAM] * y[PX];
  y[PY2] = -y[PLAM] * y[PY] - 1;
}

static inline double pendulum_energy(const double *y) { return 0.5 * (y[PX1] * y[PX1] + y[PY1] * y[PY1]) + 1 + y[PY]; }

/* Switches when the dummy position gets small; true if it did. y is projected on the new choice. */
static inline bool pendulum_pivot(Pendulum *p, double *y, double threshold) {
  bool x_state = p->from[0] == PX;
  double dummy = fabs(y[x_state ? PY : PX]);
  if (dummy > threshold) return false;
  pendulum_choose(p, !x_state);
  pendulum_complete(p, 0, y);
  return true;
}

/* ---- Any system from one function in complex arithmetic: the Jacobian by complex steps is exact. ---- */

typedef double complex Complex;
typedef void ProblemFunction(double t, const Complex *y, Complex *residual);

enum { PROBLEM_MAX = 32 };

typedef struct Problem {
  System system;
  ProblemFunction *function;
  Linear *linear; /* for close: the columns that are not states */
  int32_t from[PROBLEM_MAX], to[PROBLEM_MAX], index[PROBLEM_MAX], successor[PROBLEM_MAX];
  int32_t start[PROBLEM_MAX + 1], row[PROBLEM_MAX * PROBLEM_MAX];
  double nominal[PROBLEM_MAX];
  uint64_t residuals, jacobians, completions;
  double domain_from; /* EVAL_DOMAIN where column 0 is below this */
} Problem;

static inline EvalStatus problem_residual(void *context, double t, const double *y, double *residual) {
  Problem *p = context;
  Complex z[PROBLEM_MAX], r[PROBLEM_MAX];
  p->residuals++;
  if (y[0] < p->domain_from) return EVAL_DOMAIN;
  for (int32_t c = 0; c < p->system.columns; c++) z[c] = y[c];
  p->function(t, z, r);
  for (int32_t i = 0; i < p->system.rows; i++) residual[i] = creal(r[i]);
  return EVAL_OK;
}

static inline EvalStatus problem_jacobian(void *context, double t, const double *y, double *values) {
  Problem *p = context;
  Complex z[PROBLEM_MAX], r[PROBLEM_MAX];
  p->jacobians++;
  for (int32_t c = 0; c < p->system.columns; c++) z[c] = y[c];
  for (int32_t c = 0; c < p->system.columns; c++) {
    z[c] += 1e-100 * I;
    p->function(t, z, r);
    z[c] = y[c];
    for (int32_t i = 0; i < p->system.rows; i++) values[c * p->system.rows + i] = cimag(r[i]) / 1e-100;
  }
  return EVAL_OK;
}

static inline bool problem_is_state(const Problem *p, int32_t column) {
  for (int32_t l = 0; l < p->system.links; l++)
    if (p->from[l] == column) return true;
  return false;
}

static inline EvalStatus problem_complete(void *context, double t, double *y) {
  Problem *p = context;
  double residual[PROBLEM_MAX], values[PROBLEM_MAX * PROBLEM_MAX], chosen[PROBLEM_MAX * PROBLEM_MAX];
  int32_t rows = p->system.rows, unknown[PROBLEM_MAX], count = 0;
  p->completions++;
  for (int32_t c = 0; c < p->system.columns; c++)
    if (!problem_is_state(p, c)) unknown[count++] = c;
  for (int iteration = 0; iteration < 12; iteration++) {
    if (problem_residual(p, t, y, residual) != EVAL_OK) return EVAL_DOMAIN;
    problem_jacobian(p, t, y, values);
    for (int32_t u = 0; u < rows; u++)
      memcpy(chosen + u * rows, values + unknown[u] * rows, (size_t)rows * sizeof(double));
    if (!linear_factor(p->linear, chosen)) return EVAL_DOMAIN;
    linear_solve(p->linear, residual);
    double largest = 0;
    for (int32_t u = 0; u < rows; u++) {
      y[unknown[u]] -= residual[u];
      largest = fmax(largest, fabs(residual[u]) / (1e-3 + fabs(y[unknown[u]])));
    }
    if (!isfinite(largest)) return EVAL_DOMAIN;
    if (largest < 1e-8) return EVAL_OK;
  }
  return EVAL_DOMAIN;
}

/* d rates / d states by differences of close, for the tests only. */
static inline EvalStatus problem_rates_jacobian(void *context, double t, const double *y, double *jacobian) {
  Problem *p = context;
  double z[PROBLEM_MAX];
  for (int32_t j = 0; j < p->system.links; j++) {
    memcpy(z, y, sizeof(double) * (size_t)p->system.columns);
    double d = 1e-7 * fmax(fabs(y[p->from[j]]), 1e-3);
    z[p->from[j]] += d;
    if (problem_complete(p, t, z) != EVAL_OK) return EVAL_DOMAIN;
    for (int32_t i = 0; i < p->system.links; i++) jacobian[j * p->system.links + i] = (z[p->to[i]] - y[p->to[i]]) / d;
  }
  return EVAL_OK;
}

/* links: pairs from, to. */
static inline void problem_make(Problem *p, Heap *heap, ProblemFunction *function, int32_t columns, int32_t links,
                                const int32_t (*pairs)[2]) {
  int32_t rows = columns - links;
  memset(p, 0, sizeof *p);
  p->function = function;
  p->domain_from = -INFINITY;
  for (int32_t c = 0; c < columns; c++) {
    p->nominal[c] = 1;
    p->index[c] = 1;
    p->successor[c] = -1;
    p->start[c + 1] = (c + 1) * rows;
    for (int32_t r = 0; r < rows; r++) p->row[c * rows + r] = r;
  }
  for (int32_t l = 0; l < links; l++) {
    p->from[l] = pairs[l][0];
    p->to[l] = pairs[l][1];
    p->successor[pairs[l][0]] = pairs[l][1];
  }
  p->linear = linear_new(heap, rows, rows * rows, false);
  linear_set_pattern(p->linear, p->start, p->row);
  p->system = (System){
      .context = p,
      .columns = columns,
      .rows = rows,
      .links = links,
      .link_from = p->from,
      .link_to = p->to,
      .successor = p->successor,
      .column_start = p->start,
      .row_index = p->row,
      .nominal = p->nominal,
      .size = p->nominal,
      .column_index = p->index,
      .residual = problem_residual,
      .jacobian = problem_jacobian,
      .complete = problem_complete,
      .rates_jacobian = problem_rates_jacobian,
  };
}

/* ---- Index 1, nonlinear in the algebraic column: x = 2 + sin 4t, z = 1 + cos(4t) / 2; columns x, x', z. ---- */
static inline void smooth_function(double t, const Complex *y, Complex *r) {
  double x = 2 + sin(4 * t), z = 1 + cos(4 * t) / 2, dx = 4 * cos(4 * t);
  r[0] = y[1] - (dx - 0.1 * (y[0] * y[0] - x * x) + 0.5 * (y[2] - z));
  r[1] = y[2] * y[2] * y[2] + y[2] - (z * z * z + z) * y[0] / x;
}

/* ---- The harmonic oscillator with an algebraic column: x = sin t, v = cos t, z = x + 2v; columns x, v, x', v', z.
 * Linear and free of damping: large steps and visible errors for the high orders. ---- */
static inline void oscillator_function(double t, const Complex *y, Complex *r) {
  (void)t;
  r[0] = y[2] - y[1];
  r[1] = y[3] + y[4] - 2 * y[1];
  r[2] = y[4] - y[0] - 2 * y[1];
}

static const int32_t oscillator_pairs[][2] = {{0, 2}, {1, 3}};

static inline void oscillator_exact(double t, double *y) {
  y[0] = sin(t), y[1] = cos(t);
  y[2] = cos(t), y[3] = -sin(t);
  y[4] = sin(t) + 2 * cos(t);
}

static const int32_t smooth_pairs[][2] = {{0, 1}};

static inline void smooth_exact(double t, double *y) {
  y[0] = 2 + sin(4 * t);
  y[1] = 4 * cos(4 * t);
  y[2] = 1 + cos(4 * t) / 2;
}

/* ---- Van der Pol, mu = 10^6, scaled: columns y, z, y', z'. ---- */
static inline void vanderpol_function(double t, const Complex *y, Complex *r) {
  (void)t;
  r[0] = y[2] - y[1];
  r[1] = 1e-6 * y[3] - ((1 - y[0] * y[0]) * y[1] - y[0]);
}

static const int32_t vanderpol_pairs[][2] = {{0, 2}, {1, 3}};
static const double vanderpol_start[] = {2, 0, 0, -2e6};
static const double vanderpol_end[] = {1.706167732170483, -0.8928097010247975}; /* t = 2 */

/* ---- Robertson as an index-1 DAE: columns y1, y2, y3, y1', y2'. ---- */
static inline void robertson_function(double t, const Complex *y, Complex *r) {
  (void)t;
  r[0] = y[3] - (-0.04 * y[0] + 1e4 * y[1] * y[2]);
  r[1] = y[4] - (0.04 * y[0] - 1e4 * y[1] * y[2] - 3e7 * y[1] * y[1]);
  r[2] = y[0] + y[1] + y[2] - 1;
}

static const int32_t robertson_pairs[][2] = {{0, 3}, {1, 4}};
static const double robertson_start[] = {1, 0, 0, -0.04, 0.04};
static const double robertson_end[] = {2.083340149701255e-8, 8.333360770334713e-14, 0.9999999791665050}; /* 1e11 */

/* ---- HIRES: columns y1..y8, then their rates. ---- */
static inline void hires_function(double t, const Complex *y, Complex *r) {
  (void)t;
  r[0] = y[8] - (-1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007);
  r[1] = y[9] - (1.71 * y[0] - 8.75 * y[1]);
  r[2] = y[10] - (-10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4]);
  r[3] = y[11] - (8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3]);
  r[4] = y[12] - (-1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6]);
  r[5] = y[13] - (-280 * y[5] * y[7] + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6]);
  r[6] = y[14] - (280 * y[5] * y[7] - 1.81 * y[6]);
  r[7] = y[15] - (-280 * y[5] * y[7] + 1.81 * y[6]);
}

static const int32_t hires_pairs[][2] = {{0, 8}, {1, 9}, {2, 10}, {3, 11}, {4, 12}, {5, 13}, {6, 14}, {7, 15}};
static const double hires_start[16] = {[0] = 1, [7] = 0.0057, [8] = -1.71 + 0.0007, [9] = 1.71};
static const double hires_end[] = {
    7.371312573325668e-4, 1.442485726316185e-4, 5.888729740967575e-5, 1.175651343283149e-3, /* t = 321.8122 */
    2.386356198831331e-3, 6.238968252742796e-3, 2.849998395185769e-3, 2.850001604814231e-3,
};

/* ---- Chemical Akzo Nobel: columns y1..y6, then the rates of y1..y5. ---- */
static inline void akzo_function(double t, const Complex *y, Complex *r) {
  (void)t;
  Complex root = csqrt(y[1]);
  Complex r1 = 18.7 * y[0] * y[0] * y[0] * y[0] * root, r2 = 0.58 * y[2] * y[3], r3 = 0.58 / 34.4 * y[0] * y[4];
  Complex r4 = 0.09 * y[0] * y[3] * y[3], r5 = 0.42 * y[5] * y[5] * root, in = 3.3 * (0.9 / 737 - y[1]);
  r[0] = y[6] - (-2 * r1 + r2 - r3 - r4);
  r[1] = y[7] - (-0.5 * r1 - r4 - 0.5 * r5 + in);
  r[2] = y[8] - (r1 - r2 + r3);
  r[3] = y[9] - (-r2 + r3 - 2 * r4);
  r[4] = y[10] - (r2 - r3 + r5);
  r[5] = 115.83 * y[0] * y[3] - y[5];
}

static const int32_t akzo_pairs[][2] = {{0, 6}, {1, 7}, {2, 8}, {3, 9}, {4, 10}};
static const double akzo_start[11] = {0.444, 0.00123, 0, 0.007, 0, 115.83 * 0.444 * 0.007};
static const double akzo_end[] = {0.1150794920661702,    0.001203831471567715, 0.1611562887407974, /* t = 180 */
                                  0.0003656156421249283, 0.01708010885264404,  0.004873531310307455};

/* ---- Transistor amplifier as written: columns U1..U8 and their rates, singular capacitance matrix. ---- */
static inline void amplifier_function(double t, const Complex *u, Complex *r) {
  const Complex *d = u + 8;
  double Ue = 0.1 * sin(200 * acos(-1.0) * t);
  Complex g1 = 1e-6 * (cexp((u[1] - u[2]) / 0.026) - 1), g2 = 1e-6 * (cexp((u[4] - u[5]) / 0.026) - 1);
  r[0] = 1e-6 * (d[1] - d[0]) - (u[0] - Ue) / 1000;
  r[1] = 1e-6 * (d[0] - d[1]) - (u[1] / 9000 + (u[1] - 6) / 9000 + 0.01 * g1);
  r[2] = -2e-6 * d[2] - (u[2] / 9000 - g1);
  r[3] = 3e-6 * (d[4] - d[3]) - ((u[3] - 6) / 9000 + 0.99 * g1);
  r[4] = 3e-6 * (d[3] - d[4]) - (u[4] / 9000 + (u[4] - 6) / 9000 + 0.01 * g2);
  r[5] = -4e-6 * d[5] - (u[5] / 9000 - g2);
  r[6] = 5e-6 * (d[7] - d[6]) - ((u[6] - 6) / 9000 + 0.99 * g2);
  r[7] = 5e-6 * (d[6] - d[7]) - u[7] / 9000;
}

static const double amplifier_start[16] = {0,
                                           3,
                                           3,
                                           6,
                                           3,
                                           3,
                                           6,
                                           0,
                                           51.338775,
                                           51.338775,
                                           -3.0 / (2e-6 * 9000),
                                           -24.9757667,
                                           -24.9757667,
                                           -3.0 / (4e-6 * 9000),
                                           -10.00564453,
                                           -10.00564453};
static const double amplifier_end[] = {-0.005562145012262709, 3.006522471903042, 2.849958788608128,
                                       2.926422536206241,     2.704617865010554, 2.761837778393145,
                                       4.770927631616772,     1.236995868091548}; /* t = 0.2 */

/* ---- Car axis reduced to index 1: columns q = (xl, yl, xr, yr), v, a, lam1, lam2; states yl, yr and rates. ---- */
static inline void caraxis_road(double t, double *x, double *y) {
  y[0] = 0.1 * sin(10 * t);
  y[1] = cos(10 * t);
  y[2] = -10 * sin(10 * t);
  x[0] = sqrt(1 - y[0] * y[0]);
  x[1] = -y[0] * y[1] / x[0];
  x[2] = -(y[1] * y[1] + y[0] * y[2] + x[1] * x[1]) / x[0];
}

static inline void caraxis_dynamics(double t, const Complex *y, Complex *r) {
  double xb[3], yb[3], k = 10 * 1e-4 / 2;
  caraxis_road(t, xb, yb);
  Complex dx = y[0] - y[2], dy = y[1] - y[3], rx = y[2] - xb[0], ry = y[3] - yb[0];
  Complex left = csqrt(y[0] * y[0] + y[1] * y[1]), right = csqrt(rx * rx + ry * ry);
  r[0] = k * y[8] - ((0.5 - left) * y[0] / left + y[12] * xb[0] + 2 * y[13] * dx);
  r[1] = k * y[9] - ((0.5 - left) * y[1] / left + y[12] * yb[0] + 2 * y[13] * dy - k);
  r[2] = k * y[10] - ((0.5 - right) * rx / right - 2 * y[13] * dx);
  r[3] = k * y[11] - ((0.5 - right) * ry / right - 2 * y[13] * dy - k);
  r[4] = y[0] * xb[0] + y[1] * yb[0];
  r[5] = dx * dx + dy * dy - 1;
}

static inline void caraxis_function(double t, const Complex *y, Complex *r) {
  double xb[3], yb[3];
  caraxis_road(t, xb, yb);
  caraxis_dynamics(t, y, r);
  Complex dx = y[0] - y[2], dy = y[1] - y[3], dvx = y[4] - y[6], dvy = y[5] - y[7];
  r[6] = y[4] * xb[0] + y[0] * xb[1] + y[5] * yb[0] + y[1] * yb[1];
  r[7] = 2 * (dx * dvx + dy * dvy);
  r[8] = y[8] * xb[0] + 2 * y[4] * xb[1] + y[0] * xb[2] + y[9] * yb[0] + 2 * y[5] * yb[1] + y[1] * yb[2];
  r[9] = 2 * (dvx * dvx + dx * (y[8] - y[10]) + dvy * dvy + dy * (y[9] - y[11]));
}

static const int32_t caraxis_pairs[][2] = {{1, 5}, {3, 7}, {5, 9}, {7, 11}};
static const int32_t caraxis_index3_pairs[][2] = {{0, 4}, {1, 5}, {2, 6}, {3, 7}, {4, 8}, {5, 9}, {6, 10}, {7, 11}};
static const double caraxis_start[14] = {0, 0.5, 1, 0.5, -0.5, 0, -0.5, 0};
static const double caraxis_end[] = {0.04934557842754028,  0.49698946023017115,  1.0417425248854215,
                                     0.37391102726536124,  -0.07705836840409723, 0.007446866587237785,
                                     0.017556815753723223, 0.7703410437792519}; /* t = 3 */

/* ---- A point on the circle with known motion and multiplier: columns q, v, a (two each), lam. Index 3 with the
 * position constraint, index 2 with that of the velocity. ---- */
static inline void circle_exact(double t, double *y) {
  double p = t + sin(2 * t) / 2, dp = 1 + cos(2 * t), ddp = -2 * sin(2 * t);
  y[0] = cos(p), y[1] = sin(p);
  y[2] = -sin(p) * dp, y[3] = cos(p) * dp;
  y[4] = -cos(p) * dp * dp - sin(p) * ddp, y[5] = -sin(p) * dp * dp + cos(p) * ddp;
  y[6] = 1 + sin(t);
}

static inline void circle_dynamics(double t, const Complex *y, Complex *r) {
  double e[7];
  circle_exact(t, e);
  for (int i = 0; i < 2; i++) {
    Complex swing = y[2] * y[2] + y[3] * y[3] - (e[2] * e[2] + e[3] * e[3]); /* nonlinear, zero on the solution */
    r[i] = y[4 + i] - (e[4 + i] - e[6] * e[i] + y[6] * y[i] - 0.1 * swing * y[2 + i]);
  }
}

static inline void circle_index3_function(double t, const Complex *y, Complex *r) {
  circle_dynamics(t, y, r);
  r[2] = y[0] * y[0] + y[1] * y[1] - 1;
}

static inline void circle_index2_function(double t, const Complex *y, Complex *r) {
  circle_dynamics(t, y, r);
  r[2] = y[0] * y[2] + y[1] * y[3];
}

static const int32_t circle_pairs[][2] = {{0, 2}, {1, 3}, {2, 4}, {3, 5}};

/* ---- x' = -1 - sqrt(x), x(0) = 1: reaches 0, and the end of its domain, at t = 2 - 2 log 2. ---- */
static inline void drain_function(double t, const Complex *y, Complex *r) {
  (void)t;
  r[0] = y[1] + 1 + csqrt(y[0]);
}

static const int32_t drain_pairs[][2] = {{0, 1}};

/* ---- Heat in a rod, sparse: columns u (ROD), their rates (ROD), fluxes (ROD + 1); the first sine decays by itself.
 * ---- */
enum { ROD = 100, ROD_COLUMNS = 3 * ROD + 1, ROD_ROWS = 2 * ROD + 1, ROD_NONZEROS = 2 * ROD + ROD + 3 * ROD + 1 };

typedef struct Rod {
  System system;
  int32_t from[ROD], to[ROD], start[ROD_COLUMNS + 1], row[2 * ROD_NONZEROS];
  double value[2 * ROD_NONZEROS], nominal[ROD_COLUMNS];
} Rod;

static inline EvalStatus rod_residual(void *context, double t, const double *y, double *r) {
  const double *u = y, *rate = y + ROD, *flux = y + 2 * ROD, scale = ROD + 1;
  (void)context, (void)t;
  for (int i = 0; i < ROD; i++) r[i] = rate[i] - scale * (flux[i + 1] - flux[i]);
  for (int j = 0; j <= ROD; j++) r[ROD + j] = flux[j] - scale * ((j < ROD ? u[j] : 0) - (j > 0 ? u[j - 1] : 0));
  return EVAL_OK;
}

static inline EvalStatus rod_jacobian(void *context, double t, const double *y, double *values) {
  const Rod *rod = context;
  (void)t, (void)y;
  memcpy(values, rod->value, sizeof(double) * (size_t)rod->start[ROD_COLUMNS]);
  return EVAL_OK;
}

static inline void rod_make(Rod *rod, double *y) {
  int32_t entry = 0;
  double scale = ROD + 1;
  memset(rod, 0, sizeof *rod);
  for (int c = 0; c < ROD_COLUMNS; c++) {
    int i = c % ROD;
    rod->nominal[c] = 1;
    rod->start[c] = entry;
    if (c < ROD) {
      rod->from[c] = c, rod->to[c] = c + ROD;
      rod->row[entry] = ROD + i, rod->value[entry++] = -scale;
      rod->row[entry] = ROD + i + 1, rod->value[entry++] = scale;
    } else if (c < 2 * ROD) {
      rod->row[entry] = i, rod->value[entry++] = 1;
    } else {
      int j = c - 2 * ROD;
      if (j > 0) rod->row[entry] = j - 1, rod->value[entry++] = -scale;
      if (j < ROD) rod->row[entry] = j, rod->value[entry++] = scale;
      rod->row[entry] = ROD + j, rod->value[entry++] = 1;
    }
  }
  rod->start[ROD_COLUMNS] = entry;
  rod->system = (System){.context = rod,
                         .columns = ROD_COLUMNS,
                         .rows = ROD_ROWS,
                         .links = ROD,
                         .link_from = rod->from,
                         .link_to = rod->to,
                         .column_start = rod->start,
                         .row_index = rod->row,
                         .nominal = rod->nominal,
                         .size = rod->nominal,
                         .residual = rod_residual,
                         .jacobian = rod_jacobian};
  double r[ROD_ROWS], step = acos(-1.0) / scale;
  memset(y, 0, sizeof(double) * ROD_COLUMNS);
  for (int i = 0; i < ROD; i++) y[i] = sin((i + 1) * step);
  rod_residual(rod, 0, y, r);
  for (int j = 0; j <= ROD; j++) y[2 * ROD + j] = -r[ROD + j];
  rod_residual(rod, 0, y, r);
  for (int i = 0; i < ROD; i++) y[ROD + i] = -r[i];
}

static inline double rod_decay(double t) {
  double scale = ROD + 1, s = sin(acos(-1.0) / (2 * scale));
  return exp(-4 * scale * scale * s * s * t);
}

#endif
