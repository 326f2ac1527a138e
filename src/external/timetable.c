/* timetable: tables over time (CombiTimeTable). The table is read at time - shift from the start time on, and is 0
 * before. Where it jumps, kinks, begins or ends, time events happen; the model asks for the next one and hands it back: as long
 * as time has reached that event but the model has not taken it yet, values are those from the left. */
#include "external/functions.h"
#include "external/jet.h"
#include "external/table.h"

#include <float.h>
#include <math.h>

/* Modelica.Blocks.Types.TimeEvents */
enum { EVENTS_ALWAYS = 1, EVENTS_AT_JUMPS, EVENTS_NEVER };

typedef struct TimeTable {
  Table table;
  double start, shift;
  int64_t events;
  bool is_periodic;
  uint32_t count;
  double *places; /* of events in the table, ascending */
} TimeTable;

static const char TIMETABLE_KIND = 0;

/* ---- making ---- */

/* Only pieces that are constant or linear kink at every point. */
static bool has_event(const TimeTable *t, uint32_t row) {
  const Table *table = &t->table;
  bool is_end = row == 0 || row + 1 == table->rows, jumps = row && table->x[row] == table->x[row - 1];
  Smoothness smoothness = table->count ? table->curves[0].smoothness : SMOOTH_LINEAR;
  bool has_kinks = smoothness == SMOOTH_LINEAR || smoothness == SMOOTH_CONSTANT;
  return jumps || (t->events == EVENTS_ALWAYS && (has_kinks || is_end)) || (is_end && t->is_periodic);
}

static void place_events(TimeTable *t, Heap *heap) {
  const Table *table = &t->table;
  t->places = heap_array(heap, table->rows, sizeof *t->places);
  for (uint32_t row = 0; row < table->rows && t->events != EVENTS_NEVER; row++)
    if (has_event(t, row) && !(t->count && t->places[t->count - 1] == table->x[row]))
      t->places[t->count++] = table->x[row];
}

bool external_timetable_init(ExternalCall *call) {
  static const TableArguments at = {.columns = 6, .smoothness = 8, .extrapolation = 9, .verbose = 12};
  TimeTable *t = heap_alloc(call->state->heap, sizeof *t);
  if (!table_make(call, at, true, &t->table)) return false;
  t->start = external_number(call, 5);
  t->shift = external_number(call, 10);
  t->events = external_integer(call, 11);
  if (t->events < EVENTS_ALWAYS || t->events > EVENTS_NEVER)
    return external_fail(call, "time events %lld of a table are not known", (long long)t->events);
  t->is_periodic = external_integer(call, at.extrapolation) == EXTRAPOLATE_PERIODIC;
  place_events(t, call->state->heap);
  return external_give_object(call, &TIMETABLE_KIND, t, true);
}

bool external_timetable_read(ExternalCall *call) {
  const TimeTable *t = external_content(call, 0, &TIMETABLE_KIND);
  return t && table_element(call, &t->table);
}

bool external_timetable_minimum(ExternalCall *call) {
  const TimeTable *t = external_content(call, 0, &TIMETABLE_KIND);
  return t && external_give(call, t->table.x[0]);
}

bool external_timetable_maximum(ExternalCall *call) {
  const TimeTable *t = external_content(call, 0, &TIMETABLE_KIND);
  return t && external_give(call, t->table.x[t->table.rows - 1]);
}

/* ---- events ---- */

/* Times closer than this are the same: they differ by the round-off of a sum. */
static double same_time(const TimeTable *t, double time) {
  return 4 * DBL_EPSILON * fmax(fabs(time), fabs(t->shift) + fabs(t->table.x[t->table.rows - 1]));
}

/* The first event in the period of this number that is later than `time`; DBL_MAX if there is none. */
static double event_in_period(const TimeTable *t, double time, double period) {
  double least = time + same_time(t, time);
  for (uint32_t i = 0; i < t->count; i++) {
    double place = t->shift + period + t->places[i];
    if (place > least && place >= t->start) return place;
  }
  return DBL_MAX;
}

static double next_event(const TimeTable *t, double time) {
  const Table *table = &t->table;
  double length = table->x[table->rows - 1] - table->x[0];
  if (t->events == EVENTS_NEVER) return DBL_MAX;
  if (time < t->start) return t->start;
  if (!t->is_periodic || !(length > 0)) return event_in_period(t, time, 0);
  double number = floor((time - t->shift - table->x[0]) / length), found = DBL_MAX;
  for (double k = number - 1; k <= number + 1 && found == DBL_MAX; k++) found = event_in_period(t, time, k * length);
  return found;
}

bool external_timetable_next_event(ExternalCall *call) {
  const TimeTable *t = external_content(call, 0, &TIMETABLE_KIND);
  return t && external_give(call, next_event(t, external_number(call, 1)));
}

/* ---- values ---- */

/* A place that is an event but for round-off is that event: the side counts there. */
static double snap(const TimeTable *t, double place, double room) {
  const Table *table = &t->table;
  double length = table->x[table->rows - 1] - table->x[0];
  double period = t->is_periodic && length > 0 ? length * floor((place - table->x[0] + room) / length) : 0;
  uint32_t low = 0, high = t->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (t->places[middle] + period < place - room) low = middle + 1;
    else high = middle;
  }
  return low < t->count && fabs(t->places[low] + period - place) <= room ? t->places[low] : place - period;
}

static bool interpolate(ExternalCall *call, uint32_t order) {
  double u[JET_SIZE], element[JET_SIZE], derivative[JET_LIMIT + 1] = {0};
  const TimeTable *t = external_content(call, 0, &TIMETABLE_KIND);
  const Curve *curve = t ? table_curve(call, &t->table) : NULL;
  uint32_t n = call->nilpotents + order;
  if (!curve || !table_path(call, 5, order, u)) return false;
  double time = u[0], next = external_number(call, 3);
  bool is_before = next == external_number(call, 4) && time >= next;
  if (is_before) time = next;
  if (time > t->start || (time == t->start && !is_before)) {
    double place = snap(t, time - t->shift, same_time(t, time));
    if (!curve_derivatives(curve, place, is_before, n, derivative)) return table_outside(call, &t->table, place);
  }
  jet_compose(n, derivative, u, element);
  return table_give(call, order, element);
}

bool external_timetable_value(ExternalCall *call) { return interpolate(call, 0); }
bool external_timetable_derivative(ExternalCall *call) { return interpolate(call, 1); }
bool external_timetable_second_derivative(ExternalCall *call) { return interpolate(call, 2); }
