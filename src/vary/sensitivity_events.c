/* sensitivity_events: sensitivities at events. Within an event, everything varies with the time of the event. If that time varies
 * by dt, a column varies by Y + y' dt. Discrete values vary like the expressions that give them. After the event the rate after it
 * is subtracted from Y again. The iteration of an event is followed step by step, with the derivatives of all values that it
 * evaluates. */
#include "core/constants.h"
#include "vary/sensitivity_internal.h"

#include "base/copy.h"

#include <math.h>
#include <string.h>

bool sensitivity_refuse(Sensitivity *sensitivity, double t, const char *why) {
  diag_error(sensitivity->diags, DIAG_INTEGRATION, (Span){0}, "no sensitivities after the event at time %.10g: %s", t,
             why);
  sensitivity->failed = true;
  return false;
}

/* ---- rates ---- */

/* The time derivatives of all columns at (t, y), whose rows hold, in sensitivity->rate; the variation belongs to this point. */
static bool find_rates(Sensitivity *sensitivity, double t, const double *y) {
  const System *system = &sensitivity->view->system;
  const SensitivityPlan *plan = sensitivity->plan;
  Point point = evaluator_point(sensitivity->view->evaluator, t, y);
  if (variation_factor(sensitivity->variation, t, y) != EVAL_OK ||
      (sensitivity->rows && workspace_run(sensitivity->rows, &point, sensitivity->row_values) != EVAL_OK))
    return sensitivity_refuse(sensitivity, t, "the Jacobian is singular there, or not defined");
  memset(sensitivity->g, 0, (size_t)system->rows * sizeof(double));
  leaf_jacobian_add(plan->rows, plan->rows->leaves - 1, sensitivity->row_values, 1, sensitivity->g);
  for (int32_t l = 0; l < system->links; l++) sensitivity->rate[system->link_from[l]] = y[system->link_to[l]];
  variation_solve(sensitivity->variation, sensitivity->g, sensitivity->rate);
  if (sensitivity->adjoint)
    adjoint_keep_rates(sensitivity->adjoint, variation_entries(sensitivity->variation), sensitivity->row_values,
                       sensitivity->rate);
  return true;
}

/* Computes the variations of all columns from the variations of the states in the event. */
static bool complete(Sensitivity *sensitivity, double t, const double *y) {
  const System *system = &sensitivity->view->system;
  if (!find_rates(sensitivity, t, y)) return false;
  if (sensitivity->adjoint) adjoint_note_complete(sensitivity->adjoint);
  for (uint32_t k = 0; k < sensitivity->count; k++) {
    Direction *direction = &sensitivity->directions[k];
    for (int32_t l = 0; l < system->links; l++)
      direction->at[system->link_from[l]] -= sensitivity->rate[system->link_from[l]] * direction->time;
    sensitivity_complete(sensitivity, direction);
    for (int32_t q = 0; q < system->columns; q++) direction->at[q] += sensitivity->rate[q] * direction->time;
  }
  return true;
}

/* ---- expressions of events ---- */

bool sensitivity_evaluate_roots(Sensitivity *sensitivity, double t, const double *y) {
  Point point = evaluator_point(sensitivity->view->evaluator, t, y);
  if (!sensitivity->plan->roots) return true;
  bool ok = workspace_run(sensitivity->event_columns, &point, sensitivity->column_values) == EVAL_OK;
  if (sensitivity->event_leaves)
    ok = workspace_run(sensitivity->event_leaves, &point, sensitivity->leaf_values) == EVAL_OK && ok;
  return ok;
}

static bool evaluate_roots(Sensitivity *sensitivity, double t, const double *y) {
  if (!sensitivity->plan->roots) return true;
  if (!sensitivity_evaluate_roots(sensitivity, t, y))
    return sensitivity_refuse(sensitivity, t, "an expression of it has no derivative there");
  if (sensitivity->adjoint)
    adjoint_keep_roots(sensitivity->adjoint, sensitivity->column_values, sensitivity->leaf_values);
  return true;
}

