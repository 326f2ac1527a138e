/* instant: see instant.h. The Jacobian J loses k directions at the instant. It is bordered by k rows V and k columns W without
 * special structure, so that the whole matrix stays regular. S, the last k rows and columns of its inverse, is singular exactly
 * where J is (Griewank, Reddien 1984; Govaerts, Numerical Methods for Bifurcations of Dynamical Equilibria, 2000, chapter 3). */
#include "event/instant.h"

#include "base/linear.h"
#include "base/spread.h"
#include "core/constants.h"
#include "core/corrector.h"
#include "core/lu.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LOST_LIMIT = 8 }; /* the most lost directions; with more, the point counts as singular */

typedef struct Bordered {
  View *view;
  Heap *heap;
  int32_t rows, lost; /* the matrix has rows + lost rows and columns */
  int32_t *column;    /* [rows] the column of each unknown */
  bool *is_state;     /* [columns] */
  double *scale;      /* [columns] sizes */
  double *weight;     /* [rows] weights of the equations */
  double *values;     /* entries of the Jacobian */
  int32_t *start, *row;
  double *entry;
  Linear *linear;
  double *across[LOST_LIMIT], *slacks[LOST_LIMIT]; /* [rows] V and W */
  double *right;                                   /* [rows + lost] */
  double *tangent[LOST_LIMIT];                     /* [rows + lost] the last `lost` columns of the inverse */
  double slack[LOST_LIMIT];                        /* slack of the equations along the columns W */
  double s[LOST_LIMIT * LOST_LIMIT];               /* S, by rows */
} Bordered;

double instant_time(double t, double gap, InstantPlace place) {
  static const double distance[] = {-FAR, -1, 1, FAR};
  return t + distance[place] * gap;
}

/* Numbers between 0.5 and 1.5 without a pattern, for the borders. Multiples of irrational numbers would not do, because few of them
 * nearly depend on each other. */
static double entry_of_none(int32_t k, int32_t border) { return 0.5 + spread_random(k * (3 * LOST_LIMIT) + border); }

/* ---- the bordered matrix ---- */

static Bordered *bordered_new(Heap *heap, View *view, const double *y) {
  const System *system = &view->system;
  Bordered *bordered = heap_alloc(heap, sizeof *bordered);
  *bordered = (Bordered){.view = view, .heap = heap, .rows = system->rows};
  size_t n = (size_t)system->rows + LOST_LIMIT, entries = (size_t)system->column_start[system->columns];
  bordered->column = heap_array(heap, n, sizeof(int32_t));
  bordered->is_state = heap_array(heap, (size_t)system->columns, sizeof(bool));
  bordered->scale = heap_array(heap, (size_t)system->columns, sizeof(double));
  heap_numbers(heap, n, &bordered->weight, &bordered->right);
  for (int32_t j = 0; j < LOST_LIMIT; j++) {
    heap_numbers(heap, n, &bordered->tangent[j], &bordered->across[j], &bordered->slacks[j]);
    for (int32_t k = 0; k < system->rows; k++) {
      bordered->across[j][k] = entry_of_none(k, j);
      bordered->slacks[j][k] = entry_of_none(k, LOST_LIMIT + j);
    }
  }
  bordered->values = heap_array(heap, entries, sizeof(double));
  bordered->start = heap_array(heap, n + 1, sizeof(int32_t));
  bordered->row = heap_array(heap, entries + 2 * LOST_LIMIT * n, sizeof(int32_t));
  bordered->entry = heap_array(heap, entries + 2 * LOST_LIMIT * n, sizeof(double));
  for (int32_t k = 0; k < system->links; k++) bordered->is_state[system->link_from[k]] = true;
  int32_t u = 0;
  for (int32_t q = 0; q < system->columns; q++) {
    bordered->scale[q] = fabs(y[q]) + system->nominal[q];
    if (!bordered->is_state[q]) bordered->column[u++] = q;
  }
  return bordered;
}

static void set_borders(Bordered *bordered, int32_t lost) {
  const System *system = &bordered->view->system;
  int32_t e = 0, n = bordered->rows + lost;
  bordered->lost = lost;
  for (int32_t u = 0; u < n; u++) {
    bordered->start[u] = e;
    int32_t q = u < bordered->rows ? bordered->column[u] : -1;
    for (int32_t k = q < 0 ? 0 : system->column_start[q]; k < (q < 0 ? bordered->rows : system->column_start[q + 1]);
         k++)
      bordered->row[e++] = q < 0 ? k : system->row_index[k];
    for (int32_t j = 0; j < lost && q >= 0; j++) bordered->row[e++] = bordered->rows + j;
  }
  bordered->start[n] = e;
  bordered->linear = linear_new(bordered->heap, n, e, false);
  linear_set_pattern(bordered->linear, bordered->start, bordered->row);
}

static bool find_jacobian(Bordered *bordered, ConstMoment at) {
  const System *system = &bordered->view->system;
  return system->jacobian(system->context, at.t, at.y, bordered->values) == EVAL_OK;
}

/* Updates the largest entry of each equation, in units of the columns' sizes, at a point whose columns are moved by `part` of their
 * size. */
