/* initial: see initial.h. */
#include "init/initial.h"

#include "base/spread.h"
#include "init/patch.h"
#include "init/terms.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double KEPT = 1e-9; /* relative: a start value that moves by less counts as kept */

static bool gave_way(const InitialColumn *column, double value) {
  return !(fabs(value - column->start) <= KEPT * (1 + fabs(column->start)));
}

/* May another solution be nearer than the one found, or is the one found outside of min and max? */
static bool goes_astray(const InitialColumn *columns, const double *nominal, uint32_t count, const double *y) {
  for (uint32_t q = 0; q < count; q++)
    if (steps_is_far(&columns[q], nominal[q], y[q]) || column_excess(&columns[q], y[q]) > 0) return true;
  return false;
}

/* Does y change a value that the user fixed? */
static bool moves_given(const InitialColumn *columns, uint32_t count, const double *y) {
  for (uint32_t q = 0; q < count; q++)
    if (!isfinite(y[q]) || ((columns[q].fixed || (columns[q].given && columns[q].low)) && gave_way(&columns[q], y[q])))
      return true;
  return false;
}

bool initial_guess(const Initializer *initializer, const StartValues *starts, double *y, Diags *diags) {
  uint32_t n = initializer->evaluator->array->columns;
  InitialColumn *columns = heap_array(initializer->heap, n, sizeof *columns);
  bool ok = starts_collect(initializer->evaluator, starts, 1e-6, columns, diags);
  for (uint32_t q = 0; q < n; q++) y[q] = columns[q].start;
  heap_free(initializer->heap, columns);
  return ok;
}

/* ---- do the values hold? ---- */

/* The rows of an array or of the initial system, and the sizes that their residuals are compared with. */
typedef struct Rows {
  Evaluator *evaluator;
  const Array *array;
  Workspace *program, *entries;
  const Jacobian *jacobian;
  const double *nominal;
  Model *model; /* the layer whose graph has the expressions of the rows; NULL: the evaluator's own, when needed */
  const Layout *layout;
  const Expr *row;
  const InitialColumn *columns;
  double error;       /* relative error of the columns */
  Quotient *quotient; /* if not NULL and empty: set to a quotient whose divisor consists only of errors */
} Rows;

/* Do the rows of diverged columns hold, compared with their terms? */
static bool astray_hold(const Rows *rows, const RowSize *size, const Point *point, const double *r) {
  Heap *heap = rows->evaluator->heap;
  ExprVec astray = {0};
  IndexVec numbers = {0};
  for (uint32_t i = 0; i < rows->jacobian->rows; i++) {
    if (!size[i].is_astray || fabs(r[i]) <= 2 * DBL_EPSILON) continue;
    vec_push(heap, &astray, rows->row[i]);
    vec_push(heap, &numbers, i);
  }
  double *terms = heap_array(heap, astray.count, sizeof *terms);
  Model *model = rows->model ? rows->model : evaluator_model(rows->evaluator);
  terms_sizes(heap, model, rows->layout, astray.data, astray.count, point, terms);
  bool hold = true;
  for (uint32_t k = 0; k < astray.count && hold; k++) hold = !(fabs(r[numbers.data[k]]) > TERMS_CONSISTENT * terms[k]);
  heap_free(heap, terms);
  vec_free(heap, &astray, &numbers);
  return hold;
}

/* Is a divisor that never changes only round-off? Then some row may divide by it. */
static bool holds_lost_divisor(const Evaluator *evaluator, const Point *point) {
  const Program *program = evaluator->code->held_divisors;
  if (!program) return evaluator->code->has_residue;
  uint32_t count = program_outputs(program);
  double *value = heap_array(evaluator->heap, count, sizeof *value);
  bool is_lost = evaluator->code->has_residue;
  workspace_run(workspace_new(evaluator->heap, program), point, value);
  for (uint32_t k = 0; k < count; k += 2) is_lost |= fabs(value[k]) <= STEPS_ERROR * value[k + 1];
  heap_free(evaluator->heap, value);
  return is_lost;
}

/* Does a row divide by a value that is only round-off? Then its residual cannot be compared with the sizes of its
 * terms. */
static bool divides_by_errors(const Rows *rows, const RowSize *size, const Point *point) {
  Expr found = EXPR_NONE;
  bool is_held = holds_lost_divisor(rows->evaluator, point);
  for (uint32_t i = 0; i < rows->jacobian->rows && found == EXPR_NONE; i++) {
    if (!is_held && !row_may_be_pole(&size[i], rows->error)) continue;
    Model *model = rows->model ? rows->model : evaluator_model(rows->evaluator);
    found = terms_lost_divisor(rows->evaluator->heap, model, rows->layout, rows->row[i], point, rows->error);
    if (found == EXPR_NONE || !rows->quotient || rows->quotient->node != EXPR_NONE) continue;
    rows->quotient->node = found;
    rows->quotient->row = i;
    memcpy(rows->quotient->y, point->y, rows->jacobian->columns * sizeof(double));
  }
  return found != EXPR_NONE;
}

/* Does a column that diverged satisfy a row only through an entry that is round-off? Then it could have any other
 * value. */
static bool rests_on_round_off(const Rows *rows, const RowSize *size, double t, const double *y, const double *r,
                               const double *values) {
  const Jacobian *jacobian = rows->jacobian;
  Arena scratch = arena_make(rows->evaluator->heap);
  double *shaken = arena_array(&scratch, jacobian->columns, sizeof *shaken);
  double *other = arena_array(&scratch, jacobian->nonzeros, sizeof *other);
  bool rests = false;
  columns_shake(rows->nominal, y, jacobian->columns, shaken);
  Point point = evaluator_point(rows->evaluator, t, shaken);
  workspace_run(rows->entries, &point, other);
  columns_shake_within(rows->evaluator->heap, rows->array, jacobian, rows->nominal, r, values, other, y, shaken);
  workspace_run(rows->entries, &point, other);
  for (uint32_t q = 0; q < jacobian->columns; q++) {
    if (!terms_is_astray(rows->nominal[q], rows->columns[q].start, y[q])) continue;
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++)
      rests |= entry_is_lost(values[e], other[e]) && row_excess(values[e] * y[q], &size[jacobian->row_index[e]]) > 1;
  }
  arena_free(&scratch);
  return rests;
}

