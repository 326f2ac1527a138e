/* Every function of daedal.h with NULL for each pointer argument: no crash. The handles are NULL, or have everything that can
 * be requested. */
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

/* A handle of each kind, either all NULL or all complete. */
typedef struct Handles {
  daedal_model *model;
  daedal_result *result, *steady;
  daedal_linearization *linear;
  daedal_comparison *compared;
  daedal_plan *plan;
  daedal_run *run;
  daedal_state *state;
  daedal_sweep *sweep;
  daedal_estimate *estimate;
  daedal_files *files;
} Handles;

static Handles whole_handles(void) {
  static const double values[] = {1, 2};
  static const daedal_axis vary = {"k", values, 2};
  static const daedal_guess guess = {"k", NAN, 0, 0};
  daedal_options options = daedal_default_options();
  options.stop_time = 0.2;
  options.intervals = 2;
  daedal_sweep_options sweep = {.size = sizeof sweep, .vary = &vary, .vary_count = 1, .threads = 1};
  daedal_fit_options fit = {
      .size = sizeof fit, .data_text = "time,x\n0,1\n0.1,0.9\n", .parameters = &guess, .parameter_count = 1};
  Handles all = {.model = daedal_load_text(TEXT, strlen(TEXT), NULL, NULL, NULL)};
  all.result = daedal_simulate(all.model, &options);
  all.linear = daedal_linearize(all.model, &options, NULL, NULL);
  all.steady = daedal_steady(all.model, &options, NULL);
  all.compared = daedal_compare(all.model, &options, (const char *const[]){"dummy", NULL}, NULL);
  all.plan = daedal_plan_make(all.model, &options);
  all.run = daedal_run_make(all.plan);
  assert_int_equal(daedal_run_start(all.run), DAEDAL_OK);
  assert_int_equal(daedal_run_advance(all.run, 0.1), DAEDAL_OK);
  all.state = daedal_run_save(all.run);
  all.sweep = daedal_sweep_make(all.model, &options, &sweep);
  assert_int_equal(daedal_sweep_execute(all.sweep), DAEDAL_OK);
  all.estimate = daedal_fit(all.model, &options, &fit);
  assert_int_equal(daedal_status_of(all.estimate), DAEDAL_OK);
  char path[600];
  snprintf(path, sizeof path, "%s/null.csv", getenv("BUILD_DIR") ? getenv("BUILD_DIR") : ".");
  const char *const paths[] = {path, path};
  assert_int_equal(daedal_save(all.result, path), DAEDAL_OK);
  all.files = daedal_files_read(paths, 2, NULL);
  assert_int_equal(daedal_status_of(all.files), DAEDAL_OK);
  return all;
}

/* The functions of every handle, with all kinds of reports and all formats, and some that do not exist. */
static void try_handle(void *handle) {
  const daedal_plot characters = {.size = sizeof characters, .width = 60, .height = 10};
  TRY(status_of, handle);
  TRY(diagnostic_count, handle);
  TRY(diagnostic_get, handle, 0);
  for (int kind = -1; kind <= DAEDAL_REPORT_DIFFERENCE + 1; kind++)
    for (int format = -1; format <= DAEDAL_JSON + 1; format++)
      TRY(report, handle, (daedal_report_kind)kind, (daedal_format)format);
  TRY(draw, handle, NULL);
  TRY(draw, handle, &characters);
  TRY(linear_get, handle);
  assert_int_not_equal(TRY(save, handle, NULL), DAEDAL_OK);
  assert_int_not_equal(TRY(stream, handle, NULL, NULL), DAEDAL_OK);
  assert_int_not_equal(TRY(write, handle, NULL, "text", 4), DAEDAL_OK);
  assert_int_not_equal(TRY(write, handle, "nothing.txt", NULL, 4), DAEDAL_OK);
}

static void try_loading(void) {
  daedal_library_counts counts;
  TRY(free, TRY(load_file, NULL, NULL, NULL));
  TRY(free, TRY(load_text, NULL, 7, NULL, NULL, NULL));
  TRY(free, TRY(load, NULL, NULL, 7, NULL));
  TRY(free, TRY(parse_libraries, NULL, NULL));
  TRY(free, TRY(check_fmu, NULL, NULL));
  TRY(free, TRY(parse_libraries, NULL, &counts));
  TRY(free, NULL);
}

static void try_model(daedal_model *model) {
  uint32_t sizes[2];
  TRY(model_name, model);
  assert_null(TRY(library_model, model, 0));
  TRY(model_text, model);
  TRY(error_count, model);
  TRY(variable_count, model);
  TRY(variable_get, model, 0);
  assert_int_equal(TRY(variable_find, model, NULL), UINT32_MAX);
  TRY(variable_find, model, "x");
  TRY(array_sizes, model, "w", NULL, 2);
  assert_int_equal(TRY(array_sizes, model, NULL, sizes, 2), 0);
  TRY(model_counts, model);
  TRY(analyze, model);
  assert_null(TRY(dump, model, NULL));
  TRY(dump, model, "flat");
}

/* Checks the status of the result of a call, then frees the result. With a model, the status is `status`. */
static void expect(const daedal_model *model, void *result, daedal_status status) {
  assert_int_equal(daedal_status_of(result), model ? status : DAEDAL_INTERNAL);
  daedal_free(result);
}

