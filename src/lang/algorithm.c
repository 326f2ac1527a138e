/* algorithm: algorithm sections. The variables that a section assigns are slots of its code. Running the code symbolically gives
 * their values, and so equations. When-statements of the section become whens of the model (see also procedure.c).
 *
 * Invariant: before the section runs, a slot holds pre(v) of a discrete variable, the start value of a continuous one, or
 * previous(v) in a section that has a clock (Modelica 3.6, section 11.1.2). */
#include "lang/algorithm.h"
#include "lang/clock.h"

#include <string.h>

/* The value that a branch of a when gives to a variable that is also assigned outside of whens. */
typedef struct Change {
  Expr leaf, fired, value;
} Change;

struct Algorithm {
  bool has_blocks; /* it has ifs or loops, which may leave a variable unchanged */
  VEC(Assigned) assigned;
  When when;
  ActionVec actions;
  ActionVec *outer;
  Map targets;         /* variables that whens assign */
  Expr count;          /* how often the open branch fired; EXPR_NONE: not needed so far */
  VEC(Change) changes; /* changes of the open when */
};

/* ---- when-statements, as the machine executes them ---- */

static void add_assignment(Elaboration *el, uint32_t target, Expr value, Span span) {
  Action action = {
      .kind = ACTION_ASSIGN, .guard = EXPR_NONE, .target = target, .value = value, .message = EXPR_NONE, .span = span};
  vec_push(el->heap, el->actions, action);
}

/* Ends the open branch. If a value depends on whether the branch fires, the branch counts how often it fires. */
static void close_branch(Elaboration *el) {
  struct Algorithm *algorithm = el->algorithm;
  if (algorithm->when.branches.count == 0) return;
  if (algorithm->count != EXPR_NONE) {
    Expr before = dag_pre(el->dag, dag_index(el->dag, algorithm->count));
    add_assignment(el, variable_of_leaf(el, algorithm->count), dag_add(el->dag, before, dag_constant(el->dag, 1)),
                   algorithm->when.span);
  }
  WhenBranch *branch = &vec_last(&algorithm->when.branches);
  branch->mark = el->branch;
  branch->actions.data = algorithm->actions.data;
  branch->actions.count = algorithm->actions.count;
  branch->actions.capacity = algorithm->actions.capacity;
  algorithm->actions = (ActionVec){0};
}

bool algorithm_when_begin(void *context, bool is_first, const Value *condition, Span span) {
  Elaboration *el = context;
  struct Algorithm *algorithm = el->algorithm;
  WhenBranch branch = {0};
  if (!algorithm || el->is_initial || (is_first && el->in_when))
    return input_error(el, span, "a when is not allowed here"), false;
  if (is_first) {
    algorithm->when = (When){.algorithm = el->sections, .span = span};
    algorithm->outer = el->actions;
  } else close_branch(el);
  algorithm->count = EXPR_NONE;
  for (uint32_t i = 0; i < condition->count; i++) vec_push(el->heap, &branch.conditions, value_exprs(condition)[i]);
  vec_push(el->heap, &algorithm->when.branches, branch);
  el->in_when = true;
  el->branch = 0;
  el->actions = &algorithm->actions;
  return true;
}

static const Assigned *assigned_of_slot(const Elaboration *el, uint32_t slot) {
  for (uint32_t i = 0; el->algorithm && i < el->algorithm->assigned.count; i++)
    if (el->algorithm->assigned.data[i].slot == slot) return &el->algorithm->assigned.data[i];
  return NULL;
}

/* Does the open branch fire at this event? The branch fires if its count has just grown. */
static Expr branch_fires(Elaboration *el, Span span) {
  struct Algorithm *algorithm = el->algorithm;
  Dag *dag = el->dag;
  if (algorithm->count == EXPR_NONE) {
    uint32_t variable = clock_variable(el, "fired", TYPE_INTEGER, dag_constant(dag, 0), span);
    el->model->variables.data[variable].is_hidden = true;
    algorithm->count = model_leaf(el->model, variable, 0);
  }
  return dag_binary(dag, OP_GREATER, algorithm->count, dag_pre(dag, dag_index(dag, algorithm->count)));
}

