/* Runs that the caller steps, on every example. Advanced to random times, saved, restored and cloned on the way, they end where
 * one execution ends. A restored run continues bit for bit. */
#include "daedal.h"
#include "tier.h"

#include <float.h>
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Numbers that look random, the same in every run of the test. */
static double draw(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) / 9007199254740992.0;
}

static void must(const char *what, const daedal_run *run, daedal_status status) {
  if (status == DAEDAL_OK) return;
  daedal_result *result = daedal_run_result((daedal_run *)run);
  fail_msg("%s: status %d: %s", what, (int)status,
           daedal_diagnostic_count(result) ? daedal_diagnostic_get(result, daedal_diagnostic_count(result) - 1).message
                                           : "");
}

static double *copy_of(const char *what, const double *values, uint32_t count) {
  if (!values) fail_msg("%s: no values", what);
  double *copy = malloc((count + 1) * sizeof *copy);
  memcpy(copy, values, count * sizeof *copy);
  return copy;
}

static void must_equal(const char *path, const char *what, const daedal_model *model, const double *a, const double *b,
                       double tolerance) {
  for (uint32_t v = 0; v < daedal_variable_count(model); v++) {
    if ((isnan(a[v]) && isnan(b[v])) || fabs(a[v] - b[v]) <= tolerance * (1 + fabs(a[v]))) continue;
    fail_msg("%s, %s: %s is %.17g, and %.17g", path, what, daedal_variable_get(model, v).name, a[v], b[v]);
  }
}

/* The values at the end of an execution, one for each variable. */
static double *executed(const char *path, daedal_plan *plan, double *end) {
  daedal_run *run = daedal_run_make(plan);
  const daedal_model *model = daedal_plan_model(plan);
  must(path, run, daedal_run_execute(run));
  double *values = malloc((daedal_variable_count(model) + 1) * sizeof *values);
  for (uint32_t v = 0; v < daedal_variable_count(model); v++)
    values[v] = daedal_run_get(run, daedal_variable_get(model, v).name);
  *end = daedal_run_get(run, "time");
  daedal_free(run);
  return values;
}

/* Continues to `ahead`, then again from the state, and in a clone. */
static void go_thrice(const char *path, daedal_run *run, const daedal_model *model, double ahead) {
  uint32_t count = daedal_variable_count(model);
  daedal_state *state = daedal_run_save(run);
  daedal_run *clone = daedal_run_clone(run);
  assert_non_null(state);
  assert_non_null(clone);
  must(path, run, daedal_run_advance(run, ahead));
  double *values = copy_of(path, daedal_run_values(run), count),
         *rates = copy_of(path, daedal_run_derivatives(run), count);
  must(path, run, daedal_run_restore(run, state));
  must(path, run, daedal_run_advance(run, ahead));
  must_equal(path, "restored", model, values, daedal_run_values(run), 0);
  must_equal(path, "restored", model, rates, daedal_run_derivatives(run), 0);
  must(path, clone, daedal_run_advance(clone, ahead));
  must_equal(path, "cloned", model, values, daedal_run_values(clone), 1e-8);
  must(path, run, daedal_run_restore(run, state));
  daedal_state_free(run, state);
  daedal_free(clone);
  free(values);
  free(rates);
}

static void step_through(const char *path, double sameness, double max_step) {
  daedal_options options = daedal_default_options();
  options.tolerance = 1e-8;
  options.max_step = max_step;
  daedal_model *model = daedal_load_file(path, NULL, NULL);
  daedal_plan *plan = daedal_plan_make(model, &options);
  if (daedal_status_of(plan) != DAEDAL_OK) fail_msg("%s: %s", path, daedal_diagnostic_get(plan, 0).message);
  double start, stop, *direct = executed(path, plan, &stop);
  daedal_run *run = daedal_run_make(plan);
  assert_true(isnan(daedal_run_time(run)));
  assert_int_equal(daedal_run_advance(run, 1), DAEDAL_USAGE);
  must(path, run, daedal_run_start(run));
  start = daedal_run_time(run);
  uint64_t seed = daedal_variable_count(model);
  for (int k = 1; k < 4; k++) {
    double next = start + (stop - start) * (k + draw(&seed)) / 5;
    must(path, run, daedal_run_advance(run, next));
    assert_true(daedal_run_time(run) == next);
    go_thrice(path, run, model, next + (stop - start) / 6 * draw(&seed));
  }
  while (!daedal_run_ended(run)) must(path, run, daedal_run_step(run));
  assert_true(daedal_run_time(run) == stop);
  volatile double least = DBL_MIN;
  assert_true(least / 2 > 0); /* the arithmetic of the caller is as it was */
  must_equal(path, "stepped", model, direct, daedal_run_values(run), sameness);
  assert_int_equal(daedal_run_advance(run, start - 1), DAEDAL_USAGE);
  assert_non_null(daedal_report(daedal_run_result(run), DAEDAL_REPORT_RUN, DAEDAL_JSON));
  free(direct);
  daedal_free(run);
  daedal_free(plan);
  daedal_free(model);
}

