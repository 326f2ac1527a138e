/* strangeness: see strangeness.h. */
#include "reduce/strangeness.h"

#include "array/kink_modes.h"
#include "reduce/method.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUND_LIMIT = 20 };

static const double RANK_TOLERANCE =
    1e-9; /* relative to the largest singular value of the scaled Jacobian, if none is given */

double strangeness_tolerance(const MethodOptions *options) {
  return options->rank_tolerance > 0 ? options->rank_tolerance : RANK_TOLERANCE;
}

bool strangeness_is_x(const Strangeness *strangeness, uint32_t column) {
  const Array *array = strangeness->array;
  return (int32_t)array_order(array, column) < strangeness->first[array->column_unknown[column]];
}

bool strangeness_is_rate(const Strangeness *strangeness, uint32_t column) {
  const Array *array = strangeness->array;
  return (int32_t)array_order(array, column) == strangeness->first[array->column_unknown[column]];
}

static void count_columns(Strangeness *strangeness) {
  const Problem *problem = &strangeness->problem;
  strangeness->first = problem_orders(problem, strangeness->arena);
  strangeness->size = 0;
  for (uint32_t j = 0; j < problem->unknowns; j++) {
    if (!strangeness->first[j]) strangeness->first[j] = 1;
    strangeness->size += strangeness->first[j];
  }
}

/* Room for a selection. */
static void make_selection(Strangeness *strangeness) {
  Heap *heap = strangeness->heap;
  strangeness->row = heap_array(heap, strangeness->array->rows, sizeof(int32_t));
  strangeness->held = heap_array(heap, strangeness->array->columns, sizeof(bool));
  strangeness->from = heap_array(heap, strangeness->array->columns, sizeof(int32_t));
  strangeness->to = heap_array(heap, strangeness->array->columns, sizeof(int32_t));
}

static int compare_values(const void *a, const void *b) {
  double first = *(const double *)a, second = *(const double *)b;
  return (first < second) - (first > second);
}

static void add_values(SingularValues *values, const double *value, int32_t count, int32_t rank) {
  if (count) memcpy(values->value + values->count, value, (size_t)count * sizeof *value);
  values->count += count;
  values->rank += rank;
}

static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

static void keep_singular_values(Strangeness *strangeness, const Ranks *ranks) {
  size_t most = strangeness->array->rows;
  SingularValues all = {.value = arena_array(strangeness->arena, most, sizeof(double))},
                 high = {.value = arena_array(strangeness->arena, most, sizeof(double))};
  for (uint32_t p = 0; p < ranks->count; p++) {
    const PartRanks *part = &ranks->part[p];
    add_values(&all, part->values, smaller(part->part->rows, part->part->columns), part->all);
    add_values(&high, part->w.s, smaller(part->part->rows, part->w_count), part->high);
  }
  qsort(all.value, (size_t)all.count, sizeof(double), compare_values);
  qsort(high.value, (size_t)high.count, sizeof(double), compare_values);
  strangeness->all = all;
  strangeness->high = high;
}

bool strangeness_fits(const Strangeness *strangeness, const RankParts *parts, Diags *diags) {
  const RankPart *largest = rank_parts_largest(parts);
  if (!largest || largest->columns <= STRANGENESS_COLUMNS) return true;
  if (diags)
    diag_error(diags, DIAG_METHOD_UNFIT, (Span){0},
               "a block of the derivative array has %d rows and %d columns, of %s among others: method strangeness "
               "decides ranks of up to %d columns; use another method",
               (int)largest->rows, (int)largest->columns,
               array_column_name(strangeness->array, largest->column[0], strangeness->arena), STRANGENESS_COLUMNS);
  return false;
}

/* ---- the reduced array ---- */

void strangeness_copy_selection(Strangeness *strangeness, Heap *heap) {
  size_t rows = strangeness->array->rows, columns = strangeness->array->columns;
  strangeness->row = heap_copy(heap, strangeness->row, rows, sizeof(int32_t));
  strangeness->held = heap_copy(heap, strangeness->held, columns, sizeof(bool));
  strangeness->from = heap_copy(heap, strangeness->from, columns, sizeof(int32_t));
  strangeness->to = heap_copy(heap, strangeness->to, columns, sizeof(int32_t));
}

