/* loop: equations and assertions in for-equations, compiled once for all values of the iterators.
 *
 * The code of such a statement is always the same, except for some constants. If all its values are scalars, and its subscripts
 * are multiples of iterators plus a number, it becomes a list of steps that work on nodes of the graph, without the machine.
 * Otherwise the machine runs the code with other constants.
 *
 * Invariant: the steps make the same nodes as the machine. If a step cannot be done, nothing has changed, and the machine runs the
 * code, to report the error. */
#pragma once

#include "lang/elaborate.h"

typedef struct LoopCode LoopCode;

/* The code of the statement for iterators of the present types; NULL: it must be compiled. */
LoopCode *loop_find(Elaboration *el, const AstStatement *statement);

/* Takes over the code from the compiler, after a run without errors, if it fits all values of the iterators. */
void loop_keep(Elaboration *el, const AstStatement *statement, Compiler *c);

/* Frees all codes, at the end of the outermost loop. */
void loop_free_all(Elaboration *el);

/* The code for the machine, with the present values of the iterators. */
Routine *loop_routine(Elaboration *el, LoopCode *code);

/* Runs the steps of an equation; false: the machine must run the code. `base`: the type that its sides have in common. */
bool loop_sides(Elaboration *el, LoopCode *code, Expr *left, Expr *right, BaseType *base);

/* Runs the steps of an assertion; false: the machine must run the code. */
bool loop_assert(Elaboration *el, LoopCode *code, Span span);
