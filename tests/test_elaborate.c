/* From text to the flat model: equations as text, roles, events, functions inlined or kept, stems, and the messages of
 * refusals. The expected texts are worked out by hand from the rules of the language. */
#include "fail_alloc.h"
#include "lang/lang.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

typedef struct World {
  Heap *heap;
  Names *names;
  Source *source;
  Diags *diags;
  Arena arena;
  Model *model;
} World;

static World world_in(Heap *heap, const char *text) {
  World w = {.heap = heap};
  w.names = heap_alloc(w.heap, sizeof *w.names);
  *w.names = names_make(w.heap);
  w.source = heap_alloc(w.heap, sizeof *w.source);
  *w.source = source_make(w.heap, "test.mo", text, (uint32_t)strlen(text));
  w.diags = heap_alloc(w.heap, sizeof *w.diags);
  *w.diags = diags_make(w.heap);
  w.arena = arena_make(w.heap);
  w.model = lang_load(w.heap, w.names, w.source, NULL, NULL, (LangOptions){0}, w.diags);
  return w;
}

static World world_load(const char *text) { return world_in(heap_new(NULL), text); }

static void world_free(World *w) { heap_destroy(w->heap); }

/* The text must be a model without error. */
static World world_good(const char *text) {
  World w = world_load(text);
  for (uint32_t i = 0; !w.model && i < w.diags->list.count; i++) print_message("%s\n", w.diags->list.data[i].message);
  if (!w.model) fail_msg("refused: %.200s", text);
  return w;
}

/* All equations, continuous then discrete (D) then initial (I), one per line. */
static const char *equations(World *w) {
  TextVec text = {0};
  Model *m = w->model;
  for (uint32_t i = 0; i < m->equations.count; i++)
    text_printf(w->heap, &text, "%s\n", model_equation_text(m, &m->equations.data[i], &w->arena));
  for (uint32_t i = 0; i < m->discrete_equations.count; i++)
    text_printf(w->heap, &text, "D %s\n", model_equation_text(m, &m->discrete_equations.data[i], &w->arena));
  for (uint32_t i = 0; i < m->initial_equations.count; i++)
    text_printf(w->heap, &text, "I %s\n", model_equation_text(m, &m->initial_equations.data[i], &w->arena));
  return text.data ? text.data : "";
}

static void expect_equations(const char *text, const char *expected) {
  World w = world_good(text);
  assert_string_equal(equations(&w), expected);
  Balance balance = model_balance(w.model);
  assert_int_equal(balance.equations, balance.unknowns);
  assert_int_equal(balance.discrete_equations, balance.discrete_unknowns);
  world_free(&w);
}

static const Variable *variable(const World *w, const char *name) {
  uint32_t position = model_find(w->model, name);
  if (position == MAP_NONE) fail_msg("no variable %s", name);
  return &w->model->variables.data[position];
}

/* The first error must contain the words and begin at this line and column (0: any). */
static void expect_error(const char *text, uint32_t line, uint32_t column, const char *words) {
  World w = world_load(text);
  if (w.model) fail_msg("accepted: %.200s", text);
  const Diag *first = NULL;
  for (uint32_t i = 0; i < w.diags->list.count && !first; i++)
    if (w.diags->list.data[i].severity == SEVERITY_ERROR) first = &w.diags->list.data[i];
  assert_non_null(first);
  uint32_t at_line = source_line(w.source, first->span.begin), at_column = source_column(w.source, first->span.begin);
  if (!strstr(first->message, words) || at_line != line || (column && at_column != column))
    fail_msg("found %u:%u: %s, expected %u:%u: %s", at_line, at_column, first->message, line, column, words);
  world_free(&w);
}

/* ---- equations ---- */

static void test_scalars(void **state) {
  (void)state;
  expect_equations("model M parameter Real a = 2; Real x(start = 1), y = a*x; equation der(x) = -a*x + time/2; end M;",
                   "y = a*x\n"
                   "der(x) = time/2 - a*x\n");
  expect_equations("model M Real x, v; equation der(x) = v; der(der(x)) + x*der(v) = 0; end M;",
                   "der(x) = v\n"
                   "der(der(x)) + x*der(v) = 0\n");
  expect_equations("model M Real x, y; equation der(x*y) = 1; x = exp(y); end M;", "y*der(x) + x*der(y) = 1\n"
                                                                                   "x = exp(y)\n");
}

