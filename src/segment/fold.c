/* fold: see fold.h. The columns z that are not states lie on the curve H(z, s) = G(t, x, z) + s dG/ds = 0. It is followed by steps
 * along its tangent and Newton's method across it (Allgower, Georg, Introduction to Numerical Continuation Methods, chapters 2 and
 * 15). The determinant of the Jacobian bordered by the tangent keeps its sign, even at corners. So it shows in which direction the
 * curve continues after a corner. */
#include "segment/fold.h"

#include "base/copy.h"
#include "base/linear.h"
#include "core/constants.h"
#include "core/corrector.h"

#include <math.h>
#include <string.h>

typedef struct FoldCurve {
  const System *system;
  double t;                 /* the time of the states, which are constant */
  int32_t rows, unknowns;   /* unknowns: the columns z, then s */
  int32_t *column;          /* [rows] the column of each unknown */
  bool *is_derivative;      /* [columns] of another column */
  double *scale;            /* [unknowns] */
  double *drive;            /* [rows] dG/ds */
  double *y, *values;       /* all columns; entries of the Jacobian */
  double *point, *tangent;  /* [unknowns] scaled */
  double *next, *direction; /* [unknowns] */
  double *right;            /* [unknowns] */
  int32_t *start, *row;     /* the bordered matrix */
  double *entry;
  Linear *linear;
  double orientation; /* sign of its determinant with the tangent */
} FoldCurve;

static void set_columns(const FoldCurve *curve, const double *point) {
  for (int32_t u = 0; u < curve->rows; u++) curve->y[curve->column[u]] = point[u] * curve->scale[u];
}

/* Evaluates H at a point, into curve->right. */
static bool evaluate(const FoldCurve *curve, const double *point) {
  const System *system = curve->system;
  double s = point[curve->rows] * curve->scale[curve->rows];
  set_columns(curve, point);
  if (system->residual(system->context, curve->t, curve->y, curve->right) != EVAL_OK) return false;
  for (int32_t r = 0; r < curve->rows; r++) curve->right[r] += s * curve->drive[r];
  return true;
}

/* Factors the Jacobian of H at a point, with `border` as its last row. */
static bool factor(const FoldCurve *curve, const double *point, const double *border) {
  const System *system = curve->system;
  set_columns(curve, point);
  if (system->jacobian(system->context, curve->t, curve->y, curve->values) != EVAL_OK) return false;
  int32_t e = 0;
  for (int32_t u = 0; u < curve->rows; u++) {
    int32_t q = curve->column[u];
    for (int32_t k = system->column_start[q]; k < system->column_start[q + 1]; k++)
      curve->entry[e++] = curve->values[k] * curve->scale[u];
    curve->entry[e++] = border[u];
  }
  for (int32_t r = 0; r < curve->rows; r++) curve->entry[e++] = curve->drive[r] * curve->scale[curve->rows];
  curve->entry[e] = border[curve->rows];
  return linear_factor(curve->linear, curve->entry);
}

static double norm(const FoldCurve *curve, const double *vector) {
  double sum = 0;
  for (int32_t u = 0; u < curve->unknowns; u++) sum += vector[u] * vector[u];
  return sqrt(sum);
}

/* Computes the tangent at a point, into curve->direction. `border` is the tangent before. */
static bool find_tangent(FoldCurve *curve, const double *point, const double *border) {
  double logarithm, *direction = curve->direction;
  if (!factor(curve, point, border)) return false;
  double sign = linear_determinant(curve->linear, &logarithm);
  memset(curve->right, 0, (size_t)curve->unknowns * sizeof(double));
  curve->right[curve->rows] = 1;
  linear_solve(curve->linear, curve->right);
  if (curve->orientation == 0) curve->orientation = sign;
  double length = norm(curve, curve->right) * sign * curve->orientation;
  for (int32_t u = 0; u < curve->unknowns; u++) direction[u] = curve->right[u] / length;
  return isfinite(length);
}

/* Corrects curve->next across the tangent; the correction may not lead farther than `reach`. */
typedef struct FoldCorrection {
  FoldCurve *curve;
  double moved, reach;
} FoldCorrection;

/* A CorrectorStep. */
static double correct_once(void *context, bool *renew) {
  FoldCorrection *correction = context;
  FoldCurve *curve = correction->curve;
  *renew = true;
  if (!factor(curve, curve->next, curve->tangent) || !evaluate(curve, curve->next)) return HUGE_VAL;
  curve->right[curve->rows] = 0;
  linear_solve(curve->linear, curve->right);
  double change = norm(curve, curve->right);
  correction->moved += change;
  if (!(correction->moved <= correction->reach)) return HUGE_VAL;
  for (int32_t u = 0; u < curve->unknowns; u++) curve->next[u] -= curve->right[u];
  return change;
}

