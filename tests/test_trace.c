/* Functions that are called are recorded and run as straight-line code (code/trace.h). Generated functions with loops, branches,
 * arrays, records and given derivatives are called at many points, and also run instruction by instruction: values and partials of
 * first and second order must agree. */
#include "code/calls.h"
#include "lang/lang.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ARGUMENTS = 4, RESULTS = 3, POINTS = 60 };

typedef struct Generator {
  Heap *heap;
  TextVec text;
  uint64_t seed;
} Generator;

static uint32_t random_below(Generator *g, uint32_t limit) {
  g->seed = g->seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((g->seed >> 33) % limit);
}

static double random_between(Generator *g, double low, double high) {
  return low + (high - low) * random_below(g, 1000003) / 1000003.0;
}

static void write_text(Generator *g, const char *text) { text_append(g->heap, &g->text, text, strlen(text)); }

static void write_operand(Generator *g) {
  static const char *const operands[] = {"x",    "y",   "v[1]", "v[2]", "a",    "b",   "w[1]",
                                         "w[2]", "c.p", "c.q",  "1.25", "-0.5", "n*x", "x"};
  write_text(g, operands[random_below(g, sizeof operands / sizeof *operands)]);
}

static void write_expression(Generator *g, uint32_t depth) {
  static const char *const around[][3] = {{"(", " + ", ")"},
                                          {"(", " - ", ")"},
                                          {"(", "*", ")"},
                                          {"sin(", " + ", ")"},
                                          {"exp(-abs(", "))*(1 + ", ")"},
                                          {"(", "/(2 + abs(", ")))"},
                                          {"square(", ", ", ")"},
                                          {"max(", ", ", ")"},
                                          {"(if ", " > 0.3 then x else ", ")"},
                                          {"sqrt(1 + (", ")^2)*(", ")"}};
  if (depth == 0) {
    write_operand(g);
    return;
  }
  uint32_t kind = random_below(g, sizeof around / sizeof *around);
  write_text(g, around[kind][0]);
  write_expression(g, depth - 1);
  write_text(g, around[kind][1]);
  write_expression(g, random_below(g, depth));
  write_text(g, around[kind][2]);
}

static void write_assignment(Generator *g, uint32_t depth) {
  static const char *const targets[] = {"a", "b", "w[1]", "w[2]", "c.p", "c.q", "w[1 + mod(n, 2)]"};
  write_text(g, "    ");
  write_text(g, targets[random_below(g, sizeof targets / sizeof *targets)]);
  write_text(g, " := ");
  write_expression(g, depth);
  write_text(g, ";\n");
}

static void write_block(Generator *g, const char *before, const char *after) {
  write_text(g, before);
  write_assignment(g, 2);
  if (random_below(g, 2)) write_assignment(g, 1);
  write_text(g, after);
}

static void write_statement(Generator *g) {
  switch (random_below(g, 6)) {
  case 0: write_block(g, "  if a > b then\n", "  else\n    b := b + 0.1*x;\n  end if;\n"); break;
  case 1: write_block(g, "  for i in 1:3 loop\n    n := n + i;\n", "  end for;\n"); break;
  case 2:
    write_block(g,
                "  k := 0;\n  a := 0.2 + abs(a);\n  while a < 1.5 and k < 8 loop\n    k := k + 1;\n    a := a*1.4;\n",
                "    if k > 6 then\n      break;\n    end if;\n    a := 0.2 + abs(a);\n  end while;\n");
    break;
  case 3: write_text(g, "  (a, b) := shuffle(b, a, c);\n"); break;
  case 4: write_text(g, "  assert(a < 1e30, \"large: \" + String(a));\n"); break;
  default: write_assignment(g, 3); break;
  }
}

