/* See posix.h. */
#pragma once
#include_next <locale.h>

#include "posix.h"
