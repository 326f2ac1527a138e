/* format: printf with a decimal point in numbers, in any locale of the surrounding program. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

/* Like vsnprintf in the C locale. */
int format_list(char *out, size_t size, const char *format, va_list list);
