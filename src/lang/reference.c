/* reference: the meaning of a dotted, subscripted name, and the code that loads or stores it.
 *
 * Order of look-up: iterators and locals, components of the model, time, literals of enumerations,
 * constants of packages, stems of components declared one by one. */
#include "lang/compile.h"

#include <string.h>

/* ---- finding ---- */

bool find_local(Compiler *c, Name name, Place *place) {
  heap_work(c->el->heap, c->names.count);
  for (uint32_t i = c->names.count; i-- > 0;) {
    const ScopeName *entry = &c->names.data[i];
    if (entry->name != name) continue;
    *place = (Place){.kind = entry->slot == NONE ? PLACE_CONSTANT : PLACE_SLOT,
                     .index = entry->slot == NONE ? i : entry->slot,
                     .type = entry->type,
                     .value = entry->value,
                     .parts = 1};
    return true;
  }
  return false;
}

Place component_place(Compiler *c, uint32_t component, uint32_t parts) {
  Place place = {
      .kind = PLACE_GLOBAL, .index = component, .type = c->el->components.data[component].type, .parts = parts};
  uint32_t slot = c->has_slots && !c->wants_leaves ? map_get(&c->slots, component) : MAP_NONE;
  if (slot != MAP_NONE) place.kind = PLACE_SLOT, place.index = slot;
  return place;
}

static bool find_literal(Compiler *c, AstPath path, Place *place) {
  Elaboration *el = c->el;
  if (path.count < 2) return false;
  AstPath front = path;
  front.count--;
  uint32_t enumeration = NONE;
  if (ast_path_is(el->ast, front, "StateSelect")) enumeration = enumeration_builtin(el, false);
  else if (ast_path_is(el->ast, front, "AssertionLevel")) enumeration = enumeration_builtin(el, true);
  ClassEntry *entry = enumeration == NONE ? class_find(el, c->scope, front) : NULL;
  if (entry && entry->role == ROLE_CLASS_ENUMERATION && enumeration_define(el, entry)) enumeration = entry->index;
  if (enumeration == NONE) return false;
  Name name = ast_part(el->ast, path, path.count - 1)->name;
  uint32_t number = enumeration_literal(el, enumeration, name);
  if (number == 0) return false;
  *place = (Place){.kind = PLACE_LITERAL,
                   .index = enumeration,
                   .type = {.base = TYPE_ENUMERATION, .definition = enumeration},
                   .value = number,
                   .parts = path.count};
  return true;
}

/* Constants of the standard library that a model may use without the library. */
static bool find_library_constant(const char *text, double *value) {
  static const struct {
    const char *name;
    double value;
  } list[] = {{"pi", 3.14159265358979323846},
              {"e", 2.71828182845904523536},
              {"g_n", 9.80665},
              {"eps", 2.220446049250313e-16},
              {"small", 2.2250738585072014e-308},
              {"inf", 1.7976931348623157e308},
              {"D2R", 0.017453292519943295},
              {"R2D", 57.29577951308232},
              {"c", 299792458.0},
              {"R", 8.31446261815324},
              {"sigma", 5.670374419e-8},
              {"N_A", 6.02214076e23},
              {"T_zero", -273.15},
              {"mu_0", 1.25663706212e-6},
              {"epsilon_0", 8.8541878128e-12}};
  static const char prefix[] = "Modelica.Constants.";
  if (strncmp(text, prefix, sizeof prefix - 1) != 0) return false;
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
    if (strcmp(text + sizeof prefix - 1, list[i].name) == 0) {
      *value = list[i].value;
      return true;
    }
  return false;
}

/* The longest prefix of the path that names a constant of a package. */
static bool find_package_constant(Compiler *c, AstPath path, Place *place) {
  Elaboration *el = c->el;
  for (uint32_t count = path.count; count > 0; count--) {
    AstPath front = path;
    front.count = count;
    front.global = false;
    const char *text = ast_path_text(el->ast, front, &el->arena);
    Name name = names_add(el->names, text, strlen(text));
    uint32_t component = package_constant_find(el, path.global ? 0 : c->scope, name);
    if (component != NONE) {
      *place = component_place(c, component, count);
      return true;
    }
    if (count == path.count && find_library_constant(text, &place->value)) {
      *place = (Place){
          .kind = PLACE_CONSTANT, .index = NONE, .type = type_scalar(TYPE_REAL), .value = place->value, .parts = count};
      return true;
    }
  }
  return false;
}

