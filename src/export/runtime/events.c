/* events: the model as the host of an event (settle.h), structures that change there, messages, and the events at the start and at the
 * end. */
#include "constants.h"
#include "rounds.h"
#include "solver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SYSTEM_LIMIT = 1000 };

/* ---- the model as host ---- */

static int evaluate_edges(void *host, bool rates, double t, const double *y, double *out) {
  Solver *solver = host;
  return program_run(solver, rates ? solver->model->rates : solver->model->conditions, t, y, out);
}

static uint64_t outcome(void *host, double t, const double *y) {
  Solver *solver = host;
  const Model *model = solver->model;
  program_run(solver, model->residual, t, y, solver->input_rows);
  uint64_t hash = rounds_hash(solver->input_rows, (size_t)model->rows);
  program_run(solver, model->conditions, t, y, solver->values);
  for (int m = 0; m < model->modes; m++) solver->values[m] = condition_value(model->mode[m].kind, solver->values[m]);
  return decide_hash(&solver->decide, 31 * hash + rounds_hash(solver->values, (size_t)model->modes), t, y);
}

static void evaluate_logic(void *host, DecideProgram program, int level, double t, const double *y, double *out) {
  Solver *solver = host;
  const Model *model = solver->model;
  ModelProgram *const programs[] = {0, model->initial_program, model->lefts_program, model->samples_program,
                                    model->actions_program};
  program_run(solver, program == DECIDE_LEVEL ? model->level_program[level] : programs[program], t, y, out);
}

/* A parameter that an initial equation determines. */
static bool set_parameter(void *host, int leaf, double value) {
  Solver *solver = host;
  if (isnan(value) || solver->parameters[leaf] == value) return false;
  program_set_parameter(solver, leaf, value);
  program_set_dependents(solver);
  return true;
}

/* ---- differences and margins ---- */

/* The distance of a condition from a change; negative if it must change. */
double events_indicator(const Solver *solver, int m) {
  const Edges *edges = &solver->edges;
  for (int k = 0; k < edges->now->slides; k++) {
    const Slide *slide = &edges->now->slide[k];
    if (edges->history[m].slides_with == 1 + slide->mode) return fmin(slide->weight, 1 - slide->weight) + STUCK;
  }
  return edges_margin(edges, m, edges->difference[m]);
}

/* ---- jumps ---- */

static bool jump_rows(void *host, double t, const double *y, double *rows) {
  return !program_run(host, ((Solver *)host)->model->residual, t, y, rows);
}

static bool jump_entries(void *host, double t, const double *y, double *entries) {
  return !program_run(host, ((Solver *)host)->model->jacobian, t, y, entries);
}

static Jump *new_jump(Solver *solver) {
  static const JumpHost methods = {jump_rows, jump_entries};
  const Model *model = solver->model;
  JumpPlan plan = {.unknowns = model->unknowns,
                   .columns = model->columns,
                   .rows = model->rows,
                   .nonzeros = model->nonzeros,
                   .column_start = model->column_start,
                   .d = model->d,
                   .row_start = model->row_start,
                   .c = model->c,
                   .row_equation = model->row_equation,
                   .jacobian_start = model->jacobian_start,
                   .jacobian_row = model->jacobian_row,
                   .nominal = model->nominal};
  return jump_new(solver->workspace, &plan, &methods, solver);
}

/* Returns 1 if the equations do not determine the jump. */
static int solve_jump(Solver *solver, double t, double *y) {
  uint32_t column;
  host_make(solver);
  if (!solver->jump) solver->jump = new_jump(solver);
  return !jump_solve(solver->jump, t, y, &column);
}

/* Only the modes have changed: states keep their values, except for a jump. */
static bool solve_at_event(void *host, double t, double *y) {
  Solver *solver = host;
  if (solve_jump(solver, t, y)) {
    solver->settle.undetermined = 0;
    return false;
  }
  return states_solve(solver, t, y, state_form_pass) == SOLVER_OK;
}

/* ---- structure ---- */

