/* components: declarations of the model: first names and types; then sizes and the values that the structure needs, in order of
 * dependencies; then variables.
 *
 * Invariant: a component is evaluated after everything it depends on; a cycle is reported with the names in it. After
 * components_add every component has leaves for each of its scalars, in the order in which the variables were added. */
#include "lang/elaborate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool component_is_parameter(const Component *component) { return component->variability <= VARIABILITY_PARAMETER; }

/* ---- declaring ---- */

static uint8_t variability_of(const AstElement *element, BaseType base) {
  if (element->prefixes & PREFIX_CONSTANT) return VARIABILITY_CONSTANT;
  if (element->prefixes & PREFIX_PARAMETER) return VARIABILITY_PARAMETER;
  if (base == TYPE_EXTERNAL_OBJECT) return VARIABILITY_PARAMETER;
  if (element->prefixes & PREFIX_DISCRETE) return VARIABILITY_DISCRETE;
  return base == TYPE_REAL || base == TYPE_RECORD || base == TYPE_NOTHING ? VARIABILITY_CONTINUOUS
                                                                          : VARIABILITY_DISCRETE;
}

/* Resolves the type of a declared component. The resolved type is kept only if it is more than a base type. */
static void resolve_component(Elaboration *el, Component *component) {
  const AstComponent *ast = component->element->component;
  ResolvedType resolved = {0};
  component->resolved = NONE;
  if (ast->dimensions.count) vec_push(el->heap, &resolved.dimensions, &ast->dimensions);
  if (!type_resolve(el, component->scope, ast->type, &resolved)) {
    component->type = type_scalar(TYPE_NOTHING);
    component->progress = PROGRESS_FAILED;
    return;
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < resolved.dimensions.count; i++) count += resolved.dimensions.data[i]->count;
  component->type = resolved.type;
  component->type.dimensions = (uint8_t)(count > TYPE_MAX_DIMENSIONS ? 0 : count);
  if (count > TYPE_MAX_DIMENSIONS) {
    input_error(el, ast->label.span, "more than %d dimensions", TYPE_MAX_DIMENSIONS);
    component->progress = PROGRESS_FAILED;
  }
  if (resolved.dimensions.count || resolved.modifications.count) {
    component->resolved = el->resolved.count;
    vec_push(el->heap, &el->resolved, resolved);
  }
}

static Component component_make(Elaboration *el, const AstElement *element, Name name, Name scope) {
  const AstModification *modification = element->component->modification;
  Component component = {.name = name, .element = element, .scope = scope, .first = NONE};
  component.binding = modification ? modification->value : AST_NONE;
  resolve_component(el, &component);
  component.variability = variability_of(element, (BaseType)component.type.base);
  component.is_view = element->component->is_view;
  component.is_structural = element->component->is_structural;
  component.is_evaluated = component.variability == VARIABILITY_CONSTANT ||
                           (component.variability == VARIABILITY_PARAMETER &&
                            ((element->prefixes & PREFIX_FINAL) ||
                             ast_annotation(el->ast, element->component->annotation, "Evaluate", false)));
  return component;
}

void component_declare_constant(Elaboration *el, const AstElement *element, Name name, Name scope) {
  Component component = component_make(el, element, name, scope);
  component.is_package = true;
  if (map_get(&el->package_constants, name) != MAP_NONE) {
    input_error(el, element->component->label.span, "`%s` is declared twice", names_text(el->names, name));
    return;
  }
  map_put(&el->package_constants, name, el->components.count);
  vec_push(el->heap, &el->components, component);
}

static void check_prefixes(Elaboration *el, const AstElement *element) {
  const AstComponent *component = element->component;
  static const struct {
    uint32_t prefix;
    const char *name;
  } refused[] = {{PREFIX_INNER, "inner"},
                 {PREFIX_OUTER, "outer"},
                 {PREFIX_REDECLARE, "redeclare"},
                 {PREFIX_REPLACEABLE, "replaceable"},
                 {PREFIX_STREAM, "stream"}};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
    if (element->prefixes & refused[i].prefix)
      input_error(el, element->span, "not supported yet: `%s`", refused[i].name);
  if (component->condition != AST_NONE)
    input_error(el, ast_span(el->ast, component->condition), "not supported yet: a component with a condition");
}

void component_declare(Elaboration *el, const AstElement *element, Name scope) {
  Name name = element->component->label.name;
  uint32_t earlier = component_find(el, name);
  if (earlier != NONE) {
    Diag *diag = input_error(el, element->component->label.span, "`%s` is declared twice", names_text(el->names, name));
    diag_note(el->diags, diag, el->components.data[earlier].element->component->label.span, "first declared here");
    return;
  }
  check_prefixes(el, element);
  Component component = component_make(el, element, name, scope);
  component_register(el, name, el->components.count);
  vec_push(el->heap, &el->components, component);
}

/* The component whose name is the longest prefix of `name` that ends before a subscript or field. */
static uint32_t component_around(const Elaboration *el, const char *name, uint32_t *length) {
  for (*length = (uint32_t)strlen(name); *length; (*length)--) {
    if (name[*length] && !strchr("[.", name[*length])) continue;
    Name prefix = names_find(el->names, name, *length);
    uint32_t component = prefix == MAP_NONE ? NONE : component_find(el, prefix);
    if (component != NONE) return component;
  }
  return NONE;
}

