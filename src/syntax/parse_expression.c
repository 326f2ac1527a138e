/* parse_expression: parses expressions by operator precedence with explicit stacks, so that nesting costs only memory.
 *
 * Invariant: between two steps there is a frame for every open construct (a bracket, a call, a sum that may continue), and an
 * operand for every finished expression that waits for its frame. A node is added when its frame is reduced, after all its kids:
 * this is the post-order that ast.h promises. */
#include "syntax/deduce.h"

/* Frames in increasing precedence. Those up to FRAME_IF are brackets, which only their own end reduces. */
typedef enum FrameKind {
  FRAME_ROOT,
  FRAME_PAREN,
  FRAME_CALL,
  FRAME_PARTIAL,
  FRAME_ARRAY,
  FRAME_ITERATION,
  FRAME_MATRIX,
  FRAME_REFERENCE, /* subscripts of a part of a reference */
  FRAME_SUBSCRIPT, /* subscripts of another expression */
  FRAME_IF,
  FRAME_RANGE,
  FRAME_OR,
  FRAME_AND,
  FRAME_NOT,
  FRAME_RELATION,
  FRAME_SUM,
  FRAME_PRODUCT,
  FRAME_SIGN, /* a sign inside an operation, as in a * -b */
  FRAME_POWER,
} FrameKind;

typedef enum IfStage { IF_CONDITION, IF_VALUE, IF_OTHERWISE } IfStage;

/* The kind of the next token that is expected. */
typedef enum NextToken { STEP_OPERAND, STEP_OPERATOR, STEP_DONE, STEP_FAILED } NextToken;

/* ---- nodes ---- */

/* Adds a node whose kids are the operands above `base`, and makes it an operand. */
static AstNode *emit(Parser *parser, AstKind kind, uint32_t begin, uint32_t base) {
  Ast *ast = parser->ast;
  uint32_t count = parser->operands.count - base;
  AstNode node = {.kind = (uint8_t)kind, .kids = ast->kids.count, .kid_count = count, .first = ast->nodes.count};
  node.span = (Span){begin, parser->previous_end};
  if (count) node.first = ast->nodes.data[parser->operands.data[base].node].first;
  AstExpr *kids = vec_extend(parser->heap, &ast->kids, count);
  for (uint32_t i = 0; i < count; i++) kids[i] = parser->operands.data[base + i].node;
  parser->operands.count = base;
  vec_push(parser->heap, &parser->operands, (Operand){ast->nodes.count, begin});
  vec_push(parser->heap, &ast->nodes, node);
  return &vec_last(&ast->nodes);
}

/* Adds a node without kids for the present token, and reads the token. */
static AstNode *emit_leaf(Parser *parser, AstKind kind) {
  uint32_t begin = parser->token.span.begin;
  parser_advance(parser);
  return emit(parser, kind, begin, parser->operands.count);
}

/* Adds a node for an empty place before the present token. */
static void emit_omitted(Parser *parser) {
  uint32_t at = parser->token.span.begin;
  emit(parser, AST_OMITTED, at, parser->operands.count)->span = (Span){at, at + 1};
}

/* Moves the elements of a parser's list above `base` to the tree's list of the same name, and stores their first index there and
 * their number. */
#define KEEP(parser, list, base, begins, number)                                    \
  do {                                                                              \
    (begins) = (parser)->ast->list.count, (number) = (parser)->list.count - (base); \
    for (uint32_t i = (base); i < (parser)->list.count; i++)                        \
      vec_push((parser)->heap, &(parser)->ast->list, (parser)->list.data[i]);       \
    (parser)->list.count = (base);                                                  \
  } while (0)

/* ---- frames ---- */

static ExpressionFrame *push_frame(Parser *parser, FrameKind kind, uint32_t begin, uint32_t operands) {
  ExpressionFrame frame = {.kind = (uint8_t)kind, .begin = begin, .opening = parser->token.span.begin};
  frame.operands = frame.mark = operands;
  frame.labels = parser->labels.count;
  frame.scratch = kind >= FRAME_IF ? parser->operators.count : parser->parts.count;
  if (kind == FRAME_REFERENCE || kind == FRAME_SUBSCRIPT) parser->subscript_depth++;
  vec_push(parser->heap, &parser->frames, frame);
  return &vec_last(&parser->frames);
}