/* Do all rows hold at (t, y), except those left out? A derivative need not exist there, like that of sqrt(x) at 0: then it is
 * ignored. */
static bool rows_hold(const Rows *rows, const IndexVec *left_out, double t, const double *y) {
  const Jacobian *jacobian = rows->jacobian;
  Arena scratch = arena_make(rows->evaluator->heap);
  double *r = arena_array(&scratch, jacobian->rows, sizeof *r);
  double *values = arena_array(&scratch, jacobian->nonzeros, sizeof *values);
  RowSize *size = arena_array(&scratch, jacobian->rows, sizeof *size);
  Point point = evaluator_point(rows->evaluator, t, y);
  bool hold = workspace_run(rows->program, &point, r) == EVAL_OK, any_astray = false;
  workspace_run(rows->entries, &point, values);
  rows->evaluator->row_evaluations += jacobian->rows;
  rows->evaluator->entry_evaluations += jacobian->nonzeros;
  for (uint32_t q = 0; q < jacobian->columns; q++) {
    bool is_astray = terms_is_astray(rows->nominal[q], rows->columns[q].start, y[q]);
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++) {
      RowSize *row = &size[jacobian->row_index[e]];
      if (!isfinite(values[e])) continue; /* an infinite entry, like that of sqrt(u) at u = 0, is skipped */
      row_size_add(row, values[e], y[q], rows->nominal[q]);
      row->is_astray |= is_astray && !jacobian->is_constant[e];
    }
  }
  for (uint32_t k = 0; left_out && k < left_out->count; k++) r[left_out->data[k]] = 0;
  for (uint32_t i = 0; i < jacobian->rows && hold; i++) hold = row_excess(r[i], &size[i]) <= 1;
  for (uint32_t i = 0; i < jacobian->rows; i++) any_astray |= size[i].is_astray;
  hold = hold && astray_hold(rows, size, &point, r);
  hold = hold && !(any_astray && rests_on_round_off(rows, size, t, y, r, values));
  hold = hold && !divides_by_errors(rows, size, &point);
  arena_free(&scratch);
  return hold;
}

/* ---- through the state-space form ---- */

static Rows array_rows(Evaluator *evaluator, const Initial *initial) {
  return (Rows){.evaluator = evaluator,
                .array = evaluator->array,
                .program = evaluator->rows,
                .entries = evaluator->entries,
                .jacobian = evaluator->jacobian,
                .nominal = evaluator->nominal,
                .layout = &evaluator->code->layout,
                .row = evaluator->array->row,
                .columns = initial->column,
                .error = STEPS_ERROR};
}

static bool solve_by_states(Initializer *initializer, double t0, Initial *initial) {
  const Array *array = initializer->evaluator->array;
  Heap *heap = initializer->heap;
  uint8_t *held = heap_array(heap, array->columns, sizeof *held);
  double *y = heap_array(heap, array->columns, sizeof *y);
  for (uint32_t q = 0; q < array->columns; q++) {
    const InitialColumn *column = &initial->column[q];
    held[q] = column->fixed ? 2 : column->given && column->low;
    y[q] = column->start;
  }
  int32_t block;
  bool ok = dummy_select_holding(initializer->dummy, t0, y, held, &block);
  if (ok) {
    statespace_choose(initializer->space, dummy_depth(initializer->dummy));
    ok = statespace_complete(initializer->space, t0, y) == EVAL_OK && !moves_given(initial->column, array->columns, y);
  }
  Rows rows = array_rows(initializer->evaluator, initial);
  ok = ok && rows_hold(&rows, NULL, t0, y) && !goes_astray(initial->column, rows.nominal, array->columns, y);
  if (ok) memcpy(initial->value, y, array->columns * sizeof *y);
  heap_free_all(heap, held, y);
  return ok;
}

/* ---- the initial system ---- */

static bool needs_system(const Model *model) {
  if (model->initial_equations.count) return true;
  for (uint32_t p = 0; p < model->parameters.count; p++) {
    const Variable *variable = &model->variables.data[model->parameters.data[p]];
    if (variable_is_sought(variable)) return true;
  }
  return false;
}

static InitialSystem *take_system(Initializer *initializer, bool event) {
  InitialSystem **system = event ? &initializer->event_system : &initializer->system;
  if (*system) return *system;
  *system = system_new(initializer->heap, initializer->evaluator, initializer->structure, !event);
  if (!event) (*system)->known = initializer->known, (*system)->collected = initializer->collected;
  return *system;
}

/* Extends columns of the array to those of the system: adds higher derivatives and parameters. */
static void widen(Initial *initial, InitialSystem *system, Heap *heap) {
  Evaluator *evaluator = system->evaluator;
  const Model *model = evaluator->model;
  InitialColumn *columns = heap_array(heap, system->columns, sizeof *columns);
  for (uint32_t q = 0; q < system->columns; q++) columns[q] = initial_column();
  for (uint32_t q = 0; q < evaluator->array->columns; q++) columns[system_column(system, q)] = initial->column[q];
  for (uint32_t k = 0; k < system->parameters.count; k++) {
    InitialColumn *column = &columns[system->array->columns + k];
    column->named = model->parameters.data[system->parameters.data[k]];
    column->given = model->variables.data[column->named].start != EXPR_NONE;
    column->start = evaluator->parameters[system->parameters.data[k]];
  }
  initial->system = system;
  initial->column = columns;
  initial->columns = system->columns;
  initial->value = heap_array(heap, system->columns, sizeof *initial->value);
}

static void set_starts(const Initial *initial, double *y) {
  for (uint32_t q = 0; q < initial->columns; q++) y[q] = initial->column[q].start;
}

typedef struct InitialAttempt {
  InitialSystem *system;
  const Order *order;
  Initial *initial;
  double t0, tolerance;
  StepsResult last;
  Proof proof;        /* proof of rows that failed */
  double *stuck;      /* values where the last attempt ended */
  Quotient *quotient; /* the quotient for which values were refused */
  bool homotopy_first;
  bool is_event;
  InitialTrial trial;
} InitialAttempt;

static bool is_by_steps(InitialWay way) { return way == WAY_KEPT || way == WAY_NEAREST || way == WAY_CONTINUED; }