static void modify_component(Elaboration *el, uint32_t number) {
  NewBinding *list = el->modifications.data, *modification = &list[number];
  const char *name = names_text(el->names, modification->name);
  modification->component = component_around(el, name, &modification->part);
  if (modification->component == NONE)
    input_error(el, (Span){0}, "`%s` is not declared, so it cannot be modified", name);
  if (modification->component == NONE || name[modification->part]) return;
  el->components.data[modification->component].binding = modification->value;
  for (uint32_t i = 0; i < number; i++) /* this value replaces the earlier modifications of parts */
    if (list[i].component == modification->component) list[i].component = NONE;
}

void components_declare(Elaboration *el, const ClassEntry *entry) {
  for (uint32_t i = 0; i < entry->ast->elements.count; i++) {
    const AstElement *element = &entry->ast->elements.data[i];
    switch (element->kind) {
    case AST_COMPONENT: component_declare(el, element, entry->inside); break;
    case AST_EXTENDS: input_error(el, element->span, "not supported yet: extends"); break;
    case AST_IMPORT: input_error(el, element->span, "not supported yet: import"); break;
    case AST_CLASS: break;
    }
  }
  for (uint32_t i = 0; i < el->modifications.count; i++) modify_component(el, i);
}

/* ---- evaluating at compile time ---- */

ExecuteStatus evaluate_now(Elaboration *el, AstExpr e, Name scope, Type expected, LoadMode mode, Diags *diags,
                           Value *out) {
  Routine routine = {0};
  Compiler c = compiler_make(el, &routine, diags, scope);
  Type type = compile_expression(&c, e, expected);
  if (c.errors == 0) compile_expect(&c, expected, type, ast_span(el->ast, e), "the value");
  ExecuteStatus status = c.errors ? EXECUTE_ERROR : run_code(el, &routine, mode, diags);
  if (status == EXECUTE_OK) *out = *machine_result(el->machine, 0);
  compiler_free(&c);
  routine_free(el->heap, &routine);
  return status;
}

static Value value_keep(Elaboration *el, const Value *value) {
  Value kept = *value;
  if (value->type.dimensions) {
    uint32_t *sizes = heap_copy(el->heap, value->sizes, value->type.dimensions, sizeof *sizes);
    kept.sizes = sizes;
  }
  if (value->type.base == TYPE_RECORD) {
    uint32_t count = el->model->records.data[value->type.definition].fields.count;
    kept.fields = heap_array(el->heap, count, sizeof *kept.fields);
    for (uint32_t i = 0; i < count; i++) kept.fields[i] = value_keep(el, &value->fields[i]);
  } else {
    kept.data = heap_copy(el->heap, value->data, value->count, sizeof(Expr));
  }
  return kept;
}

static bool value_is_known(const Elaboration *el, const Value *value) {
  if (value->type.base == TYPE_RECORD) {
    for (uint32_t i = 0; i < el->model->records.data[value->type.definition].fields.count; i++)
      if (!value_is_known(el, &value->fields[i])) return false;
    return true;
  }
  for (uint32_t i = 0; i < value->count; i++)
    if (!expr_is_known(el, value_exprs(value)[i])) return false;
  return true;
}

/* ---- scalars modified from outside ---- */

static const Value *value_field(const Elaboration *el, const Value *value, Name name) {
  if (value->type.base != TYPE_RECORD) return NULL;
  const Record *record = &el->model->records.data[value->type.definition];
  for (uint32_t i = 0; i < record->fields.count; i++)
    if (record->fields.data[i].name == name) return &value->fields[i];
  return NULL;
}

/* The scalar that the part of a name (".n", "[1].v[2]") means, as an array and an index; NULL if there is none. */
static const Value *value_part(const Elaboration *el, const Value *value, const char *part, uint32_t *index) {
  uint32_t seen = 0;
  for (*index = 0; *part && value; part += *part == ']') {
    size_t length = strcspn(part + 1, ".[],");
    unsigned long subscript = strtoul(part + 1, NULL, 10);
    if (*part == '.') value = value_field(el, value, names_find(el->names, part + 1, length));
    else if (seen == value->type.dimensions || subscript - 1 >= value->sizes[seen]) return NULL;
    else *index = *index * value->sizes[seen++] + (uint32_t)subscript - 1;
    part += 1 + length;
  }
  return value && value->type.base != TYPE_RECORD && seen == value->type.dimensions ? value : NULL;
}

char *modified_part(Elaboration *el, const NewBinding *modification, const Value *value, Expr *e) {
  const char *name = names_text(el->names, modification->name);
  uint32_t index;
  Value result;
  if (modification->component == NONE || !name[modification->part]) return NULL;
  const Value *leaf = value_part(el, value, name + modification->part, &index);
  if (!leaf) {
    input_error(el, (Span){0}, "there is no `%s`", name);
    return NULL;
  }
  Type type = leaf->type;
  type.dimensions = 0;
  if (evaluate_now(el, modification->value, el->components.data[modification->component].scope, type, LOAD_VALUES,
                   el->diags, &result) != EXECUTE_OK)
    return NULL;
  *e = value_exprs(&result)[0];
  return leaf->data + index * sizeof *e;
}

static void modify_value(Elaboration *el, uint32_t component, const Value *value) {
  for (uint32_t i = 0; i < el->modifications.count; i++) {
    const NewBinding *modification = &el->modifications.data[i];
    Expr e;
    char *place = modification->component == component ? modified_part(el, modification, value, &e) : NULL;
    if (place) memcpy(place, &e, sizeof e);
  }
}

