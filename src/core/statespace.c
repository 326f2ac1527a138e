/* statespace: see statespace.h. The order of work is a list of units, made once. When the choice of dummies changes, only units of
 * blocks with a choice change their columns. A unit whose columns are all states has nothing to do. */
#include "core/statespace.h"

#include "core/constants.h"
#include "core/corrector.h"

#include "base/linear.h"
#include "nonlinear/nonlinear.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A blocking junction has a conductance of 1e-12 siemens. A Newton step computed with it is 1e12 times too long, and must be
 * halved many times. */
enum { HALVING_LIMIT = 60 };

/* Corrections with existing factors must shrink to this fraction. */
static const double KEPT_CONTRACTION = 0.02;

/* The ratio of the next correction to the square of this one, which predicts the error that is left; inside a step, a hundred times
 * that error is much smaller than the smallest error that a step may have. */
static const double CURVED = 100, CURVED_INSIDE = 1;

/* Corrections up to this size that no longer shrink are round-off; larger ones may come from two branches that meet. */
static const double NOISE = 1e-12;

/* The fraction of cancelling terms that may remain in a residual. */
static const double RESIDUAL_ROUND_OFF = 8 * DBL_EPSILON;

/* Kantorovich's theorem requires h <= 1/2, where h is the relative change of the matrix over the first correction. Then the residual
 * halfway along the correction is half of its first value, up to h/8, if the first matrix converts residuals to corrections.
 * The solution is then nearest to the end of the correction, within h (Deuflhard 2004, section 2.1). Both numbers are parts of
 * the first correction. */
static const double NEWTON_STRAIGHT = 0.0625, NEWTON_AWAY = 0.5;

/* A distance relative to the size of the columns: over such a short distance the determinant hardly ever changes its sign twice,
 * so its signs at the quarters show every change. */
static const double NEWTON_SHORT = 1e-3;

typedef struct SolvedUnit {
  const UnitPlan *plan;
  uint32_t *columns; /* their positions in y */
  struct Workspace *program, *joint;
  double *joint_values;
  double *values;
  /* of UNIT_SOLVE */
  BlockMatrix *matrix;
  uint64_t factored; /* version of the block matrix in the factors; 0 for none */
  int32_t *column_start, *row_index, *gather;
  double *entries, *trial;
  Linear *linear_system; /* NULL for a single row, or if another unit owns the factors */
  Tangent *tangent;      /* NULL if the plan has none */
  bool is_projected;     /* `tangent` holds the factors */
  bool is_moved;         /* the last correction changed the matrix in rows of this stage; see UnitPlan.entries_below */
  double single;         /* the 1 x 1 matrix */
} SolvedUnit;

/* The kind of solution that Newton's method must find. */
typedef enum NewtonGoal {
  GOAL_ANY,   /* any solution; residuals must get smaller */
  GOAL_SHORT, /* a solution at a short distance from the guess; residuals must get smaller */
  GOAL_NEXT,  /* the solution nearest to the guess, and no other */
} NewtonGoal;

struct StateSpace {
  Heap *heap;
  RowsHost host;
  UnitsPlan plan;
  SolvedUnit *units;
  int32_t *depth; /* the present choice */
  bool chosen;
  NewtonGoal goal;
  double curved; /* of a correction; see corrector.h */
  SolveFailure failure;
  uint64_t factorizations;
  double *correction, *residual, *remainder, *first;
};

static SolvedUnit make_unit(StateSpace *space, const UnitPlan *plan, int32_t number) {
  Heap *heap = space->heap;
  size_t n = (size_t)plan->count, nonzeros = (size_t)plan->nonzeros;
  const RowsHost *host = &space->host;
  SolvedUnit unit = {.plan = plan,
                     .program = host->prepare(host->host, heap, plan->program),
                     .values = heap_array(heap, n, sizeof(double))};
  unit.columns = heap_array(heap, n, sizeof(uint32_t));
  if (plan->kind == UNIT_EXPLICIT) {
    memcpy(unit.columns, plan->columns, n * sizeof(uint32_t));
    return unit;
  }
  unit.matrix = plan->below < 0 ? block_matrix_new(heap, plan->shape) : space->units[plan->below].matrix;
  if (plan->joint) {
    unit.joint = host->prepare(host->host, heap, plan->joint);
    unit.joint_values = heap_array(heap, n + (size_t)plan->entries, sizeof(double));
  }
  unit.trial = heap_array(heap, n, sizeof(double));
  unit.column_start = heap_array(heap, n + 1, sizeof(int32_t));
  unit.row_index = heap_array(heap, nonzeros, sizeof(int32_t));
  unit.gather = heap_array(heap, nonzeros, sizeof(int32_t));
  unit.entries = heap_array(heap, nonzeros, sizeof(double));
  if (plan->owner == number && n > 1) unit.linear_system = linear_new(heap, plan->count, plan->nonzeros, false);
  if (plan->owner == number && plan->tangent) unit.tangent = plan->tangent->methods->make(heap, plan->tangent);
  return unit;
}

