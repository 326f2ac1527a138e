/* Internal tests of src/init: re-initialization at an event, the conditions of the nearest point, continuation, linearity of
 * expressions, parts that hide constraints, cost on large models, refused allocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daedal.h"
#include "expr/linearity.h"
#include "fail_alloc.h"
#include "init/explain.h"
#include "init/patch.h"
#include "lang/lang.h"
#include "pipeline/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* cmocka compares floats only. */
#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

/* ---- a model from its text, ready to be initialized ---- */

typedef struct Bench {
  Heap *heap;
  Names names;
  Source source;
  Diags diags;
  Arena arena;
  Model *model;
  Problem problem;
  Modes modes;
  Structure structure;
  Array array;
  Evaluator *evaluator;
  Initializer initializer;
  Initial initial;
} Bench;

static Bench *bench_new(const char *text) {
  Heap *heap = heap_new(NULL);
  Bench *bench = heap_alloc(heap, sizeof *bench);
  bench->heap = heap;
  bench->names = names_make(heap);
  bench->diags = diags_make(heap);
  bench->arena = arena_make(heap);
  bench->source = source_make(heap, "test", text, (uint32_t)strlen(text));
  bench->model = lang_load(heap, &bench->names, &bench->source, NULL, NULL, (LangOptions){0}, &bench->diags);
  assert_non_null(bench->model);
  bench->problem = problem_make(bench->model, true, &bench->arena);
  bench->modes = modes_extract(&bench->problem, &bench->arena);
  bench->structure = structure_run(&bench->arena, &bench->problem.incidence);
  assert_int_equal(bench->structure.status, STRUCTURE_OK);
  bench->array = array_make(&bench->problem, bench->structure.c, bench->structure.d, &bench->arena);
  double *parameters = heap_array(heap, bench->model->parameters.count, sizeof *parameters);
  assert_true(model_parameter_values(bench->model, bench->model->heap, NULL, parameters, &bench->diags));
  ArrayCode *code = array_code_new(heap, &bench->array, &bench->modes);
  bench->evaluator = evaluator_new(heap, code, parameters);
  bench->initializer =
      (Initializer){.heap = heap,
                    .evaluator = bench->evaluator,
                    .structure = &bench->structure,
                    .dummy = dummy_new(heap, bench->evaluator, dummy_blocks(code, &bench->structure)),
                    .space = state_plan_space(heap, bench->evaluator, state_plan(code, &bench->structure))};
  return bench;
}

static void bench_free(Bench *bench) { heap_destroy(bench->heap); }

static bool bench_solve(Bench *bench, const StartValues *starts) {
  return initial_solve(&bench->initializer, starts, 0, 1e-6, &bench->initial, &bench->diags);
}

static uint32_t column(const Bench *bench, const char *name, uint32_t order) {
  uint32_t position = model_find(bench->model, name);
  assert_int_not_equal(position, MAP_NONE);
  return bench->array.model_column[bench->model->variables.data[position].index] + order;
}

static double value(const Bench *bench, const char *name, uint32_t order) {
  return bench->initial.y[column(bench, name, order)];
}

static const char PENDULUM[] =
    "model P\n"
    "  Real x(start = 0.6, fixed = true); Real y(start = -0.8); Real vx(start = 0, fixed = true);\n"
    "  Real vy; Real lambda;\n"
    "equation\n"
    "  der(x) = vx; der(y) = vy; der(vx) = -lambda*x; der(vy) = -lambda*y - 1;\n"
    "  x^2 + y^2 = 1;\n"
    "end P;\n";

/* ---- events ---- */

