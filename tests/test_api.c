/* The public interface: handles, options, statistics, errors as values. Every allocation from text to analysis is refused once,
 * and many of a whole simulation, without a crash or a leak. */
#include "daedal.h"

#include "fail_alloc.h"

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
  assert_int_equal(daedal_status_of(model), DAEDAL_OK);
  assert_string_equal(daedal_model_name(model), "Pendulum");
  assert_int_equal(daedal_model_counts(model).equations, 7);
  daedal_analysis analysis = daedal_analyze(model);
  assert_int_equal(analysis.structural_index, 3);
  assert_int_equal(analysis.dof, 2);
  daedal_options options = daedal_default_options();
  options.overrides = (const daedal_override[]){{"L", 2, NULL}, {"x", 0, "2"}};
  options.override_count = 2;
  daedal_result *result = daedal_simulate(model, &options);
  assert_int_equal(daedal_status_of(result), DAEDAL_OK);
  uint32_t x = daedal_result_find(result, "x"), y = daedal_result_find(result, "y");
  for (uint32_t row = 0; row < daedal_result_rows(result); row++) {
    double length = hypot(daedal_result_value(result, x, row), daedal_result_value(result, y, row));
    assert_true(fabs(length - 2) < 1e-13);
  }
  assert_int_equal(daedal_result_find(result, "nothing"), UINT32_MAX);
  daedal_statistics statistics = daedal_result_statistics(result);
  assert_true(statistics.steps > 5 && statistics.states == 2 && statistics.end_time == 1);
  assert_non_null(strstr(daedal_report(result, DAEDAL_REPORT_RUN, DAEDAL_JSON), "\"status\": \"ok\""));
  assert_non_null(strstr(daedal_draw(result, NULL), "<svg"));
  daedal_free(result);
  daedal_free(model);
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
  assert_int_equal(daedal_status_of(result), DAEDAL_OK);
  assert_int_equal(calls, 3);
  assert_true(daedal_result_statistics(result).end_time < 1);
  daedal_free(result);
  daedal_free(model);
}

static const char CROSSING[] = "model M Real x(start = 0, fixed = true); Boolean high(start = false, fixed = true); "
                               "equation der(x) = cos(time); high = x > 0.5; end M;";

typedef struct Crossings {
  int count, most;
  double time[8];
  int direction[8];
} Crossings;

static bool note_crossing(void *context, const daedal_event *event) {
  Crossings *crossings = context;
  if (event->direction == 0) return false;
  crossings->time[crossings->count] = event->time;
  crossings->direction[crossings->count++] = event->direction;
  return crossings->count == crossings->most;
}

/* x = sin(time) passes 0.5 upwards at pi/6, downwards at 5 pi/6, and so on. */
static void events_have_directions(void **state) {
  (void)state;
  daedal_model *model = load(CROSSING, NULL);
  daedal_options options = daedal_default_options();
  for (int most = 1; most <= 5; most++) {
    Crossings crossings = {.most = most};
    options.stop_time = 8;
    options.on_event = note_crossing;
    options.context = &crossings;
    daedal_result *result = daedal_simulate(model, &options);
    assert_int_equal(daedal_status_of(result), DAEDAL_OK);
    assert_int_equal(crossings.count, most < 3 ? most : 3);
    const double pi = acos(-1.0), times[] = {pi / 6, 5 * pi / 6, 2 * pi + pi / 6};
    for (int k = 0; k < crossings.count; k++) {
      assert_true(fabs(crossings.time[k] - times[k]) < 1e-4);
      assert_int_equal(crossings.direction[k], k % 2 ? -1 : 1);
    }
    double end = most < 4 ? times[most - 1] : 8; /* returning true has ended the run */
    assert_true(fabs(daedal_result_statistics(result).end_time - end) < 1e-4);
    daedal_free(result);
  }
  daedal_free(model);
}

/* A small state next to one of size 1: with every solver, its error falls with its own absolute tolerance, even if an alias
 * names the state. */
