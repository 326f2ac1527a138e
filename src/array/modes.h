/* modes: the conditions that cause events. Each relation a < b, integer function and sign outside of noEvent and smooth is
 * replaced in the equations by a discrete leaf, its mode. So the equations are smooth between events. A mode
 * is a function of its difference, a - b or the argument, and holds while the difference stays in a range. Derivatives of an
 * equation contain the same relations, so the same modes. */
#pragma once

#include "array/array.h"
#include "core/condition.h"
#include "expr/enclosure_plan.h"

#include <math.h>

typedef struct Modes {
  uint32_t count;
  uint32_t first; /* discrete leaf index of mode 0: after the leaves of the model and of the logic */
  Expr *relation; /* the expression whose value the mode is; its operator says how it follows from the difference */
  Expr *written;  /* the difference as the equations write it, for guesses that do not satisfy the equations */
  /* inner relations are replaced by their modes, and variables with explicit equations by their expressions */
  Expr *difference;
  Expr *size;     /* size of the terms of the difference: its round-off is relative to that */
  Expr *rate;     /* derivative of the difference with respect to time */
  bool *timed;    /* the difference depends only on time, parameters and modes, and has bounds over intervals of time */
  uint32_t *edge; /* the first mode with the same difference, or its negative: they change at one edge */
  bool *is_mirrored; /* its difference is the negative of that of mode `edge` */
  bool *meets; /* the branches meet where it changes, and equations contain the relation itself: see array/meeting.h */
  const Logic *logic; /* everything else that changes at events */
  bool has_inputs;    /* inputs may jump at events */

  /* The solution bends, without an event, where one of these expressions is zero: the argument of abs or semiLinear, the difference
   * of the arguments of min or max, the difference of the sides of a relation within noEvent or smooth. */
  uint32_t kinks;
  Expr *kink, *kink_rate, *kink_size; /* its derivative with respect to time; its size, as above */
} Modes;

/* Can there be an event? */
bool modes_make_events(const Modes *modes);

/* The number of discrete leaves: those of the model, of the logic and of the modes. */
uint32_t modes_leaves(const Modes *modes);

/* Extracts the modes from the residuals of the problem, in place. Owned by the arena. O(size of the equations). */
Modes modes_extract(Problem *problem, Arena *arena);

/* The spatialDistribution whose outgoing jump sets this mode; NULL if the mode is not of this kind. */
const LogicDelay *modes_pipe(const Modes *modes, const Dag *dag, uint32_t mode);

/* An expression with relations in place of their modes, as the user wrote them. */
Expr modes_restore(const Modes *modes, Dag *dag, Expr e);

/* The sum of the sizes of a sum's terms, whose round-off stays in it when they cancel. */
Expr modes_sum_sizes(Dag *dag, Expr e);

/* The kind of condition that belongs to a relation with this operator. */
static inline ConditionKind mode_kind(Op op) {
  switch (op) {
  case OP_GREATER: return CONDITION_GREATER;
  case OP_GREATER_EQUAL: return CONDITION_GREATER_EQUAL;
  case OP_LESS: return CONDITION_LESS;
  case OP_LESS_EQUAL: return CONDITION_LESS_EQUAL;
  case OP_SIGN: return CONDITION_SIGN;
  case OP_CEIL: return CONDITION_CEIL;
  case OP_DIV: return CONDITION_TRUNCATE;
  default: return CONDITION_FLOOR;
  }
}

/* For a mode whose relation has this operator: its value at a difference; the range of differences, edges included, in which it may
 * have a value; the edge between two values that is nearest to a difference. */
static inline double mode_value(Op op, double difference) { return condition_value(mode_kind(op), difference); }
static inline Interval mode_range(Op op, double value) {
  ConditionRange range = condition_range(mode_kind(op), value);
  return (Interval){range.low, range.high};
}
