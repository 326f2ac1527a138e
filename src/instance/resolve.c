/* resolve: expressions of the text become flat ones. Names become the full names of variables, with the subscripts of all arrays on
 * the path; functions, constants and literals get their full names.
 *
 * Invariant: the nodes of the expression are copied in their order, so nesting needs no stack. A reference inside an array of
 * components refers to the same element of all arrays that contain both. */
#include "base/number.h"
#include "instance/connections.h"
#include "instance/lookup.h"

#include <string.h>

typedef struct Copy {
  Resolver *r;
  AstExpr first, last;       /* nodes of the text */
  IndexVec map;              /* node of the text - first -> new node */
  IndexVec loops;            /* nodes that are iterations */
  IndexVec split_loops;      /* the loops whose iterators choose among the elements of a split array */
  IndexVec arguments;        /* references that are arguments of operators on connections */
  IndexVec states;           /* references that are arguments of operators on states */
  uint32_t consumed;         /* number of path parts that the last reference used */
  ConnectOperator operation; /* operator that is applied to a reference */
  IndexVec places;           /* the element of each split array on the path */
  struct PathStep *open;     /* set by follow: the step to the next split array on the path */
  bool failed;
} Copy;

static const Ast *ast_of(const Copy *copy) { return copy->r->tree->ast; }

/* ---- iterators ---- */

/* Is the name an iterator of an iteration inside the expression, or of an enclosing loop? */
static bool is_iterator(const Copy *copy, AstExpr at, Name name) {
  const Ast *ast = ast_of(copy);
  for (uint32_t i = 0; i < copy->loops.count; i++) {
    AstExpr loop = copy->loops.data[i];
    if (at >= loop || at < ast_first(ast, loop)) continue;
    for (uint32_t k = 0; k < ast_label_count(ast, loop); k++)
      if (ast_label(ast, loop, k).name == name) return true;
  }
  for (uint32_t i = 0; i < copy->r->iterators.count; i++)
    if (copy->r->iterators.data[i] == name) return true;
  return false;
}

static const struct IteratorValue *unrolled(const Copy *copy, Name name) {
  for (uint32_t i = copy->r->value_count; i-- > 0;)
    if (copy->r->values[i].name == name) return &copy->r->values[i];
  return NULL;
}

/* ---- paths to instances ---- */

typedef VEC(AstExpr) SubscriptVec;

static bool is_around(const Instance *node, const Instance *scope) {
  for (; scope; scope = scope->parent)
    if (scope == node) return true;
  return false;
}

/* The subscript of an array that contains both the scope and the referenced component. */
static AstExpr shared_subscript(Copy *copy, uint32_t position, Span span) {
  Resolver *r = copy->r;
  r->uses_iterators = true;
  r->positions |= (uint64_t)1 << position % 64;
  if (r->element) return flat_integer(r->tree, r->element[position], span);
  return flat_name(r->tree, chain_iterator(r->tree, position), NULL, 0, span);
}

/* Is a constant the same in all elements of an array that contains it? It certainly is the same if it is written as a number, and
 * not for each element. */
static bool is_same_in_all(const Tree *tree, const Instance *constant, const Instance *array) {
  const Modifier *binding = instance_binding(constant);
  if (!binding || binding->value == AST_NONE || binding->fields) return false;
  bool is_number = true;
  for (AstExpr e = ast_first(tree->ast, binding->value); e <= binding->value; e++)
    is_number = is_number && ast_kind(tree->ast, e) != AST_REFERENCE && ast_kind(tree->ast, e) != AST_CALL;
  return is_number && (is_around(array, binding->scope.instance) || (binding->is_each && !constant->dimensions.count));
}

/* The subscript within a function that belongs to an array of components: the function does not know for which element it is
 * called. If the subscript may matter, each element gets its own function. */
static AstExpr element_subscript(Copy *copy, const Instance *constant, const Instance *array, Span span) {
  if (!is_same_in_all(copy->r->tree, constant, array)) instance_split(copy->r->tree, array);
  return flat_integer(copy->r->tree, 1, span);
}

/* One step of a path: the component and the subscripts written after it. */
typedef struct PathStep {
  Instance *instance;
  uint32_t kid, count;
} PathStep;

typedef VEC(PathStep) StepVec;

static void report_undeclared(Copy *copy, AstPath path, uint32_t at, const Instance *inside) {
  Tree *tree = copy->r->tree;
  const char *text = ast_path_text(tree->ast, path, &tree->arena);
  const char *name = names_text(tree->names, ast_part(tree->ast, path, at)->name);
  if (inside && inside->flat_name)
    tree_error(tree, path.span, copy->r->scope.instance, "`%s` is not declared: there is no `%s` in `%s`", text, name,
               names_text(tree->names, inside->flat_name));
  else {
    tree_error(tree, path.span, copy->r->scope.instance, "`%s` is not declared", text);
    library_note_used(tree->library, ast_part(tree->ast, path, 0)->name, tree->last);
  }
  tree_suggest_element(tree, inside ? inside : copy->r->scope.instance, name);
  copy->failed = true;
}

/* A conditional component may be modified and connected, but not used otherwise (Modelica 3.6, section 4.4.5). */
static bool is_conditional(const Instance *instance) {
  return instance->element && instance->element->kind == AST_COMPONENT &&
         instance->element->component->condition != AST_NONE;
}

static bool check_conditional(Copy *copy, AstPath path, Instance *instance) {
  Tree *tree = copy->r->tree;
  if (!is_conditional(instance)) return true;
  bool is_tolerated =
      tree_tolerate(tree, DIAG_INPUT, path.span, copy->r->scope.instance,
                    "`%s` has a condition: it can be connected, but not used here", instance_text(tree, instance));
  copy->failed = copy->failed || !is_tolerated;
  return is_tolerated;
}

/* Follows the path as far as it names elements; collects the steps from the first component on. Stops at a split array if
 * copy->places does not say which of its elements is meant: then copy->open is set, and the result is NULL. */
