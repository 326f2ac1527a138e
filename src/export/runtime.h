/* runtime: the C99 files on which exported models run, embedded by the build: the files of src/export/runtime, and
 * the files of the library that they use. */
#pragma once

#include <stdbool.h>

typedef enum RuntimeUse {
  RUNTIME_ALWAYS,
  RUNTIME_TABLES, /* only for models with tables */
  RUNTIME_TIMED,  /* only for models with conditions that depend only on time */
  RUNTIME_ERK,    /* if this integrator is chosen, or a solution may slide */
  RUNTIME_RADAU,  /* if this one is chosen */
  RUNTIME_BDF,    /* if this one is chosen */
  RUNTIME_USES
} RuntimeUse;

typedef struct RuntimeFile {
  const char *name, *text;
  RuntimeUse use;
} RuntimeFile;

/* The last name is followed by NULL. */
extern const RuntimeFile runtime_files[];
