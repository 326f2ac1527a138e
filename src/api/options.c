/* options: turns the options of a call into a request of the pipeline. */
#include "api/handles.h"

#include "base/suggest.h"
#include "result/start_list.h"

#include <math.h>
#include <string.h>

/* Smallest tolerance, and smallest step relative to the time: a little above the round-off of one operation. */
static const double FINEST = 1e-14;

/* Defaults replace members that the caller's struct does not have, and names that are NULL. A NULL list is empty. */
daedal_options options_given(const daedal_options *options) {
  daedal_options given = daedal_default_options();
  if (!options || !options->size) return given;
  daedal_options defaults = given;
  memcpy(&given, options, options->size < sizeof given ? options->size : sizeof given);
  if (!given.method) given.method = defaults.method;
  if (!given.solver) given.solver = defaults.solver;
  if (!given.overrides) given.override_count = 0;
  if (!given.inputs) given.input_count = 0;
  if (!given.input_size) given.input_size = defaults.input_size;
  if (!given.output_times) given.output_time_count = 0;
  if (!given.absolute_tolerances) given.absolute_tolerance_count = 0;
  return given;
}

const char *daedal_version(void) { return DAEDAL_VERSION; }

const char *const *daedal_method_names(void) { return method_names; }
const char *const *daedal_solver_names(void) { return solver_names; }

const char *daedal_nearest_name(const char *word, const char *const *names) {
  Suggestion best = {.word = word};
  for (; word && names && *names; names++) suggest_offer(&best, *names);
  return best.nearest;
}

static double first_given(double a, bool has_b, double b, double otherwise) {
  return !isnan(a) ? a : has_b ? b : otherwise;
}

/* By default a large system gets bdf. It is not stable along the imaginary axis, where the modes of inductors and capacitors
 * are. */
static bool choose_for_circuit(daedal_result *result, const Integrator **integrator) {
  enum { LARGE = 3000 };
  if (*integrator || !result->model->circuit.rings || result->model->counts.equations < LARGE) return true;
  return find_solver(result, "radau", integrator);
}

static bool read_output_times(daedal_result *result, const daedal_options *options, RunOptions *run) {
  const double *times = options->output_times;
  if (!options->output_time_count) return true;
  for (uint32_t k = 0; k < options->output_time_count; k++)
    if (!(k ? times[k] > times[k - 1] : times[k] >= run->start) || times[k] > run->stop)
      return refuse_usage(result, "output times must ascend from the start time to the stop time");
  run->times = times;
  run->time_count = options->output_time_count;
  return true;
}

static bool read_absolute_tolerances(daedal_result *result, const daedal_options *options, RunOptions *run) {
  const Model *model = result->model->model;
  Arena *arena = &result->diags.arena;
  AbsoluteTolerance *absolute = heap_array(result->heap, options->absolute_tolerance_count, sizeof *absolute);
  for (uint32_t k = 0; k < options->absolute_tolerance_count; k++) {
    const daedal_value *given = &options->absolute_tolerances[k];
    const char *name = user_name(result, arena, given->name ? given->name : "");
    uint32_t position = model_find(model, name);
    if (position == MAP_NONE) return refuse_name(model, &result->diags, name, "give an absolute tolerance");
    if (model->variables.data[position].role != ROLE_UNKNOWN)
      return refuse_usage(result, arena_printf(arena, "`%s` is not a continuous variable: it has no tolerance", name));
    if (!(given->value > 0) || !isfinite(given->value))
      return refuse_usage(result,
                          arena_printf(arena, "the absolute tolerance of `%s` must be finite and above zero, not %g",
                                       name, given->value));
    absolute[k] = (AbsoluteTolerance){model->variables.data[position].index, given->value};
  }
  run->absolute = absolute;
  run->absolute_count = options->absolute_tolerance_count;
  return true;
}