StateSpace *statespace_new(Heap *heap, const UnitsPlan *plan, const RowsHost *host) {
  StateSpace *space = heap_alloc(heap, sizeof *space);
  size_t n = plan->unknowns;
  space->heap = heap;
  space->host = *host;
  space->plan = *plan;
  space->depth = heap_array(heap, n, sizeof(int32_t));
  heap_numbers(heap, n, &space->correction, &space->residual, &space->remainder, &space->first);
  space->units = heap_array(heap, plan->count, sizeof *space->units);
  for (uint32_t u = 0; u < plan->count; u++) space->units[u] = make_unit(space, &plan->unit[u], (int32_t)u);
  return space;
}

/* ---- choosing ---- */

/* Compressed columns of the part of the block matrix with this stage's rows and the chosen columns. */
static void choose_unit(StateSpace *space, SolvedUnit *unit, const int32_t *depth) {
  const BlockShape *shape = unit->plan->shape;
  int32_t *place = heap_array(space->heap, (size_t)shape->size, sizeof *place);
  int32_t n = 0;
  for (int32_t q = 0; q < shape->size; q++) {
    int32_t j = shape->unknown[q], d = space->plan.d[j];
    bool solved = unit->plan->stage == 0 || (d >= unit->plan->stage && depth[j] >= unit->plan->stage);
    place[q] = solved ? n : -1;
    if (solved) unit->columns[n++] = space->plan.column_start[j] + (uint32_t)(d - unit->plan->stage);
  }
  memset(unit->column_start, 0, ((size_t)unit->plan->count + 1) * sizeof(int32_t));
  for (int32_t e = 0; e < unit->plan->nonzeros; e++)
    if (place[shape->column[e]] >= 0) unit->column_start[place[shape->column[e]] + 1]++;
  for (int32_t k = 0; k < unit->plan->count; k++) unit->column_start[k + 1] += unit->column_start[k];
  int32_t *next = heap_array(space->heap, (size_t)unit->plan->count + 1, sizeof *next);
  memcpy(next, unit->column_start, (size_t)unit->plan->count * sizeof *next);
  for (int32_t p = 0; p < unit->plan->count; p++) {
    for (int32_t e = shape->row_start[p]; e < shape->row_start[p + 1]; e++) {
      int32_t column = place[shape->column[e]];
      if (column < 0) continue;
      unit->row_index[next[column]] = p;
      unit->gather[next[column]++] = e;
    }
  }
  unit->factored = 0;
  if (unit->linear_system) linear_set_pattern(unit->linear_system, unit->column_start, unit->row_index);
  heap_free_all(space->heap, next, place);
}

void statespace_choose(StateSpace *space, const int32_t *depth) {
  for (uint32_t u = 0; u < space->plan.count; u++) {
    SolvedUnit *unit = &space->units[u];
    if (unit->plan->kind != UNIT_SOLVE) continue;
    bool changed = !space->chosen;
    for (int32_t q = 0; q < unit->plan->shape->size && !changed; q++)
      changed = space->depth[unit->plan->shape->unknown[q]] != depth[unit->plan->shape->unknown[q]];
    if (changed) choose_unit(space, unit, depth);
  }
  memcpy(space->depth, depth, space->plan.unknowns * sizeof *depth);
  space->chosen = true;
}

void statespace_forget(StateSpace *space) { space->chosen = false; }

void statespace_set_parameters(StateSpace *space) {
  for (uint32_t u = 0; u < space->plan.count; u++)
    if (space->units[u].matrix) block_matrix_forget(space->units[u].matrix);
}

/* ---- solving ---- */

static bool factor_single(SolvedUnit *owner, const SolvedUnit *unit) {
  double sum = 0;
  for (int32_t e = 0; e < unit->column_start[1]; e++) sum += unit->matrix->values[unit->gather[e]];
  owner->single = sum;
  return sum != 0 && isfinite(sum);
}

static bool factor_several(SolvedUnit *owner, const SolvedUnit *unit) {
  const double *values = unit->matrix->values;
  for (int32_t e = 0, count = unit->column_start[unit->plan->count]; e < count; e++)
    unit->entries[e] = values[unit->gather[e]];
  owner->is_projected = owner->tangent && owner->plan->tangent->methods->factor(owner->tangent, unit->column_start,
                                                                                unit->row_index, unit->entries);
  return owner->is_projected || linear_factor(owner->linear_system, unit->entries);
}

