/* deduce: the range of an iterator that is written without one, `for i loop x[i] = ...` (Modelica 3.6, section 11.2.2.1):
 * the subscripts that the iterator is used as tell it. */
#pragma once

#include "syntax/parser_state.h"

/* The range of an iterator from its uses in nodes [begin, end): the type of a dimension that is declared by one, else
 * 1:size(x, 1). Of several arrays the largest size counts, so that a subscript of a smaller one is out of its bounds.
 * AST_NONE after an error. */
AstExpr deduce_range(Parser *parser, AstLabel iterator, AstExpr begin, AstExpr end);