static void test_arrays(void **state) {
  (void)state;
  expect_equations(
      "model M parameter Integer n = 2; Real x[n, n], y[n], s; equation x = [1, 2; 3, 4]*time; y = x*{1, s};"
      " s = y*y + x[1, :]*x[:, end]; end M;",
      "x[1,1] = time\n"
      "x[1,2] = 2*time\n"
      "x[2,1] = 3*time\n"
      "x[2,2] = 4*time\n"
      "y[1] = x[1,1] + x[1,2]*s\n"
      "y[2] = x[2,1] + x[2,2]*s\n"
      "s = y[1]^2 + y[2]^2 + x[1,1]*x[1,2] + x[1,2]*x[2,2]\n");
  expect_equations("model M Real x[3], y[2]; equation x = cross({1, 0, 0}, {0, time, 1}) + skew({0, 0, 1})*{1, 2, 3};"
                   " y = {sum(i*x[i] for i in 1:3), max(x[k] for k in {1, 3})}; end M;",
                   "x[1] = -2\n"
                   "x[2] = 0\n"
                   "x[3] = time\n"
                   "y[1] = x[1] + 2*x[2] + 3*x[3]\n"
                   "y[2] = max(x[1], x[3])\n");
  expect_equations("model M Real a[2, 3], b[3], c; equation a = cat(1, [time, 0, 1], fill(2, 1, 3)); b = "
                   "linspace(0, time, 3);"
                   " c = scalar({product({2, 3})}) + size(a, 2) + ndims(a); end M;",
                   "a[1,1] = time\n"
                   "a[1,2] = 0\n"
                   "a[1,3] = 1\n"
                   "a[2,1] = 2\n"
                   "a[2,2] = 2\n"
                   "a[2,3] = 2\n"
                   "b[1] = 0\n"
                   "b[2] = 0.5*time\n"
                   "b[3] = time\n"
                   "c = 11\n");
  expect_equations("model M Real v[4]; equation v[{1, 3}] = {time, 2}; v[2:2:4] = v[1:2] .^ 2 ./ {1, 2}; end M;",
                   "v[1] = time\n"
                   "v[3] = 2\n"
                   "v[2] = v[1]^2\n"
                   "v[4] = v[2]^2/2\n");
}

static void test_loops_and_branches(void **state) {
  (void)state;
  expect_equations("model M constant Integer n = 3; Real x[n]; equation for i in 1:n loop"
                   " x[i] = if i == 1 then time else x[i - 1] + i; end for; end M;",
                   "x[1] = time\n"
                   "x[2] = x[1] + 2\n"
                   "x[3] = x[2] + 3\n");
  /* The name in the dead branch is not declared anywhere. */
  expect_equations("model M constant Boolean fast = true; Real x; equation if fast then x = 1; else x = "
                   "nowhere; end if; end M;",
                   "x = 1\n");
  expect_equations("model M final parameter Integer n = 0; Real x = if n > 0 then nowhere[n] else 5; end M;",
                   "x = 5\n");
  /* Branches of an unknown condition, equations in any order. */
  expect_equations("model M Real x, y; equation if time < 1 then x = 1; y = 2; elseif time < 2 then y = 3; x = 4; else"
                   " x = y; y = 6; end if; end M;",
                   "x = if time < 1 then 1 elseif time < 2 then 4 else y\n"
                   "y = if time < 1 then 2 elseif time < 2 then 3 else 6\n");
  expect_equations("model M type E = enumeration(a, b, c); Real x[E]; equation for e in E loop x[e] = "
                   "Integer(e); end for; end M;",
                   "x[1] = 1\n"
                   "x[2] = 2\n"
                   "x[3] = 3\n");
}

