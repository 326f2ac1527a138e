/* routine: function classes become routines: inputs, outputs and locals become slots; then sizes and bindings are compiled in order
 * of their dependencies, then the statements.
 *
 * Invariant: a routine's slots exist before any body is compiled, so that functions may call each other. Bodies are compiled from a
 * list, never from within each other. */
#include "lang/compile.h"

#include "base/compiler.h"

#include <string.h>

/* ---- slots ---- */

Type function_type(Elaboration *el, uint32_t number) {
  const Routine *routine = el->model->routines.data[number];
  vec_push(el->heap, &el->model->records,
           (Record){.name = routine->name, .function = number + 1, .span = routine->span});
  el->record_list = el->model->records.data;
  return (Type){.base = TYPE_RECORD, .definition = el->model->records.count - 1};
}

/* The class of an input that is a function; NULL if the input is something else. */
static ClassEntry *find_function_class(Elaboration *el, Name scope, const AstComponent *component) {
  ClassEntry *found = class_find(el, scope, component->type->name);
  return found && found->role == ROLE_CLASS_FUNCTION ? found : NULL;
}

/* The type of a slot with its dimensions; false after an error. */
static bool resolve_slot(Elaboration *el, Name scope, const AstComponent *component, ResolvedType *out) {
  ClassEntry *function = find_function_class(el, scope, component);
  if (!function) return type_resolve(el, scope, component->type, out);
  uint32_t number = routine_of(el, function);
  if (number != NONE) out->type = function_type(el, number);
  return number != NONE;
}

/* slot_of: the slots declared so far, by name. */
static bool declare_slot(Elaboration *el, Routine *routine, const ClassEntry *entry, const AstElement *element,
                         Map *slot_of) {
  const AstComponent *component = element->component;
  ResolvedType resolved = {0};
  uint32_t before = map_get(slot_of, component->label.name);
  if (before != MAP_NONE) {
    Diag *diag =
        input_error(el, component->label.span, "`%s` is declared twice", names_text(el->names, component->label.name));
    diag_note(el->diags, diag, routine->locals.data[before].span, "first declared here");
    return false;
  }
  if (component->dimensions.count) vec_push(el->heap, &resolved.dimensions, &component->dimensions);
  if (!resolve_slot(el, entry->inside, component, &resolved)) return false;
  uint32_t count = 0;
  Local local = {.name = component->label.name, .type = resolved.type, .span = component->label.span};
  for (uint32_t i = 0; i < resolved.dimensions.count; i++) {
    count += resolved.dimensions.data[i]->count;
    for (uint32_t k = 0; k < resolved.dimensions.data[i]->count; k++)
      local.is_free = local.is_free || ast_kind(el->ast, resolved.dimensions.data[i]->data[k]) == AST_COLON;
  }
  if (count > TYPE_MAX_DIMENSIONS)
    return input_error(el, component->label.span, "more than %d dimensions", TYPE_MAX_DIMENSIONS), false;
  local.type.dimensions = (uint8_t)count;
  if (local.type.base == TYPE_ENUMERATION)
    local.literals = el->model->enumerations.data[local.type.definition].literals.count;
  local.has_default = component->modification && component->modification->value != AST_NONE;
  map_put(slot_of, local.name, routine->locals.count);
  vec_push(el->heap, &routine->locals, local);
  return true;
}

/* Inputs first, then outputs, then the rest, each in source order. */
static bool declare_slots(Elaboration *el, Routine *routine, const ClassEntry *entry) {
  const AstClass *ast = entry->ast;
  Map slot_of = map_make(el->heap);
  bool fits = true;
  for (uint32_t pass = 0; pass < 3; pass++) {
    for (uint32_t i = 0; i < ast->elements.count; i++) {
      const AstElement *element = &ast->elements.data[i];
      if (element->kind == AST_EXTENDS && pass == 0) {
        input_error(el, element->span, "not supported yet: extends in a function");
        fits = false;
      }
      if (element->kind != AST_COMPONENT) continue;
      uint32_t kind = element->prefixes & PREFIX_INPUT ? 0 : element->prefixes & PREFIX_OUTPUT ? 1 : 2;
      if (kind == pass) fits = declare_slot(el, routine, entry, element, &slot_of) && fits;
    }
    if (pass == 0) routine->inputs = routine->locals.count;
    if (pass == 1) routine->outputs = routine->locals.count - routine->inputs;
  }
  map_free(&slot_of);
  return fits;
}

