/* command: shared by all parts of the command: the parsed arguments, the table of commands and the exit status. Data goes to
 * standard output, messages go to standard error. */
#pragma once

#include "daedal.h"

#include <string.h>

/* The values of an option that may be given several times. */
enum { MOST_WORDS = 64 };
enum { PANEL_LINES = 12 }; /* lines of a picture in characters */
typedef struct WordList {
  const char *words[MOST_WORDS + 1]; /* NULL-terminated */
} WordList;

/* A list that several options build part by part. */
typedef struct JoinedText {
  struct JoinedText *before;
  char text[];
} JoinedText;

/* Lists given by options (lists.h). */
typedef struct ValueList {
  const daedal_value *list;
  uint32_t count;
} ValueList;

typedef struct GuessList {
  const daedal_guess *list;
  uint32_t count;
} GuessList;

typedef struct AxisList {
  const daedal_axis *list;
  uint32_t count;
} AxisList;

typedef struct DistributionList {
  const daedal_distribution *list;
  uint32_t count;
} DistributionList;

typedef struct PairList {
  const char *const *names; /* NULL-terminated; NULL: none */
  uint32_t count;
} PairList;

typedef struct OverrideList {
  const daedal_override *list;
  uint32_t count;
} OverrideList;

typedef struct OutputList {
  const daedal_output *list; /* NULL: none given */
  uint32_t count;
} OutputList;

typedef struct Limits {
  uint64_t memory, work, text; /* 0: the default */
} Limits;

/* The user's request; NULL and false mean "not given". A path "-" is standard output. */
typedef struct Arguments {
  const char *model_path; /* the model, or another subject: a code, a shell, the first of several paths */
  WordList paths;         /* all paths, if a command takes several */
  const char *class_name, *mna, *dump_pass;
  Limits limits;
  char *modelica_path;          /* directories of libraries, separated by colons; owned by the arguments */
  bool has_library;             /* an option gave one of these directories */
  size_t given_path;            /* length of the part of modelica_path that came from options */
  char *readable;               /* directories that the model may read, separated by colons */
  const char *const *libraries; /* allowed for external functions; NULL: these may not even write */
  const char *json_path, *svg_path, *output_path, *c_directory, *write_path;
  WordList plots;                  /* paths of the same picture */
  const char *fmu_path, *fmu_kind; /* for export */
  uint32_t fmi_version;
  bool standalone;
  const char *const *methods, *const *solvers; /* for compare */
  const char *const *inputs, *const *outputs;  /* inputs and outputs of a linear form; outputs also of a sweep */
  const char *input, *start_from, *gradient;   /* for a run: texts that its options take in parts */
  OverrideList overrides;
  OutputList kept; /* outputs of a sweep */
  const char *way; /* the way to find a steady state */
  AxisList vary;
  DistributionList distributions;
  uint32_t samples, threads;
  uint64_t seed;
  const char *sampling, *trajectories;
  double difference_tolerance, difference_absolute;
  const char *data; /* for a fit */
  GuessList parameters;
  ValueList weights, deviations, plot_bands, absolute_tolerances;
  PairList plot_pairs;
  const char *plot_axes;
  const char *html_path, *points; /* for a report */
  bool compares;
  unsigned command;    /* the bit of the command */
  const char *subject; /* kind of its paths, in one word: model, result */
  int word_count;      /* words of the command line after the program's name */
  char **words;
  bool strict, energy, units, sandbox, no_sandbox, with_protected;
  bool all; /* for check: every model of the libraries */
  const char *boundary;
  bool quiet, verbose, help;
  JoinedText *joined; /* texts owned by the arguments */
  daedal_options run;
} Arguments;

/* One bit for each command. The table of options uses them to say which commands an option belongs to. */
enum {
  IN_CHECK = 1,
  IN_FLATTEN = 2,
  IN_ANALYZE = 4,
  IN_INIT = 8,
  IN_SIMULATE = 16,
  IN_EXPORT = 32,
  IN_REDUCE = 64,
  IN_COMPARE = 128,
  IN_EXPLAIN = 256,
  IN_REPORT = 512,
  IN_DOCTOR = 1024,
  IN_COMPLETION = 2048,
  IN_LINEARIZE = 1 << 12,
  IN_STEADY = 1 << 13,
  IN_SWEEP = 1 << 14,
  IN_FIT = 1 << 15,
  IN_MODELS =
      255 | IN_REPORT | IN_LINEARIZE | IN_STEADY | IN_SWEEP | IN_FIT | (1 << 19), /* all commands that take a model */
  IN_PLOT = 1 << 16,
  IN_DIFF = 1 << 17,
  IN_FILES = IN_PLOT | IN_DIFF, /* all commands that take results */
  IN_FMU = 1 << 18,
  IN_PLAN = 1 << 19,
  IN_ALL = (1 << 20) - 1,
};

typedef struct Command {
  const char *name;
  unsigned bit;
  const char *subject;     /* the argument after the command: "MODEL"; in brackets if it is optional */
  const char *summary;     /* one line for the list of commands */
  const char *details;     /* a few lines for the command's own help */
  const char *examples[4]; /* command lines for its own help; they run in the folder examples; NULL-terminated */
  int (*run)(const Arguments *arguments); /* returns the exit status */
} Command;

extern const Command commands[]; /* ends with an entry whose name is NULL */

/* false for NULL. */
static inline bool is_standard_output(const char *path) {
  return path && (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"));
}

/* The number of paths that mean standard output. */
static inline int standard_outputs(const WordList *paths) {
  int count = 0;
  for (const char *const *path = paths->words; *path; path++) count += is_standard_output(*path);
  return count;
}

/* The exit status is that of the first failure. */
static inline int first_failure(int before, int now) { return before ? before : now; }

int check_command(const Arguments *arguments);
int flatten_command(const Arguments *arguments);
int analyze_command(const Arguments *arguments);
int init_command(const Arguments *arguments);
int simulate_command(const Arguments *arguments);
int plan_command(const Arguments *arguments);
int export_command(const Arguments *arguments);
int reduce_command(const Arguments *arguments);
int compare_command(const Arguments *arguments);
int linearize_command(const Arguments *arguments);
int steady_command(const Arguments *arguments);
int sweep_command(const Arguments *arguments);
int fit_command(const Arguments *arguments);
int plot_command(const Arguments *arguments);
int diff_command(const Arguments *arguments);
int explain_command(const Arguments *arguments);
int report_command(const Arguments *arguments);
int fmu_check_command(const Arguments *arguments);
int doctor_command(const Arguments *arguments);
int completion_command(const Arguments *arguments);

/* Does the path have this ending, with at least one character before it? */
bool ends_with(const char *path, const char *ending);
