/* radau: Radau IIA of orders 5, 9 and 13 with order control, on G(t, y) = 0 with links y[from]' = y[to].
 *
 * The unknowns of the stages are the columns that are not states. The states follow from them by the method itself, Y_from = y_from
 * + h A Y_to. So the links hold exactly, nothing cancels, and each linear system has only as many rows as G. With mu an eigenvalue
 * of A, the matrix's column for u is the sum of (h mu)^k times the Jacobian's column k links before u. Newton's method, step and
 * order control follow Hairer and Wanner, Solving Ordinary Differential Equations II, section IV.8, and "Stiff differential
 * equations solved by Radau methods" (1999); the weights by index follow section VII.7. */
#include "base/copy.h"
#include "core/constants.h"
#include "integrate/contract.h"
#include "integrate/stages.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
  SMAX = RADAU_STAGES_MAX,
};

static const double factorials[SMAX + 1] = {1, 1, 2, 6, 24, 120, 720, 5040};

typedef enum NewtonStatus {
  NEWTON_CONVERGED,
  NEWTON_SLOW, /* the iteration is slow or diverges: *factor is how to change the step */
  NEWTON_DOMAIN,
  NEWTON_STOP,
} NewtonStatus;

typedef struct Radau {
  Heap *heap;
  const System *system;
  double relative, absolute, max_step;
  bool fixed_step;
  const RadauCoefficients *method; /* in use */
  int lowest, highest;             /* indices into radau_methods */
  double inner[RADAU_METHODS];     /* tolerance of the error estimate */
  double goal[RADAU_METHODS];      /* goal of Newton's method, relative to `inner` */

  Stages *stages; /* the linear equations of Newton's method */
  int32_t *error_columns, *newton_columns, *followed, *algebraic;
  int32_t error_count, newton_count, followed_count, algebraic_count;
  bool *spare;   /* [columns] these follow from others, and have no effect on rates at the point of the Jacobian */
  bool *lenient; /* [columns] have a small weight in Newton's method */

  double *jacobian;
  double jacobian_time; /* time at which the Jacobian was computed; NAN: there is none */
  /* the Jacobian belongs to a point predicted for this step, where the equations may be arbitrarily steep */
  bool is_foreseen;

  double t, h_next;           /* h_next 0: the size of the first step must be found */
  double span, longest_first; /* the span for which a first step is found; its largest size */
  double *y;                  /* all columns at t */
  double *stage[SMAX];        /* all columns */
  double *residual[SMAX];     /* all rows */
  double *solution;           /* remaining rows */
  double *weight;             /* [columns] reciprocal error scales; 0 for columns that are not measured */
  double *estimate, *work;    /* [columns] */
  double *earlier;            /* [columns] the estimate of the iteration before */
  double *defect; /* [columns] for states: h times the difference between the rate at the start and the slope of the
                               * stages' polynomial there; otherwise 0 */

  /* The last step, for continuous output and starting values. */
  const RadauCoefficients *last_method;
  double last_t, last_h; /* last_h 0: there was no step */
  bool is_repeated;      /* the next step begins where the last one did */
  double passed_h; /* size of the step that contains the start, if the solution has at most a kink there; otherwise 0 */
  double *last_defect;    /* [columns] */
  double *last[SMAX + 1]; /* all columns at the nodes 0, c[0], ..., c[s-1] */

  double theta, convergence;            /* contraction of the last iteration; theta / (1 - theta), kept between steps */
  bool linear;                          /* dG/dy is constant */
  double accepted_step, accepted_error; /* for the predictive control; step 0: none */
  int iterations;                       /* iterations of the last Newton solve */
  int since_lower, since_change;        /* steps since the order was lowered; since it changed */
  double raw_error;                     /* error of the last step, before the filter */
  double shortest_followed;             /* time */
  bool rejected;
  bool failed;   /* Newton's method failed in this step */
  bool cautious; /* Newton's method failed in this step: the Jacobian and the starting values come from its start */
  IntegratorStatistics statistics;
} Radau;

/* ---- The choice of states ---- */

/* Columns in the error test: the states, and those that the view marks as columns of higher index. The Newton iteration is measured
 * on these and on purely algebraic columns, except spare ones. Algebraic columns that `complete` can make exact have a small
 * weight; rates count through their states. Algebraic columns have a separate test, see radau_gap. Columns from which output
 * is interpolated are tested between the stages, see radau_departure. */
static void radau_find_measured(Radau *radau, int32_t *mark) {
  const System *system = radau->system;
  memset(mark, 0, (size_t)system->columns * sizeof *mark);
  for (int32_t l = 0; l < system->links; l++) mark[system->link_to[l]] |= 1;
  for (int32_t l = 0; l < system->links; l++) mark[system->link_from[l]] |= 2;
  radau->error_count = radau->newton_count = radau->followed_count = radau->algebraic_count = 0;
  for (int32_t c = 0; c < system->columns; c++) {
    bool higher = system->column_index && system->column_index[c] > 1;
    bool is_spare = radau->spare[c];
    bool is_tested = mark[c] & 2 || higher, is_algebraic = !mark[c] && !is_spare;
    if (is_tested) radau->error_columns[radau->error_count++] = c;
    else if (is_algebraic) radau->algebraic[radau->algebraic_count++] = c;
    if (!higher && (is_tested || (is_algebraic && !system->complete))) radau->followed[radau->followed_count++] = c;
    if ((mark[c] != 1 && !(is_spare && system->links > 0)) || higher) radau->newton_columns[radau->newton_count++] = c;
    radau->lenient[c] = mark[c] == 0 && !higher && system->complete;
  }
}

/* Accepts the present links; `jacobian` is any Jacobian of the system, NULL: there is none. */
static void radau_choose(Radau *radau, const double *jacobian) {
  stages_choose(radau->stages, jacobian);
  radau_find_measured(radau, radau->stages->elimination->scratch);
}

/* ---- Tolerances ---- */

