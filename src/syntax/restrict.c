/* restrict: see restrict.h. */
#include "syntax/restrict.h"

#include <stdarg.h>
#include <string.h>

enum {
  CLASS_PREFIXES =
      PREFIX_ENCAPSULATED | PREFIX_PARTIAL | PREFIX_PURE | PREFIX_IMPURE | PREFIX_EXPANDABLE | PREFIX_OPERATOR,
  VARIABILITY_PREFIXES = PREFIX_DISCRETE | PREFIX_PARAMETER | PREFIX_CONSTANT,
  DIRECTION_PREFIXES = PREFIX_INPUT | PREFIX_OUTPUT,
  CONNECTION_PREFIXES = PREFIX_FLOW | PREFIX_STREAM,
  COMPONENT_PREFIXES = VARIABILITY_PREFIXES | DIRECTION_PREFIXES | CONNECTION_PREFIXES,
  SCOPE_PREFIXES = PREFIX_INNER | PREFIX_OUTER,
};

/* ---- reports ---- */

typedef struct Beside {
  const char *note;
  Span span;
} Beside;

static void keep_breach(Parser *parser, AstClass *definition, AstBreach breach) {
  AstBreach *kept = arena_alloc(&parser->ast->arena, sizeof *kept);
  *kept = breach;
  kept->next = definition->breaches;
  definition->breaches = kept;
}

/* A library class may break a rule as long as it is not used: the report is kept until then. */
__attribute__((format(printf, 4, 5))) static void report(Parser *parser, Span span, const Beside *beside,
                                                         const char *format, ...) {
  va_list list;
  va_start(list, format);
  const char *message = arena_vprintf(&parser->ast->arena, format, list);
  va_end(list);
  if (parser->restricted) {
    AstBreach breach = {.message = message, .span = span};
    if (beside) breach.note = beside->note, breach.note_span = beside->span;
    keep_breach(parser, parser->restricted, breach);
    return;
  }
  Diag *diag = parser_error(parser, span, "%s", message);
  if (diag && beside) diag_note(parser->diags, diag, beside->span, "%s", beside->note);
}

/* The violations that are reported from here on belong to this class. */
static void begin_reports(Parser *parser, AstClass *definition) {
  parser->restricted = parser->file && parser->ast->main ? definition : NULL;
}

static AstClass *innermost(Parser *parser) {
  return parser->classes.count ? vec_last(&parser->classes).definition : NULL;
}

/* ---- prefixes ---- */

static bool refuse_pair(Parser *parser, uint32_t prefixes, uint32_t group, Span span) {
  uint32_t found = prefixes & group, rest = found & (found - 1);
  if (!rest) return false;
  report(parser, span, NULL, "`%s` and `%s` cannot be combined", ast_prefix_text(found), ast_prefix_text(rest));
  return true;
}

static bool refuse_prefix(Parser *parser, uint32_t prefixes, const char *of, Span span) {
  if (prefixes) report(parser, span, NULL, "%s cannot be `%s`", of, ast_prefix_text(prefixes));
  return prefixes != 0;
}

/* The prefixes that only classes of other kinds may have. */
static uint32_t foreign_prefixes(const AstClass *definition) {
  uint32_t foreign = COMPONENT_PREFIXES;
  if (definition->kind != CLASS_CONNECTOR) foreign |= PREFIX_EXPANDABLE;
  if (definition->kind != CLASS_FUNCTION) foreign |= PREFIX_PURE | PREFIX_IMPURE;
  return foreign;
}

