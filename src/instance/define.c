/* define: flat definitions of everything a model refers to: functions, records, enumerations and external objects, by full name,
 * with base classes merged and names resolved.
 *
 * Invariant: a definition enters a list when it is first referred to, and is written when the list is processed, so that functions
 * may call each other. */
#include "base/number.h"
#include "instance/lookup.h"
#include "instance/statement.h"

#include <string.h>

/* ---- definitions that the model needs ---- */

Name define_class(Tree *tree, Instance *type) {
  if (!type->definition) return type->flat_name;
  if (!instance_open(tree, type)) return 0;
  if (map_get(&tree->definition_of, type->flat_name) != MAP_NONE) return type->flat_name;
  map_put(&tree->definition_of, type->flat_name, tree->definitions.count);
  vec_push(tree->heap, &tree->definitions, (struct Definition){.instance = type});
  return type->flat_name;
}

bool instance_is_package(const Instance *instance) {
  while (instance && instance->kind == INSTANCE_COMPONENT && instance->name) instance = instance->parent;
  return instance && instance->kind == INSTANCE_CLASS;
}

static void reach(Tree *tree, Instance *instance) {
  if (!instance->session) vec_push(tree->heap, &tree->wanted, instance);
  if (instance->is_reached) return;
  instance->is_reached = true;
  bool is_package = instance_is_package(instance);
  if (is_package || instance->base == BASE_NONE) vec_push(tree->heap, &tree->reached, instance);
}

/* A record as a whole needs its fields. Records nest no deeper than components. */
void reach_component(Tree *tree, Instance *instance) {
  bool is_known = instance->is_reached && instance->session;
  if (is_known) return;
  if (instance->base == BASE_NONE)
    for (uint32_t i = 0; i < instance->elements.count; i++) {
      Instance *kid = instance_component(tree, instance, i);
      if (kid) reach_component(tree, kid);
    }
  reach(tree, instance);
}

bool record_sizes(Tree *tree, Instance *instance) {
  const Modifier *binding = instance_binding(instance);
  NumberVec numbers = {0};
  if (!binding) {
    tree_error(tree, instance->element->component->label.span, instance->parent,
               "the size of `%s` is open, and there is no value that gives it", instance_text(tree, instance));
    return false;
  }
  uint32_t own = instance->dimensions.count;
  bool fits = evaluate_sizes(tree, instance, binding, &numbers);
  if (fits && numbers.count < own) {
    tree_error(tree, ast_span(tree->ast, binding->value), binding->scope.instance,
               "the value of `%s` has %u dimension%s, expected %u", instance_text(tree, instance), numbers.count,
               plural(numbers.count), own);
    fits = false;
  }
  /* The sizes of arrays of records that contain it come first. */
  for (uint32_t i = 0; fits && i < own; i++)
    instance->dimensions.data[i].size = (uint32_t)numbers.data[numbers.count - own + i];
  vec_free(tree->heap, &numbers);
  return fits;
}

/* ---- classes ---- */

typedef VEC(AstElement) ElementVec;

static AstClass *class_new(Tree *tree, const Instance *type, ElementVec *elements) {
  AstClass *made = arena_alloc(&tree->arena, sizeof *made);
  *made = *type->definition;
  made->label.name = type->flat_name;
  made->form = FORM_LONG;
  made->kind = type->restriction;
  made->modification = NULL;
  made->sections.data = NULL, made->sections.count = 0;
  made->elements.data = arena_array(&tree->arena, elements->count, sizeof *elements->data);
  made->elements.count = elements->count;
  if (elements->count) memcpy(made->elements.data, elements->data, elements->count * sizeof *elements->data);
  vec_free(tree->heap, elements);
  return made;
}

static Resolver local_resolver(Tree *tree, Instance *type, Scope scope) {
  return (Resolver){.tree = tree, .scope = scope, .function = type};
}

/* The name of the type of a field, input, output or local. */
static AstType *local_type(Tree *tree, const Instance *kid) {
  AstType *type = arena_alloc(&tree->arena, sizeof *type);
  Name name = kid->base == BASE_ENUMERATION                                 ? define_class(tree, kid->enumeration)
              : kid->base == BASE_NONE || kid->base == BASE_EXTERNAL_OBJECT ? define_class(tree, kid->type)
                                                                            : tree->bases[kid->base]->name;
  if (name == 0) return NULL;
  type->name = flat_path(tree, name, kid->element->component->type->name.span);
  type->name.global = kid->base == BASE_NONE || kid->base == BASE_EXTERNAL_OBJECT || kid->base == BASE_ENUMERATION;
  return type;
}

