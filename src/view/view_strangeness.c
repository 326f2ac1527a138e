/* view_strangeness: the selection of a strangeness-free system (reduce/strangeness.h) as the system that integrators see: the
 * selected rows, then one row for each column that is held.
 *
 * A selection stays as long as it is good enough. The choice of states among the columns of x is examined when steps are rejected,
 * or when the rate of another column of x outgrows those of the states. An exchange multiplies the determinant of the rows by an
 * entry of T = -M^-1 N, as for dummy derivatives, and changes only the links. Exchanges happen within a part of the array
 * (rank_parts.h), so T is computed and used only there. */
#include "base/linear.h"
#include "core/corrector.h"
#include "view/array_jump.h"
#include "view/rank_jump.h"
#include "view/view.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double DEPENDS = 1e-6; /* a scaled entry of T above this is a dependence */
static const double GAIN = 1.5;     /* an exchange must multiply the determinant by more than this */
static const double RAISED = 1.3;   /* required growth of the estimate after an examination that changed nothing */
enum { LOOK_EVERY = 32 /* after this many steps the selection is examined in any case */ };

/* A matrix of the columns that are not states: either of the whole system, or of one part and its rows. */
typedef struct Minor {
  int32_t *start, *row, *entry; /* entry: number of an entry of the system */
  double *values;
  Linear *linear;
} Minor;

/* The view comes first, so that one pointer is used for both. */
typedef struct SelectedView {
  View view;
  Strangeness *strangeness;
  ArrayJump *jump;       /* for an array with structural offsets; NULL otherwise, or without events */
  RankJump *rank_jump;   /* for an array without structural offsets; NULL otherwise, or without events */
  bool *differentiated;  /* per column: the equations as written contain a higher derivative of its unknown */
  double *before;        /* all columns */
  double *rows, *values; /* rows and values of the whole array */
  double *held;          /* value per column */
  int32_t *place;        /* per entry of the system: entry of the array's Jacobian, -1 for the 1 of a held column */
  uint32_t *row_part;    /* per row of the system: its part */
  double *jacobian;      /* entries of the system */
  Minor all, inner;      /* M, and M without the entries that couple parts */
  int32_t *column;       /* column of the system for each column of M */
  bool *is_state, stale; /* is_state; stale: the patterns belong to other states */
  bool factored;         /* there are factors of M */
  /* T by parts: each has a column for every state in it, and a row for every column of the array in it */
  uint32_t *state_start, *states; /* per part: its links */
  size_t *t_start;
  double *dependence;
  uint32_t most_states; /* of any part */
  double *trial, *change;
  bool *follows, looked; /* like T: did the column depend on the state when T was last computed? */
  Exchange *exchanges;
  uint64_t factorizations;
  uint32_t waited; /* steps since the last examination */
  double bar;      /* T is computed when its estimate exceeds this */
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

/* Lists the entries of the selected rows, column by column; a held column has its own row, too. */
static void make_pattern(Heap *heap, SelectedView *selected) {
  const Strangeness *strangeness = selected->strangeness;
  const Jacobian *jacobian = strangeness->evaluator->jacobian;
  uint32_t columns = jacobian->columns;
  int32_t *start = heap_array(heap, (size_t)columns + 1, sizeof *start);
  int32_t *row = heap_array(heap, (size_t)jacobian->nonzeros + columns, sizeof *row), count = 0,
          next = strangeness->rows;
  selected->place = heap_array(heap, (size_t)jacobian->nonzeros + columns, sizeof(int32_t));
  selected->row_part = heap_array(heap, (size_t)strangeness->rows + columns, sizeof(uint32_t));
  for (uint32_t q = 0; q < columns; q++) {
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++) {
      if (strangeness->row[jacobian->row_index[e]] < 0) continue;
      selected->place[count] = e;
      selected->row_part[strangeness->row[jacobian->row_index[e]]] = strangeness->parts.of_row[jacobian->row_index[e]];
      row[count++] = strangeness->row[jacobian->row_index[e]];
    }
    if (strangeness->held[q]) {
      selected->place[count] = -1;
      selected->row_part[next] = strangeness->parts.of_column[q];
      row[count++] = next++;
    }
    start[q + 1] = count;
  }
  selected->view.system.column_start = start;
  selected->view.system.row_index = row;
  selected->view.system.rows = next;
}

