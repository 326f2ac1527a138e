/* segment: see segment.h. */
#include "segment/segment.h"

#include "base/copy.h"
#include "core/constants.h"
#include "segment/system.h"

#include <math.h>

static const uint32_t NO_SLOT = UINT32_MAX;

Segment *segment_new(Heap *heap, int32_t columns) {
  Segment *segment = heap_alloc(heap, sizeof *segment);
  *segment = (Segment){.heap = heap, .columns = (uint32_t)columns};
  segment->sample = heap_array(heap, (size_t)columns, sizeof(double));
  segment->slot = heap_array(heap, (size_t)columns, sizeof *segment->slot);
  for (int32_t c = 0; c < columns; c++) segment->slot[c] = NO_SLOT;
  return segment;
}

void segment_take(Segment *segment, const SegmentMethods *methods, void *self, double t0, const double *begin,
                  double t1, const double *end) {
  segment->methods = methods;
  segment->self = self;
  segment->t0 = t0;
  segment->t1 = t1;
  segment->begin = begin;
  segment->end = end;
  segment->count = 0;
  segment->number++;
}

static void set_degree(Segment *segment, int degree) {
  const double half_turn = 3.14159265358979323846;
  for (int i = 0; i <= degree; i++) segment->part[i] = (1 - cos(half_turn * i / degree)) / 2;
  segment->count = degree + 1;
}

void segment_begin(Segment *segment, double t0, double t1, int degree) {
  segment_take(segment, NULL, NULL, t0, NULL, t1, NULL);
  set_degree(segment, degree);
}

void segment_some(const Segment *segment, double t, const uint32_t *columns, uint32_t count, double *y) {
  segment->methods->interpolate(segment->self, t, columns, count, y);
}

void segment_values(const Segment *segment, double t, double *y) {
  if (t == segment->t1 || !(segment->t1 > segment->t0)) copy_numbers(y, segment->end, segment->columns);
  else segment_some(segment, t, NULL, segment->columns, y);
}

bool segment_open(Segment *segment) {
  if (segment->count) return true;
  if (!(segment->t1 > segment->t0)) return false;
  segment->shape = segment->methods->shape(segment->self);
  if (segment->shape.degree) set_degree(segment, segment->shape.degree);
  return segment->count > 0;
}

static void grow(Segment *segment) {
  segment->room = 2 * segment->room + 16;
  size_t room = segment->room;
  segment->coefficient =
      heap_resize(segment->heap, segment->coefficient, room * BERNSTEIN_MOST * sizeof *segment->coefficient);
  segment->made = heap_resize(segment->heap, segment->made, room * sizeof *segment->made);
  segment->missing = heap_resize(segment->heap, segment->missing, room * sizeof *segment->missing);
}

static uint32_t slot_of(Segment *segment, uint32_t column) {
  uint32_t *slot = &segment->slot[column];
  if (*slot != NO_SLOT) return *slot;
  if (segment->slots == segment->room) grow(segment);
  *slot = segment->slots++;
  segment->made[*slot] = 0;
  return *slot;
}

static double *at_slot(const Segment *segment, uint32_t slot) {
  return segment->coefficient + (size_t)slot * BERNSTEIN_MOST;
}

const double *segment_column(const Segment *segment, uint32_t column) {
  return at_slot(segment, segment->slot[column]);
}

double *segment_set(Segment *segment, uint32_t column) {
  uint32_t slot = slot_of(segment, column);
  segment->made[slot] = segment->number;
  return at_slot(segment, slot);
}

/* Lists in `missing` the columns that are not known yet. */
static uint32_t list_missing(Segment *segment, const uint32_t *columns, uint32_t count) {
  uint32_t missing = 0;
  for (uint32_t k = 0; k < count; k++) {
    uint32_t slot = slot_of(segment, columns[k]);
    if (segment->made[slot] == segment->number) continue;
    segment->made[slot] = segment->number;
    segment->missing[missing++] = columns[k];
  }
  return missing;
}

void segment_need(Segment *segment, const uint32_t *columns, uint32_t count) {
  uint32_t missing = list_missing(segment, columns, count);
  for (int i = 0; i < segment->count && missing; i++) {
    double t = i + 1 < segment->count ? segment->t0 + segment->part[i] * (segment->t1 - segment->t0) : segment->t1;
    segment_some(segment, t, segment->missing, missing, segment->sample);
    for (uint32_t k = 0; k < missing; k++) {
      uint32_t column = segment->missing[k];
      at_slot(segment, segment->slot[column])[i] = segment->sample[column];
    }
  }
  for (uint32_t k = 0; k < missing; k++)
    bernstein_from_values(segment->count, segment->part, at_slot(segment, segment->slot[segment->missing[k]]));
}

double segment_value(const Segment *segment, uint32_t column, double part) {
  return bernstein_value(segment->count, segment_column(segment, column), part);
}

double segment_slope(const Segment *segment, uint32_t column, double part) {
  return bernstein_slope(segment->count, segment_column(segment, column), part) / (segment->t1 - segment->t0);
}

bool system_drift(const System *system, double by, double *y) {
  for (int32_t k = 0; k < system->links; k++) {
    int32_t c = system->link_from[k];
    if (!(fabs(by * y[system->link_to[k]]) <= DIFFERENCE_ROUND_OFF * (fabs(y[c]) + system->nominal[c]))) return false;
  }
  for (int32_t k = 0; k < system->links; k++) y[system->link_from[k]] += by * y[system->link_to[k]];
  return true;
}
