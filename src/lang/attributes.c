/* attributes: start, fixed, unit and so on of variables, bindings of parameters, declaration equations, the experiment.
 *
 * Invariant: runs after components_add, in order of declarations, so declaration equations come first and in that
 * order. Attributes of aliases are applied before the component's own. */
#include "base/suggest.h"
#include "lang/elaborate.h"

#include <string.h>

typedef enum Attribute {
  ATTRIBUTE_START,
  ATTRIBUTE_FIXED,
  ATTRIBUTE_MIN,
  ATTRIBUTE_MAX,
  ATTRIBUTE_NOMINAL,
  ATTRIBUTE_UNIT,
  ATTRIBUTE_DISPLAY_UNIT,
  ATTRIBUTE_QUANTITY,
  ATTRIBUTE_STATE_SELECT,
  ATTRIBUTE_UNBOUNDED,
  ATTRIBUTE_COUNT
} Attribute;

static const char *const attribute_names[ATTRIBUTE_COUNT] = {
    "start", "fixed", "min", "max", "nominal", "unit", "displayUnit", "quantity", "stateSelect", "unbounded"};

static Attribute attribute_find(const Elaboration *el, AstPath path) {
  for (Attribute i = 0; i < ATTRIBUTE_COUNT; i++)
    if (ast_path_is(el->ast, path, attribute_names[i])) return i;
  return ATTRIBUTE_COUNT;
}

static Type attribute_type(Elaboration *el, Attribute attribute, Type type) {
  switch (attribute) {
  case ATTRIBUTE_FIXED:
  case ATTRIBUTE_UNBOUNDED: return type_scalar(TYPE_BOOLEAN);
  case ATTRIBUTE_NOMINAL: return type_scalar(TYPE_REAL);
  case ATTRIBUTE_UNIT:
  case ATTRIBUTE_DISPLAY_UNIT:
  case ATTRIBUTE_QUANTITY: return type_scalar(TYPE_STRING);
  case ATTRIBUTE_STATE_SELECT: return (Type){.base = TYPE_ENUMERATION, .definition = enumeration_builtin(el, false)};
  default: type.dimensions = 0; return type;
  }
}

/* ---- setting one scalar ---- */

static void set_attribute(Elaboration *el, Attribute attribute, uint32_t position, Expr e, Span span) {
  Variable *variable = &el->model->variables.data[position];
  double number = 0;
  Name text = dag_op(el->dag, e) == OP_STRING ? dag_index(el->dag, e) : 0;
  bool is_number = dag_is_constant(el->dag, e, &number);
  switch (attribute) {
  case ATTRIBUTE_START: variable->start = e; break;
  case ATTRIBUTE_MIN: variable->min = e; break;
  case ATTRIBUTE_MAX: variable->max = e; break;
  case ATTRIBUTE_NOMINAL: variable->nominal = e; break;
  case ATTRIBUTE_UNIT: variable->unit = text; break;
  case ATTRIBUTE_DISPLAY_UNIT: variable->display_unit = text; break;
  case ATTRIBUTE_QUANTITY: variable->quantity = text; break;
  case ATTRIBUTE_FIXED:
    if (!is_number)
      input_error(el, span, "fixed of `%s` is not known at compile time", names_text(el->names, variable->name));
    if (is_number && number == 0 && variable->variability == VARIABILITY_CONSTANT)
      input_error(el, span, "constant `%s` cannot have fixed = false", names_text(el->names, variable->name));
    variable->fixed = number != 0 ? FIXED_TRUE : FIXED_FALSE;
    break;
  case ATTRIBUTE_STATE_SELECT:
    if (is_number && number >= 1 && number <= 5) variable->select = (StateSelect)((uint32_t)number - 1);
    else
      input_error(el, span, "stateSelect of `%s` is not known at compile time", names_text(el->names, variable->name));
    break;
  default: break;
  }
}