static Minor new_minor(Heap *heap, const System *system) {
  int32_t entries = system->column_start[system->columns];
  return (Minor){heap_array(heap, (size_t)system->columns + 1, sizeof(int32_t)),
                 heap_array(heap, (size_t)entries, sizeof(int32_t)), heap_array(heap, (size_t)entries, sizeof(int32_t)),
                 heap_array(heap, (size_t)entries, sizeof(double)), linear_new(heap, system->rows, entries, false)};
}

static uint32_t part_of(const SelectedView *selected, int32_t column) {
  return selected->strangeness->parts.of_column[column];
}

/* The links of each part, and room for T. */
static void make_dependence(Heap *heap, SelectedView *selected) {
  const Strangeness *strangeness = selected->strangeness;
  uint32_t count = strangeness->parts.count, links = (uint32_t)strangeness->links;
  selected->state_start = heap_array(heap, (size_t)count + 2, sizeof(uint32_t));
  selected->states = heap_array(heap, links, sizeof(uint32_t));
  selected->t_start = heap_array(heap, (size_t)count + 1, sizeof(size_t));
  selected->most_states = 0;
  uint32_t *start = selected->state_start;
  for (uint32_t k = 0; k < links; k++) start[part_of(selected, strangeness->from[k]) + 2]++;
  for (uint32_t p = 0; p < count; p++) {
    uint32_t states = start[p + 2];
    if (states > selected->most_states) selected->most_states = states;
    selected->t_start[p + 1] = selected->t_start[p] + (size_t)strangeness->parts.part[p].columns * states;
    start[p + 2] += start[p + 1];
  }
  for (uint32_t k = 0; k < links; k++) selected->states[start[part_of(selected, strangeness->from[k]) + 1]++] = k;
  selected->dependence = heap_array(heap, selected->t_start[count], sizeof(double));
  selected->follows = heap_array(heap, selected->t_start[count], sizeof(bool));
}

/* The entry of T for a column and the n-th state of its part. */
static size_t t_entry(const SelectedView *selected, int32_t column, uint32_t n) {
  const RankParts *parts = &selected->strangeness->parts;
  uint32_t part = parts->of_column[column];
  return selected->t_start[part] + parts->column_place[column] + (size_t)n * (size_t)parts->part[part].columns;
}

static uint32_t states_beside(const SelectedView *selected, int32_t column) {
  uint32_t part = part_of(selected, column);
  return selected->state_start[part + 1] - selected->state_start[part];
}

/* The link of the n-th state in the part of a column. */
static int32_t link_beside(const SelectedView *selected, int32_t column, uint32_t n) {
  return (int32_t)selected->states[selected->state_start[part_of(selected, column)] + n];
}

/* Makes the system of the present selection at y. */
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
  selected->jacobian = heap_array(heap, entries, sizeof(double));
  selected->column = heap_array(heap, columns, sizeof(int32_t));
  selected->is_state = heap_array(heap, columns, sizeof(bool));
  selected->trial = heap_array(heap, columns, sizeof(double));
  selected->change = heap_array(heap, rows, sizeof(double));
  selected->stale = true;
  selected->exchanges = heap_array(heap, 4 * links, sizeof(Exchange));
  selected->looked = false;
  selected->all = new_minor(heap, system);
  selected->inner = new_minor(heap, system);
  make_dependence(heap, selected);
}

/* ---- columns that are not states ---- */

