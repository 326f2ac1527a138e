/* tangent: see tangent.h. Matrices are dense, row by row. */
#include "core/tangent.h"

#include <math.h>
#include <string.h>

/* Pivots below this fraction of the largest one are lost in round-off. */
static const double LOST = 1e-13;

struct Tangent {
  const TangentPlan *plan;
  double *mass;     /* n by n */
  double *gradient; /* m by n; after elimination [G_d^-1 as factors | G_i] in the order of `place` */
  double *map;      /* maps independent to dependent accelerations: D = [map; 1], m by n - m */
  double *factor;   /* factor of D^T M D, the lower triangle */
  int32_t *place;   /* coordinates, the m dependent ones first */
  int32_t *row;     /* constraints in the order of elimination */
  double *motion, *constraint, *acceleration, *reduced, *work;
};

static int32_t *index_list(Heap *heap, int32_t count) { return heap_array(heap, (size_t)count, sizeof(int32_t)); }

static Tangent *make(Heap *heap, const TangentPlan *plan) {
  size_t n = (size_t)plan->coordinates, m = (size_t)plan->constraints;
  Tangent *tangent = heap_alloc(heap, sizeof *tangent);
  *tangent = (Tangent){.plan = plan,
                       .mass = heap_array(heap, n * n, sizeof(double)),
                       .gradient = heap_array(heap, m * n, sizeof(double)),
                       .map = heap_array(heap, m * (n - m), sizeof(double)),
                       .factor = heap_array(heap, (n - m) * (n - m), sizeof(double)),
                       .place = index_list(heap, plan->coordinates),
                       .row = index_list(heap, plan->constraints),
                       .motion = heap_array(heap, n, sizeof(double)),
                       .constraint = heap_array(heap, m, sizeof(double)),
                       .acceleration = heap_array(heap, n, sizeof(double)),
                       .reduced = heap_array(heap, n - m, sizeof(double)),
                       .work = heap_array(heap, n * (n - m), sizeof(double))};
  return tangent;
}

/* Forces that depend on accelerations are part of M, too, and need not be symmetric. */
static bool is_symmetric(const double *a, int32_t n) {
  double largest = 0, difference = 0;
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++) {
      largest = fmax(largest, fabs(a[i * n + j]));
      difference = fmax(difference, fabs(a[i * n + j] - a[j * n + i]));
    }
  return difference <= LOST * largest;
}

/* Sorts the entries into M, G and B; false if M is not symmetric, the lower right part is not zero, or B is not -G^T. */
static bool read_matrix(Tangent *tangent, const int32_t *column_start, const int32_t *row_index, const double *values) {
  const TangentPlan *plan = tangent->plan;
  int32_t n = plan->coordinates, m = plan->constraints;
  double largest = 0;
  memset(tangent->mass, 0, (size_t)(n * n) * sizeof(double));
  memset(tangent->gradient, 0, (size_t)(m * n) * sizeof(double));
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = plan->acceleration[i], e = column_start[k]; e < column_start[k + 1]; e++) {
      int32_t row = plan->role[row_index[e]];
      if (!isfinite(values[e])) return false;
      if (row >= 0) tangent->mass[row * n + i] = values[e];
      else tangent->gradient[(-1 - row) * n + i] = values[e];
      if (row < 0) largest = fmax(largest, fabs(values[e]));
    }
  for (int32_t c = 0; c < m; c++)
    for (int32_t k = plan->multiplier[c], e = column_start[k]; e < column_start[k + 1]; e++) {
      int32_t row = plan->role[row_index[e]];
      double wanted = row >= 0 ? -tangent->gradient[c * n + row] : 0;
      if (!(fabs(values[e] - wanted) <= LOST * largest)) return false;
    }
  return is_symmetric(tangent->mass, n);
}

static void swap(int32_t *list, int32_t a, int32_t b) {
  int32_t held = list[a];
  list[a] = list[b];
  list[b] = held;
}

