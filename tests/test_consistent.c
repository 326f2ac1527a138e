/* Initial values of random models, through the public library. For every model that is initialized, all equations hold at the
 * values found, all methods start from the same point, and a point that was found stays when it is given as start values.
 *
 * DAEDAL_MODELS=100000 in the environment widens the test, which then prints tallies as runs.py does. DAEDAL_SEED=7 begins
 * with that model; without DAEDAL_MODELS it prints the model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daedal.h"
#include "tier.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_UNKNOWNS = 6, MOST_TERMS = 5, TEXT_SIZE = 4000 };

static const double SMALL_RESIDUAL = 1e-9, SAME_POINT = 1e-7;
static const double REGULAR =
    1e8; /* condition number up to which a solution can be distinguished from its neighbours */

/* ---- random numbers: the same everywhere ---- */

typedef struct Random {
  uint64_t state;
} Random;

static uint32_t draw(Random *random, uint32_t below) {
  random->state += 0x9e3779b97f4a7c15u;
  uint64_t z = random->state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (uint32_t)((z ^ (z >> 31)) >> 32) % below;
}

/* ---- the models and their results ---- */

typedef struct Seeds {
  uint64_t first, behind;
} Seeds;

static uint64_t number_from(const char *variable, uint64_t otherwise) {
  const char *text = getenv(variable);
  return text ? strtoull(text, NULL, 10) : otherwise;
}

static Seeds seeds(void) {
  uint64_t first = number_from("DAEDAL_SEED", 1), usual = 300 / tier_stride(3, 15);
  return (Seeds){first, first + number_from("DAEDAL_MODELS", getenv("DAEDAL_SEED") ? 1 : usual)};
}

/* Fewer models, because each is initialized by all methods. */
static Seeds fewer_seeds(void) {
  Seeds range = seeds();
  range.behind = range.first + (range.behind - range.first + 4) / 5;
  return range;
}

enum { CODES = 1000, OUT_OF_BOUNDS = 909 };

typedef struct Tally {
  uint32_t right, wrong;
  uint32_t refused[CODES]; /* by the number of the error's code */
} Tally;

static void print_tally(const char *kind, const Tally *tally) {
  if (!getenv("DAEDAL_MODELS")) return;
  print_message("tally {\"kind\": \"%s\", \"right\": %u, \"wrong\": %u, \"refused\": {", kind, tally->right,
                tally->wrong);
  const char *separator = "";
  for (int code = 0; code < CODES; code++) {
    if (!tally->refused[code]) continue;
    print_message("%s\"D%d\": %u", separator, code, tally->refused[code]);
    separator = ", ";
  }
  print_message("}}\n");
}

/* Begins a line about a model, as tools/long_tests reads them. */
static void say_wrong(const char *kind, uint64_t seed) {
  print_message("wrong %s, seed %llu: ", kind, (unsigned long long)seed);
}

static void say_refused(int code, const char *kind, uint64_t seed) {
  print_message("refused D%d %s, seed %llu: ", code, kind, (unsigned long long)seed);
}

static uint32_t refused_count(const Tally *tally) {
  uint32_t sum = 0;
  for (int code = 0; code < CODES; code++) sum += tally->refused[code];
  return sum;
}

/* ---- models ---- */

typedef enum TermKind {
  TERM_VALUE,
  TERM_DERIVATIVE,
  TERM_SINE,
  TERM_SQUARE,
  TERM_PRODUCT,
  TERM_RATE_PRODUCT,
  TERM_CONSTANT,
  TERM_FORCING,
  TERM_KINDS,
} TermKind;

/* How a term is written, with the coefficient and one or two unknowns. */
static const char *const TERM_TEXT[TERM_KINDS] = {
    [TERM_VALUE] = "%+g*x%d",    [TERM_DERIVATIVE] = "%+g*der(x%d)",     [TERM_SINE] = "%+g*sin(x%d)",
    [TERM_SQUARE] = "%+g*x%d^2", [TERM_PRODUCT] = "%+g*x%d*x%d",         [TERM_RATE_PRODUCT] = "%+g*x%d*der(x%d)",
    [TERM_CONSTANT] = "%+g",     [TERM_FORCING] = "%+g*cos(0.3 + time)",
};

typedef struct Term {
  TermKind kind;
  double factor;
  int first, second;
} Term;

typedef enum ModelClass { CLASS_LINEAR, CLASS_NONLINEAR, CLASS_HESSENBERG, CLASSES } ModelClass;

static const char *const CLASS_NAME[CLASSES] = {"linear", "nonlinear", "Hessenberg"};

typedef struct RandomModel {
  ModelClass class;
  int unknowns;
  Term term[MOST_UNKNOWNS][MOST_TERMS];
  int terms[MOST_UNKNOWNS];
  char declaration[MOST_UNKNOWNS][80];
  char text[TEXT_SIZE];
} RandomModel;

static double random_factor(Random *random) {
  static const double FACTORS[] = {1, -1, 1, -1, 2, -2, 0.5, 3};
  return FACTORS[draw(random, sizeof FACTORS / sizeof *FACTORS)];
}

static void add_term(RandomModel *model, int equation, Term term) {
  model->term[equation][model->terms[equation]++] = term;
}

static int other_than(Random *random, int unknowns, int one) {
  return (one + 1 + (int)draw(random, (uint32_t)unknowns - 1)) % unknowns;
}

