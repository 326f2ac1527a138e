/* compile: expressions of the syntax tree to stack code, typed on the way (references: reference.c; calls: call.c).
 *
 * Invariant: an explicit stack of tasks follows the nesting of the expression, so depth costs memory only. compiler->types mirrors
 * the types of the values on the machine's stack. An error is reported once, gives TYPE_NOTHING, and forbids running the code
 * (compiler->errors). */
#include "lang/compile.h"

#include "base/format.h"

#include <stdarg.h>
#include <string.h>

enum { SUM_LIMIT = 60000, CONDITION_DEPTH = 8 };

Compiler compiler_make(Elaboration *el, Routine *routine, Diags *diags, Name scope) {
  return (Compiler){.el = el, .routine = routine, .diags = diags, .scope = scope};
}

void compiler_free(Compiler *c) {
  Heap *heap = c->el->heap;
  vec_free(heap, &c->names, &c->types, &c->tasks, &c->patches, &c->ends, &c->assigned);
  vec_free(heap, &c->iterated);
  vec_free(heap, &c->spans);
  if (c->has_slots) map_free(&c->slots);
}

static void routine_clear(Routine *routine) {
  routine->locals.count = routine->inputs = routine->outputs = 0;
  routine->code.count = routine->spans.count = routine->constants.count = routine->extra.count = 0;
}

void routine_free(Heap *heap, Routine *routine) {
  vec_free(heap, &routine->code, &routine->spans, &routine->constants, &routine->extra, &routine->locals);
}

/* Iterators of for-equations (compiler->names) are kept. */
Compiler *compiler_fresh(Elaboration *el) {
  Compiler *c = el->compiler;
  routine_clear(c->routine);
  c->types.count = c->tasks.count = c->patches.count = c->ends.count = c->assigned.count = 0;
  c->errors = c->iterated.count = 0;
  c->is_decided = false;
  return c;
}

bool compile_error(Compiler *c, Span span, const char *format, ...) {
  va_list list;
  char text[1024];
  va_start(list, format);
  format_list(text, sizeof text, format, list);
  va_end(list);
  diag_error(c->diags, input_code(format), span, "%s", text);
  c->errors++;
  return false;
}

/* ---- emitting ---- */

void compile_emit(Compiler *c, Code code, uint32_t a, uint32_t b, Span span) {
  routine_emit(c->el->heap, c->routine, code, a, b, span);
}

void push_type(Compiler *c, Type type) { vec_push(c->el->heap, &c->types, type); }
Type pop_type(Compiler *c) { return vec_pop(&c->types); }

void emit_constant(Compiler *c, BaseType base, double value, Span span) {
  vec_push(c->el->heap, &c->routine->constants, value);
  compile_emit(c, CODE_CONSTANT, base, c->routine->constants.count - 1, span);
}

void patch_here(Compiler *c, uint32_t position) { c->routine->code.data[position].b = c->routine->code.count; }

uint32_t compile_list(Compiler *c, const uint32_t *items, uint32_t count) {
  uint32_t at = c->routine->extra.count;
  vec_push(c->el->heap, &c->routine->extra, count);
  for (uint32_t i = 0; i < count; i++) vec_push(c->el->heap, &c->routine->extra, items[i]);
  return at;
}

uint32_t compile_local(Compiler *c, Name name, Type type, Span span) {
  vec_push(c->el->heap, &c->routine->locals, (Local){.name = name, .type = type, .span = span});
  return c->routine->locals.count - 1;
}

bool compile_expect(Compiler *c, Type expected, Type found, Span span, const char *what) {
  if (type_fits(c->el, expected, found)) return true;
  return compile_error(c, span, "%s is %s, expected %s", what, type_text(c->el, found), type_text(c->el, expected));
}

/* ---- tasks ---- */

void task_push(Compiler *c, AstExpr e, Type expected, Name scope) {
  vec_push(c->el->heap, &c->tasks,
           (struct Task){.e = e,
                         .expected = expected,
                         .type = {.base = TYPE_NOTHING},
                         .scope = scope,
                         .wanted = 1,
                         .start = c->routine->code.count,
                         .height = c->types.count});
}

struct Task *task_top(Compiler *c) {
  return &vec_last(&c->tasks);
}

void task_done(Compiler *c, Type type) {
  c->tasks.count--;
  push_type(c, type);
}

/* Enters the next kid of the task on top. */
static void enter_kid(Compiler *c, Type expected) {
  struct Task *task = task_top(c);
  AstExpr kid = ast_kid(c->el->ast, task->e, task->kid++);
  task_push(c, kid, expected, task->scope);
}

