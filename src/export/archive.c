/* archive: see archive.h. */
#include "export/archive.h"

#include <string.h>
#include <zlib.h>

/* 1980-01-01, the first day of the format; text in UTF-8; files that everyone may read and run. */
enum { VERSION = 20, FLAGS = 0x0800, DEFLATED = 8, DATE = 0x0021 };
static const uint32_t LOCAL = 0x04034b50, CENTRAL = 0x02014b50, END = 0x06054b50, UNIX = 3 << 8,
                      ATTRIBUTES = UINT32_C(0100755) << 16;

static void put(Archive *archive, TextVec *out, uint32_t value, int bytes) {
  for (int k = 0; k < bytes; k++) {
    char byte = (char)(value >> 8 * k & 0xff);
    text_append(archive->heap, out, &byte, 1);
  }
}

/* The fields that both headers of a file share, in their order. */
static void put_common(Archive *archive, TextVec *out, uint32_t sum, uint32_t packed, uint32_t length, size_t name) {
  put(archive, out, VERSION, 2);
  put(archive, out, FLAGS, 2);
  put(archive, out, DEFLATED, 2);
  put(archive, out, 0, 2);
  put(archive, out, DATE, 2);
  put(archive, out, sum, 4);
  put(archive, out, packed, 4);
  put(archive, out, length, 4);
  put(archive, out, (uint32_t)name, 2);
  put(archive, out, 0, 2);
}

/* Raw deflate, as in ZIP. */
static bool pack(Heap *heap, const void *bytes, uint32_t length, TextVec *packed) {
  z_stream stream;
  memset(&stream, 0, sizeof stream);
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK) return false;
  uLong bound = deflateBound(&stream, length);
  packed->count = 0;
  vec_reserve(heap, packed, (uint32_t)bound + 1);
  stream.next_in = (Bytef *)(uintptr_t)bytes;
  stream.avail_in = length;
  stream.next_out = (Bytef *)packed->data;
  stream.avail_out = (uInt)bound;
  bool is_done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed->count = (uint32_t)stream.total_out;
  deflateEnd(&stream);
  return is_done;
}

bool archive_add(Archive *archive, const char *path, const void *bytes, uint32_t length) {
  TextVec packed = {0};
  uint32_t offset = archive->bytes.count;
  uint32_t sum = (uint32_t)crc32(crc32(0, NULL, 0), bytes, length);
  if (!pack(archive->heap, bytes, length, &packed)) return false;
  put(archive, &archive->bytes, LOCAL, 4);
  put_common(archive, &archive->bytes, sum, packed.count, length, strlen(path));
  text_append(archive->heap, &archive->bytes, path, strlen(path));
  text_append(archive->heap, &archive->bytes, packed.data, packed.count);
  put(archive, &archive->directory, CENTRAL, 4);
  put(archive, &archive->directory, VERSION | UNIX, 2);
  put_common(archive, &archive->directory, sum, packed.count, length, strlen(path));
  put(archive, &archive->directory, 0, 4); /* comment, disk */
  put(archive, &archive->directory, 0, 2); /* text or not */
  put(archive, &archive->directory, ATTRIBUTES, 4);
  put(archive, &archive->directory, offset, 4);
  text_append(archive->heap, &archive->directory, path, strlen(path));
  archive->files++;
  vec_free(archive->heap, &packed);
  return true;
}

void archive_end(Archive *archive) {
  uint32_t start = archive->bytes.count, size = archive->directory.count;
  text_append(archive->heap, &archive->bytes, archive->directory.data, size);
  put(archive, &archive->bytes, END, 4);
  put(archive, &archive->bytes, 0, 4); /* disks */
  put(archive, &archive->bytes, archive->files, 2);
  put(archive, &archive->bytes, archive->files, 2);
  put(archive, &archive->bytes, size, 4);
  put(archive, &archive->bytes, start, 4);
  put(archive, &archive->bytes, 0, 2);
}
