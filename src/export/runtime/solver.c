/* solver: the memory of a run, its start, and the loop of steps and events. */
#include "solver.h"
#include "constants.h"

#include <float.h>
#include <math.h>
#include <string.h>

int solver_has_events(const Model *model) {
  return model->modes || model->decide.levels || model->decide.samples || model->decide.actions || model->delays;
}

/* ---- memory ---- */

/* Arrays next to each other in one block. If `begin` is NULL, they are only counted. */
typedef struct Memory {
  char *begin;
  size_t used;
} Memory;

static void *take(Memory *memory, size_t count, size_t size) {
  size_t start = (memory->used + 15) / 16 * 16;
  memory->used = start + count * size;
  return memory->begin ? memory->begin + start : 0;
}

static double *numbers(Memory *memory, int count) { return take(memory, (size_t)count, sizeof(double)); }
static int *integers(Memory *memory, int count) { return take(memory, (size_t)count, sizeof(int)); }

static int largest(int a, int b) { return a > b ? a : b; }

static void lay_out_point(const Model *model, Memory *memory, Solver *solver) {
  solver->y = numbers(memory, model->columns);
  solver->beyond = numbers(memory, model->columns);
  solver->parameters = numbers(memory, model->parameters);
  solver->overrides = numbers(memory, model->parameters);
  solver->discretes = numbers(memory, model->discretes);
  solver->pre = numbers(memory, model->discretes);
  solver->states = numbers(memory, model->states);
  solver->start = numbers(memory, model->columns);
  solver->size = numbers(memory, model->columns);
  solver->seen = numbers(memory, model->columns);
  solver->from = integers(memory, model->columns);
  solver->to = integers(memory, model->columns);
  solver->depth = integers(memory, model->unknowns);
}

static void lay_out_events(const Model *model, Memory *memory, Solver *solver) {
  Edges *edges = &solver->edges;
  edges->now = take(memory, 1, sizeof *edges->now);
  edges->history = take(memory, (size_t)model->modes, sizeof *edges->history);
  edges->place = take(memory, (size_t)model->modes, sizeof *edges->place);
  edges->difference = numbers(memory, 2 * model->modes);
  edges->rate = numbers(memory, model->modes);
  solver->schedule.timer = take(memory, model->schedule.count, sizeof *solver->schedule.timer);
  solver->schedule.held = numbers(memory, (int)model->schedule.held);
  solver->decide.start = numbers(memory, model->decide.samples);
  solver->decide.interval = numbers(memory, model->decide.samples);
  solver->decide.count = take(memory, (size_t)model->decide.samples, sizeof *solver->decide.count);
  solver->reported = integers(memory, model->decide.actions);
  solver->failure = take(memory, (size_t)model->decide.actions, sizeof *solver->failure);
}

static void lay_out_delays(const Model *model, Memory *memory, Solver *solver) {
  Delays *delays = &solver->delays;
  size_t count = (size_t)model->delays, places = (size_t)model->pieces;
  delays->now = take(memory, 1, sizeof *delays->now);
  delays->channel = take(memory, count, sizeof *delays->channel);
  delays->pipe = take(memory, count, sizeof *delays->pipe);
  delays->breaks = take(memory, count * places, sizeof *delays->breaks);
  delays->entries = take(memory, model->points ? count * places : 0, sizeof *delays->entries);
  delays->pieces = take(memory, places, sizeof *delays->pieces);
  delays->coefficients = take(memory, count * places * PIECE_NODES, sizeof(double));
  solver->past_y = numbers(memory, model->delays ? model->columns : 0);
}

