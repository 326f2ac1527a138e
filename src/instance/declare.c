/* declare: flat declarations of variables: base type, dimensions of all arrays that contain them, attributes and binding. Each
 * expression is resolved where it was written.
 *
 * A binding that is written inside an array of components is repeated for each element: {e for $1 in 1:n}. A binding from outside
 * the array gives the values of all elements, or with `each` one value for all. */
#include "instance/flat.h"
#include "instance/lookup.h"

#include <string.h>

/* ---- values for all elements ---- */

enum { LEAD_LIMIT = 64 };

/* The dimensions of the arrays that contain an instance. Those of split arrays are left out: the instance is in one element. */
typedef struct Lead {
  uint32_t shared,
      total; /* number of dimensions of arrays that also contain the scope; of all arrays that contain the instance */
  uint32_t inside; /* the value itself has this many of the last dimensions, which belong to arrays of records */
  uint32_t sizes[LEAD_LIMIT];
  /* Subscripts of a value from outside: one for each dimension of arrays that do not contain the scope. 0: all; else the element of a
   * split array. The value itself has the last `own_picks` of them, even if it is given with `each`. */
  uint32_t picks[LEAD_LIMIT], pick_count, own_picks;
} Lead;

static bool is_around(const Instance *node, const Instance *scope) {
  for (; scope; scope = scope->parent)
    if (scope == node) return true;
  return false;
}

/* The array that has the dimensions of the instance: itself, or the split one whose element it is. */
static const Instance *array_of(const Instance *instance) { return instance->array ? instance->array : instance; }

/* Dimensions of the arrays that contain the instance, without its own. A modifier of a class applies to each element of an array
 * of that
 * class. */
static Lead lead_of(const Instance *instance, const Modifier *modifier) {
  const Instance *chain[256];
  uint32_t depth = 0;
  Lead lead = {0};
  const Instance *begin = instance->array ? instance : instance->parent;
  for (const Instance *at = begin; at && at->kind == INSTANCE_COMPONENT && depth < 256; at = at->parent)
    if (array_of(at)->dimensions.count) chain[depth++] = at;
  while (depth-- > 0) {
    const Instance *at = chain[depth], *array = array_of(at);
    bool is_shared = modifier && (is_around(at, modifier->scope.instance) || is_around(at, modifier->of));
    for (uint32_t k = 0; k < array->dimensions.count && lead.total < LEAD_LIMIT && lead.pick_count < LEAD_LIMIT; k++) {
      if (!at->array) lead.sizes[lead.total++] = array->dimensions.data[k].size;
      lead.picks[lead.pick_count++] = at->array ? instance_subscript(array, at->place, k) : 0;
    }
    if (is_shared) lead.shared = lead.total, lead.pick_count = 0;
  }
  const Instance *at = instance->parent;
  if (instance->array) lead.own_picks = instance->array->dimensions.count;
  for (const FieldChain *field = modifier ? modifier->fields : NULL; field; field = field->outer, at = at->parent) {
    lead.inside += at->dimensions.count;
    lead.own_picks += array_of(at)->dimensions.count;
  }
  if (lead.own_picks > lead.pick_count) lead.own_picks = lead.pick_count;
  return lead;
}

static AstExpr fill(Tree *tree, AstExpr e, const uint32_t *sizes, uint32_t count, Span span) {
  AstExpr kids[65];
  kids[0] = e;
  if (count == 0) return e;
  for (uint32_t i = 0; i < count; i++) kids[i + 1] = flat_integer(tree, sizes[i], span);
  return flat_call(tree, "fill", kids, count + 1, span);
}

/* The part of a value from outside of split arrays that belongs to the elements that contain the instance. */
static AstExpr pick(Tree *tree, const Lead *lead, const Modifier *modifier, AstExpr e) {
  uint32_t count = modifier->is_each ? lead->own_picks : lead->pick_count;
  return flat_pick(tree, e, lead->picks + lead->pick_count - count, count);
}