/* Factors the unit's part of the block matrix, unless the unit that owns the factors already has these values. */
static bool factor_unit(StateSpace *space, const SolvedUnit *unit) {
  SolvedUnit *owner = &space->units[unit->plan->owner];
  if (owner->factored == unit->matrix->version) return true;
  space->factorizations++;
  bool is_regular = owner->linear_system ? factor_several(owner, unit) : factor_single(owner, unit);
  owner->factored = is_regular ? unit->matrix->version : 0;
  return is_regular;
}

static EvalStatus fail(StateSpace *space, const SolvedUnit *unit, const char *reason) {
  space->failure = (SolveFailure){unit->plan->block, reason};
  return EVAL_DOMAIN;
}

static EvalStatus fail_undefined(StateSpace *space, const SolvedUnit *unit, double t, const double *y) {
  fail(space, unit, "an equation or its derivative is not defined");
  return space->host.fail(space->host.host, t, y);
}

/* Evaluates the residual of the unit's rows at y, and counts the evaluation. */
static EvalStatus unit_residual(StateSpace *space, SolvedUnit *unit, double t, const double *y, double *residual) {
  *space->host.row_evaluations += (uint64_t)unit->plan->count;
  return space->host.run(space->host.host, unit->program, t, y, residual);
}

/* Takes the matrix entries from the joint program. Leaves out the entries of the stage below if they have not changed, so
 * that the factors of that stage stay valid. */
static void take_entries(StateSpace *space, SolvedUnit *unit, const double *entries) {
  const UnitPlan *plan = unit->plan;
  int32_t skipped = plan->entries_below && !space->units[plan->below].is_moved ? plan->entries_below : 0;
  block_matrix_set_values(unit->matrix, &space->host, plan->first_entry + skipped, plan->entries - skipped,
                          entries + skipped);
}

/* Residual, and the matrix entries of this stage at the same point. */
static EvalStatus unit_joint(StateSpace *space, SolvedUnit *unit, double t, const double *y, double *residual) {
  if (!unit->joint) {
    bool is_defined = unit_residual(space, unit, t, y, residual) == EVAL_OK &&
                      block_matrix_run_group(unit->matrix, &space->host, unit->plan->stage, t, y) == EVAL_OK;
    return is_defined ? EVAL_OK : fail_undefined(space, unit, t, y);
  }
  *space->host.row_evaluations += (uint64_t)unit->plan->count;
  if (space->host.run(space->host.host, unit->joint, t, y, unit->joint_values) != EVAL_OK)
    return fail_undefined(space, unit, t, y);
  copy_numbers(residual, unit->joint_values, (size_t)unit->plan->count);
  take_entries(space, unit, unit->joint_values + unit->plan->count);
  return EVAL_OK;
}

bool statespace_is_round_off(double value, double nominal) {
  return value != 0 && fabs(value) <= CORRECTOR_ROUND_OFF * nominal;
}

static bool is_round_off(const StateSpace *space, uint32_t column, double value) {
  return statespace_is_round_off(value, space->host.nominal[column]);
}

static bool has_round_off(const StateSpace *space, const SolvedUnit *unit, const double *y) {
  bool has = false;
  for (int32_t k = 0; k < unit->plan->count; k++) has |= is_round_off(space, unit->columns[k], y[unit->columns[k]]);
  return has;
}

static void clear_round_off(const StateSpace *space, const SolvedUnit *unit, double *y) {
  for (int32_t k = 0; k < unit->plan->count; k++)
    if (is_round_off(space, unit->columns[k], y[unit->columns[k]])) y[unit->columns[k]] = 0;
}

/* Like unit_joint, at a guess. If the guess is outside a domain only by round-off, values that are only round-off are set to
 * zero. */
static EvalStatus unit_joint_at_guess(StateSpace *space, SolvedUnit *unit, double t, double *y, double *residual) {
  EvalStatus status = unit_joint(space, unit, t, y, residual);
  if (status == EVAL_OK || !has_round_off(space, unit, y)) return status;
  clear_round_off(space, unit, y);
  return unit_joint(space, unit, t, y, residual);
}

/* Size of a correction relative to the columns it corrects. */
static double correction_norm(const StateSpace *space, const SolvedUnit *unit, const double *correction,
                              const double *y) {
  double norm = 0;
  for (int32_t k = 0; k < unit->plan->count; k++) {
    double size = fabs(correction[k]) / (fabs(y[unit->columns[k]]) + space->host.nominal[unit->columns[k]]);
    if (!(size <= norm)) norm = size;
  }
  return norm;
}

static double sum_squares(const double *values, int32_t count) {
  double sum = 0;
  for (int32_t k = 0; k < count; k++) sum += values[k] * values[k];
  return sum;
}

