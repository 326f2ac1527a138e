/* api: implements daedal.h: argument checks and calls. Every entry point that can allocate runs inside a HEAP_TRY; a refused
 * allocation marks the handle as broken, and from then on it can only be asked for its status and freed. */
#include "daedal.h"

#include "code/export.h"
#include "compare.h"
#include "lang/lang.h"
#include "reduce/text.h"
#include "result/analysis_report.h"
#include "result/csv.h"
#include "result/dump.h"
#include "result/file.h"
#include "result/initial_report.h"
#include "result/json.h"
#include "result/mat.h"
#include "result/plot.h"
#include "result/start_list.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
  TextVec text, json, csv, plot, terminal, initial_text, initial_json, start_values;
  Published published;
  bool broken;
};

static const daedal_diagnostic OUT_OF_MEMORY = {
    .severity = DAEDAL_ERROR, .status = DAEDAL_INTERNAL, .message = "out of memory", .place = {.path = ""}};

/* Smallest tolerance, and smallest step over time: a little above the round-off of one operation. */
static const double FINEST = 1e-14;

static const char *const SOLVERS[] = {"auto", "erk",   "radau", "bdf",
#ifdef DAEDAL_WITH_SUNDIALS
                                      "ida",  "cvode",
#endif
                                      NULL};

/* ---- diagnostics ---- */

static daedal_place place_of(const Source *source, Span span, Arena *arena) {
  daedal_place place = {.path = source->path ? source->path : ""};
  if (span.end <= span.begin || span.begin > source->length) return place;
  place.line = source_line(source, span.begin);
  place.column = source_column(source, span.begin);
  uint32_t begin = source->lines.data[place.line - 1];
  uint32_t end = place.line < source->lines.count ? source->lines.data[place.line] : source->length;
  while (end > begin && (source->text[end - 1] == '\n' || source->text[end - 1] == '\r')) end--;
  uint32_t stop = span.end < end ? span.end : end;
  for (uint32_t k = span.begin; k < stop; k++) place.length += ((unsigned char)source->text[k] & 0xc0) != 0x80;
  place.text = arena_copy(arena, source->text + begin, end - begin);
  return place;
}

static void publish(Published *published, const Diags *diags, const Source *source, Heap *heap) {
  arena_free(&published->arena);
  published->arena = arena_make(heap);
  Arena *arena = &published->arena;
  published->list = arena_array(arena, diags->list.count, sizeof *published->list);
  published->count = diags->list.count;
  for (uint32_t k = 0; k < diags->list.count; k++) {
    const Diag *diag = &diags->list.data[k];
    daedal_note *notes = arena_array(arena, diag->notes.count, sizeof *notes);
    for (uint32_t n = 0; n < diag->notes.count; n++)
      notes[n] = (daedal_note){diag->notes.data[n].message, place_of(source, diag->notes.data[n].span, arena)};
    published->list[k] = (daedal_diagnostic){.severity = (daedal_severity)diag->severity,
                                             .status = (daedal_status)diag->code,
                                             .message = diag->message,
                                             .place = place_of(source, diag->span, arena),
                                             .notes = notes,
                                             .note_count = diag->notes.count};
  }
}

static daedal_diagnostic published_get(const Published *published, uint32_t index) {
  if (index < published->count) return published->list[index];
  return OUT_OF_MEMORY;
}

/* ---- models ---- */

static daedal_model *model_begin(const daedal_allocator *allocator, jmp_buf *point) {
  HeapHook hook;
  if (allocator) hook = (HeapHook){allocator->resize, allocator->context};
  Heap *heap = heap_new(allocator ? &hook : NULL);
  if (!heap) return NULL;
  if (setjmp(*point)) {
    heap_destroy(heap);
    return NULL;
  }
  heap_set_catch(heap, point);
  daedal_model *model = heap_alloc(heap, sizeof *model);
  model->heap = heap;
  model->names = names_make(heap);
  model->diags = diags_make(heap);
  model->arena = arena_make(heap);
  return model;
}

/* Parses and flattens `text`, which belongs to the heap. */
static void model_read(daedal_model *model, const char *path, char *text, uint32_t length, const char *class_name) {
  double begin = pipeline_clock();
  const char *shown = path ? arena_copy(&model->arena, path, strlen(path)) : "";
  model->source = source_make(model->heap, shown, text, length);
  model->model = lang_load(model->heap, &model->names, &model->source, class_name, &model->diags);
  if (model->diags.errors) model->model = NULL;
  model->seconds_parse = pipeline_clock() - begin;
}

daedal_model *daedal_load_text(const char *text, size_t length, const char *path, const char *class_name,
                               const daedal_allocator *allocator) {
  jmp_buf point;
  daedal_model *volatile model = model_begin(allocator, &point);
  if (!model) return NULL;
  if (!HEAP_TRY(model->heap, point)) {
    heap_destroy(model->heap);
    return NULL;
  }
  if (length >= INT32_MAX) {
    model->source = source_make(model->heap, path ? path : "", "", 0);
    diag_error(&model->diags, DIAG_INPUT, (Span){0}, "the text is too long: %zu bytes, at most 2147483646", length);
  } else {
    char *copy = heap_alloc(model->heap, length + 1);
    if (length) memcpy(copy, text, length);
    model_read(model, path, copy, (uint32_t)length, class_name);
  }
  publish(&model->published, &model->diags, &model->source, model->heap);
  return model;
}

