/* view_strangeness: the selection of a strangeness-free system (reduce/strangeness.h) as the system that integrators
 * see: the rows selected, then one row for each column that is held.
 *
 * A selection stays as long as it serves. Which columns of x are states is looked at when steps are rejected, or when
 * the rate of some other column of x outgrows those of the states; an exchange multiplies the determinant of the rows
 * by an entry of T = -M^-1 N, as for dummy derivatives, and changes the links alone. */
#include "base/linear.h"
#include "nonlinear/corrector.h"
#include "view/jump.h"
#include "view/rank_jump.h"
#include "view/view.h"

#include <math.h>
#include <string.h>

static const double DEPENDS = 1e-6; /* entries of T, scaled, that say so */
static const double GAIN = 1.5;     /* an exchange must multiply the determinant by more than this */
static const double RAISED = 1.3;   /* what the estimate must grow by after a look that changed nothing */
static const double JUMPED = 1e-6;  /* a change of a column, relative, that is a jump */
enum { LOOK_EVERY = 32 /* steps, whatever the rates say */ };

/* The view comes first, so that one pointer serves as both. */
typedef struct SelectedView {
  View view;
  Strangeness *strangeness;
  Jump *jump;            /* of an array with the offsets of structure; NULL otherwise, or without events */
  RankJump *rank_jump;   /* of one without */
  bool *differentiated;  /* per column: a higher derivative of its unknown occurs in the equations as they are */
  double *before;        /* all columns */
  double *rows, *values; /* of the whole array */
  double *held;          /* value per column */
  int32_t *place;        /* per entry of the system: entry of the array's Jacobian, -1 for the 1 of a held column */
  /* the look at the states: entries of the system, M and its columns, T by columns */
  double *jacobian, *m_values, *dependence;
  int32_t *m_start, *m_row, *column; /* column of M's column k */
  Linear *linear;
  bool *is_state, stale, factored; /* the pattern of M is of other states; there are factors */
  double *trial, *change;
  bool *follows, looked; /* per column and state: did it depend on it when T was looked at last? */
  Exchange *exchanges;
  uint64_t factorizations;
  uint32_t waited; /* steps since the last look */
  double bar;      /* estimate of T above which there is another */
} SelectedView;

static EvalStatus selected_residual(void *context, double t, const double *y, double *residual) {
  SelectedView *selected = context;
  const Strangeness *strangeness = selected->strangeness;
  EvalStatus status = evaluator_rows(strangeness->evaluator, t, y, selected->rows);
  int32_t next = strangeness->rows;
  for (uint32_t i = 0; i < strangeness->array->rows; i++)
    if (strangeness->row[i] >= 0) residual[strangeness->row[i]] = selected->rows[i];
  for (uint32_t q = 0; q < strangeness->array->columns; q++)
    if (strangeness->held[q]) residual[next++] = y[q] - selected->held[q];
  return status;
}

static EvalStatus selected_jacobian(void *context, double t, const double *y, double *values) {
  SelectedView *selected = context;
  const System *system = &selected->view.system;
  EvalStatus status = evaluator_jacobian(selected->strangeness->evaluator, t, y, selected->values);
  for (int32_t e = 0; e < system->column_start[system->columns]; e++)
    values[e] = selected->place[e] < 0 ? 1 : selected->values[selected->place[e]];
  return status;
}

/* Entries of the selected rows, column by column; a held column has its own row too. */
static void make_pattern(Heap *heap, SelectedView *selected) {
  const Strangeness *strangeness = selected->strangeness;
  const Jacobian *jacobian = strangeness->evaluator->jacobian;
  uint32_t columns = jacobian->columns;
  int32_t *start = heap_array(heap, (size_t)columns + 1, sizeof *start);
  int32_t *row = heap_array(heap, (size_t)jacobian->nonzeros + columns, sizeof *row), count = 0,
          next = strangeness->rows;
  selected->place = heap_array(heap, (size_t)jacobian->nonzeros + columns, sizeof(int32_t));
  for (uint32_t q = 0; q < columns; q++) {
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++) {
      if (strangeness->row[jacobian->row_index[e]] < 0) continue;
      selected->place[count] = e;
      row[count++] = strangeness->row[jacobian->row_index[e]];
    }
    if (strangeness->held[q]) {
      selected->place[count] = -1;
      row[count++] = next++;
    }
    start[q + 1] = count;
  }
  selected->view.system.column_start = start;
  selected->view.system.row_index = row;
  selected->view.system.rows = next;
}

