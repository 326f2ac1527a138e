/* condition: the kinds of condition that are frozen between events, each as a function of the difference between its two sides.
 * Exported solvers contain this file unchanged. */
#pragma once

#include <math.h>

typedef enum ConditionKind {
  CONDITION_LESS,
  CONDITION_LESS_EQUAL,
  CONDITION_GREATER,
  CONDITION_GREATER_EQUAL,
  CONDITION_FLOOR,
  CONDITION_CEIL,
  CONDITION_TRUNCATE,
  CONDITION_SIGN
} ConditionKind;

/* How rows depend on a discrete value: on the value, on its pre(), or in initial equations. */
enum { MATTERS_VALUE = 1, MATTERS_PRE = 2, MATTERS_INITIAL = 4 };

typedef struct ConditionRange {
  double low, high;
} ConditionRange;

/* The value at a difference. */
double condition_value(ConditionKind kind, double difference);

/* Does the condition have a value at this difference? At infinity, relations have a value; floor and similar functions have none. */
static inline int condition_is_defined(ConditionKind kind, double difference) {
  return !isnan(difference) && (kind < CONDITION_FLOOR || kind == CONDITION_SIGN || !isinf(difference));
}

/* The edge between two values that is nearest to a difference. */
double condition_edge(ConditionKind kind, double difference);

/* The differences, edges included, at which the condition may have this value. */
static inline ConditionRange condition_range(ConditionKind kind, double value) {
  ConditionRange above = {0, HUGE_VAL}, below = {-HUGE_VAL, 0}, none = {0, 0};
  switch (kind) {
  case CONDITION_GREATER:
  case CONDITION_GREATER_EQUAL: return value != 0 ? above : below;
  case CONDITION_LESS:
  case CONDITION_LESS_EQUAL: return value != 0 ? below : above;
  case CONDITION_SIGN: return value > 0 ? above : value < 0 ? below : none;
  case CONDITION_CEIL: return (ConditionRange){value - 1, value};
  case CONDITION_TRUNCATE: return (ConditionRange){value <= 0 ? value - 1 : value, value >= 0 ? value + 1 : value};
  default: return (ConditionRange){value, value + 1};
  }
}