static Instance *follow(Copy *copy, AstPath path, Instance *at, StepVec *steps) {
  Tree *tree = copy->r->tree;
  uint32_t kid = 0, place = 0;
  copy->open = NULL;
  for (uint32_t i = 0;; i++) {
    const AstPart *part = ast_part(tree->ast, path, i);
    const Instance *seen = at; /* for an inner component, only elements of the outer one are visible */
    if (at->kind == INSTANCE_COMPONENT) {
      Instance *inner = instance_inner(tree, at);
      if (!inner) return copy->failed = true, NULL;
      at = inner;
      if (!check_conditional(copy, path, at)) return NULL;
      vec_push(tree->heap, steps, (PathStep){at, kid, part->subscripts});
      if (at->is_split && place == copy->places.count) return copy->open = &vec_last(steps), NULL;
      if (at->is_split) {
        Instance *element = instance_split_element(tree, at, copy->places.data[place++]);
        if (!element) return copy->failed = true, NULL;
        seen = seen == at ? element : seen;
        at = element;
        vec_last(steps) = (PathStep){at, 0, 0};
      }
    }
    kid += part->subscripts;
    copy->consumed = i + 1;
    if (i + 1 == path.count) return at;
    Instance *next = NULL;
    Name name = ast_part(tree->ast, path, i + 1)->name;
    bool is_seen = seen == at || is_expandable(seen) || map_get(&seen->by_name, name) != MAP_NONE;
    if (at->base == BASE_NONE && is_seen) next = instance_element(tree, at, name);
    if (at->kind == INSTANCE_CLASS && !next) instance_open(tree, at);
    if (at->kind == INSTANCE_CLASS && at->base == BASE_ENUMERATION) return at;
    if (!next) {
      report_undeclared(copy, path, i + 1, at);
      return NULL;
    }
    bool is_reached = check_access(tree, copy->r->scope, at, name, path.span);
    if (is_reached && at->kind == INSTANCE_COMPONENT && next->kind == INSTANCE_CLASS)
      is_reached = tree_tolerate(tree, DIAG_NO_ACCESS, path.span, copy->r->scope.instance,
                                 "`%s` is a class of the component `%s`: only functions are found there",
                                 names_text(tree->names, name), instance_text(tree, at));
    if (!is_reached) return copy->failed = true, NULL;
    at = next;
  }
}

/* A dimension that is declared by a type needs values of that type as subscripts, not numbers. */
static void check_subscript(Copy *copy, AstExpr subscript, const struct Dimension *dimension) {
  Tree *tree = copy->r->tree;
  if (ast_kind(tree->ast, subscript) != AST_INTEGER || dimension->e == AST_NONE) return;
  if (ast_kind(tree->ast, dimension->e) != AST_REFERENCE || ast_kid_count(tree->ast, dimension->e)) return;
  const Instance *type = scope_try_class(tree, dimension->scope, ast_path(tree->ast, dimension->e));
  if (!type || type->kind != INSTANCE_CLASS) return;
  tree_error(tree, ast_span(tree->ast, subscript), copy->r->scope.instance,
             "the dimension is of type `%s`: a number cannot be its subscript", names_text(tree->names, type->name));
  copy->failed = true;
}

/* Collects the subscripts of the instances from the model down to `instance`. Subscripts that select all of the last dimensions are
 * left out. */
static void collect_subscripts(Copy *copy, AstExpr e, const Instance *instance, const StepVec *steps,
                               SubscriptVec *out) {
  Tree *tree = copy->r->tree;
  Span span = ast_span(tree->ast, e);
  const Instance *chain[256];
  uint32_t depth = 0, position = 0, kept = 0;
  for (const Instance *at = instance; at && at->kind == INSTANCE_COMPONENT && depth < 256; at = at->parent)
    if (at->dimensions.count) chain[depth++] = at;
  for (uint32_t i = 0; i < steps->count; i++) {
    const PathStep *step = &steps->data[i];
    if (step->count <= step->instance->dimensions.count) continue;
    tree_error(tree, span, copy->r->scope.instance, "`%s` has %u dimension%s and is used with %u subscript%s",
               instance_text(tree, step->instance), step->instance->dimensions.count,
               plural(step->instance->dimensions.count), step->count, plural(step->count));
    copy->failed = true;
  }
  while (depth-- > 0) {
    const Instance *at = chain[depth];
    const PathStep *step = NULL;
    for (uint32_t i = 0; i < steps->count; i++)
      if (steps->data[i].instance == at) step = &steps->data[i];
    bool is_shared = !(step && step->count) && is_around(at, copy->r->scope.instance);
    for (uint32_t k = 0; k < at->dimensions.count; k++, position++) {
      AstExpr subscript;
      if (step && k < step->count) {
        AstExpr old = ast_kid(tree->ast, e, step->kid + k);
        check_subscript(copy, old, &at->dimensions.data[k]);
        subscript = copy->map.data[old - copy->first];
      } else if (is_shared && copy->r->function && is_around(at, copy->r->function))
        subscript = element_subscript(copy, instance, at, span);
      else if (is_shared) subscript = shared_subscript(copy, position, span);
      else subscript = AST_NONE;
      if (subscript != AST_NONE) kept = position + 1;
      vec_push(tree->heap, out, subscript);
    }
  }
  out->count = kept;
}

/* Copies all subscripts again, so that old and new ones are contiguous. */
static void gather_subscripts(Tree *tree, SubscriptVec *list, Span span) {
  for (uint32_t i = 0; i < list->count; i++)
    list->data[i] = list->data[i] == AST_NONE ? flat_colon(tree, span) : flat_copy(tree, list->data[i]);
}

/* ---- references ---- */

/* A component of the function itself: its name, fields and subscripts are unchanged. */
static AstExpr local_reference(Copy *copy, AstExpr e) {
  Tree *tree = copy->r->tree;
  AstNode node = *ast_node(tree->ast, e);
  SubscriptVec kids = {0};
  for (uint32_t i = 0; i < node.kid_count; i++)
    vec_push(tree->heap, &kids, copy->map.data[ast_kid(tree->ast, e, i) - copy->first]);
  AstExpr made = flat_node(tree, node, kids.data, kids.count);
  vec_free(tree->heap, &kids);
  return made;
}

/* The outermost record that contains a variable, or is the instance itself; NULL if there is none. No record contains the elements
 * of a split array. */
