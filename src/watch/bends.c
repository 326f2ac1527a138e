/* bends: see bends.h. */
#include "watch/bends.h"

#include "array/meeting.h"

typedef struct Bends {
  View *view;
  Workspace *arguments, *sizes;
} Bends;

static bool evaluate(void *host, bool sizes, double t, const double *y, double *out) {
  const Bends *bends = host;
  Point point = evaluator_point(bends->view->evaluator, t, y);
  return workspace_run(sizes ? bends->sizes : bends->arguments, &point, out) == EVAL_OK;
}

static bool point_of(void *host, const Segment *segment, double t, double *y) {
  return view_point(((const Bends *)host)->view, segment, t, y) == EVAL_OK;
}

/* If kinks are few, steps end at each of them. */
static bool passes_bend(void *context, double t, const double *y, double t_end, const double *end) {
  View *view = context;
  if (view->switches && edges_bend(&view->switches->edges, t_end, end)) return true;
  return view->kinks && view->evaluator->code->modes->kinks > FEW_BENDS && kinks_pass(view->kinks, t, y, t_end, end);
}

Kinks *bends_watch(Heap *heap, View *view, double start, double tolerance) {
  const ArrayCode *code = view->evaluator->code;
  uint32_t count = code->modes->kinks;
  view->kinks = NULL;
  view->system.bends = passes_bend;
  if (!count) return NULL;
  Bends *bends = heap_alloc(heap, sizeof *bends);
  *bends = (Bends){view, workspace_new(heap, code->kinks), workspace_new(heap, code->kink_sizes)};
  KinksPlan plan = {bends, count, count <= FEW_BENDS, evaluate, point_of};
  return view->kinks = kinks_new(heap, &plan, &view->system, start, tolerance);
}
