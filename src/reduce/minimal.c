/* minimal: index reduction by minimal extension (Kunkel, Mehrmann 2003, sections 2 and 3).
 *
 * Only equations that couple an algebraic condition to the derivative of a variable in it are
 * differentiated, and each such derivative brings one new variable, which replaces the derivative
 * everywhere: here, one tie y[q]' = y[q + 1] is given up. The step is that of (18) to (20): with E the
 * rows' Jacobian with respect to the derivatives that occur and Z its left null space, the rows of Z^T that
 * stay dependent with respect to what is not differentiated are the ones to differentiate; repeated until
 * none is left. Equations that give derivatives in such a combination are put into the others before these are
 * differentiated (section 3.4, the step from (39) on), where that leaves no derivative to be determined: then they
 * need not be differentiated themselves. Where the steps end with all differentiations of the structural analysis, the
 * system is the one with dummy derivatives, choice of states included.
 */
#include "array/definitions.h"
#include "reduce/dense.h"
#include "reduce/method.h"

#include <math.h>
#include <string.h>

/* Larger systems are taken with the offsets of the structural analysis: the ranks are found with dense
 * matrices. */
enum { DENSE_LIMIT = 600 };

static const double RANK_TOLERANCE = 1e-9, ROUNDING = 1e-12;

/* A variable of an earlier condition is given up only where those that came later are this much smaller. */
static const double OLD_WEIGHT = 1e-3;

/* An equation, differentiated `level` times. */
typedef struct MinimalRow {
  uint32_t equation;
  int32_t level;
  Expr residual;
  double *partial;    /* per column of the array, scaled */
  double *constraint; /* what is left of its highest derivatives where those given up by rows before are eliminated */
  uint32_t given_up;  /* column that became a variable of its own by this row; MAP_NONE at level 0 */
} MinimalRow;

typedef struct Minimal {
  Reduction near; /* a little off the initial point, since ranks are to be those of a general point */
  Arena arena;
  Definitions definitions;
  int32_t *c, *d; /* of the rows taken so far */
  uint8_t *tie;   /* per column of the array */
  MinimalRow *row;
  uint32_t rows;
  uint32_t *rate, rates;         /* columns that occur only as derivatives */
  uint32_t *variable, variables; /* the other columns */
} Minimal;

static void move_point(Minimal *minimal, const ArrayRun *at) {
  const Array *array = minimal->near.array;
  uint64_t seed = 1;
  minimal->near.at.y = arena_array(&minimal->arena, array->columns, sizeof(double));
  for (uint32_t q = 0; q < array->columns; q++) {
    seed = hash_mix(seed + q);
    double part = (double)(seed >> 11) / 9007199254740992.0 - 0.5;
    minimal->near.at.y[q] = at->y[q] + 1e-3 * part * (fabs(at->y[q]) + at->evaluator->nominal[q]);
  }
}

/* Fills the row's partial derivatives; false: some has no value. */
static bool differentiate_row(Minimal *minimal, MinimalRow *row) {
  const Array *array = minimal->near.array;
  ExprVec leaves = {0}, partials = {0};
  dag_gradient(array->dag, row->residual, &leaves, &partials);
  double largest = 0;
  row->partial = arena_array(&minimal->arena, array->columns, sizeof(double));
  for (uint32_t k = 0; k < leaves.count; k++) {
    double value = reduction_value(&minimal->near, partials.data[k]);
    row->partial[array_column(array, leaves.data[k])] = value;
    largest = isfinite(value) ? fmax(largest, fabs(value)) : value;
  }
  for (uint32_t q = 0; q < array->columns && largest > 0; q++) row->partial[q] /= largest;
  vec_free(minimal->near.heap, &leaves, &partials);
  return isfinite(largest);
}

