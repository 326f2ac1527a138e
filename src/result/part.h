/* part: the rows of a run as CSV in a file that grows during the run, and in PATH.state the state of the run after them. Both
 * survive the end of the program, so that another program can continue.
 *
 * Invariant: the file of rows begins with whole lines; only the last one may be cut off. The state file is replaced as a whole, and
 * says to which of the rows it belongs. Failures to write are ignored: the result itself comes at the end of the run. */
#pragma once

#include "base/transfer.h"
#include "result/trajectory.h"

typedef struct PartFile PartFile;

/* The state that another program has left. */
typedef struct PartContent {
  uint64_t run; /* identifies the run */
  Transfer state;
  Trajectory *rows;
  size_t count, bytes; /* the number of rows before the state, and their bytes in the file */
} PartContent;

/* Creates the file when the first rows arrive. If `earlier` is not NULL, the file begins with the rows that `earlier` has before
 * its state. The file is closed, and stays, when the heap dies. */
PartFile *part_new(Heap *heap, const char *path, const PartContent *earlier);

/* Appends new rows, and writes the state after them. NULL: the run cannot continue from the current state, so the one
 * before stays. */
void part_write(PartFile *part, Diags *diags, const Trajectory *trajectory, uint64_t run, const Transfer *state);

/* false: there is no state, or rows before it are missing. */
bool part_read(Heap *heap, const char *path, PartContent *content);
