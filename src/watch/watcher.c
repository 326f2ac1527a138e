/* watcher: see watcher.h. */
#include "watch/watcher.h"

#include "core/constants.h"
#include "core/search.h"

#include <math.h>
#include <string.h>

struct Watcher {
  WatcherPlan plan;
  Search modes, slides;
  double *margin; /* margins of the modes */
  bool *jumps;    /* modes whose differences jump; NULL: none */
  bool *is_state; /* per column: it is a state; used while a step is searched */
  bool has_unknown_rates;
};

/* A step under examination. */
typedef struct Looking {
  Watcher *watcher;
  const WatchedStep *step;
  double *y;
} Looking;

Watcher *watcher_new(Heap *heap, const WatcherPlan *plan) {
  Watcher *watcher = heap_alloc(heap, sizeof *watcher);
  uint32_t count = plan->edges ? (uint32_t)plan->edges->count : 0;
  *watcher = (Watcher){.plan = *plan};
  watcher->modes = search_make(count, heap_array(heap, count, SEARCH_NUMBERS * sizeof(double)));
  watcher->slides = search_make(1, heap_array(heap, 1, SEARCH_NUMBERS * sizeof(double)));
  watcher->margin = heap_array(heap, count, sizeof(double));
  watcher->is_state = heap_array(heap, (size_t)plan->system->columns, sizeof(bool));
  for (uint32_t m = 0; m < count; m++) {
    const Condition *condition = &plan->edges->condition[m];
    watcher->has_unknown_rates = watcher->has_unknown_rates || !(condition->has_rate || condition->is_timed);
    if (!condition->jumps) continue;
    if (!watcher->jumps) watcher->jumps = heap_array(heap, count, sizeof(bool));
    watcher->jumps[m] = true;
  }
  return watcher;
}

/* ---- margins ---- */

static void fill_margins(const Edges *edges, double *margin) {
  for (int m = 0; m < edges->count; m++) margin[m] = edges_margin(edges, m, edges->difference[m]);
}

/* The mode that is nearest to its edge, or farthest beyond it. */
static int least_margin(const Edges *edges) {
  int least = 0;
  double margin = INFINITY;
  for (int m = 0; m < edges->count; m++) {
    double own = edges_margin(edges, m, edges->difference[m]);
    if (own < margin) margin = own, least = m;
  }
  return least;
}

/* Solves the columns at a time inside the step, so that all rows hold there. With interpolated columns, a restart would move
 * the columns back to the constraints, and that could undo the crossing. */
static bool point_at(Looking *looking, double t) {
  const WatcherPlan *plan = &looking->watcher->plan;
  bool is_solved = plan->point(plan->host, looking->step->segment, t, looking->y);
  if (is_solved) edges_evaluate(plan->edges, t, looking->y);
  else plan->edges->now->time = NAN; /* y no longer belongs to the last evaluation */
  return is_solved;
}

static bool look_at(void *context, double t, double *margin) {
  Looking *looking = context;
  if (!point_at(looking, t)) return false;
  fill_margins(looking->watcher->plan.edges, margin);
  return true;
}

/* Like look_at, but interpolates the columns that conditions read. */
static bool peek_at(void *context, double t, double *margin) {
  Looking *looking = context;
  const WatcherPlan *plan = &looking->watcher->plan;
  const Segment *segment = looking->step->segment;
  const double *y = t < segment->t1 ? looking->y : segment->end;
  if (y == looking->y && plan->count) segment_some(segment, t, plan->columns, plan->count, looking->y);
  else if (y == looking->y && !plan->reads_none) segment_values(segment, t, looking->y);
  edges_evaluate(plan->edges, t, y);
  fill_margins(plan->edges, margin);
  return true;
}

/* ---- steps without events ---- */

/* Evaluates the conditions at both ends of the step, and keeps their values at its beginning. */
static void look_at_ends(Watcher *watcher, const WatchedStep *step) {
  Edges *edges = watcher->plan.edges;
  const Segment *segment = step->segment;
  if (edges->now->kept != segment->t0) {
    edges_evaluate(edges, segment->t0, segment->begin);
    edges_keep(edges, segment->t0, segment->begin, 0);
  }
  edges_evaluate(edges, segment->t1, segment->end);
  edges_rest(edges, segment->t1, segment->end);
}

/* Do the ends of the step show that no mode changes? The ends show nothing if a difference jumps. Without proofs, they also
 * show nothing if the rate of a difference is unknown. Implicit one-step methods may step over a whole oscillation of a column
 * that no state follows. Then the values at the ends do not show how fast that column is. */
static bool are_far(const Watcher *watcher, const WatchedStep *step) {
  const WatcherPlan *plan = &watcher->plan;
  bool is_long = plan->system->watched && step->segment->methods->is_collocation;
  bool is_unknown = watcher->jumps || (watcher->has_unknown_rates && !plan->methods);
  return !is_unknown && !is_long && edges_are_far(plan->edges, step->segment->t1 - step->segment->t0);
}

static StepProof prove(Watcher *watcher, const WatchedStep *step, bool agrees, bool is_far) {
  const WatcherPlan *plan = &watcher->plan;
  return plan->methods ? plan->methods->prove(plan->proofs, step, agrees, is_far) : STEP_UNTRIED;
}

