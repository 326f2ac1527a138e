/* tree: instances of classes and components: their parts, their elements, and their modifiers.
 *
 * Invariant: an instance is opened once; its parts are in the order of a walk over base classes. Modifiers are listed from the
 * outermost to the innermost; the first one that applies takes precedence. */
#include "instance/lookup.h"

#include <string.h>

enum { INHERITANCE_LIMIT = 100, NESTING_LIMIT = 200 };

/* ---- making ---- */

/* Steps of work to make an instance, or a part of one from a base class. */
enum { INSTANCE_WORK = 350 };

static Instance *instance_new(Tree *tree, InstanceKind kind, Name name, Instance *parent) {
  heap_work(tree->heap, INSTANCE_WORK);
  Instance *instance = arena_alloc(&tree->arena, sizeof *instance);
  *instance = (Instance){.kind = kind, .name = name, .parent = parent, .by_name = map_make(tree->heap)};
  return instance;
}

static Name join_names(Tree *tree, Name outer, Name name) {
  if (outer == 0) return name;
  const char *text = arena_printf(&tree->arena, "%s.%s", names_text(tree->names, outer), names_text(tree->names, name));
  return names_add(tree->names, text, strlen(text));
}

static void set_flat_name(Tree *tree, Instance *instance) {
  Name outer = instance->parent ? instance->parent->flat_name : 0;
  instance->flat_name = join_names(tree, outer, instance->name);
}

Instance *class_instance(Tree *tree, Instance *parent, const AstElement *element, const AstClass *definition,
                         Scope around, Modifiers modifiers) {
  Instance *instance = instance_new(tree, INSTANCE_CLASS, definition->label.name, parent);
  instance->element = element;
  instance->definition = definition;
  instance->around = instance->declared = around;
  instance->modifiers = modifiers;
  instance->restriction = definition->kind;
  instance->prefixes = definition->prefixes | (element ? element->prefixes : 0);
  instance->type = instance;
  set_flat_name(tree, instance);
  return instance;
}

static const char *const base_names[BASE_COUNT] = {
    [BASE_REAL] = "Real",     [BASE_INTEGER] = "Integer", [BASE_BOOLEAN] = "Boolean",
    [BASE_STRING] = "String", [BASE_CLOCK] = "Clock",     [BASE_EXTERNAL_OBJECT] = "ExternalObject"};

void tree_start(Tree *tree) {
  tree->root = instance_new(tree, INSTANCE_CLASS, 0, NULL);
  tree->root->is_open = true;
  tree->root->restriction = CLASS_PACKAGE;
  vec_push(tree->heap, &tree->root->parts, (Part){.end = 1, .type = tree->root});
  for (InstanceBase base = BASE_REAL; base < BASE_COUNT; base++) {
    if (!base_names[base]) continue;
    Name name = names_add(tree->names, base_names[base], strlen(base_names[base]));
    Instance *instance = instance_new(tree, INSTANCE_CLASS, name, tree->root);
    instance->base = base;
    instance->restriction = CLASS_TYPE;
    instance->flat_name = name;
    instance->type = instance;
    tree->bases[base] = instance;
  }
}

/* ---- modifiers ---- */

typedef VEC(Modifier) ModifierVec;

static Modifiers modifiers_keep(Tree *tree, ModifierVec *list) {
  Modifiers kept = {arena_array(&tree->arena, list->count, sizeof *kept.data), list->count};
  if (list->count) memcpy(kept.data, list->data, list->count * sizeof *kept.data);
  vec_free(tree->heap, list);
  return kept;
}

static void push_modification(Tree *tree, ModifierVec *list, const AstModification *modification, Scope scope) {
  if (!modification) return;
  vec_push(tree->heap, list,
           (Modifier){.modification = modification,
                      .value = modification->value,
                      .scope = scope,
                      .is_break = modification->is_break});
}

static void push_all(Tree *tree, ModifierVec *list, Modifiers more) {
  for (uint32_t i = 0; i < more.count; i++) vec_push(tree->heap, list, more.data[i]);
}

/* Marks the modifiers from number `begin` on as modifiers of an instance's class. */
static void mark_class(ModifierVec *list, uint32_t begin, const Instance *instance) {
  for (uint32_t i = begin; i < list->count; i++) list->data[i].of = instance;
}

/* a.b = 1 means a(b = 1): the modification of a. */
static const AstModification *nest_modification(Tree *tree, const AstArgument *argument) {
  AstModification *nested = arena_alloc(&tree->arena, sizeof *nested);
  AstArgument *inner = arena_alloc(&tree->arena, sizeof *inner);
  *inner = *argument;
  inner->name.first++;
  inner->name.count--;
  *nested = (AstModification){.value = AST_NONE, .span = argument->span};
  nested->arguments.data = inner;
  nested->arguments.count = 1;
  return nested;
}

