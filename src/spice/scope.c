/* scope: the meaning of names. Cards that begin with a dot define blocks, models, functions and parameters, or name an analysis.
 * A definition holds in its block and in the blocks inside it. */
#include "spice/circuit.h"

#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- looking up ---- */

Scope scope_make(const Circuit *circuit, const Scope *parent, const Block *block, const char *prefix) {
  return (Scope){.parent = parent,
                 .block = block,
                 .prefix = prefix,
                 .nodes = map_make(circuit->heap),
                 .definition_of = map_make(circuit->heap),
                 .multiple = parent ? parent->multiple : 1,
                 .depth = parent ? parent->depth + 1 : 0};
}

Scope *scope_new(Circuit *circuit, const Scope *parent, const Block *block, const char *prefix) {
  Scope made = scope_make(circuit, parent, block, prefix);
  return arena_copy_array(circuit->arena, &made, 1, sizeof made);
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

ModelCard *scope_model(const Scope *scope, Name name, const Scope **owner) {
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

/* A node of the block is a port or a local node. */
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

/* The value of an override; NAN: none. */
static double modified_value(const Circuit *circuit, const char *name) {
  const ModificationVec *values = circuit->asked->values;
  double value = NAN;
  for (uint32_t k = 0; values && k < values->count; k++)
    if (!strcmp(values->data[k].name, name))
      number_parse(values->data[k].value, values->data[k].value + strlen(values->data[k].value), &value);
  return value;
}

Expr add_parameter(Circuit *circuit, Name name, Expr binding, const Card *card, const char *unit) {
  Model *model = circuit->model;
  if (model_named(model, name) != MAP_NONE) return binding;
  double modified = modified_value(circuit, names_text(circuit->names, name));
  if (!isnan(modified)) binding = dag_constant(circuit->dag, modified);
  double value = value_now(circuit, binding);
  if (!isfinite(value)) return binding;
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
  Expr value = read_range(circuit, definition->scope, definition->card, definition->at, definition->end, false);
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
  Block *block; /* the current block */
  const Card *card;
  Fields fields;
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

/* If there are two definitions, the last one counts. */
static void define_parameter(BlockReader *reader, Definition definition, uint32_t begin) {
  Circuit *circuit = reader->circuit;
  definition.is_global = !reader->block->parent;
  for (uint32_t k = 0; k < reader->block->parameters.count; k++)
    if (reader->block->parameters.data[k].name == definition.name)
      card_warning(circuit->diags, definition.card, begin, definition.at, "%s is defined again: this value counts",
                   names_text(circuit->names, definition.name));
  vec_push(circuit->heap, &reader->block->parameters, definition);
}

/* name = expression, one after another; expressions are only skipped here. */
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
    /* The next definition begins at the last name before the next `=` that is not part of a comparison. */
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
    if (text[next]) {
      while (next > at && text[next - 1] == ' ') next--;
      while (next > at && (isalnum((unsigned char)text[next - 1]) || text[next - 1] == '_')) next--;
    }
    uint32_t end = next;
    while (end > at && (text[end - 1] == ' ' || text[end - 1] == ',')) end--;
    define_parameter(reader, (Definition){.name = name, .card = card, .at = at, .end = end}, begin);
    at = next;
  }
  return true;
}

/* If a subcircuit or a model is defined twice, the first definition counts; if a function is, the last one counts. */
static bool is_again(BlockReader *reader, const Map *known, Name name, const char *what, bool counts) {
  if (map_get(known, name) == MAP_NONE) return false;
  card_warning(reader->circuit->diags, reader->card, 0, CARD_END, "%s %s is defined again: this definition %s", what,
               names_text(reader->circuit->names, name), counts ? "counts" : "is not used");
  return true;
}

static bool read_subckt(BlockReader *reader) {
  Circuit *circuit = reader->circuit;
  Fields *fields = &reader->fields;
  if (fields->list.count < 2) return refuse_card(reader, "the name of the subcircuit is missing");
  Name name = field_name(circuit, fields, 1);
  Block *block = block_new(circuit, reader->block, name, reader->card);
  if (!is_again(reader, &reader->block->block_of, name, "subcircuit", false))
    map_put(&reader->block->block_of, name, reader->block->blocks.count);
  vec_push(circuit->heap, &reader->block->blocks, block);
  reader->block = block;
  bool fine = true;
  for (uint32_t k = 2; k < fields->list.count; k++) {
    CardField field = fields->list.data[k];
    bool begins = field_is(fields, k, "params:");
    if (begins || field_assigns(fields, k)) {
      fine = read_definitions(reader, begins ? field.end : field.begin);
      break;
    }
    vec_push(circuit->heap, &block->ports, field_name(circuit, fields, k));
  }
  block->formal = block->parameters.count;
  return fine;
}

static bool read_ends(BlockReader *reader) {
  if (!reader->block->parent) return refuse_card(reader, ".ends without .subckt");
  if (reader->fields.list.count > 1 && field_name(reader->circuit, &reader->fields, 1) != reader->block->name)
    card_warning(reader->circuit->diags, reader->card, 0, CARD_END, "the subcircuit that ends here is %s",
                 names_text(reader->circuit->names, reader->block->name));
  if (!fields_check(reader->circuit, &reader->fields, ".ends")) return false;
  reader->block = reader->block->parent;
  return true;
}

static bool read_model(BlockReader *reader) {
  Circuit *circuit = reader->circuit;
  if (reader->fields.list.count < 3) return refuse_card(reader, "a model needs a name and a type");
  Fields *fields = arena_alloc(circuit->arena, sizeof *fields);
  *fields = reader->fields;
  reader->fields = (Fields){0};
  Name name = field_name(circuit, fields, 1), type = field_name(circuit, fields, 2);
  if (is_again(reader, &reader->block->model_of, name, "model", false)) return true;
  map_put(&reader->block->model_of, name, reader->block->models.count);
  vec_push(circuit->heap, &reader->block->models,
           (ModelCard){reader->card, name, names_text(circuit->names, type), fields, 3, false});
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
  Name name = field_name(circuit, &reader->fields, 1);
  FunctionCard function = {.card = card};
  for (uint32_t k = 2; k < reader->fields.list.count; k++) {
    if (reader->fields.list.data[k].begin > (uint32_t)(close - card->text)) break;
    vec_push(circuit->heap, &function.arguments, field_name(circuit, &reader->fields, k));
  }
  function.at = (uint32_t)(close + 1 - card->text);
  function.end = (uint32_t)strlen(card->text);
  while (card->text[function.at] == ' ' || card->text[function.at] == '=') function.at++;
  is_again(reader, &reader->block->function_of, name, "function", true);
  map_put(&reader->block->function_of, name, reader->block->functions.count);
  vec_push(circuit->heap, &reader->block->functions, function);
  return true;
}

/* The number at field k. */
static bool read_signed_number(BlockReader *reader, uint32_t k, double *value) {
  CardField *field = &reader->fields.list.data[k];
  Cursor cursor = {.card = reader->card, .at = field->begin};
  char sign = reader->card->text[cursor.at];
  cursor.at += sign == '-' || sign == '+';
  if (!read_number(&cursor, value) || cursor.at != field->end) return refuse_card(reader, "a number is expected");
  field->is_used = true;
  if (sign == '-') *value = -*value;
  return true;
}

/* Options of ngspice about its numerics have no effect; a warning names them. */
static void warn_of_options(BlockReader *reader) {
  Circuit *circuit = reader->circuit;
  TextVec names = {0};
  for (uint32_t k = 1; k < reader->fields.list.count; k++) {
    CardField field = reader->fields.list.data[k];
    if (field.is_used) continue;
    text_printf(circuit->heap, &names, "%s%.*s", names.count ? ", " : "", (int)(field.end - field.begin),
                reader->card->text + field.begin);
    if (field_assigns(&reader->fields, k)) k += 2;
  }
  if (names.count) card_warning(circuit->diags, reader->card, 0, CARD_END, "no effect here: %s", names.data);
  vec_free(circuit->heap, &names);
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
    uint32_t at = field_after(&reader->fields, 1, known[k].name);
    if (at != MAP_NONE && !read_signed_number(reader, at, known[k].value)) return false;
  }
  warn_of_options(reader);
  return true;
}