static Rows system_rows(InitialSystem *system, const Initial *initial) {
  system_compile(system);
  return (Rows){.evaluator = system->evaluator,
                .array = system->array,
                .program = system->program,
                .entries = system->entries,
                .jacobian = system->jacobian,
                .nominal = system->nominal,
                .model = system->model,
                .layout = &system->layout,
                .row = system->row,
                .columns = initial->column,
                .error = is_by_steps(initial->way) ? STEPS_ERROR : TERMS_CONSISTENT};
}

bool initial_holds(const Initializer *initializer, const Initial *initial, double t0) {
  Rows rows = initial->system ? system_rows(initial->system, initial) : array_rows(initializer->evaluator, initial);
  return rows_hold(&rows, NULL, t0, initial->value);
}

/* Do all rows except surplus ones hold at the current values? */
static bool values_hold(const InitialAttempt *attempt) {
  Rows rows = system_rows(attempt->system, attempt->initial);
  rows.quotient = attempt->quotient;
  return rows_hold(&rows, &attempt->order->surplus, attempt->t0, attempt->initial->value);
}

static bool try_steps(InitialAttempt *attempt, StepsMode mode, InitialWay way) {
  Initial *initial = attempt->initial;
  set_starts(initial, initial->value);
  initial->way = way;
  attempt->system->encloses = attempt->trial == TRIAL_NONE && !attempt->is_event;
  attempt->last = steps_run(attempt->system, initial->column, attempt->order, mode, attempt->t0, attempt->tolerance,
                            initial->value);
  initial->iterations += attempt->last.iterations;
  if (attempt->last.proof.count) attempt->proof = attempt->last.proof;
  initial->rung = attempt->last.rung;
  memcpy(attempt->stuck, initial->value, initial->columns * sizeof *attempt->stuck);
  if (!attempt->last.solved) return false;
  if (mode == STEPS_KEEP && moves_given(initial->column, initial->columns, initial->value)) return false;
  return values_hold(attempt);
}

static void set_weights(const InitialAttempt *attempt, Patch *patch, StepsMove move) {
  Heap *heap = attempt->system->heap;
  const uint32_t *positions;
  uint32_t count = patch_columns(patch, &positions);
  double *weights = heap_array(heap, count, sizeof *weights);
  for (uint32_t k = 0; k < count; k++)
    weights[k] = steps_weight(attempt->system, attempt->initial->column, positions[k], move);
  patch_set_weights(patch, weights);
  heap_free(heap, weights);
}

/* Moves a solution along the set of solutions towards the start values, with the weights of the patch. */
static void approach_starts(InitialAttempt *attempt, Patch *patch, PatchResult *result) {
  Initial *initial = attempt->initial;
  double *starts = heap_array(attempt->system->heap, initial->columns, sizeof *starts);
  set_starts(initial, starts);
  patch_approach(patch, attempt->t0, starts, initial->value, result);
  heap_free(attempt->system->heap, starts);
}

/* Solves all rows at once from the current values; then, with `near`, moves along the solutions towards the start values. */
static bool solve_rows(InitialAttempt *attempt, Patch *patch, bool by_continuation, bool near) {
  Initial *initial = attempt->initial;
  double *y = initial->value;
  PatchResult result = by_continuation ? patch_continue(patch, attempt->t0, y) : patch_solve(patch, attempt->t0, y);
  if (result.solved) initial->rung = result.rung;
  if (result.solved && near) approach_starts(attempt, patch, &result);
  initial->iterations += result.iterations;
  return result.solved && values_hold(attempt);
}

static bool solve_all_rows(InitialAttempt *attempt, Patch *patch, StepsMove move, bool by_continuation) {
  set_starts(attempt->initial, attempt->initial->value);
  set_weights(attempt, patch, move);
  return solve_rows(attempt, patch, by_continuation, move != MOVE_OTHERS);
}

/* Did a start value that can be kept move although there were enough other columns to move? Then the point is singular (steps.c). */
static bool gave_way_to_others(const InitialAttempt *attempt) {
  const Initial *initial = attempt->initial;
  uint32_t others = 0;
  bool moved = false;
  for (uint32_t q = 0; q < initial->columns; q++) {
    const InitialColumn *column = &initial->column[q];
    others += steps_weight(attempt->system, initial->column, q, MOVE_OTHERS) > 0;
    moved |= steps_gave_way(column, attempt->system->nominal[q], initial->value[q]);
  }
  return moved && others >= attempt->system->rows;
}

/* The cost of a solution: 0 if start values are near and no value that can be kept was moved without need, otherwise their
 * distance. A solution beyond min or max costs far more. */
static double point_cost(const InitialAttempt *attempt) {
  static const double FORBIDDEN = 1e100;
  const Initial *initial = attempt->initial;
  const double *nominal = attempt->system->nominal, *y = initial->value;
  double squares = 0;
  if (!goes_astray(initial->column, nominal, initial->columns, y) && !gave_way_to_others(attempt)) return 0;
  for (uint32_t q = 0; q < initial->columns; q++) {
    squares += steps_distance(&initial->column[q], nominal[q], y[q]);
    if (column_excess(&initial->column[q], y[q]) > 0) squares += FORBIDDEN;
  }
  return squares;
}

/* The best of the solutions so far. */
typedef struct Best {
  double cost, *value;
  NonlinearRung rung;
} Best;

static Best best_make(const InitialAttempt *attempt) {
  return (Best){HUGE_VAL, heap_array(attempt->system->heap, attempt->initial->columns, sizeof(double)), RUNG_START};
}

static void best_take(const InitialAttempt *attempt, Best *best) {
  double cost = point_cost(attempt);
  if (cost >= best->cost) return;
  best->cost = cost;
  best->rung = attempt->initial->rung;
  memcpy(best->value, attempt->initial->value, attempt->initial->columns * sizeof *best->value);
}

/* Takes the best solution as the values; false: there is none. */
static bool best_give(const InitialAttempt *attempt, Best *best) {
  bool found = best->cost < HUGE_VAL;
  if (found) memcpy(attempt->initial->value, best->value, attempt->initial->columns * sizeof *best->value);
  if (found) attempt->initial->rung = best->rung;
  heap_free(attempt->system->heap, best->value);
  return found;
}

/* Starts from the solution that is nearest to all start values, and moves it to the solution that is nearest to only the given
 * start values. */
static void improve_equal(InitialAttempt *attempt, Patch *patch, Best *best) {
  PatchResult result = {0};
  set_weights(attempt, patch, MOVE_ALIKE);
  approach_starts(attempt, patch, &result);
  attempt->initial->iterations += result.iterations;
  if (values_hold(attempt)) best_take(attempt, best);
}

