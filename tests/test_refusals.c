/* Every function of daedal.h with each of its allocations refused once, on models that take different paths: no crash, no
 * leak, and the refusal is reported. The call is not done, its handle has the status DAEDAL_INTERNAL, and can still be
 * queried and freed.
 *
 * A row of the table is one function. Its arguments are made again for each refusal, without refusals. Then its allocations
 * are counted, and each is refused in turn. Runs have thousands of allocations. With DAEDAL_TEST_TIER=long in the
 * environment all are refused in the scenarios, from a text to the results, with each solver. For calls of single functions, only
 * some allocations are refused. They are spread evenly over the call and differ from row to row. Without the long tier, everything
 * is sampled. Each test prints how many it refused. TEST_FILTER, a pattern such as 'fit', selects scenarios and models, to run them
 * in pieces. */
#include "daedal.h"

#include "fail_alloc.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "header.h"

/* The most allocations that are refused: in a scenario, in one call on the first model, and in one on the others. */
typedef struct Tier {
  size_t most_of_scenario, most_of_first, most;
  size_t share; /* one row in this many is tried on models other than the first */
} Tier;

static Tier tier(void) {
#ifdef DAEDAL_SANITIZE
  return tier_is_long() ? (Tier){20, 20, 6, 1} : (Tier){1, 1, 1, 16};
#else
  return tier_is_long() ? (Tier){SIZE_MAX, 150, 60, 1} : (Tier){2, 2, 2, 8};
#endif
}

typedef struct Case {
  const char *name, *text;
  const char *method, *solver; /* NULL: the default */
  bool has_inputs;             /* u and w */
} Case;

static const Case CASES[] = {
    {.name = "pendulum",
     .text = "model M function f input Real a; output Real b; algorithm b := if a > 0 then a^2 else -a; end f;\n"
             "parameter Real g = 9.81; Real w[2];\n"
             "Real x(start = 0.6, fixed = true), y(start = -0.8), u(start = 0, fixed = true), v, s;\n"
             "equation der(x) = u; der(y) = v; der(u) = -s*x; der(v) = -s*y - g; x^2 + y^2 = 1;\n"
             "for i in 1:2 loop w[i] = i*f(x) + sum({k*y for k in 1:3}); end for;\n"
             "end M;\n"},
    {.name = "event",
     .text = "model M Real x(start = 1, fixed = true), z; equation der(x) = z - x; z = if x > 0.99 then 1 - "
             "time else 2; end M;\n"},
    {.name = "whens",
     .text = "model M Real x(start = 1, fixed = true); discrete Real n(start = 0), k(start = 0); Boolean b; String s;\n"
             "algorithm when x < 0.97 then b := true; s := String(x); end when;\n"
             "equation der(x) = -x; when {x < 0.99, sample(0, 0.02)} then n = pre(n) + 1;\n"
             "if x > 0.98 then k = 1; else k = pre(n) + 2; end if; reinit(x, x + 0.001); end when; end M;\n"},
    {.name = "homotopy",
     .text = "model M Real a(start = 0.1), b; equation homotopy(a^3 - 2*a + 2, a + 2) = 0; b = sin(a) + "
             "a^2; end M;\n"},
    {.name = "loop",
     .text = "model M function f input Real a; output Real b; protected Real c; algorithm b := 1; c := abs(a);\n"
             "while c > 0.25 loop c := c/2; b := b + 0.5*sin(a); end while; end f;\n"
             "Real x(start = 1, fixed = true); equation der(x) = -f(x); end M;\n"},
    {.name = "free parameter",
     .text = "model M parameter Real p(fixed = false, start = 1); Real x(start = 1, fixed = true);\n"
             "initial equation der(x) = -0.5; equation der(x) = -p*x; end M;\n"},
    {.name = "inputs",
     .text = "model M input Real u, w; Real x(start = 1, fixed = true); equation der(x) = u - x*w; end M;\n",
     .has_inputs = true},
    {.name = "rewritten",
     .text = "model M Real x(start = 1), y; equation der(x) + der(y) + x = sin(time); der(x) + der(y) + "
             "y = time; end M;\n"},
    {.name = "energy",
     .text = "package P function f input Real a; output Real b; algorithm b := a^2; end f; function g = der(f, a);\n"
             "model M Real x(start = 0.6, fixed = true), y(start = -0.8), h = g(x); initial equation der(x) = 0;\n"
             "lagrangian der(x)^2/2 + der(y)^2/2 - 9.81*y; dissipation der(x)^2/9; force y = sin(time);\n"
             "constraint x^2 + y^2 = 1 \"rod\"; end M; end P;\n",
     .method = "projection"},
};

typedef struct Stage {
  FailAlloc fail;
  daedal_model *model;
  void *result; /* result of a run, a comparison or a linearization */
  daedal_plan *plan;
  daedal_run *run;
  daedal_sweep *sweep;
  daedal_estimate *estimate;
  daedal_files *files;
  const char *text, *method, *solver;
  bool has_inputs;
  char path[256]; /* path of files to read and write, without their ending */
} Stage;

/* ---- the functions ---- */

static const char *const ALL[] = {".*", NULL}, *const NO_NAMES[] = {NULL}, *const DUMMY[] = {"dummy", NULL},
                         *const X_START[] = {"x.start", NULL};
static const daedal_plot in_characters = {.size = sizeof in_characters, .variables = ALL, .width = 60, .height = 12};

static daedal_options short_run(const Stage *stage) {
  daedal_options options = daedal_default_options();
  if (stage->method) options.method = stage->method;
  if (stage->solver) options.solver = stage->solver;
  static const daedal_input inputs[] = {{.name = "u", .expression = "sin(time)"}, {.name = "w"}};
  options.inputs = inputs;
  options.input_count = stage->has_inputs ? 2 : 0;
  options.stop_time = 0.05;
  options.intervals = 2;
  return options;
}

static char *path_with(Stage *stage, const char *ending, char *room, size_t size) {
  snprintf(room, size, "%s%s", stage->path, ending);
  return room;
}