/* ---- dependencies ---- */

static bool has_names(const Elaboration *el, AstExpr e) {
  for (AstExpr i = ast_first(el->ast, e); i <= e; i++)
    if (ast_kind(el->ast, i) == AST_REFERENCE || ast_kind(el->ast, i) == AST_CALL) return true;
  return false;
}

/* Compiles the expression to find the components that it loads. */
void expression_dependencies(Elaboration *el, AstExpr e, Name scope, IndexVec *list) {
  if (e == AST_NONE || !has_names(el, e)) return;
  Routine routine = {0};
  Compiler c = compiler_make(el, &routine, &el->quiet, scope);
  if (ast_kind(el->ast, e) != AST_COLON) compile_expression(&c, e, type_scalar(TYPE_NOTHING));
  for (uint32_t i = 0; i < routine.code.count; i++)
    if (routine.code.data[i].code == CODE_GLOBAL || routine.code.data[i].code == CODE_SIZES)
      vec_push(el->heap, list, routine.code.data[i].b);
  compiler_free(&c);
  routine_free(el->heap, &routine);
}

static const ResolvedType *resolved_of(const Elaboration *el, const Component *component) {
  static const ResolvedType none = {0};
  return component->resolved == NONE ? &none : &el->resolved.data[component->resolved];
}

/* Does the value determine the size: `:`, or one in terms of the component's own sizes, A[:, size(A, 1)]? */
static bool is_open_size(const Elaboration *el, const Component *component, AstExpr e) {
  if (ast_kind(el->ast, e) == AST_COLON) return true;
  for (AstExpr i = ast_first(el->ast, e); i <= e; i++) {
    if (ast_kind(el->ast, i) != AST_REFERENCE) continue;
    AstPath path = ast_path(el->ast, i);
    if (path.count == 1 && ast_part(el->ast, path, 0)->name == component->name) return true;
  }
  return false;
}

static bool has_open_size(const Elaboration *el, const Component *component) {
  const ResolvedType *resolved = resolved_of(el, component);
  for (uint32_t i = 0; i < resolved->dimensions.count; i++)
    for (uint32_t k = 0; k < resolved->dimensions.data[i]->count; k++)
      if (is_open_size(el, component, resolved->dimensions.data[i]->data[k])) return true;
  return false;
}

/* A parameter without a binding has its start value, which also determines an open size. */
static AstExpr start_of(const Elaboration *el, const Component *component) {
  const AstModification *modification = component->element->component->modification;
  for (uint32_t i = 0; modification && i < modification->arguments.count; i++) {
    const AstArgument *argument = &modification->arguments.data[i];
    if (ast_path_is(el->ast, argument->name, "start") && argument->modification) return argument->modification->value;
  }
  return AST_NONE;
}

static bool needs_value(const Elaboration *el, const Component *component) {
  return component_is_parameter(component) || has_open_size(el, component);
}

static AstExpr value_source(const Elaboration *el, const Component *component) {
  return component->binding == AST_NONE ? start_of(el, component) : component->binding;
}

uint32_t view_member(Elaboration *el, const Component *view, uint32_t field) {
  Name name = el->model->records.data[view->type.definition].fields.data[field].name;
  const char *text = arena_printf(&el->arena, "%s.%s", names_text(el->names, view->name), names_text(el->names, name));
  Name full = names_find(el->names, text, strlen(text));
  if (full == MAP_NONE) return NONE;
  if (!view->is_package) return component_find(el, full);
  uint32_t found = map_get(&el->package_constants, full);
  return found == MAP_NONE ? NONE : found;
}

/* The sizes of any variable are constants. */
static bool asks_for_sizes(const Elaboration *el, AstExpr e) {
  for (AstExpr i = ast_first(el->ast, e); i <= e; i++)
    if (ast_kind(el->ast, i) == AST_CALL &&
        (ast_path_is(el->ast, ast_path(el->ast, i), "size") || ast_path_is(el->ast, ast_path(el->ast, i), "ndims")))
      return true;
  return false;
}

/* A constant depends on constants only (Modelica 3.6, section 3.8.1). */
static void check_constant(Elaboration *el, const Component *component, const uint32_t *others, uint32_t count) {
  if (component->variability != VARIABILITY_CONSTANT || component->binding == AST_NONE) return;
  for (uint32_t i = 0; i < count; i++) {
    const Component *other = &el->components.data[others[i]];
    if (other->variability == VARIABILITY_CONSTANT || asks_for_sizes(el, component->binding)) continue;
    input_error(el, ast_span(el->ast, component->binding), "constant `%s` depends on `%s`, which is not a constant",
                names_text(el->names, component->name), names_text(el->names, other->name));
    return;
  }
}

static void dependencies(Elaboration *el, uint32_t number, IndexVec *list) {
  Component component = el->components.data[number];
  if (component.is_view && component.type.base == TYPE_RECORD)
    for (uint32_t i = 0; i < el->model->records.data[component.type.definition].fields.count; i++) {
      uint32_t member = view_member(el, &component, i);
      if (member != NONE) vec_push(el->heap, list, member);
    }
  ResolvedType resolved = *resolved_of(el, &component);
  for (uint32_t i = 0; i < resolved.dimensions.count; i++)
    for (uint32_t k = 0; k < resolved.dimensions.data[i]->count; k++)
      if (!is_open_size(el, &component, resolved.dimensions.data[i]->data[k]))
        expression_dependencies(el, resolved.dimensions.data[i]->data[k], component.scope, list);
  if (!needs_value(el, &component)) return;
  uint32_t first = list->count;
  expression_dependencies(el, value_source(el, &component), component.scope, list);
  check_constant(el, &component, list->data + first, list->count - first);
}

