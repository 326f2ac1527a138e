/* nonlinear: see nonlinear.h. Invariant: after linearize(x) and evaluate(x), `entries`, `scale` and `r` belong to x; every step is
 * made from these three. */
#include "nonlinear/nonlinear.h"

#include "base/linear.h"
#include "base/spread.h"
#include "nonlinear/least_norm.h"
#include "nonlinear/row_size.h"

#include <string.h>

enum {
  ITERATION_LIMIT = 100,
  STAGNATION = 10,      /* the sum of squares must fall by a tenth within this many iterations */
  LONG_STAGNATION = 50, /* the same with short steps, which may cross flat places */
  HALVING_LIMIT = 6,
  HALVING_NEAR = 2,
  DAMPING_LIMIT = 8,
  POLISH_LIMIT = 6,
  SLIDE_LIMIT = 200,
  SLIDE_HALVINGS = 30, /* enough to reach a kink */
  CONTINUATION_LIMIT = 200,
  EQUILIBRATION = 10, /* rounds: factors of 1e124 become 2 */
  ENTRY_WORK = 4, /* steps of work (budget.h) per entry, whenever rows or entries are computed: a few operations each */
};

static const double CONSISTENT = 1e-10; /* scaled residual of a solution */
static const double FLOOR = 4e-16;      /* a smaller step is lost in round-off */
static const double SLACK = 1e-22, FIRM_SLACK = 1e-14, MOST_SLACK = 1e4;
static const double SHORTEST =
    1e-5; /* smallest step of a continuation, relative to the size of a column; the next number is also relative to that size */
static const double FIRST = 0.25;
static const double LEAST_DAMPING = 1e-4;
static const double FARTHEST_SLIDE = 64; /* relative to the step of the linear model */
static const double ASIDE = 1e-4; /* distance from a point where no row depends on a column, in units of the columns */
static const double NOWHERE = 1e-9;   /* a smaller distance counts as zero */
static const double NO_SLIDE = 1e-10; /* a smaller step along the solutions, relative to the size of a column, counts as
                                            * zero */
static const double LINEAR = 1e-16;   /* the sum of squares after a step, relative to the sum before it */
static const double LONGEST = 0.5;    /* careful step, relative to the size of a column */
static const double UNNOTICED = 1e-3; /* part of a step, relative to the round-off of each row */
static const double LEAST_FRACTION = 1e-8; /* of a correction */
static const double ASTRAY =
    1e3; /* relative to nominal and first value: of a larger column, only this much counts in the terms of a row */
static const double FLAT =
    1e-3; /* fraction of a path along which rows do not change, relative to a path of nominal length */
static const double SINGULAR = 1e11; /* a matrix whose inverse amplifies more counts as singular */

struct Nonlinear {
  const NonlinearProblem *problem;
  Heap *heap;
  int32_t rows, columns, free;
  bool careful;
  double *entries, *r;
  double *scale;      /* per row: makes a residual relative to the sizes of all columns */
  double *free_scale; /* per row: makes its largest entry in the free columns 1, with `unit` as their unit */
  double *weight;     /* per column */
  double *damping;    /* per column: factor of the weight, below 1 for those that diverged */
  double *unit;       /* per column: its unit in the norm */
  double slack;       /* slack of the last step */
  double rest;        /* the sum of squares after the step, according to the linear model, */
  double after;       /* the actual sum of squares after the step */
  double *entered;    /* per column: its value at the start of the search */
  double *step, *trial, *origin, *target; /* per column */
  double *right;                          /* per row */
  LeastNorm *norm;
  Linear *square; /* NULL: its pattern must be made */
  int32_t *square_start, *square_row;
  double *square_value;
};

const char *nonlinear_rung_words(NonlinearRung rung) {
  static const char *const WORDS[] = {
#define RUNG(name, words) [RUNG_##name] = words,
#include "nonlinear/rungs.def"
  };
  return WORDS[rung];
}

Nonlinear *nonlinear_new(Heap *heap, const NonlinearProblem *problem) {
  Nonlinear *nonlinear = heap_alloc(heap, sizeof *nonlinear);
  size_t n = (size_t)problem->columns, m = (size_t)problem->rows, nonzeros = (size_t)problem->column_start[n];
  *nonlinear = (Nonlinear){
      .problem = problem, .heap = heap, .rows = problem->rows, .columns = problem->columns, .free = problem->columns};
  nonlinear->entries = heap_array(heap, nonzeros, sizeof(double));
  heap_numbers(heap, m, &nonlinear->r, &nonlinear->scale, &nonlinear->free_scale, &nonlinear->right);
  heap_numbers(heap, n, &nonlinear->weight, &nonlinear->damping, &nonlinear->unit, &nonlinear->step, &nonlinear->trial,
               &nonlinear->origin, &nonlinear->target, &nonlinear->entered);
  nonlinear->norm = least_norm_new(heap, problem->rows, problem->columns, problem->column_start, problem->row_index);
  for (size_t k = 0; k < n; k++) nonlinear->weight[k] = nonlinear->damping[k] = 1;
  return nonlinear;
}

void nonlinear_set_weights(Nonlinear *nonlinear, const double *weights) {
  bool same = true;
  nonlinear->free = 0;
  for (int32_t k = 0; k < nonlinear->columns; k++) {
    same &= (weights[k] > 0) == (nonlinear->weight[k] > 0);
    nonlinear->weight[k] = weights[k];
    nonlinear->free += weights[k] > 0;
  }
  if (!same) nonlinear->square = NULL;
}

void nonlinear_set_careful(Nonlinear *nonlinear, bool careful) { nonlinear->careful = careful; }

const double *nonlinear_rows(const Nonlinear *nonlinear) { return nonlinear->r; }
const double *nonlinear_scale(const Nonlinear *nonlinear) { return nonlinear->scale; }
const double *nonlinear_entries(const Nonlinear *nonlinear) { return nonlinear->entries; }

/* ---- points ---- */

static bool is_free(const Nonlinear *nonlinear, int32_t k) { return nonlinear->weight[k] > 0; }

static int32_t column_begin(const Nonlinear *nonlinear, int32_t k) { return nonlinear->problem->column_start[k]; }

static int32_t row_of(const Nonlinear *nonlinear, int32_t entry) { return nonlinear->problem->row_index[entry]; }

/* Unit of a column in the norm. */
static double column_unit(const Nonlinear *nonlinear, int32_t k) {
  return nonlinear->weight[k] * nonlinear->damping[k] * nonlinear->problem->nominal[k];
}

