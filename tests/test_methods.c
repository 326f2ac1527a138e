/* Every reduction method on models built by calls: all give the same trajectory, and drift occurs exactly where it should. The
 * derived model of each method, simulated as a separate model, gives the trajectory again. */
#include "pipeline/compare.h"
#include "reduce/derived.h"
#include "reduce/solved.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- building ---- */

typedef struct Bench {
  Heap *heap;
  Names names;
  Model *model;
} Bench;

static Expr variable(Bench *bench, const char *name, double start, Fixed fixed) {
  Dag *dag = bench->model->dag;
  Variable v = {.name = names_add(&bench->names, name, strlen(name)),
                .type = TYPE_REAL,
                .role = ROLE_UNKNOWN,
                .variability = VARIABILITY_CONTINUOUS,
                .select = SELECT_DEFAULT,
                .fixed = fixed,
                .binding = EXPR_NONE,
                .start = isnan(start) ? EXPR_NONE : dag_constant(dag, start),
                .min = EXPR_NONE,
                .max = EXPR_NONE,
                .nominal = EXPR_NONE};
  return model_leaf(bench->model, model_add_variable(bench->model, v), 0);
}

static void equate(Bench *bench, Expr left, Expr right) {
  Equation equation = {.left = left, .right = right, .residual = dag_subtract(bench->model->dag, left, right)};
  vec_push(bench->heap, &bench->model->equations, equation);
}

#define D(e) dag_time_derivative(bench->model->dag, e)
#define ADD(a, b) dag_add(bench->model->dag, a, b)
#define SUB(a, b) dag_subtract(bench->model->dag, a, b)
#define MUL(a, b) dag_multiply(bench->model->dag, a, b)
#define SCALE(f, a) dag_scale(bench->model->dag, f, a)
#define SQUARE(a) dag_power(bench->model->dag, a, CONST(2))
#define CONST(v) dag_constant(bench->model->dag, v)
#define SIN(a) dag_unary(bench->model->dag, OP_SIN, a)
#define COS(a) dag_unary(bench->model->dag, OP_COS, a)
#define TIME dag_time(bench->model->dag)

static Bench bench_open(void) {
  Bench bench = {.heap = heap_new(NULL)};
  bench.names = names_make(bench.heap);
  return bench;
}

/* The names must not move any more when the model is made. */
static void bench_begin(Bench *bench, const char *name) {
  bench->model = model_new(bench->heap, &bench->names);
  Source *source = heap_alloc(bench->heap, sizeof *source);
  *source = source_make(bench->heap, name, "", 0);
  bench->model->source = source;
  bench->model->name = names_add(&bench->names, name, strlen(name));
}

static void bench_close(Bench *bench) { heap_destroy(bench->heap); }

/* ---- models ---- */

static void pendulum(Bench *bench) {
  bench_begin(bench, "Pendulum");
  Expr x = variable(bench, "x", 1, FIXED_UNSET), y = variable(bench, "y", 0, FIXED_TRUE),
       vx = variable(bench, "vx", 0, FIXED_UNSET);
  Expr vy = variable(bench, "vy", -1, FIXED_TRUE), lambda = variable(bench, "lambda", 0, FIXED_UNSET),
       e = variable(bench, "E", NAN, FIXED_UNSET);
  equate(bench, D(x), vx);
  equate(bench, D(y), vy);
  equate(bench, D(vx), SCALE(-1, MUL(lambda, x)));
  equate(bench, D(vy), SUB(SCALE(-1, MUL(lambda, y)), CONST(1)));
  equate(bench, ADD(SQUARE(x), SQUARE(y)), CONST(1));
  equate(bench, e, ADD(SCALE(0.5, ADD(SQUARE(vx), SQUARE(vy))), y));
  for (uint32_t k = 0; k < bench->model->variables.count; k++) /* the absolute tolerances of the paper */
    bench->model->variables.data[k].nominal = CONST(1);
}

/* Mattsson, Söderlind (4.1), second derivatives written as such. */
static void second_order(Bench *bench) {
  bench_begin(bench, "SecondOrder");
  Expr x = variable(bench, "x", 0.6, FIXED_UNSET), y = variable(bench, "y", -0.8, FIXED_TRUE),
       f = variable(bench, "F", 0, FIXED_UNSET);
  equate(bench, ADD(SQUARE(x), SQUARE(y)), CONST(1));
  equate(bench, D(D(x)), SCALE(-1, MUL(f, x)));
  equate(bench, D(D(y)), SUB(SCALE(-1, MUL(f, y)), CONST(1)));
  Expr rate = D(y);
  vec_push(bench->heap, &bench->model->initial_equations,
           (Equation){.left = rate, .right = CONST(0), .residual = rate});
}

