/* bench: time of residuals and Jacobians by the tape and by compiled code against the same equations
 * written by hand in C (hand.h), measured in one run: the smallest time of many repeats, in turns. Prints a
 * table; exits 1 if a bar is missed: the tape at most 4 times, compiled code at most 1.2 times the
 * hand-written time, on the large models. */
#include "hand.h"

#include "code/compile.h"
#include "code/program.h"
#include "lang/lang.h"

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
  Layout layout;
  ExprVec rows;
  Residual *hand, *fused;
} Case;

static Heap *heap;
static Names names;

/* ---- the models, as Modelica text ---- */

/* Like hand_ladder; the text is that of a Modelica front end for the SciML benchmark RCCircuit. */
static void ladder_text(TextVec *text, int n) {
  text_printf(heap, text, "model Ladder\n  Real src_v; Real src_i; Real p0_v; Real gnd_i;\n");
  for (int i = 1; i <= n; i++)
    text_printf(heap, text,
                "parameter Real R%d=1.0/%d; parameter Real C%d=1.0/%d^2;\n"
                "Real r%d_v; Real r%d_i; Real r%d_pv; Real r%d_pi; Real r%d_nv; Real r%d_ni;\n"
                "Real c%d_v; Real c%d_i; Real c%d_pv; Real c%d_pi; Real c%d_nv; Real c%d_ni;\n",
                i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i);
  text_printf(heap, text,
              "equation\n  src_v = sin(20*3.141592653589793*time); p0_v = src_v; r1_pv = p0_v;\n"
              "  src_i + r1_pi = 0;\n");
  for (int i = 1; i <= n; i++) {
    text_printf(heap, text,
                "r%d_v = r%d_pv - r%d_nv; r%d_i = r%d_pi; r%d_pi + r%d_ni = 0; r%d_v = R%d*r%d_i;\n"
                "c%d_v = c%d_pv - c%d_nv; c%d_i = c%d_pi; c%d_pi + c%d_ni = 0; c%d_i = C%d*der(c%d_v);\n"
                "c%d_pv = r%d_nv; c%d_nv = 0;\n",
                i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i);
    if (i < n) text_printf(heap, text, "r%d_pv = r%d_nv; r%d_ni + r%d_pi + c%d_pi = 0;\n", i + 1, i, i, i + 1, i);
    else text_printf(heap, text, "r%d_ni + c%d_pi = 0;\n", i, i);
  }
  text_printf(heap, text, "gnd_i = 0;\nend Ladder;\n");
}

/* As hand_reactor. */
static void reactor_text(TextVec *text, int n) {
  text_printf(heap, text,
              "model Tube\n  parameter Real k=1; parameter Real diffusion=1; parameter Real heat=1;\n"
              "  parameter Real frequency=1; parameter Real activation=1; parameter Real radiation=1;\n"
              "  parameter Real ambient=1;\n");
  for (int i = 1; i <= n; i++) text_printf(heap, text, "Real T%d; Real c%d; Real rate%d; Real loss%d;\n", i, i, i, i);
  text_printf(heap, text, "equation\n");
  for (int i = 1; i <= n; i++) {
    int l = i > 1 ? i - 1 : i, r = i < n ? i + 1 : i;
    text_printf(heap, text,
                "rate%d = frequency*c%d*c%d*exp(-activation/T%d); loss%d = radiation*(T%d^4 - ambient^4);\n"
                "der(T%d) = k*(T%d - 2*T%d + T%d) + heat*rate%d - loss%d;\n"
                "der(c%d) = diffusion*(c%d - 2*c%d + c%d) - rate%d;\n",
                i, i, i, i, i, i, i, l, i, r, i, i, i, l, i, r, i);
  }
  text_printf(heap, text, "end Tube;\n");
}

/* Like hand_pendulum, except for the rows that are derivatives of its last equation. */
static void pendulum_text(TextVec *text, int n) {
  (void)n;
  text_printf(heap, text,
              "model Pendulum\n  parameter Real m=1; parameter Real g=1; parameter Real L=1;\n"
              "  Real x; Real y; Real F; Real u; Real v;\n"
              "equation\n  u = der(x); v = der(y);\n"
              "  m*der(u) = -x*F; m*der(v) = -y*F - m*g; x^2 + y^2 = L^2;\n"
              "end Pendulum;\n");
}

static Case case_load(const char *name, void (*write)(TextVec *text, int n), int sections) {
  Case c = {.name = name, .sections = sections};
  TextVec text = {0};
  write(&text, sections);
  Source *source = heap_alloc(heap, sizeof *source);
  *source = source_make(heap, name, text.data, text.count);
  Diags diags = diags_make(heap);
  c.model = lang_load(heap, &names, source, NULL, NULL, (LangOptions){0}, &diags);
  if (!c.model) {
    printf("%s: %s\n", name, diags.list.data[0].message);
    exit(1);
  }
  return c;
}

/* Each unknown has the columns up to its highest derivative in the rows. */
static void case_layout(Case *c) {
  uint32_t unknowns = c->model->unknowns.count;
  uint32_t *start = heap_array(heap, unknowns + 1, sizeof *start);
  ExprVec leaves = {0};
  for (uint32_t r = 0; r < c->rows.count; r++)
    dag_variables(c->model->dag, dag_scratch(c->model->dag), c->rows.data[r], &leaves);
  for (uint32_t k = 0; k < leaves.count; k++) {
    uint32_t columns = dag_order(c->model->dag, leaves.data[k]) + 1,
             *own = &start[dag_index(c->model->dag, leaves.data[k]) + 1];
    if (columns > *own) *own = columns;
  }
  for (uint32_t j = 0; j < unknowns; j++) start[j + 1] += start[j];
  c->layout = (Layout){unknowns, start[unknowns], start};
  vec_free(heap, &leaves);
}

