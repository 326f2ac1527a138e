/* Runs step by step: clones continue with the same bits through events, and the state-space form agrees with the run. */
#include "daedal.h"
#include "tier.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const EXAMPLES[] = {"events/bouncing_ball.mo",
                                       "events/thermostat.mo",
                                       "events/stick_slip.mo",
                                       "events/pwm_converter.mo",
                                       "events/rectifier.mo",
                                       "events/sampled_controller.mo",
                                       "pendulum.mo",
                                       "events/string_pendulum.mo",
                                       "events/ideal_clutch.mo",
                                       "double_pendulum.mo"};

typedef struct Bench {
  daedal_model *model;
  daedal_plan *plan;
  daedal_run *run;
  double stop;
} Bench;

static daedal_model *load_example(const char *example) {
  char path[1024];
  snprintf(path, sizeof path, "%s/examples/%s", getenv("SOURCE_DIR"), example);
  return daedal_load_file(path, NULL, NULL);
}

/* A run that has not started; method: NULL is the default. */
static Bench open_bench_by(const char *example, const char *method, double stop) {
  Bench bench = {.model = load_example(example), .stop = stop};
  daedal_options options = daedal_default_options();
  if (method) options.method = method;
  options.stop_time = stop;
  bench.plan = daedal_plan_make(bench.model, &options);
  bench.run = daedal_run_make(bench.plan);
  return bench;
}

static Bench open_bench(const char *example, double stop) {
  Bench bench = open_bench_by(example, NULL, stop);
  assert_int_equal(daedal_run_start(bench.run), DAEDAL_OK);
  return bench;
}

static void close_bench(Bench *bench) {
  daedal_free(bench->run);
  daedal_free(bench->plan);
  daedal_free(bench->model);
}

static void compare_clone(const char *example, Bench *bench, double until) {
  daedal_run *clone = daedal_run_clone(bench->run);
  assert_non_null(clone);
  assert_int_equal(daedal_run_advance(bench->run, until), DAEDAL_OK);
  assert_int_equal(daedal_run_advance(clone, until), DAEDAL_OK);
  const double *values = daedal_run_values(bench->run), *others = daedal_run_values(clone);
  for (uint32_t v = 0; v < daedal_variable_count(bench->model); v++)
    if (memcmp(&values[v], &others[v], sizeof *values) != 0)
      fail_msg("%s at %g: variable %u is %.17g and %.17g", example, until, v, values[v], others[v]);
  daedal_free(clone);
}

/* The report of the beginning, from daedal_initialize and from a run that has continued. */
static void compare_beginnings(const char *example, const char *method) {
  static const daedal_report_kind reports[] = {DAEDAL_REPORT_INITIAL, DAEDAL_REPORT_START_VALUES, DAEDAL_REPORT_CHOICE,
                                               DAEDAL_REPORT_REDUCED};
  daedal_model *model = load_example(example);
  daedal_options options = daedal_default_options();
  options.method = method;
  options.solver = "radau";
  options.stop_time = 2;
  daedal_result *begun = daedal_initialize(model, &options), *run = daedal_simulate(model, &options);
  for (size_t r = 0; r < sizeof reports / sizeof *reports && daedal_status_of(run) == DAEDAL_OK; r++) {
    const char *one = daedal_report(begun, reports[r], DAEDAL_TEXT),
               *other = daedal_report(run, reports[r], DAEDAL_TEXT);
    if (!one != !other || (one && strcmp(one, other) != 0))
      fail_msg("%s by %s, report %d:\n%s\nand\n%s", example, method, (int)r, one ? one : "", other ? other : "");
  }
  daedal_free(begun);
  daedal_free(run);
  daedal_free(model);
}

/* A run at half of an example's time, and its clone, can give all reports. */
static void read_clone(const char *example, const char *method) {
  Bench bench = open_bench_by(example, method, 2);
  if (daedal_run_start(bench.run) == DAEDAL_OK && daedal_run_advance(bench.run, 1) == DAEDAL_OK) {
    daedal_run *clone = daedal_run_clone(bench.run);
    daedal_free(bench.run);
    bench.run = clone;
    daedal_result *result = daedal_run_result(clone);
    const char *texts[] = {daedal_report(result, DAEDAL_REPORT_INITIAL, DAEDAL_TEXT),
                           daedal_report(result, DAEDAL_REPORT_START_VALUES, DAEDAL_TEXT),
                           daedal_report(result, DAEDAL_REPORT_CHOICE, DAEDAL_TEXT),
                           daedal_report(result, DAEDAL_REPORT_REDUCED, DAEDAL_TEXT),
                           daedal_report(result, DAEDAL_REPORT_RUN, DAEDAL_JSON)};
    assert_non_null(texts[4]);
  }
  close_bench(&bench);
}

