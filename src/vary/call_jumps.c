/* call_jumps: see call_jumps.h. */
#include "vary/call_jumps.h"

#include "core/constants.h"

#include <float.h>
#include <math.h>

struct CallJumps {
  View *view;
  uint32_t count;
  double tolerance;
  Workspace *workspace;
  double *begin, *end, *inside; /* values of the calls */
  double *rate;                 /* recent rates; INFINITY: unknown */
  double *y;
};

CallJumps *call_jumps_new(Heap *heap, const SensitivityPlan *plan, View *view, double tolerance) {
  if (!plan->calls.count) return NULL;
  CallJumps *jumps = heap_alloc(heap, sizeof *jumps);
  *jumps = (CallJumps){.view = view, .count = plan->calls.count, .tolerance = tolerance};
  jumps->workspace = workspace_new(heap, plan->call_values);
  heap_numbers(heap, jumps->count, &jumps->begin, &jumps->end, &jumps->inside, &jumps->rate);
  jumps->y = heap_array(heap, (size_t)view->system.columns, sizeof(double));
  call_jumps_forget(jumps);
  return jumps;
}

void call_jumps_forget(CallJumps *jumps) {
  for (uint32_t k = 0; k < jumps->count; k++) jumps->rate[k] = NAN;
}

static bool evaluate(const CallJumps *jumps, double t, const double *y, double *values) {
  Point point = evaluator_point(jumps->view->evaluator, t, y);
  return workspace_run(jumps->workspace, &point, values) == EVAL_OK;
}

static bool evaluate_at(const CallJumps *jumps, const Segment *segment, double t, double *values) {
  return view_point(jumps->view, segment, t, jumps->y) == EVAL_OK && evaluate(jumps, t, jumps->y, values);
}

/* Halves the step from `begin` to *high towards the larger change of call k. A value that differs only at the beginning itself,
 * like that of an edge, is not a jump within the step. */
static bool jumps_between(CallJumps *jumps, const Segment *segment, uint32_t k, double begin, double *high) {
  double low = begin;
  double first = jumps->begin[k], last = jumps->end[k];
  double small = jumps->tolerance / MINOR * fmax(fabs(first), fabs(last));
  for (int i = 0; i < LOCATE_LIMIT && fabs(last - first) > small && *high - low > ROUND_OFF * fabs(*high); i++) {
    double middle = low + (*high - low) / 2;
    if (!evaluate_at(jumps, segment, middle, jumps->inside)) return false;
    double value = jumps->inside[k];
    bool is_left = fabs(value - first) >= fabs(last - value);
    *(is_left ? high : &low) = middle;
    *(is_left ? &last : &first) = value;
  }
  return fabs(last - first) > small && low > begin;
}

bool call_jumps_find(CallJumps *jumps, const Segment *segment, double end, uint32_t *call, double *time) {
  double h = end - segment->t0;
  if (!evaluate(jumps, segment->t0, segment->begin, jumps->begin) || !evaluate_at(jumps, segment, end, jumps->end))
    return false;
  for (uint32_t k = 0; k < jumps->count; k++) {
    double rate = fabs(jumps->end[k] - jumps->begin[k]) / h, before = jumps->rate[k];
    jumps->rate[k] = rate;
    *call = k;
    *time = end;
    if (!(rate <= SEVERAL * before) && jumps_between(jumps, segment, k, segment->t0, time)) return true;
  }
  return false;
}
