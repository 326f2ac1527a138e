/* parse_statement: equations and statements, which have the same grammar except for = and :=.
 *
 * Invariant: each open block (if, for, when, while) is a frame. The finished statements of its innermost branch are those above its
 * mark on the stack of statements. The end of the block turns the frame into a statement. */
#include "syntax/deduce.h"

/* ---- blocks ---- */

static const char *block_keyword(AstStatementKind kind) {
  switch (kind) {
  case AST_IF_BLOCK: return "if";
  case AST_WHEN_BLOCK: return "when";
  case AST_FOR_BLOCK: return "for";
  default: return "while";
  }
}

static void push_block(Parser *parser, AstStatement statement, AstExpr condition, uint32_t begin) {
  BlockFrame frame = {.statement = statement, .branches = parser->branches.count};
  frame.statements = parser->statements.count;
  frame.nodes = parser->ast->nodes.count;
  frame.branch = (AstBranch){.condition = condition, .span = {begin, parser->previous_end}};
  vec_push(parser->heap, &parser->blocks, frame);
}

/* Ends the branch of the innermost block. */
static void end_branch(Parser *parser) {
  BlockFrame *frame = &vec_last(&parser->blocks);
  parser_take(parser, &frame->branch.body, &parser->statements, frame->statements);
  vec_push(parser->heap, &parser->branches, frame->branch);
}

/* Gives iterators without a range the one that follows from their use in the block. */
static void deduce_ranges(Parser *parser, BlockFrame *frame) {
  AstExpr end = parser->ast->nodes.count;
  for (uint32_t i = 0; i < frame->statement.iterators.count; i++) {
    AstIterator *iterator = &frame->statement.iterators.data[i];
    if (iterator->range == AST_NONE) iterator->range = deduce_range(parser, iterator->label, frame->nodes, end);
  }
}

static AstStatement close_block(Parser *parser) {
  end_branch(parser);
  BlockFrame frame = vec_pop(&parser->blocks);
  parser_take(parser, &frame.statement.branches, &parser->branches, frame.branches);
  deduce_ranges(parser, &frame);
  frame.statement.span.end = parser->previous_end;
  return frame.statement;
}

void parser_abandon_blocks(Parser *parser, uint32_t base) {
  if (parser->blocks.count == base) return;
  const BlockFrame *frame = &vec_last(&parser->blocks);
  const char *keyword = block_keyword(frame->statement.kind);
  Span opening = {frame->statement.span.begin, frame->statement.span.begin + 1};
  Diag *diag = parser_error(parser, parser->token.span, "`end %s;` is missing before this", keyword);
  if (diag) diag_note(parser->diags, diag, opening, "the %s that is not closed", keyword);
  while (parser->blocks.count > base) {
    AstStatement statement = close_block(parser);
    vec_push(parser->heap, &parser->statements, statement);
  }
}

/* After an unreadable head: opens the block anyway; otherwise its end would look wrong. The body begins after `then` or
 * `loop`, a semicolon, or on the next line. */
static void skip_head(Parser *parser) {
  const Source *source = parser->ast->source;
  uint32_t line = source_line(source, parser->token.span.begin);
  while (parser->token.kind != TOKEN_FINISH && parser->token.kind != TOKEN_END) {
    TokenKind kind = parser->token.kind;
    if (source_line(source, parser->token.span.begin) != line) return;
    parser_advance(parser);
    if (kind == TOKEN_THEN || kind == TOKEN_LOOP || kind == TOKEN_SEMICOLON) return;
  }
}

/* ---- heads ---- */

/* "if" expression "then" | "when" expression "then" | "while" expression "loop"; the keyword is the present token. */
static bool read_condition(Parser *parser, AstExpr *condition, TokenKind last) {
  parser_advance(parser);
  *condition = parse_expression(parser);
  if (*condition != AST_NONE && parser->token.kind == TOKEN_EQUALS)
    return parser_unexpected(parser, "expected %s (equality is written `==`)", token_kind_text(last));
  return *condition != AST_NONE && parser_expect(parser, last, "after the condition");
}

static bool begin_condition_block(Parser *parser, AstStatementKind kind) {
  uint32_t begin = parser->token.span.begin;
  AstStatement statement = {.kind = kind, .left = AST_NONE, .right = AST_NONE, .span = parser->token.span};
  AstExpr condition;
  if (!read_condition(parser, &condition, kind == AST_WHILE_BLOCK ? TOKEN_LOOP : TOKEN_THEN)) skip_head(parser);
  push_block(parser, statement, condition, begin);
  return true;
}