static void paraboloid(Bench *bench) {
  bench_begin(bench, "Paraboloid");
  Expr p[3], v[3], lambda;
  const char *names[] = {"p1", "p2", "p3", "v1", "v2", "v3"};
  const double start[] = {1, 0, 1, 0, 1, 0};
  for (int k = 0; k < 3; k++) p[k] = variable(bench, names[k], start[k], k < 2 ? FIXED_TRUE : FIXED_UNSET);
  for (int k = 0; k < 3; k++) v[k] = variable(bench, names[3 + k], start[3 + k], k < 2 ? FIXED_TRUE : FIXED_UNSET);
  lambda = variable(bench, "lambda", 0, FIXED_UNSET);
  for (int k = 0; k < 3; k++) equate(bench, D(p[k]), v[k]);
  for (int k = 0; k < 2; k++) equate(bench, D(v[k]), SCALE(2, MUL(lambda, p[k])));
  equate(bench, D(v[2]), SUB(SCALE(-1, lambda), CONST(1)));
  equate(bench, CONST(0), SUB(ADD(SQUARE(p[0]), SQUARE(p[1])), p[2]));
}

/* Kunkel, Mehrmann (59): the Miller integrator, index 2. */
static void miller(Bench *bench) {
  bench_begin(bench, "Miller");
  Expr u1 = variable(bench, "u1", NAN, FIXED_UNSET), u2 = variable(bench, "u2", 0, FIXED_TRUE),
       u3 = variable(bench, "u3", NAN, FIXED_UNSET);
  Expr j = variable(bench, "J", NAN, FIXED_UNSET), jv = variable(bench, "JV", NAN, FIXED_UNSET);
  Expr drop = SUB(u1, u2), charge = SUB(D(u2), D(u3));
  equate(bench, ADD(j, drop), CONST(0));
  equate(bench, ADD(SUB(D(u2), drop), charge), CONST(0));
  equate(bench, SUB(jv, charge), CONST(0));
  equate(bench, SUB(u1, SIN(TIME)), CONST(0));
  equate(bench, SUB(u3, SCALE(0.5, u2)), CONST(0));
}

/* Kunkel, Mehrmann, Example 1 (Mattsson, Söderlind, Example 1). */
static void example1(Bench *bench) {
  bench_begin(bench, "Example1");
  Expr x1 = variable(bench, "x1", 1, FIXED_TRUE), x2 = variable(bench, "x2", NAN, FIXED_UNSET),
       x3 = variable(bench, "x3", NAN, FIXED_UNSET);
  Expr x4 = variable(bench, "x4", NAN, FIXED_UNSET);
  equate(bench, ADD(ADD(x1, x2), SIN(TIME)), CONST(0));
  equate(bench, ADD(ADD(ADD(x1, x2), x3), COS(TIME)), CONST(0));
  equate(bench, ADD(ADD(D(x3), x1), ADD(x4, TIME)), CONST(0));
  equate(bench, ADD(ADD(SCALE(2, D(D(x1))), D(D(x2))), ADD(ADD(D(D(x3)), D(x4)), SIN(SCALE(2, TIME)))), CONST(0));
  Expr rate = D(x1);
  vec_push(bench->heap, &bench->model->initial_equations,
           (Equation){.left = rate, .right = CONST(0), .residual = rate});
}

/* Two masses that a gear ties: the constraint is linear. */
static void gear(Bench *bench) {
  bench_begin(bench, "Gear");
  Expr a = variable(bench, "a", NAN, FIXED_UNSET), b = variable(bench, "b", 0, FIXED_TRUE),
       va = variable(bench, "va", NAN, FIXED_UNSET);
  Expr vb = variable(bench, "vb", 0, FIXED_TRUE), tau = variable(bench, "tau", NAN, FIXED_UNSET);
  equate(bench, D(a), va);
  equate(bench, D(b), vb);
  equate(bench, D(va), SUB(COS(TIME), tau));
  equate(bench, D(vb), SUB(SCALE(3, tau), vb));
  equate(bench, a, SCALE(3, b));
}

