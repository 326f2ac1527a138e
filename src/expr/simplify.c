/* simplify: the constructors that keep the normal form of dag.h. Each constructor looks at its operands only one or two levels
 * deep, so it is cheap, and each rewriting step leads to fewer or smaller operands, so it ends. No step changes a value
 * where the original is defined (except for rounding); factors that would over- or underflow are left where they are. */
#include "expr/dag_internal.h"

#include <math.h>
#include <string.h>

/* ---- sums ---- */

/* Is this product of constant factors safe from over- and underflow? */
static bool is_safe(double product) { return isfinite(product) && fabs(product) >= DBL_MIN; }

static bool sum_may_merge(const Dag *dag, Expr e, double factor) {
  double constant;
  const Term *terms;
  uint32_t count = dag_terms(dag, e, &constant, &terms);
  if (count > DAG_MERGE_TERMS) return false;
  if (fabs(factor) == 1) return true;
  if (constant != 0 && !is_safe(factor * constant)) return false;
  for (uint32_t i = 0; i < count; i++)
    if (!is_safe(factor * terms[i].coefficient)) return false;
  return true;
}

/* Adds one term to the scratch list and opens short sums; returns its constant part, and adds its size to *size. */
static double sum_gather(Dag *dag, Term term, double *size) {
  double constant = 0;
  const Term *terms;
  if (term.coefficient == 0) return 0;
  if (dag_is_constant(dag, term.node, &constant)) {
    *size += fabs(term.coefficient * constant) / (dag_is_residue(dag, term.node) ? DAG_RESIDUE : 1);
    return term.coefficient * constant;
  }
  if (dag_op(dag, term.node) != OP_SUM || !sum_may_merge(dag, term.node, term.coefficient)) {
    vec_push(dag->heap, &dag->sum, term);
    return 0;
  }
  uint32_t count = dag_terms(dag, term.node, &constant, &terms);
  Term *to = vec_extend(dag->heap, &dag->sum, count);
  for (uint32_t i = 0; i < count; i++) to[i] = (Term){term.coefficient * terms[i].coefficient, terms[i].node};
  return term.coefficient * constant;
}

static int compare_terms(const void *a, const void *b) {
  Expr x = ((const Term *)a)->node, y = ((const Term *)b)->node;
  return (x > y) - (x < y);
}

static void sum_sort(Dag *dag) {
  bool sorted = true;
  for (uint32_t i = 1; i < dag->sum.count && sorted; i++) sorted = dag->sum.data[i - 1].node <= dag->sum.data[i].node;
  if (!sorted) dag_sort(dag->heap, dag->sum.data, dag->sum.count, sizeof(Term), compare_terms);
}

/* Adds up equal neighbours and drops terms that cancel. */
static void sum_collect(Dag *dag) {
  Term *list = dag->sum.data;
  uint32_t kept = 0, count = dag->sum.count;
  for (uint32_t i = 0; i < count; i++) {
    bool same =
        kept && list[kept - 1].node == list[i].node && isfinite(list[kept - 1].coefficient + list[i].coefficient);
    if (same) list[kept - 1].coefficient += list[i].coefficient;
    else list[kept++] = list[i];
    if (same && list[kept - 1].coefficient == 0 && (i + 1 == count || list[i + 1].node != list[i].node)) kept--;
  }
  dag->sum.count = kept;
}

Expr dag_sum(Dag *dag, double constant, const Term *terms, uint32_t count) {
  double size = fabs(constant);
  dag->sum.count = 0;
  for (uint32_t i = 0; i < count; i++) constant += sum_gather(dag, terms[i], &size);
  sum_sort(dag);
  sum_collect(dag);
  constant += 0.0; /* no negative zero */
  const Term *list = dag->sum.data;
  if (dag->sum.count == 0)
    return constant != 0 && fabs(constant) <= DAG_RESIDUE * size ? dag_residue(dag, constant)
                                                                 : dag_constant(dag, constant);
  if (dag->sum.count == 1 && constant == 0 && list[0].coefficient == 1) return list[0].node;
  return dag_intern_sum(dag, constant, list, dag->sum.count);
}

Expr dag_add(Dag *dag, Expr a, Expr b) { return dag_sum(dag, 0, (Term[]){{1, a}, {1, b}}, 2); }
Expr dag_subtract(Dag *dag, Expr a, Expr b) { return dag_sum(dag, 0, (Term[]){{1, a}, {-1, b}}, 2); }
Expr dag_negate(Dag *dag, Expr a) { return dag_sum(dag, 0, (Term[]){{-1, a}}, 1); }

