/* least_squares: see least_squares.h. */
#include "study/least_squares.h"

#include "base/blas.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

static const double FIRST_DAMPING = 1e-4, MOST_DAMPING = 1e12;
static const double SMALL_STEP = 1e-10;     /* relative to the size of the parameters */
static const double RELATIVE_OFFSET = 1e-4; /* Bates and Watts (1981): step over radius of the confidence region */

typedef struct Minimization {
  const LeastSquares *problem;
  double *p, *trial, *step, *norm; /* norm: the largest so far, per column */
  double *r, *trial_r, *jacobian;
  double *matrix, *right; /* matrix and right side of the damped equations */
  double *work, *newton;  /* newton: room for two steps */
  size_t work_length;
  bool *is_bound;
  bool is_slow;                            /* the last iteration improved little */
  double squares, before, damping, growth; /* before: the squares one iteration ago */
} Minimization;

static double sum_of_squares(const double *r, uint32_t count) {
  double sum = 0;
  for (uint32_t i = 0; i < count; i++) sum += r[i] * r[i];
  return sum;
}

static const double *column_of(const Minimization *search, uint32_t k) {
  return search->jacobian + (size_t)k * search->problem->residuals;
}

static double gradient(const Minimization *search, uint32_t k) {
  const double *column = column_of(search, k);
  double sum = 0;
  for (uint32_t i = 0; i < search->problem->residuals; i++) sum += column[i] * search->r[i];
  return sum;
}

/* Computes the norms of the columns, and which parameters are held at a bound. */
static void look_at_columns(Minimization *search) {
  const LeastSquares *problem = search->problem;
  for (uint32_t k = 0; k < problem->parameters; k++) {
    double norm = sqrt(sum_of_squares(column_of(search, k), problem->residuals)), slope = gradient(search, k);
    search->norm[k] = fmax(search->norm[k], norm);
    search->is_bound[k] =
        (search->p[k] <= problem->lower[k] && slope > 0) || (search->p[k] >= problem->upper[k] && slope < 0);
  }
}

/* Solves the least squares problem. The solution is at the beginning of `right`; both arguments are overwritten. */
static bool solve_overdetermined(double *matrix, uint32_t rows, uint32_t columns, double *right, double *work,
                                 size_t length) {
  lapack_int m = (lapack_int)rows, n = (lapack_int)columns, one = 1, size = (lapack_int)length, info;
  char as_it_is = 'N';
  LAPACK_dgels(&as_it_is, &m, &n, &one, matrix, &m, right, &m, work, &size, &info);
  return info == 0;
}

/* min |J s + r|^2 + damping |D s|^2 over the free parameters. false: there is no solution. */
static bool solve_step(Minimization *search, const double *r, double damping, double *step) {
  const LeastSquares *problem = search->problem;
  uint32_t m = problem->residuals, n = problem->parameters, free = 0, rows = m + n;
  memset(search->matrix, 0, (size_t)rows * n * sizeof *search->matrix);
  memset(search->right, 0, rows * sizeof *search->right);
  for (uint32_t k = 0; k < n; k++) {
    if (search->is_bound[k]) continue;
    double *column = search->matrix + (size_t)free * rows;
    memcpy(column, column_of(search, k), m * sizeof *column);
    column[m + free++] = sqrt(damping) * (search->norm[k] > 0 ? search->norm[k] : 1);
  }
  for (uint32_t i = 0; i < m; i++) search->right[i] = -r[i];
  if (!free) return false;
  if (!solve_overdetermined(search->matrix, rows, free, search->right, search->work, search->work_length)) return false;
  free = 0;
  for (uint32_t k = 0; k < n; k++) step[k] = search->is_bound[k] ? 0 : search->right[free++];
  return true;
}

/* Sets the trial point, clipped to the bounds. Returns its distance from the current point, relative to the size of the parameters. */
static double go(Minimization *search) {
  const LeastSquares *problem = search->problem;
  double farthest = 0;
  for (uint32_t k = 0; k < problem->parameters; k++) {
    search->trial[k] = fmin(fmax(search->p[k] + search->step[k], problem->lower[k]), problem->upper[k]);
    search->step[k] = search->trial[k] - search->p[k];
    farthest = fmax(farthest, fabs(search->step[k]) / (fabs(search->p[k]) + SMALL_STEP));
  }
  return farthest;
}

/* The sum of squares that the linear model predicts at the trial point. */
static double predicted(const Minimization *search) {
  double sum = 0;
  for (uint32_t i = 0; i < search->problem->residuals; i++) {
    double value = search->r[i];
    for (uint32_t k = 0; k < search->problem->parameters; k++) value += column_of(search, k)[i] * search->step[k];
    sum += value * value;
  }
  return sum;
}

/* Is the step small compared with the uncertainty that the residuals leave? */
static bool is_close(const Minimization *search, double expected) {
  const LeastSquares *problem = search->problem;
  double n = problem->parameters, m = problem->residuals, gain = search->squares - expected;
  return m > n && gain >= 0 && gain / n <= RELATIVE_OFFSET * RELATIVE_OFFSET * expected / (m - n);
}

