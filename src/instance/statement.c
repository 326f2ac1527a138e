/* statement: see statement.h. Connections are removed: enclosing ifs are decided, and fors unrolled.
 *
 * Blocks nest at most DEPTH_LIMIT deep. */
#include "instance/statement.h"

#include "instance/lookup.h"

#include <string.h>

typedef struct Walk {
  Resolver *resolver;
  bool may_connect; /* connections are left out; ifs whose conditions are known are decided */
  bool in_when;
  uint32_t depth;
} Walk;

static bool walk_statements(Walk *walk, const AstStatement *list, uint32_t count, StatementVec *out);

/* ---- connections ---- */

static bool is_connections_call(const Tree *tree, const AstStatement *statement) {
  if (statement->kind != AST_INVOKE || ast_kind(tree->ast, statement->left) != AST_CALL) return false;
  AstPath path = ast_path(tree->ast, statement->left);
  return path.count == 2 && strcmp(names_text(tree->names, ast_part(tree->ast, path, 0)->name), "Connections") == 0;
}

static bool is_connection(const Tree *tree, const AstStatement *statement) {
  return statement->kind == AST_CONNECT || is_connections_call(tree, statement);
}

static bool has_connections(const Tree *tree, const AstStatement *list, uint32_t count, uint32_t depth) {
  for (uint32_t i = 0; i < count; i++) {
    if (is_connection(tree, &list[i])) return true;
    for (uint32_t k = 0; k < list[i].branches.count && depth < DEPTH_LIMIT; k++)
      if (has_connections(tree, list[i].branches.data[k].body.data, list[i].branches.data[k].body.count, depth + 1))
        return true;
  }
  return false;
}

/* ---- collecting ---- */

typedef struct Collection {
  Tree *tree;
  Scope scope;
  VEC(struct IteratorValue) values; /* values of the enclosing loops, innermost last */
  uint32_t depth;
} Collection;

static bool collect(Collection *collection, const AstStatement *list, uint32_t count);

static void add_clause(Collection *collection, const AstStatement *statement) {
  Tree *tree = collection->tree;
  uint32_t count = collection->values.count;
  ConnectClause clause = {.statement = statement, .scope = collection->scope};
  clause.iterators.data = arena_array(&tree->arena, count, sizeof *collection->values.data);
  clause.iterators.count = count;
  if (count) memcpy(clause.iterators.data, collection->values.data, count * sizeof *collection->values.data);
  vec_push(tree->heap, &collection->scope.instance->connect_clauses, clause);
}

/* The branch of an if that is taken, if this is known now; `count` if none is; -1 if it is not known. */
static int64_t taken_branch(Tree *tree, const AstStatement *statement, Scope scope, const struct IteratorValue *values,
                            uint32_t value_count) {
  for (uint32_t i = 0; i < statement->branches.count; i++) {
    AstExpr condition = statement->branches.data[i].condition;
    int known = condition == AST_NONE ? 1 : evaluate_condition(tree, condition, scope, values, value_count);
    if (known < 0) return -1;
    if (known) return i;
  }
  return statement->branches.count;
}

/* Do the conditions differ among the elements of an array that contains the connections? Then it is split. */
static bool splits_arrays(Collection *collection, const AstStatement *statement) {
  Tree *tree = collection->tree;
  Diags *outer = tree->diags, quiet = diags_make(tree->heap);
  NumberVec numbers = {0};
  tree->diags = &quiet;
  for (uint32_t i = 0; i < statement->branches.count && !tree->has_new_splits; i++)
    if (statement->branches.data[i].condition != AST_NONE)
      evaluate_numbers(tree, statement->branches.data[i].condition, collection->scope, collection->values.data,
                       collection->values.count, "a condition", &numbers);
  tree->diags = outer;
  vec_free(tree->heap, &numbers);
  return tree->has_new_splits;
}

