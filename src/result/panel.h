/* panel: which series of a plot share a panel, and the axes: the part of drawing that SVG and terminal share. */
#pragma once

#include "result/axis.h"
#include "result/plot.h"

typedef struct Panel {
  const char *unit; /* of its series; "" for none */
  IndexVec series;
  Axis y;
} Panel;

typedef struct PanelOptions {
  uint32_t series_each; /* at most, in a panel; further ones of a unit open another */
  uint32_t most;        /* panels */
  uint32_t x_ticks;     /* about */
} PanelOptions;

typedef struct Panels {
  VEC(Panel) list;
  Axis x;
  uint32_t hidden; /* series beyond the last panel, and those left out before */
} Panels;

/* Groups by unit in order of appearance. The y axes wait for panels_scale. O(points). */
Panels panels_make(Heap *heap, const Plot *plot, const PanelOptions *options);

/* Gives every panel its y axis with about `ticks` ticks. O(points). */
void panels_scale(Panels *panels, const Plot *plot, uint32_t ticks);

void panels_free(Heap *heap, Panels *panels);

/* Whether point i of a series can be drawn. */
bool panel_drawable(const Plot *plot, const PlotSeries *series, size_t i);

/* "label [unit]", either part may be missing. Appends to the text. */
void panel_label(Heap *heap, TextVec *text, const char *label, const char *unit);
