/* steps: see steps.h. */
#include "init/steps.h"

#include "base/spread.h"
#include "init/patch.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { FUSE_LIMIT = 128 };

/* A column with a default start or none moves this much more easily than one with a given start. */
static const double WEIGHT_GIVEN = 1, WEIGHT_OTHER = 1e4;

static const double HARDLY =
    1e-6; /* a smaller move relative to the size of a column counts as none: weights differ by 1e4 */

/* A preferred state moves less. */
static const double SELECT_WEIGHT[] = {
    [SELECT_NEVER] = 1e2, [SELECT_AVOID] = 1e1, [SELECT_DEFAULT] = 1, [SELECT_PREFER] = 1e-1, [SELECT_ALWAYS] = 1e-2};

double steps_weight(const InitialSystem *system, const InitialColumn *columns, uint32_t column, StepsMove move) {
  const InitialColumn *c = &columns[column];
  if (c->fixed) return 0;
  if (move == MOVE_EQUALLY) return WEIGHT_GIVEN;
  if (!c->given || (move != MOVE_ALIKE && !c->low)) return WEIGHT_OTHER;
  if (move == MOVE_OTHERS) return 0;
  if (column >= system->array->columns) return WEIGHT_GIVEN;
  const Model *model = system->evaluator->model;
  uint32_t unknown = system->array->problem->unknown[system->array->column_unknown[column]];
  return WEIGHT_GIVEN * SELECT_WEIGHT[model->variables.data[model->unknowns.data[unknown]].select];
}

bool steps_gave_way(const InitialColumn *column, double nominal, double value) {
  return column->given && column->low && fabs(value - column->start) > HARDLY * (nominal + fabs(column->start));
}

double steps_distance(const InitialColumn *column, double nominal, double value) {
  double away = column->given ? (value - column->start) / nominal : 0;
  return away * away;
}

bool steps_is_far(const InitialColumn *column, double nominal, double value) {
  return column->given && fabs(value - column->start) > nominal + fabs(column->start);
}

/* ---- explicit assignments ---- */

typedef struct InitialSteps {
  InitialSystem *system;
  Heap *heap;
  const InitialColumn *columns;
  const Order *order;
  StepsMode mode;
  double t, tolerance;
  double *y;
  bool *done;                /* per column: final */
  uint32_t *unit_of_row;     /* 1 + unit, 0 before it is reached */
  uint32_t *place;           /* per column: its place in the present patch */
  IndexVec sources, targets; /* pending assignments: rows and columns */
  ExprVec leaves,
      values;     /* of the assignments derived so far: leaves, and values with the earlier assignments substituted */
  IndexVec words; /* scratch: the words that identify code */
  double *results;
  StepsResult result;
} InitialSteps;

static void trace_column(InitialSteps *run, uint32_t column, double weight) {
  StepsTrace *trace = run->system->trace;
  vec_push(run->heap, &trace->columns, column);
  vec_push(run->heap, &trace->weights, weight);
  vec_last(&trace->units).columns++;
}

static void trace_rows(InitialSteps *run, const uint32_t *rows, uint32_t count, bool is_nearest) {
  StepsTrace *trace = run->system->trace;
  vec_push(run->heap, &trace->units, (StepsUnit){.rows = count, .is_nearest = is_nearest});
  for (uint32_t k = 0; k < count; k++) vec_push(run->heap, &trace->rows, rows[k]);
}

static void set_failed_rows(InitialSteps *run, const uint32_t *rows, uint32_t count) {
  run->result.rows.count = 0;
  for (uint32_t k = 0; k < count; k++) vec_push(run->heap, &run->result.rows, rows[k]);
}

/* The value that a row gives its column linearly, with the pending assignments substituted; false if it does not. */
static bool derive_assignment(InitialSteps *run, uint32_t row, uint32_t column) {
  Dag *dag = run->system->array->dag;
  Expr leaf = system_leaf(run->system, column), slope, rest;
  if (!dag_linear(dag, run->system->row[row], leaf, &slope, &rest)) return false;
  Expr value = dag_divide(dag, dag_negate(dag, rest), slope);
  dag_substitute(dag, run->leaves.data, run->values.data, run->leaves.count, &value, 1);
  vec_push(run->heap, &run->leaves, leaf);
  vec_push(run->heap, &run->values, value);
  return true;
}