/* Size of a column at x, for residuals and for steps lost in round-off. */
static double column_size(const Nonlinear *nonlinear, int32_t k, const double *x) {
  return nonlinear->problem->nominal[k] + fabs(x[k]);
}

static void count_work(Nonlinear *nonlinear) {
  Budget *budget = heap_budget(nonlinear->heap);
  uint64_t steps = ENTRY_WORK * (uint64_t)column_begin(nonlinear, nonlinear->columns);
  if (steps > budget->most[BUDGET_WORK] - budget->used[BUDGET_WORK])
    budget_task(budget, "the solution of nonlinear equations");
  heap_work(nonlinear->heap, steps);
}

static bool evaluate(Nonlinear *nonlinear, const double *x, double *squares) {
  count_work(nonlinear);
  if (!nonlinear->problem->residual(nonlinear->problem->context, x, nonlinear->r)) return false;
  *squares = 0;
  for (int32_t i = 0; i < nonlinear->rows; i++) {
    double size = nonlinear->r[i] * nonlinear->free_scale[i];
    *squares += size * size;
  }
  return isfinite(*squares);
}

/* The scale of a row follows from its entries in free columns; entries in held columns have a weight of a thousandth. So a row
 * that hardly depends on free unknowns does not outweigh the others. */
static void scale_rows(Nonlinear *nonlinear, const double *x) {
  double *scale = nonlinear->scale, *free_scale = nonlinear->free_scale;
  memset(scale, 0, (size_t)nonlinear->rows * sizeof *scale);
  memset(free_scale, 0, (size_t)nonlinear->rows * sizeof *free_scale);
  for (int32_t k = 0; k < nonlinear->columns; k++) {
    double size = column_size(nonlinear, k, x);
    double unit = is_free(nonlinear, k) ? column_unit(nonlinear, k) : 1e-3 * nonlinear->problem->nominal[k];
    for (int32_t e = column_begin(nonlinear, k); e < column_begin(nonlinear, k + 1); e++) {
      int32_t i = row_of(nonlinear, e);
      scale[i] = fmax(scale[i], fabs(nonlinear->entries[e]) * size);
      free_scale[i] = fmax(free_scale[i], fabs(nonlinear->entries[e]) * unit);
    }
  }
  for (int32_t i = 0; i < nonlinear->rows; i++) {
    scale[i] = scale[i] > 0 ? 1 / scale[i] : 1;
    free_scale[i] = free_scale[i] > 0 ? 1 / free_scale[i] : 1;
  }
}

/* Entries of held columns may be infinite, for example that of sqrt(u) if u is known to be 0. */
static bool drop_infinite(Nonlinear *nonlinear) {
  for (int32_t k = 0; k < nonlinear->columns; k++)
    for (int32_t e = column_begin(nonlinear, k); e < column_begin(nonlinear, k + 1); e++) {
      if (isfinite(nonlinear->entries[e])) continue;
      if (is_free(nonlinear, k)) return false;
      nonlinear->entries[e] = 0;
    }
  return true;
}

/* The matrix at x, and the scales of the rows. */
static bool linearize(Nonlinear *nonlinear, const double *x) {
  const NonlinearProblem *problem = nonlinear->problem;
  count_work(nonlinear);
  if (!problem->jacobian(problem->context, x, nonlinear->entries) && !drop_infinite(nonlinear)) return false;
  scale_rows(nonlinear, x);
  return true;
}

static bool look_at(Nonlinear *nonlinear, const double *x, double *squares) {
  return linearize(nonlinear, x) && evaluate(nonlinear, x, squares);
}

static double largest_residual(const Nonlinear *nonlinear, uint32_t *worst) {
  double largest = 0;
  *worst = 0;
  for (int32_t i = 0; i < nonlinear->rows; i++) {
    double size = fabs(nonlinear->r[i]) * nonlinear->scale[i];
    if (size > largest) largest = size, *worst = (uint32_t)i;
  }
  return largest;
}

double nonlinear_residual(Nonlinear *nonlinear, const double *x, uint32_t *worst) {
  double squares;
  *worst = 0;
  return look_at(nonlinear, x, &squares) ? largest_residual(nonlinear, worst) : HUGE_VAL;
}

/* ---- steps ---- */

/* Copies the free columns of the matrix without scaling them. */
static void make_square(Nonlinear *nonlinear) {
  Heap *heap = nonlinear->heap;
  size_t nonzeros = (size_t)column_begin(nonlinear, nonlinear->columns);
  nonlinear->square_start = heap_array(heap, (size_t)nonlinear->free + 1, sizeof(int32_t));
  nonlinear->square_row = heap_array(heap, nonzeros, sizeof(int32_t));
  nonlinear->square_value = heap_array(heap, nonzeros, sizeof(double));
  int32_t next = 0, column = 0;
  for (int32_t k = 0; k < nonlinear->columns; k++) {
    if (!is_free(nonlinear, k)) continue;
    for (int32_t e = column_begin(nonlinear, k); e < column_begin(nonlinear, k + 1); e++)
      nonlinear->square_row[next++] = row_of(nonlinear, e);
    nonlinear->square_start[++column] = next;
  }
  nonlinear->square = linear_new(heap, nonlinear->free, next, false);
  linear_set_pattern(nonlinear->square, nonlinear->square_start, nonlinear->square_row);
}

/* Factors a system for steps at x. Square systems do not use the weights: the step does not depend on them. */
static bool factor_square(Nonlinear *nonlinear, const double *x) {
  if (!nonlinear->square) make_square(nonlinear);
  int32_t next = 0;
  for (int32_t k = 0; k < nonlinear->columns; k++) {
    if (!is_free(nonlinear, k)) continue;
    double size = column_size(nonlinear, k, x);
    for (int32_t e = column_begin(nonlinear, k); e < column_begin(nonlinear, k + 1); e++)
      nonlinear->square_value[next++] = nonlinear->entries[e] * nonlinear->scale[row_of(nonlinear, e)] * size;
  }
  return linear_factor(nonlinear->square, nonlinear->square_value);
}