/* The expression repeated for all elements of the arrays that contain the instance. */
static AstExpr spread(Tree *tree, const Instance *instance, const Modifier *modifier, AstExpr e, bool uses_iterators) {
  Lead lead = lead_of(instance, modifier);
  Span span = ast_span(tree->ast, e);
  e = pick(tree, &lead, modifier, e);
  if (modifier->is_each) e = fill(tree, e, lead.sizes + lead.shared, lead.total - lead.inside - lead.shared, span);
  if (!uses_iterators) return fill(tree, e, lead.sizes, lead.shared, span);
  for (uint32_t i = lead.shared; i-- > 0;)
    e = flat_iteration(tree, e, chain_iterator(tree, i), flat_range(tree, lead.sizes[i], span), span);
  return e;
}

/* ---- fields of a value ---- */

/* Names of the fields, the outermost first. */
static uint32_t field_names(const FieldChain *chain, Name *names, uint32_t limit) {
  uint32_t count = 0;
  for (const FieldChain *at = chain; at && count < limit; at = at->outer) count++;
  for (uint32_t i = count; i-- > 0; chain = chain->outer) names[i] = chain->name;
  return count;
}

/* The argument of a record constructor for the first of the fields; AST_NONE if it is not given. */
static AstExpr constructor_field(Tree *tree, AstExpr e, Scope scope, Name name) {
  const Ast *ast = tree->ast;
  if (ast_kind(ast, e) != AST_CALL) return AST_NONE;
  Instance *type = scope_try_class(tree, scope, ast_path(ast, e));
  if (!type || type->restriction != CLASS_RECORD || !instance_open(tree, type)) return AST_NONE;
  if (map_get(&type->by_name, names_add(tree->names, "constructor", 11)) != MAP_NONE) return AST_NONE;
  uint32_t positional = ast_kid_count(ast, e) - ast_label_count(ast, e), field = 0;
  for (uint32_t i = 0; i < ast_label_count(ast, e); i++)
    if (ast_label(ast, e, i).name == name) return ast_kid(ast, e, positional + i);
  for (uint32_t i = 0; i < type->elements.count && field < positional; i++) {
    if (type->elements.data[i].is_removed || type->elements.data[i].ast->kind != AST_COMPONENT) continue;
    if (type->elements.data[i].name == name) return ast_kid(ast, e, field);
    field++;
  }
  return AST_NONE;
}

/* A value whose fields are selected. The first `taken` of them are arguments of its constructors; `inner` is the argument found
 * there. */
typedef struct FieldLeaf {
  AstExpr whole, inner;
  uint32_t taken;
} FieldLeaf;

typedef VEC(FieldLeaf) FieldLeafVec;

static FieldLeaf find_leaf(Tree *tree, AstExpr e, Scope scope, const Name *names, uint32_t count) {
  FieldLeaf leaf = {.whole = e, .inner = e};
  for (AstExpr next = e; leaf.taken < count; leaf.taken++, leaf.inner = next) {
    next = constructor_field(tree, leaf.inner, scope, names[leaf.taken]);
    if (next == AST_NONE) break;
  }
  return leaf;
}

/* Fields of a named record become separate names; fields of other values are selected. */
static AstExpr leaf_fields(Tree *tree, const FieldLeaf *leaf, const Name *names, uint32_t count) {
  names += leaf->taken;
  count -= leaf->taken;
  if (count && ast_kind(tree->ast, leaf->inner) == AST_REFERENCE) return flat_extend(tree, leaf->inner, names, count);
  AstExpr e = flat_copy(tree, leaf->inner);
  for (uint32_t i = 0; i < count; i++) e = flat_field(tree, e, names[i], ast_span(tree->ast, e));
  return e;
}