static void fill_pattern(const SelectedView *selected, Minor *minor, bool inner) {
  const System *system = &selected->view.system;
  int32_t entry = 0;
  for (int32_t k = 0; k < system->rows; k++) {
    int32_t q = selected->column[k];
    minor->start[k] = entry;
    for (int32_t e = system->column_start[q]; e < system->column_start[q + 1]; e++) {
      if (inner && selected->row_part[system->row_index[e]] != part_of(selected, q)) continue;
      minor->row[entry] = system->row_index[e];
      minor->entry[entry++] = e;
    }
  }
  minor->start[system->rows] = entry;
  linear_set_pattern(minor->linear, minor->start, minor->row);
}

/* Makes the patterns of M, the columns that are not states. */
static void set_pattern(SelectedView *selected) {
  const System *system = &selected->view.system;
  int32_t next = 0;
  memset(selected->is_state, 0, (size_t)system->columns * sizeof(bool));
  for (int32_t k = 0; k < system->links; k++) selected->is_state[system->link_from[k]] = true;
  for (int32_t q = 0; q < system->columns; q++)
    if (!selected->is_state[q]) selected->column[next++] = q;
  fill_pattern(selected, &selected->all, false);
  fill_pattern(selected, &selected->inner, true);
  selected->stale = selected->factored = false;
}

static bool factor_minor(SelectedView *selected, Minor *minor, double t, const double *y) {
  const System *system = &selected->view.system;
  if (selected->stale) set_pattern(selected);
  if (system->jacobian(system->context, t, y, selected->jacobian) != EVAL_OK) return false;
  for (int32_t e = 0; e < minor->start[system->rows]; e++) minor->values[e] = selected->jacobian[minor->entry[e]];
  selected->factorizations++;
  return linear_factor(minor->linear, minor->values);
}

/* Factors M at (t, y). */
static bool factor_matrix(SelectedView *selected, double t, const double *y) {
  return selected->factored = factor_minor(selected, &selected->all, t, y);
}

/* The solution for the columns that are not states, at a point. */
typedef struct Completion {
  SelectedView *selected;
  double t;
  const double *guess;
} Completion;

/* The change of the k-th column that is not a state, relative to that column at the trial point. */
static double relative_change(const SelectedView *selected, int32_t k, double change) {
  int32_t q = selected->column[k];
  return fabs(change) / (fabs(selected->trial[q]) + selected->view.system.nominal[q]);
}

/* One correction of the trial point with the existing factors. Returns its size relative to the columns, infinite if it cannot
 * be computed. */
static double correct(SelectedView *selected, double t) {
  const System *system = &selected->view.system;
  double *trial = selected->trial, *change = selected->change, size = 0;
  if (system->residual(system->context, t, trial, change) != EVAL_OK) return HUGE_VAL;
  linear_solve(selected->all.linear, change);
  for (int32_t k = 0; k < system->rows; k++) {
    int32_t q = selected->column[k];
    if (!isfinite(change[k])) return HUGE_VAL;
    trial[q] -= change[k];
    size = fmax(size, relative_change(selected, k, change[k]));
  }
  return size;
}

/* The change of the columns due to round-off of the rows, by the existing factors, in the units of corrections. A row is
 * accurate to the round-off of its terms. */
static double round_off(SelectedView *selected) {
  const System *system = &selected->view.system;
  double *noise = selected->change, *trial = selected->trial, size = 0;
  memset(noise, 0, (size_t)system->rows * sizeof *noise);
  for (int32_t q = 0; q < system->columns; q++)
    for (int32_t e = system->column_start[q]; e < system->column_start[q + 1]; e++)
      noise[system->row_index[e]] += DBL_EPSILON * fabs(selected->jacobian[e] * trial[q]);
  linear_solve(selected->all.linear, noise);
  for (int32_t k = 0; k < system->rows; k++) size = fmax(size, relative_change(selected, k, noise[k]));
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
  else if (*renew && size <= round_off(selected)) return 0;
  return size;
}

