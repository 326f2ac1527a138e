/* The lexer and the parser: trees of expressions and classes, numbers, names, spans, errors with their
 * places, nesting without limit, linear cost, and a run in which each allocation is refused once. */
#include "fail_alloc.h"
#include "syntax/lexer.h"
#include "syntax/parser.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct World {
  Heap *heap;
  Names *names; /* the tree points to these two, so they must not move */
  Source *source;
  Diags diags;
  Ast *ast;
} World;

static World world_parse_bytes(const char *text, size_t length) {
  World w = {.heap = heap_new(NULL)};
  w.names = heap_alloc(w.heap, sizeof *w.names);
  *w.names = names_make(w.heap);
  w.source = heap_alloc(w.heap, sizeof *w.source);
  w.diags = diags_make(w.heap);
  w.diags.limit = 1000;
  char *copy = heap_alloc(w.heap, length + 1);
  memcpy(copy, text, length);
  *w.source = source_make(w.heap, "test.mo", copy, (uint32_t)length);
  w.ast = parse(w.heap, w.names, w.source, &w.diags);
  return w;
}

static void show_errors(const World *w) {
  for (uint32_t i = 0; i < w->diags.list.count; i++) {
    const Diag *diag = &w->diags.list.data[i];
    print_message("%u:%u: %s\n", source_line(w->source, diag->span.begin), source_column(w->source, diag->span.begin),
                  diag->message);
  }
}

/* The text must be without error. */
static World world_parse(const char *text) {
  World w = world_parse_bytes(text, strlen(text));
  if (w.diags.errors) {
    show_errors(&w);
    fail_msg("errors in: %.200s", text);
  }
  return w;
}

static void world_free(World *w) { heap_destroy(w->heap); }

/* ---- trees as text ---- */

static const char *const operator_texts[] = {"+", "-",  ".+", ".-", "*", "/",  ".*", "./",
                                             "^", ".^", "<",  "<=", ">", ">=", "==", "<>"};

static void append_path(const Ast *ast, Heap *heap, TextVec *text, AstPath path) {
  if (path.global) text_printf(heap, text, ".");
  for (uint32_t i = 0; i < path.count; i++) {
    const AstPart *part = ast_part(ast, path, i);
    text_printf(heap, text, "%s%s", i ? "." : "", names_text(ast->names, part->name));
    if (part->subscripts) text_printf(heap, text, "#%u", part->subscripts);
  }
}

static void append_head(const Ast *ast, Heap *heap, TextVec *text, AstExpr e) {
  static const char *const heads[] = {[AST_END] = "end",
                                      [AST_COLON] = "all",
                                      [AST_OMITTED] = "_",
                                      [AST_NOT] = "not",
                                      [AST_AND] = "and",
                                      [AST_OR] = "or",
                                      [AST_RANGE] = "range",
                                      [AST_IF] = "if",
                                      [AST_ARRAY] = "array",
                                      [AST_MATRIX] = "matrix",
                                      [AST_ROW] = "row",
                                      [AST_TUPLE] = "tuple",
                                      [AST_SUBSCRIPT] = "subscript",
                                      [AST_SUM] = "sum",
                                      [AST_PRODUCT] = "product"};
  const AstNode *node = ast_node(ast, e);
  switch ((AstKind)node->kind) {
  case AST_REAL: text_printf(heap, text, "%.17g", node->value.real); break;
  case AST_INTEGER: text_printf(heap, text, "%lld", (long long)node->value.integer); break;
  case AST_BOOLEAN: text_printf(heap, text, node->value.integer ? "true" : "false"); break;
  case AST_STRING: text_printf(heap, text, "\"%s\"", names_text(ast->names, node->value.text)); break;
  case AST_FIELD: text_printf(heap, text, "field:%s", names_text(ast->names, node->value.text)); break;
  case AST_REFERENCE: append_path(ast, heap, text, ast_path(ast, e)); break;
  case AST_POWER:
  case AST_RELATION: text_printf(heap, text, "%s", operator_texts[node->operation]); break;
  case AST_CALL:
  case AST_PARTIAL:
  case AST_ITERATION:
    text_printf(heap, text, node->kind == AST_CALL ? "call:" : node->kind == AST_PARTIAL ? "partial:" : "each:");
    append_path(ast, heap, text, ast_path(ast, e));
    for (uint32_t i = 0; i < ast_label_count(ast, e); i++)
      text_printf(heap, text, " %s", names_text(ast->names, ast_label(ast, e, i).name));
    break;
  default: text_printf(heap, text, "%s", heads[node->kind]);
  }
}

/* Visits the nodes of one expression without recursion:
 *
 *   AstWalk walk = ast_walk(ast, heap, root);
 *   while (ast_walk_next(&walk))
 *     if (walk.is_entering) ... before its kids
 *     else                  ... after its kids
 *   ast_walk_end(&walk);
 */
typedef struct AstWalk {
  const Ast *ast;
  Heap *heap;
  AstExpr node;
  bool is_entering, is_started;
  VEC(struct AstWalkFrame {
    AstExpr node;
    uint32_t next; /* kid to enter */
  })
  stack;
} AstWalk;

static AstWalk ast_walk(const Ast *ast, Heap *heap, AstExpr root) {
  AstWalk walk = {.ast = ast, .heap = heap, .node = root};
  return walk;
}

