/* cvalue: see cvalue.h: operators, arrays, records, subscripts and the functions on arrays. */
#include "code/cvalue.h"

#include "code/ctext.h"

#include <math.h>
#include <string.h>

/* Longer texts get a name. */
enum { LONGEST_TEXT = 64, LINE_WIDTH = 96 };

/* ---- text ---- */

const char *cvalue_format(RoutineState *s, const char *form, ...) {
  va_list list;
  va_start(list, form);
  const char *text = arena_vprintf(s->writer->arena, form, list);
  va_end(list);
  return text;
}

void cvalue_line(RoutineState *s, const char *form, ...) {
  va_list list;
  va_start(list, form);
  const char *text = arena_vprintf(s->writer->arena, form, list);
  va_end(list);
  text_printf(s->writer->heap, &s->body, "%*s%s\n", (int)(2 * s->depth), "", text);
}

void cvalue_insert(RoutineState *s, uint32_t at, const char *text) {
  size_t length = strlen(text);
  text_append(s->writer->heap, &s->body, text, length);
  memmove(s->body.data + at + length, s->body.data + at, s->body.count - length - at);
  memcpy(s->body.data + at, text, length);
}

void cvalue_refuse(RoutineState *s, const char *why) {
  if (!s->refusal) s->refusal = why;
}

/* A value does not have the expected dimensions: happens only after a call of a function that does not exist. */
void cvalue_misfit(RoutineState *s) {
  if (!s->is_missing) cvalue_refuse(s, "the dimensions of a value are not known");
}

static const char *number_text(RoutineState *s, double number) {
  TextVec text = {0};
  ctext_number(s->writer->heap, &text, number);
  return text_keep(s->writer->heap, &text, s->writer->arena);
}

/* Texts separated by commas, in lines. */
static const char *list_text(RoutineState *s, const char *const *texts, uint32_t count) {
  TextVec out = {0};
  Heap *heap = s->writer->heap;
  uint32_t start = 0;
  for (uint32_t i = 0; i < count; i++) {
    bool is_full = out.count - start + strlen(texts[i]) > LINE_WIDTH;
    if (i) text_printf(heap, &out, is_full ? ",\n%*s" : ", ", (int)(2 * s->depth + 4), "");
    if (is_full) start = out.count;
    text_append(heap, &out, texts[i], strlen(texts[i]));
  }
  return text_keep(heap, &out, s->writer->arena);
}

/* Letters and digits of a name of the model, with _ for the rest. */
const char *cvalue_plain_name(const RoutineWriter *writer, const char *name) {
  bool needs_letter = !name[0] || (name[0] >= '0' && name[0] <= '9');
  char *out = arena_printf(writer->arena, "%s%s", needs_letter ? "v" : "", name);
  for (char *c = out; *c; c++) {
    bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
    if (!is_plain) *c = '_';
  }
  return out;
}

/* ---- types ---- */

uint32_t cvalue_count_variables(const RoutineWriter *writer, Type type) {
  if (type.base != TYPE_RECORD) return 1;
  uint32_t count = 0;
  const Record *record = &writer->model->records.data[type.definition];
  for (uint32_t i = 0; i < record->fields.count; i++)
    count += cvalue_count_variables(writer, record->fields.data[i].type);
  return count;
}

/* Records nest as deep as their declarations. */
static uint32_t list_variables(const RoutineWriter *writer, Type type, const char *name, uint8_t *dimensions,
                               const char **names) {
  if (type.base != TYPE_RECORD) {
    dimensions[0] = type.dimensions;
    if (names) names[0] = name;
    return 1;
  }
  uint32_t count = 0;
  const Record *record = &writer->model->records.data[type.definition];
  for (uint32_t i = 0; i < record->fields.count; i++) {
    Type field = record->fields.data[i].type;
    field.dimensions = (uint8_t)(field.dimensions + type.dimensions);
    const char *label = cvalue_plain_name(writer, names_text(writer->model->names, record->fields.data[i].name));
    const char *longer = names ? arena_printf(writer->arena, "%s%s_", name, label) : NULL;
    count += list_variables(writer, field, longer, dimensions + count, names ? names + count : NULL);
  }
  return count;
}

uint32_t cvalue_type_variables(const RoutineWriter *writer, Type type, const char *name, uint8_t **dimensions,
                               const char ***names) {
  uint32_t count = cvalue_count_variables(writer, type);
  *dimensions = arena_array(writer->arena, count, sizeof **dimensions);
  if (names) *names = arena_array(writer->arena, count, sizeof **names);
  return list_variables(writer, type, name, *dimensions, names ? *names : NULL);
}

const char *cvalue_c_type(uint8_t dimensions) { return dimensions ? "Array" : "Number"; }

/* ---- entries ---- */

