/* watcher: see watcher.h. */
#include "watch/watcher.h"

#include "core/constants.h"
#include "core/search.h"

#include <math.h>
#include <string.h>

struct Watcher {
  View *view;
  Certificate *certificate;
  Search modes, slides;
  double *margin; /* margins of the modes */
  bool *jumps;    /* modes whose differences jump; NULL: none */
};

/* A step under examination. */
typedef struct Looking {
  Watcher *watcher;
  const WatchedStep *step;
  double *y;
} Looking;

/* Does the difference contain discrete values of functions? They jump at unknown times. */
static bool is_jumping(Evaluator *evaluator, Expr difference) {
  const Model *model = evaluator->model;
  Dag *dag = model->dag;
  IndexVec below = {0};
  bool found = false;
  if (dag_depends(dag, difference, OP_VARIABLE) || dag_depends(dag, difference, OP_TIME))
    dag_below(dag, &evaluator->scratch, &difference, 1, &below);
  for (uint32_t k = 0; k < below.count && !found; k++)
    found = dag_op(dag, below.data[k]) == OP_CALL && model_call_type(model, below.data[k]) != TYPE_REAL;
  vec_free(evaluator->scratch.heap, &below);
  return found;
}

/* Per mode; NULL: none jumps. */
static bool *mark_jumping(Heap *heap, const Switches *switches) {
  const Modes *modes = switches->modes;
  bool *jumps = NULL;
  for (uint32_t m = 0; m < modes->count; m++) {
    if (modes->timed[m] || modes->meets[m] || !is_jumping(switches->evaluator, modes->difference[m])) continue;
    if (!jumps) jumps = heap_array(heap, modes->count, sizeof *jumps);
    jumps[m] = true;
  }
  return jumps;
}

Watcher *watcher_new(Heap *heap, View *view) {
  Watcher *watcher = heap_alloc(heap, sizeof *watcher);
  uint32_t count = view->switches ? view->switches->modes->count : 0;
  *watcher = (Watcher){.view = view, .certificate = certificate_new(heap, view)};
  watcher->modes = search_make(count, heap_array(heap, count, SEARCH_NUMBERS * sizeof(double)));
  watcher->slides = search_make(1, heap_array(heap, 1, SEARCH_NUMBERS * sizeof(double)));
  watcher->margin = heap_array(heap, count, sizeof(double));
  watcher->jumps = count ? mark_jumping(heap, view->switches) : NULL;
  return watcher;
}

Certificate *watcher_certificate(Watcher *watcher) { return watcher->certificate; }

/* ---- margins ---- */

static void fill_margins(const Switches *switches, double *margin) {
  const Edges *edges = &switches->edges;
  for (int m = 0; m < edges->count; m++) margin[m] = edges_margin(edges, m, edges->difference[m]);
}

/* The mode that is nearest to its edge, or farthest beyond it. */
static uint32_t least_margin(const Switches *switches) {
  const Edges *edges = &switches->edges;
  int least = 0;
  double margin = INFINITY;
  for (int m = 0; m < edges->count; m++) {
    double own = edges_margin(edges, m, edges->difference[m]);
    if (own < margin) margin = own, least = m;
  }
  return (uint32_t)least;
}

/* Solves the columns at a time inside the step, so that all rows hold there. Otherwise a restart would move interpolated columns
 * back to the constraints, and that could undo the crossing. */
static bool point_at(Looking *looking, double t) {
  View *view = looking->watcher->view;
  const WatchedStep *step = looking->step;
  bool is_solved = view_point(view, step->segment, t, looking->y) == EVAL_OK;
  if (is_solved) switches_evaluate(view->switches, t, looking->y);
  else view->switches->edges.now->time = NAN; /* y no longer belongs to the last evaluation */
  return is_solved;
}

static bool look_at(void *context, double t, double *margin) {
  Looking *looking = context;
  if (!point_at(looking, t)) return false;
  fill_margins(looking->watcher->view->switches, margin);
  return true;
}

/* The same with interpolated columns for those that conditions read. */
static bool peek_at(void *context, double t, double *margin) {
  Looking *looking = context;
  View *view = looking->watcher->view;
  const WatchedStep *step = looking->step;
  const IndexVec *watched = &view->watched;
  const double *y = t < step->segment->t1 ? looking->y : step->segment->end;
  if (y == looking->y && watched->count) segment_some(step->segment, t, watched->data, watched->count, looking->y);
  else if (y == looking->y) segment_values(step->segment, t, looking->y);
  switches_evaluate(view->switches, t, y);
  fill_margins(view->switches, margin);
  return true;
}

/* ---- steps without events ---- */

/* Evaluates the conditions at both ends of the step, and keeps their values at its beginning. */
static void look_at_ends(Watcher *watcher, const WatchedStep *step) {
  Switches *switches = watcher->view->switches;
  ConstMoment begin = {step->segment->t0, step->segment->begin};
  if (switches->edges.now->kept != begin.t) {
    switches_evaluate(switches, begin.t, begin.y);
    edges_keep(&switches->edges, begin.t, begin.y, 0);
  }
  switches_evaluate(switches, step->segment->t1, step->segment->end);
  edges_rest(&switches->edges, step->segment->t1, step->segment->end);
}