/* An algorithm cannot compute an external object (Modelica Language Specification, "External Objects"). */
static bool makes_no_object(Elaboration *el, const Routine *routine, const ClassEntry *entry) {
  for (uint32_t k = 0; k < routine->outputs && !entry->ast->external; k++) {
    if (routine->locals.data[routine->inputs + k].type.base != TYPE_EXTERNAL_OBJECT) continue;
    input_error(el, entry->ast->label.span, "`%s` has an external object as output: only external functions make them",
                names_text(el->names, class_label(el, entry)));
    return false;
  }
  return true;
}

/* ---- annotations ---- */

/* Adds the input that the option names. */
static void add_input(Elaboration *el, const Routine *routine, AstExpr value, IndexVec *list) {
  if (ast_kind(el->ast, value) != AST_REFERENCE) return;
  for (uint32_t k = 0; k < routine->inputs; k++)
    if (routine->locals.data[k].name == ast_part(el->ast, ast_path(el->ast, value), 0)->name)
      vec_push(el->heap, list, k);
}

/* The named function is compiled together with the called functions. */
static const Routine *derivative_routine(Elaboration *el, Name scope, AstPath path) {
  ClassEntry *found = class_find(el, scope, path);
  bool is_function = found && found->role == ROLE_CLASS_FUNCTION && found->ast->form == FORM_LONG;
  uint32_t number = is_function ? routine_of(el, found) : NONE;
  return number == NONE ? NULL : el->model->routines.data[number];
}

static void read_derivative(Elaboration *el, Routine *routine, Name scope, const AstArgument *argument) {
  const AstModification *modification = argument->modification;
  if (!modification || modification->value == AST_NONE || ast_kind(el->ast, modification->value) != AST_REFERENCE)
    return;
  Derivative derivative = {.order = 1};
  for (uint32_t i = 0; i < modification->arguments.count; i++) {
    const AstArgument *option = &modification->arguments.data[i];
    const char *name = ast_path_text(el->ast, option->name, &el->arena);
    AstExpr value = option->modification ? option->modification->value : AST_NONE;
    if (value == AST_NONE) continue;
    if (strcmp(name, "order") == 0 && ast_kind(el->ast, value) == AST_INTEGER)
      derivative.order = (uint32_t)ast_node(el->ast, value)->value.integer;
    if (strcmp(name, "noDerivative") == 0) add_input(el, routine, value, &derivative.without);
    if (strcmp(name, "zeroDerivative") == 0) add_input(el, routine, value, &derivative.constant);
  }
  derivative.routine = derivative_routine(el, scope, ast_path(el->ast, modification->value));
  if (derivative.routine) vec_push(el->heap, &routine->derivatives, derivative);
}

static void read_derivatives(Elaboration *el, Routine *routine, const ClassEntry *entry) {
  const AstModification *annotation = entry->ast->annotation;
  Name scope = entry->inside;
  for (uint32_t i = 0; annotation && i < annotation->arguments.count; i++)
    if (strcmp(ast_path_text(el->ast, annotation->arguments.data[i].name, &el->arena), "derivative") == 0)
      read_derivative(el, routine, scope, &annotation->arguments.data[i]);
}

static void read_annotations(Elaboration *el, Routine *routine, const AstModification *annotation) {
  for (uint32_t i = 0; annotation && i < annotation->arguments.count; i++) {
    const AstArgument *argument = &annotation->arguments.data[i];
    const char *name = ast_path_text(el->ast, argument->name, &el->arena);
    AstExpr value = argument->modification ? argument->modification->value : AST_NONE;
    if (strcmp(name, "GenerateEvents") == 0 && value != AST_NONE && ast_kind(el->ast, value) == AST_BOOLEAN)
      routine->makes_events = ast_node(el->ast, value)->value.integer != 0;
  }
}

/* ---- bodies ---- */

/* The slots of a function by name, and which of them are compiled. */
typedef struct SlotOrder {
  const Ast *ast;
  Map slots;
  bool *done;
  const AstElement **elements; /* per slot */
} SlotOrder;

/* Does the expression name a slot other than `slot` that is not compiled yet? */
static bool waits_in(const SlotOrder *order, AstExpr e, uint32_t slot) {
  for (AstExpr i = ast_first(order->ast, e); i <= e; i++) {
    if (ast_kind(order->ast, i) != AST_REFERENCE) continue;
    uint32_t named = map_get(&order->slots, ast_part(order->ast, ast_path(order->ast, i), 0)->name);
    if (named != MAP_NONE && named != slot && !order->done[named]) return true;
  }
  return false;
}

