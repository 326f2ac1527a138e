/* archive: files as one ZIP archive in memory (APPNOTE.TXT 6.3, without ZIP64), compressed by zlib. Every file has the
 * same time, so that the same files make the same bytes. */
#pragma once

#include "base/vec.h"

typedef struct Archive {
  Heap *heap;
  TextVec bytes, directory;
  uint32_t files;
} Archive;

/* Adds a file; its path has slashes. false: zlib has no memory for it. */
bool archive_add(Archive *archive, const char *path, const void *bytes, uint32_t length);

/* Completes the archive: nothing may be added afterwards. */
void archive_end(Archive *archive);
