/* restrict: what the standard refuses of components by the kind of their class (Modelica 3.6, sections 4.4 to 4.6):
 * prefixes of models, components of partial classes, connectors of blocks without a direction. */
#include "instance/lookup.h"

enum {
  DIRECTIONS = PREFIX_INPUT | PREFIX_OUTPUT,
  FLOWS = PREFIX_FLOW | PREFIX_STREAM,
  VALUE_PREFIXES = FLOWS | DIRECTIONS | PREFIX_DISCRETE | PREFIX_PARAMETER | PREFIX_CONSTANT,
};

static Span label_span(const Instance *instance) { return instance->element->component->label.span; }

/* The prefixes of the component itself and of the short classes that its type is. */
static uint32_t own_prefixes(const Instance *instance) {
  uint32_t prefixes = instance->element->prefixes;
  for (uint32_t i = 0; i < instance->parts.count; i++) {
    const AstClass *definition = instance->parts.data[i].definition;
    if (!definition || definition->form != FORM_SHORT) break;
    prefixes |= definition->base_prefixes;
  }
  return prefixes;
}

/* A short class is partial if its base is. */
static bool is_partial(const Instance *instance) {
  for (uint32_t i = 0; i < instance->parts.count; i++) {
    const AstClass *definition = instance->parts.data[i].definition;
    if (definition && definition->prefixes & PREFIX_PARTIAL) return true;
    if (!definition || definition->form != FORM_SHORT) break;
  }
  return false;
}

static bool is_behaviour(const Instance *instance) {
  AstClassKind kind = instance->restriction;
  return instance->base == BASE_NONE && (kind == CLASS_MODEL || kind == CLASS_BLOCK || kind == CLASS_CLASS);
}

static bool refuse(Tree *tree, Instance *instance, const char *message, const char *word) {
  tree_error(tree, label_span(instance), instance->parent, "`%s` %s%s", names_text(tree->names, instance->name),
             message, word);
  instance->is_failed = true;
  return false;
}

/* A variable without direction inside of a connector of a block; NULL if there is none. Connectors are not deep. */
static const Instance *find_undirected(Tree *tree, Instance *instance, uint32_t depth) {
  enum { DEPTH_LIMIT = 50 };
  if (instance->prefixes & DIRECTIONS || depth > DEPTH_LIMIT || is_expandable(instance)) return NULL;
  if (instance->base != BASE_NONE) return instance->prefixes & (PREFIX_PARAMETER | PREFIX_CONSTANT) ? NULL : instance;
  for (uint32_t i = 0; i < instance->elements.count; i++) {
    Instance *kid = instance_component(tree, instance, i);
    const Instance *found = kid ? find_undirected(tree, kid, depth + 1) : NULL;
    if (found) return found;
  }
  return NULL;
}

static bool check_prefixes(Tree *tree, Instance *instance) {
  uint32_t own = own_prefixes(instance), around = instance->parent->prefixes;
  if (is_behaviour(instance) && own & VALUE_PREFIXES)
    return refuse(tree, instance, "is a component of behaviour, and cannot have the prefix ",
                  ast_prefix_text(own & VALUE_PREFIXES));
  if (own & FLOWS && instance->base != BASE_NONE && instance->base != BASE_REAL)
    return refuse(tree, instance, "is no Real, and cannot have the prefix ", ast_prefix_text(own & FLOWS));
  uint32_t clash = 0;
  if (own & FLOWS) clash |= around & FLOWS;
  if (own & DIRECTIONS) clash |= around & DIRECTIONS;
  if (clash && instance->parent->restriction == CLASS_CONNECTOR)
    return refuse(tree, instance, "has a prefix that excludes that of its connector: ", ast_prefix_text(clash));
  return true;
}

bool restrict_component(Tree *tree, Instance *instance) {
  const Instance *owner = instance->parent;
  if (is_partial(instance) && (is_behaviour(instance) || instance->restriction == CLASS_RECORD))
    return refuse(tree, instance,
                  "is a component of a partial class: ", names_text(tree->names, instance->type->flat_name));
  if (!check_prefixes(tree, instance)) return false;
  bool is_port = owner->restriction == CLASS_BLOCK && instance->restriction == CLASS_CONNECTOR &&
                 !(instance->prefixes & PREFIX_PROTECTED);
  const Instance *undirected = is_port ? find_undirected(tree, instance, 0) : NULL;
  if (undirected)
    return refuse(tree, instance,
                  "is a connector of a block, and must be input or output: ", instance_text(tree, undirected));
  return true;
}
