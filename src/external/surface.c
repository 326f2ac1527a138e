/* surface: tables in two dimensions (CombiTable2D). The first column holds the places of u1, the first row those of u2.
 * Pieces are bicubic (H. Akima, Commun. ACM 17 (1974) 18), bilinear or constant. */
#include "external/functions.h"
#include "external/jet.h"
#include "external/table.h"

#include <math.h>
#include <string.h>

/* Places along one direction. */
typedef struct Axis {
  uint32_t count;
  double *x;
} Axis;

typedef struct Surface {
  uint32_t rows, columns; /* of the matrix */
  const double *matrix;
  Axis axis[2];
  const double *z;          /* the matrix without first row and column: z[i * axis[1].count + j] */
  double *slope[2], *twist; /* bicubic: derivatives in u1, in u2, in both, at each point */
  Smoothness smoothness;
  Extrapolation extrapolation;
} Surface;

static const char SURFACE_KIND = 0;

/* ---- making ---- */

static bool make_axis(ExternalCall *call, const Matrix *matrix, uint32_t direction, Axis *axis) {
  uint32_t stride = direction ? 1 : matrix->columns;
  axis->count = (direction ? matrix->columns : matrix->rows) - 1;
  axis->x = heap_array(call->state->heap, axis->count, sizeof *axis->x);
  for (uint32_t i = 0; i < axis->count; i++) {
    axis->x[i] = matrix->values[(size_t)(i + 1) * stride];
    if (i && !(axis->x[i] > axis->x[i - 1]))
      return external_fail(call, "the first %s of a table must increase: %g comes after %g",
                           direction ? "row" : "column", axis->x[i], axis->x[i - 1]);
  }
  return true;
}

/* Slopes along one direction at every point, and (share) how much of each is that of the piece before. */
static void fill_slopes(const Surface *surface, uint32_t direction, double *steps, double *slope, double *share) {
  const Axis *axis = &surface->axis[direction], *other = &surface->axis[!direction];
  uint32_t along = direction ? 1 : other->count, across = direction ? axis->count : 1;
  double *d = steps + 2;
  for (uint32_t k = 0; k < other->count; k++) {
    const double *z = surface->z + (size_t)k * across;
    for (uint32_t i = 0; i + 1 < axis->count; i++)
      d[i] = (z[(size_t)(i + 1) * along] - z[(size_t)i * along]) / (axis->x[i + 1] - axis->x[i]);
    if (axis->count > 1) curve_extend_steps(d, axis->count - 1);
    for (uint32_t i = 0; i < axis->count; i++) {
      size_t at = (size_t)k * across + (size_t)i * along;
      share[at] = curve_akima_share(d + i, false);
      slope[at] = share[at] * d[(int32_t)i - 1] + (1 - share[at]) * d[i];
    }
  }
}

/* The cross difference of a cell, beyond the grid as a line through the last two. */
static double cell_twist(const Surface *surface, int64_t i, int64_t j) {
  const Axis *a = &surface->axis[0], *b = &surface->axis[1];
  int64_t last[2] = {(int64_t)a->count - 2, (int64_t)b->count - 2}, *cell[2] = {&i, &j};
  if (last[0] < 0 || last[1] < 0) return 0;
  for (int k = 0; k < 2; k++)
    if (last[k] == 0) *cell[k] = 0;
  for (int k = 0; k < 2; k++) {
    if (*cell[k] >= 0 && *cell[k] <= last[k]) continue;
    int64_t near = *cell[k] < 0 ? 0 : last[k], far = *cell[k] < 0 ? 1 : last[k] - 1;
    int64_t n[2] = {k ? i : near, k ? near : j}, f[2] = {k ? i : far, k ? far : j};
    return 2 * cell_twist(surface, n[0], n[1]) - cell_twist(surface, f[0], f[1]);
  }
  const double *z = surface->z + (size_t)i * b->count + j;
  return (z[b->count + 1] - z[b->count] - z[1] + z[0]) / ((a->x[i + 1] - a->x[i]) * (b->x[j + 1] - b->x[j]));
}

