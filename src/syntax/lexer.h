/* lexer: turns text into tokens, one at a time. It drops comments and white space. Keywords are distinguished from names by their
 * interned index, so every word is hashed once.
 *
 * Invariant: every token lies within the text, tokens never overlap, and after TOKEN_FINISH only TOKEN_FINISH comes. Unreadable
 * text is reported once, at its place, and skipped. */
#pragma once

#include "base/diag.h"
#include "base/map.h"

typedef enum TokenKind {
  TOKEN_FINISH, /* end of the text */
  TOKEN_IDENTIFIER,
  TOKEN_STRING,
  TOKEN_REAL,
  TOKEN_INTEGER,
#define SYMBOL(id, text) TOKEN_##id,
#define KEYWORD(id, text) TOKEN_##id,
#include "syntax/tokens.def"
  TOKEN_COUNT
} TokenKind;

typedef struct Token {
  TokenKind kind;
  bool quoted; /* for an identifier: written 'like this' */
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
  SourceFile source;
  Diags *diags;
  uint32_t position; /* offset in the text, like last_end */
  uint32_t last_end; /* end of the last token */
  uint8_t *keywords; /* token kind by name; 0: not a keyword */
  uint32_t keyword_count;
  TextVec scratch;   /* text with escapes resolved, digits */
  Name version;      /* version of the line //! base 0.1.0 before the first token */
  bool is_truncated; /* an unterminated string, comment or name has swallowed the rest; this was reported */
} Lexer;

/* A lexer at the start of the text. Checks the encoding of the whole text (NUL bytes, UTF-8). O(length). */
Lexer lexer_make(Heap *heap, Names *names, const SourceFile *source, Diags *diags);

Token lexer_next(Lexer *lexer);

void lexer_free(Lexer *lexer);

/* The character that backslash and c stand for; 0 if there is none. */
char lexer_escape(char c);

/* The words for a kind of token in messages: `;`, a name, the end of the file. */
const char *token_kind_text(TokenKind kind);
