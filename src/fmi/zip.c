/* zip: see zip.h. */
#include "fmi/zip.h"

#include <string.h>
#include <zlib.h>

/* Signatures and lengths of the records, without the texts after them. */
static const uint32_t LOCAL = 0x04034b50, CENTRAL = 0x02014b50, END = 0x06054b50;
enum { LOCAL_SIZE = 30, CENTRAL_SIZE = 46, END_SIZE = 22, STORED = 0, DEFLATED = 8, ENCRYPTED = 1 };

static uint32_t number(const Zip *zip, size_t at, size_t bytes) {
  uint32_t value = 0;
  for (size_t k = bytes; k-- > 0;) value = value << 8 | zip->bytes[at + k];
  return value;
}

static bool has(const Zip *zip, size_t at, size_t length) { return at <= zip->size && length <= zip->size - at; }

/* A comment of up to 64 kB may follow the record that ends an archive. */
bool zip_open(Zip *zip, const void *bytes, size_t size) {
  *zip = (Zip){.bytes = bytes, .size = size};
  for (size_t back = END_SIZE; back <= size && back <= END_SIZE + UINT16_MAX; back++) {
    size_t at = size - back;
    if (number(zip, at, 4) != END) continue;
    zip->count = number(zip, at + 10, 2);
    zip->directory = number(zip, at + 16, 4);
    return true;
  }
  return false;
}

ZipEntry *zip_entries(const Zip *zip, Arena *arena) {
  ZipEntry *list = arena_array(arena, (size_t)zip->count + 1, sizeof *list);
  size_t at = zip->directory;
  for (uint32_t k = 0; k < zip->count; k++) {
    if (!has(zip, at, CENTRAL_SIZE) || number(zip, at, 4) != CENTRAL) return NULL;
    uint32_t length = number(zip, at + 28, 2);
    if (!has(zip, at + CENTRAL_SIZE, length)) return NULL;
    list[k] = (ZipEntry){.name = arena_copy(arena, (const char *)zip->bytes + at + CENTRAL_SIZE, length),
                         .method = number(zip, at + 8, 2) & ENCRYPTED ? UINT32_MAX : number(zip, at + 10, 2),
                         .sum = number(zip, at + 16, 4),
                         .packed = number(zip, at + 20, 4),
                         .size = number(zip, at + 24, 4),
                         .at = number(zip, at + 42, 4)};
    at += CENTRAL_SIZE + length + number(zip, at + 30, 2) + number(zip, at + 32, 2);
  }
  return list;
}

static bool inflate_entry(const Zip *zip, const ZipEntry *entry, size_t at, char *content) {
  z_stream stream;
  memset(&stream, 0, sizeof stream);
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
  stream.next_in = (Bytef *)(uintptr_t)(zip->bytes + at);
  stream.avail_in = entry->packed;
  stream.next_out = (Bytef *)content;
  stream.avail_out = entry->size;
  int status = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  return status == Z_STREAM_END && stream.avail_out == 0;
}

char *zip_unpack(const Zip *zip, const ZipEntry *entry, Heap *heap) {
  if (!has(zip, entry->at, LOCAL_SIZE) || number(zip, entry->at, 4) != LOCAL) return NULL;
  size_t at = entry->at + LOCAL_SIZE + number(zip, entry->at + 26, 2) + number(zip, entry->at + 28, 2);
  if (!has(zip, at, entry->packed)) return NULL;
  if (entry->method != DEFLATED && (entry->method != STORED || entry->packed != entry->size)) return NULL;
  char *content = heap_alloc(heap, (size_t)entry->size + 1);
  if (entry->method == STORED) memcpy(content, zip->bytes + at, entry->size);
  else if (!inflate_entry(zip, entry, at, content)) return NULL;
  return crc32(crc32(0, NULL, 0), (const Bytef *)content, entry->size) == entry->sum ? content : NULL;
}

bool zip_path_is_safe(const char *path) {
  if (!*path || *path == '/' || strchr(path, '\\')) return false;
  for (const char *part = path; *part;) {
    size_t length = strcspn(part, "/");
    if (length == 0 || (length == 2 && !strncmp(part, "..", 2))) return false;
    part += length + (part[length] == '/');
  }
  return true;
}
