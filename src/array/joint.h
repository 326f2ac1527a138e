/* joint: how the branches of an if-expression meet where its condition changes. */
#pragma once

#include "expr/dag.h"

/* Do the branches of if left < right (or another relation) have equal values and slopes at its edge? Tries random points near the
 * edge, on the sides where both branches are defined. false: they do not meet, or that is unknown. O(size of the expressions). */
bool joint_is_smooth(Dag *dag, Expr relation, Expr then, Expr otherwise);

/* Do the branches have equal values at the edge, so that there is no jump? */
bool joint_is_continuous(Dag *dag, Expr relation, Expr then, Expr otherwise);

/* At most points of the edge, does the value jump by a considerable part of itself, between branches that are defined on both
 * sides? At some points two branches that jump have nearly the same value. false: there is none, or it is unknown. */
bool joint_jumps(Dag *dag, Expr relation, Expr then, Expr otherwise);
