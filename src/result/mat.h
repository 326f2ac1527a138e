/* mat: results in the trajectory format of Modelica tools. It consists of MATLAB level 4 matrices (Aclass, name, description,
 * dataInfo, data_1, data_2; layout binTrans). data_1 has the constant signals (first and last value), and data_2 has one column for
 * each row of the run. dataInfo says in which matrix and row each signal is, and with which sign.
 *
 * Invariant: a file is never larger than MAT_LIMIT, the offsets that its readers can hold. */
#pragma once

#include "result/file.h"
#include "result/trajectory.h"

#define MAT_LIMIT UINT64_C(0x7fffffff)

/* The size in bytes of a file with these signals and `rows` rows. O(signals). */
uint64_t mat_size(const SignalTable *signals, uint64_t rows);

/* False after reporting (DIAG_USAGE, with what to do) when the file would exceed MAT_LIMIT. */
bool mat_fits(Diags *diags, const SignalTable *signals, uint64_t rows);

/* Writes into a file that the caller has created and will commit. false: it does not fit, and that was reported.
 * O(rows * columns + signals). */
bool mat_write(Heap *heap, Diags *diags, FileWriter *file, const Trajectory *trajectory);

/* Reads a result from the bytes of a file; `path` is for messages only. Accepts binTrans and binNormal,
 * either byte order, double, single and integer matrices. NULL after reporting a DIAG_FILE error. The
 * trajectory and its table belong to the heap. O(length). */
Trajectory *mat_read(Heap *heap, Diags *diags, const char *path, const char *bytes, uint32_t length);

/* Matrices of other files of the same level: numbers by columns, and texts as rows of characters. */
void mat_put_matrix(FileWriter *file, const char *name, const double *values, uint32_t rows, uint32_t columns);
void mat_put_texts(FileWriter *file, const char *name, const char *const *texts, uint32_t count);
