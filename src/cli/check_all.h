/* check_all: every model of the libraries by itself, in parallel: its names, types and sizes, and whether it is
 * balanced. */
#pragma once

#include "cli/command.h"

/* Says what is wrong, each message once, and how many models are fine; with --json the analysis of each. Returns the exit
 * status: that of the first model, in the order of files, that is wrong. */
int check_all(const Arguments *arguments);
