/* radau: the three-stage Radau IIA method of order 5 on the state-space form (Hairer, Wanner 1996, Solving Ordinary
 * Differential Equations II, section IV.8). Its stages are solved by simplified Newton with one real and one complex matrix; its
 * continuous output is the collocation polynomial. */
#include "solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ITERATIONS = 7 };

#define C1 0.15505102572168219018
#define C2 0.64494897427831780982
#define GAMMA 3.6378342527444957322
#define ALPHA 2.6810828736277521339
#define BETA 3.0504301992474105694

static const double T[3][3] = {{9.1232394870892942792e-02, -0.14125529502095420843, -3.0029194105147424492e-02},
                               {0.24171793270710701896, 0.20412935229379993199, 0.38294211275726193779},
                               {0.96604818261509293619, 1, 0}};
static const double INVERSE[3][3] = {{4.3255798900631553510, 0.33919925181580986954, 0.54177053993587487119},
                                     {-4.1787185915519047273, -0.32768282076106238708, 0.47662355450055045196},
                                     {-0.50287263494578687595, 2.5719269498556054292, -0.59603920482822492497}};
static const double ERROR[3] = {-10.048809399827415562, 1.3821427331607488958, -0.33333333333333333333};
static const double NODE[3] = {C1, C2, 1};

/* Derivatives f of the states x at t; all columns at the guess and result y. */
static int rates(Solver *solver, double t, const double *x, double *y, double *f) {
  for (int k = 0; k < solver->model->states; k++) y[solver->from[k]] = x[k];
  if (slides_complete(solver, t, y, 1) != SOLVER_OK) return 1;
  for (int k = 0; k < solver->model->states; k++) f[k] = y[solver->to[k]];
  return 0;
}

static void set_scale(Solver *solver) {
  double tolerance = 0.1 * solver->now->tolerance;
  for (int k = 0; k < solver->model->states; k++)
    solver->scale[k] = tolerance * (solver->model->nominal[solver->from[k]] + fabs(solver->x[k]));
}

static double norm(const Solver *solver, const double *v) {
  int n = solver->model->states;
  double sum = 0;
  for (int k = 0; k < n; k++) sum += v[k] / solver->scale[k] * (v[k] / solver->scale[k]);
  return sqrt(sum / n);
}

/* That of all rows, where matrices are sparse. */
static void evaluate_rows_jacobian(Solver *solver) {
  const Model *model = solver->model;
  program_run(solver, model->jacobian, solver->now->time, solver->y, solver->jacobian);
  for (int e = 0; e < model->nonzeros; e++)
    if (!isfinite(solver->jacobian[e])) solver->jacobian[e] = 0;
}

/* By differences where the solution slides, else by the implicit function theorem. */
static int evaluate_jacobian(Solver *solver) {
  int n = solver->model->states;
  if (model_is_sparse(solver->model)) {
    evaluate_rows_jacobian(solver);
    return 0;
  }
  if (!solver->edges.now->slides &&
      states_jacobian(solver, solver->now->time, solver->y, solver->jacobian) == SOLVER_OK)
    return 0;
  for (int k = 0; k < n; k++) {
    double kept = solver->x[k], delta = 1e-7 * (fabs(kept) + solver->model->nominal[solver->from[k]]);
    memcpy(solver->stage_y, solver->y, (size_t)solver->model->columns * sizeof(double));
    memcpy(solver->x_trial, solver->x, (size_t)n * sizeof(double));
    solver->x_trial[k] += delta;
    if (rates(solver, solver->now->time, solver->x_trial, solver->stage_y, solver->jacobian + k * n)) return 1;
    for (int i = 0; i < n; i++) solver->jacobian[i + k * n] = (solver->jacobian[i + k * n] - solver->f0[i]) / delta;
  }
  return 0;
}

/* Puts rows and links of states into a column of a matrix: (real + i imaginary) from - to. The imaginary part has columns and rows of its
 * own, behind those of the real part: `half` is 1 for these. */
static void add_column(Solver *solver, Matrix *matrix, int q, int half, double real, double imaginary) {
  const Model *model = solver->model;
  int own = half * model->columns, other = (1 - half) * model->columns, column = q + own;
  for (int e = model->jacobian_start[q]; e < model->jacobian_start[q + 1]; e++)
    matrix_add(matrix, model->jacobian_row[e] + own, column, solver->jacobian[e]);
  if (solver->link_from[q] >= 0) {
    int row = model->rows + solver->link_from[q];
    matrix_add(matrix, row + own, column, real);
    if (imaginary != 0) matrix_add(matrix, row + other, column, half ? -imaginary : imaginary);
  }
  if (solver->link_to[q] >= 0) matrix_add(matrix, model->rows + solver->link_to[q] + own, column, -1);
}