Expr dag_scale(Dag *dag, double factor, Expr a) { return factor == 1 ? a : dag_sum(dag, 0, (Term[]){{factor, a}}, 1); }

/* e = factor * result, with the factor of a sum of one term; factor 1 for everything else. */
static Expr split_factor(const Dag *dag, Expr e, double *factor) {
  double constant;
  const Term *terms;
  *factor = 1;
  if (dag_op(dag, e) != OP_SUM || dag_terms(dag, e, &constant, &terms) != 1 || constant != 0) return e;
  *factor = terms[0].coefficient;
  return terms[0].node;
}

/* ---- products, quotients, powers ---- */

static Expr argument(const Dag *dag, Expr e, uint32_t i) { return dag_child(dag, e, i); }

/* e = base ^ exponent with a constant exponent; everything else is e to the power of 1. */
static Expr split_power(const Dag *dag, Expr e, double *exponent) {
  *exponent = 1;
  if (dag_op(dag, e) != OP_POWER || !dag_is_constant(dag, argument(dag, e, 1), exponent)) return e;
  return argument(dag, e, 0);
}

/* Is e = numerator / y with a constant numerator? */
static bool is_reciprocal(const Dag *dag, Expr e, double *numerator) {
  return dag_op(dag, e) == OP_DIVIDE && dag_is_constant(dag, argument(dag, e, 0), numerator);
}

static bool is_integer(double value) { return value == floor(value) && fabs(value) < 1e15; }

/* x * (c/y) = c*(x/y) */
static Expr multiply_reciprocal(Dag *dag, Expr x, Expr reciprocal, double numerator) {
  Expr quotient = dag_divide(dag, x, argument(dag, reciprocal, 1));
  return dag_scale(dag, numerator, quotient);
}

/* The product of factors without constant factors. */
static Expr multiply_plain(Dag *dag, Expr x, Expr y) {
  double p, q, numerator;
  Expr first = x < y ? x : y, second = x < y ? y : x;
  Expr base = split_power(dag, first, &p), other = split_power(dag, second, &q);
  if (base == other && (p + q) - p == q && (p + q) - q == p) return dag_power(dag, base, dag_constant(dag, p + q));
  if (is_reciprocal(dag, second, &numerator)) return multiply_reciprocal(dag, first, second, numerator);
  if (is_reciprocal(dag, first, &numerator)) return multiply_reciprocal(dag, second, first, numerator);
  return dag_intern(dag, OP_MULTIPLY, (Expr[]){first, second}, 2);
}

Expr dag_multiply(Dag *dag, Expr a, Expr b) {
  double p, q;
  if (dag_is_constant(dag, a, &p)) return dag_scale(dag, p, b);
  if (dag_is_constant(dag, b, &q)) return dag_scale(dag, q, a);
  Expr x = split_factor(dag, a, &p), y = split_factor(dag, b, &q);
  if (!is_safe(p * q)) return dag_intern(dag, OP_MULTIPLY, (Expr[]){a < b ? a : b, a < b ? b : a}, 2);
  return dag_scale(dag, p * q, multiply_plain(dag, x, y));
}

/* With a constant on one side; EXPR_NONE if no rule applies. */
static Expr divide_constants(Dag *dag, Expr a, Expr b) {
  double p = 0, q = 0;
  bool over = dag_is_constant(dag, a, &p), under = dag_is_constant(dag, b, &q);
  if (under && (q == 0 || dag_is_residue(dag, b))) return dag_intern(dag, OP_DIVIDE, (Expr[]){a, b}, 2);
  if (over && under && isfinite(p / q)) return dag_constant(dag, p / q);
  if (over && p == 0) return EXPR_ZERO;
  if (under && q == 1) return a;
  if (under && q < 0) return dag_negate(dag, dag_divide(dag, a, dag_constant(dag, -q)));
  if (over && p < 0) return dag_negate(dag, dag_divide(dag, dag_constant(dag, -p), b));
  return EXPR_NONE;
}

/* x^p / x^q */
static Expr divide_powers(Dag *dag, Expr base, double exponent) {
  Expr power = dag_power(dag, base, dag_constant(dag, fabs(exponent)));
  return exponent >= 0 ? power : dag_divide(dag, EXPR_ONE, power);
}

