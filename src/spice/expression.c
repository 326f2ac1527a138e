/* expression: SPICE expressions to nodes of the graph.
 *
 *   expression = or [ "?" expression ":" expression ]
 *   binary operators by precedence: || && == != < <= > >= + - * / ^ **
 *   primary    = number | name | name "(" expressions ")" | v "(" node [ "," node ] ")" | i "(" source ")"
 *              | "(" expression ")" | "{" expression "}" | "'" expression "'"
 *
 * The call depth is bounded: an expression or a chain of functions and parameters that nests deeper is refused. */
#include "spice/circuit.h"

#include "base/number.h"
#include "base/suggest.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { DEEPEST = 200 };

/* Reading an expression, or one inside it, costs as much as this many steps of work, plus its nodes. */
enum { EXPRESSION_WORK = 80 };

typedef struct Reader {
  Circuit *circuit;
  const Scope *scope;
  Cursor *cursor;
  uint32_t depth;
  bool is_source; /* in a behavioural source: some functions have another meaning there */
} Reader;

static const char *here(const Reader *reader) {
  const Cursor *cursor = reader->cursor;
  return cursor->end && cursor->at >= cursor->end ? "" : cursor->card->text + cursor->at;
}

static void skip_blanks(Reader *reader) {
  while (*here(reader) == ' ') reader->cursor->at++;
}

static bool accept(Reader *reader, const char *symbol) {
  skip_blanks(reader);
  if (strncmp(here(reader), symbol, strlen(symbol)) != 0) return false;
  reader->cursor->at += (uint32_t)strlen(symbol);
  return true;
}

__attribute__((format(printf, 3, 4))) static Expr refuse(Reader *reader, uint32_t begin, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const char *message = arena_vprintf(reader->circuit->arena, format, list);
  va_end(list);
  card_error(reader->circuit->diags, reader->cursor->card, begin, reader->cursor->at, "%s", message);
  return EXPR_NONE;
}

static bool expect(Reader *reader, const char *symbol) {
  if (accept(reader, symbol)) return true;
  refuse(reader, reader->cursor->at, *here(reader) ? "`%s` is expected before `%.8s`" : "`%s` is expected at the end%s",
         symbol, *here(reader) ? here(reader) : "");
  return false;
}

/* ---- numbers ---- */

/* The number with the suffix at `at`. A suffix that makes it smaller divides by a whole power of ten, so that the result is rounded
 * once. */
static double with_suffix(double value, const char *at) {
  static const struct {
    const char *text;
    double factor, divisor;
  } suffixes[] = {{"meg", 1e6, 1}, {"mil", 25.4, 1e6}, {"t", 1e12, 1}, {"g", 1e9, 1},  {"k", 1e3, 1},
                  {"m", 1, 1e3},   {"u", 1, 1e6},      {"n", 1, 1e9},  {"p", 1, 1e12}, {"f", 1, 1e15}};
  for (size_t k = 0; k < sizeof suffixes / sizeof *suffixes; k++)
    if (!strncmp(at, suffixes[k].text, strlen(suffixes[k].text)))
      return value * suffixes[k].factor / suffixes[k].divisor;
  return value;
}

static uint32_t skip_digits(const char *text, uint32_t at) {
  while (isdigit((unsigned char)text[at])) at++;
  return at;
}

/* The exponent may have Fortran's letter: 1d3. As in ngspice, it may have no digits, and a suffix may follow it: 1ek is 1000. */
bool read_number(Cursor *cursor, double *value) {
  enum { LONGEST = 64 };
  const char *text = cursor->card->text;
  uint32_t begin = cursor->at, at = skip_digits(text, begin), exponent = 0;
  if (text[at] == '.') at = skip_digits(text, at + 1);
  if (at == begin || (at == begin + 1 && text[begin] == '.')) return false;
  if (text[at] == 'e' || text[at] == 'd') {
    uint32_t digits = at + 1 + (text[at + 1] == '+' || text[at + 1] == '-');
    if (isdigit((unsigned char)text[digits])) {
      exponent = at - begin;
      at = skip_digits(text, digits);
    } else if (digits > at + 1) return false; /* 2e+{p}: an exponent, or the sum of 2 and p? */
  }
  char copy[LONGEST];
  if (at - begin >= LONGEST) return false;
  memcpy(copy, text + begin, at - begin);
  if (exponent) copy[exponent] = 'e';
  if (!number_parse(copy, copy + (at - begin), value)) return false;
  bool is_empty = !exponent && (text[at] == 'e' || text[at] == 'd');
  *value = with_suffix(*value, text + at + is_empty);
  while (isalpha((unsigned char)text[at])) at++; /* the rest of a unit: 10pF, 1kOhm */
  cursor->at = at;
  return true;
}

