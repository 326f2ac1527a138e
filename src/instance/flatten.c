/* flatten: walks the tree of instances, declares its variables and writes the equations of all classes.
 *
 * Equations of an array of components become one loop over its elements. Algorithms are whole sections, so they are written for
 * each element. */
#include "instance/flatten.h"

#include "instance/connections.h"
#include "instance/lookup.h"
#include "instance/statement.h"

#include <string.h>

typedef struct Walk {
  Tree *tree;
  Flat *flat;
  VEC(Instance *) instances; /* instances of classes, each before its contents */
} Walk;

/* ---- instances ---- */

/* A model or block has no value; connectors and records do. */
static bool check_value(Tree *tree, const Instance *instance) {
  const Modifier *binding = instance_binding(instance);
  bool has_value = instance->restriction == CLASS_RECORD || instance->restriction == CLASS_CONNECTOR;
  if (!binding || binding->fields || has_value) return true;
  tree_error(tree, ast_span(tree->ast, binding->value), instance, "`%s` is a component of a %s: it cannot have a value",
             instance_text(tree, instance), restriction_text(instance->restriction));
  return false;
}

/* If an outer component lacks its inner one, the inner component is added during the walk and becomes part of the model. If the
 * class of the inner component is partial, the component is added only if it is used; the use is then an error. */
static bool find_missing_inner(Tree *tree, Instance *outer) {
  bool is_partial = outer->type->definition && outer->type->definition->prefixes & PREFIX_PARTIAL;
  return is_partial || prefixes_pass_through(outer->prefixes) || instance_inner(tree, outer);
}

/* All instances, each before its contents. */
static bool walk_instances(Walk *walk) {
  Tree *tree = walk->tree;
  typedef struct OpenInstance {
    Instance *instance;
    uint32_t next;
  } OpenInstance;
  VEC(OpenInstance) open = {0};
  bool fits = true;
  vec_push(tree->heap, &walk->instances, tree->model);
  vec_push(tree->heap, &open, (OpenInstance){tree->model, 0});
  while (open.count) {
    OpenInstance *top = &vec_last(&open);
    Instance *owner = top->instance;
    if (top->next >= owner->elements.count) {
      open.count--;
      continue;
    }
    uint32_t errors = tree->diags->errors;
    Instance *kid = instance_component(tree, owner, top->next++);
    if (tree->diags->errors > errors) fits = false;
    if (kid && instance_is_only_outer(kid)) fits = find_missing_inner(tree, kid) && check_outer(tree, kid) && fits;
    if (!kid || instance_is_only_outer(kid)) continue;
    if (kid->is_failed || !restrict_component(tree, kid)) {
      fits = false;
      continue;
    }
    bool is_inside = kid->base == BASE_NONE;
    if (is_inside && (!check_value(tree, kid) || !instance_sizes(tree, kid) || !check_outer_classes(tree, kid))) {
      fits = false;
      continue;
    }
    if (!is_inside) {
      vec_push(tree->heap, &walk->instances, kid);
      continue;
    }
    vec_push(tree->heap, &walk->instances, kid);
    vec_push(tree->heap, &open, (OpenInstance){kid, 0});
  }
  vec_free(tree->heap, &open);
  return fits;
}

/* ---- equations ---- */

static uint32_t chain_sizes(const Instance *instance, uint32_t *sizes) {
  const Instance *chain[256];
  uint32_t depth = 0, count = 0;
  for (const Instance *at = instance; at && depth < 256; at = at->parent)
    if (at->dimensions.count) chain[depth++] = at;
  while (depth-- > 0)
    for (uint32_t k = 0; k < chain[depth]->dimensions.count && count < 64; k++)
      sizes[count++] = chain[depth]->dimensions.data[k].size;
  return count;
}

/* for $1 in 1:n loop body end for */
static AstStatement loop_over(Tree *tree, StatementVec *body, const uint32_t *sizes, uint32_t count, Span span) {
  AstStatement loop = {.kind = AST_FOR_BLOCK, .left = AST_NONE, .right = AST_NONE, .span = span};
  AstBranch *branch = arena_alloc(&tree->arena, sizeof *branch);
  branch->condition = AST_NONE;
  branch->body.data = arena_array(&tree->arena, body->count, sizeof *body->data);
  branch->body.count = body->count;
  if (body->count) memcpy(branch->body.data, body->data, body->count * sizeof *body->data);
  loop.branches.data = branch;
  loop.branches.count = 1;
  loop.iterators.data = arena_array(&tree->arena, count, sizeof *loop.iterators.data);
  loop.iterators.count = count;
  for (uint32_t i = 0; i < count; i++) {
    loop.iterators.data[i].label = (AstLabel){chain_iterator(tree, i), span};
    loop.iterators.data[i].range = flat_range(tree, sizes[i], span);
  }
  return loop;
}

static void keep_section(Walk *walk, AstSection section, StatementVec *body) {
  Tree *tree = walk->tree;
  section.body.data = arena_array(&tree->arena, body->count, sizeof *body->data);
  section.body.count = body->count;
  if (body->count) memcpy(section.body.data, body->data, body->count * sizeof *body->data);
  if (body->count) vec_push(tree->heap, &walk->flat->sections, section);
  body->count = 0;
}