static bool assign_leaves(Elaboration *el, const Value *leaves, const Value *before, const Value *after,
                          const Assigned *assigned, Span span) {
  if (leaves->type.base == TYPE_RECORD) {
    for (uint32_t i = 0; i < el->model->records.data[leaves->type.definition].fields.count; i++)
      if (!assign_leaves(el, &leaves->fields[i], &before->fields[i], &after->fields[i], assigned, span)) return false;
    return true;
  }
  for (uint32_t i = 0; i < leaves->count; i++) {
    Expr leaf = value_exprs(leaves)[i], old = value_exprs(before)[i], value = value_exprs(after)[i];
    if (old == value) continue;
    if (dag_op(el->dag, leaf) != OP_DISCRETE)
      return input_error(el, span, "a variable assigned in a when must be discrete"), false;
    if (assigned->is_followed) {
      Change change = {leaf, branch_fires(el, span), value};
      vec_push(el->heap, &el->algorithm->changes, change);
    }
    if (assigned->outside) continue;
    add_assignment(el, variable_of_leaf(el, leaf), value, span);
    map_put(&el->algorithm->targets, variable_of_leaf(el, leaf), 0);
  }
  return true;
}

bool algorithm_when_assign(void *context, uint32_t slot, const Value *before, const Value *after, Span span) {
  Elaboration *el = context;
  const Assigned *assigned = assigned_of_slot(el, slot);
  return !assigned ||
         assign_leaves(el, &el->components.data[assigned->component].leaves, before, after, assigned, span);
}

/* The value that the branches of the when give to the leaf if they fire; otherwise the value before. */
static Expr changed_value(const Elaboration *el, Expr leaf, Expr value) {
  const struct Algorithm *algorithm = el->algorithm;
  for (uint32_t i = algorithm->changes.count; i-- > 0;) {
    const Change *change = &algorithm->changes.data[i];
    if (change->leaf == leaf) value = dag_if(el->dag, change->fired, change->value, value);
  }
  return value;
}

/* After the when, a variable that it assigns has its new value. That is its leaf; if other statements assign or read the variable,
 * it is an expression for the value at this point. */
static void bind_leaves(Elaboration *el, const Value *leaves, bool is_followed, Value *value) {
  if (leaves->type.base == TYPE_RECORD) {
    for (uint32_t i = 0; i < el->model->records.data[leaves->type.definition].fields.count; i++)
      bind_leaves(el, &leaves->fields[i], is_followed, &value->fields[i]);
    return;
  }
  for (uint32_t i = 0; i < leaves->count; i++) {
    Expr leaf = value_exprs(leaves)[i], now = leaf;
    if (is_followed) now = changed_value(el, leaf, value_exprs(value)[i]);
    else if (map_get(&el->algorithm->targets, variable_of_leaf(el, leaf)) == MAP_NONE) continue;
    memcpy(value->data + i * sizeof now, &now, sizeof now);
  }
}

void algorithm_when_bind(void *context, uint32_t slot, Value *value) {
  Elaboration *el = context;
  const Assigned *assigned = assigned_of_slot(el, slot);
  if (assigned) bind_leaves(el, &el->components.data[assigned->component].leaves, assigned->is_followed, value);
}

void algorithm_when_end(void *context) {
  Elaboration *el = context;
  struct Algorithm *algorithm = el->algorithm;
  close_branch(el);
  el->in_when = false;
  el->actions = algorithm->outer;
  vec_push(el->heap, &el->model->whens, algorithm->when);
  algorithm->when = (When){0};
  algorithm->changes.count = 0;
}

/* ---- what a section assigns ---- */

static void add_component(Elaboration *el, struct Algorithm *algorithm, Assigned added) {
  if (el->components.data[added.component].progress != PROGRESS_DONE) return;
  for (uint32_t i = 0; i < algorithm->assigned.count; i++) {
    Assigned *assigned = &algorithm->assigned.data[i];
    if (assigned->component != added.component) continue;
    assigned->is_whole = assigned->is_whole || added.is_whole;
    assigned->in_when = assigned->in_when || added.in_when;
    assigned->outside = assigned->outside || added.outside;
    assigned->last = added.last;
    return;
  }
  vec_push(el->heap, &algorithm->assigned, added);
}

