/* The flat model: names, balance, aliases, values of parameters, and texts. Models are built by hand here; the reader has its own
 * tests. */
#include "fail_alloc.h"
#include "model/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct World {
  Heap *heap;
  Names names;
  Model *model;
  Dag *dag;
  Diags diags;
  Arena arena;
} World;

static void world_start(World *w, Heap *heap) {
  *w = (World){.heap = heap, .arena = arena_make(heap)};
  w->names = names_make(heap);
  w->model = model_new(heap, &w->names);
  w->dag = w->model->dag;
  w->diags = diags_make(heap);
  w->model->name = names_add(&w->names, "M", 1);
}

static Variable plain_variable(World *w, const char *name) {
  return (Variable){.name = names_add(&w->names, name, strlen(name)),
                    .variability = VARIABILITY_CONTINUOUS,
                    .select = SELECT_DEFAULT,
                    .binding = EXPR_NONE,
                    .start = EXPR_NONE,
                    .min = EXPR_NONE,
                    .max = EXPR_NONE,
                    .nominal = EXPR_NONE};
}

static Expr add_unknown(World *w, const char *name) {
  uint32_t position = model_add_variable(w->model, plain_variable(w, name));
  return model_leaf(w->model, position, 0);
}

static Expr add_parameter(World *w, const char *name, Expr binding) {
  Variable variable = plain_variable(w, name);
  variable.role = ROLE_PARAMETER;
  variable.variability = VARIABILITY_PARAMETER;
  variable.binding = binding;
  return model_leaf(w->model, model_add_variable(w->model, variable), 0);
}

static Variable *variable_of(World *w, const char *name) {
  return &w->model->variables.data[model_find(w->model, name)];
}

static void add_equation(World *w, Expr left, Expr right) {
  vec_push(w->heap, &w->model->equations,
           (Equation){.left = left, .right = right, .residual = dag_subtract(w->dag, left, right)});
}

static Expr number(World *w, double value) { return dag_constant(w->dag, value); }
static Expr der(World *w, Expr leaf) {
  return dag_variable(w->dag, dag_index(w->dag, leaf), dag_order(w->dag, leaf) + 1);
}

/* ---- names ---- */

static void test_names(void **state) {
  (void)state;
  World w;
  world_start(&w, heap_new(NULL));
  add_unknown(&w, "x");
  Expr p = add_parameter(&w, "body.m", number(&w, 1));
  Expr y = add_unknown(&w, "y[1]");
  assert_int_equal(model_find(w.model, "y[1]"), 2);
  assert_int_equal(model_find(w.model, "z"), MAP_NONE);
  assert_string_equal(model_name(w.model, 1), "body.m");
  assert_int_equal(dag_index(w.dag, p), 0);
  assert_int_equal(dag_index(w.dag, y), 1);
  assert_int_equal(w.model->unknowns.data[1], 2);
  assert_int_equal(dag_order(w.dag, model_leaf(w.model, 2, 3)), 3);
  heap_destroy(w.heap);
}

/* ---- texts ---- */

static void check_text(World *w, Expr e, const char *expected) {
  assert_string_equal(model_text(w->model, e, &w->arena), expected);
}

static void test_texts(void **state) {
  (void)state;
  World w;
  world_start(&w, heap_new(NULL));
  Expr x = add_unknown(&w, "body.r[1,2]"), odd = add_unknown(&w, "it's\\odd"), plain = add_unknown(&w, "x");
  check_text(&w, x, "body.r[1,2]");
  check_text(&w, odd, "'it\\'s\\\\odd'");
  check_text(&w, der(&w, der(&w, plain)), "der(der(x))");
  static const char *const others[] = {"a b", "1x", "a.", "a[", "a[]", "a[1", "a[1]b", "a..b", "", "x[i]"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    Expr e = add_unknown(&w, others[i]);
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s'", others[i]);
    check_text(&w, e, quoted);
  }
  Equation equation = {.left = plain, .right = dag_add(w.dag, x, number(&w, 1)), .residual = EXPR_NONE};
  assert_string_equal(model_equation_text(w.model, &equation, &w.arena), "x = body.r[1,2] + 1");
  heap_destroy(w.heap);
}

static Expr add_discrete(World *w, const char *name, BaseType type, uint32_t enumeration) {
  Variable variable = plain_variable(w, name);
  variable.role = ROLE_DISCRETE;
  variable.variability = VARIABILITY_DISCRETE;
  variable.type = type;
  variable.enumeration = enumeration;
  return model_leaf(w->model, model_add_variable(w->model, variable), 0);
}

