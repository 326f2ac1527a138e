/* print: texts of expressions and of the whole model as Base Modelica (MCP-0031; see model.h).
 *
 * Invariant: a model printed in flat form reads back to the same model: names in quotes, constants as literals of the type that
 * their place requires, lists in the model's order. */
#include "model/print.h"

#include "base/number.h"

#include <string.h>

/* A text for people shows this many bytes of an expression, and at least SHOWN_RIGHT of the right side of an equation. */
enum { SHOWN = 160, SHOWN_RIGHT = 60 };

/* ---- names ---- */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* body.r[1,2].x: names, dots and subscripts, as people write them. */
static bool is_plain(const char *name) {
  const char *c = name;
  do {
    if (!is_letter(*c)) return false;
    while (is_letter(*c) || is_digit(*c)) c++;
    if (*c != '[') continue;
    do {
      c++;
      if (!is_digit(*c)) return false;
      while (is_digit(*c)) c++;
    } while (*c == ',');
    if (*c++ != ']') return false;
  } while (*c == '.' && c++);
  return !*c;
}

void print_as_written(Heap *heap, TextVec *text, const char *name) {
  if (is_plain(name) && strcmp(name, "time") != 0) text_append(heap, text, name, strlen(name));
  else text_quote(heap, text, name, '\'');
}

static void append_plain(const Print *print, Heap *heap, TextVec *text, const char *name) {
  if (print->is_flat) text_quote(heap, text, name, '\'');
  else print_as_written(heap, text, name);
}

static void append_name(const Print *print, Heap *heap, TextVec *text, Name name) {
  append_plain(print, heap, text, names_text(print->model->names, name));
}

static const char *kept_name(Print *print, const char *name) {
  TextVec text = {0};
  append_plain(print, print->heap, &text, name);
  return text_keep(print->heap, &text, &print->arena);
}

const char *print_name(Print *print, Name name) { return kept_name(print, names_text(print->model->names, name)); }

/* ---- types ---- */

uint32_t print_kind(Type type) {
  switch ((BaseType)type.base) {
  case TYPE_REAL: return VALUE_REAL;
  case TYPE_INTEGER: return VALUE_INTEGER;
  case TYPE_BOOLEAN: return VALUE_BOOLEAN;
  case TYPE_STRING: return VALUE_STRING;
  case TYPE_ENUMERATION: return VALUE_ENUMERATION + type.definition;
  case TYPE_EXTERNAL_OBJECT:
  case TYPE_CLOCK:
  case TYPE_RECORD:
  case TYPE_NOTHING: break;
  }
  return VALUE_ANY;
}

/* Is the enumeration one that the language defines? */
static bool is_predefined(const Model *model, uint32_t enumeration) {
  const char *name = names_text(model->names, model->enumerations.data[enumeration].name);
  return !strcmp(name, "StateSelect") || !strcmp(name, "AssertionLevel");
}

static void list_add(Heap *heap, PrintList *list, uint32_t position) {
  if (list->has[position]) return;
  list->has[position] = true;
  vec_push(heap, &list->order, position);
}

static const char *enumeration_name(Print *print, uint32_t enumeration) {
  list_add(print->heap, &print->enumerations, enumeration);
  Name name = print->model->enumerations.data[enumeration].name;
  return is_predefined(print->model, enumeration) ? names_text(print->model->names, name) : print_name(print, name);
}

const char *print_record(Print *print, uint32_t definition) {
  uint32_t function = print->model->records.data[definition].function;
  if (function) return print_use(print, function - 1, 0);
  list_add(print->heap, &print->records, definition);
  return print_name(print, print->model->records.data[definition].name);
}

const char *print_record_open(Print *print, Arena *arena, uint32_t definition) {
  bool is_function = print->model->records.data[definition].function;
  return arena_printf(arena, "%s%s(", is_function ? "function " : "", print_record(print, definition));
}

const char *print_field_label(Print *print, Arena *arena, uint32_t definition, uint32_t field) {
  const Record *record = &print->model->records.data[definition];
  return record->function ? arena_printf(arena, "%s = ", print_name(print, record->fields.data[field].name)) : "";
}

