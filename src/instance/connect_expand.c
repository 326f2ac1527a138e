/* connect_expand: expandable connectors (MLS 3.6, section 9.1.3). If a connect clause names an element that an expandable connector
 * lacks, the element is added, with the class of the connector at the other end. Connected expandable connectors share all
 * elements.
 *
 * Elements spread from connector to connector, clause by clause, until no connector gets a new one. */
#include "instance/connect.h"

#include "instance/lookup.h"

/* ---- elements that a clause names ---- */

/* The largest value of subscript i after the last name. */
static uint32_t largest_subscript(Connections *connections, const ConnectPath *path, uint32_t i) {
  const Ast *ast = connections->tree->ast;
  AstPath names = ast_path(ast, path->e);
  uint32_t kid = i;
  for (uint32_t k = 0; k + 1 < names.count; k++) kid += ast_part(ast, names, k)->subscripts;
  return connect_largest_subscript(connections, path->source, ast_kid(ast, path->e, kid));
}

/* The sizes of an added element are the largest subscripts that name it. */
static bool grow_named(Connections *connections, const ConnectPath *path, Instance *element) {
  const Ast *ast = connections->tree->ast;
  AstPath names = ast_path(ast, path->e);
  bool is_changed = false;
  if (!element->is_added) return false;
  for (uint32_t i = 0; i < ast_part(ast, names, names.count - 1)->subscripts && i < element->dimensions.count; i++) {
    uint32_t largest = largest_subscript(connections, path, i);
    if (element->dimensions.data[i].size >= largest) continue;
    element->dimensions.data[i].size = largest;
    is_changed = true;
  }
  return is_changed;
}

/* Adds the last name of the path, with the dimensions that its subscripts need and those of the other end. */
static void add_named(Connections *connections, const ConnectPath *path, const ConnectReference *like) {
  Tree *tree = connections->tree;
  AstPath names = ast_path(tree->ast, path->e);
  AstPart part = *ast_part(tree->ast, names, names.count - 1);
  IndexVec sizes = {0};
  for (uint32_t i = 0; i < part.subscripts; i++) {
    uint32_t largest = largest_subscript(connections, path, i);
    vec_push(tree->heap, &sizes, largest);
  }
  for (uint32_t i = 0; i < like->shape.count; i++) vec_push(tree->heap, &sizes, like->shape.data[i]);
  instance_add(tree, vec_last(&path->steps).instance, part.name, like->instance, sizes.data, sizes.count);
  vec_free(tree->heap, &sizes);
}

static bool has_open_size(const Connections *connections, const Instance *element) {
  bool is_open = false;
  for (uint32_t i = 0; i < element->dimensions.count; i++)
    is_open |= element->dimensions.data[i].e != AST_NONE &&
               ast_kind(connections->tree->ast, element->dimensions.data[i].e) == AST_COLON;
  return is_open && !element->has_sizes;
}

/* Real x[:] in an expandable connector gets the sizes of the other end. */
static bool take_sizes(Connections *connections, const ConnectSource *source, Instance *element, AstExpr other) {
  if (!element->parent || !is_expandable(element->parent) || !has_open_size(connections, element)) return false;
  ConnectReference like = connect_reference(connections, source, other);
  bool fits = like.instance && like.shape.count == element->dimensions.count;
  for (uint32_t i = 0; fits && i < like.shape.count; i++) element->dimensions.data[i].size = like.shape.data[i];
  element->has_sizes = fits;
  connect_reference_free(connections, &like);
  return fits;
}

/* Does the path name an element that its expandable connector lacks? */
static bool lacks_element(const Connections *connections, const ConnectPath *path) {
  uint32_t parts = ast_path(connections->tree->ast, path->e).count;
  return !path->is_absent && !path->is_open && path->steps.count + 1 == parts && path->steps.count &&
         is_expandable(vec_last(&path->steps).instance);
}

static bool expand_named(Connections *connections, const ConnectPath *path, AstExpr other) {
  ConnectReference like = connect_reference(connections, path->source, other);
  bool is_added = like.instance && instance_is_connector(like.instance);
  if (is_added) add_named(connections, path, &like);
  connect_reference_free(connections, &like);
  return is_added;
}

/* ---- elements of connected connectors ---- */