/* Draws equations with terms of any kind. Equation i has a term with unknown i or its derivative, so that most models are regular. */
static void draw_scattered(RandomModel *model, Random *random) {
  static const TermKind LINEAR[] = {TERM_VALUE, TERM_VALUE, TERM_DERIVATIVE, TERM_CONSTANT, TERM_FORCING};
  static const TermKind ANY[] = {TERM_VALUE,   TERM_DERIVATIVE,   TERM_SINE,    TERM_SQUARE,
                                 TERM_PRODUCT, TERM_RATE_PRODUCT, TERM_FORCING, TERM_CONSTANT};
  int n = model->unknowns;
  for (int i = 0; i < n; i++) {
    add_term(model, i, (Term){draw(random, 3) ? TERM_VALUE : TERM_DERIVATIVE, random_factor(random), i, i});
    int count = 1 + (int)draw(random, 3);
    for (int k = 0; k < count; k++) {
      TermKind kind = model->class == CLASS_LINEAR ? LINEAR[draw(random, 5)] : ANY[draw(random, 8)];
      int first = (int)draw(random, (uint32_t)n);
      add_term(model, i, (Term){kind, random_factor(random), first, other_than(random, n, first)});
    }
  }
}

/* Velocities 0, 1; positions 2, 3; a multiplier 4: order 3 with matrices that depend on the positions. */
static void draw_hessenberg(RandomModel *model, Random *random) {
  model->unknowns = 5;
  for (int i = 0; i < 4; i++) {
    int from = i < 2 ? 4 : i - 2, position = 2 + (int)draw(random, 2);
    add_term(model, i, (Term){TERM_DERIVATIVE, -1, i, i});
    add_term(model, i, (Term){TERM_VALUE, random_factor(random), from, from});
    add_term(model, i, (Term){TERM_PRODUCT, random_factor(random), position, i < 2 ? 4 : (int)draw(random, 2)});
    add_term(model, i, (Term){TERM_SINE, random_factor(random), i < 2 ? 0 : position, 0});
  }
  add_term(model, 4, (Term){TERM_SQUARE, 1, 2, 2});
  add_term(model, 4, (Term){TERM_SQUARE, 1, 3, 3});
  add_term(model, 4, (Term){TERM_PRODUCT, 0.5 * (double)draw(random, 3), 2, 3});
  add_term(model, 4, (Term){TERM_CONSTANT, -1, 0, 0});
}

static void declare(RandomModel *model, Random *random) {
  for (int i = 0; i < model->unknowns; i++) {
    const char *fixed = draw(random, 8) ? "" : ", fixed = true";
    double start = (double)draw(random, 41) / 10 - 2;
    if (draw(random, 3)) snprintf(model->declaration[i], 80, "x%d(start = %g%s)", i, start, fixed);
    else snprintf(model->declaration[i], 80, "x%d", i);
  }
}

static int write_term(char *text, size_t room, const Term *term) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  return snprintf(text, room, TERM_TEXT[term->kind], term->factor, term->first, term->second);
#pragma GCC diagnostic pop
}

static void write_model(RandomModel *model) {
  char *text = model->text;
  size_t at = (size_t)snprintf(text, TEXT_SIZE, "model M\n");
  for (int i = 0; i < model->unknowns; i++)
    at += (size_t)snprintf(text + at, TEXT_SIZE - at, "  Real %s;\n", model->declaration[i]);
  at += (size_t)snprintf(text + at, TEXT_SIZE - at, "equation\n");
  for (int i = 0; i < model->unknowns; i++) {
    at += (size_t)snprintf(text + at, TEXT_SIZE - at, "  0 = ");
    for (int k = 0; k < model->terms[i]; k++) at += (size_t)write_term(text + at, TEXT_SIZE - at, &model->term[i][k]);
    at += (size_t)snprintf(text + at, TEXT_SIZE - at, ";\n");
  }
  snprintf(text + at, TEXT_SIZE - at, "end M;\n");
}

static RandomModel draw_model(uint64_t seed) {
  Random random = {seed};
  RandomModel model = {.class = draw(&random, CLASSES), .unknowns = 2 + (int)draw(&random, MOST_UNKNOWNS - 2)};
  if (model.class == CLASS_HESSENBERG) draw_hessenberg(&model, &random);
  else draw_scattered(&model, &random);
  declare(&model, &random);
  write_model(&model);
  return model;
}

/* ---- points ---- */

typedef struct StartPoint {
  daedal_status status;
  int code;                                         /* number of the first error's code, 0 without one */
  double value[MOST_UNKNOWNS], rate[MOST_UNKNOWNS]; /* NaN if the result has none */
  double residual;  /* the largest residual in the report, which includes all derivatives of equations */
  double condition; /* infinite at a singular point */
  bool at_once;     /* found from all equations at once, because solving level by level leads to a singular point */
} StartPoint;

static double signal_value(const daedal_result *result, const char *form, int unknown) {
  char name[20];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  snprintf(name, sizeof name, form, unknown);
#pragma GCC diagnostic pop
  uint32_t signal = daedal_result_find(result, name);
  return signal == UINT32_MAX ? NAN : daedal_result_value(result, signal, 0);
}

static double reported(daedal_result *result, const char *key) {
  const char *json = daedal_report(result, DAEDAL_REPORT_INITIAL, DAEDAL_JSON), *at = json ? strstr(json, key) : NULL;
  return at && strncmp(at + strlen(key), " null", 5) != 0 ? strtod(at + strlen(key), NULL) : HUGE_VAL;
}

static int code_of(const daedal_result *result) {
  for (uint32_t k = 0; k < daedal_diagnostic_count(result); k++) {
    daedal_diagnostic diagnostic = daedal_diagnostic_get(result, k);
    if (diagnostic.severity == DAEDAL_ERROR) return atoi(diagnostic.code + 1);
  }
  return 0;
}