static bool loaded(Stage *stage, daedal_model *model) {
  daedal_free(stage->model);
  stage->model = model;
  return model && daedal_status_of(model) == DAEDAL_OK;
}

static bool load_text(Stage *stage) {
  daedal_allocator allocator = {stage->fail.hook.resize, stage->fail.hook.context};
  return loaded(stage, daedal_load_text(stage->text, strlen(stage->text), "test.mo", NULL, &allocator));
}

static bool load_with_options(Stage *stage) {
  daedal_allocator allocator = {stage->fail.hook.resize, stage->fail.hook.context};
  daedal_load_options options = {.size = sizeof options, .allocator = &allocator, .energy = true};
  return loaded(stage, daedal_load("test.mo", stage->text, strlen(stage->text), &options));
}

static bool load_file(Stage *stage) {
  daedal_allocator allocator = {stage->fail.hook.resize, stage->fail.hook.context};
  char path[300];
  return loaded(stage, daedal_load_file(path_with(stage, ".mo", path, sizeof path), NULL, &allocator));
}

static bool load_netlist(Stage *stage) {
  daedal_allocator allocator = {stage->fail.hook.resize, stage->fail.hook.context};
  char path[300];
  daedal_load_options options = {.size = sizeof options, .mna = "charge", .allocator = &allocator};
  return loaded(stage, daedal_load(path_with(stage, ".cir", path, sizeof path), NULL, 0, &options));
}

/* The directory of the files holds one library. */
static bool parse_libraries(Stage *stage) {
  daedal_allocator allocator = {stage->fail.hook.resize, stage->fail.hook.context};
  char path[300];
  snprintf(path, sizeof path, "%.*s", (int)(strrchr(stage->path, '/') - stage->path), stage->path);
  daedal_load_options options = {.size = sizeof options, .modelica_path = path, .allocator = &allocator};
  daedal_library_counts counts;
  return loaded(stage, daedal_parse_libraries(&options, &counts)) && counts.files > 0;
}

/* A file that is not an FMU is refused, with and without memory. */
static bool check_fmu(Stage *stage) {
  daedal_allocator allocator = {stage->fail.hook.resize, stage->fail.hook.context};
  char path[300];
  daedal_load_options options = {.size = sizeof options, .allocator = &allocator};
  loaded(stage, daedal_check_fmu(path_with(stage, ".mo", path, sizeof path), &options));
  return stage->model && daedal_status_of(stage->model) != DAEDAL_INTERNAL;
}

static bool ran(Stage *stage, void *result) {
  daedal_free(stage->result);
  stage->result = result;
  return result && daedal_status_of(result) == DAEDAL_OK;
}

static bool initialize(Stage *stage) {
  daedal_options options = short_run(stage);
  return ran(stage, daedal_initialize(stage->model, &options));
}

static bool simulate(Stage *stage) {
  daedal_options options = short_run(stage);
  return ran(stage, daedal_simulate(stage->model, &options));
}

static bool make_plan(Stage *stage) {
  daedal_options options = short_run(stage);
  daedal_free(stage->plan);
  stage->plan = daedal_plan_make(stage->model, &options);
  return daedal_status_of(stage->plan) == DAEDAL_OK;
}

static bool make_run(Stage *stage) {
  if (!stage->plan && !make_plan(stage)) return false;
  daedal_free(stage->run);
  stage->run = daedal_run_make(stage->plan);
  return stage->run;
}

static bool compare(Stage *stage) {
  daedal_options options = short_run(stage);
  return ran(stage, daedal_compare(stage->model, &options, DUMMY, (const char *const[]){"radau", NULL}));
}

/* Differentiates by a start value, if the model has one to vary and can be differentiated. */
static bool simulate_differentiated(Stage *stage) {
  daedal_options options = short_run(stage);
  options.method = "dummy";
  options.sensitivity = X_START;
  ran(stage, daedal_simulate(stage->model, &options));
  return daedal_status_of(stage->result) != DAEDAL_INTERNAL;
}

/* A gradient with so little memory that steps are repeated. */
static bool simulate_backwards(Stage *stage) {
  daedal_options options = short_run(stage);
  options.method = "dummy";
  options.gradient = "x";
  options.gradient_by = X_START;
  options.gradient_memory = 1e-4;
  ran(stage, daedal_simulate(stage->model, &options));
  return daedal_status_of(stage->result) != DAEDAL_INTERNAL;
}

static bool linearize(Stage *stage) {
  daedal_options options = short_run(stage);
  options.method = "dummy";
  return ran(stage, daedal_linearize(stage->model, &options, NO_NAMES, NULL));
}

/* A model need not have a steady state. */
static bool find_steady(Stage *stage) {
  daedal_options options = short_run(stage);
  options.method = "dummy";
  ran(stage, daedal_steady(stage->model, &options, "newton"));
  return daedal_status_of(stage->result) != DAEDAL_INTERNAL;
}

static bool write_matrices(Stage *stage) {
  char path[300];
  return daedal_save(stage->result, path_with(stage, "_linear.mat", path, sizeof path)) == DAEDAL_OK;
}

static bool export_c(Stage *stage) {
  daedal_options options = short_run(stage);
  return ran(stage, daedal_export_c(stage->model, stage->path, &options));
}

/* Its result as two files. */
static bool write_two(Stage *stage) {
  char path[300];
  return simulate(stage) && daedal_save(stage->result, path_with(stage, "_a.csv", path, sizeof path)) == DAEDAL_OK &&
         daedal_save(stage->result, path_with(stage, "_b.mat", path, sizeof path)) == DAEDAL_OK;
}

static bool read_two(Stage *stage) {
  daedal_allocator allocator = {stage->fail.hook.resize, stage->fail.hook.context};
  char first[300], second[300];
  const char *const paths[] = {path_with(stage, "_a.csv", first, sizeof first),
                               path_with(stage, "_b.mat", second, sizeof second)};
  daedal_free(stage->files);
  stage->files = daedal_files_read(paths, 2, &allocator);
  return stage->files && daedal_status_of(stage->files) == DAEDAL_OK;
}

