/* handles: what stands behind the handles of daedal.h, and what the files of this folder share.
 *
 * Invariant: whatever can allocate runs inside model_protect or result_protect. A refused allocation marks the
 * handle as broken; from then on it can only be asked for its status and freed.
 */
#ifndef DAEDAL_API_HANDLES_H
#define DAEDAL_API_HANDLES_H

#include "array/analysis.h"
#include "compare.h"
#include "daedal.h"
#include "init/explain.h"
#include "lang/lang.h"

/* Diagnostics in the form handed out, made anew when the list has grown. */
typedef struct Published {
  Arena arena;
  daedal_diagnostic *list;
  uint32_t count;
} Published;

/* Sizes of an array; a scalar has no dimensions. */
typedef struct Extent {
  uint32_t dimensions, sizes[TYPE_MAX_DIMENSIONS];
} Extent;

/* One `name=value` of the overrides (overrides.c). */
typedef struct Override {
  const char *name; /* flat, without quotes */
  Extent extent;
  const char **texts; /* of the scalars, the last subscript fastest */
  uint32_t count;
  bool is_loaded; /* the model must be loaded with this value */
} Override;
typedef VEC(Override) OverrideVec;

struct daedal_model {
  Heap *heap;
  const char *class_name; /* asked for; NULL: none */
  Names names;
  Source source;
  Diags diags;
  const Model *model; /* NULL: the text was refused */
  daedal_counts counts;
  Analysis *analysis;
  Arena arena;
  daedal_analysis figures;
  TextVec flat, text, json, svg, dump;
  Published published;
  double seconds_parse;
  bool broken;
};

struct daedal_result {
  Heap *heap;
  daedal_model *model;  /* the caller's, or loaded */
  daedal_model *loaded; /* with other structural parameters, for this result alone; NULL: none */
  OverrideVec overrides;
  ModificationVec modifications; /* what the model was loaded with */
  Diags diags;
  Simulation simulation;
  const char *method;
  daedal_status status;
  daedal_pivot *pivots;
  const char *constraint;
  CompareRequest comparing;
  Comparison *comparison; /* NULL: one run */
  Reduction reduction;    /* for its text */
  TextVec reduced, reduced_json, choice;
  Explanation *explanation; /* of the initial values; NULL until asked for */
  TextVec text, json, plot, terminal, initial_text, initial_json, start_values;
  Published published;
  bool broken;
};

/* ---- diagnostics (diagnostics.c) ---- */

/* Makes the list anew from what was said. */
void publish(Published *published, const Diags *diags, const Source *source, Heap *heap);
void publish_model(daedal_model *model);
void publish_result(daedal_result *result);
daedal_diagnostic published_get(const Published *published, uint32_t index);

/* ---- protected calls (protect.c) ---- */

/* Runs work on a handle. false: it said so, the handle has nothing to work on, or memory ran out. */
typedef bool (*ModelWork)(daedal_model *model, const void *argument);
typedef bool (*ResultWork)(daedal_result *result, const void *argument);
bool model_protect(daedal_model *model, ModelWork work, const void *argument);
bool result_protect(daedal_result *result, ResultWork work, const void *argument);

/* ---- options (options.c) ---- */

/* Each says what is wrong in the result's diagnostics (DIAG_USAGE) and returns false. */
bool refuse_usage(daedal_result *result, const char *message);
bool refuse_method(daedal_result *result, const char *name);
bool refuse_name(const Model *model, Diags *diags, const char *name, const char *purpose);

/* The integrator of that name; SOLVER_AUTO is NULL: the run chooses. false: this build has none, which is said. */
bool find_solver(daedal_result *result, const char *name, const Integrator **integrator);

/* Times, tolerances and names from options, then the experiment annotation, then defaults. */
bool read_options(daedal_result *result, const daedal_options *options, Request *request);

/* Start values and parameters: from a result, then from a list, then single ones; the later count. */
bool read_starts(daedal_result *result, const daedal_options *options, Request *request);

bool read_invariants(daedal_result *result, const daedal_options *options);

/* "a,b[1,2],c": the names between commas outside of brackets, in the arena. */
const char **split_names(Arena *arena, const char *text, uint32_t *count);

/* ---- overrides (overrides.c) ---- */

/* Reads the list (NULL: none), and loads the model anew for this result where parameters of the list decide its structure.
 * Not to be called inside of result_protect. false: the result has its status. */
bool overrides_take(daedal_result *result, const char *text);

/* Puts the values in their places: by parameter, and start values by variable. */
bool overrides_apply(daedal_result *result, double *parameters, double *starts);

/* ---- models (model.c) ---- */

/* The model of the same text with other values of parameters. NULL when there is no memory for it. */
daedal_model *model_load_modified(const daedal_model *model, const ModificationVec *modifications);

/* ---- runs (run.c) ---- */

/* A result of the model with the overrides of the options, made by work(result, argument). NULL when there is no
 * memory even for the handle. */
daedal_result *result_make(daedal_model *model, const daedal_options *options, ResultWork work, const void *argument);

/* NULL: it did not get so far. */
const Recorder *recorder_of(const daedal_result *result);

#endif
