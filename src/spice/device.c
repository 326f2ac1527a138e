/* device: semiconductors from the lines of devices.def. Parameters are numbers, so expressions of them are folded, and a branch
 * that is always 0 is not made. Nothing in a device causes an event: its equations are continuous. */
#include "spice/circuit.h"

#include "base/suggest.h"

#include <math.h>
#include <string.h>

typedef struct DeviceKind {
  char letter;
  const char *types[2], *nodes, *parameters, *instance, *idle, *lines;
} DeviceKind;

static const DeviceKind KINDS[] = {
#define DEVICE(letter, positive, negative, nodes, parameters, instance, idle, lines) \
  {letter, {positive, negative}, nodes, parameters, instance, idle, lines},
#include "spice/devices.def"
#undef DEVICE
};

/* Names that every device knows. */
static const char COMMON[] = "par = multiple*around\n"
                             "t = (given(temp) ? temp : temper + dtemp) + 273.15\n"
                             "tn = tnom + 273.15\n"
                             "vt = 1.38064852e-23/1.6021766208e-19*t\n"
                             "vtn = 1.38064852e-23/1.6021766208e-19*tn\n";

typedef struct Device {
  Circuit *circuit;
  const DeviceKind *kind;
  const Scope *outer; /* of the element */
  const Card *card;
  Fields *fields;
  const char *name;
  Scope *scope; /* of the lines */
  Card line;
} Device;

static void define_value(Device *device, const char *name, size_t length, Expr value) {
  Name key = names_add(device->circuit->names, name, length);
  scope_define(device->circuit, device->scope, (Definition){.name = key, .value = value, .state = DEFINITION_DONE});
}

/* The next word of a list; moves past it. NULL at the end. */
static const char *next_word(const char **list, size_t *length) {
  while (**list == ' ') (*list)++;
  const char *word = *list;
  while (**list && **list != ' ') (*list)++;
  *length = (size_t)(*list - word);
  return *length ? word : NULL;
}

/* ---- parameters ---- */

/* The last of the names before `=`: the one used in the lines. */
static const char *own_name(const char *word, const char *equals) {
  const char *name = equals;
  while (name > word && name[-1] != '|') name--;
  return name;
}

static bool define_defaults(Device *device, const char *list) {
  size_t length;
  for (const char *word; (word = next_word(&list, &length));) {
    const char *equals = memchr(word, '=', length), *name = own_name(word, equals);
    Card card = device->line;
    card.text = arena_copy(device->circuit->arena, equals + 1, (size_t)(word + length - equals - 1));
    Cursor cursor = {.card = &card, .at = 0};
    Expr value = read_expression(device->circuit, device->scope, &cursor);
    if (value == EXPR_NONE) return false;
    define_value(device, name, (size_t)(equals - name), value);
  }
  return true;
}

/* The name in the lines of the parameter that a card gives under this name; *length is its length. NULL: there is no such
 * parameter. */
static const char *find_parameter(const char *list, const char *text, size_t *length) {
  size_t size;
  for (const char *word; (word = next_word(&list, &size));) {
    const char *equals = memchr(word, '=', size), *name = own_name(word, equals);
    for (const char *at = word; at <= name;) {
      size_t width = strcspn(at, "|=");
      if (width == *length && !memcmp(at, text, width)) {
        *length = (size_t)(equals - name);
        return name;
      }
      at += width + 1;
    }
  }
  return NULL;
}

static bool is_idle(const Device *device, const char *text) {
  size_t size;
  const char *list = device->kind->idle;
  for (const char *word; (word = next_word(&list, &size));)
    if (size == strlen(text) && !memcmp(word, text, size)) return true;
  return false;
}

static const char *nearest_name(Device *device, const char *list, const char *text) {
  Suggestion suggestion = {.word = text};
  size_t length;
  for (const char *word; (word = next_word(&list, &length));)
    for (const char *at = word; *at != '=' && at < word + length;) {
      size_t width = strcspn(at, "|=");
      suggest_offer(&suggestion, arena_copy(device->circuit->arena, at, width));
      at += width + (at[width] == '|');
    }
  return suggestion.nearest;
}

void warn_of_parameter(Circuit *circuit, const ModelCard *model, const char *word, const char *nearest) {
  Diag *diag = card_warning(circuit->diags, model->card, 0, CARD_END,
                            "model %s: there is no parameter %s here, it has no effect",
                            names_text(circuit->names, model->name), word);
  if (nearest) diag_note(circuit->diags, diag, (Span){0}, "did you mean %s?", nearest);
}