static bool compare_two(Stage *stage) {
  daedal_difference_options options = {.size = sizeof options, .variables = ALL};
  return daedal_files_compare(stage->files, &options) == DAEDAL_OK;
}

static bool write_and_read_two(Stage *stage) { return write_two(stage) && read_two(stage); }
static bool write_and_compare_two(Stage *stage) { return write_and_read_two(stage) && compare_two(stage); }

static bool draw_two(Stage *stage) { return daedal_draw(stage->files, NULL) != NULL; }
static bool draw_two_as_text(Stage *stage) { return daedal_draw(stage->files, &in_characters) != NULL; }
static bool tell_of_two(Stage *stage) {
  return daedal_report(stage->files, DAEDAL_REPORT_DIFFERENCE, DAEDAL_TEXT) != NULL;
}
static bool tell_of_two_as_json(Stage *stage) {
  return daedal_report(stage->files, DAEDAL_REPORT_DIFFERENCE, DAEDAL_JSON) != NULL;
}

static bool write_beside(Stage *stage) {
  char path[300];
  return daedal_write(stage->files, path_with(stage, "_c.txt", path, sizeof path), "text", 4) == DAEDAL_OK;
}

static bool figures_of_two(Stage *stage) {
  daedal_diagnostic_count(stage->files);
  daedal_diagnostic_get(stage->files, 0);
  daedal_files_difference(stage->files, 0);
  return daedal_files_different(stage->files) == 0 && daedal_status_of(stage->files) == DAEDAL_OK;
}

/* Some models cannot be exported this way, and a message says so. */
static bool export_solver(Stage *stage) {
  daedal_options options = short_run(stage);
  return ran(stage, daedal_export_solver(stage->model, stage->path, &options)) ||
         (stage->result && daedal_status_of(stage->result) != DAEDAL_INTERNAL);
}

/* Exports of FMUs may be refused, too. */
static bool export_fmu(Stage *stage) {
  daedal_options options = short_run(stage);
  char path[300];
  return ran(stage, daedal_export_fmu(stage->model, path_with(stage, ".fmu", path, sizeof path), 2, "me", &options)) ||
         (stage->result && daedal_status_of(stage->result) != DAEDAL_INTERNAL);
}

static bool write_as(Stage *stage, const char *ending) {
  char path[300];
  return daedal_save(stage->result, path_with(stage, ending, path, sizeof path)) == DAEDAL_OK;
}

static bool write_bytes(Stage *stage) {
  char path[512];
  return daedal_write(stage->model, path_with(stage, ".bin", path, sizeof path), "a\0b", 3) == DAEDAL_OK;
}

static bool write_for_result(Stage *stage) {
  char path[300];
  return daedal_write(stage->result, path_with(stage, ".txt", path, sizeof path), "text\n", 5) == DAEDAL_OK;
}

static bool dump(Stage *stage) {
  bool done = true;
  for (const char *const *pass = daedal_pass_names(); *pass; pass++) done = daedal_dump(stage->model, *pass) && done;
  return done;
}

/* Is there a text? */
static bool said(const char *text) { return text && *text; }

static bool swallow(void *context, const void *bytes, size_t length) {
  (void)context, (void)bytes, (void)length;
  return true;
}

/* A run that has begun. */
static bool begin_steps(Stage *stage) {
  return make_run(stage) && daedal_run_start(stage->run) == DAEDAL_OK &&
         daedal_run_advance(stage->run, 0.01) == DAEDAL_OK;
}

static bool save_and_restore(Stage *stage) {
  daedal_state *state = daedal_run_save(stage->run);
  bool done = state && daedal_run_restore(stage->run, state) == DAEDAL_OK;
  daedal_state_free(stage->run, state);
  return done;
}

static bool clone(Stage *stage) {
  daedal_run *made = daedal_run_clone(stage->run);
  daedal_free(made);
  return made;
}

static bool interpolate(Stage *stage) {
  double values[100];
  return daedal_run_interpolate(stage->run, 0.01, values) == DAEDAL_OK;
}

static const char *first_unknown(const Stage *stage) { return strstr(stage->text, "Real a(") ? "a" : "x"; }

static bool set_value(Stage *stage) {
  uint32_t variable = daedal_variable_find(stage->model, first_unknown(stage));
  return daedal_run_set_value(stage->run, variable, 0.6) == DAEDAL_OK;
}

static bool make_sweep(Stage *stage) {
  daedal_options options = short_run(stage);
  const double values[] = {0.6, 0.61};
  const daedal_axis vary = {first_unknown(stage), values, 2};
  daedal_sweep_options sweep = {.size = sizeof sweep,
                                .vary = &vary,
                                .vary_count = 1,
                                .outputs = &(const daedal_output){.name = first_unknown(stage)},
                                .output_count = 1,
                                .threads = 1,
                                .keep_courses = true};
  daedal_free(stage->sweep);
  stage->sweep = daedal_sweep_make(stage->model, &options, &sweep);
  return daedal_status_of(stage->sweep) == DAEDAL_OK;
}

static bool execute_sweep(Stage *stage) {
  return daedal_sweep_execute(stage->sweep) == DAEDAL_OK && daedal_sweep_progress_get(stage->sweep).failed == 0;
}

static bool run_sweep(Stage *stage) { return make_sweep(stage) && execute_sweep(stage); }

static bool write_table(Stage *stage) {
  static const char *const endings[] = {".csv", ".mat", ".npy"};
  bool done = true;
  for (int k = 0; k < 3; k++) {
    char path[300];
    done = daedal_save(stage->sweep, path_with(stage, endings[k], path, sizeof path)) == DAEDAL_OK && done;
  }
  return done;
}

static bool put_row(Stage *stage) {
  return daedal_sweep_put(stage->sweep, 0, DAEDAL_OK, "", daedal_sweep_row(stage->sweep, 1)) == DAEDAL_OK;
}

