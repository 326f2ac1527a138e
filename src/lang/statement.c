/* statement: statements of functions and algorithm sections to code.
 *
 * Invariant: the machine's stack is empty between statements. Every if and loop has the list of slots assigned in it, so that the
 * machine can merge branches. Blocks nest at most BLOCK_DEPTH_LIMIT deep. */
#include "lang/compile.h"

#include <ctype.h>

/* The slots assigned since `from`, each once; they also count as assignments of the enclosing block. */
static uint32_t assigned_list(Compiler *c, uint32_t from) {
  uint32_t kept = from;
  for (uint32_t i = from; i < c->assigned.count; i++) {
    uint32_t slot = c->assigned.data[i], k = from;
    while (k < kept && c->assigned.data[k] != slot) k++;
    if (k == kept) c->assigned.data[kept++] = slot;
  }
  c->assigned.count = kept;
  return compile_list(c, c->assigned.data + from, kept - from);
}

/* ---- assignments and calls ---- */

static void compile_tuple(Compiler *c, const AstStatement *statement) {
  const Ast *ast = c->el->ast;
  uint32_t count = ast_kid_count(ast, statement->left), height = c->types.count;
  if (ast_kind(ast, statement->right) != AST_CALL) {
    compile_error(c, statement->span, "only a function call can give several values");
    return;
  }
  uint32_t outputs = compile_call_outputs(c, statement->right, count);
  for (uint32_t i = outputs; i-- > 0;) {
    Type type = pop_type(c);
    AstExpr target = ast_kid(ast, statement->left, i);
    if (ast_kind(ast, target) == AST_OMITTED) compile_emit(c, CODE_DROP, 1, 0, statement->span);
    else compile_store(c, target, type);
  }
  c->types.count = height;
}

static void compile_assign(Compiler *c, const AstStatement *statement) {
  const Ast *ast = c->el->ast;
  if (ast_kind(ast, statement->left) == AST_TUPLE) {
    compile_tuple(c, statement);
    return;
  }
  uint32_t height = c->types.count;
  Type expected = type_nothing();
  if (ast_kind(ast, statement->left) == AST_REFERENCE && ast_kid_count(ast, statement->left) == 0) {
    Place place = place_find(c, ast_path(ast, statement->left));
    if (place.kind == PLACE_SLOT && place.parts == ast_path(ast, statement->left).count) expected = place.type;
  }
  Type type = compile_expression(c, statement->right, expected);
  compile_store(c, statement->left, type);
  c->types.count = height;
}

/* A message that is not a literal is computed only if the condition fails: `if condition then "" else message`. */
static Type compile_message(Compiler *c, AstExpr condition, AstExpr message, Span span) {
  if (ast_kind(c->el->ast, message) == AST_STRING) return compile_expression(c, message, type_scalar(TYPE_STRING));
  uint32_t height = c->types.count;
  (void)compile_expression(c, condition, type_scalar(TYPE_BOOLEAN));
  c->types.count = height;
  uint32_t at_if = c->routine->code.count;
  compile_emit(c, CODE_IF_VALUE, 0, 0, span);
  compile_emit(c, CODE_STRING, 0, 0, span);
  patch_here(c, at_if);
  uint32_t at_else = c->routine->code.count;
  compile_emit(c, CODE_ELSE_VALUE, 0, 0, span);
  Type type = compile_expression(c, message, type_scalar(TYPE_STRING));
  patch_here(c, at_else);
  compile_emit(c, CODE_END_VALUE, 0, 0, span);
  return type;
}

