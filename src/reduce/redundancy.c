/* redundancy: see redundancy.h. */
#include "reduce/redundancy.h"

#include <math.h>
#include <string.h>

static const double SUPPORT =
    1e-6; /* larger entries of a null vector of unit norm are not zero; null vectors have half as many digits as ranks */

typedef struct RedundancySearch {
  Strangeness *whole;
  int32_t *order;  /* per unknown: its highest derivative */
  uint32_t *start; /* per unknown: where its values begin, one for each derivative up to that order */
  double *value;   /* value at a point of the solutions; NAN: any value */
  Pattern pattern, transposed;
  Arena *arena;
  double t;
  int32_t level;       /* how often the equations are differentiated */
  int32_t constraints; /* number of constraints at this level on unknowns and derivatives that are not the highest */
  bool *follows;       /* per equation */
  uint32_t count;      /* of these */
} RedundancySearch;

/* ---- parts of the problem ---- */

/* Modes without events. */
static const Modes *no_modes(const Modes *modes, Arena *arena) {
  Logic *logic = arena_alloc(arena, sizeof *logic);
  Modes *none = arena_alloc(arena, sizeof *none);
  *logic =
      (Logic){.leaves = modes->logic->leaves, .initial = modes->logic->initial, .terminal = modes->logic->terminal};
  vec_push(arena->heap, &logic->level_start, 0);
  *none = (Modes){.first = modes_leaves(modes), .logic = logic}; /* the modes are constant discrete values */
  return none;
}

/* The derivative array of some of the equations up to level `level`. NULL: it would have more columns than `most`. */
static Strangeness *make_part(const RedundancySearch *search, const uint32_t *equation, uint32_t count, int32_t level,
                              uint32_t most) {
  Strangeness *part = arena_alloc(search->arena, sizeof *part);
  const Problem *whole = &search->whole->problem;
  *part = *search->whole;
  if (count < whole->equations) {
    part->problem = problem_narrow(whole, equation, count, search->arena);
    part->modes = no_modes(search->whole->modes, search->arena);
  }
  const Problem *problem = &part->problem;
  int32_t *c = arena_array(search->arena, count, sizeof *c), *d = problem_orders(problem, search->arena);
  part->first = arena_array(search->arena, problem->unknowns, sizeof(int32_t));
  uint32_t columns = 0;
  for (uint32_t i = 0; i < count; i++) c[i] = level;
  for (uint32_t j = 0; j < problem->unknowns; j++) {
    int32_t order = search->order[whole->local[problem->unknown[j]]];
    part->first[j] = order > 1 ? order : 1;
    columns += (uint32_t)(d[j] += level) + 1;
  }
  if (columns > most) return NULL;
  strangeness_make_array(part, search->t, c, d);
  return part;
}

/* The place of a column's value; MAP_NONE: there is none for such a high derivative. */
static uint32_t value_place(const RedundancySearch *search, const Strangeness *part, uint32_t column) {
  uint32_t j = search->whole->problem.local[part->problem.unknown[part->array->column_unknown[column]]];
  uint32_t order = array_order(part->array, column);
  return (int32_t)order <= search->order[j] ? search->start[j] + order : MAP_NONE;
}

/* Replaces all discrete leaves in the equations of the problem by their values at the start values, so that changes at events
 * do not affect the parts. */
static void freeze_discretes(RedundancySearch *search) {
  Problem *problem = &search->whole->problem;
  Dag *dag = problem->model->dag;
  uint32_t n = problem->equations, *all = arena_array(search->arena, n, sizeof *all);
  IndexVec below = {0};
  ExprVec from = {0}, to = {0};
  dag_below(dag, dag_scratch(dag), problem->residual, n, &below);
  const Evaluator *evaluator = NULL;
  for (uint32_t i = 0; i < n; i++) all[i] = i;
  for (uint32_t k = 0; k < below.count; k++) {
    Op op = dag_op(dag, below.data[k]);
    if (op != OP_DISCRETE && op != OP_PRE) continue;
    if (!evaluator) evaluator = make_part(search, all, n, 0, UINT32_MAX)->evaluator;
    const double *value = op == OP_DISCRETE ? evaluator->discretes : evaluator->pre;
    vec_push(search->arena->heap, &from, below.data[k]);
    vec_push(search->arena->heap, &to, dag_constant(dag, value[dag_index(dag, below.data[k])]));
  }
  Expr *residual = arena_copy_array(search->arena, problem->residual, n, sizeof *residual);
  dag_substitute(dag, from.data, to.data, from.count, residual, n);
  if (from.count) *problem = problem_replace(problem, residual, search->arena);
  vec_free(search->arena->heap, &below, &from, &to);
}