/* Sizes that depend on other fields of the record stay open. */
static bool local_dimensions(Tree *tree, Instance *type, const Instance *kid, AstExprs *out) {
  out->data = arena_array(&tree->arena, kid->dimensions.count, sizeof *out->data);
  out->count = kid->dimensions.count;
  for (uint32_t i = 0; i < out->count; i++) {
    const struct Dimension *dimension = &kid->dimensions.data[i];
    Span span = ast_span(tree->ast, dimension->e);
    if (ast_kind(tree->ast, dimension->e) == AST_COLON) {
      out->data[i] = flat_colon(tree, span);
      continue;
    }
    Resolver resolver = local_resolver(tree, type, dimension->scope);
    out->data[i] = resolve_expression(&resolver, dimension->e);
    if (out->data[i] == AST_NONE) return false;
    if (resolver.uses_locals && type->restriction == CLASS_RECORD) out->data[i] = flat_colon(tree, span);
  }
  return true;
}

/* ---- values of inputs, outputs, locals and fields ---- */

static bool is_record(const Instance *instance) {
  return instance->base == BASE_NONE && instance->restriction == CLASS_RECORD;
}

/* The value of a component of a function or record class, while it is being made. */
typedef struct Making {
  Tree *tree;
  Instance *type;   /* the function or record */
  bool uses_locals; /* set: a value names other components of `type` */
  bool failed;
} Making;

/* Is the type a function? If not, it is a record, whose fields may become inputs of its constructor. */
static bool is_function(const Making *making) { return making->type->definition->kind == CLASS_FUNCTION; }

/* value.a.b; the chain has b first. */
static AstExpr take_chain(Tree *tree, AstExpr value, const FieldChain *chain) {
  if (!chain) return value;
  return flat_field(tree, take_chain(tree, value, chain->outer), chain->name, ast_span(tree->ast, value));
}

static AstExpr resolve_local(Making *making, const Modifier *binding, bool *uses_iterators) {
  Resolver resolver = local_resolver(making->tree, making->type, binding->scope);
  AstExpr e = resolve_expression(&resolver, binding->value);
  making->failed = making->failed || e == AST_NONE;
  making->uses_locals = making->uses_locals || resolver.uses_locals;
  *uses_iterators = resolver.uses_iterators;
  return e == AST_NONE ? e : take_chain(making->tree, e, binding->fields);
}

/* Do all fields take this value, without their own values? Records nest no deeper than components. */
static bool shares_value(Tree *tree, Instance *record, AstExpr value) {
  for (uint32_t i = 0; i < record->elements.count; i++) {
    Instance *kid = instance_component(tree, record, i);
    if (!kid || kid->prefixes & PREFIX_CONSTANT) continue;
    const Modifier *binding = instance_binding(kid);
    if (!binding || binding->value != value) return false;
    if (is_record(kid) && !shares_value(tree, kid, value)) return false;
  }
  return true;
}

/* The binding that gives the whole value; NULL if there is none. */
static const Modifier *whole_binding(Tree *tree, Instance *kid) {
  const Modifier *binding = instance_binding(kid);
  return binding && is_record(kid) && !shares_value(tree, kid, binding->value) ? NULL : binding;
}

/* ---- records that are built from their fields: inputs, and fields of records ---- */

/* Does the component have the value that the record's class gives it? An array of records has no value assembled from fields. */
static bool has_class_value(Tree *tree, Instance *kid, Instance *in_class) {
  const Modifier *binding = whole_binding(tree, kid), *default_value = whole_binding(tree, in_class);
  if (binding || default_value)
    return binding && default_value && binding->value == default_value->value && !binding->fields;
  if (kid->dimensions.count) return false;
  for (uint32_t i = 0; i < kid->elements.count && is_record(kid); i++) {
    Instance *field = instance_component(tree, kid, i);
    Instance *other = field ? instance_element(tree, in_class, field->name) : NULL;
    if (field && (!other || !has_class_value(tree, field, other))) return false;
  }
  return is_record(kid);
}

static AstExpr constructed(Making *making, Instance *record);

/* AST_NONE: there is no value, or it needs other fields of a record that is not built yet. */
static AstExpr argument_value(Making *making, Instance *kid) {
  bool uses_iterators = false;
  const Modifier *binding = whole_binding(making->tree, kid);
  if (!binding) return is_record(kid) && !kid->dimensions.count ? constructed(making, kid) : AST_NONE;
  if (binding->scope.instance->kind == INSTANCE_COMPONENT) return AST_NONE;
  return resolve_local(making, binding, &uses_iterators);
}