/* The error estimate is of order s, the solution of order 2s - 1. As in RADAU, the tolerance for the estimate is chosen so that the
 * solution has the requested accuracy. */
static void radau_set_tolerances(Radau *radau) {
  double tolerance = radau->relative > 0 ? radau->relative : radau->absolute;
  for (int k = 0; k < RADAU_METHODS; k++) {
    double s = radau_methods[k].stages, inner = GOOD_PART * pow(tolerance, (s + 1) / (2 * s));
    radau->inner[k] = inner;
    radau->goal[k] = fmax(10 * DBL_EPSILON / inner, fmin(SMALL_PART, pow(inner, (s - 1) / (s + 1))));
  }
}

/* ---- Creation ---- */

static int radau_order_index(int order) { return order >= 13 ? 2 : order >= 9 ? 1 : 0; }

static void *radau_create(Heap *heap, const System *system, const IntegratorOptions *options) {
  Radau *radau = heap_alloc(heap, sizeof *radau);
  size_t columns = (size_t)system->columns, rows = (size_t)system->rows;
  int32_t nonzeros = system->column_start[system->columns];
  radau->heap = heap;
  radau->system = system;
  radau->relative = options->relative_tolerance;
  radau->absolute = options->absolute_tolerance;
  radau->fixed_step = options->fixed_step;
  radau->max_step = options->max_step > 0 ? options->max_step : INFINITY;
  radau->highest = options->max_order > 0 ? radau_order_index(options->max_order) : RADAU_METHODS - 1;
  radau->lowest = options->min_order > 0 ? radau_order_index(options->min_order) : 0;
  if (radau->lowest > radau->highest) radau->lowest = radau->highest;
  radau_set_tolerances(radau);
  radau->linear = system->constant != NULL;
  for (int32_t e = 0; e < nonzeros && radau->linear; e++) radau->linear = system->constant[e];
  radau->error_columns = heap_array(heap, columns, sizeof(int32_t));
  radau->newton_columns = heap_array(heap, columns, sizeof(int32_t));
  radau->followed = heap_array(heap, columns, sizeof(int32_t));
  radau->algebraic = heap_array(heap, columns, sizeof(int32_t));
  radau->lenient = heap_array(heap, columns, sizeof(bool));
  radau->spare = heap_array(heap, columns, sizeof(bool));
  if (system->spare) memcpy(radau->spare, system->spare, columns * sizeof(bool));
  radau->jacobian = heap_array(heap, (size_t)nonzeros, sizeof(double));
  int stages = radau_methods[radau->highest].stages;
  radau->stages = stages_new(heap, system, stages);
  for (int i = 0; i < stages; i++) {
    radau->stage[i] = heap_array(heap, columns, sizeof(double));
    radau->residual[i] = heap_array(heap, rows, sizeof(double));
  }
  for (int i = 0; i <= stages; i++) radau->last[i] = heap_array(heap, columns, sizeof(double));
  radau->y = heap_array(heap, columns, sizeof(double));
  radau->solution = heap_array(heap, rows, sizeof(double));
  radau->weight = heap_array(heap, columns, sizeof(double));
  radau->estimate = heap_array(heap, columns, sizeof(double));
  radau->work = heap_array(heap, columns, sizeof(double));
  radau->earlier = heap_array(heap, columns, sizeof(double));
  radau->defect = heap_array(heap, columns, sizeof(double));
  radau->last_defect = heap_array(heap, columns, sizeof(double));
  return radau;
}

/* ---- Weights ---- */

static void radau_set_weights(Radau *radau, double h) {
  const System *system = radau->system;
  double tolerance = radau->relative > 0 ? radau->relative : radau->absolute;
  double ratio = radau->inner[radau->method - radau_methods] / tolerance;
  for (int32_t i = 0; i < radau->newton_count; i++) {
    int32_t c = radau->newton_columns[i];
    double scale = ratio * (radau->absolute * system->size[c] + radau->relative * fabs(radau->y[c]));
    radau->weight[c] = (radau->lenient[c] ? MINOR : 1) / scale;
    if (!system->column_index) continue;
    for (int32_t k = system->column_index[c]; k > 1; k--) radau->weight[c] *= h;
  }
}

static double radau_norm(const Radau *radau, const int32_t *columns, int32_t count, const double *vector) {
  double sum = 0;
  for (int32_t i = 0; i < count; i++) {
    double e = vector[columns[i]] * radau->weight[columns[i]];
    sum += e * e;
  }
  return sum;
}

/* ---- Linear algebra ---- */

/* Factors all matrices for this step size; false if one is singular. */
static bool radau_factor(Radau *radau, double h) {
  const Stages *stages = radau->stages;
  if (stages->factored_step != h || stages->factored_method != radau->method) radau->statistics.factorizations++;
  return stages_factor(radau->stages, radau->method, h);
}

/* Does the column have an effect only on spare ones, in the last Jacobian? */
static bool radau_is_spare(const Radau *radau, int32_t c) {
  const System *system = radau->system;
  for (int32_t e = system->column_start[c]; e < system->column_start[c + 1]; e++) {
    int32_t given = system->given_by[system->row_index[e]];
    if (radau->jacobian[e] != 0 && given != c && !(given >= 0 && radau->spare[given])) return false;
  }
  return true;
}

/* Finds the columns without an effect at the point of the Jacobian. No step must resolve them: in a branch that is not taken they may
 * pass through poles. */
static void radau_find_spare(Radau *radau, double h) {
  const System *system = radau->system;
  bool has_changed = false;
  for (int32_t k = 0; k < system->followers; k++) {
    int32_t c = system->follower[k];
    bool was_spare = radau->spare[c];
    radau->spare[c] = radau_is_spare(radau, c);
    has_changed = has_changed || radau->spare[c] != was_spare;
  }
  if (!has_changed) return;
  radau_find_measured(radau, radau->stages->elimination->scratch);
  radau_set_weights(radau, h > 0 ? h : 1);
}

