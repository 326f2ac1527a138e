/* trajectory: the rows of a result, in memory and as files. */
#include "api/handles.h"

#include "result/csv.h"
#include "result/file.h"
#include "result/mat.h"
#include "result/raw.h"

#include <math.h>
#include <string.h>

const Recorder *recorder_of(const daedal_result *result) { return result ? result->simulation.facts.recorder : NULL; }

/* A signal other than time; NULL if there is none of that number. */
static const Signal *signal_at(const daedal_result *result, uint32_t signal) {
  const Recorder *recorder = recorder_of(result);
  bool is_there = recorder && signal > 0 && signal - 1 < recorder->signals->listed;
  return is_there ? &recorder->signals->list.data[signal - 1] : NULL;
}

uint32_t daedal_result_signals(const daedal_result *result) {
  return recorder_of(result) ? recorder_of(result)->signals->listed + 1 : 0;
}

uint32_t daedal_result_rows(const daedal_result *result) {
  return recorder_of(result) ? (uint32_t)recorder_of(result)->trajectory->rows : 0;
}

const char *daedal_result_name(const daedal_result *result, uint32_t signal) {
  if (signal == 0 && recorder_of(result)) return "time";
  return signal_at(result, signal) ? signal_at(result, signal)->name : "";
}

const char *daedal_result_unit(const daedal_result *result, uint32_t signal) {
  if (signal == 0 && recorder_of(result)) return "s";
  return signal_at(result, signal) ? signal_at(result, signal)->unit : "";
}

double daedal_result_value(const daedal_result *result, uint32_t signal, uint32_t row) {
  if (row >= daedal_result_rows(result) || signal >= daedal_result_signals(result)) return NAN;
  const Trajectory *trajectory = recorder_of(result)->trajectory;
  return signal == 0 ? trajectory_time(trajectory, row) : trajectory_value(trajectory, row, signal - 1);
}

/* The rows as columns: time, then each signal. */
static bool work_columns(daedal_result *result, const void *argument) {
  (void)argument;
  const Trajectory *trajectory = recorder_of(result)->trajectory;
  uint32_t signals = daedal_result_signals(result);
  size_t rows = trajectory->rows;
  double *columns = heap_array(result->heap, rows * signals, sizeof *columns);
  for (size_t r = 0; r < rows; r++) {
    columns[r] = trajectory_time(trajectory, r);
    for (uint32_t s = 1; s < signals; s++) columns[s * rows + r] = trajectory_value(trajectory, r, s - 1);
  }
  result->columns = columns;
  return true;
}

const double *daedal_result_values(daedal_result *result, uint32_t signal) {
  if (signal >= daedal_result_signals(result)) return NULL;
  if (!result->columns && !result_protect(result, work_columns, NULL)) return NULL;
  return result->columns + (size_t)signal * recorder_of(result)->trajectory->rows;
}

/* A signal by its name. */
typedef struct Lookup {
  const char *name;
  uint32_t *found;
} Lookup;

static bool work_find(daedal_result *result, const void *argument) {
  const Lookup *lookup = argument;
  *lookup->found = signals_find(recorder_of(result)->signals, lookup->name);
  return *lookup->found != MAP_NONE;
}

uint32_t daedal_result_find(const daedal_result *result, const char *name) {
  uint32_t found = MAP_NONE;
  if (!recorder_of(result) || !name) return UINT32_MAX;
  if (strcmp(name, "time") == 0) return 0;
  return result_protect((daedal_result *)result, work_find, &(Lookup){name, &found}) ? found + 1 : UINT32_MAX;
}

static daedal_residuals residuals_of(const daedal_result *result) {
  const RunStatistics *statistics = result ? result->simulation.facts.statistics : NULL;
  const Constraints *constraints = statistics ? statistics->constraints : NULL;
  if (!constraints) return (daedal_residuals){0};
  return (daedal_residuals){constraints->times.count, constraints->plan->levels, constraints->times.data,
                            constraints->history.data};
}