/* The system of the present selection at y. */
static void use_selection(Heap *heap, SelectedView *selected, const double *y) {
  View *view = &selected->view;
  System *system = &view->system;
  const Strangeness *strangeness = selected->strangeness;
  size_t columns = (size_t)system->columns;
  memcpy(selected->held, y, columns * sizeof *y);
  system->links = strangeness->links;
  system->link_from = strangeness->from;
  system->link_to = strangeness->to;
  make_pattern(heap, selected);
  size_t entries = (size_t)system->column_start[columns], rows = (size_t)system->rows, links = (size_t)system->links;
  heap_numbers(heap, entries, &selected->jacobian, &selected->m_values);
  selected->dependence = heap_array(heap, rows * links, sizeof(double));
  selected->m_start = heap_array(heap, columns + 1, sizeof(int32_t));
  selected->m_row = heap_array(heap, entries, sizeof(int32_t));
  selected->column = heap_array(heap, columns, sizeof(int32_t));
  selected->is_state = heap_array(heap, columns, sizeof(bool));
  selected->trial = heap_array(heap, columns, sizeof(double));
  selected->change = heap_array(heap, rows, sizeof(double));
  selected->stale = true;
  selected->exchanges = heap_array(heap, 4 * links, sizeof(Exchange));
  selected->follows = heap_array(heap, columns * links, sizeof(bool));
  selected->looked = false;
  selected->linear = linear_new(heap, system->rows, (int32_t)entries, false);
}

/* ---- columns that are no states ---- */

/* The pattern of M, the columns that are no states. */
static void set_pattern(SelectedView *selected) {
  const System *system = &selected->view.system;
  int32_t next = 0, entry = 0;
  memset(selected->is_state, 0, (size_t)system->columns * sizeof(bool));
  for (int32_t k = 0; k < system->links; k++) selected->is_state[system->link_from[k]] = true;
  for (int32_t q = 0; q < system->columns; q++) {
    if (selected->is_state[q]) continue;
    selected->column[next] = q;
    selected->m_start[next++] = entry;
    for (int32_t e = system->column_start[q]; e < system->column_start[q + 1]; e++)
      selected->m_row[entry++] = system->row_index[e];
  }
  selected->m_start[next] = entry;
  linear_set_pattern(selected->linear, selected->m_start, selected->m_row);
  selected->stale = false;
}

/* Factors M at (t, y). */
static bool factor_matrix(SelectedView *selected, double t, const double *y) {
  const System *system = &selected->view.system;
  int32_t entry = 0;
  selected->factored = false;
  if (selected->stale) set_pattern(selected);
  if (system->jacobian(system->context, t, y, selected->jacobian) != EVAL_OK) return false;
  for (int32_t k = 0; k < system->rows; k++)
    for (int32_t e = system->column_start[selected->column[k]]; e < system->column_start[selected->column[k] + 1]; e++)
      selected->m_values[entry++] = selected->jacobian[e];
  selected->factorizations++;
  return selected->factored = linear_factor(selected->linear, selected->m_values);
}

/* A point whose columns that are no states are solved for. */
typedef struct Completion {
  SelectedView *selected;
  double t;
  const double *guess;
} Completion;

/* One correction of the trial point with the factors at hand; its size relative to the columns, infinite where it cannot be had. */
static double correct(SelectedView *selected, double t) {
  const System *system = &selected->view.system;
  double *trial = selected->trial, *change = selected->change, size = 0;
  if (system->residual(system->context, t, trial, change) != EVAL_OK) return HUGE_VAL;
  linear_solve(selected->linear, change);
  for (int32_t k = 0; k < system->rows; k++) {
    int32_t q = selected->column[k];
    if (!isfinite(change[k])) return HUGE_VAL;
    trial[q] -= change[k];
    size = fmax(size, fabs(change[k]) / (fabs(trial[q]) + system->nominal[q]));
  }
  return size;
}

static double correct_completion(void *context, bool *renew) {
  const Completion *completion = context;
  SelectedView *selected = completion->selected;
  *renew |= selected->stale || !selected->factored;
  double size =
      *renew && !factor_matrix(selected, completion->t, selected->trial) ? HUGE_VAL : correct(selected, completion->t);
  if (!isfinite(size))
    memcpy(selected->trial, completion->guess, (size_t)selected->view.system.columns * sizeof(double));
  return size;
}

