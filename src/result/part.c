/* part: see part.h. */
#include "result/part.h"

#include "base/map.h"
#include "result/csv.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct PartFile {
  Heap *heap;
  const char *path, *state_path;
  int descriptor; /* -1: not open */
  bool has_failed;
  size_t rows, bytes; /* written */
};

/* The beginning of the state file. */
typedef struct StateHeader {
  char magic[8];
  uint64_t run, rows, bytes, size, check;
} StateHeader;

static const char MAGIC[8] = "daedal1";

static const char *state_path(Heap *heap, const char *path) {
  TextVec text = {0};
  text_printf(heap, &text, "%s.state", path);
  return text.data;
}

static void close_part(void *object) {
  PartFile *part = object;
  if (part->descriptor >= 0) close(part->descriptor);
}

PartFile *part_new(Heap *heap, const char *path, const PartContent *earlier) {
  PartFile *part = heap_alloc(heap, sizeof *part);
  *part = (PartFile){.heap = heap,
                     .path = heap_copy(heap, path, strlen(path) + 1, 1),
                     .state_path = state_path(heap, path),
                     .descriptor = -1,
                     .rows = earlier ? earlier->count : 0,
                     .bytes = earlier ? earlier->bytes : 0};
  heap_defer(heap, close_part, part);
  return part;
}

static bool sink(void *context, const void *bytes, size_t length) {
  PartFile *part = context;
  part->bytes += length;
  for (const char *at = bytes; length > 0;) {
    ssize_t count = write(part->descriptor, at, length);
    if (count < 0) return false;
    at += count;
    length -= (size_t)count;
  }
  return true;
}

/* Opens the file and writes the rows with which it begins. An older state does not belong to these rows. */
static bool begin(PartFile *part) {
  if (part->bytes == 0) (void)unlink(part->state_path);
  part->descriptor = open(part->path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  off_t length = (off_t)part->bytes;
  return part->descriptor >= 0 && ftruncate(part->descriptor, length) == 0 &&
         lseek(part->descriptor, length, SEEK_SET) == length;
}

static bool write_rows(PartFile *part, Diags *diags, const Trajectory *trajectory) {
  if (part->descriptor < 0 && !begin(part)) return false;
  FileWriter *file = file_create(part->heap, diags, "-", sink, part);
  if (part->rows == 0) csv_write_header(file, trajectory->signals);
  csv_write_rows(file, trajectory, part->rows, trajectory->rows);
  part->rows = trajectory->rows;
  return file_commit(file);
}

static bool write_state(PartFile *part, Diags *diags, uint64_t run, const Transfer *state) {
  StateHeader header = {.run = run, .rows = part->rows, .bytes = part->bytes, .size = state->bytes.count};
  memcpy(header.magic, MAGIC, sizeof MAGIC);
  header.check = hash_bytes(state->bytes.data, state->bytes.count);
  FileWriter *file = file_create(part->heap, diags, part->state_path, NULL, NULL);
  if (!file) return false;
  file_write(file, &header, sizeof header);
  file_write(file, state->bytes.data, state->bytes.count);
  return file_commit(file);
}

void part_write(PartFile *part, Diags *diags, const Trajectory *trajectory, uint64_t run, const Transfer *state) {
  uint32_t said = diags->list.count;
  part->has_failed =
      part->has_failed || !write_rows(part, diags, trajectory) || (state && !write_state(part, diags, run, state));
  diags_keep(diags, said);
}

/* ---- reading ---- */

static char *read_quietly(Heap *heap, const char *path, uint32_t *length) {
  Diags quiet = diags_make(heap);
  return access(path, R_OK) == 0 ? file_read(heap, &quiet, path, length) : NULL;
}

static bool read_state(Heap *heap, const char *path, PartContent *content) {
  StateHeader header;
  uint32_t length;
  const char *bytes = read_quietly(heap, state_path(heap, path), &length);
  if (!bytes || length < sizeof header) return false;
  memcpy(&header, bytes, sizeof header);
  bytes += sizeof header;
  if (memcmp(header.magic, MAGIC, sizeof MAGIC) != 0 || header.size != length - sizeof header ||
      header.check != hash_bytes(bytes, header.size))
    return false;
  *content = (PartContent){.run = header.run, .count = header.rows, .bytes = header.bytes};
  content->state = (Transfer){.heap = heap, .reads = true};
  text_append(heap, &content->state.bytes, bytes, header.size);
  return true;
}

bool part_read(Heap *heap, const char *path, PartContent *content) {
  Diags quiet = diags_make(heap);
  uint32_t length;
  if (!read_state(heap, path, content)) return false;
  char *text = read_quietly(heap, path, &length);
  if (!text || length < content->bytes) return false;
  text[content->bytes] = '\0';
  content->rows = csv_read(heap, &quiet, path, text, (uint32_t)content->bytes);
  return content->rows && content->rows->rows == content->count;
}