/* Is the function inside the model? A flat program has no scopes: there, the answer is yes. */
static bool is_inside_model(const Compiler *c) {
  const Elaboration *el = c->el;
  if (!el->scope) return true;
  size_t length = names_length(el->names, el->scope);
  const char *scope = names_text(el->names, c->scope);
  return !strncmp(scope, names_text(el->names, el->scope), length) && scope[length] == '.';
}

/* A component of the model that the code may access; NONE if there is none. Functions see only constants. */
static uint32_t find_component(const Compiler *c, Name name) {
  uint32_t component = component_find(c->el, name);
  if (component == NONE || !c->is_function) return component;
  bool is_constant = c->el->components.data[component].variability == VARIABILITY_CONSTANT;
  return is_constant && is_inside_model(c) ? component : NONE;
}

Place place_find(Compiler *c, AstPath path) {
  Elaboration *el = c->el;
  const AstPart *first = ast_part(el->ast, path, 0);
  Place place = {.kind = PLACE_NONE, .parts = 1};
  if (!path.global && find_local(c, first->name, &place)) return place;
  bool is_model_first =
      !c->is_function || el->scope; /* constants of packages have their full names in a flat program */
  uint32_t component = path.global || !is_model_first ? NONE : find_component(c, first->name);
  if (component != NONE) return component_place(c, component, 1);
  if (ast_path_is(el->ast, path, "time"))
    return (Place){.kind = c->time_slot ? PLACE_SLOT : PLACE_TIME,
                   .index = c->time_slot,
                   .type = type_scalar(TYPE_REAL),
                   .parts = 1};
  if (find_literal(c, path, &place) || find_package_constant(c, path, &place)) return place;
  component = path.global || is_model_first ? NONE : find_component(c, first->name);
  if (component != NONE) return component_place(c, component, 1);
  if (!c->is_function) {
    const char *text = path.count == 1 ? names_text(el->names, first->name) : ast_path_text(el->ast, path, &el->arena);
    Name name = path.count == 1 ? first->name : names_add(el->names, text, strlen(text));
    component = component_find(el, name);
    if (component != NONE) return component_place(c, component, path.count);
    if (stem_find(el, name)) return (Place){.kind = PLACE_STEM, .name = name, .parts = path.count};
  }
  if (stem_is_embedded(el, first->name)) return (Place){.kind = PLACE_STEM, .name = first->name, .parts = 1};
  return (Place){.kind = PLACE_NONE, .parts = 1};
}

/* ---- loading ---- */

static void emit_scalar(Compiler *c, Type type, Expr e, Span span) {
  double number = 0;
  if (type.base == TYPE_STRING) {
    compile_emit(c, CODE_STRING, 0, dag_index(c->el->dag, e), span);
    return;
  }
  dag_is_constant(c->el->dag, e, &number);
  if (type.base == TYPE_ENUMERATION) compile_emit(c, CODE_LITERAL, (uint32_t)number, type.definition, span);
  else emit_constant(c, (BaseType)type.base, number, span);
}

/* Emits fill(0, sizes) for an array without elements. */
static void emit_empty(Compiler *c, const Value *value, Span span) {
  Type scalar = {.base = value->type.base, .definition = value->type.definition};
  if (scalar.base == TYPE_STRING) compile_emit(c, CODE_STRING, 0, 0, span);
  else if (scalar.base == TYPE_ENUMERATION) compile_emit(c, CODE_LITERAL, 1, scalar.definition, span);
  else emit_constant(c, (BaseType)scalar.base, 0, span);
  for (uint32_t i = 0; i < value->type.dimensions; i++) emit_constant(c, TYPE_INTEGER, value->sizes[i], span);
  compile_emit(c, CODE_BUILTIN, 1u + value->type.dimensions, BUILTIN_FILL, span);
}

/* Emits the elements in order, and each array as soon as all of its elements have been emitted. */
static void emit_array(Compiler *c, const Value *value, Span span) {
  Type scalar = {.base = value->type.base, .definition = value->type.definition};
  for (uint32_t i = 0; i < value->count; i++) {
    emit_scalar(c, scalar, value_exprs(value)[i], span);
    uint32_t done = i + 1;
    for (uint32_t k = value->type.dimensions; k-- > 0 && done % value->sizes[k] == 0; done /= value->sizes[k])
      compile_emit(c, CODE_ARRAY, 0, value->sizes[k], span);
  }
}