static void fill_twists(Surface *surface, const double *share0, const double *share1) {
  for (uint32_t i = 0; i < surface->axis[0].count; i++)
    for (uint32_t j = 0; j < surface->axis[1].count; j++) {
      size_t at = (size_t)i * surface->axis[1].count + j;
      double a = share0[at], b = share1[at];
      surface->twist[at] = a * (b * cell_twist(surface, (int64_t)i - 1, (int64_t)j - 1) +
                                (1 - b) * cell_twist(surface, (int64_t)i - 1, j)) +
                           (1 - a) * (b * cell_twist(surface, i, (int64_t)j - 1) + (1 - b) * cell_twist(surface, i, j));
    }
}

static void make_bicubic(Surface *surface, Heap *heap) {
  size_t count = (size_t)surface->axis[0].count * surface->axis[1].count;
  double *share[2],
      *steps = heap_array(heap, (size_t)surface->axis[0].count + surface->axis[1].count + 6, sizeof *steps);
  for (uint32_t k = 0; k < 2; k++) {
    surface->slope[k] = heap_array(heap, count, sizeof(double));
    share[k] = heap_array(heap, count, sizeof(double));
    memset(steps, 0, 6 * sizeof *steps);
    fill_slopes(surface, k, steps, surface->slope[k], share[k]);
  }
  surface->twist = heap_array(heap, count, sizeof(double));
  fill_twists(surface, share[0], share[1]);
  heap_free(heap, steps);
  for (uint32_t k = 0; k < 2; k++) heap_free(heap, share[k]);
}

static double *copy_inner(Heap *heap, const Matrix *matrix) {
  double *z = heap_array(heap, (size_t)matrix->rows * matrix->columns, sizeof *z);
  for (uint32_t i = 1; i < matrix->rows; i++)
    memcpy(z + (size_t)(i - 1) * (matrix->columns - 1), matrix->values + (size_t)i * matrix->columns + 1,
           (matrix->columns - 1) * sizeof *z);
  return z;
}

bool external_surface_init(ExternalCall *call) {
  static const TableArguments at = {.smoothness = 5, .extrapolation = 6, .verbose = 7};
  Surface *surface = heap_alloc(call->state->heap, sizeof *surface);
  Matrix matrix;
  if (!table_matrix(call, at, &matrix)) return false;
  if (matrix.rows < 2 || matrix.columns < 2)
    return external_fail(call, "a table in two dimensions has at least two rows and two columns");
  surface->smoothness = (Smoothness)external_integer(call, at.smoothness);
  surface->extrapolation = (Extrapolation)external_integer(call, at.extrapolation);
  if (surface->smoothness > SMOOTH_CONSTANT)
    return external_fail(call, "smoothness %d is not defined in two dimensions", (int)surface->smoothness);
  for (uint32_t k = 0; k < 2; k++)
    if (!make_axis(call, &matrix, k, &surface->axis[k])) return false;
  surface->rows = matrix.rows;
  surface->columns = matrix.columns;
  surface->matrix = matrix.values;
  surface->z = copy_inner(call->state->heap, &matrix);
  if (surface->smoothness == SMOOTH_AKIMA) make_bicubic(surface, call->state->heap);
  return external_give_object(call, &SURFACE_KIND, surface, true);
}

/* ---- values ---- */

/* A place along an axis: the piece, the distance from its begin, and what lies beyond the ends. */
typedef struct Place {
  uint32_t piece;
  double distance, beyond;
  bool is_constant;
} Place;

