/* Initial values of random models, through the library as users have it. Of every model that is initialized, all equations hold
 * at the values found, all methods start from the same point, and a point that was found stays when it is given as start values.
 *
 * DAEDAL_MODELS=100000 in the environment widens the test; DAEDAL_SEED=7 runs one model only and prints it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daedal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_UNKNOWNS = 6, MOST_TERMS = 5, TEXT_SIZE = 4000 };

static const double SMALL_RESIDUAL = 1e-9, SAME_POINT = 1e-7;
static const double REGULAR = 1e8; /* condition number up to which a solution is told from its neighbours */

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

/* Terms of any kind anywhere; an equation has its own unknown, in some order, so that most models are regular. */
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
  double value[MOST_UNKNOWNS], rate[MOST_UNKNOWNS]; /* NaN where the result has none */
  double residual;  /* the largest that the report knows, all derivatives of equations among them */
  double condition; /* infinite at a singular point */
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
  const char *json = daedal_result_initial_json(result), *at = json ? strstr(json, key) : NULL;
  return at && strncmp(at + strlen(key), " null", 5) != 0 ? strtod(at + strlen(key), NULL) : HUGE_VAL;
}

static StartPoint read_point(const RandomModel *model, daedal_result *result) {
  StartPoint point = {.status = daedal_result_status(result)};
  for (int i = 0; i < model->unknowns && point.status == DAEDAL_OK; i++) {
    point.value[i] = signal_value(result, "x%d", i);
    point.rate[i] = signal_value(result, "der(x%d)", i);
  }
  if (point.status != DAEDAL_OK) return point;
  point.residual = reported(result, "\"residual\":");
  point.condition = reported(result, "\"condition\":");
  return point;
}

static StartPoint start_point(const RandomModel *model, const char *method) {
  daedal_model *loaded = daedal_load_text(model->text, strlen(model->text), "model.mo", NULL, NULL);
  assert_int_equal(daedal_model_status(loaded), DAEDAL_OK);
  daedal_options options = daedal_default_options();
  options.method = method;
  daedal_result *result = daedal_initialize(loaded, &options);
  StartPoint point = read_point(model, result);
  daedal_result_free(result);
  daedal_model_free(loaded);
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

/* The largest residual of the equations as written, over the sizes of their terms. An equation with a derivative that the result does
 * not have says nothing. */
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
  uint32_t models, found, refused, singular, degenerate, wrong, apart, moved, undecided;
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

static void complain(uint64_t seed, const RandomModel *model, const char *what, const char *method, double size) {
  print_message("seed %llu (%s): %s%s%s: %g\n", (unsigned long long)seed, CLASS_NAME[model->class], what,
                method ? ", " : "", method ? method : "", size);
}

static void compare_methods(uint64_t seed, const RandomModel *model, const StartPoint *point, Counts *counts) {
  for (const char *const *method = daedal_method_names() + 1; *method; method++) {
    StartPoint other = start_point(model, *method);
    if (other.status != DAEDAL_OK) {
      counts->undecided += other.status == DAEDAL_INIT;
      if (other.status == DAEDAL_INIT) complain(seed, model, "refused", *method, 0);
      continue;
    }
    double away = distance(model, point, &other), residual = written_residual(model, &other);
    if (!(away <= SAME_POINT)) counts->apart++, complain(seed, model, "starts elsewhere", *method, away);
    if (!(residual <= SMALL_RESIDUAL)) counts->wrong++, complain(seed, model, "residual", *method, residual);
  }
}

static void check_model(uint64_t seed, Counts *counts) {
  RandomModel model = draw_model(seed);
  StartPoint point = start_point(&model, "dummy");
  counts[model.class].models++;
  counts = &counts[model.class];
  counts->refused += point.status == DAEDAL_INIT;
  counts->singular += point.status == DAEDAL_STRUCTURE;
  if (point.status != DAEDAL_OK) return;
  counts->found++;
  double residual = fmax(written_residual(&model, &point), point.residual);
  if (!(residual <= SMALL_RESIDUAL)) counts->wrong++, complain(seed, &model, "residual", NULL, residual);
  if (!(point.condition <= REGULAR)) {
    counts->degenerate++;
    return;
  }
  compare_methods(seed, &model, &point, counts);
  StartPoint again = restarted(&model, &point);
  double away = again.status == DAEDAL_OK ? distance(&model, &point, &again) : HUGE_VAL;
  if (!(away <= SAME_POINT)) counts->moved++, complain(seed, &model, "a consistent guess moved", NULL, away);
}

static void random_models(void **state) {
  (void)state;
  const char *models = getenv("DAEDAL_MODELS"), *seed = getenv("DAEDAL_SEED");
  uint64_t first = seed ? strtoull(seed, NULL, 10) : 1, count = seed ? 1 : models ? strtoull(models, NULL, 10) : 300;
  Counts counts[CLASSES] = {0}, all = {0};
  for (uint64_t k = first; k < first + count; k++) check_model(k, counts);
  if (seed) print_message("%s", draw_model(first).text);
  for (int c = 0; c < CLASSES; c++) {
    const Counts *part = &counts[c];
    print_message("%-10s %u models: %u found (%u at singular points), %u refused, %u singular; %u wrong, %u apart, %u "
                  "moved, %u refused by one method\n",
                  CLASS_NAME[c], part->models, part->found, part->degenerate, part->refused, part->singular,
                  part->wrong, part->apart, part->moved, part->undecided);
    all.wrong += part->wrong, all.apart += part->apart, all.moved += part->moved, all.undecided += part->undecided;
  }
  assert_int_equal(all.wrong + all.apart + all.moved + all.undecided, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_models)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
