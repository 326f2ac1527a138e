/* connect_reference: an argument of a connect clause. It has the connector that the argument names, whether that is an inside or an
 * outside connector, and the elements of the arrays in its name. */
#include "instance/connect.h"

#include "instance/lookup.h"

#include <math.h>

/* ---- names ---- */

Instance *connect_follow(Connections *connections, ConnectPath *path) {
  Tree *tree = connections->tree;
  AstPath names = ast_path(tree->ast, path->e);
  Instance *at = NULL;
  uint32_t kid = 0;
  for (uint32_t i = 0; i < names.count; i++) {
    AstPart part = *ast_part(tree->ast, names, i);
    Instance *next =
        at ? instance_element(tree, at, part.name) : scope_find(tree, path->source->clause->scope, part.name);
    if (!next || !instance_is_component(next)) return NULL;
    path->is_absent = !instance_is_present(tree, next);
    at = path->is_absent ? NULL : instance_inner(tree, next);
    if (!at) return NULL;
    vec_push(tree->heap, &path->steps, (ConnectStep){at, kid, part.subscripts});
    kid += part.subscripts;
  }
  return at;
}

static void report_missing(Connections *connections, const ConnectPath *path) {
  Tree *tree = connections->tree;
  uint32_t found = path->steps.count;
  Span span = ast_span(tree->ast, path->e);
  const char *text = names_text(tree->names, ast_part(tree->ast, ast_path(tree->ast, path->e), found)->name);
  if (found == 0) tree_error(tree, span, path->source->instance, "`%s` is not declared", text);
  else
    tree_error(tree, span, path->source->instance, "there is no `%s` in `%s`", text,
               instance_text(tree, vec_last(&path->steps).instance));
}

/* ---- subscripts ---- */

/* The values of an expression's nodes, if it consists of sums and products of numbers, iterators and `end`; other expressions are
 * evaluated as a whole. */
typedef struct Subscripts {
  Tree *tree;
  const ConnectClause *clause;
  uint32_t size; /* the value of `end` */
  AstExpr first;
  VEC(double) values;
} Subscripts;

static double node_value(const Subscripts *s, AstExpr e) { return s->values.data[e - s->first]; }

static bool evaluate_whole(const Subscripts *s, AstExpr e, double *value) {
  const ConnectClause *clause = s->clause;
  NumberVec numbers = {0};
  bool fits = evaluate_numbers(s->tree, e, clause->scope, clause->iterators.data, clause->iterators.count,
                               "a subscript", &numbers) &&
              numbers.count == 1;
  if (fits) *value = numbers.data[0];
  vec_free(s->tree->heap, &numbers);
  return fits;
}

static bool find_iterator(const Subscripts *s, AstExpr e, double *value) {
  const Ast *ast = s->tree->ast;
  const ConnectClause *clause = s->clause;
  AstPath path = ast_path(ast, e);
  for (uint32_t i = clause->iterators.count; path.count == 1 && i-- > 0;)
    if (clause->iterators.data[i].name == ast_part(ast, path, 0)->name) {
      *value = (double)clause->iterators.data[i].value;
      return true;
    }
  return false;
}

static bool evaluate_node(const Subscripts *s, AstExpr e, double *value) {
  const Ast *ast = s->tree->ast;
  uint32_t count = ast_kid_count(ast, e);
  switch (ast_kind(ast, e)) {
  case AST_INTEGER:
  case AST_BOOLEAN: *value = (double)ast_node(ast, e)->value.integer; return true;
  case AST_END: *value = s->size; return true;
  case AST_SUM:
    for (uint32_t i = 0; i < count; i++)
      *value += ast_operator(ast, e, i) == AST_SUBTRACT ? -node_value(s, ast_kid(ast, e, i))
                                                        : node_value(s, ast_kid(ast, e, i));
    return true;
  case AST_RANGE:
  case AST_ARRAY: return true;
  case AST_REFERENCE: return find_iterator(s, e, value) || evaluate_whole(s, e, value);
  default: return evaluate_whole(s, e, value);
  }
}