static void test_states_keep_their_left_limits(void **state) {
  (void)state;
  Bench *bench = bench_new(PENDULUM);
  uint32_t n = bench->array.columns;
  double *left = heap_array(bench->heap, n, sizeof *left);
  bool *hold = heap_array(bench->heap, n, sizeof *hold);
  for (uint32_t q = 0; q < n; q++) left[q] = NAN;
  /* A different point on the circle: neither the model's own fixed values nor its start values may have an effect. */
  left[column(bench, "x", 0)] = 0.28;
  left[column(bench, "x", 1)] = 0.5;
  left[column(bench, "y", 0)] = 0.9;
  hold[column(bench, "x", 0)] = hold[column(bench, "x", 1)] = true;
  assert_true(bench_solve(bench, &(StartValues){.column = left, .hold = hold}));
  double vy = -0.28 * 0.5 / 0.96;
  assert_near(value(bench, "x", 0), 0.28, 0);
  assert_near(value(bench, "x", 1), 0.5, 0);
  assert_near(value(bench, "y", 0), 0.96, 1e-14);
  assert_near(value(bench, "y", 1), vy, 1e-14);
  assert_near(value(bench, "lambda", 0), 0.25 + vy * vy - 0.96, 1e-13);
  bench_free(bench);
}

static void test_event_ignores_initial_equations(void **state) {
  (void)state;
  Bench *bench = bench_new("model M\n  Real x; Real z;\ninitial equation\n  x = 3;\nequation\n  der(x) = -z "
                           "- x; z^3 = x;\nend M;\n");
  assert_true(bench_solve(bench, NULL));
  assert_near(value(bench, "x", 0), 3, 1e-15);
  assert_near(value(bench, "z", 0), cbrt(3), 1e-14);
  double *left = heap_array(bench->heap, bench->array.columns, sizeof *left);
  bool *hold = heap_array(bench->heap, bench->array.columns, sizeof *hold);
  for (uint32_t q = 0; q < bench->array.columns; q++) left[q] = bench->initial.y[q];
  left[column(bench, "x", 0)] = -8;
  hold[column(bench, "x", 0)] = true;
  assert_true(bench_solve(bench, &(StartValues){.column = left, .hold = hold}));
  assert_near(value(bench, "z", 0), -2, 1e-14);
  bench_free(bench);
}

/* ---- the nearest point ---- */

/* Solves the normal equations of min |target - J^T m| for two rows; returns the residual. */
static double outside_of_span(const double *target, const double *a, const double *b, int n) {
  double aa = 0, ab = 0, bb = 0, at = 0, bt = 0, left = 0;
  for (int k = 0; k < n; k++) {
    aa += a[k] * a[k], ab += a[k] * b[k], bb += b[k] * b[k];
    at += a[k] * target[k], bt += b[k] * target[k];
  }
  double det = aa * bb - ab * ab, p = (at * bb - bt * ab) / det, q = (bt * aa - at * ab) / det;
  for (int k = 0; k < n; k++) left = fmax(left, fabs(target[k] - p * a[k] - q * b[k]));
  return left;
}

static void test_nearest_point_is_stationary(void **state) {
  (void)state;
  Bench *bench =
      bench_new("model D\n"
                "  Real x1(start = 0.9); Real y1(start = -0.7); Real x2(start = 1.2); Real y2(start = -1.6);\n"
                "  Real u1; Real v1; Real u2; Real v2; Real s1; Real s2;\n"
                "equation\n"
                "  der(x1) = u1; der(y1) = v1; der(x2) = u2; der(y2) = v2;\n"
                "  der(u1) = -s1*x1 + s2*(x2 - x1); der(v1) = -s1*y1 + s2*(y2 - y1) - 1;\n"
                "  der(u2) = -s2*(x2 - x1); der(v2) = -s2*(y2 - y1) - 1;\n"
                "  x1^2 + y1^2 = 1; (x2 - x1)^2 + (y2 - y1)^2 = 1;\n"
                "end D;\n");
  assert_true(bench_solve(bench, NULL));
  double p[4] = {value(bench, "x1", 0), value(bench, "y1", 0), value(bench, "x2", 0), value(bench, "y2", 0)};
  double start[4] = {0.9, -0.7, 1.2, -1.6}, away[4];
  double dx = p[2] - p[0], dy = p[3] - p[1];
  assert_near(p[0] * p[0] + p[1] * p[1], 1, 1e-14);
  assert_near(dx * dx + dy * dy, 1, 1e-14);
  for (int k = 0; k < 4; k++) away[k] = p[k] - start[k];
  double first[4] = {p[0], p[1], 0, 0}, second[4] = {-dx, -dy, dx, dy};
  assert_true(outside_of_span(away, first, second, 4) < 1e-6);
  bench_free(bench);
}

