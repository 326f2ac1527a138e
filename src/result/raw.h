/* raw: results as SPICE raw files, which viewers of waveforms read: a header in words, then the points, as text or as doubles
 * of the machine (little-endian everywhere that daedal is built for). Parameters and derivatives are left out. */
#pragma once

#include "result/file.h"
#include "result/trajectory.h"

/* Writes into a file that the caller has created and will commit. O(rows * signals). */
void raw_write(Heap *heap, FileWriter *file, const Trajectory *trajectory, const char *title, bool is_text);
