/* plot: line plots without another tool, as SVG or as text for a terminal.
 *
 * Series of one unit share a panel; panels are stacked over one common x axis. A series of any length is drawn with at
 * most a few points a pixel column (first, least, greatest, last), so that extremes are never lost and the SVG stays
 * below about 200 kB. A value that is not finite, or not positive on a logarithmic axis, is a gap.
 */
#pragma once

#include "result/trajectory.h"

typedef struct PlotSeries {
  const char *label;
  const char *unit; /* NULL or "": none. Decides the panel */
  const double *x, *y;
  size_t count;
  const double *low, *high; /* of a band around the curve; NULL: none */
} PlotSeries;

typedef struct Plot {
  const char *title;   /* NULL: none */
  const char *x_label; /* NULL: time */
  const char *y_label; /* NULL: the label of a lone series, and the unit */
  bool log_x, log_y;
  uint32_t left_out; /* series that were chosen and are not here: the picture says so */
  const PlotSeries *series;
  uint32_t count;
} Plot;

/* Series of the chosen signals against time. The series live in the arena; texts are those of the table.
 * O(rows * count). */
Plot plot_signals(Arena *arena, const Trajectory *trajectory, const char *title, const uint32_t *chosen,
                  uint32_t count);

/* Appends one SVG document. O(points). */
void plot_svg(Heap *heap, const Plot *plot, TextVec *text);

/* Appends the plot in Braille characters, a panel for each series, as lines of at most `width` characters, about
 * `height` lines a panel (both have sensible minima); every line ends with a line break. O(points). */
void plot_text(Heap *heap, const Plot *plot, uint32_t width, uint32_t height, TextVec *text);