/* Element i of the first dimension; the fields of an array of records are arrays themselves. */
static Value element_of(Elaboration *el, const Value *array, uint32_t i) {
  Value element = *array;
  element.type.dimensions--;
  element.sizes = array->sizes + 1;
  element.count = array->count / array->sizes[0];
  if (array->type.base != TYPE_RECORD) {
    element.data = array->data + (size_t)i * element.count * sizeof(Expr);
    return element;
  }
  uint32_t count = el->model->records.data[array->type.definition].fields.count;
  element.fields = arena_array(&el->arena, count, sizeof *element.fields);
  for (uint32_t f = 0; f < count; f++) element.fields[f] = element_of(el, &array->fields[f], i);
  return element;
}

/* Emits a known value; recursion is bounded by the nesting of record declarations. */
static void emit_value(Compiler *c, const Value *value, Span span) {
  if (value->type.base == TYPE_RECORD && value->type.dimensions) {
    for (uint32_t i = 0; i < value->sizes[0]; i++) {
      Value element = element_of(c->el, value, i);
      emit_value(c, &element, span);
    }
    compile_emit(c, CODE_ARRAY, 0, value->sizes[0], span);
  } else if (value->type.base == TYPE_RECORD) {
    uint32_t count = c->el->model->records.data[value->type.definition].fields.count;
    for (uint32_t i = 0; i < count; i++) emit_value(c, &value->fields[i], span);
    compile_emit(c, CODE_RECORD, 0, value->type.definition, span);
  } else if (value->count == 0) emit_empty(c, value, span);
  else emit_array(c, value, span);
}

static bool is_plain(const Value *value, const Elaboration *el) {
  if (value->type.base != TYPE_RECORD) return value->type.base != TYPE_EXTERNAL_OBJECT;
  bool has_elements = value->type.dimensions == 0 || value->count > 0;
  for (uint32_t i = 0; has_elements && i < el->model->records.data[value->type.definition].fields.count; i++)
    has_elements = is_plain(&value->fields[i], el);
  return has_elements;
}

/* A function that is called during simulation does not see the components, so constants become part of its code. */
static void emit_component(Compiler *c, uint32_t number, Span span) {
  Elaboration *el = c->el;
  const Component *constant = &el->components.data[number];
  if (c->is_function && (constant->is_package || constant->variability == VARIABILITY_CONSTANT)) {
    component_evaluate(el, number);
    const Component *component = &el->components.data[number];
    if (component->has_value && is_plain(&component->value, el)) {
      Value value = component->value;
      emit_value(c, &value, span);
      return;
    }
  }
  compile_emit(c, CODE_GLOBAL, 0, number, span);
}

void place_emit(Compiler *c, const Place *place, Span span) {
  switch (place->kind) {
  case PLACE_SLOT: compile_emit(c, CODE_LOCAL, 0, place->index, span); return;
  case PLACE_GLOBAL: emit_component(c, place->index, span); return;
  case PLACE_LITERAL: compile_emit(c, CODE_LITERAL, (uint32_t)place->value, place->index, span); return;
  case PLACE_TIME: compile_emit(c, CODE_SPECIAL, 0, SPECIAL_TIME, span); return;
  case PLACE_CONSTANT:
    if (place->type.base == TYPE_ENUMERATION)
      compile_emit(c, CODE_LITERAL, (uint32_t)place->value, place->type.definition, span);
    else if (place->type.base == TYPE_STRING) compile_emit(c, CODE_STRING, 0, (Name)place->value, span);
    else {
      emit_constant(c, (BaseType)place->type.base, place->value, span);
      if (place->index == NONE) return;
      vec_push(c->el->heap, &c->iterated, c->routine->constants.count - 1);
      vec_push(c->el->heap, &c->iterated, place->index);
    }
    return;
  case PLACE_NONE:
  case PLACE_STEM: emit_constant(c, TYPE_REAL, 0, span); return;
  }
}