/* R(a = 1, b = 2), with the fields whose values differ from the values in the class. AST_NONE if a field has no value. */
static AstExpr constructed(Making *making, Instance *record) {
  Tree *tree = making->tree;
  Span span = record->element->component->label.span;
  IndexVec values = {0};
  VEC(AstLabel) labels = {0};
  bool fits = record->elements.count;
  for (uint32_t i = 0; i < record->elements.count && fits; i++) {
    Instance *kid = instance_component(tree, record, i);
    Instance *in_class = kid ? instance_element(tree, record->type, kid->name) : NULL;
    if (!kid || kid->prefixes & PREFIX_CONSTANT || (in_class && has_class_value(tree, kid, in_class))) continue;
    AstExpr value = argument_value(making, kid);
    fits = value != AST_NONE;
    vec_push(tree->heap, &values, value);
    vec_push(tree->heap, &labels, (AstLabel){kid->name, span});
  }
  Name constructor = names_add(tree->names, "constructor", 11);
  AstNode node = {.kind = AST_CALL, .global = 1, .span = span, .extra_count = 1};
  node.operation = map_get(&record->type->by_name, constructor) != MAP_NONE;
  node.extra = flat_path(tree, define_class(tree, record->type), span).first;
  node.value.labels.first = tree->ast->labels.count, node.value.labels.count = labels.count;
  for (uint32_t i = 0; i < labels.count; i++) vec_push(tree->heap, &tree->ast->labels, labels.data[i]);
  for (uint32_t i = 0; i < values.count && fits; i++) values.data[i] = flat_copy(tree, values.data[i]);
  AstExpr made = fits ? flat_node(tree, node, values.data, values.count) : AST_NONE;
  vec_free(tree->heap, &values, &labels);
  return made;
}

/* ---- records whose fields are assigned one by one: outputs and locals of functions ---- */

typedef VEC(AstArgument) ArgumentVec;

/* The path from a component of the function to the instance: r.a.b */
static AstPath path_to(Tree *tree, const Instance *instance, const Instance *from, Span span) {
  uint32_t first = tree->ast->parts.count, count = 0;
  for (const Instance *at = instance; at != from; at = at->parent) count++;
  AstPart *parts = vec_extend(tree->heap, &tree->ast->parts, count);
  for (uint32_t k = count; k-- > 0; instance = instance->parent) parts[k] = (AstPart){.name = instance->name};
  return (AstPath){.first = first, .count = count, .span = span};
}

/* The arrays of records that contain a field, outermost first: one record for each dimension. */
typedef struct Around {
  const Instance **records; /* records, in the tree's arena */
  uint32_t count, shared;   /* number of dimensions; the first `shared` also contain the scope of the value */
} Around;

static bool is_within(const Instance *instance, const Instance *other) {
  while (instance && instance != other) instance = instance->parent;
  return instance;
}

static Around arrays_around(Tree *tree, const Instance *field, const Instance *function, const Instance *scope) {
  Around around = {0};
  for (const Instance *at = field->parent; at != function; at = at->parent) around.count += at->dimensions.count;
  around.records = arena_array(&tree->arena, around.count, sizeof *around.records);
  uint32_t end = around.count;
  for (const Instance *at = field->parent; at != function; at = at->parent) {
    if (!around.shared && is_within(scope, at)) around.shared = end;
    for (uint32_t k = 0; k < at->dimensions.count; k++) around.records[--end] = at;
  }
  return around;
}

/* size(r.a, position + 1) */
static AstExpr size_around(Making *making, const Around *around, uint32_t position, Span span) {
  Tree *tree = making->tree;
  AstPath path = path_to(tree, around->records[position], making->type, span);
  AstExpr kids[2];
  kids[0] = flat_node(
      tree, (AstNode){.kind = AST_REFERENCE, .span = span, .extra = path.first, .extra_count = path.count}, NULL, 0);
  kids[1] = flat_integer(tree, position + 1, span);
  return flat_call(tree, "size", kids, 2, span);
}

static AstExpr fill_around(Making *making, const Around *around, AstExpr e, uint32_t begin, uint32_t end) {
  Span span = ast_span(making->tree->ast, e);
  if (begin == end) return e;
  AstExpr *kids = arena_array(&making->tree->arena, (size_t)(end - begin) + 1, sizeof *kids);
  kids[0] = e;
  for (uint32_t i = begin; i < end; i++) kids[1 + i - begin] = size_around(making, around, i, span);
  return flat_call(making->tree, "fill", kids, 1 + end - begin, span);
}

/* {e for $1 in 1:size(r, 1)} */
static AstExpr repeat_around(Making *making, const Around *around, AstExpr e, uint32_t position) {
  Tree *tree = making->tree;
  Span span = ast_span(tree->ast, e);
  AstExpr kids[2];
  kids[0] = flat_integer(tree, 1, span);
  kids[1] = size_around(making, around, position, span);
  AstExpr range = flat_node(tree, (AstNode){.kind = AST_RANGE, .span = span}, kids, 2);
  return flat_iteration(tree, e, chain_iterator(tree, position), range, span);
}

