/* preferences: see preferences.h. */
#include "reduce/preference.h"

#include "structure/pattern.h"

#include <math.h>

/* The weight of a column as a dummy, by stateSelect: a preferred state becomes a dummy late. */
static const double SELECT_WEIGHT[] = {
    [SELECT_NEVER] = 1e4, [SELECT_AVOID] = 1e2, [SELECT_DEFAULT] = 1, [SELECT_PREFER] = 1e-2, [SELECT_ALWAYS] = 1e-4};

static double select_weight(const Evaluator *evaluator, int32_t unknown) {
  const Model *model = evaluator->model;
  uint32_t variable = model->unknowns.data[evaluator->array->problem->unknown[unknown]];
  return SELECT_WEIGHT[model->variables.data[variable].select];
}

/* ---- must they be bounded? ---- */

/* The largest factor by which state preferences multiply a weight, in units of the allowed error of a column. Errors of
 * states reach the other columns through the matrix that decides the choice of states. */
static const double STRONGEST_WISH = 10;

/* The power of the weights by stateSelect if no preference can make the matrix singular: then stateSelect decides alone. */
static const double STRICT = 4;

/* Least and largest values of the columns that may be states. */
typedef struct PreferenceRange {
  double least, most;
} PreferenceRange;

static PreferenceRange range_with(PreferenceRange range, double value) {
  return (PreferenceRange){fmin(range.least, value), fmax(range.most, value)};
}

static bool may_be_state(const Evaluator *evaluator, const BlockShape *shape, int32_t p) {
  return evaluator->array->d[shape->unknown[p]] > 0;
}

static bool is_wide(PreferenceRange range) { return range.most > STRONGEST_WISH * range.least; }

static bool is_constant(const Dag *dag, Expr entry) {
  static const Op moving[] = {OP_VARIABLE, OP_TIME, OP_DISCRETE, OP_PRE};
  for (size_t k = 0; k < sizeof moving / sizeof *moving; k++)
    if (dag_depends(dag, entry, moving[k])) return false;
  return true;
}

/* The rows by which dummies are chosen, while they are solved one by one. */
typedef struct DummyRows {
  const Dag *dag;
  const BlockShape *shape;
  Pattern pattern, columns; /* the pattern by rows, and by columns */
  bool *is_open;            /* per column: neither preferred as a state nor solved for yet */
  bool *is_solved;          /* per row */
  int32_t *open;            /* per row: how many of its columns are open */
} DummyRows;

/* The entry of a row in an open column from entry e on; the end of the row: there is none. */
static int32_t open_entry(const DummyRows *rows, int32_t row, int32_t e) {
  while (e < rows->pattern.row_start[row + 1] && !rows->is_open[rows->pattern.column[e]]) e++;
  return e;
}

static void count_open(DummyRows *rows) {
  for (int32_t i = 0; i < rows->pattern.n_rows; i++)
    for (int32_t e = rows->pattern.row_start[i]; e < rows->pattern.row_start[i + 1]; e++)
      rows->open[i] += rows->is_open[rows->pattern.column[e]];
}

/* Solves each row that has one open column left, with a constant entry, for that column. `queue` has room for all rows. */
static void solve_rows(DummyRows *rows, int32_t *queue) {
  int32_t count = 0;
  for (int32_t i = 0; i < rows->pattern.n_rows; i++)
    if (rows->open[i] == 1) queue[count++] = i;
  while (count) {
    int32_t i = queue[--count];
    if (rows->open[i] != 1) continue;
    int32_t e = open_entry(rows, i, rows->pattern.row_start[i]), column = rows->pattern.column[e];
    if (!is_constant(rows->dag, rows->shape->roots[e])) continue;
    rows->is_solved[i] = true;
    rows->is_open[column] = false;
    for (int32_t k = rows->columns.row_start[column]; k < rows->columns.row_start[column + 1]; k++)
      if (--rows->open[rows->columns.column[k]] == 1) queue[count++] = rows->columns.column[k];
  }
}

