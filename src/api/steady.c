/* steady: finds steady states by Newton's method from the initial values, by continuation from them, or by integration
 * until nothing changes. Also decides whether they are stable. */
#include "api/handles.h"

#include "base/number.h"
#include "result/json.h"
#include "vary/steady.h"

#include <math.h>
#include <string.h>

/* ---- the discrete part ----
 *
 * If events matter, a point is steady only if no event follows there. A started run provides the discrete values. Newton's method
 * finds states without rates; the run is set to these states and handles an event there. If the event changes something, Newton's
 * method continues with the new values. */

enum { ROUNDS = 50 };

static bool makes_events(const Simulation *simulation) { return modes_make_events(&simulation->plan->modes); }

/* A run at its start. NULL: an error is in diags. */
static Simulation *begin_run(daedal_result *result, const Request *request, double stop, Diags *diags) {
  Request stepped = *request;
  stepped.initialize_only = false;
  stepped.is_stepped = true;
  stepped.run.stop = stop;
  Simulation *moving = heap_alloc(result->heap, sizeof *moving);
  return pipeline_simulate(moving, result->heap, result->model->model, &stepped, diags) ? moving : NULL;
}

/* Everything that changes at events, and the states. */
typedef struct Moved {
  uint32_t leaves, states;
  double *leaf, *state;
} Moved;

static Moved look_at_run(const Simulation *moving, const double *y, Heap *heap) {
  const View *view = moving->view;
  Moved moved = {.leaves = modes_leaves(view->evaluator->code->modes), .states = (uint32_t)view->system.links};
  moved.leaf = heap_copy(heap, view->evaluator->discretes, moved.leaves, sizeof(double));
  moved.state = heap_array(heap, moved.states, sizeof(double));
  for (uint32_t k = 0; k < moved.states; k++) moved.state[k] = y[view->system.link_from[k]];
  return moved;
}

static bool is_same(const Moved *a, const Moved *b) {
  static const double same = 1e-9; /* relative to sizes, or to 1 */
  if (a->leaves != b->leaves || a->states != b->states) return false;
  for (uint32_t k = 0; k < a->leaves; k++)
    if (a->leaf[k] != b->leaf[k]) return false;
  for (uint32_t k = 0; k < a->states; k++)
    if (fabs(a->state[k] - b->state[k]) > same * (1 + fabs(a->state[k]))) return false;
  return true;
}

/* Moves from y, where all rates of states are zero, to a point where no event follows either. An event that changes the structure
 * ends the search: y has the columns of the present structure. */
static bool comes_to_rest(daedal_result *result, Simulation *moving, double *y) {
  Heap *heap = result->heap;
  Moved seen[ROUNDS];
  const View *view = moving->view;
  for (uint32_t round = 0; round < ROUNDS; round++) {
    Moved before = look_at_run(moving, y, heap);
    simulation_reset_states(moving, y);
    if (!simulation_settle(moving) || moving->view != view) return false;
    const double *reached = run_values(moving->run);
    seen[round] = look_at_run(moving, reached, heap);
    memcpy(y, reached, (size_t)moving->view->system.columns * sizeof *y);
    if (is_same(&before, &seen[round])) return true;
    for (uint32_t k = 0; k < round; k++) result->steady->is_restless |= is_same(&seen[k], &seen[round]);
    SteadySystem *steady = steady_new(heap, moving->view, moving->request.run.start);
    if (result->steady->is_restless || !steady_newton(steady, y, &result->steady->iterations)) return false;
  }
  result->steady->is_restless = true;
  return false;
}

/* Makes this run the simulation of the result. */
static bool take_run(daedal_result *result, const Simulation *moving) {
  result->simulation = *moving;
  result->simulation.diags = &result->diags;
  return true;
}

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

/* Integrates over intervals of doubling length until little changes and Newton's method ends near the point reached. */
static bool integrate(daedal_result *result, const Request *request, double *y) {
  enum { STRETCHES = 60 };
  static const double slow = 1e-3; /* limit for the rate times the elapsed time */
  Heap *heap = result->heap;
  Diags silent = diags_make(heap);
  double span = request->run.stop - request->run.start;
  Simulation *moving = begin_run(result, request, request->run.start + ldexp(span, STRETCHES), &silent);
  if (!moving) return false;
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
    if (makes_events(moving) && !comes_to_rest(result, moving, trial)) return false;
    memcpy(y, trial, (size_t)moving->view->system.columns * sizeof *trial);
    return take_run(result, moving);
  }
  return false;
}

