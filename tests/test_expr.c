/* Expressions: normal form, values, derivatives, printing. Values and derivatives are checked against a
 * second evaluator in complex arithmetic that knows nothing of the graph: f(x + ih) = f(x) + ih f'(x) gives
 * derivatives to round-off (complex step). Random expressions are also kept as a plain tree, so
 * that simplification is checked too. */
#include "base/heap.h"
#include "expr/dag.h"
#include "expr/op_math.h"
#include "fail_alloc.h"

#include <complex.h>
#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef double _Complex Complex;

static const double step = 1e-40;

/* ---- fixture ---- */

typedef struct World {
  Heap *heap;
  Names *names;
  Dag *dag;
} World;

static World world_make(const HeapHook *hook) {
  World w = {.heap = heap_new(hook)};
  assert_non_null(w.heap);
  w.names = heap_alloc(w.heap, sizeof *w.names);
  *w.names = names_make(w.heap);
  w.dag = dag_new(w.heap, w.names);
  for (uint32_t i = 0; i < 6; i++) dag_variable(w.dag, i, 0); /* so that texts have them in this order */
  return w;
}

/* ---- a reader for the text of dag_print ---- */

/* x y z: variables 0 1 2; der(x); p q: parameters; d e: discrete; f g: functions; anything else is a leaf of the language. */
typedef struct Reader {
  World *w;
  const char *at;
} Reader;

static Expr read_expression(Reader *r);

static bool read_mark(Reader *r, const char *mark) {
  while (*r->at == ' ') r->at++;
  size_t length = strlen(mark);
  if (strncmp(r->at, mark, length) != 0) return false;
  if (isalpha((unsigned char)*mark) && isalnum((unsigned char)r->at[length])) return false;
  r->at += length;
  return true;
}

static void read_need(Reader *r, const char *mark) {
  if (!read_mark(r, mark)) fail_msg("expected %s before: %.40s", mark, r->at);
}

static Expr read_call(Reader *r, const char *name) {
  Expr list[8];
  uint32_t count = 0;
  if (!read_mark(r, ")")) {
    do list[count++] = read_expression(r);
    while (read_mark(r, ","));
    read_need(r, ")");
  }
  if (strcmp(name, "der") == 0) return dag_time_derivative(r->w->dag, list[0]);
  if (strcmp(name, "pre") == 0) return dag_pre(r->w->dag, dag_index(r->w->dag, list[0]));
  if (strcmp(name, "f") == 0 || strcmp(name, "g") == 0)
    return dag_call(r->w->dag, name[0] == 'g', 0, NULL, 0, list, count);
  for (Op op = 0; op < OP_COUNT; op++)
    if (op_kind(op) != KIND_LEAF && strcmp(op_name(op), name) == 0) return dag_nary(r->w->dag, op, list, count);
  fail_msg("unknown function %s", name);
  return 0;
}

static Expr read_name(Reader *r) {
  char name[32] = "";
  for (size_t i = 0; isalnum((unsigned char)*r->at) && i < sizeof name - 1; i++) name[i] = *r->at++;
  if (read_mark(r, "(")) return read_call(r, name);
  Dag *dag = r->w->dag;
  if (strcmp(name, "time") == 0) return dag_time(dag);
  if (strcmp(name, "true") == 0) return dag_constant(dag, 1);
  if (strcmp(name, "false") == 0) return dag_constant(dag, 0);
  if (strchr("xyzuvw", name[0])) return dag_variable(dag, (uint32_t)(strchr("xyzuvw", name[0]) - "xyzuvw"), 0);
  if (strchr("pq", name[0])) return dag_parameter(dag, name[0] == 'q');
  if (strchr("de", name[0])) return dag_discrete(dag, name[0] == 'e');
  fail_msg("unknown name %s", name);
  return 0;
}

static Expr read_string(Reader *r) {
  char text[64];
  size_t length = 0;
  for (r->at++; *r->at != '"'; r->at++) {
    if (*r->at == '\\') r->at++;
    text[length++] = *r->at == 'n' && r->at[-1] == '\\' ? '\n' : *r->at;
  }
  r->at++;
  return dag_string(r->w->dag, names_add(r->w->names, text, length));
}

static Expr read_primary(Reader *r) {
  while (*r->at == ' ') r->at++;
  if (read_mark(r, "(")) {
    Expr e = read_expression(r);
    read_need(r, ")");
    return e;
  }
  if (*r->at == '"') return read_string(r);
  if (isalpha((unsigned char)*r->at)) return read_name(r);
  char *end;
  double value = strtod(r->at, &end);
  if (end == r->at || *r->at == '-') fail_msg("expected a number before: %.40s", r->at);
  r->at = end;
  return dag_constant(r->w->dag, value);
}

static Expr read_factor(Reader *r) {
  Expr base = read_primary(r);
  return read_mark(r, "^") ? dag_power(r->w->dag, base, read_primary(r)) : base;
}

static Expr read_term(Reader *r) {
  Expr e = read_factor(r);
  for (;;) {
    if (read_mark(r, "*")) e = dag_multiply(r->w->dag, e, read_factor(r));
    else if (read_mark(r, "/")) e = dag_divide(r->w->dag, e, read_factor(r));
    else return e;
  }
}

static Expr read_sum(Reader *r) {
  VEC(Term) terms = {0};
  double sign = read_mark(r, "-") ? -1 : (read_mark(r, "+"), 1);
  Expr first = read_term(r);
  vec_push(r->w->heap, &terms, (Term){sign, first});
  for (;;) {
    if (read_mark(r, "+")) sign = 1;
    else if (read_mark(r, "-")) sign = -1;
    else break;
    Expr next = read_term(r);
    vec_push(r->w->heap, &terms, (Term){sign, next});
  }
  Expr e = dag_sum(r->w->dag, 0, terms.data, terms.count);
  vec_free(r->w->heap, &terms);
  return e;
}

static Expr read_relation(Reader *r) {
  static const Op ops[] = {OP_LESS_EQUAL, OP_NOT_EQUAL, OP_LESS, OP_GREATER_EQUAL, OP_GREATER, OP_EQUAL};
  Expr left = read_sum(r);
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (read_mark(r, op_name(ops[i]))) return dag_binary(r->w->dag, ops[i], left, read_sum(r));
  return left;
}

static Expr read_not(Reader *r) {
  return read_mark(r, "not") ? dag_unary(r->w->dag, OP_NOT, read_relation(r)) : read_relation(r);
}

static Expr read_and(Reader *r) {
  Expr e = read_not(r);
  while (read_mark(r, "and")) e = dag_binary(r->w->dag, OP_AND, e, read_not(r));
  return e;
}

static Expr read_choice(Reader *r) {
  Expr condition = read_expression(r);
  read_need(r, "then");
  Expr then = read_expression(r), otherwise;
  if (read_mark(r, "elseif")) {
    otherwise = read_choice(r);
  } else {
    read_need(r, "else");
    otherwise = read_expression(r);
  }
  return dag_if(r->w->dag, condition, then, otherwise);
}

static Expr read_expression(Reader *r) {
  if (read_mark(r, "if")) return read_choice(r);
  Expr e = read_and(r);
  while (read_mark(r, "or")) e = dag_binary(r->w->dag, OP_OR, e, read_and(r));
  return e;
}

static Expr read_text(World *w, const char *text) {
  Reader r = {w, text};
  Expr e = read_expression(&r);
  if (*r.at) fail_msg("not read: %s", r.at);
  return e;
}

