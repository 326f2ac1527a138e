/* fit_report: the reports and the picture of an estimate. */
#include "api/fit.h"

#include "base/number.h"
#include "result/diagnostics_report.h"
#include "result/json.h"
#include "result/plot.h"
#include "result/table.h"

#include <math.h>
#include <string.h>

uint32_t daedal_estimate_parameters(const daedal_estimate *estimate) {
  return estimate && (estimate->is_done || estimate->is_stopped) ? estimate->parameters.count : 0;
}

static daedal_parameter parameter_at(const daedal_estimate *estimate, uint32_t index) {
  if (index < daedal_estimate_parameters(estimate)) return estimate->parameters.data[index].figures;
  return (daedal_parameter){"", NAN, NAN, NAN, NAN, NAN, false};
}

void daedal_estimate_parameter_(const daedal_estimate *estimate, uint32_t index, daedal_parameter *out, size_t size) {
  daedal_parameter value = parameter_at(estimate, index);
  hand_out(out, size, &value, sizeof value);
}

double daedal_estimate_covariance(const daedal_estimate *estimate, uint32_t first, uint32_t second) {
  uint32_t n = estimate && estimate->is_done ? estimate->parameters.count : 0;
  return first < n && second < n ? estimate->identified.covariance[(size_t)first * n + second] : NAN;
}

double daedal_estimate_deviation(const daedal_estimate *estimate) {
  return estimate && estimate->is_done ? estimate->deviation : NAN;
}

static double correlation(const daedal_estimate *estimate, uint32_t a, uint32_t b) {
  double variances = daedal_estimate_covariance(estimate, a, a) * daedal_estimate_covariance(estimate, b, b);
  return daedal_estimate_covariance(estimate, a, b) / sqrt(variances);
}

static double condition(const daedal_estimate *estimate) {
  const Identification *identified = &estimate->identified;
  return identified->free ? identified->singular[0] / identified->singular[identified->free - 1] : NAN;
}

/* ---- text ---- */

static int longest_name(const daedal_estimate *estimate) {
  size_t longest = strlen("parameter");
  for (uint32_t k = 0; k < estimate->parameters.count; k++) {
    size_t length = strlen(estimate->parameters.data[k].figures.name);
    if (length > longest) longest = length;
  }
  return (int)longest;
}

static void print_parameters(const daedal_estimate *estimate, Heap *heap, TextVec *text) {
  int width = longest_name(estimate);
  text_printf(heap, text, "  %-*s %14s %11s   %g %% interval\n", width, "parameter", "value", "error",
              100 * estimate->level);
  for (uint32_t k = 0; k < estimate->parameters.count; k++) {
    const daedal_parameter *found = &estimate->parameters.data[k].figures;
    text_printf(heap, text, "  %-*s %14.8g", width, found->name, found->value);
    if (found->at_bound) text_printf(heap, text, "   at its bound\n");
    else if (!isfinite(found->error)) text_printf(heap, text, "   not determined by the data\n");
    else text_printf(heap, text, " %11.3g   %.8g to %.8g\n", found->error, found->low, found->high);
  }
}

/* Lists pairs of parameters that the data hardly distinguish. */
static void print_correlations(const daedal_estimate *estimate, Heap *heap, TextVec *text) {
  for (uint32_t a = 0; a < estimate->parameters.count; a++)
    for (uint32_t b = 0; b < a; b++) {
      double value = correlation(estimate, a, b);
      if (fabs(value) > 0.9)
        text_printf(heap, text, "  %s and %s are correlated: %.4f\n", estimate->parameters.data[b].figures.name,
                    estimate->parameters.data[a].figures.name, value);
    }
}

static bool print_text(daedal_result *asked, const void *argument) {
  daedal_estimate *estimate = *(daedal_estimate *const *)argument;
  Heap *heap = asked->heap;
  TextVec *text = &estimate->text;
  text->count = 0;
  print_parameters(estimate, heap, text);
  print_correlations(estimate, heap, text);
  for (uint32_t c = 0; c < estimate->columns.count; c++) {
    const FitColumn *column = &estimate->columns.data[c];
    text_printf(heap, text, "  %s: %u value%s, residuals of %.4g (root mean square)%s\n", column->name, column->values,
                plural(column->values), sqrt(column->squares / column->values),
                column->is_noise ? "" : ", which are not noise");
  }
  text_printf(heap, text, "  deviation of the residuals %.4g, condition %.3g, %u iteration%s, %u run%s\n",
              estimate->deviation, condition(estimate), estimate->found.iterations, plural(estimate->found.iterations),
              estimate->runs, plural(estimate->runs));
  return true;
}

const char *api_estimate_text(daedal_estimate *estimate) {
  bool is_done = estimate && estimate->is_done && result_protect(estimate->asked, print_text, &estimate);
  return is_done ? estimate->text.data : NULL;
}

/* ---- JSON ---- */

static void json_parameters(const daedal_estimate *estimate, JsonWriter *json) {
  for (uint32_t k = 0; json_next_object(json, k, estimate->parameters.count); k++) {
    const FitParameter *parameter = &estimate->parameters.data[k];
    json_key_string(json, "name", parameter->figures.name);
    json_key_number(json, "value", parameter->figures.value);
    json_key_number(json, "error", parameter->figures.error);
    json_key_number(json, "low", parameter->figures.low);
    json_key_number(json, "high", parameter->figures.high);
    json_key_number(json, "start", parameter->figures.start);
    json_key_number(json, "lower_bound", parameter->lower);
    json_key_number(json, "upper_bound", parameter->upper);
    json_key_bool(json, "at_bound", parameter->figures.at_bound);
  }
}

