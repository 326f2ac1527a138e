/* fit: estimates parameters of a model from measurements, as a handle. This file reads the request and runs the search. The runs
 * are in fit_runs.c, the reports in fit_report.c.
 *
 * Invariant: residual k of column c belongs to the k-th row of the data that has a number in c. */
#include "api/fit.h"

#include "base/number.h"
#include "result/csv.h"
#include "result/load.h"
#include "study/distribution.h"

#include <math.h>
#include <string.h>

static const double FIT_TOLERANCE = 1e-8; /* tolerance of runs, unless the options give one */

/* The request, apart from the options of the runs. */
typedef struct FitWork {
  daedal_estimate *estimate;
  const daedal_fit_options *options;
  daedal_model *model;
} FitWork;

/* ---- reading ---- */

/* The model's own value, for a parameter without a guess. */
static bool model_value(const daedal_estimate *estimate, const char *name, double *value) {
  const Model *model = estimate->asked->model->model;
  uint32_t position = model_find(model, name);
  if (position == MAP_NONE || model->variables.data[position].role != ROLE_PARAMETER) return false;
  *value = estimate->plan->plan->parameters[model->variables.data[position].index];
  return isfinite(*value);
}

static bool read_parameter(daedal_estimate *estimate, const daedal_guess *guess, Arena *arena) {
  FitParameter parameter = {.figures.start = guess->value, .lower = -INFINITY, .upper = INFINITY};
  if (guess->low != guess->high) parameter.lower = guess->low, parameter.upper = guess->high;
  const char *name = user_name(estimate->asked, arena, guess->name ? guess->name : "");
  parameter.figures.name = name;
  const Model *model = estimate->asked->model->model;
  if (model_find(model, name) == MAP_NONE) return refuse_name(model, &estimate->asked->diags, name, "fit");
  bool is_given = !isnan(guess->value);
  if (is_given ? !isfinite(guess->value) : !model_value(estimate, name, &parameter.figures.start))
    return refuse_usage(estimate->asked,
                        arena_printf(arena, "'%s' needs a finite guess: it is not a parameter with a value", name));
  if (!(parameter.lower < parameter.upper) || parameter.figures.start < parameter.lower ||
      parameter.figures.start > parameter.upper)
    return refuse_usage(estimate->asked, arena_printf(arena, "the guess of '%s' is not within its bounds", name));
  vec_push(arena->heap, &estimate->parameters, parameter);
  return true;
}

static bool read_parameters(daedal_estimate *estimate, const daedal_fit_options *options, Arena *arena) {
  for (uint32_t k = 0; k < options->parameter_count; k++)
    if (!read_parameter(estimate, &options->parameters[k], arena)) return false;
  return options->parameter_count > 0 || refuse_usage(estimate->asked, "there are no parameters to fit");
}

static FitColumn *find_column(daedal_estimate *estimate, const char *name) {
  for (uint32_t c = 0; c < estimate->columns.count; c++)
    if (strcmp(estimate->columns.data[c].name, name) == 0) return &estimate->columns.data[c];
  return NULL;
}

/* Reads weights, or deviations, whose reciprocals are the weights. */
static bool read_scales(daedal_estimate *estimate, const daedal_value *list, uint32_t count, bool are_deviations,
                        Arena *arena) {
  const char *kind = are_deviations ? "deviation" : "weight";
  for (uint32_t k = 0; k < count; k++) {
    const char *name = user_name(estimate->asked, arena, list[k].name ? list[k].name : "");
    double scale = list[k].value;
    FitColumn *column = find_column(estimate, name);
    if (!(scale > 0 && isfinite(scale)))
      return refuse_usage(estimate->asked,
                          arena_printf(arena, "the %s of '%s' must be a number above zero", kind, name));
    if (!column)
      return refuse_usage(estimate->asked, arena_printf(arena, "the data has no column '%s' of a variable", name));
    column->scale = are_deviations ? 1 / scale : scale;
  }
  if (are_deviations && count && count < estimate->columns.count)
    return refuse_usage(estimate->asked, "deviations must be given for all columns or for none");
  estimate->knows_deviations |= are_deviations && count;
  return true;
}

