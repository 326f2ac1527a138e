/* propagation: see propagation.h. The index is defined by the chain of projectors E_(k+1) = E_k + A_k Q_k, A_(k+1) = A_k P_k with
 * Q_k onto the kernel of E_k (März 1992), which ends with the first regular E_k. Invariant: matrices are square, of `count`, by
 * columns. */
#include "init/propagation.h"

#include "reduce/dense.h"

#include <math.h>
#include <string.h>

enum { LARGEST = 400 /* components */ };

static const double RANK_TOLERANCE = 1e-10; /* rank tolerance of singular values of rows and columns scaled to 1 */
static const double NOTHING = 1e-7;         /* smaller entries of N^k Pi count as zero */

const char *const propagation_names[PROPAGATION_METHODS] = {[PROPAGATION_EULER] = "implicit Euler",
                                                            [PROPAGATION_TRAPEZOIDAL] = "trapezoidal rule",
                                                            [PROPAGATION_RADAU] = "Radau IIA",
                                                            [PROPAGATION_BDF] = "BDF"};

/* ---- methods ---- */

/* A series in w = N/h. */
typedef struct Series {
  double at[PROPAGATION_LEVELS];
} Series;

static Series series_multiply(const Series *a, const Series *b) {
  Series product = {0};
  for (int i = 0; i < PROPAGATION_LEVELS; i++)
    for (int k = 0; k + i < PROPAGATION_LEVELS; k++) product.at[i + k] += a->at[i] * b->at[k];
  return product;
}

/* a / b; b.at[0] must not be 0. */
static Series series_divide(const Series *a, const Series *b) {
  Series quotient = {0};
  for (int i = 0; i < PROPAGATION_LEVELS; i++) {
    double sum = a->at[i];
    for (int k = 1; k <= i; k++) sum -= b->at[k] * quotient.at[i - k];
    quotient.at[i] = sum / b->at[0];
  }
  return quotient;
}

/* A stability function P(z)/Q(z) with z = -1/w; P and Q are both multiplied by w^3. */
static Series stability(const double p[4], const double q[4]) {
  Series above = {0}, below = {0};
  for (int k = 0; k < 4; k++) {
    above.at[3 - k] = (k % 2 ? -1 : 1) * p[k];
    below.at[3 - k] = (k % 2 ? -1 : 1) * q[k];
  }
  while (below.at[0] == 0)
    for (int k = 0; k < PROPAGATION_LEVELS; k++) {
      above.at[k] = k + 1 < PROPAGATION_LEVELS ? above.at[k + 1] : 0;
      below.at[k] = k + 1 < PROPAGATION_LEVELS ? below.at[k + 1] : 0;
    }
  return series_divide(&above, &below);
}

/* Steps of one stability function. */
static void step_alike(Series each, double factor[PROPAGATION_STEPS][PROPAGATION_LEVELS]) {
  Series power = each;
  for (int step = 0; step < PROPAGATION_STEPS; step++) {
    memcpy(factor[step], power.at, sizeof power.at);
    power = series_multiply(&power, &each);
  }
}

/* Order 1, 2, 3: (1 + a_0 w) d_n = -w (a_1 d_(n-1) + ... + a_k d_(n-k)) for h d' = a_0 d_n + ... */
static void step_by_differences(double factor[PROPAGATION_STEPS][PROPAGATION_LEVELS]) {
  static const double weight[PROPAGATION_STEPS][PROPAGATION_STEPS + 1] = {
      {1, -1}, {3.0 / 2, -2, 1.0 / 2}, {11.0 / 6, -3, 3.0 / 2, -1.0 / 3}};
  Series error[PROPAGATION_STEPS + 1] = {{{1}}};
  for (int step = 0; step < PROPAGATION_STEPS; step++) {
    Series right = {0}, left = {{1, weight[step][0]}};
    for (int back = 1; back <= step + 1; back++)
      for (int k = 1; k < PROPAGATION_LEVELS; k++) right.at[k] -= weight[step][back] * error[step + 1 - back].at[k - 1];
    error[step + 1] = series_divide(&right, &left);
    memcpy(factor[step], error[step + 1].at, sizeof right.at);
  }
}