bool refuse_parameter(Circuit *circuit, const ModelCard *model, const char *word) {
  card_error(circuit->diags, model->card, 0, CARD_END, "model %s: the value of %s is missing",
             names_text(circuit->names, model->name), word);
  return false;
}

static void define_given(Device *device, const char *name, size_t length, double value) {
  define_value(device, name, length, dag_constant(device->circuit->dag, value));
  map_put(&device->scope->given, names_add(device->circuit->names, name, length), 1);
}

/* name [=] value ... of the model. */
static bool read_model(Device *device, ModelCard *model, const Scope *owner) {
  Circuit *circuit = device->circuit;
  Fields *fields = model->fields;
  for (uint32_t k = model->first; k < fields->list.count; k++) {
    const char *text = names_text(circuit->names, field_peek(circuit, fields, k));
    size_t length = strlen(text);
    const char *name = find_parameter(device->kind->parameters, text, &length);
    k += field_assigns(fields, k) ? 2 : 1;
    double value = NAN;
    if (k >= fields->list.count) return refuse_parameter(circuit, model, text);
    if (!name && !model->was_checked && is_idle(device, text))
      card_warning(circuit->diags, model->card, 0, CARD_END, "model %s: %s has no effect here",
                   names_text(circuit->names, model->name), text);
    else if (!name && !model->was_checked)
      warn_of_parameter(circuit, model, text, nearest_name(device, device->kind->parameters, text));
    if (!name) continue;
    if (!field_constant(circuit, owner, fields, k, &value)) return false;
    define_given(device, name, length, value);
  }
  model->was_checked = true;
  return true;
}

/* ic=a,b,c: ngspice uses them with uic. */
static void skip_initial(Device *device, uint32_t *k) {
  Fields *fields = device->fields;
  for (; *k < fields->list.count && !field_assigns(fields, *k) && !field_is(fields, *k, "off"); ++*k)
    fields->list.data[*k].is_used = true;
  --*k;
  if (device->circuit->uses_initial)
    card_warning(device->circuit->diags, device->card, 0, CARD_END, "%s: ic has no effect here", device->name);
}

/* name = value ... of the element, from field k on; fields without a meaning stay unused. */
static bool read_instance(Device *device, uint32_t k) {
  Circuit *circuit = device->circuit;
  Fields *fields = device->fields;
  for (; k < fields->list.count; k++) {
    const char *text = names_text(circuit->names, field_peek(circuit, fields, k));
    size_t length = strlen(text);
    if (field_accept(fields, k, "off")) continue;
    const char *name = find_parameter(device->kind->instance, text, &length);
    bool idle = !name && is_idle(device, text);
    if ((!name && !idle) || !field_assigns(fields, k)) continue;
    field_name(circuit, fields, k);
    field_accept(fields, k + 1, "=");
    k += 2;
    double value;
    if (!strcmp(text, "ic")) {
      skip_initial(device, &k);
      continue;
    }
    if (k >= fields->list.count || !field_constant(circuit, device->outer, fields, k, &value)) return false;
    if (idle) card_warning(circuit->diags, device->card, 0, CARD_END, "%s: %s has no effect here", device->name, text);
    else define_given(device, name, length, value);
  }
  return true;
}

static bool define_options(Device *device) {
  const CircuitOptions *options = &device->circuit->options;
  const struct {
    const char *name;
    double value;
  } list[] = {{"defl", options->channel_length},      {"defw", options->channel_width},
              {"defad", options->drain_area},         {"defas", options->source_area},
              {"tnom", options->nominal_temperature}, {"around", device->outer->multiple}};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++)
    define_value(device, list[k].name, strlen(list[k].name), dag_constant(device->circuit->dag, list[k].value));
  return true;
}

/* ---- lines ---- */

static uint32_t line_node(Device *device, Cursor *cursor) {
  const char *text = cursor->card->text;
  while (text[cursor->at] == ' ') cursor->at++;
  uint32_t begin = cursor->at;
  while (text[cursor->at] && text[cursor->at] != ' ') cursor->at++;
  Name name = names_add(device->circuit->names, text + begin, cursor->at - begin);
  return map_get(&device->scope->nodes, name);
}