/* for-indices = for-index { "," for-index }, for-index = IDENT [ "in" expression ] */
static bool read_iterators(Parser *parser, AstStatement *statement) {
  parser->iterators.count = 0;
  do {
    AstIterator iterator = {.range = AST_NONE};
    if (!parse_label(parser, &iterator.label, "the name of an iterator")) return false;
    if (parser_accept(parser, TOKEN_IN) && (iterator.range = parse_expression(parser)) == AST_NONE) return false;
    vec_push(parser->heap, &parser->iterators, iterator);
  } while (parser_accept(parser, TOKEN_COMMA));
  parser_take(parser, &statement->iterators, &parser->iterators, 0);
  return parser_expect(parser, TOKEN_LOOP, "after the iterators");
}

static bool begin_for(Parser *parser) {
  AstStatement statement = {.kind = AST_FOR_BLOCK, .left = AST_NONE, .right = AST_NONE, .span = parser->token.span};
  parser_advance(parser);
  if (!read_iterators(parser, &statement)) skip_head(parser);
  push_block(parser, statement, AST_NONE, statement.span.begin);
  return true;
}

/* "elseif" expression "then" | "elsewhen" expression "then" | "else" */
static bool begin_branch(Parser *parser) {
  TokenKind kind = parser->token.kind;
  AstStatementKind owner = kind == TOKEN_ELSEWHEN ? AST_WHEN_BLOCK : AST_IF_BLOCK;
  if (!parser->blocks.count || vec_last(&parser->blocks).statement.kind != owner)
    return parser_refuse(parser, "no `%s` is open here", block_keyword(owner));
  BlockFrame *frame = &vec_last(&parser->blocks);
  if (frame->is_otherwise) parser_error(parser, parser->token.span, "no branch follows `else`");
  end_branch(parser);
  AstBranch branch = {.condition = AST_NONE, .span = parser->token.span};
  if (kind == TOKEN_ELSE) parser_advance(parser);
  else if (!read_condition(parser, &branch.condition, TOKEN_THEN)) skip_head(parser);
  branch.span.end = parser->previous_end;
  frame->branch = branch;
  frame->is_otherwise = kind == TOKEN_ELSE;
  return true;
}

/* ---- ends ---- */

/* Reads comment ";" after a statement, and keeps the statement. */
static bool end_statement(Parser *parser, AstStatement statement) {
  bool ok = parse_comment(parser, &statement.comment) && parse_annotation(parser, &statement.annotation);
  vec_push(parser->heap, &parser->statements, statement);
  return ok && parser_semicolon(parser);
}

static AstStatementKind closed_kind(TokenKind keyword) {
  switch (keyword) {
  case TOKEN_IF: return AST_IF_BLOCK;
  case TOKEN_WHEN: return AST_WHEN_BLOCK;
  case TOKEN_FOR: return AST_FOR_BLOCK;
  default: return AST_WHILE_BLOCK;
  }
}

/* "end" ( "if" | "for" | "when" | "while" ) */
static bool end_block(Parser *parser) {
  AstStatementKind kind = closed_kind(parser_peek(parser));
  uint32_t open = parser->blocks.count;
  while (open && parser->blocks.data[open - 1].statement.kind != kind) open--;
  if (!open)
    return parser_refuse(parser, "`end %s` closes nothing: no `%s` is open here", block_keyword(kind),
                         block_keyword(kind));
  parser_abandon_blocks(parser, open);
  parser_advance(parser);
  parser_advance(parser);
  return end_statement(parser, close_block(parser));
}

/* ---- simple statements ---- */

/* connect-equation = "connect" "(" component-reference "," component-reference ")" */
static bool read_connect(Parser *parser) {
  AstStatement statement = {.kind = AST_CONNECT, .span = parser->token.span};
  parser_advance(parser);
  if (!parser_expect(parser, TOKEN_LEFT_PAREN, "after `connect`")) return false;
  if ((statement.left = parse_expression(parser)) == AST_NONE) return false;
  if (!parser_expect(parser, TOKEN_COMMA, "between the two connectors")) return false;
  if ((statement.right = parse_expression(parser)) == AST_NONE) return false;
  if (!parser_expect(parser, TOKEN_RIGHT_PAREN, "after the two connectors")) return false;
  statement.span.end = parser->previous_end;
  return end_statement(parser, statement);
}