/* ---- settling ---- */

bool type_size(Elaboration *el, AstExpr e, Name scope, uint32_t *size) {
  if (ast_kind(el->ast, e) != AST_REFERENCE || ast_kid_count(el->ast, e)) return false;
  if (ast_path_is(el->ast, ast_path(el->ast, e), "Boolean")) {
    *size = 2;
    return true;
  }
  if (component_find(el, ast_part(el->ast, ast_path(el->ast, e), 0)->name) != NONE) return false;
  ClassEntry *entry = class_find(el, scope, ast_path(el->ast, e));
  if (!entry || entry->role != ROLE_CLASS_ENUMERATION || !enumeration_define(el, entry)) return false;
  *size = el->model->enumerations.data[entry->index].literals.count;
  return true;
}

static bool find_size(Elaboration *el, const Component *component, AstExpr e, uint32_t *size) {
  Value value;
  double number;
  const char *name = names_text(el->names, component->name);
  if (type_size(el, e, component->scope, size)) return true;
  ExecuteStatus status =
      evaluate_now(el, e, component->scope, type_scalar(TYPE_INTEGER), LOAD_VALUES, el->diags, &value);
  if (status == EXECUTE_ERROR) return false;
  if (status == EXECUTE_UNKNOWN || !dag_is_constant(el->dag, value_exprs(&value)[0], &number)) {
    input_error(el, ast_span(el->ast, e),
                "a size of `%s` is not known at compile time; it needs parameters with values", name);
    return false;
  }
  if (number < 0 || number > INT32_MAX)
    return input_error(el, ast_span(el->ast, e), "a size of `%s` is %.0f", name, number), false;
  *size = (uint32_t)number;
  return true;
}

/* Steps of work that a variable costs. */
enum { ELEMENT_WORK = 20 };

/* Charges the work for an array of this many elements. */
static void charge_elements(Elaboration *el, Span span, double count) {
  Budget *budget = heap_budget(el->heap);
  budget_place(budget, span.begin, span.end);
  uint64_t left = budget->most[BUDGET_WORK] - budget->used[BUDGET_WORK];
  if (count <= (double)left / ELEMENT_WORK && count <= INT32_MAX) {
    heap_work(el->heap, (uint64_t)count * ELEMENT_WORK);
    return;
  }
  if (count > 1) budget->task = arena_printf(&el->arena, "an array of %g elements", count);
  heap_work(el->heap, UINT64_MAX);
}

static bool find_sizes(Elaboration *el, Component *component, const Value *value) {
  uint32_t *sizes = heap_array(el->heap, component->type.dimensions, sizeof *sizes), at = 0;
  ResolvedType resolved = *resolved_of(el, component);
  double product = 1;
  for (uint32_t i = 0; i < resolved.dimensions.count; i++)
    for (uint32_t k = 0; k < resolved.dimensions.data[i]->count; k++, at++) {
      AstExpr e = resolved.dimensions.data[i]->data[k];
      if (!is_open_size(el, component, e)) {
        if (!find_size(el, component, e, &sizes[at])) return false;
      } else if (value && value->type.dimensions == component->type.dimensions) {
        sizes[at] = value->sizes[at];
      } else
        return input_error(el, ast_span(el->ast, e), "the size of `%s` is open, and there is no value that gives it",
                           names_text(el->names, component->name)),
               false;
      product *= sizes[at];
    }
  charge_elements(el, component->element->component->label.span, product);
  component->sizes = sizes;
  return true;
}

/* Is the component a constant such as log(-1), which depends on nothing but is not a number? */
static bool is_no_number(Elaboration *el, const Component *component, const Value *value) {
  bool found = false;
  if (component->variability != VARIABILITY_CONSTANT || component->type.base != TYPE_REAL) return false;
  for (uint32_t i = 0; i < value->count && !found; i++) {
    Expr e = value_exprs(value)[i];
    double number;
    bool is_known = dag_is_constant(el->dag, e, &number);
    found = is_known ? isnan(number) : !dag_contains(el->dag, dag_scratch(el->dag), e, OP_CALL);
  }
  return found;
}

/* The value that determines open sizes: known numbers, or else only the shape. */
static bool find_value(Elaboration *el, Component *component, Value *value) {
  AstExpr source = value_source(el, component);
  if (source == AST_NONE || !needs_value(el, component)) return false;
  if (component->type.base == TYPE_EXTERNAL_OBJECT) return false;
  if (component_is_parameter(component)) {
    ExecuteStatus status = evaluate_now(el, source, component->scope, component->type, LOAD_VALUES, el->diags, value);
    component->has_value = status == EXECUTE_OK && value_is_known(el, value);
    if (status == EXECUTE_OK && el->model->is_strict && is_no_number(el, component, value)) {
      input_error(el, ast_span(el->ast, source), "the value of constant `%s` is not a number",
                  names_text(el->names, component->name));
      status = EXECUTE_ERROR;
    }
    if (status == EXECUTE_ERROR) component->progress = PROGRESS_FAILED;
    if (component->has_value || status == EXECUTE_ERROR) return component->has_value;
  }
  return has_open_size(el, component) &&
         evaluate_now(el, source, component->scope, component->type, LOAD_SHAPES, &el->quiet, value) == EXECUTE_OK;
}