Strangeness strangeness_run(const Strangeness *strangeness, Heap *heap, Arena *arena, Diags *diags) {
  Strangeness run = *strangeness;
  size_t columns = run.array->columns;
  run.heap = heap;
  run.arena = arena;
  run.diags = diags;
  run.evaluator = evaluator_new(heap, run.code, strangeness->evaluator->parameters);
  evaluator_copy_leaves(run.evaluator, strangeness->evaluator);
  run.y = heap_copy(heap, strangeness->y, columns, sizeof(double));
  strangeness_copy_selection(&run, heap);
  return run;
}

/* Do the rows determine the columns that cannot be states? Structural analysis covers all branches and may be wrong about the
 * active ones. If the rows fail at this point but determine the columns near it, structural analysis is right and the point is
 * singular: the run stops there and says so. */
static bool determines_last(const Strangeness *strangeness, const Ranks *here, double t, const double *y,
                            Arena *scratch) {
  Ranks ranks;
  if (strangeness_determines_last(strangeness, here, scratch)) return true;
  double *near = arena_copy_array(scratch, y, strangeness->array->columns, sizeof *near);
  return strangeness_generic(strangeness, GENERIC_NEAREST, &t, near) &&
         strangeness_ranks(strangeness, t, near, scratch, &ranks) &&
         strangeness_determines_last(strangeness, &ranks, scratch);
}

/* Do ranks confirm the structural analysis at a point near y? If so, and if they do not confirm it at y itself, y is an
 * isolated singular point such as a fold. The nearest point may be singular as well, like x = y = 0 for x^2 = y^2; then a
 * point with other fixed values is searched for. */
static bool is_right_near(const Strangeness *strangeness, Generic generic, double t, const double *y, Arena *scratch) {
  Ranks ranks;
  double *near = arena_copy_array(scratch, y, strangeness->array->columns, sizeof *near);
  return strangeness_generic(strangeness, generic, &t, near) &&
         strangeness_ranks(strangeness, t, near, scratch, &ranks) && ranks.all == (int32_t)strangeness->array->rows &&
         ranks.high == ranks.w_count && strangeness_determines_last(strangeness, &ranks, scratch);
}

/* The coarse blocks: no row of one contains unknowns of a later one, so ranks that are full in every block are full for the
 * whole. */
static RankParts coarse_parts(const Array *array, const Blocks *coarse, Arena *arena) {
  uint32_t *of_row = arena_array(arena, array->rows, sizeof *of_row),
           *of_column = arena_array(arena, array->columns, sizeof *of_column);
  for (uint32_t i = 0; i < array->rows; i++) of_row[i] = (uint32_t)coarse->block_of_row[array->row_equation[i]];
  for (uint32_t q = 0; q < array->columns; q++)
    of_column[q] = (uint32_t)coarse->block_of_column[array->column_unknown[q]];
  return rank_parts_list(of_row, array->rows, of_column, array->columns, (uint32_t)coarse->n_blocks, arena);
}

/* Uses the array of the structural offsets, with its consistent point, if its ranks confirm the structural analysis. For this, its
 * rows must be independent and determine every column of w. With branches, they must also determine every column of x that cannot
 * be a state. false, silently: the ranks do not confirm it, or the array is too large. O(columns^3) of each block. */
static bool strangeness_reduce(Strangeness *strangeness, ArrayCode *code, const Structure *structure,
                               Evaluator *evaluator, const double *y, double t) {
  Array *array = code->array;
  Blocks coarse = structure_coarse(strangeness->arena, &array->problem->incidence, structure);
  strangeness->parts = coarse_parts(array, &coarse, strangeness->arena);
  if (!strangeness_fits(strangeness, &strangeness->parts, NULL)) return false;
  Arena scratch = arena_make(strangeness->heap);
  Ranks ranks;
  strangeness->array = array;
  strangeness->code = code;
  strangeness->evaluator = evaluator;
  strangeness->reduced = true;
  count_columns(strangeness);
  bool ok = strangeness_ranks(strangeness, t, y, &scratch, &ranks) && ranks.all == (int32_t)array->rows &&
            ranks.high == ranks.w_count && determines_last(strangeness, &ranks, t, y, &scratch);
  if (ok) {
    strangeness->a = strangeness->solved = ranks.all - ranks.high;
    strangeness->d = strangeness->size - strangeness->a;
    /* The uniform array has rows of stages above 0, which this array does not have. They determine only the columns of their own
     * stage (array.h). So the constraints of level l of the uniform array are given by the rows up to level l here. */
    strangeness->mu = strangeness_constraint_level(strangeness, &ranks, t, y);
    keep_singular_values(strangeness, &ranks);
    strangeness->y = heap_copy(strangeness->heap, y, array->columns, sizeof(double));
    make_selection(strangeness);
    ok = strangeness_select(strangeness, t, y);
  }
  strangeness->is_isolated = !ok && (is_right_near(strangeness, GENERIC_NEAREST, t, y, &scratch) ||
                                     is_right_near(strangeness, GENERIC_FIXED, t, y, &scratch));
  arena_free(&scratch);
  return ok;
}