/* ---- patches ---- */

static void test_continuation_reaches_the_root(void **state) {
  (void)state;
  Bench *bench = bench_new("model M\n  Real z; Real x(start = 1, fixed = true);\nequation\n  der(x) = z - x; "
                           "atan(z) = 0.1;\nend M;\n");
  InitialSystem *system = system_new(bench->heap, bench->evaluator, &bench->structure, true);
  Patch *patch = patch_new(system, NULL, 0);
  const uint32_t *positions;
  uint32_t n = patch_columns(patch, &positions);
  double weight[8], y[8] = {0};
  assert_true(n <= 8);
  for (uint32_t k = 0; k < n; k++) weight[k] = positions[k] != column(bench, "x", 0);
  patch_set_weights(patch, weight);
  y[column(bench, "z", 0)] = 30;
  PatchResult result = patch_continue(patch, 0, y);
  assert_true(result.solved);
  assert_near(y[column(bench, "z", 0)], tan(0.1), 1e-14);
  assert_near(y[column(bench, "x", 1)], tan(0.1), 1e-14); /* x is held at 0 */
  bench_free(bench);
}

static void test_rows_that_depend_on_each_other(void **state) {
  (void)state;
  /* C*(a' - b') = f, C*(b' - a') = g: numerically singular; f + g = 0 moves b, which is not fixed. */
  Bench *bench = bench_new("model M\n  Real a(start = 1, fixed = true); Real b(start = 5);\nequation\n"
                           "  1e-6*(der(a) - der(b)) = 2*a - 3; 1e-6*(der(b) - der(a)) = b - 4;\nend M;\n");
  assert_true(bench_solve(bench, NULL));
  assert_near(value(bench, "b", 0), 5, 1e-9);
  assert_near(value(bench, "a", 1) - value(bench, "b", 1), -1e6, 1e-3);
  Explanation explanation = initial_explain(&bench->initializer, &bench->initial, &bench->arena);
  assert_true(explanation.condition > 1e12);
  bench_free(bench);
}

/* ---- linearity ---- */

/* context: the leaf itself. */
static bool is_leaf(const void *context, Expr leaf) { return leaf == *(const Expr *)context; }

static void test_linearity(void **state) {
  (void)state;
  Heap *heap = heap_new(NULL);
  Names names = names_make(heap);
  Dag *dag = dag_new(heap, &names);
  const Expr leaves[] = {dag_variable(dag, 0, 0), dag_variable(dag, 1, 0), dag_variable(dag, 2, 0)};
  Expr x = leaves[0], y = leaves[1], z = leaves[2];
  Expr product = dag_multiply(dag, x, y), ratio = dag_divide(dag, x, y), sine = dag_unary(dag, OP_SIN, z);
  Expr mixed = dag_multiply(dag, sine, x), sum = dag_add(dag, product, x), square = dag_multiply(dag, sum, x);
  Expr choice = dag_if(dag, dag_binary(dag, OP_LESS, z, x), y, dag_constant(dag, 1));
  const Expr roots[] = {product, ratio, sine, mixed, sum, square, choice};
  const unsigned nonlinear[] = {0, 2, 4, 4, 0, 1, 5}; /* bit k: in leaf k */
  Linearity linearity = linearity_make(dag, dag_scratch(dag));
  for (int r = 0; r < 7; r++)
    for (int k = 0; k < 3; k++)
      assert_int_equal(linearity_test(&linearity, roots[r], is_leaf, &leaves[k]), !(nonlinear[r] >> k & 1));
  heap_destroy(heap);
}

