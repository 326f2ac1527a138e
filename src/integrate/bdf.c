/* bdf: backward differentiation formulas of orders 1 to 5 with fixed leading coefficient, on G(t, y) = 0 with links y[from]' =
 * y[to].
 *
 * All columns have a history (history.h), states or not, so a pivot only changes the link lists and the run continues with the same
 * order and step. The unknowns of a step are the columns that are not states. The states follow from them by the formula itself,
 * y_from = base_from + y_to / leading. So the links hold exactly, even in the first guess, and the linear system has only as many
 * rows as G. Its factors are kept over many steps; Broyden's updates (secant.h) account for changes since then. Step and order
 * control follow Brenan, Campbell, Petzold, Numerical Solution of Initial-Value Problems in Differential-Algebraic Equations,
 * section 5.2. */
#include "base/copy.h"
#include "base/linear.h"
#include "core/constants.h"
#include "core/corrector.h"
#include "core/secant.h"
#include "integrate/contract.h"
#include "integrate/history.h"
#include "segment/elimination.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef enum Outcome { CONVERGED, SLOW, SINGULAR, DOMAIN, STOP } Outcome;

typedef struct Bdf {
  const System *system;
  double relative, absolute, max_step;
  int max_order;

  Elimination *elimination;
  int32_t *measured, measured_count; /* columns in the norm, those in the error test first */
  int32_t error_count;               /* how many of them are in the error test */
  double *norm_weight;               /* [columns] their weight in the norm */
  bool *tested;                      /* [columns] takes part in the error test */
  double *weight;                    /* [columns] norm_weight divided by tolerance */
  double *secant_weight;             /* [rows] */

  History *history;
  Linear *linear;
  Secant secant;
  double *jacobian, *values;
  bool jacobian_current;   /* the Jacobian belongs to the present point */
  bool fresh;              /* the factors were made in this step */
  double factored_leading; /* leading coefficient of the factors; 0: there are none */
  double seen_leading;     /* leading coefficient of the last step */
  int spent;               /* iterations beyond the first one of each step, since the factors were made */
  int age;                 /* steps with these factors */
  double rate, decay;      /* expected contraction of the first iteration, and its growth in each step */

  double t, h_next;
  double *y;                     /* all columns at t */
  double *guess, *slope;         /* [columns] predicted */
  double *next;                  /* [columns] iterate */
  double *change;                /* [columns] change of an iteration; after the last one `next` minus `guess` */
  double *residual, *correction; /* [rows] correction: the last correction of the unknowns */
  int order;                     /* order of the next step */
  int begun;                     /* number of steps while rising */
  int since_change;              /* steps since the order changed */
  bool rising;                   /* the first steps: order and step size grow together */
  double error,
      lower_error; /* errors of the last attempt at its own order and at the order below, which decide the next order */
  int lower_order; /* the order that these errors favour: the present one or the one below */
  IntegratorStatistics statistics;
} Bdf;

/* ---- The choice of states ---- */

/* The weight of each column in the norm, which is the root mean square over the states. Columns that are not states follow from
 * these and have a small weight; rates count through their states. Algebraic columns may jump while no state does, so they are
 * in the error test only if there is no state. Spare columns have no weight, because no step waits for them to converge: an
 * angle computed by atan2 may jump back and forth with round-off of its arguments. */
static void bdf_set_shares(Bdf *bdf) {
  const System *system = bdf->system;
  double all = sqrt(fmax(system->columns, 1)), states = sqrt(fmax(system->links, 1));
  for (int32_t c = 0; c < system->columns; c++) {
    bool candidate = system->successor && system->successor[c] >= 0;
    bool is_spare = system->spare && system->spare[c] && system->links > 0;
    bdf->norm_weight[c] = is_spare ? 0 : (candidate ? SMALL_PART : NEGLIGIBLE) / all;
    bdf->tested[c] = candidate || system->links == 0;
  }
  for (int32_t l = 0; l < system->links; l++) bdf->norm_weight[system->link_to[l]] = 0;
  for (int32_t l = 0; l < system->links; l++) {
    bdf->norm_weight[system->link_from[l]] = 1 / states;
    bdf->tested[system->link_from[l]] = true;
  }
  for (int32_t c = 0; c < system->columns && system->column_index; c++)
    if (system->column_index[c] > 1) bdf->norm_weight[c] = VANISHED / all;
}

