/* simulation: the list of passes of a run, and the method by ranks where structure misled it. */
#include "pipeline/parts.h"

#include "external/external.h"

#include <math.h>
#include <string.h>

/* The longest step of an explicit solver, times the rate at which the method damps deviations. */
static const double EXPLICIT_STEP = 3;

static const double SAME_START = 1e-9; /* relative difference below which initial values are the same */

/* The part of the tolerance for states that ranks choose: values that are computed from them may amplify their errors. */
static double accuracy_by_ranks(double tolerance) { return fmin(1, fmax(0.1, 1e-13 / tolerance)); }

/* The options of the integration: those requested, as far as the method allows. */
static RunOptions integration_options(const Simulation *simulation) {
  const Request *request = &simulation->request;
  const Reduced *reduced = &simulation->plan->reduction.reduced;
  RunOptions options = request->run;
  if (!request->method->by_ranks) options.tolerance *= reduced_accuracy(reduced, options.tolerance);
  else if (!options.integrator) options.tolerance *= accuracy_by_ranks(options.tolerance);
  if (reduced->rate > 0 && (!options.integrator || options.integrator->explicit_form)) {
    double longest =
        EXPLICIT_STEP / reduced->rate; /* keeps the stages stable, and especially the output between them */
    if (options.max_step == 0 || options.max_step > longest) options.max_step = longest;
  }
  return options;
}

void simulation_make_loop(Simulation *simulation) {
  Recorder *recorder = simulation->request.is_stepped ? NULL : simulation->recorder;
  simulation->facts.status = "integration";
  simulation->facts.statistics = &simulation->statistics;
  simulation->facts.tolerance = simulation->request.run.tolerance;
  simulation->options = integration_options(simulation);
  simulation->changed = -HUGE_VAL;
  simulation->run =
      run_new(simulation->heap, &simulation->options, recorder, &simulation->statistics, simulation->diags);
}

static bool pass_begin(Simulation *simulation) {
  if (simulation->request.initialize_only) return true;
  simulation_make_loop(simulation);
  RunStatus status = mode_loop(simulation, false);
  while (status == RUN_RESTRUCTURED) status = mode_follow(simulation);
  evaluator_trim(simulation->system.evaluator);
  return status == RUN_DONE && (!simulation->request.resumption || simulation_take_up(simulation));
}

bool simulation_go_on(Simulation *simulation, RunStatus status, double until, bool once) {
  while (status == RUN_RESTRUCTURED) {
    status = mode_follow(simulation);
    if (status == RUN_DONE && !once) status = run_advance(simulation->run, until, false);
  }
  return status == RUN_DONE;
}

bool simulation_advance(Simulation *simulation, double until, bool once) {
  return simulation_go_on(simulation, run_advance(simulation->run, until, once), until, once);
}

/* Explains the failure of a run whose method cannot change its system, although equations change at events. */
static void blame_method(Simulation *simulation) {
  const Plan *plan = simulation->plan;
  const Method *method = simulation->request.method;
  if (!plan->reduction.reduced.mode || !plan->branches.count) return;
  Model *own = evaluator_model(simulation->original.evaluator);
  diag_warning(
      simulation->diags, DIAG_WARNING, (Span){0},
      "method %s cannot follow equations that change at events, where %s changes; use method dummy", method->name,
      model_text(own, modes_restore(&plan->modes, own->dag, plan->branches.condition[0]), &simulation->diags->arena));
}

static bool pass_integrate(Simulation *simulation) {
  const Request *request = &simulation->request;
  if (request->initialize_only || request->is_stepped) return true;
  bool ok = simulation_advance(simulation, request->run.stop, false) && run_end(simulation->run) == RUN_DONE;
  if (!ok) blame_method(simulation);
  return ok;
}

/* Asks the caller whether to continue. */
static bool is_stopped(void *context) {
  Simulation *simulation = context;
  const RunOptions *options = &simulation->options;
  if (options->on_step &&
      options->on_step(options->context, run_time(simulation->run), simulation->statistics.stepper.steps))
    simulation->statistics.stopped = true;
  return simulation->statistics.stopped;
}

