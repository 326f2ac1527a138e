/* proof: see proof.h. */
#include "array/proof.h"

#include "array/exact.h"

/* Largest matrix, and largest rest of it that minors are made of. */
enum { LARGEST_MATRIX = 64, LARGEST_REST = 8 };

/* The rows and columns not yet eliminated; entries by rows of the whole. */
typedef struct Rest {
  Ring *ring;
  int32_t width, count;
  int32_t row[LARGEST_MATRIX], column[LARGEST_MATRIX];
  Polynomial *entry;
} Rest;

static Polynomial *at(const Rest *rest, int32_t p, int32_t q) {
  return &rest->entry[rest->row[p] * rest->width + rest->column[q]];
}

static bool fill(Rest *rest, Exact *exact, const BlockJacobian *jacobian) {
  int32_t n = jacobian->size, nonzeros = jacobian->row_start[n];
  Polynomial *values = arena_array(exact->ring.arena, (size_t)nonzeros, sizeof *values);
  if (!exact_polynomials(exact, jacobian->entry, (uint32_t)nonzeros, values)) return false;
  *rest = (Rest){.ring = &exact->ring, .width = n, .count = n};
  rest->entry = arena_array(exact->ring.arena, (size_t)(n * n), sizeof *rest->entry);
  for (int32_t p = 0; p < n; p++) {
    rest->row[p] = rest->column[p] = p;
    for (int32_t e = jacobian->row_start[p]; e < jacobian->row_start[p + 1]; e++) {
      Polynomial *entry = &rest->entry[p * n + jacobian->column[e]];
      *entry = polynomial_add(rest->ring, *entry, values[e]);
      if (polynomial_vanishes(rest->ring, *entry)) *entry = (Polynomial){0};
    }
  }
  return !rest->ring->failed;
}

static bool has_empty_line(const Rest *rest) {
  for (int32_t p = 0; p < rest->count; p++) {
    int32_t row = 0, column = 0;
    for (int32_t q = 0; q < rest->count; q++) {
      row += at(rest, p, q)->count > 0;
      column += at(rest, q, p)->count > 0;
    }
    if (!row || !column) return true;
  }
  return false;
}

/* The number of terms in a line of the rest, but for one entry. */
static int64_t line_terms(const Rest *rest, int32_t p, int32_t q, bool row) {
  int64_t terms = 0;
  for (int32_t k = 0; k < rest->count; k++)
    if (k != (row ? q : p)) terms += row ? at(rest, p, k)->count : at(rest, k, q)->count;
  return terms;
}

/* The pivot of one term that makes the fewest new terms (Markowitz 1957, with terms for entries). */
static bool choose_pivot(const Rest *rest, int32_t *row, int32_t *column) {
  int64_t best = INT64_MAX;
  for (int32_t p = 0; p < rest->count; p++)
    for (int32_t q = 0; q < rest->count; q++) {
      if (!polynomial_is_unit(rest->ring, *at(rest, p, q))) continue;
      int64_t cost = line_terms(rest, p, q, true) * line_terms(rest, p, q, false);
      if (cost >= best) continue;
      best = cost, *row = p, *column = q;
    }
  return best < INT64_MAX;
}

static void eliminate(Rest *rest, int32_t row, int32_t column) {
  Ring *ring = rest->ring;
  Polynomial inverse = polynomial_inverse(ring, *at(rest, row, column));
  for (int32_t p = 0; p < rest->count && !ring->failed; p++) {
    if (p == row || !at(rest, p, column)->count) continue;
    Polynomial factor = polynomial_multiply(ring, *at(rest, p, column), inverse);
    for (int32_t q = 0; q < rest->count; q++) {
      if (q == column || !at(rest, row, q)->count) continue;
      Polynomial product = polynomial_multiply(ring, factor, *at(rest, row, q));
      *at(rest, p, q) = polynomial_subtract(ring, *at(rest, p, q), product);
      if (polynomial_vanishes(ring, *at(rest, p, q))) *at(rest, p, q) = (Polynomial){0};
    }
  }
  rest->count--;
  rest->row[row] = rest->row[rest->count];
  rest->column[column] = rest->column[rest->count];
}

