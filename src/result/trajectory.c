/* trajectory: see trajectory.h. */
#include "result/trajectory.h"

#include <math.h>

/* The number of doubles in a chunk: large enough that chunks are few, small enough that a short run stays small. */
enum { CHUNK_DOUBLES = 1 << 13 };

Trajectory *trajectory_new(Heap *heap, const SignalTable *signals) {
  Trajectory *trajectory = heap_alloc(heap, sizeof *trajectory);
  trajectory->heap = heap;
  trajectory->signals = signals;
  trajectory->columns = signals->columns;
  trajectory->rows_per_chunk = signals->columns + 1 < CHUNK_DOUBLES ? CHUNK_DOUBLES / (signals->columns + 1) : 1;
  return trajectory;
}

static double *row_at(const Trajectory *trajectory, size_t row) {
  size_t stride = (size_t)trajectory->columns + 1;
  return trajectory->chunks.data[row / trajectory->rows_per_chunk] + row % trajectory->rows_per_chunk * stride;
}

double *trajectory_append(Trajectory *trajectory, double time) {
  if (trajectory->rows / trajectory->rows_per_chunk == trajectory->chunks.count) {
    size_t doubles = ((size_t)trajectory->columns + 1) * trajectory->rows_per_chunk;
    vec_reserve(trajectory->heap, &trajectory->chunks,
                1); /* reserves the list entry before the chunk is allocated: a refusal here would lose the chunk */
    vec_push(trajectory->heap, &trajectory->chunks, heap_resize(trajectory->heap, NULL, doubles * sizeof(double)));
  }
  double *row = row_at(trajectory, trajectory->rows++);
  row[0] = time;
  return row + 1;
}

void trajectory_cut(Trajectory *trajectory, size_t rows) { trajectory->rows = rows; }

double trajectory_time(const Trajectory *trajectory, size_t row) { return row_at(trajectory, row)[0]; }
const double *trajectory_row(const Trajectory *trajectory, size_t row) { return row_at(trajectory, row) + 1; }

double trajectory_value(const Trajectory *trajectory, size_t row, uint32_t signal) {
  return signal_value(&trajectory->signals->list.data[signal], trajectory_row(trajectory, row));
}

size_t trajectory_find(const Trajectory *trajectory, double time) {
  size_t low = 0, high = trajectory->rows;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (trajectory_time(trajectory, middle) <= time) low = middle;
    else high = middle;
  }
  return low;
}

bool trajectory_sample(const Trajectory *trajectory, double time, double *columns) {
  if (trajectory->rows == 0) return false;
  double first = trajectory_time(trajectory, 0), last = trajectory_time(trajectory, trajectory->rows - 1);
  double slack = 1e-12 * (fabs(first) + fabs(last));
  if (!(time >= first - slack && time <= last + slack)) return false;
  size_t row = trajectory_find(trajectory, time);
  const double *left = trajectory_row(trajectory, row), *right = left;
  double part = 0, begin = trajectory_time(trajectory, row);
  if (time > begin && row + 1 < trajectory->rows) {
    right = trajectory_row(trajectory, row + 1);
    part = (time - begin) / (trajectory_time(trajectory, row + 1) - begin);
  }
  for (uint32_t j = 0; j < trajectory->columns; j++)
    columns[j] = part == 0 ? left[j] : (1 - part) * left[j] + part * right[j];
  return true;
}

void trajectory_free(Trajectory *trajectory) {
  if (!trajectory) return;
  Heap *heap = trajectory->heap;
  for (uint32_t i = 0; i < trajectory->chunks.count; i++) heap_free(heap, trajectory->chunks.data[i]);
  vec_free(heap, &trajectory->chunks);
  heap_free(heap, trajectory);
}