static Instance *record_around(Instance *instance) {
  Instance *found = NULL;
  for (Instance *at = instance; at && at->kind == INSTANCE_COMPONENT; at = at->parent) {
    if (at->restriction == CLASS_RECORD && at->base == BASE_NONE) found = at;
    else if (at != instance) break;
    if (at->array) break;
  }
  return found;
}

/* In algorithms: record[subscripts].field.field[subscripts]; `name` is the name of the record. */
static AstExpr field_reference(Copy *copy, AstExpr e, Instance *record, Name name, Instance *leaf,
                               const StepVec *steps) {
  Tree *tree = copy->r->tree;
  Span span = ast_span(tree->ast, e);
  SubscriptVec all = {0};
  collect_subscripts(copy, e, leaf, steps, &all);
  uint32_t lead = chain_count(record), parts = tree->ast->parts.count, count = 0;
  VEC(const Instance *) names = {0};
  for (const Instance *at = leaf; at != record; at = at->parent) vec_push(tree->heap, &names, at);
  gather_subscripts(tree, &all, span);
  uint32_t given = all.count < lead ? all.count : lead;
  vec_push(tree->heap, &tree->ast->parts, (AstPart){.name = name, .subscripts = given & 0x7fffffffu});
  uint32_t used = given;
  for (uint32_t i = names.count; i-- > 0;) {
    uint32_t own = names.data[i]->dimensions.count;
    if (own > all.count - used) own = all.count - used;
    vec_push(tree->heap, &tree->ast->parts, (AstPart){.name = names.data[i]->name, .subscripts = own & 0x7fffffffu});
    used += own;
  }
  count = tree->ast->parts.count - parts;
  AstNode node = {.kind = AST_REFERENCE, .span = span, .extra = parts, .extra_count = count};
  AstExpr made = flat_node(tree, node, all.data, all.count);
  vec_free(tree->heap, &all);
  vec_free(tree->heap, &names);
  return made;
}

/* The component of the function that is, or contains, the instance; NULL if there is none. */
static Instance *local_around(const Copy *copy, Instance *instance) {
  while (instance && instance->kind == INSTANCE_COMPONENT && instance->parent != copy->r->function)
    instance = instance->parent;
  return copy->r->function && instance && instance->kind == INSTANCE_COMPONENT ? instance : NULL;
}

/* Does the component have a value? Records and connectors have one; components of models and blocks do not. */
static bool has_value(const Instance *component) {
  return component->base != BASE_NONE || component->restriction == CLASS_RECORD ||
         component->restriction == CLASS_CONNECTOR;
}

static AstExpr component_reference(Copy *copy, AstExpr e, Instance *instance, const StepVec *steps) {
  Tree *tree = copy->r->tree;
  Span span = ast_span(tree->ast, e);
  if (!instance_is_present(tree, instance)) {
    copy->failed = true;
    if (!copy->r->keeps_absent)
      tree_error(tree, span, copy->r->scope.instance, "`%s` does not exist here: its condition is false",
                 instance_text(tree, instance));
    return AST_NONE;
  }
  if (!has_value(instance)) {
    tree_error(tree, span, copy->r->scope.instance, "`%s` is a component of a %s, which is not a value",
               instance_text(tree, instance), restriction_text(instance->restriction));
    copy->failed = true;
    return AST_NONE;
  }
  Instance *record = copy->r->in_algorithm ? record_around(instance) : NULL;
  if (record && record != instance) {
    reach_component(tree, record);
    return field_reference(copy, e, record, record->flat_name, instance, steps);
  }
  reach_component(tree, instance);
  SubscriptVec subscripts = {0};
  collect_subscripts(copy, e, instance, steps, &subscripts);
  gather_subscripts(tree, &subscripts, span);
  copy->r->has_array = copy->r->has_array || subscripts.count < chain_count(instance);
  for (uint32_t i = 0; i < subscripts.count; i++)
    copy->r->has_array = copy->r->has_array || ast_kind(tree->ast, subscripts.data[i]) == AST_COLON;
  AstExpr made = flat_variable(tree, instance, subscripts.data, subscripts.count, span);
  vec_free(tree->heap, &subscripts);
  return made;
}

static AstExpr class_reference(Copy *copy, AstExpr e, AstPath path, Instance *type) {
  Tree *tree = copy->r->tree;
  Span span = ast_span(tree->ast, e);
  Name last = ast_part(tree->ast, path, path.count - 1)->name;
  instance_open(tree, type);
  if (ast_kid_count(tree->ast, e)) {
    tree_error(tree, span, copy->r->scope.instance, "`%s` is not an array, and has no subscripts",
               names_text(tree->names, last));
    copy->failed = true;
    return AST_NONE;
  }
  if (type->base == BASE_ENUMERATION && copy->consumed < path.count)
    return flat_literal(tree, define_class(tree, type->enumeration), last, span);
  if (type->base == BASE_BOOLEAN) return flat_name(tree, tree->bases[BASE_BOOLEAN]->name, NULL, 0, span);
  return flat_name(tree, define_class(tree, type->base == BASE_ENUMERATION ? type->enumeration : type), NULL, 0, span);
}

static AstExpr found_reference(Copy *copy, AstExpr e, AstPath path, Instance *found, const StepVec *steps) {
  Instance *local = local_around(copy, found);
  if (local) {
    copy->r->uses_locals = true;
    return field_reference(copy, e, local, local->name, found, steps);
  }
  return found->kind == INSTANCE_CLASS ? class_reference(copy, e, path, found)
                                       : component_reference(copy, e, found, steps);
}

/* ---- references into split arrays ---- */

/* Makes the expression for what a path leads to. */
typedef AstExpr (*MakeReference)(Copy *copy, AstExpr e, AstPath path, Instance *found, const StepVec *steps);

/* A reference through a split array, as an array of references to its elements; the subscripts that are known choose among them. */
typedef struct SplitReference {
  AstExpr e;
  AstPath path;
  Instance *first; /* of the path */
  PathStep step;   /* the array */
  MakeReference make;
} SplitReference;

static AstExpr follow_reference(Copy *copy, AstExpr e, AstPath path, Instance *first, MakeReference make);

