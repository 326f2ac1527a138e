/* runtime: the C99 files on which exported models run, embedded by the build: the files of src/export/runtime, and
 * the files of the library that they use. */
#pragma once

#include "export/source.h"

typedef enum RuntimeUse {
  RUNTIME_ALWAYS, /* or, with a symbol, if the text of the model names it */
  RUNTIME_EVENTS, /* only for models with events, kinks or delays; the next one for all others */
  RUNTIME_NO_EVENTS,
  RUNTIME_DELAYS, /* only for models with delays; the next one for all others */
  RUNTIME_NO_DELAYS,
  RUNTIME_USES
} RuntimeUse;

typedef struct RuntimeFile {
  const char *name, *text;
  RuntimeUse use;
  const char *symbol; /* NULL: none */
} RuntimeFile;

/* The last name is followed by NULL. */
extern const RuntimeFile runtime_files[];

/* Which of them an exported model with these texts contains, as an array in the arena: files that it uses, one interface (main.c,
 * fmi2.c or fmi3.c), and the headers that all these include. */
bool *runtime_choose(Arena *arena, const ExportSource *source, const char *interface, const char *const *texts,
                     uint32_t count);
