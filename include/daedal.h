/* daedal.h: the whole public interface of libdaedal.
 *
 * A model is a text that has been read. A plan is derived from it once, for one method. A run has values and makes results.
 * daedal_simulate goes from a model to a result in one call; make a plan to run a model more than once:
 *
 *   daedal_model *model = daedal_load_file("pendulum.mo", NULL, NULL);
 *   daedal_options options = daedal_default_options();
 *   daedal_result *result = daedal_simulate(model, &options);
 *   if (daedal_status_of(result) == DAEDAL_OK) daedal_save(result, "pendulum.csv");
 *   daedal_free(result);
 *   daedal_free(model);
 *
 * Handles: models, plans, runs, results, comparisons, linearizations, sweeps, estimates and files. Some functions take any handle,
 * as `void *`: daedal_free, daedal_status_of, daedal_diagnostic_get, daedal_report, daedal_draw.
 *
 * Ownership: free every handle with daedal_free, in any order, because a handle keeps the handles alive from which it was made.
 * Every `const` pointer that a function returns belongs to the handle and lives as long as that handle. NULL is allowed as a
 * handle: its status is DAEDAL_INTERNAL, its counts are 0, its texts NULL, and it may be freed. An index out of range returns an
 * empty text, or NaN. If another pointer that a call needs is NULL, the call returns DAEDAL_USAGE or finds nothing. A list in an
 * options struct that is NULL has no members, even if its count is not 0.
 *
 * Threads: any number of threads may use a model or a plan at once. A run or a result has one user at a time. The library prints
 * nothing and has no global state.
 *
 * Numbers: NaN in an options struct means "not given". Lists of names (`const char *const *`) end with NULL.
 *
 * Versions: a program runs with every later library of the same major version. Structs of options carry their size; structs that
 * functions return are filled up to the size that the program was compiled with. Later versions may add members at the end of both.
 * daedal_place, daedal_note, daedal_value, daedal_override, daedal_axis, daedal_distribution, daedal_output, daedal_guess and
 * daedal_allocator do not change. */
#ifndef DAEDAL_H
#define DAEDAL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DAEDAL_VERSION "0.2.0"

/* The version of the library, which may be newer than this header. */
const char *daedal_version(void);

/* How a call ended; the numbers are the exit status of the command. */
typedef enum daedal_status {
  DAEDAL_OK = 0,
  DAEDAL_INTERNAL = 1,    /* a defect of daedal, or out of memory */
  DAEDAL_USAGE = 2,       /* an option has no such value */
  DAEDAL_INPUT = 3,       /* the model text is wrong, or uses an unsupported feature */
  DAEDAL_STRUCTURE = 4,   /* unbalanced or singular, or the method does not apply */
  DAEDAL_INIT = 5,        /* no consistent initial values */
  DAEDAL_INTEGRATION = 6, /* the integration failed */
  DAEDAL_FILE = 7,        /* a file cannot be read or written */
} daedal_status;

/* ---- diagnostics ---- */

typedef enum daedal_severity { DAEDAL_NOTE, DAEDAL_WARNING, DAEDAL_ERROR } daedal_severity;

/* A place in the source. Lines and columns count from 1; line 0 means no place. `text` is the whole line; the place has `length` characters
 * from `column` on. */
typedef struct daedal_place {
  const char *path;
  uint32_t line, column, length;
  const char *text;
} daedal_place;

typedef struct daedal_note {
  const char *message;
  daedal_place place;
} daedal_note;

typedef struct daedal_diagnostic {
  daedal_severity severity;
  daedal_status status; /* class of an error */
  const char *message;  /* one line */
  daedal_place place;
  const daedal_note *notes;
  uint32_t note_count;
  const char *code; /* "D301", of the list below */
} daedal_diagnostic;

/* The messages about a handle so far, in order; for a run, those of its last execution. An index beyond the last gives an empty
 * message. */
uint32_t daedal_diagnostic_count(const void *handle);
static inline daedal_diagnostic daedal_diagnostic_get(const void *handle, uint32_t index);

/* Returns an entry of the list of message codes. After the last one, code is NULL and the texts are "". */
typedef struct daedal_code {
  const char *code, *title, *explanation;
} daedal_code;
static inline daedal_code daedal_code_get(uint32_t index);

/* A number for something that has a name: a parameter, a variable, a column of data. */
typedef struct daedal_value {
  const char *name;
  double value;
} daedal_value;

/* A value that replaces one of the model: of a parameter, an input or a start value. */
typedef struct daedal_override {
  const char *name; /* name of a scalar, "body.r[2]"; with a text also of a whole array, "body.r" */
  double value;
  const char *text; /* NULL, or the value as the model would write it: "true", "Mode.off", "{1, 2}" */
} daedal_override;

/* ---- memory ---- */

/* Where a handle takes its memory from: realloc with a context; size 0 frees and returns NULL. If resize returns NULL, the current
 * call ends with DAEDAL_INTERNAL. (Linear algebra libraries allocate their own memory.) */
typedef struct daedal_allocator {
  void *(*resize)(void *context, void *pointer, size_t size);
  void *context;
} daedal_allocator;

/* ---- handles ---- */

/* The status of any handle: the status of the call that made it, or of a later call that failed. */
daedal_status daedal_status_of(const void *handle);

void daedal_free(void *handle);

/* The kinds of reports, and the handle that has each. */
typedef enum daedal_report_kind {
  DAEDAL_REPORT_ANALYSIS, /* for a model: its structure */
  DAEDAL_REPORT_FLAT,     /* for a model: Base Modelica that reads back to the same model; only text */
  DAEDAL_REPORT_RUN,      /* of a result */
  DAEDAL_REPORT_INITIAL, /* for a result: how each initial value was found; "" if there are none (then the JSON has the conflict) */
  DAEDAL_REPORT_START_VALUES, /* for a result: the initial values as a list of modifiers, (x(start = 1), y(start = 2)), which a later
                               * run reads by the option start_values; only text */
  DAEDAL_REPORT_REDUCED, /* for a result: the system that the method made, as Base Modelica with comments that say where each
                               * equation comes from. The JSON has its sizes. NULL for method "strangeness" if ranks select rows */
  /* for a result: the matrices that decided the choice of states at the start. A line has the numbers of chosen and of all
   * candidates, the condition number of the scaled matrix, and the variables that are not states. "" if there was no choice;
   * only text */
  DAEDAL_REPORT_CHOICE,
  DAEDAL_REPORT_COMPARISON, /* for a comparison: a table of its runs */
  DAEDAL_REPORT_LINEAR,     /* for a linearization: matrices and modes; JSON has matrices row by row */
  DAEDAL_REPORT_STEADY,     /* report of the result of daedal_steady */
  DAEDAL_REPORT_SWEEP,      /* report of a sweep; only JSON */
  DAEDAL_REPORT_FIT,        /* of an estimate */
  DAEDAL_REPORT_DIFFERENCE, /* report of files that were compared */
  /* for a result of daedal_initialize: a file NAME.plan, which this version of daedal loads as the model; only text.
   * NULL: the flat model cannot be read back; a diagnostic of the result says why */
  DAEDAL_REPORT_PLAN,
} daedal_report_kind;