char *spice_lower(Arena *arena, const char *text) {
  char *lower = arena_copy(arena, text, strlen(text));
  for (char *at = lower; *at; at++) *at = (char)tolower((unsigned char)*at);
  return lower;
}

bool spice_number(Arena *arena, const char *text, double *value) {
  const Card card = {.text = spice_lower(arena, text)};
  bool is_negative = card.text[0] == '-';
  Cursor cursor = {.card = &card, .at = is_negative};
  if (!read_number(&cursor, value) || card.text[cursor.at]) return false;
  if (is_negative) *value = -*value;
  return true;
}

/* ---- functions ---- */

static Expr one(Reader *reader) { return dag_constant(reader->circuit->dag, 1); }
static Expr zero(Reader *reader) { return dag_constant(reader->circuit->dag, 0); }

/* Functions that are operators of the graph. */
static const struct {
  const char *name;
  Op op;
} OPERATORS[] = {{"sqrt", OP_SQRT},   {"exp", OP_EXP},     {"ln", OP_LOG},      {"log", OP_LOG},
                 {"log10", OP_LOG10}, {"sin", OP_SIN},     {"cos", OP_COS},     {"tan", OP_TAN},
                 {"asin", OP_ASIN},   {"acos", OP_ACOS},   {"atan", OP_ATAN},   {"arctan", OP_ATAN},
                 {"sinh", OP_SINH},   {"cosh", OP_COSH},   {"tanh", OP_TANH},   {"asinh", OP_ASINH},
                 {"acosh", OP_ACOSH}, {"atanh", OP_ATANH}, {"atan2", OP_ATAN2}, {"abs", OP_ABS},
                 {"sgn", OP_SIGN},    {"min", OP_MIN},     {"max", OP_MAX},     {"floor", OP_FLOOR},
                 {"ceil", OP_CEIL},   {"fmod", OP_REM}};

Expr as_condition(Dag *dag, Expr e) {
  double yes, no;
  if (dag_op(dag, e) == OP_IF && dag_is_constant(dag, dag_child(dag, e, 1), &yes) &&
      dag_is_constant(dag, dag_child(dag, e, 2), &no) && yes == 1 && no == 0)
    return dag_child(dag, e, 0);
  return dag_binary(dag, OP_NOT_EQUAL, e, dag_constant(dag, 0));
}

static Expr as_number(Dag *dag, Expr condition) {
  return dag_if(dag, condition, dag_constant(dag, 1), dag_constant(dag, 0));
}

static Expr positive(Dag *dag, Expr x) { return dag_binary(dag, OP_GREATER, x, dag_constant(dag, 0)); }

/* max(a, min(b, x)) with the bounds in either order. */
static Expr limit(Dag *dag, const Expr *x) {
  Expr low = dag_binary(dag, OP_MIN, x[1], x[2]), high = dag_binary(dag, OP_MAX, x[1], x[2]);
  return dag_binary(dag, OP_MAX, low, dag_binary(dag, OP_MIN, high, x[0]));
}

/* |a|^b: the power operator of ngspice. */
static Expr absolute_power(Dag *dag, const Expr *x) {
  double base, exponent;
  bool is_even = dag_is_constant(dag, x[1], &exponent) && fmod(exponent, 2) == 0;
  bool is_positive = dag_is_constant(dag, x[0], &base) && base >= 0;
  return dag_power(dag, is_even || is_positive ? x[0] : dag_unary(dag, OP_ABS, x[0]), x[1]);
}

static Expr plain_power(Dag *dag, const Expr *x) { return dag_power(dag, x[0], x[1]); }

/* sign(a)*|a|^b */
static Expr signed_power(Dag *dag, const Expr *x) {
  Expr power = dag_power(dag, dag_unary(dag, OP_ABS, x[0]), x[1]);
  return dag_if(dag, positive(dag, x[0]), power, dag_negate(dag, power));
}