static void add_assigned(Elaboration *el, struct Algorithm *algorithm, AstExpr e, bool in_when, uint32_t place) {
  const Ast *ast = el->ast;
  if (ast_kind(ast, e) == AST_TUPLE) {
    for (uint32_t i = 0; i < ast_kid_count(ast, e); i++)
      if (ast_kind(ast, ast_kid(ast, e, i)) == AST_REFERENCE)
        add_assigned(el, algorithm, ast_kid(ast, e, i), in_when, place);
    return;
  }
  if (ast_kind(ast, e) != AST_REFERENCE) return;
  Name name = ast_part(ast, ast_path(ast, e), 0)->name;
  uint32_t component = component_find(el, name);
  IndexVec list = {0};
  if (component != NONE) vec_push(el->heap, &list, component);
  else stem_components(el, name, &list);
  bool is_whole = ast_path(ast, e).count == 1 && ast_kid_count(ast, e) == 0;
  for (uint32_t i = 0; i < list.count; i++)
    add_component(el, algorithm, (Assigned){list.data[i], NONE, is_whole, in_when, !in_when, false, place, place});
  vec_free(el->heap, &list);
}

/* The variables that a statement of the section, or one nested in it, assigns. */
static void find_assigned(Elaboration *el, struct Algorithm *algorithm, const AstStatement *statement, bool in_when,
                          uint32_t place, uint32_t depth) {
  if (depth > BLOCK_DEPTH_LIMIT) return;
  in_when = in_when || statement->kind == AST_WHEN_BLOCK;
  if (statement->kind == AST_ASSIGN) add_assigned(el, algorithm, statement->left, in_when, place);
  for (uint32_t k = 0; k < statement->branches.count; k++)
    for (uint32_t i = 0; i < statement->branches.data[k].body.count; i++)
      find_assigned(el, algorithm, &statement->branches.data[k].body.data[i], in_when, place, depth + 1);
}

/* If several whens assign a variable, a statement between them that is outside of whens reads the value at that point, not the
 * final one. In a section of whens only, their order ensures this (array/logic.c). */
static void find_followed(struct Algorithm *algorithm, const AstSection *section) {
  bool has_others = false;
  for (uint32_t i = 0; i < section->body.count; i++)
    has_others = has_others || section->body.data[i].kind != AST_WHEN_BLOCK;
  for (uint32_t i = 0; i < algorithm->assigned.count; i++) {
    Assigned *assigned = &algorithm->assigned.data[i];
    bool is_read = assigned->outside || (has_others && assigned->first < assigned->last);
    assigned->is_followed = assigned->in_when && is_read;
  }
}

/* ---- values before the section runs ---- */

static Expr initial_expr(Elaboration *el, Expr leaf, Span span) {
  const Variable *variable = &el->model->variables.data[variable_of_leaf(el, leaf)];
  Expr before;
  if (el->is_clocked)
    return clock_operator(el, SPECIAL_PREVIOUS, type_scalar(variable->type), &leaf, 1, span, &before), before;
  if (variable->role == ROLE_DISCRETE) return dag_pre(el->dag, variable->index);
  if (variable->start != EXPR_NONE) return variable->start;
  return variable->type == TYPE_STRING ? dag_string(el->dag, 0) : dag_constant(el->dag, 0);
}

static Value initial_value(Elaboration *el, const Value *leaves, Span span, Arena *arena) {
  Value value = *leaves;
  if (leaves->type.base == TYPE_RECORD) {
    uint32_t count = el->model->records.data[leaves->type.definition].fields.count;
    value.fields = arena_array(arena, count, sizeof *value.fields);
    for (uint32_t i = 0; i < count; i++) value.fields[i] = initial_value(el, &leaves->fields[i], span, arena);
    return value;
  }
  value.data = arena_array(arena, leaves->count, sizeof(Expr));
  for (uint32_t i = 0; i < leaves->count; i++) {
    Expr e = initial_expr(el, value_exprs(leaves)[i], span);
    memcpy(value.data + i * sizeof e, &e, sizeof e);
  }
  return value;
}

static Value zeros(Elaboration *el, const Value *leaves, Arena *arena) {
  Value value = *leaves;
  Expr zero = dag_constant(el->dag, 0);
  if (leaves->type.base == TYPE_RECORD) {
    uint32_t count = el->model->records.data[leaves->type.definition].fields.count;
    value.fields = arena_array(arena, count, sizeof *value.fields);
    for (uint32_t i = 0; i < count; i++) value.fields[i] = zeros(el, &leaves->fields[i], arena);
    return value;
  }
  value.data = arena_array(arena, leaves->count, sizeof zero);
  for (uint32_t i = 0; i < leaves->count; i++) memcpy(value.data + i * sizeof zero, &zero, sizeof zero);
  return value;
}

