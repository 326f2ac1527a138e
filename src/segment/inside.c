/* inside: see inside.h. */
#include "segment/inside.h"

#include "core/constants.h"

#include <math.h>
#include <string.h>

/* The error of the interpolation; zero for the states, whose interpolated values count. */
static void take_missed(const System *system, const double *found, const double *y, double *missed) {
  for (int32_t c = 0; c < system->columns; c++) missed[c] = found[c] - y[c];
  for (int32_t k = 0; k < system->links; k++) missed[system->link_from[k]] = 0;
}

/* Goes back from the end of the step to t, adding at each point the error of the interpolation at the last solved one. */
static EvalStatus follow_back(const InsideHost *host, const Segment *segment, double t, double *y, double *missed) {
  const System *system = host->system;
  double at = segment->t1, way = t - at, step = way / 2;
  double *found = missed + system->columns;
  memcpy(found, segment->end, (size_t)system->columns * sizeof *found);
  if (host->find(host->host, at, found) == EVAL_OK) take_missed(system, found, segment->end, missed);
  for (int k = 0; at != t; k++) {
    if (k == MANY) return EVAL_DOMAIN;
    double next = fabs(step) < fabs(t - at) ? at + step : t;
    if (next == at) return EVAL_DOMAIN;
    segment_values(segment, next, y);
    for (int32_t c = 0; c < system->columns; c++) found[c] = y[c] + missed[c];
    if (host->solve(host->host, next, found) != EVAL_OK) {
      step /= 4;
      if (fabs(step) < PRESENT * fabs(way)) return EVAL_DOMAIN;
      continue;
    }
    take_missed(system, found, y, missed);
    at = next;
    step *= 2;
  }
  memcpy(y, found, (size_t)system->columns * sizeof *y);
  return EVAL_OK;
}

/* Adds half of the interpolation error at t. */
static EvalStatus add_missed(const InsideHost *host, const Segment *segment, double t, double *y, double *missed) {
  const System *system = host->system;
  double *found = missed + system->columns;
  segment_values(segment, t, y);
  memcpy(found, y, (size_t)system->columns * sizeof *found);
  EvalStatus status = host->solve(host->host, t, found);
  for (int32_t c = 0; c < system->columns && status == EVAL_OK; c++) missed[c] += (found[c] - y[c]) / 2;
  return status;
}

/* The choice of states may be singular exactly at this time, although the steps pass it. Then the interpolation error is the mean
 * of that shortly before and after. */
static EvalStatus pass_between(const InsideHost *host, const Segment *segment, double t, double *y, double *missed) {
  double behind = segment->t1 - t,
         near = fmin(NEGLIGIBLE * (segment->t1 - segment->t0), fmin(t - segment->t0, behind) / 2);
  if (!(near > 0)) return EVAL_DOMAIN;
  memset(missed, 0, (size_t)host->system->columns * sizeof *missed);
  EvalStatus status = add_missed(host, segment, t - near, y, missed);
  if (status == EVAL_OK) status = add_missed(host, segment, t + near, y, missed);
  segment_values(segment, t, y);
  for (int32_t c = 0; c < host->system->columns; c++) y[c] += missed[c];
  return status;
}

EvalStatus inside_solve(const InsideHost *host, const Segment *segment, double t, double *y, bool *is_between) {
  double *missed = heap_array(host->heap, 2 * (size_t)host->system->columns, sizeof *missed);
  EvalStatus status = follow_back(host, segment, t, y, missed);
  *is_between = status != EVAL_OK;
  if (*is_between) status = pass_between(host, segment, t, y, missed);
  heap_free(host->heap, missed);
  return status;
}