static bool collect_if(Collection *collection, const AstStatement *statement) {
  int64_t taken =
      taken_branch(collection->tree, statement, collection->scope, collection->values.data, collection->values.count);
  if (taken < 0 && splits_arrays(collection, statement)) return true;
  if (taken < 0) {
    tree_error(collection->tree, statement->branches.data[0].span, collection->scope.instance,
               "a connection is in an if whose condition is not known before the model runs");
    return false;
  }
  if (taken == statement->branches.count) return true;
  const AstBranch *branch = &statement->branches.data[taken];
  return collect(collection, branch->body.data, branch->body.count);
}

/* Unrolls iterator `number` of the loop and those after it. */
static bool unroll(Collection *collection, const AstStatement *statement, uint32_t number) {
  Tree *tree = collection->tree;
  const AstBranch *branch = &statement->branches.data[0];
  if (number == statement->iterators.count) return collect(collection, branch->body.data, branch->body.count);
  const AstIterator *iterator = &statement->iterators.data[number];
  NumberVec numbers = {0};
  bool fits = evaluate_range(tree, iterator->range, collection->scope, collection->values.data,
                             collection->values.count, &numbers);
  for (uint32_t i = 0; i < numbers.count && fits; i++) {
    heap_work(tree->heap, 1);
    vec_push(tree->heap, &collection->values, (struct IteratorValue){iterator->label.name, (int64_t)numbers.data[i]});
    fits = unroll(collection, statement, number + 1);
    collection->values.count--;
  }
  vec_free(tree->heap, &numbers);
  return fits;
}

static bool collect(Collection *collection, const AstStatement *list, uint32_t count) {
  bool fits = true;
  if (collection->depth >= DEPTH_LIMIT) {
    tree_error(collection->tree, list[0].span, collection->scope.instance, "blocks are nested deeper than %d",
               DEPTH_LIMIT);
    return false;
  }
  collection->depth++;
  for (uint32_t i = 0; i < count; i++) {
    if (!has_connections(collection->tree, &list[i], 1, 0)) continue;
    if (is_deselected(collection->tree, collection->scope, &list[i])) continue;
    if (list[i].kind == AST_IF_BLOCK) fits = collect_if(collection, &list[i]) && fits;
    else if (list[i].kind == AST_FOR_BLOCK) fits = unroll(collection, &list[i], 0) && fits;
    else if (is_connection(collection->tree, &list[i])) add_clause(collection, &list[i]);
    else {
      tree_error(collection->tree, list[i].span, collection->scope.instance, "a connection is not allowed in a when");
      fits = false;
    }
  }
  collection->depth--;
  return fits;
}

bool collect_clauses(Tree *tree, Scope scope, const AstStatement *list, uint32_t count) {
  Collection collection = {.tree = tree, .scope = scope};
  bool fits = collect(&collection, list, count);
  vec_free(tree->heap, &collection.values);
  return fits;
}

/* ---- expressions ---- */

static bool resolve(Walk *walk, AstExpr *e) {
  if (*e == AST_NONE) return true;
  *e = resolve_expression(walk->resolver, *e);
  return *e != AST_NONE;
}

/* A when cannot assign a variable inside a component of a model or block (section 4.5.4). */
static bool check_target(Walk *walk, AstExpr target) {
  Tree *tree = walk->resolver->tree;
  if (ast_kind(tree->ast, target) != AST_REFERENCE) return true;
  AstPath path = ast_path(tree->ast, target);
  Instance *at = path.count > 1 ? scope_find(tree, walk->resolver->scope, ast_part(tree->ast, path, 0)->name) : NULL;
  for (uint32_t i = 1; i < path.count && at && at->kind == INSTANCE_COMPONENT; i++) {
    if (at->restriction == CLASS_MODEL || at->restriction == CLASS_BLOCK) {
      tree_error(tree, path.span, walk->resolver->scope.instance,
                 "a when cannot assign a variable inside a component of a %s: `%s`", restriction_text(at->restriction),
                 instance_text(tree, at));
      return false;
    }
    at = instance_element(tree, at, ast_part(tree->ast, path, i)->name);
  }
  return true;
}

static bool check_targets(Walk *walk, const AstStatement *statement) {
  const Ast *ast = walk->resolver->tree->ast;
  bool assigns = walk->in_when && (statement->kind == AST_EQUALITY || statement->kind == AST_ASSIGN);
  if (!assigns) return true;
  if (ast_kind(ast, statement->left) != AST_TUPLE) return check_target(walk, statement->left);
  bool fits = true;
  for (uint32_t i = 0; i < ast_kid_count(ast, statement->left); i++)
    fits = check_target(walk, ast_kid(ast, statement->left, i)) && fits;
  return fits;
}