/* Checks the variability of a start value or a bound. */
static bool check_variability(Elaboration *el, Expr e, Span span, const char *what, const char *name) {
  static const struct {
    Op op;
    const char *text;
  } refused[] = {{OP_VARIABLE, "a continuous variable"},
                 {OP_TIME, "time"},
                 {OP_DISCRETE, "a discrete variable"},
                 {OP_PRE, "pre()"},
                 {OP_INITIAL, "initial()"},
                 {OP_TERMINAL, "terminal()"}};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
    if (dag_contains(el->dag, dag_scratch(el->dag), e, refused[i].op)) {
      input_error(el, span, "%s `%s` depends on %s; only parameters and constants are allowed", what, name,
                  refused[i].text);
      return false;
    }
  return true;
}

/* Are the sizes of the value the last sizes of the variable? Then it is used for all elements of the arrays that contain it. */
static bool has_last_sizes(const Value *leaves, const Value *value) {
  uint32_t count = value->type.dimensions, skipped = (uint32_t)leaves->type.dimensions - count;
  if (count > leaves->type.dimensions) return false;
  for (uint32_t i = 0; i < count; i++)
    if (leaves->sizes[skipped + i] != value->sizes[i]) return false;
  return true;
}

static void set_all(Elaboration *el, Attribute attribute, const Value *leaves, const Value *value, Span span) {
  bool is_each = value->type.dimensions == 0;
  if (!has_last_sizes(leaves, value)) {
    input_error(el, span, "%s has the wrong size: it must be that of the variable, or one value with `each`",
                attribute_names[attribute]);
    return;
  }
  for (uint32_t i = 0; i < leaves->count; i++) {
    uint32_t position = variable_of_leaf(el, value_exprs(leaves)[i]);
    Expr e = value_exprs(value)[i % value->count];
    if (position == NONE) continue;
    if (i == 0 || !is_each) {
      const char *name = names_text(el->names, el->model->variables.data[position].name);
      if (!check_variability(el, e, span, arena_printf(&el->arena, "%s of", attribute_names[attribute]), name)) return;
    }
    set_attribute(el, attribute, position, e, span);
  }
}

/* ---- expressions ---- */

/* A literal needs no code. */
static bool literal_expr(Elaboration *el, AstExpr e, Type type, Expr *out) {
  const AstNode *node = ast_node(el->ast, e);
  if (node->kind == AST_REAL && type.base == TYPE_REAL) *out = dag_constant(el->dag, node->value.real);
  else if (node->kind == AST_INTEGER && type.base <= TYPE_INTEGER)
    *out = dag_constant(el->dag, (double)node->value.integer);
  else if (node->kind == AST_BOOLEAN && type.base == TYPE_BOOLEAN)
    *out = dag_constant(el->dag, (double)node->value.integer);
  else if (node->kind == AST_STRING && type.base == TYPE_STRING) *out = dag_string(el->dag, node->value.text);
  else return false;
  return true;
}

/* The value of an expression as nodes; valid until the next run. `what` is named in a type error. */
static bool run_binding(Elaboration *el, AstExpr e, Name scope, Type expected, Value *out) {
  Compiler *c = compiler_fresh(el);
  c->scope = scope;
  c->diags = el->diags;
  Type type = compile_expression(c, e, expected);
  if (c->errors == 0) compile_expect(c, expected, type, ast_span(el->ast, e), "the binding");
  discrete_check(c, expected, e);
  if (c->errors) return false;
  ExecuteStatus status = run_code(el, c->routine, LOAD_LEAVES, el->diags);
  if (status == EXECUTE_UNKNOWN) {
    Span where;
    const char *obstacle = machine_obstacle(el->machine, &where);
    input_error(el, ast_span(el->ast, e), "the binding depends on %s that is not known at compile time", obstacle);
  }
  if (status == EXECUTE_OK) *out = *machine_result(el->machine, 0);
  return status == EXECUTE_OK;
}

