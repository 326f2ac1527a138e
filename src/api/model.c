/* model: loads models, and answers questions about a loaded model. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "api/handles.h"

#include "fmi/fmu.h"
#include "fmi/rules.h"
#include "fmi/text.h"
#include "instance/load.h"
#include "model/input.h"
#include "model/units.h"
#include "result/dump.h"
#include "result/file.h"
#include "syntax/survey.h"

#include <stdlib.h>
#include <string.h>

/* ---- loading ---- */

/* The source to load: `text` or, if that is NULL, the file `path`. */
typedef struct LoadRequest {
  Heap *heap;
  const char *path, *text, *class_name, *readable;
  const char *const *libraries;
  BudgetLimits limits;
  size_t length;
  LangOptions reading;
  const ModificationVec *modifications;
  const GivenInputVec *inputs; /* NULL: none */
  bool charges;                /* for a netlist: see SpiceOptions */
  FmuKind fmu;                 /* how an FMU is used */
  bool units;                  /* check units */
  daedal_model *model;         /* output: the model */
  SurveyCounts survey;         /* output: the counts */
} LoadRequest;

static daedal_counts count_model(const Model *model) {
  Balance balance = model_balance(model);
  return (daedal_counts){.equations = balance.equations,
                         .variables = balance.unknowns,
                         .discrete_equations = balance.discrete_equations,
                         .discrete_variables = balance.discrete_unknowns,
                         .parameters = model->parameters.count,
                         .functions = model->functions.count};
}

static const char *copy_text(daedal_model *model, const char *text) {
  return arena_copy(&model->arena, text, strlen(text));
}

/* ---- FMUs ---- */

/* The text of a model around the FMU in the file, named after the file; NULL after reporting. */
static char *fmu_model(Heap *heap, Diags *diags, const char *path, FmuKind kind, const char *bytes, uint32_t *length) {
  Arena arena = arena_make(heap);
  char real[PATH_MAX];
  Zip zip;
  TextVec text = {0};
  const char *failure = "it is not an archive", *file = reading_file(path), *slash = strrchr(file, '/');
  const FmiDescription *description = zip_open(&zip, bytes, *length) ? fmu_describe(&zip, &arena, &failure) : NULL;
  const char *begin = file != path ? path : slash ? slash + 1 : path;
  const char *name =
      arena_copy(&arena, begin, file != path ? (size_t)(file - path) - 1 : strlen(begin) - strlen(".fmu"));
  bool is_written =
      description && fmu_write_model(heap, description, name, realpath(file, real) ? real : file, kind, &text);
  if (description && !is_written)
    failure = kind == FMU_EXCHANGE ? "it offers no model exchange" : "it offers no co-simulation";
  if (!is_written) diag_error(diags, DIAG_FILE_CONTENT, (Span){0}, "'%s': %s", file, failure);
  arena_free(&arena);
  *length = text.count;
  return text.data;
}

/* Reads a whole file; for an FMU, returns the text of the model around it. NULL after reporting. */
static char *read_text(Heap *heap, Diags *diags, const char *path, FmuKind kind, uint32_t *length) {
  char *bytes = file_read(heap, diags, reading_file(path), length);
  if (!bytes || !file_has_ending(path, ".fmu")) return bytes;
  char *text = fmu_model(heap, diags, path, kind, bytes, length);
  heap_free(heap, bytes);
  return text;
}

/* ---- leave to read ---- */

/* Reads a file that a model or library names. Only allowed files are read, since messages may show their content. */
static char *read_allowed(const Reading *reading, Heap *heap, Diags *diags, const char *path, uint32_t *length) {
  char real[PATH_MAX];
  if (reading_allows(reading, reading_file(path), real)) return read_text(heap, diags, path, FMU_ANY, length);
  diag_error(diags, DIAG_FILE_ACCESS, (Span){0},
             "`%s` is outside of the folders of the model and the libraries: --allow-read DIR lets it be read", path);
  return NULL;
}

static Model *read_netlist(daedal_model *model, const LoadRequest *request) {
  SpiceOptions options = {
      .charges = model->charges, .files = model->reading.library.files, .values = request->modifications};
  if (request->reading.boundary.text)
    diag_error(&model->diags, DIAG_USAGE, (Span){0}, "a netlist has no final equations");
  spice_load(&model->circuit, model->heap, &model->names, &model->source, &options, &model->diags);
  return model->circuit.model;
}

