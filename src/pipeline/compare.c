/* compare: see compare.h. */
#include "pipeline/compare.h"

#include "result/json.h"
#include "result/plot.h"

#include <math.h>

/* ---- runs ---- */

/* The reference is this much more accurate. An amplification is measured with a change of this many tolerances: differences
 * between steps are then small compared with the effect of the change. */
static const double MORE_ACCURATE = 0.01, CHANGE = 1000;

static double tolerance_of(const Comparison *comparison, double factor) {
  return fmax(comparison->request->request.run.tolerance * factor, 1e-13);
}

static void run_one(Comparison *comparison, const Model *model, CompareRun *run, const Method *method,
                    const Integrator *integrator, double factor) {
  Request request = comparison->request->request;
  double begin = pipeline_clock();
  run->method = method;
  run->diags = diags_make(comparison->heap);
  request.method = method;
  request.keeps_method = run != &comparison->reference;
  request.run.integrator = integrator;
  request.run.tolerance = tolerance_of(comparison, factor);
  request.run.enforces_constraints = false; /* violations are in the table */
  run->ok = pipeline_simulate(&run->simulation, comparison->heap, model, &request, &run->diags);
  run->seconds = pipeline_clock() - begin;
  comparison->stopped |= run->simulation.statistics.stopped;
  run->difference = run->algebraic_difference = run->amplification = NAN;
}

/* ---- differences ---- */

/* Does the table have the derivative of this signal? */
static bool is_differentiated(const SignalTable *signals, const Signal *signal, Arena *arena) {
  return signal->kind == SIGNAL_STATE ||
         signals_find(signals, arena_printf(arena, "der(%s)", signal->name)) != MAP_NONE;
}

/* The largest difference of one signal at common times, relative to its largest size (or to 1 where that is smaller). */
static double signal_difference(const Trajectory *a, uint32_t in_a, const Trajectory *b, uint32_t in_b) {
  double largest = 0, size = 1;
  size_t k = 0;
  for (size_t r = 0; r < b->rows; r++) {
    double t = trajectory_time(b, r);
    while (k < a->rows && trajectory_time(a, k) < t) k++;
    if (k == a->rows) break;
    if (trajectory_time(a, k) != t) continue;
    double value = trajectory_value(b, r, in_b);
    size = fmax(size, fabs(value));
    largest = fmax(largest, fabs(trajectory_value(a, k, in_a) - value));
    k++;
  }
  return largest / size;
}

static void measure_difference(const CompareRun *reference, CompareRun *run) {
  if (!run->ok || !reference->ok) return;
  Arena arena = arena_make(run->simulation.heap);
  const SignalTable *signals = reference->simulation.recorder->signals;
  run->difference = run->algebraic_difference = 0;
  for (uint32_t s = 0; s < signals->list.count; s++) {
    const Signal *signal = &signals->list.data[s];
    if (signal->kind != SIGNAL_STATE && signal->kind != SIGNAL_ALGEBRAIC) continue;
    uint32_t other = signals_find(run->simulation.recorder->signals, signal->name);
    if (other == MAP_NONE) continue;
    double difference =
        signal_difference(run->simulation.recorder->trajectory, other, reference->simulation.recorder->trajectory, s);
    if (!is_differentiated(signals, signal, &arena)) {
      run->algebraic_difference = fmax(run->algebraic_difference, difference);
    } else if (difference >= run->difference) {
      run->difference = difference;
      run->farthest = s;
    }
  }
  arena_free(&arena);
}

static void measure_invariants(const CompareRequest *request, CompareRun *run) {
  if (!run->ok) return;
  Heap *heap = run->simulation.heap;
  run->invariants = heap_array(heap, request->invariant_count, sizeof *run->invariants);
  for (uint32_t k = 0; k < request->invariant_count; k++)
    run->invariants[k] = recorder_drift(heap, run->simulation.recorder, request->invariants[k]);
}

/* Runs the plan again from a slightly changed start. */
static void measure_amplification(Comparison *comparison, CompareRun *run) {
  if (!run->ok) return;
  CompareRun moved = {.method = run->method, .diags = diags_make(comparison->heap)};
  Request request = run->simulation.request;
  double change = request.perturbation = CHANGE * request.run.tolerance;
  moved.ok = simulation_run(&moved.simulation, comparison->heap, run->simulation.base, &request, &moved.diags);
  moved.difference = NAN;
  measure_difference(run, &moved);
  run->amplification = moved.difference / change;
}

/* Does the method integrate a system with more solutions than the model has? Otherwise it has the model's amplification. */
static bool leaves_constraints(const CompareRun *run) {
  return run->ok && !run->method->enforces_all && run->simulation.view->system.complete;
}

