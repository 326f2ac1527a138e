/* clock: synchronous elements (Modelica Language Specification 3.6, chapter 16), expressed by elements of the flat model.
 *
 * Every use of an operator (sample, hold, previous, subSample, ...) becomes a separate discrete variable while code is run over the
 * graph (clock_operator.c). So equations contain no clocked operators, only variables. Then the variables are partitioned into
 * clocks, and their rates are found as exact fractions of a base clock (clock_infer.c). Finally, a when for each clock assigns
 * these variables at its ticks (clock_write.c). All other equations of a clock are kept unchanged. The values that they read change
 * only at ticks, so the equations may hold at all times. */
#pragma once

#include "lang/elaborate.h"

/* A reduced fraction of numbers below 2^63; d > 0. */
typedef struct Fraction {
  int64_t n, d;
} Fraction;

/* One use of an operator. */
typedef struct ClockOperator {
  Special special;
  Type type; /* of the result */
  uint32_t count;
  Expr arguments[3];
  uint32_t result; /* position of the variable that stands for its value */
  Span span;
} ClockOperator;

/* Variables and equations that tick together: a sub-clock partition. */
typedef struct Clock {
  uint32_t witness; /* position of a variable that has this clock */
  uint32_t clocked; /* an operator that shows that this is a clock; NONE: there is none, and this is continuous time */
  uint32_t continuous; /* position of a variable that belongs to continuous time; NONE: none */
  uint32_t definer;    /* operator that constructs it; NONE: its rate follows from others */
  bool has_equations;
  bool is_known;
  uint32_t base; /* the operator that constructs the base clock */
  /* Tick number k, from 0, is tick number shift + k*rate of the base clock. */
  Fraction rate, shift;
  Name solver; /* solver method; 0: none */

  /* used while the clock is written */
  Expr tick;         /* true at its ticks; EXPR_NONE: not yet */
  uint32_t ticks;    /* position of the variable that counts them; NONE: not yet */
  ActionVec actions; /* assignments at a tick */
  Expr interval;     /* EXPR_NONE: not yet */
} Clock;

typedef struct ClockPartition {
  uint32_t *clock_of; /* per variable */
  VEC(Clock) clocks;
} ClockPartition;

/* ---- clock_operator.c ---- */

/* The variable that replaces a use of an operator. EXECUTE_UNKNOWN: a factor or another argument is not known yet. */
ExecuteStatus clock_operator(Elaboration *el, Special special, Type type, const Expr *arguments, uint32_t count,
                             Span span, Expr *out);

/* Adds a discrete variable to the model, with this name or a similar one; returns its position. */
uint32_t clock_variable(Elaboration *el, const char *name, BaseType type, Expr start, Span span);

bool clock_is_constructor(Special special);
/* subSample and the like, including noClock: the result has a different clock from the first argument. */
bool clock_is_conversion(Special special);

/* ---- clock_infer.c ---- */

/* Finds the clock of each variable, and when it ticks; false after an error. About O(size of the equations). */
bool clocks_infer(Elaboration *el, ClockPartition *partition);

/* Is this a base clock of events, or a base clock whose interval varies? In both cases there is nothing to count between its
 * ticks. */
bool clock_is_irregular(const Elaboration *el, const ClockOperator *base);

Fraction fraction_make(int64_t n, int64_t d);
/* d is 0 if the result is out of range. */
Fraction fraction_multiply(Fraction a, Fraction b);
Fraction fraction_add(Fraction a, Fraction b);

void partition_free(Elaboration *el, ClockPartition *partition);

/* ---- clock_discretize.c ---- */

/* Replaces the differential equations of clocks by difference equations. New variables and operators need another inference. false
 * after an error. */
bool clocks_discretize(Elaboration *el, const ClockPartition *partition);

/* ---- clock_tick.c ---- */

/* Writes the clocks into the model. */
typedef struct ClockWriter {
  Elaboration *el;
  Dag *dag;
  ClockPartition *partition;
} ClockWriter;

Clock *clock_of_variable(const ClockWriter *w, uint32_t variable);
Expr clock_number(const ClockWriter *w, double value);
Expr clock_leaf(const ClockWriter *w, uint32_t variable);
void clock_add_equation(ClockWriter *w, uint32_t variable, Expr value, BaseType base, Span span);
/* Makes a tick of the clock assign a variable. */
void clock_assign(ClockWriter *w, Clock *clock, uint32_t target, Expr value, Span span);
const ClockOperator *clock_base(const ClockWriter *w, const Clock *clock);
Expr clock_seconds(const ClockWriter *w, const ClockOperator *base, Fraction ticks);
Expr clock_ticks(ClockWriter *w, Clock *clock);
Expr clock_is_first(ClockWriter *w, Clock *clock);
/* True at the ticks of the clock. */
Expr clock_tick(ClockWriter *w, Clock *clock);
/* The Boolean that replaces a variable of type Clock. */
Expr clock_value(ClockWriter *w, uint32_t variable);
/* The start value of the variable with this leaf. */
Expr clock_start(const ClockWriter *w, Expr e);

/* ---- clock_guard.c ---- */

/* Makes the equations of a clock hold only from its first tick on. Before that, variables that cannot be computed yet have
 * their start values. Equations between clocks are removed. */
void clocks_guard(ClockWriter *w);

/* ---- clock_write.c ---- */

/* Removes the clocks from the model: discrete variables, whens and equations remain. */
void clocks_elaborate(Elaboration *el);
