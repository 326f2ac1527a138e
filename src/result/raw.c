/* raw: see raw.h. */
#include "result/raw.h"

#include "base/number.h"

#include <string.h>

static bool is_written(const Signal *signal) {
  return signal->kind != SIGNAL_PARAMETER && signal->kind != SIGNAL_DERIVATIVE;
}

/* The type by which viewers choose an axis. */
static const char *type_of(const Signal *signal) {
  if (!strncmp(signal->name, "v(", 2) || (signal->unit && !strcmp(signal->unit, "V"))) return "voltage";
  if (!strncmp(signal->name, "i(", 2) || (signal->unit && !strcmp(signal->unit, "A"))) return "current";
  return "notype";
}

static size_t count_rows(const Trajectory *trajectory, const RawPlot *plot) {
  return plot->scale || trajectory->rows < 1 ? trajectory->rows : 1;
}

static void write_header(Heap *heap, FileWriter *file, const Trajectory *trajectory, const RawPlot *plot,
                         bool is_text) {
  const SignalTable *signals = trajectory->signals;
  TextVec text = {0};
  uint32_t count = plot->scale != NULL, position = count;
  for (uint32_t k = 0; k < signals->listed; k++) count += is_written(&signals->list.data[k]);
  text_printf(heap, &text,
              "Title: %s\nDate: \nPlotname: %s\nFlags: real\nNo. Variables: %u\nNo. Points: %zu\nVariables:\n",
              plot->title, plot->name, count, count_rows(trajectory, plot));
  if (plot->scale) text_printf(heap, &text, "\t0\t%s\t%s\n", plot->scale, plot->type);
  for (uint32_t k = 0; k < signals->listed; k++)
    if (is_written(&signals->list.data[k]))
      text_printf(heap, &text, "\t%u\t%s\t%s\n", position++, signals->list.data[k].name,
                  type_of(&signals->list.data[k]));
  text_printf(heap, &text, "%s:\n", is_text ? "Values" : "Binary");
  file_write(file, text.data, text.count);
  vec_free(heap, &text);
}

static void write_number(FileWriter *file, double value, bool is_text) {
  if (!is_text) {
    file_write(file, &value, sizeof value);
    return;
  }
  char digits[NUMBER_SIZE + 2] = "\t";
  size_t length = 1 + number_format(value, 17, digits + 1);
  digits[length++] = '\n';
  file_write(file, digits, length);
}

static void write_index(Heap *heap, FileWriter *file, size_t row) {
  TextVec text = {0};
  text_printf(heap, &text, "%zu", row);
  file_write(file, text.data, text.count);
  vec_free(heap, &text);
}

void raw_write(Heap *heap, FileWriter *file, const Trajectory *trajectory, const RawPlot *plot, bool is_text) {
  const SignalTable *signals = trajectory->signals;
  write_header(heap, file, trajectory, plot, is_text);
  for (size_t row = 0; row < count_rows(trajectory, plot); row++) {
    const double *columns = trajectory_row(trajectory, row);
    double time = trajectory_time(trajectory, row);
    if (is_text) write_index(heap, file, row);
    if (plot->scale) write_number(file, plot->at ? plot->at(plot->context, time) : time, is_text);
    for (uint32_t k = 0; k < signals->listed; k++)
      if (is_written(&signals->list.data[k]))
        write_number(file, signal_value(&signals->list.data[k], columns), is_text);
  }
}
