/* op: see op.h. */
#include "expr/op.h"

#include "expr/op_math.h"

typedef struct OpRow {
  const char *name, *text;
} OpRow;

static const OpRow op_rows[OP_COUNT] = {
#define OP(id, name, arity, kind, value, domain, d1, d2, d3) [OP_##id] = {name, #value},
#include "expr/ops.def"
#undef OP
};
const int8_t op_arities[OP_COUNT] = {
#define OP(id, name, arity, kind, value, domain, d1, d2, d3) [OP_##id] = arity,
#include "expr/ops.def"
#undef OP
};
const uint8_t op_kinds[OP_COUNT] = {
#define OP(id, name, arity, kind, value, domain, d1, d2, d3) [OP_##id] = KIND_##kind,
#include "expr/ops.def"
#undef OP
};

const char *op_name(Op op) { return op_rows[op].name; }
const char *op_text(Op op) { return op_rows[op].text; }

bool op_is_selector(Op op) {
  return op == OP_IF || op == OP_MIN || op == OP_MAX || op == OP_NOEVENT || op == OP_SMOOTH || op == OP_HOMOTOPY;
}

bool op_evaluate(Op op, const double *arguments, double *out) {
  int arity = op_arity(op);
  double a = arity > 0 ? arguments[0] : 0, b = arity > 1 ? arguments[1] : 0, c = arity > 2 ? arguments[2] : 0;
  switch (op) {
#define OP(id, name, arity, kind, value, domain, d1, d2, d3) \
  case OP_##id:                                              \
    if (!(domain)) return false;                             \
    *out = (value);                                          \
    return true;
#include "expr/ops.def"
#undef OP
  default: return false;
  }
}
