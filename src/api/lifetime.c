/* lifetime: a model and a plan live as long as somebody refers to them: the caller, or what was made from them. What may
 * change behind a model is under its lock. */
#include "api/handles.h"

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

void model_lock(const daedal_model *model) { pthread_mutex_lock((pthread_mutex_t *)&model->lock); }
void model_unlock(const daedal_model *model) { pthread_mutex_unlock((pthread_mutex_t *)&model->lock); }