/* Makes the Jacobian at the predicted stage nearest to the middle of the step, where it is closest to the Jacobians
 * of all stages. If that point cannot be evaluated, or `h` is 0, makes it at the start of the step. If the Jacobian is defined at
 * neither point, as for sqrt(max(x, 0)) at 0, the last Jacobian is used. */
static EvalStatus radau_new_jacobian(Radau *radau, double h) {
  const System *system = radau->system;
  int middle = radau->method->stages / 2;
  EvalStatus status = EVAL_DOMAIN;
  radau->stages->factored_step = 0;
  radau->is_foreseen = h > 0 && !radau->linear;
  if (h > 0) {
    double t = radau->t + radau->method->node[middle] * h;
    status = system->jacobian(system->context, t, radau->stage[middle], radau->jacobian);
  }
  if (status != EVAL_OK) status = system->jacobian(system->context, radau->t, radau->y, radau->jacobian);
  bool kept = status == EVAL_DOMAIN && radau->last_h > 0 && stages_are_chosen(radau->stages);
  radau->jacobian_time = status == EVAL_OK || kept ? radau->t : NAN;
  if (kept) return EVAL_OK;
  if (status == EVAL_OK && !stages_are_chosen(radau->stages)) radau_choose(radau, radau->jacobian);
  else if (status == EVAL_OK) stages_take_jacobian(radau->stages, radau->jacobian);
  if (status == EVAL_OK) radau_find_spare(radau, h);
  return status;
}

/* ---- Stages ---- */

/* All columns at x, in units of the last step. */
static void radau_continue(const Radau *radau, const Continuation *continuation, double x, double *y) {
  double weight[SMAX + 1];
  int count = radau_continuation_weights(continuation, x, weight);
  set_to_sum(y, (const double *const *)radau->last + continuation->first, weight, count, radau->system->columns);
}

/* Lists the vectors of the last step whose weighted sum is a point inside it, and their weights: all columns at its start and its
 * stages. For states there is one more term: with it, the slope of the collocation polynomial is correct at the start, and the
 * order is higher by one. Returns their number. */
static int radau_list_vectors(const Radau *radau, double x, const double **vectors, double *weight) {
  int count = radau->last_method->stages + 1;
  for (int j = 0; j < count; j++) vectors[j] = radau->last[j];
  vectors[count] = radau->last_defect;
  radau_output_weights(radau->last_method, x, weight);
  return count + 1;
}

/* All columns at x, in units of the last step. */
static void radau_interpolate_all(const Radau *radau, double x, double *y) {
  const double *vectors[RADAU_WEIGHTS];
  double weight[RADAU_WEIGHTS];
  int count = radau_list_vectors(radau, x, vectors, weight);
  set_to_sum(y, vectors, weight, count, radau->system->columns);
}

/* After an event with at most a kink in the solution: predicts along the polynomials of the step that contained it. */
static void radau_predict_behind(Radau *radau, double h) {
  double begin = (radau->t - radau->last_t) / radau->passed_h, ratio = h / radau->passed_h;
  int32_t columns = radau->system->columns;
  Continuation continuation =
      radau_continue_from(radau->last_method, radau_first_point(radau->last_method, fmax(begin + ratio - 1, 0)));
  radau_continue(radau, &continuation, begin, radau->work);
  for (int32_t c = 0; c < columns; c++) radau->work[c] = radau->y[c] - radau->work[c];
  for (int i = 0; i < radau->method->stages; i++) {
    radau_continue(radau, &continuation, begin + radau->method->node[i] * ratio, radau->stage[i]);
    add_multiple(radau->stage[i], radau->work, 1, columns);
  }
}

/* Starting values. Normally they continue the polynomials of the last step; after a failure of Newton's method, only the
 * end of these polynomials. A repeated step lies inside the polynomials of the last one; after a failure its starting
 * values are constant. */
static void radau_predict(Radau *radau, double h) {
  const RadauCoefficients *method = radau->method;
  size_t size = (size_t)radau->system->columns * sizeof(double);
  double ratio = h / radau->last_h;
  if (radau->passed_h > 0 && !radau->failed) {
    radau_predict_behind(radau, h);
  } else if (radau->last_h == 0 || (radau->is_repeated && radau->cautious)) {
    for (int i = 0; i < method->stages; i++) memcpy(radau->stage[i], radau->y, size);
  } else if (radau->is_repeated) {
    for (int i = 0; i < method->stages; i++) radau_interpolate_all(radau, method->node[i] * ratio, radau->stage[i]);
  } else {
    int first = radau->cautious ? radau->last_method->stages - 1 : radau_first_point(radau->last_method, ratio);
    Continuation continuation = radau_continue_from(radau->last_method, first);
    for (int i = 0; i < method->stages; i++)
      radau_continue(radau, &continuation, 1 + method->node[i] * ratio, radau->stage[i]);
  }
  const Elimination *elimination = radau->stages->elimination;
  radau_follow_links(method, h, elimination->from, elimination->to, radau->system->links, radau->y, radau->stage);
}

static EvalStatus radau_evaluate(Radau *radau, double h) {
  const System *system = radau->system;
  EvalStatus status = EVAL_OK;
  double t[SMAX];
  int s = radau->method->stages;
  for (int i = 0; i < s; i++) t[i] = radau->t + radau->method->node[i] * h;
  if (system->residuals) return system->residuals(system->context, (uint32_t)s, t, radau->stage, radau->residual);
  for (int i = 0; i < s && status == EVAL_OK; i++)
    status = system->residual(system->context, t[i], radau->stage[i], radau->residual[i]);
  return status;
}

/* ---- Error ---- */

static double radau_error_norm(const Radau *radau) {
  double sum = radau_norm(radau, radau->error_columns, radau->error_count, radau->estimate);
  double norm = sqrt(sum / fmax(radau->error_count, 1));
  return norm < VANISHED ? VANISHED : norm; /* fmax would accept a NAN as a good step */
}

/* Estimates of h^k / k! times the k-th derivative of a column over its tolerance, for k = s, s - 1, s - 2. They are divided
 * differences over the start of the step and the stages: over all points, without the first one, without the first two. */
