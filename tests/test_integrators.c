/* The integrators on systems written by hand: orders of convergence, continuous output, pivots without a restart,
 * stiff problems against known solutions, the end of a domain, and landing on a given time.
 */
#include "fail_alloc.h"
#include "integrate/erk_coefficients.h"
#include "problems.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- Explicit formulas ---- */

/* Conditions on one row of weights: sum of weight times node^(k-1) is 1/k up to the given order. */
static void assert_quadrature(const ErkTableau *tableau, int row, int order) {
  for (int k = 1; k <= order; k++) {
    double sum = 0;
    for (int i = 0; i < tableau->stage_count; i++)
      if (tableau->stage[i].row == row)
        sum += tableau->stage[i].weight * pow(tableau->node[tableau->stage[i].column], k - 1);
    assert_true(fabs(sum - pow(tableau->node[row], k) / k) < 2e-14);
  }
}

static void test_explicit_tables(void **state) {
  (void)state;
  const ErkTableau *tables[] = {&erk_order8, &erk_order5};
  for (size_t t = 0; t < COUNT(tables); t++) {
    const ErkTableau *table = tables[t];
    assert_quadrature(table, table->stages, table->order);
    for (int row = 1; row < table->all_stages; row++) assert_quadrature(table, row, 1);
    double sum[4] = {0};
    for (int i = 0; i < table->error_count; i++) sum[table->error[i].row] += table->error[i].weight;
    for (int row = 0; row < table->error_rows; row++) assert_true(fabs(sum[row]) < 2e-14);
    double dense[4] = {0};
    for (int i = 0; i < table->dense_count; i++) dense[table->dense[i].row] += table->dense[i].weight;
    for (int row = 0; row < table->dense_terms; row++) assert_true(fabs(dense[row]) < 1e-12);
  }
}

/* ---- Orders ---- */

typedef void Exact(double t, double *y);

typedef struct Family {
  ProblemFunction *function;
  Exact *exact;
  int32_t columns, links;
  const int32_t (*pairs)[2];
  int32_t index[7]; /* of the columns; 0: 1 */
} Family;

static const Family smooth = {smooth_function, smooth_exact, 3, 1, smooth_pairs, {0}};
static const Family oscillator = {oscillator_function, oscillator_exact, 5, 2, oscillator_pairs, {0}};
static const Family circle2 = {circle_index2_function, circle_exact, 7, 4, circle_pairs, {1, 1, 1, 1, 2, 2, 2}};
static const Family circle3 = {circle_index3_function, circle_exact, 7, 4, circle_pairs, {1, 1, 2, 2, 3, 3, 3}};

static void family_make(const Family *family, Heap *heap, Problem *problem) {
  problem_make(problem, heap, family->function, family->columns, family->links, family->pairs);
  if (family->index[0] == 0) return;
  memcpy(problem->index, family->index, sizeof family->index);
  problem->system.complete = NULL;
}

/* Error of one column, or of a pair (x and y), at the end of n fixed steps. *dense: the largest error inside the steps. */
static double fixed_steps(const Integrator *method, int order, const Family *family, double end, int n, int column,
                          double *dense) {
  Heap *heap = heap_new(NULL);
  Problem *problem = heap_alloc(heap, sizeof *problem);
  double y[PROBLEM_MAX] = {0}, exact[PROBLEM_MAX] = {0};
  family_make(family, heap, problem);
  family->exact(0, y);
  IntegratorOptions options = {.relative_tolerance = 1e-13,
                               .absolute_tolerance = 1e-13,
                               .max_step = end / n,
                               .fixed_step = true,
                               .min_order = order,
                               .max_order = order};
  void *self = method->create(heap, &problem->system, &options);
  method->start(self, 0, y, end);
  *dense = 0;
  while (method->time(self) < end) {
    double t = method->time(self);
    assert_int_equal(method->step(self, end), STEP_OK);
    for (int k = 1; k < 6; k++) {
      double middle = t + (method->time(self) - t) * k / 6;
      method->segment.interpolate(self, middle, NULL, (uint32_t)problem->system.columns, y);
      family->exact(middle, exact);
      *dense = fmax(*dense, fabs(y[column] - exact[column]));
    }
  }
  IntegratorStatistics statistics;
  method->statistics(self, &statistics);
  assert_int_equal(statistics.steps, n);
  assert_int_equal(statistics.order, order);
  family->exact(end, exact);
  const double *end_values = method->values(self);
  double error = fabs(end_values[column] - exact[column]);
  if (family != &smooth && column % 2 == 0 && column + 1 < family->columns)
    error = hypot(error, end_values[column + 1] - exact[column + 1]);
  heap_destroy(heap);
  return error;
}

