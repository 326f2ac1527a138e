/* bench: time of residuals and Jacobians by the tape and by compiled code against the same equations
 * written by hand in C (hand.h), measured in one run: the smallest time of many repeats, in turns. Prints a
 * table; exits 1 if a bar is missed: the tape at most 4 times, compiled code at most 1.2 times the
 * hand-written time, on the large models. */
#include "hand.h"

#include "code/compile.h"
#include "code/program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Case {
  const char *name;
  int sections;
  bool is_large;
  Model *model;
  Dag *dag;
  Layout layout;
  uint32_t *column_start;
  uint32_t parameters;
  ExprVec rows;
  Residual *hand, *fused;
} Case;

static Heap *heap;
static Names names;

static Case case_make(const char *name, int sections, uint32_t unknowns) {
  Case c = {.name = name, .sections = sections};
  c.model = heap_alloc(heap, sizeof *c.model);
  c.model->heap = heap;
  c.model->names = &names;
  c.model->dag = c.dag = dag_new(heap, &names);
  c.column_start = heap_array(heap, unknowns + 1, sizeof *c.column_start);
  return c;
}

/* Unknown j has orders[j % period] columns, but for the first `head` unknowns, which have one. */
static void case_layout(Case *c, uint32_t unknowns, uint32_t head, const uint32_t *orders, uint32_t period) {
  for (uint32_t j = 0; j < unknowns; j++)
    c->column_start[j + 1] = c->column_start[j] + (j < head ? 1 : orders[(j - head) % period]);
  c->layout = (Layout){unknowns, c->column_start[unknowns], c->column_start};
}

static void row(Case *c, Expr left, Expr right) {
  vec_push(heap, &c->rows, dag_subtract(c->dag, left, right));
}

/* ---- the models ---- */

static Case ladder(int n) {
  enum { R_V, R_I, R_PV, R_PI, R_NV, R_NI, C_V, C_I, C_PV, C_PI, C_NV, C_NI, SECTION };
  static const uint32_t orders[SECTION] = {1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1};
  uint32_t unknowns = 4 + SECTION * (uint32_t)n;
  Case c = case_make("RC ladder", n, unknowns);
  case_layout(&c, unknowns, 4, orders, SECTION);
  c.parameters = 2 * (uint32_t)n;
  c.hand = hand_ladder;
  c.fused = fused_ladder;
  c.is_large = true;
  Dag *d = c.dag;
#define V(i, name) dag_variable(d, 4 + (uint32_t)(i)*SECTION + (name), 0)
  Expr zero = dag_constant(d, 0);
  row(&c, dag_variable(d, 0, 0), dag_unary(d, OP_SIN, dag_scale(d, 20 * 3.141592653589793, dag_time(d))));
  row(&c, dag_variable(d, 2, 0), dag_variable(d, 0, 0));
  row(&c, V(0, R_PV), dag_variable(d, 2, 0));
  row(&c, dag_add(d, dag_variable(d, 1, 0), V(0, R_PI)), zero);
  for (uint32_t i = 0; i < (uint32_t)n; i++) {
    row(&c, V(i, R_V), dag_subtract(d, V(i, R_PV), V(i, R_NV)));
    row(&c, V(i, R_I), V(i, R_PI));
    row(&c, dag_add(d, V(i, R_PI), V(i, R_NI)), zero);
    row(&c, V(i, R_V), dag_multiply(d, dag_parameter(d, 2 * i), V(i, R_I)));
    row(&c, V(i, C_V), dag_subtract(d, V(i, C_PV), V(i, C_NV)));
    row(&c, V(i, C_I), V(i, C_PI));
    row(&c, dag_add(d, V(i, C_PI), V(i, C_NI)), zero);
    row(&c, V(i, C_I),
        dag_multiply(d, dag_parameter(d, 2 * i + 1), dag_variable(d, 4 + i * SECTION + C_V, 1)));
    row(&c, V(i, C_PV), V(i, R_NV));
    row(&c, V(i, C_NV), zero);
    if (i + 1 < (uint32_t)n) {
      row(&c, V(i + 1, R_PV), V(i, R_NV));
      row(&c, dag_add(d, dag_add(d, V(i, R_NI), V(i + 1, R_PI)), V(i, C_PI)), zero);
    } else {
      row(&c, dag_add(d, V(i, R_NI), V(i, C_PI)), zero);
    }
  }
  row(&c, dag_variable(d, 3, 0), zero);
#undef V
  return c;
}

