/* difference: see difference.h. */
#include "result/difference.h"

#include <math.h>
#include <stdlib.h>

/* Both sides of a result at a time: the columns before and after. They are equal if there is no event. */
typedef struct Sides {
  double *columns[2];
} Sides;

typedef struct Walk {
  const Trajectory *const *results;
  size_t row[2]; /* the first row that was not passed yet */
  Sides at[2];
  double slack; /* tolerance for times of events if only common rows count; NAN: all rows count */
} Walk;

static double time_at(const Trajectory *trajectory, size_t row) {
  return row < trajectory->rows ? trajectory_time(trajectory, row) : INFINITY;
}

static double first_time(const Trajectory *trajectory) { return trajectory_time(trajectory, 0); }
static double last_time(const Trajectory *trajectory) { return trajectory_time(trajectory, trajectory->rows - 1); }

static void copy_row(const Trajectory *trajectory, size_t row, double *columns) {
  const double *values = trajectory_row(trajectory, row);
  for (uint32_t j = 0; j < trajectory->columns; j++) columns[j] = values[j];
}

/* Passes the rows of one result at this time. */
static void sample_sides(Walk *walk, uint32_t k, double time) {
  const Trajectory *trajectory = walk->results[k];
  Sides *at = &walk->at[k];
  size_t begin = walk->row[k], end = begin;
  while (time_at(trajectory, end) == time) end++;
  for (int side = 0; side < 2; side++) {
    if (end == begin) trajectory_sample(trajectory, time, at->columns[side]);
    else copy_row(trajectory, side == 0 ? begin : end - 1, at->columns[side]);
  }
  walk->row[k] = end;
}

/* The first row after the rows of this time. */
static size_t row_behind(const Walk *walk, uint32_t k, double time) {
  size_t row = walk->row[k];
  while (time_at(walk->results[k], row) == time) row++;
  return row;
}

static bool has_row(const Trajectory *trajectory, double time) {
  return trajectory_time(trajectory, trajectory_find(trajectory, time)) == time;
}

/* Does result k have a row within the slack of this time, while the other result has none at the time of that row? */
static bool has_event_near(const Walk *walk, uint32_t k, double time) {
  const Trajectory *mine = walk->results[k], *other = walk->results[1 - k];
  size_t before = walk->row[k], behind = row_behind(walk, k, time);
  if (before > 0) {
    double t = trajectory_time(mine, before - 1);
    if (time - t <= walk->slack && !has_row(other, t)) return true;
  }
  double t = time_at(mine, behind);
  return t - time <= walk->slack && !has_row(other, t);
}

/* Do the values of both results at this time belong to the same side of every event? */
static bool is_comparable(const Walk *walk, double time) {
  if (isnan(walk->slack)) return true;
  size_t rows[2];
  for (uint32_t k = 0; k < 2; k++) {
    rows[k] = row_behind(walk, k, time) - walk->row[k];
    if (rows[k] == 0 || has_event_near(walk, k, time)) return false;
  }
  return (rows[0] > 1) == (rows[1] > 1);
}

/* Two values that are both NaN are equal. */
static double distance(double first, double second) {
  if (first == second || (isnan(first) && isnan(second))) return 0;
  double difference = fabs(first - second);
  return isnan(difference) ? INFINITY : difference;
}

/* `scale` becomes the largest value so far. */
static void compare_signal(const Walk *walk, double time, SignalDifference *found, double *scale) {
  for (int side = 0; side < 2; side++) {
    double value[2];
    for (uint32_t k = 0; k < 2; k++) {
      value[k] = signal_value(&walk->results[k]->signals->list.data[found->signal[k]], walk->at[k].columns[side]);
      if (fabs(value[k]) > *scale) *scale = fabs(value[k]);
    }
    double now = distance(value[0], value[1]);
    if (!(now > found->largest)) continue;
    *found = (SignalDifference){{found->signal[0], found->signal[1]}, now, 0, time, {value[0], value[1]}};
  }
}

