/* load: see load.h. */
#include "instance/load.h"

#include "base/suggest.h"
#include "instance/flatten.h"
#include "instance/lookup.h"
#include "syntax/lexer.h"
#include "syntax/library.h"
#include "syntax/parser.h"

#include <string.h>

/* ---- texts that are already flat ---- */

static bool is_model(const AstClass *definition) {
  return (definition->kind == CLASS_MODEL || definition->kind == CLASS_BLOCK || definition->kind == CLASS_CLASS) &&
         !(definition->prefixes & PREFIX_PARTIAL);
}

static bool is_simple_class(const AstClass *definition) {
  switch (definition->kind) {
  case CLASS_RECORD:
  case CLASS_TYPE:
  case CLASS_FUNCTION:
  case CLASS_PACKAGE: break;
  default: return false;
  }
  return true;
}

static bool has_connect(const AstStatement *list, uint32_t count, uint32_t depth) {
  for (uint32_t i = 0; i < count; i++) {
    if (list[i].kind == AST_CONNECT) return true;
    for (uint32_t k = 0; k < list[i].branches.count && depth < 200; k++)
      if (has_connect(list[i].branches.data[k].body.data, list[i].branches.data[k].body.count, depth + 1)) return true;
  }
  return false;
}

static bool is_flat_element(const Ast *ast, const AstElement *element) {
  uint32_t refused = PREFIX_INNER | PREFIX_OUTER | PREFIX_REDECLARE | PREFIX_REPLACEABLE | PREFIX_STREAM;
  switch (element->kind) {
  case AST_IMPORT: return false;
  case AST_EXTENDS: return ast_path_is(ast, element->extends->name, "ExternalObject");
  case AST_CLASS: return !(element->prefixes & refused);
  case AST_COMPONENT: return !(element->prefixes & refused) && element->component->condition == AST_NONE;
  }
  return true;
}

static bool has_final(const AstModification *modification) {
  for (uint32_t i = 0; modification && i < modification->arguments.count; i++)
    if (modification->arguments.data[i].is_final) return true;
  return false;
}

/* Does the class have prefixes that restrict its use by other classes? Models and functions are never inherited in flat text,
 * so their prefixes do not count. */
static bool is_guarded(const AstClass *definition) {
  if (is_model(definition) || definition->kind == CLASS_FUNCTION) return false;
  if (definition->prefixes & PREFIX_PARTIAL || has_final(definition->modification)) return true;
  for (uint32_t i = 0; i < definition->elements.count; i++)
    if (definition->elements.data[i].prefixes & (PREFIX_PROTECTED | PREFIX_FINAL)) return true;
  return false;
}

static bool is_flat_class(const Ast *ast, const AstClass *definition) {
  bool is_short_class =
      definition->form == FORM_SHORT && definition->kind != CLASS_TYPE && definition->kind != CLASS_FUNCTION;
  if (is_short_class || definition->form == FORM_EXTENDS || definition->kind == CLASS_CONNECTOR ||
      definition->kind == CLASS_OPERATOR || definition->prefixes & PREFIX_OPERATOR || is_guarded(definition) ||
      definition->breaches)
    return false;
  for (uint32_t i = 0; i < definition->elements.count; i++)
    if (!is_flat_element(ast, &definition->elements.data[i])) return false;
  for (uint32_t i = 0; i < definition->sections.count; i++)
    if (has_connect(definition->sections.data[i].body.data, definition->sections.data[i].body.count, 0)) return false;
  return true;
}

/* The classes of the file; nested classes come after those that contain them. */
typedef struct ClassIndex {
  VEC(const AstClass *) list;
  Map first;  /* index in the list of the first class of a name */
  Map models; /* set of names of classes with equations */
} ClassIndex;

static const AstClass *find_named(const ClassIndex *all, Name name) {
  uint32_t at = map_get(&all->first, name);
  return at == MAP_NONE ? NULL : all->list.data[at];
}