static StartPoint read_point(const RandomModel *model, daedal_result *result) {
  StartPoint point = {.status = daedal_status_of(result), .code = code_of(result)};
  for (int i = 0; i < model->unknowns && point.status == DAEDAL_OK; i++) {
    point.value[i] = signal_value(result, "x%d", i);
    point.rate[i] = signal_value(result, "der(x%d)", i);
  }
  if (point.status != DAEDAL_OK) return point;
  point.residual = reported(result, "\"residual\":");
  point.condition = reported(result, "\"condition\":");
  point.at_once = strstr(daedal_report(result, DAEDAL_REPORT_INITIAL, DAEDAL_JSON), "all equations at once") != NULL;
  return point;
}

static StartPoint start_point(const RandomModel *model, const char *method) {
  daedal_model *loaded = daedal_load_text(model->text, strlen(model->text), "model.mo", NULL, NULL);
  assert_int_equal(daedal_status_of(loaded), DAEDAL_OK);
  daedal_options options = daedal_default_options();
  options.method = method;
  daedal_result *result = daedal_initialize(loaded, &options);
  StartPoint point = read_point(model, result);
  daedal_free(result);
  daedal_free(loaded);
  return point;
}

/* ---- what must hold ---- */

static double term_value(const Term *term, const StartPoint *point) {
  double x = point->value[term->first];
  switch (term->kind) {
  case TERM_VALUE: return term->factor * x;
  case TERM_DERIVATIVE: return term->factor * point->rate[term->first];
  case TERM_SINE: return term->factor * sin(x);
  case TERM_SQUARE: return term->factor * x * x;
  case TERM_PRODUCT: return term->factor * x * point->value[term->second];
  case TERM_RATE_PRODUCT: return term->factor * x * point->rate[term->second];
  case TERM_CONSTANT: return term->factor;
  case TERM_FORCING: return term->factor * cos(0.3);
  case TERM_KINDS: break;
  }
  return NAN;
}

/* The largest residual of the equations as written, relative to the sizes of their terms. An equation with a derivative that the
 * result does not have is skipped. */
static double written_residual(const RandomModel *model, const StartPoint *point) {
  double largest = 0;
  for (int i = 0; i < model->unknowns; i++) {
    double sum = 0, size = 1;
    for (int k = 0; k < model->terms[i]; k++) {
      double value = term_value(&model->term[i][k], point);
      sum += value;
      size += fabs(value);
    }
    if (fabs(sum) / size > largest) largest = fabs(sum) / size;
  }
  return largest;
}

static double distance(const RandomModel *model, const StartPoint *a, const StartPoint *b) {
  double largest = 0;
  for (int i = 0; i < model->unknowns; i++) {
    double away = fabs(a->value[i] - b->value[i]) / (1 + fabs(a->value[i]));
    if (away > largest) largest = away;
  }
  return largest;
}

typedef struct Counts {
  Tally tally;
  uint32_t degenerate, complaints;
} Counts;

/* The values found, given as start values. */
static StartPoint restarted(const RandomModel *model, const StartPoint *point) {
  RandomModel again = *model;
  for (int i = 0; i < model->unknowns; i++)
    snprintf(again.declaration[i], 80, "x%d(start = %.17g%s)", i, point->value[i],
             strstr(model->declaration[i], "fixed") ? ", fixed = true" : "");
  write_model(&again);
  return start_point(&again, "dummy");
}

static void complain(Counts *counts, uint64_t seed, const RandomModel *model, const char *what, const char *method,
                     double size) {
  counts->complaints++;
  say_wrong(CLASS_NAME[model->class], seed);
  print_message("%s%s%s: %g\n", what, method ? ", " : "", method ? method : "", size);
}

static void compare_methods(uint64_t seed, const RandomModel *model, const StartPoint *point, Counts *counts) {
  for (const char *const *method = daedal_method_names() + 1; *method; method++) {
    StartPoint other = start_point(model, *method);
    if (other.status != DAEDAL_OK) {
      if (other.status == DAEDAL_INIT) complain(counts, seed, model, "refused", *method, 0);
      continue;
    }
    double away = distance(model, point, &other), residual = written_residual(model, &other);
    if (!(away <= SAME_POINT)) complain(counts, seed, model, "starts elsewhere", *method, away);
    if (!(residual <= SMALL_RESIDUAL)) complain(counts, seed, model, "residual", *method, residual);
  }
}

/* ---- the nearest point: each level of a Hessenberg model by itself ---- */

/* The rate of a position as its equation says; linear in the velocities. */
static double position_rate(const RandomModel *model, const StartPoint *point, int position) {
  double sum = 0;
  for (int k = 0; k < model->terms[position]; k++)
    if (model->term[position][k].kind != TERM_DERIVATIVE) sum += term_value(&model->term[position][k], point);
  return sum;
}

static double constraint(const RandomModel *model, const StartPoint *point) {
  double sum = 0;
  for (int k = 0; k < model->terms[4]; k++) sum += term_value(&model->term[4][k], point);
  return sum;
}

/* The slope of the constraint with respect to a position, or of its derivative with respect to a velocity. Both slopes are
 * polynomials of degree 2 at most, so differences are exact. */
static double slope(const RandomModel *model, const StartPoint *at, int unknown) {
  StartPoint above = *at, below = *at;
  above.value[unknown] += 0.5;
  below.value[unknown] -= 0.5;
  if (unknown >= 2) return constraint(model, &above) - constraint(model, &below);
  double sum = 0;
  for (int position = 2; position < 4; position++)
    sum +=
        slope(model, at, position) * (position_rate(model, &above, position) - position_rate(model, &below, position));
  return sum;
}

