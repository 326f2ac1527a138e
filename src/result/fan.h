/* fan: how runs spread over time: the median of each signal, and bands between quantiles around it. */
#pragma once

#include "result/plot.h"

/* A signal of many runs: value(context, run, time) for each of the times, NaN if a run has none. */
typedef struct FanSignal {
  const char *label;
  const double *times;
  uint32_t time_count, runs;
  double (*value)(const void *context, uint32_t run, uint32_t time);
  const void *context;
} FanSignal;

/* Appends an SVG document with a panel for each signal. O(times * runs log runs) each. */
void fan_svg(Heap *heap, const FanSignal *signals, uint32_t count, const char *title, TextVec *text);