Comparison *compare_run(Heap *heap, const Model *model, const CompareRequest *request) {
  Comparison *comparison = heap_alloc(heap, sizeof *comparison);
  CompareRun *reference = &comparison->reference;
  comparison->heap = heap;
  comparison->request = request;
  comparison->count = request->method_count * request->solver_count;
  comparison->runs = heap_array(heap, comparison->count, sizeof *comparison->runs);
  run_one(comparison, model, reference, &method_dummy, NULL, MORE_ACCURATE);
  measure_amplification(comparison, reference);
  for (uint32_t m = 0; m < request->method_count; m++) {
    for (uint32_t s = 0; s < request->solver_count; s++) {
      uint32_t k = m * request->solver_count + s;
      CompareRun *run = &comparison->runs[k];
      if (comparison->stopped) {
        comparison->count = k;
        return comparison;
      }
      run_one(comparison, model, run, request->methods[m], request->solvers[s], 1);
      measure_difference(reference, run);
      measure_invariants(request, run);
      if (leaves_constraints(run)) measure_amplification(comparison, run);
      else if (run->ok) run->amplification = reference->amplification;
    }
  }
  return comparison;
}

/* ---- residuals by level ---- */

static uint32_t most_levels(const Comparison *comparison) {
  uint32_t levels = 0;
  for (uint32_t k = 0; k < comparison->count; k++) {
    const Constraints *constraints = comparison->runs[k].simulation.statistics.constraints;
    if (constraints && constraints->plan->levels > levels) levels = constraints->plan->levels;
  }
  return levels;
}

static Drift level_drift(Heap *heap, const Constraints *constraints, uint32_t level) {
  uint32_t count = constraints->times.count;
  double *values = heap_array(heap, count, sizeof *values);
  for (uint32_t k = 0; k < count; k++) values[k] = constraints->history.data[k * constraints->plan->levels + level];
  Drift drift = drift_of(constraints->times.data, values, count);
  heap_free(heap, values);
  return drift;
}

/* ---- reports ---- */

static const char *failure(const CompareRun *run) {
  for (uint32_t k = 0; k < run->diags.list.count; k++)
    if (run->diags.list.data[k].severity == SEVERITY_ERROR) return run->diags.list.data[k].message;
  return "";
}

static const char *solver_of(const CompareRun *run, const Integrator *asked) {
  if (run->simulation.statistics.stepper.solver) return run->simulation.statistics.stepper.solver;
  return asked ? asked->name : SOLVER_AUTO;
}

static void text_run(const Comparison *comparison, uint32_t k, uint32_t levels, TextVec *text) {
  Heap *heap = comparison->heap;
  const CompareRun *run = &comparison->runs[k];
  const CompareRequest *request = comparison->request;
  const RunStatistics *statistics = &run->simulation.statistics;
  text_printf(heap, text, "%-15s %-6s", run->method->name, solver_of(run, request->solvers[k % request->solver_count]));
  if (!run->ok) {
    text_printf(heap, text, " %s\n", failure(run));
    return;
  }
  text_printf(heap, text, "%6u %6u %7llu %9.0f %7.0f %9.2f", run->simulation.facts.run_evaluator->array->rows,
              run->simulation.facts.states, (unsigned long long)statistics->stepper.steps,
              ceil(statistics->residual_evaluations), ceil(statistics->jacobian_evaluations), 1e3 * run->seconds);
  for (uint32_t l = 0; l < levels; l++) {
    const Constraints *constraints = statistics->constraints;
    if (l >= constraints->plan->levels) text_printf(heap, text, " %19s", "-");
    else
      text_printf(heap, text, " %9.1e %-9s", constraints->level_worst[l],
                  drift_name(level_drift(heap, constraints, l).kind));
  }
  for (uint32_t i = 0; i < request->invariant_count; i++)
    text_printf(heap, text, " %9.1e %-9s", run->invariants[i].change, drift_name(run->invariants[i].kind));
  text_printf(heap, text, " %9.1e %9.1e\n", run->difference, run->amplification);
}

void compare_text(const Comparison *comparison, TextVec *text) {
  Heap *heap = comparison->heap;
  const CompareRequest *request = comparison->request;
  uint32_t levels = most_levels(comparison);
  Arena arena = arena_make(heap);
  text_printf(heap, text, "%-15s %-6s%6s %6s %7s %9s %7s %9s", "method", "solver", "rows", "states", "steps",
              "residuals", "Jacob.", "ms");
  for (uint32_t l = 0; l < levels; l++) text_printf(heap, text, " level %-2u %10s", l, "drift");
  for (uint32_t i = 0; i < request->invariant_count; i++)
    text_printf(heap, text, " %9.9s %-9s", arena_printable(&arena, request->invariants[i]), "drift");
  arena_free(&arena);
  text_printf(heap, text, " %9s %9s\n", "off by", "amplifies");
  for (uint32_t k = 0; k < comparison->count; k++) text_run(comparison, k, levels, text);
  text_printf(heap, text,
              "level l: largest scaled residual of constraints differentiated l times, at the output points\n");
  if (comparison->reference.ok)
    text_printf(heap, text,
                "off by: largest difference from method %s at tolerance %.2g, of variables whose "
                "derivatives occur\n",
                comparison->reference.simulation.request.method->name, tolerance_of(comparison, MORE_ACCURATE));
  else
    text_printf(heap, text, "off by: not known, since the reference run failed: %s\n", failure(&comparison->reference));
  text_printf(heap, text,
              "amplifies: the factor by which a small change of the states at the start grows during the run\n");
}

