/* runtime: the files of src/export/runtime, which the build puts in: the C99 that exported models run on; and those of src/external that
 * read tables. */
#pragma once

#include <stdbool.h>

typedef struct RuntimeFile {
  const char *name, *text;
  bool is_table; /* for models with tables alone */
} RuntimeFile;

/* The name behind the last is NULL. */
extern const RuntimeFile runtime_files[];