/* Repeats an expression for one element over all elements of the arrays that contain the scope. */
static AstExpr for_all(Making *making, const Around *around, AstExpr e, bool uses_iterators) {
  if (!uses_iterators) return fill_around(making, around, e, 0, around->shared);
  for (uint32_t i = around->shared; i-- > 0;) e = repeat_around(making, around, e, i);
  return e;
}

/* The value of a field in all elements of the arrays that contain it. */
static AstExpr field_value(Making *making, const Instance *field, const Modifier *binding) {
  bool uses_iterators = false;
  Around around = arrays_around(making->tree, field, making->type, binding->scope.instance);
  AstExpr e = resolve_local(making, binding, &uses_iterators);
  if (e == AST_NONE) return e;
  if (binding->is_each) e = fill_around(making, &around, e, around.shared, around.count);
  return for_all(making, &around, e, uses_iterators);
}

static void add_field(Making *making, const Instance *field, const Instance *record, AstExpr value,
                      ArgumentVec *arguments) {
  Tree *tree = making->tree;
  Span span = ast_span(tree->ast, value);
  AstModification *modification = arena_alloc(&tree->arena, sizeof *modification);
  *modification = (AstModification){.value = value, .span = span};
  AstArgument argument = {.modification = modification, .left = AST_NONE, .right = AST_NONE, .span = span};
  argument.name = path_to(tree, field, record, span);
  vec_push(tree->heap, arguments, argument);
}

/* Zeros for a field without a value whose size depends on other fields; AST_NONE for any other field. */
static AstExpr open_value(Making *making, Instance *field) {
  Tree *tree = making->tree;
  Span span = field->element->component->label.span;
  bool uses_locals = false, uses_iterators = false;
  uint32_t count = field->dimensions.count;
  bool is_number = field->base == BASE_REAL || field->base == BASE_INTEGER;
  if (!is_number || !count) return AST_NONE;
  AstExpr *kids = arena_array(&tree->arena, (size_t)count + 1, sizeof *kids);
  kids[0] = field->base == BASE_REAL ? flat_real(tree, 0, span) : flat_integer(tree, 0, span);
  for (uint32_t i = 0; i < count; i++) {
    if (ast_kind(tree->ast, field->dimensions.data[i].e) == AST_COLON) return AST_NONE;
    Resolver resolver = local_resolver(tree, making->type, field->dimensions.data[i].scope);
    kids[1 + i] = resolve_expression(&resolver, field->dimensions.data[i].e);
    if (kids[1 + i] == AST_NONE) return making->failed = true, AST_NONE;
    uses_locals = uses_locals || resolver.uses_locals;
    uses_iterators = uses_iterators || resolver.uses_iterators;
  }
  Around around = arrays_around(making->tree, field, making->type, field);
  if (!uses_locals) return AST_NONE;
  AstExpr e = flat_call(tree, "fill", kids, 1 + count, span);
  return for_all(making, &around, e, uses_iterators);
}

/* Adds the values of all fields that have one, including those of nested records. */
static void add_fields(Making *making, Instance *around, const Instance *record, ArgumentVec *arguments) {
  for (uint32_t i = 0; i < around->elements.count; i++) {
    Instance *kid = instance_component(making->tree, around, i);
    const Modifier *binding = kid ? whole_binding(making->tree, kid) : NULL;
    AstExpr value = binding ? field_value(making, kid, binding) : kid ? open_value(making, kid) : AST_NONE;
    if (value != AST_NONE) add_field(making, kid, record, value, arguments);
    else if (kid && is_record(kid)) add_fields(making, kid, record, arguments);
  }
}

/* ---- the modification of a component ---- */

/* Does the value of an input refer to an element of a component that contains the function? Then the calls give the value. */
static bool is_given_by_calls(Tree *tree, const Modifier *binding) {
  if (binding->scope.instance->kind != INSTANCE_COMPONENT) return false;
  for (AstExpr i = ast_first(tree->ast, binding->value); i <= binding->value; i++)
    if (ast_kind(tree->ast, i) == AST_REFERENCE &&
        instance_element(tree, binding->scope.instance, ast_part(tree->ast, ast_path(tree->ast, i), 0)->name))
      return true;
  return false;
}

static AstExpr local_binding(Making *making, Instance *kid) {
  bool uses_iterators = false;
  bool has_arguments = kid->modifiers.count && kid->modifiers.data[0].modification &&
                       kid->modifiers.data[0].modification->arguments.count;
  const Modifier *binding = whole_binding(making->tree, kid);
  if (binding && is_given_by_calls(making->tree, binding)) return AST_NONE;
  if (binding) return resolve_local(making, binding, &uses_iterators);
  bool is_made = is_record(kid) && !kid->dimensions.count &&
                 (!is_function(making) || (kid->prefixes & PREFIX_INPUT && has_arguments));
  return is_made ? constructed(making, kid) : AST_NONE;
}