typedef struct OrderCase {
  const Integrator *method;
  int order;
  const Family *family;
  double end;
  int coarse, fine, column;
  double expected, expected_dense; /* 0: not looked at */
} OrderCase;

/* Columns of the circle: 0 position, 2 velocity, 6 multiplier; Radau IIA with s stages: 2s - 1, 2s - 1, s in index 2,
 * s for the velocity and s - 1 for the multiplier in index 3 (Hairer, Lubich, Roche, tables 2.3 and 6). Continuous
 * output of 5 and 7 stages: s + 4 where the Jacobian is constant, else s + 3. */
static const OrderCase order_cases[] = {
    {&integrator_erk, 5, &smooth, 4, 80, 160, 0, 5, 5},
    {&integrator_erk, 5, &smooth, 4, 80, 160, 2, 5, 0},
    {&integrator_erk, 8, &smooth, 4, 20, 39, 0, 8, 8},
    {&integrator_erk, 8, &oscillator, 20, 39, 75, 0, 8, 8},
    {&integrator_radau, 5, &smooth, 20, 300, 600, 0, 5, 5},
    {&integrator_radau, 5, &oscillator, 20, 45, 100, 4, 5, 0},
    {&integrator_radau, 9, &oscillator, 40, 33, 70, 0, 9, 7},
    {&integrator_radau, 9, &oscillator, 40, 33, 70, 4, 9, 0},
    {&integrator_radau, 13, &oscillator, 100, 39, 60, 0, 13, 0},
    {&integrator_radau, 13, &oscillator, 12, 6, 9, 0, 13, 9},
    {&integrator_radau, 13, &oscillator, 100, 39, 60, 4, 13, 0},
    {&integrator_radau, 9, &smooth, 20, 80, 120, 0, 9, 7},
    {&integrator_radau, 5, &circle2, 4, 67, 134, 0, 5, 0},
    {&integrator_radau, 5, &circle2, 4, 67, 134, 2, 5, 0},
    {&integrator_radau, 5, &circle2, 4, 67, 134, 6, 3, 0},
    {&integrator_radau, 9, &circle2, 4, 30, 45, 0, 9, 0},
    {&integrator_radau, 9, &circle2, 4, 58, 100, 6, 5, 0},
    {&integrator_radau, 5, &circle3, 4, 67, 134, 2, 3, 0},
    {&integrator_radau, 5, &circle3, 4, 67, 134, 6, 2, 0},
    {&integrator_radau, 9, &circle3, 4, 35, 58, 2, 5, 0},
    {&integrator_radau, 9, &circle3, 4, 35, 58, 6, 4, 0},
};

static void test_orders(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(order_cases); i++) {
    const OrderCase *c = &order_cases[i];
    double dense1, dense2, ratio = log((double)c->fine / c->coarse);
    double error1 = fixed_steps(c->method, c->order, c->family, c->end, c->coarse, c->column, &dense1);
    double error2 = fixed_steps(c->method, c->order, c->family, c->end, c->fine, c->column, &dense2);
    double slope = log(error1 / error2) / ratio, dense = log(dense1 / dense2) / ratio;
    if (fabs(slope - c->expected) > 0.3)
      fail_msg("case %zu: %s of order %d has slope %.2f, not %.0f", i, c->method->name, c->order, slope, c->expected);
    if (c->expected_dense > 0 && fabs(dense - c->expected_dense) > 0.5)
      fail_msg("case %zu: %s of order %d, continuous output has slope %.2f, not %.0f", i, c->method->name, c->order,
               dense, c->expected_dense);
  }
}