/* y - fraction * correction in the unit's columns, from the trial values kept. */
static void apply_correction(SolvedUnit *unit, const double *correction, double fraction, double *y) {
  for (int32_t k = 0; k < unit->plan->count; k++) y[unit->columns[k]] = unit->trial[k] - fraction * correction[k];
}

/* Turns a residual into a correction with the existing factors. */
static void solve_with_factors(const StateSpace *space, const SolvedUnit *unit, double *correction) {
  const SolvedUnit *owner = &space->units[unit->plan->owner];
  if (owner->is_projected) owner->plan->tangent->methods->solve(owner->tangent, correction);
  else if (owner->linear_system) linear_solve(owner->linear_system, correction);
  else correction[0] /= owner->single;
}

/* The slope of the secant through the points on both sides of a guess at which the derivative of a single row vanishes, as at the
 * root of n*abs(n) = 0. 0: the row is not monotone there. */
static double secant_slope(StateSpace *space, SolvedUnit *unit, double t, double *y, double residual) {
  double *unknown = &y[unit->columns[0]], middle = *unknown, low, high;
  double way = SMALL_PART * (fabs(middle) + space->host.nominal[unit->columns[0]]);
  *unknown = middle - way;
  bool is_defined = unit_residual(space, unit, t, y, &low) == EVAL_OK;
  *unknown = middle + way;
  is_defined = is_defined && unit_residual(space, unit, t, y, &high) == EVAL_OK;
  *unknown = middle;
  return is_defined && (low < residual) != (high < residual) ? (high - low) / (2 * way) : 0;
}

/* Turns the residual in `correction` into the Newton correction for the present matrix. */
static EvalStatus solve_correction(StateSpace *space, SolvedUnit *unit, double t, double *y, double *correction) {
  bool is_regular = factor_unit(space, unit), is_curve = unit->plan->count == 1 && !unit->plan->linear;
  double slope = !is_regular && is_curve ? secant_slope(space, unit, t, y, correction[0]) : 0;
  if (is_regular) solve_with_factors(space, unit, correction);
  else if (slope != 0) correction[0] /= slope;
  else return fail(space, unit, "the Jacobian is singular");
  return EVAL_OK;
}

/* Halves the step until the residual is defined and does not grow; leaves y and the residual there. */
static EvalStatus search_line(StateSpace *space, SolvedUnit *unit, double t, double *y) {
  double fraction = 1, before = sum_squares(space->residual, unit->plan->count);
  for (int halving = 0; halving < HALVING_LIMIT; halving++, fraction /= 2) {
    apply_correction(unit, space->correction, fraction, y);
    if (unit_joint(space, unit, t, y, space->residual) != EVAL_OK) continue;
    if (sum_squares(space->residual, unit->plan->count) <= before * (1 - fraction / 2) || before == 0) return EVAL_OK;
  }
  return fail(space, unit, "Newton's iteration does not converge");
}

/* Are the residuals at the trial values only round-off of the terms that cancel in them? Then no correction makes them smaller.
 * Leaves y there. */
static bool is_at_round_off(StateSpace *space, SolvedUnit *unit, double t, double *y) {
  double *size = space->remainder;
  apply_correction(unit, space->correction, 0, y);
  if (unit_joint(space, unit, t, y, space->residual) != EVAL_OK) return false;
  memset(size, 0, (size_t)unit->plan->count * sizeof *size);
  for (int32_t k = 0; k < unit->plan->count; k++)
    for (int32_t e = unit->column_start[k]; e < unit->column_start[k + 1]; e++)
      size[unit->row_index[e]] += fabs(unit->matrix->values[unit->gather[e]] * y[unit->columns[k]]);
  for (int32_t k = 0; k < unit->plan->count; k++)
    if (!(fabs(space->residual[k]) <= RESIDUAL_ROUND_OFF * size[k])) return false;
  return true;
}

/* Ends with a last correction of this size. It may have led outside a domain by round-off. */
static EvalStatus finish_newton(StateSpace *space, SolvedUnit *unit, double size, double t, double *y) {
  if (has_round_off(space, unit, y) && unit_residual(space, unit, t, y, space->remainder) != EVAL_OK)
    clear_round_off(space, unit, y);
  unit->is_moved = size > CORRECTOR_ROUND_OFF;
  return EVAL_OK;
}

/* May small corrections after the first one use its factors? No later stage may need the matrix. */
static bool may_keep_factors(const StateSpace *space, const SolvedUnit *unit) {
  const SolvedUnit *owner = &space->units[unit->plan->owner];
  return space->goal == GOAL_NEXT && unit->plan->joint && unit->plan->stage == 0 && owner->linear_system;
}

/* Is y close to the guess, which is in unit->values? */
static bool is_short_way(const StateSpace *space, const SolvedUnit *unit, const double *y) {
  double *way = space->remainder;
  for (int32_t k = 0; k < unit->plan->count; k++) way[k] = y[unit->columns[k]] - unit->values[k];
  return correction_norm(space, unit, way, y) <= NEWTON_SHORT;
}

