/* symbolic: the domain in which scalars are nodes of the graph. Running code in it inlines functions and gives the scalar
 * expressions of the model. A call that cannot be inlined becomes a call node of a function with known sizes.
 *
 * Invariant: loading a component gives its leaves, or its value if the structure depends on it (LoadMode). */
#include "core/delays.h"
#include "lang/algorithm.h"
#include "lang/clock.h"
#include "lang/elaborate.h"
#include "lang/state_machine.h"

#include <string.h>

static Expr read(const void *scalar) {
  Expr e;
  memcpy(&e, scalar, sizeof e);
  return e;
}

static void write(void *out, Expr e) { memcpy(out, &e, sizeof e); }

bool expr_is_known(const Elaboration *el, Expr e) {
  return dag_op(el->dag, e) == OP_CONSTANT || dag_op(el->dag, e) == OP_STRING;
}

static void symbolic_constant(void *context, double value, void *out) {
  write(out, dag_constant(((Elaboration *)context)->dag, value));
}

static void symbolic_text(void *context, Name text, void *out) {
  write(out, dag_string(((Elaboration *)context)->dag, text));
}

static bool symbolic_known(void *context, const void *scalar, double *value) {
  const Elaboration *el = context;
  Expr e = read(scalar);
  if (dag_is_constant(el->dag, e, value)) return true;
  if (dag_op(el->dag, e) != OP_STRING) return false;
  *value = dag_index(el->dag, e);
  return true;
}

/* Relations and jumps within functions cause no events, except with GenerateEvents = true (Modelica 3.6, sections 8.5 and 18.3). */
static Expr without_events(Elaboration *el, Op op, Expr e) {
  if ((op_kind(op) != KIND_RELATION && op_kind(op) != KIND_PIECEWISE) || machine_makes_events(el->machine)) return e;
  if (op_kind(dag_op(el->dag, e)) != op_kind(op)) return e;
  bool may_move = dag_depends(el->dag, e, OP_VARIABLE) || dag_depends(el->dag, e, OP_TIME);
  return may_move ? dag_unary(el->dag, OP_NOEVENT, e) : e;
}

/* Equations contain only numbers. Whether all compared texts are known is checked once all equations exist. */
static Expr note_texts(Elaboration *el, Expr e) {
  if (el->mode != LOAD_LEAVES || op_kind(dag_op(el->dag, e)) != KIND_RELATION) return e;
  bool is_text = expr_is_text(el, dag_child(el->dag, e, 0)) || expr_is_text(el, dag_child(el->dag, e, 1));
  el->compares_texts = el->compares_texts || is_text;
  return e;
}

static bool is_literal(const Elaboration *el, Expr e) { return dag_op(el->dag, e) == OP_STRING; }

/* Treats (if c then "a" else "b") == "a" as if c then "a" == "a" else "b" == "a": comparisons of known texts have a value. */
static Expr compare_texts(Elaboration *el, Op op, Expr a, Expr b) {
  Dag *dag = el->dag;
  ExprVec choices = {0};
  Expr at = a;
  for (; dag_op(dag, at) == OP_IF; at = dag_child(dag, at, 2)) vec_push(el->heap, &choices, at);
  Expr value = dag_binary(dag, op, at, b);
  while (choices.count) {
    Expr choice = vec_pop(&choices);
    value = dag_if(dag, dag_child(dag, choice, 0), dag_binary(dag, op, dag_child(dag, choice, 1), b), value);
  }
  vec_free(el->heap, &choices);
  return value;
}

static bool symbolic_apply(void *context, Op op, const void *arguments, uint32_t count, void *out) {
  Elaboration *el = context;
  Dag *dag = el->dag;
  Expr few[4] = {0};
  if (count <= 4 && count) memcpy(few, arguments, count * sizeof *few);
  switch (op) {
  case OP_MULTIPLY: write(out, dag_multiply(dag, few[0], few[1])); return true;
  case OP_DIVIDE: write(out, dag_divide(dag, few[0], few[1])); return true;
  case OP_POWER: write(out, dag_power(dag, few[0], few[1])); return true;
  case OP_IF: write(out, dag_if(dag, few[0], few[1], few[2])); return true;
  case OP_STRING_JOIN: {
    Expr *list = arena_copy_array(&el->arena, arguments, count, sizeof *list);
    write(out, dag_nary(dag, op, list, count));
    return true;
  }
  default: break;
  }
  if (op_arity(op) == 1 && count == 1) write(out, without_events(el, op, dag_unary(dag, op, few[0])));
  else if (op_arity(op) == 2 && count == 2)
    write(out, without_events(el, op,
                              note_texts(el, op_kind(op) == KIND_RELATION && is_literal(el, few[1])
                                                 ? compare_texts(el, op, few[0], few[1])
                                                 : dag_binary(dag, op, few[0], few[1]))));
  else if (count <= 4) write(out, without_events(el, op, dag_nary(dag, op, few, count)));
  else return false;
  return true;
}

