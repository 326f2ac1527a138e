/* parse_modification: modifications, annotations, prefixes, and the parts that redeclarations and classes have in common.
 *
 * Invariant: a nested modification is a separate frame on the stack; the argument of the top frame is the one being read. */
#include "syntax/parser_state.h"
#include "syntax/restrict.h"

/* ---- prefixes and short classes ---- */

static uint32_t prefix_bit(Parser *parser) {
  switch (parser->token.kind) {
  case TOKEN_FINAL: return PREFIX_FINAL;
  case TOKEN_INNER: return PREFIX_INNER;
  case TOKEN_OUTER: return PREFIX_OUTER;
  case TOKEN_REDECLARE: return PREFIX_REDECLARE;
  case TOKEN_REPLACEABLE: return PREFIX_REPLACEABLE;
  case TOKEN_FLOW: return PREFIX_FLOW;
  case TOKEN_STREAM: return PREFIX_STREAM;
  case TOKEN_DISCRETE: return PREFIX_DISCRETE;
  case TOKEN_PARAMETER: return PREFIX_PARAMETER;
  case TOKEN_CONSTANT: return PREFIX_CONSTANT;
  case TOKEN_INPUT: return PREFIX_INPUT;
  case TOKEN_OUTPUT: return PREFIX_OUTPUT;
  case TOKEN_ENCAPSULATED: return PREFIX_ENCAPSULATED;
  case TOKEN_PARTIAL: return PREFIX_PARTIAL;
  case TOKEN_PURE: return PREFIX_PURE;
  case TOKEN_IMPURE: return PREFIX_IMPURE;
  case TOKEN_EXPANDABLE: return PREFIX_EXPANDABLE;
  case TOKEN_OPERATOR: {
    TokenKind next = parser_peek(parser);
    return next == TOKEN_RECORD || next == TOKEN_FUNCTION ? PREFIX_OPERATOR : 0;
  }
  default: return 0;
  }
}

/* class-prefixes, type-prefix, base-prefix, and "final", "redeclare", "inner" ... before them. Whether they can be combined is
 * checked later. */
uint32_t parse_prefixes(Parser *parser) {
  uint32_t prefixes = 0;
  for (uint32_t bit; (bit = prefix_bit(parser)); parser_advance(parser)) {
    if (prefixes & bit)
      parser_error(parser, parser->token.span, "%s is written twice", token_kind_text(parser->token.kind));
    prefixes |= bit;
  }
  return prefixes;
}

bool parse_class_kind(Parser *parser, AstClass *definition) {
  switch (parser->token.kind) {
  case TOKEN_CLASS: definition->kind = CLASS_CLASS; break;
  case TOKEN_MODEL: definition->kind = CLASS_MODEL; break;
  case TOKEN_BLOCK: definition->kind = CLASS_BLOCK; break;
  case TOKEN_RECORD: definition->kind = CLASS_RECORD; break;
  case TOKEN_TYPE: definition->kind = CLASS_TYPE; break;
  case TOKEN_CONNECTOR: definition->kind = CLASS_CONNECTOR; break;
  case TOKEN_PACKAGE: definition->kind = CLASS_PACKAGE; break;
  case TOKEN_FUNCTION: definition->kind = CLASS_FUNCTION; break;
  case TOKEN_OPERATOR: definition->kind = CLASS_OPERATOR; break;
  default: return false;
  }
  parser_advance(parser);
  return true;
}

/* short-class-specifier = IDENT "=" base-prefix type-specifier [ array-subscripts ] ... */
bool parse_short_head(Parser *parser, AstClass *definition) {
  definition->form = FORM_SHORT;
  definition->base_prefixes = parse_prefixes(parser);
  return parse_path(parser, &definition->base.name) && parse_dimensions(parser, &definition->base.dimensions);
}

/* Reads the optional comment after a constraining clause; its text is not kept. */
static bool read_constraint_comment(Parser *parser, AstExtends *constraint) {
  Name comment;
  return parse_comment(parser, &comment) && parse_annotation(parser, &constraint->annotation);
}

/* constraining-clause = "constrainedby" type-specifier [ class-modification ] comment */
bool parse_constraint(Parser *parser, AstExtends **constraint) {
  if (!parser_accept(parser, TOKEN_CONSTRAINEDBY)) return true;
  *constraint = arena_alloc(&parser->ast->arena, sizeof **constraint);
  if (!parse_path(parser, &(*constraint)->name)) return false;
  if (parser->token.kind == TOKEN_LEFT_PAREN && !((*constraint)->modification = parse_class_modification(parser)))
    return false;
  return read_constraint_comment(parser, *constraint);
}

/* ---- modifications ---- */

static AstModification *new_modification(Parser *parser, uint32_t begin) {
  AstModification *modification = arena_alloc(&parser->ast->arena, sizeof *modification);
  modification->value = AST_NONE;
  modification->span = (Span){begin, parser->previous_end};
  return modification;
}

