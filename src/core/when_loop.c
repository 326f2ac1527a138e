/* when_loop: see when_loop.h. The residual is r = d - F(d). At first the inverse of its matrix is the identity, which
 * gives the plain iteration. */
#include "core/when_loop.h"

#include <math.h>
#include <string.h>

static bool is_listed(const DecidePlan *plan, int step) {
  int leaf = plan->step[step].leaf;
  return plan->is_real[leaf] && plan->matters[leaf];
}

static int step_count(const DecidePlan *plan) { return plan->levels ? plan->level_start[plan->levels] : 0; }

WhenLoop *when_loop_new(Heap *heap, const Decide *decide) {
  const DecidePlan *plan = &decide->plan;
  size_t count = 0;
  for (int k = 0; k < step_count(plan); k++) count += is_listed(plan, k);
  if (!count) return 0;
  WhenLoop *loop = heap_alloc(heap, sizeof *loop);
  *loop = (WhenLoop){.decide = decide, .heap = heap};
  loop->leaf = heap_array(heap, count, sizeof *loop->leaf);
  loop->before = heap_array(heap, (size_t)plan->all, sizeof(double));
  heap_numbers(heap, count, &loop->step, &loop->next, &loop->weight);
  for (int k = 0; k < step_count(plan); k++) {
    if (!is_listed(plan, k)) continue;
    loop->weight[loop->count] = 1;
    loop->leaf[loop->count++] = plan->step[k].leaf;
  }
  return loop;
}

void when_loop_free(Heap *heap, WhenLoop *loop) {
  heap_free_all(heap, loop->leaf, loop->before, loop->step, loop->next, loop->weight, loop->secant.update, loop);
}

uint32_t when_loop_rounds(const WhenLoop *loop) { return 2 * (uint32_t)loop->count + 10; }

void when_loop_begin(WhenLoop *loop) {
  memcpy(loop->before, loop->decide->discretes, (size_t)loop->decide->plan.all * sizeof(double));
}

bool when_loop_is_all(const WhenLoop *loop) {
  const double *now = loop->decide->discretes;
  for (int leaf = 0; leaf < loop->decide->plan.all; leaf++)
    if (now[leaf] != loop->before[leaf] && !loop->decide->plan.is_real[leaf]) return false;
  return true;
}

static void make_secant(WhenLoop *loop) {
  int32_t capacity = (int32_t)when_loop_rounds(loop);
  size_t room = secant_room(loop->count, capacity);
  loop->secant = secant_make(loop->count, capacity, heap_array(loop->heap, room, sizeof(double)));
}

void when_loop_improve(WhenLoop *loop) {
  double *now = loop->decide->discretes;
  if (!when_loop_is_all(loop)) {
    loop->is_begun = false;
    return;
  }
  if (!loop->secant.capacity) make_secant(loop);
  for (int k = 0; k < loop->count; k++) loop->next[k] = loop->before[loop->leaf[k]] - now[loop->leaf[k]];
  if (!loop->is_begun) secant_reset(&loop->secant);
  secant_apply(&loop->secant, loop->next);
  if (loop->is_begun) (void)secant_learn_any(&loop->secant, loop->step, loop->next, loop->weight);
  loop->is_begun = true;
  memcpy(loop->step, loop->next, (size_t)loop->count * sizeof(double));
  for (int k = 0; k < loop->count; k++)
    if (isfinite(loop->step[k])) now[loop->leaf[k]] = loop->before[loop->leaf[k]] - loop->step[k];
}
