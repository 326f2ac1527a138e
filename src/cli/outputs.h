/* outputs: the files that the options name for writing, checked before any work is done for them. */
#pragma once

#include "cli/command.h"

struct Option;

/* What an option writes to; NULL for nothing but standard output. */
const char *outputs_path(const struct Option *option, const Arguments *arguments);

/* Are all outputs different files, and none of them the model, under any name? false after a message. */
bool outputs_distinct(const Arguments *arguments);

/* Whether all of them could be written now; false after a message. */
bool outputs_writable(const Arguments *arguments);

/* Why a file could not be written now, as errno has it; 0 if it could. */
int output_error(const char *path);