static const char *object_name(Print *print, uint32_t definition) {
  list_add(print->heap, &print->objects, definition);
  return print_name(print, print->model->external_objects.data[definition].name);
}

void print_type(Print *print, TextVec *text, Type type) {
  static const char *const names[] = {
      [TYPE_REAL] = "Real", [TYPE_INTEGER] = "Integer", [TYPE_BOOLEAN] = "Boolean", [TYPE_STRING] = "String"};
  const char *name;
  if (type.base <= TYPE_STRING) name = names[type.base];
  else if (type.base == TYPE_ENUMERATION) name = enumeration_name(print, type.definition);
  else if (type.base == TYPE_RECORD) name = print_record(print, type.definition);
  else name = object_name(print, type.definition);
  text_printf(print->heap, text, "%s", name);
}

void print_literal(Print *print, TextVec *text, uint32_t enumeration, double value) {
  const Enumeration *list = &print->model->enumerations.data[enumeration];
  Name literal = list->literals.data[(uint32_t)value - 1];
  text_printf(print->heap, text, "%s.", enumeration_name(print, enumeration));
  if (is_predefined(print->model, enumeration))
    text_printf(print->heap, text, "%s", names_text(print->model->names, literal));
  else append_name(print, print->heap, text, literal);
}

/* ---- leaves of expressions ---- */

static uint32_t leaf_variable(const Model *model, const Dag *dag, Expr leaf) {
  uint32_t index = dag_index(dag, leaf);
  Op op = dag_op(dag, leaf);
  if (op == OP_PARAMETER) return model->parameters.data[index];
  return op == OP_VARIABLE ? model->unknowns.data[index] : model->discretes.data[index];
}

/* Does the leaf belong to the event logic (a condition, a sample, a mode), numbered after the model's discrete variables? It
 * has no name. */
static bool is_nameless(const Model *model, const Dag *dag, Expr leaf) {
  Op op = dag_op(dag, leaf);
  return (op == OP_DISCRETE || op == OP_PRE) && dag_index(dag, leaf) >= model->discretes.count;
}

static void print_leaf(void *context, Heap *heap, TextVec *text, const Dag *dag, Expr leaf) {
  Print *print = context;
  if (print->inputs) {
    print_input(print, text, leaf);
    return;
  }
  if (dag_op(dag, leaf) == OP_TIME) {
    text_append(heap, text, "time", 4);
    return;
  }
  if (is_nameless(print->model, dag, leaf)) {
    text_printf(heap, text, "event%u", dag_index(dag, leaf) - print->model->discretes.count);
    return;
  }
  uint32_t order = dag_op(dag, leaf) == OP_VARIABLE ? dag_order(dag, leaf) : 0;
  bool is_pre = dag_op(dag, leaf) == OP_PRE;
  for (uint32_t i = 0; i < order; i++) text_append(heap, text, "der(", 4);
  if (is_pre) text_append(heap, text, "pre(", 4);
  append_name(print, heap, text, print->model->variables.data[leaf_variable(print->model, dag, leaf)].name);
  for (uint32_t i = 0; i < order + is_pre; i++) text_append(heap, text, ")", 1);
}

static Type variable_type(const Variable *variable) {
  return (Type){.base = (uint8_t)variable->type, .definition = variable->enumeration};
}

static uint32_t leaf_kind(void *context, const Dag *dag, Expr e) {
  const Print *print = context;
  if (dag_op(dag, e) == OP_CALL) return print_call_kind(print, dag_call_info(dag, e));
  if (is_nameless(print->model, dag, e)) return VALUE_ANY;
  return print_kind(variable_type(&print->model->variables.data[leaf_variable(print->model, dag, e)]));
}

static void leaf_literal(void *context, Heap *heap, TextVec *text, uint32_t kind, double value) {
  Print *print = context;
  uint32_t enumeration = kind - VALUE_ENUMERATION;
  if (value >= 1 && value <= print->model->enumerations.data[enumeration].literals.count && value == (uint32_t)value)
    print_literal(print, text, enumeration, value);
  else {
    char number[NUMBER_SIZE];
    text_append(heap, text, number, number_format(value, 17, number));
  }
}

