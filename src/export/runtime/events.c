/* events: conditions, what is discrete, and what becomes of both at an event.
 *
 * Between events the conditions are frozen in discrete values, their modes, so that the equations are smooth. A mode
 * holds while its difference stays in a range. An event iterates: modes, discrete values and columns to a fixed point with pre()
 * held, then reinit, then pre() takes the values found, until nothing changes. */
#include "constants.h"
#include "rounds.h"
#include "solver.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { JUMP_LIMIT = 12, SYSTEM_LIMIT = 1000 };
static const double CONVERGED = 1e-13, JUMPED = 1e-6;

int events_any(const Model *model) {
  return model->modes || model->levels || model->samples || model->actions || model->delays;
}

/* ---- differences and margins ---- */

/* How far a condition is from changing; negative where it has to. */
double events_indicator(const Solver *solver, int m) {
  const Edges *edges = &solver->edges;
  for (int k = 0; k < edges->now->slides; k++) {
    const Slide *slide = &edges->now->slide[k];
    if (edges->history[m].slides_with == 1 + slide->mode) return fmin(slide->weight, 1 - slide->weight) + STUCK;
  }
  return edges_margin(edges, m, edges->difference[m]);
}

/* How long it takes the last difference of a mode to get to its nearest edge; 0 where nothing is known. */
double events_way_to_edge(Solver *solver, int m, double t, const double *y) {
  Edges *edges = &solver->edges;
  double difference = edges->difference[m], edge = condition_edge(edges->condition[m].kind, difference);
  edges_evaluate_rates(edges, t, y);
  return fabs(difference - edge) <= edges_band(edges, m) || edges->rate[m] == 0 ? 0
                                                                                : (edge - difference) / edges->rate[m];
}

void events_begin(Solver *solver, double t, const double *y) {
  edges_evaluate(&solver->edges, t, y);
  edges_start(&solver->edges, t, y);
}

/* ---- events of time ---- */

/* Just behind t: events that coincide but for round-off are one. */
static double behind(double t) { return t + fmax(8 * DBL_EPSILON * fabs(t), 1e-15); }

static int set_timed(Solver *solver, double t, const double *y) {
  const Model *model = solver->model;
  int changed = 0, any = 0;
  for (int m = 0; m < model->modes; m++) any |= model->mode[m].is_timed;
  if (!any) return 0;
  program_run(solver, model->conditions, solver->edges.now->is_at_start ? t : behind(t), y, solver->values);
  for (int m = 0; m < model->modes; m++) {
    if (!model->mode[m].is_timed || !isfinite(solver->values[m])) continue;
    double value = condition_value(model->mode[m].kind, solver->values[m]);
    changed += value != solver->edges.mode[m];
    solver->edges.mode[m] = value;
  }
  return changed;
}

static double sample_time(const Solver *solver, int k) {
  return solver->sample_start[k] + solver->sample_count[k] * solver->sample_interval[k];
}

static int is_due(double due, double t) { return due <= t + 8 * DBL_EPSILON * fmax(fabs(t), fabs(due)); }

/* Returns 1 where an interval is not positive. */
static int begin_samples(Solver *solver, double t) {
  const Model *model = solver->model;
  if (model->samples) program_run(solver, model->samples_program, t, solver->y, solver->values);
  for (int k = 0; k < model->samples; k++) {
    solver->sample_start[k] = solver->values[2 * k];
    solver->sample_interval[k] = solver->values[2 * k + 1];
    if (!(solver->sample_interval[k] > 0)) return 1;
    double over = (t - solver->sample_start[k]) / solver->sample_interval[k];
    solver->sample_count[k] = over > 0 ? (int)ceil(over - 1e-9) : 0;
  }
  return 0;
}

static void set_samples(Solver *solver, double t) {
  for (int k = 0; k < solver->model->samples; k++) {
    double *leaf = &solver->discretes[solver->model->sample[k]];
    *leaf = 0;
    while (solver->sample_interval[k] > 0 && is_due(sample_time(solver, k), t)) {
      solver->sample_count[k]++;
      *leaf = 1;
    }
  }
}