static void print_name(void *context, Heap *heap, TextVec *text, const Dag *dag, Expr leaf) {
  (void)context;
  Op op = dag_op(dag, leaf);
  if (op == OP_TIME) {
    text_printf(heap, text, "time");
    return;
  }
  const char *names = op == OP_VARIABLE ? "xyzuvw" : op == OP_PARAMETER ? "pq" : "de";
  uint32_t order = op == OP_VARIABLE ? dag_order(dag, leaf) : 0;
  for (uint32_t i = 0; i < order; i++) text_printf(heap, text, "der(");
  text_printf(heap, text, op == OP_PRE ? "pre(%c)" : "%c", names[dag_index(dag, leaf)]);
  for (uint32_t i = 0; i < order; i++) text_printf(heap, text, ")");
}

static const char *print_function(void *context, uint32_t function) {
  (void)context;
  return function ? "g" : "f";
}

static uint32_t print_kind(void *context, const Dag *dag, Expr leaf) {
  (void)context;
  bool discrete = dag_op(dag, leaf) == OP_DISCRETE || dag_op(dag, leaf) == OP_PRE;
  return discrete && dag_index(dag, leaf) == 1 ? VALUE_BOOLEAN : VALUE_REAL;
}

static const LeafPrinter printer = {.print = print_name, .function = print_function, .kind = print_kind};

static char *print_text(World *w, Expr e) {
  TextVec text = {0};
  dag_print(w->dag, e, &printer, w->heap, &text);
  return text.data;
}

/* ---- the second evaluator ---- */

static bool truth(Complex z) { return creal(z) != 0; }

static Complex complex_power(Complex a, Complex b) {
  double n = creal(b);
  if (cimag(b) != 0 || n != floor(n) || fabs(n) > 20) return cpow(a, b);
  Complex result = 1;
  for (int i = 0; i < (int)fabs(n); i++) result *= a;
  return n < 0 ? 1 / result : result;
}

/* Real for real arguments, and analytic if the operator is. */
static Complex complex_apply(Op op, const Complex *x) {
  Complex a = x[0], b = x[1], c = x[2];
  double p = creal(a), q = creal(b);
  switch (op) {
  case OP_MULTIPLY: return a * b;
  case OP_DIVIDE: return a / b;
  case OP_POWER: return complex_power(a, b);
  case OP_SQRT: return csqrt(a);
  case OP_EXP: return cexp(a);
  case OP_LOG: return clog(a);
  case OP_LOG10: return clog(a) / log(10);
  case OP_SIN: return csin(a);
  case OP_COS: return ccos(a);
  case OP_TAN: return ctan(a);
  case OP_ASIN: return casin(a);
  case OP_ACOS: return cacos(a);
  case OP_ATAN: return catan(a);
  case OP_SINH: return csinh(a);
  case OP_COSH: return ccosh(a);
  case OP_TANH: return ctanh(a);
  case OP_ASINH: return casinh(a);
  case OP_ACOSH: return cacosh(a);
  case OP_ATANH: return catanh(a);
  case OP_ATAN2: return catan(a / b) + (q > 0 ? 0 : p >= 0 ? acos(-1) : -acos(-1));
  case OP_ABS: return p < 0 ? -a : a;
  case OP_SIGN: return p > 0 ? 1 : p < 0 ? -1 : 0;
  case OP_MIN: return p <= q ? a : b;
  case OP_MAX: return p >= q ? a : b;
  case OP_FLOOR:
  case OP_INTEGER: return floor(p);
  case OP_CEIL: return ceil(p);
  case OP_DIV: return trunc(p / q);
  case OP_MOD: return a - floor(p / q) * b;
  case OP_REM: return a - trunc(p / q) * b;
  case OP_SEMILINEAR: return p >= 0 ? a * b : a * c;
  case OP_LESS: return p < q;
  case OP_LESS_EQUAL: return p <= q;
  case OP_GREATER: return p > q;
  case OP_GREATER_EQUAL: return p >= q;
  case OP_EQUAL: return p == q;
  case OP_NOT_EQUAL: return p != q;
  case OP_AND: return truth(a) && truth(b);
  case OP_OR: return truth(a) || truth(b);
  case OP_NOT: return !truth(a);
  case OP_IF: return truth(a) ? b : c;
  case OP_NOEVENT:
  case OP_HOMOTOPY: return a;
  case OP_SMOOTH: return b;
  default: fail_msg("no complex value for %s", op_name(op)); return 0;
  }
}

/* A point: values of x y z with three derivatives, two parameters, time, two discrete variables. */
enum { VARIABLES = 3, ORDERS = 5, DIRECTIONS = VARIABLES * 2 + 2, ALONG_TIME = DIRECTIONS - 1 };

typedef struct Point {
  double x[VARIABLES][ORDERS], p[2], d[2], time;
} Point;

static double point_value(void *context, const Dag *dag, Expr leaf) {
  const Point *point = context;
  uint32_t index = dag_op(dag, leaf) == OP_TIME ? 0 : dag_index(dag, leaf);
  switch (dag_op(dag, leaf)) {
  case OP_VARIABLE: return point->x[index][dag_order(dag, leaf)];
  case OP_PARAMETER: return point->p[index];
  case OP_TIME: return point->time;
  default: return point->d[index];
  }
}

/* The value of a leaf after an imaginary step in this direction. Each leaf has its own direction (index * 2 + order; time has the
 * last but one); the last direction is that of the trajectory. */
static Complex leaf_moved(const Point *point, Op op, uint32_t index, uint32_t order, int direction) {
  if (op == OP_TIME) return point->time + (direction >= DIRECTIONS - 2 ? I * step : 0);
  if (op == OP_PARAMETER) return point->p[index];
  if (op != OP_VARIABLE) return point->d[index];
  double rate = direction == ALONG_TIME && order + 1 < ORDERS ? point->x[index][order + 1]
                                                              : direction == (int)(index * 2 + order);
  return point->x[index][order] + I * step * rate;
}

static double moved_slope(Complex z) { return cimag(z) / step; }

/* The whole graph below e along the trajectory: value and time derivative. */
static Complex graph_along_time(World *w, Expr e, const Point *point) {
  Dag *dag = w->dag;
  IndexVec order = {0};
  dag_below(dag, dag_scratch(dag), &e, 1, &order);
  Complex *z = heap_array(w->heap, dag_size(dag), sizeof *z);
  for (uint32_t i = 0; i < order.count; i++) {
    Expr node = order.data[i];
    Op op = dag_op(dag, node);
    Complex x[3] = {0};
    double constant;
    const Term *terms;
    if (op == OP_CONSTANT) {
      z[node] = dag_value(dag, node);
    } else if (op_kind(op) == KIND_LEAF) {
      z[node] = leaf_moved(point, op, dag_index(dag, node), op == OP_VARIABLE ? dag_order(dag, node) : 0, ALONG_TIME);
    } else if (op == OP_SUM) {
      uint32_t count = dag_terms(dag, node, &constant, &terms);
      z[node] = constant;
      for (uint32_t k = 0; k < count; k++) z[node] += terms[k].coefficient * z[terms[k].node];
    } else {
      for (uint32_t k = 0; k < dag_child_count(dag, node); k++) x[k] = z[dag_child(dag, node, k)];
      z[node] = complex_apply(op, x);
    }
  }
  Complex result = z[e];
  heap_free(w->heap, z);
  vec_free(w->heap, &order);
  return result;
}

static double value_at(World *w, Expr e, const Point *point) {
  double value;
  Expr where;
  Point copy = *point;
  if (!dag_evaluate(w->dag, dag_scratch(w->dag), e, point_value, &copy, &value, &where))
    fail_msg("undefined: %s in %s", print_text(w, where), print_text(w, e));
  return value;
}