/* Appends the modifiers of a part that modify element `name`, in order, without redeclarations. */
static void push_matching(Tree *tree, ModifierVec *list, Modifiers modifiers, Name name) {
  for (uint32_t i = 0; i < modifiers.count; i++) {
    const Modifier *outer = &modifiers.data[i];
    if (outer->modification) heap_work(tree->heap, outer->modification->arguments.count);
    for (uint32_t k = 0; outer->modification && k < outer->modification->arguments.count; k++) {
      const AstArgument *argument = &outer->modification->arguments.data[k];
      if (argument->is_break || argument->redeclared || !argument->modification || argument->name.count == 0) continue;
      if (ast_part(tree->ast, argument->name, 0)->name != name) continue;
      const AstModification *modification = argument->modification;
      if (argument->name.count > 1) modification = nest_modification(tree, argument);
      Modifier inner = {.modification = modification,
                        .value = modification->value,
                        .scope = outer->scope,
                        .of = outer->of,
                        .is_each = outer->is_each || argument->is_each,
                        .is_final = outer->is_final || (argument->is_final && argument->name.count == 1),
                        .is_constraint = outer->is_constraint,
                        .is_break = modification->is_break};
      vec_push(tree->heap, list, inner);
    }
    if (outer->value != AST_NONE && !outer->is_break) {
      FieldChain *chain = arena_alloc(&tree->arena, sizeof *chain);
      *chain = (FieldChain){name, outer->fields};
      vec_push(tree->heap, list,
               (Modifier){.value = outer->value,
                          .fields = chain,
                          .scope = outer->scope,
                          .of = outer->of,
                          .is_each = outer->is_each});
    }
  }
}

/* Redeclarations of `name` in the modifiers [begin, end), outermost first. */
static void find_redeclarations(Tree *tree, Modifiers modifiers, uint32_t begin, uint32_t end, Name name,
                                RedeclarationVec *list) {
  for (uint32_t i = begin; i < end; i++) {
    const AstModification *modification = modifiers.data[i].modification;
    if (modification) heap_work(tree->heap, modification->arguments.count);
    for (uint32_t k = 0; modification && k < modification->arguments.count; k++) {
      const AstArgument *argument = &modification->arguments.data[k];
      if (!argument->redeclared || ast_part(tree->ast, argument->name, 0)->name != name) continue;
      Redeclaration found = {.declaration = {argument->redeclared, modifiers.data[i].scope},
                             .is_each = modifiers.data[i].is_each || argument->is_each,
                             .is_modifier = true,
                             .is_constraint = modifiers.data[i].is_constraint};
      vec_push(tree->heap, list, found);
    }
  }
}

/* ---- parts ---- */

typedef struct InstanceOpening {
  Tree *tree;
  Instance *instance;
  uint32_t depth;
} InstanceOpening;

static bool add_part(InstanceOpening *opening, Part part);

static bool is_extended_already(const Instance *instance, const Part *part) {
  for (uint32_t i = part->parent; instance->parts.count; i = instance->parts.data[i].parent) {
    const Part *other = &instance->parts.data[i];
    if (other->definition == part->definition && other->type == part->type && part->definition) return true;
    if (other->parent == i) return false;
  }
  return false;
}

/* Adds a part with class `type` below the part `parent`. */
static bool add_base(InstanceOpening *opening, uint32_t parent, Instance *type, const AstModification *modification,
                     Scope scope, const AstElement *extends, Span span) {
  Tree *tree = opening->tree;
  Instance *instance = opening->instance;
  ModifierVec modifiers = {0};
  push_all(tree, &modifiers, instance->parts.data[parent].modifiers);
  uint32_t outer = modifiers.count;
  push_modification(tree, &modifiers, modification, scope);
  push_all(tree, &modifiers, type->modifiers);
  mark_class(&modifiers, outer, instance);
  Part part = {.definition = type->definition,
               .type = type,
               .around = type->around,
               .parent = parent,
               .extends = extends,
               .modifiers = modifiers_keep(tree, &modifiers)};
  part.is_protected = instance->parts.data[parent].is_protected || (extends && extends->prefixes & PREFIX_PROTECTED);
  if (opening->depth > INHERITANCE_LIMIT)
    return tree_error(tree, span, instance, "base classes are nested deeper than %d", INHERITANCE_LIMIT), false;
  if (is_extended_already(instance, &part))
    return tree_error(tree, span, instance, "class `%s` extends itself", names_text(tree->names, type->name)), false;
  return add_part(opening, part);
}

/* The class that an extends clause of part `number` names. */
static Instance *find_base(InstanceOpening *opening, uint32_t number, AstPath path) {
  Tree *tree = opening->tree;
  return scope_find_base(tree, (Scope){opening->instance, number}, path);
}

static void add_element(InstanceOpening *opening, uint32_t number, const AstElement *ast) {
  Tree *tree = opening->tree;
  Instance *instance = opening->instance;
  Name name = ast_element_label(ast).name;
  uint32_t first = map_get(&instance->by_name, name);
  Element element = {.name = name, .part = number, .ast = ast, .next = UINT32_MAX};
  if (first == MAP_NONE) map_put(&instance->by_name, name, instance->elements.count);
  else {
    Element *head = &instance->elements.data[first], *last = head->last ? &instance->elements.data[head->last] : head;
    last->next = head->last = instance->elements.count;
  }
  vec_push(tree->heap, &instance->elements, element);
}

static bool is_redeclaration(const AstElement *ast) {
  return ast->prefixes & PREFIX_REDECLARE || (ast->kind == AST_CLASS && ast->class_definition->form == FORM_EXTENDS);
}