/* Functions that need no memory. */
static bool sweep_figures(Stage *stage) {
  daedal_sweep *sweep = stage->sweep;
  daedal_diagnostic_count(sweep);
  return daedal_diagnostic_get(sweep, 0).message && daedal_sweep_points(sweep) == 2 &&
         daedal_sweep_columns(sweep) == 2 && daedal_sweep_varied(sweep) == 1 &&
         said(daedal_sweep_column_name(sweep, 1)) && daedal_sweep_value(sweep, 0, 0) > 0 &&
         daedal_sweep_point_status(sweep, 0) == DAEDAL_OK && !said(daedal_sweep_point_cause(sweep, 0)) &&
         daedal_sweep_point_finished(sweep, 0) && daedal_sweep_finished(sweep, 0) == 0 &&
         daedal_sweep_row_length(sweep) == 102 && daedal_sweep_row(sweep, 0);
}

static bool fit(Stage *stage) {
  daedal_options options = short_run(stage);
  char data[80];
  snprintf(data, sizeof data, "time,%s\n0,0.6\n", first_unknown(stage));
  const daedal_guess guess = {first_unknown(stage), 0.6, 0, 0};
  daedal_fit_options fitting = {.size = sizeof fitting, .data_text = data, .parameters = &guess, .parameter_count = 1};
  daedal_free(stage->estimate);
  stage->estimate = daedal_fit(stage->model, &options, &fitting);
  return daedal_status_of(stage->estimate) == DAEDAL_OK;
}

/* Functions that need no memory. */
static bool fit_figures(Stage *stage) {
  const daedal_estimate *estimate = stage->estimate;
  daedal_diagnostic_count(estimate);
  daedal_estimate_covariance(estimate, 0, 0);
  daedal_estimate_deviation(estimate);
  return daedal_diagnostic_get(estimate, 0).message && daedal_estimate_parameters(estimate) == 1 &&
         said(daedal_estimate_parameter(estimate, 0).name);
}

#define CALL(name, expression) \
  static bool call_##name(Stage *stage) { return expression; }

CALL(model_status, daedal_status_of(stage->model) == DAEDAL_OK)
CALL(model_name, said(daedal_model_name(stage->model)))
CALL(library_model, !daedal_library_model(stage->model, 0))
CALL(diagnostic_count, daedal_diagnostic_count(stage->model) < 100)
CALL(diagnostic_get, daedal_diagnostic_get(stage->model, 0).message)
CALL(error_count, daedal_error_count(stage->model) == 0)
CALL(model_counts, daedal_model_counts(stage->model).equations > 0)
CALL(flatten, said(daedal_report(stage->model, DAEDAL_REPORT_FLAT, DAEDAL_TEXT)))
CALL(analyze, daedal_analyze(stage->model).status == DAEDAL_OK)
CALL(analysis_text, said(daedal_report(stage->model, DAEDAL_REPORT_ANALYSIS, DAEDAL_TEXT)))
CALL(analysis_json, said(daedal_report(stage->model, DAEDAL_REPORT_ANALYSIS, DAEDAL_JSON)))
CALL(analysis_svg, said(daedal_draw(stage->model, NULL)))
CALL(result_status, daedal_status_of(stage->result) == DAEDAL_OK)
CALL(result_diagnostic_count, daedal_diagnostic_count(stage->result) < 100)
CALL(result_diagnostic, daedal_diagnostic_get(stage->result, 0).message)
CALL(result_statistics, daedal_result_statistics(stage->result).equations > 0)
CALL(result_signals, daedal_result_signals(stage->result) > 1)
CALL(result_rows, daedal_result_rows(stage->result) > 1)
CALL(result_name, said(daedal_result_name(stage->result, 1)))
CALL(result_unit, daedal_result_unit(stage->result, 1) || true)
CALL(result_value, daedal_result_value(stage->result, 0, 1) > 0)
CALL(result_find, daedal_result_find(stage->result, "time") == 0)
CALL(result_text, said(daedal_report(stage->result, DAEDAL_REPORT_RUN, DAEDAL_TEXT)))
CALL(result_json, said(daedal_report(stage->result, DAEDAL_REPORT_RUN, DAEDAL_JSON)))
CALL(result_stream, daedal_stream(stage->result, swallow, NULL) == DAEDAL_OK)
static const daedal_plot all_signals = {.size = sizeof all_signals, .variables = ALL};
CALL(result_choose, daedal_result_choose(stage->result, ALL, NULL, 0) > 1)
CALL(result_residuals, daedal_result_residuals(stage->result).levels < 100)
CALL(result_plot, said(daedal_draw(stage->result, &all_signals)))
CALL(result_plot_terminal, said(daedal_draw(stage->result, &in_characters)))
CALL(result_initial_text, said(daedal_report(stage->result, DAEDAL_REPORT_INITIAL, DAEDAL_TEXT)))
CALL(result_initial_json, said(daedal_report(stage->result, DAEDAL_REPORT_INITIAL, DAEDAL_JSON)))
CALL(result_start_values, said(daedal_report(stage->result, DAEDAL_REPORT_START_VALUES, DAEDAL_TEXT)))
CALL(result_model, said(daedal_report(stage->result, DAEDAL_REPORT_REDUCED, DAEDAL_TEXT)))
CALL(result_model_json, said(daedal_report(stage->result, DAEDAL_REPORT_REDUCED, DAEDAL_JSON)))
CALL(result_write_csv, write_as(stage, ".csv"))
CALL(result_write_mat, write_as(stage, ".mat"))
CALL(result_event, !*daedal_result_event(stage->result, UINT32_MAX).condition)
CALL(result_choice,
     daedal_report(stage->result, DAEDAL_REPORT_CHOICE, DAEDAL_TEXT) && daedal_status_of(stage->result) == DAEDAL_OK)