static void json_drift(JsonWriter *json, const Drift *drift) {
  json_key_string(json, "drift", drift_name(drift->kind));
  json_key_number(json, "change", drift->change);
}

static void json_levels(const Comparison *comparison, const CompareRun *run, JsonWriter *json) {
  const Constraints *constraints = run->simulation.statistics.constraints;
  for (uint32_t l = 0; json_next_object(json, l, constraints ? constraints->plan->levels : 0); l++) {
    Drift drift = level_drift(comparison->heap, constraints, l);
    json_key_integer(json, "level", l);
    json_key_number(json, "max", constraints->level_worst[l]);
    json_drift(json, &drift);
  }
}

static void json_invariants(const Comparison *comparison, const CompareRun *run, JsonWriter *json) {
  for (uint32_t i = 0; json_next_object(json, i, run->invariants ? comparison->request->invariant_count : 0); i++) {
    json_key_string(json, "name", comparison->request->invariants[i]);
    json_key_number(json, "first", run->invariants[i].first);
    json_key_number(json, "largest", run->invariants[i].largest);
    json_drift(json, &run->invariants[i]);
  }
}

/* The variable that is farthest from the reference. */
static const char *farthest_name(const Comparison *comparison, const CompareRun *run) {
  if (!run->ok || !comparison->reference.ok || !(run->difference > 0)) return NULL;
  return comparison->reference.simulation.recorder->signals->list.data[run->farthest].name;
}

static void json_run(const Comparison *comparison, uint32_t k, JsonWriter *json) {
  const CompareRun *run = &comparison->runs[k];
  const RunStatistics *statistics = &run->simulation.statistics;
  const RunFacts *facts = &run->simulation.facts;
#define RUN_KEY(name, value) json_key(json, #name), value;
#include "pipeline/compare_report.def"
}

static void json_runs(const Comparison *comparison, JsonWriter *json) {
  for (uint32_t k = 0; json_next_object(json, k, comparison->count); k++) {
    json_run(comparison, k, json);
  }
}

static void json_comparison(const Comparison *comparison, JsonWriter *json) {
  const RunOptions *options = &comparison->request->request.run;
#define KEY(name, value) json_key(json, #name), value;
#include "pipeline/compare_report.def"
}

void compare_json(const Comparison *comparison, TextVec *text) {
  JsonWriter json = json_make(comparison->heap, text);
  json_object_begin(&json);
  json_key_string(&json, "status", "ok");
  json_comparison(comparison, &json);
  json_object_end(&json);
}

const char compare_nothing[] = JSON_NOTHING
#define KEY(name, value) JSON_NULL(name)
#include "pipeline/compare_report.def"
    JSON_END;

void compare_svg(const Comparison *comparison, TextVec *text) {
  Heap *heap = comparison->heap;
  Arena arena = arena_make(heap);
  uint32_t levels = most_levels(comparison), count = 0;
  PlotSeries *series = arena_array(&arena, (size_t)comparison->count * levels, sizeof *series);
  for (uint32_t l = 0; l < levels; l++) {
    for (uint32_t k = 0; k < comparison->count; k++) {
      const CompareRun *run = &comparison->runs[k];
      const Constraints *constraints = run->simulation.statistics.constraints;
      if (!constraints || l >= constraints->plan->levels) continue;
      double *values = arena_array(&arena, constraints->times.count, sizeof *values);
      for (uint32_t r = 0; r < constraints->times.count; r++)
        values[r] = constraints->history.data[r * constraints->plan->levels + l];
      const char *label =
          comparison->request->solver_count > 1
              ? arena_printf(&arena, "%s, %s", run->method->name, run->simulation.statistics.stepper.solver)
              : run->method->name;
      series[count++] = (PlotSeries){.label = label,
                                     .unit = arena_printf(&arena, "level %u", l),
                                     .x = constraints->times.data,
                                     .y = values,
                                     .count = constraints->times.count};
    }
  }
  Plot plot = {.title = "largest scaled residual of the constraints",
               .y_label = "residual",
               .log_y = true,
               .series = series,
               .count = count};
  plot_svg(heap, &plot, text);
  arena_free(&arena);
}