static void clones_can_be_read(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof EXAMPLES / sizeof *EXAMPLES; k += tier_stride(2, 4))
    for (const char *const *method = daedal_method_names(); *method; method++) read_clone(EXAMPLES[k], *method);
}

static void beginnings_stay(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof EXAMPLES / sizeof *EXAMPLES; k++)
    for (const char *const *method = daedal_method_names(); *method; method++)
      if (strcmp(*method, "none") != 0 && /* its runs begin with a plan for the mode of the start */
          (tier_stride(1, 2) == 1 || !strcmp(*method, "dummy")))
        compare_beginnings(EXAMPLES[k], *method);
}

static void clones_go_on_alike(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof EXAMPLES / sizeof *EXAMPLES; k++) {
    Bench bench = open_bench(EXAMPLES[k], 2);
    for (int part = 1; part <= 4; part++) compare_clone(EXAMPLES[k], &bench, 0.5 * part);
    close_bench(&bench);
  }
}

/* Numbers that look random, the same in every run of the test. */
static double draw(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) / 9007199254740992.0;
}

static void must_agree(const char *what, const daedal_model *model, const double *a, const double *b) {
  for (uint32_t v = 0; v < daedal_variable_count(model); v++)
    if (memcmp(&a[v], &b[v], sizeof *a) != 0)
      fail_msg("%s: %s is %.17g and %.17g", what, daedal_variable_get(model, v).name, a[v], b[v]);
}

/* Advances from the time reached to `until`, in one advance or in `parts`, restored and cloned as often as possible; saving twice
 * is as good as once. A run that fails once fails each time. */
static void go_on_alike(const char *what, daedal_run *run, const daedal_model *model, double until, int parts) {
  uint32_t count = daedal_variable_count(model);
  double *first = malloc((count + 1) * sizeof *first), begin = daedal_run_time(run);
  daedal_state *state = daedal_run_save(run);
  daedal_run *clone = daedal_run_clone(run), *runs[] = {run, run, clone, run};
  daedal_status expected = DAEDAL_OK;
  if (!state || !clone) fail_msg("%s at %.17g: %s", what, begin, state ? "no clone" : "no state");
  for (int k = 0; k < 4; k++) {
    daedal_status status = DAEDAL_OK;
    if (k % 2) assert_int_equal(daedal_run_restore(run, state), DAEDAL_OK);
    for (int part = 1; part <= parts && status == DAEDAL_OK && !daedal_run_ended(runs[k]); part++)
      status = daedal_run_advance(runs[k], part < parts ? begin + (until - begin) * part / parts : until);
    if (!k) expected = status;
    if (status != expected) fail_msg("%s from %.17g: status %d and %d", what, begin, (int)expected, (int)status);
    if (status != DAEDAL_OK) continue;
    if (!k) memcpy(first, daedal_run_values(run), count * sizeof *first);
    else must_agree(what, model, first, daedal_run_values(runs[k]));
  }
  daedal_free(clone);
  daedal_state_free(run, state);
  free(first);
}

static void check_alike(daedal_model *model, const char *method, const char *solver, double stop, uint64_t *seed) {
  char what[200];
  snprintf(what, sizeof what, "%s by %s and %s", daedal_model_name(model), method, solver);
  daedal_options options = daedal_default_options();
  options.method = method;
  options.solver = solver;
  options.stop_time = stop;
  daedal_plan *plan = daedal_plan_make(model, &options);
  daedal_run *run = daedal_run_make(plan);
  for (int k = 0; k < 3 && daedal_run_start(run) == DAEDAL_OK; k++) {
    double from = stop * draw(seed), until = from + (stop - from) * draw(seed);
    if (daedal_run_advance(run, from) == DAEDAL_OK) go_on_alike(what, run, model, until, 1 + (int)(4 * draw(seed)));
  }
  daedal_free(run);
  daedal_free(plan);
}

