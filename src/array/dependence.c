/* dependence: see dependence.h. */
#include "array/dependence.h"

#include "array/eliminate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* SHADOWS: points whose values accompany the elimination. LARGEST: the most lines. ALL_LINES: up to this block size all lines are
 * used. EXACT_LINES: the most lines of numbers that are eliminated exactly. */
enum { SHADOWS = 3, LARGEST = 400, ALL_LINES = 48, EXACT_LINES = 20000 };

static const double CANCELLED = 1e-9;

typedef struct ShadowedEntry {
  Expr expression;
  bool zero;
  double value[SHADOWS];
} ShadowedEntry;

typedef struct ShadowedMatrix {
  Dag *dag;
  int32_t rows, columns; /* the columns are the lines, in the order of elimination */
  ShadowedEntry *entry;
  int32_t *pivot_column; /* per row; -1 */
} ShadowedMatrix;

static ShadowedEntry *at(const ShadowedMatrix *matrix, int32_t row, int32_t column) {
  return &matrix->entry[row * matrix->columns + column];
}

static int32_t line_count(const BlockJacobian *jacobian, bool rows) {
  return rows ? jacobian->size : jacobian->columns;
}

/* Points at which every entry is defined. */
static bool choose_points(const BlockJacobian *jacobian, const Samples *samples, Arena *arena,
                          double *values[SHADOWS]) {
  uint32_t count = (uint32_t)jacobian->row_start[jacobian->size];
  double *sizes = arena_array(arena, count, sizeof *sizes);
  int found = 0;
  for (uint32_t s = 0; s < SAMPLE_COUNT && found < SHADOWS; s++) {
    values[found] = arena_array(arena, count, sizeof(double));
    samples_evaluate(samples, s, jacobian->entry, count, values[found], sizes, NULL);
    bool defined = true;
    for (uint32_t e = 0; e < count && defined; e++) {
      defined = !isnan(values[found][e]);
      if (sample_is_zero(values[found][e], sizes[e])) values[found][e] = 0;
    }
    found += defined;
  }
  return found == SHADOWS;
}

/* The matrix of the lines in `order`; its rows are the places where one of them is not zero. */
static bool fill(ShadowedMatrix *matrix, const BlockJacobian *jacobian, bool rows, const int32_t *order,
                 const Samples *samples, Arena *arena) {
  int32_t n = jacobian->size, lines = line_count(jacobian, rows), places = line_count(jacobian, !rows);
  double *values[SHADOWS];
  if (!choose_points(jacobian, samples, arena, values)) return false;
  int32_t *line = arena_array(arena, (size_t)lines, sizeof *line);
  int32_t *place = arena_array(arena, (size_t)places, sizeof *place);
  for (int32_t k = 0; k < lines; k++) line[k] = -1;
  for (int32_t k = 0; k < places; k++) place[k] = -1;
  for (int32_t k = 0; k < matrix->columns; k++) line[order[k]] = k;
  for (int32_t p = 0; p < n; p++)
    for (int32_t e = jacobian->row_start[p]; e < jacobian->row_start[p + 1]; e++) {
      int32_t q = jacobian->column[e];
      if (line[rows ? p : q] >= 0 && place[rows ? q : p] < 0) place[rows ? q : p] = matrix->rows++;
    }
  matrix->entry = arena_array(arena, (size_t)matrix->rows * (size_t)matrix->columns, sizeof(ShadowedEntry));
  matrix->pivot_column = arena_array(arena, (size_t)matrix->rows, sizeof(int32_t));
  for (int32_t p = 0; p < matrix->rows; p++) matrix->pivot_column[p] = -1;
  for (int32_t k = 0; k < matrix->rows * matrix->columns; k++) matrix->entry[k].zero = true;
  for (int32_t p = 0; p < n; p++) {
    for (int32_t e = jacobian->row_start[p]; e < jacobian->row_start[p + 1]; e++) {
      int32_t q = jacobian->column[e];
      if (line[rows ? p : q] < 0) continue;
      ShadowedEntry *entry = at(matrix, place[rows ? q : p], line[rows ? p : q]);
      entry->expression = jacobian->entry[e];
      for (int s = 0; s < SHADOWS; s++) {
        entry->value[s] = values[s][e];
        if (values[s][e] != 0) entry->zero = false;
      }
    }
  }
  return true;
}

