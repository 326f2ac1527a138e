/* classes: the classes of a file by name, and their definitions: aliases, enumerations, records, external objects.
 *
 * Invariant: a class is known by its full name with the enclosing packages (P.Q.f). A name is looked up from its scope outward, so
 * the quoted name 'P.Q.f' and the path P.Q.f mean the same. Definitions enter the model's lists on first use. */
#include "lang/elaborate.h"

#include "base/format.h"
#include "base/suggest.h"

#include <stdarg.h>
#include <string.h>

Diag *input_error(Elaboration *el, Span span, const char *format, ...) {
  va_list list;
  va_start(list, format);
  char text[1024];
  format_list(text, sizeof text, format, list);
  va_end(list);
  return diag_error(el->diags, input_code(format), span, "%s", text);
}

DiagCode input_code(const char *format) {
  static const struct {
    const char *phrase;
    DiagCode code;
  } known[] = {{"not supported yet", DIAG_UNSUPPORTED},
               {"cannot combine", DIAG_TYPE_MISMATCH},
               {", expected %s", DIAG_TYPE_MISMATCH},
               {" differ in type", DIAG_TYPE_MISMATCH},
               {"depends on itself", DIAG_NO_VALUE}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (strstr(format, known[k].phrase)) return known[k].code;
  return DIAG_INPUT;
}

/* ---- collecting ---- */

static Name join_names(Elaboration *el, Name scope, Name name) {
  if (scope == 0) return name;
  const char *text = arena_printf(&el->arena, "%s.%s", names_text(el->names, scope), names_text(el->names, name));
  return names_add(el->names, text, strlen(text));
}

static bool extends_external_object(const Elaboration *el, const AstClass *ast) {
  for (uint32_t i = 0; i < ast->elements.count; i++)
    if (ast->elements.data[i].kind == AST_EXTENDS &&
        ast_path_is(el->ast, ast->elements.data[i].extends->name, "ExternalObject"))
      return true;
  return false;
}

static ClassRole role_of(const Elaboration *el, const AstClass *ast) {
  if (ast->form == FORM_ENUMERATION) return ROLE_CLASS_ENUMERATION;
  if (ast->kind == CLASS_FUNCTION) return ROLE_CLASS_FUNCTION;
  if (ast->form == FORM_SHORT) return ROLE_CLASS_ALIAS;
  if (ast->kind == CLASS_RECORD) return ROLE_CLASS_RECORD;
  if (extends_external_object(el, ast)) return ROLE_CLASS_EXTERNAL_OBJECT;
  return ROLE_CLASS_OTHER;
}

static uint32_t add_class(Elaboration *el, const AstClass *ast, Name scope) {
  ClassEntry entry = {
      .ast = ast, .name = join_names(el, scope, ast->label.name), .scope = scope, .role = role_of(el, ast)};
  entry.inside = entry.name;
  uint32_t earlier = map_get(&el->class_of_name, entry.name);
  if (earlier != MAP_NONE) {
    Diag *diag =
        input_error(el, ast->label.span, "class `%s` is declared twice", names_text(el->names, ast->label.name));
    diag_note(el->diags, diag, el->classes.data[earlier].ast->label.span, "first declared here");
  } else {
    map_put(&el->class_of_name, entry.name, el->classes.count);
  }
  vec_push(el->heap, &el->classes, entry);
  return el->classes.count - 1;
}

uint32_t class_define(Elaboration *el, const AstClass *ast) {
  uint32_t number = add_class(el, ast, 0);
  el->classes.data[number].inside = 0;
  return number;
}

/* Classes in source order. Classes inside functions and records are not candidates for the model. */
static void collect_all(Elaboration *el) {
  typedef struct OpenClass {
    const AstClass *ast;
    Name scope;
  } OpenClass;
  VEC(OpenClass) open = {0};
  for (uint32_t i = el->ast->main->classes.count; i-- > 0;)
    vec_push(el->heap, &open, (OpenClass){el->ast->main->classes.data[i], 0});
  while (open.count) {
    OpenClass next = vec_pop(&open);
    uint32_t index = add_class(el, next.ast, next.scope);
    Name inner = el->classes.data[index].name;
    for (uint32_t i = next.ast->elements.count; i-- > 0;) {
      const AstElement *element = &next.ast->elements.data[i];
      if (element->kind == AST_CLASS) vec_push(el->heap, &open, (OpenClass){element->class_definition, inner});
    }
  }
  vec_free(el->heap, &open);
}

static void collect_constants(Elaboration *el) {
  for (uint32_t i = 0; i < el->classes.count; i++) {
    const AstClass *ast = el->classes.data[i].ast;
    if (ast->kind != CLASS_PACKAGE) continue;
    for (uint32_t k = 0; k < ast->elements.count; k++) {
      const AstElement *element = &ast->elements.data[k];
      if (element->kind != AST_COMPONENT) continue;
      Name name = join_names(el, el->classes.data[i].name, element->component->label.name);
      component_declare_constant(el, element, name, el->classes.data[i].name);
    }
  }
}

static bool is_model(const Elaboration *el, const ClassEntry *entry) {
  if (entry->role != ROLE_CLASS_OTHER || entry->ast->form != FORM_LONG) return false;
  if (entry->ast->kind != CLASS_MODEL && entry->ast->kind != CLASS_BLOCK && entry->ast->kind != CLASS_CLASS)
    return false;
  if (entry->scope == 0) return true;
  uint32_t outer = map_get(&el->class_of_name, entry->scope);
  return outer != MAP_NONE && el->classes.data[outer].ast->kind == CLASS_PACKAGE;
}

static bool name_matches(const char *full, const char *wanted) {
  size_t a = strlen(full), b = strlen(wanted);
  if (strcmp(full, wanted) == 0) return true;
  return a > b && full[a - b - 1] == '.' && strcmp(full + a - b, wanted) == 0;
}

static const ClassEntry *choose(Elaboration *el, const char *class_name) {
  const ClassEntry *chosen = NULL;
  for (uint32_t i = 0; i < el->classes.count; i++) {
    const ClassEntry *entry = &el->classes.data[i];
    if (!is_model(el, entry) || (class_name && !name_matches(names_text(el->names, entry->name), class_name))) continue;
    if (!class_name && (entry->ast->prefixes & PREFIX_PARTIAL)) continue;
    chosen = entry;
  }
  return chosen;
}

static void report_missing(Elaboration *el, const char *class_name) {
  Suggestion best = {.word = class_name};
  Diag *diag = diag_error(el->diags, DIAG_INPUT, (Span){0}, "there is no model `%s` in the file", class_name);
  for (uint32_t i = 0; i < el->classes.count; i++) {
    const ClassEntry *entry = &el->classes.data[i];
    if (!is_model(el, entry)) continue;
    suggest_offer(&best, names_text(el->names, entry->ast->label.name));
    suggest_offer(&best, names_text(el->names, entry->name));
  }
  if (best.nearest) diag_note(el->diags, diag, (Span){0}, "did you mean `%s`?", best.nearest);
}

const ClassEntry *classes_collect(Elaboration *el, const char *class_name) {
  collect_all(el);
  const ClassEntry *chosen = choose(el, class_name);
  if (chosen) el->scope = chosen->name;
  collect_constants(el);
  if (!chosen && class_name) report_missing(el, class_name);
  else if (!chosen) input_error(el, (Span){0}, "there is no model in the file");
  return chosen;
}

/* ---- lookup ---- */

Name class_outer(const Elaboration *el, Name scope) {
  uint32_t found = map_get(&el->class_of_name, scope);
  return found == MAP_NONE ? 0 : el->classes.data[found].scope;
}

/* The name within a scope, if it is known; scope 0: the name itself. */
static Name name_within(Elaboration *el, Name scope, Name name, TextVec *full) {
  if (!scope) return name;
  full->count = 0;
  text_append(el->heap, full, names_text(el->names, scope), names_length(el->names, scope));
  text_append(el->heap, full, ".", 1);
  text_append(el->heap, full, names_text(el->names, name), names_length(el->names, name));
  return names_find(el->names, full->data, full->count);
}

ClassEntry *class_find_name(Elaboration *el, Name scope, Name name) {
  TextVec full = {0};
  uint32_t found;
  for (;; scope = class_outer(el, scope)) {
    Name candidate = name_within(el, scope, name, &full);
    found = candidate == MAP_NONE ? MAP_NONE : map_get(&el->class_of_name, candidate);
    if (found != MAP_NONE || !scope) break;
  }
  vec_free(el->heap, &full);
  return found == MAP_NONE ? NULL : &el->classes.data[found];
}

ClassEntry *class_find(Elaboration *el, Name scope, AstPath path) {
  if (path.count == 0) return NULL;
  if (path.count == 1) return class_find_name(el, path.global ? 0 : scope, ast_part(el->ast, path, 0)->name);
  const char *text = ast_path_text(el->ast, path, &el->arena);
  Name name = names_find(el->names, text, strlen(text));
  if (name == MAP_NONE) {
    /* The joined name may be known only with a scope in front. */
    name = names_add(el->names, text, strlen(text));
  }
  return class_find_name(el, path.global ? 0 : scope, name);
}

/* Is `scope` the model's scope, or one that encloses it? */
static bool surrounds_model(const Elaboration *el, Name scope) {
  Name at = el->scope;
  while (at && at != scope) {
    uint32_t outer = map_get(&el->class_of_name, at);
    if (outer == MAP_NONE) return false;
    at = el->classes.data[outer].scope;
  }
  return at == scope;
}

Name class_label(Elaboration *el, const ClassEntry *entry) {
  Name label = entry->ast->label.name, scope = entry->scope;
  while (scope && !surrounds_model(el, scope)) {
    uint32_t outer = map_get(&el->class_of_name, scope);
    if (outer == MAP_NONE) break;
    label = join_names(el, el->classes.data[outer].ast->label.name, label);
    scope = el->classes.data[outer].scope;
  }
  return label;
}

/* ---- enumerations ---- */

static uint64_t literal_key(uint32_t enumeration, Name name) { return (uint64_t)enumeration << 32 | name; }

/* Adds a literal to the enumeration that is being defined; false if it already has one of this name. */
static bool add_literal(Elaboration *el, Enumeration *enumeration, Name name) {
  uint64_t key = literal_key(el->model->enumerations.count, name);
  bool is_new = map_get(&el->literals, key) == MAP_NONE;
  vec_push(el->heap, &enumeration->literals, name);
  if (is_new) map_put(&el->literals, key, enumeration->literals.count);
  return is_new;
}

bool enumeration_define(Elaboration *el, ClassEntry *entry) {
  if (entry->progress == PROGRESS_DONE) return true;
  Enumeration enumeration = {.name = class_label(el, entry)};
  for (uint32_t i = 0; i < entry->ast->literals.count; i++) {
    AstLabel label = entry->ast->literals.data[i].label;
    if (!add_literal(el, &enumeration, label.name))
      input_error(el, label.span, "literal `%s` is declared twice", names_text(el->names, label.name));
  }
  entry->index = el->model->enumerations.count;
  vec_push(el->heap, &el->model->enumerations, enumeration);
  entry->progress = PROGRESS_DONE;
  return true;
}

uint32_t enumeration_builtin(Elaboration *el, bool is_level) {
  static const char *const texts[2][7] = {{"StateSelect", "never", "avoid", "default", "prefer", "always", NULL},
                                          {"AssertionLevel", "warning", "error", NULL}};
  uint32_t *index = is_level ? &el->assertion_level : &el->state_select;
  if (*index != NONE) return *index;
  const char *const *text = texts[is_level];
  Enumeration enumeration = {.name = names_add(el->names, text[0], strlen(text[0]))};
  for (uint32_t i = 1; text[i]; i++) add_literal(el, &enumeration, names_add(el->names, text[i], strlen(text[i])));
  *index = el->model->enumerations.count;
  vec_push(el->heap, &el->model->enumerations, enumeration);
  return *index;
}

uint32_t enumeration_literal(const Elaboration *el, uint32_t enumeration, Name name) {
  uint32_t number = map_get(&el->literals, literal_key(enumeration, name));
  return number == MAP_NONE ? 0 : number;
}

/* ---- types by name ---- */

static bool base_type(Elaboration *el, AstPath path, Type *type) {
  static const char *const names[] = {[TYPE_REAL] = "Real",
                                      [TYPE_INTEGER] = "Integer",
                                      [TYPE_BOOLEAN] = "Boolean",
                                      [TYPE_STRING] = "String",
                                      [TYPE_CLOCK] = "Clock"};
  for (uint8_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i] && ast_path_is(el->ast, path, names[i])) {
      *type = (Type){.base = i};
      return true;
    }
  bool is_level = ast_path_is(el->ast, path, "AssertionLevel");
  if (!is_level && !ast_path_is(el->ast, path, "StateSelect")) return false;
  *type = (Type){.base = TYPE_ENUMERATION, .definition = enumeration_builtin(el, is_level)};
  return true;
}

