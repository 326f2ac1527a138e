/* lookup: the meaning of names (Modelica 3.6, sections 5.3 and 13.2): elements of the class and of its base classes, imports, then
 * the enclosing classes up to the root, then built-in classes. */
#include "instance/lookup.h"

#include "base/format.h"
#include "base/suggest.h"
#include "instance/builtin.h"

#include <stdarg.h>
#include <string.h>

/* ---- errors ---- */

const char *instance_text(Tree *tree, const Instance *instance) { return names_text(tree->names, instance->flat_name); }

static void report(Tree *tree, DiagCode code, Span span, const Instance *instance, const char *format, va_list list) {
  char text[1024];
  format_list(text, sizeof text, format, list);
  tree->last = diag_error(tree->diags, code, span, "%s", text);
  if (instance && instance->flat_name && instance->kind == INSTANCE_COMPONENT)
    diag_note(tree->diags, tree->last, (Span){0}, "in component `%s`", instance_text(tree, instance));
}

void tree_error(Tree *tree, Span span, const Instance *instance, const char *format, ...) {
  va_list list;
  va_start(list, format);
  report(tree, DIAG_INPUT, span, instance, format, list);
  va_end(list);
}

void tree_refuse(Tree *tree, DiagCode code, Span span, const Instance *instance, const char *format, ...) {
  va_list list;
  va_start(list, format);
  report(tree, code, span, instance, format, list);
  va_end(list);
}

bool is_reported(const Tree *tree, Span span) {
  for (uint32_t i = 0; i < tree->diags->list.count; i++) {
    const Diag *diag = &tree->diags->list.data[i];
    if (diag->span.begin == span.begin && diag->span.end == span.end) return true;
  }
  return false;
}

bool tree_tolerate(Tree *tree, DiagCode code, Span span, const Instance *instance, const char *format, ...) {
  char text[1024];
  va_list list;
  if (!tree->is_strict && is_reported(tree, span)) return true;
  va_start(list, format);
  if (tree->is_strict) report(tree, code, span, instance, format, list);
  else {
    format_list(text, sizeof text, format, list);
    diag_warning(tree->diags, DIAG_WARNING_LENIENT, span, "%s", text);
  }
  va_end(list);
  return !tree->is_strict;
}

void tree_suggest_element(Tree *tree, const Instance *instance, const char *word) {
  Suggestion best = {.word = word};
  for (uint32_t i = 0; i < instance->elements.count; i++)
    suggest_offer(&best, names_text(tree->names, instance->elements.data[i].name));
  if (best.nearest) diag_note(tree->diags, tree->last, (Span){0}, "did you mean `%s`?", best.nearest);
}

void keep_reading(Tree *tree, uint32_t before) {
  const Diags *diags = tree->earlier->diags;
  for (uint32_t i = before; i < diags->list.count; i++)
    vec_push(tree->heap, &tree->earlier->reading, diags->list.data[i]);
}

/* ---- the root ---- */

static Instance *root_element(Tree *tree, Name name) {
  uint32_t found = map_get(&tree->root->by_name, name);
  return found == MAP_NONE ? NULL : tree->root->elements.data[found].instance;
}

static Instance *root_add(Tree *tree, const AstClass *definition) {
  Instance *made = class_instance(tree, tree->root, NULL, definition, (Scope){tree->root, 0}, (Modifiers){0});
  Element element = {.name = definition->label.name, .next = UINT32_MAX, .instance = made};
  map_put(&tree->root->by_name, element.name, tree->root->elements.count);
  vec_push(tree->heap, &tree->root->elements, element);
  return made;
}

Instance *root_find(Tree *tree, Name name) {
  Instance *known = root_element(tree, name);
  if (known) return known;
  for (InstanceBase base = BASE_REAL; base < BASE_COUNT; base++)
    if (tree->bases[base] && tree->bases[base]->name == name) return tree->bases[base];
  uint32_t before = tree->earlier->diags->list.count;
  const AstElement *found = library_find(tree->library, name);
  keep_reading(tree, before);
  const AstClass *definition = found ? found->class_definition : builtin_find(tree, name);
  return definition ? root_add(tree, definition) : NULL;
}

/* ---- elements that a composite name may access ---- */

static bool is_partial_class(const Instance *instance) {
  return instance->kind == INSTANCE_CLASS && instance->definition && instance->definition->prefixes & PREFIX_PARTIAL;
}

