/* plot_text: the terminal side of plot.h. A panel is a grid of character cells of two by four dots each, Braille
 * characters (U+2800 and a bit for each dot). Lines between points are drawn dot by dot. */
#include "result/plot.h"

#include "base/utf8.h"
#include "result/panel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  LEAST_WIDTH = 30,
  MOST_WIDTH = 1000,
  LEAST_HEIGHT = 5,
  MOST_HEIGHT = 200,
  MOST_PANELS = 8,
  DOTS_WIDE = 2, /* of a cell */
  DOTS_HIGH = 4
};

typedef struct Canvas {
  Heap *heap;
  const Plot *plot;
  TextVec *text;
  Panels panels;
  uint32_t width, height; /* cells of a panel's inside */
  uint32_t margin;        /* characters left of the frame */
  uint8_t *dots;          /* by cell: Braille bits */
  TextVec words;          /* scratch of shown() */
} Canvas;

static void put(Canvas *canvas, const char *bytes) { text_append(canvas->heap, canvas->text, bytes, strlen(bytes)); }

static void put_blanks(Canvas *canvas, size_t count) {
  for (; count > 0; count--) put(canvas, " ");
}

static long last_dot_across(const Canvas *canvas) { return (long)canvas->width * DOTS_WIDE - 1; }
static long last_dot_down(const Canvas *canvas) { return (long)canvas->height * DOTS_HIGH - 1; }

/* ---- dots ---- */

static void set_dot(Canvas *canvas, int x, int y) {
  /* Bits of U+2800: the left column is 1, 2, 4, 64, the right one 8, 16, 32, 128, from the top. */
  static const uint8_t bit[DOTS_HIGH][DOTS_WIDE] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
  size_t cell = (size_t)(y / DOTS_HIGH) * canvas->width + (size_t)(x / DOTS_WIDE);
  canvas->dots[cell] |= bit[y % DOTS_HIGH][x % DOTS_WIDE];
}

static void draw_line(Canvas *canvas, const int from[2], const int to[2]) {
  int steps = abs(to[0] - from[0]) > abs(to[1] - from[1]) ? abs(to[0] - from[0]) : abs(to[1] - from[1]);
  for (int i = 0; i <= steps; i++) {
    double part = steps ? (double)i / steps : 0;
    set_dot(canvas, from[0] + (int)lround(part * (to[0] - from[0])), from[1] + (int)lround(part * (to[1] - from[1])));
  }
}

static void draw_series(Canvas *canvas, const Panel *panel, const PlotSeries *series) {
  int last[2] = {0, 0};
  bool down = false;
  double right = (double)last_dot_across(canvas), bottom = (double)last_dot_down(canvas);
  for (size_t i = 0; i < series->count; i++) {
    bool drawable = panel_drawable(canvas->plot, series, i);
    if (drawable) {
      int at[2] = {(int)lround(right * axis_place(&canvas->panels.x, series->x[i])),
                   (int)lround(bottom * (1 - axis_place(&panel->y, series->y[i])))};
      draw_line(canvas, down ? last : at, at);
      memcpy(last, at, sizeof last);
    }
    down = drawable;
  }
}

/* ---- text around them ---- */

/* Words as the terminal should show them: without control characters. Valid until the next call. */
static const char *shown(Canvas *canvas, const char *words) {
  size_t room = strlen(words);
  canvas->words.count = 0;
  text_append(canvas->heap, &canvas->words, "", 0);
  for (size_t i = 0; i < room;) {
    size_t size = utf8_length(words + i, room - i);
    bool control = (unsigned char)words[i] < 0x20 || words[i] == 0x7f;
    if (size == 0 || control) text_append(canvas->heap, &canvas->words, "?", 1);
    else text_append(canvas->heap, &canvas->words, words + i, size);
    i += size ? size : 1;
  }
  return canvas->words.data;
}

static void put_words(Canvas *canvas, const char *words) { put(canvas, shown(canvas, words)); }
static size_t shown_width(Canvas *canvas, const char *words) { return utf8_count(shown(canvas, words)); }

