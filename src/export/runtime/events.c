/* events: conditions, discrete values, and their changes at an event.
 *
 * Between events the conditions are frozen in discrete values, their modes, so that the equations are smooth. A mode holds
 * while its difference stays in a range. An event iterates. In each round, modes, discrete values and columns are computed
 * until they agree, with pre() held; then reinit is applied, and pre() takes the values found. The iteration ends when a
 * round changes nothing. */
#include "constants.h"
#include "rounds.h"
#include "solver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SYSTEM_LIMIT = 1000 };

int events_any(const Model *model) {
  return model->modes || model->decide.levels || model->decide.samples || model->decide.actions || model->delays;
}

/* ---- differences and margins ---- */

/* How far a condition is from changing; negative if it must change. */
double events_indicator(const Solver *solver, int m) {
  const Edges *edges = &solver->edges;
  for (int k = 0; k < edges->now->slides; k++) {
    const Slide *slide = &edges->now->slide[k];
    if (edges->history[m].slides_with == 1 + slide->mode) return fmin(slide->weight, 1 - slide->weight) + STUCK;
  }
  return edges_margin(edges, m, edges->difference[m]);
}

/* ---- setting modes ---- */

static int set_modes(void *host, double t, const double *y, bool *matter) {
  Solver *solver = host;
  Decide *decide = &solver->decide;
  int changed = timed_set(solver, t, y);
  *matter = *matter || changed;
  changed += edges_set(&solver->edges, t, y, changed, matter);
  decide->matter = false;
  changed += decide_set(decide, t, y);
  *matter = *matter || decide->matter;
  return changed;
}

/* ---- jumps ---- */

static bool jump_rows(void *host, double t, const double *y, double *rows) {
  return !program_run(host, ((Solver *)host)->model->residual, t, y, rows);
}

static bool jump_entries(void *host, double t, const double *y, double *entries) {
  return !program_run(host, ((Solver *)host)->model->jacobian, t, y, entries);
}

typedef struct JumpFactor {
  Solver *solver;
  const double *values;
  bool is_regular;
} JumpFactor;

static void factor_jump(void *context) {
  JumpFactor *task = context;
  Solver *solver = task->solver;
  const Jump *jump = &solver->jump;
  int n = jump->plan.unknowns;
  host_make(solver);
  if (!solver->jump_matrix) {
    solver->jump_matrix = linear_new(solver->workspace, n, jump->start[n], false);
    linear_set_pattern(solver->jump_matrix, jump->start, jump->row);
  }
  task->is_regular = linear_factor(solver->jump_matrix, task->values);
}

static bool jump_factor(void *host, const double *values) {
  JumpFactor task = {host, values, false};
  return heap_protect(task.solver->heap, factor_jump, &task) && task.is_regular;
}

static void jump_solve_factored(void *host, double *b) { linear_solve(((Solver *)host)->jump_matrix, b); }

const JumpHost events_jump = {jump_rows, jump_entries, jump_factor, jump_solve_factored};

/* Returns 1 if the equations do not determine the jump. */
static int solve_jump(Solver *solver, double t, double *y) {
  int column;
  return !jump_solve(&solver->jump, t, y, &column);
}

/* Only the modes have changed: states keep their values, except for a jump. States that suited the old modes may not
 * suit the new ones. */