StackEntry cvalue_make_entry(RoutineState *s, Type type) {
  StackEntry entry = {.type = type};
  entry.count = cvalue_type_variables(s->writer, type, "", &entry.dimensions, NULL);
  for (uint32_t i = 0; i < entry.count; i++)
    if (entry.dimensions[i] > TYPE_MAX_DIMENSIONS) cvalue_refuse(s, "it has an array of too many dimensions");
  entry.texts = arena_array(s->writer->arena, entry.count, sizeof *entry.texts);
  return entry;
}

static bool is_name(const char *text) {
  for (const char *c = text; *c; c++)
    if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') && !(*c >= '0' && *c <= '9') && *c != '_') return false;
  return true;
}

static const char *name_text(RoutineState *s, const char *text, uint8_t dimensions) {
  const char *name = cvalue_format(s, "t%u", ++s->names);
  cvalue_line(s, "const %s %s = %s;", cvalue_c_type(dimensions), name, text);
  return name;
}

void cvalue_push_entry(RoutineState *s, StackEntry entry) {
  for (uint32_t i = 0; i < entry.count && entry.kind == ENTRY_VALUE; i++) {
    if (strlen(entry.texts[i]) > LONGEST_TEXT && !is_name(entry.texts[i]))
      entry.texts[i] = name_text(s, entry.texts[i], entry.dimensions[i]);
    if (entry.dimensions[i]) s->makes_arrays = s->uses_memory = true;
  }
  vec_push(s->writer->heap, &s->stack, entry);
}

void cvalue_push(RoutineState *s, Type type, const char *text) {
  StackEntry entry = cvalue_make_entry(s, type);
  if (entry.count != 1) {
    cvalue_refuse(s, "it uses records in a way that cannot be written as C");
    entry = cvalue_make_entry(s, type_scalar(TYPE_REAL));
  }
  entry.texts[0] = text;
  cvalue_push_entry(s, entry);
}

void cvalue_push_constant(RoutineState *s, Type type, double number) {
  cvalue_push(s, type, cvalue_format(s, "number(%s)", number_text(s, number)));
  vec_last(&s->stack).is_constant = true;
  vec_last(&s->stack).constant = number;
}

/* Removes the topmost `count` entries from the stack; valid until the next push. */
StackEntry *cvalue_pop(RoutineState *s, uint32_t count) {
  s->stack.count -= count;
  return s->stack.data + s->stack.count;
}

/* Gives names to the texts of an entry, so that they can be written more than once. */
void cvalue_name(RoutineState *s, StackEntry *entry) {
  if (entry->kind != ENTRY_VALUE) return;
  for (uint32_t i = 0; i < entry->count; i++)
    if (!is_name(entry->texts[i])) entry->texts[i] = name_text(s, entry->texts[i], entry->dimensions[i]);
}

/* Writes a value that is computed but not used, because it may fail. */
void cvalue_discard(RoutineState *s, const StackEntry *entry) {
  for (uint32_t v = 0; v < entry->count && !entry->is_constant; v++) cvalue_line(s, "(void)%s;", entry->texts[v]);
}

static void push_placeholder(RoutineState *s) { cvalue_push(s, type_scalar(TYPE_REAL), "undefined(m)"); }

const char *cvalue_scalar_text(RoutineState *s, const StackEntry *entry) {
  if (entry->kind == ENTRY_ALL) return "number(NAN)";
  if (entry->kind == ENTRY_VALUE && entry->count == 1 && !entry->dimensions[0]) return entry->texts[0];
  cvalue_misfit(s);
  return "undefined(m)";
}

/* The C text of one variable of a stack entry, converted to the type Array. */
const char *cvalue_variable_array(RoutineState *s, const StackEntry *entry, uint32_t i) {
  s->makes_arrays = s->uses_memory = true;
  if (entry->kind == ENTRY_RANGE) return cvalue_format(s, "range_array(m, %s)", entry->texts[0]);
  return entry->dimensions[i] ? entry->texts[i] : cvalue_format(s, "scalar(m, %s)", entry->texts[i]);
}

const char *cvalue_array_text(RoutineState *s, const StackEntry *entry) {
  if (entry->kind == ENTRY_ALL || entry->count != 1)
    cvalue_refuse(s, "it uses records in a way that cannot be written as C");
  return entry->count ? cvalue_variable_array(s, entry, 0) : "";
}

const char *cvalue_scalars_text(RoutineState *s, const StackEntry *entries, uint32_t count) {
  const char **texts = arena_array(s->writer->arena, count, sizeof *texts);
  for (uint32_t i = 0; i < count; i++) texts[i] = cvalue_scalar_text(s, &entries[i]);
  return list_text(s, texts, count);
}

static const char *arrays_text(RoutineState *s, const StackEntry *entries, uint32_t count) {
  const char **texts = arena_array(s->writer->arena, count, sizeof *texts);
  for (uint32_t i = 0; i < count; i++) texts[i] = cvalue_array_text(s, &entries[i]);
  return list_text(s, texts, count);
}

