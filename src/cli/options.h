/* options: one table says of each option its name, argument, the commands it belongs to, its meaning and where its
 * value goes. The parser and the help are its only readers. */
#pragma once

#include "cli/command.h"

#include <stddef.h>

/* What values an option takes. */
typedef enum OptionKind {
  OPTION_FLAG,
  OPTION_TEXT,
  OPTION_LIST, /* names of variables and the like, commas between; from here to OPTION_DISTRIBUTION: may be given several times */
  OPTION_PARAMETERS,   /* the same of parameters */
  OPTION_OVERRIDES,    /* names with values: a=1,b={1,2},c=Mode.off */
  OPTION_VALUES,       /* names with numbers: a=1,b=2 */
  OPTION_GUESSES,      /* names with guesses and bounds: a=1,b=2:0:9,c */
  OPTION_PAIRS,        /* of names: x,y;u,v */
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
  OPTION_WAY,          /* to a steady state */
  OPTION_METHODS,      /* several of them, commas between */
  OPTION_SOLVERS,
  OPTION_PAIR,       /* two numbers above zero, a comma between */
  OPTION_TRAJECTORY, /* a path that ends in .csv, .mat, .raw or .npy, or "-" */
  OPTION_PICTURE,    /* a path that ends in .svg, .png or .pdf */
  OPTION_PLOT,       /* the same, or "-" */
  OPTION_PAGE,       /* a path that ends in .html */
  OPTION_AXES,       /* x, y or xy */
  OPTION_LIBRARY,    /* paths that end in .so, commas between; may be left out */
  OPTION_JSON,       /* a path or "-"; as the last argument, "-" may be left out */
  OPTION_READ,       /* a path to read from, perhaps with "@TIME" behind it */
  OPTION_INPUTS,     /* expressions and paths to read from, commas between */
  OPTION_OUTPUT,     /* a path to write to, or "-" */
  OPTION_DIRECTORY,  /* the same, of a directory */
  OPTION_RUNS,       /* a directory, or a path that ends in .h5 */
  OPTION_SEARCHED,   /* a directory that is searched; may be given several times */
} OptionKind;

typedef struct Option {
  const char *name;       /* with dashes */
  const char *short_name; /* NULL if there is none */
  const char *argument;   /* how help calls its value; NULL of a flag */
  unsigned commands;      /* IN_... */
  OptionKind kind;
  size_t offset; /* of its place in Arguments */
  const char *help;
} Option;

extern const Option options[]; /* ends with an entry without a name */

/* The names that an option may take, NULL behind the last; NULL if it is not one of a list. */
const char *const *option_names(const Option *option);

/* Does the option name a directory to write into? */
bool option_is_directory(const Option *option, const char *value);

/* Reads the words after the command, `--name value` or `--name=value`, and the model's path. False after a
 * message about what is wrong. The strings stay the caller's; arguments_free frees the rest, in any case. */
bool options_parse(const Command *command, int count, char **words, Arguments *arguments);
void arguments_free(Arguments *arguments);