/* One run of the BDF code with step control, held at an order. Returns the number of steps. *error: the largest error at the end of
 * a step; *dense: the largest one inside a step. */
static uint64_t controlled_steps(int order, double tolerance, double *error, double *dense) {
  Heap *heap = heap_new(NULL);
  Problem *problem = heap_alloc(heap, sizeof *problem);
  const Integrator *method = &integrator_bdf;
  double y[PROBLEM_MAX] = {0}, exact[PROBLEM_MAX] = {0}, end = 20;
  family_make(&oscillator, heap, problem);
  oscillator.exact(0, y);
  IntegratorOptions options = {.relative_tolerance = tolerance, .absolute_tolerance = tolerance, .max_order = order};
  void *self = method->create(heap, &problem->system, &options);
  method->start(self, 0, y, end);
  *error = *dense = 0;
  while (method->time(self) < end) {
    double t = method->time(self);
    assert_int_equal(method->step(self, end), STEP_OK);
    for (int k = 1; k <= 6; k++) {
      double middle = t + (method->time(self) - t) * k / 6;
      method->segment.interpolate(self, middle, NULL, (uint32_t)problem->system.columns, y);
      oscillator.exact(middle, exact);
      *dense = fmax(*dense, fabs(y[0] - exact[0]));
    }
    oscillator.exact(method->time(self), exact);
    *error = fmax(*error, fabs(method->values(self)[0] - exact[0]));
  }
  IntegratorStatistics statistics;
  method->statistics(self, &statistics);
  assert_int_equal(statistics.order, order);
  heap_destroy(heap);
  return statistics.steps;
}

/* With order k the number of steps grows with the (k + 1)-th root of the tolerance, errors with the k-th power of that root, and
 * continuous output is as accurate as the steps. A step grows only if it can grow by half or more, hence the margin. */
static void test_bdf_orders(void **state) {
  (void)state;
  for (int order = 1; order <= 5; order++) {
    double coarse_error, fine_error, dense, coarse = 1e-5, fine = order < 3 ? 1e-7 : 1e-10;
    uint64_t before = controlled_steps(order, coarse, &coarse_error, &dense);
    uint64_t after = controlled_steps(order, fine, &fine_error, &dense);
    double slope = (order + 1) * log((double)after / (double)before) / log(coarse / fine);
    double fall = (order + 1.0) / order * log(coarse_error / fine_error) / log(coarse / fine);
    if (!(fabs(slope - 1) < 0.12 && fabs(fall - 1) < 0.2 && dense < 1.5 * fine_error))
      fail_msg("order %d: steps %.2f and error %.2f of what the order says, inside of steps %g over %g", order, slope,
               fall, dense, fine_error);
  }
}

/* ---- Known problems ---- */

typedef struct Known {
  const char *name;
  ProblemFunction *function;
  int32_t columns, links;
  const int32_t (*pairs)[2];
  const double *start, *end;
  int count; /* components compared */
  double stop, absolute;
} Known;

static const Known vanderpol = {"van der Pol",   vanderpol_function, 4, 2, vanderpol_pairs,
                                vanderpol_start, vanderpol_end,      2, 2, 1};
static const Known robertson = {"Robertson",     robertson_function, 5, 2,    robertson_pairs,
                                robertson_start, robertson_end,      3, 1e11, 1e-6};
static const Known hires = {"HIRES", hires_function, 16, 8, hires_pairs, hires_start, hires_end, 8, 321.8122, 1e-2};
static const Known akzo = {"Akzo Nobel", akzo_function, 11, 5, akzo_pairs, akzo_start, akzo_end, 6, 180, 1e-2};
static const Known amplifier = {"transistor amplifier", amplifier_function, 16, 8,   hires_pairs,
                                amplifier_start,        amplifier_end,      8,  0.2, 1};
