/* compiler: replaces src/base/compiler.c. daedal starts no C compiler on Windows, so there is neither --compile nor C text
 * of models. */
#include "base/compiler.h"

#include <stdio.h>

bool compiler_is_found(const char *program) {
  (void)program;
  return false;
}

bool compiler_build(Heap *heap, const CompilerSource *sources, uint32_t count, CompilerTake *take, void *context,
                    char *failure) {
  return compiler_build_with(heap, "cc", sources, count, NULL, 0, take, context, failure);
}

bool compiler_build_with(Heap *heap, const char *program, const CompilerSource *sources, uint32_t count,
                         char *const *more, uint32_t more_count, CompilerTake *take, void *context, char *failure) {
  (void)heap, (void)sources, (void)count, (void)more, (void)more_count, (void)take, (void)context;
  snprintf(failure, COMPILER_FAILURE, "daedal for Windows does not start the C compiler `%s`", program);
  return false;
}
