/* alias: unknowns that equal another unknown, its negative, its derivative, or a constant (see model.h).
 *
 * Invariant: in the forest, unknown j = sign[j] * derivative number shift[j] of its parent root[j]; a root is its own parent, and
 * constant[root] is the value of the root if it has one. An equation is removed only if the forest then says the same as the
 * equation: der(x) = der(y) does not make x an alias of y, and no equation closes a cycle. */
#include "model/model.h"

/* The second pass knows which unknowns are 0. */
enum { LARGEST_SHIFT = 1000, PASSES = 2 };

typedef struct Finder {
  Model *model;
  Aliases aliases;
  bool *differentiated; /* by unknown */
  bool has_later;       /* there are parameters that initialization determines */
  bool has_zero;        /* an unknown is 0 */
} Finder;

/* An unknown as derivative number `shift` of a root, with a sign. */
typedef struct AliasPlace {
  uint32_t root;
  int8_t sign;
  uint32_t shift;
} AliasPlace;

/* ---- facts from the graph ---- */

/* Is it an expression over constants and parameters only? */
static bool is_parametric(const Finder *finder, Expr e) {
  Dag *dag = finder->model->dag;
  IndexVec below = {0};
  bool is_known = true;
  if (dag_depends(dag, e, OP_VARIABLE) || dag_depends(dag, e, OP_TIME) || dag_depends(dag, e, OP_DISCRETE) ||
      dag_depends(dag, e, OP_PRE) || dag_depends(dag, e, OP_STRING))
    return false;
  if (dag_is_smooth(dag, e)) return true;
  dag_below_nonsmooth(dag, dag_scratch(dag), &e, 1, &below);
  for (uint32_t k = 0; k < below.count && is_known; k++) {
    Op op = dag_op(dag, below.data[k]);
    is_known = op != OP_CALL && (op_kind(op) != KIND_LANGUAGE || op == OP_NOEVENT || op == OP_SMOOTH);
  }
  vec_free(dag_heap(dag), &below);
  return is_known;
}

/* The graph may also contain variables of another model that shares it. */
static void find_differentiated(Finder *finder) {
  const Dag *dag = finder->model->dag;
  for (uint32_t e = 0, size = dag_size(dag); e < size; e++)
    if (dag_op(dag, e) == OP_VARIABLE && dag_order(dag, e) > 0 && dag_index(dag, e) < finder->aliases.count)
      finder->differentiated[dag_index(dag, e)] = true;
}

/* ---- the forest ---- */

static AliasPlace find(Aliases *aliases, uint32_t unknown) {
  AliasPlace place = {unknown, 1, 0};
  while (aliases->root[place.root] != place.root) {
    place.sign = (int8_t)(place.sign * aliases->sign[place.root]);
    place.shift += aliases->shift[place.root];
    place.root = aliases->root[place.root];
  }
  AliasPlace rest = place;
  for (uint32_t j = unknown; j != place.root;) {
    uint32_t parent = aliases->root[j];
    int8_t sign = aliases->sign[j];
    uint32_t shift = aliases->shift[j];
    aliases->root[j] = place.root;
    aliases->sign[j] = rest.sign;
    aliases->shift[j] = (uint16_t)rest.shift;
    rest.sign = (int8_t)(rest.sign * sign);
    rest.shift -= shift;
    j = parent;
  }
  return place;
}

/* The rank of an unknown as representative: first the user's specifications for it, then whether it is a state. */
static int worth(const Finder *finder, uint32_t unknown) {
  const Model *model = finder->model;
  const Variable *variable = &model->variables.data[model->unknowns.data[unknown]];
  return (int)variable->select * 16 + (variable->fixed == FIXED_TRUE) * 8 + (variable->start != EXPR_NONE) * 4 +
         (variable->nominal != EXPR_NONE) * 2 + finder->differentiated[unknown];
}

/* Is `a` the better representative of the two roots? A root that has a constant must stay a root. */
static bool is_better(const Finder *finder, uint32_t a, uint32_t b) {
  bool a_constant = finder->aliases.constant[a] != EXPR_NONE, b_constant = finder->aliases.constant[b] != EXPR_NONE;
  if (a_constant != b_constant) return a_constant;
  int difference = worth(finder, a) - worth(finder, b);
  return difference ? difference > 0 : a < b;
}

static void hang(Aliases *aliases, uint32_t root, uint32_t under, int8_t sign, uint32_t shift) {
  aliases->root[root] = under;
  aliases->sign[root] = sign;
  aliases->shift[root] = (uint16_t)shift;
}

