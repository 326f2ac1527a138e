/* resume: a run goes on from the rows of an earlier one that was killed (result/part.h). It begins anew at the last output
 * point among them; their rows come before its own. What a row does not hold cannot be taken up: models with discrete
 * variables or initial equations are refused. */
#include "api/handles.h"

#include "result/part.h"

#include <math.h>
#include <string.h>

/* The number of the output point at a time; 0 if it is none. */
static uint32_t output_point(const RunOptions *run, double time) {
  double point = (time - run->start) / run->interval, nearest = round(point);
  bool is_one = nearest >= 1 && nearest < run->intervals && fabs(point - nearest) < 1e-9 * fmax(1, point);
  return is_one ? (uint32_t)nearest : 0;
}

static bool check_model(daedal_result *result) {
  const Model *model = result->model->model;
  if (model->discretes.count == 0 && model->initial_equations.count == 0) return true;
  return refuse_usage(result,
                      "a run of a model with discrete variables or initial equations cannot be resumed: its rows "
                      "do not hold its whole state");
}

bool resume_begin(daedal_result *result, const daedal_options *options, Request *request) {
  if (!options->resumes || !options->part_path) return true;
  Trajectory *rows = part_read(result->heap, options->part_path);
  if (!rows) {
    diag_error(&result->diags, DIAG_FILE_CONTENT, (Span){0}, "there is nothing to resume in '%s'", options->part_path);
    return false;
  }
  if (!check_model(result)) return false;
  RunOptions *run = &request->run;
  for (size_t row = rows->rows; row-- > 0;) {
    uint32_t point = output_point(run, trajectory_time(rows, row));
    if (!point) continue;
    result->resumed = rows;
    result->resumed_rows = row;
    run->start = trajectory_time(rows, row);
    run->intervals -= point;
    return true;
  }
  return true;
}

static void copy_row(const Trajectory *from, size_t row, Trajectory *to) {
  double *columns = trajectory_append(to, trajectory_time(from, row));
  for (uint32_t c = 0; c < to->columns; c++) columns[c] = NAN;
  for (uint32_t s = 0; s < to->signals->list.count; s++) {
    const Signal *signal = &to->signals->list.data[s];
    uint32_t old = signal->column == SIGNAL_CONSTANT ? MAP_NONE : signals_find(from->signals, signal->name);
    if (old == MAP_NONE) continue;
    double value = trajectory_value(from, row, old);
    columns[signal->column] = signal->negated ? -value : value;
  }
}

void resume_end(daedal_result *result) {
  Recorder *recorder = result->simulation.recorder;
  if (!result->resumed || !recorder) return;
  const Trajectory *own = recorder->trajectory;
  Trajectory *whole = trajectory_new(result->heap, recorder->signals);
  for (size_t row = 0; row < result->resumed_rows; row++) copy_row(result->resumed, row, whole);
  for (size_t row = 0; row < own->rows; row++) {
    double *columns = trajectory_append(whole, trajectory_time(own, row));
    memcpy(columns, trajectory_row(own, row), own->columns * sizeof *columns);
  }
  recorder->trajectory = whole;
}