/* ---- equations that follow ---- */

/* Vectors that are normal to all columns: combinations of rows that are zero. */
typedef struct Dependences {
  double *vector; /* the vectors, one after the other */
  uint32_t count, rows;
} Dependences;

static Dependences find_dependences(const Strangeness *part, const Ranks *ranks, Arena *arena) {
  size_t m = part->array->rows;
  Dependences found = {.rows = (uint32_t)m};
  Svd *svd = arena_array(arena, ranks->count, sizeof *svd);
  for (uint32_t p = 0; p < ranks->count; p++) {
    const RankPart *block = ranks->part[p].part;
    double *copy =
        arena_copy_array(arena, ranks->part[p].matrix, (size_t)block->rows * (size_t)block->columns, sizeof *copy);
    svd[p] = dense_svd(copy, block->rows, block->columns, part->rank_tolerance, arena);
    found.count += (uint32_t)(block->rows - svd[p].rank);
  }
  double *vector = found.vector = arena_array(arena, m * found.count + 1, sizeof *vector);
  for (uint32_t p = 0; p < ranks->count; p++) {
    const RankPart *block = ranks->part[p].part;
    for (int32_t k = svd[p].rank; k < block->rows; k++, vector += m)
      for (int32_t i = 0; i < block->rows; i++) vector[block->row[i]] = svd[p].u[i + k * block->rows];
  }
  return found;
}

/* Removes a row, and keeps the dependences without it. If a dependence contained the row, their number falls by one. false: no
 * dependence contained it. */
static bool leave_row_out(Dependences *dependences, uint32_t row) {
  uint32_t m = dependences->rows, best = 0;
  double *vector = dependences->vector;
  for (uint32_t k = 1; k < dependences->count; k++)
    if (fabs(vector[row + (size_t)k * m]) > fabs(vector[row + (size_t)best * m])) best = k;
  if (!dependences->count || fabs(vector[row + (size_t)best * m]) <= SUPPORT) return false;
  double *last = vector + (size_t)--dependences->count * m, *used = vector + (size_t)best * m;
  for (uint32_t i = 0; i < m && used != last; i++) {
    double held = used[i];
    used[i] = last[i];
    last[i] = held;
  }
  for (uint32_t k = 0; k < dependences->count; k++) {
    double *other = vector + (size_t)k * m, factor = other[row] / last[row];
    for (uint32_t i = 0; i < m; i++) other[i] -= factor * last[i];
    other[row] = 0;
  }
  return true;
}

/* An equation follows from the others if its rows add nothing to the rows of the others. The highest row need not be among them,
 * because the others may imply it only after more differentiations. */
static bool leave_equation_out(const Array *array, Dependences *dependences, uint32_t equation) {
  uint32_t top = array->row_start[equation + 1] - 1;
  bool follows = true;
  if (top == array->row_start[equation]) return leave_row_out(dependences, top);
  leave_row_out(dependences, top);
  for (uint32_t i = array->row_start[equation]; i < top && follows; i++) follows = leave_row_out(dependences, i);
  return follows;
}

/* If there are several candidates, those written last are left out. */
static void mark_followers(RedundancySearch *search, const Strangeness *part, const uint32_t *equation,
                           const Ranks *ranks, Arena *arena) {
  Dependences left = find_dependences(part, ranks, arena);
  double *before = arena_array(arena, (size_t)left.rows * left.count + 1, sizeof *before);
  for (uint32_t i = part->problem.equations; i-- > 0 && left.count;) {
    Dependences tried = left;
    memcpy(before, left.vector, (size_t)left.rows * left.count * sizeof *before);
    if (leave_equation_out(part->array, &tried, i)) {
      left = tried;
      search->follows[equation[i]] = true;
      search->count++;
    } else memcpy(left.vector, before, (size_t)left.rows * left.count * sizeof *before);
  }
}

/* Finds the equations of a connected component that follow from the others, at a point where nothing is zero by chance. false:
 * there is none, and a message says why. */