/* Sets which files the model may read and which external functions it may call; false after reporting. */
static bool take_rights(daedal_model *model, const LoadRequest *request) {
  const char *failure = NULL;
  ExternalRights *rights = heap_alloc(model->heap, sizeof *rights);
  if (request->path) reading_allow_model(&rights->reading, model->heap, request->path);
  reading_allow(&rights->reading, model->heap, model->reading.library.path);
  reading_allow(&rights->reading, model->heap, request->readable);
  model->reading.library.files = (FileReader){read_allowed, &rights->reading};
  model->reading.rights = rights;
  if (request->readable) model->readable = copy_text(model, request->readable);
  if (!request->libraries) return true;
  model->libraries = names_copy(&model->arena, request->libraries);
  bool is_loaded = external_allow(model->heap, rights, request->libraries, &model->arena, &failure);
  if (!is_loaded) diag_error(&model->diags, DIAG_FILE, (Span){0}, "a library cannot be loaded: %s", failure);
  return is_loaded;
}

/* Gives the inputs the sources of their values. */
static void bind_inputs(daedal_model *model, Model *flat, const GivenInputVec *inputs) {
  model->has_inputs = true;
  for (uint32_t k = 0; k < inputs->count; k++) {
    const GivenInput *input = &inputs->data[k];
    if (!input->expression && !model_bind_input(flat, input->name, &input->source))
      diag_error(&model->diags, DIAG_USAGE, (Span){0}, "'%s' is not a Real input of the model without a value",
                 input->name);
  }
}

/* Parses and flattens `text`, which belongs to the heap. */
static void read_model(daedal_model *model, char *text, uint32_t length, const LoadRequest *request) {
  double begin = pipeline_clock();
  model->diags.says_once = true;
  model->source = source_make(model->heap, source_main(&model->source)->path, text, length);
  Model *flat;
  if (source_main(&model->source)->path && spice_is_netlist(source_main(&model->source)->path))
    flat = read_netlist(model, request);
  else
    flat = instance_load(model->heap, &model->names, &model->source, model->class_name, request->modifications,
                         model->reading, &model->diags);
  if (flat && request->inputs && request->inputs->count) bind_inputs(model, flat, request->inputs);
  if (flat && request->units && model->diags.errors == 0) units_check(flat, &model->diags);
  model->model = model->diags.errors ? NULL : flat;
  if (model->model) model->counts = count_model(model->model);
  model->diags.says_once = false;
  model->seconds_parse = pipeline_clock() - begin;
}

static char *read_main(daedal_model *model, const char *path, FmuKind kind, uint32_t *length) {
  char *text = read_text(model->heap, &model->diags, path, kind, length);
  bool is_plan = text && file_has_ending(path, ".plan");
  return is_plan && !plan_file_open(model, path, text, *length) ? NULL : text;
}

/* Reads the text into the heap; NULL after reporting. */
static char *load_bytes(daedal_model *model, const LoadRequest *request, uint32_t *length) {
  if (!request->text && request->path) return read_main(model, request->path, request->fmu, length);
  if (request->length >= INT32_MAX) {
    diag_error(&model->diags, DIAG_INPUT, (Span){0}, "the text is too long: %zu bytes, at most 2147483646",
               request->length);
    return NULL;
  }
  char *copy = heap_alloc(model->heap, request->length + 1);
  if (request->length) memcpy(copy, request->text, request->length);
  *length = (uint32_t)request->length;
  return copy;
}

static daedal_model *make_model(const LoadRequest *request) {
  daedal_model *model = heap_alloc(request->heap, sizeof *model);
  model->heap = request->heap;
  model->charges = request->charges;
  model->kind = HANDLE_MODEL;
  atomic_init(&model->references, 1);
  pthread_mutex_init(&model->lock, NULL);
  model->names = names_make(model->heap);
  model->diags = diags_make(model->heap);
  model->arena = arena_make(model->heap);
  const char *path = request->text ? "" : NULL;
  if (request->path) path = copy_text(model, request->path);
  model->source = source_make(model->heap, path, "", 0);
  if (request->class_name) model->class_name = copy_text(model, request->class_name);
  model->reading = request->reading;
  if (request->reading.library.path) model->reading.library.path = copy_text(model, request->reading.library.path);
  const BoundaryOptions *boundary = &request->reading.boundary;
  if (boundary->text) model->reading.boundary.text = copy_text(model, boundary->text);
  const char **fixed = arena_array(&model->arena, boundary->fixed_count, sizeof *fixed);
  for (uint32_t k = 0; k < boundary->fixed_count; k++) fixed[k] = copy_text(model, boundary->fixed[k]);
  model->reading.boundary.fixed = fixed;
  BoundaryNode *nodes = arena_copy_array(&model->arena, boundary->nodes, boundary->node_count, sizeof *nodes);
  for (uint32_t k = 0; k < boundary->node_count; k++) nodes[k].name = copy_text(model, nodes[k].name);
  model->reading.boundary.nodes = nodes;
  model->reading.boundary.starts =
      boundary->starts ? arena_copy_array(&model->arena, boundary->starts,
                                          (size_t)boundary->segments * boundary->start_count, sizeof *boundary->starts)
                       : NULL;
  const BoundaryArcs *arcs = &boundary->arcs;
  model->reading.boundary.arcs.begin = arena_copy_array(&model->arena, arcs->begin, arcs->count, sizeof *arcs->begin);
  model->reading.boundary.arcs.kind =
      arena_copy_array(&model->arena, arcs->kind, (size_t)arcs->count * arcs->controls, sizeof *arcs->kind);
  return model;
}