/* The columns in the norm, first those in the error test. */
static void bdf_find_measured(Bdf *bdf) {
  int32_t count = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t c = 0; c < bdf->system->columns; c++)
      if (bdf->norm_weight[c] > 0 && bdf->tested[c] == (pass == 0)) bdf->measured[count++] = c;
    if (pass == 0) bdf->error_count = count;
  }
  bdf->measured_count = count;
}

static void bdf_choose(Bdf *bdf) {
  elimination_choose(bdf->elimination, NULL);
  linear_set_pattern(bdf->linear, bdf->elimination->start, bdf->elimination->row);
  bdf_set_shares(bdf);
  bdf_find_measured(bdf);
  bdf->factored_leading = 0;
  bdf->jacobian_current = false;
}

static void bdf_set_weights(Bdf *bdf) {
  const System *system = bdf->system;
  for (int32_t i = 0; i < bdf->measured_count; i++) {
    int32_t c = bdf->measured[i];
    bdf->weight[c] = bdf->norm_weight[c] / (bdf->absolute * system->size[c] + bdf->relative * fabs(bdf->y[c]));
  }
}

static double bdf_norm(const Bdf *bdf, const double *vector) {
  double sum = 0;
  for (int32_t i = 0; i < bdf->measured_count; i++) {
    double e = vector[bdf->measured[i]] * bdf->weight[bdf->measured[i]];
    sum += e * e;
  }
  return sqrt(sum);
}

/* ---- Creation ---- */

static void *bdf_create(Heap *heap, const System *system, const IntegratorOptions *options) {
  Bdf *bdf = heap_alloc(heap, sizeof *bdf);
  size_t columns = (size_t)system->columns, rows = (size_t)system->rows;
  int32_t nonzeros = system->column_start[system->columns];
  bdf->system = system;
  bdf->relative = options->relative_tolerance;
  bdf->absolute = options->absolute_tolerance;
  bdf->decay = EARLY;
  bdf->max_step = options->max_step > 0 ? options->max_step : INFINITY;
  bdf->max_order = options->max_order > 0 && options->max_order < HISTORY_ORDER ? options->max_order : HISTORY_ORDER;
  bdf->elimination = elimination_new(heap, system);
  bdf->history = history_new(heap, system->columns);
  bdf->linear = linear_new(heap, system->rows, nonzeros, false);
  int32_t secants = system->rows > LARGE_ROWS ? SECANTS / 4 : SECANTS / 2;
  bdf->secant =
      secant_make(system->rows, secants, heap_array(heap, secant_room(system->rows, secants), sizeof(double)));
  bdf->measured = heap_array(heap, columns, sizeof(int32_t));
  bdf->tested = heap_array(heap, columns, sizeof(bool));
  double **vectors[] = {&bdf->norm_weight, &bdf->weight, &bdf->y, &bdf->guess, &bdf->slope, &bdf->next, &bdf->change};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = heap_array(heap, columns, sizeof(double));
  heap_numbers(heap, rows, &bdf->residual, &bdf->correction, &bdf->secant_weight);
  heap_numbers(heap, (size_t)nonzeros, &bdf->jacobian, &bdf->values);
  return bdf;
}

/* ---- The corrector ---- */

static void bdf_set_secant_weights(Bdf *bdf) {
  const System *system = bdf->system;
  for (int32_t u = 0; u < system->rows; u++) {
    int32_t c = bdf->elimination->unknown[u];
    bdf->secant_weight[u] = 1 / (bdf->absolute * system->size[c] + bdf->relative * fabs(bdf->y[c]));
  }
}

/* Makes a new Jacobian at the predicted point or, if that cannot be evaluated, at the last one. */
static EvalStatus bdf_renew_jacobian(Bdf *bdf, double t) {
  const System *system = bdf->system;
  if (bdf->jacobian_current) return EVAL_OK;
  EvalStatus status = system->jacobian(system->context, t, bdf->guess, bdf->jacobian);
  return status == EVAL_DOMAIN ? system->jacobian(system->context, bdf->t, bdf->y, bdf->jacobian) : status;
}

/* Factors the matrix for 1 / leading = factor. */
static bool bdf_factor(Bdf *bdf, double factor) {
  elimination_real(bdf->elimination, bdf->jacobian, factor, bdf->values);
  bdf->statistics.factorizations++;
  secant_reset(&bdf->secant);
  bdf->spent = bdf->age = 0;
  bdf->rate = 0;
  return linear_factor(bdf->linear, bdf->values);
}