/* Memory that is not part of a saved state. */
static void lay_out_scratch(const Model *model, Memory *memory, Solver *solver) {
  int widest = 2 * model->modes;
  const DecidePlan *decide = &model->decide;
  widest = largest(largest(widest, model->discretes), largest(2 * decide->actions, 2 * decide->samples));
  widest = largest(widest, largest(decide->lefts, largest(decide->initial_steps, model->constants)));
  solver->delays.nodes = numbers(memory, model->delays * PIECE_NODES);
  solver->delays.places = numbers(memory, model->delays * PIECE_NODES);
  solver->delays.values = numbers(memory, largest(3 * model->delays, model->points));
  solver->work = numbers(memory, model->work);
  solver->values = numbers(memory, widest);
  solver->schedule.room = take(memory, model->schedule.room, sizeof *solver->schedule.room);
  const ModelInitial *start = &model->start_system, *point = &model->point;
  solver->initial_y = numbers(memory, largest(start->columns, point->columns));
  solver->initial_target = numbers(memory, largest(largest(start->columns, point->columns), model->point_count));
  solver->point_discretes = numbers(memory, model->point_discretes);
  solver->point_differences = numbers(memory, 2 * model->point_modes);
  solver->initial_trial = numbers(memory, largest(start->rows + start->checks, point->rows));
  solver->initial_entries = numbers(memory, largest(start->nonzeros, point->nonzeros));
  solver->steps.stretches.list = take(memory, 2 * ((size_t)model->modes + 1), sizeof *solver->steps.stretches.list);
  solver->right = numbers(memory, 2 * model->columns);
  solver->row_direction = numbers(memory, model->columns);
  solver->input_rows = numbers(memory, model->rows);
  solver->kept_parameters = numbers(memory, model->parameters);
  solver->differences = numbers(memory, 2 * model->modes);
  solver->edges.slope = numbers(memory, model->modes);
  solver->message_values = numbers(memory, model->message_values);
  solver->branch_values = numbers(memory, model->branches);
  solver->fired = take(memory, (size_t)decide->actions, sizeof *solver->fired);
  double **const per_column[] = {&solver->open_y,  &solver->begin,     &solver->left_y,  &solver->event_y,
                                 &solver->stage_y, &solver->direction, &solver->settle_y};
  for (size_t k = 0; k < sizeof per_column / sizeof *per_column; k++) *per_column[k] = numbers(memory, model->columns);
  solver->successor = integers(memory, model->columns);
}

/* A model as large as the largest of its systems. */
static Model cover(const Model *model) {
  Model all = *model;
  for (int k = 1; k < model->systems; k++) {
    const Model *other = model->system[k];
    int *const sizes[] = {&all.rows, &all.columns, &all.states, &all.work, &all.nonzeros};
    const int others[] = {other->rows, other->columns, other->states, other->work, other->nonzeros};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) *sizes[i] = largest(*sizes[i], others[i]);
    SchedulePlan *schedule = &all.schedule;
    const SchedulePlan *more = &other->schedule;
    if (more->count > schedule->count) schedule->count = more->count;
    if (more->held > schedule->held) schedule->held = more->held;
    if (more->room > schedule->room) schedule->room = more->room;
  }
  return all;
}

/* What is part of a saved state is laid out first. */
static void lay_out(const Model *model, Memory *memory, Solver *solver) {
  solver->changing = solver->now = take(memory, 1, sizeof *solver->now);
  lay_out_point(model, memory, solver);
  lay_out_events(model, memory, solver);
  lay_out_delays(model, memory, solver);
  solver->changing_size = memory->used;
  lay_out_scratch(model, memory, solver);
}

typedef struct Making {
  Heap *heap;
  const Model *model;
  Solver *solver;
} Making;

static void make(void *context) {
  Making *making = context;
  Model all = cover(making->model);
  Solver *solver = heap_alloc(making->heap, sizeof *solver);
  Memory memory = {0, 0};
  lay_out(&all, &memory, solver);
  memory = (Memory){heap_alloc(making->heap, memory.used), 0};
  lay_out(&all, &memory, solver);
  solver->heap = solver->schedule.heap = making->heap;
  solver->first = making->model;
  solver->width = all.states;
  making->solver = solver;
  heap_budget(making->heap)->most[BUDGET_WORK] = UINT64_MAX; /* the caller knows how long a run is */
}

Solver *solver_make(const Model *model, const HeapHook *hook) {
  Making making = {heap_new(hook), model, 0};
  if (!making.heap || !heap_protect(making.heap, make, &making)) {
    heap_destroy(making.heap);
    return 0;
  }
  solver_reset(making.solver);
  return making.solver;
}

void solver_free(Solver *solver) { heap_destroy(solver->heap); }

/* ---- calls ---- */

void solver_refused(Solver *solver) { solver->made_for = solver->formed_for = 0; }

