/* options: one table with the name, argument, commands, meaning and destination of each option. The parser and the help are its
 * only readers. */
#pragma once

#include "cli/command.h"

#include <stddef.h>

/* The values that an option takes. */
typedef enum OptionKind {
  OPTION_FLAG,
  OPTION_TEXT,
  OPTION_LIST, /* names of variables and the like, separated by commas; from here to OPTION_DISTRIBUTION: may be repeated */
  OPTION_PARAMETERS,   /* names of parameters, separated by commas */
  OPTION_OVERRIDES,    /* names with values: a=1,b={1,2},c=Mode.off */
  OPTION_VALUES,       /* names with numbers: a=1,b=2 */
  OPTION_GUESSES,      /* names with guesses and bounds: a=1,b=2:0:9,c */
  OPTION_PAIRS,        /* pairs of names: x,y;u,v */
  OPTION_AXIS,         /* a parameter and its values: a=1:0.1:2 */
  OPTION_DISTRIBUTION, /* a parameter and its distribution: a=normal(1,0.1) */
  OPTION_LIMITS,       /* memory=8G,work=1e10,text=1G */
  OPTION_NUMBER,       /* finite */
  OPTION_POSITIVE,     /* finite, above zero */
  OPTION_COUNT,        /* integer, at least one */
  OPTION_SEED,         /* integer, at least zero */
  OPTION_METHOD,       /* one of daedal_method_names */
  OPTION_DUMP,         /* one of daedal_pass_names */
  OPTION_SOLVER,       /* one of daedal_solver_names */
  OPTION_MNA,          /* conventional or charge */
  OPTION_SAMPLING,     /* sobol, lhs or random */
  OPTION_WAY,          /* a way to find a steady state */
  OPTION_METHODS,      /* several methods, separated by commas */
  OPTION_SOLVERS,
  OPTION_PAIR,       /* two numbers above zero, separated by a comma */
  OPTION_TRAJECTORY, /* a path that ends in .csv, .mat, .raw or .npy, or "-" */
  OPTION_PICTURE,    /* a path that ends in .svg, .png or .pdf */
  OPTION_PLOT,       /* a path that ends in .svg, .png or .pdf, or "-"; may be repeated */
  OPTION_PAGE,       /* a path that ends in .html */
  OPTION_AXES,       /* x, y or xy */
  OPTION_LIBRARY,    /* paths that end in .so, separated by commas; optional */
  OPTION_JSON,       /* a path or "-"; "-" is optional in the last argument */
  OPTION_READ,       /* a path to read from, optionally followed by "@TIME" */
  OPTION_INPUTS,     /* expressions and paths to read from, separated by commas */
  OPTION_OUTPUT,     /* a path to write to, or "-" */
  OPTION_DIRECTORY,  /* a directory to write to */
  OPTION_RUNS,       /* a directory, or a path that ends in .h5 */
  OPTION_SEARCHED,   /* a directory to search; may be repeated */
} OptionKind;

typedef struct Option {
  const char *name;       /* including the dashes */
  const char *short_name; /* NULL: none */
  const char *argument;   /* the name of its value in the help; NULL for a flag */
  unsigned commands;      /* bits IN_... */
  OptionKind kind;
  size_t offset; /* offset of its member in Arguments */
  const char *help;
} Option;

extern const Option options[]; /* ends with an entry whose name is NULL */

/* The names that an option accepts, NULL-terminated; NULL if it accepts other values. */
const char *const *option_names(const Option *option);

/* Does the option name a directory to write into? */
bool option_is_directory(const Option *option, const char *value);

/* Reads the words after the command, `--name value` or `--name=value`, and the model's path. false: a message says what is wrong.
 * The strings belong to the caller; arguments_free frees the rest, even after a failure. */
bool options_parse(const Command *command, int count, char **words, Arguments *arguments);
void arguments_free(Arguments *arguments);
