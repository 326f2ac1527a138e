/* outputs: checks the files that options name for writing, before any work is done. */
#pragma once

#include "cli/command.h"

struct Option;

/* The k-th path that an option writes to, "" if that is standard output; NULL after the last. */
const char *outputs_path(const struct Option *option, const Arguments *arguments, int k);

/* Are all outputs different files, and none of them the model, under any name? false after a message. */
bool outputs_distinct(const Arguments *arguments);

/* Can all of them be written now? false after a message. */
bool outputs_writable(const Arguments *arguments);

/* The errno that says why a file cannot be written now; 0 if it can. */
int output_error(const char *path);