/* Events of every kind, for all methods and solvers: structures that change, constraints, ideal diodes, sliding and termination. */
static void states_go_on_alike(void **state) {
  (void)state;
  static const char *const texts[] = {
      "model Pendulum Real x(start = 0.6), y(start = -0.8), u(start = 0), v, lam, g; Integer k(start = 0, fixed = "
      "true);\n"
      "equation der(x) = u; der(y) = v; der(u) = -lam*x; der(v) = -lam*y - g; x^2 + y^2 = 1;\n"
      "g = if x > 0 then 9.81 else 5; when x < 0 then k = pre(k) + 1; end when; end Pendulum;\n",
      "model Diode Real u, i, v(start = 0, fixed = true), s; Boolean off; equation off = s < 0; u = if off then s else "
      "0;\n"
      "i = if off then 0 else s; sin(20*time) - v = u + 0.1*i; der(v) = i - 0.5*v; end Diode;\n",
      "model Rope Real x(start = 0.5, fixed = true), y(start = 0, fixed = true), vx(start = 0, fixed = true),\n"
      "vy(start = 0, fixed = true), tension; Boolean taut(start = false, fixed = true); equation der(x) = vx; der(y) = "
      "vy;\n"
      "der(vx) = -tension*x; der(vy) = -tension*y - 9.81; 0 = if taut then x^2 + y^2 - 1 else tension;\n"
      "when x^2 + y^2 >= 1 then taut = true; elsewhen tension < 0 then taut = false; end when; end Rope;\n",
      "model Relays Real x(start = 0.4, fixed = true), y(start = -0.3, fixed = true), z(start = 0, fixed = true);\n"
      "equation der(x) = -1.5*sign(x - 0.3*sin(time)) + 0.2*y + 0.3*sin(2.3*time); der(y) = -1.2*sign(y) + 0.3*x;\n"
      "der(z) = x - 0.1*z; end Relays;\n",
      "model Ends Real x(start = 1, fixed = true), z; equation der(x) = if x > 0.5 then -1 else -0.1*z; z = x^2 + "
      "sin(time);\n"
      "when x < 0.45 then terminate(\"low\"); end when; end Ends;\n"};
  uint64_t seed = 12, turn = 0;
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    daedal_model *model = daedal_load_text(texts[k], strlen(texts[k]), NULL, NULL, NULL);
    assert_int_equal(daedal_status_of(model), DAEDAL_OK);
    for (const char *const *method = daedal_method_names(); *method; method++)
      for (const char *const *solver = daedal_solver_names(); *solver; solver++)
        if (turn++ % tier_stride(2, 17) == 0) check_alike(model, *method, *solver, 1.5, &seed);
    daedal_free(model);
  }
}

/* Restored repeatedly, also across changes of the structure, with states saved on either side of them: the lists of events and
 * pivots stay the run's own (for sanitizers and valgrind). */
static void restore_often(const char *example, const char *method) {
  Bench bench = open_bench_by(example, method, 1);
  daedal_run *run = bench.run;
  daedal_state *states[2] = {NULL, NULL};
  assert_int_equal(daedal_run_start(run), DAEDAL_OK);
  for (int k = 0; k < 2; k++) {
    assert_int_equal(daedal_run_advance(run, 0.3 + 0.4 * k), DAEDAL_OK);
    assert_non_null(states[k] = daedal_run_save(run));
  }
  for (int k = 0; k < 6; k++) {
    assert_int_equal(daedal_run_advance(run, 1), DAEDAL_OK);
    daedal_result *result = daedal_run_result(run);
    uint32_t events = (uint32_t)daedal_result_statistics(result).events;
    for (uint32_t e = 0; e < events; e++) assert_false(daedal_result_event(result, e).time > 1);
    assert_int_equal(daedal_run_restore(run, states[k % 2]), DAEDAL_OK);
  }
  close_bench(&bench);
}

static void states_are_restored_often(void **state) {
  (void)state;
  static const char *const methods[] = {"none", "dummy"};
  for (size_t k = 0; k < sizeof EXAMPLES / sizeof *EXAMPLES; k++)
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) restore_often(EXAMPLES[k], methods[m]);
}

