/* terminal: properties of the terminal, if standard error or standard output is one. Colour is used only on a terminal, never with
 * NO_COLOR set (no-color.org) or on a dumb one. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

typedef enum Style { STYLE_NONE, STYLE_BOLD, STYLE_ERROR, STYLE_WARNING, STYLE_NOTE, STYLE_CARET } Style;

/* The escape sequence that begins a style on standard error; STYLE_NONE ends it; "" without colour. */
const char *terminal_style(Style style);

/* Writes bytes to a stream with control characters as escapes, since names may contain some that change the terminal. Line breaks
 * and tabs stay if `lines`. */
void terminal_write(FILE *file, const char *bytes, size_t length, bool lines);

/* Prints exactly one line on standard error, even if values of the format contain line breaks. */
__attribute__((format(printf, 1, 2))) void terminal_say(const char *format, ...);

/* Is standard error a terminal? */
bool terminal_is_watched(void);

/* Columns of the terminal on standard error, or on standard output; 80 when there is none. */
unsigned terminal_width(void);