/* Records whether the iterator that is a subscript of a split array belongs to an iteration or to an enclosing loop. */
static void note_iterator(Copy *copy, AstExpr at, Name name) {
  const Ast *ast = ast_of(copy);
  for (uint32_t i = 0; i < copy->loops.count; i++) {
    AstExpr loop = copy->loops.data[i];
    for (uint32_t k = 0; at < loop && at >= ast_first(ast, loop) && k < ast_label_count(ast, loop); k++)
      if (ast_label(ast, loop, k).name == name) vec_push(copy->r->tree->heap, &copy->split_loops, loop);
  }
  for (uint32_t k = 0; k < copy->r->iterators.count; k++)
    copy->r->meets_split = copy->r->meets_split || copy->r->iterators.data[k] == name;
}

/* Does a subscript contain an iterator that has no value yet? */
static bool has_iterator(Copy *copy, AstExpr e) {
  const Ast *ast = ast_of(copy);
  bool found = false;
  for (AstExpr i = ast_first(ast, e); i <= e; i++) {
    if (ast_kind(ast, i) != AST_REFERENCE) continue;
    Name name = ast_part(ast, ast_path(ast, i), 0)->name;
    if (!is_iterator(copy, i, name)) continue;
    note_iterator(copy, i, name);
    found = true;
  }
  return found;
}

/* The subscripts of dimension k of the array in the reference. false: they are not known now, so all are taken. A subscript
 * that is out of range is an error only if it is evaluated. */
static bool known_subscripts(Copy *copy, const SplitReference *split, uint32_t k, IndexVec *values, bool *is_single) {
  Tree *tree = copy->r->tree;
  const struct Dimension *dimension = &split->step.instance->dimensions.data[k];
  AstExpr e = k < split->step.count ? ast_kid(tree->ast, split->e, split->step.kid + k) : AST_NONE;
  bool is_all = e == AST_NONE || ast_kind(tree->ast, e) == AST_COLON;
  bool is_known = is_all;
  *is_single = false;
  if (!is_all && !has_iterator(copy, e)) {
    check_subscript(copy, e, dimension);
    is_known = try_subscript(tree, e, copy->r->scope, copy->r->values, copy->r->value_count, dimension->size, values,
                             is_single);
  }
  for (uint32_t i = 0; i < values->count; i++) is_known = is_known && values->data[i] - 1 < dimension->size;
  if (!is_known) values->count = 0, *is_single = false;
  for (uint32_t i = 1; (is_all || !is_known) && i <= dimension->size; i++) vec_push(tree->heap, values, i);
  return is_known;
}

/* {{..}, {..}} over dimension k and those after it. Depth is bounded by the number of dimensions. */
static AstExpr split_elements(Copy *copy, const SplitReference *split, const IndexVec *values, const bool *is_single,
                              uint32_t k, uint32_t place) {
  Tree *tree = copy->r->tree;
  Span span = split->path.span;
  if (k == split->step.instance->dimensions.count) {
    vec_push(tree->heap, &copy->places, place);
    AstExpr made = follow_reference(copy, split->e, split->path, split->first, split->make);
    copy->places.count--;
    return made;
  }
  uint32_t size = split->step.instance->dimensions.data[k].size;
  SubscriptVec kids = {0};
  for (uint32_t i = 0; i < values[k].count && !copy->failed; i++) {
    AstExpr made = split_elements(copy, split, values, is_single, k + 1, place * size + values[k].data[i] - 1);
    vec_push(tree->heap, &kids, made);
  }
  AstExpr made = AST_NONE;
  if (is_single[k] && kids.count) made = kids.data[0];
  else if (!copy->failed && kids.count)
    made = flat_node(tree, (AstNode){.kind = AST_ARRAY, .span = span}, kids.data, kids.count);
  else if (!copy->failed && size) { /* no elements: fill(r[1].v, 0) */
    AstExpr fill[2] = {split_elements(copy, split, values, is_single, k + 1, place * size)};
    fill[1] = flat_integer(tree, 0, span);
    if (!copy->failed) made = flat_call(tree, "fill", fill, 2, span);
  }
  vec_free(tree->heap, &kids);
  return made;
}

static AstExpr split_reference(Copy *copy, const SplitReference *split) {
  Tree *tree = copy->r->tree;
  Instance *array = split->step.instance;
  uint32_t count = array->dimensions.count;
  IndexVec *values = arena_array(&tree->arena, count, sizeof *values);
  bool *is_single = arena_array(&tree->arena, count, sizeof *is_single), is_known = true;
  SubscriptVec kids = {0};
  if (!instance_sizes(tree, array) || split->step.count > count) {
    if (split->step.count > count)
      tree_error(tree, split->path.span, copy->r->scope.instance,
                 "`%s` has %u dimension%s and is used with %u subscript%s", instance_text(tree, array), count,
                 plural(count), split->step.count, plural(split->step.count));
    return copy->failed = true, AST_NONE;
  }
  vec_push(tree->heap, &kids, AST_NONE);
  for (uint32_t k = 0; k < count; k++) {
    values[k] = (IndexVec){0};
    bool is_one_known = known_subscripts(copy, split, k, &values[k], &is_single[k]);
    is_known = is_known && is_one_known;
    AstExpr given =
        is_one_known ? AST_NONE : copy->map.data[ast_kid(tree->ast, split->e, split->step.kid + k) - copy->first];
    if (!is_single[k]) vec_push(tree->heap, &kids, given);
  }
  AstExpr made = copy->failed ? AST_NONE : split_elements(copy, split, values, is_single, 0, 0);
  if (!copy->failed && !is_known) {
    kids.data[0] = made;
    gather_subscripts(tree, &kids, split->path.span);
    made = flat_node(tree, (AstNode){.kind = AST_SUBSCRIPT, .span = split->path.span}, kids.data, kids.count);
  }
  copy->r->has_array = true;
  for (uint32_t k = 0; k < count; k++) vec_free(tree->heap, &values[k]);
  vec_free(tree->heap, &kids);
  return made;
}

static AstExpr follow_reference(Copy *copy, AstExpr e, AstPath path, Instance *first, MakeReference make) {
  StepVec steps = {0};
  Instance *found = follow(copy, path, first, &steps);
  AstExpr made = AST_NONE;
  if (found) made = make(copy, e, path, found, &steps);
  else if (copy->open) made = split_reference(copy, &(SplitReference){e, path, first, *copy->open, make});
  vec_free(copy->r->tree->heap, &steps);
  return made;
}

