/* check: what the standard refuses: modifiers of elements that do not exist, elements declared twice, classes as bases
 * that cannot be. */
#include "base/suggest.h"
#include "instance/lookup.h"

#include <string.h>

/* ---- equal elements ---- */

/* The next character that counts: blanks and comments do not. */
static const char *skip_blanks(const char *at, const char *end) {
  while (at < end) {
    if (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') at++;
    else if (end - at > 1 && at[0] == '/' && at[1] == '/') {
      while (at < end && *at != '\n') at++;
    } else if (end - at > 1 && at[0] == '/' && at[1] == '*') {
      const char *close = strstr(at + 2, "*/");
      at = close && close + 2 < end ? close + 2 : end;
    } else break;
  }
  return at;
}

static bool same_text(const Tree *tree, Span a, Span b) {
  const char *left = source_text(tree->ast->source, a.begin), *left_end = left + (a.end - a.begin);
  const char *right = source_text(tree->ast->source, b.begin), *right_end = right + (b.end - b.begin);
  for (;;) {
    left = skip_blanks(left, left_end);
    right = skip_blanks(right, right_end);
    if (left == left_end || right == right_end) return left == left_end && right == right_end;
    if (*left++ != *right++) return false;
  }
}

static bool same_expression(const Tree *tree, AstExpr a, AstExpr b) {
  if (a == AST_NONE || b == AST_NONE) return a == b;
  return same_text(tree, ast_span(tree->ast, a), ast_span(tree->ast, b));
}

static bool same_expressions(const Tree *tree, AstExprs a, AstExprs b) {
  bool same = a.count == b.count;
  for (uint32_t i = 0; same && i < a.count; i++) same = same_expression(tree, a.data[i], b.data[i]);
  return same;
}

static bool same_modification(const Tree *tree, const AstModification *a, const AstModification *b) {
  return a && b ? same_text(tree, a->span, b->span) : a == b;
}

/* Values must be equal; attributes may differ, those of the first element count. */
static bool same_value(const Tree *tree, const AstModification *a, const AstModification *b) {
  return same_expression(tree, a ? a->value : AST_NONE, b ? b->value : AST_NONE);
}

/* Descriptions and annotations may differ. */
static bool same_component(const Tree *tree, const AstComponent *a, const AstComponent *b) {
  return same_text(tree, a->type->name.span, b->type->name.span) &&
         same_expressions(tree, a->type->dimensions, b->type->dimensions) &&
         same_expressions(tree, a->dimensions, b->dimensions) && same_expression(tree, a->condition, b->condition) &&
         same_value(tree, a->modification, b->modification);
}

static bool same_class(const Tree *tree, const AstElement *a, const AstElement *b) {
  const AstClass *left = a->class_definition, *right = b->class_definition;
  if (left->form != FORM_SHORT || right->form != FORM_SHORT) return same_text(tree, a->span, b->span);
  return left->kind == right->kind && same_text(tree, left->base.name.span, right->base.name.span) &&
         same_expressions(tree, left->base.dimensions, right->base.dimensions) &&
         same_modification(tree, left->modification, right->modification);
}

bool elements_equal(Tree *tree, const Element *a, const Element *b) {
  const AstElement *left = a->ast, *right = b->ast;
  if (left->kind != right->kind || a->part == b->part || left->prefixes != right->prefixes) return false;
  return left->kind == AST_COMPONENT ? same_component(tree, left->component, right->component)
                                     : same_class(tree, left, right);
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

/* ---- bases ---- */

bool check_alias(Tree *tree, const AstClass *definition, const Instance *base) {
  if (definition->kind != CLASS_CLASS || base->restriction != CLASS_FUNCTION) return true;
  tree_error(tree, definition->label.span, base->parent, "`%s` is a function: write `function %s = ...`",
             names_text(tree->names, base->name), names_text(tree->names, definition->label.name));
  return false;
}

static bool is_operator_record(const AstClass *definition) {
  return definition->kind == CLASS_RECORD && definition->prefixes & PREFIX_OPERATOR;
}

bool check_base(Tree *tree, const Instance *instance, const Instance *base, Span span) {
  const AstClass *definition = base->definition;
  const AstClass *found = definition && is_operator_record(definition) ? definition : NULL;
  for (uint32_t i = 0; definition && i < definition->elements.count && !found; i++) {
    const AstElement *element = &definition->elements.data[i];
    if (element->kind == AST_CLASS && is_operator_record(element->class_definition)) found = element->class_definition;
  }
  if (!found) return true;
  tree_error(tree, span, instance, "operator record `%s` cannot be inherited",
             names_text(tree->names, found->label.name));
  return false;
}