CALL(plan_status, daedal_status_of(stage->plan) == DAEDAL_OK)
CALL(plan_diagnostic_count, daedal_diagnostic_count(stage->plan) < 100)
CALL(plan_diagnostic, daedal_diagnostic_get(stage->plan, 0).message)
CALL(plan_depends_on_values, daedal_plan_depends_on_values(stage->plan) || true)
CALL(plan_value, !daedal_plan_value(stage->plan, 0))
CALL(plan_structures, daedal_plan_structures(stage->plan) == 1)
CALL(run_set, daedal_run_set(stage->run, first_unknown(stage), 0.6) == DAEDAL_OK)
CALL(run_execute, daedal_run_execute(stage->run) == DAEDAL_OK)
CALL(run_get, daedal_run_get(stage->run, "time") > 0 || true)
CALL(run_result, !daedal_run_result(stage->run) || daedal_status_of(daedal_run_result(stage->run)) == DAEDAL_OK)
CALL(variable_count, daedal_variable_count(stage->model) > 0)
CALL(variable_get, said(daedal_variable_get(stage->model, 0).name))
CALL(variable_find, daedal_variable_find(stage->model, first_unknown(stage)) < 100)
CALL(array_sizes, daedal_array_sizes(stage->model, "w", NULL, 0) < 2)
CALL(result_values, daedal_result_values(stage->result, 1))
CALL(plan_model, daedal_plan_model(stage->plan))
CALL(run_start, daedal_run_start(stage->run) == DAEDAL_OK)
CALL(run_advance, daedal_run_advance(stage->run, 0.05) == DAEDAL_OK)
CALL(run_step, daedal_run_step(stage->run) == DAEDAL_OK)
CALL(run_time, daedal_run_time(stage->run) > 0 || true)
CALL(run_ended, daedal_run_ended(stage->run) || true)
CALL(run_values, daedal_run_values(stage->run))
CALL(run_state_count, (daedal_run_state_count(stage->run), true))
CALL(run_indicator_count, (daedal_run_indicator_count(stage->run), true))

/* The state-space form, if the run has one; with at most this many states. */
enum { STATES = 64 };

static bool with_states(Stage *stage, daedal_status (*call)(daedal_run *, double, const double *, double *)) {
  double states[STATES], values[STATES * STATES];
  uint32_t count = daedal_run_state_count(stage->run);
  if (count == 0 || count > STATES) return true;
  daedal_status status = daedal_run_states(stage->run, states);
  if (status == DAEDAL_OK && call) status = call(stage->run, daedal_run_time(stage->run), states, values);
  return status != DAEDAL_INTERNAL;
}

CALL(run_states, with_states(stage, NULL))
CALL(run_rates, with_states(stage, daedal_run_rates))
CALL(run_jacobian, with_states(stage, daedal_run_jacobian))
CALL(run_indicators, with_states(stage, daedal_run_indicators))
CALL(run_derivatives, daedal_run_derivatives(stage->run))
CALL(run_take_result, ran(stage, daedal_run_take_result(stage->run)))
CALL(compare_text, said(daedal_report(stage->result, DAEDAL_REPORT_COMPARISON, DAEDAL_TEXT)))
CALL(compare_json, said(daedal_report(stage->result, DAEDAL_REPORT_COMPARISON, DAEDAL_JSON)))
CALL(result_functional, isnan(daedal_result_functional(stage->result)))
CALL(result_derivatives, daedal_result_derivatives(stage->result) == 0)
CALL(result_derivative, !daedal_result_derivative(stage->result, 0).name)
CALL(result_sensitivity, daedal_result_sensitivity(stage->result, "x", "y.start") == UINT32_MAX)
CALL(result_linear, (daedal_linear_get(stage->result), true))
CALL(linear_text, said(daedal_report(stage->result, DAEDAL_REPORT_LINEAR, DAEDAL_TEXT)))
CALL(linear_json, said(daedal_report(stage->result, DAEDAL_REPORT_LINEAR, DAEDAL_JSON)))
CALL(linear_bode, said(daedal_draw(stage->result, NULL)))
CALL(linear_bode_terminal, said(daedal_draw(stage->result, &in_characters)))
CALL(steady_text, (daedal_report(stage->result, DAEDAL_REPORT_STEADY, DAEDAL_TEXT),
                   daedal_status_of(stage->result) != DAEDAL_INTERNAL))
CALL(steady_json, said(daedal_report(stage->result, DAEDAL_REPORT_STEADY, DAEDAL_JSON)))
CALL(compare_plot, said(daedal_draw(stage->result, NULL)))

CALL(estimate_text, said(daedal_report(stage->estimate, DAEDAL_REPORT_FIT, DAEDAL_TEXT)))
CALL(estimate_json, said(daedal_report(stage->estimate, DAEDAL_REPORT_FIT, DAEDAL_JSON)))
CALL(estimate_plot, said(daedal_draw(stage->estimate, NULL)))
CALL(sweep_json, said(daedal_report(stage->sweep, DAEDAL_REPORT_SWEEP, DAEDAL_JSON)))
CALL(sweep_plot, said(daedal_draw(stage->sweep, NULL)))
CALL(sweep_stream, daedal_stream(stage->sweep, swallow, NULL) == DAEDAL_OK)

/* Another function of the table makes the arguments that a function needs. */
typedef struct Row {
  const char *function;
  bool (*call)(Stage *);
  bool (*before)(Stage *); /* on a loaded model; NULL: none */
  bool loads;              /* works without a model */
} Row;

