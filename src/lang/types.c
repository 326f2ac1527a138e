/* types: which types fit where, and the result types of the language's own functions. One table row per function.
 *
 * Invariant: TYPE_NOTHING is the type of anything that already had an error. It fits everywhere, so that one mistake is reported
 * once. */
#include "lang/elaborate.h"

#include <string.h>

static const char *base_text(const Elaboration *el, Type type) {
  switch ((BaseType)type.base) {
  case TYPE_REAL: return "Real";
  case TYPE_INTEGER: return "Integer";
  case TYPE_BOOLEAN: return "Boolean";
  case TYPE_STRING: return "String";
  case TYPE_ENUMERATION: return names_text(el->names, el->model->enumerations.data[type.definition].name);
  case TYPE_EXTERNAL_OBJECT: return names_text(el->names, el->model->external_objects.data[type.definition].name);
  case TYPE_CLOCK: return "Clock";
  case TYPE_RECORD: return names_text(el->names, el->model->records.data[type.definition].name);
  case TYPE_NOTHING: break;
  }
  return "nothing";
}

const char *type_text(Elaboration *el, Type type) {
  const char *base = base_text(el, type);
  if (type.dimensions == 0) return base;
  char marks[2 * TYPE_MAX_DIMENSIONS + 2] = "[";
  size_t at = 1;
  for (uint32_t i = 0; i < type.dimensions && i < TYPE_MAX_DIMENSIONS; i++) {
    if (i) marks[at++] = ',';
    marks[at++] = ':';
  }
  marks[at++] = ']';
  marks[at] = 0;
  return arena_printf(&el->arena, "%s%s", base, marks);
}

static bool type_same(const Elaboration *el, Type a, Type b);

/* Records are the same if their fields are: tools write several names for one record. Depth is bounded by the definitions. */
static bool same_record(const Elaboration *el, uint32_t a, uint32_t b) {
  if (a == b) return true;
  const Record *x = &el->model->records.data[a], *y = &el->model->records.data[b];
  if (x->function || y->function) return x->function && y->function;
  if (x->fields.count != y->fields.count) return false;
  for (uint32_t i = 0; i < x->fields.count; i++)
    if (x->fields.data[i].name != y->fields.data[i].name ||
        !type_same(el, x->fields.data[i].type, y->fields.data[i].type))
      return false;
  return true;
}

/* Enumerations are the same if their literals are: one that is declared in a model may have several names. */
static bool same_enumeration(const Elaboration *el, uint32_t a, uint32_t b) {
  const Enumeration *x = &el->model->enumerations.data[a], *y = &el->model->enumerations.data[b];
  bool same = x->literals.count == y->literals.count;
  for (uint32_t i = 0; same && a != b && i < x->literals.count; i++) same = x->literals.data[i] == y->literals.data[i];
  return same;
}

static bool type_same(const Elaboration *el, Type a, Type b) {
  if (a.base != b.base || a.dimensions != b.dimensions) return false;
  if (a.base == TYPE_RECORD) return same_record(el, a.definition, b.definition);
  if (a.base == TYPE_ENUMERATION) return same_enumeration(el, a.definition, b.definition);
  if (a.base == TYPE_EXTERNAL_OBJECT) return a.definition == b.definition;
  return true;
}

bool type_fits(const Elaboration *el, Type to, Type from) {
  if (to.base == TYPE_NOTHING || from.base == TYPE_NOTHING) return true;
  if (to.base == TYPE_REAL && from.base == TYPE_INTEGER) from.base = TYPE_REAL;
  return type_same(el, to, from);
}

bool type_is_number(Type type) {
  return type.base == TYPE_REAL || type.base == TYPE_INTEGER || type.base == TYPE_NOTHING;
}

Type type_join(const Elaboration *el, Type a, Type b) {
  if (a.base == TYPE_NOTHING) return b;
  if (type_fits(el, a, b)) return a;
  if (type_fits(el, b, a)) return b;
  return type_scalar(TYPE_NOTHING);
}

/* ---- the language's own functions ---- */