static void assert_near(World *w, const char *what, Expr e, double found, double expected, double tolerance) {
  if (fabs(found - expected) <= tolerance * (1 + fabs(expected))) return;
  fail_msg("%s of %s: found %.17g, expected %.17g", what, print_text(w, e), found, expected);
}

/* ---- every operator of the table ---- */

/* Gradient and partials of e against the slopes along each direction, and its time derivative. */
static void check_derivatives(World *w, Expr e, const Point *point, const double *slopes, double tolerance) {
  ExprVec leaves = {0}, partials = {0};
  double found[DIRECTIONS] = {0};
  dag_gradient(w->dag, e, &leaves, &partials);
  for (uint32_t i = 0; i < leaves.count; i++) {
    uint32_t index = dag_index(w->dag, leaves.data[i]), order = dag_order(w->dag, leaves.data[i]);
    if (i) {
      uint32_t before = dag_index(w->dag, leaves.data[i - 1]);
      assert_true(before < index || (before == index && dag_order(w->dag, leaves.data[i - 1]) < order));
    }
    found[index * 2 + order] = value_at(w, partials.data[i], point);
  }
  for (uint32_t i = 0; i < VARIABLES * 2; i++) {
    Expr partial = dag_partial(w->dag, e, dag_variable(w->dag, i / 2, i % 2));
    assert_near(w, "gradient", e, found[i], slopes[i], tolerance);
    assert_near(w, "partial", e, value_at(w, partial, point), slopes[i], tolerance);
  }
  Expr by_time = dag_partial(w->dag, e, dag_time(w->dag)), derivative = dag_time_derivative(w->dag, e);
  assert_near(w, "partial by time", e, value_at(w, by_time, point), slopes[DIRECTIONS - 2], tolerance);
  assert_near(w, "time derivative", e, value_at(w, derivative, point), slopes[ALONG_TIME], tolerance);
  vec_free(w->heap, &leaves);
  vec_free(w->heap, &partials);
}

static bool is_tested_operator(Op op) {
  return op_arity(op) >= 1 && op_kind(op) != KIND_LEAF && op != OP_SAMPLE && op != OP_EDGE && op != OP_CHANGE &&
         op != OP_LEFT && op != OP_INPUT;
}

/* Is the point away from kinks and jumps, where derivatives have no meaning? */
static bool is_regular(Op op, const Complex *x) {
  double a = creal(x[0]), b = creal(x[1]), ratio = b != 0 ? a / b : 0.5;
  switch (op) {
  case OP_ABS:
  case OP_SIGN:
  case OP_SEMILINEAR: return fabs(a) > 1e-3;
  case OP_MIN:
  case OP_MAX: return fabs(a - b) > 1e-3;
  case OP_FLOOR:
  case OP_CEIL:
  case OP_INTEGER: return fabs(a - round(a)) > 1e-3;
  case OP_DIV:
  case OP_MOD:
  case OP_REM: return fabs(ratio - round(ratio)) > 1e-3 && fabs(b) > 1e-2;
  case OP_ASIN:
  case OP_ACOS:
  case OP_ATANH: return fabs(fabs(a) - 1) > 1e-2;
  case OP_ACOSH: return a > 1.01;
  case OP_SQRT:
  case OP_LOG:
  case OP_LOG10: return a > 1e-2;
  case OP_DIVIDE: return fabs(b) > 1e-2;
  case OP_POWER: return a > 1e-2 || (fabs(a) > 1e-2 && cimag(x[1]) == 0);
  case OP_ATAN2: return fabs(b) > 1e-2; /* the complex formula divides by it */
  case OP_TAN: return fabs(cos(a)) > 1e-1;
  default: return op_kind(op) != KIND_RELATION || fabs(a - b) > 1e-3;
  }
}

static void check_operator(World *w, Op op, const Point *point) {
  uint32_t arity = (uint32_t)op_arity(op);
  Expr leaves[3];
  double at[3], slopes[DIRECTIONS], value, direct;
  for (uint32_t i = 0; i < 3; i++) {
    leaves[i] = dag_variable(w->dag, i, 0);
    at[i] = point->x[i][0];
  }
  if (op == OP_SMOOTH) leaves[0] = dag_constant(w->dag, at[0] = 1);
  if (op == OP_AND || op == OP_OR || op == OP_NOT) /* of truth values */
    for (uint32_t i = 0; i < 3; i++) at[i] = (leaves[i] = dag_discrete(w->dag, i % 2), point->d[i % 2]);
  if (op == OP_IF) at[0] = (leaves[0] = dag_discrete(w->dag, 0), point->d[0]);
  Expr e = dag_nary(w->dag, op, leaves, arity);
  for (int direction = 0; direction < DIRECTIONS; direction++) {
    Complex x[3];
    for (uint32_t i = 0; i < 3; i++) {
      Op leaf = dag_op(w->dag, leaves[i]);
      x[i] = leaf == OP_CONSTANT ? at[i] : leaf_moved(point, leaf, dag_index(w->dag, leaves[i]), 0, direction);
    }
    Complex z = complex_apply(op, x);
    slopes[direction] = moved_slope(z);
    value = creal(z);
  }
  assert_true(op_evaluate(op, at, &direct));
  assert_near(w, "value", e, direct, value, 1e-14);
  assert_near(w, "graph value", e, value_at(w, e, point), value, 1e-14);
  check_derivatives(w, e, point, slopes, 1e-12);
}

static void test_every_operator(void **state) {
  (void)state;
  static const double samples[] = {-2.3, -0.7, -0.2, 0.3, 0.9, 1.4, 3.2};
  enum { COUNT = sizeof samples / sizeof *samples };
  World w = world_make(NULL);
  for (Op op = 0; op < OP_COUNT; op++) {
    int tested = 0;
    for (int i = 0; is_tested_operator(op) && i < COUNT * COUNT; i++) {
      double a = samples[i % COUNT], b = samples[i / COUNT];
      Point point = {.x = {{a, 0.7}, {b, -1.1}, {0.6, 0.4}}, .d = {i % 2, i / 2 % 2}};
      double at[3] = {a, b, 0.6}, ignored;
      Complex x[3] = {a, b + I * step, 0.6};
      if (!op_evaluate(op, at, &ignored) || !is_regular(op, x)) continue;
      check_operator(&w, op, &point);
      tested++;
    }
    if (is_tested_operator(op) && tested < 3) fail_msg("%s tested at %d points", op_name(op), tested);
  }
  heap_destroy(w.heap);
}

/* The domain column: undefined exactly where the C library gives no number. */
static void test_domains(void **state) {
  (void)state;
  static const double samples[] = {-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2};
  static const Op ops[] = {OP_SQRT,  OP_LOG,   OP_LOG10, OP_ASIN,   OP_ACOS,
                           OP_ACOSH, OP_ATANH, OP_POWER, OP_DIVIDE, OP_MOD};
  for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
    for (int i = 0; i < 81; i++) {
      double x[3] = {samples[i % 9], samples[i / 9], 0}, value = 0, expected = 0;
      switch (ops[k]) {
      case OP_SQRT: expected = sqrt(x[0]); break;
      case OP_LOG:
      case OP_LOG10: expected = log(x[0]); break;
      case OP_ASIN:
      case OP_ACOS: expected = acos(x[0]); break;
      case OP_ACOSH: expected = acosh(x[0]); break;
      case OP_ATANH: expected = atanh(x[0]); break;
      case OP_POWER: expected = pow(x[0], x[1]); break;
      default: expected = 1 / x[1]; break;
      }
      bool defined = op_evaluate(ops[k], x, &value);
      assert_int_equal(defined, isfinite(expected) != 0);
      if (ops[k] == OP_POWER && defined) assert_true(fabs(value - expected) <= 1e-14 * fabs(expected));
    }
  }
}