/* ---- parts that hide constraints ---- */

/* The names of the highest index, part after part; each part follows its index. */
static void assert_parts(const char *text, const char *expected) {
  Bench *bench = bench_new(text);
  HiddenParts parts = parts_find(bench->model, bench->heap);
  TextVec found = {0};
  text_printf(bench->heap, &found, "%s", "");
  for (uint32_t k = 0; k < parts.count; k++) {
    text_printf(bench->heap, &found, "%s%d", k ? "; " : "", parts.data[k].index);
    for (uint32_t h = 0; h < parts.data[k].highest.count; h++)
      text_printf(bench->heap, &found, " %s",
                  model_name(bench->model, bench->model->unknowns.data[parts.data[k].highest.data[h]]));
  }
  assert_string_equal(found.data, expected);
  bench_free(bench);
}

static void test_hidden_parts(void **state) {
  (void)state;
  assert_parts(PENDULUM, "3 lambda");
  assert_parts("model H\n  Real a; Real b; Real c; Real l;\nequation\n  der(a) = l + a*b; der(b) = a + sin(b); "
               "der(c) = b*exp(c);\n  c = sin(time);\nend H;\n",
               "4 l");
  /* f follows from l, w from x. */
  assert_parts("model H\n  Real x; Real l; Real f;\nequation\n  f = exp(l); der(x) = l + f; x = sin(time);\nend H;\n",
               "2 l f");
  assert_parts("model H\n  Real x; Real l; Real w;\nequation\n  der(x) = l + w; x = sin(time); w + exp(w) = "
               "x;\nend H;\n",
               "2 l");
  /* The second part uses the derivative of the first one's multiplier. */
  assert_parts("model H\n  Real x; Real l; Real y; Real m;\nequation\n  der(x) = l; x = sin(time); der(y) = m; "
               "y = l;\nend H;\n",
               "2 l; 2 m");
}

static void test_no_hidden_constraints(void **state) {
  (void)state;
  assert_parts("model M\n  Real x; Real z;\nequation\n  der(x) = -z - x; z^3 = x;\nend M;\n", "");
}

/* ---- cost ---- */

/* A chain of n pendulums whose start values are off by one percent; the work in evaluated rows, relative to the number of rows. */
static double chain_work(uint32_t n) {
  Heap *heap = heap_new(NULL);
  TextVec text = {0};
  text_printf(heap, &text, "model C\n");
  for (uint32_t i = 1; i <= n; i++)
    text_printf(heap, &text,
                "  Real x%u(start = %.3f); Real y%u(start = 0.002); Real u%u(start = 0); Real v%u(start = "
                "0); Real s%u;\n",
                i, 1.01 * i, i, i, i, i);
  text_printf(heap, &text,
              "  Real x0; Real y0; Real s%u; Real x%u; Real y%u;\nequation\n  x0 = 0*time; y0 = 0*time; s%u "
              "= 0*time; x%u = 0*time; y%u = 0*time;\n",
              n + 1, n + 1, n + 1, n + 1, n + 1, n + 1);
  for (uint32_t i = 1; i <= n; i++)
    text_printf(heap, &text,
                "  der(x%u) = u%u; der(y%u) = v%u; (x%u - x%u)^2 + (y%u - y%u)^2 = 1;\n"
                "  der(u%u) = -s%u*(x%u - x%u) + s%u*(x%u - x%u); der(v%u) = -s%u*(y%u - y%u) + s%u*(y%u - "
                "y%u) - 9.81;\n",
                i, i, i, i, i, i - 1, i, i - 1, i, i, i, i - 1, i + 1, i + 1, i, i, i, i, i - 1, i + 1, i + 1, i);
  text_printf(heap, &text, "end C;\n");
  Bench *bench = bench_new(text.data);
  assert_true(bench_solve(bench, NULL));
  double work = evaluator_in_rows(bench->evaluator, bench->evaluator->row_evaluations);
  for (uint32_t i = 1; i <= n; i++) {
    char name[16], before[16];
    snprintf(name, sizeof name, "x%u", i);
    snprintf(before, sizeof before, "x%u", i - 1);
    double apart = value(bench, name, 0) - (i > 1 ? value(bench, before, 0) : 0);
    assert_true(apart <= 1 + 1e-9);
  }
  bench_free(bench);
  heap_destroy(heap);
  return work;
}