/* A mode that is linear in time changes where its difference gets to the edge of its range. */
static double timed_next(const Solver *solver, int m, double t, double rate) {
  ConditionRange range = condition_range(solver->model->mode[m].kind, solver->edges.mode[m]);
  double difference = solver->values[m], edge = rate > 0 ? range.high : range.low;
  if (rate == 0 || !isfinite(edge) || !isfinite(difference)) return HUGE_VAL;
  return fmax(behind(t) + (edge - difference) / rate, behind(t));
}

double events_next_time(Solver *solver, double t) {
  const Model *model = solver->model;
  double first = model->delays ? delays_next_time(&solver->delays, t) : HUGE_VAL;
  int any = 0;
  for (int k = 0; k < model->samples; k++) {
    double next = sample_time(solver, k);
    if (next > t && next < first) first = next;
  }
  for (int m = 0; m < model->modes; m++) any |= model->mode[m].is_timed;
  if (!any) return first;
  edges_evaluate_rates(&solver->edges, t, solver->y);
  program_run(solver, model->conditions, behind(t), solver->y, solver->values);
  for (int m = 0; m < model->modes; m++)
    if (model->mode[m].is_timed) first = fmin(first, timed_next(solver, m, t, solver->edges.rate[m]));
  return first;
}

/* ---- what is discrete ---- */

static void copy_pre(Solver *solver) {
  memcpy(solver->pre, solver->discretes, (size_t)solver->model->discretes * sizeof(double));
}

static void set_lefts(Solver *solver, double t, const double *y) {
  const Model *model = solver->model;
  if (model->lefts) program_run(solver, model->lefts_program, t, y, solver->values);
  for (int k = 0; k < model->lefts; k++) solver->discretes[model->left[k]] = solver->values[k];
}

static int set_leaf(Solver *solver, double *values, int leaf, double value) {
  if (!isfinite(value) || values[leaf] == value) return 0;
  values[leaf] = value;
  solver->now->matter |= solver->model->matters[leaf];
  return 1;
}

static int set_initial(Solver *solver, double t, const double *y) {
  const Model *model = solver->model;
  int changed = 0;
  if (!model->initial_steps || solver->discretes[model->initial] == 0) return 0;
  program_run(solver, model->initial_program, t, y, solver->values);
  for (int k = 0; k < model->initial_steps; k++)
    changed += set_leaf(solver, solver->pre, model->initial_step[k].leaf, solver->values[k]);
  return changed;
}

/* Evaluates all that is discrete but the modes; how much changed. */
static int set_discretes(Solver *solver, double t, const double *y) {
  const Model *model = solver->model;
  if (model->levels && solver->discretes[model->initial] != 0) set_lefts(solver, t, y);
  int changed = set_initial(solver, t, y);
  for (int l = 0; l < model->levels; l++) {
    const ModelLevel *level = &model->discrete_level[l];
    program_run(solver, level->program, t, y, solver->values);
    for (int k = 0; k < level->count; k++) {
      const ModelStep *step = &model->step[level->first + k];
      int acted = step->fires && solver->discretes[step->leaf] != 0 && solver->pre[step->leaf] == 0;
      if (acted && solver->now->latches) continue;
      if (acted && solver->values[k] == 0) solver->now->retracted = 1;
      changed += set_leaf(solver, solver->discretes, step->leaf, solver->values[k]);
    }
  }
  return changed;
}

static void end_samples(Solver *solver, double t, const double *y) {
  int any = 0;
  for (int k = 0; k < solver->model->samples; k++) {
    double *leaf = &solver->discretes[solver->model->sample[k]];
    any |= *leaf != 0;
    *leaf = 0;
  }
  if (!any) return;
  set_discretes(solver, t, y);
  copy_pre(solver);
}