static const char *leaf_enumeration(void *context, uint32_t kind) {
  Print *print = context;
  return enumeration_name(print, kind - VALUE_ENUMERATION);
}

static const char *function_name(void *context, uint32_t function) {
  Print *print = context;
  return print_name(print, print->model->functions.data[function]->name);
}

void print_start(Print *print, Model *model, Heap *heap, bool is_flat) {
  *print = (Print){.model = model, .heap = heap, .arena = arena_make(heap), .is_flat = is_flat, .used = map_make(heap)};
  print->enumerations.has = arena_array(&print->arena, model->enumerations.count, sizeof(bool));
  print->records.has = arena_array(&print->arena, model->records.count, sizeof(bool));
  print->objects.has = arena_array(&print->arena, model->external_objects.count, sizeof(bool));
  print->leaves = (LeafPrinter){.print = print_leaf,
                                .function = function_name,
                                .context = print,
                                .kind = leaf_kind,
                                .literal = leaf_literal,
                                .enumeration = leaf_enumeration,
                                .around = print_call_around,
                                .argument = print_call_argument,
                                .limit = is_flat ? 0 : SHOWN};
}

void print_free(Print *print) {
  vec_free(print->heap, &print->uses, &print->layouts, &print->derivatives, &print->shared_functions);
  vec_free(print->heap, &print->enumerations.order, &print->records.order, &print->objects.order);
  map_free(&print->used);
  arena_free(&print->arena);
}

/* The external object whose constructor has this name; NULL if there is none. */
static const char *constructed_object(Print *print, Name name) {
  static const char ending[] = ".constructor";
  const Model *model = print->model;
  size_t length = names_length(model->names, name), cut = sizeof ending - 1;
  const char *text = names_text(model->names, name);
  if (length <= cut || strcmp(text + length - cut, ending) != 0) return NULL;
  for (uint32_t i = 0; i < model->external_objects.count; i++) {
    Name object = model->external_objects.data[i].name;
    if (names_length(model->names, object) == length - cut &&
        !strncmp(names_text(model->names, object), text, length - cut))
      return list_add(print->heap, &print->objects, i), names_text(model->names, object);
  }
  return NULL;
}

const char *print_use(Print *print, uint32_t routine, uint32_t output) {
  uint64_t key = (uint64_t)output << 32 | routine;
  const char *name = names_text(print->model->names, print->model->routines.data[routine]->name);
  const char *object = constructed_object(print, print->model->routines.data[routine]->name);
  if (object) {
    name = object; /* the constructor is called by the name of its class, which is printed as a whole */
  } else if (map_get(&print->used, key) == MAP_NONE) {
    map_put(&print->used, key, print->uses.count);
    vec_push(print->heap, &print->uses, (PrintUse){routine, output});
  }
  if (output) name = arena_printf(&print->arena, "%s$%u", name, output + 1);
  return kept_name(print, name);
}

/* ---- expressions ---- */

static void print_expression(Print *print, TextVec *text, Expr e, uint32_t place) {
  print->leaves.place = place;
  Dag *dag = print->model->dag;
  if (print->digest && dag_is_smooth(dag, e) &&
      !dag_depends(dag, e, OP_STRING)) { /* printing the text would take many times as long */
    *print->digest = dag_digest(dag, dag_scratch(dag), e, *print->digest);
    return;
  }
  if (print->is_flat && print_shared(print, text, e)) return;
  dag_print(dag, e, &print->leaves, print->heap, text);
}

/* Both sides are printed with the kind of the side whose kind is known. An if on the left gets parentheses, because it would begin
 * an if-equation. */