/* Does the value of a modification, or of a field in it, name a slot other than `slot` that is not compiled yet? */
static bool waits_in_modification(const SlotOrder *order, const AstModification *modification, uint32_t slot) {
  if (!modification) return false;
  if (modification->value != AST_NONE && waits_in(order, modification->value, slot)) return true;
  for (uint32_t i = 0; i < modification->arguments.count; i++)
    if (waits_in_modification(order, modification->arguments.data[i].modification, slot)) return true;
  return false;
}

static bool slot_waits(const SlotOrder *order, uint32_t slot) {
  const AstComponent *component = order->elements[slot]->component;
  if (waits_in_modification(order, component->modification, slot)) return true;
  for (uint32_t i = 0; i < component->dimensions.count; i++)
    if (waits_in(order, component->dimensions.data[i], slot)) return true;
  for (uint32_t i = 0; i < component->type->dimensions.count; i++)
    if (waits_in(order, component->type->dimensions.data[i], slot)) return true;
  return false;
}

static void compile_sizes(Compiler *c, const ResolvedType *resolved, uint32_t slot, Span span) {
  const Ast *ast = c->el->ast;
  uint32_t count = 0, height = c->types.count;
  for (uint32_t i = 0; i < resolved->dimensions.count; i++)
    for (uint32_t k = 0; k < resolved->dimensions.data[i]->count; k++, count++) {
      AstExpr e = resolved->dimensions.data[i]->data[k];
      if (ast_kind(ast, e) == AST_COLON) {
        compile_emit(c, CODE_ALL, 0, 0, ast_span(ast, e));
        continue;
      }
      uint32_t size;
      if (type_size(c->el, e, c->scope, &size)) {
        emit_constant(c, TYPE_INTEGER, size, span);
        continue;
      }
      compile_expect(c, type_scalar(TYPE_INTEGER), compile_expression(c, e, type_scalar(TYPE_INTEGER)),
                     ast_span(ast, e), "a size");
    }
  c->types.count = height;
  compile_emit(c, CODE_DECLARE, count, slot, span);
}

/* ---- values of the fields of a record ---- */

/* A value that a modification gives a field: slot.names = value. */
typedef struct FieldValue {
  Name names[RECORD_DEPTH_LIMIT + 1];
  uint32_t steps[2 * (RECORD_DEPTH_LIMIT + 1)]; /* of CODE_STORE */
  uint32_t count;
  Type type;
  AstExpr value;
  bool is_done;
} FieldValue;

typedef VEC(FieldValue) FieldValueVec;

static bool add_field_step(Compiler *c, FieldValue *field, Name name, Span span) {
  uint32_t number = 0;
  if (field->count > RECORD_DEPTH_LIMIT) return compile_error(c, span, "the name has too many parts");
  field->type = field_type(c, field->type, name, span, &number);
  field->names[field->count] = name;
  field->steps[2 * field->count] = STEP_FIELD;
  field->steps[2 * field->count + 1] = number;
  field->count++;
  return field->type.base != TYPE_NOTHING;
}

/* Collects the values in (a = 1, b(c = 2), d.e = 3). If the slot is not a record, these are attributes and are ignored here. */
static void collect_fields(Compiler *c, const AstModification *modification, const FieldValue *around,
                           FieldValueVec *out) {
  if (around->type.base != TYPE_RECORD) return;
  for (uint32_t i = 0; modification && i < modification->arguments.count; i++) {
    const AstArgument *argument = &modification->arguments.data[i];
    FieldValue field = *around;
    bool fits = true;
    if (!argument->modification) continue;
    for (uint32_t k = 0; k < argument->name.count && fits; k++)
      fits = add_field_step(c, &field, ast_part(c->el->ast, argument->name, k)->name, argument->span);
    if (!fits) continue;
    field.value = argument->modification->value;
    if (field.value != AST_NONE && argument->is_each && field.type.dimensions)
      compile_error(c, argument->span, "not supported yet: each, of a field of a record in a function");
    if (field.value != AST_NONE) vec_push(c->el->heap, out, field);
    else collect_fields(c, argument->modification, &field, out);
  }
}