/* pre() takes over the values; whether some differ. */
/* Are there other values of pre()? */
static int accept(Solver *solver, double t, const double *y) {
  int differ = 0;
  set_lefts(solver, t, y);
  solver->now->stale = 0;
  for (int leaf = 0; leaf < solver->model->first_mode; leaf++) {
    if (solver->pre[leaf] == solver->discretes[leaf]) continue;
    differ = 1;
    solver->now->stale |= (solver->model->matters[leaf] & MATTERS_PRE) != 0;
  }
  copy_pre(solver);
  return differ;
}

/* ---- setting modes ---- */

static int set_modes(Solver *solver, double t, const double *y) {
  int changed = set_timed(solver, t, y);
  bool matter = changed || solver->now->matter;
  changed += edges_set(&solver->edges, t, y, changed, &matter);
  solver->now->matter = matter;
  return changed + set_discretes(solver, t, y);
}

static int any_contradicts(Solver *solver, double t, const double *y) {
  edges_evaluate(&solver->edges, t, y);
  return edges_first_contradiction(&solver->edges) >= 0;
}

/* ---- jumps: what columns become at an event that changes constraints ---- */

/* Rows of the highest level against the highest derivatives; b: what rows one level below miss, and what the jump so far makes of the
 * rows that are not differentiated, integrated over the instant. */
static int evaluate_jump(Solver *solver, double t) {
  const Model *model = solver->model;
  int n = model->unknowns;
  if (program_run(solver, model->residual, t, solver->jump_y, solver->input_rows)) return 1;
  if (program_run(solver, model->jacobian, t, solver->jump_y, solver->full_entries)) return 1;
  memset(solver->right, 0, (size_t)n * sizeof(double));
  for (int r = 0; r < model->rows; r++)
    if (model->level[r] == model->c[r] - 1) solver->right[model->row_equation[r]] = -solver->input_rows[r];
  matrix_begin(&solver->full, n, 1, &model->jump);
  for (int j = 0; j < n; j++) {
    int q = model->column_start[j] + model->d[j];
    for (int e = model->jacobian_start[q]; e < model->jacobian_start[q + 1]; e++) {
      int r = model->jacobian_row[e], i = model->row_equation[r];
      if (model->level[r] != model->c[r]) continue;
      matrix_add(&solver->full, i, j, solver->full_entries[e]);
      if (model->c[r] == 0) solver->right[i] -= solver->full_entries[e] * solver->moved[j];
    }
  }
  return 0;
}

static double move_columns(Solver *solver, int *column) {
  const Model *model = solver->model;
  double largest = 0;
  for (int j = 0; j < model->unknowns; j++) {
    solver->moved[j] += solver->right[j];
    if (!model->d[j]) continue;
    int q = model->column_start[j] + model->d[j] - 1;
    double change = fabs(solver->right[j]) / fmax(model->nominal[q], fabs(solver->jump_y[q]));
    solver->jump_y[q] += solver->right[j];
    if (!(change > largest)) continue;
    largest = change;
    *column = q;
  }
  return largest;
}

/* Do leading coefficients of rows that share the jump depend on it? Those of what does not jump may change. */
static int coefficients_changed(const Solver *solver) {
  const Model *model = solver->model;
  double *change = solver->right, *size = solver->input_rows;
  memset(change, 0, (size_t)model->unknowns * sizeof(double));
  memset(size, 0, (size_t)model->unknowns * sizeof(double));
  for (int j = 0; j < model->unknowns; j++) {
    int q = model->column_start[j] + model->d[j];
    for (int e = model->jacobian_start[q]; e < model->jacobian_start[q + 1]; e++) {
      int i = model->row_equation[model->jacobian_row[e]];
      if (model->c[model->jacobian_row[e]] != 0) continue;
      change[i] += (solver->full_entries[e] - solver->jump_first[e]) * solver->moved[j];
      size[i] = fmax(size[i], fabs(solver->jump_first[e] * solver->moved[j]));
    }
  }
  for (int i = 0; i < model->unknowns; i++)
    if (fabs(change[i]) > JUMPED * size[i]) return 1;
  return 0;
}

