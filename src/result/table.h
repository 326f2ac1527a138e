/* table: the outcome of many runs: a row for each, with numbers in named columns, how it ended and, if it failed, why.
 *
 * Files: CSV with the columns `point`, those of the numbers, `status` and `cause`; MAT (level 4) with the matrices name, data,
 * status and cause; NPY, a structured array with the same fields as the CSV. */
#pragma once

#include "result/file.h"

typedef struct Table {
  const char *const *names; /* of columns */
  uint32_t columns;
  uint32_t rows;
  uint32_t stride;           /* distance between rows of values: at least `columns` */
  const double *values;      /* row by row */
  const uint8_t *status;     /* by row: a DiagCode */
  const char *const *causes; /* by row; NULL: none */
} Table;

static inline double table_value(const Table *table, uint32_t row, uint32_t column) {
  return table->values[(size_t)row * table->stride + column];
}

/* "ok", "init", "integration", ...: the word for a DiagCode. */
const char *table_status(uint8_t code);

/* Writes into a file that the caller has created and will commit. O(rows * columns). */
void table_write_csv(FileWriter *file, const Table *table);
void table_write_npy(Heap *heap, FileWriter *file, const Table *table);

/* false: it does not fit into a MAT file, and that was reported. */
bool table_write_mat(Heap *heap, Diags *diags, FileWriter *file, const Table *table);