static void test_records(void **state) {
  (void)state;
  expect_equations(
      "model M record C Real re; Real im = 0; end C;"
      " function mul input C a; input C b; output C c; algorithm c := C(a.re*b.re - a.im*b.im, a.re*b.im + "
      "a.im*b.re); end mul;"
      " C u(re = time), v[2]; equation v[1] = mul(u, C(2)); v[2] = C(im = 1, re = v[1].re); u.im = 3; end M;",
      "u.re = time\n"
      "v[1].re = 2*u.re\n"
      "v[1].im = 2*u.im\n"
      "v[2].re = v[1].re\n"
      "v[2].im = 1\n"
      "u.im = 3\n");
}

/* ---- functions ---- */

static void test_functions(void **state) {
  (void)state;
  expect_equations(
      "model M function f input Real x; input Real a = 2; output Real y; output Real z; algorithm y := a*x; "
      "z := x - a; end f;"
      " Real p, q, r, s[2]; equation (p, q) = f(time); r = f(a = time, x = p); s = f({1, p}); end M;",
      "p = 2*time\n"
      "q = time - 2\n"
      "r = p*time\n"
      "s[1] = 2\n"
      "s[2] = 2*p\n");
  expect_equations("model M function fact input Integer n; output Integer f; algorithm f := if n <= 1 then 1 "
                   "else n*fact(n - 1); end fact;"
                   " Real x = fact(10); end M;",
                   "x = 3628800\n");
  /* A return under an unknown condition: later statements run only if it did not happen. */
  expect_equations("model M function clip input Real x; output Real y; algorithm y := 0; if x > 1 then y := "
                   "1; return; end if; y := y + x; end clip;"
                   " Real x = clip(time); end M;",
                   "x = if noEvent(time > 1) then 1 else time\n");
  expect_equations(
      "model M function first input Boolean b[:]; output Integer k; algorithm k := 0; for i in 1:size(b, 1) "
      "loop"
      " if b[i] then k := i; break; end if; end for; end first; Boolean b[2]; Integer k = first(b);"
      " equation b[1] = time > 1; b[2] = time > 2; end M;",
      "D k = if b[1] then 1 elseif b[2] then 2 else 0\n"
      "D b[1] = time > 1\n"
      "D b[2] = time > 2\n");
  /* An unknown subscript. */
  expect_equations(
      "model M function pick input Real x[3]; input Integer k; output Real y; algorithm y := x[k]; end pick;"
      " Integer k; Real y = pick({5, 6, 7}, k); equation k = if time > 1 then 2 else 3; end M;",
      "y = if k == 1 then 5 elseif k == 2 then 6 else 7\n"
      "D k = if time > 1 then 2 else 3\n");
}

static void test_calls_that_stay(void **state) {
  (void)state;
  World w =
      world_good("model M function root input Real a; output Real x; algorithm x := a; while abs(x*x - a) > 1e-12 loop "
                 "x := (x + a/x)/2;"
                 " end while; end root; function ext input Real x[:]; output Real y; external \"C\" y = my(x); end ext;"
                 " Real r = root(4), s = root(time), e = ext({s, 1}); end M;");
  double value;
  assert_true(dag_is_constant(w.model->dag, w.model->equations.data[0].right, &value));
  assert_true(value > 1.99999999999 && value < 2.00000000001);
  assert_int_equal(dag_op(w.model->dag, w.model->equations.data[1].right), OP_CALL);
  assert_int_equal(dag_op(w.model->dag, w.model->equations.data[2].right), OP_CALL);
  assert_int_equal(w.model->functions.count, 2);
  const Function *ext = w.model->functions.data[1];
  assert_int_equal(ext->arguments, 2);
  assert_int_equal(ext->inputs[0].sizes[0], 2);
  assert_int_equal(ext->routine->kind, ROUTINE_EXTERNAL);
  assert_string_equal(names_text(w.names, ext->routine->external), "my");
  world_free(&w);
}

/* ---- algorithms ---- */

