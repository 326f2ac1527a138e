/* redeclare: checks which redeclarations the language allows (Modelica 3.6, sections 7.3.2 and 7.3.3), and to which
 * inner component an outer one may refer (section 5.4).
 *
 * Redeclared elements are recorded while the tree grows. They are checked when the tree is complete, because every type that they
 * name can then be instantiated. */
#include "instance/lookup.h"

static bool refuse(Tree *tree, const Instance *owner, const AstElement *declared, const AstElement *before,
                   const char *reason) {
  tree_refuse(tree, DIAG_NO_MODIFICATION, ast_element_label(declared).span, owner, "`%s` cannot be redeclared: %s",
              names_text(tree->names, ast_element_label(declared).name), reason);
  diag_note(tree->diags, tree->last, ast_element_label(before).span, "it is declared here");
  return false;
}

/* ---- types ---- */

/* The type of a component, the class that a short class stands for, or the class itself; NULL if it is not known. */
static Instance *declared_type(Tree *tree, Instance *owner, Declaration declared) {
  if (declared.ast->kind == AST_COMPONENT)
    return scope_try_class(tree, declared.scope, declared.ast->component->type->name);
  const AstClass *definition = declared.ast->class_definition;
  switch (definition->form) {
  case FORM_SHORT: return scope_try_class(tree, declared.scope, definition->base.name);
  case FORM_LONG:
  case FORM_ENUMERATION: return class_instance(tree, owner, declared.ast, definition, declared.scope, (Modifiers){0});
  case FORM_EXTENDS:
  case FORM_DERIVATIVE: break;
  }
  return NULL;
}

static Instance *explicit_constraint(Tree *tree, Declaration declared) {
  return declared.ast->constraint ? scope_try_class(tree, declared.scope, declared.ast->constraint->name) : NULL;
}

/* The constraining type of a declaration that replaces those from number `from` on: the first constraining clause, or the type of
 * the original. */
static Instance *constraint_of(Tree *tree, Instance *owner, const RedeclarationVec *all, uint32_t from) {
  for (uint32_t i = from; i < all->count; i++)
    if (all->data[i].declaration.ast->constraint) return explicit_constraint(tree, all->data[i].declaration);
  return declared_type(tree, owner, vec_last(all).declaration);
}

static bool check_subtype(Tree *tree, const Instance *owner, const AstElement *declared, Instance *type,
                          Instance *constraint, const char *what) {
  const char *reason = type && constraint ? interface_difference(tree, type, constraint) : NULL;
  static const char message[] = "%s `%s` is not a subtype of `%s`, which constrains it: it %s";
  if (!reason) return true;
  const char *name = names_text(tree->names, ast_element_label(declared).name);
  const char *constrains = names_text(tree->names, constraint->flat_name);
  Span span = ast_element_label(declared).span;
  /* A difference inside a component may come only from the defaults of replaceable packages. */
  if (*reason == '`')
    return tree_tolerate(tree, DIAG_NO_MODIFICATION, span, owner, message, what, name, constrains, reason);
  tree_refuse(tree, DIAG_NO_MODIFICATION, span, owner, message, what, name, constrains, reason);
  return false;
}

static bool check_types(Tree *tree, Instance *owner, const RedeclarationVec *all) {
  bool fits = true;
  for (uint32_t i = 0; i < all->count && fits; i++) {
    Declaration declared = all->data[i].declaration;
    Instance *constraint = explicit_constraint(tree, declared);
    bool is_last = i + 1 == all->count;
    if (is_last && !constraint) break;
    Instance *type = declared_type(tree, owner, declared);
    Instance *before = is_last ? NULL : constraint_of(tree, owner, all, i + 1);
    fits = check_subtype(tree, owner, declared.ast, type, constraint, "the type of") &&
           check_subtype(tree, owner, declared.ast, type, before, "the type of") &&
           check_subtype(tree, owner, declared.ast, constraint, before, "the constraining type of");
  }
  return fits;
}

/* ---- prefixes ---- */

static bool same_type(Tree *tree, Instance *owner, Declaration a, Declaration b) {
  if (a.ast->kind != AST_COMPONENT || b.ast->kind != AST_COMPONENT) return false;
  return declared_type(tree, owner, a) == declared_type(tree, owner, b);
}

static bool is_protected(const Instance *owner, Declaration declared) {
  return declared.ast->prefixes & PREFIX_PROTECTED || owner->parts.data[declared.scope.part].is_protected;
}

static bool check_prefixes(Tree *tree, Instance *owner, const Redeclaration *later, const Redeclaration *before) {
  Declaration declared = later->declaration, old = before->declaration;
  if (old.ast->prefixes & PREFIX_FINAL) return refuse(tree, owner, declared.ast, old.ast, "it is final");
  if (old.ast->prefixes & PREFIX_CONSTANT) return refuse(tree, owner, declared.ast, old.ast, "it is a constant");
  bool has_place = !later->is_modifier && !before->is_modifier;
  if (has_place && is_protected(owner, declared) != is_protected(owner, old))
    return refuse(tree, owner, declared.ast, old.ast,
                  is_protected(owner, old) ? "it is protected, and cannot become public"
                                           : "it is public, and cannot become protected");
  if (!(old.ast->prefixes & PREFIX_REPLACEABLE) && !same_type(tree, owner, declared, old))
    return tree_tolerate(tree, DIAG_NO_MODIFICATION, ast_element_label(declared.ast).span, owner,
                         "`%s` cannot be redeclared: it is not replaceable",
                         names_text(tree->names, ast_element_label(declared.ast).name));
  return true;
}