/* Does the instance have only classes and constants, like a package? */
static bool is_package_like(const Instance *instance) {
  if (instance->restriction == CLASS_PACKAGE || instance->restriction == CLASS_OPERATOR) return true;
  for (uint32_t i = 0; i < instance->elements.count; i++) {
    const Element *element = &instance->elements.data[i];
    bool is_fine = element->is_removed || !element->ast || element->ast->kind == AST_CLASS;
    if (!is_fine && !(element->ast->prefixes & PREFIX_CONSTANT)) return false;
  }
  for (uint32_t i = 0; i < instance->parts.count; i++)
    if (instance->parts.data[i].definition && instance->parts.data[i].definition->sections.count) return false;
  return true;
}

static bool is_encapsulated(const Element *element) {
  return element->ast->kind == AST_CLASS && element->ast->class_definition->prefixes & PREFIX_ENCAPSULATED;
}

bool check_access(Tree *tree, Scope scope, const Instance *in, Name name, Span span) {
  uint32_t number = in == tree->root ? MAP_NONE : map_get(&in->by_name, name);
  if (number == MAP_NONE || !in->elements.data[number].ast) return true;
  const Element *element = &in->elements.data[number];
  const char *text = names_text(tree->names, name), *where = names_text(tree->names, in->flat_name);
  if (element_is_protected(in, element) && !(in->kind == INSTANCE_COMPONENT && in == scope.instance))
    tree_refuse(tree, DIAG_NO_ACCESS, span, scope.instance, "`%s` is protected in `%s`", text, where);
  else if (is_partial_class(in))
    return tree_tolerate(tree, DIAG_NO_ACCESS, span, scope.instance, "`%s` is partial: `%s` cannot be looked up in it",
                         where, text);
  else if (in->kind == INSTANCE_CLASS && !is_encapsulated(element) && !is_package_like(in))
    return tree_tolerate(tree, DIAG_NO_ACCESS, span, scope.instance,
                         "`%s` cannot be looked up in `%s`, which is not a package: it is not encapsulated", text,
                         where);
  else return true;
  return false;
}

/* ---- imports ---- */

/* The element `name` of a package, for an import. Reports an error and returns NULL if there is none or it is not accessible. */
static Instance *import_step(Tree *tree, Scope scope, Instance *from, Name name, Span span) {
  Instance *found = instance_element(tree, from, name);
  uint32_t number = found && from != tree->root ? map_get(&from->by_name, name) : MAP_NONE;
  if (number == MAP_NONE || !element_is_protected(from, &from->elements.data[number])) return found;
  tree_refuse(tree, DIAG_NO_ACCESS, span, scope.instance, "`%s` is protected in `%s`, and cannot be imported",
              names_text(tree->names, name), names_text(tree->names, from->flat_name));
  return NULL;
}

static Instance *path_from_root(Tree *tree, Scope scope, AstPath path, uint32_t count) {
  Instance *at = tree->root;
  for (uint32_t i = 0; i < count && at; i++)
    at = import_step(tree, scope, at, ast_part(tree->ast, path, i)->name, path.span);
  return at;
}

static bool is_package(const Instance *instance) {
  return instance->kind == INSTANCE_CLASS && instance->restriction == CLASS_PACKAGE;
}

/* Packages and their elements can be imported. */
static Instance *import_from(Tree *tree, Scope scope, Instance *from, Name name, Span span) {
  Instance *found = from ? import_step(tree, scope, from, name, span) : NULL;
  if (!found || is_package(from) || is_package(found)) return found;
  return tree_tolerate(tree, DIAG_NO_ACCESS, span, scope.instance,
                       "`%s` cannot be imported from `%s`, which is not a package", names_text(tree->names, name),
                       names_text(tree->names, from->flat_name))
             ? found
             : NULL;
}

/* The element that an import with an explicit name gives for `name`. */
static Instance *named_import(Tree *tree, Scope scope, const AstImport *import, Name name) {
  AstPath path = import->name;
  if (import->is_all) return NULL;
  for (uint32_t i = 0; i < import->names.count; i++)
    if (import->names.data[i].name == name)
      return import_from(tree, scope, path_from_root(tree, scope, path, path.count), name, import->names.data[i].span);
  if (import->names.count) return NULL;
  Name last = ast_part(tree->ast, path, path.count - 1)->name;
  if (name != (import->alias.name ? import->alias.name : last)) return NULL;
  return import_from(tree, scope, path_from_root(tree, scope, path, path.count - 1), last, path.span);
}