/* The arguments of an annotation are ignored. */
static bool resolve_simple(Walk *walk, const AstStatement *statement, StatementVec *out) {
  AstStatement made = *statement;
  made.annotation = NULL;
  if (!check_targets(walk, statement)) return false;
  if (!resolve(walk, &made.left) || !resolve(walk, &made.right)) return false;
  vec_push(walk->resolver->tree->heap, out, made);
  return true;
}

/* ---- blocks ---- */

static bool resolve_body(Walk *walk, const AstBranch *branch, AstBranch *made) {
  Tree *tree = walk->resolver->tree;
  StatementVec body = {0};
  bool fits = walk_statements(walk, branch->body.data, branch->body.count, &body);
  made->body.data = arena_array(&tree->arena, body.count, sizeof *body.data);
  made->body.count = body.count;
  if (body.count) memcpy(made->body.data, body.data, body.count * sizeof *body.data);
  vec_free(tree->heap, &body);
  return fits;
}

static bool resolve_branches(Walk *walk, const AstStatement *statement, AstStatement *made) {
  Tree *tree = walk->resolver->tree;
  made->branches.data = arena_array(&tree->arena, statement->branches.count, sizeof *made->branches.data);
  for (uint32_t i = 0; i < statement->branches.count; i++) {
    AstBranch *branch = &made->branches.data[i];
    *branch = statement->branches.data[i];
    if (!resolve(walk, &branch->condition)) return false;
    if (!resolve_body(walk, &statement->branches.data[i], branch)) return false;
  }
  return true;
}

static bool resolve_if(Walk *walk, const AstStatement *statement, StatementVec *out) {
  Tree *tree = walk->resolver->tree;
  bool may_decide = walk->may_connect && !walk->resolver->iterators.count;
  int64_t taken = may_decide ? taken_branch(tree, statement, walk->resolver->scope, walk->resolver->values,
                                            walk->resolver->value_count)
                             : -1;
  if (taken >= 0 && taken < statement->branches.count)
    return walk_statements(walk, statement->branches.data[taken].body.data, statement->branches.data[taken].body.count,
                           out);
  if (taken >= 0) return true;
  AstStatement made = *statement;
  if (!resolve_branches(walk, statement, &made)) return false;
  vec_push(tree->heap, out, made);
  return true;
}

/* Writes the body of a loop for each value of its iterators from number `number` on. */
static bool unroll_body(Walk *walk, const AstStatement *statement, uint32_t number, StatementVec *out) {
  Resolver *resolver = walk->resolver;
  Tree *tree = resolver->tree;
  const AstBranch *branch = &statement->branches.data[0];
  if (number == statement->iterators.count) return walk_statements(walk, branch->body.data, branch->body.count, out);
  NumberVec numbers = {0};
  const struct IteratorValue *outer = resolver->values;
  uint32_t count = resolver->value_count;
  struct IteratorValue *values = heap_array(tree->heap, count + 1, sizeof *values);
  bool fits = evaluate_range(tree, statement->iterators.data[number].range, resolver->scope, outer, count, &numbers);
  if (count) memcpy(values, outer, count * sizeof *values);
  resolver->values = values;
  resolver->value_count = count + 1;
  for (uint32_t i = 0; i < numbers.count && fits; i++) {
    values[count] = (struct IteratorValue){statement->iterators.data[number].label.name, (int64_t)numbers.data[i]};
    fits = unroll_body(walk, statement, number + 1, out);
  }
  resolver->values = outer;
  resolver->value_count = count;
  heap_free(tree->heap, values);
  vec_free(tree->heap, &numbers);
  return fits;
}

