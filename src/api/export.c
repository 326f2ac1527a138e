/* export: writes code that runs without daedal. */
#include "api/handles.h"

#include "export/fmu.h"
#include "export/standalone.h"
#include "result/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse_export(daedal_result *result, const char *obstacle) {
  diag_error(&result->diags, DIAG_NOT_EXPORTED, (Span){0}, "%s cannot be exported: %s",
             daedal_model_name(result->model), obstacle);
  return false;
}

static bool refuse_boundary(daedal_result *result) {
  return refuse_export(result, "it has final equations, and only `simulate` finds start values for them");
}

/* Names and values of the variables with these leaf indices. */
static ExportList named_values(const Model *model, const IndexVec *variables, const double *values, Arena *arena) {
  const char **names = arena_array(arena, variables->count, sizeof *names);
  for (uint32_t k = 0; k < variables->count; k++) names[k] = model_name(model, variables->data[k]);
  return (ExportList){variables->count, names, values};
}

/* Names of all discrete leaves: variables, leaves of the event logic, delays and their derivatives, conditions. */
static const char **leaf_names(Evaluator *evaluator, Arena *arena) {
  const Modes *modes = evaluator->code->modes;
  const Logic *logic = modes->logic;
  Model *own = evaluator_model(evaluator);
  const char **names = arena_array(arena, modes_leaves(modes), sizeof *names);
  for (uint32_t d = 0; d < modes->first; d++)
    names[d] = d < own->discretes.count ? model_name(own, own->discretes.data[d]) : arena_printf(arena, "event %u", d);
  names[logic->initial] = "initial()";
  names[logic->terminal] = "terminal()";
  for (uint32_t k = 0; k < logic->delays.count; k++) {
    const LogicDelay *delay = &logic->delays.data[k];
    const char *text = model_text(own, delay->written, arena);
    for (uint32_t l = 0; l < logic_delay_leaves(delay); l++)
      names[delay->leaf + l] = l ? arena_printf(arena, "%s, derivative %u", text, l) : text;
  }
  for (uint32_t m = 0; m < modes->count; m++) names[modes->first + m] = model_text(own, modes->relation[m], arena);
  return names;
}

/* Exports the rows that a run would integrate, at its consistent initial values. */
static bool export_files(daedal_result *result, ExportFiles *files) {
  const Simulation *simulation = &result->simulation;
  if (has_boundary(result->model)) return refuse_boundary(result);
  Evaluator *evaluator = simulation->system.evaluator;
  Model *own = evaluator_model(evaluator);
  const Array *array = evaluator->array;
  const Modes *modes = evaluator->code->modes;
  Arena *arena = &result->diags.arena;
  const char **columns = arena_array(arena, array->columns, sizeof *columns);
  const char **rows = arena_array(arena, array->rows, sizeof *rows);
  for (uint32_t q = 0; q < array->columns; q++) columns[q] = array_column_name(array, q, arena);
  for (uint32_t r = 0; r < array->rows; r++) rows[r] = array_row_text(array, own, r, arena);
  ExportInput input = {.name = daedal_model_name(result->model),
                       .method = simulation->facts.method,
                       .model = evaluator->model,
                       .rows = evaluator->code->rows,
                       .jacobian = evaluator->jacobian,
                       .time = simulation->request.run.start,
                       .columns = {array->columns, columns, simulation->system.y},
                       .row_list = {array->rows, rows, NULL},
                       .parameters =
                           named_values(evaluator->model, &evaluator->model->parameters, evaluator->parameters, arena),
                       .discretes = {modes_leaves(modes), leaf_names(evaluator, arena), evaluator->discretes},
                       .pre = evaluator->pre};
  return export_c(result->heap, &input, files, &result->diags);
}

/* ---- the solver ---- */

/* Was the plan made by dummy derivatives? */
static bool has_dummies(const Plan *plan) {
  const Reduced *reduced = &plan->reduction.reduced;
  return !plan->reduction.strangeness && reduced->structure && reduced->code == plan->code;
}

