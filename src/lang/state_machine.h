/* state_machine: states and transitions (Modelica Language Specification 3.6, chapter 17), expressed by clocked equations.
 *
 * While equations are read, transitions are recorded, and so is the state that contains each equation. Then each machine gets a
 * variable with the number of its active state, and the equations of a state become those of a clock:
 *
 *   x = f             in state s becomes     x = if activeState(s) then f else previous(x)
 *   v = f, v = g      in states s and t      v = if activeState(s) then f elseif activeState(t) then g else previous(v)
 *
 * where v is declared outside of both. previous(x) is the start value of x when s is entered with a reset. */
#pragma once

#include "lang/elaborate.h"

typedef struct Transition {
  Name from, to;
  Expr condition;
  bool is_immediate, is_reset, is_synchronized;
  int64_t priority;
  uint32_t ticks, time; /* positions of the variables that replace ticksInState(), timeInState(); NONE: not used */
  Span span;
} Transition;

/* Is the statement transition(...) or initialState(...), which are not functions? */
bool state_machine_is_call(const Elaboration *el, const AstStatement *statement);

/* Declares activeState(s) for all states that the class names. */
void states_declare(Elaboration *el, const AstClass *ast);

/* Records a transition or initial state; `run` gives the scalar value of an expression, or EXPR_NONE after an error. */
typedef Expr StateRun(Elaboration *el, AstExpr e, Type type);
void state_machine_note(Elaboration *el, const AstStatement *statement, StateRun *run);

/* The variable that replaces ticksInState() or timeInState(); EXPR_NONE after an error. */
Expr state_duration(Elaboration *el, Special special, Span span);

/* Writes all machines as equations, before clocks are inferred. */
void state_machines_elaborate(Elaboration *el);

/* The Boolean that resets a variable of a state; NONE if there is none. */
uint32_t state_reset_of(const Elaboration *el, uint32_t variable);
