/* render: draws diagnostics on standard error, in the form that compilers use: file:line:column, severity, message, the
 * line and an underline, then the notes. */
#pragma once

#include "daedal.h"

/* Draws one diagnostic; `path` stands where it names no file. */
void render_diagnostic(const daedal_diagnostic *diagnostic, const char *path);

/* Says how many errors there were, when more than one, and how many of them were not drawn. */
void render_count(uint32_t errors, uint32_t drawn);