/* Makes a node from the operation on top. */
static void reduce(Parser *parser) {
  static const uint8_t kinds[] = {
      [FRAME_RANGE] = AST_RANGE,       [FRAME_OR] = AST_OR,   [FRAME_AND] = AST_AND,         [FRAME_NOT] = AST_NOT,
      [FRAME_RELATION] = AST_RELATION, [FRAME_SUM] = AST_SUM, [FRAME_PRODUCT] = AST_PRODUCT, [FRAME_SIGN] = AST_SUM,
      [FRAME_POWER] = AST_POWER,
  };
  ExpressionFrame frame = vec_pop(&parser->frames);
  AstNode *node = emit(parser, (AstKind)kinds[frame.kind], frame.begin, frame.operands);
  node->operation = frame.operation;
  if (node->kind == AST_SUM || node->kind == AST_PRODUCT)
    KEEP(parser, operators, frame.scratch, node->extra, node->extra_count);
}

/* Reduces the operations on top that bind tighter than `kind`. */
static ExpressionFrame *reduce_above(Parser *parser, FrameKind kind) {
  while (vec_last(&parser->frames).kind > kind) reduce(parser);
  return &vec_last(&parser->frames);
}

/* Reports an unclosed bracket at the token that was found instead. */
static NextToken unclosed(Parser *parser, const ExpressionFrame *frame, const char *expected) {
  Span opening = {frame->opening, frame->opening + 1};
  uint32_t errors = parser->diags->list.count;
  parser_unexpected(parser, "expected %s", expected);
  if (parser->diags->list.count > errors)
    diag_note(parser->diags, &vec_last(&parser->diags->list), opening, "to match this");
  return STEP_FAILED;
}

/* ---- references and calls ---- */

/* No model has components nested this deep, and every prefix of a name is looked up. */
enum { PART_LIMIT = 300 };

static void push_part(Parser *parser) {
  vec_push(parser->heap, &parser->parts, (AstPart){.name = parser->token.name, .quoted = parser->token.quoted});
  parser_advance(parser);
}

/* function-call-args = "(" [ function-arguments ] ")"; the function's name is in the parts above frame.scratch. */
static NextToken open_call(Parser *parser, ExpressionFrame frame, FrameKind kind) {
  for (uint32_t i = frame.scratch; i < parser->parts.count; i++)
    if (parser->parts.data[i].subscripts)
      return parser_refuse(parser, "a function's name has no subscripts"), STEP_FAILED;
  ExpressionFrame *call = push_frame(parser, kind, frame.begin, frame.operands);
  call->scratch = frame.scratch;
  call->global = frame.global;
  parser_advance(parser);
  return STEP_OPERAND;
}

/* Records that the open class uses the time. */
static void note_time(Parser *parser, const AstNode *node) {
  const AstPart *part = &parser->ast->parts.data[node->extra];
  if (part->name == parser->time && !part->quoted && parser->classes.count)
    vec_last(&parser->classes).time = node->span;
}

/* component-reference = [ "." ] IDENT [ array-subscripts ] { "." IDENT [ array-subscripts ] }, continued after a part or its
 * subscripts. */
