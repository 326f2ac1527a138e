/* segment: the result of a step: all columns over the step, and the polynomial of each in Bernstein's basis (core/bernstein.h).
 *
 * Every integrator gives the same kind, and everything that reads the inside of a step uses it: recording, delays, sensitivities,
 * proofs, searches, the defect. A column is sampled and converted when its polynomial is first needed, because most are never read
 * inside a step. */
#pragma once

#include "base/heap.h"
#include "core/bernstein.h"
#include "segment/shape.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Segment {
  double t0, t1;
  const double *begin, *end; /* all columns at both ends */
  uint32_t columns;
  const SegmentMethods *methods;
  void *self;
  StepShape shape;             /* valid where `count` is not 0 */
  int count;                   /* number of the coefficients of a column; 0: not known yet */
  double part[BERNSTEIN_MOST]; /* parts of the step at which columns are sampled: Chebyshev points, with both ends */
  Heap *heap;
  uint32_t *slot;         /* [columns] slot of the column's coefficients; UINT32_MAX: not needed so far */
  uint32_t slots, room;   /* slots in use, and allocated */
  double *coefficient;    /* [slots][BERNSTEIN_MOST] */
  uint64_t *made, number; /* made: [slots] the segment of the coefficients; number: the present segment */
  uint32_t *missing;      /* [slots] columns that are needed and not known yet */
  double *sample;         /* [columns] */
} Segment;

/* Room for this many columns; lives in the heap. */
Segment *segment_new(Heap *heap, int32_t columns);

/* Starts another step: no polynomial is known. The segment is valid as long as `self`, `begin` and `end` are. O(1). */
void segment_take(Segment *segment, const SegmentMethods *methods, void *self, double t0, const double *begin,
                  double t1, const double *end);

/* Starts a step whose polynomials the caller sets. */
void segment_begin(Segment *segment, double t0, double t1, int degree);

/* All columns, or some, at a time of the step. */
void segment_values(const Segment *segment, double t, double *y);
void segment_some(const Segment *segment, double t, const uint32_t *columns, uint32_t count, double *y);

/* Determines the shape of the polynomials. false: there is no step yet. */
bool segment_open(Segment *segment);

/* Call it after segment_open: converts the listed columns that are not known yet. O(count * degree^2). */
void segment_need(Segment *segment, const uint32_t *columns, uint32_t count);

/* The coefficients of a known column. */
const double *segment_column(const Segment *segment, uint32_t column);

/* Room for the coefficients of a column that the caller sets: from then on it is known. Valid until the next column is needed. */
double *segment_set(Segment *segment, uint32_t column);

/* Value and derivative with respect to time of a known column at a part of the step. O(degree^2). */
double segment_value(const Segment *segment, uint32_t column, double part);
double segment_slope(const Segment *segment, uint32_t column, double part);