/* Takes a row; its derivatives that did not occur before are tied to the columns below them. */
static bool add_row(Minimal *minimal, uint32_t equation, int32_t level, Expr residual) {
  const Array *array = minimal->near.array;
  MinimalRow row = {.equation = equation, .level = level, .residual = residual, .given_up = MAP_NONE};
  if (!differentiate_row(minimal, &row)) return false;
  ExprVec leaves = {0};
  dag_variables(array->dag, dag_scratch(array->dag), residual, &leaves);
  for (uint32_t k = 0; k < leaves.count; k++) {
    uint32_t q = array_column(array, leaves.data[k]), j = array->column_unknown[q];
    for (; minimal->d[j] < (int32_t)array_order(array, q); minimal->d[j]++)
      minimal->tie[array->column_start[j] + (uint32_t)minimal->d[j]] = TIE_DERIVATIVE;
  }
  vec_free(minimal->near.heap, &leaves);
  minimal->c[equation] = level;
  minimal->row[minimal->rows++] = row;
  return true;
}

static void list_columns(Minimal *minimal) {
  const Array *array = minimal->near.array;
  minimal->rates = minimal->variables = 0;
  for (uint32_t q = 0; q < array->columns; q++) {
    if ((int32_t)array_order(array, q) > minimal->d[array->column_unknown[q]]) continue;
    bool tied = array_order(array, q) > 0 && minimal->tie[q - 1] != TIE_NONE;
    if (tied && minimal->tie[q] == TIE_NONE) minimal->rate[minimal->rates++] = q;
    else minimal->variable[minimal->variables++] = q;
  }
}

/* A column of the rows' Jacobian in the direction of a combination of rows. */
static double combined(const Minimal *minimal, const double *combination, uint32_t column) {
  double sum = 0;
  for (uint32_t i = 0; i < minimal->rows; i++) sum += combination[i] * minimal->row[i].partial[column];
  return sum;
}

/* One row of N = Z^T A T: T is the unit vectors of columns without derivative, and the null space of E for those with one. */
static void fill_dependence(const Minimal *minimal, const double *combination, const Svd *rates, double *n,
                            uint32_t stride) {
  for (uint32_t k = 0; k < minimal->variables; k++) {
    if (minimal->tie[minimal->variable[k]] != TIE_NONE) continue;
    *n = combined(minimal, combination, minimal->variable[k]);
    n += stride;
  }
  for (uint32_t f = (uint32_t)rates->rank; f < minimal->rates; f++, n += stride)
    for (uint32_t k = 0; k < minimal->rates; k++)
      *n += rates->vt[f + (size_t)k * minimal->rates] * combined(minimal, combination, minimal->rate[k] - 1);
}

/* The combinations of rows that are to be differentiated: *count rows of length minimal->rows. */
static double *find_couplings(Minimal *minimal, uint32_t *count) {
  Arena *arena = &minimal->arena;
  uint32_t m = minimal->rows, p = minimal->rates, columns = 0;
  double *e = arena_array(arena, (size_t)m * p + 1, sizeof *e);
  for (uint32_t i = 0; i < m; i++)
    for (uint32_t k = 0; k < p; k++) e[i + (size_t)k * m] = minimal->row[i].partial[minimal->rate[k]];
  Svd rates = dense_svd(e, (int32_t)m, (int32_t)p, RANK_TOLERANCE, arena);
  uint32_t rank = (uint32_t)rates.rank, algebraic = m - rank;
  for (uint32_t k = 0; k < minimal->variables; k++) columns += minimal->tie[minimal->variable[k]] == TIE_NONE;
  columns += p - rank;
  double *n = arena_array(arena, (size_t)algebraic * columns + 1, sizeof *n);
  for (uint32_t a = 0; a < algebraic; a++)
    fill_dependence(minimal, rates.u + (size_t)(rank + a) * m, &rates, n + a, algebraic);
  for (size_t k = 0; k < (size_t)algebraic * columns; k++)
    if (fabs(n[k]) < ROUNDING) n[k] = 0;
  Svd dependence = dense_svd(n, (int32_t)algebraic, (int32_t)columns, RANK_TOLERANCE, arena);
  *count = algebraic - (uint32_t)dependence.rank;
  double *couplings = arena_array(arena, (size_t)*count * m + 1, sizeof *couplings);
  for (uint32_t s = 0; s < *count; s++)
    for (uint32_t a = 0; a < algebraic; a++)
      for (uint32_t i = 0; i < m; i++)
        couplings[(size_t)s * m + i] +=
            dependence.u[((uint32_t)dependence.rank + s) * (size_t)algebraic + a] * rates.u[(size_t)(rank + a) * m + i];
  return couplings;
}