/* If the model ends the run, the time of the end has a derivative, too. A run that the caller has stopped has no gradient. */
static bool pass_gradient(Simulation *simulation) {
  if (!simulation->adjoint || simulation->request.initialize_only || simulation->statistics.stopped) return true;
  if (run_time(simulation->run) < simulation->request.run.stop) {
    diag_error(simulation->diags, DIAG_INTEGRATION, (Span){0},
               "no gradient of %s: the run ends at time %.10g, before its stop time", simulation->request.functional,
               run_time(simulation->run));
    return false;
  }
  simulation->gradient.functional = simulation->request.functional;
  if (!adjoint_finish(simulation->adjoint, run_values(simulation->run), is_stopped, simulation, &simulation->gradient))
    return simulation->statistics.stopped;
  simulation->facts.gradient = &simulation->gradient;
  return true;
}

static bool simulate_alone(Simulation *simulation, Heap *heap, const Model *model, const Request *request,
                           Diags *diags);

/* ---- a singular start ---- */

/* Do two simulations begin with the same values of all unknowns, or of those with start values? */
static bool is_same_start(const Simulation *one, const Simulation *other, bool only_given) {
  const Model *model = one->plan->model;
  for (uint32_t u = 0; u < model->unknowns.count; u++) {
    if (only_given && model->variables.data[model->unknowns.data[u]].start == EXPR_NONE) continue;
    double a = evaluator_value(one->system.evaluator, one->system.y, u, 0);
    double b = evaluator_value(other->system.evaluator, other->system.y, u, 0);
    if (fabs(a - b) > SAME_START * (1 + fabs(a))) return false;
  }
  return true;
}

/* The verdict of ranks about initial values at which the system is singular. */
typedef enum RanksSay {
  RANKS_NOTHING,
  RANKS_SAME,     /* the offsets are right, and the equations are regular at this point */
  RANKS_OTHERS,   /* equations that structural analysis does not differentiate lead to others, */
  RANKS_CONFLICT, /* or contradict them */
} RanksSay;

/* If structural analysis is right near the start, but not exactly at it, ranks may find the values that it does not
 * determine there. They do not contradict the start values that it keeps. */
static RanksSay ask_ranks(Simulation *simulation) {
  Diags *attempt;
  Request asked = ranks_ask(&simulation->request, simulation->heap, &attempt);
  Simulation *other = heap_alloc(simulation->heap, sizeof *other);
  asked.initialize_only = true;
  bool is_found = simulate_alone(other, simulation->heap, simulation->plan->model, &asked, attempt);
  const Strangeness *ranks = other->plan->reduction.strangeness;
  bool is_isolated = ranks && ranks->is_isolated;
  if (!is_found) return diags_code(attempt) == DIAG_INIT && !is_isolated ? RANKS_CONFLICT : RANKS_NOTHING;
  if (is_isolated && !is_same_start(simulation, other, true)) return RANKS_NOTHING;
  simulation->is_free = other->strangeness.u > 0;
  if (other->strangeness.v || other->strangeness.u) return RANKS_NOTHING;
  return is_same_start(simulation, other, false) ? RANKS_SAME : RANKS_OTHERS;
}

/* If the system is singular, the initial values may be wrong: structural analysis has left out equations that they must satisfy.
 * A run checks the blocks that it watches itself. */
static bool pass_start(Simulation *simulation) {
  TurningPoint *point = heap_alloc(simulation->heap, sizeof *point);
  const Method *method = simulation->request.method;
  bool is_watched = simulation->plan->run.watched && !simulation->request.initialize_only;
  if (is_watched || method->by_ranks || !simulation_starts_singular(simulation, point)) return true;
  RanksSay say = ask_ranks(simulation);
  if (say == RANKS_NOTHING || (say == RANKS_SAME && method != &method_dummy)) return true;
  simulation->facts.status = say == RANKS_CONFLICT ? "init" : "singular";
  simulation->statistics.stepper.turning = point;
  if (say == RANKS_CONFLICT)
    diag_error(simulation->diags, DIAG_INIT, (Span){0},
               "no consistent initial values found: the equations have a "
               "solution, but %d of them have a singular Jacobian "
               "there, and it does not satisfy their further derivatives",
               (int)point->size);
  else
    diag_error(simulation->diags, DIAG_SINGULAR_JACOBIAN, (Span){0},
               "the Jacobian of %d equation%s is singular at the initial values", (int)point->size,
               point->size == 1 ? "" : "s");
  return false;
}

