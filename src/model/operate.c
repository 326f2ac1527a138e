/* operate: instructions on values: loads, operators, arrays, records; their effect on arrays is in values.c and
 * builtins.c. */
#include "model/machine.h"

#include <string.h>

/* ---- loads ---- */

bool step_constant(Machine *machine, BaseType base, double number) {
  machine_push(machine, value_scalar(machine, base, number));
  return true;
}

bool step_string(Machine *machine, Name text) {
  const Domain *domain = machine->domain;
  Value value = {.type = {.base = TYPE_STRING}, .count = 1, .data = machine_alloc(machine, domain->size)};
  domain->text(domain->context, text, value.data);
  machine_push(machine, value);
  return true;
}

bool step_literal(Machine *machine, uint32_t number, uint32_t enumeration) {
  Value value = value_scalar(machine, TYPE_ENUMERATION, number);
  value.type.definition = enumeration;
  machine_push(machine, value);
  return true;
}

bool step_local(Machine *machine, uint32_t slot) {
  const Frame *frame = frame_top(machine);
  if (!slot_is_set(&frame->slots[slot]))
    return machine_error(machine, "`%s` is used before it has a value",
                         names_text(machine->names, frame->routine->locals.data[slot].name));
  machine_push(machine, frame->slots[slot]);
  return true;
}

bool step_global(Machine *machine, uint32_t component) {
  Value value;
  if (!machine->domain->global) return machine_unknown(machine, "a variable");
  ExecuteStatus status =
      machine->domain->global(machine->domain->context, component, false, machine_span(machine), &value);
  if (status == EXECUTE_OK) machine_push(machine, value);
  else if (status == EXECUTE_UNKNOWN) machine_unknown(machine, "a variable");
  else machine->status = status;
  return status == EXECUTE_OK;
}

bool step_sizes(Machine *machine, uint32_t component) {
  Value value, out;
  if (!machine->domain->global) return machine_unknown(machine, "a size");
  ExecuteStatus status =
      machine->domain->global(machine->domain->context, component, true, machine_span(machine), &value);
  if (status != EXECUTE_OK) {
    machine->status = status;
    return false;
  }
  if (!builtin_run(machine, BUILTIN_SIZE, &value, 1, &out)) return false;
  machine_push(machine, out);
  return true;
}

/* Copies the value, so that a later store into the slot does not change its source. */
bool step_bind(Machine *machine, uint32_t slot) {
  Value value = vec_pop(&machine->stack);
  frame_top(machine)->slots[slot] = value_copy(machine, &value);
  return true;
}

bool step_index(Machine *machine, uint32_t lead, uint32_t count) {
  (void)lead;
  Value out, *v = machine_top(machine, count + 1);
  if (!value_index(machine, &v[0], &v[1], count, &out)) return false;
  machine_replace(machine, count + 1, out);
  return true;
}

bool step_all(Machine *machine) {
  machine_push(machine, (Value){.type = {.base = TYPE_NOTHING}});
  return true;
}

bool step_array(Machine *machine, uint32_t count) {
  Value out;
  if (!value_array(machine, machine_top(machine, count), count, type_scalar(TYPE_REAL), &out)) return false;
  machine_replace(machine, count, out);
  return true;
}

bool step_matrix(Machine *machine, uint32_t along, uint32_t count) {
  Value out;
  if (!builtin_matrix(machine, machine_top(machine, count), count, along, &out)) return false;
  machine_replace(machine, count, out);
  return true;
}

bool step_builtin(Machine *machine, Builtin builtin, uint32_t count) {
  Value out;
  if (!builtin_run(machine, builtin, machine_top(machine, count), count, &out)) return false;
  machine_replace(machine, count, out);
  return true;
}

bool step_convert(Machine *machine, uint32_t literals, uint32_t enumeration) {
  Value *value = machine_top(machine, 1);
  double number;
  bool is_known = machine->domain->known(machine->domain->context, value->data, &number);
  if (is_known && !(number >= 1 && number <= literals))
    return machine_error(machine, "the enumeration has no literal number %.17g, only %u", number, literals);
  value->type = (Type){.base = TYPE_ENUMERATION, .definition = enumeration};
  return true;
}

bool step_field(Machine *machine, uint32_t field) {
  Value value = machine_top(machine, 1)->fields[field];
  *machine_top(machine, 1) = value;
  return true;
}

bool step_default(Machine *machine, uint32_t slot, uint32_t target) {
  Frame *frame = frame_top(machine);
  if (slot_is_set(&frame->slots[slot])) frame->position = target - 1;
  return true;
}

bool step_drop(Machine *machine, uint32_t count) {
  machine->stack.count -= count;
  statement_end(machine);
  return true;
}