/* ---- literals ---- */

static void literal_step(Compiler *c) {
  const AstNode *node = ast_node(c->el->ast, task_top(c)->e);
  switch (node->kind) {
  case AST_REAL: emit_constant(c, TYPE_REAL, node->value.real, node->span); break;
  case AST_INTEGER: emit_constant(c, TYPE_INTEGER, (double)node->value.integer, node->span); break;
  case AST_BOOLEAN: emit_constant(c, TYPE_BOOLEAN, (double)node->value.integer, node->span); break;
  default: compile_emit(c, CODE_STRING, 0, node->value.text, node->span); break;
  }
  static const uint8_t base[] = {
      [AST_REAL] = TYPE_REAL, [AST_INTEGER] = TYPE_INTEGER, [AST_STRING] = TYPE_STRING, [AST_BOOLEAN] = TYPE_BOOLEAN};
  task_done(c, type_scalar(base[node->kind]));
}

/* ---- sums and products ---- */

static bool is_each(AstOperator operation) {
  return operation == AST_ELEMENT_ADD || operation == AST_ELEMENT_SUBTRACT || operation == AST_ELEMENT_MULTIPLY ||
         operation == AST_ELEMENT_DIVIDE || operation == AST_ELEMENT_RAISE;
}

static bool is_minus(AstOperator operation) { return operation == AST_SUBTRACT || operation == AST_ELEMENT_SUBTRACT; }

/* The type of the sum of two terms; reports a type error at `span`. */
static Type sum_type(Compiler *c, Type a, Type b, AstOperator operation, Span span) {
  if (a.base == TYPE_NOTHING || b.base == TYPE_NOTHING) return type_nothing();
  bool texts = a.base == TYPE_STRING && b.base == TYPE_STRING && operation == AST_ADD && a.dimensions == b.dimensions;
  bool fits = is_each(operation) ? a.dimensions == b.dimensions || a.dimensions == 0 || b.dimensions == 0
                                 : a.dimensions == b.dimensions;
  if (texts) return a;
  if (!type_is_number(a) || !type_is_number(b) || !fits)
    return compile_error(c, span, "operator `%s` cannot combine %s and %s", is_minus(operation) ? "-" : "+",
                         type_text(c->el, a), type_text(c->el, b)),
           type_nothing();
  Type type = a.base == TYPE_REAL ? a : b;
  type.dimensions = a.dimensions ? a.dimensions : b.dimensions;
  return type;
}

/* Emits the sum of the last `count` kids, the last of which is kid number `last`. */
static void emit_sum(Compiler *c, AstExpr e, uint32_t last, uint32_t count, bool is_first) {
  Routine *routine = c->routine;
  uint32_t at = routine->extra.count, words = count / 32 + 1;
  uint32_t *signs = vec_extend(c->el->heap, &routine->extra, words);
  memset(signs, 0, words * sizeof *signs);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t kid = last + 1 - count + i;
    if (i == 0 && !is_first) continue; /* the sum so far */
    if (is_minus(ast_operator(c->el->ast, e, kid))) signs[i / 32] |= 1u << (i % 32);
  }
  compile_emit(c, CODE_SUM, count, at, ast_span(c->el->ast, e));
}

/* A sum with a record is computed term by term; numbers before the record are added first. false: no term is a record. */
static bool sum_overloaded(Compiler *c, struct Task *task, Type type, AstOperator operation, Span span) {
  uint32_t kid = task->kid - 1, count = ast_kid_count(c->el->ast, task->e);
  Type joined;
  if (task->type.base != TYPE_RECORD && type.base != TYPE_RECORD) return false;
  if (task->part > 1) {
    uint32_t slot = compile_local(c, 0, type, span);
    compile_emit(c, CODE_BIND, 0, slot, span);
    emit_sum(c, task->e, kid - 1, task->part, task->subscript == 0);
    compile_emit(c, CODE_LOCAL, 0, slot, span);
    task->part = 1;
    task->subscript = 1;
  }
  if (!overload_binary(c, is_minus(operation) ? "-" : "+", is_each(operation), task->type, type, span, &joined))
    return false;
  task = task_top(c);
  task->type = joined;
  task->part = 1;
  task->subscript = 1;
  if (task->kid == count) task_done(c, joined);
  else enter_kid(c, type_nothing());
  return true;
}