/* exp, continued by its tangent from this argument on. */
static Expr tangent_exp(Dag *dag, Expr x, double edge) {
  Expr top = dag_constant(dag, exp(edge)), beyond = dag_subtract(dag, x, dag_constant(dag, edge - 1));
  Expr below = dag_binary(dag, OP_LESS, x, dag_constant(dag, edge));
  Expr tangent = dag_multiply(dag, top, beyond);
  return dag_unary(dag, OP_NOEVENT, dag_if(dag, below, dag_unary(dag, OP_EXP, x), tangent));
}

static const double HIGHEST_ARGUMENT = 200;

static Expr bounded_exp(Dag *dag, const Expr *x) { return tangent_exp(dag, x[0], HIGHEST_ARGUMENT); }

/* The argument at which the tangent of growth(x, is) begins. */
static double growth_edge(const Dag *dag, Expr saturation) {
  static const double largest = 1e15;
  double current;
  bool is_known = dag_is_constant(dag, saturation, &current) && current > 0;
  return is_known ? fmin(HIGHEST_ARGUMENT, fmax(1, log(largest / current))) : HIGHEST_ARGUMENT;
}

/* growth(x, is): exp(x), continued by its tangent where the current is*exp(x) of a junction is 1e15 A. No circuit reaches that,
 * but guesses do, and from there Newton's method would reduce x by only 1 in each iteration. */
static Expr growth(Dag *dag, const Expr *x) { return tangent_exp(dag, x[0], growth_edge(dag, x[1])); }

/* grows(x, is): does is*growth(x, is) still equal is*exp(x)? */
static Expr grows(Dag *dag, const Expr *x) {
  double current;
  if (dag_is_constant(dag, x[1], &current) && current == 0) return dag_constant(dag, 1);
  return as_number(dag, dag_binary(dag, OP_LESS, x[0], dag_constant(dag, growth_edge(dag, x[1]))));
}

static Expr choose(Dag *dag, const Expr *x) { return dag_if(dag, as_condition(dag, x[0]), x[1], x[2]); }
/* 1/2 at 0. */
static Expr unit_step(Dag *dag, const Expr *x) {
  Expr below = dag_binary(dag, OP_LESS, x[0], dag_constant(dag, 0));
  return dag_if(dag, positive(dag, x[0]), dag_constant(dag, 1),
                dag_if(dag, below, dag_constant(dag, 0), dag_constant(dag, 0.5)));
}
static Expr ramp(Dag *dag, const Expr *x) { return dag_if(dag, positive(dag, x[0]), x[0], dag_constant(dag, 0)); }
static Expr clipped_ramp(Dag *dag, const Expr *x) {
  Expr bounds[3] = {x[0], dag_constant(dag, 0), dag_constant(dag, 1)};
  return limit(dag, bounds);
}
static Expr whole_part(Dag *dag, const Expr *x) {
  Expr up = dag_unary(dag, OP_CEIL, x[0]), down = dag_unary(dag, OP_FLOOR, x[0]);
  return dag_if(dag, positive(dag, x[0]), down, up);
}
/* Halfway between two whole numbers, where rounding up and down differ, the result is the even one. */
static Expr nearest_whole(Dag *dag, const Expr *x) {
  Expr half = dag_constant(dag, 0.5);
  Expr up = dag_unary(dag, OP_FLOOR, dag_add(dag, x[0], half)),
       down = dag_unary(dag, OP_CEIL, dag_subtract(dag, x[0], half));
  Expr even = dag_scale(dag, 2, dag_unary(dag, OP_FLOOR, dag_scale(dag, 0.5, up)));
  Expr parity = dag_subtract(dag, up, even);
  return dag_subtract(dag, up, dag_multiply(dag, parity, dag_subtract(dag, up, down)));
}
static Expr square(Dag *dag, const Expr *x) { return dag_multiply(dag, x[0], x[0]); }
static Expr without_events(Dag *dag, const Expr *x) { return dag_unary(dag, OP_NOEVENT, x[0]); }

/* junction(v, is, nvt): is*(exp(v/nvt) - 1); below -3 nvt SPICE continues it by a cube that levels off at -is. */
static Expr junction(Dag *dag, const Expr *x) {
  Expr ratio = dag_divide(dag, x[0], x[2]), one = dag_constant(dag, 1);
  Expr forward = dag_subtract(dag, growth(dag, (Expr[]){ratio, x[1]}), one);
  Expr cube =
      dag_power(dag, dag_divide(dag, dag_constant(dag, 3 / 2.71828182845904523536), ratio), dag_constant(dag, 3));
  Expr reverse = dag_negate(dag, dag_add(dag, one, cube));
  Expr is_forward = dag_binary(dag, OP_GREATER_EQUAL, ratio, dag_constant(dag, -3));
  return dag_multiply(dag, x[1], dag_unary(dag, OP_NOEVENT, dag_if(dag, is_forward, forward, reverse)));
}