static bool note_entries(Bordered *bordered, ConstMoment at, double part, double *y) {
  const System *system = &bordered->view->system;
  double *largest = bordered->weight;
  memcpy(y, at.y, (size_t)system->columns * sizeof *y);
  for (int32_t u = 0; u < bordered->rows; u++)
    y[bordered->column[u]] += (u % 2 ? part : -part) * bordered->scale[bordered->column[u]];
  if (!find_jacobian(bordered, (ConstMoment){at.t, y})) return false;
  for (int32_t q = 0; q < system->columns; q++)
    for (int32_t k = system->column_start[q]; k < system->column_start[q + 1]; k++)
      largest[system->row_index[k]] =
          fmax(largest[system->row_index[k]], fabs(bordered->values[k]) * bordered->scale[q]);
  return true;
}

/* Weights the equations so that the largest entry of each is 1. Near a point at which an equation determines nothing, all its
 * entries may be as small as the distance. So the largest entry is also taken from points to which the columns may be moved later.
 */
static bool weigh_rows(Bordered *bordered, ConstMoment at, double *y) {
  double *weight = bordered->weight;
  note_entries(bordered, at, SMALL_PART, y);
  note_entries(bordered, at, -SMALL_PART, y);
  if (!note_entries(bordered, at, 0, y)) return false;
  for (int32_t r = 0; r < bordered->rows; r++) weight[r] = weight[r] > 0 ? 1 / weight[r] : 1;
  return true;
}

/* Factors the matrix with the Jacobian evaluated last. */
static bool factor(Bordered *bordered) {
  const System *system = &bordered->view->system;
  int32_t e = 0;
  for (int32_t u = 0; u < bordered->rows; u++) {
    int32_t q = bordered->column[u];
    for (int32_t k = system->column_start[q]; k < system->column_start[q + 1]; k++)
      bordered->entry[e++] = bordered->values[k] * bordered->scale[q] * bordered->weight[system->row_index[k]];
    for (int32_t j = 0; j < bordered->lost; j++) bordered->entry[e++] = bordered->across[j][u];
  }
  for (int32_t j = 0; j < bordered->lost; j++)
    for (int32_t r = 0; r < bordered->rows; r++) bordered->entry[e++] = bordered->slacks[j][r];
  return linear_factor(bordered->linear, bordered->entry);
}

static double norm(const double *vector, int32_t count) {
  double sum = 0;
  for (int32_t k = 0; k < count; k++) sum += vector[k] * vector[k];
  return sqrt(sum);
}

/* The size of the inverse at a point; HUGE_VAL: the matrix is singular. */
static double inverse_size(Bordered *bordered, ConstMoment at) {
  int32_t n = bordered->rows + bordered->lost;
  if (!find_jacobian(bordered, at) || !factor(bordered)) return HUGE_VAL;
  for (int32_t k = 0; k < n; k++) bordered->right[k] = (k % 2 ? -1 : 1) * entry_of_none(k, 2 * LOST_LIMIT);
  linear_solve(bordered->linear, bordered->right);
  return norm(bordered->right, n);
}

/* Borders the matrix by as many rows and columns as it loses directions on the way from `far` to `near`. false: there are too many,
 * or the inverse grows faster than the distance falls. In that case equations of several levels lose rank one after another, and
 * only the last one is visible. */
static bool count_lost(Bordered *bordered, ConstMoment near, ConstMoment far) {
  for (int32_t lost = 0; lost <= LOST_LIMIT; lost++) {
    set_borders(bordered, lost);
    double growth = inverse_size(bordered, near) / inverse_size(bordered, far);
    if (growth <= cbrt(FAR)) return true;
    if (growth > pow(FAR, 1 + EARLY)) return false;
  }
  return false;
}

/* ---- the directions that are lost ---- */

/* Computes the columns of the inverse that belong to the borders, and S, at a point. */
static bool find_tangents(Bordered *bordered, ConstMoment at) {
  int32_t n = bordered->rows + bordered->lost;
  if (!find_jacobian(bordered, at) || !factor(bordered)) return false;
  for (int32_t j = 0; j < bordered->lost; j++) {
    memset(bordered->tangent[j], 0, (size_t)n * sizeof(double));
    bordered->tangent[j][bordered->rows + j] = 1;
    linear_solve(bordered->linear, bordered->tangent[j]);
    for (int32_t i = 0; i < bordered->lost; i++)
      bordered->s[i * LOST_LIMIT + j] = bordered->tangent[j][bordered->rows + i];
  }
  return true;
}

/* Makes the vectors orthonormal, using the first `rows` of each. */
static void normalize(double *const *vector, int32_t count, int32_t rows) {
  for (int32_t j = 0; j < count; j++) {
    for (int32_t i = 0; i < j; i++) {
      double product = 0;
      for (int32_t k = 0; k < rows; k++) product += vector[i][k] * vector[j][k];
      for (int32_t k = 0; k < rows; k++) vector[j][k] -= product * vector[i][k];
    }
    double length = norm(vector[j], rows);
    for (int32_t k = 0; k < rows; k++) vector[j][k] /= length;
  }
}

