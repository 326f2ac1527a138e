/* erk: explicit Runge-Kutta on the state-space form, order 8 or, for loose tolerances, order 5.
 *
 * Every stage is a whole vector of columns. The states are combined from the rates of earlier stages, and `complete` solves for the
 * rest. Its guess decides its cost and the branch of its solution, so the other columns are predicted. Those whose derivative is a
 * column are combined as if they were states. All other columns are extrapolated in time. The error of the same prediction in the
 * step before is added to both. A step whose predictions are too far off is rejected. Formulas and step control follow Hairer,
 * Norsett and Wanner, Solving Ordinary Differential Equations I, sections II.4 to II.6. */
#include "base/copy.h"
#include "base/pairs.h"
#include "core/constants.h"
#include "integrate/contract.h"
#include "integrate/erk_coefficients.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
  STAGES_MAX = 16, /* of erk_order8 */
  SPREAD_MAX = 5,  /* points through which columns without a derivative are extrapolated */
  INNER_MAX = 8,   /* points for their interpolation, with the stages of the continuous extension */
  DENSE_MAX = 7,   /* coefficients of the continuous extension */
  TOGETHER = 4,    /* columns combined at a time; arrays of rates and their sums are padded to a multiple of this */
};

/* Stages whose times are well spread over the step, ascending; see erk_extrapolate. */
static const int spread_order8[SPREAD_MAX] = {0, 4, 8, 10, 11};
static const int spread_order5[SPREAD_MAX] = {0, 1, 2, 3, 5};

/* Marks of columns that are not in `column`: NO_DERIVATIVE if the column is interpolated without a derivative, GIVEN if it
 * needs no guess. */
enum { NO_DERIVATIVE = -1, GIVEN = -2 };

typedef struct Erk {
  const System *system;
  const ErkTableau *tableau;
  const ErkTerm *row[STAGES_MAX]; /* first term of each stage except the first */
  const int *spread;
  int inner[INNER_MAX];         /* stages through which columns are interpolated; the last is the end of the step */
  double inner_node[INNER_MAX]; /* their positions in the step */
  double inner_gap[INNER_MAX][INNER_MAX]; /* [i][k]: one divided by the distance between points i and i - k */
  double *divided;                        /* [columns * INNER_MAX] divided differences over these points, by columns */
  uint64_t *divided_of,
      extension; /* [columns] the continuous extension to which the divided differences belong; the number of the last extension */
  double relative, absolute, max_step;
  bool fixed_step;
  const double *unread; /* `unread` of the options */

  /* The columns whose derivatives are columns, too: first the states, then those that are combined only as a guess. */
  int32_t states, paired, free_count, guessed_count, given_count, branch_count;
  int32_t *column, *rate; /* [columns] */
  int32_t *free_columns;  /* [columns] columns whose derivative is not a column; those that need a guess come first */
  int32_t *given;         /* [columns] is not a state, and needs no guess */
  int32_t *branch;        /* [columns] is not a state, and is found only from its prediction */
  int32_t *place;         /* [columns] index in `column`; or NO_DERIVATIVE, GIVEN */

  double t, t_old, h_next, h_last, last_error;
  double h_before;                 /* size of the step of the values in `before`; 0: there are none */
  double shortest_followed;        /* time */
  double departure;                /* largest distance of the present attempt from its predictions; accepted up to 1 */
  bool rejected, held;             /* the last attempt failed; the step was shortened to end at t_stop */
  double *values[STAGES_MAX];      /* all columns at each stage; [0] is the present point between steps */
  double *rates[STAGES_MAX];       /* [paired] rates of each stage */
  double *before[SPREAD_MAX];      /* values of the spread stages of the step before */
  double *missed[STAGES_MAX];      /* solved minus predicted, all columns, when the stage was last computed */
  double missed_step[STAGES_MAX];  /* the step size at that time; 0: not yet computed */
  double *guess, *weight, *sum[2]; /* [columns] */
  double *dense[DENSE_MAX];        /* [paired] coefficients of the continuous extension */
  bool dense_ready, stepped;
  bool dense_whole; /* all stages of the continuous extension were computed */
  int stiff_count, gentle_count, short_count;
  double longest; /* step */
  IntegratorStatistics statistics;
} Erk;

/* Puts the free columns that need a guess first. */
static void erk_sort_free(Erk *erk) {
  const bool *given = erk->system->given;
  erk->guessed_count = 0;
  for (int32_t f = 0; f < erk->free_count; f++) {
    int32_t c = erk->free_columns[f], *first = &erk->free_columns[erk->guessed_count];
    if (given && given[c]) continue;
    erk->free_columns[f] = *first;
    *first = c;
    erk->guessed_count++;
  }
}

