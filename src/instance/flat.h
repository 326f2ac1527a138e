/* flat: the flat class that is written from the tree of instances, and functions that make its expressions.
 *
 * A flat variable has the name of its instance without subscripts (r.v). It has the dimensions of all instances on the path to it,
 * outermost first: r[3].v of an array r[10] of components is 'r.v'[3]. src/lang elaborates the class. */
#pragma once

#include "instance/instance.h"

typedef VEC(AstStatement) StatementVec;

typedef struct Flat {
  Tree *tree;
  VEC(AstElement) components;
  VEC(AstSection) sections;
  StatementVec connections; /* equations of connections; they become a separate section */
} Flat;

/* ---- making expressions, at `span`; kids must be the expressions made last, in order ---- */

/* Any node; its kids and first node are set here. */
AstExpr flat_node(Tree *tree, AstNode node, const AstExpr *kids, uint32_t count);
AstExpr flat_integer(Tree *tree, int64_t value, Span span);
AstExpr flat_real(Tree *tree, double value, Span span);
AstExpr flat_boolean(Tree *tree, bool value, Span span);
AstExpr flat_string(Tree *tree, Name text, Span span);
AstExpr flat_colon(Tree *tree, Span span);
AstPath flat_path(Tree *tree, Name name, Span span);
/* The whole name as one part, with `count` subscripts. */
AstExpr flat_name(Tree *tree, Name name, const AstExpr *subscripts, uint32_t count, Span span);
/* Copies the expression to the end of the nodes. */
AstExpr flat_copy(Tree *tree, AstExpr e);
/* a.b[i] with further names after it: a.b[i].c.d */
AstExpr flat_extend(Tree *tree, AstExpr reference, const Name *names, uint32_t count);
/* A literal of the enumeration with that full name. */
AstExpr flat_literal(Tree *tree, Name enumeration, Name literal, Span span);
/* 1:size, {body for iterator in range}, (value).name */
AstExpr flat_range(Tree *tree, uint32_t size, Span span);
AstExpr flat_iteration(Tree *tree, AstExpr body, Name iterator, AstExpr range, Span span);
AstExpr flat_field(Tree *tree, AstExpr value, Name name, Span span);
/* A sum of kids; signs[i] is AST_ADD or AST_SUBTRACT. */
AstExpr flat_sum(Tree *tree, const AstExpr *kids, const AstOperator *signs, uint32_t count, Span span);
/* kids[0] * kids[1] * ..., and left / right. */
AstExpr flat_product(Tree *tree, const AstExpr *kids, uint32_t count, Span span);
AstExpr flat_quotient(Tree *tree, AstExpr left, AstExpr right, Span span);
AstExpr flat_call(Tree *tree, const char *function, const AstExpr *kids, uint32_t count, Span span);

/* The variable or record of the instance with its subscripts. `count` is the number of dimensions from the model down to the
 * instance, or less (all elements of the others). */
AstExpr flat_variable(Tree *tree, const Instance *instance, const AstExpr *subscripts, uint32_t count, Span span);

/* Adds left = right to the equations of connections, with a comment that says where it comes from. */
void flat_connection(Flat *flat, AstExpr left, AstExpr right, Name comment, Span span);

/* e[picks[0], picks[1], ...], where 0 selects all of a dimension. The element of {a, b} is a or b, so that these may differ in size. */
AstExpr flat_pick(Tree *tree, AstExpr e, const uint32_t *picks, uint32_t count);

/* Number of dimensions from the model down to the instance, including its own. */
uint32_t chain_count(const Instance *instance);
/* The iterator over the dimension at that position of the path: $1, $2, ... */
Name chain_iterator(Tree *tree, uint32_t position);

/* ---- resolving (resolve.c) ---- */

/* Options for turning expressions of the text into flat ones. */
typedef struct Resolver {
  Tree *tree;
  Scope scope;        /* where names are looked up */
  Instance *function; /* its components are local names; NULL outside of functions */
  IndexVec iterators; /* names of the enclosing loops */
  const int64_t
      *element; /* subscripts of the arrays that contain the scope, by position; NULL: iterators $1, $2, ... */
  const struct IteratorValue *values; /* iterators that are unrolled */
  uint32_t value_count;
  bool in_algorithm;   /* parts of records stay fields of the record */
  bool uses_locals;    /* set: the result contains local names of the function */
  bool uses_iterators; /* set: the result depends on iterators $1, ..., or on `element` */
  uint64_t positions;  /* set: the positions of these names, as bits */
  bool has_array;      /* set: something in the expression is an array */
  bool meets_split;    /* set: the subscript of a split array is an iterator of an enclosing loop */
  bool keeps_absent;   /* components whose condition is false are not an error: the result is AST_NONE */
} Resolver;

/* The expression with names resolved; AST_NONE after an error. */
AstExpr resolve_expression(Resolver *resolver, AstExpr e);

/* The value that a modifier gives the instance, for one element of the arrays that contain the modifier's scope. */
AstExpr resolve_binding(Resolver *resolver, const Instance *instance, const Modifier *binding);

/* ---- definitions (define.c) ---- */

/* Makes sure that the function, record, enumeration or external object is defined; returns its full name. */
Name define_class(Tree *tree, Instance *type);
/* Makes sure that the constant of a package, or the record as a whole, is declared. */
void reach_component(Tree *tree, Instance *instance);

/* ---- components (declare.c) ---- */

/* The flat declaration of a variable, or of a record as a whole; NULL after an error. */
const AstElement *flat_component(Tree *tree, Instance *instance);