/* Is kid k of the node a value that the node may have, or an element of it? */
static bool is_alternative(const Tree *tree, AstExpr e, uint32_t k) {
  switch (ast_kind(tree->ast, e)) {
  case AST_ARRAY: return true;
  case AST_IF: return k % 2 == 1 || k + 1 == ast_kid_count(tree->ast, e);
  case AST_ITERATION: return k == 0;
  default: return false;
  }
}

static bool has_alternatives(const Tree *tree, AstExpr e) {
  AstKind kind = ast_kind(tree->ast, e);
  return kind == AST_ARRAY || kind == AST_IF ||
         (kind == AST_ITERATION && ast_path_is(tree->ast, ast_path(tree->ast, e), "array"));
}

/* The values inside e whose fields are selected, the last one first: elements of arrays, branches of an if. */
static void find_leaves(Tree *tree, AstExpr e, Scope scope, const Name *names, uint32_t count, FieldLeafVec *leaves) {
  AstExpr first = ast_first(tree->ast, e);
  bool *is_value = heap_array(tree->heap, e - first + 1, sizeof *is_value);
  is_value[e - first] = true;
  for (AstExpr i = e + 1; i-- > first;) {
    if (!is_value[i - first]) continue;
    if (!has_alternatives(tree, i)) {
      vec_push(tree->heap, leaves, find_leaf(tree, i, scope, names, count));
      i = ast_first(tree->ast, i);
      continue;
    }
    for (uint32_t k = 0; k < ast_kid_count(tree->ast, i); k++)
      is_value[ast_kid(tree->ast, i, k) - first] = is_alternative(tree, i, k);
  }
  heap_free(tree->heap, is_value);
}

/* The fields of a value: {a, if c then b else R(1)}.x is {a.x, if c then b.x else 1}, so that no record has to be built. Classes
 * are looked up before the first node is made, because a look-up may read a file, whose nodes must not come between. */
AstExpr take_fields(Tree *tree, AstExpr e, Scope scope, const FieldChain *fields) {
  Name names[64];
  uint32_t count = field_names(fields, names, 64);
  AstExpr first = ast_first(tree->ast, e), made = AST_NONE;
  FieldLeafVec leaves = {0};
  IndexVec kids = {0};
  AstExpr *map = heap_array(tree->heap, e - first + 1, sizeof *map);
  find_leaves(tree, e, scope, names, count, &leaves);
  for (AstExpr i = first; i <= e; i++) {
    bool is_leaf = leaves.count && i == ast_first(tree->ast, vec_last(&leaves).whole);
    if (is_leaf) {
      FieldLeaf leaf = vec_pop(&leaves);
      i = leaf.whole;
      made = leaf_fields(tree, &leaf, names, count);
    } else {
      kids.count = 0;
      for (uint32_t k = 0; k < ast_kid_count(tree->ast, i); k++)
        vec_push(tree->heap, &kids, map[ast_kid(tree->ast, i, k) - first]);
      made = flat_node(tree, *ast_node(tree->ast, i), kids.data, kids.count);
    }
    map[i - first] = made;
  }
  vec_free(tree->heap, &leaves, &kids);
  heap_free(tree->heap, map);
  return made;
}

/* ---- attributes and binding ---- */

/* Repeats one value for all elements of the instance itself. */
static AstExpr fill_own(Tree *tree, Instance *instance, AstExpr e) {
  uint32_t sizes[64], count = instance->dimensions.count;
  if (count == 0 || count > 64 || !instance_sizes(tree, instance)) return e;
  for (uint32_t i = 0; i < count; i++) sizes[i] = instance->dimensions.data[i].size;
  return fill(tree, e, sizes, count, ast_span(tree->ast, e));
}

AstExpr resolve_binding(Resolver *resolver, const Instance *instance, const Modifier *binding) {
  Tree *tree = resolver->tree;
  AstExpr value = binding->value;
  if (binding->fields) value = take_fields(tree, value, binding->scope, binding->fields);
  AstExpr e = resolve_expression(resolver, value);
  Lead lead = lead_of(instance, binding);
  return e == AST_NONE ? e : pick(tree, &lead, binding, e);
}