/* Is column q the highest derivative of its unknown in the row? */
static bool is_highest(const Minimal *minimal, const MinimalRow *row, uint32_t q) {
  const Array *array = minimal->near.array;
  if (array_order(array, q) == 0 || row->partial[q] == 0) return false;
  for (uint32_t p = q + 1; p < array->column_start[array->column_unknown[q] + 1]; p++)
    if (row->partial[p] != 0) return false;
  return true;
}

/* What is left of the row's highest derivatives once those given up by rows before are eliminated. */
static void fill_constraint(Minimal *minimal, MinimalRow *row) {
  uint32_t columns = minimal->near.array->columns;
  row->constraint = arena_array(&minimal->arena, columns, sizeof(double));
  for (uint32_t q = 0; q < columns; q++)
    if (is_highest(minimal, row, q)) row->constraint[q] = row->partial[q];
  for (const MinimalRow *before = minimal->row; before < row; before++) {
    if (before->given_up == MAP_NONE || row->constraint[before->given_up] == 0) continue;
    double factor = row->constraint[before->given_up] / before->constraint[before->given_up];
    for (uint32_t q = 0; q < columns; q++) row->constraint[q] -= factor * before->constraint[q];
    row->constraint[before->given_up] = 0;
  }
}

/* Weight of a derivative: in (39) and behind each new condition gives up one of the variables that it brought. */
static double column_weight(const Minimal *minimal, const MinimalRow *row, uint32_t q) {
  if (array_order(minimal->near.array, q) == 0 || minimal->tie[q - 1] == TIE_NONE) return 0;
  for (const MinimalRow *before = minimal->row; before < row; before++)
    if (before->equation == row->equation && before->level > 0 && before->constraint[q] != 0) return OLD_WEIGHT;
  return 1;
}

/* Gives up one tie for the row, that of the largest derivative: together the rows then determine all that were given up. */
static bool give_up_tie(Minimal *minimal, MinimalRow *row) {
  double largest = RANK_TOLERANCE;
  fill_constraint(minimal, row);
  for (uint32_t q = 0; q < minimal->near.array->columns; q++) {
    double size = fabs(row->constraint[q]);
    if (size > 0) size *= column_weight(minimal, row, q);
    if (size > largest) largest = size, row->given_up = q;
  }
  if (row->given_up == MAP_NONE) return false;
  minimal->tie[row->given_up - 1] = TIE_NONE;
  return true;
}

/* The row with other equations put in, where the derivatives of all that is in it occur in the system already: the
 * condition that they determine is then algebraic. EXPR_NONE: that is not so. */
static Expr put_in(Minimal *minimal, const MinimalRow *row) {
  const Array *array = minimal->near.array;
  Expr condition = definitions_put_in(&minimal->definitions, row->residual, minimal->near.heap);
  ExprVec leaves = {0};
  dag_variables(array->dag, dag_scratch(array->dag), condition, &leaves);
  for (uint32_t k = 0; k < leaves.count && condition != EXPR_NONE; k++) {
    uint32_t q = array_column(array, leaves.data[k]);
    if ((int32_t)array_order(array, q) >= minimal->d[array->column_unknown[q]]) condition = EXPR_NONE;
  }
  vec_free(minimal->near.heap, &leaves);
  return condition;
}