/* A mass on a rod held by a moving point; the position of the point is a variable with its own equation. */
static void moved(Bench *bench) {
  bench_begin(bench, "Moved");
  Expr x = variable(bench, "x", 0.2, FIXED_TRUE), y = variable(bench, "y", -1, FIXED_UNSET),
       vx = variable(bench, "vx", 0, FIXED_TRUE);
  Expr vy = variable(bench, "vy", 0, FIXED_UNSET), s = variable(bench, "s", NAN, FIXED_UNSET),
       f = variable(bench, "f", 0, FIXED_UNSET);
  equate(bench, D(x), vx);
  equate(bench, D(y), vy);
  equate(bench, D(vx), SCALE(-1, MUL(f, SUB(x, s))));
  equate(bench, D(vy), SUB(SCALE(-1, MUL(f, y)), CONST(1)));
  equate(bench, s, SCALE(0.1, SIN(SCALE(3, TIME))));
  equate(bench, ADD(SQUARE(SUB(x, s)), SQUARE(y)), CONST(1));
}

/* Shmoylova et al. 2013, (50): mixed Hessenberg form of index 1 and 3. A(x) has rank 1, so a combination of the last two equations
 * does not contain z and is a constraint. */
static void mixed(Bench *bench) {
  bench_begin(bench, "Mixed");
  Expr x = variable(bench, "x", 0.6, FIXED_UNSET), y = variable(bench, "y", -0.8, FIXED_TRUE),
       vx = variable(bench, "vx", 0, FIXED_UNSET);
  Expr vy = variable(bench, "vy", 0, FIXED_TRUE), z1 = variable(bench, "z1", 0, FIXED_UNSET),
       z2 = variable(bench, "z2", 0, FIXED_UNSET);
  Expr length = SUB(ADD(SQUARE(x), SQUARE(y)), CONST(1)), push = ADD(z1, SCALE(2, z2));
  equate(bench, D(x), vx);
  equate(bench, D(y), vy);
  equate(bench, D(vx), ADD(SCALE(-1, MUL(z2, x)), SCALE(0.1, z1)));
  equate(bench, D(vy), SUB(SCALE(-1, MUL(z2, y)), CONST(1)));
  equate(bench, CONST(0), ADD(SCALE(0.3, x), push));
  equate(bench, CONST(0), ADD(ADD(length, SCALE(0.6, x)), SCALE(2, push)));
}

typedef struct Case {
  const char *name;
  void (*build)(Bench *bench);
  double stop;
  uint32_t refused; /* methods that do not apply */
} Case;

static const Case CASES[] = {{"pendulum", pendulum, 10, 0},
                             {"second order", second_order, 10, 0},
                             {"paraboloid", paraboloid, 10, 0},
                             {"miller", miller, 5, 1},
                             {"example 1", example1, 2, 0},
                             {"gear", gear, 5, 0},
                             {"moved", moved, 5, 0},
                             {"mixed", mixed, 5, 0}};

static const double TOLERANCE = 1e-7;

static CompareRequest make_request(double stop) {
  static const Method *methods[16];
  static const Integrator *solvers[1];
  solvers[0] = NULL;
  CompareRequest request = {.methods = methods, .solvers = solvers, .solver_count = 1};
  for (uint32_t m = 0; method_at(m); m++) methods[request.method_count++] = method_at(m);
  request.request.method_options = (MethodOptions){.alpha = NAN, .beta = NAN};
  request.request.run = (RunOptions){
      .stop = stop, .tolerance = TOLERANCE, .intervals = 100, .interval = stop / 100, .constraint_tolerance = 1};
  return request;
}

/* ---- tests ---- */

/* Methods that leave a higher index are inaccurate in the multipliers, but accurate in everything that is differentiated. */
static void test_same_trajectory(void **state) {
  (void)state;
  for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
    Bench bench = bench_open();
    CASES[c].build(&bench);
    CompareRequest request = make_request(CASES[c].stop);
    Comparison *comparison = compare_run(bench.heap, bench.model, &request);
    assert_true(comparison->reference.ok);
    uint32_t refused = 0;
    for (uint32_t k = 0; k < comparison->count; k++) {
      CompareRun *run = &comparison->runs[k];
      if (!run->ok) {
        if (diags_code(&run->diags) != DIAG_STRUCTURE)
          fail_msg("%s, %s: %s", CASES[c].name, run->method->name, run->diags.list.data[0].message);
        refused++;
        continue;
      }
      if (!(run->difference <= 100 * TOLERANCE))
        fail_msg("%s, %s is off by %g", CASES[c].name, run->method->name, run->difference);
    }
    if (refused != CASES[c].refused) fail_msg("%s: %u methods refused", CASES[c].name, refused);
    bench_close(&bench);
  }
}