/* Replaces the selected states by those that dummy derivatives would leave, if these are columns of x. A choice by block and stage
 * keeps positions and velocities apart. Ranks alone may choose velocities instead of positions. */
static void use_staged_states(Strangeness *strangeness, Dummy *dummy, double t) {
  int32_t block;
  const int32_t *from, *to;
  if (!dummy_select(dummy, t, strangeness->y, &block)) return;
  int32_t count = (int32_t)dummy_links(dummy, &from, &to);
  bool taken = count == strangeness->links;
  for (int32_t k = 0; k < count && taken; k++) taken = strangeness_is_x(strangeness, (uint32_t)from[k]);
  for (int32_t k = 0; k < count && taken; k++) {
    strangeness->from[k] = from[k];
    strangeness->to[k] = from[k] + 1;
  }
  strangeness->staged = taken;
}

/* ---- the uniform array ---- */

static double start_value(const Strangeness *strangeness, uint32_t unknown) {
  Model *model = strangeness->problem.model;
  uint32_t position = model->unknowns.data[strangeness->problem.unknown[unknown]];
  const Variable *variable = &model->variables.data[position];
  double value = 0;
  if (strangeness->start && !isnan(strangeness->start[position])) return strangeness->start[position];
  if (variable->start != EXPR_NONE &&
      !model_evaluate(model, dag_scratch(model->dag), variable->start, strangeness->parameters, &value))
    value = 0;
  return value;
}

double strangeness_known(const Strangeness *strangeness, uint32_t unknown, uint32_t order) {
  uint32_t count = strangeness->known.y ? strangeness->known.evaluator->model->unknowns.count : 0;
  if (strangeness->problem.unknown[unknown] >= count) return NAN; /* an added one */
  return evaluator_value(strangeness->known.evaluator, strangeness->known.y, strangeness->problem.unknown[unknown],
                         order);
}

/* The first value of a column: its value in the previous array or in the structural initialization, or its start value. */
static double first_value(const Strangeness *strangeness, const Array *before, const double *value, uint32_t unknown,
                          uint32_t order) {
  uint32_t column = before ? before->column_start[unknown] + order : 0;
  if (before && column < before->column_start[unknown + 1]) return value[column];
  double known = strangeness_known(strangeness, unknown, order);
  if (!isnan(known)) return known;
  return order ? 0 : start_value(strangeness, unknown);
}

/* Makes the evaluator of the array, with the discrete values and the parameters found so far. */
static void make_evaluator(Strangeness *strangeness) {
  const Evaluator *before = strangeness->evaluator;
  Evaluator *evaluator = strangeness->evaluator =
      evaluator_new(strangeness->heap, strangeness->code, before ? before->parameters : strangeness->parameters);
  strangeness->switches = switches_new(strangeness->heap, evaluator);
  if (before) evaluator_copy_leaves(evaluator, before);
}

/* Discrete variables begin at their start values, and modes with the values of their relations at the start values. */
static void start_modes(Strangeness *strangeness, double t) {
  Switches *switches = strangeness->switches;
  if (!switches) return;
  if (switches->decisions) decisions_start(switches->decisions, strangeness->start);
  switching_guess(&switches->switching, t, strangeness->y);
}