/* div, mod, rem, integer as the language defines them. */
static void test_integer_operators(void **state) {
  (void)state;
  static const double cases[][5] = {
      /* a, b, div, mod, rem */
      {3, 1.4, 2, 0.2, 0.2},     {-3, 1.4, -2, 1.2, -0.2}, {3, -1.4, -2, -1.2, 0.2},
      {-3, -1.4, 2, -0.2, -0.2}, {7, 2, 3, 1, 1},          {-7, 2, -3, 1, -1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    static const Op ops[] = {OP_DIV, OP_MOD, OP_REM};
    for (int k = 0; k < 3; k++) {
      double value;
      assert_true(op_evaluate(ops[k], cases[i], &value));
      assert_true(fabs(value - cases[i][2 + k]) < 1e-14);
    }
  }
  double value;
  assert_true(op_evaluate(OP_INTEGER, (double[]){-1.5}, &value) && value == -2);
  for (int n = -12; n <= 40; n++) assert_true(op_power(2, n) == ldexp(1, n));
  assert_true(op_power(3, 20) == 3486784401.0);
}

/* ---- random expressions ---- */

static uint64_t random_state;

static uint32_t random_below(uint32_t bound) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(random_state >> 33) % bound;
}

static double random_value(void) { return ((double)random_below(4000) - 2000) / 800; }

/* A node of the plain tree: the moved values along every direction, and the graph's node. */
typedef struct Plain {
  Complex z[DIRECTIONS];
  Expr e;
  bool boolean;
} Plain;

enum { PLAIN_MAX = 60 };

typedef struct Forest {
  World *w;
  Point point;
  Plain nodes[PLAIN_MAX];
  uint32_t count;
} Forest;

static void forest_leaf(Forest *f, Op op, uint32_t index, uint32_t order) {
  Plain *node = &f->nodes[f->count++];
  *node = (Plain){0};
  Dag *dag = f->w->dag;
  node->e = op == OP_VARIABLE    ? dag_variable(dag, index, order)
            : op == OP_PARAMETER ? dag_parameter(dag, index)
                                 : dag_time(dag);
  for (int k = 0; k < DIRECTIONS; k++) node->z[k] = leaf_moved(&f->point, op, index, order, k);
}

static void forest_constant(Forest *f, double value) {
  Plain *node = &f->nodes[f->count++];
  *node = (Plain){.e = dag_constant(f->w->dag, value)};
  for (int k = 0; k < DIRECTIONS; k++) node->z[k] = value;
}

static void forest_plant(Forest *f, World *w) {
  static const double constants[] = {0, 1, -1, 2, 3, -2, 0.5, 0.3};
  f->w = w;
  f->count = 0;
  for (int i = 0; i < VARIABLES * ORDERS; i++) f->point.x[i / ORDERS][i % ORDERS] = random_value();
  for (int i = 0; i < 2; i++) f->point.p[i] = random_value(), f->point.d[i] = random_below(2);
  f->point.time = random_value();
  for (uint32_t i = 0; i < VARIABLES * 2; i++) forest_leaf(f, OP_VARIABLE, i / 2, i % 2);
  for (uint32_t i = 0; i < 2; i++) forest_leaf(f, OP_PARAMETER, i, 0);
  forest_leaf(f, OP_TIME, 0, 0);
  for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) forest_constant(f, constants[i]);
}

/* sum and difference are not single operators of the table: here OP_SUM is a + b, OP_CALL stands for a - b.
 */
static Complex plain_apply(Op op, const Complex *x) {
  return op == OP_SUM ? x[0] + x[1] : op == OP_CALL ? x[0] - x[1] : complex_apply(op, x);
}

static bool plain_bounded(const Plain *node) {
  for (int k = 0; k < DIRECTIONS; k++)
    if (!(fabs(creal(node->z[k])) < 1e3 && fabs(moved_slope(node->z[k])) < 1e4)) return false;
  return true;
}

/* One random operator on random nodes; nothing is added if it is undefined, singular or too large. */
static void forest_grow(Forest *f) {
  static const Op common[] = {OP_SUM, OP_CALL, OP_MULTIPLY, OP_DIVIDE, OP_POWER, OP_SUM, OP_CALL, OP_MULTIPLY};
  Op op = random_below(3) ? common[random_below(sizeof common / sizeof *common)] : (Op)random_below(OP_COUNT);
  if (op != OP_SUM && op != OP_CALL && !is_tested_operator(op)) return;
  Plain *x[3], *node = &f->nodes[f->count];
  Complex moved[3];
  double at[3], ignored;
  Dag *dag = f->w->dag;
  for (int i = 0; i < 3; i++) x[i] = &f->nodes[random_below(f->count)];
  bool logic = op == OP_AND || op == OP_OR || op == OP_NOT;
  for (int i = 0; i < 3; i++)
    if (x[i]->boolean != (logic || (op == OP_IF && i == 0))) return;
  if (op == OP_SMOOTH) x[0] = &f->nodes[9 + random_below(3)];
  for (int k = 0; k < DIRECTIONS; k++) {
    for (int i = 0; i < 3; i++) moved[i] = x[i]->z[k], at[i] = creal(moved[i]);
    bool table = op != OP_SUM && op != OP_CALL;
    if (table && (!op_evaluate(op, at, &ignored) || !is_regular(op, moved))) return;
    node->z[k] = plain_apply(op, moved);
  }
  if (!plain_bounded(node)) return;
  Expr arguments[3] = {x[0]->e, x[1]->e, x[2]->e};
  node->e = op == OP_SUM    ? dag_add(dag, x[0]->e, x[1]->e)
            : op == OP_CALL ? dag_subtract(dag, x[0]->e, x[1]->e)
                            : dag_nary(dag, op, arguments, (uint32_t)op_arity(op));
  node->boolean = logic || op_kind(op) == KIND_RELATION;
  f->count++;
}

static void check_plain(World *w, const Plain *node, const Point *point) {
  double slopes[DIRECTIONS];
  for (int k = 0; k < DIRECTIONS; k++) slopes[k] = moved_slope(node->z[k]);
  assert_near(w, "value", node->e, value_at(w, node->e, point), creal(node->z[0]), 1e-8);
  check_derivatives(w, node->e, point, slopes, 1e-6);
  Expr first = dag_time_derivative(w->dag, node->e), second = dag_time_derivative(w->dag, first);
  double expected = moved_slope(graph_along_time(w, first, point));
  if (fabs(expected) < 1e6) assert_near(w, "second derivative", node->e, value_at(w, second, point), expected, 1e-6);
}

static void test_random_expressions(void **state) {
  (void)state;
  static Forest forest;
  for (uint32_t round = 0; round < 300; round++) {
    World w = world_make(NULL);
    random_state = round;
    forest_plant(&forest, &w);
    uint32_t leaves = forest.count;
    for (int i = 0; i < 4000 && forest.count < PLAIN_MAX; i++) forest_grow(&forest);
    assert_true(forest.count > leaves + 10);
    for (uint32_t i = leaves; i < forest.count; i++) check_plain(&w, &forest.nodes[i], &forest.point);
    heap_destroy(w.heap);
  }
}

