/* Numeric code: the tape, templates, Jacobians, blame, calls, compiled and exported C. Each kind of code is compared with another
 * evaluation: dag_evaluate, dag_partial, closed forms. */
#include "code/cfunctions.h"
#include "code/compile.h"
#include "code/export.h"
#include "code/program_internal.h"
#include "fail_alloc.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { UNKNOWNS = 6, ORDERS = 2, PARAMETERS = 4, DISCRETES = 3 };

/* A model without equations, a layout, and a point. */
typedef struct Fixture {
  Heap *heap;
  Names names;
  Model *model;
  Dag *dag;
  uint32_t column_start[4096];
  Layout layout;
  double y[8192], parameters[4096], discretes[DISCRETES], pre[DISCRETES];
  Point point;
  uint64_t seed;
} Fixture;

static EvalStatus run_program(Fixture *f, const Program *program, const Point *point, double *out) {
  return workspace_run(workspace_new(f->heap, program), point, out);
}

static bool blame_program(Fixture *f, const Program *program, const Point *point, Blame *blame) {
  return workspace_blame(workspace_new(f->heap, program), f->dag, point, blame);
}

static double random_unit(Fixture *f) {
  f->seed = f->seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(f->seed >> 11) / 9007199254740992.0;
}

static uint32_t random_below(Fixture *f, uint32_t bound) { return (uint32_t)(random_unit(f) * bound); }

static Fixture *setup_in(Heap *heap, uint32_t unknowns, uint32_t orders) {
  Fixture *f = heap_alloc(heap, sizeof *f);
  f->heap = heap;
  f->names = names_make(heap);
  f->model = heap_alloc(heap, sizeof *f->model);
  f->dag = dag_new(heap, &f->names);
  f->model->heap = heap;
  f->model->names = &f->names;
  f->model->dag = f->dag;
  f->seed = 12345;
  for (uint32_t j = 0; j <= unknowns; j++) f->column_start[j] = j * orders;
  f->layout = (Layout){unknowns, unknowns * orders, f->column_start};
  for (uint32_t i = 0; i < unknowns * orders; i++) f->y[i] = 0.1 + 1.5 * random_unit(f);
  for (uint32_t i = 0; i < 4096; i++) f->parameters[i] = 0.5 + random_unit(f);
  for (uint32_t i = 0; i < DISCRETES; i++) f->discretes[i] = i, f->pre[i] = i + 1.5;
  f->point = (Point){0.75, f->y, f->parameters, f->discretes, f->pre};
  return f;
}

/* A refused allocation ends the tests. */
static Fixture *setup(uint32_t unknowns, uint32_t orders) { return setup_in(heap_new(NULL), unknowns, orders); }

static void teardown(Fixture *f) { heap_destroy(f->heap); }

static double leaf_of_point(void *context, const Dag *dag, Expr leaf) {
  const Fixture *f = context;
  switch (dag_op(dag, leaf)) {
  case OP_TIME: return f->point.time;
  case OP_PARAMETER: return f->parameters[dag_index(dag, leaf)];
  case OP_VARIABLE: return f->y[f->column_start[dag_index(dag, leaf)] + dag_order(dag, leaf)];
  case OP_DISCRETE: return f->discretes[dag_index(dag, leaf)];
  case OP_PRE: return f->pre[dag_index(dag, leaf)];
  default: return NAN;
  }
}

static bool reference(Fixture *f, Expr e, double *value) {
  return dag_evaluate(f->dag, dag_scratch(f->dag), e, leaf_of_point, f, value, NULL) && isfinite(*value);
}

/* Equal up to the rounding that another order of two operations may cause; NaNs are equal to each other. */
static bool is_close(double a, double b, double tolerance) {
  if (!isfinite(a) || !isfinite(b)) return !isfinite(a) && !isfinite(b);
  return fabs(a - b) <= tolerance * fmax(1, fmax(fabs(a), fabs(b)));
}

static void assert_close(double a, double b, double tolerance) {
  if (!is_close(a, b, tolerance)) fail_msg("%.17g and %.17g differ", a, b);
}

static Expr random_leaf(Fixture *f) {
  switch (random_below(f, 8)) {
  case 0: return dag_constant(f->dag, 0.25 * random_below(f, 12) - 1);
  case 1: return dag_time(f->dag);
  case 2: return dag_parameter(f->dag, random_below(f, PARAMETERS));
  case 3:
    return random_below(f, 2) ? dag_discrete(f->dag, random_below(f, DISCRETES))
                              : dag_pre(f->dag, random_below(f, DISCRETES));
  default: return dag_variable(f->dag, random_below(f, UNKNOWNS), random_below(f, ORDERS));
  }
}

static bool is_plain(Op op) {
  return op_kind(op) != KIND_LEAF && op_has_value(op) && op != OP_SUM && op != OP_CALL && op_arity(op) > 0;
}

static Op random_op(Fixture *f) {
  for (;;) {
    Op op = (Op)random_below(f, OP_COUNT);
    if (is_plain(op)) return op;
  }
}

/* The operator on these arguments; the logical ones get Booleans. */
static Expr apply(Fixture *f, Op op, Expr *x) {
  if (op == OP_AND || op == OP_OR)
    for (uint32_t k = 0; k < 2; k++) x[k] = dag_binary(f->dag, OP_LESS, x[k], dag_constant(f->dag, 0.75));
  return dag_nary(f->dag, op, x, (uint32_t)op_arity(op));
}

/* A pool of expressions that grows from itself, so that much is shared. */
static void grow(Fixture *f, ExprVec *pool, uint32_t count) {
  for (uint32_t i = 0; i < 8; i++) vec_push(f->heap, pool, random_leaf(f));
  while (pool->count < count) {
    Expr x[3];
    for (uint32_t k = 0; k < 3; k++)
      x[k] = random_below(f, 4) ? pool->data[pool->count - 1 - random_below(f, pool->count < 20 ? pool->count : 20)]
                                : random_leaf(f);
    Expr made;
    uint32_t kind = random_below(f, 4);
    if (kind == 0) {
      Term terms[3] = {{(double)random_below(f, 4) - 1.5, x[0]}, {random_below(f, 2) ? 1 : -1, x[1]}, {1, x[2]}};
      made = dag_sum(f->dag, random_below(f, 2) ? 0 : 0.5, terms, 3);
    } else if (kind == 1) {
      made = dag_multiply(f->dag, x[0], x[1]);
    } else {
      made = apply(f, random_op(f), x);
    }
    double value;
    if (reference(f, made, &value) && fabs(value) < 1e6) vec_push(f->heap, pool, made);
  }
}

/* ---- values ---- */