daedal_model *daedal_load_file(const char *path, const char *class_name, const daedal_allocator *allocator) {
  jmp_buf point;
  daedal_model *volatile model = model_begin(allocator, &point);
  if (!model) return NULL;
  if (!HEAP_TRY(model->heap, point)) {
    heap_destroy(model->heap);
    return NULL;
  }
  uint32_t length = 0;
  model->source = source_make(model->heap, path, "", 0);
  char *text = file_read(model->heap, &model->diags, path, &length);
  if (text) model_read(model, path, text, length, class_name);
  publish(&model->published, &model->diags, &model->source, model->heap);
  return model;
}

void daedal_model_free(daedal_model *model) {
  if (model) heap_destroy(model->heap);
}

daedal_status daedal_model_status(const daedal_model *model) {
  if (model->broken) return DAEDAL_INTERNAL;
  return model->model ? DAEDAL_OK : (daedal_status)diags_code(&model->diags);
}

const char *daedal_model_name(const daedal_model *model) {
  return model->model ? names_text(&model->names, model->model->name) : "";
}

uint32_t daedal_diagnostic_count(const daedal_model *model) { return model->published.count + model->broken; }

daedal_diagnostic daedal_diagnostic_get(const daedal_model *model, uint32_t index) {
  return published_get(&model->published, index);
}

uint32_t daedal_error_count(const daedal_model *model) { return model->diags.errors + model->broken; }

daedal_counts daedal_model_counts(const daedal_model *model) {
  if (!model->model) return (daedal_counts){0};
  Balance balance = model_balance(model->model);
  return (daedal_counts){.equations = balance.equations,
                         .variables = balance.unknowns,
                         .discrete_equations = balance.discrete_equations,
                         .discrete_variables = balance.discrete_unknowns,
                         .parameters = model->model->parameters.count,
                         .functions = model->model->functions.count};
}

/* Runs work(model) unless the handle cannot; returns false when it is or gets broken. */
static bool model_try(daedal_model *model, void (*work)(daedal_model *)) {
  if (model->broken || !model->model) return false;
  jmp_buf point;
  if (!HEAP_TRY(model->heap, point)) {
    model->broken = true;
    return false;
  }
  work(model);
  publish(&model->published, &model->diags, &model->source, model->heap);
  return true;
}

static void work_flatten(daedal_model *model) {
  if (!model->flat.count) model_print(model->model, model->heap, &model->flat);
}

const char *daedal_flatten(daedal_model *model) { return model_try(model, work_flatten) ? model->flat.data : NULL; }

const char *const *daedal_pass_names(void) { return DUMP_PASSES; }

const char *daedal_dump(daedal_model *model, const char *pass) {
  jmp_buf point;
  if (model->broken || !model->model) return NULL;
  if (!HEAP_TRY(model->heap, point)) {
    model->broken = true;
    return NULL;
  }
  model->dump.count = 0;
  return dump_pass(model->model, pass, model->heap, &model->dump) ? model->dump.data : NULL;
}

/* ---- analysis ---- */

static void work_analyze(daedal_model *model) {
  if (model->analysis) return;
  double begin = pipeline_clock();
  Analysis *analysis = model->analysis = analysis_run(model->model, &model->arena, &model->diags);
  analysis->seconds_parse = model->seconds_parse;
  analysis->seconds_structure = pipeline_clock() - begin;
  const Structure *structure = &analysis->structure;
  bool ok = structure->status == STRUCTURE_OK;
  bool discrete_ok = model_check_discrete(model->model, &model->diags);
  model->figures = (daedal_analysis){.status = ok && analysis->curable && discrete_ok ? DAEDAL_OK : DAEDAL_STRUCTURE,
                                     .verdict = discrete_ok ? analysis_verdict(analysis) : "unbalanced",
                                     .equations = (uint32_t)structure->n_equations,
                                     .variables = (uint32_t)structure->n_variables,
                                     .structural_index = structure->structural_index,
                                     .dof = structure->dof,
                                     .differentiations = structure->differentiations,
                                     .c = ok ? structure->c : NULL,
                                     .d = ok ? structure->d : NULL,
                                     .blocks = ok ? (uint32_t)structure->blocks.n_blocks : 0,
                                     .aliases = analysis->aliases};
}

daedal_analysis daedal_analyze(daedal_model *model) {
  if (!model_try(model, work_analyze))
    return (daedal_analysis){.status = daedal_model_status(model), .verdict = "input"};
  return model->figures;
}

#define ANALYSIS_REPORT(name, field, function)                                      \
  static void work_##name(daedal_model *model) {                                    \
    work_analyze(model);                                                            \
    if (!model->field.count) function(model->analysis, model->heap, &model->field); \
  }                                                                                 \
  const char *daedal_analysis_##name(daedal_model *model) {                         \
    return model_try(model, work_##name) ? model->field.data : NULL;                \
  }

ANALYSIS_REPORT(text, text, analysis_report_text)
ANALYSIS_REPORT(json, json, analysis_report_json)
ANALYSIS_REPORT(svg, svg, analysis_report_svg)

/* ---- options ---- */

daedal_options daedal_default_options(void) {
  return (daedal_options){.method = "dummy",
                          .solver = "auto",
                          .start_time = NAN,
                          .stop_time = NAN,
                          .tolerance = NAN,
                          .output_interval = NAN,
                          .max_step = NAN,
                          .constraint_tolerance = NAN,
                          .baumgarte_alpha = NAN,
                          .baumgarte_beta = NAN};
}