/* Do the remaining rows have open columns, with constant entries in all of them? */
static bool rest_is_constant(const DummyRows *rows) {
  for (int32_t i = 0; i < rows->pattern.n_rows; i++) {
    if (rows->is_solved[i]) continue;
    int32_t e = open_entry(rows, i, rows->pattern.row_start[i]), end = rows->pattern.row_start[i + 1];
    if (e == end) return false;
    for (; e < end; e = open_entry(rows, i, e + 1))
      if (!is_constant(rows->dag, rows->shape->roots[e])) return false;
  }
  return true;
}

/* Is the matrix regular for all values if the columns that stateSelect prefers least become dummies? */
static bool are_always_regular(const Evaluator *evaluator, const BlockShape *shape, double least_preferred) {
  Arena arena = arena_make(evaluator->heap);
  DummyRows rows = {.dag = evaluator->array->dag, .shape = shape};
  rows.pattern = (Pattern){shape->stage_rows[1], shape->size, shape->row_start, shape->column};
  rows.columns = pattern_transpose(&arena, &rows.pattern);
  rows.is_open = arena_array(&arena, (size_t)shape->size, sizeof(bool));
  rows.is_solved = arena_array(&arena, (size_t)shape->size, sizeof(bool));
  rows.open = index_zeros(&arena, shape->size);
  for (int32_t p = 0; p < shape->size; p++)
    rows.is_open[p] =
        may_be_state(evaluator, shape, p) && select_weight(evaluator, shape->unknown[p]) >= least_preferred;
  count_open(&rows);
  solve_rows(&rows, index_zeros(&arena, shape->size));
  bool is_regular = rest_is_constant(&rows);
  arena_free(&arena);
  return is_regular;
}

bool preference_of_block(const Evaluator *evaluator, const BlockShape *shape, double *preference) {
  PreferenceRange selects = {INFINITY, 0}, weights = {INFINITY, 0};
  for (int32_t p = 0; p < shape->size; p++) {
    double select = select_weight(evaluator, shape->unknown[p]);
    preference[p] = select * evaluator->nominal[evaluator->array->column_start[shape->unknown[p]]];
    if (!may_be_state(evaluator, shape, p)) continue;
    selects = range_with(selects, select);
    weights = range_with(weights, preference[p]);
  }
  if (!shape->stages || !(is_wide(weights) || is_wide(selects))) return false;
  bool is_bounded = is_wide(selects) && !are_always_regular(evaluator, shape, selects.most / STRONGEST_WISH);
  double power = is_bounded ? log(STRONGEST_WISH) / log(selects.most / selects.least) : STRICT; /* keeps their order */
  for (int32_t p = 0; p < shape->size; p++) preference[p] = pow(select_weight(evaluator, shape->unknown[p]), power);
  return true;
}

/* ---- preferred columns ---- */

/* Adds the columns of the model's variables with this stateSelect. */
static void add_selected(Heap *heap, const Array *array, StateSelect select, uint8_t *seen, IndexVec *columns) {
  const Aliases *aliases = &array->problem->aliases;
  const Model *model = array->problem->model;
  for (uint32_t u = 0; u < model->unknowns.count; u++) {
    if (model->variables.data[model->unknowns.data[u]].select != select) continue;
    uint32_t root = aliases->removed ? aliases->root[u] : u, shift = aliases->removed ? aliases->shift[u] : 0;
    uint32_t j = root == UINT32_MAX ? MAP_NONE : array->problem->local[root];
    if (j == MAP_NONE || (int32_t)shift > array->d[j]) continue;
    uint32_t q = array->column_start[j] + shift;
    if (!seen[q]) vec_push(heap, columns, q);
    seen[q] = 1;
  }
}

IndexVec preference_columns(Heap *heap, const Array *array) {
  IndexVec columns = {0};
  uint8_t *seen = heap_array(heap, array->columns, 1);
  add_selected(heap, array, SELECT_ALWAYS, seen, &columns);
  add_selected(heap, array, SELECT_PREFER, seen, &columns);
  heap_free(heap, seen);
  return columns;
}
