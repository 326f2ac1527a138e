/* lifetime: a model or plan lives as long as something refers to it: the caller, or an object made from it. The model's
 * lock protects the members that may change after loading. */
#include "api/fit.h"
#include "api/sweep.h"

#include <string.h>

HandleKind handle_kind(const void *handle) { return handle ? *(const HandleKind *)handle : HANDLE_NOTHING; }

void hand_out(void *out, size_t size, const void *value, size_t known) {
  if (!out) return;
  memset(out, 0, size);
  memcpy(out, value, size < known ? size : known);
}

daedal_model *model_retain(daedal_model *model) {
  atomic_fetch_add(&model->references, 1);
  return model;
}

void api_model_free(daedal_model *model) {
  if (!model || atomic_fetch_sub(&model->references, 1) > 1) return;
  pthread_mutex_destroy(&model->lock);
  heap_destroy(model->heap);
}

daedal_plan *plan_retain(daedal_plan *plan) {
  atomic_fetch_add(&plan->references, 1);
  return plan;
}

void api_plan_free(daedal_plan *plan) {
  if (!plan || atomic_fetch_sub(&plan->references, 1) > 1) return;
  api_result_free(plan->asked);
  plan->hook.resize(plan->hook.context, plan, 0);
}

void api_result_free(daedal_result *result) {
  if (!result) return;
  daedal_model *model = result->model;
  daedal_plan *plan = result->plan;
  heap_destroy(result->heap);
  api_plan_free(plan);
  api_model_free(model);
}

void api_run_free(daedal_run *run) {
  if (!run) return;
  daedal_plan *plan = run->plan;
  api_result_free(run->result);
  heap_destroy(run->heap);
  api_plan_free(plan);
}

void api_sweep_free(daedal_sweep *sweep) {
  if (!sweep) return;
  for (uint32_t p = 0; sweep->causes && p < sweep->design.points; p++)
    sweep->hook.resize(sweep->hook.context, (void *)sweep->causes[p], 0);
  for (uint32_t k = 0; k < sweep->plans.count; k++) {
    api_plan_free(sweep->plans.data[k].plan);
    sweep->hook.resize(sweep->hook.context, sweep->plans.data[k].key, 0);
  }
  api_plan_free(sweep->plan);
  api_result_free(sweep->asked);
  if (sweep->has_lock) pthread_mutex_destroy(&sweep->lock);
  sweep->hook.resize(sweep->hook.context, sweep, 0);
}

void api_estimate_free(daedal_estimate *estimate) {
  if (!estimate) return;
  api_plan_free(estimate->plan);
  api_plan_free(estimate->differentiated);
  api_result_free(estimate->asked);
  estimate->hook.resize(estimate->hook.context, estimate, 0);
}

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

void model_lock(const daedal_model *model) { pthread_mutex_lock((pthread_mutex_t *)&model->lock); }
void model_unlock(const daedal_model *model) { pthread_mutex_unlock((pthread_mutex_t *)&model->lock); }
