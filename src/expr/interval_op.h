/* interval_op: the operators of ops.def on intervals. Exported solvers contain this file unchanged. */
#pragma once

#include "expr/interval.h"
#include "expr/op.h"

/* Does the operator have a rule? Calls, delays and the like have none. */
bool interval_has_rule(Op op);

/* The values of an operator with at most three arguments; not for sums. */
Interval interval_operator(Op op, const Interval *x);

/* The values of its derivative with respect to argument k, if the operator is continuous (interval_is_continuous); `self` holds its
 * own values. */
Interval interval_partial(Op op, uint32_t k, const Interval *x, Interval self);

/* Is the operator continuous, with bounded slopes, on these arguments? `self` holds its own values. */
bool interval_is_continuous(Op op, const Interval *x, Interval self);
