/* options: the table of options and its parser. Most options may be given only once. Every value is checked here, before any work,
 * except those that need the model. */
#include "cli/options.h"

#include "cli/lists.h"
#include "cli/picture.h"
#include "cli/suggest.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLACE(member) offsetof(Arguments, member)

enum {
  IN_TIMES = IN_SIMULATE | IN_COMPARE | IN_REPORT | IN_SWEEP | IN_FIT,
  IN_POINTS = IN_LINEARIZE | IN_STEADY,
  IN_RUNS = IN_INIT | IN_REDUCE | IN_EXPORT | IN_TIMES | IN_POINTS,
  MOST_OPTIONS = 96
};

const Option options[] = {
    {"--model", NULL, "NAME", IN_MODELS | IN_COMPLETION, OPTION_TEXT, PLACE(class_name),
     "the class to use; default: the last model of the file"},
    {"--library", NULL, "DIR", IN_MODELS | IN_COMPLETION, OPTION_SEARCHED, PLACE(modelica_path),
     "a directory of Modelica libraries, like an entry of MODELICAPATH, or an FMU; may be repeated"},
    {"--allow-read", NULL, "DIR", IN_MODELS, OPTION_SEARCHED, PLACE(readable),
     "a directory whose files the model may read, in addition to its own and those of libraries; may be repeated"},
    {"--sandbox", NULL, NULL, IN_MODELS, OPTION_FLAG, PLACE(sandbox),
     "for models that you do not trust: only named files, no connections, no programs"},
    {"--no-sandbox", NULL, NULL, IN_MODELS, OPTION_FLAG, PLACE(no_sandbox),
     "keep the rights to write other files, make connections and start programs; by default they are dropped"},
    {"--mna", NULL, "FORM", IN_MODELS, OPTION_MNA, PLACE(mna),
     "equations of a netlist: conventional, or charge with charges and fluxes as variables"},
    {"--allow-external", NULL, "[LIBRARY]", IN_MODELS | IN_FMU, OPTION_LIBRARY, PLACE(libraries),
     "let external functions write files and run commands; take functions from LIBRARY.so"},
    {"--strict", NULL, NULL, IN_MODELS, OPTION_FLAG, PLACE(strict),
     "refuse what the Modelica language forbids or does not have"},
    {"--units", NULL, NULL, IN_MODELS, OPTION_FLAG, PLACE(units), "warn about equations whose units differ"},
    {"--limits", NULL, "memory=8G,...", IN_MODELS, OPTION_LIMITS, PLACE(limits),
     "limits of the model: bytes of memory, steps of work, characters of text"},
    {"--energy", NULL, NULL, IN_MODELS, OPTION_FLAG, PLACE(energy),
     "add energy, its balance and constraint forces to a model with a Lagrangian"},
    {"--boundary", NULL, "X=1;Y=2", IN_MODELS, OPTION_TEXT, PLACE(boundary),
     "equations that hold at the end of the run, in addition to final equations of the model"},
    {"--segments", NULL, "N", IN_SIMULATE, OPTION_COUNT, PLACE(run.segments),
     "segments of multiple shooting, for final equations; default: 1, then 4 and 16"},
    {"--start-time", NULL, "T", IN_RUNS, OPTION_NUMBER, PLACE(run.start_time), "when the simulation starts"},
    {"--stop-time", NULL, "T", IN_TIMES | IN_EXPORT, OPTION_NUMBER, PLACE(run.stop_time), "when it stops"},
    {"--at", NULL, "T", IN_LINEARIZE, OPTION_NUMBER, PLACE(run.stop_time),
     "linearize at this time of the run; default: at the initial values"},
    {"--inputs", NULL, "A,B", IN_LINEARIZE, OPTION_LIST, PLACE(inputs),
     "inputs of the linear form; default: all inputs of the model without a value"},
    {"--by", NULL, "WAY", IN_STEADY, OPTION_WAY, PLACE(way), "default: all, in this order"},
    {"--vary", NULL, "X=VALUES", IN_SWEEP, OPTION_AXIS, PLACE(vary),
     "values of a parameter or start value: 1:0.1:2, log(1,100,50), lin(0,1,11), {1,2,5}; may be repeated"},
    {"--distribution", NULL, "X=D", IN_SWEEP, OPTION_DISTRIBUTION, PLACE(distributions),
     "distribution of samples: normal(1,0.1), uniform(0,1), ...; may be repeated"},
    {"--samples", NULL, "N", IN_SWEEP, OPTION_COUNT, PLACE(samples), "number of samples of the distributions"},
    {"--sampling", NULL, "S", IN_SWEEP, OPTION_SAMPLING, PLACE(sampling), "sobol (default), lhs or random"},
    {"--seed", NULL, "N", IN_SWEEP, OPTION_SEED, PLACE(seed), "seed of the samples; default 0"},
    {"--outputs", NULL, "LIST", IN_SWEEP | IN_LINEARIZE, OPTION_LIST, PLACE(outputs),
     "for a sweep, columns of the table: x, max(y), min(y), mean(E), rms(y), x@2.5, time(event); default: final "
     "values; "
     "of a linear form any variables; default: the outputs of the model"},
    {"--all", NULL, NULL, IN_CHECK, OPTION_FLAG, PLACE(all), "check every model and block of the libraries"},
    {"--threads", NULL, "N", IN_SWEEP | IN_CHECK, OPTION_COUNT, PLACE(threads),
     "number of threads; default: one per core"},
    {"--trajectories", NULL, "PLACE", IN_SWEEP, OPTION_RUNS, PLACE(trajectories),
     "directory for the trajectory of each point, or FILE.h5 for all of them"},
    {"--data", NULL, "FILE", IN_FIT, OPTION_READ, PLACE(data),
     "measurements: a column time, and columns named as variables"},
    {"--parameters", NULL, "A=1,B=2:0:9", IN_FIT, OPTION_GUESSES, PLACE(parameters),
     "parameters and start values to find: guess, or guess:least:greatest"},
    {"--weights", NULL, "X=2", IN_FIT, OPTION_VALUES, PLACE(weights), "factors of the residuals of columns; default 1"},
    {"--deviations", NULL, "X=0.1", IN_FIT, OPTION_VALUES, PLACE(deviations),
     "standard deviations of the measurements, if they are known"},
    {"--tolerance", NULL, "TOL", IN_DIFF | IN_FMU, OPTION_POSITIVE, PLACE(difference_tolerance),
     "for diff and fmu-check: the difference allowed, relative to the largest value of a signal; default 0, and 1e-3"},
    {"--absolute", NULL, "A", IN_DIFF, OPTION_POSITIVE, PLACE(difference_absolute),
     "the absolute difference allowed, in addition to --tolerance; default 0"},
    {"--tolerance", NULL, "TOL", IN_RUNS, OPTION_POSITIVE, PLACE(run.tolerance),
     "relative tolerance; the absolute tolerance is TOL times nominal"},
    {"--absolute-tolerance", NULL, "X=1e-9", IN_TIMES, OPTION_VALUES, PLACE(absolute_tolerances),
     "absolute tolerances of single variables"},
    {"--intervals", NULL, "N", (IN_TIMES & ~IN_FIT) | IN_EXPORT, OPTION_COUNT, PLACE(run.intervals),
     "number of output intervals"},
    {"--output-interval", NULL, "S", (IN_TIMES & ~IN_FIT) | IN_EXPORT, OPTION_POSITIVE, PLACE(run.output_interval),
     "time between output points, instead of --intervals"},
    {"--override", NULL, "A=1,B=2", IN_RUNS, OPTION_OVERRIDES, PLACE(overrides),
     "values of parameters and start values"},
    {"--input", NULL, "LIST", IN_INIT | IN_TIMES | IN_EXPORT | IN_POINTS, OPTION_INPUTS, PLACE(input),
     "inputs as functions of time, separated by commas: u=sin(time), FILE.csv, held:FILE.csv"},
    {"--start-values", NULL, "FILE", IN_RUNS, OPTION_READ, PLACE(run.start_values),
     "start values from a list, as written by init --write"},
    {"--start-from", NULL, "RESULT[@T]", IN_RUNS, OPTION_READ, PLACE(start_from),
     "start values from a result, at time T or its end"},
    {"--write", NULL, "FILE", IN_INIT, OPTION_OUTPUT, PLACE(write_path),
     "the values found, as a list for --start-values"},
    {"--propagation", NULL, NULL, IN_INIT, OPTION_FLAG, PLACE(run.propagation),
     "how an error in a start value spreads in the first steps of integrators"},
    {"--method", NULL, "M", IN_ANALYZE | IN_INIT | IN_SIMULATE | IN_EXPORT | IN_REDUCE | IN_REPORT | IN_SWEEP | IN_FIT,
     OPTION_METHOD, PLACE(run.method), "index reduction"},
    {"--solver", NULL, "S", IN_SIMULATE | IN_REPORT | IN_SWEEP | IN_FIT | IN_POINTS | IN_EXPORT, OPTION_SOLVER,
     PLACE(run.solver), "integrator"},
    {"--methods", NULL, "A,B", IN_COMPARE | IN_REPORT, OPTION_METHODS, PLACE(methods),
     "methods to compare (default: all that apply)"},
    {"--solvers", NULL, "A,B", IN_COMPARE | IN_REPORT, OPTION_SOLVERS, PLACE(solvers),
     "solvers to compare (default: auto)"},
    {"--baumgarte", NULL, "ALPHA,BETA", IN_TIMES | IN_REDUCE, OPTION_PAIR, PLACE(run.baumgarte_alpha),
     "parameters of method baumgarte; default: from the time scale of the model"},
    {"--keep-superfluous", NULL, NULL, IN_TIMES | IN_REDUCE, OPTION_FLAG, PLACE(run.keep_superfluous),
     "method dummy: keep differentiations that index 1 does not need"},
    {"--rank-tolerance", NULL, "R", IN_ANALYZE | IN_INIT | IN_TIMES | IN_EXPORT, OPTION_POSITIVE,
     PLACE(run.rank_tolerance), "method strangeness: singular values below R times the largest are zero; default 1e-9"},
    {"--invariant", NULL, "A,B", IN_SIMULATE | IN_COMPARE | IN_REPORT, OPTION_LIST, PLACE(run.invariants),
     "variables that should stay constant: their drift is reported"},
    {"--sensitivity", NULL, "A,X.start", IN_SIMULATE, OPTION_PARAMETERS, PLACE(run.sensitivity),
     "derivatives of all variables with respect to these parameters and start values, as signals der(x, A)"},
    {"--gradient", NULL, "X", IN_SIMULATE, OPTION_TEXT, PLACE(gradient),
     "derivatives of the last value of a variable, or of integral(X), by the adjoint method"},
    {"--gradient-by", NULL, "A,X.start", IN_SIMULATE, OPTION_PARAMETERS, PLACE(run.gradient_by),
     "differentiate with respect to these; default: all Real parameters and fixed start values"},
    {"--gradient-memory", NULL, "MB", IN_SIMULATE, OPTION_POSITIVE, PLACE(run.gradient_memory),
     "megabytes for the steps that --gradient needs; default 256"},
    {"--verify", NULL, NULL, IN_SIMULATE, OPTION_FLAG, PLACE(run.verify),
     "run again with another method at a hundredth of the tolerance; report how many digits agree"},
    {"--max-step", NULL, "H", IN_TIMES | IN_EXPORT, OPTION_POSITIVE, PLACE(run.max_step), "longest step"},
    {"--constraint-tolerance", NULL, "R", IN_SIMULATE | IN_REPORT | IN_SWEEP, OPTION_POSITIVE,
     PLACE(run.constraint_tolerance), "largest residual of a constraint; default: 100 times the tolerance"},
    {"--compile", NULL, NULL, IN_SIMULATE | IN_REPORT | IN_SWEEP, OPTION_FLAG, PLACE(run.compile),
     "compile the equations with the system's C compiler"},
    {"--output-file", "-o", "FILE", IN_SIMULATE | IN_LINEARIZE | IN_SWEEP, OPTION_TRAJECTORY, PLACE(output_path),
     "trajectory as FILE.csv, FILE.mat, FILE.raw, or - for CSV on standard output; table of a sweep as .csv, .mat, "
     ".npy; matrices of linearize as .mat"},
    {"--output-file", "-o", "FILE", IN_PLAN, OPTION_OUTPUT, PLACE(output_path),
     "for plan: the file; default: MODELNAME.plan"},
    {"--output-file", "-o", "FILE", IN_PLOT, OPTION_PLOT, PLACE(plots),
     "for plot: the picture as FILE.svg, .png or .pdf; without it, or with -, in characters on standard output"},
    {"--resume", NULL, NULL, IN_SIMULATE | IN_SWEEP, OPTION_FLAG, PLACE(run.resumes),
     "continue from FILE.part of a run or sweep that was interrupted"},
    {"--part-interval", NULL, "S", IN_SIMULATE, OPTION_POSITIVE, PLACE(run.part_interval),
     "seconds between two writes to FILE.part; default: 1"},
    {"--no-event-rows", NULL, NULL, IN_SIMULATE | IN_REPORT | IN_SWEEP, OPTION_FLAG, PLACE(run.no_event_rows),
     "no rows at events, only at output points"},
    {"--variables", NULL, "LIST", IN_SIMULATE | IN_REPORT | IN_SWEEP | IN_FILES, OPTION_LIST, PLACE(run.variables),
     "only these variables: names, names of arrays, regular expressions; separated by commas"},
    {"--protected", NULL, NULL, IN_SIMULATE, OPTION_FLAG, PLACE(with_protected),
     "keep protected variables and those with HideResult in a MAT file"},
    {"--short", NULL, NULL, IN_SIMULATE, OPTION_FLAG, PLACE(run.short_numbers),
     "write numbers of a CSV file with two digits more than the tolerance, instead of 17"},
    {"--plot", NULL, "FILE", IN_SIMULATE | IN_COMPARE | IN_LINEARIZE | IN_SWEEP | IN_FIT | IN_DIFF, OPTION_PLOT,
     PLACE(plots),
     "picture as FILE.svg, .png or .pdf; for simulate, linearize and diff also -, one in characters on standard "
     "output"},
    {"--plot-variables", NULL, "LIST", IN_SIMULATE | IN_REPORT, OPTION_LIST, PLACE(run.plot_variables),
     "what the picture shows: names, names of arrays, expressions; default: --variables, or states and outputs"},
    {"--plot-xy", NULL, "X,Y", IN_SIMULATE, OPTION_PAIRS, PLACE(plot_pairs),
     "one variable over another; several pairs separated by semicolons"},
    {"--plot-bands", NULL, "A=0.1", IN_SIMULATE, OPTION_VALUES, PLACE(plot_bands),
     "bands of twice the deviation around the curves, from these deviations of parameters of --sensitivity"},
    {"--plot-log", NULL, "AXES", IN_SIMULATE | IN_FILES, OPTION_AXES, PLACE(plot_axes), "logarithmic axes: x, y or xy"},
    {"--html", "-o", "FILE", IN_REPORT, OPTION_PAGE, PLACE(html_path), "the page; default: MODELNAME.html"},
    {"--compare", NULL, NULL, IN_REPORT, OPTION_FLAG, PLACE(compares),
     "compare methods on the page; --methods, --solvers"},
    {"--animate", NULL, "POINTS", IN_REPORT, OPTION_TEXT, PLACE(points),
     "an animation of points joined by lines: 'x,y;x2,y2'; with two or three coordinates, variables or numbers"},
    {"--svg", NULL, "FILE", IN_ANALYZE, OPTION_PICTURE, PLACE(svg_path), "picture of the incidence matrix"},
    {"--c", NULL, "DIR", IN_EXPORT, OPTION_DIRECTORY, PLACE(c_directory), "directory for the C source"},
    {"--standalone", NULL, NULL, IN_EXPORT, OPTION_FLAG, PLACE(standalone),
     "with --c: add a solver, so that the code simulates the model by itself"},
    {"--fmu", NULL, "FILE", IN_EXPORT, OPTION_OUTPUT, PLACE(fmu_path), "a Functional Mock-up Unit, FILE.fmu"},
    {"--fmu", NULL, "NAME=FILE", IN_MODELS & ~IN_EXPORT, OPTION_SEARCHED, PLACE(modelica_path),
     "an FMU as the class NAME of the model; export takes it as --library NAME=FILE"},
    {"--fmi", NULL, "2|3", IN_EXPORT, OPTION_COUNT, PLACE(fmi_version),
     "with --fmu: version of the interface; default 3"},
    {"--kind", NULL, "me|cs", IN_MODELS, OPTION_TEXT, PLACE(fmu_kind),
     "run an FMU by model exchange or co-simulation; with export --fmu, write only this kind"},
    {"--json", NULL, "FILE", IN_CHECK | IN_ANALYZE | IN_RUNS | IN_DIFF, OPTION_JSON, PLACE(json_path),
     "report as JSON; - or nothing for standard output"},
    {"--dump", NULL, "PASS", IN_MODELS, OPTION_DUMP, PLACE(dump_pass),
     "show on standard error what a pass has produced"},
    {"--quiet", "-q", NULL, IN_MODELS | IN_FILES | IN_FMU, OPTION_FLAG, PLACE(quiet),
     "no summaries and no warnings; data and errors are still printed"},
    {"--verbose", "-v", NULL, IN_MODELS, OPTION_FLAG, PLACE(verbose), "print more: counts, offsets, pivots, events"},
    {"--help", "-h", NULL, IN_ALL, OPTION_FLAG, PLACE(help), "this text"},
    {0},
};