bool watcher_rules_out(Watcher *watcher, const WatchedStep *step) {
  const WatcherPlan *plan = &watcher->plan;
  Edges *edges = plan->edges;
  if (!edges) return prove(watcher, step, true, true) == STEP_PROVEN || !plan->methods;
  if (plan->methods && !step->is_timed && !edges->some_meet && plan->methods->covers(plan->proofs, step)) return true;
  double end = step->segment->t1;
  look_at_ends(watcher, step);
  bool agrees = edges_first_contradiction(edges) < 0;
  bool is_far = agrees && are_far(watcher, step);
  StepProof proof = prove(watcher, step, agrees, is_far);
  bool is_quiet = proof == STEP_PROVEN || (proof == STEP_UNTRIED && is_far);
  if (!agrees || edges->now->slides || !is_quiet) return false;
  return edges_pass(edges, end, step->segment->end, end - step->segment->t0);
}

/* ---- events ---- */

/* Is every column that conditions read a state? *interpolates: does each of them have a value inside the step? */
static bool reads_states(const Watcher *watcher, bool *interpolates) {
  const WatcherPlan *plan = &watcher->plan;
  const System *system = plan->system;
  bool only_states = plan->count > 0 || plan->reads_none;
  memset(watcher->is_state, 0, (size_t)system->columns * sizeof(bool));
  for (int32_t k = 0; k < system->links; k++) watcher->is_state[system->link_from[k]] = true;
  *interpolates = true;
  for (uint32_t k = 0; k < plan->count; k++) {
    uint32_t q = plan->columns[k];
    only_states = only_states && watcher->is_state[q];
    if (system->rates && system->given && system->given[q] && !watcher->is_state[q]) *interpolates = false;
  }
  return only_states;
}

static Watched watch_modes(Looking *looking) {
  const Watcher *watcher = looking->watcher;
  const Segment *segment = looking->step->segment;
  bool has_values, is_exact = reads_states(watcher, &has_values);
  bool interpolates = !segment->methods->is_explicit || is_exact || has_values;
  return (Watched){.context = looking,
                   .count = (uint32_t)watcher->plan.edges->count,
                   .step = segment->t1 - segment->t0,
                   .look = look_at,
                   .peek = interpolates ? peek_at : NULL,
                   .is_exact = is_exact,
                   .looks_beside = !watcher->plan.methods,
                   .jumps = watcher->jumps};
}

/* The interval in which the first mode changes, by a proof. */
static bool is_bracketed(Looking *looking, Bracket *found) {
  const WatcherPlan *plan = &looking->watcher->plan;
  return plan->methods && plan->methods->bracket(plan->proofs, &found->low, &found->high) &&
         look_at(looking, found->high, looking->watcher->margin) && edges_first_contradiction(plan->edges) >= 0;
}

bool watcher_find(Watcher *watcher, const WatchedStep *step, double *y, EventBracket *bracket) {
  const WatcherPlan *plan = &watcher->plan;
  Edges *edges = plan->edges;
  double end = step->segment->t1, size = end - step->segment->t0;
  Looking looking = {watcher, step, y};
  Watched watched = watch_modes(&looking);
  look_at_ends(watcher, step);
  bool inside = edges_first_contradiction(edges) < 0, dips = edges_dip(edges, end, step->segment->end, size);
  edges_keep_end(edges, size);
  edges->now->looks_inside = dips;
  if (!dips && plan->methods) plan->methods->prove_inside(plan->proofs, step, inside);
  Bracket found, open = {step->segment->t0, end};
  bool any = !dips && is_bracketed(&looking, &found);
  if (!any) {
    if (!dips && plan->methods) plan->methods->open(plan->proofs, &open.low, &open.high);
    any = search_find(&watcher->modes, &watched, open, NULL, &found);
  }
  *bracket = (EventBracket){found.low, found.high, inside, dips};
  edges->now->looks_inside = false;
  if (any) return true;
  edges_evaluate(edges, end, step->segment->end);
  edges_keep(edges, end, step->segment->end, size);
  return false;
}

double watcher_locate(Watcher *watcher, const WatchedStep *step, const EventBracket *bracket, double *y, int *mode) {
  Edges *edges = watcher->plan.edges;
  Looking looking = {watcher, step, y};
  Watched watched = watch_modes(&looking);
  Bracket found = {bracket->low, bracket->high};
  double middle = step->segment->t0 + (bracket->low - step->segment->t0) / 2;
  edges->now->looks_inside = bracket->looks_inside;
  if (middle > step->segment->t0 && (watched.peek ? watched.peek : watched.look)(&looking, middle, watcher->margin))
    edges_note_peaks(edges, watcher->margin);
  search_locate(&watcher->modes, &watched, &found);
  *mode = edges_first_contradiction(edges);
  if (*mode < 0) *mode = least_margin(edges);
  edges->now->looks_inside = false;
  return found.high;
}

/* ---- leaving edges ---- */

/* The margins by which the weights of sliding modes are inside of [0, 1]. */
static bool look_at_weights(void *context, double t, double *margin) {
  Looking *looking = context;
  int mode;
  if (!point_at(looking, t)) return false;
  *margin = STUCK - edges_leaving(looking->watcher->plan.edges, &mode);
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