/* ---- results ---- */

/* Is the value the one that the discrete variable had before? A when may assign pre(v). */
static bool is_kept(const Elaboration *el, Expr leaf, Expr value) {
  return dag_op(el->dag, leaf) == OP_DISCRETE && value == dag_pre(el->dag, dag_index(el->dag, leaf));
}

/* An element gets an equation if it was assigned, by itself or with the whole array, unless whens determine it. An element that is
 * assigned only `in_whens`, but got no value there, keeps its value, as with x := pre(x). */
static void add_results(Elaboration *el, const Value *leaves, const Value *assigned, const Value *after, bool is_whole,
                        bool in_whens, Span span) {
  if (leaves->type.base == TYPE_RECORD) {
    for (uint32_t i = 0; i < el->model->records.data[leaves->type.definition].fields.count; i++)
      add_results(el, &leaves->fields[i], &assigned->fields[i], &after->fields[i], is_whole, in_whens, span);
    return;
  }
  for (uint32_t i = 0; i < leaves->count; i++) {
    Expr leaf = value_exprs(leaves)[i], value = value_exprs(after)[i];
    bool is_assigned = value_exprs(assigned)[i] != dag_constant(el->dag, 0) && !is_kept(el, leaf, value);
    bool by_when = map_get(&el->algorithm->targets, variable_of_leaf(el, leaf)) != MAP_NONE;
    if (by_when || (!is_whole && !is_assigned)) continue;
    RawEquation equation = {.left = leaf,
                            .right = value,
                            .base = (BaseType)leaves->type.base,
                            .span = span,
                            .clock = el->clock,
                            .state = el->state,
                            .is_made = in_whens,
                            .is_unclocked = !el->is_clocked && el->algorithm->has_blocks};
    vec_push(el->heap, el->equations, equation);
  }
}

static Span assignment_span(const Routine *routine, uint32_t slot) {
  for (uint32_t i = routine->code.count; i-- > 0;)
    if (routine->code.data[i].code == CODE_STORE && routine->extra.data[routine->code.data[i].b] == slot)
      return routine->spans.data[i];
  return routine->span;
}

/* false: an error is in diags, or the section is a procedure that is called during the run. */
static bool run_section(Elaboration *el, struct Algorithm *algorithm, Routine *routine, const AstSection *section) {
  Arena arena = arena_make(el->heap);
  uint32_t count = algorithm->assigned.count;
  Preset *presets = arena_array(&arena, count, sizeof *presets);
  for (uint32_t i = 0; i < count; i++) {
    const Value *leaves = &el->components.data[algorithm->assigned.data[i].component].leaves;
    presets[i] = (Preset){algorithm->assigned.data[i].slot, initial_value(el, leaves, section->span, &arena),
                          zeros(el, leaves, &arena)};
  }
  routine->presets = presets;
  routine->preset_count = count;
  ExecuteStatus status = run_code(el, routine, LOAD_LEAVES, el->diags);
  if (status == EXECUTE_UNKNOWN) procedure_make(el, section, routine, algorithm->assigned.data, count);
  for (uint32_t i = 0; i < count && status == EXECUTE_OK; i++) {
    const Component *component = &el->components.data[algorithm->assigned.data[i].component];
    uint32_t slot = algorithm->assigned.data[i].slot;
    bool is_scalar = component->leaves.count == 1 && component->type.base != TYPE_RECORD;
    add_results(el, &component->leaves, &presets[i].assigned, machine_slot(el->machine, slot),
                is_scalar || algorithm->assigned.data[i].is_whole, !algorithm->assigned.data[i].outside,
                assignment_span(routine, slot));
  }
  if (el->in_when) algorithm_when_end(el);
  arena_free(&arena);
  return status == EXECUTE_OK;
}

/* ---- clocks ---- */

