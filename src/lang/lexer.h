/* lexer: text to tokens, one at a time. Comments and white space vanish here; keywords are told from names by
 * their interned index, so every word is hashed once.
 *
 * Invariant: every token lies within the text, tokens never overlap, and after TOKEN_END only TOKEN_END comes. What cannot be
 * read is reported once, at its place, and passed over. */
#ifndef DAEDAL_LANG_LEXER_H
#define DAEDAL_LANG_LEXER_H

#include "base/diag.h"
#include "base/map.h"

/* TOKEN(id, text): kinds whose text is always the same; text is what messages show. */
#define LEXER_SYMBOLS(TOKEN)                                                                                   \
  TOKEN(LEFT_PAREN, "(") TOKEN(RIGHT_PAREN, ")") TOKEN(LEFT_BRACKET, "[") TOKEN(RIGHT_BRACKET, "]")            \
  TOKEN(LEFT_BRACE, "{") TOKEN(RIGHT_BRACE, "}") TOKEN(COMMA, ",") TOKEN(SEMICOLON, ";") TOKEN(COLON, ":")     \
  TOKEN(DOT, ".") TOKEN(EQUALS, "=") TOKEN(ASSIGN, ":=")                                                       \
  TOKEN(PLUS, "+") TOKEN(MINUS, "-") TOKEN(STAR, "*") TOKEN(SLASH, "/") TOKEN(CARET, "^")                      \
  TOKEN(DOT_PLUS, ".+") TOKEN(DOT_MINUS, ".-") TOKEN(DOT_STAR, ".*") TOKEN(DOT_SLASH, "./")                    \
  TOKEN(DOT_CARET, ".^")                                                                                       \
  TOKEN(LESS, "<") TOKEN(LESS_EQUAL, "<=") TOKEN(GREATER, ">") TOKEN(GREATER_EQUAL, ">=")                      \
  TOKEN(EQUAL_EQUAL, "==") TOKEN(NOT_EQUAL, "<>")

/* The reserved words of Modelica 3.6, section 2.3.3. */
#define LEXER_KEYWORDS(TOKEN)                                                                                  \
  TOKEN(ALGORITHM, "algorithm") TOKEN(AND, "and") TOKEN(ANNOTATION, "annotation") TOKEN(BLOCK, "block")        \
  TOKEN(BREAK, "break") TOKEN(CLASS, "class") TOKEN(CONNECT, "connect") TOKEN(CONNECTOR, "connector")          \
  TOKEN(CONSTANT, "constant") TOKEN(CONSTRAINEDBY, "constrainedby") TOKEN(DER, "der")                          \
  TOKEN(DISCRETE, "discrete") TOKEN(EACH, "each") TOKEN(ELSE, "else") TOKEN(ELSEIF, "elseif")                  \
  TOKEN(ELSEWHEN, "elsewhen") TOKEN(ENCAPSULATED, "encapsulated") TOKEN(END, "end")                            \
  TOKEN(ENUMERATION, "enumeration") TOKEN(EQUATION, "equation") TOKEN(EXPANDABLE, "expandable")                \
  TOKEN(EXTENDS, "extends") TOKEN(EXTERNAL, "external") TOKEN(FALSE, "false") TOKEN(FINAL, "final")            \
  TOKEN(FLOW, "flow") TOKEN(FOR, "for") TOKEN(FUNCTION, "function") TOKEN(IF, "if") TOKEN(IMPORT, "import")    \
  TOKEN(IMPURE, "impure") TOKEN(IN, "in") TOKEN(INITIAL, "initial") TOKEN(INNER, "inner")                      \
  TOKEN(INPUT, "input") TOKEN(LOOP, "loop") TOKEN(MODEL, "model") TOKEN(NOT, "not")                            \
  TOKEN(OPERATOR, "operator") TOKEN(OR, "or") TOKEN(OUTER, "outer") TOKEN(OUTPUT, "output")                    \
  TOKEN(PACKAGE, "package") TOKEN(PARAMETER, "parameter") TOKEN(PARTIAL, "partial")                            \
  TOKEN(PROTECTED, "protected") TOKEN(PUBLIC, "public") TOKEN(PURE, "pure") TOKEN(RECORD, "record")            \
  TOKEN(REDECLARE, "redeclare") TOKEN(REPLACEABLE, "replaceable") TOKEN(RETURN, "return")                      \
  TOKEN(STREAM, "stream") TOKEN(THEN, "then") TOKEN(TRUE, "true") TOKEN(TYPE, "type") TOKEN(WHEN, "when")      \
  TOKEN(WHILE, "while") TOKEN(WITHIN, "within")

typedef enum TokenKind {
  TOKEN_FINISH, /* end of the text */
  TOKEN_IDENTIFIER,
  TOKEN_STRING,
  TOKEN_REAL,
  TOKEN_INTEGER,
#define TOKEN(id, text) TOKEN_##id,
  LEXER_SYMBOLS(TOKEN) LEXER_KEYWORDS(TOKEN)
#undef TOKEN
      TOKEN_COUNT
} TokenKind;

typedef struct Token {
  TokenKind kind;
  bool quoted; /* of an identifier: written 'like this' */
  Span span;
  union {
    Name name; /* identifier without quotes, string, or keyword */
    double real;
    int64_t integer;
  };
} Token;

typedef struct Lexer {
  Heap *heap;
  Names *names;
  const Source *source;
  Diags *diags;
  uint32_t position;
  uint32_t last_end;  /* end of the last token */
  uint8_t *keywords;  /* token kind by name, 0 if not a keyword */
  uint32_t keyword_count;
  TextVec scratch;    /* text with escapes resolved, digits */
  Name version;       /* of the line //! base 0.1.0 before the first token */
  bool is_truncated;  /* an unterminated string, comment or name has swallowed the rest: reported already */
} Lexer;

/* A lexer at the start of the text. Checks the encoding of the whole text (NUL bytes, UTF-8). O(length). */
Lexer lexer_make(Heap *heap, Names *names, const Source *source, Diags *diags);

Token lexer_next(Lexer *lexer);

void lexer_free(Lexer *lexer);

/* What messages call a kind of token: `;`, a name, the end of the file. */
const char *token_kind_text(TokenKind kind);

#endif