static const char *make_source(Generator *g) {
  write_text(g, "package P\n"
                "record C\n  Real p;\n  Real q;\nend C;\n"
                "function square\n  input Real u;\n  input Real d;\n  output Real z;\nalgorithm\n"
                "  z := if u > d then u*u + d else u*u*(1 + 0*d) + d;\n"
                "  annotation(derivative = square_der);\nend square;\n"
                "function square_der\n  input Real u;\n  input Real d;\n  input Real ud;\n  input Real dd;\n"
                "  output Real z;\nalgorithm\n  z := 2*u*ud + dd;\nend square_der;\n"
                "function shuffle\n  input Real u;\n  input Real d;\n  input C c;\n  output Real p;\n  output Real q;\n"
                "algorithm\n  p := u*0.5 + c.p;\n  q := d - c.q;\n  if q > 4 then\n    q := 4 + 0.1*q;\n"
                "    return;\n  end if;\n  p := p + 0.25*q;\nend shuffle;\n"
                "function f\n  input Real x;\n  input Real y;\n  input Real v[2];\n  output Real r;\n  output Real s;\n"
                "  output Real t;\nprotected\n  Real a = x;\n  Real b = y;\n  Real w[2] = v;\n  Integer n = 0;\n"
                "  Integer k = 0;\n  C c = C(x + y, y);\nalgorithm\n"
                "  while a > 3 and k < 20 loop\n    a := a/2;\n    k := k + 1;\n  end while;\n");
  for (uint32_t i = 3 + random_below(g, 5); i > 0; i--) write_statement(g);
  write_text(g, "  r := a + w[1] + c.p;\n  s := ");
  write_expression(g, 3);
  write_text(g, ";\n  t := b*w[2] - c.q;\nend f;\nend P;\n"
                "model M\n  Real x, y, r, s, t;\nequation\n  x = time;\n  y = 2*time;\n"
                "  (r, s, t) = P.f(x, y, {x*y, x - y});\nend M;\n");
  return g->text.data;
}

/* The values requested from the function: its results, or partial derivatives of them. */
static const struct {
  uint32_t partial_count, partials[2];
} DEMANDS[] = {{0, {0}}, {1, {0}}, {1, {1}}, {1, {3}}, {2, {0, 0}}, {2, {0, 2}}, {2, {1, 1}}};

enum { DEMAND_COUNT = sizeof DEMANDS / sizeof *DEMANDS };

static CallSite make_site(uint32_t function, uint32_t demand) {
  static uint32_t results[RESULTS] = {0, 1, 2}, partials[DEMAND_COUNT][2];
  memcpy(partials[demand], DEMANDS[demand].partials, sizeof partials[demand]);
  return (CallSite){.function = function,
                    .argument_count = ARGUMENTS,
                    .partial_count = DEMANDS[demand].partial_count,
                    .partials = partials[demand],
                    .result_count = RESULTS,
                    .results = results};
}

static uint32_t find_function(const Model *model) {
  for (uint32_t i = 0; i < model->functions.count; i++)
    if (model->functions.data[i]->arguments == ARGUMENTS && model->functions.data[i]->results == RESULTS) return i;
  return UINT32_MAX;
}

static void check_point(Generator *g, const Model *model, Caller *caller, const CallSite *sites, const char *source) {
  double arguments[ARGUMENTS], recorded[RESULTS], run[RESULTS];
  for (uint32_t k = 0; k < ARGUMENTS; k++) arguments[k] = random_between(g, -2, 4);
  Caller *fresh = caller_new(g->heap, model);
  for (uint32_t d = 0; d < DEMAND_COUNT; d++) {
    bool is_defined = caller_interpret(fresh, &sites[d], arguments, run);
    bool is_known = caller_run(caller, &sites[d], arguments, recorded);
    if (is_defined && !is_known) fail_msg("seed %llu: not known: %s", (unsigned long long)g->seed, source);
    for (uint32_t r = 0; r < RESULTS && is_defined; r++)
      if (!(fabs(run[r] - recorded[r]) <= 1e-6 * (1 + fabs(run[r]))))
        fail_msg("demand %u, result %u: %.17g run, %.17g recorded\n%s", d, r, run[r], recorded[r], source);
  }
}

static bool check_function(uint64_t seed) {
  Heap *heap = heap_new(NULL);
  Generator g = {.heap = heap, .seed = seed * 7919};
  Names names = names_make(heap);
  Diags diags = diags_make(heap);
  const char *text = make_source(&g);
  Source source = source_make(heap, "generated.mo", text, (uint32_t)strlen(text));
  const Model *model = lang_load(heap, &names, &source, NULL, NULL, (LangOptions){0}, &diags);
  if (!model) fail_msg("%s\n%s", diags.list.data[0].message, text);
  uint32_t function = find_function(model);
  if (function != UINT32_MAX) {
    CallSite sites[DEMAND_COUNT];
    for (uint32_t d = 0; d < DEMAND_COUNT; d++) sites[d] = make_site(function, d);
    Caller *caller = caller_new(heap, model);
    for (uint32_t p = 0; p < POINTS; p++) check_point(&g, model, caller, sites, text);
  }
  heap_destroy(heap);
  return function != UINT32_MAX;
}

static void test_generated_functions(void **state) {
  (void)state;
  const char *more = getenv("TRACE_FUNCTIONS"), *kind = getenv("BUILD_KIND");
  uint32_t count = more ? (uint32_t)atoi(more) : kind && strcmp(kind, "asan") == 0 ? 10 : 60, called = 0;
  for (uint32_t i = 1; i <= count; i++) called += check_function(i);
  assert_true(called == count);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_generated_functions)};
  return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