static void erk_pair(Erk *erk) {
  const System *system = erk->system;
  memset(erk->guess, 0, (size_t)system->columns * sizeof(double));
  erk->states = system->links;
  for (int32_t i = 0; i < system->links; i++) {
    erk->column[i] = system->link_from[i];
    erk->place[system->link_from[i]] = i;
    erk->rate[i] = system->link_to[i];
    erk->guess[system->link_from[i]] = 1;
    for (int k = 0; k < erk->tableau->all_stages; k++) erk->missed[k][system->link_from[i]] = 0;
  }
  int32_t count = system->links, rest = 0;
  erk->given_count = erk->branch_count = 0;
  for (int32_t c = 0; c < system->columns; c++) {
    if (erk->guess[c] != 0) continue;
    bool given = system->given && system->given[c];
    if (given && system->rates) {
      erk->given[erk->given_count++] = c;
      erk->place[c] = GIVEN;
      continue;
    }
    if (system->given && !given) erk->branch[erk->branch_count++] = c;
    if (system->successor && system->successor[c] >= 0) {
      erk->place[c] = count;
      erk->column[count] = c;
      erk->rate[count++] = system->successor[c];
    } else {
      erk->place[c] = NO_DERIVATIVE;
      erk->free_columns[rest++] = c;
    }
  }
  erk->paired = count;
  erk->free_count = rest;
  erk_sort_free(erk);
}

static void erk_gather_rates(Erk *erk, int stage) {
  const double *values = erk->values[stage];
  double *rates = erk->rates[stage];
  for (int32_t p = 0; p < erk->paired; p++) rates[p] = values[erk->rate[p]];
}

/* The number of points of the step through which columns without a derivative are interpolated. */
static int erk_inner_count(const Erk *erk) {
  return SPREAD_MAX + (erk->dense_whole ? erk->tableau->all_stages - erk->tableau->stages - 1 : 0);
}

/* Lists these points, and the reciprocal distances of each from the points before it. */
static void erk_plan_inner(Erk *erk) {
  const ErkTableau *tableau = erk->tableau;
  for (int i = 0; i < SPREAD_MAX; i++) erk->inner[i] = i + 1 < SPREAD_MAX ? erk->spread[i] : tableau->stages;
  for (int i = tableau->stages + 1; i < tableau->all_stages; i++) erk->inner[SPREAD_MAX + i - tableau->stages - 1] = i;
  for (int i = 0; i < SPREAD_MAX + tableau->all_stages - tableau->stages - 1; i++) {
    erk->inner_node[i] = tableau->node[erk->inner[i]];
    for (int k = 1; k <= i; k++) erk->inner_gap[i][k] = 1 / (erk->inner_node[i] - erk->inner_node[i - k]);
  }
}

static void *erk_create(Heap *heap, const System *system, const IntegratorOptions *options) {
  Erk *erk = heap_alloc(heap, sizeof *erk);
  size_t columns = (size_t)system->columns, whole = columns + TOGETHER - 1;
  bool loose = options->relative_tolerance >= SLIVER && options->min_order <= 5;
  if (options->max_order > 0 && options->max_order < 8) loose = true;
  erk->system = system;
  erk->tableau = loose ? &erk_order5 : &erk_order8;
  for (int k = erk->tableau->stage_count - 1; k >= 0; k--)
    erk->row[erk->tableau->stage[k].row] = &erk->tableau->stage[k];
  erk->spread = loose ? spread_order5 : spread_order8;
  erk_plan_inner(erk);
  erk->relative = options->relative_tolerance;
  erk->absolute = options->absolute_tolerance;
  erk->fixed_step = options->fixed_step;
  erk->unread = options->unread;
  erk->max_step = options->max_step > 0 ? options->max_step : INFINITY;
  erk->column = heap_array(heap, columns, sizeof *erk->column);
  erk->rate = heap_array(heap, columns, sizeof *erk->rate);
  erk->free_columns = heap_array(heap, columns, sizeof *erk->free_columns);
  erk->given = heap_array(heap, columns, sizeof *erk->given);
  erk->branch = heap_array(heap, columns, sizeof *erk->branch);
  erk->place = heap_array(heap, columns, sizeof *erk->place);
  erk->divided = heap_array(heap, columns * INNER_MAX, sizeof *erk->divided);
  erk->divided_of = heap_array(heap, columns, sizeof *erk->divided_of);
  for (int i = 0; i < erk->tableau->all_stages; i++) {
    erk->values[i] = heap_array(heap, columns, sizeof(double));
    erk->rates[i] = heap_array(heap, whole, sizeof(double));
    erk->missed[i] = heap_array(heap, columns, sizeof(double));
  }
  for (int i = 0; i < SPREAD_MAX; i++) erk->before[i] = heap_array(heap, columns, sizeof(double));
  for (int i = 0; i < DENSE_MAX; i++) erk->dense[i] = heap_array(heap, whole, sizeof(double));
  for (int i = 0; i < 2; i++) erk->sum[i] = heap_array(heap, whole, sizeof(double));
  heap_numbers(heap, columns, &erk->guess, &erk->weight);
  return erk;
}