/* The solution of a unit at a point. */
typedef struct UnitSolution {
  StateSpace *space;
  SolvedUnit *unit;
  double t, *y;
  Corrector *corrector;
  bool has_factors; /* they may be used for the first correction */
  double kept;      /* the size of the correction before the last one, which had kept factors; 0: it had new ones */
  bool is_begun;    /* space->residual and unit->trial are the point before the last correction */
  bool is_refused;  /* singular, or too far from the guess: small residuals do not help */
  EvalStatus status;
} UnitSolution;

/* The residual at y, where the last correction led. Unless the nearest solution is required, the correction is shortened first. */
static EvalStatus evaluate_unit(UnitSolution *solution, bool renew) {
  StateSpace *space = solution->space;
  SolvedUnit *unit = solution->unit;
  double t = solution->t, *y = solution->y;
  if (!renew) return unit_residual(space, unit, t, y, space->residual);
  if (!solution->is_begun) return unit_joint_at_guess(space, unit, t, y, space->residual);
  EvalStatus status =
      space->goal == GOAL_NEXT ? unit_joint(space, unit, t, y, space->residual) : search_line(space, unit, t, y);
  solution->is_refused = status == EVAL_OK && space->goal == GOAL_SHORT && !is_short_way(space, unit, y);
  return solution->is_refused ? fail(space, unit, "other solutions are near") : status;
}

/* A CorrectorStep. The correction is added as a whole; the next step may shorten it. */
static double correct_unit(void *context, bool *renew) {
  UnitSolution *solution = context;
  StateSpace *space = solution->space;
  SolvedUnit *unit = solution->unit;
  double *y = solution->y;
  *renew |= !solution->is_begun && !solution->has_factors;
  if (*renew && solution->kept > 0) { /* a correction by kept factors that were not good enough is undone */
    apply_correction(unit, space->correction, 0, y);
    solution->corrector->last = solution->kept;
  }
  solution->kept = *renew ? 0 : solution->corrector->last;
  solution->status = evaluate_unit(solution, *renew);
  if (solution->status != EVAL_OK) return HUGE_VAL;
  solution->is_begun = true;
  for (int32_t k = 0; k < unit->plan->count; k++) unit->trial[k] = y[unit->columns[k]];
  copy_numbers(space->correction, space->residual, (size_t)unit->plan->count);
  if (!*renew) solve_with_factors(space, unit, space->correction);
  else solution->status = solve_correction(space, unit, solution->t, y, space->correction);
  double size = correction_norm(space, unit, space->correction, y);
  if (!isfinite(size)) solution->status = fail(space, unit, "the Jacobian is singular");
  solution->is_refused = solution->status != EVAL_OK;
  if (solution->is_refused) return HUGE_VAL;
  apply_correction(unit, space->correction, 1, y);
  return size;
}

static EvalStatus iterate_newton(StateSpace *space, SolvedUnit *unit, double t, double *y) {
  Corrector corrector = corrector_make(space->goal == GOAL_NEXT ? REACH_NEXT : REACH_ANY, may_keep_factors(space, unit),
                                       CORRECTOR_ROUND_OFF);
  if (corrector.stale > 0) corrector.stale = KEPT_CONTRACTION;
  corrector.noise = NOISE;
  corrector.curved = space->curved;
  UnitSolution solution = {.space = space, .unit = unit, .t = t, .y = y, .corrector = &corrector};
  unit->is_moved = false;
  if (corrector_iterate(&corrector, correct_unit, &solution) == CORRECTOR_CONVERGED)
    return finish_newton(space, unit, corrector.last, t, y);
  if (!solution.is_refused && solution.is_begun && is_at_round_off(space, unit, t, y)) return EVAL_OK;
  return solution.status == EVAL_OK ? fail(space, unit, "Newton's iteration does not converge") : solution.status;
}

/* Corrects with the existing factors, made at a point nearby; `last` is the size of the last correction, if there was one. false:
 * they are not good enough. */
static bool correct_with_kept_factors(StateSpace *space, SolvedUnit *unit, double t, double *y, double last) {
  Corrector corrector = corrector_with_factors(CORRECTOR_ROUND_OFF, KEPT_CONTRACTION, 0.5, ROUNDS);
  UnitSolution solution = {.space = space, .unit = unit, .t = t, .y = y, .corrector = &corrector, .has_factors = true};
  corrector.last = last;
  return corrector_iterate(&corrector, correct_unit, &solution) == CORRECTOR_CONVERGED;
}

/* Is a column so large that its round-off is as large as its first value and its nominal value? Residuals that contain, for
 * example, its sine are then only round-off, and every iteration converges. */
