/* Inputs over time: for expressions, tables, functions and values that the caller sets, the integral of the input is right under
 * every method and solver. Derivatives that are needed and not given are refused by name and order. */
#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char INTEGRAL[] = "model I input Real u; Real x(start = 0, fixed = true), s; Boolean b; equation\n"
                               "der(x) = u; s = 2*u; b = u > 0.5; annotation(experiment(StopTime = 2)); end I;\n";
static const char FOLLOWER[] =
    "model F input Real u(start = 0.5); Real x, v, f; equation der(x) = v; der(v) = f; x = u;\n"
    "annotation(experiment(StopTime = 2)); end F;\n";

static daedal_model *load(const char *text) {
  daedal_model *model = daedal_load_text(text, strlen(text), "test.mo", NULL, NULL);
  assert_int_equal(daedal_status_of(model), DAEDAL_OK);
  return model;
}

static double end_of(daedal_result *result, const char *name) {
  if (daedal_status_of(result) != DAEDAL_OK) fail_msg("%s", daedal_diagnostic_get(result, 0).message);
  return daedal_result_value(result, daedal_result_find(result, name), daedal_result_rows(result) - 1);
}

/* Numbers that look random, the same in every run of the test. */
static double draw(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) / 9007199254740992.0;
}

typedef struct Table {
  char path[300];
  int rows;
  double time[20], value[20];
} Table;

/* From 0 to 2, with jumps where two rows have one time. */
static Table write_table(uint64_t *seed) {
  Table table = {.rows = 0};
  const char *build = getenv("BUILD_DIR");
  snprintf(table.path, sizeof table.path, "%s/inputs.csv", build ? build : ".");
  FILE *file = fopen(table.path, "w");
  assert_non_null(file);
  fputs("time,u\n", file);
  for (int k = 0; k < 12; k++) {
    bool jumps = k > 0 && k < 11 && draw(seed) < 0.3;
    double before = k ? table.time[k - 1] : 0;
    table.time[k] = k == 0 ? 0 : k == 11 ? 2 : jumps ? before : before + 0.18 * draw(seed);
    table.value[k] = 2 * draw(seed) - 0.5;
    fprintf(file, "%.17g,%.17g\n", table.time[k], table.value[k]);
    table.rows++;
  }
  fclose(file);
  return table;
}

static double table_integral(const Table *table, bool held) {
  double sum = 0;
  for (int k = 0; k + 1 < table->rows; k++) {
    double mean = held ? table->value[k] : (table->value[k] + table->value[k + 1]) / 2;
    sum += mean * (table->time[k + 1] - table->time[k]);
  }
  return sum;
}

static void tables_are_integrated(void **state) {
  (void)state;
  static const char *const solvers[] = {"auto", "erk", "radau", "bdf"};
  daedal_model *model = load(INTEGRAL);
  uint64_t seed = 1;
  for (int k = 0; k < 40; k++) {
    Table table = write_table(&seed);
    bool held = k % 2;
    daedal_input input = {.file = table.path, .held = held, .name = k % 3 ? NULL : "u"};
    daedal_options options = daedal_default_options();
    options.inputs = &input;
    options.input_count = 1;
    options.solver = solvers[k / 2 % 4];
    daedal_result *result = daedal_simulate(model, &options);
    double expected = table_integral(&table, held), found = end_of(result, "x");
    if (fabs(found - expected) > 1e-5) fail_msg("table %d: %.12g instead of %.12g", k, found, expected);
    daedal_free(result);
  }
  daedal_free(model);
}

static double sine(void *context, double time, uint32_t order) {
  double phase = *(double *)context;
  return pow(2, order) * sin(2 * time + phase + order * acos(0));
}

static void functions_are_differentiated(void **state) {
  (void)state;
  static const char *const methods[] = {"dummy", "projection", "minimal", "underlying", "strangeness"};
  double phase = 0.3;
  daedal_model *model = load(FOLLOWER);
  for (uint32_t orders = 0; orders < 4; orders++)
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
      daedal_input input = {.name = "u", .orders = orders, .value = sine, .context = &phase};
      daedal_options options = daedal_default_options();
      options.method = methods[m];
      options.inputs = &input;
      options.input_count = 1;
      daedal_result *result = daedal_simulate(model, &options);
      if (orders < 2) {
        assert_int_equal(daedal_status_of(result), DAEDAL_STRUCTURE);
        assert_non_null(strstr(daedal_diagnostic_get(result, 0).message, "derivative 2 of the input `u`"));
      } else {
        double expected = -4 * sin(4 + phase);
        if (fabs(end_of(result, "f") - expected) > 1e-4)
          fail_msg("%s: %g instead of %g", methods[m], end_of(result, "f"), expected);
      }
      daedal_free(result);
    }
  daedal_free(model);
}

