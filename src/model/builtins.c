/* builtins: the functions on arrays of builtin.def, run by the machine over any kind of scalar. One function per row.
 *
 * Invariant: argument types and counts were checked when the code was made; sizes are checked here. */
#include "model/number.h"

#include "base/number.h"

#include <string.h>

typedef bool (*BuiltinRun)(Machine *machine, const Value *arguments, uint32_t count, Value *out);

static char *element(Machine *machine, const Value *value, size_t index) {
  return value->data + index * machine_domain(machine)->size;
}

static void copy_element(Machine *machine, Value *to, size_t at, const Value *from, size_t index) {
  memcpy(element(machine, to, at), element(machine, from, index), machine_domain(machine)->size);
}

static void set_constant(Machine *machine, Value *to, size_t at, double number) {
  const Domain *domain = machine_domain(machine);
  domain->constant(domain->context, number, element(machine, to, at));
}

static bool make(Machine *machine, Type type, uint32_t dimensions, const uint32_t *sizes, Value *out) {
  type.dimensions = (uint8_t)dimensions;
  return value_make_checked(machine, type, sizes, out);
}

static bool apply_elements(Machine *machine, Op op, const char *a, const char *b, char *out) {
  const Domain *domain = machine_domain(machine);
  char *pair = machine_alloc(machine, 2 * (size_t)domain->size);
  memcpy(pair, a, domain->size);
  memcpy(pair + domain->size, b, domain->size);
  return domain->apply(domain->context, op, pair, 2, out) ||
         machine_error(machine, "%s is not defined here", op_name(op));
}

/* A size argument: an Integer that is not negative. */
static bool size_argument(Machine *machine, const Value *argument, uint32_t *size) {
  int64_t number;
  if (!value_integer(machine, argument, &number)) return false;
  if (number < 0) return machine_error(machine, "a size cannot be negative: %lld", (long long)number);
  if (number > INT32_MAX) return machine_error(machine, "the size %lld is too large", (long long)number);
  *size = (uint32_t)number;
  return true;
}

static bool run_SIZE(Machine *machine, const Value *a, uint32_t count, Value *out) {
  if (count == 2) {
    int64_t k;
    if (!value_integer(machine, &a[1], &k)) return false;
    if (k < 1 || k > a[0].type.dimensions)
      return machine_error(machine, "size(A, %lld): A has %u dimension%s", (long long)k, a[0].type.dimensions,
                           plural(a[0].type.dimensions));
    *out = value_scalar(machine, TYPE_INTEGER, a[0].sizes[k - 1]);
    return true;
  }
  uint32_t sizes[1] = {a[0].type.dimensions};
  if (!make(machine, (Type){.base = TYPE_INTEGER}, 1, sizes, out)) return false;
  for (uint32_t i = 0; i < sizes[0]; i++) set_constant(machine, out, i, a[0].sizes[i]);
  return true;
}

static bool run_NDIMS(Machine *machine, const Value *a, uint32_t count, Value *out) {
  (void)count;
  *out = value_scalar(machine, TYPE_INTEGER, a[0].type.dimensions);
  return true;
}

/* Makes an array of the same elements with other sizes. */
static bool reshape(Machine *machine, const Value *a, uint32_t dimensions, const uint32_t *sizes, Value *out) {
  if (!make(machine, a->type, dimensions, sizes, out)) return false;
  value_assign(machine, out, a);
  return true;
}

static bool run_SCALAR(Machine *machine, const Value *a, uint32_t count, Value *out) {
  (void)count;
  if (a[0].count != 1)
    return machine_error(machine, "scalar() of %s, which is not one element", value_sizes_text(machine, a));
  return reshape(machine, a, 0, NULL, out);
}

static bool run_VECTOR(Machine *machine, const Value *a, uint32_t count, Value *out) {
  (void)count;
  uint32_t sizes[1] = {a[0].count}, large = 0;
  for (uint32_t i = 0; i < a[0].type.dimensions; i++) large += a[0].sizes[i] > 1;
  if (large > 1)
    return machine_error(machine, "vector() of %s, more than one dimension is larger than 1",
                         value_sizes_text(machine, a));
  return reshape(machine, a, 1, sizes, out);
}