/* Compares at the times of either result from `start` to `stop`. */
static void compare_rows(Arena *arena, ResultDifference *difference, Walk *walk) {
  double *scale = arena_array(arena, difference->count, sizeof *scale);
  for (uint32_t k = 0; k < 2; k++) {
    while (time_at(walk->results[k], walk->row[k]) < difference->start) walk->row[k]++;
    for (int side = 0; side < 2; side++)
      walk->at[k].columns[side] = arena_array(arena, walk->results[k]->columns, sizeof(double));
  }
  for (;;) {
    double time = fmin(time_at(walk->results[0], walk->row[0]), time_at(walk->results[1], walk->row[1]));
    if (!(time <= difference->stop)) break;
    bool counts = is_comparable(walk, time);
    for (uint32_t k = 0; k < 2; k++) sample_sides(walk, k, time);
    if (!counts) continue;
    difference->times++;
    for (uint32_t s = 0; s < difference->count; s++) compare_signal(walk, time, &difference->list[s], &scale[s]);
  }
  for (uint32_t s = 0; s < difference->count; s++) {
    SignalDifference *found = &difference->list[s];
    if (found->largest > 0) found->relative = isinf(found->largest) ? INFINITY : found->largest / scale[s];
  }
}

/* Lists the signals that both results have, and those that only one has. */
static void pair_signals(Arena *arena, ResultDifference *difference, const Trajectory *const results[2],
                         SignalChoice *is_chosen, const void *context) {
  for (uint32_t k = 0; k < 2; k++) {
    const SignalTable *mine = results[k]->signals, *other = results[1 - k]->signals;
    difference->single[k] = arena_array(arena, mine->list.count, sizeof(uint32_t));
    if (k == 0) difference->list = arena_array(arena, mine->list.count, sizeof *difference->list);
    for (uint32_t s = 0; s < mine->list.count; s++) {
      const Signal *signal = &mine->list.data[s];
      uint32_t found = signals_find(other, signal->name);
      bool is_parameter =
          signal->kind == SIGNAL_PARAMETER && (found == MAP_NONE || other->list.data[found].kind == SIGNAL_PARAMETER);
      if (is_parameter || !is_chosen(context, signal->name)) continue;
      if (found == MAP_NONE) difference->single[k][difference->single_count[k]++] = s;
      else if (k == 0)
        difference->list[difference->count++] =
            (SignalDifference){.signal = {s, found}, .time = NAN, .value = {NAN, NAN}};
    }
  }
}

/* Larger relative differences first; equal ones in the order of the first result. */
static int compare_differences(const void *a, const void *b) {
  const SignalDifference *first = a, *second = b;
  if (first->relative != second->relative) return first->relative > second->relative ? -1 : 1;
  return first->signal[0] < second->signal[0] ? -1 : 1;
}

static ResultDifference find(Arena *arena, const Trajectory *const results[2], double slack, SignalChoice *is_chosen,
                             const void *context) {
  ResultDifference difference = {.start = fmax(first_time(results[0]), first_time(results[1])),
                                 .stop = fmin(last_time(results[0]), last_time(results[1]))};
  difference.is_span_different =
      first_time(results[0]) != first_time(results[1]) || last_time(results[0]) != last_time(results[1]);
  Walk walk = {.results = results, .slack = slack};
  pair_signals(arena, &difference, results, is_chosen, context);
  compare_rows(arena, &difference, &walk);
  if (difference.count) qsort(difference.list, difference.count, sizeof *difference.list, compare_differences);
  return difference;
}

ResultDifference difference_find(Arena *arena, const Trajectory *const results[2], SignalChoice *is_chosen,
                                 const void *context) {
  return find(arena, results, NAN, is_chosen, context);
}

ResultDifference difference_find_common(Arena *arena, const Trajectory *const results[2], double slack,
                                        SignalChoice *is_chosen, const void *context) {
  return find(arena, results, slack, is_chosen, context);
}
