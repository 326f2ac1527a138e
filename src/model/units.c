/* units: see units.h. Units are computed from the leaves of the graph to its roots; children have smaller numbers than their
 * parents. */
#include "model/units.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

typedef struct UnitSymbol {
  const char *text;
  Unit unit;
  bool has_prefixes;
} UnitSymbol;

static const UnitSymbol symbols[] = {
#define UNIT(symbol, factor, m, kg, s, a, k, mol, cd, prefixes) {symbol, {factor, {m, kg, s, a, k, mol, cd}}, prefixes},
#include "model/units.def"
#undef UNIT
};

typedef struct UnitPrefix {
  const char *text;
  double factor;
} UnitPrefix;

static const UnitPrefix prefixes[] = {{"da", 1e1},  {"y", 1e-24}, {"z", 1e-21}, {"a", 1e-18}, {"f", 1e-15},
                                      {"p", 1e-12}, {"n", 1e-9},  {"u", 1e-6},  {"m", 1e-3},  {"c", 1e-2},
                                      {"d", 1e-1},  {"h", 1e2},   {"k", 1e3},   {"M", 1e6},   {"G", 1e9},
                                      {"T", 1e12},  {"P", 1e15},  {"E", 1e18},  {"Z", 1e21},  {"Y", 1e24}};

static const UnitSymbol *find_symbol(const char *text, size_t length) {
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
    if (strlen(symbols[i].text) == length && memcmp(symbols[i].text, text, length) == 0) return &symbols[i];
  return NULL;
}

/* A symbol, by itself or after a prefix. */
static bool read_symbol(const char *text, size_t length, Unit *unit) {
  const UnitSymbol *found = find_symbol(text, length);
  if (found) {
    *unit = found->unit;
    return true;
  }
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    size_t size = strlen(prefixes[i].text);
    if (size >= length || memcmp(prefixes[i].text, text, size) != 0) continue;
    found = find_symbol(text + size, length - size);
    if (!found || !found->has_prefixes) continue;
    *unit = found->unit;
    unit->factor *= prefixes[i].factor;
    return true;
  }
  return false;
}

/* a * b^exponent */
static Unit unit_times(const Unit *a, const Unit *b, double exponent) {
  Unit product = {.factor = a->factor * pow(b->factor, exponent)};
  for (int i = 0; i < UNIT_BASES; i++) product.exponents[i] = a->exponents[i] + exponent * b->exponents[i];
  return product;
}

/* One symbol with its exponent: m, m2, s-1. */
static bool read_factor(const char **at, Unit *unit, double sign) {
  const char *begin = *at;
  Unit symbol;
  if (**at == '1') (*at)++;
  else
    while (isalpha((unsigned char)**at)) (*at)++;
  if (!read_symbol(begin, (size_t)(*at - begin), &symbol)) return false;
  double exponent = 1;
  if (**at == '-' || **at == '+' || isdigit((unsigned char)**at)) {
    char *end;
    exponent = (double)strtol(*at, &end, 10);
    *at = end;
  }
  *unit = unit_times(unit, &symbol, sign * exponent);
  return true;
}

/* unit-factors with points between them, in brackets or not */
static bool read_factors(const char **at, Unit *unit, double sign) {
  bool is_open = **at == '(';
  if (is_open) (*at)++;
  do {
    if (**at == '.') (*at)++;
    if (!read_factor(at, unit, sign)) return false;
  } while (**at == '.');
  if (is_open && *(*at)++ != ')') return false;
  return true;
}

bool unit_parse(const char *text, Unit *unit) {
  *unit = (Unit){.factor = 1};
  if (!read_factors(&text, unit, 1)) return false;
  if (*text == '/' && (text++, !read_factors(&text, unit, -1))) return false;
  return *text == '\0';
}

bool unit_equal(const Unit *a, const Unit *b) {
  if (fabs(a->factor - b->factor) > 1e-6 * fabs(a->factor)) return false;
  for (int i = 0; i < UNIT_BASES; i++)
    if (fabs(a->exponents[i] - b->exponents[i]) > 1e-9) return false;
  return true;
}

/* ---- writing ---- */

