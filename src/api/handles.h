/* handles: the types of the handles of daedal.h, and functions that the files of this folder share.
 *
 * Invariant: everything that can allocate runs inside model_protect or result_protect. A refused allocation marks the handle as
 * broken; from then on only its status can be read, and it can be freed. */
#pragma once

#include "array/analysis.h"
#include "base/list.h"
#include "daedal.h"
#include "init/explain.h"
#include "pipeline/compare.h"
#include "result/difference.h"
#include "spice/spice.h"
#include "vary/linearize.h"

#include <pthread.h>
#include <stdatomic.h>

/* A handle begins with its kind. In this folder, comparisons and linearizations are results. */
typedef enum HandleKind {
  HANDLE_NOTHING,
  HANDLE_MODEL,
  HANDLE_PLAN,
  HANDLE_RUN,
  HANDLE_RESULT,
  HANDLE_COMPARISON,
  HANDLE_LINEARIZATION,
  HANDLE_SWEEP,
  HANDLE_ESTIMATE,
  HANDLE_FILES
} HandleKind;

/* Diagnostics in the form that callers see. The list grows; texts stay where they are. */
typedef struct Published {
  Arena arena;
  VEC(daedal_diagnostic) list;
} Published;

/* Sizes of an array; a scalar has no dimensions. */
typedef struct Extent {
  uint32_t dimensions, sizes[TYPE_MAX_DIMENSIONS];
} Extent;

/* One of the overrides (overrides.c). */
typedef struct Override {
  const char *name; /* its name in the flat model */
  Extent extent;
  const char **texts; /* one per scalar, the last subscript fastest */
  uint32_t count;
  bool is_loaded; /* the model must be loaded with this value */
} Override;
typedef VEC(Override) OverrideVec;

/* An input and where its values come from: a source, or an expression. */
typedef struct GivenInput {
  const char *name;
  const char *expression; /* NULL: use the source */
  InputSource source;
} GivenInput;
typedef VEC(GivenInput) GivenInputVec;

/* The parts that were read never change afterwards. The other members and the heap belong to the holder of the lock. */
struct daedal_model {
  HandleKind kind;
  Heap *heap;
  atomic_uint references; /* references from the caller, plans and results */
  pthread_mutex_t lock;
  const char *class_name; /* the requested class; NULL: none */
  LangOptions reading;    /* options for reading, with its own copies of paths */
  const char *const
      *libraries;       /* shared libraries with external functions; NULL: external functions may only read files */
  const char *readable; /* folders that the caller allows to be read; NULL: none */
  LIST(const char *) library_models; /* models of the libraries that were parsed */
  const char *plan_start;            /* initial values of a plan, as a list; NULL: it is not a plan */
  bool has_inputs;                   /* it was loaded with inputs that depend on time */
  Names names;
  Source source;
  Diags diags;
  const Model *model; /* NULL: the text was refused */
  SpiceModel circuit; /* for a netlist */
  bool charges;       /* it was read with charges as variables */
  daedal_counts counts;
  Analysis *analysis;
  Arena arena;
  daedal_analysis figures;
  TextVec flat, text, json, svg;
  uint64_t hash; /* hash of the flat text; 0: not computed yet */
  Published published;
  double seconds_parse;
  atomic_bool broken;
};

/* How a steady state was found (steady.c). */
typedef struct SteadyPoint {
  const char *way; /* how it was found; NULL: there is none */
  uint32_t iterations;
  double residual; /* the largest */
  bool is_isolated;
  bool is_stopped;       /* by the caller */
  bool is_restless;      /* events repeat in a cycle */
  const char *stability; /* NULL: not known */
  bool is_linear;        /* the eigenvalues decide the stability */
  double *y;             /* values of all columns */
} SteadyPoint;

/* Texts of a result that are made when first needed. */
typedef enum ReportKind {
  REPORT_TEXT,
  REPORT_JSON,
  REPORT_COMPARISON,
  REPORT_COMPARISON_JSON,
  REPORT_PICTURE, /* for a comparison */
  REPORT_INITIAL_TEXT,
  REPORT_INITIAL_JSON,
  REPORT_START_VALUES,
  REPORT_PLAN,
  REPORT_MODEL,
  REPORT_MODEL_JSON,
  REPORT_CHOICE,
  REPORT_LINEAR,
  REPORT_LINEAR_JSON,
  REPORT_STEADY,
  REPORT_STEADY_JSON,
  REPORT_COUNT
} ReportKind;

