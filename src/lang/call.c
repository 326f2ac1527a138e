/* call: calls of functions, record constructors and the language's own functions; comprehensions.
 *
 * Invariant: arguments are on the stack in the order of the callee's inputs. A function of scalars that is called with arrays
 * becomes a loop over their elements. */
#include "lang/compile.h"

#include <string.h>

/* ---- finding the callee ---- */

/* The intrinsic that a path names: sin, or Modelica.Math.sin if the library is missing. */
static const Intrinsic *find_intrinsic(Compiler *c, AstPath path, const char *text) {
  static const char prefix[] = "Modelica.Math.";
  bool is_library = strncmp(text, prefix, sizeof prefix - 1) == 0;
  if (is_library && !strchr(text + sizeof prefix - 1, '.')) {
    const Intrinsic *found = intrinsic_find(text + sizeof prefix - 1);
    return found && found->kind == INTRINSIC_SCALAR ? found : NULL;
  }
  bool is_quoted = path.count == 1 && ast_part(c->el->ast, path, 0)->quoted;
  return is_quoted && !is_library ? NULL : intrinsic_find(text);
}

/* external "builtin" y = sin(x): the function is the intrinsic. */
static const Intrinsic *builtin_body(const Elaboration *el, const ClassEntry *entry) {
  const AstExternal *external = entry->ast->external;
  if (entry->role != ROLE_CLASS_FUNCTION || !external) return NULL;
  if (strcmp(names_text(el->names, external->language), "builtin") != 0) return NULL;
  Name name = external->function.name ? external->function.name : entry->ast->label.name;
  const Intrinsic *found = intrinsic_find(names_text(el->names, name));
  return found && found->kind != INTRINSIC_SPECIAL ? found : NULL;
}

static void report_missing(Compiler *c, AstPath path, const char *text) {
  Elaboration *el = c->el;
  if (intrinsic_is_refused(text)) {
    compile_error(c, path.span, "not supported yet: operator `%s`", text);
    return;
  }
  c->errors++;
  Diag *diag = diag_error(c->diags, DIAG_UNKNOWN_NAME, path.span, "function `%s` is not defined", text);
  Name near = c->diags->errors > c->diags->limit ? 0 : suggest_function(el, text);
  if (near) diag_note(c->diags, diag, (Span){0, 0}, "did you mean `%s`?", names_text(el->names, near));
}

/* The class that is called; follows aliases and external objects to a function or record. */
static ClassEntry *find_entry(Compiler *c, Name scope, AstPath path) {
  Elaboration *el = c->el;
  ClassEntry *entry = class_find(el, scope, path);
  for (uint32_t steps = 0; entry && steps <= el->classes.count; steps++) {
    bool is_short =
        entry->ast->form == FORM_SHORT && (entry->role == ROLE_CLASS_FUNCTION || entry->role == ROLE_CLASS_ALIAS);
    if (!is_short) break;
    entry = class_find(el, entry->scope, entry->ast->base.name);
  }
  if (entry && entry->role == ROLE_CLASS_EXTERNAL_OBJECT) {
    static const char constructor[] = "constructor";
    return class_find_name(el, entry->name, names_add(el->names, constructor, sizeof constructor - 1));
  }
  return entry;
}

/* ---- arguments ---- */

/* Position of a name in `inputs` ("a,b|c": b and c name the same input); -1 if it does not occur. */
static int input_position(const char *inputs, const char *name) {
  size_t length = strlen(name);
  for (int at = 0; inputs && *inputs;) {
    size_t word = strcspn(inputs, ",|");
    if (word == length && strncmp(inputs, name, length) == 0) return at;
    at += inputs[word] == ',';
    inputs += word + (inputs[word] != 0);
  }
  return -1;
}

static uint32_t positional_count(const Ast *ast, AstExpr e) { return ast_kid_count(ast, e) - ast_label_count(ast, e); }

/* The slots of inputs by their names. */
static Map inputs_by_name(Elaboration *el, const Routine *routine) {
  Map slots = map_make(el->heap);
  for (uint32_t slot = routine->inputs; slot-- > 0;) map_put(&slots, routine->locals.data[slot].name, slot);
  return slots;
}

/* Writes the slot of each argument into compiler->patches, from task->list on, and marks it in `is_given`; false after an error. */
static bool list_slots(Compiler *c, struct Task *task, const Routine *routine, const Map *slots, bool *is_given) {
  Elaboration *el = c->el;
  const Ast *ast = el->ast;
  uint32_t kids = ast_kid_count(ast, task->e), positional = positional_count(ast, task->e);
  for (uint32_t i = 0; i < kids; i++) {
    uint32_t slot = i;
    if (i >= positional) {
      AstLabel label = ast_label(ast, task->e, i - positional);
      slot = map_get(slots, label.name);
      if (slot == MAP_NONE)
        return compile_error(c, label.span, "function `%s` has no input `%s`", names_text(el->names, routine->name),
                             names_text(el->names, label.name));
    }
    if (is_given[slot])
      return compile_error(c, ast_span(ast, task->e), "input `%s` of function `%s` is given twice",
                           names_text(el->names, routine->locals.data[slot].name),
                           names_text(el->names, routine->name));
    is_given[slot] = true;
    vec_push(el->heap, &c->patches, slot);
  }
  for (uint32_t slot = 0; slot < routine->inputs; slot++)
    if (!is_given[slot] && !routine->locals.data[slot].has_default)
      return compile_error(c, ast_span(ast, task->e), "input `%s` of function `%s` is missing",
                           names_text(el->names, routine->locals.data[slot].name),
                           names_text(el->names, routine->name));
  return true;
}