static const Known caraxis = {"car axis", caraxis_function, 14, 4, caraxis_pairs, caraxis_start, caraxis_end, 8, 3, 1};

/* Significant correct digits at the end; fails the test if the run does not get there. */
static double digits(const char *method_name, const Known *known, double tolerance, IntegratorStatistics *statistics) {
  const Integrator *method = integrator_find(method_name);
  Heap *heap = heap_new(NULL);
  Problem *problem = heap_alloc(heap, sizeof *problem);
  double y[PROBLEM_MAX] = {0}, worst = 0;
  problem_make(problem, heap, known->function, known->columns, known->links, known->pairs);
  memcpy(y, known->start, (size_t)known->columns * sizeof(double));
  if (known != &amplifier) assert_int_equal(problem_complete(problem, 0, y), EVAL_OK);
  IntegratorOptions options = {.relative_tolerance = tolerance, .absolute_tolerance = tolerance * known->absolute};
  void *self = method->create(heap, &problem->system, &options);
  method->start(self, 0, y, known->stop);
  while (method->time(self) < known->stop) {
    StepStatus status = method->step(self, known->stop);
    if (status != STEP_OK) fail_msg("%s on %s: status %d at %g", method->name, known->name, status, method->time(self));
  }
  assert_true(method->time(self) == known->stop);
  for (int i = 0; i < known->count; i++) worst = fmax(worst, fabs(method->values(self)[i] / known->end[i] - 1));
  method->statistics(self, statistics);
  heap_destroy(heap);
  return -log10(worst);
}

static void assert_digits(const char *method, const Known *known, double tolerance, double least) {
  IntegratorStatistics statistics;
  double found = digits(method, known, tolerance, &statistics);
  if (!(found >= least))
    fail_msg("%s on %s at %g: %.2f digits, not %.2f", method, known->name, tolerance, found, least);
}

static void test_stiff_radau(void **state) {
  (void)state;
  const Known *problems[] = {&vanderpol, &robertson, &hires, &akzo};
  const double tolerances[] = {1e-4, 1e-6, 1e-8, 1e-10};
  for (size_t i = 0; i < COUNT(problems); i++)
    for (size_t k = 0; k < COUNT(tolerances); k++)
      assert_digits("radau", problems[i], tolerances[k], -log10(tolerances[k]) - 1.7);
  assert_digits("radau", &amplifier, 1e-4, 3);
  assert_digits("radau", &amplifier, 1e-8, 6.5);
  assert_digits("radau", &caraxis, 1e-9, 6);
}

static void test_stiff_multistep(void **state) {
  (void)state;
  assert_digits("bdf", &vanderpol, 1e-7, 4.5);
  assert_digits("bdf", &robertson, 1e-7, 4.5);
  assert_digits("bdf", &hires, 1e-7, 4.5);
  assert_digits("bdf", &akzo, 1e-7, 4.5);
  assert_digits("bdf", &amplifier, 1e-7, 4.5);
  assert_digits("bdf", &caraxis, 1e-7, 3);
  if (!integrator_find("ida")) skip();
  assert_digits("ida", &vanderpol, 1e-7, 4.5);
  assert_digits("ida", &robertson, 1e-7, 4.5);
  assert_digits("ida", &hires, 1e-7, 4.5);
  assert_digits("ida", &akzo, 1e-7, 4.5);
  assert_digits("ida", &caraxis, 1e-7, 3);
  assert_digits("cvode", &vanderpol, 1e-7, 4.5);
  assert_digits("cvode", &hires, 1e-7, 4.4);
  assert_digits("cvode", &akzo, 1e-7, 4.5);
}

/* Links that the equations determine only in part: each change of order or step leaves a jump in the differences. A code that
 * follows these jumps stays at order 1, with a hundred times as many steps. */
