/* Krawczyk's operator on systems with known solutions: its proofs are correct. */
#include "code/krawczyk.h"
#include "expr/interval_op.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST = 5 };

static uint64_t state = 1;

static double uniform(double low, double high) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (double)(state >> 11) * 0x1p-53;
}

/* g_i = sum_j a_ij (z_j - s_j) + b_i (sin(k z_i) - sin(k s_i)), with the solution s. */
typedef struct Sines {
  int32_t n;
  double a[MOST][MOST], b[MOST], k, s[MOST];
} Sines;

static Sines draw_sines(void) {
  Sines sines = {.n = 1 + (int32_t)uniform(0, MOST), .k = uniform(0.5, 8)};
  for (int32_t i = 0; i < sines.n; i++) {
    for (int32_t j = 0; j < sines.n; j++) sines.a[i][j] = uniform(-1, 1) + (i == j ? uniform(0, 3) : 0);
    sines.b[i] = uniform(-2, 2);
    sines.s[i] = uniform(-2, 2);
  }
  return sines;
}

static Interval sine(double k, Interval z) { return interval_operator(OP_SIN, (Interval[3]){interval_scale(k, z)}); }
static Interval cosine(double k, Interval z) { return interval_operator(OP_COS, (Interval[3]){interval_scale(k, z)}); }

static void evaluate(const Sines *sines, const Interval *z, Interval *g) {
  for (int32_t i = 0; i < sines->n; i++) {
    g[i] = interval_scale(sines->b[i],
                          interval_subtract(sine(sines->k, z[i]), sine(sines->k, interval_point(sines->s[i]))));
    for (int32_t j = 0; j < sines->n; j++)
      g[i] = interval_add(g[i], interval_scale(sines->a[i][j], interval_subtract(z[j], interval_point(sines->s[j]))));
  }
}

static void differentiate(const Sines *sines, const Interval *z, Interval *matrix) {
  for (int32_t i = 0; i < sines->n; i++)
    for (int32_t j = 0; j < sines->n; j++) {
      Interval entry = interval_point(sines->a[i][j]);
      if (i == j) entry = interval_add(entry, interval_scale(sines->b[i] * sines->k, cosine(sines->k, z[i])));
      matrix[i * sines->n + j] = entry;
    }
}

/* A solution found by Newton's method from a random point of the box; false: it leaves the box. */
static bool find_solution(const Sines *sines, const double *z0, const Interval *box, double *z) {
  Interval at[MOST], g[MOST], matrix[MOST * MOST], step[MOST];
  Heap *heap = heap_new(NULL);
  Krawczyk *newton = krawczyk_new(heap, sines->n);
  bool is_within = true;
  for (int32_t i = 0; i < sines->n; i++) z[i] = z0[i] + uniform(box[i].low, box[i].high);
  for (int k = 0; k < 60 && is_within; k++) {
    for (int32_t i = 0; i < sines->n; i++) at[i] = interval_point(z[i]);
    evaluate(sines, at, g);
    differentiate(sines, at, matrix);
    is_within = krawczyk_set_jacobian(newton, matrix, true);
    if (is_within) krawczyk_step(newton, g, step);
    for (int32_t i = 0; i < sines->n && is_within; i++) {
      z[i] += interval_middle(step[i]);
      is_within = z0[i] + box[i].low <= z[i] && z[i] <= z0[i] + box[i].high;
    }
  }
  for (int32_t i = 0; i < sines->n; i++) is_within = is_within && interval_size(step[i]) < 1e-9;
  heap_destroy(heap);
  return is_within;
}