/* Would columns so many orders below the highest have to jump, for rows as many levels below? The factors are there. */
static int jumps_below(Solver *solver, const double *rows, int below) {
  const Model *model = solver->model;
  memset(solver->right, 0, (size_t)model->unknowns * sizeof(double));
  for (int r = 0; r < model->rows; r++)
    if (model->level[r] == model->c[r] - below) solver->right[model->row_equation[r]] = -rows[r];
  matrix_solve(&solver->full, solver->right);
  for (int j = 0; j < model->unknowns; j++) {
    int q = model->column_start[j] + model->d[j] - below;
    if (model->d[j] >= below && fabs(solver->right[j]) > JUMPED * fmax(model->nominal[q], fabs(solver->jump_y[q])))
      return 1;
  }
  return 0;
}

static int lower_jumps(Solver *solver, double t) {
  const Model *model = solver->model;
  double *rows = solver->jump_first + model->nonzeros;
  int most = 0;
  if (program_run(solver, model->residual, t, solver->jump_y, rows)) return 0;
  for (int r = 0; r < model->rows; r++) most = model->c[r] > most ? model->c[r] : most;
  for (int below = 2; below <= most; below++)
    if (jumps_below(solver, rows, below)) return 1;
  return 0;
}

/* Returns 1 where the equations do not determine the jump. */
static int solve_jump(Solver *solver, double t, double *y) {
  const Model *model = solver->model;
  double total = 0, change = HUGE_VAL;
  int column = 0;
  memcpy(solver->jump_y, y, (size_t)model->columns * sizeof(double));
  memset(solver->moved, 0, (size_t)model->unknowns * sizeof(double));
  for (int k = 0; k < JUMP_LIMIT && change > CONVERGED; k++) {
    if (evaluate_jump(solver, t) || matrix_factor(&solver->full)) return 0;
    if (!k) memcpy(solver->jump_first, solver->full_entries, (size_t)model->nonzeros * sizeof(double));
    matrix_solve(&solver->full, solver->right);
    change = move_columns(solver, &column);
    total += change;
  }
  if (lower_jumps(solver, t)) return 1;
  if (total > JUMPED && (change > 1e-8 || coefficients_changed(solver))) return 1;
  memcpy(y, solver->jump_y, (size_t)model->columns * sizeof(double));
  return 0;
}

/* Only the modes have changed: states stay as they are, but for a jump. Those that served in the old modes may not serve in
 * the new ones. */