typedef enum daedal_format { DAEDAL_TEXT, DAEDAL_JSON } daedal_format;

/* A report for people, or the JSON of the command. The handle owns it. NULL: the handle has no such report. A failed handle, and
 * NULL, also have JSON, in which unknown values are null. If there is no memory for a report, or it is longer than 2 GiB, it is
 * NULL or "", and the status becomes DAEDAL_INTERNAL. */
const char *daedal_report(void *handle, daedal_report_kind kind, daedal_format format);

/* The contents of a picture. */
typedef struct daedal_plot {
  size_t size;                  /* size of this struct when the program was compiled; 0: nothing is given */
  const char *const *variables; /* as in daedal_options; NULL: states and outputs (for a netlist, its nodes) */
  /* {"x", "y", "u", "v", NULL}: draw curves of y over x and of v over u instead; "time" is a signal, too; NULL for
   * none. */
  const char *const *pairs;
  bool log_x, log_y; /* logarithmic axes: values that are not positive are gaps */
  /* Standard deviations of parameters and start values of options.sensitivity. Curves over time get bands of twice
   * their deviation, which follows to first order from these deviations and the sensitivities; NULL for none. */
  const daedal_value *deviations;
  uint32_t deviation_count;
  uint32_t width, height; /* size of a picture in characters; 0: SVG */
} daedal_plot;

/* A picture as SVG, or in characters. The picture of a model is its incidence matrix; of a result and of files, curves over time;
 * of a comparison, the residuals of constraints over time; of an estimate, measurements, fit and residuals. A linearization has a
 * Bode plot for each output and input. A sweep has a map of each output over two varied variables, or fan charts of the outputs
 * over time (with keep_courses). Pictures of results and files depend on all members of `plot` (NULL: the defaults), those of
 * linearizations only on its width and height. The handle owns the picture until the next call. NULL: there is none; if no variable
 * matches, a diagnostic says so. */
const char *daedal_draw(void *handle, const daedal_plot *plot);

/* Writes the trajectory of a result (.csv, .mat, .raw), the table of a sweep (.csv, .mat, .npy) or the matrices of a linearization (.mat). The ending
 * chooses the format. The file appears when it is complete. A table with all points removes the journal of the sweep. */
daedal_status daedal_save(void *handle, const char *path);

/* Receives the next bytes of a text. Returns false, with errno set, if it cannot take them. */
typedef bool (*daedal_sink)(void *context, const void *bytes, size_t length);

/* Writes the trajectory of a result or the table of a sweep as CSV into a sink, piece by piece, without holding the whole text in memory. */
daedal_status daedal_stream(void *handle, daedal_sink sink, void *context);

/* Writes bytes to a file, which gets its name when it is complete. Messages go to the handle: a model, a result or files. */
daedal_status daedal_write(void *handle, const char *path, const void *bytes, size_t length);

/* ---- models ---- */

typedef struct daedal_model daedal_model;

/* Reads, types and flattens a model. class_name: the class to read, NULL for the last model of the file. Always returns
 * a handle, whose status (daedal_status_of) says whether it succeeded; NULL only if there is no memory. Linear in the
 * size of the text. */
daedal_model *daedal_load_file(const char *path, const char *class_name, const daedal_allocator *allocator);

/* Like daedal_load_file, but from memory. `path` is for messages only, NULL for none. The text is copied. */
daedal_model *daedal_load_text(const char *text, size_t length, const char *path, const char *class_name,
                               const daedal_allocator *allocator);

/* How a model is read. */
typedef struct daedal_load_options {
  size_t size;                       /* size of this struct when the program was compiled; 0: nothing is given */
  const char *class_name;            /* the class to read, NULL for the last model of the file */
  const daedal_allocator *allocator; /* NULL: malloc and free */
  bool strict;                       /* refuse everything that the Modelica language does not have or forbids */
  bool energy; /* a model that gives an energy has its total, its balance and the constraint forces as variables, too */
  /* Lets external functions of the model write and remove files and run commands, and calls functions of the shared
   * libraries with these paths (the list may be empty). Only for models that you trust: they run code. NULL: not at
   * all. */
  const char *const *libraries;
  const char *
      mna; /* equations of a SPICE netlist (.cir, .sp, .net): "charge" makes charges and fluxes variables; NULL: conventional */
  /* Directories that hold Modelica libraries, separated by colons, as in the environment's MODELICAPATH (which is not
   * read here): Modelica/package.mo, Complex.mo, "Modelica 4.1.0". Only files of classes that the model reaches are read.
   * NULL: none. */
  const char *modelica_path;
  bool units; /* warn about equations whose units differ, if the units are given */
  /* Directories, separated by colons, in which the model may read files (tables, included files), in addition to the
   * directory of its own file and those of modelica_path. NULL: none. */
  const char *readable;
  /* Limits of the model, and of each plan, run and result made from it (docs/limits.md): bytes held, steps of work within one call,
   * characters of one text. If a limit is exceeded, the call ends with DAEDAL_INPUT. 0: the default. */
  uint64_t memory_limit, work_limit, text_limit;
  /* "x = 1; y = 2": equations that hold at the end of the run, in addition to the final equations of the model
   * (docs/boundary.md). NULL: none. */
  const char *boundary;
  const char
      *fmu; /* kind of an FMU (.fmu) that offers both: "me" for model exchange (also NULL), or "cs" for co-simulation */
} daedal_load_options;

/* Like daedal_load_file, with options (NULL: none), from the text or, if that is NULL, from the file. If both are NULL,
 * class_name is a class of the libraries. */
daedal_model *daedal_load(const char *path, const char *text, size_t length, const daedal_load_options *options);

/* The size of libraries. Nested classes count. */
typedef struct daedal_library_counts {
  uint32_t files, classes;
  uint64_t bytes;
} daedal_library_counts;

