/* check: errors in modifications and base classes (Modelica 3.6, sections 4.1, 4.5.2, 7.1.3 and 7.2): modifiers of elements that do
 * not exist, or are protected or final; elements declared twice; classes that cannot be base classes. */
#include "base/suggest.h"
#include "instance/lookup.h"
#include "instance/statement.h"

#include <string.h>

/* ---- equal elements ---- */

/* The next character that is not part of a blank or a comment. */
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

/* Values must be equal. Attributes may differ; those of the first element count. */
static bool same_value(const Tree *tree, const AstModification *a, const AstModification *b) {
  return same_expression(tree, a ? a->value : AST_NONE, b ? b->value : AST_NONE);
}

/* Descriptions and annotations may differ. */
static bool same_component(const Tree *tree, const AstComponent *a, const AstComponent *b) {
  return same_expressions(tree, a->type->dimensions, b->type->dimensions) &&
         same_expressions(tree, a->dimensions, b->dimensions) && same_expression(tree, a->condition, b->condition) &&
         same_value(tree, a->modification, b->modification);
}

/* Does a name in one part of an instance mean the same class as another name in another part? */
static bool same_type(Tree *tree, Instance *instance, AstPath a, uint32_t part, AstPath b, uint32_t other) {
  if (same_text(tree, a.span, b.span)) return true;
  const Instance *left = scope_try_class(tree, (Scope){instance, part}, a);
  return left && left == scope_try_class(tree, (Scope){instance, other}, b);
}

static bool same_class(const Tree *tree, const AstElement *a, const AstElement *b) {
  const AstClass *left = a->class_definition, *right = b->class_definition;
  if (left->form != FORM_SHORT || right->form != FORM_SHORT) return same_text(tree, a->span, b->span);
  return left->kind == right->kind && same_text(tree, left->base.name.span, right->base.name.span) &&
         same_expressions(tree, left->base.dimensions, right->base.dimensions) &&
         same_modification(tree, left->modification, right->modification);
}

bool elements_equal(Tree *tree, Instance *instance, const Element *a, const Element *b) {
  const AstElement *left = a->ast, *right = b->ast;
  if (left->kind != right->kind || a->part == b->part || left->prefixes != right->prefixes) return false;
  if (left->kind != AST_COMPONENT) return same_class(tree, left, right);
  return same_component(tree, left->component, right->component) &&
         same_type(tree, instance, left->component->type->name, a->part, right->component->type->name, b->part);
}

/* ---- final ---- */

static void report_final(Tree *tree, const Instance *instance, Name name, Span modifier, Span final) {
  tree_refuse(tree, DIAG_NO_MODIFICATION, modifier, instance, "`%s` is final, and cannot be modified",
              names_text(tree->names, name));
  diag_note(tree->diags, tree->last, final, "it is made final here");
}

/* A value for a whole record may set a final field, and a modifier of a constraining clause is only a default. Neither counts
 * here. */
static bool is_modifying(const Modifier *modifier) {
  return modifier->modification && !modifier->fields && !modifier->is_constraint;
}

void check_final(Tree *tree, const Instance *owner, const Element *element, const Modifier *modifiers, uint32_t count) {
  const Modifier *outer = NULL;
  for (uint32_t i = 0; i < count; i++) {
    bool is_same = outer && outer->modification == modifiers[i].modification;
    if (outer && !is_same && modifiers[i].is_final && is_modifying(&modifiers[i])) {
      report_final(tree, owner, element->name, outer->modification->span, modifiers[i].modification->span);
      return;
    }
    if (!outer && is_modifying(&modifiers[i])) outer = &modifiers[i];
  }
  if (outer && element->ast->prefixes & PREFIX_FINAL)
    report_final(tree, owner, element->name, outer->modification->span, element->ast->span);
}

static const AstArgument *find_argument(const Tree *tree, const Modifier *modifier, Name name) {
  for (uint32_t i = 0; modifier->modification && i < modifier->modification->arguments.count; i++) {
    const AstArgument *argument = &modifier->modification->arguments.data[i];
    if (argument->name.count && ast_part(tree->ast, argument->name, 0)->name == name) return argument;
  }
  return NULL;
}

/* If modifier `number` of a variable makes an attribute final, modifiers further out must not set it. */
static void check_final_attribute(Tree *tree, Instance *instance, Modifiers modifiers, uint32_t number,
                                  const AstArgument *final) {
  Name name = ast_part(tree->ast, final->name, 0)->name;
  for (uint32_t i = 0; i < number; i++) {
    const AstArgument *argument =
        is_modifying(&modifiers.data[i]) ? find_argument(tree, &modifiers.data[i], name) : NULL;
    if (!argument) continue;
    report_final(tree, instance, name, argument->span, final->span);
    instance->is_failed = true;
    return;
  }
}