static bool run_MATRIX(Machine *machine, const Value *a, uint32_t count, Value *out) {
  (void)count;
  uint32_t sizes[2] = {1, 1};
  for (uint32_t i = 0; i < a[0].type.dimensions; i++)
    if (i < 2) sizes[i] = a[0].sizes[i];
    else if (a[0].sizes[i] != 1) return machine_error(machine, "matrix() of %s", value_sizes_text(machine, a));
  return reshape(machine, a, 2, sizes, out);
}

static bool promote(Machine *machine, const Value *a, uint32_t dimensions, Value *out) {
  uint32_t sizes[TYPE_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < dimensions; i++) sizes[i] = i < a->type.dimensions ? a->sizes[i] : 1;
  return reshape(machine, a, dimensions, sizes, out);
}

static bool run_PROMOTE(Machine *machine, const Value *a, uint32_t count, Value *out) {
  (void)count;
  int64_t n;
  if (!value_integer(machine, &a[1], &n)) return false;
  if (n < a[0].type.dimensions || n > TYPE_MAX_DIMENSIONS)
    return machine_error(machine, "promote() of %s to %lld dimensions", value_sizes_text(machine, a), (long long)n);
  return promote(machine, a, (uint32_t)n, out);
}

static bool run_TRANSPOSE(Machine *machine, const Value *a, uint32_t count, Value *out) {
  (void)count;
  uint32_t rows = a[0].sizes[0], columns = a[0].sizes[1], rest = a[0].count ? a[0].count / (rows * columns) : 0;
  uint32_t sizes[TYPE_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < a[0].type.dimensions; i++) sizes[i] = a[0].sizes[i < 2 ? 1 - i : i];
  if (!make(machine, a[0].type, a[0].type.dimensions, sizes, out)) return false;
  for (uint32_t i = 0; i < rows; i++)
    for (uint32_t k = 0; k < columns; k++)
      for (uint32_t r = 0; r < rest; r++)
        copy_element(machine, out, ((size_t)k * rows + i) * rest + r, a, ((size_t)i * columns + k) * rest + r);
  return true;
}

static bool run_OUTER_PRODUCT(Machine *machine, const Value *a, uint32_t count, Value *out) {
  (void)count;
  Value column = a[0], row = a[1];
  uint32_t tall[2] = {a[0].sizes[0], 1}, wide[2] = {1, a[1].sizes[0]};
  column.type.dimensions = row.type.dimensions = 2;
  column.sizes = tall;
  row.sizes = wide;
  Type type = a[0].type;
  if (a[1].type.base == TYPE_REAL) type.base = TYPE_REAL;
  return value_multiply(machine, type, &column, &row, out);
}

static bool run_SYMMETRIC(Machine *machine, const Value *a, uint32_t count, Value *out) {
  (void)count;
  uint32_t n = a[0].sizes[0];
  if (a[0].sizes[1] != n)
    return machine_error(machine, "symmetric() of %s, which is not square", value_sizes_text(machine, a));
  *out = value_copy(machine, a);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < i; k++) copy_element(machine, out, (size_t)i * n + k, a, (size_t)k * n + i);
  return true;
}

/* x[i]*y[k] - x[k]*y[i] */
static bool minor(Machine *machine, const Value *x, const Value *y, uint32_t i, uint32_t k, char *out) {
  const Domain *domain = machine_domain(machine);
  const uint32_t signs[1] = {2};
  char *terms = machine_alloc(machine, 2 * (size_t)domain->size);
  if (!apply_elements(machine, OP_MULTIPLY, element(machine, x, i), element(machine, y, k), terms) ||
      !apply_elements(machine, OP_MULTIPLY, element(machine, x, k), element(machine, y, i), terms + domain->size))
    return false;
  domain->sum(domain->context, terms, signs, 2, out);
  return true;
}

static bool needs_three(Machine *machine, const Value *a, const char *name) {
  return (a->type.dimensions == 1 && a->sizes[0] == 3) ||
         machine_error(machine, "%s() needs vectors of size 3, this is %s", name, value_sizes_text(machine, a));
}

static bool run_CROSS(Machine *machine, const Value *a, uint32_t count, Value *out) {
  (void)count;
  if (!needs_three(machine, &a[0], "cross") || !needs_three(machine, &a[1], "cross")) return false;
  Type type = a[0].type;
  if (a[1].type.base == TYPE_REAL) type.base = TYPE_REAL;
  if (!make(machine, type, 1, a[0].sizes, out)) return false;
  for (uint32_t i = 0; i < 3; i++)
    if (!minor(machine, &a[0], &a[1], (i + 1) % 3, (i + 2) % 3, element(machine, out, i))) return false;
  return true;
}