/* Does the expression call an operator that exists only for clocked variables? */
static bool is_clocked(const Ast *ast, AstExpr e) {
  static const char *const names[] = {"previous",    "interval",    "firstTick",  "subSample",
                                      "superSample", "shiftSample", "backSample", "noClock"};
  if (e == AST_NONE) return false;
  for (AstExpr i = ast_first(ast, e); i <= e; i++)
    for (size_t k = 0; k < sizeof names / sizeof *names && ast_kind(ast, i) == AST_CALL; k++)
      if (ast_path_is(ast, ast_path(ast, i), names[k])) return true;
  return false;
}

static bool holds_clocked(const Ast *ast, const AstStatement *statements, uint32_t count, uint32_t depth) {
  for (uint32_t i = 0; i < count && depth < BLOCK_DEPTH_LIMIT; i++) {
    if (is_clocked(ast, statements[i].left) || is_clocked(ast, statements[i].right)) return true;
    for (uint32_t k = 0; k < statements[i].branches.count; k++) {
      const AstBranch *branch = &statements[i].branches.data[k];
      if (is_clocked(ast, branch->condition)) return true;
      if (holds_clocked(ast, branch->body.data, branch->body.count, depth + 1)) return true;
    }
  }
  return false;
}

/* Is this a call of an operator that makes an action? */
static bool makes_action(const Elaboration *el, AstExpr call) {
  static const char *const names[] = {"assert", "terminate", "reinit"};
  const AstNode *node = ast_node(el->ast, call);
  if (node->kind != AST_CALL || node->extra_count != 1) return false;
  const char *name = names_text(el->names, el->ast->parts.data[node->extra].name);
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (strcmp(name, names[k]) == 0) return true;
  return false;
}

void algorithm_warn_of_call(Elaboration *el, const Routine *code, const AstStatement *statement, bool is_made) {
  if (!makes_action(el, statement->left) && !(is_made && symbolic_calls_act(el, code, statement->span)))
    diag_warning(el->diags, DIAG_WARNING, statement->span,
                 "this call returns nothing; assertions in it are kept, but other effects are left out");
}

static void warn_of_calls(Elaboration *el, const Routine *code, const AstStatement *statements, uint32_t count,
                          bool is_made, uint32_t depth) {
  for (uint32_t i = 0; i < count && depth < BLOCK_DEPTH_LIMIT; i++) {
    if (statements[i].kind == AST_INVOKE) algorithm_warn_of_call(el, code, &statements[i], is_made);
    for (uint32_t k = 0; k < statements[i].branches.count; k++)
      warn_of_calls(el, code, statements[i].branches.data[k].body.data, statements[i].branches.data[k].body.count,
                    is_made || statements[i].kind == AST_WHEN_BLOCK, depth + 1);
  }
}

void algorithm_elaborate(Elaboration *el, const AstSection *section) {
  el->is_clocked = !section->is_initial &&
                   (el->clock || section->state || holds_clocked(el->ast, section->body.data, section->body.count, 0));
  struct Algorithm algorithm = {.targets = map_make(el->heap)};
  for (uint32_t i = 0; i < section->body.count; i++)
    algorithm.has_blocks = algorithm.has_blocks || section->body.data[i].branches.count;
  Routine routine = {.span = section->span};
  Compiler c = compiler_make(el, &routine, el->diags, el->scope);
  for (uint32_t i = 0; i < section->body.count; i++) find_assigned(el, &algorithm, &section->body.data[i], false, i, 0);
  find_followed(&algorithm, section);
  c.has_slots = true;
  c.slots = map_make(el->heap);
  for (uint32_t i = 0; i < algorithm.assigned.count; i++) {
    const Component *component = &el->components.data[algorithm.assigned.data[i].component];
    algorithm.assigned.data[i].slot =
        compile_local(&c, component->name, component->type, component->element->component->label.span);
    map_put(&c.slots, algorithm.assigned.data[i].component, algorithm.assigned.data[i].slot);
  }
  compile_statements(&c, section->body.data, section->body.count);
  el->algorithm = &algorithm;
  el->sections++;
  if (c.errors == 0 && run_section(el, &algorithm, &routine, section))
    warn_of_calls(el, &routine, section->body.data, section->body.count, section->is_initial, 0);
  el->algorithm = NULL;
  el->is_clocked = false;
  compiler_free(&c);
  routine_free(el->heap, &routine);
  vec_free(el->heap, &algorithm.changes);
  map_free(&algorithm.targets);
  vec_free(el->heap, &algorithm.assigned);
}