static void absolute_tolerances(void **state) {
  (void)state;
  daedal_model *model =
      load("model M Real x(start = 1e-6, fixed = true), y(start = 0, fixed = true, nominal = 1), z = x; "
           "equation der(x) = 1e-6*cos(5*time) - 5*(x - 1e-6); der(y) = 1; end M;",
           NULL);
  for (const char *const *solver = daedal_solver_names(); *solver; solver++) {
    uint64_t steps[3];
    for (int k = 0; k < 3; k++) {
      daedal_value given = {k == 2 ? "z" : "x", k == 0 ? 1e-6 : 1e-14};
      daedal_options options = daedal_default_options();
      options.solver = *solver;
      options.stop_time = 5;
      options.absolute_tolerances = &given;
      options.absolute_tolerance_count = 1;
      daedal_result *result = daedal_simulate(model, &options);
      assert_int_equal(daedal_status_of(result), DAEDAL_OK);
      steps[k] = daedal_result_statistics(result).steps;
      daedal_free(result);
    }
    assert_true(steps[1] > steps[0] + 2);
    assert_int_equal(steps[1], steps[2]);
  }
  static const daedal_value wrong[] = {{"w", 1}, {"x", 0}, {"x", NAN}, {NULL, 1}};
  for (int k = 0; k < 4; k++) {
    daedal_options options = daedal_default_options();
    options.absolute_tolerances = &wrong[k];
    options.absolute_tolerance_count = 1;
    daedal_result *result = daedal_simulate(model, &options);
    assert_int_equal(daedal_status_of(result), DAEDAL_USAGE);
    daedal_free(result);
  }
  daedal_free(model);
}

static void errors_are_values(void **state) {
  (void)state;
  daedal_model *model = load("model M\n  Real x;\nequation\n  x = zz;\nend M;\n", NULL);
  assert_int_equal(daedal_status_of(model), DAEDAL_INPUT);
  assert_true(daedal_diagnostic_count(model) > 0);
  daedal_diagnostic diagnostic = daedal_diagnostic_get(model, 0);
  assert_int_equal(diagnostic.place.line, 4);
  assert_int_equal(diagnostic.place.column, 7);
  assert_string_equal(diagnostic.place.text, "  x = zz;");
  assert_non_null(strstr(diagnostic.message, "zz"));
  assert_null(daedal_report(model, DAEDAL_REPORT_FLAT, DAEDAL_TEXT));
  daedal_options options = daedal_default_options();
  daedal_result *result = daedal_simulate(model, &options);
  assert_int_equal(daedal_status_of(result), DAEDAL_INPUT);
  daedal_free(result);
  daedal_free(model);
  model = daedal_load_file("/nonexistent/model.mo", NULL, NULL);
  assert_int_equal(daedal_status_of(model), DAEDAL_FILE);
  daedal_free(model);
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
  options[4].overrides = &(const daedal_override){"nothing", 1, NULL};
  options[4].override_count = 1;
  options[5].variables = (const char *const[]){"(", NULL};
  for (int k = 0; k < 6; k++) {
    daedal_result *result = daedal_simulate(model, &options[k]);
    assert_int_equal(daedal_status_of(result), DAEDAL_USAGE);
    daedal_free(result);
  }
  daedal_free(model);
}

static void every_name_works(void **state) {
  (void)state;
  daedal_model *model = load(PENDULUM, NULL);
  for (const char *const *solver = daedal_solver_names(); *solver; solver++) {
    daedal_options options = daedal_default_options();
    options.solver = *solver;
    daedal_result *result = daedal_simulate(model, &options);
    assert_int_equal(daedal_status_of(result), DAEDAL_OK);
    daedal_free(result);
  }
  for (const char *const *pass = daedal_pass_names(); *pass; pass++) assert_non_null(daedal_dump(model, *pass));
  assert_null(daedal_dump(model, "nothing"));
  daedal_free(model);
}

/* The message about an unknown name lists every known name, except `auto`, which is not an integrator. */
static void unknown_names_list_the_known(void **state) {
  (void)state;
  daedal_model *model = load(PENDULUM, NULL);
  const char *const *const lists[] = {daedal_method_names(), daedal_solver_names() + 1};
  daedal_options options[2] = {daedal_default_options(), daedal_default_options()};
  options[0].method = options[1].solver = "magic";
  for (int k = 0; k < 2; k++) {
    daedal_result *result = daedal_simulate(model, &options[k]);
    daedal_diagnostic first = daedal_diagnostic_get(result, 0);
    uint32_t count = 0;
    for (; lists[k][count]; count++)
      assert_memory_equal(first.notes[count].message, lists[k][count], strlen(lists[k][count]));
    assert_int_equal(first.note_count, count);
    daedal_free(result);
  }
  daedal_free(model);
}

