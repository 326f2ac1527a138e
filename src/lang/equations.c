/* equations: equation sections (equalities, for, if, when, assertions) become scalar equations and actions.
 *
 * Invariant: for-equations are unrolled with their iterators as constants. Plain equations in them are compiled once (loop.h).
 * An if whose condition is known keeps one branch; any other joins its branches equation by equation. Blocks nest at most
 * BLOCK_DEPTH_LIMIT deep. */
#include "lang/elaborate.h"
#include "lang/loop.h"
#include "lang/state_machine.h"

#include <string.h>

static void run_equations(Elaboration *el, const AstStatement *statements, uint32_t count);

uint32_t variable_of_leaf(const Elaboration *el, Expr leaf) {
  switch (dag_op(el->dag, leaf)) {
  case OP_VARIABLE: return dag_order(el->dag, leaf) ? NONE : el->model->unknowns.data[dag_index(el->dag, leaf)];
  case OP_DISCRETE: return el->model->discretes.data[dag_index(el->dag, leaf)];
  case OP_PARAMETER: return el->model->parameters.data[dag_index(el->dag, leaf)];
  default: return NONE;
  }
}

/* ---- collecting ---- */

bool integer_is_real(Elaboration *el, uint32_t position, BaseType base, Span span) {
  const Variable *variable = &el->model->variables.data[position];
  if (variable->type != TYPE_INTEGER || base != TYPE_REAL) return false;
  input_error(el, span, "Integer `%s` cannot be determined by a Real: give it an equation of its own, or use integer()",
              names_text(el->names, variable->name));
  return true;
}

static bool add_action(Elaboration *el, Expr left, Expr right, BaseType base, Span span) {
  if (dag_op(el->dag, left) != OP_DISCRETE)
    return input_error(el, span,
                       "on its left side an equation in a when must have a variable that only whens determine"),
           false;
  if (integer_is_real(el, variable_of_leaf(el, left), base, span)) return false;
  Action action = {.kind = ACTION_ASSIGN,
                   .guard = el->guard,
                   .target = variable_of_leaf(el, left),
                   .value = right,
                   .message = EXPR_NONE,
                   .span = span};
  vec_push(el->heap, el->actions, action);
  return true;
}

static bool add_equation(Elaboration *el, Expr left, Expr right, BaseType base, Span span) {
  if (el->when) return add_action(el, left, right, base, span);
  vec_push(el->heap, el->equations,
           (RawEquation){.left = left,
                         .right = right,
                         .base = base,
                         .span = span,
                         .clock = el->clock,
                         .state = el->state,
                         .comment = el->comment});
  return true;
}

bool equations_add(Elaboration *el, const Value *left, const Value *right, Span span) {
  if (left->type.base == TYPE_RECORD) {
    for (uint32_t i = 0; i < el->model->records.data[left->type.definition].fields.count; i++)
      if (!equations_add(el, &left->fields[i], &right->fields[i], span)) return false;
    return true;
  }
  if (!value_same_sizes(left, right))
    return diag_error(el->diags, DIAG_TYPE_MISMATCH, span, "the sides of the equation differ in size: %s and %s",
                      value_sizes_text(el->machine, left), value_sizes_text(el->machine, right)),
           false;
  BaseType base = left->type.base == TYPE_INTEGER ? (BaseType)right->type.base : (BaseType)left->type.base;
  for (uint32_t i = 0; i < left->count; i++)
    if (!add_equation(el, value_exprs(left)[i], value_exprs(right)[i], base, span)) return false;
  return true;
}

/* ---- running code ---- */

static void report_unknown(Elaboration *el, Span span) {
  Span where;
  const char *obstacle = machine_obstacle(el->machine, &where);
  Diag *diag = input_error(el, span, "%s is not known at compile time", obstacle);
  if (where.end) diag_note(el->diags, diag, where, "here");
}

static Compiler *start(Elaboration *el) {
  Compiler *c = compiler_fresh(el);
  c->scope = el->scope;
  c->diags = el->diags;
  return c;
}

static bool run_routine(Elaboration *el, Routine *routine, Span span) {
  ExecuteStatus status = run_code(el, routine, LOAD_LEAVES, el->diags);
  if (status == EXECUTE_UNKNOWN) report_unknown(el, span);
  return status == EXECUTE_OK;
}

static bool run(Elaboration *el, Compiler *c, Span span) { return !c->errors && run_routine(el, c->routine, span); }