/* Do the ends show that no mode changes? They cannot for a difference that jumps. Implicit one-step methods may step over a whole
 * oscillation of a column that no state follows. Then the values at the ends do not show how fast it is. */
static bool are_far(const Watcher *watcher, const WatchedStep *step) {
  const View *view = watcher->view;
  bool is_long = view->system.watched && step->segment->methods->is_collocation;
  return !watcher->jumps && !is_long && edges_are_far(&view->switches->edges, step->segment->t1 - step->segment->t0);
}

bool watcher_rules_out(Watcher *watcher, const WatchedStep *step) {
  Switches *switches = watcher->view->switches;
  if (!switches) return certificate_prove(watcher->certificate, step, true, true) == STEP_PROVEN;
  if (!step->is_timed && !switches->edges.some_meet && certificate_covers(watcher->certificate, step)) return true;
  double end = step->segment->t1;
  uint32_t mode;
  look_at_ends(watcher, step);
  bool agrees = !switches_contradict(switches, &mode);
  bool is_far = agrees && are_far(watcher, step);
  StepProof proof = certificate_prove(watcher->certificate, step, agrees, is_far);
  bool is_quiet = proof == STEP_PROVEN || (proof == STEP_UNTRIED && is_far);
  if (!agrees || switches->edges.now->slides || !is_quiet) return false;
  return edges_pass(&switches->edges, end, step->segment->end, end - step->segment->t0);
}

/* ---- events ---- */

static Watched watch_modes(Looking *looking) {
  const View *view = looking->watcher->view;
  const WatchedStep *step = looking->step;
  bool interpolates = !step->segment->methods->is_explicit || view->watches_states || view_interpolates_watched(view);
  return (Watched){.context = looking,
                   .count = view->switches->modes->count,
                   .step = step->segment->t1 - step->segment->t0,
                   .look = look_at,
                   .peek = interpolates ? peek_at : NULL,
                   .is_exact = view->watches_states,
                   .jumps = looking->watcher->jumps};
}

bool watcher_find(Watcher *watcher, const WatchedStep *step, double *y, EventBracket *bracket) {
  Switches *switches = watcher->view->switches;
  double end = step->segment->t1, size = end - step->segment->t0;
  Looking looking = {watcher, step, y};
  Watched watched = watch_modes(&looking);
  uint32_t mode;
  look_at_ends(watcher, step);
  bool inside = !switches_contradict(switches, &mode),
       dips = edges_dip(&switches->edges, end, step->segment->end, size);
  edges_keep_end(&switches->edges, size);
  switches->edges.now->looks_inside = dips;
  if (!dips) certificate_prove_inside(watcher->certificate, step, inside);
  Bracket found, open = {step->segment->t0, end};
  bool any = !dips && certificate_bracket(watcher->certificate, &found.low, &found.high) &&
             look_at(&looking, found.high, watcher->margin) && switches_contradict(switches, &mode);
  if (!any) {
    if (!dips) certificate_open(watcher->certificate, &open.low, &open.high);
    any = search_find(&watcher->modes, &watched, open, NULL, &found);
  }
  *bracket = (EventBracket){found.low, found.high, inside, dips};
  switches->edges.now->looks_inside = false;
  if (any) return true;
  switches_evaluate(switches, end, step->segment->end);
  edges_keep(&switches->edges, end, step->segment->end, size);
  return false;
}

double watcher_locate(Watcher *watcher, const WatchedStep *step, const EventBracket *bracket, double *y,
                      uint32_t *mode) {
  Switches *switches = watcher->view->switches;
  Looking looking = {watcher, step, y};
  Watched watched = watch_modes(&looking);
  Bracket found = {bracket->low, bracket->high};
  double middle = step->segment->t0 + (bracket->low - step->segment->t0) / 2;
  switches->edges.now->looks_inside = bracket->looks_inside;
  if (middle > step->segment->t0 && (watched.peek ? watched.peek : watched.look)(&looking, middle, watcher->margin))
    edges_note_peaks(&switches->edges, watcher->margin);
  search_locate(&watcher->modes, &watched, &found);
  if (!switches_contradict(switches, mode)) *mode = least_margin(switches);
  switches->edges.now->looks_inside = false;
  return found.high;
}

/* ---- leaving edges ---- */

/* How far the weights of sliding modes are inside of [0, 1]. */
static bool look_at_weights(void *context, double t, double *margin) {
  Looking *looking = context;
  int mode;
  if (!point_at(looking, t)) return false;
  *margin = STUCK - edges_leaving(&looking->watcher->view->switches->edges, &mode);
  return true;
}

bool watcher_leaves(Watcher *watcher, const WatchedStep *step, double *t, double *y) {
  Looking looking = {watcher, step, y};
  Watched watched = {.context = &looking, .count = 1, .step = *t - step->segment->t0, .look = look_at_weights};
  Bracket found;
  double margin;
  bool leaves = search_find(&watcher->slides, &watched, (Bracket){step->segment->t0, *t}, NULL, &found);
  if (leaves) search_locate(&watcher->slides, &watched, &found);
  else look_at_weights(&looking, *t, &margin);
  if (leaves) *t = found.high;
  return leaves;
}