static void radau_derivatives(const Radau *radau, int32_t c, double *derivative) {
  const RadauCoefficients *method = radau->method;
  double scale = radau->absolute * radau->system->size[c] + radau->relative * fabs(radau->y[c]);
  derivative[0] = method->barycentric[0] * radau->y[c];
  derivative[1] = derivative[2] = 0;
  for (int i = 0; i < method->stages; i++) {
    double part = method->barycentric[i + 1] * radau->stage[i][c];
    derivative[0] += part;
    derivative[1] += part *= method->node[i];
    derivative[2] += part * (method->node[i] - method->node[0]);
  }
  for (int k = 0; k < 3; k++) derivative[k] /= scale;
}

/* The distance of algebraic columns at the start of the step from the polynomial through the stages. Errors of states that the
 * filter considers harmless can be large in columns that depend on them, as after an amplifier. If there are no states, nothing
 * else shows whether the step resolves the solution, or ended on another branch. */
static double radau_gap(const Radau *radau) {
  const RadauCoefficients *method = radau->method;
  const double *vectors[SMAX + 1] = {radau->y};
  double weight[SMAX + 1] = {1}, sum = 0, *gap = radau->work;
  for (int i = 0; i < method->stages; i++) vectors[i + 1] = radau->stage[i], weight[i + 1] = -method->at_zero[i];
  set_to_sum(gap, vectors, weight, method->stages + 1, radau->system->columns);
  for (int32_t a = 0; a < radau->algebraic_count; a++) {
    int32_t c = radau->algebraic[a];
    double e = gap[c] * radau->weight[c] / (radau->lenient[c] ? MINOR : 1);
    sum += e * e;
  }
  return NEGLIGIBLE * sqrt(sum / fmax(radau->algebraic_count, 1));
}

/* The deviation of the solution from the polynomial of the step between its points, relative to the largest allowed. If the
 * solution follows an input, the end of a step is exact for any size, and the error test does not see the inside of the step.
 * Derivatives grow geometrically; two consecutive ones are never both near zero by chance. */
static double radau_departure(const Radau *radau) {
  double squares[3] = {0}, derivative[3];
  for (int32_t a = 0; a < radau->followed_count; a++) {
    radau_derivatives(radau, radau->followed[a], derivative);
    for (int k = 0; k < 3; k++) squares[k] += derivative[k] * derivative[k];
  }
  for (int k = 0; k < 3; k++) {
    double factorial = factorials[radau->method->stages - k];
    squares[k] *= factorial * factorial;
  }
  double growth = fmin(1, (squares[0] + squares[1]) / fmax(squares[1] + squares[2], DBL_MIN));
  double next = sqrt(growth * (squares[0] + growth * squares[1]) / fmax(radau->followed_count, 1));
  return next * radau->method->bulge / DEFECT_HARMLESS;
}

static double radau_states_norm(const Radau *radau, const double *vector) {
  double sum = radau_norm(radau, radau->stages->elimination->from, radau->system->links, vector);
  return sqrt(sum / fmax(radau->system->links, 1));
}

/* If the filter removes most of the defect, the continuous output uses the filtered defect. In a stiff step, the solution has the
 * slope at the start only for a very short time, and that slope would spoil the whole polynomial. */
static void radau_filter_defect(Radau *radau) {
  if (radau_states_norm(radau, radau->estimate) > EARLY * radau->raw_error) return;
  for (int32_t l = 0; l < radau->system->links; l++) {
    int32_t from = radau->stages->elimination->from[l];
    radau->defect[from] = radau->estimate[from] / radau->method->mu_real;
  }
}

/* The embedded formula of section IV.8, in closed form: compares the rate at the start of the step with the value there of the
 * polynomial through the stages' rates. */
static void radau_find_defect(Radau *radau, double h) {
  const RadauCoefficients *method = radau->method;
  const Elimination *elimination = radau->stages->elimination;
  memset(radau->defect, 0, (size_t)radau->system->columns * sizeof(double));
  for (int32_t l = 0; l < radau->system->links; l++) {
    int32_t from = elimination->from[l], to = elimination->to[l];
    double extrapolated = 0;
    for (int i = 0; i < method->stages; i++) extrapolated += method->at_zero[i] * radau->stage[i][to];
    radau->defect[from] = h * (radau->y[to] - extrapolated);
    radau->estimate[from] = method->mu_real * radau->defect[from];
  }
  radau->raw_error = fmax(radau_states_norm(radau, radau->estimate), VANISHED);
}

/* If a method leaves a high index, first steps and those after rejected ones are filtered twice, because no step would be small
 * enough. In other cases that would hide the places at which a limit of the solution begins or ends, as in a circuit with a
 * diode. */
static double radau_error(Radau *radau, double h) {
  double step = h * radau->method->mu_real;
  radau_find_defect(radau, h);
  stages_filter(radau->stages, step, radau->estimate);
  radau_filter_defect(radau);
  double error = radau_error_norm(radau);
  if (error < 1 || !radau->system->column_index || !(radau->rejected || radau->last_h == 0)) return error;
  stages_filter(radau->stages, step, radau->estimate);
  return radau_error_norm(radau);
}

/* Across a bend of the equations the solution is no more accurate than the estimate, so the estimate must meet the requested
 * tolerance. */
static double radau_bend(const Radau *radau, double t) {
  const System *system = radau->system;
  double tolerance = radau->relative > 0 ? radau->relative : radau->absolute;
  double looser = radau->inner[radau->method - radau_methods] / tolerance;
  if (looser <= 1 || !system->bends) return 1;
  return system->bends(system->context, radau->t, radau->y, t, radau->stage[radau->method->stages - 1]) ? looser : 1;
}

/* The error of the step in tolerances; if it is 1 or more, the step must be smaller. *is_unresolved: columns outside the
 * error test of the states also require a smaller step. */