/* Reports in JSON exist even if there was no memory for a result, or if a model cannot be read. */
static void json_without_result(void **state) {
  (void)state;
  daedal_model *model = load("model", NULL);
  const char *const reports[] = {daedal_report(NULL, DAEDAL_REPORT_RUN, DAEDAL_JSON),
                                 daedal_report(NULL, DAEDAL_REPORT_INITIAL, DAEDAL_JSON),
                                 daedal_report(NULL, DAEDAL_REPORT_REDUCED, DAEDAL_JSON),
                                 daedal_report(NULL, DAEDAL_REPORT_COMPARISON, DAEDAL_JSON),
                                 daedal_report(model, DAEDAL_REPORT_ANALYSIS, DAEDAL_JSON)};
  for (size_t k = 0; k < sizeof reports / sizeof *reports; k++) {
    assert_memory_equal(reports[k], "{\"status\": \"input\", \"", 21);
    assert_string_equal(reports[k] + strlen(reports[k]) - 2, "}\n");
  }
  assert_non_null(strstr(daedal_report(model, DAEDAL_REPORT_ANALYSIS, DAEDAL_JSON), "\"code\": \"D301\""));
  for (uint32_t k = 0; daedal_code_get(k).code; k++) {
    assert_true(*daedal_code_get(k).title && *daedal_code_get(k).explanation);
    assert_true(k == 0 || strcmp(daedal_code_get(k - 1).code, daedal_code_get(k).code) < 0);
  }
  daedal_free(model);
}

static const char CHAIN[] =
    "model Chain\n"
    "  parameter Integer n = 2; parameter Real k[n] = fill(1.0, n); parameter String s = \"a\";\n"
    "  Real x[n](each start = 1, each fixed = true);\n"
    "equation\n"
    "  for i in 1:n loop der(x[i]) = if s == \"a\" then -k[i]*x[i] else 0; end for;\n"
    "end Chain;\n";

static daedal_result *initialize(daedal_model *model, const daedal_override *overrides, uint32_t count) {
  daedal_options options = daedal_default_options();
  options.overrides = overrides;
  options.override_count = count;
  return daedal_initialize(model, &options);
}

/* A result with another structure has its own model; the caller's model is unchanged. */
static void structural_overrides(void **state) {
  (void)state;
  daedal_model *model = load(CHAIN, NULL);
  daedal_result *longer =
      initialize(model, (daedal_override[]){{"n", 4, NULL}, {"k[4]", 3, NULL}, {"x[4]", 2, NULL}}, 3);
  daedal_result *plain = initialize(model, NULL, 0);
  daedal_result *refused = initialize(model, &(daedal_override){"k", 0, "{1,2,3}"}, 1);
  assert_int_equal(daedal_status_of(longer), DAEDAL_OK);
  assert_true(daedal_result_value(longer, daedal_result_find(longer, "der(x[4])"), 0) == -6);
  assert_non_null(strstr(daedal_report(longer, DAEDAL_REPORT_INITIAL, DAEDAL_TEXT), "x[4]"));
  assert_non_null(strstr(daedal_report(longer, DAEDAL_REPORT_REDUCED, DAEDAL_TEXT), "x[4]"));
  assert_int_equal(daedal_result_find(plain, "x[3]"), UINT32_MAX);
  assert_int_equal(daedal_model_counts(model).equations, 2);
  assert_int_equal(daedal_status_of(refused), DAEDAL_USAGE);
  assert_int_equal(daedal_diagnostic_get(refused, 0).place.line, 2);
  daedal_free(refused);
  daedal_free(plain);
  daedal_free(longer);
  daedal_free(model);
}

static void nearest_names(void **state) {
  (void)state;
  const char *const names[] = {"simulate", "compare", "x", NULL};
  assert_string_equal(daedal_nearest_name("simluate", names), "simulate");
  assert_string_equal(daedal_nearest_name("comp", names), "compare");
  assert_null(daedal_nearest_name("y", names));
  assert_null(daedal_nearest_name("", names));
}

/* ---- handles without contents, options of other versions ---- */

