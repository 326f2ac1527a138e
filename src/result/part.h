/* part: the rows of a run as CSV in a file that grows while the run goes on, and in PATH.state the state of the run after them. Both
 * survive the end of the program, so that another one can go on.
 *
 * Invariant: the file of rows begins with whole lines; at most the last one may be cut off. That of the state is replaced as a whole, and
 * says which of the rows it belongs to. What cannot be written is left out silently: the result itself comes at the end of the run.
 */
#pragma once

#include "base/transfer.h"
#include "result/trajectory.h"

typedef struct PartFile PartFile;

/* What a program left behind. */
typedef struct PartContent {
  uint64_t run; /* which run it was */
  Transfer state;
  Trajectory *rows;
  size_t count, bytes; /* the rows before the state, and the bytes that they have in their file */
} PartContent;

/* The file is made when the first rows come; with `earlier` (NULL: nothing) it goes on after the rows before that state. It is closed, and
 * stays, when the heap dies. */
PartFile *part_new(Heap *heap, const char *path, const PartContent *earlier);

/* Appends what is new of the rows, and leaves the state after them. NULL: the current one is none to continue from, and the one before stays. */
void part_write(PartFile *part, Diags *diags, const Trajectory *trajectory, uint64_t run, const Transfer *state);

/* false: there is no state, or there are not all rows before it. */
bool part_read(Heap *heap, const char *path, PartContent *content);