static void print_equality(Print *print, TextVec *text, Expr left, Expr right) {
  uint32_t place = dag_value_kind(print->model->dag, left, &print->leaves);
  if (place == VALUE_ANY) place = dag_value_kind(print->model->dag, right, &print->leaves);
  bool is_choice = dag_op(print->model->dag, left) == OP_IF;
  text_printf(print->heap, text, is_choice ? "(" : "");
  print_expression(print, text, left, place);
  text_printf(print->heap, text, is_choice ? ") = " : " = ");
  if (!print->is_flat) print->leaves.limit = text->count + SHOWN_RIGHT < SHOWN ? SHOWN - text->count : SHOWN_RIGHT;
  print_expression(print, text, right, place);
}

const char *model_text(Model *model, Expr e, Arena *arena) {
  Print print;
  TextVec text = {0};
  print_start(&print, model, model->heap, false);
  print_expression(&print, &text, e, VALUE_ANY);
  const char *kept = text_keep(model->heap, &text, arena);
  print_free(&print);
  return kept;
}

const char *model_equation_text(Model *model, const Equation *equation, Arena *arena) {
  Print print;
  TextVec text = {0};
  print_start(&print, model, model->heap, false);
  print_equality(&print, &text, equation->left, equation->right);
  const char *kept = text_keep(model->heap, &text, arena);
  print_free(&print);
  return kept;
}

/* ---- declarations ---- */

/* Attributes of one declaration: `(` before the first, a comma before each other one. */
typedef struct Attributes {
  Print *print;
  TextVec *text;
  bool is_open;
} Attributes;

static void attribute_name(Attributes *list, const char *name) {
  text_printf(list->print->heap, list->text, "%s%s = ", list->is_open ? ", " : "(", name);
  list->is_open = true;
}

static void attribute_text(Attributes *list, const char *name, Name value) {
  if (!value) return;
  attribute_name(list, name);
  text_quote(list->print->heap, list->text, names_text(list->print->model->names, value), '\"');
}

static void attribute_value(Attributes *list, const char *name, Expr value, uint32_t place) {
  if (value == EXPR_NONE) return;
  attribute_name(list, name);
  print_expression(list->print, list->text, value, place);
}

static void print_attributes(Print *print, TextVec *text, const Variable *variable) {
  static const char *const selects[] = {
      [SELECT_NEVER] = "never", [SELECT_AVOID] = "avoid", [SELECT_PREFER] = "prefer", [SELECT_ALWAYS] = "always"};
  Attributes list = {.print = print, .text = text};
  uint32_t kind = print_kind(variable_type(variable));
  attribute_text(&list, "quantity", variable->quantity);
  attribute_text(&list, "unit", variable->unit);
  attribute_text(&list, "displayUnit", variable->display_unit);
  attribute_value(&list, "min", variable->min, kind);
  attribute_value(&list, "max", variable->max, kind);
  attribute_value(&list, "start", variable->start, kind);
  if (variable->fixed != FIXED_UNSET) {
    attribute_name(&list, "fixed");
    text_printf(print->heap, text, variable->fixed == FIXED_TRUE ? "true" : "false");
  }
  attribute_value(&list, "nominal", variable->nominal, kind);
  if (variable->select != SELECT_DEFAULT) {
    attribute_name(&list, "stateSelect");
    text_printf(print->heap, text, "StateSelect.%s", selects[variable->select]);
  }
  if (list.is_open) text_append(print->heap, text, ")", 1);
}

static void print_prefixes(Print *print, TextVec *text, const Variable *variable) {
  static const char *const variabilities[] = {[VARIABILITY_CONSTANT] = "constant ",
                                              [VARIABILITY_PARAMETER] = "parameter ",
                                              [VARIABILITY_DISCRETE] = "discrete ",
                                              [VARIABILITY_CONTINUOUS] = ""};
  static const char *const causalities[] = {[CAUSALITY_LOCAL] = "",
                                            [CAUSALITY_INNER_INPUT] = "",
                                            [CAUSALITY_INPUT] = "input ",
                                            [CAUSALITY_OUTPUT] = "output "};
  bool is_final = variable->is_final || variable->is_structural;
  bool is_implied = variable->variability == VARIABILITY_DISCRETE && variable->type != TYPE_REAL;
  text_printf(print->heap, text, "%s%s%s", is_final ? "final " : "",
              is_implied ? "" : variabilities[variable->variability], causalities[variable->causality]);
}