void restrict_element(Parser *parser, const AstElement *element, Span span) {
  static const uint32_t groups[] = {CONNECTION_PREFIXES, VARIABILITY_PREFIXES, DIRECTION_PREFIXES,
                                    PREFIX_PURE | PREFIX_IMPURE};
  uint32_t prefixes = element->prefixes;
  begin_reports(parser, innermost(parser));
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    if (refuse_pair(parser, prefixes, groups[i], span)) return;
  switch (element->kind) {
  case AST_COMPONENT: refuse_prefix(parser, prefixes & CLASS_PREFIXES, "a component", span); break;
  case AST_CLASS:
    refuse_prefix(parser, prefixes & foreign_prefixes(element->class_definition), "this class", span);
    break;
  case AST_EXTENDS: refuse_prefix(parser, prefixes & ~(uint32_t)PREFIX_PROTECTED, "an extends clause", span); break;
  case AST_IMPORT: refuse_prefix(parser, prefixes & ~(uint32_t)PREFIX_PROTECTED, "an import clause", span); break;
  }
}

/* ---- names ---- */

static const char *const base_types[] = {"Real", "Integer", "Boolean", "String", NULL};

/* Is the name one of these words? A quoted name is never one of them. */
static bool is_written(const Parser *parser, AstLabel label, const char *const *words) {
  if (*source_text(parser->ast->source, label.span.begin) == '\'') return false;
  const char *text = names_text(parser->ast->names, label.name);
  while (*words && strcmp(*words, text) != 0) words++;
  return *words != NULL;
}

/* The name 0 could not be read and is ignored. */
static void check_reserved(Parser *parser, AstLabel label) {
  if (is_written(parser, label, base_types))
    report(parser, label.span, NULL, "`%s` is a type of the language: choose another name",
           names_text(parser->ast->names, label.name));
}

static void report_twice(Parser *parser, AstLabel label, AstLabel before) {
  report(parser, label.span, &(Beside){"the other declaration", before.span}, "`%s` is declared twice",
         names_text(parser->ast->names, label.name));
}

/* The name that a qualified import introduces; name 0 if it introduces none or several. */
static AstLabel import_label(const Parser *parser, const AstElement *element) {
  const AstImport *import = element->kind == AST_IMPORT ? element->import : NULL;
  if (!import || import->is_all || import->names.count) return (AstLabel){0};
  if (import->alias.name) return import->alias;
  return (AstLabel){ast_part(parser->ast, import->name, import->name.count - 1)->name, import->name.span};
}

static void check_imports(Parser *parser, const AstClass *definition) {
  Map seen = map_make(parser->heap);
  for (uint32_t i = 0; i < definition->elements.count; i++) {
    AstLabel label = import_label(parser, &definition->elements.data[i]);
    if (!label.name) continue;
    uint32_t before = map_get(&seen, label.name);
    if (before == MAP_NONE) map_put(&seen, label.name, i);
    else
      report(parser, label.span,
             &(Beside){"the other import", import_label(parser, &definition->elements.data[before]).span},
             "the name `%s` is imported twice", names_text(parser->ast->names, label.name));
  }
  map_free(&seen);
}

static void check_names(Parser *parser, const AstClass *definition) {
  Map seen = map_make(parser->heap);
  for (uint32_t i = 0; i < definition->elements.count; i++) {
    AstLabel label = ast_element_label(&definition->elements.data[i]);
    if (!label.name) continue;
    uint32_t before = map_get(&seen, label.name);
    if (before == MAP_NONE) map_put(&seen, label.name, i);
    else report_twice(parser, label, ast_element_label(&definition->elements.data[before]));
  }
  map_free(&seen);
}

/* Refuses type E = enumeration(min, max): these names are attributes. */
static void check_literals(Parser *parser, const AstClass *definition) {
  static const char *const attributes[] = {"quantity", "min", "max", "start", "fixed", NULL};
  for (uint32_t i = 0; i < definition->literals.count; i++)
    if (is_written(parser, definition->literals.data[i].label, attributes))
      parser_error(parser, definition->literals.data[i].label.span,
                   "`%s` is an attribute, and cannot be a literal of an enumeration",
                   names_text(parser->ast->names, definition->literals.data[i].label.name));
}

/* ---- specialized classes ---- */

