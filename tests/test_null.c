/* Every function of daedal.h with NULL in place of each pointer that it takes: no crash. On NULL handles, and on handles that have all that
 * could be asked for. */
#include "daedal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "header.h"

/* The functions called so far. */
enum { MOST_NAMES = 300 };
static const char *tried[MOST_NAMES];
static size_t tried_count;

static void note(const char *name) {
  if (header_among(name, tried, tried_count)) return;
  assert_true(tried_count < MOST_NAMES);
  tried[tried_count++] = name;
}

#define TRY(name, ...) (note(#name), daedal_##name(__VA_ARGS__))

static const char TEXT[] = "model M parameter Real k = 1; parameter Integer n = 2; input Real u; Real w[n];\n"
                           "Real x(start = 1, fixed = true); Real z;\n"
                           "equation der(x) = u - k*x; z = if x > 0.9 then 1 else 2; w = {x, z}; end M;\n";

/* A handle of each kind, all of them NULL or all of them whole. */
typedef struct Handles {
  daedal_model *model;
  daedal_result *result, *linear, *steady, *compared;
  daedal_plan *plan;
  daedal_run *run;
  daedal_state *state;
  daedal_sweep *sweep;
  daedal_estimate *estimate;
  daedal_files *files;
} Handles;

static Handles whole_handles(void) {
  static const char *const vary[] = {"k=1:1:2", NULL};
  daedal_options options = daedal_default_options();
  options.stop_time = 0.2;
  options.intervals = 2;
  daedal_sweep_options sweep = {.size = sizeof sweep, .vary = vary, .threads = 1};
  daedal_fit_options fit = {.size = sizeof fit, .data_text = "time,x\n0,1\n0.1,0.9\n", .parameters = "k"};
  Handles all = {.model = daedal_load_text(TEXT, strlen(TEXT), NULL, NULL, NULL)};
  all.result = daedal_simulate(all.model, &options);
  all.linear = daedal_linearize(all.model, &options, NULL, NULL);
  all.steady = daedal_steady(all.model, &options, NULL);
  all.compared = daedal_compare(all.model, &options, "dummy", NULL);
  all.plan = daedal_plan_make(all.model, &options);
  all.run = daedal_run_make(all.plan);
  assert_int_equal(daedal_run_start(all.run), DAEDAL_OK);
  assert_int_equal(daedal_run_advance(all.run, 0.1), DAEDAL_OK);
  all.state = daedal_run_save(all.run);
  all.sweep = daedal_sweep_make(all.model, &options, &sweep);
  assert_int_equal(daedal_sweep_execute(all.sweep), DAEDAL_OK);
  all.estimate = daedal_fit(all.model, &options, &fit);
  assert_int_equal(daedal_estimate_status(all.estimate), DAEDAL_OK);
  char path[600];
  snprintf(path, sizeof path, "%s/null.csv", getenv("BUILD_DIR") ? getenv("BUILD_DIR") : ".");
  const char *const paths[] = {path, path};
  assert_int_equal(daedal_result_write(all.result, path), DAEDAL_OK);
  all.files = daedal_files_read(paths, 2, NULL);
  assert_int_equal(daedal_files_status(all.files), DAEDAL_OK);
  return all;
}

static void try_loading(void) {
  daedal_library_counts counts;
  TRY(model_free, TRY(load_file, NULL, NULL, NULL));
  TRY(model_free, TRY(load_text, NULL, 7, NULL, NULL, NULL));
  TRY(model_free, TRY(load, NULL, NULL, 7, NULL));
  TRY(model_free, TRY(parse_libraries, NULL, NULL));
  TRY(model_free, TRY(parse_libraries, NULL, &counts));
  TRY(model_free, NULL);
}

static void try_model(daedal_model *model) {
  char path[600];
  uint32_t sizes[2];
  snprintf(path, sizeof path, "%s/null.txt", getenv("BUILD_DIR") ? getenv("BUILD_DIR") : ".");
  TRY(model_status, model);
  TRY(model_name, model);
  assert_null(TRY(library_model, model, 0));
  TRY(model_text, model);
  TRY(diagnostic_count, model);
  TRY(diagnostic_get, model, 0);
  TRY(error_count, model);
  TRY(flatten, model);
  TRY(variable_count, model);
  TRY(variable_get, model, 0);
  assert_int_equal(TRY(variable_find, model, NULL), UINT32_MAX);
  TRY(variable_find, model, "x");
  TRY(array_sizes, model, "w", NULL, 2);
  assert_int_equal(TRY(array_sizes, model, NULL, sizes, 2), 0);
  TRY(model_counts, model);
  TRY(analyze, model);
  TRY(analysis_text, model);
  TRY(analysis_json, model);
  TRY(analysis_svg, model);
  daedal_status refused = model ? DAEDAL_USAGE : DAEDAL_INTERNAL;
  assert_int_equal(TRY(write_text, model, NULL, "text"), refused);
  assert_int_equal(TRY(write_text, model, path, NULL), refused);
  assert_int_equal(TRY(write_bytes, model, NULL, "text", 4), refused);
  assert_int_equal(TRY(write_bytes, model, path, NULL, 4), refused);
  assert_null(TRY(dump, model, NULL));
  TRY(dump, model, "flat");
}

