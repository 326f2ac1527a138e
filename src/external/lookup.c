/* lookup: see lookup.h. */
#include "external/lookup.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double first_place(const Lookup *lookup) { return lookup->curves[0].x[0]; }

static double last_place(const Lookup *lookup) { return lookup->curves[0].x[lookup->curves[0].count - 1]; }

/* Converts a place and its derivatives along a path into an element with `order` more nilpotents. */
static void lay_path(uint32_t n, uint32_t order, const double *place, const double *first, const double *second,
                     double *u) {
  size_t size = (size_t)1 << n;
  memcpy(u, place, size * sizeof *u);
  if (order > 0) memcpy(u + size, first, size * sizeof *u);
  if (order > 1) memcpy(u + 2 * size, first, size * sizeof *u);
  if (order > 1) memcpy(u + 3 * size, second, size * sizeof *u);
}

/* The highest coefficients of an element. */
static void take_highest(uint32_t n, uint32_t order, const double *element, double *result) {
  size_t size = (size_t)1 << n;
  memcpy(result, element + (((size_t)1 << order) - 1) * size, size * sizeof *element);
}

/* ---- time events ---- */

/* Times closer than this are the same: they differ by the round-off of a sum. */
static double same_time(const Lookup *lookup, double time) {
  return 4 * DBL_EPSILON * fmax(fabs(time), fabs(lookup->events->shift) + fabs(last_place(lookup)));
}

/* The first event in the period of this number that is later than `time`; DBL_MAX if there is none. */
static double event_in_period(const Lookup *lookup, double time, double period) {
  const TimeEvents *events = lookup->events;
  double least = time + same_time(lookup, time);
  if (!events->count) return DBL_MAX;
  for (uint32_t i = curve_find(events->places, events->count, least - events->shift - period, false); i < events->count;
       i++) {
    double place = events->shift + period + events->places[i];
    if (place > least && place >= events->start) return place;
  }
  return DBL_MAX;
}

double lookup_next_event(const Lookup *lookup, double time) {
  const TimeEvents *events = lookup->events;
  double length = last_place(lookup) - first_place(lookup);
  if (!events->begins) return DBL_MAX;
  if (time < events->start) return events->start;
  if (!events->is_periodic || !(length > 0)) return event_in_period(lookup, time, 0);
  double number = floor((time - events->shift - first_place(lookup)) / length), found = DBL_MAX;
  for (double k = number - 1; k <= number + 1 && found == DBL_MAX; k++)
    found = event_in_period(lookup, time, k * length);
  return found;
}

/* ---- values ---- */

/* A place that differs from an event only by round-off becomes that event, because left and right limits differ there. */
static double snap(const Lookup *lookup, double place, double room) {
  const TimeEvents *events = lookup->events;
  double length = last_place(lookup) - first_place(lookup);
  double period = events->is_periodic && length > 0 ? length * floor((place - first_place(lookup) + room) / length) : 0;
  if (!events->count) return place - period;
  double near = events->places[curve_find(events->places, events->count, place - period + room, false)];
  return fabs(near + period - place) <= room ? near : place - period;
}

/* The curve over time. Values are left limits if time has reached an event that the model has not handled yet; 0 before the
 * start. */
static bool time_derivatives(const Lookup *lookup, const Curve *curve, const double *const *arguments, uint32_t order,
                             double *derivative, double *place) {
  const TimeEvents *events = lookup->events;
  double time = arguments[1][0], next = arguments[2][0];
  bool is_before = next == arguments[3][0] && time >= next;
  memset(derivative, 0, (order + 1) * sizeof *derivative);
  if (is_before) time = next;
  if (time < events->start || (time == events->start && is_before)) return true;
  *place = snap(lookup, time - events->shift, same_time(lookup, time));
  return curve_derivatives(curve, *place, is_before, order, derivative);
}

static bool curve_value(const Lookup *lookup, uint32_t n, uint32_t order, const double *const *arguments,
                        double *result, double *place) {
  double u[JET_SIZE], element[JET_SIZE], derivative[JET_LIMIT + 1];
  uint32_t number = (uint32_t)arguments[0][0], rates = lookup->events ? 4 : 2;
  if (number < 1 || number > lookup->count) return false;
  const Curve *curve = &lookup->curves[number - 1];
  lay_path(n, order, arguments[1], arguments[rates], arguments[rates + 1], u);
  *place = u[0];
  bool is_inside = lookup->events ? time_derivatives(lookup, curve, arguments, n + order, derivative, place)
                                  : curve_derivatives(curve, u[0], false, n + order, derivative);
  if (!is_inside) return false;
  jet_compose(n + order, derivative, u, element);
  take_highest(n, order, element, result);
  return true;
}

static bool grid_value(const Lookup *lookup, uint32_t n, uint32_t order, const double *const *arguments,
                       double *result) {
  double u[JET_SIZE], v[JET_SIZE], element[JET_SIZE], derivative[(JET_LIMIT + 1) * (JET_LIMIT + 1)];
  lay_path(n, order, arguments[0], arguments[2], arguments[4], u);
  lay_path(n, order, arguments[1], arguments[3], arguments[5], v);
  if (!grid_derivatives(lookup->grid, u[0], v[0], n + order, derivative)) return false;
  jet_compose_two(n + order, derivative, u, v, element);
  take_highest(n, order, element, result);
  return true;
}

bool lookup_value(const Lookup *lookup, uint32_t n, uint32_t order, const double *const *arguments, double *result,
                  double *place) {
  if (n + order > JET_LIMIT) return false;
  return lookup->grid ? grid_value(lookup, n, order, arguments, result)
                      : curve_value(lookup, n, order, arguments, result, place);
}

double lookup_minimum(const Lookup *lookup) { return first_place(lookup); }

double lookup_maximum(const Lookup *lookup) { return last_place(lookup); }