/* derivative p of a = sign * derivative q of b. Returns true if the forest now contains this relation. */
static bool join(Finder *finder, uint32_t a, uint32_t p, uint32_t b, uint32_t q, int8_t sign) {
  Aliases *aliases = &finder->aliases;
  AliasPlace left = find(aliases, a), right = find(aliases, b);
  left.shift += p;
  right.shift += q;
  sign = (int8_t)(sign * left.sign * right.sign);
  if (left.root == right.root || left.shift + right.shift > LARGEST_SHIFT) return false;
  bool left_constant = aliases->constant[left.root] != EXPR_NONE,
       right_constant = aliases->constant[right.root] != EXPR_NONE;
  if (left_constant && right_constant) return false;
  bool left_hangs = left.shift == 0 && !left_constant, right_hangs = right.shift == 0 && !right_constant;
  if (left_hangs && right_hangs) left_hangs = !is_better(finder, left.root, right.root);
  if (left_hangs) hang(aliases, left.root, right.root, sign, right.shift);
  else if (right_hangs) hang(aliases, right.root, left.root, sign, left.shift);
  return left_hangs || right_hangs;
}

static bool has_later_parameters(const Model *model) {
  for (uint32_t p = 0; p < model->parameters.count; p++)
    if (model->variables.data[model->parameters.data[p]].fixed == FIXED_FALSE) return true;
  return false;
}

/* Is the expression defined for all values of its parameters? */
static bool is_always_defined(const Model *model, Expr e) {
  IndexVec below = {0};
  bool is_defined = true;
  dag_below(model->dag, dag_scratch(model->dag), &e, 1, &below);
  for (uint32_t k = 0; k < below.count && is_defined; k++) {
    Op op = dag_op(model->dag, below.data[k]);
    is_defined = op_kind(op) == KIND_LEAF || op == OP_SUM || op == OP_MULTIPLY;
  }
  vec_free(model->heap, &below);
  return is_defined;
}

/* unknown = value. The equation stays if its value may be undefined, so that initialization can report that. It also stays if the
 * user fixes the root in another way, so that initialization can compare the two. */
static bool set_constant(Finder *finder, uint32_t unknown, Expr value) {
  Aliases *aliases = &finder->aliases;
  const Model *model = finder->model;
  AliasPlace place = find(aliases, unknown);
  const Variable *root = &model->variables.data[model->unknowns.data[place.root]];
  if (place.shift || aliases->constant[place.root] != EXPR_NONE) return false;
  if (root->fixed == FIXED_TRUE || root->select == SELECT_ALWAYS) return false;
  if (finder->has_later && !is_always_defined(model, value)) return false;
  aliases->constant[place.root] = place.sign < 0 ? dag_negate(model->dag, value) : value;
  double number;
  finder->has_zero = finder->has_zero || (dag_is_constant(model->dag, value, &number) && number == 0);
  return true;
}

/* ---- equations ---- */

static bool is_zero(Finder *finder, Expr e) {
  const Dag *dag = finder->model->dag;
  Aliases *aliases = &finder->aliases;
  double value;
  if (!finder->has_zero || dag_op(dag, e) != OP_VARIABLE) return false;
  uint32_t root = aliases->root[dag_index(dag, e)];
  if (aliases->root[root] != root) root = find(aliases, root).root;
  return aliases->constant[root] != EXPR_NONE && dag_is_constant(dag, aliases->constant[root], &value) && value == 0;
}

/* c * D^p a - (+-c) * D^q b = 0 */
static bool use_pair(Finder *finder, Term a, Term b) {
  const Dag *dag = finder->model->dag;
  if (a.coefficient != b.coefficient && a.coefficient != -b.coefficient) return false;
  int8_t sign = a.coefficient == b.coefficient ? -1 : 1;
  return join(finder, dag_index(dag, a.node), dag_order(dag, a.node), dag_index(dag, b.node), dag_order(dag, b.node),
              sign);
}

/* +-x + (terms over parameters, and unknowns that are 0) + constant = 0. */
static bool use_constant(Finder *finder, Term x, const Term *terms, uint32_t count, double constant) {
  Dag *dag = finder->model->dag;
  Arena arena = arena_make(finder->model->heap);
  Term *rest = arena_array(&arena, count, sizeof *rest);
  uint32_t length = 0;
  double factor = x.coefficient > 0 ? -1 : 1;
  for (uint32_t i = 0; i < count; i++)
    if (terms[i].node != x.node && !is_zero(finder, terms[i].node))
      rest[length++] = (Term){factor * terms[i].coefficient, terms[i].node};
  bool gives_zero = length == 0 && constant == 0;
  bool is_solved = dag_order(dag, x.node) == 0 && (x.coefficient == 1 || x.coefficient == -1 || gives_zero);
  Expr value = is_solved ? dag_sum(dag, gives_zero ? 0 : factor * constant, rest, length) : EXPR_NONE;
  arena_free(&arena);
  return is_solved && set_constant(finder, dag_index(dag, x.node), value);
}

/* Returns true if the equation is an alias and was added to the forest. Unknowns that are 0 do not count; a lone node is one
 * term. */
