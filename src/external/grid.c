/* grid: see grid.h. Pieces are bicubic (H. Akima, Commun. ACM 17 (1974) 18), bilinear or constant. */
#include "external/grid.h"

#include "external/jet.h"

#include <math.h>
#include <string.h>

/* ---- slopes ---- */

/* Fills in the slopes along one direction at every point, and in `share` the weight of the piece before the point. */
static void fill_slopes(const Grid *grid, uint32_t direction, double *steps, double *slope, double *share) {
  const GridAxis *axis = &grid->axis[direction], *other = &grid->axis[!direction];
  uint32_t along = direction ? 1 : other->count, across = direction ? axis->count : 1;
  double *d = steps + 2;
  for (uint32_t k = 0; k < other->count; k++) {
    const double *z = grid->z + (size_t)k * across;
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

/* The mixed difference of a cell; beyond the grid it is extrapolated linearly from the last two cells. */
static double cell_twist(const Grid *grid, int64_t i, int64_t j) {
  const GridAxis *a = &grid->axis[0], *b = &grid->axis[1];
  int64_t last[2] = {(int64_t)a->count - 2, (int64_t)b->count - 2}, *cell[2] = {&i, &j};
  if (last[0] < 0 || last[1] < 0) return 0;
  for (int k = 0; k < 2; k++)
    if (last[k] == 0) *cell[k] = 0;
  for (int k = 0; k < 2; k++) {
    if (*cell[k] >= 0 && *cell[k] <= last[k]) continue;
    int64_t near = *cell[k] < 0 ? 0 : last[k], far = *cell[k] < 0 ? 1 : last[k] - 1;
    int64_t n[2] = {k ? i : near, k ? near : j}, f[2] = {k ? i : far, k ? far : j};
    return 2 * cell_twist(grid, n[0], n[1]) - cell_twist(grid, f[0], f[1]);
  }
  const double *z = grid->z + (size_t)i * b->count + j;
  return (z[b->count + 1] - z[b->count] - z[1] + z[0]) / ((a->x[i + 1] - a->x[i]) * (b->x[j + 1] - b->x[j]));
}

static void fill_twists(const Grid *grid, const double *share0, const double *share1, double *twist) {
  for (uint32_t i = 0; i < grid->axis[0].count; i++)
    for (uint32_t j = 0; j < grid->axis[1].count; j++) {
      size_t at = (size_t)i * grid->axis[1].count + j;
      double a = share0[at], b = share1[at];
      twist[at] =
          a * (b * cell_twist(grid, (int64_t)i - 1, (int64_t)j - 1) + (1 - b) * cell_twist(grid, (int64_t)i - 1, j)) +
          (1 - a) * (b * cell_twist(grid, i, (int64_t)j - 1) + (1 - b) * cell_twist(grid, i, j));
    }
}

void grid_fill_slopes(const Grid *grid, double *room, double *slope[2], double *twist) {
  size_t points = (size_t)grid->axis[0].count * grid->axis[1].count;
  double *share[2] = {room, room + points}, *steps = room + 2 * points;
  for (uint32_t k = 0; k < 2; k++) {
    memset(steps, 0, 6 * sizeof *steps);
    fill_slopes(grid, k, steps, slope[k], share[k]);
  }
  fill_twists(grid, share[0], share[1], twist);
}

/* ---- values ---- */

/* A place along an axis: the piece, the distance from its beginning, and the distance beyond an end. */
typedef struct GridPlace {
  uint32_t piece;
  double distance, beyond;
  bool is_constant;
} GridPlace;

static bool find_place(const Grid *grid, const GridAxis *axis, double u, GridPlace *place) {
  double begin = axis->x[0], end = axis->x[axis->count - 1];
  *place = (GridPlace){0};
  if (axis->count == 1) return true;
  if (grid->extrapolation == EXTRAPOLATE_PERIODIC && (u < begin || u >= end)) {
    u -= (end - begin) * floor((u - begin) / (end - begin));
    if (!(u >= begin && u < end)) u = begin;
  }
  double inside = fmin(fmax(u, begin), end);
  place->beyond = u - inside;
  if (place->beyond != 0 && grid->extrapolation == EXTRAPOLATE_NONE) return false;
  uint32_t low = 0, high = axis->count - 1;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (axis->x[middle] <= inside) low = middle;
    else high = middle;
  }
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
static void bicubic_piece(const Grid *grid, uint32_t i, uint32_t j, double c[4][4]) {
  const GridAxis *a = &grid->axis[0], *b = &grid->axis[1];
  double width = a->x[i + 1] - a->x[i], height = b->x[j + 1] - b->x[j], edge[4][4];
  size_t at = (size_t)i * b->count + j, up = at + b->count;
  for (uint32_t k = 0; k < 2; k++) {
    hermite(width, grid->z[at + k], grid->z[up + k], grid->slope[0][at + k], grid->slope[0][up + k], edge[k]);
    hermite(width, grid->slope[1][at + k], grid->slope[1][up + k], grid->twist[at + k], grid->twist[up + k],
            edge[2 + k]);
  }
  for (uint32_t k = 0; k < 4; k++) hermite(height, edge[0][k], edge[1][k], edge[2][k], edge[3][k], c[k]);
}

/* Only one axis has several places; along it the pieces are cubic, as in a curve. */
static void line_piece(const Grid *grid, uint32_t direction, uint32_t i, double c[4][4]) {
  const double *x = grid->axis[direction].x, *slope = grid->slope[direction];
  double line[4];
  hermite(x[i + 1] - x[i], grid->z[i], grid->z[i + 1], slope[i], slope[i + 1], line);
  for (uint32_t k = 0; k < 4; k++) *(direction ? &c[0][k] : &c[k][0]) = line[k];
}

static void cubic_piece(const Grid *grid, const GridPlace *p, const GridPlace *q, double c[4][4]) {
  if (grid->axis[0].count == 1) line_piece(grid, 1, q->piece, c);
  else if (grid->axis[1].count == 1) line_piece(grid, 0, p->piece, c);
  else bicubic_piece(grid, p->piece, q->piece, c);
}

/* Along an axis with one place the value is constant. */
static void plain_piece(const Grid *grid, const GridPlace *p, const GridPlace *q, double c[4][4]) {
  const GridAxis *a = &grid->axis[0], *b = &grid->axis[1];
  bool is_flat[2] = {a->count == 1 || p->is_constant, b->count == 1 || q->is_constant};
  uint32_t i = p->piece, j = q->piece;
  if (p->is_constant && a->count > 1 && p->distance >= a->x[i + 1] - a->x[i]) i++;
  if (q->is_constant && b->count > 1 && q->distance >= b->x[j + 1] - b->x[j]) j++;
  const double *z = grid->z + (size_t)i * b->count + j;
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

bool grid_derivatives(const Grid *grid, double u1, double u2, uint32_t n, double *out) {
  double c[4][4] = {{0}}, d[JET_LIMIT + 2][JET_LIMIT + 2];
  GridPlace p, q;
  if (!find_place(grid, &grid->axis[0], u1, &p) || !find_place(grid, &grid->axis[1], u2, &q)) return false;
  /* Constant pieces are extrapolated by the line, or the bilinear surface, through the last points. */
  bool is_continued = grid->extrapolation == EXTRAPOLATE_LINEAR && (p.beyond != 0 || q.beyond != 0);
  p.is_constant = q.is_constant = grid->smoothness == SMOOTH_CONSTANT && !is_continued;
  bool has_pieces = grid->axis[0].count > 1 || grid->axis[1].count > 1;
  if (grid->smoothness == SMOOTH_AKIMA && has_pieces) cubic_piece(grid, &p, &q, c);
  else plain_piece(grid, &p, &q, c);
  for (uint32_t j = 0; j < n + 2; j++)
    for (uint32_t k = 0; k < n + 2; k++) {
      double row[4];
      for (uint32_t i = 0; i < 4; i++) row[i] = derive_cubic(c[i], q.is_constant ? 0 : q.distance, k);
      d[j][k] = derive_cubic(row, p.is_constant ? 0 : p.distance, j);
    }
  for (uint32_t j = 0; j < n + 2; j++) extend(grid->extrapolation, q.beyond, n, d[j], 1);
  for (uint32_t k = 0; k <= n; k++) extend(grid->extrapolation, p.beyond, n, &d[0][k], JET_LIMIT + 2);
  for (uint32_t j = 0; j <= n; j++) memcpy(out + (size_t)j * (n + 1), d[j], (n + 1) * sizeof *out);
  return true;
}
