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

/* Diagnostics in the form handed out, made anew when the list has grown. */
typedef struct Published {
  Arena arena;
  daedal_diagnostic *list;
  uint32_t count;
} Published;

struct daedal_model {
  Heap *heap;
  Names names;
  Source source;
  Diags diags;
  Model *model; /* NULL: the text was refused */
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
  daedal_model *model;
  Diags diags;
  Simulation simulation;
  const char *method;
  daedal_status status;
  daedal_pivot *pivots;
  const char *constraint;
  CompareRequest comparing;
  Comparison *comparison; /* NULL: one run */
  TextVec reduced, reduced_json;
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

/* Times, tolerances and names from options, then the experiment annotation, then defaults. */
bool read_options(daedal_result *result, const daedal_options *options, Request *request);

/* Start values and parameters: from a result, then from a list, then single ones; the later count. */
bool read_starts(daedal_result *result, const daedal_options *options, Request *request);

bool read_invariants(daedal_result *result, const daedal_options *options);

/* "a,b[1,2],c": the names between commas outside of brackets, in the arena. */
const char **split_names(Arena *arena, const char *text, uint32_t *count);

/* ---- runs (run.c) ---- */

/* A result of the model, made by work(result, argument). NULL when there is no memory even for the handle. */
daedal_result *result_make(daedal_model *model, ResultWork work, const void *argument);

/* NULL: it did not get so far. */
const Recorder *recorder_of(const daedal_result *result);

#endif