static NextToken continue_reference(Parser *parser, ExpressionFrame frame) {
  while (parser->token.kind == TOKEN_DOT) {
    parser_advance(parser);
    if (parser->token.kind != TOKEN_IDENTIFIER)
      return parser_unexpected(parser, "expected a name after `.`"), STEP_FAILED;
    push_part(parser);
    if (parser->parts.count - frame.scratch > PART_LIMIT) {
      diag_error(parser->diags, DIAG_LIMIT, parser->token.span, "a name has more than %d parts", PART_LIMIT);
      return STEP_FAILED;
    }
    if (parser->token.kind == TOKEN_LEFT_BRACKET) break;
  }
  if (parser->token.kind == TOKEN_LEFT_PAREN) return open_call(parser, frame, FRAME_CALL);
  if (parser->token.kind == TOKEN_LEFT_BRACKET && !vec_last(&parser->parts).subscripts) {
    ExpressionFrame *subscripts = push_frame(parser, FRAME_REFERENCE, frame.begin, frame.operands);
    subscripts->scratch = frame.scratch;
    subscripts->global = frame.global;
    subscripts->mark = parser->operands.count;
    parser_advance(parser);
    return STEP_OPERAND;
  }
  AstNode *node = emit(parser, AST_REFERENCE, frame.begin, frame.operands);
  node->global = frame.global;
  KEEP(parser, parts, frame.scratch, node->extra, node->extra_count);
  if (node->extra_count == 1 && !node->global) note_time(parser, node);
  parser->is_closed = false;
  return STEP_OPERATOR;
}

static NextToken begin_reference(Parser *parser) {
  ExpressionFrame frame = {.begin = parser->token.span.begin, .operands = parser->operands.count};
  frame.scratch = parser->parts.count;
  frame.global = parser_accept(parser, TOKEN_DOT);
  if (parser->token.kind != TOKEN_IDENTIFIER)
    return parser_unexpected(parser, "expected a name after `.`"), STEP_FAILED;
  push_part(parser);
  return continue_reference(parser, frame);
}

/* primary = ... | ( "der" | "initial" | "pure" ) function-call-args; the words are reserved, so they only occur in calls. */
static NextToken begin_keyword_call(Parser *parser) {
  ExpressionFrame frame = {.begin = parser->token.span.begin, .operands = parser->operands.count};
  frame.scratch = parser->parts.count;
  push_part(parser);
  if (parser->token.kind == TOKEN_LEFT_PAREN) return open_call(parser, frame, FRAME_CALL);
  parser_unexpected(parser, "expected `(` after `%s`", names_text(parser->ast->names, vec_last(&parser->parts).name));
  return STEP_FAILED;
}

/* function-partial-application = "function" type-specifier "(" [ named-arguments ] ")" */
static NextToken begin_partial(Parser *parser) {
  ExpressionFrame frame = {.begin = parser->token.span.begin, .operands = parser->operands.count};
  frame.scratch = parser->parts.count;
  parser_advance(parser);
  frame.global = parser_accept(parser, TOKEN_DOT);
  do {
    if (parser->token.kind != TOKEN_IDENTIFIER)
      return parser_unexpected(parser, "expected the name of a function after `function`"), STEP_FAILED;
    push_part(parser);
  } while (parser_accept(parser, TOKEN_DOT));
  if (parser->token.kind == TOKEN_LEFT_PAREN) return open_call(parser, frame, FRAME_PARTIAL);
  parser_unexpected(parser, "expected `(` after the function's name");
  return STEP_FAILED;
}

/* named-argument = IDENT "=" function-argument: reads the label at the start of an argument. */
static bool begin_argument(Parser *parser, const ExpressionFrame *call) {
  if (parser->token.kind == TOKEN_IDENTIFIER && parser_peek(parser) == TOKEN_EQUALS) {
    vec_push(parser->heap, &parser->labels, (AstLabel){parser->token.name, parser->token.span});
    parser_advance(parser);
    parser_advance(parser);
    return true;
  }
  if (parser->labels.count > call->labels)
    return parser_unexpected(parser, "expected a named argument (positional arguments come before named ones)");
  if (call->kind == FRAME_PARTIAL) return parser_unexpected(parser, "expected a named argument, name = value");
  return true;
}

static NextToken end_call(Parser *parser) {
  ExpressionFrame frame = vec_pop(&parser->frames);
  parser_advance(parser);
  AstKind kind = frame.kind == FRAME_CALL ? AST_CALL : frame.kind == FRAME_ITERATION ? AST_ITERATION : AST_PARTIAL;
  AstNode *node = emit(parser, kind, frame.begin, frame.operands);
  node->global = frame.global;
  KEEP(parser, parts, frame.scratch, node->extra, node->extra_count);
  KEEP(parser, labels, frame.labels, node->value.labels.first, node->value.labels.count);
  parser->is_closed = true;
  return STEP_OPERATOR;
}