/* The purpose of a value. The start of a parameter without a binding is its value, so it has all dimensions of the parameter. */
typedef enum ValueRole { ROLE_BINDING, ROLE_ATTRIBUTE, ROLE_START } ValueRole;

static AstExpr resolve_modifier(Tree *tree, Instance *instance, const Modifier *modifier, AstExpr value,
                                ValueRole role) {
  Resolver resolver = {.tree = tree, .scope = modifier->scope};
  if (modifier->scope.instance && modifier->scope.instance->kind == INSTANCE_CLASS &&
      modifier->scope.instance->restriction == CLASS_FUNCTION)
    resolver.function = modifier->scope.instance;
  if (modifier->fields) value = take_fields(tree, value, modifier->scope, modifier->fields);
  AstExpr e = resolve_expression(&resolver, value);
  if (e == AST_NONE) return AST_NONE;
  AstKind kind = ast_kind(tree->ast, e);
  bool is_scalar = kind == AST_REAL || kind == AST_INTEGER || kind == AST_BOOLEAN || kind == AST_STRING;
  if (role == ROLE_ATTRIBUTE && (is_scalar || !resolver.uses_iterators)) {
    Lead lead = lead_of(instance, modifier);
    return resolver.has_array ? pick(tree, &lead, modifier, e) : e;
  }
  bool is_for_each = role == ROLE_START ? !resolver.has_array : role == ROLE_ATTRIBUTE && modifier->is_each;
  if (is_for_each) e = fill_own(tree, instance, e);
  return spread(tree, instance, modifier, e, resolver.uses_iterators);
}

typedef VEC(AstArgument) ArgumentVec;

static bool has_attribute(const Tree *tree, const ArgumentVec *list, Name name) {
  for (uint32_t i = 0; i < list->count; i++)
    if (ast_part(tree->ast, list->data[i].name, 0)->name == name) return true;
  return false;
}

/* A parameter without a binding has its start value. It counts as a value, one for each element of the arrays that contain it. */
static bool is_start_value(const Tree *tree, const Instance *instance, Name attribute) {
  return instance->prefixes & (PREFIX_PARAMETER | PREFIX_CONSTANT) && !instance_binding(instance) &&
         strcmp(names_text(tree->names, attribute), "start") == 0;
}

static bool add_attribute(Tree *tree, Instance *instance, const Modifier *modifier, const AstArgument *argument,
                          ArgumentVec *list) {
  if (argument->is_break || argument->redeclared || !argument->modification) return true;
  if (argument->modification->value == AST_NONE) return true;
  Name name = ast_part(tree->ast, argument->name, 0)->name;
  if (has_attribute(tree, list, name)) return true;
  Modifier inner = *modifier;
  inner.is_each = inner.is_each || argument->is_each;
  inner.fields = NULL;
  ValueRole role = is_start_value(tree, instance, name) ? ROLE_START : ROLE_ATTRIBUTE;
  AstExpr e = resolve_modifier(tree, instance, &inner, argument->modification->value, role);
  if (e == AST_NONE) return false;
  AstModification *value = arena_alloc(&tree->arena, sizeof *value);
  *value = (AstModification){.value = e, .span = argument->span};
  AstArgument made = {.name = flat_path(tree, name, argument->name.span),
                      .modification = value,
                      .left = AST_NONE,
                      .right = AST_NONE,
                      .span = argument->span};
  vec_push(tree->heap, list, made);
  return true;
}

static bool add_attributes(Tree *tree, Instance *instance, ArgumentVec *list) {
  const Part *base = &vec_last(&instance->parts);
  for (uint32_t i = 0; i < base->modifiers.count; i++) {
    const Modifier *modifier = &base->modifiers.data[i];
    for (uint32_t k = 0; modifier->modification && k < modifier->modification->arguments.count; k++)
      if (!add_attribute(tree, instance, modifier, &modifier->modification->arguments.data[k], list)) return false;
  }
  return true;
}