const char *const *daedal_method_names(void) { return method_names; }
const char *const *daedal_solver_names(void) { return SOLVERS; }

static double first_given(double a, bool has_b, double b, double otherwise) {
  return !isnan(a) ? a : has_b ? b : otherwise;
}

static bool usage_error(daedal_result *result, const char *message) {
  diag_error(&result->diags, DIAG_USAGE, (Span){0}, "%s", message);
  return false;
}

static bool unknown_method(daedal_result *result, const char *name) {
  Diag *diag = diag_error(&result->diags, DIAG_USAGE, (Span){0}, "there is no method '%s'", name);
  for (uint32_t m = 0; method_at(m); m++)
    diag_note(&result->diags, diag, (Span){0}, "%s: %s", method_at(m)->name, method_at(m)->description);
  return false;
}

/* Times, tolerances and names from options, then the experiment annotation, then defaults. */
static bool take_options(daedal_result *result, const daedal_options *options, Request *request) {
  const Experiment *experiment = &result->model->model->experiment;
  RunOptions *run = &request->run;
  Arena *arena = &result->diags.arena;
  request->method = method_find(options->method);
  if (!request->method) return unknown_method(result, options->method);
  if (options->baumgarte_alpha <= 0 || options->baumgarte_beta <= 0)
    return usage_error(result, "alpha and beta of method baumgarte must be positive");
  request->method_options = (MethodOptions){options->baumgarte_alpha, options->baumgarte_beta};
  if (strcmp(options->solver, "auto") != 0 && !(run->integrator = integrator_find(options->solver)))
    return usage_error(result, arena_printf(arena, "there is no solver '%s' in this build", options->solver));
  run->start = first_given(options->start_time, experiment->has_start, experiment->start, 0);
  run->stop = first_given(options->stop_time, experiment->has_stop, experiment->stop, run->start + 1);
  run->tolerance = first_given(options->tolerance, experiment->has_tolerance, experiment->tolerance, 1e-6);
  run->max_step = isnan(options->max_step) ? 0 : options->max_step;
  run->constraint_tolerance =
      isnan(options->constraint_tolerance) ? 100 * run->tolerance : options->constraint_tolerance;
  run->enforces_constraints = request->method->enforces_all || !isnan(options->constraint_tolerance);
  if (!isfinite(run->start) || !isfinite(run->stop) || run->stop < run->start)
    return usage_error(result, "the stop time must not be before the start time");
  if (!(run->tolerance >= FINEST) || run->tolerance >= 1)
    return usage_error(result, "the tolerance must be at least 1e-14, the round-off of steps, and below 1");
  if (run->max_step < 0 || !(run->constraint_tolerance > 0))
    return usage_error(result, "step sizes and the constraint tolerance must be positive");
  if (run->max_step > 0 && run->max_step < FINEST * fmax(fabs(run->start), fabs(run->stop)))
    return usage_error(result, "the longest step is below the round-off of time");
  double interval =
      first_given(options->output_interval, !options->intervals && experiment->has_interval, experiment->interval, NAN);
  if (!isnan(interval) && !(interval > 0)) return usage_error(result, "the output interval must be positive");
  double count = options->intervals ? options->intervals : 500;
  if (!isnan(interval)) count = ceil((run->stop - run->start) / interval * (1 - 1e-12));
  if (!(count < 1e9)) return usage_error(result, "that makes more than 10^9 output points");
  run->intervals = count < 1 ? 1 : (uint32_t)count;
  run->interval = isnan(interval) ? (run->stop - run->start) / run->intervals : interval;
  return true;
}

/* One `name=value` of the overrides. */
static bool take_override(daedal_result *result, const char *text, size_t length, double *parameters, double *starts) {
  Model *model = result->model->model;
  Arena *arena = &result->diags.arena;
  const char *item = arena_copy(arena, text, length);
  char *equals = strrchr(item, '=');
  if (!equals) return usage_error(result, arena_printf(arena, "'%s' is not of the form name=value", item));
  *equals = '\0';
  char *end;
  double value = strcmp(equals + 1, "true") == 0 ? 1 : strcmp(equals + 1, "false") == 0 ? 0 : strtod(equals + 1, &end);
  bool word = strcmp(equals + 1, "true") == 0 || strcmp(equals + 1, "false") == 0;
  if (!word && (end == equals + 1 || *end || !isfinite(value)))
    return usage_error(result, arena_printf(arena, "'%s' is not a number (value of %s)", equals + 1, item));
  uint32_t position = model_find(model, item);
  if (position == MAP_NONE)
    return usage_error(result, arena_printf(arena, "there is no variable '%s' to override", item));
  const Variable *variable = &model->variables.data[position];
  if (variable->role != ROLE_PARAMETER) starts[position] = value;
  else if (variable->is_final || variable->variability == VARIABILITY_CONSTANT)
    return usage_error(result, arena_printf(arena, "'%s' is %s and cannot be overridden", item,
                                            variable->is_final ? "final" : "a constant"));
  else if (variable->is_structural)
    return usage_error(
        result,
        arena_printf(arena, "'%s' decides the structure of the model and cannot be overridden; change it in the file",
                     item));
  else parameters[variable->index] = value;
  return true;
}

