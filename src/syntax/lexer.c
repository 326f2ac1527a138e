/* lexer: see lexer.h. Lexical rules: Modelica 3.6, chapter 2 and appendix A.1. */
#include "syntax/lexer.h"

#include "base/number.h"
#include "base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* All integers up to this one are exact in a double; values of the model are doubles. */
#define INTEGER_LIMIT INT64_C(9007199254740992)

static const char *const kind_texts[TOKEN_COUNT] = {
    [TOKEN_FINISH] = "the end of the file",
    [TOKEN_IDENTIFIER] = "a name",
    [TOKEN_STRING] = "a string",
    [TOKEN_REAL] = "a number",
    [TOKEN_INTEGER] = "a number",
#define SYMBOL(id, text) [TOKEN_##id] = "`" text "`",
#define KEYWORD(id, text) [TOKEN_##id] = "`" text "`",
#include "syntax/tokens.def"
};

static const struct {
  const char *text;
  TokenKind kind;
} keyword_list[] = {
#define SYMBOL(id, text)
#define KEYWORD(id, text) {text, TOKEN_##id},
#include "syntax/tokens.def"
};

const char *token_kind_text(TokenKind kind) { return kind_texts[kind]; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

/* ---- encoding ---- */

/* Reports the first NUL and the first byte that is not UTF-8; a file of another kind has too many to list. The text ends with a
 * NUL, which cannot continue a character. */
static void check_encoding(const SourceFile *source, Diags *diags) {
  bool nul_seen = false, bad_seen = false;
  for (uint32_t i = 0; i < source->length;) {
    while ((unsigned char)(source->text[i] - 1) < 0x7f)
      i++; /* plain ASCII: ends at the latest at the NUL after the text */
    if (i >= source->length) break;
    uint32_t length = (uint32_t)utf8_length(source->text + i, 4);
    if (!length && !bad_seen) {
      diag_error(diags, DIAG_SYNTAX, (Span){source->begin + i, source->begin + i + 1},
                 "invalid UTF-8: byte 0x%02x does not belong to a character; save the file as UTF-8",
                 (unsigned char)source->text[i]);
      bad_seen = true;
    }
    if (!source->text[i] && !nul_seen) {
      diag_error(diags, DIAG_SYNTAX, (Span){source->begin + i, source->begin + i + 1},
                 "NUL byte in the text: is this a binary file, or UTF-16?");
      nul_seen = true;
    }
    i += length ? length : 1;
  }
}

/* ---- set-up ---- */

/* Reports an error at a place of the text. */
__attribute__((format(printf, 3, 4))) static void lexer_error(Lexer *lexer, Span span, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const char *message = arena_vprintf(&lexer->diags->arena, format, list);
  va_end(list);
  span.begin += lexer->source.begin;
  span.end += lexer->source.begin;
  diag_error(lexer->diags, DIAG_SYNTAX, span, "%s", message);
}

Lexer lexer_make(Heap *heap, Names *names, const SourceFile *source, Diags *diags) {
  Lexer lexer = {.heap = heap, .names = names, .source = *source, .diags = diags};
  uint32_t count = sizeof keyword_list / sizeof *keyword_list;
  for (uint32_t i = 0; i < count; i++) {
    Name name = names_add(names, keyword_list[i].text, strlen(keyword_list[i].text));
    if (name >= lexer.keyword_count) lexer.keyword_count = name + 1;
  }
  lexer.keywords = heap_array(heap, lexer.keyword_count, 1);
  for (uint32_t i = 0; i < count; i++) {
    Name name = names_find(names, keyword_list[i].text, strlen(keyword_list[i].text));
    lexer.keywords[name] = (uint8_t)keyword_list[i].kind;
  }
  check_encoding(source, diags);
  if (source->length >= 3 && !memcmp(source->text, "\xef\xbb\xbf", 3)) lexer.position = 3;
  return lexer;
}

void lexer_free(Lexer *lexer) {
  heap_free(lexer->heap, lexer->keywords);
  vec_free(lexer->heap, &lexer->scratch);
}

/* ---- white space and comments ---- */

/* Skips the rest of the text after something unterminated that begins at `begin`. */
static void truncate(Lexer *lexer, uint32_t begin, uint32_t width, const char *message) {
  lexer_error(lexer, (Span){begin, begin + width}, "%s", message);
  lexer->position = lexer->source.length;
  lexer->is_truncated = true;
}

/* The version line of Base Modelica: //! base 0.1.0 */
static void read_version(Lexer *lexer, uint32_t begin, uint32_t end) {
  const char *text = lexer->source.text;
  while (begin < end && is_blank(text[begin])) begin++;
  while (end > begin && is_blank(text[end - 1])) end--;
  if (end - begin < 5 || memcmp(text + begin, "base", 4) || !is_blank(text[begin + 4])) return;
  begin += 4;
  while (begin < end && is_blank(text[begin])) begin++;
  lexer->version = names_add(lexer->names, text + begin, end - begin);
}

static void skip_line_comment(Lexer *lexer) {
  const SourceFile *source = &lexer->source;
  uint32_t begin = lexer->position;
  const char *newline = memchr(source->text + begin, '\n', source->length - begin);
  uint32_t end = newline ? (uint32_t)(newline - source->text) : source->length;
  if (end - begin > 3 && source->text[begin + 2] == '!' && !lexer->last_end && !lexer->version)
    read_version(lexer, begin + 3, end);
  lexer->position = end;
}

static void skip_block_comment(Lexer *lexer) {
  const SourceFile *source = &lexer->source;
  uint32_t begin = lexer->position;
  for (uint32_t i = begin + 2; i + 1 < source->length; i++) {
    if (source->text[i] == '*' && source->text[i + 1] == '/') {
      lexer->position = i + 2;
      return;
    }
  }
  truncate(lexer, begin, 2, "unterminated comment: no `*/` closes this `/*`");
}

static void skip_blanks(Lexer *lexer) {
  const SourceFile *source = &lexer->source;
  while (lexer->position < source->length) {
    const char *text = source->text + lexer->position;
    if (is_blank(*text)) lexer->position++;
    else if (text[0] == '/' && text[1] == '/') skip_line_comment(lexer);
    else if (text[0] == '/' && text[1] == '*') skip_block_comment(lexer);
    else break;
  }
}

/* ---- strings and quoted names ---- */

char lexer_escape(char c) {
  static const char letters[] = "'\"?\\abfnrtv";
  static const char values[] = "'\"?\\\a\b\f\n\r\t\v";
  const char *found = c ? strchr(letters, c) : NULL;
  return found ? values[found - letters] : 0;
}

/* STRING = '"' { S-CHAR | S-ESCAPE } '"', and Q-IDENT with single quotes. Leaves the text in scratch. */
static bool read_quoted(Lexer *lexer, char quote) {
  const SourceFile *source = &lexer->source;
  lexer->scratch.count = 0;
  uint32_t i = lexer->position + 1;
  while (i < source->length) {
    uint32_t run = i;
    while (i < source->length && source->text[i] != quote && source->text[i] != '\\') i++;
    text_append(lexer->heap, &lexer->scratch, source->text + run, i - run);
    if (i == source->length) break;
    if (source->text[i] == quote) {
      lexer->position = i + 1;
      return true;
    }
    char value = lexer_escape(source->text[i + 1]);
    if (value) text_append(lexer->heap, &lexer->scratch, &value, 1);
    else
      lexer_error(lexer, (Span){i, i + 1},
                  "unknown escape sequence: after `\\` comes one of ' \" ? \\ a b f n r t v; write `\\\\` for "
                  "a backslash");
    i += value ? 2 : 1;
  }
  truncate(lexer, lexer->position, 1,
           quote == '"' ? "unterminated string: no `\"` closes this one"
                        : "unterminated quoted name: no `'` closes this one");
  return false;
}

static Token lex_string(Lexer *lexer, uint32_t begin) {
  if (!read_quoted(lexer, '"')) return (Token){.kind = TOKEN_FINISH};
  Name name = names_add(lexer->names, lexer->scratch.data, lexer->scratch.count);
  return (Token){.kind = TOKEN_STRING, .span = {begin, lexer->position}, .name = name};
}

static Token lex_quoted_name(Lexer *lexer, uint32_t begin) {
  if (!read_quoted(lexer, '\'')) return (Token){.kind = TOKEN_FINISH};
  if (!lexer->scratch.count) lexer_error(lexer, (Span){begin, lexer->position}, "empty quoted name");
  Name name = names_add(lexer->names, lexer->scratch.data, lexer->scratch.count);
  return (Token){.kind = TOKEN_IDENTIFIER, .quoted = true, .span = {begin, lexer->position}, .name = name};
}

/* ---- words and numbers ---- */

static Token lex_word(Lexer *lexer, uint32_t begin) {
  const char *text = lexer->source.text;
  uint32_t end = begin + 1;
  while (is_letter(text[end]) || is_digit(text[end])) end++;
  lexer->position = end;
  Name name = names_add(lexer->names, text + begin, end - begin);
  TokenKind kind = name < lexer->keyword_count ? (TokenKind)lexer->keywords[name] : TOKEN_FINISH;
  if (kind == TOKEN_FINISH) kind = TOKEN_IDENTIFIER;
  return (Token){.kind = kind, .span = {begin, end}, .name = name};
}

static uint32_t skip_digits(const char *text, uint32_t i) {
  while (is_digit(text[i])) i++;
  return i;
}

static void check_range(Lexer *lexer, double value, bool is_zero, Span span) {
  if (isinf(value)) lexer_error(lexer, span, "number out of range: the largest Real is about 1.8e308");
  else if (value == 0 && !is_zero)
    lexer_error(lexer, span, "number out of range: the smallest positive Real is about 4.9e-324");
}

static Token lex_integer(Lexer *lexer, Span span) {
  int64_t value = 0;
  for (uint32_t i = span.begin; i < span.end && value <= INTEGER_LIMIT; i++)
    value = value * 10 + (lexer->source.text[i] - '0');
  if (value > INTEGER_LIMIT) {
    lexer_error(lexer, span,
                "integer overflow: the largest Integer is 9007199254740992; write a Real with a point or exponent");
    value = INTEGER_LIMIT;
  }
  return (Token){.kind = TOKEN_INTEGER, .span = span, .integer = value};
}

/* UNSIGNED-NUMBER = digits [ "." [ digits ] ] [ ("e" | "E") [ "+" | "-" ] digits ] | "." digits [ exponent ] */
static Token lex_number(Lexer *lexer, uint32_t begin) {
  const char *text = lexer->source.text;
  uint32_t end = skip_digits(text, begin);
  bool is_real = text[end] == '.';
  if (is_real) end = skip_digits(text, end + 1);
  bool is_zero = true;
  for (uint32_t i = begin; i < end; i++) is_zero &= text[i] == '0' || text[i] == '.';
  if (text[end] == 'e' || text[end] == 'E') {
    uint32_t digits = end + 1 + (text[end + 1] == '+' || text[end + 1] == '-');
    end = skip_digits(text, digits);
    if (end == digits) lexer_error(lexer, (Span){begin, end}, "the exponent of this number has no digits");
    is_real = true;
  }
  Span span = {begin, end};
  lexer->position = end;
  if (!is_real) return lex_integer(lexer, span);
  double value = 1; /* if the exponent is missing */
  if (number_parse(text + begin, text + end, &value)) check_range(lexer, value, is_zero, span);
  return (Token){.kind = TOKEN_REAL, .span = span, .real = value};
}

/* ---- symbols ---- */

/* The symbol at text and its width; TOKEN_FINISH if there is none. */
static TokenKind symbol_kind(const char *text, uint32_t *width) {
  char next = text[1];
  *width = 1;
  switch (text[0]) {
  case '(': return TOKEN_LEFT_PAREN;
  case ')': return TOKEN_RIGHT_PAREN;
  case '[': return TOKEN_LEFT_BRACKET;
  case ']': return TOKEN_RIGHT_BRACKET;
  case '{': return TOKEN_LEFT_BRACE;
  case '}': return TOKEN_RIGHT_BRACE;
  case ',': return TOKEN_COMMA;
  case ';': return TOKEN_SEMICOLON;
  case '+': return TOKEN_PLUS;
  case '-': return TOKEN_MINUS;
  case '*': return TOKEN_STAR;
  case '/': return TOKEN_SLASH;
  case '^': return TOKEN_CARET;
  default: break;
  }
  *width = 2;
  switch (text[0]) {
  case ':': return next == '=' ? TOKEN_ASSIGN : (*width = 1, TOKEN_COLON);
  case '=': return next == '=' ? TOKEN_EQUAL_EQUAL : (*width = 1, TOKEN_EQUALS);
  case '>': return next == '=' ? TOKEN_GREATER_EQUAL : (*width = 1, TOKEN_GREATER);
  case '<':
    if (next == '>') return TOKEN_NOT_EQUAL;
    return next == '=' ? TOKEN_LESS_EQUAL : (*width = 1, TOKEN_LESS);
  case '.':
    if (next == '+') return TOKEN_DOT_PLUS;
    if (next == '-') return TOKEN_DOT_MINUS;
    if (next == '*') return TOKEN_DOT_STAR;
    if (next == '/') return TOKEN_DOT_SLASH;
    if (next == '^') return TOKEN_DOT_CARET;
    *width = 1;
    return TOKEN_DOT;
  default: return TOKEN_FINISH;
  }
}

/* Advice for a character from other languages. */
static const char *character_hint(const char *text) {
  switch (text[0]) {
  case '!': return text[1] == '=' ? ": not equal is written `<>`" : ": negation is written `not`";
  case '&': return ": the logical operator is written `and`";
  case '|': return ": the logical operator is written `or`";
  case '%': return ": the remainder is written `mod(a, b)` or `rem(a, b)`";
  case '#': return ": a comment begins with `//`";
  default: return (text[0] & 0x80) ? ": names are made of a-z, A-Z, 0-9 and _, all others are 'quoted'" : "";
  }
}

/* Skips a character that begins no token. Bytes that are not text have already been reported. */
static void skip_unknown(Lexer *lexer) {
  const char *text = lexer->source.text + lexer->position;
  uint32_t length = (uint32_t)utf8_length(text, 4);
  if ((*text == '&' || *text == '|') && text[1] == *text) length = 2;
  if (text[0] == '!' && text[1] == '=') length = 2;
  bool is_control = (unsigned char)*text < 0x20 || *text == 0x7f;
  Span span = {lexer->position, lexer->position + (length ? length : 1)};
  lexer->position = span.end;
  if (!length || !*text) return;
  if (is_control) lexer_error(lexer, span, "unknown character 0x%02x", (unsigned char)*text);
  else lexer_error(lexer, span, "unknown character `%.*s`%s", (int)length, text, character_hint(text));
}

static Token lex_symbol(Lexer *lexer, uint32_t begin, bool *found) {
  uint32_t width;
  TokenKind kind = symbol_kind(lexer->source.text + begin, &width);
  *found = kind != TOKEN_FINISH;
  if (*found) lexer->position = begin + width;
  else skip_unknown(lexer);
  return (Token){.kind = kind, .span = {begin, begin + width}};
}

static Token lexer_scan(Lexer *lexer) {
  const SourceFile *source = &lexer->source;
  for (;;) {
    skip_blanks(lexer);
    uint32_t begin = lexer->position;
    if (begin >= source->length) return (Token){.kind = TOKEN_FINISH};
    char c = source->text[begin];
    if (is_letter(c)) return lex_word(lexer, begin);
    if (c == '\'') return lex_quoted_name(lexer, begin);
    if (is_digit(c) || (c == '.' && is_digit(source->text[begin + 1]))) return lex_number(lexer, begin);
    if (c == '"') return lex_string(lexer, begin);
    bool found;
    Token token = lex_symbol(lexer, begin, &found);
    if (found) return token;
  }
}

Token lexer_next(Lexer *lexer) {
  Token token = lexer_scan(lexer);
  /* The end of the file is shown just after the last token, not on an empty line below. */
  if (token.kind == TOKEN_FINISH) token.span = (Span){lexer->last_end, lexer->last_end + 1};
  else lexer->last_end = token.span.end;
  token.span.begin += lexer->source.begin;
  token.span.end += lexer->source.begin;
  return token;
}
