/* connect_reference: an argument of a connect clause. It has the connectors that the argument names, whether these are inside or
 * outside connectors, and the elements of the arrays in its name. A path through split arrays is followed once for each of their
 * elements. */
#include "instance/connect.h"

#include "base/number.h"
#include "instance/lookup.h"

/* ---- names ---- */

Instance *connect_follow(Connections *connections, ConnectPath *path) {
  Tree *tree = connections->tree;
  AstPath names = ast_path(tree->ast, path->e);
  Instance *at = NULL;
  uint32_t kid = 0, choice = 0;
  path->steps.count = 0;
  path->is_open = false;
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
    if (!at->is_split) continue;
    path->is_open = choice == path->choices.count;
    at = path->is_open ? NULL : instance_split_element(tree, at, path->choices.data[choice++].place);
    if (!at) return NULL;
    vec_last(&path->steps) = (ConnectStep){at, 0, 0};
  }
  return at;
}

static void report_missing(Connections *connections, const ConnectPath *path) {
  Tree *tree = connections->tree;
  uint32_t found = path->steps.count;
  Span span = ast_span(tree->ast, path->e);
  const char *text = names_text(tree->names, ast_part(tree->ast, ast_path(tree->ast, path->e), found)->name);
  const Instance *inside = found ? vec_last(&path->steps).instance : path->source->instance;
  if (found == 0) tree_error(tree, span, path->source->instance, "`%s` is not declared", text);
  else tree_error(tree, span, path->source->instance, "there is no `%s` in `%s`", text, instance_text(tree, inside));
  tree_suggest_element(tree, inside, text);
}

/* ---- subscripts ---- */

