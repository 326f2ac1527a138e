/* events: conditions, what is discrete, and what becomes of both at an event.
 *
 * Between events the conditions are frozen in discrete values, their modes, so that the equations are smooth. A mode
 * holds while its difference stays in a range. An event iterates: modes, discrete values and columns to a fixed point with pre()
 * held, then reinit, then pre() takes the values found, until nothing changes. */
#include "solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { PIVOT_LIMIT = 16, SETTLE_LIMIT = 30, PIVOTS_LIMIT = 300, ITERATION_LIMIT = 1000, TRIAL_LIMIT = 10 };
enum {
  HOVER_LIMIT = 4,
  HOVER_RANGE = 16,
  SLACK_GROWTH = 8,
  DOUBLING_LIMIT = 128,
  ACCUMULATION_LIMIT = 8,
  START_ROUNDS = 20,
  JUMP_LIMIT = 12,
  SYSTEM_LIMIT = 1000
};
static const double FIRST_SLACK = 1e-3, LARGEST_SLACK_OF_JUMPS = 1e-3, FAST = 1e-3, REGULAR = 0.1, ACCUMULATED = 1e-11;
static const double REMEMBERED_RANGE =
    4; /* so many times hysteresis where what the events do lasts, and others keep them apart */
static const double ROUND_OFF = 1e-13, STILL = 1e-9, SMALL_PART = 0.1;
static const double CONVERGED = 1e-13, JUMPED = 1e-6, LEFT = 1e-9;

int events_any(const Model *model) {
  return model->modes || model->levels || model->samples || model->actions || model->delays;
}

/* ---- differences and margins ---- */

/* Runs a program of conditions. Whatever overflows still has a sign; only values that are no numbers tell nothing. */
static int run_conditions(Solver *solver, ModelProgram *program, double t, const double *y) {
  if (!program_run(solver, program, t, y, solver->difference)) return 0;
  for (int k = 0; k < 2 * solver->model->modes; k++)
    if (isnan(solver->difference[k])) return 1;
  return 0;
}

int events_evaluate(Solver *solver, double t, const double *y) {
  solver->now->looked = t;
  return solver->model->modes ? run_conditions(solver, solver->model->conditions, t, y) : 0;
}

/* Of the events of a mode: the two last ones, the last cycle, to and fro, its part of the one before, and how often in a row that was about the same. */
static double *times_of(const Solver *solver, int m) { return solver->event_times + 5 * m; }

static double round_off(const Solver *solver, int m) {
  double size = fmax(modes_size(solver->difference[solver->model->modes + m]), modes_size(solver->before[m]));
  double blur = 4 * DBL_EPSILON * fabs(solver->now->looked) * solver->speed[m];
  return fmax(ROUND_OFF * size, blur);
}

static double band(const Solver *solver, int m) {
  int is_held = solver->now->looked <= times_of(solver, m)[1] + solver->hold[m];
  return fmax(round_off(solver, m), is_held ? solver->slack[m] : 0);
}

static double margin_with(const Solver *solver, int m, double value, double difference) {
  ConditionRange range = condition_range(solver->model->mode[m].kind, value);
  return fmin(difference - range.low, range.high - difference) + band(solver, m);
}

double events_margin(const Solver *solver, int m, double difference) {
  if (solver->model->mode[m].is_timed || slides_of(solver, m)) return HUGE_VAL;
  if (solver->rests[m])
    return fabs(difference - condition_edge(solver->model->mode[m].kind, difference)) - band(solver, m);
  return margin_with(solver, m, *modes_at(solver, m), difference);
}

/* How far a condition is from changing; negative where it has to. */
double events_indicator(const Solver *solver, int m) {
  const Slide *slide = slides_of(solver, m);
  if (slide) return slides_inside(slide) + LEFT;
  return events_margin(solver, m, solver->difference[m]);
}

static int contradicts(const Solver *solver, int m) { return events_margin(solver, m, solver->difference[m]) < 0; }

/* Is the last difference on an edge, where the relation says otherwise than the mode? */
static int is_open(const Solver *solver, int m) {
  const ModelMode *mode = &solver->model->mode[m];
  double difference = solver->difference[m], edge = condition_edge(mode->kind, difference);
  if (mode->is_timed || !mode->has_rate || solver->slack[m] != 0 || slides_of(solver, m)) return 0;
  return fabs(difference - edge) <= band(solver, m) && *modes_at(solver, m) != condition_value(mode->kind, edge);
}