/* The derivatives of the run at its own states, and the Jacobian by differences. */
static void check_form(const char *example, Bench *bench) {
  enum { MOST = 64 };
  double states[MOST], rates[MOST], high[MOST], low[MOST], jacobian[MOST * MOST];
  uint32_t n = daedal_run_state_count(bench->run);
  double t = daedal_run_time(bench->run);
  assert_in_range(n, 1, MOST);
  assert_int_equal(daedal_run_states(bench->run, states), DAEDAL_OK);
  assert_int_equal(daedal_run_rates(bench->run, t, states, rates), DAEDAL_OK);
  assert_int_equal(daedal_run_jacobian(bench->run, t, states, jacobian), DAEDAL_OK);
  for (uint32_t k = 0; k < n; k++) {
    double kept = states[k], delta = 1e-5 * (1 + fabs(kept));
    states[k] = kept + delta;
    assert_int_equal(daedal_run_rates(bench->run, t, states, high), DAEDAL_OK);
    states[k] = kept - delta;
    assert_int_equal(daedal_run_rates(bench->run, t, states, low), DAEDAL_OK);
    states[k] = kept;
    for (uint32_t i = 0; i < n; i++) {
      double difference = (high[i] - low[i]) / (2 * delta);
      if (!(fabs(jacobian[i + k * n] - difference) <= 1e-5 * (1 + fabs(difference))))
        fail_msg("%s: d rate %u / d state %u is %g, by differences %g", example, i, k, jacobian[i + k * n], difference);
    }
  }
}

static void form_has_its_derivatives(void **state) {
  (void)state;
  static const char *const examples[] = {"pendulum.mo", "double_pendulum.mo", "events/bouncing_ball.mo",
                                         "rc_circuit.mo"};
  for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
    Bench bench = open_bench(examples[k], 1);
    for (int part = 1; part <= 3; part++) {
      assert_int_equal(daedal_run_advance(bench.run, 0.25 * part), DAEDAL_OK);
      check_form(examples[k], &bench);
    }
    close_bench(&bench);
  }
}

/* The ball is above the ground while its indicator is positive, and evaluating other points does not move the run. */
static void indicators_tell_of_events(void **state) {
  (void)state;
  Bench bench = open_bench("events/bouncing_ball.mo", 1);
  double states[2], indicator;
  assert_int_equal(daedal_run_advance(bench.run, 0.2), DAEDAL_OK);
  assert_int_equal(daedal_run_indicator_count(bench.run), 1);
  assert_int_equal(daedal_run_states(bench.run, states), DAEDAL_OK);
  assert_int_equal(daedal_run_indicators(bench.run, 0.2, states, &indicator), DAEDAL_OK);
  assert_true(indicator > 0);
  states[0] = -0.5;
  assert_int_equal(daedal_run_indicators(bench.run, 0.2, states, &indicator), DAEDAL_OK);
  assert_true(indicator < 0);
  Bench other = open_bench("events/bouncing_ball.mo", 1);
  assert_int_equal(daedal_run_advance(bench.run, 1), DAEDAL_OK);
  assert_int_equal(daedal_run_advance(other.run, 1), DAEDAL_OK);
  uint32_t height = daedal_variable_find(bench.model, "h");
  assert_true(fabs(daedal_run_values(bench.run)[height] - daedal_run_values(other.run)[height]) < 1e-9);
  close_bench(&other);
  close_bench(&bench);
}

static void form_needs_a_start(void **state) {
  (void)state;
  double number = 0;
  assert_int_equal(daedal_run_state_count(NULL), 0);
  assert_int_equal(daedal_run_indicator_count(NULL), 0);
  assert_int_equal(daedal_run_states(NULL, &number), DAEDAL_USAGE);
  assert_int_equal(daedal_run_rates(NULL, 0, &number, &number), DAEDAL_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clones_go_on_alike),        cmocka_unit_test(states_go_on_alike),
      cmocka_unit_test(beginnings_stay),           cmocka_unit_test(clones_can_be_read),
      cmocka_unit_test(states_are_restored_often), cmocka_unit_test(form_has_its_derivatives),
      cmocka_unit_test(indicators_tell_of_events), cmocka_unit_test(form_needs_a_start)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