/* Boxes of all sizes around points near a solution and far from it. */
static void proofs_are_right(void **unused) {
  (void)unused;
  int proofs = 0, failures = 0;
  for (int draw = 0; draw < 4000; draw++) {
    Sines sines = draw_sines();
    Heap *heap = heap_new(NULL);
    Krawczyk *krawczyk = krawczyk_new(heap, sines.n);
    double z0[MOST], size = exp(uniform(-12, 1)), other[MOST];
    Interval point[MOST], wide[MOST], box[MOST], image[MOST], g[MOST], matrix[MOST * MOST];
    for (int32_t i = 0; i < sines.n; i++) {
      z0[i] = sines.s[i] + uniform(-1, 1) * size * (draw % 4 ? 0.3 : 3);
      box[i] = (Interval){-size, size};
      point[i] = interval_point(z0[i]);
      wide[i] = interval_add(point[i], box[i]);
    }
    evaluate(&sines, point, g);
    differentiate(&sines, wide, matrix);
    bool proven = krawczyk_set_jacobian(krawczyk, matrix, true);
    if (proven) krawczyk_image(krawczyk, g, box, image);
    proven = proven && krawczyk_proves(krawczyk, box, image);
    for (int try = 0; try < 4 && proven; try++) { /* a solution in the box is the one in the image */
      if (!find_solution(&sines, z0, box, other)) continue;
      for (int32_t i = 0; i < sines.n; i++)
        assert_true(z0[i] + image[i].low - 1e-9 <= other[i] && other[i] <= z0[i] + image[i].high + 1e-9);
    }
    bool has_known = true; /* the known solution, if it is in the box, is in the image */
    for (int32_t i = 0; i < sines.n; i++) has_known = has_known && fabs(sines.s[i] - z0[i]) <= size;
    for (int32_t i = 0; i < sines.n && has_known && proven; i++)
      assert_true(z0[i] + image[i].low <= sines.s[i] && sines.s[i] <= z0[i] + image[i].high);
    proofs += proven;
    failures += !proven;
    heap_destroy(heap);
  }
  assert_true(proofs > 500 && failures > 500);
}

/* z^2 = c has two solutions, one or none: no box with two or no solutions is proven to contain one. */
static void folds_are_not_proven(void **unused) {
  (void)unused;
  Heap *heap = heap_new(NULL);
  Krawczyk *krawczyk = krawczyk_new(heap, 1);
  int proofs = 0;
  for (int draw = 0; draw < 20000; draw++) {
    double c = uniform(-0.5, 2), z0 = uniform(-2, 2), size = exp(uniform(-6, 1));
    Interval box = {-size, size}, wide = {z0 - size, z0 + size}, image;
    Interval g = interval_subtract(interval_power(interval_point(z0), 2), interval_point(c)),
             slope = interval_scale(2, wide);
    if (!krawczyk_set_jacobian(krawczyk, &slope, true)) continue;
    krawczyk_image(krawczyk, &g, &box, &image);
    if (!krawczyk_proves(krawczyk, &box, &image)) continue;
    int solutions = c < 0 ? 0 : (fabs(sqrt(c) - z0) < size) + (fabs(-sqrt(c) - z0) < size);
    assert_int_equal(solutions, 1);
    proofs++;
  }
  assert_true(proofs > 100);
  heap_destroy(heap);
}

/* The bounds for G w = -g contain the solution for every matrix and right side within the bounds. */
static void linear_solutions_are_held(void **unused) {
  (void)unused;
  int proofs = 0;
  for (int draw = 0; draw < 2000; draw++) {
    Heap *heap = heap_new(NULL);
    Krawczyk *krawczyk = krawczyk_new(heap, 2);
    double width = exp(uniform(-10, -1));
    Interval matrix[4], g[2], w[2], box[2] = {{-1, 1}, {-1, 1}};
    double m[4], r[2];
    for (int e = 0; e < 4; e++) {
      double middle = uniform(-1, 1) + (e == 0 || e == 3 ? 2 : 0);
      matrix[e] = (Interval){middle - width, middle + width};
      m[e] = uniform(matrix[e].low, matrix[e].high);
    }
    for (int i = 0; i < 2; i++) g[i] = (Interval){-0.1 - width, 0.2 + width}, r[i] = uniform(g[i].low, g[i].high);
    if (krawczyk_set_jacobian(krawczyk, matrix, true) && krawczyk_solve(krawczyk, box, g, w)) {
      double determinant = m[0] * m[3] - m[1] * m[2];
      double x = (-r[0] * m[3] + r[1] * m[1]) / determinant, y = (-r[1] * m[0] + r[0] * m[2]) / determinant;
      assert_true(w[0].low <= x && x <= w[0].high && w[1].low <= y && y <= w[1].high);
      proofs++;
    }
    heap_destroy(heap);
  }
  assert_true(proofs > 500);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(proofs_are_right),
      cmocka_unit_test(folds_are_not_proven),
      cmocka_unit_test(linear_solutions_are_held),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