void daedal_result_residuals_(const daedal_result *result, daedal_residuals *out, size_t size) {
  daedal_residuals value = residuals_of(result);
  hand_out(out, size, &value, sizeof value);
}

static bool is_result_file(const char *path) {
  return file_has_ending(path, ".csv") || file_has_ending(path, ".mat") || file_has_ending(path, ".raw");
}

static const char *title_of(const daedal_result *result) {
  const Model *model = result->model->model;
  return names_text(model->names, model->description ? model->description : model->name);
}

static double sweep_at(const void *context, double time) { return spice_sweep_at(context, time); }

/* A raw file names the analysis that the netlist requests. */
static RawPlot raw_plot_of(const daedal_result *result) {
  const SpiceModel *circuit = &result->model->circuit;
  RawPlot plot = {.title = title_of(result), .name = "Transient Analysis", .scale = "time", .type = "time"};
  if (circuit->analysis == ANALYSIS_OPERATING_POINT) {
    plot.name = "Operating Point";
    plot.scale = NULL;
  } else if (circuit->analysis == ANALYSIS_SWEEP) {
    plot.name = "DC transfer characteristic";
    plot.scale = circuit->sweep.moves_current ? "i(i-sweep)" : "v(v-sweep)";
    plot.type = circuit->sweep.moves_current ? "current" : "voltage";
    plot.at = sweep_at;
    plot.context = &circuit->sweep;
  }
  return plot;
}

static bool write_trajectory(daedal_result *result, const void *argument) {
  const char *path = argument;
  const Trajectory *trajectory = recorder_of(result)->trajectory;
  bool mat = file_has_ending(path, ".mat"), raw = file_has_ending(path, ".raw");
  if (!is_result_file(path)) {
    diag_error(&result->diags, DIAG_USAGE, (Span){0}, "the result file '%s' must end in .csv, .mat or .raw", path);
    return false;
  }
  FileWriter *file = file_create(result->heap, &result->diags, path, NULL, NULL);
  if (!file) return false;
  RawPlot plot = raw_plot_of(result);
  if (raw) raw_write(result->heap, file, trajectory, &plot, file_has_ending(path, ".ascii.raw"));
  else if (!mat) csv_write(file, trajectory);
  else if (!mat_write(result->heap, &result->diags, file, trajectory)) {
    file_abandon(file);
    return false;
  }
  return file_commit(file);
}

static bool work_write(daedal_result *result, const void *argument) {
  bool ok = write_trajectory(result, argument);
  if (!ok) publish_result(result);
  return ok;
}

/* Reports that the result has no trajectory to write. */
static daedal_status refused(const daedal_result *result) {
  return !result || result->status == DAEDAL_OK ? DAEDAL_INTERNAL : result->status;
}

daedal_status api_result_save(daedal_result *result, const char *path) {
  if (!recorder_of(result)) return refused(result);
  if (!path) return DAEDAL_USAGE;
  if (result_protect(result, work_write, path)) return DAEDAL_OK;
  if (result->broken) return DAEDAL_INTERNAL;
  return is_result_file(path) ? DAEDAL_FILE : DAEDAL_USAGE;
}

typedef struct Stream {
  daedal_sink sink;
  void *context;
} Stream;

static bool work_stream(daedal_result *result, const void *argument) {
  const Stream *stream = argument;
  FileWriter *file = file_create(result->heap, &result->diags, "-", stream->sink, stream->context);
  csv_write(file, recorder_of(result)->trajectory);
  bool ok = file_commit(file);
  if (!ok) publish_result(result);
  return ok;
}

daedal_status api_result_stream(daedal_result *result, daedal_sink sink, void *context) {
  Stream stream = {sink, context};
  if (!recorder_of(result)) return refused(result);
  if (!sink) return DAEDAL_USAGE;
  if (result_protect(result, work_stream, &stream)) return DAEDAL_OK;
  return result->broken ? DAEDAL_INTERNAL : DAEDAL_FILE;
}