/* ---- equalities ---- */

/* (a, b) = f(x) */
static void run_tuple(Elaboration *el, const AstStatement *statement) {
  const Ast *ast = el->ast;
  Compiler *c = start(el);
  uint32_t count = ast_kid_count(ast, statement->left);
  if (ast_kind(ast, statement->right) != AST_CALL) {
    input_error(el, statement->span, "only a function call can give several values");
    return;
  }
  uint32_t outputs = compile_call_outputs(c, statement->right, count);
  for (uint32_t i = 0; i < count && i < outputs; i++) {
    AstExpr e = ast_kid(ast, statement->left, i);
    Type type = c->types.data[i];
    if (ast_kind(ast, e) == AST_OMITTED) continue;
    if (ast_kind(ast, e) != AST_REFERENCE)
      compile_error(c, ast_span(ast, e), "only variables are allowed on this side");
    Type found = compile_expression(c, e, type);
    if (!type_fits(el, found, type) && c->errors == 0)
      compile_error(c, ast_span(ast, e), "output %u is %s, the left side is %s", i + 1, type_text(el, type),
                    type_text(el, found));
  }
  if (!run(el, c, statement->span)) return;
  uint32_t at = outputs;
  for (uint32_t i = 0; i < count && i < outputs; i++) {
    if (ast_kind(ast, ast_kid(ast, statement->left, i)) == AST_OMITTED) continue;
    if (!equations_add(el, machine_result(el->machine, at++), machine_result(el->machine, i), statement->span)) return;
  }
}

static void run_loop_code(Elaboration *el, LoopCode *code, Span span) {
  Expr left, right;
  BaseType base;
  if (loop_sides(el, code, &left, &right, &base)) add_equation(el, left, right, base, span);
  else if (run_routine(el, loop_routine(el, code), span))
    equations_add(el, machine_result(el->machine, 0), machine_result(el->machine, 1), span);
}

static void run_equality(Elaboration *el, const AstStatement *statement) {
  const Ast *ast = el->ast;
  if (ast_kind(ast, statement->left) == AST_TUPLE) {
    run_tuple(el, statement);
    return;
  }
  LoopCode *code = loop_find(el, statement);
  if (code) {
    run_loop_code(el, code, statement->span);
    return;
  }
  uint32_t said = el->diags->list.count;
  Compiler *c = start(el);
  Type left = compile_expression(c, statement->left, type_nothing());
  Type right = compile_expression(c, statement->right, left);
  if (c->errors == 0 && type_join(el, left, right).base == TYPE_NOTHING)
    compile_error(c, ast_span(ast, statement->right), "the sides of the equation are %s and %s", type_text(el, left),
                  type_text(el, right));
  discrete_check(c, left, statement->left);
  discrete_check(c, left, statement->right);
  bool is_plain = el->diags->list.count == said;
  if (!run(el, c, statement->span)) return;
  equations_add(el, machine_result(el->machine, 0), machine_result(el->machine, 1), statement->span);
  if (is_plain) loop_keep(el, statement, c);
}

/* A term of an energy; it is collected as an equation with right side zero. */
static void run_term(Elaboration *el, const AstStatement *statement) {
  Compiler *c = start(el);
  Type type = compile_expression(c, statement->left, type_scalar(TYPE_REAL));
  if (c->errors == 0 && (!type_is_number(type) || type.dimensions))
    compile_error(c, statement->span, "a term of `%s` is a Real number, this is %s", ast_energy_words[el->energy],
                  type_text(el, type));
  if (!run(el, c, statement->span)) return;
  Expr term = value_exprs(machine_result(el->machine, 0))[0];
  vec_push(el->heap, el->equations,
           (RawEquation){.left = term, .right = dag_constant(el->dag, 0), .base = TYPE_REAL, .span = statement->span});
}

/* The scalar value of an expression of this type; EXPR_NONE after an error. */
static Expr run_scalar(Elaboration *el, AstExpr e, Type expected) {
  Compiler *c = start(el);
  Type type = compile_expression(c, e, expected);
  if (c->errors == 0) compile_expect(c, expected, type, ast_span(el->ast, e), "this argument");
  return run(el, c, ast_span(el->ast, e)) ? value_exprs(machine_result(el->machine, 0))[0] : EXPR_NONE;
}