typedef struct Call {
  Solver *solver;
  SolverStatus (*work)(Solver *solver);
  SolverStatus status;
} Call;

static void do_work(void *context) {
  Call *call = context;
  call->status = call->work(call->solver);
}

/* If memory is refused, the call fails, and the next call makes its objects again. */
static SolverStatus protect(Solver *solver, SolverStatus (*work)(Solver *solver)) {
  Call call = {solver, work, SOLVER_FAILED};
  if (heap_protect(solver->heap, do_work, &call)) return call.status;
  solver_refused(solver);
  return SOLVER_FAILED;
}

/* ---- the start ---- */

static int is_changed(const Solver *solver) {
  for (int p = 0; p < solver->model->parameters; p++)
    if (isfinite(solver->overrides[p]) && solver->overrides[p] != solver->model->parameters0[p]) return 1;
  for (int q = 0; q < solver->model->columns; q++)
    if (isfinite(solver->start[q])) return 1;
  return 0;
}

/* Start values for the variables that were set. Returns 1 if there are none. */
static int fill_starts(Solver *solver, double time) {
  const Model *model = solver->model;
  if (model->starts_program) program_run(solver, model->starts_program, model->start, model->y0, solver->y);
  if (initial_point(solver, time, solver->y)) return 1;
  for (int q = 0; q < model->columns; q++)
    if (isfinite(solver->start[q])) solver->y[q] = solver->start[q];
  memcpy(solver->discretes, model->discretes_start, (size_t)model->discretes * sizeof(double));
  memcpy(solver->pre, model->discretes_start, (size_t)model->discretes * sizeof(double));
  return 0;
}

double solver_state(const Solver *solver, const int *column, int k) {
  return k < solver->model->states ? solver->y[column[k]] : 0;
}

void solver_gather(Solver *solver) {
  for (int k = 0; k < solver->width; k++) solver->states[k] = solver_state(solver, solver->from, k);
}

/* Sets the values of the model's text, except for those that were set. */
static void fill_values(Solver *solver) {
  const Model *model = solver->first;
  program_enter(solver, model);
  events_enter(solver);
  double tolerance = solver->now->tolerance, max_step = solver->now->max_step;
  memcpy(solver->y, model->y0, (size_t)model->columns * sizeof(double));
  memcpy(solver->discretes, model->discretes0, (size_t)model->discretes * sizeof(double));
  memcpy(solver->pre, model->pre0, (size_t)model->discretes * sizeof(double));
  memcpy(solver->depth, model->depth0, (size_t)model->unknowns * sizeof(int));
  for (int p = 0; p < model->parameters; p++)
    program_set_parameter(solver, p, isfinite(solver->overrides[p]) ? solver->overrides[p] : model->parameters0[p]);
  edges_forget_slides(&solver->edges);
  *solver->edges.now = (EdgesNow){.crossing = -1, .is_at_start = true};
  schedule_forget(&solver->schedule);
  stretches_forget(&solver->steps.stretches, model->modes);
  solver->steps.looks = (DefectLooks){.rejected = -HUGE_VAL};
  *solver->now = (Scalars){.time = model->start,
                           .tolerance = tolerance,
                           .max_step = max_step,
                           .end = HUGE_VAL,
                           .at = {.t_kink = HUGE_VAL, .t_fold = HUGE_VAL, .t_doubt = HUGE_VAL}};
  solver->delays.now->has_begun = false;
  host_forget_sizes(solver);
  states_link(solver);
}

static SolverStatus restored(Solver *solver) {
  program_enter(solver, solver->now->system ? solver->first->system[solver->now->system] : solver->first);
  events_enter(solver);
  solver->has_new_parameters = true;
  states_link(solver);
  host_saved(solver);
  return SOLVER_OK;
}

/* The saved and the restored run continue with the same numbers: both forget all points so far. */
static SolverStatus saved(Solver *solver) {
  states_link(solver);
  host_saved(solver);
  return SOLVER_OK;
}

SolverStatus solver_restored(Solver *solver) { return protect(solver, restored); }
SolverStatus solver_saved(Solver *solver) { return protect(solver, saved); }