/* "a=1,b[1,2]=3": split at commas outside of brackets. */
static bool take_overrides(daedal_result *result, const char *text, double *parameters, double *starts) {
  int depth = 0;
  const char *begin = text ? text : "";
  for (const char *p = begin; *begin; p++) {
    depth += (*p == '[') - (*p == ']');
    if (*p && !(*p == ',' && depth <= 0)) continue;
    if (!take_override(result, begin, (size_t)(p - begin), parameters, starts)) return false;
    begin = *p ? p + 1 : p;
  }
  return true;
}

/* Start values of free parameters count like overrides: both are guesses. */
static void move_free_starts(const Model *model, double *parameters, double *starts) {
  for (uint32_t p = 0; p < model->parameters.count; p++) {
    uint32_t position = model->parameters.data[p];
    if (!isnan(starts[position]) && isnan(parameters[p])) parameters[p] = starts[position];
  }
}

/* Start values: from a result, then from a list, then single ones; the later count. */
static bool take_starts(daedal_result *result, const daedal_options *options, Request *request) {
  const Model *model = result->model->model;
  double *parameters = heap_array(result->heap, model->parameters.count, sizeof *parameters);
  double *starts = heap_array(result->heap, model->variables.count, sizeof *starts);
  for (uint32_t k = 0; k < model->parameters.count; k++) parameters[k] = NAN;
  for (uint32_t k = 0; k < model->variables.count; k++) starts[k] = NAN;
  request->parameter_overrides = parameters;
  request->starts.start = starts;
  if (options->start_from && !start_list_from_result(result->heap, model, options->start_from, starts, &result->diags))
    return false;
  if (options->start_values && !start_list_read(result->heap, model, options->start_values, starts, &result->diags))
    return false;
  move_free_starts(model, parameters, starts);
  return take_overrides(result, options->overrides, parameters, starts);
}

/* "a,b[1,2],c": the names between commas outside of brackets, in the arena. */
static const char **split_names(Arena *arena, const char *text, uint32_t *count) {
  const char **names = arena_array(arena, text ? strlen(text) + 1 : 1, sizeof *names);
  int depth = 0;
  *count = 0;
  for (const char *begin = text ? text : "", *p = begin; *begin; p++) {
    depth += (*p == '[') - (*p == ']');
    if (*p && !(*p == ',' && depth <= 0)) continue;
    names[(*count)++] = arena_copy(arena, begin, (size_t)(p - begin));
    begin = *p ? p + 1 : p;
  }
  return names;
}

static bool take_invariants(daedal_result *result, const daedal_options *options) {
  CompareRequest *comparing = &result->comparing;
  Arena *arena = &result->diags.arena;
  comparing->invariants = split_names(arena, options->invariants, &comparing->invariant_count);
  for (uint32_t k = 0; k < comparing->invariant_count; k++)
    if (model_find(result->model->model, comparing->invariants[k]) == MAP_NONE)
      return usage_error(
          result, arena_printf(arena, "there is no variable '%s' to watch as an invariant", comparing->invariants[k]));
  return true;
}

/* ---- runs ---- */

typedef struct Bridge {
  const daedal_options *options;
  double start, stop;
} Bridge;

static bool bridge_step(void *context, double time, uint64_t steps) {
  const Bridge *bridge = context;
  daedal_progress progress = {time, bridge->start, bridge->stop, steps};
  return bridge->options->on_step(bridge->options->context, &progress);
}

static void publish_run(daedal_result *result) {
  const RunStatistics *statistics = &result->simulation.statistics;
  Arena *arena = &result->diags.arena;
  result->pivots = arena_array(arena, statistics->pivots.count, sizeof *result->pivots);
  for (uint32_t k = 0; k < statistics->pivots.count; k++) {
    const PivotRecord *pivot = &statistics->pivots.data[k];
    const Array *array = result->simulation.facts.run_evaluator->array;
    result->pivots[k] = (daedal_pivot){pivot->time, array_column_name(array, pivot->out, arena),
                                       array_column_name(array, pivot->in, arena)};
  }
  if (result->simulation.facts.statistics && statistics->constraint_row != MAP_NONE)
    result->constraint = array_row_text(result->simulation.evaluator->array, statistics->constraint_row, arena);
  publish(&result->published, &result->diags, &result->model->source, result->heap);
}

static void run(daedal_result *result, const daedal_options *options, bool initialize_only) {
  Request request = {.initialize_only = initialize_only, .compile = options->compile};
  Simulation *simulation = &result->simulation;
  simulation->heap = result->heap;
  simulation->model = result->model->model;
  simulation->diags = &result->diags;
  simulation->facts = (RunFacts){.status = "input", .method = options->method};
  simulation->facts.seconds.parse = result->model->seconds_parse;
  bool ok = take_options(result, options, &request) && take_starts(result, options, &request) &&
            take_invariants(result, options);
  simulation->facts.invariants = result->comparing.invariants;
  simulation->facts.invariant_count = result->comparing.invariant_count;
  if (ok && options->variables)
    ok = (request.filter = signal_filter_new(result->heap, &result->diags, options->variables)) != NULL;
  Bridge bridge = {options, request.run.start, request.run.stop};
  if (options->on_step) {
    request.run.on_step = bridge_step;
    request.run.context = &bridge;
  }
  if (ok) ok = pipeline_simulate(simulation, &request);
  result->status = ok ? DAEDAL_OK : (daedal_status)diags_code(&result->diags);
  publish_run(result);
}

