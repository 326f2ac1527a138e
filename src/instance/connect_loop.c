/* connect_loop: connect clauses in loops. A loop makes a clause for each value of its iterators. If the subscripts in a clause are
 * iterators, or whole multiples of them, plus terms that do not depend on them, its arguments are those of an earlier clause of
 * the same statement with other elements.
 *
 * Invariant: the arguments kept for a statement come from its last clause. */
#include "instance/connect.h"

#include "instance/lookup.h"

/* ---- subscripts ---- */

/* Is it an iterator of the clause? Then `iterator` is its number. */
static bool find_iterator(const Ast *ast, const ConnectClause *clause, AstExpr e, uint32_t *iterator) {
  if (ast_kind(ast, e) != AST_REFERENCE) return false;
  AstPath path = ast_path(ast, e);
  for (*iterator = clause->iterators.count; (*iterator)-- > 0;)
    if (clause->iterators.data[*iterator].name == ast_part(ast, path, 0)->name) return true;
  return false;
}

static bool names_iterator(const Ast *ast, const ConnectClause *clause, AstExpr e) {
  uint32_t iterator;
  for (AstExpr i = ast_first(ast, e); i <= e; i++)
    if (find_iterator(ast, clause, i, &iterator)) return true;
  return false;
}

/* Adds sign * term to the slopes; false: it is not linear. */
static bool add_term(const Ast *ast, const ConnectClause *clause, AstExpr e, int64_t sign, int64_t *slopes) {
  uint32_t iterator;
  if (!names_iterator(ast, clause, e)) return true;
  if (ast_kind(ast, e) == AST_PRODUCT && ast_kid_count(ast, e) == 2 && ast_operator(ast, e, 1) == AST_MULTIPLY &&
      ast_kind(ast, ast_kid(ast, e, 0)) == AST_INTEGER) {
    int64_t factor = ast_node(ast, ast_kid(ast, e, 0))->value.integer;
    if (factor < -INT32_MAX || factor > INT32_MAX) return false;
    sign *= factor;
    e = ast_kid(ast, e, 1);
  }
  if (!find_iterator(ast, clause, e, &iterator) || ast_kid_count(ast, e)) return false;
  slopes[iterator] += sign;
  return true;
}

static bool find_slopes(const Ast *ast, const ConnectClause *clause, AstExpr e, int64_t *slopes) {
  if (ast_kind(ast, e) != AST_SUM) return add_term(ast, clause, e, 1, slopes);
  for (uint32_t i = 0; i < ast_kid_count(ast, e); i++) {
    AstOperator operation = ast_operator(ast, e, i);
    if (i && operation != AST_ADD && operation != AST_SUBTRACT) return false;
    if (!add_term(ast, clause, ast_kid(ast, e, i), operation == AST_SUBTRACT ? -1 : 1, slopes)) return false;
  }
  return true;
}

/* Adds a subscript that depends on iterators; false: it is not linear. */
static bool add_subscript(Tree *tree, const ConnectClause *clause, AstExpr e, uint32_t size, uint32_t stride,
                          ConnectArgument *argument) {
  ConnectSubscript subscript = {.size = size, .stride = stride};
  IndexVec values = {0};
  bool is_single = false;
  if (!names_iterator(tree->ast, clause, e)) return true;
  subscript.slopes = heap_array(tree->heap, clause->iterators.count, sizeof *subscript.slopes);
  bool fits = find_slopes(tree->ast, clause, e, subscript.slopes) &&
              evaluate_subscript(tree, e, clause->scope, clause->iterators.data, clause->iterators.count, size, &values,
                                 &is_single) &&
              is_single;
  if (fits) subscript.value = values.data[0];
  vec_free(tree->heap, &values);
  vec_push(tree->heap, &argument->subscripts, subscript);
  return fits;
}

