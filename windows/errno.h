/* See posix.h. */
#pragma once
#include_next <errno.h>

#include "posix.h"