static double radau_measure(Radau *radau, double h, double bend, bool *is_unresolved) {
  double error = radau_error(radau, h) * bend;
  double unresolved = fmax(radau_gap(radau), radau_departure(radau));
  *is_unresolved = unresolved > error && h > radau->shortest_followed;
  return *is_unresolved ? unresolved : error;
}

/* ---- Newton ---- */

/* Sums of squares and of changes, inlined for each s, so that their loops become short straight-line code. */
static inline __attribute__((always_inline)) double sum_squares(const Radau *radau, int s) {
  double sum = 0;
  for (int32_t n = 0; n < radau->newton_count; n++) {
    int32_t c = radau->newton_columns[n];
    const Pair *change = (const Pair *)(const void *)(radau->stages->change + c * (s + 1)); /* the last one is 0 */
    Pair square = change[0] * change[0];
#pragma GCC unroll 3
    for (int i = 1; i <= s / 2; i++) square += change[i] * change[i];
    sum += (square[0] + square[1]) * radau->weight[c] * radau->weight[c];
  }
  return sum;
}

/* Two columns at a time, and the last one by itself. */
static inline __attribute__((always_inline)) void add_changes(Radau *radau, int s) {
  const double *change = radau->stages->change;
  double *stage[SMAX];
  int32_t c = 0, columns = radau->system->columns;
#pragma GCC unroll 7
  for (int i = 0; i < s; i++) stage[i] = radau->stage[i];
  for (; c + 2 <= columns; c += 2, change += 2 * (s + 1)) {
#pragma GCC unroll 4
    for (int i = 0; i < s; i += 2) {
      Pair a = pair_at(change + i), b = pair_at(change + s + 1 + i);
      set_pair(stage[i] + c, pair_at(stage[i] + c) + firsts(a, b));
      if (i + 1 < s) set_pair(stage[i + 1] + c, pair_at(stage[i + 1] + c) + seconds(a, b));
    }
  }
  for (int i = 0; i < s && c < columns; i++) stage[i][c] += change[i];
}

static double radau_change_norm(const Radau *radau) {
  int s = radau->method->stages;
  double sum = s == 3 ? sum_squares(radau, 3) : s == 5 ? sum_squares(radau, 5) : sum_squares(radau, 7);
  return sqrt(sum / fmax((double)radau->newton_count * s, 1));
}

static void radau_apply_change(Radau *radau) {
  switch (radau->method->stages) {
  case 3: add_changes(radau, 3); return;
  case 5: add_changes(radau, 5); return;
  default: add_changes(radau, 7);
  }
}

static int radau_iteration_limit(const Radau *radau) {
  return radau->fixed_step ? 50 : 7 + (radau->method->stages - 3) * 5 / 2;
}

/* The change of the estimate, before the filter, by the last iteration; `earlier` becomes the present estimate. */
static double radau_estimate_change(Radau *radau, double h) {
  double *earlier = radau->earlier;
  radau_find_defect(radau, h);
  for (int32_t l = 0; l < radau->system->links; l++) {
    int32_t from = radau->stages->elimination->from[l];
    radau->work[from] = radau->estimate[from] - earlier[from];
    earlier[from] = radau->estimate[from];
  }
  return radau_states_norm(radau, radau->work);
}

/* Is it certain that the error test will reject the step, although later iterations would change the estimate by `left`? The
 * contraction is a mean over all columns; the columns of the estimate may converge more slowly. Most steps pass before the filter,
 * too, and need no closer check. */
static bool radau_is_hopeless(Radau *radau, double h, double left) {
  static const double margin = 2;
  bool is_unresolved;
  if (radau->fixed_step || radau->raw_error < 1 + margin * left) return false;
  double error = radau_measure(radau, h, 1, &is_unresolved);
  return isfinite(error) && error >= 1 + margin * left;
}

/* Simplified Newton iteration (section IV.8), until it has converged or the error test is certain to reject the step. On
 * NEWTON_SLOW the step must be multiplied by *factor. */
static NewtonStatus radau_newton(Radau *radau, double h, double *factor) {
  double goal = radau->goal[radau->method - radau_methods], norm_before = 0, ratio_before = 0;
  int limit = radau_iteration_limit(radau);
  radau->convergence = pow(fmax(radau->convergence, DBL_EPSILON), CLEARLY_LESS);
  if (!radau->linear) radau->convergence = fmax(radau->convergence, NEGLIGIBLE);
  radau->theta = NEGLIGIBLE;
  *factor = 0.5;
  for (int iteration = 1; iteration <= limit; iteration++) {
    EvalStatus status = radau_evaluate(radau, h);
    if (status != EVAL_OK) return status == EVAL_STOP ? NEWTON_STOP : NEWTON_DOMAIN;
    stages_solve(radau->stages, radau->residual);
    double norm = radau_change_norm(radau);
    radau->iterations = iteration;
    if (!isfinite(norm)) return NEWTON_SLOW;
    if (iteration > 1) {
      double ratio = norm / norm_before;
      radau->theta = iteration == 2 ? ratio : sqrt(ratio * ratio_before);
      ratio_before = ratio;
      if (radau->theta >= 1 - MINOR) return NEWTON_SLOW;
      radau->convergence = radau->theta / (1 - radau->theta);
      double last = radau->convergence * norm * pow(radau->theta, limit - 1 - iteration) / goal;
      if (iteration > 2 && iteration < limit && last >= 1) {
        *factor = CLEARLY_LESS * pow(fmax(SLIVER, fmin(20, last)), -1.0 / (4 + limit - 1 - iteration));
        return NEWTON_SLOW;
      }
    }
    norm_before = fmax(norm, DBL_EPSILON);
    radau_apply_change(radau);
    double left = radau->convergence * norm;
    /* after a start, a small first change alone may come from slopes that are far too large there; a step as short as this changes
     * little anyway */
    bool is_new = radau->last_h == 0 && !radau->linear && h > radau->shortest_followed;
    bool is_known = iteration > 1 || !(is_new || radau->is_foreseen);
    if (left <= goal && is_known) return NEWTON_CONVERGED;
    double change = radau_estimate_change(radau, h);
    if (iteration > 1 && radau_is_hopeless(radau, h, radau->convergence * change)) {
      radau->iterations +=
          (int)ceil(log(goal / left) / log(radau->theta)); /* the number of iterations that the step would have taken */
      return NEWTON_CONVERGED;
    }
  }
  return NEWTON_SLOW;
}