/* depletion(v, c, pot, m, fc): the charge of a depletion capacitance c/(1 - v/pot)^m, continued beyond fc*pot by the
 * charge of a capacitance that is linear in v. */
static Expr depletion(Dag *dag, const Expr *x) {
  double v[5] = {0};
  for (int k = 1; k < 5; k++)
    if (!dag_is_constant(dag, x[k], &v[k])) return EXPR_NONE;
  double c = v[1], pot = v[2], m = v[3], fc = v[4], edge = fc * pot;
  if (c == 0) return dag_constant(dag, 0);
  double f1 = pot * (1 - pow(1 - fc, 1 - m)) / (1 - m), f2 = pow(1 - fc, 1 + m), f3 = 1 - fc * (1 + m);
  Expr rest = dag_subtract(dag, dag_constant(dag, 1), dag_divide(dag, x[0], x[2]));
  Expr power = dag_power(dag, rest, dag_constant(dag, 1 - m));
  Expr below = dag_scale(dag, pot * c / (1 - m), dag_subtract(dag, dag_constant(dag, 1), power));
  Expr square = dag_multiply(dag, x[0], x[0]);
  Term terms[2] = {{c / f2 * f3, x[0]}, {c / f2 * m / (2 * pot), square}};
  Expr above = dag_sum(dag, c * f1 - c / f2 * (f3 * edge + m / (2 * pot) * edge * edge), terms, 2);
  Expr is_below = dag_binary(dag, OP_LESS, x[0], dag_constant(dag, edge));
  return dag_unary(dag, OP_NOEVENT, dag_if(dag, is_below, below, above));
}

/* Converts a junction potential to another temperature as SPICE does, by way of 27 degrees. */
static double potential_shift(double t) {
  static const double reference = 300.15, thermal = 1.38064852e-23 / 1.6021766208e-19;
  double gap = 1.16 - 7.02e-4 * t * t / (t + 1108);
  return -2 * thermal * t *
         (1.5 * log(t / reference) - gap / (2 * thermal * t) + 1.1150877 / (2 * thermal * reference));
}

static double reference_potential(double p, double nominal) {
  return (p - potential_shift(nominal)) * 300.15 / nominal;
}

static double scaled_potential(double p, double t, double nominal) {
  return t == nominal ? p : t / 300.15 * reference_potential(p, nominal) + potential_shift(t);
}

/* scale_pot(p, t, tn) */
static Expr scale_potential(Dag *dag, const Expr *x) {
  double p, t, nominal;
  if (!dag_is_constant(dag, x[0], &p) || !dag_is_constant(dag, x[1], &t) || !dag_is_constant(dag, x[2], &nominal))
    return EXPR_NONE;
  return dag_constant(dag, scaled_potential(p, t, nominal));
}

/* scale_cap(c, p, m, t, tn) */
static Expr scale_capacitance(Dag *dag, const Expr *x) {
  double v[5];
  for (int k = 0; k < 5; k++)
    if (!dag_is_constant(dag, x[k], &v[k])) return EXPR_NONE;
  double p = v[1], m = v[2], t = v[3], nominal = v[4], base = reference_potential(p, nominal);
  if (t == nominal) return x[0];
  double before = 1 + m * (4e-4 * (nominal - 300.15) - (p - base) / base);
  double now = 1 + m * (4e-4 * (t - 300.15) - (scaled_potential(p, t, nominal) - base) / base);
  return dag_constant(dag, v[0] / before * now);
}

static const struct {
  const char *name;
  uint32_t count;
  Expr (*build)(Dag *dag, const Expr *arguments);
  Expr (*in_source)(Dag *dag, const Expr *arguments); /* in expressions of behavioural sources */
} BUILT[] = {{"limit", 3, limit, limit},
             {"pow", 2, plain_power, absolute_power},
             {"pwr", 2, absolute_power, signed_power},
             {"limexp", 1, bounded_exp, bounded_exp},
             {"ternary_fcn", 3, choose, choose},
             {"if", 3, choose, choose},
             {"u", 1, unit_step, unit_step},
             {"uramp", 1, ramp, ramp},
             {"u2", 1, clipped_ramp, clipped_ramp},
             {"int", 1, whole_part, whole_part},
             {"nint", 1, nearest_whole, nearest_whole},
             {"sqr", 1, square, square},
             {"noevent", 1, without_events, without_events},
             {"growth", 2, growth, growth},
             {"grows", 2, grows, grows},
             {"junction", 3, junction, junction},
             {"depletion", 5, depletion, depletion},
             {"scale_pot", 3, scale_potential, scale_potential},
             {"scale_cap", 5, scale_capacitance, scale_capacitance}};

