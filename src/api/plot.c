/* plot: pictures of the trajectory. */
#include "api/handles.h"

#include "base/number.h"
#include "result/panel.h"
#include "result/plot.h"
#include "result/signal_choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- signals over time ---- */

/* Times of events after the start. */
static void add_events(const daedal_result *result, Arena *arena, Plot *plot) {
  const EventVec *passed = &result->simulation.statistics.stepper.passed;
  double *times = arena_array(arena, passed->count, sizeof *times);
  for (uint32_t k = 0; k < passed->count; k++)
    if (passed->data[k].cause != EVENT_START) times[plot->events++] = passed->data[k].time;
  plot->event = times;
}

static bool plot_over_time(daedal_result *result, const char *const *words, Arena *arena, Plot *plot) {
  const SignalTable *signals = recorder_of(result)->signals;
  const SignalFilter *filter = NULL;
  if (!filter_signals(result, words, &filter)) return false;
  uint32_t *chosen = arena_array(arena, signals->list.count, sizeof *chosen);
  uint32_t count = signals_choose(signals, filter, chosen), shown = count < MOST_SERIES ? count : MOST_SERIES;
  if (words && !count) {
    diag_error(&result->diags, DIAG_NO_SUCH_VARIABLE, (Span){0}, "no signal of the result matches `%s`",
               names_count(words) ? words[0] : "");
    return false;
  }
  *plot = plot_signals(arena, recorder_of(result)->trajectory, daedal_model_name(result->model), chosen, shown);
  add_events(result, arena, plot);
  plot->left_out = count - shown;
  if (plot->left_out)
    diag_warning(&result->diags, DIAG_PICTURE_CUT, (Span){0}, "the picture shows %u of %u signals", (unsigned)shown,
                 (unsigned)count);
  return true;
}

typedef struct ChooseRequest {
  const char *const *words;
  uint32_t *signals, most;
  uint32_t *count;
} ChooseRequest;

static bool work_choose(daedal_result *result, const void *argument) {
  const ChooseRequest *request = argument;
  const SignalTable *signals = recorder_of(result)->signals;
  const SignalFilter *filter = NULL;
  bool ok = filter_signals(result, request->words, &filter);
  publish_result(result);
  if (!ok) return false;
  uint32_t *chosen = heap_array(result->heap, signals->list.count, sizeof *chosen);
  *request->count = signals_choose(signals, filter, chosen);
  for (uint32_t k = 0; k < *request->count && k < request->most && request->signals; k++)
    request->signals[k] = chosen[k] + 1;
  heap_free(result->heap, chosen);
  return true;
}

uint32_t daedal_result_choose(daedal_result *result, const char *const *variables, uint32_t *signals, uint32_t most) {
  uint32_t count = 0;
  ChooseRequest request = {variables, signals, most, &count};
  return recorder_of(result) && result_protect(result, work_choose, &request) ? count : 0;
}

/* ---- bands ---- */

/* Adds the squared deviation of the signal that this deviation of a target causes. Returns false, with a message, if the signal was
 * not differentiated with respect to the target. */
static bool add_deviation(daedal_result *result, const PlotSeries *series, const char *target, double deviation,
                          double *squares) {
  const Trajectory *trajectory = recorder_of(result)->trajectory;
  uint32_t signal = daedal_result_sensitivity(result, series->label, target);
  if (signal == UINT32_MAX) {
    diag_error(&result->diags, DIAG_USAGE, (Span){0},
               "there is no sensitivity of %s with respect to `%s` to draw a band from", series->label, target);
    return false;
  }
  for (size_t row = 0; row < trajectory->rows; row++) {
    double part = deviation * trajectory_value(trajectory, row, signal - 1);
    squares[row] += part * part;
  }
  return true;
}

/* Adds the deviations that one parameter or start value causes, for all series. */
static bool add_deviations(daedal_result *result, const Plot *plot, const daedal_value *given, double **squares) {
  if (!given->name || !(given->value >= 0) || !isfinite(given->value))
    return refuse_usage(result, "a band needs the names of parameters, and deviations that are not negative");
  for (uint32_t k = 0; k < plot->count; k++)
    if (!add_deviation(result, &plot->series[k], given->name, given->value, squares[k])) return false;
  return true;
}

/* A band around a series: twice the deviation on either side. */
static PlotSeries band_around(Arena *arena, const PlotSeries *series, const double *squares) {
  PlotSeries band = *series;
  double *low = arena_array(arena, series->count, sizeof *low), *high = arena_array(arena, series->count, sizeof *high);
  for (size_t row = 0; row < series->count; row++) {
    low[row] = series->y[row] - 2 * sqrt(squares[row]);
    high[row] = series->y[row] + 2 * sqrt(squares[row]);
  }
  band.y = low;
  band.upper = high;
  return band;
}