/* The sine of the angle between the move of two unknowns and the gradient of the equation that caused it. */
static double off_normal(const RandomModel *model, const StartPoint *point, int first) {
  double start[2], move[2], normal[2];
  for (int k = 0; k < 2; k++) {
    const char *given = strstr(model->declaration[first + k], "start = ");
    if (!given) return 0;
    start[k] = strtod(given + strlen("start = "), NULL);
    move[k] = point->value[first + k] - start[k];
    normal[k] = slope(model, point, first + k);
  }
  double size = hypot(move[0], move[1]) * hypot(normal[0], normal[1]);
  return hypot(move[0], move[1]) > 1e-6 ? fabs(move[0] * normal[1] - move[1] * normal[0]) / size : 0;
}

static void check_nearest(uint64_t seed, const RandomModel *model, const StartPoint *point, Counts *counts) {
  for (int i = 0; i < model->unknowns; i++)
    if (strstr(model->declaration[i], "fixed") || point->at_once) return;
  bool positions = strstr(model->declaration[2], "start") && strstr(model->declaration[3], "start");
  double angle = positions ? fmax(off_normal(model, point, 2), off_normal(model, point, 0)) : 0;
  if (angle > 1e-4) complain(counts, seed, model, "not the nearest point", NULL, angle);
}

/* Reports everything that is not right. */
static void check_point(uint64_t seed, const RandomModel *model, const StartPoint *point, Counts *counts) {
  double residual = fmax(written_residual(model, point), point->residual);
  if (!(residual <= SMALL_RESIDUAL)) complain(counts, seed, model, "residual", NULL, residual);
  if (!(point->condition <= REGULAR)) {
    counts->degenerate++;
    return;
  }
  compare_methods(seed, model, point, counts);
  if (model->class == CLASS_HESSENBERG) check_nearest(seed, model, point, counts);
  StartPoint again = restarted(model, point);
  double away = again.status == DAEDAL_OK ? distance(model, point, &again) : HUGE_VAL;
  if (!(away <= SAME_POINT)) complain(counts, seed, model, "a consistent guess moved", NULL, away);
}

static void check_model(uint64_t seed, Counts *all) {
  RandomModel model = draw_model(seed);
  StartPoint point = start_point(&model, "dummy");
  Counts *counts = &all[model.class];
  if (point.status != DAEDAL_OK) {
    counts->tally.refused[point.code]++;
    if (getenv("DAEDAL_MODELS"))
      say_refused(point.code, CLASS_NAME[model.class], seed), print_message("%s\n", model.text);
    return;
  }
  uint32_t before = counts->complaints;
  check_point(seed, &model, &point, counts);
  if (counts->complaints > before) counts->tally.wrong++;
  else counts->tally.right++;
}

static void random_models(void **state) {
  (void)state;
  Seeds range = seeds();
  Counts counts[CLASSES] = {0};
  uint32_t wrong = 0;
  if (range.behind == range.first + 1) print_message("%s", draw_model(range.first).text);
  for (uint64_t seed = range.first; seed < range.behind; seed++) check_model(seed, counts);
  for (int c = 0; c < CLASSES; c++) {
    const Tally *tally = &counts[c].tally;
    print_message("%-10s %u right (%u at singular points), %u wrong, %u refused\n", CLASS_NAME[c], tally->right,
                  counts[c].degenerate, tally->wrong, refused_count(tally));
    print_tally(CLASS_NAME[c], tally);
    wrong += tally->wrong;
  }
  assert_int_equal(wrong, 0);
}

/* ---- guesses at stationary and flat points ---- */

/* An equation f(x) = 0 with two numbers in it, and a guess where f' is zero or nearly so. */
typedef struct FlatEquation {
  const char *text; /* with %1$g, %2$g */
  double (*value)(double x, double a, double b);
  double (*guess)(double a, double b);
} FlatEquation;

static double square_value(double x, double a, double b) { return (x - b) * (x - b) - a; }
static double square_guess(double a, double b) { return (void)a, b; }
static double cubic_value(double x, double a, double b) { return x * x * x - 3 * b * b * x - 20 * a; }
static double cubic_guess(double a, double b) { return (void)a, b; }
static double away_value(double x, double a, double b) { return x * x * x - 3 * b * b * x + 2 * b * b * b + 20 * a; }
static double exponential_value(double x, double a, double b) { return exp(b * x) - a; }
static double exponential_guess(double a, double b) { return (void)a, -30 / b; }
static double bell_value(double x, double a, double b) { return exp(-b * x * x) - 0.5 * a / (1 + a); }
static double bell_guess(double a, double b) { return (3 + a) / sqrt(b); }
static double pole_value(double x, double a, double b) { return 1 / (1 + x * x) - 0.5 * a / (a + b); }
static double pole_guess(double a, double b) { return pow(10, 2 * (a + b)); }
static double sine_value(double x, double a, double b) { return sin(b * x) - 0.5 * a / (1 + a); }
static double sine_guess(double a, double b) { return (void)a, 1.5707963267948966 / b; }
static double tanh_value(double x, double a, double b) { return tanh(b * x) - 0.8 * a / (1 + a); }
static double tanh_guess(double a, double b) { return (a > 1.5 ? 20 : -20) / b; }
static double tanh_far(double a, double b) { return (a > 1.5 ? 1e4 : -1e4) * b; }
static double atan_value(double x, double a, double b) { return atan(b * x) - a / (1 + a); }
static double atan_guess(double a, double b) { return (a > 1.5 ? 1e3 : -1e3) * b; }
static double logistic_value(double x, double a, double b) { return 1 / (1 + exp(-b * x)) - 0.5 * a / (1 + a); }
static double logistic_guess(double a, double b) { return (a > 1.5 ? 40 : -40) / b; }
static double ramp_value(double x, double a, double b) { return log(1 + exp(b * x)) - a; }
static double ramp_guess(double a, double b) { return (void)a, -40 / b; }
static double root_value(double x, double a, double b) { return x / sqrt(b + x * x) - 0.5 * a / (1 + a); }
static double root_guess(double a, double b) { return (a > 1.5 ? 1e4 : -1e4) * b; }
static double diode_value(double x, double a, double b) { return 1e-9 * (exp(x / (0.02 * b)) - 1) / a - 1e-3; }
static double diode_guess(double a, double b) { return a > 1.5 ? 3 * b : -3 * b; }
static double contact_value(double x, double a, double b) { return b * pow(fmax(0, -x), 1.5) - a; }
static double contact_guess(double a, double b) { return a * b; }
static double gap_value(double x, double a, double b) { return b * fmax(0, x - 3) - a; }
static double gap_guess(double a, double b) { return -a * b; }