static void test_operators(void **state) {
  (void)state;
  Fixture *f = setup(UNKNOWNS, ORDERS);
  for (uint32_t op = 0; op < OP_COUNT; op++) {
    if (!is_plain((Op)op)) continue;
    for (uint32_t trial = 0; trial < 20; trial++) {
      Expr x[3];
      for (uint32_t k = 0; k < 3; k++) x[k] = random_leaf(f);
      Expr e = apply(f, (Op)op, x);
      double expected, out;
      bool defined = reference(f, e, &expected);
      Program *program = program_new(f->heap, f->model, &f->layout, &e, 1);
      EvalStatus status = run_program(f, program, &f->point, &out);
      assert_int_equal(status, defined ? EVAL_OK : EVAL_DOMAIN);
      if (defined) assert_close(out, expected, 0);
    }
  }
  teardown(f);
}

static void test_random_graph(void **state) {
  (void)state;
  Fixture *f = setup(UNKNOWNS, ORDERS);
  ExprVec pool = {0};
  grow(f, &pool, 1500);
  double *out = heap_array(f->heap, pool.count, sizeof *out);
  Program *program = program_new(f->heap, f->model, &f->layout, pool.data, pool.count);
  assert_int_equal(program_outputs(program), pool.count);
  assert_int_equal(run_program(f, program, &f->point, out), EVAL_OK);
  for (uint32_t i = 0; i < pool.count; i++) {
    double expected;
    assert_true(reference(f, pool.data[i], &expected));
    assert_close(out[i], expected, 0);
  }
  Program *one = program_new(f->heap, f->model, &f->layout, &vec_last(&pool), 1);
  double last;
  assert_int_equal(run_program(f, one, &f->point, &last), EVAL_OK);
  assert_true(last == out[pool.count - 1]);
  teardown(f);
}

/* Registers of instances are used again: a long chain needs few of them. */
static void test_registers(void **state) {
  (void)state;
  enum { CHAINS = 100 };
  Fixture *f = setup(CHAINS, 1);
  Expr ends[CHAINS];
  for (uint32_t k = 0; k < CHAINS; k++) {
    Expr x = dag_variable(f->dag, k, 0), e = x;
    for (uint32_t i = 0; i < 500; i++) e = dag_unary(f->dag, OP_SIN, dag_add(f->dag, dag_multiply(f->dag, e, e), x));
    ends[k] = e;
  }
  Program *program = program_new(f->heap, f->model, &f->layout, ends, CHAINS);
  ProgramSize size = program_size(program);
  assert_int_equal(size.templates, 1);
  assert_true(size.instructions >= 1000);
  assert_true(size.registers < 20);
  double out[CHAINS], expected;
  assert_int_equal(run_program(f, program, &f->point, out), EVAL_OK);
  for (uint32_t k = 0; k < CHAINS; k++) {
    assert_true(reference(f, ends[k], &expected));
    assert_close(out[k], expected, 0);
  }
  teardown(f);
}

static void test_empty_and_deep(void **state) {
  (void)state;
  Fixture *f = setup(UNKNOWNS, ORDERS);
  Program *empty = program_new(f->heap, f->model, &f->layout, NULL, 0);
  assert_int_equal(run_program(f, empty, &f->point, NULL), EVAL_OK);
  Expr x = dag_variable(f->dag, 0, 0), e = x;
  for (uint32_t i = 0; i < 300000; i++) e = dag_unary(f->dag, i % 2 ? OP_TANH : OP_SINH, e);
  Program *deep = program_new(f->heap, f->model, &f->layout, &e, 1);
  double out, expected = f->y[0];
  for (uint32_t i = 0; i < 300000; i++) expected = i % 2 ? tanh(expected) : sinh(expected);
  assert_int_equal(run_program(f, deep, &f->point, &out), EVAL_OK);
  assert_close(out, expected, 0);
  Term *list = heap_array(f->heap, 50000, sizeof *list);
  for (uint32_t i = 0; i < 50000; i++) { /* a long sum of products */
    Expr power = dag_power(f->dag, x, dag_constant(f->dag, i));
    list[i] = (Term){1, dag_multiply(f->dag, dag_parameter(f->dag, i % 4096), power)};
  }
  f->y[0] = 0.5;
  Expr sum = dag_sum(f->dag, 0, list, 50000);
  Program *wide = program_new(f->heap, f->model, &f->layout, &sum, 1);
  assert_int_equal(run_program(f, wide, &f->point, &out), EVAL_OK);
  assert_true(reference(f, sum, &expected));
  assert_close(out, expected, 1e-15);
  teardown(f);
}

/* ---- Jacobians ---- */

static void check_jacobian(Fixture *f, const Expr *rows, uint32_t count, const uint32_t *positions, uint32_t columns,
                           double tolerance) {
  Jacobian *jacobian = jacobian_new(f->heap, f->model, &f->layout, rows, count, positions, columns);
  double *values = heap_array(f->heap, jacobian->nonzeros, sizeof *values);
  run_program(f, jacobian->program, &f->point, values);
  bool *seen = heap_array(f->heap, count, sizeof *seen);
  for (uint32_t c = 0; c < jacobian->columns; c++) {
    uint32_t position = positions ? positions[c] : c, unknown = 0;
    while (f->column_start[unknown + 1] <= position) unknown++;
    Expr leaf = dag_variable(f->dag, unknown, position - f->column_start[unknown]);
    memset(seen, 0, count * sizeof *seen);
    for (int32_t k = jacobian->column_start[c]; k < jacobian->column_start[c + 1]; k++) {
      int32_t row = jacobian->row_index[k];
      assert_true(k == jacobian->column_start[c] || jacobian->row_index[k - 1] < row);
      seen[row] = true;
      Expr partial = dag_partial(f->dag, rows[row], leaf);
      double expected = NAN;
      if (!reference(f, partial, &expected)) expected = NAN;
      assert_close(values[k], expected, tolerance);
      if (jacobian->is_constant[k]) assert_false(dag_depends(f->dag, partial, OP_VARIABLE));
    }
    for (uint32_t r = 0; r < count; r++)
      if (!seen[r]) assert_true(dag_is_constant(f->dag, dag_partial(f->dag, rows[r], leaf), NULL));
  }
}

static void test_jacobian_random(void **state) {
  (void)state;
  Fixture *f = setup(UNKNOWNS, ORDERS);
  ExprVec pool = {0};
  grow(f, &pool, 120);
  check_jacobian(f, pool.data, pool.count, NULL, 0, 1e-9);
  const uint32_t positions[] = {7, 2, 3};
  check_jacobian(f, pool.data, pool.count, positions, 3, 1e-9);
  teardown(f);
}