/* At a point, by the last differences: modes whose differences have come to their edges and rest there, as that of max(x, 1) > 1. They are
 * in the range of either mode, so that only the relation itself tells which one holds. Rates stay those of the beginning. */
void events_rest(Solver *solver, double t, const double *y) {
  size_t size = (size_t)solver->model->modes * sizeof(double);
  int any = 0;
  for (int m = 0; m < solver->model->modes; m++) any |= solver->rests[m] = is_open(solver, m);
  if (!any) return;
  memcpy(solver->margins, solver->rate, size);
  modes_rates(solver, t, y);
  for (int m = 0; m < solver->model->modes; m++) solver->rests[m] &= solver->rate[m] == 0;
  memcpy(solver->rate, solver->margins, size);
}

void events_keep(Solver *solver, double t, const double *y, double step) {
  modes_rates(solver, t, y);
  for (int m = 0; m < solver->model->modes; m++) {
    double mean = step > 0 ? modes_size(solver->difference[m] - solver->before[m]) / step : 0;
    solver->speed[m] = fmax(fmax(fabs(solver->rate[m]), mean), solver->speed[m] / 2);
    solver->before[m] = solver->difference[m];
    solver->slid[m] = solver->rests[m] = 0;
    double margin = events_margin(solver, m, solver->difference[m]);
    if (is_finite(margin)) solver->peak[m] = fmax(solver->peak[m], margin); /* what slides stays on its edge */
  }
  solver->now->kept = t;
}

int events_may_hide(const Solver *solver, int m, double step) {
  double now = solver->difference[m], before = solver->before[m];
  double margin = fmin(events_margin(solver, m, now), events_margin(solver, m, before));
  return margin < fabs(now - before) + step * solver->speed[m];
}

double events_safe_time(const Solver *solver, int m) {
  double size = solver->difference[solver->model->modes + m], speed = solver->speed[m];
  if (!(speed > 0) || solver->model->mode[m].is_timed) return HUGE_VAL;
  return fmax(events_margin(solver, m, solver->difference[m]), SMALL_PART * size) / speed;
}

/* How long it takes the last difference of a mode to get to its nearest edge; 0 where nothing is known. */
double events_way_to_edge(Solver *solver, int m, double t, const double *y) {
  double difference = solver->difference[m], edge = condition_edge(solver->model->mode[m].kind, difference);
  modes_rates(solver, t, y);
  return fabs(difference - edge) <= band(solver, m) || solver->rate[m] == 0 ? 0 : (edge - difference) / solver->rate[m];
}

void events_begin(Solver *solver, double t, const double *y) {
  if (!solver->model->modes || events_evaluate(solver, t, y)) return;
  memset(solver->peak, 0, (size_t)solver->model->modes * sizeof(double));
  events_keep(solver, t, y, 0);
}

/* ---- events of time ---- */

/* Just behind t: events that coincide but for round-off are one. */
static double behind(double t) { return t + fmax(8 * DBL_EPSILON * fabs(t), 1e-15); }