/* The meaning of the first name of a path; NULL if there is none. A variable of an enclosing class must be a constant. */
static Instance *find_first(Copy *copy, AstPath path) {
  Tree *tree = copy->r->tree;
  Name name = ast_part(tree->ast, path, 0)->name;
  Scope scope = copy->r->scope;
  uint32_t errors = tree->diags->errors;
  Instance *first = path.global ? root_find(tree, name) : scope_find(tree, scope, name);
  bool is_outside = first && first->kind == INSTANCE_COMPONENT && first->parent != scope.instance;
  if (is_outside && !(first->prefixes & PREFIX_CONSTANT)) {
    tree_refuse(tree, DIAG_NO_ACCESS, path.span, scope.instance,
                "`%s` belongs to a class around this one, and is not a constant", instance_text(tree, first));
    diag_note(tree->diags, tree->last, first->element->component->label.span, "it is declared here");
    first = NULL;
  }
  if (tree->diags->errors > errors) copy->failed = true;
  return first;
}

static AstExpr resolve_reference(Copy *copy, AstExpr e) {
  Tree *tree = copy->r->tree;
  AstPath path = ast_path(tree->ast, e);
  const AstPart *part = ast_part(tree->ast, path, 0);
  Name name = part->name;
  bool is_quoted = part->quoted;
  const struct IteratorValue *value = path.global ? NULL : unrolled(copy, name);
  if (!path.global && is_iterator(copy, e, name)) return local_reference(copy, e);
  if (value) return flat_integer(tree, value->value, path.span);
  Instance *first = find_first(copy, path);
  if (copy->failed) return AST_NONE;
  if (!first && !is_quoted && path.count == 1 && strcmp(names_text(tree->names, name), "time") == 0)
    return local_reference(copy, e);
  Name literal;
  Instance *type = !first && path.count == 1 ? scope_find_literal(tree, copy->r->scope, name, &literal) : NULL;
  if (type) return flat_literal(tree, define_class(tree, type->enumeration), literal, path.span);
  if (!first) return report_undeclared(copy, path, 0, NULL), AST_NONE;
  if (copy->r->function && first->kind == INSTANCE_COMPONENT && first->parent == copy->r->function) {
    copy->r->uses_locals = true;
    return local_reference(copy, e);
  }
  return follow_reference(copy, e, path, first, found_reference);
}

/* ---- calls ---- */

/* Adds inputs that the function's modification binds to elements of a component: the call gives their values. */
static void add_bound_inputs(Copy *copy, AstExpr e, Instance *function, SubscriptVec *kids, uint32_t *labels,
                             uint32_t *label_count) {
  Tree *tree = copy->r->tree;
  uint32_t positional = ast_kid_count(tree->ast, e) - ast_label_count(tree->ast, e), input = 0;
  VEC(AstLabel) names = {0};
  for (uint32_t i = 0; i < ast_label_count(tree->ast, e); i++) vec_push(tree->heap, &names, ast_label(tree->ast, e, i));
  uint32_t before = names.count;
  for (uint32_t i = 0; i < function->elements.count; i++) {
    Instance *kid = instance_component(tree, function, i);
    if (!kid || !(kid->prefixes & PREFIX_INPUT)) continue;
    bool is_given = input++ < positional;
    for (uint32_t k = 0; k < before; k++) is_given = is_given || names.data[k].name == kid->name;
    const Modifier *binding = instance_binding(kid);
    if (is_given || !binding || binding->scope.instance->kind != INSTANCE_COMPONENT) continue;
    Resolver inner = {.tree = tree, .scope = binding->scope};
    AstExpr value = resolve_expression(&inner, binding->value);
    if (value == AST_NONE) copy->failed = true;
    else vec_push(tree->heap, kids, value), vec_push(tree->heap, &names, (AstLabel){kid->name, ast_span(tree->ast, e)});
  }
  *labels = tree->ast->nodes.data[e].value.labels.first;
  *label_count = names.count;
  if (names.count > before) {
    *labels = tree->ast->labels.count;
    for (uint32_t i = 0; i < names.count; i++) vec_push(tree->heap, &tree->ast->labels, names.data[i]);
  }
  vec_free(tree->heap, &names);
}

/* For a function of a component, the component must be scalar, the names after it must be classes, and the last must not be an
 * operator (section 5.3.2). */
static bool check_function_path(Copy *copy, AstPath path, uint32_t step, const Instance *at, const Instance *next) {
  Tree *tree = copy->r->tree;
  const char *reason = NULL;
  if (at->kind == INSTANCE_COMPONENT && next->kind == INSTANCE_CLASS) {
    if (ast_part(tree->ast, path, step)->subscripts < at->dimensions.count) reason = "is an array";
    else if (next->restriction == CLASS_OPERATOR || next->prefixes & PREFIX_OPERATOR) reason = "has operators only";
  } else if (at->kind == INSTANCE_CLASS && next->kind == INSTANCE_COMPONENT) reason = "is a class";
  if (!reason) return true;
  tree_refuse(tree, DIAG_NO_ACCESS, path.span, copy->r->scope.instance,
              "function `%s` cannot be looked up here: `%s` %s", ast_path_text(tree->ast, path, &tree->arena),
              names_text(tree->names, at->name), reason);
  return false;
}

static Instance *called_class(Copy *copy, AstPath path) {
  Tree *tree = copy->r->tree;
  Instance *at = find_first(copy, path);
  if (at && at->kind == INSTANCE_COMPONENT) at = instance_inner(tree, at);
  if (at && !check_conditional(copy, path, at)) return NULL;
  for (uint32_t i = 1; i < path.count && at; i++) {
    Name name = ast_part(tree->ast, path, i)->name;
    Instance *next = instance_element(tree, at, name);
    if (next && !check_access(tree, copy->r->scope, at, name, path.span)) return NULL;
    if (next && !check_function_path(copy, path, i - 1, at, next)) return NULL;
    at = next;
    if (at && at->kind == INSTANCE_COMPONENT) at = instance_inner(tree, at);
  }
  return at;
}