static bool ran_away(const StateSpace *space, const SolvedUnit *unit, const double *y) {
  for (int32_t k = 0; k < unit->plan->count; k++) {
    double size = fabs(unit->values[k]) + space->host.nominal[unit->columns[k]];
    if (!(fabs(y[unit->columns[k]]) <= size / DBL_EPSILON)) return true;
  }
  return false;
}

/* The difference between `correction` and a part of the first one, relative to the first one. */
static double departure(const StateSpace *space, const SolvedUnit *unit, const double *y, double *correction,
                        double part) {
  for (int32_t k = 0; k < unit->plan->count; k++) correction[k] -= part * space->first[k];
  return correction_norm(space, unit, correction, y) / correction_norm(space, unit, space->first, y);
}

/* The first correction, with existing factors or with new ones at the guess. */
static EvalStatus correct_first(StateSpace *space, SolvedUnit *unit, double t, double *y, bool is_kept,
                                double *correction) {
  EvalStatus status =
      is_kept ? unit_residual(space, unit, t, y, correction) : unit_joint_at_guess(space, unit, t, y, correction);
  if (status == EVAL_OK && is_kept) solve_with_factors(space, unit, correction);
  else if (status == EVAL_OK) status = solve_correction(space, unit, t, y, correction);
  for (int32_t k = 0; k < unit->plan->count; k++) unit->values[k] = unit->trial[k] = y[unit->columns[k]];
  return status;
}

/* Moves by half of the first correction. Is the correction at the new point equal to the other half? */
static bool goes_straight(StateSpace *space, SolvedUnit *unit, double t, double *y) {
  apply_correction(unit, space->first, 0.5, y);
  if (unit_residual(space, unit, t, y, space->remainder) != EVAL_OK) return false;
  solve_with_factors(space, unit, space->remainder);
  return departure(space, unit, y, space->remainder, 0.5) <= NEWTON_STRAIGHT;
}

/* Is the solution y near the end of the first correction? */
static bool is_next(const StateSpace *space, const SolvedUnit *unit, const double *y) {
  for (int32_t k = 0; k < unit->plan->count; k++) space->remainder[k] = unit->values[k] - y[unit->columns[k]];
  return departure(space, unit, y, space->remainder, 1) <= NEWTON_AWAY;
}

/* Like solve_next, but with factors made at an earlier point. false: they are not good enough. */
static bool follow_with_kept_factors(StateSpace *space, SolvedUnit *unit, double t, double *y) {
  if (correct_first(space, unit, t, y, true, space->first) != EVAL_OK) return false;
  double last = correction_norm(space, unit, space->first, y);
  if (last > CORRECTOR_ROUND_OFF && !goes_straight(space, unit, t, y)) return false;
  apply_correction(unit, space->first, 1, y);
  return last <= CORRECTOR_ROUND_OFF || (correct_with_kept_factors(space, unit, t, y, last) && is_next(space, unit, y));
}

/* Solves a unit from its guess with the factors that it keeps; `next`: like solve_next. false: they are not good enough, and y is
 * unchanged. */
static bool solve_with_kept_factors(StateSpace *space, SolvedUnit *unit, double t, double *y, bool next) {
  if (!space->units[unit->plan->owner].factored) return false;
  for (int32_t k = 0; k < unit->plan->count; k++) unit->values[k] = y[unit->columns[k]];
  if (next ? follow_with_kept_factors(space, unit, t, y) : correct_with_kept_factors(space, unit, t, y, HUGE_VAL))
    return true;
  for (int32_t k = 0; k < unit->plan->count; k++) y[unit->columns[k]] = unit->values[k];
  return false;
}

static EvalStatus solve_linear(StateSpace *space, SolvedUnit *unit, double t, double *y) {
  if (unit->plan->keeps && solve_with_kept_factors(space, unit, t, y, false)) return EVAL_OK;
  EvalStatus status = unit_joint(space, unit, t, y, space->correction);
  if (status == EVAL_OK) status = solve_correction(space, unit, t, y, space->correction);
  if (status != EVAL_OK) return status;
  const double *correction = space->correction;
  for (int32_t k = 0, count = unit->plan->count; k < count; k++) y[unit->columns[k]] -= correction[k];
  return EVAL_OK;
}

static void set_unit(const UnitSolution *solution, const double *x) {
  for (int32_t k = 0; k < solution->unit->plan->count; k++) solution->y[solution->unit->columns[k]] = x[k];
}

static bool evaluate_rows(void *context, const double *x, double *r) {
  const UnitSolution *solution = context;
  set_unit(solution, x);
  return unit_residual(solution->space, solution->unit, solution->t, solution->y, r) == EVAL_OK;
}