/* Frees a result that a call made, whose status must be this one if there was a model. */
static void expect(const daedal_model *model, daedal_result *result, daedal_status status) {
  assert_int_equal(daedal_result_status(result), model ? status : DAEDAL_INTERNAL);
  daedal_result_free(result);
}

static void try_making(daedal_model *model) {
  const daedal_input no_table = {.name = "u", .rows = 2}, no_name = {.rows = 2};
  daedal_options lists = daedal_default_options(), inputs = lists, unnamed = lists;
  lists.output_time_count = lists.given_input_count = 3;
  inputs.given_inputs = &no_table;
  unnamed.given_inputs = &no_name;
  inputs.given_input_count = unnamed.given_input_count = 1;
  expect(model, TRY(simulate, model, NULL), DAEDAL_OK);
  expect(model, TRY(simulate, model, &lists), DAEDAL_OK);
  expect(model, TRY(simulate, model, &inputs), DAEDAL_USAGE);
  expect(model, TRY(simulate, model, &unnamed), DAEDAL_USAGE);
  expect(model, TRY(initialize, model, NULL), DAEDAL_OK);
  expect(model, TRY(compare, model, NULL, NULL, NULL), DAEDAL_OK);
  expect(model, TRY(linearize, model, NULL, NULL, NULL), DAEDAL_OK);
  expect(model, TRY(steady, model, NULL, NULL), DAEDAL_OK);
  expect(model, TRY(export_c, model, NULL, NULL), DAEDAL_USAGE);
  expect(model, TRY(export_solver, model, NULL, NULL), DAEDAL_USAGE);
  expect(model, TRY(export_fmu, model, NULL, 2, NULL, NULL), DAEDAL_USAGE);
  TRY(plan_free, TRY(plan_make, model, NULL));
  TRY(plan_free, TRY(plan_make, model, &lists));
  TRY(sweep_free, TRY(sweep_make, model, NULL, NULL));
  TRY(estimate_free, TRY(fit, model, NULL, NULL));
  TRY(plan_free, NULL);
  TRY(sweep_free, NULL);
  TRY(estimate_free, NULL);
}

static void try_result(daedal_result *result) {
  TRY(result_status, result);
  TRY(result_diagnostic_count, result);
  TRY(result_diagnostic, result, 0);
  TRY(result_statistics, result);
  TRY(result_pivot, result, 0);
  TRY(result_event, result, 0);
  TRY(result_signals, result);
  TRY(result_rows, result);
  TRY(result_name, result, 0);
  TRY(result_unit, result, 0);
  TRY(result_value, result, 0, 0);
  assert_int_equal(TRY(result_find, result, NULL), UINT32_MAX);
  assert_int_equal(TRY(result_sensitivity, result, NULL, "k"), UINT32_MAX);
  assert_int_equal(TRY(result_sensitivity, result, "x", NULL), UINT32_MAX);
  TRY(result_functional, result);
  TRY(result_derivatives, result);
  TRY(result_derivative, result, 0);
  TRY(result_values, result, 0);
  assert_int_not_equal(TRY(result_write, result, NULL), DAEDAL_OK);
  assert_int_not_equal(TRY(result_stream, result, NULL, NULL), DAEDAL_OK);
  TRY(result_text, result);
  TRY(result_json, result);
  TRY(result_plot, result, NULL);
  TRY(result_plot_terminal, result, NULL, 0, 0);
  TRY(result_choose, result, NULL, NULL, 5);
  TRY(result_residuals, result);
  TRY(result_initial_text, result);
  TRY(result_initial_json, result);
  TRY(result_start_values, result);
  TRY(result_model, result);
  TRY(result_model_json, result);
  TRY(result_choice, result);
  TRY(compare_text, result);
  TRY(compare_json, result);
  TRY(compare_plot, result);
  TRY(result_linear, result);
  TRY(linear_text, result);
  TRY(linear_json, result);
  TRY(linear_bode, result);
  TRY(linear_bode_terminal, result, 0, 0);
  assert_int_not_equal(TRY(linear_write, result, NULL), DAEDAL_OK);
  TRY(steady_text, result);
  TRY(steady_json, result);
  TRY(result_free, NULL);
}