/* The first word of entries about assignments, which no row has: an entry says that a row can be an assignment, or has
 * the program of several. */
static const uint32_t WORD_IS_LINEAR = UINT32_MAX, WORD_PROGRAM = UINT32_MAX - 1;

static void put_words(InitialSteps *run, uint32_t kind, uint32_t first, uint32_t count) {
  run->words.count = 0;
  vec_push(run->heap, &run->words, kind);
  for (uint32_t k = first; k < first + count; k++) {
    vec_push(run->heap, &run->words, run->system->row[run->sources.data[k]]);
    vec_push(run->heap, &run->words, run->targets.data[k]);
  }
}

/* The program of the pending assignments: the plan's, or one made now. */
static const Program *assignment_program(InitialSteps *run) {
  InitialSystem *system = run->system;
  uint32_t count = run->targets.count;
  bool shareable = true;
  for (uint32_t k = 0; k < count; k++) shareable = shareable && codes_may_share(system, run->sources.data[k]);
  if (shareable) put_words(run, WORD_PROGRAM, 0, count);
  const InitialCode *known = shareable ? codes_find(system->known, run->words.data, run->words.count) : NULL;
  if (known) return known->program;
  for (uint32_t k = run->values.count; k < count; k++)
    derive_assignment(run, run->sources.data[k], run->targets.data[k]);
  const Program *program = program_new(run->heap, system->model, &system->layout, run->values.data, count);
  if (shareable) codes_add(system->collected, (InitialCode){run->words.data, run->words.count, .program = program});
  return program;
}

/* Evaluates the pending assignments, up to the first that has no value. */
static bool flush(InitialSteps *run) {
  uint32_t n = run->targets.count, done = 0;
  if (!n) return true;
  InitialSystem *system = run->system;
  const Program *program = assignment_program(run);
  Point point = system_point(system, run->t, run->y);
  system->evaluator->row_evaluations += n;
  workspace_run(workspace_new(run->heap, program), &point, run->results);
  for (; done < n && isfinite(run->results[done]); done++) run->y[run->targets.data[done]] = run->results[done];
  if (done < n) {
    uint32_t row = (uint32_t)run->order->choice.matching.row_of_column[run->targets.data[done]];
    set_failed_rows(run, &row, 1);
  }
  run->leaves.count = run->values.count = run->targets.count = run->sources.count = 0;
  return done == n;
}

/* A row that gives its column linearly becomes an assignment; false if it does not. If the plan knows that it does, nothing is
 * derived until it is needed. */
static bool add_assignment(InitialSteps *run, uint32_t row, uint32_t column, bool *ok) {
  InitialSystem *system = run->system;
  uint32_t pending = run->targets.count;
  bool shareable = codes_may_share(system, row);
  vec_push(run->heap, &run->sources, row);
  vec_push(run->heap, &run->targets, column);
  if (shareable) put_words(run, WORD_IS_LINEAR, pending, 1);
  bool is_known = shareable && codes_find(system->known, run->words.data, run->words.count);
  if (!is_known) {
    for (uint32_t k = run->values.count; k < pending; k++)
      derive_assignment(run, run->sources.data[k], run->targets.data[k]);
    if (!derive_assignment(run, row, column)) {
      run->sources.count = run->targets.count = pending;
      return false;
    }
    if (shareable) codes_add(system->collected, (InitialCode){run->words.data, run->words.count, NULL, NULL});
  }
  if (run->targets.count >= FUSE_LIMIT) *ok = flush(run);
  return true;
}

/* ---- units ---- */

typedef struct InitialUnit {
  const uint32_t *rows;
  uint32_t count;
  Patch *patch;
  const uint32_t *positions;
  uint32_t columns;
  uint8_t *role; /* per column of the patch: how it may move */
  double *weight, *start;
  bool redundant;  /* a fixed column is determined by a row of the unit */
  bool is_nearest; /* the solution found is the nearest with these weights */
} InitialUnit;