/* ---- Step and order ---- */

/* The divisor of the step size for this error. */
static double radau_quotient(const Radau *radau, double error) {
  double limit = radau_iteration_limit(radau);
  double factor = fmin(SAFETY, SAFETY * (1 + 2 * limit) / (radau->iterations + 2 * limit));
  double quotient = pow(error, 1.0 / (radau->method->stages + 1)) / factor;
  return fmax(1 / GROW_MOST, fmin(SHRINK_MOST, quotient));
}

/* Gustafsson's predictive control: also uses the trend of the last two errors. */
static double radau_predictive_quotient(const Radau *radau, double h, double error, double quotient) {
  if (radau->accepted_step == 0) return quotient;
  double promised =
      radau->accepted_step / h * pow(error * error / radau->accepted_error, 1.0 / (radau->method->stages + 1)) / SAFETY;
  return fmax(quotient, fmax(1 / GROW_MOST, fmin(SHRINK_MOST, promised)));
}

/* The error that s - 2 stages would have, in the present weights and before the filter. */
static double radau_lower_error(const Radau *radau, double h) {
  const RadauCoefficients *method = radau->method;
  double sum = 0;
  for (int32_t l = 0; l < radau->system->links; l++) {
    int32_t to = radau->stages->elimination->to[l], from = radau->stages->elimination->from[l];
    double e = method->lower_error[0] * radau->y[to];
    for (int i = 0; i < method->stages; i++) e += method->lower_error[i + 1] * radau->stage[i][to];
    e *= h * radau->weight[from];
    sum += e * e;
  }
  return fmax(sqrt(sum / fmax(radau->system->links, 1)), VANISHED);
}

/* The estimated number of evaluations per unit of time with `stages`, if a step of size h has this error with the present method.
 * Assumes that Newton's contraction is proportional to the step size. */
static double radau_work(const Radau *radau, int stages, double error) {
  double s = stages;
  double scaled = error * radau->inner[radau->method - radau_methods] / radau->inner[(stages - 3) / 2];
  double growth = fmin(GROW_MOST, SAFETY * pow(fmax(scaled, VANISHED), -1 / (s + 1)));
  double iterations = radau->iterations;
  if (iterations > 1) {
    double theta = fmin(fmax(radau->theta, PRESENT), SAFETY);
    iterations = 1 + (iterations - 1) * log(theta) / log(fmin(theta * growth, (1 + SAFETY) / 2));
  }
  return (s * iterations + STEP_OVERHEAD) / growth;
}

/* Chooses a neighbouring order when it promises less work. Errors fall geometrically with the order, so the error of
 * the higher order follows from two known errors. Some steps between changes let the estimates settle. */
static int radau_choose_order(const Radau *radau, double h) {
  int index = (int)(radau->method - radau_methods), s = radau->method->stages;
  double error = radau->raw_error, lower = radau_lower_error(radau, h);
  double work = radau_work(radau, s, error);
  if (index > radau->lowest && (radau->theta >= CLEARLY_LESS || radau_work(radau, s - 2, lower) < CLEARLY_LESS * work))
    return index - 1;
  if (index == radau->highest || radau->since_change < CHANGE_LIMIT || radau->since_lower < SELDOM) return index;
  double higher = error * fmin(error / lower, 1);
  return radau_work(radau, s + 2, higher) < SAFETY * work ? index + 1 : index;
}

static void radau_set_order(Radau *radau, int index) {
  int present = (int)(radau->method - radau_methods);
  radau->since_lower++;
  radau->since_change++;
  if (index == present) return;
  radau->method = &radau_methods[index];
  radau->accepted_step = 0;
  radau->since_change = 0;
  if (index < present) radau->since_lower = 0;
}

static void radau_remember(Radau *radau, double h, double t_new) {
  int s = radau->method->stages;
  swap_numbers(&radau->last[0], &radau->y);
  for (int i = 0; i < s; i++) swap_numbers(&radau->last[i + 1], &radau->stage[i]);
  swap_numbers(&radau->last_defect, &radau->defect);
  memcpy(radau->y, radau->last[s], (size_t)radau->system->columns * sizeof(double));
  radau->last_method = radau->method;
  radau->is_repeated = false;
  radau->passed_h = 0;
  radau->last_t = radau->t;
  radau->last_h = h;
  radau->t = t_new;
}

static void radau_accept(Radau *radau, double h, double error, double t_new, bool held) {
  double quotient = radau_predictive_quotient(radau, h, error, radau_quotient(radau, error));
  radau->is_foreseen = false;
  radau->statistics.steps++;
  radau->statistics.step = h;
  radau->statistics.order = 2 * radau->method->stages - 1;
  radau->accepted_step = h;
  radau->accepted_error = fmax(MINOR, error);
  if (radau->rejected) quotient = fmax(quotient, 1);
  radau->rejected = radau->failed = radau->cautious = false;
  int order = radau_choose_order(radau, h);
  radau_remember(radau, h, t_new);
  radau_set_order(radau, order);
  bool keep_jacobian = radau->theta <= NEGLIGIBLE;
  if (!keep_jacobian) radau->jacobian_time = NAN;
  bool keep = keep_jacobian && quotient <= 1 && quotient >= 1 / INFLATION;
  double h_new = keep ? h : h / quotient;
  radau->h_next = radau->fixed_step ? radau->max_step : held ? fmax(radau->h_next, h_new) : h_new;
  radau->statistics.next = held ? radau->h_next : h / quotient;
}

static void radau_reject(Radau *radau, double h, double error) {
  radau->statistics.rejected_error++;
  radau->h_next = radau->last_h == 0 ? GOOD_PART * h : h / radau_quotient(radau, error);
  radau->rejected = true;
}

