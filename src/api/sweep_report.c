/* sweep_report: the outputs of a sweep: its table, as numbers and as files, its report and its picture. */
#include "api/sweep.h"

#include "result/diagnostics_report.h"
#include "result/fan.h"
#include "result/heatmap.h"
#include "result/json.h"

#include <math.h>
#include <string.h>

/* ---- figures ---- */

static daedal_sweep_progress progress_of(const daedal_sweep *sweep) {
  if (!sweep) return (daedal_sweep_progress){0};
  double running = sweep->begun > 0 ? pipeline_clock() - sweep->begun : 0;
  return (daedal_sweep_progress){.points = sweep->table.rows,
                                 .finished = atomic_load(&sweep->finished),
                                 .failed = atomic_load(&sweep->failed),
                                 .resumed = sweep->resumed,
                                 .seconds = sweep->seconds + running};
}

void daedal_sweep_progress_get_(const daedal_sweep *sweep, daedal_sweep_progress *out, size_t size) {
  daedal_sweep_progress value = progress_of(sweep);
  hand_out(out, size, &value, sizeof value);
}

static uint32_t sweep_structures(const daedal_sweep *sweep) {
  uint32_t count = daedal_plan_structures(sweep->plan);
  for (uint32_t k = 0; k < sweep->plans.count; k++) count += daedal_plan_structures(sweep->plans.data[k].plan);
  return count;
}

/* ---- the table ---- */

uint32_t daedal_sweep_points(const daedal_sweep *sweep) { return sweep ? sweep->table.rows : 0; }
uint32_t daedal_sweep_columns(const daedal_sweep *sweep) { return sweep ? sweep->table.columns : 0; }
uint32_t daedal_sweep_varied(const daedal_sweep *sweep) { return sweep ? design_variables(&sweep->design) : 0; }

const char *daedal_sweep_column_name(const daedal_sweep *sweep, uint32_t column) {
  return column < daedal_sweep_columns(sweep) ? sweep->table.names[column] : "";
}

double daedal_sweep_value(const daedal_sweep *sweep, uint32_t point, uint32_t column) {
  if (point >= daedal_sweep_points(sweep) || column >= daedal_sweep_columns(sweep)) return NAN;
  return table_value(&sweep->table, point, column);
}

bool daedal_sweep_point_finished(const daedal_sweep *sweep, uint32_t point) {
  return point < daedal_sweep_points(sweep) && atomic_load(&sweep->done[point]);
}

daedal_status daedal_sweep_point_status(const daedal_sweep *sweep, uint32_t point) {
  return daedal_sweep_point_finished(sweep, point) ? (daedal_status)sweep->status[point] : DAEDAL_INTERNAL;
}

const char *daedal_sweep_point_cause(const daedal_sweep *sweep, uint32_t point) {
  bool has_cause = daedal_sweep_point_finished(sweep, point) && sweep->causes[point];
  return has_cause ? sweep->causes[point] : "";
}

uint32_t daedal_sweep_finished(const daedal_sweep *sweep, uint32_t k) {
  return k < daedal_sweep_points(sweep) ? atomic_load(&sweep->order[k]) : UINT32_MAX;
}

uint32_t daedal_sweep_row_length(const daedal_sweep *sweep) { return sweep ? sweep->outputs.count : 0; }

const double *daedal_sweep_row(const daedal_sweep *sweep, uint32_t point) {
  if (!daedal_sweep_point_finished(sweep, point)) return NULL;
  return sweep->values + (size_t)point * sweep->table.stride + design_variables(&sweep->design);
}

/* ---- files ---- */

/* A path, or the function that receives the bytes. */
typedef struct TableWork {
  daedal_sweep *sweep;
  const char *path;
  daedal_sink sink;
  void *context;
} TableWork;

static bool write_table(daedal_result *asked, const TableWork *work) {
  const Table *table = &work->sweep->table;
  FileWriter *file = file_create(asked->heap, &asked->diags, work->path, work->sink, work->context);
  if (!file) return false;
  if (file_has_ending(work->path, ".npy")) table_write_npy(asked->heap, file, table);
  else if (!file_has_ending(work->path, ".mat")) table_write_csv(file, table);
  else if (!table_write_mat(asked->heap, &asked->diags, file, table)) {
    file_abandon(file);
    return false;
  }
  return file_commit(file);
}