/* A run of + and - becomes one sum; .+ and .- are computed one at a time. task->part: kids on the stack that are not yet added. */
static void sum_step(Compiler *c) {
  struct Task *task = task_top(c);
  const Ast *ast = c->el->ast;
  uint32_t count = ast_kid_count(ast, task->e);
  if (task->kid > 0) {
    uint32_t kid = task->kid - 1;
    AstOperator operation = ast_operator(ast, task->e, kid);
    Type type = pop_type(c);
    Span span = ast_span(ast, ast_kid(ast, task->e, kid));
    Type overloaded;
    if (kid == 0 && is_minus(operation) && overload_unary(c, "-", type, span, &overloaded)) {
      task = task_top(c);
      type = overloaded;
      task->subscript = 1;
    } else if (kid == 0 && is_minus(operation) && !type_is_number(type)) {
      compile_error(c, span, "operator `-` needs a number, this is %s", type_text(c->el, type));
      type = type_nothing();
    }
    if (kid > 0 && sum_overloaded(c, task, type, operation, span)) return;
    task->type = kid == 0 ? type : sum_type(c, task->type, type, operation, span);
    task->part++;
    if (kid > 0 && is_each(operation)) {
      compile_emit(c, is_minus(operation) ? CODE_SUBTRACT_EACH : CODE_ADD_EACH, 0, 0, ast_span(ast, task->e));
      task->part = 1;
      task->subscript = 1; /* the stack holds a sum whose sign is already applied */
    }
  }
  bool ends = task->kid == count || is_each(ast_operator(ast, task->e, task->kid)) || task->part == SUM_LIMIT;
  bool is_first = task->subscript == 0;
  if (task->kid > 0 && ends &&
      (task->part > 1 || (is_first && task->part == 1 && task->kid == 1 && is_minus(ast_operator(ast, task->e, 0))))) {
    emit_sum(c, task->e, task->kid - 1, task->part, is_first);
    task->part = 1;
    task->subscript = 1;
  }
  if (task->kid == count) task_done(c, task->type);
  else enter_kid(c, type_nothing());
}

static Type product_type(Compiler *c, Type a, Type b, AstOperator operation, Span span) {
  if (a.base == TYPE_NOTHING || b.base == TYPE_NOTHING) return type_nothing();
  Type type = a.base == TYPE_REAL ? a : b;
  uint32_t da = a.dimensions, db = b.dimensions;
  bool fits = type_is_number(a) && type_is_number(b);
  if (is_each(operation)) fits = fits && (da == db || da == 0 || db == 0);
  else if (operation == AST_DIVIDE) fits = fits && db == 0;
  else fits = fits && (da == 0 || db == 0 || (da <= 2 && db <= 2));
  if (!fits) {
    static const char *const texts[] = {
        [AST_MULTIPLY] = "*", [AST_DIVIDE] = "/", [AST_ELEMENT_MULTIPLY] = ".*", [AST_ELEMENT_DIVIDE] = "./"};
    compile_error(c, span, "operator `%s` cannot combine %s and %s", texts[operation], type_text(c->el, a),
                  type_text(c->el, b));
    return type_nothing();
  }
  type.dimensions = (uint8_t)(da > db ? da : db);
  if (operation == AST_MULTIPLY && da && db) type.dimensions = (uint8_t)(da + db - 2);
  if (operation == AST_DIVIDE || operation == AST_ELEMENT_DIVIDE) type.base = TYPE_REAL;
  return type;
}

static void product_step(Compiler *c) {
  struct Task *task = task_top(c);
  const Ast *ast = c->el->ast;
  if (task->kid > 0) {
    AstOperator operation = ast_operator(ast, task->e, task->kid - 1);
    Type type = pop_type(c);
    Span span = ast_span(ast, task->e);
    bool is_product = operation == AST_MULTIPLY || operation == AST_ELEMENT_MULTIPLY;
    Type joined;
    bool is_overloaded = task->kid > 1 && overload_binary(c, is_product ? "*" : "/", is_each(operation), task->type,
                                                          type, span, &joined);
    task = task_top(c);
    if (is_overloaded) task->type = joined;
    else task->type = task->kid == 1 ? type : product_type(c, task->type, type, operation, span);
    if (task->kid > 1 && !is_overloaded)
      compile_emit(c, is_product ? CODE_MULTIPLY : CODE_DIVIDE, is_each(operation), 0, span);
  }
  if (task->kid < ast_kid_count(ast, task->e)) enter_kid(c, type_nothing());
  else task_done(c, task->type);
}

