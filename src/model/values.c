/* values: array semantics of the machine, the same for every kind of scalar: shapes, element-wise
 * operators, products, slices.
 *
 * Invariant: a value's count is the product of its sizes; the sizes of fields in an array of records begin with the sizes of that
 * array. Every function either gives a well-formed value or has reported why not. */
#include "base/number.h"
#include "model/execute.h"

#include <math.h>
#include <string.h>

bool value_is_all(const Value *value) { return value->type.base == TYPE_NOTHING; }

bool value_same_sizes(const Value *a, const Value *b) {
  if (a->type.dimensions != b->type.dimensions) return false;
  for (uint32_t i = 0; i < a->type.dimensions; i++)
    if (a->sizes[i] != b->sizes[i]) return false;
    else if (a->sizes[i] == 0) return true; /* empty: further sizes of {... for i in 1:0} are not known */
  return true;
}

const char *value_sizes_text(Machine *machine, const Value *value) {
  if (value->type.dimensions == 0) return "a scalar";
  char *text = machine_alloc(machine, 12u * (value->type.dimensions + 1u));
  char *end = text;
  for (uint32_t i = 0; i < value->type.dimensions; i++) {
    *end++ = i ? ',' : '[';
    char digits[12];
    int count = 0;
    for (uint32_t n = value->sizes[i]; n || count == 0; n /= 10) digits[count++] = (char)('0' + n % 10);
    while (count) *end++ = digits[--count];
  }
  *end++ = ']';
  *end = 0;
  return text;
}

static bool count_elements(Machine *machine, Type type, const uint32_t *sizes, uint32_t *count) {
  double product = 1;
  for (uint32_t i = 0; i < type.dimensions; i++) product *= sizes[i];
  *count = product > INT32_MAX ? 0 : (uint32_t)product;
  return machine_charge(machine, product > INT32_MAX ? UINT64_MAX / 2 : *count);
}

/* Memory for `type` with the given sizes; nested records are made with an explicit list of remaining work. */
static bool make_value(Machine *machine, Type type, const uint32_t *sizes, Value *out) {
  if (type.dimensions > TYPE_MAX_DIMENSIONS)
    return machine_error(machine, "more than %d dimensions", TYPE_MAX_DIMENSIONS);
  *out = (Value){.type = type};
  if (!count_elements(machine, type, sizes, &out->count)) return false;
  if (type.dimensions) {
    uint32_t *copy = machine_alloc(machine, type.dimensions * sizeof *copy);
    memcpy(copy, sizes, type.dimensions * sizeof *copy);
    out->sizes = copy;
  }
  if (type.base != TYPE_RECORD) out->data = machine_alloc(machine, (size_t)out->count * machine_domain(machine)->size);
  return true;
}

/* Records nest as deep as their definitions do, which types.c bounds. */
static bool make_nested(Machine *machine, Type type, const uint32_t *sizes, Value *out) {
  if (!make_value(machine, type, sizes, out)) return false;
  if (type.base != TYPE_RECORD) return true;
  const Record *record = machine_record(machine, type.definition);
  out->fields = machine_alloc(machine, record->fields.count * sizeof *out->fields);
  for (uint32_t i = 0; i < record->fields.count; i++) {
    const Field *field = &record->fields.data[i];
    uint32_t all[2 * TYPE_MAX_DIMENSIONS];
    Type inner = field->type;
    inner.dimensions = (uint8_t)(inner.dimensions + type.dimensions);
    if (inner.dimensions > TYPE_MAX_DIMENSIONS)
      return machine_error(machine, "more than %d dimensions", TYPE_MAX_DIMENSIONS);
    for (uint32_t k = 0; k < type.dimensions; k++) all[k] = sizes[k];
    for (uint32_t k = 0; k < field->type.dimensions; k++)
      all[type.dimensions + k] = field->sizes[k] == UINT32_MAX ? 0 : field->sizes[k];
    if (!make_nested(machine, inner, all, &out->fields[i])) return false;
  }
  return true;
}

bool value_make_checked(Machine *machine, Type type, const uint32_t *sizes, Value *out) {
  return make_nested(machine, type, sizes, out);
}

Value machine_make(Machine *machine, Type type, const uint32_t *sizes) {
  Value value = {.type = {.base = TYPE_NOTHING}};
  value_make_checked(machine, type, sizes, &value);
  return value;
}

static uint32_t field_count(Machine *machine, const Value *value) {
  return machine_record(machine, value->type.definition)->fields.count;
}

