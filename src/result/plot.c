/* plot: the SVG side of plot.h. Curves are drawn in tenths of a pixel, as integers relative to the point before, which halves the
 * size of the file. */
#include "result/plot.h"

#include "base/utf8.h"
#include "result/panel.h"
#include "result/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  WIDTH = 800,
  SERIES_EACH = 3 * SVG_COLOURS, /* with more series, colours and dashes repeat */
  MOST_PANELS = 12,
  BYTES_OF_CURVES = 150000,
  BYTES_A_POINT = 8, /* a point takes at most this many bytes, with rare exceptions */
  LABEL_LENGTH = 44,
};

/* About the width of a character at the font size in use. */
static const double character_width = 6.7, line_height = 18;

typedef struct Drawing {
  Heap *heap;
  const Plot *plot;
  TextVec *text;
  Panels panels;
  double left, right; /* of the frames */
  double top, bottom; /* edges of the present panel's frame */
  size_t points_each; /* the most points that a series may draw */
} Drawing;

Plot plot_signals(Arena *arena, const Trajectory *trajectory, const char *title, const uint32_t *chosen,
                  uint32_t count) {
  double *time = arena_array(arena, trajectory->rows, sizeof *time);
  for (size_t row = 0; row < trajectory->rows; row++) time[row] = trajectory_time(trajectory, row);
  PlotSeries *series = arena_array(arena, count, sizeof *series);
  for (uint32_t i = 0; i < count; i++) {
    const Signal *signal = &trajectory->signals->list.data[chosen[i]];
    double *value = arena_array(arena, trajectory->rows, sizeof *value);
    for (size_t row = 0; row < trajectory->rows; row++)
      value[row] = signal_value(signal, trajectory_row(trajectory, row));
    series[i] =
        (PlotSeries){.label = signal->name, .unit = signal->unit, .x = time, .y = value, .count = trajectory->rows};
  }
  return (Plot){.title = title, .series = series, .count = count};
}

static void put(Drawing *drawing, const char *bytes) {
  text_append(drawing->heap, drawing->text, bytes, strlen(bytes));
}

static double x_pixel(const Drawing *drawing, double x) {
  return drawing->left + (drawing->right - drawing->left) * axis_place(&drawing->panels.x, x);
}

static double y_pixel(const Drawing *drawing, const Panel *panel, double y) {
  return drawing->bottom - (drawing->bottom - drawing->top) * axis_place(&panel->y, y);
}

static void put_text(Drawing *drawing, double x, double y, const char *attributes, const char *words) {
  svg_words(drawing->heap, drawing->text, x, y, attributes, words, UINT32_MAX);
}

/* ---- curves ---- */

/* Pixels in tenths. */
typedef struct Dot {
  long x, y;
} Dot;

typedef struct Pen {
  Drawing *drawing; /* NULL: points are only counted */
  Dot at;
  bool down, moved; /* down: a curve has begun; moved: the curve has more than its first point */
  size_t points;
} Pen;

static void put_pair(Drawing *drawing, bool first, Dot dot) {
  text_printf(drawing->heap, drawing->text, first || dot.x < 0 ? "%ld" : " %ld", dot.x);
  text_printf(drawing->heap, drawing->text, dot.y < 0 ? "%ld" : " %ld", dot.y);
}

static void pen_up(Pen *pen) {
  if (pen->down && !pen->moved && pen->drawing) put(pen->drawing, "l0 0"); /* a single point is drawn as a round dot */
  pen->down = pen->moved = false;
}

static void pen_to(Pen *pen, Dot dot) {
  if (pen->down && dot.x == pen->at.x && dot.y == pen->at.y) return;
  pen->points++;
  if (pen->drawing) {
    put(pen->drawing, !pen->down ? "M" : !pen->moved ? "l" : "");
    Dot relative = {dot.x - pen->at.x, dot.y - pen->at.y};
    put_pair(pen->drawing, !pen->down || !pen->moved, pen->down ? relative : dot);
  }
  pen->moved = pen->down;
  pen->down = true;
  pen->at = dot;
}