static bool read_keyword(Parser *parser, AstStatementKind kind) {
  AstStatement statement = {.kind = kind, .left = AST_NONE, .right = AST_NONE, .span = parser->token.span};
  parser_advance(parser);
  return end_statement(parser, statement);
}

/* Reports a statement without = or := that is not a call. Always returns false. */
static bool misses_operator(Parser *parser, bool is_algorithm) {
  if (parser->token.kind == TOKEN_IDENTIFIER)
    return parser_unexpected(parser,
                             "expected `%s` (declarations come before `equation` and "
                             "`algorithm`, or after `public` or `protected`)",
                             is_algorithm ? ":=" : "=");
  return parser_unexpected(parser, is_algorithm ? "expected `:=` in a statement" : "expected `=` in an equation");
}

/* Does the section contain terms, which are added up, rather than equations or statements? */
static bool holds_terms(const Parser *parser) {
  AstEnergy energy = vec_last(&parser->classes).section.energy;
  return energy == ENERGY_LAGRANGIAN || energy == ENERGY_DISSIPATION || energy == ENERGY_MINIMIZE ||
         energy == ENERGY_MAXIMIZE;
}

/* equation = simple-expression "=" expression | component-reference function-call-args
 * term = expression
 * statement = component-reference ( ":=" expression | function-call-args ) |
 *   "(" output-expression-list ")" ":=" component-reference function-call-args */
static bool read_simple(Parser *parser, bool is_algorithm) {
  AstStatement statement = {.right = AST_NONE, .span = parser->token.span};
  TokenKind wanted = is_algorithm ? TOKEN_ASSIGN : TOKEN_EQUALS;
  if ((statement.left = parse_expression(parser)) == AST_NONE) return false;
  bool is_call = ast_kind(parser->ast, statement.left) == AST_CALL;
  if (holds_terms(parser)) {
    statement.kind = AST_TERM;
    if (parser->token.kind == TOKEN_EQUALS)
      return parser_refuse(parser, "a term of `%s` is an expression, not an equation",
                           ast_energy_words[vec_last(&parser->classes).section.energy]);
  } else if (parser->token.kind == TOKEN_EQUALS || parser->token.kind == TOKEN_ASSIGN) {
    if (parser->token.kind != wanted)
      return parser_refuse(parser, is_algorithm ? "a statement assigns with `:=`" : "an equation is written with `=`");
    parser_advance(parser);
    statement.kind = is_algorithm ? AST_ASSIGN : AST_EQUALITY;
    if ((statement.right = parse_expression(parser)) == AST_NONE) return false;
  } else if (is_call) {
    statement.kind = AST_INVOKE;
  } else {
    return misses_operator(parser, is_algorithm);
  }
  statement.span.end = parser->previous_end;
  return end_statement(parser, statement);
}

bool parse_statement(Parser *parser, bool is_algorithm) {
  TokenKind kind = parser->token.kind;
  if (!is_algorithm && (kind == TOKEN_WHILE || kind == TOKEN_BREAK || kind == TOKEN_RETURN))
    parser_error(parser, parser->token.span, "%s is allowed only in algorithms", token_kind_text(kind));
  if (kind == TOKEN_CONNECT && (is_algorithm || vec_last(&parser->classes).section.is_initial))
    parser_error(parser, parser->token.span, "`connect` is allowed only in equation sections, not in initial ones");
  switch (kind) {
  case TOKEN_IF: return begin_condition_block(parser, AST_IF_BLOCK);
  case TOKEN_WHEN: return begin_condition_block(parser, AST_WHEN_BLOCK);
  case TOKEN_WHILE: return begin_condition_block(parser, AST_WHILE_BLOCK);
  case TOKEN_FOR: return begin_for(parser);
  case TOKEN_ELSE:
  case TOKEN_ELSEIF:
  case TOKEN_ELSEWHEN: return begin_branch(parser);
  case TOKEN_END: return end_block(parser);
  case TOKEN_CONNECT: return read_connect(parser);
  case TOKEN_BREAK: return read_keyword(parser, AST_BREAK);
  case TOKEN_RETURN: return read_keyword(parser, AST_RETURN);
  default: return read_simple(parser, is_algorithm);
  }
}