typedef enum RunKind { RUN_SIMULATE, RUN_INITIALIZE, RUN_COMPARE } RunKind;

typedef struct CompareNames {
  const char *methods, *solvers;
} CompareNames;

static void run_comparison(daedal_result *result, const daedal_options *options, const CompareNames *names);

static daedal_result *start_run(daedal_model *model, const daedal_options *options, RunKind kind,
                                const CompareNames *names) {
  Heap *heap = heap_new(heap_hook(model->heap));
  if (!heap) return NULL;
  jmp_buf point;
  daedal_result *volatile result = NULL;
  if (!HEAP_TRY(heap, point)) {
    model->broken = true; /* the graph may be half extended */
    if (!result) {
      heap_destroy(heap);
      return NULL;
    }
    result->broken = true;
    result->status = DAEDAL_INTERNAL;
    return result;
  }
  heap_set_catch(model->heap, &point);
  daedal_result *made = heap_alloc(heap, sizeof *made);
  made->heap = heap;
  made->model = model;
  made->diags = diags_make(heap);
  result = made;
  if (model->model && !model->broken) {
    if (kind == RUN_COMPARE) run_comparison(made, options, names);
    else run(made, options, kind == RUN_INITIALIZE);
  } else {
    made->status = daedal_model_status(model);
    made->simulation.facts.status = "input";
  }
  return made;
}

daedal_result *daedal_simulate(daedal_model *model, const daedal_options *options) {
  return start_run(model, options, RUN_SIMULATE, NULL);
}
daedal_result *daedal_initialize(daedal_model *model, const daedal_options *options) {
  return start_run(model, options, RUN_INITIALIZE, NULL);
}

void daedal_result_free(daedal_result *result) {
  if (result) heap_destroy(result->heap);
}

daedal_status daedal_result_status(const daedal_result *result) { return result->status; }
uint32_t daedal_result_diagnostic_count(const daedal_result *result) {
  return result->published.count + result->broken;
}

daedal_diagnostic daedal_result_diagnostic(const daedal_result *result, uint32_t index) {
  return published_get(&result->published, index);
}

daedal_statistics daedal_result_statistics(const daedal_result *result) {
  const RunFacts *facts = &result->simulation.facts;
  daedal_statistics out = {.method = facts->method,
                           .equations = facts->equations,
                           .states = facts->states,
                           .rows = facts->run_evaluator ? facts->run_evaluator->array->rows : 0,
                           .constraint_equation = result->constraint,
                           .seconds_parse = facts->seconds.parse,
                           .seconds_structure = facts->seconds.structure,
                           .seconds_code = facts->seconds.code,
                           .seconds_init = facts->seconds.init,
                           .seconds_integrate = facts->seconds.integrate};
  const RunStatistics *run_statistics = facts->statistics;
  if (!run_statistics) return out;
  out.solver = run_statistics->solver;
  out.solver_reason = run_statistics->solver_reason;
  out.steps = run_statistics->steps;
  out.rejected = run_statistics->rejected;
  out.factorizations = run_statistics->factorizations;
  out.events = run_statistics->events;
  out.residual_evals = run_statistics->residual_evaluations;
  out.output_evals = run_statistics->output_evaluations;
  out.jacobian_evals = run_statistics->jacobian_evaluations;
  out.pivots = run_statistics->pivots.count;
  out.constraint_residual = run_statistics->constraint_residual;
  out.constraint_time = run_statistics->constraint_time;
  out.end_time = run_statistics->end_time;
  return out;
}

daedal_pivot daedal_result_pivot(const daedal_result *result, uint32_t index) { return result->pivots[index]; }

/* ---- trajectories ---- */

static const Recorder *recorder_of(const daedal_result *result) { return result->simulation.facts.recorder; }

uint32_t daedal_result_signals(const daedal_result *result) {
  return recorder_of(result) ? recorder_of(result)->signals->list.count + 1 : 0;
}

uint32_t daedal_result_rows(const daedal_result *result) {
  return recorder_of(result) ? (uint32_t)recorder_of(result)->trajectory->rows : 0;
}

const char *daedal_result_name(const daedal_result *result, uint32_t signal) {
  return signal == 0 ? "time" : recorder_of(result)->signals->list.data[signal - 1].name;
}

const char *daedal_result_unit(const daedal_result *result, uint32_t signal) {
  return signal == 0 ? "s" : recorder_of(result)->signals->list.data[signal - 1].unit;
}

double daedal_result_value(const daedal_result *result, uint32_t signal, uint32_t row) {
  const Trajectory *trajectory = recorder_of(result)->trajectory;
  return signal == 0 ? trajectory_time(trajectory, row) : trajectory_value(trajectory, row, signal - 1);
}

uint32_t daedal_result_find(const daedal_result *result, const char *name) {
  if (!recorder_of(result)) return UINT32_MAX;
  if (strcmp(name, "time") == 0) return 0;
  uint32_t found = signals_find(recorder_of(result)->signals, name);
  return found == MAP_NONE ? UINT32_MAX : found + 1;
}

/* Runs work on a result; false when there is nothing to work on, or memory runs out. */
static bool result_try(daedal_result *result, bool (*work)(daedal_result *, const void *), const void *argument) {
  if (result->broken) return false;
  jmp_buf point;
  if (!HEAP_TRY(result->heap, point)) {
    result->broken = true;
    return false;
  }
  heap_set_catch(result->model->heap, &point);
  return work(result, argument);
}