static bool find_place(ExternalCall *call, const Surface *surface, const Axis *axis, double u, Place *place) {
  double begin = axis->x[0], end = axis->x[axis->count - 1];
  *place = (Place){0};
  if (axis->count == 1) return true;
  if (surface->extrapolation == EXTRAPOLATE_PERIODIC && (u < begin || u >= end)) {
    u -= (end - begin) * floor((u - begin) / (end - begin));
    if (!(u >= begin && u < end)) u = begin;
  }
  double inside = fmin(fmax(u, begin), end);
  place->beyond = u - inside;
  if (place->beyond != 0 && surface->extrapolation == EXTRAPOLATE_NONE)
    return external_fail(call, "%.17g is outside of the table, from %g to %g, which is not to be extrapolated", u,
                         begin, end);
  uint32_t low = 0, high = axis->count - 1;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (axis->x[middle] <= inside) low = middle;
    else high = middle;
  }
  bool is_linear = place->beyond != 0 && surface->extrapolation == EXTRAPOLATE_LINEAR;
  place->is_constant = surface->smoothness == SMOOTH_CONSTANT && !is_linear;
  place->piece = low;
  place->distance = inside - axis->x[low];
  return true;
}

/* Coefficients of the cubic with these values and slopes at the ends of a piece. */
static void hermite(double width, double z0, double z1, double s0, double s1, double *c) {
  double mean = (z1 - z0) / width;
  c[0] = z0;
  c[1] = s0;
  c[2] = (3 * mean - 2 * s0 - s1) / width;
  c[3] = (s0 + s1 - 2 * mean) / (width * width);
}

/* c[j][k]: coefficient of (u1 - x)^j (u2 - y)^k. */
static void bicubic_piece(const Surface *surface, uint32_t i, uint32_t j, double c[4][4]) {
  const Axis *a = &surface->axis[0], *b = &surface->axis[1];
  double width = a->x[i + 1] - a->x[i], height = b->x[j + 1] - b->x[j], edge[4][4];
  size_t at = (size_t)i * b->count + j, up = at + b->count;
  for (uint32_t k = 0; k < 2; k++) {
    hermite(width, surface->z[at + k], surface->z[up + k], surface->slope[0][at + k], surface->slope[0][up + k],
            edge[k]);
    hermite(width, surface->slope[1][at + k], surface->slope[1][up + k], surface->twist[at + k], surface->twist[up + k],
            edge[2 + k]);
  }
  for (uint32_t k = 0; k < 4; k++) hermite(height, edge[0][k], edge[1][k], edge[2][k], edge[3][k], c[k]);
}

/* Along an axis with one place nothing changes. */
static void plain_piece(const Surface *surface, const Place *p, const Place *q, double c[4][4]) {
  const Axis *a = &surface->axis[0], *b = &surface->axis[1];
  bool is_flat[2] = {a->count == 1 || p->is_constant, b->count == 1 || q->is_constant};
  uint32_t i = p->piece, j = q->piece;
  if (p->is_constant && a->count > 1 && p->distance >= a->x[i + 1] - a->x[i]) i++;
  if (q->is_constant && b->count > 1 && q->distance >= b->x[j + 1] - b->x[j]) j++;
  const double *z = surface->z + (size_t)i * b->count + j;
  size_t right = is_flat[0] ? 0 : b->count, up = !is_flat[1];
  double width = is_flat[0] ? 1 : a->x[i + 1] - a->x[i], height = is_flat[1] ? 1 : b->x[j + 1] - b->x[j];
  c[0][0] = z[0];
  c[1][0] = (z[right] - z[0]) / width;
  c[0][1] = (z[up] - z[0]) / height;
  c[1][1] = (z[right + up] - z[right] - z[up] + z[0]) / (width * height);
}

/* The derivative of order k of a polynomial of degree 3 at s. */
static double derive_cubic(const double *c, double s, uint32_t k) {
  double sum = 0;
  for (uint32_t power = 4; power-- > k;) {
    double factor = 1;
    for (uint32_t i = 0; i < k; i++) factor *= power - i;
    sum = sum * s + factor * c[power];
  }
  return sum;
}

/* Beyond the ends: constant, or linear with the slope there. d has `order` + 2 derivatives and loses the last. */
static void extend(Extrapolation extrapolation, double beyond, uint32_t order, double *d, uint32_t stride) {
  if (beyond == 0) return;
  bool is_linear = extrapolation == EXTRAPOLATE_LINEAR;
  if (is_linear) d[0] += beyond * d[stride];
  for (uint32_t k = is_linear ? 2 : 1; k <= order; k++) d[(size_t)k * stride] = 0;
}