/* A printed text reads back to the same node, also that of a derivative. */
static void test_random_round_trip(void **state) {
  (void)state;
  static Forest forest;
  for (uint32_t round = 0; round < 300; round++) {
    World w = world_make(NULL);
    random_state = 77 + round;
    forest_plant(&forest, &w);
    for (int i = 0; i < 4000 && forest.count < PLAIN_MAX; i++) forest_grow(&forest);
    for (uint32_t i = 0; i < 2 * forest.count; i++) {
      Expr e = forest.nodes[i % forest.count].e;
      if (i >= forest.count) e = dag_time_derivative(w.dag, e);
      if (dag_count(w.dag, dag_scratch(w.dag), &e, 1) > 60) continue;
      char *text = print_text(&w, e);
      if (strlen(text) > 3000) continue;
      Expr again = read_text(&w, text);
      if (again != e) fail_msg("%s\nreads as\n%s", text, print_text(&w, again));
    }
    heap_destroy(w.heap);
  }
}

/* ---- normal form ---- */

static void test_equalities(void **state) {
  (void)state;
  static const char *const pairs[][2] = {
      {"x + y - x", "y"},
      {"x*y", "y*x"},
      {"(x + 1) - (1 + x)", "0"},
      {"-(-x)", "x"},
      {"x - x", "0"},
      {"2*x + 3*x", "5*x"},
      {"2*(x + y) - 2*y", "2*x"},
      {"0*x", "0"},
      {"0/x", "0"},
      {"x/1", "x"},
      {"x/x", "1"},
      {"x*x", "x^2"},
      {"x^2*x", "x^3"},
      {"x^5/x^2", "x^3"},
      {"x/x^3", "1/x^2"},
      {"x^(-2)", "1/x^2"},
      {"x^1", "x"},
      {"x^0", "1"},
      {"1^x", "1"},
      {"(x^2)^3", "x^6"},
      {"(-x)^2", "x^2"},
      {"(2*x)^2", "4*x^2"},
      {"(1/x)*(1/x)", "1/x^2"},
      {"x^0.5", "sqrt(x)"},
      {"sqrt(x)^2", "x"},
      {"sqrt(x)*sqrt(x)", "x"},
      {"sqrt(x^2)", "abs(x)"},
      {"sqrt(x^4)", "x^2"},
      {"abs(-3*x)", "3*abs(x)"},
      {"abs(x)^2", "x^2"},
      {"(2*x)*(3*y)", "6*(x*y)"},
      {"(2*x)/y", "2*(x/y)"},
      {"(2*x)/3", "2*(x/3)"},
      {"x*(1/y)", "x/y"},
      {"(-x)/y", "-(x/y)"},
      {"x/(-y)", "-(x/y)"},
      {"x/(-3)", "-x/3"},
      {"-3/x", "-(3/x)"},
      {"sin(-x)", "-sin(x)"},
      {"cos(-x)", "cos(x)"},
      {"exp(log(x))", "x"},
      {"log(exp(x))", "x"},
      {"sin(0)", "0"},
      {"2^10", "1024"},
      {"6/4", "1.5"},
      {"if true then x else y", "x"},
      {"if x > 0 then y else y", "y"},
      {"if not x > 0 then y else z", "if x > 0 then z else y"},
      {"not not (x > 0)", "x > 0"},
      {"x > 0 and true", "x > 0"},
      {"x > 0 and false", "false"},
      {"x > 0 or true", "true"},
      {"false or x > 0", "x > 0"},
      {"1 < 2", "true"},
      {"x < x", "false"},
      {"x >= x", "true"},
      {"\"a\" == \"b\"", "false"},
      {"\"a\" == \"a\"", "true"},
      {"min(x, y)", "min(y, x)"},
      {"max(x, x)", "x"},
      {"mod(7, 3)", "1"},
      {"noEvent(x + sin(y))", "x + sin(y)"},
      {"noEvent(noEvent(abs(x)))", "noEvent(abs(x))"},
      {"smooth(1, x*y)", "x*y"},
      {"homotopy(x, x)", "x"},
      {"semiLinear(x, y, y)", "x*y"},
      {"edge(d)", "d and not pre(d)"},
      {"change(d)", "d <> pre(d)"},
      {"edge(p)", "false"},
      {"der(sin(x)*x)", "sin(x)*der(x) + x*(cos(x)*der(x)) + 0*y"},
      {"der(time^2)", "2*time"},
      {"der(p*x)", "p*der(x)"},
      {"der(noEvent(abs(x)*x))", "noEvent(der(abs(x)*x))"},
      {"der(if x > 0 then x^2 else y)", "if x > 0 then 2*x*der(x) else der(y)"},
      {"der(homotopy(x^2, y))", "homotopy(2*x*der(x), der(y))"},
      {"der(smooth(1, if x > 0 then x^2 else 0))", "smooth(0, if x > 0 then 2*x*der(x) else 0)"},
      {"der(floor(x))", "0"},
      {"der(delay(x*y, 2))", "delay(x*der(y) + y*der(x), 2)"},
      {"der(delay(x, p))", "delay(der(x), p)"},
      {"der(sqrt(x))", "0.5*(der(x)/sqrt(x))"},
      {"der(1/x)", "-(1/x*der(x)/x)"},
  };
  World w = world_make(NULL);
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    Expr a = read_text(&w, pairs[i][0]), b = read_text(&w, pairs[i][1]);
    if (a != b) fail_msg("%s is %s, not %s", pairs[i][0], print_text(&w, a), print_text(&w, b));
  }
  heap_destroy(w.heap);
}

/* Expressions that must stay as they are, because their value would change or their text would lose information. */
static void test_kept(void **state) {
  (void)state;
  static const char *const texts[] = {
      "x/y*y",
      "x/3",
      "1/0",
      "0/0",
      "sqrt(-1)",
      "log(0)",
      "x - 1 > 0",
      "x > y + 1",
      "sqrt(x^3)",
      "z*(x + y)",
      "x < y",
      "homotopy(1, 2)",
      "sqrt(x^2 + y^2)",
      "x^y",
      "0^x",
      "(-2)^x",
      "smooth(0, abs(x))",
      "noEvent(x > 0)",
      "sample(0, 1)",
      "initial()",
  };
  World w = world_make(NULL);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const char *text = print_text(&w, read_text(&w, texts[i]));
    if (strcmp(text, texts[i]) != 0) fail_msg("%s became %s", texts[i], text);
  }
  /* 1e200*(1e200*x) has a value where 1e400*x has none. */
  Expr x = dag_variable(w.dag, 0, 0), big = dag_scale(w.dag, 1e200, dag_scale(w.dag, 1e200, x));
  Point point = {.x = {{1e-300}}};
  assert_true(value_at(&w, big, &point) == 1e200 * (1e200 * 1e-300));
  heap_destroy(w.heap);
}