static bool add_missing(Connections *connections, Instance *to, Instance *from) {
  Tree *tree = connections->tree;
  bool is_changed = false;
  for (uint32_t i = 0; is_expandable(to) && i < from->elements.count; i++) {
    Instance *element = instance_component(tree, from, i);
    if (!element || instance_element(tree, to, element->name) || !instance_sizes(tree, element)) continue;
    IndexVec sizes = {0};
    for (uint32_t k = 0; k < element->dimensions.count; k++)
      vec_push(tree->heap, &sizes, element->dimensions.data[k].size);
    instance_add(tree, to, element->name, element, sizes.data, sizes.count);
    vec_free(tree->heap, &sizes);
    is_changed = true;
  }
  return is_changed;
}

/* Added elements of the same name get the larger sizes of both. */
static bool grow_both(Connections *connections, Instance *left, Instance *right) {
  bool is_changed = false;
  for (uint32_t i = 0; i < left->elements.count; i++) {
    Instance *element = instance_component(connections->tree, left, i);
    Instance *other = element && element->is_added ? instance_element(connections->tree, right, element->name) : NULL;
    for (uint32_t k = 0; other && k < element->dimensions.count && k < other->dimensions.count; k++) {
      uint32_t *size = &element->dimensions.data[k].size, *same = &other->dimensions.data[k].size;
      if (*size == *same || !other->is_added) continue;
      *size = *same = *size > *same ? *size : *same;
      is_changed = true;
    }
  }
  return is_changed;
}

typedef VEC(Instance *) InstanceVec;

/* Expands two connectors, and the expandable connectors of equal names inside them. */
static bool expand_both(Connections *connections, Instance *left, Instance *right) {
  InstanceVec pairs = {0};
  bool is_changed = false;
  vec_push(connections->heap, &pairs, left);
  vec_push(connections->heap, &pairs, right);
  while (pairs.count) {
    right = vec_pop(&pairs), left = vec_pop(&pairs);
    if (!is_expandable(left) && !is_expandable(right)) continue;
    is_changed |= add_missing(connections, left, right);
    is_changed |= add_missing(connections, right, left);
    is_changed |= grow_both(connections, left, right);
    for (uint32_t i = 0; i < left->elements.count; i++) {
      Instance *kid = instance_component(connections->tree, left, i);
      Instance *other = kid && is_expandable(kid) ? instance_element(connections->tree, right, kid->name) : NULL;
      if (!other || !is_expandable(other)) continue;
      vec_push(connections->heap, &pairs, kid);
      vec_push(connections->heap, &pairs, other);
    }
  }
  vec_free(connections->heap, &pairs);
  return is_changed;
}

/* ---- clauses ---- */

static bool expand_clause(Connections *connections, const ConnectSource *source) {
  const AstStatement *statement = source->clause->statement;
  const Ast *ast = connections->tree->ast;
  if (statement->kind != AST_CONNECT) return false;
  if (ast_kind(ast, statement->left) != AST_REFERENCE || ast_kind(ast, statement->right) != AST_REFERENCE) return false;
  ConnectPath left = {.source = source, .e = statement->left}, right = {.source = source, .e = statement->right};
  Instance *first = connect_follow(connections, &left), *second = connect_follow(connections, &right);
  bool is_changed = false;
  if (first) is_changed |= grow_named(connections, &left, first);
  if (second) is_changed |= grow_named(connections, &right, second);
  if (first && second) is_changed |= take_sizes(connections, source, first, right.e);
  if (first && second) is_changed |= take_sizes(connections, source, second, left.e);
  if (first && second) is_changed |= expand_both(connections, first, second);
  else if (second && lacks_element(connections, &left)) is_changed = expand_named(connections, &left, right.e);
  else if (first && lacks_element(connections, &right)) is_changed = expand_named(connections, &right, left.e);
  vec_free(connections->heap, &left.steps);
  vec_free(connections->heap, &right.steps);
  return is_changed;
}

static bool has_expandable(Connections *connections) {
  InstanceVec stack = {0};
  bool is_found = false;
  vec_push(connections->heap, &stack, connections->tree->model);
  while (stack.count && !is_found) {
    Instance *at = vec_pop(&stack);
    is_found = is_expandable(at);
    for (uint32_t i = 0; i < at->elements.count; i++) {
      Instance *kid = instance_component(connections->tree, at, i);
      if (kid && !instance_is_leaf(kid)) vec_push(connections->heap, &stack, kid);
    }
  }
  vec_free(connections->heap, &stack);
  return is_found;
}

void connect_expand(Connections *connections) {
  bool is_changed = has_expandable(connections);
  while (is_changed) {
    is_changed = false;
    for (uint32_t i = 0; i < connections->sources.count; i++)
      is_changed |= expand_clause(connections, &connections->sources.data[i]);
  }
}