static const Row ROWS[] = {
    {"load_text", load_text, NULL, true},
    {"load_file", load_file, NULL, true},
    {"load", load_netlist, NULL, true},
    {"load", load_with_options, NULL, true},
    {"parse_libraries", parse_libraries, NULL, true},
    {"check_fmu", check_fmu, NULL, true},
    {"status_of", call_model_status, NULL, false},
    {"model_name", call_model_name, NULL, false},
    {"library_model", call_library_model, NULL, false},
    {"diagnostic_count", call_diagnostic_count, NULL, false},
    {"diagnostic_get", call_diagnostic_get, NULL, false},
    {"error_count", call_error_count, NULL, false},
    {"model_counts", call_model_counts, NULL, false},
    {"report", call_flatten, NULL, false},
    {"analyze", call_analyze, NULL, false},
    {"report", call_analysis_text, NULL, false},
    {"report", call_analysis_json, NULL, false},
    {"draw", call_analysis_svg, NULL, false},
    {"report", call_analysis_text, simulate, false},
    {"initialize", initialize, NULL, false},
    {"simulate", simulate, NULL, false},
    {"simulate", simulate, simulate, false},
    {"result_event", call_result_event, simulate, false},
    {"report", call_result_choice, simulate, false},
    {"plan_make", make_plan, NULL, false},
    {"status_of", call_plan_status, make_plan, false},
    {"diagnostic_count", call_plan_diagnostic_count, make_plan, false},
    {"diagnostic_get", call_plan_diagnostic, make_plan, false},
    {"plan_depends_on_values", call_plan_depends_on_values, make_plan, false},
    {"plan_value", call_plan_value, make_plan, false},
    {"plan_structures", call_plan_structures, make_plan, false},
    {"run_make", make_run, make_plan, false},
    {"run_set", call_run_set, make_run, false},
    {"run_execute", call_run_execute, make_run, false},
    {"run_get", call_run_get, make_run, false},
    {"run_result", call_run_result, make_run, false},
    {"run_start", call_run_start, make_run, false},
    {"run_advance", call_run_advance, begin_steps, false},
    {"run_step", call_run_step, begin_steps, false},
    {"run_time", call_run_time, begin_steps, false},
    {"run_ended", call_run_ended, begin_steps, false},
    {"run_values", call_run_values, begin_steps, false},
    {"run_state_count", call_run_state_count, begin_steps, false},
    {"run_indicator_count", call_run_indicator_count, begin_steps, false},
    {"run_states", call_run_states, begin_steps, false},
    {"run_rates", call_run_rates, begin_steps, false},
    {"run_jacobian", call_run_jacobian, begin_steps, false},
    {"run_indicators", call_run_indicators, begin_steps, false},
    {"run_derivatives", call_run_derivatives, begin_steps, false},
    {"run_interpolate", interpolate, begin_steps, false},
    {"run_set_value", set_value, make_run, false},
    {"run_save", save_and_restore, begin_steps, false},
    {"run_restore", save_and_restore, begin_steps, false},
    {"run_clone", clone, begin_steps, false},
    {"run_result", call_run_result, begin_steps, false},
    {"run_take_result", call_run_take_result, begin_steps, false},
    {"variable_count", call_variable_count, NULL, false},
    {"variable_get", call_variable_get, NULL, false},
    {"variable_find", call_variable_find, NULL, false},
    {"array_sizes", call_array_sizes, NULL, false},
    {"plan_model", call_plan_model, make_plan, false},
    {"result_values", call_result_values, simulate, false},
    {"compare", compare, NULL, false},
    {"result_sensitivity", call_result_sensitivity, simulate, false},
    {"simulate", simulate_differentiated, NULL, false},
    {"simulate", simulate_backwards, NULL, false},
    {"result_functional", call_result_functional, simulate, false},
    {"result_derivatives", call_result_derivatives, simulate, false},
    {"result_derivative", call_result_derivative, simulate, false},
    {"linearize", linearize, NULL, false},
    {"linear_get", call_result_linear, linearize, false},
    {"report", call_linear_text, linearize, false},
    {"report", call_linear_json, linearize, false},
    {"draw", call_linear_bode, linearize, false},
    {"draw", call_linear_bode_terminal, linearize, false},
    {"save", write_matrices, linearize, false},
    {"steady", find_steady, NULL, false},
    {"report", call_steady_text, find_steady, false},
    {"report", call_steady_json, find_steady, false},
    {"export_c", export_c, NULL, false},
    {"export_solver", export_solver, NULL, false},
    {"export_fmu", export_fmu, NULL, false},
    {"write", write_for_result, simulate, false},
    {"write", write_bytes, NULL, false},
    {"dump", dump, NULL, false},
    {"status_of", call_result_status, simulate, false},
    {"diagnostic_count", call_result_diagnostic_count, simulate, false},
    {"diagnostic_get", call_result_diagnostic, simulate, false},
    {"result_statistics", call_result_statistics, simulate, false},
    {"result_signals", call_result_signals, simulate, false},
    {"result_rows", call_result_rows, simulate, false},
    {"result_name", call_result_name, simulate, false},
    {"result_unit", call_result_unit, simulate, false},
    {"result_value", call_result_value, simulate, false},
    {"result_find", call_result_find, simulate, false},
    {"save", call_result_write_csv, simulate, false},
    {"save", call_result_write_mat, simulate, false},
    {"report", call_result_text, simulate, false},
    {"report", call_result_json, simulate, false},
    {"stream", call_result_stream, simulate, false},
    {"draw", call_result_plot, simulate, false},
    {"result_choose", call_result_choose, simulate, false},
    {"result_residuals", call_result_residuals, simulate, false},
    {"draw", call_result_plot_terminal, simulate, false},
    {"report", call_result_initial_text, simulate, false},
    {"report", call_result_initial_json, initialize, false},
    {"report", call_result_start_values, initialize, false},
    {"report", call_result_model, initialize, false},
    {"report", call_result_model_json, simulate, false},
    {"report", call_compare_text, compare, false},
    {"report", call_compare_json, compare, false},
    {"draw", call_compare_plot, compare, false},
    {"fit", fit, NULL, false},
    {"report", call_estimate_text, fit, false},
    {"report", call_estimate_json, fit, false},
    {"draw", call_estimate_plot, fit, false},
    {"status_of", fit_figures, fit, false},
    {"diagnostic_count", fit_figures, fit, false},
    {"diagnostic_get", fit_figures, fit, false},
    {"estimate_parameters", fit_figures, fit, false},
    {"estimate_parameter", fit_figures, fit, false},
    {"estimate_covariance", fit_figures, fit, false},
    {"estimate_deviation", fit_figures, fit, false},
    {"sweep_make", make_sweep, NULL, false},
    {"sweep_execute", execute_sweep, make_sweep, false},
    {"save", write_table, run_sweep, false},
    {"stream", call_sweep_stream, run_sweep, false},
    {"report", call_sweep_json, run_sweep, false},
    {"draw", call_sweep_plot, run_sweep, false},
    {"sweep_put", put_row, run_sweep, false},
    {"status_of", sweep_figures, run_sweep, false},
    {"diagnostic_count", sweep_figures, run_sweep, false},
    {"diagnostic_get", sweep_figures, run_sweep, false},
    {"sweep_progress_get", sweep_figures, run_sweep, false},
    {"sweep_points", sweep_figures, run_sweep, false},
    {"sweep_columns", sweep_figures, run_sweep, false},
    {"sweep_varied", sweep_figures, run_sweep, false},
    {"sweep_column_name", sweep_figures, run_sweep, false},
    {"sweep_value", sweep_figures, run_sweep, false},
    {"sweep_point_status", sweep_figures, run_sweep, false},
    {"sweep_point_cause", sweep_figures, run_sweep, false},
    {"sweep_point_finished", sweep_figures, run_sweep, false},
    {"sweep_finished", sweep_figures, run_sweep, false},
    {"sweep_row_length", sweep_figures, run_sweep, false},
    {"sweep_row", sweep_figures, run_sweep, false},
    {"files_read", read_two, write_two, false},
    {"files_compare", compare_two, write_and_read_two, false},
    {"draw", draw_two, write_and_compare_two, false},
    {"draw", draw_two_as_text, write_and_read_two, false},
    {"report", tell_of_two, write_and_compare_two, false},
    {"report", tell_of_two_as_json, write_and_compare_two, false},
    {"write", write_beside, write_and_read_two, false},
    {"status_of", figures_of_two, write_and_compare_two, false},
    {"diagnostic_count", figures_of_two, write_and_compare_two, false},
    {"diagnostic_get", figures_of_two, write_and_compare_two, false},
    {"files_different", figures_of_two, write_and_compare_two, false},
    {"files_difference", figures_of_two, write_and_compare_two, false},
};