/* Replaces the borders by null vectors of the Jacobian at a point. Then the slack belongs to the equations that are lost. */
static bool choose_borders(Bordered *bordered, ConstMoment at) {
  int32_t n = bordered->rows + bordered->lost;
  if (!find_tangents(bordered, at)) return false;
  Linear *transposed = linear_new(bordered->heap, n, bordered->start[n], false);
  linear_set_transposed(transposed, bordered->start, bordered->row);
  if (!linear_factor(transposed, bordered->entry)) return false;
  for (int32_t j = 0; j < bordered->lost; j++) {
    memcpy(bordered->across[j], bordered->tangent[j], (size_t)bordered->rows * sizeof(double));
    memset(bordered->slacks[j], 0, (size_t)n * sizeof(double));
    bordered->slacks[j][bordered->rows + j] = 1;
    linear_solve(transposed, bordered->slacks[j]);
  }
  normalize(bordered->across, bordered->lost, bordered->rows);
  normalize(bordered->slacks, bordered->lost, bordered->rows);
  return true;
}

static bool refine_borders(Bordered *bordered, ConstMoment at) {
  bool ok = true;
  for (int k = 0; k < ATTEMPTS && ok; k++) ok = choose_borders(bordered, at);
  return ok;
}

/* Moves a point by `by` along a direction of the tangents. */
static void move(Bordered *bordered, const double *direction, double by, double *y) {
  for (int32_t j = 0; j < bordered->lost; j++) {
    for (int32_t u = 0; u < bordered->rows; u++)
      y[bordered->column[u]] += by * direction[j] * bordered->tangent[j][u] * bordered->scale[bordered->column[u]];
    for (int32_t i = 0; i < bordered->lost; i++)
      bordered->slack[i] += by * direction[j] * bordered->tangent[j][bordered->rows + i];
  }
}

/* A point under correction: all its columns. */
typedef struct PointCorrection {
  Bordered *bordered;
  double t, *y;
} PointCorrection;

/* A CorrectorStep for the equations with their slack, across the lost directions. */
static double correct_once(void *context, bool *renew) {
  const PointCorrection *correction = context;
  Bordered *bordered = correction->bordered;
  const System *system = &bordered->view->system;
  double t = correction->t, *y = correction->y, *right = bordered->right;
  *renew = true;
  if (!find_jacobian(bordered, (ConstMoment){t, y}) || !factor(bordered)) return HUGE_VAL;
  if (system->residual(system->context, t, y, right) != EVAL_OK) return HUGE_VAL;
  for (int32_t r = 0; r < bordered->rows; r++) {
    right[r] *= bordered->weight[r];
    for (int32_t j = 0; j < bordered->lost; j++) right[r] += bordered->slack[j] * bordered->slacks[j][r];
  }
  for (int32_t j = 0; j < bordered->lost; j++) right[bordered->rows + j] = 0;
  linear_solve(bordered->linear, right);
  for (int32_t u = 0; u < bordered->rows; u++)
    y[bordered->column[u]] -= right[u] * bordered->scale[bordered->column[u]];
  for (int32_t j = 0; j < bordered->lost; j++) bordered->slack[j] -= right[bordered->rows + j];
  return norm(right, bordered->rows + bordered->lost);
}

static bool correct(Bordered *bordered, double t, double *y) {
  PointCorrection correction = {bordered, t, y};
  return corrector_run(correct_once, &correction, REACH_ANY, false, SOLVED) == CORRECTOR_CONVERGED;
}

/* The determinant of a + shift*b. */
static double shifted_determinant(const double *a, double shift, const double *b, int32_t n) {
  double m[LOST_LIMIT * LOST_LIMIT];
  int pivot[LOST_LIMIT];
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++) m[i + j * n] = a[i * LOST_LIMIT + j] + shift * b[i * LOST_LIMIT + j];
  return lu_factor(n, m, pivot) ? 0 : lu_determinant(n, m, pivot);
}

/* Does S have the orientation of `reference` in every direction? This asks whether S*reference^-1 has no negative eigenvalue. Then
 * the determinant of S + shift*reference, divided by that of reference, is positive and grows with the shift. Just before a
 * negative eigenvalue, single or multiple, it falls. */
static bool is_oriented_as(const Bordered *bordered, const double *reference) {
  int32_t n = bordered->lost;
  double of_reference = shifted_determinant(reference, 0, reference, n), before = 0, most = 0, least = HUGE_VAL;
  for (int32_t i = 0; i < n; i++) {
    most = fmax(most, norm(bordered->s + i * LOST_LIMIT, n));
    least = fmin(least, norm(reference + i * LOST_LIMIT, n));
  }
  for (double shift = NEGLIGIBLE; shift * least < 4 * n * most + least; shift *= 2) {
    double now = shifted_determinant(bordered->s, shift, reference, n) / of_reference;
    if (!(now > before)) return false;
    before = now;
  }
  return true;
}