static void find_factors(Propagation *propagation) {
  static const double euler_p[4] = {1}, euler_q[4] = {1, -1};
  static const double rule_p[4] = {1, 0.5}, rule_q[4] = {1, -0.5};
  static const double radau_p[4] = {1, 2.0 / 5, 1.0 / 20}, radau_q[4] = {1, -3.0 / 5, 3.0 / 20, -1.0 / 60};
  step_alike(stability(euler_p, euler_q), propagation->factor[PROPAGATION_EULER]);
  step_alike(stability(rule_p, rule_q), propagation->factor[PROPAGATION_TRAPEZOIDAL]);
  step_alike(stability(radau_p, radau_q), propagation->factor[PROPAGATION_RADAU]);
  step_by_differences(propagation->factor[PROPAGATION_BDF]);
}

/* ---- the pencil ---- */

typedef struct Pencil {
  Arena *arena;
  uint32_t n;
  double *e, *a;
} Pencil;

static double *matrix_new(const Pencil *pencil) {
  return arena_array(pencil->arena, (size_t)pencil->n * pencil->n, sizeof(double));
}

static double *product(const Pencil *pencil, const double *a, const double *b) {
  size_t n = pencil->n;
  double *c = matrix_new(pencil);
  for (size_t j = 0; j < n; j++)
    for (size_t k = 0; k < n; k++)
      if (b[k + j * n] != 0)
        for (size_t i = 0; i < n; i++) c[i + j * n] += a[i + k * n] * b[k + j * n];
  return c;
}

static Svd decompose(const Pencil *pencil, const double *a) {
  double *copy = arena_copy_array(pencil->arena, a, (size_t)pencil->n * pencil->n, sizeof *copy);
  return dense_svd(copy, (int32_t)pencil->n, (int32_t)pencil->n, RANK_TOLERANCE, pencil->arena);
}

/* a^-1 b. */
static double *solve(const Pencil *pencil, const double *a, const double *b) {
  Svd svd = decompose(pencil, a);
  size_t n = pencil->n;
  double *inverse = matrix_new(pencil);
  for (size_t k = 0; k < n; k++)
    for (size_t j = 0; j < n; j++)
      for (size_t i = 0; i < n; i++) inverse[i + j * n] += svd.vt[k + i * n] / svd.s[k] * svd.u[j + k * n];
  return product(pencil, inverse, b);
}

/* The equations as given. */
static const Expr *given_rows(const Problem *problem) {
  return problem->written ? problem->written : problem->residual;
}

/* Per unknown: how many of its columns belong to x, those below its highest derivative. */
static uint32_t *count_orders(const Array *array, Arena *arena) {
  const Problem *problem = array->problem;
  uint32_t *first = arena_array(arena, problem->unknowns, sizeof *first);
  ExprVec leaves = {0};
  for (uint32_t i = 0; i < problem->equations; i++)
    dag_variables(array->dag, dag_scratch(array->dag), given_rows(problem)[i], &leaves);
  for (uint32_t j = 0; j < problem->unknowns; j++) first[j] = 1;
  for (uint32_t k = 0; k < leaves.count; k++) {
    uint32_t j = problem->local[dag_index(array->dag, leaves.data[k])], order = dag_order(array->dag, leaves.data[k]);
    if (order > first[j]) first[j] = order;
  }
  vec_free(arena->heap, &leaves);
  return first;
}

/* The derivatives of the given equations with respect to all columns of the array; NULL: they are not defined there. */
static const Jacobian *find_entries(Evaluator *evaluator, double t, const double *y, Arena *arena, double **values) {
  const Array *array = evaluator->array;
  Heap *heap = arena->heap;
  uint32_t *all = arena_array(arena, array->columns, sizeof *all);
  for (uint32_t q = 0; q < array->columns; q++) all[q] = q;
  const Jacobian *jacobian = jacobian_new(heap, evaluator_model(evaluator), &evaluator->code->layout,
                                          given_rows(array->problem), array->problem->equations, all, array->columns);
  *values = arena_array(arena, jacobian->nonzeros, sizeof **values);
  Point point = evaluator_point(evaluator, t, y);
  return workspace_run(workspace_new(heap, jacobian->program), &point, *values) == EVAL_OK ? jacobian : NULL;
}