static bool read_temp(BlockReader *reader) {
  if (reader->fields.list.count < 2) return refuse_card(reader, "the temperature is missing");
  return read_signed_number(reader, 1, &reader->circuit->options.temperature) &&
         fields_check(reader->circuit, &reader->fields, ".temp");
}

/* Keeps the card until names have values. */
static bool keep_for_later(BlockReader *reader) {
  vec_push(reader->circuit->heap, &reader->block->elements,
           (uint32_t)(reader->card - reader->circuit->deck.cards.data));
  return true;
}

static bool skip_with_warning(BlockReader *reader) {
  card_warning(reader->circuit->diags, reader->card, 0, CARD_END, "%.*s is skipped",
               (int)(reader->fields.list.data[0].end), reader->card->text);
  return true;
}

static bool skip_analysis(BlockReader *reader) {
  if (!reader->circuit->missing_card) reader->circuit->missing_card = reader->card;
  card_warning(reader->circuit->diags, reader->card, 0, CARD_END, "the analysis %.*s is not supported: it is not run",
               (int)(reader->fields.list.data[0].end), reader->card->text);
  return true;
}

static bool read_dot(BlockReader *reader) {
  static const struct {
    const char *name;
    bool (*read)(BlockReader *reader);
  } cards[] = {{".subckt", read_subckt},      {".ends", read_ends},          {".model", read_model},
               {".param", read_param},        {".func", read_func},          {".options", read_options},
               {".option", read_options},     {".opt", read_options},        {".temp", read_temp},
               {".tran", keep_for_later},     {".op", keep_for_later},       {".dc", keep_for_later},
               {".ic", keep_for_later},       {".nodeset", keep_for_later},  {".global", keep_for_later},
               {".print", skip_with_warning}, {".plot", skip_with_warning},  {".measure", skip_with_warning},
               {".meas", skip_with_warning},  {".save", skip_with_warning},  {".probe", skip_with_warning},
               {".four", skip_with_warning},  {".width", skip_with_warning}, {".title", skip_with_warning},
               {".ac", skip_analysis},        {".noise", skip_analysis},     {".tf", skip_analysis},
               {".pz", skip_analysis},        {".disto", skip_analysis},     {".sens", skip_analysis},
               {".sp", skip_analysis},        {".pss", skip_analysis}};
  for (size_t k = 0; k < sizeof cards / sizeof *cards; k++)
    if (field_accept(&reader->fields, 0, cards[k].name)) return cards[k].read(reader);
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
    vec_free(circuit->heap, &reader.fields.list);
  }
  for (; reader.block->parent; reader.block = reader.block->parent)
    card_error(circuit->diags, reader.block->card, 0, CARD_END, ".ends of this subcircuit is missing");
  return circuit->diags->errors == errors;
}