static const FlatEquation FLAT[] = {
    {"(x - %2$.3f)^2 - %1$.3f", square_value, square_guess},
    {"x^3 - 3*%2$.3f^2*x - 20*%1$.3f", cubic_value, cubic_guess},
    {"x^3 - 3*%2$.3f^2*x + 2*%2$.3f^3 + 20*%1$.3f", away_value, cubic_guess},
    {"exp(%2$.3f*x) - %1$.3f", exponential_value, exponential_guess},
    {"exp(-%2$.3f*x^2) - 0.5*%1$.3f/(1 + %1$.3f)", bell_value, bell_guess},
    {"1/(1 + x^2) - 0.5*%1$.3f/(%1$.3f + %2$.3f)", pole_value, pole_guess},
    {"sin(%2$.3f*x) - 0.5*%1$.3f/(1 + %1$.3f)", sine_value, sine_guess},
    {"tanh(%2$.3f*x) - 0.8*%1$.3f/(1 + %1$.3f)", tanh_value, tanh_guess},
    {"tanh(%2$.3f*x) - 0.8*%1$.3f/(1 + %1$.3f)", tanh_value, tanh_far},
    {"atan(%2$.3f*x) - %1$.3f/(1 + %1$.3f)", atan_value, atan_guess},
    {"1/(1 + exp(-%2$.3f*x)) - 0.5*%1$.3f/(1 + %1$.3f)", logistic_value, logistic_guess},
    {"log(1 + exp(%2$.3f*x)) - %1$.3f", ramp_value, ramp_guess},
    {"x/sqrt(%2$.3f + x^2) - 0.5*%1$.3f/(1 + %1$.3f)", root_value, root_guess},
    {"1e-9*(exp(x/(0.02*%2$.3f)) - 1)/%1$.3f - 1e-3", diode_value, diode_guess},
    {"%2$.3f*max(0, -x)^1.5 - %1$.3f", contact_value, contact_guess},
    {"%2$.3f*max(0, x - 3) - %1$.3f", gap_value, gap_guess},
};
enum { FLAT_COUNT = sizeof FLAT / sizeof *FLAT };

/* The initial value of x in a model of one unknown; *said is the number of diagnostics. */
static StartPoint solve_one(const char *declaration, const char *equation, uint32_t *said) {
  char text[400];
  snprintf(text, sizeof text, "model M\n  Real x0%s;\nequation\n  0 = %s;\nend M;\n", declaration, equation);
  for (char *at = strstr(text, "0 ="); at && (at = strchr(at, 'x')); at++)
    if (at[1] != 'p' && at[1] != '(') memmove(at + 2, at + 1, strlen(at + 1) + 1), at[1] = '0';
  RandomModel model = {.unknowns = 1};
  snprintf(model.text, sizeof model.text, "%s", text);
  daedal_model *loaded = daedal_load_text(text, strlen(text), "model.mo", NULL, NULL);
  assert_int_equal(daedal_status_of(loaded), DAEDAL_OK);
  daedal_options options = daedal_default_options();
  daedal_result *result = daedal_initialize(loaded, &options);
  StartPoint point = read_point(&model, result);
  *said = daedal_diagnostic_count(result);
  daedal_free(result);
  daedal_free(loaded);
  return point;
}

static double random_number(Random *random) { return (double)(500 + draw(random, 2000)) / 1000; }

static void flat_guesses(void **state) {
  (void)state;
  Seeds range = seeds();
  Tally tally = {0};
  for (uint64_t k = range.first; k < range.behind; k++) {
    Random random = {k};
    const FlatEquation *flat = &FLAT[k % FLAT_COUNT];
    char equation[200], declaration[60];
    double a = random_number(&random), b = random_number(&random);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(equation, sizeof equation, flat->text, a, b);
#pragma GCC diagnostic pop
    snprintf(declaration, sizeof declaration, "(start = %.17g)", flat->guess(a, b));
    uint32_t said;
    StartPoint point = solve_one(declaration, equation, &said);
    if (point.status != DAEDAL_OK) {
      say_refused(point.code, "flat guesses", k);
      print_message("%s from %s\n", equation, declaration);
      tally.refused[point.code]++;
      continue;
    }
    bool right = fabs(flat->value(point.value[0], a, b)) < 1e-9;
    if (!right)
      say_wrong("flat guesses", k), print_message("%s from %s: x = %g\n", equation, declaration, point.value[0]);
    tally.right += right;
    tally.wrong += !right;
  }
  print_tally("flat guesses", &tally);
  assert_int_equal(tally.wrong, 0);
  assert_true(getenv("DAEDAL_MODELS") || refused_count(&tally) == 0);
}

/* ---- the nearest point of a curve with flat parts ---- */

typedef struct FlatCurve {
  const char *text; /* equation of x0, with %1$g, %2$g */
  double (*value)(double x, double a, double b);
} FlatCurve;

static double power_curve(double x, double a, double b) { return b * pow(fmax(0, -x), a + 0.6); }
static double line_curve(double x, double a, double b) { return b * fmax(0, x - a); }
static double tanh_curve(double x, double a, double b) { return b * tanh(a * x); }
static double ramp_curve(double x, double a, double b) { return b * log(1 + exp(4 * a * x)); }
static double bell_curve(double x, double a, double b) { return b * exp(-a * x * x); }

