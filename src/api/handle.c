/* handle: status and diagnostics of any handle. A plan, sweep, estimate or run uses the result that it contains. */
#include "api/fit.h"
#include "api/sweep.h"

/* ---- status and diagnostics ---- */

/* The model, the result or the files that hold the status and diagnostics of a handle; NULL: there was no memory for it. */
static const void *speaker_of(const void *handle) {
  switch (handle_kind(handle)) {
  case HANDLE_PLAN: return ((const daedal_plan *)handle)->asked;
  case HANDLE_RUN: return ((const daedal_run *)handle)->result;
  case HANDLE_SWEEP: return ((const daedal_sweep *)handle)->asked;
  case HANDLE_ESTIMATE: return ((const daedal_estimate *)handle)->asked;
  default: return handle;
  }
}

/* The messages and the status. A model is locked while they are read. */
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

/* A run that has not begun has no messages; its status is OK. */
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