void strangeness_make_array(Strangeness *strangeness, double t, const int32_t *c, const int32_t *d) {
  const Problem *problem = &strangeness->problem;
  const Array *before = strangeness->array;
  const double *value = strangeness->y;
  bool is_first = !strangeness->evaluator;
  Array *array = strangeness->array = arena_alloc(strangeness->arena, sizeof(Array));
  *array = array_make(problem, c, d, strangeness->arena);
  strangeness->code = array_code_new(strangeness->heap, array, strangeness->modes);
  make_evaluator(strangeness);
  const Jacobian *jacobian = strangeness->evaluator->jacobian;
  strangeness->parts = rank_parts_connected(array->rows, array->columns, jacobian->column_start, jacobian->row_index,
                                            strangeness->arena);
  strangeness->y = heap_array(strangeness->heap, array->columns, sizeof(double));
  for (uint32_t q = 0; q < array->columns; q++)
    strangeness->y[q] = first_value(strangeness, before, value, array->column_unknown[q], array_order(array, q));
  if (is_first) start_modes(strangeness, t);
}

/* The discrete values found become those of the start. false: an error is in diags. */
static bool end_modes(Strangeness *strangeness, double t) {
  Decisions *decisions = strangeness->switches ? strangeness->switches->decisions : NULL;
  if (!decisions) return true;
  if (!decisions_defined(decisions, t, DIAG_INIT, strangeness->diags)) return false;
  strangeness->discrete_starts = heap_copy(strangeness->heap, strangeness->evaluator->pre,
                                           strangeness->problem.model->discretes.count, sizeof(double));
  decisions_started(decisions);
  return true;
}

/* Every equation differentiated `level` times. false: an error is in diags. */
static bool make_uniform(Strangeness *strangeness, double t, int32_t level) {
  const Problem *problem = &strangeness->problem;
  int32_t *c = arena_array(strangeness->arena, problem->equations, sizeof *c),
          *d = arena_array(strangeness->arena, problem->unknowns, sizeof *d);
  for (uint32_t i = 0; i < problem->equations; i++) c[i] = level;
  for (uint32_t j = 0; j < problem->unknowns; j++) d[j] = strangeness->first[j] + level;
  strangeness_make_array(strangeness, t, c, d);
  return strangeness_fits(strangeness, &strangeness->parts, strangeness->diags);
}

/* Raises the level until one more differentiation finds no more constraints. */
static bool raise_level(Strangeness *strangeness, double t, bool may_move) {
  int32_t before = -1;
  count_columns(strangeness);
  strangeness->array = NULL;
  for (int32_t level = 0; level <= STRANGENESS_LEVELS; level++) {
    if (!make_uniform(strangeness, t, level)) return false;
    if (!strangeness_find_point(strangeness, t, may_move)) return false;
    Arena scratch = arena_make(strangeness->heap);
    Ranks ranks;
    bool ok = strangeness_ranks(strangeness, t, strangeness->y, &scratch, &ranks);
    strangeness->a = ok ? ranks.all - ranks.high : 0;
    bool found = ok && level > 0 && strangeness->a == before;
    /* The point has moved, so the same number of constraints may be other constraints. */
    found = found && strangeness_constraints(strangeness, &ranks, level - 1) == before;
    if (found) {
      strangeness->open = arena_array(strangeness->arena, strangeness->problem.unknowns, sizeof(uint32_t));
      strangeness->u = strangeness_open(strangeness, &ranks, &scratch, strangeness->open);
      keep_singular_values(strangeness, &ranks);
    }
    arena_free(&scratch);
    before = strangeness->a;
    if (!found) continue;
    strangeness->solved = strangeness->a;
    strangeness->mu = level - 1;
    return true;
  }
  diag_error(strangeness->diags, DIAG_SINGULAR_JACOBIAN, (Span){0},
             "the strangeness index is above %d, or the ranks of the derivative array do not settle at the "
             "initial point",
             STRANGENESS_LEVELS - 1);
  return false;
}

/* If structural analysis was wrong about the equations, the known point is not consistent, and not the nearest to the start
 * values. It is used only if nothing is found from the start values. */
