/* regular: see regular.h. */
#include "array/regular.h"

#include "base/linear.h"

#include <float.h>
#include <math.h>

/* Blocks up to this size are eliminated with complete pivoting; larger ones are factored as sparse matrices,
 * and the ranks of singular ones are found up to a larger size. */
enum { DENSE_SIZE = 48, RANK_SIZE = 400, LEAST_DEFINED = 3, UNDEFINED = -1 };

/* Smallest part of what they are made of that pivots of a regular matrix are, and largest growth of a solution. */
static const double SMALLEST_PIVOT = 1e-11, LARGEST_GROWTH = 1e12;

/* Errors of a pivot beside what it is made of: one unit of round-off for each elimination, and some for the entries themselves. */
static double pivot_error(int32_t n) { return (n + 8) * DBL_EPSILON; }

BlockJacobian regular_jacobian(const Problem *problem, const Structure *structure, int32_t block, int32_t *place,
                               Arena *arena) {
  Dag *dag = problem->model->dag;
  Heap *heap = arena->heap;
  const Blocks *blocks = &structure->blocks;
  int32_t begin = blocks->start[block];
  BlockJacobian jacobian = {.size = blocks->start[block + 1] - begin,
                            .columns = blocks->start[block + 1] - begin,
                            .equation = blocks->row + begin,
                            .unknown = blocks->column + begin};
  jacobian.row_start = arena_array(arena, (size_t)jacobian.size + 1, sizeof(int32_t));
  ExprVec leaves = {0}, partials = {0}, entries = {0};
  IntVec columns = {0};
  for (int32_t p = 0; p < jacobian.size; p++) place[jacobian.unknown[p]] = p;
  for (int32_t p = 0; p < jacobian.size; p++) {
    int32_t i = jacobian.equation[p];
    leaves.count = partials.count = 0;
    dag_gradient(dag, problem->residual[i], &leaves, &partials);
    for (uint32_t k = 0; k < leaves.count; k++) {
      int32_t j = (int32_t)problem->local[dag_index(dag, leaves.data[k])];
      if (blocks->block_of_column[j] != block) continue;
      if ((int32_t)dag_order(dag, leaves.data[k]) != structure->d[j] - structure->c[i]) continue;
      vec_push(heap, &entries, partials.data[k]);
      vec_push(heap, &columns, place[j]);
    }
    jacobian.row_start[p + 1] = (int32_t)entries.count;
  }
  jacobian.entry = arena_copy_array(arena, entries.data, entries.count, sizeof(Expr));
  jacobian.column = arena_copy_array(arena, columns.data, columns.count, sizeof(int32_t));
  vec_free(heap, &leaves, &partials, &entries, &columns);
  return jacobian;
}

/* ---- rank by numbers ---- */

/* Scales rows, then columns, to largest entry 1. false: an empty row or column, or something undefined. */
static bool scale_entries(const BlockJacobian *jacobian, const double *values, Arena *scratch, double *scaled) {
  int32_t n = jacobian->size;
  double *row = arena_array(scratch, (size_t)n, sizeof *row), *column = arena_array(scratch, (size_t)n, sizeof *column);
  for (int32_t p = 0; p < n; p++)
    for (int32_t e = jacobian->row_start[p]; e < jacobian->row_start[p + 1]; e++)
      row[p] = fmax(row[p], fabs(values[e]));
  for (int32_t p = 0; p < n; p++)
    for (int32_t e = jacobian->row_start[p]; e < jacobian->row_start[p + 1] && row[p] > 0; e++)
      column[jacobian->column[e]] = fmax(column[jacobian->column[e]], fabs(values[e]) / row[p]);
  for (int32_t p = 0; p < n; p++) {
    if (!(row[p] > 0) || !(column[p] > 0)) return false;
    for (int32_t e = jacobian->row_start[p]; e < jacobian->row_start[p + 1]; e++)
      scaled[e] = values[e] / row[p] / column[jacobian->column[e]];
  }
  return true;
}

/* Pivots that are at most `lost` times what they are made of count as errors. `least`, if not NULL: the size of the last pivot. */
static int32_t dense_rank(const BlockJacobian *jacobian, const double *scaled, double lost, Arena *scratch,
                          double *least) {
  int32_t n = jacobian->size;
  double *a = arena_array(scratch, (size_t)(n * n), sizeof *a),
         *size = arena_array(scratch, (size_t)(n * n), sizeof *size);
  for (int32_t p = 0; p < n; p++)
    for (int32_t e = jacobian->row_start[p]; e < jacobian->row_start[p + 1]; e++) {
      a[p * n + jacobian->column[e]] += scaled[e];
      size[p * n + jacobian->column[e]] += fabs(scaled[e]);
    }
  int32_t rank = linear_rank(a, size, n, lost);
  if (least) *least = rank ? fabs(a[(rank - 1) * (n + 1)]) : 0;
  return rank;
}