static bool ast_walk_next(AstWalk *walk) {
  AstExpr enter = walk->node;
  if (walk->stack.count) {
    struct AstWalkFrame *top = &vec_last(&walk->stack);
    if (top->next == ast_kid_count(walk->ast, top->node)) {
      walk->node = top->node;
      walk->is_entering = false;
      (void)vec_pop(&walk->stack);
      return true;
    }
    enter = ast_kid(walk->ast, top->node, top->next++);
  } else if (walk->is_started) {
    return false;
  }
  walk->is_started = walk->is_entering = true;
  walk->node = enter;
  vec_push(walk->heap, &walk->stack, (struct AstWalkFrame){enter, 0});
  return true;
}

static void ast_walk_end(AstWalk *walk) { vec_free(walk->heap, &walk->stack); }

/* (head kid kid ...) in the order of the walk; kids of sums and products have their operators in front. */
static const char *tree_text(World *w, AstExpr root) {
  const Ast *ast = w->ast;
  TextVec text = {0};
  IndexVec parents = {0}, counts = {0};
  AstWalk walk = ast_walk(ast, w->heap, root);
  while (ast_walk_next(&walk)) {
    AstExpr e = walk.node;
    if (!walk.is_entering) {
      if (ast_kid_count(ast, e)) text_printf(w->heap, &text, ")");
      (void)vec_pop(&parents);
      (void)vec_pop(&counts);
      continue;
    }
    if (parents.count) {
      AstKind kind = ast_kind(ast, vec_last(&parents));
      text_printf(w->heap, &text, " ");
      if (kind == AST_SUM || kind == AST_PRODUCT)
        text_printf(w->heap, &text, "%s", operator_texts[ast_operator(ast, vec_last(&parents), vec_last(&counts))]);
      vec_last(&counts)++;
    }
    if (ast_kid_count(ast, e)) text_printf(w->heap, &text, "(");
    append_head(ast, w->heap, &text, e);
    vec_push(w->heap, &parents, e);
    vec_push(w->heap, &counts, 0);
  }
  ast_walk_end(&walk);
  return text.data;
}

/* Kids before parents, in one piece, and spans within those of their parents. */
static void check_order(const World *w) {
  const Ast *ast = w->ast;
  for (AstExpr e = 0; e < ast->nodes.count; e++) {
    AstExpr at = e;
    for (uint32_t k = ast_kid_count(ast, e); k-- > 0;) {
      AstExpr kid = ast_kid(ast, e, k);
      assert_int_equal(kid + 1, at);
      at = ast_first(ast, kid);
      if (ast_kind(ast, kid) == AST_OMITTED) continue;
      assert_true(ast_span(ast, kid).begin >= ast_span(ast, e).begin);
      assert_true(ast_span(ast, kid).end <= ast_span(ast, e).end);
    }
    assert_int_equal(at, ast_first(ast, e));
    assert_true(ast_span(ast, e).begin < ast_span(ast, e).end);
  }
}

static const AstClass *only_class(const World *w) {
  assert_int_equal(w->ast->main->classes.count, 1);
  return w->ast->main->classes.data[0];
}

/* The expression on the right of the only equation. */
static AstExpr only_right(const World *w) {
  const AstClass *class = only_class(w);
  assert_int_equal(class->sections.count, 1);
  assert_int_equal(class->sections.data[0].body.count, 1);
  return class->sections.data[0].body.data[0].right;
}

static World parse_expression_text(const char *expression) {
  size_t size = strlen(expression) + 64;
  char *text = malloc(size);
  snprintf(text, size, "model M equation x = %s; end M;", expression);
  World w = world_parse(text);
  free(text);
  return w;
}

static void check_tree(const char *expression, const char *expected) {
  World w = parse_expression_text(expression);
  const char *found = tree_text(&w, only_right(&w));
  if (strcmp(found, expected) != 0) fail_msg("%s\n  reads as %s\n  not as   %s", expression, found, expected);
  check_order(&w);
  world_free(&w);
}

/* ---- expressions ---- */