/* ---- operands ---- */

/* if-expression = "if" expression "then" expression { "elseif" ... } "else" expression */
static NextToken begin_if(Parser *parser) {
  if (vec_last(&parser->frames).kind > FRAME_IF)
    return parser_refuse(parser, "an if-expression inside an operation needs parentheses"), STEP_FAILED;
  push_frame(parser, FRAME_IF, parser->token.span.begin, parser->operands.count)->stage = IF_CONDITION;
  parser_advance(parser);
  return STEP_OPERAND;
}

/* logical-factor = [ "not" ] relation */
static NextToken begin_not(Parser *parser) {
  if (vec_last(&parser->frames).kind > FRAME_NOT)
    return parser_refuse(parser, "`not` inside a comparison or sum needs parentheses"), STEP_FAILED;
  push_frame(parser, FRAME_NOT, parser->token.span.begin, parser->operands.count);
  parser_advance(parser);
  return STEP_OPERAND;
}

/* arithmetic-expression = [ add-operator ] term { add-operator term }. A sign elsewhere (a * -b) is not in the standard's grammar,
 * but has only one meaning. */
static NextToken begin_sign(Parser *parser, AstOperator sign) {
  FrameKind kind = vec_last(&parser->frames).kind < FRAME_SUM ? FRAME_SUM : FRAME_SIGN;
  push_frame(parser, kind, parser->token.span.begin, parser->operands.count);
  vec_push(parser->heap, &parser->operators, (uint8_t)sign);
  parser_advance(parser);
  return STEP_OPERAND;
}

static NextToken begin_bracket(Parser *parser, FrameKind kind) {
  push_frame(parser, kind, parser->token.span.begin, parser->operands.count);
  parser_advance(parser);
  return STEP_OPERAND;
}

static NextToken close_bracket(Parser *parser);

/* An argument, element or subscript may begin with something other than an expression: nothing, a colon, a label. */
static bool begin_item(Parser *parser, NextToken *step) {
  ExpressionFrame *top = &vec_last(&parser->frames);
  TokenKind kind = parser->token.kind;
  bool is_first = parser->operands.count == top->operands;
  *step = STEP_OPERATOR;
  switch ((FrameKind)top->kind) {
  case FRAME_PAREN:
    if (kind != TOKEN_COMMA && kind != TOKEN_RIGHT_PAREN) return false;
    if (kind == TOKEN_RIGHT_PAREN && is_first) *step = close_bracket(parser);
    else emit_omitted(parser);
    return true;
  case FRAME_ARRAY:
    if (kind != TOKEN_RIGHT_BRACE || !is_first) return false;
    *step = close_bracket(parser);
    return true;
  case FRAME_CALL:
  case FRAME_PARTIAL:
    if (kind == TOKEN_RIGHT_PAREN && is_first) {
      *step = end_call(parser);
      return true;
    }
    if (begin_argument(parser, top)) return false;
    *step = STEP_FAILED;
    return true;
  case FRAME_REFERENCE:
  case FRAME_SUBSCRIPT:
    if (kind != TOKEN_COLON) return false;
    emit_leaf(parser, AST_COLON);
    if (parser->token.kind == TOKEN_COMMA || parser->token.kind == TOKEN_RIGHT_BRACKET) return true;
    *step = unclosed(parser, top, "`,` or `]` after `:`");
    return true;
  default: return false;
  }
}

static NextToken read_leaf(Parser *parser, AstKind kind) {
  Token token = parser->token;
  AstNode *node = emit_leaf(parser, kind);
  if (kind == AST_REAL) node->value.real = token.real;
  else if (kind == AST_INTEGER) node->value.integer = token.integer;
  else if (kind == AST_STRING) node->value.text = token.name;
  else node->value.integer = token.kind == TOKEN_TRUE;
  parser->is_closed = false;
  return STEP_OPERATOR;
}

