/* difference: compares two results: for each signal that both have, the time at which they differ most.
 *
 * Values are compared at all times of either result that lie within both, interpolated linearly between rows, or only where
 * both have a row. At an event, the values before it in both results are compared with each other, and so are the values
 * after it. */
#pragma once

#include "result/trajectory.h"

typedef struct SignalDifference {
  uint32_t signal[2]; /* number of the signal in either table */
  double largest;     /* |first - second| where it is largest */
  double relative;    /* the largest difference, divided by the largest |value| in either result; 0 if they are equal */
  double time;        /* time of the largest difference; NaN if they are equal */
  double value[2];    /* values of both results at that time */
} SignalDifference;

typedef struct ResultDifference {
  double start, stop;     /* the time span that both results cover */
  size_t times;           /* number of times at which they were compared */
  bool is_span_different; /* one of the results begins or ends at another time */
  SignalDifference *list; /* signals of both, the largest relative difference first */
  uint32_t count;
  uint32_t *single[2]; /* numbers of the signals that only one result has */
  uint32_t single_count[2];
} ResultDifference;

/* Is a signal to be compared? It is given by its name. */
typedef bool SignalChoice(const void *context, const char *name);

/* Both results must have rows. Arrays live in the arena. If the results have no time in common, `times` is 0. Parameters are left
 * out, as in files of comma-separated values. O(rows of both * signals). */
ResultDifference difference_find(Arena *arena, const Trajectory *const results[2], SignalChoice *is_chosen,
                                 const void *context);

/* Like difference_find, at rows that both results have, without interpolation. Two runs find an event at slightly different
 * times. So a time is left out if one run has an event at it, and the other run has the same event up to `slack` earlier or
 * later. */
ResultDifference difference_find_common(Arena *arena, const Trajectory *const results[2], double slack,
                                        SignalChoice *is_chosen, const void *context);