static bool bdf_factors_serve(const Bdf *bdf) {
  if (bdf->factored_leading == 0 || bdf->spent > CORRECTIONS) return false;
  double ratio = bdf->history->leading / bdf->factored_leading;
  return ratio < 2 && ratio * 2 > 1;
}

/* Provides factors for the planned step: the existing ones, or new ones. */
static Outcome bdf_prepare(Bdf *bdf, double t) {
  if (bdf_factors_serve(bdf)) return CONVERGED;
  bdf->factored_leading = 0;
  EvalStatus status = bdf_renew_jacobian(bdf, t);
  bdf->jacobian_current = false;
  if (status != EVAL_OK) return STOP;
  bdf->fresh = true;
  bdf_set_secant_weights(bdf);
  if (!bdf_factor(bdf, 1 / bdf->history->leading)) return SINGULAR;
  bdf->factored_leading = bdf->seen_leading = bdf->history->leading;
  return CONVERGED;
}

/* Computes the states from the other columns. */
static void bdf_follow_links(const Bdf *bdf, double *y) {
  double factor = 1 / bdf->history->leading;
  for (int32_t l = 0; l < bdf->system->links; l++) {
    int32_t from = bdf->elimination->from[l], to = bdf->elimination->to[l];
    y[from] = bdf->guess[from] + (y[to] - bdf->slope[from]) * factor;
  }
}

/* Adds a change of the unknowns, and the change of all columns that belongs to it, to the iterate. */
static void bdf_apply(Bdf *bdf, const double *unknowns) {
  const Elimination *elimination = bdf->elimination;
  double factor = 1 / bdf->history->leading;
  for (int32_t u = 0; u < bdf->system->rows; u++) {
    int32_t c = elimination->unknown[u];
    bdf->change[c] = unknowns[u];
    bdf->next[c] += unknowns[u];
  }
  for (int32_t l = 0; l < bdf->system->links; l++)
    bdf->change[elimination->from[l]] = bdf->change[elimination->to[l]] * factor;
  bdf_follow_links(bdf, bdf->next);
}

/* The expected contraction of the first iteration. It grows with the distance from where the factors were made, and with the change
 * of the leading coefficient, which changes the matrix. */
static void bdf_expect_rate(Bdf *bdf) {
  double leading = bdf->history->leading;
  bdf->age++;
  bdf->rate += bdf->decay;
  if (leading != bdf->seen_leading) bdf->rate = fmax(bdf->rate, fabs(leading / bdf->factored_leading - 1));
  bdf->seen_leading = leading;
}

static void bdf_learn_rate(Bdf *bdf, double rate) {
  bdf->rate = rate;
  bdf->decay = fmax(rate / bdf->age, CLEARLY_LESS * bdf->decay);
}

/* A step from its prediction. */
typedef struct BdfCorrection {
  Bdf *bdf;
  double t;
  bool has_last; /* bdf->correction is the last correction of this step */
  EvalStatus status;
} BdfCorrection;

/* A CorrectorStep: the correction of the unknowns replaces the last one, improved by a secant update from the two. */
static double bdf_correct_once(void *context, bool *renew) {
  BdfCorrection *step = context;
  Bdf *bdf = step->bdf;
  const System *system = bdf->system;
  double *correction = bdf->residual;
  (void)renew;
  step->status = system->residual(system->context, step->t, bdf->next, correction);
  if (step->status != EVAL_OK) return HUGE_VAL;
  for (int32_t r = 0; r < system->rows; r++) correction[r] = -correction[r];
  linear_solve(bdf->linear, correction);
  secant_apply(&bdf->secant, correction);
  if (step->has_last) secant_learn(&bdf->secant, bdf->correction, correction, bdf->secant_weight);
  step->has_last = true;
  bdf_apply(bdf, correction);
  bdf->residual = bdf->correction;
  bdf->correction = correction;
  return bdf_norm(bdf, bdf->change);
}