/* ---- templates ---- */

/* Rows of a chain: a few shapes, differing numbers, shared terms, an uneven end. */
static void chain_rows(Fixture *f, uint32_t n, ExprVec *rows) {
  Dag *dag = f->dag;
  Expr shared = dag_unary(dag, OP_EXP, dag_negate(dag, dag_variable(dag, 0, 1)));
  for (uint32_t i = 0; i + 1 < n; i++) {
    Expr x = dag_variable(dag, i, 0), next = dag_variable(dag, i + 1, 0), rate = dag_variable(dag, i, 1);
    Expr difference = dag_subtract(dag, next, x);
    Expr flux = dag_multiply(dag, dag_parameter(dag, i), dag_unary(dag, OP_TANH, difference));
    Term linear[3] = {{1 + 0.01 * i, x}, {-1, rate}, {i % 7 == 3 ? 2.5 : 0.5, next}};
    vec_push(f->heap, rows, dag_subtract(dag, rate, dag_multiply(dag, shared, flux)));
    vec_push(f->heap, rows, dag_sum(dag, 0.125 * i, linear, 3));
    vec_push(f->heap, rows,
             dag_power(dag, dag_add(dag, x, dag_multiply(dag, difference, difference)), dag_constant(dag, 3)));
    vec_push(f->heap, rows, i % 2 ? x : dag_constant(dag, i));
    vec_push(f->heap, rows, dag_add(dag, flux, dag_time(dag)));
  }
  vec_push(f->heap, rows, dag_unary(dag, OP_SIN, dag_variable(dag, n - 1, 0)));
}

static void test_templates(void **state) {
  (void)state;
  Fixture *f = setup(600, 2);
  ExprVec rows = {0};
  chain_rows(f, 600, &rows);
  Program *program = program_new(f->heap, f->model, &f->layout, rows.data, rows.count);
  ProgramSize size = program_size(program);
  assert_true(size.templates >= 5);
  assert_true(size.instances > 2000);
  assert_true(size.instructions < 200);
  double *out = heap_array(f->heap, rows.count, sizeof *out);
  assert_int_equal(run_program(f, program, &f->point, out), EVAL_OK);
  for (uint32_t r = 0; r < rows.count; r++) {
    double alone, expected;
    Program *single = program_new(f->heap, f->model, &f->layout, &rows.data[r], 1);
    assert_int_equal(run_program(f, single, &f->point, &alone), EVAL_OK);
    assert_true(alone == out[r]);
    assert_true(reference(f, rows.data[r], &expected));
    assert_close(out[r], expected, 0);
  }
  for (uint32_t i = 0; i < 1200; i += 61) {
    double before = f->y[i];
    f->y[i] = NAN;
    assert_int_equal(run_program(f, program, &f->point, out), EVAL_DOMAIN);
    f->y[i] = before;
  }
  teardown(f);
}

/* Several points at once give the same numbers as each by itself, to the bit. */
static void check_points(Fixture *f, const Program *program) {
  enum { POINTS = 7 };
  uint32_t columns = f->layout.columns, outputs = program_outputs(program);
  Point points[POINTS];
  double *outs[POINTS], *alone = heap_array(f->heap, outputs, sizeof *alone);
  Workspace *workspace = workspace_new(f->heap, program);
  for (uint32_t k = 0; k < POINTS; k++) {
    double *y = heap_copy(f->heap, f->y, columns, sizeof *y);
    for (uint32_t i = 0; i < columns; i++) y[i] *= 1 + 1e-7 * random_unit(f);
    points[k] = f->point;
    points[k].y = y;
    points[k].time += 1e-7 * k;
    outs[k] = heap_array(f->heap, outputs, sizeof *outs[k]);
  }
  for (uint32_t count = 0; count <= POINTS; count++) {
    assert_int_equal(workspace_run_points(workspace, count, points, outs), EVAL_OK);
    for (uint32_t k = 0; k < count; k++) {
      assert_int_equal(workspace_run(workspace, &points[k], alone), EVAL_OK);
      assert_memory_equal(outs[k], alone, outputs * sizeof *alone);
    }
  }
  points[POINTS - 1].time = NAN;
  assert_int_equal(workspace_run_points(workspace, POINTS, points, outs), EVAL_DOMAIN);
}

/* Values that depend only on parameters are updated when these change, at one point or at several, after any earlier
 * evaluation. */
static void check_parameters(Fixture *f, const Program *program) {
  enum { POINTS = 4 };
  uint32_t outputs = program_outputs(program);
  Point points[POINTS];
  double *outs[POINTS], *own[POINTS], *fresh = heap_array(f->heap, outputs, sizeof *fresh);
  Workspace *workspace = workspace_new(f->heap, program);
  for (uint32_t k = 0; k < POINTS; k++) {
    outs[k] = heap_array(f->heap, outputs, sizeof *outs[k]);
    own[k] = heap_copy(f->heap, f->parameters, PARAMETERS, sizeof(double));
  }
  for (uint32_t round = 0; round < 40; round++) {
    uint32_t count = 1 + random_below(f, POINTS), shared = random_below(f, 3);
    if (random_below(f, 2)) own[random_below(f, POINTS)][random_below(f, PARAMETERS)] *= 1 + 1e-6 * random_unit(f);
    for (uint32_t k = 0; k < count; k++) {
      points[k] = f->point;
      points[k].parameters = own[shared ? 0 : k];
    }
    workspace_run_points(workspace, count, points, outs);
    for (uint32_t k = 0; k < count; k++) {
      run_program(f, program, &points[k], fresh);
      assert_memory_equal(outs[k], fresh, outputs * sizeof *fresh);
    }
  }
}

static void test_points(void **state) {
  (void)state;
  Fixture *f = setup(UNKNOWNS, ORDERS);
  ExprVec roots = {0};
  grow(f, &roots, 300);
  vec_push(f->heap, &roots, dag_time(f->dag));
  Program *program = program_new(f->heap, f->model, &f->layout, roots.data, roots.count);
  check_points(f, program);
  check_parameters(f, program);
  teardown(f);
  f = setup(600, 2);
  roots = (ExprVec){0};
  chain_rows(f, 600, &roots);
  vec_push(f->heap, &roots, dag_time(f->dag));
  check_points(f, program_new(f->heap, f->model, &f->layout, roots.data, roots.count));
  teardown(f);
}