static void report_undefined(Compiler *c, AstPath path) {
  Elaboration *el = c->el;
  const char *text = ast_path_text(el->ast, path, &el->arena);
  Name name = names_find(el->names, text, strlen(text)), near = 0;
  c->errors++;
  Diag *diag = diag_error(c->diags, DIAG_UNKNOWN_NAME, path.span, "`%s` is not declared", text);
  if (c->diags->errors > c->diags->limit || c->diags == &el->quiet || el->is_session) return;
  if (!c->is_function && name != MAP_NONE) near = suggest_component(el, name);
  if (near) diag_note(c->diags, diag, (Span){0, 0}, "did you mean `%s`?", names_text(el->names, near));
}

/* Starts a reference: loads the value of the beginning of the path. */
static void reference_begin(Compiler *c) {
  struct Task *task = task_top(c);
  AstPath path = ast_path(c->el->ast, task->e);
  Name outer = c->scope;
  c->scope = task->scope;
  Place place = place_find(c, path);
  c->scope = outer;
  task->is_started = true;
  task->part = place.parts - 1;
  task->type = place.type;
  if (place.type.base == TYPE_NOTHING && place.kind == PLACE_GLOBAL) c->errors++; /* the declaration had an error */
  if (place.kind == PLACE_NONE) {
    report_undefined(c, path);
    task->type = type_nothing();
    emit_constant(c, TYPE_REAL, 0, path.span);
  } else if (place.kind == PLACE_STEM) {
    Type type = stem_emit(c, &place, task->expected, path.span);
    task = task_top(c);
    task->type = type;
  } else {
    place_emit(c, &place, path.span);
  }
  for (uint32_t i = 0; i < task->part; i++)
    if (ast_part(c->el->ast, path, i)->subscripts) {
      compile_error(c, path.span, "subscripts are not allowed inside the name of a constant or literal");
      task->type = type_nothing();
    }
}

static void subscript_enter(Compiler *c, struct Task *task) {
  AstExpr kid = ast_kid(c->el->ast, task->e, task->kid++);
  struct EndPlace end = {task->e, task->part, task->subscript++, c->tasks.count};
  vec_push(c->el->heap, &c->ends, end);
  task_push(c, kid, type_scalar(TYPE_INTEGER), task->scope);
}

void reference_step(Compiler *c) {
  struct Task *task = task_top(c);
  const Ast *ast = c->el->ast;
  AstPath path = ast_path(ast, task->e);
  if (!task->is_started) reference_begin(c);
  else if (task->subscript) c->ends.count--;
  task = task_top(c);
  for (;;) {
    const AstPart *part = ast_part(ast, path, task->part);
    if (task->subscript < part->subscripts) {
      if (task->kid >= ast_kid_count(ast, task->e)) break;
      subscript_enter(c, task);
      return;
    }
    if (part->subscripts) {
      task->type = index_type(c, task->type, task->lead + part->subscripts, path.span);
      compile_emit(c, CODE_INDEX, task->lead, task->lead + part->subscripts, path.span);
    }
    task->subscript = 0;
    if (++task->part >= path.count) break;
    uint32_t field;
    task->lead = task->type.dimensions;
    task->type = field_type(c, task->type, ast_part(ast, path, task->part)->name, path.span, &field);
    compile_emit(c, CODE_FIELD, 0, field, path.span);
    for (uint32_t k = 0; k < task->lead && ast_part(ast, path, task->part)->subscripts; k++) {
      compile_emit(c, CODE_ALL, 0, 0, path.span);
      push_type(c, type_all());
    }
  }
  task_done(c, task->type);
}

/* `end` is the size of the array in whose subscript it is written. That array is loaded again without its subscripts; the
 * dimensions of the records that contain it come first. */