static bool add_extends(InstanceOpening *opening, uint32_t number, const AstElement *ast) {
  const AstExtends *extends = ast->extends;
  Instance *type = find_base(opening, number, extends->name);
  if (!type) return false;
  if (type->kind != INSTANCE_CLASS)
    return tree_error(opening->tree, extends->name.span, opening->instance, "`%s` is a component, not a class",
                      ast_path_text(opening->tree->ast, extends->name, &opening->tree->arena)),
           false;
  if (!check_base(opening->tree, opening->instance, opening->instance->parts.data[number].definition, type,
                  extends->name.span))
    return false;
  return add_base(opening, number, type, extends->modification, (Scope){opening->instance, number}, ast,
                  extends->name.span);
}

/* Classes come first, because base classes may be among them; other elements keep their order. */
static bool add_long(InstanceOpening *opening, uint32_t number, const AstClass *definition) {
  Tree *tree = opening->tree;
  bool fits = true;
  for (uint32_t i = 0; i < definition->elements.count; i++) {
    const AstElement *ast = &definition->elements.data[i];
    if (ast->kind == AST_CLASS && !is_redeclaration(ast)) add_element(opening, number, ast);
    if (ast->kind == AST_IMPORT) vec_push(tree->heap, &opening->instance->imports, (Import){ast->import, number});
  }
  for (uint32_t i = 0; i < definition->elements.count; i++) {
    const AstElement *ast = &definition->elements.data[i];
    switch (ast->kind) {
    case AST_EXTENDS: fits = add_extends(opening, number, ast) && fits; break;
    case AST_COMPONENT:
      if (!is_redeclaration(ast)) add_element(opening, number, ast);
      break;
    case AST_IMPORT:
    case AST_CLASS: break;
    }
  }
  return fits;
}

static bool add_short(InstanceOpening *opening, uint32_t number, const AstClass *definition) {
  Tree *tree = opening->tree;
  Scope around = opening->instance->parts.data[number].around;
  Instance *type = scope_find_class(tree, around, definition->base.name);
  if (!type || !check_base_kind(tree, opening->instance, definition, type, definition->base.name.span)) return false;
  opening->instance->prefixes |= definition->base_prefixes;
  for (uint32_t i = 0; i < definition->base.dimensions.count; i++)
    vec_push(tree->heap, &opening->instance->dimensions,
             (struct Dimension){.e = definition->base.dimensions.data[i], .scope = around});
  return add_base(opening, number, type, definition->modification, around, NULL, definition->base.name.span);
}

/* model extends X: the base is X as it was before. */
static bool add_class_extends(InstanceOpening *opening, uint32_t number, const AstClass *definition) {
  Tree *tree = opening->tree;
  Instance *former = opening->instance->parts.data[number].type->former;
  if (!former)
    return tree_error(tree, definition->label.span, opening->instance, "there is no inherited class `%s` to extend",
                      names_text(tree->names, definition->label.name)),
           false;
  return add_base(opening, number, former, definition->modification, (Scope){opening->instance, number}, NULL,
                  definition->label.span) &&
         add_long(opening, number, definition);
}

/* Reports once the rules that the text of a library class violates. */
static bool report_breaches(Tree *tree, const AstClass *definition) {
  bool may_go_on = true;
  for (const AstBreach *breach = definition->breaches; breach; breach = breach->next) {
    if (breach->is_plain) {
      may_go_on = tree_tolerate(tree, DIAG_SYNTAX, breach->span, NULL, "%s", breach->message) && may_go_on;
      continue;
    }
    may_go_on = false;
    if (is_reported(tree, breach->span)) continue;
    tree_refuse(tree, DIAG_SYNTAX, breach->span, NULL, "%s", breach->message);
    if (breach->note) diag_note(tree->diags, tree->last, breach->note_span, "%s", breach->note);
  }
  return may_go_on;
}

static bool add_part(InstanceOpening *opening, Part part) {
  Tree *tree = opening->tree;
  heap_work(tree->heap, INSTANCE_WORK);
  Instance *instance = opening->instance;
  uint32_t number = instance->parts.count;
  bool fits = true;
  part.end = UINT32_MAX;
  if (number == 0) part.parent = 0;
  vec_push(tree->heap, &instance->parts, part);
  opening->depth++;
  if (!part.definition) {
    instance->base = part.type->base;
  } else {
    bool is_sound = report_breaches(tree, part.definition);
    switch (part.definition->form) {
    case FORM_LONG: fits = add_long(opening, number, part.definition); break;
    case FORM_SHORT: fits = add_short(opening, number, part.definition); break;
    case FORM_EXTENDS: fits = add_class_extends(opening, number, part.definition); break;
    case FORM_ENUMERATION:
      instance->base = BASE_ENUMERATION;
      instance->enumeration = part.type;
      break;
    case FORM_DERIVATIVE: break;
    }
    fits = fits && is_sound;
    bool is_vague = instance->restriction == CLASS_TYPE || instance->restriction == CLASS_CLASS;
    if (is_vague && part.definition->kind != CLASS_TYPE) instance->restriction = part.definition->kind;
  }
  opening->depth--;
  instance->parts.data[number].end = instance->parts.count;
  return fits;
}

/* ---- redeclarations by elements, removed and repeated elements ---- */

static Element *find_inherited(Instance *instance, Name name, uint32_t part) {
  for (uint32_t i = map_get(&instance->by_name, name); i != MAP_NONE; i = instance->elements.data[i].next) {
    Element *element = &instance->elements.data[i];
    if (element->part > part && element->part < instance->parts.data[part].end) return element;
  }
  return NULL;
}