/* All columns are unknowns: rows say how they depend on the states, links what the step makes of these. */
static int factor_sparse(Solver *solver, double h) {
  const Model *model = solver->model;
  for (int q = 0; q < model->columns; q++) solver->link_from[q] = solver->link_to[q] = -1;
  for (int k = 0; k < model->states; k++) {
    solver->link_from[solver->from[k]] = k;
    solver->link_to[solver->to[k]] = k;
  }
  matrix_begin(&solver->full, model->columns, 1, &model->whole);
  for (int q = 0; q < model->columns; q++) add_column(solver, &solver->full, q, 0, GAMMA / h, 0);
  matrix_begin(&solver->pair, 2 * model->columns, 2, &model->whole);
  for (int half = 0; half < 2; half++)
    for (int q = 0; q < model->columns; q++) add_column(solver, &solver->pair, q, half, ALPHA / h, BETA / h);
  return matrix_factor(&solver->full) || matrix_factor(&solver->pair);
}

static int factor(Solver *solver, double h) {
  int n = solver->model->states;
  if (model_is_sparse(solver->model)) return factor_sparse(solver, h);
  for (int k = 0; k < n * n; k++) {
    solver->real[k] = solver->complex_real[k] = -solver->jacobian[k];
    solver->complex_imaginary[k] = 0;
  }
  for (int k = 0; k < n; k++) {
    solver->real[k + k * n] += GAMMA / h;
    solver->complex_real[k + k * n] += ALPHA / h;
    solver->complex_imaginary[k + k * n] = BETA / h;
  }
  return lu_factor(n, solver->real, solver->real_pivot) ||
         complex_factor(n, solver->complex_real, solver->complex_imaginary, solver->complex_pivot);
}

/* Solves with the sparse factors for states in place; x has the parts of b one behind the other, `halves` of them. */
static void solve_states(Solver *solver, Matrix *matrix, int halves, double *b) {
  const Model *model = solver->model;
  int n = model->states;
  double *x = solver->right;
  memset(x, 0, (size_t)(halves * model->columns) * sizeof(double));
  for (int half = 0; half < halves; half++)
    memcpy(x + half * model->columns + model->rows, b + half * n, (size_t)n * sizeof(double));
  matrix_solve(matrix, x);
  for (int half = 0; half < halves; half++)
    for (int k = 0; k < n; k++) b[half * n + k] = x[half * model->columns + solver->from[k]];
}

static void solve_real(Solver *solver, double *b) {
  if (model_is_sparse(solver->model)) solve_states(solver, &solver->full, 1, b);
  else lu_solve(solver->model->states, solver->real, solver->real_pivot, b);
}

/* Real parts in front of imaginary ones. */
static void solve_complex(Solver *solver, double *b) {
  int n = solver->model->states;
  if (model_is_sparse(solver->model)) solve_states(solver, &solver->pair, 2, b);
  else complex_solve(n, solver->complex_real, solver->complex_imaginary, solver->complex_pivot, b, b + n);
}

static void transform(const double (*matrix)[3], int n, const double *from, double *to) {
  for (int k = 0; k < n; k++) {
    double a = from[k], b = from[n + k], c = from[2 * n + k];
    for (int i = 0; i < 3; i++) to[i * n + k] = matrix[i][0] * a + matrix[i][1] * b + matrix[i][2] * c;
  }
}

/* The stages as the polynomial of the last step goes on, or all at the beginning. */
static void predict(Solver *solver, double h) {
  int n = solver->model->states;
  double ratio = solver->now->has_dense ? h / (solver->now->step_end - solver->now->step_begin) : 0;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < n; k++) {
      const double *p = solver->dense + n + 3 * k;
      double s = NODE[i] * ratio;
      solver->z[i * n + k] = solver->now->has_dense ? s * (p[0] + (s + 1 - C2) * (p[1] + (s + 1 - C1) * p[2])) : 0;
    }
  transform(INVERSE, n, solver->z, solver->w);
}

static int evaluate_stages(Solver *solver, double h) {
  int n = solver->model->states;
  for (int i = 0; i < 3; i++) {
    double *y = solver->step_y + i * solver->model->columns;
    for (int k = 0; k < n; k++) solver->x_trial[k] = solver->x[k] + solver->z[i * n + k];
    if (rates(solver, solver->now->time + NODE[i] * h, solver->x_trial, y, solver->f + i * n)) return 1;
  }
  return 0;
}