static NextToken read_end(Parser *parser) {
  if (!parser->subscript_depth) return parser_refuse(parser, "`end` is a value only inside subscripts"), STEP_FAILED;
  return read_leaf(parser, AST_END);
}

/* primary = UNSIGNED-NUMBER | STRING | "false" | "true" | component-reference [ function-call-args ] |
 *   ( "der" | "initial" | "pure" ) function-call-args | "(" output-expression-list ")" | "[" expression-list
 * { ";" expression-list } "]" |
 *   "{" array-arguments "}" | "end", with the signs, `not` and `if` that may stand before one. */
static NextToken read_operand(Parser *parser) {
  NextToken step;
  if (begin_item(parser, &step)) return step;
  switch (parser->token.kind) {
  case TOKEN_REAL: return read_leaf(parser, AST_REAL);
  case TOKEN_INTEGER: return read_leaf(parser, AST_INTEGER);
  case TOKEN_STRING: return read_leaf(parser, AST_STRING);
  case TOKEN_TRUE:
  case TOKEN_FALSE: return read_leaf(parser, AST_BOOLEAN);
  case TOKEN_IDENTIFIER:
  case TOKEN_DOT: return begin_reference(parser);
  case TOKEN_DER:
  case TOKEN_INITIAL:
  case TOKEN_PURE: return begin_keyword_call(parser);
  case TOKEN_FUNCTION: return begin_partial(parser);
  case TOKEN_LEFT_PAREN: return begin_bracket(parser, FRAME_PAREN);
  case TOKEN_LEFT_BRACE: return begin_bracket(parser, FRAME_ARRAY);
  case TOKEN_LEFT_BRACKET: return begin_bracket(parser, FRAME_MATRIX);
  case TOKEN_PLUS: return begin_sign(parser, AST_ADD);
  case TOKEN_MINUS: return begin_sign(parser, AST_SUBTRACT);
  case TOKEN_DOT_PLUS: return begin_sign(parser, AST_ELEMENT_ADD);
  case TOKEN_DOT_MINUS: return begin_sign(parser, AST_ELEMENT_SUBTRACT);
  case TOKEN_NOT: return begin_not(parser);
  case TOKEN_IF: return begin_if(parser);
  case TOKEN_END: return read_end(parser);
  default: parser_unexpected(parser, "expected an expression"); return STEP_FAILED;
  }
}

/* ---- operators ---- */

typedef struct BinaryRule {
  uint8_t frame; /* 0: no binary operator */
  uint8_t operation;
} BinaryRule;

static const BinaryRule binary_rules[TOKEN_COUNT] = {
    [TOKEN_COLON] = {FRAME_RANGE, 0},
    [TOKEN_OR] = {FRAME_OR, 0},
    [TOKEN_AND] = {FRAME_AND, 0},
    [TOKEN_LESS] = {FRAME_RELATION, AST_LESS},
    [TOKEN_LESS_EQUAL] = {FRAME_RELATION, AST_LESS_EQUAL},
    [TOKEN_GREATER] = {FRAME_RELATION, AST_GREATER},
    [TOKEN_GREATER_EQUAL] = {FRAME_RELATION, AST_GREATER_EQUAL},
    [TOKEN_EQUAL_EQUAL] = {FRAME_RELATION, AST_EQUAL},
    [TOKEN_NOT_EQUAL] = {FRAME_RELATION, AST_NOT_EQUAL},
    [TOKEN_PLUS] = {FRAME_SUM, AST_ADD},
    [TOKEN_MINUS] = {FRAME_SUM, AST_SUBTRACT},
    [TOKEN_DOT_PLUS] = {FRAME_SUM, AST_ELEMENT_ADD},
    [TOKEN_DOT_MINUS] = {FRAME_SUM, AST_ELEMENT_SUBTRACT},
    [TOKEN_STAR] = {FRAME_PRODUCT, AST_MULTIPLY},
    [TOKEN_SLASH] = {FRAME_PRODUCT, AST_DIVIDE},
    [TOKEN_DOT_STAR] = {FRAME_PRODUCT, AST_ELEMENT_MULTIPLY},
    [TOKEN_DOT_SLASH] = {FRAME_PRODUCT, AST_ELEMENT_DIVIDE},
    [TOKEN_CARET] = {FRAME_POWER, AST_RAISE},
    [TOKEN_DOT_CARET] = {FRAME_POWER, AST_ELEMENT_RAISE},
};