/* Predictions were far off, so the Jacobian and the contraction found with them are useless. */
static void radau_forget(Radau *radau) {
  radau->jacobian_time = NAN;
  radau->convergence = 1;
  radau->cautious = true;
}

/* The algebraic columns may be too inaccurate for the next iteration to start from them. */
static void radau_be_cautious(Radau *radau) {
  const System *system = radau->system;
  size_t size = (size_t)system->columns * sizeof(double);
  radau->cautious = true;
  if (!system->find) return;
  memcpy(radau->work, radau->y, size);
  if (system->find(system->context, radau->t, radau->work) != EVAL_OK) return;
  memcpy(radau->y, radau->work, size);
  if (radau->last_h > 0) memcpy(radau->last[radau->is_repeated ? 0 : radau->last_method->stages], radau->work, size);
}

/* Newton's method failed: first try a new Jacobian, then a smaller step and a lower order. */
static void radau_retry(Radau *radau, double h, double factor) {
  int index = (int)(radau->method - radau_methods);
  radau->statistics.rejected_convergence++;
  if (radau->jacobian_time != radau->t) {
    radau->jacobian_time = NAN;
    radau->h_next = h;
    return;
  }
  radau->jacobian_time = NAN;
  if (radau->failed) radau_be_cautious(radau);
  radau->failed = true;
  radau->h_next = factor * h;
  radau->rejected = true;
  radau->convergence = 1;
  if (index > radau->lowest) radau_set_order(radau, index - 1);
}

/* Second derivatives of the states from one more residual, for the first step; false if the system is of higher index.
 * `estimate` holds them on return. */
static bool radau_second_derivative(Radau *radau, double span) {
  const System *system = radau->system;
  double *now = radau->residual[0], *later = radau->residual[1], *right = radau->solution;
  double dt = SAME * fmin(span, fmax(1, fabs(radau->t)));
  elimination_real(radau->stages->elimination, condense_values(radau->stages->condense), 0, radau->stages->real_values);
  if (!linear_factor(radau->stages->real, radau->stages->real_values)) return false;
  if (system->residual(system->context, radau->t, radau->y, now) != EVAL_OK) return false;
  if (system->residual(system->context, radau->t + dt, radau->y, later) != EVAL_OK) return false;
  for (int32_t r = 0; r < system->rows; r++) now[r] = -(later[r] - now[r]) / dt;
  stages_take_right(radau->stages, now, right);
  for (int32_t l = 0; l < system->links; l++)
    radau->work[radau->stages->elimination->from[l]] = radau->y[radau->stages->elimination->to[l]];
  elimination_subtract(radau->stages->elimination, condense_values(radau->stages->condense), radau->work, right);
  linear_solve(radau->stages->real, right);
  for (int32_t u = 0; u < radau->stages->rows; u++) radau->work[radau->stages->elimination->unknown[u]] = right[u];
  for (int32_t l = 0; l < system->links; l++)
    radau->estimate[radau->stages->elimination->from[l]] = radau->work[radau->stages->elimination->to[l]];
  return true;
}

/* As in Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, section II.4. */
static double radau_first_step(Radau *radau) {
  double span = radau->span, largest = fmin(radau->max_step, span);
  if (radau->fixed_step) return largest;
  radau_set_weights(radau, 1);
  for (int32_t l = 0; l < radau->system->links; l++)
    radau->estimate[radau->stages->elimination->from[l]] = radau->y[radau->stages->elimination->to[l]];
  double size = radau_states_norm(radau, radau->y), slope = radau_states_norm(radau, radau->estimate);
  double h = size <= NO_SIZE || slope <= NO_SIZE ? FIRST_STEP : MINOR * size / slope;
  if (isnan(radau->jacobian_time) || !radau_second_derivative(radau, span)) return fmin(largest, NEGLIGIBLE * h);
  double bend = radau_states_norm(radau, radau->estimate);
  double other =
      fmax(slope, bend) <= DBL_EPSILON ? fmax(FIRST_STEP, NEGLIGIBLE * h) : pow(MINOR / fmax(slope, bend), 1.0 / 4);
  return fmin(fmin(100 * h, other), largest);
}

static StepStatus radau_step(void *self, double t_stop) {
  Radau *radau = self;
  StepStatus reason = STEP_TOO_SMALL;
  bool is_unresolved;
  int singular = 0;
  if (radau->h_next == 0 && isnan(radau->jacobian_time)) radau_new_jacobian(radau, 0);
  if (radau->h_next == 0) radau->h_next = fmin(radau_first_step(radau), radau->longest_first);
  for (;;) {
    double h = fmin(radau->h_next, radau->max_step), factor;
    double left = t_stop - radau->t;
    if (left <= 0) return STEP_OK;
    bool held = (1 + SLIVER) * h >= left;
    if (held) h = left;
    if (!held && h < integrator_least_step(radau->t, t_stop)) return reason;
    radau_set_weights(radau, h);
    radau_predict(radau, h);
    if (isnan(radau->jacobian_time)) {
      bool is_predicted = radau->last_h > 0 ? !radau->cautious : radau->passed_h > 0 && !radau->failed;
      EvalStatus status = radau_new_jacobian(radau, is_predicted ? h : 0);
      if (status != EVAL_OK) return STEP_EVALUATION;
    }
    if (!radau_factor(radau, h)) {
      if (++singular == CORRECTIONS) return STEP_SINGULAR;
      reason = STEP_SINGULAR;
      radau_retry(radau, h, 0.5);
      continue;
    }
    double t_new = held ? t_stop : radau->t + h;
    NewtonStatus newton = radau_newton(radau, h, &factor);
    if (newton == NEWTON_STOP) return STEP_EVALUATION;
    reason = newton == NEWTON_DOMAIN ? STEP_EVALUATION : STEP_TOO_SMALL;
    if (newton != NEWTON_CONVERGED) {
      radau_retry(radau, h, factor);
      continue;
    }
    double error = radau_measure(radau, h, radau_bend(radau, t_new), &is_unresolved);
    if (is_unresolved && error >= 1) radau_forget(radau);
    if (!isfinite(error)) {
      radau_retry(radau, h, 0.5);
    } else if (error >= 1 && !radau->fixed_step) {
      radau_reject(radau, h, error);
    } else {
      radau_accept(radau, h, error, t_new, held);
      return STEP_OK;
    }
  }
}