static AstExpr binding_of(Tree *tree, Instance *instance, const Modifier *binding) {
  for (uint32_t i = tree->new_values.count; i-- > 0;)
    if (new_value_fit(tree, tree->new_values.data[i].name, instance) == FIT_WHOLE)
      return tree->new_values.data[i].value;
  if (!binding) return AST_NONE;
  return resolve_modifier(tree, instance, binding, binding->value, ROLE_BINDING);
}

/* ---- dimensions ---- */

static bool add_dimensions(Tree *tree, Instance *instance, AstExprs *out) {
  Lead lead = lead_of(instance, NULL);
  uint32_t count = lead.total + instance->dimensions.count;
  Span span = instance->element->component->label.span;
  /* A record is assembled from its fields. A field of a record that a call gives has no binding, so its sizes must be known. */
  bool has_no_value = instance->base == BASE_NONE || binding_is_whole(tree, instance);
  if (has_no_value && instance_has_open_size(tree, instance) && !instance_sizes(tree, instance)) return false;
  out->data = arena_array(&tree->arena, count, sizeof *out->data);
  out->count = count;
  for (uint32_t i = 0; i < lead.total; i++) out->data[i] = flat_integer(tree, lead.sizes[i], span);
  for (uint32_t i = 0; i < instance->dimensions.count; i++) {
    struct Dimension *dimension = &instance->dimensions.data[i];
    AstExpr *made = &out->data[lead.total + i];
    if (instance->has_sizes) *made = flat_integer(tree, dimension->size, span);
    else if (ast_kind(tree->ast, dimension->e) == AST_COLON) *made = flat_colon(tree, span);
    else if (lead.total) {
      if (!instance_size(tree, instance, i)) return false;
      *made = flat_integer(tree, dimension->size, span);
    } else {
      Resolver resolver = {.tree = tree, .scope = dimension->scope};
      *made = resolve_expression(&resolver, dimension->e);
      if (*made == AST_NONE) return false;
    }
  }
  return true;
}

/* ---- the declaration ---- */

static Name type_name(Tree *tree, const Instance *instance) {
  switch (instance->base) {
  case BASE_ENUMERATION: return define_class(tree, instance->enumeration);
  case BASE_EXTERNAL_OBJECT:
  case BASE_NONE: return define_class(tree, instance->type);
  default: return tree->bases[instance->base]->name;
  }
}

/* The name with places for subscripts, if arrays occur inside it: r[\1].v; 0: all subscripts follow the name. */
static Name name_pattern(Tree *tree, const Instance *instance) {
  const Instance *chain[256];
  uint32_t depth = 0;
  TextVec text = {0};
  if (lead_of(instance, NULL).total == 0) return 0;
  for (const Instance *at = instance; at && at->name && depth < 256; at = at->parent) chain[depth++] = at;
  while (depth-- > 0) {
    const char *name = names_text(tree->names, chain[depth]->name);
    if (text.count) text_append(tree->heap, &text, ".", 1);
    text_append(tree->heap, &text, name, strlen(name));
    for (uint32_t k = 0; k < chain[depth]->dimensions.count; k++) text_append(tree->heap, &text, k ? ",\1" : "[\1", 2);
    if (chain[depth]->dimensions.count) text_append(tree->heap, &text, "]", 1);
  }
  Name pattern = names_add(tree->names, text.data, text.count);
  vec_free(tree->heap, &text);
  return pattern;
}

static uint32_t flat_prefixes(const Tree *tree, const Instance *instance, const Modifier *binding) {
  uint32_t kept = PREFIX_PARAMETER | PREFIX_CONSTANT | PREFIX_DISCRETE | PREFIX_FINAL | PREFIX_PROTECTED;
  bool is_top = instance->parent == tree->model;
  for (const Instance *at = instance->parent; at && at->parent == tree->model && !is_top; at = NULL)
    is_top = (at->restriction == CLASS_CONNECTOR && !is_expandable(at)) || at->restriction == CLASS_RECORD;
  uint32_t prefixes = instance->prefixes & (is_top ? kept | PREFIX_INPUT | PREFIX_OUTPUT : kept);
  if (binding && binding->is_final && prefixes & PREFIX_PARAMETER) prefixes |= PREFIX_FINAL;
  return prefixes;
}

