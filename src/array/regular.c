/* regular: see regular.h. */
#include "array/regular.h"

#include "base/linear.h"
#include "base/rank.h"

#include <float.h>
#include <math.h>

/* Blocks up to this size are eliminated with complete pivoting; larger ones are factored as sparse matrices first,
 * and the ranks of singular ones are found up to a larger size. */
enum { DENSE_SIZE = 48, RANK_SIZE = 400, LEAST_DEFINED = 3, UNDEFINED = -1 };

/* Errors of a pivot relative to its terms: one unit of round-off for each elimination, and some for the entries themselves. */
static double pivot_error(int32_t n) { return (n + 8) * DBL_EPSILON; }

/* The matrix of a block that consists of one equation, linear in its variable. false: the block is different. */
static bool set_slope(const Problem *problem, const Structure *structure, BlockJacobian *jacobian, Arena *arena) {
  Dag *dag = problem->model->dag;
  int32_t i = *jacobian->equation, j = *jacobian->unknown;
  Expr slope, leaf = dag_variable(dag, problem->unknown[j], (uint32_t)(structure->d[j] - structure->c[i]));
  if (jacobian->size != 1 || !dag_linear(dag, problem->residual[i], leaf, &slope, NULL)) return false;
  double value;
  jacobian->entry = arena_copy_array(arena, &slope, 1, sizeof slope);
  jacobian->column = arena_array(arena, 1, sizeof *jacobian->column);
  jacobian->row_start[1] = !dag_is_constant(dag, slope, &value) || value != 0;
  return true;
}

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
  if (set_slope(problem, structure, &jacobian, arena)) return jacobian;
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

/* The entries at a point. For each entry: its value, with round-off replaced by zero; the size of its terms, because their
 * round-off is its error; and the size of the terms of a value that was replaced. */
typedef struct Entries {
  double *value, *size, *absorbed;
} Entries;

static Entries make_entries(size_t count, Arena *arena) {
  return (Entries){arena_array(arena, count, sizeof(double)), arena_array(arena, count, sizeof(double)),
                   arena_array(arena, count, sizeof(double))};
}

static Entries evaluate(const Samples *samples, uint32_t sample, const Expr *entries, uint32_t count, Arena *arena) {
  Entries found = make_entries(count, arena);
  samples_evaluate(samples, sample, entries, count, found.value, found.size, found.absorbed);
  for (uint32_t e = 0; e < count; e++)
    if (sample_is_zero(found.value[e], found.size[e])) found.value[e] = 0;
  return found;
}

static Entries entries_from(Entries entries, uint32_t first) {
  return (Entries){entries.value + first, entries.size + first, entries.absorbed + first};
}

static bool are_defined(const BlockJacobian *jacobian, Entries entries) {
  for (int32_t e = 0; e < jacobian->row_start[jacobian->size]; e++)
    if (isnan(entries.value[e])) return false;
  return true;
}

/* Scales rows, then columns, to largest entry 1. A row or column of zeros stays as it is. */
static Entries scale_entries(const BlockJacobian *jacobian, Entries entries, Arena *scratch) {
  int32_t n = jacobian->size;
  Entries scaled = make_entries((size_t)jacobian->row_start[n], scratch);
  double *row = arena_array(scratch, (size_t)n, sizeof *row), *column = arena_array(scratch, (size_t)n, sizeof *column);
  for (int32_t p = 0; p < n; p++) {
    for (int32_t e = jacobian->row_start[p]; e < jacobian->row_start[p + 1]; e++)
      row[p] = fmax(row[p], fabs(entries.value[e]));
    if (!(row[p] > 0)) row[p] = 1;
    for (int32_t e = jacobian->row_start[p]; e < jacobian->row_start[p + 1]; e++)
      column[jacobian->column[e]] = fmax(column[jacobian->column[e]], fabs(entries.value[e]) / row[p]);
  }
  for (int32_t p = 0; p < n; p++)
    for (int32_t e = jacobian->row_start[p]; e < jacobian->row_start[p + 1]; e++) {
      double largest = column[jacobian->column[e]] > 0 ? column[jacobian->column[e]] : 1;
      scaled.value[e] = entries.value[e] / row[p] / largest;
      scaled.size[e] = entries.size[e] / row[p] / largest;
      scaled.absorbed[e] = entries.absorbed[e] / row[p] / largest;
    }
  return scaled;
}

/* The rank; UNDEFINED if terms that round-off removed may make it larger. */
static int32_t dense_rank(const BlockJacobian *jacobian, Entries scaled, Arena *scratch) {
  int32_t n = jacobian->size;
  Entries full = make_entries((size_t)n * (size_t)n, scratch);
  for (int32_t p = 0; p < n; p++)
    for (int32_t e = jacobian->row_start[p]; e < jacobian->row_start[p + 1]; e++) {
      int32_t place = p * n + jacobian->column[e];
      full.value[place] += scaled.value[e];
      full.size[place] += scaled.size[e];
      full.absorbed[place] += scaled.absorbed[e];
    }
  int32_t rank = linear_rank(full.value, full.size, full.absorbed, n, pivot_error(n));
  for (int32_t p = rank; p < n; p++)
    for (int32_t q = rank; q < n; q++)
      if (full.absorbed[p * n + q] > 0) return UNDEFINED;
  return rank;
}