/* Checks a Functional Mock-up Unit without running it. The handle has no model; its diagnostics name every rule of FMI
 * 2.0 or 3.0 that the description or the archive breaks. O(size of the file). */
daedal_model *daedal_check_fmu(const char *path, const daedal_load_options *options);

/* Parses every file *.mo below the directories of modelica_path. The handle has no model: its status and diagnostics say
 * whether all of the files can be read. `counts` may be NULL. Linear in the size of the files; needs memory for the largest file
 * only. NULL when memory is exhausted. */
daedal_model *daedal_parse_libraries(const daedal_load_options *options, daedal_library_counts *counts);

/* The full names of all models and blocks that are not partial, in the packages of the parsed libraries; NULL after the
 * last. The names belong to the handle. */
const char *daedal_library_model(const daedal_model *parsed, uint32_t index);

const char *daedal_model_name(const daedal_model *model);

/* The text of the model, as it was read; NULL if it could not be read. */
const char *daedal_model_text(const daedal_model *model);

/* The number of errors, including those that the list of diagnostics left out. */
uint32_t daedal_error_count(const daedal_model *model);

/* ---- variables ---- */

typedef enum daedal_kind {
  DAEDAL_KIND_CONSTANT,
  DAEDAL_KIND_PARAMETER,
  DAEDAL_KIND_INPUT, /* input of the model itself: its value comes from outside */
  DAEDAL_KIND_DISCRETE,
  DAEDAL_KIND_CONTINUOUS
} daedal_kind;

typedef enum daedal_type {
  DAEDAL_TYPE_REAL,
  DAEDAL_TYPE_INTEGER,
  DAEDAL_TYPE_BOOLEAN,
  DAEDAL_TYPE_ENUMERATION,
  DAEDAL_TYPE_STRING,
  DAEDAL_TYPE_OBJECT
} daedal_type;

/* A scalar variable; an array has one for each of its elements. */
typedef struct daedal_variable {
  const char *name; /* flat: "body.r[2]" */
  const char *unit, *display_unit, *description;
  daedal_kind kind;
  daedal_type type;
  bool is_output;     /* output of the model itself */
  bool is_structural; /* a parameter that decided sizes or equations: a run with another value reads the model again */
  uint32_t array_length; /* length of the name without the subscripts at its end: "body.r" */
  uint32_t dimensions;   /* the number of these subscripts */
} daedal_variable;

/* The variables of a model. Runs take the index of a variable. */
uint32_t daedal_variable_count(const daedal_model *model);
static inline daedal_variable daedal_variable_get(const daedal_model *model, uint32_t index);
uint32_t daedal_variable_find(const daedal_model *model, const char *name); /* UINT32_MAX if there is none */

/* Stores the first `most` sizes of the array with this name, and returns how many there are; 0 if there is no such array.
 * O(variables). */
uint32_t daedal_array_sizes(const daedal_model *model, const char *name, uint32_t *sizes, uint32_t most);

/* ---- analysis ---- */

typedef struct daedal_counts {
  uint32_t equations, variables; /* continuous: equations and unknowns */
  uint32_t discrete_equations, discrete_variables;
  uint32_t parameters, functions;
} daedal_counts;

static inline daedal_counts daedal_model_counts(const daedal_model *model);

/* Structural analysis of the model as written. Equations and variables count from 0 here and from 1 in reports. Pointers live as
 * long as the model. */
typedef struct daedal_analysis {
  daedal_status status; /* DAEDAL_OK, or DAEDAL_STRUCTURE with diagnostics */
  const char *verdict;  /* "ok", "unbalanced", "singular" */
  uint32_t equations, variables;
  int32_t structural_index;
  int64_t dof, differentiations;
  const int32_t *c, *d; /* offsets per equation and variable; NULL unless ok */
  uint32_t blocks;
  uint32_t aliases; /* equations and unknowns that alias elimination removes */
} daedal_analysis;

static inline daedal_analysis daedal_analyze(daedal_model *model);

/* ---- runs ---- */

typedef struct daedal_progress {
  double time, start_time, stop_time;
  uint64_t steps;
  double csv_bytes; /* about the size of the result as CSV, without rows of events */
} daedal_progress;

typedef struct daedal_event {
  double time;
  const char *condition; /* as the model writes it, or another cause of the event */
  double
      value; /* new value: 1 for true, 0 for false, or the value of floor, sign, ...; NaN: no condition caused the event */
  int32_t direction; /* direction of the change: 1 rises (false to true), -1 falls; 0: no condition caused the event */
} daedal_event;

/* The source of an input's values. Give a function, a table, an expression or a file; without any of these, the caller
 * of a run sets the input with daedal_run_set_value. */
typedef struct daedal_input {
  const char *name; /* NULL with a file: every column of the file gives the input with its name */
  /* Returns the derivative of this order. If runs are in several threads, each thread calls it. */
  double (*value)(void *context, double time, uint32_t order);
  void *context;
  uint32_t orders; /* how many derivatives the function has; equations that need more are refused */
  uint32_t rows;   /* rows of the table, which is copied; times must not decrease; two equal ones are a jump */
  const double *times, *values;
  bool held;              /* for a table or a file: each value holds until the next; false: linear interpolation */
  const char *expression; /* "sin(2*time)", in the language of the model */
  const char *file;       /* a result file, .csv or .mat */
} daedal_input;

