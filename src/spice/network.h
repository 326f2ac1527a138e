/* network: the circuit as a graph. Contracting first the capacitors, then the voltage sources, then resistive branches shows the
 * causes of a higher index (Estevez Schwarz, Tischendorf 2000; Kunkel, Mehrmann 2003, section 4):
 *
 *   Q_C    of nodes that capacitors join, only the sum of Kirchhoff's current laws is free of derivatives
 *   Q_V-C  a voltage source that closes a loop of capacitors and voltage sources fixes a sum of capacitor voltages
 *   Q_CRV  nodes that only inductors and current sources lead away from: the sum of those currents is 0
 *
 * Invariant: the root of a part is its node with the smallest number, so ground is the root of its part. */
#pragma once

#include "spice/circuit.h"

typedef enum Level { LEVEL_NODE, LEVEL_C, LEVEL_CV, LEVEL_CVR, LEVELS } Level;

typedef struct Network {
  const Circuit *circuit;
  uint32_t *root[LEVELS]; /* per node */
  bool *closes_loop;      /* per branch: a voltage source that closes a loop of capacitors and voltage sources */
  bool *is_free;          /* per node, then per branch: its state may start anywhere */
} Network;

/* Disjoint sets of nodes that can be joined. */
typedef struct NodeSets {
  uint32_t *parent;
} NodeSets;
NodeSets sets_make(Arena *arena, uint32_t count, const uint32_t *from);
uint32_t sets_find(NodeSets *parts, uint32_t node);

/* false: they were already joined. */
bool sets_join(NodeSets *parts, uint32_t a, uint32_t b);

/* Contracts the graph. Refuses floating parts, loops of voltage sources and cutsets of current sources by name. */
bool network_make(Network *network, Circuit *circuit);

/* The level whose sum of current laws is in the row of a node. */
Level network_row_level(const Network *network, uint32_t node);

/* The branches of a path from a to b, in order: only capacitors and voltage sources that close no loop. `forward[k]`: the branch
 * is passed from `from` to `to`. */
typedef struct Path {
  IndexVec branches;
  VEC(bool) forward;
} Path;
bool network_path(const Network *network, uint32_t a, uint32_t b, bool only_voltages, Path *path);

/* Loops, cutsets and index for the report. */
Topology *network_topology(const Network *network);