static void json_matrix(const daedal_estimate *estimate, bool correlations, JsonWriter *json) {
  uint32_t n = estimate->parameters.count;
  for (uint32_t a = 0; json_next(json, a, n); a++)
    for (uint32_t b = 0; json_next(json, b, n); b++)
      json_number(json, correlations ? correlation(estimate, a, b) : daedal_estimate_covariance(estimate, a, b));
}

static void json_singular(const daedal_estimate *estimate, JsonWriter *json) {
  for (uint32_t k = 0; json_next(json, k, estimate->identified.free); k++)
    json_number(json, estimate->identified.singular[k]);
}

/* Writes each combination as an object that maps names to changes. */
static void json_unidentified(const daedal_estimate *estimate, JsonWriter *json) {
  const Identification *identified = &estimate->identified;
  uint32_t n = estimate->parameters.count;
  for (uint32_t d = 0; json_next_object(json, d, identified->free - identified->rank); d++)
    for (uint32_t k = 0; k < n; k++)
      json_key_number(json, estimate->parameters.data[k].figures.name, identified->directions[(size_t)d * n + k]);
}

static void json_columns(const daedal_estimate *estimate, JsonWriter *json) {
  for (uint32_t c = 0; json_next_object(json, c, estimate->columns.count); c++) {
    const FitColumn *column = &estimate->columns.data[c];
    json_key_string(json, "name", column->name);
    json_key_integer(json, "values", column->values);
    json_key_number(json, "rms", sqrt(column->squares / column->values));
    json_key_number(json, "lag_correlation", column->lag);
    json_key_bool(json, "noise", column->is_noise);
  }
}

static const char nothing[] = JSON_NOTHING
#define KEY(name, value) JSON_NULL(name)
#include "api/fit_report.def"
    JSON_END;

static bool print_json(daedal_result *asked, const void *argument) {
  daedal_estimate *estimate = *(daedal_estimate *const *)argument;
  estimate->json.count = 0;
  JsonWriter writer = json_make(asked->heap, &estimate->json), *json = &writer;
  json_object_begin(json);
  json_key_string(json, "status", table_status((uint8_t)asked->status));
#define KEY(name, value) JSON_MEMBER(name, estimate->is_done, value)
#include "api/fit_report.def"
  json_object_end(json);
  text_printf(asked->heap, &estimate->json, "\n");
  diagnostics_report_json(&asked->model->source, &asked->model->diags, &asked->diags, asked->heap, &estimate->json);
  return true;
}

const char *api_estimate_json(daedal_estimate *estimate) {
  if (!estimate) return nothing;
  model_lock(estimate->asked->model);
  bool ok = result_protect(estimate->asked, print_json, &estimate);
  model_unlock(estimate->asked->model);
  return ok ? estimate->json.data : NULL;
}

/* ---- picture ---- */

/* Two panels of a column: fit and measurements, and the residuals. */
static void add_series(const daedal_estimate *estimate, uint32_t c, const double *r, Arena *arena, PlotSeries *series) {
  const FitColumn *column = &estimate->columns.data[c];
  double *arrays[4];
  for (int a = 0; a < 4; a++) arrays[a] = arena_array(arena, column->values, sizeof(double));
  uint32_t count = 0;
  for (size_t row = 0; row < estimate->data->rows; row++) {
    double measured = trajectory_value(estimate->data, row, column->signal);
    if (!isfinite(measured)) continue;
    arrays[0][count] = trajectory_time(estimate->data, row);
    arrays[1][count] = measured;
    arrays[3][count] = r[count] / column->scale;
    arrays[2][count] = measured + arrays[3][count];
    count++;
  }
  series[0] = (PlotSeries){.label = column->name, .x = arrays[0], .y = arrays[2], .count = count};
  series[1] = (PlotSeries){.label = "measured", .x = arrays[0], .y = arrays[1], .count = count, .dots = true};
  series[2] = (PlotSeries){.label = arena_printf(arena, "residual of %s", column->name),
                           .x = arrays[0],
                           .y = arrays[3],
                           .count = count,
                           .dots = true};
  for (int s = 0; s < 3; s++) series[s].group = 2 * c + (s == 2);
}

static bool print_plot(daedal_result *asked, const void *argument) {
  daedal_estimate *estimate = *(daedal_estimate *const *)argument;
  Arena arena = arena_make(asked->heap);
  PlotSeries *series = arena_array(&arena, 3 * (size_t)estimate->columns.count, sizeof *series);
  const double *r = estimate->found.r;
  for (uint32_t c = 0; c < estimate->columns.count; r += estimate->columns.data[c++].values)
    add_series(estimate, c, r, &arena, series + 3 * (size_t)c);
  estimate->plot.count = 0;
  plot_svg(asked->heap,
           &(Plot){.title = daedal_model_name(asked->model), .series = series, .count = 3 * estimate->columns.count},
           &estimate->plot);
  arena_free(&arena);
  return true;
}

const char *api_estimate_plot(daedal_estimate *estimate) {
  bool is_done = estimate && estimate->is_done && result_protect(estimate->asked, print_plot, &estimate);
  return is_done ? estimate->plot.data : NULL;
}
