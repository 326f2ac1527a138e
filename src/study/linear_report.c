/* linear_report: see linear_report.h. */
#include "study/linear_report.h"

#include "result/json.h"
#include "result/mat.h"
#include "result/plot.h"
#include "vary/frequency.h"

#include <math.h>
#include <string.h>

/* ---- text ---- */

static void text_matrix(const char *name, const double *values, uint32_t rows, uint32_t columns, Heap *heap,
                        TextVec *text) {
  enum { WIDEST = 12 };
  if (!rows || !columns) return;
  text_printf(heap, text, "%s (%u x %u)\n", name, rows, columns);
  if (columns > WIDEST || rows > 4 * WIDEST) {
    text_printf(heap, text, "  too large to print; use --json or --output-file\n");
    return;
  }
  for (uint32_t i = 0; i < rows; i++) {
    for (uint32_t k = 0; k < columns; k++) text_printf(heap, text, " %12.6g", values[i + (size_t)k * rows]);
    text_printf(heap, text, "\n");
  }
}

static void text_names(const char *what, const char *const *names, uint32_t count, Heap *heap, TextVec *text) {
  text_printf(heap, text, "%-8s", what);
  for (uint32_t k = 0; k < count; k++) text_printf(heap, text, "%s%s", k ? ", " : "", names[k]);
  text_printf(heap, text, "%s\n", count ? "" : "none");
}

static void text_modes(const LinearForm *form, Heap *heap, TextVec *text) {
  if (!form->states) return;
  text_printf(heap, text, "modes\n  %13s %13s %13s %11s  %s\n", "real", "imaginary", "rad/s", "damping", "mostly in");
  for (uint32_t k = 0; k < form->states; k++) {
    uint32_t leader = linear_leader(form, k);
    text_printf(heap, text, "  %13.6g %13.6g %13.6g %11.4g  %s\n", form->real[k], form->imaginary[k],
                linear_frequency(form, k), linear_damping(form, k), leader == MAP_NONE ? "" : form->state[leader]);
  }
}

void linear_report_text(const LinearForm *form, Heap *heap, TextVec *text) {
  text_printf(heap, text, "linearized at time %.10g\n", form->time);
  text_names("states", form->state, form->states, heap, text);
  text_names("inputs", form->input, form->inputs, heap, text);
  text_names("outputs", form->output, form->outputs, heap, text);
  text_matrix("A", form->a, form->states, form->states, heap, text);
  text_matrix("B", form->b, form->states, form->inputs, heap, text);
  text_matrix("C", form->c, form->outputs, form->states, heap, text);
  text_matrix("D", form->d, form->outputs, form->inputs, heap, text);
  text_modes(form, heap, text);
}

/* ---- JSON ---- */

static void json_names(JsonWriter *json, const char *const *names, uint32_t count) {
  for (uint32_t k = 0; json_next(json, k, count); k++) json_string(json, names[k]);
}

static void json_values(JsonWriter *json, const double *values, uint32_t count) {
  for (uint32_t k = 0; json_next(json, k, count); k++) json_number(json, values[k]);
}

/* Row by row. */
static void json_matrix(JsonWriter *json, const double *values, uint32_t rows, uint32_t columns) {
  for (uint32_t i = 0; json_next(json, i, rows); i++)
    for (uint32_t k = 0; json_next(json, k, columns); k++) json_number(json, values[i + (size_t)k * rows]);
}

/* The component of state i in the eigenvector of eigenvalue k. */
static void json_part(JsonWriter *json, const LinearForm *form, uint32_t k, uint32_t i) {
  size_t n = form->states;
  bool second = form->imaginary[k] < 0 && k;
  const double *vector = form->vector + (second ? k - 1 : k) * n;
  double imaginary = form->imaginary[k] == 0 ? 0 : second ? -vector[i + n] : vector[i + n];
  json_array_begin(json);
  json_number(json, vector[i]);
  json_number(json, imaginary);
  json_array_end(json);
}

static void json_modes(JsonWriter *json, const LinearForm *form) {
  for (uint32_t k = 0; json_next_object(json, k, form->states); k++) {
    uint32_t leader = linear_leader(form, k);
    json_key_number(json, "real", form->real[k]);
    json_key_number(json, "imaginary", form->imaginary[k]);
    json_key_number(json, "frequency", linear_frequency(form, k));
    json_key_number(json, "damping", linear_damping(form, k));
    json_key_string(json, "state", leader == MAP_NONE ? NULL : form->state[leader]);
    json_key(json, "vector");
    for (uint32_t i = 0; json_next(json, i, form->states); i++) json_part(json, form, k, i);
  }
}