static void test_jacobian_templates(void **state) {
  (void)state;
  Fixture *f = setup(60, 2);
  ExprVec rows = {0};
  chain_rows(f, 60, &rows);
  uint32_t before = dag_size(f->dag);
  check_jacobian(f, rows.data, 0, NULL, 0, 0);
  jacobian_new(f->heap, f->model, &f->layout, rows.data, rows.count, NULL, 0);
  assert_true(dag_size(f->dag) - before < 150); /* symbolic work grows with the number of shapes */
  check_jacobian(f, rows.data, rows.count, NULL, 0, 1e-13);
  const uint32_t positions[] = {1, 50, 51, 10, 119};
  check_jacobian(f, rows.data, rows.count, positions, 5, 1e-13);
  teardown(f);
}

/* A chain of dependences is too narrow for templates, so it becomes straight code, at linear cost. */
static void test_long_chain(void **state) {
  (void)state;
  Fixture *f = setup(UNKNOWNS, ORDERS);
  ExprVec rows = {0};
  Expr e = dag_variable(f->dag, 0, 0);
  for (uint32_t i = 0; i < 3000; i++) vec_push(f->heap, &rows, e = dag_unary(f->dag, OP_SIN, e));
  Program *program = program_new(f->heap, f->model, &f->layout, rows.data, rows.count);
  double *out = heap_array(f->heap, rows.count, sizeof *out);
  assert_int_equal(run_program(f, program, &f->point, out), EVAL_OK);
  double expected = f->y[0];
  for (uint32_t i = 0; i < 3000; i++) assert_close(out[i], expected = sin(expected), 0);
  assert_true(program_size(program).templates < 20);
  teardown(f);
}

/* ---- domains ---- */

static void test_blame(void **state) {
  (void)state;
  Fixture *f = setup(UNKNOWNS, ORDERS);
  Dag *dag = f->dag;
  Expr x = dag_variable(dag, 0, 0), y = dag_variable(dag, 1, 0);
  Expr log_x = dag_unary(dag, OP_LOG, x);
  Expr roots[3] = {y, dag_multiply(dag, y, dag_add(dag, log_x, y)), dag_divide(dag, y, x)};
  Program *program = program_new(f->heap, f->model, &f->layout, roots, 3);
  double out[3];
  Blame blame;
  assert_int_equal(run_program(f, program, &f->point, out), EVAL_OK);
  f->y[0] = -2;
  assert_int_equal(run_program(f, program, &f->point, out), EVAL_DOMAIN);
  assert_true(blame_program(f, program, &f->point, &blame));
  assert_int_equal(blame.output, 1);
  assert_int_equal(blame.node, log_x);
  assert_true(blame.argument == -2);
  assert_non_null(strstr(blame.reason, "logarithm"));
  Expr quotient = roots[2];
  Program *second = program_new(f->heap, f->model, &f->layout, &quotient, 1);
  f->y[0] = 0;
  assert_int_equal(run_program(f, second, &f->point, out), EVAL_DOMAIN);
  assert_true(blame_program(f, second, &f->point, &blame));
  assert_int_equal(blame.node, quotient);
  assert_true(blame.argument == 0);
  f->y[0] = 1000;
  Expr large = dag_unary(dag, OP_EXP, x);
  Program *third = program_new(f->heap, f->model, &f->layout, &large, 1);
  assert_int_equal(run_program(f, third, &f->point, out), EVAL_DOMAIN);
  assert_true(blame_program(f, third, &f->point, &blame));
  assert_int_equal(blame.node, large);
  teardown(f);
}

/* The blamed entry of a Jacobian is found from its place in the pattern: for each row in turn, with all columns and with some in
 * another order. */
static void test_blame_jacobian(void **state) {
  (void)state;
  enum { ROWS = 20, CHOSEN = 7 };
  Fixture *f = setup(ROWS, 1);
  Expr rows[ROWS];
  uint32_t positions[CHOSEN];
  for (uint32_t i = 0; i < ROWS; i++) {
    Expr root = dag_unary(f->dag, OP_SQRT, dag_variable(f->dag, i, 0));
    Expr other = dag_scale(f->dag, 2, dag_variable(f->dag, (i + CHOSEN) % ROWS, 0));
    rows[i] = dag_add(f->dag, root, other);
  }
  for (uint32_t c = 0; c < CHOSEN; c++) positions[c] = 3 * (CHOSEN - c) - 2;
  for (uint32_t k = 0; k < ROWS + CHOSEN; k++) {
    bool is_whole = k < ROWS;
    uint32_t zero = is_whole ? k : positions[k - ROWS];
    Jacobian *jacobian =
        jacobian_new(f->heap, f->model, &f->layout, rows, ROWS, is_whole ? NULL : positions, is_whole ? 0 : CHOSEN);
    double *values = heap_array(f->heap, jacobian->nonzeros, sizeof *values), kept = f->y[zero];
    Blame blame;
    assert_int_equal(run_program(f, jacobian->program, &f->point, values), EVAL_OK);
    f->y[zero] = 0;
    assert_int_equal(run_program(f, jacobian->program, &f->point, values), EVAL_DOMAIN);
    assert_true(blame_program(f, jacobian->program, &f->point, &blame));
    f->y[zero] = kept;
    assert_int_equal(jacobian->row_index[blame.output], zero);
    assert_int_equal(dag_op(f->dag, blame.node), OP_DIVIDE);
    ExprVec leaves = {0};
    dag_variables(f->dag, dag_scratch(f->dag), blame.node, &leaves);
    assert_int_equal(leaves.count, 1);
    assert_int_equal(dag_index(f->dag, leaves.data[0]), zero);
    vec_free(f->heap, &leaves);
  }
  teardown(f);
}

/* Branches that are not taken may be undefined. */
static void test_branches(void **state) {
  (void)state;
  Fixture *f = setup(UNKNOWNS, ORDERS);
  Dag *dag = f->dag;
  Expr x = dag_variable(dag, 0, 0), zero = dag_constant(dag, 0);
  Expr positive = dag_binary(dag, OP_GREATER, x, zero);
  Expr e = dag_if(dag, positive, dag_unary(dag, OP_LOG, x),
                  dag_divide(dag, dag_constant(dag, 1), dag_subtract(dag, x, dag_constant(dag, 1))));
  Program *program = program_new(f->heap, f->model, &f->layout, &e, 1);
  Jacobian *jacobian = jacobian_new(f->heap, f->model, &f->layout, &e, 1, NULL, 0);
  assert_int_equal(jacobian->nonzeros, 1);
  double out;
  f->y[0] = 1;
  assert_int_equal(run_program(f, program, &f->point, &out), EVAL_OK);
  assert_true(out == 0);
  assert_int_equal(run_program(f, jacobian->program, &f->point, &out), EVAL_OK);
  assert_close(out, 1, 1e-15);
  f->y[0] = -1;
  assert_int_equal(run_program(f, program, &f->point, &out), EVAL_OK);
  assert_true(out == -0.5);
  assert_int_equal(run_program(f, jacobian->program, &f->point, &out), EVAL_OK);
  assert_close(out, -0.25, 1e-15);
  teardown(f);
}