static bool evaluate_entries(void *context, const double *x, double *entries) {
  const UnitSolution *solution = context;
  SolvedUnit *unit = solution->unit;
  set_unit(solution, x);
  if (unit_joint(solution->space, unit, solution->t, solution->y, solution->space->residual) != EVAL_OK) return false;
  for (int32_t e = 0; e < unit->column_start[unit->plan->count]; e++)
    entries[e] = unit->matrix->values[unit->gather[e]];
  return true;
}

/* Finds a solution with the general solver, from the guess in unit->values. */
static bool solve_far(StateSpace *space, SolvedUnit *unit, double t, double *y) {
  void *ticket = NULL;
  Heap *heap = heap_within(space->heap, &ticket);
  UnitSolution solution = {.space = space, .unit = unit, .t = t, .y = y};
  size_t n = (size_t)unit->plan->count;
  double *nominal, *x;
  heap_numbers(heap, n, &nominal, &x);
  for (size_t k = 0; k < n; k++) nominal[k] = space->host.nominal[unit->columns[k]];
  copy_numbers(x, unit->values, n);
  NonlinearProblem problem = {.context = &solution,
                              .rows = unit->plan->count,
                              .columns = unit->plan->count,
                              .column_start = unit->column_start,
                              .row_index = unit->row_index,
                              .nominal = nominal,
                              .residual = evaluate_rows,
                              .jacobian = evaluate_entries,
                              .by_corrections = true};
  NonlinearResult result = nonlinear_solve(nonlinear_new(heap, &problem), x);
  set_unit(&solution, x);
  unit->is_moved = true;
  heap_release(space->heap, ticket);
  return result.solved;
}

/* Finds a solution from a distant guess; the residual may have to grow first. */
static EvalStatus solve_any(StateSpace *space, SolvedUnit *unit, double t, double *y) {
  for (int32_t k = 0; k < unit->plan->count; k++) unit->values[k] = y[unit->columns[k]];
  EvalStatus status = iterate_newton(space, unit, t, y);
  if (status == EVAL_OK && !ran_away(space, unit, y)) return status;
  if (solve_far(space, unit, t, y) && !ran_away(space, unit, y)) return EVAL_OK;
  return status == EVAL_OK ? fail(space, unit, "Newton's iteration does not converge") : status;
}

/* The sign of the determinant at a point between the guess and the solution, in space->first; 0: unknown. Leaves y
 * there. */
static int sign_on_way(StateSpace *space, SolvedUnit *unit, double t, double part, double *y) {
  double logarithm = 0;
  for (int32_t k = 0; k < unit->plan->count; k++)
    y[unit->columns[k]] = part * space->first[k] + (1 - part) * unit->values[k];
  if (unit_joint(space, unit, t, y, space->residual) != EVAL_OK || !factor_unit(space, unit)) return 0;
  const SolvedUnit *owner = &space->units[unit->plan->owner];
  if (owner->is_projected) return 0;
  double sign = owner->linear_system ? linear_determinant(owner->linear_system, &logarithm) : owner->single;
  return (sign > 0) - (sign < 0);
}

/* Finds the solution nearest to a guess from which Newton's method does not go straight to it. The branch is so steep there
 * that the matrix changes completely within round-off of the time, as in an inverter that switches. If the determinant keeps
 * its sign on the way there, which is short, there is no other solution in between. */
static EvalStatus solve_steep(StateSpace *space, SolvedUnit *unit, double t, double *y) {
  for (int32_t k = 0; k < unit->plan->count; k++) y[unit->columns[k]] = unit->values[k];
  space->goal = GOAL_SHORT;
  EvalStatus status = iterate_newton(space, unit, t, y);
  space->goal = GOAL_NEXT;
  if (status != EVAL_OK) return status;
  for (int32_t k = 0; k < unit->plan->count; k++) space->first[k] = y[unit->columns[k]];
  int sign = is_short_way(space, unit, y) ? sign_on_way(space, unit, t, 0, y) : 0, others = 0;
  for (int k = 1; k <= 4 && sign; k++) others += sign_on_way(space, unit, t, k / 4.0, y) != sign;
  unit->is_moved = false;
  return sign && !others ? EVAL_OK : fail(space, unit, "other solutions are near");
}

/* Finds the solution nearest to the guess, and fails if that is uncertain. A solution at the end of the first correction is not
 * proof enough: another one may happen to be there. */