static void local_fields(Making *making, Instance *kid, AstModification *modification) {
  ArgumentVec arguments = {0};
  bool is_filled = is_record(kid) && is_function(making) && !(kid->prefixes & PREFIX_INPUT);
  if (!is_filled || modification->value != AST_NONE) return;
  add_fields(making, kid, kid, &arguments);
  modification->arguments.data =
      arena_copy_array(&making->tree->arena, arguments.data, arguments.count, sizeof *arguments.data);
  modification->arguments.count = arguments.count;
  vec_free(making->tree->heap, &arguments);
}

/* If the value of a record's field depends on other fields, the class has no value for it: a constructor gives it. */
static bool local_modification(Tree *tree, Instance *type, Instance *kid, AstComponent *component) {
  Making making = {.tree = tree, .type = type};
  AstModification modification = {.value = local_binding(&making, kid), .span = component->label.span};
  if (type->restriction == CLASS_RECORD && making.uses_locals) modification.value = AST_NONE;
  local_fields(&making, kid, &modification);
  if (modification.value != AST_NONE) modification.span = ast_span(tree->ast, modification.value);
  if (modification.value != AST_NONE || modification.arguments.count) {
    component->modification = arena_alloc(&tree->arena, sizeof modification);
    *component->modification = modification;
  }
  return !making.failed;
}

static bool add_local(Tree *tree, Instance *type, Instance *kid, ElementVec *elements) {
  AstComponent *component = arena_alloc(&tree->arena, sizeof *component);
  const AstComponent *text = kid->element->component;
  *component = (AstComponent){.label = {kid->name, text->label.span},
                              .condition = AST_NONE,
                              .comment = text->comment,
                              .annotation = text->annotation};
  component->type = local_type(tree, kid);
  if (!component->type || !local_dimensions(tree, type, kid, &component->dimensions)) return false;
  bool fits = local_modification(tree, type, kid, component);
  AstElement element = {
      .kind = AST_COMPONENT, .prefixes = kid->prefixes, .component = component, .span = kid->element->span};
  vec_push(tree->heap, elements, element);
  return fits;
}

static bool add_locals(Tree *tree, Instance *type, ElementVec *elements) {
  bool fits = true;
  for (uint32_t i = 0; i < type->elements.count; i++) {
    const Element *element = &type->elements.data[i];
    if (element->is_removed || element->ast->kind != AST_COMPONENT) continue;
    Instance *kid = element_instance(tree, type, i);
    fits = kid && add_local(tree, type, kid, elements) && fits;
  }
  return fits;
}

/* ---- functions ---- */

/* A function has one algorithm, or is external; inherited sections count. */
static void check_bodies(Tree *tree, Instance *function) {
  const AstClass *first = NULL;
  for (uint32_t number = 0; number < function->parts.count; number++) {
    const AstClass *definition = function->parts.data[number].definition;
    if (!definition || (!definition->sections.count && !definition->external)) continue;
    if (first && first != definition)
      tree_tolerate(tree, DIAG_NO_BASE, first->label.span, function,
                    "function `%s` has an algorithm or is external, and inherits another body from `%s`",
                    names_text(tree->names, function->name), names_text(tree->names, definition->label.name));
    if (!first) first = definition;
  }
}

static void add_sections(Tree *tree, Instance *function, AstClass *made) {
  VEC(AstSection) sections = {0};
  check_bodies(tree, function);
  for (uint32_t number = 0; number < function->parts.count; number++) {
    const AstClass *definition = function->parts.data[number].definition;
    for (uint32_t i = 0; definition && i < definition->sections.count; i++) {
      AstSection section = definition->sections.data[i];
      StatementVec body = {0};
      Resolver resolver = local_resolver(tree, function, (Scope){function, number});
      resolve_statements(&resolver, section.body.data, section.body.count, false, &body);
      section.body.data = arena_array(&tree->arena, body.count, sizeof *body.data);
      section.body.count = body.count;
      if (body.count) memcpy(section.body.data, body.data, body.count * sizeof *body.data);
      vec_free(tree->heap, &body, &resolver.iterators);
      vec_push(tree->heap, &sections, section);
    }
    if (definition && definition->external && !made->external) made->external = definition->external;
  }
  made->sections.data = arena_array(&tree->arena, sections.count, sizeof *sections.data);
  made->sections.count = sections.count;
  if (sections.count) memcpy(made->sections.data, sections.data, sections.count * sizeof *sections.data);
  vec_free(tree->heap, &sections);
}