/* The columns that are no states; the factors stay from point to point as long as they serve. */
static EvalStatus complete_columns(void *context, double t, double *y) {
  SelectedView *selected = context;
  size_t bytes = (size_t)selected->view.system.columns * sizeof *y;
  Completion completion = {selected, t, y};
  memcpy(selected->trial, y, bytes);
  selected->factored =
      corrector_run(correct_completion, &completion, REACH_ANY, true, CORRECTOR_ROUND_OFF) == CORRECTOR_CONVERGED &&
      selected->factored;
  if (!selected->factored) return EVAL_DOMAIN;
  memcpy(y, selected->trial, bytes);
  return EVAL_OK;
}

/* ---- the choice of states ---- */

/* Could the column be a state instead of one that is? */
static bool may_be_state(const Strangeness *strangeness, int32_t column) {
  const Array *array = strangeness->array;
  uint32_t q = (uint32_t)column;
  return strangeness_is_x(strangeness, q) && (int32_t)array_order(array, q) < array->d[array->column_unknown[q]] &&
         !strangeness->held[q + 1];
}

static int32_t stage_of(const Strangeness *strangeness, int32_t column) {
  const Array *array = strangeness->array;
  return (int32_t)array_order(array, (uint32_t)column) - array->d[array->column_unknown[column]];
}

static double rate_of(const Strangeness *strangeness, const double *y, int32_t column) {
  return fabs(y[column + 1]) / strangeness->evaluator->nominal[column];
}

/* The largest rate of a column over those of the states that it was seen to depend on: an estimate of T that
 * costs no evaluation. */
static double outgrowth(const SelectedView *selected, const double *y) {
  const Strangeness *strangeness = selected->strangeness;
  int32_t links = strangeness->links;
  double most = 0;
  for (int32_t q = 0; q < selected->view.system.columns; q++) {
    double leading = 0;
    if (!may_be_state(strangeness, q)) continue;
    for (int32_t k = 0; k < links; k++)
      if (selected->follows[q * links + k] &&
          (!strangeness->staged || stage_of(strangeness, q) == stage_of(strangeness, strangeness->from[k])))
        leading = fmax(leading, rate_of(strangeness, y, strangeness->from[k]));
    if (leading > 0) most = fmax(most, rate_of(strangeness, y, q) / leading);
  }
  return most;
}

/* Is it time for a look at T? A look that changed nothing raises the bar, until the estimate has been below
 * it again. */
static bool is_look_due(SelectedView *selected, const double *y) {
  double most = outgrowth(selected, y);
  if (most <= GAIN) selected->bar = GAIN;
  return !selected->looked || ++selected->waited >= LOOK_EVERY || most > selected->bar;
}

/* Keeps which columns depend on which states. */
static void note_dependence(SelectedView *selected) {
  const Strangeness *strangeness = selected->strangeness;
  const double *nominal = strangeness->evaluator->nominal;
  int32_t rows = selected->view.system.rows, links = strangeness->links;
  memset(selected->follows, 0, (size_t)(selected->view.system.columns * links) * sizeof(bool));
  for (int32_t r = 0; r < rows; r++)
    for (int32_t k = 0; k < links; k++)
      selected->follows[selected->column[r] * links + k] =
          fabs(selected->dependence[r + k * rows]) * nominal[strangeness->from[k]] >
          DEPENDS * nominal[selected->column[r]];
  selected->looked = true;
}

/* T = -M^-1 N at (t, y): how the other columns depend on the states. */
static bool find_dependence(SelectedView *selected, double t, const double *y) {
  const System *system = &selected->view.system;
  if (!factor_matrix(selected, t, y)) return false;
  size_t rows = (size_t)system->rows;
  memset(selected->dependence, 0, rows * (size_t)system->links * sizeof(double));
  for (int32_t k = 0; k < system->links; k++) {
    double *t_column = selected->dependence + (size_t)k * rows;
    int32_t from = system->link_from[k];
    for (int32_t e = system->column_start[from]; e < system->column_start[from + 1]; e++)
      t_column[system->row_index[e]] = -selected->jacobian[e];
    linear_solve(selected->linear, t_column);
  }
  return true;
}