/* ---- the list of passes ---- */

typedef struct RunPass {
  bool (*run)(Simulation *simulation);
  size_t seconds;
} RunPass;

static const RunPass RUN_PASSES[] = {
    {pass_view, offsetof(Seconds, code)},           /* makes the system for all branches */
    {mode_begin, offsetof(Seconds, code)},          /* makes the system for the branches at the start, otherwise */
    {pass_start, offsetof(Seconds, init)},          /* finds the values with which the run begins */
    {pass_signals, offsetof(Seconds, code)},        /* lists the recorded signals */
    {pass_begin, offsetof(Seconds, integrate)},     /* begins the loop at the start */
    {pass_integrate, offsetof(Seconds, integrate)}, /* to the end */
    {pass_gradient, offsetof(Seconds, integrate)},  /* and back again */
};

static void report_line(Simulation *simulation, const char *line, uint32_t times) {
  if (times > 1)
    diag_warning(simulation->diags, DIAG_MODEL_SAYS, (Span){0}, "the model prints %u times: %s", times, line);
  else diag_warning(simulation->diags, DIAG_MODEL_SAYS, (Span){0}, "the model prints: %s", line);
}

/* Adds the text that functions printed to the messages; a line that comes several times in a row is one message. */
static void report_printed(Simulation *simulation) {
  enum { SHOWN = 20 };
  TextVec *printed = &external_state(simulation->heap)->printed;
  uint32_t shown = 0, times = 0, more = 0;
  const char *before = NULL;
  for (char *line = printed->count ? printed->data : NULL, *next; line && *line; line = next) {
    char *end =
        line + strcspn(line, "\n"); /* the last line may have no end, because functions in C may print anything */
    next = *end ? end + 1 : end;
    *end = 0;
    bool is_same = before && strcmp(line, before) == 0;
    if (!is_same && times) report_line(simulation, before, times);
    if (!is_same && times && ++shown == SHOWN) before = NULL, times = 0;
    more += shown == SHOWN;
    if (shown == SHOWN) continue;
    times = is_same ? times + 1 : 1;
    before = line;
  }
  if (times) report_line(simulation, before, times);
  if (more) diag_warning(simulation->diags, DIAG_MODEL_SAYS, (Span){0}, "the model prints %u more lines", more);
  printed->count = 0;
}

static bool run_passes(Simulation *simulation) {
  for (size_t p = 0; p < sizeof RUN_PASSES / sizeof *RUN_PASSES; p++) {
    double begin = pipeline_clock();
    bool ok = RUN_PASSES[p].run(simulation);
    seconds_add(&simulation->facts.seconds, RUN_PASSES[p].seconds, begin);
    if (!ok) return false;
  }
  report_printed(simulation);
  simulation->facts.status = "ok";
  return true;
}

/* ---- runs ---- */

void simulation_open(Simulation *simulation, Heap *heap, const Plan *plan, const Request *request, Diags *diags) {
  *simulation = (Simulation){.heap = heap,
                             .stay = {.heap = heap},
                             .arena = arena_make(heap),
                             .diags = diags,
                             .plan = plan,
                             .base = plan,
                             .request = *request,
                             .since = request->run.start};
}

/* Simulates with a new plan, which no other run uses. */
static bool simulate_alone(Simulation *simulation, Heap *heap, const Model *model, const Request *request,
                           Diags *diags) {
  Plan *plan;
  bool ok = plan_make(&plan, heap, model, request, diags);
  simulation_open(simulation, heap, plan, request, diags);
  simulation->request.method = plan->request.method;
  simulation->facts = plan->facts;
  simulation_begin_alone(simulation);
  return ok && run_passes(simulation);
}

