/* effects: functions of Modelica.Utilities that change something outside; they are found only if the user allows it. Printed
 * messages go to the state of the run, not to the terminal. */
#include "external/functions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { PRINTED_MOST = 1 << 16 }; /* bytes; a limit, because equations are evaluated often */

static bool check(ExternalCall *call, bool is_done, const char *path) {
  return is_done || external_fail(call, "`%s`: %s", path, strerror(errno));
}

/* Adds a line of text to the run's messages, or appends it to a file if one is named. */
bool external_print(ExternalCall *call) {
  const char *text = external_text(call, 0), *path = external_text(call, 1);
  if (!path[0]) {
    if (call->state->printed.count < PRINTED_MOST) text_printf(call->state->heap, &call->state->printed, "%s\n", text);
    return true;
  }
  call->lacks_right = !call->function->rights || !call->function->rights->may_write;
  if (call->lacks_right) return external_fail(call, "writing to file `%s` needs --allow-external", path);
  FILE *file = fopen(path, "a");
  bool is_written = file && fprintf(file, "%s\n", text) >= 0;
  if (file && fclose(file) != 0) is_written = false;
  return check(call, is_written, path);
}

bool external_stop(ExternalCall *call) { return external_fail(call, "%s", external_text(call, 0)); }

bool external_make_directory(ExternalCall *call) {
  const char *path = external_text(call, 0);
  return check(call, mkdir(path, 0777) == 0 || errno == EEXIST, path);
}

bool external_remove_directory(ExternalCall *call) {
  return check(call, rmdir(external_text(call, 0)) == 0, external_text(call, 0));
}

bool external_remove_file(ExternalCall *call) {
  return check(call, unlink(external_text(call, 0)) == 0, external_text(call, 0));
}

bool external_rename(ExternalCall *call) {
  return check(call, rename(external_text(call, 0), external_text(call, 1)) == 0, external_text(call, 0));
}

static bool copy_bytes(FILE *from, FILE *to) {
  char buffer[65536];
  size_t count;
  while ((count = fread(buffer, 1, sizeof buffer, from)) > 0)
    if (fwrite(buffer, 1, count, to) != count) return false;
  return !ferror(from);
}

bool external_copy_file(ExternalCall *call) {
  int descriptor = reading_open(external_text(call, 0));
  FILE *from = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL,
       *to = from ? fopen(external_text(call, 1), "wb") : NULL;
  bool is_copied = to && copy_bytes(from, to);
  if (from) fclose(from);
  if (to && fclose(to) != 0) is_copied = false;
  return check(call, is_copied, external_text(call, from ? 1 : 0));
}

bool external_change_directory(ExternalCall *call) {
  return check(call, chdir(external_text(call, 0)) == 0, external_text(call, 0));
}

bool external_set_environment(ExternalCall *call) {
  return check(call, setenv(external_text(call, 0), external_text(call, 1), 1) == 0, external_text(call, 0));
}

bool external_command(ExternalCall *call) { return external_give(call, system(external_text(call, 0))); }

/* ---- matrices in files of MATLAB ---- */

typedef VEC(unsigned char) Bytes;

static void put(Heap *heap, Bytes *bytes, const void *data, size_t size) {
  for (size_t i = 0; i < size; i++) vec_push(heap, bytes, ((const unsigned char *)data)[i]);
}

static void put_columns(Heap *heap, Bytes *bytes, const ExternalValue *matrix) {
  for (uint32_t c = 0; c < matrix->sizes[1]; c++)
    for (uint32_t r = 0; r < matrix->sizes[0]; r++)
      put(heap, bytes, &matrix->numbers[(size_t)r * matrix->sizes[1] + c], sizeof(double));
}

/* Level 4. */
static void put_matrix(Heap *heap, Bytes *bytes, const char *name, const ExternalValue *matrix) {
  int32_t head[5] = {0, (int32_t)matrix->sizes[0], (int32_t)matrix->sizes[1], 0, (int32_t)strlen(name) + 1};
  put(heap, bytes, head, sizeof head);
  put(heap, bytes, name, (size_t)head[4]);
  put_columns(heap, bytes, matrix);
}