static void print_comment(Print *print, TextVec *text, Name comment) {
  if (!comment) return;
  text_append(print->heap, text, " ", 1);
  text_quote(print->heap, text, names_text(print->model->names, comment), '\"');
}

static void print_variable(Print *print, TextVec *text, const Variable *variable) {
  text_append(print->heap, text, "    ", 4);
  print_prefixes(print, text, variable);
  print_type(print, text, variable_type(variable));
  text_append(print->heap, text, " ", 1);
  append_name(print, print->heap, text, variable->name);
  print_attributes(print, text, variable);
  if (variable->binding != EXPR_NONE) {
    text_append(print->heap, text, " = ", 3);
    print_expression(print, text, variable->binding, print_kind(variable_type(variable)));
  }
  print_comment(print, text, variable->description);
  text_append(print->heap, text, ";\n", 2);
}

/* ---- definitions ---- */

static void print_enumeration(Print *print, TextVec *text, uint32_t index) {
  const Enumeration *list = &print->model->enumerations.data[index];
  if (is_predefined(print->model, index)) return;
  text_printf(print->heap, text, "  type %s = enumeration(", print_name(print, list->name));
  for (uint32_t i = 0; i < list->literals.count; i++) {
    if (i) text_append(print->heap, text, ", ", 2);
    append_name(print, print->heap, text, list->literals.data[i]);
  }
  text_printf(print->heap, text, ");\n\n");
}

static void print_field(Print *print, TextVec *text, const Field *field) {
  text_append(print->heap, text, "    ", 4);
  print_type(print, text, field->type);
  text_printf(print->heap, text, " %s", print_name(print, field->name));
  for (uint32_t i = 0; i < field->type.dimensions; i++) {
    text_printf(print->heap, text, i ? ", " : "[");
    if (field->sizes[i] == UINT32_MAX) text_append(print->heap, text, ":", 1);
    else text_printf(print->heap, text, "%u", field->sizes[i]);
  }
  text_printf(print->heap, text, field->type.dimensions ? "];\n" : ";\n");
}

/* The list grows while printing, by the records of fields. */
static void print_records(Print *print, TextVec *text) {
  for (uint32_t i = 0; i < print->records.order.count; i++) {
    const Record *record = &print->model->records.data[print->records.order.data[i]];
    const char *name = print_name(print, record->name);
    text_printf(print->heap, text, "  record %s\n", name);
    for (uint32_t f = 0; f < record->fields.count; f++) print_field(print, text, &record->fields.data[f]);
    text_printf(print->heap, text, "  end %s;\n\n", name);
  }
}

/* The class as it was written. */
static void print_external_object(Print *print, TextVec *text, const ExternalObject *object) {
  text_append(print->heap, text, "  ", 2);
  text_append(print->heap, text, source_text(print->model->source, object->span.begin),
              object->span.end - object->span.begin);
  text_append(print->heap, text, "\n\n", 2);
}

/* Functions are printed first, because they show which types are needed. */
static void print_definitions(Print *print, TextVec *text) {
  TextVec functions = {0}, records = {0};
  print_functions(print, &functions);
  print_records(print, &records);
  const PrintList *enumerations = &print->enumerations, *objects = &print->objects;
  for (uint32_t i = 0; i < enumerations->order.count; i++) print_enumeration(print, text, enumerations->order.data[i]);
  for (uint32_t i = 0; i < objects->order.count; i++)
    print_external_object(print, text, &print->model->external_objects.data[objects->order.data[i]]);
  text_append(print->heap, text, records.data, records.count);
  text_append(print->heap, text, functions.data, functions.count);
  for (uint32_t i = 0; i < print->derivatives.count; i++)
    text_printf(print->heap, text, "  %s;\n\n", print->derivatives.data[i].text);
  text_append(print->heap, text, print->shared_functions.data, print->shared_functions.count);
  vec_free(print->heap, &records, &functions);
}

/* ---- equations and actions ---- */