/* Implicit function theorem: the rates are among the columns that are no states, or states themselves. */
static EvalStatus rates_jacobian(void *context, double t, const double *y, double *jacobian) {
  SelectedView *selected = context;
  const System *system = &selected->view.system;
  int32_t n = system->links;
  if (!find_dependence(selected, t, y)) return EVAL_DOMAIN;
  for (int32_t i = 0; i < n; i++) {
    int32_t to = system->link_to[i], place = to;
    for (int32_t k = 0; k < n; k++) place -= system->link_from[k] < to;
    for (int32_t k = 0; k < n; k++)
      jacobian[i + k * n] =
          selected->is_state[to] ? system->link_from[k] == to : selected->dependence[place + k * system->rows];
  }
  return EVAL_OK;
}

/* The largest entry of T, scaled, between a column that may be a state and a state that it may take the part of. */
static double best_exchange(const SelectedView *selected, int32_t *place, int32_t *state) {
  const Strangeness *strangeness = selected->strangeness;
  const double *nominal = strangeness->evaluator->nominal;
  double best = 0;
  for (int32_t r = 0; r < selected->view.system.rows; r++) {
    if (!may_be_state(strangeness, selected->column[r])) continue;
    for (int32_t k = 0; k < strangeness->links; k++) {
      if (strangeness->staged &&
          stage_of(strangeness, selected->column[r]) != stage_of(strangeness, strangeness->from[k]))
        continue;
      double gain = fabs(selected->dependence[r + k * selected->view.system.rows]) * nominal[strangeness->from[k]] /
                    nominal[selected->column[r]];
      if (gain > best) best = gain, *place = r, *state = k;
    }
  }
  return best;
}

/* T after the column at `place` and a state have changed their parts. */
static void exchange_columns(SelectedView *selected, int32_t place, int32_t state) {
  Strangeness *strangeness = selected->strangeness;
  int32_t rows = selected->view.system.rows, in = selected->column[place], out = strangeness->from[state];
  double *t = selected->dependence, pivot = t[place + state * rows];
  for (int32_t k = 0; k < strangeness->links; k++) {
    if (k == state) continue;
    double factor = t[place + k * rows] / pivot;
    for (int32_t r = 0; r < rows; r++) t[r + k * rows] -= t[r + state * rows] * factor;
    t[place + k * rows] = -factor;
  }
  for (int32_t r = 0; r < rows; r++) t[r + state * rows] /= pivot;
  t[place + state * rows] = 1 / pivot;
  selected->column[place] = out;
  strangeness->from[state] = in;
  strangeness->to[state] = in + 1;
}

static int32_t exchange(View *view, Moment now, ConstMoment ahead, bool sure, Exchanges *exchanges) {
  SelectedView *selected = (SelectedView *)view;
  Strangeness *strangeness = selected->strangeness;
  int32_t count = 0, place = 0, state = 0, limit = 4 * strangeness->links;
  exchanges->list = selected->exchanges;
  if (strangeness->links == 0) return 0;
  if (!sure && !is_look_due(selected, ahead.y)) return 0;
  selected->waited = 0;
  if (!find_dependence(selected, ahead.t, ahead.y)) return EXCHANGE_RESELECT;
  if (best_exchange(selected, &place, &state) > GAIN && complete_columns(view, now.t, now.y) != EVAL_OK)
    return EXCHANGE_RESELECT;
  for (; count < limit && best_exchange(selected, &place, &state) > GAIN; count++) {
    selected->exchanges[count] = (Exchange){(uint32_t)strangeness->from[state], (uint32_t)selected->column[place]};
    exchange_columns(selected, place, state);
  }
  note_dependence(selected);
  selected->bar = count ? GAIN : fmax(GAIN, RAISED * outgrowth(selected, ahead.y));
  if (count) selected->stale = true;
  return count;
}

/* ---- rows and columns ---- */

static void free_selection(Heap *heap, const Strangeness *strangeness) {
  heap_free_all(heap, strangeness->row, strangeness->held, strangeness->from, strangeness->to);
}