/* The variations of the roots that follow from variations of columns, discrete values and time. */
static void vary_roots(Sensitivity *sensitivity, const Direction *direction, const double *columns) {
  const SensitivityPlan *plan = sensitivity->plan;
  const double *discrete = direction->at + sensitivity->view->system.columns;
  double *roots = sensitivity->roots;
  uint32_t leaf = 0;
  memset(roots, 0, plan->roots * sizeof *roots);
  for (uint32_t q = 0; q < plan->columns->columns; q++)
    for (int32_t e = plan->columns->column_start[q]; e < plan->columns->column_start[q + 1]; e++)
      roots[plan->columns->row_index[e]] += sensitivity->column_values[e] * columns[q];
  for (uint32_t p = 0; p < plan->parameters.count; p++, leaf++)
    leaf_jacobian_add(plan->leaves, leaf, sensitivity->leaf_values, direction->parameter[p], roots);
  for (uint32_t d = 0; d < plan->discretes.count; d++, leaf++)
    leaf_jacobian_add(plan->leaves, leaf, sensitivity->leaf_values, discrete[plan->discretes.data[d]], roots);
  for (uint32_t d = 0; d < plan->discretes.count; d++, leaf++)
    leaf_jacobian_add(plan->leaves, leaf, sensitivity->leaf_values, direction->pre[plan->discretes.data[d]], roots);
  leaf_jacobian_add(plan->leaves, leaf, sensitivity->leaf_values, direction->time, roots);
}

/* The rate of a root along the solution. */
static double root_rate(const Sensitivity *sensitivity, uint32_t root) {
  const SensitivityPlan *plan = sensitivity->plan;
  double sum = 0;
  for (uint32_t q = 0; q < plan->columns->columns; q++)
    for (int32_t e = plan->columns->column_start[q]; e < plan->columns->column_start[q + 1]; e++)
      if ((uint32_t)plan->columns->row_index[e] == root) sum += sensitivity->column_values[e] * sensitivity->rate[q];
  for (uint32_t e = plan->leaves->start[plan->leaves->leaves - 1]; e < plan->leaves->entries; e++)
    if (plan->leaves->row[e] == root) sum += sensitivity->leaf_values[e];
  return sum;
}

/* ---- the time of the event ---- */

static bool find_times(Sensitivity *sensitivity, double t, uint32_t mode) {
  const Evaluator *evaluator = sensitivity->view->evaluator;
  bool moves = false;
  for (uint32_t k = 0; k < sensitivity->count; k++) sensitivity->directions[k].time = 0;
  double rate = mode == MAP_NONE ? 0 : root_rate(sensitivity, mode);
  if (sensitivity->adjoint) adjoint_note_time(sensitivity->adjoint, mode, rate);
  if (mode == MAP_NONE) return true;
  for (uint32_t k = 0; k < sensitivity->count; k++) {
    Direction *direction = &sensitivity->directions[k];
    vary_roots(sensitivity, direction, direction->at);
    double change = sensitivity->roots[mode];
    moves = moves || change != 0;
    direction->time = change == 0 ? 0 : -change / rate;
  }
  if (!moves) return true;
  if (evaluator->inputs)
    return sensitivity_refuse(sensitivity, t, "its time varies, and the rates of inputs over time are not known");
  return isfinite(1 / rate) ||
         sensitivity_refuse(sensitivity, t,
                            "its condition is touched, not crossed, so that its time has no derivative");
}

/* ---- the iteration ---- */

/* Independent numbers between 1 and 2: if a map makes them zero, it makes all numbers zero. */
static void draw(uint32_t *state, double *numbers, size_t count) {
  for (size_t k = 0; k < count; k++) {
    *state = *state * 1664525u + 1013904223u;
    numbers[k] = 1 + *state / 4294967296.0;
  }
}

/* The maps of an event do not depend on the variations, except on whether a variation is always zero: a probe finds these. It
 * varies as a solution may vary, with columns that follow from the states. So conditions that are equal because of the
 * equations change together. */
static bool make_probe(Sensitivity *sensitivity, double t, const double *y) {
  Direction *probe = sensitivity->directions;
  size_t columns = (size_t)sensitivity->view->system.columns, leaves = modes_leaves(sensitivity->plan->code->modes);
  uint32_t state = 1;
  draw(&state, probe->now, columns + leaves);
  draw(&state, probe->pre, leaves);
  draw(&state, probe->parameter, sensitivity->plan->parameters.count);
  if (!sensitivity_factor(sensitivity, t, y)) return false;
  copy_numbers(probe->at, probe->now, columns + leaves);
  sensitivity_complete(sensitivity, probe);
  copy_numbers(probe->now, probe->at, columns);
  return true;
}