static void evaluate_branches(Solver *solver, double t, const double *y) {
  program_run(solver, solver->model->branch_program, t, y, solver->branch_values);
}

/* Does a system hold where the branches have the values evaluated last? */
static int holds_now(const Solver *solver, const Model *system) {
  for (int k = 0; k < system->branches; k++)
    if ((solver->branch_values[k] != 0) != system->holds[k]) return 0;
  return 1;
}

/* Does another system hold? A system made for all branches must be left if it has no solution. */
static bool leaves_structure(void *host, double t, const double *y) {
  Solver *solver = host;
  Settle *settle = &solver->settle;
  if (!solver->model->holds || settle->restructured) return settle->restructured;
  evaluate_branches(solver, t, y);
  return settle->restructured = !holds_now(solver, solver->model);
}

/* ---- actions ---- */

static void report(const Solver *solver, const char *text) {
  if (solver->report) solver->report(solver->context, text);
}

static void report_action(Solver *solver, const ModelAction *action, double t, const double *y) {
  const Model *model = solver->model;
  char text[MESSAGE_ROOM] = "";
  size_t used = 0;
  if (model->message_values) program_run(solver, model->messages_program, t, y, solver->message_values);
  for (int k = action->first_piece; k < action->behind_piece && used + 1 < sizeof text; k++) {
    const ModelPiece *piece = &model->piece[k];
    char *place = text + used;
    if (piece->guard >= 0 && solver->message_values[piece->guard] == 0) continue;
    if (piece->value < 0) snprintf(place, sizeof text - used, "%s", piece->text);
    else {
      snprintf(place, sizeof text - used, piece->text, solver->message_values[piece->value]);
      for (char *comma = place; (comma = strchr(comma, ','));) *comma = '.'; /* in any locale */
    }
    used += strlen(place);
  }
  report(solver, text);
}

static void report_once(Solver *solver, int a, double t, const double *y) {
  if (!solver->reported[a]) report_action(solver, &solver->model->action[a], t, y);
  solver->reported[a] = 1;
}

/* Reports each warning that fires, and the end, once. */
static void fires(void *host, int a, double t, const double *y) {
  Solver *solver = host;
  bool is_end = solver->decide.plan.action[a].kind == DECIDE_TERMINATE;
  if (is_end) solver->now->terminated = 1;
  if (is_end || solver->model->action[a].is_warning) report_once(solver, a, t, y);
  else solver->fired[a] = 1;
}

typedef struct Check {
  Solver *solver;
  double t;
  const double *y;
} Check;

static bool in_when(void *host, int a) { return ((Check *)host)->solver->model->action[a].in_when; }

static void note_failure(void *host, int a, FailureState state, bool begins) {
  const Check *check = host;
  (void)begins;
  if (state == FAILURE_WAITS) return;
  if (state == FAILURE_OVER)
    report(check->solver, "warning: an assertion has failed for a time that is too short to end the run:");
  report_once(check->solver, a, check->t, check->y);
}

/* Ends the run if an assertion that was checked at (t, y) has failed for too long. */
static void note_failures(Solver *solver, double t, const double *y) {
  static const FailureHost methods = {in_when, note_failure};
  Check check = {solver, t, y};
  FailureTimes run = {solver->model->start, host_end(solver)};
  int ends = failures_note(solver->failure, solver->fired, solver->model->decide.actions, t, run, &methods, &check);
  solver->now->asserted |= ends >= 0;
}

void events_watch(Solver *solver, double t, const double *y) {
  settle_watch(&solver->settle, t, y);
  note_failures(solver, t, y);
}

static bool drift(void *host, double by, double *y) { return system_drift(&((Solver *)host)->system, by, y); }

static bool solve_holding(void *host, double t, double *y, unsigned char *held, const double *before) {
  Solver *solver = host;
  for (int k = 0; k < solver->model->states; k++)
    if (!held[solver->from[k]]) held[solver->from[k]] = 1;
  if (states_hold(solver, t, y, held) != SOLVER_OK) return false;
  host_make(solver);
  ResetPlan plan = {solver->heap, &solver->system, solver->model->preferred, solver->model->preferred_count};
  reset_keep_preferred(&plan, t, before, held, y);
  return true;
}