/* The unit as the model writes it if one symbol expresses it, otherwise in base units. */
static const char *unit_text(const Unit *unit, Arena *arena) {
  static const char *const bases[UNIT_BASES] = {"m", "kg", "s", "A", "K", "mol", "cd"};
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
    if (unit_equal(unit, &symbols[i].unit)) return symbols[i].text;
  const char *text = fabs(unit->factor - 1) > 1e-6 ? arena_printf(arena, "%.6g", unit->factor) : "";
  for (int i = 0; i < UNIT_BASES; i++) {
    if (unit->exponents[i] == 0) continue;
    const char *point = *text ? "." : "";
    if (unit->exponents[i] == 1) text = arena_printf(arena, "%s%s%s", text, point, bases[i]);
    else text = arena_printf(arena, "%s%s%s%.4g", text, point, bases[i], unit->exponents[i]);
  }
  return *text ? text : "1";
}

/* ---- units of expressions ---- */

typedef enum Knowledge {
  UNIT_UNKNOWN,
  UNIT_ANY,     /* zero, something that is not a number, or a number that may be a quantity */
  UNIT_LITERAL, /* a pure number in a product, any unit elsewhere */
  UNIT_MIXED,   /* branches of an if with different units, as branches of an if-equation may have */
  UNIT_KNOWN,
} Knowledge;

typedef struct NodeUnit {
  Knowledge knowledge;
  Unit unit, other; /* other: for UNIT_MIXED, a second unit */
} NodeUnit;

/* Two units that meet at or below a node and differ. */
typedef struct UnitClash {
  bool is_found;
  Unit left, right;
} UnitClash;

typedef struct Checker {
  Model *model;
  Diags *diags;
  Arena arena;
  NodeUnit *nodes;
  UnitClash *clashes; /* by node */
  Map reported;       /* source positions that were reported */
} Checker;

static NodeUnit known(Unit unit) { return (NodeUnit){.knowledge = UNIT_KNOWN, .unit = unit}; }
static NodeUnit number_unit(void) { return known((Unit){.factor = 1}); }

/* 2, 1/2, pi and the like are pure numbers; other numbers may be quantities. */
static bool is_pure(double value) {
  double size = fabs(value);
  for (int i = 0; i < 2; i++, size /= 3.14159265358979323846) {
    if (size <= 12 && size == floor(size)) return true;
    if (size != 0 && 1 / size <= 12 && fabs(1 / size - round(1 / size)) < 1e-12) return true;
  }
  return false;
}

static NodeUnit variable_unit(const Checker *checker, const IndexVec *positions, uint32_t leaf, uint32_t order) {
  static const Unit second = {.factor = 1, .exponents = {0, 0, 1}};
  Unit unit;
  if (leaf >= positions->count) return (NodeUnit){0};
  const Variable *variable = &checker->model->variables.data[positions->data[leaf]];
  if (variable->type != TYPE_REAL)
    return (NodeUnit){.knowledge = variable->type == TYPE_INTEGER ? UNIT_UNKNOWN : UNIT_ANY};
  const char *text = names_text(checker->model->names, variable->unit);
  if (*text == '\0' || !unit_parse(text, &unit)) return (NodeUnit){0};
  return known(order ? unit_times(&unit, &second, -(double)order) : unit);
}

static bool is_any(NodeUnit unit) { return unit.knowledge == UNIT_ANY || unit.knowledge == UNIT_LITERAL; }

/* Joins two units that must be equal; a difference is recorded at the node. */
static NodeUnit join(Checker *checker, Expr node, NodeUnit a, NodeUnit b) {
  if (a.knowledge < b.knowledge) {
    NodeUnit swap = a;
    a = b;
    b = swap;
  }
  if (a.knowledge != UNIT_KNOWN || b.knowledge < UNIT_MIXED) return is_any(a) && !is_any(b) ? b : a;
  const Unit *different = b.knowledge == UNIT_MIXED && unit_equal(&a.unit, &b.unit) ? &b.other : &b.unit;
  if (unit_equal(&a.unit, different)) return a;
  checker->clashes[node] = (UnitClash){true, a.unit, *different};
  return (NodeUnit){0};
}

