/* handle: what every handle has: status, diagnostics, reports, pictures, files, and its end.
 *
 * Invariant: a handle begins with its kind. Plans, sweeps, estimates and runs have a result that speaks for them.
 */
#include "api/fit.h"
#include "api/sweep.h"
#include "result/file.h"

#include <string.h>

/* ---- status and diagnostics ---- */

/* The model, result or files that status and diagnostics of a handle are those of; NULL: there was no memory for it. */
static const void *speaker_of(const void *handle) {
  switch (handle_kind(handle)) {
  case HANDLE_PLAN: return ((const daedal_plan *)handle)->asked;
  case HANDLE_RUN: return ((const daedal_run *)handle)->result;
  case HANDLE_SWEEP: return ((const daedal_sweep *)handle)->asked;
  case HANDLE_ESTIMATE: return ((const daedal_estimate *)handle)->asked;
  default: return handle;
  }
}

/* What was said, and how it ended. A model is locked meanwhile. */
typedef struct Outcome {
  const Published *published; /* NULL: there is no handle */
  daedal_status status;
  bool broken;
} Outcome;

static Outcome outcome_of(const void *handle) {
  const void *speaker = speaker_of(handle);
  if (handle_kind(speaker) == HANDLE_MODEL) {
    const daedal_model *model = speaker;
    return (Outcome){&model->published, api_model_status(model), model->broken};
  }
  if (handle_kind(speaker) == HANDLE_FILES) {
    const daedal_files *files = speaker;
    return (Outcome){&files->published, files->status, files->broken};
  }
  const daedal_result *result = speaker;
  if (result) return (Outcome){&result->published, result->status, result->broken};
  return (Outcome){NULL, DAEDAL_INTERNAL, true};
}

/* A run that has not begun has nothing to say. */
static bool is_idle(const void *handle) { return handle_kind(handle) == HANDLE_RUN && !speaker_of(handle); }

daedal_status daedal_status_of(const void *handle) { return is_idle(handle) ? DAEDAL_OK : outcome_of(handle).status; }

static const daedal_model *lock(const void *handle) {
  if (handle_kind(handle) != HANDLE_MODEL) return NULL;
  model_lock(handle);
  return handle;
}

static void unlock(const daedal_model *model) {
  if (model) model_unlock(model);
}

uint32_t daedal_diagnostic_count(const void *handle) {
  if (is_idle(handle)) return 0;
  Outcome outcome = outcome_of(handle);
  const daedal_model *locked = lock(handle);
  uint32_t count = (outcome.published ? outcome.published->list.count : 0) + outcome.broken;
  unlock(locked);
  return count;
}

void daedal_diagnostic_get_(const void *handle, uint32_t index, daedal_diagnostic *out, size_t size) {
  Outcome outcome = is_idle(handle) ? (Outcome){0} : outcome_of(handle);
  const daedal_model *locked = lock(handle);
  daedal_diagnostic value = published_get(outcome.published, outcome.broken, index);
  unlock(locked);
  hand_out(out, size, &value, sizeof value);
}

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
  return ok ? DAEDAL_OK : outcome_of(handle).broken ? DAEDAL_INTERNAL : DAEDAL_FILE;
}

/* ---- the end ---- */

void daedal_free(void *handle) {
  switch (handle_kind(handle)) {
  case HANDLE_NOTHING: return;
  case HANDLE_MODEL: api_model_free(handle); return;
  case HANDLE_PLAN: api_plan_free(handle); return;
  case HANDLE_RUN: api_run_free(handle); return;
  case HANDLE_RESULT:
  case HANDLE_COMPARISON:
  case HANDLE_LINEARIZATION: api_result_free(handle); return;
  case HANDLE_SWEEP: api_sweep_free(handle); return;
  case HANDLE_ESTIMATE: api_estimate_free(handle); return;
  case HANDLE_FILES: heap_destroy(((daedal_files *)handle)->heap); return;
  }
}