/* [ ("=" | ":=") expression ], added to the modification in parentheses before it. */
static bool read_value(Parser *parser, AstModification **modification) {
  uint32_t begin = parser->token.span.begin;
  if (parser->token.kind != TOKEN_ASSIGN && parser->token.kind != TOKEN_EQUALS) return true;
  parser_advance(parser);
  bool is_break = parser_accept(parser, TOKEN_BREAK);
  AstExpr value = is_break ? AST_NONE : parse_expression(parser);
  if (value == AST_NONE && !is_break) return false;
  if (!*modification) *modification = new_modification(parser, begin);
  (*modification)->value = value;
  (*modification)->is_break = is_break;
  (*modification)->span.end = parser->previous_end;
  return true;
}

static void open_modification(Parser *parser) {
  ModificationFrame frame = {.arguments = parser->arguments.count, .begin = parser->token.span.begin};
  vec_push(parser->heap, &parser->modifications, frame);
  parser_advance(parser);
}

static AstModification *close_modification(Parser *parser) {
  ModificationFrame frame = vec_pop(&parser->modifications);
  parser_advance(parser);
  AstModification *modification = new_modification(parser, frame.begin);
  parser_take(parser, &modification->arguments, &parser->arguments, frame.arguments);
  if (modification->arguments.count > 1 && !parser->in_annotation) restrict_modification(parser, modification);
  return modification;
}

/* enumeration "(" ( ":" | enumeration-literal { "," enumeration-literal } ) ")", literal = IDENT comment */
bool parse_enumeration(Parser *parser, AstClass *definition) {
  definition->form = FORM_ENUMERATION;
  parser_advance(parser);
  if (!parser_expect(parser, TOKEN_LEFT_PAREN, "after `enumeration`")) return false;
  definition->is_open = parser_accept(parser, TOKEN_COLON);
  VEC(AstLiteral) literals = {0};
  bool ok = true;
  bool more = !definition->is_open && parser->token.kind != TOKEN_RIGHT_PAREN;
  while (ok && more) {
    AstLiteral literal = {0};
    AstModification *annotation;
    ok = parse_label(parser, &literal.label, "the name of a literal") && parse_comment(parser, &literal.comment) &&
         parse_annotation(parser, &annotation);
    vec_push(parser->heap, &literals, literal);
    more = parser_accept(parser, TOKEN_COMMA);
  }
  parser_take(parser, &definition->literals, &literals, 0);
  vec_free(parser->heap, &literals);
  return ok && parser_expect(parser, TOKEN_RIGHT_PAREN, "after the literals of the enumeration");
}

/* Reads a redeclared component or short class up to its modification, which the caller reads. */
static bool read_redeclared_head(Parser *parser, AstArgument *argument, uint32_t prefixes) {
  Arena *arena = &parser->ast->arena;
  AstElement *element = argument->redeclared = arena_alloc(arena, sizeof *element);
  AstClass *definition = arena_alloc(arena, sizeof *definition);
  *element = (AstElement){.kind = AST_CLASS, .prefixes = prefixes, .class_definition = definition};
  AstLabel *label = &definition->label;
  if (parse_class_kind(parser, definition)) {
    definition->prefixes = prefixes;
    if (!parse_label(parser, label, "the name of the class")) return false;
    if (!parser_expect(parser, TOKEN_EQUALS, "after the redeclared class")) return false;
    bool is_enumeration = parser->token.kind == TOKEN_ENUMERATION;
    if (!(is_enumeration ? parse_enumeration(parser, definition) : parse_short_head(parser, definition))) return false;
  } else {
    AstType *type = arena_alloc(arena, sizeof *type);
    AstComponent *component = arena_alloc(arena, sizeof *component);
    *element = (AstElement){.kind = AST_COMPONENT, .prefixes = prefixes, .component = component};
    component->type = type;
    component->condition = AST_NONE;
    label = &component->label;
    if (!parse_path(parser, &type->name) || !parse_dimensions(parser, &type->dimensions)) return false;
    if (!parse_label(parser, label, "the name of the redeclared component")) return false;
    if (!parse_dimensions(parser, &component->dimensions)) return false;
  }
  argument->name = (AstPath){.first = parser->ast->parts.count, .count = 1, .span = label->span};
  vec_push(parser->heap, &parser->ast->parts, (AstPart){.name = label->name});
  return true;
}

/* "break" ( connect "(" component-reference "," component-reference ")" | IDENT ) */
static bool read_break(Parser *parser, AstArgument *argument) {
  parser_advance(parser);
  argument->is_break = true;
  if (!parser_accept(parser, TOKEN_CONNECT)) return parse_path(parser, &argument->name);
  if (!parser_expect(parser, TOKEN_LEFT_PAREN, "after `connect`")) return false;
  if ((argument->left = parse_expression(parser)) == AST_NONE) return false;
  if (!parser_expect(parser, TOKEN_COMMA, "between the connectors")) return false;
  if ((argument->right = parse_expression(parser)) == AST_NONE) return false;
  return parser_expect(parser, TOKEN_RIGHT_PAREN, "after the connectors");
}