struct daedal_result {
  HandleKind kind;
  Heap *heap;
  daedal_model *model; /* the caller's model, or one loaded with other structural parameters */
  daedal_plan *plan;   /* the plan that is run; NULL: the result has its own */
  OverrideVec overrides;
  GivenInputVec inputs;
  ModificationVec modifications; /* the options with which the model was loaded */
  Diags diags;
  Simulation simulation;
  daedal_status status;
  daedal_pivot *pivots;
  daedal_event *events;
  const char *constraint;
  CompareRequest comparing;
  Comparison *comparison;   /* NULL: a single run */
  LinearForm *linear;       /* NULL: it was not linearized */
  SteadyPoint *steady;      /* NULL: not requested */
  Reduction reduction;      /* the reduced system, for its report */
  Explanation *explanation; /* explanation of the initial values; NULL until needed */
  TextVec plot, terminal, reports[REPORT_COUNT];
  const struct PartContent *earlier;  /* the run that this one continues from; NULL: none */
  double *columns;                    /* the trajectory, signal by signal; NULL until needed */
  double *values, *derivatives;       /* values by variable, for a run in steps */
  const Signal **value_of, **rate_of; /* by variable: its signal, and the signal of its derivative; NULL: none */
  Published published;
  bool broken;
};

struct daedal_plan {
  HandleKind kind;
  atomic_uint references;
  HeapHook hook; /* the struct was allocated from it */
  daedal_options options;
  daedal_result *asked; /* has the model, the options as read, diagnostics and memory, but no run */
  Request request;
  Plan *plan;
};

/* Files of results, read back (files.c). */
struct daedal_files {
  HandleKind kind;
  Heap *heap;
  Arena arena;
  Source source; /* a source of one file without a name, so that diagnostics have no place */
  Diags diags;
  const char **paths, **labels; /* the label is the file's name, with folders if two files have the same name */
  const Trajectory **results;   /* results, each with at least one row */
  uint32_t count;
  daedal_status status;
  ResultDifference *difference; /* difference between the first two files; NULL: not compared */
  double tolerance, absolute;
  TextVec plot, terminal, text, json;
  Published published;
  bool broken;
};

typedef VEC(daedal_override) GivenVec;

struct daedal_run {
  HandleKind kind;
  Heap *heap;
  Arena arena;
  daedal_plan *plan;
  GivenVec values;       /* values set by the caller, each name once */
  GivenVec overrides;    /* the overrides of the plan, then `values`; empty: nothing was set */
  GivenVec proposed;     /* the overrides including the value that is being set */
  daedal_result *result; /* result of the last execution, or of the run in steps */
};

/* ---- any handle (lifetime.c, handle.c, reports.c) ---- */

/* The kind of a handle; HANDLE_NOTHING for NULL. */
HandleKind handle_kind(const void *handle);

/* Fills a struct of the caller. It may be smaller or larger than ours, because the caller was compiled with another version; extra
 * bytes become zero. */
void hand_out(void *out, size_t size, const void *value, size_t known);

daedal_status api_model_status(const daedal_model *model);
void api_model_free(daedal_model *model);
void api_plan_free(daedal_plan *plan);
void api_run_free(daedal_run *run);
void api_result_free(daedal_result *result);
void api_sweep_free(daedal_sweep *sweep);
void api_estimate_free(daedal_estimate *estimate);

const char *api_analysis_text(daedal_model *model);
const char *api_analysis_json(daedal_model *model);
const char *api_flat_text(daedal_model *model);
const char *api_result_text(daedal_result *result);
const char *api_result_json(daedal_result *result);
const char *api_result_initial_text(daedal_result *result);
const char *api_result_initial_json(daedal_result *result);
const char *api_result_start_values(daedal_result *result);
const char *api_result_plan(daedal_result *result);