static void trace_unit(InitialSteps *run, const InitialUnit *unit) {
  if (!run->system->trace) return;
  trace_rows(run, unit->rows, unit->count, unit->is_nearest);
  for (uint32_t k = 0; k < unit->columns; k++)
    if (unit->weight[k] > 0) trace_column(run, unit->positions[k], unit->weight[k]);
}

/* The role of a column in a unit. In this order: known; determined by a row of the unit; a start value that may move; fixed
 * although a row determines it; fixed, in the same stage as a row of the unit. */
enum { ROLE_KNOWN, ROLE_MATCHED, ROLE_MOVABLE, ROLE_REDUNDANT, ROLE_PEER };

static uint8_t find_role(const InitialSteps *run, uint32_t row, uint32_t q, uint32_t stamp) {
  int32_t matched = run->order->choice.matching.row_of_column[q];
  bool fixed = run->columns[q].fixed;
  if (matched != STRUCTURE_NONE && run->unit_of_row[matched] == stamp) return fixed ? ROLE_REDUNDANT : ROLE_MATCHED;
  if (run->mode == STEPS_KEEP) return ROLE_KNOWN;
  if (fixed) return run->system->column_stage[q] == run->system->row_stage[row] ? ROLE_PEER : ROLE_KNOWN;
  return !run->done[q] && order_may_move(run->system, run->columns, run->order, row, q) ? ROLE_MOVABLE : ROLE_KNOWN;
}

static InitialUnit make_unit(InitialSteps *run, const uint32_t *rows, uint32_t count, uint32_t stamp) {
  Heap *heap = run->heap;
  const Pattern *pattern = &run->order->pattern;
  InitialUnit unit = {.rows = rows, .count = count, .patch = patch_new(run->system, rows, count)};
  unit.columns = patch_columns(unit.patch, &unit.positions);
  unit.role = heap_array(heap, unit.columns, sizeof *unit.role);
  unit.weight = heap_array(heap, unit.columns, sizeof *unit.weight);
  unit.start = heap_array(heap, unit.columns, sizeof *unit.start);
  for (uint32_t k = 0; k < unit.columns; k++) run->place[unit.positions[k]] = k;
  for (uint32_t r = 0; r < count; r++) {
    for (int32_t e = pattern->row_start[rows[r]]; e < pattern->row_start[rows[r] + 1]; e++) {
      uint32_t q = (uint32_t)pattern->column[e];
      uint8_t *role = &unit.role[run->place[q]];
      if (*role == ROLE_KNOWN) *role = find_role(run, rows[r], q, stamp);
      unit.redundant |= *role == ROLE_REDUNDANT;
    }
  }
  for (uint32_t k = 0; k < unit.columns; k++) unit.start[k] = run->y[unit.positions[k]];
  return unit;
}

static void free_unit(InitialSteps *run, InitialUnit *unit) {
  heap_free_all(run->heap, unit->role, unit->weight, unit->start);
}

static void restart(InitialSteps *run, const InitialUnit *unit) {
  for (uint32_t k = 0; k < unit->columns; k++) run->y[unit->positions[k]] = unit->start[k];
}

/* The starting point of an attempt, in units of nominal. The first two rounds of guesses begin at the start values; the
 * third begins at 0, for start values that are too far off. The first round moves only default start values. The other
 * rounds also move start values that were given, and use careful steps. */
static const double GUESS[] = {0, 1, -1, 0.1, 10}, BETWEEN_BOUNDS[] = {0, 0.5, 0.25, 0.75, 0.95};
enum { GUESSES = sizeof GUESS / sizeof *GUESS, ATTEMPTS = 3 * GUESSES };

/* false: this attempt moves nothing. Columns move differently, because equal guesses may be singular. */
static bool guess(InitialSteps *run, const InitialUnit *unit, int attempt) {
  bool any = attempt % GUESSES == 0, from_zero = attempt >= 2 * GUESSES;
  for (uint32_t k = 0; k < unit->columns; k++) {
    uint32_t q = unit->positions[k];
    const InitialColumn *column = &run->columns[q];
    run->y[q] = unit->start[k];
    if (unit->weight[k] == 0 || (attempt % GUESSES == 0 && !from_zero) || (column->given && attempt < GUESSES))
      continue;
    double value = (from_zero ? 0 : unit->start[k]) +
                   GUESS[attempt % GUESSES] * run->system->nominal[q] * (1 - 0.3 * spread_part(k + 1));
    double width = column->max - column->min, size = run->system->nominal[q] + fabs(unit->start[k]);
    bool between =
        attempt >= GUESSES && !from_zero && width * DBL_EPSILON < size; /* wider bounds give no information */
    if (between) value = column->min + BETWEEN_BOUNDS[attempt % GUESSES] * width;
    run->y[q] = fmin(fmax(value, column->min), column->max);
    any = true;
  }
  return any;
}

