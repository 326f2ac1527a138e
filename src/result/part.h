/* part: the rows of a run as CSV in a file that grows while the run goes on, so that they survive the end of the program.
 *
 * Invariant: the file begins with whole lines; at most the last one may be cut off. What cannot be written is left out
 * silently: the result itself comes at the end of the run.
 */
#pragma once

#include "result/trajectory.h"

typedef struct PartFile PartFile;

/* The file is made when the first rows come. It is closed, and stays, when the heap dies. */
PartFile *part_new(Heap *heap, const char *path);

/* Appends what is new of the first `rows` rows; begins anew where rows written before were taken back. */
void part_write(PartFile *part, Diags *diags, const Trajectory *trajectory, size_t rows);

/* The rows of such a file. NULL: there is none, or nothing whole in it. */
Trajectory *part_read(Heap *heap, const char *path);