static int set_timed(Solver *solver, double t, const double *y) {
  const Model *model = solver->model;
  int changed = 0, any = 0;
  for (int m = 0; m < model->modes; m++) any |= model->mode[m].is_timed;
  if (!any) return 0;
  program_run(solver, model->conditions, solver->now->has_left ? behind(t) : t, y, solver->values);
  for (int m = 0; m < model->modes; m++) {
    if (!model->mode[m].is_timed || !is_finite(solver->values[m])) continue;
    double value = condition_value(model->mode[m].kind, solver->values[m]);
    changed += value != *modes_at(solver, m);
    *modes_at(solver, m) = value;
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
  ConditionRange range = condition_range(solver->model->mode[m].kind, *modes_at(solver, m));
  double difference = solver->values[m], edge = rate > 0 ? range.high : range.low;
  if (rate == 0 || !is_finite(edge) || !is_finite(difference)) return HUGE_VAL;
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
  modes_rates(solver, t, solver->y);
  program_run(solver, model->conditions, behind(t), solver->y, solver->values);
  for (int m = 0; m < model->modes; m++)
    if (model->mode[m].is_timed) first = fmin(first, timed_next(solver, m, t, solver->rate[m]));
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
  if (!is_finite(value) || values[leaf] == value) return 0;
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
static int accept(Solver *solver, double t, const double *y) {
  size_t size = (size_t)solver->model->first_mode * sizeof(double);
  set_lefts(solver, t, y);
  int differ = memcmp(solver->pre, solver->discretes, size) != 0;
  copy_pre(solver);
  return differ;
}

/* ---- setting modes ---- */

/* Is a mode on the edge whose event was located, or on one that it slid along? */
static int is_on_located_edge(const Solver *solver, int m) {
  int crossing = solver->now->crossing;
  return m == crossing || solver->slid[m] || (crossing >= 0 && modes_share_edge(solver, crossing, m));
}

/* Was the difference of a mode beyond its edge from the beginning of the step on, where no edge could be located? */
static int was_beyond(const Solver *solver, int m) {
  double at = solver->at[m], edge = condition_edge(solver->model->mode[m].kind, at), before = solver->before[m];
  double near = fmax(band(solver, m), ON_EDGE * modes_way(solver, m));
  return !solver->slid[m] && fmin(fabs(at - edge), fabs(before - edge)) > near && (at > edge) == (before > edge);
}

/* Is a mode that is remembered off its edge, if by less than its hysteresis? At an event, of its own or of another mode, it is as its difference
 * says. */
static int is_off_edge(const Solver *solver, int m) {
  const ModelMode *mode = &solver->model->mode[m];
  double difference = solver->difference[m];
  return solver->slack[m] > 0 && mode->is_remembered && !solver->slid[m] &&
         fabs(difference - condition_edge(mode->kind, difference)) > round_off(solver, m);
}

/* The value that a mode should have by its difference: on an edge by its rate, and where nothing is known as it is. A mode that contradicts
 * never stays, but for one whose event was located: that is beyond the edge by the accuracy of location only. */
static double wanted_value(const Solver *solver, int m) {
  const ModelMode *mode = &solver->model->mode[m];
  double difference = solver->difference[m], edge = condition_edge(mode->kind, difference), rate = solver->rate[m];
  if (is_off_edge(solver, m)) return condition_value(mode->kind, difference);
  int is_located =
      is_on_located_edge(solver, m) && !was_beyond(solver, m) && fabs(difference - solver->at[m]) <= band(solver, m);
  int is_on_edge = is_located || fabs(difference - edge) <= band(solver, m);
  if (!solver->now->has_left) return condition_value(mode->kind, is_on_edge ? edge : difference);
  int moves = is_on_edge && fabs(rate) > STILL * solver->speed[m], is_wrong = contradicts(solver, m);
  double ahead = condition_value(mode->kind, edge + copysign(0.5, rate));
  int may_lead = mode->matters || margin_with(solver, m, ahead, difference) >= 0;
  if (moves && may_lead && (is_located || !is_wrong || ahead != *modes_at(solver, m))) return ahead;
  if (is_on_edge && solver->rests[m]) return condition_value(mode->kind, edge);
  if (!is_on_edge || is_wrong) return condition_value(mode->kind, difference);
  return *modes_at(solver, m);
}

/* Modes inside of the relation of mode m have changed, on which it has to wait: what it did before that was no to and fro. */
static void count_anew(Solver *solver, int m) {
  int *changes = &solver->changes[m];
  if (*changes > 1 && *changes != LED_AWAY && solver->model->mode[m].has_inner) *changes = 1;
}

static int set_modes(Solver *solver, double t, const double *y) {
  const Model *model = solver->model;
  int changed = set_timed(solver, t, y), limit = solver->now->one_by_one ? PIVOT_LIMIT : CHANGE_LIMIT;
  if (changed) solver->now->matter = 1;
  modes_rates(solver, t, y);
  for (int m = 0; m < model->modes; m++) {
    if (model->mode[m].is_timed || slides_of(solver, m)) continue;
    if (changed) count_anew(solver, m);
    if (solver->changes[m] >= limit) continue;
    double value = wanted_value(solver, m);
    if (value == *modes_at(solver, m)) continue;
    solver->changes[m]++;
    *modes_at(solver, m) = value;
    solver->now->matter |= model->mode[m].matters;
    changed++;
    if (solver->now->one_by_one) break;
  }
  return changed + set_discretes(solver, t, y);
}

static int is_undecided(const Solver *solver) {
  for (int m = 0; m < solver->model->modes; m++)
    if (solver->changes[m] >= CHANGE_LIMIT) return 1;
  return 0;
}

static int any_contradicts(Solver *solver, double t, const double *y) {
  if (events_evaluate(solver, t, y)) return 0;
  for (int m = 0; m < solver->model->modes; m++)
    if (contradicts(solver, m)) return 1;
  return 0;
}

static void begin_modes(Solver *solver, int mode) {
  if (solver->model->modes) memset(solver->changes, 0, (size_t)solver->model->modes * sizeof(int));
  solver->now->crossing = mode;
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
  int solved = 0, limit = solver->now->one_by_one ? PIVOTS_LIMIT : SETTLE_LIMIT;
  for (int round = 0; round < limit + solver->model->discretes && solved < limit; round++) {
    if (events_evaluate(solver, t, y)) return 1;
    solver->now->matter = 0;
    if (!set_modes(solver, t, y)) return leaves_structure(solver, t, y);
    if (!solver->now->matter) continue;
    if (leaves_structure(solver, t, y)) return 1;
    solver->now->changed = 1;
    solved++;
    if (solve_at_event(solver, t, y)) return 1;
  }
  return 1;
}

static int settle_once(Solver *solver, double t, double *y, int mode) {
  begin_modes(solver, mode);
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
  slides_forget(solver);
  solver->now->undetermined = 0;
}

/* Does every mode have the value that its difference asks for? */
static int agrees(const Solver *solver) {
  for (int m = 0; m < solver->model->modes; m++)
    if (!solver->model->mode[m].is_timed && wanted_value(solver, m) != *modes_at(solver, m)) return 0;
  return 1;
}

/* The modes to try, first those that changed: at most TRIAL_LIMIT. */
static int list_trial(const Solver *solver, int *modes) {
  int count = 0;
  for (int changed = 1; changed >= 0; changed--)
    for (int m = 0; m < solver->model->modes && count < TRIAL_LIMIT; m++)
      if (solver->model->mode[m].may_try && (solver->changes[m] > 0) == changed) modes[count++] = m;
  return count;
}

static int count_bits(unsigned set) {
  int count = 0;
  for (; set; set &= set - 1) count++;
  return count;
}

static int try_modes(Solver *solver, double t, double *y, const int *modes, int count, unsigned flipped) {
  go_back(solver, solver->begin_y, solver->begin_discretes, y);
  begin_modes(solver, solver->now->crossing);
  for (int k = 0; k < count; k++) {
    if (flipped >> k & 1) *modes_at(solver, modes[k]) = *modes_at(solver, modes[k]) == 0;
    solver->changes[modes[k]] = CHANGE_LIMIT;
  }
  for (int round = 0; round < solver->model->discretes && set_discretes(solver, t, y); round++) continue;
  return !solve_at_event(solver, t, y) && !iterate_modes(solver, t, y) && agrees(solver);
}

/* The combination with the fewest changes in which all modes agree. Returns 1 where there is none. */
static int enumerate_modes(Solver *solver, double t, double *y) {
  int modes[TRIAL_LIMIT], count = list_trial(solver, modes);
  solver->now->changed = 1;
  keep(solver, y, solver->left_y, solver->left_discretes);
  for (int changes = 0; changes <= count; changes++)
    for (unsigned flipped = 0; flipped < 1u << count; flipped++)
      if (count_bits(flipped) == changes && try_modes(solver, t, y, modes, count, flipped)) return 0;
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
  if (now->retracted && !now->latches && (failed || is_undecided(solver))) {
    go_back(solver, solver->begin_y, solver->begin_discretes, y);
    now->latches = 1;
    failed = settle_once(solver, t, y, mode);
    now->latches = 0;
  }
  if (failed || (is_undecided(solver) && any_contradicts(solver, t, y))) {
    go_back(solver, solver->begin_y, solver->begin_discretes, y);
    now->one_by_one = 1;
    failed = settle_once(solver, t, y, mode);
    now->one_by_one = 0;
  }
  int has_others = solver->model->branches && !solver->model->holds;
  if (!failed || now->undetermined || now->restructured || has_others) return failed;
  return settle_behind(solver, t, y, mode) && enumerate_modes(solver, t, y);
}

/* ---- actions ---- */

static void report(const Solver *solver, const char *text) {
  if (solver->report) solver->report(solver->context, text);
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
    if (!solver->reported[a]) report(solver, action->message);
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
    if (is_other || !is_finite(value)) return report(solver, action->message), 1;
    solver->held[action->column] = 2;
    y[action->column] = value;
    *any = 1;
  }
  if (!*any) return 0;
  slides_leave(solver); /* what slid may be off its edge now */
  solver->now->changed = 1;
  for (int k = 0; k < model->states; k++)
    if (!solver->held[solver->from[k]]) solver->held[solver->from[k]] = 1;
  return states_select(solver, t, y, solver->held) || slides_complete(solver, t, y, 0) != SOLVER_OK;
}

/* The mode whose event it is, and modes that slid, are on their edges. Columns that were the mean of both sides become those of the modes of
 * now: else what a mean leaves of the rates, round-off, would say where they lead. */
static void locate(Solver *solver, double t, double *y, int mode) {
  int any = 0;
  for (int m = 0; m < solver->model->modes; m++) any |= solver->slid[m];
  solver->now->changed |= any;
  if (any) memcpy(solver->begin_y, y, (size_t)solver->model->columns * sizeof(double));
  if (any && states_solve(solver, t, y, 0) != SOLVER_OK)
    memcpy(y, solver->begin_y, (size_t)solver->model->columns * sizeof(double));
  if ((!any && mode < 0) || events_evaluate(solver, t, y)) return;
  memcpy(solver->at, solver->difference, (size_t)solver->model->modes * sizeof(double));
}

/* The end of an event for delays. Returns 1 where there is no room, or a delay that cannot be. */
static int note_delays(Solver *solver, double t, const double *y, int is_kink) {
  if (!delays_have_room(&solver->delays)) return 1;
  delays_note(&solver->delays, t, y, is_kink);
  memcpy(solver->past_y, y, (size_t)solver->model->columns * sizeof(double));
  return delays_fault(&solver->delays) >= 0;
}

static int iterate(Solver *solver, double *y, int mode) {
  Scalars *now = solver->now;
  locate(solver, now->time, y, mode);
  for (int iteration = 0; iteration < ITERATION_LIMIT; iteration++) {
    int is_reset = 0;
    if (settle_values(solver, y, mode)) return 1;
    double t = now->time;
    now->latches = 0;
    act(solver, t, y);
    if (reset_columns(solver, t, y, &is_reset)) return 1;
    if (accept(solver, t, y) || is_reset) continue;
    end_samples(solver, t, y);
    if (solver->model->delays && note_delays(solver, t, y, now->changed || mode >= 0)) return 1;
    if (!events_evaluate(solver, t, y)) events_keep(solver, t, y, 0);
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
  slides_forget(solver);
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

/* The time of an event of a mode in a run. Returns 1 where its events come ever faster, infinitely many before a time that is t but for round-off. */
static int accumulates(Solver *solver, int m, double t, double span) {
  double *times = times_of(solver, m), cycle = t - times[0], ratio = cycle / times[2];
  int is_regular = ratio < 1 && fabs(ratio - times[3]) < REGULAR * ratio;
  times[0] = times[1];
  times[1] = t;
  times[2] = cycle;
  times[3] = ratio;
  times[4] = is_regular ? times[4] + 1 : 0;
  if (times[4] < ACCUMULATION_LIMIT || !(cycle * ratio < ACCUMULATED * span * (1 - ratio))) return 0;
  for (int k = 0; k < solver->model->modes; k++)
    if (solver->slack[k] != 0) return 0;
  return 1;
}

static void report_mode(const Solver *solver, int m, const char *text) {
  report(solver, text);
  report(solver, solver->model->mode[m].text);
}

/* Says that hysteresis has grown: the first time, and when it is beyond what the tolerance asks for. */
static void report_slack(Solver *solver, int m, int is_first, double allowed) {
  if (is_first)
    report_mode(solver, m,
                "warning: the solution hovers at the edge of this condition, which from here on changes only when "
                "passed by some times the tolerance; use noEvent, or a smooth transition:");
  if (solver->is_widened[m] || !(solver->slack[m] > allowed)) return;
  solver->is_widened[m] = 1;
  report_mode(solver, m,
              "warning: events without end of this condition are bounded by a hysteresis that grows beyond the "
              "tolerance, and what "
              "depends on it is right to about that only; use noEvent, or a smooth transition:");
}

/* How long the next event may be held back: longer where the mode was held back in vain, and hovers still. */
static void set_hold(Solver *solver, int m, int hovers, double span) {
  const double *times = times_of(solver, m);
  double hold = hovers ? solver->hold[m] : 0;
  if (times[1] - times[0] > hold) hold *= 2;
  solver->hold[m] = fmax(hold, FAST * span);
}

/* Do events accumulate before long? They do not where the ratio of cycles comes ever nearer to 1. */
static int will_accumulate(const double *times, double span) {
  double ratio = times[3], last = ACCUMULATED * span * (1 - ratio) / ratio;
  return times[4] >= HOVER_LIMIT && log(last / times[2]) / log(ratio) < 2 / FAST;
}

/* Did another mode whose changes last change at an edge of its own within the last cycle of mode m? The edges of a thermostat take turns, while noise leads one mode to and
 * fro alone. */
static int takes_turns(const Solver *solver, int m) {
  const Model *model = solver->model;
  const double *own = times_of(solver, m);
  if (!model->mode[m].is_remembered) return 0;
  for (int k = 0; k < model->modes; k++) {
    double last = times_of(solver, k)[1];
    int is_between = last > own[1] - own[2] && last <= own[1];
    if (is_between && model->mode[k].edge != model->mode[m].edge && model->mode[k].is_remembered) return 1;
  }
  return 0;
}

/* Where the difference of a mode hovers at its edge, event after event, hysteresis grows up to the tolerance, and where events are fast beyond
 * it, so that their number is bounded. */
static void let_hover(Solver *solver, int m, double span) {
  double *slack = &solver->slack[m], peak = solver->peak[m], tolerance = solver->now->tolerance;
  const double *times = times_of(solver, m);
  solver->largest[m] = fmax(solver->largest[m], modes_size(peak));
  double size = fmax(solver->largest[m], modes_size(solver->difference[solver->model->modes + m]));
  int is_fast = times[2] < FAST * span, is_first = *slack == 0;
  if (is_fast) size = fmax(size, solver->nominal_size[m]);
  double limit = fmax(tolerance, solver->jumps[m] ? LARGEST_SLACK_OF_JUMPS : 0) * size;
  double range = takes_turns(solver, m) ? REMEMBERED_RANGE * fmax(*slack, FIRST_SLACK * tolerance * size)
                                        : HOVER_RANGE * fmax(*slack, tolerance * size);
  int hovers = peak <= range && (*slack > 0 || !will_accumulate(times, span));
  set_hold(solver, m, hovers, span);
  solver->peak[m] = 0;
  solver->hovers[m] = hovers ? solver->hovers[m] + 1 : 0;
  int doubles = *slack >= limit;
  if (solver->hovers[m] < (doubles ? DOUBLING_LIMIT : HOVER_LIMIT) || (doubles && !is_fast)) return;
  *slack = doubles ? 2 * *slack : fmin(fmax(SLACK_GROWTH * *slack, FIRST_SLACK * tolerance * size), limit);
  solver->hovers[m] = 0;
  report_slack(solver, m, is_first, tolerance * size);
}

/* Notes an event of a mode in a run. Returns 1 where its events have no end. */
int events_hover(Solver *solver, int m, double t) {
  double span = solver->model->stop - solver->model->start;
  int is_endless = accumulates(solver, m, t, span);
  if (is_endless)
    report_mode(solver, m,
                "this condition changes ever faster, infinitely often before the solution gets beyond this time:");
  else let_hover(solver, m, span);
  return is_endless;
}

/* ---- the start ---- */

/* Sets all that is discrete by the values found, until it stays. Do rows depend on what has changed? */
static int modes_differ(Solver *solver, double t, const double *y) {
  solver->now->matter = 0;
  for (int round = 0; round <= solver->model->discretes && !solver->now->matter; round++)
    if (events_evaluate(solver, t, y) || !set_modes(solver, t, y)) return 0;
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
  begin_modes(solver, -1);
  set_timed(solver, t, y);
  memcpy(solver->event_y, y, (size_t)model->columns * sizeof(double));
  if (model->modes && !run_conditions(solver, model->written, t, y)) set_modes(solver, t, y);
  for (int round = 0; round < START_ROUNDS; round++) {
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
  const Model *model = solver->model;
  solver->now->has_left = 0;
  if (!model->modes) return;
  solver->now->has_left = events_evaluate(solver, t, y) || !agrees(solver);
  for (int m = 0; m < model->modes; m++)
    if (model->mode[m].is_timed && condition_value(model->mode[m].kind, solver->difference[m]) != *modes_at(solver, m))
      solver->now->has_left = 1;
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
  int are_known = model->modes && !run_conditions(solver, model->conditions, t, model->nominal);
  for (int m = 0; m < model->modes && are_known; m++)
    solver->nominal_size[m] = modes_size(solver->difference[model->modes + m]);
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
  slides_leave(solver);
  return events_settle(solver, solver->y, -1);
}

/* The event right after the start, of relations that do not stay as they are there. Returns 1 where it does not settle. */
int events_leave_start(Solver *solver) {
  if (solver->now->has_left) return 0;
  solver->now->has_left = 1;
  if (!solver->model->modes) return 0;
  if (events_settle(solver, solver->y, -1)) return 1;
  radau_start(solver);
  return 0;
}