/* Does the type of a component, or the base of a type, begin with the name? */
static bool names_type(const Ast *ast, const ClassIndex *all, Name name) {
  for (uint32_t k = 0; k < all->list.count; k++) {
    const AstClass *definition = all->list.data[k];
    if (definition->form == FORM_SHORT && ast_part(ast, definition->base.name, 0)->name == name) return true;
    for (uint32_t i = 0; i < definition->elements.count; i++) {
      const AstElement *element = &definition->elements.data[i];
      if (element->kind == AST_COMPONENT && ast_part(ast, element->component->type->name, 0)->name == name) return true;
    }
  }
  return false;
}

/* Does an expression or a type begin with the name of a built-in library that the file does not define? */
static bool uses_library(const Ast *ast, const ClassIndex *all) {
  static const char *const libraries[] = {"Modelica", "Complex"};
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
    Name name = names_find(ast->names, libraries[i], strlen(libraries[i]));
    if (name == MAP_NONE || find_named(all, name)) continue;
    if (names_type(ast, all, name)) return true;
    for (uint32_t e = 0; e < ast->nodes.count; e++) {
      AstKind kind = ast_kind(ast, e);
      if (kind != AST_REFERENCE && kind != AST_CALL && kind != AST_PARTIAL) continue;
      AstPath path = ast_path(ast, e);
      if (path.count && ast_part(ast, path, 0)->name == name) return true;
    }
  }
  return false;
}

static bool has_open_size(const Ast *ast, AstExprs dimensions) {
  for (uint32_t i = 0; i < dimensions.count; i++)
    if (ast_kind(ast, dimensions.data[i]) != AST_INTEGER) return true;
  return false;
}

/* Does an alias of the type add a modification or dimensions to its base type? */
static bool has_alias_attributes(const Ast *ast, const AstType *type, const ClassIndex *all) {
  const AstClass *alias = find_named(all, ast_part(ast, type->name, type->name.count - 1)->name);
  for (uint32_t depth = 0; alias && alias->form == FORM_SHORT; depth++) {
    if (alias->modification || alias->base.dimensions.count || depth == all->list.count) return true;
    alias = find_named(all, ast_part(ast, alias->base.name, alias->base.name.count - 1)->name);
  }
  return false;
}

/* Does a field have more than a type and a size? lang keeps one description of a field for all records of a class, but values,
 * attributes and sizes may differ from record to record. The tree of instances keeps them for each record. */
static bool is_full_field(const Ast *ast, const AstElement *element, const ClassIndex *all) {
  if (element->kind != AST_COMPONENT) return false;
  const AstComponent *field = element->component;
  return field->modification || element->prefixes & (PREFIX_PARAMETER | PREFIX_CONSTANT | PREFIX_DISCRETE) ||
         has_open_size(ast, field->dimensions) || has_open_size(ast, field->type->dimensions) ||
         has_alias_attributes(ast, field->type, all);
}

static bool is_full_record(const Ast *ast, const AstClass *definition, const ClassIndex *all) {
  for (uint32_t i = 0; i < definition->elements.count && definition->kind == CLASS_RECORD; i++)
    if (is_full_field(ast, &definition->elements.data[i], all)) return true;
  return false;
}

static bool is_external_object(const Ast *ast, const AstClass *definition) {
  for (uint32_t i = 0; i < definition->elements.count; i++) {
    const AstElement *element = &definition->elements.data[i];
    if (element->kind == AST_EXTENDS && ast_path_is(ast, element->extends->name, "ExternalObject")) return true;
  }
  return false;
}