bool strangeness_find_level(Strangeness *strangeness, double t) {
  ArrayRun known = strangeness->known;
  Diags *diags = strangeness->diags, silent = diags_make(strangeness->heap);
  strangeness->diags = &silent;
  bool is_found = known.y && raise_level(strangeness, t, false);
  if (!is_found && known.y) {
    strangeness->known.y = NULL;
    is_found = raise_level(strangeness, t, true);
    strangeness->known = known;
  }
  strangeness->diags = diags;
  return is_found || raise_level(strangeness, t, true);
}

/* Offsets without the rows that are not needed at a generic point. false: no such point was found, or all rows are needed. */
static bool needed_offsets(const Strangeness *strangeness, double t, int32_t *c, int32_t *d) {
  const Array *array = strangeness->array;
  const Incidence *incidence = &strangeness->problem.incidence;
  Arena scratch = arena_make(strangeness->heap);
  Ranks ranks;
  double *y = arena_array(&scratch, array->columns, sizeof *y);
  bool *needed = arena_array(&scratch, array->rows, sizeof *needed), fewer = false;
  memcpy(y, strangeness->y, array->columns * sizeof *y);
  bool ok = strangeness_generic(strangeness, GENERIC_NEAREST, &t, y) &&
            strangeness_ranks(strangeness, t, y, &scratch, &ranks) && ranks.all - ranks.high == strangeness->solved;
  if (ok) {
    strangeness_needed(strangeness, &ranks, &scratch, needed);
    for (uint32_t i = 0; i < array->rows; i++)
      if (needed[i] && c[array->row_equation[i]] < (int32_t)array_level(array, i))
        c[array->row_equation[i]] = (int32_t)array_level(array, i);
    for (uint32_t j = 0; j < strangeness->problem.unknowns; j++) d[j] = strangeness->first[j];
    for (uint32_t i = 0; i < strangeness->problem.equations; i++) {
      fewer = fewer || c[i] < array->c[i];
      for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++)
        if (d[incidence->column[e]] < incidence->order[e] + c[i]) d[incidence->column[e]] = incidence->order[e] + c[i];
    }
  }
  arena_free(&scratch);
  return ok && fewer;
}

/* Do the rows of the array still give all constraints and determine x'? */
static bool is_sufficient(const Strangeness *strangeness, double t) {
  Arena scratch = arena_make(strangeness->heap);
  Ranks ranks;
  uint32_t *open = arena_array(&scratch, strangeness->problem.unknowns, sizeof *open);
  bool ok = strangeness_ranks(strangeness, t, strangeness->y, &scratch, &ranks) &&
            ranks.all - ranks.high == strangeness->solved && strangeness_open(strangeness, &ranks, &scratch, open) == 0;
  arena_free(&scratch);
  return ok;
}

/* Removes unneeded parts of the uniform array: rows of high levels, and the high derivatives that only they contain. */
static void shrink(Strangeness *strangeness, double t) {
  const Problem *problem = &strangeness->problem;
  int32_t *c = arena_array(strangeness->arena, problem->equations, sizeof *c),
          *d = arena_array(strangeness->arena, problem->unknowns, sizeof *d);
  Strangeness before = *strangeness;
  if (!needed_offsets(strangeness, t, c, d)) return;
  strangeness_make_array(strangeness, t, c, d);
  strangeness->shrunk = is_sufficient(strangeness, t);
  if (!strangeness->shrunk) *strangeness = before;
}

/* The value of an unknown at the consistent point. */
static double point_value(const Strangeness *strangeness, uint32_t unknown) {
  return strangeness->y[strangeness->array->column_start[unknown]];
}

static void report_free(const Strangeness *strangeness) {
  const Model *model = strangeness->problem.model;
  for (uint32_t k = 0; k < strangeness->free_count; k++) {
    const FreeUnknown *free = &strangeness->free[k];
    const char *name = model_name(model, model->unknowns.data[free->unknown]);
    if (name[0] == '$') continue; /* freedom_close made this unknown: the user did not write it */
    if (free->choice == FREE_HELD)
      diag_warning(strangeness->diags, DIAG_WARNING, (Span){0}, "the equations leave %s free: it is held at %.10g",
                   name, free->value);
    else
      diag_warning(strangeness->diags, DIAG_WARNING, (Span){0}, "the equations leave %s free: %s", name,
                   free->choice == FREE_NEAREST
                       ? "together with other free variables, it is as near to its start value as possible"
                       : "together with other free variables, it changes as slowly as possible");
  }
}