static const CompareRun *find_run(const Comparison *comparison, const char *method) {
  for (uint32_t k = 0; k < comparison->count; k++)
    if (strcmp(comparison->runs[k].method->name, method) == 0) return &comparison->runs[k];
  return NULL;
}

static double level_residual(const Comparison *comparison, const char *method, uint32_t level) {
  return find_run(comparison, method)->simulation.statistics.constraints->level_worst[level];
}

/* Mattsson, Söderlind 1991, Tables 1 and 2: plain differentiation drifts, and so does its energy,
 * quadratically. */
static void test_drift(void **state) {
  (void)state;
  Bench bench = bench_open();
  pendulum(&bench);
  CompareRequest request = make_request(400);  /* then the growth with time exceeds the oscillation */
  request.solvers[0] = integrator_find("ida"); /* the BDF method of the paper, where it is built in */
  const char *invariants[] = {"E"};
  request.invariants = invariants;
  request.invariant_count = 1;
  Comparison *comparison = compare_run(bench.heap, bench.model, &request);
  assert_true(level_residual(comparison, "dummy", 0) < 1e-14);
  assert_true(level_residual(comparison, "dummy", 1) < 1e-14);
  assert_true(level_residual(comparison, "projection", 1) < 1e-14); /* velocities hold, positions drift */
  assert_true(level_residual(comparison, "projection", 0) > 1e-10);
  assert_true(level_residual(comparison, "underlying", 0) > 10 * level_residual(comparison, "baumgarte", 0));
  assert_true(level_residual(comparison, "underlying", 0) > 10 * level_residual(comparison, "ggl", 0));
  assert_true(level_residual(comparison, "underlying", 0) > 10 * level_residual(comparison, "overdetermined", 0));
  const CompareRun *underlying = find_run(comparison, "underlying"), *dummy = find_run(comparison, "dummy");
  if (request.solvers[0]) {
    assert_int_equal(underlying->invariants[0].kind, DRIFT_QUADRATIC);
    assert_int_equal(dummy->invariants[0].kind, DRIFT_LINEAR);
    assert_true(fabs(underlying->invariants[0].change) > 50 * fabs(dummy->invariants[0].change));
  }
  bench_close(&bench);
}

/* The reduction of a run, ready to be printed. */
static Reduction layer_of(Simulation *simulation) {
  return reduction_layer(&simulation->plan->reduction, &simulation->original, 0, simulation->heap, &simulation->arena);
}

/* The derived model is a model like any other: simulated, it gives the same trajectory. */
static void test_derived_models(void **state) {
  (void)state;
  for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
    Bench bench = bench_open();
    CASES[c].build(&bench);
    double stop = 0.3; /* short: the choice of states stays that of the start */
    CompareRequest request = make_request(stop);
    Comparison *comparison = compare_run(bench.heap, bench.model, &request);
    for (uint32_t k = 0; k < comparison->count; k++) {
      CompareRun *run = &comparison->runs[k];
      if (!run->ok || run->method == &method_strangeness) continue; /* strangeness makes no equations */
      Reduction layer = layer_of(&run->simulation), *reduction = &layer;
      Derived *derived = run->method->is_solved ? solved_make(reduction, run->method->name)
                                                : derived_make(reduction, run->method->name);
      Balance balance = model_balance(derived->model);
      if (balance.equations != balance.unknowns)
        fail_msg("%s, %s: %u equations, %u unknowns", CASES[c].name, run->method->name, balance.equations,
                 balance.unknowns);
      assert_int_equal(derived->equation_notes.count, derived->model->equations.count);
      derived_count(derived);
      if (run->method->is_solved) assert_int_equal(reduction->counts.after.algebraic, 0);
      Diags diags = diags_make(bench.heap);
      Simulation again;
      Request one = request.request;
      one.method = &method_dummy;
      if (!pipeline_simulate(&again, bench.heap, derived->model, &one, &diags))
        fail_msg("%s, %s, derived: %s", CASES[c].name, run->method->name, diags.list.data[0].message);
      const Trajectory *a = run->simulation.recorder->trajectory, *b = again.recorder->trajectory;
      assert_int_equal(a->rows, b->rows);
      for (uint32_t s = 0; s < a->signals->list.count; s++) {
        if (a->signals->list.data[s].kind != SIGNAL_STATE) continue;
        uint32_t other = signals_find(b->signals, a->signals->list.data[s].name);
        assert_true(other != MAP_NONE);
        double difference = fabs(trajectory_value(a, a->rows - 1, s) - trajectory_value(b, b->rows - 1, other));
        if (!(difference <= 200 * TOLERANCE))
          fail_msg("%s, %s, derived: %s is off by %g", CASES[c].name, run->method->name, a->signals->list.data[s].name,
                   difference);
      }
    }
    bench_close(&bench);
  }
}