/* sum[p] = the combination of stage rates by the terms of one row; returns the first term after the row. */
static const ErkTerm *erk_combine(const Erk *erk, const ErkTerm *first, const ErkTerm *end, double *sum) {
  const ErkTerm *term = first;
  for (int32_t p = 0; p < erk->paired; p += TOGETHER) {
    Pair sums[2] = {{0, 0}, {0, 0}}, *target = (Pair *)(void *)(sum + p);
    for (term = first; term < end && term->row == first->row; term++) {
      const Pair *rates = (const Pair *)(const void *)(erk->rates[term->column] + p);
      sums[0] += term->weight * rates[0];
      sums[1] += term->weight * rates[1];
    }
    target[0] = sums[0];
    target[1] = sums[1];
  }
  return term;
}

/* Lagrange weights at `target` for the given times. */
static void erk_lagrange(int count, const double *time, double target, double *weight) {
  for (int i = 0; i < count; i++) {
    double top = 1, bottom = 1;
    for (int j = 0; j < count; j++) {
      if (j == i) continue;
      top *= target - time[j];
      bottom *= time[i] - time[j];
    }
    weight[i] = top / bottom;
  }
}

/* Predicts the columns that have no derivative among the columns, by the polynomial through the newest
 * well-spread points of this step and the step before. Times are in units of h, 0 at the start of the
 * step. */
static void erk_extrapolate(const Erk *erk, int stage, double h, double *y) {
  const double *node = erk->tableau->node;
  double time[SPREAD_MAX], weight[SPREAD_MAX];
  const double *point[SPREAD_MAX];
  int count = 0;
  if (erk->guessed_count == 0) return;
  for (int i = SPREAD_MAX - 1; i >= 0; i--) {
    if (erk->spread[i] >= stage) continue;
    time[count] = node[erk->spread[i]];
    point[count++] = erk->values[erk->spread[i]];
  }
  for (int i = SPREAD_MAX - 2; i >= 0 && count < SPREAD_MAX && erk->h_before > LARGEST_MISS * h; i--) {
    time[count] = (node[erk->spread[i]] - 1) * erk->h_before / h;
    point[count++] = erk->before[i];
  }
  erk_lagrange(count, time, node[stage], weight);
  for (int32_t f = 0; f < erk->guessed_count; f++) {
    int32_t c = erk->free_columns[f];
    double sum = 0;
    for (int i = 0; i < count; i++) sum += weight[i] * point[i][c];
    y[c] = sum;
  }
}

/* The factor that scales the error of a stage's last prediction to another step size. */
static double erk_missed_scale(const Erk *erk, int stage, double h) {
  if (erk->missed_step[stage] == 0) return 0;
  double ratio = fmin(h / erk->missed_step[stage], 2);
  return ratio * ratio * ratio;
}

/* Forgets the errors of predictions after an attempt that diverged, because they may have any size. */
static void erk_forget(Erk *erk) {
  for (int i = 0; i < erk->tableau->all_stages; i++) {
    erk->missed_step[i] = 0;
    memset(erk->missed[i], 0, (size_t)erk->system->columns * sizeof(double));
  }
}

/* For columns that are found only from a prediction: their largest distance from it. */
static double erk_departure(const Erk *erk, int stage, double scale) {
  const double *y = erk->values[stage], *missed = erk->missed[stage], *nominal = erk->system->nominal;
  double most = 0;
  for (int32_t b = 0; b < erk->branch_count; b++) {
    int32_t c = erk->branch[b];
    most = fmax(most, fabs(y[c] - erk->guess[c] - scale * missed[c]) / (fabs(y[c]) + nominal[c]));
  }
  return most / FINE;
}

/* The distance that a column moved over this step and the one before. */
static double erk_moved(const Erk *erk, int32_t c) {
  double begin = erk->values[0][c];
  return fabs(erk->values[erk->tableau->stages][c] - begin) + fabs(begin - erk->before[0][c]);
}

