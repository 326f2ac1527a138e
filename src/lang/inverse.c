/* inverse: annotation(inverse(x = g(...))) of a function f says that g solves y = f(..., x, ...) for x (Modelica Language
 * Specification 3.6, section 12.8).
 *
 * The expression g(...) becomes a routine whose inputs are those of f and its output y. Calls of f are noted by their values, which
 * are unique in the graph. If one side of an equation is such a value, and x is an unknown, the equation gets the inversion x =
 * g(...). The structure decides whether it is used (array/inverse.h). */
#include "lang/elaborate.h"

typedef struct InvertibleCall {
  const Routine *routine;
  Shape *shapes; /* of the inputs */
  Expr *scalars; /* scalars of the inputs, in order */
} InvertibleCall;

static bool is_real_number(const Local *local) { return local->type.base == TYPE_REAL && !local->type.dimensions; }

/* ---- declarations ---- */

static Routine *compile_inverse(Elaboration *el, const Routine *routine, Name scope, AstExpr value) {
  Routine *inverse = heap_alloc(el->heap, sizeof *inverse);
  inverse->name = routine->name;
  inverse->span = ast_span(el->ast, value);
  inverse->inputs = routine->inputs + 1;
  Compiler c = compiler_make(el, inverse, &el->quiet, scope);
  c.is_function = true;
  for (uint32_t i = 0; i < inverse->inputs; i++) {
    const Local *local = &routine->locals.data[i];
    vec_push(el->heap, &inverse->locals, *local);
    vec_push(el->heap, &c.names, (ScopeName){.name = local->name, .slot = i, .type = local->type});
  }
  compile_emit(&c, CODE_BODY, 0, 0, inverse->span);
  bool fits = type_is_number(compile_expression(&c, value, type_scalar(TYPE_REAL))) && c.errors == 0;
  compiler_free(&c);
  return fits ? inverse : NULL;
}

void inverse_read(Elaboration *el, Routine *routine, Name scope, const AstModification *annotation) {
  bool fits =
      routine->kind == ROUTINE_CODE && routine->outputs == 1 && is_real_number(&routine->locals.data[routine->inputs]);
  for (uint32_t i = 0; annotation && fits && i < annotation->arguments.count; i++) {
    const AstArgument *argument = &annotation->arguments.data[i];
    if (!argument->modification || !ast_path_is(el->ast, argument->name, "inverse")) continue;
    for (uint32_t k = 0; k < argument->modification->arguments.count; k++) {
      const AstArgument *given = &argument->modification->arguments.data[k];
      if (!given->modification || given->modification->value == AST_NONE || given->name.count != 1) continue;
      uint32_t input = routine_input(routine, ast_part(el->ast, given->name, 0)->name);
      if (input == NONE || !is_real_number(&routine->locals.data[input])) continue;
      Routine *inverse = compile_inverse(el, routine, scope, given->modification->value);
      if (inverse) vec_push(el->heap, &routine->inverses, ((Inverse){input, inverse}));
    }
  }
}

/* ---- calls ---- */

/* Is the expression an unknown, not differentiated? */
static bool is_unknown(const Elaboration *el, Expr e) {
  return dag_op(el->dag, e) == OP_VARIABLE && dag_order(el->dag, e) == 0;
}

void inverse_note(Elaboration *el, const Routine *routine, const Value *slots) {
  Expr value = value_exprs(&slots[routine->inputs])[0];
  bool is_used = false;
  for (uint32_t k = 0; k < routine->inverses.count; k++)
    is_used = is_used || is_unknown(el, value_exprs(&slots[routine->inverses.data[k].input])[0]);
  if (!is_used || el->mode != LOAD_LEAVES || !dag_depends(el->dag, value, OP_VARIABLE)) return;
  if (map_get(&el->invertible_of, value) != MAP_NONE) return;
  InvertibleCall call = {.routine = routine};
  uint32_t count = 0;
  for (uint32_t i = 0; i < routine->inputs; i++) count += value_scalars(&slots[i], el->record_list);
  call.shapes = arena_array(&el->arena, routine->inputs, sizeof *call.shapes);
  call.scalars = arena_array(&el->arena, count, sizeof *call.scalars);
  count = 0;
  for (uint32_t i = 0; i < routine->inputs; i++) {
    call.shapes[i] = shape_of_value(el->heap, el->record_list, &slots[i]);
    value_flatten(&el->domain, &slots[i], el->record_list, (char *)(call.scalars + count));
    count += call.shapes[i].scalars;
  }
  map_put(&el->invertible_of, value, el->invertible.count);
  vec_push(el->heap, &el->invertible, call);
}

/* The value of g(...) where y has this value; EXPR_NONE: it cannot be computed. */
static Expr run_inverse(Elaboration *el, const InvertibleCall *call, const Routine *inverse, Expr y) {
  Value *inputs = arena_array(&el->arena, inverse->inputs, sizeof *inputs);
  uint32_t count = 0, effects = el->actions ? el->actions->count : 0;
  for (uint32_t i = 0; i + 1 < inverse->inputs; i++) {
    inputs[i] = value_of_shape(&el->arena, el->record_list, &call->shapes[i], sizeof(Expr));
    value_unflatten(&el->domain, &inputs[i], el->record_list, (const char *)(call->scalars + count));
    count += call->shapes[i].scalars;
  }
  inputs[inverse->inputs - 1] = (Value){.type = type_scalar(TYPE_REAL), .count = 1, .data = (char *)&y};
  LoadMode mode = el->mode;
  el->mode = LOAD_LEAVES;
  machine_set_diags(el->machine, &el->quiet);
  bool is_run = machine_run(el->machine, inverse, inputs, inverse->inputs) == EXECUTE_OK;
  Expr value = is_run ? value_exprs(machine_result(el->machine, 0))[0] : EXPR_NONE;
  machine_set_diags(el->machine, el->diags);
  el->mode = mode;
  if (el->actions) el->actions->count = effects; /* what g asserts is not part of the model */
  return value;
}

static void invert(Elaboration *el, Expr value, Expr y) {
  uint32_t found = map_get(&el->invertible_of, value);
  if (found == MAP_NONE) return;
  InvertibleCall call = el->invertible.data[found];
  for (uint32_t k = 0; k < call.routine->inverses.count; k++) {
    const Inverse *inverse = &call.routine->inverses.data[k];
    uint32_t at = 0;
    for (uint32_t i = 0; i < inverse->input; i++) at += call.shapes[i].scalars;
    if (!is_unknown(el, call.scalars[at])) continue;
    Inversion inversion = {el->model->equations.count, call.scalars[at], run_inverse(el, &call, inverse->routine, y)};
    if (inversion.value != EXPR_NONE) vec_push(el->heap, &el->model->inversions, inversion);
  }
}

void inverse_use(Elaboration *el, Expr left, Expr right) {
  if (!el->invertible.count) return;
  invert(el, right, left);
  invert(el, left, right);
}