/* If the text is needed only for its hash, the text so far is dropped. */
static void print_digest(Print *print, TextVec *text) {
  if (!print->digest) return;
  *print->digest = hash_text(*print->digest, text->data);
  text->count = 0;
}

/* notes: one for each equation; NULL: none at all. */
static void print_equations(Print *print, TextVec *text, const Equation *equations, uint32_t count,
                            const char *const *notes) {
  for (uint32_t i = 0; i < count; i++) {
    if (equations[i].is_declared) continue;
    const char *note = equations[i].note ? names_text(print->model->names, equations[i].note) : NULL;
    if (notes) note = notes[i];
    if (note) text_printf(print->heap, text, "    // %s\n", note);
    text_append(print->heap, text, "    ", 4);
    print_equality(print, text, equations[i].left, equations[i].right);
    text_append(print->heap, text, ";\n", 2);
    print_digest(print, text);
  }
}

/* An equation, or in an algorithm a statement. */
static void print_assignment(Print *print, TextVec *text, const Action *action) {
  const Variable *target = &print->model->variables.data[action->target];
  text_printf(print->heap, text, "%s %s ", print_name(print, target->name), print->in_algorithm ? ":=" : "=");
  print_expression(print, text, action->value, print_kind(variable_type(target)));
}

static void print_action_itself(Print *print, TextVec *text, const Action *action) {
  Heap *heap = print->heap;
  switch (action->kind) {
  case ACTION_ASSIGN: print_assignment(print, text, action); break;
  case ACTION_REINIT:
    text_printf(heap, text, "reinit(%s, ", print_name(print, print->model->variables.data[action->target].name));
    print_expression(print, text, action->value, VALUE_REAL);
    text_append(heap, text, ")", 1);
    break;
  case ACTION_ASSERT:
    text_printf(heap, text, "assert(");
    print_expression(print, text, action->value, VALUE_BOOLEAN);
    text_append(heap, text, ", ", 2);
    print_expression(print, text, action->message, VALUE_STRING);
    text_printf(heap, text, action->is_warning ? ", AssertionLevel.warning)" : ")");
    break;
  case ACTION_TERMINATE:
    text_printf(heap, text, "terminate(");
    print_expression(print, text, action->message, VALUE_STRING);
    text_append(heap, text, ")", 1);
    break;
  case ACTION_CALL: print_expression(print, text, action->value, VALUE_REAL); break;
  }
}

/* Is the action a call with a result? Then its text is written where the result is used. */
static bool is_used_call(const Model *model, const Action *action) {
  return action->kind == ACTION_CALL &&
         model->functions.data[dag_call_info(model->dag, action->value).function]->output_count > 0;
}

static void print_action(Print *print, TextVec *text, const Action *action, const char *indent) {
  if (is_used_call(print->model, action)) return;
  text_printf(print->heap, text, "%s", indent);
  if (action->guard != EXPR_NONE) {
    text_printf(print->heap, text, "if ");
    print_expression(print, text, action->guard, VALUE_BOOLEAN);
    text_printf(print->heap, text, " then ");
  }
  print_action_itself(print, text, action);
  text_printf(print->heap, text, action->guard != EXPR_NONE ? "; end if;\n" : ";\n");
}

static void print_when(Print *print, TextVec *text, const When *when) {
  for (uint32_t b = 0; b < when->branches.count; b++) {
    const WhenBranch *branch = &when->branches.data[b];
    bool is_vector = branch->conditions.count != 1;
    text_printf(print->heap, text, b ? "    elsewhen %s" : "    when %s", is_vector ? "{" : "");
    for (uint32_t i = 0; i < branch->conditions.count; i++) {
      if (i) text_append(print->heap, text, ", ", 2);
      print_expression(print, text, branch->conditions.data[i], VALUE_BOOLEAN);
    }
    text_printf(print->heap, text, "%s then\n", is_vector ? "}" : "");
    for (uint32_t i = 0; i < branch->actions.count; i++) print_action(print, text, &branch->actions.data[i], "      ");
  }
  text_printf(print->heap, text, "    end when;\n");
}

