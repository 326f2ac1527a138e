/* derivative: function g = der(f, x, y), the partial derivative of all outputs of f with respect to its inputs x and y (Modelica
 * 3.6, section 12.7.2).
 *
 * The routine of g has the same slots as f, and the part of f's code before the body: it sets defaults and sizes. A call of g runs
 * f on leaves that stand for x and y, and differentiates the results. If f cannot be inlined, g becomes a call of f with partials. */
#include "lang/elaborate.h"

#include <string.h>

enum { PARTIALS_LIMIT = 10 };

typedef VEC(AstLabel) LabelVec;

/* ---- declarations ---- */

/* Finds the function that g is derived from, and the names of the inputs; NULL after an error. */
static ClassEntry *find_base(Elaboration *el, ClassEntry *entry, LabelVec *labels) {
  ClassEntry *next = entry;
  for (uint32_t steps = 0;; steps++) {
    const AstClass *ast = next->ast;
    if (ast->form != FORM_DERIVATIVE && ast->form != FORM_SHORT) return next;
    for (uint32_t i = 0; i < ast->literals.count && ast->form == FORM_DERIVATIVE; i++)
      vec_push(el->heap, labels, ast->literals.data[i].label);
    ClassEntry *base = class_find(el, next->scope, ast->base.name);
    if (!base || base->role != ROLE_CLASS_FUNCTION) {
      input_error(el, ast->base.name.span, "function `%s` is not defined",
                  ast_path_text(el->ast, ast->base.name, &el->arena));
      return NULL;
    }
    if (labels->count > PARTIALS_LIMIT || steps > el->classes.count) {
      input_error(el, entry->ast->label.span, "`%s` is a derivative of itself, or of more than the tenth order",
                  names_text(el->names, entry->ast->label.name));
      return NULL;
    }
    next = base;
  }
}

/* The slot of a scalar Real input; NONE after an error. */
static uint32_t find_input(Elaboration *el, const Routine *base, AstLabel label) {
  const char *function = names_text(el->names, base->name), *name = names_text(el->names, label.name);
  for (uint32_t slot = 0; slot < base->inputs; slot++) {
    const Local *local = &base->locals.data[slot];
    if (local->name != label.name) continue;
    if (local->type.base == TYPE_REAL && !local->type.dimensions) return slot;
    input_error(el, label.span, "input `%s` of function `%s` is %s, but a derivative needs a Real number", name,
                function, type_text(el, local->type));
    return NONE;
  }
  input_error(el, label.span, "function `%s` has no input `%s`", function, name);
  return NONE;
}

static bool check_outputs(Elaboration *el, const Routine *base, Span span) {
  for (uint32_t i = 0; i < base->outputs; i++)
    if (base->locals.data[base->inputs + i].type.base != TYPE_REAL) {
      input_error(el, span, "output `%s` of function `%s` is not a Real and has no derivative",
                  names_text(el->names, base->locals.data[base->inputs + i].name), names_text(el->names, base->name));
      return false;
    }
  return true;
}

bool derivative_declare(Elaboration *el, ClassEntry *entry, Routine *routine) {
  LabelVec labels = {0};
  ClassEntry *origin = find_base(el, entry, &labels);
  uint32_t number = origin ? routine_of(el, origin) : NONE;
  if (number == NONE) return false;
  const Routine *base = el->model->routines.data[number];
  routine->kind = ROUTINE_DERIVATIVE;
  routine->base = base;
  for (uint32_t i = 0; i < base->locals.count; i++) vec_push(el->heap, &routine->locals, base->locals.data[i]);
  routine->inputs = base->inputs;
  routine->outputs = base->outputs;
  bool fits = check_outputs(el, base, entry->ast->label.span);
  for (uint32_t i = labels.count; i-- > 0;) {
    uint32_t slot = find_input(el, base, labels.data[i]), at = routine->partials.count;
    if (slot == NONE) fits = false;
    vec_push(el->heap, &routine->partials, slot);
    for (; at && routine->partials.data[at - 1] > slot; at--)
      routine->partials.data[at] = routine->partials.data[at - 1];
    routine->partials.data[at] = slot;
  }
  vec_free(el->heap, &labels);
  return fits;
}

void derivative_compile(Elaboration *el, Routine *routine) {
  const Routine *base = routine->base;
  routine->constants = base->constants;
  routine->extra = base->extra;
  routine->is_broken = base->is_broken;
  for (uint32_t i = 0; i < base->code.count; i++) {
    Instruction instruction = base->code.data[i];
    routine_emit(el->heap, routine, (Code)instruction.code, instruction.a, instruction.b, base->spans.data[i]);
    if (instruction.code == CODE_BODY) break;
  }
  routine_emit(el->heap, routine, CODE_EXTERNAL, 0, 0, routine->span);
}

/* ---- calls ---- */

/* For each partial: the position of its input's first scalar among the scalars of all inputs. */
uint32_t derivative_positions(const Elaboration *el, const Routine *routine, const Value *inputs, uint32_t *positions) {
  for (uint32_t i = 0; i < routine->partials.count; i++) {
    positions[i] = 0;
    for (uint32_t slot = 0; slot < routine->partials.data[i]; slot++)
      positions[i] += value_scalars(&inputs[slot], el->record_list);
  }
  return routine->partials.count;
}

