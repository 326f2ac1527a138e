/* Stepping: advancing to times gives the values of a run, and a restored state continues bit for bit as before. */
#include "lang/lang.h"
#include "pipeline/pipeline.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char PENDULUM[] =
    "model P Real x(start = 1), y(start = 0, fixed = true), vx(start = 0), vy(start = 0, fixed = true), lambda;\n"
    "equation der(x) = vx; der(y) = vy; der(vx) = -lambda*x; der(vy) = -lambda*y - 9.81; x^2 + y^2 = 1; end P;\n";
static const char SWITCHED[] =
    "model S Real x(start = 0, fixed = true), v(start = 1, fixed = true); equation\n"
    "der(x) = v; der(v) = if x > 0.5 then -4*x else if sin(5*time) > 0 then 1 else -x; end S;\n";

static const char DELAYED[] =
    "model D Real x(start = 1, fixed = true), y, z; Integer n(start = 0, fixed = true); equation\n"
    "der(x) = -2*delay(x, 0.3) + delay(n, 0.2); y = delay(x, 0.2 + 0.1*sin(time), 1); z = delay(y, 0.15);\n"
    "when sample(0.25, 0.25) then n = 1 - pre(n); end when; end D;\n";
static const char PIPED[] = "model P Real x(start = 0, fixed = true), v, a, b, y(start = 1, fixed = true); equation\n"
                            "v = 2*cos(4*time) + 0.5; der(x) = v; der(y) = a - y + b; (a, b) = spatialDistribution(if "
                            "time > 0.3 then y else 1, \n"
                            "sin(9*time), x, v >= 0, {0, 0.5, 0.5, 1}, {1, 2, 3, 3}); end P;\n";
static const char SAMPLED[] =
    "model S Real x(start = 1, fixed = true); discrete Real u(start = 0, fixed = true); Integer n(start = 0, fixed = "
    "true);\n"
    "equation der(x) = x + u + n; when sample(0.05, 0.1) then u = -2*x - pre(n); n = pre(n) + 1; end when; end S;\n";

/* A planned model, and a run that has begun. */
typedef struct Bench {
  Heap *heap;
  Names names;
  Source source;
  Diags diags;
  Simulation simulation;
  size_t columns;
} Bench;

static Bench *bench_new(const char *text, const Method *method, const char *solver, double stop) {
  Heap *heap = heap_new(NULL);
  Bench *bench = heap_alloc(heap, sizeof *bench);
  bench->heap = heap;
  bench->names = names_make(heap);
  bench->diags = diags_make(heap);
  bench->source = source_make(heap, "test", text, (uint32_t)strlen(text));
  Model *model = lang_load(heap, &bench->names, &bench->source, NULL, NULL, (LangOptions){0}, &bench->diags);
  assert_non_null(model);
  const Integrator *integrator = integrator_find(solver);
  Request request = {
      .method = method,
      .is_stepped = true,
      .run = {.stop = stop, .tolerance = 1e-8, .integrator = integrator, .intervals = 1, .interval = stop}};
  assert_true(pipeline_simulate(&bench->simulation, heap, model, &request, &bench->diags));
  bench->columns = (size_t)bench->simulation.view->system.columns;
  return bench;
}

static double *advanced(Bench *bench, double t) {
  double *y = heap_array(bench->heap, bench->columns, sizeof *y);
  if (!simulation_advance(&bench->simulation, t, false)) fail_msg("%s", bench->diags.list.data[0].message);
  assert_true(run_time(bench->simulation.run) == t);
  memcpy(y, run_values(bench->simulation.run), bench->columns * sizeof *y);
  return y;
}

static void check(const char *text, const Method *method, const char *solver) {
  Bench *bench = bench_new(text, method, solver, 3), *straight = bench_new(text, method, solver, 3);
  double *direct = advanced(straight, 2.5);
  advanced(bench, 0.3);
  advanced(bench, 1);
  SimulationState *state = simulation_save(&bench->simulation, bench->heap);
  assert_non_null(state);
  Simulation clone;
  Heap *other = heap_new(NULL);
  assert_true(simulation_clone(&clone, other, &bench->simulation, state, &bench->diags));
  double *first = advanced(bench, 2.5);
  assert_true(simulation_advance(&clone, 2.5, false));
  assert_memory_equal(first, run_values(clone.run), bench->columns * sizeof *first);
  heap_destroy(other);
  advanced(bench, 3);
  for (int again = 0; again < 2; again++) {
    assert_true(simulation_restore(&bench->simulation, state));
    assert_true(run_time(bench->simulation.run) == 1);
    double *second = advanced(bench, 2.5);
    assert_memory_equal(first, second, bench->columns * sizeof *first);
  }
  for (size_t q = 0; q < bench->columns; q++)
    if (!(fabs(first[q] - direct[q]) <= 1e-4 * (1 + fabs(direct[q]))))
      fail_msg("%s: column %zu is %g, without a save %g", solver, q, first[q], direct[q]);
  heap_destroy(bench->heap);
  heap_destroy(straight->heap);
}

static void states_are_restored(void **state) {
  (void)state;
  static const char *const solvers[] = {"erk", "radau", "bdf"};
  for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++) {
    check(PENDULUM, &method_dummy, solvers[k]);
    check(SWITCHED, &method_dummy, solvers[k]);
    check(DELAYED, &method_dummy, solvers[k]);
    check(PIPED, &method_dummy, solvers[k]);
    check(SAMPLED, &method_dummy, solvers[k]);
  }
  check(PENDULUM, &method_strangeness, "bdf");
  check(PENDULUM, &method_ggl, "radau");
}

/* Events before the requested time are passed, and so is one at that time. */
static void events_are_passed(void **state) {
  (void)state;
  static const char ramp[] = "model R Real x(start = 0, fixed = true); equation der(x) = if time < 1 then 1 else if x "
                             "> 1.5 then -1 else 2; end R;\n";
  Bench *bench = bench_new(ramp, &method_dummy, "erk", 3);
  assert_true(fabs(advanced(bench, 0.5)[0] - 0.5) < 1e-9);
  assert_true(fabs(advanced(bench, 1)[0] - 1) < 1e-9);
  assert_true(fabs(advanced(bench, 1.2)[0] - 1.4) < 1e-9);
  heap_destroy(bench->heap);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(states_are_restored), cmocka_unit_test(events_are_passed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