/* Scales the rows and columns of the square matrix until the largest entry of each is about 1 (Ruiz 2001: each round halves the logarithms). */
static void equilibrate(const Nonlinear *nonlinear, double *row_factor, double *column_factor) {
  int32_t n = nonlinear->free;
  double *largest = heap_array(nonlinear->heap, 2 * (size_t)n, sizeof *largest), *of_column = largest + n;
  for (int32_t k = 0; k < n; k++) row_factor[k] = column_factor[k] = 1;
  for (int round = 0; round < EQUILIBRATION; round++) {
    memset(largest, 0, 2 * (size_t)n * sizeof *largest);
    for (int32_t k = 0; k < n; k++)
      for (int32_t e = nonlinear->square_start[k]; e < nonlinear->square_start[k + 1]; e++) {
        int32_t i = nonlinear->square_row[e];
        double size = fabs(nonlinear->square_value[e]) * row_factor[i] * column_factor[k];
        largest[i] = fmax(largest[i], size);
        of_column[k] = fmax(of_column[k], size);
      }
    for (int32_t k = 0; k < n; k++) {
      if (largest[k] > 0) row_factor[k] /= sqrt(largest[k]);
      if (of_column[k] > 0) column_factor[k] /= sqrt(of_column[k]);
    }
  }
  heap_free(nonlinear->heap, largest);
}

/* Is the inverse much larger than 1, independently of units? A force on an area of 1e60 is large, not undetermined. */
static bool is_singular(const Nonlinear *nonlinear, const double *part) {
  double *row_factor, *column_factor, asked = 0, found = 0;
  heap_numbers(nonlinear->heap, (size_t)nonlinear->free, &row_factor, &column_factor);
  equilibrate(nonlinear, row_factor, column_factor);
  for (int32_t k = 0; k < nonlinear->free; k++) {
    asked = fmax(asked, fabs(nonlinear->r[k] * nonlinear->scale[k]) * row_factor[k]);
    double size = fabs(part[k]) / column_factor[k];
    if (!(size <= found)) found = size;
  }
  heap_free_all(nonlinear->heap, row_factor, column_factor);
  return !(found <= SINGULAR * asked);
}

/* false if this right-hand side shows that the matrix is singular: rows and columns are scaled, so its inverse should not be
 * much larger than 1. */
static bool solve_square(Nonlinear *nonlinear, const double *x) {
  double asked = 0, found = 0, *right = nonlinear->right;
  if (!factor_square(nonlinear, x)) return false;
  for (int32_t i = 0; i < nonlinear->rows; i++) {
    right[i] = -nonlinear->r[i] * nonlinear->scale[i];
    asked = fmax(asked, fabs(right[i]));
  }
  linear_solve(nonlinear->square, right);
  nonlinear->rest = 0;
  for (int32_t k = 0, column = 0; k < nonlinear->columns; k++) {
    double part = is_free(nonlinear, k) ? right[column++] : 0;
    nonlinear->step[k] = part * column_size(nonlinear, k, x);
    if (!(fabs(part) <= found)) found = fabs(part);
  }
  return found <= SINGULAR * asked || (isfinite(found) && !is_singular(nonlinear, right));
}

/* The correction of least norm or, with `target`, the one that ends nearest to `target`. */
static bool solve_least_norm(Nonlinear *nonlinear, const double *x, const double *target) {
  for (int32_t k = 0; k < nonlinear->columns; k++) {
    nonlinear->unit[k] = column_unit(nonlinear, k);
    nonlinear->target[k] = target ? target[k] - x[k] : 0;
  }
  for (int32_t i = 0; i < nonlinear->rows; i++) nonlinear->right[i] = -nonlinear->r[i] * nonlinear->free_scale[i];
  least_norm_set_units(nonlinear->norm, nonlinear->unit);
  if (!least_norm_factor(nonlinear->norm, nonlinear->entries, nonlinear->free_scale, nonlinear->slack)) return false;
  bool is_finite = least_norm_solve(nonlinear->norm, nonlinear->right, nonlinear->target, nonlinear->step);
  nonlinear->rest = least_norm_left(nonlinear->norm);
  return is_finite;
}

static bool find_step(Nonlinear *nonlinear, const double *x, double slack) {
  nonlinear->slack = slack;
  if (nonlinear->free == 0) return false;
  if (slack == SLACK && nonlinear->free == nonlinear->rows && solve_square(nonlinear, x)) return true;
  return solve_least_norm(nonlinear, x, NULL);
}

static double step_size(const Nonlinear *nonlinear, const double *x) {
  double largest = 0;
  for (int32_t k = 0; k < nonlinear->columns; k++)
    largest = fmax(largest, fabs(nonlinear->step[k]) / column_size(nonlinear, k, x));
  return largest;
}

static void copy(const Nonlinear *nonlinear, double *to, const double *from) {
  memcpy(to, from, (size_t)nonlinear->columns * sizeof *to);
}

static void go(const Nonlinear *nonlinear, const double *from, double fraction, double *x) {
  for (int32_t k = 0; k < nonlinear->columns; k++) x[k] = from[k] + fraction * nonlinear->step[k];
}

/* If steps are careful, shortens a step that is longer than LONGEST. */
static void shorten(Nonlinear *nonlinear, const double *x, double squares) {
  double size = step_size(nonlinear, x), fraction = LONGEST / size;
  if (!nonlinear->careful || size <= LONGEST) return;
  for (int32_t k = 0; k < nonlinear->columns; k++) nonlinear->step[k] *= fraction;
  nonlinear->rest = squares - fraction * (squares - nonlinear->rest);
}

/* Does a step cross a flat region, where residuals neither fall nor grow? */
static bool is_level(const Nonlinear *nonlinear, double squares, double before) {
  return nonlinear->careful && squares <= before * (1 + 1e-12);
}

/* Halves the step until the rows are defined and smaller; leaves x there, or as it was. Returns the fraction
 * taken. */
static double search_line(Nonlinear *nonlinear, double *x, double before, int limit) {
  double fraction = 1, squares;
  copy(nonlinear, nonlinear->trial, x);
  for (int halving = 0; halving < limit; halving++, fraction /= 2) {
    go(nonlinear, nonlinear->trial, fraction, x);
    if (!evaluate(nonlinear, x, &squares)) continue;
    if (squares > before - 0.25 * fraction * (before - nonlinear->rest) && !is_level(nonlinear, squares, before))
      continue;
    nonlinear->after = squares;
    return fraction;
  }
  copy(nonlinear, x, nonlinear->trial);
  return 0;
}

/* The slack is small at first, for rows that depend on each other, and then grows, for steps that go too far. */
static double more_slack(double slack) {
  return slack == SLACK ? FIRM_SLACK : slack == FIRM_SLACK ? 1e-6 : 100 * slack;
}

/* Damps the columns that the last step would move farthest relative to their size, because its linear model fails first for these.
 * false: all columns move by similar amounts. */