/* Runs assert, terminate, reinit, and calls without a result. Calls without a result are checked and left out, with a warning. */
static void run_invoke(Elaboration *el, const AstStatement *statement) {
  LoopCode *code = loop_find(el, statement);
  if (code) {
    if (!loop_assert(el, code, statement->span)) run_routine(el, loop_routine(el, code), statement->span);
    return;
  }
  if (state_machine_is_call(el, statement)) {
    state_machine_note(el, statement, run_scalar);
    return;
  }
  Compiler *c = start(el);
  uint32_t said = el->diags->list.count;
  compile_statements(c, statement, 1);
  bool is_plain = el->diags->list.count == said;
  if (!run(el, c, statement->span)) return;
  algorithm_warn_of_call(el, c->routine, statement, el->in_when || el->is_initial);
  if (is_plain) loop_keep(el, statement, c);
}

/* ---- for ---- */

static bool range_values(Elaboration *el, const AstIterator *iterator, Value *out) {
  Compiler *c = start(el);
  Type type = compile_range(c, iterator->range);
  if (c->errors == 0 && type.dimensions == 1 && type.base == TYPE_RECORD)
    compile_error(c, iterator->label.span, "not supported yet: a loop of equations over records; use `1:size(..., 1)`");
  if (c->errors == 0 && type.dimensions != 1)
    compile_error(c, iterator->label.span, "an iterator runs over a vector, this is %s", type_text(el, type));
  if (c->errors) return false;
  el->marks_structural = true;
  ExecuteStatus status = run_code(el, c->routine, LOAD_VALUES, el->diags);
  el->marks_structural = false;
  if (status == EXECUTE_UNKNOWN) report_unknown(el, iterator->label.span);
  if (status != EXECUTE_OK) return false;
  const Value *value = machine_result(el->machine, 0);
  *out = *value;
  out->data = heap_copy(el->heap, value->data, value->count, sizeof(Expr));
  return true;
}

/* Runs iterator number `depth` of the statement and all after it; the last one runs the body. */
static void run_for(Elaboration *el, const AstStatement *statement, uint32_t depth) {
  if (depth == statement->iterators.count) {
    if (statement->branches.count)
      run_equations(el, statement->branches.data[0].body.data, statement->branches.data[0].body.count);
    return;
  }
  Value values;
  const AstIterator *iterator = &statement->iterators.data[depth];
  if (!range_values(el, iterator, &values)) return;
  uint32_t errors = el->diags->errors;
  Type type = values.type;
  type.dimensions = 0;
  for (uint32_t i = 0; i < values.count && el->diags->errors == errors; i++) {
    double number = 0;
    Expr value = value_exprs(&values)[i];
    if (dag_op(el->dag, value) == OP_STRING) number = dag_index(el->dag, value);
    else dag_is_constant(el->dag, value, &number);
    ScopeName name = {.name = iterator->label.name, .slot = NONE, .type = type, .value = number, .is_iterator = true};
    vec_push(el->heap, &el->compiler->names, name);
    run_for(el, statement, depth + 1);
    el->compiler->names.count--;
  }
  if (!el->compiler->names.count) loop_free_all(el);
  heap_free(el->heap, values.data);
}

/* ---- if ---- */

/* Evaluates a condition: 1 or 0 if its value is known now, -1 if not (then `node` is set), -2 after an error. */
static int run_condition(Elaboration *el, AstExpr e, Expr *node) {
  Compiler *c = start(el);
  Type type = compile_expression(c, e, type_scalar(TYPE_BOOLEAN));
  if (c->errors == 0) compile_expect(c, type_scalar(TYPE_BOOLEAN), type, ast_span(el->ast, e), "the condition");
  if (c->errors) return -2;
  double truth;
  el->marks_structural = true;
  ExecuteStatus status = run_code(el, c->routine, LOAD_VALUES, &el->quiet);
  el->marks_structural = false;
  if (status == EXECUTE_OK && dag_is_constant(el->dag, value_exprs(machine_result(el->machine, 0))[0], &truth))
    return truth != 0;
  if (!run(el, c, ast_span(el->ast, e))) return -2;
  *node = value_exprs(machine_result(el->machine, 0))[0];
  return dag_is_constant(el->dag, *node, &truth) ? truth != 0 : -1;
}

typedef struct OpenBranch {
  Expr condition; /* EXPR_NONE: otherwise */
  EquationVec equations;
} OpenBranch;