/* ---- plans as files (plan_file.c) ---- */

void plan_file_print(Heap *heap, const TextVec *start, const TextVec *flat, TextVec *text);

/* Reads the header of a plan file, which precedes the model's text, and replaces it by blanks; false after reporting. */
bool plan_file_open(daedal_model *model, const char *path, char *bytes, uint32_t length);
const char *api_result_model(daedal_result *result);
const char *api_result_model_json(daedal_result *result);
const char *api_result_choice(daedal_result *result);
const char *api_compare_text(daedal_result *result);
const char *api_compare_json(daedal_result *result);
const char *api_linear_text(daedal_result *result);
const char *api_linear_json(daedal_result *result);
const char *api_steady_text(daedal_result *result);
const char *api_steady_json(daedal_result *result);
const char *api_sweep_json(daedal_sweep *sweep);
const char *api_estimate_text(daedal_estimate *estimate);
const char *api_estimate_json(daedal_estimate *estimate);
const char *api_files_text(daedal_files *files);
const char *api_files_json(daedal_files *files);

/* Pictures. */
const char *api_analysis_svg(daedal_model *model);
const char *api_result_draw(daedal_result *result, const daedal_plot *plot);
const char *api_compare_plot(daedal_result *result);
const char *api_linear_draw(daedal_result *result, const daedal_plot *plot);
const char *api_sweep_plot(daedal_sweep *sweep);
const char *api_estimate_plot(daedal_estimate *estimate);
const char *api_files_draw(daedal_files *files, const daedal_plot *plot);

/* Files. */
daedal_status api_result_save(daedal_result *result, const char *path);
daedal_status api_result_stream(daedal_result *result, daedal_sink sink, void *context);
daedal_status api_linear_save(daedal_result *result, const char *path);
daedal_status api_sweep_save(daedal_sweep *sweep, const char *path);
daedal_status api_sweep_stream(daedal_sweep *sweep, daedal_sink sink, void *context);

/* ---- choices of signals (choose.c) ---- */

/* Copies of names from the user. The names of netlists are stored in lower case; the user may write them in either case. */
const char *user_name(const daedal_result *result, Arena *arena, const char *name);
const char *const *user_names(const daedal_result *result, Arena *arena, const char *const *names);

/* Makes the filter for a list of words; for NULL there is none. false: the result's diagnostics name the word that matches
 * nothing. */
bool filter_signals(daedal_result *result, const char *const *words, const SignalFilter **filter);

/* ---- references (lifetime.c) ---- */

/* Adds an owner, which must free the model as well. */
daedal_model *model_retain(daedal_model *model);
daedal_plan *plan_retain(daedal_plan *plan);

/* Mutable members of a model are read and written only between these calls. */
void model_lock(const daedal_model *model);
void model_unlock(const daedal_model *model);

/* ---- diagnostics (diagnostics.c) ---- */

/* Adds new messages to the list. */
void publish_model(daedal_model *model);
void publish_result(daedal_result *result);
void publish_files(daedal_files *files);

/* Message number `index`. A broken handle has one more message, which says so. For NULL there are no messages. */
daedal_diagnostic published_get(const Published *published, bool broken, uint32_t index);

/* Sets the status, which depends on `ok` (did the work succeed?), and publishes the messages. Returns `ok`. */
bool result_finish(daedal_result *result, bool ok);

/* ---- protected calls (protect.c) ---- */

/* After a refusal in the model's heap: reports the exceeded limit as an error of the model. false: memory ran out; the model is
 * broken. */
bool model_refused(daedal_model *model);

/* Calls `work` for a handle; a model is locked meanwhile. false: `work` failed, the handle has nothing to work on, or memory ran
 * out. */
typedef bool (*ModelWork)(daedal_model *model, const void *argument);
typedef bool (*ResultWork)(daedal_result *result, const void *argument);
bool model_protect(daedal_model *model, ModelWork work, const void *argument);
typedef bool (*FilesWork)(daedal_files *files, const void *argument);
bool result_protect(daedal_result *result, ResultWork work, const void *argument);
bool files_protect(daedal_files *files, FilesWork work, const void *argument);