void solver_reset(Solver *solver) {
  const Model *model = solver->first;
  memset(solver->changing, 0, solver->changing_size);
  for (int p = 0; p < model->parameters; p++) solver->overrides[p] = nan("");
  for (int q = 0; q < model->columns; q++) solver->start[q] = nan("");
  solver->now->tolerance = model->tolerance;
  solver->now->max_step = model->max_step > 0 ? model->max_step : HUGE_VAL;
  memcpy(solver->depth, model->depth0, (size_t)model->unknowns * sizeof(int));
  program_enter(solver, model);
  events_enter(solver);
}

/* Relations hold as written. If that has no solution, as when all ideal diodes of a bridge conduct at a voltage of 0, relations
 * on an edge have the values that hold right after the start. */
static int find_start(Solver *solver, double time) {
  for (int as_written = 1; as_written >= 0; as_written--) {
    solver->edges.now->is_at_start = as_written;
    if (!fill_starts(solver, time) && !events_initial(solver, time, solver->y)) return 0;
  }
  return 1;
}

/* Makes and starts the integrator: at the first event or step, as an importer may do all steps itself. */
static void begin_steps(Solver *solver) {
  host_note_sizes(solver);
  host_start(solver, 0);
}

static SolverStatus start(Solver *solver) {
  Scalars *now = solver->now;
  double time = solver->until;
  fill_values(solver);
  now->time = now->at.before = time;
  now->is_started = time == solver->model->start && !is_changed(solver);
  if (!now->is_started) {
    if (!solver->model->can_start) return SOLVER_FAILED;
    program_set_dependents(solver);
    if (find_start(solver, time)) return SOLVER_FAILED;
  } else if (events_initial(solver, time, solver->y)) return SOLVER_FAILED;
  solver->open.is_open = false;
  solver->waits_for_step = true;
  if (solver_has_events(solver->model)) begin_steps(solver);
  if (events_first(solver)) return SOLVER_FAILED;
  solver_gather(solver);
  return now->asserted ? SOLVER_FAILED : SOLVER_OK;
}

SolverStatus solver_start(Solver *solver, double time) {
  solver->until = time;
  return protect(solver, start);
}

/* The states may be far from the states of the last call. Columns that cannot be followed to the new states are therefore
 * searched for. After a failure the columns are unchanged. */
static SolverStatus complete(Solver *solver) {
  size_t size = (size_t)solver->model->columns * sizeof(double);
  memcpy(solver->stage_y, solver->y, size);
  for (int is_following = 1; is_following >= 0; is_following--) {
    /* Columns that are found from any guess begin at 0, so that they are the same to the last bit regardless of the
     * importer's calls. */
    for (int q = 0; q < solver->model->columns; q++)
      if (solver->model->given[q]) solver->y[q] = 0;
    for (int k = 0; k < solver->model->states; k++) solver->y[solver->from[k]] = solver->states[k];
    if (states_solve(solver, solver->now->time, solver->y, is_following ? state_form_follow : state_form_find) ==
        SOLVER_OK)
      return SOLVER_OK;
    memcpy(solver->y, solver->stage_y, size);
  }
  return SOLVER_DOMAIN;
}

SolverStatus solver_complete(Solver *solver) { return protect(solver, complete); }

/* ---- steps ---- */

/* Keeps the values of the last step that delays will read. */
static SolverStatus keep_past(Solver *solver) {
  if (!solver->model->delays) return SOLVER_OK;
  bool is_kept = steps_keep_past(&solver->steps, solver->now->time, solver->y);
  return is_kept && delays_fault(&solver->delays) < 0 ? SOLVER_OK : SOLVER_FAILED;
}

/* Delays read values between the ends of steps, which an importer does not report. So the run follows the importer to its
 * time by its own steps, from the end of the history. */
SolverStatus solver_follow(Solver *solver) {
  Scalars *now = solver->now;
  size_t size = (size_t)solver->model->columns * sizeof(double);
  double t = now->time, known = delays_end(&solver->delays);
  SolverStatus status;
  if (!(t > known)) return SOLVER_OK;
  memcpy(solver->left_y, solver->y, size);
  memcpy(solver->y, solver->past_y, size);
  now->time = known;
  status = host_follow(solver, t);
  memcpy(solver->y, solver->left_y, size);
  memcpy(solver->past_y, solver->left_y, size);
  now->time = t;
  return delays_fault(&solver->delays) >= 0 ? SOLVER_FAILED : status;
}

