/* runtime: the files of src/export/runtime, which the build puts in: the C99 that exported models run on; and those of the library that they share. */
#pragma once

#include <stdbool.h>

typedef enum RuntimeUse {
  RUNTIME_ALWAYS,
  RUNTIME_TABLES, /* for models with tables alone */
  RUNTIME_ERK,    /* where this integrator is chosen, or a solution may slide; */
  RUNTIME_RADAU,  /* this one; */
  RUNTIME_BDF,    /* this one */
  RUNTIME_USES
} RuntimeUse;

typedef struct RuntimeFile {
  const char *name, *text;
  RuntimeUse use;
} RuntimeFile;

/* The name behind the last is NULL. */
extern const RuntimeFile runtime_files[];