static void compile_assert(Compiler *c, const AstStatement *statement) {
  const Ast *ast = c->el->ast;
  uint32_t count = ast_kid_count(ast, statement->left), height = c->types.count;
  if (count < 2 || count > 3) {
    compile_error(c, statement->span, "assert needs a condition and a message");
    return;
  }
  Type condition = compile_expression(c, ast_kid(ast, statement->left, 0), type_scalar(TYPE_BOOLEAN));
  compile_expect(c, type_scalar(TYPE_BOOLEAN), condition, statement->span, "the condition");
  Type message =
      compile_message(c, ast_kid(ast, statement->left, 0), ast_kid(ast, statement->left, 1), statement->span);
  compile_expect(c, type_scalar(TYPE_STRING), message, statement->span, "the message");
  if (count == 3) {
    Type level = {.base = TYPE_ENUMERATION, .definition = enumeration_builtin(c->el, true)};
    compile_expect(c, level, compile_expression(c, ast_kid(ast, statement->left, 2), level), statement->span,
                   "the level");
  } else emit_constant(c, TYPE_INTEGER, ASSERTION_ERROR, statement->span);
  compile_emit(c, CODE_ASSERT, 0, 0, statement->span);
  c->types.count = height;
}

static void compile_invoke(Compiler *c, const AstStatement *statement) {
  const Ast *ast = c->el->ast;
  uint32_t height = c->types.count;
  if (ast_kind(ast, statement->left) != AST_CALL) {
    compile_error(c, statement->span, "a call is expected here");
    return;
  }
  AstPath path = ast_path(ast, statement->left);
  if (ast_path_is(ast, path, "assert")) {
    compile_assert(c, statement);
  } else if (ast_path_is(ast, path, "terminate") && ast_kid_count(ast, statement->left) == 1) {
    if (c->is_function) compile_error(c, statement->span, "terminate cannot be used in a function");
    Type message = compile_expression(c, ast_kid(ast, statement->left, 0), type_scalar(TYPE_STRING));
    compile_expect(c, type_scalar(TYPE_STRING), message, statement->span, "the message");
    compile_emit(c, CODE_TERMINATE, 0, 0, statement->span);
  } else if (ast_path_is(ast, path, "reinit") && ast_kid_count(ast, statement->left) == 2) {
    Type target = compile_expression(c, ast_kid(ast, statement->left, 0), type_nothing());
    Type value = compile_expression(c, ast_kid(ast, statement->left, 1), type_nothing());
    compile_expect(c, target, value, statement->span, "the new value");
    compile_emit(c, CODE_REINIT, 0, 0, statement->span);
  } else {
    compile_call_outputs(c, statement->left, 0);
  }
  c->types.count = height;
}

/* ---- blocks ---- */

static void compile_condition(Compiler *c, AstExpr e, bool may_be_vector) {
  Type type = compile_expression(c, e, type_scalar(TYPE_BOOLEAN));
  if (may_be_vector && type.base == TYPE_BOOLEAN && type.dimensions == 1) type.dimensions = 0;
  compile_expect(c, type_scalar(TYPE_BOOLEAN), type, ast_span(c->el->ast, e), "the condition");
  c->types.count--;
}

/* if a ... elseif b ... else ...: each branch is in the else part of the one before. */
static void compile_if(Compiler *c, const AstStatement *statement) {
  Heap *heap = c->el->heap;
  uint32_t from = c->assigned.count, base = c->patches.count;
  bool is_closed = false;
  for (uint32_t i = 0; i < statement->branches.count && !is_closed; i++) {
    const AstBranch *branch = &statement->branches.data[i];
    int known = branch->condition == AST_NONE ? 1 : condition_now(c, branch->condition);
    if (known == 0) continue;
    if (known < 0) {
      compile_condition(c, branch->condition, false);
      vec_push(heap, &c->patches, c->routine->code.count);
      compile_emit(c, CODE_IF, 0, 0, branch->span);
    }
    compile_statements(c, branch->body.data, branch->body.count);
    is_closed = known == 1;
    if (is_closed) break;
    patch_here(c, vec_last(&c->patches));
    vec_last(&c->patches) = c->routine->code.count;
    compile_emit(c, CODE_ELSE, 0, 0, branch->span);
  }
  while (c->patches.count > base) {
    patch_here(c, vec_pop(&c->patches));
    compile_emit(c, CODE_END_IF, 0, assigned_list(c, from), statement->span);
  }
}

