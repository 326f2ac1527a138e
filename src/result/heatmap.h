/* heatmap: numbers over two variables as coloured cells, a panel for each output. */
#pragma once

#include "base/vec.h"

typedef struct HeatmapAxis {
  const char *name;
  const double *values; /* ascending or descending; drawn logarithmically if spaced by factors */
  uint32_t count;
} HeatmapAxis;

typedef struct Heatmap {
  const char *label;
  double (*value)(const void *context, uint32_t x, uint32_t y); /* NaN: an empty cell */
  const void *context;
} Heatmap;

/* Appends an SVG document. O(cells). */
void heatmap_svg(Heap *heap, const HeatmapAxis *x, const HeatmapAxis *y, const Heatmap *maps, uint32_t count,
                 const char *title, TextVec *text);