/* ---- compiled code ---- */

static bool has_compiler(void) {
  bool found = system("cc --version >/dev/null 2>&1") == 0;
  if (!found) print_message("no C compiler here: compiled code is not tested\n");
  return found;
}

/* Runs the program by tape and compiled, and requires the same numbers up to this relative difference. */
static void check_compiled_within(Fixture *f, Program *const *programs, uint32_t count, double tolerance) {
  Diags diags = diags_make(f->heap);
  double *tape[4], *compiled[4];
  EvalStatus status[4];
  for (uint32_t k = 0; k < count; k++) {
    tape[k] = heap_array(f->heap, program_outputs(programs[k]), sizeof(double));
    compiled[k] = heap_array(f->heap, program_outputs(programs[k]), sizeof(double));
    status[k] = run_program(f, programs[k], &f->point, tape[k]);
  }
  if (!program_compile(f->heap, programs, count, &diags)) fail_msg("%s", diags.list.data[0].message);
  for (uint32_t k = 0; k < count; k++) {
    assert_int_equal(run_program(f, programs[k], &f->point, compiled[k]), status[k]);
    for (uint32_t i = 0; i < program_outputs(programs[k]); i++)
      if (isfinite(tape[k][i]) || isfinite(compiled[k][i]))
        assert_true(fabs(tape[k][i] - compiled[k][i]) <= tolerance * fabs(tape[k][i]));
  }
}

static void check_compiled(Fixture *f, Program *const *programs, uint32_t count) {
  check_compiled_within(f, programs, count, 0);
}

/* ---- calls ---- */

static const Span nowhere = {0, 0};

static uint32_t emit(Fixture *f, Routine *r, Code code, uint32_t a, uint32_t b) {
  return routine_emit(f->heap, r, code, a, b, nowhere);
}

static void emit_constant(Fixture *f, Routine *r, double value) {
  vec_push(f->heap, &r->constants, value);
  emit(f, r, CODE_CONSTANT, TYPE_REAL, r->constants.count - 1);
}

static void emit_words(Fixture *f, Routine *r, Code code, uint32_t a, uint32_t first, uint32_t second) {
  emit(f, r, code, a, r->extra.count);
  vec_push(f->heap, &r->extra, first);
  vec_push(f->heap, &r->extra, second);
}

static void emit_store(Fixture *f, Routine *r, uint32_t slot) { emit_words(f, r, CODE_STORE, 0, slot, 0); }

/* A function of scalars in the model, with its slots declared. */
static Routine *new_function(Fixture *f, const char *name, uint32_t inputs, uint32_t outputs) {
  Routine *r = heap_alloc(f->heap, sizeof *r);
  r->name = names_add(&f->names, name, strlen(name));
  r->inputs = inputs;
  r->outputs = outputs;
  r->number = f->model->routines.count;
  for (uint32_t i = 0; i < inputs + outputs; i++) {
    vec_push(f->heap, &r->locals, (Local){.type = {.base = TYPE_REAL}});
    emit(f, r, CODE_DECLARE, 0, i);
  }
  emit(f, r, CODE_BODY, 0, 0);
  vec_push(f->heap, &f->model->routines, r);
  Function *function = heap_alloc(f->heap, sizeof *function);
  *function = (Function){.name = r->name,
                         .routine = r,
                         .input_count = inputs,
                         .output_count = outputs,
                         .arguments = inputs,
                         .results = outputs};
  function->inputs = heap_array(f->heap, inputs, sizeof *function->inputs);
  function->outputs = heap_array(f->heap, outputs, sizeof *function->outputs);
  for (uint32_t i = 0; i < inputs; i++) function->inputs[i] = (Shape){.type = {.base = TYPE_REAL}, .scalars = 1};
  for (uint32_t i = 0; i < outputs; i++) function->outputs[i] = (Shape){.type = {.base = TYPE_REAL}, .scalars = 1};
  vec_push(f->heap, &f->model->functions, function);
  return r;
}

static void end_while(Fixture *f, Routine *r, uint32_t head, uint32_t test, uint32_t slot) {
  emit_words(f, r, CODE_LOOP, 0, 1, slot);
  uint32_t end = emit(f, r, CODE_END_WHILE, 0, head);
  r->code.data[head].b = r->code.data[test].b = end;
}

/* x := a; while abs(x*x - a) > 1e-9 loop x := 0.5*(x + a/x); end while; and again. */
static void newton_root(Fixture *f) {
  Routine *r = new_function(f, "root", 1, 1);
  emit(f, r, CODE_LOCAL, 0, 0);
  emit_store(f, r, 1);
  for (uint32_t pass = 0; pass < 3; pass++) {
    uint32_t head = 0, test = 0;
    if (pass == 0) {
      head = emit(f, r, CODE_WHILE, 0, 0);
      emit(f, r, CODE_LOCAL, 0, 1);
      emit(f, r, CODE_LOCAL, 0, 1);
      emit(f, r, CODE_MULTIPLY, 0, 0);
      emit(f, r, CODE_LOCAL, 0, 0);
      emit_words(f, r, CODE_SUM, 2, 2, 0);
      emit(f, r, CODE_APPLY, 1, OP_ABS);
      emit_constant(f, r, 1e-9);
      emit(f, r, CODE_COMPARE, OP_GREATER, 0);
      test = emit(f, r, CODE_WHILE_TEST, 0, 0);
    }
    emit_constant(f, r, 0.5);
    emit(f, r, CODE_LOCAL, 0, 1);
    emit(f, r, CODE_LOCAL, 0, 0);
    emit(f, r, CODE_LOCAL, 0, 1);
    emit(f, r, CODE_DIVIDE, 0, 0);
    emit_words(f, r, CODE_SUM, 2, 0, 0);
    emit(f, r, CODE_MULTIPLY, 0, 0);
    emit_store(f, r, 1);
    if (pass == 0) end_while(f, r, head, test, 1);
  }
}