/* Functions that every row uses, or that have neither a handle nor memory. */
static const char *const EXEMPT[] = {"free",       "default_options", "method_names", "solver_names",
                                     "pass_names", "version",         "result_pivot", "nearest_name",
                                     "code_get",   "model_text",      "state_free"};

/* ---- refusing ---- */

/* After any refusal, both handles still return their status and messages. */
static void ask(const Stage *stage) {
  if (stage->model) {
    daedal_status_of(stage->model);
    for (uint32_t k = 0; k < daedal_diagnostic_count(stage->model); k++)
      assert_non_null(daedal_diagnostic_get(stage->model, k).message);
  }
  if (stage->result) {
    daedal_result_statistics(stage->result);
    for (uint32_t k = 0; k < daedal_diagnostic_count(stage->result); k++)
      assert_non_null(daedal_diagnostic_get(stage->result, k).message);
  }
}

static Stage stage_for(const Case *model) {
  Stage stage = {
      .text = model->text, .method = model->method, .solver = model->solver, .has_inputs = model->has_inputs};
  const char *build = getenv("BUILD_DIR");
  snprintf(stage.path, sizeof stage.path, "%s/refused", build ? build : ".");
  return stage;
}

/* Makes the arguments of the row, then calls its function with one allocation refused (0: none). Returns the number of allocations
 * of the call. */
static size_t call_refusing(const Row *row, const Case *model, size_t refuse) {
  Stage stage = stage_for(model);
  fail_alloc_begin(&stage.fail);
  if (!row->loads) assert_true(load_text(&stage));
  if (row->before) assert_true(row->before(&stage));
  size_t before = stage.fail.count;
  stage.fail.refuse = refuse ? before + refuse : 0;
  bool done = row->call(&stage);
  size_t count = stage.fail.count - before;
  if (done != !stage.fail.refused)
    fail_msg("%s of %s, allocation %zu of %zu: %s", row->function, model->name, refuse, count,
             done ? "refused, and done" : "not done");
  ask(&stage);
  row->call(&stage);
  daedal_free(stage.model);
  daedal_free(stage.plan);
  daedal_free(stage.run);
  daedal_free(stage.sweep);
  daedal_free(stage.estimate);
  daedal_free(stage.files);
  daedal_free(stage.result);
  if (stage.fail.live)
    fail_msg("%s of %s, allocation %zu: %zu blocks were not given back", row->function, model->name, refuse,
             stage.fail.live);
  return count;
}

/* The counts of one test. */
typedef struct Tally {
  size_t refused, allocations;
} Tally;

static void say_tally(const char *name, const Tally *tally) {
  print_message("%s: %zu of %zu allocations refused\n", name, tally->refused, tally->allocations);
}

/* Refuses allocations that are spread evenly over the call, starting at a different one in each call of this function. */
static void refuse_each(const Row *row, const Case *model, size_t most, Tally *tally) {
  static size_t calls;
  size_t allocations = call_refusing(row, model, 0), stride = allocations / most + 1;
  tally->allocations += allocations;
  for (size_t refuse = 1 + 7919 * calls++ % stride; refuse <= allocations; refuse += stride) {
    call_refusing(row, model, refuse);
    tally->refused++;
  }
}

static const char NETLIST[] =
    "a circuit of most kinds\n.param r=1k\n.func f(x) {2*x}\n.subckt s a b params: c=1n\nR1 a b {f(r)}\n"
    "C1 b 0 {c}\n.ends\nV1 in 0 SIN(0 1 1k)\nX1 in out s\nD1 out 0 DM\nL1 out x 1m\nR2 x 0 100\n"
    ".model DM D(IS=1e-14 CJO=1p RS=1)\n.tran 1u 1m\n.end\n";