/* ---- the search ---- */

/* Computes the columns that are not states, so that the state-space form is valid at this point. */
static bool settle(daedal_result *result, double t, double *y) {
  View *view = result->simulation.view;
  Exchanges exchanges;
  ConstMoment ahead = {t, y};
  if (view->methods->exchange && view->methods->exchange(view, (Moment){t, y}, ahead, true, &exchanges) < 0)
    return false;
  return view->methods->solve(view, t, y) == EVAL_OK;
}

typedef bool SteadyWay(SteadySystem *steady, double *y, uint32_t *iterations);

/* Searches in one way, from the initial values; with events, in a run that was started there. */
static bool solve(daedal_result *result, const Request *request, SteadyWay *way, double *y) {
  Diags silent = diags_make(result->heap);
  uint32_t *iterations = &result->steady->iterations;
  if (!makes_events(&result->simulation))
    return way(steady_new(result->heap, result->simulation.view, request->run.start), y, iterations);
  Simulation *moving = begin_run(result, request, request->run.stop, &silent);
  if (!moving) return false;
  size_t bytes = (size_t)moving->view->system.columns * sizeof *y;
  double *trial = heap_alloc(result->heap, bytes);
  memcpy(trial, run_values(moving->run), bytes);
  if (!way(steady_new(result->heap, moving->view, request->run.start), trial, iterations)) return false;
  if (!comes_to_rest(result, moving, trial)) return false;
  memcpy(y, trial, bytes);
  return take_run(result, moving);
}

static const char *search(daedal_result *result, const Request *request, const char *way, double *y) {
  const SteadyPoint *point = result->steady;
  bool any = !way;
  if ((any || !strcmp(way, "newton")) && solve(result, request, steady_newton, y)) return "newton";
  if (point->is_restless) return NULL;
  if ((any || !strcmp(way, "homotopy")) && solve(result, request, steady_continue, y)) return "homotopy";
  if (point->is_restless) return NULL;
  if ((any || !strcmp(way, "integration")) && integrate(result, request, y)) return "integration";
  return NULL;
}

/* Samples cause events forever. */
static bool has_no_samples(daedal_result *result) {
  const Plan *plan = result->simulation.plan;
  const Logic *logic = plan->modes.logic;
  if (!logic || !logic->samples.count) return true;
  const LogicSample *sample = &logic->samples.data[0];
  Arena *arena = &result->diags.arena;
  diag_error(
      &result->diags, DIAG_INIT, (Span){0}, "there is no steady state: sample(%s, %s) causes events again and again",
      model_text(plan->problem.model, sample->start, arena), model_text(plan->problem.model, sample->interval, arena));
  return false;
}

/* ---- stability ---- */

/* The linear form after the states are moved along a vector by a fraction of their sizes; false: there is none. */
static bool form_beside(daedal_result *result, const LinearRequest *names, double t, const double *vector, double part,
                        LinearForm *form) {
  View *view = result->simulation.view;
  const System *system = &view->system;
  Diags silent = diags_make(result->heap);
  double *y = heap_copy(result->heap, result->steady->y, (size_t)system->columns, sizeof *y);
  for (int32_t k = 0; k < system->links; k++) {
    int32_t c = system->link_from[k];
    y[c] += part * vector[k] * (fabs(y[c]) + system->nominal[c]);
  }
  LinearRequest request = *names;
  request.varied = result->simulation.plan->varied;
  return view->methods->solve(view, t, y) == EVAL_OK &&
         linear_form(view, result->simulation.recorder, t, y, &request, &result->diags.arena, &silent, form);
}

/* The rate of the only state when it is moved by a fraction of its size. */
static double rate_beside(daedal_result *result, double t, double part) {
  View *view = result->simulation.view;
  const System *system = &view->system;
  double *y = heap_copy(result->heap, result->steady->y, (size_t)system->columns, sizeof *y);
  int32_t c = system->link_from[0];
  y[c] += part * (fabs(y[c]) + system->nominal[c]);
  return view->methods->solve(view, t, y) == EVAL_OK ? y[system->link_to[0]] : NAN;
}

