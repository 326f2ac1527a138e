/* connections: from connect clauses to equations (MLS 3.6, chapters 9 and 15).
 *
 * Once the clauses of all instances are collected, connections_write adds elements to expandable connectors, joins the sets of
 * connected variables, breaks loops of overdetermined connectors, and writes the equations.
 *
 * An operator (inStream, actualStream, cardinality, Connections.isRoot, Connections.rooted) becomes a variable with the dimensions
 * of its argument, which the equations of the connections, or its binding, define. So one equation of a component holds for all
 * elements of an array of components, even if they are connected differently. */
#pragma once

#include "instance/flat.h"

typedef struct Connections Connections;

typedef enum ConnectOperator {
  CONNECT_IN_STREAM,
  CONNECT_ACTUAL_STREAM,
  CONNECT_CARDINALITY,
  CONNECT_IS_ROOT,
  CONNECT_ROOTED,
  CONNECT_OPERATOR_COUNT,
} ConnectOperator;

/* The variable that replaces the operator on the argument: a stream variable (inStream, actualStream), a connector (cardinality) or
 * an overdetermined record (isRoot, rooted). It has all dimensions of the argument from the model down. */
Name connections_operator(Tree *tree, ConnectOperator operation, Instance *argument, Span span);

/* Declares the variables of operators and of expandable connectors, and writes the equations of all connections; false
 * after an error. */
bool connections_write(Flat *flat);