/* The element that import A.B.* gives for `name`: public elements only, and A.B must be a package. */
static Instance *import_any(Tree *tree, Scope scope, const AstImport *import, Name name) {
  Instance *from = path_from_root(tree, scope, import->name, import->name.count);
  Instance *found = from ? instance_element(tree, from, name) : NULL;
  uint32_t number = found && from != tree->root ? map_get(&from->by_name, name) : MAP_NONE;
  if (number != MAP_NONE && element_is_protected(from, &from->elements.data[number])) return NULL;
  if (!found || is_package(from)) return found;
  return tree_tolerate(tree, DIAG_NO_ACCESS, import->name.span, scope.instance,
                       "`%s` is not a package: its elements cannot all be imported",
                       names_text(tree->names, from->flat_name))
             ? found
             : NULL;
}

static Instance *import_all(Tree *tree, Scope scope, Name name) {
  Instance *found = NULL;
  for (uint32_t i = 0; i < scope.instance->imports.count; i++) {
    Import import = scope.instance->imports.data[i];
    if (import.part != scope.part || !import.ast->is_all) continue;
    Instance *next = import_any(tree, scope, import.ast, name);
    if (!found || !next || next == found) {
      if (next) found = next;
      continue;
    }
    tree_error(tree, import.ast->name.span, scope.instance, "`%s` is imported both as `%s` and as `%s`",
               names_text(tree->names, name), names_text(tree->names, found->flat_name),
               names_text(tree->names, next->flat_name));
    return NULL;
  }
  return found;
}

static Instance *imported(Tree *tree, Scope scope, Name name) {
  heap_work(tree->heap, scope.instance->imports.count);
  for (uint32_t i = 0; i < scope.instance->imports.count; i++) {
    Import import = scope.instance->imports.data[i];
    Instance *found = import.part == scope.part ? named_import(tree, scope, import.ast, name) : NULL;
    if (found) return found;
  }
  return import_all(tree, scope, name);
}

/* ---- one name ---- */

static Instance *visible_element(Tree *tree, Scope scope, Name name) {
  Instance *instance = scope.instance;
  for (uint32_t i = map_get(&instance->by_name, name); i != MAP_NONE; i = instance->elements.data[i].next) {
    const Element *element = &instance->elements.data[i];
    bool is_inside = element->part >= scope.part && element->part < instance->parts.data[scope.part].end;
    if (!is_inside) continue;
    if (!element->is_removed) return element_instance(tree, instance, i);
    uint32_t first = map_get(&instance->by_name, name); /* a removed element repeats an earlier one */
    if (first != i && !instance->elements.data[first].is_removed) return element_instance(tree, instance, first);
  }
  uint32_t member = library_element(tree, instance, scope.part, name);
  return member == MAP_NONE ? NULL : element_instance(tree, instance, member);
}

static bool is_predefined(const Tree *tree, const Instance *found) {
  return found && (!found->definition || builtin_holds(tree, found->definition));
}

Instance *scope_find(Tree *tree, Scope scope, Name name) {
  bool is_closed = false;
  while (scope.instance != tree->root) {
    instance_open(tree, scope.instance);
    if (scope.part >= scope.instance->parts.count) return NULL;
    Instance *found = visible_element(tree, scope, name);
    if (!found) found = imported(tree, scope, name);
    if (found) return found;
    const Part *part = &scope.instance->parts.data[scope.part];
    is_closed = is_closed || (part->definition && part->definition->prefixes & PREFIX_ENCAPSULATED);
    if (is_closed) break;
    scope = part->around;
    if (!scope.instance) break;
  }
  Instance *found = root_find(tree, name);
  return is_closed && !is_predefined(tree, found) ? NULL : found;
}

/* The enumeration whose literal an import gives for `name`; NULL if there is none. */
static Instance *literal_import(Tree *tree, Scope scope, const AstImport *import, Name name, Name *literal) {
  AstPath path = import->name;
  Name last = ast_part(tree->ast, path, path.count - 1)->name;
  bool is_list = import->is_all || import->names.count, is_named = import->is_all;
  for (uint32_t i = 0; i < import->names.count; i++) is_named |= import->names.data[i].name == name;
  if (!is_list) is_named = name == (import->alias.name ? import->alias.name : last);
  Instance *type = is_named ? path_from_root(tree, scope, path, is_list ? path.count : path.count - 1) : NULL;
  if (!type || type == tree->root || type->kind != INSTANCE_CLASS) return NULL;
  instance_open(tree, type);
  *literal = is_list ? name : last;
  for (uint32_t i = 0;
       type->base == BASE_ENUMERATION && type->enumeration && i < type->enumeration->definition->literals.count; i++)
    if (type->enumeration->definition->literals.data[i].label.name == *literal) return type;
  return NULL;
}