static Case reactor(int n) {
  enum { T_, C_, RATE, LOSS, CELL };
  static const uint32_t orders[CELL] = {2, 2, 1, 1};
  uint32_t unknowns = CELL * (uint32_t)n;
  Case c = case_make("reacting tube", n, unknowns);
  case_layout(&c, unknowns, 0, orders, CELL);
  c.parameters = 7;
  c.hand = hand_reactor;
  c.fused = fused_reactor;
  c.is_large = true;
  Dag *d = c.dag;
#define V(i, name) dag_variable(d, (uint32_t)(i)*CELL + (name), 0)
#define P(k) dag_parameter(d, k)
  Expr four = dag_constant(d, 4);
  for (int i = 0; i < n; i++) {
    int l = i > 0 ? i - 1 : i, r = i + 1 < n ? i + 1 : i;
    Expr t = V(i, T_), x = V(i, C_);
    Expr arrhenius = dag_unary(d, OP_EXP, dag_divide(d, dag_negate(d, P(4)), t));
    row(&c, V(i, RATE), dag_multiply(d, dag_multiply(d, dag_multiply(d, P(3), x), x), arrhenius));
    row(&c, V(i, LOSS),
        dag_multiply(d, P(5), dag_subtract(d, dag_power(d, t, four), dag_power(d, P(6), four))));
    Term heat[3] = {{1, V(l, T_)}, {-2, t}, {1, V(r, T_)}}, mass[3] = {{1, V(l, C_)}, {-2, x}, {1, V(r, C_)}};
    Expr gain = dag_add(d, dag_multiply(d, P(0), dag_sum(d, 0, heat, 3)), dag_multiply(d, P(2), V(i, RATE)));
    row(&c, dag_variable(d, (uint32_t)i * CELL + T_, 1), dag_subtract(d, gain, V(i, LOSS)));
    Expr inflow = dag_multiply(d, P(1), dag_sum(d, 0, mass, 3));
    row(&c, dag_variable(d, (uint32_t)i * CELL + C_, 1), dag_subtract(d, inflow, V(i, RATE)));
  }
#undef P
#undef V
  return c;
}

static Case pendulum(void) {
  static const uint32_t orders[3] = {3, 3, 1};
  Case c = case_make("pendulum array", 1, 3);
  case_layout(&c, 3, 0, orders, 3);
  c.parameters = 3;
  c.hand = hand_pendulum;
  c.fused = fused_pendulum;
  Dag *d = c.dag;
  Expr x = dag_variable(d, 0, 0), y = dag_variable(d, 1, 0), force = dag_variable(d, 2, 0),
       m = dag_parameter(d, 0);
  Expr two = dag_constant(d, 2), length = dag_parameter(d, 2), zero = dag_constant(d, 0);
  row(&c, dag_multiply(d, m, dag_variable(d, 0, 2)), dag_negate(d, dag_multiply(d, x, force)));
  row(&c, dag_multiply(d, m, dag_variable(d, 1, 2)),
      dag_subtract(d, dag_negate(d, dag_multiply(d, y, force)), dag_multiply(d, m, dag_parameter(d, 1))));
  row(&c, dag_add(d, dag_power(d, x, two), dag_power(d, y, two)), dag_power(d, length, two));
  Expr velocity = dag_time_derivative(d, c.rows.data[2]);
  row(&c, velocity, zero);
  row(&c, dag_time_derivative(d, velocity), zero);
  return c;
}

/* ---- measuring ---- */

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct Numbers {
  double *y, *p, *out, *reference, *entries;
  Point point;
} Numbers;

static Numbers numbers_make(const Case *c, uint32_t nonzeros) {
  Numbers v = {
      heap_array(heap, c->layout.columns, sizeof(double)), heap_array(heap, c->parameters, sizeof(double)),
      heap_array(heap, c->rows.count, sizeof(double)),     heap_array(heap, c->rows.count, sizeof(double)),
      heap_array(heap, nonzeros, sizeof(double)),          {.time = 0}};
  for (uint32_t i = 0; i < c->layout.columns; i++) v.y[i] = 1 + 0.5 * sin(0.37 * i);
  for (uint32_t i = 0; i < c->parameters; i++) v.p[i] = 1 + 0.25 * cos(0.73 * i);
  v.point = (Point){0.01, v.y, v.p, NULL, NULL};
  return v;
}