/* At corners the remaining error is not quadratic in the last correction, so that correction itself must be negligible. */
static bool correct(FoldCurve *curve, double reach) {
  FoldCorrection correction = {.curve = curve, .reach = reach};
  return corrector_run(correct_once, &correction, REACH_NEXT, false, SOLVED * SOLVED) == CORRECTOR_CONVERGED;
}

static void move(const FoldCurve *curve, double step, double *to) {
  for (int32_t u = 0; u < curve->unknowns; u++) to[u] = curve->point[u] + step * curve->tangent[u];
}

/* The cosine of the angle between the tangent and the direction found last. */
static double cosine(const FoldCurve *curve) {
  double sum = 0;
  for (int32_t u = 0; u < curve->unknowns; u++) sum += curve->tangent[u] * curve->direction[u];
  return sum;
}

/* The distance that a step of length 1 moves the columns. */
static double columns_part(const FoldCurve *curve) {
  double s = curve->tangent[curve->rows];
  return sqrt(fmax(1 - s * s, PRESENT * PRESENT));
}

/* Takes a step along the curve, shortening it until it succeeds. false: there is a corner. */
static bool advance(FoldCurve *curve, double *step) {
  for (;; *step /= 4) {
    if (*step < LOCATED) return false;
    move(curve, *step, curve->next);
    if (!correct(curve, *step) || !find_tangent(curve, curve->next, curve->tangent)) continue;
    if (cosine(curve) < CLEARLY_LESS) continue;
    swap_numbers(&curve->point, &curve->next);
    swap_numbers(&curve->tangent, &curve->direction);
    *step = fmin(2 * *step, NOTABLE / columns_part(curve));
    return true;
  }
}

/* Finds the direction in which the curve continues after the corner just ahead. false: there is none. */
static bool turn(FoldCurve *curve) {
  bool turns = false;
  for (double ahead = 10 * LOCATED; ahead < MINOR && !turns; ahead *= 10) {
    move(curve, ahead, curve->next);
    turns = find_tangent(curve, curve->next, curve->tangent) && cosine(curve) < CLEARLY_LESS;
  }
  swap_numbers(&curve->tangent, &curve->direction);
  return turns;
}

/* ---- the curve of a system ---- */

static void number_unknowns(Heap *heap, FoldCurve *curve, const double *y) {
  const System *system = curve->system;
  bool *is_state = heap_array(heap, (size_t)system->columns, sizeof *is_state);
  for (int32_t k = 0; k < system->links; k++) is_state[system->link_from[k]] = true;
  int32_t u = 0, e = 0;
  for (int32_t q = 0; q < system->columns; q++) {
    if (is_state[q]) continue;
    curve->column[u] = q;
    curve->scale[u] = fabs(y[q]) + system->nominal[q];
    curve->start[u++] = e;
    for (int32_t k = system->column_start[q]; k < system->column_start[q + 1]; k++)
      curve->row[e++] = system->row_index[k];
    curve->row[e++] = curve->rows;
  }
  curve->start[u] = e;
  for (int32_t r = 0; r <= curve->rows; r++) curve->row[e++] = r;
  curve->start[u + 1] = e;
  linear_set_pattern(curve->linear, curve->start, curve->row);
  for (int32_t q = 0; q < system->columns; q++)
    if (system->successor[q] >= 0) curve->is_derivative[system->successor[q]] = true;
}

/* Moves the states by their rates, and the time, from y to `ahead` later, into `out`. */
static void move_states(const System *system, const double *y, double ahead, double *out) {
  memcpy(out, y, (size_t)system->columns * sizeof *y);
  for (int32_t k = 0; k < system->links; k++) out[system->link_from[k]] += ahead * y[system->link_to[k]];
}

/* Computes dG/ds by a difference over `ahead`. */
static bool find_drive(FoldCurve *curve, const double *y, double ahead) {
  const System *system = curve->system;
  if (system->residual(system->context, curve->t, y, curve->drive) != EVAL_OK) return false;
  move_states(system, y, ahead, curve->y);
  if (system->residual(system->context, curve->t + ahead, curve->y, curve->right) != EVAL_OK) return false;
  for (int32_t r = 0; r < curve->rows; r++) curve->drive[r] = (curve->right[r] - curve->drive[r]) / ahead;
  return true;
}