Expr dag_divide(Dag *dag, Expr a, Expr b) {
  double p, q;
  Expr known = divide_constants(dag, a, b);
  if (known != EXPR_NONE) return known;
  if (a == b) return EXPR_ONE;
  Expr x = split_factor(dag, a, &p);
  split_factor(dag, b, &q);
  if (q < 0) {
    Expr positive = dag_negate(dag, b), quotient = dag_divide(dag, a, positive);
    return dag_negate(dag, quotient);
  }
  if (p != 1) return dag_scale(dag, p, dag_divide(dag, x, b));
  Expr base = split_power(dag, a, &p), other = split_power(dag, b, &q);
  if (base == other && (p - q) + q == p && p - (p - q) == q) return divide_powers(dag, base, p - q);
  return dag_intern(dag, OP_DIVIDE, (Expr[]){a, b}, 2);
}

/* a ^ n for an integer n >= 2; EXPR_NONE if no rule applies. */
static Expr power_integer(Dag *dag, Expr a, double n) {
  double factor, exponent;
  bool even = fmod(n, 2) == 0;
  Op op = dag_op(dag, a);
  Expr base = split_power(dag, a, &exponent), plain = split_factor(dag, a, &factor);
  if (base != a && fabs(exponent * n) < 1e15) return dag_power(dag, base, dag_constant(dag, exponent * n));
  if (op == OP_SQRT && even) return dag_power(dag, argument(dag, a, 0), dag_constant(dag, n / 2));
  if (op == OP_ABS && even) return dag_power(dag, argument(dag, a, 0), dag_constant(dag, n));
  if (factor != 1 && is_safe(pow(factor, n)))
    return dag_scale(dag, pow(factor, n), dag_power(dag, plain, dag_constant(dag, n)));
  if (is_reciprocal(dag, a, &factor) && is_safe(pow(factor, n))) {
    Expr under = dag_power(dag, argument(dag, a, 1), dag_constant(dag, n));
    return dag_divide(dag, dag_constant(dag, pow(factor, n)), under);
  }
  return EXPR_NONE;
}

Expr dag_power(Dag *dag, Expr a, Expr b) {
  double x[2], value;
  bool constant = dag_is_constant(dag, b, &x[1]);
  Expr known = EXPR_NONE;
  if (dag_is_constant(dag, a, &x[0])) {
    if (x[0] == 1) return EXPR_ONE;
    if (dag_is_residue(dag, a)) return dag_intern(dag, OP_POWER, (Expr[]){a, b}, 2);
    if (constant && op_evaluate(OP_POWER, x, &value) && isfinite(value)) return dag_constant(dag, value);
  } else if (constant) {
    if (x[1] == 0) return EXPR_ONE;
    if (x[1] == 1) return a;
    if (x[1] == 0.5) return dag_unary(dag, OP_SQRT, a);
    if (x[1] < 0 && (is_integer(x[1]) || x[1] == -0.5))
      return dag_divide(dag, EXPR_ONE, dag_power(dag, a, dag_constant(dag, -x[1])));
    if (is_integer(x[1])) known = power_integer(dag, a, x[1]);
  }
  return known != EXPR_NONE ? known : dag_intern(dag, OP_POWER, (Expr[]){a, b}, 2);
}

/* ---- functions ---- */

/* The operator on constants: folded if the value is defined and finite. */
static Expr fold(Dag *dag, Op op, const Expr *arguments, uint32_t count) {
  double x[3] = {0}, value;
  for (uint32_t i = 0; i < count; i++)
    if (!dag_is_constant(dag, arguments[i], &x[i])) return EXPR_NONE;
  bool known = count && op != OP_HOMOTOPY && op_evaluate(op, x, &value) && isfinite(value);
  return known ? dag_constant(dag, value) : EXPR_NONE;
}

/* sqrt(u^n) for even n is |u|^(n/2) */
static Expr simplify_sqrt(Dag *dag, Expr a) {
  double n;
  Expr base = split_power(dag, a, &n);
  if (base == a || !is_integer(n) || fmod(n, 2) != 0) return EXPR_NONE;
  Expr root = dag_power(dag, base, dag_constant(dag, n / 2));
  return fmod(n, 4) == 0 ? root : dag_unary(dag, OP_ABS, root);
}

static Expr simplify_abs(Dag *dag, Expr a) {
  double factor, n;
  Op op = dag_op(dag, a);
  Expr plain = split_factor(dag, a, &factor);
  split_power(dag, a, &n);
  if (op == OP_ABS || op == OP_SQRT || op == OP_EXP || (is_integer(n) && fmod(n, 2) == 0)) return a;
  return factor == 1 ? EXPR_NONE : dag_scale(dag, fabs(factor), dag_unary(dag, OP_ABS, plain));
}

/* f(-x) = -f(x) or f(x), if a is a negative multiple. */
static Expr simplify_parity(Dag *dag, Op op, Expr a, bool odd) {
  double factor;
  split_factor(dag, a, &factor);
  if (factor >= 0) return EXPR_NONE;
  Expr positive = dag_unary(dag, op, dag_negate(dag, a));
  return odd ? dag_negate(dag, positive) : positive;
}