static const char *kind_text(AstClassKind kind) {
  static const char *const texts[] = {
      [CLASS_CLASS] = "class",     [CLASS_MODEL] = "model",       [CLASS_BLOCK] = "block",
      [CLASS_RECORD] = "record",   [CLASS_TYPE] = "type",         [CLASS_CONNECTOR] = "connector",
      [CLASS_PACKAGE] = "package", [CLASS_FUNCTION] = "function", [CLASS_OPERATOR] = "operator"};
  return texts[kind];
}

/* The type that a class itself defines. */
static bool class_type(Elaboration *el, ClassEntry *entry, Span span, Type *type) {
  switch (entry->role) {
  case ROLE_CLASS_ENUMERATION:
    if (entry->ast->literals.count == 0) {
      Diag *diag = input_error(el, span,
                               "`%s` has no literals, so nothing can be of this type; declare it as enumeration(a, "
                               "b) with its literals",
                               names_text(el->names, class_label(el, entry)));
      diag_note(el->diags, diag, entry->ast->label.span, "declared here without literals");
      return false;
    }
    enumeration_define(el, entry);
    *type = (Type){.base = TYPE_ENUMERATION, .definition = entry->index};
    return true;
  case ROLE_CLASS_RECORD: {
    uint32_t position = (uint32_t)(entry - el->classes.data);
    if (!record_define(el, entry, span)) return false;
    *type = (Type){.base = TYPE_RECORD, .definition = el->classes.data[position].index};
    return true;
  }
  case ROLE_CLASS_EXTERNAL_OBJECT:
    if (entry->progress != PROGRESS_DONE) {
      entry->index = el->model->external_objects.count;
      vec_push(el->heap, &el->model->external_objects, (ExternalObject){class_label(el, entry), entry->ast->span});
      entry->progress = PROGRESS_DONE;
    }
    *type = (Type){.base = TYPE_EXTERNAL_OBJECT, .definition = entry->index};
    return true;
  case ROLE_CLASS_ALIAS:
  case ROLE_CLASS_FUNCTION:
  case ROLE_CLASS_OTHER: break;
  }
  input_error(el, span, "not supported yet: components of %s `%s`", kind_text(entry->ast->kind),
              names_text(el->names, class_label(el, entry)));
  return false;
}