static void symbolic_sum(void *context, const void *terms, const uint32_t *signs, uint32_t count, void *out) {
  Elaboration *el = context;
  const char *scalars = terms;
  Term few[8] = {0}, *list = count <= 8 ? few : heap_array(el->heap, count, sizeof *list);
  for (uint32_t i = 0; i < count; i++)
    list[i] = (Term){(signs[i / 32] >> (i % 32)) & 1 ? -1 : 1, read(scalars + i * sizeof(Expr))};
  write(out, dag_sum(el->dag, 0, list, count));
  if (list != few) heap_free(el->heap, list);
}

static void symbolic_select(void *context, const void *condition, const void *then, const void *otherwise, void *out) {
  Elaboration *el = context;
  Expr a = read(then), b = read(otherwise);
  write(out, a == b ? a : dag_if(el->dag, read(condition), a, b));
}

static bool symbolic_choice(void *context, const void *scalar, void *parts) {
  const Elaboration *el = context;
  Expr e = read(scalar);
  if (dag_op(el->dag, e) != OP_IF) return false;
  for (uint32_t k = 0; k < 3; k++) write((char *)parts + k * sizeof(Expr), dag_child(el->dag, e, k));
  return true;
}

/* ---- operators with special meaning ---- */

static bool symbolic_pre(Elaboration *el, Expr e, Span span, Expr *out) {
  switch (dag_op(el->dag, e)) {
  case OP_DISCRETE: *out = dag_pre(el->dag, dag_index(el->dag, e)); return true;
  case OP_CONSTANT:
  case OP_PARAMETER:
  case OP_STRING: *out = e; return true;
  case OP_VARIABLE:
    if (el->in_when || el->is_initial) {
      *out = el->in_when ? dag_unary(el->dag, OP_LEFT, e) : e;
      return true;
    }
    diag_error(el->diags, DIAG_INPUT, span, "pre of a continuous variable is only allowed in a when");
    return false;
  default: diag_error(el->diags, DIAG_INPUT, span, "pre needs a variable"); return false;
  }
}

static bool symbolic_der(Elaboration *el, Expr e, Span span, Expr *out) {
  Dag *dag = el->dag;
  if (dag_op(dag, e) == OP_DISCRETE)
    return diag_error(el->diags, DIAG_INPUT, span, "der of a discrete variable"), false;
  *out = dag_time_derivative(dag, e);
  return true;
}

/* Does the expression depend on more than parameters and constants? */
static bool is_moving(Elaboration *el, Expr e) {
  static const Op moving[] = {OP_TIME, OP_VARIABLE, OP_DISCRETE, OP_PRE};
  for (size_t k = 0; k < sizeof moving / sizeof *moving; k++)
    if (dag_depends(el->dag, e, moving[k])) return true;
  return false;
}

/* Is the expression a parameter with value 0? Then the value decides the structure. */
static bool is_zero_parameter(Elaboration *el, Expr e) {
  double value;
  if (dag_op(el->dag, e) != OP_PARAMETER) return false;
  const Variable *variable = &el->model->variables.data[el->model->parameters.data[dag_index(el->dag, e)]];
  uint32_t found = component_find(el, variable->name);
  if (found == NONE) return false;
  Component *component = &el->components.data[found];
  if (!component->has_value || component->type.dimensions) return false;
  if (!dag_is_constant(el->dag, read(component->value.data), &value) || value != 0) return false;
  component->is_structural = true;
  return true;
}

/* Without a maximum delay, the delay time must be fixed (Modelica Language Specification 3.6, 3.7.4.1). */
static bool symbolic_delay(Elaboration *el, const Expr *a, uint32_t count, Span span, Expr *out) {
  double time;
  bool is_known = dag_is_constant(el->dag, a[1], &time);
  if (count < 3 && is_moving(el, a[1])) {
    diag_error(el->diags, DIAG_INPUT, span,
               "a delay time that changes needs delayMax: delay(expr, delayTime, delayMax)");
    return false;
  }
  if (count == 3 && is_moving(el, a[2])) {
    diag_error(el->diags, DIAG_INPUT, span, "delayMax depends on variables: only parameters and constants are allowed");
    return false;
  }
  if (is_known && time < 0) {
    diag_error(el->diags, DIAG_INPUT, span, "the delay time %.10g is below zero", time);
    return false;
  }
  bool is_none = is_known ? time == 0 : is_zero_parameter(el, a[1]);
  *out = is_none ? a[0] : dag_nary(el->dag, OP_DELAY, a, count);
  return true;
}