/* How simple a factor is: numbers come first, then parameters, then values that change at events or with time, then
 * variables. */
static int plainness(const Dag *dag, Expr e) {
  if (dag_is_constant(dag, e, NULL)) return 0;
  Dag *graph = (Dag *)dag;
  if (dag_depends(graph, e, OP_VARIABLE)) return 3;
  return dag_depends(graph, e, OP_TIME) || dag_depends(graph, e, OP_DISCRETE) || dag_depends(graph, e, OP_PRE) ? 2 : 1;
}

/* a - factor * b, zero if the values cancel. */
static ShadowedEntry combine(Dag *dag, const ShadowedEntry *a, const ShadowedEntry *factor, const ShadowedEntry *b) {
  ShadowedEntry result = {.zero = true};
  for (int s = 0; s < SHADOWS; s++) {
    double left = a->zero ? 0 : a->value[s], right = factor->value[s] * b->value[s];
    result.value[s] = left - right;
    if (fabs(result.value[s]) > CANCELLED * (fabs(left) + fabs(right))) result.zero = false;
    else result.value[s] = 0;
  }
  if (result.zero) return result;
  Expr product = dag_multiply(dag, factor->expression, b->expression);
  result.expression = a->zero ? dag_negate(dag, product) : dag_subtract(dag, a->expression, product);
  return result;
}

/* A product of powers. */
enum { MOST_FACTORS = 16 };
typedef struct Factors {
  double number;
  Expr base[MOST_FACTORS];
  int power[MOST_FACTORS];
  int count;
  bool cancelled, full;
} Factors;

static void add_factor(Factors *factors, Expr base, int power) {
  for (int k = 0; k < factors->count; k++) {
    if (factors->base[k] != base) continue;
    factors->cancelled = factors->cancelled || (factors->power[k] > 0) != (power > 0);
    factors->power[k] += power;
    return;
  }
  factors->full = factors->full || factors->count == MOST_FACTORS;
  if (factors->full) return;
  factors->base[factors->count] = base;
  factors->power[factors->count++] = power;
}

/* Splits a product: numbers, factors, quotients, integer powers. */
static void collect_factors(const Dag *dag, Expr e, int power, Factors *factors) {
  struct {
    Expr e;
    int power;
  } stack[MOST_FACTORS + 1] = {{e, power}};
  for (int depth = 1; depth > 0 && !factors->full;) {
    Expr node = stack[--depth].e;
    int p = stack[depth].power;
    Op op = dag_op(dag, node);
    double constant, exponent;
    const Term *terms;
    const Expr *arguments;
    if (dag_is_constant(dag, node, &constant)) factors->number *= pow(constant, p);
    else if (op == OP_SUM && dag_terms(dag, node, &constant, &terms) == 1 && constant == 0) {
      factors->number *= pow(terms[0].coefficient, p);
      stack[depth++].e = terms[0].node; /* the only term of the sum, with the same power */
    } else if (op == OP_MULTIPLY || op == OP_DIVIDE) {
      dag_arguments(dag, node, &arguments);
      factors->full = depth + 2 > MOST_FACTORS;
      if (factors->full) return;
      stack[depth].e = arguments[0], stack[depth++].power = p;
      stack[depth].e = arguments[1], stack[depth++].power = op == OP_MULTIPLY ? p : -p;
    } else if (op == OP_POWER && dag_arguments(dag, node, &arguments) == 2 &&
               dag_is_constant(dag, arguments[1], &exponent) && exponent == floor(exponent) && fabs(exponent) < 20) {
      add_factor(factors, arguments[0], p * (int)exponent);
    } else {
      add_factor(factors, node, p);
    }
  }
}