static bool reselect(View *view, double t, double *y) {
  SelectedView *selected = (SelectedView *)view;
  Strangeness *strangeness = selected->strangeness;
  Heap *heap = strangeness->heap;
  Strangeness before = *strangeness;
  size_t rows = strangeness->array->rows, columns = strangeness->array->columns;
  if (strangeness->reduced) return false;
  strangeness->row = heap_array(heap, rows, sizeof(int32_t));
  strangeness->held = heap_array(heap, columns, sizeof(bool));
  strangeness->from = heap_array(heap, columns, sizeof(int32_t));
  strangeness->to = heap_array(heap, columns, sizeof(int32_t));
  double *fresh = heap_copy(heap, y, columns, sizeof *fresh);
  strangeness_refresh(strangeness, t, fresh);
  bool ok = strangeness_select(strangeness, t, fresh);
  bool same = !memcmp(before.from, strangeness->from, (size_t)before.links * sizeof(int32_t)) &&
              !memcmp(before.held, strangeness->held, columns * sizeof(bool)) &&
              !memcmp(before.row, strangeness->row, rows * sizeof(int32_t));
  bool changed = ok && !same;
  if (changed) memcpy(y, fresh, columns * sizeof *fresh);
  heap_free(heap, fresh);
  free_selection(heap, changed ? &before : strangeness);
  if (!changed) *strangeness = before;
  else use_selection(heap, selected, y);
  return changed;
}

static bool same_ranks(View *view, double t, double *y) {
  Strangeness *strangeness = ((SelectedView *)view)->strangeness;
  Arena scratch = arena_make(strangeness->heap);
  Ranks ranks;
  bool same = strangeness_ranks(strangeness, t, y, &scratch, &ranks) && ranks.all == strangeness->rows &&
              ranks.all - ranks.high == strangeness->solved;
  arena_free(&scratch);
  return same;
}

static EvalStatus solve(View *view, double t, double *y) { return complete_columns(view, t, y); }

/* Has a column changed whose derivative occurs? If none has, nothing has an impulse. */
static bool has_jumped(const SelectedView *selected, const double *before, const double *y) {
  const double *nominal = selected->strangeness->evaluator->nominal;
  for (uint32_t q = 0; q < selected->strangeness->array->columns; q++)
    if (selected->differentiated[q] && fabs(y[q] - before[q]) > JUMPED * fmax(nominal[q], fabs(before[q]))) return true;
  return false;
}

/* By ranks only where the columns selected cannot take the new modes alone, which costs less to see. */
static bool share_by_ranks(SelectedView *selected, double t, double *y, uint32_t *column) {
  size_t bytes = (size_t)selected->view.system.columns * sizeof *y;
  memcpy(selected->before, y, bytes);
  if (complete_columns(selected, t, y) == EVAL_OK && !has_jumped(selected, selected->before, y)) return true;
  memcpy(y, selected->before, bytes);
  return rank_jump_solve(selected->rank_jump, t, y, column);
}

/* Shares a jump first, so that it does not depend on which columns are states. */
static EvalStatus solve_at_event(View *view, double t, double *y) {
  SelectedView *selected = (SelectedView *)view;
  uint32_t column;
  bool shared = selected->jump ? jump_solve(selected->jump, t, y, &column)
                               : !selected->rank_jump || share_by_ranks(selected, t, y, &column);
  if (shared) return complete_columns(view, t, y);
  view->undetermined = column;
  return EVAL_STOP;
}

/* The state whose part a column may best take, of those that are not held themselves; -1: none. */
static int32_t replaceable_state(const SelectedView *selected, int32_t place, const uint8_t *held) {
  const Strangeness *strangeness = selected->strangeness;
  const double *nominal = strangeness->evaluator->nominal;
  double best = DEPENDS * nominal[selected->column[place]];
  int32_t found = -1;
  for (int32_t k = 0; k < strangeness->links; k++) {
    int32_t from = strangeness->from[k];
    double gain = fabs(selected->dependence[place + k * selected->view.system.rows]) * nominal[from];
    bool fits = !strangeness->staged || stage_of(strangeness, selected->column[place]) == stage_of(strangeness, from);
    if (held[from] < 2 && fits && gain > best) best = gain, found = k;
  }
  return found;
}

/* The columns held are states now. One that cannot be, since the rows determine it, would jump again. */
static EvalStatus solve_holding(View *view, double t, double *y, const uint8_t *held) {
  SelectedView *selected = (SelectedView *)view;
  bool found = find_dependence(selected, t, y);
  for (int32_t place = 0; place < view->system.rows && found; place++) {
    int32_t column = selected->column[place];
    if (held[column] < 2) continue;
    int32_t state = may_be_state(selected->strangeness, column) ? replaceable_state(selected, place, held) : -1;
    if (state < 0) {
      view->undetermined = (uint32_t)column;
      return EVAL_STOP;
    }
    exchange_columns(selected, place, state);
  }
  selected->stale = true;
  selected->looked = false;
  return found ? complete_columns(view, t, y) : EVAL_STOP;
}