/* Tries the ways in which columns may move, one after the other, until a solution is good enough; otherwise uses the
 * nearest. */
static bool try_all_rows(InitialAttempt *attempt) {
  Patch *patch = patch_new(attempt->system, NULL, 0);
  Best best = best_make(attempt);
  attempt->initial->way = WAY_ALL_ROWS;
  for (int pass = 0; pass < 2 * STEPS_MOVES && best.cost > 0; pass++) {
    if (pass == STEPS_MOVES && (best.cost < HUGE_VAL || attempt->trial == TRIAL_QUICK)) break;
    if (!solve_all_rows(attempt, patch, (StepsMove)(pass % STEPS_MOVES), pass >= STEPS_MOVES)) continue;
    best_take(attempt, &best);
    if (pass % STEPS_MOVES == MOVE_EQUALLY && best.cost > 0) improve_equal(attempt, patch, &best);
  }
  return best_give(attempt, &best);
}

/* ---- homotopy(actual, simplified) ---- */

/* Frees the columns that a row determines, and the parameter if it may move. */
static void set_matched(const InitialSystem *system, const Order *order, bool moves, Patch *patch) {
  double *weights = heap_array(system->heap, system->columns, sizeof *weights);
  for (uint32_t q = 0; q < system->columns; q++)
    weights[q] = order->choice.matching.row_of_column[q] != STRUCTURE_NONE || (moves && q == system->homotopy);
  patch_set_weights(patch, weights);
  heap_free(system->heap, weights);
}

/* Did a column grow so much between `last` and y that y is a solution only because residuals are compared with its size? */
static bool has_left(const InitialSystem *system, const double *last, const double *y) {
  for (uint32_t q = 0; q < system->columns; q++)
    if (terms_is_astray(system->nominal[q], last[q], y[q])) return true;
  return false;
}

/* Raises the parameter from 0 in steps that grow while they succeed: to 1, or close to a turning point. y is solved at 0. */
static bool raise_parameter(InitialSystem *system, Patch *patch, double t0, double *y, uint32_t *iterations) {
  double *last = heap_array(system->heap, system->columns, sizeof *last), at = 0, step = 0.1;
  while (at < 1 && step > 1e-5) {
    memcpy(last, y, system->columns * sizeof *last);
    double next = at + step < 1 ? at + step : 1;
    y[system->homotopy] = next;
    PatchResult result = patch_correct(patch, t0, y);
    *iterations += result.iterations;
    bool is_along = result.solved && !has_left(system, last, y);
    if (!is_along) memcpy(y, last, system->columns * sizeof *last);
    else at = next;
    step *= is_along ? 2 : 0.25;
  }
  heap_free(system->heap, last);
  return at >= 1;
}

/* Follows the solutions from parameter 0, where y is solved, to 1. First it raises the parameter step by step, which is not disturbed by other
 * solutions that cross the path. If that fails it lets the parameter move freely, past turning points. */
static bool follow(InitialSystem *system, const Order *order, double t0, double *y, uint32_t *iterations) {
  Patch *patch = patch_new(system, NULL, 0);
  set_matched(system, order, false, patch);
  if (raise_parameter(system, patch, t0, y, iterations)) return true;
  set_matched(system, order, true, patch);
  PatchResult result = patch_trace(patch, t0, system->homotopy, 1, y);
  *iterations += result.iterations;
  return result.solved;
}

static bool try_homotopy(InitialAttempt *attempt) {
  Initial *initial = attempt->initial;
  InitialSystem *system = system_continued(attempt->system);
  if (!system) return false;
  Heap *heap = system->heap;
  Arena scratch = arena_make(heap);
  InitialColumn *columns = heap_array(heap, system->columns, sizeof *columns);
  double *y = heap_array(heap, system->columns, sizeof *y);
  memcpy(columns, initial->column, initial->columns * sizeof *columns);
  columns[system->homotopy] = initial_column();
  columns[system->homotopy].fixed = columns[system->homotopy].given = true;
  set_starts(initial, y);
  Order order = order_make(system, &system->pattern, columns, &scratch);
  StepsResult simplified = steps_run(system, columns, &order, STEPS_NEAREST, attempt->t0, attempt->tolerance, y);
  initial->iterations += simplified.iterations;
  bool solved = simplified.solved && follow(system, &order, attempt->t0, y, &initial->iterations);
  if (solved) memcpy(initial->value, y, initial->columns * sizeof *y);
  initial->way = WAY_HOMOTOPY;
  initial->rung = RUNG_HOMOTOPY;
  heap_free_all(heap, columns, y);
  arena_free(&scratch);
  return solved && values_hold(attempt);
}

/* Does the unit have one row, which is linear in its column? Then the column is a formula of the others. */
static bool is_formula(const InitialSystem *system, const Blocks *units, int32_t unit) {
  int32_t begin = units->start[unit];
  Expr leaf = system_leaf(system, (uint32_t)units->column[begin]), slope, rest;
  return units->start[unit + 1] - begin == 1 &&
         dag_linear(system->array->dag, system->row[units->row[begin]], leaf, &slope, &rest);
}

static bool has_homotopy(const Dag *dag) {
  for (Expr e = 0; e < dag_size(dag); e++)
    if (dag_op(dag, e) == OP_HOMOTOPY) return true;
  return false;
}

/* Do rows that must be solved together, or a row that does not give its column explicitly, contain homotopy()? They may have several
 * solutions; the one that homotopy() leads to is intended. */
static bool has_homotopy_loop(const InitialSystem *system, const InitialColumn *columns, const Order *order) {
  Dag *dag = system->array->dag;
  Arena scratch = arena_make(system->heap);
  Blocks units = order_units(system, columns, order, false, &scratch);
  ExprVec rows = {0};
  IndexVec below = {0};
  for (int32_t b = 0; b < units.n_blocks; b++)
    for (int32_t p = units.start[b]; p < units.start[b + 1] && !is_formula(system, &units, b); p++)
      vec_push(system->heap, &rows, system->row[units.row[p]]);
  dag_below(dag, dag_scratch(dag), rows.data, rows.count, &below);
  bool found = false;
  for (uint32_t k = 0; k < below.count && !found; k++) found = dag_op(dag, below.data[k]) == OP_HOMOTOPY;
  vec_free(system->heap, &rows, &below);
  arena_free(&scratch);
  return found;
}