/* y := 1; while y < b loop y := y*a; end while; z := y*sin(b)^a. */
static void power_beyond(Fixture *f) {
  Routine *r = new_function(f, "beyond", 2, 2);
  emit_constant(f, r, 1);
  emit_store(f, r, 2);
  uint32_t head = emit(f, r, CODE_WHILE, 0, 0);
  emit(f, r, CODE_LOCAL, 0, 2);
  emit(f, r, CODE_LOCAL, 0, 1);
  emit(f, r, CODE_COMPARE, OP_LESS, 0);
  uint32_t test = emit(f, r, CODE_WHILE_TEST, 0, 0);
  emit(f, r, CODE_LOCAL, 0, 2);
  emit(f, r, CODE_LOCAL, 0, 0);
  emit(f, r, CODE_MULTIPLY, 0, 0);
  emit_store(f, r, 2);
  end_while(f, r, head, test, 2);
  emit(f, r, CODE_LOCAL, 0, 2);
  emit(f, r, CODE_LOCAL, 0, 1);
  emit(f, r, CODE_APPLY, 1, OP_SIN);
  emit(f, r, CODE_LOCAL, 0, 0);
  emit(f, r, CODE_POWER, 0, 0);
  emit(f, r, CODE_MULTIPLY, 0, 0);
  emit_store(f, r, 3);
}

static double value_at(Fixture *f, Expr e) {
  double out;
  Program *program = program_new(f->heap, f->model, &f->layout, &e, 1);
  run_program(f, program, &f->point, &out);
  return out;
}

static void test_call_root(void **state) {
  (void)state;
  Fixture *f = setup(UNKNOWNS, ORDERS);
  newton_root(f);
  f->y[0] = 7;
  Expr x = dag_variable(f->dag, 0, 0), e = dag_call(f->dag, 0, 0, NULL, 0, &x, 1);
  double expected = sqrt(7), factor = 0.5;
  for (uint32_t order = 0; order < 5; order++) { /* d^k sqrt(x) = 1/2 (-1/2) (-3/2) ... x^(1/2 - k) */
    assert_close(value_at(f, e), expected, 1e-13);
    e = dag_partial(f->dag, e, x);
    expected *= factor / 7;
    factor -= 1;
  }
  teardown(f);
}

static void test_call_two_arguments(void **state) {
  (void)state;
  Fixture *f = setup(UNKNOWNS, ORDERS);
  newton_root(f);
  power_beyond(f);
  Dag *dag = f->dag;
  double a = f->y[0] = 1.7, b = f->y[2] = 2;
  Expr x[2] = {dag_variable(dag, 0, 0), dag_variable(dag, 1, 0)};
  Expr y = dag_call(dag, 1, 0, NULL, 0, x, 2), z = dag_call(dag, 1, 1, NULL, 0, x, 2);
  double s = sin(b), power = pow(s, a);
  assert_close(value_at(f, y), a * a, 1e-15);
  assert_close(value_at(f, z), a * a * power, 1e-15);
  Expr za = dag_partial(dag, z, x[0]), zb = dag_partial(dag, z, x[1]);
  assert_close(value_at(f, za), 2 * a * power + a * a * power * log(s), 1e-14);
  assert_close(value_at(f, zb), a * a * a * pow(s, a - 1) * cos(b), 1e-14);
  double mixed = cos(b) * pow(s, a - 1) * (3 * a * a + a * a * a * log(s));
  assert_close(value_at(f, dag_partial(dag, za, x[1])), mixed, 1e-14);
  assert_close(value_at(f, dag_partial(dag, zb, x[0])), mixed, 1e-14);
  double twice = a * a * a * ((a - 1) * pow(s, a - 2) * cos(b) * cos(b) - power);
  assert_close(value_at(f, dag_partial(dag, zb, x[1])), twice, 1e-14);
  teardown(f);
}

/* Many calls of one shape: both results of a call come from one evaluation of the function, in Jacobians and compiled code,
 * too. */
static void test_call_templates(void **state) {
  (void)state;
  Fixture *f = setup(200, 1);
  power_beyond(f);
  Dag *dag = f->dag;
  ExprVec rows = {0};
  for (uint32_t i = 0; i + 1 < 200; i++) {
    Expr x[2] = {dag_variable(dag, i, 0), dag_variable(dag, i + 1, 0)};
    f->y[i] = 1.2 + 0.002 * i;
    Expr y = dag_call(dag, 0, 0, NULL, 0, x, 2), z = dag_call(dag, 0, 1, NULL, 0, x, 2);
    vec_push(f->heap, &rows, dag_add(dag, dag_multiply(dag, y, z), x[0]));
  }
  f->y[199] = 1.6;
  Program *program = program_new(f->heap, f->model, &f->layout, rows.data, rows.count);
  assert_int_equal(program->kernels[0].calls.count, 1);
  assert_int_equal(program->kernels[0].calls.data[0].result_count, 2);
  double *out = heap_array(f->heap, rows.count, sizeof *out);
  assert_int_equal(run_program(f, program, &f->point, out), EVAL_OK);
  for (uint32_t i = 0; i < rows.count; i++) {
    double power = 1;
    while (power < f->y[i + 1]) power *= f->y[i];
    assert_close(out[i], power * power * pow(sin(f->y[i + 1]), f->y[i]) + f->y[i], 1e-14);
  }
  Jacobian *jacobian = jacobian_new(f->heap, f->model, &f->layout, rows.data, rows.count, NULL, 0);
  double *values = heap_array(f->heap, jacobian->nonzeros, sizeof *values);
  assert_int_equal(run_program(f, jacobian->program, &f->point, values), EVAL_OK);
  for (uint32_t c = 0; c < 200; c += 37)
    for (int32_t k = jacobian->column_start[c]; k < jacobian->column_start[c + 1]; k++)
      assert_close(values[k], value_at(f, dag_partial(dag, rows.data[jacobian->row_index[k]], dag_variable(dag, c, 0))),
                   1e-13);
  if (has_compiler()) {
    Program *programs[2] = {program, jacobian->program};
    check_compiled_within(f, programs, 2, 1e-13);
  }
  teardown(f);
}

/* A function that divides by zero is blamed, and works again at the next point. */
static void test_call_failure(void **state) {
  (void)state;
  Fixture *f = setup(UNKNOWNS, ORDERS);
  newton_root(f);
  Expr x = dag_variable(f->dag, 0, 0), e = dag_call(f->dag, 0, 0, NULL, 0, &x, 1);
  f->y[0] = 0; /* 0/0 in the first step after the loop */
  Program *program = program_new(f->heap, f->model, &f->layout, &e, 1);
  double out;
  Blame blame;
  assert_int_equal(run_program(f, program, &f->point, &out), EVAL_DOMAIN);
  assert_true(blame_program(f, program, &f->point, &blame));
  assert_int_equal(blame.node, e);
  assert_non_null(blame.reason);
  f->y[0] = 4;
  assert_int_equal(run_program(f, program, &f->point, &out), EVAL_OK);
  assert_close(out, 2, 1e-15);
  teardown(f);
}