_Static_assert(sizeof options / sizeof *options <= MOST_OPTIONS, "one mark for each option");

typedef struct OptionParser {
  const Command *command;
  int count, at;
  char **words;
  Arguments *arguments;
  bool given[MOST_OPTIONS];
} OptionParser;

static bool is_spelled(const char *name, const char *word, size_t length) {
  return name && strlen(name) == length && !strncmp(name, word, length);
}

/* The option of the command; otherwise one of another command with that name. */
static const Option *option_find(const Command *command, const char *word, size_t length) {
  const Option *found = NULL;
  for (const Option *option = options; option->name; option++) {
    if (!is_spelled(option->name, word, length) && !is_spelled(option->short_name, word, length)) continue;
    if (!found || option->commands & command->bit) found = option;
  }
  return found;
}

static bool unknown_option(const OptionParser *parser, const char *word, size_t length) {
  const char *names[MOST_OPTIONS];
  char bare[64];
  size_t count = 0;
  for (const Option *option = options; option->name; option++)
    if (option->commands & parser->command->bit) names[count++] = option->name;
  names[count] = NULL;
  snprintf(bare, sizeof bare, "%.*s", (int)(length < sizeof bare ? length : sizeof bare - 1), word);
  usage_error("there is no option %s", bare);
  suggest_print(bare, names, "options");
  return false;
}

