/* segment: what a step returns: the polynomial of each column over the step, in Bernstein's basis (base/bernstein.h).
 *
 * Every integrator gives one alike, and whoever looks inside of a step looks at it: proofs, searches, the defect. A column is sampled
 * and converted when it is first asked for, since most are never looked at inside of a step.
 */
#pragma once

#include "base/bernstein.h"
#include "base/heap.h"
#include "base/map.h"

#include <stdbool.h>
#include <stdint.h>

/* Where the columns come from: the step of a method. */
typedef struct SegmentSource {
  void *self;
  /* These columns at a time of the step; others in y stay as they are. */
  void (*interpolate)(void *self, double t, const uint32_t *columns, uint32_t count, double *y);
} SegmentSource;

typedef struct Segment {
  double t0, t1;
  int count;                   /* of the coefficients of a column */
  double part[BERNSTEIN_MOST]; /* parts of the step at which columns are sampled: Chebyshev's, with both ends */
  SegmentSource source;
  Heap *heap;
  uint32_t *slot;         /* [columns] where its coefficients are, once it was asked for; MAP_NONE before */
  uint32_t slots, room;   /* in use, and made */
  double *coefficient;    /* [slots][BERNSTEIN_MOST] */
  uint64_t *made, number; /* [slots] for which segment its coefficients are; the present one */
  uint32_t *missing;      /* [slots] columns that are asked for and not known yet */
  double *sample;         /* [columns] */
} Segment;

/* Room for so many columns; lives in the heap. */
Segment *segment_new(Heap *heap, int32_t columns);

/* Another step, whose polynomials have this degree, less than BERNSTEIN_MOST: no column is known. */
void segment_begin(Segment *segment, double t0, double t1, int degree, SegmentSource source);

/* Converts those of these columns that are not known yet. O(count * degree^2). */
void segment_need(Segment *segment, const uint32_t *columns, uint32_t count);

/* The coefficients of a known column. */
const double *segment_column(const Segment *segment, uint32_t column);

/* Room for the coefficients of a column that the caller knows better: from now on it is known. Until the next column is asked for. */
double *segment_set(Segment *segment, uint32_t column);

/* Value and derivative by time of a known column at a part of the step. O(degree^2). */
double segment_value(const Segment *segment, uint32_t column, double part);
double segment_slope(const Segment *segment, uint32_t column, double part);