static void report_mode(const Solver *solver, int m, const char *text) {
  report(solver, text);
  report(solver, solver->model->mode_text[m]);
}

void events_report_undefined(const Solver *solver, int mode) {
  if (mode >= 0) report_mode(solver, mode, "this condition is not defined:");
}

static void end(void *host, const double *y) {
  Solver *solver = host;
  if (solver->model->delays) memcpy(solver->past_y, y, (size_t)solver->model->columns * sizeof(double));
}

static bool solve(void *host, double t, double *y) { return states_solve(host, t, y, state_form_find) == SOLVER_OK; }

static bool solve_corner(void *host, double t, double *y, int corner) {
  edges_set_corner(&((Solver *)host)->edges, corner);
  return states_solve(host, t, y, state_form_corner) == SOLVER_OK;
}

static void write_differences(void *host, double t, const double *y, double *out) {
  program_run(host, ((Solver *)host)->model->written, t, y, out);
}

static const SwitchingHost events_switching = {write_differences, 0, 0, 0};

static const SettleMethods events_methods = {
    solve, solve_corner, solve_at_event, drift, solve_holding, leaves_structure, fires, 0, 0, end};

static void report_undefined(const Solver *solver, const DecideStep *step) {
  const Model *model = solver->model;
  report(solver, "a discrete value is not defined:");
  for (int v = 0; v < model->variables; v++)
    if (model->variable[v].kind == VARIABLE_DISCRETE && model->variable[v].index == step->leaf)
      report(solver, model->variable[v].name);
}

static int iterate(Solver *solver, double *y, int mode, bool resumes) {
  double t = solver->now->time;
  const Decide *decide = &solver->decide;
  bool settled = resumes ? settle_resume(&solver->settle, &t, y) : settle_event(&solver->settle, &t, y, mode);
  if (solver->model->delays && delays_fault(&solver->delays) >= 0) settled = false;
  solver->now->time = t;
  solver->now->changed |= solver->settle.disturbed;
  if (!settled && !solver->settle.restructured) {
    if (decide->refused >= 0) report_action(solver, &solver->model->action[decide->refused], t, y);
    if (decide->undefined) report_undefined(solver, decide->undefined);
    events_report_undefined(solver, edges_undefined(&solver->edges, t, y));
  }
  return !settled;
}

/* ---- the current system ---- */

static void enter_modes(Solver *solver) {
  const Model *model = solver->model;
  Edges *edges = &solver->edges;
  edges->condition = model->mode;
  edges->count = model->modes;
  edges->evaluate = evaluate_edges;
  edges->outcome = outcome;
  edges->host = solver;
  edges->some_meet = false;
  for (int m = 0; m < model->modes; m++) edges->some_meet = edges->some_meet || model->mode[m].meets;
  edges->mode = solver->discretes + model->first_mode;
}

static void enter_decisions(Solver *solver) {
  const Model *model = solver->model;
  static const DecideHost logic = {evaluate_logic, set_parameter, 0, 0};
  Decide *decide = &solver->decide;
  decide->plan = model->decide;
  decide->methods = &logic;
  decide->host = solver;
  decide->discretes = solver->discretes;
  decide->pre = solver->pre;
  decide->values = solver->values;
}

static void enter_settle(Solver *solver) {
  const Model *model = solver->model;
  Switching *switching = &solver->switching;
  switching->methods = &events_switching;
  switching->host = solver;
  switching->timed = model->timed;
  switching->schedule = &solver->schedule;
  switching->edges = &solver->edges;
  switching->decide = model->has_logic ? &solver->decide : 0;
  switching->delays = model->delays ? &solver->delays : 0;
  switching->discretes = solver->discretes;
  switching->leaves = model->discretes;
  Settle *settle = &solver->settle;
  settle->methods = &events_methods;
  settle->host = solver;
  settle->heap = solver->heap;
  settle->switching = &solver->switching;
  settle->discretes = solver->discretes;
  settle->columns = model->columns;
  settle->may_slide = true;
  settle->has_other_structure = model->branches && !model->holds;
}