static bool symbolic_sample(Elaboration *el, const Expr *a, Span span, Expr *out) {
  if (is_moving(el, a[0]) || is_moving(el, a[1])) {
    diag_error(el->diags, DIAG_INPUT, span,
               "start or interval of sample depends on variables: only parameters and constants are allowed");
    return false;
  }
  double interval;
  if (dag_is_constant(el->dag, a[1], &interval) && !(interval > 0)) {
    diag_error(el->diags, DIAG_INPUT, span, "the interval %.10g of sample is not positive", interval);
    return false;
  }
  *out = dag_binary(el->dag, OP_SAMPLE, a[0], a[1]);
  return true;
}

/* Are the points and values of the pipe known at the start? Are the points in order, as far as they are known? */
static bool check_contents(Elaboration *el, const Expr *a, uint32_t points, Span span) {
  double *known = arena_array(&el->arena, points, sizeof *known);
  bool are_known = true;
  for (uint32_t i = 0; i < 2 * points; i++) {
    if (is_moving(el, a[i])) {
      diag_error(el->diags, DIAG_INPUT, span, "%s depends on variables: only parameters and constants are allowed",
                 i < points ? "initialPoints" : "initialValues");
      return false;
    }
    if (i < points) are_known = dag_is_constant(el->dag, a[i], &known[i]) && are_known;
  }
  if (!are_known || delays_points_fit(known, (int)points)) return true;
  diag_error(el->diags, DIAG_INPUT, span, "initialPoints does not ascend from 0 to 1");
  return false;
}

/* The other end of a pipe is the first end of the reversed pipe. */
static void turn_pipe(Elaboration *el, Expr *a, uint32_t points) {
  Dag *dag = el->dag;
  Expr in0 = a[TRANSPORT_IN0], *point = a + TRANSPORT_SCALARS, *value = point + points;
  a[TRANSPORT_IN0] = a[TRANSPORT_IN1];
  a[TRANSPORT_IN1] = in0;
  a[TRANSPORT_X] = dag_negate(dag, a[TRANSPORT_X]);
  a[TRANSPORT_POSITIVE] = dag_unary(dag, OP_NOT, a[TRANSPORT_POSITIVE]);
  for (uint32_t i = 0, j = points - 1; i <= j && j < points; i++, j--) {
    Expr first = point[i], last = point[j], v = value[i];
    point[i] = dag_subtract(dag, dag_constant(dag, 1), last);
    point[j] = dag_subtract(dag, dag_constant(dag, 1), first);
    value[i] = value[j];
    value[j] = v;
  }
}

/* Modelica Language Specification 3.6, 3.7.4.2. */
static ExecuteStatus symbolic_transport(Elaboration *el, const void *arguments, uint32_t count, bool is_end, Span span,
                                        void *out) {
  Dag *dag = el->dag;
  Expr *a = arena_copy_array(&el->arena, arguments, count, sizeof *a);
  uint32_t points = (count - TRANSPORT_SCALARS) / 2;
  if (dag_contains(dag, dag_scratch(dag), a[TRANSPORT_POSITIVE], OP_NOEVENT)) {
    diag_error(el->diags, DIAG_INPUT, span, "positiveVelocity must change at events, without noEvent");
    return EXECUTE_ERROR;
  }
  if (!check_contents(el, a + TRANSPORT_SCALARS, points, span)) return EXECUTE_ERROR;
  if (is_end) turn_pipe(el, a, points);
  write(out, dag_nary(dag, OP_TRANSPORT, a, count));
  return EXECUTE_OK;
}