static bool solve_at_event(void *host, double t, double *y) {
  Solver *solver = host;
  if (solve_jump(solver, t, y)) {
    solver->settle.undetermined = 0;
    return false;
  }
  states_select(solver, t, y, 0);
  return states_solve(solver, t, y, STATES_ANY) == SOLVER_OK;
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

enum { MESSAGE_ROOM = 1024 };

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

/* Reports each action that fires, once. */
static void note_actions(Solver *solver, double t, const double *y) {
  Decide *decide = &solver->decide;
  decide_act(decide, t, y);
  for (int a = 0; a < decide->plan.actions; a++) {
    const ModelAction *action = &solver->model->action[a];
    if (!decide_fires(decide, a) || action->kind == ACTION_REINIT) continue;
    if (action->kind == ACTION_TERMINATE) solver->now->terminated = 1;
    else if (decide_value(decide, a) != 0) continue;
    else if (action->kind == ACTION_ASSERT) solver->now->asserted = 1;
    if (!solver->reported[a]) report_action(solver, action, t, y);
    solver->reported[a] = 1;
  }
}

void events_watch(Solver *solver, double t, const double *y) { note_actions(solver, t, y); }

/* Applies reinit to columns; states keep their values as far as the rows allow. false: reinit has no value, or two reinits of one
 * column differ, or the rows cannot be solved with it. */
static bool reset_columns(Solver *solver, double t, double *y) {
  const Model *model = solver->model;
  memset(solver->held, 0, (size_t)model->columns);
  decide_reinit(&solver->decide, y, solver->held);
  if (solver->decide.refused >= 0) return report_action(solver, &model->action[solver->decide.refused], t, y), false;
  edges_leave(&solver->edges); /* a sliding mode may be off its edge now */
  solver->settle.disturbed = true;
  for (int k = 0; k < model->states; k++)
    if (!solver->held[solver->from[k]]) solver->held[solver->from[k]] = 1;
  return !states_select(solver, t, y, solver->held) && states_solve(solver, t, y, STATES_ANY) == SOLVER_OK;
}

static bool act(void *host, double t, double *y, bool *is_reset) {
  Solver *solver = host;
  const Decide *decide = &solver->decide;
  note_actions(solver, t, y);
  for (int a = 0; a < decide->plan.actions; a++)
    *is_reset = *is_reset || (decide->plan.action[a].column >= 0 && decide_fires(decide, a));
  return !*is_reset || reset_columns(solver, t, y);
}

/* Ends an event for delays. Returns 1 if there is no room, or a delay is impossible. */
static int note_delays(Solver *solver, double t, const double *y, int is_kink) {
  if (!delays_have_room(&solver->delays)) return 1;
  delays_note(&solver->delays, t, y, is_kink);
  memcpy(solver->past_y, y, (size_t)solver->model->columns * sizeof(double));
  return delays_fault(&solver->delays) >= 0;
}

static void report_mode(const Solver *solver, int m, const char *text) {
  report(solver, text);
  report(solver, solver->model->mode_text[m]);
}

int events_are_undefined(Solver *solver, double t, const double *y) {
  int m = edges_undefined(&solver->edges, t, y);
  if (m >= 0) report_mode(solver, m, "this condition is not defined:");
  return m >= 0;
}

static bool accepted(void *host, double t, const double *y) {
  (void)host, (void)t, (void)y;
  return true;
}

static bool end(void *host, double t, const double *y, bool is_kink) {
  Solver *solver = host;
  decide_end(&solver->decide, t, y);
  if (solver->model->delays && note_delays(solver, t, y, is_kink)) return false;
  edges_evaluate(&solver->edges, t, y);
  edges_keep(&solver->edges, t, y, 0);
  return true;
}

static bool solve(void *host, double t, double *y) { return states_solve(host, t, y, STATES_ANY) == SOLVER_OK; }

static bool solve_corner(void *host, double t, double *y, int corner) {
  return states_solve_corner(host, corner, t, y) == SOLVER_OK;
}

const SettleMethods events_methods = {solve, solve_corner, solve_at_event, set_modes, leaves_structure, act, accepted,
                                      0,     end};

static void report_undefined(const Solver *solver, const DecideStep *step) {
  const Model *model = solver->model;
  report(solver, "a discrete value is not defined:");
  for (int v = 0; v < model->variables; v++)
    if (model->variable[v].kind == VARIABLE_DISCRETE && model->variable[v].index == step->leaf)
      report(solver, model->variable[v].name);
}

static int iterate(Solver *solver, double *y, int mode) {
  double t = solver->now->time;
  bool settled = settle_event(&solver->settle, &t, y, mode);
  solver->now->time = t;
  solver->now->changed |= solver->settle.disturbed;
  if (!settled && !solver->settle.restructured) {
    if (solver->decide.undefined) report_undefined(solver, solver->decide.undefined);
    events_are_undefined(solver, t, y);
  }
  return !settled;
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

/* Changes to the system that holds now, from columns of the system before. Returns 1 if there is none, or no consistent values. */
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
  for (int j = 0; j < model->unknowns; j++)
    for (int order = 0; order <= model->d[j]; order++)
      y[model->column_start[j] + order] = order <= before->d[j] ? solver->settle_y[before->column_start[j] + order] : 0;
  solver->now->system = number;
  solver->settle.restructured = false;
  solver->settle.undetermined = SETTLE_NONE;
  solver->now->changed = 1;
  edges_forget_slides(&solver->edges);
  memcpy(solver->depth, model->depth0, (size_t)model->unknowns * sizeof(int));
  host_forget_sizes(solver);
  states_link(solver);
  return solve_jump(solver, t, y) || states_select(solver, t, y, 0) ||
         states_solve(solver, t, y, STATES_ANY) != SOLVER_OK;
}

/* Iterates, and continues in other systems where the structure changes. */
static int iterate_systems(Solver *solver, double *y, int mode) {
  memcpy(solver->settle_y, y, (size_t)solver->model->columns * sizeof(double));
  solver->settle.restructured = false;
  for (int change = 0; change < SYSTEM_LIMIT; change++) {
    int failed = iterate(solver, y, mode);
    int is_left = solver->settle.restructured || (failed && solver->model->branches && !solver->model->holds);
    if (!failed || !is_left) return failed;
    if (change_system(solver, solver->now->time, y)) return 1;
    memcpy(solver->settle_y, y, (size_t)solver->model->columns * sizeof(double));
    solver->decide.latches = true;
    mode = -1;
  }
  return 1;
}

/* Handles an event at y and the current time, of a mode or, with -1, of none. If the equations are undefined at an event of
 * time, the time moves to just after it. Returns 1 if it does not settle. */
int events_settle(Solver *solver, double *y, int mode) {
  double t = solver->now->time;
  solver->settle.undetermined = SETTLE_NONE;
  decide_begin(&solver->decide, t, y);
  int differs = solver->model->delays && delays_pass(&solver->delays, t, y), terminal = solver->model->terminal;
  /* rows that use terminal(), where it is true */
  differs |= terminal >= 0 && solver->discretes[terminal] != 0 && solver->model->decide.matters[terminal];
  if (differs && !solve_at_event(solver, t, y)) return 1;
  int failed = iterate_systems(solver, y, mode);
  solver->now->changed |= differs;
  return failed;
}

/* ---- accumulating events ---- */

static int report_accumulation(const Solver *solver, int m) {
  report_mode(solver, m, "this condition changes infinitely often before this time, faster and faster:");
  return 1;
}

/* Reports that hysteresis has grown: the first time, and when it exceeds the tolerance. */
static void report_slack(const Solver *solver, int m, int is_first, int was_widened) {
  if (is_first)
    report_mode(solver, m,
                "warning: the solution hovers at the edge of this condition; from here on it changes only when it is "
                "passed by a few tolerances; use a smooth transition:");
  if (solver->edges.history[m].is_widened && !was_widened)
    report_mode(
        solver, m,
        "warning: this condition has events without end, so its hysteresis grows beyond the tolerance, and values "
        "that depend on it are accurate only to about its size; use a smooth transition:");
}

/* Records an event of a mode in a run. Returns 1 if its events have no end. */
int events_hover(Solver *solver, int m, double t) {
  Edges *edges = &solver->edges;
  double span = solver->model->stop - solver->model->start, tolerance = solver->now->tolerance;
  int is_first = edges->history[m].slack == 0, was_widened = edges->history[m].is_widened;
  if (edges_accumulate(edges, m, t, span) && !edges_let_rest(edges, tolerance, span))
    return report_accumulation(solver, m);
  if (edges_hover(edges, m, tolerance, span)) report_slack(solver, m, is_first, was_widened);
  return 0;
}

/* After a step without an event: was one lost from an accumulating series? */
int events_are_lost(const Solver *solver) {
  int m = steps_lost_event(&solver->steps);
  return m >= 0 && report_accumulation(solver, m);
}

/* ---- the start ---- */

/* Sets all discrete values by the values found, until they no longer change. Do rows depend on a changed value? */
static int modes_differ(Solver *solver, double t, const double *y) {
  bool matter = false;
  for (int round = 0; round <= solver->model->discretes && !matter; round++) {
    edges_evaluate(&solver->edges, t, y);
    if (!set_modes(solver, t, y, &matter)) return 0;
  }
  return matter;
}

/* Computes all columns from start values. */
static int find_columns(Solver *solver, double t, double *y) {
  if (solver->model->start_system.rows) return initial_solve(solver, t, y);
  return states_select(solver, t, y, solver->model->held) || states_solve(solver, t, y, STATES_ANY) != SOLVER_OK;
}

/* From start values in y: finds the choice of states that keeps these values, all other columns, and modes that agree with
 * them. Returns 1 without a solution. */
static int find_start(Solver *solver, double t, double *y) {
  const Model *model = solver->model;
  double *initial = &solver->discretes[model->decide.initial];
  bool matter = false;
  *initial = 1;
  edges_begin(&solver->edges, -1);
  timed_set(solver, t, y);
  memcpy(solver->event_y, y, (size_t)model->columns * sizeof(double));
  if (model->modes) {
    program_run(solver, model->written, t, y, solver->edges.difference);
    set_modes(solver, t, y, &matter);
  }
  Rounds rounds = {.few = ROUNDS};
  while (rounds_go_on(&rounds, solver->discretes, (size_t)model->discretes)) {
    memcpy(y, solver->event_y, (size_t)model->columns * sizeof(double));
    if (find_columns(solver, t, y)) return 1;
    if ((model->delays && delays_guess(&solver->delays, t, y)) || modes_differ(solver, t, y)) continue;
    *initial = 0;
    decide_copy_pre(&solver->decide);
    if (solver->decide.undefined) return report_undefined(solver, solver->decide.undefined), 1;
    return leaves_structure(solver, t, y);
  }
  return 1;
}

/* Did a fixed start value move? */
static int moved_start(const Solver *solver, const double *y) {
  for (int q = 0; q < solver->model->columns; q++)
    if (solver->model->held[q] == 2 && !(fabs(y[q] - solver->event_y[q]) <= 1e-9 * (1 + fabs(solver->event_y[q]))))
      return 1;
  return 0;
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
    if (find_start(solver, t, y) || moved_start(solver, y)) return 1;
  }
  solver->now->is_started = 1;
  edges_set_nominal(&solver->edges, t, model->nominal);
  if (states_select(solver, t, y, 0) || (model->delays && begin_delays(solver, t, y))) return 1;
  timed_begin(solver, t, y);
  if (decide_begin_samples(&solver->decide, t, y) >= 0) return 1;
  edges_enter_start(&solver->edges, t, y);
  if (solver->edges.now->is_at_start) solver->edges.now->is_at_start = timed_change(solver, t, y) < 0;
  solver->now->is_at_first = 1;
  return model->has_logic && model->decide.matters[model->decide.initial] &&
         states_solve(solver, t, y, STATES_ANY) != SOLVER_OK;
}

