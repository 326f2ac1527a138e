/* condition: see condition.h. */
#include "core/condition.h"

double condition_value(ConditionKind kind, double difference) {
  switch (kind) {
  case CONDITION_GREATER: return difference > 0;
  case CONDITION_GREATER_EQUAL: return difference >= 0;
  case CONDITION_LESS: return difference < 0;
  case CONDITION_LESS_EQUAL: return difference <= 0;
  case CONDITION_SIGN: return (difference > 0) - (difference < 0);
  case CONDITION_CEIL: return ceil(difference);
  case CONDITION_TRUNCATE: return trunc(difference);
  default: return floor(difference);
  }
}

double condition_edge(ConditionKind kind, double difference) {
  if (kind <= CONDITION_GREATER_EQUAL || kind == CONDITION_SIGN) return 0;
  double edge = round(difference);
  return kind == CONDITION_TRUNCATE && edge == 0 ? copysign(1, difference) : edge;
}
