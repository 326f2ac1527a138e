/* zip: the files of a ZIP archive in memory (APPNOTE.TXT 6.3, without ZIP64 and encryption), stored or deflated.
 *
 * Invariant: nothing outside of the bytes is read, even if they are damaged; the checksum of every unpacked file is
 * verified. */
#pragma once

#include "base/vec.h"

typedef struct Zip {
  const unsigned char *bytes;
  size_t size;
  uint32_t count;   /* files and folders */
  size_t directory; /* where the list of the files begins */
} Zip;

typedef struct ZipEntry {
  const char *name; /* in the arena; the name of a folder ends with a slash */
  uint32_t packed, size, sum, method;
  size_t at; /* place of its local header */
} ZipEntry;

/* false: these bytes are not an archive. */
bool zip_open(Zip *zip, const void *bytes, size_t size);

/* All entries, `zip->count` of them; NULL: the list is damaged. */
ZipEntry *zip_entries(const Zip *zip, Arena *arena);

/* The content of a file with a NUL after it, in the heap; NULL: it is damaged, or packed by an unsupported method. */
char *zip_unpack(const Zip *zip, const ZipEntry *entry, Heap *heap);

/* Does the path stay below the folder that it is unpacked to: relative, without `..`? */
bool zip_path_is_safe(const char *path);
