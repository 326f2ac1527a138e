/* subscript: the numbers of subscripts that are known before the run: of the ends of connections, and of split arrays. */
#include "instance/lookup.h"

#include <math.h>

/* The values of an expression's nodes, if it consists of sums and products of numbers, iterators and `end`; other expressions are
 * evaluated as a whole. */
typedef struct Subscripts {
  Tree *tree;
  Scope scope;
  const struct IteratorValue *iterators;
  uint32_t iterator_count;
  uint32_t size; /* the value of `end` */
  AstExpr first;
  VEC(double) values;
} Subscripts;

static double node_value(const Subscripts *s, AstExpr e) { return s->values.data[e - s->first]; }

static bool find_iterator(const Subscripts *s, AstExpr e, double *value) {
  const Ast *ast = s->tree->ast;
  AstPath path = ast_path(ast, e);
  for (uint32_t i = s->iterator_count; path.count == 1 && i-- > 0;)
    if (s->iterators[i].name == ast_part(ast, path, 0)->name) {
      *value = (double)s->iterators[i].value;
      return true;
    }
  return false;
}

static bool list_whole(const Subscripts *s, AstExpr e, NumberVec *numbers) {
  return evaluate_numbers(s->tree, e, s->scope, s->iterators, s->iterator_count, "a subscript", numbers);
}

static bool evaluate_whole(const Subscripts *s, AstExpr e, double *value) {
  NumberVec numbers = {0};
  bool is_known = list_whole(s, e, &numbers), fits = is_known && numbers.count == 1;
  if (fits) *value = numbers.data[0];
  else if (is_known)
    tree_error(s->tree, ast_span(s->tree->ast, e), s->scope.instance, "part of a subscript has %u values, expected 1",
               numbers.count);
  vec_free(s->tree->heap, &numbers);
  return fits;
}

/* Is the value of the node made of the values of its kids? */
static bool is_made_of_kids(const Ast *ast, AstExpr e) {
  AstKind kind = ast_kind(ast, e);
  return kind == AST_SUM || kind == AST_RANGE || kind == AST_ARRAY;
}

/* Is the whole an expression that may be a vector? */
static bool may_be_vector(const Subscripts *s, AstExpr e) {
  const Ast *ast = s->tree->ast;
  AstKind kind = ast_kind(ast, e);
  double value;
  return !is_made_of_kids(ast, e) && kind != AST_INTEGER && kind != AST_BOOLEAN && kind != AST_END &&
         !(kind == AST_REFERENCE && find_iterator(s, e, &value));
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

/* Converts a number to a subscript. A number that is too large for any array is reduced to one that is still out of range. */
static uint32_t subscript_of(double value) { return (uint32_t)(int32_t)fmin(fmax(value, INT32_MIN), INT32_MAX); }

static void list_range(Heap *heap, double first, double step, double last, IndexVec *values) {
  for (double at = first; step > 0 ? at <= last : at >= last && step < 0; at += step) {
    vec_push(heap, values, subscript_of(at));
    if (fabs(at) > INT32_MAX) return;
  }
}

static bool list_vector(const Subscripts *s, AstExpr e, IndexVec *values, bool *is_single) {
  NumberVec numbers = {0};
  bool fits = list_whole(s, e, &numbers);
  for (uint32_t i = 0; i < numbers.count && fits; i++) vec_push(s->tree->heap, values, subscript_of(numbers.data[i]));
  *is_single = numbers.count == 1;
  vec_free(s->tree->heap, &numbers);
  return fits;
}

bool evaluate_subscript(Tree *tree, AstExpr e, Scope scope, const struct IteratorValue *iterators,
                        uint32_t iterator_count, uint32_t size, IndexVec *values, bool *is_single) {
  Subscripts s = {.tree = tree,
                  .scope = scope,
                  .iterators = iterators,
                  .iterator_count = iterator_count,
                  .size = size,
                  .first = ast_first(tree->ast, e)};
  bool fits = true;
  if (may_be_vector(&s, e)) return list_vector(&s, e, values, is_single);
  bool *is_needed = heap_array(tree->heap, e - s.first + 1, sizeof *is_needed);
  is_needed[e - s.first] = true;
  for (AstExpr i = e + 1; i-- > s.first;)
    for (uint32_t k = 0; is_needed[i - s.first] && is_made_of_kids(tree->ast, i) && k < ast_kid_count(tree->ast, i);
         k++)
      is_needed[ast_kid(tree->ast, i, k) - s.first] = true;
  for (AstExpr i = s.first; i <= e && fits; i++) {
    double value = 0;
    if (is_needed[i - s.first]) fits = evaluate_node(&s, i, &value);
    vec_push(tree->heap, &s.values, value);
  }
  heap_free(tree->heap, is_needed);
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

bool try_subscript(Tree *tree, AstExpr e, Scope scope, const struct IteratorValue *iterators, uint32_t iterator_count,
                   uint32_t size, IndexVec *values, bool *is_single) {
  Diags *outer = tree->diags, quiet = diags_make(tree->heap);
  tree->diags = &quiet;
  bool fits = evaluate_subscript(tree, e, scope, iterators, iterator_count, size, values, is_single);
  tree->diags = outer;
  return fits && quiet.errors == 0;
}