Expr table_value(Dag *dag, Expr input, const Expr *x, uint32_t count) {
  Expr value = x[count - 1];
  for (uint32_t k = count - 2; k >= 2; k -= 2) {
    Expr slope = dag_divide(dag, dag_subtract(dag, x[k + 1], x[k - 1]), dag_subtract(dag, x[k], x[k - 2]));
    Expr line = dag_add(dag, x[k - 1], dag_multiply(dag, slope, dag_subtract(dag, input, x[k - 2])));
    value = dag_if(dag, dag_binary(dag, OP_LESS, input, x[k]), line, value);
  }
  return dag_if(dag, dag_binary(dag, OP_LESS, input, x[0]), x[1], value);
}

static Expr read_whole(Reader *reader);

/* Arguments up to the closing parenthesis; false after reporting. */
static bool read_arguments(Reader *reader, ExprVec *arguments) {
  if (accept(reader, ")")) return true;
  do {
    Expr argument = read_whole(reader);
    if (argument == EXPR_NONE) return false;
    vec_push(reader->circuit->heap, arguments, argument);
  } while (accept(reader, ","));
  return expect(reader, ")");
}

static Expr call_user(Reader *reader, uint32_t begin, const FunctionCard *function, const Scope *owner,
                      const ExprVec *arguments) {
  if (arguments->count != function->arguments.count)
    return refuse(reader, begin, "the function takes %u argument%s, not %u", function->arguments.count,
                  plural(function->arguments.count), arguments->count);
  Scope scope = scope_make(reader->circuit, owner, NULL, owner->prefix);
  for (uint32_t k = 0; k < arguments->count; k++)
    scope_define(
        reader->circuit, &scope,
        (Definition){.name = function->arguments.data[k], .value = arguments->data[k], .state = DEFINITION_DONE});
  Cursor cursor = {.card = function->card, .at = function->at, .end = function->end};
  Reader body = {reader->circuit, &scope, &cursor, reader->depth + 1, reader->is_source};
  Expr value = read_whole(&body);
  map_free(&scope.definition_of);
  vec_free(reader->circuit->heap, &scope.definitions);
  skip_blanks(&body);
  if (value == EXPR_NONE || cursor.at >= function->end) return value;
  begin = cursor.at;
  cursor.at = function->end;
  return refuse(&body, begin, "this is not part of the function before it");
}

static Expr call_built_in(Reader *reader, uint32_t begin, const char *name, const ExprVec *x) {
  Dag *dag = reader->circuit->dag;
  for (size_t k = 0; k < sizeof OPERATORS / sizeof *OPERATORS; k++) {
    if (strcmp(OPERATORS[k].name, name) != 0) continue;
    if ((int)x->count != op_arity(OPERATORS[k].op))
      return refuse(reader, begin, "%s takes %d argument%s, not %u", name, op_arity(OPERATORS[k].op),
                    plural((uint64_t)op_arity(OPERATORS[k].op)), x->count);
    return dag_nary(dag, OPERATORS[k].op, x->data, x->count);
  }
  for (size_t k = 0; k < sizeof BUILT / sizeof *BUILT; k++) {
    if (strcmp(BUILT[k].name, name) != 0) continue;
    if (x->count != BUILT[k].count)
      return refuse(reader, begin, "%s takes %u argument%s, not %u", name, BUILT[k].count, plural(BUILT[k].count),
                    x->count);
    return (reader->is_source ? BUILT[k].in_source : BUILT[k].build)(dag, x->data);
  }
  if ((!strcmp(name, "pwl") || !strcmp(name, "table")) && x->count >= 3 && x->count % 2)
    return table_value(dag, x->data[0], x->data + 1, x->count - 1);
  return refuse(reader, begin, "there is no function %s here with these arguments", name);
}

/* ---- values of the circuit ---- */