static Type power_type(Compiler *c, Type a, Type b, bool each, Span span) {
  if (a.base == TYPE_NOTHING || b.base == TYPE_NOTHING) return type_nothing();
  bool fits = type_is_number(a) && type_is_number(b);
  if (each) fits = fits && (a.dimensions == b.dimensions || a.dimensions == 0 || b.dimensions == 0);
  else fits = fits && b.dimensions == 0 && (a.dimensions == 0 || (a.dimensions == 2 && b.base == TYPE_INTEGER));
  if (!fits)
    return compile_error(c, span, "operator `^` cannot combine %s and %s", type_text(c->el, a), type_text(c->el, b)),
           type_nothing();
  Type type = type_scalar(TYPE_REAL);
  type.dimensions = a.dimensions ? a.dimensions : b.dimensions;
  return type;
}

static void power_step(Compiler *c) {
  struct Task *task = task_top(c);
  if (task->kid < 2) {
    enter_kid(c, type_nothing());
    return;
  }
  const AstNode *node = ast_node(c->el->ast, task->e);
  Type b = pop_type(c), a = pop_type(c);
  bool each = node->operation == AST_ELEMENT_RAISE;
  Type joined;
  if (overload_binary(c, "^", each, a, b, node->span, &joined)) {
    task_done(c, joined);
    return;
  }
  compile_emit(c, CODE_POWER, each, 0, node->span);
  task_done(c, power_type(c, a, b, each, node->span));
}

/* ---- logic ---- */

static Type logic_type(Compiler *c, Type type, const char *name, Span span) {
  if (type.base == TYPE_BOOLEAN || type.base == TYPE_NOTHING) return type;
  compile_error(c, span, "operator `%s` needs a Boolean, this is %s", name, type_text(c->el, type));
  return type_nothing();
}

static void not_step(Compiler *c) {
  struct Task *task = task_top(c);
  if (task->kid == 0) {
    enter_kid(c, type_scalar(TYPE_BOOLEAN));
    return;
  }
  Span span = ast_span(c->el->ast, task->e);
  Type type = pop_type(c), overloaded;
  if (overload_unary(c, "not", type, span, &overloaded)) {
    task_done(c, overloaded);
    return;
  }
  compile_emit(c, CODE_APPLY, 1, OP_NOT, span);
  task_done(c, logic_type(c, type, "not", span));
}

/* Joins the operands so far and the next one, both on top of the stack, by an operator function of their record. */
static bool join_records(Compiler *c, struct Task *task, Type next, bool is_and) {
  Type joined;
  if (task->kid > 1 && task->type.base != TYPE_RECORD) return false;
  if (task->kid == 1 && next.base != TYPE_RECORD) return false;
  if (task->kid > 1 &&
      !overload_binary(c, is_and ? "and" : "or", false, task->type, next, ast_span(c->el->ast, task->e), &joined))
    return false;
  task->type = task->kid > 1 ? joined : next;
  return true;
}

/* a and b: a, skip if false, b, and. A skipped operand need not be defined. If they are records, both are evaluated. */
static void junction_step(Compiler *c, bool is_and) {
  struct Task *task = task_top(c);
  const Ast *ast = c->el->ast;
  Heap *heap = c->el->heap;
  if (task->kid == 0) task->height = c->patches.count;
  Type next = task->kid > 0 ? pop_type(c) : type_nothing();
  if (task->kid > 0 && !join_records(c, task, next, is_and)) {
    AstExpr kid = ast_kid(ast, task->e, task->kid - 1);
    Type type = logic_type(c, next, is_and ? "and" : "or", ast_span(ast, kid));
    if (task->kid > 1) {
      compile_emit(c, CODE_APPLY, 2, is_and ? OP_AND : OP_OR, ast_span(ast, task->e));
      if (type.base != TYPE_NOTHING && task->type.base != TYPE_NOTHING && type.dimensions != task->type.dimensions) {
        compile_error(c, ast_span(ast, task->e), "operator `%s` cannot combine %s and %s", is_and ? "and" : "or",
                      type_text(c->el, task->type), type_text(c->el, type));
        type = type_nothing();
      }
    }
    task->type = type;
  }
  if (task->kid < ast_kid_count(ast, task->e)) {
    if (task->kid > 0 && task->type.base != TYPE_RECORD) {
      vec_push(heap, &c->patches, c->routine->code.count);
      compile_emit(c, is_and ? CODE_SKIP_FALSE : CODE_SKIP_TRUE, 0, 0, ast_span(ast, task->e));
    }
    enter_kid(c, type_scalar(TYPE_BOOLEAN));
    return;
  }
  while (c->patches.count > task->height) patch_here(c, vec_pop(&c->patches));
  task_done(c, task->type);
}

