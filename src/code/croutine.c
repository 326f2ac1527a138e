/* croutine: see croutine.h. The stack code is read once from front to back; the stack of the machine is
 * followed with the text of each value instead of the value.
 *
 * Invariant: the text of a value has no effect but failure, so it may be written later than the machine would
 * compute it; what depends on a loop or a branch is stored before the loop or branch ends. */
#include "code/croutine.h"

#include "code/ctext.h"
#include "model/execute.h"

#include <math.h>
#include <string.h>

/* Longer texts get a name. */
enum { LONGEST_TEXT = 64, LINE_WIDTH = 96 };

typedef enum EntryKind { ENTRY_VALUE, ENTRY_RANGE, ENTRY_ALL } EntryKind;

/* A value on the stack: one text for each of its variables. */
typedef struct Entry {
  EntryKind kind;
  Type type;
  bool is_constant;
  double constant;
  uint32_t count;
  const char **texts;
  uint8_t *dimensions;
} Entry;

typedef enum RegionKind { REGION_SKIP, REGION_DEFAULT, REGION_VALUE, REGION_LOOP } RegionKind;

/* An open piece of control flow. */
typedef struct Region {
  RegionKind kind;
  uint32_t end;    /* SKIP, DEFAULT: position before which it closes */
  uint32_t number; /* of its names */
  uint32_t at;     /* VALUE, EACH: where in the body its result is declared */
  bool is_range;
  bool is_held; /* LOOP over an array that was copied */
  Entry then;   /* VALUE */
} Region;

typedef struct State {
  RoutineWriter *writer;
  const Routine *routine;
  TextVec body;
  uint32_t depth;
  VEC(Entry) stack;
  VEC(Region) regions;
  uint32_t names; /* given so far */
  Entry *slots;   /* slot -> its variables */
  bool *is_read, *is_bound;
  bool makes_arrays; /* since the last statement ended */
  bool uses_memory;  /* anywhere */
  bool has_return;
  bool is_missing; /* the statement at hand calls a function that is not there, and has failed by now */
  const char *refusal;
} State;

/* ---- text ---- */

static const char *format(State *s, const char *form, ...) __attribute__((format(printf, 2, 3)));

static const char *format(State *s, const char *form, ...) {
  va_list list;
  va_start(list, form);
  const char *text = arena_vprintf(s->writer->arena, form, list);
  va_end(list);
  return text;
}

static void line(State *s, const char *form, ...) __attribute__((format(printf, 2, 3)));

static void line(State *s, const char *form, ...) {
  va_list list;
  va_start(list, form);
  const char *text = arena_vprintf(s->writer->arena, form, list);
  va_end(list);
  text_printf(s->writer->heap, &s->body, "%*s%s\n", (int)(2 * s->depth), "", text);
}

static void insert(State *s, uint32_t at, const char *text) {
  size_t length = strlen(text);
  text_append(s->writer->heap, &s->body, text, length);
  memmove(s->body.data + at + length, s->body.data + at, s->body.count - length - at);
  memcpy(s->body.data + at, text, length);
}

static void refuse(State *s, const char *why) {
  if (!s->refusal) s->refusal = why;
}

/* A value has not the dimensions expected: behind a call of a function that is not there only. */
static void misfit(State *s) {
  if (!s->is_missing) refuse(s, "the dimensions of a value are not known");
}

static const char *number_text(State *s, double number) {
  TextVec text = {0};
  ctext_number(s->writer->heap, &text, number);
  const char *copy = arena_copy(s->writer->arena, text.data, text.count);
  vec_free(s->writer->heap, &text);
  return copy;
}

/* Texts with commas between, in lines. */
static const char *list_text(State *s, const char *const *texts, uint32_t count) {
  TextVec out = {0};
  Heap *heap = s->writer->heap;
  uint32_t start = 0;
  for (uint32_t i = 0; i < count; i++) {
    bool is_full = out.count - start + strlen(texts[i]) > LINE_WIDTH;
    if (i) text_printf(heap, &out, is_full ? ",\n%*s" : ", ", (int)(2 * s->depth + 4), "");
    if (is_full) start = out.count;
    text_append(heap, &out, texts[i], strlen(texts[i]));
  }
  const char *copy = arena_copy(s->writer->arena, count ? out.data : "", out.count);
  vec_free(heap, &out);
  return copy;
}

/* Letters and digits of a name of the model, with _ for the rest. */
static const char *plain_name(const RoutineWriter *writer, const char *name) {
  bool needs_letter = !name[0] || (name[0] >= '0' && name[0] <= '9');
  char *out = arena_printf(writer->arena, "%s%s", needs_letter ? "v" : "", name);
  for (char *c = out; *c; c++) {
    bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
    if (!is_plain) *c = '_';
  }
  return out;
}

const char *routine_c_name(const RoutineWriter *writer, const Routine *routine) {
  return arena_printf(writer->arena, "f%u_%s", routine->number,
                      plain_name(writer, names_text(writer->model->names, routine->name)));
}

/* ---- types ---- */

static uint32_t count_variables(const RoutineWriter *writer, Type type) {
  if (type.base != TYPE_RECORD) return 1;
  uint32_t count = 0;
  const Record *record = &writer->model->records.data[type.definition];
  for (uint32_t i = 0; i < record->fields.count; i++)
    count += count_variables(writer, record->fields.data[i].type);
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
    const char *label = plain_name(writer, names_text(writer->model->names, record->fields.data[i].name));
    const char *longer = names ? arena_printf(writer->arena, "%s%s_", name, label) : NULL;
    count += list_variables(writer, field, longer, dimensions + count, names ? names + count : NULL);
  }
  return count;
}

uint32_t type_variables(const RoutineWriter *writer, Type type, const char *name, uint8_t **dimensions,
                        const char ***names) {
  uint32_t count = count_variables(writer, type);
  *dimensions = arena_array(writer->arena, count, sizeof **dimensions);
  if (names) *names = arena_array(writer->arena, count, sizeof **names);
  return list_variables(writer, type, name, *dimensions, names ? *names : NULL);
}

static Type with_dimensions(Type type, uint32_t dimensions) {
  type.dimensions = (uint8_t)dimensions;
  return type;
}

static Type scalar_type(BaseType base) { return (Type){.base = (uint8_t)base}; }

static const char *c_type(uint8_t dimensions) { return dimensions ? "Array" : "Number"; }

/* ---- entries ---- */

static Entry make_entry(State *s, Type type) {
  Entry entry = {.type = type};
  entry.count = type_variables(s->writer, type, "", &entry.dimensions, NULL);
  entry.texts = arena_array(s->writer->arena, entry.count, sizeof *entry.texts);
  return entry;
}

static bool is_name(const char *text) {
  for (const char *c = text; *c; c++)
    if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') && !(*c >= '0' && *c <= '9') && *c != '_')
      return false;
  return true;
}

static const char *name_text(State *s, const char *text, uint8_t dimensions) {
  const char *name = format(s, "t%u", ++s->names);
  line(s, "const %s %s = %s;", c_type(dimensions), name, text);
  return name;
}

static void push_entry(State *s, Entry entry) {
  for (uint32_t i = 0; i < entry.count && entry.kind == ENTRY_VALUE; i++) {
    if (strlen(entry.texts[i]) > LONGEST_TEXT && !is_name(entry.texts[i]))
      entry.texts[i] = name_text(s, entry.texts[i], entry.dimensions[i]);
    if (entry.dimensions[i]) s->makes_arrays = s->uses_memory = true;
  }
  vec_push(s->writer->heap, &s->stack, entry);
}

