/* state_transition: see state_machine.h. Transitions and initial states are recorded while the equations run. */
#include "lang/clock.h"
#include "lang/state_machine.h"

#include <string.h>

bool state_machine_is_call(const Elaboration *el, const AstStatement *statement) {
  if (statement->kind != AST_INVOKE || ast_kind(el->ast, statement->left) != AST_CALL) return false;
  AstPath path = ast_path(el->ast, statement->left);
  return ast_path_is(el->ast, path, "transition") || ast_path_is(el->ast, path, "initialState");
}

static Name state_name(const Elaboration *el, AstExpr e) {
  return ast_kind(el->ast, e) == AST_REFERENCE ? ast_part(el->ast, ast_path(el->ast, e), 0)->name : 0;
}

static void declare_state(Elaboration *el, AstExpr e) {
  Name state = state_name(el, e);
  if (state == 0) return;
  const char *text = arena_printf(&el->arena, "activeState(%s)", names_text(el->names, state));
  Name name = names_add(el->names, text, strlen(text));
  if (component_find(el, name) == NONE) component_add_derived(el, name, TYPE_BOOLEAN, 0, ast_span(el->ast, e));
}

void states_declare(Elaboration *el, const AstClass *ast) {
  for (uint32_t i = 0; i < ast->sections.count; i++)
    for (uint32_t k = 0; k < ast->sections.data[i].body.count; k++) {
      const AstStatement *statement = &ast->sections.data[i].body.data[k];
      if (!state_machine_is_call(el, statement)) continue;
      for (uint32_t a = 0; a < ast_kid_count(el->ast, statement->left) && a < 2; a++)
        declare_state(el, ast_kid(el->ast, statement->left, a));
    }
}

/* The argument of a call, by name or position; AST_NONE: not given. */
static AstExpr argument(const Elaboration *el, AstExpr call, const char *name, uint32_t position) {
  uint32_t labels = ast_label_count(el->ast, call), positional = ast_kid_count(el->ast, call) - labels;
  if (position < positional) return ast_kid(el->ast, call, position);
  for (uint32_t i = 0; i < labels; i++)
    if (strcmp(names_text(el->names, ast_label(el->ast, call, i).name), name) == 0)
      return ast_kid(el->ast, call, positional + i);
  return AST_NONE;
}

/* The value of an argument that must be known now. */
static int64_t setting(Elaboration *el, AstExpr call, const char *name, uint32_t position, BaseType base,
                       int64_t otherwise, StateRun *run) {
  AstExpr e = argument(el, call, name, position);
  double value;
  if (e == AST_NONE) return otherwise;
  Expr found = run(el, e, type_scalar(base));
  if (found == EXPR_NONE) return otherwise;
  if (dag_is_constant(el->dag, found, &value)) return (int64_t)value;
  diag_error(el->diags, DIAG_CLOCK, ast_span(el->ast, e), "`%s` of a transition must be a constant", name);
  return otherwise;
}

static void note_transition(Elaboration *el, AstExpr call, StateRun *run) {
  Transition transition = {.ticks = NONE, .time = NONE, .span = ast_span(el->ast, call)};
  AstExpr from = argument(el, call, "from", 0), to = argument(el, call, "to", 1);
  AstExpr condition = argument(el, call, "condition", 2);
  if (from == AST_NONE || to == AST_NONE || condition == AST_NONE || !state_name(el, from) || !state_name(el, to)) {
    diag_error(el->diags, DIAG_CLOCK, transition.span, "a transition is written transition(from, to, condition, ...)");
    return;
  }
  transition.from = state_name(el, from);
  transition.to = state_name(el, to);
  transition.is_immediate = setting(el, call, "immediate", 3, TYPE_BOOLEAN, 1, run);
  transition.is_reset = setting(el, call, "reset", 4, TYPE_BOOLEAN, 1, run);
  transition.is_synchronized = setting(el, call, "synchronize", 5, TYPE_BOOLEAN, 0, run);
  transition.priority = setting(el, call, "priority", 6, TYPE_INTEGER, 1, run);
  el->transition = &transition;
  transition.condition = run(el, condition, type_scalar(TYPE_BOOLEAN));
  el->transition = NULL;
  if (transition.condition != EXPR_NONE) vec_push(el->heap, &el->transitions, transition);
}

void state_machine_note(Elaboration *el, const AstStatement *statement, StateRun *run) {
  AstExpr call = statement->left;
  if (ast_path_is(el->ast, ast_path(el->ast, call), "transition")) {
    note_transition(el, call, run);
    return;
  }
  AstExpr state = argument(el, call, "state", 0);
  if (state == AST_NONE || !state_name(el, state))
    diag_error(el->diags, DIAG_CLOCK, statement->span, "an initial state is written initialState(state)");
  else vec_push(el->heap, &el->initial_states, (AstLabel){state_name(el, state), statement->span});
}

Expr state_duration(Elaboration *el, Special special, Span span) {
  bool is_ticks = special == SPECIAL_TICKS_IN_STATE;
  if (!el->transition) {
    diag_error(el->diags, DIAG_CLOCK, span, "`%s` is only allowed in the condition of a transition",
               is_ticks ? "ticksInState" : "timeInState");
    return EXPR_NONE;
  }
  uint32_t *variable = is_ticks ? &el->transition->ticks : &el->transition->time;
  if (*variable == NONE)
    *variable = clock_variable(el, is_ticks ? "ticksInState()" : "timeInState()", is_ticks ? TYPE_INTEGER : TYPE_REAL,
                               EXPR_NONE, span);
  return model_leaf(el->model, *variable, 0);
}
