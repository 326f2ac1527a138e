/* scope: what names mean. The cards that begin with a dot define blocks, models, functions and parameters, or say what is
 * to be computed; a definition holds in its block and in the blocks inside of it. */
#include "spice/circuit.h"

#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- looking up ---- */

Scope *scope_new(Circuit *circuit, const Scope *parent, const Block *block, const char *prefix) {
  Scope *scope = arena_alloc(circuit->arena, sizeof *scope);
  *scope = (Scope){.parent = parent,
                   .block = block,
                   .prefix = prefix,
                   .nodes = map_make(circuit->heap),
                   .definition_of = map_make(circuit->heap),
                   .depth = parent ? parent->depth + 1 : 0};
  return scope;
}

void scope_define(Circuit *circuit, Scope *scope, Definition definition) {
  if (!definition.scope) definition.scope = scope;
  map_put(&scope->definition_of, definition.name, scope->definitions.count);
  vec_push(circuit->heap, &scope->definitions, definition);
}

const FunctionCard *scope_function(const Scope *scope, Name name, const Scope **owner) {
  for (; scope; scope = scope->parent) {
    uint32_t found = scope->block ? map_get(&scope->block->function_of, name) : MAP_NONE;
    *owner = scope;
    if (found != MAP_NONE) return &scope->block->functions.data[found];
  }
  return NULL;
}

const ModelCard *scope_model(const Scope *scope, Name name, const Scope **owner) {
  for (; scope; scope = scope->parent) {
    uint32_t found = scope->block ? map_get(&scope->block->model_of, name) : MAP_NONE;
    *owner = scope;
    if (found != MAP_NONE) return &scope->block->models.data[found];
  }
  return NULL;
}

const Block *scope_block(const Scope *scope, Name name, const Scope **owner) {
  for (; scope; scope = scope->parent) {
    uint32_t found = scope->block ? map_get(&scope->block->block_of, name) : MAP_NONE;
    *owner = scope;
    if (found != MAP_NONE) return scope->block->blocks.data[found];
  }
  return NULL;
}

static bool is_ground(const char *name) { return !strcmp(name, "0") || !strcmp(name, "gnd"); }

/* A node of the block is a port, or one of its own. */
uint32_t scope_node(Circuit *circuit, const Scope *scope, const Card *card, Name name) {
  const char *text = names_text(circuit->names, name);
  if (is_ground(text)) return GROUND;
  for (; scope; scope = scope->parent) {
    uint32_t found = map_get(&scope->nodes, name);
    if (found != MAP_NONE) return found;
    if (scope->block) break;
  }
  if (map_get(&circuit->scope->nodes, name) != MAP_NONE) return map_get(&circuit->scope->nodes, name); /* .global */
  return circuit_node(circuit, arena_printf(circuit->arena, "%s%s", scope ? scope->prefix : "", text), card);
}

/* ---- parameters ---- */

/* The value that an override gives instead; NAN: none. */
static double modified_value(const Circuit *circuit, const char *name) {
  const ModificationVec *values = circuit->asked->values;
  double value = NAN;
  for (uint32_t k = 0; values && k < values->count; k++)
    if (!strcmp(values->data[k].name, name))
      number_parse(values->data[k].value, values->data[k].value + strlen(values->data[k].value), &value);
  return value;
}

static double parameter_value(void *context, const Dag *dag, Expr leaf) {
  const Circuit *circuit = context;
  return dag_op(dag, leaf) == OP_PARAMETER ? circuit->values.data[dag_index(dag, leaf)] : NAN;
}