static bool all_scalar(const StackEntry *entries, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (entries[i].type.dimensions || entries[i].kind != ENTRY_VALUE) return false;
  return true;
}

static uint32_t most_dimensions(const StackEntry *entries, uint32_t count) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < count; i++)
    if (entries[i].type.dimensions > most) most = entries[i].type.dimensions;
  return most;
}

static BaseType number_base(const StackEntry *entries, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (entries[i].type.base != TYPE_INTEGER) return (BaseType)entries[i].type.base;
  return TYPE_INTEGER;
}

/* Pushes a number that Integer arithmetic gave, or any other. */
static void push_checked(RoutineState *s, Type type, const char *text) {
  if (type.base == TYPE_INTEGER) text = cvalue_format(s, "integer%s(m, %s)", type.dimensions ? "s" : "", text);
  cvalue_push(s, type, text);
}

/* ---- the end of statements ---- */

void cvalue_end_statement(RoutineState *s) {
  if (!s->makes_arrays || s->stack.count) return;
  cvalue_line(s, "release(m);");
  s->makes_arrays = false;
}

/* A condition; the arrays that it needed are freed. */
const char *cvalue_condition_text(RoutineState *s, const StackEntry *entry) {
  const char *text = cvalue_scalar_text(s, entry);
  if (!s->makes_arrays || s->stack.count) return text;
  text = name_text(s, text, 0);
  cvalue_end_statement(s);
  return text;
}

/* ---- operators ---- */

static const char *op_c_name(Op op) {
  static const char *const names[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = "OP_" #id,
#include "expr/ops.def"
#undef OP
  };
  return names[op];
}

static void push_applied(RoutineState *s, Op op, Type type, const StackEntry *entries, uint32_t count) {
  s->writer->uses_op[op] = true;
  type.dimensions = (uint8_t)most_dimensions(entries, count);
  if (op_arity(op) != (int)count || count == 0 || count > 3) {
    cvalue_push(s, type, type.dimensions ? "scalar(m, undefined(m))" : "undefined(m)");
  } else if (all_scalar(entries, count)) {
    push_checked(s, type,
                 cvalue_format(s, "apply%u(m, %s, %s)", count, op_c_name(op), cvalue_scalars_text(s, entries, count)));
  } else {
    push_checked(
        s, type,
        cvalue_format(s, "each(m, %s, %u, (const Array[]){%s})", op_c_name(op), count, arrays_text(s, entries, count)));
  }
}

void cwrite_apply(RoutineState *s, Op op, uint32_t count) {
  const StackEntry *entries = cvalue_pop(s, count);
  Type types[3] = {{0}};
  for (uint32_t i = 0; i < count && i < 3; i++) types[i] = entries[i].type;
  push_applied(s, op, apply_type(op, types, count < 3 ? count : 3), entries, count);
}

void cwrite_compare(RoutineState *s, Op op) {
  const StackEntry *pair = cvalue_pop(s, 2);
  if (pair[0].type.base == TYPE_STRING) {
    s->writer->compares_texts = true;
    if (op != OP_EQUAL && op != OP_NOT_EQUAL) cvalue_refuse(s, "it compares texts by their order");
  }
  push_applied(s, op, type_scalar(TYPE_BOOLEAN), pair, 2);
}

static void push_sum(RoutineState *s, const StackEntry *terms, uint32_t count, const char *signs) {
  Type type = terms[0].type;
  type.base = (uint8_t)number_base(terms, count);
  if (type.base == TYPE_STRING) {
    s->writer->makes_texts = true;
    for (uint32_t i = 0; i + 1 < count; i++) cvalue_discard(s, &terms[i]);
    cvalue_push_entry(s, terms[count - 1]);
  } else if (!all_scalar(terms, count)) {
    push_checked(
        s, type,
        cvalue_format(s, "sum_arrays(m, %u, \"%s\", (const Array[]){%s})", count, signs, arrays_text(s, terms, count)));
  } else if (count == 1 && signs[0] == '-') {
    push_checked(s, type, cvalue_format(s, "negate(m, %s)", cvalue_scalar_text(s, terms)));
  } else if (count == 2 && signs[0] == '+') {
    push_checked(s, type,
                 cvalue_format(s, "%s(m, %s)", signs[1] == '+' ? "add" : "subtract", cvalue_scalars_text(s, terms, 2)));
  } else {
    push_checked(s, type,
                 cvalue_format(s, "sum(m, %u, \"%s\", (const Number[]){%s})", count, signs,
                               cvalue_scalars_text(s, terms, count)));
  }
}