/* By the growth of the solution for a right-hand side without special direction. */
static bool sparse_is_regular(const BlockJacobian *jacobian, const double *scaled, Arena *scratch) {
  int32_t n = jacobian->size, nonzeros = jacobian->row_start[n];
  Linear *linear = linear_new(scratch->heap, n, nonzeros, false);
  linear_set_pattern(linear, jacobian->row_start, jacobian->column); /* the transposed matrix, of the same rank */
  if (!linear_factor(linear, scaled)) return false;
  double *b = arena_array(scratch, (size_t)n, sizeof *b), growth = 0;
  for (int32_t p = 0; p < n; p++) b[p] = (p * 7 % 11) - 5.5;
  linear_solve(linear, b);
  for (int32_t p = 0; p < n; p++) growth = fmax(growth, isfinite(b[p]) ? fabs(b[p]) : HUGE_VAL);
  return growth < LARGEST_GROWTH;
}

/* The rank at a point; UNDEFINED where an entry is. Of a large singular matrix it is known only to be less
 * than n. It is certain unless the last pivot of a scaled matrix is tiny, by itself or beside what it is made of: that may be
 * made of entries which are nothing but round-off at this point, although nothing cancels in it. */
static int32_t rank_at(const BlockJacobian *jacobian, const double *values, Heap *heap, bool *is_certain) {
  int32_t n = jacobian->size, nonzeros = jacobian->row_start[n];
  for (int32_t e = 0; e < nonzeros; e++)
    if (isnan(values[e])) return UNDEFINED;
  Arena scratch = arena_make(heap);
  double *scaled = arena_array(&scratch, (size_t)nonzeros, sizeof *scaled);
  bool full = scale_entries(jacobian, values, &scratch, scaled);
  int32_t rank = n;
  double least = 1;
  if (n > DENSE_SIZE) rank = full && sparse_is_regular(jacobian, scaled, &scratch) ? n : n - 1;
  else if (n == 1) rank = full;
  else if (full) rank = dense_rank(jacobian, scaled, SMALLEST_PIVOT, &scratch, &least);
  else rank = dense_rank(jacobian, values, SMALLEST_PIVOT, &scratch, NULL);
  *is_certain = least > SMALLEST_PIVOT;
  /* More than round-off of what it is made of: a conductance of 1e-12 siemens beside one of 1 is there. */
  if (full && rank < n && n <= DENSE_SIZE && dense_rank(jacobian, scaled, pivot_error(n), &scratch, NULL) == n) {
    rank = n;
    *is_certain = false;
  }
  arena_free(&scratch);
  return rank;
}

/* Values at a point, round-off put to zero. */
static double *evaluate(const Samples *samples, uint32_t sample, const Expr *entries, uint32_t count, Arena *arena) {
  double *values = arena_array(arena, count, sizeof *values), *sizes = arena_array(arena, count, sizeof *sizes);
  samples_evaluate(samples, sample, entries, count, values, sizes);
  for (uint32_t e = 0; e < count; e++)
    if (sample_is_zero(values[e], sizes[e])) values[e] = 0;
  return values;
}

/* The first points decide quickly; a block that is singular or undefined there must be so everywhere, but for a few
 * points where its rank is not certain. */
static bool is_singular(const BlockJacobian *jacobian, const Samples *samples, Arena *arena, SingularBlock *found) {
  int32_t n = jacobian->size, uncertain = 0;
  *found = (SingularBlock){.size = n};
  for (uint32_t s = 0; s < SAMPLE_COUNT; s++) {
    const double *values = evaluate(samples, s, jacobian->entry, (uint32_t)jacobian->row_start[n], arena);
    bool is_certain;
    int32_t rank = rank_at(jacobian, values, arena->heap, &is_certain);
    if (rank == n && is_certain) return false;
    if (rank == n) uncertain++;
    if (rank == n || rank == UNDEFINED) continue;
    if (n > DENSE_SIZE)
      rank = n <= RANK_SIZE && !found->points ? dense_rank(jacobian, values, SMALLEST_PIVOT, arena, NULL) : UNDEFINED;
    if (rank > found->rank || !found->points) found->rank = rank;
    found->points++;
  }
  return found->points >= LEAST_DEFINED && found->points > uncertain;
}