static void unknown_attribute(Elaboration *el, const AstArgument *argument, Type type) {
  const char *text = ast_path_text(el->ast, argument->name, &el->arena);
  Suggestion best = {.word = text};
  Diag *diag = input_error(el, argument->span, "%s has no attribute `%s`", type_text(el, type), text);
  for (uint32_t i = 0; i < ATTRIBUTE_COUNT; i++) suggest_offer(&best, attribute_names[i]);
  if (best.nearest) diag_note(el->diags, diag, (Span){0, 0}, "did you mean `%s`?", best.nearest);
}

static void apply_attribute(Elaboration *el, const AstArgument *argument, const Value *leaves, Name scope) {
  Attribute attribute = attribute_find(el, argument->name);
  if (attribute == ATTRIBUTE_COUNT) {
    unknown_attribute(el, argument, leaves->type);
    return;
  }
  AstExpr e = argument->modification ? argument->modification->value : AST_NONE;
  if (e == AST_NONE || attribute == ATTRIBUTE_UNBOUNDED) return;
  Type type = attribute_type(el, attribute, leaves->type);
  Expr literal;
  if (literal_expr(el, e, type, &literal)) {
    Value value = {.type = type, .count = 1, .data = (char *)&literal};
    set_all(el, attribute, leaves, &value, argument->span);
    return;
  }
  bool is_now = attribute == ATTRIBUTE_FIXED || attribute == ATTRIBUTE_STATE_SELECT || type.base == TYPE_STRING;
  Value value;
  Compiler *c = compiler_fresh(el);
  c->scope = scope;
  c->diags = el->diags;
  Type found = compile_expression(c, e, type);
  if (c->errors == 0) {
    Type wanted = type;
    wanted.dimensions = found.dimensions;
    compile_expect(c, wanted, found, ast_span(el->ast, e), attribute_names[attribute]);
  }
  if (c->errors) return;
  el->marks_structural = is_now;
  ExecuteStatus status = run_code(el, c->routine, is_now ? LOAD_VALUES : LOAD_LEAVES, el->diags);
  el->marks_structural = false;
  if (status == EXECUTE_UNKNOWN)
    input_error(el, ast_span(el->ast, e), "%s is not known at compile time", attribute_names[attribute]);
  if (status != EXECUTE_OK) return;
  value = *machine_result(el->machine, 0);
  set_all(el, attribute, leaves, &value, argument->span);
}

/* ---- modifications ---- */

/* An input with a binding is an unknown. Without the mark its value would be expected from outside. */
static void note_inputs(Elaboration *el, uint32_t first_equation) {
  for (uint32_t i = first_equation; i < el->equations->count; i++) {
    RawEquation *equation = &el->equations->data[i];
    Variable *variable = &el->model->variables.data[variable_of_leaf(el, equation->left)];
    if (variable->role == ROLE_PARAMETER) continue;
    variable->binding = equation->right;
    equation->is_declared = true;
  }
}

static void bind_expression(Elaboration *el, const Component *component, const Value *leaves, uint32_t shared,
                            AstExpr e, Span span);

/* Applies a modification to a part of a component; for a record, the arguments are for its fields. `shared`: number of leading
 * dimensions over which `each` repeats a value. Depth is bounded by the nesting of records. */
