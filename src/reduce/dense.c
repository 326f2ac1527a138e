/* dense: see dense.h. */
#include "reduce/dense.h"

#include "base/blas.h"

#include <lapacke.h>

/* dgesdd with its workspace; false: it did not converge. */
static bool decompose(char job, double *a, int32_t m, int32_t n, Svd *svd, Arena *arena) {
  lapack_int rows = m, columns = n, length = -1, info;
  lapack_int *integers = arena_array(arena, 8 * (size_t)(m < n ? m : n), sizeof *integers);
  double best;
  blas_expect_room(arena->heap);
  LAPACK_dgesdd(&job, &rows, &columns, a, &rows, svd->s, svd->u, &rows, svd->vt, &columns, &best, &length, integers,
                &info);
  length = (lapack_int)best + 1;
  double *work = arena_array(arena, (size_t)length, sizeof *work);
  LAPACK_dgesdd(&job, &rows, &columns, a, &rows, svd->s, svd->u, &rows, svd->vt, &columns, work, &length, integers,
                &info);
  return info == 0;
}

static void count_rank(Svd *svd, int32_t small, double tolerance) {
  while (svd->rank < small && svd->s[svd->rank] > tolerance * svd->s[0] && svd->s[svd->rank] > 0) svd->rank++;
}

Svd dense_svd(double *a, int32_t m, int32_t n, double tolerance, Arena *arena) {
  int32_t small = m < n ? m : n;
  Svd svd = {arena_array(arena, (size_t)small + 1, sizeof(double)),
             arena_array(arena, (size_t)m * (size_t)m + 1, sizeof(double)),
             arena_array(arena, (size_t)n * (size_t)n + 1, sizeof(double)), 0};
  for (int32_t k = 0; k < m; k++) svd.u[k + k * m] = 1;
  for (int32_t k = 0; k < n; k++) svd.vt[k + k * n] = 1;
  if (small && decompose('A', a, m, n, &svd, arena)) count_rank(&svd, small, tolerance);
  return svd;
}

Svd dense_values(double *a, int32_t m, int32_t n, double tolerance, Arena *arena) {
  int32_t small = m < n ? m : n;
  double none;
  Svd svd = {arena_array(arena, (size_t)small + 1, sizeof(double)), &none, &none, 0};
  if (small && decompose('N', a, m, n, &svd, arena)) count_rank(&svd, small, tolerance);
  svd.u = svd.vt = NULL;
  return svd;
}

int32_t *dense_pivots(double *a, int32_t m, int32_t n, const bool *before, Arena *arena) {
  lapack_int rows = m, columns = n, length = 64 * (n + 1) + 2 * n, info;
  int32_t *pivot = arena_array(arena, (size_t)n + 1, sizeof *pivot);
  lapack_int *place = arena_array(arena, (size_t)n + 1, sizeof *place);
  double *tau = arena_array(arena, (size_t)(m + n), sizeof *tau),
         *work = arena_array(arena, (size_t)length, sizeof *work);
  for (int32_t k = 0; k < n; k++) place[k] = before && before[k];
  blas_expect_room(arena->heap);
  if (m > 0 && n > 0) LAPACK_dgeqp3(&rows, &columns, a, &rows, place, tau, work, &length, &info);
  else
    for (int32_t k = 0; k < n; k++) place[k] = k + 1;
  for (int32_t k = 0; k < n; k++) pivot[k] = (int32_t)place[k] - 1;
  return pivot;
}

bool dense_eigenvalues(double *a, int32_t n, double *values, Arena *arena) {
  lapack_int size = n, length = 34 * n + 1, info;
  double *work = arena_array(arena, (size_t)length, sizeof *work);
  char job = 'V', half = 'L';
  blas_expect_room(arena->heap);
  LAPACK_dsyev(&job, &half, &size, a, &size, values, work, &length, &info);
  return info == 0;
}