static void report_type(Elaboration *el, Span span, const char *text) {
  Suggestion best = {.word = text};
  Diag *diag = input_error(el, span, "type `%s` is not defined", text);
  for (uint32_t k = 0; k < el->classes.count; k++) {
    suggest_offer(&best, names_text(el->names, el->classes.data[k].ast->label.name));
    suggest_offer(&best, names_text(el->names, el->classes.data[k].name));
  }
  if (best.nearest) diag_note(el->diags, diag, (Span){0}, "did you mean `%s`?", best.nearest);
}

bool type_resolve(Elaboration *el, Name scope, const AstType *type, ResolvedType *out) {
  uint32_t steps = 0;
  Span span = type->name.span;
  for (const AstType *at = type;; steps++) {
    if (at->dimensions.count) vec_push(el->heap, &out->dimensions, &at->dimensions);
    if (base_type(el, at->name, &out->type)) break;
    ClassEntry *entry = class_find(el, scope, at->name);
    const char *text = ast_path_text(el->ast, at->name, &el->arena);
    if (!entry) {
      if (strcmp(text, "Complex") == 0)
        input_error(el, span, "not supported yet: the built-in type `%s`; declare it as a record", text);
      else report_type(el, span, text);
      return false;
    }
    if (entry->role != ROLE_CLASS_ALIAS) {
      if (!class_type(el, entry, span, &out->type)) return false;
      break;
    }
    if (steps > el->classes.count) return input_error(el, span, "type `%s` is defined by itself", text), false;
    if (entry->ast->modification) vec_push(el->heap, &out->modifications, entry->ast->modification);
    at = &entry->ast->base;
    scope = entry->scope;
  }
  /* Innermost alias first: outer aliases override its attributes. */
  for (uint32_t i = 0, n = out->modifications.count; i < n / 2; i++) {
    const AstModification *swap = out->modifications.data[i];
    out->modifications.data[i] = out->modifications.data[n - 1 - i];
    out->modifications.data[n - 1 - i] = swap;
  }
  return true;
}

