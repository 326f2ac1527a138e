/* function: building of routines, one instruction at a time. */
#include "model/function.h"

uint32_t routine_emit(Heap *heap, Routine *routine, Code code, uint32_t a, uint32_t b, Span span) {
  vec_push(heap, &routine->code, (Instruction){code, a, b});
  vec_push(heap, &routine->spans, span);
  return routine->code.count - 1;
}

Type type_scalar(BaseType base) { return (Type){.base = (uint8_t)base}; }

Type type_with_dimensions(Type type, uint32_t dimensions) {
  type.dimensions = (uint8_t)dimensions;
  return type;
}

BaseType type_join_base(BaseType a, BaseType b) { return a == TYPE_INTEGER && b == TYPE_REAL ? TYPE_REAL : a; }
bool routine_can_run(const Routine *routine) { return routine->kind == ROUTINE_CODE || routine->implementation; }

const char *routine_lacks(const Routine *routine) {
  if (routine->is_forbidden)
    return "external function `%s`, which changes files or runs code of others: --allow-external lets it";
  return "external function `%s`, which is not built in: --allow-external lets the C text be compiled that it comes "
         "with, --allow-external LIBRARY names the shared library that has it";
}