/* One system of the model: its plan, and the run that has its values. */
static ExportSource plan_source(daedal_result *result, const Plan *plan, const ArrayRun *run) {
  const Simulation *simulation = &result->simulation;
  const RunOptions *options = &simulation->request.run;
  Recorder *recorder = heap_copy(result->heap, simulation->recorder, 1, sizeof *recorder);
  recorder->source = heap_copy(result->heap, recorder->source, recorder->count, sizeof *recorder->source);
  if (run->evaluator != recorder->evaluator) recorder_rebind(recorder, run->evaluator);
  return (ExportSource){.name = daedal_model_name(result->model),
                        .systems = 1,
                        .holds = plan->holds,
                        .conditions = plan->conditions,
                        .evaluator = run->evaluator,
                        .structure = plan->reduction.reduced.structure,
                        .choice = plan->reduction.reduced.choice,
                        .plan = plan->reduction.reduced.states,
                        .dummy = run->dummy,
                        .decisions = decisions_new(result->heap, run->evaluator),
                        .initial = &simulation->initial,
                        .branches = &plan->branches,
                        .read = &plan->read,
                        .recorder = recorder,
                        .y = run->y,
                        .start = options->start,
                        .stop = options->stop,
                        .tolerance = options->tolerance,
                        .interval = options->interval > 0 ? options->interval
                                                          : (options->stop - options->start) / options->intervals,
                        .max_step = options->max_step,
                        .integrator = (options->integrator ? options->integrator : &integrator_radau)->name};
}

typedef VEC(ExportSource) ExportSources;

/* If there are at most this many conditions of branches, every combination of their values is exported. */
enum { MOST_CONDITIONS = 4 };

/* Adds modes that the run has not visited, if a plan can be made for them. */
static void add_other_modes(Simulation *recorded) {
  const Branches *branches = &recorded->plan->branches;
  uint32_t *number = heap_array(recorded->heap, branches->count, sizeof *number);
  bool *holds = heap_array(recorded->heap, branches->count, sizeof *holds);
  uint32_t conditions = export_number_conditions(branches, number);
  for (uint32_t set = 0; conditions <= MOST_CONDITIONS && set < UINT32_C(1) << conditions; set++) {
    for (uint32_t b = 0; b < branches->count; b++) holds[b] = set >> number[b] & 1;
    simulation_add_mode(recorded, holds);
  }
}

/* Adds the modes that a run of the model visits, and those of add_other_modes. Their plans become systems, except for the mode that
 * already has one. */
static bool add_modes(daedal_result *result, ExportSources *sources) {
  Simulation *recorded = heap_alloc(result->heap, sizeof *recorded);
  Request request = result->simulation.request;
  const Plan *first = result->simulation.plan;
  size_t branches = first->branches.count * sizeof(bool);
  request.initialize_only = false;
  request.keeps_modes = true;
  if (!pipeline_simulate(recorded, result->heap, result->model->model, &request, &result->diags)) return false;
  add_other_modes(recorded);
  for (uint32_t k = 0; k < recorded->modes.count; k++) {
    const ModeStart *start = &recorded->modes.data[k];
    const Plan *plan = start->plan;
    if (!start->run.y) continue;
    if (first->holds && memcmp(plan->holds, first->holds, branches) == 0) continue;
    if (!has_dummies(plan))
      return refuse_export(result, "an event leads to equations that structural analysis cannot treat");
    ExportSource source = plan_source(result, plan, &start->run);
    if (!export_same_leaves(&source, sources->data) || !recorder_has_all(source.recorder))
      return refuse_export(result, "an event leads to equations with other variables");
    vec_push(result->heap, sources, source);
  }
  return true;
}

/* Adds the model of the operating point from which a circuit starts, because other parameters give another operating point. */
static void add_point(daedal_result *result, ExportSource *source) {
  const SpiceModel *circuit = &result->model->circuit;
  const Request *request = &result->simulation.request;
  Diags silent = diags_make(result->heap);
  if (!circuit->operating_point) return;
  const Simulation *found =
      simulate_operating_point(circuit->operating_point, circuit->held_point, result->heap, request, &silent);
  ExportPoint *point = heap_alloc(result->heap, sizeof *point);
  if (found)
    *point = (ExportPoint){found->original.evaluator, found->initial.y, circuit->differences.data,
                           circuit->differences.count};
  source->point = point;
}

/* Computes the data that all systems of an export share. */
static void number_sources(Heap *heap, ExportSources *sources) {
  uint32_t states = 0;
  bool chooses = false;
  for (uint32_t k = 0; k < sources->count; k++) {
    const int32_t *from, *to;
    uint32_t count = dummy_links(sources->data[k].dummy, &from, &to);
    if (count > states) states = count;
    chooses = chooses || export_chooses_states(&sources->data[k]);
  }
  for (uint32_t k = 0; k < sources->count; k++) {
    sources->data[k].number = k;
    sources->data[k].systems = sources->count;
    sources->data[k].states = states;
    sources->data[k].chooses = chooses;
  }
  export_find_restart(heap, sources->data);
}