/* The points that fall into one pixel column: those that decide how it looks. */
typedef struct PixelColumn {
  bool any;
  long index;
  Dot first, last, least, greatest;
  bool least_before_greatest;
} PixelColumn;

static void column_add(PixelColumn *column, Dot dot) {
  if (dot.y < column->least.y) column->least = dot, column->least_before_greatest = false;
  if (dot.y > column->greatest.y) column->greatest = dot, column->least_before_greatest = true;
  column->last = dot;
}

static void column_draw(PixelColumn *column, Pen *pen) {
  if (!column->any) return;
  pen_to(pen, column->first);
  pen_to(pen, column->least_before_greatest ? column->least : column->greatest);
  pen_to(pen, column->least_before_greatest ? column->greatest : column->least);
  pen_to(pen, column->last);
  column->any = false;
}

/* Draws the series with columns `width` tenths of a pixel wide; width 0: every point. */
static void trace(const Drawing *drawing, const Panel *panel, const PlotSeries *series, long width, Pen *pen) {
  PixelColumn column = {0};
  for (size_t i = 0; i < series->count; i++) {
    if (!panel_drawable(drawing->plot, series, i)) {
      column_draw(&column, pen);
      pen_up(pen);
      continue;
    }
    Dot dot = {lround(10 * x_pixel(drawing, series->x[i])), lround(10 * y_pixel(drawing, panel, series->y[i]))};
    if (width == 0) {
      pen_to(pen, dot);
    } else if (column.any && dot.x / width == column.index) {
      column_add(&column, dot);
    } else {
      column_draw(&column, pen);
      column =
          (PixelColumn){.any = true, .index = dot.x / width, .first = dot, .last = dot, .least = dot, .greatest = dot};
    }
  }
  column_draw(&column, pen);
  pen_up(pen);
}

/* The narrowest columns for which the series does not exceed its share of the file. */
static long column_width(const Drawing *drawing, const Panel *panel, const PlotSeries *series) {
  if (series->count <= drawing->points_each) return 0;
  for (long width = 10;; width *= 2) {
    Pen counter = {0};
    trace(drawing, panel, series, width, &counter);
    if (counter.points <= drawing->points_each || width > 100000) return width;
  }
}

/* A band has the colour of the line after it. */
static uint32_t lines_before(const Drawing *drawing, const Panel *panel, uint32_t place) {
  uint32_t lines = 0;
  for (uint32_t i = 0; i < place; i++) lines += !drawing->plot->series[panel->series.data[i]].upper;
  return lines;
}

/* Along the lower edge, and back along the upper one. */
static void draw_band(Drawing *drawing, const Panel *panel, const PlotSeries *series, uint32_t place) {
  svg_print(drawing->heap, drawing->text, "<path stroke=\"none\" fill=\"%s\" fill-opacity=\".22\" d=\"",
            svg_colour(place));
  Pen pen = {.drawing = drawing};
  for (size_t k = 0; k < 2 * series->count; k++) {
    size_t i = k < series->count ? k : 2 * series->count - 1 - k;
    double y = k < series->count ? series->y[i] : series->upper[i];
    if (!panel_drawable(drawing->plot, series, i)) continue;
    pen_to(&pen, (Dot){lround(10 * x_pixel(drawing, series->x[i])), lround(10 * y_pixel(drawing, panel, y))});
  }
  put(drawing, "z\"><title>");
  svg_escape(drawing->heap, drawing->text, series->label, UINT32_MAX);
  put(drawing, "</title></path>\n");
}

/* A path of single points, drawn by its round ends. */
static void draw_dots(Drawing *drawing, const Panel *panel, const PlotSeries *series, uint32_t place) {
  svg_print(drawing->heap, drawing->text, "<path stroke=\"%s\" stroke-width=\"42\" d=\"", svg_colour(place));
  Pen pen = {.drawing = drawing};
  for (size_t i = 0; i < series->count; i++) {
    if (!panel_drawable(drawing->plot, series, i)) continue;
    pen_to(&pen,
           (Dot){lround(10 * x_pixel(drawing, series->x[i])), lround(10 * y_pixel(drawing, panel, series->y[i]))});
    pen_up(&pen);
  }
  put(drawing, "\"><title>");
  svg_escape(drawing->heap, drawing->text, series->label, UINT32_MAX);
  put(drawing, "</title></path>\n");
}