static bool add_bands(daedal_result *result, const daedal_plot *asked, Arena *arena, Plot *plot) {
  PlotSeries *series = arena_array(arena, 2 * (size_t)plot->count, sizeof *series);
  double **squares = arena_array(arena, plot->count, sizeof *squares);
  for (uint32_t k = 0; k < plot->count; k++) squares[k] = arena_array(arena, plot->series[k].count, sizeof(double));
  for (uint32_t k = 0; k < asked->deviation_count; k++)
    if (!add_deviations(result, plot, &asked->deviations[k], squares)) return false;
  for (uint32_t k = 0; k < plot->count; k++) {
    series[2 * k] = band_around(arena, &plot->series[k], squares[k]);
    series[2 * k + 1] = plot->series[k];
  }
  plot->series = series;
  plot->count *= 2;
  return true;
}

/* ---- signals over each other ---- */

static PlotSeries series_of_time(Arena *arena, const Trajectory *trajectory) {
  double *time = arena_array(arena, trajectory->rows, sizeof *time);
  for (size_t row = 0; row < trajectory->rows; row++) time[row] = trajectory_time(trajectory, row);
  return (PlotSeries){.label = "time", .unit = "s", .x = time, .y = time, .count = trajectory->rows};
}

/* The signal of that name, which may be time. false: there is none; a message says so. */
static bool find_series(daedal_result *result, const char *name, Arena *arena, PlotSeries *series) {
  const Trajectory *trajectory = recorder_of(result)->trajectory;
  bool is_time = strcmp(name, "time") == 0;
  uint32_t signal = is_time ? 0 : signals_find(trajectory->signals, name);
  if (signal == MAP_NONE) return refuse_name(result->model->model, &result->diags, name, "draw");
  *series = is_time ? series_of_time(arena, trajectory) : plot_signals(arena, trajectory, NULL, &signal, 1).series[0];
  return true;
}

static bool add_pair(daedal_result *result, const char *const pair[2], Arena *arena, PlotSeries *series,
                     PlotSeries *across) {
  if (!pair[1]) return refuse_usage(result, "pairs of variables need a second name after each first");
  if (!find_series(result, pair[0], arena, across) || !find_series(result, pair[1], arena, series)) return false;
  series->x = across->y;
  return true;
}

static const char *axis_label(Arena *arena, const PlotSeries *series) {
  TextVec label = {0};
  panel_label(arena->heap, &label, series->label, series->unit);
  return text_keep(arena->heap, &label, arena);
}

/* Labels are "y over x" if the curves do not share x. */
static bool plot_pairs(daedal_result *result, const char *const *pairs, Arena *arena, Plot *plot) {
  uint32_t names = 0, count = 0;
  while (pairs[names]) names++;
  PlotSeries *series = arena_array(arena, names, sizeof *series), *across = arena_array(arena, names, sizeof *across);
  bool is_shared = true;
  for (uint32_t k = 0; k < names; k += 2, count++) {
    if (!add_pair(result, &pairs[k], arena, &series[count], &across[count])) return false;
    is_shared = is_shared && strcmp(across[count].label, across[0].label) == 0;
  }
  for (uint32_t k = 0; k < count && !is_shared; k++)
    series[k].label = arena_printf(arena, "%s over %s", series[k].label, across[k].label);
  *plot = (Plot){.title = daedal_model_name(result->model), .series = series, .count = count};
  plot->x_label = is_shared && count ? axis_label(arena, &across[0]) : "";
  return true;
}

/* ---- the picture ---- */

static bool work_plot(daedal_result *result, const void *argument) {
  const daedal_plot *asked = argument;
  Arena arena = arena_make(result->heap);
  Plot plot;
  bool ok = asked->pairs ? plot_pairs(result, asked->pairs, &arena, &plot)
                         : plot_over_time(result, asked->variables, &arena, &plot);
  if (ok && asked->deviations && !asked->pairs) ok = add_bands(result, asked, &arena, &plot);
  result->plot.count = result->terminal.count = 0;
  if (ok) {
    plot.log_x = asked->log_x;
    plot.log_y = asked->log_y;
    if (asked->width) plot_text(result->heap, &plot, asked->width, asked->height, &result->terminal);
    else plot_svg(result->heap, &plot, &result->plot);
  }
  arena_free(&arena);
  publish_result(result);
  return ok;
}

const char *api_result_draw(daedal_result *result, const daedal_plot *plot) {
  if (!recorder_of(result) || !result_protect(result, work_plot, plot)) return NULL;
  return plot->width ? result->terminal.data : result->plot.data;
}