/* Scales rows to a largest entry of 1. */
static void scale_rows(const Pencil *pencil) {
  size_t n = pencil->n;
  for (size_t i = 0; i < n; i++) {
    double largest = 0;
    for (size_t j = 0; j < n; j++)
      largest = fmax(largest, fmax(fabs(pencil->e[i + j * n]), fabs(pencil->a[i + j * n])));
    for (size_t j = 0; j < n && largest > 0; j++) pencil->e[i + j * n] /= largest, pencil->a[i + j * n] /= largest;
  }
}

/* E and A of the equations, then of x_k' = x_(k+1) for unknowns of higher order; columns in nominal values. */
static bool fill_pencil(Evaluator *evaluator, double t, const double *y, Pencil *pencil, Propagation *propagation) {
  const Array *array = evaluator->array;
  const double *nominal = evaluator->nominal;
  uint32_t *first = count_orders(array, pencil->arena), n = 0, row = array->problem->equations;
  uint32_t *place = arena_array(pencil->arena, array->columns, sizeof *place);
  double *values;
  propagation->column = arena_array(pencil->arena, array->columns, sizeof(uint32_t));
  for (uint32_t q = 0; q < array->columns; q++)
    if (array_order(array, q) < first[array->column_unknown[q]]) propagation->column[place[q] = n++] = q;
  propagation->count = pencil->n = n;
  const Jacobian *jacobian = n > LARGEST ? NULL : find_entries(evaluator, t, y, pencil->arena, &values);
  if (!jacobian) return false;
  pencil->e = matrix_new(pencil);
  pencil->a = matrix_new(pencil);
  for (uint32_t q = 0; q < array->columns; q++) {
    uint32_t highest = first[array->column_unknown[q]], order = array_order(array, q);
    if (order > highest) continue;
    uint32_t column = place[order == highest ? q - 1 : q];
    double *part = (order == highest ? pencil->e : pencil->a) + (size_t)column * n;
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++)
      if (row <= n) part[jacobian->row_index[e]] = values[e] * nominal[propagation->column[column]];
    if (order + 1 >= highest || row >= n) continue;
    pencil->e[row + (size_t)place[q] * n] = nominal[q];
    pencil->a[row++ + (size_t)place[q + 1] * n] = -nominal[q + 1];
  }
  scale_rows(pencil);
  return row == n;
}

/* The index by the chain of projectors, and the dimension of the part with finite eigenvalues. false: the pencil is singular, or its index too high. */
static bool find_index(const Pencil *pencil, uint32_t *index, uint32_t *finite) {
  size_t n = pencil->n;
  const double *e = pencil->e, *a = pencil->a;
  *finite = pencil->n;
  for (*index = 0; *index < PROPAGATION_LEVELS; ++*index) {
    Svd svd = decompose(pencil, e);
    uint32_t null = pencil->n - (uint32_t)svd.rank;
    if (!null) return true;
    if (null > *finite) return false;
    *finite -= null;
    double *onto = matrix_new(pencil), *next = arena_copy_array(pencil->arena, e, n * n, sizeof *next);
    for (size_t k = (size_t)svd.rank; k < n; k++)
      for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) onto[i + j * n] += svd.vt[k + i * n] * svd.vt[k + j * n];
    const double *moved = product(pencil, a, onto);
    double *rest = arena_copy_array(pencil->arena, a, n * n, sizeof *rest);
    for (size_t k = 0; k < n * n; k++) next[k] += moved[k], rest[k] -= moved[k];
    e = next;
    a = rest;
  }
  return false;
}