static bool evaluate(const Minimization *search, const double *p, double *r, double *jacobian) {
  return search->problem->evaluate(search->problem->context, p, r, jacobian);
}

/* Are all residuals zero, relative to the size of their terms? */
static bool is_zero(const Minimization *search, double zero) {
  const LeastSquares *problem = search->problem;
  for (uint32_t i = 0; i < problem->residuals; i++) {
    double size = 1;
    for (uint32_t k = 0; k < problem->parameters; k++) size += fabs(column_of(search, k)[i] * search->p[k]);
    if (!(fabs(search->r[i]) <= zero * size)) return false;
  }
  return true;
}

static void accept(Minimization *search, double squares, double ratio) {
  uint32_t n = search->problem->parameters;
  memcpy(search->p, search->trial, n * sizeof *search->p);
  search->squares = squares;
  search->damping *= fmax(1.0 / 3, 1 - pow(2 * ratio - 1, 3));
  search->growth = 2;
}

/* The length of a step, with each parameter weighted by the norm of its column. */
static double length_of(const Minimization *search, const double *step) {
  double sum = 0;
  for (uint32_t k = 0; k < search->problem->parameters; k++)
    sum += step[k] * search->norm[k] * step[k] * search->norm[k];
  return sqrt(sum);
}

/* Tries Newton's step, or a fraction of it, towards residuals of zero. It accepts the step if the next one, with the same
 * derivatives, is shorter (the natural monotonicity test: Deuflhard 2004, section 2.1). Near a solution the test is passed for
 * any scaling of the residuals; damped steps would move slowly along a valley there. Steps that are longer than the parameters
 * are not tried: damping shortens them. */
static bool take_newton_step(Minimization *search) {
  const LeastSquares *problem = search->problem;
  double *whole = search->newton, *next = search->newton + problem->parameters;
  if (!solve_step(search, search->r, 0, whole)) return false;
  double length = length_of(search, whole);
  if (!(length <= length_of(search, search->p))) return false;
  for (double part = 1; part > 0.1; part /= 2) {
    for (uint32_t k = 0; k < problem->parameters; k++) search->step[k] = part * whole[k];
    go(search);
    if (!evaluate(search, search->trial, search->trial_r, NULL)) continue;
    if (!solve_step(search, search->trial_r, 0, next)) return false;
    if (!(length_of(search, next) <= (1 - part / 4) * length)) continue;
    accept(search, sum_of_squares(search->trial_r, problem->residuals), 1);
    return true;
  }
  return false;
}

/* One iteration: tries points with increasing damping until one is better. true: no further improvement is possible. */
static bool iterate(Minimization *search) {
  const LeastSquares *problem = search->problem;
  if (problem->is_long && take_newton_step(search)) return false;
  for (;;) {
    bool is_solved = solve_step(search, search->r, search->damping, search->step);
    if (!is_solved && search->damping > MOST_DAMPING) return true;
    double distance = is_solved ? go(search) : INFINITY, expected = is_solved ? predicted(search) : 0;
    if (is_solved && (distance <= SMALL_STEP || search->squares == 0)) return true;
    bool is_close_now = is_solved && search->damping <= 1e-3 && is_close(search, expected), has_values = false;
    double squares = INFINITY;
    if (is_solved && evaluate(search, search->trial, search->trial_r, NULL)) {
      squares = sum_of_squares(search->trial_r, problem->residuals);
      has_values = isfinite(squares);
    }
    double gain = search->squares - expected;
    if (has_values && squares < search->squares) {
      accept(search, squares, gain > 0 ? (search->squares - squares) / gain : 0.5);
      return is_close_now;
    }
    if (is_close_now || search->damping > MOST_DAMPING) return true;
    search->damping *= search->growth;
    search->growth *= 2;
  }
}

LeastSquaresResult least_squares(const LeastSquares *problem, double *p, Arena *arena) {
  size_t n = problem->parameters, m = problem->residuals;
  Minimization search = {.problem = problem, .p = p, .before = INFINITY, .damping = FIRST_DAMPING, .growth = 2};
  double **vectors[] = {&search.trial, &search.step, &search.norm, &search.r, &search.trial_r, &search.right};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) *vectors[k] = arena_array(arena, m + n, sizeof(double));
  search.jacobian = arena_array(arena, m * n, sizeof(double));
  search.matrix = arena_array(arena, (m + n) * n, sizeof(double));
  search.is_bound = arena_array(arena, n, sizeof(bool));
  search.newton = arena_array(arena, 2 * n, sizeof(double));
  search.work_length = n + 64 * (m + n); /* about the size that LAPACK prefers */
  search.work = arena_array(arena, search.work_length, sizeof(double));
  blas_expect_room(arena->heap);
  LeastSquaresResult result = {
      .status = LEAST_SQUARES_ENDLESS, .r = search.r, .jacobian = search.jacobian, .is_bound = search.is_bound};
  bool is_over = false;
  for (; result.iterations <= problem->most_iterations; result.iterations++) {
    if (!evaluate(&search, p, search.r, search.jacobian)) {
      result.status = LEAST_SQUARES_UNDEFINED;
      return result;
    }
    search.squares = sum_of_squares(search.r, problem->residuals);
    look_at_columns(&search);
    /* the errors of runs are at least their tolerance; once the residuals are that small, continue only while they decrease fast */
    search.is_slow = problem->zero > 0 && search.squares > search.before / 4;
    search.before = search.squares;
    is_over = is_over || is_zero(&search, problem->zero / 100) || (search.is_slow && is_zero(&search, problem->zero));
    if (is_over) result.status = LEAST_SQUARES_CONVERGED;
    if (is_over || result.iterations == problem->most_iterations) break;
    is_over = iterate(&search);
  }
  result.squares = search.squares;
  return result;
}