/* Smaller differences of a column are not significant. */
static double erk_indifferent(const Erk *erk, int32_t c) {
  return erk->absolute * erk->system->size[c] + erk->relative * fabs(erk->values[0][c]);
}

/* May a stage be on a different solution from the ends of the step? Then the error of its prediction exceeds the whole change of
 * the column. */
static bool erk_is_suspect(const Erk *erk, int stage) {
  for (int32_t b = 0; b < erk->branch_count; b++) {
    int32_t c = erk->branch[b];
    if (fabs(erk->missed[stage][c]) > fmax(erk_moved(erk, c), erk_indifferent(erk, c))) return true;
  }
  return false;
}

/* Does a stage change if it is solved from a guess between the ends of the step? */
static bool erk_is_elsewhere(Erk *erk, int stage, double h) {
  const System *system = erk->system;
  const double *y = erk->values[stage], *begin = erk->values[0], *end = erk->values[erk->tableau->stages];
  double *again = erk->guess, node = erk->tableau->node[stage];
  copy_numbers(again, y, (size_t)system->columns);
  for (int32_t b = 0; b < erk->branch_count; b++) {
    int32_t c = erk->branch[b];
    again[c] = begin[c] + node * (end[c] - begin[c]);
  }
  if (system->complete(system->context, erk->t + node * h, again) != EVAL_OK) return true;
  for (int32_t b = 0; b < erk->branch_count; b++) {
    int32_t c = erk->branch[b];
    if (fabs(again[c] - y[c]) > erk_indifferent(erk, c)) return true;
  }
  return false;
}

/* Is a stage on a different solution from the ends of the step? If so, the error of its prediction would keep the same stage of
 * later steps on that solution, too. */
static bool erk_strays(Erk *erk, double h) {
  if (erk->h_before == 0) return false;
  for (int stage = 1; stage < erk->tableau->stages; stage++)
    if (erk_is_suspect(erk, stage) && erk_is_elsewhere(erk, stage, h)) return true;
  return false;
}

/* Computes the states of a stage from the rates of earlier stages. */
static void erk_combine_stage(Erk *erk, int stage) {
  erk_combine(erk, erk->row[stage], erk->tableau->stage + erk->tableau->stage_count, erk->sum[0]);
}

/* Computes one stage. Only the end of a step needs every column. */
static EvalStatus erk_stage(Erk *erk, int stage, double h) {
  const ErkTableau *tableau = erk->tableau;
  const System *system = erk->system;
  const double *start = erk->values[0];
  double *y = erk->values[stage], *guess = erk->guess, *missed = erk->missed[stage], *sum = erk->sum[0];
  double scale = erk_missed_scale(erk, stage, h), t = erk->t + tableau->node[stage] * h;
  erk_combine_stage(erk, stage);
  for (int32_t p = 0; p < erk->states; p++) y[erk->column[p]] = start[erk->column[p]] + h * sum[p];
  for (int32_t p = erk->states; p < erk->paired; p++) {
    int32_t c = erk->column[p];
    guess[c] = start[c] + h * sum[p];
    y[c] = guess[c] + scale * missed[c];
  }
  for (int32_t f = erk->guessed_count; f < erk->free_count; f++) y[erk->free_columns[f]] = start[erk->free_columns[f]];
  erk_extrapolate(erk, stage, h, guess);
  for (int32_t f = 0; f < erk->guessed_count; f++) {
    int32_t c = erk->free_columns[f];
    y[c] = guess[c] + scale * missed[c];
  }
  bool whole = stage == tableau->stages || !system->rates;
  EvalStatus status = whole ? system->complete(system->context, t, y) : system->rates(system->context, t, y);
  if (status != EVAL_OK) return status;
  if (stage == tableau->stages - 1) erk->departure = erk_departure(erk, stage, scale);
  for (int32_t p = erk->states; p < erk->paired; p++)
    missed[erk->column[p]] = y[erk->column[p]] - guess[erk->column[p]];
  for (int32_t f = 0; f < erk->guessed_count; f++)
    missed[erk->free_columns[f]] = y[erk->free_columns[f]] - guess[erk->free_columns[f]];
  erk->missed_step[stage] = h;
  erk_gather_rates(erk, stage);
  return EVAL_OK;
}

/* Computes stages first <= i < last. */
static EvalStatus erk_stages(Erk *erk, int first, int last, double h) {
  for (int stage = first; stage < last; stage++) {
    EvalStatus status = erk_stage(erk, stage, h);
    if (status != EVAL_OK) return status;
  }
  return EVAL_OK;
}