/* Writes the slot of each kid into compiler->patches, from task->list on; false after an error. O(arguments + inputs). */
static bool map_inputs(Compiler *c, struct Task *task) {
  Elaboration *el = c->el;
  const Ast *ast = el->ast;
  const Routine *routine = el->model->routines.data[task->routine];
  uint32_t kids = ast_kid_count(ast, task->e), positional = positional_count(ast, task->e);
  task->list = c->patches.count;
  if (positional > routine->inputs)
    return compile_error(c, ast_span(ast, task->e), "function `%s` has %u inputs, %u arguments are given",
                         names_text(el->names, routine->name), routine->inputs, kids);
  Map slots = positional < kids ? inputs_by_name(el, routine) : map_make(el->heap);
  bool *is_given = heap_array(el->heap, routine->inputs, sizeof *is_given);
  bool fits = list_slots(c, task, routine, &slots, is_given);
  heap_free(el->heap, is_given);
  map_free(&slots);
  return fits;
}

/* ---- calls of functions ---- */

void compile_call(Compiler *c, uint32_t routine, uint32_t wanted, const uint32_t *slots, uint32_t count, Span span) {
  Routine *code = c->routine;
  uint32_t at = code->extra.count;
  vec_push(c->el->heap, &code->extra, routine);
  vec_push(c->el->heap, &code->extra, wanted);
  for (uint32_t i = 0; i < count; i++) vec_push(c->el->heap, &code->extra, slots[i]);
  compile_emit(c, CODE_CALL, count, at, span);
}

/* Applies a function of scalars to the elements of its arguments in a loop (Modelica 3.6, section 12.4.6): arguments go to slots,
 * then {{f(a[i,j], b) for j} for i}. */
static void emit_vectorized(Compiler *c, struct Task *task, const uint32_t *extra, uint32_t most, uint32_t leader) {
  Elaboration *el = c->el;
  const Routine *routine = el->model->routines.data[task->routine];
  uint32_t count = c->patches.count - task->list, loops[TYPE_MAX_DIMENSIONS];
  Span span = ast_span(el->ast, task->e);
  uint32_t *slots = arena_array(&el->arena, count, sizeof *slots);
  for (uint32_t i = count; i-- > 0;) {
    Type type = c->types.data[c->types.count - count + i];
    slots[i] = compile_local(c, 0, type, span);
    compile_emit(c, CODE_BIND, 0, slots[i], span);
  }
  for (uint32_t k = 0; k < most; k++) {
    emit_constant(c, TYPE_INTEGER, 1, span);
    compile_emit(c, CODE_LOCAL, 0, slots[leader], span);
    emit_constant(c, TYPE_INTEGER, k + 1.0, span);
    compile_emit(c, CODE_BUILTIN, 2, BUILTIN_SIZE, span);
    compile_emit(c, CODE_RANGE, 0, 0, span);
    uint32_t slot = compile_local(c, 0, type_scalar(TYPE_INTEGER), span);
    loops[k] = c->routine->code.count;
    compile_emit(c, CODE_EACH, slot, 0, span);
  }
  for (uint32_t i = 0; i < count; i++) {
    compile_emit(c, CODE_LOCAL, 0, slots[i], span);
    for (uint32_t k = 0; k < extra[i]; k++) compile_emit(c, CODE_LOCAL, 0, c->routine->code.data[loops[k]].a, span);
    if (extra[i]) compile_emit(c, CODE_INDEX, 0, extra[i], span);
  }
  compile_call(c, task->routine, 1, c->patches.data + task->list, count, span);
  Type element = routine->locals.data[routine->inputs].type;
  for (uint32_t k = most; k-- > 0; element.dimensions++) {
    patch_here(c, loops[k]);
    compile_emit(c, CODE_EACH_NEXT, element_pack(element), loops[k], span);
  }
}

/* The number of dimensions that each argument has beyond those of its input; false if one does not fit. */
static bool extra_dimensions(Compiler *c, struct Task *task, uint32_t *extra, uint32_t *most, uint32_t *leader) {
  Elaboration *el = c->el;
  const Routine *routine = el->model->routines.data[task->routine];
  uint32_t count = c->patches.count - task->list;
  bool fits = true;
  *most = *leader = 0;
  for (uint32_t i = 0; i < count; i++) {
    const Local *local = &routine->locals.data[c->patches.data[task->list + i]];
    Type type = c->types.data[c->types.count - count + i], element = type;
    extra[i] = type.base != TYPE_NOTHING && type.dimensions > local->type.dimensions
                   ? (uint32_t)(type.dimensions - local->type.dimensions)
                   : 0;
    element.dimensions = (uint8_t)(element.dimensions - extra[i]);
    if (!type_fits(el, local->type, element) || (extra[i] && *most && extra[i] != *most)) {
      compile_error(c, ast_span(el->ast, ast_kid(el->ast, task->e, i)), "argument `%s` of `%s` is %s, expected %s",
                    names_text(el->names, local->name), names_text(el->names, routine->name), type_text(el, type),
                    type_text(el, local->type));
      fits = false;
    }
    if (extra[i] && *most == 0) *most = extra[i], *leader = i;
  }
  return fits;
}

/* Calls the function in slot `callee` - 1. */
static void emit_call_local(Compiler *c, const struct Task *task, uint32_t count, Span span) {
  uint32_t at = c->routine->extra.count;
  vec_push(c->el->heap, &c->routine->extra, task->callee - 1);
  vec_push(c->el->heap, &c->routine->extra, task->wanted);
  for (uint32_t i = 0; i < count; i++)
    if (c->patches.data[task->list + i] != i)
      compile_error(c, span, "not supported yet: this call of an input by names");
  compile_emit(c, CODE_CALL_LOCAL, count, at, span);
}