/* Follows a direction from the solution `at`, up to `farthest`. Does S keep the orientation of `reference`? NULL: only follows it. */
static bool follow(Bordered *bordered, ConstMoment at, const double *direction, double farthest,
                   const double *reference, double *y) {
  double before = 0;
  memcpy(y, at.y, (size_t)bordered->view->system.columns * sizeof *y);
  memset(bordered->slack, 0, sizeof bordered->slack);
  if (!find_tangents(bordered, at)) return false;
  for (double by = STUCK; before < farthest; before = by, by = fmin(SEVERAL * by, farthest)) {
    move(bordered, direction, by - before, y);
    if (!correct(bordered, at.t, y) || !find_tangents(bordered, (ConstMoment){at.t, y})) return false;
    if (reference && !is_oriented_as(bordered, reference)) return false;
  }
  return true;
}

/* Is the Jacobian singular at the point of S, except for round-off? */
static bool is_flat(const Bordered *bordered) {
  double most = 0;
  for (int32_t i = 0; i < bordered->lost; i++) most = fmax(most, norm(bordered->s + i * LOST_LIMIT, bordered->lost));
  double determinant = shifted_determinant(bordered->s, 0, bordered->s, bordered->lost);
  return fabs(determinant) <= FAR * DBL_EPSILON * pow(most, bordered->lost - 1);
}

/* A direction that is not one of the borders. */
static const double ALL_DIRECTIONS[LOST_LIMIT] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5};

/* The orientation with which others are compared: S at the solution `at`, or, if the solution is flat there, at a distance from it
 * in all lost directions at once. */
static bool find_orientation(Bordered *bordered, ConstMoment at, double *y, double *reference) {
  bool is =
      find_tangents(bordered, at) && (!is_flat(bordered) || follow(bordered, at, ALL_DIRECTIONS, SMALL_PART, NULL, y));
  memcpy(reference, bordered->s, sizeof bordered->s);
  return is;
}

/* Is the solution `at` the only one along all directions: along the borders, and along a jump? */
static bool is_alone(Bordered *bordered, ConstMoment at, const double *jump, double *y) {
  double length = norm(jump, bordered->lost), farthest = fmax(SMALL_PART, 2 * length);
  double reference[LOST_LIMIT * LOST_LIMIT];
  if (!find_orientation(bordered, at, y, reference)) return false;
  for (int32_t j = 0; j < 2 * bordered->lost + 2; j++) {
    double direction[LOST_LIMIT] = {0}, side = j % 2 ? -1 : 1;
    if (j / 2 < bordered->lost) direction[j / 2] = side;
    else if (length == 0) break;
    for (int32_t i = 0; i < bordered->lost && j / 2 == bordered->lost; i++) direction[i] = side * jump[i] / length;
    if (!follow(bordered, at, direction, j / 2 < bordered->lost ? SMALL_PART : farthest, reference, y)) return false;
  }
  return true;
}

/* The jump from one solution to another, in the lost directions. */
static void find_jump(const Bordered *bordered, const double *from, const double *to, double *jump) {
  for (int32_t j = 0; j < bordered->lost; j++) {
    jump[j] = 0;
    for (int32_t u = 0; u < bordered->rows; u++) {
      int32_t q = bordered->column[u];
      jump[j] += bordered->across[j][u] * (to[q] - from[q]) / bordered->scale[q];
    }
  }
}

/* ---- the only crossing ---- */

/* The residual of the lost equation, its slack, at nearby points that satisfy all other equations. A solution crosses
 * where the slack changes its sign; the sign says in which direction. */
typedef struct SlackSamples {
  int samples; /* samples on each side; each is SEVERAL times as far away as the one before: from STUCK to about a quarter of the size */
  double *place, *slack; /* [2*samples] in ascending order */
  double first;          /* the slack at the point itself */
  double before, after;  /* the places on both sides of the sign change */
  double sign;           /* the sign after that */
  double turn;           /* the sign of the determinant of the bordered matrix, which is the same all along the line */
} SlackSamples;

static SlackSamples line_make(Heap *heap) {
  SlackSamples line = {.samples = 2 + (int)(-log(SEVERAL * STUCK) / log(SEVERAL))};
  heap_numbers(heap, 2 * (size_t)line.samples, &line.place, &line.slack);
  return line;
}

/* Is the slack more than round-off? */
static bool is_slack(double slack) { return fabs(slack) > FAR * DBL_EPSILON; }

/* Continues along the direction from one place to another, in parts if a single step does not converge. */
static bool go_to(Bordered *bordered, double t, double from, double place, double *y) {
  static const double ahead[LOST_LIMIT] = {1};
  size_t columns = (size_t)bordered->view->system.columns;
  double least = SLIVER * fabs(place - from), *held = heap_array(bordered->heap, columns, sizeof *held);
  for (double step = place - from; from != place && fabs(step) >= least;) {
    double slack = bordered->slack[0], next = fabs(place - from) <= fabs(step) ? place : from + step;
    memcpy(held, y, columns * sizeof *y);
    if (!find_tangents(bordered, (ConstMoment){t, y})) break;
    move(bordered, ahead, next - from, y);
    if (correct(bordered, t, y)) {
      from = next;
      continue;
    }
    memcpy(y, held, columns * sizeof *y);
    bordered->slack[0] = slack;
    step /= SEVERAL;
  }
  heap_free(bordered->heap, held);
  return from == place;
}

