/* raw: results as SPICE raw files, which waveform viewers read: a header in words, then the points, as text or as doubles of the
 * machine (little-endian on every platform of daedal). Parameters and derivatives are left out. */
#pragma once

#include "result/file.h"
#include "result/trajectory.h"

/* The variables of the plot, and its axis. */
typedef struct RawPlot {
  const char *title, *name; /* name: Transient Analysis, ... */
  const char *scale,
      *type; /* the first variable, such as time. NULL: no first variable, and the plot has only one point */
  double (*at)(const void *, double); /* its value at a time; NULL: the time itself */
  const void *context;
} RawPlot;

/* Writes into a file that the caller has created and will commit. O(rows * signals). */
void raw_write(Heap *heap, FileWriter *file, const Trajectory *trajectory, const RawPlot *plot, bool is_text);