/* The directory that an annotation names, or the library's own (Modelica 3.6, section 12.9.4); 0 if there is none. */
static Name external_directory(Tree *tree, const Instance *function, const AstExternal *external, const char *word,
                               const char *folder) {
  const AstArgument *argument = ast_argument(tree->ast, external->annotation, word);
  const AstModification *given = argument ? argument->modification : NULL;
  const char *reason = NULL, *uri = NULL;
  if (!external->annotation) return 0;
  if (given && given->value != AST_NONE && ast_kind(tree->ast, given->value) == AST_STRING)
    uri = names_text(tree->names, ast_node(tree->ast, given->value)->value.text);
  else {
    const Instance *top = function;
    while (top->type->around.instance && top->type->around.instance != tree->root) top = top->type->around.instance;
    top = top->type;
    uri = arena_printf(&tree->arena, "modelica://%s/Resources/%s", names_text(tree->names, top->name), folder);
  }
  const char *path = library_resource(tree->library, uri, &tree->arena, &reason);
  return path ? names_add(tree->names, path, strlen(path)) : 0;
}

static void resolve_external(Tree *tree, Instance *function, AstClass *made) {
  if (!made->external) return;
  AstExternal *external = arena_alloc(&tree->arena, sizeof *external);
  uint32_t part = 0;
  while (part + 1 < function->parts.count &&
         (!function->parts.data[part].definition || function->parts.data[part].definition->external != made->external))
    part++;
  *external = *made->external;
  Resolver resolver = local_resolver(tree, function, (Scope){function, part});
  external->arguments.data = arena_array(&tree->arena, external->arguments.count, sizeof *external->arguments.data);
  for (uint32_t i = 0; i < external->arguments.count; i++)
    external->arguments.data[i] = resolve_expression(&resolver, made->external->arguments.data[i]);
  if (external->output != AST_NONE) external->output = resolve_expression(&resolver, external->output);
  external->include_directory = external_directory(tree, function, external, "IncludeDirectory", "Include");
  external->library_directory = external_directory(tree, function, external, "LibraryDirectory", "Library");
  made->external = external;
}

/* annotation(inverse(x = g(...))): the calls are resolved; a call that cannot be resolved is left out. */
static AstModification *resolve_inverses(Tree *tree, Instance *function, uint32_t part,
                                         const AstModification *written) {
  AstModification *made = arena_alloc(&tree->arena, sizeof *made);
  *made = (AstModification){.value = AST_NONE, .span = written->span};
  made->arguments.data = arena_array(&tree->arena, written->arguments.count, sizeof *made->arguments.data);
  for (uint32_t i = 0; i < written->arguments.count; i++) {
    AstArgument argument = written->arguments.data[i];
    if (!argument.modification || argument.modification->value == AST_NONE) continue;
    AstExpr call = argument.modification->value;
    Scope scope = {function, part};
    const Instance *called =
        ast_kind(tree->ast, call) == AST_CALL ? scope_try_class(tree, scope, ast_path(tree->ast, call)) : NULL;
    if (!called || called->prefixes & PREFIX_PARTIAL) continue;
    Resolver resolver = local_resolver(tree, function, scope);
    argument.modification = arena_alloc(&tree->arena, sizeof *argument.modification);
    *argument.modification = (AstModification){.value = resolve_expression(&resolver, call), .span = written->span};
    vec_free(tree->heap, &resolver.iterators);
    made->arguments.data[made->arguments.count++] = argument;
  }
  return made;
}

/* annotation(derivative(...) = f): the name of f is resolved. */
static void resolve_annotations(Tree *tree, Instance *function, AstClass *made) {
  const AstModification *annotation = NULL;
  uint32_t part = 0;
  for (; part < function->parts.count && !annotation; part++)
    if (function->parts.data[part].definition) annotation = function->parts.data[part].definition->annotation;
  made->annotation = NULL;
  if (!annotation) return;
  AstModification *copy = arena_alloc(&tree->arena, sizeof *copy);
  *copy = *annotation;
  copy->arguments.data = arena_array(&tree->arena, copy->arguments.count, sizeof *copy->arguments.data);
  for (uint32_t i = 0; i < copy->arguments.count; i++) {
    AstArgument *argument = &copy->arguments.data[i];
    *argument = annotation->arguments.data[i];
    if (argument->modification && ast_path_is(tree->ast, argument->name, "inverse"))
      argument->modification = resolve_inverses(tree, function, part - 1, argument->modification);
    bool names_function = argument->modification && argument->modification->value != AST_NONE &&
                          ast_path_is(tree->ast, argument->name, "derivative") &&
                          ast_kind(tree->ast, argument->modification->value) == AST_REFERENCE;
    if (!names_function) continue;
    Instance *target =
        scope_try_class(tree, (Scope){function, part - 1}, ast_path(tree->ast, argument->modification->value));
    AstModification *inner = arena_alloc(&tree->arena, sizeof *inner);
    *inner = *argument->modification;
    Span span = ast_span(tree->ast, inner->value);
    inner->value = AST_NONE;
    if (target && define_class(tree, target)) inner->value = flat_name(tree, target->flat_name, NULL, 0, span);
    argument->modification = inner;
  }
  made->annotation = copy;
}