/* The sign of the determinant of the bordered matrix; 0: it is singular. */
static double orientation(Bordered *bordered, ConstMoment at) {
  double size;
  return find_jacobian(bordered, at) && factor(bordered) ? linear_determinant(bordered->linear, &size) : 0;
}

static bool sample_side(Bordered *bordered, ConstMoment at, double side, double *y, SlackSamples *line) {
  double from = 0, place = side * STUCK;
  memcpy(y, at.y, (size_t)bordered->view->system.columns * sizeof *y);
  bordered->slack[0] = line->first;
  for (int k = 0; k < line->samples; k++, from = place, place *= SEVERAL) {
    int position = side < 0 ? line->samples - 1 - k : line->samples + k;
    if (!go_to(bordered, at.t, from, place, y) || orientation(bordered, (ConstMoment){at.t, y}) != line->turn)
      return false;
    line->place[position] = place;
    line->slack[position] = bordered->slack[0];
  }
  return true;
}

static bool sample(Bordered *bordered, ConstMoment at, double *y, SlackSamples *line) {
  line->turn = orientation(bordered, at);
  return line->turn != 0 && sample_side(bordered, at, -1, y, line) && sample_side(bordered, at, 1, y, line);
}

/* Sets `vector` to the unit vector of the largest component of `part`, and that component to zero. */
static void take_largest(double *part, int32_t count, double *vector) {
  int32_t most = 0;
  for (int32_t k = 1; k < count; k++)
    if (fabs(part[k]) > fabs(part[most])) most = k;
  part[most] = 0;
  memset(vector, 0, (size_t)count * sizeof *vector);
  vector[most] = 1;
}

/* Chooses the column whose value is the place on the line; other columns may jump at the kink. Among the columns with which all
 * samples can be reached from a solution, it is the one that the null vector `part` moves most. */
static bool choose_column(Bordered *bordered, ConstMoment at, double *part, double *y, SlackSamples *line) {
  for (int tries = 0; tries < PARTS && tries < bordered->rows; tries++) {
    take_largest(part, bordered->rows, bordered->across[0]);
    memset(bordered->slack, 0, sizeof bordered->slack);
    if (sample(bordered, at, y, line)) return true;
  }
  return false;
}

/* How fast the slack changes next to the point, on the side where it changes less. */
static double slope_beside(const SlackSamples *line) {
  return fmin(fabs(line->slack[line->samples - 1]), fabs(line->slack[line->samples])) / STUCK;
}

/* Gives the slack to a single equation, and chooses the column for it. The Jacobian may belong to the other side of the kink,
 * where no direction is lost. So the lost equation is the one whose slack changes least. */
static bool choose_line(Bordered *bordered, ConstMoment at, double *y, SlackSamples *line) {
  int32_t rows = bordered->rows;
  size_t size = (size_t)rows * sizeof(double);
  double least = HUGE_VAL, *left, *right, *part, *slack, *across;
  heap_numbers(bordered->heap, (size_t)rows, &left, &right, &part, &slack, &across);
  memcpy(left, bordered->slacks[0], size);
  memcpy(right, bordered->across[0], size);
  for (int tries = 0; tries < SEVERAL && tries < rows; tries++) {
    take_largest(left, rows, bordered->slacks[0]);
    memcpy(part, right, size);
    if (!choose_column(bordered, at, part, y, line) || !(slope_beside(line) < least)) continue;
    least = slope_beside(line);
    memcpy(slack, bordered->slacks[0], size);
    memcpy(across, bordered->across[0], size);
  }
  memcpy(bordered->slacks[0], slack, size);
  memcpy(bordered->across[0], across, size);
  return isfinite(least);
}

/* Does the slack change its sign exactly once near a point where it is line->first? */
static bool find_crossing(Bordered *bordered, ConstMoment at, double *y, SlackSamples *line) {
  int last = -1, crossings = 0;
  if (!sample(bordered, at, y, line)) return false;
  for (int k = 0; k < 2 * line->samples; k++) {
    if (!is_slack(line->slack[k])) continue;
    if (last >= 0 && (line->slack[k] > 0) != (line->slack[last] > 0)) {
      line->before = line->place[last];
      line->after = line->place[k];
      line->sign = copysign(1, line->slack[k]);
      crossings++;
    }
    last = k;
  }
  return crossings == 1;
}

/* Goes from the point y to the place where the slack changes its sign, and solves the equations there. */
static bool go_to_crossing(Bordered *bordered, double t, const SlackSamples *line, double *y) {
  size_t columns = (size_t)bordered->view->system.columns;
  double low = line->before, high = line->after, place = 0, slack;
  double *held = heap_array(bordered->heap, columns, sizeof *held);
  bordered->slack[0] = line->first;
  for (int k = 0; k < line->samples && place != low; k++) {
    double next =
        low > 0 ? fmin(low, place > 0 ? SEVERAL * place : STUCK) : fmax(low, place < 0 ? SEVERAL * place : -STUCK);
    if (!go_to(bordered, t, place, next, y)) return false;
    place = next;
  }
  while (high - low > SLIVER * (line->after - line->before)) {
    double middle = 0.5 * (low + high);
    memcpy(held, y, columns * sizeof *y);
    slack = bordered->slack[0];
    if (!go_to(bordered, t, low, middle, y)) return false;
    bool is_behind = bordered->slack[0] * line->sign > 0;
    if (is_behind) memcpy(y, held, columns * sizeof *y), bordered->slack[0] = slack, high = middle;
    else low = middle;
  }
  return bordered->view->methods->find(bordered->view, t, y) == EVAL_OK;
}