static void finish_function(Compiler *c, struct Task *task) {
  Elaboration *el = c->el;
  const Routine *routine = el->model->routines.data[task->routine];
  uint32_t count = c->patches.count - task->list, most, leader, wanted = task->wanted;
  uint32_t *extra = arena_array(&el->arena, count + 1, sizeof *extra);
  Span span = ast_span(el->ast, task->e);
  bool fits = extra_dimensions(c, task, extra, &most, &leader);
  if (wanted > routine->outputs) {
    if (wanted == 1) compile_error(c, span, "function `%s` has no output", names_text(el->names, routine->name));
    else
      compile_error(c, span, "function `%s` has %u outputs, %u are requested", names_text(el->names, routine->name),
                    routine->outputs, wanted);
    fits = false;
    wanted = 0;
  }
  if (most && task->callee) compile_error(c, span, "not supported yet: an input called element by element");
  if (task->callee) emit_call_local(c, task, count, span);
  else if (most && task->wanted == 1 && fits) emit_vectorized(c, task, extra, most, leader);
  else compile_call(c, task->routine, wanted, c->patches.data + task->list, count, span);
  c->types.count -= count;
  c->patches.count = task->list;
  uint32_t outputs = task->wanted;
  c->tasks.count--;
  for (uint32_t i = 0; i < outputs; i++) {
    Type type = fits ? routine->locals.data[routine->inputs + i].type : type_nothing();
    if (fits) type.dimensions = (uint8_t)(type.dimensions + (outputs == 1 ? most : 0));
    push_type(c, type);
  }
}

/* A function given by name where a function is expected. */
static bool emit_function(Compiler *c, AstExpr e, Type expected, Name scope) {
  Elaboration *el = c->el;
  bool is_function = expected.base == TYPE_RECORD && el->model->records.data[expected.definition].function;
  if (!is_function || ast_kind(el->ast, e) != AST_REFERENCE || place_find(c, ast_path(el->ast, e)).kind != PLACE_NONE)
    return false;
  ClassEntry *entry = find_entry(c, scope, ast_path(el->ast, e));
  uint32_t number = entry && entry->role == ROLE_CLASS_FUNCTION ? routine_of(el, entry) : NONE;
  if (number == NONE) return false;
  Type type = function_type(el, number);
  compile_emit(c, CODE_RECORD, 0, type.definition, ast_span(el->ast, e));
  push_type(c, type);
  return true;
}

/* The position of each field of record `to` in record `from`, if both have the same fields in a different order; false
 * otherwise. */
static bool find_fields(const Elaboration *el, const Record *to, const Record *from, uint32_t *position) {
  bool is_moved = false;
  if (to->function || from->function || to->fields.count != from->fields.count) return false;
  for (uint32_t i = 0; i < to->fields.count; i++) {
    uint32_t k = 0;
    while (k < from->fields.count && from->fields.data[k].name != to->fields.data[i].name) k++;
    if (k == from->fields.count || !type_fits(el, to->fields.data[i].type, from->fields.data[k].type)) return false;
    position[i] = k;
    is_moved |= k != i;
  }
  return is_moved;
}

/* Puts the fields of the argument compiled last into the order of the input's fields: records with the same fields have compatible
 * types (Modelica 3.6, section 6.4). */
static void arrange_fields(Compiler *c, Type expected, Span span) {
  Elaboration *el = c->el;
  Type *type = &c->types.data[c->types.count - 1];
  if (expected.base != TYPE_RECORD || type->base != TYPE_RECORD || expected.dimensions || type->dimensions) return;
  const Record *to = &el->model->records.data[expected.definition], *from = &el->model->records.data[type->definition];
  uint32_t *position = arena_array(&el->arena, to->fields.count + 1, sizeof *position);
  if (!find_fields(el, to, from, position)) return;
  uint32_t slot = compile_local(c, 0, *type, span);
  compile_emit(c, CODE_BIND, 0, slot, span);
  for (uint32_t i = 0; i < to->fields.count; i++) {
    compile_emit(c, CODE_LOCAL, 0, slot, span);
    compile_emit(c, CODE_FIELD, 0, position[i], span);
  }
  compile_emit(c, CODE_RECORD, 0, expected.definition, span);
  *type = expected;
}

static void function_step(Compiler *c, struct Task *task) {
  Elaboration *el = c->el;
  if (task->kid > 0) {
    const Routine *routine = el->model->routines.data[task->routine];
    arrange_fields(c, routine->locals.data[c->patches.data[task->list + task->kid - 1]].type,
                   ast_span(el->ast, ast_kid(el->ast, task->e, task->kid - 1)));
  }
  if (task->kid < ast_kid_count(el->ast, task->e)) {
    const Routine *routine = el->model->routines.data[task->routine];
    Type expected = routine->locals.data[c->patches.data[task->list + task->kid]].type;
    if (emit_function(c, ast_kid(el->ast, task->e, task->kid), expected, task->scope)) {
      task_top(c)->kid++;
      return;
    }
    task_push(c, ast_kid(el->ast, task->e, task->kid++), expected, task->scope);
    return;
  }
  finish_function(c, task);
}

/* Ends a call that has no values; pushes constants instead. */
static void missing_values(Compiler *c, Span span) {
  uint32_t wanted = task_top(c)->wanted;
  c->tasks.count--;
  for (uint32_t i = 0; i < wanted; i++) {
    emit_constant(c, TYPE_REAL, 0, span);
    push_type(c, type_nothing());
  }
}

/* A call of an operator record's function that has several candidates: the arguments are compiled first, because their types choose
 * the function. */