static bool has_ending(const char *path, const char *ending) {
  size_t length = strlen(path), tail = strlen(ending);
  return length >= tail && strcmp(path + length - tail, ending) == 0;
}

static bool write_trajectory(daedal_result *result, const void *argument) {
  const char *path = argument;
  const Trajectory *trajectory = recorder_of(result)->trajectory;
  bool mat = has_ending(path, ".mat");
  if (!mat && !has_ending(path, ".csv")) {
    diag_error(&result->diags, DIAG_USAGE, (Span){0}, "the result file '%s' must end in .csv or .mat", path);
    return false;
  }
  FileWriter *file = file_create(result->heap, &result->diags, path, NULL, NULL);
  if (!file) return false;
  if (!mat) csv_write(file, trajectory);
  else if (!mat_write(result->heap, &result->diags, file, trajectory)) {
    file_abandon(file);
    return false;
  }
  return file_commit(file);
}

static bool work_write(daedal_result *result, const void *argument) {
  bool ok = write_trajectory(result, argument);
  if (!ok) publish(&result->published, &result->diags, &result->model->source, result->heap);
  return ok;
}

daedal_status daedal_result_write(daedal_result *result, const char *path) {
  if (!recorder_of(result)) return result->status == DAEDAL_OK ? DAEDAL_INTERNAL : result->status;
  if (result_try(result, work_write, path)) return DAEDAL_OK;
  if (result->broken) return DAEDAL_INTERNAL;
  return has_ending(path, ".csv") || has_ending(path, ".mat") ? DAEDAL_FILE : DAEDAL_USAGE;
}

static bool sink_text(void *context, const void *bytes, size_t length) {
  daedal_result *result = context;
  text_append(result->heap, &result->csv, bytes, length);
  return true;
}

static bool work_csv(daedal_result *result, const void *argument) {
  (void)argument;
  if (result->csv.count) return true;
  FileWriter *file = file_create(result->heap, &result->diags, "-", sink_text, result);
  if (!file) return false;
  csv_write(file, recorder_of(result)->trajectory);
  return file_commit(file);
}

const char *daedal_result_csv(daedal_result *result) {
  return recorder_of(result) && result_try(result, work_csv, NULL) ? result->csv.data : NULL;
}

#define RESULT_REPORT(name, field, function)                                                           \
  static bool work_run_##field(daedal_result *result, const void *argument) {                          \
    (void)argument;                                                                                    \
    if (!result->field.count) function(&result->simulation.facts, result->heap, &result->field);       \
    return true;                                                                                       \
  }                                                                                                    \
  const char *daedal_result_##name(daedal_result *result) {                                            \
    return result_try(result, work_run_##field, NULL) && result->field.data ? result->field.data : ""; \
  }

RESULT_REPORT(text, text, run_report_text)
RESULT_REPORT(json, json, run_report_json)

/* ---- initial values ---- */

static const Explanation *explain(daedal_result *result) {
  Simulation *simulation = &result->simulation;
  if (!simulation->initial.solved) return NULL;
  if (!result->explanation) {
    result->explanation = heap_alloc(result->heap, sizeof *result->explanation);
    *result->explanation = initial_explain(&simulation->initializer, &simulation->initial, &result->diags.arena);
  }
  return result->explanation;
}

static bool work_initial_text(daedal_result *result, const void *argument) {
  const Explanation *explanation = explain(result);
  (void)argument;
  if (explanation && !result->initial_text.count)
    initial_report_text(&result->simulation.initial, explanation, result->simulation.evaluator, result->heap,
                        &result->initial_text);
  return explanation != NULL;
}

static bool work_initial_json(daedal_result *result, const void *argument) {
  const Explanation *explanation = explain(result);
  (void)argument;
  if (!result->initial_json.count)
    initial_report_json(result->simulation.facts.status, &result->simulation.initial, explanation,
                        result->simulation.evaluator, result->heap, &result->initial_json);
  return true;
}

static bool work_start_values(daedal_result *result, const void *argument) {
  (void)argument;
  if (!explain(result)) return false;
  if (!result->start_values.count)
    initial_report_modifiers(&result->simulation.initial, result->simulation.evaluator, result->heap,
                             &result->start_values);
  return true;
}

const char *daedal_result_initial_text(daedal_result *result) {
  return result_try(result, work_initial_text, NULL) ? result->initial_text.data : "";
}

const char *daedal_result_initial_json(daedal_result *result) {
  return result_try(result, work_initial_json, NULL) ? result->initial_json.data : "";
}

const char *daedal_result_start_values(daedal_result *result) {
  return result_try(result, work_start_values, NULL) ? result->start_values.data : NULL;
}

/* ---- methods side by side ---- */

static bool work_model(daedal_result *result, const void *argument) {
  (void)argument;
  Simulation *simulation = &result->simulation;
  if (result->reduced.count || !simulation->facts.reduction) return true;
  double begin = pipeline_clock();
  reduction_print(&simulation->reduction, method_find(simulation->facts.method), &result->reduced);
  simulation->facts.seconds.code += pipeline_clock() - begin;
  return true;
}

const char *daedal_result_model(daedal_result *result) {
  return result_try(result, work_model, NULL) ? result->reduced.data : NULL;
}

static bool work_model_json(daedal_result *result, const void *argument) {
  const RunFacts *facts = &result->simulation.facts;
  if (result->reduced_json.count || !work_model(result, argument)) return true;
  reduction_report_json(facts, result->heap, &result->reduced_json);
  return true;
}