/* The unit of two branches, which may differ. */
static NodeUnit mix(NodeUnit a, NodeUnit b) {
  if (a.knowledge == UNIT_KNOWN && b.knowledge == UNIT_KNOWN && !unit_equal(&a.unit, &b.unit))
    return (NodeUnit){.knowledge = UNIT_MIXED, .unit = a.unit, .other = b.unit};
  if (is_any(a)) return b;
  return is_any(b) || a.knowledge == UNIT_MIXED ? a : b;
}

static NodeUnit sum_unit(Checker *checker, Expr e) {
  double constant;
  const Term *terms;
  uint32_t count = dag_terms(checker->model->dag, e, &constant, &terms);
  NodeUnit unit = {.knowledge = UNIT_ANY};
  for (uint32_t i = 0; i < count; i++) {
    bool is_scaled = !is_pure(terms[i].coefficient);
    NodeUnit term = is_scaled ? (NodeUnit){0} : checker->nodes[terms[i].node];
    unit = join(checker, e, unit, term);
  }
  return unit;
}

static NodeUnit power_unit(const Checker *checker, Expr base, Expr exponent) {
  double number;
  static const Unit one = {.factor = 1};
  NodeUnit unit = checker->nodes[base];
  if (unit.knowledge != UNIT_KNOWN) return unit;
  if (dag_is_constant(checker->model->dag, exponent, &number)) return known(unit_times(&one, &unit.unit, number));
  return unit_equal(&unit.unit, &one) ? unit : (NodeUnit){0};
}

/* a * b^exponent */
static NodeUnit product_unit(NodeUnit a, NodeUnit b, double exponent) {
  bool is_known = a.knowledge == UNIT_KNOWN || b.knowledge == UNIT_KNOWN;
  bool is_number = a.knowledge == UNIT_LITERAL || b.knowledge == UNIT_LITERAL;
  if (a.knowledge == UNIT_LITERAL && b.knowledge == UNIT_LITERAL) return a;
  if (!is_known || (a.knowledge != b.knowledge && !is_number)) return (NodeUnit){0};
  return known(unit_times(&a.unit, &b.unit, exponent));
}

static NodeUnit operator_unit(Checker *checker, Expr e) {
  Dag *dag = checker->model->dag;
  const NodeUnit *nodes = checker->nodes;
  const Expr *a;
  uint32_t count = dag_arguments(dag, e, &a);
  NodeUnit first = count ? nodes[a[0]] : (NodeUnit){0}, second = count > 1 ? nodes[a[1]] : (NodeUnit){0};
  switch (dag_op(dag, e)) {
  case OP_MULTIPLY: return product_unit(first, second, 1);
  case OP_DIVIDE: return product_unit(first, second, -1);
  case OP_POWER: return power_unit(checker, a[0], a[1]);
  case OP_SQRT:
    return first.knowledge == UNIT_KNOWN ? known(unit_times(&(Unit){.factor = 1}, &first.unit, 0.5)) : first;
  case OP_EXP:
  case OP_LOG:
  case OP_LOG10:
  case OP_SIN:
  case OP_COS:
  case OP_TAN:
  case OP_ASIN:
  case OP_ACOS:
  case OP_ATAN:
  case OP_SINH:
  case OP_COSH:
  case OP_TANH: return join(checker, e, number_unit(), first);
  case OP_ABS:
  case OP_NOEVENT:
  case OP_LEFT: return first;
  case OP_MIN:
  case OP_MAX:
  case OP_MOD:
  case OP_REM:
  case OP_HOMOTOPY: return join(checker, e, first, second);
  case OP_SMOOTH: return second;
  case OP_ATAN2: join(checker, e, first, second); return number_unit();
  case OP_IF: return mix(second, nodes[a[2]]);
  case OP_LESS:
  case OP_LESS_EQUAL:
  case OP_GREATER:
  case OP_GREATER_EQUAL: join(checker, e, first, second); return (NodeUnit){.knowledge = UNIT_ANY};
  default: return (NodeUnit){0};
  }
}

