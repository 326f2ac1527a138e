/* inverse: if the structure solves a single equation y = f(x) for x, and the model declares the inverse x = g(y) (Inversion), the
 * inverse replaces the equation. Its residual is kept and checked along the run like a constraint, because g may be an inverse in
 * name only. */
#pragma once

#include "array/array.h"

/* Replaces residuals of the problem, whose incidence is known. `put_aliases` makes an expression of the model one of the problem. Owned
 * by the arena. */
void inverse_replace(Problem *problem, Expr (*put_aliases)(const void *problem, Expr e), Arena *arena);