/* ---- the effect of states ---- */

/* Computes in bordered->right how the columns and the slack change, except for the sign, if each state changes by its rate, or by
 * about its size. The matrix stays bordered as it is. false: it is singular. */
static bool change_states(Bordered *bordered, ConstMoment at, bool by_rate) {
  const System *system = &bordered->view->system;
  double *right = bordered->right;
  if (!find_jacobian(bordered, at) || !factor(bordered)) return false;
  memset(right, 0, (size_t)(bordered->rows + bordered->lost) * sizeof *right);
  for (int32_t i = 0; i < system->links; i++) {
    int32_t q = system->link_from[i];
    double change = by_rate ? at.y[system->link_to[i]] : bordered->scale[q] * entry_of_none(q, 0);
    for (int32_t k = system->column_start[q]; k < system->column_start[q + 1]; k++)
      right[system->row_index[k]] += bordered->values[k] * bordered->weight[system->row_index[k]] * change;
  }
  linear_solve(bordered->linear, right);
  return true;
}

/* The change of the columns when the states change; HUGE_VAL: it has no bound. */
static double influence_of_states(Bordered *bordered, ConstMoment at) {
  return change_states(bordered, at, false) ? norm(bordered->right, bordered->rows) : HUGE_VAL;
}

/* Have all eigenvalues of b*a^-1 positive real parts? Cayley's transform maps these to the inside of the unit circle, so the powers
 * of the transformed matrix vanish. Both are n x n, by columns. */
static bool is_stable(int32_t n, const double *a, const double *b) {
  double sum[LOST_LIMIT * LOST_LIMIT], power[LOST_LIMIT * LOST_LIMIT], square[LOST_LIMIT * LOST_LIMIT];
  double ratio = norm(b, n * n) / norm(a, n * n);
  int pivot[LOST_LIMIT];
  for (int32_t k = 0; k < n * n; k++) {
    sum[k] = ratio * a[k] + b[k];
    power[k] = ratio * a[k] - b[k];
  }
  if (lu_factor(n, sum, pivot)) return false;
  for (int32_t j = 0; j < n; j++) lu_solve(n, sum, pivot, power + j * n);
  for (int k = 0; k < ROUNDS && norm(power, n * n) < INFINITE; k++) {
    if (norm(power, n * n) < NEGLIGIBLE) return true;
    memset(square, 0, sizeof square);
    for (int32_t j = 0; j < n; j++)
      for (int32_t i = 0; i < n * n; i++) square[i % n + j * n] += power[i] * power[i / n + j * n];
    memcpy(power, square, sizeof power);
  }
  return false;
}

/* On one side of a solution, in the lost directions, the lost equations need a slack, which other states could supply. Do the rates
 * there, compared with those at the solution, take this slack away? Then solutions that begin with other states approach this
 * one, and it continues uniquely: rates like -sqrt(x) differ from those like sqrt(x) in this (one-sided Lipschitz conditions: Hairer,
 * Norsett, Wanner, Solving ODEs I, I.10). */
static bool is_led_back(Bordered *bordered, ConstMoment at, double side, double *y) {
  int32_t n = bordered->lost;
  double slack[LOST_LIMIT * LOST_LIMIT], taken[LOST_LIMIT * LOST_LIMIT], rate[LOST_LIMIT];
  const double *change = bordered->right + bordered->rows;
  if (!change_states(bordered, at, true)) return false;
  memcpy(rate, change, (size_t)n * sizeof *rate);
  for (int32_t j = 0; j < n; j++) {
    double direction[LOST_LIMIT] = {0};
    direction[j] = side;
    if (!follow(bordered, at, direction, SMALL_PART, NULL, y)) return false;
    if (!change_states(bordered, (ConstMoment){at.t, y}, true)) return false;
    for (int32_t i = 0; i < n; i++) {
      slack[i + j * n] = bordered->slack[i];
      taken[i + j * n] = rate[i] - change[i];
    }
  }
  return is_stable(n, slack, taken);
}

/* ---- the verdict ---- */

bool instant_has_limit(const System *system, const double *near, const double *far) {
  for (int32_t q = 0; q < system->columns; q++)
    if (!(fabs(near[q] - far[q]) <= fabs(far[q]) + system->nominal[q] / 2)) return false;
  return true;
}

static bool is_bounded_by_states(Bordered *bordered, const ConstMoment *at) {
  set_borders(bordered, 0);
  double near = influence_of_states(bordered, at[INSTANT_AFTER]),
         far = influence_of_states(bordered, at[INSTANT_FAR_AFTER]);
  /* a value a few times the size of the states is not a pole */
  return near <= SEVERAL || (isfinite(near) && near <= (1 - EARLY) * FAR * far);
}