bool value_zero(Machine *machine, Value *value) {
  const Domain *domain = machine_domain(machine);
  if (value->type.base == TYPE_RECORD) {
    for (uint32_t i = 0, n = field_count(machine, value); i < n; i++)
      if (!value_zero(machine, &value->fields[i])) return false;
    return true;
  }
  for (uint32_t i = 0; i < value->count; i++) {
    char *at = value->data + (size_t)i * domain->size;
    if (i) memcpy(at, value->data, domain->size);
    else if (value->type.base == TYPE_STRING) domain->text(domain->context, 0, at);
    else domain->constant(domain->context, value->type.base == TYPE_ENUMERATION ? 1 : 0, at);
  }
  return true;
}

Value value_copy(Machine *machine, const Value *value) {
  Value copy = *value;
  if (value->type.dimensions) {
    uint32_t *sizes = machine_alloc(machine, value->type.dimensions * sizeof *sizes);
    memcpy(sizes, value->sizes, value->type.dimensions * sizeof *sizes);
    copy.sizes = sizes;
  }
  if (value->type.base == TYPE_RECORD) {
    uint32_t n = field_count(machine, value);
    copy.fields = machine_alloc(machine, n * sizeof *copy.fields);
    for (uint32_t i = 0; i < n; i++) copy.fields[i] = value_copy(machine, &value->fields[i]);
  } else if (value->type.base != TYPE_NOTHING) {
    size_t bytes = (size_t)value->count * machine_domain(machine)->size;
    copy.data = machine_alloc(machine, bytes);
    memcpy(copy.data, value->data, bytes);
  }
  return copy;
}

void value_assign(Machine *machine, Value *target, const Value *source) {
  if (target->type.base == TYPE_RECORD)
    for (uint32_t i = 0, n = field_count(machine, target); i < n; i++)
      value_assign(machine, &target->fields[i], &source->fields[i]);
  else if (target->count) memmove(target->data, source->data, (size_t)target->count * machine_domain(machine)->size);
}

Value value_scalar(Machine *machine, BaseType base, double number) {
  const Domain *domain = machine_domain(machine);
  Value value = {.type = {.base = (uint8_t)base}, .count = 1};
  value.data = machine_alloc(machine, domain->size);
  domain->constant(domain->context, number, value.data);
  return value;
}

static bool value_number(Machine *machine, const char *scalar, int64_t *out) {
  const Domain *domain = machine_domain(machine);
  double number;
  if (!domain->known(domain->context, scalar, &number)) return machine_unknown(machine, "a size or subscript");
  if (!(fabs(number) <= 9007199254740992.0) || number != floor(number))
    return machine_error(machine, "%g is not an Integer", number);
  *out = (int64_t)number;
  return true;
}

bool value_integer(Machine *machine, const Value *value, int64_t *out) {
  return value_number(machine, value->data, out);
}

/* ---- element by element ---- */

bool value_check_integers(Machine *machine, const Value *value) {
  const Domain *domain = machine_domain(machine);
  if (value->type.base != TYPE_INTEGER) return true;
  for (uint32_t i = 0; i < value->count; i++) {
    double number;
    if (domain->known(domain->context, value->data + (size_t)i * domain->size, &number) &&
        !(fabs(number) <= 9007199254740992.0))
      return machine_error(
          machine, "integer overflow: %.17g is beyond the largest Integer, 9007199254740992; use a Real", number);
  }
  return true;
}

static bool apply_failed(Machine *machine, Op op, const char *scalars, uint32_t count) {
  const Domain *domain = machine_domain(machine);
  double number[2] = {0, 0};
  bool known = true;
  for (uint32_t i = 0; i < count && i < 2; i++)
    known = domain->known(domain->context, scalars + (size_t)i * domain->size, &number[i]) && known;
  if (!known) return machine_error(machine, "operator `%s` cannot be used here", op_name(op));
  if (count == 1) return machine_error(machine, "%s(%g) is not defined", op_name(op), number[0]);
  return machine_error(machine, "%s of %g and %g is not defined", op_name(op), number[0], number[1]);
}

/* The array among the arguments that decides the sizes; scalars are combined with every element. */
static bool common_shape(Machine *machine, Op op, const Value *arguments, uint32_t count, const Value **shape) {
  *shape = &arguments[0];
  for (uint32_t i = 1; i < count; i++) {
    if (arguments[i].type.dimensions == 0) continue;
    if ((*shape)->type.dimensions == 0) *shape = &arguments[i];
    else if (!value_same_sizes(*shape, &arguments[i]))
      return machine_error(machine, "sizes differ: operator `%s` of %s and %s", op_name(op),
                           value_sizes_text(machine, *shape), value_sizes_text(machine, &arguments[i]));
  }
  return true;
}

