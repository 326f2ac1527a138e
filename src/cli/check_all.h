/* check_all: checks every model of the libraries by itself, in parallel: its names, types and sizes, and whether it is balanced. */
#pragma once

#include "cli/command.h"

/* Reports what is wrong, each message once, and how many models are fine; with --json also the analysis of each. Returns the exit
 * status: that of the first wrong model in the order of files. */
int check_all(const Arguments *arguments);