void cwrite_sum(RoutineState *s, uint32_t count, const uint32_t *bits) {
  char *signs = arena_alloc(s->writer->arena, count + 1);
  for (uint32_t i = 0; i < count; i++) signs[i] = (bits[i / 32] >> (i % 32)) & 1 ? '-' : '+';
  push_sum(s, cvalue_pop(s, count), count, signs);
}

/* A scalar is combined with every element. */
void cwrite_each_sum(RoutineState *s, bool is_minus) {
  StackEntry pair[2];
  memcpy(pair, cvalue_pop(s, 2), sizeof pair);
  for (uint32_t i = 0; i < 2; i++) {
    if (pair[i].type.dimensions || !pair[1 - i].type.dimensions) continue;
    cvalue_name(s, &pair[1 - i]);
    StackEntry wide = cvalue_make_entry(s, type_with_dimensions(pair[i].type, pair[1 - i].type.dimensions));
    wide.texts[0] =
        cvalue_format(s, "spread(m, %s, %s)", cvalue_scalar_text(s, &pair[i]), cvalue_array_text(s, &pair[1 - i]));
    pair[i] = wide;
  }
  push_sum(s, pair, 2, is_minus ? "+-" : "++");
}

void cwrite_product(RoutineState *s, Op op, bool is_each) {
  const StackEntry *pair = cvalue_pop(s, 2);
  Type type = type_scalar(op == OP_MULTIPLY ? number_base(pair, 2) : TYPE_REAL);
  uint32_t a = pair[0].type.dimensions, b = pair[1].type.dimensions;
  if (op == OP_MULTIPLY && !is_each && a && b) {
    s->writer->uses_op[op] = true;
    const char *text = cvalue_format(s, "product(m, %s)", arrays_text(s, pair, 2));
    type.dimensions = (uint8_t)(a + b > 2 ? a + b - 2 : 0);
    push_checked(s, type, type.dimensions ? text : cvalue_format(s, "only(m, %s)", text));
  } else if (op == OP_POWER && !is_each && a) {
    s->writer->uses_op[OP_MULTIPLY] = true;
    cvalue_push(
        s, type_with_dimensions(type, 2),
        cvalue_format(s, "matrix_power(m, %s, %s)", cvalue_array_text(s, &pair[0]), cvalue_scalar_text(s, &pair[1])));
  } else {
    push_applied(s, op, type, pair, 2);
  }
}

/* ---- arrays and records ---- */

static void push_collected(RoutineState *s, const StackEntry *items, uint32_t count) {
  Type type = items[0].type;
  bool is_constant = true;
  for (uint32_t i = 0; i < count; i++) {
    type.base = (uint8_t)type_join_base((BaseType)type.base, (BaseType)items[i].type.base);
    is_constant = is_constant && items[i].is_constant;
    if (items[i].count != items[0].count || items[i].type.dimensions != items[0].type.dimensions) {
      cvalue_misfit(s);
      push_placeholder(s);
      return;
    }
  }
  type.dimensions++;
  StackEntry out = cvalue_make_entry(s, type);
  const char **texts = arena_array(s->writer->arena, count, sizeof *texts);
  for (uint32_t v = 0; v < out.count; v++) {
    bool is_array = items[0].kind == ENTRY_RANGE || items[0].dimensions[v];
    for (uint32_t i = 0; i < count; i++)
      texts[i] = is_constant ? number_text(s, items[i].constant)
                 : is_array  ? cvalue_variable_array(s, &items[i], v)
                             : items[i].texts[v];
    out.texts[v] = cvalue_format(s,
                                 is_constant ? "constants(m, %u, (const double[]){%s})"
                                 : is_array  ? "stack(m, %u, (const Array[]){%s})"
                                             : "vector(m, %u, (const Number[]){%s})",
                                 count, list_text(s, texts, count));
  }
  cvalue_push_entry(s, out);
}

void cwrite_array(RoutineState *s, uint32_t count) {
  if (count) push_collected(s, cvalue_pop(s, count), count);
  else cvalue_push(s, type_with_dimensions(type_scalar(TYPE_REAL), 1), "empty(m, 1)");
}

void cwrite_matrix(RoutineState *s, uint32_t along, uint32_t count) {
  const StackEntry *parts = cvalue_pop(s, count);
  uint32_t dimensions = most_dimensions(parts, count);
  if (dimensions < 2) dimensions = 2;
  Type type = type_with_dimensions(parts[0].type, dimensions);
  const char **texts = arena_array(s->writer->arena, count, sizeof *texts);
  for (uint32_t i = 0; i < count; i++) {
    if (parts[i].type.base == TYPE_REAL) type.base = TYPE_REAL;
    texts[i] = cvalue_format(s, "promote(m, %u, %s)", dimensions, cvalue_array_text(s, &parts[i]));
  }
  cvalue_push(s, type,
              cvalue_format(s, "concatenate(m, number(%u), %u, (const Array[]){%s})", along + 1, count,
                            list_text(s, texts, count)));
}