static void each_example(const char *pattern, double sameness, double max_step) {
  char path[400];
  const char *source = getenv("SOURCE_DIR");
  snprintf(path, sizeof path, "%s/examples/%s", source ? source : ".", pattern);
  glob_t found;
  assert_int_equal(glob(path, 0, NULL, &found), 0);
  for (size_t k = 0; k < found.gl_pathc; k += tier_stride(1, 4)) step_through(found.gl_pathv[k], sameness, max_step);
  globfree(&found);
}

static void examples_are_stepped(void **state) {
  (void)state;
  each_example("*.mo", 1e-3, NAN);
}

/* Discrete variables start from the values set before a run, whether it is executed as a whole or stepped. */
static void discrete_starts_are_set(void **state) {
  (void)state;
  static const char text[] =
      "model D Integer d(start = 3, fixed = true); Boolean b(start = false, fixed = true); Real x(start = 0, fixed = "
      "true);\n"
      "equation der(x) = if b then d else 0; when sample(0.25, 0.5) then d = pre(d) + 1; end when; when x > 100 then b "
      "= false; end when; end D;\n";
  daedal_model *model = daedal_load_text(text, strlen(text), "D.mo", NULL, NULL);
  daedal_plan *plan = daedal_plan_make(model, NULL);
  for (int stepped = 0; stepped < 2; stepped++) {
    daedal_run *run = daedal_run_make(plan);
    must("D", run, daedal_run_set(run, "d", 10));
    must("D", run, daedal_run_set(run, "b", 1));
    assert_int_equal(daedal_run_set(run, "d", 2.5), DAEDAL_USAGE);
    must("D", run, stepped ? daedal_run_start(run) : daedal_run_execute(run));
    if (stepped) must("D", run, daedal_run_advance(run, 1));
    uint32_t x = daedal_variable_find(model, "x");
    double end = stepped ? daedal_run_values(run)[x] : daedal_run_get(run, "x");
    assert_true(fabs(end - (10 * 0.25 + 11 * 0.5 + 12 * 0.25)) < 1e-9);
    daedal_free(run);
  }
  daedal_free(plan);
  daedal_free(model);
}

/* Values set between steps hold at once, and the rest follows: the pendulum at rest, then pushed. */
static void values_are_set(void **state) {
  (void)state;
  static const char text[] =
      "model P parameter Real L = 1; Real x(start = 0, fixed = true), y(start = -1), u(start = 0, fixed = true), v, "
      "s;\n"
      "equation der(x) = u; der(y) = v; der(u) = -s*x; der(v) = -s*y - 9.81; x^2 + y^2 = L^2; end P;\n";
  daedal_model *model = daedal_load_text(text, strlen(text), "P.mo", NULL, NULL);
  daedal_plan *plan = daedal_plan_make(model, NULL);
  daedal_run *run = daedal_run_make(plan);
  uint32_t x = daedal_variable_find(model, "x"), u = daedal_variable_find(model, "u"),
           y = daedal_variable_find(model, "y"), v = daedal_variable_find(model, "v"),
           s = daedal_variable_find(model, "s"), length = daedal_variable_find(model, "L");
  assert_int_equal(daedal_run_set_value(run, length, 2), DAEDAL_OK);
  must("P", run, daedal_run_set(run, "y", -2));
  must("P", run, daedal_run_start(run));
  must("P", run, daedal_run_advance(run, 0.5));
  assert_true(fabs(daedal_run_values(run)[x]) < 1e-9);
  must("P", run, daedal_run_set_value(run, x, 1.2));
  must("P", run, daedal_run_set_value(run, u, 0.8));
  const double *values = daedal_run_values(run);
  assert_true(values[x] == 1.2 && values[u] == 0.8);
  assert_true(fabs(values[y] + 1.6) < 1e-9 && fabs(values[v] - 0.6) < 1e-9);
  assert_true(fabs(4 * values[s] - 1 - 1.6 * 9.81) < 1e-8);
  assert_int_equal(daedal_run_set_value(run, length, 3), DAEDAL_USAGE);
  assert_int_equal(daedal_run_set_value(run, 1000, 3), DAEDAL_USAGE);
  double *before = copy_of("P", values, daedal_variable_count(model)), at[6];
  must("P", run, daedal_run_advance(run, 0.6));
  assert_int_equal(daedal_run_interpolate(run, 2, at), DAEDAL_USAGE);
  must("P", run, daedal_run_interpolate(run, 0.6, at));
  must_equal("P", "interpolated", model, daedal_run_values(run), at, 0);
  assert_true(daedal_run_values(run)[x] != before[x]);
  free(before);
  daedal_run *clone = daedal_run_clone(run); /* with the values that were set */
  must("P", clone, daedal_run_execute(clone));
  assert_true(daedal_run_get(clone, "L") == 2);
  daedal_free(clone);
  daedal_free(run);
  daedal_free(plan);
  daedal_free(model);
}