static bool write_equations(Walk *walk, Instance *instance, uint32_t part, const AstSection *section) {
  Tree *tree = walk->tree;
  uint32_t sizes[64], count = chain_sizes(instance, sizes);
  Resolver resolver = {.tree = tree, .scope = {instance, part}};
  StatementVec body = {0};
  bool fits = resolve_statements(&resolver, section->body.data, section->body.count, true, &body);
  if (count && body.count) {
    AstStatement loop = loop_over(tree, &body, sizes, count, section->span);
    body.count = 0;
    vec_push(tree->heap, &body, loop);
  }
  keep_section(walk, *section, &body);
  vec_free(tree->heap, &body, &resolver.iterators);
  return fits;
}

static bool write_algorithm(Walk *walk, Instance *instance, uint32_t part, const AstSection *section) {
  Tree *tree = walk->tree;
  uint32_t sizes[64], count = chain_sizes(instance, sizes), total = 1;
  int64_t element[64];
  for (uint32_t i = 0; i < count; i++) total *= sizes[i], element[i] = 1;
  bool fits = true;
  for (uint32_t n = 0; n < total; n++) {
    Resolver resolver = {.tree = tree, .scope = {instance, part}, .element = element, .in_algorithm = true};
    StatementVec body = {0};
    fits = resolve_statements(&resolver, section->body.data, section->body.count, false, &body) && fits;
    keep_section(walk, *section, &body);
    vec_free(tree->heap, &body, &resolver.iterators);
    for (uint32_t i = count; i-- > 0 && ++element[i] > sizes[i];) element[i] = 1;
  }
  return fits;
}

/* The name of the instance if it is a state, otherwise of the innermost state that contains it; 0 if there is none. */
static Name state_around(const Instance *instance) {
  while (instance && !instance->is_state) instance = instance->parent;
  return instance ? instance->flat_name : 0;
}

static bool write_sections(Walk *walk, Instance *instance) {
  bool fits = true;
  Name state = state_around(instance);
  for (uint32_t part = 0; part < instance->parts.count; part++) {
    const AstClass *definition = instance->parts.data[part].definition;
    for (uint32_t i = 0; definition && i < definition->sections.count; i++) {
      AstSection section = definition->sections.data[i];
      section.state = state;
      bool written = section.is_algorithm ? write_algorithm(walk, instance, part, &section)
                                          : write_equations(walk, instance, part, &section);
      fits = written && fits;
    }
  }
  return fits;
}

/* Writes the equation of a record whose value is given as a whole. */
static bool write_binding(Walk *walk, Instance *instance) {
  Tree *tree = walk->tree;
  const Modifier *binding = instance_binding(instance);
  Instance *parent = instance->parent;
  if (!binding || binding->fields || !binding_is_whole(tree, instance)) return true;
  uint32_t sizes[64], count = parent ? chain_sizes(parent, sizes) : 0;
  Resolver right = {.tree = tree, .scope = binding->scope};
  Span span = instance->element->component->label.span;
  StatementVec body = {0};
  AstExpr subscripts[64];
  for (uint32_t i = 0; i < count; i++) subscripts[i] = flat_name(tree, chain_iterator(tree, i), NULL, 0, span);
  reach_component(tree, instance);
  AstStatement equation = {.kind = AST_EQUALITY, .span = span};
  equation.left = flat_variable(tree, instance, subscripts, count, span);
  equation.right = resolve_binding(&right, instance, binding);
  if (equation.right == AST_NONE) return false;
  vec_push(tree->heap, &body, equation);
  if (count) {
    AstStatement loop = loop_over(tree, &body, sizes, count, span);
    body.count = 0;
    vec_push(tree->heap, &body, loop);
  }
  keep_section(walk, (AstSection){.span = span}, &body);
  vec_free(tree->heap, &body);
  return true;
}

/* ---- connections ---- */

static bool collect_connections(Walk *walk) {
  bool fits = true;
  for (uint32_t i = 0; i < walk->instances.count; i++) {
    Instance *instance = walk->instances.data[i];
    if (instance->base != BASE_NONE || instance_is_empty(instance)) continue;
    for (uint32_t part = 0; part < instance->parts.count; part++) {
      const AstClass *definition = instance->parts.data[part].definition;
      for (uint32_t k = 0; definition && k < definition->sections.count; k++) {
        const AstSection *section = &definition->sections.data[k];
        if (section->is_algorithm) continue;
        fits = collect_clauses(walk->tree, (Scope){instance, part}, section->body.data, section->body.count) && fits;
      }
    }
  }
  return fits;
}

/* ---- the program ---- */

/* Is the instance a variable in an expandable connector? Connections decide whether it exists. */
static bool is_expanded(const Instance *instance) {
  for (const Instance *at = instance; at; at = at->parent)
    if (is_expandable(at)) return true;
  return false;
}