static void take_lefts(Sensitivity *sensitivity, Direction *direction) {
  const Logic *logic = sensitivity->plan->code->modes->logic;
  double *discrete = direction->at + sensitivity->view->system.columns;
  for (uint32_t k = 0; logic && k < logic->lefts.count; k++)
    discrete[logic->lefts.data[k].leaf] = sensitivity->roots[sensitivity->plan->first_left + k];
  memcpy(direction->pre, discrete, modes_leaves(sensitivity->plan->code->modes) * sizeof(double));
}

static void keep_columns(Sensitivity *sensitivity, const double *y) {
  memcpy(sensitivity->before, y, (size_t)sensitivity->view->system.columns * sizeof(double));
}

bool sensitivity_event(Sensitivity *sensitivity, double t, const double *y, uint32_t mode) {
  sensitivity->has_step = false;
  sensitivity->last_h = 0;
  keep_columns(sensitivity, y);
  if (sensitivity->adjoint && !sensitivity->takes_turns && !make_probe(sensitivity, t, y)) return false;
  if (sensitivity->adjoint) adjoint_note_begin(sensitivity->adjoint, y);
  sensitivity_at(sensitivity, t, y);
  if (!find_rates(sensitivity, t, y) || !evaluate_roots(sensitivity, t, y) || !find_times(sensitivity, t, mode))
    return false;
  if (sensitivity->adjoint) {
    adjoint_note_shift(sensitivity->adjoint, 1);
    adjoint_note_lefts(sensitivity->adjoint);
  }
  for (uint32_t k = 0; k < sensitivity->count; k++) {
    Direction *direction = &sensitivity->directions[k];
    for (int32_t q = 0; q < sensitivity->view->system.columns; q++)
      direction->at[q] += sensitivity->rate[q] * direction->time;
    if (sensitivity->plan->roots) vary_roots(sensitivity, direction, direction->at);
    take_lefts(sensitivity, direction);
  }
  return true;
}

/* States keep their values at an event, except those that reinit sets; jumps of states that the equations cause are not
 * differentiated. */
static bool states_stay(Sensitivity *sensitivity, double t, const double *y) {
  const System *system = &sensitivity->view->system;
  for (int32_t l = 0; l < system->links; l++) {
    int32_t q = system->link_from[l];
    if (fabs(y[q] - sensitivity->before[q]) <= SAME * (system->nominal[q] + fabs(y[q]))) continue;
    return sensitivity_refuse(
        sensitivity, t,
        arena_printf(&sensitivity->diags->arena, "%s jumps there, as the equations determine",
                     array_column_name(sensitivity->view->evaluator->array, (uint32_t)q, &sensitivity->diags->arena)));
  }
  return true;
}

/* Discrete values from the steps; returns true if one varies differently than before. */
static bool take_steps(Sensitivity *sensitivity, Direction *direction) {
  const SensitivityPlan *plan = sensitivity->plan;
  double *discrete = direction->at + sensitivity->view->system.columns;
  bool changed = false;
  for (uint32_t k = 0; k < plan->steps.count; k++) {
    double *value = &discrete[plan->code->modes->logic->steps.data[plan->steps.data[k]].leaf];
    double now = sensitivity->roots[plan->first_step + k];
    changed = changed || fabs(now - *value) > ROUND_OFF * (fabs(now) + fabs(*value));
    *value = now;
  }
  return changed;
}

bool sensitivity_settle_start(Sensitivity *sensitivity, Direction *direction) {
  const SensitivityPlan *plan = sensitivity->plan;
  bool changed = false;
  if (!plan->roots) return false;
  direction->time = 0;
  vary_roots(sensitivity, direction, direction->at);
  for (uint32_t k = 0; k < plan->initials.count; k++) {
    double *value = &direction->pre[plan->code->modes->logic->initial_steps.data[plan->initials.data[k]].leaf];
    double now = sensitivity->roots[plan->first_initial + k];
    changed = changed || fabs(now - *value) > ROUND_OFF * (fabs(now) + fabs(*value));
    *value = now;
  }
  return take_steps(sensitivity, direction) || changed;
}

static bool is_sliding(const Sensitivity *sensitivity) { return sensitivity->view->switches->edges.now->slides > 0; }