static void test_prints(void **state) {
  (void)state;
  static const char *const pairs[][2] = {
      {"3 - y + 2*x", "2*x - y + 3"},
      {"-x - y", "-x - y"},
      {"-x - 1", "-x - 1"},
      {"3 - x", "3 - x"},
      {"y - x", "y - x"},
      {"0 - 2*x", "-2*x"},
      {"x*(y*z)", "y*z*x"},
      {"(x*y)*(z*p)", "x*y*(z*p)"},
      {"x/(y*z)", "x/(y*z)"},
      {"x/y/z", "x/y/z"},
      {"x/(y/z)", "x/(y/z)"},
      {"(x + y)*z", "z*(x + y)"},
      {"3*((x + y)*z)", "3*z*(x + y)"},
      {"3*((x + y)/z)", "3*((x + y)/z)"},
      {"3*((x + y)*(x - y))", "3*((x + y)*(x - y))"},
      {"-(x^2)", "-x^2"},
      {"(-x)^3", "-x^3"},
      {"(x + 1)^2", "(x + 1)^2"},
      {"(x^y)^z", "(x^y)^z"},
      {"x^(-1.5)", "x^(-1.5)"},
      {"2*(1/x)", "2*(1/x)"},
      {"2*(3/x/y)", "2*(3/x/y)"},
      {"3*(x/(3*x)*x)", "3*(x/(3*x)*x)"}, /* not 3*x/(3*x)*x, which is x */
      {"2*(x/y)", "2*x/y"},
      {"x + (if y > 0 then 1 else 2)", "x + (if y > 0 then 1 else 2)"},
      {"if x > 0 then 1 else if y > 0 then 2 else 3", "if x > 0 then 1 elseif y > 0 then 2 else 3"},
      {"if x > 0 then (if y > 0 then 1 else 2) else 3", "if x > 0 then (if y > 0 then 1 else 2) else 3"},
      {"if x > 0 then y > 0 else false", "if x > 0 then y > 0 else false"},
      {"e == true", "e == true"},
      {"d == 1", "d == 1"},
      {"x > 0 and (y > 0 or z > 0)", "x > 0 and (y > 0 or z > 0)"},
      {"(x > 0 and y > 0) or z > 0", "x > 0 and y > 0 or z > 0"},
      {"not (x > 0 and y > 0)", "not (x > 0 and y > 0)"},
      {"not x > 0", "not x > 0"},
      {"(x > 0) == (y > 0)", "(x > 0) == (y > 0)"},
      {"x > -1", "x > -1"},
      {"atan2(-1, x)", "atan2(-1, x)"},
      {"0.1*x", "0.1*x"},
      {"1e-300 + 123456789012345680.0", "1.2345678901234568e+17"},
      {"0.30000000000000004", "0.30000000000000004"},
      {"1/3", "0.3333333333333333"},
      {"f(x, y + 1)", "f(x, y + 1)"},
      {"der(f(x, 2))", "der(x)*f$d1(x, 2)"},
      {"der(der(x))", "der(der(x))"},
      {"pre(d)", "pre(d)"},
      {"time", "time"},
      {"initial() or x > 1", "initial() or x > 1"},
      {"delay(x, 1, 2)", "delay(x, 1, 2)"},
      {"String(x)", "String(x)"},
      {"\"say \\\"a\\nb\\\"\" == String(x)", "\"say \\\"a\\nb\\\"\" == String(x)"},
  };
  World w = world_make(NULL);
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    Expr e = read_text(&w, pairs[i][0]);
    const char *text = print_text(&w, e);
    if (strcmp(text, pairs[i][1]) != 0) fail_msg("%s prints as %s, not %s", pairs[i][0], text, pairs[i][1]);
    if (!strchr(text, '$')) assert_int_equal(read_text(&w, text), e);
  }
  TextVec text = {0};
  LeafPrinter boolean = printer;
  boolean.place = VALUE_BOOLEAN;
  dag_print(w.dag, read_text(&w, "if x > 0 then d else true"), &boolean, w.heap, &text);
  assert_string_equal(text.data, "if x > 0 then d else true");
  heap_destroy(w.heap);
  w = world_make(NULL);
  text = (TextVec){0};
  dag_print(w.dag, read_text(&w, "der(x)*p + pre(d) + f(y)"), NULL, w.heap, &text);
  assert_string_equal(text.data, "der(x1)*p1 + pre(d1) + f1(x2)");
  heap_destroy(w.heap);
}

/* ---- growth, size, depth ---- */

static void test_derivative_growth(void **state) {
  (void)state;
  World w = world_make(NULL);
  Expr e = read_text(&w, "sin(x)*exp(x*y)");
  uint32_t counts[13];
  for (int order = 0; order <= 12; order++) {
    counts[order] = dag_count(w.dag, dag_scratch(w.dag), &e, 1);
    e = dag_time_derivative(w.dag, e);
  }
  assert_true(counts[10] <= 1200);
  for (uint32_t n = 1; n <= 12; n++) assert_true(counts[n] <= 3 * n * n + 10 * n + 10); /* quadratic */
  /* Asking twice makes no new nodes. */
  uint32_t size = dag_size(w.dag);
  e = read_text(&w, "sin(x)*exp(x*y)");
  for (int order = 0; order < 12; order++) e = dag_time_derivative(w.dag, e);
  assert_int_equal(dag_size(w.dag), size);
  heap_destroy(w.heap);
}

static void test_long_sums(void **state) {
  (void)state;
  enum { COUNT = 70000 };
  World w = world_make(NULL);
  Dag *dag = w.dag;
  Term *terms = heap_array(w.heap, COUNT, sizeof *terms);
  for (uint32_t i = 0; i < COUNT; i++) /* a permutation, so that there is something to sort */
    terms[i] = (Term){1 + i % 3, dag_variable(dag, (uint32_t)((uint64_t)i * 48271 % COUNT), 0)};
  Expr e = dag_sum(dag, 2, terms, COUNT);
  double constant;
  const Term *list;
  assert_int_equal(dag_terms(dag, e, &constant, &list), COUNT);
  assert_true(constant == 2);
  for (uint32_t i = 1; i < COUNT; i++) assert_true(list[i - 1].node < list[i].node);
  for (uint32_t i = 0; i < COUNT / 2; i++) {
    Term swap = terms[i];
    terms[i] = terms[COUNT - 1 - i], terms[COUNT - 1 - i] = swap;
  }
  assert_int_equal(dag_sum(dag, 2, terms, COUNT), e);
  ExprVec leaves = {0}, partials = {0};
  dag_gradient(dag, e, &leaves, &partials);
  assert_int_equal(leaves.count, COUNT);
  for (uint32_t i = 0; i < COUNT; i++) assert_int_equal(dag_index(dag, leaves.data[i]), i);
  Expr derivative = dag_time_derivative(dag, e);
  assert_int_equal(dag_terms(dag, derivative, &constant, &list), COUNT);
  assert_int_equal(dag_subtract(dag, e, e), dag_constant(dag, 0));
  /* Term by term, in short nested sums: the cost is not quadratic. */
  Expr chain = dag_constant(dag, 0);
  for (uint32_t i = 0; i < 20000; i++) chain = dag_add(dag, chain, terms[i].node);
  leaves.count = 0;
  dag_variables(dag, dag_scratch(dag), chain, &leaves);
  assert_int_equal(leaves.count, 20000);
  for (uint32_t i = 1; i < leaves.count; i++) assert_true(leaves.data[i - 1] < leaves.data[i]);
  heap_destroy(w.heap);
}

/* One more level around e. */
static Expr wrap(Dag *dag, int shape, Expr e) {
  Expr x = dag_variable(dag, 0, 0), one = dag_constant(dag, 1), y = dag_variable(dag, 1, 0);
  switch (shape) {
  case 0: return dag_unary(dag, OP_SIN, e);
  case 1: return dag_divide(dag, one, dag_add(dag, one, e));
  case 2: return dag_if(dag, dag_binary(dag, OP_GREATER, x, dag_constant(dag, 0)), dag_multiply(dag, y, e), x);
  case 3: return dag_multiply(dag, dag_add(dag, e, one), y);
  default: return dag_call(dag, 0, 0, NULL, 0, (Expr[]){e, x}, 2);
  }
}