static void choose_step(Compiler *c, struct Task *task) {
  Elaboration *el = c->el;
  uint32_t count = ast_kid_count(el->ast, task->e);
  if (task->kid < count) {
    task_push(c, ast_kid(el->ast, task->e, task->kid++), type_nothing(), task->scope);
    return;
  }
  const Type *types = c->types.data + c->types.count - count;
  uint32_t routine = overload_choose(el, task->record, task->operator, task->e, types);
  task = task_top(c);
  task->routine = routine;
  if (routine != NONE && map_inputs(c, task)) {
    finish_function(c, task);
    return;
  }
  Span span = ast_span(el->ast, task->e);
  const char *list = "";
  for (uint32_t i = 0; i < count; i++)
    list = arena_printf(&el->arena, "%s%s%s", list, i ? ", " : "",
                        type_text(el, c->types.data[c->types.count - count + i]));
  if (routine == NONE)
    compile_error(c, span, "operator `%s` of the record has no function for arguments of type %s", task->operator,
                  list);
  c->types.count -= count;
  missing_values(c, span);
}

/* ---- record constructors ---- */

/* The kid that gives field `index`, or the field's default; AST_NONE if there is neither. */
static AstExpr field_argument(Compiler *c, const struct Task *task, uint32_t index, Name *scope) {
  const Ast *ast = c->el->ast;
  uint32_t positional = positional_count(ast, task->e), labels = ast_label_count(ast, task->e), at = 0;
  if (index < positional) return ast_kid(ast, task->e, index);
  Name name = c->el->model->records.data[task->entry->index].fields.data[index].name;
  for (uint32_t i = 0; i < labels; i++)
    if (ast_label(ast, task->e, i).name == name) return ast_kid(ast, task->e, positional + i);
  for (uint32_t i = 0; i < task->entry->ast->elements.count; i++) {
    const AstElement *element = &task->entry->ast->elements.data[i];
    if (element->kind != AST_COMPONENT || at++ != index) continue;
    *scope = task->entry->inside;
    return element->component->modification ? element->component->modification->value : AST_NONE;
  }
  return AST_NONE;
}

static void check_labels(Compiler *c, const struct Task *task) {
  const Ast *ast = c->el->ast;
  const Record *record = &c->el->model->records.data[task->entry->index];
  if (positional_count(ast, task->e) > record->fields.count)
    compile_error(c, ast_span(ast, task->e), "record `%s` has %u fields, %u values are given",
                  names_text(c->el->names, record->name), record->fields.count, positional_count(ast, task->e));
  for (uint32_t i = 0; i < ast_label_count(ast, task->e); i++) {
    AstLabel label = ast_label(ast, task->e, i);
    uint32_t field = 0;
    while (field < record->fields.count && record->fields.data[field].name != label.name) field++;
    if (field == record->fields.count)
      compile_error(c, label.span, "record `%s` has no field `%s`", names_text(c->el->names, record->name),
                    names_text(c->el->names, label.name));
  }
}

static void record_step(Compiler *c, struct Task *task) {
  Elaboration *el = c->el;
  uint32_t definition = task->entry->index, count = el->model->records.data[definition].fields.count;
  Span span = ast_span(el->ast, task->e);
  if (task->kid == 0) check_labels(c, task);
  if (task->kid > 0) {
    const Field *field = &el->model->records.data[definition].fields.data[task->kid - 1];
    compile_expect(c, field->type, pop_type(c), span, names_text(el->names, field->name));
  }
  if (task->kid < count) {
    const Field *field = &el->model->records.data[definition].fields.data[task->kid];
    Name scope = task->scope;
    AstExpr e = field_argument(c, task, task->kid++, &scope);
    Type expected = field->type;
    if (e != AST_NONE) {
      task_push(c, e, expected, scope);
      return;
    }
    compile_error(c, span, "field `%s` of record `%s` has no value", names_text(el->names, field->name),
                  names_text(el->names, el->model->records.data[definition].name));
    emit_constant(c, TYPE_REAL, 0, span);
    push_type(c, type_nothing());
    return;
  }
  compile_emit(c, CODE_RECORD, 0, definition, span);
  task_done(c, (Type){.base = TYPE_RECORD, .definition = definition});
}

/* ---- literals of enumerations by number ---- */

static void literal_step(Compiler *c, struct Task *task) {
  const Ast *ast = c->el->ast;
  Span span = ast_span(ast, task->e);
  uint32_t definition = task->entry->index;
  if (task->kid == 0 && ast_kid_count(ast, task->e) == 1) {
    task_push(c, ast_kid(ast, task->e, task->kid++), type_scalar(TYPE_INTEGER), task->scope);
    return;
  }
  if (task->kid == 0) {
    compile_error(c, span, "an enumeration is made from one Integer");
    emit_constant(c, TYPE_INTEGER, 1, span);
  } else {
    compile_expect(c, type_scalar(TYPE_INTEGER), pop_type(c), span, "the number of a literal");
  }
  uint32_t literals = c->el->model->enumerations.data[definition].literals.count;
  compile_emit(c, CODE_CONVERT, literals, definition, span);
  task_done(c, (Type){.base = TYPE_ENUMERATION, .definition = definition});
}

/* ---- the language's own functions ---- */

/* The kid that gives input number `input` of the intrinsic; AST_NONE after the last. */
static AstExpr intrinsic_argument(Compiler *c, const struct Task *task, uint32_t input) {
  const Ast *ast = c->el->ast;
  uint32_t positional = positional_count(ast, task->e);
  if (input < positional) return ast_kid(ast, task->e, input);
  for (uint32_t i = 0; i < ast_label_count(ast, task->e); i++) {
    const char *name = names_text(c->el->names, ast_label(ast, task->e, i).name);
    if (input_position(task->intrinsic->inputs, name) == (int)input) return ast_kid(ast, task->e, positional + i);
  }
  return AST_NONE;
}

static int64_t literal_integer(const Ast *ast, AstExpr e) {
  return ast_kind(ast, e) == AST_INTEGER ? ast_node(ast, e)->value.integer : -1;
}