/* One correction of the stages; its size. */
static double correct(Solver *solver, double h) {
  int n = solver->model->states;
  double *g = solver->f, *w = solver->w;
  transform(INVERSE, n, solver->f, g);
  for (int k = 0; k < n; k++) {
    double second = -w[n + k], third = -w[2 * n + k];
    g[k] -= w[k] * GAMMA / h;
    g[n + k] += (second * ALPHA - third * BETA) / h;
    g[2 * n + k] += (third * ALPHA + second * BETA) / h;
  }
  solve_real(solver, g);
  solve_complex(solver, g + n);
  double sum = 0;
  for (int i = 0; i < 3; i++) sum += pow(norm(solver, g + i * n), 2);
  for (int k = 0; k < 3 * n; k++) w[k] += g[k];
  transform(T, n, w, solver->z);
  return sqrt(sum / 3);
}

/* Simplified Newton. Returns the number of iterations, 0 where it does not converge; *rate: how fast. */
static int solve_stages(Solver *solver, double h, double *rate) {
  double last = 0, factor_before = 1;
  predict(solver, h);
  for (int i = 0; i < 3; i++)
    memcpy(solver->step_y + i * solver->model->columns, solver->y, (size_t)solver->model->columns * sizeof(double));
  *rate = 1e-3;
  for (int iteration = 1; iteration <= ITERATIONS; iteration++) {
    if (evaluate_stages(solver, h)) return 0;
    double size = correct(solver, h);
    if (!isfinite(size)) return 0;
    if (iteration > 1) {
      *rate = size / last;
      if (*rate >= 0.99 || pow(*rate, ITERATIONS - iteration) * size / (1 - *rate) > 10) return 0;
      factor_before = *rate / (1 - *rate);
    }
    last = fmax(size, DBL_MIN);
    if (factor_before * size <= 1e-3 || size <= 1e-12) return iteration;
  }
  return 0;
}

/* The error of the step as a multiple of what the tolerance allows. */
static double estimate(Solver *solver, double h) {
  int n = solver->model->states;
  double *error = solver->f, *difference = solver->f + n;
  for (int k = 0; k < n; k++) {
    difference[k] = (ERROR[0] * solver->z[k] + ERROR[1] * solver->z[n + k] + ERROR[2] * solver->z[2 * n + k]) / h;
    error[k] = difference[k] + solver->f0[k];
  }
  solve_real(solver, error);
  double size = norm(solver, error);
  if (size < 1 || !solver->now->is_first) return size;
  for (int k = 0; k < n; k++) solver->x_trial[k] = solver->x[k] + error[k];
  memcpy(solver->stage_y, solver->y, (size_t)solver->model->columns * sizeof(double));
  if (rates(solver, solver->now->time, solver->x_trial, solver->stage_y, error)) return size;
  for (int k = 0; k < n; k++) error[k] += difference[k];
  solve_real(solver, error);
  return norm(solver, error);
}

/* The collocation polynomial: the end, then three coefficients a state. */
static void keep_dense(Solver *solver) {
  int n = solver->model->states;
  for (int k = 0; k < n; k++) {
    double z1 = solver->z[k], z2 = solver->z[n + k], z3 = solver->z[2 * n + k], *p = solver->dense + n + 3 * k;
    double slope = (z1 - z2) / (C1 - C2);
    solver->dense[k] = solver->x[k] + z3;
    p[0] = (z2 - z3) / (C2 - 1);
    p[1] = (slope - p[0]) / (C1 - 1);
    p[2] = p[1] - (slope - z1 / C1) / C2;
  }
}

/* Columns by the polynomial through the beginning of the step, its stages and its end, at a part of it: a guess for those that are no states. */
static void interpolate_columns(const Solver *solver, double part, double *y) {
  const double *points = solver->step_y, node[4] = {C1, C2, 1, 0};
  int columns = solver->model->columns, first = solver->model->states ? 0 : 2;
  double weight[4];
  for (int i = first; i < 4; i++) {
    weight[i] = 1;
    for (int j = first; j < 4; j++)
      if (j != i) weight[i] *= (part - node[j]) / (node[i] - node[j]);
  }
  for (int q = 0; q < columns; q++) {
    y[q] = 0;
    for (int i = first; i < 4; i++) y[q] += weight[i] * points[i * columns + q];
  }
}

void radau_interpolate(Solver *solver, double t, double *y) {
  const Scalars *now = solver->now;
  int n = solver->model->states;
  double s = (t - now->step_end) / (now->step_end - now->step_begin);
  interpolate_columns(solver, 1 + s, y);
  for (int k = 0; k < n; k++) {
    const double *p = solver->dense + n + 3 * k;
    y[solver->from[k]] = solver->dense[k] + s * (p[0] + (s + 1 - C2) * (p[1] + (s + 1 - C1) * p[2]));
  }
}