typedef VEC(OpenBranch) OpenBranches;

/* Reorders the equations of a later branch so that their left sides are in the order of the first branch. */
static void align_branch(Elaboration *el, const EquationVec *first, EquationVec *other) {
  Map by_left = map_make(el->heap);
  uint32_t count = other->count;
  RawEquation *sorted = heap_array(el->heap, count, sizeof *sorted);
  bool *used = heap_array(el->heap, count, sizeof *used), *filled = heap_array(el->heap, count, sizeof *filled);
  for (uint32_t i = count; i-- > 0;) map_put(&by_left, other->data[i].left, i);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t match = map_get(&by_left, first->data[i].left);
    if (match == MAP_NONE || used[match]) continue;
    sorted[i] = other->data[match];
    used[match] = filled[i] = true;
  }
  for (uint32_t i = 0, next = 0; i < count; i++) {
    if (filled[i]) continue;
    while (used[next]) next++;
    sorted[i] = other->data[next++];
  }
  if (count) memcpy(other->data, sorted, count * sizeof *sorted);
  map_free(&by_left);
  heap_free_all(el->heap, sorted, used, filled);
}

/* if c1 then l1 else l2 = if c1 then r1 else r2, with a single left side where they agree. */
static void join_branches(Elaboration *el, OpenBranches *branches, Span span) {
  uint32_t last = branches->count - 1, count = branches->data[0].equations.count;
  for (uint32_t k = 1; k <= last; k++)
    if (branches->data[k].equations.count != count) {
      input_error(
          el, span,
          "the branches of an if have %u and %u equations; all branches, including the else branch, must have the "
          "same number",
          count, branches->data[k].equations.count);
      return;
    }
  for (uint32_t k = 1; k <= last; k++) align_branch(el, &branches->data[0].equations, &branches->data[k].equations);
  for (uint32_t i = 0; i < count; i++) {
    RawEquation joined = branches->data[last].equations.data[i];
    for (uint32_t k = last; k-- > 0;) {
      const RawEquation *branch = &branches->data[k].equations.data[i];
      Expr condition = branches->data[k].condition;
      if (joined.left != branch->left) joined.left = dag_if(el->dag, condition, branch->left, joined.left);
      if (joined.right != branch->right) joined.right = dag_if(el->dag, condition, branch->right, joined.right);
      joined.span = branch->span;
    }
    vec_push(el->heap, el->equations, joined);
  }
}

static Expr both(Elaboration *el, Expr a, Expr b) { return a == EXPR_NONE ? b : dag_binary(el->dag, OP_AND, a, b); }

static void run_if(Elaboration *el, const AstStatement *statement) {
  OpenBranches branches = {0};
  Expr guard = el->guard, rest = guard;
  EquationVec *outer = el->equations;
  bool is_closed = false, is_bad = false;
  for (uint32_t i = 0; i < statement->branches.count && !is_closed; i++) {
    const AstBranch *branch = &statement->branches.data[i];
    Expr condition = EXPR_NONE;
    int known = branch->condition == AST_NONE ? 1 : run_condition(el, branch->condition, &condition);
    is_bad = is_bad || known == -2;
    if (known == 0 || known == -2) continue;
    is_closed = known == 1;
    OpenBranch open = {.condition = condition};
    el->guard = known == 1 ? rest : both(el, rest, condition);
    if (known != 1) rest = both(el, rest, dag_unary(el->dag, OP_NOT, condition));
    if (!el->when && branches.count + !is_closed) el->equations = &open.equations;
    run_equations(el, branch->body.data, branch->body.count);
    bool is_single = el->equations == outer;
    el->equations = outer;
    el->guard = guard;
    if (is_single && is_closed) break;
    vec_push(el->heap, &branches, open);
  }
  if (!is_closed && branches.count) vec_push(el->heap, &branches, (OpenBranch){.condition = EXPR_NONE});
  if (!is_bad && !el->when && branches.count) join_branches(el, &branches, statement->span);
  for (uint32_t i = 0; i < branches.count; i++) vec_free(el->heap, &branches.data[i].equations);
  vec_free(el->heap, &branches);
}

/* ---- when ---- */

/* Does the condition contain noEvent() of something continuous? Then its value changes without an event. Conditions nest no deeper
 * than the text. */