static void test_precedence(void **state) {
  (void)state;
  static const char *const pairs[][2] = {
      {"a", "a"},
      {"(((a)))", "a"},
      {"a + b - c", "(sum +a +b -c)"},
      {"a - (b - c)", "(sum +a -(sum +b -c))"},
      {"-a", "(sum -a)"},
      {"-a + b", "(sum -a +b)"},
      {"+a", "(sum +a)"},
      {"-a*b", "(sum -(product *a *b))"},
      {"a*b/c*d", "(product *a *b /c *d)"},
      {"a/(b/c)", "(product *a /(product *b /c))"},
      {"a + b*c", "(sum +a +(product *b *c))"},
      {"(a + b)*c", "(product *(sum +a +b) *c)"},
      {"a^b", "(^ a b)"},
      {"-a^b", "(sum -(^ a b))"},
      {"a*b^c", "(product *a *(^ b c))"},
      {"(a^b)^c", "(^ (^ a b) c)"},
      {"a .+ b .- c", "(sum +a .+b .-c)"},
      {"a .* b ./ c .^ d", "(product *a .*b ./(.^ c d))"},
      {"a*-b", "(product *a *(sum -b))"},
      {"a^-b", "(^ a (sum -b))"},
      {"a - -b", "(sum +a -(sum -b))"},
      {"- - a", "(sum -(sum -a))"},
      {"a < b", "(< a b)"},
      {"a + 1 <= b*2", "(<= (sum +a +1) (product *b *2))"},
      {"a <> b", "(<> a b)"},
      {"not a == b", "(not (== a b))"},
      {"a and b and c", "(and a b c)"},
      {"a or b and not c or d", "(or a (and b (not c)) d)"},
      {"(a or b) and c", "(and (or a b) c)"},
      {"1:n", "(range 1 n)"},
      {"1:2:n + 1", "(range 1 2 (sum +n +1))"},
      {"if a then b else c", "(if a b c)"},
      {"if a then b elseif c then d else e", "(if a b c d e)"},
      {"if a then if b then 1 else 2 else 3", "(if a (if b 1 2) 3)"},
      {"if a then b else c + d", "(if a b (sum +c +d))"},
      {"1 + (if a then b else c)", "(sum +1 +(if a b c))"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) check_tree(pairs[i][0], pairs[i][1]);
}

static void test_primaries(void **state) {
  (void)state;
  static const char *const pairs[][2] = {
      {"true", "true"},
      {"\"a\\\"b\\\\c\"", "\"a\"b\\c\""},
      {"a.b.c", "a.b.c"},
      {".a.b", ".a.b"},
      {"a[1].b[i, :].c", "(a#1.b#2.c 1 i all)"},
      {"a[end - 1]", "(a#1 (sum +end -1))"},
      {"'a.r_0[1]'", "a.r_0[1]"},
      {"'a\\'b'.c", "a'b.c"},
      {"f()", "call:f"},
      {"f(x)", "(call:f x)"},
      {"a.f(x, y = 1, z = 2)", "(call:a.f y z x 1 2)"},
      {"f(g(x), function h(a = 1))", "(call:f (call:g x) (partial:h a 1))"},
      {"der(x)", "(call:der x)"},
      {"initial()", "call:initial"},
      {"pure(f(x))", "(call:pure (call:f x))"},
      {"{1, 2}", "(array 1 2)"},
      {"{}", "array"},
      {"{{1}, {2}}", "(array (array 1) (array 2))"},
      {"[1, 2; 3, 4]", "(matrix (row 1 2) (row 3 4))"},
      {"[a; b + c]", "(matrix (row a) (row (sum +b +c)))"},
      {"{i*j for i in 1:3, j in s}", "(each:array i j (product *i *j) (range 1 3) s)"},
      {"sum(x[i] for i)", "(each:sum i (x#1 i) (range 1 (call:size x 1)))"},
      {"sum(x[i]*y[2, i] for i)",
       "(each:sum i (product *(x#1 i) *(y#2 2 i)) (range 1 (call:max (array (call:size x 1) (call:size y 2)))))"},
      {"sum(x[1].y[i] for i)", "(each:sum i (x#1.y#1 1 i) (range 1 (call:size (x#1.y 1) 1)))"},
      {"max(i for i in {1, 2})", "(each:max i i (array 1 2))"},
      {"(a, b)", "(tuple a b)"},
      {"(a, , b)", "(tuple a _ b)"},
      {"(, b)", "(tuple _ b)"},
      {"()", "tuple"},
      {"(a + b)[1]", "(subscript (sum +a +b) 1)"},
      {"f(x).y", "(field:y (call:f x))"},
      {"{1, 2}[i].z[end]", "(subscript (field:z (subscript (array 1 2) i)) end)"},
      {"a*(b)[2]", "(product *a *(subscript b 2))"},
      {"x[y[z[1]]]", "(x#1 (y#1 (z#1 1)))"},
      {"f(x for x in {y for y in 1:2})", "(each:f x x (each:array y y (range 1 2)))"},
      {"a /* comment */ + // line\n b", "(sum +a +b)"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) check_tree(pairs[i][0], pairs[i][1]);
}

/* ---- random expressions: text and tree are made together ---- */

typedef struct Maker {
  uint32_t seed;
  TextVec text, tree;
  Heap *heap;
} Maker;

static uint32_t chance(Maker *m, uint32_t below) {
  m->seed = m->seed * 1664525u + 1013904223u;
  return (m->seed >> 16) % below;
}

static void make_blank(Maker *m) {
  static const char *const blanks[] = {"", " ", "\n", " /* ( */", " // ]\n"};
  text_printf(m->heap, &m->text, "%s", blanks[chance(m, 5)]);
}

/* Levels: 0 if, 1 or, 2 and, 3 not, 4 relation, 5 sum, 6 product, 7 power, 8 primary. The text has parentheses if the level
 * requires them, and sometimes if it does not. */
static void make(Maker *m, uint32_t level, uint32_t depth) {
  static const char *const names[] = {"a", "b.c", "'d e'", "x1", "y"};
  static const char *const joins[][2] = {{" or ", " or "}, {" and ", " and "}, {"", ""},
                                         {"<", "<"},       {"+", "-"},         {"*", "/"}};
  static const char *const heads[] = {"or", "and", "", "<", "sum", "product"};
  uint32_t kind = depth ? chance(m, 10) : 8 + chance(m, 2);
  bool enclose = (kind < level && kind < 8) || chance(m, 8) == 0;
  make_blank(m);
  if (enclose) text_printf(m->heap, &m->text, "(");
  if (kind == 0) {
    text_printf(m->heap, &m->tree, "(if ");
    text_printf(m->heap, &m->text, "if ");
    make(m, 0, depth - 1);
    text_printf(m->heap, &m->tree, " ");
    text_printf(m->heap, &m->text, " then ");
    make(m, 0, depth - 1);
    text_printf(m->heap, &m->tree, " ");
    text_printf(m->heap, &m->text, " else ");
    make(m, 0, depth - 1);
    text_printf(m->heap, &m->tree, ")");
  } else if (kind == 3) {
    text_printf(m->heap, &m->tree, "(not ");
    text_printf(m->heap, &m->text, "not ");
    make(m, 4, depth - 1);
    text_printf(m->heap, &m->tree, ")");
  } else if (kind <= 6) {
    uint32_t count = kind == 4 ? 2 : 2 + chance(m, 3);
    text_printf(m->heap, &m->tree, "(%s", heads[kind - 1]);
    for (uint32_t i = 0; i < count; i++) {
      const char *join = i ? joins[kind - 1][chance(m, 2)] : kind == 5 ? "+" : "*";
      text_printf(m->heap, &m->tree, kind >= 5 ? " %s" : " ", join);
      if (i) text_printf(m->heap, &m->text, "%s", join);
      make(m, kind + 1, depth - 1);
    }
    text_printf(m->heap, &m->tree, ")");
  } else if (kind == 7) {
    text_printf(m->heap, &m->tree, "(^ ");
    make(m, 8, depth - 1);
    text_printf(m->heap, &m->tree, " ");
    text_printf(m->heap, &m->text, "^");
    make(m, 8, depth - 1);
    text_printf(m->heap, &m->tree, ")");
  } else if (kind == 8 && depth) {
    text_printf(m->heap, &m->tree, "(call:f ");
    text_printf(m->heap, &m->text, "f(");
    make(m, 0, depth - 1);
    text_printf(m->heap, &m->tree, " ");
    text_printf(m->heap, &m->text, ",");
    make(m, 0, depth - 1);
    text_printf(m->heap, &m->tree, ")");
    text_printf(m->heap, &m->text, ")");
  } else {
    const char *name = names[chance(m, 5)];
    text_printf(m->heap, &m->text, "%s", name);
    text_printf(m->heap, &m->tree, "%s", name[0] == '\'' ? "d e" : name);
  }
  if (enclose) text_printf(m->heap, &m->text, ")");
  make_blank(m);
}

static void test_random_expressions(void **state) {
  (void)state;
  for (uint32_t seed = 1; seed <= 2000; seed++) {
    Maker m = {.seed = seed, .heap = heap_new(NULL)};
    make(&m, 0, 1 + seed % 7);
    check_tree(m.text.data, m.tree.data);
    heap_destroy(m.heap);
  }
}

/* ---- numbers and names ---- */

static void test_numbers(void **state) {
  (void)state;
  static const char *const reals[] = {"0.0",
                                      "1.",
                                      "1.5",
                                      ".5",
                                      "1e3",
                                      "1E+3",
                                      "2.5e-3",
                                      "0.1",
                                      "0.30000000000000004",
                                      "1e22",
                                      "1e23",
                                      "123456789012345678901234567890.5",
                                      "4.9e-324",
                                      "2.2250738585072011e-308",
                                      "1.7976931348623157e308",
                                      "0.000000000000000000000000000001",
                                      "00012.50",
                                      "9007199254740993.0",
                                      "3.141592653589793238462643383279502884197169399375"};
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
    World w = parse_expression_text(reals[i]);
    AstExpr e = only_right(&w);
    assert_int_equal(ast_kind(w.ast, e), AST_REAL);
    double expected = strtod(reals[i], NULL);
    assert_memory_equal(&ast_node(w.ast, e)->value.real, &expected, sizeof expected);
    world_free(&w);
  }
  World w = parse_expression_text("9007199254740992");
  assert_true(ast_node(w.ast, only_right(&w))->value.integer == INT64_C(9007199254740992));
  world_free(&w);
}

/* The fast and the slow way of reading a number must agree with the C library on random digits. */
static void test_random_numbers(void **state) {
  (void)state;
  Maker m = {.seed = 7, .heap = heap_new(NULL)};
  for (int i = 0; i < 3000; i++) {
    char text[64];
    int length = snprintf(text, sizeof text, "%u", chance(&m, 1000));
    uint32_t digits = 1 + chance(&m, 20);
    text[length++] = '.';
    for (uint32_t k = 0; k < digits; k++) text[length++] = (char)('0' + chance(&m, 10));
    snprintf(text + length, sizeof text - (size_t)length, "e%d", (int)chance(&m, 600) - 300);
    World w = parse_expression_text(text);
    double expected = strtod(text, NULL);
    assert_memory_equal(&ast_node(w.ast, only_right(&w))->value.real, &expected, sizeof expected);
    world_free(&w);
  }
  heap_destroy(m.heap);
}

static void test_quoted_names(void **state) {
  (void)state;
  World w = world_parse("model 'a b' Real '\\'x\\\\' \"say \\\"hi\\\"\\n\" + \"you\"; Real time; end 'a b';");
  const AstClass *class = only_class(&w);
  assert_string_equal(names_text(w.names, class->label.name), "a b");
  assert_string_equal(names_text(w.names, class->elements.data[0].component->label.name), "'x\\");
  assert_string_equal(names_text(w.names, class->elements.data[0].component->comment), "say \"hi\"\nyou");
  world_free(&w);
  w = parse_expression_text("'time' + time");
  AstExpr sum = only_right(&w);
  assert_false(ast_path_is(w.ast, ast_path(w.ast, ast_kid(w.ast, sum, 0)), "time"));
  assert_true(ast_path_is(w.ast, ast_path(w.ast, ast_kid(w.ast, sum, 1)), "time"));
  world_free(&w);
}

static void test_spans(void **state) {
  (void)state;
  World w = parse_expression_text("(a + b) * f(c)[2]");
  AstExpr product = only_right(&w);
  static const char *const texts[] = {"(a + b) * f(c)[2]", "a + b", "f(c)[2]", "f(c)"};
  AstExpr nodes[] = {product, ast_kid(w.ast, product, 0), ast_kid(w.ast, product, 1),
                     ast_kid(w.ast, ast_kid(w.ast, product, 1), 0)};
  for (int i = 0; i < 4; i++) {
    Span span = ast_span(w.ast, nodes[i]);
    assert_int_equal(span.end - span.begin, strlen(texts[i]));
    assert_memory_equal(source_text(w.source, span.begin), texts[i], strlen(texts[i]));
  }
  world_free(&w);
}

/* ---- classes ---- */

static void test_base_modelica(void **state) {
  (void)state;
  World w = world_parse(
      "//! base 0.1.0\npackage 'P'\n  type 'E' = enumeration('a' \"first\", 'b');\n"
      "  record 'R' Real 'x'; end 'R';\n"
      "  function 'f' input Real 'x'; output Real 'y'; external \"C\" 'y' = g('x', size('x', 1)) "
      "annotation(Library = \"m\"); annotation(derivative(order = 1) = 'df'); end 'f';\n"
      "  model 'M' \"text\"\n    final parameter Real 'p'(unit = \"m\") = 1.0 annotation(Evaluate = true);\n"
      "  initial equation\n    'p' = 1;\n  equation\n    'p' = 2;\n"
      "    annotation(experiment(StopTime = 3));\n  end 'M';\nend 'P';\n");
  const AstClass *package = only_class(&w);
  assert_string_equal(names_text(w.names, w.ast->main->version), "0.1.0");
  assert_int_equal(package->kind, CLASS_PACKAGE);
  assert_int_equal(package->elements.count, 4);
  const AstClass *enumeration = package->elements.data[0].class_definition;
  assert_int_equal(enumeration->form, FORM_ENUMERATION);
  assert_int_equal(enumeration->literals.count, 2);
  const AstClass *function = package->elements.data[2].class_definition;
  assert_string_equal(names_text(w.names, function->external->language), "C");
  assert_string_equal(names_text(w.names, function->external->function.name), "g");
  assert_int_equal(function->external->arguments.count, 2);
  assert_int_equal(function->annotation->arguments.count, 1);
  assert_non_null(function->annotation->arguments.data[0].modification);
  assert_true(function->annotation->arguments.data[0].modification->value != AST_NONE);
  const AstClass *model = package->elements.data[3].class_definition;
  assert_int_equal(model->sections.count, 2);
  assert_true(model->sections.data[0].is_initial);
  assert_string_equal(ast_path_text(w.ast, model->annotation->arguments.data[0].name, &w.ast->arena), "experiment");
  const AstElement *parameter = &model->elements.data[0];
  assert_int_equal(parameter->prefixes, PREFIX_FINAL | PREFIX_PARAMETER);
  assert_int_equal(parameter->component->modification->arguments.count, 1);
  assert_int_equal(ast_kind(w.ast, parameter->component->modification->value), AST_REAL);
  world_free(&w);
}

static void test_elements(void **state) {
  (void)state;
  World w =
      world_parse("within A.B;\nencapsulated partial model M\n  import SI = Modelica.Units; import A.*; import A.{B, "
                  "C};\n"
                  "  extends Base(x(start = 1), redeclare package Medium = Air(a = 1) constrainedby Gas(b = 3), "
                  "redeclare replaceable Real z(start = 3) = 4);\n"
                  "  Real[3] a[2](each start = 0, each final fixed = true) = {1}, b if c \"text\";\n"
                  "protected\n  flow .A.B f;\npublic\n  replaceable model Z = Y constrainedby Q(a = 1);\n"
                  "  model extends Inner(a = 2) end Inner;\n  connector C = input Real[3](unit = \"V\");\n"
                  "  function df = der(f, x, y);\n  type O = enumeration(:);\n"
                  "  operator record Complex operator 'constructor' end 'constructor'; operator function '+' end '+'; "
                  "end Complex;\n"
                  "end M;\n");
  const AstClass *class = only_class(&w);
  const AstElement *elements = class->elements.data;
  assert_int_equal(class->prefixes, PREFIX_ENCAPSULATED | PREFIX_PARTIAL);
  assert_int_equal(w.ast->main->within.count, 2);
  for (int i = 0; i < 3; i++) assert_int_equal(elements[i].kind, AST_IMPORT);
  const AstModification *base = elements[3].extends->modification;
  assert_int_equal(base->arguments.count, 3);
  const AstElement *medium = base->arguments.data[1].redeclared;
  assert_int_equal(medium->kind, AST_CLASS);
  assert_int_equal(medium->class_definition->modification->arguments.count, 1);
  assert_int_equal(medium->constraint->modification->arguments.count, 1);
  assert_int_equal(base->arguments.data[2].redeclared->kind, AST_COMPONENT);
  assert_true(base->arguments.data[2].redeclared->component->modification->value != AST_NONE);
  assert_ptr_equal(elements[4].component->type, elements[5].component->type);
  assert_int_equal(elements[4].component->type->dimensions.count, 1);
  assert_int_equal(elements[4].component->dimensions.count, 1);
  assert_true(elements[4].component->modification->arguments.data[1].is_final);
  assert_true(elements[5].component->condition != AST_NONE);
  assert_int_equal(elements[6].prefixes, PREFIX_PROTECTED | PREFIX_FLOW);
  assert_true(elements[6].component->type->name.global);
  assert_non_null(elements[7].constraint);
  assert_int_equal(elements[8].class_definition->form, FORM_EXTENDS);
  assert_int_equal(elements[10].class_definition->form, FORM_DERIVATIVE);
  assert_int_equal(elements[10].class_definition->literals.count, 2);
  assert_true(elements[11].class_definition->is_open);
  assert_true(elements[12].class_definition->prefixes & PREFIX_OPERATOR);
  assert_int_equal(elements[12].class_definition->elements.data[0].class_definition->kind, CLASS_OPERATOR);
  world_free(&w);
}

static void test_statements(void **state) {
  (void)state;
  World w = world_parse("model M\nequation\n  if a then x = 1; elseif b then y = 2; z = 3; else end if;\n"
                        "  for i in 1:2, j loop connect(a[i], b.c[j]) \"text\" annotation(Line()); end for;\n"
                        "  when {a, b} then reinit(x, 1); elsewhen c then terminate(\"x\"); end when;\n"
                        "  assert(a, \"no\", AssertionLevel.warning);\n"
                        "algorithm\n  while a loop x := 1; break; return; end while;\n  (a, , b[1]) := "
                        "f(x);\n  f(x);\nend M;\n");
  const AstSection *sections = only_class(&w)->sections.data;
  const AstStatement *equations = sections[0].body.data;
  assert_int_equal(sections[0].body.count, 4);
  assert_int_equal(equations[0].kind, AST_IF_BLOCK);
  assert_int_equal(equations[0].branches.count, 3);
  assert_int_equal(equations[0].branches.data[1].body.count, 2);
  assert_int_equal(equations[0].branches.data[2].condition, AST_NONE);
  assert_int_equal(equations[1].iterators.count, 2);
  assert_int_equal(ast_kind(w.ast, equations[1].iterators.data[1].range), AST_RANGE);
  assert_int_equal(equations[1].branches.data[0].body.data[0].kind, AST_CONNECT);
  assert_non_null(equations[1].branches.data[0].body.data[0].annotation);
  assert_int_equal(equations[2].kind, AST_WHEN_BLOCK);
  assert_int_equal(equations[2].branches.count, 2);
  assert_int_equal(equations[3].kind, AST_INVOKE);
  const AstStatement *statements = sections[1].body.data;
  assert_int_equal(statements[0].kind, AST_WHILE_BLOCK);
  assert_int_equal(statements[0].branches.data[0].body.data[1].kind, AST_BREAK);
  assert_int_equal(statements[1].kind, AST_ASSIGN);
  assert_int_equal(ast_kind(w.ast, statements[1].left), AST_TUPLE);
  assert_int_equal(statements[2].kind, AST_INVOKE);
  world_free(&w);
}

/* ---- errors ---- */

typedef struct BadText {
  const char *text;
  const char *place; /* line:column */
  const char *message;
} BadText;

static bool has_error(const World *w, const char *place, const char *message) {
  for (uint32_t i = 0; i < w->diags.list.count; i++) {
    const Diag *diag = &w->diags.list.data[i];
    char found[32];
    snprintf(found, sizeof found, "%u:%u", source_line(w->source, diag->span.begin),
             source_column(w->source, diag->span.begin));
    if (!strcmp(found, place) && strstr(diag->message, message) && diag->code == DIAG_INPUT) return true;
  }
  return false;
}

static void check_bad(const char *text, size_t length, const char *place, const char *message) {
  World w = world_parse_bytes(text, length);
  if (!has_error(&w, place, message)) {
    show_errors(&w);
    fail_msg("no error at %s with '%s' in: %s", place, message, text);
  }
  world_free(&w);
}

static void test_errors(void **state) {
  (void)state;
  static const BadText bad[] = {
      {"", "1:1", "the file is empty"},
      {"// nothing\n\n", "1:1", "the file is empty"},
      {"foo", "1:1", "expected a class"},
      {"model M\n  Real x\n  Real y;\nend M;", "2:9", "expected `;` here, found `Real`"},
      {"model M\n  Real x y;\nend M;", "2:10", "expected `;`, found `y`"},
      {"model M\n  Real x = ;\nend M;", "2:12", "expected an expression, found `;`"},
      {"model M\n  x = 3;\nend M;", "2:5", "equations come after `equation`"},
      {"model M\nequation\n  x = 1\nend M;", "3:8", "expected `;` here, found the keyword `end`"},
      {"model M\nequation\n  x := 1;\nend M;", "3:5", "an equation is written with `=`"},
      {"model M\nalgorithm\n  x = 1;\nend M;", "3:5", "a statement assigns with `:=`"},
      {"model M\nequation\n  Real y;\nend M;", "3:8", "declarations come before `equation`"},
      {"model M\nequation\n  x = (1 + 2;\nend M;", "3:13", "expected `)`, found `;`"},
      {"model M\nequation\n  x = {1, 2;\nend M;", "3:12", "expected `,` or `}`"},
      {"model M\nequation\n  x = f(1 2);\nend M;", "3:11", "expected `,` or `)`"},
      {"model M\nequation\n  x = a[1;\nend M;", "3:10", "expected `,` or `]`"},
      {"model M\nequation\n  x = a < b < c;\nend M;", "3:13", "comparisons do not chain"},
      {"model M\nequation\n  x = a^b^c;\nend M;", "3:10", "powers do not chain"},
      {"model M\nequation\n  x = 1:2:3:4;\nend M;", "3:12", "a range has at most three parts"},
      {"model M\nequation\n  x = 1 + if a then b else c;\nend M;", "3:11", "needs parentheses"},
      {"model M\nequation\n  x = if a then b;\nend M;", "3:18", "expected `else`"},
      {"model M\nequation\n  x = if a = b then 1 else 2;\nend M;", "3:12", "equality is written `==`"},
      {"model M\nequation\n  if a = b then x = 1; end if;\nend M;", "3:8", "equality is written `==`"},
      {"model M\nequation\n  x = end;\nend M;", "3:7", "only inside subscripts"},
      {"model M\nequation\n  x = a[1][2];\nend M;", "3:11", "in one list"},
      {"model M\nequation\n  x = f(a = 1, 2);\nend M;", "3:16", "positional arguments come before"},
      {"model M\nequation\n  x = f(a, i for i in 1:2);\nend M;", "3:14", "the only one in its brackets"},
      {"model M\nequation\n  x = a == not b;\nend M;", "3:12", "`not` inside"},
      {"model M\nequation\n  x = a != b;\nend M;", "3:9", "not equal is written `<>`"},
      {"model M\nequation\n  x = a && b;\nend M;", "3:9", "written `and`"},
      {"model M\nequation\n  x = \xc3\xa4;\nend M;", "3:7", "unknown character `\xc3\xa4`"},
      {"model M\nequation\n  if a then\n    x = 1;\nend M;", "5:1", "`end if;` is missing"},
      {"model M\nequation\n  x = 1;\n  end if;\nend M;", "4:3", "`end if` closes nothing"},
      {"model M\nequation\n  if a then x = 1; else x = 2; else x = 3; end if;\nend M;", "3:32",
       "no branch follows `else`"},
      {"model M\nequation\n  else\nend M;", "3:3", "no `if` is open"},
      {"model M\nequation\n  while a loop x = 1; end while;\nend M;", "3:3", "only in algorithms"},
      {"model M\nend N;", "2:5", "wrong name after `end`: expected `M`, found `N`"},
      {"model M\n  model N\n    Real x;\nend M;", "4:5", "`end N;` is missing"},
      {"model M\nend;", "2:4", "expected the name of the class after `end`"},
      {"model M\n  Real x;\n", "2:10", "the file ends before `end M;`"},
      {"model M\n  Real s = \"abc;\nend M;\n", "2:12", "unterminated string"},
      {"model M\n  /* no end\nend M;\n", "2:3", "unterminated comment"},
      {"model M\n  Real 'abc;\nend M;\n", "2:8", "unterminated quoted name"},
      {"model M\n  parameter Real a = \"\\q\";\nend M;", "2:23", "unknown escape"},
      {"model M\n  parameter Integer a = 9007199254740993;\nend M;", "2:25", "integer overflow"},
      {"model M\n  parameter Real a = 1e400;\nend M;", "2:22", "number out of range"},
      {"model M\n  parameter Real a = 1e-400;\nend M;", "2:22", "number out of range"},
      {"model M\n  parameter Real a = 1e;\nend M;", "2:22", "exponent of this number has no digits"},
      {"model M\n  final final Real x;\nend M;", "2:9", "is written twice"},
      {"model M\n  Real x(start = 1;\nend M;", "2:19", "expected `,` or `)` in a modification"},
      {"model M\n  Real x annotation;\nend M;", "2:20", "expected `(` after `annotation`"},
      {"model M\n  type E = enumeration(a b);\nend M;", "2:26", "after the literals"},
      {"model M\n  Real x\xff;\nend M;", "2:9", "invalid UTF-8: byte 0xff"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    check_bad(bad[i].text, strlen(bad[i].text), bad[i].place, bad[i].message);
  check_bad("model M\n  Real x\0;\nend M;", 25, "2:9", "NUL byte");
  check_bad("m\0o\0d\0e\0l\0", 10, "1:2", "NUL byte");
}

/* An error in one place must not hide an error in another. */
static void test_several_errors(void **state) {
  (void)state;
  static const char text[] =
      "model M\n  Real x = ;\n  Real y z;\nequation\n  x = (1;\n  if a the\n    y = 1;\n  end if;\n"
      "  y = 2 3;\n  y == 1;\n  y = 1 +;\nend N;\nmodel P\n  Real;\nend P;\n";
  World w = world_parse_bytes(text, strlen(text));
  static const char *const places[] = {"2:12", "3:10", "5:9", "6:8", "9:9", "10:9", "11:10", "12:5", "14:7"};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (!has_error(&w, places[i], "")) {
      show_errors(&w);
      fail_msg("no error at %s", places[i]);
    }
  assert_int_equal(w.diags.errors, sizeof places / sizeof *places);
  world_free(&w);
}

static void test_byte_order_mark(void **state) {
  (void)state;
  World w = world_parse("\xef\xbb\xbfmodel M\n  Real x \"\xc3\xa4\";\nend M;");
  assert_int_equal(only_class(&w)->elements.count, 1);
  world_free(&w);
}

/* ---- depth and size ---- */

enum { DEEP = 100000 };

static char *put(char *end, const char *text) {
  size_t length = strlen(text);
  memcpy(end, text, length);
  return end + length;
}

static char *repeat(const char *before, const char *open, const char *middle, const char *close, const char *behind,
                    uint32_t count) {
  size_t size = strlen(before) + strlen(middle) + strlen(behind) + count * (strlen(open) + strlen(close)) + 1;
  char *text = malloc(size);
  assert_non_null(text);
  char *end = put(text, before);
  for (uint32_t i = 0; i < count; i++) end = put(end, open);
  end = put(end, middle);
  for (uint32_t i = 0; i < count; i++) end = put(end, close);
  *put(end, behind) = 0;
  return text;
}

static void test_deep_nesting(void **state) {
  (void)state;
  static const char *const nests[][2] = {{"(", ")"},
                                         {"{", "}"},
                                         {"[", "]"},
                                         {"f(", ")"},
                                         {"x[", "]"},
                                         {"-", ""},
                                         {"not ", ""},
                                         {"(1 + ", ")"},
                                         {"if a then 1 else ", ""},
                                         {"if ", " then true else false"},
                                         {"(2^", ")"},
                                         {"sum(", " for i in 1:2)"},
                                         {"a.f(y = ", ")"},
                                         {"(", ")[1]"},
                                         {"1*(", ")"}};
  for (size_t i = 0; i < sizeof nests / sizeof *nests; i++) {
    char *text = repeat("model M equation x = ", nests[i][0], "z", nests[i][1], "; end M;", DEEP);
    World w = world_parse(text);
    check_order(&w);
    world_free(&w);
    free(text);
  }
  static const char *const blocks[][5] = {{"model M equation ", "for i in 1:2 loop ", "x = 1;", " end for;", " end M;"},
                                          {"model M equation ", "if a then ", "x = 1;", " end if;", " end M;"},
                                          {"model M algorithm ", "while a loop ", "x := 1;", " end while;", " end M;"},
                                          {"model M Real x", "(a", " = 1", ")", "; end M;"},
                                          {"model M Real x", "(redeclare model A = B", "", ")", "; end M;"}};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
    char *text = repeat(blocks[i][0], blocks[i][1], blocks[i][2], blocks[i][3], blocks[i][4], DEEP);
    World w = world_parse(text);
    world_free(&w);
    free(text);
  }
}

/* Frees the text. */
static void expect_one_error(char *text) {
  World w = world_parse_bytes(text, strlen(text));
  assert_int_equal(w.diags.errors, 1);
  world_free(&w);
  free(text);
}

/* The time to read nested classes grows with the square of their depth, so the depth has a limit. */
static void test_nested_classes(void **state) {
  (void)state;
  expect_one_error(repeat("", "model M ", "", "end M; ", "", DEEP));
}

static void test_unclosed_nesting(void **state) {
  (void)state;
  expect_one_error(repeat("model M equation x = ", "(f({x[", "", "", "", DEEP));
}

static size_t bytes_for(uint32_t terms) {
  char *text = repeat("model M equation x = 1", " + a*b.c[1]", "", "", "; end M;", terms);
  World w = world_parse(text);
  assert_int_equal(ast_kid_count(w.ast, only_right(&w)), terms + 1);
  size_t bytes = heap_bytes(w.heap);
  world_free(&w);
  free(text);
  return bytes;
}

static void test_linear_memory(void **state) {
  (void)state;
  size_t one = bytes_for(20000), four = bytes_for(80000);
  assert_true(four < 5 * one);
}

/* ---- memory that runs out ---- */

static void parse_once(const HeapHook *hook, const char *text) {
  Heap *volatile heap = heap_new(hook);
  jmp_buf point;
  if (!heap) return;
  if (HEAP_TRY(heap, point)) {
    Names names = names_make(heap);
    Diags diags = diags_make(heap);
    Source source = source_make(heap, "test.mo", text, (uint32_t)strlen(text));
    parse(heap, &names, &source, &diags);
  }
  heap_destroy(heap);
}

static void test_refused_allocations(void **state) {
  (void)state;
  FAIL_ALLOC_EACH(fail) {
    parse_once(&fail.hook,
               "model M \"a\" + \"b\" Real x[3](each start = {1, 2}) = 1.25e100; function f external \"C\"; end f;\n"
               "equation if a then x = f(1, y = [1; 2]); end if; x = (1; 'y' = 3; end M; model N");
    assert_int_equal(fail.live, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_precedence),
      cmocka_unit_test(test_primaries),
      cmocka_unit_test(test_random_expressions),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_random_numbers),
      cmocka_unit_test(test_quoted_names),
      cmocka_unit_test(test_spans),
      cmocka_unit_test(test_base_modelica),
      cmocka_unit_test(test_elements),
      cmocka_unit_test(test_statements),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_several_errors),
      cmocka_unit_test(test_byte_order_mark),
      cmocka_unit_test(test_deep_nesting),
      cmocka_unit_test(test_nested_classes),
      cmocka_unit_test(test_unclosed_nesting),
      cmocka_unit_test(test_linear_memory),
      cmocka_unit_test(test_refused_allocations),
  };
  return cmocka_run_group_tests_name("parser", tests, NULL, NULL);
}