static bool is_name_byte(char c) { return isalnum((unsigned char)c) || c == '_' || c == '#' || c == '.' || c == '$'; }

/* The text of a node or element within parentheses. */
static Name read_label(Reader *reader) {
  skip_blanks(reader);
  uint32_t begin = reader->cursor->at;
  while (*here(reader) && !strchr(" ,)", *here(reader))) reader->cursor->at++;
  return names_add(reader->circuit->names, reader->cursor->card->text + begin, reader->cursor->at - begin);
}

static Expr read_voltage(Reader *reader) {
  Circuit *circuit = reader->circuit;
  uint32_t from = scope_node(circuit, reader->scope, reader->cursor->card, read_label(reader)), to = GROUND;
  if (accept(reader, ",")) to = scope_node(circuit, reader->scope, reader->cursor->card, read_label(reader));
  return expect(reader, ")") ? voltage_between(circuit, from, to) : EXPR_NONE;
}

/* The name of an element of an inserted block: x1.v1. */
static const char *element_name(Reader *reader, Name label) {
  const Scope *scope = reader->scope;
  return arena_printf(reader->circuit->arena, "%s%s", scope->prefix, names_text(reader->circuit->names, label));
}

static Expr read_current(Reader *reader) {
  Circuit *circuit = reader->circuit;
  const char *name = element_name(reader, read_label(reader));
  uint32_t variable = circuit_current(circuit, name, reader->cursor->card);
  return expect(reader, ")") ? model_leaf(circuit->model, variable, 0) : EXPR_NONE;
}

/* given(parameter): 1 if the model or element of this device gives the parameter. */
static Expr read_given(Reader *reader) {
  const Scope *scope = reader->scope;
  Name name = read_label(reader);
  while (scope && !scope->given.heap) scope = scope->parent;
  bool given = scope && map_get(&scope->given, name) != MAP_NONE;
  return expect(reader, ")") ? (given ? one(reader) : zero(reader)) : EXPR_NONE;
}

static Expr read_call(Reader *reader, uint32_t begin, Name name) {
  const char *text = names_text(reader->circuit->names, name);
  const Scope *owner;
  if (!strcmp(text, "v")) return read_voltage(reader);
  if (!strcmp(text, "i")) return read_current(reader);
  if (!strcmp(text, "given")) return read_given(reader);
  ExprVec arguments = {0};
  Expr value = EXPR_NONE;
  if (read_arguments(reader, &arguments)) {
    const FunctionCard *function = scope_function(reader->scope, name, &owner);
    value = function ? call_user(reader, begin, function, owner, &arguments)
                     : call_built_in(reader, begin, text, &arguments);
  }
  vec_free(reader->circuit->heap, &arguments);
  return value;
}

static Expr read_name(Reader *reader) {
  static const struct {
    const char *name;
    double value;
  } constants[] = {{"pi", 3.14159265358979323846},
                   {"e", 2.71828182845904523536},
                   {"boltz", 1.38064852e-23},
                   {"echarge", 1.6021766208e-19},
                   {"kelvin", -273.15},
                   {"true", 1},
                   {"false", 0},
                   {"yes", 1},
                   {"no", 0},
                   {"planck", 6.62607004e-34},
                   {"c", 299792458}};
  Circuit *circuit = reader->circuit;
  uint32_t begin = reader->cursor->at;
  while (is_name_byte(*here(reader))) reader->cursor->at++;
  uint32_t end = reader->cursor->at;
  Name name = names_add(circuit->names, reader->cursor->card->text + begin, end - begin);
  const char *text = names_text(circuit->names, name);
  if (accept(reader, "(")) return read_call(reader, begin, name);
  reader->cursor->at = end;
  if (!strcmp(text, "time")) return circuit_time(circuit);
  bool found;
  Expr value = scope_parameter(circuit, reader->scope, name, &found);
  if (found) return value;
  if (!strcmp(text, "temper")) return dag_constant(circuit->dag, circuit->options.temperature);
  if (!strcmp(text, "gmin")) return dag_constant(circuit->dag, circuit->options.gmin);
  for (size_t k = 0; k < sizeof constants / sizeof *constants; k++)
    if (!strcmp(constants[k].name, text)) return dag_constant(circuit->dag, constants[k].value);
  return refuse(reader, begin, "there is no parameter %s", text);
}

/* ---- operators ---- */