void cwrite_range(RoutineState *s, bool has_step) {
  const StackEntry *v = cvalue_pop(s, has_step ? 3 : 2), *last = &v[has_step ? 2 : 1];
  BaseType base = type_join_base((BaseType)v[0].type.base, (BaseType)last->type.base);
  if (has_step) base = type_join_base(base, (BaseType)v[1].type.base);
  StackEntry entry = cvalue_make_entry(s, type_with_dimensions(type_scalar(base), 1));
  entry.kind = ENTRY_RANGE;
  entry.type.definition = v[0].type.definition;
  entry.texts[0] = cvalue_format(s, "range(m, %s, %s, %s, %s)", cvalue_scalar_text(s, &v[0]),
                                 has_step ? cvalue_scalar_text(s, &v[1]) : "number(1.0)", cvalue_scalar_text(s, last),
                                 base == TYPE_REAL ? "true" : "false");
  cvalue_push_entry(s, entry);
}

/* Sizes of a field as a list of numbers, NAN for `:`. */
const char *cvalue_field_sizes(RoutineState *s, const Field *field) {
  const char **texts = arena_array(s->writer->arena, field->type.dimensions, sizeof *texts);
  for (uint32_t k = 0; k < field->type.dimensions; k++)
    texts[k] = field->sizes[k] == UINT32_MAX ? "number(NAN)" : cvalue_format(s, "number(%u)", field->sizes[k]);
  return list_text(s, texts, field->type.dimensions);
}

void cwrite_record(RoutineState *s, uint32_t definition) {
  const Record *record = &s->writer->model->records.data[definition];
  StackEntry *fields = cvalue_pop(s, record->fields.count);
  StackEntry out = cvalue_make_entry(s, (Type){.base = TYPE_RECORD, .definition = definition});
  bool is_fit = true;
  for (uint32_t i = 0, v = 0; i < record->fields.count; i++) {
    const Field *field = &record->fields.data[i];
    for (uint32_t k = 0; k < fields[i].count && v < out.count; k++, v++) {
      bool is_sized = field->type.dimensions && field->type.base != TYPE_RECORD;
      out.texts[v] = fields[i].dimensions[k] || fields[i].kind == ENTRY_RANGE ? cvalue_variable_array(s, &fields[i], k)
                                                                              : fields[i].texts[k];
      if (is_sized)
        out.texts[v] = cvalue_format(s, "sized(m, %s, %u, (const Number[]){%s})", out.texts[v], field->type.dimensions,
                                     cvalue_field_sizes(s, field));
      if (!fields[i].dimensions[k] != !out.dimensions[v]) is_fit = false;
    }
    is_fit = is_fit && fields[i].count == cvalue_count_variables(s->writer, field->type);
  }
  if (is_fit) {
    cvalue_push_entry(s, out);
    return;
  }
  cvalue_misfit(s);
  push_placeholder(s);
}

void cwrite_field(RoutineState *s, uint32_t number) {
  StackEntry record = *cvalue_pop(s, 1);
  if (record.type.base != TYPE_RECORD) {
    cvalue_misfit(s);
    push_placeholder(s);
    return;
  }
  const Record *definition = &s->writer->model->records.data[record.type.definition];
  uint32_t first = 0;
  for (uint32_t i = 0; i < number; i++) first += cvalue_count_variables(s->writer, definition->fields.data[i].type);
  Type type = definition->fields.data[number].type;
  type.dimensions = (uint8_t)(type.dimensions + record.type.dimensions);
  StackEntry out = cvalue_make_entry(s, type);
  for (uint32_t i = 0; i < out.count; i++) out.texts[i] = record.texts[first + i];
  cvalue_push_entry(s, out);
}

/* ---- subscripts ---- */

static const char *subscript_number(RoutineState *s, const StackEntry *entry) {
  const char *text = cvalue_scalar_text(s, entry);
  return entry->type.base == TYPE_BOOLEAN ? cvalue_format(s, "ordinal(%s)", text) : text;
}

static const char *numbers_text(RoutineState *s, const StackEntry *subscripts, uint32_t count) {
  const char **texts = arena_array(s->writer->arena, count, sizeof *texts);
  for (uint32_t i = 0; i < count; i++) texts[i] = subscript_number(s, &subscripts[i]);
  return list_text(s, texts, count);
}

static const char *subscripts_text(RoutineState *s, const StackEntry *subscripts, uint32_t count) {
  const char **texts = arena_array(s->writer->arena, count, sizeof *texts);
  for (uint32_t i = 0; i < count; i++) {
    const StackEntry *entry = &subscripts[i];
    if (entry->kind == ENTRY_ALL) texts[i] = "every()";
    else if (all_scalar(entry, 1)) texts[i] = cvalue_format(s, "at(%s)", subscript_number(s, entry));
    else if (entry->type.base == TYPE_BOOLEAN)
      texts[i] = cvalue_format(s, "listed(ordinals(m, %s))", cvalue_array_text(s, entry));
    else texts[i] = cvalue_format(s, "listed(%s)", cvalue_array_text(s, entry));
  }
  return list_text(s, texts, count);
}