/* Does a component have a type that is a class with equations, or from a library? */
static bool has_model_component(const Ast *ast, const AstClass *definition, const ClassIndex *all) {
  for (uint32_t i = 0; i < definition->elements.count; i++) {
    const AstElement *element = &definition->elements.data[i];
    if (element->kind != AST_COMPONENT) continue;
    AstPath path = element->component->type->name;
    Name last = ast_part(ast, path, path.count - 1)->name;
    if (path.count > 1 && !find_named(all, ast_part(ast, path, 0)->name)) return true;
    if (map_get(&all->models, last) != MAP_NONE) return true;
  }
  return false;
}

/* function f = B, where B is not a function. */
static bool has_other_base(const Ast *ast, const AstClass *definition, const ClassIndex *all) {
  if (definition->form != FORM_SHORT || definition->kind != CLASS_FUNCTION) return false;
  AstPath path = definition->base.name;
  const AstClass *base = find_named(all, ast_part(ast, path, path.count - 1)->name);
  return base && base->kind != CLASS_FUNCTION;
}

static void index_class(const Ast *ast, ClassIndex *all, const AstClass *definition) {
  Name name = definition->label.name;
  if (map_get(&all->first, name) == MAP_NONE) map_put(&all->first, name, all->list.count);
  bool is_model = !is_simple_class(definition) && definition->form != FORM_ENUMERATION;
  if (is_model && !is_external_object(ast, definition)) map_put(&all->models, name, 0);
  vec_push(ast->heap, &all->list, definition);
}

static ClassIndex all_classes(const Ast *ast) {
  ClassIndex all = {.first = map_make(ast->heap), .models = map_make(ast->heap)};
  for (uint32_t i = 0; i < ast->main->classes.count; i++) index_class(ast, &all, ast->main->classes.data[i]);
  for (uint32_t next = 0; next < all.list.count; next++) {
    const AstClass *definition = all.list.data[next];
    for (uint32_t i = 0; i < definition->elements.count; i++)
      if (definition->elements.data[i].kind == AST_CLASS)
        index_class(ast, &all, definition->elements.data[i].class_definition);
  }
  return all;
}

/* The record of a component, if the file defines it; else NULL. */
static const AstClass *record_of(const Ast *ast, const AstElement *element, const ClassIndex *all) {
  if (element->kind != AST_COMPONENT) return NULL;
  AstPath name = element->component->type->name;
  const AstClass *type = find_named(all, ast_part(ast, name, name.count - 1)->name);
  return type && type->kind == CLASS_RECORD ? type : NULL;
}

static bool has_value(const AstElement *element) {
  const AstModification *modification = element->component->modification;
  return modification && modification->value != AST_NONE;
}

/* Does the record give values to its fields? */
static bool has_field_value(const Ast *ast, const AstClass *record, const ClassIndex *all) {
  for (uint32_t i = 0; i < record->elements.count; i++) {
    const AstElement *element = &record->elements.data[i];
    if (element->kind != AST_COMPONENT) continue;
    if (has_value(element) || (element->component->modification && record_of(ast, element, all))) return true;
  }
  return false;
}

/* Records to examine, each once: the records of the components of some classes, the records inside these, and so on. */
typedef struct RecordSearch {
  const Ast *ast;
  const ClassIndex *all;
  Map seen; /* indices of records seen */
  VEC(const AstClass *) open;
} RecordSearch;

static void search_push(RecordSearch *search, const AstElement *element) {
  const AstClass *record = record_of(search->ast, element, search->all);
  if (!record || map_get(&search->seen, record->label.name) != MAP_NONE) return;
  map_put(&search->seen, record->label.name, 0);
  vec_push(search->ast->heap, &search->open, record);
}

/* Does `test` hold for one of them? */
static bool search_run(RecordSearch *search, bool (*test)(const Ast *, const AstClass *, const ClassIndex *)) {
  bool found = false;
  while (search->open.count && !found) {
    const AstClass *record = vec_pop(&search->open);
    found = test(search->ast, record, search->all);
    for (uint32_t i = 0; i < record->elements.count; i++) search_push(search, &record->elements.data[i]);
  }
  vec_free(search->ast->heap, &search->open);
  map_free(&search->seen);
  return found;
}

