/* load: see load.h. */
#include "result/load.h"

#include "result/csv.h"
#include "result/mat.h"

#include <string.h>

/* A MAT file begins with the integer type of its first matrix, so it has a zero byte where text has none. */
Trajectory *load_result(Heap *heap, Diags *diags, const char *path) {
  uint32_t length;
  char *bytes = file_read(heap, diags, path, &length);
  if (!bytes) return NULL;
  bool binary = memchr(bytes, '\0', length < 4 ? length : 4) != NULL;
  Trajectory *trajectory =
      binary ? mat_read(heap, diags, path, bytes, length) : csv_read(heap, diags, path, bytes, length);
  heap_free(heap, bytes);
  return trajectory;
}