/* Is the node the array in size(array, k)? */
static bool is_measured(const Ast *ast, AstExpr e, AstExpr whole) {
  for (AstExpr call = e + 1; call <= whole; call++)
    if (ast_kind(ast, call) == AST_CALL && ast_kid_count(ast, call) && ast_kid(ast, call, 0) == e)
      return ast_path_is(ast, ast_path(ast, call), "size");
  return false;
}

/* Does slot.a.b name the field, a part of it, or a record that contains it? size() of such a record does not count, because its
 * size is declared. */
static bool names_field(const Ast *ast, AstExpr e, AstExpr whole, Name slot, const FieldValue *field) {
  if (ast_kind(ast, e) != AST_REFERENCE) return false;
  AstPath path = ast_path(ast, e);
  if (ast_part(ast, path, 0)->name != slot) return false;
  for (uint32_t i = 0; i < field->count && i + 1 < path.count; i++)
    if (ast_part(ast, path, i + 1)->name != field->names[i]) return false;
  return path.count > field->count || !is_measured(ast, e, whole);
}

static bool field_depends(const Ast *ast, const FieldValue *field, Name slot, const FieldValue *other) {
  for (AstExpr e = ast_first(ast, field->value); e <= field->value; e++)
    if (names_field(ast, e, field->value, slot, other)) return true;
  return false;
}

static bool is_field_ready(const Ast *ast, const FieldValueVec *fields, const FieldValue *field, Name slot) {
  for (uint32_t i = 0; i < fields->count; i++)
    if (!fields->data[i].is_done && field_depends(ast, field, slot, &fields->data[i])) return false;
  return true;
}

/* Stores a value in a slot, or in the part of it that these steps lead to. */
static void store_value(Compiler *c, AstExpr value, Type type, Span span, uint32_t slot, uint32_t count,
                        const uint32_t *steps) {
  compile_expect(c, type, compile_expression(c, value, type), span, "the binding");
  c->types.count--;
  uint32_t at = c->routine->extra.count;
  vec_push(c->el->heap, &c->routine->extra, slot);
  vec_push(c->el->heap, &c->routine->extra, count);
  for (uint32_t i = 0; i < 2 * count; i++) vec_push(c->el->heap, &c->routine->extra, steps[i]);
  compile_emit(c, CODE_STORE, 0, at, span);
}

static void store_field(Compiler *c, const FieldValue *field, uint32_t slot) {
  store_value(c, field->value, field->type, ast_span(c->el->ast, field->value), slot, field->count, field->steps);
}

/* Compiles the fields in an order in which each comes after those it depends on. */
static void compile_fields(Compiler *c, const AstModification *modification, uint32_t slot) {
  Name name = c->routine->locals.data[slot].name;
  FieldValueVec fields = {0};
  collect_fields(c, modification, &(FieldValue){.type = c->routine->locals.data[slot].type}, &fields);
  for (uint32_t left = fields.count, before = left + 1; left && left < before;) {
    before = left;
    for (uint32_t i = 0; i < fields.count; i++) {
      FieldValue *field = &fields.data[i];
      if (field->is_done || !is_field_ready(c->el->ast, &fields, field, name)) continue;
      store_field(c, field, slot);
      field->is_done = true;
      left--;
    }
  }
  for (uint32_t i = 0; i < fields.count; i++)
    if (!fields.data[i].is_done)
      compile_error(c, ast_span(c->el->ast, fields.data[i].value), "field `%s` of `%s` depends on itself",
                    names_text(c->el->names, fields.data[i].names[fields.data[i].count - 1]),
                    names_text(c->el->names, name));
  vec_free(c->el->heap, &fields);
}

/* Emits DECLARE; then, if there is a binding, DEFAULT (for inputs only), the value, and STORE; then the values of fields. */
static void compile_slot(Compiler *c, const ClassEntry *entry, const AstComponent *component, uint32_t slot) {
  Elaboration *el = c->el;
  ResolvedType resolved = {0};
  if (component->dimensions.count) vec_push(el->heap, &resolved.dimensions, &component->dimensions);
  if (!resolve_slot(el, entry->inside, component, &resolved)) return;
  Span span = component->label.span;
  uint32_t guard = NONE;
  bool has_binding = component->modification && component->modification->value != AST_NONE;
  if (slot < c->routine->inputs && has_binding) {
    guard = c->routine->code.count;
    compile_emit(c, CODE_DEFAULT, slot, 0, span);
  }
  if (has_binding && (slot < c->routine->inputs || c->routine->locals.data[slot].is_free)) {
    Type type = compile_expression(c, component->modification->value, c->routine->locals.data[slot].type);
    compile_expect(c, c->routine->locals.data[slot].type, type, span, "the binding");
    c->types.count--;
    compile_emit(c, CODE_BIND, 0, slot, span);
    if (guard != NONE) patch_here(c, guard);
    compile_sizes(c, &resolved, slot, span);
  } else {
    compile_sizes(c, &resolved, slot, span);
    if (has_binding)
      store_value(c, component->modification->value, c->routine->locals.data[slot].type, span, slot, 0, NULL);
  }
  if (slot >= c->routine->inputs) compile_fields(c, component->modification, slot);
  vec_free(el->heap, &resolved.dimensions, &resolved.modifications);
}