/* ---- null vectors ---- */

/* Relative size of random changes that make a singular matrix just regular; the solution for any right-hand
 * side is then a null vector but for errors of that size. What is below NULL_ELEMENT of its largest element
 * is taken for zero. */
static const double DISTURBANCE = 1e-10, NULL_ELEMENT = 1e-6;
enum { SUPPORT_POINTS = 2 };

/* The matrix by columns for linear.h: of the matrix itself, or of its transpose, which is the pattern by
 * rows. */
typedef struct SolvePattern {
  int32_t *start, *index, *entry;
} SolvePattern;

static SolvePattern solve_pattern(const BlockJacobian *jacobian, bool transposed, Arena *arena) {
  int32_t n = jacobian->size, nonzeros = jacobian->row_start[n];
  SolvePattern pattern = {arena_array(arena, (size_t)n + 2, sizeof(int32_t)),
                          arena_array(arena, (size_t)nonzeros, sizeof(int32_t)),
                          arena_array(arena, (size_t)nonzeros, sizeof(int32_t))};
  for (int32_t p = 0; p < n; p++)
    for (int32_t e = jacobian->row_start[p]; e < jacobian->row_start[p + 1]; e++)
      pattern.start[(transposed ? p : jacobian->column[e]) + 2]++;
  for (int32_t q = 0; q < n; q++) pattern.start[q + 2] += pattern.start[q + 1];
  for (int32_t p = 0; p < n; p++)
    for (int32_t e = jacobian->row_start[p]; e < jacobian->row_start[p + 1]; e++) {
      int32_t place = pattern.start[(transposed ? p : jacobian->column[e]) + 1]++;
      pattern.index[place] = transposed ? jacobian->column[e] : p;
      pattern.entry[place] = e;
    }
  return pattern;
}

/* Adds the elements of one null vector. */
static bool add_support(const BlockJacobian *jacobian, const SolvePattern *pattern, const double *scaled,
                        Arena *scratch, bool *inside) {
  int32_t n = jacobian->size, nonzeros = jacobian->row_start[n];
  Linear *linear = linear_new(scratch->heap, n, nonzeros, false);
  double *values = arena_array(scratch, (size_t)nonzeros, sizeof *values),
         *x = arena_array(scratch, (size_t)n, sizeof *x);
  double largest = 0;
  for (int32_t k = 0; k < nonzeros; k++)
    values[k] = scaled[pattern->entry[k]] * (1 + DISTURBANCE * ((k * 37 % 101) - 50.5));
  for (int32_t p = 0; p < n; p++) x[p] = (p * 7 % 11) - 5.5;
  linear_set_pattern(linear, pattern->start, pattern->index);
  if (!linear_factor(linear, values)) return false;
  linear_solve(linear, x);
  for (int32_t p = 0; p < n; p++) largest = fmax(largest, isfinite(x[p]) ? fabs(x[p]) : HUGE_VAL);
  if (!(largest < HUGE_VAL) || largest == 0) return false;
  for (int32_t p = 0; p < n; p++) inside[p] = inside[p] || fabs(x[p]) > NULL_ELEMENT * largest;
  return true;
}

bool regular_support(const BlockJacobian *jacobian, bool rows, const Samples *samples, Arena *arena, bool *inside) {
  int32_t n = jacobian->size, nonzeros = jacobian->row_start[n];
  if (jacobian->columns != n) return false;
  Arena scratch = arena_make(arena->heap);
  SolvePattern pattern = solve_pattern(jacobian, rows, &scratch);
  double *scaled = arena_array(&scratch, (size_t)nonzeros, sizeof *scaled);
  int found = 0;
  for (uint32_t s = 0; s < SAMPLE_COUNT && found < SUPPORT_POINTS; s++) {
    const double *values = evaluate(samples, s, jacobian->entry, (uint32_t)nonzeros, &scratch);
    bool defined = true;
    for (int32_t e = 0; e < nonzeros && defined; e++) defined = !isnan(values[e]);
    if (!defined || !scale_entries(jacobian, values, &scratch, scaled)) continue;
    if (!add_support(jacobian, &pattern, scaled, &scratch, inside)) break;
    found++;
  }
  arena_free(&scratch);
  return found == SUPPORT_POINTS;
}

/* ---- all blocks ---- */

/* One equation that gives its variable with a number as factor: the usual block, seen without any
 * derivative. */