static void relation_step(Compiler *c) {
  struct Task *task = task_top(c);
  if (task->kid < 2) {
    enter_kid(c, type_nothing());
    return;
  }
  static const uint16_t ops[] = {[AST_LESS] = OP_LESS,       [AST_LESS_EQUAL] = OP_LESS_EQUAL,
                                 [AST_GREATER] = OP_GREATER, [AST_GREATER_EQUAL] = OP_GREATER_EQUAL,
                                 [AST_EQUAL] = OP_EQUAL,     [AST_NOT_EQUAL] = OP_NOT_EQUAL};
  const AstNode *node = ast_node(c->el->ast, task->e);
  Op op = (Op)ops[node->operation];
  Type b = pop_type(c), a = pop_type(c), type = type_scalar(TYPE_BOOLEAN);
  Type joined;
  if (overload_binary(c, op_name(op), false, a, b, node->span, &joined)) {
    task_done(c, joined);
    return;
  }
  bool fits = type_join(c->el, a, b).base != TYPE_NOTHING || a.base == TYPE_NOTHING;
  fits = fits && a.dimensions == 0 && b.dimensions == 0 && a.base != TYPE_RECORD && a.base != TYPE_EXTERNAL_OBJECT;
  if (!fits && a.base != TYPE_NOTHING && b.base != TYPE_NOTHING) {
    compile_error(c, node->span, "operator `%s` cannot compare %s and %s", op_name(op), type_text(c->el, a),
                  type_text(c->el, b));
    type = type_nothing();
  }
  compile_emit(c, CODE_COMPARE, op, 0, node->span);
  task_done(c, type);
}

/* ---- ranges and arrays ---- */

static void range_step(Compiler *c) {
  struct Task *task = task_top(c);
  uint32_t count = ast_kid_count(c->el->ast, task->e);
  if (task->kid > 0) {
    Type type = pop_type(c);
    Span span = ast_span(c->el->ast, ast_kid(c->el->ast, task->e, task->kid - 1));
    bool fits = type.dimensions == 0 && type.base != TYPE_RECORD && type.base != TYPE_STRING &&
                type.base != TYPE_EXTERNAL_OBJECT;
    Type joined = task->kid == 1 ? type : type_join(c->el, task->type, type);
    if (type.base != TYPE_NOTHING && (!fits || joined.base == TYPE_NOTHING))
      compile_error(c, span, "a bound of a range is %s", type_text(c->el, type));
    else task->type = joined;
  }
  if (task->kid < count) {
    enter_kid(c, type_nothing());
    return;
  }
  if (count == 3 && (task->type.base == TYPE_ENUMERATION || task->type.base == TYPE_BOOLEAN))
    compile_error(c, ast_span(c->el->ast, task->e), "a range of %s has no step", type_text(c->el, task->type));
  compile_emit(c, CODE_RANGE, count == 3, 0, ast_span(c->el->ast, task->e));
  Type type = task->type;
  type.dimensions = 1;
  task_done(c, type);
}

/* Joins the type of the kid compiled last with those of the kids before. */
static void collect_type(Compiler *c, struct Task *task) {
  Type type = pop_type(c), joined = task->kid == 1 ? type : type_join(c->el, task->type, type);
  if (task->kid > 1 && joined.base == TYPE_NOTHING && task->type.base != TYPE_NOTHING && type.base != TYPE_NOTHING)
    compile_error(c, ast_span(c->el->ast, ast_kid(c->el->ast, task->e, task->kid - 1)),
                  "elements of an array differ in type: %s and %s", type_text(c->el, task->type),
                  type_text(c->el, type));
  task->type = joined;
}

static void array_step(Compiler *c) {
  struct Task *task = task_top(c);
  uint32_t count = ast_kid_count(c->el->ast, task->e);
  Span span = ast_span(c->el->ast, task->e);
  if (task->kid > 0) collect_type(c, task);
  if (task->kid < count) {
    Type expected = task->expected;
    if (expected.dimensions) expected.dimensions--;
    enter_kid(c, expected);
    return;
  }
  if (count == 0) compile_error(c, span, "an array {} needs elements; use fill or zeros for an empty one");
  compile_emit(c, CODE_ARRAY, 0, count, span);
  Type type = count ? task->type : type_nothing();
  if (type.base != TYPE_NOTHING && ++type.dimensions > TYPE_MAX_DIMENSIONS) {
    compile_error(c, span, "more than %d dimensions", TYPE_MAX_DIMENSIONS);
    type = type_nothing();
  }
  task_done(c, type);
}

