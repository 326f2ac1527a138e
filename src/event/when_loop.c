/* when_loop: see when_loop.h. The residual is r = d - F(d); at first the inverse of its matrix is taken for the identity, which is the
 * plain iteration. */
#include "event/when_loop.h"

#include "base/copy.h"
#include "integrate/secant.h"

#include <math.h>

struct WhenLoop {
  View *view;
  IndexVec leaves;     /* of Real discrete variables that follow from columns */
  double *before;      /* all discrete values at the begin of the round */
  double *step, *next; /* the last correction, and the one of now */
  double *weight;
  bool is_begun;
  Secant *secant; /* NULL until the first correction: most events settle without one, and it has room for n^2 numbers */
};

static bool is_real(const View *view, uint32_t leaf) {
  const Model *model = view->evaluator->model;
  return leaf < model->discretes.count && model->variables.data[model->discretes.data[leaf]].type == TYPE_REAL;
}

static void list_leaves(WhenLoop *loop, const Logic *logic) {
  const View *view = loop->view;
  for (uint32_t k = 0; k < logic->steps.count; k++) {
    const LogicStep *step = &logic->steps.data[k];
    if (is_real(view, step->leaf) && view->evaluator->code->matters[step->leaf])
      vec_push(view->evaluator->heap, &loop->leaves, step->leaf);
  }
}

WhenLoop *when_loop_new(View *view) {
  Heap *heap = view->evaluator->heap;
  if (!view->switches->decisions) return NULL;
  WhenLoop *loop = heap_alloc(heap, sizeof *loop);
  loop->view = view;
  list_leaves(loop, view->switches->decisions->logic);
  if (!loop->leaves.count) return when_loop_free(loop), NULL;
  uint32_t n = loop->leaves.count;
  loop->before = heap_array(heap, modes_leaves(view->switches->modes), sizeof(double));
  heap_numbers(heap, n, &loop->step, &loop->next, &loop->weight);
  for (uint32_t k = 0; k < n; k++) loop->weight[k] = 1;
  return loop;
}

void when_loop_free(WhenLoop *loop) {
  if (!loop) return;
  Heap *heap = loop->view->evaluator->heap;
  if (loop->secant) heap_free_all(heap, loop->secant->update, loop->secant->direction, loop->secant);
  vec_free(heap, &loop->leaves);
  heap_free_all(heap, loop->before, loop->step, loop->next, loop->weight, loop);
}

uint32_t when_loop_rounds(const WhenLoop *loop) { return 2 * loop->leaves.count + 10; }

void when_loop_begin(WhenLoop *loop) {
  copy_numbers(loop->before, loop->view->evaluator->discretes, modes_leaves(loop->view->switches->modes));
}

bool when_loop_is_all(const WhenLoop *loop) {
  const double *now = loop->view->evaluator->discretes;
  for (uint32_t leaf = 0; leaf < modes_leaves(loop->view->switches->modes); leaf++)
    if (now[leaf] != loop->before[leaf] && !is_real(loop->view, leaf)) return false;
  return true;
}

void when_loop_improve(WhenLoop *loop) {
  double *now = loop->view->evaluator->discretes;
  uint32_t n = loop->leaves.count;
  if (!when_loop_is_all(loop)) {
    loop->is_begun = false;
    return;
  }
  if (!loop->secant)
    loop->secant = secant_new(loop->view->evaluator->heap, (int32_t)n, (int32_t)when_loop_rounds(loop));
  for (uint32_t k = 0; k < n; k++) loop->next[k] = loop->before[loop->leaves.data[k]] - now[loop->leaves.data[k]];
  if (!loop->is_begun) secant_reset(loop->secant);
  secant_apply(loop->secant, loop->next);
  if (loop->is_begun) (void)secant_learn_any(loop->secant, loop->step, loop->next, loop->weight);
  loop->is_begun = true;
  copy_numbers(loop->step, loop->next, n);
  for (uint32_t k = 0; k < n; k++)
    if (isfinite(loop->step[k])) now[loop->leaves.data[k]] = loop->before[loop->leaves.data[k]] - loop->step[k];
}