/* An entry of G with rows and columns in the order of elimination. */
static double *entry(const Tangent *tangent, int32_t c, int32_t i) {
  return &tangent->gradient[tangent->row[c] * tangent->plan->coordinates + tangent->place[i]];
}

/* Gaussian elimination with complete pivoting: the first m coordinates in the order found are the dependent ones. */
static bool eliminate(Tangent *tangent) {
  int32_t n = tangent->plan->coordinates, m = tangent->plan->constraints;
  double first = 0;
  for (int32_t i = 0; i < n; i++) tangent->place[i] = i;
  for (int32_t c = 0; c < m; c++) tangent->row[c] = c;
  for (int32_t k = 0; k < m; k++) {
    int32_t row = k, column = k;
    for (int32_t c = k; c < m; c++)
      for (int32_t i = k; i < n; i++)
        if (fabs(*entry(tangent, c, i)) > fabs(*entry(tangent, row, column))) row = c, column = i;
    swap(tangent->row, k, row);
    swap(tangent->place, k, column);
    double pivot = *entry(tangent, k, k);
    if (k == 0) first = fabs(pivot);
    if (!(fabs(pivot) > LOST * first)) return false;
    for (int32_t c = k + 1; c < m; c++) {
      double factor = *entry(tangent, c, k) /= pivot;
      for (int32_t i = k + 1; i < n; i++) *entry(tangent, c, i) -= factor * *entry(tangent, k, i);
    }
  }
  return true;
}

/* Replaces x, in the order of elimination, by G_d^-1 x. is_eliminated: the lower factor is already applied. */
static void solve_dependent(const Tangent *tangent, double *x, int32_t stride, bool is_eliminated) {
  int32_t m = tangent->plan->constraints;
  for (int32_t c = 0; c < m && !is_eliminated; c++)
    for (int32_t k = 0; k < c; k++) x[c * stride] -= *entry(tangent, c, k) * x[k * stride];
  for (int32_t c = m; c-- > 0;) {
    for (int32_t k = c + 1; k < m; k++) x[c * stride] -= *entry(tangent, c, k) * x[k * stride];
    x[c * stride] /= *entry(tangent, c, c);
  }
}

/* Replaces x by G_d^-T x, in the order of elimination of rows. */
static void solve_transposed(const Tangent *tangent, double *x) {
  int32_t m = tangent->plan->constraints;
  for (int32_t c = 0; c < m; c++) {
    for (int32_t k = 0; k < c; k++) x[c] -= *entry(tangent, k, c) * x[k];
    x[c] /= *entry(tangent, c, c);
  }
  for (int32_t c = m; c-- > 0;)
    for (int32_t k = c + 1; k < m; k++) x[c] -= *entry(tangent, k, c) * x[k];
}

static void find_map(Tangent *tangent) {
  int32_t m = tangent->plan->constraints, free = tangent->plan->coordinates - m;
  for (int32_t i = 0; i < free; i++) {
    for (int32_t c = 0; c < m; c++) tangent->map[c * free + i] = -*entry(tangent, c, m + i);
    solve_dependent(tangent, tangent->map + i, free, true);
  }
}

/* Row i of D, for coordinate place[i]. */
static double direction(const Tangent *tangent, int32_t i, int32_t k) {
  int32_t m = tangent->plan->constraints, free = tangent->plan->coordinates - m;
  return i < m ? tangent->map[i * free + k] : i - m == k;
}

/* D^T M D, the lower triangle. */
static void project_mass(Tangent *tangent) {
  int32_t n = tangent->plan->coordinates, free = n - tangent->plan->constraints;
  double *product = tangent->work; /* M D */
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = 0; k < free; k++) {
      double sum = 0;
      for (int32_t j = 0; j < n; j++)
        sum += tangent->mass[tangent->place[i] * n + tangent->place[j]] * direction(tangent, j, k);
      product[i * free + k] = sum;
    }
  for (int32_t a = 0; a < free; a++)
    for (int32_t b = 0; b <= a; b++) {
      double sum = 0;
      for (int32_t i = 0; i < n; i++) sum += direction(tangent, i, a) * product[i * free + b];
      tangent->factor[a * free + b] = sum;
    }
}