bool sensitivity_settled(Sensitivity *sensitivity, double t, const double *y) {
  const SensitivityPlan *plan = sensitivity->plan;
  if (is_sliding(sensitivity))
    return sensitivity_refuse(sensitivity, t, "the solution slides along the edge of a condition");
  if (!states_stay(sensitivity, t, y) || !evaluate_roots(sensitivity, t, y)) return false;
  bool changed = true;
  for (int sweep = 0; sweep < ROUNDS && changed; sweep++) {
    changed = false;
    if (!complete(sensitivity, t, y)) return false;
    if (sensitivity->adjoint && plan->roots) adjoint_note_steps(sensitivity->adjoint);
    for (uint32_t k = 0; k < sensitivity->count && plan->roots; k++) {
      Direction *direction = &sensitivity->directions[k];
      vary_roots(sensitivity, direction, direction->at);
      changed = take_steps(sensitivity, direction) || changed;
      memcpy(direction->reset, sensitivity->roots + plan->first_reset, plan->resets.count * sizeof(double));
    }
  }
  return !changed || sensitivity_refuse(sensitivity, t, "discrete values depend on each other in a loop");
}

/* Reinit r has set its column. */
static void take_reset(Sensitivity *sensitivity, uint32_t r, uint32_t column, double sign) {
  for (uint32_t k = 0; k < sensitivity->count; k++)
    sensitivity->directions[k].at[column] = sign * sensitivity->directions[k].reset[r];
  if (sensitivity->adjoint) adjoint_note_reset(sensitivity->adjoint, r, column, sign);
}

bool sensitivity_reset(Sensitivity *sensitivity, double t, const double *y) {
  const SensitivityPlan *plan = sensitivity->plan;
  const Decide *decide = &sensitivity->view->switches->decisions->decide;
  keep_columns(sensitivity, y);
  for (uint32_t r = 0; r < plan->resets.count; r++) {
    int a = (int)plan->resets.data[r];
    const DecideAction *action = &decide->plan.action[a];
    if (action->column >= 0 && decide_fires(decide, a))
      take_reset(sensitivity, r, (uint32_t)action->column, action->sign);
  }
  return complete(sensitivity, t, y);
}

bool sensitivity_passed(Sensitivity *sensitivity, double t, const double *y) {
  if (!evaluate_roots(sensitivity, t, y)) return false;
  if (sensitivity->adjoint) adjoint_note_lefts(sensitivity->adjoint);
  for (uint32_t k = 0; k < sensitivity->count; k++) {
    Direction *direction = &sensitivity->directions[k];
    if (sensitivity->plan->roots) vary_roots(sensitivity, direction, direction->at);
    take_lefts(sensitivity, direction);
  }
  return true;
}

bool sensitivity_event_end(Sensitivity *sensitivity, double t, const double *y) {
  const System *system = &sensitivity->view->system;
  size_t leaves = modes_leaves(sensitivity->plan->code->modes);
  if (!complete(sensitivity, t, y)) return false;
  if (sensitivity->adjoint) {
    adjoint_note_end(sensitivity->adjoint, y);
    adjoint_note_shift(sensitivity->adjoint, -1);
  }
  for (uint32_t k = 0; k < sensitivity->count; k++) {
    Direction *direction = &sensitivity->directions[k];
    for (int32_t q = 0; q < system->columns; q++)
      direction->now[q] = direction->at[q] - sensitivity->rate[q] * direction->time;
    memcpy(direction->now + system->columns, direction->at + system->columns, leaves * sizeof(double));
  }
  return true;
}

/* ---- several events at one time ---- */

struct SensitivityMoment {
  size_t values, leaves; /* of a direction */
  double *now, *pre;     /* of all directions */
  uint32_t noted;
};

SensitivityMoment *sensitivity_keep(const Sensitivity *sensitivity, Heap *heap) {
  SensitivityMoment *moment = heap_alloc(heap, sizeof *moment);
  size_t leaves = modes_leaves(sensitivity->plan->code->modes);
  size_t values = (size_t)sensitivity->view->system.columns + leaves, count = sensitivity->count;
  *moment = (SensitivityMoment){.values = values, .leaves = leaves};
  moment->now = heap_array(heap, count * values, sizeof(double));
  moment->pre = heap_array(heap, count * leaves, sizeof(double));
  for (size_t k = 0; k < count; k++) {
    copy_numbers(moment->now + k * values, sensitivity->directions[k].now, values);
    copy_numbers(moment->pre + k * leaves, sensitivity->directions[k].pre, leaves);
  }
  if (sensitivity->adjoint) moment->noted = adjoint_noted(sensitivity->adjoint);
  return moment;
}