/* With one state, the equation itself decides: does the state move back from points on both sides, at two distances? */
static const char *judge_by_rates(daedal_result *result, double t) {
  static const double near[] = {1e-4, 5e-5}; /* relative to its size */
  bool returns = true, leaves = false;
  for (int k = 0; k < 4; k++) {
    double part = k % 2 ? -near[k / 2] : near[k / 2], rate = rate_beside(result, t, part);
    returns = returns && rate * part < 0;
    leaves = leaves || rate * part > 0;
  }
  return returns ? "stable"
         : leaves && rate_beside(result, t, near[0]) * rate_beside(result, t, near[1]) > 0 &&
                 rate_beside(result, t, -near[0]) * rate_beside(result, t, -near[1]) > 0
             ? "unstable"
             : "undecided";
}

/* "stable" if all modes decay, "unstable" if one grows. An eigenvalue counts as zero if the known error of the point could change
 * its sign; then the linear form does not decide. */
static bool judge(daedal_result *result, const LinearRequest *names, double t) {
  static const double edge = 1e-9, beside = 1e-7; /* relative to the fastest mode; relative to the sizes of states */
  const LinearForm *form = result->linear;
  double fastest = 0, growth = linear_growth(form);
  uint32_t last = 0;
  for (uint32_t k = 0; k < form->states; k++) {
    fastest = fmax(fastest, linear_frequency(form, k));
    if (form->real[k] == growth) last = k;
  }
  bool decides = fabs(growth) > edge * fastest;
  for (int side = -1; side <= 1 && decides && form->states; side += 2) {
    LinearForm other;
    const double *vector = form->vector + (size_t)last * form->states;
    if (form_beside(result, names, t, vector, side * beside, &other))
      decides = fabs(linear_growth(&other) - growth) < fabs(growth);
  }
  result->steady->stability = !decides && form->states == 1 ? judge_by_rates(result, t)
                              : !decides                    ? "undecided"
                              : growth < 0                  ? "stable"
                                                            : "unstable";
  result->steady->is_linear = decides;
  return true;
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
  if (!has_no_samples(result)) return false;
  size_t columns = (size_t)simulation->view->system.columns;
  point->y = heap_copy(heap, simulation->system.y, columns, sizeof(double));
  point->way = search(result, request, way, point->y);
  if (!point->way && point->is_stopped) {
    diag_error(&result->diags, DIAG_INIT, (Span){0}, "stopped before a steady state was found");
    return false;
  }
  if (point->is_restless) {
    diag_error(&result->diags, DIAG_INIT, (Span){0},
               "no steady state was found: at every rest point an event follows, and the events do not end");
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
  return linearize_at(result, names, request->run.start, point->y) && judge(result, names, request->run.start);
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
  const char *const none[] = {NULL};
  bool ok = read_request(result, work->options, &request) && linear_names_read(result, none, none, &names, &request);
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

static void print_text(daedal_result *result, TextVec *text) {
  Heap *heap = result->heap;
  const SteadyPoint *point = result->steady;
  if (!point || !point->way) return;
  const Recorder *recorder = recorder_of(result);
  text_printf(heap, text, "steady state by %s, %u iteration%s, largest residual %.2g\n", point->way, point->iterations,
              plural(point->iterations), point->residual);
  if (!point->is_isolated) text_printf(heap, text, "  not isolated: there are others next to it\n");
  if (point->stability)
    text_printf(heap, text, "  %s%s\n", point->stability, point->is_linear ? "" : ": the linear part does not decide");
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
  JSON_MEMBER(stability, known, json_string(json, point->stability))
  JSON_MEMBER(eigenvalues, known, json_eigenvalues(json, result->linear))
  JSON_MEMBER(values, known, json_values(json, recorder_of(result)))
  json_object_end(json);
}

const char *api_steady_text(daedal_result *result) { return result_report(result, REPORT_STEADY, print_text); }

const char *api_steady_json(daedal_result *result) {
  static const char nothing[] = JSON_NOTHING JSON_NULL(way) JSON_NULL(iterations) JSON_NULL(residual)
      JSON_NULL(isolated) JSON_NULL(stability) JSON_NULL(eigenvalues) JSON_NULL(values) JSON_END;
  return result ? result_report(result, REPORT_STEADY_JSON, print_json) : nothing;
}