static SlotOrder slot_order_make(Elaboration *el, const AstClass *ast, const Routine *routine) {
  uint32_t count = routine->locals.count;
  SlotOrder order = {.ast = el->ast, .slots = map_make(el->heap)};
  order.done = arena_array(&el->arena, count, sizeof *order.done);
  order.elements = arena_array(&el->arena, count, sizeof *order.elements);
  for (uint32_t slot = count; slot-- > 0;) map_put(&order.slots, routine->locals.data[slot].name, slot);
  for (uint32_t i = ast->elements.count; i-- > 0;) {
    const AstElement *element = &ast->elements.data[i];
    uint32_t slot = element->kind == AST_COMPONENT ? map_get(&order.slots, element->component->label.name) : MAP_NONE;
    if (slot != MAP_NONE) order.elements[slot] = element;
  }
  return order;
}

/* Steps of work per slot in a pass over the slots. */
enum { SLOT_WORK = 8 };

/* Compiles the slots so that each comes after the slots on which it depends. Slots in a cycle are compiled in source order. The
 * number of passes is one plus the length of the longest chain of slots that are written in the opposite order. */
static void compile_slots(Compiler *c, const ClassEntry *entry) {
  Elaboration *el = c->el;
  uint32_t count = c->routine->locals.count, left = count;
  SlotOrder order = slot_order_make(el, entry->ast, c->routine);
  bool is_cycle = false;
  while (left) {
    uint32_t before = left;
    heap_work(el->heap, SLOT_WORK * (uint64_t)count);
    for (uint32_t slot = 0; slot < count; slot++) {
      if (order.done[slot] || (!is_cycle && slot_waits(&order, slot))) continue;
      compile_slot(c, entry, order.elements[slot]->component, slot);
      order.done[slot] = true;
      left--;
    }
    is_cycle = left == before;
  }
  map_free(&order.slots);
}

/* The slot that an external function writes through an argument; NONE if the argument is an input or not a whole slot. */
static uint32_t written_slot(Compiler *c, AstExpr e) {
  const Ast *ast = c->el->ast;
  Place place;
  if (e == AST_NONE || ast_kind(ast, e) != AST_REFERENCE) return NONE;
  AstPath path = ast_path(ast, e);
  bool is_whole = path.count == 1 && ast_part(ast, path, 0)->subscripts == 0;
  if (!is_whole || !find_local(c, ast_part(ast, path, 0)->name, &place)) return NONE;
  return place.index < c->routine->inputs ? NONE : place.index;
}

/* All inputs and outputs in order, except that a single output is the result (Modelica 3.6, section 12.9). */
static uint32_t emit_default_arguments(Compiler *c, Span span, IndexVec *places) {
  const Routine *routine = c->routine;
  bool has_result = routine->outputs == 1;
  uint32_t count = routine->inputs + (has_result ? 0 : routine->outputs);
  vec_push(c->el->heap, places, has_result ? routine->inputs : NONE);
  for (uint32_t slot = 0; slot < count; slot++) {
    compile_emit(c, CODE_LOCAL, 0, slot, span);
    vec_push(c->el->heap, places, slot < routine->inputs ? NONE : slot);
  }
  return count;
}