/* [a, b; c, d]: a row joins along the second dimension, the matrix along the first. */
static void matrix_step(Compiler *c, bool is_row) {
  struct Task *task = task_top(c);
  uint32_t count = ast_kid_count(c->el->ast, task->e);
  Span span = ast_span(c->el->ast, task->e);
  if (task->kid > 0) {
    Type type = pop_type(c);
    uint8_t dimensions = type.dimensions > 2 ? type.dimensions : 2;
    Type joined = type;
    joined.dimensions = dimensions;
    if (task->kid > 1 && type.base != TYPE_NOTHING && task->type.base != TYPE_NOTHING) {
      if (task->type.dimensions > dimensions) dimensions = task->type.dimensions;
      joined.dimensions = task->type.dimensions = dimensions;
      joined = type_join(c->el, task->type, joined);
      if (joined.base == TYPE_NOTHING)
        compile_error(c, span, "elements of a matrix differ in type: %s and %s", type_text(c->el, task->type),
                      type_text(c->el, type));
    }
    if (type.base == TYPE_RECORD) {
      compile_error(c, span, "not supported yet: a matrix of records");
      joined = type_nothing();
    }
    task->type = joined;
  }
  if (task->kid < count) {
    enter_kid(c, type_nothing());
    return;
  }
  if (count == 0) compile_error(c, span, "a matrix [] needs elements; use fill or zeros for an empty one");
  compile_emit(c, CODE_MATRIX, is_row ? 1 : 0, count, span);
  task_done(c, count ? task->type : type_nothing());
}

/* ---- if ---- */

static bool condition_is_evaluated(Compiler *c, AstExpr e) {
  const Ast *ast = c->el->ast;
  for (AstExpr i = ast_first(ast, e); i <= e; i++) {
    if (ast_kind(ast, i) == AST_CALL && ast_path_is(ast, ast_path(ast, i), "initial")) return false;
    if (ast_kind(ast, i) != AST_REFERENCE) continue;
    Place place = place_find(c, ast_path(ast, i));
    if (place.kind == PLACE_CONSTANT || place.kind == PLACE_LITERAL) continue;
    if (place.kind != PLACE_GLOBAL || !c->el->components.data[place.index].is_evaluated) return false;
  }
  return true;
}

int condition_now(Compiler *c, AstExpr e) {
  if (c->is_function || c->depth >= CONDITION_DEPTH || !condition_is_evaluated(c, e)) return -1;
  Elaboration *el = c->el;
  c->is_decided = true;
  Routine routine = {0};
  Compiler inner = compiler_make(el, &routine, &el->quiet, c->scope);
  inner.depth = c->depth + 1;
  for (uint32_t i = 0; i < c->names.count; i++)
    if (c->names.data[i].slot == NONE) vec_push(el->heap, &inner.names, c->names.data[i]);
  Type type = compile_expression(&inner, e, type_scalar(TYPE_BOOLEAN));
  double truth = -1;
  int result = -1;
  bool marked = el->marks_structural;
  el->marks_structural = true;
  if (inner.errors == 0 && type.base == TYPE_BOOLEAN && type.dimensions == 0 &&
      run_code(el, &routine, LOAD_VALUES, &el->quiet) == EXECUTE_OK &&
      dag_is_constant(el->dag, value_exprs(machine_result(el->machine, 0))[0], &truth))
    result = truth != 0;
  el->marks_structural = marked;
  compiler_free(&inner);
  routine_free(el->heap, &routine);
  return result;
}

static void join_branch(Compiler *c, struct Task *task) {
  Type type = pop_type(c), joined = type_join(c->el, task->type, type);
  if (joined.base == TYPE_NOTHING && task->type.base != TYPE_NOTHING && type.base != TYPE_NOTHING)
    compile_error(c, ast_span(c->el->ast, ast_kid(c->el->ast, task->e, task->kid - 1)),
                  "the branches of an if differ in type: %s and %s", type_text(c->el, task->type),
                  type_text(c->el, type));
  else if (joined.base != TYPE_NOTHING) task->type = joined;
}

/* Kids: condition, value, condition, value, ..., value. A condition that is already known chooses its branch before any name in the
 * other branches is looked up. task->part: number of open IF_VALUE. task->height: patches below this height belong to other
 * expressions. */