static void negate_element(Machine *machine, const Value *from, size_t index, Value *to, size_t at) {
  const Domain *domain = machine_domain(machine);
  const uint32_t signs[1] = {1};
  domain->sum(domain->context, element(machine, from, index), signs, 1, element(machine, to, at));
}

static bool run_SKEW(Machine *machine, const Value *a, uint32_t count, Value *out) {
  (void)count;
  static const int8_t place[9] = {0, -3, 2, 3, 0, -1, -2, 1, 0};
  const uint32_t sizes[2] = {3, 3};
  if (!needs_three(machine, a, "skew") || !make(machine, a[0].type, 2, sizes, out)) return false;
  for (uint32_t i = 0; i < 9; i++)
    if (place[i] == 0) set_constant(machine, out, i, 0);
    else if (place[i] > 0) copy_element(machine, out, i, a, (size_t)(place[i] - 1));
    else negate_element(machine, a, (size_t)(-place[i] - 1), out, i);
  return true;
}

static bool run_IDENTITY(Machine *machine, const Value *a, uint32_t count, Value *out) {
  (void)count;
  uint32_t n;
  if (!size_argument(machine, a, &n)) return false;
  const uint32_t sizes[2] = {n, n};
  if (!make(machine, (Type){.base = TYPE_INTEGER}, 2, sizes, out)) return false;
  for (uint32_t i = 0; i < out->count; i++) set_constant(machine, out, i, i % (n + 1) == 0);
  return true;
}

static bool run_DIAGONAL(Machine *machine, const Value *a, uint32_t count, Value *out) {
  (void)count;
  uint32_t n = a[0].sizes[0];
  const uint32_t sizes[2] = {n, n};
  if (!make(machine, a[0].type, 2, sizes, out)) return false;
  for (uint32_t i = 0; i < out->count; i++)
    if (i % (n + 1) == 0) copy_element(machine, out, i, a, i / (n + 1));
    else set_constant(machine, out, i, 0);
  return true;
}

static bool filled(Machine *machine, Type type, const Value *sizes, uint32_t count, Value *out) {
  uint32_t list[TYPE_MAX_DIMENSIONS];
  if (count + type.dimensions > TYPE_MAX_DIMENSIONS)
    return machine_error(machine, "more than %d dimensions", TYPE_MAX_DIMENSIONS);
  for (uint32_t i = 0; i < count; i++)
    if (!size_argument(machine, &sizes[i], &list[i])) return false;
  return make(machine, type, count, list, out);
}

static bool run_ZEROS(Machine *machine, const Value *a, uint32_t count, Value *out) {
  return filled(machine, (Type){.base = TYPE_INTEGER}, a, count, out) && value_zero(machine, out);
}

static bool run_ONES(Machine *machine, const Value *a, uint32_t count, Value *out) {
  if (!filled(machine, (Type){.base = TYPE_INTEGER}, a, count, out)) return false;
  for (uint32_t i = 0; i < out->count; i++) set_constant(machine, out, i, 1);
  return true;
}

/* fill with an array s: the given sizes come first, then those of s. */
static bool run_FILL(Machine *machine, const Value *a, uint32_t count, Value *out) {
  uint32_t sizes[TYPE_MAX_DIMENSIONS], given = count - 1, dimensions = given + a[0].type.dimensions;
  if (dimensions > TYPE_MAX_DIMENSIONS) return machine_error(machine, "more than %d dimensions", TYPE_MAX_DIMENSIONS);
  double product = 1;
  for (uint32_t i = 0; i < given; i++) {
    if (!size_argument(machine, &a[1 + i], &sizes[i])) return false;
    product *= sizes[i];
  }
  uint64_t copies = product > INT32_MAX ? UINT64_MAX / 2 : (uint64_t)product;
  if (!machine_charge(machine, copies)) return false;
  for (uint32_t i = 0; i < a[0].type.dimensions; i++) sizes[given + i] = a[0].sizes[i];
  Value *items = machine_alloc(machine, (size_t)copies * sizeof *items), list;
  for (uint64_t i = 0; i < copies; i++) items[i] = a[0];
  if (copies == 0) return make(machine, a[0].type, dimensions, sizes, out) && value_zero(machine, out);
  if (!value_array(machine, items, (uint32_t)copies, a[0].type, &list)) return false;
  return reshape(machine, &list, dimensions, sizes, out);
}