/* Arrays are passed as they are, and an array is never returned (Modelica 3.6, section 12.9.1). */
static uint32_t emit_arguments(Compiler *c, const AstExternal *external, IndexVec *places) {
  const Ast *ast = c->el->ast;
  uint32_t height = c->types.count, result = written_slot(c, external->output);
  if (result != NONE && c->routine->locals.data[result].type.dimensions)
    compile_error(c, ast_span(ast, external->output), "an external function cannot return an array: it is an argument");
  vec_push(c->el->heap, places, result);
  for (uint32_t i = 0; i < external->arguments.count; i++) {
    AstExpr argument = external->arguments.data[i];
    Type type = compile_expression(c, argument, type_scalar(TYPE_NOTHING));
    if (c->el->model->is_strict && type.dimensions && ast_kind(ast, argument) != AST_REFERENCE)
      compile_error(c, ast_span(ast, argument),
                    "an argument of an external function that is an array must be a variable");
    vec_push(c->el->heap, places, written_slot(c, argument));
  }
  c->types.count = height;
  return external->arguments.count;
}

static void compile_external(Compiler *c, const AstExternal *external, Span span) {
  IndexVec places = {0};
  uint32_t count =
      external->function.name ? emit_arguments(c, external, &places) : emit_default_arguments(c, span, &places);
  uint32_t at = c->routine->extra.count;
  for (uint32_t i = 0; i < places.count; i++) vec_push(c->el->heap, &c->routine->extra, places.data[i]);
  compile_emit(c, CODE_EXTERNAL, count, at, span);
  vec_free(c->el->heap, &places);
}

static void compile_body(Elaboration *el, ClassEntry *entry) {
  Routine *routine = el->model->routines.data[entry->index];
  entry->body = PROGRESS_OPEN;
  if (routine->kind == ROUTINE_DERIVATIVE) {
    derivative_compile(el, routine);
    entry->body = PROGRESS_DONE;
    return;
  }
  Compiler c = compiler_make(el, routine, el->diags, entry->inside);
  c.is_function = true;
  c.tolerates_missing = el->is_base;
  uint32_t count = routine->locals.count;
  for (uint32_t i = 0; i < count; i++) {
    ScopeName name = {.name = routine->locals.data[i].name, .slot = i, .type = routine->locals.data[i].type};
    vec_push(el->heap, &c.names, name);
  }
  compile_slots(&c, entry);
  compile_emit(&c, CODE_BODY, 0, 0, entry->ast->label.span);
  if (routine->kind != ROUTINE_CODE) compile_external(&c, entry->ast->external, entry->ast->label.span);
  for (uint32_t i = 0; i < entry->ast->sections.count; i++) {
    const AstSection *section = &entry->ast->sections.data[i];
    if (!section->is_algorithm) input_error(el, section->span, "a function has an algorithm, not equations");
    else compile_statements(&c, section->body.data, section->body.count);
  }
  routine->is_partial = entry->ast->prefixes & PREFIX_PARTIAL;
  if (routine->kind == ROUTINE_CODE && !c.errors) unassigned_report(&c);
  entry->body = PROGRESS_DONE;
  routine->is_broken = c.errors > 0;
  compiler_free(&c);
  read_derivatives(el, routine, entry);
  inverse_read(el, routine, entry->inside, entry->ast->annotation);
}

/* For a constructor: the external function of the matching destructor; NULL if there is none. */
static const char *destructor_name(Elaboration *el, const ClassEntry *entry) {
  static const char constructor[] = "constructor";
  const char *name = names_text(el->names, entry->name);
  size_t length = strlen(name), tail = sizeof constructor - 1;
  if (length < tail || strcmp(name + length - tail, constructor) != 0) return NULL;
  const char *other = arena_printf(&el->arena, "%.*sdestructor", (int)(length - tail), name);
  const ClassEntry *found = class_find_name(el, 0, names_add(el->names, other, strlen(other)));
  return found && found->ast->external ? names_text(el->names, found->ast->external->function.name) : NULL;
}

/* The part of the name after the last dot: functions of packages have full names. */
static Name last_part(Elaboration *el, Name name) {
  const char *dot = strrchr(names_text(el->names, name), '.');
  return dot ? names_add(el->names, dot + 1, strlen(dot + 1)) : name;
}

/* ---- functions that come with C text ---- */

static Name annotated_text(const Elaboration *el, const AstExternal *external, const char *word) {
  const AstArgument *argument = ast_argument(el->ast, external->annotation, word);
  const AstModification *given = argument ? argument->modification : NULL;
  if (!given || given->value == AST_NONE || ast_kind(el->ast, given->value) != AST_STRING) return 0;
  return ast_node(el->ast, given->value)->value.text;
}