/* The cost of a solution of the unit: 0 if start values are near, otherwise their distance; more beyond min and max. */
static const double FORBIDDEN = 1e100;

static double unit_cost(const InitialSteps *run, const InitialUnit *unit) {
  double squares = 0;
  bool far = false, forbidden = false;
  for (uint32_t k = 0; k < unit->columns; k++) {
    uint32_t q = unit->positions[k];
    const InitialColumn *column = &run->columns[q];
    if (unit->weight[k] == 0) continue;
    squares += steps_distance(column, run->system->nominal[q], run->y[q]);
    far |= steps_is_far(column, run->system->nominal[q], run->y[q]);
    forbidden |= column_excess(column, run->y[q]) > 0;
  }
  return forbidden ? FORBIDDEN + squares : far ? squares : 0;
}

/* ---- values that start values imply ---- */

/* The known values in a unit: given start values, values that rows give from them, and default start values if nothing
 * more follows. */
typedef struct KnownValues {
  InitialSteps *run;
  const InitialUnit *unit;
  bool *known, *used; /* per column and per row of the unit */
} KnownValues;

static bool is_open(const KnownValues *derivation, uint32_t q) { return !derivation->known[derivation->run->place[q]]; }

/* The only unknown column of a row; MAP_NONE: there are others, or none. */
static uint32_t find_only_open(const KnownValues *derivation, uint32_t row) {
  const Pattern *pattern = &derivation->run->order->pattern;
  uint32_t only = MAP_NONE, count = 0;
  for (int32_t e = pattern->row_start[row]; e < pattern->row_start[row + 1]; e++) {
    uint32_t q = (uint32_t)pattern->column[e];
    if (is_open(derivation, q)) only = q, count++;
  }
  return count == 1 ? only : MAP_NONE;
}

/* A row with only one unknown left gives that unknown if it is linear in it. */
static bool derive_columns(const KnownValues *derivation, bool *ok) {
  const InitialUnit *unit = derivation->unit;
  bool any = false;
  for (uint32_t r = 0; r < unit->count && *ok; r++) {
    uint32_t q = derivation->used[r] ? MAP_NONE : find_only_open(derivation, unit->rows[r]);
    if (q == MAP_NONE) continue;
    derivation->used[r] = true;
    if (!add_assignment(derivation->run, unit->rows[r], q, ok)) continue;
    derivation->known[derivation->run->place[q]] = any = true;
  }
  return any;
}

/* The unknown column that occurs in the largest number of remaining rows; it gets its default start value (tearing). MAP_NONE:
 * there is none. */
static uint32_t find_tearing(const KnownValues *derivation) {
  const InitialUnit *unit = derivation->unit;
  const Pattern *pattern = &derivation->run->order->pattern;
  uint32_t best = MAP_NONE, most = 0;
  uint32_t *count = heap_array(derivation->run->heap, unit->columns, sizeof *count);
  for (uint32_t r = 0; r < unit->count; r++)
    for (int32_t e = pattern->row_start[unit->rows[r]]; e < pattern->row_start[unit->rows[r] + 1]; e++)
      count[derivation->run->place[pattern->column[e]]] += !derivation->used[r];
  for (uint32_t k = 0; k < unit->columns; k++)
    if (!derivation->known[k] && count[k] > most) best = k, most = count[k];
  heap_free(derivation->run->heap, count);
  return best;
}

/* Computes default start values from the given ones if rows would be undefined at the defaults, such as 1/G at G = 0 if another
 * row gives G. */