static AstClass *define_function(Tree *tree, Instance *function) {
  ElementVec elements = {0};
  const AstClass *definition = function->definition;
  if (definition->form == FORM_DERIVATIVE) {
    AstClass *made = arena_alloc(&tree->arena, sizeof *made);
    *made = *definition;
    made->label.name = function->flat_name;
    Instance *base = scope_find_class(tree, function->around, definition->base.name);
    if (!base || !define_class(tree, base)) return NULL;
    made->base.name = flat_path(tree, base->flat_name, definition->base.name.span);
    made->base.name.global = true;
    return made;
  }
  if (!add_locals(tree, function, &elements)) return NULL;
  AstClass *made = class_new(tree, function, &elements);
  made->prefixes = function->prefixes;
  made->external = NULL;
  add_sections(tree, function, made);
  resolve_external(tree, function, made);
  resolve_annotations(tree, function, made);
  return made;
}

/* ---- operator records ---- */

typedef VEC(struct AstOverload) OverloadVec;

static void add_overload(Tree *tree, Name operation, Instance *function, OverloadVec *list) {
  if (function->restriction != CLASS_FUNCTION || !define_class(tree, function)) return;
  vec_push(tree->heap, list, (struct AstOverload){operation, function->flat_name});
}

/* operator function '+', or operator '+' with several functions in it. */
static void add_overloads(Tree *tree, Instance *record, AstClass *made) {
  OverloadVec list = {0};
  for (uint32_t i = 0; i < record->elements.count; i++) {
    const Element *element = &record->elements.data[i];
    if (element->is_removed || element->ast->kind != AST_CLASS) continue;
    const AstClass *definition = element->ast->class_definition;
    if (definition->kind != CLASS_OPERATOR && !(definition->prefixes & PREFIX_OPERATOR)) continue;
    Name operation = element->name;
    Instance *kid = element_instance(tree, record, i);
    if (!kid || !instance_open(tree, kid)) continue;
    restrict_operator(tree, record, kid, strcmp(names_text(tree->names, operation), "constructor") == 0);
    if (kid->restriction == CLASS_FUNCTION) add_overload(tree, operation, kid, &list);
    else
      for (uint32_t k = 0; k < kid->elements.count; k++) {
        Instance *function = kid->elements.data[k].ast->kind == AST_CLASS ? element_instance(tree, kid, k) : NULL;
        if (function) add_overload(tree, operation, function, &list);
      }
  }
  made->operators.data = arena_array(&tree->arena, list.count, sizeof *list.data);
  made->operators.count = list.count;
  if (list.count) memcpy(made->operators.data, list.data, list.count * sizeof *list.data);
  vec_free(tree->heap, &list);
}

/* ---- the others ---- */

/* Does the value of a field depend on other fields? */
static bool has_dependent_field(Tree *tree, Instance *record) {
  for (uint32_t i = 0; i < record->elements.count; i++) {
    Instance *kid = instance_component(tree, record, i);
    Making making = {.tree = tree, .type = record};
    if (kid && local_binding(&making, kid) != AST_NONE && making.uses_locals) return true;
  }
  return false;
}

/* result = R(a, b, ...), from the inputs of these names. */
static AstElement constructor_output(Tree *tree, Instance *record, const ElementVec *inputs) {
  Span span = record->definition->label.span;
  AstComponent *component = arena_alloc(&tree->arena, sizeof *component);
  AstType *type = arena_alloc(&tree->arena, sizeof *type);
  AstModification *modification = arena_alloc(&tree->arena, sizeof *modification);
  AstExpr *kids = arena_array(&tree->arena, inputs->count, sizeof *kids);
  for (uint32_t i = 0; i < inputs->count; i++)
    kids[i] = flat_name(tree, inputs->data[i].component->label.name, NULL, 0, span);
  AstNode call = {.kind = AST_CALL, .operation = 1, .global = 1, .span = span, .extra_count = 1};
  call.extra = flat_path(tree, record->flat_name, span).first;
  *modification = (AstModification){.value = flat_node(tree, call, kids, inputs->count), .span = span};
  type->name = flat_path(tree, record->flat_name, span);
  type->name.global = true;
  *component = (AstComponent){.type = type,
                              .label = {names_add(tree->names, "$result", 7), span},
                              .condition = AST_NONE,
                              .modification = modification};
  return (AstElement){.kind = AST_COMPONENT, .prefixes = PREFIX_OUTPUT, .component = component, .span = span};
}