/* The subscripts of the argument `e` that depend on iterators; false: its elements have to be found for each clause. */
static bool list_subscripts(Connections *connections, const ConnectSource *source, AstExpr e,
                            ConnectArgument *argument) {
  Tree *tree = connections->tree;
  ConnectPath path = {.source = source, .e = e};
  bool fits = connect_follow(connections, &path) && !path.choices.count;
  uint32_t stride = 1;
  for (uint32_t i = path.steps.count; i-- > 0 && fits;) {
    const ConnectStep *step = &path.steps.data[i];
    for (uint32_t k = step->instance->dimensions.count; k-- > 0 && fits;) {
      uint32_t size = step->instance->dimensions.data[k].size;
      if (k < step->count)
        fits = add_subscript(tree, source->clause, ast_kid(tree->ast, e, step->kid + k), size, stride, argument);
      stride *= size;
    }
  }
  vec_free(tree->heap, &path.steps, &path.choices);
  return fits;
}

/* ---- loops ---- */

static void free_arguments(Connections *connections, ConnectLoop *loop) {
  for (uint32_t side = 0; side < 2; side++) {
    ConnectArgument *argument = &loop->arguments[side];
    for (uint32_t i = 0; i < argument->subscripts.count; i++)
      heap_free(connections->heap, argument->subscripts.data[i].slopes);
    vec_free(connections->heap, &argument->subscripts);
    connect_reference_free(connections, &argument->reference);
  }
}

void connect_loop_keep(Connections *connections, const ConnectSource *source, ConnectReference left,
                       ConnectReference right) {
  const AstStatement *statement = source->clause->statement;
  ConnectLoop loop = {.source = *source, .arguments = {{.reference = left}, {.reference = right}}};
  bool fits = source->clause->iterators.count && left.instance && right.instance &&
              list_subscripts(connections, source, statement->left, &loop.arguments[0]) &&
              list_subscripts(connections, source, statement->right, &loop.arguments[1]);
  uint32_t found = map_get(&connections->loop_of, (uintptr_t)statement);
  if (!fits) {
    free_arguments(connections, &loop);
    return;
  }
  if (found != MAP_NONE) {
    free_arguments(connections, &connections->loops.data[found]);
    connections->loops.data[found] = loop;
    return;
  }
  map_put(&connections->loop_of, (uintptr_t)statement, connections->loops.count);
  vec_push(connections->heap, &connections->loops, loop);
}

/* The value of the subscript in another clause. */
static int64_t shifted(const ConnectSubscript *subscript, const ConnectClause *from, const ConnectClause *to) {
  int64_t value = subscript->value;
  for (uint32_t k = 0; k < to->iterators.count; k++)
    value += subscript->slopes[k] * (to->iterators.data[k].value - from->iterators.data[k].value);
  return value;
}

/* Are all subscripts within their dimensions in the other clause? */
static bool is_within(const ConnectArgument *argument, const ConnectClause *from, const ConnectClause *to) {
  for (uint32_t i = 0; i < argument->subscripts.count; i++) {
    int64_t value = shifted(&argument->subscripts.data[i], from, to);
    if (value < 1 || value > argument->subscripts.data[i].size) return false;
  }
  return true;
}

static void shift(ConnectArgument *argument, const ConnectClause *from, const ConnectClause *to) {
  int64_t step = 0;
  for (uint32_t i = 0; i < argument->subscripts.count; i++) {
    ConnectSubscript *subscript = &argument->subscripts.data[i];
    int64_t value = shifted(subscript, from, to);
    step += (value - subscript->value) * subscript->stride;
    subscript->value = value;
  }
  for (uint32_t i = 0; i < argument->reference.targets.count; i++)
    argument->reference.targets.data[i].element += (uint32_t)step;
}

const ConnectLoop *connect_loop_next(Connections *connections, const ConnectSource *source) {
  const ConnectClause *to = source->clause;
  uint32_t found = to->iterators.count ? map_get(&connections->loop_of, (uintptr_t)to->statement) : MAP_NONE;
  ConnectLoop *loop = found == MAP_NONE ? NULL : &connections->loops.data[found];
  if (!loop || loop->source.instance != source->instance || loop->source.clause->scope.part != to->scope.part)
    return NULL;
  for (uint32_t side = 0; side < 2; side++)
    if (!is_within(&loop->arguments[side], loop->source.clause, to)) return NULL;
  for (uint32_t side = 0; side < 2; side++) shift(&loop->arguments[side], loop->source.clause, to);
  loop->source = *source;
  return loop;
}