static void test_algorithms(void **state) {
  (void)state;
  expect_equations("model M Real x, y; algorithm x := time; for i in 1:3 loop x := x + i; end for; if time > "
                   "1 then y := x; end if; end M;",
                   "x = time + 6\n"
                   "y = if time > 1 then time + 6 else 0\n");
  World w =
      world_good("model M Real x(start = 1); discrete Real t(start = 0.5); Integer n; equation der(x) = 1; algorithm"
                 " when time > pre(t) then t := pre(t) + 1; n := pre(n) + 1; elsewhen x > 3 then n := 0; end when; end "
                 "M;");
  assert_int_equal(w.model->whens.count, 1);
  const When *when = &w.model->whens.data[0];
  assert_int_equal(when->branches.count, 2);
  assert_int_equal(when->branches.data[0].actions.count, 2);
  assert_int_equal(when->branches.data[1].actions.count, 1);
  assert_string_equal(model_text(w.model, when->branches.data[0].actions.data[0].value, &w.arena), "pre(t) + 1");
  Balance balance = model_balance(w.model);
  assert_int_equal(balance.discrete_equations, balance.discrete_unknowns);
  world_free(&w);
  w = world_good("model M Real x; Integer n; algorithm x := time; n := 0; while x > 1 loop x := x/2; n := n "
                 "+ 1; end while; end M;");
  assert_int_equal(w.model->equations.count, 1);
  assert_int_equal(dag_op(w.model->dag, w.model->equations.data[0].right), OP_CALL);
  assert_int_equal(w.model->discrete_equations.count, 1);
  world_free(&w);
}

/* ---- events and roles ---- */

static void test_roles(void **state) {
  (void)state;
  World w = world_good("model M parameter Real p = 1; constant Integer c = 2; input Real u; output Real y; "
                       "Boolean b; Real d, x;"
                       " type E = enumeration(one, two); E e; String s; equation y = u + d; b = x > 1; "
                       "der(x) = p; e = if b then E.one else E.two;"
                       " s = \"a\" + \"b\"; when b then d = 2; end when; end M;");
  assert_int_equal(variable(&w, "p")->role, ROLE_PARAMETER);
  assert_int_equal(variable(&w, "c")->role, ROLE_PARAMETER);
  assert_int_equal(variable(&w, "u")->role, ROLE_PARAMETER);
  assert_int_equal(variable(&w, "u")->causality, CAUSALITY_INPUT);
  assert_int_equal(variable(&w, "y")->role, ROLE_UNKNOWN);
  assert_int_equal(variable(&w, "x")->role, ROLE_UNKNOWN);
  assert_int_equal(variable(&w, "d")->role, ROLE_DISCRETE);
  assert_int_equal(variable(&w, "b")->role, ROLE_DISCRETE);
  assert_int_equal(variable(&w, "e")->role, ROLE_DISCRETE);
  assert_int_equal(variable(&w, "s")->role, ROLE_DISCRETE);
  assert_string_equal(equations(&w),
                      "y = u + d\nder(x) = p\nD b = x > 1\nD e = if b then E.one else E.two\nD s = \"ab\"\n");
  world_free(&w);
}

/* Chains of discrete variables are directed from the one that a when determines. */
static void test_discrete_chains(void **state) {
  (void)state;
  expect_equations("model M discrete Real a, b, c; Real x; Boolean p, q; equation when sample(0, 1) then a = "
                   "pre(a) + 1; end when;"
                   " b = c; a = b; c = x; q = p; p = time > 1; end M;",
                   "c = x\n"
                   "D c = b\n"
                   "D b = a\n"
                   "D q = p\n"
                   "D p = time > 1\n");
}

/* Texts that are known replace their variables, so that they can be compared. Options of String are given by position or by name.
 * */