static ExecuteStatus symbolic_special(void *context, Special special, Type type, const void *arguments, uint32_t count,
                                      Span span, void *out) {
  Elaboration *el = context;
  Dag *dag = el->dag;
  Expr a[4] = {0}, result = 0;
  bool fits = true;
  bool is_end = special == SPECIAL_TRANSPORT_END;
  if (special == SPECIAL_TRANSPORT || is_end) return symbolic_transport(el, arguments, count, is_end, span, out);
  if (count > 4) return EXECUTE_ERROR;
  if (count) memcpy(a, arguments, count * sizeof *a);
  switch (special) {
  case SPECIAL_TIME: result = dag_time(dag); break;
  case SPECIAL_DER: fits = symbolic_der(el, a[0], span, &result); break;
  case SPECIAL_PRE: fits = symbolic_pre(el, a[0], span, &result); break;
  case SPECIAL_EDGE: result = dag_unary(dag, OP_EDGE, a[0]); break;
  case SPECIAL_CHANGE: result = dag_unary(dag, OP_CHANGE, a[0]); break;
  case SPECIAL_INITIAL: result = dag_nary(dag, OP_INITIAL, NULL, 0); break;
  case SPECIAL_TERMINAL: result = dag_nary(dag, OP_TERMINAL, NULL, 0); break;
  case SPECIAL_SAMPLE: fits = symbolic_sample(el, a, span, &result); break;
  case SPECIAL_DELAY: fits = symbolic_delay(el, a, count, span, &result); break;
  case SPECIAL_TICKS_IN_STATE:
  case SPECIAL_TIME_IN_STATE:
    if (el->mode != LOAD_LEAVES) return EXECUTE_UNKNOWN;
    result = state_duration(el, special, span);
    fits = result != EXPR_NONE;
    break;
  default: {
    ExecuteStatus status = clock_operator(el, special, type, a, count, span, &result);
    if (status != EXECUTE_OK) return status;
  }
  }
  write(out, result);
  return fits ? EXECUTE_OK : EXECUTE_ERROR;
}

/* ---- components ---- */

static void fill_value(Elaboration *el, Value *value, Expr e) {
  if (value->type.base == TYPE_RECORD) {
    for (uint32_t i = 0; i < el->model->records.data[value->type.definition].fields.count; i++)
      fill_value(el, &value->fields[i], e);
    return;
  }
  for (uint32_t i = 0; i < value->count; i++) write(value->data + i * sizeof e, e);
}

static ExecuteStatus report_no_value(Elaboration *el, const Component *component, Span span) {
  Diag *diag =
      diag_error(el->diags, DIAG_NO_VALUE, span, "constant `%s` has no value", names_text(el->names, component->name));
  diag_note(el->diags, diag, component->element->component->label.span, "it is declared here");
  return EXECUTE_ERROR;
}

static ExecuteStatus symbolic_global(void *context, uint32_t number, bool only_sizes, Span span, Value *out) {
  Elaboration *el = context;
  Component *component = &el->components.data[number];
  if (component->progress == PROGRESS_FAILED) return EXECUTE_ERROR;
  if (component->progress != PROGRESS_DONE) return EXECUTE_UNKNOWN;
  if (only_sizes) {
    *out = (Value){.type = component->type, .sizes = component->sizes};
    return EXECUTE_OK;
  }
  const Value *value = component_load(el, component);
  if (value) {
    *out = *value;
    return EXECUTE_OK;
  }
  if (el->mode == LOAD_LEAVES || (component->is_package && el->mode != LOAD_SHAPES))
    return report_no_value(el, component, span);
  if (el->mode == LOAD_VALUES) return EXECUTE_UNKNOWN;
  *out = machine_make(el->machine, component->type, component->sizes);
  if (out->type.base == TYPE_NOTHING) return EXECUTE_ERROR;
  fill_value(el, out, dag_constant(el->dag, 0));
  return EXECUTE_OK;
}

/* ---- calls that stay calls ---- */

static bool calls_such(const Elaboration *el, const Routine *routine, bool (*test)(const Routine *)) {
  return routine_calls(el->heap, el->model->routines.data, el->model->routines.count, routine, test);
}

static uint64_t hash_shape(Elaboration *el, uint64_t hash, const Value *value) {
  hash = hash_mix(hash ^ value->type.dimensions);
  for (uint32_t i = 0; i < value->type.dimensions; i++) hash = hash_mix(hash + value->sizes[i]);
  if (value->type.base == TYPE_RECORD) hash = hash_mix(hash + value->type.definition);
  if (value->type.base == TYPE_RECORD)
    for (uint32_t i = 0; i < el->record_list[value->type.definition].fields.count; i++)
      hash = hash_shape(el, hash, &value->fields[i]);
  return hash;
}

/* Does the function change something outside of it, or depend on a function that does? */
static bool is_act(const Elaboration *el, const Routine *routine) {
  return routine_acts(routine) || calls_such(el, routine, routine_acts);
}

bool symbolic_calls_act(const Elaboration *el, const Routine *code, Span span) {
  for (uint32_t i = 0; i < code->code.count; i++) {
    bool is_inside = code->spans.data[i].begin >= span.begin && code->spans.data[i].end <= span.end;
    if (!is_inside || code->code.data[i].code != CODE_CALL) continue;
    if (is_act(el, el->model->routines.data[code->extra.data[code->code.data[i].b]])) return true;
  }
  return false;
}