static Expr read_primary(Reader *reader) {
  skip_blanks(reader);
  uint32_t begin = reader->cursor->at;
  char c = *here(reader), close = c == '(' ? ')' : c == '{' ? '}' : c;
  double value;
  if (isdigit((unsigned char)c) || c == '.') {
    if (read_number(reader->cursor, &value)) return dag_constant(reader->circuit->dag, value);
  } else if (isalpha((unsigned char)c) || c == '_') {
    return read_name(reader);
  } else if (c && strchr("({'\"", c)) {
    reader->cursor->at++;
    Expr inner = read_whole(reader);
    return inner != EXPR_NONE && expect(reader, (char[]){close, '\0'}) ? inner : EXPR_NONE;
  }
  reader->cursor->at++;
  if (!c) reader->cursor->at--;
  return refuse(reader, begin, c ? "a number, a name or `(` is expected here" : "the expression ends too early");
}

static bool accept_power(Reader *reader) { return accept(reader, "**") || accept(reader, "^"); }

/* Is there a power outside of parentheses between this place and the cursor? */
static bool has_power(const Reader *reader, uint32_t at) {
  const char *text = reader->cursor->card->text;
  uint32_t depth = 0;
  for (; at < reader->cursor->at; at++) {
    if (strchr("({", text[at])) depth++;
    if (strchr(")}", text[at])) depth--;
    if (!depth && (text[at] == '^' || (text[at] == '*' && text[at + 1] == '*'))) return true;
  }
  return false;
}

/* From left to right, and before signs: -2^2 is -4, 2^2^3 is 64. */
static Expr read_power(Reader *reader) {
  Expr base = read_primary(reader);
  Dag *dag = reader->circuit->dag;
  while (base != EXPR_NONE && accept_power(reader)) {
    bool negative = accept(reader, "-");
    Expr exponent = read_primary(reader);
    if (exponent == EXPR_NONE) return EXPR_NONE;
    base = absolute_power(dag, (Expr[]){base, negative ? dag_negate(dag, exponent) : exponent});
  }
  return base;
}

/* After an operator, ngspice reads a sign before a power in two ways: (-2)^2 in parameters, -(2^2) in sources. */
static Expr read_signed(Reader *reader, bool is_operand) {
  bool negative = false, is_not = false;
  uint32_t begin = reader->cursor->at;
  for (;;) {
    if (accept(reader, "-")) negative = !negative;
    else if (accept(reader, "!")) is_not = !is_not;
    else if (!accept(reader, "+")) break;
  }
  uint32_t at = reader->cursor->at;
  Expr e = read_power(reader);
  Dag *dag = reader->circuit->dag;
  if (e != EXPR_NONE && negative && is_operand && has_power(reader, at))
    return refuse(reader, begin, "a minus between an operator and a power is ambiguous: use parentheses");
  if (e != EXPR_NONE && negative) e = dag_negate(dag, e);
  if (e != EXPR_NONE && is_not) e = as_number(dag, dag_unary(dag, OP_NOT, as_condition(dag, e)));
  return e;
}

enum { LOOSEST = 0, LEVELS = 6 };

static const struct {
  const char *text;
  uint32_t level;
  Op op;
} BINARY[] = {{"||", 0, OP_OR},        {"&&", 1, OP_AND},        {"==", 2, OP_EQUAL},         {"!=", 2, OP_NOT_EQUAL},
              {"<>", 2, OP_NOT_EQUAL}, {"<=", 3, OP_LESS_EQUAL}, {">=", 3, OP_GREATER_EQUAL}, {"<", 3, OP_LESS},
              {">", 3, OP_GREATER},    {"+", 4, OP_SUM},         {"-", 4, OP_COUNT},          {"*", 5, OP_MULTIPLY},
              {"/", 5, OP_DIVIDE}};

/* The index of the binary operator of this level at the cursor; moves past it. -1: there is none. */
static int accept_binary(Reader *reader, uint32_t level) {
  skip_blanks(reader);
  for (int k = 0; k < (int)(sizeof BINARY / sizeof *BINARY); k++)
    if (BINARY[k].level == level && !(level == 5 && !strncmp(here(reader), "**", 2)) && accept(reader, BINARY[k].text))
      return k;
  return -1;
}