static bool misplaced_option(const OptionParser *parser, const Option *option) {
  usage_error("option %s does not belong to '%s'", option->name, parser->command->name);
  fputs("  it belongs to:", stderr);
  for (const Command *command = commands; command->name; command++)
    if (command->bit & option->commands) fprintf(stderr, " %s", command->name);
  fputc('\n', stderr);
  return false;
}

/* ---- values ---- */

const char *const *option_names(const Option *option) {
  static const char *const forms[] = {"conventional", "charge", NULL}, *const axes[] = {"x", "y", "xy", NULL},
                           *const samplings[] = {"sobol", "lhs", "random", NULL};
  static const char *const ways[] = {"newton", "homotopy", "integration", NULL};
  switch (option->kind) {
  case OPTION_METHOD:
  case OPTION_METHODS: return daedal_method_names();
  case OPTION_SOLVER:
  case OPTION_SOLVERS: return daedal_solver_names();
  case OPTION_DUMP: return daedal_pass_names();
  case OPTION_MNA: return forms;
  case OPTION_AXES: return axes;
  case OPTION_SAMPLING: return samplings;
  case OPTION_WAY: return ways;
  default: return NULL;
  }
}

/* The plural noun for the names that an option takes. */
static const char *kind_of_names(const Option *option) {
  switch (option->kind) {
  case OPTION_METHOD:
  case OPTION_METHODS: return "methods";
  case OPTION_SOLVER:
  case OPTION_SOLVERS: return "solvers";
  case OPTION_DUMP: return "passes";
  case OPTION_MNA: return "forms";
  case OPTION_SAMPLING: return "kinds of samples";
  case OPTION_WAY: return "ways";
  default: return "axes";
  }
}