typedef struct daedal_options {
  size_t size;        /* size of this struct when the program was compiled; 0: nothing is given, use all defaults */
  const char *method; /* "dummy" */
  const char *solver; /* "auto" */
  double start_time, stop_time, tolerance, output_interval, max_step, constraint_tolerance;
  uint32_t intervals; /* 0: not given */
  /* If overrides change the structure, the result has its own model, read from the same text. If a variable occurs
   * twice, the later value counts. */
  const daedal_override *overrides;
  uint32_t override_count;
  const char *start_values; /* file with a list of modifiers, as DAEDAL_REPORT_START_VALUES gives it; NULL for none */
  const char *start_from;   /* result file to take start values from; NULL for none */
  double start_from_time;   /* the time in that file; NaN: its end */
  /* The variables to keep. A name means that variable, and the name of an array means its elements. Anything else is an
   * extended regular expression that must match a whole name. NULL for all. */
  const char *const *variables;
  double baumgarte_alpha, baumgarte_beta; /* parameters of method "baumgarte"; NaN: from the time scale of the model */
  bool keep_superfluous;                  /* method "dummy": keep differentiations that index 1 does not need */
  const char *const *invariants; /* variables that should stay constant, whose drift is reported; NULL for none */
  bool compile;                  /* compile C instead of running the tape */
  /* Called after every accepted step; true stops the run, which then ends with DAEDAL_OK and the rows so far. A stopped
   * gradient, fit (DAEDAL_INTEGRATION) or steady state (DAEDAL_INIT) has no result. */
  bool (*on_step)(void *context, const daedal_progress *progress);
  void *context;
  bool no_event_rows; /* the result has rows at output points only, not both sides of each event */
  double
      rank_tolerance; /* method "strangeness": singular values below this fraction of the largest count as zero; NaN: 1e-9 */
  const daedal_input *inputs; /* the memory that they point to must outlive plans and runs */
  uint32_t input_count;
  size_t input_size; /* size of daedal_input when the program was compiled; 0: that of this version */
  const char *const
      *plot_variables; /* kept in addition to `variables`, for pictures; not written to files; NULL for none */
  bool open_inputs;    /* the caller sets the Real inputs that have no other source, as if `inputs` had their names */
  /* During the run, new rows are appended to this CSV file every second, and the state is written to PART_PATH.state;
   * both files are kept. NULL: no such files. */
  const char *part_path;
  /* Continues from part_path and its state, which a run with the same model, method, inputs, parameters and output
   * points has left. The trajectory equals that of an uninterrupted run within the tolerance. Steps and events are
   * counted from that point on. */
  bool resumes;
  const double
      *output_times; /* the output points, ascending, within start and stop time; NULL: the ends of the intervals */
  uint32_t output_time_count;
  /* "L", "x.start": parameters and start values with respect to which the solution is differentiated (docs/sensitivity.md). The
   * result then has the signals der(x, L), for every signal x that varies. Not for runs that are stepped. NULL for none. */
  const char *const *sensitivity;
  /* The signal whose last value, or whose integral over the run, is differentiated by the adjoint method (docs/sensitivity.md).
   * Not together with `sensitivity`. NULL for none. */
  const char *gradient;
  bool gradient_of_integral;
  const char *const *
      gradient_by; /* "L", "x.start": the targets of the gradient; NULL: all Real parameters and all fixed start values */
  double gradient_memory; /* megabytes for stored steps, which the adjoint needs; NaN: 256 */
  double part_interval;   /* seconds between two writes to part_path, which take at most a tenth of the time; NaN: 1 */
  uint32_t segments; /* segments of multiple shooting, for a model with final equations (docs/boundary.md); 0: one */
  /* For daedal_simulate: run the model again at a hundredth of the tolerance with another family of methods; the reports
   * say how many digits of the two runs agree (docs/command.md). */
  bool verify;
  /* For daedal_initialize: the reports say how wrong start values spread in the first steps of integrators that work on
   * the equations as given (docs/initialization.md). */
  bool propagation;
  /* For daedal_simulate without `variables`: protected variables, and those with annotation(HideResult = true), are not kept
   * unless they are states. No effect if `invariants` or `gradient` are given. */
  bool leave_out_hidden;
  /* Numbers in CSV files have two digits more than the tolerance requires, instead of 17; times and discrete values have all
   * digits. */
  bool short_numbers;
  /* Called with `context` after every event (including one at the start), when all variables have their new values; true stops the
   * run, as on_step does. The text of the condition lives as long as the result. Not called by runs that are stepped, nor by sweeps
   * and fits. */
  bool (*on_event)(void *context, const daedal_event *event);
  /* Absolute tolerances of continuous variables, above zero: the error of a step in x is measured by tolerance * |x| + absolute. Variables
   * that are not listed have the tolerance times their nominal value, or, if they have none, times their size. */
  const daedal_value *absolute_tolerances;
  uint32_t absolute_tolerance_count;
} daedal_options;

/* All defaults. Functions with an options argument accept NULL for these. */
static inline daedal_options daedal_default_options(void);

typedef struct daedal_result daedal_result;

/* Finds consistent initial values and integrates. Always returns a handle; NULL only if there is no memory. */
daedal_result *daedal_simulate(daedal_model *model, const daedal_options *options);

/* Initial values only: a result with one row. */
daedal_result *daedal_initialize(daedal_model *model, const daedal_options *options);

typedef struct daedal_pivot {
  double time;
  const char *out, *in; /* the old state, the new state */
} daedal_pivot;

typedef struct daedal_statistics {
  const char *method, *solver, *solver_reason;
  uint32_t equations, states, rows;
  uint64_t steps, rejected, factorizations, events;
  double residual_evals, output_evals; /* row evaluations divided by rows */
  double jacobian_evals;               /* entries evaluated divided by entries */
  uint32_t pivots;
  double constraint_residual, constraint_time; /* largest scaled residual of a constraint, and when */
  const char *constraint_equation;             /* text of that constraint; NULL if there is none */
  double end_time;
  double seconds_parse, seconds_structure, seconds_code, seconds_init, seconds_integrate;
} daedal_statistics;

static inline daedal_statistics daedal_result_statistics(const daedal_result *result);
static inline daedal_pivot daedal_result_pivot(const daedal_result *result, uint32_t index);

/* Events in the order of time, as many as the statistics count, or the first hundred with no_event_rows; after the
 * last, time is NaN. The text lives as long as the result. */
static inline daedal_event daedal_result_event(const daedal_result *result, uint32_t index);

/* The trajectory. Signal 0 is time; each signal has one value per row. */
uint32_t daedal_result_signals(const daedal_result *result);
uint32_t daedal_result_rows(const daedal_result *result);
const char *daedal_result_name(const daedal_result *result, uint32_t signal);
const char *daedal_result_unit(const daedal_result *result, uint32_t signal);
double daedal_result_value(const daedal_result *result, uint32_t signal, uint32_t row);
uint32_t daedal_result_find(const daedal_result *result, const char *name); /* UINT32_MAX if there is none */

/* The signal der(NAME, TARGET), the derivative of a signal with respect to a parameter or start value of options.sensitivity;
 * UINT32_MAX if there is none. O(signals). */
uint32_t daedal_result_sensitivity(const daedal_result *result, const char *name, const char *target);

/* The value of the functional of options.gradient; NaN without one. */
double daedal_result_functional(const daedal_result *result);

/* The derivatives of the functional, in the order of options.gradient_by or of the variables; after the last, name is NULL and
 * value is NaN. The name lives as long as the result. */
typedef struct daedal_derivative {
  const char *name; /* "L", "x.start" */
  double value;
} daedal_derivative;
uint32_t daedal_result_derivatives(const daedal_result *result);
static inline daedal_derivative daedal_result_derivative(const daedal_result *result, uint32_t index);