static FoldCurve *curve_new(Heap *heap, const System *system, double t, double length) {
  FoldCurve *curve = heap_alloc(heap, sizeof *curve);
  *curve = (FoldCurve){.system = system, .t = t, .rows = system->rows, .unknowns = system->rows + 1};
  size_t unknowns = (size_t)curve->unknowns, entries = (size_t)system->column_start[system->columns];
  curve->column = heap_array(heap, unknowns, sizeof(int32_t));
  heap_numbers(heap, unknowns, &curve->scale, &curve->drive, &curve->point, &curve->tangent, &curve->next,
               &curve->direction, &curve->right);
  curve->y = heap_array(heap, (size_t)system->columns, sizeof(double));
  curve->is_derivative = heap_array(heap, (size_t)system->columns, sizeof(bool));
  curve->values = heap_array(heap, entries, sizeof(double));
  curve->start = heap_array(heap, unknowns + 1, sizeof(int32_t));
  curve->row = heap_array(heap, entries + 2 * unknowns, sizeof(int32_t));
  curve->entry = heap_array(heap, entries + 2 * unknowns, sizeof(double));
  curve->linear = linear_new(heap, curve->unknowns, (int32_t)(entries + 2 * unknowns), false);
  curve->scale[curve->rows] = length;
  return curve;
}

/* Converts columns to a point of the curve. */
static void set_point(FoldCurve *curve, const double *y) {
  memcpy(curve->y, y, (size_t)curve->system->columns * sizeof(double));
  for (int32_t u = 0; u < curve->rows; u++) curve->point[u] = y[curve->column[u]] / curve->scale[u];
  curve->point[curve->rows] = 0;
}

/* Makes the tangent point along s, so that corrections across it keep s. */
static void keep_drive(FoldCurve *curve) {
  memset(curve->tangent, 0, (size_t)curve->unknowns * sizeof(double));
  curve->tangent[curve->rows] = 1;
}

/* The sign of the determinant of the columns z at a point, which identifies its branch; 0: it is singular. */
static double branch_sign(FoldCurve *curve, ConstMoment at) {
  double logarithm, t = curve->t;
  keep_drive(curve);
  set_point(curve, at.y);
  curve->t = at.t;
  bool is_regular = factor(curve, curve->point, curve->tangent);
  curve->t = t;
  return is_regular ? linear_determinant(curve->linear, &logarithm) : 0;
}

/* Finds the tangent that leads forward in s. */
static bool begin(FoldCurve *curve) {
  if (!find_tangent(curve, curve->point, curve->tangent)) return false;
  swap_numbers(&curve->tangent, &curve->direction);
  return true;
}

static double drive_of(const FoldCurve *curve) { return curve->point[curve->rows] * curve->scale[curve->rows]; }

/* A step, around a corner if there is one. */
static bool advance_or_turn(FoldCurve *curve, double *step, bool *at_corner) {
  *at_corner = !advance(curve, step);
  if (*at_corner) *step = MINOR;
  return !*at_corner || turn(curve);
}

/* Follows the curve forward until it turns back. false: it does not turn within `longest`, or not at a corner. */
static bool follow_to_fold(FoldCurve *curve, double longest) {
  double step = MINOR;
  bool at_corner = false;
  for (int k = 0; k < SEVERAL * PARTS && drive_of(curve) <= longest; k++) {
    if (!advance_or_turn(curve, &step, &at_corner)) return false;
    if (curve->tangent[curve->rows] < 0) return at_corner;
  }
  return false;
}

/* Follows the curve after a fold until s has risen again to its value at the fold. */
static bool follow_back(FoldCurve *curve, double fold) {
  double step = MINOR;
  bool at_corner;
  for (int k = 0; k < SEVERAL * PARTS; k++) {
    if (!advance_or_turn(curve, &step, &at_corner)) return false;
    if (curve->tangent[curve->rows] > 0 && drive_of(curve) >= fold) return true;
  }
  return false;
}

/* A guess for the solution at s: from the columns of `at`, in curve->point, back to the columns of `origin`. */
static void guess_at_drive(FoldCurve *curve, double s, ConstMoment origin, ConstMoment at) {
  double part = s < 0 && origin.t < at.t ? fmin(-s / (at.t - origin.t), 1) : 0;
  for (int32_t u = 0; u < curve->rows; u++) {
    int32_t q = curve->column[u];
    curve->next[u] = curve->point[u] + part * (origin.y[q] - at.y[q]) / curve->scale[u];
  }
  curve->next[curve->rows] = s / curve->scale[curve->rows];
}

/* Solves at s. Returns true if the solution is on the branch with this sign. */
static bool start_at_drive(FoldCurve *curve, double s, ConstMoment origin, ConstMoment at, double sign) {
  keep_drive(curve);
  guess_at_drive(curve, s, origin, at);
  double logarithm;
  if (!correct(curve, NOTABLE)) return false;
  return factor(curve, curve->next, curve->tangent) && linear_determinant(curve->linear, &logarithm) == sign;
}