static void push(State *s, Type type, const char *text) {
  Entry entry = make_entry(s, type);
  if (entry.count != 1) {
    refuse(s, "it uses records in a way that cannot be written as C");
    entry = make_entry(s, scalar_type(TYPE_REAL));
  }
  entry.texts[0] = text;
  push_entry(s, entry);
}

static void push_constant(State *s, Type type, double number) {
  push(s, type, format(s, "number(%s)", number_text(s, number)));
  vec_last(&s->stack).is_constant = true;
  vec_last(&s->stack).constant = number;
}

/* The topmost `count` entries, taken off the stack; valid until the next push. */
static Entry *pop(State *s, uint32_t count) {
  s->stack.count -= count;
  return s->stack.data + s->stack.count;
}

/* The texts of an entry become names, so that they can be written more than once. */
static void settle(State *s, Entry *entry) {
  if (entry->kind != ENTRY_VALUE) return;
  for (uint32_t i = 0; i < entry->count; i++)
    if (!is_name(entry->texts[i])) entry->texts[i] = name_text(s, entry->texts[i], entry->dimensions[i]);
}

/* What is computed but not used, except that it may fail. */
static void discard(State *s, const Entry *entry) {
  for (uint32_t v = 0; v < entry->count && !entry->is_constant; v++) line(s, "(void)%s;", entry->texts[v]);
}

static void push_placeholder(State *s) { push(s, scalar_type(TYPE_REAL), "undefined(m)"); }

static const char *scalar_text(State *s, const Entry *entry) {
  if (entry->kind == ENTRY_ALL) return "number(NAN)";
  if (entry->kind == ENTRY_VALUE && entry->count == 1 && !entry->dimensions[0]) return entry->texts[0];
  misfit(s);
  return "undefined(m)";
}

/* One variable of an entry as an Array, whatever its dimensions. */
static const char *variable_array(State *s, const Entry *entry, uint32_t i) {
  s->makes_arrays = s->uses_memory = true;
  if (entry->kind == ENTRY_RANGE) return format(s, "range_array(m, %s)", entry->texts[0]);
  return entry->dimensions[i] ? entry->texts[i] : format(s, "scalar(m, %s)", entry->texts[i]);
}

static const char *array_text(State *s, const Entry *entry) {
  if (entry->kind == ENTRY_ALL || entry->count != 1)
    refuse(s, "it uses records in a way that cannot be written as C");
  return entry->count ? variable_array(s, entry, 0) : "";
}

static const char *scalars_text(State *s, const Entry *entries, uint32_t count) {
  const char **texts = arena_array(s->writer->arena, count, sizeof *texts);
  for (uint32_t i = 0; i < count; i++) texts[i] = scalar_text(s, &entries[i]);
  return list_text(s, texts, count);
}

static const char *arrays_text(State *s, const Entry *entries, uint32_t count) {
  const char **texts = arena_array(s->writer->arena, count, sizeof *texts);
  for (uint32_t i = 0; i < count; i++) texts[i] = array_text(s, &entries[i]);
  return list_text(s, texts, count);
}

static bool all_scalar(const Entry *entries, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (entries[i].type.dimensions || entries[i].kind != ENTRY_VALUE) return false;
  return true;
}

static uint32_t most_dimensions(const Entry *entries, uint32_t count) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < count; i++)
    if (entries[i].type.dimensions > most) most = entries[i].type.dimensions;
  return most;
}

static BaseType number_base(const Entry *entries, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (entries[i].type.base != TYPE_INTEGER) return (BaseType)entries[i].type.base;
  return TYPE_INTEGER;
}

static BaseType join_base(BaseType a, BaseType b) {
  return a == TYPE_INTEGER && b == TYPE_REAL ? TYPE_REAL : a;
}

/* Pushes a number that Integer arithmetic gave, or any other. */
static void push_checked(State *s, Type type, const char *text) {
  if (type.base == TYPE_INTEGER) text = format(s, "integer%s(m, %s)", type.dimensions ? "s" : "", text);
  push(s, type, text);
}

/* ---- the end of statements ---- */

static void end_statement(State *s) {
  if (!s->makes_arrays || s->stack.count) return;
  line(s, "release(m);");
  s->makes_arrays = false;
}