static void put_cell(Canvas *canvas, unsigned bits) {
  char braille[4] = {(char)0xe2, (char)(0xa0 | bits >> 6), (char)(0x80 | (bits & 63)), '\0'};
  put(canvas, bits ? braille : " ");
}

/* The cells of a line, without blanks at its end. */
static void put_cells(Canvas *canvas, uint32_t line) {
  const uint8_t *dots = canvas->dots + (size_t)line * canvas->width;
  uint32_t used = canvas->width;
  while (used > 0 && !dots[used - 1]) used--;
  for (uint32_t i = 0; i < used; i++) put_cell(canvas, dots[i]);
}

static long cell_across(const Canvas *canvas, double x) {
  return lround((double)last_dot_across(canvas) * axis_place(&canvas->panels.x, x)) / DOTS_WIDE;
}

/* The label of the tick in a line of cells; NULL when there is none. */
static const char *label_of_line(const Canvas *canvas, const Axis *y, uint32_t line) {
  for (uint32_t i = 0; i < y->ticks; i++) {
    long dot = lround((double)last_dot_down(canvas) * (1 - axis_place(y, y->tick[i])));
    if (dot / DOTS_HIGH == (long)line) return y->label[i];
  }
  return NULL;
}

static void put_line(Canvas *canvas, const Axis *y, uint32_t line) {
  const char *label = label_of_line(canvas, y, line);
  put_blanks(canvas, canvas->margin - 2 - (label ? shown_width(canvas, label) : 0));
  if (label) put_words(canvas, label);
  put(canvas, label ? " ┤" : " │");
  put_cells(canvas, line);
  put(canvas, "\n");
}

/* Appends words to a line that has `*column` characters so far, on a new line when they do not fit; words longer than a line are
 * cut. */
static void put_flowing(Canvas *canvas, const char *words, uint32_t *column) {
  uint32_t most = canvas->margin + canvas->width, width = (uint32_t)shown_width(canvas, words);
  if (*column + width > most && *column > canvas->margin) {
    put(canvas, "\n");
    put_blanks(canvas, *column = canvas->margin);
  }
  const char *text = shown(canvas, words);
  size_t room = strlen(text);
  for (size_t i = 0; i < room && *column < most; ++*column) {
    size_t size = utf8_length(text + i, room - i);
    text_append(canvas->heap, canvas->text, text + i, size ? size : 1);
    i += size ? size : 1;
  }
}

static void put_heading(Canvas *canvas, const Panel *panel) {
  uint32_t column = canvas->margin;
  put_blanks(canvas, canvas->margin);
  TextVec words = {0};
  for (uint32_t i = 0; i < panel->series.count; i++) {
    words.count = 0;
    text_printf(canvas->heap, &words, "━━ %s  ", canvas->plot->series[panel->series.data[i]].label);
    put_flowing(canvas, words.data, &column);
  }
  words.count = 0;
  panel_label(canvas->heap, &words, canvas->plot->y_label, panel->unit);
  if (*panel->y.note) text_printf(canvas->heap, &words, "%s%s", words.count ? "  " : "", panel->y.note);
  if (words.count) put_flowing(canvas, words.data, &column);
  put(canvas, "\n");
  vec_free(canvas->heap, &words);
}

static void put_centred(Canvas *canvas, const char *words) {
  size_t length = shown_width(canvas, words);
  uint32_t column = canvas->margin;
  size_t blanks = canvas->width > length ? (canvas->width - length) / 2 : 0;
  put_blanks(canvas, canvas->margin + blanks);
  column += (uint32_t)blanks;
  put_flowing(canvas, words, &column);
  put(canvas, "\n");
}

static bool has_event(const Canvas *canvas, long cell) {
  for (uint32_t k = 0; k < canvas->plot->events; k++)
    if (cell_across(canvas, canvas->plot->event[k]) == cell) return true;
  return false;
}