/* ---- too many initial equations ---- */

/* Solves with all rows, including surplus ones: values that the others determine only weakly, as at a double root,
 * become exact. */
static void polish_surplus(InitialAttempt *attempt) {
  Initial *initial = attempt->initial;
  Heap *heap = attempt->system->heap;
  double *weights = heap_array(heap, initial->columns, sizeof *weights),
         *y = heap_array(heap, initial->columns, sizeof *y);
  Patch *patch = patch_new(attempt->system, NULL, 0);
  for (uint32_t q = 0; q < initial->columns; q++)
    weights[q] = initial->column[q].fixed || attempt->order->choice.given[q] ? 0 : 1;
  memcpy(y, initial->value, initial->columns * sizeof *y);
  patch_set_weights(patch, weights);
  if (patch_solve(patch, attempt->t0, y).solved) memcpy(initial->value, y, initial->columns * sizeof *y);
  heap_free_all(heap, weights, y);
}

static bool check_surplus(InitialAttempt *attempt, Diags *diags) {
  Initial *initial = attempt->initial;
  const IndexVec *surplus = &attempt->order->surplus;
  if (!surplus->count) return true;
  uint32_t worst;
  Patch *patch = patch_new(attempt->system, surplus->data, surplus->count);
  double residual = patch_residual(patch, attempt->t0, initial->value, &worst);
  for (uint32_t k = 0; k < surplus->count; k++) vec_push(attempt->system->heap, &initial->surplus, surplus->data[k]);
  if (residual <= attempt->tolerance) {
    polish_surplus(attempt);
    return true;
  }
  initial->has_conflict = true;
  initial->conflict =
      conflict_of_surplus(attempt->system, initial->column, surplus->data[worst], patch_rows(patch)[worst]);
  conflict_filter(attempt->system, initial->column, attempt->t0, initial->value, &initial->conflict);
  conflict_report(attempt->system, initial->column, &initial->conflict, diags);
  return false;
}

/* Names a row that is undefined at the start values. false: all are defined. */
static bool report_undefined_start(const InitialAttempt *attempt, Diags *diags) {
  InitialSystem *system = attempt->system;
  IndexVec rows = {0};
  for (uint32_t r = 0; r < system->rows; r++) vec_push(system->heap, &rows, r);
  bool is_reported = conflict_report_undefined(system, &rows, attempt->t0, attempt->initial->value, diags);
  vec_free(system->heap, &rows);
  return is_reported;
}

static bool refuse(InitialAttempt *attempt, Diags *diags) {
  Initial *initial = attempt->initial;
  bool defined = true;
  if (!attempt->last.conflict &&
      conflict_report_undefined(attempt->system, &attempt->last.rows, attempt->t0, attempt->stuck, diags))
    return false;
  if (attempt->quotient->node != EXPR_NONE) return conflict_report_quotient(attempt->system, attempt->quotient, diags);
  initial->has_conflict = true;
  if (attempt->last.conflict) {
    initial->conflict = conflict_of_column(attempt->system, attempt->order, &attempt->last);
  } else {
    set_starts(initial, initial->value);
    initial->conflict = conflict_of_point(attempt->system, initial->column, attempt->t0, initial->value, &defined);
  }
  if (defined) {
    const double *y = attempt->last.conflict ? attempt->stuck : initial->value;
    conflict_filter(attempt->system, initial->column, attempt->t0, y, &initial->conflict);
    initial->conflict.proof = attempt->proof;
    conflict_report(attempt->system, initial->column, &initial->conflict, diags);
    return false;
  }
  initial->has_conflict = false;
  if (report_undefined_start(attempt, diags)) return false;
  diag_error(diags, DIAG_INIT_UNDEFINED, (Span){0},
             "no consistent initial values: the equations are not defined at the start values; give better ones");
  return false;
}

static bool try_ways(InitialAttempt *attempt) {
  if (attempt->homotopy_first && try_homotopy(attempt)) return true;
  if (try_steps(attempt, STEPS_KEEP, WAY_KEPT) || try_steps(attempt, STEPS_NEAREST, WAY_NEAREST)) return true;
  bool is_quick = attempt->trial == TRIAL_QUICK;
  return !attempt->last.conflict &&
         (try_homotopy(attempt) || (!is_quick && try_steps(attempt, STEPS_CONTINUE, WAY_CONTINUED)) ||
          try_all_rows(attempt));
}

/* Solves again from nominal values, as long as start values leave a row undefined. Values are still compared with the
 * given start values. */
static bool solve_from_nominal(InitialAttempt *attempt) {
  enum { ROUNDS = 8 };
  Initial *initial = attempt->initial;
  Heap *heap = attempt->system->heap;
  double *given = heap_array(heap, initial->columns, sizeof *given);
  bool solved = false;
  for (uint32_t q = 0; q < initial->columns; q++) given[q] = initial->column[q].start;
  for (int round = 0; round < ROUNDS && !solved && !attempt->last.conflict; round++) {
    if (!conflict_move_undefined(attempt->system, &attempt->last.rows, attempt->t0, attempt->stuck, initial->column))
      break;
    solved = try_ways(attempt);
    if (solved && initial->rung < RUNG_GUESSES) initial->rung = RUNG_GUESSES;
  }
  for (uint32_t q = 0; q < initial->columns; q++) initial->column[q].start = given[q];
  heap_free(heap, given);
  return solved;
}

/* ---- other guesses ---- */

/* The distance of guesses from the start values, or from 0, relative to nominal and the size of the start value. Large systems get
 * fewer guesses, so that refusing a system does not take many times as long as solving it. */
static const double SPREAD[] = {0.3, 1, 3, 10};
enum { SPREADS = sizeof SPREAD / sizeof *SPREAD, ELSEWHERE = 16, ELSEWHERE_ROWS = 256 };

/* Guesses spread evenly over rounds and columns (multiples of the golden ratio), within min and max; the first is 0. */
static void guess_elsewhere(const InitialAttempt *attempt, uint32_t round, double *y) {
  for (uint32_t q = 0; q < attempt->initial->columns; q++) {
    const InitialColumn *column = &attempt->initial->column[q];
    double part = 2 * spread_part((double)(q + 1) * round) - 1;
    double size = attempt->system->nominal[q] + fabs(column->start);
    double value = (round % 2 ? column->start : 0) + (round ? part * SPREAD[round / 2 % SPREADS] * size : 0);
    y[q] = column->fixed ? column->start : fmin(fmax(value, column->min), column->max);
  }
}