/* All values of a signal, one per row, daedal_result_rows of them; owned by the result. NULL if there
 * is no such signal, or no memory for them. The first call for any signal copies the trajectory once. */
const double *daedal_result_values(daedal_result *result, uint32_t signal);

/* Finds the signals that a list of variables selects (as in daedal_options; NULL: states and outputs, or the nodes of a netlist).
 * Stores the numbers of the first `most` of them and returns how many there are. If a word matches no signal, adds a diagnostic and
 * returns 0. */
uint32_t daedal_result_choose(daedal_result *result, const char *const *variables, uint32_t *signals, uint32_t most);

/* The largest scaled residuals of the constraints along the run: at each point, level by level, where level k has the
 * equations differentiated k times. Owned by the result; 0 points if there are no constraints. */
typedef struct daedal_residuals {
  uint32_t points, levels;
  const double *times;  /* by point */
  const double *values; /* levels * point + level */
} daedal_residuals;
static inline daedal_residuals daedal_result_residuals(const daedal_result *result);

/* ---- plans and runs ---- */

typedef struct daedal_plan daedal_plan;

/* Derives from a model everything that runs need: structure, programs, the reduced system, initial values. Always returns a handle;
 * NULL only if there is no memory. */
daedal_plan *daedal_plan_make(daedal_model *model, const daedal_options *options);

/* Does a run with other values of parameters need another plan? The run needs another plan if the rewriting of equations, or
 * numerical ranks, depended on values. Such a run makes the new plan itself, and runs with the same values share it. Parameters
 * that decide sizes always need another plan. */
bool daedal_plan_depends_on_values(const daedal_plan *plan);

/* The parameters on whose values the plan depends in this way; NULL after the last. Owned by the plan's model. */
const char *daedal_plan_value(const daedal_plan *plan, uint32_t index);

/* The number of structures for which equations were derived: the structure of the plan, and further ones that its
 * runs needed later, at events or for other values. All runs share them. 0 if the plan failed. */
uint32_t daedal_plan_structures(const daedal_plan *plan);

/* The model that defines the indices of variables in runs: the one given, or one that was read again for overrides and
 * inputs. If a run sets a parameter that decides sizes, it gets its own model. The indices keep their meaning: they stand for the
 * variables of the same names. The value of a variable that the new model lacks is NaN. To see new variables, make a plan with that
 * value. */
const daedal_model *daedal_plan_model(const daedal_plan *plan);

typedef struct daedal_run daedal_run;

/* A run with the options of the plan. NULL if there is no memory, or the plan is not DAEDAL_OK. */
daedal_run *daedal_run_make(daedal_plan *plan);

/* Sets a parameter or a start value for later executions. DAEDAL_USAGE: there is no such variable, or it cannot have this
 * value; nothing is changed. */
daedal_status daedal_run_set(daedal_run *run, const char *name, double value);

/* Runs from consistent initial values to the stop time. Everything that the plan contains is reused. */
daedal_status daedal_run_execute(daedal_run *run);

/* The value of a signal at the end of the last execution; NaN if there is none. O(1). */
double daedal_run_get(const daedal_run *run, const char *name);

/* The result of the last execution; owned by the run until the next one. NULL before the first. For a run that is
 * stepped, it has diagnostics and statistics, but no rows. */
daedal_result *daedal_run_result(daedal_run *run);

/* Like daedal_run_result, but the caller frees the result. The run is then as before its first execution, but keeps the values
 * that were set. */
daedal_result *daedal_run_take_result(daedal_run *run);

/* ---- runs step by step ----
 *
 * daedal_run_start sets a run to its consistent initial values. From there you advance it, to times of your choice or by steps of the
 * integrator, and look at values in between. Events and changes of the structure happen on the way. After a failure
 * the run can be restored, started again or freed. */

/* DAEDAL_OK: the run is at its start time. */
daedal_status daedal_run_start(daedal_run *run);

/* Advances to a time, at most the stop time; at an event, to the values after it. A time before the one reached is
 * DAEDAL_USAGE. */
daedal_status daedal_run_advance(daedal_run *run, double time);

/* One step of the integrator, or up to the first event in it. */
daedal_status daedal_run_step(daedal_run *run);

/* The time reached, and whether it is the end: the stop time, or the time at which the model terminated. NaN and true before
 * the start. */
double daedal_run_time(const daedal_run *run);
bool daedal_run_ended(const daedal_run *run);

/* The values of all variables at the time reached, and their derivatives with respect to time, in the order of variables; NaN if
 * there is no number, or no such derivative in the equations. Owned by the run until the next call. NULL before the start and after
 * a failure. */
const double *daedal_run_values(daedal_run *run);
const double *daedal_run_derivatives(daedal_run *run);

/* The values of all variables at a time within the last step of the integrator, by its dense output. DAEDAL_USAGE: the time is
 * outside of that step. */
daedal_status daedal_run_interpolate(daedal_run *run, double time, double *values);

/* Sets a variable by handle. Before the start it does the same as daedal_run_set. After the start, an input that the caller sets
 * (options.inputs) or a continuous variable gets a new value at the time reached, as at an event. Values that are set between
 * two calls take effect together. States that were not set stay if the equations allow it, and everything else follows. A
 * variable that is not a state may be set, too: the states are found from it. DAEDAL_USAGE: the variable cannot be set after the
 * start, like a parameter or a discrete variable. A value that the equations do not allow ends the run at the next call:
 * DAEDAL_INTEGRATION, and a diagnostic that names the variable. */
daedal_status daedal_run_set_value(daedal_run *run, uint32_t variable, double value);

/* The state-space form of a run that was started, x' = f(t, x), at points that the caller chooses: the run itself does not move,
 * except for round-off. The states are those of daedal_run_states at the time reached; they may change after every step. The
 * Jacobian, d f / d x, is dense, stored by columns, and exact. An indicator belongs to a condition; it is positive while the
 * condition keeps its value, negative if it has to change, and infinite for conditions that depend only on time. DAEDAL_USAGE: the
 * run was not started, or its method has no such form (then the counts are 0); DAEDAL_INTEGRATION: the equations cannot be solved
 * there. O(work of one step of an explicit method); the Jacobian O(states) times that. */
uint32_t daedal_run_state_count(const daedal_run *run);
daedal_status daedal_run_states(const daedal_run *run, double *states);
daedal_status daedal_run_rates(daedal_run *run, double time, const double *states, double *rates);
daedal_status daedal_run_jacobian(daedal_run *run, double time, const double *states, double *jacobian);
uint32_t daedal_run_indicator_count(const daedal_run *run);
daedal_status daedal_run_indicators(daedal_run *run, double time, const double *states, double *indicators);