/* The prefixes that components of a class of each kind cannot have. */
static uint32_t refused_prefixes(AstClassKind kind) {
  switch (kind) {
  case CLASS_RECORD: return PREFIX_PROTECTED | SCOPE_PREFIXES | DIRECTION_PREFIXES | CONNECTION_PREFIXES;
  case CLASS_CONNECTOR: return PREFIX_PROTECTED | SCOPE_PREFIXES;
  case CLASS_FUNCTION: return SCOPE_PREFIXES | CONNECTION_PREFIXES;
  case CLASS_PACKAGE: return CONNECTION_PREFIXES | DIRECTION_PREFIXES;
  case CLASS_CLASS:
  case CLASS_MODEL:
  case CLASS_BLOCK:
  case CLASS_TYPE:
  case CLASS_OPERATOR: break;
  }
  return 0;
}

/* Base Modelica has no protected elements. A type other than a basic one may have its direction in its definition. */
static bool may_be_public(const Parser *parser, const AstElement *element) {
  AstPath type = element->component->type->name;
  if (element->prefixes & (PREFIX_PROTECTED | PREFIX_PARAMETER | PREFIX_CONSTANT) || parser->lexer.version) return true;
  return type.count != 1 ||
         !is_written(parser, (AstLabel){ast_part(parser->ast, type, 0)->name, type.span}, base_types);
}

static void check_function_component(Parser *parser, AstClass *definition, const AstElement *element, AstLabel label) {
  const char *name = names_text(parser->ast->names, label.name);
  bool is_argument = element->prefixes & DIRECTION_PREFIXES;
  if (is_argument && element->prefixes & PREFIX_PROTECTED)
    keep_breach(parser, definition,
                (AstBreach){.span = label.span,
                            .is_plain = true,
                            .message = arena_printf(&parser->ast->arena,
                                                    "`%s` of a function has the prefix `%s`, and cannot be protected",
                                                    name, ast_prefix_text(element->prefixes & DIRECTION_PREFIXES))});
  else if (!is_argument && (element->prefixes & (PREFIX_PARAMETER | PREFIX_PROTECTED)) == PREFIX_PARAMETER &&
           !parser->lexer.version)
    keep_breach(parser, definition,
                (AstBreach){.span = label.span,
                            .is_plain = true,
                            .message = arena_printf(&parser->ast->arena,
                                                    "parameter `%s` of a function must be protected", name)});
  else if (!is_argument && !may_be_public(parser, element))
    report(parser, label.span, NULL, "`%s` of a function is neither input nor output: it must be protected", name);
}

/* If the expression is size(name, number) with a literal number, that number; otherwise 0. */
static int64_t own_size(const Ast *ast, AstExpr e, Name name) {
  bool is_call = ast_kind(ast, e) == AST_CALL && ast_kid_count(ast, e) == 2 && !ast_label_count(ast, e);
  if (!is_call || ast_path(ast, e).count != 1) return 0;
  AstExpr of = ast_kid(ast, e, 0), number = ast_kid(ast, e, 1);
  if (strcmp(names_text(ast->names, ast_part(ast, ast_path(ast, e), 0)->name), "size") != 0) return 0;
  bool is_own = ast_kind(ast, of) == AST_REFERENCE && ast_path(ast, of).count == 1 &&
                ast_part(ast, ast_path(ast, of), 0)->name == name;
  return is_own && ast_kind(ast, number) == AST_INTEGER ? ast_node(ast, number)->value.integer : 0;
}

/* Refuses `x[size(x, 1)]`: a size must not be defined by itself, nor by a later size of the same array. A later size that is `:` is
 * allowed. */
static void check_own_sizes(Parser *parser, AstClass *definition, const AstComponent *component) {
  const Ast *ast = parser->ast;
  const AstExprs *sizes = &component->dimensions;
  for (uint32_t k = 0; k < sizes->count; k++) {
    int64_t number = own_size(ast, sizes->data[k], component->label.name);
    if (number <= k || number > sizes->count || ast_kind(ast, sizes->data[number - 1]) == AST_COLON) continue;
    keep_breach(parser, definition,
                (AstBreach){.span = ast_span(ast, sizes->data[k]),
                            .is_plain = true,
                            .message = arena_printf(&parser->ast->arena, "size %u of `%s` depends on itself", k + 1,
                                                    names_text(ast->names, component->label.name))});
  }
}

