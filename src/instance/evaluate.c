/* evaluate: values that the structure needs: conditions of components, dimensions, ranges of loops around connections.
 *
 * Invariant: before an expression is evaluated, everything it refers to is declared in the session of values, using a
 * list of pending declarations. Parameters that were read are marked, because they can no longer change. */
#include "instance/flat.h"
#include "instance/lookup.h"

#include "lang/lang.h"

/* Nested evaluations. Each evaluation declares all variables that wait, and the sizes of these may need another evaluation. So
 * evaluations nest as deep as there are waiting variables, not only as deep as sizes depend on each other. */
enum { EVALUATION_LIMIT = 400 };

/* ---- the session ---- */

static void send_definitions(Tree *tree) {
  definitions_finish(tree);
  for (uint32_t i = 0; i < tree->definitions.count; i++) {
    if (tree->definitions.data[i].is_sent || !tree->definitions.data[i].ast) continue;
    tree->definitions.data[i].is_sent = true;
    lang_define(tree->session, tree->definitions.data[i].ast);
  }
}

static void declare(Tree *tree, Instance *instance) {
  uint32_t known = PREFIX_PARAMETER | PREFIX_CONSTANT;
  if (instance->session) return;
  instance->session = UINT32_MAX; /* in progress */
  const AstElement *element = flat_component(tree, instance);
  if (!element) return;
  AstElement *copy = arena_alloc(&tree->arena, sizeof *copy);
  *copy = *element;
  if (!(element->prefixes & known) && !instance_has_open_size(tree, instance)) {
    copy->component = arena_alloc(&tree->arena, sizeof *copy->component);
    *copy->component = *element->component;
    copy->component->modification = NULL;
  }
  send_definitions(tree);
  instance->session = 1 + lang_declare(tree->session, copy, instance_is_package(instance));
  vec_push(tree->heap, &tree->declared, instance);
}

/* Declares everything that is needed, including its dependencies. */
static void declare_wanted(Tree *tree) {
  while (tree->wanted.count) {
    Instance *next = vec_pop(&tree->wanted);
    send_definitions(tree);
    declare(tree, next);
  }
  send_definitions(tree);
}

static void mark_structural(Tree *tree) {
  for (uint32_t i = 0; i < tree->declared.count; i++) {
    Instance *instance = tree->declared.data[i];
    if (instance->session && instance->session != UINT32_MAX && instance->flat &&
        lang_is_structural(tree->session, instance->session - 1))
      instance->flat->component->is_structural = true;
  }
}

/* ---- expressions ---- */

/* The thing to evaluate: an expression, or the sizes of the value that a modifier gives an instance. */
typedef struct Value {
  AstExpr e;
  Instance *instance; /* NULL: `e` itself */
  const Modifier *binding;
  bool is_tried; /* it need not be known */
} Value;

static AstExpr resolve_value(Resolver *resolver, const Value *value) {
  Tree *tree = resolver->tree;
  if (!value->instance) return resolve_expression(resolver, value->e);
  AstExpr flat = resolve_binding(resolver, value->instance, value->binding);
  return flat == AST_NONE ? flat : flat_call(tree, "size", &flat, 1, ast_span(tree->ast, value->e));
}