/* Is the when printed in an algorithm section? Whens of one section may assign the same variable, and branches of one when may
 * assign different variables; in equations neither is allowed. */
static bool is_in_group(const Model *model, uint32_t when) {
  uint32_t number = model->whens.data[when].algorithm;
  if (!number) return false;
  if (model->whens.data[when].branches.count > 1) return true;
  bool follows = when > 0 && model->whens.data[when - 1].algorithm == number;
  return follows || (when + 1 < model->whens.count && model->whens.data[when + 1].algorithm == number);
}

static void print_algorithm_sections(Print *print, TextVec *text) {
  const Model *model = print->model;
  uint32_t open = 0;
  print->in_algorithm = true;
  for (uint32_t i = 0; i < model->whens.count; i++) {
    if (!is_in_group(model, i)) continue;
    if (model->whens.data[i].algorithm != open) text_printf(print->heap, text, "  algorithm\n");
    open = model->whens.data[i].algorithm;
    print_when(print, text, &model->whens.data[i]);
  }
  print->in_algorithm = false;
}

static void print_asserts(Print *print, TextVec *text, bool are_initial) {
  const Model *model = print->model;
  for (uint32_t i = 0; i < model->asserts.count; i++)
    if (model->asserts.data[i].is_initial == are_initial) print_action(print, text, &model->asserts.data[i], "    ");
}

static void print_initial_section(Print *print, TextVec *text) {
  const Model *model = print->model;
  bool any = model->initial_equations.count > 0;
  for (uint32_t i = 0; i < model->asserts.count; i++) any = any || model->asserts.data[i].is_initial;
  if (any) text_printf(print->heap, text, "  initial equation\n");
  print_equations(print, text, model->initial_equations.data, model->initial_equations.count, NULL);
  print_asserts(print, text, true);
}

static void print_final_section(Print *print, TextVec *text) {
  const Model *model = print->model;
  if (model->final_equations.count) text_printf(print->heap, text, "  final equation\n");
  print_equations(print, text, model->final_equations.data, model->final_equations.count, NULL);
}

static void print_equation_section(Print *print, TextVec *text) {
  const Model *model = print->model;
  if (!model->equations.count && !model->discrete_equations.count && !model->whens.count && !model->asserts.count)
    return;
  text_printf(print->heap, text, "  equation\n");
  print_equations(print, text, model->equations.data, model->equations.count,
                  print->notes ? print->notes->equation : NULL);
  print_equations(print, text, model->discrete_equations.data, model->discrete_equations.count, NULL);
  for (uint32_t i = 0; i < model->whens.count; i++)
    if (!is_in_group(model, i)) print_when(print, text, &model->whens.data[i]);
  print_asserts(print, text, false);
}

/* ---- the model ---- */

static void print_setting(Print *print, TextVec *text, bool *is_open, bool has, const char *name, double value) {
  if (!has) return;
  text_printf(print->heap, text, "%s%s = ", *is_open ? ", " : "    annotation(experiment(", name);
  print_expression(print, text, dag_constant(print->model->dag, value), VALUE_REAL);
  *is_open = true;
}

static void print_experiment(Print *print, TextVec *text) {
  const Experiment *experiment = &print->model->experiment;
  bool is_open = false;
  print_setting(print, text, &is_open, experiment->has_start, "StartTime", experiment->start);
  print_setting(print, text, &is_open, experiment->has_stop, "StopTime", experiment->stop);
  print_setting(print, text, &is_open, experiment->has_tolerance, "Tolerance", experiment->tolerance);
  print_setting(print, text, &is_open, experiment->has_interval, "Interval", experiment->interval);
  if (is_open) text_printf(print->heap, text, "));\n");
}

static void print_body(Print *print, TextVec *text) {
  const Model *model = print->model;
  const char *name = print_name(print, model->name);
  text_printf(print->heap, text, "  model %s", name);
  print_comment(print, text, model->description);
  text_append(print->heap, text, "\n", 1);
  for (uint32_t i = 0; i < model->variables.count; i++) {
    print_variable(print, text, &model->variables.data[i]);
    print_digest(print, text);
  }
  print_initial_section(print, text);
  print_final_section(print, text);
  print_equation_section(print, text);
  print_algorithm_sections(print, text);
  print_experiment(print, text);
  text_printf(print->heap, text, "  end %s;\n", name);
}