static bool one_of(const Option *option, const char *value, const char *const *names) {
  for (const char *const *name = names; *name; name++)
    if (!strcmp(*name, value)) return true;
  usage_error("there is no %s '%s' in this version", option->name + 2, value);
  suggest_print(value, names, kind_of_names(option));
  return false;
}

/* Appends names that must be in the list. */
static bool each_one_of(const Option *option, const char *value, Arguments *arguments) {
  const char *const **place = (const char *const **)(void *)((char *)arguments + option->offset);
  const char *const *names = option_names(option);
  if (!names_append(arguments, option->name, value, place)) return false;
  for (const char *const *name = *place; *name; name++) {
    bool found = false;
    for (const char *const *known = names; *known && !found; known++) found = !strcmp(*known, *name);
    if (found) continue;
    usage_error("%s: there is no '%s' in this version", option->name, *name);
    suggest_print(*name, names, kind_of_names(option));
    return false;
  }
  return true;
}

static bool pair_store(const Option *option, const char *value, double *place) {
  char *end;
  double first = strtod(value, &end);
  bool fine = end != value && *end == ',';
  const char *rest = fine ? end + 1 : value;
  double second = strtod(rest, &end);
  fine = fine && end != rest && *end == '\0' && isfinite(first) && isfinite(second) && first > 0 && second > 0;
  if (fine) place[0] = first, place[1] = second;
  else
    usage_error("%s takes two numbers above zero with a comma between, such as 10,10, not '%s'", option->name, value);
  return fine;
}