static bool is_without_events(const Elaboration *el, Expr e) {
  const Expr *parts;
  Op op = dag_op(el->dag, e);
  if (op == OP_NOEVENT) return dag_depends(el->dag, e, OP_VARIABLE) || dag_depends(el->dag, e, OP_TIME);
  if (op != OP_NOT && op != OP_AND && op != OP_OR) return false;
  uint32_t count = dag_arguments(el->dag, e, &parts);
  for (uint32_t i = 0; i < count; i++)
    if (is_without_events(el, parts[i])) return true;
  return false;
}

static bool when_conditions(Elaboration *el, const AstBranch *branch, WhenBranch *out) {
  Compiler *c = start(el);
  Span span = ast_span(el->ast, branch->condition);
  Type type = compile_expression(c, branch->condition, type_scalar(TYPE_BOOLEAN));
  if (c->errors == 0 && (type.base != TYPE_BOOLEAN || type.dimensions > 1))
    compile_error(c, span, "the condition of a when is %s, expected a Boolean", type_text(el, type));
  if (!run(el, c, span)) return false;
  const Value *value = machine_result(el->machine, 0);
  for (uint32_t i = 0; i < value->count; i++) {
    if (is_without_events(el, value_exprs(value)[i]))
      return input_error(el, span, "the condition of a when causes events: noEvent() is not allowed around it"), false;
    vec_push(el->heap, &out->conditions, value_exprs(value)[i]);
  }
  return true;
}

static bool assigns(const WhenBranch *branch, uint32_t target) {
  for (uint32_t i = 0; i < branch->actions.count; i++)
    if (branch->actions.data[i].kind == ACTION_ASSIGN && branch->actions.data[i].target == target) return true;
  return false;
}

/* All branches of a when determine the same variables (Modelica 3.6, section 8.3.5.2). */
static void check_branches(Elaboration *el, const When *when) {
  for (uint32_t k = 1; k < when->branches.count; k++) {
    const WhenBranch *pair[2] = {&when->branches.data[0], &when->branches.data[k]};
    for (uint32_t side = 0; side < 2; side++)
      for (uint32_t i = 0; i < pair[side]->actions.count; i++) {
        const Action *action = &pair[side]->actions.data[i];
        if (action->kind != ACTION_ASSIGN || assigns(pair[!side], action->target)) continue;
        input_error(
            el, action->span,
            "`%s` is determined in one branch of the when, and not in another: all must determine the same variables",
            model_name(el->model, action->target));
        return;
      }
  }
}

/* Is the condition of a when a Clock? This is decided from the text, because its type is known only when it runs. */
static bool is_clock(Elaboration *el, AstExpr e) {
  static const char *const names[] = {"Clock", "subSample", "superSample", "shiftSample", "backSample"};
  const Ast *ast = el->ast;
  if (e == AST_NONE || (ast_kind(ast, e) != AST_CALL && ast_kind(ast, e) != AST_REFERENCE)) return false;
  AstPath path = ast_path(ast, e);
  if (path.count != 1) return false;
  if (ast_kind(ast, e) == AST_CALL) {
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
      if (ast_path_is(ast, path, names[k])) return true;
    return false;
  }
  Name name = ast_part(ast, path, 0)->name;
  uint32_t component = component_find(el, name);
  IndexVec list = {0};
  if (component == NONE) stem_components(el, name, &list);
  if (list.count) component = list.data[0];
  vec_free(el->heap, &list);
  return component != NONE && el->components.data[component].type.base == TYPE_CLOCK;
}

/* Evaluates the clock of a when. The equations in it have that clock, and are not assignments. false after an error. */
static bool enter_clock(Elaboration *el, const AstStatement *statement) {
  const AstBranch *branch = &statement->branches.data[0];
  Span span = ast_span(el->ast, branch->condition);
  if (statement->branches.count > 1 || el->clock || el->guard != EXPR_NONE) {
    diag_error(el->diags, DIAG_CLOCK, statement->span, "a when with a clock %s",
               statement->branches.count > 1 ? "cannot have an elsewhen"
               : el->clock                   ? "cannot be in another one"
                                             : "is not allowed in an if whose condition is not known");
    return false;
  }
  Compiler *c = start(el);
  Type type = compile_expression(c, branch->condition, type_scalar(TYPE_CLOCK));
  if (c->errors == 0) compile_expect(c, type_scalar(TYPE_CLOCK), type, span, "the clock of a when");
  if (!run(el, c, span)) return false;
  el->clock = variable_of_leaf(el, value_exprs(machine_result(el->machine, 0))[0]) + 1;
  return true;
}

