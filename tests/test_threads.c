/* Threads: many runs of one plan and all reports of one model at once give the same numbers and texts as one thread. The thread
 * sanitizer runs this, too (tools/run_tests). */
#include "daedal.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 8, RUNS = 25 };

typedef struct Example {
  const char *name, *text, *parameter;
} Example;

static const Example EXAMPLES[] = {
    {"pendulum",
     "model P parameter Real L = 1, g = 9.81; Real x(start = 1), y(start = 0, fixed = true), vx(start = 0),\n"
     "vy(start = 0, fixed = true), lambda; equation der(x) = vx; der(y) = vy; der(vx) = -lambda*x;\n"
     "der(vy) = -lambda*y - g; x^2 + y^2 = L^2; end P;\n",
     "g"},
    {"condition",
     "model C parameter Real p = 2; Real x(start = 0, fixed = true); equation\n"
     "der(x) = if sin(p*time) > 0.5 then 1 else -x; end C;\n",
     "p"},
    {"homotopy",
     "model H parameter Real p = 2; Real a(start = 0.1), b; equation\n"
     "homotopy(a^3 - 2*a + p, a + 2) = 0; b = sin(a) + a^2 + time; end H;\n",
     "p"},
    {"free parameter",
     "model F parameter Real p(fixed = false, start = 1), q = 1; Real x(start = 1, fixed = true);\n"
     "initial equation der(x) = -0.5*q; equation der(x) = -p*x; end F;\n",
     "q"},
    {"rewritten",
     "model R parameter Real p = 1; Real x(start = 1), y; equation\n"
     "der(x) + der(y) + x = sin(p*time); der(x) + der(y) + y = if time > 0.5 then 1 else 2; end R;\n",
     "p"},
    {"rewritten by values",
     "model V parameter Real p = 1, q = 2; Real x(start = 1), y; equation\n"
     "der(x) + p*der(y) + x = sin(q*time); 2*der(x) + 2*p*der(y) + y = 2; end V;\n",
     "p"},
    {"structure",
     "model S parameter Real k = 1; Real x(start = 1, fixed = true), v, f; Boolean is_free; equation\n"
     "is_free = sin(30*time) > 0; der(x) = v; if is_free then der(v) = -k*x + f; f = -0.1*v;\n"
     "else v = 0.3; f = der(v) + x; end if; initial equation v = 0; end S;\n",
     "k"},
    {"structure at the start",
     "model T parameter Real p = 1; Real x(start = 1, fixed = true), v, f; Boolean is_free; equation\n"
     "is_free = sin(p + 6*time) > 0.87; der(x) = v; if is_free then der(v) = -x + f; f = -0.1*v;\n"
     "else v = 0.3*p; f = der(v) + x; end if; end T;\n",
     "p"},
    {"function",
     "model L function f input Real a; output Real b; protected Real c; algorithm b := 1; c := abs(a);\n"
     "while c > 0.25 loop c := c/2; b := b + 0.5*sin(a); end while; end f; parameter Real p = 1;\n"
     "Real x(start = 1, fixed = true); equation der(x) = -p*f(x); end L;\n",
     "p"},
};

/* The work of one thread; all numbers and texts that it sees are added to `seen`. */
typedef struct Worker {
  daedal_model *model;
  daedal_plan *plan;
  const char *parameter;
  int first; /* run: threads reach the structures of a model in different orders */
  uint64_t seen[RUNS];
} Worker;

static uint64_t add_bytes(uint64_t sum, const void *bytes, size_t length) {
  const unsigned char *p = bytes;
  for (size_t k = 0; k < length; k++) sum = (sum ^ p[k]) * 1099511628211u;
  return sum;
}

/* A text without its seconds, which are never the same twice. */
static uint64_t add_text(uint64_t sum, const char *text) {
  if (!text) return sum;
  const char *seconds = strstr(text, "seconds");
  return add_bytes(sum, text, seconds ? (size_t)(seconds - text) : strlen(text));
}

static uint64_t add_result(uint64_t sum, daedal_result *result) {
  for (uint32_t s = 0; s < daedal_result_signals(result); s++)
    for (uint32_t r = 0; r < daedal_result_rows(result); r++) {
      double value = daedal_result_value(result, s, r);
      sum = add_bytes(sum, &value, sizeof value);
    }
  sum = add_text(sum, daedal_report(result, DAEDAL_REPORT_RUN, DAEDAL_TEXT));
  sum = add_text(sum, daedal_report(result, DAEDAL_REPORT_INITIAL, DAEDAL_TEXT));
  sum = add_text(sum, daedal_report(result, DAEDAL_REPORT_INITIAL, DAEDAL_JSON));
  sum = add_text(sum, daedal_report(result, DAEDAL_REPORT_START_VALUES, DAEDAL_TEXT));
  sum = add_text(sum, daedal_report(result, DAEDAL_REPORT_REDUCED, DAEDAL_TEXT));
  sum = add_text(sum, daedal_draw(result, NULL));
  return daedal_report(result, DAEDAL_REPORT_RUN, DAEDAL_JSON) ? sum : 0;
}