static uint32_t scalar_subscripts(const StackEntry *subscripts, uint32_t count) {
  uint32_t scalars = 0;
  for (uint32_t i = 0; i < count; i++) scalars += all_scalar(&subscripts[i], 1);
  return scalars;
}

void cwrite_index(RoutineState *s, uint32_t lead, uint32_t count) {
  (void)lead;
  const StackEntry *list = cvalue_pop(s, count + 1);
  StackEntry array = list[0], *subscripts = arena_array(s->writer->arena, count, sizeof *subscripts);
  for (uint32_t i = 0; i < count; i++) subscripts[i] = list[i + 1];
  if (array.type.dimensions < count) {
    cvalue_misfit(s);
    push_placeholder(s);
    return;
  }
  for (uint32_t i = 0; i < count && array.count > 1; i++) cvalue_name(s, &subscripts[i]);
  uint32_t scalars = scalar_subscripts(subscripts, count);
  StackEntry out = cvalue_make_entry(s, type_with_dimensions(array.type, array.type.dimensions - scalars));
  for (uint32_t v = 0; v < out.count; v++) {
    const char *whole = cvalue_variable_array(s, &array, v);
    if (out.dimensions[v] == 0)
      out.texts[v] = cvalue_format(s, "*place(m, %s, (const Number[]){%s})", whole, numbers_text(s, subscripts, count));
    else
      out.texts[v] = cvalue_format(s, "part(m, %s, %u, (const Subscript[]){%s})", whole, count,
                                   subscripts_text(s, subscripts, count));
  }
  cvalue_push_entry(s, out);
}

static void store_part(RoutineState *s, const StackEntry *target, const StackEntry *value, const StackEntry *subscripts,
                       uint32_t count) {
  uint32_t scalars = scalar_subscripts(subscripts, count);
  for (uint32_t v = 0; v < target->count; v++) {
    if (target->dimensions[v] == scalars)
      cvalue_line(s, "*place(m, %s, (const Number[]){%s}) = %s;", target->texts[v], numbers_text(s, subscripts, count),
                  value->texts[v]);
    else
      cvalue_line(s, "assign_part(m, %s, %u, (const Subscript[]){%s}, %s);", target->texts[v], count,
                  subscripts_text(s, subscripts, count), cvalue_variable_array(s, value, v));
  }
}

/* A value assigned to several variables may contain parts of them, which must be read before they are overwritten. */
static void secure(RoutineState *s, StackEntry *value, bool is_alias) {
  for (uint32_t v = 0; v < value->count && (value->count > 1 || is_alias); v++)
    if (value->dimensions[v])
      value->texts[v] = name_text(s, cvalue_format(s, "copy(m, %s)", value->texts[v]), value->dimensions[v]);
    else if (strncmp(value->texts[v], "number(", 7) != 0) value->texts[v] = name_text(s, value->texts[v], 0);
}

/* The kinds of assignment of a whole array: to fixed sizes, to free ones, to a field. */
static void store_whole(RoutineState *s, const StackEntry *target, const StackEntry *value, const char *assign) {
  for (uint32_t v = 0; v < target->count; v++)
    if (target->dimensions[v])
      cvalue_line(s, "%s(m, &%s, %s);", assign, target->texts[v], cvalue_variable_array(s, value, v));
    else cvalue_line(s, "%s = %s;", target->texts[v], value->texts[v]);
}

void cwrite_store(RoutineState *s, const uint32_t *place) {
  uint32_t steps = place[1], total = 0, used = 0, count = 0;
  for (uint32_t i = 0; i < steps; i++)
    if (place[2 + 2 * i] == STEP_INDEX) total += place[3 + 2 * i];
  StackEntry *popped = cvalue_pop(s, total + 1), value = popped[0], list[TYPE_MAX_DIMENSIONS];
  StackEntry target = s->slots[place[0]];
  uint32_t dimensions = target.type.dimensions;
  for (uint32_t i = 0; i < steps; i++) {
    if (place[2 + 2 * i] == STEP_INDEX) {
      for (uint32_t k = 0; k < place[3 + 2 * i] && count < TYPE_MAX_DIMENSIONS; k++) list[count++] = popped[1 + used++];
      continue;
    }
    while (count < dimensions && count < TYPE_MAX_DIMENSIONS) list[count++] = (StackEntry){.kind = ENTRY_ALL};
    vec_push(s->writer->heap, &s->stack, target);
    cwrite_field(s, place[3 + 2 * i]);
    target = *cvalue_pop(s, 1);
    dimensions = target.type.dimensions;
  }
  uint32_t given = target.type.dimensions - scalar_subscripts(list, count);
  if (value.count != target.count || value.type.dimensions != given || value.kind == ENTRY_ALL) {
    cvalue_misfit(s);
    return;
  }
  for (uint32_t i = 0; i < count && target.count > 1; i++) cvalue_name(s, &list[i]);
  bool is_alias = count && target.count == 1 && value.kind == ENTRY_VALUE && is_name(value.texts[0]);
  if (value.kind == ENTRY_VALUE) secure(s, &value, is_alias);
  bool is_free = s->routine->locals.data[place[0]].is_free || target.type.base == TYPE_RECORD;
  if (steps == 0) store_whole(s, &target, &value, is_free ? "assign_free" : "assign");
  else if (count == 0) store_whole(s, &target, &value, "assign_field");
  else store_part(s, &target, &value, list, count);
  cvalue_end_statement(s);
}