/* The function of the model for a routine with inputs and outputs of these sizes. A call with effects gets its own
 * function, so that two equal calls remain two. They are numbered in the order of the text. */
static uint32_t function_instance(Elaboration *el, const Routine *routine, const Value *inputs, const Value *outputs) {
  uint64_t hash = routine->number;
  for (uint32_t i = 0; i < routine->inputs; i++) hash = hash_shape(el, hash, &inputs[i]);
  hash = hash_mix(hash) & ~((uint64_t)1 << 63);
  bool is_once = is_act(el, routine);
  uint32_t found = is_once ? MAP_NONE : map_get(&el->instances, hash);
  if (found != MAP_NONE && el->model->functions.data[found]->routine == routine) return found;
  Function *function = heap_alloc(el->heap, sizeof *function);
  function->name = routine->name;
  function->routine = routine;
  function->input_count = routine->inputs;
  function->output_count = routine->outputs;
  function->is_once = is_once;
  function->is_initial = is_once && el->is_initial;
  function->inputs = heap_array(el->heap, routine->inputs, sizeof(Shape));
  function->outputs = heap_array(el->heap, routine->outputs, sizeof(Shape));
  for (uint32_t i = 0; i < routine->inputs; i++) {
    function->inputs[i] = shape_of_value(el->heap, el->record_list, &inputs[i]);
    function->arguments += function->inputs[i].scalars;
  }
  for (uint32_t i = 0; i < routine->outputs; i++) {
    function->outputs[i] = shape_of_value(el->heap, el->record_list, &outputs[i]);
    function->results += function->outputs[i].scalars;
  }
  if (routine->outputs == 0) function->results = 1;
  vec_push(el->heap, &el->model->functions, function);
  if (!is_once) map_put(&el->instances, hash, el->model->functions.count - 1);
  return el->model->functions.count - 1;
}

static bool all_known(const Elaboration *el, const Expr *list, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (!expr_is_known(el, list[i])) return false;
  return true;
}

static bool is_derivative(const Routine *routine) { return routine->kind == ROUTINE_DERIVATIVE; }

/* Does the function give the same results for the same arguments, and can it run while the model is read? An impure function that
 * only reads files can run while the model is read, but a call in a when must wait for its event. */
static bool routine_is_pure(const Elaboration *el, const Routine *routine) {
  if (routine->is_impure && el->in_when) return false;
  if (routine->kind != ROUTINE_CODE) return !routine_has_effect(routine);
  return !routine->is_impure || !calls_such(el, routine, routine_has_effect);
}

/* A long computation on known numbers is done numerically; EXECUTE_UNKNOWN if that is not possible. */
static ExecuteStatus call_numbers(Elaboration *el, const Routine *routine, const Value *inputs, const Expr *arguments,
                                  Value *outputs) {
  Arena arena = arena_make(el->heap);
  Value *numbers = arena_array(&arena, routine->inputs, sizeof *numbers);
  bool fits = true;
  uint32_t at = 0;
  for (uint32_t i = 0; i < routine->inputs && fits; i++) {
    fits = inputs[i].type.base != TYPE_RECORD && inputs[i].type.base != TYPE_EXTERNAL_OBJECT;
    if (!fits) break;
    numbers[i] = inputs[i];
    double *data = arena_array(&arena, inputs[i].count, sizeof *data);
    for (uint32_t k = 0; k < inputs[i].count; k++, at++)
      if (!dag_is_constant(el->dag, arguments[at], &data[k])) data[k] = dag_index(el->dag, arguments[at]);
    numbers[i].data = (char *)data;
  }
  machine_set_diags(el->number_machine, el->diags);
  ExecuteStatus status = fits ? machine_run(el->number_machine, routine, numbers, routine->inputs) : EXECUTE_UNKNOWN;
  fits = status == EXECUTE_OK;
  for (uint32_t i = 0; i < routine->outputs && fits; i++) {
    const Value *result = machine_output(el->number_machine, i);
    fits = result->type.base != TYPE_RECORD && value_same_sizes(result, &outputs[i]);
    for (uint32_t k = 0; k < outputs[i].count && fits; k++) {
      double number;
      memcpy(&number, result->data + k * sizeof number, sizeof number);
      write(outputs[i].data + k * sizeof(Expr),
            outputs[i].type.base == TYPE_STRING ? dag_string(el->dag, (Name)number) : dag_constant(el->dag, number));
    }
  }
  arena_free(&arena);
  return fits ? EXECUTE_OK : status == EXECUTE_OK ? EXECUTE_UNKNOWN : status;
}

