/* runtime: the files of src/export/runtime, which the build puts in: the C99 that exported models run on. */
#pragma once

typedef struct RuntimeFile {
  const char *name, *text;
} RuntimeFile;

/* The name behind the last is NULL. */
extern const RuntimeFile runtime_files[];
