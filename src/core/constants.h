/* constants: the table of constants.def as C. */
#pragma once

#include <float.h>

#define NUMBER(name, value, unit, reason, source) static const double name = value;
#define COUNT(name, value, unit, reason, source) enum { name = value };
#include "core/constants.def"
#undef NUMBER
#undef COUNT