const char *daedal_result_model_json(daedal_result *result) {
  return result_try(result, work_model_json, NULL) ? result->reduced_json.data : NULL;
}

/* Names of methods; those asked for must apply, those that were not only if they do. */
static bool take_methods(daedal_result *result, const char *methods) {
  CompareRequest *comparing = &result->comparing;
  Arena *arena = &result->diags.arena;
  uint32_t count;
  const char **names = split_names(arena, methods, &count);
  while (!methods && method_at(count)) count++;
  comparing->methods = arena_array(arena, count, sizeof *comparing->methods);
  comparing->method_count = count;
  for (uint32_t m = 0; m < count; m++) {
    comparing->methods[m] = methods ? method_find(names[m]) : method_at(m);
    if (!comparing->methods[m]) return unknown_method(result, names[m]);
  }
  return count > 0 || usage_error(result, "no method is named");
}

static bool take_solvers(daedal_result *result, const char *solvers) {
  CompareRequest *comparing = &result->comparing;
  Arena *arena = &result->diags.arena;
  uint32_t count;
  const char **names = split_names(arena, solvers ? solvers : "auto", &count);
  comparing->solvers = arena_array(arena, count, sizeof *comparing->solvers);
  comparing->solver_count = count;
  for (uint32_t s = 0; s < count; s++) {
    comparing->solvers[s] = integrator_find(names[s]);
    if (!comparing->solvers[s] && strcmp(names[s], "auto") != 0)
      return usage_error(result, arena_printf(arena, "there is no solver '%s' in this build", names[s]));
  }
  return count > 0 || usage_error(result, "no solver is named");
}

/* The comparison fails as its first run if none of them succeeded, or as a method that was asked for and does not apply. */
static void judge_comparison(daedal_result *result, bool named) {
  const Comparison *comparison = result->comparison;
  const CompareRun *blamed = NULL;
  bool any = false;
  for (uint32_t k = 0; k < comparison->count; k++) any = any || comparison->runs[k].ok;
  for (uint32_t k = 0; k < comparison->count && !blamed; k++) {
    const CompareRun *run = &comparison->runs[k];
    if (!run->ok && (!any || (named && diags_code(&run->diags) == DIAG_STRUCTURE))) blamed = run;
  }
  if (!blamed) return;
  for (uint32_t k = 0; k < blamed->diags.list.count; k++) {
    const Diag *diag = &blamed->diags.list.data[k];
    if (diag->severity != SEVERITY_ERROR) continue;
    Diag *copy = diag_error(&result->diags, diag->code, diag->span, "%s", diag->message);
    for (uint32_t n = 0; n < diag->notes.count; n++)
      diag_note(&result->diags, copy, diag->notes.data[n].span, "%s", diag->notes.data[n].message);
  }
}

static void run_comparison(daedal_result *result, const daedal_options *options, const CompareNames *names) {
  CompareRequest *comparing = &result->comparing;
  bool ok = take_options(result, options, &comparing->request) && take_starts(result, options, &comparing->request) &&
            take_invariants(result, options) && take_methods(result, names->methods) &&
            take_solvers(result, names->solvers);
  if (ok) {
    result->comparison = compare_run(result->heap, result->model->model, comparing);
    judge_comparison(result, names->methods != NULL);
  }
  result->status = (daedal_status)diags_code(&result->diags);
  publish(&result->published, &result->diags, &result->model->source, result->heap);
}

daedal_result *daedal_compare(daedal_model *model, const daedal_options *options, const char *methods,
                              const char *solvers) {
  CompareNames names = {methods, solvers};
  return start_run(model, options, RUN_COMPARE, &names);
}

#define COMPARE_REPORT(name, field)                                                                         \
  static bool work_compare_##name(daedal_result *result, const void *argument) {                            \
    (void)argument;                                                                                         \
    if (!result->field.count) compare_##name(result->comparison, &result->field);                           \
    return true;                                                                                            \
  }                                                                                                         \
  static const char *report_compare_##name(daedal_result *result) {                                         \
    return result->comparison && result_try(result, work_compare_##name, NULL) ? result->field.data : NULL; \
  }

COMPARE_REPORT(text, text)
COMPARE_REPORT(json, json)
COMPARE_REPORT(svg, plot)

const char *daedal_compare_text(daedal_result *result) { return report_compare_text(result); }
const char *daedal_compare_json(daedal_result *result) { return report_compare_json(result); }
const char *daedal_compare_plot(daedal_result *result) { return report_compare_svg(result); }

/* ---- plots ---- */

typedef struct PlotRequest {
  const char *variables;
  uint32_t width, height; /* 0: SVG */
} PlotRequest;

/* The signals that match, or the states, or if there is none everything but parameters; at most a readable number. */
static uint32_t choose_signals(daedal_result *result, const SignalFilter *filter, uint32_t *chosen) {
  enum { MOST = 24 };
  const SignalTable *signals = recorder_of(result)->signals;
  uint32_t count = 0;
  for (int pass = 0; pass < 2 && !count; pass++) {
    for (uint32_t s = 0; s < signals->list.count && count < MOST; s++) {
      const Signal *signal = &signals->list.data[s];
      bool wanted = filter ? signal_filter_match(filter, signal->name)
                           : signal->kind == SIGNAL_STATE || (pass && signal->kind != SIGNAL_PARAMETER);
      if (wanted) chosen[count++] = s;
    }
  }
  return count;
}

