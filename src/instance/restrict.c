/* restrict: which components the standard refuses by the kind of their class (Modelica 3.6, sections 4.4 to 4.6): prefixes of
 * models, components of partial classes, connectors of blocks without a direction. Also operators of operator records (section
 * 14.3). */
#include "instance/lookup.h"

enum {
  DIRECTIONS = PREFIX_INPUT | PREFIX_OUTPUT,
  FLOWS = PREFIX_FLOW | PREFIX_STREAM,
  VALUE_PREFIXES = FLOWS | DIRECTIONS | PREFIX_DISCRETE | PREFIX_PARAMETER | PREFIX_CONSTANT,
};

static Span label_span(const Instance *instance) { return instance->element->component->label.span; }

/* The prefixes of the component itself, and of the short classes of its type. */
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

/* A variable without direction inside a connector of a block; NULL if there is none. Connectors do not nest deeply. */
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
  if ((own & DIRECTIONS) == DIRECTIONS)
    return refuse(tree, instance, "is input and output, by its own prefix and the prefix of its class", "");
  if (is_behaviour(instance) && own & VALUE_PREFIXES)
    return refuse(tree, instance, "is a component of behaviour, and cannot have the prefix ",
                  ast_prefix_text(own & VALUE_PREFIXES));
  if (own & FLOWS && instance->base != BASE_NONE && instance->base != BASE_REAL)
    return refuse(tree, instance, "is not a Real, and cannot have the prefix ", ast_prefix_text(own & FLOWS));
  uint32_t clash = 0;
  if (own & FLOWS) clash |= around & FLOWS;
  if (own & DIRECTIONS) clash |= around & DIRECTIONS;
  if (clash && instance->parent->restriction == CLASS_CONNECTOR)
    return refuse(tree, instance, "has a prefix that excludes the prefix of its connector: ", ast_prefix_text(clash));
  return true;
}

bool restrict_component(Tree *tree, Instance *instance) {
  const Instance *owner = instance->parent;
  if (is_partial(instance) && (is_behaviour(instance) || instance->restriction == CLASS_RECORD))
    return refuse(tree, instance,
                  "is a component of a partial class: ", names_text(tree->names, instance->type->flat_name));
  if (instance->restriction == CLASS_PACKAGE)
    return refuse(tree, instance, "is a component of a package: ", names_text(tree->names, instance->type->flat_name));
  if (instance->base == BASE_NONE && instance->type->definition && instance->type->definition->kind == CLASS_TYPE)
    return refuse(tree, instance,
                  "is of a type that has no base type: ", names_text(tree->names, instance->type->flat_name));
  if (!check_prefixes(tree, instance)) return false;
  bool is_port = owner->restriction == CLASS_BLOCK && instance->restriction == CLASS_CONNECTOR &&
                 !(instance->prefixes & PREFIX_PROTECTED);
  const Instance *undirected = is_port ? find_undirected(tree, instance, 0) : NULL;
  if (undirected)
    return refuse(tree, instance,
                  "is a connector of a block, and must be input or output: ", instance_text(tree, undirected));
  return true;
}

/* ---- operators ---- */

/* Input or output number `wanted` of a function; NULL if it has fewer. */
static Instance *find_argument(Tree *tree, Instance *function, uint32_t direction, uint32_t wanted) {
  for (uint32_t i = 0; i < function->elements.count; i++) {
    Instance *kid = instance_component(tree, function, i);
    if (kid && kid->prefixes & direction && wanted-- == 0) return kid;
  }
  return NULL;
}

static bool same_type(const Instance *a, const Instance *b) {
  if (a->base != b->base || a->dimensions.count != b->dimensions.count) return false;
  return a->base == BASE_ENUMERATION ? a->enumeration == b->enumeration
                                     : a->base != BASE_NONE || a->type->definition == b->type->definition;
}

static bool same_inputs(Tree *tree, Instance *a, Instance *b) {
  for (uint32_t i = 0;; i++) {
    const Instance *left = find_argument(tree, a, PREFIX_INPUT, i), *right = find_argument(tree, b, PREFIX_INPUT, i);
    if (!left || !right) return left == right;
    if (!same_type(left, right)) return false;
  }
}

/* Is the result the record itself, or the one that the record, as a short class, stands for? */
static bool makes(const Instance *result, const Instance *record) {
  for (uint32_t i = 0; i < record->parts.count; i++)
    if (result->type->definition == record->parts.data[i].definition) return result->dimensions.count == 0;
  return false;
}

static void check_result(Tree *tree, const Instance *record, Instance *function) {
  const Instance *result = find_argument(tree, function, PREFIX_OUTPUT, 0);
  if (result && makes(result, record) && !find_argument(tree, function, PREFIX_OUTPUT, 1)) return;
  tree_error(tree, function->definition->label.span, record, "constructor `%s` must have one output, a `%s`",
             names_text(tree->names, function->name), names_text(tree->names, record->name));
}

static Instance *function_element(Tree *tree, Instance *owner, uint32_t number) {
  const Element *element = &owner->elements.data[number];
  if (element->is_removed || element->ast->kind != AST_CLASS) return NULL;
  Instance *made = element_instance(tree, owner, number);
  return made && made->restriction == CLASS_FUNCTION && instance_open(tree, made) ? made : NULL;
}

void restrict_operator(Tree *tree, const Instance *record, Instance *operation, bool is_constructor) {
  if (!(operation->prefixes & PREFIX_ENCAPSULATED))
    tree_tolerate(tree, DIAG_INPUT, operation->definition->label.span, record, "operator `%s` must be encapsulated",
                  names_text(tree->names, operation->name));
  if (operation->restriction == CLASS_FUNCTION) {
    if (is_constructor) check_result(tree, record, operation);
    return;
  }
  for (uint32_t i = 0; i < operation->elements.count; i++) {
    Instance *function = function_element(tree, operation, i);
    if (!function) continue;
    if (is_constructor) check_result(tree, record, function);
    for (uint32_t k = 0; k < i; k++) {
      Instance *other = function_element(tree, operation, k);
      if (other && same_inputs(tree, function, other))
        tree_error(tree, function->definition->label.span, record, "%s `%s` and `%s` take the same inputs",
                   is_constructor ? "constructors" : "functions", names_text(tree->names, other->name),
                   names_text(tree->names, function->name));
    }
  }
}