static void if_step(Compiler *c) {
  struct Task *task = task_top(c);
  const Ast *ast = c->el->ast;
  Heap *heap = c->el->heap;
  uint32_t last = ast_kid_count(ast, task->e) - 1;
  Span span = ast_span(ast, task->e);
  if (!task->is_started) {
    task->is_started = true;
    task->height = c->patches.count;
  } else if (task->kid > last) {
    join_branch(c, task);
    for (; task->part; task->part--) {
      patch_here(c, vec_pop(&c->patches));
      compile_emit(c, CODE_END_VALUE, 0, 0, span);
    }
    task_done(c, task->type);
    return;
  } else if (task->kid % 2 == 1) { /* a condition was compiled */
    Type type = pop_type(c);
    compile_expect(c, type_scalar(TYPE_BOOLEAN), type, ast_span(ast, ast_kid(ast, task->e, task->kid - 1)),
                   "the condition");
    vec_push(heap, &c->patches, c->routine->code.count);
    compile_emit(c, CODE_IF_VALUE, 0, 0, span);
    task->part++;
    enter_kid(c, task->expected);
    return;
  } else { /* a value */
    join_branch(c, task);
    uint32_t position = vec_pop(&c->patches);
    patch_here(c, position);
    vec_push(heap, &c->patches, c->routine->code.count);
    compile_emit(c, CODE_ELSE_VALUE, 0, 0, span);
  }
  while (task->kid < last) {
    int known = condition_now(c, ast_kid(ast, task->e, task->kid));
    task = task_top(c);
    if (known < 0) break;
    if (known == 0) {
      task->kid += 2;
      continue;
    }
    /* This value ends the chain, and later ones are ignored. */
    AstExpr value = ast_kid(ast, task->e, task->kid + 1);
    task->kid = last + 1;
    task_push(c, value, task->expected, task->scope);
    return;
  }
  if (task->kid == last) enter_kid(c, task->expected);
  else enter_kid(c, type_scalar(TYPE_BOOLEAN));
}

/* ---- parts of values ---- */

Type type_all(void) { return (Type){.base = TYPE_NOTHING, .dimensions = 255}; }
static bool type_is_all(Type type) { return type.base == TYPE_NOTHING && type.dimensions == 255; }

Type index_type(Compiler *c, Type array, uint32_t count, Span span) {
  uint32_t kept = array.dimensions > count ? array.dimensions - count : 0;
  bool is_open = array.base == TYPE_NOTHING;
  for (uint32_t i = 0; i < count; i++) {
    Type type = pop_type(c);
    if (type_is_all(type)) kept++;
    else if (type.base == TYPE_NOTHING) is_open = true;
    else if (type.dimensions > 1 ||
             (type.base != TYPE_INTEGER && type.base != TYPE_BOOLEAN && type.base != TYPE_ENUMERATION)) {
      compile_error(c, span, "a subscript is %s, expected an Integer", type_text(c->el, type));
      is_open = true;
    } else kept += type.dimensions;
  }
  if (is_open) return type_nothing();
  if (count > array.dimensions)
    return compile_error(c, span, "%u subscripts for %s", count, type_text(c->el, array)), type_nothing();
  array.dimensions = (uint8_t)kept;
  return array;
}

Type field_type(Compiler *c, Type record, Name name, Span span, uint32_t *field) {
  *field = 0;
  if (record.base == TYPE_NOTHING) return record;
  if (record.base != TYPE_RECORD)
    return compile_error(c, span, "%s has no fields, so no `.%s`", type_text(c->el, record),
                         names_text(c->el->names, name)),
           type_nothing();
  const Record *definition = &c->el->model->records.data[record.definition];
  for (uint32_t i = 0; i < definition->fields.count; i++)
    if (definition->fields.data[i].name == name) {
      Type type = definition->fields.data[i].type;
      *field = i;
      type.dimensions = (uint8_t)(type.dimensions + record.dimensions);
      return type;
    }
  compile_error(c, span, "record `%s` has no field `%s`", type_text(c->el, record), names_text(c->el->names, name));
  return type_nothing();
}

static void subscript_step(Compiler *c) {
  struct Task *task = task_top(c);
  uint32_t count = ast_kid_count(c->el->ast, task->e);
  if (task->kid < count) {
    enter_kid(c, type_nothing());
    return;
  }
  Span span = ast_span(c->el->ast, task->e);
  Type array = c->types.data[c->types.count - count];
  Type type = index_type(c, array, count - 1, span);
  pop_type(c);
  compile_emit(c, CODE_INDEX, 0, count - 1, span);
  task_done(c, type);
}

static void field_step(Compiler *c) {
  struct Task *task = task_top(c);
  if (task->kid == 0) {
    enter_kid(c, type_nothing());
    return;
  }
  const AstNode *node = ast_node(c->el->ast, task->e);
  uint32_t field;
  Type type = field_type(c, pop_type(c), node->value.text, node->span, &field);
  compile_emit(c, CODE_FIELD, 0, field, node->span);
  task_done(c, type);
}

/* ---- the loop ---- */

static void refuse_step(Compiler *c, const char *message) {
  Span span = ast_span(c->el->ast, task_top(c)->e);
  compile_error(c, span, "%s", message);
  emit_constant(c, TYPE_REAL, 0, span);
  task_done(c, type_nothing());
}