static bool search_component(RedundancySearch *search, const uint32_t *equation, uint32_t count) {
  Strangeness *part = make_part(search, equation, count, search->level, STRANGENESS_COLUMNS);
  if (!part) {
    diag_error(
        search->whole->diags, DIAG_METHOD_UNFIT, (Span){0},
        "%u equations may depend on each other; this number is too large to decide whether some follow from the others",
        count);
    return false;
  }
  if (!strangeness_find_point(part, search->t, true)) return false;
  double t = search->t;
  Arena scratch = arena_make(search->whole->heap);
  Ranks ranks;
  bool ok =
      strangeness_generic(part, GENERIC_BRANCH, &t, part->y) && strangeness_ranks(part, t, part->y, &scratch, &ranks);
  if (ok) mark_followers(search, part, equation, &ranks, &scratch);
  if (ok) search->constraints += ranks.all - ranks.high;
  for (uint32_t q = 0; ok && q < part->array->columns; q++) {
    uint32_t place = value_place(search, part, q);
    if (place != MAP_NONE) search->value[place] = part->y[q];
  }
  arena_free(&scratch);
  return ok;
}

/* Lists the kept equations component by component; returns the number of components. The members of component c are list[start[c]]
 * to list[start[c + 1]]. */
static uint32_t list_components(const RedundancySearch *search, const Pattern *pattern, const Pattern *transposed,
                                const int32_t *level, uint32_t **list, uint32_t **start) {
  uint32_t n = (uint32_t)pattern->n_rows;
  bool *kept = arena_array(search->arena, n, sizeof *kept);
  int32_t *queue = index_zeros(search->arena, (int32_t)n), *of_row = index_zeros(search->arena, (int32_t)n);
  int32_t *of_column = index_zeros(search->arena, pattern->n_columns);
  for (uint32_t i = 0; i < n; i++) kept[i] = level[i] > 0;
  uint32_t count = (uint32_t)pattern_components(pattern, transposed, kept, queue, of_row, of_column);
  *list = arena_array(search->arena, n, sizeof **list);
  *start = arena_array(search->arena, (size_t)count + 1, sizeof **start);
  for (uint32_t i = 0; i < n; i++)
    if (kept[i]) (*start)[of_row[i]]++;
  for (uint32_t c = 0; c < count; c++) (*start)[c + 1] += (*start)[c];
  for (uint32_t i = n; i-- > 0;)
    if (kept[i]) (*list)[--(*start)[of_row[i]]] = i;
  return count;
}

/* Differentiates each equation as often as the level says, then removes rows with a derivative that no other row contains
 * (incidence_peel). Returns how many rows of each equation are left. If some of the equations left contain delayed values, nothing
 * is removed. */
static int32_t *list_rows_left(const RedundancySearch *search) {
  const Problem *problem = &search->whole->problem;
  int32_t *level = index_zeros(search->arena, (int32_t)problem->equations);
  Dag *dag = problem->model->dag;
  bool is_plain = true;
  for (uint32_t i = 0; i < problem->equations; i++) level[i] = search->level + 1;
  incidence_peel(search->arena, &problem->incidence, level);
  for (uint32_t i = 0; i < problem->equations && is_plain; i++)
    is_plain = !level[i] || !dag_contains(dag, dag_scratch(dag), problem->residual[i], OP_DELAYED);
  for (uint32_t i = 0; i < problem->equations && !is_plain; i++) level[i] = search->level + 1;
  return level;
}

static bool search_level(RedundancySearch *search) {
  uint32_t *list, *start, n = search->whole->problem.equations;
  search->count = 0;
  search->constraints = 0;
  memset(search->follows, 0, n * sizeof *search->follows);
  uint32_t count =
      list_components(search, &search->pattern, &search->transposed, list_rows_left(search), &list, &start);
  bool ok = true;
  for (uint32_t c = 0; c < count && ok; c++) ok = search_component(search, list + start[c], start[c + 1] - start[c]);
  return ok;
}

/* ---- unknowns that are free ---- */

/* The occurrences of unknowns without derivatives: rows are unknowns, columns equations. */
static Pattern list_occurrences(const RedundancySearch *search) {
  const Pattern *all = &search->transposed;
  int32_t *start = index_zeros(search->arena, all->n_rows + 1),
          *column = index_zeros(search->arena, all->row_start[all->n_rows]);
  for (int32_t j = 0; j < all->n_rows; j++) {
    start[j + 1] = start[j];
    for (int32_t e = all->row_start[j]; e < all->row_start[j + 1] && !search->order[j]; e++)
      column[start[j + 1]++] = all->column[e];
  }
  return (Pattern){.n_rows = all->n_rows, .n_columns = all->n_columns, .row_start = start, .column = column};
}