/* Each line of the head as a comment. */
static void print_head(Heap *heap, TextVec *text, const char *head) {
  for (const char *line = head; line && *line;) {
    size_t length = strcspn(line, "\n");
    text_printf(heap, text, "// %.*s\n", (int)length, line);
    line += length + (line[length] != 0);
  }
}

uint64_t model_hash(Model *model, Heap *heap) {
  Print print;
  TextVec text = {0};
  uint64_t hash = 0;
  print_start(&print, model, heap, true);
  print.digest = &hash;
  print_body(&print, &text);
  print_definitions(&print, &text);
  print_digest(&print, &text);
  vec_free(heap, &text);
  print_free(&print);
  return hash;
}

void model_print(Model *model, Heap *heap, TextVec *text) { model_print_noted(model, NULL, heap, text); }

void model_print_noted(Model *model, const ModelNotes *notes, Heap *heap, TextVec *text) {
  Print print;
  TextVec body = {0};
  print_start(&print, model, heap, true);
  print.notes = notes;
  uint32_t *ranks = dag_ranks(model->dag, heap);
  print.leaves.ranks = ranks;
  print_body(&print, &body); /* first, because it finds which functions are called */
  const char *name = print_name(&print, model->name);
  text_printf(heap, text, "//! base 0.1.0\n");
  if (notes) print_head(heap, text, notes->head);
  text_printf(heap, text, "package %s\n", name);
  print_definitions(&print, text);
  text_append(heap, text, body.data, body.count);
  text_printf(heap, text, "end %s;\n", name);
  vec_free(heap, &body);
  heap_free(heap, ranks);
  print_free(&print);
}

/* ---- calls that are made once ---- */

typedef struct CallsInText {
  const Model *model;
  IndexVec below;
  uint32_t next, count; /* the calls so far have lower numbers */
  bool are_kept;
} CallsInText;

static void note_calls(CallsInText *calls, Expr e) {
  Dag *dag = calls->model->dag;
  calls->below.count = 0;
  dag_below(dag, dag_scratch(dag), &e, 1, &calls->below);
  for (uint32_t i = 0; i < calls->below.count; i++) {
    if (dag_op(dag, calls->below.data[i]) != OP_CALL) continue;
    uint32_t function = dag_call_info(dag, calls->below.data[i]).function;
    if (!calls->model->functions.data[function]->is_once) continue;
    calls->are_kept = calls->are_kept && function >= calls->next;
    calls->next = function + 1;
    calls->count++;
  }
}

/* The text must contain exactly the calls that the actions make. */
static void note_actions(CallsInText *calls, const Action *actions, uint32_t count) {
  uint32_t made = 0;
  for (uint32_t a = 0; a < count; a++) {
    made += actions[a].kind == ACTION_CALL;
    if (actions[a].kind != ACTION_TERMINATE && !is_used_call(calls->model, &actions[a]))
      note_calls(calls, actions[a].value);
  }
  calls->are_kept = calls->are_kept && calls->count == made;
  calls->next = calls->count = 0;
}

bool model_prints_calls(const Model *model) {
  CallsInText calls = {.model = model, .are_kept = true};
  for (uint32_t i = 0; i < model->initial_equations.count; i++) {
    note_calls(&calls, model->initial_equations.data[i].left);
    note_calls(&calls, model->initial_equations.data[i].right);
  }
  note_actions(&calls, model->asserts.data, model->asserts.count);
  for (uint32_t w = 0; w < model->whens.count; w++)
    for (uint32_t b = 0; b < model->whens.data[w].branches.count; b++)
      note_actions(&calls, model->whens.data[w].branches.data[b].actions.data,
                   model->whens.data[w].branches.data[b].actions.count);
  vec_free(dag_heap(model->dag), &calls.below);
  return calls.are_kept;
}