static void run_clocked(Elaboration *el, const AstStatement *statement) {
  if (!enter_clock(el, statement)) return;
  run_equations(el, statement->branches.data[0].body.data, statement->branches.data[0].body.count);
  el->clock = 0;
}

static void run_when(Elaboration *el, const AstStatement *statement) {
  When when = {.span = statement->span};
  if (!el->when && !el->is_initial && is_clock(el, statement->branches.data[0].condition)) {
    run_clocked(el, statement);
    return;
  }
  if (el->when || el->guard != EXPR_NONE || el->is_initial) {
    input_error(el, statement->span,
                el->when         ? "a when is not allowed in a when"
                : el->is_initial ? "a when is not allowed in an initial or final section"
                                 : "not supported yet: a when in an if whose condition is not known");
    return;
  }
  ActionVec *outer = el->actions;
  for (uint32_t i = 0; i < statement->branches.count; i++) {
    const AstBranch *branch = &statement->branches.data[i];
    WhenBranch out = {0};
    el->branch = 0;
    if (!when_conditions(el, branch, &out)) continue;
    ActionVec actions = {0};
    el->when = &when;
    el->in_when = true;
    el->actions = &actions;
    run_equations(el, branch->body.data, branch->body.count);
    el->when = NULL;
    el->in_when = false;
    el->actions = outer;
    out.mark = el->branch;
    out.actions.data = actions.data;
    out.actions.count = actions.count;
    out.actions.capacity = actions.capacity;
    vec_push(el->heap, &when.branches, out);
  }
  check_branches(el, &when);
  vec_push(el->heap, &el->model->whens, when);
}

/* Records nest no deeper than RECORD_DEPTH_LIMIT. */
static void mark_component(Elaboration *el, uint32_t number, bool in_algorithm) {
  Component *component = &el->components.data[number];
  component->is_when = true;
  component->is_held |= in_algorithm;
  for (uint32_t i = 0; component->is_view && i < el->model->records.data[component->type.definition].fields.count;
       i++) {
    uint32_t member = view_member(el, component, i);
    if (member != NONE) mark_component(el, member, in_algorithm);
  }
}

/* Marks components assigned in whens, by comparing names only. */
static void mark_reference(Elaboration *el, AstExpr e, bool in_algorithm) {
  const Ast *ast = el->ast;
  if (ast_kind(ast, e) == AST_TUPLE) {
    for (uint32_t i = 0; i < ast_kid_count(ast, e); i++)
      if (ast_kind(ast, ast_kid(ast, e, i)) == AST_REFERENCE) mark_reference(el, ast_kid(ast, e, i), in_algorithm);
    return;
  }
  if (ast_kind(ast, e) != AST_REFERENCE) return;
  Name name = ast_part(ast, ast_path(ast, e), 0)->name;
  uint32_t component = component_find(el, name);
  IndexVec list = {0};
  if (component != NONE) mark_component(el, component, in_algorithm);
  else stem_components(el, name, &list);
  for (uint32_t i = 0; i < list.count; i++) mark_component(el, list.data[i], in_algorithm);
  vec_free(el->heap, &list);
}

static bool is_event_when(Elaboration *el, const AstStatement *statement) {
  return statement->kind == AST_WHEN_BLOCK && !is_clock(el, statement->branches.data[0].condition);
}

static void mark_statements(Elaboration *el, const AstStatement *statements, uint32_t count, bool in_when,
                            uint32_t depth) {
  if (depth > BLOCK_DEPTH_LIMIT) return;
  for (uint32_t i = 0; i < count; i++) {
    const AstStatement *statement = &statements[i];
    if (in_when && (statement->kind == AST_EQUALITY || statement->kind == AST_ASSIGN))
      mark_reference(el, statement->left, statement->kind == AST_ASSIGN);
    for (uint32_t k = 0; k < statement->branches.count; k++)
      mark_statements(el, statement->branches.data[k].body.data, statement->branches.data[k].body.count,
                      in_when || is_event_when(el, statement), depth + 1);
  }
}

void when_mark(Elaboration *el, const AstClass *ast) {
  for (uint32_t i = 0; i < ast->sections.count; i++)
    mark_statements(el, ast->sections.data[i].body.data, ast->sections.data[i].body.count, false, 0);
}