/* Handles the event at the start. Returns 1 if it does not settle. */
int events_first(Solver *solver) {
  if (!solver->model->has_logic) return 0;
  solver->decide.is_starting = true;
  int failed = events_settle(solver, solver->y, -1);
  solver->decide.is_starting = false;
  if (!failed) host_pass_event(solver, -1);
  return failed;
}

/* Handles terminal() at the end of the run. Returns 1 if it does not settle. */
int events_end(Solver *solver) {
  int terminal = solver->model->terminal;
  if (terminal < 0 || solver->discretes[terminal] != 0) return 0;
  solver->discretes[terminal] = 1;
  edges_leave(&solver->edges);
  return events_settle(solver, solver->y, -1);
}

/* Handles the event of relations that change right after the start; *any: there is one. Returns 1 if it does not settle. */
int events_leave_start(Solver *solver, int *any) {
  Scalars *now = solver->now;
  *any = 0;
  if (!now->is_at_first) return 0;
  now->is_at_first = 0;
  int mode = edges_leave_start(&solver->edges, now->time, solver->y);
  if (mode < 0) mode = timed_change(solver, settle_behind(now->time), solver->y);
  if (mode < 0 || now->terminated) return 0;
  *any = 1;
  now->events++;
  now->changed = 0;
  if (events_settle(solver, solver->y, -1)) return 1;
  host_pass_event(solver, mode);
  return 0;
}
