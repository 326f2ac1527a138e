/* output: standard output with its failures: a closed or full one ends the command with status 7. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Makes sure that the three standard descriptors exist, so that none of our files takes the place of a closed one. Also turns
 * SIGPIPE and SIGXFSZ into errors of writing. */
void output_begin(void);

/* Writes bytes; on a terminal, control characters become escapes, since names may contain them. false: bytes were lost. */
bool output_bytes(const void *bytes, size_t length);

/* Writes a text, and a line break if it does not end with one. */
void output_text(const char *text);

/* Flushes. Returns the status, or 7 after a message if the status is 0 and output was lost. */
int output_end(int status);