/* Is the instance in a component that results need not show? */
static bool is_inside_hidden(const Tree *tree, const Instance *instance) {
  const Instance *at = instance->parent;
  while (at && at->element && at->element->kind == AST_COMPONENT && !ast_hides_result(tree->ast, at->element))
    at = at->parent;
  return at && at->element && at->element->kind == AST_COMPONENT;
}

/* Allocates the declaration, and fills in the parts that need no resolving. */
static AstComponent *component_new(Tree *tree, Instance *instance, Name type, const Modifier *binding) {
  AstElement *element = arena_alloc(&tree->arena, sizeof *element);
  AstComponent *component = arena_alloc(&tree->arena, sizeof *component);
  AstType *named = arena_alloc(&tree->arena, sizeof *named);
  const AstComponent *text = instance->element->component;
  named->name = flat_path(tree, type, text->type->name.span);
  named->name.global = instance->base == BASE_NONE || instance->base == BASE_EXTERNAL_OBJECT;
  *component = (AstComponent){.type = named,
                              .label = {instance->flat_name, text->label.span},
                              .pattern = name_pattern(tree, instance),
                              .condition = AST_NONE,
                              .is_view = instance->base == BASE_NONE,
                              .is_inner_input = instance->prefixes & PREFIX_INPUT && !binding,
                              .is_inside_hidden = is_inside_hidden(tree, instance),
                              .comment = text->comment,
                              .annotation = text->annotation};
  *element = (AstElement){.kind = AST_COMPONENT,
                          .prefixes = flat_prefixes(tree, instance, binding),
                          .component = component,
                          .span = instance->element->span};
  instance->flat = element;
  return component;
}

/* Finds the sizes of the arrays that contain the instance. */
static bool find_lead(Tree *tree, Instance *instance) {
  bool fits = true;
  for (Instance *at = instance->parent; at && at->kind == INSTANCE_COMPONENT; at = at->parent)
    fits = instance_sizes(tree, at) && fits;
  return fits;
}

const AstElement *flat_component(Tree *tree, Instance *instance) {
  if (instance->flat) return instance->flat;
  if (!find_lead(tree, instance)) return NULL;
  bool is_idle = instance->parent && instance_is_empty(instance->parent);
  const Modifier *binding = instance->base == BASE_NONE || is_idle ? NULL : instance_binding(instance);
  ArgumentVec attributes = {0};
  Name type = type_name(tree, instance);
  if (type == 0) return NULL;
  AstComponent *component = component_new(tree, instance, type, binding);
  AstModification *modification = arena_alloc(&tree->arena, sizeof *modification);
  *modification = (AstModification){.value = AST_NONE};
  bool fits = add_dimensions(tree, instance, &component->dimensions);
  if (fits && instance->base != BASE_NONE && !is_idle) fits = add_attributes(tree, instance, &attributes);
  if (fits && binding && binding_is_whole(tree, instance)) binding = NULL;
  if (fits) modification->value = binding_of(tree, instance, binding);
  if (!fits || (binding && modification->value == AST_NONE)) {
    instance->is_failed = true;
    return NULL;
  }
  modification->arguments.data = arena_array(&tree->arena, attributes.count, sizeof *attributes.data);
  modification->arguments.count = attributes.count;
  if (attributes.count)
    memcpy(modification->arguments.data, attributes.data, attributes.count * sizeof *attributes.data);
  vec_free(tree->heap, &attributes);
  if (instance->element->component->modification) modification->span = instance->element->component->modification->span;
  component->modification = modification;
  return instance->flat;
}
