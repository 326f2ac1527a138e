/* panel: which series of a plot share a panel, and their axes. SVG and terminal plots share this part. */
#pragma once

#include "result/axis.h"
#include "result/plot.h"

typedef struct Panel {
  const char *unit; /* unit of its series; "": none */
  uint32_t group;
  IndexVec series;
  Axis y;
} Panel;

typedef struct PanelOptions {
  uint32_t series_each; /* the most series in a panel; further ones of a unit open another */
  uint32_t most;        /* the most panels */
  uint32_t x_ticks;     /* approximate */
} PanelOptions;

typedef struct Panels {
  VEC(Panel) list;
  Axis x;
  uint32_t hidden; /* series beyond the last panel, and those left out before */
} Panels;

/* Groups series by unit in order of appearance. panels_scale makes the y axes later. O(points). */
Panels panels_make(Heap *heap, const Plot *plot, const PanelOptions *options);

/* Gives every panel its y axis with about `ticks` ticks. O(points). */
void panels_scale(Panels *panels, const Plot *plot, uint32_t ticks);

void panels_free(Heap *heap, Panels *panels);

/* Can point i of a series be drawn? */
bool panel_drawable(const Plot *plot, const PlotSeries *series, size_t i);

/* Appends "label [unit]"; either part may be missing. */
void panel_label(Heap *heap, TextVec *text, const char *label, const char *unit);
