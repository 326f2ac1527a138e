/* parser_state: shared by the files of the parser: two tokens of look-ahead, scratch stacks, errors.
 *
 * Invariant: no function of the parser calls itself, directly or through others; nested constructs are on one of the stacks here. A
 * function that fails has reported why, and returns false, NULL or AST_NONE. The loop over statements and elements then continues
 * after the next semicolon (parser_recover). */
#pragma once

#include "syntax/ast.h"
#include "syntax/lexer.h"

/* An expression that waits for its enclosing construct. */
typedef struct Operand {
  AstExpr node;
  uint32_t begin; /* its first offset, including opening parentheses */
} Operand;

/* A construct of expressions that is open: see parse_expression.c. */
typedef struct ExpressionFrame {
  uint8_t kind, stage, operation;
  bool global;
  uint32_t begin;    /* first offset of the construct */
  uint32_t opening;  /* offset of its bracket */
  uint32_t operands; /* its operands are those above this index */
  uint32_t mark;     /* operands of the present row or subscripts are those above this index */
  uint32_t scratch;  /* its operators or parts are those above this index */
  uint32_t labels;   /* its labels are those above this index */
} ExpressionFrame;

/* An open modification, with the argument that is being read. */
typedef struct ModificationFrame {
  AstArgument argument;
  uint32_t arguments; /* its arguments are those above this index */
  uint32_t begin;
  bool is_constraint; /* the argument's constrainedby is being read */
} ModificationFrame;

/* An open equation or statement: if, for, when, while. */
typedef struct BlockFrame {
  AstStatement statement;
  AstBranch branch;
  bool is_otherwise; /* the branch is `else` */
  uint32_t branches, statements;
  uint32_t nodes; /* index of its first expression node in the tree */
} BlockFrame;

/* An open class. */
typedef struct ClassFrame {
  AstClass *definition;
  uint32_t elements, sections; /* its elements and sections are those above these indices */
  uint32_t visibility;         /* PREFIX_PROTECTED or 0 */
  bool in_section;             /* statements are being read, otherwise elements */
  AstSection section;
  AstElement element; /* the class as an element of the enclosing class */
  Span time;          /* the place at which it uses the time; empty: nowhere */
} ClassFrame;

typedef struct Parser {
  Heap *heap;
  Ast *ast;
  AstFile *file; /* the file being read; NULL: an expression */
  Diags *diags;
  Lexer lexer;
  Token token, next;
  bool has_next;
  uint32_t previous_end; /* end of the last token read */
  Name time;             /* the word "time" */
  uint32_t first_diag;   /* index of the first diagnostic about this text */
  AstClass *restricted;  /* the class that keeps the findings of restrict.c; NULL: they are reported at once */

  VEC(Operand) operands;
  VEC(ExpressionFrame) frames;
  VEC(uint8_t) operators;
  VEC(AstPart) parts;
  VEC(AstLabel) labels;
  uint32_t subscript_depth; /* number of open subscripts, in which `end` is a value */
  bool is_closed;           /* the last operand ended with its own bracket, so [i] and .x may follow */

  bool in_annotation; /* the modification being read is an annotation */
  VEC(ModificationFrame) modifications;
  VEC(AstArgument) arguments;
  VEC(BlockFrame) blocks;
  VEC(AstStatement) statements;
  VEC(AstBranch) branches;
  VEC(AstIterator) iterators;
  VEC(ClassFrame) classes;
  VEC(AstElement) elements;
  VEC(AstSection) sections;
  VEC(AstClass *) roots;
  IndexVec list;
} Parser;

/* ---- tokens (parser_state.c) ---- */

void parser_advance(Parser *parser);
TokenKind parser_peek(Parser *parser); /* kind of the token after the present one */
bool parser_accept(Parser *parser, TokenKind kind);

/* Reads a token of this kind, or reports "expected ... where"; `where` says what the token is for, or is NULL. */
bool parser_expect(Parser *parser, TokenKind kind, const char *where);

/* Reports at the present token: the message, then the token found. Always returns false. */
__attribute__((format(printf, 2, 3))) bool parser_unexpected(Parser *parser, const char *format, ...);

/* Like the function above, for a token in the wrong place; the message does not name the token. Always returns false. */
__attribute__((format(printf, 2, 3))) bool parser_refuse(Parser *parser, const char *format, ...);

/* Reports at a span. Keeps only one error per line, since the others are usually consequences. NULL: the error was not kept. */
__attribute__((format(printf, 3, 4))) Diag *parser_error(Parser *parser, Span span, const char *format, ...);

/* Reads the semicolon after a declaration or statement. If it is missing at the end of a line, reports that there and continues as
 * if it were present. */
bool parser_semicolon(Parser *parser);

/* Skips up to and including the next semicolon, or up to the end of a block or class or the next section. */
void parser_recover(Parser *parser, uint32_t begin);

/* name = [ "." ] IDENT { "." IDENT } */
bool parse_path(Parser *parser, AstPath *path);
bool parse_label(Parser *parser, AstLabel *label, const char *what);

/* description-string = [ STRING { "+" STRING } ] */
bool parse_comment(Parser *parser, Name *comment);

/* Copies the elements of a scratch vector above `base`, and removes them from it. */
#define parser_take(parser, list, vec, base)                                                     \
  ((list)->count = (vec)->count - (base),                                                        \
   (list)->data = parser_copy((parser), (vec)->data, sizeof *(vec)->data, (base), (vec)->count), \
   (vec)->count = (base))
void *parser_copy(Parser *parser, const void *data, size_t size, uint32_t begin, uint32_t end);

/* ---- expressions (parse_expression.c) ---- */

AstExpr parse_expression(Parser *parser);

/* Reads optional array-subscripts: [3, :, n + 1]. */
bool parse_dimensions(Parser *parser, AstExprs *dimensions);

/* ---- modifications (parse_modification.c) ---- */

AstModification *parse_class_modification(Parser *parser);

/* [ class-modification ] [ ("=" | ":=") expression ]; *modification is NULL if there is none. */
bool parse_modification(Parser *parser, AstModification **modification);

/* [ "annotation" class-modification ] */
bool parse_annotation(Parser *parser, AstModification **annotation);

/* Reads words like final, parameter, partial; reports a word that occurs twice. */
uint32_t parse_prefixes(Parser *parser);

/* Reads the keyword of a kind of class (model, record ...), if there is one. */
bool parse_class_kind(Parser *parser, AstClass *definition);

/* IDENT "=" base-prefix type-specifier [ array-subscripts ], the head of a short class. */
bool parse_short_head(Parser *parser, AstClass *definition);
bool parse_enumeration(Parser *parser, AstClass *definition);

/* [ "constrainedby" name [ class-modification ] ] */
bool parse_constraint(Parser *parser, AstExtends **constraint);

/* ---- statements (parse_statement.c) ---- */

/* Reads one equation or statement, or the beginning, middle or end of a block. */
bool parse_statement(Parser *parser, bool is_algorithm);

/* Closes the open blocks above `base`, and reports that their ends are missing. */
void parser_abandon_blocks(Parser *parser, uint32_t base);
