/* fit_runs: the runs of a fit compute the model's values at the measurements, and their derivatives with respect to the parameters.
 * The derivatives are the sensitivities of one run. If the model has no sensitivities, they are differences of two runs for each
 * parameter. */
#include "api/fit.h"

#include "base/number.h"
#include "core/constants.h"

#include <math.h>
#include <string.h>

bool fit_is_measured(const daedal_estimate *estimate, uint32_t c, size_t row) {
  return isfinite(trajectory_value(estimate->data, row, estimate->columns.data[c].signal));
}

static void take_values(daedal_estimate *estimate, const double *p) {
  for (uint32_t k = 0; k < estimate->parameters.count; k++)
    estimate->values[k] = (daedal_override){estimate->parameters.data[k].figures.name, p[k], NULL};
}

/* Parameters by name, start values as NAME.start. Lives in the arena. */
static const char *const *list_targets(daedal_estimate *estimate, Arena *arena) {
  const Model *model = estimate->asked->model->model;
  const char **targets = arena_array(arena, estimate->parameters.count + 1, sizeof *targets);
  for (uint32_t k = 0; k < estimate->parameters.count; k++) {
    FitParameter *parameter = &estimate->parameters.data[k];
    uint32_t position = model_find(model, parameter->figures.name);
    bool is_parameter = position != MAP_NONE && model->variables.data[position].role == ROLE_PARAMETER;
    const char *target = arena_printf(arena, is_parameter ? "%s" : "%s.start", parameter->figures.name);
    targets[k] = target;
    parameter->derivatives = arena_array(arena, estimate->columns.count, sizeof *parameter->derivatives);
    for (uint32_t c = 0; c < estimate->columns.count; c++)
      parameter->derivatives[c] = arena_printf(arena, "der(%s, %s)", estimate->columns.data[c].name, target);
  }
  return targets;
}

static void forget_sensitivities(daedal_estimate *estimate) {
  daedal_free(estimate->differentiated);
  estimate->differentiated = NULL;
}

void fit_prepare(daedal_estimate *estimate, daedal_model *model, Arena *arena) {
  daedal_options options = estimate->options;
  estimate->with_values = estimate->plan->options;
  estimate->values = overrides_extend(arena, &estimate->with_values, estimate->parameters.count);
  options.sensitivity = list_targets(estimate, arena);
  estimate->differentiated = daedal_plan_make(model, &options);
  daedal_status status = daedal_status_of(estimate->differentiated);
  if (status != DAEDAL_OK) forget_sensitivities(estimate);
  if (status == DAEDAL_INTERNAL) heap_fail(estimate->asked->heap);
}

/* Work (budget.h) of one evaluation of an equation, including its part in Jacobians and factors. */
enum { ROW_WORK = 50 };

static bool is_astray(const daedal_estimate *estimate) { return (double)estimate->steps > estimate->most_steps; }

/* Called after a step towards residuals of zero. A run that needs many times as many steps as the run before will not lead to a
 * solution. All runs together use one budget. */
static bool count_step(void *context, const daedal_progress *progress) {
  daedal_estimate *estimate = context;
  const daedal_options *options = &estimate->plan->options;
  estimate->steps++;
  if (is_astray(estimate) || !budget_take(estimate->zero.budget, BUDGET_WORK, estimate->step_work)) return true;
  return options->on_step && options->on_step(options->context, progress);
}

static void bound_run(daedal_estimate *estimate, daedal_plan *plan, daedal_options *options) {
  estimate->steps = 0;
  estimate->step_work = (uint64_t)plan->plan->array.columns * ROW_WORK;
  estimate->most_steps =
      plan == estimate->differentiated || estimate->usual_steps == 0 ? INFINITY : estimate->usual_steps / GOOD_PART;
  budget_take(estimate->zero.budget, BUDGET_WORK, NEXT_STEPS * estimate->step_work); /* for its start */
  options->on_step = count_step;
  options->context = estimate;
}

/* Charges the budget for evaluations beyond one for each step. */
static void charge_run(const daedal_estimate *estimate, const RunStatistics *statistics) {
  double more = statistics->residual_evaluations - (double)estimate->steps;
  if (more > 0) budget_take(estimate->zero.budget, BUDGET_WORK, (uint64_t)(more * (double)estimate->step_work));
}

static daedal_result *run_of(daedal_estimate *estimate, daedal_plan *plan, const double *p) {
  daedal_options options = plan->options;
  take_values(estimate, p);
  options.overrides = estimate->with_values.overrides;
  options.override_count = estimate->with_values.override_count;
  if (estimate->zero.budget) bound_run(estimate, plan, &options);
  estimate->runs++;
  return plan_run(plan, &options, RUN_ROWS);
}

daedal_result *fit_run(daedal_estimate *estimate, const double *p) { return run_of(estimate, estimate->plan, p); }