/* loadResource("modelica://...") becomes the name of the file; AST_NONE if it is another call. */
static AstExpr resource_name(Copy *copy, AstExpr e, const Instance *called) {
  static const char *const loaders[] = {"Modelica.Utilities.Files.loadResource",
                                        "ModelicaServices.ExternalReferences.loadResource"};
  Tree *tree = copy->r->tree;
  const char *name = names_text(tree->names, called->flat_name), *reason = NULL;
  if (strcmp(name, loaders[0]) != 0 && strcmp(name, loaders[1]) != 0) return AST_NONE;
  if (ast_kid_count(tree->ast, e) != 1 || ast_kind(tree->ast, ast_kid(tree->ast, e, 0)) != AST_STRING) return AST_NONE;
  AstNode node = *ast_node(tree->ast, ast_kid(tree->ast, e, 0));
  const char *path = library_resource(tree->library, names_text(tree->names, node.value.text), &tree->arena, &reason);
  if (!path) {
    tree_error(tree, node.span, copy->r->scope.instance, "the file is not found: %s", reason);
    copy->failed = true;
    return AST_NONE;
  }
  node.value.text = names_add(tree->names, path, strlen(path));
  return flat_node(tree, node, NULL, 0);
}

/* The name of the instance that the text belongs to, including that of the model: Model.a.b. In a function or a constant of a
 * package, the name of the class. */
static AstExpr instance_name(Copy *copy, Span span) {
  Tree *tree = copy->r->tree;
  if (copy->r->scope.instance->kind == INSTANCE_CLASS)
    return flat_string(tree, copy->r->scope.instance->flat_name, span);
  const char *model = names_text(tree->names, tree->model->type->name);
  const char *name = names_text(tree->names, copy->r->scope.instance->flat_name);
  const char *text = *name ? arena_printf(&tree->arena, "%s.%s", model, name) : model;
  return flat_string(tree, names_add(tree->names, text, strlen(text)), span);
}

/* size(x, k) of an array in an array of components becomes a size of the whole array, whose dimensions follow those of the
 * arrays that contain it. So no value need be known. AST_NONE if it is something else. */
static AstExpr resolve_size(Copy *copy, AstExpr e) {
  Tree *tree = copy->r->tree;
  const Ast *ast = tree->ast;
  if (!ast_path_is(ast, ast_path(ast, e), "size") || ast_kid_count(ast, e) != 2) return AST_NONE;
  AstExpr array = ast_kid(ast, e, 0), dimension = ast_kid(ast, e, 1);
  if (ast_kind(ast, array) != AST_REFERENCE || ast_kid_count(ast, array)) return AST_NONE;
  if (ast_kind(ast, dimension) != AST_INTEGER) return AST_NONE;
  AstExpr whole = copy->map.data[array - copy->first];
  AstNode node = *ast_node(ast, e);
  uint32_t around = ast_kid_count(ast, whole);
  if (around == 0 || ast_path(ast, whole).count != 1) return AST_NONE;
  AstExpr kids[2];
  kids[0] = flat_name(tree, ast_part(ast, ast_path(ast, whole), 0)->name, NULL, 0, node.span);
  kids[1] = flat_integer(tree, ast_node(ast, dimension)->value.integer + around, node.span);
  return flat_call(tree, "size", kids, 2, node.span);
}

/* The array a in size(a, k), if its elements are components without a value, or differ in their structure: they can only be counted.
 * NULL: it is another array. */
static Instance *counted_components(const Copy *copy, AstExpr e) {
  Tree *tree = copy->r->tree;
  const Ast *ast = tree->ast;
  if (ast_kind(ast, e) != AST_CALL || !ast_path_is(ast, ast_path(ast, e), "size") || ast_kid_count(ast, e) != 2)
    return NULL;
  AstExpr array = ast_kid(ast, e, 0), dimension = ast_kid(ast, e, 1);
  if (ast_kind(ast, array) != AST_REFERENCE || ast_kid_count(ast, array) || ast_path(ast, array).count != 1 ||
      ast_kind(ast, dimension) != AST_INTEGER)
    return NULL;
  Instance *found = scope_find(tree, copy->r->scope, ast_part(ast, ast_path(ast, array), 0)->name);
  if (!found || found->kind != INSTANCE_COMPONENT || found->parent != copy->r->scope.instance) return NULL;
  bool is_dimension = (uint64_t)ast_node(ast, dimension)->value.integer - 1 < found->dimensions.count;
  bool is_counted = !has_value(found) || found->is_split;
  return is_dimension && is_counted && instance_is_present(tree, found) ? found : NULL;
}

static AstExpr component_count(Copy *copy, AstExpr e, Instance *components) {
  Tree *tree = copy->r->tree;
  uint32_t dimension = (uint32_t)ast_node(tree->ast, ast_kid(tree->ast, e, 1))->value.integer - 1;
  if (!instance_sizes(tree, components)) return copy->failed = true, AST_NONE;
  return flat_integer(tree, components->dimensions.data[dimension].size, ast_span(tree->ast, e));
}

