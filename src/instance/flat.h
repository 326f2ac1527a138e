/* flat: the flat class that is written from the tree of instances, and the making of its expressions.
 *
 * A flat variable has the name of its instance without subscripts (r.v) and as dimensions those of all instances on the
 * way to it, outermost first: r[3].v of an array r[10] of components is 'r.v'[3]. src/lang elaborates the class. */
#pragma once

#include "instance/instance.h"

typedef struct Flat {
  Tree *tree;
  VEC(AstElement) components;
  VEC(AstSection) sections;
  VEC(AstStatement) connections; /* equations of connections; they become a section of their own */
} Flat;

/* ---- making expressions, at `span`; kids must be the expressions made last, in order ---- */

AstExpr flat_integer(Tree *tree, int64_t value, Span span);
AstExpr flat_real(Tree *tree, double value, Span span);
AstExpr flat_colon(Tree *tree, Span span);
/* The whole name as one part, with `count` subscripts. */
AstExpr flat_name(Tree *tree, Name name, const AstExpr *subscripts, uint32_t count, Span span);
/* A sum of kids; signs[i] is AST_ADD or AST_SUBTRACT. */
AstExpr flat_sum(Tree *tree, const AstExpr *kids, const AstOperator *signs, uint32_t count, Span span);
AstExpr flat_call(Tree *tree, const char *function, const AstExpr *kids, uint32_t count, Span span);

/* The variable or record of the instance, with all its subscripts: `count` is the number of dimensions from the model
 * down to the instance, or less (the rest means all). */
AstExpr flat_variable(Tree *tree, const Instance *instance, const AstExpr *subscripts, uint32_t count, Span span);

/* left = right, among the equations of connections, with a comment that says where it comes from. */
void flat_connection(Flat *flat, AstExpr left, AstExpr right, Name comment, Span span);

/* ---- connections (connect.c) ---- */

/* Writes the equations of all connect clauses of the tree; false after an error. */
bool connections_write(Flat *flat);