/* size(x) of a component loads only its sizes, so its values need not be known. */
static bool size_shortcut(Compiler *c, struct Task *task) {
  const Ast *ast = c->el->ast;
  if (task->intrinsic->kind != INTRINSIC_ARRAY || task->intrinsic->code != BUILTIN_SIZE) return false;
  if (ast_kid_count(ast, task->e) == 0 || ast_kid_count(ast, task->e) > 2) return false;
  AstExpr kid = ast_kid(ast, task->e, 0);
  if (ast_kind(ast, kid) != AST_REFERENCE || ast_kid_count(ast, kid) > 0) return false;
  Place place = place_find(c, ast_path(ast, kid));
  if (place.kind != PLACE_GLOBAL || place.parts != ast_path(ast, kid).count || c->is_function) return false;
  compile_emit(c, CODE_SIZES, 0, place.index, ast_span(ast, kid));
  return true;
}

static void finish_sizes(Compiler *c, struct Task *task) {
  Span span = ast_span(c->el->ast, task->e);
  Type type = {.base = TYPE_INTEGER, .dimensions = 1};
  if (task->kid == 2) {
    compile_expect(c, type_scalar(TYPE_INTEGER), pop_type(c), span, "the dimension");
    compile_emit(c, CODE_INDEX, 0, 1, span);
    type.dimensions = 0;
  }
  task_done(c, type);
}

/* pre, edge, change and der apply to the variable itself, even if an algorithm has assigned it. */
static bool needs_leaves(const Intrinsic *f) {
  return f->kind == INTRINSIC_SPECIAL &&
         (f->code == SPECIAL_PRE || f->code == SPECIAL_EDGE || f->code == SPECIAL_CHANGE || f->code == SPECIAL_DER ||
          f->code == SPECIAL_PREVIOUS);
}

/* String(r) of records that define their own conversion, element by element. */
static bool finish_each_text(Compiler *c, struct Task *task) {
  Type type;
  Span span = ast_span(c->el->ast, task->e);
  if (task->intrinsic->kind != INTRINSIC_ARRAY || task->intrinsic->code != BUILTIN_TEXT) return false;
  if (c->types.count != task->height + 1) return false;
  if (!overload_unary(c, "String", vec_last(&c->types), span, &type)) return false;
  c->types.count--;
  task_done(c, type);
  return true;
}

static bool is_transport(const Intrinsic *f) { return f->kind == INTRINSIC_SPECIAL && f->code == SPECIAL_TRANSPORT; }

/* Both outputs of spatialDistribution: its arguments go to slots, and each output is a separate operator. */
static void emit_both_ends(Compiler *c, const Type *types, uint32_t count, Span span) {
  static const Special ends[] = {SPECIAL_TRANSPORT, SPECIAL_TRANSPORT_END};
  uint32_t *slots = arena_array(&c->el->arena, count, sizeof *slots);
  for (uint32_t i = count; i-- > 0;) {
    slots[i] = compile_local(c, 0, types[i], span);
    compile_emit(c, CODE_BIND, 0, slots[i], span);
  }
  for (int end = 0; end < 2; end++) {
    for (uint32_t i = 0; i < count; i++) compile_emit(c, CODE_LOCAL, 0, slots[i], span);
    compile_emit(c, CODE_SPECIAL, count, ends[end], span);
  }
}

static void finish_intrinsic(Compiler *c, struct Task *task) {
  const Intrinsic *f = task->intrinsic;
  if (finish_each_text(c, task)) return;
  if (needs_leaves(f)) c->wants_leaves--;
  const Ast *ast = c->el->ast;
  uint32_t count = c->types.count - task->height;
  Span span = ast_span(ast, task->e);
  int64_t literal = f->kind == INTRINSIC_ARRAY && f->code == BUILTIN_PROMOTE && count == 2
                        ? literal_integer(ast, ast_kid(ast, task->e, 1))
                        : -1;
  c->spans.count = 0;
  Span *spans = vec_extend(c->el->heap, &c->spans, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    AstExpr argument = intrinsic_argument(c, task, i);
    spans[i] = argument == AST_NONE ? span : ast_span(ast, argument);
  }
  uint32_t before = c->diags->errors;
  Type type = intrinsic_type(c->el, c->diags, f, c->types.data + task->height, count, literal, spans, span);
  if (c->diags->errors > before) c->errors++;
  uint32_t code = f->code;
  if (f->kind == INTRINSIC_SPECIAL) code = special_variant((Special)code, c->types.data + task->height, count);
  c->types.count = task->height;
  if (task->wanted == 2) {
    emit_both_ends(c, c->types.data + task->height, count, span);
    push_type(c, type);
  } else if (f->kind == INTRINSIC_SCALAR) compile_emit(c, CODE_APPLY, count, code, span);
  else compile_emit(c, f->kind == INTRINSIC_ARRAY ? CODE_BUILTIN : CODE_SPECIAL, count, code, span);
  task_done(c, type);
}

static void intrinsic_step(Compiler *c, struct Task *task) {
  if (!task->is_entered) {
    task->is_entered = true;
    task->height = c->types.count;
    task->is_sizes = size_shortcut(c, task);
    if (task->is_sizes) task->kid = 1;
    if (needs_leaves(task->intrinsic)) c->wants_leaves++;
  }
  AstExpr kid = task->kid < ast_kid_count(c->el->ast, task->e) ? intrinsic_argument(c, task, task->kid) : AST_NONE;
  if (kid != AST_NONE) {
    task->kid++;
    task_push(c, kid, type_nothing(), task->scope);
    return;
  }
  if (task->kid < ast_kid_count(c->el->ast, task->e)) {
    compile_error(c, ast_span(c->el->ast, task->e), "`%s` has no argument of this name, or one before it is missing",
                  task->intrinsic->name);
    if (needs_leaves(task->intrinsic)) c->wants_leaves--;
    c->types.count = task->height;
    emit_constant(c, TYPE_REAL, 0, ast_span(c->el->ast, task->e));
    task_done(c, type_nothing());
    return;
  }
  if (task->is_sizes) finish_sizes(c, task);
  else finish_intrinsic(c, task);
}