/* Given numbers must be finite, and most of them positive. */
static bool check_numbers(daedal_result *result, const daedal_options *options) {
  enum { ANY, NOT_NEGATIVE, POSITIVE };
  static const char *const wanted[] = {"finite", "finite and not negative", "finite and above zero"};
  const struct {
    const char *name;
    double value;
    int least;
  } numbers[] = {{"start time", options->start_time, ANY},
                 {"stop time", options->stop_time, ANY},
                 {"tolerance", options->tolerance, POSITIVE},
                 {"output interval", options->output_interval, POSITIVE},
                 {"longest step", options->max_step, NOT_NEGATIVE}, /* 0: no limit */
                 {"constraint tolerance", options->constraint_tolerance, POSITIVE},
                 {"rank tolerance", options->rank_tolerance, POSITIVE},
                 {"alpha of method baumgarte", options->baumgarte_alpha, POSITIVE},
                 {"beta of method baumgarte", options->baumgarte_beta, POSITIVE},
                 {"memory of the gradient", options->gradient_memory, NOT_NEGATIVE},
                 {"interval of the part file", options->part_interval, NOT_NEGATIVE}};
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
    double value = numbers[k].value;
    int least = numbers[k].least;
    if (isnan(value) || (isfinite(value) && (least == ANY || value > 0 || (value == 0 && least == NOT_NEGATIVE))))
      continue;
    return refuse_usage(
        result, arena_printf(&result->diags.arena, "the %s must be %s, not %g", numbers[k].name, wanted[least], value));
  }
  return true;
}

bool check_analysis(daedal_result *result, const daedal_options *options) {
  const SpiceModel *circuit = &result->model->circuit;
  if (!circuit->topology || circuit->analysis != ANALYSIS_NONE || !isnan(options->stop_time)) return true;
  Diag *diag;
  if (circuit->missing)
    diag =
        diag_error(&result->diags, DIAG_NETLIST, circuit->missing_span,
                   "the netlist requests %s, an analysis that daedal does not have; nothing was run", circuit->missing);
  else
    diag = diag_error(&result->diags, DIAG_NETLIST, (Span){0},
                      "the netlist requests no analysis: .tran, .op or .dc is missing; nothing was run");
  diag_note(&result->diags, diag, (Span){0}, "use a stop time (--stop-time) for a run over time");
  return false;
}

/* .tran step stop start: output begins at `start`, in steps of `step`. */
static bool delay_output(daedal_result *result, RunOptions *run) {
  const SpiceModel *circuit = &result->model->circuit;
  double first = circuit->output_start;
  if (!circuit->topology || !(first > run->start) || run->time_count) return true;
  if (!(first < run->stop)) return refuse_usage(result, "the output begins after the stop time");
  uint32_t count = 1 + (uint32_t)ceil((run->stop - first) / run->interval * (1 - 1e-12));
  double *times = heap_array(result->heap, count, sizeof *times);
  for (uint32_t k = 0; k < count; k++) times[k] = fmin(first + k * run->interval, run->stop);
  times[count - 1] = run->stop;
  run->times = times;
  run->time_count = count;
  return true;
}

bool read_options(daedal_result *result, const daedal_options *options, Request *request) {
  if (has_boundary(result->model) && !request->initialize_only)
    return refuse_usage(result, "the model has final equations, and only `simulate` solves boundary value problems");
  const Experiment *experiment = &result->model->model->experiment;
  RunOptions *run = &request->run;
  request->method = method_find(options->method);
  if (!request->method) return refuse_method(result, options->method);
  if (!check_numbers(result, options)) return false;
  if (options->rank_tolerance >= 1) return refuse_usage(result, "the rank tolerance must be between 0 and 1");
  request->method_options = (MethodOptions){options->baumgarte_alpha, options->baumgarte_beta,
                                            options->keep_superfluous, options->rank_tolerance};
  if (!find_solver(result, options->solver, &run->integrator) || !choose_for_circuit(result, &run->integrator))
    return false;
  run->start = first_given(options->start_time, experiment->has_start, experiment->start, 0);
  run->stop = first_given(options->stop_time, experiment->has_stop, experiment->stop, run->start + 1);
  run->tolerance = first_given(options->tolerance, experiment->has_tolerance, experiment->tolerance, 1e-6);
  run->max_step = isnan(options->max_step) ? result->model->circuit.max_step : options->max_step;
  run->constraint_tolerance =
      isnan(options->constraint_tolerance) ? 100 * run->tolerance : options->constraint_tolerance;
  run->enforces_constraints = request->method->enforces_all || !isnan(options->constraint_tolerance);
  if (!isfinite(run->start) || !isfinite(run->stop) || run->stop < run->start)
    return refuse_usage(result, "the stop time must not be before the start time");
  if (!(run->tolerance >= FINEST) || run->tolerance >= 1)
    return refuse_usage(result, "the tolerance must be at least 1e-14, the round-off of steps, and below 1");
  if (run->max_step > 0 && run->max_step < FINEST * fmax(fabs(run->start), fabs(run->stop)))
    return refuse_usage(result, "the longest step is below the round-off of time");
  run->no_event_rows = options->no_event_rows || result->model->circuit.analysis == ANALYSIS_SWEEP;
  double interval =
      first_given(options->output_interval, !options->intervals && experiment->has_interval, experiment->interval, NAN);
  if (!isnan(interval) && !(interval > 0)) return refuse_usage(result, "the output interval must be positive");
  double count = options->intervals ? options->intervals : 500;
  if (!isnan(interval)) count = ceil((run->stop - run->start) / interval * (1 - 1e-12));
  if (!(count < 1e9)) return refuse_usage(result, "that makes more than 10^9 output points");
  run->intervals = count < 1 ? 1 : (uint32_t)count;
  run->interval = isnan(interval) ? (run->stop - run->start) / run->intervals : interval;
  return read_output_times(result, options, run) && delay_output(result, run) &&
         read_absolute_tolerances(result, options, run);
}