static void draw_curve(Drawing *drawing, const Panel *panel, const PlotSeries *series, uint32_t place) {
  static const char *const dash[] = {"", " stroke-dasharray=\"70 30\"", " stroke-dasharray=\"15 25\""};
  svg_print(drawing->heap, drawing->text, "<path stroke=\"%s\"%s d=\"", svg_colour(place),
            dash[place / SVG_COLOURS % 3]);
  Pen pen = {.drawing = drawing};
  trace(drawing, panel, series, column_width(drawing, panel, series), &pen);
  put(drawing, "\"><title>");
  svg_escape(drawing->heap, drawing->text, series->label, UINT32_MAX);
  put(drawing, "</title></path>\n");
}

static void draw_series(Drawing *drawing, const Panel *panel) {
  put(drawing, "<g transform=\"scale(.1)\" fill=\"none\" stroke-width=\"16\" stroke-linecap=\"round\" "
               "stroke-linejoin=\"round\">\n");
  for (uint32_t i = 0; i < panel->series.count; i++) {
    const PlotSeries *series = &drawing->plot->series[panel->series.data[i]];
    uint32_t place = lines_before(drawing, panel, i);
    if (series->upper) draw_band(drawing, panel, series, place);
    else if (series->dots) draw_dots(drawing, panel, series, place);
    else draw_curve(drawing, panel, series, place);
  }
  put(drawing, "</g>\n");
}

/* ---- frame, grid, labels ---- */

static void grid_line(Drawing *drawing, bool vertical, double at) {
  if (vertical) svg_print(drawing->heap, drawing->text, "M%f %fV%f", at, drawing->bottom, drawing->top);
  else svg_print(drawing->heap, drawing->text, "M%f %fH%f", drawing->left, at, drawing->right);
}

static void draw_grid(Drawing *drawing, const Panel *panel, bool minor) {
  const Axis *x = &drawing->panels.x, *y = &panel->y;
  put(drawing, minor ? "<path stroke=\"#f0f0f0\" d=\"" : "<path stroke=\"#dcdcdc\" d=\"");
  for (uint32_t i = 0; i < (minor ? x->minor_ticks : x->ticks); i++)
    grid_line(drawing, true, x_pixel(drawing, minor ? x->minor[i] : x->tick[i]));
  for (uint32_t i = 0; i < (minor ? y->minor_ticks : y->ticks); i++)
    grid_line(drawing, false, y_pixel(drawing, panel, minor ? y->minor[i] : y->tick[i]));
  put(drawing, "\"/>\n");
}

static void draw_frame(Drawing *drawing) {
  svg_print(drawing->heap, drawing->text, "<path fill=\"none\" stroke=\"#555\" d=\"M%f %fV%fH%f\"/>\n", drawing->left,
            drawing->top, drawing->bottom, drawing->right);
}

static void draw_y_labels(Drawing *drawing, const Panel *panel) {
  for (uint32_t i = 0; i < panel->y.ticks; i++) {
    put_text(drawing, drawing->left - 6, y_pixel(drawing, panel, panel->y.tick[i]) + 4, "text-anchor=\"end\"",
             panel->y.label[i]);
  }
  if (*panel->y.note)
    put_text(drawing, drawing->left, drawing->top - 5, "text-anchor=\"end\" font-size=\"11\"", panel->y.note);
}

/* A short line at the axis for each pixel that has an event. */
static void draw_events(Drawing *drawing) {
  const Plot *plot = drawing->plot;
  long last = -1;
  if (!plot->events) return;
  put(drawing, "<path stroke=\"#b03060\" stroke-width=\"1\" d=\"");
  for (uint32_t k = 0; k < plot->events; k++) {
    double x = x_pixel(drawing, plot->event[k]);
    if (!(x >= drawing->left && x <= drawing->right) || lround(x) == last) continue;
    last = lround(x);
    text_printf(drawing->heap, drawing->text, "M%ld %ldv-7", last, lround(drawing->bottom));
  }
  put(drawing, "\"><title>events</title></path>\n");
}