static Branch line_branch(Device *device, BranchKind kind, uint32_t from, uint32_t to, Expr value) {
  return (Branch){.kind = kind,
                  .from = from,
                  .to = to,
                  .name = names_add(device->circuit->names, device->name, strlen(device->name)),
                  .card = device->card,
                  .variable = MAP_NONE,
                  .value = dag_unary(device->circuit->dag, OP_NOEVENT, value),
                  .still = EXPR_NONE,
                  .given = EXPR_NONE};
}

/* node INNER OUTER g; a negative g means that another line gives the current. */
static bool read_inner_node(Device *device, Cursor *cursor) {
  Circuit *circuit = device->circuit;
  const char *text = cursor->card->text;
  uint32_t begin = cursor->at;
  while (text[cursor->at] != ' ') cursor->at++;
  Name label = names_add(circuit->names, text + begin, cursor->at - begin);
  uint32_t outer = line_node(device, cursor), inner = outer;
  double conductance;
  Expr value = read_expression(circuit, device->scope, cursor);
  if (value == EXPR_NONE || !constant_value(circuit, device->card, value, &conductance)) return false;
  if (conductance != 0)
    inner = circuit_node(
        circuit, arena_printf(circuit->arena, "%s#%s", device->name, names_text(circuit->names, label)), device->card);
  circuit->nodes.data[inner].outer = outer;
  if (conductance > 0) {
    Expr current = dag_multiply(circuit->dag, value, voltage_between(circuit, outer, inner));
    add_branch(circuit, line_branch(device, BRANCH_RESISTIVE, outer, inner, current));
  }
  map_put(&device->scope->nodes, label, inner);
  return true;
}

static bool read_branch_line(Device *device, char letter, Cursor *cursor) {
  Circuit *circuit = device->circuit;
  uint32_t from = line_node(device, cursor), to = line_node(device, cursor);
  Expr value = read_expression(circuit, device->scope, cursor);
  double constant;
  if (value == EXPR_NONE) return false;
  if (from == to || (dag_is_constant(circuit->dag, value, &constant) && constant == 0)) return true;
  Branch branch = line_branch(device, letter == 'i' ? BRANCH_RESISTIVE : BRANCH_CAPACITOR, from, to, value);
  branch.is_slope = letter == 'c';
  branch.has_junction = letter == 'i';
  if (letter == 'c' && !dag_depends(circuit->dag, value, OP_VARIABLE)) {
    branch.is_slope = false;
    branch.value = dag_multiply(circuit->dag, value, voltage_between(circuit, from, to));
  }
  add_branch(circuit, branch);
  return true;
}

/* valid CONDITION: a run in which the condition is false gives a warning. */
static bool read_validity(Device *device, Cursor *cursor) {
  Circuit *circuit = device->circuit;
  Dag *dag = circuit->dag;
  double always;
  Expr value = read_expression(circuit, device->scope, cursor);
  if (value == EXPR_NONE) return false;
  if (dag_is_constant(dag, value, &always)) return true;
  const char *words = arena_printf(circuit->arena,
                                   "%s: the current of a junction is beyond 1e15 A, from where on its exponential is "
                                   "continued by a straight line",
                                   device->name);
  vec_push(circuit->heap, &circuit->warnings,
           (Action){.kind = ACTION_ASSERT,
                    .guard = EXPR_NONE,
                    .value = dag_unary(dag, OP_NOEVENT, as_condition(dag, value)),
                    .message = dag_string(dag, names_add(circuit->names, words, strlen(words))),
                    .is_warning = true,
                    .span = card_whole(device->card)});
  return true;
}

static bool read_line(Device *device, const char *text) {
  device->line.text = text;
  Cursor cursor = {.card = &device->line, .at = 0};
  if (!strncmp(text, "valid ", 6)) {
    cursor.at = 6;
    return read_validity(device, &cursor);
  }
  if (!strncmp(text, "node ", 5)) {
    cursor.at = 5;
    return read_inner_node(device, &cursor);
  }
  if (text[1] == ' ' && strchr("iqc", text[0]) && text[2] != '=') {
    cursor.at = 2;
    return read_branch_line(device, text[0], &cursor);
  }
  const char *equals = strchr(text, '=');
  cursor.at = (uint32_t)(equals + 1 - text);
  Expr value = read_expression(device->circuit, device->scope, &cursor);
  if (value == EXPR_NONE) return false;
  size_t length = (size_t)(equals - text);
  while (length && text[length - 1] == ' ') length--;
  define_value(device, text, length, value);
  return true;
}

