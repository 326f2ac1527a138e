/* heatmap: see heatmap.h. Cells meet halfway between the values. The axis is logarithmic if the values are spaced by factors. */
#include "result/heatmap.h"

#include "result/axis.h"
#include "result/svg.h"

#include <math.h>
#include <stdio.h>

enum {
  PANEL_WIDTH = 400,
  FRAME_WIDTH = 260,
  FRAME_HEIGHT = 220,
  LEFT = 64,
  HEAD = 30,
  FOOT = 48,
  BAR = 14,
  SHADES = 9
};

typedef struct Drawing {
  Heap *heap;
  TextVec *text;
  const HeatmapAxis *x, *y;
  Axis x_axis, y_axis;
  double left, top; /* corner of the present frame */
} Drawing;

/* Points of the map "viridis" of Smith and van der Walt (2015), dark to light: uniform in lightness, and readable for the
 * colour-blind. */
static const unsigned char shade[SHADES][3] = {{68, 1, 84},    {71, 44, 122},  {59, 81, 139},
                                               {44, 113, 142}, {33, 144, 141}, {39, 173, 129},
                                               {92, 200, 99},  {170, 220, 50}, {253, 231, 37}};

/* "#rrggbb" for a place between 0 and 1. */
static void colour_at(double place, char out[8]) {
  double position = fmin(fmax(place, 0), 1) * (SHADES - 1);
  int below = position < SHADES - 1 ? (int)position : SHADES - 2;
  double part = position - below;
  unsigned mixed[3];
  for (int c = 0; c < 3; c++) mixed[c] = (unsigned)lround((1 - part) * shade[below][c] + part * shade[below + 1][c]);
  snprintf(out, 8, "#%02x%02x%02x", mixed[0] & 255, mixed[1] & 255, mixed[2] & 255);
}

/* Are the values spaced by factors rather than by differences? */
static bool is_logarithmic(const HeatmapAxis *axis) {
  double first = axis->values[0], last = axis->values[axis->count - 1], middle = axis->values[axis->count / 2];
  if (axis->count < 3 || !(first > 0 && last > 0)) return false;
  double part = (double)(axis->count / 2) / (axis->count - 1);
  double even = first + part * (last - first), geometric = first * pow(last / first, part);
  return fabs(middle - geometric) < 0.1 * fabs(middle - even);
}

static double halfway(double a, double b, bool logarithmic) { return logarithmic ? sqrt(a * b) : (a + b) / 2; }

/* The edge before value k. An outer edge is as far from its value as the next edge is. */
static double edge(const HeatmapAxis *axis, uint32_t k, bool logarithmic) {
  const double *v = axis->values;
  uint32_t last = axis->count - 1;
  if (k > 0 && k <= last) return halfway(v[k - 1], v[k], logarithmic);
  double end = k ? v[last] : v[0],
         next = k ? halfway(v[last - 1], v[last], logarithmic) : halfway(v[0], v[1], logarithmic);
  return logarithmic ? end * end / next : 2 * end - next;
}

static Axis make_axis(const HeatmapAxis *axis) {
  bool logarithmic = is_logarithmic(axis);
  double a = edge(axis, 0, logarithmic), b = edge(axis, axis->count, logarithmic);
  return axis_make(fmin(a, b), fmax(a, b), logarithmic, 0, 5);
}

static double x_pixel(const Drawing *drawing, double value) {
  return drawing->left + FRAME_WIDTH * axis_place(&drawing->x_axis, value);
}

static double y_pixel(const Drawing *drawing, double value) {
  return drawing->top + FRAME_HEIGHT * (1 - axis_place(&drawing->y_axis, value));
}

static void put_rectangle(Drawing *drawing, double x0, double x1, double y0, double y1, const char *colour) {
  svg_print(drawing->heap, drawing->text, "<path shape-rendering=\"crispEdges\" fill=\"%s\" d=\"M%f %fH%fV%fH%fz\"/>\n",
            colour, x0, y0, x1, y1, x0);
}

static void draw_cells(Drawing *drawing, const Heatmap *map, const Axis *scale) {
  bool log_x = drawing->x_axis.logarithmic, log_y = drawing->y_axis.logarithmic;
  for (uint32_t i = 0; i < drawing->x->count; i++)
    for (uint32_t j = 0; j < drawing->y->count; j++) {
      double value = map->value(map->context, i, j);
      char colour[8];
      if (!isfinite(value)) continue;
      colour_at(axis_place(scale, value), colour);
      put_rectangle(drawing, x_pixel(drawing, edge(drawing->x, i, log_x)),
                    x_pixel(drawing, edge(drawing->x, i + 1, log_x)), y_pixel(drawing, edge(drawing->y, j, log_y)),
                    y_pixel(drawing, edge(drawing->y, j + 1, log_y)), colour);
    }
}