static void redeclare_element(Tree *tree, Instance *instance, uint32_t part, const AstElement *ast) {
  AstLabel label = ast_element_label(ast);
  Element *element = find_inherited(instance, label.name, part);
  if (!element) {
    tree_error(tree, label.span, instance, "there is no inherited element `%s` to redeclare",
               names_text(tree->names, label.name));
    return;
  }
  if (ast->kind == AST_COMPONENT && ast->component->condition != AST_NONE)
    tree_tolerate(tree, DIAG_NO_MODIFICATION, label.span, instance, "a redeclaration has no condition: `%s`",
                  names_text(tree->names, label.name));
  vec_push(tree->heap, &element->redeclared, (Declaration){ast, (Scope){instance, part}});
  note_redeclared(tree, instance, (uint32_t)(element - instance->elements.data));
}

/* Innermost classes first, so that the last redeclaration counts. */
static void redeclare_elements(Tree *tree, Instance *instance) {
  for (uint32_t number = instance->parts.count; number-- > 0;) {
    const AstClass *definition = instance->parts.data[number].definition;
    for (uint32_t i = 0; definition && i < definition->elements.count; i++) {
      const AstElement *ast = &definition->elements.data[i];
      if ((ast->kind == AST_COMPONENT || ast->kind == AST_CLASS) && is_redeclaration(ast))
        redeclare_element(tree, instance, number, ast);
    }
  }
}

static void remove_broken(Tree *tree, Instance *instance) {
  for (uint32_t number = 0; number < instance->parts.count; number++) {
    Modifiers modifiers = instance->parts.data[number].modifiers;
    for (uint32_t i = 0; i < modifiers.count; i++) {
      const AstModification *modification = modifiers.data[i].modification;
      for (uint32_t k = 0; modification && k < modification->arguments.count; k++) {
        const AstArgument *argument = &modification->arguments.data[k];
        if (!argument->is_break || argument->name.count == 0) continue;
        uint32_t found = map_get(&instance->by_name, ast_part(tree->ast, argument->name, 0)->name);
        if (found != MAP_NONE) instance->elements.data[found].is_removed = true;
      }
    }
  }
}

/* Are both replaceable, and does one redeclaration replace both? A class with two defaults may be used if every use
 * redeclares it. */
static bool redeclared_equally(Tree *tree, Instance *instance, Element first, Element other) {
  RedeclarationVec all[2] = {{0}, {0}};
  if (!(first.ast->prefixes & other.ast->prefixes & PREFIX_REPLACEABLE) || first.part == other.part) return false;
  element_declarations(tree, instance, &first, &all[0]);
  element_declarations(tree, instance, &other, &all[1]);
  bool is_same = all[0].data[0].declaration.ast == all[1].data[0].declaration.ast;
  vec_free(tree->heap, &all[0], &all[1]);
  return is_same || (first.ast->kind == AST_CLASS && other.ast->kind == AST_CLASS &&
                     tree_tolerate(tree, DIAG_INPUT, ast_element_label(other.ast).span, instance,
                                   "`%s` is declared twice, and both have their own defaults: the first one counts",
                                   names_text(tree->names, first.name)));
}

/* Several elements of one name: they may be inherited twice if they are the same. */
static void check_repeated(Tree *tree, Instance *instance) {
  for (uint32_t i = 0; i < instance->elements.count; i++) {
    Element *first = &instance->elements.data[i];
    if (first->is_removed) continue;
    for (uint32_t k = first->next; k != UINT32_MAX; k = instance->elements.data[k].next) {
      Element *other = &instance->elements.data[k];
      if (other->is_removed) continue;
      other->is_removed = true;
      if (other->ast == first->ast || elements_equal(tree, instance, first, other)) continue;
      if (redeclared_equally(tree, instance, *first, *other)) continue;
      tree_error(tree, ast_element_label(other->ast).span, instance, "`%s` is declared twice",
                 names_text(tree->names, first->name));
      diag_note(tree->diags, tree->last, ast_element_label(first->ast).span, "first declared here");
      instance->is_failed = true;
    }
  }
}

bool instance_open(Tree *tree, Instance *instance) {
  if (instance->is_open) return !instance->is_failed;
  instance->is_open = true;
  InstanceOpening opening = {.tree = tree, .instance = instance};
  Instance *type = instance->type;
  Part part = {.definition = type->definition, .type = type, .around = type->around, .modifiers = instance->modifiers};
  if (instance->kind == INSTANCE_COMPONENT && type->modifiers.count) {
    ModifierVec list = {0};
    push_all(tree, &list, instance->modifiers);
    push_all(tree, &list, type->modifiers);
    mark_class(&list, instance->modifiers.count, instance);
    part.modifiers = modifiers_keep(tree, &list);
  }
  if (!add_part(&opening, part)) instance->is_failed = true;
  redeclare_elements(tree, instance);
  remove_broken(tree, instance);
  check_repeated(tree, instance);
  check_simple_bases(tree, instance);
  check_modifiers(tree, instance);
  return !instance->is_failed;
}

/* ---- elements ---- */

