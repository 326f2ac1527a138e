/* output: standard output, whose failures count: a closed or full one ends the command with status 7. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Makes sure that the three standard descriptors exist, so that no file of ours takes the place of a closed
 * one, and that a reader who goes away or a limit of file sizes is an error to report, not a signal. */
void output_begin(void);

/* Writes bytes; to a terminal with control characters as escapes, for names may hold them. False if they got lost. */
bool output_bytes(const void *bytes, size_t length);

/* Writes a text, with a line break at its end if it has none. */
void output_text(const char *text);

/* Flushes; returns the status, or 7 after a message when something written was lost and the status is 0. */
int output_end(int status);
