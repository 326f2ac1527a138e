/* interface: may a type be used in place of another (Modelica 3.6, sections 6.4 to 6.6)? A type may replace another one if it has
 * all public components of the other, with compatible types, or inherits from the other.
 *
 * Types that nest deeper than DEPTH are taken as compatible. So are types that cannot be instantiated, which is reported
 * separately. */
#include "base/number.h"
#include "instance/lookup.h"

enum { DEPTH = 4 };

/* Kinds of classes that are compatible only within the same family. */
typedef enum Family { FAMILY_ANY, FAMILY_MODEL, FAMILY_DATA, FAMILY_CONNECTOR, FAMILY_PACKAGE, FAMILY_FUNCTION } Family;

static Family family_of(AstClassKind kind) {
  switch (kind) {
  case CLASS_MODEL:
  case CLASS_BLOCK: return FAMILY_MODEL;
  case CLASS_RECORD:
  case CLASS_TYPE: return FAMILY_DATA;
  case CLASS_CONNECTOR: return FAMILY_CONNECTOR;
  case CLASS_PACKAGE: return FAMILY_PACKAGE;
  case CLASS_FUNCTION: return FAMILY_FUNCTION;
  case CLASS_CLASS:
  case CLASS_OPERATOR: break;
  }
  return FAMILY_ANY;
}

static bool same_family(const Instance *a, const Instance *b) {
  Family left = family_of(a->restriction), right = family_of(b->restriction);
  return left == right || left == FAMILY_ANY || right == FAMILY_ANY;
}

static bool inherits(const Instance *type, const Instance *of) {
  const AstClass *wanted = of->type->definition;
  if (type->type == of->type) return true;
  for (uint32_t i = 0; wanted && i < type->parts.count; i++)
    if (type->parts.data[i].definition == wanted) return true;
  return false;
}

static bool same_literals(const Instance *a, const Instance *b) {
  const AstClass *left = a->enumeration->definition, *right = b->enumeration->definition;
  if (right->is_open) return true;
  bool same = left->literals.count == right->literals.count;
  for (uint32_t i = 0; same && i < left->literals.count; i++)
    same = left->literals.data[i].label.name == right->literals.data[i].label.name;
  return same;
}

static const char *base_text(const Tree *tree, const Instance *instance) {
  if (instance->base == BASE_NONE) return restriction_text(instance->restriction);
  return instance->base == BASE_ENUMERATION ? "enumeration"
                                            : names_text(tree->names, tree->bases[instance->base]->name);
}

/* Number of the public component of that name; MAP_NONE if there is none. */
static uint32_t public_component(const Instance *instance, Name name) {
  uint32_t number = map_get(&instance->by_name, name);
  while (number != MAP_NONE && instance->elements.data[number].is_removed)
    number = instance->elements.data[number].next;
  if (number == MAP_NONE || instance->elements.data[number].ast->kind != AST_COMPONENT) return MAP_NONE;
  return element_is_protected(instance, &instance->elements.data[number]) ? MAP_NONE : number;
}

static const char *difference(Tree *tree, Instance *type, Instance *of, uint32_t depth);

/* Finds a difference between components that both types have. */
static const char *component_difference(Tree *tree, Instance *type, uint32_t number, Instance *of, uint32_t other,
                                        uint32_t depth) {
  Instance *left = element_instance(tree, type, number), *right = element_instance(tree, of, other);
  const char *reason = left && right ? difference(tree, left, right, depth + 1) : NULL;
  if (!reason) return NULL;
  return arena_printf(&tree->arena, "`%s` %s", names_text(tree->names, type->elements.data[number].name), reason);
}

static const char *elements_difference(Tree *tree, Instance *type, Instance *of, uint32_t depth) {
  const char *reason = NULL;
  for (uint32_t i = 0; i < of->elements.count && !reason; i++) {
    const Element *element = &of->elements.data[i];
    if (!element->ast || public_component(of, element->name) != i) continue;
    uint32_t number = public_component(type, element->name);
    if (number == MAP_NONE)
      reason = arena_printf(&tree->arena, "has no public component `%s`", names_text(tree->names, element->name));
    else reason = component_difference(tree, type, number, of, i, depth);
  }
  return reason;
}

/* The variability of a component, by its prefixes and its type; a larger number means that it may vary more. */
static int variability(const Instance *instance) {
  if (instance->prefixes & PREFIX_CONSTANT) return 0;
  if (instance->prefixes & PREFIX_PARAMETER) return 1;
  bool is_discrete =
      instance->prefixes & PREFIX_DISCRETE || (instance->base != BASE_NONE && instance->base != BASE_REAL);
  return is_discrete ? 2 : 3;
}

static const char *variability_text(const Instance *instance) {
  static const char *const texts[] = {"constant", "parameter", "discrete", "continuous"};
  return texts[variability(instance)];
}

static const char *difference(Tree *tree, Instance *type, Instance *of, uint32_t depth) {
  if (depth > DEPTH || !instance_open(tree, type) || !instance_open(tree, of)) return NULL;
  if (type->dimensions.count != of->dimensions.count)
    return arena_printf(&tree->arena, "has %u dimension%s, not %u", type->dimensions.count,
                        plural(type->dimensions.count), of->dimensions.count);
  bool are_components = type->kind == INSTANCE_COMPONENT && of->kind == INSTANCE_COMPONENT;
  if (are_components && variability(type) > variability(of))
    return arena_printf(&tree->arena, "is %s, not %s", variability_text(type), variability_text(of));
  if (inherits(type, of)) return NULL;
  bool is_leaf = type->base != BASE_NONE || of->base != BASE_NONE;
  bool same = is_leaf ? type->base == of->base : same_family(type, of);
  if (!same) return arena_printf(&tree->arena, "is of kind `%s`, not `%s`", base_text(tree, type), base_text(tree, of));
  if (!is_leaf) return elements_difference(tree, type, of, depth);
  bool has_literals = type->base == BASE_ENUMERATION && type->enumeration && of->enumeration;
  return has_literals && !same_literals(type, of) ? "has other literals" : NULL;
}

const char *interface_difference(Tree *tree, Instance *type, Instance *of) {
  Diags *outer = tree->diags, quiet = diags_make(tree->heap);
  Diag *last = tree->last;
  tree->diags = &quiet;
  const char *reason = difference(tree, type, of, 0);
  tree->diags = outer;
  tree->last = last;
  return quiet.errors ? NULL : reason;
}