bool value_apply(Machine *machine, Op op, Type type, const Value *arguments, uint32_t count, Value *out) {
  const Domain *domain = machine_domain(machine);
  const Value *shape;
  if (!common_shape(machine, op, arguments, count, &shape)) return false;
  type.dimensions = shape->type.dimensions;
  if (!make_value(machine, type, shape->sizes, out)) return false;
  uint32_t size = domain->size;
  char *scalars = machine_alloc(machine, (size_t)count * size);
  for (uint32_t i = 0; i < out->count; i++) {
    for (uint32_t k = 0; k < count; k++)
      memcpy(scalars + (size_t)k * size, arguments[k].data + (arguments[k].type.dimensions ? (size_t)i * size : 0),
             size);
    if (!domain->apply(domain->context, op, scalars, count, out->data + (size_t)i * size))
      return apply_failed(machine, op, scalars, count);
  }
  return value_check_integers(machine, out);
}

/* Strings are joined, numbers added. */
static bool sum_element(Machine *machine, const uint32_t *signs, Type type, char *scalars, uint32_t count, char *out) {
  const Domain *domain = machine_domain(machine);
  if (type.base != TYPE_STRING) {
    domain->sum(domain->context, scalars, signs, count, out);
    return true;
  }
  return domain->apply(domain->context, OP_STRING_JOIN, scalars, count, out) ||
         machine_unknown(machine, "a text made of parts");
}

bool value_sum(Machine *machine, const uint32_t *signs, Type type, const Value *terms, uint32_t count, Value *out) {
  const Domain *domain = machine_domain(machine);
  for (uint32_t i = 1; i < count; i++)
    if (!value_same_sizes(&terms[0], &terms[i]))
      return machine_error(machine, "sizes differ: %s of %s and %s",
                           (signs[i / 32] >> (i % 32)) & 1 ? "difference" : "sum", value_sizes_text(machine, &terms[0]),
                           value_sizes_text(machine, &terms[i]));
  type.dimensions = terms[0].type.dimensions;
  if (!make_value(machine, type, terms[0].sizes, out)) return false;
  uint32_t size = domain->size;
  char *scalars = machine_alloc(machine, (size_t)count * size);
  for (uint32_t i = 0; i < out->count; i++) {
    for (uint32_t k = 0; k < count; k++) memcpy(scalars + (size_t)k * size, terms[k].data + (size_t)i * size, size);
    if (!sum_element(machine, signs, type, scalars, count, out->data + (size_t)i * size)) return false;
  }
  return value_check_integers(machine, out);
}

/* ---- products ---- */

/* Scalar product of `count` elements, with strides. */
static bool inner_product(Machine *machine, const char *a, size_t a_step, const char *b, size_t b_step, uint32_t count,
                          char *out) {
  const Domain *domain = machine_domain(machine);
  static const uint32_t no_signs[1] = {0};
  uint32_t size = domain->size;
  uint32_t words = count / 32 + 1;
  const uint32_t *signs = no_signs;
  if (words > 1) {
    uint32_t *zero = machine_alloc(machine, words * sizeof *zero);
    memset(zero, 0, words * sizeof *zero);
    signs = zero;
  }
  char *terms = machine_alloc(machine, (size_t)(count + 2) * size), *pair = terms + (size_t)count * size;
  for (uint32_t i = 0; i < count; i++) {
    memcpy(pair, a + (size_t)i * a_step * size, size);
    memcpy(pair + size, b + (size_t)i * b_step * size, size);
    if (!domain->apply(domain->context, OP_MULTIPLY, pair, 2, terms + (size_t)i * size))
      return apply_failed(machine, OP_MULTIPLY, pair, 2);
  }
  if (count == 0) domain->constant(domain->context, 0, out);
  else domain->sum(domain->context, terms, signs, count, out);
  return true;
}