/* Iterates from the prediction; `next` is then the solution. */
static Outcome bdf_correct(Bdf *bdf, double t) {
  BdfCorrection step = {.bdf = bdf, .t = t};
  memcpy(bdf->next, bdf->guess, (size_t)bdf->system->columns * sizeof(double));
  bdf_follow_links(bdf, bdf->next);
  bdf_expect_rate(bdf);
  Corrector corrector = corrector_with_factors(FINE, CLEARLY_LESS, bdf->rate, ITERATIONS);
  bool is_solved = corrector_iterate(&corrector, bdf_correct_once, &step) == CORRECTOR_CONVERGED;
  bdf->spent += corrector.count - 1;
  if (is_solved && corrector.count > 1) bdf_learn_rate(bdf, corrector.ratio);
  if (step.status != EVAL_OK) return step.status == EVAL_STOP ? STOP : DOMAIN;
  return is_solved ? CONVERGED : SLOW;
}

/* ---- Step and order ---- */

/* Three norms: of the change; of the change plus the last difference; of the change plus the last two differences. The last two
 * are errors at the orders below (at orders 1 and 2 the third norm has no meaning). */
static void bdf_norms(const Bdf *bdf, double norm[3]) {
  const History *history = bdf->history;
  int k = history->planned_order;
  const double *newest = history->difference[k], *older = history->difference[k - 1];
  double last = history->beta[k], before = history->beta[k - 1], sum[3] = {0};
  for (int32_t i = 0; i < bdf->error_count; i++) {
    int32_t c = bdf->measured[i];
    double w = bdf->weight[c], e = w * bdf->change[c];
    sum[0] += e * e;
    e += w * last * newest[c];
    sum[1] += e * e;
    e += w * before * older[c];
    sum[2] += e * e;
  }
  for (int i = 0; i < 3; i++) norm[i] = sqrt(sum[i]);
}

/* The error norm for the next higher order; it is meaningful after enough equal steps. */
static double bdf_higher_norm(const Bdf *bdf) {
  const double *difference = bdf->history->difference[bdf->history->planned_order + 1];
  double sum = 0;
  for (int32_t i = 0; i < bdf->error_count; i++) {
    int32_t c = bdf->measured[i];
    double e = bdf->change[c] - difference[c];
    e *= bdf->weight[c];
    sum += e * e;
  }
  return sqrt(sum);
}

/* Is the step accurate enough? Also computes the errors of the step at this order and the order below, and the order that
 * these errors favour. */
static bool bdf_judge(Bdf *bdf) {
  const History *history = bdf->history;
  int k = history->planned_order;
  double norm[3];
  for (int32_t c = 0; c < bdf->system->columns; c++) bdf->change[c] = bdf->next[c] - bdf->guess[c];
  bdf_norms(bdf, norm);
  bdf->error = history->sigma[k] * norm[0];
  bdf->lower_error = k > 1 ? history->sigma[k - 1] * norm[1] : 0;
  double term = (k + 1) * bdf->error, lower = k * bdf->lower_error;
  bool favours_lower = k == 2 && lower <= 0.5 * term;
  if (k > 2) favours_lower = fmax(lower, (k - 1) * history->sigma[k - 2] * norm[2]) <= term;
  bdf->lower_order = favours_lower ? k - 1 : k;
  return history->error * norm[0] <= 1;
}

/* The order of the next step, and the error of the present one at that order. A change of the order jumps from one formula to
 * another. Right after that, the differences still contain this jump and would favour another change, so the next change must
 * wait. */
static int bdf_choose_order(const Bdf *bdf, double *error) {
  const History *history = bdf->history;
  int k = history->planned_order;
  double term = (k + 1) * bdf->error, lower = k * bdf->lower_error;
  *error = bdf->error;
  if (bdf->since_change <= 2 * k) return k;
  bool compare = k < bdf->max_order && history->planned_equal > k + 1;
  double higher = compare ? bdf_higher_norm(bdf) : 0;
  if (bdf->lower_order < k || (compare && k > 1 && lower <= fmin(term, higher))) {
    *error = bdf->lower_error;
    return k - 1;
  }
  if (!compare || higher >= (k == 1 ? 0.5 : 1) * term) return k;
  *error = higher / (k + 2);
  return k + 1;
}