/* A call that is being differentiated. */
typedef struct Differentiation {
  const Routine *routine;
  const Value *inputs;
  Arena arena;
  Expr *leaf; /* per input: the leaf that replaces it; EXPR_NONE: not replaced */
} Differentiation;

static bool is_taken(const Elaboration *el, const Differentiation *call, Expr leaf) {
  for (uint32_t i = 0; i < call->routine->inputs; i++) {
    uint32_t count = value_scalars(&call->inputs[i], el->record_list);
    Expr *scalars = heap_array(el->heap, count, sizeof *scalars), zero = dag_constant(el->dag, 0);
    bool found = call->leaf[i] == leaf;
    value_flatten(&el->domain, &call->inputs[i], el->record_list, (char *)scalars);
    for (uint32_t k = 0; k < count && !found; k++) {
      Expr e = scalars[k];
      dag_substitute(el->dag, &leaf, &zero, 1, &e, 1);
      found = e != scalars[k];
    }
    heap_free(el->heap, scalars);
    if (found) return true;
  }
  return false;
}

/* A leaf that does not occur in the arguments. A function sees only its arguments, so such a leaf can replace one of them. */
static Expr free_leaf(const Elaboration *el, const Differentiation *call) {
  if (!is_taken(el, call, dag_time(el->dag))) return dag_time(el->dag);
  for (uint32_t j = 0; j < el->model->unknowns.count; j++)
    if (!is_taken(el, call, dag_variable(el->dag, j, 0))) return dag_variable(el->dag, j, 0);
  return EXPR_NONE;
}

static bool choose_leaves(const Elaboration *el, Differentiation *call) {
  const Routine *routine = call->routine;
  call->leaf = arena_array(&call->arena, routine->inputs, sizeof *call->leaf);
  for (uint32_t i = 0; i < routine->inputs; i++) call->leaf[i] = EXPR_NONE;
  for (uint32_t p = 0; p < routine->partials.count; p++) {
    Expr *leaf = &call->leaf[routine->partials.data[p]];
    if (*leaf == EXPR_NONE) *leaf = free_leaf(el, call);
    if (*leaf == EXPR_NONE) return false;
  }
  return true;
}

static Expr differentiate(const Elaboration *el, const Differentiation *call, Expr e) {
  const Routine *routine = call->routine;
  for (uint32_t p = 0; p < routine->partials.count; p++)
    e = dag_partial(el->dag, e, call->leaf[routine->partials.data[p]]);
  ExprVec from = {0}, to = {0};
  for (uint32_t i = 0; i < routine->inputs; i++) {
    if (call->leaf[i] == EXPR_NONE) continue;
    vec_push(el->heap, &from, call->leaf[i]);
    vec_push(el->heap, &to, value_exprs(&call->inputs[i])[0]);
  }
  dag_substitute(el->dag, from.data, to.data, from.count, &e, 1);
  vec_free(el->heap, &from);
  vec_free(el->heap, &to);
  return e;
}

static bool run_base(Elaboration *el, Differentiation *call) {
  const Routine *base = call->routine->base;
  if (!el->derivative_machine)
    el->derivative_machine = machine_new(el->heap, el->names, &el->domain, &el->routine_list, &el->record_list,
                                         &el->quiet, (Limits){.steps = 1000000});
  Value *given = arena_array(&call->arena, base->inputs, sizeof *given);
  for (uint32_t i = 0; i < base->inputs; i++) {
    given[i] = call->inputs[i];
    if (call->leaf[i] != EXPR_NONE) given[i].data = (char *)&call->leaf[i];
  }
  uint32_t effects = el->actions->count;
  el->is_differentiating = true;
  ExecuteStatus status = machine_run(el->derivative_machine, base, given, base->inputs);
  el->is_differentiating = false;
  el->actions->count = effects; /* assertions of f are reported where f is called */
  return status == EXECUTE_OK;
}

bool derivative_inline(Elaboration *el, const Routine *routine, const Value *inputs, Value *outputs) {
  const Routine *base = routine->base;
  if (base->kind != ROUTINE_CODE || base->is_impure || el->is_differentiating) return false;
  Differentiation call = {.routine = routine, .inputs = inputs, .arena = arena_make(el->heap)};
  bool fits = choose_leaves(el, &call) && run_base(el, &call);
  for (uint32_t i = 0; i < routine->outputs && fits; i++)
    fits = value_same_sizes(machine_output(el->derivative_machine, i), &outputs[i]);
  for (uint32_t i = 0; i < routine->outputs && fits; i++)
    for (uint32_t k = 0; k < outputs[i].count; k++) {
      Expr e = differentiate(el, &call, value_exprs(machine_output(el->derivative_machine, i))[k]);
      memcpy(outputs[i].data + k * sizeof e, &e, sizeof e);
    }
  arena_free(&call.arena);
  return fits;
}