static void apply_modification(Elaboration *el, const Component *component, const AstModification *modification,
                               const Value *leaves, uint32_t shared, Name scope) {
  for (uint32_t i = 0; i < modification->arguments.count; i++) {
    const AstArgument *argument = &modification->arguments.data[i];
    if (argument->redeclared) {
      input_error(el, argument->span, "not supported yet: redeclare");
      continue;
    }
    if (leaves->type.base != TYPE_RECORD) {
      apply_attribute(el, argument, leaves, scope);
      continue;
    }
    const Record *record = &el->model->records.data[leaves->type.definition];
    uint32_t field = 0;
    Name name = ast_part(el->ast, argument->name, 0)->name;
    while (field < record->fields.count && record->fields.data[field].name != name) field++;
    if (field == record->fields.count) {
      input_error(el, argument->span, "record `%s` has no field `%s`", names_text(el->names, record->name),
                  names_text(el->names, name));
      continue;
    }
    if (!argument->modification) continue;
    uint32_t repeated = argument->is_each ? leaves->type.dimensions : shared;
    apply_modification(el, component, argument->modification, &leaves->fields[field], repeated, scope);
    if (argument->modification->value != AST_NONE)
      bind_expression(el, component, &leaves->fields[field], repeated, argument->modification->value, argument->span);
  }
}

/* ---- bindings ---- */

static void bind_parameter(Elaboration *el, const Value *leaves, const Value *value, Span span) {
  if (leaves->type.base == TYPE_RECORD) {
    for (uint32_t i = 0; i < el->model->records.data[leaves->type.definition].fields.count; i++)
      bind_parameter(el, &leaves->fields[i], &value->fields[i], span);
    return;
  }
  for (uint32_t i = 0; i < leaves->count; i++) {
    uint32_t position = variable_of_leaf(el, value_exprs(leaves)[i]);
    Expr e = value_exprs(value)[i];
    if (position == NONE) continue;
    Variable *variable = &el->model->variables.data[position];
    const char *kind = variable->variability == VARIABILITY_CONSTANT ? "constant" : "parameter";
    if (!check_variability(el, e, span, kind, names_text(el->names, variable->name))) return;
    variable->binding = e;
  }
}

/* Do the sizes agree? For records this includes the sizes of their fields. */
static bool sizes_agree(Elaboration *el, const Value *a, const Value *b) {
  if (!value_same_sizes(a, b)) return false;
  if (a->type.base != TYPE_RECORD) return true;
  for (uint32_t i = 0; i < el->model->records.data[a->type.definition].fields.count; i++)
    if (!sizes_agree(el, &a->fields[i], &b->fields[i])) return false;
  return true;
}

static void bind_value(Elaboration *el, const Component *component, const Value *leaves, const Value *value,
                       Span span) {
  if (!sizes_agree(el, leaves, value)) {
    input_error(el, span, "sizes differ: `%s` is %s, its binding is %s", names_text(el->names, component->name),
                value_sizes_text(el->machine, leaves), value_sizes_text(el->machine, value));
    return;
  }
  uint32_t before = el->equations->count;
  if (component_is_parameter(component)) bind_parameter(el, leaves, value, span);
  else if (equations_add(el, leaves, value, span) && component->element->prefixes & PREFIX_INPUT)
    note_inputs(el, before);
}

/* Repeats the value for every element of the arrays that contain it. */
static Value repeat_value(Elaboration *el, const Value *leaves, const Value *value) {
  Value whole = *leaves;
  if (!has_last_sizes(leaves, value)) return *value; /* reported with the binding */
  if (leaves->type.base == TYPE_RECORD) {
    uint32_t count = el->model->records.data[leaves->type.definition].fields.count;
    whole.fields = arena_array(&el->arena, count, sizeof *whole.fields);
    for (uint32_t i = 0; i < count; i++) whole.fields[i] = repeat_value(el, &leaves->fields[i], &value->fields[i]);
    return whole;
  }
  Expr *data = arena_array(&el->arena, leaves->count, sizeof *data);
  for (uint32_t i = 0; i < leaves->count; i++) data[i] = value_exprs(value)[i % value->count];
  whole.data = (char *)data;
  return whole;
}