/* Order and size of the next step; the first steps double both while they can. */
static void bdf_advance(Bdf *bdf, double h) {
  int k = bdf->history->planned_order;
  double error;
  if (bdf->lower_order < k || k == bdf->max_order) bdf->rising = false;
  bdf->since_change = k == bdf->history->order ? bdf->since_change + 1 : 1;
  bdf->order = k;
  bdf->h_next = h;
  if (bdf->rising) {
    if (bdf->begun++ == 0) return;
    bdf->order = k + 1;
    bdf->h_next = 2 * h;
    return;
  }
  if (bdf->since_change == 1) return;
  bdf->order = bdf_choose_order(bdf, &error);
  double ratio = pow(SEVERAL * error + SLIVER, -1.0 / (bdf->order + 1));
  double least = bdf->history->planned_equal > k + 1 ? GROW_LEAST : k > 1 ? 2 : 1 / GOOD_PART;
  if (ratio <= 1) bdf->h_next = h * fmax(0.5, fmin(SAFETY, ratio));
  else if (ratio >= least) bdf->h_next = h * fmin(2, ratio);
}

static void bdf_accept(Bdf *bdf, double h, double t_new) {
  bdf->statistics.steps++;
  bdf->statistics.step = h;
  bdf->statistics.order = bdf->history->planned_order;
  bdf_advance(bdf, h);
  history_keep(bdf->history, bdf->change);
  swap_numbers(&bdf->y, &bdf->next);
  bdf->t = t_new;
}

static void bdf_reject(Bdf *bdf, double h, int failures) {
  bdf->statistics.rejected_error++;
  bdf->rising = false;
  bdf->order = failures > 2 ? 1 : bdf->lower_order;
  double error = bdf->lower_order < bdf->history->planned_order ? bdf->lower_error : bdf->error;
  double ratio = SAFETY * pow(SEVERAL * error + SLIVER, -1.0 / (bdf->order + 1));
  bdf->h_next = h * (failures > 1 ? 1 / SEVERAL : fmax(1 / SEVERAL, fmin(SAFETY, ratio)));
}

/* The corrector did not converge: first try new factors, then a smaller step. Both are counted. If a choice of states becomes
 * singular, factors soon become too inaccurate, so the stepper watches this count. */
static void bdf_retry(Bdf *bdf, double h) {
  bdf->statistics.rejected_convergence++;
  bdf->factored_leading = 0;
  bdf->h_next = h;
  if (!bdf->fresh) return;
  bdf->rising = false;
  bdf->h_next = h / 4;
}

static Outcome bdf_try(Bdf *bdf, double t, double h) {
  history_plan(bdf->history, bdf->order, h);
  history_predict(bdf->history, bdf->guess);
  history_slopes(bdf->history, bdf->elimination->from, bdf->system->links, bdf->slope);
  Outcome outcome = bdf_prepare(bdf, t);
  return outcome == CONVERGED ? bdf_correct(bdf, t) : outcome;
}

static StepStatus bdf_step(void *self, double t_stop) {
  static const StepStatus reasons[] = {
      [CONVERGED] = STEP_TOO_SMALL, [SLOW] = STEP_TOO_SMALL, [SINGULAR] = STEP_SINGULAR, [DOMAIN] = STEP_EVALUATION};
  Bdf *bdf = self;
  double left = t_stop - bdf->t;
  StepStatus reason = STEP_TOO_SMALL;
  int singular = 0, errors = 0;
  if (left <= 0) return STEP_OK;
  bdf_set_weights(bdf);
  bdf->fresh = false;
  for (int tries = 0; tries < ROUNDS; tries++) {
    double h = fmin(bdf->h_next, bdf->max_step);
    bool last = (1 + SLIVER) * h >= left;
    if (last) h = left;
    else if (h < integrator_least_step(bdf->t, t_stop)) return reason;
    double t = last ? t_stop : bdf->t + h;
    Outcome outcome = bdf_try(bdf, t, h);
    if (outcome == STOP) return STEP_EVALUATION;
    if (outcome == CONVERGED && bdf_judge(bdf)) {
      bdf_accept(bdf, h, t);
      return STEP_OK;
    }
    reason = reasons[outcome];
    if (outcome == SINGULAR && ++singular == CORRECTIONS) return reason;
    if (outcome == CONVERGED) bdf_reject(bdf, h, ++errors);
    else bdf_retry(bdf, h);
  }
  return reason;
}

/* ---- Start, output, switch ---- */

