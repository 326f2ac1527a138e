/* segment: what a step returns: all columns over the step, and the polynomial of each in Bernstein's basis (core/bernstein.h).
 *
 * Every integrator gives one alike, and whoever looks inside of a step looks at it: recording, delays, sensitivities, proofs, searches, the defect. A column is
 * sampled and converted when its polynomial is first asked for, since most are never looked at inside of a step.
 */
#pragma once

#include "base/heap.h"
#include "base/map.h"
#include "core/bernstein.h"
#include "segment/shape.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Segment {
  double t0, t1;
  const double *begin, *end; /* all columns there */
  uint32_t columns;
  const SegmentMethods *methods;
  void *self;
  StepShape shape;             /* where `count` is not 0 */
  int count;                   /* of the coefficients of a column; 0: not known yet */
  double part[BERNSTEIN_MOST]; /* parts of the step at which columns are sampled: Chebyshev's, with both ends */
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

/* Another step: no polynomial is known. It is valid as long as the method, its begin and its end are. O(1). */
void segment_take(Segment *segment, const SegmentMethods *methods, void *self, double t0, const double *begin,
                  double t1, const double *end);

/* The same of polynomials that the caller sets. */
void segment_begin(Segment *segment, double t0, double t1, int degree);

/* All columns, or some, at a time of the step. */
void segment_values(const Segment *segment, double t, double *y);
void segment_some(const Segment *segment, double t, const uint32_t *columns, uint32_t count, double *y);

/* Asks for the shape of the polynomials. false: there is no step yet. */
bool segment_open(Segment *segment);

/* After segment_open: converts those of these columns that are not known yet. O(count * degree^2). */
void segment_need(Segment *segment, const uint32_t *columns, uint32_t count);

/* The coefficients of a known column. */
const double *segment_column(const Segment *segment, uint32_t column);

/* Room for the coefficients of a column that the caller knows better: from now on it is known. Until the next column is asked for. */
double *segment_set(Segment *segment, uint32_t column);

/* Value and derivative by time of a known column at a part of the step. O(degree^2). */
double segment_value(const Segment *segment, uint32_t column, double part);
double segment_slope(const Segment *segment, uint32_t column, double part);