/* ---- sections ---- */

/* e of integral(e); AST_NONE if it is something else. */
static AstExpr integrand(const Elaboration *el, AstExpr e) {
  bool is_integral = ast_kind(el->ast, e) == AST_CALL && ast_path_is(el->ast, ast_path(el->ast, e), "integral") &&
                     ast_kid_count(el->ast, e) == 1;
  return is_integral ? ast_kid(el->ast, e, 0) : AST_NONE;
}

/* A term integral(e) of the objective, or a constraint integral(g) = c: the left side is the integrand. */
static bool run_integral(Elaboration *el, const AstStatement *statement) {
  bool may_be = (statement->kind == AST_TERM && el->energy >= ENERGY_MINIMIZE) ||
                (statement->kind == AST_EQUALITY && el->energy == ENERGY_CONSTRAINT);
  AstExpr inner = may_be ? integrand(el, statement->left) : AST_NONE;
  if (inner == AST_NONE) return false;
  AstStatement stated = *statement;
  stated.left = inner;
  uint32_t first = el->equations->count;
  if (statement->kind == AST_TERM) run_term(el, &stated);
  else run_equality(el, &stated);
  for (uint32_t i = first; i < el->equations->count; i++) el->equations->data[i].is_integral = true;
  return true;
}

static void run_statement(Elaboration *el, const AstStatement *statement) {
  budget_place(heap_budget(el->heap), statement->span.begin, statement->span.end);
  el->comment = statement->comment;
  if (el->energy && (statement->kind == AST_WHEN_BLOCK || statement->kind == AST_INVOKE)) {
    input_error(el, statement->span, "this is not allowed in section `%s`", ast_energy_words[el->energy]);
    return;
  }
  if (el->energy && run_integral(el, statement)) return;
  switch (statement->kind) {
  case AST_TERM: run_term(el, statement); return;
  case AST_EQUALITY: run_equality(el, statement); return;
  case AST_INVOKE: run_invoke(el, statement); return;
  case AST_FOR_BLOCK: run_for(el, statement, 0); return;
  case AST_IF_BLOCK: run_if(el, statement); return;
  case AST_WHEN_BLOCK: run_when(el, statement); return;
  case AST_CONNECT: input_error(el, statement->span, "not supported yet: connect"); return;
  case AST_ASSIGN:
    input_error(el, statement->span, "an assignment is not allowed in an equation section; use =");
    return;
  case AST_WHILE_BLOCK:
  case AST_BREAK:
  case AST_RETURN: input_error(el, statement->span, "this statement is not allowed in an equation section"); return;
  }
}

/* Steps of work to compile an equation, in addition to its operations. */
enum { EQUATION_WORK = 60 };

static void run_equations(Elaboration *el, const AstStatement *statements, uint32_t count) {
  heap_work(el->heap, 1 + (uint64_t)count * EQUATION_WORK);
  if (el->depth >= BLOCK_DEPTH_LIMIT) {
    if (count) input_error(el, statements[0].span, "blocks are nested deeper than %d", BLOCK_DEPTH_LIMIT);
    return;
  }
  el->depth++;
  for (uint32_t i = 0; i < count; i++) run_statement(el, &statements[i]);
  el->depth--;
}

/* An algorithm that consists of one when with a clock is an algorithm of that clock. */
static void run_algorithm(Elaboration *el, const AstSection *section) {
  const AstStatement *only = section->body.count == 1 ? section->body.data : NULL;
  if (!only || only->kind != AST_WHEN_BLOCK || !is_clock(el, only->branches.data[0].condition)) {
    algorithm_elaborate(el, section);
    return;
  }
  AstSection inner = *section;
  inner.body.data = only->branches.data[0].body.data;
  inner.body.count = only->branches.data[0].body.count;
  if (!enter_clock(el, only)) return;
  algorithm_elaborate(el, &inner);
  el->clock = 0;
}

static Equation end_equation(Elaboration *el, const RawEquation *raw) {
  Equation equation = {.left = raw->left, .right = raw->right, .residual = EXPR_NONE, .span = raw->span};
  if (raw->base != TYPE_STRING) equation.residual = dag_subtract(el->dag, raw->left, raw->right);
  return equation;
}

static void add_initial(Elaboration *el, const EquationVec *list) {
  for (uint32_t i = 0; i < list->count; i++)
    vec_push(el->heap, &el->model->initial_equations, end_equation(el, &list->data[i]));
}