static void try_plan(daedal_plan *plan) {
  TRY(plan_status, plan);
  TRY(plan_diagnostic_count, plan);
  TRY(plan_diagnostic, plan, 0);
  TRY(plan_depends_on_values, plan);
  TRY(plan_value, plan, 0);
  TRY(plan_structures, plan);
  TRY(plan_model, plan);
  TRY(run_free, TRY(run_make, plan));
  TRY(run_free, NULL);
}

/* Its values are kept in room for 64 of them; it is started anew, so its states go. */
static void try_run(daedal_run *run, daedal_state *state) {
  double room[64 * 64] = {0};
  assert_int_equal(TRY(run_set, run, NULL, 1), DAEDAL_USAGE);
  TRY(run_get, run, NULL);
  TRY(run_result, run);
  TRY(run_step, run);
  TRY(run_advance, run, 0.15);
  TRY(run_time, run);
  TRY(run_ended, run);
  TRY(run_values, run);
  TRY(run_derivatives, run);
  assert_int_equal(TRY(run_interpolate, run, 0.15, NULL), DAEDAL_USAGE);
  TRY(run_set_value, run, UINT32_MAX, 1);
  TRY(run_state_count, run);
  TRY(run_indicator_count, run);
  assert_int_equal(TRY(run_states, run, NULL), DAEDAL_USAGE);
  assert_int_equal(TRY(run_rates, run, 0.1, NULL, room), DAEDAL_USAGE);
  assert_int_equal(TRY(run_rates, run, 0.1, room, NULL), DAEDAL_USAGE);
  assert_int_equal(TRY(run_jacobian, run, 0.1, NULL, room), DAEDAL_USAGE);
  assert_int_equal(TRY(run_jacobian, run, 0.1, room, NULL), DAEDAL_USAGE);
  assert_int_equal(TRY(run_indicators, run, 0.1, NULL, room), DAEDAL_USAGE);
  assert_int_equal(TRY(run_indicators, run, 0.1, room, NULL), DAEDAL_USAGE);
  assert_int_equal(TRY(run_restore, run, NULL), DAEDAL_USAGE);
  if (!run) assert_int_equal(TRY(run_restore, NULL, state), DAEDAL_USAGE);
  TRY(state_free, run, NULL);
  TRY(state_free, NULL, state);
  TRY(state_free, run, TRY(run_save, run));
  daedal_run_free(TRY(run_clone, run));
  daedal_result_free(TRY(run_take_result, run));
  TRY(run_execute, run);
  TRY(run_start, run);
}

static void try_sweep(daedal_sweep *sweep) {
  TRY(sweep_status, sweep);
  TRY(sweep_diagnostic_count, sweep);
  TRY(sweep_diagnostic, sweep, 0);
  TRY(sweep_execute, sweep);
  TRY(sweep_progress_get, sweep);
  TRY(sweep_points, sweep);
  TRY(sweep_columns, sweep);
  TRY(sweep_varied, sweep);
  TRY(sweep_column_name, sweep, 0);
  TRY(sweep_value, sweep, 0, 0);
  TRY(sweep_point_status, sweep, 0);
  TRY(sweep_point_cause, sweep, 0);
  TRY(sweep_point_finished, sweep, 0);
  TRY(sweep_finished, sweep, 0);
  TRY(sweep_row_length, sweep);
  TRY(sweep_row, sweep, 0);
  TRY(sweep_put, sweep, 0, DAEDAL_OK, NULL, NULL);
  assert_int_not_equal(TRY(sweep_write, sweep, NULL), DAEDAL_OK);
  assert_int_not_equal(TRY(sweep_stream, sweep, NULL, NULL), DAEDAL_OK);
  TRY(sweep_json, sweep);
  TRY(sweep_plot, sweep);
}

/* A point that is put before the sweep ran, without a cause and without values. */
static void try_put(daedal_model *model) {
  static const char *const vary[] = {"k=1:1:2", NULL};
  daedal_sweep_options options = {.size = sizeof options, .vary = vary, .threads = 1};
  daedal_sweep *sweep = daedal_sweep_make(model, NULL, &options);
  TRY(sweep_put, sweep, 0, DAEDAL_INTEGRATION, NULL, NULL);
  TRY(sweep_put, sweep, 1, DAEDAL_OK, NULL, NULL);
  TRY(sweep_json, sweep);
  daedal_sweep_free(sweep);
}

static void try_estimate(daedal_estimate *estimate) {
  TRY(estimate_status, estimate);
  TRY(estimate_diagnostic_count, estimate);
  TRY(estimate_diagnostic, estimate, 0);
  TRY(estimate_parameters, estimate);
  TRY(estimate_parameter, estimate, 0);
  TRY(estimate_covariance, estimate, 0, 0);
  TRY(estimate_deviation, estimate);
  TRY(estimate_text, estimate);
  TRY(estimate_json, estimate);
  TRY(estimate_plot, estimate);
}