/* Does the iterator of a loop over equations choose among elements that differ in their structure? */
static bool meets_split(Walk *walk, const AstStatement *statement) {
  Tree *tree = walk->resolver->tree;
  if (!tree->earlier->splits.count || walk->resolver->in_algorithm) return false;
  Resolver inner = *walk->resolver;
  Walk tried = {.resolver = &inner, .may_connect = walk->may_connect, .in_when = walk->in_when, .depth = walk->depth};
  Diags *outer = tree->diags, quiet = diags_make(tree->heap);
  StatementVec ignored = {0};
  inner.iterators = (IndexVec){0};
  inner.meets_split = false;
  for (uint32_t i = 0; i < statement->iterators.count; i++)
    vec_push(tree->heap, &inner.iterators, statement->iterators.data[i].label.name);
  tree->diags = &quiet;
  walk_statements(&tried, statement->branches.data[0].body.data, statement->branches.data[0].body.count, &ignored);
  tree->diags = outer;
  vec_free(tree->heap, &ignored, &inner.iterators);
  return inner.meets_split;
}

static bool resolve_for(Walk *walk, const AstStatement *statement, StatementVec *out) {
  Tree *tree = walk->resolver->tree;
  if (!walk->resolver->iterators.count && meets_split(walk, statement)) return unroll_body(walk, statement, 0, out);
  AstStatement made = *statement;
  IndexVec *names = &walk->resolver->iterators;
  uint32_t outer = names->count;
  made.iterators.data = arena_array(&tree->arena, statement->iterators.count, sizeof *made.iterators.data);
  bool fits = true;
  for (uint32_t i = 0; i < statement->iterators.count && fits; i++) {
    made.iterators.data[i] = statement->iterators.data[i];
    fits = resolve(walk, &made.iterators.data[i].range);
    vec_push(tree->heap, names, statement->iterators.data[i].label.name);
  }
  fits = fits && resolve_branches(walk, statement, &made);
  names->count = outer;
  if (fits) vec_push(tree->heap, out, made);
  return fits;
}

static bool resolve_block(Walk *walk, const AstStatement *statement, StatementVec *out) {
  AstStatement made = *statement;
  bool was_in_when = walk->in_when;
  walk->in_when = was_in_when || statement->kind == AST_WHEN_BLOCK;
  bool fits = resolve_branches(walk, statement, &made);
  walk->in_when = was_in_when;
  if (!fits) return false;
  vec_push(walk->resolver->tree->heap, out, made);
  return true;
}

static bool leave_out(Walk *walk, const AstStatement *statement) {
  if (walk->may_connect) return true;
  tree_error(walk->resolver->tree, statement->span, walk->resolver->scope.instance, "a connection is not allowed here");
  return false;
}

static bool walk_statement(Walk *walk, const AstStatement *statement, StatementVec *out) {
  switch (statement->kind) {
  case AST_CONNECT: return leave_out(walk, statement);
  case AST_INVOKE:
    if (is_connections_call(walk->resolver->tree, statement)) return leave_out(walk, statement);
    return resolve_simple(walk, statement, out);
  case AST_EQUALITY:
  case AST_ASSIGN:
  case AST_TERM:
  case AST_BREAK:
  case AST_RETURN: return resolve_simple(walk, statement, out);
  case AST_IF_BLOCK: return resolve_if(walk, statement, out);
  case AST_FOR_BLOCK: return resolve_for(walk, statement, out);
  case AST_WHEN_BLOCK:
  case AST_WHILE_BLOCK: return resolve_block(walk, statement, out);
  }
  return true;
}

static bool walk_statements(Walk *walk, const AstStatement *list, uint32_t count, StatementVec *out) {
  bool fits = true;
  if (walk->depth >= DEPTH_LIMIT) {
    tree_error(walk->resolver->tree, list[0].span, walk->resolver->scope.instance, "blocks are nested deeper than %d",
               DEPTH_LIMIT);
    return false;
  }
  walk->depth++;
  for (uint32_t i = 0; i < count; i++) fits = walk_statement(walk, &list[i], out) && fits;
  walk->depth--;
  return fits;
}

bool resolve_statements(Resolver *resolver, const AstStatement *list, uint32_t count, bool may_connect,
                        StatementVec *out) {
  Walk walk = {.resolver = resolver, .may_connect = may_connect};
  return walk_statements(&walk, list, count, out);
}