/* Reports operations that cannot be chained: a < b < c, a ^ b ^ c, a : b : c : d. */
static bool check_chain(Parser *parser, const ExpressionFrame *top) {
  if (top->kind == FRAME_RELATION) return parser_refuse(parser, "comparisons do not chain: write a < b and b < c");
  if (top->kind == FRAME_POWER) return parser_refuse(parser, "powers do not chain: write (a ^ b) ^ c or a ^ (b ^ c)");
  if (top->kind == FRAME_RANGE && parser->operands.count - top->operands == 3)
    return parser_refuse(parser, "a range has at most three parts, start : step : stop");
  return true;
}

/* simple-expression = logical-expression [ ":" logical-expression [ ":" logical-expression ] ] logical-expression =
 * logical-term { "or" logical-term } logical-term = logical-factor { "and" logical-factor } relation =
 * arithmetic-expression [ relational-operator arithmetic-expression ] term = factor { mul-operator factor } factor =
 * primary [ ("^" | ".^") primary ] */
static NextToken read_binary(Parser *parser, BinaryRule rule) {
  ExpressionFrame *top = reduce_above(parser, (FrameKind)rule.frame);
  bool is_list = rule.frame == FRAME_SUM || rule.frame == FRAME_PRODUCT;
  if (top->kind == rule.frame) {
    if (!check_chain(parser, top)) return STEP_FAILED;
  } else {
    Operand first = vec_last(&parser->operands);
    ExpressionFrame *frame = push_frame(parser, (FrameKind)rule.frame, first.begin, parser->operands.count - 1);
    frame->operation = is_list ? 0 : rule.operation;
    if (is_list) vec_push(parser->heap, &parser->operators, rule.frame == FRAME_SUM ? AST_ADD : AST_MULTIPLY);
  }
  if (is_list) vec_push(parser->heap, &parser->operators, rule.operation);
  parser_advance(parser);
  return STEP_OPERAND;
}

/* primary = ... ( array-subscripts | "." IDENT ) after a closing bracket. */
static NextToken read_postfix(Parser *parser) {
  Operand base = vec_last(&parser->operands);
  uint32_t operands = parser->operands.count - 1;
  if (parser->token.kind == TOKEN_LEFT_BRACKET) {
    push_frame(parser, FRAME_SUBSCRIPT, base.begin, operands);
    parser_advance(parser);
    return STEP_OPERAND;
  }
  parser_advance(parser);
  if (parser->token.kind != TOKEN_IDENTIFIER)
    return parser_unexpected(parser, "expected a name after `.`"), STEP_FAILED;
  Name name = parser->token.name;
  parser_advance(parser);
  emit(parser, AST_FIELD, base.begin, operands)->value.text = name;
  return STEP_OPERATOR;
}

/* ---- the ends of brackets ---- */

/* for-index = IDENT [ "in" expression ]; "for" or "," has been read. */
static NextToken read_iterator(Parser *parser) {
  AstLabel label;
  if (!parse_label(parser, &label, "the name of an iterator")) return STEP_FAILED;
  vec_push(parser->heap, &parser->labels, label);
  if (parser_accept(parser, TOKEN_IN)) return STEP_OPERAND;
  AstExpr e = parser->operands.data[vec_last(&parser->frames).operands].node;
  AstExpr range = deduce_range(parser, label, ast_first(parser->ast, e), e + 1);
  if (range == AST_NONE) return STEP_FAILED;
  vec_push(parser->heap, &parser->operands, (Operand){range, label.span.begin});
  return STEP_OPERATOR;
}