static void load(void *context) {
  LoadRequest *request = context;
  daedal_model *model = request->model = make_model(request);
  uint32_t length = 0;
  bool is_fit = take_rights(model, request);
  char *text = is_fit ? load_bytes(model, request, &length) : NULL;
  if (text) read_model(model, text, length, request);
  publish_model(model);
}

/* Parses the libraries; only the messages are kept. */
static void survey(void *context) {
  LoadRequest *request = context;
  daedal_model *model = request->model = make_model(request);
  take_rights(model, request);
  request->survey = survey_run(&model->source, model->reading.library, &model->diags);
  model->library_models.data = request->survey.models.data;
  model->library_models.count = request->survey.models.count;
  publish_model(model);
}

static void report_rule(void *context, const char *text) { diag_error(context, DIAG_FMU_RULE, (Span){0}, "%s", text); }

/* Checks an FMU; only the messages are kept. */
static void check_fmu(void *context) {
  LoadRequest *request = context;
  daedal_model *model = request->model = make_model(request);
  uint32_t length = 0;
  Zip zip;
  char *bytes = file_read(model->heap, &model->diags, request->path, &length);
  model->diags.limit = UINT32_MAX;
  if (bytes && !zip_open(&zip, bytes, length))
    diag_error(&model->diags, DIAG_FILE_CONTENT, (Span){0}, "'%s': it is not an archive", request->path);
  else if (bytes) rules_check(&zip, model->heap, report_rule, &model->diags);
  publish_model(model);
}

typedef void LoadWork(void *request);

static daedal_model *load_protected(LoadWork *work, LoadRequest *request, const HeapHook *hook) {
  request->heap = heap_new(hook);
  if (!request->heap) return NULL;
  if (heap_protect(request->heap, work, request)) return request->model;
  if (request->model && model_refused(request->model)) return request->model;
  heap_destroy(request->heap);
  return NULL;
}

static daedal_model *load_with(LoadWork *work, LoadRequest *request, const daedal_allocator *allocator) {
  HeapHook hook = {0};
  if (allocator) hook = (HeapHook){.resize = allocator->resize, .context = allocator->context};
  hook.limits = request->limits;
  return load_protected(work, request, &hook);
}

daedal_model *daedal_load_text(const char *text, size_t length, const char *path, const char *class_name,
                               const daedal_allocator *allocator) {
  LoadRequest request = {.path = path, .text = text ? text : "", .length = text ? length : 0, .class_name = class_name};
  return load_with(load, &request, allocator);
}

daedal_model *daedal_load_file(const char *path, const char *class_name, const daedal_allocator *allocator) {
  return load_with(load, &(LoadRequest){.path = path, .text = path ? NULL : "", .class_name = class_name}, allocator);
}

static daedal_load_options load_options_given(const daedal_load_options *options) {
  daedal_load_options given = {0};
  if (options) memcpy(&given, options, options->size < sizeof given ? options->size : sizeof given);
  return given;
}

static FmuKind fmu_kind(const char *name) {
  if (!name) return FMU_ANY;
  return strcmp(name, "cs") ? FMU_EXCHANGE : FMU_COSIMULATION;
}

static LoadRequest request_of(const daedal_load_options *given) {
  return (LoadRequest){.class_name = given->class_name,
                       .libraries = given->libraries,
                       .readable = given->readable,
                       .limits = {{[BUDGET_MEMORY] = given->memory_limit,
                                   [BUDGET_WORK] = given->work_limit,
                                   [BUDGET_TEXT] = given->text_limit}},
                       .charges = given->mna && !strcmp(given->mna, "charge"),
                       .fmu = fmu_kind(given->fmu),
                       .units = given->units,
                       .reading = {.strict = given->strict,
                                   .energy = given->energy,
                                   .boundary = {.text = given->boundary},
                                   .library = {.path = given->modelica_path}}};
}

daedal_model *daedal_load(const char *path, const char *text, size_t length, const daedal_load_options *options) {
  daedal_load_options given = load_options_given(options);
  LoadRequest request = request_of(&given);
  bool is_library = !path && !text && given.modelica_path && given.class_name;
  request.path = path;
  request.text = !path && !text && !is_library ? "" : text;
  request.length = text ? length : 0;
  return load_with(load, &request, given.allocator);
}

daedal_model *daedal_check_fmu(const char *path, const daedal_load_options *options) {
  daedal_load_options given = load_options_given(options);
  LoadRequest request = request_of(&given);
  request.path = path ? path : "";
  return load_with(check_fmu, &request, given.allocator);
}