static bool damp(Nonlinear *nonlinear, const double *x) {
  double largest = step_size(nonlinear, x);
  int32_t damped = 0;
  if (nonlinear->free <= nonlinear->rows || largest < 0.1) return false;
  for (int32_t k = 0; k < nonlinear->columns; k++) {
    if (!is_free(nonlinear, k) || fabs(nonlinear->step[k]) < 0.3 * largest * column_size(nonlinear, k, x)) continue;
    if (nonlinear->damping[k] < LEAST_DAMPING) continue;
    nonlinear->damping[k] *= 0.1;
    damped++;
  }
  return damped > 0 && damped < nonlinear->free;
}

/* Lets columns move by their weights again; the damping changes by at most this factor. */
static void relieve(Nonlinear *nonlinear, double factor) {
  for (int32_t k = 0; k < nonlinear->columns; k++) nonlinear->damping[k] = fmin(1, factor * nonlinear->damping[k]);
}

/* One iteration: a step that makes the rows smaller. If only a small fraction of a step makes them smaller, columns that move
 * too far are damped first. Then the rows are required to hold less exactly, which shortens the step (Levenberg, Marquardt). */
static bool advance(Nonlinear *nonlinear, double *x, double squares, double *slack, bool near) {
  for (int tries = 0; *slack <= MOST_SLACK; tries++) {
    bool found = find_step(nonlinear, x, *slack);
    if (nonlinear->free == 0 || (found && step_size(nonlinear, x) <= FLOOR)) return false;
    if (found) shorten(nonlinear, x, squares);
    double fraction = found ? search_line(nonlinear, x, squares, near ? HALVING_NEAR : HALVING_LIMIT) : 0;
    if (fraction == 1) {
      *slack = *slack <= 1e-6 ? SLACK : *slack / 100;
      relieve(nonlinear, 10);
    }
    if (fraction >= 0.25 || (fraction > 0 && tries >= DAMPING_LIMIT)) return true;
    if (near) return fraction > 0; /* round-off */
    if (fraction > 0) {
      copy(nonlinear, x, nonlinear->trial);
      if (!evaluate(nonlinear, x, &squares)) return false;
    }
    if (!found || tries >= DAMPING_LIMIT || !damp(nonlinear, x)) *slack = more_slack(*slack), tries = DAMPING_LIMIT;
  }
  return false;
}

/* ---- is it a solution? ---- */

/* Computes the sizes of the rows at x; returns the largest residual relative to them. */
static double largest_excess(const Nonlinear *nonlinear, const double *x, RowSize *size) {
  double largest = 0;
  memset(size, 0, (size_t)nonlinear->rows * sizeof *size);
  for (int32_t k = 0; k < nonlinear->columns; k++)
    for (int32_t e = column_begin(nonlinear, k); e < column_begin(nonlinear, k + 1); e++)
      row_size_add(&size[row_of(nonlinear, e)], nonlinear->entries[e], x[k], nonlinear->problem->nominal[k]);
  for (int32_t i = 0; i < nonlinear->rows; i++) largest = fmax(largest, row_excess(nonlinear->r[i], &size[i]));
  return largest;
}

/* Removes from the step the part that changes no row: such a part may leave the domain of a row, as from u = 0 in
 * u^1.5. */
static void drop_unnoticed(Nonlinear *nonlinear, const RowSize *size) {
  for (int32_t k = 0; k < nonlinear->columns; k++) {
    double most = 0;
    for (int32_t e = column_begin(nonlinear, k); e < column_begin(nonlinear, k + 1); e++)
      most = fmax(most, row_excess(nonlinear->entries[e] * nonlinear->step[k], &size[row_of(nonlinear, e)]));
    if (most < UNNOTICED) nonlinear->step[k] = 0;
  }
}

/* Residuals may be round-off in units of nominal, but not relative to the terms of their rows (row_size.h), because columns may be
 * small compared with their nominal values. Takes full steps while the largest excess shrinks. Do the rows hold then? */
static bool polish(Nonlinear *nonlinear, double *x, RowSize *size) {
  double squares, excess = HUGE_VAL;
  copy(nonlinear, nonlinear->trial, x);
  for (int k = 0; k < POLISH_LIMIT && look_at(nonlinear, x, &squares); k++) {
    double now = largest_excess(nonlinear, x, size);
    if (!(now < excess)) break;
    excess = now;
    copy(nonlinear, nonlinear->trial, x);
    if (now <= 1 || !find_step(nonlinear, x, SLACK)) break;
    drop_unnoticed(nonlinear, size);
    go(nonlinear, nonlinear->trial, 1, x);
  }
  copy(nonlinear, x, nonlinear->trial);
  return excess <= 1;
}

static bool is_strict(const Nonlinear *nonlinear, int32_t i, const RowSize *size) {
  return fabs(nonlinear->r[i]) <= fmax(TERMS_CONSISTENT * size[i].terms, 2 * DBL_EPSILON);
}

/* A row whose residual is small relative to the nominal values, but not to its terms, must change when a step is taken, and the
 * step is taken. Near the pole of a logarithm the matrix is so large that every residual looks like round-off. */
static bool answers_to_step(Nonlinear *nonlinear, double *x, const RowSize *size) {
  double squares, *before = nonlinear->target;
  bool all_strict = true, answers = true;
  for (int32_t i = 0; i < nonlinear->rows; i++) all_strict &= is_strict(nonlinear, i, size);
  if (all_strict || nonlinear->free < nonlinear->rows || !find_step(nonlinear, x, SLACK)) return all_strict;
  for (int32_t i = 0; i < nonlinear->rows; i++) before[i] = is_strict(nonlinear, i, size) ? HUGE_VAL : nonlinear->r[i];
  go(nonlinear, x, 1, nonlinear->trial);
  answers = evaluate(nonlinear, nonlinear->trial, &squares);
  for (int32_t i = 0; i < nonlinear->rows && answers; i++) answers = fabs(nonlinear->r[i]) <= 0.5 * fabs(before[i]);
  if (answers) copy(nonlinear, x, nonlinear->trial);
  return answers;
}

/* Like answers_to_step, with diverged columns limited to plausible sizes: every sine is small compared with 1e12 * cos(1e12),
 * but not compared with its terms. */