static Name name_of(World *w, const char *text) { return names_add(&w->names, text, strlen(text)); }

/* Constants are written as the type at their place requires. */
static void test_kinds_of_constants(void **state) {
  (void)state;
  World w;
  world_start(&w, heap_new(NULL));
  Enumeration color = {.name = name_of(&w, "P.Color")};
  vec_push(w.heap, &color.literals, name_of(&w, "red"));
  vec_push(w.heap, &color.literals, name_of(&w, "it's"));
  vec_push(w.heap, &w.model->enumerations, color);
  Expr b = add_discrete(&w, "b", TYPE_BOOLEAN, 0), e = add_discrete(&w, "e", TYPE_ENUMERATION, 0);
  Expr n = add_discrete(&w, "n", TYPE_INTEGER, 0), x = add_unknown(&w, "x");
  check_text(&w, dag_binary(w.dag, OP_EQUAL, b, number(&w, 1)), "b == true");
  check_text(&w, dag_binary(w.dag, OP_EQUAL, e, number(&w, 2)), "e == P.Color.'it\\'s'");
  check_text(&w, dag_binary(w.dag, OP_EQUAL, n, number(&w, 2)), "n == 2");
  Expr choice = dag_if(w.dag, b, number(&w, 1), e);
  check_text(&w, choice, "if b then P.Color.red else e");
  check_text(&w, dag_add(w.dag, choice, x), "x + Integer(if b then P.Color.red else e)");
  check_text(&w, dag_binary(w.dag, OP_LESS, e, n), "Integer(e) < n");
  check_text(&w, dag_if(w.dag, dag_binary(w.dag, OP_GREATER, x, number(&w, 0)), b, number(&w, 0)),
             "if x > 0 then b else false");
  check_text(&w, dag_multiply(w.dag, n, n), "(n*n)");
  check_text(&w, dag_multiply(w.dag, x, x), "x^2");
  Equation equation = {.left = e, .right = number(&w, 1), .residual = EXPR_NONE};
  assert_string_equal(model_equation_text(w.model, &equation, &w.arena), "e = P.Color.red");
  equation = (Equation){.left = number(&w, 0), .right = b, .residual = EXPR_NONE};
  assert_string_equal(model_equation_text(w.model, &equation, &w.arena), "false = b");
  heap_destroy(w.heap);
}

