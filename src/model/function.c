/* function: builds routines, one instruction at a time. */
#include "model/function.h"

#include "external/external.h"

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

bool routine_has_effect(const Routine *routine) {
  if (routine->kind == ROUTINE_CODE) return false;
  for (uint32_t i = 0; i < routine->outputs; i++)
    if (routine->locals.data[routine->inputs + i].type.base == TYPE_EXTERNAL_OBJECT) return true;
  return !routine->implementation || routine->implementation->effect != EFFECT_NONE;
}

bool routine_acts(const Routine *routine) {
  return routine->kind == ROUTINE_EXTERNAL &&
         (routine->is_impure || (routine->implementation && routine->implementation->effect != EFFECT_NONE));
}

bool routine_calls(Heap *heap, Routine *const *all, uint32_t count, const Routine *routine,
                   bool (*test)(const Routine *)) {
  bool *seen = heap_array(heap, count, sizeof *seen), found = false;
  IndexVec open = {0};
  vec_push(heap, &open, routine->number);
  while (open.count && !found) {
    const Routine *next = all[vec_pop(&open)];
    for (uint32_t i = 0; i < next->code.count && !found; i++) {
      if (next->code.data[i].code != CODE_CALL) continue;
      uint32_t callee = next->extra.data[next->code.data[i].b];
      found = test(all[callee]);
      if (!seen[callee]) vec_push(heap, &open, callee);
      seen[callee] = true;
    }
  }
  vec_free(heap, &open);
  heap_free(heap, seen);
  return found;
}

uint32_t routine_input(const Routine *routine, Name name) {
  for (uint32_t slot = 0; slot < routine->inputs; slot++)
    if (routine->locals.data[slot].name == name) return slot;
  return UINT32_MAX;
}

bool routine_can_run(const Routine *routine) { return routine->kind == ROUTINE_CODE || routine->implementation; }

const char *routine_lacks(const Routine *routine) {
  if (routine->is_forbidden)
    return "external function `%s`, which changes files or runs other code: --allow-external permits it";
  return "external function `%s`, which is not built in: --allow-external "
         "compiles its C text, --allow-external LIBRARY names its shared library";
}