static bool declare_variables(Walk *walk) {
  Tree *tree = walk->tree;
  bool fits = true;
  for (uint32_t i = 0; i < walk->instances.count; i++) {
    Instance *instance = walk->instances.data[i];
    if (instance->base == BASE_NONE || is_expanded(instance)) continue;
    if (flat_component(tree, instance)) vec_push(tree->heap, &walk->flat->components, *instance->flat);
    else fits = false;
  }
  return fits;
}

static bool write_classes(Walk *walk) {
  bool fits = true;
  for (uint32_t i = 0; i < walk->instances.count; i++) {
    Instance *instance = walk->instances.data[i];
    if (instance->base != BASE_NONE || instance_is_empty(instance)) continue;
    fits = write_sections(walk, instance) && fits;
    if (instance->element) fits = write_binding(walk, instance) && fits;
  }
  return fits;
}

/* Declares the definitions found during the walk: records as a whole, and constants. */
static bool declare_reached(Tree *tree, Flat *flat, FlatProgram *program) {
  VEC(const AstElement *) constants = {0};
  bool fits = true;
  for (uint32_t i = 0; i < tree->reached.count; i++) {
    Instance *instance = tree->reached.data[i];
    const AstElement *element = flat_component(tree, instance);
    definitions_finish(tree);
    if (!element) fits = false;
    else if (instance_is_package(instance)) vec_push(tree->heap, &constants, element);
    else vec_push(tree->heap, &flat->components, *element);
  }
  program->constants.data = constants.data;
  program->constants.count = constants.count;
  return fits;
}

static AstClass *flat_class(Tree *tree, Flat *flat) {
  const AstClass *definition = tree->model->type->definition;
  AstClass *made = arena_alloc(&tree->arena, sizeof *made);
  *made = (AstClass){.kind = CLASS_MODEL,
                     .label = definition->label,
                     .comment = definition->comment,
                     .annotation = definition->annotation,
                     .span = definition->span};
  made->elements.data = flat->components.data;
  made->elements.count = flat->components.count;
  made->sections.data = flat->sections.data;
  made->sections.count = flat->sections.count;
  return made;
}

static void collect_definitions(Tree *tree, FlatProgram *program) {
  program->definitions.data = arena_array(&tree->arena, tree->definitions.count, sizeof *program->definitions.data);
  for (uint32_t i = 0; i < tree->definitions.count; i++)
    if (tree->definitions.data[i].ast)
      program->definitions.data[program->definitions.count++] = tree->definitions.data[i].ast;
}

/* The name by which a class can be requested. A class that is declared in a model belongs to that model, of which a component is an
 * instance. */
static Name class_name(Tree *tree, const Instance *type) {
  const Instance *owner = type->parent;
  if (!owner || owner->kind != INSTANCE_COMPONENT || type->modifiers.count) return type->flat_name;
  const char *text = arena_printf(&tree->arena, "%s.%s", names_text(tree->names, class_name(tree, owner->type)),
                                  names_text(tree->names, type->name));
  return names_add(tree->names, text, strlen(text));
}

static void collect_classes(const Walk *walk, FlatProgram *program) {
  Tree *tree = walk->tree;
  Map seen = map_make(tree->heap);
  program->classes.data = arena_array(&tree->arena, walk->instances.count, sizeof *program->classes.data);
  for (uint32_t i = 1; i < walk->instances.count; i++) {
    const Instance *type = walk->instances.data[i]->type;
    bool is_behaviour =
        type && type->definition &&
        (type->restriction == CLASS_MODEL || type->restriction == CLASS_BLOCK || type->restriction == CLASS_CLASS);
    if (!is_behaviour) continue;
    Name name = class_name(tree, type);
    if (map_get(&seen, name) != MAP_NONE) continue;
    map_put(&seen, name, 0);
    program->classes.data[program->classes.count++] = (ComponentClass){name, type->definition->label.span};
  }
  map_free(&seen);
}

bool flatten(Tree *tree, FlatProgram *program) {
  Flat *flat = arena_alloc(&tree->arena, sizeof *flat);
  Walk walk = {.tree = tree, .flat = flat};
  flat->tree = tree;
  bool fits = walk_instances(&walk);
  if ((fits || tree->has_new_splits) && !collect_connections(&walk)) fits = false;
  if (!fits && !tree->has_new_splits) return false;
  fits = declare_variables(&walk) && fits;
  if (tree->has_new_splits) return false;
  fits = write_classes(&walk) && fits && tree->diags->errors == 0;
  if (!fits) return false;
  if (!connections_write(flat)) return false;
  keep_section(&walk, (AstSection){.span = tree->model->type->definition->span}, &flat->connections);
  definitions_finish(tree);
  fits = declare_reached(tree, flat, program);
  definitions_finish(tree);
  evaluation_finish(tree);
  if (tree->has_new_splits) return false;
  collect_definitions(tree, program);
  collect_classes(&walk, program);
  program->model = flat_class(tree, flat);
  return fits && tree->diags->errors == 0 && check_redeclarations(tree);
}