/* Solves the columns that are not states; the factors are kept from point to point while they are good enough. */
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

/* Could the column replace a state? */
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

static bool is_same_stage(const Strangeness *strangeness, int32_t a, int32_t b) {
  return !strangeness->staged || stage_of(strangeness, a) == stage_of(strangeness, b);
}

/* The largest rate of a column relative to the rates of the states on which it depends: an estimate of T without evaluations. */
static double outgrowth(const SelectedView *selected, const double *y) {
  const Strangeness *strangeness = selected->strangeness;
  double most = 0;
  for (int32_t q = 0; q < selected->view.system.columns; q++) {
    double leading = 0;
    if (!may_be_state(strangeness, q)) continue;
    for (uint32_t n = 0; n < states_beside(selected, q); n++) {
      int32_t from = strangeness->from[link_beside(selected, q, n)];
      if (selected->follows[t_entry(selected, q, n)] && is_same_stage(strangeness, q, from))
        leading = fmax(leading, rate_of(strangeness, y, from));
    }
    if (leading > 0) most = fmax(most, rate_of(strangeness, y, q) / leading);
  }
  return most;
}

/* Should T be computed? An examination that changed nothing raises the limit until the estimate has been below it
 * again. */
static bool is_look_due(SelectedView *selected, const double *y) {
  double most = outgrowth(selected, y);
  if (most <= GAIN) selected->bar = GAIN;
  return !selected->looked || ++selected->waited >= LOOK_EVERY || most > selected->bar;
}

/* The size of an entry of T in units of nominal values. */
static double scaled_dependence(const SelectedView *selected, int32_t column, uint32_t n) {
  const double *nominal = selected->strangeness->evaluator->nominal;
  int32_t from = selected->strangeness->from[link_beside(selected, column, n)];
  return fabs(selected->dependence[t_entry(selected, column, n)]) * nominal[from] / nominal[column];
}

/* Records which columns depend on which states. */
static void note_dependence(SelectedView *selected) {
  for (int32_t q = 0; q < selected->view.system.columns; q++)
    for (uint32_t n = 0; n < states_beside(selected, q); n++)
      selected->follows[t_entry(selected, q, n)] =
          !selected->is_state[q] && scaled_dependence(selected, q, n) > DEPENDS;
  selected->looked = true;
}

/* T at (t, y): how the other columns depend on the states of their part. One solve covers the n-th states of all parts. */
static bool find_dependence(SelectedView *selected, double t, const double *y) {
  const System *system = &selected->view.system;
  double *solution = selected->change;
  if (!factor_minor(selected, &selected->inner, t, y)) return false;
  for (uint32_t n = 0; n < selected->most_states; n++) {
    memset(solution, 0, (size_t)system->rows * sizeof *solution);
    for (uint32_t p = 0; p < selected->strangeness->parts.count; p++) {
      if (selected->state_start[p] + n >= selected->state_start[p + 1]) continue;
      int32_t from = system->link_from[selected->states[selected->state_start[p] + n]];
      for (int32_t e = system->column_start[from]; e < system->column_start[from + 1]; e++)
        if (selected->row_part[system->row_index[e]] == p) solution[system->row_index[e]] = -selected->jacobian[e];
    }
    linear_solve(selected->inner.linear, solution);
    for (int32_t k = 0; k < system->rows; k++)
      if (n < states_beside(selected, selected->column[k]))
        selected->dependence[t_entry(selected, selected->column[k], n)] = solution[k];
  }
  return true;
}