static uint64_t factorizations(const View *view) { return ((const SelectedView *)view)->factorizations; }

static SolveFailure failure(const View *view) {
  (void)view;
  return (SolveFailure){0};
}

/* A copy of what is selected; its other members are not used. */
static void *save_choice(const View *view, Heap *heap) {
  Strangeness *saved = heap_alloc(heap, sizeof *saved);
  *saved = *((const SelectedView *)view)->strangeness;
  strangeness_copy_selection(saved, heap);
  return saved;
}

static void restore_choice(View *view, const void *choice, const double *y) {
  SelectedView *selected = (SelectedView *)view;
  const Strangeness *saved = choice;
  Strangeness *strangeness = selected->strangeness;
  strangeness->row = saved->row;
  strangeness->rows = saved->rows;
  strangeness->held = saved->held;
  strangeness->from = saved->from;
  strangeness->to = saved->to;
  strangeness->links = saved->links;
  strangeness_copy_selection(strangeness, strangeness->heap);
  use_selection(strangeness->heap, selected, y);
}

static const ViewMethods METHODS = {.solve = solve,
                                    .find = solve,
                                    .solve_at_event = solve_at_event,
                                    .solve_holding = solve_holding,
                                    .exchange = exchange,
                                    .reselect = reselect,
                                    .save_choice = save_choice,
                                    .restore_choice = restore_choice,
                                    .same_ranks = same_ranks,
                                    .failure = failure,
                                    .factorizations = factorizations};

/* ---- the view ---- */

/* The successor of a column of a reduced array is its derivative; of a uniform one only that of x surely is. */
static int32_t *make_successors(Heap *heap, const Strangeness *strangeness) {
  const Array *array = strangeness->array;
  int32_t *successor = heap_array(heap, array->columns, sizeof *successor);
  for (uint32_t q = 0; q < array->columns; q++) {
    bool last = (int32_t)array_order(array, q) == array->d[array->column_unknown[q]];
    successor[q] = last || !(strangeness->reduced || strangeness_is_x(strangeness, q)) ? -1 : (int32_t)q + 1;
  }
  return successor;
}

static bool *mark_differentiated(Heap *heap, const Array *array) {
  const Incidence *incidence = &array->problem->incidence;
  bool *marks = heap_array(heap, array->columns, sizeof *marks);
  for (int32_t e = 0; e < incidence->row_start[array->problem->equations]; e++)
    for (int32_t k = 0; k < incidence->order[e]; k++)
      marks[array->column_start[incidence->column[e]] + (uint32_t)k] = true;
  return marks;
}

View *view_strangeness(Heap *heap, Strangeness *strangeness, const double *y) {
  SelectedView *selected = heap_alloc(heap, sizeof *selected);
  uint32_t columns = strangeness->array->columns;
  View *view = &selected->view;
  selected->strangeness = strangeness;
  selected->bar = GAIN;
  selected->rows = heap_array(heap, strangeness->array->rows, sizeof(double));
  selected->values = heap_array(heap, strangeness->evaluator->jacobian->nonzeros, sizeof(double));
  selected->held = heap_array(heap, columns, sizeof(double));
  view->evaluator = view->original = strangeness->evaluator;
  uint32_t *source = heap_array(heap, columns, sizeof *source);
  int8_t *sign = heap_array(heap, columns, sizeof *sign);
  for (uint32_t q = 0; q < columns; q++) source[q] = q, sign[q] = 1;
  view->source = source;
  view->sign = sign;
  view->system = (System){.context = view,
                          .columns = (int32_t)columns,
                          .successor = make_successors(heap, strangeness),
                          .nominal = strangeness->evaluator->nominal,
                          .size = view_make_sizes(heap, view, strangeness->evaluator),
                          .residual = selected_residual,
                          .jacobian = selected_jacobian,
                          .complete = complete_columns,
                          .rates_jacobian = rates_jacobian};
  view->methods = &METHODS;
  view->chooses = true;
  view->undetermined = MAP_NONE;
  view->switches = switches_new(heap, strangeness->evaluator);
  if (view->switches && strangeness->reduced) selected->jump = jump_new(heap, strangeness->evaluator);
  else if (view->switches) selected->rank_jump = rank_jump_new(heap, strangeness);
  selected->differentiated = mark_differentiated(heap, strangeness->array);
  selected->before = heap_array(heap, columns, sizeof(double));
  use_selection(heap, selected, y);
  return view;
}