static void check_final_attributes(Tree *tree, Instance *instance) {
  Modifiers modifiers = vec_last(&instance->parts).modifiers;
  for (uint32_t i = 1; i < modifiers.count; i++) {
    const AstModification *modification = modifiers.data[i].modification;
    for (uint32_t k = 0; modification && k < modification->arguments.count; k++)
      if (modification->arguments.data[k].is_final)
        check_final_attribute(tree, instance, modifiers, i, &modification->arguments.data[k]);
  }
}

/* ---- modifiers ---- */

static const char *const attributes[] = {"start",       "fixed",    "min",         "max",       "nominal",      "unit",
                                         "displayUnit", "quantity", "stateSelect", "unbounded", "absoluteValue"};

static bool is_attribute(const char *name) {
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
    if (strcmp(attributes[i], name) == 0) return true;
  return false;
}

static bool is_known(const Tree *tree, const Instance *instance, Name name, bool is_break) {
  if (instance->base != BASE_NONE && instance->base != BASE_EXTERNAL_OBJECT)
    return is_attribute(names_text(tree->names, name));
  uint32_t found = map_get(&instance->by_name, name);
  while (found != MAP_NONE && instance->elements.data[found].is_removed && !is_break)
    found = instance->elements.data[found].next;
  return found != MAP_NONE;
}

static bool connects(const Tree *tree, const AstStatement *statement, AstExpr left, AstExpr right) {
  return statement->kind == AST_CONNECT && same_expression(tree, statement->left, left) &&
         same_expression(tree, statement->right, right);
}

/* Does break connect(a, b) mean this statement? */
static bool breaks(const Tree *tree, const AstArgument *argument, const AstStatement *statement) {
  return argument->is_break && argument->name.count == 0 &&
         (connects(tree, statement, argument->left, argument->right) ||
          connects(tree, statement, argument->right, argument->left));
}

bool is_deselected(const Tree *tree, Scope scope, const AstStatement *statement) {
  if (statement->kind != AST_CONNECT) return false;
  const AstExpr sides[] = {statement->left, statement->right};
  for (uint32_t i = 0; i < 2; i++) {
    AstPath path = ast_path(tree->ast, sides[i]);
    uint32_t found = path.count ? map_get(&scope.instance->by_name, ast_part(tree->ast, path, 0)->name) : MAP_NONE;
    if (found != MAP_NONE && scope.instance->elements.data[found].is_removed) return true;
  }
  Modifiers modifiers = scope.instance->parts.data[scope.part].modifiers;
  for (uint32_t i = 0; i < modifiers.count; i++) {
    const AstModification *modification = modifiers.data[i].modification;
    for (uint32_t k = 0; modification && k < modification->arguments.count; k++)
      if (breaks(tree, &modification->arguments.data[k], statement)) return true;
  }
  return false;
}

static bool breaks_some(const Tree *tree, const AstArgument *argument, const AstStatement *list, uint32_t count,
                        uint32_t depth) {
  bool found = false;
  for (uint32_t i = 0; i < count && !found; i++) {
    found = breaks(tree, argument, &list[i]);
    for (uint32_t k = 0; k < list[i].branches.count && !found && depth < DEPTH_LIMIT; k++)
      found = breaks_some(tree, argument, list[i].branches.data[k].body.data, list[i].branches.data[k].body.count,
                          depth + 1);
  }
  return found;
}

static bool is_in(const Tree *tree, const AstArgument *argument, const AstClass *definition) {
  bool found = false;
  for (uint32_t i = 0; definition && i < definition->sections.count && !found; i++) {
    const AstSection *section = &definition->sections.data[i];
    found = breaks_some(tree, argument, section->body.data, section->body.count, 0);
  }
  return found;
}

/* Only a component of a model, block or connector, or a connection, can be deselected (section 7.4). */
static void check_deselection(Tree *tree, Instance *instance, const AstArgument *argument) {
  const uint32_t kinds = 1u << CLASS_MODEL | 1u << CLASS_BLOCK | 1u << CLASS_CONNECTOR | 1u << CLASS_CLASS;
  const char *reason = "there is no such connection";
  for (uint32_t i = 0; i < instance->parts.count && reason && argument->name.count == 0; i++)
    if (is_in(tree, argument, instance->parts.data[i].definition)) reason = NULL;
  if (argument->name.count) {
    uint32_t found = map_get(&instance->by_name, ast_part(tree->ast, argument->name, 0)->name);
    const Element *element = found == MAP_NONE ? NULL : &instance->elements.data[found];
    bool is_component = element && element->ast->kind == AST_COMPONENT;
    const Instance *type =
        is_component ? scope_try_class(tree, (Scope){instance, element->part}, element->ast->component->type->name)
                     : NULL;
    reason = type && kinds & 1u << type->restriction ? NULL : "it is not a component of a model, block or connector";
  }
  if (!reason) return;
  tree_refuse(tree, DIAG_NO_MODIFICATION, argument->span, instance, "nothing can be left out by `break` here: %s",
              reason);
  instance->is_failed = true;
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
    tree_suggest_element(tree, instance, best.word);
  }
  if (best.nearest) diag_note(tree->diags, tree->last, (Span){0}, "did you mean `%s`?", best.nearest);
}