static void test_bdf_order_recovers(void **state) {
  (void)state;
  IntegratorStatistics statistics;
  assert_true(digits("bdf", &amplifier, 1e-9, &statistics) > 7);
  assert_true(statistics.steps < 15000);
  assert_int_equal(statistics.order, 5);
}

/* The explicit method completes HIRES and reports that it is stiff; the car axis is not. */
static void test_stiffness_is_seen(void **state) {
  (void)state;
  IntegratorStatistics statistics;
  assert_true(digits("erk", &hires, 1e-6, &statistics) > 4);
  assert_true(statistics.stiff);
  assert_true(digits("erk", &caraxis, 1e-8, &statistics) > 5);
  assert_false(statistics.stiff);
}

/* ---- The pendulum and its pivots ---- */

typedef struct PendulumRun {
  double energy, length; /* largest deviations at the steps */
  double angle;          /* at the end */
  int pivots;
  double step_kept; /* smallest ratio of the step after a pivot to that before */
  int order_kept;   /* lowest order of a step after a pivot */
  double evaluations;
  IntegratorStatistics statistics;
} PendulumRun;

static PendulumRun pendulum_run(const Integrator *method, double tolerance, double end) {
  Heap *heap = heap_new(NULL);
  Pendulum pendulum;
  double y[PENDULUM_COLUMNS];
  PendulumRun run = {.step_kept = 1e9, .order_kept = 99};
  IntegratorOptions options = {.relative_tolerance = tolerance, .absolute_tolerance = tolerance};
  pendulum_make(&pendulum, acos(-1.0) / 2, -1, y);
  double energy = pendulum_energy(y);
  void *self = method->create(heap, &pendulum.system, &options);
  method->start(self, 0, y, end);
  bool pivoted = false;
  while (method->time(self) < end) {
    double step = run.statistics.step;
    assert_int_equal(method->step(self, end), STEP_OK);
    method->statistics(self, &run.statistics);
    if (pivoted && method->time(self) < end) {
      run.step_kept = fmin(run.step_kept, run.statistics.step / step);
      run.order_kept = run.statistics.order < run.order_kept ? run.statistics.order : run.order_kept;
    }
    memcpy(y, method->values(self), sizeof y);
    run.energy = fmax(run.energy, fabs(pendulum_energy(y) - energy));
    run.length = fmax(run.length, fabs(y[PX] * y[PX] + y[PY] * y[PY] - 1));
    pivoted = pendulum_pivot(&pendulum, y, 0.6);
    if (pivoted) method->switch_states(self, y);
    run.pivots += pivoted;
  }
  run.angle = atan2(y[PX], -y[PY]);
  run.evaluations = pendulum.row_evaluations;
  heap_destroy(heap);
  return run;
}

/* The angle at t = 30 from the same method at 1e-12. */
static void test_pivots(void **state) {
  (void)state;
  const struct {
    const char *name;
    double error, energy, length, step_kept;
    int order_kept;
  } expected[] = {
      {"erk", 1e-6, 1e-7, 1e-14, 0.05, 8}, {"radau", 1e-6, 3e-7, 1e-6, 0.02, 5}, {"bdf", 1e-6, 1e-6, 1e-6, 0.4, 4},
      {"ida", 1e-6, 1e-6, 1e-6, 0.1, 3},   {"cvode", 1e-4, 1e-4, 1e-12, 0, 1},
  };
  double angle = pendulum_run(&integrator_erk, 1e-13, 30).angle;
  for (size_t i = 0; i < COUNT(expected); i++) {
    const Integrator *method = integrator_find(expected[i].name);
    if (!method) continue;
    PendulumRun run = pendulum_run(method, 1e-9, 30);
    if (!(fabs(run.angle - angle) < expected[i].error && run.energy < expected[i].energy &&
          run.length < expected[i].length && run.step_kept > expected[i].step_kept &&
          run.order_kept >= expected[i].order_kept))
      fail_msg("%s: angle off by %g, energy %g, length %g, step kept %g, order kept %d", method->name,
               fabs(run.angle - angle), run.energy, run.length, run.step_kept, run.order_kept);
    assert_in_range(run.pivots, 13, 15);
  }
}

