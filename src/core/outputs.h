/* outputs: the times at which the values of a run are wanted: those of a list, or multiples of an interval and the stop time.
 * Exported solvers contain this file unchanged. */
#pragma once

#include <math.h>
#include <stdint.h>

typedef struct Outputs {
  const double *times; /* NULL: the multiples */
  double start, interval, stop;
  uint64_t last;   /* number of the last time, from 0 on */
  uint64_t number; /* number of the next time */
} Outputs;

/* The next time; INFINITY: there is none. */
static inline double outputs_next(const Outputs *outputs) {
  uint64_t k = outputs->number;
  if (k > outputs->last) return INFINITY;
  if (outputs->times) return outputs->times[k];
  return k < outputs->last ? outputs->start + (double)k * outputs->interval : outputs->stop;
}