/* Errors of the entries can make a regular matrix singular only if |inverse|*errors is 1 or more (Rump). A right-hand side with
 * random signs estimates that. */
static bool sparse_is_regular(const BlockJacobian *jacobian, Entries scaled, Arena *scratch) {
  int32_t n = jacobian->size, nonzeros = jacobian->row_start[n];
  Linear *linear = linear_new(scratch->heap, n, nonzeros, false);
  linear_set_pattern(linear, jacobian->row_start, jacobian->column); /* the transposed matrix, of the same rank */
  if (!linear_factor(linear, scaled.value)) return false;
  double *b = arena_array(scratch, (size_t)n, sizeof *b), growth = 0;
  for (int32_t e = 0; e < nonzeros; e++) b[jacobian->column[e]] += scaled.size[e];
  for (int32_t p = 0; p < n; p++) b[p] *= p * 7 % 11 < 6 ? 1 : -1;
  linear_solve(linear, b);
  for (int32_t p = 0; p < n; p++) growth = fmax(growth, isfinite(b[p]) ? fabs(b[p]) : HUGE_VAL);
  return growth * pivot_error(n) < 1;
}

/* The rank at a point; UNDEFINED if an entry is undefined, or if round-off hides the rank. For a very large singular matrix it is
 * only known to be less than n. */
static int32_t rank_at(const BlockJacobian *jacobian, Entries entries, Heap *heap) {
  int32_t n = jacobian->size;
  if (!are_defined(jacobian, entries)) return UNDEFINED;
  if (n == 1 && jacobian->row_start[1] == 1 && isnormal(entries.value[0])) return 1; /* far above its round-off */
  Arena scratch = arena_make(heap);
  Entries scaled = scale_entries(jacobian, entries, &scratch);
  int32_t rank = n - 1;
  if (n > DENSE_SIZE && sparse_is_regular(jacobian, scaled, &scratch)) rank = n;
  else if (n <= RANK_SIZE) rank = dense_rank(jacobian, scaled, &scratch);
  arena_free(&scratch);
  return rank;
}

/* A block that is singular or undefined at all points counts as singular everywhere; a block that is regular at one point is
 * regular. */
static bool is_singular(const BlockJacobian *jacobian, const Samples *samples, Arena *arena, SingularBlock *found) {
  int32_t n = jacobian->size;
  *found = (SingularBlock){.size = n};
  for (uint32_t s = 0; s < SAMPLE_COUNT; s++) {
    Entries entries = evaluate(samples, s, jacobian->entry, (uint32_t)jacobian->row_start[n], arena);
    int32_t rank = rank_at(jacobian, entries, arena->heap);
    if (rank == n) return false;
    if (rank == UNDEFINED) continue;
    if (rank > found->rank) found->rank = rank;
    found->points++;
  }
  if (n > RANK_SIZE) found->rank = UNDEFINED;
  return found->points >= LEAST_DEFINED;
}

/* ---- null vectors ---- */

/* Relative size of random changes that make a singular matrix just regular. The solution for any right-hand side is then a null
 * vector, except for errors of that size. Elements below NULL_ELEMENT of the largest one count as zero. */
static const double DISTURBANCE = 1e-10, NULL_ELEMENT = 1e-6;
enum { SUPPORT_POINTS = 2 };

/* A matrix by columns, for linear.h: the matrix of a block, or its transpose, which is the pattern by rows. */
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
  int found = 0;
  for (uint32_t s = 0; s < SAMPLE_COUNT && found < SUPPORT_POINTS; s++) {
    Entries entries = evaluate(samples, s, jacobian->entry, (uint32_t)nonzeros, &scratch);
    if (!are_defined(jacobian, entries)) continue;
    if (!add_support(jacobian, &pattern, scale_entries(jacobian, entries, &scratch).value, &scratch, inside)) break;
    found++;
  }
  arena_free(&scratch);
  return found == SUPPORT_POINTS;
}

/* ---- all blocks ---- */

/* Is the term the leaf, or the leaf times a parameter that is not 0? */
static bool is_plain_term(const Dag *dag, const Samples *samples, Term term, Expr leaf) {
  if (term.node == leaf) return true;
  if (dag_op(dag, term.node) != OP_MULTIPLY) return false;
  Expr a = dag_child(dag, term.node, 0), b = dag_child(dag, term.node, 1), factor = a == leaf ? b : a;
  return (a == leaf || b == leaf) && dag_op(dag, factor) == OP_PARAMETER &&
         isnormal(term.coefficient * samples->parameters[dag_index(dag, factor)]);
}

/* One equation that gives its variable with a number or a parameter as factor: the usual block, recognized without
 * differentiating. */
