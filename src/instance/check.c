/* check: what the standard refuses: modifiers of elements that do not exist, elements declared twice. */
#include "base/suggest.h"
#include "instance/lookup.h"

#include <string.h>

/* ---- equal elements ---- */

static bool same_text(const Tree *tree, Span a, Span b) {
  uint32_t length = a.end - a.begin;
  if (length != b.end - b.begin) return false;
  return memcmp(source_text(tree->ast->source, a.begin), source_text(tree->ast->source, b.begin), length) == 0;
}

bool elements_equal(Tree *tree, const Element *a, const Element *b) {
  return a->ast->kind == b->ast->kind && a->part != b->part && same_text(tree, a->ast->span, b->ast->span);
}

/* ---- modifiers ---- */

static const char *const attributes[] = {"start",       "fixed",    "min",         "max",       "nominal",      "unit",
                                         "displayUnit", "quantity", "stateSelect", "unbounded", "absoluteValue"};

static bool is_attribute(const char *name) {
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
    if (strcmp(attributes[i], name) == 0) return true;
  return false;
}

static bool is_known(const Tree *tree, const Instance *instance, Name name) {
  if (instance->base != BASE_NONE && instance->base != BASE_EXTERNAL_OBJECT)
    return is_attribute(names_text(tree->names, name));
  return map_get(&instance->by_name, name) != MAP_NONE;
}

static void report_modifier(Tree *tree, const Instance *instance, const AstArgument *argument, Name name) {
  Suggestion best = {.word = names_text(tree->names, name)};
  if (instance->base != BASE_NONE) {
    tree_error(tree, argument->span, instance, "%s has no attribute `%s`",
               instance->base == BASE_ENUMERATION ? "an enumeration"
                                                  : names_text(tree->names, tree->bases[instance->base]->name),
               best.word);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) suggest_offer(&best, attributes[i]);
  } else {
    tree_error(tree, argument->span, instance, "there is no element `%s` in `%s` that could be modified", best.word,
               names_text(tree->names, instance->type->flat_name));
    for (uint32_t i = 0; i < instance->elements.count; i++)
      suggest_offer(&best, names_text(tree->names, instance->elements.data[i].name));
  }
  if (best.nearest) diag_note(tree->diags, tree->last, (Span){0}, "did you mean `%s`?", best.nearest);
}

static void check_arguments(Tree *tree, Instance *instance, const AstModification *modification) {
  for (uint32_t i = 0; modification && i < modification->arguments.count; i++) {
    const AstArgument *argument = &modification->arguments.data[i];
    if (argument->name.count == 0) continue;
    Name name = ast_part(tree->ast, argument->name, 0)->name;
    if (is_known(tree, instance, name)) continue;
    report_modifier(tree, instance, argument, name);
    instance->is_failed = true;
  }
}

/* Those of base classes are checked with what the whole instance has. */
void check_modifiers(Tree *tree, Instance *instance) {
  if (instance->is_failed) return;
  for (uint32_t i = 0; i < instance->modifiers.count; i++)
    check_arguments(tree, instance, instance->modifiers.data[i].modification);
  for (uint32_t i = 0; i < instance->parts.count; i++) {
    const AstElement *extends = instance->parts.data[i].extends;
    if (extends) check_arguments(tree, instance, extends->extends->modification);
  }
}