/* The modifiers of a part begin with those of the parts that extend it. Redeclarations by the class itself follow. */
void element_declarations(Tree *tree, Instance *owner, const Element *element, RedeclarationVec *list) {
  Modifiers modifiers = owner->parts.data[element->part].modifiers;
  uint32_t done = 0;
  for (uint32_t i = element->redeclared.count; i-- > 0;) {
    Declaration redeclared = element->redeclared.data[i];
    uint32_t limit = owner->parts.data[redeclared.scope.part].modifiers.count;
    find_redeclarations(tree, modifiers, done, limit, element->name, list);
    vec_push(tree->heap, list, (Redeclaration){.declaration = redeclared});
    if (limit > done) done = limit;
  }
  find_redeclarations(tree, modifiers, done, modifiers.count, element->name, list);
  vec_push(tree->heap, list, (Redeclaration){.declaration = {element->ast, {owner, element->part}}});
}

static const AstModification *own_modification(const AstElement *ast) {
  return ast->kind == AST_COMPONENT ? ast->component->modification : ast->class_definition->modification;
}

static bool is_short(const AstElement *ast) {
  return ast->kind == AST_COMPONENT || ast->class_definition->form == FORM_SHORT;
}

/* Adds further modifications of a declaration: those of constraining clauses. If the original declaration has no such
 * clause, its own modification is added, provided it is a component or a short class (Modelica 3.6, section 7.3.2). */
static void push_constraints(Tree *tree, ModifierVec *list, const RedeclarationVec *all) {
  for (uint32_t i = 0; i < all->count; i++) {
    Declaration declaration = all->data[i].declaration;
    const AstExtends *constraint = declaration.ast->constraint;
    uint32_t before = list->count;
    if (constraint) push_modification(tree, list, constraint->modification, declaration.scope);
    else if (i && i + 1 == all->count && is_short(declaration.ast))
      push_modification(tree, list, own_modification(declaration.ast), declaration.scope);
    if (list->count > before) vec_last(list).is_constraint = true;
  }
}

static bool is_alias(const AstClass *definition, const ModifierVec *modifiers) {
  return definition->form == FORM_SHORT && !definition->modification && !definition->base.dimensions.count &&
         !definition->base_prefixes && !modifiers->count;
}

static Instance *make_class(Tree *tree, Instance *owner, const Element *element, const RedeclarationVec *all) {
  Declaration chosen = all->data[0].declaration;
  bool is_redeclared = all->count > 1;
  const AstElement *ast = chosen.ast;
  if (ast->kind != AST_CLASS) {
    tree_error(tree, ast->span, owner, "class `%s` is redeclared as a component",
               names_text(tree->names, element->name));
    return NULL;
  }
  const AstClass *definition = ast->class_definition;
  ModifierVec modifiers = {0};
  push_matching(tree, &modifiers, owner->parts.data[element->part].modifiers, element->name);
  uint32_t fields = 0;
  for (uint32_t i = 0; i < modifiers.count; i++)
    if (modifiers.data[i].modification) modifiers.data[fields++] = modifiers.data[i];
  modifiers.count = fields;
  check_final(tree, owner, element, modifiers.data, modifiers.count);
  /* The class's own modifiers take precedence over those of its constraining clause. */
  if ((is_redeclared || ast->constraint) && definition->form == FORM_SHORT)
    push_modification(tree, &modifiers, definition->modification, chosen.scope);
  if (definition->form != FORM_EXTENDS) push_constraints(tree, &modifiers, all);
  if (is_alias(definition, &modifiers)) {
    vec_free(tree->heap, &modifiers);
    Instance *found = scope_find_class(tree, chosen.scope, definition->base.name);
    return found && (is_redeclared || check_alias(tree, definition, found)) ? found : NULL;
  }
  Instance *former = NULL;
  for (uint32_t i = 0; i <= element->redeclared.count; i++) {
    Declaration declaration =
        i == 0 ? (Declaration){element->ast, (Scope){owner, element->part}} : element->redeclared.data[i - 1];
    bool is_last = declaration.ast == ast;
    if (declaration.ast->kind != AST_CLASS) continue;
    if (is_last || definition->form != FORM_EXTENDS) break;
    Instance *next = class_instance(tree, owner, declaration.ast, declaration.ast->class_definition, declaration.scope,
                                    (Modifiers){0});
    next->former = former;
    former = next;
  }
  Instance *made = class_instance(tree, owner, ast, definition, chosen.scope, modifiers_keep(tree, &modifiers));
  made->name = element->name;
  made->former = former;
  made->prefixes |= element->ast->prefixes & PREFIX_PROTECTED;
  return made;
}

static uint32_t spread_prefixes(const Instance *owner) {
  if (owner->kind != INSTANCE_COMPONENT) return 0;
  uint32_t spread = owner->prefixes & (PREFIX_FLOW | PREFIX_STREAM | PREFIX_PARAMETER | PREFIX_CONSTANT | PREFIX_INPUT |
                                       PREFIX_OUTPUT | PREFIX_DISCRETE);
  if (owner->restriction != CLASS_RECORD && owner->restriction != CLASS_CONNECTOR) spread &= ~(uint32_t)PREFIX_DISCRETE;
  return spread;
}

static bool contains_itself(const Instance *owner, const Instance *type) {
  for (const Instance *at = owner; at && at->kind == INSTANCE_COMPONENT; at = at->parent)
    if (type->definition && at->type->definition == type->definition && at->type == type) return true;
  return false;
}

static bool is_too_deep(const Instance *owner) {
  uint32_t depth = 0;
  for (; owner; owner = owner->parent) depth++;
  return depth > NESTING_LIMIT;
}