bool value_multiply(Machine *machine, Type type, const Value *a, const Value *b, Value *out) {
  uint32_t da = a->type.dimensions, db = b->type.dimensions;
  if (da == 0 || db == 0) {
    Value pair[2] = {*a, *b};
    return value_apply(machine, OP_MULTIPLY, type, pair, 2, out);
  }
  if (da > 2 || db > 2)
    return machine_error(machine, "a product needs vectors or matrices; use .* for element by element");
  uint32_t rows = da == 2 ? a->sizes[0] : 1, inner = a->sizes[da - 1], columns = db == 2 ? b->sizes[1] : 1;
  if (inner != b->sizes[0])
    return machine_error(machine, "sizes do not fit: product of %s and %s", value_sizes_text(machine, a),
                         value_sizes_text(machine, b));
  uint32_t sizes[2], count = 0;
  if (da == 2) sizes[count++] = rows;
  if (db == 2) sizes[count++] = columns;
  type.dimensions = (uint8_t)count;
  if (!make_value(machine, type, sizes, out) || !machine_charge(machine, (uint64_t)rows * columns * inner))
    return false;
  size_t size = machine_domain(machine)->size;
  for (uint32_t i = 0; i < rows; i++)
    for (uint32_t k = 0; k < columns; k++)
      if (!inner_product(machine, a->data + (size_t)i * inner * size, 1, b->data + k * size, columns, inner,
                         out->data + ((size_t)i * columns + k) * size))
        return false;
  return value_check_integers(machine, out);
}

static bool identity_like(Machine *machine, const Value *matrix, Value *out) {
  const Domain *domain = machine_domain(machine);
  if (!make_value(machine, matrix->type, matrix->sizes, out)) return false;
  for (uint32_t i = 0; i < out->count; i++)
    domain->constant(domain->context, i % (out->sizes[0] + 1) == 0, out->data + (size_t)i * domain->size);
  return true;
}

bool value_power(Machine *machine, Type type, const Value *base, const Value *exponent, Value *out) {
  if (base->type.dimensions == 0) {
    Value pair[2] = {*base, *exponent};
    return value_apply(machine, OP_POWER, type, pair, 2, out);
  }
  int64_t n;
  if (base->type.dimensions != 2 || base->sizes[0] != base->sizes[1])
    return machine_error(machine, "a power needs a scalar or a square matrix, this is %s",
                         value_sizes_text(machine, base));
  if (!value_integer(machine, exponent, &n)) return false;
  if (n < 0) return machine_error(machine, "a matrix cannot be raised to the power %lld", (long long)n);
  Value square = *base;
  type.dimensions = 2;
  if (!identity_like(machine, base, out)) return false;
  for (; n; n >>= 1) {
    Value factor = *out, half = square;
    if (n & 1 && !value_multiply(machine, type, &factor, &half, out)) return false;
    if (n > 1 && !value_multiply(machine, type, &half, &half, &square)) return false;
  }
  return true;
}

/* ---- construction ---- */

bool value_array(Machine *machine, const Value *items, uint32_t count, Type empty, Value *out) {
  uint32_t sizes[TYPE_MAX_DIMENSIONS + 1];
  sizes[0] = count;
  Type type = count ? items[0].type : empty;
  for (uint32_t i = 0; i < type.dimensions && i < TYPE_MAX_DIMENSIONS; i++)
    sizes[i + 1] = count ? items[0].sizes[i] : 0;
  for (uint32_t i = 1; i < count; i++) {
    if (!value_same_sizes(&items[0], &items[i]))
      return machine_error(machine, "elements of an array differ in size: %s and %s",
                           value_sizes_text(machine, &items[0]), value_sizes_text(machine, &items[i]));
    type.base = (uint8_t)type_join_base(type.base, items[i].type.base);
  }
  type.dimensions++;
  if (!make_value(machine, type, sizes, out)) return false;
  if (type.base == TYPE_RECORD) {
    const Record *record = machine_record(machine, type.definition);
    out->fields = machine_alloc(machine, record->fields.count * sizeof *out->fields);
    Value *parts = machine_alloc(machine, count * sizeof *parts);
    for (uint32_t f = 0; f < record->fields.count; f++) {
      Type field = type_with_dimensions(record->fields.data[f].type, 0);
      for (uint32_t i = 0; i < count; i++) parts[i] = items[i].fields[f];
      if (!value_array(machine, parts, count, field, &out->fields[f])) return false;
    }
    return true;
  }
  size_t bytes = count ? (size_t)items[0].count * machine_domain(machine)->size : 0;
  for (uint32_t i = 0; i < count && bytes; i++) memcpy(out->data + i * bytes, items[i].data, bytes);
  return true;
}