static void nothing_is_a_handle_too(void **state) {
  (void)state;
  assert_int_equal(daedal_status_of(NULL), DAEDAL_INTERNAL);
  assert_int_equal(daedal_status_of(NULL), DAEDAL_INTERNAL);
  assert_int_equal(daedal_status_of(NULL), DAEDAL_INTERNAL);
  assert_int_equal(daedal_run_execute(NULL), DAEDAL_INTERNAL);
  assert_int_equal(daedal_run_set(NULL, "x", 1), DAEDAL_USAGE);
  assert_int_equal(daedal_result_rows(NULL) + daedal_result_signals(NULL), 0);
  assert_int_equal(daedal_model_counts(NULL).equations, 0);
  assert_int_equal(daedal_result_statistics(NULL).steps, 0);
  assert_int_equal(daedal_result_find(NULL, "x"), UINT32_MAX);
  assert_null(daedal_simulate(NULL, NULL));
  assert_null(daedal_plan_make(NULL, NULL));
  assert_null(daedal_run_make(NULL));
  assert_null(daedal_report(NULL, DAEDAL_REPORT_FLAT, DAEDAL_TEXT));
  assert_null(daedal_report(NULL, DAEDAL_REPORT_ANALYSIS, DAEDAL_TEXT));
  assert_null(daedal_report(NULL, DAEDAL_REPORT_RUN, DAEDAL_TEXT));
  assert_null(daedal_report(NULL, DAEDAL_REPORT_REDUCED, DAEDAL_TEXT));
  assert_null(daedal_report(NULL, DAEDAL_REPORT_COMPARISON, DAEDAL_TEXT));
  assert_null(daedal_run_result(NULL));
  assert_true(isnan(daedal_run_get(NULL, "x")));
  assert_non_null(daedal_diagnostic_get(NULL, 0).message);
  daedal_free(NULL);
  daedal_free(NULL);
  daedal_free(NULL);
  daedal_free(NULL);
  assert_string_equal(daedal_version(), DAEDAL_VERSION);
}

static void indices_out_of_range(void **state) {
  (void)state;
  daedal_model *model = load(PENDULUM, NULL);
  daedal_options options = daedal_default_options();
  options.tolerance = 2; /* refused */
  daedal_result *results[] = {daedal_simulate(model, NULL), daedal_simulate(model, &options)};
  assert_int_equal(daedal_status_of(results[0]), DAEDAL_OK);
  assert_int_equal(daedal_status_of(results[1]), DAEDAL_USAGE);
  for (int k = 0; k < 2; k++) {
    daedal_result *result = results[k];
    uint32_t signals = daedal_result_signals(result), rows = daedal_result_rows(result);
    assert_string_equal(daedal_result_name(result, signals), "");
    assert_string_equal(daedal_result_unit(result, UINT32_MAX), "");
    assert_true(isnan(daedal_result_value(result, 0, rows)));
    assert_true(isnan(daedal_result_value(result, signals, 0)));
    assert_true(isnan(daedal_result_pivot(result, UINT32_MAX).time));
    assert_non_null(daedal_diagnostic_get(result, UINT32_MAX).message);
    daedal_free(result);
  }
  daedal_free(model);
}

/* A struct of zeros, or one from before members were added, means defaults for the rest. */
static void options_of_other_sizes(void **state) {
  (void)state;
  daedal_model *model = load(PENDULUM, NULL);
  daedal_options zeroed = {0}, older = daedal_default_options();
  older.stop_time = 0.5;
  older.size = offsetof(daedal_options, tolerance);
  older.tolerance = -1; /* not part of it */
  daedal_result *first = daedal_simulate(model, &zeroed), *second = daedal_simulate(model, &older);
  assert_int_equal(daedal_status_of(first), DAEDAL_OK);
  assert_int_equal(daedal_status_of(second), DAEDAL_OK);
  assert_true(daedal_result_statistics(first).end_time == 1);
  assert_true(daedal_result_statistics(second).end_time == 0.5);
  daedal_free(first);
  daedal_free(second);
  daedal_free(model);
}

/* ---- refused allocations ---- */

static bool analyze_with(FailAlloc *fail) {
  daedal_allocator allocator = {fail->hook.resize, fail->hook.context};
  daedal_model *model = load(PENDULUM, &allocator);
  bool done = false;
  if (model) {
    daedal_analysis analysis = daedal_analyze(model);
    done = analysis.status == DAEDAL_OK && daedal_report(model, DAEDAL_REPORT_ANALYSIS, DAEDAL_JSON) &&
           daedal_report(model, DAEDAL_REPORT_ANALYSIS, DAEDAL_TEXT) &&
           daedal_report(model, DAEDAL_REPORT_FLAT, DAEDAL_TEXT);
    if (!done) assert_int_equal(daedal_status_of(model), DAEDAL_INTERNAL);
    daedal_free(model);
  }
  return done;
}

