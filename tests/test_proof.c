/* Proofs by exact algebra: identities that must be shown, equations near to them that must not, and matrices of expressions with a
 * dependent row, against the same with one entry changed. What is shown to vanish must vanish in floating point, too. */
#include "array/polynomial.h"
#include "array/proof.h"
#include "lang/lang.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct Bench {
  Heap *heap;
  Names names;
  Source source;
  Diags diags;
  Arena arena;
  Model *model;
  Samples samples;
} Bench;

/* A model with variables x, y, z, parameters, and one equation a line. */
static Bench *bench_new(const char *equations) {
  Heap *heap = heap_new(NULL);
  Bench *bench = heap_alloc(heap, sizeof *bench);
  bench->heap = heap;
  bench->names = names_make(heap);
  bench->diags = diags_make(heap);
  bench->arena = arena_make(heap);
  const char *text = arena_printf(&bench->arena,
                                  "model M\n Real x, y, z;\n parameter Real p = 0.1, q = 0.1, n = 3, r = 0.7, o = 0;\n"
                                  " equation\n%s end M;\n",
                                  equations);
  bench->source = source_make(heap, "test", text, (uint32_t)strlen(text));
  bench->model = lang_load(heap, &bench->names, &bench->source, NULL, NULL, &bench->diags);
  assert_non_null(bench->model);
  double *parameters = heap_array(heap, bench->model->parameters.count, sizeof *parameters);
  assert_true(model_parameter_values(bench->model, bench->model->heap, NULL, parameters, &bench->diags));
  bench->samples = samples_make(bench->model, parameters, &(Modes){0}, &bench->arena);
  return bench;
}

static bool shown(const Bench *bench, uint32_t equation) {
  Expr one = dag_constant(bench->model->dag, 1), residual = bench->model->equations.data[equation].residual;
  return proof_vanishes(&bench->samples, &one, &residual, 1);
}

static const char *const IDENTITIES[] = {
    "(x + y)^2 = x^2 + 2*x*y + y^2",
    "(x + y)*(x - y)*(x^2 + y^2) = x^4 - y^4",
    "x/(x + y) + y/(x + y) = 1",
    "(x^2 - y^2)/(x - y) = x + y",
    "1/(1/x + 1/y) = x*y/(x + y)",
    "1/(1 + 1/(1 + 1/x)) = (x + 1)/(2*x + 1)",
    "x/3 + x/6 = x/2",
    "sin(x)^2 + cos(x)^2 = 1",
    "sin(x + y) = sin(x)*cos(y) + cos(x)*sin(y)",
    "cos(2*x) = 1 - 2*sin(x)^2",
    "sin(3*x) = 3*sin(x) - 4*sin(x)^3",
    "sin(x - y)*cos(y) + cos(x - y)*sin(y) = sin(x)",
    "cos(0.3 - x)^2 + sin(x - 0.3)^2 = 1",
    "sin(0.3 - x) + sin(x - 0.3) = 0",
    "tan(x)*cos(x) = sin(x)",
    "1 + tan(x)^2 = 1/cos(x)^2",
    "exp(x + 2*y)*exp(-x) = exp(y)^2",
    "exp(x/p)*exp(-x/p + y) = exp(y)",
    "cosh(x)^2 - sinh(x)^2 = 1",
    "sqrt(x + y)^3 = (x + y)*sqrt(x + y)",
    "1/sqrt(x^2 + y^2) = sqrt(x^2 + y^2)/(x^2 + y^2)",
    "x^1.5/sqrt(x) = x",
    "x^1.3 = x*x^(1.3 - 1)",
    "x^n = x*x*x",
    "abs(x)^2 = x^2",
    "p*x = q*x",
    "(p - q)*sin(x) = o*y",
    "(if x > y then x else y)^2 = if x > y then x^2 else y^2",
    "(if x > y then 1 else 0)*(if x > y then 0 else sqrt(z)) = 0",
    "noEvent(x)*y = y*smooth(1, x)",
    "log(x*y)*(x + 1) = log(x*y)*x + log(x*y)",
};

static const char *const OTHERS[] = {
    "(x + y)^2 = x^2 + 2*x*y + y^2 + 0.000001",
    "x/(x + y) + y/(x + y) = 1.0000000000001",
    "sin(x)^2 - cos(x)^2 = 1",
    "sin(x + y) = sin(x)*cos(y) - cos(x)*sin(y)",
    "sin(1.5*x) = 1.5*sin(x)",
    "exp(x + y) = exp(x) + exp(y)",
    "sqrt(x)*sqrt(y) = x*y",
    "abs(x) = x",
    "sqrt(sqrt(x)) = sqrt(x)",
    "cos(cos(x)) = cos(x)",
    "p*x = r*x",
    "x^n = x*x",
    "x^1.3 = x*x^0.31",
    "(if x > y then x else y) = x",
    "(if x > y then 1 else 0)*(if y > x then 1 else 0) = 1",
    "1/(x + y) = 1/(x - y)",
};

