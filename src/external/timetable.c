/* timetable: tables over time (CombiTimeTable); see lookup.h. */
#include "external/functions.h"
#include "external/table.h"

/* Modelica.Blocks.Types.TimeEvents */
enum { EVENTS_ALWAYS = 1, EVENTS_AT_JUMPS, EVENTS_NEVER };

/* ---- making ---- */

/* Only constant or linear pieces have a kink at every point. */
static bool has_event(const Table *table, uint32_t row, int64_t events) {
  const Curve *curve = table->lookup.curves;
  bool is_end = row == 0 || row + 1 == table->rows, jumps = row && curve->x[row] == curve->x[row - 1];
  bool is_always = events == EVENTS_ALWAYS && (!curve_is_cubic(curve->smoothness) || is_end);
  return jumps || is_always || (is_end && curve->extrapolation == EXTRAPOLATE_PERIODIC);
}

static void place_events(const Table *table, int64_t events, Heap *heap, TimeEvents *times) {
  const double *x = table->lookup.curves[0].x;
  double *places = heap_array(heap, table->rows, sizeof *places);
  for (uint32_t row = 0; row < table->rows && events != EVENTS_NEVER; row++)
    if (has_event(table, row, events) && !(times->count && places[times->count - 1] == x[row]))
      places[times->count++] = x[row];
  times->places = places;
}

bool external_timetable_init(ExternalCall *call) {
  static const TableArguments at = {.columns = 6, .smoothness = 8, .extrapolation = 9, .verbose = 12};
  Heap *heap = call->state->heap;
  Table *table = heap_alloc(heap, sizeof *table);
  TimeEvents *times = heap_alloc(heap, sizeof *times);
  if (!table_make_curves(call, at, true, table)) return false;
  int64_t events = external_integer(call, 11);
  if (events < EVENTS_ALWAYS || events > EVENTS_NEVER)
    return external_fail(call, "time events %lld of a table are not known", (long long)events);
  *times = (TimeEvents){.start = external_number(call, 5),
                        .shift = external_number(call, 10),
                        .is_periodic = external_integer(call, at.extrapolation) == EXTRAPOLATE_PERIODIC,
                        .begins = events != EVENTS_NEVER};
  place_events(table, events, heap, times);
  table->lookup.events = times;
  return table_give(call, TABLE_TIMES, table);
}

/* ---- reading ---- */

bool external_timetable_read(ExternalCall *call) { return table_element(call, TABLE_TIMES); }

bool external_timetable_minimum(ExternalCall *call) {
  const Table *table = table_argument(call, TABLE_TIMES);
  return table && external_give(call, lookup_minimum(&table->lookup));
}

bool external_timetable_maximum(ExternalCall *call) {
  const Table *table = table_argument(call, TABLE_TIMES);
  return table && external_give(call, lookup_maximum(&table->lookup));
}

bool external_timetable_next_event(ExternalCall *call) {
  const Table *table = table_argument(call, TABLE_TIMES);
  return table && external_give(call, lookup_next_event(&table->lookup, external_number(call, 1)));
}

bool external_timetable_value(ExternalCall *call) { return table_interpolate(call, TABLE_TIMES, 0); }
bool external_timetable_derivative(ExternalCall *call) { return table_interpolate(call, TABLE_TIMES, 1); }
bool external_timetable_second_derivative(ExternalCall *call) { return table_interpolate(call, TABLE_TIMES, 2); }