/* a / b without common factors. */
static Expr quotient(Dag *dag, Expr a, Expr b) {
  Factors factors = {.number = 1};
  collect_factors(dag, a, 1, &factors);
  collect_factors(dag, b, -1, &factors);
  if (factors.full || !factors.cancelled) return dag_divide(dag, a, b);
  Expr above = dag_constant(dag, factors.number), below = dag_constant(dag, 1);
  for (int k = 0; k < factors.count; k++) {
    if (factors.power[k] == 0) continue;
    Expr part = dag_power(dag, factors.base[k], dag_constant(dag, abs(factors.power[k])));
    if (factors.power[k] > 0) above = dag_multiply(dag, above, part);
    else below = dag_multiply(dag, below, part);
  }
  return dag_divide(dag, above, below);
}

static ShadowedEntry divide(Dag *dag, const ShadowedEntry *a, const ShadowedEntry *b) {
  ShadowedEntry result = *a;
  if (a->zero) return result;
  result.expression = quotient(dag, a->expression, b->expression);
  for (int s = 0; s < SHADOWS; s++) result.value[s] = a->value[s] / b->value[s];
  return result;
}

/* A pivot must be at least this fraction of the best one, both relative to their rows. */
static const double THRESHOLD = 0.1;

/* Size of an entry relative to its row, the smallest over the points. */
static double relative_size(const ShadowedMatrix *matrix, int32_t row, int32_t column) {
  double smallest = HUGE_VAL;
  for (int s = 0; s < SHADOWS; s++) {
    double largest = 0;
    for (int32_t q = column; q < matrix->columns; q++)
      if (!at(matrix, row, q)->zero) largest = fmax(largest, fabs(at(matrix, row, q)->value[s]));
    if (largest > 0) smallest = fmin(smallest, fabs(at(matrix, row, column)->value[s]) / largest);
  }
  return smallest;
}

/* The pivot row for a column: its entry is zero at no point and not small in its row. The simplest entry is preferred, then the
 * row with the fewest entries. */
static int32_t choose_pivot(const ShadowedMatrix *matrix, int32_t column) {
  double largest[4] = {0};
  for (int32_t p = 0; p < matrix->rows; p++) {
    const ShadowedEntry *entry = at(matrix, p, column);
    if (entry->zero || matrix->pivot_column[p] >= 0) continue;
    int plain = plainness(matrix->dag, entry->expression);
    largest[plain] = fmax(largest[plain], relative_size(matrix, p, column));
  }
  int32_t best = -1, best_count = 0;
  for (int plain = 0; plain < 4 && best < 0; plain++) {
    for (int32_t p = 0; p < matrix->rows && largest[plain] > 0; p++) {
      const ShadowedEntry *entry = at(matrix, p, column);
      if (entry->zero || matrix->pivot_column[p] >= 0 || plainness(matrix->dag, entry->expression) != plain) continue;
      if (relative_size(matrix, p, column) < THRESHOLD * largest[plain]) continue;
      int32_t count = 0;
      for (int32_t q = 0; q < matrix->columns; q++) count += !at(matrix, p, q)->zero;
      if (best >= 0 && count >= best_count) continue;
      best = p;
      best_count = count;
    }
  }
  return best;
}

