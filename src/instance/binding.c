/* binding: which modifier gives a component its value. */
#include "instance/lookup.h"

const Modifier *instance_binding(const Instance *instance) {
  for (uint32_t i = 0; i < instance->modifiers.count; i++) {
    if (instance->modifiers.data[i].is_break) return NULL;
    if (instance->modifiers.data[i].value != AST_NONE) return &instance->modifiers.data[i];
  }
  return NULL;
}

NewValueFit new_value_fit(const Tree *tree, Name name, const Instance *instance) {
  const char *given = names_text(tree->names, name), *own = names_text(tree->names, instance->flat_name);
  bool is_part = false;
  while (*given) {
    if (*given == *own) {
      given++, own++;
      continue;
    }
    if (*given != '[') return FIT_NONE;
    while (*given && *given != ']') given++;
    given += *given == ']';
    is_part = true;
  }
  return *own ? FIT_NONE : is_part ? FIT_PART : FIT_WHOLE;
}

static bool is_parameter(const Instance *instance) { return instance->prefixes & (PREFIX_PARAMETER | PREFIX_CONSTANT); }

/* Depth is bounded by the nesting of records. */
static bool has_parameters(Tree *tree, Instance *record) {
  for (uint32_t i = 0; i < record->elements.count; i++) {
    Instance *kid = instance_component(tree, record, i);
    if (kid && (is_parameter(kid) || (kid->base == BASE_NONE && has_parameters(tree, kid)))) return true;
  }
  return false;
}

/* The record that the binding gives a value to: the instance itself, or one that contains it. */
static Instance *bound_record(Instance *instance, const Modifier *binding) {
  for (const FieldChain *field = binding->fields; field && instance->parent; field = field->outer)
    instance = instance->parent;
  return instance;
}

/* Is the value of the record a call of a function, not of a record constructor? Neither the record nor a field may be a
 * parameter. */
bool binding_is_whole(Tree *tree, Instance *instance) {
  const Modifier *binding = instance_binding(instance);
  if (!binding || is_parameter(instance)) return false;
  if (instance->base != BASE_NONE && !binding->fields) return false;
  if (ast_kind(tree->ast, binding->value) != AST_CALL) return false;
  Instance *called = scope_try_class(tree, binding->scope, ast_path(tree->ast, binding->value));
  return (!called || called->restriction != CLASS_RECORD) && !has_parameters(tree, bound_record(instance, binding));
}