/* By the implicit function theorem: the rates are among the columns that are not states, or are states themselves. */
static EvalStatus rates_jacobian(void *context, double t, const double *y, double *jacobian) {
  SelectedView *selected = context;
  const System *system = &selected->view.system;
  int32_t n = system->links;
  if (!factor_matrix(selected, t, y)) return EVAL_DOMAIN;
  for (int32_t k = 0; k < n; k++) {
    int32_t from = system->link_from[k];
    memset(selected->change, 0, (size_t)system->rows * sizeof(double));
    for (int32_t e = system->column_start[from]; e < system->column_start[from + 1]; e++)
      selected->change[system->row_index[e]] = -selected->jacobian[e];
    linear_solve(selected->all.linear, selected->change);
    memset(selected->trial, 0, (size_t)system->columns * sizeof(double));
    selected->trial[from] = 1;
    for (int32_t r = 0; r < system->rows; r++) selected->trial[selected->column[r]] = selected->change[r];
    for (int32_t i = 0; i < n; i++) jacobian[i + k * n] = selected->trial[system->link_to[i]];
  }
  return EVAL_OK;
}

/* The largest scaled entry of T between a column that may be a state and a state that it may replace: the n-th of its part. */
static double best_exchange(const SelectedView *selected, int32_t *column, uint32_t *state) {
  const Strangeness *strangeness = selected->strangeness;
  double best = 0;
  for (int32_t q = 0; q < selected->view.system.columns; q++) {
    if (selected->is_state[q] || !may_be_state(strangeness, q)) continue;
    for (uint32_t n = 0; n < states_beside(selected, q); n++) {
      double gain = scaled_dependence(selected, q, n);
      if (gain > best && is_same_stage(strangeness, q, strangeness->from[link_beside(selected, q, n)]))
        best = gain, *column = q, *state = n;
    }
  }
  return best;
}

/* Updates T after a column has replaced the n-th state of its part. */
static void exchange_columns(SelectedView *selected, int32_t in, uint32_t n) {
  Strangeness *strangeness = selected->strangeness;
  int32_t link = link_beside(selected, in, n), out = strangeness->from[link],
          rows = strangeness->parts.part[part_of(selected, in)].columns;
  double *t = selected->dependence + selected->t_start[part_of(selected, in)];
  uint32_t place = strangeness->parts.column_place[in], freed = strangeness->parts.column_place[out];
  double *column = t + (size_t)n * (size_t)rows, pivot = column[place];
  for (uint32_t k = 0; k < states_beside(selected, in); k++) {
    double *other = t + (size_t)k * (size_t)rows, factor = other[place] / pivot;
    if (k == n) continue;
    for (int32_t r = 0; r < rows; r++) other[r] -= column[r] * factor;
    other[freed] = -factor;
  }
  for (int32_t r = 0; r < rows; r++) column[r] /= pivot;
  column[freed] = 1 / pivot;
  selected->is_state[in] = true;
  selected->is_state[out] = false;
  selected->stale = true;
  strangeness->from[link] = in;
  strangeness->to[link] = in + 1;
}