static void erk_set_weights(Erk *erk, const double *a, const double *b) {
  for (int32_t p = 0; p < erk->states; p++) {
    int32_t c = erk->column[p];
    double size = fmax(fabs(a[c]), fabs(b[c]));
    erk->weight[p] = 1 / (erk->absolute * erk->system->size[c] + erk->relative * size);
  }
}

/* Scaled error of the step, accepted up to 1. With two rows: the combination of Hairer, Norsett and Wanner, section II.10, "an 8th
 * order method with 5th and 3rd order error estimators". */
static double erk_error(Erk *erk, double h) {
  const ErkTableau *tableau = erk->tableau;
  const double *start = erk->values[0];
  const ErkTerm *term = tableau->error, *end = term + tableau->error_count;
  if (erk->states == 0) return 0;
  for (int32_t c = 0; c < erk->system->columns; c++) erk->guess[c] = start[c];
  if (tableau->error_needs_end) {
    erk_set_weights(erk, start, erk->values[tableau->stages]);
  } else {
    erk_combine_stage(erk, tableau->stages);
    for (int32_t p = 0; p < erk->states; p++) erk->guess[erk->column[p]] += h * erk->sum[0][p];
    erk_set_weights(erk, start, erk->guess);
  }
  double norm[2] = {0, 0};
  for (int row = 0; row < tableau->error_rows; row++) {
    term = erk_combine(erk, term, end, erk->sum[row]);
    for (int32_t p = 0; p < erk->states; p++) {
      double e = erk->sum[row][p] * erk->weight[p];
      norm[row] += e * e;
    }
  }
  double count = erk->states;
  if (tableau->error_rows == 1) return h * sqrt(norm[0] / count);
  double bottom = norm[0] + MINOR * norm[1];
  return bottom > 0 ? h * norm[0] / sqrt(bottom * count) : 0;
}

/* The dominant eigenvalue estimated from the two last stages, both at the end of the step, relative to the stability bound (section
 * IV.2 of the second volume, "stiffness detection"). */
static double erk_stiffness(const Erk *erk, double h) {
  const ErkTableau *tableau = erk->tableau;
  const double *y = erk->values[tableau->stages], *z = erk->values[tableau->stages - 1];
  const double *f = erk->rates[tableau->stages], *g = erk->rates[tableau->stages - 1];
  double top = 0, bottom = 0;
  for (int32_t p = 0; p < erk->states; p++) {
    int32_t c = erk->column[p];
    double size = erk->system->nominal[c] + fabs(y[c]), df = (f[p] - g[p]) / size, dy = (y[c] - z[c]) / size;
    top += df * df;
    bottom += dy * dy;
  }
  return bottom > 0 ? h * sqrt(top / bottom) / tableau->stability : 0;
}

/* Counts the steps whose size is limited by stability: those at its bound, and those made shorter to be accurate inside. Steps
 * that are so short that the run would need far too many of them count as well: noise that the method amplifies at rest has no
 * dominant eigenvalue. */
static void erk_watch_stiffness(Erk *erk, double h) {
  if (erk_stiffness(erk, h) > 0.5 || h < erk->shortest_followed) {
    erk->gentle_count = 0;
    if (++erk->stiff_count >= STIFF_STEPS) erk->statistics.stiff = true;
  } else if (++erk->gentle_count >= GENTLE_STEPS) {
    erk->stiff_count = 0;
  }
}

static void erk_watch_length(Erk *erk, double h) {
  erk->longest = fmax(erk->longest, h);
  erk->short_count = h < NEGLIGIBLE * erk->longest ? erk->short_count + 1 : 0;
  if (erk->short_count >= MANY) erk->statistics.stiff = true;
}

static double erk_norm(const Erk *erk, const double *rates) {
  double sum = 0;
  for (int32_t p = 0; p < erk->states; p++) sum += rates[p] * erk->weight[p] * rates[p] * erk->weight[p];
  return sqrt(sum);
}