static const Reduction *reduce_once(Bench *bench, void (*build)(Bench *), const Method *method, Simulation *simulation,
                                    Diags *diags) {
  build(bench);
  CompareRequest request = make_request(1);
  *diags = diags_make(bench->heap);
  request.request.method = method;
  request.request.initialize_only = true;
  pipeline_simulate(simulation, bench->heap, bench->model, &request.request, diags);
  return &simulation->plan->reduction;
}

/* Kunkel, Mehrmann 2003, Example 1: nine first-order equations instead of ten; (62), (63): nine instead of
 * seven. */
static void test_minimal_counts(void **state) {
  (void)state;
  Bench bench = bench_open();
  Simulation simulation;
  Diags diags;
  const Reduction *reduction = reduce_once(&bench, example1, &method_minimal, &simulation, &diags);
  assert_int_equal(reduction->counts.new_variables, 2);
  assert_int_equal(reduction->counts.first_order, 9);
  assert_int_equal(reduction->counts.dummy_first_order, 10);
  bench_close(&bench);
  bench = bench_open();
  reduction = reduce_once(&bench, paraboloid, &method_minimal, &simulation, &diags);
  assert_int_equal(reduction->counts.new_variables, 2);
  assert_int_equal(reduction->counts.first_order, 9);
  bench_close(&bench);
}

/* ---- Hessenberg systems ---- */

static double draw(uint64_t *seed) {
  *seed = hash_mix(*seed + 1);
  return (double)(*seed >> 11) / 9007199254740992.0;
}

/* Adds to `sum` the variables from `from` up to `to`, each with a coefficient of either sign. */
static Expr add_terms(Bench *bench, Expr sum, const Expr *x, uint32_t from, uint32_t to, uint64_t *seed) {
  for (uint32_t k = from; k < to; k++) {
    double factor = 0.7 + 0.5 * draw(seed);
    sum = ADD(sum, SCALE(draw(seed) < 0.5 ? -factor : factor, x[k]));
  }
  return sum;
}

/* Kunkel, Mehrmann (34): blocks x_1 to x_r of one to three variables, x_r of one. Row b contains x_{b-1} to x_{r-1}; the first also
 * contains x_r. */
static void hessenberg(Bench *bench, uint32_t order, bool nonlinear, uint64_t seed) {
  Expr x[32];
  uint32_t start[10] = {0};
  bench_begin(bench, "Hessenberg");
  for (uint32_t b = 0; b < order; b++) {
    uint32_t size = b + 1 == order ? 1 : 1 + (uint32_t)(3 * draw(&seed));
    start[b + 1] = start[b] + size;
    for (uint32_t k = start[b]; k < start[b + 1]; k++) {
      char name[16];
      snprintf(name, sizeof name, "x%u", k + 1);
      x[k] = variable(bench, name, NAN, FIXED_UNSET);
    }
  }
  for (uint32_t b = 0; b < order; b++) {
    uint32_t from = b ? start[b - 1] : 0, to = b == 0 ? start[order] : start[order - 1];
    for (uint32_t k = start[b]; k < start[b + 1]; k++) {
      Expr right = add_terms(bench, SIN(SCALE(1 + draw(&seed), TIME)), x, from, to, &seed);
      if (nonlinear) right = ADD(right, SCALE(0.05, SIN(x[from])));
      equate(bench, b + 1 == order ? CONST(0) : D(x[k]), right);
    }
  }
}

/* Kunkel, Mehrmann 2003, section 3.4: as many new variables as conditions are differentiated, r - 1 for one constraint,
 * linear or not. */