static bool is_plainly_regular(const Problem *problem, const Structure *structure, int32_t block, ExprVec *leaves) {
  const Blocks *blocks = &structure->blocks;
  Dag *dag = problem->model->dag;
  int32_t begin = blocks->start[block];
  if (blocks->start[block + 1] - begin != 1) return false;
  int32_t i = blocks->row[begin], j = blocks->column[begin];
  Expr residual = problem->residual[i];
  if (dag_op(dag, residual) != OP_SUM) return dag_op(dag, residual) == OP_VARIABLE;
  Expr leaf = dag_variable(dag, problem->unknown[j], (uint32_t)(structure->d[j] - structure->c[i]));
  bool found = false;
  uint32_t count = dag_child_count(dag, residual);
  for (uint32_t k = 0; k < count; k++) {
    Expr child = dag_child(dag, residual, k);
    if (child == leaf) {
      found = true;
      continue;
    }
    leaves->count = 0;
    if (dag_op(dag, child) != OP_VARIABLE) dag_variables(dag, dag_scratch(dag), child, leaves);
    for (uint32_t q = 0; q < leaves->count; q++)
      if (leaves->data[q] == leaf) return false;
  }
  return found;
}

typedef struct Candidates {
  IntVec block;
  VEC(BlockJacobian) jacobian;
  ExprVec entries;
} Candidates;

static void collect(const Problem *problem, const Structure *structure, Arena *scratch, Candidates *candidates) {
  Heap *heap = scratch->heap;
  ExprVec leaves = {0};
  int32_t *place = arena_array(scratch, problem->unknowns, sizeof *place);
  for (int32_t b = 0; b < structure->blocks.n_blocks; b++) {
    if (is_plainly_regular(problem, structure, b, &leaves)) continue;
    BlockJacobian jacobian = regular_jacobian(problem, structure, b, place, scratch);
    vec_push(heap, &candidates->block, b);
    vec_push(heap, &candidates->jacobian, jacobian);
    for (int32_t e = 0; e < jacobian.row_start[jacobian.size]; e++)
      vec_push(heap, &candidates->entries, jacobian.entry[e]);
  }
  vec_free(heap, &leaves);
}

static void release(Candidates *candidates, Arena *scratch) {
  vec_free(scratch->heap, &candidates->block, &candidates->jacobian, &candidates->entries);
  arena_free(scratch);
}

void regular_check(const Problem *problem, const Structure *structure, const Samples *samples, Arena *arena,
                   SingularVec *singular) {
  Heap *heap = arena->heap;
  Arena scratch = arena_make(heap);
  Candidates candidates = {0};
  collect(problem, structure, &scratch, &candidates);
  double *values = evaluate(samples, 0, candidates.entries.data, candidates.entries.count, &scratch);
  uint32_t at = 0;
  for (uint32_t k = 0; k < candidates.block.count; k++) {
    const BlockJacobian *jacobian = &candidates.jacobian.data[k];
    bool is_certain, regular = rank_at(jacobian, values + at, heap, &is_certain) == jacobian->size && is_certain;
    SingularBlock found;
    at += (uint32_t)jacobian->row_start[jacobian->size];
    if (regular || !is_singular(jacobian, samples, &scratch, &found)) continue;
    found.block = candidates.block.data[k];
    vec_push(heap, singular, found);
  }
  release(&candidates, &scratch);
}

void regular_check_start(const Problem *problem, const Structure *structure, const Samples *samples, Arena *arena,
                         SingularVec *singular) {
  Heap *heap = arena->heap;
  Arena scratch = arena_make(heap);
  Candidates candidates = {0};
  collect(problem, structure, &scratch, &candidates);
  double *values = evaluate(samples, SAMPLE_START, candidates.entries.data, candidates.entries.count, &scratch);
  uint32_t at = 0, next = 0, known = singular->count;
  for (uint32_t k = 0; k < candidates.block.count; k++) {
    const BlockJacobian *jacobian = &candidates.jacobian.data[k];
    bool is_certain;
    int32_t block = candidates.block.data[k], rank = rank_at(jacobian, values + at, heap, &is_certain);
    at += (uint32_t)jacobian->row_start[jacobian->size];
    while (next < known && singular->data[next].block < block) next++;
    bool everywhere = next < known && singular->data[next].block == block;
    if (everywhere || rank == UNDEFINED || rank == jacobian->size) continue;
    SingularBlock found = {.block = block, .size = jacobian->size, .rank = rank, .here_only = true, .points = 1};
    if (jacobian->size > DENSE_SIZE) found.rank = UNDEFINED;
    vec_push(heap, singular, found);
  }
  release(&candidates, &scratch);
}