/* Computes the rates of the unknowns by differentiating G; false if the index is higher or G cannot be evaluated. */
static bool bdf_solve_rates(Bdf *bdf, double span, double *rate) {
  const System *system = bdf->system;
  double dt = SAME * fmin(span, fmax(1, fabs(bdf->t))), *now = bdf->residual, *later = bdf->correction;
  if (system->jacobian(system->context, bdf->t, bdf->y, bdf->jacobian) != EVAL_OK) return false;
  bdf->jacobian_current = true;
  if (!bdf_factor(bdf, 0)) return false;
  if (system->residual(system->context, bdf->t, bdf->y, now) != EVAL_OK) return false;
  if (system->residual(system->context, bdf->t + dt, bdf->y, later) != EVAL_OK) return false;
  for (int32_t r = 0; r < system->rows; r++) now[r] = (now[r] - later[r]) / dt;
  elimination_subtract(bdf->elimination, bdf->jacobian, rate, now);
  linear_solve(bdf->linear, now);
  for (int32_t u = 0; u < system->rows; u++)
    if (!isfinite(now[u])) return false;
  for (int32_t u = 0; u < system->rows; u++) rate[bdf->elimination->unknown[u]] = now[u];
  return true;
}

/* Finds a step whose error at order 1, h^2 / 2 times the second derivative, is well within the tolerance. If that error is unknown,
 * finds a step in which the states change by half the tolerance. */
static double bdf_first_step(Bdf *bdf, const double *rate, bool bends, double span) {
  double longest = fmin(NEGLIGIBLE * span, bdf->max_step);
  bdf_set_weights(bdf);
  memset(bdf->change, 0, (size_t)bdf->system->columns * sizeof(double));
  for (int32_t l = 0; l < bdf->system->links; l++) {
    int32_t from = bdf->system->link_from[l];
    bdf->change[from] = rate[bends ? bdf->system->link_to[l] : from];
  }
  double size = bdf_norm(bdf, bdf->change);
  return size == 0 ? longest : fmin(longest, bends ? sqrt(0.5 / size) : 0.5 / size);
}

static void bdf_start(void *self, double t, const double *y, double t_end) {
  Bdf *bdf = self;
  memcpy(bdf->y, y, (size_t)bdf->system->columns * sizeof(double));
  bdf->t = t;
  bdf->order = 1;
  bdf->rising = true;
  bdf->begun = bdf->since_change = 0;
  bdf_choose(bdf);
  integrator_rates(bdf->system, y, bdf->slope);
  bool bends = bdf_solve_rates(bdf, t_end - t, bdf->slope);
  bdf->h_next = bdf_first_step(bdf, bdf->slope, bends, t_end - t);
  history_begin(bdf->history, bdf->y, bdf->slope, bdf->h_next);
}

static double bdf_time(const void *self) { return ((const Bdf *)self)->t; }

static const double *bdf_values(const void *self) { return ((const Bdf *)self)->y; }

static void bdf_interpolate(void *self, double t, const uint32_t *columns, uint32_t count, double *y) {
  const Bdf *bdf = self;
  history_evaluate(bdf->history, t - bdf->t, columns, count, y);
}

/* The polynomial through the last points. At the end of the step the error of its slope equals the error of the step; inside it is
 * smaller. */
static StepShape bdf_shape(void *self) { return (StepShape){((const Bdf *)self)->history->order, 0.5, 0}; }

static void bdf_switch_states(void *self, const double *y) {
  Bdf *bdf = self;
  memcpy(bdf->y, y, (size_t)bdf->system->columns * sizeof(double));
  history_move(bdf->history, y);
  bdf_choose(bdf);
}

static void bdf_statistics(const void *self, IntegratorStatistics *out) { *out = ((const Bdf *)self)->statistics; }

const Integrator integrator_bdf = {
    .name = "bdf",
    .description = "BDF of orders 1 to 5 with kept factors, on the whole system",
    .explicit_form = false,
    .removes_superfluous = true,
    .look_every = 128,
    .look_every_rough = 64,
    .create = bdf_create,
    .start = bdf_start,
    .suggest = integrator_suggest_nothing,
    .repeat = integrator_repeat_nothing,
    .step = bdf_step,
    .time = bdf_time,
    .values = bdf_values,
    .segment = {.interpolate = bdf_interpolate, .shape = bdf_shape},
    .is_coarse = integrator_is_never_coarse,
    .stages = integrator_has_no_stages,
    .switch_states = bdf_switch_states,
    .statistics = bdf_statistics,
};
