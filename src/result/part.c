/* part: see part.h. */
#include "result/part.h"

#include "result/csv.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct PartFile {
  Heap *heap;
  const char *path;
  int descriptor; /* -1: not open */
  bool has_failed;
  size_t written; /* rows */
};

static void close_part(void *object) {
  PartFile *part = object;
  if (part->descriptor >= 0) close(part->descriptor);
}

PartFile *part_new(Heap *heap, const char *path) {
  PartFile *part = heap_alloc(heap, sizeof *part);
  *part = (PartFile){.heap = heap, .path = heap_copy(heap, path, strlen(path) + 1, 1), .descriptor = -1};
  heap_defer(heap, close_part, part);
  return part;
}

static bool sink(void *context, const void *bytes, size_t length) {
  PartFile *part = context;
  for (const char *at = bytes; length > 0;) {
    ssize_t count = write(part->descriptor, at, length);
    if (count < 0) return false;
    at += count;
    length -= (size_t)count;
  }
  return true;
}

/* The file without any rows. */
static bool begin(PartFile *part) {
  if (part->descriptor < 0) part->descriptor = open(part->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  part->written = 0;
  return part->descriptor >= 0 && ftruncate(part->descriptor, 0) == 0 && lseek(part->descriptor, 0, SEEK_SET) == 0;
}

void part_write(PartFile *part, Diags *diags, const Trajectory *trajectory, size_t rows) {
  if (part->has_failed || rows == part->written) return;
  if ((part->descriptor < 0 || rows < part->written) && !begin(part)) {
    part->has_failed = true;
    return;
  }
  uint32_t said = diags->list.count;
  FileWriter *file = file_create(part->heap, diags, "-", sink, part);
  if (part->written == 0) csv_write_header(file, trajectory->signals);
  csv_write_rows(file, trajectory, part->written, rows);
  part->has_failed = !file_commit(file);
  diags_keep(diags, said);
  part->written = rows;
}

Trajectory *part_read(Heap *heap, const char *path) {
  Diags quiet = diags_make(heap);
  uint32_t length;
  char *text = access(path, R_OK) == 0 ? file_read(heap, &quiet, path, &length) : NULL;
  if (!text) return NULL;
  while (length > 0 && text[length - 1] != '\n') length--;
  text[length] = '\0';
  return csv_read(heap, &quiet, path, text, length);
}