/* out[j * (n + 1) + k]: the j-th derivative in u1 and k-th in u2. */
static bool surface_derivatives(ExternalCall *call, const Surface *surface, double u1, double u2, uint32_t n,
                                double *out) {
  double c[4][4] = {{0}}, d[JET_LIMIT + 2][JET_LIMIT + 2];
  Place p, q;
  if (!find_place(call, surface, &surface->axis[0], u1, &p) || !find_place(call, surface, &surface->axis[1], u2, &q))
    return false;
  bool is_bicubic = surface->smoothness == SMOOTH_AKIMA && surface->axis[0].count > 1 && surface->axis[1].count > 1;
  if (is_bicubic) bicubic_piece(surface, p.piece, q.piece, c);
  else plain_piece(surface, &p, &q, c);
  for (uint32_t j = 0; j < n + 2; j++)
    for (uint32_t k = 0; k < n + 2; k++) {
      double row[4];
      for (uint32_t i = 0; i < 4; i++) row[i] = derive_cubic(c[i], q.is_constant ? 0 : q.distance, k);
      d[j][k] = derive_cubic(row, p.is_constant ? 0 : p.distance, j);
    }
  for (uint32_t j = 0; j < n + 2; j++) extend(surface->extrapolation, q.beyond, n, d[j], 1);
  for (uint32_t k = 0; k <= n; k++) extend(surface->extrapolation, p.beyond, n, &d[0][k], JET_LIMIT + 2);
  for (uint32_t j = 0; j <= n; j++) memcpy(out + (size_t)j * (n + 1), d[j], (n + 1) * sizeof *out);
  return true;
}

/* Argument `position` with its rates, which stand two places further for each order, as an element. */
static void path_element(const ExternalCall *call, uint32_t position, uint32_t order, double *u) {
  size_t size = (size_t)1 << call->nilpotents;
  for (uint32_t part = 0; part < 1u << order; part++) {
    uint32_t rate = part == 0 ? 0 : part == 3 ? 2 : 1;
    memcpy(u + part * size, call->arguments[position + 2 * rate].numbers, size * sizeof *u);
  }
}

static bool interpolate(ExternalCall *call, uint32_t order) {
  double u[JET_SIZE], v[JET_SIZE], element[JET_SIZE], derivative[(JET_LIMIT + 1) * (JET_LIMIT + 1)];
  const Surface *surface = external_content(call, 0, &SURFACE_KIND);
  uint32_t n = call->nilpotents + order;
  if (!surface) return false;
  if (n > JET_LIMIT) return external_fail(call, "derivatives of order above %d", JET_LIMIT);
  path_element(call, 1, order, u);
  path_element(call, 2, order, v);
  if (!surface_derivatives(call, surface, u[0], v[0], n, derivative)) return false;
  jet_compose_two(n, derivative, u, v, element);
  return table_give(call, order, element);
}

bool external_surface_value(ExternalCall *call) { return interpolate(call, 0); }
bool external_surface_derivative(ExternalCall *call) { return interpolate(call, 1); }
bool external_surface_second_derivative(ExternalCall *call) { return interpolate(call, 2); }

bool external_surface_read(ExternalCall *call) {
  const Surface *surface = external_content(call, 0, &SURFACE_KIND);
  Table table = {0};
  if (!surface) return false;
  table = (Table){.rows = surface->rows, .columns = surface->columns, .values = surface->matrix};
  return table_element(call, &table);
}

static bool give_ends(ExternalCall *call, bool is_last) {
  const Surface *surface = external_content(call, 0, &SURFACE_KIND);
  if (!surface) return false;
  for (uint32_t k = 0; k < 2 && k < call->arguments[1].count; k++)
    call->arguments[1].numbers[k] = surface->axis[k].x[is_last ? surface->axis[k].count - 1 : 0];
  return true;
}

bool external_surface_minimum(ExternalCall *call) { return give_ends(call, false); }
bool external_surface_maximum(ExternalCall *call) { return give_ends(call, true); }
