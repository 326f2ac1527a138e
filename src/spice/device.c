/* device: semiconductors from the lines of devices.def. Parameters are numbers, so what only depends on them is folded and a
 * branch that is 0 throughout does not come to be. Nothing in a device makes an event: its equations are continuous. */
#include "spice/circuit.h"

#include "base/suggest.h"

#include <math.h>
#include <string.h>

typedef struct DeviceKind {
  char letter;
  const char *types[2], *nodes, *parameters, *instance, *lines;
} DeviceKind;

static const DeviceKind KINDS[] = {
#define DEVICE(letter, positive, negative, nodes, parameters, instance, lines) \
  {letter, {positive, negative}, nodes, parameters, instance, lines},
#include "spice/devices.def"
#undef DEVICE
};

/* Known to every device. */
static const char COMMON[] = "t = temper + 273.15\n"
                             "tn = tnom + 273.15\n"
                             "vt = 1.38064852e-23/1.6021766208e-19*t\n"
                             "vtn = 1.38064852e-23/1.6021766208e-19*tn\n";

typedef struct Device {
  Circuit *circuit;
  const DeviceKind *kind;
  const Scope *outer; /* of the element */
  const Card *card;
  const FieldVec *fields;
  const char *name;
  Scope *scope; /* of the lines */
  Card line;
} Device;

static void define_value(Device *device, const char *name, size_t length, Expr value) {
  Name key = names_add(device->circuit->names, name, length);
  scope_define(device->circuit, device->scope, (Definition){.name = key, .value = value, .state = DEFINITION_DONE});
}

/* The next word of a list, which moves behind it; NULL at the end. */
static const char *next_word(const char **list, size_t *length) {
  while (**list == ' ') (*list)++;
  const char *word = *list;
  while (**list && **list != ' ') (*list)++;
  *length = (size_t)(*list - word);
  return *length ? word : NULL;
}

/* ---- parameters ---- */

static bool define_defaults(Device *device, const char *list) {
  size_t length;
  for (const char *word; (word = next_word(&list, &length));) {
    const char *equals = memchr(word, '=', length);
    Card card = device->line;
    card.text = arena_copy(device->circuit->arena, equals + 1, (size_t)(word + length - equals - 1));
    Cursor cursor = {.card = &card, .at = 0};
    Expr value = read_expression(device->circuit, device->scope, &cursor);
    if (value == EXPR_NONE) return false;
    define_value(device, word, (size_t)(equals - word), value);
  }
  return true;
}

static bool is_parameter(const char *list, const char *text, size_t length) {
  size_t size;
  for (const char *word; (word = next_word(&list, &size));)
    if (size > length && word[length] == '=' && !memcmp(word, text, length)) return true;
  return false;
}

static void offer_names(Suggestion *suggestion, Device *device, const char *list) {
  size_t length;
  for (const char *word; (word = next_word(&list, &length));) {
    const char *equals = memchr(word, '=', length);
    suggest_offer(suggestion, arena_copy(device->circuit->arena, word, (size_t)(equals - word)));
  }
}

static void refuse_parameter(Device *device, const Card *card, CardField field) {
  const char *word = arena_copy(device->circuit->arena, card->text + field.begin, field.end - field.begin);
  Suggestion suggestion = {.word = word};
  offer_names(&suggestion, device, device->kind->parameters);
  offer_names(&suggestion, device, device->kind->instance);
  Diag *diag = card_error(device->circuit->diags, card, field.begin, field.end,
                          "a device %c does not have the parameter %s here", device->kind->letter, word);
  if (suggestion.nearest) diag_note(device->circuit->diags, diag, (Span){0}, "did you mean %s?", suggestion.nearest);
}