/* Reduced row echelon form. */
static void eliminate(ShadowedMatrix *matrix) {
  for (int32_t column = 0; column < matrix->columns; column++) {
    int32_t pivot = choose_pivot(matrix, column);
    if (pivot < 0) continue;
    matrix->pivot_column[pivot] = column;
    ShadowedEntry head = *at(matrix, pivot, column);
    for (int32_t q = 0; q < matrix->columns; q++)
      *at(matrix, pivot, q) = divide(matrix->dag, at(matrix, pivot, q), &head);
    for (int32_t p = 0; p < matrix->rows; p++) {
      ShadowedEntry factor = *at(matrix, p, column);
      if (p == pivot || factor.zero) continue;
      for (int32_t q = 0; q < matrix->columns; q++)
        if (!at(matrix, pivot, q)->zero)
          *at(matrix, p, q) = combine(matrix->dag, at(matrix, p, q), &factor, at(matrix, pivot, q));
      *at(matrix, p, column) = (ShadowedEntry){.zero = true};
    }
  }
}

/* The dependence of a column without pivot on the columns with pivots. */
static Dependence read_dependence(const ShadowedMatrix *matrix, int32_t column, const int32_t *order, Arena *arena) {
  Dependence dependence = {.last = order[column]};
  dependence.line = arena_array(arena, (size_t)matrix->rows + 1, sizeof(int32_t));
  dependence.factor = arena_array(arena, (size_t)matrix->rows + 1, sizeof(Expr));
  for (int32_t p = 0; p < matrix->rows; p++) {
    const ShadowedEntry *entry = at(matrix, p, column);
    if (entry->zero || matrix->pivot_column[p] < 0) continue;
    dependence.line[dependence.count] = order[matrix->pivot_column[p]];
    dependence.factor[dependence.count++] = dag_negate(matrix->dag, entry->expression);
  }
  dependence.line[dependence.count] = order[column];
  dependence.factor[dependence.count++] = dag_constant(matrix->dag, 1);
  return dependence;
}

/* ---- lines of numbers ---- */

/* The entries of the block by lines, in the order of elimination. */
typedef struct LineList {
  int32_t *start, *entry, *place;
} LineList;

static LineList list_lines(const BlockJacobian *jacobian, bool rows, const int32_t *order, Arena *arena) {
  int32_t n = jacobian->size, nonzeros = jacobian->row_start[n], lines = line_count(jacobian, rows);
  int32_t *position = arena_array(arena, (size_t)lines, sizeof *position),
          *next = arena_array(arena, (size_t)lines, sizeof *next);
  LineList list = {arena_array(arena, (size_t)lines + 1, sizeof(int32_t)),
                   arena_array(arena, (size_t)nonzeros, sizeof(int32_t)),
                   arena_array(arena, (size_t)nonzeros, sizeof(int32_t))};
  for (int32_t k = 0; k < lines; k++) position[order[k]] = k;
  for (int32_t p = 0; p < n; p++)
    for (int32_t e = jacobian->row_start[p]; e < jacobian->row_start[p + 1]; e++)
      list.start[position[rows ? p : jacobian->column[e]] + 1]++;
  for (int32_t k = 0; k < lines; k++) list.start[k + 1] += list.start[k];
  memcpy(next, list.start, (size_t)lines * sizeof *next);
  for (int32_t p = 0; p < n; p++)
    for (int32_t e = jacobian->row_start[p]; e < jacobian->row_start[p + 1]; e++) {
      int32_t at_line = next[position[rows ? p : jacobian->column[e]]]++;
      list.entry[at_line] = e;
      list.place[at_line] = rows ? jacobian->column[e] : p;
    }
  return list;
}

