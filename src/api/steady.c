/* steady: steady states: by Newton's method from the initial values, by continuation from them, by integration until
 * nothing moves; and whether they are stable. */
#include "api/handles.h"

#include "result/json.h"
#include "solve/steady.h"

#include <math.h>
#include <string.h>

/* ---- by integration ---- */

/* How fast the states still move, relative to their sizes. */
static double largest_rate(const View *view, const double *y) {
  const System *system = &view->system;
  double largest = 0;
  for (int32_t k = 0; k < system->links; k++) {
    double size = fabs(y[system->link_from[k]]) + system->nominal[system->link_from[k]];
    largest = fmax(largest, fabs(y[system->link_to[k]]) / size);
  }
  return largest;
}

/* Integrates over stretches that double until Newton's method ends near the point reached, where little moves any more. */
static bool integrate(daedal_result *result, const Request *request, double *y) {
  enum { STRETCHES = 60 };
  static const double slow = 1e-3; /* rate times the time passed */
  Heap *heap = result->heap;
  Simulation *simulation = &result->simulation;
  Request stepped = *request;
  Diags silent = diags_make(heap);
  double span = request->run.stop - request->run.start;
  stepped.initialize_only = false;
  stepped.is_stepped = true;
  stepped.run.stop = request->run.start + ldexp(span, STRETCHES);
  Simulation *moving = heap_alloc(heap, sizeof *moving);
  if (!pipeline_simulate(moving, heap, result->model->model, &stepped, &silent)) return false;
  double *trial = heap_array(heap, (size_t)moving->view->system.columns, sizeof *trial);
  for (int k = 0; k < STRETCHES; k++, span *= 2) {
    if (!simulation_advance(moving, run_time(moving->run) + span, false)) return false;
    if (moving->statistics.stopped) {
      result->steady->is_stopped = true;
      return false;
    }
    const double *reached = run_values(moving->run);
    if (largest_rate(moving->view, reached) * span > slow) continue;
    memcpy(trial, reached, (size_t)moving->view->system.columns * sizeof *trial);
    SteadySystem *steady = steady_new(heap, moving->view, request->run.start);
    if (!steady_newton(steady, trial, &result->steady->iterations)) continue;
    memcpy(y, trial, (size_t)moving->view->system.columns * sizeof *trial);
    *simulation = *moving;
    simulation->diags = &result->diags;
    return true;
  }
  return false;
}

/* ---- the search ---- */

/* The columns that are no state follow, and the state-space form is that of the point. */
static bool settle(daedal_result *result, double t, double *y) {
  View *view = result->simulation.view;
  Exchanges exchanges;
  ConstMoment ahead = {t, y};
  if (view->methods->exchange && view->methods->exchange(view, (Moment){t, y}, ahead, true, &exchanges) < 0)
    return false;
  return view->methods->solve(view, t, y) == EVAL_OK;
}

static const char *search(daedal_result *result, const Request *request, const char *way, double *y) {
  SteadyPoint *point = result->steady;
  SteadySystem *steady = steady_new(result->heap, result->simulation.view, request->run.start);
  bool any = !way;
  if ((any || !strcmp(way, "newton")) && steady_newton(steady, y, &point->iterations)) return "newton";
  if ((any || !strcmp(way, "homotopy")) && steady_continue(steady, y, &point->iterations)) return "homotopy";
  if ((any || !strcmp(way, "integration")) && integrate(result, request, y)) return "integration";
  return NULL;
}

typedef struct SteadyWork {
  const daedal_options *options;
  const char *way;
} SteadyWork;

static bool find(daedal_result *result, const Request *request, const LinearRequest *names, const char *way) {
  Heap *heap = result->heap;
  Simulation *simulation = &result->simulation;
  const Plan *plan = simulation->plan;
  if (simulation->view->system.rates_jacobian == NULL || plan->reduction.reduced.code != plan->code)
    return refuse_usage(result, "steady states need method dummy");
  SteadyPoint *point = result->steady = heap_alloc(heap, sizeof *point);
  size_t columns = (size_t)simulation->view->system.columns;
  point->y = heap_copy(heap, simulation->system.y, columns, sizeof(double));
  point->way = search(result, request, way, point->y);
  if (!point->way && point->is_stopped) {
    diag_error(&result->diags, DIAG_INIT, (Span){0}, "stopped before a steady state was found");
    return false;
  }
  if (!point->way) {
    diag_error(&result->diags, DIAG_INIT, (Span){0},
               "no steady state was found%s%s; other start values, or parameters, may have one", way ? " by " : "",
               way ? way : "");
    return false;
  }
  SteadySystem *steady = steady_new(heap, simulation->view, request->run.start);
  point->residual = steady_residual(steady, point->y);
  point->is_isolated = steady_is_isolated(steady, point->y);
  simulation->system.y = point->y;
  if (!settle(result, request->run.start, point->y)) {
    diag_warning(&result->diags, DIAG_WARNING, (Span){0},
                 "the Jacobian is singular at the steady state: its stability is not known");
    return true;
  }
  recorder_add(simulation->recorder, request->run.start, point->y);
  return linearize_at(result, names, request->run.start, point->y);
}