/* Adds to the list the unknowns that one component leaves free. Its pivots are inserted after the first `rank` entries. */
static void add_freedom(Freedom *all, const Freedom *more) {
  uint32_t rank = all->rank + more->rank, count = all->count + more->count;
  memmove(all->leaf + rank, all->leaf + all->rank, (all->count - all->rank) * sizeof *all->leaf);
  memmove(all->target + rank, all->target + all->rank, (all->count - all->rank) * sizeof *all->target);
  for (uint32_t k = 0; k < more->count; k++) {
    uint32_t to = k < more->rank ? all->rank + k : all->count + k;
    all->leaf[to] = more->leaf[k];
    all->target[to] = more->target[k];
  }
  all->rank = rank;
  all->count = count;
}

/* The equations that hold some unknowns, at the point found. */
static Strangeness *make_holders(const RedundancySearch *search, const Pattern *occurrences, const uint32_t *unknown,
                                 uint32_t count) {
  uint32_t n = search->whole->problem.equations, holders = 0;
  uint32_t *equation = arena_array(search->arena, n, sizeof *equation);
  bool *holds = arena_array(search->arena, n, sizeof *holds);
  for (uint32_t k = 0; k < count; k++)
    for (int32_t e = occurrences->row_start[unknown[k]]; e < occurrences->row_start[unknown[k] + 1]; e++)
      holds[occurrences->column[e]] = true;
  for (uint32_t i = 0; i < n; i++)
    if (holds[i]) equation[holders++] = i;
  Strangeness *part = make_part(search, equation, holders, 0, UINT32_MAX);
  strangeness_perturb(part, part->y);
  for (uint32_t q = 0; q < part->array->columns; q++) {
    uint32_t place = value_place(search, part, q);
    if (place != MAP_NONE && !isnan(search->value[place])) part->y[q] = search->value[place];
  }
  return part;
}

/* The algebraic unknowns that share each of their equations with another one. */
static void find_freedom(const RedundancySearch *search, Freedom *freedom) {
  const Problem *problem = &search->whole->problem;
  Pattern occurrences = list_occurrences(search), transposed = pattern_transpose(search->arena, &occurrences);
  int32_t *level = index_zeros(search->arena, occurrences.n_rows);
  int32_t *none = index_zeros(search->arena, occurrences.row_start[occurrences.n_rows]);
  Incidence incidence = {occurrences.n_rows, occurrences.n_columns, occurrences.row_start, occurrences.column, none};
  for (int32_t j = 0; j < occurrences.n_rows; j++) level[j] = !search->order[j];
  incidence_peel(search->arena, &incidence, level);
  uint32_t *list, *start, count = list_components(search, &occurrences, &transposed, level, &list, &start);
  *freedom = (Freedom){.leaf = arena_array(search->arena, problem->unknowns, sizeof(Expr)),
                       .target = arena_array(search->arena, problem->unknowns, sizeof(Expr))};
  for (uint32_t c = 0; c < count; c++) {
    Freedom more;
    Strangeness *part = make_holders(search, &occurrences, list + start[c], start[c + 1] - start[c]);
    bool *is_leaf = arena_array(search->arena, part->problem.unknowns, sizeof *is_leaf);
    int32_t *order = index_zeros(search->arena, (int32_t)part->problem.unknowns);
    for (uint32_t k = start[c]; k < start[c + 1]; k++) is_leaf[part->problem.local[problem->unknown[list[k]]]] = true;
    if (start[c + 1] - start[c] <= STRANGENESS_COLUMNS &&
        freedom_find(part, search->t, part->y, order, is_leaf, &more, search->arena))
      add_freedom(freedom, &more);
  }
}

/* ---- the search ---- */