static void try_files(daedal_files *files) {
  const char *const no_path[] = {NULL};
  TRY(files_free, TRY(files_read, NULL, 7, NULL));
  TRY(files_free, TRY(files_read, no_path, 1, NULL));
  TRY(files_status, files);
  TRY(files_diagnostic_count, files);
  TRY(files_diagnostic, files, 0);
  assert_null(TRY(files_text, files));
  assert_null(TRY(files_json, files));
  TRY(files_plot, files, NULL);
  TRY(files_plot_terminal, files, NULL, 0, 0);
  assert_int_equal(TRY(files_compare, files, NULL), files ? DAEDAL_OK : DAEDAL_INTERNAL);
  TRY(files_different, files);
  assert_null(TRY(files_difference, files, UINT32_MAX).name);
  TRY(files_text, files);
  TRY(files_json, files);
  TRY(files_plot, files, NULL);
  assert_int_not_equal(TRY(files_write, files, NULL, "text", 4), DAEDAL_OK);
  assert_int_not_equal(TRY(files_write, files, "nothing.txt", NULL, 4), DAEDAL_OK);
}

static void try_all(const Handles *all, daedal_state *state) {
  try_loading();
  try_model(all->model);
  try_making(all->model);
  daedal_result *const results[] = {all->result, all->linear, all->steady, all->compared};
  for (size_t k = 0; k < sizeof results / sizeof *results; k++) try_result(results[k]);
  try_plan(all->plan);
  try_run(all->run, state);
  try_sweep(all->sweep);
  try_put(all->model);
  try_estimate(all->estimate);
  try_files(all->files);
  assert_null(TRY(nearest_name, NULL, daedal_method_names()));
  assert_null(TRY(nearest_name, "dummi", NULL));
}

static bool was_tried(const char *name) {
  static const char *const without_pointers[] = {"version",      "default_options", "code_get",
                                                 "method_names", "solver_names",    "pass_names"};
  return header_among(name, tried, tried_count) ||
         header_among(name, without_pointers, sizeof without_pointers / sizeof *without_pointers);
}

static void null_is_no_crash(void **state) {
  (void)state;
  Handles none = {0}, all = whole_handles();
  try_all(&none, all.state);
  try_all(&all, all.state);
  header_check(was_tried);
  daedal_run_free(all.run);
  daedal_plan_free(all.plan);
  daedal_sweep_free(all.sweep);
  daedal_estimate_free(all.estimate);
  daedal_files_free(all.files);
  daedal_result *const results[] = {all.result, all.linear, all.steady, all.compared};
  for (size_t k = 0; k < sizeof results / sizeof *results; k++) daedal_result_free(results[k]);
  daedal_model_free(all.model);
}

/* Behind the last one an empty text: nothing ran out of memory. */
static void no_diagnostic_is_empty(void **state) {
  (void)state;
  daedal_model *model = daedal_load_text(TEXT, strlen(TEXT), NULL, NULL, NULL);
  daedal_plan *plan = daedal_plan_make(model, NULL);
  daedal_result *result = daedal_simulate(model, NULL);
  const daedal_diagnostic found[] = {
      daedal_diagnostic_get(model, daedal_diagnostic_count(model)), daedal_diagnostic_get(model, UINT32_MAX),
      daedal_plan_diagnostic(plan, daedal_plan_diagnostic_count(plan)),
      daedal_result_diagnostic(result, daedal_result_diagnostic_count(result)), daedal_result_diagnostic(NULL, 1)};
  for (size_t k = 0; k < sizeof found / sizeof *found; k++) {
    assert_string_equal(found[k].message, "");
    assert_string_equal(found[k].code, "");
    assert_string_equal(found[k].place.path, "");
    assert_int_equal(found[k].status, DAEDAL_OK);
  }
  assert_int_equal(daedal_result_diagnostic(NULL, 0).status, DAEDAL_INTERNAL);
  daedal_result_free(result);
  daedal_plan_free(plan);
  daedal_model_free(model);
}

static void no_such_way_is_refused(void **state) {
  (void)state;
  daedal_model *model = daedal_load_text(TEXT, strlen(TEXT), NULL, NULL, NULL);
  daedal_result *result = daedal_steady(model, NULL, "zz");
  assert_int_equal(daedal_result_status(result), DAEDAL_USAGE);
  assert_non_null(strstr(daedal_result_diagnostic(result, 0).message, "homotopy"));
  daedal_result_free(result);
  daedal_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(null_is_no_crash), cmocka_unit_test(no_diagnostic_is_empty),
                                     cmocka_unit_test(no_such_way_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