/* Does the function give values to fields of a component for all elements of an array at once, or in addition to a value of the
 * whole? Otherwise the record may give these fields values, so the record is pushed for examination. */
static bool is_full_local(RecordSearch *search, const AstElement *element) {
  if (!record_of(search->ast, element, search->all)) return false;
  const AstModification *modification = element->component->modification;
  if (element->prefixes & PREFIX_INPUT || has_value(element)) return modification && modification->arguments.count;
  for (uint32_t i = 0; modification && i < modification->arguments.count; i++)
    if (modification->arguments.data[i].is_each) return true;
  search_push(search, element);
  return false;
}

/* Does a function have a component whose record gives values to fields, or a component for which is_full_local is true? */
static bool has_full_local(const Ast *ast, const ClassIndex *all) {
  RecordSearch search = {ast, all, map_make(ast->heap), {0}};
  bool found = false;
  for (uint32_t k = 0; k < all->list.count; k++) {
    const AstClass *definition = all->list.data[k];
    for (uint32_t i = 0; i < definition->elements.count && definition->kind == CLASS_FUNCTION; i++)
      found = is_full_local(&search, &definition->elements.data[i]) || found;
  }
  return search_run(&search, has_field_value) || found;
}

/* Does a class with variables have a component of a record that has such a field, directly or in a nested record? */
static bool has_full_record(const Ast *ast, const ClassIndex *all) {
  RecordSearch search = {ast, all, map_make(ast->heap), {0}};
  for (uint32_t k = 0; k < all->list.count; k++) {
    const AstClass *definition = all->list.data[k];
    if (definition->kind == CLASS_FUNCTION || definition->kind == CLASS_RECORD) continue;
    for (uint32_t i = 0; i < definition->elements.count; i++) search_push(&search, &definition->elements.data[i]);
  }
  return search_run(&search, is_full_record);
}

static bool has_reference(const Ast *ast, AstExpr value) {
  for (AstExpr e = ast_first(ast, value); e <= value; e++)
    if (ast_kind(ast, e) == AST_REFERENCE) return true;
  return false;
}

/* Does the record give a field a value with names in it, or give values to a nested record? Only constructors made by the tree of
 * instances know the meaning of the names. */
static bool has_named_value(const Ast *ast, const AstClass *definition, const ClassIndex *all) {
  for (uint32_t i = 0; i < definition->elements.count && definition->kind == CLASS_RECORD; i++) {
    const AstElement *element = &definition->elements.data[i];
    if (element->kind != AST_COMPONENT || !element->component->modification) continue;
    if (has_value(element) ? has_reference(ast, element->component->modification->value)
                           : record_of(ast, element, all) != NULL)
      return true;
  }
  return false;
}

/* Base Modelica is flat, except for declarations in the records of its variables. In Base Modelica, components that are
 * records are rare, but functions with records that declare much about their fields are common. */
static bool is_flat(const Ast *ast, bool is_alone) {
  static const char instance_name[] = "getInstanceName"; /* only instances know their names */
  if (names_find(ast->names, instance_name, sizeof instance_name - 1) != MAP_NONE) return false;
  ClassIndex all = all_classes(ast);
  bool is_base = ast->main->version, fits = (is_base || is_alone) && !has_full_local(ast, &all);
  for (uint32_t i = 0; i < all.list.count && fits; i++) {
    const AstClass *definition = all.list.data[i];
    fits = is_base ? !has_named_value(ast, definition, &all)
                   : !is_full_record(ast, definition, &all) && is_flat_class(ast, definition) &&
                         !has_model_component(ast, definition, &all) && !has_other_base(ast, definition, &all);
  }
  fits = fits && (is_base ? !has_full_record(ast, &all) : !uses_library(ast, &all));
  vec_free(ast->heap, &all.list);
  map_free(&all.first);
  map_free(&all.models);
  return fits;
}