/* A call of a derivative can be inlined, but not run as a call. */
static bool check_callable(Elaboration *el, const Routine *routine) {
  if (routine->kind != ROUTINE_CODE || !calls_such(el, routine, is_derivative)) return true;
  input_error(el, routine->span,
              "not supported yet: a derivative of a function in function `%s`, whose control flow depends on data",
              names_text(el->names, routine->name));
  return false;
}

/* A discrete value that a function computes causes no events, and neither do the function's relations. */
static Expr call_value(Elaboration *el, const Value *output, Expr call) {
  if (!type_is_discrete(output->type.base) || machine_makes_events(el->machine)) return call;
  return dag_unary(el->dag, OP_NOEVENT, call);
}

static Expr both(Elaboration *el, Expr a, const void *path) {
  if (!path) return a;
  return a == EXPR_NONE ? read(path) : dag_binary(el->dag, OP_AND, a, read(path));
}

/* A call that is made once is an action of the enclosing when or initial section, whether its result is used or not. Elsewhere
 * a call without a result is left out. */
static void add_call(Elaboration *el, Expr call, Span span) {
  if (el->mode != LOAD_LEAVES || (!el->in_when && !el->is_initial)) return;
  Action action = {.kind = ACTION_CALL,
                   .guard = both(el, el->guard, machine_path(el->machine)),
                   .target = NONE,
                   .value = call,
                   .message = EXPR_NONE,
                   .is_initial = el->is_initial,
                   .span = span};
  if (el->is_initial && action.guard != EXPR_NONE) action.guard = dag_unary(el->dag, OP_NOEVENT, action.guard);
  vec_push(el->heap, el->actions, action);
}

static Expr branch_mark(Elaboration *el) {
  if (!el->branch) {
    const char *text = arena_printf(&el->arena, "$fires%u", ++el->branches);
    el->branch = names_add(el->names, text, strlen(text));
  }
  return dag_string(el->dag, el->branch);
}

/* The conditions under which a call is made, as further arguments. */
static void add_conditions(Elaboration *el, Expr *arguments, uint32_t *count) {
  Expr inside = both(el, el->in_when ? el->guard : EXPR_NONE, machine_path(el->machine)),
       always = dag_constant(el->dag, 1);
  arguments[(*count)++] = el->in_when ? branch_mark(el) : always;
  arguments[(*count)++] = inside == EXPR_NONE ? always : inside;
}

/* Equations contain only numbers: a text that they compose becomes a call. */
static bool compose_text(Elaboration *el, Expr *text, Span span) {
  ExprVec parts = {0};
  const Routine *routine = text_routine(el, *text, span, &parts);
  if (!routine) return true;
  Value *inputs = arena_array(&el->arena, parts.count, sizeof *inputs);
  Value output = {.type = type_scalar(TYPE_STRING), .count = 1, .data = (char *)text};
  for (uint32_t i = 0; i < parts.count; i++)
    inputs[i] = (Value){.type = routine->locals.data[i].type, .count = 1, .data = (char *)&parts.data[i]};
  bool is_called = call_routine(el, routine, inputs, &output);
  vec_free(el->heap, &parts);
  return is_called;
}

bool call_routine(Elaboration *el, const Routine *routine, const Value *inputs, Value *outputs) {
  if (routine->kind == ROUTINE_DERIVATIVE && derivative_inline(el, routine, inputs, outputs)) return true;
  uint32_t count = 0, results = 0, at = 0;
  for (uint32_t i = 0; i < routine->inputs; i++) count += value_scalars(&inputs[i], el->record_list);
  Expr *arguments = heap_array(el->heap, count + ONCE_CONDITIONS, sizeof *arguments);
  for (uint32_t i = 0; i < routine->inputs; i++) {
    value_flatten(&el->domain, &inputs[i], el->record_list, (char *)(arguments + at));
    at += value_scalars(&inputs[i], el->record_list);
  }
  ExecuteStatus status = EXECUTE_UNKNOWN;
  for (uint32_t k = 0; k < count; k++)
    if (!compose_text(el, &arguments[k], routine->span)) return heap_free(el->heap, arguments), false;
  if (all_known(el, arguments, count) && routine_is_pure(el, routine))
    status = call_numbers(el, routine, inputs, arguments, outputs);
  if (status == EXECUTE_UNKNOWN) {
    const Routine *called = routine->base ? routine->base : routine;
    if (!check_callable(el, called)) return false;
    uint32_t function = function_instance(el, called, inputs, outputs);
    uint32_t *partials = arena_array(&el->arena, routine->partials.count, sizeof *partials);
    uint32_t order = derivative_positions(el, routine, inputs, partials);
    if (el->model->functions.data[function]->is_once) add_conditions(el, arguments, &count);
    for (uint32_t i = 0; i < routine->outputs; i++) {
      uint32_t scalars = value_scalars(&outputs[i], el->record_list);
      Expr *list = heap_array(el->heap, scalars, sizeof *list);
      for (uint32_t k = 0; k < scalars; k++)
        list[k] =
            call_value(el, &outputs[i], dag_call(el->dag, function, results++, partials, order, arguments, count));
      value_unflatten(&el->domain, &outputs[i], el->record_list, (const char *)list);
      heap_free(el->heap, list);
    }
    if (el->model->functions.data[function]->is_once)
      add_call(el, dag_call(el->dag, function, 0, partials, order, arguments, count), routine->span);
  }
  heap_free(el->heap, arguments);
  return status != EXECUTE_ERROR;
}