static void note_free(Strangeness *strangeness, uint32_t unknown, FreeChoice choice, double value) {
  strangeness->free[strangeness->free_count++] = (FreeUnknown){unknown, choice, value};
}

/* One equation for each free unknown. */
static void hold_free(Strangeness *strangeness) {
  Dag *dag = strangeness->problem.model->dag;
  for (int32_t k = 0; k < strangeness->u; k++) {
    uint32_t unknown = strangeness->problem.unknown[strangeness->open[k]];
    Expr value = dag_constant(dag, point_value(strangeness, strangeness->open[k]));
    note_free(strangeness, unknown, FREE_HELD, point_value(strangeness, strangeness->open[k]));
    strangeness->problem =
        problem_append(&strangeness->problem, dag_variable(dag, unknown, 0), value, strangeness->arena);
  }
}

/* The added variables have no start values. */
static void extend_starts(Strangeness *strangeness, uint32_t before) {
  uint32_t count = strangeness->problem.model->variables.count;
  if (!strangeness->start) return;
  double *start = arena_array(strangeness->arena, count, sizeof *start);
  for (uint32_t v = 0; v < count; v++) start[v] = v < before ? strangeness->start[v] : NAN;
  strangeness->start = start;
}

/* Adds equations for free unknowns, or for free derivatives, which no equation determines. No unknown
 * is held if others would have to grow because of that. Then a level is found again. */
static bool close_free(Strangeness *strangeness, double t, bool of_rates) {
  const Array *array = strangeness->array;
  const Problem *problem = &strangeness->problem;
  Freedom freedom;
  double near = t, *y = arena_copy_array(strangeness->arena, strangeness->y, array->columns, sizeof *y);
  int32_t *order = problem_orders(problem, strangeness->arena);
  bool *is_leaf = arena_array(strangeness->arena, problem->unknowns, sizeof *is_leaf);
  for (uint32_t j = 0; j < problem->unknowns; j++) is_leaf[j] = (order[j] > 0) == of_rates;
  if (!strangeness->u || !strangeness_generic(strangeness, GENERIC_NEAREST, &near, y) ||
      !freedom_find(strangeness, near, y, order, is_leaf, &freedom, strangeness->arena) ||
      (int32_t)(freedom.count - freedom.rank) > strangeness->u)
    return true;
  for (uint32_t k = 0; k < freedom.count; k++)
    note_free(strangeness, dag_index(strangeness->problem.model->dag, freedom.leaf[k]),
              of_rates ? FREE_SLOWEST : FREE_NEAREST, 0);
  uint32_t before = strangeness->problem.model->variables.count;
  strangeness->problem = freedom_close(&strangeness->problem, &freedom, NULL, strangeness->arena);
  extend_starts(strangeness, before);
  return strangeness_find_level(strangeness, t);
}

/* Characteristic values, point and selection for the current modes. */
static bool build_once(Strangeness *strangeness, double t) {
  uint32_t equations = strangeness->problem.equations;
  if (!strangeness_find_level(strangeness, t)) return false;
  int32_t mu = strangeness->mu, size = strangeness->size, a = strangeness->a, u = strangeness->u;
  SingularValues all = strangeness->all, high = strangeness->high;
  int32_t d = size - a - u, v = (int32_t)equations + size - (int32_t)strangeness->problem.unknowns - a - d;
  strangeness->free_count = 0;
  if (!close_free(strangeness, t, false) || !close_free(strangeness, t, true)) return false;
  bool is_held = strangeness->u > 0;
  hold_free(strangeness);
  if (is_held && !strangeness_find_level(strangeness, t)) return false;
  shrink(strangeness, t);
  make_selection(strangeness);
  if (!strangeness_select(strangeness, t, strangeness->y)) {
    diag_error(strangeness->diags, DIAG_SINGULAR_JACOBIAN, (Span){0},
               "no regular selection of equations and variables was found at the initial point");
    return false;
  }
  strangeness->mu = mu, strangeness->size = size, strangeness->a = a, strangeness->d = d, strangeness->v = v,
  strangeness->u = u;
  strangeness->all = all, strangeness->high = high;
  return true;
}