/* ---- String ---- */

/* The options of String after the value, in the order of the language (section 3.7.1.1); only a Real has significant digits. */
typedef struct TextOption {
  const char *name;
  BaseType base;
  double otherwise;
} TextOption;

static const TextOption text_options[] = {
    {"significantDigits", TYPE_INTEGER, 6}, {"minimumLength", TYPE_INTEGER, 0}, {"leftJustified", TYPE_BOOLEAN, 1}};

/* The kid that gives an option, by position or by name; AST_NONE if it is omitted. */
static AstExpr text_option(const Compiler *c, const struct Task *task, uint32_t place, const char *name) {
  const Ast *ast = c->el->ast;
  uint32_t positional = positional_count(ast, task->e);
  if (place < positional) return ast_kid(ast, task->e, place);
  for (uint32_t i = 0; i < ast_label_count(ast, task->e); i++)
    if (strcmp(names_text(c->el->names, ast_label(ast, task->e, i).name), name) == 0)
      return ast_kid(ast, task->e, positional + i);
  return AST_NONE;
}

/* Pushes the names of all literals after an enumeration value. Code of functions has no names, because it is written out. */
static void push_literals(Compiler *c, Type type, Span span) {
  const Enumeration *enumeration = &c->el->model->enumerations.data[type.definition];
  for (uint32_t i = 0; i < enumeration->literals.count; i++) {
    compile_emit(c, CODE_STRING, 0, enumeration->literals.data[i], span);
    push_type(c, type_scalar(TYPE_STRING));
  }
}

/* Options that are omitted before a given one get their defaults. */
static bool text_step(Compiler *c, struct Task *task) {
  if (task->intrinsic->kind != INTRINSIC_ARRAY || task->intrinsic->code != BUILTIN_TEXT) return false;
  Span span = ast_span(c->el->ast, task->e);
  uint32_t given = ast_kid_count(c->el->ast, task->e);
  if (task->kid == 0) {
    task->height = c->types.count;
    task_push(c, ast_kid(c->el->ast, task->e, task->kid++), type_nothing(), task->scope);
    return true;
  }
  Type type = c->types.data[task->height];
  if (overload_text(c->el, type)) {
    task->record = overload_text(c->el, type);
    task->operator= "String";
    return true;
  }
  uint32_t place = c->types.count - task->height, first = type.base == TYPE_REAL ? 0 : 1;
  AstExpr format = place == 1 ? text_option(c, task, 1, "format") : AST_NONE;
  const TextOption *option = &text_options[first + place - 1];
  bool is_by_place = place == 1 && positional_count(c->el->ast, task->e) > 1;
  if (is_by_place && c->el->model->is_strict && type.base != TYPE_REAL)
    compile_error(c, span, "arguments of `String` after the first must be given by name");
  bool is_over = task->kid >= given || first + place > sizeof text_options / sizeof *text_options;
  AstExpr kid = is_over ? AST_NONE : format != AST_NONE ? format : text_option(c, task, place, option->name);
  if (kid != AST_NONE) {
    task->kid++;
    task_push(c, kid, type_nothing(), task->scope);
  } else if (is_over) {
    if (task->kid < given) compile_error(c, span, "`String` has no argument of this name, or too many");
    if (type.base == TYPE_ENUMERATION && !c->is_function && place == 1) push_literals(c, type, span);
    finish_intrinsic(c, task);
  } else {
    emit_constant(c, option->base, option->otherwise, span);
    push_type(c, type_scalar(option->base));
  }
  return true;
}

/* ---- dispatch ---- */

static void warn_missing(Compiler *c, AstPath path, const char *text) {
  Elaboration *el = c->el;
  Name name = names_add(el->names, text, strlen(text));
  compile_emit(c, CODE_MISSING, 0, name, path.span);
  if (map_get(&el->missing, name) != MAP_NONE) return;
  map_put(&el->missing, name, 0);
  diag_warning(el->diags, DIAG_WARNING, path.span,
               "function `%s` is not in the file; `%s`, which calls it, can be read but not evaluated", text,
               names_text(el->names, c->routine->name));
}

/* Reports a callee that does not exist. In a file written by a tool this is an error only when the call runs. */
static void missing_call(Compiler *c, AstPath path, const char *text) {
  if (c->is_function && c->tolerates_missing) warn_missing(c, path, text);
  else report_missing(c, path, text);
  missing_values(c, path.span);
}

static bool is_function(const Elaboration *el, Type type) {
  return type.base == TYPE_RECORD && el->model->records.data[type.definition].function;
}

/* Is the called function an input of the current function? */
static bool is_input_called(Compiler *c, struct Task *task, AstPath path) {
  Elaboration *el = c->el;
  Place place;
  if (path.count != 1 || !find_local(c, ast_part(el->ast, path, 0)->name, &place)) return false;
  if (!is_function(el, place.type)) return false;
  task->callee = place.index + 1;
  task->routine = el->model->records.data[place.type.definition].function - 1;
  return true;
}