static bool is_protected(const Instance *instance, Name name) {
  uint32_t number = instance->base == BASE_NONE ? map_get(&instance->by_name, name) : MAP_NONE;
  return number != MAP_NONE && element_is_protected(instance, &instance->elements.data[number]);
}

void note_redeclared(Tree *tree, Instance *owner, uint32_t number) {
  Element *element = &owner->elements.data[number];
  if (element->is_noted) return;
  element->is_noted = true;
  vec_push(tree->heap, &tree->redeclared, (struct RedeclaredElement){owner, number});
}

static void check_arguments(Tree *tree, Instance *instance, const AstModification *modification, bool is_inherited) {
  for (uint32_t i = 0; modification && i < modification->arguments.count; i++) {
    const AstArgument *argument = &modification->arguments.data[i];
    if (argument->is_break && argument->name.count == 0) check_deselection(tree, instance, argument);
    if (argument->name.count == 0) continue;
    Name name = ast_part(tree->ast, argument->name, 0)->name;
    if (!is_known(tree, instance, name, argument->is_break)) report_modifier(tree, instance, argument, name);
    else if (is_inherited || !is_protected(instance, name)) {
      if (argument->redeclared && instance->base == BASE_NONE)
        note_redeclared(tree, instance, map_get(&instance->by_name, name));
      if (argument->is_break) check_deselection(tree, instance, argument);
      continue;
    } else if (tree_tolerate(tree, DIAG_NO_MODIFICATION, argument->span, instance,
                             "`%s` is protected: only a class that extends `%s` can modify it",
                             names_text(tree->names, name), names_text(tree->names, instance->type->flat_name)))
      continue;
    instance->is_failed = true;
  }
}

/* Modifiers of base classes are checked against the whole instance. Modifiers in a class are treated like those of an extends
 * clause, because the class may extend the class that they modify. */
void check_modifiers(Tree *tree, Instance *instance) {
  if (instance->is_failed) return;
  for (uint32_t i = 0; i < instance->modifiers.count; i++)
    check_arguments(tree, instance, instance->modifiers.data[i].modification, instance->kind == INSTANCE_CLASS);
  for (uint32_t i = 0; i < instance->parts.count; i++) {
    const AstElement *extends = instance->parts.data[i].extends;
    if (extends) check_arguments(tree, instance, extends->extends->modification, true);
  }
  if (instance->base != BASE_NONE) check_final_attributes(tree, instance);
}

/* ---- bases ---- */

static bool is_operator_record(const AstClass *definition) {
  return definition->kind == CLASS_RECORD && definition->prefixes & PREFIX_OPERATOR;
}

/* The kinds of classes that a class of this kind can extend, as bits; a plain `class` can stand for any of them. */
static uint32_t base_kinds(AstClassKind derived) {
  switch (derived) {
  case CLASS_CLASS: return UINT32_MAX;
  case CLASS_MODEL: return 1u << CLASS_MODEL | 1u << CLASS_BLOCK | 1u << CLASS_RECORD;
  case CLASS_BLOCK: return 1u << CLASS_BLOCK | 1u << CLASS_RECORD;
  case CLASS_CONNECTOR: return 1u << CLASS_CONNECTOR | 1u << CLASS_RECORD | 1u << CLASS_TYPE;
  case CLASS_RECORD:
  case CLASS_TYPE:
  case CLASS_PACKAGE:
  case CLASS_FUNCTION:
  case CLASS_OPERATOR: break;
  }
  return 1u << derived;
}

static const char *kinds_text(Tree *tree, uint32_t kinds) {
  const char *text = restriction_text(CLASS_CLASS);
  for (AstClassKind kind = CLASS_MODEL; kind <= CLASS_OPERATOR; kind++)
    if (kinds & 1u << kind) text = arena_printf(&tree->arena, "%s, %s", text, restriction_text(kind));
  return text;
}

/* Is the meaning clear although the base is of another kind? It is if the base adds only graphics or classes, or if components and
 * equations are allowed in the derived class. */