/* Errors of steps may have carried the solution past the fold unnoticed. So the curve begins early enough that the solution is
 * still on its branch. */
static bool find_start(FoldCurve *curve, double longest, ConstMoment origin, ConstMoment at, double sign) {
  bool found = start_at_drive(curve, 0, origin, at, sign);
  for (double back = longest / 64; !found && back <= 64 * longest; back *= 4)
    found = start_at_drive(curve, -back, origin, at, sign);
  swap_numbers(&curve->point, &curve->next);
  return found;
}

/* Finds the fold nearest to `at`, with its columns in `corner`, and the point after it. */
static bool find_both(FoldCurve *curve, ConstMoment origin, ConstMoment at, double longest, double *fold,
                      double *corner) {
  double sign = branch_sign(curve, origin);
  set_point(curve, at.y);
  if (sign == 0 || !find_start(curve, longest, origin, at, sign) || !begin(curve) || !follow_to_fold(curve, longest))
    return false;
  *fold = drive_of(curve);
  memcpy(corner, curve->point, (size_t)curve->unknowns * sizeof(double));
  return follow_back(curve, *fold);
}

/* At a pole the former size of a column is negligible compared with its value. There is no fold there, although the curve cannot be
 * followed. */
static bool are_bounded(const FoldCurve *curve, const Fold *fold) {
  for (int32_t u = 0; u < curve->rows; u++) {
    int32_t q = curve->column[u];
    if (!(NEGLIGIBLE * fmax(fabs(fold->before[q]), fabs(fold->after[q])) <= curve->scale[u])) return false;
  }
  return true;
}

/* Moves the point after the fold to the fold's own s. */
static bool meet_drive(FoldCurve *curve, double drive) {
  keep_drive(curve);
  memcpy(curve->next, curve->point, (size_t)curve->unknowns * sizeof(double));
  curve->next[curve->rows] = drive / curve->scale[curve->rows];
  if (!correct(curve, NOTABLE)) return false;
  swap_numbers(&curve->point, &curve->next);
  return true;
}

/* Finds the column with the largest jump, relative to its size, from the corner to the point after the fold. Both points are on the
 * curve and have the same s, so functions of only time and states do not jump. */
static void find_jump(const FoldCurve *curve, const double *corner, Fold *fold) {
  double most = 0;
  for (int32_t u = 0; u < curve->rows; u++) {
    double jump = fabs(curve->point[u] - corner[u]);
    if (curve->is_derivative[curve->column[u]] || !(jump > most)) continue;
    most = jump;
    fold->column = (uint32_t)curve->column[u];
  }
  fold->jump = most;
}

/* Computes the columns on both sides of the fold. The solution after the fold starts from the point that the curve has reached. */
static void set_sides(const FoldCurve *curve, const double *y, double drive, const double *corner, Fold *fold) {
  const System *system = curve->system;
  fold->time = curve->t + drive;
  find_jump(curve, corner, fold);
  move_states(system, y, drive, fold->before);
  memcpy(fold->after, fold->before, (size_t)system->columns * sizeof *y);
  for (int32_t u = 0; u < curve->rows; u++) {
    fold->before[curve->column[u]] = corner[u] * curve->scale[u];
    fold->after[curve->column[u]] = curve->point[u] * curve->scale[u];
  }
}

static bool pass(const FoldSearch *search, ConstMoment at, double longest, Fold *fold) {
  const System *system = search->system;
  if (!(longest > 0)) return false;
  void *ticket = NULL;
  Heap *heap = heap_within(search->heap, &ticket);
  FoldCurve *curve = curve_new(heap, system, at.t, longest);
  double drive = 0, *corner = heap_array(heap, (size_t)curve->unknowns, sizeof *corner);
  number_unknowns(heap, curve, at.y);
  bool found = find_drive(curve, at.y, NEGLIGIBLE * longest) &&
               find_both(curve, search->origin, at, longest, &drive, corner) && meet_drive(curve, drive);
  if (found) set_sides(curve, at.y, drive, corner, fold);
  found = found && search->find(search->host, fold->time, fold->after) && are_bounded(curve, fold);
  heap_release(search->heap, ticket);
  return found;
}

static double sign(Heap *heap, const System *system, ConstMoment at) {
  void *ticket = NULL;
  Heap *own = heap_within(heap, &ticket);
  FoldCurve *curve = curve_new(own, system, at.t, 1);
  number_unknowns(own, curve, at.y);
  double found = branch_sign(curve, at);
  heap_release(heap, ticket);
  return found;
}

const FoldMethods folds = {pass, sign};