static uint64_t one_run(Worker *worker, int number) {
  daedal_run *run = daedal_run_make(worker->plan);
  uint64_t sum = (uint64_t)number;
  if (number % 2) daedal_run_set(run, worker->parameter, 1 + 0.01 * number);
  daedal_status status = daedal_run_execute(run);
  sum = add_bytes(sum, &status, sizeof status);
  sum = add_result(sum, daedal_run_result(run));
  daedal_free(run);
  if (number % 5 == 0) {
    sum = add_text(sum, daedal_report(worker->model, DAEDAL_REPORT_ANALYSIS, DAEDAL_TEXT));
    sum = add_text(sum, daedal_report(worker->model, DAEDAL_REPORT_FLAT, DAEDAL_TEXT));
    sum = add_text(sum, daedal_dump(worker->model, "array"));
  }
  return sum;
}

static void *work(void *context) {
  Worker *worker = context;
  for (int k = 0; k < RUNS; k++) {
    int number = (worker->first + k) % RUNS;
    worker->seen[number] = one_run(worker, number);
  }
  return NULL;
}

static void check(const Example *example) {
  daedal_options options = daedal_default_options();
  options.intervals = 20;
  daedal_model *model = daedal_load_text(example->text, strlen(example->text), "test.mo", NULL, NULL);
  daedal_plan *plan = daedal_plan_make(model, &options);
  if (daedal_status_of(plan) != DAEDAL_OK) fail_msg("%s: %s", example->name, daedal_diagnostic_get(plan, 0).message);
  Worker alone = {model, plan, example->parameter, 0, {0}}, workers[THREADS];
  pthread_t threads[THREADS];
  work(&alone);
  uint32_t structures = daedal_plan_structures(plan);
  daedal_free(plan);
  plan = daedal_plan_make(model, &options); /* no run of this plan has been in other structures */
  for (int k = 0; k < THREADS; k++) {
    workers[k] = alone;
    workers[k].plan = plan;
    workers[k].first = 3 * k + 1;
    memset(workers[k].seen, 0, sizeof workers[k].seen);
    assert_int_equal(pthread_create(&threads[k], NULL, work, &workers[k]), 0);
  }
  for (int k = 0; k < THREADS; k++) {
    pthread_join(threads[k], NULL);
    for (int r = 0; r < RUNS; r++)
      if (workers[k].seen[r] != alone.seen[r]) fail_msg("%s: run %d of thread %d differs", example->name, r, k);
  }
  assert_int_equal(daedal_plan_structures(plan), structures);
  daedal_free(plan);
  daedal_free(model);
}

static void threads_share_a_plan(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof EXAMPLES / sizeof *EXAMPLES; k++) check(&EXAMPLES[k]);
}

/* Handles may be freed in any order, by any thread. */
static void handles_outlive_what_they_come_from(void **state) {
  (void)state;
  const Example *example = &EXAMPLES[0];
  daedal_model *model = daedal_load_text(example->text, strlen(example->text), "test.mo", NULL, NULL);
  daedal_plan *plan = daedal_plan_make(model, NULL);
  daedal_run *run = daedal_run_make(plan);
  daedal_result *result = daedal_simulate(model, NULL);
  daedal_free(model);
  daedal_free(plan);
  assert_int_equal(daedal_run_execute(run), DAEDAL_OK);
  assert_true(daedal_run_get(run, "time") == 1);
  assert_true(isnan(daedal_run_get(run, "nothing")));
  assert_non_null(daedal_report(result, DAEDAL_REPORT_REDUCED, DAEDAL_TEXT));
  daedal_free(run);
  daedal_free(result);
}

static void values_set_are_checked(void **state) {
  (void)state;
  const Example *example = &EXAMPLES[0];
  daedal_model *model = daedal_load_text(example->text, strlen(example->text), "test.mo", NULL, NULL);
  daedal_plan *plan = daedal_plan_make(model, NULL);
  daedal_run *run = daedal_run_make(plan);
  assert_int_equal(daedal_run_set(run, "L", 2), DAEDAL_OK);
  assert_int_equal(daedal_run_set(run, "x", 2), DAEDAL_OK);
  assert_int_equal(daedal_run_set(run, "nothing", 2), DAEDAL_USAGE);
  assert_int_equal(daedal_run_set(run, "L", NAN), DAEDAL_USAGE);
  assert_int_equal(daedal_run_execute(run), DAEDAL_OK);
  double x = daedal_run_get(run, "x"), y = daedal_run_get(run, "y");
  assert_true(fabs(x * x + y * y - 4) < 1e-9);
  daedal_free(run);
  daedal_free(plan);
  daedal_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_share_a_plan),
      cmocka_unit_test(handles_outlive_what_they_come_from),
      cmocka_unit_test(values_set_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