/* A redeclaration keeps prefixes of the element that it replaces. */
static uint32_t component_prefixes(const Instance *owner, const Element *element, const AstElement *ast) {
  uint32_t kept = PREFIX_PROTECTED | PREFIX_INNER | PREFIX_OUTER;
  uint32_t kinds =
      PREFIX_FLOW | PREFIX_STREAM | PREFIX_PARAMETER | PREFIX_CONSTANT | PREFIX_DISCRETE | PREFIX_INPUT | PREFIX_OUTPUT;
  uint32_t prefixes = ast->prefixes;
  if (ast != element->ast) {
    prefixes |= element->ast->prefixes & kept;
    if (!(prefixes & kinds)) prefixes |= element->ast->prefixes & kinds;
  }
  if (owner->parts.data[element->part].is_protected) prefixes |= PREFIX_PROTECTED;
  return prefixes | spread_prefixes(owner);
}

static void push_dimensions(Tree *tree, Instance *instance, AstExprs dimensions, Scope scope) {
  for (uint32_t i = 0; i < dimensions.count; i++)
    vec_push(tree->heap, &instance->dimensions, (struct Dimension){.e = dimensions.data[i], .scope = scope});
}

/* Is the value simply another variable, or an array of others? Depth is bounded by that of the text. */
static bool is_other_variable(const Ast *ast, AstExpr e) {
  bool fits = ast_kind(ast, e) == AST_REFERENCE || (ast_kind(ast, e) == AST_ARRAY && ast_kid_count(ast, e));
  for (uint32_t i = 0; ast_kind(ast, e) == AST_ARRAY && i < ast_kid_count(ast, e) && fits; i++)
    fits = is_other_variable(ast, ast_kid(ast, e, i));
  return fits;
}

/* A constant with a value is not an input of a record's constructor (Modelica 3.6, section 12.6). So a value for the whole record
 * does not apply to it, unless that value is simply another record. The values that this value replaces do not apply to it,
 * either. */
static void drop_values_of_constant(const Tree *tree, ModifierVec *modifiers) {
  uint32_t kept = 0;
  bool is_dropping = false;
  if (!modifiers->count || vec_last(modifiers).fields || vec_last(modifiers).value == AST_NONE) return;
  for (uint32_t i = 0; i < modifiers->count; i++) {
    const Modifier *modifier = &modifiers->data[i];
    is_dropping = is_dropping || (modifier->fields && !is_other_variable(tree->ast, modifier->value));
    if (!modifier->fields || !is_dropping) modifiers->data[kept++] = *modifier;
  }
  modifiers->count = kept;
}

/* Is the instance an array of components of the model that is known to be split? */
static bool is_known_split(const Tree *tree, const Instance *instance) {
  if (!instance->dimensions.count || instance->base != BASE_NONE || !tree->earlier->splits.count) return false;
  const Instance *top = instance;
  while (top->parent && top->kind == INSTANCE_COMPONENT) top = top->parent;
  return top == tree->model && map_get(&tree->earlier->splits, instance->flat_name) != MAP_NONE;
}

static Instance *make_component(Tree *tree, Instance *owner, const Element *element, const RedeclarationVec *all) {
  Declaration chosen = all->data[0].declaration;
  const AstElement *ast = chosen.ast;
  Scope own = {owner, element->part};
  if (ast->kind != AST_COMPONENT) {
    tree_error(tree, ast->span, owner, "component `%s` is redeclared as a class",
               names_text(tree->names, element->name));
    return NULL;
  }
  const AstComponent *component = ast->component;
  budget_place(heap_budget(tree->heap), component->label.span.begin, component->label.span.end);
  Instance *type = scope_find_class(tree, chosen.scope, component->type->name);
  if (!type) return NULL;
  if (is_too_deep(owner)) {
    tree_error(tree, component->label.span, owner, "components are nested deeper than %d", NESTING_LIMIT);
    return NULL;
  }
  if (contains_itself(owner, type)) {
    tree_error(tree, component->label.span, owner, "`%s` is contained in its own class `%s`",
               names_text(tree->names, element->name), names_text(tree->names, type->name));
    return NULL;
  }
  if (ast->prefixes & PREFIX_STREAM && owner->restriction != CLASS_CONNECTOR) {
    tree_error(tree, ast->span, owner, "`stream` is allowed only in a connector");
    return NULL;
  }
  Instance *made = instance_new(tree, INSTANCE_COMPONENT, element->name, owner);
  ModifierVec modifiers = {0};
  push_matching(tree, &modifiers, owner->parts.data[element->part].modifiers, element->name);
  check_final(tree, owner, element, modifiers.data, modifiers.count);
  push_modification(tree, &modifiers, component->modification, chosen.scope);
  if (all->data[0].is_each && component->modification) vec_last(&modifiers).is_each = true;
  push_constraints(tree, &modifiers, all);
  if (ast->prefixes & PREFIX_CONSTANT) drop_values_of_constant(tree, &modifiers);
  made->modifiers = modifiers_keep(tree, &modifiers);
  made->declared = chosen.scope;
  made->element = ast;
  made->first_element = element->ast;
  made->first_part = element->part;
  made->type = type;
  made->restriction = type->restriction;
  made->prefixes = component_prefixes(owner, element, ast);
  bool has_dimensions = component->dimensions.count || component->type->dimensions.count;
  push_dimensions(tree, made, component->dimensions, made->declared);
  push_dimensions(tree, made, component->type->dimensions, made->declared);
  if (ast != element->ast && !has_dimensions) {
    push_dimensions(tree, made, element->ast->component->dimensions, own);
    push_dimensions(tree, made, element->ast->component->type->dimensions, own);
  }
  set_flat_name(tree, made);
  instance_open(tree, made);
  made->is_split = is_known_split(tree, made);
  return made;
}