static Expr build_binary(Reader *reader, Op op, Expr a, Expr b) {
  Dag *dag = reader->circuit->dag;
  switch (op) {
  case OP_SUM: return dag_add(dag, a, b);
  case OP_COUNT: return dag_subtract(dag, a, b);
  case OP_MULTIPLY: return dag_multiply(dag, a, b);
  case OP_DIVIDE: return dag_divide(dag, a, b);
  case OP_AND:
  case OP_OR: {
    Expr left = as_condition(dag, a), right = as_condition(dag, b);
    return as_number(dag, dag_binary(dag, op, left, right));
  }
  default: return as_number(dag, dag_binary(dag, op, a, b));
  }
}

static Expr read_level(Reader *reader, uint32_t level, bool is_operand) {
  Expr a = level + 1 < LEVELS ? read_level(reader, level + 1, is_operand) : read_signed(reader, is_operand);
  for (int k; a != EXPR_NONE && (k = accept_binary(reader, level)) >= 0;) {
    Expr b = level + 1 < LEVELS ? read_level(reader, level + 1, true) : read_signed(reader, true);
    a = b == EXPR_NONE ? EXPR_NONE : build_binary(reader, BINARY[k].op, a, b);
  }
  return a;
}

static Expr read_whole(Reader *reader) {
  heap_work(reader->circuit->heap, EXPRESSION_WORK);
  if (++reader->depth > DEEPEST || reader->scope->depth > DEEPEST)
    return refuse(reader, reader->cursor->at, "expressions, functions or parameters are nested more than %d deep",
                  DEEPEST);
  Expr condition = read_level(reader, LOOSEST, false);
  if (condition != EXPR_NONE && accept(reader, "?")) {
    Dag *dag = reader->circuit->dag;
    Expr then = read_whole(reader);
    Expr otherwise = then != EXPR_NONE && expect(reader, ":") ? read_whole(reader) : EXPR_NONE;
    condition = otherwise == EXPR_NONE ? EXPR_NONE : dag_if(dag, as_condition(dag, condition), then, otherwise);
  }
  reader->depth--;
  return condition;
}

Expr read_expression(Circuit *circuit, const Scope *scope, Cursor *cursor) {
  Reader reader = {circuit, scope, cursor, 0, false};
  return read_whole(&reader);
}

Expr read_range(Circuit *circuit, const Scope *scope, const Card *card, uint32_t begin, uint32_t end, bool is_source) {
  Cursor cursor = {card, begin, end};
  Reader reader = {circuit, scope, &cursor, 0, is_source};
  if (begin >= end) return refuse(&reader, begin, "a value is missing");
  Expr value = read_whole(&reader);
  skip_blanks(&reader);
  if (value == EXPR_NONE || cursor.at >= end) return value;
  begin = cursor.at;
  cursor.at = end;
  return refuse(&reader, begin, "`%.*s` is not part of the value before it", (int)(end - begin), card->text + begin);
}

/* ---- values ---- */

/* The structure depends on a parameter whose value was needed. */
static double leaf_value(void *context, const Dag *dag, Expr leaf) {
  Circuit *circuit = context;
  if (dag_op(dag, leaf) != OP_PARAMETER) return NAN;
  uint32_t index = dag_index(dag, leaf);
  circuit->model->variables.data[circuit->model->parameters.data[index]].is_structural = true;
  return circuit->values.data[index];
}

bool constant_value(Circuit *circuit, const Card *card, Expr e, double *value) {
  if (dag_is_constant(circuit->dag, e, value)) return true;
  if (dag_evaluate(circuit->dag, dag_scratch(circuit->dag), e, leaf_value, circuit, value, NULL) && isfinite(*value))
    return true;
  card_error(circuit->diags, card, 0, CARD_END, "a value of this card is not a finite number");
  return false;
}

static double peek_leaf(void *context, const Dag *dag, Expr leaf) {
  const Circuit *circuit = context;
  return dag_op(dag, leaf) == OP_PARAMETER ? circuit->values.data[dag_index(dag, leaf)] : NAN;
}

static double leaf_at_start(void *context, const Dag *dag, Expr leaf) {
  return dag_op(dag, leaf) == OP_TIME ? 0 : peek_leaf(context, dag, leaf);
}

double value_now(Circuit *circuit, Expr e) {
  double value;
  return dag_evaluate(circuit->dag, dag_scratch(circuit->dag), e, peek_leaf, circuit, &value, NULL) ? value : NAN;
}

double value_at_start(Circuit *circuit, Expr e) {
  double value;
  return dag_evaluate(circuit->dag, dag_scratch(circuit->dag), e, leaf_at_start, circuit, &value, NULL) ? value : NAN;
}