/* Returns the report, which is printed when it is first needed; NULL if there is nothing to print, or no memory. */
typedef void (*ResultPrint)(daedal_result *result, TextVec *text);
const char *result_report(daedal_result *result, ReportKind kind, ResultPrint print);

/* How the initial values were found; NULL: there are none. Call it inside result_protect (report.c). */
const Explanation *result_explain(daedal_result *result);

/* ---- refusals (refuse.c) ---- */

/* Each says what is wrong in the result's diagnostics (DIAG_USAGE) and returns false. */
bool refuse_usage(daedal_result *result, const char *message);
bool refuse_method(daedal_result *result, const char *name);
bool refuse_name(const Model *model, Diags *diags, const char *name, const char *purpose);

/* The integrator of that name; for SOLVER_AUTO it is NULL and the run chooses. false: this build has no such solver; the result has
 * a message. */
bool find_solver(daedal_result *result, const char *name, const Integrator **integrator);

/* ---- options (options.c) ---- */

/* The caller's options, completed with defaults. The caller may have been compiled with an older struct. NULL: all defaults. */
daedal_options options_given(const daedal_options *options);

/* Does the netlist contain an analysis that daedal has, or did the caller give a stop time? If neither, an error
 * says what is missing. */
bool check_analysis(daedal_result *result, const daedal_options *options);

/* Reads times, tolerances and names: from the options, then the experiment annotation, then defaults. */
bool read_options(daedal_result *result, const daedal_options *options, Request *request);

/* Reads start values and parameters: from a result, then from a list, then single ones. Later values replace earlier ones. */
bool read_starts(daedal_result *result, const daedal_options *options, Request *request);

/* Finds the operating point from which the run of a netlist starts, and uses it for start values that were not given. If
 * targets are requested, it sets the slopes of these start values, too. */
bool find_operating_point(daedal_result *result, Request *request, double *starts);

/* Makes the run that finds the operating point for a request, from a solution of `held` (NULL: without one), in the heap. It has the
 * parameters and targets of the request. NULL: an error is in diags. */
Simulation *simulate_operating_point(const Model *point, const Model *held, Heap *heap, const Request *asked,
                                     Diags *diags);

/* A hash of everything that determines the equations of a model; 0: there is no memory for it. */
uint64_t model_flat_hash(daedal_model *model);

/* A copy of the model with its own expression graph. The copy of a circuit starts from its operating point. */
Model *layer_at_operating_point(daedal_model *model);

bool read_invariants(daedal_result *result, const daedal_options *options);

/* ---- sensitivities (sensitivity.c) ---- */

/* Reads the parameters and start values with respect to which the solution is differentiated. */
bool read_targets(daedal_result *result, const daedal_options *options, Request *request);

/* ---- resumed runs (resume.c) ---- */

/* If the options request it, lets the run continue from the state that an earlier one saved. false: the result's
 * diagnostics say why not. */
bool resume_begin(daedal_result *result, const daedal_options *options, Request *request);

/* ---- overrides (overrides.c) ---- */

/* Makes room for more overrides after those of the options, whose list then lives in the arena. Returns the place of
 * the first one. */
daedal_override *overrides_extend(Arena *arena, daedal_options *options, uint32_t more);

/* Copies the overrides of the options, with their texts, to the arena. */
void overrides_keep(Arena *arena, daedal_options *options);

/* Reads the overrides and inputs of the options. Loads the model again for this result if parameters determine its structure, or
 * for inputs. Do not call it inside result_protect. false: the result has its status. */
bool overrides_take(daedal_result *result, const daedal_options *options);

/* ---- inputs (inputs.c) ---- */

/* Reads the inputs of the options into the result. false: its diagnostics say why not. */
bool inputs_read(daedal_result *result, const daedal_options *options);
uint64_t hash_inputs(uint64_t hash, const daedal_options *options);

/* Stores the override values: parameters by parameter, start values by variable. */
bool overrides_apply(daedal_result *result, double *parameters, double *starts);

/* ---- models (model.c) ---- */

/* The model of the same text with other values of parameters. NULL when there is no memory for it. */
daedal_model *model_load_modified(const daedal_model *model, const ModificationVec *modifications,
                                  const GivenInputVec *inputs);