static void test_flat_text(void **state) {
  (void)state;
  World w;
  world_start(&w, heap_new(NULL));
  Model *m = w.model;
  m->description = name_of(&w, "say \"hi\"");
  Enumeration color = {.name = name_of(&w, "Color")};
  vec_push(w.heap, &color.literals, name_of(&w, "red"));
  vec_push(w.heap, &m->enumerations, color);
  Expr p = add_parameter(&w, "p", number(&w, 0.1));
  variable_of(&w, "p")->is_final = true;
  variable_of(&w, "p")->unit = name_of(&w, "m/s");
  Expr x = add_unknown(&w, "a.x[1]");
  Variable *vx = variable_of(&w, "a.x[1]");
  vx->start = dag_multiply(w.dag, p, p);
  vx->fixed = FIXED_TRUE;
  vx->select = SELECT_PREFER;
  vx->min = number(&w, -1);
  vx->description = name_of(&w, "text");
  vx->causality = CAUSALITY_OUTPUT;
  Expr c = add_discrete(&w, "c", TYPE_ENUMERATION, 0), d = add_discrete(&w, "d", TYPE_REAL, 0);
  variable_of(&w, "c")->start = number(&w, 1);
  add_equation(&w, der(&w, x), dag_negate(w.dag, x));
  vec_push(w.heap, &m->initial_equations, (Equation){.left = x, .right = number(&w, 2), .residual = EXPR_NONE});
  vec_push(w.heap, &m->discrete_equations, (Equation){.left = c, .right = number(&w, 1), .residual = EXPR_NONE});
  When when = {0};
  WhenBranch first = {0}, second = {0};
  Expr late = dag_binary(w.dag, OP_GREATER, dag_time(w.dag), number(&w, 1));
  vec_push(w.heap, &first.conditions, late);
  vec_push(w.heap, &first.conditions, dag_nary(w.dag, OP_INITIAL, NULL, 0));
  vec_push(w.heap, &first.actions,
           (Action){.kind = ACTION_ASSIGN, .guard = EXPR_NONE, .target = 3, .value = number(&w, 1)});
  vec_push(w.heap, &second.conditions, late);
  vec_push(w.heap, &second.actions, (Action){.kind = ACTION_REINIT, .guard = late, .target = 1, .value = d});
  vec_push(w.heap, &when.branches, first);
  vec_push(w.heap, &when.branches, second);
  vec_push(w.heap, &m->whens, when);
  Expr message = dag_string(w.dag, name_of(&w, "no\n"));
  vec_push(w.heap, &m->asserts,
           (Action){.kind = ACTION_ASSERT, .guard = EXPR_NONE, .value = late, .message = message, .is_warning = true});
  m->experiment = (Experiment){.has_stop = true, .stop = 2.5, .has_tolerance = true, .tolerance = 1e-6};
  TextVec text = {0};
  model_print(m, w.heap, &text);
  assert_string_equal(text.data, "//! base 0.1.0\n"
                                 "package 'M'\n"
                                 "  type 'Color' = enumeration('red');\n\n"
                                 "  model 'M' \"say \\\"hi\\\"\"\n"
                                 "    final parameter Real 'p'(unit = \"m/s\") = 0.1;\n"
                                 "    output Real 'a.x[1]'(min = -1, start = 'p'^2, fixed = true, "
                                 "stateSelect = StateSelect.prefer) \"text\";\n"
                                 "    'Color' 'c'(start = 'Color'.'red');\n"
                                 "    discrete Real 'd';\n"
                                 "  initial equation\n"
                                 "    'a.x[1]' = 2;\n"
                                 "  equation\n"
                                 "    der('a.x[1]') = -'a.x[1]';\n"
                                 "    'c' = 'Color'.'red';\n"
                                 "    when {time > 1, initial()} then\n"
                                 "      'd' = 1;\n"
                                 "    elsewhen time > 1 then\n"
                                 "      if time > 1 then reinit('a.x[1]', 'd'); end if;\n"
                                 "    end when;\n"
                                 "    assert(time > 1, \"no\\n\", AssertionLevel.warning);\n"
                                 "    annotation(experiment(StopTime = 2.5, Tolerance = 1e-06));\n"
                                 "  end 'M';\n"
                                 "end 'M';\n");
  heap_destroy(w.heap);
}

/* ---- balance ---- */

static void test_balance(void **state) {
  (void)state;
  World w;
  world_start(&w, heap_new(NULL));
  Expr x = add_unknown(&w, "x");
  add_unknown(&w, "y");
  add_discrete(&w, "d", TYPE_REAL, 0);
  add_discrete(&w, "e", TYPE_REAL, 0);
  add_equation(&w, x, number(&w, 1));
  When when = {0};
  WhenBranch branch = {0};
  vec_push(w.heap, &branch.actions, (Action){.kind = ACTION_ASSIGN, .target = 2, .value = x});
  vec_push(w.heap, &branch.actions, (Action){.kind = ACTION_REINIT, .target = 0, .value = x});
  vec_push(w.heap, &when.branches, branch);
  vec_push(w.heap, &when.branches, branch); /* the same variable in both branches is one equation */
  vec_push(w.heap, &w.model->whens, when);
  Balance balance = model_balance(w.model);
  assert_int_equal(balance.equations, 1);
  assert_int_equal(balance.unknowns, 2);
  assert_int_equal(balance.discrete_equations, 1);
  assert_int_equal(balance.discrete_unknowns, 2);
  heap_destroy(w.heap);
}

static void test_discrete_owners(void **state) {
  (void)state;
  World w;
  world_start(&w, heap_new(NULL));
  Expr d = add_discrete(&w, "d", TYPE_REAL, 0), e = add_discrete(&w, "e", TYPE_BOOLEAN, 0);
  add_discrete(&w, "f", TYPE_INTEGER, 0);
  WhenBranch branch = {0};
  vec_push(w.heap, &branch.actions, (Action){.kind = ACTION_ASSIGN, .target = 2, .value = d});
  When when = {.algorithm = 1};
  vec_push(w.heap, &when.branches, branch);
  vec_push(w.heap, &w.model->whens, when);
  vec_push(w.heap, &w.model->whens, when); /* of the same algorithm section */
  vec_push(w.heap, &w.model->discrete_equations, (Equation){.left = d, .right = number(&w, 1), .residual = EXPR_NONE});
  vec_push(w.heap, &w.model->discrete_equations, (Equation){.left = e, .right = number(&w, 1), .residual = EXPR_NONE});
  assert_true(model_check_discrete(w.model, w.model->heap, &w.diags));
  vec_push(w.heap, &w.model->discrete_equations, (Equation){.left = e, .right = number(&w, 0), .residual = EXPR_NONE});
  w.model->whens.data[1].algorithm = 0;
  add_discrete(&w, "g", TYPE_INTEGER, 0);
  assert_false(model_check_discrete(w.model, w.model->heap, &w.diags));
  static const char *const messages[] = {"`e` is determined a second time here", "`f` is determined a second time here",
                                         "no equation determines `g`"};
  assert_int_equal(w.diags.errors, 3);
  for (uint32_t i = 0; i < 3; i++) {
    assert_string_equal(w.diags.list.data[i].message, messages[i]);
    assert_int_equal(w.diags.list.data[i].code, DIAG_STRUCTURE);
  }
  heap_destroy(w.heap);
}