void sensitivity_go_back(Sensitivity *sensitivity, const SensitivityMoment *moment) {
  for (size_t k = 0; k < sensitivity->count; k++) {
    copy_numbers(sensitivity->directions[k].now, moment->now + k * moment->values, moment->values);
    copy_numbers(sensitivity->directions[k].pre, moment->pre + k * moment->leaves, moment->leaves);
  }
  if (sensitivity->adjoint) adjoint_forget(sensitivity->adjoint, moment->noted);
}

void sensitivity_note_sizes(const Sensitivity *sensitivity, SensitivityMoment *moment) {
  for (size_t k = 0; k < sensitivity->count; k++)
    for (size_t c = 0; c < moment->values; c++) {
      double *size = &moment->now[k * moment->values + c];
      *size = fmax(fabs(*size), fabs(sensitivity->directions[k].now[c]));
    }
}

bool sensitivity_agrees(const Sensitivity *sensitivity, const SensitivityMoment *moment,
                        const SensitivityMoment *sizes) {
  size_t variables = (size_t)sensitivity->view->system.columns + sensitivity->plan->code->model->discretes.count;
  for (size_t k = 0; k < sensitivity->count; k++)
    for (size_t c = 0; c < variables; c++) { /* pre() of continuous variables belongs to the last event */
      double then = moment->now[k * moment->values + c], size = fabs(sizes->now[k * moment->values + c]);
      if (!(fabs(sensitivity->directions[k].now[c] - then) <= SAME * size)) return false;
    }
  return true;
}

/* Do the times of modes m and n vary in the same way in direction k? */
static bool move_alike(const Sensitivity *sensitivity, const double *time, size_t modes, uint32_t m, uint32_t n) {
  for (size_t k = 0; k < sensitivity->count; k++) {
    double a = time[k * modes + m], b = time[k * modes + n];
    if (!(fabs(a - b) <= SAME * fmax(fabs(a), fabs(b)))) return false;
  }
  return true;
}

static bool stays(const Sensitivity *sensitivity, const double *time, size_t modes, uint32_t m) {
  for (size_t k = 0; k < sensitivity->count; k++)
    if (time[k * modes + m] != 0) return false;
  return true;
}

/* The number that mode m shares with an earlier mode; if there is none, the next new number. */
static uint32_t number_of(const Sensitivity *sensitivity, const double *time, size_t modes, uint32_t m,
                          const uint32_t *number, uint32_t count) {
  if (stays(sensitivity, time, modes, m)) return 0;
  for (uint32_t n = 0; n < m; n++)
    if (number[n] != MAP_NONE && number[n] != 0 && move_alike(sensitivity, time, modes, m, n)) return number[n];
  return count;
}

/* The variations of the times of the marked modes, per direction. */
static void find_own_times(Sensitivity *sensitivity, const bool *marked, size_t modes, double *time) {
  for (size_t k = 0; k < sensitivity->count; k++) {
    Direction *direction = &sensitivity->directions[k];
    direction->time = 0;
    vary_roots(sensitivity, direction, direction->at);
    for (uint32_t m = 0; m < modes; m++) {
      double change = marked[m] ? sensitivity->roots[m] : 0;
      time[k * modes + m] = change == 0 ? 0 : -change / root_rate(sensitivity, m);
    }
  }
}

bool sensitivity_begin_turns(Sensitivity *sensitivity, double t, const double *y, const bool *marked, uint32_t *number,
                             uint32_t *count) {
  uint32_t modes = sensitivity->plan->code->modes->count;
  *count = 1;
  if (sensitivity->adjoint && !make_probe(sensitivity, t, y)) return false;
  sensitivity_at(sensitivity, t, y);
  if (!find_rates(sensitivity, t, y) || !evaluate_roots(sensitivity, t, y)) return false;
  double *time = heap_array(sensitivity->heap, (size_t)sensitivity->count * modes, sizeof *time);
  find_own_times(sensitivity, marked, modes, time);
  for (uint32_t m = 0; m < modes; m++) {
    number[m] = marked[m] ? number_of(sensitivity, time, modes, m, number, *count) : MAP_NONE;
    if (number[m] == *count) ++*count;
  }
  heap_free(sensitivity->heap, time);
  sensitivity->takes_turns = true;
  return true;
}

void sensitivity_end_turns(Sensitivity *sensitivity) { sensitivity->takes_turns = false; }