static void expressions_are_equations(void **state) {
  (void)state;
  daedal_model *model = load(FOLLOWER);
  daedal_options options = daedal_default_options();
  options.inputs = &(daedal_input){.name = "u", .expression = "max(-10, sin(2*time))"};
  options.input_count = 1;
  daedal_result *result = daedal_simulate(model, &options);
  assert_true(fabs(end_of(result, "f") + 4 * sin(4)) < 1e-9);
  daedal_free(result);
  daedal_free(model);
}

static void wrong_inputs_are_refused(void **state) {
  (void)state;
  static const struct {
    daedal_input inputs[2];
    const char *message;
    daedal_status status;
  } cases[] = {
      {{{.name = "w", .expression = "1"}}, "there is no variable 'w'", DAEDAL_USAGE},
      {{{.name = "x", .expression = "1"}}, "'x' is not an input", DAEDAL_USAGE},
      {{{.name = "u", .expression = "1"}, {.name = "u", .expression = "2"}}, "given twice", DAEDAL_USAGE},
      {{{.name = "u", .expression = "sin("}}, "with these inputs", DAEDAL_USAGE},
      {{{.file = "nowhere.csv"}}, "nowhere.csv", DAEDAL_FILE},
      {{{.name = "", .expression = "1"}}, "without a name", DAEDAL_USAGE},
      {{{.name = "u", .rows = 2}}, "needs times and values", DAEDAL_USAGE},
      {{{.name = "u"}}, "derivative 2 of the input `u`", DAEDAL_STRUCTURE},
  };
  daedal_model *model = load(FOLLOWER);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    daedal_options options = daedal_default_options();
    options.inputs = cases[k].inputs;
    options.input_count = cases[k].inputs[1].name ? 2 : 1;
    daedal_result *result = daedal_simulate(model, &options);
    if (daedal_status_of(result) != cases[k].status ||
        !strstr(daedal_diagnostic_get(result, 0).message, cases[k].message))
      fail_msg("%s: %d: %s", cases[k].message, (int)daedal_status_of(result), daedal_diagnostic_get(result, 0).message);
    daedal_free(result);
  }
  daedal_free(model);
}

/* A staircase that the caller sets during the run, in runs that are saved and cloned. */
static void values_are_set_on_the_way(void **state) {
  (void)state;
  daedal_model *model = load(INTEGRAL);
  daedal_options options = daedal_default_options();
  options.inputs = &(daedal_input){.name = "u"};
  options.input_count = 1;
  daedal_plan *plan = daedal_plan_make(model, &options);
  assert_int_equal(daedal_status_of(plan), DAEDAL_OK);
  daedal_run *run = daedal_run_make(plan);
  const daedal_model *own = daedal_plan_model(plan);
  uint32_t u = daedal_variable_find(own, "u"), x = daedal_variable_find(own, "x"), s = daedal_variable_find(own, "s");
  assert_int_equal(daedal_variable_get(own, u).kind, DAEDAL_KIND_INPUT);
  assert_int_equal(daedal_run_set_value(run, u, 0.25), DAEDAL_OK);
  assert_int_equal(daedal_run_start(run), DAEDAL_OK);
  double sum = 0, value = 0.25;
  uint64_t seed = 3;
  assert_true(daedal_run_values(run)[s] == 0.5);
  for (int k = 0; k < 20; k++) {
    assert_int_equal(daedal_run_advance(run, (k + 1) / 10.0), DAEDAL_OK);
    sum += value / 10;
    assert_true(fabs(daedal_run_values(run)[x] - sum) < 1e-7);
    value = draw(&seed);
    assert_int_equal(daedal_run_set_value(run, u, value), DAEDAL_OK);
    assert_true(daedal_run_values(run)[s] == 2 * value);
    assert_true(fabs(daedal_run_derivatives(run)[x] - value) < 1e-12);
    daedal_run *clone = k % 5 ? NULL : daedal_run_clone(run);
    if (clone) daedal_free(run), run = clone;
  }
  daedal_free(run);
  daedal_free(plan);
  daedal_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_are_integrated),     cmocka_unit_test(functions_are_differentiated),
      cmocka_unit_test(expressions_are_equations), cmocka_unit_test(wrong_inputs_are_refused),
      cmocka_unit_test(values_are_set_on_the_way),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