static bool symbolic_call(void *context, const Routine *routine, const Value *inputs, Value *outputs, Span span) {
  (void)span;
  return call_routine(context, routine, inputs, outputs);
}

static void symbolic_returned(void *context, const Routine *routine, const Value *slots) {
  inverse_note(context, routine, slots);
}

/* ---- effects ---- */

/* If the level is not known yet, because it is a parameter, two assertions replace this one, each under the condition of its
 * level. */
static void add_assertion(Elaboration *el, Action action, Expr level) {
  Expr guard = action.guard;
  for (int each = ASSERTION_WARNING; each <= ASSERTION_ERROR; each++) {
    Expr is_level = dag_binary(el->dag, OP_EQUAL, level, dag_constant(el->dag, each));
    double truth;
    bool is_known = dag_is_constant(el->dag, is_level, &truth);
    if (is_known && truth == 0) continue;
    action.is_warning = each == ASSERTION_WARNING;
    action.guard = is_known ? guard : both(el, guard, &is_level);
    vec_push(el->heap, el->actions, action);
  }
}

/* The message inside the expression of compile_message: it is evaluated only if the condition fails. */
static Expr failed_message(const Elaboration *el, Expr condition, Expr message) {
  const Dag *dag = el->dag;
  Expr empty = dag_string(el->dag, 0);
  if (dag_op(dag, message) != OP_IF) return message;
  Expr asked = dag_child(dag, message, 0);
  if (asked == condition && dag_child(dag, message, 1) == empty) return dag_child(dag, message, 2);
  bool is_turned = dag_unary(el->dag, OP_NOT, asked) == condition || dag_unary(el->dag, OP_NOT, condition) == asked;
  return is_turned && dag_child(dag, message, 2) == empty ? dag_child(dag, message, 1) : message;
}

static bool symbolic_assertion(void *context, const void *path, const void *condition, const void *message,
                               const void *level, Span span) {
  Elaboration *el = context;
  if (el->mode != LOAD_LEAVES) return true;
  if (el->model->is_strict && is_moving(el, read(level)))
    return diag_error(el->diags, DIAG_INPUT, span,
                      "the level of assert depends on variables: only parameters and constants are allowed"),
           false;
  Action action = {.kind = ACTION_ASSERT,
                   .guard = both(el, el->guard, path),
                   .value = read(condition),
                   .message = failed_message(el, read(condition), read(message)),
                   .target = NONE,
                   .is_initial = el->is_initial,
                   .span = span};
  if (el->is_initial) { /* an assertion of the initialization is checked once, so it causes no event */
    action.value = dag_unary(el->dag, OP_NOEVENT, action.value);
    if (action.guard != EXPR_NONE) action.guard = dag_unary(el->dag, OP_NOEVENT, action.guard);
  }
  add_assertion(el, action, read(level));
  return true;
}

static uint64_t symbolic_made(void *context) { return dag_edges(((const Elaboration *)context)->dag); }

static uint32_t symbolic_effects(void *context) { return ((const Elaboration *)context)->actions->count; }

static void symbolic_forget(void *context, uint32_t effects) { ((Elaboration *)context)->actions->count = effects; }

static bool symbolic_terminate(void *context, const void *path, const void *message, Span span) {
  Elaboration *el = context;
  Action action = {.kind = ACTION_TERMINATE,
                   .guard = both(el, el->guard, path),
                   .value = EXPR_NONE,
                   .message = read(message),
                   .target = NONE,
                   .is_initial = el->is_initial,
                   .span = span};
  vec_push(el->heap, el->actions, action);
  return true;
}