static bool astray_hold(Nonlinear *nonlinear, double *x, RowSize *size) {
  double squares, *plausible = heap_array(nonlinear->heap, (size_t)nonlinear->columns, sizeof *plausible);
  bool hold = true;
  for (int round = 0; round < POLISH_LIMIT && hold; round++) {
    for (int32_t k = 0; k < nonlinear->columns; k++)
      plausible[k] = fmin(fabs(x[k]), ASTRAY * (nonlinear->problem->nominal[k] + fabs(nonlinear->entered[k])));
    hold = look_at(nonlinear, x, &squares) && largest_excess(nonlinear, plausible, size) <= 1 &&
           answers_to_step(nonlinear, x, size);
  }
  heap_free(nonlinear->heap, plausible);
  return hold;
}

/* Do all rows hold at x, relative to their terms and by the problem's own test? */
static bool confirm(Nonlinear *nonlinear, double *x, bool hold) {
  const NonlinearProblem *problem = nonlinear->problem;
  RowSize *size = heap_array(nonlinear->heap, (size_t)nonlinear->rows, sizeof *size);
  double squares;
  hold = hold || polish(nonlinear, x, size);
  hold = hold && look_at(nonlinear, x, &squares);
  if (hold && problem->confirm) hold = problem->confirm(problem->context, x, nonlinear->r);
  else if (hold) hold = astray_hold(nonlinear, x, size);
  heap_free(nonlinear->heap, size);
  return hold;
}

static bool rows_hold(const Nonlinear *nonlinear, const double *x) {
  RowSize *size = heap_array(nonlinear->heap, (size_t)nonlinear->rows, sizeof *size);
  bool hold = largest_excess(nonlinear, x, size) <= 1;
  heap_free(nonlinear->heap, size);
  return hold;
}

/* Finds why no step is left at x, where the rows do not hold: if a step of least norm would satisfy them, columns are dependent. */
static void find_reason(Nonlinear *nonlinear, const double *x, NonlinearResult *result) {
  double squares, largest = 0;
  result->end = result->iterations >= ITERATION_LIMIT ? NONLINEAR_SLOW : NONLINEAR_INCONSISTENT;
  if (result->end == NONLINEAR_SLOW || nonlinear->free == 0 || !look_at(nonlinear, x, &squares)) return;
  if (nonlinear->free == nonlinear->rows && solve_square(nonlinear, x)) return;
  nonlinear->slack = FIRM_SLACK;
  if (!solve_least_norm(nonlinear, x, NULL) || nonlinear->free < nonlinear->rows) return;
  result->end = NONLINEAR_SINGULAR;
  for (int32_t k = 0; k < nonlinear->columns; k++) {
    double size = fabs(nonlinear->step[k]) / column_size(nonlinear, k, x);
    if (size > largest) largest = size, result->vanishing = (uint32_t)k;
  }
}

static NonlinearResult iterate(Nonlinear *nonlinear, double *x) {
  NonlinearResult result = {.residual = HUGE_VAL, .end = NONLINEAR_UNDEFINED};
  double squares, slack = SLACK, before = HUGE_VAL;
  uint32_t stagnation = nonlinear->careful ? LONG_STAGNATION : STAGNATION;
  bool hold = false;
  while (look_at(nonlinear, x, &squares)) {
    result.defined = true;
    result.residual = largest_residual(nonlinear, &result.worst);
    bool near = result.residual <= CONSISTENT;
    hold = near && rows_hold(nonlinear, x);
    if (squares == 0 || result.iterations++ >= ITERATION_LIMIT) break;
    if (result.iterations % stagnation == 0) {
      if (squares > 0.9 * before) break;
      before = squares;
    }
    if (!advance(nonlinear, x, squares, &slack, near)) break;
    if (result.iterations == 1) result.linear = nonlinear->after <= LINEAR * squares;
  }
  result.solved = result.defined && result.residual <= CONSISTENT && confirm(nonlinear, x, hold);
  result.end = result.solved ? NONLINEAR_CONVERGED : result.end;
  return result;
}

/* ---- steps by their own size ---- */

/* The size of a correction of the square system, whose columns are scaled by their sizes. */
static double part_norm(const double *part, int32_t count) {
  double squares = 0;
  for (int32_t k = 0; k < count; k++) squares += part[k] * part[k];
  return sqrt(squares);
}

/* Computes the correction at x with the existing factors, in `right`. false: a function is undefined at x. */
static bool correct_with_factors(Nonlinear *nonlinear, const double *x) {
  double squares;
  if (!evaluate(nonlinear, x, &squares)) return false;
  for (int32_t i = 0; i < nonlinear->rows; i++) nonlinear->right[i] = -nonlinear->r[i] * nonlinear->scale[i];
  linear_solve(nonlinear->square, nonlinear->right);
  return true;
}

/* Takes the fraction of the step after which the next correction, with the same factors, is smaller; x is then that point.
 * Deuflhard 2004, algorithm NLEQ-ERR of section 3.3: the fraction follows from how much of the correction was not predicted. 0:
 * there is none. */
static double go_naturally(Nonlinear *nonlinear, const double *part, double fraction, double *x) {
  int32_t n = nonlinear->free;
  double size = part_norm(part, n), *left = nonlinear->right;
  copy(nonlinear, nonlinear->trial, x);
  while (fraction >= LEAST_FRACTION) {
    go(nonlinear, nonlinear->trial, fraction, x);
    if (!correct_with_factors(nonlinear, x)) {
      fraction /= 2;
      continue;
    }
    double after = part_norm(left, n);
    for (int32_t k = 0; k < n; k++) left[k] -= (1 - fraction) * part[k];
    double better = 0.5 * size * fraction * fraction / part_norm(left, n);
    if (after <= (1 - fraction / 4) * size) return fraction;
    fraction = better < fraction / 2 ? better : fraction / 2;
  }
  copy(nonlinear, x, nonlinear->trial);
  return 0;
}

/* Goes to a point with small residuals by steps that make the next correction smaller. Residuals may grow on the
 * way, for example along a curved valley of equations in different units. false: it does not converge. */
static bool approach_naturally(Nonlinear *nonlinear, double *x, uint32_t *iterations) {
  double squares, fraction = 1, *part = nonlinear->target;
  uint32_t worst;
  for (int k = 0; k < ITERATION_LIMIT && look_at(nonlinear, x, &squares); k++, ++*iterations) {
    if (largest_residual(nonlinear, &worst) <= CONSISTENT) return true;
    if (!solve_square(nonlinear, x)) return false;
    for (int32_t q = 0, column = 0; q < nonlinear->columns; q++)
      if (is_free(nonlinear, q)) part[column++] = nonlinear->step[q] / column_size(nonlinear, q, x);
    fraction = go_naturally(nonlinear, part, fmin(1, 4 * fraction), x);
    if (fraction == 0) return false;
  }
  return false;
}

