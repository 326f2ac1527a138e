/* deduce: the range of an iterator without a written one, `for i loop x[i] = ...` (Modelica 3.6, section 11.2.2.1). The range
 * follows from the subscripts in which the iterator is used. */
#pragma once

#include "syntax/parser_state.h"

/* Deduces the range of an iterator from the subscripts in nodes [begin, end) that use it. If the dimension is declared by a type
 * (Boolean or an enumeration), the range is that type, otherwise 1:size(x, 1). If there are several arrays, the largest size is
 * used, so a subscript of a smaller array is out of bounds. AST_NONE after an error. */
AstExpr deduce_range(Parser *parser, AstLabel iterator, AstExpr begin, AstExpr end);