static bool is_way(const char *way) {
  return !way || !strcmp(way, "newton") || !strcmp(way, "homotopy") || !strcmp(way, "integration");
}

static bool look_for(daedal_result *result, const void *argument) {
  const SteadyWork *work = argument;
  if (!is_way(work->way))
    return end_run(result, refuse_usage(result, "a steady state is found by newton, homotopy or integration"));
  LinearRequest names;
  Request request = {.initialize_only = true, .keeps_method = true};
  Bridge bridge;
  bool ok = read_request(result, work->options, &request) && linear_names_read(result, "", "", &names, &request);
  hand_on_steps(result, &request, &bridge, work->options);
  ok = ok && pipeline_simulate(&result->simulation, result->heap, result->model->model, &request, &result->diags);
  if (ok) trajectory_cut(result->simulation.recorder->trajectory, 0);
  ok = ok && find(result, &request, &names, work->way);
  return end_run(result, ok);
}

daedal_result *daedal_steady(daedal_model *model, const daedal_options *options, const char *way) {
  daedal_options given = options_given(options);
  return result_make(model, &given, look_for, &(SteadyWork){&given, way});
}

/* ---- reports ---- */

/* "stable" where all modes decay, "unstable" where one grows; on the edge the linear form does not tell. */
static const char *stability(const daedal_result *result) {
  static const double edge = 1e-9; /* of the fastest mode */
  const LinearForm *form = result->linear;
  double fastest = 0;
  if (!form) return NULL;
  for (uint32_t k = 0; k < form->states; k++) fastest = fmax(fastest, linear_frequency(form, k));
  double growth = linear_growth(form);
  return growth < -edge * fastest ? "stable" : growth > edge * fastest ? "unstable" : "undecided";
}

static void print_text(daedal_result *result, TextVec *text) {
  Heap *heap = result->heap;
  const SteadyPoint *point = result->steady;
  if (!point || !point->way) return;
  const Recorder *recorder = recorder_of(result);
  text_printf(heap, text, "steady state by %s, %u iterations, largest residual %.2g\n", point->way, point->iterations,
              point->residual);
  if (!point->is_isolated) text_printf(heap, text, "  not isolated: others are next to it\n");
  if (stability(result)) text_printf(heap, text, "  %s\n", stability(result));
  for (uint32_t s = 0; s < recorder->signals->list.count && recorder->trajectory->rows; s++) {
    const Signal *signal = &recorder->signals->list.data[s];
    if (signal->kind == SIGNAL_PARAMETER || signal->kind == SIGNAL_DERIVATIVE) continue;
    text_printf(heap, text, "  %-24s %.10g\n", signal->name, trajectory_value(recorder->trajectory, 0, s));
  }
  for (uint32_t k = 0; result->linear && k < result->linear->states; k++)
    text_printf(heap, text, "%s%.6g %+.6gi\n", k ? "              " : "eigenvalues   ", result->linear->real[k],
                result->linear->imaginary[k]);
}

static void json_values(JsonWriter *json, const Recorder *recorder) {
  json_object_begin(json);
  for (uint32_t s = 0; s < recorder->signals->list.count && recorder->trajectory->rows; s++) {
    const Signal *signal = &recorder->signals->list.data[s];
    if (signal->kind != SIGNAL_PARAMETER)
      json_key_number(json, signal->name, trajectory_value(recorder->trajectory, 0, s));
  }
  json_object_end(json);
}

static void json_eigenvalues(JsonWriter *json, const LinearForm *form) {
  for (uint32_t k = 0; json_next(json, k, form ? form->states : 0); k++) {
    json_array_begin(json);
    json_number(json, form->real[k]);
    json_number(json, form->imaginary[k]);
    json_array_end(json);
  }
}

static void print_json(daedal_result *result, TextVec *text) {
  const SteadyPoint *point = result->steady;
  bool known = point && point->way;
  JsonWriter writer = json_make(result->heap, text), *json = &writer;
  json_object_begin(json);
  json_key_string(json, "status", result->simulation.facts.status);
  JSON_MEMBER(way, known, json_string(json, point->way))
  JSON_MEMBER(iterations, known, json_integer(json, point->iterations))
  JSON_MEMBER(residual, known, json_number(json, point->residual))
  JSON_MEMBER(isolated, known, json_bool(json, point->is_isolated))
  JSON_MEMBER(stability, known, json_string(json, stability(result)))
  JSON_MEMBER(eigenvalues, known, json_eigenvalues(json, result->linear))
  JSON_MEMBER(values, known, json_values(json, recorder_of(result)))
  json_object_end(json);
}

const char *daedal_steady_text(daedal_result *result) { return result_report(result, REPORT_STEADY, print_text); }

const char *daedal_steady_json(daedal_result *result) {
  static const char nothing[] = JSON_NOTHING JSON_NULL(way) JSON_NULL(iterations) JSON_NULL(residual)
      JSON_NULL(isolated) JSON_NULL(stability) JSON_NULL(eigenvalues) JSON_NULL(values) JSON_END;
  return result ? result_report(result, REPORT_STEADY_JSON, print_json) : nothing;
}