/* Start values of free parameters are treated like overrides: both are guesses. */
static void move_free_starts(const Model *model, double *parameters, double *starts) {
  for (uint32_t p = 0; p < model->parameters.count; p++) {
    uint32_t position = model->parameters.data[p];
    if (!isnan(starts[position]) && isnan(parameters[p])) parameters[p] = starts[position];
  }
}

/* Warns about inputs of the model itself that neither an equation nor an option gives a value; names the first few. */
static void warn_inputs(daedal_result *result, const double *parameters) {
  enum { NAMED = 5 };
  const Model *model = result->model->model;
  TextVec names = {0};
  uint32_t count = 0;
  Span first = {0};
  for (uint32_t p = 0; p < model->parameters.count; p++) {
    const Variable *variable = &model->variables.data[model->parameters.data[p]];
    if (variable->variability <= VARIABILITY_PARAMETER || !isnan(parameters[p])) continue;
    if (!count) first = variable->span;
    if (count++ < NAMED)
      text_printf(result->heap, &names, "%s`%s`", count > 1 ? ", " : "", names_text(model->names, variable->name));
  }
  if (count > NAMED) text_printf(result->heap, &names, " and %u more", count - NAMED);
  if (count)
    diag_warning(&result->diags, DIAG_INPUT_WITHOUT_VALUE, first,
                 count > 1 ? "inputs %s have no values here and keep their start values"
                           : "input %s has no value here and keeps its start value",
                 names.data);
  vec_free(result->heap, &names);
}

/* The initial values in a plan file hold only for its model without changes. */
static bool is_as_planned(const daedal_result *result, const daedal_options *options) {
  return result->model->plan_start && !options->start_from && !options->start_values && isnan(options->start_time) &&
         !result->overrides.count && !result->modifications.count;
}

bool read_starts(daedal_result *result, const daedal_options *options, Request *request) {
  const Model *model = result->model->model;
  double *parameters = heap_array(result->heap, model->parameters.count, sizeof *parameters);
  double *starts = heap_array(result->heap, model->variables.count, sizeof *starts);
  for (uint32_t k = 0; k < model->parameters.count; k++) parameters[k] = NAN;
  for (uint32_t k = 0; k < model->variables.count; k++) starts[k] = NAN;
  request->parameter_overrides = parameters;
  request->starts.start = starts;
  if (options->start_from && !start_list_from_result(result->heap, model, options->start_from, options->start_from_time,
                                                     starts, &result->diags))
    return false;
  if (options->start_values && !start_list_read(result->heap, model, options->start_values, starts, &result->diags))
    return false;
  if (is_as_planned(result, options) &&
      !start_list_take(result->heap, model, result->model->plan_start, source_main(&result->model->source)->path,
                       starts, &result->diags))
    return false;
  move_free_starts(model, parameters, starts);
  if (!overrides_apply(result, parameters, starts)) return false;
  warn_inputs(result, parameters);
  return find_operating_point(result, request, starts);
}

bool read_invariants(daedal_result *result, const daedal_options *options) {
  CompareRequest *comparing = &result->comparing;
  comparing->invariants = user_names(result, &result->diags.arena, options->invariants);
  comparing->invariant_count = names_count(options->invariants);
  for (uint32_t k = 0; k < comparing->invariant_count; k++)
    if (model_find(result->model->model, comparing->invariants[k]) == MAP_NONE)
      return refuse_name(result->model->model, &result->diags, comparing->invariants[k], "watch as an invariant");
  return true;
}
