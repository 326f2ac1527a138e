/* compiler: runs the system's C compiler in a private directory under TMPDIR (or /tmp), which is removed at the end; no shell is
 * involved. A signal that would end the program ends the compiler first. */
#pragma once

#include "base/vec.h"

typedef struct CompilerSource {
  const char *name, *text; /* files that do not end with .c are only included */
  size_t length;
} CompilerSource;

enum { COMPILER_FAILURE = 512 };

/* A callback that uses the shared library; the file is removed when it returns. The callback must not allocate from a heap. false:
 * `failure` has one line that says why. */
typedef bool CompilerTake(void *context, const char *library, char *failure);

/* Compiles the sources to one shared library. Only functions that their source marks as visible are exported. false: `failure`,
 * with room for COMPILER_FAILURE characters, has one line that says why. */
bool compiler_build(Heap *heap, const CompilerSource *sources, uint32_t count, CompilerTake *take, void *context,
                    char *failure);

/* Is there a program of this name in PATH? */
bool compiler_is_found(const char *program);

/* Like compiler_build, with another program than `cc` and further arguments after the sources: -I, -L, -l. */
bool compiler_build_with(Heap *heap, const char *program, const CompilerSource *sources, uint32_t count,
                         char *const *more, uint32_t more_count, CompilerTake *take, void *context, char *failure);