bool value_range(Machine *machine, const Value *first, const Value *step, const Value *last, Value *out) {
  const Domain *domain = machine_domain(machine);
  double a, s = 1, b;
  if (!domain->known(domain->context, first->data, &a) || !domain->known(domain->context, last->data, &b) ||
      (step && !domain->known(domain->context, step->data, &s)))
    return machine_unknown(machine, "a bound of a range");
  if (s == 0) return machine_error(machine, "the step of a range is 0");
  Type type = first->type;
  type.base = (uint8_t)type_join_base(type_join_base(type.base, last->type.base), step ? step->type.base : type.base);
  type.dimensions = 1;
  /* Reals: one more element if the last one is missing only because of rounding. */
  double exact = (b - a) / s, count = floor(type.base == TYPE_REAL ? exact * (1 + 1e-15) + 1e-15 : exact) + 1;
  if (!(count > 0)) count = 0;
  if (count > INT32_MAX) return machine_charge(machine, UINT64_MAX / 2);
  uint32_t sizes[1] = {(uint32_t)count};
  if (!make_value(machine, type, sizes, out)) return false;
  for (uint32_t i = 0; i < out->count; i++)
    domain->constant(domain->context, a + i * s, out->data + (size_t)i * domain->size);
  return true;
}

/* ---- subscripts ---- */

/* A prepared subscript of one dimension: a list of 0-based positions, or one scalar that is not known. */
typedef struct Selection {
  uint32_t count;
  uint32_t *positions; /* NULL: all */
  const char *open;    /* scalar subscript whose value is not known */
  bool is_scalar, is_logical, is_chosen;
} Selection;

/* Do conditions choose the subscript among known positions in the range? left: how many more positions there may be. */
static bool is_chosen(Machine *machine, const char *scalar, uint32_t size, uint32_t *left) {
  const Domain *domain = machine_domain(machine);
  double number;
  if (domain->known(domain->context, scalar, &number)) return number >= 1 && number <= size && (*left)-- > 0;
  char *parts = machine_alloc(machine, 3 * (size_t)domain->size);
  return domain->choice && *left > 0 && domain->choice(domain->context, scalar, parts) &&
         is_chosen(machine, parts + domain->size, size, left) &&
         is_chosen(machine, parts + 2 * domain->size, size, left);
}

static bool select_subscript(Machine *machine, const Value *subscript, uint32_t size, uint32_t number, Selection *out) {
  const Domain *domain = machine_domain(machine);
  *out = (Selection){.count = size};
  if (value_is_all(subscript)) return true;
  out->is_scalar = subscript->type.dimensions == 0;
  out->is_logical = subscript->type.base == TYPE_BOOLEAN;
  out->count = subscript->count;
  double value;
  if (out->is_scalar && !domain->known(domain->context, subscript->data, &value)) {
    uint32_t left = CHOICES;
    out->open = subscript->data;
    out->is_chosen = !out->is_logical && is_chosen(machine, subscript->data, size, &left);
    return size > 0 || machine_error(machine, "subscript of an empty array");
  }
  out->positions = machine_alloc(machine, out->count * sizeof *out->positions);
  for (uint32_t i = 0; i < out->count; i++) {
    int64_t position;
    if (!value_number(machine, subscript->data + (size_t)i * domain->size, &position)) return false;
    if (out->is_logical) position++;
    if (position < 1 || position > size)
      return machine_error(machine, "subscript %lld is out of range: dimension %u has size %u", (long long)position,
                           number + 1, size);
    out->positions[i] = (uint32_t)position - 1;
  }
  return true;
}

/* Requires that a subscript that is not known is within its dimension. Only Integer subscripts can be outside. */
static bool require_within(Machine *machine, const Value *array, const Value *subscript, uint32_t number) {
  const Domain *domain = machine_domain(machine);
  if (subscript->type.base != TYPE_INTEGER || !domain->assertion) return true;
  size_t size = domain->size;
  char *pair = machine_alloc(machine, 4 * size), *bounds = pair + 2 * size;
  domain->constant(domain->context, 1, pair);
  memcpy(pair + size, subscript->data, size);
  if (!domain->apply(domain->context, OP_LESS_EQUAL, pair, 2, bounds)) return machine_unknown(machine, "a subscript");
  memcpy(pair, subscript->data, size);
  domain->constant(domain->context, array->sizes[number], pair + size);
  if (!domain->apply(domain->context, OP_LESS_EQUAL, pair, 2, bounds + size) ||
      !domain->apply(domain->context, OP_AND, bounds, 2, pair))
    return machine_unknown(machine, "a subscript");
  return machine_require(machine, pair, "subscript out of range: dimension %u has size %u", number + 1,
                         array->sizes[number]);
}

/* Prepares the subscripts of an array with `sizes`; missing ones at the end mean all elements. */
static bool select_all(Machine *machine, const Value *array, const Value *subscripts, uint32_t count, Selection *out) {
  if (count > array->type.dimensions)
    return machine_error(machine, "%u subscript%s for %s", count, plural(count), value_sizes_text(machine, array));
  for (uint32_t i = 0; i < array->type.dimensions; i++) {
    Value all = {.type = {.base = TYPE_NOTHING}};
    if (!select_subscript(machine, i < count ? &subscripts[i] : &all, array->sizes[i], i, &out[i])) return false;
    if (out[i].open && !out[i].is_chosen && !require_within(machine, array, &subscripts[i], i)) return false;
  }
  return true;
}