bool component_literal(Elaboration *el, Component *component) {
  AstExpr e = component->binding;
  if (e == AST_NONE || component->type.dimensions) return false;
  const AstNode *node = ast_node(el->ast, e);
  Expr value;
  if (node->kind == AST_REAL && component->type.base == TYPE_REAL) value = dag_constant(el->dag, node->value.real);
  else if (node->kind == AST_INTEGER && component->type.base <= TYPE_INTEGER)
    value = dag_constant(el->dag, (double)node->value.integer);
  else if (node->kind == AST_BOOLEAN && component->type.base == TYPE_BOOLEAN)
    value = dag_constant(el->dag, (double)node->value.integer);
  else return false;
  component->value = (Value){.type = component->type, .count = 1, .data = arena_alloc(&el->arena, sizeof value)};
  memcpy(component->value.data, &value, sizeof value);
  component->has_value = true;
  return true;
}

/* Does initialization determine the parameter? With fixed = false its binding is only a guess. */
static bool is_free_parameter(const Elaboration *el, const Component *component) {
  const AstModification *modification = component->element->component->modification;
  for (uint32_t i = 0; modification && i < modification->arguments.count; i++) {
    const AstArgument *argument = &modification->arguments.data[i];
    if (!ast_path_is(el->ast, argument->name, "fixed") || !argument->modification) continue;
    AstExpr value = argument->modification->value;
    return value != AST_NONE && ast_kind(el->ast, value) == AST_BOOLEAN && !ast_node(el->ast, value)->value.integer;
  }
  return false;
}

/* A record assembled from its members: from their values, or from their leaves. A member that determines sizes can no longer
 * change, so its value is used in both cases. */
static bool view_assemble(Elaboration *el, const Component *view, bool of_values, Value *out) {
  uint32_t count = el->model->records.data[view->type.definition].fields.count;
  *out = (Value){.type = view->type, .count = 1, .sizes = view->sizes};
  for (uint32_t i = 0; i < view->type.dimensions; i++) out->count *= view->sizes[i];
  out->fields = arena_array(&el->arena, count, sizeof *out->fields);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t member = view_member(el, view, i);
    const Component *part = member == NONE ? NULL : &el->components.data[member];
    if (!part || (of_values && !part->has_value)) return false;
    bool is_settled = part->is_structural && part->has_value && !part->is_view;
    out->fields[i] = of_values || is_settled ? part->value : part->leaves;
  }
  return true;
}

static void evaluate_view(Elaboration *el, uint32_t number) {
  Component component = el->components.data[number];
  el->marks_structural = true;
  bool fits = find_sizes(el, &component, NULL);
  el->marks_structural = false;
  component.progress = fits ? PROGRESS_DONE : PROGRESS_FAILED;
  if (fits) component.has_value = view_assemble(el, &component, true, &component.value);
  el->components.data[number] = component;
}

static void evaluate_component(Elaboration *el, uint32_t number) {
  Component component = el->components.data[number];
  if (component.progress == PROGRESS_FAILED) return;
  if (component.is_view) {
    evaluate_view(el, number);
    return;
  }
  if (!component_is_parameter(&component) || !component_literal(el, &component)) {
    Value value;
    bool has_shape = find_value(el, &component, &value);
    bool is_free = is_free_parameter(el, &component);
    if (component.progress == PROGRESS_FAILED) {
      el->components.data[number] = component;
      return;
    }
    if (has_shape) value = value_keep(el, &value), modify_value(el, number, &value);
    el->marks_structural = true;
    bool fits = find_sizes(el, &component, has_shape ? &value : NULL);
    el->marks_structural = false;
    if (has_shape && component.has_value) component.value = value;
    for (uint32_t i = 0; fits && component.has_value && i < component.type.dimensions; i++)
      if (value.sizes[i] != component.sizes[i]) component.has_value = false; /* reported with the binding */
    if (is_free) component.has_value = false;
    component.progress = fits ? PROGRESS_DONE : PROGRESS_FAILED;
  } else component.progress = PROGRESS_DONE;
  el->components.data[number] = component;
}

typedef struct ComponentVisit {
  uint32_t component;
  uint32_t first, next, end; /* its dependencies in the list: the first, the next to visit, the end */
  uint32_t closes;           /* the lowest visit of a component on the stack that this one needs; NONE: there is none */
  const char *circle;        /* text of the cycle */
} ComponentVisit;

static const char *circle_text(Elaboration *el, const ComponentVisit *visits, uint32_t count, uint32_t repeated) {
  TextVec text = {0};
  uint32_t shown = 0;
  for (uint32_t i = 0; i < count && shown < 8; i++, shown++)
    text_printf(el->heap, &text, "%s -> ", names_text(el->names, el->components.data[visits[i].component].name));
  text_printf(el->heap, &text, "%s%s", shown == 8 ? "... -> " : "",
              names_text(el->names, el->components.data[repeated].name));
  return text_keep(el->heap, &text, &el->arena);
}