int solver_settle(Solver *solver, int mode) {
  Scalars *now = solver->now;
  bool is_folded = now->is_folded;
  if (is_folded) memcpy(solver->y, solver->beyond, (size_t)solver->model->columns * sizeof(double));
  now->is_folded = 0;
  if (!is_folded && !solver_has_events(solver->model)) return 0;
  int failed = events_pass(solver, mode);
  now->changed |= is_folded;
  return failed;
}

static SolverStatus pass_event(Solver *solver, int mode) {
  const Scalars *now = solver->now;
  bool is_folded = now->is_folded;
  if (now->time >= now->end) solver->edges.now->is_at_start = true;
  if (solver_settle(solver, mode) || now->asserted) return SOLVER_FAILED;
  host_pass_event(solver, mode >= 0 || is_folded ? mode : now->at.timed);
  return SOLVER_OK;
}

/* Chooses states where the last step or event ended, for the next step. */
static SolverStatus exchange_states(Solver *solver) {
  Scalars *now = solver->now;
  if (now->is_judged) return SOLVER_OK;
  now->is_judged = 1;
  memcpy(solver->y, host_values(solver), (size_t)solver->model->columns * sizeof(double));
  int changed = states_exchange(solver, now->time, host_size(solver), solver->y);
  if (changed < 0) return SOLVER_FAILED;
  if (!changed) return SOLVER_OK;
  now->pivots++;
  host_switch(solver);
  return SOLVER_OK;
}

/* The caller may act between steps. */
static void tell(Solver *solver) {
  if (solver->stepped) solver->told = solver->now->time;
  if (solver->stepped && solver->stepped(solver->context)) solver->open.pauses = true;
}

static bool has_ended(void *host) { return ((const Solver *)host)->now->terminated; }

static void open_step(Solver *solver) {
  const StepEnd *end = &solver->end;
  memcpy(solver->open_y, end->is_event ? solver->steps.y : solver->steps.segment->end,
         (size_t)solver->model->columns * sizeof(double));
  solver->open.end = end->t;
  solver->open.is_open = true;
}

/* The time reached and its columns stay as they were at the beginning. */
static bool take_step(void *host) {
  Solver *solver = host;
  const StepEnd *end = &solver->end;
  double limit = solver->gets_inputs ? solver->until : fmax(host_end(solver), solver->until);
  if (solver->waits_for_step) begin_steps(solver);
  if (exchange_states(solver) != SOLVER_OK) return false;
  host_note_sizes(solver);
  SolverStatus status = host_step(solver, limit);
  solver->now->is_judged = 0;
  if (status != SOLVER_OK && end->is_undefined) events_report_undefined(solver, end->mode);
  if (status != SOLVER_OK) return false;
  open_step(solver);
  return true;
}

/* Handles the event at the end of the step. */
static bool close_step(void *host) {
  Solver *solver = host;
  Scalars *now = solver->now;
  const StepEnd *end = &solver->end;
  double t = now->time = end->t;
  bool is_event = end->is_event || t >= now->at.t_timed;
  solver->open.is_open = false;
  solver->ends_plainly = !is_event;
  memcpy(solver->y, solver->open_y, (size_t)solver->model->columns * sizeof(double));
  if (keep_past(solver) != SOLVER_OK || (!end->is_event && events_are_lost(solver))) return false;
  now->events += is_event;
  if (is_event && !end->is_event && !solver->steps.integrator->explicit_form) host_solve_end(solver);
  now->is_folded = solver->ends_at_fold;
  if (is_event) solver->told = t;
  now->waits = is_event && solver->stops_at_events;
  solver->open.pauses = now->waits;
  now->waiting = end->mode;
  if (is_event && !now->waits && pass_event(solver, end->mode) != SOLVER_OK) return false;
  if (!is_event && solver->model->decide.actions) {
    if (!host_point(solver, t, solver->event_y)) segment_values(solver->steps.segment, t, solver->event_y);
    events_watch(solver, t, solver->event_y);
  }
  if (now->asserted) return false;
  tell(solver);
  return true;
}

