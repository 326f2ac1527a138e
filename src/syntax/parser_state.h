/* parser_state: what the files of the parser share. Two tokens of look-ahead, scratch stacks, errors.
 *
 * Invariant: no function of the parser calls itself, directly or through others; what nests in the text is
 * on one of the stacks here. A function that fails has reported why, and returns false, NULL or AST_NONE;
 * the loop over statements and elements then goes on after the next semicolon (parser_recover). */
#pragma once

#include "syntax/ast.h"
#include "syntax/lexer.h"

/* An expression that waits for what it belongs to. */
typedef struct Operand {
  AstExpr node;
  uint32_t begin; /* where it begins, opening parentheses included */
} Operand;

/* A construct of expressions that is open: see parse_expression.c. */
typedef struct ExpressionFrame {
  uint8_t kind, stage, operation;
  bool global;
  uint32_t begin;    /* where the construct begins */
  uint32_t opening;  /* where its bracket is */
  uint32_t operands; /* its operands are those above */
  uint32_t mark;     /* operands of the present row or subscripts are those above */
  uint32_t scratch;  /* its operators or parts are those above */
  uint32_t labels;   /* its labels are those above */
} ExpressionFrame;

/* A modification that is open, with the argument that is being read. */
typedef struct ModificationFrame {
  AstArgument argument;
  uint32_t arguments; /* its arguments are those above */
  uint32_t begin;
  bool is_constraint; /* the argument's constrainedby is being read */
} ModificationFrame;

/* An equation or statement that is open: if, for, when, while. */
typedef struct BlockFrame {
  AstStatement statement;
  AstBranch branch;
  bool is_otherwise; /* the branch is `else` */
  uint32_t branches, statements;
  uint32_t nodes; /* where its expressions begin in the tree */
} BlockFrame;

/* A class that is open. */
typedef struct ClassFrame {
  AstClass *definition;
  uint32_t elements, sections; /* its own are those above */
  uint32_t visibility;         /* PREFIX_PROTECTED or 0 */
  bool in_section;             /* statements are read, else elements */
  AstSection section;
  AstElement element; /* what it is in the class around it */
  Span time;          /* where the time is mentioned; empty: nowhere */
} ClassFrame;

typedef struct Parser {
  Heap *heap;
  Ast *ast;
  AstFile *file; /* what is read; NULL: an expression */
  Diags *diags;
  Lexer lexer;
  Token token, next;
  bool has_next;
  uint32_t previous_end; /* of the last token read */
  Name time;             /* the word */
  uint32_t first_diag;   /* diagnostics from this one on are of this text */
  AstClass *restricted;  /* the class that keeps what restrict.c finds; NULL: it is reported at once */

  VEC(Operand) operands;
  VEC(ExpressionFrame) frames;
  VEC(uint8_t) operators;
  VEC(AstPart) parts;
  VEC(AstLabel) labels;
  uint32_t subscript_depth; /* open subscripts: there `end` is a value */
  bool is_closed;           /* the operand read last ended with a bracket of its own, so [i] and .x may follow */

  bool in_annotation; /* the modification that is read is one */
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

/* Reads a token of this kind, or reports "expected ... where", where being NULL or some words on what it is for. */
bool parser_expect(Parser *parser, TokenKind kind, const char *where);

/* Reports at the present token: the message, then what was found. Always false. */
__attribute__((format(printf, 2, 3))) bool parser_unexpected(Parser *parser, const char *format, ...);

/* As above, for a token in the wrong place; the message does not name the token. Always false. */
__attribute__((format(printf, 2, 3))) bool parser_refuse(Parser *parser, const char *format, ...);

/* Reports at a span. Only one error a line is kept (what follows one is rarely another): NULL if it is not.
 * */
__attribute__((format(printf, 3, 4))) Diag *parser_error(Parser *parser, Span span, const char *format, ...);

/* The semicolon after a declaration or statement. If it is missing at the end of a line, that is reported there, and
 * reading continues as if it were there. */
bool parser_semicolon(Parser *parser);

/* Continues after the next semicolon, or before the end of a block or class or the next section. */
void parser_recover(Parser *parser, uint32_t begin);

/* name = [ "." ] IDENT { "." IDENT } */
bool parse_path(Parser *parser, AstPath *path);
bool parse_label(Parser *parser, AstLabel *label, const char *what);

/* description-string = [ STRING { "+" STRING } ] */
bool parse_comment(Parser *parser, Name *comment);

/* A copy of the elements above `base` of a scratch vector, which are dropped. */
#define parser_take(parser, list, vec, base)                                                     \
  ((list)->count = (vec)->count - (base),                                                        \
   (list)->data = parser_copy((parser), (vec)->data, sizeof *(vec)->data, (base), (vec)->count), \
   (vec)->count = (base))
void *parser_copy(Parser *parser, const void *data, size_t size, uint32_t begin, uint32_t end);

/* ---- expressions (parse_expression.c) ---- */

AstExpr parse_expression(Parser *parser);

/* array-subscripts, if there are any: [3, :, n + 1]. */
bool parse_dimensions(Parser *parser, AstExprs *dimensions);

/* ---- modifications (parse_modification.c) ---- */

AstModification *parse_class_modification(Parser *parser);

/* [ class-modification ] [ ("=" | ":=") expression ]; *modification is NULL if there is none. */
bool parse_modification(Parser *parser, AstModification **modification);

/* [ "annotation" class-modification ] */
bool parse_annotation(Parser *parser, AstModification **annotation);

/* Reads words like final, parameter, partial; a word that is there twice is reported. */
uint32_t parse_prefixes(Parser *parser);

/* The kind of class of a keyword (model, record ...), read if there is one. */
bool parse_class_kind(Parser *parser, AstClass *definition);

/* IDENT "=" base-prefix type-specifier [ array-subscripts ], the head of a short class. */
bool parse_short_head(Parser *parser, AstClass *definition);
bool parse_enumeration(Parser *parser, AstClass *definition);

/* [ "constrainedby" name [ class-modification ] ] */
bool parse_constraint(Parser *parser, AstExtends **constraint);

/* ---- statements (parse_statement.c) ---- */

/* Reads one equation or statement, or the beginning, middle or end of a block. */
bool parse_statement(Parser *parser, bool is_algorithm);

/* Closes the blocks that are open above `base`, reporting that their ends are missing. */
void parser_abandon_blocks(Parser *parser, uint32_t base);
