/* vary: the values that a sweep gives to one variable. */
#pragma once

#include <stdint.h>

typedef struct Vary {
  const char *name;
  const double *values;
  uint32_t count;
} Vary;