static bool is_plain_base(Tree *tree, AstClassKind derived, Instance *base) {
  uint32_t simple = 1u << CLASS_TYPE | 1u << CLASS_FUNCTION | 1u << CLASS_OPERATOR;
  if (simple & 1u << base->restriction || base->base != BASE_NONE || !instance_open(tree, base)) return false;
  bool has_contents = false;
  for (uint32_t i = 0; i < base->elements.count; i++)
    has_contents = has_contents || base->elements.data[i].ast->kind == AST_COMPONENT;
  for (uint32_t i = 0; i < base->parts.count; i++)
    has_contents = has_contents || (base->parts.data[i].definition && base->parts.data[i].definition->sections.count);
  return !has_contents || derived == CLASS_MODEL || derived == CLASS_BLOCK;
}

bool check_base_kind(Tree *tree, const Instance *instance, const AstClass *derived, Instance *base, Span span) {
  static const char *const format = "a %s cannot extend a %s: `%s`";
  uint32_t kinds = base_kinds(derived->kind);
  if (base->restriction == CLASS_CLASS || kinds & 1u << base->restriction) return true;
  const char *left = restriction_text(derived->kind), *right = restriction_text(base->restriction);
  const char *name = names_text(tree->names, base->name);
  if (!is_plain_base(tree, derived->kind, base))
    tree_refuse(tree, DIAG_NO_BASE, span, instance, format, left, right, name);
  else if (tree_tolerate(tree, DIAG_NO_BASE, span, instance, format, left, right, name)) return true;
  diag_note(tree->diags, tree->last, derived->label.span, "the base of a %s is one of: %s", left,
            kinds_text(tree, kinds));
  return false;
}

bool check_alias(Tree *tree, const AstClass *definition, Instance *base) {
  if (definition->kind != CLASS_CLASS || base->restriction != CLASS_FUNCTION)
    return check_base_kind(tree, base->parent, definition, base, definition->base.name.span);
  tree_error(tree, definition->label.span, base->parent, "`%s` is a function: write `function %s = ...`",
             names_text(tree->names, base->name), names_text(tree->names, definition->label.name));
  return false;
}

bool check_base(Tree *tree, const Instance *instance, const AstClass *derived, Instance *base, Span span) {
  const AstClass *definition = base->definition;
  const AstClass *found = definition && is_operator_record(definition) ? definition : NULL;
  for (uint32_t i = 0; definition && i < definition->elements.count && !found; i++) {
    const AstElement *element = &definition->elements.data[i];
    if (element->kind == AST_CLASS && is_operator_record(element->class_definition)) found = element->class_definition;
  }
  if (!found) return check_base_kind(tree, instance, derived, base, span);
  tree_refuse(tree, DIAG_NO_BASE, span, instance, "operator record `%s` cannot be inherited",
              names_text(tree->names, found->label.name));
  return false;
}

/* ---- bases that must be the only one ---- */

static bool is_simple(const Part *part) {
  const AstClass *definition = part->definition;
  if (!definition || definition->form == FORM_ENUMERATION) return true;
  return definition->form == FORM_SHORT && (definition->base.dimensions.count || definition->base_prefixes);
}

/* Does one of the parts [begin, end), except [skip, skip_end), have components or sections? */
static bool has_contents(const Instance *instance, uint32_t begin, uint32_t end, uint32_t skip, uint32_t skip_end) {
  for (uint32_t i = 0; i < instance->elements.count; i++) {
    uint32_t part = instance->elements.data[i].part;
    bool is_counted = part >= begin && part < end && (part < skip || part >= skip_end);
    if (is_counted && instance->elements.data[i].ast->kind == AST_COMPONENT) return true;
  }
  for (uint32_t i = begin; i < end; i++) {
    const AstClass *definition = instance->parts.data[i].definition;
    if ((i < skip || i >= skip_end) && definition && definition->sections.count) return true;
  }
  return false;
}

void check_simple_bases(Tree *tree, Instance *instance) {
  for (uint32_t i = 1; i < instance->parts.count && !instance->is_failed; i++) {
    if (!is_simple(&instance->parts.data[i])) continue;
    uint32_t below = i, at = instance->parts.data[i].parent;
    while (at && instance->parts.data[below].extends == NULL) below = at, at = instance->parts.data[at].parent;
    const Part *base = &instance->parts.data[below];
    if (!base->extends) continue;
    if (!has_contents(instance, at, instance->parts.data[at].end, below, base->end)) continue;
    tree_refuse(tree, DIAG_NO_BASE, base->extends->span, instance,
                "a class that extends an array, a class with prefixes or a type of the language must have no other "
                "elements: `%s`",
                names_text(tree->names, base->type->name));
    instance->is_failed = true;
  }
}