uint32_t connect_largest_subscript(Connections *connections, const ConnectSource *source, AstExpr e) {
  IndexVec values = {0};
  bool is_single;
  uint32_t largest = 0;
  evaluate_subscript(connections->tree, e, source->clause->scope, source->clause->iterators.data,
                     source->clause->iterators.count, 0, &values, &is_single);
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

/* The elements of a plain path. `rank`: their places among all that the reference names. */
typedef struct Elements {
  IndexVec numbers, ranks;
  IndexVec shape;
} Elements;

/* Extends the elements by a dimension of that size, with the subscripts in `values` (1-based). */
static void take_values(Heap *heap, Elements *elements, uint32_t size, const IndexVec *values) {
  Elements taken = {.shape = elements->shape};
  for (uint32_t i = 0; i < elements->numbers.count; i++)
    for (uint32_t k = 0; k < values->count; k++) {
      vec_push(heap, &taken.numbers, elements->numbers.data[i] * size + values->data[k] - 1);
      vec_push(heap, &taken.ranks, elements->ranks.data[i] * values->count + k);
    }
  vec_free(heap, &elements->numbers, &elements->ranks);
  *elements = taken;
}

/* The element of a split array has no number of its own, only its rank. */
static void take_choice(Heap *heap, Elements *elements, const ConnectChoice *choice) {
  for (uint32_t i = 0; i < elements->ranks.count; i++)
    elements->ranks.data[i] = elements->ranks.data[i] * choice->count + choice->number;
  for (uint32_t i = 0; i < choice->shape->count; i++) vec_push(heap, &elements->shape, choice->shape->data[i]);
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

/* The subscripts of one dimension of one step: the given ones, or all. */
static bool list_subscripts(Tree *tree, const ConnectPath *path, const ConnectStep *step, uint32_t dimension,
                            IndexVec *values, bool *is_single) {
  const ConnectClause *clause = path->source->clause;
  uint32_t size = step->instance->dimensions.data[dimension].size;
  AstExpr e = dimension < step->count ? ast_kid(tree->ast, path->e, step->kid + dimension) : AST_NONE;
  *is_single = false;
  if (e != AST_NONE && ast_kind(tree->ast, e) != AST_COLON)
    return evaluate_subscript(tree, e, clause->scope, clause->iterators.data, clause->iterators.count, size, values,
                              is_single) &&
           check_range(tree, path, values, size, e);
  for (uint32_t k = 1; k <= size; k++) vec_push(tree->heap, values, k);
  return true;
}

static bool check_count(Tree *tree, const ConnectPath *path, const ConnectStep *step) {
  if (!instance_sizes(tree, step->instance)) return false;
  if (step->count <= step->instance->dimensions.count) return true;
  tree_error(tree, ast_span(tree->ast, path->e), path->source->instance,
             "`%s` has %u dimension%s and is used with %u subscript%s", instance_text(tree, step->instance),
             step->instance->dimensions.count, plural(step->instance->dimensions.count), step->count,
             plural(step->count));
  return false;
}

static bool take_elements(Tree *tree, const ConnectPath *path, Elements *elements) {
  uint32_t choice = 0;
  vec_push(tree->heap, &elements->numbers, 0);
  vec_push(tree->heap, &elements->ranks, 0);
  for (uint32_t i = 0; i < path->steps.count; i++) {
    const ConnectStep *step = &path->steps.data[i];
    if (step->instance->array) take_choice(tree->heap, elements, &path->choices.data[choice++]);
    if (!check_count(tree, path, step)) return false;
    for (uint32_t k = 0; k < step->instance->dimensions.count; k++) {
      IndexVec values = {0};
      bool is_single, fits = list_subscripts(tree, path, step, k, &values, &is_single);
      if (fits) take_values(tree->heap, elements, step->instance->dimensions.data[k].size, &values);
      if (fits && !is_single) vec_push(tree->heap, &elements->shape, values.count);
      vec_free(tree->heap, &values);
      if (!fits) return false;
    }
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

/* The elements of one path are targets of the reference. */
static bool add_targets(Connections *connections, const ConnectPath *path, Instance *found,
                        ConnectReference *reference) {
  Tree *tree = connections->tree;
  const ConnectSource *source = path->source;
  const Instance *above = common_ancestor(found, source->instance);
  ConnectTarget target = {
      .instance = found, .own = count_below(tree, found, above), .shared = count_below(tree, source->instance, above)};
  Elements elements = {0};
  bool is_first = !reference->instance;
  bool fits = take_elements(tree, path, &elements);
  uint32_t total = 1;
  for (uint32_t i = 0; i < elements.shape.count; i++) {
    fits = fits && (is_first || (elements.shape.count == reference->shape.count &&
                                 elements.shape.data[i] == reference->shape.data[i]));
    if (is_first) vec_push(tree->heap, &reference->shape, elements.shape.data[i]);
    total *= elements.shape.data[i];
  }
  if (!fits && !is_first)
    tree_error(tree, ast_span(tree->ast, path->e), source->instance,
               "`%s` and `%s` differ in their dimensions: they cannot be elements of one array",
               instance_text(tree, reference->instance), instance_text(tree, found));
  if (is_first) reference->side = side_of(path);
  while (fits && reference->targets.count < total) vec_push(tree->heap, &reference->targets, (ConnectTarget){0});
  for (uint32_t i = 0; i < elements.numbers.count && fits; i++) {
    target.element = elements.numbers.data[i];
    reference->targets.data[elements.ranks.data[i]] = target;
  }
  vec_free(tree->heap, &elements.numbers, &elements.ranks, &elements.shape);
  reference->instance = fits ? is_first ? found : reference->instance : NULL;
  return fits;
}

static bool follow_all(Connections *connections, ConnectPath *path, ConnectReference *reference);

/* Follows the path for all elements of dimension k and those after it of the split array that is its last step. Depth is bounded by
 * the number of dimensions. */
static bool follow_elements(Connections *connections, ConnectPath *path, const ConnectStep *array,
                            const IndexVec *values, ConnectChoice choice, uint32_t k, ConnectReference *reference) {
  bool fits = true;
  if (k == array->instance->dimensions.count) {
    vec_push(connections->heap, &path->choices, choice);
    fits = follow_all(connections, path, reference);
    path->choices.count--;
    return fits;
  }
  for (uint32_t i = 0; i < values[k].count && fits; i++) {
    ConnectChoice next = choice;
    next.place = choice.place * array->instance->dimensions.data[k].size + values[k].data[i] - 1;
    next.number = choice.number * values[k].count + i;
    fits = follow_elements(connections, path, array, values, next, k + 1, reference);
  }
  return fits;
}

static bool follow_split(Connections *connections, ConnectPath *path, ConnectReference *reference) {
  Tree *tree = connections->tree;
  ConnectStep array = vec_last(&path->steps);
  if (!check_count(tree, path, &array)) return false;
  uint32_t count = array.instance->dimensions.count;
  IndexVec *values = heap_array(tree->heap, count, sizeof *values), shape = {0};
  ConnectChoice choice = {.count = 1, .shape = &shape};
  bool fits = true;
  for (uint32_t k = 0; k < count; k++) {
    bool is_single;
    values[k] = (IndexVec){0};
    fits = fits && list_subscripts(tree, path, &array, k, &values[k], &is_single);
    if (fits && !is_single) vec_push(tree->heap, &shape, values[k].count);
    choice.count *= values[k].count;
  }
  fits = fits && follow_elements(connections, path, &array, values, choice, 0, reference);
  for (uint32_t k = 0; k < count; k++) vec_free(tree->heap, &values[k]);
  heap_free(tree->heap, values);
  vec_free(tree->heap, &shape);
  return fits;
}

/* Follows the path for all elements of the split arrays on it. */
static bool follow_all(Connections *connections, ConnectPath *path, ConnectReference *reference) {
  Instance *found = connect_follow(connections, path);
  if (path->is_open) return follow_split(connections, path, reference);
  if (!found && !path->is_absent) report_missing(connections, path);
  if (!found) return path->is_absent;
  return has_form(connections, path) && add_targets(connections, path, found, reference);
}

ConnectReference connect_reference(Connections *connections, const ConnectSource *source, AstExpr e) {
  ConnectPath path = {.source = source, .e = e};
  Tree *tree = connections->tree;
  ConnectReference reference = {0};
  if (ast_kind(tree->ast, e) != AST_REFERENCE) {
    tree_error(tree, ast_span(tree->ast, e), source->instance, "only connectors can be connected");
    return reference;
  }
  if (!follow_all(connections, &path, &reference)) reference.instance = NULL;
  vec_free(connections->heap, &path.steps, &path.choices);
  return reference;
}

void connect_reference_free(Connections *connections, ConnectReference *reference) {
  vec_free(connections->heap, &reference->targets, &reference->shape);
}