static void test_texts(void **state) {
  (void)state;
  expect_equations(
      "model M String s, t = s + \"b\", u; Boolean p = t == \"ab\", q = u <> \"ab\"; equation s = \"a\"; u = t; "
      "end M;",
      "D t = \"ab\"\nD p = true\nD q = false\nD s = \"a\"\nD u = \"ab\"\n");
  expect_equations(
      "model M String s[2]; Boolean p = s[2] == \"q\"; equation for t in {\"p\", \"q\"} loop if t == \"p\" then "
      "s[1] = t; else s[2] = t; end if; end for; end M;",
      "D p = true\nD s[1] = \"p\"\nD s[2] = \"q\"\n");
  static const struct {
    const char *call, *text;
  } cases[] = {
      {"true", "true"},
      {"false, 7", "false  "},
      {"true, leftJustified = false, minimumLength = 6", "  true"},
      {"42", "42"},
      {"42, minimumLength = 1", "42"},
      {"-42, 5, false", "  -42"},
      {"111.222", "111.222"},
      {"3.14159265, significantDigits = 4", "3.142"},
      {"3.14159265, 3, 6", "3.14  "},
      {"3.14159265, minimumLength = 8", "3.14159 "},
      {"2.5, format = \"8.3f\"", "   2.500"},
      {"6565.3, \".0e\"", "7e+03"},
      {"E.two", "two"},
      {"\"text\"", "text"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[300];
    snprintf(text, sizeof text, "model M type E = enumeration(one, two); Boolean p = String(%s) == \"%s\"; end M;",
             cases[i].call, cases[i].text);
    expect_equations(text, "D p = true\n");
  }
}

static void test_when(void **state) {
  (void)state;
  World w = world_good("model M Real v(start = 1), h; Boolean on; equation der(v) = -9.81; der(h) = v; when "
                       "{h < 0, time > 9} then"
                       " reinit(v, -0.8*pre(v)); on = not pre(on); assert(v < 5, \"fast\"); elsewhen time > "
                       "3 then on = false; terminate(\"end\");"
                       " end when; end M;");
  const When *when = &w.model->whens.data[0];
  assert_int_equal(when->branches.data[0].conditions.count, 2);
  const Action *actions = when->branches.data[0].actions.data;
  assert_int_equal(when->branches.data[0].actions.count, 3);
  assert_int_equal(actions[0].kind, ACTION_REINIT);
  assert_string_equal(model_text(w.model, actions[0].value, &w.arena), "-0.8*pre(v)");
  assert_int_equal(actions[1].kind, ACTION_ASSIGN);
  assert_string_equal(model_text(w.model, actions[1].value, &w.arena), "not pre(on)");
  assert_int_equal(actions[2].kind, ACTION_ASSERT);
  assert_int_equal(when->branches.data[1].actions.data[1].kind, ACTION_TERMINATE);
  world_free(&w);
}

/* ---- parameters and attributes ---- */

static void test_attributes(void **state) {
  (void)state;
  World w = world_good(
      "model M type Angle = Real(unit = \"rad\", min = -4); parameter Real k = 3; Angle x[2](start = {1, k}, "
      "each fixed = true);"
      " Angle y(min = 0, nominal = 10, stateSelect = StateSelect.prefer, displayUnit = \"deg\") \"an angle\";"
      " equation der(x) = {1, 2}; y = x[1]; annotation(experiment(StartTime = 1, StopTime = 2*5, Tolerance = "
      "1e-8)); end M;");
  assert_string_equal(names_text(w.names, variable(&w, "x[2]")->unit), "rad");
  assert_string_equal(model_text(w.model, variable(&w, "x[2]")->start, &w.arena), "k");
  assert_int_equal(variable(&w, "x[1]")->fixed, FIXED_TRUE);
  assert_string_equal(model_text(w.model, variable(&w, "x[1]")->min, &w.arena), "-4");
  assert_string_equal(model_text(w.model, variable(&w, "y")->min, &w.arena), "0");
  assert_int_equal(variable(&w, "y")->select, SELECT_PREFER);
  assert_int_equal(variable(&w, "y")->fixed, FIXED_UNSET);
  assert_string_equal(names_text(w.names, variable(&w, "y")->description), "an angle");
  assert_true(w.model->experiment.has_stop && w.model->experiment.stop == 10 && w.model->experiment.start == 1);
  assert_false(w.model->experiment.has_interval);
  world_free(&w);
}

static void test_structural_parameters(void **state) {
  (void)state;
  World w = world_good("model M parameter Integer m = n - 1, n = 3, k = 7; Real x[m]; equation for i in 1:m "
                       "loop x[i] = k; end for; end M;");
  assert_true(variable(&w, "m")->is_structural);
  assert_true(variable(&w, "n")->is_structural);
  assert_false(variable(&w, "k")->is_structural);
  assert_int_equal(w.model->unknowns.count, 2);
  assert_string_equal(model_text(w.model, variable(&w, "m")->binding, &w.arena), "n - 1");
  world_free(&w);
}

/* ---- files of tools ---- */

static void test_stems(void **state) {
  (void)state;
  expect_equations(
      "//! base 0.1.0\npackage 'M' record 'C' Real 're'; Real 'im'; end 'C';"
      " function 'abs2' input 'C' 'c'; output Real 'y'; algorithm 'y' := 'c'.'re' ^ 2 + 'c'.'im' ^ 2; end "
      "'abs2';"
      " model 'M' Real 'a.r[1]'; Real 'a.r[2]'; Real 'c.re'; Real 'c.im'; Real 's'; Real 't'; Real 'q[1].x'; "
      "Real 'q[2].x';"
      " equation 'a.r' = {1.0, time}; 's' = 'a.r' * 'a.r'; 'c.re' = 1.0; 'c.im' = 2.0; 't' = 'abs2'('c');"
      " 'q[1].x' = 3.0; 'q[2].x' = sum('a.r[\\'i\\']' for 'i' in 1:2); end 'M'; end 'M';",
      "a.r[1] = 1\n"
      "a.r[2] = time\n"
      "s = a.r[1]^2 + a.r[2]^2\n"
      "c.re = 1\n"
      "c.im = 2\n"
      "t = c.re^2 + c.im^2\n"
      "q[1].x = 3\n"
      "q[2].x = a.r[1] + a.r[2]\n");
}

/* ---- what is refused ---- */

static void test_errors(void **state) {
  (void)state;
  expect_error("model M Real x; equation x = y; end M;", 1, 30, "`y` is not declared");
  expect_error("model M Real x; Real x; equation x = 1; end M;", 1, 22, "`x` is declared twice");
  expect_error("model M Real x; equation x = true; end M;", 1, 30, "Real and Boolean");
  expect_error("model M Real x; equation x = \"a\" + 1; end M;", 1, 36, "String and Integer");
  expect_error("model M String s = if time > 1 then \"a\" else \"b\"; Boolean p = s == \"a\"; end M;", 1, 59,
               "cannot be compared");
  expect_error("model M Integer n = integer(time); Boolean p = String(n) == \"1\"; end M;", 1, 44,
               "cannot be compared");
  expect_error("model M Real x[3]; equation x = {1, 2}; end M;", 1, 29, "[3] and [2]");
  expect_error("model M Real x[2]; equation x = [1, 2; 3, 4]*{1, 2, 3}; end M;", 1, 33, "product of [2,2] and [3]");
  expect_error("model M Real x[2]; equation x[3] = 1; x[1] = 2; end M;", 1, 29, "subscript 3 is out of range");
  expect_error("model M parameter Real a = b, b = a; end M;", 1, 24, "a -> b -> a");
  expect_error("model M Real x(strat = 1); equation x = 1; end M;", 1, 16, "no attribute `strat`");
  expect_error("model M Real x; equation x = sinn(1); end M;", 1, 30, "function `sinn` is not defined");
  expect_error("model M parameter Integer n = 9007199254740992*4; Real x[n]; end M;", 1, 31, "integer overflow");
  expect_error("model M parameter Real p = x; Real x; equation x = time; end M;", 1, 24,
               "depends on a continuous variable");
  expect_error("model M function f input Real x; output Real y; algorithm y := x; end f; Real x; equation x "
               "= f(1, 2); end M;",
               1, 95, "has 1 inputs, 2 arguments");
  expect_error("model M function f input Real x; output Real y; algorithm y := x; end f; Real x; equation x "
               "= f(z = 2); end M;",
               1, 97, "no input `z`");
  expect_error("model M Real x; equation if time > 1 then x = 1; end if; end M;", 1, 26, "1 and 0 equations");
  expect_error("model M model N Real x; end N; N n; end M;", 1, 32, "components of model");
  expect_error("model M Real x; equation connect(x, x); end M;", 1, 26, "connect");
  expect_error("model M extends N; end M;", 1, 9, "extends");
  expect_error("model M Integer k; equation k = 2.5*time; end M;", 1, 29, "cannot be determined by a Real");
  expect_error("model M Real x; equation der(b) = 1; end M;", 1, 30, "`b`");
  expect_error("model M Boolean b; equation b = der(b) > 0; end M;", 1, 37, "argument 1 of `der` is Boolean");
  expect_error("model M function f input Real x; output Real y; algorithm y := f(x); end f; Real x = f(1); end M;", 1,
               64, "calls itself without end");
  expect_error("model M function f input Integer n; output Integer y; algorithm y := 0; for i in 1:n loop "
               "for j in 1:n loop y := y + 1; end for;"
               " end for; end f; parameter Integer k = f(100000); Real x[k]; end M;",
               1, 0, "operations is refused");
}

static void test_several_errors(void **state) {
  (void)state;
  World w = world_load("model M Real x, y; equation x = a; y = b; end M;");
  assert_null(w.model);
  assert_int_equal(w.diags->errors, 2);
  world_free(&w);
  /* One mistake is one message, however often the name is used. */
  w = world_load("model M Voltage u; Real x, y; equation x = u; y = u + 1; u = 2; end M;");
  assert_int_equal(w.diags->errors, 1);
  world_free(&w);
}

/* Other threads may use the model, so looking for the variables that its whens determine uses only memory of the call. */
static void test_discrete_variables_by_themselves(void **state) {
  (void)state;
  FailAlloc fail = {0};
  fail_alloc_begin(&fail);
  World w = world_in(heap_new(&fail.hook),
                     "model M Real x(start = 0); discrete Real a(start = 0), b(start = 0); equation der(x) = 1;\n"
                     "when x > 1 then a = pre(a) + 1; if x > 2 then b = 1; else b = 2; end if; end when; end M;");
  Heap *heap = heap_new(NULL);
  Diags diags = diags_make(heap);
  size_t before = fail.count;
  assert_non_null(w.model);
  assert_true(model_check_discrete(w.model, heap, &diags));
  assert_int_equal(fail.count, before);
  heap_destroy(heap);
  world_free(&w);
}

/* ---- size and depth ---- */

static double seconds_to_load(const char *text, uint32_t expected) {
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  World w = world_good(text);
  clock_gettime(CLOCK_MONOTONIC, &b);
  assert_int_equal(w.model->equations.count, expected);
  world_free(&w);
  return (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
}

/* Processor time to refuse this many parameters with an endless calculation each. */
static double seconds_to_refuse(uint32_t count) {
  struct timespec a, b;
  Heap *heap = heap_new(NULL);
  TextVec text = {0};
  text_printf(heap, &text,
              "function f input Real x; output Real y; algorithm y := x; while y > 0 loop y := y + 1; "
              "end while; end f; model M Real x = 1;");
  for (uint32_t i = 0; i < count; i++) text_printf(heap, &text, " parameter Real p%u = f(%u);", i, i + 1);
  text_printf(heap, &text, " end M;");
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
  World w = world_load(text.data);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
  assert_null(w.model);
  assert_non_null(strstr(w.diags->list.data[0].message, "operations is refused"));
  world_free(&w);
  heap_destroy(heap);
  return (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
}

/* The first endless calculation is given time, the others are not. */
static void test_endless(void **state) {
  (void)state;
  if (tier_stride(1, 2) > 1) skip(); /* sanitizers add nothing */
  double one = seconds_to_refuse(1), many = seconds_to_refuse(30);
  if (many > 6 * one) fail_msg("30 endless calculations take %g s, one %g s", many, one);
}

static void test_depth(void **state) {
  (void)state;
  enum { DEPTH = 10000, TERMS = 20000 };
  Heap *heap = heap_new(NULL);
  TextVec text = {0};
  text_printf(heap, &text, "model M Real x, y, z; equation x = ");
  for (int i = 0; i < DEPTH; i++) text_printf(heap, &text, "sin(1 + (");
  text_printf(heap, &text, "time");
  for (int i = 0; i < DEPTH; i++) text_printf(heap, &text, "))");
  text_printf(heap, &text, "; y = ");
  for (int i = 0; i < TERMS; i++) text_printf(heap, &text, "%d*x^%d + ", i, i);
  text_printf(heap, &text, "0; z = ");
  for (int i = 0; i < DEPTH; i++) text_printf(heap, &text, "if time > %d then %d else ", i, i);
  text_printf(heap, &text, "0; end M;");
  assert_true(seconds_to_load(text.data, 3) < 5);
  heap_destroy(heap);
}

static const char *ladder(Heap *heap, TextVec *text, int cells) {
  text->count = 0;
  text_printf(heap, text, "model M Real x0 = 0;");
  for (int i = 1; i <= cells; i++)
    text_printf(heap, text, " parameter Real R%d = 1.0/%d; Real x%d(start = 1, fixed = true);", i, i, i);
  text_printf(heap, text, " equation");
  for (int i = 1; i <= cells; i++) text_printf(heap, text, " R%d*der(x%d) = x%d - x%d;", i, i, i - 1, i);
  text_printf(heap, text, " end M;");
  return text->data;
}

/* Twice the text takes about twice the time: well below four times, with a margin for a busy machine. */
static void test_linear_cost(void **state) {
  (void)state;
  if (tier_stride(1, 2) > 1) skip(); /* sanitizers add nothing */
  Heap *heap = heap_new(NULL);
  TextVec text = {0};
  double small = 1e9, large = 1e9;
  for (int i = 0; i < 3; i++) {
    double s = seconds_to_load(ladder(heap, &text, 20000), 20001);
    double l = seconds_to_load(ladder(heap, &text, 80000), 80001);
    if (s < small) small = s;
    if (l < large) large = l;
  }
  if (large > 9 * small) fail_msg("%g s for 20000 cells, %g s for 80000", small, large);
  heap_destroy(heap);
}

/* ---- refused allocations ---- */

static void test_allocations(void **state) {
  (void)state;
  static const char text[] = "model M record C Real re; Real im; end C; function f input Real x[:]; output "
                             "Real y; algorithm y := 0; for i in 1:size(x, 1)"
                             " loop y := y + x[i]; end for; end f; parameter Integer n = 2; Real x[n], z; C "
                             "c; Boolean b; discrete Real d; equation der(x) = {1, f(x)};"
                             " c = C(z, time); if time > 1 then z = 1; else z = x[1]; end if; b = z > "
                             "nowhere; algorithm when b then d := pre(d) + 1; end when; end M;";
  FAIL_ALLOC_EACH(fail) {
    Heap *heap = heap_new(&fail.hook);
    if (heap) {
      jmp_buf point;
      if (HEAP_TRY(heap, point)) {
        Names names = names_make(heap);
        Diags diags = diags_make(heap);
        Source source = source_make(heap, "t.mo", text, sizeof text - 1);
        assert_null(lang_load(heap, &names, &source, NULL, NULL, (LangOptions){0}, &diags));
      }
      heap_destroy(heap);
    }
    assert_int_equal(fail.live, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scalars),
      cmocka_unit_test(test_arrays),
      cmocka_unit_test(test_loops_and_branches),
      cmocka_unit_test(test_records),
      cmocka_unit_test(test_functions),
      cmocka_unit_test(test_calls_that_stay),
      cmocka_unit_test(test_algorithms),
      cmocka_unit_test(test_roles),
      cmocka_unit_test(test_discrete_chains),
      cmocka_unit_test(test_texts),
      cmocka_unit_test(test_when),
      cmocka_unit_test(test_attributes),
      cmocka_unit_test(test_structural_parameters),
      cmocka_unit_test(test_stems),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_several_errors),
      cmocka_unit_test(test_discrete_variables_by_themselves),
      cmocka_unit_test(test_endless),
      cmocka_unit_test(test_depth),
      cmocka_unit_test(test_linear_cost),
      cmocka_unit_test(test_allocations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