/* function-arguments = expression "for" for-indices, and array-arguments likewise. */
static NextToken begin_iteration(Parser *parser) {
  ExpressionFrame *top = &vec_last(&parser->frames);
  if (parser->operands.count != top->operands + 1 || parser->labels.count != top->labels)
    return parser_refuse(parser, "an expression with `for` must be the only one in its brackets"), STEP_FAILED;
  top->stage = top->kind;
  if (top->kind == FRAME_ARRAY) {
    Name name = names_add(parser->ast->names, "array", 5);
    vec_push(parser->heap, &parser->parts, (AstPart){.name = name});
  }
  top->kind = FRAME_ITERATION;
  parser_advance(parser);
  return read_iterator(parser);
}

/* "(" output-expression-list ")" or "{" array-arguments "}". */
static NextToken close_bracket(Parser *parser) {
  ExpressionFrame frame = vec_pop(&parser->frames);
  uint32_t count = parser->operands.count - frame.operands;
  parser_advance(parser);
  parser->is_closed = true;
  if (frame.kind == FRAME_ARRAY) emit(parser, AST_ARRAY, frame.begin, frame.operands);
  else if (count == 1 && ast_kind(parser->ast, vec_last(&parser->operands).node) != AST_OMITTED)
    vec_last(&parser->operands).begin = frame.begin;
  else emit(parser, AST_TUPLE, frame.begin, frame.operands);
  return STEP_OPERATOR;
}

/* Ends a row of a matrix. */
static void end_row(Parser *parser, ExpressionFrame *frame) {
  emit(parser, AST_ROW, parser->operands.data[frame->mark].begin, frame->mark);
  frame->mark = parser->operands.count;
}

static NextToken close_matrix(Parser *parser) {
  ExpressionFrame frame = vec_pop(&parser->frames);
  parser_advance(parser);
  emit(parser, AST_MATRIX, frame.begin, frame.operands);
  parser->is_closed = true;
  return STEP_OPERATOR;
}

static NextToken close_subscripts(Parser *parser) {
  ExpressionFrame frame = vec_pop(&parser->frames);
  parser->subscript_depth--;
  parser_advance(parser);
  if (frame.kind == FRAME_REFERENCE) {
    vec_last(&parser->parts).subscripts = (parser->operands.count - frame.mark) & INT32_MAX;
    return continue_reference(parser, frame);
  }
  emit(parser, AST_SUBSCRIPT, frame.begin, frame.operands);
  parser->is_closed = true;
  return STEP_OPERATOR;
}

static NextToken advance_to(Parser *parser, NextToken step) {
  parser_advance(parser);
  return step;
}

static NextToken continue_if(Parser *parser, ExpressionFrame *frame) {
  TokenKind kind = parser->token.kind;
  if (frame->stage == IF_CONDITION) {
    frame->stage = IF_VALUE;
    if (kind == TOKEN_THEN) return advance_to(parser, STEP_OPERAND);
    return unclosed(parser, frame, kind == TOKEN_EQUALS ? "`then` (equality is written `==`)" : "`then`");
  }
  if (frame->stage == IF_VALUE) {
    frame->stage = kind == TOKEN_ELSE ? IF_OTHERWISE : IF_CONDITION;
    if (kind == TOKEN_ELSE || kind == TOKEN_ELSEIF) return advance_to(parser, STEP_OPERAND);
    return unclosed(parser, frame, "`else` (an if-expression has a value in every case)");
  }
  ExpressionFrame done = vec_pop(&parser->frames);
  emit(parser, AST_IF, done.begin, done.operands);
  parser->is_closed = false;
  return STEP_OPERATOR;
}

