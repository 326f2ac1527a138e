/* export: code to take away. */
#include "api/handles.h"

#include "code/export.h"
#include "result/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names and values of the variables that stand behind leaf indices. */
static ExportList export_variables(const Model *model, const IndexVec *variables, const double *values, Arena *arena) {
  const char **names = arena_array(arena, variables->count, sizeof *names);
  for (uint32_t k = 0; k < variables->count; k++) names[k] = model_name(model, variables->data[k]);
  return (ExportList){variables->count, names, values};
}

/* Names of all discrete leaves: variables, what happens at events, delays and their derivatives, conditions. */
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
    for (uint32_t l = 0; l < (delay->is_discrete ? 1 : DELAY_LEAVES); l++)
      names[delay->leaf + l] = l ? arena_printf(arena, "%s, derivative %u", text, l) : text;
  }
  for (uint32_t m = 0; m < modes->count; m++) names[modes->first + m] = model_text(own, modes->relation[m], arena);
  return names;
}

/* The rows that a run would integrate, at its consistent initial values. */
static bool export_files(daedal_result *result, ExportFiles *files) {
  const Simulation *simulation = &result->simulation;
  Evaluator *evaluator = simulation->system.evaluator;
  Model *own = evaluator_model(evaluator);
  const Array *array = evaluator->array;
  const Modes *modes = evaluator->code->modes;
  Arena *arena = &result->diags.arena;
  const char **columns = arena_array(arena, array->columns, sizeof *columns);
  const char **rows = arena_array(arena, array->rows, sizeof *rows);
  for (uint32_t q = 0; q < array->columns; q++) columns[q] = array_column_name(array, q, arena);
  for (uint32_t r = 0; r < array->rows; r++) rows[r] = array_row_text(array, own, r, arena);
  ExportInput input = {
      .name = daedal_model_name(result->model),
      .method = simulation->facts.method,
      .model = evaluator->model,
      .rows = evaluator->code->rows,
      .jacobian = evaluator->jacobian,
      .time = simulation->request.run.start,
      .columns = {array->columns, columns, simulation->system.y},
      .row_list = {array->rows, rows, NULL},
      .parameters = export_variables(evaluator->model, &evaluator->model->parameters, evaluator->parameters, arena),
      .discretes = {modes_leaves(modes), leaf_names(evaluator, arena), evaluator->discretes},
      .pre = evaluator->pre};
  return export_c(result->heap, &input, files, &result->diags);
}

/* Whether writing there would destroy a file of the model, by whatever name. */
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

static FileWriter *write_file(daedal_result *result, const char *directory, const ExportFile *file) {
  const char *path = arena_printf(&result->diags.arena, "%s/%s", directory, file->name);
  if (is_model_file(result, path)) {
    diag_error(&result->diags, DIAG_USAGE, (Span){0}, "`%s` is the model itself; choose another directory", path);
    return NULL;
  }
  FileWriter *writer = file_create(result->heap, &result->diags, path, NULL, NULL);
  if (writer) file_write(writer, file->text.data, file->text.count);
  if (!writer || file_finish(writer)) return writer;
  file_abandon(writer);
  return NULL;
}

/* All of them or none: each is whole under another name before the first gets its own. */
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

static bool work_export(daedal_result *result, const void *argument) {
  const char *directory = argument;
  ExportFiles files = {0};
  bool ok = result->status == DAEDAL_OK && export_files(result, &files);
  bool made = ok && mkdir(directory, 0777) == 0;
  if (ok && !made && errno != EEXIST) {
    diag_error(&result->diags, DIAG_FILE, (Span){0}, "cannot make the directory %s: %s", directory, strerror(errno));
    ok = false;
  }
  ok = ok && write_files(result, directory, &files);
  if (!ok && made) rmdir(directory);
  if (!ok) result->status = (daedal_status)diags_code(&result->diags);
  publish_result(result);
  return ok;
}

daedal_result *daedal_export_c(daedal_model *model, const char *directory, const daedal_options *options) {
  daedal_result *result = daedal_initialize(model, options);
  if (result && result->status == DAEDAL_OK && !result_protect(result, work_export, directory) &&
      result->status == DAEDAL_OK)
    result->status = DAEDAL_INTERNAL;
  return result;
}
