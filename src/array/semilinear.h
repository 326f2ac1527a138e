/* semilinear: flows that semiLinear gives twice. y = semiLinear(x, a, s) and y = semiLinear(x, s, b) do not determine s at
 * x = 0, where one of the two equations says nothing; they mean s = if x >= 0 then a else b and y = semiLinear(x, a, b)
 * (Modelica Language Specification 3.6, section 3.7.4.5). Nor do flows y[i] = semiLinear(x[i], s, b[i]) whose sum is zero, or a source,
 * determine s where nothing flows: s is the mean of b[i], weighted with what flows in, and with the same least flow for all. */
#pragma once

#include "expr/dag.h"

/* Rewrites such residuals in place, along chains of any length. O(count) expected. */
void semilinear_join(Dag *dag, Expr *residual, uint32_t count);

/* Puts what v = noEvent(if x > 0 then a else b) says into products x*v: v jumps where x changes its sign, the product does not, and a
 * solver that must find both at once goes round in a circle. O(size of the equations). */
void semilinear_put_choices(Dag *dag, Expr *residual, uint32_t count);