/* The whole state at the time reached. After saving, and after each restore, the run continues with the same numbers,
 * bit for bit. A state belongs to its run, and lives until it is freed, or the run is started again or freed. NULL:
 * there is none. A restore clears the diagnostics of the run. */
typedef struct daedal_state daedal_state;
daedal_state *daedal_run_save(daedal_run *run);
daedal_status daedal_run_restore(daedal_run *run, const daedal_state *state);
void daedal_state_free(daedal_run *run, daedal_state *state);

/* A copy of a run, with its state and the values that were set. The two share only the plan, so another thread may use
 * the copy. Both continue with the same numbers, bit for bit. NULL: there is no memory, or the run was not started. */
daedal_run *daedal_run_clone(daedal_run *run);

/* ---- sweeps ----
 *
 * Many runs of one model: at every combination of values, at samples of distributions, or both. All runs use one plan, except for
 * values that decide the structure. The numbers do not depend on threads, processes or order. */

typedef struct daedal_sweep daedal_sweep;

typedef struct daedal_sweep_progress {
  uint32_t points, finished, failed, resumed; /* failed and resumed points are among the finished ones */
  double seconds;                             /* seconds since the execution began */
} daedal_sweep_progress;

/* The values that a sweep gives to a parameter or start value. */
typedef struct daedal_axis {
  const char *name;
  const double *values;
  uint32_t count;
} daedal_axis;

/* How samples of a parameter or start value are distributed: "normal", {1, 0.1}. docs/sweep.md lists the kinds and their parameters, at
 * most three; those that a kind does not have are 0. */
typedef struct daedal_distribution {
  const char *name, *kind;
  double parameters[3];
} daedal_distribution;

typedef enum daedal_output_kind {
  DAEDAL_OUTPUT_FINAL,   /* value at the end */
  DAEDAL_OUTPUT_INITIAL, /* value at the start */
  DAEDAL_OUTPUT_MAX,     /* largest value */
  DAEDAL_OUTPUT_MIN,     /* smallest value */
  DAEDAL_OUTPUT_MEAN,    /* mean over time */
  DAEDAL_OUTPUT_RMS,     /* root of the mean of the square over time */
  DAEDAL_OUTPUT_AT,      /* value at `time` */
  DAEDAL_OUTPUT_EVENT, /* time of the first event of a condition that the model writes: "x > 1"; name NULL: of any event */
} daedal_output_kind;

/* A number that a sweep keeps of each run. */
typedef struct daedal_output {
  const char *name; /* name of a signal, or a condition */
  daedal_output_kind kind;
  double time;
} daedal_output;

typedef struct daedal_sweep_options {
  size_t size;             /* size of this struct when the program was compiled */
  const daedal_axis *vary; /* all combinations of their values are run, the last axis changing fastest */
  uint32_t vary_count;
  const daedal_distribution *distributions;
  uint32_t distribution_count;
  uint32_t samples;     /* drawn from the distributions at every combination of `vary` */
  const char *sampling; /* "sobol" (also for NULL), "lhs", "random" */
  uint64_t seed;
  const daedal_output *outputs; /* NULL: the final values of all variables */
  uint32_t output_count;
  uint32_t threads; /* 0: one a core */
  /* Directory for a CSV file of each point; or FILE.h5, an HDF5 file with a group for each point. That file is written
   * when the last point is finished (in a sweep over processes, with the table); until then the trajectories are in
   * FILE.h5.part. NULL: none. */
  const char *trajectories;
  const char *journal; /* file that keeps finished points while the sweep runs; NULL: none */
  bool resume;         /* reuse the points in a journal of the same sweep */
  bool keep_courses;   /* keep the outputs over time, for daedal_draw */
  /* For a program that spreads a sweep over processes: this process runs part `process` of `processes` (0: all points). */
  uint32_t process, processes;
  /* Called from time to time in the thread of daedal_sweep_execute; true stops the sweep. */
  bool (*on_progress)(void *context, const daedal_sweep_progress *progress);
  void *context;
} daedal_sweep_options;

/* Reads the options, makes the plan and opens the journal. on_step of the options is not called. Always returns a
 * handle (see daedal_status_of), except if there is no memory (NULL). */
daedal_sweep *daedal_sweep_make(daedal_model *model, const daedal_options *options,
                                const daedal_sweep_options *sweep_options);

/* Runs all points that are not finished, or those of this process. A point that fails gets a row with the cause, and the sweep
 * continues. Returns DAEDAL_OK even if on_progress stopped it; executing it again continues. */
daedal_status daedal_sweep_execute(daedal_sweep *sweep);

static inline daedal_sweep_progress daedal_sweep_progress_get(const daedal_sweep *sweep);

/* The table has a row for each point. Its columns are the variables that vary, then the outputs. Outputs of points that failed or are not finished
 * are NaN. */
uint32_t daedal_sweep_points(const daedal_sweep *sweep);
uint32_t daedal_sweep_columns(const daedal_sweep *sweep);
uint32_t daedal_sweep_varied(const daedal_sweep *sweep); /* how many columns are varied variables */
const char *daedal_sweep_column_name(const daedal_sweep *sweep, uint32_t column);
double daedal_sweep_value(const daedal_sweep *sweep, uint32_t point, uint32_t column);
daedal_status daedal_sweep_point_status(const daedal_sweep *sweep, uint32_t point);
const char *daedal_sweep_point_cause(const daedal_sweep *sweep, uint32_t point); /* "" unless it failed */
bool daedal_sweep_point_finished(const daedal_sweep *sweep, uint32_t point);

/* The k-th point that this process has finished; UINT32_MAX if it has finished fewer. */
uint32_t daedal_sweep_finished(const daedal_sweep *sweep, uint32_t k);

/* The first function returns the computed part of a row, daedal_sweep_row_length numbers. The second one stores a row that another
 * process computed. values NULL: the point is only marked as finished. */
uint32_t daedal_sweep_row_length(const daedal_sweep *sweep);
const double *daedal_sweep_row(const daedal_sweep *sweep, uint32_t point);
daedal_status daedal_sweep_put(daedal_sweep *sweep, uint32_t point, daedal_status status, const char *cause,
                               const double *values);

/* ---- parameters from measurements ---- */

typedef struct daedal_estimate daedal_estimate;

