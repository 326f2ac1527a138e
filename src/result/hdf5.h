/* hdf5: the trajectories of many runs in one HDF5 file.
 *
 * A run is a group: `names` of the signals that vary, `time` by rows, `values` by rows and columns, and `columns` by names. An
 * entry of `columns` is 1 + the column of a signal, negative if the signal is minus the column, so that equal signals are stored
 * once. The other signals, including parameters, are attributes. The file has the oldest form that readers know (HDF5 File Format
 * Specification 3.0: superblock 0, object headers 1). The root is a symbol table, which finds a group among many; a group holds its
 * three links itself. Numbers of the format are little-endian; data have the byte order of the machine. */
#pragma once

#include "result/file.h"
#include "result/trajectory.h"

/* An attribute of a run: a text or a number. */
typedef struct Hdf5Attribute {
  const char *name;
  const char *text; /* NULL: a number; cut if it is too long for an attribute */
  double number;
} Hdf5Attribute;

typedef struct Hdf5 Hdf5;

/* Begins a file. Lives in the heap. */
Hdf5 *hdf5_begin(Heap *heap, FileWriter *file);

/* Adds a group; groups come in the ascending order of their names. trajectory NULL: the run has none. */
void hdf5_add(Hdf5 *hdf5, const char *group, const Trajectory *trajectory, const Hdf5Attribute *attributes,
              uint32_t count);

/* Completes the file; the caller commits it. */
void hdf5_end(Hdf5 *hdf5);