static void variables_are_listed(void **state) {
  (void)state;
  static const char text[] =
      "model V parameter Integer n = 2; input Real u(unit = \"V\"); output Real z; Real w[2,3];\n"
      "Boolean b; constant Real c = 1; equation b = u > 1; z = u; w = fill(time, 2, 3); end V;\n";
  daedal_model *model = daedal_load_text(text, strlen(text), "V.mo", NULL, NULL);
  assert_int_equal(daedal_status_of(model), DAEDAL_OK);
  daedal_variable u = daedal_variable_get(model, daedal_variable_find(model, "u"));
  assert_string_equal(u.unit, "V");
  assert_int_equal(u.kind, DAEDAL_KIND_INPUT);
  daedal_variable w = daedal_variable_get(model, daedal_variable_find(model, "w[2,3]"));
  assert_int_equal(w.dimensions, 2);
  assert_int_equal(w.array_length, 1);
  assert_int_equal(w.kind, DAEDAL_KIND_CONTINUOUS);
  uint32_t sizes[2];
  assert_int_equal(daedal_array_sizes(model, "w", sizes, 2), 2);
  assert_true(sizes[0] == 2 && sizes[1] == 3);
  assert_int_equal(daedal_array_sizes(model, "u", sizes, 2), 0);
  daedal_variable b = daedal_variable_get(model, daedal_variable_find(model, "b"));
  assert_int_equal(b.kind, DAEDAL_KIND_DISCRETE);
  assert_int_equal(b.type, DAEDAL_TYPE_BOOLEAN);
  assert_true(daedal_variable_get(model, daedal_variable_find(model, "z")).is_output);
  assert_int_equal(daedal_variable_get(model, daedal_variable_find(model, "n")).type, DAEDAL_TYPE_INTEGER);
  assert_string_equal(daedal_variable_get(model, 1000).name, "");
  assert_int_equal(daedal_variable_find(model, "q"), UINT32_MAX);
  daedal_free(model);
}

/* A run whose structural parameter was set has its own model, but keeps the handles of the plan: with more and with fewer elements,
 * and with inputs. */
static void check_structural(daedal_plan *plan, uint32_t n) {
  enum { GUARD = 50 };
  const daedal_model *model = daedal_plan_model(plan);
  uint32_t count = daedal_variable_count(model);
  double *room = malloc((count + GUARD) * sizeof *room), sum = 0;
  for (uint32_t k = 0; k < count + GUARD; k++) room[k] = -7;
  daedal_run *run = daedal_run_make(plan);
  assert_int_equal(daedal_run_set(run, "n", n), DAEDAL_OK);
  must("structural", run, daedal_run_start(run));
  uint32_t u = daedal_variable_find(model, "u");
  assert_int_equal(daedal_run_set_value(run, u, 2), DAEDAL_OK);
  must("structural", run, daedal_run_advance(run, 0.5));
  must("structural", run, daedal_run_interpolate(run, 0.5, room));
  for (uint32_t k = count; k < count + GUARD; k++) assert_true(room[k] == -7);
  for (uint32_t k = 1; k <= n; k++) sum += exp(-0.5 * k);
  const double *values = daedal_run_values(run);
  assert_true(fabs(values[daedal_variable_find(model, "s")] - sum) < 1e-4);
  assert_true(fabs(values[daedal_variable_find(model, "z")] - 1) < 1e-4);
  assert_true(values[u] == 2 && values[daedal_variable_find(model, "n")] == n);
  assert_int_equal(isnan(values[daedal_variable_find(model, "x[2]")]), n < 2);
  for (uint32_t v = 0; v < count; v++) assert_true(values[v] == room[v] || (isnan(values[v]) && isnan(room[v])));
  const double *rates = daedal_run_derivatives(run);
  assert_true(fabs(rates[daedal_variable_find(model, "x[1]")] + exp(-0.5)) < 1e-4);
  daedal_free(run);
  free(room);
}

static void structural_parameters_are_stepped(void **state) {
  (void)state;
  static const char text[] =
      "model M parameter Integer n = 2; input Real u; Real x[n](each start = 1, each fixed = true);\n"
      "Real s = sum(x); Real z(start = 0, fixed = true);\n"
      "equation for i in 1:n loop der(x[i]) = -i*x[i]; end for; der(z) = u; end M;\n";
  static const uint32_t sizes[] = {400, 1, 2, 3};
  daedal_model *model = daedal_load_text(text, strlen(text), NULL, NULL, NULL);
  daedal_options options = daedal_default_options();
  options.inputs = &(daedal_input){.name = "u"};
  options.input_count = 1;
  options.overrides = &(daedal_override){"n", 3, NULL};
  for (int k = 0; k < 2; k++, options.override_count = 1) {
    daedal_plan *plan = daedal_plan_make(model, &options);
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) check_structural(plan, sizes[n]);
    daedal_free(plan);
  }
  daedal_free(model);
}

static void events_are_stepped(void **state) {
  (void)state;
  each_example("events/*.mo", 1e-4, 5e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(examples_are_stepped),
                                     cmocka_unit_test(events_are_stepped),
                                     cmocka_unit_test(discrete_starts_are_set),
                                     cmocka_unit_test(values_are_set),
                                     cmocka_unit_test(structural_parameters_are_stepped),
                                     cmocka_unit_test(variables_are_listed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