/* A first step by the size of the derivatives. */
static double first_step(const Solver *solver, double span) {
  double size = norm(solver, solver->x), slope = norm(solver, solver->f0);
  double h = size > 1e-5 && slope > 1e-5 ? 0.01 * size / slope : 1e-6 * span;
  return fmin(fmax(h * pow(solver->now->tolerance, 0.25) * 10, 1e-10 * span), 0.01 * span);
}

void radau_start(Solver *solver) {
  for (int k = 0; k < solver->model->states; k++) {
    solver->x[k] = solver->y[solver->from[k]];
    solver->f0[k] = solver->y[solver->to[k]];
  }
  set_scale(solver);
  solver->now->next = solver->model->states ? first_step(solver, solver->model->stop - solver->model->start) : HUGE_VAL;
  solver->now->has_dense = solver->now->has_jacobian = 0;
  solver->now->is_first = 1;
}

/* The columns at the beginning of the step, behind those of the stages. */
static void keep_beginning(Solver *solver) {
  int columns = solver->model->columns;
  memcpy(solver->step_y + 3 * columns, solver->y, (size_t)columns * sizeof(double));
}

static void accept_step(Solver *solver, double end) {
  Scalars *now = solver->now;
  keep_dense(solver);
  keep_beginning(solver);
  now->step_begin = now->time;
  now->step_end = end;
  now->step = end - now->time;
  now->has_dense = 1;
  now->is_first = 0;
  now->time = end;
  now->steps++;
  memcpy(solver->y, solver->step_y + 2 * solver->model->columns, (size_t)solver->model->columns * sizeof(double));
  for (int k = 0; k < solver->model->states; k++) solver->x[k] = solver->dense[k];
}

/* Without states only the equations hold. A point that is too far to be followed to is approached. */
static SolverStatus step_without_states(Solver *solver, double stop) {
  Scalars *now = solver->now;
  double *y = solver->stage_y, end = fmin(stop, now->time + fmin(now->next, now->max_step));
  for (int halving = 0; halving <= 40; halving++, end = now->time + (end - now->time) / 2) {
    memcpy(y, solver->y, (size_t)solver->model->columns * sizeof(double));
    if (slides_complete(solver, end, y, halving < 40) != SOLVER_OK) continue;
    keep_beginning(solver);
    memcpy(solver->step_y + 2 * solver->model->columns, y, (size_t)solver->model->columns * sizeof(double));
    memcpy(solver->y, y, (size_t)solver->model->columns * sizeof(double));
    now->step_begin = now->time;
    now->step_end = now->time = end;
    now->step = now->step_end - now->step_begin;
    now->next = HUGE_VAL;
    now->steps++;
    return SOLVER_OK;
  }
  return SOLVER_FAILED;
}

/* One step, at most to `stop`, which it then hits exactly. y holds all columns at its end. */
SolverStatus radau_step(Solver *solver, double stop) {
  Scalars *now = solver->now;
  int n = solver->model->states;
  if (!n) return step_without_states(solver, stop);
  for (;;) {
    double h = fmin(now->next, now->max_step), rate;
    int is_last = now->time + 1.01 * h >= stop;
    if (is_last) h = stop - now->time;
    double end = is_last ? stop : now->time + h;
    if (!(h > 16 * DBL_EPSILON * fabs(now->time)) && !is_last) return SOLVER_FAILED;
    set_scale(solver);
    if (!now->has_jacobian && evaluate_jacobian(solver)) return SOLVER_FAILED;
    now->has_jacobian = 1;
    int iterations = factor(solver, h) ? 0 : solve_stages(solver, h, &rate);
    if (!iterations) {
      now->rejected++;
      now->next = h / 2;
      now->has_dense = now->has_jacobian = 0;
      continue;
    }
    double error = fmax(estimate(solver, h), 1e-10), safe = 0.9 * (2 * ITERATIONS + 1) / (2 * ITERATIONS + iterations);
    double quotient = fmax(0.125, fmin(5, pow(error, 0.25) / safe));
    if (error >= 1) {
      now->rejected++;
      now->next = now->is_first ? 0.1 * h : h / quotient;
      continue;
    }
    accept_step(solver, end);
    if (rates(solver, end, solver->x, solver->y, solver->f0)) return SOLVER_FAILED;
    if (!is_last || h / quotient > now->next || quotient > 1) now->next = h / quotient;
    now->has_jacobian = rate < 1e-3 && iterations <= 2;
    return SOLVER_OK;
  }
}