/* The columns at t, before the fold at which the step ends. There may be no solution of the rows close to it. */
static void approach_fold(Solver *solver, double t) {
  double before = solver->now->at.before, step = solver->end.t - before, part = step > 0 ? (t - before) / step : 1;
  for (int q = 0; q < solver->model->columns; q++)
    solver->y[q] = solver->begin[q] + part * (solver->open_y[q] - solver->begin[q]);
}

static bool stay_within(void *host, double t) {
  Solver *solver = host;
  solver->ends_plainly = false;
  if (!solver->ends_at_fold && !host_point(solver, t, solver->y)) {
    if (!host_pass_fold(solver)) return false;
    open_step(solver);
    if (solver->end.t <= t) return close_step(solver);
  }
  if (solver->ends_at_fold) approach_fold(solver, t);
  solver->now->time = t;
  events_watch(solver, t, solver->y);
  if (solver->now->asserted) return false;
  tell(solver);
  return true;
}

static SolverStatus pass_waiting(Solver *solver) {
  solver->now->waits = 0;
  return pass_event(solver, solver->now->waiting);
}

SolverStatus solver_pass(Solver *solver) { return protect(solver, pass_waiting); }

static SolverStatus advance_until(Solver *solver) {
  static const AdvanceHost methods = {has_ended, take_step, stay_within, close_step};
  const Scalars *now = solver->now;
  int any;
  if (events_leave_start(solver, &any) || now->asserted) return SOLVER_FAILED;
  solver->told = now->time;
  solver->ends_plainly = false;
  if (!solver->open.is_open) solver->open.end = now->time;
  if (now->time < solver->until && !advance(&methods, solver, &solver->open, solver->until)) return SOLVER_FAILED;
  if (solver->ends_plainly) host_solve_end(solver);
  solver_gather(solver);
  return SOLVER_OK;
}

SolverStatus solver_advance(Solver *solver, double until, int stop_at_event) {
  solver->until = until;
  solver->stops_at_events = stop_at_event != 0;
  return protect(solver, advance_until);
}

/* ---- variables ---- */

/* The indicator of a mode, or, after the last mode, of the choice of states. */
static double indicator(Solver *solver, int index) {
  if (index == solver->model->modes) return states_indicator(solver, solver->now->time, solver->y);
  edges_evaluate(&solver->edges, solver->now->time, solver->y);
  edges_rest(&solver->edges, solver->now->time, solver->y);
  return events_indicator(solver, index);
}

double solver_get(Solver *solver, int variable) {
  const ModelVariable *v = &solver->model->variable[variable];
  switch (v->kind) {
  case VARIABLE_COLUMN: return v->sign * solver->y[v->index];
  case VARIABLE_PARAMETER: return solver->parameters[v->index];
  case VARIABLE_DISCRETE: return solver->discretes[v->index];
  case VARIABLE_STATE: return solver_state(solver, solver->from, v->index);
  case VARIABLE_RATE: return solver_state(solver, solver->to, v->index);
  case VARIABLE_INDICATOR: return indicator(solver, v->index);
  case VARIABLE_CONSTANT:
    program_run(solver, solver->model->constants_program, solver->now->time, solver->y, solver->values);
    return solver->values[v->index];
  default: return solver->now->time;
  }
}

void solver_override(Solver *solver, int variable, double value) {
  const ModelVariable *v = &solver->model->variable[variable];
  if (v->kind == VARIABLE_PARAMETER) solver->overrides[v->index] = value;
  else solver->start[v->index] = v->sign * value;
}

int solver_is_set(const Solver *solver, int variable) {
  return isfinite(solver->overrides[solver->model->variable[variable].index]);
}

void solver_tune(Solver *solver, int variable, double value) {
  solver->overrides[solver->model->variable[variable].index] = value;
  program_set_parameter(solver, solver->model->variable[variable].index, value);
  schedule_forget(&solver->schedule);
  program_set_dependents(solver);
}

double solver_set_value(const Solver *solver, int variable) {
  int p = solver->model->variable[variable].index;
  return isfinite(solver->overrides[p]) ? solver->overrides[p] : solver->model->parameters0[p];
}