static bool solver_sources(daedal_result *result, ExportSources *sources) {
  const Simulation *simulation = &result->simulation;
  const Plan *plan = simulation->plan;
  if (has_boundary(result->model)) return refuse_boundary(result);
  const Integrator *integrator = simulation->request.run.integrator;
  bool is_carried =
      !integrator || integrator == &integrator_radau || integrator == &integrator_bdf || integrator == &integrator_erk;
  if (!is_carried)
    return refuse_export(result, "exported code integrates by radau, bdf or erk; use one of these as --solver");
  if (integrator == &integrator_bdf && plan->code->modes->logic->delays.count)
    return refuse_export(result, "exported code with delays integrates by radau or erk; use one of these as --solver");
  if (!has_dummies(plan))
    return refuse_export(result, "only systems with dummy derivatives can be exported; use --method dummy");
  vec_push(result->heap, sources, plan_source(result, plan, &simulation->system));
  if (!recorder_has_all(sources->data->recorder))
    return refuse_export(result, "the equations of the mode at the start lack derivatives that the model writes");
  bool changes = plan->branches.count && (plan->holds || export_changes_structure(sources->data));
  if (changes && !add_modes(result, sources)) return false;
  add_point(result, sources->data);
  number_sources(result->heap, sources);
  return true;
}

static bool solver_files(daedal_result *result, ExportFiles *files) {
  ExportSources sources = {0};
  return solver_sources(result, &sources) && export_standalone(result->heap, sources.data, files, &result->diags);
}

/* ---- files ---- */

/* Would writing to this path destroy a file of the model, under any name? */
static bool is_model_file(const daedal_result *result, const char *path) {
  const Source *source = &result->model->source;
  struct stat model, other;
  if (stat(path, &other) != 0) return false;
  for (uint32_t i = 0; i < source->files.count; i++) {
    const char *file = source->files.data[i].path;
    if (file && stat(file, &model) == 0 && model.st_dev == other.st_dev && model.st_ino == other.st_ino) return true;
  }
  return false;
}

/* The first line of an exported file, as a comment. */
static const char mark[] = "Written by daedal: another export to this directory replaces the file.";

/* Is there a file that no export wrote? An empty file does not count: nothing is lost with it. */
static bool is_foreign(const char *path) {
  char line[sizeof mark + 8] = "";
  struct stat found;
  if (stat(path, &found) == 0 && !S_ISREG(found.st_mode)) return false;
  FILE *file = fopen(path, "rb");
  if (!file) return errno != ENOENT;
  size_t length = fread(line, 1, sizeof line - 1, file);
  fclose(file);
  return length && !strstr(line, mark);
}

static bool may_write(daedal_result *result, const char *path) {
  bool is_model = is_model_file(result, path);
  if (!is_model && !is_foreign(path)) return true;
  diag_error(&result->diags, DIAG_USAGE, (Span){0},
             is_model
                 ? "`%s` is the model itself; choose another directory"
                 : "`%s` exists, and no export of this version wrote it; choose another directory, or remove the file",
             path);
  return false;
}

static void write_marked(FileWriter *writer, const ExportFile *file) {
  bool is_makefile = strcmp(file->name, "Makefile") == 0;
  const char *open = is_makefile ? "# " : "/* ", *close = is_makefile ? "\n" : " */\n";
  file_write(writer, open, strlen(open));
  file_write(writer, mark, sizeof mark - 1);
  file_write(writer, close, strlen(close));
  file_write(writer, file->text.data, file->text.count);
}

static FileWriter *write_file(daedal_result *result, const char *directory, const ExportFile *file) {
  const char *path = arena_printf(&result->diags.arena, "%s/%s", directory, file->name);
  if (!may_write(result, path)) return NULL;
  FileWriter *writer = file_create(result->heap, &result->diags, path, NULL, NULL);
  if (writer) write_marked(writer, file);
  if (!writer || file_finish(writer)) return writer;
  file_abandon(writer);
  return NULL;
}

/* Writes all files or none: every file is complete under a temporary name before the first is renamed. */
static bool write_files(daedal_result *result, const char *directory, const ExportFiles *files) {
  FileWriter **writers = arena_array(&result->diags.arena, files->count, sizeof *writers);
  uint32_t whole = 0;
  while (whole < files->count && (writers[whole] = write_file(result, directory, &files->data[whole]))) whole++;
  bool ok = whole == files->count;
  while (whole-- > 0) {
    if (ok) ok = file_commit(writers[whole]);
    else file_abandon(writers[whole]);
  }
  return ok;
}

/* A directory, and the function that makes its files. */
typedef struct ExportOrder {
  const char *directory;
  bool (*make)(daedal_result *result, ExportFiles *files);
} ExportOrder;

static bool work_export(daedal_result *result, const void *argument) {
  const ExportOrder *order = argument;
  const char *directory = order->directory;
  ExportFiles files = {0};
  bool ok = result->status == DAEDAL_OK && order->make(result, &files);
  bool made = ok && mkdir(directory, 0777) == 0;
  if (ok && !made && errno != EEXIST) {
    diag_file_error(&result->diags, "make", directory, errno);
    ok = false;
  }
  ok = ok && write_files(result, directory, &files);
  if (!ok && made) rmdir(directory);
  if (!ok) result->status = (daedal_status)diags_code(&result->diags);
  publish_result(result);
  return ok;
}