/* Counts do not depend on the machine: the bounds of the pendulum, with a margin. */
static void test_pendulum_work(void **state) {
  (void)state;
  assert_true(pendulum_run(&integrator_erk, 1e-9, 100).evaluations < 10000);
  assert_true(pendulum_run(&integrator_radau, 1e-9, 100).evaluations < 24000);
  PendulumRun run = pendulum_run(&integrator_bdf, 1e-9, 100);
  assert_true(run.statistics.steps < 11000 && run.evaluations < 2 * (double)run.statistics.steps);
  assert_true(run.statistics.factorizations < run.statistics.steps / 10);
  if (!integrator_find("ida")) return;
  run = pendulum_run(integrator_find("ida"), 1e-9, 100);
  assert_true(run.statistics.steps < 11000 && run.evaluations < 24000);
}

/* ---- Contract ---- */

static void test_lands_on_stop(void **state) {
  (void)state;
  const double stops[] = {0.1, 0.10000001, 1, 2.5, 3};
  for (uint32_t i = 0; integrator_at(i); i++) {
    const Integrator *method = integrator_at(i);
    Heap *heap = heap_new(NULL);
    Problem *problem = heap_alloc(heap, sizeof *problem);
    double y[PROBLEM_MAX] = {0}, exact[PROBLEM_MAX];
    family_make(&smooth, heap, problem);
    smooth_exact(0, y);
    IntegratorOptions options = {.relative_tolerance = 1e-7, .absolute_tolerance = 1e-7};
    void *self = method->create(heap, &problem->system, &options);
    method->start(self, 0, y, 3);
    for (size_t k = 0; k < COUNT(stops); k++) {
      while (method->time(self) < stops[k]) {
        assert_int_equal(method->step(self, stops[k]), STEP_OK);
        assert_true(method->time(self) <= stops[k]);
      }
      assert_true(method->time(self) == stops[k]);
      smooth_exact(stops[k], exact);
      assert_true(fabs(method->values(self)[0] - exact[0]) < 1e-5);
    }
    heap_destroy(heap);
  }
}

/* The columns of a segment equal the dense output along the whole step, not only where they were sampled. */
static void assert_segment(const Segment *segment, int32_t columns) {
  for (double part = 0; part <= 1; part += 0.0625) {
    double y[PROBLEM_MAX], t = part < 1 ? segment->t0 + part * (segment->t1 - segment->t0) : segment->t1;
    segment_values(segment, t, y);
    for (int32_t c = 0; c < columns; c++)
      assert_true(fabs(segment_value(segment, (uint32_t)c, part) - y[c]) <= 1e-12 * (1 + fabs(y[c])));
  }
}

static void test_segments(void **state) {
  static const double tolerance[] = {1e-3, 1e-6, 1e-11};
  (void)state;
  for (uint32_t i = 0; integrator_at(i); i++) {
    const Integrator *method = integrator_at(i);
    for (size_t k = 0; k < COUNT(tolerance); k++) {
      Heap *heap = heap_new(NULL);
      Problem *problem = heap_alloc(heap, sizeof *problem);
      double y[PROBLEM_MAX] = {0}, t = 0;
      const uint32_t columns[] = {2, 0, 1};
      family_make(&smooth, heap, problem);
      smooth_exact(0, y);
      IntegratorOptions options = {.relative_tolerance = tolerance[k], .absolute_tolerance = tolerance[k]};
      void *self = method->create(heap, &problem->system, &options);
      Segment *segment = segment_new(heap, problem->system.columns);
      method->start(self, 0, y, 3);
      integrator_segment(method, self, 0, y, segment);
      assert_false(segment_open(segment));
      for (; t < 3; t = method->time(self)) {
        assert_int_equal(method->step(self, 3), STEP_OK);
        integrator_segment(method, self, t, y, segment);
        assert_true(segment_open(segment));
        segment_need(segment, columns, 1);
        segment_need(segment, columns, COUNT(columns));
        assert_true(fabs(segment_value(segment, 0, 1) - method->values(self)[0]) <= 1e-14);
        assert_segment(segment, problem->system.columns);
        double rise = (segment_value(segment, 0, 0.5005) - segment_value(segment, 0, 0.4995)) / 0.001;
        assert_true(fabs(segment_slope(segment, 0, 0.5) * (segment->t1 - t) - rise) < 1e-6);
      }
      heap_destroy(heap);
    }
  }
}