Instance *scope_find_literal(Tree *tree, Scope scope, Name name, Name *literal) {
  for (; scope.instance && scope.instance != tree->root; scope = scope.instance->parts.data[scope.part].around) {
    const AstClass *definition = scope.instance->parts.data[scope.part].definition;
    for (uint32_t i = 0; i < scope.instance->imports.count; i++) {
      Import import = scope.instance->imports.data[i];
      Instance *type = import.part == scope.part ? literal_import(tree, scope, import.ast, name, literal) : NULL;
      if (type) return type;
    }
    if (definition && definition->prefixes & PREFIX_ENCAPSULATED) break;
  }
  return NULL;
}

/* ---- inner and outer ---- */

const char *restriction_text(AstClassKind restriction) {
  static const char *const texts[] = {
      [CLASS_CLASS] = "class",     [CLASS_MODEL] = "model",       [CLASS_BLOCK] = "block",
      [CLASS_RECORD] = "record",   [CLASS_TYPE] = "type",         [CLASS_CONNECTOR] = "connector",
      [CLASS_PACKAGE] = "package", [CLASS_FUNCTION] = "function", [CLASS_OPERATOR] = "operator"};
  return texts[restriction];
}

static Instance *inner_element(Tree *tree, Instance *owner, Name name, const AstElement *like) {
  uint32_t found = map_get(&owner->by_name, name);
  if (found == MAP_NONE || owner->elements.data[found].is_removed) return NULL;
  const AstElement *ast = owner->elements.data[found].ast;
  if ((like && ast->kind != like->kind) || !(ast->prefixes & PREFIX_INNER)) return NULL;
  return prefixes_pass_through(ast->prefixes) ? NULL : element_instance(tree, owner, found);
}

Instance *find_inner_element(Tree *tree, Instance *owner, Name name, const AstElement *like) {
  Instance *found = NULL;
  for (Instance *at = owner; at && !found; at = at->parent)
    if (at->kind == INSTANCE_COMPONENT) found = inner_element(tree, at, name, like);
  return found;
}

Instance *find_inner(Tree *tree, Instance *outer) {
  if (!outer->inner && outer->parent)
    outer->inner = find_inner_element(tree, outer->parent->parent, outer->name, outer->element);
  return outer->inner;
}

Instance *instance_inner(Tree *tree, Instance *instance) {
  if (!(instance->prefixes & PREFIX_OUTER)) return instance;
  if (!find_inner(tree, instance)) instance->inner = add_missing_inner(tree, instance);
  return instance->inner;
}

/* ---- paths of classes ---- */

static void offer_classes(const Tree *tree, const Instance *instance, Suggestion *best) {
  for (uint32_t i = 0; i < instance->elements.count; i++)
    if (instance->elements.data[i].ast == NULL || instance->elements.data[i].ast->kind == AST_CLASS)
      suggest_offer(best, names_text(tree->names, instance->elements.data[i].name));
  if (!tree->library || !instance->definition) return;
  LibraryNames members = library_members(tree->library, instance->definition);
  for (uint32_t i = 0; i < members.count; i++) suggest_offer(best, names_text(tree->names, members.data[i]));
}

static void note_builtin(Tree *tree, const Instance *inside, Diag *diag) {
  if (!inside->definition || !builtin_holds(tree, inside->definition)) return;
  diag_note(tree->diags, diag, (Span){0},
            "a part of `%s` is built in; --library names the directory of the whole library",
            names_text(tree->names, inside->flat_name));
}

/* Would the import give this name if the class that it imports existed? */
static bool import_offers(const Tree *tree, const AstImport *import, Name name) {
  for (uint32_t i = 0; i < import->names.count; i++)
    if (import->names.data[i].name == name) return true;
  if (import->is_all || import->names.count) return import->is_all;
  return name ==
         (import->alias.name ? import->alias.name : ast_part(tree->ast, import->name, import->name.count - 1)->name);
}

