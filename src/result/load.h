/* load: reads a result file of either format, which is recognized by its content. */
#pragma once

#include "result/trajectory.h"

/* The result in file `path`. NULL after reporting a DIAG_FILE error. The trajectory and its table belong to
 * the heap. O(size of the file). */
Trajectory *load_result(Heap *heap, Diags *diags, const char *path);