static bool simulate_with(FailAlloc *fail) {
  daedal_allocator allocator = {fail->hook.resize, fail->hook.context};
  daedal_model *model = load(PENDULUM, &allocator);
  bool done = false;
  if (model) {
    daedal_options options = daedal_default_options();
    options.intervals = 5;
    daedal_result *result = daedal_simulate(model, &options);
    done = result && daedal_status_of(result) == DAEDAL_OK;
    if (result && !done) assert_int_equal(daedal_status_of(result), DAEDAL_INTERNAL);
    daedal_free(result);
    daedal_free(model);
  }
  return done;
}

static bool override_with(FailAlloc *fail) {
  static const daedal_override overrides[] = {{"n", 3, NULL}, {"k", 0, "{1,2,3}"}, {"x[3]", 2, NULL}, {"s", 0, "b"}};
  daedal_allocator allocator = {fail->hook.resize, fail->hook.context};
  daedal_model *model = load(CHAIN, &allocator);
  daedal_result *result = model ? initialize(model, overrides, 4) : NULL;
  bool done = result && daedal_status_of(result) == DAEDAL_OK;
  if (result && !done) assert_int_equal(daedal_status_of(result), DAEDAL_INTERNAL);
  daedal_free(result);
  daedal_free(model);
  return done;
}

static void each_allocation_of_an_override_refused(void **state) {
  (void)state;
  FAIL_ALLOC_EACH(fail) {
    bool done = override_with(&fail);
    assert_int_equal(fail.live, 0);
    assert_true(fail.refuse == 0 ? done : !done || !fail.refused);
  }
}

static void each_allocation_up_to_analysis_refused(void **state) {
  (void)state;
  FAIL_ALLOC_EACH(fail) {
    bool done = analyze_with(&fail);
    assert_int_equal(fail.live, 0);
    if (fail.refuse == 0) assert_true(done);
    else assert_true(!done || !fail.refused);
  }
}

/* A simulation has thousands of allocations, so only every seventh is refused. */
static void allocations_of_a_simulation_refused(void **state) {
  (void)state;
  FAIL_ALLOC_EACH(fail) {
    if (fail.refuse % 7 > 1) continue;
    bool done = simulate_with(&fail);
    assert_int_equal(fail.live, 0);
    if (fail.refuse == 0) assert_true(done);
  }
}

static const char SWITCHED[] =
    "model S parameter Real k = 1; Real x(start = 1, fixed = true), v, f; Boolean is_free; equation\n"
    "is_free = sin(30*time) > 0; der(x) = v; if is_free then der(v) = -k*x + f; f = -0.1*v;\n"
    "else v = 0.3; f = der(v) + x; end if; initial equation v = 0; end S;\n";

static daedal_status run_once(daedal_plan *plan) {
  daedal_run *run = daedal_run_make(plan);
  daedal_status status = run ? daedal_run_execute(run) : DAEDAL_INTERNAL;
  daedal_free(run);
  return status;
}

/* A refused allocation while another structure is derived ends the run that needs it. The plan stays intact, and the
 * next run succeeds. */
static void refusals_of_shared_structures(void **state) {
  (void)state;
  FailAlloc counted = {0};
  for (size_t refuse = 0;; refuse += refuse ? tier_stride(7, 29) : 1) {
    FailAlloc fail = {.hook = {.resize = fail_alloc_resize, .context = &fail}};
    daedal_allocator allocator = {fail.hook.resize, fail.hook.context};
    daedal_options options = daedal_default_options();
    options.stop_time = 0.3;
    options.intervals = 3;
    daedal_model *model = load(SWITCHED, &allocator);
    daedal_plan *plan = daedal_plan_make(model, &options);
    size_t before = fail.count;
    fail.refuse = refuse ? before + refuse : 0;
    daedal_status status = run_once(plan);
    if (!refuse) counted.total = fail.count - before;
    assert_int_equal(status, fail.refused ? DAEDAL_INTERNAL : DAEDAL_OK);
    fail.refuse = 0;
    assert_int_equal(run_once(plan), DAEDAL_OK);
    assert_int_equal(daedal_plan_structures(plan), 3);
    daedal_free(plan);
    daedal_free(model);
    assert_int_equal(fail.live, 0);
    if (refuse > counted.total) break;
  }
}

static bool count_bytes(void *context, const void *bytes, size_t length) {
  (void)bytes;
  *(size_t *)context += length;
  return length < SIZE_MAX;
}