/* Data elements of level 5: a kind and a size, then the data, filled up to a multiple of 8 bytes. */
enum { BYTE = 1, INTEGER = 5, UNSIGNED = 6, DOUBLE = 9, MATRIX = 14, COMPRESSED = 15, CLASS_DOUBLE = 6 };

static void put_element(Heap *heap, Bytes *bytes, uint32_t kind, const void *data, size_t size) {
  uint32_t tag[2] = {kind, (uint32_t)size};
  put(heap, bytes, tag, sizeof tag);
  put(heap, bytes, data, size);
  while (bytes->count % 8) vec_push(heap, bytes, 0);
}

static void put_element_of_matrix(Heap *heap, Bytes *bytes, const char *name, const ExternalValue *matrix) {
  Bytes inner = {0}, columns = {0};
  uint32_t flags[2] = {CLASS_DOUBLE, 0};
  int32_t sizes[2] = {(int32_t)matrix->sizes[0], (int32_t)matrix->sizes[1]};
  put_columns(heap, &columns, matrix);
  put_element(heap, &inner, UNSIGNED, flags, sizeof flags);
  put_element(heap, &inner, INTEGER, sizes, sizeof sizes);
  put_element(heap, &inner, BYTE, name, strlen(name));
  put_element(heap, &inner, DOUBLE, columns.data, columns.count);
  put_element(heap, bytes, MATRIX, inner.data, inner.count);
  vec_free(heap, &inner, &columns);
}

static void put_header(Heap *heap, Bytes *bytes) {
  char text[124] = "MATLAB 5.0 MAT-file";
  uint16_t version = 0x0100, order = 'M' << 8 | 'I';
  memset(text + strlen(text), ' ', 116 - strlen(text));
  put(heap, bytes, text, sizeof text);
  put(heap, bytes, &version, sizeof version);
  put(heap, bytes, &order, sizeof order);
}

static void compress_bytes(Heap *heap, Bytes *bytes) {
  uLongf size = compressBound(bytes->count);
  unsigned char *packed = heap_array(heap, size, 1);
  bool is_packed = compress(packed, &size, bytes->data, bytes->count) == Z_OK;
  uint32_t tag[2] = {COMPRESSED, (uint32_t)size};
  if (is_packed) {
    bytes->count = 0;
    put(heap, bytes, tag, sizeof tag);
    put(heap, bytes, packed, size);
  }
  heap_free(heap, packed);
}

/* Appends to a file, or replaces it. */
static bool write_bytes(const char *path, const Bytes *bytes, bool appends) {
  FILE *file = fopen(path, appends ? "ab" : "wb");
  bool is_written = file && fwrite(bytes->data, 1, bytes->count, file) == bytes->count;
  return file && fclose(file) == 0 && is_written;
}

/* file, name, matrix, rows, columns, append, version of the format: 4, 6 (level 5) or 7 (level 5, compressed) */
bool external_matrix_write(ExternalCall *call) {
  const ExternalValue *matrix = &call->arguments[2];
  const char *path = external_text(call, 0), *name = external_text(call, 1), *version = external_text(call, 6);
  Heap *heap = call->state->heap;
  bool appends = external_integer(call, 5) != 0;
  struct stat status;
  bool is_new = !appends || stat(path, &status) != 0 || status.st_size == 0;
  Bytes bytes = {0}, head = {0};
  if (matrix->dimensions != 2) return external_fail(call, "a matrix has two dimensions");
  if (strcmp(version, "4") != 0 && strcmp(version, "6") != 0 && strcmp(version, "7") != 0)
    return external_fail(call, "a matrix can be written in the versions 4, 6 and 7, not \"%s\"", version);
  if (version[0] == '4') {
    put_matrix(heap, &bytes, name, matrix);
  } else {
    put_element_of_matrix(heap, &bytes, name, matrix);
    if (version[0] == '7') compress_bytes(heap, &bytes);
    if (is_new) put_header(heap, &head);
    put(heap, &head, bytes.data, bytes.count);
  }
  bool is_written = write_bytes(path, version[0] == '4' ? &bytes : &head, appends);
  vec_free(heap, &bytes, &head);
  return check(call, is_written, path) && external_give(call, 1);
}