/* ---- flat places ---- */

/* Finds a direction in which the rows do not change at x, of length 1 in units of the columns, in `direction`. false: there is
 * none. */
static bool find_flat_direction(Nonlinear *nonlinear, const double *x, double *direction) {
  double squares, largest = 0, *target = direction;
  if (!look_at(nonlinear, x, &squares)) return false;
  nonlinear->slack = FIRM_SLACK;
  if (!solve_least_norm(nonlinear, x, NULL)) return false;
  double *back = heap_copy(nonlinear->heap, nonlinear->step, (size_t)nonlinear->columns, sizeof *back);
  for (int32_t k = 0; k < nonlinear->columns; k++) {
    target[k] = x[k] + (is_free(nonlinear, k) ? 0.5 + spread_part(k + 1) : 0) * column_unit(nonlinear, k);
  }
  bool found = solve_least_norm(nonlinear, x, target);
  for (int32_t k = 0; k < nonlinear->columns && found; k++) {
    direction[k] = nonlinear->step[k] - back[k];
    largest = fmax(largest, fabs(direction[k]) / column_unit(nonlinear, k));
  }
  heap_free(nonlinear->heap, back);
  found = found && largest > FLAT;
  for (int32_t k = 0; k < nonlinear->columns && found; k++) direction[k] /= largest;
  return found;
}

/* The length of a direction in nominal values of the columns. */
static double nominal_length(const Nonlinear *nonlinear, const double *direction) {
  double longest = 0;
  for (int32_t k = 0; k < nonlinear->columns; k++)
    longest = fmax(longest, fabs(direction[k]) / nonlinear->problem->nominal[k]);
  return longest;
}

/* The distance of x from the start of the search, with each column measured by its typical size. */
static double way_from_entry(const Nonlinear *nonlinear, const double *x) {
  double squares = 0;
  for (int32_t k = 0; k < nonlinear->columns; k++) {
    double way = (x[k] - nonlinear->entered[k]) / column_size(nonlinear, k, nonlinear->entered);
    squares += way * way;
  }
  return squares;
}

/* Leaves a point where no step is possible because the rows do not change along a direction, such as those of a flow at rest.
 * Continues from points along that direction on both sides, at two distances: 1, and the nominal values of the columns. Near a flat
 * region steps are long and end far away, so among several solutions the one nearest to the start of the search is used. */
static NonlinearResult leave_flat_place(Nonlinear *nonlinear, double *x) {
  NonlinearResult result = {0};
  double *direction, *reached, *found, squares;
  uint32_t iterations = 0;
  heap_numbers(nonlinear->heap, (size_t)nonlinear->columns, &direction, &reached, &found);
  copy(nonlinear, reached, x);
  bool is_flat = find_flat_direction(nonlinear, x, direction);
  double length = is_flat ? nominal_length(nonlinear, direction) : 1, ways[] = {1, -1, 1 / length, -1 / length};
  for (int way = 0; way < (length == 1 ? 2 : 4) && is_flat; way++) {
    for (int32_t k = 0; k < nonlinear->columns; k++) x[k] = reached[k] + ways[way] * direction[k];
    NonlinearResult now = iterate(nonlinear, x);
    iterations += now.iterations;
    if (!now.solved || (result.solved && way_from_entry(nonlinear, found) <= way_from_entry(nonlinear, x))) continue;
    result = now;
    copy(nonlinear, found, x);
  }
  copy(nonlinear, x, result.solved ? found : reached);
  if (result.solved) look_at(nonlinear, x, &squares);
  result.iterations = iterations;
  heap_free_all(nonlinear->heap, direction, reached, found);
  return result;
}

/* Uses the result of a later rung, if it is a solution. */
static void climb(NonlinearResult *result, NonlinearResult other, NonlinearRung rung) {
  uint32_t iterations = result->iterations + other.iterations;
  if (other.solved) *result = other, result->rung = rung;
  result->iterations = iterations;
}

NonlinearResult nonlinear_correct(Nonlinear *nonlinear, double *x) {
  relieve(nonlinear, HUGE_VAL);
  copy(nonlinear, nonlinear->entered, x);
  return iterate(nonlinear, x);
}

NonlinearResult nonlinear_solve(Nonlinear *nonlinear, double *x) {
  bool by_corrections = nonlinear->problem->by_corrections && nonlinear->free == nonlinear->rows;
  NonlinearResult result = nonlinear_correct(nonlinear, x);
  if (result.defined && !result.solved && by_corrections) {
    double *reached = heap_copy(nonlinear->heap, x, (size_t)nonlinear->columns, sizeof *x);
    NonlinearResult other = {0};
    copy(nonlinear, x, nonlinear->entered);
    if (approach_naturally(nonlinear, x, &other.iterations)) other = iterate(nonlinear, x);
    climb(&result, other, RUNG_CORRECTIONS);
    if (!other.solved) copy(nonlinear, x, reached);
    heap_free(nonlinear->heap, reached);
  }
  if (result.defined && !result.solved && nonlinear->free == nonlinear->rows)
    climb(&result, leave_flat_place(nonlinear, x), RUNG_ASIDE);
  if (result.defined && !result.solved) find_reason(nonlinear, x, &result);
  return result;
}

/* ---- the nearest solution ---- */

static double distance(const Nonlinear *nonlinear, const double *x) {
  double squares = 0;
  for (int32_t k = 0; k < nonlinear->columns; k++) {
    double away = is_free(nonlinear, k) ? (x[k] - nonlinear->origin[k]) / column_unit(nonlinear, k) : 0;
    squares += away * away;
  }
  return sqrt(squares);
}

/* The squared norm of the step. */
static double step_squares(const Nonlinear *nonlinear) {
  double squares = 0;
  for (int32_t k = 0; k < nonlinear->columns; k++) {
    double part = is_free(nonlinear, k) ? nonlinear->step[k] / column_unit(nonlinear, k) : 0;
    squares += part * part;
  }
  return squares;
}

/* The step along the solutions that ends as near to a target as their linear model allows. If there are as many rows as
 * columns, it can move along solutions only if rows depend on each other, and round-off hides that. */
static bool solve_slide(Nonlinear *nonlinear, const double *x, const double *target) {
  nonlinear->slack = nonlinear->free > nonlinear->rows ? SLACK : FIRM_SLACK;
  return solve_least_norm(nonlinear, x, target);
}

