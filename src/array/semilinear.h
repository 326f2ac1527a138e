/* semilinear: flows that semiLinear gives twice. At x = 0, y = semiLinear(x, a, s) and y = semiLinear(x, s, b) do not determine s,
 * because both equations are then y = 0. They mean s = if x >= 0 then a else b and y = semiLinear(x, a, b) (Modelica Language
 * Specification 3.6, section 3.7.4.5). Likewise, flows y[i] = semiLinear(x[i], s, b[i]) whose sum is zero, or a source, do not
 * determine s if nothing flows. Then s is the mean of all b[i]; otherwise it is their mean weighted with the inflows. Both cases
 * are one formula, because every inflow is at least a small positive flow, the same for all. This applies to nodes whose balance
 * gives s. In a volume with storage, s follows from the stored quantity, and the balance gives the inflow. */
#pragma once

#include "expr/dag.h"

/* The residual of a node's balance, and its solution for the slope that its streams have in common. */
typedef struct StreamNode {
  uint32_t row;
  Expr slope, mixed;
} StreamNode;

typedef VEC(StreamNode) StreamNodeVec;

/* Rewrites residuals of equal flows in place, along chains of any length. Appends the nodes, whose residuals are unchanged.
 * O(count) expected. */
void semilinear_join(Dag *dag, Expr *residual, uint32_t count, StreamNodeVec *nodes);

/* Replaces v in products x*v by its definition v = noEvent(if x > 0 then a else b). v jumps where x changes its sign, but the
 * product does not. A solver that must find x and v at once would not converge. O(size of the equations). */
void semilinear_put_choices(Dag *dag, Expr *residual, uint32_t count);