static bool work_wrong(daedal_result *result, const void *argument) {
  const char *message = argument;
  return end_run(result, refuse_usage(result, message));
}

/* A result that only reports what is wrong with the call. */
static daedal_result *refuse_call(daedal_model *model, const char *message) {
  return result_make(model, NULL, work_wrong, message);
}

static daedal_result *export_model(daedal_model *model, const ExportOrder *order, const daedal_options *options) {
  if (!order->directory) return refuse_call(model, "an export needs a directory to write to");
  daedal_result *result = daedal_initialize(model, options);
  if (result && result->status == DAEDAL_OK && !result_protect(result, work_export, order) &&
      result->status == DAEDAL_OK)
    result->status = DAEDAL_INTERNAL;
  return result;
}

daedal_result *daedal_export_c(daedal_model *model, const char *directory, const daedal_options *options) {
  return export_model(model, &(ExportOrder){directory, export_files}, options);
}

daedal_result *daedal_export_solver(daedal_model *model, const char *directory, const daedal_options *options) {
  return export_model(model, &(ExportOrder){directory, solver_files}, options);
}

/* ---- plans ---- */

static void print_plan(daedal_result *result, TextVec *text) {
  plan_file_print(result->heap, &result->reports[REPORT_START_VALUES], &result->model->flat, text);
}

static bool work_refuse(daedal_result *result, const void *argument) {
  const daedal_model *again = argument;
  const char *why = again->diags.list.count ? again->diags.list.data[0].message : "it has other equations";
  diag_error(&result->diags, DIAG_NOT_EXPORTED, (Span){0}, "%s has no plan: its flat text cannot be read back: %s",
             daedal_model_name(result->model), why);
  result->status = DAEDAL_STRUCTURE;
  publish_result(result);
  return false;
}

/* Does the flat text give as many equations when it is read again? */
static bool is_read_back(daedal_result *result) {
  const daedal_model *model = result->model;
  daedal_load_options reading = {.size = sizeof reading, .libraries = model->libraries, .readable = model->readable};
  daedal_model *again = daedal_load(NULL, model->flat.data, model->flat.count, &reading);
  bool is_same = again && again->model && again->counts.equations == model->counts.equations &&
                 again->counts.variables == model->counts.variables;
  if (again && !is_same) result_protect(result, work_refuse, again);
  daedal_free(again);
  return is_same;
}

const char *api_result_plan(daedal_result *result) {
  if (!result || result->status != DAEDAL_OK || !api_result_start_values(result) || !api_flat_text(result->model) ||
      !is_read_back(result))
    return NULL;
  return result_report(result, REPORT_PLAN, print_plan);
}

/* ---- FMUs ---- */

typedef struct FmuOrder {
  const char *path;
  FmuKinds kinds;
} FmuOrder;

static bool work_fmu(daedal_result *result, const void *argument) {
  const FmuOrder *order = argument;
  ExportSources sources = {0};
  TextVec bytes = {0};
  if (is_model_file(result, order->path))
    diag_error(&result->diags, DIAG_USAGE, (Span){0}, "`%s` is the model itself; choose another file", order->path);
  else if (solver_sources(result, &sources) &&
           export_fmu(result->heap, sources.data, order->kinds, "daedal " DAEDAL_VERSION, &bytes, &result->diags))
    file_save(result->heap, &result->diags, order->path, NULL, NULL, bytes.data, bytes.count);
  result->status = (daedal_status)diags_code(&result->diags);
  publish_result(result);
  return result->status == DAEDAL_OK;
}

daedal_result *daedal_export_fmu(daedal_model *model, const char *path, int version, const char *kind,
                                 const daedal_options *options) {
  FmuOrder order = {path, {version, !kind || strcmp(kind, "me") == 0, !kind || strcmp(kind, "cs") == 0}};
  daedal_options own = options_given(options);
  if ((version != 2 && version != 3) || !(order.kinds.has_exchange || order.kinds.has_cosimulation))
    return refuse_call(model, "an FMU has version 2 or 3, and is of kind me or cs");
  if (!path) return refuse_call(model, "an FMU needs a file to be written to");
  own.open_inputs = true;
  daedal_result *result = daedal_initialize(model, &own);
  if (result && result->status == DAEDAL_OK && !result_protect(result, work_fmu, &order) && result->status == DAEDAL_OK)
    result->status = DAEDAL_INTERNAL;
  return result;
}