static void test_compiled_graph(void **state) {
  (void)state;
  if (!has_compiler()) skip();
  Fixture *f = setup(UNKNOWNS, ORDERS);
  ExprVec pool = {0};
  grow(f, &pool, 1500);
  Program *programs[2] = {program_new(f->heap, f->model, &f->layout, pool.data, pool.count),
                          jacobian_new(f->heap, f->model, &f->layout, pool.data, 100, NULL, 0)->program};
  check_compiled(f, programs, 2);
  teardown(f);
}

static void test_compiled_templates(void **state) {
  (void)state;
  if (!has_compiler()) skip();
  Fixture *f = setup(600, 2);
  ExprVec rows = {0};
  chain_rows(f, 600, &rows);
  for (uint32_t i = 0; i < 100; i++) /* leaves in no order: tables */
    vec_push(f->heap, &rows,
             dag_multiply(f->dag, dag_variable(f->dag, random_below(f, 600), 0),
                          dag_parameter(f->dag, random_below(f, 99))));
  Jacobian *jacobian = jacobian_new(f->heap, f->model, &f->layout, rows.data, rows.count, NULL, 0);
  Program *programs[2] = {program_new(f->heap, f->model, &f->layout, rows.data, rows.count), jacobian->program};
  check_compiled(f, programs, 2);
  double *out = heap_array(f->heap, rows.count, sizeof *out);
  for (uint32_t i = 0; i < 1200; i += 61) { /* an undefined value anywhere is detected */
    double before = f->y[i];
    f->y[i] = i % 2 ? NAN : INFINITY;
    assert_int_equal(run_program(f, programs[0], &f->point, out), EVAL_DOMAIN);
    f->y[i] = before;
    assert_int_equal(run_program(f, programs[0], &f->point, out), EVAL_OK);
  }
  teardown(f);
}

/* Large finite outputs whose sum is not finite are no error. */
static void test_compiled_overflow(void **state) {
  (void)state;
  if (!has_compiler()) skip();
  Fixture *f = setup(20, 1);
  Expr rows[20];
  for (uint32_t i = 0; i < 20; i++) rows[i] = dag_scale(f->dag, 2, dag_variable(f->dag, i, 0)), f->y[i] = 6e307;
  Program *program = program_new(f->heap, f->model, &f->layout, rows, 20);
  check_compiled(f, &program, 1);
  double out[20];
  assert_int_equal(run_program(f, program, &f->point, out), EVAL_OK);
  teardown(f);
}

static void test_compile_failure(void **state) {
  (void)state;
  Fixture *f = setup(UNKNOWNS, ORDERS);
  Expr e = dag_unary(f->dag, OP_SIN, dag_variable(f->dag, 0, 0));
  Program *program = program_new(f->heap, f->model, &f->layout, &e, 1);
  Diags diags = diags_make(f->heap);
  char *path = strdup(getenv("PATH"));
  setenv("PATH", "/nonexistent", 1);
  assert_false(program_compile(f->heap, &program, 1, &diags));
  setenv("PATH", path, 1);
  assert_non_null(strstr(diags.list.data[0].message, "no C compiler"));
  setenv("TMPDIR", "/nonexistent", 1);
  assert_false(program_compile(f->heap, &program, 1, &diags));
  unsetenv("TMPDIR");
  double out;
  assert_int_equal(run_program(f, program, &f->point, &out), EVAL_OK);
  assert_true(out == sin(f->y[0]));
  free(path);
  teardown(f);
}

/* Generated code contains the value functions with the texts of expr/op_math.h. */
static void test_math_text(void **state) {
  (void)state;
  const char *root = getenv("SOURCE_DIR");
  if (!root) skip();
  Fixture *f = setup(UNKNOWNS, ORDERS);
  char path[1024], *file = heap_alloc(f->heap, 1 << 16);
  snprintf(path, sizeof path, "%s/src/expr/op_math.h", root);
  FILE *stream = fopen(path, "r");
  assert_non_null(stream);
  file[fread(file, 1, (1 << 16) - 1, stream)] = 0;
  fclose(stream);
  TextVec all = {0}, header = {0};
  text_printf(f->heap, &all,
              "op_power_integer( op_power( op_power_defined( op_sign( op_min( op_max( op_div( op_mod( op_rem(");
  ctext_header(f->heap, &header, (const TextVec *const[]){&all}, 1);
  uint32_t found = 0;
  for (char *part = strstr(header.data, "static inline"); part; found++) {
    char *next = strstr(part + 1, "static inline");
    size_t length = next ? (size_t)(next - part) : strlen(part);
    while (length && part[length - 1] == '\n') length--;
    part[length] = 0;
    if (!strstr(file, part)) fail_msg("not in op_math.h: %s", part);
    part = next;
  }
  assert_int_equal(found, 9);
  teardown(f);
}

/* ---- export ---- */

static const char *const *invented_names(Fixture *f, const char *kind, uint32_t count) {
  const char **names = heap_array(f->heap, count, sizeof *names);
  for (uint32_t i = 0; i < count; i++) {
    char *name = heap_alloc(f->heap, 40);
    snprintf(name, 40, "%s[%u] \"\\?\?/*\303\244", kind, i); /* characters that C strings must escape */
    names[i] = name;
  }
  return names;
}

static void write_files(const char *directory, const ExportFiles *files) {
  for (uint32_t i = 0; i < files->count; i++) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", directory, files->data[i].name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(files->data[i].text.data, 1, files->data[i].text.count, file), files->data[i].text.count);
    fclose(file);
  }
}

/* Reads the output of the driver and compares it with residual and entries. */
static void check_driver(const char *directory, const double *residual, uint32_t rows, const double *entries,
                         uint32_t nonzeros) {
  char command[300], line[400];
  snprintf(command, sizeof command, "%s/model", directory);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  uint32_t row = 0, entry = 0, number, other;
  double value;
  while (fgets(line, sizeof line, pipe)) {
    if (sscanf(line, "row %u %lf", &number, &value) == 2) {
      assert_int_equal(number, row);
      assert_true(value == residual[row++]);
    } else if (sscanf(line, "entry %u %u %lf", &number, &other, &value) == 3) {
      assert_close(value, entries[entry], 1e-13 * fmax(1, fabs(value))), entry++;
    }
  }
  assert_int_equal(pclose(pipe), 0);
  assert_int_equal(row, rows);
  assert_int_equal(entry, nonzeros);
}