/* A condition, with its arrays gone. */
static const char *condition_text(State *s, const Entry *entry) {
  const char *text = scalar_text(s, entry);
  if (!s->makes_arrays || s->stack.count) return text;
  text = name_text(s, text, 0);
  end_statement(s);
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

static void push_applied(State *s, Op op, Type type, const Entry *entries, uint32_t count) {
  s->writer->uses_op[op] = true;
  type.dimensions = (uint8_t)most_dimensions(entries, count);
  if (op_arity(op) != (int)count || count == 0 || count > 3) {
    push(s, type, type.dimensions ? "scalar(m, undefined(m))" : "undefined(m)");
  } else if (all_scalar(entries, count)) {
    push_checked(s, type,
                 format(s, "apply%u(m, %s, %s)", count, op_c_name(op), scalars_text(s, entries, count)));
  } else {
    push_checked(s, type,
                 format(s, "each(m, %s, %u, (const Array[]){%s})", op_c_name(op), count,
                        arrays_text(s, entries, count)));
  }
}

static void write_apply(State *s, Op op, uint32_t count) {
  const Entry *entries = pop(s, count);
  Type types[3] = {{0}};
  for (uint32_t i = 0; i < count && i < 3; i++) types[i] = entries[i].type;
  push_applied(s, op, apply_type(op, types, count < 3 ? count : 3), entries, count);
}

static void write_compare(State *s, Op op) {
  const Entry *pair = pop(s, 2);
  if (pair[0].type.base == TYPE_STRING) {
    s->writer->compares_texts = true;
    if (op != OP_EQUAL && op != OP_NOT_EQUAL) refuse(s, "it compares texts by their order");
  }
  push_applied(s, op, scalar_type(TYPE_BOOLEAN), pair, 2);
}

static void push_sum(State *s, const Entry *terms, uint32_t count, const char *signs) {
  Type type = terms[0].type;
  type.base = (uint8_t)number_base(terms, count);
  if (type.base == TYPE_STRING) {
    s->writer->makes_texts = true;
    for (uint32_t i = 0; i + 1 < count; i++) discard(s, &terms[i]);
    push_entry(s, terms[count - 1]);
  } else if (!all_scalar(terms, count)) {
    push_checked(s, type,
                 format(s, "sum_arrays(m, %u, \"%s\", (const Array[]){%s})", count, signs,
                        arrays_text(s, terms, count)));
  } else if (count == 1 && signs[0] == '-') {
    push_checked(s, type, format(s, "negate(m, %s)", scalar_text(s, terms)));
  } else if (count == 2 && signs[0] == '+') {
    push_checked(s, type,
                 format(s, "%s(m, %s)", signs[1] == '+' ? "add" : "subtract", scalars_text(s, terms, 2)));
  } else {
    push_checked(
        s, type,
        format(s, "sum(m, %u, \"%s\", (const Number[]){%s})", count, signs, scalars_text(s, terms, count)));
  }
}

static void write_sum(State *s, uint32_t count, const uint32_t *bits) {
  char *signs = arena_alloc(s->writer->arena, count + 1);
  for (uint32_t i = 0; i < count; i++) signs[i] = (bits[i / 32] >> (i % 32)) & 1 ? '-' : '+';
  push_sum(s, pop(s, count), count, signs);
}

/* A scalar goes with every element. */
static void write_each_sum(State *s, bool is_minus) {
  Entry pair[2];
  memcpy(pair, pop(s, 2), sizeof pair);
  for (uint32_t i = 0; i < 2; i++) {
    if (pair[i].type.dimensions || !pair[1 - i].type.dimensions) continue;
    settle(s, &pair[1 - i]);
    Entry wide = make_entry(s, with_dimensions(pair[i].type, pair[1 - i].type.dimensions));
    wide.texts[0] = format(s, "spread(m, %s, %s)", scalar_text(s, &pair[i]), array_text(s, &pair[1 - i]));
    pair[i] = wide;
  }
  push_sum(s, pair, 2, is_minus ? "+-" : "++");
}

static void write_product(State *s, Code code, bool is_each) {
  const Entry *pair = pop(s, 2);
  Op op = code == CODE_MULTIPLY ? OP_MULTIPLY : code == CODE_DIVIDE ? OP_DIVIDE : OP_POWER;
  Type type = scalar_type(op == OP_MULTIPLY ? number_base(pair, 2) : TYPE_REAL);
  uint32_t a = pair[0].type.dimensions, b = pair[1].type.dimensions;
  if (op == OP_MULTIPLY && !is_each && a && b) {
    s->writer->uses_op[op] = true;
    const char *text = format(s, "product(m, %s)", arrays_text(s, pair, 2));
    type.dimensions = (uint8_t)(a + b > 2 ? a + b - 2 : 0);
    push_checked(s, type, type.dimensions ? text : format(s, "only(m, %s)", text));
  } else if (op == OP_POWER && !is_each && a) {
    s->writer->uses_op[OP_MULTIPLY] = true;
    push(s, with_dimensions(type, 2),
         format(s, "matrix_power(m, %s, %s)", array_text(s, &pair[0]), scalar_text(s, &pair[1])));
  } else {
    push_applied(s, op, type, pair, 2);
  }
}

/* ---- arrays and records ---- */

static void push_collected(State *s, const Entry *items, uint32_t count) {
  Type type = items[0].type;
  bool is_constant = true;
  for (uint32_t i = 0; i < count; i++) {
    type.base = (uint8_t)join_base((BaseType)type.base, (BaseType)items[i].type.base);
    is_constant = is_constant && items[i].is_constant;
    if (items[i].count != items[0].count || items[i].type.dimensions != items[0].type.dimensions) {
      misfit(s);
      push_placeholder(s);
      return;
    }
  }
  type.dimensions++;
  Entry out = make_entry(s, type);
  const char **texts = arena_array(s->writer->arena, count, sizeof *texts);
  for (uint32_t v = 0; v < out.count; v++) {
    bool is_array = items[0].kind == ENTRY_RANGE || items[0].dimensions[v];
    for (uint32_t i = 0; i < count; i++)
      texts[i] = is_constant ? number_text(s, items[i].constant)
                 : is_array  ? variable_array(s, &items[i], v)
                             : items[i].texts[v];
    out.texts[v] = format(s,
                          is_constant ? "constants(m, %u, (const double[]){%s})"
                          : is_array  ? "stack(m, %u, (const Array[]){%s})"
                                      : "vector(m, %u, (const Number[]){%s})",
                          count, list_text(s, texts, count));
  }
  push_entry(s, out);
}

static void write_array(State *s, uint32_t count) {
  if (count) push_collected(s, pop(s, count), count);
  else push(s, with_dimensions(scalar_type(TYPE_REAL), 1), "empty(m, 1)");
}

static void write_matrix(State *s, uint32_t along, uint32_t count) {
  const Entry *parts = pop(s, count);
  uint32_t dimensions = most_dimensions(parts, count);
  if (dimensions < 2) dimensions = 2;
  Type type = with_dimensions(parts[0].type, dimensions);
  const char **texts = arena_array(s->writer->arena, count, sizeof *texts);
  for (uint32_t i = 0; i < count; i++) {
    if (parts[i].type.base == TYPE_REAL) type.base = TYPE_REAL;
    texts[i] = format(s, "promote(m, %u, %s)", dimensions, array_text(s, &parts[i]));
  }
  push(s, type,
       format(s, "concatenate(m, number(%u), %u, (const Array[]){%s})", along + 1, count,
              list_text(s, texts, count)));
}

static void write_range(State *s, bool has_step) {
  const Entry *v = pop(s, has_step ? 3 : 2), *last = &v[has_step ? 2 : 1];
  BaseType base = join_base((BaseType)v[0].type.base, (BaseType)last->type.base);
  if (has_step) base = join_base(base, (BaseType)v[1].type.base);
  Entry entry = make_entry(s, with_dimensions(scalar_type(base), 1));
  entry.kind = ENTRY_RANGE;
  entry.type.definition = v[0].type.definition;
  entry.texts[0] = format(s, "range(m, %s, %s, %s, %s)", scalar_text(s, &v[0]),
                          has_step ? scalar_text(s, &v[1]) : "number(1.0)", scalar_text(s, last),
                          base == TYPE_REAL ? "true" : "false");
  push_entry(s, entry);
}

/* Sizes of a field as a list of numbers, NAN for `:`. */
static const char *field_sizes(State *s, const Field *field) {
  const char **texts = arena_array(s->writer->arena, field->type.dimensions, sizeof *texts);
  for (uint32_t k = 0; k < field->type.dimensions; k++)
    texts[k] = field->sizes[k] == UINT32_MAX ? "number(NAN)" : format(s, "number(%u)", field->sizes[k]);
  return list_text(s, texts, field->type.dimensions);
}

static void write_record(State *s, uint32_t definition) {
  const Record *record = &s->writer->model->records.data[definition];
  Entry *fields = pop(s, record->fields.count);
  Entry out = make_entry(s, (Type){.base = TYPE_RECORD, .definition = definition});
  bool is_fit = true;
  for (uint32_t i = 0, v = 0; i < record->fields.count; i++) {
    const Field *field = &record->fields.data[i];
    for (uint32_t k = 0; k < fields[i].count && v < out.count; k++, v++) {
      bool is_sized = field->type.dimensions && field->type.base != TYPE_RECORD;
      out.texts[v] = fields[i].dimensions[k] || fields[i].kind == ENTRY_RANGE
                         ? variable_array(s, &fields[i], k)
                         : fields[i].texts[k];
      if (is_sized)
        out.texts[v] = format(s, "sized(m, %s, %u, (const Number[]){%s})", out.texts[v],
                              field->type.dimensions, field_sizes(s, field));
      if (!fields[i].dimensions[k] != !out.dimensions[v]) is_fit = false;
    }
    is_fit = is_fit && fields[i].count == count_variables(s->writer, field->type);
  }
  if (is_fit) {
    push_entry(s, out);
    return;
  }
  misfit(s);
  push_placeholder(s);
}

static void write_field(State *s, uint32_t number) {
  Entry record = *pop(s, 1);
  if (record.type.base != TYPE_RECORD) {
    misfit(s);
    push_placeholder(s);
    return;
  }
  const Record *definition = &s->writer->model->records.data[record.type.definition];
  uint32_t first = 0;
  for (uint32_t i = 0; i < number; i++) first += count_variables(s->writer, definition->fields.data[i].type);
  Type type = definition->fields.data[number].type;
  type.dimensions = (uint8_t)(type.dimensions + record.type.dimensions);
  Entry out = make_entry(s, type);
  for (uint32_t i = 0; i < out.count; i++) out.texts[i] = record.texts[first + i];
  push_entry(s, out);
}

/* ---- subscripts ---- */

static const char *subscript_number(State *s, const Entry *entry) {
  const char *text = scalar_text(s, entry);
  return entry->type.base == TYPE_BOOLEAN ? format(s, "ordinal(%s)", text) : text;
}

static const char *numbers_text(State *s, const Entry *subscripts, uint32_t count) {
  const char **texts = arena_array(s->writer->arena, count, sizeof *texts);
  for (uint32_t i = 0; i < count; i++) texts[i] = subscript_number(s, &subscripts[i]);
  return list_text(s, texts, count);
}

static const char *subscripts_text(State *s, const Entry *subscripts, uint32_t count) {
  const char **texts = arena_array(s->writer->arena, count, sizeof *texts);
  for (uint32_t i = 0; i < count; i++) {
    const Entry *entry = &subscripts[i];
    if (entry->kind == ENTRY_ALL) texts[i] = "every()";
    else if (all_scalar(entry, 1)) texts[i] = format(s, "at(%s)", subscript_number(s, entry));
    else if (entry->type.base == TYPE_BOOLEAN)
      texts[i] = format(s, "listed(ordinals(m, %s))", array_text(s, entry));
    else texts[i] = format(s, "listed(%s)", array_text(s, entry));
  }
  return list_text(s, texts, count);
}

static uint32_t scalar_subscripts(const Entry *subscripts, uint32_t count) {
  uint32_t scalars = 0;
  for (uint32_t i = 0; i < count; i++) scalars += all_scalar(&subscripts[i], 1);
  return scalars;
}

static void write_index(State *s, uint32_t count) {
  const Entry *list = pop(s, count + 1);
  Entry array = list[0], *subscripts = arena_array(s->writer->arena, count, sizeof *subscripts);
  for (uint32_t i = 0; i < count; i++) subscripts[i] = list[i + 1];
  if (array.type.dimensions < count) {
    misfit(s);
    push_placeholder(s);
    return;
  }
  for (uint32_t i = 0; i < count && array.count > 1; i++) settle(s, &subscripts[i]);
  uint32_t scalars = scalar_subscripts(subscripts, count);
  Entry out = make_entry(s, with_dimensions(array.type, array.type.dimensions - scalars));
  for (uint32_t v = 0; v < out.count; v++) {
    const char *whole = variable_array(s, &array, v);
    if (out.dimensions[v] == 0)
      out.texts[v] =
          format(s, "*place(m, %s, (const Number[]){%s})", whole, numbers_text(s, subscripts, count));
    else
      out.texts[v] = format(s, "part(m, %s, %u, (const Subscript[]){%s})", whole, count,
                            subscripts_text(s, subscripts, count));
  }
  push_entry(s, out);
}

static void store_part(State *s, const Entry *target, const Entry *value, const Entry *subscripts,
                       uint32_t count) {
  uint32_t scalars = scalar_subscripts(subscripts, count);
  for (uint32_t v = 0; v < target->count; v++) {
    if (target->dimensions[v] == scalars)
      line(s, "*place(m, %s, (const Number[]){%s}) = %s;", target->texts[v],
           numbers_text(s, subscripts, count), value->texts[v]);
    else
      line(s, "assign_part(m, %s, %u, (const Subscript[]){%s}, %s);", target->texts[v], count,
           subscripts_text(s, subscripts, count), variable_array(s, value, v));
  }
}

/* What is assigned to several variables may be parts of them, to be read before they are overwritten. */
static void secure(State *s, Entry *value, bool is_alias) {
  for (uint32_t v = 0; v < value->count && (value->count > 1 || is_alias); v++)
    if (value->dimensions[v])
      value->texts[v] = name_text(s, format(s, "copy(m, %s)", value->texts[v]), value->dimensions[v]);
    else if (strncmp(value->texts[v], "number(", 7) != 0) value->texts[v] = name_text(s, value->texts[v], 0);
}

/* The kinds of assignment of a whole array: to fixed sizes, to free ones, to a field. */
static void store_whole(State *s, const Entry *target, const Entry *value, const char *assign) {
  for (uint32_t v = 0; v < target->count; v++) {
    if (target->dimensions[v])
      line(s, "%s(m, &%s, %s);", assign, target->texts[v], variable_array(s, value, v));
    else line(s, "%s = %s;", target->texts[v], value->texts[v]);
  }
}

static void write_store(State *s, const uint32_t *place) {
  uint32_t steps = place[1], total = 0, used = 0, count = 0;
  for (uint32_t i = 0; i < steps; i++)
    if (place[2 + 2 * i] == STEP_INDEX) total += place[3 + 2 * i];
  Entry *popped = pop(s, total + 1), value = popped[0], list[TYPE_MAX_DIMENSIONS];
  Entry target = s->slots[place[0]];
  uint32_t dimensions = target.type.dimensions;
  for (uint32_t i = 0; i < steps; i++) {
    if (place[2 + 2 * i] == STEP_INDEX) {
      for (uint32_t k = 0; k < place[3 + 2 * i] && count < TYPE_MAX_DIMENSIONS; k++)
        list[count++] = popped[1 + used++];
      continue;
    }
    while (count < dimensions) list[count++] = (Entry){.kind = ENTRY_ALL};
    vec_push(s->writer->heap, &s->stack, target);
    write_field(s, place[3 + 2 * i]);
    target = *pop(s, 1);
    dimensions = target.type.dimensions;
  }
  uint32_t given = target.type.dimensions - scalar_subscripts(list, count);
  if (value.count != target.count || value.type.dimensions != given || value.kind == ENTRY_ALL) {
    misfit(s);
    return;
  }
  for (uint32_t i = 0; i < count && target.count > 1; i++) settle(s, &list[i]);
  bool is_alias = count && target.count == 1 && value.kind == ENTRY_VALUE && is_name(value.texts[0]);
  if (value.kind == ENTRY_VALUE) secure(s, &value, is_alias);
  bool is_free = s->routine->locals.data[place[0]].is_free || target.type.base == TYPE_RECORD;
  if (steps == 0) store_whole(s, &target, &value, is_free ? "assign_free" : "assign");
  else if (count == 0) store_whole(s, &target, &value, "assign_field");
  else store_part(s, &target, &value, list, count);
  end_statement(s);
}

/* ---- functions on arrays ---- */

static void push_size(State *s, const Entry *a, uint32_t count) {
  uint32_t dimensions = a[0].type.dimensions;
  const char *array = a[0].count ? variable_array(s, &a[0], 0) : "empty(m, 1)";
  if (count == 2)
    push(s, scalar_type(TYPE_INTEGER),
         format(s, "size_of(m, %s, %u, %s)", array, dimensions, scalar_text(s, &a[1])));
  else
    push(s, with_dimensions(scalar_type(TYPE_INTEGER), 1),
         format(s, "sizes_of(m, %s, %u)", array, dimensions));
}

static void push_fill(State *s, const Entry *a, uint32_t count) {
  Entry out = make_entry(s, with_dimensions(a[0].type, a[0].type.dimensions + count - 1));
  const char *sizes = scalars_text(s, a + 1, count - 1);
  for (uint32_t v = 0; v < out.count; v++)
    out.texts[v] =
        format(s, "fill(m, %s, %u, (const Number[]){%s})", variable_array(s, &a[0], v), count - 1, sizes);
  push_entry(s, out);
}

static void push_extreme(State *s, Op op, const Entry *a, uint32_t count) {
  s->writer->uses_op[op] = true;
  if (count == 2) {
    push_applied(s, op, scalar_type(a[1].type.base == TYPE_REAL ? TYPE_REAL : (BaseType)a[0].type.base), a,
                 2);
    return;
  }
  const char *none = a[0].type.base == TYPE_REAL ? "1.7976931348623157e308" : "2147483647";
  push(s, with_dimensions(a[0].type, 0),
       format(s, "extreme(m, %s, %s, %s%s)", op_c_name(op), array_text(s, &a[0]), op == OP_MIN ? "" : "-",
              none));
}

static BaseType real_if_one(const Entry *pair) {
  return pair[1].type.base == TYPE_REAL ? TYPE_REAL : (BaseType)pair[0].type.base;
}

/* Of one array argument, or of two. */
static void push_mapped(State *s, Type type, const char *name, const Entry *a, uint32_t count) {
  push(s, type, format(s, "%s(m, %s)", name, arrays_text(s, a, count)));
}

static void push_filled(State *s, const Entry *a, uint32_t count, const char *value) {
  push(s, with_dimensions(scalar_type(TYPE_INTEGER), count),
       format(s, "filled(m, %u, (const Number[]){%s}, %s)", count, scalars_text(s, a, count), value));
}

static void push_normalized(State *s, const Entry *a, uint32_t count) {
  const char *least = count == 2 ? scalar_text(s, &a[1]) : "number(100 * 2.220446049250313e-16)";
  s->writer->uses_op[OP_MULTIPLY] = s->writer->uses_op[OP_SQRT] = s->writer->uses_op[OP_DIVIDE] = true;
  push(s, with_dimensions(scalar_type(TYPE_REAL), 1),
       format(s, "normalize(m, %s, %s)", array_text(s, &a[0]), least));
}

static void write_builtin(State *s, Builtin builtin, uint32_t count) {
  const Entry *a = pop(s, count);
  Type type = count ? a[0].type : scalar_type(TYPE_REAL);
  const Type integer = scalar_type(TYPE_INTEGER);
  bool *uses = s->writer->uses_op;
  switch (builtin) {
  case BUILTIN_SIZE: push_size(s, a, count); break;
  case BUILTIN_NDIMS: push_constant(s, integer, type.dimensions); break;
  case BUILTIN_SCALAR: push_mapped(s, with_dimensions(type, 0), "only", a, 1); break;
  case BUILTIN_VECTOR: push_mapped(s, with_dimensions(type, 1), "as_vector", a, 1); break;
  case BUILTIN_MATRIX: push_mapped(s, with_dimensions(type, 2), "as_matrix", a, 1); break;
  case BUILTIN_PROMOTE: {
    if (!a[1].is_constant) misfit(s);
    uint32_t dimensions = a[1].is_constant ? (uint32_t)a[1].constant : 0;
    push(s, with_dimensions(type, dimensions),
         format(s, "promote(m, %u, %s)", dimensions, array_text(s, &a[0])));
    break;
  }
  case BUILTIN_TRANSPOSE: push_mapped(s, type, "transpose", a, 1); break;
  case BUILTIN_OUTER_PRODUCT:
    uses[OP_MULTIPLY] = true;
    push_mapped(s, with_dimensions(scalar_type(real_if_one(a)), 2), "outer_product", a, 2);
    break;
  case BUILTIN_SYMMETRIC: push_mapped(s, type, "symmetric", a, 1); break;
  case BUILTIN_CROSS:
    uses[OP_MULTIPLY] = true;
    push_mapped(s, with_dimensions(scalar_type(real_if_one(a)), 1), "cross", a, 2);
    break;
  case BUILTIN_SKEW: push_mapped(s, with_dimensions(type, 2), "skew", a, 1); break;
  case BUILTIN_IDENTITY:
    push(s, with_dimensions(integer, 2), format(s, "identity(m, %s)", scalar_text(s, a)));
    break;
  case BUILTIN_DIAGONAL: push_mapped(s, with_dimensions(type, 2), "diagonal", a, 1); break;
  case BUILTIN_ZEROS: push_filled(s, a, count, "0.0"); break;
  case BUILTIN_ONES: push_filled(s, a, count, "1.0"); break;
  case BUILTIN_FILL: push_fill(s, a, count); break;
  case BUILTIN_LINSPACE:
    uses[OP_MULTIPLY] = true;
    push(s, with_dimensions(scalar_type(TYPE_REAL), 1), format(s, "linspace(m, %s)", scalars_text(s, a, 3)));
    break;
  case BUILTIN_CAT: {
    Type joined = a[1].type;
    for (uint32_t i = 2; i < count; i++)
      if (a[i].type.base == TYPE_REAL) joined.base = TYPE_REAL;
    push(s, joined,
         format(s, "concatenate(m, %s, %u, (const Array[]){%s})", scalar_text(s, &a[0]), count - 1,
                arrays_text(s, a + 1, count - 1)));
    break;
  }
  case BUILTIN_ARRAY: push_collected(s, a, count); break;
  case BUILTIN_MIN: push_extreme(s, OP_MIN, a, count); break;
  case BUILTIN_MAX: push_extreme(s, OP_MAX, a, count); break;
  case BUILTIN_SUM:
    push_checked(s, with_dimensions(type, 0), format(s, "total(m, %s)", array_text(s, a)));
    break;
  case BUILTIN_PRODUCT:
    uses[OP_MULTIPLY] = true;
    push_checked(s, with_dimensions(type, 0), format(s, "total_product(m, %s)", array_text(s, a)));
    break;
  case BUILTIN_TEXT:
    s->writer->makes_texts = true;
    for (uint32_t i = 0; i < count; i++) discard(s, &a[i]);
    push(s, scalar_type(TYPE_STRING), "number(0.0)");
    break;
  case BUILTIN_INTEGER:
    push_entry(s, a[0]);
    vec_last(&s->stack).type.base = TYPE_INTEGER;
    break;
  case BUILTIN_VECTOR_LENGTH:
    uses[OP_MULTIPLY] = uses[OP_SQRT] = true;
    push_mapped(s, scalar_type(TYPE_REAL), "vector_length", a, 1);
    break;
  case BUILTIN_VECTOR_NORMALIZE: push_normalized(s, a, count); break;
  case BUILTIN_COUNT: break;
  }
}

/* ---- calls ---- */

void routine_want(RoutineWriter *writer, uint32_t routine) {
  if (map_get(&writer->known, routine) != MAP_NONE) return;
  map_put(&writer->known, routine, writer->routines.count);
  vec_push(writer->heap, &writer->routines, routine);
}

static uint32_t output_variables(const RoutineWriter *writer, const Routine *routine) {
  uint32_t count = 0;
  for (uint32_t o = 0; o < routine->outputs; o++)
    count += count_variables(writer, routine->locals.data[routine->inputs + o].type);
  return count;
}

/* The arguments in the order of the inputs; those not given are zero and said not to be given. */
static const char *arguments_text(State *s, const Routine *callee, const uint32_t *slots, const Entry *given,
                                  uint32_t count) {
  TextVec out = {0};
  Heap *heap = s->writer->heap;
  for (uint32_t i = 0; i < callee->inputs; i++) {
    const Local *local = &callee->locals.data[i];
    const Entry *entry = NULL;
    Entry none = make_entry(s, local->type);
    for (uint32_t k = 0; k < count; k++)
      if (slots[k] == i) entry = &given[k];
    if (entry && (entry->count != none.count || entry->type.dimensions != local->type.dimensions)) {
      misfit(s);
      entry = NULL;
    }
    for (uint32_t v = 0; v < none.count; v++) {
      if (!entry)
        text_printf(heap, &out, ", (%s){%s}", c_type(none.dimensions[v]), none.dimensions[v] ? "0" : "{0}");
      else if (none.dimensions[v]) text_printf(heap, &out, ", %s", variable_array(s, entry, v));
      else text_printf(heap, &out, ", %s", entry->texts[v]);
    }
    if (local->has_default) text_printf(heap, &out, ", %s", entry ? "true" : "false");
  }
  const char *copy = arena_copy(s->writer->arena, out.count ? out.data : "", out.count);
  vec_free(heap, &out);
  return copy;
}

static void write_call(State *s, const uint32_t *call, uint32_t count) {
  const Routine *callee = s->writer->model->routines.data[call[0]];
  routine_want(s->writer, call[0]);
  const char *arguments = arguments_text(s, callee, call + 2, pop(s, count), count);
  const char *name = routine_c_name(s->writer, callee);
  if (output_variables(s->writer, callee) == 1) {
    const char *text = format(s, "%s(m%s)", name, arguments);
    if (call[1] == 0) line(s, "(void)%s;", text);
    else push(s, callee->locals.data[callee->inputs].type, text);
    return;
  }
  Entry *outputs = arena_array(s->writer->arena, callee->outputs, sizeof *outputs);
  const char *places = "";
  for (uint32_t o = 0; o < callee->outputs; o++) {
    outputs[o] = make_entry(s, callee->locals.data[callee->inputs + o].type);
    for (uint32_t v = 0; v < outputs[o].count; v++) {
      outputs[o].texts[v] = format(s, "t%u", ++s->names);
      line(s, "%s %s;", c_type(outputs[o].dimensions[v]), outputs[o].texts[v]);
      places = format(s, "%s, &%s", places, outputs[o].texts[v]);
    }
  }
  line(s, "%s(m%s%s);", name, arguments, places);
  for (uint32_t o = 0; o < call[1]; o++) push_entry(s, outputs[o]);
}

/* ---- slots ---- */

static void write_local(State *s, uint32_t slot) {
  Entry entry = s->slots[slot];
  entry.texts = arena_array(s->writer->arena, entry.count, sizeof *entry.texts);
  memcpy(entry.texts, s->slots[slot].texts, entry.count * sizeof *entry.texts);
  vec_push(s->writer->heap, &s->stack, entry);
}

static void write_bind(State *s, uint32_t slot) {
  const Entry *value = pop(s, 1), *target = &s->slots[slot];
  if (value->count != target->count || value->type.dimensions != target->type.dimensions) {
    misfit(s);
    return;
  }
  for (uint32_t v = 0; v < target->count; v++) {
    const char *text =
        target->dimensions[v] ? format(s, "copy(m, %s)", variable_array(s, value, v)) : value->texts[v];
    if (slot < s->routine->inputs) line(s, "%s = %s;", target->texts[v], text);
    else line(s, "%s %s = %s;", c_type(target->dimensions[v]), target->texts[v], text);
    if (!s->is_read[slot] && slot >= s->routine->inputs) line(s, "(void)%s;", target->texts[v]);
  }
  s->is_bound[slot] = true;
}

/* New variables with the sizes given, for a record those of its fields behind them. */
static uint32_t declare_variables(State *s, Type type, const char *sizes, const char *const *names) {
  if (type.base != TYPE_RECORD) {
    const char *zero = type.base == TYPE_ENUMERATION ? "1.0" : "0.0";
    if (type.dimensions)
      line(s, "Array %s = filled(m, %u, (const Number[]){%s}, %s);", names[0], type.dimensions, sizes, zero);
    else line(s, "Number %s = number(%s);", names[0], zero);
    return 1;
  }
  const Record *record = &s->writer->model->records.data[type.definition];
  uint32_t count = 0;
  for (uint32_t i = 0; i < record->fields.count; i++) {
    const Field *field = &record->fields.data[i];
    Type inner = with_dimensions(field->type, (uint32_t)field->type.dimensions + type.dimensions);
    const char *own = field_sizes(s, field);
    const char *all = format(s, "%s%s%s", sizes, *sizes && *own ? ", " : "", own);
    count += declare_variables(s, inner, all, names + count);
  }
  return count;
}

static void write_declare(State *s, uint32_t slot, uint32_t count) {
  Entry *sizes = pop(s, count), *target = &s->slots[slot];
  bool is_input = slot < s->routine->inputs, has_arrays = false, is_open = true;
  for (uint32_t i = 0; i < count; i++) is_open = is_open && sizes[i].kind == ENTRY_ALL;
  if (is_input || s->is_bound[slot]) {
    if (count && !is_open && target->count)
      line(s, "expect(m, %s, %u, (const Number[]){%s});", target->texts[0], count,
           scalars_text(s, sizes, count));
    if (s->is_bound[slot] && s->makes_arrays) line(s, "hold(m);");
    return;
  }
  for (uint32_t i = 0; i < count && target->count > 1; i++) settle(s, &sizes[i]);
  declare_variables(s, target->type, scalars_text(s, sizes, count), target->texts);
  bool is_output = slot < s->routine->inputs + s->routine->outputs;
  for (uint32_t v = 0; v < target->count; v++) {
    has_arrays = has_arrays || target->dimensions[v];
    if ((!s->is_read[slot] && !is_output) || target->count > 1) line(s, "(void)%s;", target->texts[v]);
  }
  if (has_arrays) {
    line(s, "hold(m);");
    s->uses_memory = true;
  }
}

static Region *open_region(State *s, RegionKind kind, uint32_t end) {
  vec_push(s->writer->heap, &s->regions,
           (Region){.kind = kind, .end = end, .number = ++s->names, .at = s->body.count});
  return &vec_last(&s->regions);
}

/* ---- control flow ---- */

/* `and`, `or`: the rest only if the value so far does not decide. */
static void write_skip(State *s, Instruction i) {
  if (vec_last(&s->stack).type.dimensions) return;
  Entry value = *pop(s, 1);
  Region *region = open_region(s, REGION_SKIP, i.b);
  const char *name = format(s, "t%u", region->number);
  line(s, "Number %s = %s;", name, scalar_text(s, &value));
  line(s, "if (%struth(%s)) {", i.code == CODE_SKIP_FALSE ? "" : "!", name);
  s->depth++;
  push(s, scalar_type(TYPE_BOOLEAN), name);
}

static void close_regions(State *s, uint32_t position) {
  while (s->regions.count) {
    Region region = vec_last(&s->regions);
    if ((region.kind != REGION_SKIP && region.kind != REGION_DEFAULT) || region.end != position) return;
    s->regions.count--;
    if (region.kind == REGION_SKIP) {
      const char *name = format(s, "t%u", region.number);
      line(s, "%s = %s;", name, scalar_text(s, pop(s, 1)));
      push(s, scalar_type(TYPE_BOOLEAN), name);
    }
    s->depth--;
    line(s, "}");
  }
}

static void write_if(State *s) {
  line(s, "if (truth(%s)) {", condition_text(s, pop(s, 1)));
  s->depth++;
}

static void write_else(State *s, uint32_t position) {
  if (s->routine->code.data[position + 1].code == CODE_END_IF) return;
  s->depth--;
  line(s, "} else {");
  s->depth++;
}

static void end_region(State *s) {
  s->depth--;
  line(s, "}");
}

static const char *result_name(State *s, const Region *region, uint32_t v, uint32_t count) {
  return count == 1 ? format(s, "t%u", region->number) : format(s, "t%u_%u", region->number, v);
}

static void write_if_value(State *s) {
  const char *condition = scalar_text(s, pop(s, 1));
  open_region(s, REGION_VALUE, 0);
  line(s, "if (truth(%s)) {", condition);
  s->depth++;
}

static void give_result(State *s, const Region *region, const Entry *value) {
  for (uint32_t v = 0; v < value->count; v++)
    line(s, "%s = %s;", result_name(s, region, v, value->count),
         value->type.dimensions || value->dimensions[v] ? variable_array(s, value, v) : value->texts[v]);
}

static void write_else_value(State *s) {
  Region *region = &vec_last(&s->regions);
  region->then = *pop(s, 1);
  give_result(s, region, &region->then);
  s->depth--;
  line(s, "} else {");
  s->depth++;
}

static void write_end_value(State *s) {
  Region region = vec_pop(&s->regions);
  Entry value = *pop(s, 1);
  bool is_fit = value.count == region.then.count && value.type.dimensions == region.then.type.dimensions;
  if (is_fit) give_result(s, &region, &value);
  end_region(s);
  if (!is_fit) {
    misfit(s);
    value = region.then;
  }
  Type type = region.then.type;
  type.base = (uint8_t)join_base((BaseType)type.base, (BaseType)value.type.base);
  Entry out = make_entry(s, type);
  for (uint32_t v = out.count; v-- > 0;) {
    out.texts[v] = result_name(s, &region, v, out.count);
    insert(s, region.at,
           format(s, "%*s%s %s;\n", (int)(2 * s->depth), "", c_type(out.dimensions[v]), out.texts[v]));
  }
  push_entry(s, out);
}

/* The head of a loop over the range on the stack, and the element. */
static void begin_loop(State *s, Region *region, const Entry *range, uint32_t slot) {
  uint32_t k = region->number;
  region->is_range = range->kind == ENTRY_RANGE;
  if (region->is_range) line(s, "const Range r%u = %s;", k, range->texts[0]);
  else if (!region->is_held) line(s, "const Array r%u = %s;", k, array_text(s, range));
  line(s, "for (long k%u = 0; k%u < r%u.%s; k%u++) {", k, k, k, region->is_range ? "count" : "sizes[0]", k);
  s->depth++;
  if (!s->is_read[slot]) return;
  const Entry *target = &s->slots[slot];
  const char *element = region->is_range          ? format(s, "range_element(r%u, k%u)", k, k)
                        : target->type.dimensions ? format(s, "slice(r%u, k%u)", k, k)
                                                  : format(s, "r%u.data[k%u]", k, k);
  line(s, "const %s %s = %s;", c_type((uint8_t)target->type.dimensions), target->texts[0], element);
}

static void write_for(State *s, uint32_t slot) {
  Entry range = *pop(s, 1);
  Region *region = open_region(s, REGION_LOOP, 0);
  uint32_t k = region->number;
  region->is_held = range.kind != ENTRY_RANGE;
  if (region->is_held) {
    line(s, "const Array r%u = copy(m, %s);", k, array_text(s, &range));
    line(s, "const Mark outside%u = m->floor;", k);
    line(s, "hold(m);");
    line(s, "const Mark inside%u = m->floor;", k);
  }
  begin_loop(s, region, &range, slot);
  line(s, "step(m);");
  s->makes_arrays = false;
}

static void write_while(State *s) {
  line(s, "for (;;) {");
  s->depth++;
  line(s, "step(m);");
}

static void write_while_test(State *s) {
  line(s, "if (!truth(%s)) break;", condition_text(s, pop(s, 1)));
  end_statement(s);
}

static void write_end_for(State *s) {
  Region region = vec_pop(&s->regions);
  end_region(s);
  if (region.is_held) line(s, "leave_loop(m, inside%u, outside%u);", region.number, region.number);
}

static void write_each(State *s, uint32_t slot) {
  Entry range = *pop(s, 1);
  Region *region = open_region(s, REGION_LOOP, 0);
  begin_loop(s, region, &range, slot);
}

static void write_each_next(State *s) {
  Region region = vec_pop(&s->regions);
  Entry value = *pop(s, 1);
  uint32_t k = region.number;
  Entry out = make_entry(s, with_dimensions(value.type, value.type.dimensions + 1u));
  for (uint32_t v = 0; v < out.count; v++) {
    out.texts[v] = result_name(s, &region, v, out.count);
    line(s, "collect(m, &%s, k%u, r%u.%s, %s);", out.texts[v], k, k, region.is_range ? "count" : "sizes[0]",
         variable_array(s, &value, v));
  }
  end_region(s);
  for (uint32_t v = out.count; v-- > 0;)
    insert(
        s, region.at,
        format(s, "%*sArray %s = empty(m, %u);\n", (int)(2 * s->depth), "", out.texts[v], out.dimensions[v]));
  push_entry(s, out);
}

static void write_drop(State *s, uint32_t count) {
  const Entry *entries = pop(s, count);
  for (uint32_t i = 0; i < count; i++) discard(s, &entries[i]);
  end_statement(s);
}

static void write_assert(State *s) {
  const Entry *v = pop(s, 3);
  discard(s, &v[1]);
  const char *condition = condition_text(s, &v[0]);
  if (v[2].is_constant && v[2].constant != 1) line(s, "(void)%s;", condition);
  else if (v[2].is_constant) line(s, "if (!truth(%s)) fail(m);", condition);
  else line(s, "if (!truth(%s) && %s.c[0] == 1) fail(m);", condition, scalar_text(s, &v[2]));
  end_statement(s);
}

static void write_special(State *s, uint32_t count) {
  Type type = count ? pop(s, count)[0].type : scalar_type(TYPE_REAL);
  push(s, type, type.dimensions ? "scalar(m, undefined(m))" : "undefined(m)");
}

/* ---- one routine ---- */

static void write_instruction(State *s, uint32_t position) {
  const Routine *routine = s->routine;
  Instruction i = routine->code.data[position];
  const uint32_t *extra = routine->extra.data + i.b;
  switch ((Code)i.code) {
  case CODE_CONSTANT: push_constant(s, scalar_type((BaseType)i.a), routine->constants.data[i.b]); break;
  case CODE_LITERAL: push_constant(s, (Type){.base = TYPE_ENUMERATION, .definition = i.b}, i.a); break;
  case CODE_STRING: push_constant(s, scalar_type(TYPE_STRING), i.b); break;
  case CODE_LOCAL: write_local(s, i.b); break;
  case CODE_ALL: vec_push(s->writer->heap, &s->stack, (Entry){.kind = ENTRY_ALL}); break;
  case CODE_FIELD: write_field(s, i.b); break;
  case CODE_INDEX: write_index(s, i.b); break;
  case CODE_ARRAY: write_array(s, i.b); break;
  case CODE_MATRIX: write_matrix(s, i.a, i.b); break;
  case CODE_RANGE: write_range(s, i.a != 0); break;
  case CODE_RECORD: write_record(s, i.b); break;
  case CODE_SUM: write_sum(s, i.a, extra); break;
  case CODE_MULTIPLY:
  case CODE_DIVIDE:
  case CODE_POWER: write_product(s, (Code)i.code, i.a != 0); break;
  case CODE_ADD_EACH: write_each_sum(s, false); break;
  case CODE_SUBTRACT_EACH: write_each_sum(s, true); break;
  case CODE_COMPARE: write_compare(s, (Op)i.a); break;
  case CODE_APPLY: write_apply(s, (Op)i.b, i.a); break;
  case CODE_SKIP_FALSE:
  case CODE_SKIP_TRUE: write_skip(s, i); break;
  case CODE_BUILTIN: write_builtin(s, (Builtin)i.b, i.a); break;
  case CODE_SPECIAL: write_special(s, i.a); break;
  case CODE_CONVERT: vec_last(&s->stack).type.base = (uint8_t)i.a; break;
  case CODE_CALL: write_call(s, extra, i.a); break;
  case CODE_BIND: write_bind(s, i.b); break;
  case CODE_DROP: write_drop(s, i.a); break;
  case CODE_IF_VALUE: write_if_value(s); break;
  case CODE_ELSE_VALUE: write_else_value(s); break;
  case CODE_END_VALUE: write_end_value(s); break;
  case CODE_EACH: write_each(s, i.a); break;
  case CODE_EACH_NEXT: write_each_next(s); break;
  case CODE_DECLARE: write_declare(s, i.b, i.a); break;
  case CODE_DEFAULT:
    open_region(s, REGION_DEFAULT, i.b);
    line(s, "if (!given%u) {", i.a);
    s->depth++;
    break;
  case CODE_STORE: write_store(s, extra); break;
  case CODE_IF: write_if(s); break;
  case CODE_ELSE: write_else(s, position); break;
  case CODE_END_IF: end_region(s); break;
  case CODE_FOR: write_for(s, i.a); break;
  case CODE_END_FOR: write_end_for(s); break;
  case CODE_WHILE: write_while(s); break;
  case CODE_WHILE_TEST: write_while_test(s); break;
  case CODE_END_WHILE: end_region(s); break;
  case CODE_BREAK: line(s, "break;"); break;
  case CODE_RETURN:
    line(s, "goto done;");
    s->has_return = true;
    break;
  case CODE_ASSERT: write_assert(s); break;
  case CODE_TERMINATE:
    pop(s, 1);
    line(s, "fail(m);");
    break;
  case CODE_MISSING:
    s->is_missing = true;
    line(s, "fail(m);");
    break;
  case CODE_EXTERNAL: line(s, "fail(m);"); break;
  case CODE_BODY:
  case CODE_LOOP:
  case CODE_END: break;
  case CODE_GLOBAL:
  case CODE_SIZES:
  case CODE_WHEN:
  case CODE_ELSE_WHEN:
  case CODE_END_WHEN:
  case CODE_REINIT:
  case CODE_COUNT: refuse(s, "it is not a function"); break;
  }
}

/* Names of the variables of a slot, none twice. */
static void name_slot(State *s, Map *taken, Names *names, uint32_t slot) {
  const Local *local = &s->routine->locals.data[slot];
  Entry *entry = &s->slots[slot];
  *entry = make_entry(s, local->type);
  const char *base = plain_name(s->writer, names_text(s->writer->model->names, local->name));
  for (uint32_t again = 0;; again++) {
    bool is_free = true;
    const char *name = again ? format(s, "%s%u_", base, slot) : format(s, "%s_", base);
    if (again > 1) name = format(s, "%s%u_%u_", base, slot, again);
    type_variables(s->writer, local->type, name, &entry->dimensions, &entry->texts);
    for (uint32_t v = 0; v < entry->count; v++)
      is_free =
          is_free && map_get(taken, names_add(names, entry->texts[v], strlen(entry->texts[v]))) == MAP_NONE;
    if (is_free) break;
  }
  for (uint32_t v = 0; v < entry->count; v++)
    map_put(taken, names_add(names, entry->texts[v], strlen(entry->texts[v])), 1);
}

static void name_slots(State *s) {
  uint32_t count = s->routine->locals.count;
  Map taken = map_make(s->writer->heap);
  Names names = names_make(s->writer->heap);
  s->slots = arena_array(s->writer->arena, count, sizeof *s->slots);
  s->is_read = arena_array(s->writer->arena, count, sizeof *s->is_read);
  s->is_bound = arena_array(s->writer->arena, count, sizeof *s->is_bound);
  for (uint32_t slot = 0; slot < count; slot++) name_slot(s, &taken, &names, slot);
  for (uint32_t i = 0; i < s->routine->code.count; i++)
    if (s->routine->code.data[i].code == CODE_LOCAL) s->is_read[s->routine->code.data[i].b] = true;
  map_free(&taken);
  names_free(&names);
}

/* The line that declares the function. */
static void put_signature(State *s, TextVec *out) {
  const Routine *routine = s->routine;
  Heap *heap = s->writer->heap;
  uint32_t results = output_variables(s->writer, routine), number = 0;
  const Entry *first = &s->slots[routine->inputs];
  text_printf(heap, out, "static %s %s(Memory *m",
              results == 1 && first->count ? c_type(first->dimensions[0]) : "void",
              routine_c_name(s->writer, routine));
  for (uint32_t i = 0; i < routine->inputs; i++) {
    for (uint32_t v = 0; v < s->slots[i].count; v++)
      text_printf(heap, out, ", %s %s", c_type(s->slots[i].dimensions[v]), s->slots[i].texts[v]);
    if (routine->locals.data[i].has_default) text_printf(heap, out, ", bool given%u", i);
  }
  for (uint32_t o = 0; o < routine->outputs && results > 1; o++)
    for (uint32_t v = 0; v < first[o].count; v++, number++)
      text_printf(heap, out, ", %s *out%u", c_type(first[o].dimensions[v]), number);
  text_printf(heap, out, ")");
}

static bool has_array_results(const State *s) {
  for (uint32_t o = 0; o < s->routine->outputs; o++)
    for (uint32_t v = 0; v < s->slots[s->routine->inputs + o].count; v++)
      if (s->slots[s->routine->inputs + o].dimensions[v]) return true;
  return false;
}

static bool calls_others(const Routine *routine) {
  for (uint32_t i = 0; i < routine->code.count; i++)
    if (routine->code.data[i].code == CODE_CALL) return true;
  return false;
}

static void put_begin(State *s, TextVec *out) {
  const Routine *routine = s->routine;
  Heap *heap = s->writer->heap;
  text_printf(heap, out, "/* %s */\n",
              plain_name(s->writer, names_text(s->writer->model->names, routine->name)));
  put_signature(s, out);
  text_printf(heap, out, " {\n");
  for (uint32_t i = 0; i < routine->inputs; i++)
    for (uint32_t v = 0; v < s->slots[i].count; v++)
      if (!s->is_read[i] || s->slots[i].count > 1)
        text_printf(heap, out, "  (void)%s;\n", s->slots[i].texts[v]);
  if (calls_others(routine)) text_printf(heap, out, "  enter_call(m);\n");
  if (s->uses_memory) text_printf(heap, out, "  const Frame frame = enter(m);\n");
  if (!s->uses_memory && !calls_others(routine)) text_printf(heap, out, "  (void)m;\n");
}

static void put_end(State *s, TextVec *out) {
  const Routine *routine = s->routine;
  Heap *heap = s->writer->heap;
  uint32_t results = output_variables(s->writer, routine), number = 0;
  if (s->has_return) text_printf(heap, out, "done:\n");
  for (uint32_t o = 0; o < routine->outputs && results > 1; o++)
    for (uint32_t v = 0; v < s->slots[routine->inputs + o].count; v++, number++)
      text_printf(heap, out, "  *out%u = %s;\n", number, s->slots[routine->inputs + o].texts[v]);
  if (s->uses_memory)
    text_printf(heap, out, "  leave%s(m, frame);\n", has_array_results(s) ? "_results" : "");
  if (calls_others(routine)) text_printf(heap, out, "  leave_call(m);\n");
  for (uint32_t o = 0; o < routine->outputs && results == 1; o++)
    if (s->slots[routine->inputs + o].count)
      text_printf(heap, out, "  return %s;\n", s->slots[routine->inputs + o].texts[0]);
  if (s->has_return && results != 1) text_printf(heap, out, "  return;\n");
  text_printf(heap, out, "}\n\n");
}

const char *routine_write(RoutineWriter *writer, const Routine *routine) {
  State s = {.writer = writer, .routine = routine, .depth = 1};
  if (routine->is_broken) return "it has errors";
  name_slots(&s);
  uint32_t i = 0;
  for (; i < routine->code.count && !s.refusal; i++) {
    close_regions(&s, i);
    write_instruction(&s, i);
    s.is_missing = s.is_missing && (s.stack.count || routine->code.data[i].code == CODE_MISSING);
  }
  if (!s.refusal) {
    close_regions(&s, i);
    put_signature(&s, &writer->prototypes);
    text_printf(writer->heap, &writer->prototypes, ";\n\n");
    put_begin(&s, &writer->functions);
    if (s.body.count) text_append(writer->heap, &writer->functions, s.body.data, s.body.count);
    put_end(&s, &writer->functions);
  }
  vec_free(writer->heap, &s.body);
  vec_free(writer->heap, &s.stack);
  vec_free(writer->heap, &s.regions);
  return s.refusal;
}