/* Finds the columns that are variables of the model; warns about other columns. */
static bool find_columns(daedal_estimate *estimate, Arena *arena) {
  daedal_result *asked = estimate->asked;
  const SignalTable *signals = estimate->data->signals;
  for (uint32_t s = 0; s < signals->list.count; s++) {
    const char *name = user_name(asked, arena, signals->list.data[s].name);
    if (model_find(asked->model->model, name) == MAP_NONE && strncmp(name, "der(", 4) != 0) {
      diag_warning(&asked->diags, DIAG_WARNING, (Span){0}, "the column '%s' of the data is not a variable of the model",
                   name);
      continue;
    }
    vec_push(arena->heap, &estimate->columns, ((FitColumn){.name = name, .signal = s, .scale = 1}));
    for (size_t row = 0; row < estimate->data->rows; row++)
      vec_last(&estimate->columns).values += fit_is_measured(estimate, estimate->columns.count - 1, row);
    estimate->residuals += vec_last(&estimate->columns).values;
  }
  if (!estimate->residuals) return refuse_usage(asked, "the data has no value of any variable of the model");
  return true;
}

static const Trajectory *read_data(daedal_estimate *estimate, const daedal_fit_options *options) {
  daedal_result *asked = estimate->asked;
  if (options->data_text)
    return csv_read(asked->heap, &asked->diags, "data", options->data_text, (uint32_t)strlen(options->data_text));
  if (options->data) return load_result(asked->heap, &asked->diags, options->data);
  refuse_usage(asked, "there is no data to fit");
  return NULL;
}

/* The runs have rows at the times of the data. The last time is the stop time unless one is given. */
static bool take_times(daedal_estimate *estimate, Arena *arena) {
  const Trajectory *data = estimate->data;
  double *times = arena_array(arena, data->rows, sizeof *times);
  uint32_t count = 0;
  for (size_t row = 0; row < data->rows; row++)
    if (!count || trajectory_time(data, row) > times[count - 1]) times[count++] = trajectory_time(data, row);
  estimate->options.output_times = times;
  estimate->options.output_time_count = count;
  if (isnan(estimate->options.stop_time)) estimate->options.stop_time = times[count - 1];
  if (isnan(estimate->options.tolerance)) estimate->options.tolerance = FIT_TOLERANCE;
  return true;
}

static bool data_work(daedal_result *asked, const void *argument) {
  const FitWork *work = argument;
  daedal_estimate *estimate = work->estimate;
  Arena *arena = &asked->diags.arena;
  estimate->asked = asked;
  if (!(estimate->level > 0 && estimate->level < 1))
    return result_finish(asked, refuse_usage(asked, "the level of the intervals must be between 0 and 1"));
  estimate->data = read_data(estimate, work->options);
  return result_finish(
      asked, estimate->data && find_columns(estimate, arena) &&
                 read_scales(estimate, work->options->weights, work->options->weight_count, false, arena) &&
                 read_scales(estimate, work->options->deviations, work->options->deviation_count, true, arena) &&
                 take_times(estimate, arena));
}

/* ---- the search ---- */

static void fill_figures(daedal_estimate *estimate, const double *p) {
  uint32_t n = estimate->parameters.count, m = estimate->residuals,
           freedom = m > estimate->identified.rank ? m - estimate->identified.rank : 0;
  double level = 0.5 + estimate->level / 2;
  estimate->deviation = freedom ? sqrt(estimate->found.squares / freedom) : NAN;
  double scale = estimate->knows_deviations ? 1 : estimate->deviation;
  double reach = estimate->knows_deviations ? normal_quantile(level) : freedom ? student_quantile(freedom, level) : NAN;
  for (uint32_t k = 0; k < n * n; k++) estimate->identified.covariance[k] *= scale * scale;
  for (uint32_t k = 0; k < n; k++) {
    daedal_parameter *figures = &estimate->parameters.data[k].figures;
    figures->value = p[k];
    figures->at_bound = estimate->found.is_bound[k];
    figures->error = sqrt(estimate->identified.covariance[(size_t)k * n + k]);
    figures->low = p[k] - reach * figures->error;
    figures->high = p[k] + reach * figures->error;
  }
}