/* ---- records ---- */

static bool field_sizes(Elaboration *el, Name scope, const ResolvedType *resolved, Field *field) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < resolved->dimensions.count; i++) count += resolved->dimensions.data[i]->count;
  if (count > TYPE_MAX_DIMENSIONS) return false;
  field->type.dimensions = (uint8_t)count;
  field->sizes = arena_array(&el->arena, count, sizeof *field->sizes);
  uint32_t at = 0;
  for (uint32_t i = 0; i < resolved->dimensions.count; i++)
    for (uint32_t k = 0; k < resolved->dimensions.data[i]->count; k++) {
      AstExpr e = resolved->dimensions.data[i]->data[k];
      Value value;
      double number;
      field->sizes[at] = UINT32_MAX;
      if (ast_kind(el->ast, e) != AST_COLON &&
          evaluate_now(el, e, scope, type_scalar(TYPE_INTEGER), LOAD_VALUES, &el->quiet, &value) == EXECUTE_OK &&
          value.type.dimensions == 0 && dag_is_constant(el->dag, value_exprs(&value)[0], &number) && number >= 0 &&
          number < INT32_MAX)
        field->sizes[at] = (uint32_t)number;
      at++;
    }
  return true;
}

static bool add_field(Elaboration *el, Record *record, const ClassEntry *entry, const AstElement *element) {
  const AstComponent *component = element->component;
  ResolvedType resolved = {0};
  Name scope = entry->inside;
  if (component->dimensions.count) vec_push(el->heap, &resolved.dimensions, &component->dimensions);
  if (!type_resolve(el, scope, component->type, &resolved)) return false;
  Field field = {.name = component->label.name, .type = resolved.type};
  if (!field_sizes(el, scope, &resolved, &field)) return false;
  vec_push(el->heap, &record->fields, field);
  return true;
}