static void check_component(Parser *parser, AstClass *definition, const AstElement *element) {
  AstLabel label = element->component->label;
  const AstPath type = element->component->type->name;
  const char *name = names_text(parser->ast->names, label.name), *kind = ast_class_words[definition->kind];
  uint32_t refused = element->prefixes & refused_prefixes(definition->kind);
  if (type.count == 1 && !type.global && ast_part(parser->ast, type, 0)->name == label.name)
    report(parser, label.span, NULL, "component `%s` has the name of its type", name);
  else if (refused)
    report(parser, label.span, NULL, "`%s` of a %s cannot be `%s`", name, kind, ast_prefix_text(refused));
  else if (definition->kind == CLASS_TYPE || definition->kind == CLASS_OPERATOR)
    report(parser, label.span, NULL, "%s cannot have components such as `%s`",
           definition->kind == CLASS_TYPE ? "a type" : "an operator", name);
  else if (definition->kind == CLASS_PACKAGE && !(element->prefixes & PREFIX_CONSTANT))
    report(parser, label.span, NULL, "`%s` of a package must be a constant", name);
  else if (definition->kind == CLASS_FUNCTION) check_function_component(parser, definition, element, label);
}

static void check_inner_class(Parser *parser, const AstClass *definition, const AstClass *inner) {
  check_reserved(parser, inner->label);
  if (definition->kind == CLASS_OPERATOR && inner->kind != CLASS_FUNCTION)
    report(parser, inner->label.span, NULL, "an operator may contain only functions; `%s` is not a function",
           names_text(parser->ast->names, inner->label.name));
}

static void check_elements(Parser *parser, AstClass *definition) {
  for (uint32_t i = 0; i < definition->elements.count; i++) {
    const AstElement *element = &definition->elements.data[i];
    if (element->kind == AST_CLASS) check_inner_class(parser, definition, element->class_definition);
    if (element->kind != AST_COMPONENT) continue;
    check_reserved(parser, element->component->label);
    check_component(parser, definition, element);
    check_own_sizes(parser, definition, element->component);
  }
}

static void check_function_section(Parser *parser, const AstSection *section, uint32_t number) {
  if (!section->is_algorithm) report(parser, section->span, NULL, "a function has no equations");
  else if (section->is_initial) report(parser, section->span, NULL, "a function has no initial algorithm");
  else if (number > 0) report(parser, section->span, NULL, "a function may have only one algorithm");
}

static void check_sections(Parser *parser, const AstClass *definition) {
  bool is_behaviour =
      definition->kind == CLASS_CLASS || definition->kind == CLASS_MODEL || definition->kind == CLASS_BLOCK;
  for (uint32_t i = 0; i < definition->sections.count && !is_behaviour; i++) {
    const AstSection *section = &definition->sections.data[i];
    if (definition->kind == CLASS_FUNCTION) check_function_section(parser, section, i);
    else
      report(parser, section->span, NULL, "a class of kind `%s` has no %s", ast_class_words[definition->kind],
             section->is_algorithm ? "algorithm" : "equations");
  }
  if (definition->external && definition->kind != CLASS_FUNCTION)
    report(parser, definition->external->span, NULL, "only a function is `external`");
  if (definition->external && definition->sections.count)
    report(parser, definition->external->span, NULL, "a function is `external` or has an algorithm, not both");
}

/* Only a model or block may use the time, unless the class or a base class declares the name. */
static void check_time(Parser *parser, const AstClass *definition, Span time) {
  static const char *const word[] = {"time", NULL};
  if (time.end == time.begin || definition->kind <= CLASS_BLOCK) return;
  for (uint32_t i = 0; i < definition->elements.count; i++) {
    const AstElement *element = &definition->elements.data[i];
    AstLabel label = ast_element_label(element);
    if (element->kind == AST_EXTENDS || (label.name && is_written(parser, label, word))) return;
  }
  report(parser, time, NULL, "a %s cannot use `time`: only models and blocks can", ast_class_words[definition->kind]);
}