bool option_is_directory(const Option *option, const char *value) {
  return option->kind == OPTION_DIRECTORY || (option->kind == OPTION_RUNS && !ends_with(value, ".h5"));
}

static bool is_result_file(const char *value) {
  return ends_with(value, ".csv") || ends_with(value, ".mat") || ends_with(value, ".raw") || ends_with(value, ".npy");
}

static bool ends_well(const Option *option, const char *value) {
  if (is_standard_output(value)) {
    if (option->kind != OPTION_PICTURE) return true;
  } else if (option->kind == OPTION_TRAJECTORY ? is_result_file(value) : picture_format(value) != PICTURE_NONE) {
    return true;
  }
  usage_error("%s takes a file name that ends in %s%s, not '%s'", option->name,
              option->kind == OPTION_TRAJECTORY ? ".csv, .mat or .raw" : ".svg, .png or .pdf",
              option->kind == OPTION_PICTURE ? "" : ", or -", value);
  return false;
}

static bool number_store(const Option *option, const char *value, double *place) {
  char *end;
  double number = strtod(value, &end);
  bool fine = end != value && *end == '\0' && isfinite(number) && (option->kind != OPTION_POSITIVE || number > 0);
  if (fine) *place = number;
  else
    usage_error("%s takes a %s, not '%s'", option->name,
                option->kind == OPTION_POSITIVE ? "number above zero" : "number", value);
  return fine;
}