static bool is_plainly_regular(const Problem *problem, const Structure *structure, const Samples *samples,
                               int32_t block, ExprVec *leaves) {
  const Blocks *blocks = &structure->blocks;
  Dag *dag = problem->model->dag;
  int32_t begin = blocks->start[block];
  if (blocks->start[block + 1] - begin != 1) return false;
  int32_t i = blocks->row[begin], j = blocks->column[begin];
  Expr residual = problem->residual[i];
  if (dag_op(dag, residual) != OP_SUM) return dag_op(dag, residual) == OP_VARIABLE;
  Expr leaf = dag_variable(dag, problem->unknown[j], (uint32_t)(structure->d[j] - structure->c[i]));
  uint32_t plain = 0;
  double constant;
  const Term *terms;
  uint32_t count = dag_terms(dag, residual, &constant, &terms);
  for (uint32_t k = 0; k < count; k++) {
    if (is_plain_term(dag, samples, terms[k], leaf)) {
      plain++;
      continue;
    }
    leaves->count = 0;
    if (dag_op(dag, terms[k].node) != OP_VARIABLE) dag_variables(dag, dag_scratch(dag), terms[k].node, leaves);
    for (uint32_t q = 0; q < leaves->count; q++)
      if (leaves->data[q] == leaf) return false;
  }
  return plain == 1;
}

/* The blocks that may be singular, a batch at a time. */
typedef struct Candidates {
  const Problem *problem;
  const Structure *structure;
  const Samples *samples;
  Arena scratch;        /* of the batch */
  int32_t *place, next; /* next: the first block after the batch */
  IntVec block;
  VEC(BlockJacobian) jacobian;
  ExprVec entries;
} Candidates;

static Candidates candidates_make(const Problem *problem, const Structure *structure, const Samples *samples,
                                  Heap *heap) {
  return (Candidates){.problem = problem,
                      .structure = structure,
                      .samples = samples,
                      .scratch = arena_make(heap),
                      .place = heap_array(heap, problem->unknowns, sizeof(int32_t))};
}

/* Finds the next batch. At the end returns false and releases everything. */
static bool candidates_next(Candidates *candidates) {
  Heap *heap = candidates->scratch.heap;
  ExprVec leaves = {0};
  arena_free(&candidates->scratch);
  candidates->scratch = arena_make(heap);
  candidates->block.count = candidates->jacobian.count = candidates->entries.count = 0;
  for (; candidates->next < candidates->structure->blocks.n_blocks && candidates->entries.count < SAMPLES_BATCH;
       candidates->next++) {
    if (is_plainly_regular(candidates->problem, candidates->structure, candidates->samples, candidates->next, &leaves))
      continue;
    BlockJacobian jacobian = regular_jacobian(candidates->problem, candidates->structure, candidates->next,
                                              candidates->place, &candidates->scratch);
    vec_push(heap, &candidates->block, candidates->next);
    vec_push(heap, &candidates->jacobian, jacobian);
    for (int32_t e = 0; e < jacobian.row_start[jacobian.size]; e++)
      vec_push(heap, &candidates->entries, jacobian.entry[e]);
  }
  vec_free(heap, &leaves);
  if (candidates->block.count) return true;
  heap_free(heap, candidates->place);
  vec_free(heap, &candidates->block, &candidates->jacobian, &candidates->entries);
  arena_free(&candidates->scratch);
  return false;
}

/* Is the block, with these entries at the start values, singular there? */
static bool is_singular_here(const BlockJacobian *jacobian, Entries entries, Heap *heap, SingularBlock *found) {
  int32_t rank = rank_at(jacobian, entries, heap), n = jacobian->size;
  *found = (SingularBlock){.size = n, .rank = n > RANK_SIZE ? UNDEFINED : rank, .here_only = true, .points = 1};
  return rank != UNDEFINED && rank != n;
}

void regular_check(const Problem *problem, const Structure *structure, const Samples *samples, Arena *arena,
                   SingularVec *singular, SingularVec *here) {
  Heap *heap = arena->heap;
  Candidates candidates = candidates_make(problem, structure, samples, heap);
  Samples start = *samples; /* the start values as they are given */
  start.is_zero = here ? heap_array(heap, samples->model->unknowns.count, sizeof(bool)) : NULL;
  while (candidates_next(&candidates)) {
    const ExprVec *all = &candidates.entries;
    Entries values = evaluate(samples, 0, all->data, all->count, &candidates.scratch), starting = {0};
    if (here) starting = evaluate(&start, SAMPLE_START, all->data, all->count, &candidates.scratch);
    for (uint32_t k = 0, at = 0; k < candidates.block.count; k++) {
      const BlockJacobian *jacobian = &candidates.jacobian.data[k];
      SingularBlock found;
      bool everywhere = rank_at(jacobian, entries_from(values, at), heap) != jacobian->size &&
                        is_singular(jacobian, samples, &candidates.scratch, &found);
      bool only_here = here && !everywhere && is_singular_here(jacobian, entries_from(starting, at), heap, &found);
      found.block = candidates.block.data[k];
      if (everywhere) vec_push(heap, singular, found);
      if (only_here) vec_push(heap, here, found);
      at += (uint32_t)jacobian->row_start[jacobian->size];
    }
  }
  heap_free(heap, start.is_zero);
}