static bool solve_guess(InitialAttempt *attempt, Patch *patch, uint32_t round, bool by_continuation) {
  guess_elsewhere(attempt, round, attempt->initial->value);
  return solve_rows(attempt, patch, by_continuation, true);
}

/* The number of guesses to try for a system with this many rows; 0 instead of 1. */
static uint32_t guesses_worth(uint32_t rows) {
  uint32_t guesses = ELSEWHERE_ROWS / (rows + 1);
  if (guesses <= 1) return 0;
  return guesses < ELSEWHERE ? guesses : ELSEWHERE;
}

/* The last attempt before a refusal: solves all rows at once from other guesses, and takes the nearest solution. Default start
 * values have the same weight as given ones, because given values must move anyway. */
static bool try_elsewhere(InitialAttempt *attempt) {
  Patch *patch = patch_new(attempt->system, NULL, 0);
  uint32_t guesses = guesses_worth(attempt->system->rows);
  Best best = best_make(attempt);
  attempt->initial->way = WAY_ALL_ROWS;
  set_weights(attempt, patch, MOVE_EQUALLY);
  for (uint32_t round = 0; round < guesses && best.cost > 0; round++)
    if (solve_guess(attempt, patch, round, false) || solve_guess(attempt, patch, round, true)) {
      if (attempt->initial->rung < RUNG_GUESSES) attempt->initial->rung = RUNG_GUESSES;
      best_take(attempt, &best);
    }
  return best_give(attempt, &best);
}

static bool try_far_ways(InitialAttempt *attempt) {
  return solve_from_nominal(attempt) || (!attempt->last.conflict && !attempt->is_event && try_elsewhere(attempt));
}

/* Do the rows that failed contain discrete leaves? If they contain none, other modes can only change the known values in
 * these rows. */
static bool is_failure_discrete(const InitialAttempt *attempt) {
  Nogood leaves = nogood_of_rows(attempt->system, &attempt->last.rows);
  bool any = leaves.count > 0;
  vec_free(attempt->system->heap, &leaves);
  return any;
}

/* Are guesses far from the start values worth their cost? */
static bool may_go_far(const InitialAttempt *attempt) {
  if (attempt->trial == TRIAL_QUICK) return false;
  return attempt->trial != TRIAL_OF_MANY || is_failure_discrete(attempt);
}

static bool solve_system(InitialAttempt *attempt, Diags *diags) {
  if (try_ways(attempt) || (may_go_far(attempt) && try_far_ways(attempt))) return check_surplus(attempt, diags);
  return attempt->trial == TRIAL_NONE && refuse(attempt, diags);
}

/* ---- conditions as they are written ---- */

/* The largest number of guesses for this many rows: far more than for a single combination of modes, because they cover all
 * combinations. */
enum { LITERAL_GUESSES = 96, LITERAL_ROWS = 1536 };

typedef struct Literal {
  Switches *switches;
  Workspace *written;
  const InitialSystem *system;
  double *columns; /* columns of the evaluator's array */
} Literal;

static bool follow_literally(void *context, double t, const double *y) {
  Literal *literal = context;
  system_store(literal->system, y, literal->columns);
  switches_follow(literal->switches, literal->written, t, literal->columns);
  return true;
}

/* Do the modes agree with the relations at the current values? */
static bool modes_agree(const InitialAttempt *attempt, Literal *literal) {
  system_store(attempt->system, attempt->initial->value, literal->columns);
  edges_evaluate(&literal->switches->edges, attempt->t0, literal->columns);
  return edges_all_agree(&literal->switches->edges);
}

/* Goes from a guess to a solution, and from there, in its modes, towards the start values as far as these modes hold. */
static bool solve_literally(InitialAttempt *attempt, Patch *patch, Literal *literal, uint32_t round) {
  Initial *initial = attempt->initial;
  PatchFollower follower = {follow_literally, literal};
  guess_elsewhere(attempt, round, initial->value);
  patch_set_follower(patch, &follower);
  PatchResult result = patch_solve(patch, attempt->t0, initial->value);
  patch_set_follower(patch, NULL);
  initial->iterations += result.iterations;
  if (!result.solved || !modes_agree(attempt, literal) || !values_hold(attempt)) return false;
  double *found = heap_copy(attempt->system->heap, initial->value, initial->columns, sizeof *found);
  approach_starts(attempt, patch, &result);
  if (!modes_agree(attempt, literal) || !values_hold(attempt))
    memcpy(initial->value, found, initial->columns * sizeof *found);
  heap_free(attempt->system->heap, found);
  return true;
}

/* The nearest of the solutions, and its modes. */
static bool search_literally(InitialAttempt *attempt, Literal *literal) {
  Patch *patch = patch_new(attempt->system, NULL, 0);
  uint32_t worth = LITERAL_ROWS / (attempt->system->rows + 1);
  Best best = best_make(attempt);
  set_weights(attempt, patch, MOVE_EQUALLY);
  attempt->initial->way = WAY_ALL_ROWS;
  for (uint32_t round = 0; round < worth && round < LITERAL_GUESSES && best.cost > 0; round++)
    if (solve_literally(attempt, patch, literal, round)) best_take(attempt, &best);
  return best_give(attempt, &best) && follow_literally(literal, attempt->t0, attempt->initial->value) &&
         modes_agree(attempt, literal) && values_hold(attempt);
}

/* ---- failures that no other modes can repair ---- */

static bool solve_some(InitialAttempt *attempt, Patch *patch, bool by_continuation) {
  double *y = attempt->initial->value;
  return (by_continuation ? patch_continue(patch, attempt->t0, y) : patch_solve(patch, attempt->t0, y)).solved;
}

/* Do these rows by themselves have a solution, from the start values or from other guesses? */
static bool some_have_solution(InitialAttempt *attempt, const IndexVec *rows) {
  Patch *patch = patch_new(attempt->system, rows->data, rows->count);
  uint32_t guesses = guesses_worth(attempt->system->rows);
  bool found = false;
  for (int pass = 0; pass < 2 * STEPS_MOVES && !found; pass++) {
    set_starts(attempt->initial, attempt->initial->value);
    set_weights(attempt, patch, (StepsMove)(pass % STEPS_MOVES));
    found = solve_some(attempt, patch, pass >= STEPS_MOVES);
  }
  set_weights(attempt, patch, MOVE_EQUALLY);
  for (uint32_t trial = 0; trial < 2 * guesses && !found; trial++) {
    guess_elsewhere(attempt, trial / 2, attempt->initial->value);
    found = solve_some(attempt, patch, trial % 2);
  }
  return found;
}