/* edge and change of a discrete variable are expressed by pre; they are false for something that cannot change. */
static Expr simplify_edge(Dag *dag, Op op, Expr a) {
  Op leaf = dag_op(dag, a);
  if (leaf == OP_CONSTANT || leaf == OP_PARAMETER || leaf == OP_STRING) return EXPR_ZERO;
  if (leaf != OP_DISCRETE) return EXPR_NONE;
  Expr before = dag_pre(dag, dag_index(dag, a));
  if (op == OP_CHANGE) return dag_binary(dag, OP_NOT_EQUAL, a, before);
  return dag_binary(dag, OP_AND, a, dag_unary(dag, OP_NOT, before));
}

static Expr simplify_unary(Dag *dag, Op op, Expr a) {
  switch (op) {
  case OP_SQRT: return simplify_sqrt(dag, a);
  case OP_ABS: return simplify_abs(dag, a);
  case OP_EXP: return dag_op(dag, a) == OP_LOG ? argument(dag, a, 0) : EXPR_NONE;
  case OP_LOG: return dag_op(dag, a) == OP_EXP ? argument(dag, a, 0) : EXPR_NONE;
  case OP_NOT: return dag_op(dag, a) == OP_NOT ? argument(dag, a, 0) : EXPR_NONE;
  case OP_NOEVENT: return dag_has_event(dag, a) ? EXPR_NONE : a;
  case OP_EDGE:
  case OP_CHANGE: return simplify_edge(dag, op, a);
  case OP_COS:
  case OP_COSH: return simplify_parity(dag, op, a, false);
  case OP_SIN:
  case OP_TAN:
  case OP_ASIN:
  case OP_ATAN:
  case OP_SINH:
  case OP_TANH:
  case OP_ASINH:
  case OP_ATANH:
  case OP_SIGN: return simplify_parity(dag, op, a, true);
  default: return EXPR_NONE;
  }
}

Expr dag_unary(Dag *dag, Op op, Expr a) {
  if (op == OP_SUM) return a;
  Expr known = fold(dag, op, &a, 1);
  if (known == EXPR_NONE) known = simplify_unary(dag, op, a);
  return known != EXPR_NONE ? known : dag_intern(dag, op, &a, 1);
}

/* A relation between equal sides, or between two different string literals, which are compared byte by byte. */
static Expr simplify_relation(Dag *dag, Op op, Expr a, Expr b) {
  if (a == b) return op == OP_LESS_EQUAL || op == OP_GREATER_EQUAL || op == OP_EQUAL ? EXPR_ONE : EXPR_ZERO;
  if (dag_op(dag, a) != OP_STRING || dag_op(dag, b) != OP_STRING) return EXPR_NONE;
  int order = strcmp(names_text(dag->names, dag_index(dag, a)), names_text(dag->names, dag_index(dag, b)));
  return fold(dag, op, (Expr[]){dag_constant(dag, order), EXPR_ZERO}, 2);
}

/* `and` with a true operand is the other operand; with a false operand it is false. For `or` it is the reverse. */
static Expr simplify_logic(Dag *dag, Op op, Expr a, Expr b) {
  double value;
  if (a == b) return a;
  for (int i = 0; i < 2; i++) {
    if (!dag_is_constant(dag, i ? b : a, &value)) continue;
    if ((value != 0) == (op == OP_AND)) return i ? a : b;
    return op == OP_OR ? EXPR_ONE : EXPR_ZERO;
  }
  return EXPR_NONE;
}

static Expr simplify_binary(Dag *dag, Op op, Expr a, Expr b) {
  if (op_kind(op) == KIND_RELATION) return simplify_relation(dag, op, a, b);
  switch (op) {
  case OP_AND:
  case OP_OR: return simplify_logic(dag, op, a, b);
  case OP_MIN:
  case OP_MAX:
    if (a == b) return a;
    return a < b ? EXPR_NONE : dag_intern(dag, op, (Expr[]){b, a}, 2);
  case OP_HOMOTOPY: return a == b ? a : EXPR_NONE;
  case OP_SMOOTH: return dag_has_event(dag, b) ? EXPR_NONE : b;
  default: return EXPR_NONE;
  }
}