/* First step, from the sizes of the solution and its first two derivatives (section II.4). */
static double erk_first_step(Erk *erk, double span) {
  int order = erk->tableau->order;
  double largest = fmin(erk->max_step, span);
  if (erk->fixed_step) return largest;
  erk_set_weights(erk, erk->values[0], erk->values[0]);
  for (int32_t p = 0; p < erk->states; p++) erk->sum[0][p] = erk->values[0][erk->column[p]];
  double size = erk_norm(erk, erk->sum[0]), slope = erk_norm(erk, erk->rates[0]);
  double h = size <= NO_SIZE || slope <= NO_SIZE ? FIRST_STEP : MINOR * size / slope;
  h = fmin(h, largest);
  for (int32_t p = 0; p < erk->paired; p++)
    erk->guess[erk->column[p]] = erk->values[0][erk->column[p]] + h * erk->rates[0][p];
  double *y = erk->values[1];
  memcpy(y, erk->values[0], (size_t)erk->system->columns * sizeof(double));
  for (int32_t p = 0; p < erk->paired; p++) y[erk->column[p]] = erk->guess[erk->column[p]];
  if (erk->system->complete(erk->system->context, erk->t + h, y) != EVAL_OK) return GOOD_PART * h;
  for (int32_t p = 0; p < erk->states; p++) erk->sum[0][p] = y[erk->rate[p]] - erk->rates[0][p];
  double bend = fmax(erk_norm(erk, erk->sum[0]) / h, slope);
  double other = bend <= DBL_EPSILON ? fmax(FIRST_STEP, NEGLIGIBLE * h) : pow(MINOR / bend, 1.0 / order);
  return fmin(fmin(100 * h, other), largest);
}

static void erk_begin(Erk *erk, const double *y) {
  memcpy(erk->values[0], y, (size_t)erk->system->columns * sizeof(double));
  erk_pair(erk);
  erk_gather_rates(erk, 0);
  erk->stepped = false;
  erk->dense_ready = false;
}

static void erk_start(void *self, double t, const double *y, double t_end) {
  Erk *erk = self;
  erk_begin(erk, y);
  erk->t = erk->t_old = t;
  erk->h_before = 0;
  erk->last_error = SLIVER;
  erk->rejected = false;
  erk->shortest_followed = VANISHED * (t_end - t);
  erk_forget(erk);
  erk->statistics.order = erk->tableau->order;
  erk->h_next = erk_first_step(erk, t_end - t);
}

static void erk_suggest(void *self, double step) {
  Erk *erk = self;
  if (!erk->fixed_step) erk->h_next = step;
}

/* The end of the last step becomes the start of the next: values and rates move to stage 0, and the spread
 * stages to `before`. This is done only at the next step, so that the continuous extension has all stages until then. */
static void erk_advance(Erk *erk) {
  int last = erk->tableau->stages;
  if (!erk->stepped) return;
  for (int i = 0; i < SPREAD_MAX; i++) {
    swap_numbers(&erk->before[i], &erk->values[erk->spread[i]]);
  }
  memcpy(erk->values[0], erk->values[last], (size_t)erk->system->columns * sizeof(double));
  memcpy(erk->rates[0], erk->rates[last], (size_t)erk->paired * sizeof(double));
  erk->h_before = erk->h_last;
  erk->stepped = false;
  erk->dense_ready = false;
}

static void erk_accept(Erk *erk, double h, double error, double t_new) {
  const ErkTableau *tableau = erk->tableau;
  double exponent = 1.0 / (tableau->error_order + 1) - 0.75 * tableau->memory;
  double factor = SAFETY * pow(fmax(error, DBL_EPSILON), -exponent) * pow(erk->last_error, tableau->memory);
  factor = fmin(tableau->grow, fmax(tableau->shrink, factor));
  if (erk->rejected) factor = fmin(factor, 1);
  erk_watch_stiffness(erk, h);
  erk_watch_length(erk, h);
  if (erk->fixed_step) factor = erk->max_step / h;
  erk->h_next = erk->held ? fmax(erk->h_next, h * factor) : h * factor;
  erk->last_error = fmax(error, SLIVER);
  erk->rejected = false;
  erk->t_old = erk->t;
  erk->t = t_new;
  erk->h_last = h;
  erk->stepped = true;
  erk->statistics.steps++;
  erk->statistics.step = h;
  erk->statistics.next = erk->h_next;
}

static void erk_reject(Erk *erk, double h, double error) {
  double exponent = 1.0 / (erk->tableau->error_order + 1) - 0.75 * erk->tableau->memory;
  erk->h_next = h * fmax(erk->tableau->shrink, SAFETY * pow(error, -exponent));
  erk_forget(erk);
  erk->rejected = true;
  erk->statistics.rejected_error++;
}

/* Coefficients of the continuous extension of a step from `t` of size `h`. If one of its stages lies outside the domain, the cubic
 * Hermite polynomial is used. */