static void try_making(daedal_model *model) {
  const daedal_input no_table = {.name = "u", .rows = 2}, no_name = {.rows = 2};
  daedal_options lists = daedal_default_options(), inputs = lists, unnamed = lists;
  lists.output_time_count = lists.input_count = 3;
  inputs.inputs = &no_table;
  unnamed.inputs = &no_name;
  inputs.input_count = unnamed.input_count = 1;
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
  TRY(free, TRY(plan_make, model, NULL));
  TRY(free, TRY(plan_make, model, &lists));
  TRY(free, TRY(sweep_make, model, NULL, NULL));
  TRY(free, TRY(fit, model, NULL, NULL));
  TRY(free, NULL);
  TRY(free, NULL);
  TRY(free, NULL);
}

static void try_result(daedal_result *result) {
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
  TRY(result_choose, result, NULL, NULL, 5);
  TRY(result_residuals, result);
  TRY(free, NULL);
}

static void try_plan(daedal_plan *plan) {
  TRY(plan_depends_on_values, plan);
  TRY(plan_value, plan, 0);
  TRY(plan_structures, plan);
  TRY(plan_model, plan);
  TRY(free, TRY(run_make, plan));
  TRY(free, NULL);
}

/* Calls the functions of a run, also without their pointers. `room` is large enough for the values of 64 variables. The run
 * is started again, which ends the use of its states. */
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
  daedal_free(TRY(run_clone, run));
  daedal_free(TRY(run_take_result, run));
  TRY(run_execute, run);
  TRY(run_start, run);
}

static void try_sweep(daedal_sweep *sweep) {
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
}

/* A point that is put before the sweep ran, without a cause and without values. */
static void try_put(daedal_model *model) {
  static const double values[] = {1, 2};
  static const daedal_axis vary = {"k", values, 2};
  daedal_sweep_options options = {.size = sizeof options, .vary = &vary, .vary_count = 1, .threads = 1};
  daedal_sweep *sweep = daedal_sweep_make(model, NULL, &options);
  TRY(sweep_put, sweep, 0, DAEDAL_INTEGRATION, NULL, NULL);
  TRY(sweep_put, sweep, 1, DAEDAL_OK, NULL, NULL);
  daedal_free(sweep);
}

static void try_estimate(daedal_estimate *estimate) {
  TRY(estimate_parameters, estimate);
  TRY(estimate_parameter, estimate, 0);
  TRY(estimate_covariance, estimate, 0, 0);
  TRY(estimate_deviation, estimate);
}

static void try_files(daedal_files *files) {
  const char *const no_path[] = {NULL};
  TRY(free, TRY(files_read, NULL, 7, NULL));
  TRY(free, TRY(files_read, no_path, 1, NULL));
  assert_int_equal(TRY(files_compare, files, NULL), files ? DAEDAL_OK : DAEDAL_INTERNAL);
  TRY(files_different, files);
  assert_null(TRY(files_difference, files, UINT32_MAX).name);
}

static void try_all(const Handles *all, daedal_state *state) {
  try_loading();
  try_model(all->model);
  try_making(all->model);
  void *const handles[] = {all->model, all->result, all->linear, all->steady,   all->compared,
                           all->plan,  all->run,    all->sweep,  all->estimate, all->files};
  for (size_t k = 0; k < sizeof handles / sizeof *handles; k++) try_handle(handles[k]);
  try_result(all->result);
  try_result(all->steady);
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
  daedal_free(all.run);
  daedal_free(all.plan);
  daedal_free(all.sweep);
  daedal_free(all.estimate);
  daedal_free(all.files);
  daedal_free(all.result);
  daedal_free(all.linear);
  daedal_free(all.steady);
  daedal_free(all.compared);
  daedal_free(all.model);
}

/* After the last one comes an empty text: nothing ran out of memory. */
static void no_diagnostic_is_empty(void **state) {
  (void)state;
  daedal_model *model = daedal_load_text(TEXT, strlen(TEXT), NULL, NULL, NULL);
  daedal_plan *plan = daedal_plan_make(model, NULL);
  daedal_result *result = daedal_simulate(model, NULL);
  const daedal_diagnostic found[] = {
      daedal_diagnostic_get(model, daedal_diagnostic_count(model)), daedal_diagnostic_get(model, UINT32_MAX),
      daedal_diagnostic_get(plan, daedal_diagnostic_count(plan)),
      daedal_diagnostic_get(result, daedal_diagnostic_count(result)), daedal_diagnostic_get(NULL, 1)};
  for (size_t k = 0; k < sizeof found / sizeof *found; k++) {
    assert_string_equal(found[k].message, "");
    assert_string_equal(found[k].code, "");
    assert_string_equal(found[k].place.path, "");
    assert_int_equal(found[k].status, DAEDAL_OK);
  }
  assert_int_equal(daedal_diagnostic_get(NULL, 0).status, DAEDAL_INTERNAL);
  daedal_free(result);
  daedal_free(plan);
  daedal_free(model);
}

static void no_such_way_is_refused(void **state) {
  (void)state;
  daedal_model *model = daedal_load_text(TEXT, strlen(TEXT), NULL, NULL, NULL);
  daedal_result *result = daedal_steady(model, NULL, "zz");
  assert_int_equal(daedal_status_of(result), DAEDAL_USAGE);
  assert_non_null(strstr(daedal_diagnostic_get(result, 0).message, "homotopy"));
  daedal_free(result);
  daedal_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(null_is_no_crash), cmocka_unit_test(no_diagnostic_is_empty),
                                     cmocka_unit_test(no_such_way_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