static bool call_begin(Compiler *c, struct Task *task) {
  Elaboration *el = c->el;
  AstPath path = ast_path(el->ast, task->e), plain = path;
  plain.global = false;
  const char *text = ast_path_text(el->ast, plain, &el->arena);
  task->is_started = true;
  if (is_input_called(c, task, path)) {
    if (map_inputs(c, task)) return true;
    missing_values(c, path.span);
    return false;
  }
  task->entry = find_entry(c, task->scope, path);
  bool may_overload = task->entry && task->entry->ast->operators.count && !ast_node(el->ast, task->e)->operation;
  if (may_overload) {
    uint32_t position = (uint32_t)(task->entry - el->classes.data);
    const AstClass *record = task->entry->ast;
    uint32_t count;
    ClassEntry *constructor = overload_only(el, record, "constructor", task->e, &count);
    task->entry = constructor ? constructor : &el->classes.data[position];
    if (count > 1) {
      task->record = record;
      task->operator= "constructor";
      return true;
    }
  }
  task->intrinsic = task->entry ? builtin_body(el, task->entry) : find_intrinsic(c, path, text);
  if (task->intrinsic) return true;
  if (task->entry && task->entry->role == ROLE_CLASS_RECORD) {
    if (record_define(el, task->entry, path.span)) return true;
    c->errors++;
  } else if (task->entry && task->entry->role == ROLE_CLASS_ENUMERATION) {
    if (enumeration_define(el, task->entry)) return true;
    c->errors++;
  } else if (task->entry && task->entry->role == ROLE_CLASS_FUNCTION) {
    uint32_t routine = routine_of(el, task->entry);
    task = task_top(c);
    task->routine = routine;
    if (routine != NONE && map_inputs(c, task)) return true;
    if (routine == NONE) c->errors++;
  } else {
    missing_call(c, path, text);
    return false;
  }
  missing_values(c, path.span);
  return false;
}

void call_step(Compiler *c) {
  struct Task *task = task_top(c);
  if (!task->is_started && !call_begin(c, task)) return;
  task = task_top(c);
  if (task->record) {
    choose_step(c, task);
  } else if (task->callee) {
    function_step(c, task);
  } else if (task->intrinsic) {
    uint32_t outputs = is_transport(task->intrinsic) ? 2 : 1;
    if (task->wanted == 0 || task->wanted > outputs) {
      compile_error(c, ast_span(c->el->ast, task->e), "`%s` has %s", task->intrinsic->name,
                    outputs == 1 ? "one output only" : "two outputs");
      task->wanted = 1;
    }
    if (!text_step(c, task)) intrinsic_step(c, task);
  } else if (task->entry->role == ROLE_CLASS_RECORD) {
    record_step(c, task);
  } else if (task->entry->role == ROLE_CLASS_ENUMERATION) {
    literal_step(c, task);
  } else {
    function_step(c, task);
  }
}

/* ---- functions as arguments ---- */

/* The slot of the routine that label number `i` of function f(a = ...) names; NONE if there is none. */
static uint32_t labelled_slot(const Compiler *c, const struct Task *task, uint32_t i) {
  if (i >= ast_label_count(c->el->ast, task->e)) return NONE;
  return routine_input(c->el->model->routines.data[task->routine], ast_label(c->el->ast, task->e, i).name);
}

/* The given values are on the stack; they become the fields of a record that represents the function. */
static void finish_partial(Compiler *c, struct Task *task) {
  Elaboration *el = c->el;
  uint32_t count = ast_kid_count(el->ast, task->e);
  Span span = ast_span(el->ast, task->e);
  Type type = function_type(el, task->routine);
  Record *record = &el->model->records.data[type.definition];
  for (uint32_t i = 0; i < count; i++) {
    const Local *local = &el->model->routines.data[task->routine]->locals.data[labelled_slot(c, task, i)];
    Field field = {.name = local->name, .type = local->type};
    field.sizes = heap_array(el->heap, local->type.dimensions, sizeof *field.sizes);
    for (uint32_t k = 0; k < local->type.dimensions; k++) field.sizes[k] = UINT32_MAX;
    compile_expect(c, local->type, c->types.data[c->types.count - count + i], span, names_text(el->names, local->name));
    vec_push(el->heap, &record->fields, field);
  }
  c->types.count -= count;
  compile_emit(c, CODE_RECORD, 0, type.definition, span);
  task_done(c, type);
}

static void refuse_partial(Compiler *c, const struct Task *task, const char *format) {
  Span span = ast_span(c->el->ast, task->e);
  compile_error(c, span, format, ast_path_text(c->el->ast, ast_path(c->el->ast, task->e), &c->el->arena));
  emit_constant(c, TYPE_REAL, 0, span);
  task_done(c, type_nothing());
}

void partial_step(Compiler *c) {
  Elaboration *el = c->el;
  struct Task *task = task_top(c);
  if (!task->is_started) {
    task->is_started = true;
    AstPath path = ast_path(el->ast, task->e);
    Place place;
    if (path.count == 1 && find_local(c, ast_part(el->ast, path, 0)->name, &place) && is_function(el, place.type)) {
      if (ast_kid_count(el->ast, task->e)) {
        refuse_partial(c, task, "not supported yet: values for inputs of `%s`, which is an input itself");
        return;
      }
      compile_emit(c, CODE_LOCAL, 0, place.index, path.span);
      task_done(c, place.type);
      return;
    }
    ClassEntry *entry = find_entry(c, task->scope, path);
    uint32_t number = entry && entry->role == ROLE_CLASS_FUNCTION ? routine_of(el, entry) : NONE;
    task = task_top(c);
    task->routine = number;
    if (!entry) {
      refuse_partial(c, task, el->is_base ? "function `%s` is not in the file" : "function `%s` is not defined");
      return;
    }
    bool fits = number != NONE;
    for (uint32_t i = 0; fits && i < ast_kid_count(el->ast, task->e); i++) fits = labelled_slot(c, task, i) != NONE;
    if (!fits) {
      refuse_partial(c, task, "`%s` is not a function with the inputs that are given by name");
      return;
    }
  }
  if (task->kid == ast_kid_count(el->ast, task->e)) {
    finish_partial(c, task);
    return;
  }
  const Routine *routine = el->model->routines.data[task->routine];
  Type expected = routine->locals.data[labelled_slot(c, task, task->kid)].type;
  task_push(c, ast_kid(el->ast, task->e, task->kid++), expected, task->scope);
}

/* ---- comprehensions ---- */