/* ---- the class ---- */

/* The last model of the file, including those inside packages. */
static Instance *last_model(Tree *tree, Instance *package, const AstClass *definition) {
  Instance *found = NULL;
  if (is_model(definition)) return package;
  if (definition->kind != CLASS_PACKAGE) return NULL;
  for (uint32_t i = 0; i < definition->elements.count; i++) {
    const AstElement *element = &definition->elements.data[i];
    if (element->kind != AST_CLASS) continue;
    Instance *kid = instance_element(tree, package, element->class_definition->label.name);
    Instance *inner = kid ? last_model(tree, kid, element->class_definition) : NULL;
    if (inner) found = inner;
  }
  return found;
}

/* The next name of a dotted text, which is advanced past it. A quoted name may contain dots. */
static Name next_name(Tree *tree, const char **text) {
  TextVec name = {0};
  const char *at = *text;
  bool is_quoted = *at == '\'';
  for (at += is_quoted; *at && *at != (is_quoted ? '\'' : '.'); at++) {
    bool is_escape = is_quoted && *at == '\\' && lexer_escape(at[1]);
    char c = is_escape ? lexer_escape(*++at) : *at;
    text_append(tree->heap, &name, &c, 1);
  }
  at += is_quoted && *at;
  *text = at + (*at == '.');
  Name made = names_add(tree->names, name.count ? name.data : "", name.count);
  vec_free(tree->heap, &name);
  return made;
}

static Instance *find_path(Tree *tree, const char *text) {
  Instance *at = tree->root;
  while (at && *text) at = instance_element(tree, at, next_name(tree, &text));
  return at;
}

/* Finds a class of the main file, in the packages of the file's within clause. */
static Instance *find_main(Tree *tree, const AstClass *definition) {
  AstPath within = tree->ast->main->within;
  Instance *at = tree->root;
  for (uint32_t i = 0; i < within.count && at; i++)
    at = instance_element(tree, at, ast_part(tree->ast, within, i)->name);
  if (at) at = instance_element(tree, at, definition->label.name);
  return at ? at : root_find(tree, definition->label.name);
}

static Instance *find_last(Tree *tree) {
  Instance *found = NULL;
  for (uint32_t i = 0; i < tree->ast->main->classes.count; i++) {
    const AstClass *definition = tree->ast->main->classes.data[i];
    Instance *root = find_main(tree, definition);
    Instance *inner = root ? last_model(tree, root, definition) : NULL;
    if (inner) found = inner;
  }
  if (!found) diag_error(tree->diags, DIAG_INPUT, (Span){0}, "there is no model in the file");
  return found;
}

typedef VEC(Instance *) InstanceVec;

/* Lists all models of the file, including those inside its packages. */
static void list_models(Tree *tree, InstanceVec *models) {
  InstanceVec open = {0};
  for (uint32_t i = 0; i < tree->ast->main->classes.count; i++) {
    Instance *root = find_main(tree, tree->ast->main->classes.data[i]);
    if (root) vec_push(tree->heap, &open, root);
  }
  while (open.count) {
    Instance *next = vec_pop(&open);
    const AstClass *definition = next->definition;
    if (is_model(definition)) vec_push(tree->heap, models, next);
    for (uint32_t i = 0; definition->kind == CLASS_PACKAGE && i < definition->elements.count; i++) {
      if (definition->elements.data[i].kind != AST_CLASS) continue;
      Instance *kid = instance_element(tree, next, definition->elements.data[i].class_definition->label.name);
      if (kid && kid->definition && kid->parent == next) vec_push(tree->heap, &open, kid);
    }
  }
  vec_free(tree->heap, &open);
}

/* A name without the enclosing packages means any class of the file with that name. */
static Instance *find_inside(Tree *tree, const char *text) {
  Instance *found = NULL;
  InstanceVec models = {0};
  Name name = names_add(tree->names, text, strlen(text));
  list_models(tree, &models);
  for (uint32_t i = 0; i < models.count; i++)
    if (models.data[i]->name == name) found = models.data[i];
  vec_free(tree->heap, &models);
  return found;
}