static bool cholesky(double *a, int32_t n) {
  double largest = 0;
  for (int32_t k = 0; k < n; k++) largest = fmax(largest, a[k * n + k]);
  for (int32_t k = 0; k < n; k++) {
    for (int32_t j = 0; j < k; j++) a[k * n + k] -= a[k * n + j] * a[k * n + j];
    if (!(a[k * n + k] > LOST * largest)) return false;
    a[k * n + k] = sqrt(a[k * n + k]);
    for (int32_t i = k + 1; i < n; i++) {
      for (int32_t j = 0; j < k; j++) a[i * n + k] -= a[i * n + j] * a[k * n + j];
      a[i * n + k] /= a[k * n + k];
    }
  }
  return true;
}

static void cholesky_solve(const double *a, int32_t n, double *x) {
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < i; j++) x[i] -= a[i * n + j] * x[j];
    x[i] /= a[i * n + i];
  }
  for (int32_t i = n; i-- > 0;) {
    for (int32_t j = i + 1; j < n; j++) x[i] -= a[j * n + i] * x[j];
    x[i] /= a[i * n + i];
  }
}

static bool factor(Tangent *tangent, const int32_t *column_start, const int32_t *row_index, const double *values) {
  if (!read_matrix(tangent, column_start, row_index, values) || !eliminate(tangent)) return false;
  find_map(tangent);
  project_mass(tangent);
  return cholesky(tangent->factor, tangent->plan->coordinates - tangent->plan->constraints);
}

/* ---- solving ---- */

/* The right side minus M times the acceleration, of coordinate place[i]. */
static double left_over(const Tangent *tangent, int32_t i) {
  int32_t n = tangent->plan->coordinates;
  double sum = tangent->motion[i];
  for (int32_t j = 0; j < n; j++)
    sum -= tangent->mass[tangent->place[i] * n + tangent->place[j]] * tangent->acceleration[j];
  return sum;
}

static void solve(const Tangent *tangent, double *b) {
  const TangentPlan *plan = tangent->plan;
  int32_t n = plan->coordinates, m = plan->constraints, free = n - m;
  for (int32_t i = 0; i < n; i++) tangent->motion[i] = b[plan->motion[tangent->place[i]]];
  for (int32_t c = 0; c < m; c++) tangent->constraint[c] = b[plan->constraint[tangent->row[c]]];
  solve_dependent(tangent, tangent->constraint, 1, false);
  for (int32_t i = 0; i < n; i++) tangent->acceleration[i] = i < m ? tangent->constraint[i] : 0;
  for (int32_t k = 0; k < free; k++) tangent->reduced[k] = 0;
  for (int32_t i = 0; i < n; i++) {
    double rest = left_over(tangent, i);
    for (int32_t k = 0; k < free; k++) tangent->reduced[k] += direction(tangent, i, k) * rest;
  }
  cholesky_solve(tangent->factor, free, tangent->reduced);
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = 0; k < free; k++) tangent->acceleration[i] += direction(tangent, i, k) * tangent->reduced[k];
  for (int32_t c = 0; c < m; c++) tangent->constraint[c] = -left_over(tangent, c);
  solve_transposed(tangent, tangent->constraint);
  for (int32_t i = 0; i < n; i++) b[plan->acceleration[tangent->place[i]]] = tangent->acceleration[i];
  for (int32_t c = 0; c < m; c++) b[plan->multiplier[tangent->row[c]]] = tangent->constraint[c];
}

const TangentMethods tangent_methods = {make, factor, solve};