static bool work_write(daedal_result *asked, const void *argument) {
  bool ok = write_table(asked, argument);
  if (!ok) publish_result(asked);
  return ok;
}

static daedal_status put_table(const TableWork *work) {
  daedal_sweep *sweep = work->sweep;
  if (!daedal_sweep_points(sweep)) return daedal_status_of(sweep) ? daedal_status_of(sweep) : DAEDAL_INTERNAL;
  bool ok = sweep_collect_trajectories(sweep) && result_protect(sweep->asked, work_write, work);
  if (!ok) return sweep->asked->broken ? DAEDAL_INTERNAL : DAEDAL_FILE;
  bool is_whole = atomic_load(&sweep->finished) == sweep->table.rows;
  if (sweep->journal && is_whole) journal_remove(sweep->journal);
  if (is_whole) sweep->journal = NULL;
  return DAEDAL_OK;
}

daedal_status api_sweep_save(daedal_sweep *sweep, const char *path) {
  return path && strcmp(path, "-") != 0 ? put_table(&(TableWork){.sweep = sweep, .path = path}) : DAEDAL_USAGE;
}

daedal_status api_sweep_stream(daedal_sweep *sweep, daedal_sink sink, void *context) {
  return sink ? put_table(&(TableWork){sweep, "-", sink, context}) : DAEDAL_USAGE;
}

/* ---- JSON ---- */

static void json_varied(const daedal_sweep *sweep, JsonWriter *json) {
  uint32_t count = design_variables(&sweep->design);
  for (uint32_t k = 0; json_next(json, k, count); k++) json_string(json, design_name(&sweep->design, k));
}

/* Statistics over the points that have a value. */
static void json_output(const Table *table, uint32_t column, JsonWriter *json) {
  double least = INFINITY, most = -INFINITY, mean = 0, squares = 0;
  uint32_t count = 0;
  for (uint32_t row = 0; row < table->rows; row++) {
    double value = table_value(table, row, column), before = value - mean;
    if (!isfinite(value)) continue;
    least = fmin(least, value), most = fmax(most, value);
    mean += before / ++count;
    squares += before * (value - mean);
  }
  json_key_string(json, "name", table->names[column]);
  json_key_integer(json, "count", count);
  json_key_number(json, "min", least);
  json_key_number(json, "max", most);
  json_key_number(json, "mean", count ? mean : NAN);
  json_key_number(json, "deviation", count > 1 ? sqrt(squares / (count - 1)) : NAN);
}

static void json_outputs(const daedal_sweep *sweep, JsonWriter *json) {
  uint32_t varied = design_variables(&sweep->design);
  for (uint32_t k = 0; json_next_object(json, k, sweep->output_count); k++)
    json_output(&sweep->table, varied + k, json);
}

/* Lists the first failures. */
static void json_failures(const daedal_sweep *sweep, JsonWriter *json) {
  enum { MOST = 1000 };
  uint32_t row = 0, failed = atomic_load(&sweep->failed);
  for (uint32_t k = 0; json_next_object(json, k, failed < MOST ? failed : MOST); k++, row++) {
    while (row + 1 < sweep->table.rows && !(daedal_sweep_point_finished(sweep, row) && sweep->status[row])) row++;
    json_key_integer(json, "point", (int64_t)row + 1);
    json_key_string(json, "status", table_status(sweep->status[row]));
    json_key_string(json, "cause", daedal_sweep_point_cause(sweep, row));
  }
}

static const char nothing[] = JSON_NOTHING
#define KEY(name, value) JSON_NULL(name)
#include "api/sweep_report.def"
    JSON_END;