static bool count_store(const Option *option, const char *value, uint32_t *place) {
  char *end;
  errno = 0;
  long long number = strtoll(value, &end, 10);
  bool fine = end != value && *end == '\0' && errno == 0 && number >= 1 && number < UINT32_MAX;
  if (fine) *place = (uint32_t)number;
  else usage_error("%s takes a whole number, at least 1, not '%s'", option->name, value);
  return fine;
}

/* Appends a directory to the path. */
static bool directory_append(char **path, const char *directory, size_t length) {
  size_t before = *path ? strlen(*path) : 0;
  char *longer = realloc(*path, before + length + 2);
  if (!longer) return usage_error("out of memory");
  if (before) longer[before++] = ':';
  memcpy(longer + before, directory, length);
  longer[before + length] = '\0';
  *path = longer;
  return true;
}

static bool directory_store(const Option *option, const char *value, Arguments *arguments) {
  char **place = (char **)(void *)((char *)arguments + option->offset);
  if (place == &arguments->modelica_path) arguments->has_library = true;
  if (!*value) return usage_error("%s takes a value that is not empty", option->name);
  if (strchr(value, ':'))
    return usage_error("%s takes a directory without a colon in its name, not '%s'", option->name, value);
  return directory_append(place, value, strlen(value));
}

/* Missing directories in the environment variable are not an error of this call. */
static bool take_environment(Arguments *arguments) {
  bool fine = true;
  arguments->given_path = arguments->modelica_path ? strlen(arguments->modelica_path) : 0;
  for (const char *at = getenv("MODELICAPATH"); fine && at && *at;) {
    size_t length = strcspn(at, ":");
    char directory[PATH_MAX];
    snprintf(directory, sizeof directory, "%.*s", (int)(length < PATH_MAX ? length : 0), at);
    if (*directory && access(directory, R_OK) == 0) fine = directory_append(&arguments->modelica_path, at, length);
    at += length + (at[length] == ':');
  }
  return fine;
}

static bool seed_store(const Option *option, const char *value, uint64_t *place) {
  char *end;
  errno = 0;
  unsigned long long number = strtoull(value, &end, 10);
  bool fine = value[0] >= '0' && value[0] <= '9' && *end == '\0' && errno == 0;
  if (fine) *place = number;
  else usage_error("%s takes a whole number, at least 0, not '%s'", option->name, value);
  return fine;
}

/* Appends a word to a list; what: the noun for messages. */
static bool word_append(WordList *list, const char *word, const char *what) {
  size_t count = 0;
  while (list->words[count]) count++;
  if (count == MOST_WORDS) return usage_error("%s is given more than %d times", what, MOST_WORDS);
  list->words[count] = word;
  return true;
}

void arguments_free(Arguments *arguments) {
  free(arguments->modelica_path);
  free(arguments->readable);
  for (JoinedText *at = arguments->joined, *before; at; at = before) {
    before = at->before;
    free(at);
  }
}

static bool value_store(const Option *option, const char *value, Arguments *arguments) {
  void *place = (char *)arguments + option->offset;
  switch (option->kind) {
  case OPTION_FLAG: *(bool *)place = true; return true;
  case OPTION_NUMBER:
  case OPTION_POSITIVE: return number_store(option, value, place);
  case OPTION_COUNT: return count_store(option, value, place);
  case OPTION_SEED: return seed_store(option, value, place);
  case OPTION_METHOD:
  case OPTION_DUMP:
  case OPTION_SOLVER:
  case OPTION_MNA:
  case OPTION_AXES:
  case OPTION_SAMPLING:
  case OPTION_WAY:
    if (!one_of(option, value, option_names(option))) return false;
    break;
  case OPTION_METHODS:
  case OPTION_SOLVERS: return each_one_of(option, value, arguments);
  case OPTION_PAIR: return pair_store(option, value, place);
  case OPTION_TRAJECTORY:
  case OPTION_PICTURE:
    if (!ends_well(option, value)) return false;
    break;
  case OPTION_PLOT: return ends_well(option, value) && word_append(place, value, option->name);
  case OPTION_PAGE:
    if (!ends_with(value, ".html"))
      return usage_error("%s takes a file name that ends in .html, not '%s'", option->name, value);
    break;
  case OPTION_LIBRARY: return libraries_append(arguments, value, place);
  case OPTION_SEARCHED: return directory_store(option, value, arguments);
  case OPTION_LIST:
  case OPTION_PARAMETERS: return names_append(arguments, option->name, value, place);
  case OPTION_OVERRIDES: return overrides_append(arguments, option->name, value, place);
  case OPTION_VALUES: return values_append(arguments, option->name, value, place);
  case OPTION_GUESSES: return guesses_append(arguments, option->name, value, place);
  case OPTION_PAIRS: return pairs_append(arguments, option->name, value, place);
  case OPTION_AXIS: return axis_append(arguments, option->name, value, place);
  case OPTION_DISTRIBUTION: return distribution_append(arguments, option->name, value, place);
  case OPTION_LIMITS: return limits_read(value, place);
  case OPTION_TEXT:
  case OPTION_READ:
  case OPTION_INPUTS:
  case OPTION_JSON:
  case OPTION_OUTPUT:
  case OPTION_DIRECTORY:
  case OPTION_RUNS: break;
  }
  if (!*value) return usage_error("%s takes a value that is not empty", option->name);
  *(const char **)place = value;
  return true;
}