/* A range may be a type; it then runs over the values of the type. */
static bool emit_type_range(Compiler *c, AstExpr e, Type *type) {
  Elaboration *el = c->el;
  if (ast_kind(el->ast, e) != AST_REFERENCE || ast_kid_count(el->ast, e)) return false;
  AstPath path = ast_path(el->ast, e);
  Span span = path.span;
  if (ast_path_is(el->ast, path, "Boolean")) {
    emit_constant(c, TYPE_BOOLEAN, 0, span);
    emit_constant(c, TYPE_BOOLEAN, 1, span);
    compile_emit(c, CODE_ARRAY, 0, 2, span);
    *type = (Type){.base = TYPE_BOOLEAN, .dimensions = 1};
    return true;
  }
  if (place_find(c, path).kind != PLACE_NONE) return false;
  ClassEntry *entry = class_find(el, c->scope, path);
  if (!entry || entry->role != ROLE_CLASS_ENUMERATION || !enumeration_define(el, entry)) return false;
  uint32_t count = el->model->enumerations.data[entry->index].literals.count;
  for (uint32_t i = 1; i <= count; i++) compile_emit(c, CODE_LITERAL, i, entry->index, span);
  compile_emit(c, CODE_ARRAY, 0, count, span);
  *type = (Type){.base = TYPE_ENUMERATION, .dimensions = 1, .definition = entry->index};
  return true;
}

/* Code for the range of an iterator; its type is on compiler->types. */
Type compile_range(Compiler *c, AstExpr e) {
  Type type;
  if (emit_type_range(c, e, &type)) {
    push_type(c, type);
    return type;
  }
  return compile_expression(c, e, type_nothing());
}

static Type range_element(Compiler *c, Type type, Span span) {
  if (type.base == TYPE_NOTHING) return type;
  if (type.dimensions == 1) {
    type.dimensions = 0;
    return type;
  }
  compile_error(c, span, "an iterator runs over a vector, this is %s", type_text(c->el, type));
  return type_nothing();
}

static void finish_iteration(Compiler *c, struct Task *task, Type type, uint32_t count) {
  Elaboration *el = c->el;
  AstPath path = ast_path(el->ast, task->e);
  Span span = ast_span(el->ast, task->e);
  const char *text = ast_path_text(el->ast, path, &el->arena);
  if (type.base != TYPE_NOTHING && type.dimensions + count > TYPE_MAX_DIMENSIONS) {
    compile_error(c, span, "more than %d dimensions", TYPE_MAX_DIMENSIONS);
    type = type_nothing();
  }
  if (type.base != TYPE_NOTHING) type.dimensions = (uint8_t)(type.dimensions + count);
  if (strcmp(text, "array") == 0) {
    task_done(c, type);
    return;
  }
  const Intrinsic *f = intrinsic_find(text);
  if (!f || f->kind != INTRINSIC_ARRAY || (f->rule != RULE_REDUCE && f->rule != RULE_EXTREME)) {
    compile_error(c, span, "`%s` cannot be used with iterators; sum, product, min, max and array can", text);
    task_done(c, type_nothing());
    return;
  }
  uint32_t before = c->diags->errors;
  bool is_array = type.base != TYPE_NOTHING && type.dimensions > count;
  if (is_array && f->code != BUILTIN_SUM) compile_error(c, span, "`%s` with iterators takes scalars, not arrays", text);
  if (is_array) { /* the iterations have already summed arrays */
    type.dimensions = (uint8_t)(type.dimensions - count);
    task_done(c, type);
    return;
  }
  type = intrinsic_type(el, c->diags, f, &type, 1, -1, &span, span);
  if (c->diags->errors > before) c->errors++;
  compile_emit(c, CODE_BUILTIN, 1, f->code, span);
  task_done(c, type);
}

/* {e for i in r, j in s}: the last iterator is the outermost loop. Kids: e, r, s. task->kid counts the
 * iterators done. */
void iteration_step(Compiler *c) {
  struct Task *task = task_top(c);
  const Ast *ast = c->el->ast;
  uint32_t count = ast_label_count(ast, task->e);
  Span span = ast_span(ast, task->e);
  if (!task->is_started) {
    task->is_started = true;
    task->list = c->patches.count;
  } else if (task->kid > count) { /* the body was compiled */
    Type type = pop_type(c), element = type;
    bool is_sum_of_arrays = type.dimensions > 0 && ast_path_is(ast, ast_path(ast, task->e), "sum");
    for (uint32_t i = 0; i < count; i++) {
      uint32_t each = vec_pop(&c->patches);
      patch_here(c, each);
      compile_emit(c, CODE_EACH_NEXT, element_pack(element), each, span);
      if (is_sum_of_arrays) compile_emit(c, CODE_BUILTIN, 1, BUILTIN_SUM_FIRST, span);
      else element.dimensions++;
    }
    c->names.count -= count;
    finish_iteration(c, task, type, count);
    return;
  } else { /* a range */
    uint32_t label = count - task->kid;
    Type type = range_element(c, pop_type(c), ast_span(ast, ast_kid(ast, task->e, 1 + label)));
    uint32_t slot = compile_local(c, ast_label(ast, task->e, label).name, type, span);
    vec_push(c->el->heap, &c->patches, c->routine->code.count);
    compile_emit(c, CODE_EACH, slot, 0, span);
    ScopeName entry = {.name = ast_label(ast, task->e, label).name, .slot = slot, .type = type};
    vec_push(c->el->heap, &c->names, entry);
  }
  if (task->kid == count) {
    task->kid++;
    task_push(c, ast_kid(ast, task->e, 0), type_nothing(), task->scope);
    return;
  }
  AstExpr range = ast_kid(ast, task->e, count - task->kid);
  task->kid++;
  Type type;
  if (emit_type_range(c, range, &type)) push_type(c, type);
  else task_push(c, range, type_nothing(), task->scope);
}