/* Notes an import that would give the name, but whose path does not exist. */
static void note_failed_import(Tree *tree, const AstImport *import, Name name, Diag *diag) {
  Instance *at = tree->root, *next;
  uint32_t i = 0;
  if (!import_offers(tree, import, name)) return;
  while (i < import->name.count && (next = instance_element(tree, at, ast_part(tree->ast, import->name, i)->name)))
    at = next, i++;
  if (i == import->name.count) return;
  Name missing = ast_part(tree->ast, import->name, i)->name;
  if (at == tree->root) {
    diag_note(tree->diags, diag, import->name.span, "this import finds no class `%s`",
              names_text(tree->names, missing));
    library_note_missing(tree->library, missing, diag);
  } else {
    diag_note(tree->diags, diag, import->name.span, "this import finds no `%s` in `%s`",
              names_text(tree->names, missing), names_text(tree->names, at->flat_name));
    note_builtin(tree, at, diag);
  }
}

static void report_unknown(Tree *tree, Scope scope, AstPath path, uint32_t at, const Instance *inside) {
  const char *name = names_text(tree->names, ast_part(tree->ast, path, at)->name);
  const char *text = ast_path_text(tree->ast, path, &tree->arena);
  if (inside && path.count > 1)
    tree_error(tree, path.span, scope.instance, "class `%s` is not defined: there is no `%s` in `%s`", text, name,
               names_text(tree->names, inside->flat_name));
  else {
    tree_error(tree, path.span, scope.instance, "class `%s` is not defined", text);
    if (path.count > 1) library_note_missing(tree->library, ast_part(tree->ast, path, 0)->name, tree->last);
  }
  if (inside) note_builtin(tree, inside, tree->last);
  for (Scope outer = scope; outer.instance && !inside; outer = outer.instance->parts.data[outer.part].around)
    for (uint32_t i = 0; i < outer.instance->imports.count; i++)
      if (outer.instance->imports.data[i].part == outer.part)
        note_failed_import(tree, outer.instance->imports.data[i].ast, ast_part(tree->ast, path, at)->name, tree->last);
  Suggestion best = {.word = name};
  if (inside && path.count > 1) offer_classes(tree, inside, &best);
  else
    for (Scope outer = scope; outer.instance; outer = outer.instance->parts.data[outer.part].around)
      offer_classes(tree, outer.instance, &best);
  if (best.nearest && strcmp(best.nearest, name) == 0)
    diag_note(tree->diags, tree->last, (Span){0}, "an `encapsulated` class around it hides `%s`: import it there",
              name);
  else if (best.nearest) diag_note(tree->diags, tree->last, (Span){0}, "did you mean `%s`?", best.nearest);
}

static void report_component(Tree *tree, Scope scope, AstPath path, const Instance *component) {
  tree_refuse(tree, DIAG_NO_ACCESS, path.span, scope.instance, "class `%s` cannot be looked up in a component: `%s`",
              ast_path_text(tree->ast, path, &tree->arena), instance_text(tree, component));
}

static Instance *walk_path(Tree *tree, Scope scope, AstPath path, Instance *first, bool reports) {
  Instance *at = first;
  uint32_t errors = tree->diags->errors;
  if (!at) {
    if (reports && tree->diags->errors == errors) report_unknown(tree, scope, path, 0, NULL);
    return NULL;
  }
  for (uint32_t i = 1; i < path.count; i++) {
    Name name = ast_part(tree->ast, path, i)->name;
    Instance *next = instance_element(tree, at, name);
    if (!next) {
      if (reports && tree->diags->errors == errors) report_unknown(tree, scope, path, i, at);
      return NULL;
    }
    if (reports && !check_access(tree, scope, at, name, path.span)) return NULL;
    if (reports && at->kind == INSTANCE_COMPONENT) return report_component(tree, scope, path, at), NULL;
    at = next;
  }
  return at;
}

/* The base type of that name; Clock and the like may be redefined. Quoted 'String' is something else: the operator of a record. */
static Instance *base_named(const Tree *tree, Name name, Span span) {
  for (InstanceBase base = BASE_REAL; base <= BASE_STRING; base++)
    if (tree->bases[base] && tree->bases[base]->name == name)
      return *source_text(tree->ast->source, span.begin) == '\'' ? NULL : tree->bases[base];
  return NULL;
}

static Instance *find_first(Tree *tree, Scope scope, AstPath path) {
  Name name = ast_part(tree->ast, path, 0)->name;
  Instance *base = path.count == 1 ? base_named(tree, name, path.span) : NULL;
  if (base) return base;
  return path.global ? root_find(tree, name) : scope_find(tree, scope, name);
}