static bool work_plot(daedal_result *result, const void *argument) {
  const PlotRequest *request = argument;
  const SignalFilter *filter = NULL;
  if (request->variables && !(filter = signal_filter_new(result->heap, &result->diags, request->variables))) {
    publish(&result->published, &result->diags, &result->model->source, result->heap);
    return false;
  }
  Arena arena = arena_make(result->heap);
  uint32_t *chosen = arena_array(&arena, recorder_of(result)->signals->list.count, sizeof *chosen);
  uint32_t count = choose_signals(result, filter, chosen);
  Plot plot = plot_signals(&arena, recorder_of(result)->trajectory, daedal_model_name(result->model), chosen, count);
  result->plot.count = result->terminal.count = 0;
  if (request->width) plot_text(result->heap, &plot, PLOT_BRAILLE, request->width, request->height, &result->terminal);
  else plot_svg(result->heap, &plot, &result->plot);
  arena_free(&arena);
  return true;
}

const char *daedal_result_plot(daedal_result *result, const char *variables) {
  PlotRequest request = {.variables = variables};
  return recorder_of(result) && result_try(result, work_plot, &request) ? result->plot.data : NULL;
}

const char *daedal_result_plot_terminal(daedal_result *result, const char *variables, uint32_t width, uint32_t height) {
  PlotRequest request = {variables, width ? width : 80, height};
  return recorder_of(result) && result_try(result, work_plot, &request) ? result->terminal.data : NULL;
}

/* ---- code to take away ---- */

/* Names and values of the variables that stand behind leaf indices. */
static ExportList export_variables(const Model *model, const IndexVec *variables, const double *values, Arena *arena) {
  const char **names = arena_array(arena, variables->count, sizeof *names);
  for (uint32_t k = 0; k < variables->count; k++) names[k] = model_name(model, variables->data[k]);
  return (ExportList){variables->count, names, values};
}

/* The rows that a run would integrate, at its consistent initial values. */
static bool export_files(daedal_result *result, ExportFiles *files) {
  Simulation *simulation = &result->simulation;
  const Evaluator *evaluator = simulation->reduction.reduced.evaluator;
  Array *array = evaluator->array;
  Arena *arena = &result->diags.arena;
  const char **columns = arena_array(arena, array->columns, sizeof *columns);
  const char **rows = arena_array(arena, array->rows, sizeof *rows);
  for (uint32_t q = 0; q < array->columns; q++) columns[q] = array_column_name(array, q, arena);
  for (uint32_t r = 0; r < array->rows; r++) rows[r] = array_row_text(array, r, arena);
  ExportInput input = {
      .name = daedal_model_name(result->model),
      .method = simulation->facts.method,
      .model = evaluator->model,
      .layout = &evaluator->layout,
      .rows = array->row,
      .jacobian = evaluator->jacobian,
      .time = simulation->reduction.time,
      .columns = {array->columns, columns, simulation->reduction.reduced.y},
      .row_list = {array->rows, rows, NULL},
      .parameters = export_variables(evaluator->model, &evaluator->model->parameters, evaluator->parameters, arena),
      .discretes = {simulation->modes.count, NULL, evaluator->discretes},
      .pre = evaluator->pre};
  const char **modes = arena_array(arena, simulation->modes.count, sizeof *modes);
  for (uint32_t m = 0; m < simulation->modes.count; m++)
    modes[m] = model_text(result->model->model, simulation->modes.relation[m], arena);
  input.discretes.names = modes;
  return export_c(result->heap, &input, files, &result->diags);
}

static bool work_export(daedal_result *result, const void *argument) {
  const char *directory = argument;
  ExportFiles files = {0};
  bool ok = result->status == DAEDAL_OK && export_files(result, &files);
  if (ok && mkdir(directory, 0777) != 0 && errno != EEXIST) {
    diag_error(&result->diags, DIAG_FILE, (Span){0}, "cannot make the directory %s: %s", directory, strerror(errno));
    ok = false;
  }
  for (uint32_t k = 0; k < files.count && ok; k++) {
    const char *path = arena_printf(&result->diags.arena, "%s/%s", directory, files.data[k].name);
    ok = file_save(result->heap, &result->diags, path, NULL, NULL, files.data[k].text.data, files.data[k].text.count);
  }
  if (!ok) result->status = (daedal_status)diags_code(&result->diags);
  publish(&result->published, &result->diags, &result->model->source, result->heap);
  return ok;
}

daedal_result *daedal_export_c(daedal_model *model, const char *directory, const daedal_options *options) {
  daedal_result *result = daedal_initialize(model, options);
  if (result && result->status == DAEDAL_OK && !result_try(result, work_export, directory) &&
      result->status == DAEDAL_OK)
    result->status = DAEDAL_INTERNAL;
  return result;
}

/* ---- files ---- */

daedal_status daedal_write_text(daedal_model *model, const char *path, const char *text) {
  jmp_buf point;
  if (model->broken || !HEAP_TRY(model->heap, point)) {
    model->broken = true;
    return DAEDAL_INTERNAL;
  }
  bool ok = file_save(model->heap, &model->diags, path, NULL, NULL, text, strlen(text));
  publish(&model->published, &model->diags, &model->source, model->heap);
  return ok ? DAEDAL_OK : DAEDAL_FILE;
}