static void report_circle(Elaboration *el, uint32_t number, const char *circle) {
  Component *component = &el->components.data[number];
  input_error(el, component->element->component->label.span, "`%s` depends on itself: %s",
              names_text(el->names, component->name), circle);
  component->progress = PROGRESS_FAILED;
}

typedef VEC(ComponentVisit) ComponentVisits;

/* Records a dependency that is itself waiting for this component. It may be in a branch that is not taken. */
static void note_circle(Elaboration *el, ComponentVisits *stack, uint32_t other) {
  ComponentVisit *visit = &vec_last(stack);
  uint32_t from = stack->count - 1;
  while (stack->data[from].component != other && from > 0) from--;
  if (stack->data[from].component != other) { /* a function that the component calls needs it */
    report_circle(el, other, circle_text(el, stack->data, stack->count, other));
    return;
  }
  if (from >= visit->closes) return;
  visit->closes = from;
  visit->circle = circle_text(el, stack->data + from, stack->count - from, other);
}

/* Everything that the component names is evaluated, except for components that wait for it. The component may have a value
 * nevertheless. If not, it is evaluated later, and the components that wait for it inherit the cycle. */
static void finish_visit(Elaboration *el, ComponentVisits *stack, IndexVec *late) {
  ComponentVisit visit = vec_pop(stack);
  el->evaluations++;
  evaluate_component(el, visit.component);
  el->evaluations--;
  Component *component = &el->components.data[visit.component];
  if (visit.closes == NONE || component->has_value || component->progress == PROGRESS_FAILED) return;
  if (visit.closes >= stack->count) {
    report_circle(el, visit.component, visit.circle);
    return;
  }
  component->progress = PROGRESS_NEW;
  vec_push(el->heap, late, visit.component);
  if (visit.closes >= vec_last(stack).closes) return;
  vec_last(stack).closes = visit.closes;
  vec_last(stack).circle = visit.circle;
}

static void begin_visit(Elaboration *el, ComponentVisits *stack, uint32_t component) {
  if (el->components.data[component].progress == PROGRESS_NEW)
    vec_push(el->heap, stack, (ComponentVisit){.component = component, .end = NONE, .closes = NONE});
}

/* Depth first over dependencies with an explicit stack. */
void component_evaluate(Elaboration *el, uint32_t root) {
  ComponentVisits stack = {0};
  IndexVec list = {0}, late = {0};
  begin_visit(el, &stack, root);
  while (stack.count || late.count) {
    if (!stack.count) {
      begin_visit(el, &stack, vec_pop(&late));
      continue;
    }
    ComponentVisit *visit = &vec_last(&stack);
    if (visit->end == NONE) {
      uint32_t number = visit->component, first = list.count;
      el->components.data[number].progress = PROGRESS_OPEN;
      dependencies(el, number, &list);
      visit = &vec_last(&stack);
      visit->first = visit->next = first;
      visit->end = list.count;
    }
    if (visit->next < visit->end) {
      uint32_t other = list.data[visit->next++];
      if (el->components.data[other].progress == PROGRESS_OPEN) note_circle(el, &stack, other);
      else begin_visit(el, &stack, other);
      continue;
    }
    list.count = visit->first;
    finish_visit(el, &stack, &late);
  }
  vec_free(el->heap, &stack, &list, &late);
}

void components_evaluate(Elaboration *el) {
  for (uint32_t i = 0; i < el->components.count; i++) {
    Component *component = &el->components.data[i];
    bool is_plain = component->progress == PROGRESS_NEW && component->type.dimensions == 0 && !component->is_view &&
                    (!component_is_parameter(component) || component_literal(el, component));
    if (is_plain) component->progress = PROGRESS_DONE;
    else component_evaluate(el, i);
  }
}

void components_spread_structural(Elaboration *el) {
  IndexVec open = {0}, list = {0};
  for (uint32_t i = 0; i < el->components.count; i++)
    if (el->components.data[i].is_structural) vec_push(el->heap, &open, i);
  while (open.count) {
    list.count = 0;
    dependencies(el, vec_pop(&open), &list);
    for (uint32_t i = 0; i < list.count; i++) {
      Component *component = &el->components.data[list.data[i]];
      if (component->is_structural || !component_is_parameter(component)) continue;
      component->is_structural = true;
      vec_push(el->heap, &open, list.data[i]);
    }
  }
  vec_free(el->heap, &open, &list);
  for (uint32_t i = 0; i < el->components.count; i++) {
    const Component *component = &el->components.data[i];
    if (!(component->is_structural || component->is_held) || component->first == NONE) continue;
    uint32_t count = value_scalars(&component->leaves, el->record_list);
    for (uint32_t k = 0; k < count; k++) {
      Variable *variable = &el->model->variables.data[component->first + k];
      variable->is_structural |= component->is_structural;
      variable->is_held |= component->is_held;
    }
  }
}

/* ---- adding variables ---- */

/* Do the values of a record component fit, if all dimensions of the arrays that contain a field are taken together? Reports an
 * error if they do not fit. */