void restrict_class(Parser *parser, AstClass *definition, Span time) {
  begin_reports(parser, definition);
  if (!parser->classes.count) check_reserved(parser, definition->label);
  check_literals(parser, definition);
  if (definition->elements.count > 1) check_names(parser, definition), check_imports(parser, definition);
  check_elements(parser, definition);
  check_sections(parser, definition);
  check_time(parser, definition, time);
}

/* ---- modifications ---- */

/* The element that an argument of a modification changes, with a.b.c as one name. A redeclaration counts as a change of the whole
 * element. */
typedef struct Modified {
  Map seen;       /* name -> the argument that gives its value or redeclares it */
  Map redeclared; /* name -> the argument that redeclares it */
  const AstModification *modification;
} Modified;

static Name join_path(const Parser *parser, Name outer, AstPath path) {
  const char *text = path.count == 1 ? names_text(parser->ast->names, ast_part(parser->ast, path, 0)->name)
                                     : ast_path_text(parser->ast, path, &parser->ast->arena);
  if (outer) text = arena_printf(&parser->ast->arena, "%s.%s", names_text(parser->ast->names, outer), text);
  return names_add(parser->ast->names, text, strlen(text));
}

static void note_value(Parser *parser, Modified *modified, Name name, uint32_t number, Span span) {
  uint32_t before = map_get(&modified->seen, name);
  if (before == MAP_NONE) map_put(&modified->seen, name, number);
  else if (before != number) /* duplicates within one argument were reported with that argument */
    report(parser, span, &(Beside){"the other modification", modified->modification->arguments.data[before].span},
           "`%s` is modified twice", names_text(parser->ast->names, name));
}

/* Notes values, and values nested in them. The attributes of an element may be given separately from its value. The parser limits
 * how deep modifications nest. */
static void note_argument(Parser *parser, Modified *modified, Name outer, uint32_t number,
                          const AstArgument *argument) {
  const AstModification *inner = argument->modification;
  if (argument->name.count == 0 || argument->is_break) return;
  Name name = join_path(parser, outer, argument->name);
  if (argument->redeclared || (inner && (inner->value != AST_NONE || inner->is_break)))
    note_value(parser, modified, name, number, argument->span);
  uint32_t redeclared =
      outer ? MAP_NONE : map_get(&modified->redeclared, ast_part(parser->ast, argument->name, 0)->name);
  if (redeclared != MAP_NONE && redeclared != number && !argument->redeclared)
    note_value(parser, modified, ast_part(parser->ast, argument->name, 0)->name, number, argument->span);
  for (uint32_t i = 0; inner && !argument->redeclared && i < inner->arguments.count; i++)
    note_argument(parser, modified, name, number, &inner->arguments.data[i]);
}

/* Compares arguments only if two begin with the same name, which is rare. */
void restrict_modification(Parser *parser, const AstModification *modification) {
  Modified modified = {map_make(parser->heap), map_make(parser->heap), modification};
  Map first = map_make(parser->heap);
  bool is_repeated = false;
  begin_reports(parser, innermost(parser));
  for (uint32_t i = 0; i < modification->arguments.count; i++) {
    AstPath path = modification->arguments.data[i].name;
    if (path.count == 0) continue;
    Name name = ast_part(parser->ast, path, 0)->name;
    is_repeated = is_repeated || map_get(&first, name) != MAP_NONE;
    map_put(&first, name, i);
    if (modification->arguments.data[i].redeclared) map_put(&modified.redeclared, name, i);
  }
  for (uint32_t i = 0; is_repeated && i < modification->arguments.count; i++)
    note_argument(parser, &modified, 0, i, &modification->arguments.data[i]);
  map_free(&modified.seen);
  map_free(&modified.redeclared);
  map_free(&first);
}