/* argument = [ "redeclare" ] [ "each" ] [ "final" ] ( name | "break" ... | [ "replaceable" ] ( short-class-definition |
 * component-clause1 ) ) */
static bool read_argument_head(Parser *parser) {
  AstArgument *argument = &vec_last(&parser->modifications).argument;
  *argument = (AstArgument){.span = parser->token.span, .left = AST_NONE, .right = AST_NONE};
  uint32_t prefixes = parser_accept(parser, TOKEN_REDECLARE) ? PREFIX_REDECLARE : 0;
  argument->is_each = parser_accept(parser, TOKEN_EACH);
  prefixes |= parse_prefixes(parser);
  argument->is_final = (prefixes & PREFIX_FINAL) != 0;
  if (prefixes & ~(uint32_t)PREFIX_FINAL) return read_redeclared_head(parser, argument, prefixes);
  if (parser->token.kind == TOKEN_BREAK) return read_break(parser, argument);
  return parse_path(parser, &argument->name);
}

/* Stores the modification of a redeclared element in its component or class. */
static void bind_redeclared(AstArgument *argument, AstModification *modification) {
  AstElement *element = argument->redeclared;
  if (element->kind == AST_CLASS) element->class_definition->modification = modification;
  else element->component->modification = modification;
  element->span = argument->span;
}

/* Reads the value and comment of an argument, after its parenthesis. */
static bool read_argument_rest(Parser *parser, AstArgument *argument, AstModification *modification) {
  if (!read_value(parser, &modification) || !parse_comment(parser, &argument->comment)) return false;
  argument->span.end = parser->previous_end;
  if (argument->is_final && !modification) { /* final x, without a modification */
    modification = arena_alloc(&parser->ast->arena, sizeof *modification);
    *modification = (AstModification){.value = AST_NONE, .span = argument->span};
  }
  if (argument->redeclared) bind_redeclared(argument, modification);
  else argument->modification = modification;
  return true;
}

/* Ends the argument of the top frame, after its parenthesis if it has one. A constrainedby after a redeclaration may open another
 * parenthesis. */
static bool end_argument(Parser *parser, AstModification *modification) {
  ModificationFrame *frame = &vec_last(&parser->modifications);
  AstArgument *argument = &frame->argument;
  if (frame->is_constraint) {
    argument->redeclared->constraint->modification = modification;
    frame->is_constraint = false;
    if (!read_constraint_comment(parser, argument->redeclared->constraint)) return false;
  } else {
    if (!read_argument_rest(parser, argument, modification)) return false;
    if (argument->redeclared && parser_accept(parser, TOKEN_CONSTRAINEDBY)) {
      AstExtends *constraint = arena_alloc(&parser->ast->arena, sizeof *constraint);
      argument->redeclared->constraint = constraint;
      if (!parse_path(parser, &constraint->name)) return false;
      frame->is_constraint = parser->token.kind == TOKEN_LEFT_PAREN;
      if (frame->is_constraint) return open_modification(parser), true;
      if (!read_constraint_comment(parser, constraint)) return false;
    }
  }
  vec_push(parser->heap, &parser->arguments, *argument);
  return true;
}

/* class-modification = "(" [ argument { "," argument } ] ")" */
AstModification *parse_class_modification(Parser *parser) {
  parser->modifications.count = parser->arguments.count = 0;
  open_modification(parser);
  bool at_argument = true;
  for (;;) {
    uint32_t depth = parser->modifications.count;
    bool is_empty = parser->arguments.count == vec_last(&parser->modifications).arguments;
    if (parser->token.kind == TOKEN_RIGHT_PAREN && (is_empty || !at_argument)) {
      AstModification *closed = close_modification(parser);
      if (--depth == 0) return closed;
      if (!end_argument(parser, closed)) return NULL;
      at_argument = parser->modifications.count > depth;
    } else if (!at_argument) {
      if (!parser_expect(parser, TOKEN_COMMA, "or `)` in a modification")) return NULL;
      at_argument = true;
    } else {
      if (!read_argument_head(parser)) return NULL;
      if (parser->token.kind == TOKEN_LEFT_PAREN) open_modification(parser);
      else if (!end_argument(parser, NULL)) return NULL;
      at_argument = parser->modifications.count > depth;
    }
  }
}

/* modification = class-modification [ "=" expression ] | ( "=" | ":=" ) expression */
bool parse_modification(Parser *parser, AstModification **modification) {
  *modification = NULL;
  if (parser->token.kind == TOKEN_LEFT_PAREN && !(*modification = parse_class_modification(parser))) return false;
  return read_value(parser, modification);
}

bool parse_annotation(Parser *parser, AstModification **annotation) {
  *annotation = NULL;
  if (!parser_accept(parser, TOKEN_ANNOTATION)) return true;
  if (parser->token.kind != TOKEN_LEFT_PAREN) return parser_unexpected(parser, "expected `(` after `annotation`");
  parser->in_annotation = true;
  *annotation = parse_class_modification(parser);
  parser->in_annotation = false;
  return *annotation != NULL;
}