static void colon_step(Compiler *c) {
  compile_emit(c, CODE_ALL, 0, 0, ast_span(c->el->ast, task_top(c)->e));
  task_done(c, type_all());
}

static void step(Compiler *c) {
  switch (ast_kind(c->el->ast, task_top(c)->e)) {
  case AST_REAL:
  case AST_INTEGER:
  case AST_STRING:
  case AST_BOOLEAN: literal_step(c); return;
  case AST_REFERENCE: reference_step(c); return;
  case AST_END: end_step(c); return;
  case AST_COLON: colon_step(c); return;
  case AST_OMITTED: refuse_step(c, "an expression is missing here"); return;
  case AST_CALL: call_step(c); return;
  case AST_PARTIAL: partial_step(c); return;
  case AST_ITERATION: iteration_step(c); return;
  case AST_SUM: sum_step(c); return;
  case AST_PRODUCT: product_step(c); return;
  case AST_POWER: power_step(c); return;
  case AST_NOT: not_step(c); return;
  case AST_AND: junction_step(c, true); return;
  case AST_OR: junction_step(c, false); return;
  case AST_RELATION: relation_step(c); return;
  case AST_RANGE: range_step(c); return;
  case AST_IF: if_step(c); return;
  case AST_ARRAY: array_step(c); return;
  case AST_MATRIX: matrix_step(c, false); return;
  case AST_ROW: matrix_step(c, true); return;
  case AST_TUPLE: refuse_step(c, "a list (a, b) is only allowed on the left of an equation or assignment"); return;
  case AST_SUBSCRIPT: subscript_step(c); return;
  case AST_FIELD: field_step(c); return;
  }
}

static void run_tasks(Compiler *c, uint32_t base) {
  while (c->tasks.count > base) step(c);
}

Type compile_expression(Compiler *c, AstExpr e, Type expected) {
  uint32_t base = c->tasks.count;
  task_push(c, e, expected, c->scope);
  run_tasks(c, base);
  Type type = vec_last(&c->types);
  if (type_is_all(type)) {
    compile_error(c, ast_span(c->el->ast, e), "`:` is allowed only in subscripts");
    vec_last(&c->types) = type = type_nothing();
  }
  return type;
}

uint32_t compile_call_outputs(Compiler *c, AstExpr e, uint32_t wanted) {
  uint32_t base = c->tasks.count, height = c->types.count;
  task_push(c, e, type_nothing(), c->scope);
  task_top(c)->wanted = wanted;
  run_tasks(c, base);
  return c->types.count - height;
}

/* ---- discrete values ---- */

/* With --strict: a function of continuous arguments has no discrete value (Modelica 3.6, section 3.8.3). */
void discrete_check(Compiler *c, Type type, AstExpr e) {
  static const char *const discrete[] = {"pre",   "edge", "change",  "sample", "initial", "terminal",
                                         "floor", "ceil", "integer", "div",    "size",    "previous"};
  Elaboration *el = c->el;
  if (!el->model->is_strict || el->when || type.base == TYPE_REAL || type.base >= TYPE_RECORD) return;
  AstExpr first = ast_first(el->ast, e);
  bool *is_continuous = heap_array(el->heap, e - first + 1, sizeof *is_continuous);
  for (AstExpr i = first; i <= e; i++) {
    AstKind kind = ast_kind(el->ast, i);
    bool any = false;
    for (uint32_t k = 0; k < ast_kid_count(el->ast, i); k++) any |= is_continuous[ast_kid(el->ast, i, k) - first];
    if (kind == AST_REFERENCE) {
      Place place = place_find(c, ast_path(el->ast, i));
      const Component *component = place.kind == PLACE_GLOBAL ? &el->components.data[place.index] : NULL;
      any = component ? component->variability == VARIABILITY_CONTINUOUS && component->type.base == TYPE_REAL
                      : ast_path_is(el->ast, ast_path(el->ast, i), "time");
    }
    if (kind == AST_CALL && any) {
      AstPath path = ast_path(el->ast, i);
      const ClassEntry *entry = class_find(el, c->scope, path);
      if (entry && entry->role == ROLE_CLASS_FUNCTION)
        compile_error(c, ast_span(el->ast, i), "`%s` is called with continuous arguments: its value is not discrete",
                      ast_path_text(el->ast, path, &el->arena));
      for (size_t k = 0; k < sizeof discrete / sizeof *discrete; k++) any &= !ast_path_is(el->ast, path, discrete[k]);
    }
    is_continuous[i - first] = any && kind != AST_RELATION;
  }
  heap_free_all(el->heap, is_continuous);
}
