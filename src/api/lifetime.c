/* lifetime: a model and a plan live as long as somebody refers to them: the caller, or what was made from them. What may
 * change behind a model is under its lock. */
#include "api/handles.h"

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
  daedal_free(plan->asked);
  plan->hook.resize(plan->hook.context, plan, 0);
}

void api_result_free(daedal_result *result) {
  if (!result) return;
  daedal_model *model = result->model;
  daedal_plan *plan = result->plan;
  heap_destroy(result->heap);
  daedal_free(plan);
  daedal_free(model);
}

void model_lock(const daedal_model *model) { pthread_mutex_lock((pthread_mutex_t *)&model->lock); }
void model_unlock(const daedal_model *model) { pthread_mutex_unlock((pthread_mutex_t *)&model->lock); }