static bool run_LINSPACE(Machine *machine, const Value *a, uint32_t count, Value *out) {
  (void)count;
  const Domain *domain = machine_domain(machine);
  uint32_t n, size = domain->size;
  if (!size_argument(machine, &a[2], &n)) return false;
  if (n < 2) return machine_error(machine, "linspace() needs at least 2 points, not %u", n);
  const uint32_t sizes[1] = {n}, minus[1] = {2}, plus[1] = {0};
  if (!make(machine, (Type){.base = TYPE_REAL}, 1, sizes, out)) return false;
  char *pair = machine_alloc(machine, 4 * (size_t)size), *span = pair + 2 * (size_t)size, *part = span + size;
  memcpy(pair, a[1].data, size);
  memcpy(pair + size, a[0].data, size);
  domain->sum(domain->context, pair, minus, 2, span);
  for (uint32_t i = 0; i < n; i++) {
    domain->constant(domain->context, (double)i / (n - 1), part);
    memcpy(pair, a[0].data, size);
    if (!apply_elements(machine, OP_MULTIPLY, part, span, pair + size)) return false;
    domain->sum(domain->context, pair, plus, 2, element(machine, out, i));
  }
  return true;
}

/* Concatenates arrays with equal numbers of dimensions along dimension `along` (0-based). */
static bool concatenate(Machine *machine, const Value *parts, uint32_t count, uint32_t along, Value *out) {
  uint32_t sizes[TYPE_MAX_DIMENSIONS] = {0}, dimensions = parts[0].type.dimensions;
  Type type = parts[0].type;
  for (uint32_t k = 0; k < dimensions; k++) sizes[k] = parts[0].sizes[k];
  for (uint32_t i = 1; i < count; i++) {
    if (parts[i].type.base == TYPE_REAL) type.base = TYPE_REAL;
    for (uint32_t k = 0; k < dimensions; k++)
      if (k != along && parts[i].sizes[k] != sizes[k])
        return machine_error(machine, "sizes do not fit: %s and %s", value_sizes_text(machine, &parts[0]),
                             value_sizes_text(machine, &parts[i]));
    sizes[along] += parts[i].sizes[along];
  }
  if (type.base == TYPE_RECORD) return machine_error(machine, "not supported yet: concatenation of records");
  if (!make(machine, type, dimensions, sizes, out)) return false;
  size_t before = 1, after = machine_domain(machine)->size;
  for (uint32_t k = 0; k < along; k++) before *= sizes[k];
  for (uint32_t k = along + 1; k < dimensions; k++) after *= sizes[k];
  char *to = out->data;
  for (size_t b = 0; b < before; b++)
    for (uint32_t i = 0; i < count; i++) {
      size_t bytes = after * parts[i].sizes[along];
      if (bytes) memcpy(to, parts[i].data + b * bytes, bytes);
      to += bytes;
    }
  return true;
}

static bool run_CAT(Machine *machine, const Value *a, uint32_t count, Value *out) {
  int64_t along;
  if (!value_integer(machine, &a[0], &along)) return false;
  if (along < 1 || along > a[1].type.dimensions)
    return machine_error(machine, "cat() along dimension %lld of arrays with %u", (long long)along,
                         a[1].type.dimensions);
  return concatenate(machine, a + 1, count - 1, (uint32_t)along - 1, out);
}

bool builtin_matrix(Machine *machine, const Value *parts, uint32_t count, uint32_t along, Value *out) {
  uint32_t dimensions = 2;
  for (uint32_t i = 0; i < count; i++)
    if (parts[i].type.dimensions > dimensions) dimensions = parts[i].type.dimensions;
  Value *promoted = machine_alloc(machine, count * sizeof *promoted);
  for (uint32_t i = 0; i < count; i++)
    if (!promote(machine, &parts[i], dimensions, &promoted[i])) return false;
  return concatenate(machine, promoted, count, along, out);
}

static bool run_ARRAY(Machine *machine, const Value *a, uint32_t count, Value *out) {
  return value_array(machine, a, count, type_scalar(TYPE_REAL), out);
}

/* Applies one operator over all elements (at least one) as a tree of pairs. In a chain of n elements the derivatives would have n^2
 * terms. */