static bool is_initial_equation(const Elaboration *el, Expr left, Expr right) {
  for (uint32_t i = 0; i < el->model->initial_equations.count; i++) {
    const Equation *equation = &el->model->initial_equations.data[i];
    if (equation->left == left && equation->right == right) return true;
  }
  return false;
}

/* A reinit at the start is an initial equation (Modelica 3.6, section 8.6). The text of `flatten` has that equation already. */
static void add_initial_reinit(Elaboration *el, const Action *action) {
  Expr leaf = model_leaf(el->model, action->target, 0);
  if (action->guard != EXPR_NONE || dag_contains(el->dag, dag_scratch(el->dag), action->value, OP_LEFT)) {
    input_error(el, action->span, "not supported yet: a reinit under initial() that is in an if or depends on pre()");
    return;
  }
  if (is_initial_equation(el, leaf, action->value)) return;
  Equation equation = {.left = leaf,
                       .right = action->value,
                       .residual = dag_subtract(el->dag, leaf, action->value),
                       .span = action->span};
  vec_push(el->heap, &el->model->initial_equations, equation);
}

/* Of the branches of a when, the first with initial() fires at the start. */
static void add_initial_reinits(Elaboration *el, const When *when) {
  for (uint32_t b = 0; b < when->branches.count; b++) {
    const WhenBranch *branch = &when->branches.data[b];
    bool is_initial = false;
    for (uint32_t c = 0; c < branch->conditions.count; c++)
      is_initial = is_initial || dag_op(el->dag, branch->conditions.data[c]) == OP_INITIAL;
    for (uint32_t a = 0; is_initial && a < branch->actions.count; a++)
      if (branch->actions.data[a].kind == ACTION_REINIT) add_initial_reinit(el, &branch->actions.data[a]);
    if (is_initial) return;
  }
}

static void add_final(Elaboration *el, const EquationVec *list) {
  for (uint32_t i = 0; i < list->count; i++) {
    if (list->data[i].base > TYPE_INTEGER)
      input_error(el, list->data[i].span, "final equations must contain only numbers");
    else vec_push(el->heap, &el->model->final_equations, end_equation(el, &list->data[i]));
  }
}

/* Elaborates energy sections, those of constraints first, because the multipliers may be used in all others. */
static void elaborate_energies(Elaboration *el, const AstClass *ast) {
  EquationVec *outer = el->equations;
  for (AstEnergy energy = ENERGY_COUNT - 1; energy != ENERGY_NONE; energy--) {
    el->energy = energy;
    el->equations = &el->energies[energy];
    for (uint32_t i = 0; i < ast->sections.count; i++)
      if (ast->sections.data[i].energy == energy)
        run_equations(el, ast->sections.data[i].body.data, ast->sections.data[i].body.count);
    if (energy == ENERGY_CONSTRAINT) multipliers_declare(el);
  }
  el->energy = ENERGY_NONE;
  el->equations = outer;
}

/* An estimate of how many nodes an equation has, apart from variables. */
enum { NODES_PER_UNKNOWN = 2 };

void equations_elaborate(Elaboration *el, const AstClass *ast) {
  EquationVec *outer = el->equations, initial = {0}, final = {0};
  budget_task(heap_budget(el->heap), "the equations");
  dag_reserve(el->dag, NODES_PER_UNKNOWN * el->model->unknowns.count);
  elaborate_energies(el, ast);
  for (uint32_t i = 0; i < ast->sections.count; i++) {
    const AstSection *section = &ast->sections.data[i];
    if (section->energy) continue;
    el->is_initial = section->is_initial || section->is_final;
    el->state = section->state;
    el->equations = section->is_initial ? &initial : section->is_final ? &final : outer;
    if (section->is_algorithm) run_algorithm(el, section);
    else run_equations(el, section->body.data, section->body.count);
  }
  el->is_initial = true;
  el->equations = &final;
  run_equations(el, el->final_statements.data, el->final_statements.count);
  el->is_initial = false;
  el->state = 0;
  el->equations = outer;
  add_initial(el, &initial);
  for (uint32_t w = 0; w < el->model->whens.count; w++) add_initial_reinits(el, &el->model->whens.data[w]);
  add_final(el, &final);
  vec_free(el->heap, &initial, &final);
}
