/* verify: a simulation and, if the options request it, a second one by another family of methods at a hundredth of the
 * tolerance. The digits in which both agree depend neither on the method nor on the tolerance. */
#include "api/handles.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* FINER is the ratio of the first tolerance to the second: the errors of the second run must be small compared with those of the
 * first. The second tolerance is at least FINEST, below which round-off exceeds the errors of steps. */
static const double FINER = 100, FINEST = 1e-13;

/* Implicit one-step methods check explicit ones and multistep methods; multistep methods check implicit one-step ones. */
static const char *second_solver(const char *first) {
  return strcmp(first, integrator_radau.name) == 0 ? integrator_bdf.name : integrator_radau.name;
}

typedef struct Verification {
  const daedal_result *second; /* NULL: there was no memory for it */
  const char *solver;
  double tolerance;
} Verification;

/* ---- digits ---- */

static double digits_of(double relative) {
  double all = -log10(DBL_EPSILON / 2);
  return relative > 0 ? fmin(all, fmax(0, -log10(relative))) : all;
}

/* The absolute tolerance of a signal; discrete variables have none. */
static double absolute_tolerance(const daedal_result *result, uint32_t signal) {
  const Recorder *recorder = result->simulation.recorder;
  uint32_t column = recorder->signals->list.data[signal].column;
  uint32_t source = column < recorder->count ? recorder->source[column] : MAP_NONE;
  bool is_continuous = source < recorder->evaluator->array->columns;
  return is_continuous ? result->simulation.request.run.tolerance * recorder->evaluator->size[source] : 0;
}

static VerifiedVariable verify_variable(const daedal_result *result, const SignalDifference *found) {
  const SignalTable *signals = result->simulation.recorder->signals;
  double size = found->relative > 0 ? found->largest / found->relative : NAN;
  bool is_below = size <= absolute_tolerance(result, found->signal[0]);
  return (VerifiedVariable){.name = signals->list.data[found->signal[0]].name,
                            .digits = is_below ? NAN : digits_of(found->relative),
                            .difference = found->largest,
                            .size = size,
                            .time = found->time};
}

/* Sorts by difference; signals below their absolute tolerance come last. */
static void list_variables(daedal_result *result, const ResultDifference *difference, VerifyFacts *facts) {
  facts->variables = heap_array(result->heap, difference->count, sizeof *facts->variables);
  for (int below = 0; below < 2; below++) {
    for (uint32_t s = 0; s < difference->count; s++) {
      VerifiedVariable variable = verify_variable(result, &difference->list[s]);
      if (isnan(variable.digits) != (below == 1)) continue;
      facts->variables[facts->count++] = variable;
      facts->below += below == 1;
    }
  }
  if (facts->below < facts->count) facts->least_digits = facts->variables[0].digits;
}

static bool is_listed(const void *context, const char *name) {
  const SignalTable *signals = context;
  return signals_find(signals, name) < signals->listed;
}

static void compare_runs(daedal_result *result, const daedal_result *second, VerifyFacts *facts) {
  const Recorder *recorder = result->simulation.recorder;
  const Trajectory *rows[2] = {recorder->trajectory, second->simulation.recorder->trajectory};
  const RunOptions *run = &result->simulation.request.run;
  Arena arena = arena_make(result->heap);
  double slack = run->tolerance * fabs(run->stop - run->start);
  ResultDifference difference = difference_find_common(&arena, rows, slack, is_listed, recorder->signals);
  facts->points = difference.times;
  if (difference.times) list_variables(result, &difference, facts);
  arena_free(&arena);
}

/* ---- two runs ---- */

static uint64_t count_events(const daedal_result *result) {
  return result->simulation.statistics.stepper.events + result->simulation.statistics.stepper.time_events;
}

/* Why the second run does not verify the first; NULL: it does. */
static const char *find_failure(const daedal_result *second) {
  if (!second || second->broken) return "out of memory";
  for (uint32_t k = 0; k < second->diags.list.count; k++)
    if (second->diags.list.data[k].severity == SEVERITY_ERROR) return second->diags.list.data[k].message;
  if (second->simulation.statistics.stopped) return "it was stopped";
  return second->status == DAEDAL_OK ? NULL : "it has no result";
}

static bool keep_verification(daedal_result *result, const void *argument) {
  const Verification *verification = argument;
  const daedal_result *second = verification->second;
  VerifyFacts *facts = heap_alloc(result->heap, sizeof *facts);
  *facts = (VerifyFacts){.status = !second || second->broken ? "internal" : second->simulation.facts.status,
                         .solver = verification->solver,
                         .tolerance = verification->tolerance,
                         .events = {count_events(result), second ? count_events(second) : 0},
                         .least_digits = NAN};
  const char *failure = find_failure(second);
  if (failure) {
    facts->message = arena_copy(&result->diags.arena, failure, strlen(failure));
    diag_warning(&result->diags, DIAG_NOT_VERIFIED, (Span){0},
                 "the run is not verified: the second one, by %s at tolerance %.3g, failed: %s", facts->solver,
                 facts->tolerance, failure);
  } else compare_runs(result, second, facts);
  result->simulation.facts.verify = facts;
  publish_result(result);
  return true;
}

/* Sets the absolute tolerances of a run whose tolerance differs from that of the result. */
static bool scale_tolerances(daedal_result *result, const void *argument) {
  daedal_options *finer = *(daedal_options *const *)argument;
  double factor = finer->tolerance / result->simulation.request.run.tolerance;
  daedal_value *absolute =
      heap_copy(result->heap, finer->absolute_tolerances, finer->absolute_tolerance_count, sizeof *absolute);
  for (uint32_t k = 0; k < finer->absolute_tolerance_count; k++) absolute[k].value *= factor;
  finer->absolute_tolerances = absolute;
  return true;
}

static void verify(daedal_model *model, daedal_result *result, const daedal_options *options) {
  daedal_options finer = *options;
  Verification verification = {.solver = second_solver(result->simulation.statistics.stepper.solver)};
  verification.tolerance = finer.tolerance = fmax(result->simulation.request.run.tolerance / FINER, FINEST);
  finer.solver = verification.solver;
  finer.sensitivity = NULL;
  finer.gradient = finer.part_path = NULL;
  finer.resumes = false;
  finer.on_event = NULL;
  daedal_options *pointer = &finer;
  bool has_tolerances = result_protect(result, scale_tolerances, &pointer);
  daedal_result *second = has_tolerances ? simulate_once(model, &finer) : NULL;
  verification.second = second;
  result_protect(result, keep_verification, &verification);
  daedal_free(second);
}

/* A run that was stopped, or has no solver, has nothing to verify. */
static bool is_verifiable(const daedal_result *result) {
  return result && result->status == DAEDAL_OK && !result->simulation.statistics.stopped &&
         result->simulation.statistics.stepper.solver && result->simulation.recorder;
}

daedal_result *daedal_simulate(daedal_model *model, const daedal_options *options) {
  daedal_options given = options_given(options);
  daedal_result *result = simulate_once(model, &given);
  if (given.verify && is_verifiable(result)) verify(model, result, &given);
  return result;
}