/* Do states have no effect on the lost equations at a point? */
static bool is_left_by_states(Bordered *bordered, ConstMoment at) {
  if (!isfinite(influence_of_states(bordered, at))) return false;
  for (int32_t j = 0; j < bordered->lost; j++)
    if (is_slack(bordered->right[bordered->rows + j])) return false;
  return true;
}

/* Is the Jacobian much closer to singular at a point than at another point along all lost directions? The Jacobian of a linear
 * equation is the same at both points. */
static bool is_bottom(Bordered *bordered, ConstMoment at, double *y) {
  double here, beside;
  if (!find_tangents(bordered, at)) return false;
  here = shifted_determinant(bordered->s, 0, bordered->s, bordered->lost);
  if (!follow(bordered, at, ALL_DIRECTIONS, SMALL_PART, NULL, y)) return false;
  beside = shifted_determinant(bordered->s, 0, bordered->s, bordered->lost);
  return fabs(here) <= NEGLIGIBLE * fabs(beside);
}

/* Does the solution stay where it is along the lost directions, or is the Jacobian exactly singular there? Along other directions the
 * solution may begin to move. If the lost equations depend on states, as h1 - h2 = m*abs(m) does for tanks at the same level, the
 * states must also be led back. */
static bool rests(Bordered *bordered, ConstMoment near, ConstMoment far, double *y) {
  double way[LOST_LIMIT];
  if (!is_bottom(bordered, near, y)) return false;
  find_jump(bordered, near.y, far.y, way);
  bool is_exact = find_tangents(bordered, near) && is_flat(bordered);
  if (is_left_by_states(bordered, near) && is_left_by_states(bordered, far))
    return is_exact || norm(way, bordered->lost) <= SAME;
  return is_exact && is_led_back(bordered, near, 1, y) && is_led_back(bordered, near, -1, y);
}

/* If `asked` is true, and no direction is lost on the way to the instant or on one side of it, searches along the direction
 * that is nearly lost. */
static Verdict judge(Bordered *bordered, const ConstMoment *at, bool asked, double *y) {
  const ConstMoment *before = at[INSTANT_BEFORE].y ? &at[INSTANT_BEFORE] : NULL;
  double jump[LOST_LIMIT] = {0};
  if (!instant_has_limit(&bordered->view->system, at[INSTANT_AFTER].y, at[INSTANT_FAR_AFTER].y))
    return VERDICT_SINGULAR;
  if (before && !instant_has_limit(&bordered->view->system, before->y, at[INSTANT_FAR_BEFORE].y))
    return VERDICT_SINGULAR;
  if (!weigh_rows(bordered, at[INSTANT_FAR_AFTER], y)) return VERDICT_SINGULAR;
  if (!count_lost(bordered, at[INSTANT_AFTER], at[INSTANT_FAR_AFTER])) return VERDICT_SINGULAR;
  int32_t lost = bordered->lost;
  if (before && !count_lost(bordered, *before, at[INSTANT_FAR_BEFORE])) return VERDICT_SINGULAR;
  if (asked && bordered->lost <= 1 && lost <= 1) set_borders(bordered, lost = 1);
  if (bordered->lost == 0 || bordered->lost != lost) return VERDICT_REGULAR;
  if (!refine_borders(bordered, at[INSTANT_AFTER])) return VERDICT_SINGULAR;
  if (before) find_jump(bordered, before->y, at[INSTANT_AFTER].y, jump);
  if (!is_alone(bordered, at[INSTANT_AFTER], jump, y)) return VERDICT_SINGULAR;
  if (before && !is_alone(bordered, *before, jump, y)) return VERDICT_SINGULAR;
  if (rests(bordered, at[INSTANT_AFTER], at[INSTANT_FAR_AFTER], y)) return VERDICT_RESTS;
  return is_bounded_by_states(bordered, at) ? VERDICT_PASSED : VERDICT_SINGULAR;
}

/* Computes the crossing solution near the instant, in y, which is a guess on input. Returns the sign of the determinant of the
 * Jacobian: the sign for the whole matrix, times the direction in which the solution crosses. 0: there is not exactly one solution. */
static double solve_crossing(Bordered *bordered, double t, double *y, double *scratch, SlackSamples *line) {
  memset(bordered->slack, 0, sizeof bordered->slack);
  if (!correct(bordered, t, y)) return 0;
  line->first = bordered->slack[0];
  if (!find_crossing(bordered, (ConstMoment){t, y}, scratch, line) || !go_to_crossing(bordered, t, line, y)) return 0;
  line->first = 0;
  bool is = find_crossing(bordered, (ConstMoment){t, y}, scratch, line) && line->before < 0 && line->after > 0;
  return is ? line->sign * line->turn : 0;
}

/* Copies all columns except the states from another point. */
static void copy_others(const System *system, const double *from, const bool *is_state, double *y) {
  for (int32_t q = 0; q < system->columns; q++)
    if (!is_state[q]) y[q] = from[q];
}