static NodeUnit node_unit(Checker *checker, Expr e) {
  const Model *model = checker->model;
  double value;
  switch (dag_op(model->dag, e)) {
  case OP_CONSTANT:
    value = dag_value(model->dag, e);
    return (NodeUnit){.knowledge = value != 0 && is_pure(value) ? UNIT_LITERAL : UNIT_ANY, .unit = {.factor = 1}};
  case OP_TIME: return known((Unit){.factor = 1, .exponents = {0, 0, 1}});
  case OP_PARAMETER: return variable_unit(checker, &model->parameters, dag_index(model->dag, e), 0);
  case OP_VARIABLE: return variable_unit(checker, &model->unknowns, dag_index(model->dag, e), dag_order(model->dag, e));
  case OP_DISCRETE:
  case OP_PRE: return variable_unit(checker, &model->discretes, dag_index(model->dag, e), 0);
  case OP_SUM: return sum_unit(checker, e);
  default: return operator_unit(checker, e);
  }
}

/* ---- equations ---- */

/* Finds why the units of two sides differ; false: as far as is known, they do not differ. */
static bool find_difference(Checker *checker, Expr left, Expr right, UnitClash *found) {
  *found = checker->clashes[left].is_found ? checker->clashes[left] : checker->clashes[right];
  if (found->is_found) return true;
  Dag *dag = checker->model->dag;
  if (dag_op(dag, left) == OP_IF && dag_op(dag, right) == OP_IF) return false; /* branches of several equations */
  join(checker, left, checker->nodes[left], checker->nodes[right]);
  *found = checker->clashes[left];
  checker->clashes[left].is_found = false;
  return found->is_found;
}

static void report(Checker *checker, Span span, const char *text, const UnitClash *clash) {
  uint64_t key = (uint64_t)span.begin << 32 | span.end;
  if (span.end && map_get(&checker->reported, key) != MAP_NONE) return;
  map_put(&checker->reported, key, 1);
  diag_warning(checker->diags, DIAG_WARNING, span, "units differ in `%s`: %s and %s", text,
               unit_text(&clash->left, &checker->arena), unit_text(&clash->right, &checker->arena));
}

static void check_equations(Checker *checker, const Equation *list, uint32_t count) {
  UnitClash clash;
  for (uint32_t i = 0; i < count; i++)
    if (find_difference(checker, list[i].left, list[i].right, &clash))
      report(checker, list[i].span, model_equation_text(checker->model, &list[i], &checker->arena), &clash);
}

static void check_bindings(Checker *checker) {
  Model *model = checker->model;
  UnitClash clash;
  for (uint32_t i = 0; i < model->parameters.count; i++) {
    const Variable *variable = &model->variables.data[model->parameters.data[i]];
    if (variable->binding == EXPR_NONE || variable->type != TYPE_REAL) continue;
    if (!find_difference(checker, model_leaf(model, model->parameters.data[i], 0), variable->binding, &clash)) continue;
    const char *text = arena_printf(&checker->arena, "%s = %s", names_text(model->names, variable->name),
                                    model_text(model, variable->binding, &checker->arena));
    report(checker, variable->span, text, &clash);
  }
}

/* Only the first `count` nodes: printing adds others later, which are not needed. */
static void find_units(Checker *checker, uint32_t count) {
  const Dag *dag = checker->model->dag;
  for (Expr e = 0; e < count; e++) {
    checker->nodes[e] = node_unit(checker, e);
    for (uint32_t i = 0; i < dag_child_count(dag, e) && !checker->clashes[e].is_found; i++)
      checker->clashes[e] = checker->clashes[dag_child(dag, e, i)];
  }
}

void units_check(Model *model, Diags *diags) {
  Heap *heap = model->heap;
  uint32_t count = dag_size(model->dag);
  Checker checker = {.model = model,
                     .diags = diags,
                     .arena = arena_make(heap),
                     .nodes = heap_array(heap, count, sizeof *checker.nodes),
                     .clashes = heap_array(heap, count, sizeof *checker.clashes),
                     .reported = map_make(heap)};
  find_units(&checker, count);
  check_equations(&checker, model->equations.data, model->equations.count);
  check_equations(&checker, model->initial_equations.data, model->initial_equations.count);
  check_equations(&checker, model->discrete_equations.data, model->discrete_equations.count);
  check_bindings(&checker);
  map_free(&checker.reported);
  heap_free_all(heap, checker.nodes, checker.clashes);
  arena_free(&checker.arena);
}
