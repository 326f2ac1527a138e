/* matrix_file: matrices in files, for tables and ModelicaIO. The content decides the format: text that begins with #1; a MATLAB
 * file of level 4 or level 5 (v6, v7), where s.a is field a of structure s; otherwise comma-separated values. */
#pragma once

#include "external/external.h"

typedef struct Matrix {
  uint32_t rows, columns;
  double *values; /* row-major; in the heap of the state */
} Matrix;

/* The format of comma-separated values. */
typedef struct MatrixFormat {
  char delimiter; /* 0: a comma */
  int64_t header_lines;
} MatrixFormat;

/* The matrix of this name (for comma-separated values: any name); false after external_fail. */
bool matrix_read(ExternalCall *call, const char *path, const char *name, MatrixFormat format, Matrix *matrix);

/* Room for a matrix; false after external_fail. */
bool matrix_make(ExternalCall *call, uint64_t rows, uint64_t columns, Matrix *matrix);

/* The bytes of a file, with a 0 after them, in the arena of the call; NULL after external_fail. */
char *file_bytes(ExternalCall *call, const char *path, size_t *size);