static const Intrinsic intrinsics[] = {
    {"abs", INTRINSIC_SCALAR, OP_ABS, 1, 1, RULE_NUMBER, 0, NULL},
    {"sign", INTRINSIC_SCALAR, OP_SIGN, 1, 1, RULE_INTEGER, 0, NULL},
    {"sqrt", INTRINSIC_SCALAR, OP_SQRT, 1, 1, RULE_REAL, 0, NULL},
    {"exp", INTRINSIC_SCALAR, OP_EXP, 1, 1, RULE_REAL, 0, NULL},
    {"log", INTRINSIC_SCALAR, OP_LOG, 1, 1, RULE_REAL, 0, NULL},
    {"log10", INTRINSIC_SCALAR, OP_LOG10, 1, 1, RULE_REAL, 0, NULL},
    {"sin", INTRINSIC_SCALAR, OP_SIN, 1, 1, RULE_REAL, 0, NULL},
    {"cos", INTRINSIC_SCALAR, OP_COS, 1, 1, RULE_REAL, 0, NULL},
    {"tan", INTRINSIC_SCALAR, OP_TAN, 1, 1, RULE_REAL, 0, NULL},
    {"asin", INTRINSIC_SCALAR, OP_ASIN, 1, 1, RULE_REAL, 0, NULL},
    {"acos", INTRINSIC_SCALAR, OP_ACOS, 1, 1, RULE_REAL, 0, NULL},
    {"atan", INTRINSIC_SCALAR, OP_ATAN, 1, 1, RULE_REAL, 0, NULL},
    {"sinh", INTRINSIC_SCALAR, OP_SINH, 1, 1, RULE_REAL, 0, NULL},
    {"cosh", INTRINSIC_SCALAR, OP_COSH, 1, 1, RULE_REAL, 0, NULL},
    {"tanh", INTRINSIC_SCALAR, OP_TANH, 1, 1, RULE_REAL, 0, NULL},
    {"asinh", INTRINSIC_SCALAR, OP_ASINH, 1, 1, RULE_REAL, 0, NULL},
    {"acosh", INTRINSIC_SCALAR, OP_ACOSH, 1, 1, RULE_REAL, 0, NULL},
    {"atanh", INTRINSIC_SCALAR, OP_ATANH, 1, 1, RULE_REAL, 0, NULL},
    {"atan2", INTRINSIC_SCALAR, OP_ATAN2, 2, 2, RULE_REAL, 0, NULL},
    {"floor", INTRINSIC_SCALAR, OP_FLOOR, 1, 1, RULE_REAL, 0, NULL},
    {"ceil", INTRINSIC_SCALAR, OP_CEIL, 1, 1, RULE_REAL, 0, NULL},
    {"integer", INTRINSIC_SCALAR, OP_INTEGER, 1, 1, RULE_INTEGER, 0, NULL},
    {"div", INTRINSIC_SCALAR, OP_DIV, 2, 2, RULE_NUMBER, 0, NULL},
    {"mod", INTRINSIC_SCALAR, OP_MOD, 2, 2, RULE_NUMBER, 0, NULL},
    {"rem", INTRINSIC_SCALAR, OP_REM, 2, 2, RULE_NUMBER, 0, NULL},
    {"semiLinear", INTRINSIC_SCALAR, OP_SEMILINEAR, 3, 3, RULE_REAL, 0, "x,positiveSlope,negativeSlope"},
    {"noEvent", INTRINSIC_SCALAR, OP_NOEVENT, 1, 1, RULE_KEEP, 0, NULL},
    {"smooth", INTRINSIC_SCALAR, OP_SMOOTH, 2, 2, RULE_KEEP, 1, "p,expr"},
    {"homotopy", INTRINSIC_SCALAR, OP_HOMOTOPY, 2, 2, RULE_REAL, 0, "actual,simplified"},
#define SPECIAL(id, name, fewest, most, rule, base, arguments) \
  {name, INTRINSIC_SPECIAL, SPECIAL_##id, fewest, most, rule, 0, arguments},
#include "model/specials.def"
#define BUILTIN(id, name, fewest, most, rule) {name, INTRINSIC_ARRAY, BUILTIN_##id, fewest, most, rule, 0, NULL},
#include "model/builtin.def"
#undef BUILTIN
};

Type type_nothing(void) { return type_scalar(TYPE_NOTHING); }

enum { INTRINSIC_COUNT = sizeof intrinsics / sizeof intrinsics[0] };

const Intrinsic *intrinsic_find(const char *name) {
  for (uint32_t i = 0; i < INTRINSIC_COUNT; i++)
    if (intrinsics[i].name[0] == name[0] && strcmp(intrinsics[i].name, name) == 0) return &intrinsics[i];
  return NULL;
}

const char *intrinsic_name(uint32_t index) { return index < INTRINSIC_COUNT ? intrinsics[index].name : NULL; }

bool intrinsic_is_refused(const char *name) {
  static const char *const names[] = {"inStream",   "actualStream", "cardinality", "getInstanceName", "activeState",
                                      "transition", "initialState", "rooted",      "isRoot",          "isValid"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

typedef struct Check {
  Elaboration *el;
  Diags *diags;
  const char *name;
  const Span *spans; /* of the arguments */
  bool failed;
} Check;

static void check_failed(Check *check, uint32_t number, Type type, const char *expected) {
  if (!check->failed)
    diag_error(check->diags, DIAG_TYPE_MISMATCH, check->spans[number], "argument %u of `%s` is %s, expected %s",
               number + 1, check->name, type_text(check->el, type), expected);
  check->failed = true;
}

static void check_number(Check *check, uint32_t number, Type type) {
  if (!type_is_number(type)) check_failed(check, number, type, "a number");
}

static void check_dimensions(Check *check, uint32_t number, Type type, uint32_t dimensions, const char *expected) {
  if (type.base != TYPE_NOTHING && type.dimensions != dimensions) check_failed(check, number, type, expected);
}

static void check_size(Check *check, uint32_t number, Type type) {
  if (type.base != TYPE_NOTHING && (type.base != TYPE_INTEGER || type.dimensions))
    check_failed(check, number, type, "an Integer");
}

/* Element by element: arrays have equal numbers of dimensions; scalars combine with any array. */
static Type elementwise(Check *check, const Type *a, uint32_t count) {
  Type type = type_scalar(TYPE_INTEGER);
  for (uint32_t i = 0; i < count; i++) {
    check_number(check, i, a[i]);
    if (a[i].base == TYPE_REAL || a[i].base == TYPE_NOTHING) type.base = TYPE_REAL;
    if (a[i].dimensions == 0) continue;
    if (type.dimensions && type.dimensions != a[i].dimensions) check_failed(check, i, a[i], "an array like the other");
    type.dimensions = a[i].dimensions;
  }
  return type;
}

static Type array_type(Check *check, const Type *a, uint32_t count, const char *expected) {
  Type type = a[0];
  for (uint32_t i = 1; i < count; i++) {
    Type joined = type_join(check->el, type, a[i]);
    if (joined.base == TYPE_NOTHING && type.base != TYPE_NOTHING) check_failed(check, i, a[i], expected);
    else type = joined;
  }
  return type;
}

/* Clock(intervalCounter, resolution), Clock(interval), Clock(condition, startInterval), Clock(c, solverMethod). */
static Type clock_type(Check *check, const Type *a, uint32_t n) {
  if (n && !type_is_number(a[0]) && a[0].base != TYPE_BOOLEAN && a[0].base != TYPE_CLOCK)
    check_failed(check, 0, a[0], "an Integer, a Real, a Boolean or a Clock");
  if (n == 2 && a[0].base == TYPE_REAL) check_failed(check, 0, a[0], "an Integer");
  if (n == 2 && a[0].base == TYPE_INTEGER) check_size(check, 1, a[1]);
  if (n == 2 && a[0].base == TYPE_BOOLEAN) check_number(check, 1, a[1]);
  if (n == 2 && a[0].base == TYPE_CLOCK && a[1].base != TYPE_STRING) check_failed(check, 1, a[1], "a String");
  return type_with_dimensions(type_scalar(TYPE_CLOCK), n ? a[0].dimensions : 0);
}

/* sample(start, interval) is an event, sample(u) and sample(u, clock) a value. */
static bool is_sampled(const Type *a, uint32_t n) { return n == 1 || (n == 2 && a[1].base == TYPE_CLOCK); }

Special special_variant(Special special, const Type *a, uint32_t n) {
  if (special == SPECIAL_SAMPLE) return is_sampled(a, n) ? SPECIAL_SAMPLED : SPECIAL_SAMPLE;
  if (special != SPECIAL_CLOCK || n == 0) return special;
  if (a[0].base == TYPE_INTEGER) return SPECIAL_CLOCK_COUNTED;
  if (a[0].base == TYPE_BOOLEAN) return SPECIAL_CLOCK_EVENT;
  return a[0].base == TYPE_CLOCK ? SPECIAL_CLOCK_SOLVER : SPECIAL_CLOCK_TIMED;
}

/* Checks the arguments: numbers, whether the flow is positive, then vectors. */
static Type transport_type(Check *check, const Type *a, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    bool is_flag = i == TRANSPORT_POSITIVE, is_vector = i >= TRANSPORT_SCALARS;
    if (!is_flag) check_number(check, i, a[i]);
    else if (a[i].base != TYPE_BOOLEAN && a[i].base != TYPE_NOTHING) check_failed(check, i, a[i], "a Boolean");
    check_dimensions(check, i, a[i], is_vector, is_vector ? "a vector" : "a scalar");
  }
  return type_scalar(TYPE_REAL);
}

static Type rule_type(Check *check, const Intrinsic *f, const Type *a, uint32_t n, int64_t promote_to) {
  Type type;
  switch (f->rule) {
  case RULE_REAL: return type_with_dimensions(type_scalar(TYPE_REAL), elementwise(check, a, n).dimensions);
  case RULE_NUMBER: return elementwise(check, a, n);
  case RULE_INTEGER:
    if (f->kind == INTRINSIC_ARRAY) return type_scalar(TYPE_INTEGER);
    return type_with_dimensions(type_scalar(TYPE_INTEGER), elementwise(check, a, n).dimensions);
  case RULE_KEEP: return a[f->keep];
  case RULE_BOOLEAN:
    for (uint32_t i = 0; i < n; i++) check_number(check, i, a[i]);
    return type_scalar(TYPE_BOOLEAN);
  case RULE_LOGIC:
    if (a[0].base != TYPE_BOOLEAN && a[0].base != TYPE_NOTHING) check_failed(check, 0, a[0], "a Boolean");
    return a[0];
  case RULE_ANY_BOOLEAN: return type_with_dimensions(type_scalar(TYPE_BOOLEAN), a[0].dimensions);
  case RULE_SAMPLE:
    if (is_sampled(a, n)) return a[0];
    for (uint32_t i = 0; i < n; i++) check_number(check, i, a[i]);
    return type_scalar(TYPE_BOOLEAN);
  case RULE_VALUE:
    if (a[0].base == TYPE_CLOCK) check_failed(check, 0, a[0], "a clocked variable");
    return a[0];
  case RULE_RATE:
    for (uint32_t i = 1; i < n; i++) check_size(check, i, a[i]);
    return a[0];
  case RULE_OF_CLOCK: return type_with_dimensions(type_scalar(special_base((Special)f->code)), n ? a[0].dimensions : 0);
  case RULE_CLOCK: return clock_type(check, a, n);
  case RULE_SIZE:
    if (n == 2) check_size(check, 1, a[1]);
    return type_with_dimensions(type_scalar(TYPE_INTEGER), n == 1);
  case RULE_SCALAR: return type_with_dimensions(a[0], 0);
  case RULE_VECTOR: return type_with_dimensions(a[0], 1);
  case RULE_MATRIX: return type_with_dimensions(a[0], 2);
  case RULE_PROMOTE:
    if (promote_to < 0 || promote_to > TYPE_MAX_DIMENSIONS) check_failed(check, 1, a[1], "an Integer literal");
    else return type_with_dimensions(a[0], (uint32_t)promote_to);
    return a[0];
  case RULE_TRANSPOSE:
    if (a[0].base != TYPE_NOTHING && a[0].dimensions < 2) check_failed(check, 0, a[0], "a matrix");
    if (a[0].base == TYPE_RECORD) check_failed(check, 0, a[0], "a matrix");
    return a[0];
  case RULE_OUTER_PRODUCT:
    for (uint32_t i = 0; i < 2; i++) check_number(check, i, a[i]), check_dimensions(check, i, a[i], 1, "a vector");
    type = a[0].base == TYPE_REAL ? a[0] : a[1];
    return type_with_dimensions(type, 2);
  case RULE_SQUARE:
    check_number(check, 0, a[0]);
    check_dimensions(check, 0, a[0], 2, "a square matrix");
    return a[0];
  case RULE_CROSS:
    for (uint32_t i = 0; i < 2; i++)
      check_number(check, i, a[i]), check_dimensions(check, i, a[i], 1, "a vector of size 3");
    return a[0].base == TYPE_REAL ? a[0] : a[1];
  case RULE_SKEW:
    check_number(check, 0, a[0]);
    check_dimensions(check, 0, a[0], 1, "a vector of size 3");
    return type_with_dimensions(a[0], 2);
  case RULE_IDENTITY: check_size(check, 0, a[0]); return type_with_dimensions(type_scalar(TYPE_INTEGER), 2);
  case RULE_DIAGONAL:
    check_number(check, 0, a[0]);
    check_dimensions(check, 0, a[0], 1, "a vector");
    return type_with_dimensions(a[0], 2);
  case RULE_ZEROS:
    for (uint32_t i = 0; i < n; i++) check_size(check, i, a[i]);
    return type_with_dimensions(type_scalar(TYPE_INTEGER), n);
  case RULE_FILL:
    for (uint32_t i = 1; i < n; i++) check_size(check, i, a[i]);
    return type_with_dimensions(a[0], a[0].dimensions + n - 1);
  case RULE_LINSPACE:
    for (uint32_t i = 0; i < 2; i++) check_number(check, i, a[i]), check_dimensions(check, i, a[i], 0, "a scalar");
    check_size(check, 2, a[2]);
    return type_with_dimensions(type_scalar(TYPE_REAL), 1);
  case RULE_CAT:
    check_size(check, 0, a[0]);
    if (a[1].base != TYPE_NOTHING && a[1].dimensions == 0) check_failed(check, 1, a[1], "an array");
    return array_type(check, a + 1, n - 1, "an array like the first");
  case RULE_ARRAY:
    type = array_type(check, a, n, "a value like the first");
    return type_with_dimensions(type, type.dimensions + 1u);
  case RULE_EXTREME:
    if (n == 2 && (a[0].base == TYPE_BOOLEAN || a[0].base == TYPE_ENUMERATION) && a[1].base == a[0].base &&
        a[1].definition == a[0].definition && !a[0].dimensions && !a[1].dimensions)
      return a[0];
    if (n == 2) return elementwise(check, a, n);
    if (a[0].base == TYPE_RECORD || a[0].base == TYPE_STRING || a[0].base == TYPE_EXTERNAL_OBJECT)
      check_failed(check, 0, a[0], "numbers");
    return type_with_dimensions(a[0], 0);
  case RULE_REDUCE:
    check_number(check, 0, a[0]);
    if (check->el->model->is_strict && a[0].base != TYPE_NOTHING && a[0].dimensions == 0)
      check_failed(check, 0, a[0], "an array");
    return type_with_dimensions(a[0], 0);
  case RULE_TEXT:
    check_dimensions(check, 0, a[0], 0, "a scalar");
    if (a[0].base == TYPE_RECORD || a[0].base == TYPE_EXTERNAL_OBJECT)
      check_failed(check, 0, a[0], "a number or Boolean");
    return type_scalar(TYPE_STRING);
  case RULE_ORDINAL:
    if (a[0].base != TYPE_ENUMERATION && a[0].base != TYPE_NOTHING) check_failed(check, 0, a[0], "an enumeration");
    return type_with_dimensions(type_scalar(TYPE_INTEGER), a[0].dimensions);
  case RULE_LENGTH:
  case RULE_NORMALIZE:
    check_number(check, 0, a[0]);
    check_dimensions(check, 0, a[0], 1, "a vector");
    if (n == 2) check_number(check, 1, a[1]), check_dimensions(check, 1, a[1], 0, "a scalar");
    return type_with_dimensions(type_scalar(TYPE_REAL), f->rule == RULE_NORMALIZE);
  case RULE_TRANSPORT: return transport_type(check, a, n);
  }
  return type_scalar(TYPE_NOTHING);
}

/* A scalar operator cannot take strings or records, even if it keeps the type of its argument. */
static void check_special(Check *check, const Intrinsic *f, const Type *a, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (f->kind != INTRINSIC_ARRAY && (a[i].base == TYPE_RECORD || a[i].base == TYPE_EXTERNAL_OBJECT))
      check_failed(check, i, a[i], "a scalar or an array");
  if (f->kind == INTRINSIC_SPECIAL && f->code == SPECIAL_DER && a[0].base != TYPE_REAL && a[0].base != TYPE_NOTHING)
    check_failed(check, 0, a[0], "a Real");
}

Type intrinsic_type(Elaboration *el, Diags *diags, const Intrinsic *intrinsic, const Type *arguments, uint32_t count,
                    int64_t promote_to, const Span *spans, Span span) {
  Check check = {el, diags, intrinsic->name, spans, false};
  if (count < intrinsic->fewest || (count > intrinsic->most && intrinsic->most != ANY_NUMBER))
    return diag_error(diags, DIAG_TYPE_MISMATCH, span, "`%s` has %u arguments, expected %u%s", intrinsic->name, count,
                      intrinsic->fewest,
                      intrinsic->most == ANY_NUMBER         ? " or more"
                      : intrinsic->most > intrinsic->fewest ? " or some more"
                                                            : ""),
           type_scalar(TYPE_NOTHING);
  check_special(&check, intrinsic, arguments, count);
  for (uint32_t i = 0; i < count; i++)
    if (arguments[i].base == TYPE_NOTHING) return type_scalar(TYPE_NOTHING);
  Type type = check.failed ? type_scalar(TYPE_NOTHING) : rule_type(&check, intrinsic, arguments, count, promote_to);
  if (type.dimensions > TYPE_MAX_DIMENSIONS) check_failed(&check, 0, type, "fewer dimensions");
  return check.failed ? type_scalar(TYPE_NOTHING) : type;
}