static AstExpr resolve_call(Copy *copy, AstExpr e) {
  Tree *tree = copy->r->tree;
  AstNode node = *ast_node(tree->ast, e);
  AstPath path = ast_path(tree->ast, e);
  if (ast_path_is(tree->ast, path, "getInstanceName") && !node.kid_count) return instance_name(copy, node.span);
  AstExpr size = resolve_size(copy, e);
  if (size != AST_NONE) return size;
  uint32_t errors = tree->diags->errors;
  SubscriptVec kids = {0};
  for (uint32_t i = 0; i < node.kid_count; i++)
    vec_push(tree->heap, &kids, copy->map.data[ast_kid(tree->ast, e, i) - copy->first]);
  Instance *called = path.count ? called_class(copy, path) : NULL;
  if (tree->diags->errors > errors) copy->failed = true;
  AstExpr resource = called && called->kind == INSTANCE_CLASS ? resource_name(copy, e, called) : AST_NONE;
  if (resource != AST_NONE) return vec_free(tree->heap, &kids), resource;
  bool is_local = called && called->kind == INSTANCE_COMPONENT && called->parent == copy->r->function;
  if (called && called->kind == INSTANCE_COMPONENT && !is_local) called = NULL;
  if (called && called->base != BASE_NONE && !called->definition) called = NULL; /* Integer(e), String(x) */
  if (!called && path.count == 1 && node.kind == AST_CALL) node.global = 1; /* built-in functions are at the root */
  if (!called && path.count > 1 && !copy->failed) {
    tree_error(tree, path.span, copy->r->scope.instance, "function `%s` is not defined",
               ast_path_text(tree->ast, path, &tree->arena));
    copy->failed = true;
  }
  if (called && called->restriction == CLASS_FUNCTION && called->prefixes & PREFIX_PARTIAL && !is_local) {
    tree_error(tree, path.span, copy->r->scope.instance, "function `%s` is partial, and cannot be called",
               ast_path_text(tree->ast, path, &tree->arena));
    copy->failed = true;
  }
  if (called && called->parent && called->parent->base == BASE_EXTERNAL_OBJECT && path.count > 1) {
    tree_error(tree, path.span, copy->r->scope.instance, "only the object itself calls `%s` of an external object",
               names_text(tree->names, called->name));
    copy->failed = true;
  }
  if (called && !is_local && node.kind != AST_ITERATION) {
    Name name = define_class(tree, called);
    if (name == 0) copy->failed = true;
    uint32_t labels = node.value.labels.first, count = node.value.labels.count;
    if (called->restriction == CLASS_FUNCTION && instance_open(tree, called)) {
      add_bound_inputs(copy, e, called, &kids, &labels, &count);
      if (kids.count > node.kid_count) gather_subscripts(tree, &kids, node.span);
    }
    AstPath flat = flat_path(tree, name, path.span);
    node.extra = flat.first, node.extra_count = 1, node.global = 0;
    node.value.labels.first = labels, node.value.labels.count = count;
  }
  AstExpr made = flat_node(tree, node, kids.data, kids.count);
  vec_free(tree->heap, &kids);
  return made;
}

/* ---- operators on connections ---- */

static bool find_operator(const Tree *tree, AstExpr e, ConnectOperator *operation) {
  static const struct {
    const char *name;
    ConnectOperator operation;
  } list[] = {{"inStream", CONNECT_IN_STREAM},        {"actualStream", CONNECT_ACTUAL_STREAM},
              {"cardinality", CONNECT_CARDINALITY},   {"Connections.isRoot", CONNECT_IS_ROOT},
              {"Connections.rooted", CONNECT_ROOTED}, {"rooted", CONNECT_ROOTED}};
  const Ast *ast = tree->ast;
  if (ast_kind(ast, e) != AST_CALL || ast_kid_count(ast, e) != 1) return false;
  AstPath path = ast_path(ast, e);
  if (path.count > 2 || ast_kind(ast, ast_kid(ast, e, 0)) != AST_REFERENCE) return false;
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    const char *dot = strchr(list[i].name, '.');
    const char *first = names_text(tree->names, ast_part(ast, path, 0)->name);
    bool fits = path.count == 1 ? !dot && strcmp(first, list[i].name) == 0
                                : dot && strcmp(first, "Connections") == 0 &&
                                      strcmp(names_text(tree->names, ast_part(ast, path, 1)->name), dot + 1) == 0;
    if (fits) return *operation = list[i].operation, true;
  }
  return false;
}

/* The variable that stands for the operator with this argument; `found` is the instance that the argument names. */
static AstExpr operator_reference(Copy *copy, AstExpr argument, AstPath path, Instance *found, const StepVec *steps) {
  Tree *tree = copy->r->tree;
  Name name = connections_operator(tree, copy->operation, found, path.span);
  if (!name) return copy->failed = true, AST_NONE;
  SubscriptVec subscripts = {0};
  collect_subscripts(copy, argument, found, steps, &subscripts);
  gather_subscripts(tree, &subscripts, path.span);
  AstExpr made = flat_name(tree, name, subscripts.data, subscripts.count, path.span);
  vec_free(tree->heap, &subscripts);
  return made;
}

static AstExpr resolve_operator(Copy *copy, AstExpr e, ConnectOperator operation) {
  Tree *tree = copy->r->tree;
  AstExpr argument = ast_kid(tree->ast, e, 0), made = AST_NONE;
  AstPath path = ast_path(tree->ast, argument);
  Instance *first = find_first(copy, path);
  if (!first && !copy->failed) report_undeclared(copy, path, 0, NULL);
  copy->operation = operation;
  if (first) made = follow_reference(copy, argument, path, first, operator_reference);
  copy->failed = copy->failed || made == AST_NONE;
  return made;
}

static bool is_listed(const IndexVec *list, AstExpr e) {
  for (uint32_t i = 0; i < list->count; i++)
    if (list->data[i] == e) return true;
  return false;
}

/* ---- operators on states ---- */

/* The states that a call names: transition(from, to, ...), initialState(state), activeState(state). */
static void list_states(Copy *copy, AstExpr e) {
  const Ast *ast = ast_of(copy);
  static const char *const names[] = {"initialState", "activeState", "transition"};
  if (ast_kind(ast, e) != AST_CALL) return;
  AstPath path = ast_path(ast, e);
  for (uint32_t k = 0; k < sizeof names / sizeof *names; k++) {
    if (!ast_path_is(ast, path, names[k])) continue;
    if (scope_find(copy->r->tree, copy->r->scope, ast_part(ast, path, 0)->name)) continue; /* a user's function */
    for (uint32_t i = 0; i < ast_kid_count(ast, e) && i < 1 + (k == 2); i++)
      if (ast_kind(ast, ast_kid(ast, e, i)) == AST_REFERENCE)
        vec_push(copy->r->tree->heap, &copy->states, ast_kid(ast, e, i));
  }
}

/* A state by its full name. */
static AstExpr state_reference(Copy *copy, AstExpr e) {
  Tree *tree = copy->r->tree;
  AstPath path = ast_path(tree->ast, e);
  Instance *first = scope_find(tree, copy->r->scope, ast_part(tree->ast, path, 0)->name);
  if (!first) return report_undeclared(copy, path, 0, NULL), AST_NONE;
  StepVec steps = {0};
  Instance *found = follow(copy, path, first, &steps);
  vec_free(tree->heap, &steps);
  if (!found) return AST_NONE;
  if (found->kind != INSTANCE_COMPONENT || found->base != BASE_NONE || found->dimensions.count) {
    tree_error(tree, path.span, copy->r->scope.instance,
               "`%s` cannot be a state: a state is a component whose class is a block",
               ast_path_text(tree->ast, path, &tree->arena));
    return copy->failed = true, AST_NONE;
  }
  if (found->parent == copy->r->scope.instance) found->is_state = true;
  return flat_name(tree, found->flat_name, NULL, 0, path.span);
}