/* Converts a number to a subscript. A number that is too large for any array is clamped, and is still out of range. */
static uint32_t subscript_of(double value) { return (uint32_t)(int32_t)fmin(fmax(value, INT32_MIN), INT32_MAX); }

static void list_range(Heap *heap, double first, double step, double last, IndexVec *values) {
  for (double at = first; step > 0 ? at <= last : at >= last && step < 0; at += step) {
    vec_push(heap, values, subscript_of(at));
    if (fabs(at) > INT32_MAX) return;
  }
}

/* The numbers that a subscript gives: one number, or the elements of a range or an array. */
static bool evaluate_subscript(Tree *tree, const ConnectClause *clause, AstExpr e, uint32_t size, IndexVec *values,
                               bool *is_single) {
  Subscripts s = {.tree = tree, .clause = clause, .size = size, .first = ast_first(tree->ast, e)};
  bool fits = true;
  for (AstExpr i = s.first; i <= e && fits; i++) {
    double value = 0;
    fits = evaluate_node(&s, i, &value);
    vec_push(tree->heap, &s.values, value);
  }
  AstKind kind = ast_kind(tree->ast, e);
  uint32_t kids = ast_kid_count(tree->ast, e);
  *is_single = kind != AST_RANGE && kind != AST_ARRAY;
  if (fits && kind == AST_RANGE)
    list_range(tree->heap, node_value(&s, ast_kid(tree->ast, e, 0)),
               kids == 3 ? node_value(&s, ast_kid(tree->ast, e, 1)) : 1,
               node_value(&s, ast_kid(tree->ast, e, kids - 1)), values);
  else if (fits && kind == AST_ARRAY)
    for (uint32_t i = 0; i < kids; i++)
      vec_push(tree->heap, values, subscript_of(node_value(&s, ast_kid(tree->ast, e, i))));
  else if (fits) vec_push(tree->heap, values, subscript_of(node_value(&s, e)));
  vec_free(tree->heap, &s.values);
  return fits;
}

uint32_t connect_largest_subscript(Connections *connections, const ConnectSource *source, AstExpr e) {
  IndexVec values = {0};
  bool is_single;
  uint32_t largest = 0;
  evaluate_subscript(connections->tree, source->clause, e, 0, &values, &is_single);
  for (uint32_t i = 0; i < values.count; i++) largest = values.data[i] > largest ? values.data[i] : largest;
  vec_free(connections->heap, &values);
  return largest;
}

/* ---- elements ---- */

/* The nearest instance that contains both. */
static const Instance *common_ancestor(const Instance *a, const Instance *b) {
  for (; a; a = a->parent)
    for (const Instance *other = b; other; other = other->parent)
      if (other == a) return a;
  return NULL;
}

/* The number of elements of the instance within one element of `above`: the product of the sizes of all dimensions in
 * between. */
static uint32_t count_below(Tree *tree, const Instance *instance, const Instance *above) {
  uint32_t count = 1;
  for (; instance && instance != above; instance = instance->parent)
    count *= instance_sizes(tree, (Instance *)instance) ? instance_count(instance) : 0;
  return count;
}

/* Extends the elements by a dimension of that size, with the subscripts in `values` (1-based). */
static void take_values(Connections *connections, ConnectReference *reference, uint32_t size, const IndexVec *values) {
  IndexVec taken = {0};
  for (uint32_t i = 0; i < reference->elements.count; i++)
    for (uint32_t k = 0; k < values->count; k++)
      vec_push(connections->heap, &taken, reference->elements.data[i] * size + values->data[k] - 1);
  vec_free(connections->heap, &reference->elements);
  reference->elements = taken;
}

static bool check_range(Tree *tree, const ConnectPath *path, const IndexVec *values, uint32_t size, AstExpr e) {
  for (uint32_t i = 0; i < values->count; i++)
    if (values->data[i] - 1 >= size) {
      tree_error(tree, ast_span(tree->ast, e), path->source->instance, "subscript %d is not in 1 .. %u",
                 (int)values->data[i], size);
      return false;
    }
  return true;
}