/* Minors of the first rows by sets of columns: each is expanded along its last row. */
static bool minors_vanish(const Rest *rest) {
  Ring *ring = rest->ring;
  uint32_t sets = 1u << rest->count;
  Polynomial *minor = arena_array(ring->arena, sets, sizeof *minor);
  minor[0] = polynomial_constant(ring, (Fraction){1, 1});
  for (uint32_t set = 1; set < sets && !ring->failed; set++) {
    int32_t size = 0, place = 0;
    for (int32_t q = 0; q < rest->count; q++) size += (int32_t)((set >> q) & 1u);
    for (int32_t q = 0; q < rest->count; q++) {
      if (!((set >> q) & 1)) continue;
      bool minus = (size - 1 - place++) % 2;
      Polynomial part = polynomial_multiply(ring, *at(rest, size - 1, q), minor[set & ~(1u << q)]);
      minor[set] = minus ? polynomial_subtract(ring, minor[set], part) : polynomial_add(ring, minor[set], part);
    }
  }
  return polynomial_vanishes(ring, minor[sets - 1]);
}

bool proof_singular(const BlockJacobian *jacobian, const Samples *samples) {
  if (jacobian->size > LARGEST_MATRIX) return false;
  Arena scratch = arena_make(samples->model->heap);
  Exact *exact = arena_alloc(&scratch, sizeof *exact);
  *exact = exact_make(samples, &scratch);
  Rest *rest = arena_alloc(&scratch, sizeof *rest);
  int32_t row = 0, column = 0;
  bool singular = false;
  if (fill(rest, exact, jacobian)) {
    while (!(singular = has_empty_line(rest)) && !exact->ring.failed && choose_pivot(rest, &row, &column))
      eliminate(rest, row, column);
    if (!singular && rest->count > 1 && rest->count <= LARGEST_REST) singular = minors_vanish(rest);
    singular = singular && !exact->ring.failed;
  }
  arena_free(&scratch);
  return singular;
}

bool proof_vanishes(const Samples *samples, const Expr *factor, const Expr *part, uint32_t count) {
  Arena scratch = arena_make(samples->model->heap);
  Exact *exact = arena_alloc(&scratch, sizeof *exact);
  *exact = exact_make(samples, &scratch);
  Polynomial *left = arena_array(&scratch, count, sizeof *left), *right = arena_array(&scratch, count, sizeof *right),
             sum = {0};
  bool known = exact_polynomials(exact, factor, count, left) && exact_polynomials(exact, part, count, right);
  for (uint32_t k = 0; k < count && known; k++)
    sum = polynomial_add(&exact->ring, sum, polynomial_multiply(&exact->ring, left[k], right[k]));
  bool vanishes = known && polynomial_vanishes(&exact->ring, sum);
  arena_free(&scratch);
  return vanishes;
}

/* The terms of one column of the sum of rows. */
typedef struct ColumnTerms {
  ExprVec factor, entry;
} ColumnTerms;

bool proof_dependence(const BlockJacobian *jacobian, const Dependence *rows, const Samples *samples) {
  Heap *heap = samples->model->heap;
  int32_t n = jacobian->size;
  ColumnTerms *columns = heap_array(heap, (size_t)n, sizeof *columns);
  bool holds = true;
  for (uint32_t k = 0; k < rows->count; k++)
    for (int32_t e = jacobian->row_start[rows->line[k]]; e < jacobian->row_start[rows->line[k] + 1]; e++) {
      vec_push(heap, &columns[jacobian->column[e]].factor, rows->factor[k]);
      vec_push(heap, &columns[jacobian->column[e]].entry, jacobian->entry[e]);
    }
  for (int32_t q = 0; q < n; q++) {
    const ColumnTerms *column = &columns[q];
    holds = holds && (!column->factor.count ||
                      proof_vanishes(samples, column->factor.data, column->entry.data, column->factor.count));
    vec_free(heap, &columns[q].factor);
    vec_free(heap, &columns[q].entry);
  }
  heap_free(heap, columns);
  return holds;
}