/* Is column k free, and does no row depend on it at the point of linearization? Then no step moves it, as at the top of exp(-x^2). */
static bool is_undrawn(const Nonlinear *nonlinear, int32_t k) {
  bool is = is_free(nonlinear, k);
  for (int32_t e = column_begin(nonlinear, k); e < column_begin(nonlinear, k + 1) && is; e++)
    is = fabs(nonlinear->entries[e] * nonlinear->free_scale[row_of(nonlinear, e)] * column_unit(nonlinear, k)) <=
         NO_SLIDE;
  return is;
}

/* A point slightly away from x: in the columns that nothing moves, or in all of them. false: there are none. */
static bool place_aside(const Nonlinear *nonlinear, const double *x, bool only_undrawn, double *place) {
  bool any = false;
  for (int32_t k = 0; k < nonlinear->columns; k++) {
    bool moves = !only_undrawn || is_undrawn(nonlinear, k);
    place[k] = x[k] + (moves ? ASIDE * column_unit(nonlinear, k) : 0);
    any |= moves;
  }
  return any;
}

/* Does a small step along the solutions get nearer to the origin? If so, moves x there. Where the solutions are normal to the
 * direction of the origin, the point may be farther from the origin than its neighbours, like the top of a bell curve. */
static bool step_aside(Nonlinear *nonlinear, double *x, bool only_undrawn) {
  double away = distance(nonlinear, x), squares;
  double *held, *place;
  heap_numbers(nonlinear->heap, (size_t)nonlinear->columns, &held, &place);
  copy(nonlinear, held, x);
  bool is_nearer = look_at(nonlinear, x, &squares) && place_aside(nonlinear, x, only_undrawn, place) &&
                   solve_slide(nonlinear, x, place);
  if (is_nearer) {
    go(nonlinear, held, 1, x);
    is_nearer = iterate(nonlinear, x).solved && distance(nonlinear, x) < away * (1 - DBL_EPSILON / ASIDE);
  }
  if (!is_nearer) copy(nonlinear, x, held);
  heap_free_all(nonlinear->heap, held, place);
  return is_nearer;
}

/* Steps along the solutions towards the origin, each followed by corrections back onto them, while they
 * shorten the distance. */
static void slide(Nonlinear *nonlinear, double *x, NonlinearResult *result) {
  double fraction = 1, away = distance(nonlinear, x), squares, *tangent, *held;
  heap_numbers(nonlinear->heap, (size_t)nonlinear->columns, &tangent, &held);
  for (int k = 0; k < SLIDE_LIMIT && away > NOWHERE; k++) {
    if (!look_at(nonlinear, x, &squares) || !solve_slide(nonlinear, x, nonlinear->origin)) break;
    if (step_size(nonlinear, x) < NO_SLIDE) break;
    copy(nonlinear, tangent, nonlinear->step);
    copy(nonlinear, held, x);
    double gain = step_squares(nonlinear); /* the slope of half the squared distance */
    bool nearer = false;
    double next = away;
    for (int halving = 0; halving < SLIDE_HALVINGS && !nearer; halving++, fraction /= 2) {
      copy(nonlinear, nonlinear->step, tangent);
      go(nonlinear, held, fraction, x);
      NonlinearResult back = iterate(nonlinear, x);
      result->iterations += back.iterations;
      next = distance(nonlinear, x);
      nearer = back.solved && next * next < away * away - 0.5 * fraction * gain;
      if (nearer) result->residual = back.residual;
    }
    if (!nearer) {
      copy(nonlinear, x, held);
      break;
    }
    fraction =
        fmin(4 * fraction,
             FARTHEST_SLIDE); /* twice the last step, because an origin far from the curve has only a weak effect */
    if (away - next < 1e-12 * away) break;
    away = next;
  }
  heap_free_all(nonlinear->heap, tangent, held);
}

/* Is the square matrix regular at x, if each column is scaled by its typical size? Then no other solution is near. The test solves
 * with a right-hand side of pseudo-random numbers. With slack FIRM_SLACK, steps slide along directions whose singular value is
 * below its square root. */
static bool is_regular(Nonlinear *nonlinear, const double *x) {
  double squares, found = 0, *right = nonlinear->right;
  if (!look_at(nonlinear, x, &squares) || !factor_square(nonlinear, x)) return false;
  for (int32_t i = 0; i < nonlinear->rows; i++) right[i] = 0.5 + spread_part(i + 1);
  linear_solve(nonlinear->square, right);
  for (int32_t k = 0; k < nonlinear->rows; k++)
    if (!(fabs(right[k]) <= found)) found = fabs(right[k]);
  return found * sqrt(FIRM_SLACK) <= 1;
}

void nonlinear_approach(Nonlinear *nonlinear, const double *origin, double *x, NonlinearResult *result) {
  if (nonlinear->free < nonlinear->rows || (nonlinear->free == nonlinear->rows && is_regular(nonlinear, x))) return;
  copy(nonlinear, nonlinear->origin, origin);
  relieve(nonlinear, HUGE_VAL);
  slide(nonlinear, x, result);
  if (nonlinear->free == nonlinear->rows || distance(nonlinear, x) <= NOWHERE) return;
  if (step_aside(nonlinear, x, true) || step_aside(nonlinear, x, false)) slide(nonlinear, x, result);
}

/* ---- continuation ---- */

/* The weight of one unknown. */
static void set_weight(Nonlinear *nonlinear, int32_t k, double weight) {
  nonlinear->free += (weight > 0) - is_free(nonlinear, k);
  nonlinear->weight[k] = weight;
  nonlinear->square = NULL;
}

/* Takes a part of the step from `from`, and returns to the solutions. If that reaches the goal, the column is held there. */
static bool go_part(Nonlinear *nonlinear, int32_t column, const double *from, double goal, double *x,
                    NonlinearResult *result) {
  double way = nonlinear->step[column], rest = goal - from[column], weight = nonlinear->weight[column];
  bool ends = way * rest > 0 && fabs(way) >= fabs(rest);
  go(nonlinear, from, ends ? rest / way : 1, x);
  if (ends) x[column] = goal, set_weight(nonlinear, column, 0);
  NonlinearResult part = iterate(nonlinear, x);
  if (ends) set_weight(nonlinear, column, weight);
  result->iterations += part.iterations;
  result->residual = part.residual;
  result->solved = ends && part.solved;
  return part.solved;
}

/* Takes the step from `from`, but only as far as the goal if corrections lead beyond it. */
static bool go_along(Nonlinear *nonlinear, int32_t column, const double *from, double goal, double *x,
                     NonlinearResult *result) {
  if (!go_part(nonlinear, column, from, goal, x, result)) return false;
  if (result->solved || (goal - from[column]) * (goal - x[column]) > 0) return true;
  for (int32_t k = 0; k < nonlinear->columns; k++) nonlinear->step[k] = x[k] - from[k];
  return go_part(nonlinear, column, from, goal, x, result);
}