/* The lines that consist of numbers have exact dependences with integer factors. */
static bool find_exactly(const BlockJacobian *jacobian, bool rows, const int32_t *order, Dag *dag, Arena *arena,
                         DependenceVec *found) {
  int32_t n = line_count(jacobian, rows), count = 0, entries = 0;
  LineList list = list_lines(jacobian, rows, order, arena);
  int32_t *chosen = arena_array(arena, (size_t)n, sizeof *chosen),
          *start = arena_array(arena, (size_t)n + 1, sizeof *start),
          *place = arena_array(arena, (size_t)list.start[n], sizeof *place);
  double *value = arena_array(arena, (size_t)list.start[n], sizeof *value);
  for (int32_t k = 0; k < n; k++) {
    bool numbers = true;
    for (int32_t e = list.start[k]; e < list.start[k + 1] && numbers; e++)
      numbers = dag_is_constant(dag, jacobian->entry[list.entry[e]], NULL);
    if (!numbers || count == EXACT_LINES) continue;
    for (int32_t e = list.start[k]; e < list.start[k + 1]; e++) {
      place[entries] = list.place[e];
      value[entries++] = dag_value(dag, jacobian->entry[list.entry[e]]);
    }
    chosen[count] = order[k];
    start[++count] = entries;
  }
  SparseLines lines = {count, line_count(jacobian, !rows), start, place, value};
  ExactVec exact = {0};
  bool ok = eliminate_exactly(&lines, arena, &exact) && exact.count;
  for (uint32_t k = 0; k < exact.count && ok; k++) {
    Dependence dependence = {
        .count = (uint32_t)exact.data[k].count, .line = exact.data[k].line, .last = chosen[exact.data[k].last]};
    dependence.factor = arena_array(arena, dependence.count, sizeof(Expr));
    for (uint32_t q = 0; q < dependence.count; q++) {
      dependence.line[q] = chosen[exact.data[k].line[q]];
      dependence.factor[q] = dag_constant(dag, exact.data[k].factor[q]);
    }
    vec_push(arena->heap, found, dependence);
  }
  vec_free(arena->heap, &exact);
  return ok;
}

/* ---- lines of expressions ---- */

static bool find_among(const BlockJacobian *jacobian, bool rows, const int32_t *order, int32_t lines,
                       const Samples *samples, Arena *arena, DependenceVec *found) {
  Arena scratch = arena_make(arena->heap);
  ShadowedMatrix matrix = {.dag = samples->model->dag, .columns = lines};
  bool ok = fill(&matrix, jacobian, rows, order, samples, &scratch);
  if (ok) {
    eliminate(&matrix);
    bool *pivots = arena_array(&scratch, (size_t)lines, sizeof *pivots);
    for (int32_t p = 0; p < matrix.rows; p++)
      if (matrix.pivot_column[p] >= 0) pivots[matrix.pivot_column[p]] = true;
    for (int32_t q = 0; q < lines; q++)
      if (!pivots[q]) vec_push(arena->heap, found, read_dependence(&matrix, q, order, arena));
  }
  arena_free(&scratch);
  return ok;
}

/* The lines that take part in a dependence, by their values at the samples, in the order of the lines. For a small block: all
 * lines. */
static int32_t choose_lines(const BlockJacobian *jacobian, bool rows, const int32_t *order, const Samples *samples,
                            Arena *arena, int32_t *chosen) {
  int32_t n = line_count(jacobian, rows), count = 0;
  bool *inside = arena_array(arena, (size_t)n, sizeof *inside);
  bool all = n <= ALL_LINES || !regular_support(jacobian, rows, samples, arena, inside);
  for (int32_t k = 0; k < n; k++)
    if (all || inside[order[k]]) chosen[count++] = order[k];
  return count;
}

bool dependence_find(const BlockJacobian *jacobian, bool rows, const int32_t *order, const Samples *samples,
                     Arena *arena, DependenceVec *found) {
  int32_t n = line_count(jacobian, rows);
  if (find_exactly(jacobian, rows, order, samples->model->dag, arena, found)) return true;
  int32_t *chosen = arena_array(arena, (size_t)n, sizeof *chosen);
  int32_t count = choose_lines(jacobian, rows, order, samples, arena, chosen);
  if (count > LARGEST || !find_among(jacobian, rows, chosen, count, samples, arena, found)) return false;
  if (found->count || count == n || n > LARGEST) return true;
  return find_among(jacobian, rows, order, n, samples, arena, found);
}