static void check_export(Fixture *f, const Expr *rows, uint32_t count, uint32_t parameters) {
  Jacobian *jacobian = jacobian_new(f->heap, f->model, &f->layout, rows, count, NULL, 0);
  Program *program = program_new(f->heap, f->model, &f->layout, rows, count);
  double *residual = heap_array(f->heap, count, sizeof *residual);
  double *entries = heap_array(f->heap, jacobian->nonzeros, sizeof *entries);
  assert_int_equal(run_program(f, program, &f->point, residual), EVAL_OK);
  assert_int_equal(run_program(f, jacobian->program, &f->point, entries), EVAL_OK);
  uint32_t columns = f->layout.columns;
  ExportInput input = {.name = "M*/M",
                       .model = f->model,
                       .rows = program,
                       .jacobian = jacobian,
                       .time = f->point.time,
                       .columns = {columns, invented_names(f, "y", columns), f->y},
                       .row_list = {count, invented_names(f, "row", count), NULL},
                       .parameters = {parameters, invented_names(f, "p", parameters), f->parameters},
                       .discretes = {DISCRETES, invented_names(f, "d", DISCRETES), f->discretes},
                       .pre = f->pre};
  ExportFiles files = {0};
  Diags diags = diags_make(f->heap);
  assert_true(export_c(f->heap, &input, &files, &diags));
  char directory[] = "/tmp/daedal-test-XXXXXX", command[400];
  assert_non_null(mkdtemp(directory));
  write_files(directory, &files);
  snprintf(command, sizeof command,
           "cd %s && cc -std=c99 -Wall -Wextra -Wno-unused-parameter -Werror -pedantic -O1 -ffp-contract=off "
           "-o model main.c model.c -lm",
           directory);
  assert_int_equal(system(command), 0);
  check_driver(directory, residual, count, entries, jacobian->nonzeros);
  snprintf(command, sizeof command, "rm -r %s", directory);
  assert_int_equal(system(command), 0);
}

static void test_export(void **state) {
  (void)state;
  if (!has_compiler()) skip();
  Fixture *f = setup(60, 2);
  ExprVec rows = {0};
  chain_rows(f, 60, &rows);
  for (uint32_t i = 0; i < 40; i++)
    vec_push(
        f->heap, &rows,
        dag_multiply(f->dag, dag_variable(f->dag, random_below(f, 60), 0), dag_parameter(f->dag, random_below(f, 60))));
  check_export(f, rows.data, rows.count, 100);
  teardown(f);
}

static void test_export_graph(void **state) {
  (void)state;
  if (!has_compiler()) skip();
  Fixture *f = setup(UNKNOWNS, ORDERS);
  ExprVec pool = {0}, rows = {0};
  grow(f, &pool, 600);
  for (uint32_t i = 0; i < pool.count; i++) { /* expressions with a finite gradient */
    Jacobian *jacobian = jacobian_new(f->heap, f->model, &f->layout, &pool.data[i], 1, NULL, 0);
    double *entries = heap_array(f->heap, jacobian->nonzeros, sizeof *entries);
    if (run_program(f, jacobian->program, &f->point, entries) == EVAL_OK) vec_push(f->heap, &rows, pool.data[i]);
  }
  assert_true(rows.count > 300);
  check_export(f, rows.data, rows.count, PARAMETERS);
  teardown(f);
}

/* A function is written once, however many places call it. */
static void test_export_call(void **state) {
  (void)state;
  if (!has_compiler()) skip();
  Fixture *f = setup(UNKNOWNS, ORDERS);
  newton_root(f);
  power_beyond(f);
  Dag *dag = f->dag;
  Expr x[2] = {dag_variable(dag, 0, 0), dag_variable(dag, 1, 0)};
  f->y[0] = 1.7, f->y[2] = 2;
  Expr root = dag_call(dag, 0, 0, NULL, 0, x, 1), z = dag_call(dag, 1, 1, NULL, 0, x, 2);
  Expr rows[4] = {root, z, dag_partial(dag, root, x[0]), dag_partial(dag, dag_partial(dag, z, x[0]), x[1])};
  check_export(f, rows, 4, PARAMETERS);
  teardown(f);
}

/* ---- refused allocations ---- */

static void build_all(Heap *heap) {
  Fixture *f = setup_in(heap, 24, 2);
  ExprVec rows = {0};
  power_beyond(f);
  chain_rows(f, 24, &rows);
  Expr x[2] = {dag_variable(f->dag, 0, 0), dag_variable(f->dag, 1, 0)};
  vec_push(heap, &rows, dag_call(f->dag, 0, 1, NULL, 0, x, 2));
  Program *program = program_new(heap, f->model, &f->layout, rows.data, rows.count);
  Jacobian *jacobian = jacobian_new(heap, f->model, &f->layout, rows.data, rows.count, NULL, 0);
  double *out = heap_array(heap, rows.count + jacobian->nonzeros, sizeof *out);
  f->y[0] = 1.5;
  f->y[5] = NAN;
  run_program(f, program, &f->point, out);
  run_program(f, jacobian->program, &f->point, out);
  Blame blame;
  blame_program(f, program, &f->point, &blame);
  CText text = ctext_make(heap, program, "program", true);
  CallingText caller = {program, &text, "program"};
  TextVec functions = {0};
  Diags diags = diags_make(heap);
  cfunctions_write(heap, f->model, &caller, 1, false, &functions, &diags);
}

static void test_refusals(void **state) {
  (void)state;
  FAIL_ALLOC_EACH(fail) {
    Heap *heap = heap_new(&fail.hook);
    jmp_buf refused;
    if (heap && HEAP_TRY(heap, refused)) build_all(heap);
    heap_destroy(heap);
    assert_int_equal(fail.live, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_operators),
      cmocka_unit_test(test_random_graph),
      cmocka_unit_test(test_registers),
      cmocka_unit_test(test_empty_and_deep),
      cmocka_unit_test(test_jacobian_random),
      cmocka_unit_test(test_templates),
      cmocka_unit_test(test_points),
      cmocka_unit_test(test_jacobian_templates),
      cmocka_unit_test(test_long_chain),
      cmocka_unit_test(test_blame),
      cmocka_unit_test(test_blame_jacobian),
      cmocka_unit_test(test_branches),
      cmocka_unit_test(test_compiled_graph),
      cmocka_unit_test(test_compiled_templates),
      cmocka_unit_test(test_compiled_overflow),
      cmocka_unit_test(test_compile_failure),
      cmocka_unit_test(test_math_text),
      cmocka_unit_test(test_call_root),
      cmocka_unit_test(test_call_two_arguments),
      cmocka_unit_test(test_call_templates),
      cmocka_unit_test(test_call_failure),
      cmocka_unit_test(test_export),
      cmocka_unit_test(test_export_graph),
      cmocka_unit_test(test_export_call),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