static int solve_at_event(Solver *solver, double t, double *y) {
  if (solve_jump(solver, t, y)) {
    solver->now->undetermined = 1;
    return 1;
  }
  states_select(solver, t, y, 0);
  return slides_complete(solver, t, y, 0) != SOLVER_OK;
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

/* Does another system hold? One for all branches is left where it has no solution. */
static int leaves_structure(Solver *solver, double t, const double *y) {
  if (!solver->model->holds || solver->now->restructured) return solver->now->restructured;
  evaluate_branches(solver, t, y);
  return solver->now->restructured = !holds_now(solver, solver->model);
}

/* ---- settling ---- */

/* Modes and all else that is discrete, with pre() held, and the columns that they lead to. Returns 1 where that does not end. */
static int iterate_modes(Solver *solver, double t, double *y) {
  int stale = solver->now->stale;
  Rounds rounds = {.few = solver->edges.now->one_by_one ? MANY : ROUNDS};
  while (rounds_go_on(&rounds, solver->discretes, (size_t)solver->model->discretes)) {
    edges_evaluate(&solver->edges, t, y);
    solver->now->matter = 0;
    int changes = set_modes(solver, t, y);
    if (!changes && !stale) return leaves_structure(solver, t, y);
    if (changes && !solver->now->matter) continue;
    stale = 0;
    if (leaves_structure(solver, t, y)) return 1;
    solver->now->changed = 1;
    if (solve_at_event(solver, t, y)) return 1;
  }
  return 1;
}

static int settle_once(Solver *solver, double t, double *y, int mode) {
  edges_begin(&solver->edges, mode);
  int more = 1;
  for (int round = 0; round < SLIDE_LIMIT && more; round++)
    if (iterate_modes(solver, t, y) || slides_begin(solver, t, y, &more)) return 1;
  return 0;
}

static void keep(const Solver *solver, const double *y, double *columns, double *discretes) {
  memcpy(columns, y, (size_t)solver->model->columns * sizeof(double));
  memcpy(discretes, solver->discretes, (size_t)solver->model->discretes * sizeof(double));
}

static void go_back(Solver *solver, const double *columns, const double *discretes, double *y) {
  memcpy(y, columns, (size_t)solver->model->columns * sizeof(double));
  memcpy(solver->discretes, discretes, (size_t)solver->model->discretes * sizeof(double));
  edges_forget_slides(&solver->edges);
  solver->now->undetermined = 0;
}

static int try_modes(Solver *solver, double t, double *y, const Trial *trial) {
  go_back(solver, solver->begin_y, solver->begin_discretes, y);
  edges_flip(&solver->edges, trial);
  for (int round = 0; round < solver->model->discretes && set_discretes(solver, t, y); round++) continue;
  return !solve_at_event(solver, t, y) && !iterate_modes(solver, t, y) && edges_agree(&solver->edges);
}

/* The combination with the fewest changes in which all modes agree. Returns 1 where there is none. */
static int enumerate_modes(Solver *solver, double t, double *y) {
  Trial trial = edges_trial(&solver->edges, TRIAL_LIMIT);
  solver->now->changed = 1;
  keep(solver, y, solver->left_y, solver->left_discretes);
  do
    if (try_modes(solver, t, y, &trial)) return 0;
  while (trial_next(&trial));
  go_back(solver, solver->left_y, solver->left_discretes, y);
  return 1;
}

/* The equations behind an event of time may have no value at its very time. */
static int settle_behind(Solver *solver, double t, double *y, int mode) {
  if (mode >= 0 && !solver->model->mode[mode].is_timed) return 1;
  go_back(solver, solver->begin_y, solver->begin_discretes, y);
  if (settle_once(solver, behind(t), y, mode)) return 1;
  solver->now->time = behind(t);
  return 0;
}

/* Modes and all else that is discrete, and other ways where iterating does not lead to a solution: what fires acts, and what follows from it
 * does not undo it; then modes change one at a time (the least-index rule of Murty 1974); then combinations. */
static int settle_values(Solver *solver, double *y, int mode) {
  Scalars *now = solver->now;
  double t = now->time;
  keep(solver, y, solver->begin_y, solver->begin_discretes);
  now->retracted = 0;
  int failed = settle_once(solver, t, y, mode);
  if (now->restructured) return 1;
  if (now->retracted && !now->latches && (failed || edges_undecided(&solver->edges))) {
    go_back(solver, solver->begin_y, solver->begin_discretes, y);
    now->latches = 1;
    failed = settle_once(solver, t, y, mode);
    now->latches = 0;
  }
  if (failed || (edges_undecided(&solver->edges) && any_contradicts(solver, t, y))) {
    go_back(solver, solver->begin_y, solver->begin_discretes, y);
    solver->edges.now->one_by_one = true;
    failed = settle_once(solver, t, y, mode);
    solver->edges.now->one_by_one = false;
  }
  int has_others = solver->model->branches && !solver->model->holds;
  if (!failed || now->undetermined || now->restructured || has_others) return failed;
  return settle_behind(solver, t, y, mode) && enumerate_modes(solver, t, y);
}

/* ---- actions ---- */

enum { MESSAGE_ROOM = 1024 };

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
      for (char *comma = place; (comma = strchr(comma, ','));) *comma = '.'; /* whatever the locale */
    }
    used += strlen(place);
  }
  report(solver, text);
}

