/* help: texts about the command itself, made from the tables of commands and options. */
#pragma once

#include "cli/command.h"

#include <stdio.h>

/* A few lines, for someone who typed only `daedal`. */
void help_short(FILE *file);

/* Every command and every option. */
void help_all(FILE *file);

/* The version, and what it was built with. */
void print_version(FILE *file);

/* One command and its options. */
void help_command(FILE *file, const Command *command);