static bool symbolic_reinit(void *context, const void *path, const Value *target, const Value *value, Span span) {
  Elaboration *el = context;
  if (!el->in_when) return diag_error(el->diags, DIAG_INPUT, span, "reinit is only allowed in a when"), false;
  if (!value_same_sizes(target, value))
    return diag_error(el->diags, DIAG_TYPE_MISMATCH, span, "sizes differ in reinit"), false;
  for (uint32_t i = 0; i < target->count; i++) {
    Expr leaf = value_exprs(target)[i];
    if (dag_op(el->dag, leaf) != OP_VARIABLE || dag_order(el->dag, leaf) != 0)
      return diag_error(el->diags, DIAG_INPUT, span, "reinit needs a continuous variable"), false;
    Action action = {.kind = ACTION_REINIT,
                     .guard = both(el, el->guard, path),
                     .target = variable_of_leaf(el, leaf),
                     .value = value_exprs(value)[i],
                     .message = EXPR_NONE,
                     .span = span};
    vec_push(el->heap, el->actions, action);
  }
  return true;
}

/* ---- setting up ---- */

void symbolic_start(Elaboration *el) {
  el->domain = (Domain){.size = sizeof(Expr),
                        .context = el,
                        .constant = symbolic_constant,
                        .text = symbolic_text,
                        .known = symbolic_known,
                        .apply = symbolic_apply,
                        .sum = symbolic_sum,
                        .select = symbolic_select,
                        .choice = symbolic_choice,
                        .special = symbolic_special,
                        .global = symbolic_global,
                        .call = symbolic_call,
                        .returned = symbolic_returned,
                        .assertion = symbolic_assertion,
                        .terminate = symbolic_terminate,
                        .made = symbolic_made,
                        .effects = symbolic_effects,
                        .forget = symbolic_forget,
                        .when_begin = algorithm_when_begin,
                        .when_assign = algorithm_when_assign,
                        .when_settle = algorithm_when_bind,
                        .when_end = algorithm_when_end,
                        .reinit = symbolic_reinit};
  el->machine =
      machine_new(el->heap, el->names, &el->domain, &el->routine_list, &el->record_list, el->diags, (Limits){0});
  el->number_context.names = el->names;
  el->number_domain = number_domain(&el->number_context);
  el->number_domain.externals = external_state(el->heap);
  el->number_machine =
      machine_new(el->heap, el->names, &el->number_domain, &el->routine_list, &el->record_list, el->diags, (Limits){0});
}

/* Marks components that the code loads and that have a value: whole numbers, Booleans, and components that the model marks with
 * Evaluate. They can no longer change, and their values may be used in ranges and sizes. false if nothing new was marked. */
static bool mark_loaded(Elaboration *el, const Routine *routine) {
  bool is_changed = false;
  for (uint32_t i = 0; i < routine->code.count; i++) {
    if (routine->code.data[i].code != CODE_GLOBAL) continue;
    Component *component = &el->components.data[routine->code.data[i].b];
    bool is_real = component->type.base == TYPE_REAL || component->type.base >= TYPE_RECORD;
    if ((is_real && !component->is_evaluated) || component->is_structural) continue;
    if (component_is_parameter(component) ? !component->has_value : !component_literal(el, component)) continue;
    component->is_structural = is_changed = true;
  }
  return is_changed;
}

/* Removes the additions of an incomplete run, because the code is run again. */
static void undo_effects(Elaboration *el, bool in_when, uint32_t actions, uint32_t whens) {
  if (el->in_when && !in_when) algorithm_when_end(el);
  el->actions->count = actions;
  el->model->whens.count = whens;
}

ExecuteStatus run_code(Elaboration *el, Routine *routine, LoadMode mode, Diags *diags) {
  if (el->evaluations) routines_finish_for(el, routine);
  else routines_finish(el);
  LoadMode outer = el->mode;
  Diags *errors = el->diags;
  el->mode = mode;
  el->diags = diags;
  machine_set_diags(el->machine, diags);
  bool in_when = el->in_when;
  uint32_t actions = el->actions->count, whens = el->model->whens.count;
  uint32_t said = diags->list.count;
  bool compared = el->compares_texts;
  el->compares_texts = false;
  ExecuteStatus status = machine_run(el->machine, routine, NULL, 0);
  bool is_open = status == EXECUTE_UNKNOWN || (status == EXECUTE_ERROR && machine_in_branch(el->machine)) ||
                 (status == EXECUTE_OK && el->compares_texts);
  if (is_open && mode == LOAD_LEAVES && mark_loaded(el, routine)) {
    diags_keep(diags, said);
    undo_effects(el, in_when, actions, whens);
    el->compares_texts = false;
    status = machine_run(el->machine, routine, NULL, 0);
  }
  el->compares_texts |= compared;
  el->diags = errors;
  el->mode = outer;
  if (status == EXECUTE_ERROR && diags == errors) el->failures++;
  return status;
}