static void act(Solver *solver, double t, const double *y) {
  const Model *model = solver->model;
  if (!model->actions) return;
  program_run(solver, model->actions_program, t, y, solver->values);
  for (int a = 0; a < model->actions; a++) {
    const ModelAction *action = &model->action[a];
    int holds = solver->values[2 * a] == 0 || (action->is_initial && !solver->now->is_starting);
    if (holds || action->kind == ACTION_REINIT) continue;
    if (action->kind == ACTION_TERMINATE) solver->now->terminated = 1;
    else if (solver->values[2 * a + 1] != 0) continue;
    else if (action->kind == ACTION_ASSERT) solver->now->asserted = 1;
    if (!solver->reported[a]) report_action(solver, action, t, y);
    solver->reported[a] = 1;
  }
}

void events_watch(Solver *solver, double t, const double *y) { act(solver, t, y); }

/* What reinit does to columns: they stay, and states as far as the rows allow. Returns 1 where it has no value, or two reinit of one column
 * differ, or the rows cannot be solved with it. */
static int reset_columns(Solver *solver, double t, double *y, int *any) {
  const Model *model = solver->model;
  memset(solver->held, 0, (size_t)model->columns);
  *any = 0;
  for (int a = 0; a < model->actions; a++) {
    const ModelAction *action = &model->action[a];
    double value = action->sign * solver->values[2 * a + 1];
    if (action->kind != ACTION_REINIT || action->column < 0 || solver->values[2 * a] == 0) continue;
    int is_other = solver->held[action->column] && fabs(y[action->column] - value) > 1e-12 * fabs(value);
    if (is_other || !isfinite(value)) return report_action(solver, action, t, y), 1;
    solver->held[action->column] = 2;
    y[action->column] = value;
    *any = 1;
  }
  if (!*any) return 0;
  edges_leave(&solver->edges); /* what slid may be off its edge now */
  solver->now->changed = 1;
  for (int k = 0; k < model->states; k++)
    if (!solver->held[solver->from[k]]) solver->held[solver->from[k]] = 1;
  return states_select(solver, t, y, solver->held) || slides_complete(solver, t, y, 0) != SOLVER_OK;
}

/* The mode whose event it is, and modes that slid, are on their edges. Columns that were the mean of both sides become those of the modes of
 * now: else what a mean leaves of the rates, round-off, would say where they lead. */
static void locate(Solver *solver, double t, double *y, int mode) {
  int any = edges_slid(&solver->edges);
  solver->now->changed |= any;
  if (any) memcpy(solver->begin_y, y, (size_t)solver->model->columns * sizeof(double));
  if (any && states_solve(solver, t, y, 0) != SOLVER_OK)
    memcpy(y, solver->begin_y, (size_t)solver->model->columns * sizeof(double));
  edges_locate(&solver->edges, mode, t, y);
}

/* The end of an event for delays. Returns 1 where there is no room, or a delay that cannot be. */
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

static int iterate(Solver *solver, double *y, int mode) {
  Scalars *now = solver->now;
  locate(solver, now->time, y, mode);
  Rounds rounds = {.few = MANY};
  while (rounds_go_on(&rounds, solver->discretes, (size_t)solver->model->discretes)) {
    int is_reset = 0;
    if (settle_values(solver, y, mode)) return 1;
    double t = now->time;
    now->latches = 0;
    act(solver, t, y);
    if (reset_columns(solver, t, y, &is_reset)) return 1;
    if (accept(solver, t, y) || is_reset) continue;
    if (events_are_undefined(solver, t, y)) return 1;
    end_samples(solver, t, y);
    if (solver->model->delays && note_delays(solver, t, y, now->changed || mode >= 0)) return 1;
    edges_evaluate(&solver->edges, t, y);
    edges_keep(&solver->edges, t, y, 0);
    return 0;
  }
  return 1;
}

static int find_system(const Solver *solver) {
  for (int k = 0; k < solver->first->systems; k++)
    if (solver->first->system[k]->holds && holds_now(solver, solver->first->system[k])) return k;
  return -1;
}

static void report_unknown_system(const Solver *solver) {
  report(solver, "the equations become others, which were not met when the model was exported, where these change:");
  for (int k = 0; k < solver->model->branches; k++) report(solver, solver->model->branch_text[k]);
}