/* ---- Start, output, switch ---- */

/* Is y the solution of the last step at t, except for kinks? */
static bool radau_goes_on(Radau *radau, double t, const double *y) {
  static const double same = 1; /* in tolerances */
  double x = (t - radau->last_t) / radau->last_h;
  if (radau->last_h == 0 || !(x > 0 && x <= 1)) return false;
  radau_interpolate_all(radau, x, radau->work);
  for (int32_t c = 0; c < radau->system->columns; c++) radau->work[c] -= y[c];
  double sum = radau_norm(radau, radau->newton_columns, radau->newton_count, radau->work);
  return sqrt(sum / fmax(radau->newton_count, 1)) <= same;
}

static void radau_start(void *self, double t, const double *y, double t_end) {
  Radau *radau = self;
  radau->passed_h = radau_goes_on(radau, t, y) ? radau->last_h : 0;
  memcpy(radau->y, y, (size_t)radau->system->columns * sizeof(double));
  radau->t = t;
  radau->last_h = 0;
  radau->shortest_followed = VANISHED * (t_end - t);
  if (!radau->statistics.steps) radau->method = &radau_methods[radau->lowest]; /* after an event the order stays */
  radau->jacobian_time = NAN;
  radau->convergence = 1;
  radau->accepted_step = 0;
  radau->rejected = radau->failed = radau->cautious = radau->is_repeated = false;
  radau->since_lower = SELDOM;
  radau->since_change = 0;
  bool is_predicted =
      radau->passed_h > 0 && stages_are_chosen(radau->stages); /* the step makes the Jacobian at a better point */
  if (!is_predicted && radau_new_jacobian(radau, 0) != EVAL_OK && !stages_are_chosen(radau->stages))
    radau_choose(radau, NULL);
  if (!radau->statistics.steps) radau->longest_first = INFINITY;
  else if (radau->h_next > 0)
    radau->longest_first = radau->h_next; /* the size before an event is a good guess after it */
  radau->span = t_end - t;
  radau->h_next = 0;
}

static void radau_suggest(void *self, double step) {
  Radau *radau = self;
  if (!radau->fixed_step) radau->h_next = step;
}

/* The polynomials of the step and its Jacobian are also used for a part of the step. */
static bool radau_repeat(void *self, double step) {
  Radau *radau = self;
  if (radau->last_h == 0 || radau->fixed_step) return false;
  memcpy(radau->y, radau->last[0], (size_t)radau->system->columns * sizeof(double));
  radau->t = radau->last_t;
  radau->h_next = step;
  radau->is_repeated = true;
  radau->jacobian_time = radau->last_t + radau->last_h;
  radau->accepted_step = 0;
  radau->rejected = radau->failed = radau->cautious = false;
  return true;
}

static double radau_time(const void *self) { return ((const Radau *)self)->t; }

static const double *radau_values(const void *self) { return ((const Radau *)self)->y; }

static void radau_interpolate(void *self, double t, const uint32_t *columns, uint32_t count, double *y) {
  const Radau *radau = self;
  const double *vectors[RADAU_WEIGHTS];
  double weight[RADAU_WEIGHTS], x = (t - radau->last_t) / radau->last_h;
  int terms = radau_list_vectors(radau, x, vectors, weight);
  if (!columns) set_to_sum(y, vectors, weight, terms, (int32_t)count);
  for (uint32_t k = 0; k < count && columns; k++) {
    double sum = 0;
    for (int j = 0; j < terms; j++) sum += weight[j] * vectors[j][columns[k]];
    y[columns[k]] = sum;
  }
}

/* Every column keeps its polynomial, and the Jacobian stays; only the matrices are formed again. */
static void radau_switch_states(void *self, const double *y) {
  Radau *radau = self;
  memcpy(radau->y, y, (size_t)radau->system->columns * sizeof(double));
  radau_choose(radau, radau->stages->is_chosen ? radau->jacobian : NULL);
}

/* The factors are used as long as they belong to the step. */
static bool radau_stages(void *self, StepStages *out) {
  Radau *radau = self;
  if (radau->last_h == 0 || radau->stages->factored_step != radau->last_h ||
      radau->stages->factored_method != radau->last_method || !stages_are_chosen(radau->stages))
    return false;
  *out = (StepStages){.linear = radau->stages,
                      .method = radau->last_method,
                      .t = radau->last_t,
                      .h = radau->last_h,
                      .values = radau->last + 1};
  return true;
}

static void radau_statistics(const void *self, IntegratorStatistics *out) { *out = ((const Radau *)self)->statistics; }

static StepShape radau_shape(void *self) {
  Radau *radau = self;
  if (radau->last_h == 0) return (StepShape){0};
  const RadauCoefficients *method = radau->last_method;
  double between = (method->node[method->stages - 3] + method->node[method->stages - 2]) / 2;
  return (StepShape){method->stages + 1, between, 0};
}

const Integrator integrator_radau = {
    .name = "radau",
    .description = "Radau IIA of orders 5, 9 and 13 with order control, on the whole system",
    .explicit_form = false,
    .is_one_step = true,
    .look_every = 16,
    .look_every_rough = 1,
    .create = radau_create,
    .start = radau_start,
    .suggest = radau_suggest,
    .repeat = radau_repeat,
    .step = radau_step,
    .time = radau_time,
    .values = radau_values,
    .segment = {.interpolate = radau_interpolate, .shape = radau_shape, .is_collocation = true},
    .is_coarse = integrator_is_never_coarse,
    .switch_states = radau_switch_states,
    .stages = radau_stages,
    .statistics = radau_statistics,
};