static int32_t exchange(View *view, Moment now, ConstMoment ahead, bool sure, Exchanges *exchanges) {
  SelectedView *selected = (SelectedView *)view;
  Strangeness *strangeness = selected->strangeness;
  int32_t count = 0, column = 0, limit = 4 * strangeness->links;
  uint32_t state = 0;
  exchanges->list = selected->exchanges;
  if (strangeness->links == 0) return 0;
  if (!sure && !is_look_due(selected, ahead.y)) return 0;
  selected->waited = 0;
  if (!find_dependence(selected, ahead.t, ahead.y)) return EXCHANGE_RESELECT;
  if (best_exchange(selected, &column, &state) > GAIN && complete_columns(view, now.t, now.y) != EVAL_OK)
    return EXCHANGE_RESELECT;
  for (; count < limit && best_exchange(selected, &column, &state) > GAIN; count++) {
    selected->exchanges[count] =
        (Exchange){(uint32_t)strangeness->from[link_beside(selected, column, state)], (uint32_t)column};
    exchange_columns(selected, column, state);
  }
  note_dependence(selected);
  selected->bar = count ? GAIN : fmax(GAIN, RAISED * outgrowth(selected, ahead.y));
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

/* Has a column whose derivative occurs changed? If no such column has changed, there are no impulses. */
static bool has_jumped(const SelectedView *selected, const double *before, const double *y) {
  const double *nominal = selected->strangeness->evaluator->nominal;
  for (uint32_t q = 0; q < selected->strangeness->array->columns; q++)
    if (selected->differentiated[q] && fabs(y[q] - before[q]) > JUMPED * fmax(nominal[q], fabs(before[q]))) return true;
  return false;
}

/* It is cheaper to check whether the selected columns can adapt to the new modes by themselves; ranks are used only if they
 * cannot. */
static bool share_by_ranks(SelectedView *selected, double t, double *y, uint32_t *column) {
  size_t bytes = (size_t)selected->view.system.columns * sizeof *y;
  memcpy(selected->before, y, bytes);
  if (complete_columns(selected, t, y) == EVAL_OK && !has_jumped(selected, selected->before, y)) return true;
  memcpy(y, selected->before, bytes);
  return rank_jump_solve(selected->rank_jump, t, y, column);
}

/* First distributes a jump, so that the result does not depend on which columns are states. */
static EvalStatus solve_at_event(View *view, double t, double *y) {
  SelectedView *selected = (SelectedView *)view;
  uint32_t column;
  bool shared = selected->jump ? array_jump_solve(selected->jump, t, y, &column)
                               : !selected->rank_jump || share_by_ranks(selected, t, y, &column);
  if (shared) return complete_columns(view, t, y);
  view->settle.undetermined = column;
  return EVAL_STOP;
}

/* The state of its part that a column can replace best; held states are left out. false: there is none. */
static bool find_replaceable(const SelectedView *selected, int32_t column, const uint8_t *held, uint32_t *state) {
  const Strangeness *strangeness = selected->strangeness;
  double best = DEPENDS;
  for (uint32_t n = 0; n < states_beside(selected, column); n++) {
    int32_t from = strangeness->from[link_beside(selected, column, n)];
    double gain = scaled_dependence(selected, column, n);
    if (held[from] < 2 && is_same_stage(strangeness, column, from) && gain > best) best = gain, *state = n;
  }
  return best > DEPENDS;
}

/* The held columns become states. A column that cannot become a state, because the rows determine it, would jump again. */
static EvalStatus solve_holding(View *view, double t, double *y, const uint8_t *held) {
  SelectedView *selected = (SelectedView *)view;
  bool found = find_dependence(selected, t, y);
  for (int32_t q = 0; q < view->system.columns && found; q++) {
    uint32_t state = 0;
    if (held[q] < 2 || selected->is_state[q]) continue;
    if (!may_be_state(selected->strangeness, q) || !find_replaceable(selected, q, held, &state)) {
      view->settle.undetermined = (uint32_t)q;
      return EVAL_STOP;
    }
    exchange_columns(selected, q, state);
  }
  selected->looked = false;
  return found ? complete_columns(view, t, y) : EVAL_STOP;
}

static uint64_t factorizations(const View *view) { return ((const SelectedView *)view)->factorizations; }

static SolveFailure failure(const View *view) {
  (void)view;
  return (SolveFailure){0};
}

/* A copy of the selection; its other members are not used. */
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

/* The successor of a column of a reduced array is its derivative; in a uniform array this is certain only for x. */
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
  view->settle.undetermined = MAP_NONE;
  view->switches = switches_new(heap, strangeness->evaluator);
  if (view->switches && strangeness->reduced) selected->jump = array_jump_new(heap, strangeness->evaluator);
  else if (view->switches) selected->rank_jump = rank_jump_new(heap, strangeness);
  selected->differentiated = mark_differentiated(heap, strangeness->array);
  selected->before = heap_array(heap, columns, sizeof(double));
  use_selection(heap, selected, y);
  return view;
}