/* Goes over to the system that holds now, from columns of the former one. Returns 1 where there is none, or no consistent values. */
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
  solver->now->restructured = solver->now->undetermined = 0;
  solver->now->changed = 1;
  edges_forget_slides(&solver->edges);
  memcpy(solver->depth, model->depth0, (size_t)model->unknowns * sizeof(int));
  states_link(solver);
  return solve_jump(solver, t, y) || states_select(solver, t, y, 0) || slides_complete(solver, t, y, 0) != SOLVER_OK;
}

/* Iterates, and goes on in other systems where the structure changes. */
static int iterate_systems(Solver *solver, double *y, int mode) {
  memcpy(solver->settle_y, y, (size_t)solver->model->columns * sizeof(double));
  solver->now->restructured = 0;
  for (int change = 0; change < SYSTEM_LIMIT; change++) {
    int failed = iterate(solver, y, mode);
    int is_left = solver->now->restructured || (failed && solver->model->branches && !solver->model->holds);
    if (!failed || !is_left) return failed;
    if (change_system(solver, solver->now->time, y)) return 1;
    memcpy(solver->settle_y, y, (size_t)solver->model->columns * sizeof(double));
    solver->now->latches = 1;
    mode = -1;
  }
  return 1;
}

/* An event at y and the time of now, of a mode or, with -1, of none. Where the equations have no value at the time of an event of time, the time
 * becomes that just behind. Returns 1 where it does not settle. */
int events_settle(Solver *solver, double *y, int mode) {
  double t = solver->now->time;
  solver->now->undetermined = 0;
  set_lefts(solver, t, y);
  copy_pre(solver);
  set_samples(solver, t);
  int differs = solver->model->delays && delays_pass(&solver->delays, t, y), terminal = solver->model->terminal;
  /* rows that ask for terminal(), where it is true */
  differs |= terminal >= 0 && solver->discretes[terminal] != 0 && solver->model->matters[terminal];
  if (differs && solve_at_event(solver, t, y)) return 1;
  int failed = iterate_systems(solver, y, mode);
  solver->now->changed |= differs;
  return failed;
}

/* ---- events without end ---- */

static int report_accumulation(const Solver *solver, int m) {
  report_mode(solver, m,
              "this condition changes ever faster, infinitely often before the solution gets beyond this time:");
  return 1;
}

/* Hysteresis has grown: the first time, and when it is beyond what the tolerance asks for. */
static void report_slack(const Solver *solver, int m, int is_first, int was_widened) {
  if (is_first)
    report_mode(solver, m,
                "warning: the solution hovers at the edge of this condition, which from here on changes only when "
                "passed by some times the tolerance; use noEvent, or a smooth transition:");
  if (solver->edges.history[m].is_widened && !was_widened)
    report_mode(solver, m,
                "warning: events without end of this condition are bounded by a hysteresis that grows beyond the "
                "tolerance, and what "
                "depends on it is right to about that only; use noEvent, or a smooth transition:");
}

/* Notes an event of a mode in a run. Returns 1 where its events have no end. */
int events_hover(Solver *solver, int m, double t) {
  Edges *edges = &solver->edges;
  double span = solver->model->stop - solver->model->start, tolerance = solver->now->tolerance;
  int is_first = edges->history[m].slack == 0, was_widened = edges->history[m].is_widened;
  if (edges_accumulate(edges, m, t, span) && !edges_let_rest(edges, tolerance, span))
    return report_accumulation(solver, m);
  if (edges_hover(edges, m, tolerance, span)) report_slack(solver, m, is_first, was_widened);
  return 0;
}

/* Behind a step without an event: is one lost of a series that came ever faster? */
int events_are_lost(const Solver *solver) {
  int m = edges_escaped(&solver->edges, solver->now->event, 4 * DBL_EPSILON * fabs(solver->now->time));
  return m >= 0 && report_accumulation(solver, m);
}

/* ---- the start ---- */

/* Sets all that is discrete by the values found, until it stays. Do rows depend on what has changed? */
static int modes_differ(Solver *solver, double t, const double *y) {
  solver->now->matter = 0;
  for (int round = 0; round <= solver->model->discretes && !solver->now->matter; round++) {
    edges_evaluate(&solver->edges, t, y);
    if (!set_modes(solver, t, y)) return 0;
  }
  return solver->now->matter;
}