static bool check_leaves(Elaboration *el, const Component *component, Type type, double count) {
  heap_work(el->heap, ELEMENT_WORK);
  Span span = component->element->component->label.span;
  if (type.dimensions > TYPE_MAX_DIMENSIONS)
    return input_error(el, span, "more than %d dimensions", TYPE_MAX_DIMENSIONS), false;
  if (type.base != TYPE_RECORD) return charge_elements(el, span, count), true;
  const Record *record = &el->model->records.data[type.definition];
  bool fits = true;
  for (uint32_t i = 0; i < record->fields.count && fits; i++) {
    const Field *field = &el->model->records.data[type.definition].fields.data[i];
    Type inner = field->type;
    double product = count;
    for (uint32_t k = 0; k < inner.dimensions; k++) product *= field->sizes[k] == UINT32_MAX ? 0 : field->sizes[k];
    inner.dimensions = (uint8_t)(inner.dimensions + type.dimensions);
    fits = check_leaves(el, component, inner, product);
  }
  return fits;
}

static Value leaves_make(Elaboration *el, Type type, const uint32_t *sizes) {
  Value value = {.type = type, .count = 1, .sizes = sizes};
  for (uint32_t i = 0; i < type.dimensions; i++) value.count *= sizes[i];
  if (type.base != TYPE_RECORD) {
    value.data = arena_array(&el->arena, value.count, sizeof(Expr));
    return value;
  }
  uint32_t count = el->model->records.data[type.definition].fields.count;
  value.fields = arena_array(&el->arena, count, sizeof *value.fields);
  for (uint32_t i = 0; i < count; i++) {
    const Field *field = &el->model->records.data[type.definition].fields.data[i];
    uint32_t dimensions = (uint32_t)type.dimensions + field->type.dimensions;
    uint32_t *all = arena_array(&el->arena, dimensions, sizeof *all);
    Type inner = field->type;
    inner.dimensions = (uint8_t)dimensions;
    for (uint32_t k = 0; k < dimensions; k++) {
      uint32_t size = k < type.dimensions ? sizes[k] : field->sizes[k - type.dimensions];
      all[k] = size == UINT32_MAX ? 0 : size;
    }
    value.fields[i] = leaves_make(el, inner, all);
  }
  return value;
}

static Role role_of(const Component *component, BaseType base) {
  if (component_is_parameter(component) || base == TYPE_EXTERNAL_OBJECT) return ROLE_PARAMETER;
  bool is_input = component->element->prefixes & PREFIX_INPUT;
  if (is_input && component->binding == AST_NONE && base != TYPE_CLOCK) return ROLE_PARAMETER;
  if (base != TYPE_REAL || component->variability == VARIABILITY_DISCRETE || component->is_when) return ROLE_DISCRETE;
  return ROLE_UNKNOWN;
}

static Variable variable_of(const Elaboration *el, const Component *component, Type type) {
  const AstElement *element = component->element;
  Variable variable = variable_make(0, (BaseType)type.base, role_of(component, (BaseType)type.base));
  variable.enumeration = type.definition;
  if (variable.role != ROLE_DISCRETE) variable.variability = (Variability)component->variability;
  variable.is_final = element->prefixes & PREFIX_FINAL;
  variable.is_hidden = element->component->is_inside_hidden || ast_hides_result(el->ast, element);
  variable.description = element->component->comment;
  variable.span = element->component->label.span;
  if (element->component->is_inner_input) variable.causality = CAUSALITY_INNER_INPUT;
  if (element->prefixes & PREFIX_INPUT) variable.causality = CAUSALITY_INPUT;
  if (element->prefixes & PREFIX_OUTPUT) variable.causality = CAUSALITY_OUTPUT;
  return variable;
}

static void add_variable(Elaboration *el, Variable *variable, Name name, char *out) {
  if (model_named(el->model, name) != MAP_NONE) {
    input_error(el, variable->span, "two variables have the name `%s`", names_text(el->names, name));
    return;
  }
  variable->name = name;
  Expr leaf = model_add_leaf(el->model, variable);
  memcpy(out, &leaf, sizeof leaf);
}

static void append_subscript(Elaboration *el, TextVec *text, uint32_t number) {
  char digits[12], *at = digits + sizeof digits;
  do *--at = (char)('0' + number % 10);
  while (number /= 10);
  uint32_t count = (uint32_t)(digits + sizeof digits - at);
  memcpy(vec_extend(el->heap, text, count), at, count);
}

/* Counts the elements of an array; the last subscript grows first. */
static void next_element(uint32_t *counter, const uint32_t *sizes, uint32_t dimensions) {
  for (uint32_t i = dimensions; i-- > 0;) {
    if (++counter[i] < sizes[i]) break;
    counter[i] = 0;
  }
}

/* Adds elements [from, from + count) of the value, whose names are the text with subscripts [i,j] after it. Depth is bounded by the
 * nesting of records. */
static void add_elements(Elaboration *el, const Component *component, Value *value, uint32_t from, uint32_t count,
                         const uint32_t *sizes, uint32_t dimensions, TextVec *text) {
  uint32_t counter[TYPE_MAX_DIMENSIONS] = {0}, length = text->count;
  bool is_record = value->type.base == TYPE_RECORD;
  Variable variable = variable_of(el, component, value->type);
  for (uint32_t n = 0; n < count; n++) {
    text->count = length;
    for (uint32_t i = 0; i < dimensions; i++) {
      vec_push(el->heap, text, i ? ',' : '[');
      append_subscript(el, text, counter[i] + 1);
    }
    if (dimensions) vec_push(el->heap, text, ']');
    if (!is_record) {
      Name name = names_add(el->names, text->data, text->count);
      add_variable(el, &variable, name, value->data + (from + n) * sizeof(Expr));
    }
    uint32_t outer = text->count;
    for (uint32_t i = 0; is_record && i < el->model->records.data[value->type.definition].fields.count; i++) {
      Name name = el->model->records.data[value->type.definition].fields.data[i].name;
      Value *field = &value->fields[i];
      uint32_t per = field->count / value->count;
      text->count = outer;
      vec_push(el->heap, text, '.');
      text_append(el->heap, text, names_text(el->names, name), names_length(el->names, name));
      add_elements(el, component, field, (from + n) * per, per, field->sizes + value->type.dimensions,
                   (uint32_t)(field->type.dimensions - value->type.dimensions), text);
    }
    next_element(counter, sizes, dimensions);
  }
}