Expr add_parameter(Circuit *circuit, Name name, Expr binding, const Card *card, const char *unit) {
  Model *model = circuit->model;
  if (map_get(&model->by_name, name) != MAP_NONE) return binding;
  double value = NAN, modified = modified_value(circuit, names_text(circuit->names, name));
  if (!isnan(modified)) binding = dag_constant(circuit->dag, modified);
  if (!dag_evaluate(circuit->dag, dag_scratch(circuit->dag), binding, parameter_value, circuit, &value, NULL) ||
      !isfinite(value))
    return binding;
  Variable variable = variable_make(name, TYPE_REAL, ROLE_PARAMETER);
  variable.binding = binding;
  variable.unit = names_add(circuit->names, unit, strlen(unit));
  variable.span = card_whole(card);
  uint32_t position = model_add_variable(model, variable);
  vec_push(circuit->heap, &circuit->values, value);
  return model_leaf(model, position, 0);
}

static Expr evaluate_definition(Circuit *circuit, Definition *definition) {
  if (definition->state == DEFINITION_DONE) return definition->value;
  if (definition->state == DEFINITION_BUSY)
    card_error(circuit->diags, definition->card, definition->at, definition->at + 1, "parameter %s depends on itself",
               names_text(circuit->names, definition->name));
  if (definition->state != DEFINITION_OPEN) return EXPR_NONE;
  definition->state = DEFINITION_BUSY;
  Cursor cursor = {.card = definition->card, .at = definition->at};
  Expr value = read_expression(circuit, definition->scope, &cursor);
  if (value != EXPR_NONE && definition->is_global)
    value = add_parameter(circuit, definition->name, value, definition->card, "");
  definition->value = value;
  definition->state = value == EXPR_NONE ? DEFINITION_FAILED : DEFINITION_DONE;
  return value;
}

Expr scope_parameter(Circuit *circuit, const Scope *scope, Name name, bool *found) {
  for (; scope; scope = scope->parent) {
    uint32_t position = map_get(&scope->definition_of, name);
    *found = position != MAP_NONE;
    if (*found) return evaluate_definition(circuit, &scope->definitions.data[position]);
  }
  *found = false;
  return EXPR_NONE;
}

/* ---- cards with a dot ---- */

typedef struct BlockReader {
  Circuit *circuit;
  Block *block; /* open now */
  const Card *card;
  FieldVec fields;
} BlockReader;

static bool refuse_card(BlockReader *reader, const char *message) {
  card_error(reader->circuit->diags, reader->card, 0, CARD_END, "%s", message);
  return false;
}

static Block *block_new(Circuit *circuit, Block *parent, Name name, const Card *card) {
  Block *block = arena_alloc(circuit->arena, sizeof *block);
  *block = (Block){.parent = parent,
                   .name = name,
                   .card = card,
                   .function_of = map_make(circuit->heap),
                   .model_of = map_make(circuit->heap),
                   .block_of = map_make(circuit->heap)};
  return block;
}

static bool is_identifier(const char *text, uint32_t at) { return isalpha((unsigned char)text[at]) || text[at] == '_'; }

/* name = expression, one after the other; expressions are only passed over here. */
static bool read_definitions(BlockReader *reader, uint32_t at) {
  const Card *card = reader->card;
  const char *text = card->text;
  while (text[at]) {
    if (text[at] == ' ' || text[at] == ',') {
      at++;
      continue;
    }
    uint32_t begin = at;
    while (isalnum((unsigned char)text[at]) || text[at] == '_') at++;
    Name name = names_add(reader->circuit->names, text + begin, at - begin);
    while (text[at] == ' ') at++;
    if (!is_identifier(text, begin) || text[at] != '=') {
      card_error(reader->circuit->diags, card, begin, at + 1, "parameters are given as name = value");
      return false;
    }
    do at++;
    while (text[at] == ' ');
    vec_push(reader->circuit->heap, &reader->block->parameters,
             (Definition){.name = name, .card = card, .at = at, .is_global = !reader->block->parent});
    /* The next definition begins at the last name before the next `=` that is no part of a comparison. */
    uint32_t next = at, depth = 0;
    char quote = '\0';
    for (; text[next]; next++) {
      char c = text[next];
      if (quote) quote = c == quote ? '\0' : quote;
      else if (c == '\'' || c == '"') quote = c;
      else if (c == '{' || c == '(') depth++;
      else if ((c == '}' || c == ')') && depth) depth--;
      else if (c == '=' && !depth && !strchr("=<>!", text[next - 1]) && text[next + 1] != '=') break;
      else if (c == '=' && text[next + 1] == '=') next++;
    }
    if (!text[next]) break;
    while (next > at && text[next - 1] == ' ') next--;
    while (next > at && (isalnum((unsigned char)text[next - 1]) || text[next - 1] == '_')) next--;
    at = next;
  }
  return true;
}