static bool read_lines(Device *device, const char *text) {
  while (*text) {
    const char *end = strchr(text, '\n');
    if (!read_line(device, arena_copy(device->circuit->arena, text, (size_t)(end - text)))) return false;
    text = end + 1;
  }
  return true;
}

/* ---- the card ---- */

static const DeviceKind *find_kind(char letter) {
  for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++)
    if (KINDS[k].letter == letter) return &KINDS[k];
  return NULL;
}

/* Connects nodes from field 1 on; returns the field after them, which is the model. */
static uint32_t connect_nodes(Device *device) {
  Circuit *circuit = device->circuit;
  const char *list = device->kind->nodes;
  size_t length;
  uint32_t at = 1;
  for (const char *word; (word = next_word(&list, &length));) {
    const Scope *owner;
    bool optional = word[0] == '[', has = at < device->fields->list.count;
    Name label = has ? field_peek(circuit, device->fields, at) : 0;
    if (optional && (!has || scope_model(device->outer, label, &owner))) has = false;
    else if (!has) return at;
    if (optional) word++, length -= 2;
    if (has) field_name(circuit, device->fields, at);
    uint32_t node = has ? scope_node(circuit, device->outer, device->card, label) : GROUND;
    map_put(&device->scope->nodes, names_add(circuit->names, word, length), node);
    at += has;
  }
  return at;
}

static ModelCard *find_model(Device *device, uint32_t at, const Scope **owner) {
  Circuit *circuit = device->circuit;
  uint32_t count = device->fields->list.count;
  bool has = at < count;
  CardField field =
      device->fields->list.data[has ? at : count - 1]; /* a name that does not belong to a model was read as a node */
  ModelCard *model = has ? scope_model(device->outer, field_name(circuit, device->fields, at), owner) : NULL;
  if (!model)
    card_error(circuit->diags, device->card, field.begin, field.end, "%s: there is no model of this name",
               device->name);
  return model;
}

static bool define_polarity(Device *device, const ModelCard *model) {
  for (int k = 0; k < 2; k++)
    if (!strcmp(model->type, device->kind->types[k])) {
      define_value(device, "type", 4, dag_constant(device->circuit->dag, k ? -1 : 1));
      return true;
    }
  card_error(device->circuit->diags, device->card, 0, CARD_END,
             "%s: its model is of type %s, which does not fit this device", device->name, model->type);
  return false;
}

static bool check_level(Device *device, const ModelCard *model) {
  bool found;
  double level = 1;
  Expr value = scope_parameter(device->circuit, device->scope, names_add(device->circuit->names, "level", 5), &found);
  if (found) dag_is_constant(device->circuit->dag, value, &level);
  if (level == 1) return true;
  card_error(device->circuit->diags, model->card, 0, CARD_END, "models of level %g are not supported, only level 1",
             level);
  return false;
}

/* A number after the model is the area. */
static bool read_area(Device *device, uint32_t *k) {
  size_t length = 4;
  double area;
  Fields *fields = device->fields;
  if (*k >= fields->list.count || field_assigns(fields, *k) || field_is(fields, *k, "off")) return true;
  if (!find_parameter(device->kind->instance, "area", &length)) return true;
  if (!field_constant(device->circuit, device->outer, fields, (*k)++, &area)) return false;
  define_given(device, "area", 4, area);
  return true;
}

bool read_device(Circuit *circuit, const Scope *scope, Fields *fields, const char *name) {
  Device device = {.circuit = circuit,
                   .kind = find_kind(fields->card->text[fields->list.data[0].begin]),
                   .outer = scope,
                   .card = fields->card,
                   .fields = fields,
                   .name = name,
                   .scope = scope_new(circuit, NULL, NULL, "")};
  device.scope->given = map_make(circuit->heap);
  device.line.whole = card_whole(device.card);
  uint32_t at = connect_nodes(&device);
  const Scope *owner;
  ModelCard *model = find_model(&device, at++, &owner);
  if (!model || !define_polarity(&device, model) || !define_options(&device)) return false;
  if (!define_defaults(&device, device.kind->parameters) || !define_defaults(&device, device.kind->instance))
    return false;
  return read_model(&device, model, owner) && read_area(&device, &at) && read_instance(&device, at) &&
         check_level(&device, model) && read_lines(&device, COMMON) && read_lines(&device, device.kind->lines);
}