static void compile_for(Compiler *c, const AstStatement *statement) {
  Heap *heap = c->el->heap;
  uint32_t from = c->assigned.count, base = c->patches.count, names = c->names.count;
  for (uint32_t i = 0; i < statement->iterators.count; i++) {
    const AstIterator *iterator = &statement->iterators.data[i];
    Type type = compile_range(c, iterator->range);
    pop_type(c);
    if (type.base != TYPE_NOTHING && type.dimensions != 1)
      compile_error(c, iterator->label.span, "an iterator runs over a vector, this is %s", type_text(c->el, type));
    if (type.dimensions) type.dimensions--;
    uint32_t slot = compile_local(c, iterator->label.name, type, iterator->label.span);
    ScopeName entry = {.name = iterator->label.name, .slot = slot, .type = type, .is_iterator = true};
    vec_push(heap, &c->names, entry);
    vec_push(heap, &c->patches, c->routine->code.count);
    compile_emit(c, CODE_FOR, slot, 0, statement->span);
  }
  c->loops++;
  if (statement->branches.count)
    compile_statements(c, statement->branches.data[0].body.data, statement->branches.data[0].body.count);
  c->loops--;
  while (c->patches.count > base) {
    uint32_t begin = vec_pop(&c->patches);
    compile_emit(c, CODE_LOOP, 0, assigned_list(c, from), statement->span);
    patch_here(c, begin);
    compile_emit(c, CODE_END_FOR, 0, begin, statement->span);
  }
  c->names.count = names;
}

static void end_while(Compiler *c, uint32_t from, uint32_t begin, uint32_t test, Span span) {
  c->loops--;
  compile_emit(c, CODE_LOOP, 0, assigned_list(c, from), span);
  patch_here(c, begin);
  patch_here(c, test);
  compile_emit(c, CODE_END_WHILE, 0, begin, span);
}

static void compile_while(Compiler *c, const AstStatement *statement) {
  uint32_t from = c->assigned.count, begin = c->routine->code.count;
  const AstBranch *branch = &statement->branches.data[0];
  compile_emit(c, CODE_WHILE, 0, 0, statement->span);
  compile_condition(c, branch->condition, false);
  uint32_t test = c->routine->code.count;
  compile_emit(c, CODE_WHILE_TEST, 0, 0, statement->span);
  c->loops++;
  compile_statements(c, branch->body.data, branch->body.count);
  end_while(c, from, begin, test, statement->span);
}

static void compile_when(Compiler *c, const AstStatement *statement) {
  Heap *heap = c->el->heap;
  uint32_t from = c->assigned.count, base = c->patches.count;
  if (c->is_function || c->blocks > 1) {
    compile_error(c, statement->span,
                  c->is_function ? "when cannot be used in a function"
                                 : "a when of an algorithm is not allowed in an if, for, while or when");
    return;
  }
  for (uint32_t i = 0; i < statement->branches.count; i++) {
    const AstBranch *branch = &statement->branches.data[i];
    if (i) {
      vec_push(heap, &c->patches, c->routine->code.count);
      compile_emit(c, CODE_ELSE_WHEN, 0, 0, branch->span);
    }
    compile_condition(c, branch->condition, true);
    if (ast_kind(c->el->ast, branch->condition) == AST_CALL &&
        ast_path_is(c->el->ast, ast_path(c->el->ast, branch->condition), "noEvent"))
      compile_error(c, branch->span, "the condition of a when causes events: noEvent() is not allowed around it");
    uint32_t when = c->routine->code.count;
    compile_emit(c, CODE_WHEN, i == 0, 0, branch->span);
    compile_statements(c, branch->body.data, branch->body.count);
    patch_here(c, when);
  }
  while (c->patches.count > base) patch_here(c, vec_pop(&c->patches));
  compile_emit(c, CODE_END_WHEN, 0, assigned_list(c, from), statement->span);
}