static void erk_prepare_dense(Erk *erk, double t, double h) {
  const ErkTableau *tableau = erk->tableau;
  int last = tableau->stages;
  double now = erk->t;
  erk->t = t;
  bool whole = erk_stages(erk, last + 1, tableau->all_stages, h) == EVAL_OK;
  erk->t = now;
  erk->dense_whole = whole;
  for (int32_t p = 0; p < erk->paired; p++) {
    double rise = erk->values[last][erk->column[p]] - erk->values[0][erk->column[p]];
    erk->dense[0][p] = rise;
    erk->dense[1][p] = h * erk->rates[0][p] - rise;
    erk->dense[2][p] = rise - h * erk->rates[last][p] - erk->dense[1][p];
  }
  const ErkTerm *term = tableau->dense, *end = term + tableau->dense_count;
  for (int row = 0; row < tableau->dense_terms; row++) {
    double *sum = erk->dense[3 + row];
    if (whole) term = erk_combine(erk, term, end, sum);
    for (int32_t p = 0; p < erk->paired; p++) sum[p] = whole ? h * sum[p] : 0;
  }
  erk->dense_ready = true;
  erk->extension++;
}

/* Scaled error inside a step from t whose end is accurate, by the last term of the continuous extension. Near the stability
 * bound this error is far larger than the error at the end, because components that the steps barely damp are large between
 * their ends. Elsewhere the error is not evaluated. */
static double erk_inner_error(Erk *erk, double t, double h) {
  const ErkTableau *tableau = erk->tableau;
  if (tableau->inner == 0 || erk_stiffness(erk, h) < NOTABLE) return 0;
  if (!erk->dense_ready) erk_prepare_dense(erk, t, h);
  return tableau->inner * erk_norm(erk, erk->dense[2 + tableau->dense_terms]) / sqrt(erk->states);
}

/* Computes all stages of one attempt; *error is valid on EVAL_OK. Then, if the step is accurate enough, its end is computed. */
static EvalStatus erk_attempt(Erk *erk, double h, double *error) {
  const ErkTableau *tableau = erk->tableau;
  erk->dense_ready = false;
  EvalStatus status = erk_stages(erk, 1, tableau->stages + tableau->error_needs_end, h);
  if (status != EVAL_OK) return status;
  *error = erk_error(erk, h);
  if (erk->departure > *error && h > erk->shortest_followed) *error = erk->departure;
  if (!isfinite(*error)) return EVAL_DOMAIN;
  if (erk->fixed_step) *error = 1;
  if (*error > 1) return EVAL_OK;
  if (!tableau->error_needs_end) status = erk_stages(erk, tableau->stages, tableau->stages + 1, h);
  if (status != EVAL_OK || erk->fixed_step) return status;
  if (h > erk->shortest_followed && erk_strays(erk, h)) return EVAL_DOMAIN;
  bool is_unread = erk->unread && erk->t + h <= *erk->unread;
  double inner = is_unread ? 0 : erk_inner_error(erk, erk->t, h);
  *error = fmax(*error, inner);
  return EVAL_OK;
}

static StepStatus erk_step(void *self, double t_stop) {
  Erk *erk = self;
  bool domain = false;
  erk_advance(erk);
  for (;;) {
    double h = fmin(erk->h_next, erk->max_step), error = 0;
    erk->held = erk->t + (1 + MINOR) * h >= t_stop;
    if (erk->held) h = t_stop - erk->t;
    if (t_stop <= erk->t) return STEP_OK;
    if (!erk->held && h < integrator_least_step(erk->t, t_stop)) return domain ? STEP_EVALUATION : STEP_TOO_SMALL;
    EvalStatus status = erk_attempt(erk, h, &error);
    if (status == EVAL_STOP) return STEP_EVALUATION;
    domain = status == EVAL_DOMAIN;
    if (domain) {
      erk->h_next = h / SEVERAL;
      erk_forget(erk);
      erk->rejected = true;
      erk->statistics.rejected_convergence++;
    } else if (error > 1) {
      erk_reject(erk, h, error);
    } else {
      erk_accept(erk, h, error, erk->held ? t_stop : erk->t + h);
      return STEP_OK;
    }
  }
}

static bool erk_is_coarse(void *self) {
  Erk *erk = self;
  return erk_inner_error(erk, erk->t_old, erk->h_last) > 1;
}

static double erk_time(const void *self) { return ((const Erk *)self)->t; }

static const double *erk_values(const void *self) {
  const Erk *erk = self;
  return erk->values[erk->stepped ? erk->tableau->stages : 0];
}

/* A column with its derivative at a part of the step. */
static double erk_extended(const Erk *erk, int32_t place, double theta) {
  double sum = 0;
  for (int i = erk->tableau->dense_terms + 2; i >= 0; i--)
    sum = (sum + erk->dense[i][place]) * (i % 2 ? 1 - theta : theta);
  return erk->values[0][erk->column[place]] + sum;
}