/* ---- functions on arrays ---- */

static void push_size(RoutineState *s, const StackEntry *a, uint32_t count) {
  uint32_t dimensions = a[0].type.dimensions;
  const char *array = a[0].count ? cvalue_variable_array(s, &a[0], 0) : "empty(m, 1)";
  if (count == 2)
    cvalue_push(s, type_scalar(TYPE_INTEGER),
                cvalue_format(s, "size_of(m, %s, %u, %s)", array, dimensions, cvalue_scalar_text(s, &a[1])));
  else
    cvalue_push(s, type_with_dimensions(type_scalar(TYPE_INTEGER), 1),
                cvalue_format(s, "sizes_of(m, %s, %u)", array, dimensions));
}

static void push_fill(RoutineState *s, const StackEntry *a, uint32_t count) {
  StackEntry out = cvalue_make_entry(s, type_with_dimensions(a[0].type, a[0].type.dimensions + count - 1));
  const char *sizes = cvalue_scalars_text(s, a + 1, count - 1);
  for (uint32_t v = 0; v < out.count; v++)
    out.texts[v] =
        cvalue_format(s, "fill(m, %s, %u, (const Number[]){%s})", cvalue_variable_array(s, &a[0], v), count - 1, sizes);
  cvalue_push_entry(s, out);
}

static void push_extreme(RoutineState *s, Op op, const StackEntry *a, uint32_t count) {
  s->writer->uses_op[op] = true;
  if (count == 2) {
    push_applied(s, op, type_scalar(a[1].type.base == TYPE_REAL ? TYPE_REAL : (BaseType)a[0].type.base), a, 2);
    return;
  }
  const char *none = a[0].type.base == TYPE_REAL ? "1.7976931348623157e308" : "2147483647";
  cvalue_push(s, type_with_dimensions(a[0].type, 0),
              cvalue_format(s, "extreme(m, %s, %s, %s%s)", op_c_name(op), cvalue_array_text(s, &a[0]),
                            op == OP_MIN ? "" : "-", none));
}

static BaseType real_if_one(const StackEntry *pair) {
  return pair[1].type.base == TYPE_REAL ? TYPE_REAL : (BaseType)pair[0].type.base;
}

/* Pushes the call of a function with one array argument, or with two. */
static void push_mapped(RoutineState *s, Type type, const char *name, const StackEntry *a, uint32_t count) {
  cvalue_push(s, type, cvalue_format(s, "%s(m, %s)", name, arrays_text(s, a, count)));
}

static void push_filled(RoutineState *s, const StackEntry *a, uint32_t count, const char *value) {
  cvalue_push(
      s, type_with_dimensions(type_scalar(TYPE_INTEGER), count),
      cvalue_format(s, "filled(m, %u, (const Number[]){%s}, %s)", count, cvalue_scalars_text(s, a, count), value));
}

static void push_normalized(RoutineState *s, const StackEntry *a, uint32_t count) {
  const char *least = count == 2 ? cvalue_scalar_text(s, &a[1]) : "number(100 * 2.220446049250313e-16)";
  s->writer->uses_op[OP_MULTIPLY] = s->writer->uses_op[OP_SQRT] = s->writer->uses_op[OP_DIVIDE] = true;
  cvalue_push(s, type_with_dimensions(type_scalar(TYPE_REAL), 1),
              cvalue_format(s, "normalize(m, %s, %s)", cvalue_array_text(s, &a[0]), least));
}

