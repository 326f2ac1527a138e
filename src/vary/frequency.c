/* frequency: see frequency.h. A = Q H Q^T with H of Hessenberg form is computed once. For each frequency H - s is eliminated row by
 * row (Laub, Efficient multivariable frequency response computations, IEEE Transactions on Automatic Control 26, 1981). */
#include "vary/frequency.h"

#include "base/blas.h"
#include "core/constants.h"

#include <complex.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

struct FrequencyResponse {
  const LinearForm *form;
  double *h, *b, *c; /* matrices in the basis of H, by columns */
  double complex *matrix, *right;
};

/* out = Q^T in, for `count` columns; or in Q by rows, with side 'R'. */
static void rotate(char side, lapack_int n, const double *reflectors, const double *tau, double *matrix,
                   lapack_int rows, lapack_int columns, double *scratch, lapack_int length) {
  char transposed = side == 'L' ? 'T' : 'N';
  lapack_int low = 1, info;
  if (!n || !rows || !columns) return;
  LAPACK_dormhr(&side, &transposed, &rows, &columns, &low, &n, reflectors, &n, tau, matrix, &rows, scratch, &length,
                &info);
}

FrequencyResponse *frequency_response_new(const LinearForm *form, Arena *arena) {
  FrequencyResponse *response = arena_array(arena, 1, sizeof *response);
  size_t n = form->states;
  lapack_int size = (lapack_int)n, low = 1, info;
  lapack_int length = 64 * (size + (lapack_int)form->inputs + (lapack_int)form->outputs) + 64;
  double *tau = arena_array(arena, n, sizeof *tau), *scratch = arena_array(arena, (size_t)length, sizeof *scratch);
  response->form = form;
  response->h = arena_array(arena, n * n, sizeof(double));
  response->b = arena_array(arena, n * form->inputs, sizeof(double));
  response->c = arena_array(arena, n * form->outputs, sizeof(double));
  response->matrix = arena_array(arena, n * n, sizeof(double complex));
  response->right = arena_array(arena, n, sizeof(double complex));
  blas_expect_room(arena->heap);
  memcpy(response->h, form->a, n * n * sizeof(double));
  memcpy(response->b, form->b, n * form->inputs * sizeof(double));
  memcpy(response->c, form->c, n * form->outputs * sizeof(double));
  if (n) LAPACK_dgehrd(&size, &low, &size, response->h, &size, tau, scratch, &length, &info);
  rotate('L', size, response->h, tau, response->b, size, (lapack_int)form->inputs, scratch, length);
  rotate('R', size, response->h, tau, response->c, (lapack_int)form->outputs, size, scratch, length);
  for (size_t k = 0; k < n; k++)
    for (size_t i = k + 2; i < n; i++) response->h[i + k * n] = 0; /* clear the remains of the reflectors */
  return response;
}

/* Eliminates the entry below the diagonal of column k, with the larger of the two as the pivot. */
static bool eliminate(FrequencyResponse *response, size_t k) {
  size_t n = response->form->states;
  double complex *matrix = response->matrix, *right = response->right;
  if (k + 1 < n && cabs(matrix[k + 1 + k * n]) > cabs(matrix[k + k * n])) {
    for (size_t j = k; j < n; j++) {
      double complex swap = matrix[k + j * n];
      matrix[k + j * n] = matrix[k + 1 + j * n];
      matrix[k + 1 + j * n] = swap;
    }
    double complex swap = right[k];
    right[k] = right[k + 1];
    right[k + 1] = swap;
  }
  if (matrix[k + k * n] == 0) return false;
  if (k + 1 == n) return true;
  double complex factor = matrix[k + 1 + k * n] / matrix[k + k * n];
  for (size_t j = k; j < n; j++) matrix[k + 1 + j * n] -= factor * matrix[k + j * n];
  right[k + 1] -= factor * right[k];
  return true;
}

/* (s - H) x = b, x in `right`. */
static bool solve_shifted(FrequencyResponse *response, uint32_t input, double complex s) {
  size_t n = response->form->states;
  double complex *matrix = response->matrix, *right = response->right;
  for (size_t k = 0; k < n * n; k++) matrix[k] = -response->h[k];
  for (size_t k = 0; k < n; k++) matrix[k + k * n] += s;
  for (size_t k = 0; k < n; k++) right[k] = response->b[k + (size_t)input * n];
  for (size_t k = 0; k < n; k++)
    if (!eliminate(response, k)) return false;
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; j++) right[k] -= matrix[k + j * n] * right[j];
    right[k] /= matrix[k + k * n];
  }
  return true;
}

bool frequency_response_at(FrequencyResponse *response, uint32_t input, double w, double *out) {
  const LinearForm *form = response->form;
  if (!solve_shifted(response, input, I * w)) return false;
  for (uint32_t i = 0; i < form->outputs; i++) {
    double complex sum = form->d[i + (size_t)input * form->outputs];
    for (uint32_t k = 0; k < form->states; k++) sum += response->c[i + (size_t)k * form->outputs] * response->right[k];
    out[2 * i] = creal(sum);
    out[2 * i + 1] = cimag(sum);
  }
  return true;
}

void frequency_grid(const LinearForm *form, uint32_t count, double *w) {
  double slowest = INFINITY, fastest = 0;
  for (uint32_t k = 0; k < form->states; k++) fastest = fmax(fastest, linear_frequency(form, k));
  for (uint32_t k = 0; k < form->states; k++)
    if (linear_frequency(form, k) > STUCK * fastest) slowest = fmin(slowest, linear_frequency(form, k));
  if (!(fastest > 0)) slowest = fastest = 1;
  double low = log(MINOR * slowest), high = log(fastest / MINOR);
  for (uint32_t k = 0; k < count; k++) w[k] = exp(low + (high - low) * k / (count > 1 ? count - 1 : 1));
}