/* Smallest time of one call, over repeats of a batch that takes about a millisecond or more. */
#define MEASURE(best, calls, work)                   \
  do {                                               \
    double start = seconds();                        \
    for (int call = 0; call < (calls); call++) work; \
    double took = (seconds() - start) / (calls);     \
    if (took < (best)) (best) = took;                \
  } while (0)

static double largest_difference(const Numbers *v, uint32_t count) {
  double largest = 0;
  for (uint32_t i = 0; i < count; i++)
    largest = fmax(largest, fabs(v->out[i] - v->reference[i]) / fmax(1, fabs(v->reference[i])));
  return largest;
}

/* Compiles a second copy of the programs; NAN where there is no compiler. */
static double compile(Program **programs, uint32_t count) {
  Diags diags = diags_make(heap);
  double begin = seconds();
  if (program_compile(heap, programs, count, &diags)) return seconds() - begin;
  printf("%s\n", diags.list.data[0].message);
  return NAN;
}

static bool run_case(Case *c) {
  double begin = seconds();
  Program *tape = program_new(heap, c->model, &c->layout, c->rows.data, c->rows.count);
  double build = seconds() - begin;
  begin = seconds();
  Jacobian *jacobian = jacobian_new(heap, c->model, &c->layout, c->rows.data, c->rows.count, NULL, 0);
  double build_jacobian = seconds() - begin;
  Jacobian *second = jacobian_new(heap, c->model, &c->layout, c->rows.data, c->rows.count, NULL, 0);
  Program *compiled[2] = {program_new(heap, c->model, &c->layout, c->rows.data, c->rows.count),
                          second->program};
  double compiling = compile(compiled, 2);
  Numbers v = numbers_make(c, jacobian->nonzeros);
  int calls = c->is_large ? 2 : 20000, repeats = c->is_large ? 60 : 20;
  double hand = INFINITY, fused = INFINITY, by_tape = INFINITY, by_code = INFINITY, jacobian_tape = INFINITY,
         jacobian_code = INFINITY;
  for (int i = 0; i < repeats; i++) {
    MEASURE(hand, calls, c->hand(c->sections, v.point.time, v.y, v.p, v.reference));
    MEASURE(fused, calls, c->fused(c->sections, v.point.time, v.y, v.p, v.out));
    MEASURE(by_code, calls, program_run(compiled[0], &v.point, v.out));
    MEASURE(jacobian_code, calls, program_run(compiled[1], &v.point, v.entries));
    MEASURE(by_tape, calls, program_run(tape, &v.point, v.out));
    MEASURE(jacobian_tape, calls, jacobian_run(jacobian, &v.point, v.entries));
  }
  ProgramSize size = program_size(tape);
  double rows = c->rows.count, entries = jacobian->nonzeros;
  printf("%-14s %7u %7.2f %7.2f %7.2f %6.2f %9.2f %6.2f %9.2f %9.2f\n", c->name, c->rows.count,
         1e9 * hand / rows, 1e9 * fused / rows, 1e9 * by_tape / rows, by_tape / hand, 1e9 * by_code / rows,
         by_code / hand, 1e9 * jacobian_tape / entries, 1e9 * jacobian_code / entries);
  printf("   built in %.1f ms, jacobian of %u entries in %.1f ms, compiled in %.0f ms; %u templates, %u "
         "instances, "
         "%u instructions; largest difference %.1e\n",
         1e3 * build, jacobian->nonzeros, 1e3 * build_jacobian, 1e3 * compiling, size.templates,
         size.instances, size.instructions, largest_difference(&v, c->rows.count));
  return !c->is_large || (by_tape <= 4 * hand && !(by_code > 1.2 * hand));
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 20000;
  heap = heap_new(NULL);
  jmp_buf point;
  if (!HEAP_TRY(heap, point)) return 1;
  names = names_make(heap);
  Case cases[] = {ladder(n), reactor(n), pendulum()};
  bool is_met = true;
  printf("nanoseconds a row (an entry) and times the hand-written code\n"
         "%-14s %7s %7s %7s %7s %6s %9s %6s %9s %9s\n",
         "model", "rows", "hand", "(fused)", "tape", "times", "compiled", "times", "jac.tape", "jac.comp.");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) is_met = run_case(&cases[i]) && is_met;
  heap_destroy(heap);
  return is_met ? 0 : 1;
}