/* ---- words ---- */

/* The value of an option; `word` is the present word. NULL after a message if the value is missing. JSON goes to standard output if
 * no file follows. */
static const char *option_value(OptionParser *parser, const Option *option, const char *word, size_t length) {
  bool attached = word[length] == '=';
  if (option->kind == OPTION_FLAG) {
    if (!attached) return "";
    usage_error("option %s takes no value", option->name);
    return NULL;
  }
  if (attached) return word + length + 1;
  const char *next = parser->at + 1 < parser->count ? parser->words[parser->at + 1] : "--";
  bool lacks = !strncmp(next, "--", 2) || option_find(parser->command, next, strlen(next));
  if (lacks && option->kind == OPTION_JSON) return "-";
  if (option->kind == OPTION_LIBRARY && !ends_with(next, ".so")) return "";
  if (lacks) return usage_error("option %s needs a value: %s %s", option->name, option->name, option->argument), NULL;
  parser->at++;
  return next;
}

static bool parse_option(OptionParser *parser, const char *word) {
  size_t length = strcspn(word, "=");
  const Option *option = option_find(parser->command, word, length);
  if (!option) return unknown_option(parser, word, length);
  if (!(option->commands & parser->command->bit)) return misplaced_option(parser, option);
  bool *given = &parser->given[option - options];
  bool repeats = option->kind == OPTION_SEARCHED || option->kind == OPTION_PLOT ||
                 (option->kind >= OPTION_LIST && option->kind <= OPTION_DISTRIBUTION);
  if (*given && !repeats) return usage_error("option %s is given twice", option->name);
  *given = true;
  const char *value = option_value(parser, option, word, length);
  return value && value_store(option, value, parser->arguments);
}

/* "MODEL" as a noun in a sentence. */
static const char *subject_name(const Command *command) {
  if (command->bit & IN_FILES) return "result";
  if (command->bit & IN_FMU) return "FMU";
  return command->bit & IN_MODELS ? "model" : command->bit == IN_EXPLAIN ? "code" : "shell";
}

/* Adds another file of classes, besides that of the model. */
static bool add_file(OptionParser *parser, const char *word) {
  if (strchr(word, ':')) return usage_error("a file of classes must not have a colon in its name, like '%s'", word);
  return directory_append(&parser->arguments->modelica_path, word, strlen(word));
}

static bool parse_path(OptionParser *parser, const char *word) {
  if (!word_append(&parser->arguments->paths, word, "a path")) return false;
  if (parser->arguments->model_path && parser->command->bit & (IN_FILES | IN_COMPLETION | IN_FMU)) return true;
  if (parser->arguments->model_path && parser->command->bit & IN_MODELS && ends_with(word, ".mo"))
    return add_file(parser, word);
  if (parser->arguments->model_path)
    return usage_error("one %s at a time: both '%s' and '%s' are given", subject_name(parser->command),
                       parser->arguments->model_path, word);
  parser->arguments->model_path = word;
  return true;
}

/* Is a model given: a file, a class of a library or, for `check`, whole libraries? */
static bool has_model(const OptionParser *parser) {
  const Arguments *arguments = parser->arguments;
  if (arguments->model_path) return true;
  if (arguments->class_name) return arguments->modelica_path;
  return parser->command->bit == IN_CHECK && arguments->has_library;
}

/* Checks that exactly one output is given, with only options that belong to it. */
static bool check_export(const Arguments *arguments) {
  if (!arguments->c_directory == !arguments->fmu_path)
    return usage_error("export writes one of two: daedal export MODEL --c DIR, daedal export MODEL --fmu FILE");
  if (!arguments->fmu_path && arguments->fmi_version) return usage_error("--fmi belongs to --fmu");
  if (arguments->fmu_path && arguments->standalone) return usage_error("--standalone belongs to --c");
  if (arguments->fmi_version && arguments->fmi_version != 2 && arguments->fmi_version != 3)
    return usage_error("--fmi is 2 or 3");
  return true;
}