static void save_text(const Case *model, const char *ending, const char *text) {
  char path[300];
  Stage stage = stage_for(model);
  FILE *file = fopen(path_with(&stage, ending, path, sizeof path), "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

/* The files that load_file and load_netlist read. */
static void write_files(const Case *model) {
  save_text(model, ".mo", model->text);
  save_text(model, ".cir", NETLIST);
}

static void each_allocation_refused(void **state) {
  const Case *model = *state;
  write_files(model);
  bool is_first = model == CASES;
  size_t number = (size_t)(model - CASES);
  Tally tally = {0};
  for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++)
    if (is_first || (k + number) % tier().share == 0)
      refuse_each(&ROWS[k], model, is_first ? tier().most_of_first : tier().most, &tally);
  say_tally(model->name, &tally);
}

static void each_method_refused(void **state) {
  (void)state;
  static const Row ROW = {"simulate", simulate, NULL, false};
  Case model = CASES[0];
  Tally tally = {0};
  for (const char *const *name = daedal_method_names(); *name; name++) {
    model.name = model.method = *name;
    refuse_each(&ROW, &model, tier().most, &tally);
  }
  say_tally("methods", &tally);
}

/* From a text to the results: all allocations on the way are refused. */
static bool step_through(Stage *stage) {
  return begin_steps(stage) && save_and_restore(stage) && daedal_run_step(stage->run) == DAEDAL_OK &&
         daedal_run_values(stage->run) && clone(stage);
}

static bool tell(Stage *stage) {
  return simulate(stage) && said(daedal_report(stage->result, DAEDAL_REPORT_RUN, DAEDAL_TEXT)) &&
         said(daedal_report(stage->result, DAEDAL_REPORT_RUN, DAEDAL_JSON)) &&
         said(daedal_report(stage->result, DAEDAL_REPORT_INITIAL, DAEDAL_JSON)) &&
         said(daedal_draw(stage->result, NULL)) &&
         said(daedal_report(stage->model, DAEDAL_REPORT_ANALYSIS, DAEDAL_JSON));
}

static bool sweep_to_table(Stage *stage) { return run_sweep(stage) && write_table(stage); }
static bool write_result(Stage *stage) { return simulate(stage) && write_as(stage, ".csv") && write_as(stage, ".mat"); }
static bool compare_solver(Stage *stage) {
  daedal_options options = short_run(stage);
  return ran(stage, daedal_compare(stage->model, &options, DUMMY, (const char *const[]){stage->solver, NULL})) &&
         said(daedal_report(stage->result, DAEDAL_REPORT_COMPARISON, DAEDAL_TEXT));
}

#define SCENARIO(name, work) \
  static bool scenario_##name(Stage *stage) { return load_text(stage) && work(stage); }
SCENARIO(init, initialize)
SCENARIO(plan, make_plan)
SCENARIO(run, write_result)
SCENARIO(sensitivity, simulate_differentiated)
SCENARIO(gradient, simulate_backwards)
SCENARIO(step, step_through)
SCENARIO(sweep, sweep_to_table)
SCENARIO(fit, fit)
SCENARIO(compare, compare_solver)
SCENARIO(linearize, linearize)
SCENARIO(steady, find_steady)
SCENARIO(source, export_c)
SCENARIO(solver, export_solver)
SCENARIO(fmu, export_fmu)
SCENARIO(report, tell)

static const Row SCENARIOS[] = {
    {"init", scenario_init, NULL, true},
    {"plan", scenario_plan, NULL, true},
    {"run", scenario_run, NULL, true},
    {"sensitivity", scenario_sensitivity, NULL, true},
    {"gradient", scenario_gradient, NULL, true},
    {"step", scenario_step, NULL, true},
    {"sweep", scenario_sweep, NULL, true},
    {"fit", scenario_fit, NULL, true},
    {"compare", scenario_compare, NULL, true},
    {"linearize", scenario_linearize, NULL, true},
    {"steady", scenario_steady, NULL, true},
    {"export --c", scenario_source, NULL, true},
    {"export --standalone", scenario_solver, NULL, true},
    {"export --fmu", scenario_fmu, NULL, true},
    {"report", scenario_report, NULL, true},
};

static void scenario_with_each_solver(void **state) {
  const Row *scenario = *state;
  Case model = CASES[0];
  Tally tally = {0};
  for (const char *const *name = daedal_solver_names(); *name; name++) {
    model.name = model.solver = *name;
    refuse_each(scenario, &model, tier().most_of_scenario, &tally);
  }
  say_tally(scenario->function, &tally);
}

/* ---- the table is complete ---- */

static bool has_row(const char *name) {
  for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++)
    if (strcmp(ROWS[k].function, name) == 0) return true;
  return header_among(name, EXEMPT, sizeof EXEMPT / sizeof *EXEMPT);
}

static void every_function_has_a_row(void **state) {
  (void)state;
  header_check(has_row);
}

/* Replaces the compilers by scripts that make empty files. An FMU contains one compiled library for each system, and here the
 * compilers would run thousands of times. */
static void use_empty_compilers(void) {
  static const char *const names[] = {"cc", "x86_64-w64-mingw32-gcc"};
  char folder[300], file[340], path[8192];
  const char *build = getenv("BUILD_DIR"), *before = getenv("PATH");
  snprintf(folder, sizeof folder, "%s/refused_compiler", build ? build : ".");
  (void)mkdir(folder, 0777);
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    snprintf(file, sizeof file, "%s/%s", folder, names[k]);
    FILE *text = fopen(file, "w");
    assert_non_null(text);
    fputs("#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" = -o ] && : > \"$2\"; shift; done\n", text);
    fclose(text);
    assert_int_equal(chmod(file, 0755), 0);
  }
  snprintf(path, sizeof path, "%s:%s", folder, before ? before : "");
  assert_int_equal(setenv("PATH", path, 1), 0);
}

int main(void) {
  use_empty_compilers();
  enum { COUNT = sizeof CASES / sizeof *CASES, SCENARIO_COUNT = sizeof SCENARIOS / sizeof *SCENARIOS };
  struct CMUnitTest tests[2 + SCENARIO_COUNT + COUNT] = {cmocka_unit_test(every_function_has_a_row),
                                                         cmocka_unit_test(each_method_refused)};
  struct CMUnitTest *next = tests + 2;
  for (size_t k = 0; k < SCENARIO_COUNT; k++)
    *next++ = (struct CMUnitTest){SCENARIOS[k].function, scenario_with_each_solver, NULL, NULL,
                                  (void *)(uintptr_t)&SCENARIOS[k]};
  for (size_t k = 0; k < COUNT; k++)
    *next++ = (struct CMUnitTest){CASES[k].name, each_allocation_refused, NULL, NULL, (void *)(uintptr_t)&CASES[k]};
  cmocka_set_test_filter(getenv("TEST_FILTER"));
  return cmocka_run_group_tests(tests, NULL, NULL);
}