/* Reports the parameters, or combinations of them, that the data do not determine. */
static void name_unidentified(daedal_estimate *estimate) {
  const Identification *identified = &estimate->identified;
  daedal_result *asked = estimate->asked;
  uint32_t n = estimate->parameters.count;
  for (uint32_t d = 0; d < identified->free - identified->rank; d++) {
    TextVec text = {0};
    uint32_t terms = 0;
    for (uint32_t k = 0; k < n; k++) {
      double change = identified->directions[(size_t)d * n + k];
      if (fabs(change) < 1e-3 && fabs(change * estimate->parameters.data[k].figures.value) < 1e-3) continue;
      text_printf(asked->heap, &text, "%s%s by %.4g", terms++ ? ", " : "", estimate->parameters.data[k].figures.name,
                  change);
    }
    diag_warning(&asked->diags, DIAG_WARNING, (Span){0},
                 terms > 1 ? "the data does not distinguish these parameters: changing %s together has no effect"
                           : "the data does not determine a parameter: changing %s has no effect",
                 text.data ? text.data : "");
    vec_free(asked->heap, &text);
  }
}

static void sum_columns(daedal_estimate *estimate) {
  const double *r = estimate->found.r;
  for (uint32_t c = 0; c < estimate->columns.count; c++) {
    FitColumn *column = &estimate->columns.data[c];
    for (uint32_t k = 0; k < column->values; k++, r++) column->squares += (*r / column->scale) * (*r / column->scale);
  }
}

/* ---- are residuals noise? ---- */

/* The largest measurement of a column. */
static double column_size(const daedal_estimate *estimate, uint32_t c) {
  double size = 0;
  for (size_t row = 0; row < estimate->data->rows; row++)
    if (fit_is_measured(estimate, c, row))
      size = fmax(size, fabs(trajectory_value(estimate->data, row, estimate->columns.data[c].signal)));
  return size;
}

/* The correlation of each residual with the one `lag` values later. */
static double lag_correlation(const double *r, uint32_t count, uint32_t lag) {
  double mean = 0, products = 0, squares = 0;
  for (uint32_t k = 0; k < count; k++) mean += r[k] / count;
  for (uint32_t k = 0; k < count; k++) {
    squares += (r[k] - mean) * (r[k] - mean);
    if (k >= lag) products += (r[k] - mean) * (r[k - lag] - mean);
  }
  return products / squares;
}

/* The limit that chi squared, divided by its degrees of freedom, exceeds only with this probability. The cube root of this
 * quotient is nearly normal (Wilson and Hilferty 1931). */
static double mean_square_limit(double freedom, double significance) {
  double spread = 2 / (9 * freedom);
  return pow(1 - spread + normal_quantile(1 - significance) * sqrt(spread), 3);
}

/* Independent measurement errors have correlations of 0 with a deviation of 1/sqrt(n), at any lag. So n times the sum of
 * squared correlations follows chi squared (Box and Pierce 1970); it is smaller if there are few values or fitted parameters.
 * If residuals do not exceed the errors of the runs, the fit cannot be improved. */
static void judge_column(daedal_estimate *estimate, uint32_t c, const double *r) {
  enum { LEAST_VALUES = 10, LAGS = 4 }; /* a wave of any period has a large correlation at one of four lags */
  static const double runs = 100,
                      significance = 0.001; /* error of runs, in units of the tolerance; significance of all columns
                                                         * together */
  FitColumn *column = &estimate->columns.data[c];
  uint32_t n = column->values, worst = 1;
  double rms = sqrt(column->squares / n), sum = 0, largest = 0;
  column->is_noise = true;
  column->lag = NAN;
  if (n < LEAST_VALUES || rms <= runs * estimate->options.tolerance * column_size(estimate, c)) return;
  column->lag = lag_correlation(r, n, 1);
  for (uint32_t lag = 1; lag <= LAGS; lag++) {
    double correlation = lag_correlation(r, n, lag);
    sum += n * correlation * correlation;
    if (fabs(correlation) > fabs(largest)) largest = correlation, worst = lag;
  }
  double limit = mean_square_limit(LAGS, significance / estimate->columns.count);
  column->is_noise = !(sum / LAGS > limit);
  if (column->is_noise) return;
  const char *other = worst == 1 ? "the next" : arena_printf(&estimate->asked->diags.arena, "that %u later", worst);
  diag_warning(&estimate->asked->diags, DIAG_WARNING, (Span){0},
               "the residuals of %s are not noise: each %s %s (correlation %.2f), so the model is incomplete, and the "
               "errors of the parameters are larger than shown",
               column->name, largest > 0 ? "resembles" : "is opposite to", other, largest);
}