/* Suggests a model for a name: one of the file, or of the package that the name leads to. */
static void suggest_model(Tree *tree, const char *class_name, Diag *diag) {
  Suggestion best = {.word = class_name}, inner = {0};
  InstanceVec models = {0};
  Instance *at = tree->root, *package = tree->root;
  list_models(tree, &models);
  for (uint32_t i = 0; i < models.count; i++) {
    suggest_offer(&best, names_text(tree->names, models.data[i]->name));
    suggest_offer(&best, names_text(tree->names, models.data[i]->flat_name));
  }
  for (const char *rest = class_name; at && *rest;) {
    package = at;
    inner = (Suggestion){.word = rest};
    at = instance_element(tree, at, next_name(tree, &rest));
  }
  for (uint32_t i = 0; package != tree->root && i < package->elements.count; i++)
    suggest_offer(&inner, names_text(tree->names, package->elements.data[i].name));
  if (best.nearest) diag_note(tree->diags, diag, (Span){0}, "did you mean `%s`?", best.nearest);
  else if (inner.nearest)
    diag_note(tree->diags, diag, (Span){0}, "did you mean `%s.%s`?", names_text(tree->names, package->flat_name),
              inner.nearest);
  vec_free(tree->heap, &models);
}

static void report_missing(Tree *tree, const char *class_name) {
  bool has_file = tree->ast->main->classes.count;
  Diag *diag = diag_error(tree->diags, DIAG_INPUT, (Span){0}, "there is no model `%s` in the %s", class_name,
                          has_file ? "file" : "libraries");
  const char *rest = class_name;
  Name first = next_name(tree, &rest);
  if (strchr(class_name, '.') && !root_find(tree, first)) library_note_missing(tree->library, first, diag);
  else suggest_model(tree, class_name, diag);
}

static Instance *find_model(Tree *tree, const char *class_name) {
  if (!class_name) return find_last(tree);
  uint32_t errors = tree->diags->errors;
  Instance *found = find_path(tree, class_name);
  if (!found && !strchr(class_name, '.') && tree->diags->errors == errors) found = find_inside(tree, class_name);
  if (!found && tree->diags->errors == errors) report_missing(tree, class_name);
  return found;
}

static bool check_model(Tree *tree, const Instance *type) {
  const AstClass *definition = type->definition;
  bool is_fit = type->kind == INSTANCE_CLASS && definition &&
                (definition->kind == CLASS_MODEL || definition->kind == CLASS_BLOCK || definition->kind == CLASS_CLASS);
  if (!is_fit) {
    diag_error(tree->diags, DIAG_INPUT, definition ? definition->label.span : (Span){0},
               "`%s` is a %s; only a model or block can be elaborated", names_text(tree->names, type->flat_name),
               restriction_text(type->restriction));
    return false;
  }
  if (definition->prefixes & PREFIX_PARTIAL)
    diag_error(tree->diags, DIAG_INPUT, definition->label.span,
               "`%s` is partial: it is made to be extended, not to be run", names_text(tree->names, type->flat_name));
  return tree->diags->errors == 0;
}

static bool check_contents(Tree *tree) {
  const Instance *type = tree->model->type;
  if (tree->model->base == BASE_NONE) return true;
  diag_error(tree->diags, DIAG_INPUT, type->definition->label.span, "`%s` extends a base type; it is not a model",
             names_text(tree->names, type->flat_name));
  return false;
}