/* After an expression that no operator continues, the enclosing bracket decides. */
static NextToken end_expression(Parser *parser) {
  ExpressionFrame *top = reduce_above(parser, FRAME_IF);
  TokenKind kind = parser->token.kind;
  switch ((FrameKind)top->kind) {
  case FRAME_ROOT: return STEP_DONE;
  case FRAME_IF: return continue_if(parser, top);
  case FRAME_PAREN:
    if (kind == TOKEN_COMMA) return advance_to(parser, STEP_OPERAND);
    return kind == TOKEN_RIGHT_PAREN ? close_bracket(parser) : unclosed(parser, top, "`)`");
  case FRAME_CALL:
  case FRAME_PARTIAL:
    if (kind == TOKEN_FOR && top->kind == FRAME_CALL) return begin_iteration(parser);
    if (kind == TOKEN_COMMA) return advance_to(parser, STEP_OPERAND);
    return kind == TOKEN_RIGHT_PAREN ? end_call(parser) : unclosed(parser, top, "`,` or `)`");
  case FRAME_ARRAY:
    if (kind == TOKEN_FOR) return begin_iteration(parser);
    if (kind == TOKEN_COMMA) return advance_to(parser, STEP_OPERAND);
    return kind == TOKEN_RIGHT_BRACE ? close_bracket(parser) : unclosed(parser, top, "`,` or `}`");
  case FRAME_ITERATION:
    if (kind == TOKEN_COMMA) return parser_advance(parser), read_iterator(parser);
    if (kind == (top->stage == FRAME_ARRAY ? TOKEN_RIGHT_BRACE : TOKEN_RIGHT_PAREN)) return end_call(parser);
    return unclosed(parser, top, top->stage == FRAME_ARRAY ? "`,` or `}`" : "`,` or `)`");
  case FRAME_MATRIX:
    if (kind == TOKEN_COMMA) return advance_to(parser, STEP_OPERAND);
    if (kind != TOKEN_SEMICOLON && kind != TOKEN_RIGHT_BRACKET) return unclosed(parser, top, "`,`, `;` or `]`");
    end_row(parser, top);
    return kind == TOKEN_SEMICOLON ? advance_to(parser, STEP_OPERAND) : close_matrix(parser);
  default:
    if (kind == TOKEN_COMMA) return advance_to(parser, STEP_OPERAND);
    return kind == TOKEN_RIGHT_BRACKET ? close_subscripts(parser) : unclosed(parser, top, "`,` or `]`");
  }
}

static NextToken read_operator(Parser *parser) {
  TokenKind kind = parser->token.kind;
  if (binary_rules[kind].frame) return read_binary(parser, binary_rules[kind]);
  if (parser->is_closed && (kind == TOKEN_LEFT_BRACKET || kind == TOKEN_DOT)) return read_postfix(parser);
  if (kind == TOKEN_LEFT_BRACKET && ast_kind(parser->ast, vec_last(&parser->operands).node) == AST_REFERENCE)
    return parser_refuse(parser, "the subscripts of a name are written in one list: x[i, j]"), STEP_FAILED;
  return end_expression(parser);
}

/* expression = simple-expression | if-expression */
AstExpr parse_expression(Parser *parser) {
  parser->operands.count = parser->frames.count = parser->operators.count = 0;
  parser->parts.count = parser->labels.count = parser->subscript_depth = 0;
  parser->is_closed = false;
  push_frame(parser, FRAME_ROOT, parser->token.span.begin, 0);
  NextToken step = STEP_OPERAND;
  while (step == STEP_OPERAND || step == STEP_OPERATOR)
    step = step == STEP_OPERAND ? read_operand(parser) : read_operator(parser);
  return step == STEP_DONE ? parser->operands.data[0].node : AST_NONE;
}

/* array-subscripts = "[" subscript { "," subscript } "]", subscript = ":" | expression */
bool parse_dimensions(Parser *parser, AstExprs *dimensions) {
  *dimensions = (AstExprs){0};
  if (!parser_accept(parser, TOKEN_LEFT_BRACKET)) return true;
  parser->list.count = 0;
  do {
    AstExpr e = AST_NONE;
    if (parser->token.kind == TOKEN_COLON) {
      parser->operands.count = 0;
      emit_leaf(parser, AST_COLON);
      e = parser->operands.data[0].node;
    } else {
      e = parse_expression(parser);
    }
    if (e == AST_NONE) return false;
    vec_push(parser->heap, &parser->list, e);
  } while (parser_accept(parser, TOKEN_COMMA));
  parser_take(parser, dimensions, &parser->list, 0);
  return parser_expect(parser, TOKEN_RIGHT_BRACKET, "after the dimensions");
}