static void derive_start(InitialSteps *run, const InitialUnit *unit) {
  Arena scratch = arena_make(run->heap);
  KnownValues derivation = {run, unit, arena_array(&scratch, unit->columns, sizeof(bool)),
                            arena_array(&scratch, unit->count, sizeof(bool))};
  bool ok = true;
  uint32_t failed = run->result.rows.count;
  for (uint32_t k = 0; k < unit->columns; k++)
    derivation.known[k] = unit->weight[k] == 0 || run->columns[unit->positions[k]].given;
  for (uint32_t torn = 0; ok && torn != MAP_NONE;) {
    while (derive_columns(&derivation, &ok)) continue;
    torn = ok ? find_tearing(&derivation) : MAP_NONE;
    if (torn != MAP_NONE) derivation.known[torn] = true;
  }
  flush(run);
  run->result.rows.count = failed;
  arena_free(&scratch);
}

static NonlinearRung higher_rung(NonlinearRung a, NonlinearRung b) { return a > b ? a : b; }

static PatchResult solve_from_guess(InitialSteps *run, InitialUnit *unit, int attempt) {
  if (!guess(run, unit, attempt)) return (PatchResult){0};
  patch_set_careful(unit->patch, attempt >= GUESSES);
  PatchResult part = patch_solve(unit->patch, run->t, run->y);
  if (!part.defined && attempt == 0) {
    derive_start(run, unit);
    part = patch_solve(unit->patch, run->t, run->y);
    part.rung = higher_rung(part.rung, RUNG_PROPAGATED);
  }
  if (attempt > 0) part.rung = higher_rung(part.rung, RUNG_GUESSES);
  run->result.iterations += part.iterations;
  if (!part.solved && run->mode == STEPS_CONTINUE && attempt < GUESSES) {
    guess(run, unit, attempt);
    part = patch_continue(unit->patch, run->t, run->y);
    run->result.iterations += part.iterations;
  }
  return part;
}

/* Weights for the columns of the unit; false: fewer may move than there are rows. */
static bool weigh(InitialSteps *run, InitialUnit *unit, StepsMove move) {
  uint32_t movable = 0;
  for (uint32_t k = 0; k < unit->columns; k++) {
    bool moves = unit->role[k] == ROLE_MATCHED || unit->role[k] == ROLE_MOVABLE;
    unit->weight[k] = moves ? steps_weight(run->system, run->columns, unit->positions[k], move) : 0;
    movable += unit->weight[k] > 0;
  }
  if (movable >= unit->count) patch_set_weights(unit->patch, unit->weight);
  return movable >= unit->count;
}

static void take(InitialSteps *run, const InitialUnit *unit, const double *values) {
  for (uint32_t k = 0; k < unit->columns; k++) run->y[unit->positions[k]] = values[k];
}

static void keep(const InitialSteps *run, const InitialUnit *unit, double *values) {
  for (uint32_t k = 0; k < unit->columns; k++) values[k] = run->y[unit->positions[k]];
}

/* ---- the nearest root between min and max ---- */

/* The scan goes from the start value in steps that grow, from an eighth of nominal to some hundred times nominal. */
static const double SCAN_STEP = 0.125, SCAN_GROWTH = 1.1;
enum { SCAN_STEPS = 60, SCAN_HALVINGS = 40 };

static double row_at(InitialSteps *run, const InitialUnit *unit, uint32_t q, double value) {
  uint32_t worst;
  run->y[q] = value;
  return isfinite(patch_residual(unit->patch, run->t, run->y, &worst)) ? patch_rows(unit->patch)[0] : NAN;
}

/* Solves between two values at which the row has different signs. */
static bool solve_between(InitialSteps *run, const InitialUnit *unit, uint32_t q, double a, double b) {
  double low = fmin(a, b), high = fmax(a, b);
  bool sign = row_at(run, unit, q, a) > 0;
  for (int k = 0; k < SCAN_HALVINGS; k++) {
    double middle = 0.5 * (a + b);
    if ((row_at(run, unit, q, middle) > 0) == sign) a = middle;
    else b = middle;
  }
  run->y[q] = 0.5 * (a + b);
  PatchResult result = patch_solve(unit->patch, run->t, run->y);
  run->result.iterations += result.iterations;
  return result.solved && run->y[q] >= low && run->y[q] <= high;
}