uint32_t instance_subscript(const Instance *array, uint32_t place, uint32_t k) {
  for (uint32_t i = array->dimensions.count; --i > k;) place /= array->dimensions.data[i].size;
  return place % array->dimensions.data[k].size + 1;
}

/* r[2,1] */
static Name split_name(Tree *tree, const Instance *array, uint32_t place) {
  const char *text = names_text(tree->names, array->name);
  for (uint32_t k = 0; k < array->dimensions.count; k++)
    text = arena_printf(&tree->arena, "%s%s%u", text, k ? "," : "[", instance_subscript(array, place, k));
  text = arena_printf(&tree->arena, "%s]", text);
  return names_add(tree->names, text, strlen(text));
}

/* One element of a split array: declared like the array, but a scalar. It has the modifiers of the array; `array` and `place` say
 * which element of their values counts (declare.c). */
static Instance *split_element(Tree *tree, Instance *array, uint32_t place) {
  Instance *made = instance_new(tree, INSTANCE_COMPONENT, split_name(tree, array, place), array->parent);
  made->type = array->type;
  made->restriction = array->type->restriction;
  made->prefixes = array->prefixes;
  made->element = array->element;
  made->first_element = array->first_element;
  made->first_part = array->first_part;
  made->declared = array->declared;
  made->modifiers = array->modifiers;
  made->array = array;
  made->place = place;
  made->is_decided = true;
  set_flat_name(tree, made);
  return made;
}

static bool split_array(Tree *tree, Instance *array) {
  Instance *owner = array->parent;
  if (array->first_split) return true;
  if (!instance_sizes(tree, array)) return false;
  uint32_t count = instance_count(array);
  array->first_split = owner->elements.count;
  for (uint32_t i = 0; i < count; i++) {
    Instance *made = split_element(tree, array, i);
    Element element = {.name = made->name,
                       .part = array->first_part,
                       .next = UINT32_MAX,
                       .ast = array->first_element,
                       .instance = made};
    map_put(&owner->by_name, element.name, owner->elements.count);
    vec_push(tree->heap, &owner->elements, element);
  }
  for (uint32_t i = 0; i < count; i++) {
    Instance *made = owner->elements.data[array->first_split + i].instance;
    if (!instance_open(tree, made)) made->is_failed = true;
    made->dimensions.count = 0; /* dimensions of its class belong to the array, too */
  }
  return true;
}

Instance *instance_split_element(Tree *tree, Instance *array, uint32_t place) {
  if (!split_array(tree, array) || place >= instance_count(array)) return NULL;
  return array->parent->elements.data[array->first_split + place].instance;
}

Instance *add_missing_inner(Tree *tree, Instance *outer) {
  AstElement *ast = arena_alloc(&tree->arena, sizeof *ast);
  AstComponent *component = arena_alloc(&tree->arena, sizeof *component);
  Instance *model = tree->model;
  *component = *outer->element->component;
  component->modification = NULL;
  *ast = *outer->element;
  ast->component = component;
  ast->prefixes = (outer->element->prefixes & (PREFIX_CONSTANT | PREFIX_PARAMETER | PREFIX_DISCRETE)) | PREFIX_INNER;
  Element element = {.name = outer->name, .ast = ast, .next = UINT32_MAX};
  bool is_class = outer->parent && find_inner_element(tree, outer->parent->parent, outer->name, NULL);
  if (!model || is_class || map_get(&model->by_name, outer->name) != MAP_NONE) {
    tree_error(tree, component->label.span, outer->parent, "there is no `inner` component for `outer %s`",
               names_text(tree->names, outer->name));
    return NULL;
  }
  RedeclarationVec all = {0};
  vec_push(tree->heap, &all, (Redeclaration){.declaration = {ast, outer->declared}});
  element.instance = make_component(tree, model, &element, &all);
  vec_free(tree->heap, &all);
  if (!element.instance) return NULL;
  diag_warning(tree->diags, DIAG_WARNING_OTHER, component->label.span,
               "there is no `inner` component for `outer %s`; one with its defaults is added to the model",
               names_text(tree->names, outer->name));
  map_put(&model->by_name, outer->name, model->elements.count);
  vec_push(tree->heap, &model->elements, element);
  return element.instance;
}