static bool fold(Machine *machine, Op op, const Value *a, Value *out) {
  size_t size = machine_domain(machine)->size;
  char *parts = machine_alloc(machine, a->count * size);
  memcpy(parts, a->data, a->count * size);
  for (size_t count = a->count; count > 1; count = (count + 1) / 2)
    for (size_t i = 0; i < count; i += 2) {
      char *pair = parts + i * size, *to = parts + i / 2 * size;
      if (i + 1 == count) memmove(to, pair, size);
      else if (!apply_elements(machine, op, pair, pair + size, to)) return false;
    }
  if (!make(machine, a->type, 0, NULL, out)) return false;
  memcpy(out->data, parts, size);
  return true;
}

static bool reduce(Machine *machine, Op op, const Value *a, uint32_t count, Value *out) {
  Type type = a[0].type;
  if (count == 2) {
    if (a[1].type.base == TYPE_REAL) type.base = TYPE_REAL;
    return value_apply(machine, op, type, a, count, out);
  }
  if (a[0].count == 0) {
    /* The neutral element: the largest number for min, the smallest for max. */
    double infinite = type.base == TYPE_REAL ? 1.7976931348623157e308 : 2147483647;
    *out = value_scalar(machine, (BaseType)type.base, op == OP_MIN ? infinite : -infinite);
    return true;
  }
  return fold(machine, op, &a[0], out);
}

static bool run_MIN(Machine *machine, const Value *a, uint32_t count, Value *out) {
  return reduce(machine, OP_MIN, a, count, out);
}

static bool run_MAX(Machine *machine, const Value *a, uint32_t count, Value *out) {
  return reduce(machine, OP_MAX, a, count, out);
}

static bool run_SUM(Machine *machine, const Value *a, uint32_t count, Value *out) {
  (void)count;
  const Domain *domain = machine_domain(machine);
  if (!make(machine, a[0].type, 0, NULL, out)) return false;
  if (a[0].count == 0) return value_zero(machine, out);
  uint32_t words = a[0].count / 32 + 1, *signs = machine_alloc(machine, words * sizeof *signs);
  memset(signs, 0, words * sizeof *signs);
  domain->sum(domain->context, a[0].data, signs, a[0].count, out->data);
  return value_check_integers(machine, out);
}

/* The sum along the first dimension. */
static bool run_SUM_FIRST(Machine *machine, const Value *a, uint32_t count, Value *out) {
  (void)count;
  const Domain *domain = machine_domain(machine);
  if (!make(machine, a[0].type, a[0].type.dimensions - 1u, a[0].sizes + 1, out)) return false;
  uint32_t parts = a[0].sizes[0], words = parts / 32 + 1, *signs = machine_alloc(machine, words * sizeof *signs);
  if (!parts) return value_zero(machine, out);
  char *list = machine_alloc(machine, parts * domain->size);
  memset(signs, 0, words * sizeof *signs);
  for (uint32_t k = 0; k < out->count; k++) {
    for (uint32_t i = 0; i < parts; i++)
      memcpy(list + i * domain->size, element(machine, a, i * out->count + k), domain->size);
    domain->sum(domain->context, list, signs, parts, (char *)out->data + k * domain->size);
  }
  return value_check_integers(machine, out);
}

static bool run_PRODUCT(Machine *machine, const Value *a, uint32_t count, Value *out) {
  (void)count;
  *out = value_scalar(machine, (BaseType)a[0].type.base, 1);
  return a[0].count == 0 || (fold(machine, OP_MULTIPLY, &a[0], out) && value_check_integers(machine, out));
}

static bool run_INTEGER(Machine *machine, const Value *a, uint32_t count, Value *out) {
  (void)machine, (void)count;
  *out = a[0];
  out->type.base = TYPE_INTEGER;
  return true;
}

/* Reads the options after the value; false if one is not known or is not a valid format. */
static bool read_format(Machine *machine, const Value *a, uint32_t count, TextFormat *format) {
  const Domain *domain = machine_domain(machine);
  double options[3];
  for (uint32_t i = 1; i < count && i < 4; i++)
    if (!domain->known(domain->context, a[i].data, &options[i - 1])) return false;
  bool has_format = count > 1 && a[1].type.base == TYPE_STRING;
  return text_format_read((BaseType)a[0].type.base, options, count - 1,
                          has_format ? names_text(machine_names(machine), (Name)options[0]) : NULL, format);
}