static void test_deep_nests(void **state) {
  (void)state;
  enum { DEPTH = 100000 };
  for (int shape = 0; shape < 5; shape++) {
    World w = world_make(NULL);
    Dag *dag = w.dag;
    Expr x = dag_variable(dag, 0, 0), e = x, slope, rest;
    for (int i = 0; i < DEPTH; i++) e = wrap(dag, shape, e);
    ExprVec leaves = {0}, partials = {0};
    Point point = {.x = {{0.7, 1}, {0.9, 1}}};
    double value;
    if (shape < 4) {
      assert_true(dag_evaluate(dag, dag_scratch(dag), e, point_value, &point, &value, NULL));
      assert_true(isfinite(value));
    }
    assert_true(dag_count(dag, dag_scratch(dag), &e, 1) >= DEPTH);
    Expr derivative = dag_time_derivative(dag, e);
    Expr partial = dag_partial(dag, e, x);
    dag_gradient(dag, e, &leaves, &partials);
    assert_int_equal(leaves.data[0], x);
    if (shape < 2) {
      double direct, swept;
      assert_true(dag_evaluate(dag, dag_scratch(dag), partial, point_value, &point, &direct, NULL));
      assert_true(dag_evaluate(dag, dag_scratch(dag), partials.data[0], point_value, &point, &swept, NULL));
      assert_true(fabs(direct - swept) <= 1e-9);
    }
    assert_true(dag_linear(dag, e, x, &slope, &rest) == (shape == 3));
    TextVec text = {0};
    dag_print(dag, e, NULL, w.heap, &text);
    assert_true(text.count > DEPTH);
    Expr y = dag_variable(dag, 2, 0), roots[2] = {e, derivative};
    dag_substitute(dag, &x, &y, 1, roots, 2);
    leaves.count = 0;
    dag_variables(dag, dag_scratch(dag), roots[0], &leaves);
    for (uint32_t i = 0; i < leaves.count; i++) assert_int_not_equal(leaves.data[i], x);
    heap_destroy(w.heap);
  }
}

/* ---- questions to the graph ---- */

static void test_linear(void **state) {
  (void)state;
  static const char *const cases[][3] = {
      {"3*x + y*x - z", "y + 3", "-z"},
      {"(x + y)/z", "1/z", "y/z"},
      {"p*(x - 1)*y", "p*y", "-(p*y)"},
      {"if y > 0 then 2*x else x + z", "if y > 0 then 2 else 1", "if y > 0 then 0 else z"},
      {"noEvent(if y > 0 then x else 0)", "noEvent(if y > 0 then 1 else 0)", "0"},
      {"homotopy(x*y, x)", "homotopy(y, 1)", "0"},
      {"y + 1", "0", "y + 1"},
      {"der(x) + y", "0", "der(x) + y"},
      {"x*x", NULL, NULL},
      {"sin(x)", NULL, NULL},
      {"y/x", NULL, NULL},
      {"if x > 0 then x else y", NULL, NULL},
      {"x*(x + y)", NULL, NULL},
  };
  World w = world_make(NULL);
  Expr x = dag_variable(w.dag, 0, 0), slope, rest;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bool linear = dag_linear(w.dag, read_text(&w, cases[i][0]), x, &slope, &rest);
    assert_int_equal(linear, cases[i][1] != NULL);
    if (!linear) continue;
    assert_string_equal(print_text(&w, slope), print_text(&w, read_text(&w, cases[i][1])));
    assert_string_equal(print_text(&w, rest), print_text(&w, read_text(&w, cases[i][2])));
  }
  heap_destroy(w.heap);
}

static void test_substitution(void **state) {
  (void)state;
  World w = world_make(NULL);
  Expr from[] = {read_text(&w, "x"), read_text(&w, "p")}, to[] = {read_text(&w, "y + 1"), dag_constant(w.dag, 2)};
  Expr roots[] = {read_text(&w, "x - y"), read_text(&w, "sin(p*x)"), read_text(&w, "f(x)*der(x)"), read_text(&w, "z")};
  dag_substitute(w.dag, from, to, 2, roots, 4);
  assert_int_equal(roots[0], dag_constant(w.dag, 1));
  assert_int_equal(roots[1], read_text(&w, "sin(2*y + 2)"));
  assert_int_equal(roots[2], read_text(&w, "f(y + 1)*der(x)"));
  assert_int_equal(roots[3], read_text(&w, "z"));
  heap_destroy(w.heap);
}

static void test_contents(void **state) {
  (void)state;
  World w = world_make(NULL);
  Dag *dag = w.dag;
  Expr e = read_text(&w, "if noEvent(x > 0) then sin(p)*time else y");
  assert_true(dag_depends(dag, e, OP_PARAMETER) && dag_depends(dag, e, OP_TIME) &&
              dag_contains(dag, dag_scratch(dag), e, OP_SIN));
  assert_false(dag_depends(dag, e, OP_DISCRETE) || dag_contains(dag, dag_scratch(dag), e, OP_COS));
  assert_false(dag_has_event(dag, e));
  assert_true(dag_has_event(dag, read_text(&w, "sin(abs(x))")));
  ExprVec leaves = {0};
  dag_variables(dag, dag_scratch(dag), e, &leaves);
  assert_int_equal(leaves.count, 2);
  heap_destroy(w.heap);
}

/* An inactive branch may be undefined and have no derivative; a branch that is used must be defined. */
static void test_guards(void **state) {
  (void)state;
  World w = world_make(NULL);
  Point point = {.x = {{0, 1}, {-1, 0}}};
  double value;
  Expr where, e = read_text(&w, "if x > 0 then sqrt(x) else 3*x");
  assert_true(value_at(&w, e, &point) == 0);
  ExprVec leaves = {0}, partials = {0};
  dag_gradient(w.dag, read_text(&w, "2*(if x > 0 then sqrt(x) else 3*x)"), &leaves, &partials);
  assert_int_equal(leaves.count, 1);
  assert_true(value_at(&w, partials.data[0], &point) == 6);
  assert_true(value_at(&w, dag_time_derivative(w.dag, e), &point) == 3);
  assert_true(value_at(&w, read_text(&w, "if noEvent(y > 0 and log(y) > 1) then 1 else 2"), &point) == 2);
  e = read_text(&w, "1 + sqrt(y)");
  assert_false(dag_evaluate(w.dag, dag_scratch(w.dag), e, point_value, &point, &value, &where));
  assert_int_equal(where, read_text(&w, "sqrt(y)"));
  heap_destroy(w.heap);
}

/* Relations within noEvent stay there in every derivative. */
static void test_no_event_derivatives(void **state) {
  (void)state;
  static const char *const texts[] = {"noEvent(if x > 0 then exp(x*abs(y)) else floor(y)*x)",
                                      "noEvent(mod(x, y))*min(x, y)",
                                      "abs(x)*0 + noEvent(max(x, y)*semiLinear(x, y, 2))"};
  World w = world_make(NULL);
  for (size_t i = 0; i < 3; i++) {
    Expr e = read_text(&w, texts[i]);
    ExprVec leaves = {0}, partials = {0};
    if (i == 1) e = dag_unary(w.dag, OP_NOEVENT, e);
    assert_false(dag_has_event(w.dag, e));
    dag_gradient(w.dag, e, &leaves, &partials);
    assert_int_equal(leaves.count, 2);
    for (uint32_t k = 0; k < 2; k++) assert_false(dag_has_event(w.dag, partials.data[k]));
    assert_false(dag_has_event(w.dag, dag_time_derivative(w.dag, e)));
  }
  heap_destroy(w.heap);
}