void events_enter(Solver *solver) {
  enter_modes(solver);
  enter_decisions(solver);
  enter_settle(solver);
}

static int find_system(const Solver *solver) {
  for (int k = 0; k < solver->first->systems; k++)
    if (solver->first->system[k]->holds && holds_now(solver, solver->first->system[k])) return k;
  return -1;
}

static void report_unknown_system(const Solver *solver) {
  report(solver, "an event leads to equations that were not met when the model was exported; these conditions change:");
  for (int k = 0; k < solver->model->branches; k++) report(solver, solver->model->branch_text[k]);
}

/* Changes to the system that holds now, from columns of the system before. Returns 1 if there is no such system, or if it has no
 * consistent values. */
static int change_system(Solver *solver, double t, double *y) {
  const Model *before = solver->model;
  evaluate_branches(solver, t, solver->settle_y);
  int number = find_system(solver);
  if (number < 0) {
    report_unknown_system(solver);
    return 1;
  }
  const Model *model = solver->first->system[number];
  program_enter(solver, model);
  events_enter(solver);
  for (int j = 0; j < model->unknowns; j++)
    for (int order = 0; order <= model->d[j]; order++)
      y[model->column_start[j] + order] = order <= before->d[j] ? solver->settle_y[before->column_start[j] + order] : 0;
  solver->now->system = number;
  solver->settle.restructured = false;
  solver->settle.undetermined = SETTLE_NONE;
  solver->now->changed = 1;
  edges_forget_slides(&solver->edges);
  schedule_forget(&solver->schedule);
  memcpy(solver->depth, model->depth0, (size_t)model->unknowns * sizeof(int));
  host_forget_sizes(solver);
  states_link(solver);
  return solve_jump(solver, t, y) || states_solve(solver, t, y, state_form_select) != SOLVER_OK ||
         states_solve(solver, t, y, state_form_find) != SOLVER_OK;
}

/* Handles an event of a mode (-1: no mode) at y and the current time, and continues in other systems if the structure changes.
 * If the equations are undefined at a time event, the time moves to just after it. Returns 1 if it does not settle. */
static int settle(Solver *solver, double *y, int mode) {
  solver->settle.undetermined = SETTLE_NONE;
  solver->settle.restructured = false;
  for (int change = 0; change < SYSTEM_LIMIT; change++) {
    memcpy(solver->settle_y, y, (size_t)solver->model->columns * sizeof(double));
    int failed = iterate(solver, y, mode, change > 0);
    int is_left = solver->settle.restructured || (failed && solver->model->branches && !solver->model->holds);
    if (!failed || !is_left) return failed;
    if (change_system(solver, solver->now->time, y)) return 1;
  }
  return 1;
}

/* ---- accumulating events ---- */

static int report_accumulation(const Solver *solver, int m) {
  report_mode(solver, m, "this condition changes infinitely often before this time, faster and faster:");
  return 1;
}

/* Records an event of a mode in a run. Returns 1 if its events have no end. */
static int note_event(Solver *solver, int m, double t) {
  const Model *model = solver->model;
  EdgesNote note;
  if (!edges_note_event(&solver->edges, m, t, solver->now->tolerance, model->stop - model->start, &note))
    return report_accumulation(solver, m);
  if (note.begins)
    report_mode(solver, m,
                "warning: the solution hovers at the edge of this condition; from here on it changes only when it is "
                "passed by a few tolerances; use a smooth transition:");
  if (note.widened)
    report_mode(
        solver, m,
        "warning: this condition has events without end, so its hysteresis grows beyond the tolerance, and values "
        "that depend on it are accurate only to about its size; use a smooth transition:");
  return 0;
}