static void test_hessenberg_counts(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 150; seed++) {
    uint32_t order = 2 + (uint32_t)(seed % 5);
    Bench bench = bench_open();
    hessenberg(&bench, order, seed % 3 == 0, seed);
    CompareRequest request = make_request(1);
    request.request.method = &method_minimal;
    request.request.initialize_only = true;
    Diags diags = diags_make(bench.heap);
    Simulation simulation;
    assert_true(pipeline_simulate(&simulation, bench.heap, bench.model, &request.request, &diags));
    assert_int_equal(simulation.plan->reduction.counts.new_variables, order - 1);
    bench_close(&bench);
  }
}

/* The extended system has the solution of the one with dummy derivatives. Short, because unconstrained motions may grow
 * fast. */
static void test_hessenberg_solutions(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    Bench bench = bench_open();
    hessenberg(&bench, 2 + (uint32_t)(seed % 3), false, seed);
    CompareRequest request = make_request(0.01);
    const Method *methods[] = {&method_minimal};
    request.methods = methods;
    request.method_count = 1;
    const CompareRun *run = compare_run(bench.heap, bench.model, &request)->runs;
    if (!run->ok) fail_msg("seed %u: %s", (unsigned)seed, run->diags.list.data[0].message);
    if (!(run->difference <= 100 * TOLERANCE)) fail_msg("seed %u is off by %g", (unsigned)seed, run->difference);
    bench_close(&bench);
  }
}

/* Shmoylova et al. 2013: n + (n - k) + (m - j) differential equations, and l fewer if l constraints are linear. */
static void test_projection_counts(void **state) {
  (void)state;
  const struct {
    void (*build)(Bench *);
    uint32_t differential;
  } cases[] = {{pendulum, 2 + 1}, {paraboloid, 3 + 2}, {gear, 1 + 1}, {moved, 2 + 1}, {mixed, 2 + 1}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    Bench bench = bench_open();
    Simulation simulation;
    Diags diags;
    reduce_once(&bench, cases[c].build, &method_projection, &simulation, &diags);
    Reduction reduction = layer_of(&simulation);
    derived_count(solved_make(&reduction, "projection"));
    assert_int_equal(reduction.counts.after.differential, cases[c].differential);
    assert_int_equal(reduction.counts.after.algebraic, 0);
    bench_close(&bench);
  }
}

static void test_refusals(void **state) {
  (void)state;
  Bench bench = bench_open();
  Simulation simulation;
  Diags diags;
  reduce_once(&bench, miller, &method_ggl, &simulation, &diags);
  assert_int_equal(diags_code(&diags), DIAG_STRUCTURE);
  assert_true(diags.list.data[0].notes.count > 0); /* suggestions */
  bench_close(&bench);
}

static void test_table(void **state) {
  (void)state;
  uint32_t count = 0;
  for (; method_at(count); count++) {
    assert_string_equal(method_at(count)->name, method_names[count]);
    assert_ptr_equal(method_find(method_names[count]), method_at(count));
  }
  assert_null(method_names[count]);
  assert_null(method_find("nothing"));
}

static void test_drift_kinds(void **state) {
  (void)state;
  enum { N = 400 };
  double times[N], values[N];
  for (int shape = 0; shape < 3; shape++) {
    for (int k = 0; k < N; k++) {
      double t = times[k] = 0.5 * k;
      values[k] = 3 + 1e-9 * sin(1.7 * t) + (shape == 1 ? -1e-9 * t : shape == 2 ? 1e-11 * t * t : 0);
    }
    Drift drift = drift_of(times, values, N);
    assert_int_equal(drift.kind, shape == 0 ? DRIFT_NONE : shape == 1 ? DRIFT_LINEAR : DRIFT_QUADRATIC);
  }
  for (int k = 0; k < N; k++) values[k] = 1 + (k % 3 ? 2.2e-16 : 0) * (k > N / 2);
  assert_int_equal(drift_of(times, values, N).kind, DRIFT_NONE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table),
      cmocka_unit_test(test_drift_kinds),
      cmocka_unit_test(test_same_trajectory),
      cmocka_unit_test(test_drift),
      cmocka_unit_test(test_derived_models),
      cmocka_unit_test(test_minimal_counts),
      cmocka_unit_test(test_hessenberg_counts),
      cmocka_unit_test(test_hessenberg_solutions),
      cmocka_unit_test(test_projection_counts),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