void end_step(Compiler *c) {
  struct Task *task = task_top(c);
  const Ast *ast = c->el->ast;
  Span span = ast_span(ast, task->e);
  if (c->ends.count == 0) {
    compile_error(c, span, "`end` is allowed only in the subscripts of a variable");
    emit_constant(c, TYPE_INTEGER, 1, span);
    task_done(c, type_nothing());
    return;
  }
  struct EndPlace end = vec_last(&c->ends);
  AstPath path = ast_path(ast, end.reference);
  Place place = place_find(c, path);
  Type type = place.type;
  uint32_t lead = 0;
  bool is_plain = place.kind == PLACE_GLOBAL && end.part + 1 == place.parts && !c->is_function;
  if (is_plain) compile_emit(c, CODE_SIZES, 0, place.index, span);
  else if (place.kind == PLACE_STEM) type = stem_emit(c, &place, type_nothing(), span);
  else place_emit(c, &place, span);
  for (uint32_t part = place.parts; part <= end.part; part++) {
    uint32_t field;
    lead = type.dimensions;
    type = field_type(c, type, ast_part(ast, path, part)->name, span, &field);
    compile_emit(c, CODE_FIELD, 0, field, span);
  }
  emit_constant(c, TYPE_INTEGER, lead + end.subscript + 1.0, span);
  if (is_plain) compile_emit(c, CODE_INDEX, 0, 1, span);
  else compile_emit(c, CODE_BUILTIN, 2, BUILTIN_SIZE, span);
  task_done(c, type.base == TYPE_NOTHING || place.kind == PLACE_NONE ? type_nothing() : type_scalar(TYPE_INTEGER));
}

/* ---- storing ---- */

static bool is_iterator(const Compiler *c, AstPath path, uint32_t slot) {
  Name name = ast_part(c->el->ast, path, 0)->name;
  for (uint32_t i = c->names.count; i-- > 0;)
    if (c->names.data[i].name == name) return c->names.data[i].is_iterator && c->names.data[i].slot == slot;
  return false;
}

static bool store_slot(Compiler *c, AstPath path, Place *place) {
  *place = place_find(c, path);
  const char *text = ast_path_text(c->el->ast, path, &c->el->arena);
  if (place->kind == PLACE_NONE) report_undefined(c, path);
  else if (place->kind != PLACE_SLOT) compile_error(c, path.span, "`%s` cannot be assigned here", text);
  else if (is_iterator(c, path, place->index))
    compile_error(c, path.span, "`%s` is an iterator, and cannot be assigned", text);
  else if (place->index < c->routine->inputs)
    if (c->is_function) compile_error(c, path.span, "input `%s` cannot be assigned", text);
    else return true;
  else return true;
  return false;
}

bool compile_store(Compiler *c, AstExpr target, Type value) {
  const Ast *ast = c->el->ast;
  AstPath path = ast_path(ast, target);
  Place place;
  uint32_t steps[2 * 64 + 2], count = 0, kid = 0;
  if (ast_kind(ast, target) != AST_REFERENCE)
    return compile_error(c, ast_span(ast, target), "only a variable can be assigned");
  if (place_find(c, path).kind == PLACE_STEM) return stem_store(c, target, value);
  if (!store_slot(c, path, &place)) return false;
  Type type = place.type;
  for (uint32_t part = 0; part < path.count; part++) {
    if (part > 0) {
      uint32_t field;
      type = field_type(c, type, ast_part(ast, path, part)->name, path.span, &field);
      if (count < 126) steps[count++] = STEP_FIELD, steps[count++] = field;
    }
    uint32_t subscripts = ast_part(ast, path, part)->subscripts;
    if (subscripts == 0) continue;
    for (uint32_t i = 0; i < subscripts; i++) {
      struct EndPlace end = {target, part, i, c->tasks.count};
      vec_push(c->el->heap, &c->ends, end);
      uint32_t base = c->tasks.count;
      AstExpr e = ast_kid(ast, target, kid++);
      if (ast_kind(ast, e) == AST_COLON) {
        compile_emit(c, CODE_ALL, 0, 0, ast_span(ast, e));
        push_type(c, type_all());
      } else compile_expression(c, e, type_scalar(TYPE_INTEGER));
      c->tasks.count = base;
      c->ends.count--;
    }
    type = index_type(c, type, subscripts, path.span);
    if (count < 126) steps[count++] = STEP_INDEX, steps[count++] = subscripts;
  }
  if (count >= 126) compile_error(c, path.span, "the name has too many parts");
  if (!compile_expect(c, type, value, path.span, "the value assigned")) return false;
  uint32_t at = c->routine->extra.count;
  vec_push(c->el->heap, &c->routine->extra, place.index);
  vec_push(c->el->heap, &c->routine->extra, count / 2);
  for (uint32_t i = 0; i < count; i++) vec_push(c->el->heap, &c->routine->extra, steps[i]);
  compile_emit(c, CODE_STORE, 0, at, path.span);
  vec_push(c->el->heap, &c->assigned, place.index);
  return true;
}