/* The literal name of an enumeration value that is not known: if e == 1 then a[1] else if e == 2 ... */
static bool choose_literal(Machine *machine, const Value *a, uint32_t literals, char *out) {
  const Domain *domain = machine_domain(machine);
  char *sides = machine_alloc(machine, 2 * domain->size), *is_this = machine_alloc(machine, domain->size);
  memcpy(out, a[literals].data, domain->size);
  for (uint32_t k = literals; k-- > 1;) {
    memcpy(sides, a[0].data, domain->size);
    domain->constant(domain->context, k, sides + domain->size);
    if (!domain->apply(domain->context, OP_EQUAL, sides, 2, is_this)) return machine_unknown(machine, "a text");
    domain->select(domain->context, is_this, a[k].data, out, out);
  }
  return true;
}

/* String(value, ...): makes the text if all arguments are known; otherwise the domain does it. After an enumeration value come the
 * names of its literals. */
static bool run_TEXT(Machine *machine, const Value *a, uint32_t count, Value *out) {
  const Domain *domain = machine_domain(machine);
  *out = (Value){.type = {.base = TYPE_STRING}, .count = 1, .data = machine_alloc(machine, domain->size)};
  double number;
  TextFormat format;
  if (a[0].type.base == TYPE_STRING) {
    memcpy(out->data, a[0].data, domain->size);
    return true;
  }
  bool is_known = !domain->has_no_texts && domain->known(domain->context, a[0].data, &number);
  if (a[0].type.base == TYPE_ENUMERATION) {
    bool is_literal = is_known && number >= 1 && number < count && a[(uint32_t)number].type.base == TYPE_STRING;
    if (is_literal) memcpy(out->data, a[(uint32_t)number].data, domain->size);
    if (is_literal) return true;
    uint32_t literals = 0;
    while (literals + 1 < count && a[literals + 1].type.base == TYPE_STRING) literals++;
    if (literals && !domain->has_no_texts) return choose_literal(machine, a, literals, out->data);
    count = 1;
  } else if (is_known && read_format(machine, a, count, &format)) {
    TextVec text = {0};
    text_of_number(machine_names(machine)->arena.heap, &text, number, (BaseType)a[0].type.base, &format);
    domain->text(domain->context, names_add(machine_names(machine), text.data, text.count), out->data);
    vec_free(machine_names(machine)->arena.heap, &text);
    return true;
  }
  char *scalars = machine_alloc(machine, (size_t)count * domain->size);
  for (uint32_t i = 0; i < count; i++) memcpy(scalars + (size_t)i * domain->size, a[i].data, domain->size);
  return domain->apply(domain->context, OP_STRING_OF, scalars, count, out->data) || machine_unknown(machine, "a text");
}

/* sqrt(v*v) */
static bool run_VECTOR_LENGTH(Machine *machine, const Value *a, uint32_t count, Value *out) {
  (void)count;
  Value square;
  Type real = {.base = TYPE_REAL};
  return value_multiply(machine, real, &a[0], &a[0], &square) && value_apply(machine, OP_SQRT, real, &square, 1, out);
}

/* smooth(0, v / (if length(v) >= eps then length(v) else eps)); with noEvent, because the quotient does not jump */
static bool run_VECTOR_NORMALIZE(Machine *machine, const Value *a, uint32_t count, Value *out) {
  const Type real = {.base = TYPE_REAL}, boolean = {.base = TYPE_BOOLEAN};
  Value length, pair[2], test, quiet, divisor;
  if (!run_VECTOR_LENGTH(machine, a, 1, &length)) return false;
  pair[0] = length;
  pair[1] = count == 2 ? a[1] : value_scalar(machine, TYPE_REAL, 100 * 2.220446049250313e-16);
  if (!value_apply(machine, OP_GREATER_EQUAL, boolean, pair, 2, &test) ||
      !value_apply(machine, OP_NOEVENT, boolean, &test, 1, &quiet) ||
      !value_select(machine, quiet.data, &pair[0], &pair[1], &divisor))
    return false;
  pair[0] = a[0];
  pair[1] = divisor;
  return value_apply(machine, OP_DIVIDE, real, pair, 2, out);
}

bool builtin_run(Machine *machine, Builtin builtin, const Value *arguments, uint32_t count, Value *out) {
  static const BuiltinRun run[BUILTIN_COUNT] = {
#define BUILTIN(id, ...) [BUILTIN_##id] = run_##id,
#include "model/builtin.def"
#undef BUILTIN
  };
  return run[builtin](machine, arguments, count, out);
}