static const FlatCurve CURVE[] = {
    {"%2$.3f*max(0, -x0)^(%1$.3f + 0.6)", power_curve},
    {"%2$.3f*max(0, x0 - %1$.3f)", line_curve},
    {"%2$.3f*tanh(%1$.3f*x0)", tanh_curve},
    {"%2$.3f*log(1 + exp(4*%1$.3f*x0))", ramp_curve},
    {"%2$.3f*exp(-%1$.3f*x0^2)", bell_curve},
};
enum { CURVE_COUNT = sizeof CURVE / sizeof *CURVE };

/* Follows the curve from the point found while the distance to the start falls, and returns by how much it falls. */
static double nearer_by(const FlatCurve *curve, double a, double b, const double *start, double x) {
  double found = hypot(x - start[0], curve->value(x, a, b) - start[1]), gain = 0;
  for (int side = -1; side <= 1; side += 2) {
    double last = found;
    for (int k = 1; k <= 60; k++) {
      double other = x + 1e-5 * side * k * (1 + fabs(x));
      double now = hypot(other - start[0], curve->value(other, a, b) - start[1]);
      if (now > last) break;
      last = now;
    }
    gain = fmax(gain, found - last);
  }
  return gain;
}

static void flat_curves(void **state) {
  (void)state;
  Seeds range = seeds();
  Tally tally = {0};
  for (uint64_t k = range.first; k < range.behind; k++) {
    Random random = {k};
    const FlatCurve *curve = &CURVE[k % CURVE_COUNT];
    double a = random_number(&random), b = random_number(&random);
    double start[2] = {2 * random_number(&random) - 2.5, 2 * random_number(&random) - 2};
    char text[100];
    RandomModel model = {.unknowns = 2};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, curve->text, a, b);
#pragma GCC diagnostic pop
    snprintf(model.text, sizeof model.text,
             "model M\n  Real x0(start = %.17g), x1(start = %.17g), l;\nequation\n  der(x0) = -0.3 + l;\n"
             "  der(x1) = x0 - 2*l;\n  x1 = %s;\nend M;\n",
             start[0], start[1], text);
    StartPoint point = start_point(&model, "dummy");
    if (point.status != DAEDAL_OK) {
      say_refused(point.code, "flat curves", k);
      print_message("%s from (%g, %g)\n", text, start[0], start[1]);
      tally.refused[point.code]++;
      continue;
    }
    double x = point.value[0], gain = nearer_by(curve, a, b, start, x);
    bool right = fabs(point.value[1] - curve->value(x, a, b)) < 1e-9 && gain < 1e-7;
    if (!right) say_wrong("flat curves", k);
    if (!right) print_message("%s from (%g, %g): x = %g, nearer by %g\n", text, start[0], start[1], x, gain);
    tally.right += right;
    tally.wrong += !right;
  }
  print_tally("flat curves", &tally);
  assert_int_equal(tally.wrong, 0);
  assert_true(99 * refused_count(&tally) <= tally.right);
}

/* ---- min and max choose among roots ---- */

static void bounded_roots(void **state) {
  (void)state;
  Seeds range = seeds();
  Tally tally = {0};
  for (uint64_t k = range.first; k < range.behind; k++) {
    Random random = {k};
    double root[3] = {-random_number(&random) - 0.3, 0, random_number(&random) + 0.3};
    root[1] = 0.3 * (root[0] + root[2]);
    uint32_t wanted = draw(&random, 3), said;
    double low = wanted ? 0.5 * (root[wanted - 1] + root[wanted]) : -10;
    double high = wanted < 2 ? 0.5 * (root[wanted] + root[wanted + 1]) : 10;
    char equation[200], declaration[100];
    snprintf(equation, sizeof equation, "(x - (%.17g))*(x - (%.17g))*(x - (%.17g))", root[0], root[1], root[2]);
    double start = random_number(&random) * (draw(&random, 2) ? 1 : -1);
    int at = snprintf(declaration, sizeof declaration, "(min = %g, max = %g", low, high);
    if (draw(&random, 2)) at += snprintf(declaration + at, sizeof declaration - (size_t)at, ", start = %g", start);
    snprintf(declaration + at, sizeof declaration - (size_t)at, ")");
    StartPoint point = solve_one(declaration, equation, &said);
    bool inside = point.status == DAEDAL_OK && point.value[0] >= low && point.value[0] <= high;
    if (inside) tally.right++;
    else if (said) tally.refused[point.code ? point.code : OUT_OF_BOUNDS]++;
    else
      tally.wrong++, say_wrong("roots between bounds", k),
          print_message("%s with %s: x = %g, and no word\n", equation, declaration, point.value[0]);
  }
  print_tally("roots between bounds", &tally);
  assert_int_equal(tally.wrong, 0);
  assert_true(19 * refused_count(&tally) <= tally.right);
}

/* ---- guesses of states that allow no value of another variable ---- */

/* A function of x1 that does not take all values, and its slope. */
typedef struct Saturating {
  const char *text;
  double (*value)(double), (*slope)(double);
} Saturating;

static double tanh_slope(double y) { return 1 - tanh(y) * tanh(y); }
static double parabola(double y) { return y * y; }
static double parabola_slope(double y) { return 2 * y; }
static double hill(double y) { return 1 / (1 + y * y); }
static double hill_slope(double y) { return -2 * y / ((1 + y * y) * (1 + y * y)); }
static double atan_slope(double y) { return 1 / (1 + y * y); }