static void draw_x_labels(Drawing *drawing) {
  const Axis *x = &drawing->panels.x;
  for (uint32_t i = 0; i < x->ticks; i++)
    put_text(drawing, x_pixel(drawing, x->tick[i]), drawing->bottom + 17, "text-anchor=\"middle\"", x->label[i]);
  if (*x->note)
    put_text(drawing, drawing->right, drawing->bottom + 33, "text-anchor=\"end\" font-size=\"11\"", x->note);
  put_text(drawing, (drawing->left + drawing->right) / 2, drawing->bottom + 35, "text-anchor=\"middle\"",
           drawing->plot->x_label ? drawing->plot->x_label : "time [s]");
}

/* A single series is named at the axis instead of in a legend, if its name fits there. */
static bool named_at_axis(const Drawing *drawing, const Panel *panel, double height) {
  if (drawing->plot->y_label || panel->series.count != 1) return false;
  const PlotSeries *series = &drawing->plot->series[panel->series.data[0]];
  return (double)(utf8_count(series->label) + utf8_count(panel->unit) + 3) * character_width < height;
}

static void draw_y_title(Drawing *drawing, const Panel *panel) {
  TextVec label = {0};
  const char *name = drawing->plot->y_label;
  if (named_at_axis(drawing, panel, drawing->bottom - drawing->top))
    name = drawing->plot->series[panel->series.data[0]].label;
  panel_label(drawing->heap, &label, name, panel->unit);
  if (label.count) {
    char attributes[96];
    int middle = (int)((drawing->top + drawing->bottom) / 2);
    snprintf(attributes, sizeof attributes, "text-anchor=\"middle\" transform=\"rotate(-90 15 %d)\"", middle);
    put_text(drawing, 15, middle, attributes, label.data);
  }
  vec_free(drawing->heap, &label);
}

/* ---- legend ---- */

static double entry_width(const PlotSeries *series) {
  size_t characters = utf8_count(series->label);
  return 50 + character_width * (double)(characters < LABEL_LENGTH ? characters : LABEL_LENGTH);
}

static void draw_entry(Drawing *drawing, const PlotSeries *series, uint32_t place, double x, double y) {
  static const char *const dash[] = {"", " stroke-dasharray=\"7 3\"", " stroke-dasharray=\"1.5 2.5\""};
  Heap *heap = drawing->heap;
  const char *stroke = series->upper  ? "stroke-width=\"10\" stroke-opacity=\".22\""
                       : series->dots ? "stroke-width=\"5\" stroke-linecap=\"round\" stroke-dasharray=\"0 9\""
                                      : "stroke-width=\"2\"";
  text_printf(heap, drawing->text, "<path stroke=\"%s\" %s%s d=\"M%ld %ldh22\"/>\n", svg_colour(place), stroke,
              series->dots ? "" : dash[place / SVG_COLOURS % 3], lround(x), lround(y));
  svg_words(heap, drawing->text, round(x) + 28, round(y) + 4, "", series->label, LABEL_LENGTH);
}

/* Draws the legend with its first line at `y` (or, if `draw` is false, only measures it); returns the number of its lines. */
static uint32_t legend(Drawing *drawing, const Panel *panel, double y, bool draw) {
  double x = drawing->left + 4;
  uint32_t lines = panel->series.count ? 1 : 0;
  for (uint32_t i = 0; i < panel->series.count; i++) {
    const PlotSeries *series = &drawing->plot->series[panel->series.data[i]];
    double width = entry_width(series);
    if (x + width > drawing->right && x > drawing->left + 4) x = drawing->left + 4, lines++;
    if (draw) draw_entry(drawing, series, lines_before(drawing, panel, i), x, y + line_height * (lines - 1));
    x += width;
  }
  return lines;
}