static bool refuse_bytes(void *context, const void *bytes, size_t length) {
  (void)context, (void)bytes, (void)length;
  return false;
}

static void csv_goes_to_a_sink(void **state) {
  (void)state;
  daedal_model *model = load(PENDULUM, NULL);
  daedal_options options = daedal_default_options();
  daedal_result *result = daedal_simulate(model, &options);
  size_t bytes = 0;
  assert_int_equal(daedal_stream(result, count_bytes, &bytes), DAEDAL_OK);
  assert_true(bytes > 500 * 100);
  assert_int_equal(daedal_stream(result, refuse_bytes, NULL), DAEDAL_FILE);
  assert_int_equal(daedal_diagnostic_count(result), 1);
  assert_int_equal(daedal_status_of(result), DAEDAL_OK);
  daedal_free(result);
  daedal_free(model);
}

static const char *plot(daedal_result *result) { return daedal_draw(result, NULL); }
static const char *plot_terminal(daedal_result *result) {
  return daedal_draw(result, &(daedal_plot){.size = sizeof(daedal_plot), .width = 80, .height = 10});
}
static const char *stream(daedal_result *result) {
  size_t bytes = 0;
  return daedal_stream(result, count_bytes, &bytes) == DAEDAL_OK ? "all of it" : NULL;
}

typedef const char *(*Report)(daedal_result *result);

#define REPORT(name, kind, format)                                       \
  static const char *name(daedal_result *result) {                       \
    return daedal_report(result, DAEDAL_REPORT_##kind, DAEDAL_##format); \
  }
REPORT(run_text, RUN, TEXT)
REPORT(run_json, RUN, JSON)
REPORT(initial_text, INITIAL, TEXT)
REPORT(initial_json, INITIAL, JSON)
REPORT(start_values, START_VALUES, TEXT)
REPORT(reduced_text, REDUCED, TEXT)
REPORT(reduced_json, REDUCED, JSON)

/* Did the refusal happen? Then there is no report, and the status says so. */
static bool report_with(Report report, size_t refuse) {
  FailAlloc fail = {0};
  fail_alloc_begin(&fail);
  daedal_allocator allocator = {fail.hook.resize, fail.hook.context};
  daedal_model *model = load(PENDULUM, &allocator);
  daedal_options options = daedal_default_options();
  options.intervals = 5;
  daedal_result *result = daedal_simulate(model, &options);
  assert_int_equal(daedal_status_of(result), DAEDAL_OK);
  fail.refuse = fail.count + refuse;
  const char *text = report(result);
  assert_int_equal(text && *text, !fail.refused);
  assert_int_equal(daedal_status_of(result), fail.refused ? DAEDAL_INTERNAL : DAEDAL_OK);
  daedal_free(result);
  daedal_free(model);
  assert_int_equal(fail.live, 0);
  return fail.refused;
}

static void each_allocation_of_a_report_refused(void **state) {
  (void)state;
  static const Report reports[] = {run_text,     run_json,     plot,         plot_terminal, stream,
                                   initial_text, initial_json, start_values, reduced_text,  reduced_json};
  for (size_t r = 0; r < sizeof reports / sizeof *reports; r++)
    for (size_t refuse = 1; report_with(reports[r], refuse); refuse += 1 + refuse / 8) continue;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(load_analyze_simulate),
      cmocka_unit_test(callback_stops),
      cmocka_unit_test(events_have_directions),
      cmocka_unit_test(absolute_tolerances),
      cmocka_unit_test(errors_are_values),
      cmocka_unit_test(bad_options),
      cmocka_unit_test(every_name_works),
      cmocka_unit_test(unknown_names_list_the_known),
      cmocka_unit_test(json_without_result),
      cmocka_unit_test(nothing_is_a_handle_too),
      cmocka_unit_test(indices_out_of_range),
      cmocka_unit_test(options_of_other_sizes),
      cmocka_unit_test(structural_overrides),
      cmocka_unit_test(nearest_names),
      cmocka_unit_test(each_allocation_of_an_override_refused),
      cmocka_unit_test(each_allocation_up_to_analysis_refused),
      cmocka_unit_test(allocations_of_a_simulation_refused),
      cmocka_unit_test(refusals_of_shared_structures),
      cmocka_unit_test(csv_goes_to_a_sink),
      cmocka_unit_test(each_allocation_of_a_report_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