static const Saturating SATURATING[] = {
    {"tanh(x1)", tanh, tanh_slope},
    {"sin(x1)", sin, cos},
    {"exp(x1)", exp, exp},
    {"x1^2", parabola, parabola_slope},
    {"1/(1 + x1^2)", hill, hill_slope},
    {"atan(x1)", atan, atan_slope},
};
enum { SATURATING_COUNT = sizeof SATURATING / sizeof *SATURATING };

/* States x0 and x2 with h(x1) = a x0 + b x2 + c: they are kept, or the point has locally the least distance. Along the solutions
 * with x1 fixed, (a q0 + b q2 + c - h)^2/(a^2 + b^2) + (x1 - q1)^2 is then stationary. */
static void saturated_guesses(void **state) {
  (void)state;
  Seeds range = seeds();
  Tally tally = {0};
  for (uint64_t seed = range.first; seed < range.behind; seed++) {
    Random random = {seed};
    const Saturating *h = &SATURATING[seed % SATURATING_COUNT];
    double a = random_factor(&random), b = random_factor(&random), c = random_factor(&random), q[3];
    for (int k = 0; k < 3; k++) q[k] = ((double)draw(&random, 401) / 100 - 2) * (draw(&random, 3) ? 1 : 3);
    if (seed % 8 == 0) q[1] = 0; /* where h is flat, or steepest */
    RandomModel model = {.unknowns = 3};
    snprintf(model.text, sizeof model.text,
             "model M\n  Real x0(start = %g), x1(start = %g), x2(start = %g);\nequation\n  der(x0) = x2;\n"
             "  der(x2) = -x0;\n  %s = %g*x0 + %g*x2 + %g;\nend M;\n",
             q[0], q[1], q[2], h->text, a, b, c);
    StartPoint point = start_point(&model, "dummy");
    if (point.status != DAEDAL_OK) {
      tally.refused[point.code]++;
      say_refused(point.code, "saturated guesses", seed);
      print_message("%s\n", model.text);
      continue;
    }
    const double *x = point.value;
    bool is_kept = fabs(x[0] - q[0]) < 1e-6 && fabs(x[2] - q[2]) < 1e-6;
    double off = a * q[0] + b * q[2] + c - h->value(x[1]), away = fabs(off) + fabs(x[1] - q[1]);
    double slope = x[1] - q[1] - off * h->slope(x[1]) / (a * a + b * b);
    bool right = fabs(h->value(x[1]) - a * x[0] - b * x[2] - c) < 1e-9 * (1 + away);
    right = right && (is_kept || fabs(slope) <= 1e-5 * (1 + away));
    if (!right) say_wrong("saturated guesses", seed);
    if (!right) print_message("(%g, %g, %g), slope %g: %s\n", x[0], x[1], x[2], slope, model.text);
    tally.right += right;
    tally.wrong += !right;
  }
  print_tally("saturated guesses", &tally);
  assert_int_equal(tally.wrong, 0);
  assert_true(99 * refused_count(&tally) <= tally.right);
}

/* ---- equations without a solution ---- */

/* A function of x2 and a value that it never has. */
typedef struct Unreachable {
  const char *text;
  double value;
} Unreachable;

static const Unreachable UNREACHABLE[] = {
    {"(x2 + 0.3*x2^2)", -0.9}, {"(x2 + 0.3*x2^2)", -2}, {"(1 - x2^2)", 1.5}, {"sin(x2)", 1.1},
    {"atan(x2)", -1.7},        {"x2*exp(-x2)", 0.5},    {"exp(x2)", -0.2},   {"sqrt(1 + x2^2)", 0.8},
};
enum { UNREACHABLE_COUNT = sizeof UNREACHABLE / sizeof *UNREACHABLE };

/* The rate of x0 is 0 where x0 solves its equation, and that of x3 is known, so x2 has no value. If x0 grows until its whole
 * equation counts as round-off, its rate is arbitrary. */
static RandomModel draw_unsolvable(uint64_t seed) {
  static const char *const BOUND[] = {"sin(x0)", "cos(x0)", "tanh(x0)", "(x0 + 0.3*x0^2)"};
  Random random = {seed};
  RandomModel model = {.unknowns = 4};
  const Unreachable *never = &UNREACHABLE[seed % UNREACHABLE_COUNT];
  double factor = random_factor(&random), slope = random_factor(&random), start[4];
  for (int k = 0; k < 4; k++) start[k] = (double)draw(&random, 401) / 100 - 2;
  snprintf(model.text, sizeof model.text,
           "model M\n  Real x0(start = %g), x1(start = %g), x2(start = %g), x3(start = %g);\nequation\n"
           "  %g*der(x0) + %g*%s + %g*der(x3) = 0;\n  %g*der(x0) + %g*der(x1) + exp(-time) = 0;\n"
           "  %s = %g*cos(2*time);\n  x3 = %.17g*exp(-time);\nend M;\n",
           start[0], start[1], start[2], start[3], random_factor(&random), factor, never->text, slope,
           random_factor(&random), random_factor(&random), BOUND[draw(&random, 4)], draw(&random, 2) ? 0.3 : -0.4,
           factor * never->value / slope);
  return model;
}

static void unsolvable_models(void **state) {
  (void)state;
  static const char *const METHODS[] = {"dummy", "strangeness"};
  Seeds range = seeds();
  Tally tally = {0};
  for (uint64_t seed = range.first; seed < range.behind; seed++) {
    RandomModel model = draw_unsolvable(seed);
    for (int k = 0; k < 2; k++) {
      StartPoint point = start_point(&model, METHODS[k]);
      tally.right += point.status == DAEDAL_INIT;
      tally.wrong += point.status != DAEDAL_INIT;
      if (point.status != DAEDAL_INIT)
        say_wrong("unsolvable models", seed), print_message("%s: %s\n", METHODS[k], model.text);
    }
  }
  print_tally("unsolvable models", &tally);
  assert_int_equal(tally.wrong, 0);
}