/* Checks combinations of options. */
static bool check_together(const OptionParser *parser) {
  const Arguments *arguments = parser->arguments;
  const char *name = parser->command->name, *kind = arguments->fmu_kind;
  const char *subject = parser->command->subject;
  if (kind && strcmp(kind, "me") != 0 && strcmp(kind, "cs") != 0) return usage_error("--kind is me or cs");
  if (arguments->model_path && !*subject) return usage_error("%s takes no '%s'", name, arguments->model_path);
  if (!has_model(parser) && parser->command->bit & IN_MODELS) {
    usage_error("no model: daedal %s MODEL, or daedal %s --model NAME --library DIR", name, name);
    if (arguments->json_path && ends_with(arguments->json_path, ".mo"))
      fprintf(stderr, "  --json took '%s' as its file; put --json last\n", arguments->json_path);
    return false;
  }
  if (!(parser->command->bit & IN_MODELS) && !arguments->model_path && *subject && *subject != '[')
    return usage_error("no %s: daedal %s %s", subject_name(parser->command), name, subject);
  if (is_standard_output(arguments->output_path) + is_standard_output(arguments->json_path) +
          standard_outputs(&arguments->plots) + is_standard_output(arguments->write_path) >
      1)
    return usage_error("only one of --output-file, --json, --plot and --write can go to standard output");
  if (arguments->run.intervals && !isnan(arguments->run.output_interval))
    return usage_error("--intervals and --output-interval cannot be used together");
  if (!pictures_possible(arguments->svg_path)) return false;
  for (const char *const *path = arguments->plots.words; *path; path++)
    if (!pictures_possible(*path)) return false;
  if ((arguments->plot_pairs.names || arguments->plot_axes || arguments->run.plot_variables) &&
      !arguments->plots.words[0] && !(parser->command->bit & (IN_REPORT | IN_PLOT)))
    return usage_error("there is no picture to draw: --plot FILE");
  if (arguments->run.resumes && is_standard_output(arguments->output_path))
    return usage_error("--resume needs the file that the result goes to: --output-file FILE");
  if (arguments->plot_pairs.names && arguments->run.plot_variables)
    return usage_error("--plot-variables and --plot-xy cannot be used together");
  if ((parser->command->bit & (IN_COMPARE | IN_SWEEP | IN_FIT)) && standard_outputs(&arguments->plots))
    return usage_error("%s draws its picture into a file: --plot FILE.svg", name);
  const char *wrong = parser->command->bit == IN_SWEEP ? ".raw" : ".npy";
  if (arguments->output_path && ends_with(arguments->output_path, wrong))
    return usage_error("%s does not write %s files", name, wrong);
  if (parser->command->bit == IN_LINEARIZE && arguments->output_path && !ends_with(arguments->output_path, ".mat"))
    return usage_error("linearize writes its matrices into a file: --output-file FILE.mat");
  bool is_pair = arguments->paths.words[0] && arguments->paths.words[1] && !arguments->paths.words[2];
  if (parser->command->bit == IN_DIFF && !is_pair)
    return usage_error("diff compares two results: daedal diff RESULT RESULT");
  if (parser->command->bit == IN_FMU && arguments->paths.words[1] && arguments->paths.words[2])
    return usage_error("fmu-check takes one FMU and one model: daedal fmu-check FILE.fmu MODEL");
  if (parser->command->bit == IN_FIT && (!arguments->data || !arguments->parameters.count))
    return usage_error("fit needs measurements and parameters: daedal fit MODEL --data FILE.csv --parameters a=1,b=2");
  return parser->command->bit != IN_EXPORT || check_export(arguments);
}

bool options_parse(const Command *command, int count, char **words, Arguments *arguments) {
  OptionParser parser = {.command = command, .count = count, .words = words, .arguments = arguments};
  bool only_paths = false;
  *arguments = (Arguments){.run = daedal_default_options(), .command = command->bit, .subject = subject_name(command)};
  for (; parser.at < count; parser.at++) {
    const char *word = words[parser.at];
    if (!only_paths && !strcmp(word, "--")) only_paths = true;
    else if (!(only_paths || word[0] != '-' ? parse_path(&parser, word) : parse_option(&parser, word))) return false;
  }
  if (!run_take_texts(arguments) || (command->bit == IN_SWEEP && !outputs_take(arguments))) return false;
  arguments->run.overrides = arguments->overrides.list;
  arguments->run.override_count = arguments->overrides.count;
  arguments->run.absolute_tolerances = arguments->absolute_tolerances.list;
  arguments->run.absolute_tolerance_count = arguments->absolute_tolerances.count;
  return arguments->help || (take_environment(arguments) && check_together(&parser));
}