/* ---- parameters ---- */

static void test_parameter_values(void **state) {
  (void)state;
  World w;
  world_start(&w, heap_new(NULL));
  Expr a = dag_parameter(w.dag, 0), b = dag_parameter(w.dag, 1), c = dag_parameter(w.dag, 2);
  add_parameter(&w, "a", dag_multiply(w.dag, b, c)); /* used before they are declared */
  add_parameter(&w, "b", dag_add(w.dag, c, number(&w, 1)));
  add_parameter(&w, "c", number(&w, 3));
  Variable started = plain_variable(&w, "d");
  started.role = ROLE_PARAMETER;
  started.variability = VARIABILITY_PARAMETER;
  started.start = dag_scale(w.dag, 2, a);
  model_add_variable(w.model, started);
  Expr root = dag_unary(w.dag, OP_SQRT, dag_negate(w.dag, c));
  add_parameter(&w, "e", dag_if(w.dag, dag_binary(w.dag, OP_GREATER, c, number(&w, 0)), a, root));
  double values[5];
  assert_true(model_parameter_values(w.model, w.model->heap, NULL, values, &w.diags));
  static const double expected[] = {12, 4, 3, 24, 12};
  for (int i = 0; i < 5; i++) assert_true(values[i] == expected[i]);
  double overrides[] = {NAN, NAN, 5, 7, NAN};
  assert_true(model_parameter_values(w.model, w.model->heap, overrides, values, &w.diags));
  static const double overridden[] = {30, 6, 5, 7, 30};
  for (int i = 0; i < 5; i++) assert_true(values[i] == overridden[i]);
  double value;
  assert_true(model_evaluate(w.model, dag_scratch(w.dag), dag_add(w.dag, a, b), values, &value));
  assert_true(value == 36);
  assert_false(model_evaluate(w.model, dag_scratch(w.dag), dag_add(w.dag, a, dag_time(w.dag)), values, &value));
  assert_int_equal(w.diags.list.count, 0);
  heap_destroy(w.heap);
}

static void test_parameter_faults(void **state) {
  (void)state;
  World w;
  world_start(&w, heap_new(NULL));
  Expr a = dag_parameter(w.dag, 0), b = dag_parameter(w.dag, 1), c = dag_parameter(w.dag, 2);
  add_parameter(&w, "a", dag_unary(w.dag, OP_LOG, c));
  add_parameter(&w, "b", dag_add(w.dag, a, number(&w, 1)));
  add_parameter(&w, "c", number(&w, -1));
  double values[3];
  assert_false(model_parameter_values(w.model, w.model->heap, NULL, values, &w.diags));
  assert_int_equal(w.diags.errors, 1); /* b only inherits it */
  assert_string_equal(w.diags.list.data[0].message, "the value of `a` is not defined: `log(c)` has no value here");
  assert_true(values[2] == -1);
  w.model->variables.data[0].binding = b;
  assert_false(model_parameter_values(w.model, w.model->heap, NULL, values, &w.diags));
  assert_string_equal(w.diags.list.data[1].message, "the value of `a` depends on itself");
  assert_int_equal(w.diags.errors, 2);
  w.model->variables.data[0].binding = EXPR_NONE;
  assert_true(model_parameter_values(w.model, w.model->heap, NULL, values, &w.diags));
  assert_int_equal(w.diags.list.data[2].severity, SEVERITY_WARNING);
  assert_true(values[1] == 1);
  heap_destroy(w.heap);
}