/* A record with fields whose values depend on other fields is built by a function: defaults of inputs may depend on other
 * inputs. */
static void add_constructor(Tree *tree, Instance *record, AstClass *made) {
  ElementVec inputs = {0};
  record->restriction = CLASS_FUNCTION; /* treats its fields like inputs, for sizes and values */
  bool fits = add_locals(tree, record, &inputs);
  record->restriction = CLASS_RECORD;
  if (!fits) return;
  for (uint32_t i = 0; i < inputs.count; i++)
    inputs.data[i].prefixes = (inputs.data[i].prefixes & PREFIX_PROTECTED) | PREFIX_INPUT;
  AstElement output = constructor_output(tree, record, &inputs);
  vec_push(tree->heap, &inputs, output);
  AstClass *function = class_new(tree, record, &inputs);
  const char *name = arena_printf(&tree->arena, "%s.constructor", names_text(tree->names, record->flat_name));
  function->label.name = names_add(tree->names, name, strlen(name));
  function->kind = CLASS_FUNCTION;
  function->prefixes = 0;
  function->annotation = NULL;
  vec_push(tree->heap, &tree->definitions, (struct Definition){.instance = record, .ast = function});
  made->operators.data = arena_alloc(&tree->arena, sizeof *made->operators.data);
  made->operators.data[0] = (struct AstOverload){names_add(tree->names, "constructor", 11), function->label.name};
  made->operators.count = 1;
}

static AstClass *define_record(Tree *tree, Instance *record) {
  ElementVec elements = {0};
  if (!add_locals(tree, record, &elements)) return NULL;
  AstClass *made = class_new(tree, record, &elements);
  made->kind = CLASS_RECORD;
  made->annotation = NULL;
  add_overloads(tree, record, made);
  if (made->operators.count == 0 && has_dependent_field(tree, record)) add_constructor(tree, record, made);
  return made;
}

static AstClass *define_enumeration(Tree *tree, Instance *type) {
  AstClass *made = arena_alloc(&tree->arena, sizeof *made);
  *made = *type->definition;
  made->label.name = type->flat_name;
  return made;
}

static AstClass *define_external_object(Tree *tree, Instance *type) {
  static const char *const functions[] = {"constructor", "destructor"};
  ElementVec elements = {0};
  AstExtends *extends = arena_alloc(&tree->arena, sizeof *extends);
  *extends =
      (AstExtends){.name = flat_path(tree, tree->bases[BASE_EXTERNAL_OBJECT]->name, type->definition->label.span)};
  vec_push(tree->heap, &elements, (AstElement){.kind = AST_EXTENDS, .extends = extends});
  for (uint32_t i = 0; i < type->elements.count; i++) {
    const Element *element = &type->elements.data[i];
    const char *name = names_text(tree->names, element->name);
    bool is_known =
        element->ast->kind == AST_CLASS && (strcmp(name, functions[0]) == 0 || strcmp(name, functions[1]) == 0);
    if (!is_known)
      tree_error(tree, ast_element_label(element->ast).span, type,
                 "an external object may have only a constructor and a destructor: `%s`", name);
    else if (element->ast->prefixes & PREFIX_REPLACEABLE)
      tree_error(tree, ast_element_label(element->ast).span, type, "`%s` of an external object cannot be replaceable",
                 name);
  }
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    Instance *function = instance_element(tree, type, names_add(tree->names, functions[i], strlen(functions[i])));
    if (function) define_class(tree, function);
  }
  AstClass *made = class_new(tree, type, &elements);
  made->kind = CLASS_CLASS;
  return made;
}

static AstClass *define(Tree *tree, Instance *instance) {
  if (instance->base == BASE_ENUMERATION) return define_enumeration(tree, instance);
  if (instance->base == BASE_EXTERNAL_OBJECT) return define_external_object(tree, instance);
  if (instance->restriction == CLASS_FUNCTION) return define_function(tree, instance);
  if (instance->restriction == CLASS_RECORD || instance->restriction == CLASS_CONNECTOR)
    return define_record(tree, instance);
  tree_error(tree, instance->definition->label.span, NULL, "%s `%s` cannot be used as a value or called",
             restriction_text(instance->restriction), names_text(tree->names, instance->flat_name));
  return NULL;
}

void definitions_finish(Tree *tree) {
  for (; tree->definitions_done < tree->definitions.count;) {
    uint32_t number = tree->definitions_done++;
    if (tree->definitions.data[number].ast) continue;
    AstClass *made = define(tree, tree->definitions.data[number].instance);
    tree->definitions.data[number].ast = made;
  }
}