static void test_restart(void **state) {
  (void)state;
  for (uint32_t i = 0; integrator_at(i); i++) {
    const Integrator *method = integrator_at(i);
    Heap *heap = heap_new(NULL);
    Problem *problem = heap_alloc(heap, sizeof *problem);
    IntegratorStatistics first, second;
    double y[PROBLEM_MAX] = {0}, exact[PROBLEM_MAX];
    family_make(&smooth, heap, problem);
    IntegratorOptions options = {.relative_tolerance = 1e-8, .absolute_tolerance = 1e-8, .max_step = 0.25};
    void *self = method->create(heap, &problem->system, &options);
    for (int run = 0; run < 2; run++) {
      double begin = run == 0 ? 0 : 5;
      smooth_exact(begin, y);
      method->start(self, begin, y, begin + 1);
      while (method->time(self) < begin + 1) {
        double t = method->time(self);
        assert_int_equal(method->step(self, begin + 1), STEP_OK);
        assert_true(method->time(self) - t <= 0.25 * 1.02);
      }
      smooth_exact(begin + 1, exact);
      assert_true(fabs(method->values(self)[0] - exact[0]) < 1e-6);
      method->statistics(self, run == 0 ? &first : &second);
    }
    assert_true(second.steps > first.steps + 3);
    heap_destroy(heap);
  }
}

static void test_end_of_domain(void **state) {
  (void)state;
  for (uint32_t i = 0; integrator_at(i); i++) {
    const Integrator *method = integrator_at(i);
    Heap *heap = heap_new(NULL);
    Problem *problem = heap_alloc(heap, sizeof *problem);
    double y[2] = {1, -2}, end = 2 - 2 * log(2);
    problem_make(problem, heap, drain_function, 2, 1, drain_pairs);
    problem->domain_from = 0;
    IntegratorOptions options = {.relative_tolerance = 1e-6, .absolute_tolerance = 1e-6};
    void *self = method->create(heap, &problem->system, &options);
    method->start(self, 0, y, 1);
    StepStatus status = STEP_OK;
    for (int step = 0; step < 100000 && status == STEP_OK && method->time(self) < 1; step++)
      status = method->step(self, 1);
    if (status != STEP_EVALUATION && status != STEP_TOO_SMALL)
      fail_msg("%s: status %d at %g", method->name, status, method->time(self));
    assert_true(fabs(method->time(self) - end) < 1e-3);
    assert_true(method->values(self)[0] >= 0);
    heap_destroy(heap);
  }
}

/* Large enough for KLU, real and complex. */
static void test_sparse(void **state) {
  (void)state;
  const char *names[] = {"radau", "bdf", "ida"};
  for (size_t i = 0; i < COUNT(names); i++) {
    const Integrator *method = integrator_find(names[i]);
    if (!method) continue;
    Heap *heap = heap_new(NULL);
    Rod *rod = heap_alloc(heap, sizeof *rod);
    double y[ROD_COLUMNS];
    rod_make(rod, y);
    IntegratorOptions options = {.relative_tolerance = 1e-8, .absolute_tolerance = 1e-8};
    void *self = method->create(heap, &rod->system, &options);
    method->start(self, 0, y, 0.5);
    while (method->time(self) < 0.5) assert_int_equal(method->step(self, 0.5), STEP_OK);
    for (int k = 0; k < ROD; k++) assert_true(fabs(method->values(self)[k] - y[k] * rod_decay(0.5)) < 1e-6);
    heap_destroy(heap);
  }
}

