/* fan: see fan.h. */
#include "result/fan.h"

#include <math.h>
#include <stdlib.h>

enum { LEVELS = 5, SERIES = 3 };
static const double levels[LEVELS] = {0.05, 0.25, 0.5, 0.75, 0.95};

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Interpolates between the values at the two nearest places. */
static double quantile(const double *sorted, uint32_t count, double level) {
  if (!count) return NAN;
  double place = level * (count - 1);
  uint32_t below = (uint32_t)place, above = below + 1 < count ? below + 1 : below;
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

/* The curves of the levels, one after another. */
static double *quantile_curves(Arena *arena, const FanSignal *signal, double *sorted) {
  double *curves = arena_array(arena, (size_t)LEVELS * signal->time_count, sizeof *curves);
  for (uint32_t t = 0; t < signal->time_count; t++) {
    uint32_t count = 0;
    for (uint32_t run = 0; run < signal->runs; run++) {
      double value = signal->value(signal->context, run, t);
      if (isfinite(value)) sorted[count++] = value;
    }
    qsort(sorted, count, sizeof *sorted, ascending);
    for (uint32_t l = 0; l < LEVELS; l++) curves[l * signal->time_count + t] = quantile(sorted, count, levels[l]);
  }
  return curves;
}

static void add_series(PlotSeries *series, const FanSignal *signal, const double *curves, uint32_t group) {
  uint32_t count = signal->time_count;
  const PlotSeries common = {.x = signal->times, .count = count, .group = group};
  for (uint32_t s = 0; s < SERIES; s++) series[s] = common;
  series[0].label = "5 to 95 %", series[0].y = curves, series[0].upper = curves + 4 * (size_t)count;
  series[1].label = "25 to 75 %", series[1].y = curves + count, series[1].upper = curves + 3 * (size_t)count;
  series[2].label = signal->label, series[2].y = curves + 2 * (size_t)count;
}

void fan_svg(Heap *heap, const FanSignal *signals, uint32_t count, const char *title, TextVec *text) {
  Arena arena = arena_make(heap);
  PlotSeries *series = arena_array(&arena, (size_t)SERIES * count, sizeof *series);
  for (uint32_t k = 0; k < count; k++) {
    double *sorted = arena_array(&arena, signals[k].runs, sizeof *sorted);
    add_series(&series[SERIES * k], &signals[k], quantile_curves(&arena, &signals[k], sorted), k);
  }
  plot_svg(heap, &(Plot){.title = title, .series = series, .count = SERIES * count}, text);
  arena_free(&arena);
}