Instance *element_instance(Tree *tree, Instance *owner, uint32_t number) {
  Element *element = &owner->elements.data[number];
  if (element->instance) return element->instance;
  if (element->is_busy) {
    tree_error(tree, ast_element_label(element->ast).span, owner, "`%s` is defined by itself",
               names_text(tree->names, element->name));
    return NULL;
  }
  element->is_busy = true;
  Element copy = *element;
  RedeclarationVec all = {0};
  element_declarations(tree, owner, &copy, &all);
  Instance *made =
      copy.ast->kind == AST_COMPONENT ? make_component(tree, owner, &copy, &all) : make_class(tree, owner, &copy, &all);
  vec_free(tree->heap, &all);
  bool is_outer = (copy.ast->prefixes & (PREFIX_INNER | PREFIX_OUTER)) == PREFIX_OUTER;
  Instance *own = is_outer && copy.ast->kind == AST_CLASS && owner->kind == INSTANCE_COMPONENT ? made : NULL;
  Instance *inner = own ? find_inner_element(tree, owner, copy.name, copy.ast) : NULL;
  element = &owner->elements.data[number];
  element->is_busy = false;
  element->own = own;
  element->instance = inner ? inner : made;
  if (copy.redeclared.count || copy.ast->constraint) note_redeclared(tree, owner, number);
  return element->instance;
}

uint32_t library_element(Tree *tree, Instance *instance, uint32_t part, Name name) {
  InstanceOpening opening = {.tree = tree, .instance = instance};
  if (instance->kind != INSTANCE_CLASS) return MAP_NONE;
  for (uint32_t i = part; i < instance->parts.count && i < instance->parts.data[part].end; i++) {
    const AstClass *definition = instance->parts.data[i].definition;
    if (!definition || definition->kind != CLASS_PACKAGE) continue;
    uint32_t before = tree->earlier->diags->list.count;
    const AstElement *member = library_member(tree->library, definition, name);
    keep_reading(tree, before);
    if (!member) continue;
    add_element(&opening, i, member);
    return instance->elements.count - 1;
  }
  return MAP_NONE;
}

/* Number of library versions that may each have renamed a class. */
enum { RENAMES_MOST = 8 };

/* The class that the package now has under another name. */
static Instance *renamed_element(Tree *tree, const Instance *instance, Name name) {
  bool may_be = instance->restriction == CLASS_PACKAGE && tree->renaming < RENAMES_MOST;
  const char *text = may_be ? library_renamed(tree->library, instance->flat_name, name) : NULL;
  Instance *at = text ? tree->root : NULL;
  tree->renaming++;
  while (at && *text) {
    size_t width = strcspn(text, ".");
    at = instance_element(tree, at, names_add(tree->names, text, width));
    text += width + (text[width] == '.');
  }
  tree->renaming--;
  return at;
}

Instance *instance_element(Tree *tree, Instance *instance, Name name) {
  if (instance == tree->root) return root_find(tree, name);
  if (!instance_open(tree, instance) && !instance->parts.count) return NULL;
  uint32_t found = map_get(&instance->by_name, name);
  while (found != MAP_NONE && instance->elements.data[found].is_removed) found = instance->elements.data[found].next;
  if (found == MAP_NONE) found = library_element(tree, instance, 0, name);
  return found == MAP_NONE ? renamed_element(tree, instance, name) : element_instance(tree, instance, found);
}

Instance *instance_component(Tree *tree, Instance *instance, uint32_t number) {
  const Element *element = &instance->elements.data[number];
  if (element->ast->kind != AST_COMPONENT || element->is_removed) return NULL;
  Instance *made = element_instance(tree, instance, number);
  if (!made || !instance_is_present(tree, made)) return NULL;
  if (!made->is_split) return made;
  if (!split_array(tree, made)) made->is_failed = true;
  return NULL;
}

/* The model itself: a component without a name. */
Instance *model_instance(Tree *tree, Instance *type) {
  Instance *made = instance_new(tree, INSTANCE_COMPONENT, 0, NULL);
  made->type = type;
  made->restriction = type->restriction;
  tree->model = made;
  instance_open(tree, made);
  return made;
}

uint32_t instance_count(const Instance *instance) {
  uint32_t count = 1;
  for (uint32_t i = 0; i < instance->dimensions.count; i++) count *= instance->dimensions.data[i].size;
  return count;
}

/* ---- expandable connectors ---- */

/* The modifiers of an instance without its value; modifiers of its contents are kept. */
static Modifiers without_values(Tree *tree, const Instance *like) {
  ModifierVec list = {0};
  for (uint32_t i = 0; like->base == BASE_NONE && i < like->modifiers.count; i++) {
    Modifier modifier = like->modifiers.data[i];
    modifier.value = AST_NONE;
    vec_push(tree->heap, &list, modifier);
  }
  return modifiers_keep(tree, &list);
}

Instance *instance_add(Tree *tree, Instance *owner, Name name, const Instance *like, const uint32_t *sizes,
                       uint32_t count) {
  Instance *made = instance_new(tree, INSTANCE_COMPONENT, name, owner);
  made->type = like->type;
  made->restriction = like->restriction;
  made->prefixes = like->prefixes & ~(uint32_t)(PREFIX_PROTECTED | PREFIX_INNER | PREFIX_OUTER | PREFIX_FINAL);
  made->element = like->element;
  made->first_element = like->first_element;
  made->declared = like->declared;
  made->modifiers = without_values(tree, like);
  made->is_decided = made->is_added = made->has_sizes = true;
  for (uint32_t i = 0; i < count; i++)
    vec_push(tree->heap, &made->dimensions, (struct Dimension){.e = AST_NONE, .size = sizes[i]});
  set_flat_name(tree, made);
  instance_open(tree, made);
  Element element = {.name = name, .next = UINT32_MAX, .ast = like->element, .instance = made};
  map_put(&owner->by_name, name, owner->elements.count);
  vec_push(tree->heap, &owner->elements, element);
  return made;
}