/* Called after a failure: if the rows that failed are solved unit by unit with the same discrete values, they fail again, with all
 * rows on which they depend. If these rows also have no solution when they are solved all at once, other discrete values in other
 * rows cannot help. Continuation of homotopy() and delays mix all rows, so such failures prove nothing. */
static void learn(InitialAttempt *attempt, NogoodVec *nogoods) {
  InitialSystem *system = attempt->system;
  if (system->homotopy != MAP_NONE || system->evaluator->past) return;
  double *reported = heap_copy(system->heap, attempt->initial->value, attempt->initial->columns, sizeof *reported);
  Nogood all = nogood_of_rows(system, NULL);
  IndexVec rows = {0};
  Nogood some = {0};
  if (all.count) {
    rows = order_upstream(system, attempt->initial->column, attempt->order, &attempt->last.rows);
    some = nogood_of_rows(system, &rows);
  }
  if (rows.count && some.count < all.count && (attempt->last.conflict || !some_have_solution(attempt, &rows))) {
    vec_push(system->heap, nogoods, some);
    some = (Nogood){0};
  }
  vec_free(system->heap, &all, &rows, &some);
  memcpy(attempt->initial->value, reported, attempt->initial->columns * sizeof *reported);
  heap_free(system->heap, reported);
}

bool initial_is_ruled_out(const Initializer *initializer) {
  return nogood_holds(&initializer->nogoods, initializer->evaluator);
}

/* ---- the whole ---- */

static void classify(const Order *order, Initial *initial) {
  for (uint32_t q = 0; q < initial->columns; q++) {
    InitialColumn *column = &initial->column[q];
    if (column->fixed) column->origin = ORIGIN_FIXED;
    else if (!column->given) column->origin = ORIGIN_COMPUTED;
    else column->origin = gave_way(column, initial->value[q]) ? ORIGIN_MOVED : ORIGIN_KEPT;
    if (!order) continue;
    int32_t row = order->choice.matching.row_of_column[q];
    column->row = row == STRUCTURE_NONE ? MAP_NONE : (uint32_t)row;
    column->redundant = column->fixed && row != STRUCTURE_NONE;
  }
}

/* Values that were solved again agree to this relative difference. */
static const double SOLVED_AGAIN = 1e-6;

bool initial_trace(const Initial *initial, double tolerance, StepsTrace *trace) {
  InitialSystem *system = initial->system;
  if (!system || initial->way == WAY_HOMOTOPY || initial->way == WAY_RANKS) return false;
  Arena scratch = arena_make(system->heap);
  double *y = arena_array(&scratch, system->columns, sizeof *y);
  Order order = order_make(system, &system->pattern, initial->column, &scratch);
  set_starts(initial, y);
  system->trace = trace;
  StepsMode mode = initial->way == WAY_CONTINUED ? STEPS_CONTINUE : STEPS_NEAREST;
  StepsResult result = steps_run(system, initial->column, &order, mode, initial->t0, tolerance, y);
  system->trace = NULL;
  bool same = result.solved;
  for (uint32_t q = 0; q < system->columns; q++)
    same = same && fabs(y[q] - initial->value[q]) <= SOLVED_AGAIN * (system->nominal[q] + fabs(initial->value[q]));
  vec_free(system->heap, &order.surplus, &order.redundant, &result.rows);
  arena_free(&scratch);
  return same;
}

void initial_retell(const Initializer *initializer, const StartValues *starts, const Initial *first, Initial *initial) {
  uint32_t n = initializer->evaluator->array->columns;
  InitialColumn *given = heap_array(initializer->heap, n, sizeof *given);
  Diags silent = diags_make(initializer->heap);
  starts_collect(initializer->evaluator, starts, HUGE_VAL, given, &silent);
  for (uint32_t q = 0; q < n; q++) {
    InitialColumn *column = &initial->column[initial->system ? system_column(initial->system, q) : q];
    column->given = given[q].given;
    column->start = given[q].start;
  }
  for (uint32_t k = 0; initial->system && first->system && k < initial->system->parameters.count; k++)
    initial->column[initial->system->array->columns + k].start = first->column[first->system->array->columns + k].start;
  initial->way = first->way;
  initial->rung = first->rung;
  initial->iterations = first->iterations;
  classify(NULL, initial);
  heap_free(initializer->heap, given);
}

static void count_freedom(const Initializer *initializer, Initial *initial) {
  uint32_t equations = initial->system ? initial->system->rows - initial->system->array->rows : 0;
  uint32_t parameters = initial->system ? initial->system->parameters.count : 0;
  initial->fixed = 0;
  for (uint32_t q = 0; q < initial->columns; q++) initial->fixed += initial->column[q].fixed;
  initial->dof = initializer->structure->dof;
  int64_t open = initial->dof + parameters - (int64_t)initial->fixed - (int64_t)equations;
  initial->free = open > 0 ? (uint32_t)open : 0;
}

bool initial_search(Initializer *initializer, Switches *switches, const StartValues *starts, double t0,
                    double tolerance, Initial *initial) {
  Heap *heap = initializer->heap;
  Evaluator *evaluator = initializer->evaluator;
  uint32_t n = evaluator->array->columns;
  Arena scratch = arena_make(heap);
  Diags silent = diags_make(heap);
  *initial = (Initial){.columns = n, .t0 = t0};
  initial->column = heap_array(heap, n, sizeof *initial->column);
  initial->y = heap_array(heap, n, sizeof *initial->y);
  starts_collect(evaluator, starts, tolerance, initial->column, &silent);
  InitialSystem *system = take_system(initializer, false);
  widen(initial, system, heap);
  count_freedom(initializer, initial);
  Order order = order_make(system, &system->pattern, initial->column, &scratch);
  InitialAttempt attempt = {.system = system, .order = &order, .initial = initial, .t0 = t0, .tolerance = tolerance};
  Literal literal = {.switches = switches, .written = workspace_new(heap, evaluator->code->written), .system = system};
  literal.columns = arena_array(&scratch, n, sizeof *literal.columns);
  initial->solved = search_literally(&attempt, &literal) && check_surplus(&attempt, &silent);
  classify(&order, initial);
  if (initial->solved) system_store(system, initial->value, initial->y);
  vec_free(heap, &order.surplus, &order.redundant);
  arena_free(&scratch);
  return initial->solved;
}

