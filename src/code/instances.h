/* instances: where the instances of one kernel read their leaves and write their outputs.
 *
 * A lane is one slot (leaf) or one output over all instances. Most lanes of a regular model advance by a fixed stride; then no
 * table of indices is needed. Instances are cut into blocks within which every strided lane advances by its stride, so a block is a
 * loop without index look-ups. The order of instances is chosen for this purpose. */
#pragma once

#include "base/vec.h"

/* The arrays that numeric code reads and writes. */
typedef enum Store {
  STORE_CONSTANT, /* numbers of the program */
  STORE_TIME,
  STORE_COLUMN,
  STORE_PARAMETER,
  STORE_DISCRETE,
  STORE_PRE,
  STORE_SCRATCH, /* results of earlier kernels */
  STORE_OUTPUT,
  STORE_COUNT
} Store;

typedef enum LaneMode {
  LANE_UNIFORM, /* all instances have the same place */
  LANE_STRIDED, /* start of the block + stride * (instance - first of the block) */
  LANE_TABLE,   /* a table of places */
} LaneMode;

typedef struct Lane {
  Store store;
  LaneMode mode;
  int32_t stride;
  uint32_t start;        /* place of instance 0; of LANE_UNIFORM: the place */
  const uint32_t *table; /* for LANE_TABLE: place per instance */
} Lane;

typedef struct InstanceBlock {
  uint32_t first, count;
  const uint32_t *starts; /* per lane: place of the first instance */
} InstanceBlock;

enum { BLOCK_LIMIT = 128 };

/* Lanes 0 .. slots-1 are read, the others are written. */
typedef struct Instances {
  uint32_t count, slots, outputs;
  Lane *lanes;
  InstanceBlock *blocks;
  uint32_t block_count;
} Instances;

/* Places of all lanes: given[lane * count + instance]; stores[lane]. Outputs are never uniform unless count
 * is 1. Everything in the result lives in the heap; `given` is not kept. O(lanes * count). */
Instances instances_make(Heap *heap, uint32_t count, uint32_t slots, uint32_t outputs, const Store *stores,
                         const uint32_t *given);