static void put_x_line(Canvas *canvas) {
  const Axis *x = &canvas->panels.x;
  put_blanks(canvas, canvas->margin - 1);
  put(canvas, "└");
  for (uint32_t i = 0; i < canvas->width; i++) {
    bool tick = false;
    for (uint32_t k = 0; k < x->ticks; k++) tick |= cell_across(canvas, x->tick[k]) == (long)i;
    bool event = has_event(canvas, (long)i);
    put(canvas, event ? (tick ? "┻" : "╹") : (tick ? "┴" : "─"));
  }
  put(canvas, "\n");
}

static void put_x_labels(Canvas *canvas) {
  const Axis *x = &canvas->panels.x;
  long column = 0, most = (long)(canvas->margin + canvas->width);
  for (uint32_t k = 0; k < x->ticks; k++) {
    long length = (long)shown_width(canvas, x->label[k]);
    long start = (long)canvas->margin + cell_across(canvas, x->tick[k]) - length / 2;
    if (start + length > most) start = most - length;
    if (start < column + (k > 0)) continue; /* the word would touch the one before it */
    put_blanks(canvas, (size_t)(start - column));
    put_words(canvas, x->label[k]);
    column = start + length;
  }
  put(canvas, "\n");
  TextVec words = {0};
  text_printf(canvas->heap, &words, "%s", canvas->plot->x_label ? canvas->plot->x_label : "time [s]");
  if (*x->note) text_printf(canvas->heap, &words, "  %s", x->note);
  put_centred(canvas, words.data);
  vec_free(canvas->heap, &words);
}

/* ---- the whole ---- */

static void put_panel(Canvas *canvas, const Panel *panel) {
  size_t cells = (size_t)canvas->width * canvas->height;
  memset(canvas->dots, 0, cells);
  for (uint32_t i = 0; i < panel->series.count; i++)
    draw_series(canvas, panel, &canvas->plot->series[panel->series.data[i]]);
  put_heading(canvas, panel);
  for (uint32_t line = 0; line < canvas->height; line++) put_line(canvas, &panel->y, line);
}

static uint32_t label_margin(Canvas *canvas) {
  size_t longest = 1;
  for (uint32_t p = 0; p < canvas->panels.list.count; p++) {
    const Axis *y = &canvas->panels.list.data[p].y;
    for (uint32_t i = 0; i < y->ticks; i++) {
      size_t width = shown_width(canvas, y->label[i]);
      if (width > longest) longest = width;
    }
  }
  return (uint32_t)longest + 2;
}

static uint32_t within(uint32_t value, uint32_t least, uint32_t most) {
  return value < least ? least : value > most ? most : value;
}

void plot_text(Heap *heap, const Plot *plot, uint32_t width, uint32_t height, TextVec *text) {
  Canvas canvas = {.heap = heap, .plot = plot, .text = text};
  width = within(width, LEAST_WIDTH, MOST_WIDTH);
  canvas.height = within(height, LEAST_HEIGHT, MOST_HEIGHT);
  const PanelOptions options = {1, MOST_PANELS, width / 9};
  canvas.panels = panels_make(heap, plot, &options);
  panels_scale(&canvas.panels, plot, canvas.height < 9 ? 3 : canvas.height / 3);
  canvas.margin = label_margin(&canvas);
  canvas.width = width > canvas.margin + 10 ? width - canvas.margin : 10;
  canvas.dots = heap_array(heap, canvas.width, canvas.height);
  if (plot->title) put_centred(&canvas, plot->title);
  for (uint32_t p = 0; p < canvas.panels.list.count; p++) put_panel(&canvas, &canvas.panels.list.data[p]);
  put_x_line(&canvas);
  put_x_labels(&canvas);
  if (canvas.panels.hidden)
    text_printf(heap, text, "%u more signal%s not shown\n", canvas.panels.hidden,
                canvas.panels.hidden == 1 ? " is" : "s are");
  heap_free(heap, canvas.dots);
  vec_free(heap, &canvas.words);
  panels_free(heap, &canvas.panels);
}