/* The subscripts are inside of the names: r[3].v. The text before the last subscript is often the same as in the name before. */
static void add_patterned(Elaboration *el, Component *component) {
  uint32_t counter[TYPE_MAX_DIMENSIONS] = {0}, dimensions = component->type.dimensions, head = 0;
  const char *pattern = names_text(el->names, component->element->component->pattern), *last = strrchr(pattern, '\1');
  size_t rest = last ? strlen(last + 1) : 0;
  Variable variable = variable_of(el, component, component->type);
  TextVec text = {0};
  for (uint32_t n = 0; n < component->leaves.count; n++) {
    uint32_t next = 0;
    text.count = head;
    if (n == 0 || counter[dimensions - 1] == 0) {
      text.count = 0;
      for (const char *c = pattern; c < last; c++)
        if (*c == '\1') append_subscript(el, &text, counter[next++] + 1);
        else vec_push(el->heap, &text, *c);
      head = text.count;
    }
    append_subscript(el, &text, counter[dimensions - 1] + 1);
    text_append(el->heap, &text, last + 1, rest);
    Name name = names_add(el->names, text.data, text.count);
    add_variable(el, &variable, name, component->leaves.data + n * sizeof(Expr));
    next_element(counter, component->sizes, dimensions);
  }
  vec_free(el->heap, &text);
}

static void add_component(Elaboration *el, Component *component) {
  if (component->is_view) return;
  component->first = el->model->variables.count;
  double elements = 1;
  for (uint32_t i = 0; i < component->type.dimensions; i++) elements *= component->sizes[i];
  budget_place(heap_budget(el->heap), component->element->component->label.span.begin,
               component->element->component->label.span.end);
  if (component->type.base == TYPE_RECORD && !check_leaves(el, component, component->type, elements)) return;
  component->leaves = leaves_make(el, component->type, component->sizes);
  if (component->type.dimensions == 0 && component->type.base != TYPE_RECORD) {
    Variable variable = variable_of(el, component, component->type);
    add_variable(el, &variable, component->name, component->leaves.data);
    return;
  }
  if (component->element->component->pattern) {
    add_patterned(el, component);
    return;
  }
  TextVec text = {0};
  text_append(el->heap, &text, names_text(el->names, component->name), names_length(el->names, component->name));
  add_elements(el, component, &component->leaves, 0, component->leaves.count, component->sizes,
               component->type.dimensions, &text);
  vec_free(el->heap, &text);
}

void component_add_derived(Elaboration *el, Name name, BaseType base, uint32_t count, Span span) {
  AstElement *element = arena_alloc(&el->arena, sizeof *element);
  element->component = arena_alloc(&el->arena, sizeof *element->component);
  element->component->label = (AstLabel){name, span};
  uint32_t *sizes = arena_alloc(&el->arena, sizeof *sizes);
  *sizes = count;
  Component component = {.name = name,
                         .element = element,
                         .binding = AST_NONE,
                         .scope = el->scope,
                         .type = {.base = (uint8_t)base, .dimensions = count > 0},
                         .variability = base == TYPE_REAL ? VARIABILITY_CONTINUOUS : VARIABILITY_DISCRETE,
                         .progress = PROGRESS_DONE,
                         .sizes = sizes,
                         .resolved = NONE};
  add_component(el, &component);
  component_register(el, name, el->components.count);
  vec_push(el->heap, &el->components, component);
}

/* Makes room for all variables, and for the names of the elements of arrays. */
static void reserve_variables(Elaboration *el) {
  double count = 0, names = 0;
  for (uint32_t i = 0; i < el->components.count; i++) {
    const Component *component = &el->components.data[i];
    if (component->is_package || component->progress != PROGRESS_DONE || component->type.base == TYPE_RECORD) continue;
    double elements = 1;
    for (uint32_t k = 0; k < component->type.dimensions; k++) elements *= component->sizes[k];
    count += elements;
    if (component->type.dimensions) names += elements;
  }
  if (count > INT32_MAX) return;
  names_reserve(el->names, (uint32_t)names);
  vec_reserve(el->heap, &el->model->variables, (uint32_t)count);
}

void components_add(Elaboration *el) {
  reserve_variables(el);
  for (uint32_t i = 0; i < el->components.count; i++)
    if (!el->components.data[i].is_package && el->components.data[i].progress == PROGRESS_DONE)
      add_component(el, &el->components.data[i]);
  for (uint32_t i = 0; i < el->components.count; i++) {
    Component *component = &el->components.data[i];
    if (component->is_view && !component->is_package && component->progress == PROGRESS_DONE &&
        !view_assemble(el, component, false, &component->leaves))
      input_error(el, component->element->component->label.span, "a part of record `%s` is missing",
                  names_text(el->names, component->name));
  }
}