static bool use_equation(Finder *finder, Expr residual) {
  const Dag *dag = finder->model->dag;
  Term lone = {1, residual}, unknown[2];
  const Term *terms = &lone;
  double constant = 0;
  uint32_t count = dag_op(dag, residual) == OP_SUM ? dag_terms(dag, residual, &constant, &terms) : 1;
  uint32_t unknowns = 0, others = 0;
  for (uint32_t i = 0; i < count; i++) {
    bool is_unknown = dag_op(dag, terms[i].node) == OP_VARIABLE;
    if (is_unknown && is_zero(finder, terms[i].node)) continue;
    if (is_unknown ? unknowns == 2 : !is_parametric(finder, terms[i].node)) return false;
    if (is_unknown) unknown[unknowns++] = terms[i];
    else others++;
  }
  if (unknowns == 1) return use_constant(finder, unknown[0], terms, count, constant);
  return unknowns == 2 && !others && constant == 0 && use_pair(finder, unknown[0], unknown[1]);
}

/* ---- result ---- */

/* Makes every unknown refer to its root directly, or gives it its value. */
static void resolve(Finder *finder) {
  Aliases *aliases = &finder->aliases;
  Dag *dag = finder->model->dag;
  for (uint32_t j = 0; j < aliases->count; j++) find(aliases, j);
  for (uint32_t j = 0; j < aliases->count; j++) {
    uint32_t root = aliases->root[j];
    if (root == j || aliases->constant[root] == EXPR_NONE) continue;
    Expr value = aliases->constant[root];
    if (aliases->shift[j]) value = dag_constant(dag, 0);
    else if (aliases->sign[j] < 0) value = dag_negate(dag, value);
    aliases->constant[j] = value;
  }
  for (uint32_t j = 0; j < aliases->count; j++)
    if (aliases->constant[j] != EXPR_NONE) aliases->root[j] = UINT32_MAX;
}

Aliases model_find_aliases(Model *model, Arena *arena) {
  uint32_t n = model->unknowns.count, m = model->equations.count;
  Arena scratch = arena_make(model->heap);
  Finder finder = {.model = model, .aliases.count = n, .has_later = has_later_parameters(model)};
  Aliases *aliases = &finder.aliases;
  aliases->root = arena_array(arena, n, sizeof *aliases->root);
  aliases->sign = arena_array(arena, n, sizeof *aliases->sign);
  aliases->shift = arena_array(arena, n, sizeof *aliases->shift);
  aliases->constant = arena_array(arena, n, sizeof *aliases->constant);
  aliases->equation_used = arena_array(arena, m, sizeof *aliases->equation_used);
  for (uint32_t j = 0; j < n; j++) aliases->root[j] = j, aliases->sign[j] = 1, aliases->constant[j] = EXPR_NONE;
  finder.differentiated = arena_array(&scratch, n, sizeof *finder.differentiated);
  find_differentiated(&finder);
  for (int pass = 0; pass < PASSES; pass++)
    for (uint32_t i = 0; i < m; i++) {
      if (aliases->equation_used[i] || !use_equation(&finder, model->equations.data[i].residual)) continue;
      aliases->equation_used[i] = true;
      aliases->removed++;
    }
  resolve(&finder);
  arena_free(&scratch);
  return *aliases;
}

/* The expression that replaces derivative `order` of an unknown. */
static Expr substitute_for(Dag *dag, const Aliases *aliases, uint32_t unknown, uint32_t order) {
  if (aliases->root[unknown] == UINT32_MAX) return order ? dag_constant(dag, 0) : aliases->constant[unknown];
  Expr leaf = dag_variable(dag, aliases->root[unknown], order + aliases->shift[unknown]);
  return aliases->sign[unknown] < 0 ? dag_negate(dag, leaf) : leaf;
}

void model_substitute_aliases(Model *model, const Aliases *aliases, ExprVec *residuals, IndexVec *equations) {
  Dag *dag = model->dag;
  ExprVec from = {0}, to = {0};
  for (uint32_t e = 0, size = dag_size(dag); e < size; e++) {
    if (dag_op(dag, e) != OP_VARIABLE || dag_index(dag, e) >= aliases->count) continue; /* as in survey */
    Expr image = substitute_for(dag, aliases, dag_index(dag, e), dag_order(dag, e));
    if (image == e) continue;
    vec_push(model->heap, &from, e);
    vec_push(model->heap, &to, image);
  }
  uint32_t first = residuals->count;
  for (uint32_t i = 0; i < model->equations.count; i++) {
    if (aliases->equation_used[i]) continue;
    vec_push(model->heap, residuals, model->equations.data[i].residual);
    vec_push(model->heap, equations, i);
  }
  dag_substitute(dag, from.data, to.data, from.count, residuals->data + first, residuals->count - first);
  vec_free(model->heap, &from, &to);
}