/* ---- operators ---- */

static BaseType number_base(const Value *values, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (values[i].type.base != TYPE_INTEGER) return (BaseType)values[i].type.base;
  return TYPE_INTEGER;
}

Type apply_type(Op op, const Type *arguments, uint32_t count) {
  Type type = count ? arguments[count > 1 && (op == OP_SMOOTH || op == OP_IF) ? 1 : 0] : (Type){0};
  switch (op_kind(op)) {
  case KIND_RELATION: type.base = TYPE_BOOLEAN; return type;
  case KIND_LOGIC:
    if (op != OP_IF) type.base = TYPE_BOOLEAN;
    return type;
  case KIND_LANGUAGE:
    if (op == OP_EDGE || op == OP_CHANGE || op == OP_SAMPLE || op == OP_INITIAL || op == OP_TERMINAL)
      type.base = TYPE_BOOLEAN;
    return type;
  case KIND_LEAF:
  case KIND_SMOOTH:
  case KIND_PIECEWISE: break;
  }
  bool keeps = op == OP_ABS || op == OP_MIN || op == OP_MAX || op == OP_DIV || op == OP_MOD || op == OP_REM;
  type.base = op == OP_SIGN || op == OP_INTEGER || keeps ? TYPE_INTEGER : TYPE_REAL;
  for (uint32_t i = count; i-- > 0 && keeps;)
    if (arguments[i].base != TYPE_INTEGER) type.base = arguments[i].base;
  return type;
}

bool step_apply(Machine *machine, Op op, uint32_t count) {
  Value out;
  const Value *arguments = machine_top(machine, count);
  Type types[3] = {{0}};
  for (uint32_t i = 0; i < count && i < 3; i++) types[i] = arguments[i].type;
  if (!value_apply(machine, op, apply_type(op, types, count < 3 ? count : 3), arguments, count, &out)) return false;
  machine_replace(machine, count, out);
  return true;
}

bool step_compare(Machine *machine, Op op) {
  const Domain *domain = machine->domain;
  const Value *pair = machine_top(machine, 2);
  double a, b;
  if (pair[0].type.base != TYPE_STRING || !domain->known(domain->context, pair[0].data, &a) ||
      !domain->known(domain->context, pair[1].data, &b))
    return step_apply(machine, op, 2);
  int order = strcmp(names_text(machine->names, (Name)a), names_text(machine->names, (Name)b));
  double sign[2] = {order, 0}, truth = 0;
  op_evaluate(op, sign, &truth);
  machine_replace(machine, 2, value_scalar(machine, TYPE_BOOLEAN, truth));
  return true;
}

bool step_sum(Machine *machine, uint32_t count, const uint32_t *signs) {
  Value out;
  const Value *terms = machine_top(machine, count);
  Type type = terms[0].type;
  type.base = (uint8_t)number_base(terms, count);
  if (!value_sum(machine, signs, type, terms, count, &out)) return false;
  machine_replace(machine, count, out);
  return true;
}

bool step_each_sum(Machine *machine, bool is_minus) {
  const Domain *domain = machine->domain;
  const Value *pair = machine_top(machine, 2);
  if (pair[0].type.dimensions == pair[1].type.dimensions)
    return step_sum(machine, 2, (const uint32_t[]){is_minus ? 2 : 0});
  /* A scalar is combined with every element: repeat it. */
  const Value *shape = pair[0].type.dimensions ? &pair[0] : &pair[1],
              *scalar = pair[0].type.dimensions ? &pair[1] : &pair[0];
  Value spread;
  Type type = scalar->type;
  type.dimensions = shape->type.dimensions;
  if (!value_make_checked(machine, type, shape->sizes, &spread)) return false;
  for (uint32_t i = 0; i < spread.count; i++)
    memcpy(spread.data + (size_t)i * domain->size, scalar->data, domain->size);
  *machine_top(machine, shape == &pair[0] ? 1 : 2) = spread;
  return step_sum(machine, 2, (const uint32_t[]){is_minus ? 2 : 0});
}

bool step_product(Machine *machine, Op op, bool is_each) {
  Value out, *pair = machine_top(machine, 2);
  Type type = pair[0].type;
  type.base = (uint8_t)number_base(pair, 2);
  if (op != OP_MULTIPLY) type.base = TYPE_REAL;
  bool fits;
  if (is_each) fits = value_apply(machine, op, type, pair, 2, &out);
  else if (op == OP_MULTIPLY) fits = value_multiply(machine, type, &pair[0], &pair[1], &out);
  else if (op == OP_POWER) fits = value_power(machine, type, &pair[0], &pair[1], &out);
  else fits = value_apply(machine, op, type, pair, 2, &out);
  if (fits) machine_replace(machine, 2, out);
  return fits;
}