static void test_work_grows_with_the_rows(void **state) {
  (void)state;
  double small = chain_work(50), large = chain_work(400);
  assert_true(large < 20 * small + 2000); /* evaluations of all rows: not proportional to their number */
}

/* ---- refused allocations ---- */

static void run_init(const HeapHook *hook) {
  static const char text[] = "model M\n  parameter Real p(fixed = false, start = 1); Real x(start = 0.9); "
                             "Real y(start = 0.2); Real u;\n"
                             "initial equation\n  der(x) = p;\n  x = 0.8;\nequation\n  der(x) = u; der(y) = "
                             "u; x + y^3 = 1;\nend M;\n";
  daedal_allocator allocator = {hook->resize, hook->context};
  daedal_model *model = daedal_load_text(text, sizeof text - 1, "test", NULL, &allocator);
  if (!model) return;
  daedal_options options = daedal_default_options();
  daedal_result *result = daedal_initialize(model, &options);
  if (result) {
    daedal_report(result, DAEDAL_REPORT_INITIAL, DAEDAL_TEXT);
    daedal_report(result, DAEDAL_REPORT_INITIAL, DAEDAL_JSON);
    daedal_report(result, DAEDAL_REPORT_START_VALUES, DAEDAL_TEXT);
  }
  daedal_free(result);
  daedal_free(model);
}

/* The number of rows evaluated until a model is refused: conditions on unknowns in as many equations, and one without a
 * solution. */
static uint64_t work_of_refusal(int conditions, bool depends) {
  char text[2000];
  int at = snprintf(text, sizeof text, "model M\n  Real a[%d], x(start = 0.5);\nequation\n", conditions);
  for (int k = 1; k <= conditions; k++)
    at +=
        snprintf(text + at, sizeof text - (size_t)at,
                 "  a[%d] = if a[%d] > %g then 1 + 0.1*a[%d]^2 else -1 - 0.2*sin(a[%d]);\n", k, k, 0.2 + 0.1 * k, k, k);
  snprintf(text + at, sizeof text - (size_t)at, "  exp(x)*(1 + x^2) + %s^2 = -1;\nend M;\n", depends ? "a[1]" : "time");
  Bench *bench = bench_new(text);
  RunOptions run = {.tolerance = 1e-6};
  assert_false(start_values(&bench->initializer, &(StartValues){0}, &run, &bench->initial, &bench->diags));
  uint64_t work = bench->evaluator->row_evaluations;
  bench_free(bench);
  return work;
}

/* An unsolvable equation is tried in each mode of the conditions that it depends on, not in all combinations of all. */
static void test_work_of_refusals(void **state) {
  (void)state;
  for (int depends = 0; depends < 2; depends++)
    assert_in_range(work_of_refusal(8, depends), 1, 8 * work_of_refusal(1, depends));
}

static void test_refused_allocations(void **state) {
  (void)state;
  FAIL_ALLOC_EACH(fail) {
    run_init(&fail.hook);
    assert_int_equal(fail.live, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_states_keep_their_left_limits),
      cmocka_unit_test(test_event_ignores_initial_equations),
      cmocka_unit_test(test_nearest_point_is_stationary),
      cmocka_unit_test(test_continuation_reaches_the_root),
      cmocka_unit_test(test_rows_that_depend_on_each_other),
      cmocka_unit_test(test_linearity),
      cmocka_unit_test(test_hidden_parts),
      cmocka_unit_test(test_no_hidden_constraints),
      cmocka_unit_test(test_work_grows_with_the_rows),
      cmocka_unit_test(test_work_of_refusals),
      cmocka_unit_test(test_refused_allocations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