static void test_identities(void **unused) {
  (void)unused;
  for (size_t k = 0; k < sizeof IDENTITIES / sizeof *IDENTITIES; k++) {
    char line[200];
    snprintf(line, sizeof line, "  %s;\n", IDENTITIES[k]);
    Bench *bench = bench_new(line);
    if (!shown(bench, 0)) fail_msg("not shown: %s", IDENTITIES[k]);
    assert_true(samples_vanish(&bench->samples, bench->model->equations.data[0].residual));
    heap_destroy(bench->heap);
  }
}

static void test_no_identities(void **unused) {
  (void)unused;
  for (size_t k = 0; k < sizeof OTHERS / sizeof *OTHERS; k++) {
    char line[200];
    snprintf(line, sizeof line, "  %s;\n", OTHERS[k]);
    Bench *bench = bench_new(line);
    if (shown(bench, 0)) fail_msg("shown: %s", OTHERS[k]);
    heap_destroy(bench->heap);
  }
}

/* ---- matrices ---- */

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* A full matrix; `place` belongs to it. */
static BlockJacobian matrix_of(Arena *arena, int32_t n, const Expr *entry) {
  int32_t *start = arena_array(arena, (size_t)n + 1, sizeof *start);
  BlockJacobian jacobian = {.size = n, .row_start = start};
  jacobian.column = arena_array(arena, (size_t)(n * n), sizeof(int32_t));
  jacobian.entry = arena_array(arena, (size_t)(n * n), sizeof(Expr));
  memcpy(jacobian.entry, entry, (size_t)(n * n) * sizeof *entry);
  for (int32_t p = 0; p < n; p++) {
    start[p + 1] = (p + 1) * n;
    for (int32_t q = 0; q < n; q++) jacobian.column[p * n + q] = q;
  }
  return jacobian;
}

/* Rows of random pieces; the last one is a combination of the others with expressions as factors. */
static void test_matrices(void **unused) {
  (void)unused;
  Bench *bench = bench_new("  x + sin(x) + 3 = exp(y);\n  sqrt(z + 1) + 1/(x + z) = time;\n  x*y + p + cos(x) = 0;\n");
  Dag *dag = bench->model->dag;
  Expr pieces[16];
  uint32_t count = 0, state = 5;
  IndexVec below = {0};
  for (uint32_t k = 0; k < 3; k++)
    dag_below(dag, dag_scratch(dag), &bench->model->equations.data[k].residual, 1, &below);
  for (uint32_t k = 0; k < below.count && count < 16; k++)
    if (dag_op(dag, below.data[k]) != OP_SUM) pieces[count++] = below.data[k];
  for (int trial = 0; trial < 60; trial++) {
    int32_t n = 2 + trial % 4;
    Expr *entry = arena_array(&bench->arena, (size_t)(n * n), sizeof *entry);
    for (int32_t e = 0; e < n * n; e++) entry[e] = dag_constant(dag, 0);
    for (int32_t e = 0; e < n * (n - 1); e++)
      if (e / n == e % n || next_random(&state) % 3 == 0) entry[e] = pieces[next_random(&state) % count];
    for (int32_t p = 0; p < n - 1; p++) {
      Expr factor = pieces[next_random(&state) % count];
      for (int32_t q = 0; q < n; q++) {
        Expr product = dag_multiply(dag, factor, entry[p * n + q]);
        entry[(n - 1) * n + q] = dag_add(dag, entry[(n - 1) * n + q], product);
      }
    }
    BlockJacobian jacobian = matrix_of(&bench->arena, n, entry);
    assert_true(proof_singular(&jacobian, &bench->samples));
    Expr changed = jacobian.entry[n * n - 1];
    jacobian.entry[n * n - 1] =
        dag_add(dag, changed, dag_constant(dag, 1)); /* the determinant: the product of the others */
    bool full = true;
    for (int32_t p = 0; p < n - 1; p++)
      for (int32_t q = 0; q < p; q++) full = full && dag_is_constant(dag, entry[p * n + q], NULL);
    if (full) assert_false(proof_singular(&jacobian, &bench->samples));
  }
  vec_free(bench->heap, &below);
  heap_destroy(bench->heap);
}

/* Coefficients and sums that get too large are no proof of anything. */
static void test_too_large(void **unused) {
  (void)unused;
  Heap *heap = heap_new(NULL);
  Arena arena = arena_make(heap);
  Ring *ring = heap_alloc(heap, sizeof *ring);
  *ring = ring_make(&arena);
  Polynomial large = polynomial_constant(ring, (Fraction){INT64_MAX, 1});
  assert_false(ring->failed);
  polynomial_multiply(ring, large, large);
  assert_true(ring->failed);
  *ring = ring_make(&arena);
  Polynomial sum = polynomial_constant(ring, (Fraction){1, 1});
  for (int k = 0; k < 8; k++) {
    uint32_t atom = ring_atom(ring);
    sum = polynomial_add(ring, sum, polynomial_atom(ring, atom, 1));
  }
  assert_false(polynomial_vanishes(ring, polynomial_power(ring, sum, 12)));
  assert_true(ring->failed);
  heap_destroy(heap);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_identities),
      cmocka_unit_test(test_no_identities),
      cmocka_unit_test(test_matrices),
      cmocka_unit_test(test_too_large),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