/* The model of the same text with its final equations in another form. NULL when there is no memory for it. */
daedal_model *model_load_boundary(const daedal_model *model, const BoundaryOptions *boundary);

/* Does the model have final equations as the user wrote them? */
bool has_boundary(const daedal_model *model);

/* ---- runs (run.c) ---- */

/* Makes a result by work(result, argument), of the model with the overrides and inputs of the options (NULL: none). NULL when there
 * is no memory even for the handle. */
daedal_result *result_make(daedal_model *model, const daedal_options *options, ResultWork work, const void *argument);

/* Simulates from the initial values; all options are given. NULL when there is no memory even for the handle. */
daedal_result *initial_value_simulate(daedal_model *model, const daedal_options *options);

/* Simulates any model, including one with final equations (boundary.c). */
daedal_result *simulate_once(daedal_model *model, const daedal_options *options);

/* Reads names, times and values of the options into a request, in the result. false: the result's diagnostics say why. */
bool read_request(daedal_result *result, const daedal_options *options, Request *request);

/* Passes the steps of a run to the callback of the options. The bridge must outlive the run. */
typedef struct Bridge {
  const daedal_options *options;
  double start, stop, rows; /* rows: number of output points */
  double csv_bytes;         /* size of the file; NaN: not known yet */
  daedal_result *result;
  struct PartFile *part; /* receives rows during the run; NULL: none */
  double next, interval; /* clock time of the next writing, 0 before the first step; seconds between writings */
  double looked;         /* when the clock was last read */
  uint64_t steps, look;  /* steps since then; steps between two readings of the clock */
  const char **texts;    /* conditions that caused events, by mode */
  uint64_t run;          /* hash that a resumed run must match; 0: not known yet */
} Bridge;
/* Writes rows and state of the run to a file during the run (resume.c). */
void part_begin(Bridge *bridge);
void part_step(Bridge *bridge, double time, bool stops);

/* For a model that is not balanced: reports an error for each class of its components that is not balanced by itself
 * (balance.c). */
void report_class_balance(const daedal_model *model, Diags *diags);

/* Reads another class of the same text and libraries; NULL: no memory. */
daedal_model *model_load_class(const daedal_model *model, const char *class_name);

void hand_on_steps(daedal_result *result, Request *request, Bridge *bridge, const daedal_options *options);

/* The purpose of a run of a plan. */
typedef enum RunPurpose {
  RUN_WHOLE,   /* to the end */
  RUN_STEPPED, /* runs only to its start: the caller advances it */
  RUN_ROWS,    /* runs to the end, for rows and events only: pivots and constraints get no texts */
} RunPurpose;

/* Runs the plan. options: those of the plan with other overrides. NULL when there is no memory even for the handle. */
daedal_result *plan_run(daedal_plan *plan, const daedal_options *options, RunPurpose purpose);

/* A result of the same model and plan, without a run yet. NULL when there is no memory for it. */
daedal_result *result_like(const daedal_result *result);

/* Stores the outcome of a run in the result. */
bool end_run(daedal_result *result, bool ok);

/* ---- linear forms (linearize.c) ---- */

/* Reads the names of the inputs and outputs of a linear form; NULL: all inputs and outputs of the model itself. false: the
 * diagnostics say why not. */
bool linear_names_read(daedal_result *result, const char *const *inputs, const char *const *outputs,
                       LinearRequest *names, Request *request);

/* Computes the linear form at a point and stores it in the result. */
bool linearize_at(daedal_result *result, const LinearRequest *names, double t, const double *y);

/* ---- runs of plans (plan.c) ---- */

/* Gives one run the values set in another run of the same plan. false: there is no memory. */
bool run_copy_values(daedal_run *to, const daedal_run *from);

/* ---- variables (variables.c) ---- */

/* Sizes of the array of the variables name[1,1], name[1,2], ...; no dimensions if there are none.
 * O(variables of the model). */
Extent array_extent(const Model *model, const char *name);

/* NULL: the run failed before it had one. */
const Recorder *recorder_of(const daedal_result *result);