static void compile_statement(Compiler *c, const AstStatement *statement) {
  switch (statement->kind) {
  case AST_ASSIGN: compile_assign(c, statement); return;
  case AST_INVOKE: compile_invoke(c, statement); return;
  case AST_IF_BLOCK: compile_if(c, statement); return;
  case AST_FOR_BLOCK: compile_for(c, statement); return;
  case AST_WHILE_BLOCK: compile_while(c, statement); return;
  case AST_WHEN_BLOCK: compile_when(c, statement); return;
  case AST_BREAK:
    if (c->loops == 0) compile_error(c, statement->span, "`break` outside of a loop");
    compile_emit(c, CODE_BREAK, 0, 0, statement->span);
    return;
  case AST_RETURN:
    if (!c->is_function) compile_error(c, statement->span, "`return` outside of a function");
    compile_emit(c, CODE_RETURN, 0, 0, statement->span);
    return;
  case AST_TERM:
  case AST_EQUALITY: compile_error(c, statement->span, "an equation is not allowed in an algorithm; use :="); return;
  case AST_CONNECT: compile_error(c, statement->span, "connect is not allowed in an algorithm"); return;
  }
}

/* ---- loops that a tool has unrolled ---- */

static bool has_stray_break(const AstStatement *statement) {
  if (statement->kind != AST_IF_BLOCK) return statement->kind == AST_BREAK;
  for (uint32_t i = 0; i < statement->branches.count; i++)
    for (uint32_t k = 0; k < statement->branches.data[i].body.count; k++)
      if (has_stray_break(&statement->branches.data[i].body.data[k])) return true;
  return false;
}

/* Are the texts the same except for numbers between [ and ]? */
static bool differ_in_subscripts(const char *text, Span one, Span other) {
  const char *a = text + one.begin, *b = text + other.begin;
  bool in_subscript = false;
  while (a < text + one.end && b < text + other.end) {
    if (in_subscript && isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
      while (isdigit((unsigned char)*a)) a++;
      while (isdigit((unsigned char)*b)) b++;
      continue;
    }
    if (*a != *b) return false;
    if (*a == '[' || *a == ']') in_subscript = *a == '[';
    a++, b++;
  }
  return a == text + one.end && b == text + other.end;
}

/* A Base Modelica file may contain the iterations of a loop instead of the loop; then `break` is outside of a loop. Returns how
 * many statements, from the first on, are iterations of one loop; 0: none. */
static uint32_t count_unrolled(const Compiler *c, const AstStatement *statements, uint32_t count) {
  const Ast *ast = c->el->ast;
  uint32_t run = 1;
  if (c->loops || !ast->main->version || !has_stray_break(&statements[0])) return 0;
  while (run < count && differ_in_subscripts(source_main(ast->source)->text, statements[0].span, statements[run].span))
    run++;
  return run > 1 ? run : 0;
}

/* Compiles the iterations as a loop that runs once. */
static void compile_unrolled(Compiler *c, const AstStatement *statements, uint32_t count) {
  uint32_t from = c->assigned.count, begin = c->routine->code.count;
  Span span = statements[0].span;
  compile_emit(c, CODE_WHILE, 0, 0, span);
  emit_constant(c, TYPE_BOOLEAN, 1, span);
  uint32_t test = c->routine->code.count;
  compile_emit(c, CODE_WHILE_TEST, 0, 0, span);
  c->loops++;
  for (uint32_t i = 0; i < count; i++) compile_statement(c, &statements[i]);
  compile_emit(c, CODE_BREAK, 0, 0, span);
  end_while(c, from, begin, test, span);
}

void compile_statements(Compiler *c, const AstStatement *statements, uint32_t count) {
  if (c->blocks >= BLOCK_DEPTH_LIMIT) {
    if (count) compile_error(c, statements[0].span, "blocks are nested deeper than %d", BLOCK_DEPTH_LIMIT);
    return;
  }
  c->blocks++;
  for (uint32_t i = 0; i < count;) {
    uint32_t unrolled = count_unrolled(c, &statements[i], count - i);
    if (unrolled) compile_unrolled(c, &statements[i], unrolled);
    else compile_statement(c, &statements[i]);
    i += unrolled ? unrolled : 1;
  }
  c->blocks--;
}