Expr dag_binary(Dag *dag, Op op, Expr a, Expr b) {
  switch (op) {
  case OP_SUM: return dag_add(dag, a, b);
  case OP_MULTIPLY: return dag_multiply(dag, a, b);
  case OP_DIVIDE: return dag_divide(dag, a, b);
  case OP_POWER: return dag_power(dag, a, b);
  default: break;
  }
  Expr known = fold(dag, op, (Expr[]){a, b}, 2);
  if (known == EXPR_NONE) known = simplify_binary(dag, op, a, b);
  return known != EXPR_NONE ? known : dag_intern(dag, op, (Expr[]){a, b}, 2);
}

Expr dag_if(Dag *dag, Expr condition, Expr then, Expr otherwise) {
  double value;
  if (dag_is_constant(dag, condition, &value)) return value != 0 ? then : otherwise;
  if (then == otherwise) return then;
  if (dag_op(dag, condition) == OP_NOT) return dag_if(dag, argument(dag, condition, 0), otherwise, then);
  return dag_intern(dag, OP_IF, (Expr[]){condition, then, otherwise}, 3);
}

static Expr semilinear(Dag *dag, const Expr *x) {
  Expr known = fold(dag, OP_SEMILINEAR, x, 3);
  if (known != EXPR_NONE) return known;
  return x[1] == x[2] ? dag_multiply(dag, x[0], x[1]) : dag_intern(dag, OP_SEMILINEAR, x, 3);
}

static Expr sum_of(Dag *dag, const Expr *arguments, uint32_t count) {
  Term *terms = heap_array(dag->heap, count, sizeof *terms);
  for (uint32_t i = 0; i < count; i++) terms[i] = (Term){1, arguments[i]};
  Expr e = dag_sum(dag, 0, terms, count);
  heap_free(dag->heap, terms);
  return e;
}

/* Copies the arguments to scratch memory first, because they may be in the pool, which grows. */
static Expr intern_copy(Dag *dag, Op op, const Expr *arguments, uint32_t count) {
  Expr *copy = heap_copy(dag->heap, arguments, count, sizeof *copy);
  Expr e = dag_intern(dag, op, copy, count);
  heap_free(dag->heap, copy);
  return e;
}

/* Joins texts if all of them are known; EXPR_NONE otherwise. */
static Expr join_texts(Dag *dag, const Expr *parts, uint32_t count) {
  TextVec text = {0};
  uint32_t i = 0;
  for (; i < count && dag_op(dag, parts[i]) == OP_STRING; i++) {
    Name part = dag_index(dag, parts[i]);
    text_append(dag->heap, &text, names_text(dag->names, part), names_length(dag->names, part));
  }
  Expr joined = EXPR_NONE;
  if (i == count) joined = dag_string(dag, names_add(dag->names, text.data ? text.data : "", text.count));
  vec_free(dag->heap, &text);
  return joined;
}

Expr dag_nary(Dag *dag, Op op, const Expr *arguments, uint32_t count) {
  if (op == OP_SUM) return sum_of(dag, arguments, count);
  Expr joined = op == OP_STRING_JOIN ? join_texts(dag, arguments, count) : EXPR_NONE;
  if (joined != EXPR_NONE) return joined;
  switch (op_arity(op)) {
  case 1: return dag_unary(dag, op, arguments[0]);
  case 2: return dag_binary(dag, op, arguments[0], arguments[1]);
  case 3:
    if (op == OP_IF) return dag_if(dag, arguments[0], arguments[1], arguments[2]);
    if (op == OP_INPUT) return intern_copy(dag, op, arguments, count);
    return semilinear(dag, (Expr[]){arguments[0], arguments[1], arguments[2]});
  default: return intern_copy(dag, op, arguments, count);
  }
}

static Expr rebuild_sum(Dag *dag, Expr e, const Expr *children) {
  double constant;
  const Term *terms;
  uint32_t count = dag_terms(dag, e, &constant, &terms);
  Term few[DAG_MERGE_TERMS] = {{0, EXPR_ZERO}},
       *changed = count <= DAG_MERGE_TERMS ? few : heap_array(dag->heap, count, sizeof *changed);
  for (uint32_t i = 0; i < count; i++) changed[i] = (Term){terms[i].coefficient, children[i]};
  Expr result = dag_sum(dag, constant, changed, count);
  if (changed != few) heap_free(dag->heap, changed);
  return result;
}

Expr dag_rebuild(Dag *dag, Expr e, const Expr *children) {
  Op op = dag_op(dag, e);
  uint32_t count = dag_child_count(dag, e);
  if (op_kind(op) == KIND_LEAF) return e;
  if (op == OP_SUM) return rebuild_sum(dag, e, children);
  if (op != OP_CALL) return dag_nary(dag, op, children, count);
  CallInfo call = dag_call_info(dag, e);
  return dag_call(dag, call.function, call.output, call.partials, call.partial_count, children, count);
}
