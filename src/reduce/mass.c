/* mass: see mass.h. The tangent space is spanned by the null vectors of G; the eigenvalues of D^T M D decide. */
#include "reduce/mass.h"

#include "reduce/dense.h"

#include <math.h>

enum { LARGEST = 256 }; /* coordinates of a model that is examined */

/* Singular values and eigenvalues below this fraction of the largest count as zero. */
static const double ZERO = 1e-12;

/* Components below this fraction of the largest do not count. */
static const double CONCERNED = 1e-6;

/* Values of m by n expressions of the model, by columns; false: one is undefined here. */
static bool evaluate(const Reduction *reduction, const Expr *list, uint32_t m, uint32_t n, double *values) {
  for (uint32_t r = 0; r < m; r++)
    for (uint32_t c = 0; c < n; c++) {
      Expr e = problem_expression(reduction->array->problem, list[(size_t)r * n + c]);
      values[r + (size_t)c * m] = reduction_value(reduction, e);
      if (!isfinite(values[r + (size_t)c * m])) return false;
    }
  return true;
}

/* a (m x k) times b (k x n), by columns; or the transpose of a (k x m). */
static double *multiply(const double *a, bool is_transposed, const double *b, uint32_t m, uint32_t k, uint32_t n,
                        Arena *arena) {
  double *product = arena_array(arena, (size_t)m * n + 1, sizeof *product);
  for (uint32_t r = 0; r < m; r++)
    for (uint32_t c = 0; c < n; c++)
      for (uint32_t i = 0; i < k; i++)
        product[r + (size_t)c * m] +=
            (is_transposed ? a[i + (size_t)r * k] : a[r + (size_t)i * m]) * b[i + (size_t)c * k];
  return product;
}

/* (a, b): the coordinates in which the vector is not zero. */
static const char *list_coordinates(const Reduction *reduction, const double *vector) {
  const MassForm *form = reduction->model->mass;
  TextVec text = {0};
  double largest = 0;
  for (uint32_t i = 0; i < form->coordinates; i++) largest = fmax(largest, fabs(vector[i]));
  for (uint32_t i = 0; i < form->coordinates; i++)
    if (fabs(vector[i]) > CONCERNED * largest)
      text_printf(reduction->heap, &text, "%s%s", text.count ? ", " : "",
                  model_name(reduction->model, reduction->model->unknowns.data[form->coordinate[i]]));
  const char *kept = arena_copy(reduction->arena, text.data, text.count);
  vec_free(reduction->heap, &text);
  return kept;
}

/* The null vectors of G as columns, `count` of them. */
static const double *null_vectors(const Svd *svd, uint32_t n, uint32_t count, Arena *arena) {
  double *d = arena_array(arena, (size_t)n * count + 1, sizeof *d);
  for (uint32_t k = 0; k < count; k++)
    for (uint32_t i = 0; i < n; i++) d[i + (size_t)k * n] = svd->vt[(n - count + k) + (size_t)i * n];
  return d;
}

/* Decides by the eigenvalues of D^T M D, ascending, and its eigenvectors. */
static void judge(Reduction *reduction, const double *d, uint32_t free, const double *values, const double *vectors) {
  Arena *arena = reduction->arena;
  uint32_t n = reduction->model->mass->coordinates;
  double largest = fmax(fabs(values[0]), fabs(values[free - 1]));
  reduction->is_definite = values[0] > ZERO * largest;
  if (reduction->is_definite) {
    reduction->mass = arena_printf(arena, "mass matrix of %u coordinates, positive definite on the tangent space", n);
    return;
  }
  const char *kind = values[0] < -ZERO * largest ? "indefinite" : "singular";
  const char *where = list_coordinates(reduction, multiply(d, false, vectors, n, free, 1, arena));
  diag_warning(reduction->diags, DIAG_WARNING, (Span){0},
               "the mass matrix is %s on the tangent space, in a direction of %s", kind, where);
  reduction->mass = arena_printf(arena, "mass matrix %s on the tangent space, in a direction of %s", kind, where);
}

void mass_examine(Reduction *reduction) {
  const MassForm *form = reduction->model->mass;
  Arena *arena = reduction->arena;
  if (!form || !reduction->at.y || form->coordinates > LARGEST) return;
  uint32_t n = form->coordinates, m = form->constraints;
  double *mass = arena_array(arena, (size_t)n * n + 1, sizeof *mass);
  double *gradient = arena_array(arena, (size_t)m * n + 1, sizeof *gradient);
  if (!evaluate(reduction, form->mass, n, n, mass) || !evaluate(reduction, form->gradient, m, n, gradient)) return;
  Svd svd = dense_svd(gradient, (int32_t)m, (int32_t)n, ZERO, arena);
  uint32_t free = n - (uint32_t)svd.rank;
  const double *d = null_vectors(&svd, n, free, arena);
  double *reduced = multiply(d, true, multiply(mass, false, d, n, n, free, arena), free, n, free, arena);
  double *values = arena_array(arena, free + 1, sizeof *values);
  if (free && dense_eigenvalues(reduced, (int32_t)free, values, arena)) judge(reduction, d, free, values, reduced);
}