/* Reads the values that a caller gives to elements. */
static void read_new_values(Tree *tree, const ModificationVec *modifications) {
  for (uint32_t i = 0; modifications && i < modifications->count; i++) {
    TextVec name = {0};
    for (const char *at = modifications->data[i].name; *at; at++)
      if (*at != ' ') text_append(tree->heap, &name, at, 1);
    struct NewValue value = {names_add(tree->names, name.data ? name.data : "", name.count),
                             parse_value(tree->ast, modifications->data[i].value, tree->diags)};
    vec_push(tree->heap, &tree->new_values, value);
    vec_free(tree->heap, &name);
  }
}

/* An error in something that was only tried made an instance fail, but that instance is needed after all. Reports the error. */
static void report_failure(Tree *tree) {
  const Diag *reason = tree->silenced;
  if (reason) diag_error(tree->diags, reason->code, reason->span, "%s", reason->message);
  else diag_error(tree->diags, DIAG_INTERNAL, (Span){0}, "the model could not be flattened, without a reason");
}

/* Makes the tree of instances and flattens it. */
static bool make_program(Tree *tree, const char *class_name, FlatProgram *program) {
  tree_start(tree);
  Instance *type = find_model(tree, class_name);
  if (!type || !check_model(tree, type)) return false;
  bool fits = instance_open(tree, model_instance(tree, type)) && check_contents(tree) && flatten(tree, program);
  if (!fits && tree->diags->errors == 0 && !tree->has_new_splits) report_failure(tree);
  return fits;
}

/* Forgets the messages after the first `reported`, except those about files. There were no errors before. */
static void forget_messages(Earlier *earlier, uint32_t reported) {
  diags_keep(earlier->diags, reported);
  earlier->diags->errors = earlier->diags->repeated = 0;
  for (uint32_t i = 0; i < earlier->reading.count; i++) diags_copy(earlier->diags, &earlier->reading.data[i]);
}

/* `reading`: the heap for the syntax tree and the instances. The tree is made again each time when arrays were found whose elements
 * differ in their structure, until there are no others. */
static Model *load(Heap *reading, Heap *heap, Names *names, Source *source, const char *class_name,
                   const ModificationVec *modifications, LangOptions options, Diags *diags) {
  Ast *ast = parse(reading, names, source, diags);
  if (diags->errors) return NULL;
  bool is_alone = ast->main->classes.count && !options.library.path && !ast->main->within.count &&
                  !library_is_package(source_main(source)->path);
  if (is_flat(ast, is_alone)) return lang_load_class(heap, ast, source, class_name, modifications, options, diags);
  budget_task(heap_budget(heap), "the instances of classes");
  Library *library = library_make(ast, source, options.library, diags);
  Earlier earlier = {.splits = map_make(reading), .diags = diags};
  uint32_t reported = diags->list.count;
  FlatProgram program;
  bool fits, is_again;
  do {
    Tree *tree = heap_alloc(reading, sizeof *tree);
    *tree = (Tree){.heap = reading,
                   .arena = arena_make(reading),
                   .names = names,
                   .ast = ast,
                   .source = source,
                   .is_strict = options.strict,
                   .diags = diags,
                   .session = lang_session(ast, options),
                   .library = library,
                   .earlier = &earlier,
                   .definition_of = map_make(reading)};
    program = (FlatProgram){0};
    read_new_values(tree, modifications);
    fits = make_program(tree, class_name, &program);
    is_again = tree->has_new_splits;
    if (is_again) forget_messages(&earlier, reported);
  } while (is_again);
  if (!fits) return NULL;
  Model *model = lang_load_program(heap, ast, source, &program, modifications, options, diags);
  for (uint32_t i = 0; model && i < program.classes.count; i++)
    vec_push(heap, &model->classes, program.classes.data[i]);
  return model;
}

Model *instance_load(Heap *heap, Names *names, Source *source, const char *class_name,
                     const ModificationVec *modifications, LangOptions options, Diags *diags) {
  void *ticket;
  Heap *reading = heap_within(heap, &ticket);
  Model *model = load(reading, heap, names, source, class_name, modifications, options, diags);
  heap_release(heap, ticket);
  return model;
}
