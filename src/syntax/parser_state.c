/* parser_state: tokens, errors, recovery, and the small rules that every file of the parser uses. */
#include "syntax/parser_state.h"

#include <ctype.h>
#include <stdarg.h>

/* ---- tokens ---- */

void parser_advance(Parser *parser) {
  parser->previous_end = parser->token.span.end;
  parser->token = parser->has_next ? parser->next : lexer_next(&parser->lexer);
  parser->has_next = false;
}

TokenKind parser_peek(Parser *parser) {
  if (!parser->has_next) parser->next = lexer_next(&parser->lexer);
  parser->has_next = true;
  return parser->next.kind;
}

bool parser_accept(Parser *parser, TokenKind kind) {
  if (parser->token.kind != kind) return false;
  parser_advance(parser);
  return true;
}

/* The present token as messages show it; a long one is cut between characters. */
static const char *found_text(Parser *parser) {
  enum { LONGEST = 40 };
  Token token = parser->token;
  if (token.kind == TOKEN_FINISH) return token_kind_text(token.kind);
  const char *text = source_text(parser->ast->source, token.span.begin);
  uint32_t length = token.span.end - token.span.begin, end = length;
  if (end > LONGEST) end = LONGEST;
  while (end < length && ((unsigned char)text[end] & 0xc0) == 0x80) end--;
  for (uint32_t i = 0; i < end; i++)
    if (text[i] == '\n' || text[i] == '\r') end = i;
  bool is_keyword = token.kind != TOKEN_IDENTIFIER && isalpha((unsigned char)*text);
  return arena_printf(&parser->ast->arena, "%s`%.*s%s`", is_keyword ? "the keyword " : "", (int)end, text,
                      end < length ? "..." : "");
}

Diag *parser_error(Parser *parser, Span span, const char *format, ...) {
  const Source *source = parser->ast->source;
  const Diag *last = parser->diags->list.count > parser->first_diag ? &vec_last(&parser->diags->list) : NULL;
  if (last && source_line(source, last->span.begin) == source_line(source, span.begin)) return NULL;
  if (parser->token.kind == TOKEN_FINISH && parser->lexer.is_truncated) return NULL;
  va_list list;
  va_start(list, format);
  const char *message = arena_vprintf(&parser->ast->arena, format, list);
  va_end(list);
  return diag_error(parser->diags, DIAG_SYNTAX, span, "%s", message);
}

bool parser_unexpected(Parser *parser, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const char *message = arena_vprintf(&parser->ast->arena, format, list);
  va_end(list);
  parser_error(parser, parser->token.span, "%s, found %s", message, found_text(parser));
  return false;
}

bool parser_refuse(Parser *parser, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const char *message = arena_vprintf(&parser->ast->arena, format, list);
  va_end(list);
  parser_error(parser, parser->token.span, "%s", message);
  return false;
}

bool parser_expect(Parser *parser, TokenKind kind, const char *where) {
  if (parser_accept(parser, kind)) return true;
  return parser_unexpected(parser, "expected %s%s%s", token_kind_text(kind), where ? " " : "", where ? where : "");
}

bool parser_semicolon(Parser *parser) {
  if (parser_accept(parser, TOKEN_SEMICOLON)) return true;
  const Source *source = parser->ast->source;
  Span span = {parser->previous_end, parser->previous_end + 1};
  bool ends_line = source_line(source, span.begin) != source_line(source, parser->token.span.begin);
  if (!ends_line) span = parser->token.span;
  parser_error(parser, span, "expected `;`%s, found %s", ends_line ? " here" : "", found_text(parser));
  return ends_line;
}

/* Does the word that an `end` closes follow this `end`? A bad statement ends there at the latest. */
static bool at_closing(Parser *parser) {
  TokenKind next = parser_peek(parser);
  return next == TOKEN_IDENTIFIER || next == TOKEN_IF || next == TOKEN_FOR || next == TOKEN_WHEN || next == TOKEN_WHILE;
}

static bool at_boundary(Parser *parser) {
  switch (parser->token.kind) {
  case TOKEN_FINISH:
  case TOKEN_EQUATION:
  case TOKEN_ALGORITHM:
  case TOKEN_PUBLIC:
  case TOKEN_PROTECTED: return true;
  case TOKEN_INITIAL: {
    TokenKind next = parser_peek(parser);
    return next == TOKEN_EQUATION || next == TOKEN_ALGORITHM;
  }
  case TOKEN_FINAL: return parser_peek(parser) == TOKEN_EQUATION;
  case TOKEN_END: return at_closing(parser);
  default: return false;
  }
}

void parser_recover(Parser *parser, uint32_t begin) {
  bool is_stuck = parser->token.span.begin == begin && parser->token.kind != TOKEN_FINISH;
  if (is_stuck && !parser_accept(parser, TOKEN_SEMICOLON)) parser_advance(parser);
  else if (is_stuck) return;
  while (!at_boundary(parser)) {
    if (parser_accept(parser, TOKEN_SEMICOLON)) return;
    parser_advance(parser);
  }
}

void *parser_copy(Parser *parser, const void *data, size_t size, uint32_t begin, uint32_t end) {
  if (begin == end) return NULL;
  return arena_copy_array(&parser->ast->arena, (const char *)data + begin * size, end - begin, size);
}

/* ---- names and comments ---- */

bool parse_path(Parser *parser, AstPath *path) {
  Ast *ast = parser->ast;
  *path = (AstPath){.first = ast->parts.count, .span = parser->token.span};
  path->global = parser_accept(parser, TOKEN_DOT);
  do {
    if (parser->token.kind != TOKEN_IDENTIFIER) return parser_unexpected(parser, "expected a name");
    vec_push(parser->heap, &ast->parts, (AstPart){.name = parser->token.name, .quoted = parser->token.quoted});
    path->count++;
    parser_advance(parser);
  } while (parser_accept(parser, TOKEN_DOT));
  path->span.end = parser->previous_end;
  return true;
}

bool parse_label(Parser *parser, AstLabel *label, const char *what) {
  bool is_name = parser->token.kind == TOKEN_IDENTIFIER;
  *label = (AstLabel){is_name ? parser->token.name : 0, parser->token.span};
  return is_name ? (parser_advance(parser), true) : parser_unexpected(parser, "expected %s", what);
}

bool parse_comment(Parser *parser, Name *comment) {
  *comment = 0;
  if (parser->token.kind != TOKEN_STRING) return true;
  *comment = parser->token.name;
  parser_advance(parser);
  TextVec text = {0};
  while (parser_accept(parser, TOKEN_PLUS)) {
    if (parser->token.kind != TOKEN_STRING)
      return parser_unexpected(parser, "expected a string to continue the comment");
    Names *names = parser->ast->names;
    if (!text.count) text_append(parser->heap, &text, names_text(names, *comment), names_length(names, *comment));
    text_append(parser->heap, &text, names_text(names, parser->token.name), names_length(names, parser->token.name));
    parser_advance(parser);
  }
  if (text.count) *comment = names_add(parser->ast->names, text.data, text.count);
  vec_free(parser->heap, &text);
  return true;
}
