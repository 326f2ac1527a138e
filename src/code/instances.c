/* instances: see instances.h. If several equations of one shape alternate, their instances are first separated by their number
 * modulo the period. The stride of a lane is the majority among the differences of neighbours (Boyer and Moore's vote). A lane that
 * departs from it too often uses a table instead, so that blocks stay long. */
#include "code/instances.h"

/* A lane may break its stride once in this many instances before it becomes a table. */
enum { BREAK_DISTANCE = 32 };

static int64_t difference(const uint32_t *places, uint32_t instance, uint32_t lag) {
  return (int64_t)places[instance] - (int64_t)places[instance - lag];
}

static int64_t majority_difference(const uint32_t *places, uint32_t count, uint32_t lag) {
  int64_t candidate = 0;
  uint32_t votes = 0;
  for (uint32_t i = lag; i < count; i++) {
    int64_t d = difference(places, i, lag);
    if (votes == 0) candidate = d;
    if (d == candidate) votes++;
    else votes--;
  }
  return candidate;
}

static uint32_t count_breaks(const uint32_t *places, uint32_t count, uint32_t lag, int64_t stride) {
  uint32_t breaks = 0;
  for (uint32_t i = lag; i < count; i++) breaks += difference(places, i, lag) != stride;
  return breaks;
}

/* ---- periods ---- */

enum { PERIOD_LIMIT = 32, PERIOD_SAMPLE = 512 };

/* Counts over all lanes, among the first PERIOD_SAMPLE instances, those at which the lane does not advance evenly for this lag. */
static uint32_t lag_breaks(uint32_t lanes, uint32_t count, const uint32_t *places, uint32_t lag) {
  uint32_t breaks = 0, sample = count < PERIOD_SAMPLE ? count : PERIOD_SAMPLE;
  for (uint32_t l = 0; l < lanes; l++) {
    const uint32_t *own = places + (size_t)l * count;
    breaks += count_breaks(own, sample, lag, majority_difference(own, sample, lag));
  }
  return breaks;
}

/* The smallest lag at which nearly all lanes advance evenly; 1 if there is none. */
static uint32_t find_period(uint32_t lanes, uint32_t count, const uint32_t *places) {
  uint32_t sample = count < PERIOD_SAMPLE ? count : PERIOD_SAMPLE;
  for (uint32_t lag = 1; lag <= PERIOD_LIMIT && 4 * lag <= sample; lag++)
    if (lag_breaks(lanes, count, places, lag) <= lanes * sample / BREAK_DISTANCE) return lag;
  return 1;
}

/* The places with the instances ordered by their number modulo the period. */
static uint32_t *put_apart(Heap *heap, uint32_t lanes, uint32_t count, const uint32_t *places, uint32_t period) {
  uint32_t *result = heap_array(heap, (size_t)lanes * count, sizeof *result);
  for (uint32_t l = 0; l < lanes; l++) {
    const uint32_t *from = places + (size_t)l * count;
    uint32_t *to = result + (size_t)l * count;
    for (uint32_t phase = 0; phase < period; phase++)
      for (uint32_t i = phase; i < count; i += period) *to++ = from[i];
  }
  return result;
}

/* ---- lanes and blocks ---- */

static Lane lane_make(Heap *heap, Store store, const uint32_t *places, uint32_t count) {
  Lane lane = {.store = store, .mode = LANE_STRIDED, .start = places[0]};
  int64_t stride = majority_difference(places, count, 1);
  uint32_t breaks = count_breaks(places, count, 1, stride);
  if (breaks > count / BREAK_DISTANCE || stride > INT32_MAX || stride < INT32_MIN) {
    uint32_t *table = heap_copy(heap, places, count, sizeof *table);
    lane.mode = LANE_TABLE;
    lane.table = table;
  } else if (stride == 0 && breaks == 0) {
    lane.mode = LANE_UNIFORM;
  } else {
    lane.stride = (int32_t)stride;
  }
  return lane;
}

/* Does some strided lane leave its stride between instance - 1 and instance? */
static bool is_cut(const Instances *instances, const uint32_t *places, uint32_t instance) {
  for (uint32_t l = 0; l < instances->slots + instances->outputs; l++) {
    const Lane *lane = &instances->lanes[l];
    const uint32_t *own = places + (size_t)l * instances->count;
    if (lane->mode == LANE_STRIDED && difference(own, instance, 1) != lane->stride) return true;
  }
  return false;
}

static void make_blocks(Heap *heap, Instances *instances, const IndexVec *bounds, const uint32_t *places) {
  uint32_t lanes = instances->slots + instances->outputs, count = bounds->count - 1;
  uint32_t *starts = heap_array(heap, (size_t)lanes * count, sizeof *starts);
  instances->blocks = heap_array(heap, count, sizeof *instances->blocks);
  instances->block_count = count;
  for (uint32_t b = 0; b < count; b++) {
    uint32_t first = bounds->data[b];
    for (uint32_t l = 0; l < lanes; l++) starts[(size_t)b * lanes + l] = places[(size_t)l * instances->count + first];
    instances->blocks[b] = (InstanceBlock){first, bounds->data[b + 1] - first, starts + (size_t)b * lanes};
  }
}

Instances instances_make(Heap *heap, uint32_t count, uint32_t slots, uint32_t outputs, const Store *stores,
                         const uint32_t *given) {
  Instances instances = {.count = count, .slots = slots, .outputs = outputs};
  uint32_t lanes = slots + outputs;
  uint32_t *places = put_apart(heap, lanes, count, given, find_period(lanes, count, given));
  instances.lanes = heap_array(heap, lanes, sizeof *instances.lanes);
  for (uint32_t l = 0; l < lanes; l++)
    instances.lanes[l] = lane_make(heap, stores[l], places + (size_t)l * count, count);

  IndexVec bounds = {0};
  vec_push(heap, &bounds, 0);
  for (uint32_t i = 1; i < count; i++)
    if (i - vec_last(&bounds) == BLOCK_LIMIT || is_cut(&instances, places, i)) vec_push(heap, &bounds, i);
  vec_push(heap, &bounds, count);
  make_blocks(heap, &instances, &bounds, places);
  vec_free(heap, &bounds);
  heap_free(heap, places);
  return instances;
}