static void test_calls(void **state) {
  (void)state;
  World w = world_make(NULL);
  Dag *dag = w.dag;
  Expr x = dag_variable(dag, 0, 0), y = dag_variable(dag, 1, 0);
  Expr call = dag_call(dag, 3, 1, NULL, 0, (Expr[]){x, y, dag_constant(dag, 2)}, 3);
  assert_int_equal(call, dag_call(dag, 3, 1, NULL, 0, (Expr[]){x, y, dag_constant(dag, 2)}, 3));
  assert_int_not_equal(call, dag_call(dag, 3, 0, NULL, 0, (Expr[]){x, y, dag_constant(dag, 2)}, 3));
  Expr mixed = dag_partial(dag, dag_partial(dag, call, y), x);
  assert_int_equal(mixed, dag_partial(dag, dag_partial(dag, call, x), y));
  CallInfo info = dag_call_info(dag, mixed);
  assert_true(info.function == 3 && info.output == 1 && info.partial_count == 2);
  assert_true(info.partials[0] == 0 && info.partials[1] == 1);
  TextVec text = {0};
  dag_print(dag, dag_time_derivative(dag, call), NULL, w.heap, &text);
  assert_string_equal(text.data, "f4$output2$d1(x1, x2, 2)*der(x1) + f4$output2$d2(x1, x2, 2)*der(x2)");
  heap_destroy(w.heap);
}

/* Every allocation of a run over all parts is refused once: nothing leaks. */
static void everything(Heap *heap) {
  World w = {.heap = heap};
  w.names = heap_alloc(heap, sizeof *w.names);
  *w.names = names_make(heap);
  w.dag = dag_new(heap, w.names);
  Expr e = read_text(&w, "sin(x)*exp(x*y) + max(x, 3*y)/(if x > 0 then f(x, y) else noEvent(abs(y))) - p*time^2");
  for (uint32_t i = 0; i < 100; i++)
    e = dag_add(w.dag, e, dag_power(w.dag, dag_variable(w.dag, 3 + i, 0), dag_time(w.dag)));
  ExprVec leaves = {0}, partials = {0};
  TextVec text = {0};
  dag_time_derivative(w.dag, e);
  dag_gradient(w.dag, e, &leaves, &partials);
  dag_partial(w.dag, e, leaves.data[0]);
  dag_print(w.dag, e, NULL, heap, &text);
  dag_substitute(w.dag, leaves.data, partials.data, 2, &e, 1);
}

static void test_refused_allocations(void **state) {
  (void)state;
  FAIL_ALLOC_EACH(fail) {
    jmp_buf point;
    Heap *heap = heap_new(&fail.hook);
    if (heap) {
      if (HEAP_TRY(heap, point)) {
        everything(heap);
        assert_int_equal(fail.refused, 0);
      } else {
        assert_int_equal(fail.refused, 1);
      }
    }
    heap_destroy(heap);
    assert_int_equal(fail.live, 0);
    if (fail.refuse > 400)
      fail.refuse += fail.refuse / 20; /* refuses each of the first 400 allocations, then only samples */
  }
}

/* Every new graph gives the same nodes for the same calls. */
static void test_deterministic(void **state) {
  (void)state;
  char *texts[2];
  uint32_t sizes[2];
  World w[2];
  for (int i = 0; i < 2; i++) {
    w[i] = world_make(NULL);
    Expr e = read_text(&w[i], "atan2(x*y, acosh(z))^2/(x + y*sin(z*x)) + min(x, y)*mod(x, z)");
    ExprVec leaves = {0}, partials = {0};
    dag_gradient(w[i].dag, dag_time_derivative(w[i].dag, e), &leaves, &partials);
    texts[i] = print_text(&w[i], partials.data[leaves.count - 2]);
    sizes[i] = dag_size(w[i].dag);
  }
  assert_string_equal(texts[0], texts[1]);
  assert_int_equal(sizes[0], sizes[1]);
  heap_destroy(w[0].heap);
  heap_destroy(w[1].heap);
}

/* ---- graphs over graphs ---- */

/* x0 + 2 x1 + ... + n x(n-1) */
static Expr long_sum(Dag *dag, uint32_t n) {
  Term *terms = malloc(n * sizeof *terms);
  assert_non_null(terms);
  for (uint32_t k = 0; k < n; k++) terms[k] = (Term){k + 1, dag_variable(dag, k, 0)};
  Expr e = dag_sum(dag, 0, terms, n);
  free(terms);
  return e;
}

static void check_long_sum(const Dag *dag, Expr e, uint32_t n) {
  double constant;
  const Term *terms;
  assert_int_equal(dag_terms(dag, e, &constant, &terms), n);
  for (uint32_t k = 0; k < n; k++) assert_true(terms[k].coefficient == k + 1);
}

/* Two graphs over one, and one over these: a node made in one is found in those above, and in no other. */
static void test_layers(void **state) {
  (void)state;
  World w = world_make(NULL);
  enum { FEW = 3000, MANY = 10000 };
  Expr few = long_sum(w.dag, FEW), many = long_sum(w.dag, MANY); /* less and more than a piece of a pool */
  Dag *first = dag_over(w.dag, w.heap, w.names), *second = dag_over(w.dag, w.heap, w.names);
  Expr x = dag_variable(w.dag, 0, 0), y = dag_variable(w.dag, 1, 0);
  uint32_t size = dag_size(w.dag);
  assert_int_equal(dag_multiply(first, x, y), size);
  Expr product = dag_multiply(first, x, y), quotient = dag_divide(second, x, y);
  assert_int_equal(product, quotient); /* one index, two meanings */
  assert_int_equal(dag_op(first, product), OP_MULTIPLY);
  assert_int_equal(dag_op(second, quotient), OP_DIVIDE);
  assert_int_equal(dag_size(w.dag), size);
  Dag *third = dag_over(first, w.heap, w.names);
  assert_int_equal(dag_multiply(third, x, y), product);
  assert_int_equal(long_sum(third, MANY), many);
  assert_int_equal(long_sum(third, FEW), few);
  /* Nodes that are added to the graph below later are not visible above. */
  for (uint32_t k = 0; k < 20000; k++) dag_unary(w.dag, OP_SIN, dag_variable(w.dag, k, 1));
  long_sum(w.dag, MANY + 1);
  Expr sine = dag_unary(third, OP_SIN, dag_variable(third, 7, 1));
  assert_int_equal(dag_op(third, sine), OP_SIN);
  assert_true(sine > product && sine < product + 10);
  assert_int_equal(dag_op(third, product), OP_MULTIPLY);
  check_long_sum(third, few, FEW);
  check_long_sum(third, many, MANY);
  check_long_sum(w.dag, long_sum(w.dag, MANY + 1), MANY + 1);
  assert_int_equal(dag_known_parameter(third, 3), EXPR_NONE);
  assert_int_equal(dag_known_parameter(third, 3), dag_known_parameter(w.dag, 3));
  Expr p = dag_parameter(first, 3);
  assert_int_equal(dag_known_parameter(first, 3), p);
  assert_int_equal(dag_known_parameter(third, 3), EXPR_NONE); /* made after it */
  heap_destroy(w.heap);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_operator),
      cmocka_unit_test(test_domains),
      cmocka_unit_test(test_integer_operators),
      cmocka_unit_test(test_random_expressions),
      cmocka_unit_test(test_random_round_trip),
      cmocka_unit_test(test_equalities),
      cmocka_unit_test(test_kept),
      cmocka_unit_test(test_prints),
      cmocka_unit_test(test_derivative_growth),
      cmocka_unit_test(test_long_sums),
      cmocka_unit_test(test_deep_nests),
      cmocka_unit_test(test_linear),
      cmocka_unit_test(test_substitution),
      cmocka_unit_test(test_contents),
      cmocka_unit_test(test_guards),
      cmocka_unit_test(test_no_event_derivatives),
      cmocka_unit_test(test_layers),
      cmocka_unit_test(test_calls),
      cmocka_unit_test(test_refused_allocations),
      cmocka_unit_test(test_deterministic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