/* The rows of the combinations that were not differentiated yet. */
static uint32_t list_coupled(const Minimal *minimal, const double *couplings, uint32_t count, uint32_t *coupled) {
  uint32_t found = 0;
  for (uint32_t r = 0; r < minimal->rows; r++) {
    double size = 0;
    for (uint32_t s = 0; s < count; s++) size = fmax(size, fabs(couplings[(size_t)s * minimal->rows + r]));
    if (size >= 1e-6 && minimal->row[r].level == minimal->c[minimal->row[r].equation]) coupled[found++] = r;
  }
  return found;
}

/* What is to be differentiated of the coupled rows: those that give no derivative, with the others put in, if that can
 * be done for all of them; otherwise every row as it is. */
static uint32_t choose_conditions(Minimal *minimal, uint32_t *coupled, uint32_t found, Expr *condition) {
  uint32_t count = 0, *kept = arena_array(&minimal->arena, found, sizeof *kept);
  bool possible = true;
  for (uint32_t k = 0; k < found && possible; k++) {
    const MinimalRow *row = &minimal->row[coupled[k]];
    if (row->level == 0 && minimal->definitions.defines[row->equation]) continue;
    condition[count] = put_in(minimal, row);
    possible = condition[count] != EXPR_NONE;
    kept[count++] = coupled[k];
  }
  if (count > 0 && possible) {
    memcpy(coupled, kept, count * sizeof *kept);
    return count;
  }
  for (uint32_t k = 0; k < found; k++) condition[k] = minimal->row[coupled[k]].residual;
  return found;
}

/* One step: false when it cannot be made within the offsets of the structural analysis. *done: nothing is
 * left to do. */
static bool extend(Minimal *minimal, bool *done) {
  const Array *array = minimal->near.array;
  uint32_t count, found;
  list_columns(minimal);
  const double *couplings = find_couplings(minimal, &count);
  *done = count == 0;
  if (*done) return true;
  uint32_t *coupled = arena_array(&minimal->arena, minimal->rows, sizeof *coupled);
  Expr *condition = arena_array(&minimal->arena, minimal->rows, sizeof *condition);
  found = list_coupled(minimal, couplings, count, coupled);
  if (!found) return false;
  found = choose_conditions(minimal, coupled, found, condition);
  for (uint32_t k = 0; k < found; k++) {
    const MinimalRow *row = &minimal->row[coupled[k]];
    if (row->level == array->c[row->equation]) return false;
    Expr residual = dag_time_derivative(array->dag, condition[k]);
    if (!add_row(minimal, row->equation, row->level + 1, residual)) return false;
    if (!give_up_tie(minimal, &minimal->row[minimal->rows - 1])) return false;
  }
  return true;
}

/* Finds the smallest offsets; false: those of the structural analysis are needed or cannot be improved on. */
static bool find_offsets(Minimal *minimal) {
  const Array *array = minimal->near.array;
  if (array->rows > DENSE_LIMIT) return false;
  move_point(minimal, &minimal->near.at);
  minimal->definitions = definitions_find(array->problem, minimal->near.structure, true, &minimal->arena);
  minimal->row = arena_array(&minimal->arena, array->rows, sizeof *minimal->row);
  minimal->rate = arena_array(&minimal->arena, array->columns, sizeof *minimal->rate);
  minimal->variable = arena_array(&minimal->arena, array->columns, sizeof *minimal->variable);
  for (uint32_t i = 0; i < array->problem->equations; i++)
    if (!add_row(minimal, i, 0, array->problem->residual[i])) return false;
  for (bool done = false; !done;)
    if (!extend(minimal, &done)) return false;
  return memcmp(minimal->c, array->c, array->problem->equations * sizeof *minimal->c) != 0;
}

