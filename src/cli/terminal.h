/* terminal: what standard error and standard output are connected to. Colour only on a terminal, never with
 * NO_COLOR set (no-color.org) or on a dumb one.
 */
#ifndef DAEDAL_CLI_TERMINAL_H
#define DAEDAL_CLI_TERMINAL_H

#include <stdbool.h>

typedef enum Style { STYLE_NONE, STYLE_BOLD, STYLE_ERROR, STYLE_WARNING, STYLE_NOTE, STYLE_CARET } Style;

/* The escape sequence that begins a style on standard error, STYLE_NONE ends it; "" without colour. */
const char *terminal_style(Style style);

/* Whether a person watches standard error. */
bool terminal_is_watched(void);

/* Columns of the terminal on standard error, or on standard output; 80 when there is none. */
unsigned terminal_width(void);

#endif