/* The divided differences of a column over the points of the step. They are kept, because a search reads the same few columns many
 * times. */
static const double *erk_divide(Erk *erk, int32_t column) {
  double *divided = &erk->divided[(size_t)column * INNER_MAX];
  int count = erk_inner_count(erk);
  if (erk->divided_of[column] == erk->extension) return divided;
  for (int i = 0; i < count; i++) divided[i] = erk->values[erk->inner[i]][column];
  for (int k = 1; k < count; k++)
    for (int i = count - 1; i >= k; i--) divided[i] = (divided[i] - divided[i - 1]) * erk->inner_gap[i][k];
  erk->divided_of[column] = erk->extension;
  return divided;
}

/* A column without a derivative at a part of the step, by Newton's polynomial. */
static double erk_inner_value(Erk *erk, int32_t column, double theta) {
  const double *divided = erk_divide(erk, column), *node = erk->inner_node;
  int last = erk_inner_count(erk) - 1;
  double value = divided[last];
  for (int i = last - 1; i >= 0; i--) value = value * (theta - node[i]) + divided[i];
  return value;
}

/* The position of t in the last step. Prepares the continuous extension. */
static double erk_part(Erk *erk, double t) {
  if (!erk->dense_ready) erk_prepare_dense(erk, erk->t_old, erk->h_last);
  return (t - erk->t_old) / erk->h_last;
}

static void erk_interpolate_all(Erk *erk, double theta, double *y) {
  for (int32_t p = 0; p < erk->paired; p++) y[erk->column[p]] = erk_extended(erk, p, theta);
  for (int32_t g = 0; g < erk->given_count; g++) y[erk->given[g]] = erk->values[erk->tableau->stages][erk->given[g]];
  for (int32_t f = 0; f < erk->free_count; f++)
    y[erk->free_columns[f]] = erk_inner_value(erk, erk->free_columns[f], theta);
}

static void erk_interpolate(void *self, double t, const uint32_t *columns, uint32_t count, double *y) {
  Erk *erk = self;
  double theta = erk_part(erk, t);
  if (!columns) erk_interpolate_all(erk, theta, y);
  for (uint32_t k = 0; k < count && columns; k++) {
    int32_t c = (int32_t)columns[k], place = erk->place[c];
    if (place == GIVEN) y[c] = erk->values[erk->tableau->stages][c];
    else y[c] = place == NO_DERIVATIVE ? erk_inner_value(erk, c, theta) : erk_extended(erk, place, theta);
  }
}

/* The continuous extension; columns without a derivative are interpolated between points. */
static StepShape erk_shape(void *self) {
  Erk *erk = self;
  if (!erk->stepped) return (StepShape){0};
  if (!erk->dense_ready) erk_prepare_dense(erk, erk->t_old, erk->h_last);
  int extended = 3 + (erk->dense_whole ? erk->tableau->dense_terms : 0), inner = erk_inner_count(erk) - 1;
  double error = fmax(erk->last_error, erk_inner_error(erk, erk->t_old, erk->h_last));
  return (StepShape){extended > inner ? extended : inner, erk->tableau->widest_gap, erk->tableau->defect_ratio * error};
}

/* A one-step method has no history that depends on the choice of states; the step size stays. Eigenvalues depend on the choice:
 * one that is about to be exchanged looks stiff, and the next one does not. */
static void erk_switch_states(void *self, const double *y) {
  Erk *erk = self;
  erk_advance(erk);
  erk_begin(erk, y);
  erk->stiff_count = 0;
}

static void erk_statistics(const void *self, IntegratorStatistics *out) { *out = ((const Erk *)self)->statistics; }

extern const Integrator integrator_erk;
const Integrator integrator_erk = {
    .name = "erk",
    .description = "explicit Runge-Kutta of order 8 (order 5 at loose tolerances) on the state-space form",
    .explicit_form = true,
    .is_one_step = true,
    .look_every = 16,
    .look_every_rough = 8,
    .create = erk_create,
    .start = erk_start,
    .suggest = erk_suggest,
    .repeat = integrator_repeat_nothing,
    .step = erk_step,
    .time = erk_time,
    .values = erk_values,
    .segment = {.interpolate = erk_interpolate, .shape = erk_shape, .is_explicit = true, .is_costly = true},
    .is_coarse = erk_is_coarse,
    .switch_states = erk_switch_states,
    .stages = integrator_has_no_stages,
    .statistics = erk_statistics,
};