/* ---- equations that structure does not differentiate ---- */

/* Functions that vanish when x2 does, in the last two by the factor x2. */
static const char *const VANISHING[] = {"x2",       "sin(x2)", "(exp(x2) - 1)", "x2^2",
                                        "tanh(x2)", "(x2*x3)", "(x2*cos(x0))"};
enum { VANISHING_COUNT = sizeof VANISHING / sizeof *VANISHING };

typedef enum Given { GIVEN_RIGHT, GIVEN_WRONG, GIVEN_GUESS } Given;

/* x3 is constant, so x2 is 0 and x1 as well. Structural analysis takes x0 as determined by the second equation, but the first one
 * determines it, through the rate of x1. */
static RandomModel draw_vanishing(uint64_t seed, Given *given, double *value) {
  Random random = {seed};
  RandomModel model = {.unknowns = 4};
  double factor[9], start[4];
  for (int k = 0; k < 9; k++) factor[k] = random_factor(&random);
  for (int k = 0; k < 4; k++) start[k] = (double)draw(&random, 401) / 100 - 2;
  *given = draw(&random, 3);
  *value = factor[2] / factor[0];
  if (*given == GIVEN_RIGHT) start[0] = *value;
  if (*given == GIVEN_WRONG && fabs(start[0] - *value) < 0.01) start[0] += 1;
  snprintf(
      model.text, sizeof model.text,
      "model M\n  Real x0(start = %.17g%s), x1(start = %g), x2(start = %g), x3(start = %g);\nequation\n"
      "  %g*x0 + %g*der(x1) = %g;\n  %g*x1 + %g*%s*x0 = 0;\n  %g*x2 + %g*der(x3) = 0;\n  %g*x3 + %g = 0;\nend M;\n",
      start[0], *given == GIVEN_GUESS ? "" : ", fixed = true", start[1], start[2], start[3], factor[0], factor[1],
      factor[2], factor[3], factor[4], VANISHING[seed % VANISHING_COUNT], factor[5], factor[6], factor[7], factor[8]);
  return model;
}

/* No method accepts a wrong value; the default and ranks find the right one. */
static void vanishing_factors(void **state) {
  (void)state;
  Seeds range = fewer_seeds();
  Tally tally = {0};
  for (uint64_t seed = range.first; seed < range.behind; seed++) {
    Given given;
    double value;
    RandomModel model = draw_vanishing(seed, &given, &value);
    for (const char *const *method = daedal_method_names(); *method; method++) {
      StartPoint point = start_point(&model, *method);
      bool is_found = point.status == DAEDAL_OK, must = !strcmp(*method, "dummy") || !strcmp(*method, "strangeness");
      bool right =
          is_found ? given != GIVEN_WRONG && fabs(point.value[0] - value) < 1e-9 : given == GIVEN_WRONG || !must;
      if (!right)
        say_wrong("vanishing factors", seed), print_message("%s, x0 = %g: %s\n", *method, point.value[0], model.text);
      tally.right += right;
      tally.wrong += !right;
    }
  }
  print_tally("vanishing factors", &tally);
  assert_int_equal(tally.wrong, 0);
}

/* ---- starts where two solutions cross ---- */

/* x3*(x4 + x2 - k) = 0 from x2 = k, where x3 and x4 are 0: the point is consistent but singular. Every method starts there, or
 * reports that it cannot. */
static RandomModel draw_crossing(uint64_t seed) {
  Random random = {seed};
  RandomModel model = {.unknowns = 5};
  double where = (double)(1 + draw(&random, 30)) / 10, factor[5];
  for (int k = 0; k < 5; k++) factor[k] = random_factor(&random);
  snprintf(model.text, sizeof model.text,
           "model M\n  Real x0, x1(start = %g), x2(start = %g), x3, x4(start = %g);\nequation\n"
           "  0 = %g*x0 + x2*der(x0) + %g*x4^2 + cos(0.3 + time);\n  0 = x1 + %g*cos(0.3 + time);\n"
           "  0 = der(x2) - x3*der(x1) + %g*x1*x0;\n  0 = x4*x3 + x3*x2 - %.17g*x3;\n"
           "  0 = x4 + x4*der(x2) + %g*x2*x4;\nend M;\n",
           (double)draw(&random, 41) / 10 - 2, where, (double)draw(&random, 41) / 10 - 2, factor[0], factor[1],
           factor[2], factor[3], where, fabs(factor[4]));
  return model;
}

static void crossing_solutions(void **state) {
  (void)state;
  Seeds range = fewer_seeds();
  Tally tally = {0};
  for (uint64_t seed = range.first; seed < range.behind; seed++) {
    RandomModel model = draw_crossing(seed);
    StartPoint first = start_point(&model, "dummy");
    for (const char *const *method = daedal_method_names(); *method; method++) {
      StartPoint point = start_point(&model, *method);
      double away = first.status == DAEDAL_OK && point.status == DAEDAL_OK ? distance(&model, &first, &point) : 0;
      bool right = away <= SAME_POINT && point.residual <= SMALL_RESIDUAL;
      if (!right) say_wrong("crossing solutions", seed), print_message("%s, by %g: %s\n", *method, away, model.text);
      tally.right += right;
      tally.wrong += !right;
    }
  }
  print_tally("crossing solutions", &tally);
  assert_int_equal(tally.wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(vanishing_factors), cmocka_unit_test(crossing_solutions),
                                     cmocka_unit_test(random_models),     cmocka_unit_test(flat_guesses),
                                     cmocka_unit_test(flat_curves),       cmocka_unit_test(bounded_roots),
                                     cmocka_unit_test(saturated_guesses), cmocka_unit_test(unsolvable_models)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