/* One dimension of one step: the given subscript, or all elements. */
static bool take_dimension(Connections *connections, const ConnectPath *path, ConnectReference *reference,
                           const ConnectStep *step, uint32_t dimension) {
  Tree *tree = connections->tree;
  uint32_t size = step->instance->dimensions.data[dimension].size;
  AstExpr e = dimension < step->count ? ast_kid(tree->ast, path->e, step->kid + dimension) : AST_NONE;
  IndexVec values = {0};
  bool is_single = false, fits = true;
  if (e == AST_NONE || ast_kind(tree->ast, e) == AST_COLON)
    for (uint32_t k = 1; k <= size; k++) vec_push(connections->heap, &values, k);
  else
    fits = evaluate_subscript(tree, path->source->clause, e, size, &values, &is_single) &&
           check_range(tree, path, &values, size, e);
  if (fits) take_values(connections, reference, size, &values);
  if (!is_single) vec_push(connections->heap, &reference->shape, values.count);
  vec_free(connections->heap, &values);
  return fits;
}

static bool take_elements(Connections *connections, const ConnectPath *path, ConnectReference *reference) {
  Tree *tree = connections->tree;
  vec_push(tree->heap, &reference->elements, 0);
  for (uint32_t i = 0; i < path->steps.count; i++) {
    const ConnectStep *step = &path->steps.data[i];
    if (!instance_sizes(tree, step->instance)) return false;
    if (step->count > step->instance->dimensions.count) {
      tree_error(tree, ast_span(tree->ast, path->e), path->source->instance,
                 "`%s` has %u dimensions, %u subscripts are given", instance_text(tree, step->instance),
                 step->instance->dimensions.count, step->count);
      return false;
    }
    for (uint32_t k = 0; k < step->instance->dimensions.count; k++)
      if (!take_dimension(connections, path, reference, step, k)) return false;
  }
  return true;
}

/* ---- the whole reference ---- */

/* A connector of the class itself, or one inside it, is seen from outside. */
static ConnectSide side_of(const ConnectPath *path) {
  return instance_is_connector(path->steps.data[0].instance) ? SIDE_OUTSIDE : SIDE_INSIDE;
}

/* c.c...c or m.c...c: a connector of the class itself, or of one of its components. */
static bool has_form(Connections *connections, const ConnectPath *path) {
  Tree *tree = connections->tree;
  for (uint32_t i = 1; i + 1 < path->steps.count; i++) {
    const Instance *instance = path->steps.data[i].instance;
    if (instance_is_connector(instance) || instance_is_record(instance)) continue;
    tree_error(tree, ast_span(tree->ast, path->e), path->source->instance,
               "connectors of `%s` cannot be connected here: it is inside another component",
               instance_text(tree, instance));
    return false;
  }
  return true;
}

ConnectReference connect_reference(Connections *connections, const ConnectSource *source, AstExpr e) {
  ConnectPath path = {.source = source, .e = e};
  Tree *tree = connections->tree;
  ConnectReference reference = {0};
  if (ast_kind(tree->ast, e) != AST_REFERENCE) {
    tree_error(tree, ast_span(tree->ast, e), source->instance, "only connectors can be connected");
    return reference;
  }
  Instance *found = connect_follow(connections, &path);
  if (!found && !path.is_absent) report_missing(connections, &path);
  if (found && has_form(connections, &path)) {
    const Instance *above = common_ancestor(found, source->instance);
    reference.side = side_of(&path);
    reference.own = count_below(tree, found, above);
    reference.shared = count_below(tree, source->instance, above);
    if (take_elements(connections, &path, &reference)) reference.instance = found;
  }
  vec_free(connections->heap, &path.steps);
  return reference;
}

void connect_reference_free(Connections *connections, ConnectReference *reference) {
  vec_free(connections->heap, &reference->elements, &reference->shape);
}