/* name = value ... from field `first` on. */
static bool define_given(Device *device, const Scope *scope, const Card *card, const FieldVec *fields, uint32_t first) {
  for (uint32_t k = first; k < fields->list.count; k++) {
    CardField field = fields->list.data[k];
    const char *text = card->text + field.begin;
    size_t length = field.end - field.begin;
    bool has_value = k + 2 < fields->list.count && field_is(card, fields->list.data[k + 1], "=");
    if (!has_value && field_is(card, field, "off")) continue;
    if (!is_parameter(device->kind->parameters, text, length) && !is_parameter(device->kind->instance, text, length)) {
      refuse_parameter(device, card, field);
      return false;
    }
    double value;
    if (!has_value) {
      card_error(device->circuit->diags, card, field.begin, field.end, "the value of this parameter is missing");
      return false;
    }
    if (field_is(card, field, "ic")) { /* a list: only its first value, of the voltage, could count */
      while (k + 3 < fields->list.count &&
             !(k + 4 < fields->list.count && field_is(card, fields->list.data[k + 4], "=")))
        k++;
    } else if (!read_constant(device->circuit, scope, card, fields->list.data[k + 2], &value)) {
      return false;
    } else {
      if (value != 0 && field_is(card, field, "ptf"))
        card_warning(device->circuit->diags, card, "the excess phase ptf has no effect here");
      define_value(device, text, length, dag_constant(device->circuit->dag, value));
      map_put(&device->scope->given, names_add(device->circuit->names, text, length), 1);
    }
    k += 2;
  }
  return true;
}

static bool define_options(Device *device) {
  const CircuitOptions *options = &device->circuit->options;
  const struct {
    const char *name;
    double value;
  } list[] = {{"defl", options->channel_length},
              {"defw", options->channel_width},
              {"defad", options->drain_area},
              {"defas", options->source_area},
              {"tnom", options->nominal_temperature}};
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

/* node INNER OUTER g; a negative g says that a line of its own gives the current. */
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

static bool read_line(Device *device, const char *text) {
  device->line.text = text;
  Cursor cursor = {.card = &device->line, .at = 0};
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

/* Nodes from field 1 on; returns the field behind them, that of the model. */
static uint32_t connect_nodes(Device *device) {
  Circuit *circuit = device->circuit;
  const char *list = device->kind->nodes;
  size_t length;
  uint32_t at = 1;
  for (const char *word; (word = next_word(&list, &length));) {
    const Scope *owner;
    bool optional = word[0] == '[', has = at < device->fields->list.count;
    Name label = has ? field_name(circuit, device->card, device->fields->list.data[at]) : 0;
    if (optional && (!has || scope_model(device->outer, label, &owner))) has = false;
    else if (!has) return at;
    if (optional) word++, length -= 2;
    uint32_t node = has ? scope_node(circuit, device->outer, device->card, label) : GROUND;
    map_put(&device->scope->nodes, names_add(circuit->names, word, length), node);
    at += has;
  }
  return at;
}

static const ModelCard *find_model(Device *device, uint32_t at, const Scope **owner) {
  Circuit *circuit = device->circuit;
  uint32_t end = (uint32_t)strlen(device->card->text);
  CardField field = at < device->fields->list.count ? device->fields->list.data[at] : (CardField){end - 1, end};
  const ModelCard *model = scope_model(device->outer, field_name(circuit, device->card, field), owner);
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
             "%s: its model is of type %s, which is none of such a device", device->name, model->type);
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

bool read_device(Circuit *circuit, const Scope *scope, const Card *card, const FieldVec *fields, const char *name) {
  Device device = {.circuit = circuit,
                   .kind = find_kind(card->text[fields->list.data[0].begin]),
                   .outer = scope,
                   .card = card,
                   .fields = fields,
                   .name = name,
                   .scope = scope_new(circuit, NULL, NULL, "")};
  device.scope->given = map_make(circuit->heap);
  device.line.whole = card_whole(card);
  uint32_t at = connect_nodes(&device);
  const Scope *owner;
  const ModelCard *model = find_model(&device, at, &owner);
  if (!model || !define_polarity(&device, model) || !define_options(&device)) return false;
  if (!define_defaults(&device, device.kind->parameters) || !define_defaults(&device, device.kind->instance))
    return false;
  if (!define_given(&device, owner, model->card, model->fields, model->first)) return false;
  uint32_t first = at + 1;
  bool has_area = first < fields->list.count && is_parameter(device.kind->instance, "area", 4) &&
                  !(first + 1 < fields->list.count && field_is(card, fields->list.data[first + 1], "=")) &&
                  !field_is(card, fields->list.data[first], "off");
  double area;
  if (has_area) {
    if (!read_constant(circuit, scope, card, fields->list.data[first++], &area)) return false;
    define_value(&device, "area", 4, dag_constant(circuit->dag, area));
  }
  return define_given(&device, scope, card, fields, first) && check_level(&device, model) &&
         read_lines(&device, COMMON) && read_lines(&device, device.kind->lines);
}