/* Was structural analysis wrong: about the equations as written, in the modes, or at the point where the run begins? */
static bool is_misled(const Simulation *simulation) {
  const TurningPoint *point = simulation->statistics.stepper.turning;
  return simulation->plan->is_misled || (point && point->time == simulation->since);
}

/* Takes over the result of another simulation, and its messages. */
static void adopt(Simulation *simulation, const Simulation *other) {
  Heap *heap = simulation->heap;
  Diags *diags = simulation->diags;
  *simulation = *other;
  simulation->arena = arena_make(heap);
  simulation->diags = diags;
}

/* Did the first run begin to integrate, and stop later than the other one? */
static bool is_ahead(const Simulation *simulation, const Simulation *other) {
  const TurningPoint *point = other->statistics.stepper.turning, *reached = simulation->statistics.stepper.turning;
  return point && reached && reached->time > point->time;
}

/* Replaces equations that follow from others, and runs again. If the second run stops later, its result is used. */
static bool run_redundant(Simulation *simulation, uint32_t before) {
  Heap *heap = simulation->heap;
  Diags *attempt = heap_alloc(heap, sizeof *attempt);
  Request asked = simulation->request;
  if (!simulation->view || asked.method->by_ranks || asked.is_redundant) return false;
  if (!simulation->is_free && !is_misled(simulation)) return false;
  Simulation *other = heap_alloc(heap, sizeof *other);
  *attempt = diags_make(heap);
  asked.is_redundant = true;
  asked.resumption = NULL;
  bool ok = simulate_alone(other, heap, simulation->plan->model, &asked, attempt);
  if (!ok && !is_ahead(other, simulation)) return false;
  diags_keep(simulation->diags, before);
  diags_append(simulation->diags, attempt);
  adopt(simulation, other);
  return ok;
}

/* Runs again by ranks where structure misled the run. */
static bool run_by_ranks(Simulation *simulation, uint32_t before) {
  Heap *heap = simulation->heap;
  Diags *attempt, *diags = simulation->diags;
  if (!simulation->view || simulation->request.method->by_ranks || !is_misled(simulation)) return false;
  Request asked = ranks_ask(&simulation->request, heap, &attempt);
  Simulation *other = heap_alloc(heap, sizeof *other);
  if (!simulate_alone(other, heap, simulation->plan->model, &asked, attempt) ||
      !ranks_take_over(&other->strangeness, &simulation->request, attempt, before, diags))
    return false;
  adopt(simulation, other);
  return true;
}

/* If only initial values are requested and the equations leave some free, ranks must still give those of least norm. */
static bool is_done(const Simulation *simulation, bool ok) {
  return ok && !(simulation->is_free && simulation->request.initialize_only);
}

bool simulation_run(Simulation *simulation, Heap *heap, const Plan *plan, const Request *request, Diags *diags) {
  uint32_t before = diags->list.count;
  simulation_open(simulation, heap, plan, request, diags);
  simulation->is_shared = true;
  simulation->request.method = plan->request.method;
  simulation->facts = plan->facts;
  simulation->facts.evaluator = NULL; /* the run must not write to the plan's evaluator */
  simulation->facts.seconds = (Seconds){0};
  double begin = pipeline_clock();
  bool ok = simulation_begin_shared(simulation);
  seconds_add(&simulation->facts.seconds, offsetof(Seconds, init), begin);
  ok = ok && run_passes(simulation);
  return is_done(simulation, ok) || run_redundant(simulation, before) || ok || run_by_ranks(simulation, before);
}

bool pipeline_simulate(Simulation *simulation, Heap *heap, const Model *model, const Request *request, Diags *diags) {
  uint32_t before = diags->list.count;
  bool ok = simulate_alone(simulation, heap, model, request, diags);
  return is_done(simulation, ok) || run_redundant(simulation, before) || ok || run_by_ranks(simulation, before);
}