/* Copies between the selected elements of a block and a dense one, dimension by dimension with a counter. */
static void move_selected(Machine *machine, char *array, const uint32_t *sizes, uint32_t dimensions,
                          const Selection *selection, char *dense, bool is_store) {
  size_t size = machine_domain(machine)->size;
  uint32_t counter[TYPE_MAX_DIMENSIONS] = {0}, total = 1;
  for (uint32_t i = 0; i < dimensions; i++) total *= selection[i].count;
  for (uint32_t n = 0; n < total; n++) {
    size_t at = 0;
    for (uint32_t i = 0; i < dimensions; i++)
      at = at * sizes[i] + (selection[i].positions ? selection[i].positions[counter[i]] : counter[i]);
    if (is_store) memcpy(array + at * size, dense + n * size, size);
    else memcpy(dense + n * size, array + at * size, size);
    for (uint32_t i = dimensions; i-- > 0;) {
      if (++counter[i] < selection[i].count) break;
      counter[i] = 0;
    }
  }
}

/* The condition that the unknown subscript selects this position; the first position is 1 or false. */
static bool equals_position(Machine *machine, const Selection *selection, uint32_t position, char *out) {
  const Domain *domain = machine_domain(machine);
  char *pair = machine_alloc(machine, 2 * (size_t)domain->size);
  memcpy(pair, selection->open, domain->size);
  domain->constant(domain->context, selection->is_logical ? position : position + 1.0, pair + domain->size);
  return domain->apply(domain->context, OP_EQUAL, pair, 2, out) || machine_unknown(machine, "a subscript");
}

static uint32_t find_open(const Selection *selection, uint32_t dimensions) {
  for (uint32_t i = 0; i < dimensions; i++)
    if (selection[i].open) return i;
  return dimensions;
}

static bool load_open(Machine *machine, const Value *array, Selection *selection, char *dense, uint32_t total);

/* Loads an element whose subscript in dimension d is a choice by conditions: the same conditions choose the element. The
 * recursion is as
 * deep as the nesting of choices. */
static bool load_chosen(Machine *machine, const Value *array, Selection *selection, uint32_t d, const char *scalar,
                        char *dense, uint32_t total) {
  const Domain *domain = machine_domain(machine);
  size_t size = domain->size;
  double number;
  if (domain->known(domain->context, scalar, &number)) {
    uint32_t position = (uint32_t)number - 1;
    selection[d] = (Selection){.count = 1, .positions = &position, .is_scalar = true};
    return load_open(machine, array, selection, dense, total);
  }
  char *parts = machine_alloc(machine, (3 + (size_t)total) * size), *other = parts + 3 * size;
  domain->choice(domain->context, scalar, parts);
  if (!load_chosen(machine, array, selection, d, parts + size, dense, total) ||
      !load_chosen(machine, array, selection, d, parts + 2 * size, other, total))
    return false;
  for (uint32_t k = 0; k < total; k++)
    domain->select(domain->context, parts, dense + k * size, other + k * size, dense + k * size);
  return true;
}

/* Loads an element with subscripts that are not known: if s == 1 then a[1] else if s == 2 then a[2] ... Recursion is at most as
 * deep as there are dimensions. */
static bool load_open(Machine *machine, const Value *array, Selection *selection, char *dense, uint32_t total) {
  const Domain *domain = machine_domain(machine);
  uint32_t dimensions = array->type.dimensions, d = find_open(selection, dimensions);
  if (d == dimensions) {
    move_selected(machine, array->data, array->sizes, dimensions, selection, dense, false);
    return true;
  }
  Selection saved = selection[d];
  uint32_t position;
  if (saved.is_chosen) {
    bool is_loaded = load_chosen(machine, array, selection, d, saved.open, dense, total);
    selection[d] = saved;
    return is_loaded;
  }
  char *part = machine_alloc(machine, (size_t)(total + 1) * domain->size),
       *condition = part + (size_t)total * domain->size;
  if (!machine_charge(machine, (uint64_t)total * array->sizes[d])) return false;
  for (uint32_t i = array->sizes[d]; i-- > 0;) {
    position = i;
    selection[d] = (Selection){.count = 1, .positions = &position, .is_scalar = true};
    if (!load_open(machine, array, selection, i + 1 == array->sizes[d] ? dense : part, total)) return false;
    if (i + 1 == array->sizes[d]) continue;
    if (!equals_position(machine, &saved, i, condition)) return false;
    for (uint32_t k = 0; k < total; k++) {
      char *at = dense + (size_t)k * domain->size;
      domain->select(domain->context, condition, part + (size_t)k * domain->size, at, at);
    }
  }
  selection[d] = saved;
  return true;
}