void cwrite_builtin(RoutineState *s, Builtin builtin, uint32_t count) {
  const StackEntry *a = cvalue_pop(s, count);
  Type type = count ? a[0].type : type_scalar(TYPE_REAL);
  const Type integer = type_scalar(TYPE_INTEGER);
  bool *uses = s->writer->uses_op;
  switch (builtin) {
  case BUILTIN_SIZE: push_size(s, a, count); break;
  case BUILTIN_NDIMS: cvalue_push_constant(s, integer, type.dimensions); break;
  case BUILTIN_SCALAR: push_mapped(s, type_with_dimensions(type, 0), "only", a, 1); break;
  case BUILTIN_VECTOR: push_mapped(s, type_with_dimensions(type, 1), "as_vector", a, 1); break;
  case BUILTIN_MATRIX: push_mapped(s, type_with_dimensions(type, 2), "as_matrix", a, 1); break;
  case BUILTIN_PROMOTE: {
    if (!a[1].is_constant) cvalue_misfit(s);
    uint32_t dimensions = a[1].is_constant ? (uint32_t)a[1].constant : 0;
    cvalue_push(s, type_with_dimensions(type, dimensions),
                cvalue_format(s, "promote(m, %u, %s)", dimensions, cvalue_array_text(s, &a[0])));
    break;
  }
  case BUILTIN_TRANSPOSE: push_mapped(s, type, "transpose", a, 1); break;
  case BUILTIN_OUTER_PRODUCT:
    uses[OP_MULTIPLY] = true;
    push_mapped(s, type_with_dimensions(type_scalar(real_if_one(a)), 2), "outer_product", a, 2);
    break;
  case BUILTIN_SYMMETRIC: push_mapped(s, type, "symmetric", a, 1); break;
  case BUILTIN_CROSS:
    uses[OP_MULTIPLY] = true;
    push_mapped(s, type_with_dimensions(type_scalar(real_if_one(a)), 1), "cross", a, 2);
    break;
  case BUILTIN_SKEW: push_mapped(s, type_with_dimensions(type, 2), "skew", a, 1); break;
  case BUILTIN_IDENTITY:
    cvalue_push(s, type_with_dimensions(integer, 2), cvalue_format(s, "identity(m, %s)", cvalue_scalar_text(s, a)));
    break;
  case BUILTIN_DIAGONAL: push_mapped(s, type_with_dimensions(type, 2), "diagonal", a, 1); break;
  case BUILTIN_ZEROS: push_filled(s, a, count, "0.0"); break;
  case BUILTIN_ONES: push_filled(s, a, count, "1.0"); break;
  case BUILTIN_FILL: push_fill(s, a, count); break;
  case BUILTIN_LINSPACE:
    uses[OP_MULTIPLY] = true;
    cvalue_push(s, type_with_dimensions(type_scalar(TYPE_REAL), 1),
                cvalue_format(s, "linspace(m, %s)", cvalue_scalars_text(s, a, 3)));
    break;
  case BUILTIN_CAT: {
    Type joined = a[1].type;
    for (uint32_t i = 2; i < count; i++)
      if (a[i].type.base == TYPE_REAL) joined.base = TYPE_REAL;
    cvalue_push(s, joined,
                cvalue_format(s, "concatenate(m, %s, %u, (const Array[]){%s})", cvalue_scalar_text(s, &a[0]), count - 1,
                              arrays_text(s, a + 1, count - 1)));
    break;
  }
  case BUILTIN_ARRAY: push_collected(s, a, count); break;
  case BUILTIN_MIN: push_extreme(s, OP_MIN, a, count); break;
  case BUILTIN_MAX: push_extreme(s, OP_MAX, a, count); break;
  case BUILTIN_SUM:
    push_checked(s, type_with_dimensions(type, 0), cvalue_format(s, "total(m, %s)", cvalue_array_text(s, a)));
    break;
  case BUILTIN_SUM_FIRST:
    push_checked(s, type_with_dimensions(type, type.dimensions - 1u),
                 cvalue_format(s, "total_first(m, %s)", cvalue_array_text(s, a)));
    break;
  case BUILTIN_PRODUCT:
    uses[OP_MULTIPLY] = true;
    push_checked(s, type_with_dimensions(type, 0), cvalue_format(s, "total_product(m, %s)", cvalue_array_text(s, a)));
    break;
  case BUILTIN_TEXT:
    s->writer->makes_texts = true;
    for (uint32_t i = 0; i < count; i++) cvalue_discard(s, &a[i]);
    cvalue_push(s, type_scalar(TYPE_STRING), "number(0.0)");
    break;
  case BUILTIN_INTEGER:
    cvalue_push_entry(s, a[0]);
    vec_last(&s->stack).type.base = TYPE_INTEGER;
    break;
  case BUILTIN_VECTOR_LENGTH:
    uses[OP_MULTIPLY] = uses[OP_SQRT] = true;
    push_mapped(s, type_scalar(TYPE_REAL), "vector_length", a, 1);
    break;
  case BUILTIN_VECTOR_NORMALIZE: push_normalized(s, a, count); break;
  case BUILTIN_COUNT: break;
  }
}