/* ---- elements ---- */

/* Removes redeclarations by constraining clauses, which are only defaults, and duplicates: one declaration may be reached in
 * several ways. */
static void drop_defaults(RedeclarationVec *all) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < all->count; i++) {
    bool is_known = all->data[i].is_constraint;
    for (uint32_t k = 0; k < kept; k++) is_known |= all->data[k].declaration.ast == all->data[i].declaration.ast;
    if (!is_known) all->data[kept++] = all->data[i];
  }
  all->count = kept;
}

static bool check_element(Tree *tree, Instance *owner, uint32_t number) {
  Element element = owner->elements.data[number];
  RedeclarationVec all = {0};
  if (element.is_removed || owner->is_failed) return true;
  element_declarations(tree, owner, &element, &all);
  drop_defaults(&all);
  bool fits = true;
  for (uint32_t i = 0; i + 1 < all.count && fits; i++)
    fits = check_prefixes(tree, owner, &all.data[i], &all.data[i + 1]);
  bool is_used = element.instance || all.data[0].is_modifier;
  if (fits && is_used) fits = check_types(tree, owner, &all);
  vec_free(tree->heap, &all);
  return fits;
}

bool check_redeclarations(Tree *tree) {
  bool fits = true;
  for (uint32_t i = 0; i < tree->redeclared.count && fits; i++)
    fits = check_element(tree, tree->redeclared.data[i].owner, tree->redeclared.data[i].element);
  return fits;
}

/* ---- outer ---- */

static bool check_sizes(Tree *tree, Instance *outer, Instance *inner) {
  if (instance_has_open_size(tree, outer)) return true;
  if (!instance_sizes(tree, outer) || !instance_sizes(tree, inner)) return false;
  for (uint32_t i = 0; i < outer->dimensions.count; i++) {
    if (outer->dimensions.data[i].size == inner->dimensions.data[i].size) continue;
    tree_refuse(tree, DIAG_NO_MODIFICATION, ast_element_label(outer->element).span, outer->parent,
                "`outer %s` has size %u, its `inner` component %u", names_text(tree->names, outer->name),
                outer->dimensions.data[i].size, inner->dimensions.data[i].size);
    return false;
  }
  return true;
}

bool check_outer(Tree *tree, Instance *outer) {
  for (uint32_t i = 0; i < outer->modifiers.count; i++) {
    if (!outer->modifiers.data[i].modification) continue;
    tree_refuse(tree, DIAG_NO_MODIFICATION, outer->modifiers.data[i].modification->span, outer->parent,
                "`outer %s` cannot be modified: the `inner` component gives its value",
                names_text(tree->names, outer->name));
    return false;
  }
  Instance *inner = find_inner(tree, outer);
  const char *reason = inner ? interface_difference(tree, inner, outer) : NULL;
  if (!reason) return !inner || check_sizes(tree, outer, inner);
  tree_refuse(tree, DIAG_NO_MODIFICATION, ast_element_label(outer->element).span, outer->parent,
              "the `inner` component of `outer %s` is not a subtype of it: it %s", names_text(tree->names, outer->name),
              reason);
  diag_note(tree->diags, tree->last, ast_element_label(inner->element).span, "the `inner` component");
  return false;
}

static bool check_outer_class(Tree *tree, Instance *owner, const Element *outer) {
  const char *name = names_text(tree->names, outer->name);
  Span span = ast_element_label(outer->ast).span;
  Instance *inner = find_inner_element(tree, owner, outer->name, outer->ast);
  if (!inner) inner = find_inner_element(tree, owner, outer->name, NULL);
  if (!inner) {
    diag_warning(tree->diags, DIAG_WARNING_OTHER, span,
                 "there is no `inner` class for `outer %s`; its own definition is used", name);
    return true;
  }
  bool is_class = inner->kind == INSTANCE_CLASS;
  const char *reason = is_class ? interface_difference(tree, inner, outer->own) : "is a component";
  if (!reason) return true;
  tree_refuse(tree, DIAG_NO_MODIFICATION, span, owner,
              "the `inner` element of `outer %s` is not a subtype of it: it %s", name, reason);
  Span place =
      inner->element ? ast_element_label(inner->element).span : (Span){0}; /* a base type of the language has no span */
  diag_note(tree->diags, tree->last, place, "the `inner` element");
  return false;
}

bool check_outer_classes(Tree *tree, Instance *owner) {
  bool fits = true;
  for (uint32_t i = 0; i < owner->elements.count; i++) {
    const AstElement *ast = owner->elements.data[i].ast;
    if (!ast || ast->kind != AST_CLASS || !(ast->prefixes & PREFIX_OUTER) || owner->elements.data[i].is_removed)
      continue;
    if (element_instance(tree, owner, i) && owner->elements.data[i].own)
      fits = check_outer_class(tree, owner, &owner->elements.data[i]) && fits;
  }
  return fits;
}