static void put_words(Drawing *drawing, double x, double y, const char *attributes, const char *words) {
  enum { MOST = 40 };
  svg_words(drawing->heap, drawing->text, x, y, attributes, words, MOST);
}

static void draw_axes(Drawing *drawing) {
  const Axis *x = &drawing->x_axis, *y = &drawing->y_axis;
  double right = drawing->left + FRAME_WIDTH, bottom = drawing->top + FRAME_HEIGHT,
         middle = (drawing->top + bottom) / 2;
  char turned[80];
  svg_print(drawing->heap, drawing->text, "<path fill=\"none\" stroke=\"#555\" d=\"M%f %fH%fV%fH%fz\"/>\n",
            drawing->left, drawing->top, right, bottom, drawing->left);
  for (uint32_t i = 0; i < x->ticks; i++)
    put_words(drawing, x_pixel(drawing, x->tick[i]), bottom + 16, "text-anchor=\"middle\"", x->label[i]);
  for (uint32_t i = 0; i < y->ticks; i++)
    put_words(drawing, drawing->left - 5, y_pixel(drawing, y->tick[i]) + 4, "text-anchor=\"end\"", y->label[i]);
  put_words(drawing, (drawing->left + right) / 2, bottom + 33, "text-anchor=\"middle\"", drawing->x->name);
  snprintf(turned, sizeof turned, "text-anchor=\"middle\" transform=\"rotate(-90 %d %d)\"", (int)drawing->left - 48,
           (int)middle);
  put_words(drawing, floor(drawing->left) - 48, floor(middle), turned, drawing->y->name);
}

static void draw_scale(Drawing *drawing, const Axis *scale) {
  enum { STEPS = 44 };
  double left = drawing->left + FRAME_WIDTH + 12, height = (double)FRAME_HEIGHT / STEPS;
  for (int k = 0; k < STEPS; k++) {
    char colour[8];
    colour_at((k + 0.5) / STEPS, colour);
    double bottom = drawing->top + FRAME_HEIGHT - k * height;
    put_rectangle(drawing, left, left + BAR, bottom, bottom - height, colour);
  }
  for (uint32_t i = 0; i < scale->ticks; i++)
    put_words(drawing, left + BAR + 4, drawing->top + FRAME_HEIGHT * (1 - axis_place(scale, scale->tick[i])) + 4, "",
              scale->label[i]);
  if (*scale->note) put_words(drawing, left, drawing->top - 4, "font-size=\"11\"", scale->note);
}

static Axis make_scale(const Drawing *drawing, const Heatmap *map) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (uint32_t i = 0; i < drawing->x->count; i++)
    for (uint32_t j = 0; j < drawing->y->count; j++) {
      double value = map->value(map->context, i, j);
      if (isfinite(value)) low = fmin(low, value), high = fmax(high, value);
    }
  return axis_make(low, high, false, 0, 6);
}

void heatmap_svg(Heap *heap, const HeatmapAxis *x, const HeatmapAxis *y, const Heatmap *maps, uint32_t count,
                 const char *title, TextVec *text) {
  Drawing drawing = {.heap = heap, .text = text, .x = x, .y = y, .x_axis = make_axis(x), .y_axis = make_axis(y)};
  uint32_t across = count > 1 ? 2 : 1, rows = (count + across - 1) / across;
  double above = title ? 34 : 10, each = HEAD + FRAME_HEIGHT + FOOT;
  svg_begin(heap, text, (double)PANEL_WIDTH * across, above + each * rows, title);
  if (title)
    put_words(&drawing, PANEL_WIDTH * across / 2.0, 22, "text-anchor=\"middle\" font-size=\"15\" fill=\"#111\"", title);
  for (uint32_t k = 0; k < count; k++) {
    Axis scale = make_scale(&drawing, &maps[k]);
    drawing.left = LEFT + (double)PANEL_WIDTH * (k % across);
    drawing.top = above + HEAD + each * (k / across);
    put_words(&drawing, drawing.left + FRAME_WIDTH / 2.0, drawing.top - 8, "text-anchor=\"middle\"", maps[k].label);
    draw_cells(&drawing, &maps[k], &scale);
    draw_axes(&drawing);
    draw_scale(&drawing, &scale);
  }
  svg_end(heap, text);
}