/* ---- the whole ---- */

static double title_height(const Plot *plot) { return plot->title ? 34 : 10; }

/* Above a frame: the legend, and room for the note of the axis when there is none. */
static double head_height(Drawing *drawing, const Panel *panel, double frame) {
  if (named_at_axis(drawing, panel, frame)) return 20;
  return 8 + line_height * legend(drawing, panel, 0, false);
}

static double frame_height(Drawing *drawing, double *total) {
  const Panels *panels = &drawing->panels;
  double count = panels->list.count, fixed = title_height(drawing->plot) + 46 + (panels->hidden ? 16 : 0);
  double frame = panels->list.count == 1 ? 330 : panels->list.count == 2 ? 210 : 150;
  double heads = 0;
  for (uint32_t i = 0; i < panels->list.count; i++) heads += head_height(drawing, &panels->list.data[i], frame);
  *total = fixed + heads + frame * count;
  return frame;
}

/* Room for the longest tick label and the rotated title. */
static void place_frames(Drawing *drawing) {
  size_t longest = 0;
  for (uint32_t p = 0; p < drawing->panels.list.count; p++) {
    const Axis *y = &drawing->panels.list.data[p].y;
    for (uint32_t i = 0; i < y->ticks; i++) {
      size_t length = utf8_count(y->label[i]);
      if (length > longest) longest = length;
    }
    size_t note = utf8_count(y->note);
    if (note > longest + 4) longest = note - 4;
  }
  drawing->left = 32 + character_width * (double)longest;
  drawing->right = (double)WIDTH - 22;
}

static void draw_panel(Drawing *drawing, const Panel *panel) {
  if (!named_at_axis(drawing, panel, drawing->bottom - drawing->top)) {
    uint32_t lines = legend(drawing, panel, 0, false);
    legend(drawing, panel, drawing->top - 12 - line_height * (lines - 1.0), true);
  }
  draw_grid(drawing, panel, true);
  draw_grid(drawing, panel, false);
  draw_frame(drawing);
  draw_y_labels(drawing, panel);
  draw_y_title(drawing, panel);
  draw_series(drawing, panel);
  draw_events(drawing);
}

static void draw_panels(Drawing *drawing, double frame) {
  drawing->bottom = title_height(drawing->plot);
  for (uint32_t i = 0; i < drawing->panels.list.count; i++) {
    const Panel *panel = &drawing->panels.list.data[i];
    drawing->top = drawing->bottom + head_height(drawing, panel, frame);
    drawing->bottom = drawing->top + frame;
    draw_panel(drawing, panel);
  }
  draw_x_labels(drawing);
}

void plot_svg(Heap *heap, const Plot *plot, TextVec *text) {
  Drawing drawing = {.heap = heap, .plot = plot, .text = text};
  const PanelOptions options = {SERIES_EACH, MOST_PANELS, 10};
  drawing.panels = panels_make(heap, plot, &options);
  drawing.points_each = BYTES_OF_CURVES / BYTES_A_POINT / (plot->count ? plot->count : 1);
  if (drawing.points_each < 40) drawing.points_each = 40;
  panels_scale(&drawing.panels, plot, drawing.panels.list.count == 1 ? 7 : 4);
  place_frames(&drawing);
  double height, frame = frame_height(&drawing, &height);
  svg_begin(heap, text, (double)WIDTH, height, plot->title);
  if (plot->title)
    put_text(&drawing, (double)WIDTH / 2, 22, "text-anchor=\"middle\" font-size=\"15\" fill=\"#111\"", plot->title);
  draw_panels(&drawing, frame);
  if (drawing.panels.hidden) {
    char note[64];
    snprintf(note, sizeof note, "%u more signal%s not shown", drawing.panels.hidden,
             drawing.panels.hidden == 1 ? " is" : "s are");
    put_text(&drawing, drawing.left, height - 6, "font-size=\"11\" fill=\"#777\"", note);
  }
  svg_end(heap, text);
  panels_free(heap, &drawing.panels);
}