/* A chain in the wrong order must cost linear time and no recursion. */
static void test_long_chain_of_parameters(void **state) {
  (void)state;
  enum { LENGTH = 200000 };
  World w;
  world_start(&w, heap_new(NULL));
  double *values = heap_array(w.heap, LENGTH, sizeof *values);
  for (uint32_t i = 0; i < LENGTH; i++) {
    Expr next = i + 1 < LENGTH ? dag_add(w.dag, dag_parameter(w.dag, i + 1), number(&w, 1)) : number(&w, 0);
    char name[16];
    snprintf(name, sizeof name, "p%u", i);
    add_parameter(&w, name, next);
  }
  assert_true(model_parameter_values(w.model, w.model->heap, NULL, values, &w.diags));
  assert_true(values[0] == LENGTH - 1);
  heap_destroy(w.heap);
}

/* ---- aliases ---- */

static uint32_t unknown_of(World *w, Expr leaf) { return dag_index(w->dag, leaf); }

static void test_aliases(void **state) {
  (void)state;
  World w;
  world_start(&w, heap_new(NULL));
  Expr p = add_parameter(&w, "p", number(&w, 2));
  Expr x = add_unknown(&w, "x"), y = add_unknown(&w, "y"), z = add_unknown(&w, "z"), v = add_unknown(&w, "v");
  Expr a = add_unknown(&w, "a"), c = add_unknown(&w, "c"), d = add_unknown(&w, "d"), u = add_unknown(&w, "u");
  variable_of(&w, "z")->start = number(&w, 5);
  add_equation(&w, x, dag_negate(w.dag, y));                                  /* 0: alias */
  add_equation(&w, dag_scale(w.dag, 3, y), dag_scale(w.dag, 3, z));           /* 1: alias, equal coefficients */
  add_equation(&w, v, der(&w, x));                                            /* 2: a derivative */
  add_equation(&w, der(&w, a), der(&w, x));                                   /* 3: not an alias: a constant is lost */
  add_equation(&w, c, dag_add(w.dag, dag_scale(w.dag, 2, p), number(&w, 1))); /* 4: a constant */
  add_equation(&w, d, dag_negate(w.dag, c));                                  /* 5: its negative */
  add_equation(&w, x, z);                                                     /* 6: completions a circle */
  add_equation(&w, u, dag_add(w.dag, x, dag_time(w.dag)));                    /* 7: no alias */
  add_equation(&w, dag_scale(w.dag, 2, u), a);                                /* 8: no alias */
  Aliases aliases = model_find_aliases(w.model, &w.arena);
  static const bool used[] = {true, true, true, false, true, true, false, false, false};
  for (int i = 0; i < 9; i++) assert_int_equal(aliases.equation_used[i], used[i]);
  assert_int_equal(aliases.removed, 5);
  uint32_t root = unknown_of(&w, z); /* it has a start value */
  assert_int_equal(aliases.root[unknown_of(&w, x)], root);
  assert_int_equal(aliases.sign[unknown_of(&w, x)], -1);
  assert_int_equal(aliases.sign[unknown_of(&w, y)], 1);
  assert_int_equal(aliases.root[unknown_of(&w, v)], root);
  assert_int_equal(aliases.sign[unknown_of(&w, v)], -1);
  assert_int_equal(aliases.shift[unknown_of(&w, v)], 1);
  assert_int_equal(aliases.root[unknown_of(&w, a)], unknown_of(&w, a));
  assert_int_equal(aliases.root[unknown_of(&w, c)], UINT32_MAX);
  check_text(&w, aliases.constant[unknown_of(&w, c)], "2*p + 1");
  check_text(&w, aliases.constant[unknown_of(&w, d)], "-2*p - 1");
  ExprVec residuals = {0};
  IndexVec equations = {0};
  model_substitute_aliases(w.model, &aliases, &residuals, &equations);
  assert_int_equal(residuals.count, 4);
  assert_int_equal(equations.data[0], 3);
  check_text(&w, residuals.data[0], "der(a) + der(z)");
  check_text(&w, residuals.data[1], "-2*z");
  heap_destroy(w.heap);
}