static void take_rows(Reduction *reduction, const Minimal *minimal) {
  Form *form = &reduction->form;
  uint32_t *place = arena_array(reduction->arena, reduction->array->problem->equations, sizeof *place);
  form->rows.count = 0;
  for (uint32_t i = 0; i < reduction->array->problem->equations; i++) {
    place[i] = form->rows.count;
    for (int32_t l = 0; l <= minimal->c[i]; l++) form_add(reduction, i, l);
  }
  for (uint32_t r = 0; r < minimal->rows; r++) {
    FormRow *row = &form->rows.data[place[minimal->row[r].equation] + (uint32_t)minimal->row[r].level];
    if (minimal->row[r].residual != form_residual(reduction, row)) row->residual = minimal->row[r].residual;
  }
}

/* The start values that determine the solution are those of the dummies, or of this choice where it has as many. */
static void take_ties(Reduction *reduction, const Minimal *minimal) {
  const Array *array = reduction->array;
  Form *form = &reduction->form;
  uint32_t ties = 0;
  for (uint32_t q = 0; q < array->columns; q++) {
    form->tie[q] = minimal->tie[q];
    ties += form->tie[q] != TIE_NONE;
    if ((int32_t)array_order(array, q) > minimal->d[array->column_unknown[q]]) form->fixed[q] = false;
  }
  for (uint32_t q = 0; q < array->columns && ties == reduction->structure->dof; q++)
    form->fixed[q] = form->tie[q] != TIE_NONE;
}

/* Counted as in the paper's Example 1. */
static void count_variables(Reduction *reduction, const int32_t *c, const int32_t *d) {
  const Array *array = reduction->array;
  ReductionCounts *counts = &reduction->counts;
  uint32_t dummies = 0;
  counts->first_order = array->problem->equations;
  for (uint32_t i = 0; i < array->problem->equations; i++) {
    counts->new_variables += (uint32_t)c[i];
    dummies += (uint32_t)array->c[i];
  }
  counts->first_order += counts->new_variables;
  for (uint32_t j = 0; j < array->problem->unknowns; j++) counts->first_order += d[j] > 1 ? (uint32_t)d[j] - 1 : 0;
  if (counts->new_variables == dummies)
    reduction->remark = arena_printf(reduction->arena, "%u new variables, as many as dummy derivatives", dummies);
  else
    reduction->remark = arena_printf(
        reduction->arena, "%u new variables instead of %u dummy derivatives; %u first-order equations instead of %u",
        counts->new_variables, dummies, counts->first_order, counts->dummy_first_order);
}

static bool apply(Reduction *reduction) {
  const Array *array = reduction->array;
  Minimal minimal = {.near = *reduction, .arena = arena_make(reduction->heap)};
  minimal.c = arena_array(reduction->arena, array->problem->equations, sizeof(int32_t));
  minimal.d = arena_array(reduction->arena, array->problem->unknowns, sizeof(int32_t));
  minimal.tie = arena_array(reduction->arena, array->columns + 1, sizeof(uint8_t));
  int32_t *least = arena_array(&minimal.arena, array->problem->unknowns, sizeof *least);
  form_use_dummies(reduction);
  reduction->counts.dummy_first_order = form_first_order(reduction, &reduction->form);
  if (find_offsets(&minimal) && !problem_least_orders(array->problem, minimal.d, least)) {
    count_variables(reduction, minimal.c, minimal.d);
    take_rows(reduction, &minimal);
    take_ties(reduction, &minimal);
    reduction_shrink(reduction, minimal.c, minimal.d, minimal.tie);
  } else {
    count_variables(reduction, array->c, array->d);
    reduction_keep(reduction);
  }
  arena_free(&minimal.arena);
  return true;
}

const Method method_minimal = {
    .name = "minimal",
    .description = "minimal extension (Kunkel, Mehrmann): new variables only where a coupling is removed",
    .enforces_all = true,
    .chooses = true,
    .needs_values = true,
    .apply = apply,
};