int events_pass(Solver *solver, int mode) {
  solver->now->changed = 0;
  edges_leave(&solver->edges);
  if (mode >= 0 && note_event(solver, mode, solver->now->time)) return 1;
  if (settle(solver, solver->y, mode)) return 1;
  note_failures(solver, solver->now->time, solver->y);
  return 0;
}

/* After a step without an event: was an event of an accumulating series lost? */
int events_are_lost(const Solver *solver) {
  int m = steps_lost_event(&solver->steps);
  return m >= 0 && report_accumulation(solver, m);
}

/* ---- the start ---- */

static bool find_columns(void *host, double t, bool again, const double **y) {
  Solver *solver = host;
  (void)again;
  *y = solver->y;
  return initial_columns(solver, t);
}

/* From start values: finds the choice of states that keeps these values, all other columns, and modes that agree with
 * them. Returns 1 without a solution. */
static int find_start(Solver *solver, double t) {
  const Model *model = solver->model;
  double *initial = &solver->discretes[model->decide.initial];
  *initial = 1;
  edges_begin(&solver->edges, -1);
  memcpy(solver->event_y, solver->y, (size_t)model->columns * sizeof(double));
  switching_guess(&solver->switching, t, solver->y);
  if (switching_start(&solver->switching, &(SwitchingColumns){solver, find_columns}, t) != START_AGREES) return 1;
  *initial = 0;
  decide_copy_pre(&solver->decide);
  if (solver->decide.undefined) return report_undefined(solver, solver->decide.undefined), 1;
  return leaves_structure(solver, t, solver->y);
}

static int begin_delays(Solver *solver, double t, const double *y) {
  delays_begin(&solver->delays, t, y);
  memcpy(solver->past_y, y, (size_t)solver->model->columns * sizeof(double));
  return delays_fault(&solver->delays) >= 0;
}

/* Computes the values at the first instant, from start values or, if now->is_started, from consistent values. */
int events_initial(Solver *solver, double t, double *y) {
  const Model *model = solver->model;
  if (!solver->now->is_started) {
    if (find_start(solver, t) || initial_moved(solver, y)) return 1;
  }
  solver->now->is_started = 1;
  edges_set_nominal(&solver->edges, t, model->nominal);
  if (states_solve(solver, t, y, state_form_select) != SOLVER_OK || (model->delays && begin_delays(solver, t, y)))
    return 1;
  switching_begin(&solver->switching, t, y);
  if (decide_begin_samples(&solver->decide, t, y) >= 0) return 1;
  switching_enter_start(&solver->switching, t, y);
  solver->now->is_at_first = 1;
  return model->has_logic && model->decide.matters[model->decide.initial] &&
         states_solve(solver, t, y, state_form_find) != SOLVER_OK;
}

/* Handles the event at the start. Returns 1 if it does not settle. */
int events_first(Solver *solver) {
  if (!solver->model->has_logic) return 0;
  solver->decide.is_starting = true;
  int failed = events_pass(solver, -1);
  solver->decide.is_starting = false;
  if (!failed) host_pass_event(solver, -1);
  return failed;
}

/* Handles terminal() at the end of the run. Returns 1 if it does not settle. */
int events_end(Solver *solver) {
  int terminal = solver->model->decide.terminal;
  if (terminal < 0 || solver->discretes[terminal] != 0) return 0;
  solver->discretes[terminal] = 1;
  return events_pass(solver, -1);
}

/* Handles the event of relations that change right after the start; *any: there is one. Returns 1 if it does not settle. */
int events_leave_start(Solver *solver, int *any) {
  Scalars *now = solver->now;
  *any = 0;
  if (!now->is_at_first) return 0;
  now->is_at_first = 0;
  int mode = switching_leave_start(&solver->switching, now->time, solver->y);
  if (mode < 0 || now->terminated) return 0;
  *any = 1;
  now->events++;
  if (events_pass(solver, -1)) return 1;
  host_pass_event(solver, mode);
  return 0;
}