static void rod_run(Heap *heap, const Integrator *method) {
  Rod *rod = heap_alloc(heap, sizeof *rod);
  double y[ROD_COLUMNS];
  rod_make(rod, y);
  IntegratorOptions options = {.relative_tolerance = 1e-4, .absolute_tolerance = 1e-4};
  void *self = method->create(heap, &rod->system, &options);
  method->start(self, 0, y, 0.1);
  for (int step = 0; step < 3; step++) assert_int_equal(method->step(self, 0.1), STEP_OK);
}

static void rod_try(const HeapHook *hook, const Integrator *method) {
  jmp_buf point;
  Heap *volatile heap = heap_new(hook);
  if (!heap) return;
  if (HEAP_TRY(heap, point)) rod_run(heap, method);
  heap_destroy(heap);
}

/* Every allocation refused once: nothing leaks. */
static void test_refused_allocations(void **state) {
  (void)state;
  const char *names[] = {"radau", "bdf", "ida"};
  for (size_t i = 0; i < COUNT(names); i++) {
    const Integrator *method = integrator_find(names[i]);
    if (!method) continue;
    FAIL_ALLOC_EACH(fail) {
      rod_try(&fail.hook, method);
      assert_int_equal(fail.live, 0);
    }
  }
}

static EvalStatus stop_at_once(void *context, double t, double *y) {
  (void)context, (void)t, (void)y;
  return EVAL_STOP;
}

static EvalStatus stop_residual(void *context, double t, const double *y, double *residual) {
  (void)context, (void)t, (void)y, (void)residual;
  return EVAL_STOP;
}

static void test_stop_is_final(void **state) {
  (void)state;
  for (uint32_t i = 0; integrator_at(i); i++) {
    const Integrator *method = integrator_at(i);
    Heap *heap = heap_new(NULL);
    Problem *problem = heap_alloc(heap, sizeof *problem);
    double y[PROBLEM_MAX] = {0};
    family_make(&smooth, heap, problem);
    smooth_exact(0, y);
    problem->system.complete = stop_at_once;
    problem->system.residual = stop_residual;
    IntegratorOptions options = {.relative_tolerance = 1e-6, .absolute_tolerance = 1e-6};
    void *self = method->create(heap, &problem->system, &options);
    method->start(self, 0, y, 1);
    assert_int_equal(method->step(self, 1), STEP_EVALUATION);
    heap_destroy(heap);
  }
}

static void test_find(void **state) {
  (void)state;
  uint32_t count = 0;
  for (; integrator_at(count); count++) {
    assert_string_equal(integrator_at(count)->name, solver_names[count + 1]);
    assert_ptr_equal(integrator_find(solver_names[count + 1]), integrator_at(count));
  }
  assert_null(solver_names[count + 1]);
  assert_null(integrator_find("euler"));
  assert_null(integrator_find(SOLVER_AUTO));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_explicit_tables),
      cmocka_unit_test(test_orders),
      cmocka_unit_test(test_bdf_orders),
      cmocka_unit_test(test_stiff_radau),
      cmocka_unit_test(test_stiff_multistep),
      cmocka_unit_test(test_bdf_order_recovers),
      cmocka_unit_test(test_stiffness_is_seen),
      cmocka_unit_test(test_pivots),
      cmocka_unit_test(test_pendulum_work),
      cmocka_unit_test(test_lands_on_stop),
      cmocka_unit_test(test_segments),
      cmocka_unit_test(test_restart),
      cmocka_unit_test(test_end_of_domain),
      cmocka_unit_test(test_stop_is_final),
      cmocka_unit_test(test_find),
      cmocka_unit_test(test_sparse),
      cmocka_unit_test(test_refused_allocations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