/* All columns from start values. */
static int find_columns(Solver *solver, double t, double *y) {
  if (solver->model->start_system.rows) return initial_solve(solver, t, y);
  return states_select(solver, t, y, solver->model->held) || slides_complete(solver, t, y, 0) != SOLVER_OK;
}

/* From start values in y: the choice that holds them, the columns that follow, the modes that agree. Returns 1 without a solution. */
static int find_start(Solver *solver, double t, double *y) {
  const Model *model = solver->model;
  solver->discretes[model->initial] = 1;
  edges_begin(&solver->edges, -1);
  set_timed(solver, t, y);
  memcpy(solver->event_y, y, (size_t)model->columns * sizeof(double));
  if (model->modes) {
    program_run(solver, model->written, t, y, solver->edges.difference);
    set_modes(solver, t, y);
  }
  Rounds rounds = {.few = ROUNDS};
  while (rounds_go_on(&rounds, solver->discretes, (size_t)model->discretes)) {
    memcpy(y, solver->event_y, (size_t)model->columns * sizeof(double));
    if (find_columns(solver, t, y)) return 1;
    if ((model->delays && delays_guess(&solver->delays, t, y)) || modes_differ(solver, t, y)) continue;
    solver->discretes[model->initial] = 0;
    copy_pre(solver);
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

/* At the start modes have the values of their relations as written, unless none were found that do. */
static void enter_start(Solver *solver, double t, const double *y) {
  Edges *edges = &solver->edges;
  edges->now->is_at_start = true;
  if (!edges->count) return;
  edges_evaluate(edges, t, y);
  edges->now->is_at_start = edges_agree(edges);
  for (int m = 0; m < edges->count; m++) {
    const Condition *condition = &edges->condition[m];
    if (condition->is_timed && condition_value(condition->kind, edges->difference[m]) != edges->mode[m])
      edges->now->is_at_start = false;
  }
}

static int begin_delays(Solver *solver, double t, const double *y) {
  delays_begin(&solver->delays, t, y);
  memcpy(solver->past_y, y, (size_t)solver->model->columns * sizeof(double));
  return delays_fault(&solver->delays) >= 0;
}

/* From start values to what is there at the first instant; from consistent values where now->is_started. */
int events_initial(Solver *solver, double t, double *y) {
  const Model *model = solver->model;
  if (!solver->now->is_started) {
    if (find_start(solver, t, y) || moved_start(solver, y)) return 1;
  }
  solver->now->is_started = 1;
  edges_set_nominal(&solver->edges, t, model->nominal);
  if (states_select(solver, t, y, 0) || (model->delays && begin_delays(solver, t, y))) return 1;
  events_begin(solver, t, y);
  if (begin_samples(solver, t)) return 1;
  enter_start(solver, t, y);
  int has_logic = model->levels || model->samples || model->actions;
  if (has_logic && model->matters[model->initial] && slides_complete(solver, t, y, 0) != SOLVER_OK) return 1;
  solver->now->is_starting = 1;
  int failed = has_logic && events_settle(solver, y, -1);
  solver->now->is_starting = 0;
  return failed;
}

/* Where the run ends: what happens at terminal(). Returns 1 where it does not settle. */
int events_end(Solver *solver) {
  int terminal = solver->model->terminal;
  if (terminal < 0 || solver->discretes[terminal] != 0) return 0;
  solver->discretes[terminal] = 1;
  edges_leave(&solver->edges);
  return events_settle(solver, solver->y, -1);
}

/* The event right after the start, of relations that do not stay as they are there. Returns 1 where it does not settle. */
int events_leave_start(Solver *solver) {
  if (!solver->edges.now->is_at_start) return 0;
  solver->edges.now->is_at_start = false;
  if (!solver->model->modes) return 0;
  if (events_settle(solver, solver->y, -1)) return 1;
  radau_start(solver);
  return 0;
}