/* ---- identification ---- */

/* The columns of free parameters, each divided by its norm, which is stored in `norm`; a zero column stays zero. */
static double *scaled_columns(const double *jacobian, uint32_t residuals, const uint32_t *free, uint32_t count,
                              double *norm, Arena *arena) {
  double *matrix = arena_array(arena, (size_t)residuals * count, sizeof *matrix);
  for (uint32_t k = 0; k < count; k++) {
    const double *from = jacobian + (size_t)free[k] * residuals;
    norm[k] = sqrt(sum_of_squares(from, residuals));
    for (uint32_t i = 0; i < residuals && norm[k] > 0; i++) matrix[(size_t)k * residuals + i] = from[i] / norm[k];
    if (norm[k] == 0) norm[k] = 1;
  }
  return matrix;
}

/* Computes the covariance from V of the singular value decomposition: S V s^-2 V' S with S = 1 / norm. */
static void fill_covariance(Identification *found, uint32_t parameters, const uint32_t *free, const double *norm,
                            const double *vt) {
  uint32_t count = found->free;
  for (uint32_t a = 0; a < count; a++)
    for (uint32_t b = 0; b < count; b++) {
      double sum = 0;
      bool is_open = false;
      for (uint32_t s = 0; s < count; s++) {
        double va = vt[(size_t)a * count + s], vb = vt[(size_t)b * count + s];
        if (s < found->rank) sum += va * vb / (found->singular[s] * found->singular[s]);
        else is_open |= fabs(va) > 1e-6 || fabs(vb) > 1e-6;
      }
      found->covariance[(size_t)free[a] * parameters + free[b]] = is_open ? NAN : sum / (norm[a] * norm[b]);
    }
}

static void fill_directions(Identification *found, uint32_t parameters, const uint32_t *free, const double *norm,
                            const double *vt) {
  uint32_t count = found->free;
  for (uint32_t s = found->rank; s < count; s++) {
    double *direction = found->directions + (size_t)(s - found->rank) * parameters, largest = 0;
    for (uint32_t k = 0; k < count; k++) {
      direction[free[k]] = vt[(size_t)k * count + s] / norm[k];
      if (fabs(direction[free[k]]) > fabs(largest)) largest = direction[free[k]];
    }
    for (uint32_t k = 0; k < count; k++) direction[free[k]] /= largest;
  }
}

/* Computes the singular values and V' of a matrix, and overwrites the matrix. */
static void decompose(double *matrix, uint32_t rows, uint32_t columns, double *values, double *vt, Arena *arena) {
  lapack_int m = (lapack_int)rows, n = (lapack_int)columns, one = 1, length, info;
  char none = 'N', all = 'A';
  length = 64 * (m + n) + 5 * (m > n ? m : n);
  double *work = arena_array(arena, (size_t)length, sizeof *work), nothing;
  blas_expect_room(arena->heap);
  LAPACK_dgesvd(&none, &all, &m, &n, matrix, &m, values, &nothing, &one, vt, &n, work, &length, &info);
}

Identification identify(const double *jacobian, uint32_t residuals, uint32_t parameters, const bool *held,
                        double tolerance, Arena *arena) {
  Identification found = {0};
  uint32_t *free = arena_array(arena, parameters, sizeof *free);
  for (uint32_t k = 0; k < parameters; k++)
    if (!held[k]) free[found.free++] = k;
  uint32_t n = found.free, values = n < residuals ? n : residuals;
  double *norm = arena_array(arena, n, sizeof *norm), *vt = arena_array(arena, (size_t)n * n, sizeof *vt);
  found.covariance = arena_array(arena, (size_t)parameters * parameters, sizeof *found.covariance);
  for (uint32_t k = 0; k < parameters * parameters; k++) found.covariance[k] = NAN;
  found.singular = arena_array(arena, n, sizeof *found.singular);
  double *matrix = scaled_columns(jacobian, residuals, free, n, norm, arena);
  if (!n) return found;
  decompose(matrix, residuals, n, found.singular, vt, arena);
  while (found.rank < values && found.singular[found.rank] > tolerance * found.singular[0]) found.rank++;
  found.directions = arena_array(arena, (size_t)parameters * (n - found.rank), sizeof *found.directions);
  fill_covariance(&found, parameters, free, norm, vt);
  fill_directions(&found, parameters, free, norm, vt);
  return found;
}