static bool store_open(Machine *machine, Value *array, Selection *selection, char *dense, uint32_t total) {
  const Domain *domain = machine_domain(machine);
  uint32_t dimensions = array->type.dimensions, d = find_open(selection, dimensions);
  if (d == dimensions) {
    move_selected(machine, array->data, array->sizes, dimensions, selection, dense, true);
    return true;
  }
  Selection saved = selection[d];
  uint32_t position;
  char *part = machine_alloc(machine, (size_t)(total + 1) * domain->size),
       *condition = part + (size_t)total * domain->size;
  if (!machine_charge(machine, (uint64_t)total * array->sizes[d])) return false;
  for (uint32_t i = 0; i < array->sizes[d]; i++) {
    position = i;
    selection[d] = (Selection){.count = 1, .positions = &position, .is_scalar = true};
    if (!load_open(machine, array, selection, part, total)) return false;
    if (!equals_position(machine, &saved, i, condition)) return false;
    for (uint32_t k = 0; k < total; k++) {
      char *at = part + (size_t)k * domain->size;
      domain->select(domain->context, condition, dense + (size_t)k * domain->size, at, at);
    }
    if (!store_open(machine, array, selection, part, total)) return false;
  }
  selection[d] = saved;
  return true;
}

static bool index_record(Machine *machine, const Value *array, const Value *subscripts, uint32_t count, Value *out) {
  uint32_t n = field_count(machine, array);
  Value *fields = machine_alloc(machine, n * sizeof *fields);
  for (uint32_t i = 0; i < n; i++)
    if (!value_index(machine, &array->fields[i], subscripts, count, &fields[i])) return false;
  out->fields = fields;
  return true;
}

bool value_index(Machine *machine, const Value *array, const Value *subscripts, uint32_t count, Value *out) {
  Selection selection[TYPE_MAX_DIMENSIONS];
  if (!select_all(machine, array, subscripts, count, selection)) return false;
  uint32_t sizes[TYPE_MAX_DIMENSIONS], dimensions = 0;
  for (uint32_t i = 0; i < array->type.dimensions; i++)
    if (!selection[i].is_scalar) sizes[dimensions++] = selection[i].count;
  Type type = array->type;
  type.dimensions = (uint8_t)dimensions;
  if (!make_value(machine, type, sizes, out)) return false;
  if (type.base == TYPE_RECORD) return index_record(machine, array, subscripts, count, out);
  return load_open(machine, array, selection, out->data, out->count);
}

Value value_element(Machine *machine, const Value *array, uint32_t i) {
  Value out = *array;
  out.type.dimensions--;
  out.sizes++;
  out.count = array->count / array->sizes[0];
  if (out.type.base != TYPE_RECORD) {
    out.data += (size_t)i * out.count * machine_domain(machine)->size;
    return out;
  }
  uint32_t n = field_count(machine, array);
  out.fields = machine_alloc(machine, n * sizeof *out.fields);
  for (uint32_t k = 0; k < n; k++) out.fields[k] = value_element(machine, &array->fields[k], i);
  return out;
}

bool value_store(Machine *machine, Value *target, const Value *subscripts, uint32_t count, const Value *value) {
  if (target->type.base == TYPE_RECORD) {
    for (uint32_t i = 0, n = field_count(machine, target); i < n; i++)
      if (!value_store(machine, &target->fields[i], subscripts, count, &value->fields[i])) return false;
    return true;
  }
  Selection selection[TYPE_MAX_DIMENSIONS];
  if (!select_all(machine, target, subscripts, count, selection)) return false;
  uint32_t dimensions = 0, total = 1;
  for (uint32_t i = 0; i < target->type.dimensions; i++) {
    total *= selection[i].count;
    if (selection[i].is_scalar) continue;
    if (dimensions >= value->type.dimensions || value->sizes[dimensions] != selection[i].count)
      return machine_error(machine,
                           "sizes differ: the place to assign has %u element%s in dimension %u, the value is %s",
                           selection[i].count, plural(selection[i].count), i + 1, value_sizes_text(machine, value));
    dimensions++;
  }
  if (dimensions != value->type.dimensions)
    return machine_error(machine, "sizes differ: %s is assigned to %u dimension%s", value_sizes_text(machine, value),
                         dimensions, plural(dimensions));
  return machine_charge(machine, total) && store_open(machine, target, selection, value->data, total);
}