/* The first root on one side of the start value of a column, within min and max; NAN: none was found. */
static double scan_side(InitialSteps *run, const InitialUnit *unit, uint32_t q, double start, int side) {
  const InitialColumn *column = &run->columns[q];
  double at = fmin(fmax(start, column->min), column->max), row = row_at(run, unit, q, at);
  double step = side * SCAN_STEP * run->system->nominal[q];
  for (int k = 0; k < SCAN_STEPS && !isnan(row); k++, step *= SCAN_GROWTH) {
    double next = fmin(fmax(at + step, column->min), column->max), then = row_at(run, unit, q, next);
    if (next == at) return NAN;
    if ((row > 0) != (then > 0) && !isnan(then) && solve_between(run, unit, q, at, next)) return run->y[q];
    at = next;
    row = then;
  }
  return NAN;
}

/* For one row and one unknown, if guesses led beyond min or max: the nearest root between them is the first change of sign. */
static bool scan_allowed(InitialSteps *run, const InitialUnit *unit) {
  uint32_t k = 0;
  while (k < unit->columns && unit->weight[k] == 0) k++;
  for (uint32_t other = k + 1; other < unit->columns; other++)
    if (unit->weight[other] > 0) return false;
  if (unit->count != 1 || k == unit->columns) return false;
  uint32_t q = unit->positions[k];
  double start = unit->start[k], found = run->y[q];
  double up = scan_side(run, unit, q, start, 1), down = scan_side(run, unit, q, start, -1);
  double nearest = isnan(up) || fabs(down - start) < fabs(up - start) ? down : up;
  run->y[q] = isnan(nearest) ? found : nearest;
  return !isnan(nearest);
}

/* Makes one attempt after another until a solution fits; linear equations have only one. If a solution is far away, the careful
 * attempt from the same place may find a nearer one. */
static bool attempt(InitialSteps *run, InitialUnit *unit, StepsMove move) {
  if (!weigh(run, unit, move)) return false;
  NonlinearRung rung = RUNG_START;
  double best = HUGE_VAL, *found = heap_array(run->heap, unit->columns, sizeof *found);
  for (int a = 0; a < ATTEMPTS && best > 0; a++) {
    if (best < FORBIDDEN && a != GUESSES) continue;
    PatchResult part = solve_from_guess(run, unit, a);
    if (!part.solved) continue;
    bool linear = part.linear;
    part.iterations = 0;
    if (move != MOVE_OTHERS) patch_approach(unit->patch, run->t, unit->start, run->y, &part);
    run->result.iterations += part.iterations;
    double cost = unit_cost(run, unit);
    if (!linear && cost >= FORBIDDEN && best == HUGE_VAL && scan_allowed(run, unit)) cost = 0;
    if (linear && cost < FORBIDDEN) cost = 0;
    if (cost >= best) continue;
    best = cost;
    rung = part.rung;
    keep(run, unit, found);
  }
  if (best < HUGE_VAL) take(run, unit, found), run->result.rung = higher_rung(run->result.rung, rung);
  unit->is_nearest = move != MOVE_OTHERS;
  heap_free(run->heap, found);
  patch_set_careful(unit->patch, false);
  return best < HUGE_VAL;
}

/* Is there a start value that has a weight only with MOVE_ALIKE? */
static bool has_uncounted(const InitialSteps *run, const InitialUnit *unit) {
  for (uint32_t k = 0; k < unit->columns; k++) {
    const InitialColumn *column = &run->columns[unit->positions[k]];
    if (unit->weight[k] > 0 && column->given && !column->low) return true;
  }
  return false;
}

static double unit_distance(const InitialSteps *run, const InitialUnit *unit) {
  double squares = 0;
  for (uint32_t k = 0; k < unit->columns; k++) {
    uint32_t q = unit->positions[k];
    squares += unit->weight[k] > 0 ? steps_distance(&run->columns[q], run->system->nominal[q], run->y[q]) : 0;
  }
  return squares;
}

/* Did a column that can be kept move? */
static bool gave_way(const InitialSteps *run, const InitialUnit *unit) {
  for (uint32_t k = 0; k < unit->columns; k++) {
    uint32_t q = unit->positions[k];
    bool moved = steps_gave_way(&run->columns[q], run->system->nominal[q], run->y[q]);
    if (unit->weight[k] > 0 && moved) return true;
  }
  return false;
}