/* Subscripts of the arrays that contain the scope: the first elements represent all. */
static const int64_t first_elements[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                           1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                           1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* {{e for $2 in 1:m} for $1 in 1:n}: the values for all elements of the arrays that contain the scope. AST_NONE if their sizes
 * are not
 * known. */
static AstExpr for_all_elements(Tree *tree, AstExpr flat, Instance *scope) {
  uint32_t position = chain_count(scope);
  Span span = ast_span(tree->ast, flat);
  for (Instance *at = scope; at && at->kind == INSTANCE_COMPONENT; at = at->parent) {
    if (!instance_sizes(tree, at)) return AST_NONE;
    for (uint32_t i = at->dimensions.count; i-- > 0;)
      flat = flat_iteration(tree, flat, chain_iterator(tree, --position),
                            flat_range(tree, at->dimensions.data[i].size, span), span);
  }
  return flat;
}

/* Does dimension `position` of values in the order of their subscripts matter? Each value has `width` numbers. Two values that
 * differ by one in that subscript are `stride` values apart. */
static bool differs_over(const NumberVec *values, uint32_t width, uint32_t stride, uint32_t size) {
  uint32_t step = stride * width;
  for (uint32_t i = 0; i < values->count; i++) {
    uint32_t subscript = i / step % size;
    if (values->data[i] != values->data[i - subscript * step]) return true;
  }
  return false;
}

void instance_split(Tree *tree, const Instance *array) {
  if (map_get(&tree->earlier->splits, array->flat_name) != MAP_NONE) return;
  map_put(&tree->earlier->splits, array->flat_name, 1);
  tree->has_new_splits = true;
}

/* The arrays around the scope over which the values differ. If there are no values, because even their sizes differ: all arrays
 * whose subscripts the expression uses. */
static void split_differing(Tree *tree, Instance *scope, uint64_t used, const NumberVec *values, uint32_t width) {
  uint32_t position = chain_count(scope), stride = 1;
  for (Instance *at = scope; at && at->kind == INSTANCE_COMPONENT; at = at->parent) {
    bool differs = false;
    for (uint32_t i = at->dimensions.count; i-- > 0;) {
      uint32_t size = at->dimensions.data[i].size;
      bool is_used = used >> (--position % 64) & 1;
      differs = differs || (is_used && (!values || differs_over(values, width, stride, size)));
      stride *= size;
    }
    if (differs) instance_split(tree, at);
  }
}

/* Splits the arrays that contain the scope if not all of their elements have the same value as the first ones. `numbers`: those
 * values. */
static bool compare_elements(Tree *tree, const Resolver *resolver, const Value *value, const NumberVec *numbers) {
  Resolver all = *resolver;
  NumberVec others = {0};
  all.element = NULL;
  all.uses_iterators = false;
  all.positions = 0;
  AstExpr flat = resolve_value(&all, value);
  if (flat == AST_NONE || !all.uses_iterators) return flat != AST_NONE;
  flat = for_all_elements(tree, flat, resolver->scope.instance);
  bool is_known = flat != AST_NONE && lang_evaluate(tree->session, flat, &others) == LANG_VALUE;
  bool is_even = is_known && numbers->count && others.count % numbers->count == 0;
  bool fits = is_known && (is_even || others.count == numbers->count);
  for (uint32_t i = 0; i < others.count && fits; i++) fits = others.data[i] == numbers->data[i % numbers->count];
  if (!fits && !value->is_tried)
    split_differing(tree, resolver->scope.instance, all.positions, is_even ? &others : NULL, numbers->count);
  vec_free(tree->heap, &others);
  return fits || !value->is_tried;
}

/* The numbers of a value for the first elements of the arrays that contain the scope. If others differ, these arrays are split, and
 * the tree is made again. */
static LangStatus evaluate(Tree *tree, Resolver *resolver, const Value *value, NumberVec *numbers) {
  if (tree->depth >= EVALUATION_LIMIT) return LANG_ERROR;
  tree->depth++;
  AstExpr flat = resolve_value(resolver, value);
  LangStatus status = LANG_ERROR;
  if (flat != AST_NONE) {
    declare_wanted(tree);
    status = lang_evaluate(tree->session, flat, numbers);
  }
  if (status == LANG_VALUE && resolver->uses_iterators) {
    bool fits = compare_elements(tree, resolver, value, numbers);
    numbers->count = 0;
    status = fits ? lang_evaluate(tree->session, flat, numbers) : LANG_ERROR;
  }
  tree->depth--;
  return status;
}

static Resolver resolver_for(Tree *tree, Scope scope, const struct IteratorValue *values, uint32_t value_count) {
  return (Resolver){
      .tree = tree, .scope = scope, .values = values, .value_count = value_count, .element = first_elements};
}

/* Reports why a needed value is unknown, unless that was already reported. */
static void report_unknown(Tree *tree, AstExpr e, Scope scope, uint32_t errors, const char *what) {
  if (tree->diags->errors > errors) return;
  tree_error(tree, ast_span(tree->ast, e), scope.instance, "%s is not known before the model runs", what);
  const Diag *reason = lang_error(tree->session);
  if (reason) diag_note(tree->diags, tree->last, reason->span, "%s", reason->message);
}

/* Splits the arrays that contain an instance whose open size is unknown: it may differ from element to element. false if there are
 * none. */
static bool split_around(Tree *tree, const Instance *instance) {
  bool is_any = false;
  for (const Instance *at = instance->parent; at && at->kind == INSTANCE_COMPONENT; at = at->parent)
    if (at->dimensions.count) instance_split(tree, at), is_any = true;
  return is_any;
}

bool evaluate_numbers(Tree *tree, AstExpr e, Scope scope, const struct IteratorValue *values, uint32_t value_count,
                      const char *what, NumberVec *numbers) {
  Resolver resolver = resolver_for(tree, scope, values, value_count);
  uint32_t errors = tree->diags->errors;
  LangStatus status = evaluate(tree, &resolver, &(Value){.e = e}, numbers);
  if (status != LANG_VALUE) report_unknown(tree, e, scope, errors, what);
  return status == LANG_VALUE;
}

bool evaluate_sizes(Tree *tree, Instance *instance, const Modifier *binding, NumberVec *sizes) {
  Resolver resolver = resolver_for(tree, binding->scope, NULL, 0);
  Value value = {.e = binding->value, .instance = instance, .binding = binding};
  uint32_t errors = tree->diags->errors;
  LangStatus status = evaluate(tree, &resolver, &value, sizes);
  if (status != LANG_VALUE && split_around(tree, instance)) return false;
  if (status != LANG_VALUE) report_unknown(tree, binding->value, binding->scope, errors, "a size");
  return status == LANG_VALUE;
}

/* Evaluates one number if it is known; reports nothing. */
static bool try_number(Tree *tree, Resolver *resolver, AstExpr e, double *value) {
  NumberVec numbers = {0};
  Diags *outer = tree->diags, quiet = diags_make(tree->heap);
  tree->diags = &quiet;
  LangStatus status = evaluate(tree, resolver, &(Value){.e = e, .is_tried = true}, &numbers);
  tree->diags = outer;
  if (quiet.errors && !tree->silenced) {
    tree->silenced = heap_alloc(tree->heap, sizeof *tree->silenced);
    *tree->silenced = *diags_first_error(&quiet);
  }
  bool is_known = status == LANG_VALUE && numbers.count == 1;
  if (is_known) *value = numbers.data[0];
  vec_free(tree->heap, &numbers);
  return is_known;
}

int evaluate_condition(Tree *tree, AstExpr e, Scope scope, const struct IteratorValue *values, uint32_t value_count) {
  Resolver resolver = resolver_for(tree, scope, values, value_count);
  double value;
  if (!try_number(tree, &resolver, e, &value)) return -1;
  if (!lang_is_condition(tree->session))
    tree_error(tree, ast_span(tree->ast, e), scope.instance, "a condition must be a Boolean");
  return value != 0;
}

bool instance_attribute(Tree *tree, Instance *instance, const char *name, double *value) {
  const Part *base = &vec_last(&instance->parts);
  for (uint32_t i = 0; i < base->modifiers.count; i++) {
    const Modifier *modifier = &base->modifiers.data[i];
    for (uint32_t k = 0; modifier->modification && k < modifier->modification->arguments.count; k++) {
      const AstArgument *argument = &modifier->modification->arguments.data[k];
      if (!argument->modification || argument->modification->value == AST_NONE) continue;
      if (!ast_path_is(tree->ast, argument->name, name)) continue;
      Resolver resolver = resolver_for(tree, modifier->scope, NULL, 0);
      return try_number(tree, &resolver, argument->modification->value, value);
    }
  }
  return false;
}

/* ---- conditions and sizes of components ---- */

bool instance_is_empty(const Instance *instance) {
  for (const Instance *at = instance; at && at->kind == INSTANCE_COMPONENT; at = at->parent)
    if (at->dimensions.count && at->has_sizes && instance_count(at) == 0) return true;
  return false;
}

bool instance_is_present(Tree *tree, Instance *instance) {
  const AstElement *element = instance->element;
  for (Instance *at = instance->parent; at && at->kind == INSTANCE_COMPONENT; at = at->parent)
    if (at->is_absent) return false;
  if (instance->is_decided || !element || element->kind != AST_COMPONENT) return !instance->is_absent;
  AstExpr condition = element->component->condition;
  Scope scope = instance->declared;
  if (condition == AST_NONE && instance->first_element) {
    condition = instance->first_element->component->condition;
    if (instance->first_element != element) scope = (Scope){instance->parent, instance->first_part};
  }
  instance->is_decided = true;
  if (condition == AST_NONE || (instance->parent && instance_is_empty(instance->parent))) return true;
  NumberVec numbers = {0};
  bool fits = evaluate_numbers(tree, condition, scope, NULL, 0, "the condition of the component", &numbers);
  if (fits && !lang_is_condition(tree->session))
    tree_error(tree, ast_span(tree->ast, condition), scope.instance, "the condition of a component must be a Boolean");
  instance->is_absent = fits && numbers.count == 1 && numbers.data[0] == 0;
  vec_free(tree->heap, &numbers);
  return !instance->is_absent;
}

bool instance_has_open_size(const Tree *tree, const Instance *instance) {
  for (uint32_t i = 0; i < instance->dimensions.count; i++)
    if (ast_kind(tree->ast, instance->dimensions.data[i].e) == AST_COLON) return true;
  return false;
}

static bool report_size(Tree *tree, Instance *instance, uint32_t i, double size) {
  tree_error(tree, ast_span(tree->ast, instance->dimensions.data[i].e), instance->parent, "a size of `%s` is %.0f",
             instance_text(tree, instance), size);
  return false;
}

/* A dimension given by a type has as many elements as the type has values. */
static bool type_size(Tree *tree, const struct Dimension *dimension, double *size) {
  if (ast_kind(tree->ast, dimension->e) != AST_REFERENCE || ast_kid_count(tree->ast, dimension->e)) return false;
  Instance *type = scope_try_class(tree, dimension->scope, ast_path(tree->ast, dimension->e));
  if (!type || !instance_open(tree, type)) return false;
  if (type->base == BASE_BOOLEAN) return *size = 2, true;
  if (type->base != BASE_ENUMERATION) return false;
  *size = type->enumeration->definition->literals.count;
  return true;
}

bool instance_size(Tree *tree, Instance *instance, uint32_t i) {
  struct Dimension *dimension = &instance->dimensions.data[i];
  double size;
  NumberVec numbers = {0};
  if (ast_kind(tree->ast, dimension->e) == AST_INTEGER) {
    size = (double)ast_node(tree->ast, dimension->e)->value.integer; /* nothing has to be declared for it */
  } else if (instance->parent && instance_is_empty(instance->parent)) {
    Resolver resolver = resolver_for(tree, dimension->scope, NULL, 0);
    if (!try_number(tree, &resolver, dimension->e, &size)) size = 0;
  } else if (!type_size(tree, dimension, &size)) {
    if (!evaluate_numbers(tree, dimension->e, dimension->scope, NULL, 0, "a size", &numbers)) return false;
    size = numbers.count == 1 ? numbers.data[0] : -1;
    vec_free(tree->heap, &numbers);
  }
  if (size < 0 || size > INT32_MAX) return report_size(tree, instance, i, size);
  instance->dimensions.data[i].size = (uint32_t)size;
  return true;
}

bool evaluate_range(Tree *tree, AstExpr e, Scope scope, const struct IteratorValue *values, uint32_t value_count,
                    NumberVec *numbers) {
  double size;
  struct Dimension dimension = {.e = e, .scope = scope};
  if (!type_size(tree, &dimension, &size))
    return evaluate_numbers(tree, e, scope, values, value_count, "the range of an iterator", numbers);
  for (double i = 1; i <= size; i++) vec_push(tree->heap, numbers, i);
  return true;
}

/* Finds open sizes from the value. */
static bool open_sizes(Tree *tree, Instance *instance) {
  uint32_t count = 0, lead = chain_count(instance) - instance->dimensions.count;
  if (instance->base == BASE_NONE || binding_is_whole(tree, instance)) return record_sizes(tree, instance);
  vec_push(tree->heap, &tree->wanted, instance);
  declare_wanted(tree);
  bool is_declared = instance->session && instance->session != UINT32_MAX;
  const uint32_t *sizes = is_declared ? lang_sizes(tree->session, instance->session - 1, &count) : NULL;
  if (!sizes && split_around(tree, instance)) return false;
  if (!sizes || count != lead + instance->dimensions.count) {
    tree_error(tree, instance->element->component->label.span, instance->parent,
               "the size of `%s` is open, and there is no value that gives it", instance_text(tree, instance));
    const Diag *reason = lang_error(tree->session);
    if (reason) diag_note(tree->diags, tree->last, reason->span, "%s", reason->message);
    return false;
  }
  for (uint32_t i = 0; i < instance->dimensions.count; i++) instance->dimensions.data[i].size = sizes[lead + i];
  return true;
}

bool instance_sizes(Tree *tree, Instance *instance) {
  bool fits = true;
  if (instance->has_sizes || instance->dimensions.count == 0) return true;
  if (instance->is_failed) return false;
  if (instance_has_open_size(tree, instance)) fits = open_sizes(tree, instance);
  else
    for (uint32_t i = 0; i < instance->dimensions.count && fits; i++) fits = instance_size(tree, instance, i);
  instance->has_sizes = fits;
  instance->is_failed = !fits;
  return fits;
}

/* The structure was computed with one value for all elements. If the value of a single element is changed, this element needs
 * its own structure. */
static void check_new_values(Tree *tree) {
  for (uint32_t i = 0; i < tree->declared.count; i++) {
    const Instance *instance = tree->declared.data[i];
    if (!instance->flat || !instance->flat->component->is_structural) continue;
    for (uint32_t k = 0; k < tree->new_values.count; k++)
      if (new_value_fit(tree, tree->new_values.data[k].name, instance) == FIT_PART && !split_around(tree, instance))
        tree_error(tree, (Span){0}, NULL, "an element of `%s` decides the structure, so it cannot be changed by itself",
                   instance_text(tree, instance));
  }
}

void evaluation_finish(Tree *tree) {
  mark_structural(tree);
  check_new_values(tree);
}