/* A parameter or start value to find. */
typedef struct daedal_guess {
  const char *name;
  double value;     /* where the search begins; NaN: the value of the parameter in the model */
  double low, high; /* its bounds; equal numbers mean no bounds */
} daedal_guess;

typedef struct daedal_fit_options {
  size_t size;      /* size of this struct when the program was compiled */
  const char *data; /* result file, .csv or .mat: times, and columns named as variables; NaN if nothing was measured */
  const char *data_text; /* or the text of a CSV file */
  const daedal_guess *parameters;
  uint32_t parameter_count;
  const daedal_value *weights; /* factors of the residuals of columns; 1 for those that are not listed */
  uint32_t weight_count;
  const daedal_value *deviations; /* standard deviations of the measurements of all columns, if they are known */
  uint32_t deviation_count;
  double level;        /* of the intervals, between 0 and 1; 0: 0.95 */
  uint32_t iterations; /* at most; 0: 100 */
} daedal_fit_options;

/* Finds the values of parameters and start values that minimize the sum of squares of the residuals (Levenberg and Marquardt,
 * within bounds). Without a stop time the runs end with the data; without a tolerance it is 1e-8. Always returns a handle (see
 * daedal_status_of), except if there is no memory (NULL). */
daedal_estimate *daedal_fit(daedal_model *model, const daedal_options *options, const daedal_fit_options *fit_options);

/* A parameter that was found. error: its standard deviation; low, high: its confidence interval. NaN if the data does not
 * determine it, or if it is at a bound. */
typedef struct daedal_parameter {
  const char *name;
  double value, error, low, high, start;
  bool at_bound;
} daedal_parameter;

/* 0 if no fit was found. After a fit that a callback stopped, the parameters have the best values so far, without errors. */
uint32_t daedal_estimate_parameters(const daedal_estimate *estimate);
static inline daedal_parameter daedal_estimate_parameter(const daedal_estimate *estimate, uint32_t index);
double daedal_estimate_covariance(const daedal_estimate *estimate, uint32_t first, uint32_t second);

/* Deviation of the scaled residuals: with known deviations about 1 if the model is right. */
double daedal_estimate_deviation(const daedal_estimate *estimate);

/* ---- methods side by side ---- */

typedef struct daedal_comparison daedal_comparison;

/* Runs several methods and solvers on the model; NULL for all methods that apply, and for solver "auto". */
daedal_comparison *daedal_compare(daedal_model *model, const daedal_options *options, const char *const *methods,
                                  const char *const *solvers);

/* ---- linear forms and steady states ---- */

typedef struct daedal_linearization daedal_linearization;

/* dx' = A dx + B du, dz = C dx + D du: the equations, linearized at a point, in the states that the method has chosen. This form
 * has index 0 for every model, and as few states as the model has degrees of freedom. Matrices are stored by columns; everything is
 * owned by the handle. */
typedef struct daedal_linear {
  double time; /* NaN: there is none */
  uint32_t states, inputs, outputs;
  const char *const *state_names, *const *input_names, *const *output_names;
  const double *point;         /* values of the states */
  const double *a, *b, *c, *d; /* states x states, states x inputs, outputs x states, outputs x inputs */
  const double *eigenvalues_real,
      *eigenvalues_imaginary; /* eigenvalues of A, the slowest first; in a complex pair, the positive imaginary part first */
} daedal_linear;

/* Linearizes at the consistent initial values or, if options.stop_time is given, at that time of the run. inputs, outputs: NULL for
 * those of the model itself. Inputs are the Real inputs without a source; their values are start values or overrides. Outputs are
 * any signals. Needs method "dummy". O(states) sparse solves. */
daedal_linearization *daedal_linearize(daedal_model *model, const daedal_options *options, const char *const *inputs,
                                       const char *const *outputs);

/* The form, of a linearization or of the result of daedal_steady. */
static inline daedal_linear daedal_linear_get(const void *handle);

/* A steady state: at the start time, all derivatives are zero and all equations are satisfied. way: "newton" solves from the
 * initial values, "homotopy" is continuation from them, "integration" runs until nothing changes. NULL: these are tried in this
 * order. The result has one row, the steady state, and the linear form at this state, whose eigenvalues show whether it is
 * stable. DAEDAL_INIT: none was found. */
daedal_result *daedal_steady(daedal_model *model, const daedal_options *options, const char *way);

/* ---- files of results ----
 *
 *     const char *paths[] = {"before.csv", "after.mat"};
 *     daedal_files *files = daedal_files_read(paths, 2, NULL);
 *     if (daedal_files_compare(files, NULL) == DAEDAL_OK) puts(daedal_report(files, DAEDAL_REPORT_DIFFERENCE, DAEDAL_TEXT));
 *     daedal_free(files);
 */

typedef struct daedal_files daedal_files;

/* Reads results in .csv or .mat, which are recognized by their content. Always returns a handle, except if there is no
 * memory (NULL); its status is DAEDAL_FILE if a file cannot be read. O(size of the files). */
daedal_files *daedal_files_read(const char *const *paths, uint32_t count, const daedal_allocator *allocator);

/* In a picture of files, plot->variables NULL means the nodes of a netlist, the states and outputs, or everything that
 * is not a derivative. After two files were compared, it means the signals that differ most. Its pairs and
 * deviations are ignored. */

typedef struct daedal_difference_options {
  size_t size;                  /* size of this struct when the program was compiled; 0: nothing is given */
  const char *const *variables; /* as in daedal_options; NULL: all except parameters */
  /* A signal differs if |first - second| > tolerance * (its largest |value|) + absolute; both are 0 by default. */
  double tolerance, absolute;
} daedal_difference_options;

/* Compares the first two files, signal by signal: at all times of either file that both cover, with linear interpolation between
 * rows. At an event, the values before it in both files are compared with each other, and so are the values after it. DAEDAL_USAGE
 * if there are fewer than two files, or nothing to compare. O(rows of both * signals). */
daedal_status daedal_files_compare(daedal_files *files, const daedal_difference_options *options);

/* Counts differences: signals beyond the tolerance, signals that only one file has, and 1 if the times begin or end
 * differently. */
uint32_t daedal_files_different(const daedal_files *files);

/* A signal of both files, the largest relative difference first; name NULL after the last. */
typedef struct daedal_difference {
  const char *name;
  double largest, relative; /* |first - second|, and divided by the largest |value| of the signal */
  double time;              /* time at which it is largest; NaN if the signals are equal */
  double first, second;     /* the values at that time; NaN if the signals are equal */
} daedal_difference;
static inline daedal_difference daedal_files_difference(const daedal_files *files, uint32_t index);

/* ---- code to take away ---- */