/* Reads the values of a signal of a run at the times of a column's measurements, as one array. false: some are missing. */
static bool read_signal(const daedal_estimate *estimate, const Trajectory *trajectory, const char *name, uint32_t c,
                        double *values) {
  uint32_t signal = signals_find(trajectory->signals, name);
  if (signal == MAP_NONE) return false;
  for (size_t row = 0; row < estimate->data->rows; row++) {
    if (!fit_is_measured(estimate, c, row)) continue;
    double time = trajectory_time(estimate->data, row);
    size_t at = trajectory_find(trajectory, time);
    *values = trajectory_value(trajectory, at, signal);
    if (trajectory_time(trajectory, at) != time || !isfinite(*values++)) return false;
  }
  return true;
}

/* Reads the model's values for all residuals, scaled. With `derivatives`, the names of signals by column, reads these derivatives
 * instead. Allocates nothing, because a refused allocation would lose the result. */
static bool read_values(const daedal_estimate *estimate, const daedal_result *result, const char *const *derivatives,
                        double *values) {
  bool ok = true;
  for (uint32_t c = 0; c < estimate->columns.count && ok; c++) {
    const FitColumn *column = &estimate->columns.data[c];
    const char *name = derivatives ? derivatives[c] : column->name;
    ok = read_signal(estimate, recorder_of(result)->trajectory, name, c, values);
    for (uint32_t k = 0; k < column->values && ok; k++) values[k] *= column->scale;
    values += column->values;
  }
  return ok;
}

/* The values of a run of the plan at p; jacobian NULL: values only. */
static bool values_at(daedal_estimate *estimate, daedal_plan *plan, const double *p, double *values, double *jacobian) {
  if (estimate->is_stopped) return false;
  daedal_result *result = run_of(estimate, plan, p);
  daedal_status status = daedal_status_of(result);
  if (result && estimate->zero.budget) charge_run(estimate, &result->simulation.statistics);
  bool is_stopped = result && result->simulation.statistics.stopped;
  estimate->is_stopped = is_stopped && !is_astray(estimate);
  bool ok = !is_stopped && status == DAEDAL_OK && read_values(estimate, result, NULL, values);
  for (uint32_t k = 0; jacobian && ok && k < estimate->parameters.count; k++)
    ok = read_values(estimate, result, estimate->parameters.data[k].derivatives,
                     jacobian + (size_t)k * estimate->residuals);
  if (ok && jacobian) estimate->usual_steps = (double)estimate->steps;
  daedal_free(result);
  if (status == DAEDAL_INTERNAL) heap_fail(estimate->asked->heap); /* no memory: end the fit as well */
  return ok;
}

/* A step at which the errors of the runs and of the difference formula are similar. */
static double difference_step(const daedal_estimate *estimate, uint32_t k, double p) {
  const FitParameter *parameter = &estimate->parameters.data[k];
  double size = fmax(fabs(p), 1e-3 * fabs(parameter->figures.start));
  return cbrt(estimate->options.tolerance) * (size > 0 ? size : 1);
}

/* A column of the Jacobian by central differences, or by one-sided ones at a bound. */
static bool difference_column(daedal_estimate *estimate, uint32_t k, double *p, double *column, double *other) {
  const FitParameter *parameter = &estimate->parameters.data[k];
  double before = p[k], step = difference_step(estimate, k, before);
  double high = fmin(before + step, parameter->upper), low = fmax(before - step, parameter->lower);
  p[k] = high;
  bool ok = values_at(estimate, estimate->plan, p, column, NULL);
  p[k] = low;
  ok = ok && values_at(estimate, estimate->plan, p, other, NULL);
  p[k] = before;
  for (uint32_t i = 0; ok && i < estimate->residuals; i++) column[i] = (column[i] - other[i]) / (high - low);
  return ok;
}

static void subtract_data(const daedal_estimate *estimate, double *r) {
  for (uint32_t c = 0; c < estimate->columns.count; c++) {
    const FitColumn *column = &estimate->columns.data[c];
    for (size_t row = 0; row < estimate->data->rows; row++)
      if (fit_is_measured(estimate, c, row))
        *r++ -= column->scale * trajectory_value(estimate->data, row, column->signal);
  }
}

/* If no run has sensitivities, differences are used. */
bool fit_evaluate(void *context, const double *p, double *r, double *jacobian) {
  daedal_estimate *estimate = context;
  bool ok = jacobian && estimate->differentiated && values_at(estimate, estimate->differentiated, p, r, jacobian);
  if (!ok && !values_at(estimate, estimate->plan, p, r, NULL)) return false;
  if (!ok && jacobian) forget_sensitivities(estimate);
  for (uint32_t k = 0; jacobian && !ok && k < estimate->parameters.count; k++)
    if (!difference_column(estimate, k, (double *)p, jacobian + (size_t)k * estimate->residuals, estimate->fitted))
      return false;
  subtract_data(estimate, r);
  return true;
}
