/* plot: line plots without another tool, as SVG or as text for a terminal.
 *
 * Series of one unit share a panel; panels are stacked over one common x axis. A series of any length is drawn with at most a few
 * points in each pixel column (first, smallest, largest, last). So extremes are never lost, and the SVG stays below about 200 kB. A
 * value that is not finite, or not positive on a logarithmic axis, is a gap. */
#pragma once

#include "result/trajectory.h"

typedef struct PlotSeries {
  const char *label;
  const char *unit; /* NULL or "": none. Decides the panel */
  const double *x, *y;
  const double *upper; /* the series is the band from y to this, in the colour of the next line; or NULL */
  size_t count;
  uint32_t group; /* series of other groups have other panels */
  bool dots;      /* points without lines between them */
} PlotSeries;

typedef struct Plot {
  const char *title;   /* NULL: none */
  const char *x_label; /* NULL: time */
  const char *y_label; /* NULL: the label of a single series, and the unit */
  bool log_x, log_y;
  uint32_t left_out; /* number of chosen series that are not here: the picture reports it */
  const PlotSeries *series;
  uint32_t count;
  const double *event; /* times of events, ascending, marked at the x axis; NULL: none */
  uint32_t events;
} Plot;

/* Series of the chosen signals against time. The series live in the arena; texts belong to the table.
 * O(rows * count). */
Plot plot_signals(Arena *arena, const Trajectory *trajectory, const char *title, const uint32_t *chosen,
                  uint32_t count);

/* Appends one SVG document. O(points). */
void plot_svg(Heap *heap, const Plot *plot, TextVec *text);

/* Appends the plot in Braille characters, with a panel for each series. Lines have at most `width` characters and a panel about
 * `height` lines (both have sensible minima); every line ends with a line break. O(points). */
void plot_text(Heap *heap, const Plot *plot, uint32_t width, uint32_t height, TextVec *text);