static void json_form(JsonWriter *json, const LinearForm *form) {
#define KEY(name, known, value) JSON_MEMBER(name, known, value)
#include "study/linear_report.def"
}

void linear_report_json(const char *status, const LinearForm *form, Heap *heap, TextVec *text) {
  JsonWriter json = json_make(heap, text);
  json_object_begin(&json);
  json_key_string(&json, "status", status);
  json_form(&json, form);
  json_object_end(&json);
}

const char linear_report_nothing[] = JSON_NOTHING
#define KEY(name, known, value) JSON_NULL(name)
#include "study/linear_report.def"
    JSON_END;

/* ---- MAT ---- */

void linear_report_mat(const LinearForm *form, FileWriter *file) {
  mat_put_matrix(file, "A", form->a, form->states, form->states);
  mat_put_matrix(file, "B", form->b, form->states, form->inputs);
  mat_put_matrix(file, "C", form->c, form->outputs, form->states);
  mat_put_matrix(file, "D", form->d, form->outputs, form->inputs);
  mat_put_matrix(file, "x", form->value, form->states, 1);
  mat_put_matrix(file, "eigenvalues_real", form->real, form->states, 1);
  mat_put_matrix(file, "eigenvalues_imag", form->imaginary, form->states, 1);
  mat_put_texts(file, "stateName", form->state, form->states);
  mat_put_texts(file, "inputName", form->input, form->inputs);
  mat_put_texts(file, "outputName", form->output, form->outputs);
}

/* ---- Bode plot ---- */

enum { BODE_POINTS = 400 };

/* Magnitudes and phases for one input, with a series for each output: pairs[points][outputs] are the responses. The phase is
 * continuous from point to point, without jumps by a whole turn. */
static void bode_series(const double *response, uint32_t outputs, uint32_t output, double *decibel, double *degrees) {
  static const double turn = 360, radian = 57.29577951308232;
  for (uint32_t k = 0; k < BODE_POINTS; k++) {
    const double *value = response + 2 * ((size_t)k * outputs + output);
    decibel[k] = 20 * log10(hypot(value[0], value[1]));
    degrees[k] = atan2(value[1], value[0]) * radian;
    if (k) degrees[k] += turn * round((degrees[k - 1] - degrees[k]) / turn);
  }
}

static void add_input(FrequencyResponse *frequency, const LinearForm *form, uint32_t input, const double *w,
                      Arena *arena, PlotSeries *series) {
  double *response = arena_array(arena, 2 * (size_t)BODE_POINTS * form->outputs, sizeof *response);
  for (uint32_t k = 0; k < BODE_POINTS; k++) {
    double *at = response + 2 * (size_t)k * form->outputs;
    if (!frequency_response_at(frequency, input, w[k], at))
      for (uint32_t i = 0; i < 2 * form->outputs; i++) at[i] = NAN;
  }
  uint32_t count = form->inputs * form->outputs;
  for (uint32_t i = 0; i < form->outputs; i++) {
    double *decibel = arena_array(arena, BODE_POINTS, sizeof *decibel);
    double *degrees = arena_array(arena, BODE_POINTS, sizeof *degrees);
    const char *label = arena_printf(arena, "%s / %s", form->output[i], form->input[input]);
    uint32_t place = input * form->outputs + i;
    bode_series(response, form->outputs, i, decibel, degrees);
    series[place] = (PlotSeries){.label = label, .unit = "dB", .x = w, .y = decibel, .count = BODE_POINTS};
    series[count + place] = (PlotSeries){.label = label, .unit = "deg", .x = w, .y = degrees, .count = BODE_POINTS};
  }
}

void linear_report_bode(const LinearForm *form, const char *title, uint32_t width, uint32_t height, Heap *heap,
                        TextVec *text) {
  Arena arena = arena_make(heap);
  uint32_t count = form->inputs * form->outputs;
  double *w = arena_array(&arena, BODE_POINTS, sizeof *w);
  PlotSeries *series = arena_array(&arena, 2 * (size_t)count, sizeof *series);
  FrequencyResponse *frequency = frequency_response_new(form, &arena);
  frequency_grid(form, BODE_POINTS, w);
  for (uint32_t k = 0; k < form->inputs; k++) add_input(frequency, form, k, w, &arena, series);
  Plot plot = {
      .title = title, .x_label = "angular frequency [rad/s]", .log_x = true, .series = series, .count = 2 * count};
  if (width) plot_text(heap, &plot, width, height, text);
  else plot_svg(heap, &plot, text);
  arena_free(&arena);
}