static void bind_expression(Elaboration *el, const Component *component, const Value *leaves, uint32_t shared,
                            AstExpr e, Span span) {
  Type type = type_with_dimensions(leaves->type, leaves->type.dimensions - shared);
  Expr literal;
  Value value;
  if (type.dimensions == 0 && literal_expr(el, e, type, &literal))
    value = (Value){.type = type, .count = 1, .data = (char *)&literal};
  else if (!run_binding(el, e, component->scope, type, &value)) return;
  if (shared) value = repeat_value(el, leaves, &value);
  bind_value(el, component, leaves, &value, span);
}

/* The source of a component's value: its declaration, or a modification elsewhere. */
static Span binding_span(const Elaboration *el, const Component *component) {
  const AstElement *element = component->element;
  const AstModification *modification = element->component->modification;
  Span span = element->component->label.span, value = ast_span(el->ast, component->binding);
  if (value.end > value.begin && (value.begin < element->span.begin || value.end > element->span.end)) return value;
  if (modification && modification->span.end > span.end) span.end = modification->span.end;
  return span;
}

static void bind_component(Elaboration *el, Component *component) {
  const AstModification *modification = component->element->component->modification;
  if (component->resolved != NONE) {
    ResolvedType resolved = el->resolved.data[component->resolved];
    for (uint32_t i = 0; i < resolved.modifications.count; i++)
      apply_modification(el, component, resolved.modifications.data[i], &component->leaves, 0, component->scope);
  }
  if (modification) apply_modification(el, component, modification, &component->leaves, 0, component->scope);
  if (component->binding == AST_NONE) return;
  bind_expression(el, component, &component->leaves, 0, component->binding, binding_span(el, component));
}

static void bind_part(Elaboration *el, const NewBinding *modification) {
  if (modification->component == NONE) return;
  Component component = el->components.data[modification->component];
  Expr e, leaf;
  char *place = component.progress == PROGRESS_DONE ? modified_part(el, modification, &component.leaves, &e) : NULL;
  if (!place) return;
  memcpy(&leaf, place, sizeof leaf);
  el->model->variables.data[variable_of_leaf(el, leaf)].binding = e;
}

void components_bind(Elaboration *el) {
  for (uint32_t i = 0; i < el->components.count; i++) {
    Component component = el->components.data[i];
    if (!component.is_package && !component.is_view && component.progress == PROGRESS_DONE)
      bind_component(el, &component);
  }
  for (uint32_t i = 0; i < el->modifications.count; i++) bind_part(el, &el->modifications.data[i]);
}

/* ---- experiment ---- */

static bool experiment_number(Elaboration *el, const AstArgument *argument, const char *name, double *out) {
  if (!ast_path_is(el->ast, argument->name, name) || !argument->modification ||
      argument->modification->value == AST_NONE)
    return false;
  Value value;
  el->marks_structural = true;
  ExecuteStatus status = evaluate_now(el, argument->modification->value, el->scope, type_scalar(TYPE_REAL), LOAD_VALUES,
                                      &el->quiet, &value);
  el->marks_structural = false;
  return status == EXECUTE_OK && dag_is_constant(el->dag, value_exprs(&value)[0], out);
}

void experiment_read(Elaboration *el, const AstModification *annotation) {
  Experiment *experiment = &el->model->experiment;
  for (uint32_t i = 0; annotation && i < annotation->arguments.count; i++) {
    const AstArgument *argument = &annotation->arguments.data[i];
    if (!ast_path_is(el->ast, argument->name, "experiment") || !argument->modification) continue;
    for (uint32_t k = 0; k < argument->modification->arguments.count; k++) {
      const AstArgument *option = &argument->modification->arguments.data[k];
      if (experiment_number(el, option, "StartTime", &experiment->start)) experiment->has_start = true;
      if (experiment_number(el, option, "StopTime", &experiment->stop)) experiment->has_stop = true;
      if (experiment_number(el, option, "Tolerance", &experiment->tolerance)) experiment->has_tolerance = true;
      if (experiment_number(el, option, "Interval", &experiment->interval)) experiment->has_interval = true;
    }
  }
}