/* Known deviations of the measurements determine how large the residuals should be. */
static void judge_size(daedal_estimate *estimate) {
  static const double significance = 0.001;
  double freedom = (double)estimate->residuals - estimate->identified.rank;
  if (!estimate->knows_deviations || !(freedom > 0)) return;
  double limit = mean_square_limit(freedom, significance), mean = estimate->found.squares / freedom;
  if (mean > limit)
    diag_warning(
        &estimate->asked->diags, DIAG_WARNING, (Span){0},
        "the residuals are %.3g times the deviations given, where noise stays below %.3g: the model is incomplete, or "
        "the measurements are less accurate",
        sqrt(mean), sqrt(limit));
}

static void judge_residuals(daedal_estimate *estimate) {
  const double *r = estimate->found.r;
  for (uint32_t c = 0; c < estimate->columns.count; r += estimate->columns.data[c++].values)
    judge_column(estimate, c, r);
  judge_size(estimate);
}

static bool judge(daedal_estimate *estimate) {
  Diags *diags = &estimate->asked->diags;
  switch (estimate->found.status) {
  case LEAST_SQUARES_CONVERGED: return true;
  case LEAST_SQUARES_UNDEFINED: break;
  case LEAST_SQUARES_ENDLESS:
    diag_error(diags, DIAG_INTEGRATION, (Span){0}, "the fit has not converged after %u iterations",
               estimate->found.iterations);
    return false;
  }
  double *guess = arena_array(&diags->arena, estimate->parameters.count, sizeof *guess);
  for (uint32_t k = 0; k < estimate->parameters.count; k++) guess[k] = estimate->parameters.data[k].figures.start;
  daedal_result *result = fit_run(estimate, guess);
  if (result) diags_append(diags, &result->diags);
  daedal_free(result);
  if (diags_code(diags) == DIAG_NONE)
    diag_error(
        diags, DIAG_INTEGRATION, (Span){0},
        "the run with the start values succeeds, but runs near it fail, or the run lacks a signal for a column of the "
        "data, or the run ends before the data");
  return false;
}

static bool say_exceeded(daedal_estimate *estimate) {
  char message[BUDGET_MESSAGE];
  budget_message(estimate->zero.budget, message);
  diag_error(&estimate->asked->diags, DIAG_LIMIT, (Span){0}, "%s", message);
  return false;
}

/* Keeps the best values so far, without errors. */
static bool say_stopped(daedal_estimate *estimate, const double *p) {
  diag_error(&estimate->asked->diags, DIAG_INTEGRATION, (Span){0}, "stopped before the fit was found, after %u run%s",
             estimate->runs, plural(estimate->runs));
  for (uint32_t k = 0; k < estimate->parameters.count; k++) {
    daedal_parameter *figures = &estimate->parameters.data[k].figures;
    figures->value = p[k];
    figures->error = figures->low = figures->high = NAN;
  }
  return false;
}

