/* render: draws diagnostics on standard error, in the form that compilers use: file:line:column, severity, message, the
 * line and an underline, then the notes. */
#pragma once

#include "daedal.h"

/* Draws one diagnostic; `path` is used if it names no file. */
void render_diagnostic(const daedal_diagnostic *diagnostic, const char *path);

/* Prints the number of errors, if there are several, and how many of them were not drawn. */
void render_count(uint32_t errors, uint32_t drawn);