static RedundancySearch search_make(Strangeness *strangeness, double t) {
  Arena *arena = strangeness->arena;
  const Problem *problem = &strangeness->problem;
  RedundancySearch search = {.whole = arena_alloc(arena, sizeof *strangeness), .arena = arena, .t = t};
  *search.whole = *strangeness;
  search.order = problem_orders(problem, arena);
  search.start = arena_array(arena, (size_t)problem->unknowns + 1, sizeof(uint32_t));
  for (uint32_t j = 0; j < problem->unknowns; j++)
    search.start[j + 1] = search.start[j] + (uint32_t)search.order[j] + 1;
  search.value = arena_array(arena, search.start[problem->unknowns], sizeof(double));
  for (uint32_t q = 0; q < search.start[problem->unknowns]; q++) search.value[q] = NAN;
  search.follows = arena_array(arena, problem->equations, sizeof(bool));
  freeze_discretes(&search);
  search.pattern = incidence_pattern(&search.whole->problem.incidence);
  search.transposed = pattern_transpose(arena, &search.pattern);
  return search;
}

/* Does every unknown occur in some equation? An unknown that occurs in none is a mistake of the model, not a multiplier of a
 * redundant constraint. */
static bool all_occur(const RedundancySearch *search) {
  const Pattern *pattern = &search->transposed;
  for (int32_t j = 0; j < pattern->n_rows; j++)
    if (pattern->row_start[j] == pattern->row_start[j + 1]) return false;
  return true;
}

bool redundancy_find(Strangeness *strangeness, double t, Redundancy *redundancy) {
  RedundancySearch search = search_make(strangeness, t);
  int32_t before = -1;
  bool found = false, ok = all_occur(&search);
  for (; ok && !found && search.level <= STRANGENESS_LEVELS && search.constraints != before; search.level++) {
    before = search.level ? search.constraints : -1;
    ok = search_level(&search);
    if (!ok || !search.count) continue;
    find_freedom(&search, &redundancy->freedom);
    redundancy->count = redundancy->freedom.count - redundancy->freedom.rank;
    found = redundancy->count == search.count;
  }
  redundancy->equation = arena_array(strangeness->arena, search.count, sizeof(uint32_t));
  uint32_t count = 0;
  for (uint32_t i = strangeness->problem.equations; i-- > 0;)
    if (search.follows[i]) redundancy->equation[count++] = i;
  return found;
}

bool redundancy_replace(Strangeness *strangeness, double t, Problem *problem, Structure *structure,
                        ConversionVec *conversions, Redundancy *redundancy) {
  if (problem->equations != problem->unknowns || !redundancy_find(strangeness, t, redundancy)) return false;
  Problem closed = *problem;
  Structure found;
  convert_close(&closed, &found, strangeness->modes, &redundancy->freedom, redundancy->equation, strangeness->arena,
                conversions, strangeness->diags);
  if (found.status != STRUCTURE_OK) return false;
  *problem = closed;
  *structure = found;
  return true;
}

/* ---- do they hold? ---- */

typedef struct At {
  const Array *array;
  const Evaluator *evaluator;
  double t;
  const double *y;
} At;

static double leaf_value(void *context, const Dag *dag, Expr leaf) {
  const At *at = context;
  uint32_t column;
  switch (dag_op(dag, leaf)) {
  case OP_TIME: return at->t;
  case OP_PARAMETER: return at->evaluator->parameters[dag_index(dag, leaf)];
  case OP_DISCRETE: return at->evaluator->discretes[dag_index(dag, leaf)];
  case OP_PRE: return at->evaluator->pre[dag_index(dag, leaf)];
  case OP_VARIABLE: column = array_column(at->array, leaf); return column == MAP_NONE ? NAN : at->y[column];
  default: return NAN;
  }
}

/* Do the terms cancel? Equations that are undefined here are skipped. */
static bool holds(At *at, Expr residual, double tolerance) {
  Dag *dag = at->array->dag;
  const Term *terms;
  double sum = 0, size, value;
  if (dag_op(dag, residual) != OP_SUM) return true;
  uint32_t count = dag_terms(dag, residual, &sum, &terms);
  size = fabs(sum);
  for (uint32_t k = 0; k < count; k++) {
    if (!dag_evaluate(dag, dag_scratch(dag), terms[k].node, leaf_value, at, &value, NULL)) return true;
    sum += terms[k].coefficient * value;
    size += fabs(terms[k].coefficient * value);
  }
  return !(fabs(sum) > tolerance * size);
}

bool redundancy_holds(const Array *array, const Evaluator *evaluator, double t, const double *y, const Expr *residual,
                      uint32_t count, double tolerance) {
  At at = {array, evaluator, t, y};
  for (uint32_t k = 0; k < count; k++)
    if (!holds(&at, residual[k], tolerance)) return false;
  return true;
}