bool value_select(Machine *machine, const char *condition, const Value *then, const Value *otherwise, Value *out) {
  const Domain *domain = machine_domain(machine);
  if (!value_same_sizes(then, otherwise))
    return machine_unknown(machine, "the condition of an if whose branches differ in size");
  Type type = then->type;
  type.base = (uint8_t)type_join_base(type.base, otherwise->type.base);
  if (!make_value(machine, type, then->sizes, out)) return false;
  if (type.base == TYPE_RECORD) {
    uint32_t n = field_count(machine, then);
    out->fields = machine_alloc(machine, n * sizeof *out->fields);
    for (uint32_t i = 0; i < n; i++)
      if (!value_select(machine, condition, &then->fields[i], &otherwise->fields[i], &out->fields[i])) return false;
    return true;
  }
  for (uint32_t i = 0; i < out->count; i++) {
    size_t at = (size_t)i * domain->size;
    domain->select(domain->context, condition, then->data + at, otherwise->data + at, out->data + at);
  }
  return true;
}

/* ---- flat lists of scalars ---- */

/* Element order: an array of records is record after record, so that names read r[1].x, r[1].y, r[2].x. An explicit offset says
 * where each scalar (element, field...) is in the flat list. */
static uint32_t record_scalars(const Type *type, const Record *records, const Value *value) {
  if (type->base != TYPE_RECORD) return value->count;
  uint32_t total = 0;
  for (uint32_t i = 0; i < records[type->definition].fields.count; i++)
    total += record_scalars(&value->fields[i].type, records, &value->fields[i]);
  return total;
}

Shape shape_of_value(Heap *heap, const Record *records, const Value *value) {
  Shape shape = {.type = value->type, .scalars = value_scalars(value, records)};
  shape.sizes = heap_array(heap, value->type.dimensions, sizeof *shape.sizes);
  for (uint32_t i = 0; i < value->type.dimensions; i++) shape.sizes[i] = value->sizes[i];
  if (value->type.base != TYPE_RECORD) return shape;
  uint32_t count = records[value->type.definition].fields.count;
  shape.fields = heap_array(heap, count, sizeof *shape.fields);
  for (uint32_t i = 0; i < count; i++) shape.fields[i] = shape_of_value(heap, records, &value->fields[i]);
  return shape;
}

Value value_of_shape(Arena *arena, const Record *records, const Shape *shape, size_t size) {
  Value value = {.type = shape->type, .sizes = shape->sizes, .count = 1};
  for (uint32_t d = 0; d < shape->type.dimensions; d++) value.count *= shape->sizes[d];
  if (shape->type.base != TYPE_RECORD) {
    value.data = arena_array(arena, value.count, size);
    return value;
  }
  uint32_t count = records[shape->type.definition].fields.count;
  value.fields = arena_array(arena, count, sizeof *value.fields);
  for (uint32_t f = 0; f < count; f++) value.fields[f] = value_of_shape(arena, records, &shape->fields[f], size);
  return value;
}

uint32_t value_scalars(const Value *value, const Record *records) {
  return record_scalars(&value->type, records, value);
}

/* Moves the elements [from, from + count) of the value; the nesting of records bounds the depth. */
static char *move_flat(const Domain *domain, const Value *value, const Record *records, uint32_t from,
                       uint32_t elements, char *flat, bool is_store) {
  if (value->type.base != TYPE_RECORD) {
    size_t bytes = (size_t)elements * domain->size;
    char *at = value->data + (size_t)from * domain->size;
    if (bytes) memcpy(is_store ? at : flat, is_store ? flat : at, bytes);
    return flat + bytes;
  }
  for (uint32_t e = 0; e < elements; e++)
    for (uint32_t i = 0; i < records[value->type.definition].fields.count; i++) {
      const Value *field = &value->fields[i];
      uint32_t per = value->count ? field->count / value->count : 0;
      flat = move_flat(domain, field, records, (from + e) * per, per, flat, is_store);
    }
  return flat;
}

void value_flatten(const Domain *domain, const Value *value, const Record *records, char *out) {
  move_flat(domain, value, records, 0, value->count, out, false);
}

void value_unflatten(const Domain *domain, Value *value, const Record *records, const char *in) {
  char *flat = (char *)(uintptr_t)in;
  move_flat(domain, value, records, 0, value->count, flat, true);
}
