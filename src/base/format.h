/* format: printf's text in any locale of the program around the library: numbers have a point. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

/* As vsnprintf does in the C locale. */
int format_list(char *out, size_t size, const char *format, va_list list);