/* Library = "a", or {"a", "b"}. */
static void list_libraries(Elaboration *el, const AstExternal *external, ExternalSource *source) {
  const AstArgument *argument = ast_argument(el->ast, external->annotation, "Library");
  AstExpr e = argument && argument->modification ? argument->modification->value : AST_NONE;
  if (e == AST_NONE) return;
  bool is_list = ast_kind(el->ast, e) == AST_ARRAY;
  uint32_t count = is_list ? ast_kid_count(el->ast, e) : 1;
  source->libraries = arena_array(&el->arena, count, sizeof *source->libraries);
  for (uint32_t i = 0; i < count; i++) {
    AstExpr word = is_list ? ast_kid(el->ast, e, i) : e;
    if (ast_kind(el->ast, word) == AST_STRING)
      source->libraries[source->library_count++] = names_text(el->names, ast_node(el->ast, word)->value.text);
  }
}

static const char *directory_text(const Elaboration *el, Name name) {
  return name ? names_text(el->names, name) : NULL;
}

/* False if the function names neither text nor library, or is built in. */
static bool describe_external(Elaboration *el, const ClassEntry *entry, ExternalSource *out) {
  const AstExternal *external = entry->ast->external;
  bool is_forbidden;
  if (!external || !external->annotation || entry->ast->prefixes & PREFIX_PARTIAL) return false;
  if (external->language && strcmp(names_text(el->names, external->language), "C") != 0) return false;
  Name name = external->function.name ? external->function.name : last_part(el, entry->ast->label.name);
  Name include = annotated_text(el, external, "Include");
  *out = (ExternalSource){.name = names_text(el->names, name),
                          .include = include ? names_text(el->names, include) : NULL,
                          .include_directory = directory_text(el, external->include_directory),
                          .library_directory = directory_text(el, external->library_directory)};
  list_libraries(el, external, out);
  if (!out->include && !out->library_count) return false;
  return !external_find(el->heap, (ExternalName){.name = out->name}, el->rights, &is_forbidden) && !is_forbidden;
}

/* Compiles all functions of the model that come with text or a library and are not compiled yet. */
static void build_externals(Elaboration *el, Span span) {
  VEC(ExternalSource) sources = {0};
  char failure[COMPILER_FAILURE] = "";
  for (uint32_t i = 0; i < el->classes.count; i++) {
    ExternalSource source;
    bool is_wanted = describe_external(el, &el->classes.data[i], &source);
    for (uint32_t k = 0; k < sources.count && is_wanted; k++)
      is_wanted = strcmp(sources.data[k].name, source.name) != 0;
    if (is_wanted) vec_push(el->heap, &sources, source);
  }
  bool is_new = sources.count != el->rights->built; /* a failed build is not repeated */
  el->rights->built = sources.count;
  if (is_new && sources.count && !external_build(el->heap, el->rights, sources.data, sources.count, failure))
    diag_warning(el->diags, DIAG_WARNING_OTHER, span, "external functions cannot be compiled: %s", failure);
  vec_free(el->heap, &sources);
}

static void find_external(Elaboration *el, Routine *routine, const ClassEntry *entry) {
  const AstExternal *external = entry->ast->external;
  routine->kind = ROUTINE_EXTERNAL;
  routine->external_span = external->span;
  routine->external = external->function.name ? external->function.name : last_part(el, entry->ast->label.name);
  bool is_fortran = external->language && strcmp(names_text(el->names, external->language), "FORTRAN 77") == 0;
  ExternalName wanted = {names_text(el->names, routine->external), destructor_name(el, entry), is_fortran};
  routine->implementation = external_find(el->heap, wanted, el->rights, &routine->is_forbidden);
  ExternalSource source;
  if (routine->implementation || routine->is_forbidden || !el->rights || !el->rights->may_write) return;
  if (!describe_external(el, entry, &source)) return;
  build_externals(el, external->span);
  routine->implementation = external_find(el->heap, wanted, el->rights, &routine->is_forbidden);
}

