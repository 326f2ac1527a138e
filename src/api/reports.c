/* reports: reports, pictures and files of any handle. */
#include "api/handles.h"
#include "result/file.h"

#include <string.h>

/* ---- reports ---- */

#define REPORT(kind, format, handle, function) \
  static const char *kind##_##format(void *asked) { return function(asked); }
#include "api/reports.def"

typedef struct ReportMaker {
  HandleKind of;
  const char *(*make)(void *handle);
} ReportMaker;

static const ReportMaker makers[][2] = {
#define REPORT(kind, format, handle, function) \
  [DAEDAL_REPORT_##kind][DAEDAL_##format] = {HANDLE_##handle, kind##_##format},
#include "api/reports.def"
};

/* A comparison or linearization that failed early has the reports of a result. */
static HandleKind family_of(HandleKind kind) {
  return kind == HANDLE_COMPARISON || kind == HANDLE_LINEARIZATION ? HANDLE_RESULT : kind;
}

const char *daedal_report(void *handle, daedal_report_kind kind, daedal_format format) {
  if ((unsigned)kind >= sizeof makers / sizeof *makers || (unsigned)format > DAEDAL_JSON) return NULL;
  const ReportMaker *maker = &makers[kind][format];
  bool fits = !handle ? format == DAEDAL_JSON : family_of(handle_kind(handle)) == family_of(maker->of);
  return maker->make && fits ? maker->make(handle) : NULL;
}

/* ---- pictures ---- */

const char *daedal_draw(void *handle, const daedal_plot *plot) {
  daedal_plot given = {0};
  if (plot) memcpy(&given, plot, plot->size < sizeof given ? plot->size : sizeof given);
  switch (handle_kind(handle)) {
  case HANDLE_MODEL: return api_analysis_svg(handle);
  case HANDLE_RESULT: return api_result_draw(handle, &given);
  case HANDLE_COMPARISON: return api_compare_plot(handle);
  case HANDLE_LINEARIZATION: return api_linear_draw(handle, &given);
  case HANDLE_SWEEP: return api_sweep_plot(handle);
  case HANDLE_ESTIMATE: return api_estimate_plot(handle);
  case HANDLE_FILES: return api_files_draw(handle, &given);
  case HANDLE_NOTHING:
  case HANDLE_PLAN:
  case HANDLE_RUN: return NULL;
  }
  return NULL;
}

/* ---- files ---- */

daedal_status daedal_save(void *handle, const char *path) {
  switch (handle_kind(handle)) {
  case HANDLE_NOTHING: return DAEDAL_INTERNAL;
  case HANDLE_RESULT: return api_result_save(handle, path);
  case HANDLE_LINEARIZATION: return api_linear_save(handle, path);
  case HANDLE_SWEEP: return api_sweep_save(handle, path);
  default: return DAEDAL_USAGE;
  }
}

daedal_status daedal_stream(void *handle, daedal_sink sink, void *context) {
  switch (handle_kind(handle)) {
  case HANDLE_NOTHING: return DAEDAL_INTERNAL;
  case HANDLE_RESULT: return api_result_stream(handle, sink, context);
  case HANDLE_SWEEP: return api_sweep_stream(handle, sink, context);
  default: return DAEDAL_USAGE;
  }
}

typedef struct WholeFile {
  const char *path;
  const void *bytes;
  size_t length;
} WholeFile;

static bool write_for_model(daedal_model *model, const void *argument) {
  const WholeFile *file = argument;
  return file_save(model->heap, &model->diags, file->path, NULL, NULL, file->bytes, file->length);
}

static bool write_for_files(daedal_files *files, const void *argument) {
  const WholeFile *file = argument;
  return file_save(files->heap, &files->diags, file->path, NULL, NULL, file->bytes, file->length);
}

static bool write_for_result(daedal_result *result, const void *argument) {
  const WholeFile *file = argument;
  bool ok = file_save(result->heap, &result->diags, file->path, NULL, NULL, file->bytes, file->length);
  publish_result(result);
  return ok;
}

daedal_status daedal_write(void *handle, const char *path, const void *bytes, size_t length) {
  WholeFile file = {path, bytes, length};
  HandleKind kind = handle_kind(handle);
  if (!handle) return DAEDAL_INTERNAL;
  if (!path || (!bytes && length)) return DAEDAL_USAGE;
  if (kind != HANDLE_MODEL && kind != HANDLE_FILES && kind != HANDLE_RESULT) return DAEDAL_USAGE;
  bool ok = kind == HANDLE_MODEL   ? model_protect(handle, write_for_model, &file)
            : kind == HANDLE_FILES ? files_protect(handle, write_for_files, &file)
                                   : result_protect(handle, write_for_result, &file);
  return ok ? DAEDAL_OK : daedal_status_of(handle) == DAEDAL_INTERNAL ? DAEDAL_INTERNAL : DAEDAL_FILE;
}