static bool is_active_state(const Copy *copy, AstExpr e) {
  const Ast *ast = ast_of(copy);
  return ast_path_is(ast, ast_path(ast, e), "activeState") && ast_kid_count(ast, e) == 1 &&
         is_listed(&copy->states, ast_kid(ast, e, 0));
}

/* activeState(s) is a variable of this name, which the state machine determines. */
static AstExpr active_state(Copy *copy, AstExpr e) {
  Tree *tree = copy->r->tree;
  AstExpr state = copy->map.data[ast_kid(tree->ast, e, 0) - copy->first];
  const char *name = names_text(tree->names, ast_part(tree->ast, ast_path(tree->ast, state), 0)->name);
  const char *text = arena_printf(&tree->arena, "activeState(%s)", name);
  return flat_name(tree, names_add(tree->names, text, strlen(text)), NULL, 0, ast_span(tree->ast, e));
}

/* ---- whole expressions ---- */

static bool makes_array(const Ast *ast, AstExpr e) {
  static const char *const functions[] = {"fill", "zeros", "ones", "linspace", "cat", "identity", "diagonal"};
  AstKind kind = ast_kind(ast, e);
  bool is_array = kind == AST_ARRAY || kind == AST_MATRIX || kind == AST_ITERATION || kind == AST_RANGE;
  for (size_t i = 0; kind == AST_CALL && i < sizeof functions / sizeof *functions; i++)
    is_array = is_array || ast_path_is(ast, ast_path(ast, e), functions[i]);
  return is_array;
}

/* {e for i in r, j in s} as an array of the values of e, for iterator `label` and those before it, which are inside. AST_NONE if the
 * values of the iterators are not known. Depth is bounded by the number of iterators. */
static AstExpr unroll(Copy *copy, AstExpr e, uint32_t label) {
  Resolver *r = copy->r;
  Tree *tree = r->tree;
  if (label == 0) return resolve_expression(r, ast_kid(tree->ast, e, 0));
  const struct IteratorValue *outer = r->values;
  uint32_t count = r->value_count;
  struct IteratorValue *values = heap_array(tree->heap, count + 1, sizeof *values);
  NumberVec numbers = {0};
  SubscriptVec kids = {0};
  bool fits = evaluate_range(tree, ast_kid(tree->ast, e, label), r->scope, outer, count, &numbers) && numbers.count;
  if (count) memcpy(values, outer, count * sizeof *values);
  r->values = values;
  r->value_count = count + 1;
  for (uint32_t i = 0; i < numbers.count && fits; i++) {
    values[count] = (struct IteratorValue){ast_label(tree->ast, e, label - 1).name, (int64_t)numbers.data[i]};
    AstExpr made = unroll(copy, e, label - 1);
    fits = made != AST_NONE;
    vec_push(tree->heap, &kids, made);
  }
  r->values = outer;
  r->value_count = count;
  AstNode node = {.kind = AST_ARRAY, .span = ast_span(tree->ast, e)};
  AstExpr made = fits ? flat_node(tree, node, kids.data, kids.count) : AST_NONE;
  heap_free(tree->heap, values);
  vec_free(tree->heap, &numbers);
  vec_free(tree->heap, &kids);
  return made;
}

/* An iteration over elements that differ in their structure is written out: {..}, or sum({..}). */
static AstExpr resolve_iteration(Copy *copy, AstExpr e) {
  Tree *tree = copy->r->tree;
  AstPath path = ast_path(tree->ast, e);
  AstExpr made = is_listed(&copy->split_loops, e) ? unroll(copy, e, ast_label_count(tree->ast, e)) : AST_NONE;
  if (made == AST_NONE) return resolve_call(copy, e);
  if (ast_path_is(tree->ast, path, "array")) return made;
  return flat_call(tree, names_text(tree->names, ast_part(tree->ast, path, 0)->name), &made, 1, path.span);
}

static AstExpr copy_node(Copy *copy, AstExpr e) {
  Tree *tree = copy->r->tree;
  ConnectOperator operation;
  Instance *counted;
  copy->r->has_array = copy->r->has_array || makes_array(tree->ast, e);
  switch (ast_kind(tree->ast, e)) {
  case AST_REFERENCE:
    if (is_listed(&copy->states, e)) return state_reference(copy, e);
    return is_listed(&copy->arguments, e) ? AST_NONE : resolve_reference(copy, e);
  case AST_CALL:
    if (find_operator(tree, e, &operation)) return resolve_operator(copy, e, operation);
    if (is_active_state(copy, e)) return active_state(copy, e);
    if ((counted = counted_components(copy, e))) return component_count(copy, e, counted);
    return resolve_call(copy, e);
  case AST_ITERATION: return resolve_iteration(copy, e);
  case AST_PARTIAL: return resolve_call(copy, e);
  default: return local_reference(copy, e);
  }
}

AstExpr resolve_expression(Resolver *resolver, AstExpr e) {
  Tree *tree = resolver->tree;
  Copy copy = {.r = resolver, .first = ast_first(tree->ast, e), .last = e};
  AstExpr made = AST_NONE;
  for (AstExpr i = copy.first; i <= e; i++) {
    ConnectOperator operation;
    if (ast_kind(tree->ast, i) == AST_ITERATION) vec_push(tree->heap, &copy.loops, i);
    if (find_operator(tree, i, &operation) || counted_components(&copy, i))
      vec_push(tree->heap, &copy.arguments, ast_kid(tree->ast, i, 0));
    list_states(&copy, i);
  }
  for (AstExpr i = copy.first; i <= e && !copy.failed; i++) {
    made = copy_node(&copy, i);
    vec_push(tree->heap, &copy.map, made);
  }
  vec_free(tree->heap, &copy.map, &copy.loops, &copy.arguments, &copy.states);
  vec_free(tree->heap, &copy.places, &copy.split_loops);
  return copy.failed ? AST_NONE : made;
}