/* Moves start values that could be kept, because no solution was found that keeps them. The kept values may allow no values for the
 * other columns, even if there are enough of these. Then the point where they move least is singular, as on the flat part of
 * tanh(y) or at the top of sin(y), and all given values have equal weight. */
static bool move_given(InitialSteps *run, InitialUnit *unit, bool enough) {
  bool found = attempt(run, unit, MOVE_STATES_LAST);
  if (!has_uncounted(run, unit) || (found && !(enough && gave_way(run, unit)))) return found;
  double away = found ? unit_distance(run, unit) : HUGE_VAL;
  double *first = heap_array(run->heap, unit->columns, sizeof *first);
  keep(run, unit, first);
  bool nearer = attempt(run, unit, MOVE_ALIKE) && unit_distance(run, unit) < away;
  if (found && !nearer) {
    take(run, unit, first);
    weigh(run, unit, MOVE_STATES_LAST);
  }
  heap_free(run->heap, first);
  return found || nearer;
}

/* Too many fixed values in a unit: they must agree within the tolerance; then all of them move as little as possible. */
static bool settle_redundant(InitialSteps *run, InitialUnit *unit) {
  uint32_t worst, redundant = MAP_NONE, free = 0;
  for (uint32_t k = 0; k < unit->columns; k++) {
    uint32_t q = unit->positions[k];
    bool moves = unit->role[k] == ROLE_MATCHED || unit->role[k] == ROLE_MOVABLE;
    if (unit->role[k] == ROLE_REDUNDANT && redundant == MAP_NONE) redundant = q;
    unit->weight[k] = moves ? steps_weight(run->system, run->columns, q, MOVE_STATES_LAST) : 0;
    free += unit->weight[k] > 0;
  }
  patch_set_weights(unit->patch, unit->weight);
  if (free) run->result.iterations += patch_solve(unit->patch, run->t, run->y).iterations;
  double residual = patch_residual(unit->patch, run->t, run->y, &worst);
  bool agree = residual <= run->tolerance;
  run->result.disagreement = patch_rows(unit->patch)[worst];
  run->result.row = unit->rows[worst];
  for (uint32_t k = 0; k < unit->columns; k++)
    if (unit->role[k] == ROLE_REDUNDANT || (agree && unit->role[k] == ROLE_PEER)) unit->weight[k] = 1;
  patch_set_weights(unit->patch, unit->weight);
  PatchResult part = patch_solve(unit->patch, run->t, run->y);
  if (agree && part.solved) patch_approach(unit->patch, run->t, unit->start, run->y, &part);
  run->result.iterations += part.iterations;
  unit->is_nearest = true;
  if (agree && part.solved) return true;
  run->result.conflict = true;
  run->result.column = redundant;
  run->result.wanted = part.solved ? run->y[redundant] : NAN;
  restart(run, unit);
  return false;
}

/* The range of a search for unknowns without bounds, relative to nominal and start value. */
static const double SEARCHED = 1e3;

/* With few unknowns, if nothing was found: searches all solutions between min and max by intervals. If the search finds
 * none, that is a proof that there is none. */
static bool search_box(InitialSteps *run, InitialUnit *unit) {
  Proof proof = {0};
  if (unit->count > ENCLOSE_LIMIT || !run->system->encloses || run->mode != STEPS_NEAREST ||
      !weigh(run, unit, MOVE_STATES_LAST))
    return false;
  restart(run, unit);
  for (uint32_t k = 0; k < unit->columns; k++) {
    const InitialColumn *column = &run->columns[unit->positions[k]];
    double far = SEARCHED * (run->system->nominal[unit->positions[k]] + fabs(unit->start[k]));
    if (unit->weight[k] == 0) continue;
    if (proof.count == ENCLOSE_LIMIT) return false;
    Interval box = {fmax(column->min, unit->start[k] - far), fmin(column->max, unit->start[k] + far)};
    if (!(box.low < box.high)) return false;
    proof.column[proof.count] = unit->positions[k];
    proof.box[proof.count++] = box;
  }
  if (proof.count != unit->count) return false;
  EncloseEnd end = enclose_search(run->system, unit->patch, proof.column, proof.box, run->t, run->y);
  if (end == ENCLOSE_NONE) run->result.proof = proof;
  if (end != ENCLOSE_FOUND) return false;
  run->result.rung = higher_rung(run->result.rung, RUNG_INTERVALS);
  unit->is_nearest = true;
  return true;
}