static bool read_subckt(BlockReader *reader) {
  Circuit *circuit = reader->circuit;
  const FieldVec *fields = &reader->fields;
  if (fields->list.count < 2) return refuse_card(reader, "the name of the subcircuit is missing");
  Name name = field_name(circuit, reader->card, fields->list.data[1]);
  Block *block = block_new(circuit, reader->block, name, reader->card);
  map_put(&reader->block->block_of, name, reader->block->blocks.count);
  vec_push(circuit->heap, &reader->block->blocks, block);
  reader->block = block;
  for (uint32_t k = 2; k < fields->list.count; k++) {
    CardField field = fields->list.data[k];
    bool is_definition = k + 1 < fields->list.count && field_is(reader->card, fields->list.data[k + 1], "=");
    if (field_is(reader->card, field, "params:")) return read_definitions(reader, field.end);
    if (is_definition) return read_definitions(reader, field.begin);
    vec_push(circuit->heap, &block->ports, field_name(circuit, reader->card, field));
  }
  return true;
}

static bool read_ends(BlockReader *reader) {
  if (!reader->block->parent) return refuse_card(reader, ".ends without .subckt");
  reader->block = reader->block->parent;
  return true;
}

static bool read_model(BlockReader *reader) {
  Circuit *circuit = reader->circuit;
  if (reader->fields.list.count < 3) return refuse_card(reader, "a model needs a name and a type");
  FieldVec *fields = arena_alloc(circuit->arena, sizeof *fields);
  *fields = reader->fields;
  Name type = field_name(circuit, reader->card, fields->list.data[2]);
  map_put(&reader->block->model_of, field_name(circuit, reader->card, fields->list.data[1]),
          reader->block->models.count);
  vec_push(circuit->heap, &reader->block->models,
           (ModelCard){reader->card, names_text(circuit->names, type), fields, 3});
  return true;
}

static bool read_param(BlockReader *reader) { return read_definitions(reader, reader->fields.list.data[0].end); }

/* .func name(a, b) [=] expression */
static bool read_func(BlockReader *reader) {
  Circuit *circuit = reader->circuit;
  const Card *card = reader->card;
  const char *open = strchr(card->text, '('), *close = open ? strchr(open, ')') : NULL;
  if (!close || reader->fields.list.count < 2)
    return refuse_card(reader, "functions are given as .func name(a, b) {expression}");
  FunctionCard function = {.card = card};
  for (uint32_t k = 2; k < reader->fields.list.count; k++) {
    CardField field = reader->fields.list.data[k];
    if (field.begin > (uint32_t)(close - card->text)) break;
    vec_push(circuit->heap, &function.arguments, field_name(circuit, card, field));
  }
  function.at = (uint32_t)(close + 1 - card->text);
  while (card->text[function.at] == ' ' || card->text[function.at] == '=') function.at++;
  map_put(&reader->block->function_of, field_name(circuit, card, reader->fields.list.data[1]),
          reader->block->functions.count);
  vec_push(circuit->heap, &reader->block->functions, function);
  return true;
}