/* Writes self-contained C99 for the equations that a run would integrate, with its initial values, into a directory (made if
 * missing). Either all files are written or none. If the directory has a file of the same name that no export wrote, nothing is
 * written: DAEDAL_USAGE. The result holds status, diagnostics and the initial values. */
daedal_result *daedal_export_c(daedal_model *model, const char *directory, const daedal_options *options);

/* Exports a whole solver: a directory of C99 that simulates the model without daedal, by dummy derivatives, with
 * pivots and events (docs/fmu.md). Files are written as by daedal_export_c. A model that cannot be exported gives
 * DAEDAL_STRUCTURE and a diagnostic that names the reason. */
daedal_result *daedal_export_solver(daedal_model *model, const char *directory, const daedal_options *options);

/* A Functional Mock-up Unit of FMI 2.0 or 3.0 (`version`) for model exchange ("me"), co-simulation ("cs"), or both
 * (NULL), with sources and a binary for this platform, which the system's compiler makes (docs/fmu.md). Inputs without
 * a source in the options become inputs of the unit. */
daedal_result *daedal_export_fmu(daedal_model *model, const char *path, int version, const char *kind,
                                 const daedal_options *options);

/* The output of a pass, as text for developers; owned by the model. NULL: there is no such pass. */
const char *daedal_dump(daedal_model *model, const char *pass);

/* ---- names of methods, solvers and passes ---- */
const char *const *daedal_method_names(void); /* NULL-terminated */
const char *const *daedal_solver_names(void);
const char *const *daedal_pass_names(void); /* for daedal_dump */

/* The name in a NULL-terminated list that is nearest to a misspelt word; NULL if none is near. O(letters squared) per name. */
const char *daedal_nearest_name(const char *word, const char *const *names);

/* ---- how structs are handed out ----
 *
 * A function whose name ends in an underscore fills a struct up to the size that the program knows. Programs call the inline functions. */

void daedal_diagnostic_get_(const void *handle, uint32_t index, daedal_diagnostic *out, size_t size);
void daedal_code_get_(uint32_t index, daedal_code *out, size_t size);
void daedal_variable_get_(const daedal_model *model, uint32_t index, daedal_variable *out, size_t size);
void daedal_model_counts_(const daedal_model *model, daedal_counts *out, size_t size);
void daedal_analyze_(daedal_model *model, daedal_analysis *out, size_t size);
void daedal_result_statistics_(const daedal_result *result, daedal_statistics *out, size_t size);
void daedal_result_pivot_(const daedal_result *result, uint32_t index, daedal_pivot *out, size_t size);
void daedal_result_event_(const daedal_result *result, uint32_t index, daedal_event *out, size_t size);
void daedal_result_derivative_(const daedal_result *result, uint32_t index, daedal_derivative *out, size_t size);
void daedal_result_residuals_(const daedal_result *result, daedal_residuals *out, size_t size);
void daedal_sweep_progress_get_(const daedal_sweep *sweep, daedal_sweep_progress *out, size_t size);
void daedal_estimate_parameter_(const daedal_estimate *estimate, uint32_t index, daedal_parameter *out, size_t size);
void daedal_linear_get_(const void *handle, daedal_linear *out, size_t size);
void daedal_files_difference_(const daedal_files *files, uint32_t index, daedal_difference *out, size_t size);

static inline daedal_diagnostic daedal_diagnostic_get(const void *handle, uint32_t index) {
  daedal_diagnostic out;
  daedal_diagnostic_get_(handle, index, &out, sizeof out);
  return out;
}

static inline daedal_code daedal_code_get(uint32_t index) {
  daedal_code out;
  daedal_code_get_(index, &out, sizeof out);
  return out;
}

static inline daedal_variable daedal_variable_get(const daedal_model *model, uint32_t index) {
  daedal_variable out;
  daedal_variable_get_(model, index, &out, sizeof out);
  return out;
}

static inline daedal_counts daedal_model_counts(const daedal_model *model) {
  daedal_counts out;
  daedal_model_counts_(model, &out, sizeof out);
  return out;
}

static inline daedal_analysis daedal_analyze(daedal_model *model) {
  daedal_analysis out;
  daedal_analyze_(model, &out, sizeof out);
  return out;
}

static inline daedal_statistics daedal_result_statistics(const daedal_result *result) {
  daedal_statistics out;
  daedal_result_statistics_(result, &out, sizeof out);
  return out;
}

static inline daedal_pivot daedal_result_pivot(const daedal_result *result, uint32_t index) {
  daedal_pivot out;
  daedal_result_pivot_(result, index, &out, sizeof out);
  return out;
}

static inline daedal_event daedal_result_event(const daedal_result *result, uint32_t index) {
  daedal_event out;
  daedal_result_event_(result, index, &out, sizeof out);
  return out;
}

static inline daedal_derivative daedal_result_derivative(const daedal_result *result, uint32_t index) {
  daedal_derivative out;
  daedal_result_derivative_(result, index, &out, sizeof out);
  return out;
}

static inline daedal_residuals daedal_result_residuals(const daedal_result *result) {
  daedal_residuals out;
  daedal_result_residuals_(result, &out, sizeof out);
  return out;
}

static inline daedal_sweep_progress daedal_sweep_progress_get(const daedal_sweep *sweep) {
  daedal_sweep_progress out;
  daedal_sweep_progress_get_(sweep, &out, sizeof out);
  return out;
}

static inline daedal_parameter daedal_estimate_parameter(const daedal_estimate *estimate, uint32_t index) {
  daedal_parameter out;
  daedal_estimate_parameter_(estimate, index, &out, sizeof out);
  return out;
}

static inline daedal_linear daedal_linear_get(const void *handle) {
  daedal_linear out;
  daedal_linear_get_(handle, &out, sizeof out);
  return out;
}

static inline daedal_difference daedal_files_difference(const daedal_files *files, uint32_t index) {
  daedal_difference out;
  daedal_files_difference_(files, index, &out, sizeof out);
  return out;
}

static inline daedal_options daedal_default_options(void) {
  daedal_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.input_size = sizeof(daedal_input);
  options.method = "dummy";
  options.solver = "auto";
  options.start_time = options.stop_time = options.tolerance = options.output_interval = NAN;
  options.max_step = options.constraint_tolerance = options.rank_tolerance = NAN;
  options.baumgarte_alpha = options.baumgarte_beta = options.start_from_time = NAN;
  options.gradient_memory = options.part_interval = NAN;
  return options;
}

#ifdef __cplusplus
}
#endif

#endif
