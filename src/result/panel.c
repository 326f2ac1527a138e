/* panel: see panel.h. */
#include "result/panel.h"

#include <math.h>
#include <string.h>

bool panel_drawable(const Plot *plot, const PlotSeries *series, size_t i) {
  return axis_drawable(plot->log_x, series->x[i]) && axis_drawable(plot->log_y, series->y[i]);
}

/* The panel with room for a series of this unit and group; NULL when there is none and no more are allowed. */
static Panel *panel_for(Heap *heap, Panels *panels, const char *unit, uint32_t group, const PanelOptions *options) {
  for (uint32_t i = 0; i < panels->list.count; i++) {
    Panel *panel = &panels->list.data[i];
    bool is_alike = panel->group == group && strcmp(panel->unit, unit) == 0;
    if (is_alike && panel->series.count < options->series_each) return panel;
  }
  if (panels->list.count == options->most) return NULL;
  vec_push(heap, &panels->list, (Panel){.unit = unit, .group = group});
  return &vec_last(&panels->list);
}

typedef struct Range {
  double low, high;
} Range;

static const Range nothing = {HUGE_VAL, -HUGE_VAL};

static Range range_with(Range range, double value) { return (Range){fmin(range.low, value), fmax(range.high, value)}; }

static Axis common_x(const Plot *plot, uint32_t ticks) {
  Range range = nothing;
  for (uint32_t s = 0; s < plot->count; s++) {
    const PlotSeries *series = &plot->series[s];
    for (size_t i = 0; i < series->count; i++)
      if (axis_drawable(plot->log_x, series->x[i])) range = range_with(range, series->x[i]);
  }
  return axis_make(range.low, range.high, plot->log_x, plot->x_label ? 0.05 : 0, ticks);
}

Panels panels_make(Heap *heap, const Plot *plot, const PanelOptions *options) {
  Panels panels = {.x = common_x(plot, options->x_ticks), .hidden = plot->left_out};
  for (uint32_t s = 0; s < plot->count; s++) {
    const char *unit = plot->series[s].unit ? plot->series[s].unit : "";
    if (strcmp(unit, "1") == 0) unit = "";
    Panel *panel = panel_for(heap, &panels, unit, plot->series[s].group, options);
    if (panel) vec_push(heap, &panel->series, s);
    else panels.hidden++;
  }
  if (plot->count == 0) vec_push(heap, &panels.list, (Panel){.unit = ""});
  return panels;
}

void panels_scale(Panels *panels, const Plot *plot, uint32_t ticks) {
  for (uint32_t p = 0; p < panels->list.count; p++) {
    Panel *panel = &panels->list.data[p];
    Range range = nothing;
    for (uint32_t s = 0; s < panel->series.count; s++) {
      const PlotSeries *series = &plot->series[panel->series.data[s]];
      for (size_t i = 0; i < series->count; i++)
        if (panel_drawable(plot, series, i))
          range = range_with(range_with(range, series->y[i]), (series->upper ? series->upper : series->y)[i]);
    }
    panel->y = axis_make(range.low, range.high, plot->log_y, 0.05, ticks);
  }
}

void panels_free(Heap *heap, Panels *panels) {
  for (uint32_t p = 0; p < panels->list.count; p++) vec_free(heap, &panels->list.data[p].series);
  vec_free(heap, &panels->list);
}

/* A unit as people write it: "kg.m/s2" becomes "kg·m/s²", and "1" nothing. */
static void append_unit(Heap *heap, TextVec *text, const char *unit) {
  if (strcmp(unit, "1") == 0) return;
  for (const char *at = unit; *at; at++) {
    bool digit = *at >= '0' && *at <= '9';
    bool minus = *at == '-' && at[1] >= '0' && at[1] <= '9';
    if (*at == '.') {
      text_append(heap, text, "·", strlen("·"));
    } else if (at > unit && (digit || minus) && !strchr("/.( ", at[-1])) {
      char power[16];
      char *end = axis_superscript(power, digit ? *at - '0' : -(at[1] - '0'));
      text_append(heap, text, power, (size_t)(end - power));
      at += minus;
    } else {
      text_append(heap, text, at, 1);
    }
  }
}

void panel_label(Heap *heap, TextVec *text, const char *label, const char *unit) {
  bool with_unit = unit && *unit && strcmp(unit, "1") != 0;
  if (label) text_append(heap, text, label, strlen(label));
  if (!with_unit) return;
  text_printf(heap, text, "%s[", label && *label ? " " : "");
  append_unit(heap, text, unit);
  text_append(heap, text, "]", 1);
}