/* The nesting of records is bounded, so that walking a value needs no explicit stack. */
static bool define_fields(Elaboration *el, uint32_t position, Record *record) {
  for (uint32_t i = 0; i < el->classes.data[position].ast->elements.count; i++) {
    ClassEntry entry = el->classes.data[position];
    const AstElement *element = &entry.ast->elements.data[i];
    if (element->kind == AST_COMPONENT) {
      if (!add_field(el, record, &entry, element)) return false;
    } else if (element->kind == AST_EXTENDS) return input_error(el, element->span, "not supported yet: extends"), false;
  }
  return true;
}

bool record_define(Elaboration *el, ClassEntry *entry, Span span) {
  uint32_t position = (uint32_t)(entry - el->classes.data);
  if (entry->progress == PROGRESS_DONE) return true;
  if (entry->progress == PROGRESS_FAILED) return false;
  if (entry->progress == PROGRESS_OPEN || el->depth >= RECORD_DEPTH_LIMIT) {
    input_error(el, span, "record `%s` contains itself, or records are nested too deep",
                names_text(el->names, entry->name));
    entry->progress = PROGRESS_FAILED;
    return false;
  }
  entry->progress = PROGRESS_OPEN;
  Record record = {.name = class_label(el, entry), .span = entry->ast->span};
  el->depth++;
  el->evaluations++;
  bool fits = define_fields(el, position, &record);
  el->evaluations--;
  el->depth--;
  entry = &el->classes.data[position];
  entry->progress = fits ? PROGRESS_DONE : PROGRESS_FAILED;
  entry->index = el->model->records.count;
  vec_push(el->heap, &el->model->records, record);
  el->record_list = el->model->records.data;
  return fits;
}
