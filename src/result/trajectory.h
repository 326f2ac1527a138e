/* trajectory: the rows of a run in memory: time, and one double for each column of a signal table.
 *
 * Invariant: time never decreases; two rows of equal time are the two sides of an event. Rows live in chunks
 * that never move, so a pointer to a row stays valid while the trajectory lives.
 */
#pragma once

#include "result/signal.h"

typedef struct Trajectory {
  Heap *heap;
  const SignalTable *signals;
  uint32_t columns, rows_per_chunk;
  size_t rows;
  VEC(double *) chunks; /* rows of 1 + columns doubles, time first */
} Trajectory;

/* An empty trajectory. The table must be complete (no column is added later) and outlive it. */
Trajectory *trajectory_new(Heap *heap, const SignalTable *signals);

/* Appends a row and returns its columns (all zero) for the caller to fill. Amortized O(columns). */
double *trajectory_append(Trajectory *trajectory, double time);

/* Removes all rows except the first `rows`. */
void trajectory_cut(Trajectory *trajectory, size_t rows);

double trajectory_time(const Trajectory *trajectory, size_t row);
const double *trajectory_row(const Trajectory *trajectory, size_t row); /* its columns */
double trajectory_value(const Trajectory *trajectory, size_t row, uint32_t signal);

/* The last row with time <= `time`; the first row when there is none. O(log rows). */
size_t trajectory_find(const Trajectory *trajectory, double time);

/* The columns at any time between the first and the last row, linearly interpolated; at an event the values after it. false: the
 * time is outside (beyond round-off), or there are no rows. O(columns + log rows). */
bool trajectory_sample(const Trajectory *trajectory, double time, double *columns);

/* Frees rows and trajectory; not the signal table. NULL is allowed. */
void trajectory_free(Trajectory *trajectory);