static Case large_case(const char *name, void (*write)(TextVec *text, int n), int sections, Residual *hand,
                       Residual *fused) {
  Case c = case_load(name, write, sections);
  c.is_large = true;
  c.hand = hand;
  c.fused = fused;
  for (uint32_t i = 0; i < c.model->equations.count; i++) vec_push(heap, &c.rows, c.model->equations.data[i].residual);
  case_layout(&c);
  return c;
}

/* The derivative array of the pendulum over x, y, F: velocities substituted, and the constraint differentiated twice. */
static Case pendulum_case(void) {
  Case c = case_load("pendulum array", pendulum_text, 1);
  Dag *dag = c.model->dag;
  c.hand = hand_pendulum;
  c.fused = fused_pendulum;
  Expr rows[5];
  for (uint32_t r = 0; r < 3; r++) rows[r] = c.model->equations.data[2 + r].residual;
  Expr from[2] = {dag_variable(dag, 3, 1), dag_variable(dag, 4, 1)};
  Expr to[2] = {dag_variable(dag, 0, 2), dag_variable(dag, 1, 2)};
  dag_substitute(dag, from, to, 2, rows, 3);
  rows[3] = dag_time_derivative(dag, rows[2]);
  rows[4] = dag_time_derivative(dag, rows[3]);
  for (uint32_t r = 0; r < 5; r++) vec_push(heap, &c.rows, rows[r]);
  case_layout(&c);
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
      heap_array(heap, c->layout.columns, sizeof(double)), heap_array(heap, c->model->parameters.count, sizeof(double)),
      heap_array(heap, c->rows.count, sizeof(double)),     heap_array(heap, c->rows.count, sizeof(double)),
      heap_array(heap, nonzeros, sizeof(double)),          {.time = 0}};
  for (uint32_t i = 0; i < c->layout.columns; i++) v.y[i] = 1 + 0.5 * sin(0.37 * i);
  for (uint32_t i = 0; i < c->model->parameters.count; i++) v.p[i] = 1 + 0.25 * cos(0.73 * i);
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

/* Compiles a second copy of the programs; NAN if there is no compiler. */
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
  Program *compiled[2] = {program_new(heap, c->model, &c->layout, c->rows.data, c->rows.count), second->program};
  double compiling = compile(compiled, 2);
  Workspace *work[] = {workspace_new(heap, tape), workspace_new(heap, jacobian->program),
                       workspace_new(heap, compiled[0]), workspace_new(heap, compiled[1])};
  Numbers v = numbers_make(c, jacobian->nonzeros);
  int calls = c->is_large ? 2 : 20000, repeats = c->is_large ? 60 : 20;
  double hand = INFINITY, fused = INFINITY, by_tape = INFINITY, by_code = INFINITY, jacobian_tape = INFINITY,
         jacobian_code = INFINITY;
  for (int i = 0; i < repeats; i++) {
    MEASURE(hand, calls, c->hand(c->sections, v.point.time, v.y, v.p, v.reference));
    MEASURE(fused, calls, c->fused(c->sections, v.point.time, v.y, v.p, v.out));
    MEASURE(by_code, calls, workspace_run(work[2], &v.point, v.out));
    MEASURE(jacobian_code, calls, workspace_run(work[3], &v.point, v.entries));
    MEASURE(by_tape, calls, workspace_run(work[0], &v.point, v.out));
    MEASURE(jacobian_tape, calls, workspace_run(work[1], &v.point, v.entries));
  }
  ProgramSize size = program_size(tape);
  double rows = c->rows.count, entries = jacobian->nonzeros;
  printf("%-14s %7u %7.2f %7.2f %7.2f %6.2f %9.2f %6.2f %9.2f %9.2f\n", c->name, c->rows.count, 1e9 * hand / rows,
         1e9 * fused / rows, 1e9 * by_tape / rows, by_tape / hand, 1e9 * by_code / rows, by_code / hand,
         1e9 * jacobian_tape / entries, 1e9 * jacobian_code / entries);
  printf("   built in %.1f ms, jacobian of %u entries in %.1f ms, compiled in %.0f ms; %u templates, %u "
         "instances, "
         "%u instructions; largest difference %.1e\n",
         1e3 * build, jacobian->nonzeros, 1e3 * build_jacobian, 1e3 * compiling, size.templates, size.instances,
         size.instructions, largest_difference(&v, c->rows.count));
  return !c->is_large || (by_tape <= 4 * hand && !(by_code > 1.2 * hand));
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 20000;
  heap = heap_new(NULL);
  jmp_buf point;
  if (!HEAP_TRY(heap, point)) return 1;
  names = names_make(heap);
  Case cases[] = {large_case("RC ladder", ladder_text, n, hand_ladder, fused_ladder),
                  large_case("reacting tube", reactor_text, n, hand_reactor, fused_reactor), pendulum_case()};
  bool is_met = true;
  printf("nanoseconds a row (an entry) and times the hand-written code\n"
         "%-14s %7s %7s %7s %7s %6s %9s %6s %9s %9s\n",
         "model", "rows", "hand", "(fused)", "tape", "times", "compiled", "times", "jac.tape", "jac.comp.");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) is_met = run_case(&cases[i]) && is_met;
  heap_destroy(heap);
  return is_met ? 0 : 1;
}