static bool search(daedal_estimate *estimate, Arena *arena) {
  uint32_t n = estimate->parameters.count;
  double begin = pipeline_clock(), *p = arena_array(arena, n, sizeof *p);
  double *lower = arena_array(arena, n, sizeof *lower), *upper = arena_array(arena, n, sizeof *upper);
  for (uint32_t k = 0; k < n; k++) {
    const FitParameter *parameter = &estimate->parameters.data[k];
    p[k] = parameter->figures.start, lower[k] = parameter->lower, upper[k] = parameter->upper;
  }
  estimate->fitted = arena_array(arena, estimate->residuals, sizeof *estimate->fitted);
  LeastSquares problem = {.parameters = n,
                          .residuals = estimate->residuals,
                          .lower = lower,
                          .upper = upper,
                          .most_iterations = estimate->most_iterations,
                          .zero = estimate->zero.below,
                          .is_long = estimate->zero.is_long,
                          .evaluate = fit_evaluate,
                          .context = estimate};
  estimate->found = least_squares(&problem, p, arena);
  estimate->seconds = pipeline_clock() - begin;
  if (estimate->zero.budget && estimate->zero.budget->is_exceeded) return say_exceeded(estimate);
  if (estimate->is_stopped) return say_stopped(estimate, p);
  if (!judge(estimate)) return false;
  double precision = 10 * cbrt(estimate->options.tolerance * estimate->options.tolerance);
  estimate->identified =
      identify(estimate->found.jacobian, estimate->residuals, n, estimate->found.is_bound, precision, arena);
  fill_figures(estimate, p);
  sum_columns(estimate);
  name_unidentified(estimate);
  judge_residuals(estimate);
  return estimate->is_done = true;
}

static bool search_work(daedal_result *asked, const void *argument) {
  const FitWork *work = argument;
  daedal_estimate *estimate = work->estimate;
  Arena *arena = &asked->diags.arena;
  if (!read_parameters(estimate, work->options, arena)) return result_finish(asked, false);
  fit_prepare(estimate, work->model, arena);
  return result_finish(asked, search(estimate, arena));
}

static bool copy_diagnostics(daedal_result *asked, const void *argument) {
  diags_append(&asked->diags, argument);
  return result_finish(asked, false);
}

/* Makes the plan, for the parameter values of the model. */
static bool make_plan(daedal_estimate *estimate, daedal_model *model) {
  estimate->plan = daedal_plan_make(model, &estimate->options);
  const daedal_result *made = estimate->plan ? estimate->plan->asked : NULL;
  if (daedal_status_of(estimate->plan) == DAEDAL_OK) return true;
  if (!made || made->broken) estimate->asked->status = DAEDAL_INTERNAL, estimate->asked->broken = true;
  else result_protect(estimate->asked, copy_diagnostics, &made->diags);
  return false;
}

static daedal_fit_options fit_options_given(const daedal_fit_options *options) {
  daedal_fit_options given = {.size = sizeof given};
  if (options) memcpy(&given, options, options->size < sizeof given ? options->size : sizeof given);
  if (given.level == 0) given.level = 0.95;
  if (!given.iterations) given.iterations = 100;
  if (!given.parameters) given.parameter_count = 0;
  if (!given.weights) given.weight_count = 0;
  if (!given.deviations) given.deviation_count = 0;
  return given;
}

daedal_estimate *fit_find(daedal_model *model, const daedal_options *options, const daedal_fit_options *fit_options,
                          FitZero zero) {
  if (!model) return NULL;
  HeapHook hook = *heap_hook(model->heap);
  daedal_estimate *estimate = hook.resize(hook.context, NULL, sizeof *estimate);
  if (!estimate) return NULL;
  memset(estimate, 0, sizeof *estimate);
  daedal_fit_options given = fit_options_given(fit_options);
  estimate->kind = HANDLE_ESTIMATE;
  estimate->hook = hook;
  estimate->options = options_given(options);
  estimate->options.on_event = NULL;
  estimate->level = given.level;
  estimate->most_iterations = given.iterations;
  estimate->zero = zero;
  FitWork work = {estimate, &given, model};
  estimate->asked = result_make(model, &estimate->options, data_work, &work);
  if (!estimate->asked) {
    daedal_free(estimate);
    return NULL;
  }
  if (daedal_status_of(estimate) == DAEDAL_OK && make_plan(estimate, model)) {
    estimate->options = estimate->plan->options;
    result_protect(estimate->asked, search_work, &work);
  }
  return estimate;
}

daedal_estimate *daedal_fit(daedal_model *model, const daedal_options *options, const daedal_fit_options *fit_options) {
  return fit_find(model, options, fit_options, (FitZero){0});
}