static bool print_json(daedal_result *asked, const void *argument) {
  daedal_sweep *sweep = *(daedal_sweep *const *)argument;
  daedal_sweep_progress progress = daedal_sweep_progress_get(sweep);
  bool known = progress.points > 0;
  sweep->json.count = 0;
  JsonWriter writer = json_make(asked->heap, &sweep->json), *json = &writer;
  json_object_begin(json);
  json_key_string(json, "status", table_status((uint8_t)asked->status));
#define KEY(name, value) JSON_MEMBER(name, known, value)
#include "api/sweep_report.def"
  json_object_end(json);
  text_printf(asked->heap, &sweep->json, "\n");
  diagnostics_report_json(&asked->model->source, &asked->model->diags, &asked->diags, asked->heap, &sweep->json);
  return true;
}

const char *api_sweep_json(daedal_sweep *sweep) {
  if (!sweep) return nothing;
  model_lock(sweep->asked->model);
  bool ok = result_protect(sweep->asked, print_json, &sweep);
  model_unlock(sweep->asked->model);
  return ok ? sweep->json.data : NULL;
}

/* ---- pictures ---- */

/* A column of the table, over the points or over the times of a trajectory. */
typedef struct SweepColumn {
  const daedal_sweep *sweep;
  uint32_t column;
} SweepColumn;

static double map_value(const void *context, uint32_t x, uint32_t y) {
  const SweepColumn *at = context;
  uint32_t point = x * at->sweep->design.vary[1].count + y;
  return table_value(&at->sweep->table, point, at->column);
}

static double course_value(const void *context, uint32_t run, uint32_t time) {
  const SweepColumn *at = context;
  return at->sweep->values[(size_t)run * at->sweep->table.stride + at->column + time];
}

static void draw_maps(daedal_sweep *sweep, Arena *arena, TextVec *text) {
  enum { MOST = 12 };
  const Vary *vary = sweep->design.vary;
  uint32_t count = sweep->output_count < MOST ? sweep->output_count : MOST;
  HeatmapAxis x = {vary[0].name, vary[0].values, vary[0].count}, y = {vary[1].name, vary[1].values, vary[1].count};
  Heatmap *maps = arena_array(arena, count, sizeof *maps);
  SweepColumn *columns = arena_array(arena, count, sizeof *columns);
  for (uint32_t k = 0; k < count; k++) {
    columns[k] = (SweepColumn){sweep, design_variables(&sweep->design) + k};
    maps[k] = (Heatmap){sweep->outputs.data[k].text, map_value, &columns[k]};
  }
  heatmap_svg(sweep->asked->heap, &x, &y, maps, count, daedal_model_name(sweep->asked->model), text);
}

static void draw_fans(daedal_sweep *sweep, Arena *arena, TextVec *text) {
  const SweepCourses *courses = &sweep->courses;
  FanSignal *signals = arena_array(arena, courses->signal_count, sizeof *signals);
  SweepColumn *columns = arena_array(arena, courses->signal_count, sizeof *columns);
  for (uint32_t k = 0; k < courses->signal_count; k++) {
    columns[k] = (SweepColumn){sweep, sweep->table.columns + k * courses->time_count};
    signals[k] = (FanSignal){.label = courses->labels[k],
                             .times = courses->times,
                             .time_count = courses->time_count,
                             .runs = sweep->table.rows,
                             .value = course_value,
                             .context = &columns[k]};
  }
  fan_svg(sweep->asked->heap, signals, courses->signal_count, daedal_model_name(sweep->asked->model), text);
}

static bool print_plot(daedal_result *asked, const void *argument) {
  daedal_sweep *sweep = *(daedal_sweep *const *)argument;
  Arena arena = arena_make(asked->heap);
  sweep->plot.count = 0;
  if (sweep->courses.signal_count) draw_fans(sweep, &arena, &sweep->plot);
  else if (design_is_map(&sweep->design)) draw_maps(sweep, &arena, &sweep->plot);
  arena_free(&arena);
  return sweep->plot.count > 0;
}

const char *api_sweep_plot(daedal_sweep *sweep) {
  if (!daedal_sweep_points(sweep)) return NULL;
  return result_protect(sweep->asked, print_plot, &sweep) ? sweep->plot.data : NULL;
}
