/* binding: which modifier gives a component its value. */
#include "instance/lookup.h"

const Modifier *instance_binding(const Instance *instance) {
  for (uint32_t i = 0; i < instance->modifiers.count; i++) {
    if (instance->modifiers.data[i].is_break) return NULL;
    if (instance->modifiers.data[i].value != AST_NONE) return &instance->modifiers.data[i];
  }
  return NULL;
}

/* Of a record that is no parameter: a value that is neither written field by field nor that of another record. */
bool binding_is_whole(Tree *tree, Instance *instance) {
  const Modifier *binding = instance_binding(instance);
  if (!binding || instance->prefixes & (PREFIX_PARAMETER | PREFIX_CONSTANT)) return false;
  if (instance->base != BASE_NONE && !binding->fields) return false;
  if (ast_kind(tree->ast, binding->value) != AST_CALL) return false;
  Instance *called = scope_try_class(tree, binding->scope, ast_path(tree->ast, binding->value));
  return !called || called->restriction != CLASS_RECORD;
}