static bool solve_unit(InitialSteps *run, InitialUnit *unit) {
  if (unit->redundant && run->mode != STEPS_KEEP) return settle_redundant(run, unit);
  if (unit->redundant) {
    for (uint32_t k = 0; k < unit->columns; k++)
      unit->weight[k] = unit->role[k] == ROLE_KNOWN ? 0 : 1; /* no peers here */
    patch_set_weights(unit->patch, unit->weight);
    return patch_solve(unit->patch, run->t, run->y).solved;
  }
  if (run->mode == STEPS_KEEP) return attempt(run, unit, MOVE_STATES_LAST);
  if (attempt(run, unit, MOVE_OTHERS)) return true;
  return move_given(run, unit, weigh(run, unit, MOVE_OTHERS)) || search_box(run, unit);
}

static bool run_unit(InitialSteps *run, const uint32_t *rows, const int32_t *columns, uint32_t count, uint32_t stamp) {
  bool ok = true;
  for (uint32_t k = 0; k < count; k++) run->unit_of_row[rows[k]] = stamp;
  bool movable = false; /* a column other than the matched one may move */
  if (count == 1 && run->mode != STEPS_KEEP) {
    const Pattern *pattern = &run->order->pattern;
    for (int32_t e = pattern->row_start[rows[0]]; e < pattern->row_start[rows[0] + 1] && !movable; e++)
      movable = !run->done[pattern->column[e]] &&
                order_may_move(run->system, run->columns, run->order, rows[0], (uint32_t)pattern->column[e]);
  }
  bool single = count == 1 && !movable && !run->columns[columns[0]].fixed;
  if (single && add_assignment(run, rows[0], (uint32_t)columns[0], &ok)) {
    if (run->system->trace) {
      trace_rows(run, rows, 1, false);
      trace_column(run, (uint32_t)columns[0], 1);
    }
    return ok;
  }
  if (!flush(run)) return false;
  InitialUnit unit = make_unit(run, rows, count, stamp);
  ok = solve_unit(run, &unit);
  if (ok) trace_unit(run, &unit);
  else {
    restart(run, &unit);
    set_failed_rows(run, rows, count);
  }
  for (uint32_t k = 0; k < unit.columns; k++)
    if (unit.role[k] != ROLE_KNOWN) run->done[unit.positions[k]] = true;
  free_unit(run, &unit);
  return ok;
}

StepsResult steps_run(InitialSystem *system, const InitialColumn *columns, const Order *order, StepsMode mode, double t,
                      double tolerance, double *y) {
  Heap *heap = system->heap;
  Arena scratch = arena_make(heap);
  InitialSteps run = {.system = system,
                      .heap = heap,
                      .columns = columns,
                      .order = order,
                      .mode = mode,
                      .t = t,
                      .tolerance = tolerance,
                      .y = y};
  run.done = arena_array(&scratch, system->columns, sizeof *run.done);
  run.results = arena_array(&scratch, FUSE_LIMIT, sizeof *run.results);
  run.unit_of_row = arena_array(&scratch, system->rows, sizeof *run.unit_of_row);
  run.place = arena_array(&scratch, system->columns, sizeof *run.place);
  Blocks units = order_units(system, columns, order, mode != STEPS_KEEP, &scratch);
  run.result.solved = true;
  for (int32_t b = 0; b < units.n_blocks && run.result.solved; b++) {
    int32_t begin = units.start[b];
    run.result.solved = run_unit(&run, (const uint32_t *)units.row + begin, units.column + begin,
                                 (uint32_t)(units.start[b + 1] - begin), (uint32_t)b + 1);
  }
  if (run.result.solved) run.result.solved = flush(&run);
  vec_free(heap, &run.leaves, &run.values, &run.targets, &run.sources, &run.words);
  arena_free(&scratch);
  return run.result;
}