/* Finds the characteristic values, a consistent point and a selection there by the uniform array. false: an
 * error is in diags. Lives in heap and arena. Dense: O((size * mu)^3). */
static bool strangeness_build(Strangeness *strangeness, double t) {
  Problem written = strangeness->problem;
  strangeness->free = arena_array(strangeness->arena, 2 * (size_t)written.unknowns, sizeof *strangeness->free);
  strangeness->reduced = strangeness->shrunk = false;
  strangeness->evaluator = NULL;
  strangeness->switches = NULL;
  for (int round = 0; round < ROUND_LIMIT; round++) {
    strangeness->problem = written;
    if (!build_once(strangeness, t)) return false;
    if (strangeness->switches && switching_settle(&strangeness->switches->switching, t, strangeness->y)) continue;
    report_free(strangeness);
    return end_modes(strangeness, t);
  }
  diag_error(strangeness->diags, DIAG_INIT, (Span){0},
             "no consistent initial values: the conditions of if-expressions do not settle; change the start "
             "values");
  return false;
}

/* ---- the method ---- */

/* Builds the uniform array of the equations as written, of any number. */
static bool build_uniform(Strangeness *strangeness, const Reduction *reduction) {
  Modes *modes = arena_alloc(reduction->arena, sizeof *modes);
  strangeness->problem = problem_make(reduction->model, false, reduction->arena);
  kink_modes_open(&strangeness->problem, NULL, reduction->opens_kinks, false, reduction->arena);
  *modes = modes_extract(&strangeness->problem, reduction->arena);
  strangeness->modes = modes;
  strangeness->known = reduction->known;
  strangeness->parameters = reduction->known.y ? reduction->known.evaluator->parameters : reduction->parameters;
  return strangeness_build(strangeness, reduction->time);
}

/* The printed form: d differential equations for the states, and the equations of the other columns: a algebraic
 * equations for x, and those for w. */
static void take_form(Reduction *reduction) {
  const Strangeness *strangeness = reduction->strangeness;
  const Array *array = reduction->array;
  form_begin(reduction);
  for (uint32_t i = 0; i < array->problem->equations; i++)
    for (int32_t l = 0; l <= array->c[i]; l++) form_add(reduction, i, l);
  for (int32_t k = 0; k < strangeness->links; k++) {
    reduction->form.tie[strangeness->from[k]] = TIE_DERIVATIVE;
    reduction->form.fixed[strangeness->from[k]] = true;
  }
  reduction->remark =
      arena_printf(reduction->arena,
                   "strangeness index %d: d = %d differential and a = %d algebraic equations for %d variables; the "
                   "other equations give their derivatives",
                   (int)strangeness->mu, (int)strangeness->d, (int)strangeness->a, (int)strangeness->size);
}

/* Uses the reduced array if structural analysis was right, otherwise the uniform one. */
static bool apply(Reduction *reduction) {
  Strangeness *strangeness = reduction->strangeness = arena_alloc(reduction->arena, sizeof *strangeness);
  *strangeness = (Strangeness){
      .heap = reduction->heap, .arena = reduction->arena, .diags = reduction->diags, .start = reduction->starts};
  strangeness->rank_tolerance = strangeness_tolerance(&reduction->options);
  bool as_written = reduction->at.y && !reduction->is_converted;
  if (as_written) strangeness->problem = *reduction->array->problem;
  if (as_written && strangeness_reduce(strangeness, reduction->code, reduction->structure, reduction->at.evaluator,
                                       reduction->at.y, reduction->time))
    use_staged_states(strangeness, reduction->at.dummy, reduction->time);
  else if (!build_uniform(strangeness, reduction)) return false;
  if (strangeness->reduced) {
    reduction_keep(reduction);
    take_form(reduction);
  } else {
    reduction->reduced =
        (Reduced){.array = strangeness->array, .code = strangeness->code, .modes = strangeness->code->modes};
  }
  return true;
}

const Method method_strangeness = {
    .name = "strangeness",
    .description = "strangeness-free system by numerical ranks (Kunkel, Mehrmann)",
    .enforces_all = true,
    .chooses = true,
    .is_solved = true,
    .needs_values = true,
    .by_ranks = true,
    .apply = apply,
};
