/* The public interface: handles, options, statistics, errors as values. Refused allocations are in test_refusals.c. */
#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char PENDULUM[] =
    "model Pendulum \"rod\"\n"
    "  parameter Real g = 9.81; parameter Real L = 1;\n"
    "  Real x(start = 1, fixed = true); Real y(start = 0); Real u(start = 0, fixed = true); Real v; Real s;\n"
    "  Real w[2];\n"
    "  function f input Real a; output Real b; algorithm b := if a > 0 then a^2 else -a; end f;\n"
    "equation\n"
    "  der(x) = u; der(y) = v;\n"
    "  der(u) = -s*x; der(v) = -s*y - g;\n"
    "  x^2 + y^2 = L^2;\n"
    "  for i in 1:2 loop w[i] = i*f(x) + sum({k*y for k in 1:3}); end for;\n"
    "  annotation(experiment(StopTime = 1, Tolerance = 1e-7));\n"
    "end Pendulum;\n";

static daedal_model *load(const char *text, const daedal_allocator *allocator) {
  return daedal_load_text(text, strlen(text), "test", NULL, allocator);
}

static void load_analyze_simulate(void **state) {
  (void)state;
  daedal_model *model = load(PENDULUM, NULL);
  assert_int_equal(daedal_model_status(model), DAEDAL_OK);
  assert_string_equal(daedal_model_name(model), "Pendulum");
  assert_int_equal(daedal_model_counts(model).equations, 7);
  daedal_analysis analysis = daedal_analyze(model);
  assert_int_equal(analysis.structural_index, 3);
  assert_int_equal(analysis.dof, 2);
  daedal_options options = daedal_default_options();
  options.overrides = "L=2,x=2";
  daedal_result *result = daedal_simulate(model, &options);
  assert_int_equal(daedal_result_status(result), DAEDAL_OK);
  uint32_t x = daedal_result_find(result, "x"), y = daedal_result_find(result, "y");
  for (uint32_t row = 0; row < daedal_result_rows(result); row++) {
    double length = hypot(daedal_result_value(result, x, row), daedal_result_value(result, y, row));
    assert_true(fabs(length - 2) < 1e-13);
  }
  assert_int_equal(daedal_result_find(result, "nothing"), UINT32_MAX);
  daedal_statistics statistics = daedal_result_statistics(result);
  assert_true(statistics.steps > 5 && statistics.states == 2 && statistics.end_time == 1);
  assert_non_null(strstr(daedal_result_json(result), "\"status\": \"ok\""));
  assert_non_null(strstr(daedal_result_plot(result, NULL), "<svg"));
  daedal_result_free(result);
  daedal_model_free(model);
}

static bool stop_at_third(void *context, const daedal_progress *progress) {
  (*(int *)context)++;
  return progress->steps == 3;
}

static void callback_stops(void **state) {
  (void)state;
  daedal_model *model = load(PENDULUM, NULL);
  daedal_options options = daedal_default_options();
  int calls = 0;
  options.on_step = stop_at_third;
  options.context = &calls;
  daedal_result *result = daedal_simulate(model, &options);
  assert_int_equal(daedal_result_status(result), DAEDAL_OK);
  assert_int_equal(calls, 3);
  assert_true(daedal_result_statistics(result).end_time < 1);
  daedal_result_free(result);
  daedal_model_free(model);
}

static void errors_are_values(void **state) {
  (void)state;
  daedal_model *model = load("model M\n  Real x;\nequation\n  x = zz;\nend M;\n", NULL);
  assert_int_equal(daedal_model_status(model), DAEDAL_INPUT);
  assert_true(daedal_diagnostic_count(model) > 0);
  daedal_diagnostic diagnostic = daedal_diagnostic_get(model, 0);
  assert_int_equal(diagnostic.place.line, 4);
  assert_int_equal(diagnostic.place.column, 7);
  assert_string_equal(diagnostic.place.text, "  x = zz;");
  assert_non_null(strstr(diagnostic.message, "zz"));
  assert_null(daedal_flatten(model));
  daedal_options options = daedal_default_options();
  daedal_result *result = daedal_simulate(model, &options);
  assert_int_equal(daedal_result_status(result), DAEDAL_INPUT);
  daedal_result_free(result);
  daedal_model_free(model);
  model = daedal_load_file("/nonexistent/model.mo", NULL, NULL);
  assert_int_equal(daedal_model_status(model), DAEDAL_FILE);
  daedal_model_free(model);
}

static void bad_options(void **state) {
  (void)state;
  daedal_model *model = load(PENDULUM, NULL);
  daedal_options options[6];
  for (int k = 0; k < 6; k++) options[k] = daedal_default_options();
  options[0].method = "magic";
  options[1].solver = "magic";
  options[2].tolerance = -1;
  options[3].stop_time = -5;
  options[4].overrides = "nothing=1";
  options[5].variables = "(";
  for (int k = 0; k < 6; k++) {
    daedal_result *result = daedal_simulate(model, &options[k]);
    assert_int_equal(daedal_result_status(result), DAEDAL_USAGE);
    daedal_result_free(result);
  }
  daedal_model_free(model);
}

static void every_name_works(void **state) {
  (void)state;
  daedal_model *model = load(PENDULUM, NULL);
  for (const char *const *solver = daedal_solver_names(); *solver; solver++) {
    daedal_options options = daedal_default_options();
    options.solver = *solver;
    daedal_result *result = daedal_simulate(model, &options);
    assert_int_equal(daedal_result_status(result), DAEDAL_OK);
    daedal_result_free(result);
  }
  for (const char *const *pass = daedal_pass_names(); *pass; pass++) assert_non_null(daedal_dump(model, *pass));
  assert_null(daedal_dump(model, "nothing"));
  daedal_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(load_analyze_simulate), cmocka_unit_test(callback_stops),   cmocka_unit_test(errors_are_values),
      cmocka_unit_test(bad_options),           cmocka_unit_test(every_name_works),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