daedal_model *daedal_parse_libraries(const daedal_load_options *options, daedal_library_counts *counts) {
  daedal_load_options given = load_options_given(options);
  LoadRequest request = request_of(&given);
  daedal_model *model = load_with(survey, &request, given.allocator);
  if (counts) *counts = (daedal_library_counts){request.survey.files, request.survey.classes, request.survey.bytes};
  return model;
}

const char *daedal_library_model(const daedal_model *parsed, uint32_t index) {
  return parsed && index < parsed->library_models.count ? parsed->library_models.data[index] : NULL;
}

static daedal_model *load_again(const daedal_model *model, LangOptions reading, const ModificationVec *modifications,
                                const GivenInputVec *inputs) {
  const SourceFile *source = source_main(&model->source);
  LoadRequest request = {.path = source->path,
                         .text = source->path ? source->text : NULL,
                         .length = source->length,
                         .class_name = model->class_name,
                         .libraries = model->libraries,
                         .readable = model->readable,
                         .reading = reading,
                         .charges = model->charges,
                         .modifications = modifications,
                         .inputs = inputs};
  return load_protected(load, &request, heap_hook(model->heap));
}

daedal_model *model_load_class(const daedal_model *model, const char *class_name) {
  daedal_model other = {.source = model->source, .class_name = class_name, .heap = model->heap};
  other.libraries = model->libraries;
  other.readable = model->readable;
  return load_again(&other, model->reading, NULL, NULL);
}

daedal_model *model_load_modified(const daedal_model *model, const ModificationVec *modifications,
                                  const GivenInputVec *inputs) {
  return load_again(model, model->reading, modifications, inputs);
}

daedal_model *model_load_boundary(const daedal_model *model, const BoundaryOptions *boundary) {
  LangOptions reading = model->reading;
  reading.boundary = *boundary;
  reading.boundary.text = model->reading.boundary.text;
  return load_again(model, reading, NULL, NULL);
}

bool has_boundary(const daedal_model *model) {
  return model && model->model && model->model->final_equations.count &&
         model->reading.boundary.form == BOUNDARY_WRITTEN;
}

daedal_status api_model_status(const daedal_model *model) {
  if (!model || model->broken) return DAEDAL_INTERNAL;
  if (model->model && !heap_budget(model->heap)->is_exceeded) return DAEDAL_OK;
  model_lock(model);
  daedal_status status = (daedal_status)diags_code(&model->diags);
  model_unlock(model);
  return status;
}

const char *daedal_model_text(const daedal_model *model) { return model ? source_main(&model->source)->text : NULL; }

const char *daedal_model_name(const daedal_model *model) {
  return model && model->model ? names_text(&model->names, model->model->name) : "";
}

/* ---- reading ---- */

static daedal_counts counts_of(const daedal_model *model) { return model ? model->counts : (daedal_counts){0}; }

void daedal_model_counts_(const daedal_model *model, daedal_counts *out, size_t size) {
  daedal_counts value = counts_of(model);
  hand_out(out, size, &value, sizeof value);
}

static bool work_flatten(daedal_model *model, const void *argument) {
  (void)argument;
  if (model->model && !model->flat.count) {
    model_print(layer_at_operating_point(model), model->heap, &model->flat);
    if (!model_prints_calls(model->model))
      diag_warning(&model->diags, DIAG_WARNING, (Span){0},
                   "the text has calls with effects more often than the model, or in another order");
  }
  return model->model != NULL;
}

const char *api_flat_text(daedal_model *model) {
  return model_protect(model, work_flatten, NULL) ? model->flat.data : NULL;
}

static bool work_hash(daedal_model *model, const void *argument) {
  (void)argument;
  if (!model->model || model->hash) return true;
  void *ticket;
  Heap *heap = heap_within(model->heap, &ticket);
  model->hash = model_hash(model_layer(model->model, heap), heap);
  heap_release(model->heap, ticket);
  return true;
}

uint64_t model_flat_hash(daedal_model *model) { return model_protect(model, work_hash, NULL) ? model->hash : 0; }

const char *const *daedal_pass_names(void) { return DUMP_PASSES; }

typedef struct DumpRequest {
  const char *pass;
  TextVec text; /* the output of the pass; it stays in the model */
} DumpRequest;

static bool work_dump(daedal_model *model, const void *argument) {
  DumpRequest *request = *(DumpRequest *const *)argument;
  return model->model && dump_pass(model_layer(model->model, model->heap), request->pass, model->heap, &request->text);
}

const char *daedal_dump(daedal_model *model, const char *pass) {
  DumpRequest request = {.pass = pass}, *asked = &request;
  return pass && model_protect(model, work_dump, &asked) ? request.text.data : NULL;
}