static EvalStatus solve_next(StateSpace *space, SolvedUnit *unit, double t, double *y, BranchGuess guess) {
  if (unit->plan->keeps && solve_with_kept_factors(space, unit, t, y, true)) return EVAL_OK;
  EvalStatus status = correct_first(space, unit, t, y, false, space->first);
  if (status != EVAL_OK) return status;
  double norm = correction_norm(space, unit, space->first, y);
  if (space->curved * norm * norm <= CORRECTOR_ROUND_OFF) {
    apply_correction(unit, space->first, 1, y);
    return finish_newton(space, unit, norm, t, y);
  }
  bool is_straight = goes_straight(space, unit, t, y);
  if (is_straight && iterate_newton(space, unit, t, y) == EVAL_OK && is_next(space, unit, y)) return EVAL_OK;
  return guess == GUESS_STEEP ? solve_steep(space, unit, t, y) : fail(space, unit, "other solutions are near");
}

/* One correction with the factors of a nearby solution. */
static EvalStatus correct_once(StateSpace *space, SolvedUnit *unit, double t, double *y) {
  bool is_kept = space->units[unit->plan->owner].factored;
  EvalStatus status = correct_first(space, unit, t, y, is_kept, space->first);
  if (status == EVAL_OK) apply_correction(unit, space->first, 1, y);
  return status;
}

static EvalStatus solve_newton(StateSpace *space, SolvedUnit *unit, double t, double *y) {
  if (unit->plan->keeps && solve_with_kept_factors(space, unit, t, y, false)) return EVAL_OK;
  if (space->goal != GOAL_NEXT) return solve_any(space, unit, t, y);
  for (int32_t k = 0; k < unit->plan->count; k++) unit->values[k] = y[unit->columns[k]];
  EvalStatus status = iterate_newton(space, unit, t, y);
  return status == EVAL_OK ? status : solve_steep(space, unit, t, y);
}

static EvalStatus run_explicit(StateSpace *space, SolvedUnit *unit, double t, double *y) {
  *space->host.row_evaluations += (uint64_t)unit->plan->count;
  EvalStatus status = space->host.run(space->host.host, unit->program, t, y, unit->values);
  for (int32_t k = 0; k < unit->plan->count; k++)
    if (status == EVAL_OK || isfinite(unit->values[k])) y[unit->columns[k]] = unit->values[k];
  return status == EVAL_OK
             ? EVAL_OK
             : fail_undefined(space, unit, t, y); /* a failure names the values that other columns depend on */
}

static EvalStatus solve_units(StateSpace *space, uint32_t count, double t, double *y) {
  for (uint32_t u = 0; u < count; u++) {
    SolvedUnit *unit = &space->units[u];
    EvalStatus status = unit->plan->kind == UNIT_EXPLICIT ? run_explicit(space, unit, t, y)
                        : unit->plan->linear              ? solve_linear(space, unit, t, y)
                                                          : solve_newton(space, unit, t, y);
    if (status != EVAL_OK) return status;
  }
  return EVAL_OK;
}

EvalStatus statespace_complete(StateSpace *space, double t, double *y) {
  space->goal = GOAL_ANY;
  space->curved = CURVED;
  return solve_units(space, space->plan.count, t, y);
}

EvalStatus statespace_follow(StateSpace *space, double t, double *y) {
  space->goal = GOAL_NEXT;
  space->curved = CURVED;
  return solve_units(space, space->plan.count, t, y);
}

EvalStatus statespace_slide(StateSpace *space, Edges *edges, int columns, double t, double *y, double *corners) {
  for (int corner = 0; corner <= edges->now->slides; corner++) {
    double *own = corners + corner * columns;
    memcpy(own, y, (size_t)columns * sizeof *y);
    edges_set_corner(edges, corner);
    EvalStatus status = statespace_complete(space, t, own);
    if (status != EVAL_OK) return status;
    edges_keep_corner(edges, corner, t, own);
  }
  return edges_mean(edges, corners, columns, y) ? EVAL_OK : EVAL_DOMAIN;
}

EvalStatus statespace_branch(StateSpace *space, double t, double *y, BranchGuess guess) {
  space->goal = GOAL_NEXT;
  space->curved = CURVED_INSIDE;
  for (uint32_t u = 0; u < space->plan.branched; u++) {
    SolvedUnit *unit = &space->units[u];
    EvalStatus status = EVAL_OK;
    if (unit->plan->kind == UNIT_EXPLICIT) status = run_explicit(space, unit, t, y);
    else if (unit->plan->linear) status = solve_linear(space, unit, t, y);
    else if (space->plan.loose[unit->plan->block])
      status = guess == GUESS_NEXT ? correct_once(space, unit, t, y) : solve_next(space, unit, t, y, guess);
    if (status != EVAL_OK) return status;
  }
  return EVAL_OK;
}

EvalStatus statespace_rates(StateSpace *space, double t, double *y) {
  space->goal = GOAL_NEXT;
  space->curved = CURVED_INSIDE;
  return solve_units(space, space->plan.serving, t, y);
}

SolveFailure statespace_failure(const StateSpace *space) { return space->failure; }
uint64_t statespace_factorizations(const StateSpace *space) { return space->factorizations; }