/* Makes the direction from `from` to x, of length 1, the new direction; false: it turns too sharply. The first one may
 * have any direction. */
static bool take_direction(const Nonlinear *nonlinear, const double *from, const double *x, bool is_first,
                           double *direction) {
  static const double STRAIGHT = 0.5; /* cosine of the angle between two steps */
  double along = 0, length = 0, last = 0;
  for (int32_t k = 0; k < nonlinear->columns; k++) {
    double size = column_size(nonlinear, k, from), way = (x[k] - from[k]) / size, before = direction[k] / size;
    along += way * before;
    length += way * way;
    last += before * before;
  }
  if (!(length > 0) || (!is_first && !(along >= STRAIGHT * sqrt(length * last)))) return false;
  for (int32_t k = 0; k < nonlinear->columns; k++) direction[k] = (x[k] - from[k]) / sqrt(length);
  return true;
}

NonlinearResult nonlinear_trace(Nonlinear *nonlinear, int32_t column, double goal, double *x) {
  NonlinearResult result = {.residual = HUGE_VAL, .defined = true, .end = NONLINEAR_SLOW};
  double step = FIRST, squares, *direction, *held, *target;
  bool is_first = true;
  heap_numbers(nonlinear->heap, (size_t)nonlinear->columns, &direction, &held, &target);
  direction[column] = goal > x[column] ? 1 : -1;
  relieve(nonlinear, HUGE_VAL);
  copy(nonlinear, nonlinear->entered, x);
  for (int k = 0; k < CONTINUATION_LIMIT && step > SHORTEST && !result.solved; k++) {
    copy(nonlinear, held, x);
    for (int32_t q = 0; q < nonlinear->columns; q++) target[q] = x[q] + step * direction[q];
    bool is_along = look_at(nonlinear, x, &squares) && solve_slide(nonlinear, x, target) &&
                    go_along(nonlinear, column, held, goal, x, &result) &&
                    (result.solved || take_direction(nonlinear, held, x, is_first, direction));
    if (is_along) is_first = false;
    else copy(nonlinear, x, held);
    step = is_along ? fmin(2 * step, LONGEST) : step / 4;
  }
  if (result.solved) result.end = NONLINEAR_CONVERGED;
  heap_free_all(nonlinear->heap, direction, held, target);
  return result;
}

/* A problem whose residuals vanish at a point: f(x) - (1 - part) f(point) = 0 with one unknown more, the part. */
typedef struct Homotopy {
  const NonlinearProblem *problem;
  const double *first; /* f(point) */
} Homotopy;

static bool homotopy_residual(void *context, const double *x, double *r) {
  const Homotopy *homotopy = context;
  const NonlinearProblem *problem = homotopy->problem;
  if (!problem->residual(problem->context, x, r)) return false;
  for (int32_t i = 0; i < problem->rows; i++) r[i] -= (1 - x[problem->columns]) * homotopy->first[i];
  return true;
}

static bool homotopy_jacobian(void *context, const double *x, double *entries) {
  const Homotopy *homotopy = context;
  const NonlinearProblem *problem = homotopy->problem;
  double *last = entries + problem->column_start[problem->columns];
  memcpy(last, homotopy->first, (size_t)problem->rows * sizeof *last);
  return problem->jacobian(problem->context, x, entries);
}

/* A solver of the homotopy; everything lives in the heap. */
static Nonlinear *homotopy_new(Heap *heap, const Nonlinear *nonlinear) {
  const NonlinearProblem *problem = nonlinear->problem;
  size_t n = (size_t)problem->columns, m = (size_t)problem->rows;
  int32_t nonzeros = problem->column_start[n], *start = heap_array(heap, n + 2, sizeof *start),
          *row = heap_array(heap, (size_t)nonzeros + m, sizeof *row);
  double *nominal, *weight;
  Homotopy *homotopy = heap_alloc(heap, sizeof *homotopy);
  NonlinearProblem *whole = heap_alloc(heap, sizeof *whole);
  heap_numbers(heap, n + 1, &nominal, &weight);
  *homotopy = (Homotopy){problem, heap_copy(heap, nonlinear->r, m, sizeof(double))};
  memcpy(start, problem->column_start, (n + 1) * sizeof *start);
  start[n + 1] = nonzeros + (int32_t)m;
  memcpy(row, problem->row_index, (size_t)nonzeros * sizeof *row);
  for (int32_t i = 0; i < problem->rows; i++) row[nonzeros + i] = i;
  memcpy(nominal, problem->nominal, n * sizeof *nominal);
  memcpy(weight, nonlinear->weight, n * sizeof *weight);
  nominal[n] = weight[n] = 1;
  *whole = (NonlinearProblem){.context = homotopy,
                              .rows = problem->rows,
                              .columns = problem->columns + 1,
                              .column_start = start,
                              .row_index = row,
                              .nominal = nominal,
                              .residual = homotopy_residual,
                              .jacobian = homotopy_jacobian};
  Nonlinear *solver = nonlinear_new(heap, whole);
  nonlinear_set_weights(solver, weight);
  return solver;
}

NonlinearResult nonlinear_continue(Nonlinear *nonlinear, double *x) {
  NonlinearResult result = {.residual = HUGE_VAL, .end = NONLINEAR_UNDEFINED};
  double squares;
  void *ticket = NULL;
  relieve(nonlinear, HUGE_VAL);
  if (!look_at(nonlinear, x, &squares)) return result;
  Heap *heap = heap_within(nonlinear->heap, &ticket);
  double *z = heap_array(heap, (size_t)nonlinear->columns + 1, sizeof *z);
  copy(nonlinear, z, x);
  copy(nonlinear, nonlinear->entered, x);
  NonlinearResult traced = nonlinear_trace(homotopy_new(heap, nonlinear), nonlinear->columns, 1, z);
  copy(nonlinear, x, z);
  heap_release(nonlinear->heap, ticket);
  if (!traced.solved) traced.residual = nonlinear_residual(nonlinear, x, &traced.worst);
  if (!traced.solved) return traced;
  result = iterate(nonlinear, x);
  result.iterations += traced.iterations;
  result.rung = RUNG_NEWTON_HOMOTOPY;
  if (!result.solved) result.end = NONLINEAR_SLOW;
  return result;
}