Instance *scope_try_class(Tree *tree, Scope scope, AstPath path) {
  Instance *found = walk_path(tree, scope, path, find_first(tree, scope, path), false);
  return found && found->kind == INSTANCE_CLASS ? found : NULL;
}

Instance *scope_find_class(Tree *tree, Scope scope, AstPath path) {
  uint32_t errors = tree->diags->errors;
  Instance *first = find_first(tree, scope, path);
  if (!first && tree->diags->errors > errors) return NULL;
  Instance *found = walk_path(tree, scope, path, first, true);
  if (found && found->kind != INSTANCE_CLASS) {
    tree_error(tree, path.span, scope.instance, "`%s` is a component, not a class",
               ast_path_text(tree->ast, path, &tree->arena));
    return NULL;
  }
  return found;
}

/* The classes that a definition itself declares, which are found without inheritance. */
static uint32_t own_class(Scope scope, Name name) {
  const Instance *instance = scope.instance;
  for (uint32_t i = map_get(&instance->by_name, name); i != MAP_NONE; i = instance->elements.data[i].next)
    if (instance->elements.data[i].part == scope.part && instance->elements.data[i].ast->kind == AST_CLASS) return i;
  return MAP_NONE;
}

/* Is the last declaration of the element replaceable? */
static bool is_replaceable(Tree *tree, Instance *owner, uint32_t number) {
  Element element = owner->elements.data[number];
  if (!element.ast || !(element.ast->prefixes & PREFIX_REPLACEABLE)) return false;
  RedeclarationVec all = {0};
  element_declarations(tree, owner, &element, &all);
  bool is_still = all.data[0].declaration.ast->prefixes & PREFIX_REPLACEABLE;
  vec_free(tree->heap, &all);
  return is_still;
}

/* Is the name replaceable in the innermost enclosing class that has it? */
static bool is_replaceable_around(Tree *tree, Scope scope, Name name) {
  for (; scope.instance && scope.instance != tree->root; scope = scope.instance->parts.data[scope.part].around) {
    uint32_t number = map_get(&scope.instance->by_name, name);
    if (number != MAP_NONE) return is_replaceable(tree, scope.instance, number);
  }
  return false;
}

/* Base classes must not be replaceable, nor be elements of a replaceable class (section 7.1.4). */
static bool check_base_path(Tree *tree, Scope scope, AstPath path, Instance *first, bool is_first_replaceable) {
  bool is_found = is_first_replaceable;
  Name name = ast_part(tree->ast, path, 0)->name;
  Instance *at = first;
  for (uint32_t i = 1; i < path.count && !is_found; i++) {
    name = ast_part(tree->ast, path, i)->name;
    uint32_t number = at == tree->root ? MAP_NONE : map_get(&at->by_name, name);
    is_found = number != MAP_NONE && is_replaceable(tree, at, number);
    at = instance_element(tree, at, name);
  }
  if (!is_found) return true;
  return tree_tolerate(tree, DIAG_NO_BASE, path.span, scope.instance, "`%s` is replaceable, and cannot be a base class",
                       names_text(tree->names, name));
}

Instance *scope_find_base(Tree *tree, Scope scope, AstPath path) {
  Instance *instance = scope.instance;
  Part part = instance->parts.data[scope.part];
  Name name = ast_part(tree->ast, path, 0)->name;
  Instance *first = NULL;
  bool is_first_replaceable = false;
  uint32_t errors = tree->diags->errors;
  if (!path.global) {
    uint32_t own = own_class(scope, name);
    if (own == MAP_NONE) own = library_element(tree, instance, scope.part, name);
    if (own != MAP_NONE) first = element_instance(tree, instance, own);
    if (first) is_first_replaceable = is_replaceable(tree, instance, own);
    if (!first) first = imported(tree, scope, name);
    bool is_closed = part.definition->prefixes & PREFIX_ENCAPSULATED;
    if (!first && !is_closed) {
      first = scope_find(tree, part.around, name);
      is_first_replaceable = first && is_replaceable_around(tree, part.around, name);
    }
    if (!first && is_closed && is_predefined(tree, root_find(tree, name))) first = root_find(tree, name);
  } else first = root_find(tree, name);
  if (!first && tree->diags->errors > errors) return NULL;
  Instance *found = walk_path(tree, part.around, path, first, true);
  return found && check_base_path(tree, scope, path, first, is_first_replaceable) ? found : NULL;
}