uint32_t routine_of(Elaboration *el, ClassEntry *entry) {
  if (entry->progress == PROGRESS_DONE) return entry->index;
  if (entry->progress == PROGRESS_FAILED) return NONE;
  Routine *routine = heap_alloc(el->heap, sizeof *routine);
  routine->name = class_label(el, entry);
  routine->span = entry->ast->span;
  routine->is_impure = entry->ast->prefixes & PREFIX_IMPURE;
  if (entry->ast->external) find_external(el, routine, entry);
  bool is_derivative = entry->ast->form == FORM_DERIVATIVE;
  if (entry->ast->form != FORM_LONG && !is_derivative) {
    input_error(el, entry->ast->label.span, "not supported yet: this form of function");
    entry->progress = PROGRESS_FAILED;
    return NONE;
  }
  entry->progress = PROGRESS_OPEN;
  bool fits = is_derivative ? derivative_declare(el, entry, routine)
                            : declare_slots(el, routine, entry) && makes_no_object(el, routine, entry);
  entry->progress = fits ? PROGRESS_DONE : PROGRESS_FAILED;
  if (!fits) return NONE;
  read_annotations(el, routine, entry->ast->annotation);
  entry->index = routine->number = el->model->routines.count;
  vec_push(el->heap, &el->model->routines, routine);
  el->routine_list = el->model->routines.data;
  vec_push(el->heap, &el->class_of_routine, (uint32_t)(entry - el->classes.data));
  return entry->index;
}

static void finish_routine(Elaboration *el, uint32_t number) {
  uint32_t position = el->class_of_routine.data[number];
  if (position != NONE && el->classes.data[position].body == PROGRESS_NEW)
    compile_body(el, &el->classes.data[position]);
}

void routines_finish(Elaboration *el) {
  while (el->routines_done <
         el->class_of_routine.count) /* bodies may need constants, and constants may need more bodies */
    finish_routine(el, el->routines_done++);
}

/* The routine that an instruction calls, or passes as an argument; NONE if there is none. */
static uint32_t instruction_routine(const Elaboration *el, const Routine *code, Instruction i) {
  if (i.code == CODE_CALL) return code->extra.data[i.b];
  if (i.code == CODE_RECORD) return el->model->records.data[i.b].function - 1;
  return NONE;
}

void routines_finish_for(Elaboration *el, const Routine *code) {
  IndexVec open = {0};
  Map seen = map_make(el->heap);
  for (const Routine *next = code; next; next = open.count ? el->model->routines.data[vec_pop(&open)] : NULL) {
    if (next->base) finish_routine(el, next->base->number); /* the derivative is made from the code of its base */
    if (next != code) finish_routine(el, next->number);
    if (next->base && map_get(&seen, next->base->number) == MAP_NONE) vec_push(el->heap, &open, next->base->number);
    for (uint32_t i = 0; i < next->code.count; i++) {
      uint32_t callee = instruction_routine(el, next, next->code.data[i]);
      if (callee == NONE || map_get(&seen, callee) != MAP_NONE) continue;
      map_put(&seen, callee, 1);
      vec_push(el->heap, &open, callee);
    }
  }
  vec_free(el->heap, &open);
  map_free(&seen);
}

/* ---- functions that are never called ---- */

/* Could the model call the function? It must be in a package, or in the model itself. */
static bool is_in_reach(const Elaboration *el, const ClassEntry *entry) {
  Name scope = entry->scope;
  while (scope && scope != el->scope) {
    uint32_t outer = map_get(&el->class_of_name, scope);
    if (outer == MAP_NONE || el->classes.data[outer].ast->kind != CLASS_PACKAGE) return false;
    scope = el->classes.data[outer].scope;
  }
  return true;
}

static bool is_uncalled(const Elaboration *el, const ClassEntry *entry) {
  const AstExternal *external = entry->ast->external;
  if (entry->role != ROLE_CLASS_FUNCTION || entry->progress != PROGRESS_NEW) return false;
  if (entry->ast->form != FORM_LONG || entry->ast->prefixes & PREFIX_PARTIAL) return false;
  if (external && strcmp(names_text(el->names, external->language), "builtin") == 0) return false;
  return is_in_reach(el, entry);
}

/* Unsupported features are errors only if they are used. */
static void report_faults(Elaboration *el, const Diags *found) {
  for (uint32_t i = 0; i < found->list.count; i++) {
    const Diag *fault = &found->list.data[i];
    if (fault->severity != SEVERITY_ERROR || input_code(fault->message) == DIAG_UNSUPPORTED) continue;
    diags_copy(el->diags, fault);
  }
}

void routines_check_uncalled(Elaboration *el) {
  Diags found = diags_make(el->heap), *diags = el->diags;
  el->diags = &found;
  for (uint32_t i = 0; i < el->classes.count; i++)
    if (is_uncalled(el, &el->classes.data[i])) routine_of(el, &el->classes.data[i]);
  routines_finish(el);
  el->diags = diags;
  report_faults(el, &found);
}