BaseType special_base(Special special) {
  static const uint8_t bases[SPECIAL_COUNT] = {
#define SPECIAL(id, name, fewest, most, rule, base, ...) [SPECIAL_##id] = base,
#include "model/specials.def"
  };
  return (BaseType)bases[special];
}

/* The value of an operator for scalar arguments. */
static bool apply_special(Machine *machine, Special special, Type type, const char *scalars, uint32_t count,
                          char *out) {
  const Domain *domain = machine->domain;
  ExecuteStatus status = domain->special(domain->context, special, type, scalars, count, machine_span(machine), out);
  if (status == EXECUTE_UNKNOWN) return machine_unknown(machine, "a factor, a counter or the period of a clock");
  if (status == EXECUTE_OK) return true;
  machine->status = EXECUTE_ERROR;
  return false;
}

/* spatialDistribution: its arguments one after another. Without them the points are {0, 1} and the values {0, 0}. */
static bool step_transport(Machine *machine, Special special, uint32_t count) {
  const Domain *domain = machine->domain;
  const Value *arguments = machine_top(machine, count);
  uint32_t size = domain->size, points = count > 4 ? arguments[4].count : 2,
           values = count > 5 ? arguments[5].count : 2;
  Value out;
  if (points != values)
    return machine_error(machine, "initialPoints has %u elements, initialValues %u", points, values);
  if (!value_make_checked(machine, (Type){.base = TYPE_REAL}, NULL, &out)) return false;
  uint32_t scalars = TRANSPORT_SCALARS + 2 * points, at = 0;
  char *list = machine_alloc(machine, (size_t)scalars * size);
  for (uint32_t k = 0; k < count; at += arguments[k++].count)
    memcpy(list + (size_t)at * size, arguments[k].data, (size_t)arguments[k].count * size);
  for (; at < scalars; at++) domain->constant(domain->context, at == TRANSPORT_SCALARS + 1, list + (size_t)at * size);
  if (!apply_special(machine, special, out.type, list, scalars, out.data)) return false;
  machine_replace(machine, count, out);
  return true;
}

bool step_special(Machine *machine, Special special, uint32_t count) {
  const Domain *domain = machine->domain;
  if (!domain->special) return machine_error(machine, "this operator cannot be used in a function");
  if (special == SPECIAL_TRANSPORT || special == SPECIAL_TRANSPORT_END) return step_transport(machine, special, count);
  const Value *arguments = machine_top(machine, count);
  BaseType base = special_base(special);
  Type type = count ? arguments[0].type : type_scalar(base);
  if (base != TYPE_NOTHING) type.base = (uint8_t)base;
  Value out;
  uint32_t size = domain->size;
  if (!value_make_checked(machine, type, count ? arguments[0].sizes : NULL, &out)) return false;
  char *scalars = machine_alloc(machine, (size_t)count * size);
  for (uint32_t i = 0; i < out.count; i++) {
    for (uint32_t k = 0; k < count; k++)
      memcpy(scalars + (size_t)k * size, arguments[k].data + (arguments[k].type.dimensions ? (size_t)i * size : 0),
             size);
    if (!apply_special(machine, special, type, scalars, count, out.data + (size_t)i * size)) return false;
  }
  machine_replace(machine, count, out);
  return true;
}

bool step_record(Machine *machine, uint32_t definition) {
  const Record *record = machine_record(machine, definition);
  uint32_t count = record->fields.count;
  Value out = {.type = {.base = TYPE_RECORD, .definition = definition}, .count = 1};
  out.fields = machine_alloc(machine, count * sizeof *out.fields);
  for (uint32_t i = 0; i < count; i++) {
    out.fields[i] = machine_top(machine, count)[i];
    out.fields[i].type.base = record->fields.data[i].type.base;
    for (uint32_t k = 0; k < record->fields.data[i].type.dimensions; k++)
      if (record->fields.data[i].sizes[k] != UINT32_MAX && record->fields.data[i].sizes[k] != out.fields[i].sizes[k])
        return machine_error(machine, "field `%s` of record `%s` has the wrong size: %s",
                             names_text(machine->names, record->fields.data[i].name),
                             names_text(machine->names, record->name), value_sizes_text(machine, &out.fields[i]));
  }
  machine_replace(machine, count, out);
  return true;
}

bool step_range(Machine *machine, bool has_step) {
  Value out, *v = machine_top(machine, has_step ? 3 : 2);
  if (!value_range(machine, &v[0], has_step ? &v[1] : NULL, &v[has_step ? 2 : 1], &out)) return false;
  machine_replace(machine, has_step ? 3 : 2, out);
  return true;
}