/* K = (s E + A)^-1 E, with the s that makes the factor best conditioned. */
static double *find_shifted_operator(const Pencil *pencil, double *shift) {
  static const double shifts[] = {1, -1, 0.3, -3, 30, -0.03};
  size_t n = pencil->n;
  double best = 0, *sum = matrix_new(pencil);
  for (size_t k = 0; k < sizeof shifts / sizeof *shifts; k++) {
    for (size_t e = 0; e < n * n; e++) sum[e] = shifts[k] * pencil->e[e] + pencil->a[e];
    Svd svd = decompose(pencil, sum);
    if (svd.s[n - 1] > best * svd.s[0]) best = svd.s[n - 1] / svd.s[0], *shift = shifts[k];
  }
  for (size_t e = 0; e < n * n; e++) sum[e] = *shift * pencil->e[e] + pencil->a[e];
  return best > 0 ? solve(pencil, sum, pencil->e) : NULL;
}

/* The projector along the part with finite eigenvalues: K^index has the range and the kernel of both parts. */
static double *infinite_projector(const Pencil *pencil, const double *shifted, uint32_t index, uint32_t finite) {
  size_t n = pencil->n;
  double *projector = matrix_new(pencil);
  for (size_t i = 0; i < n; i++) projector[i + i * n] = 1;
  if (!finite) return projector;
  double *power = projector;
  for (uint32_t k = 0; k < index; k++) power = product(pencil, power, shifted);
  Svd svd = decompose(pencil, power);
  /* Pi_0 = U (V^T U)^-1 V^T with the first columns of U and V. */
  Pencil small = {.arena = pencil->arena, .n = finite};
  double *inner = matrix_new(&small), *right = matrix_new(&small);
  for (size_t i = 0; i < finite; i++) {
    right[i + i * finite] = 1;
    for (size_t j = 0; j < finite; j++)
      for (size_t k = 0; k < n; k++) inner[i + j * finite] += svd.vt[i + k * n] * svd.u[k + j * n];
  }
  double *inverse = solve(&small, inner, right);
  double *result = matrix_new(pencil);
  for (size_t i = 0; i < n; i++) result[i + i * n] = 1;
  for (size_t p = 0; p < finite; p++)
    for (size_t q = 0; q < finite; q++)
      for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
          result[i + j * n] -= svd.u[i + p * n] * inverse[p + q * finite] * svd.vt[q + j * n];
  return result;
}

/* N^k Pi_infinite: with M = K Pi, N = M + s M^2 + s^2 M^3 + ... */
static void fill_parts(const Pencil *pencil, const double *shifted, const double *projector, double shift,
                       Propagation *propagation) {
  size_t n = pencil->n;
  const double *m = product(pencil, shifted, projector), *power = m;
  double *nilpotent = matrix_new(pencil), factor = 1;
  for (uint32_t k = 1; k < propagation->index; k++) {
    for (size_t e = 0; e < n * n; e++) nilpotent[e] += factor * power[e];
    power = product(pencil, power, m);
    factor *= shift;
  }
  propagation->part = arena_array(pencil->arena, n * n * propagation->index + 1, sizeof(double));
  const double *part = projector;
  for (uint32_t k = 0; k < propagation->index; k++) {
    memcpy(propagation->part + k * n * n, part, n * n * sizeof *part);
    part = product(pencil, nilpotent, part);
  }
}

Propagation propagation_find(Evaluator *evaluator, double t, const double *y, Arena *arena) {
  Propagation propagation = {0};
  Pencil pencil = {.arena = arena};
  uint32_t finite = 0;
  double shift = 0, *shifted = NULL;
  find_factors(&propagation);
  if (!fill_pencil(evaluator, t, y, &pencil, &propagation))
    propagation.failure = pencil.n > LARGEST ? "too many variables" : "not as many equations as variables";
  else if (!find_index(&pencil, &propagation.index, &finite) || !(shifted = find_shifted_operator(&pencil, &shift)))
    propagation.failure = "the equations, linearized at the start, have no index";
  else
    fill_parts(&pencil, shifted, infinite_projector(&pencil, shifted, propagation.index, finite), shift, &propagation);
  return propagation;
}

int propagation_power(const Propagation *propagation, PropagationMethod method, int step, uint32_t i, uint32_t j) {
  size_t n = propagation->count;
  for (int k = (int)propagation->index; k-- > 0;)
    if (fabs(propagation->factor[method][step][k]) > NOTHING &&
        fabs(propagation->part[i + (j + (size_t)k * n) * n]) > NOTHING)
      return k;
  return -1;
}