static bool read_options(BlockReader *reader) {
  CircuitOptions *options = &reader->circuit->options;
  const struct {
    const char *name;
    double *value;
  } known[] = {
      {"gmin", &options->gmin},        {"temp", &options->temperature},    {"tnom", &options->nominal_temperature},
      {"reltol", &options->reltol},    {"defl", &options->channel_length}, {"defw", &options->channel_width},
      {"defad", &options->drain_area}, {"defas", &options->source_area}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    uint32_t at = field_after(reader->card, &reader->fields, 1, known[k].name);
    if (at == MAP_NONE) continue;
    Cursor cursor = {.card = reader->card, .at = reader->fields.list.data[at].begin};
    bool negative = reader->card->text[cursor.at] == '-';
    cursor.at += negative;
    if (!read_number(&cursor, known[k].value)) return refuse_card(reader, "an option must be a number");
    if (negative) *known[k].value = -*known[k].value;
  }
  return true;
}

static bool read_temp(BlockReader *reader) {
  if (reader->fields.list.count < 2) return refuse_card(reader, "the temperature is missing");
  Cursor cursor = {.card = reader->card, .at = reader->fields.list.data[1].begin};
  bool negative = reader->card->text[cursor.at] == '-';
  cursor.at += negative;
  if (!read_number(&cursor, &reader->circuit->options.temperature))
    return refuse_card(reader, "the temperature must be a number");
  if (negative) reader->circuit->options.temperature = -reader->circuit->options.temperature;
  return true;
}

/* Kept for when names have values. */
static bool keep_for_later(BlockReader *reader) {
  vec_push(reader->circuit->heap, &reader->block->elements,
           (uint32_t)(reader->card - reader->circuit->deck.cards.data));
  return true;
}

static bool skip_with_warning(BlockReader *reader) {
  card_warning(reader->circuit->diags, reader->card, "%.*s is skipped", (int)(reader->fields.list.data[0].end),
               reader->card->text);
  return true;
}

static bool read_dot(BlockReader *reader) {
  static const struct {
    const char *name;
    bool (*read)(BlockReader *reader);
  } cards[] = {{".subckt", read_subckt},
               {".ends", read_ends},
               {".model", read_model},
               {".param", read_param},
               {".func", read_func},
               {".options", read_options},
               {".option", read_options},
               {".temp", read_temp},
               {".tran", keep_for_later},
               {".op", keep_for_later},
               {".dc", keep_for_later},
               {".ic", keep_for_later},
               {".nodeset", keep_for_later},
               {".global", keep_for_later},
               {".print", skip_with_warning},
               {".plot", skip_with_warning},
               {".measure", skip_with_warning},
               {".meas", skip_with_warning},
               {".save", skip_with_warning},
               {".probe", skip_with_warning},
               {".four", skip_with_warning},
               {".ac", skip_with_warning},
               {".noise", skip_with_warning},
               {".tf", skip_with_warning},
               {".width", skip_with_warning},
               {".title", skip_with_warning}};
  for (size_t k = 0; k < sizeof cards / sizeof *cards; k++)
    if (field_is(reader->card, reader->fields.list.data[0], cards[k].name)) return cards[k].read(reader);
  card_error(reader->circuit->diags, reader->card, 0, reader->fields.list.data[0].end, "the card %.*s is not supported",
             (int)reader->fields.list.data[0].end, reader->card->text);
  return false;
}

bool read_blocks(Circuit *circuit) {
  circuit->top = block_new(circuit, NULL, 0, NULL);
  BlockReader reader = {.circuit = circuit, .block = circuit->top};
  uint32_t errors = circuit->diags->errors;
  for (uint32_t k = 0; k < circuit->deck.cards.count; k++) {
    reader.card = &circuit->deck.cards.data[k];
    if (reader.card->text[0] != '.') {
      vec_push(circuit->heap, &reader.block->elements, k);
      continue;
    }
    reader.fields = fields_split(circuit, reader.card);
    read_dot(&reader);
  }
  for (; reader.block->parent; reader.block = reader.block->parent)
    card_error(circuit->diags, reader.block->card, 0, CARD_END, ".ends of this subcircuit is missing");
  return circuit->diags->errors == errors;
}