/* Solves at t from a nearby solution. */
static bool find_from(const Bordered *bordered, const double *from, double t, double *y) {
  copy_others(&bordered->view->system, from, bordered->is_state, y);
  return bordered->view->methods->find(bordered->view, t, y) == EVAL_OK;
}

/* Calls solve_crossing with a nearby point as guess, first as it is, then corrected. */
static double solve_crossing_from(Bordered *bordered, const double *guess, ConstMoment at, double *y, double *scratch,
                                  SlackSamples *line) {
  const System *system = &bordered->view->system;
  copy_others(system, guess, bordered->is_state, y);
  double sign = solve_crossing(bordered, at.t, y, scratch, line);
  if (sign != 0) return sign;
  return find_from(bordered, guess, at.t, y) ? solve_crossing(bordered, at.t, y, scratch, line) : 0;
}

/* Do the solutions at all places cross, all with the same sign? The guess for those far from the instant is the solution near it.
 */
static bool cross(Bordered *bordered, const ConstMoment *at, double *const *y, double *scratch) {
  static const InstantPlace order[] = {INSTANT_AFTER, INSTANT_FAR_BEFORE, INSTANT_FAR_AFTER},
                            guess[] = {INSTANT_BEFORE, INSTANT_BEFORE, INSTANT_AFTER};
  SlackSamples line = line_make(bordered->heap);
  if (!choose_line(bordered, at[INSTANT_BEFORE], scratch, &line)) return false;
  double sign = solve_crossing(bordered, at[INSTANT_BEFORE].t, y[INSTANT_BEFORE], scratch, &line);
  for (int k = 0; k < 3 && sign != 0; k++)
    if (solve_crossing_from(bordered, y[guess[k]], at[order[k]], y[order[k]], scratch, &line) != sign) return false;
  return sign != 0;
}

/* Do the solutions near the instant cross, and lead to those far from it? */
static bool crosses(Bordered *bordered, double t, double gap, double *const *y, double *scratch) {
  ConstMoment at[INSTANT_FAR_AFTER + 1];
  for (InstantPlace place = INSTANT_FAR_BEFORE; place <= INSTANT_FAR_AFTER; place++)
    at[place] = (ConstMoment){instant_time(t, gap, place), y[place]};
  if (!find_from(bordered, y[INSTANT_BEFORE], at[INSTANT_BEFORE].t, y[INSTANT_BEFORE])) return false;
  if (!find_from(bordered, y[INSTANT_BEFORE], at[INSTANT_FAR_BEFORE].t, y[INSTANT_FAR_BEFORE])) return false;
  if (!weigh_rows(bordered, at[INSTANT_BEFORE], scratch)) return false;
  if (!count_lost(bordered, at[INSTANT_BEFORE], at[INSTANT_FAR_BEFORE]) || bordered->lost > 1) return false;
  set_borders(bordered, 1); /* even if no direction is lost yet: a flow at rest loses one only when it reverses */
  const System *system = &bordered->view->system;
  return refine_borders(bordered, at[INSTANT_BEFORE]) && cross(bordered, at, y, scratch) &&
         instant_has_limit(system, y[INSTANT_BEFORE], y[INSTANT_FAR_BEFORE]) &&
         instant_has_limit(system, y[INSTANT_AFTER], y[INSTANT_FAR_AFTER]) && is_bounded_by_states(bordered, at);
}

bool instant_crosses(View *view, double t, double gap, double *const *y) {
  if (view->methods->reselect || view->evaluator != view->original) return false;
  void *ticket = NULL;
  Heap *heap = heap_within(view->evaluator->heap, &ticket);
  Bordered *bordered = bordered_new(heap, view, y[INSTANT_BEFORE]);
  bool is = crosses(bordered, t, gap, y, heap_array(heap, (size_t)view->system.columns, sizeof(double)));
  heap_release(view->evaluator->heap, ticket);
  return is;
}

Verdict instant_judge(View *view, double t, double gap, bool asked, double *const *y) {
  ConstMoment at[INSTANT_FAR_AFTER + 1];
  if (view->methods->reselect || view->evaluator != view->original) return VERDICT_SINGULAR;
  bool is_solved[INSTANT_FAR_AFTER + 1];
  for (InstantPlace place = INSTANT_FAR_BEFORE; place <= INSTANT_FAR_AFTER; place++) {
    at[place] = (ConstMoment){instant_time(t, gap, place), y[place]};
    is_solved[place] = y[place] && view->methods->find(view, at[place].t, y[place]) == EVAL_OK;
  }
  if (!is_solved[INSTANT_AFTER] || !is_solved[INSTANT_FAR_AFTER]) return VERDICT_SINGULAR;
  if (!is_solved[INSTANT_BEFORE] || !is_solved[INSTANT_FAR_BEFORE]) at[INSTANT_BEFORE].y = NULL;
  void *ticket = NULL;
  Heap *heap = heap_within(view->evaluator->heap, &ticket);
  Bordered *bordered = bordered_new(heap, view, at[INSTANT_AFTER].y);
  Verdict verdict = judge(bordered, at, asked, heap_array(heap, (size_t)view->system.columns, sizeof(double)));
  heap_release(view->evaluator->heap, ticket);
  return verdict;
}