static bool solve_by_system(Initializer *initializer, bool event, bool may_continue, double t0, double tolerance,
                            Initial *initial, Diags *diags) {
  Arena scratch = arena_make(initializer->heap);
  InitialSystem *system = take_system(initializer, event);
  widen(initial, system, initializer->heap);
  count_freedom(initializer, initial);
  Order order = order_make(system, &system->pattern, initial->column, &scratch);
  InitialAttempt attempt = {.system = system,
                            .order = &order,
                            .initial = initial,
                            .t0 = t0,
                            .tolerance = tolerance,
                            .homotopy_first = may_continue && has_homotopy_loop(system, initial->column, &order),
                            .is_event = event,
                            .trial = initializer->trial};
  attempt.stuck = arena_array(&scratch, initial->columns, sizeof *attempt.stuck);
  Quotient quotient = {.node = EXPR_NONE, .y = arena_array(&scratch, initial->columns, sizeof(double))};
  attempt.quotient = &quotient;
  bool ok = solve_system(&attempt, diags);
  if (!ok && !event) learn(&attempt, &initializer->nogoods);
  classify(&order, initial);
  system_store(system, ok ? initial->value : attempt.stuck, initial->y);
  vec_free(initializer->heap, &order.surplus, &order.redundant);
  arena_free(&scratch);
  return ok;
}

/* Has the caller given start values? Then they come before a homotopy. */
static bool are_given(const StartValues *starts, const Model *model) {
  for (uint32_t v = 0; starts && starts->start && v < model->variables.count; v++)
    if (!isnan(starts->start[v])) return true;
  return false;
}

static bool solve_once(Initializer *initializer, const StartValues *starts, double t0, double tolerance,
                       Initial *initial, Diags *diags) {
  Evaluator *evaluator = initializer->evaluator;
  Heap *heap = initializer->heap;
  bool event = starts && starts->hold;
  uint32_t n = evaluator->array->columns;
  *initial = (Initial){.columns = n, .t0 = t0};
  initial->column = heap_array(heap, n, sizeof *initial->column);
  initial->value = heap_array(heap, n, sizeof *initial->value);
  initial->y = heap_array(heap, n, sizeof *initial->y);
  if (!starts_collect(evaluator, starts, tolerance, initial->column, diags)) return false;
  count_freedom(initializer, initial);
  bool by_homotopy = !event && has_homotopy(evaluator->array->dag);
  bool by_states = event || (!needs_system(evaluator->model) && !evaluator->past && !by_homotopy);
  if (by_states && solve_by_states(initializer, t0, initial)) {
    initial->way = WAY_STATES;
    classify(NULL, initial);
    memcpy(initial->y, initial->value, n * sizeof *initial->y);
    return initial->solved = true;
  }
  by_homotopy = by_homotopy && !are_given(starts, evaluator->model);
  return initial->solved = solve_by_system(initializer, event, by_homotopy, t0, tolerance, initial, diags);
}

bool initial_solve(Initializer *initializer, const StartValues *starts, double t0, double tolerance, Initial *initial,
                   Diags *diags) {
  Evaluator *evaluator = initializer->evaluator;
  const Model *model = evaluator->model;
  bool may_move = !(starts && starts->hold) && starts_may_move(model);
  Arena scratch = arena_make(initializer->heap);
  double *first = arena_array(&scratch, model->unknowns.count, sizeof *first);
  double *found = arena_array(&scratch, model->parameters.count, sizeof *found);
  if (may_move) starts_list(evaluator, first);
  bool solved = solve_once(initializer, starts, t0, tolerance, initial, diags);
  if (solved && may_move && starts_have_moved(evaluator, first)) {
    Initial again;
    Diags silent = diags_make(initializer->heap);
    memcpy(found, evaluator->parameters, model->parameters.count * sizeof *found);
    if (solve_once(initializer, starts, t0, tolerance, &again, &silent)) *initial = again;
    else memcpy(evaluator->parameters, found, model->parameters.count * sizeof *found);
  }
  arena_free(&scratch);
  return solved;
}

Initial initial_of_ranks(const Initializer *initializer, const StartValues *starts, double t0) {
  const Strangeness *ranks = initializer->ranks;
  Heap *heap = initializer->heap;
  uint32_t n = ranks->array->columns;
  Diags silent = diags_make(heap);
  Initial initial = {.solved = true, .t0 = t0, .columns = n, .way = WAY_RANKS, .rung = RUNG_RANKS, .dof = ranks->d};
  initial.column = heap_array(heap, n, sizeof *initial.column);
  initial.y = initial.value = heap_array(heap, n, sizeof *initial.value);
  memcpy(initial.value, ranks->y, n * sizeof *initial.value);
  initial.discretes =
      heap_copy(heap, ranks->evaluator->discretes, ranks->problem.model->discretes.count, sizeof(double));
  initial.discrete_starts = ranks->discrete_starts;
  starts_collect(ranks->evaluator, starts, HUGE_VAL, initial.column, &silent);
  for (uint32_t q = 0; q < n; q++) initial.fixed += initial.column[q].fixed;
  initial.free = initial.dof > initial.fixed ? (uint32_t)(initial.dof - initial.fixed) : 0;
  classify(NULL, &initial);
  return initial;
}

void initial_report_bounds(const Initializer *initializer, const Initial *initial, Diags *diags) {
  const Model *model = initializer->evaluator->model;
  for (uint32_t q = 0; q < initial->columns; q++) {
    const InitialColumn *column = &initial->column[q];
    if (column->named == MAP_NONE || column_excess(column, initial->value[q]) == 0) continue;
    bool below = initial->value[q] < column->min;
    double value = column->sign * initial->value[q], bound = column->sign * (below ? column->min : column->max);
    diag_warning(diags, DIAG_OUT_OF_BOUNDS, model->variables.data[column->named].span,
                 "%s = %.10g at the start is %s %.10g", model_name(model, column->named), value,
                 below == (column->sign > 0) ? "below its min," : "above its max,", bound);
  }
}