static void test_alias_preferences(void **state) {
  (void)state;
  World w;
  world_start(&w, heap_new(NULL));
  Expr x = add_unknown(&w, "x"), y = add_unknown(&w, "y"), z = add_unknown(&w, "z"), f = add_unknown(&w, "f");
  variable_of(&w, "x")->start = number(&w, 1);
  variable_of(&w, "y")->fixed = FIXED_TRUE;
  variable_of(&w, "z")->select = SELECT_ALWAYS;
  variable_of(&w, "f")->fixed = FIXED_TRUE;
  add_equation(&w, x, y);
  add_equation(&w, y, z);
  add_equation(&w, f, number(&w, 3)); /* f is fixed: initialization must compare */
  Aliases aliases = model_find_aliases(w.model, &w.arena);
  assert_int_equal(aliases.root[unknown_of(&w, x)], unknown_of(&w, z));
  assert_int_equal(aliases.root[unknown_of(&w, y)], unknown_of(&w, z));
  assert_int_equal(aliases.root[unknown_of(&w, f)], unknown_of(&w, f));
  assert_int_equal(aliases.removed, 2);
  heap_destroy(w.heap);
}

/* Random equations. Those that give an alias become 0 = 0 when the representatives are substituted, and there are as many of them as
 * eliminated unknowns. */
static void test_random_aliases(void **state) {
  (void)state;
  enum { UNKNOWNS = 40, EQUATIONS = 45 };
  uint32_t seed = 1;
  for (int round = 0; round < 300; round++) {
    World w;
    world_start(&w, heap_new(NULL));
    Expr leaves[UNKNOWNS];
    for (uint32_t j = 0; j < UNKNOWNS; j++) {
      char name[8];
      snprintf(name, sizeof name, "x%u", j);
      leaves[j] = add_unknown(&w, name);
    }
    for (uint32_t i = 0; i < EQUATIONS; i++) {
      uint32_t draw[4];
      for (int k = 0; k < 4; k++) draw[k] = (seed = seed * 1664525u + 1013904223u) >> 8;
      Expr a = leaves[draw[0] % UNKNOWNS], b = leaves[draw[1] % UNKNOWNS];
      if (draw[2] % 4 == 0) b = der(&w, b);
      if (draw[2] % 16 == 1) b = number(&w, draw[1] % 3);
      if (draw[3] % 2) b = dag_negate(w.dag, b);
      add_equation(&w, a, b);
    }
    Aliases aliases = model_find_aliases(w.model, &w.arena);
    uint32_t kept = 0;
    for (uint32_t j = 0; j < UNKNOWNS; j++) kept += aliases.root[j] == j;
    assert_int_equal(kept + aliases.removed, UNKNOWNS);
    Aliases all = aliases;
    all.equation_used = arena_array(&w.arena, EQUATIONS, sizeof(bool));
    ExprVec images = {0};
    IndexVec numbers = {0};
    model_substitute_aliases(w.model, &all, &images, &numbers);
    for (uint32_t i = 0; i < EQUATIONS; i++) {
      double value = 1;
      if (!aliases.equation_used[i]) continue;
      assert_true(dag_is_constant(w.dag, images.data[i], &value));
      assert_true(value == 0);
    }
    heap_destroy(w.heap);
  }
}

/* ---- memory that runs out ---- */

static void model_once(const HeapHook *hook) {
  Heap *volatile heap = heap_new(hook);
  jmp_buf point;
  if (!heap) return;
  if (HEAP_TRY(heap, point)) {
    World w;
    world_start(&w, heap);
    Expr p = add_parameter(&w, "p", number(&w, 2)), x = add_unknown(&w, "x"), y = add_unknown(&w, "y");
    add_equation(&w, x, dag_add(w.dag, y, p));
    add_equation(&w, y, p);
    double values[1];
    model_parameter_values(w.model, w.model->heap, NULL, values, &w.diags);
    Aliases aliases = model_find_aliases(w.model, &w.arena);
    ExprVec residuals = {0};
    IndexVec equations = {0};
    model_substitute_aliases(w.model, &aliases, &residuals, &equations);
    TextVec text = {0};
    model_print(w.model, heap, &text);
  }
  heap_destroy(heap);
}

static void test_refused_allocations(void **state) {
  (void)state;
  FAIL_ALLOC_EACH(fail) {
    model_once(&fail.hook);
    assert_int_equal(fail.live, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_texts),
      cmocka_unit_test(test_kinds_of_constants),
      cmocka_unit_test(test_flat_text),
      cmocka_unit_test(test_balance),
      cmocka_unit_test(test_discrete_owners),
      cmocka_unit_test(test_parameter_values),
      cmocka_unit_test(test_parameter_faults),
      cmocka_unit_test(test_long_chain_of_parameters),
      cmocka_unit_test(test_aliases),
      cmocka_unit_test(test_alias_preferences),
      cmocka_unit_test(test_random_aliases),
      cmocka_unit_test(test_refused_allocations),
  };
  return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
