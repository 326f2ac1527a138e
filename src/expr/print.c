/* print: Modelica text with the fewest parentheses. A node becomes a list of parts (texts, numbers, nodes with the precedence that
 * their place requires). Parts go to a stack and are printed or opened in turn: no recursion. Invariant: reading the text with the
 * constructors of simplify.c gives the same node.
 *
 * The text is as long as the tree, which may be exponentially larger than the graph. So texts for people end at a limit, and
 * texts that are read back have names for shared nodes. */
#include "base/number.h"
#include "expr/dag_internal.h"

#include <math.h>
#include <string.h>

/* Levels of the Modelica grammar, loosest first (Modelica 3.6, section 3.2 and appendix A.2.7). */
typedef enum Level {
  LEVEL_IF,
  LEVEL_OR,
  LEVEL_AND,
  LEVEL_NOT,
  LEVEL_RELATION,
  LEVEL_SUM, /* also unary minus */
  LEVEL_PRODUCT,
  LEVEL_POWER,
  LEVEL_PRIMARY,
} Level;

typedef enum PartKind { PART_TEXT, PART_NUMBER, PART_NODE, PART_ELSE } PartKind;

typedef struct PrintPart {
  uint8_t kind, level;
  uint32_t place; /* ValueKind that is expected here */
  Expr node;
  const char *text;
  double number;
} PrintPart;

typedef struct RankedTerm {
  uint32_t rank;
  Term term;
} RankedTerm;

typedef struct NamedNode {
  uint32_t rank, position;
} NamedNode;

typedef struct Printer {
  Dag *dag;
  const LeafPrinter *leaves;
  Heap *heap;
  TextVec *text;
  IndexVec order;       /* the nodes below the root, children first */
  uint32_t *kinds;      /* ValueKind of the nodes, by position in the walk */
  uint32_t *names;      /* by position: number of the node's name; 0: none; NULL: no names */
  VEC(NamedNode) named; /* by number, from 1 */
  VEC(PrintPart) stack, parts;
  VEC(RankedTerm) terms; /* terms of the sum that is opened */
} Printer;

static void part_text(Printer *p, const char *text) {
  vec_push(p->heap, &p->parts, (PrintPart){.kind = PART_TEXT, .text = text});
}

static void part_number(Printer *p, double number) {
  vec_push(p->heap, &p->parts, (PrintPart){.kind = PART_NUMBER, .number = number});
}

static void part_node(Printer *p, Expr node, Level level, uint32_t place) {
  vec_push(p->heap, &p->parts, (PrintPart){.kind = PART_NODE, .node = node, .level = (uint8_t)level, .place = place});
}

/* ---- numbers, strings, leaves ---- */

/* A number that is not finite has no literal; it is written as a product that overflows. */
static void print_number(Printer *p, double value) {
  char digits[NUMBER_SIZE];
  if (!isfinite(value)) {
    text_printf(p->heap, p->text, isnan(value) ? "nan" : value > 0 ? "1e308*10" : "-1e308*10");
    return;
  }
  text_append(p->heap, p->text, digits, number_shortest(value, digits));
  if (fabs(value) > 0x1p53 && !strpbrk(digits, ".e"))
    text_append(p->heap, p->text, ".0", 2); /* written as a Real: not an
                                                                                               * Integer */
}

static void print_leaf_index(Printer *p, Expr e) {
  Op op = dag_op(p->dag, e);
  uint32_t order = op == OP_VARIABLE ? dag_order(p->dag, e) : 0;
  for (uint32_t i = 0; i < order; i++) text_append(p->heap, p->text, "der(", 4);
  const char *format = op == OP_PARAMETER ? "p%u" : op == OP_VARIABLE ? "x%u" : op == OP_PRE ? "pre(d%u)" : "d%u";
  text_printf(p->heap, p->text, format, dag_index(p->dag, e) + 1);
  for (uint32_t i = 0; i < order; i++) text_append(p->heap, p->text, ")", 1);
}

static void print_constant(Printer *p, double value, uint32_t place) {
  if (place == VALUE_BOOLEAN) text_printf(p->heap, p->text, value != 0 ? "true" : "false");
  else if (place >= VALUE_ENUMERATION && p->leaves && p->leaves->literal)
    p->leaves->literal(p->leaves->context, p->heap, p->text, place, value);
  else print_number(p, value);
}

static void print_leaf(Printer *p, Expr e, uint32_t place) {
  Op op = dag_op(p->dag, e);
  if (op == OP_STRING) text_quote(p->heap, p->text, names_text(p->dag->names, dag_index(p->dag, e)), '"');
  else if (op == OP_CONSTANT) print_constant(p, dag_value(p->dag, e), place);
  else if (p->leaves && p->leaves->print) p->leaves->print(p->leaves->context, p->heap, p->text, p->dag, e);
  else if (op == OP_TIME) text_append(p->heap, p->text, "time", 4);
  else print_leaf_index(p, e);
}

/* ---- kinds of values ---- */

static uint32_t position_of(const Printer *p, Expr e) { return p->dag->scratch.slots.data[e]; }

static uint32_t kind_of(const Printer *p, Expr e) { return p->kinds[position_of(p, e)]; }

static bool is_number(uint32_t kind) { return kind == VALUE_REAL || kind == VALUE_INTEGER; }

/* The kind that accepts both; an enumeration next to a number counts as its Integer. */
static uint32_t kind_join(uint32_t a, uint32_t b) {
  if (a == VALUE_ANY || a == b) return b;
  if (b == VALUE_ANY) return a;
  if (is_number(a) && is_number(b)) return VALUE_REAL;
  if (is_number(a) && b >= VALUE_ENUMERATION) return a;
  return is_number(b) && a >= VALUE_ENUMERATION ? b : VALUE_ANY;
}

static uint32_t kind_of_children(const Printer *p, Expr e, uint32_t first) {
  uint32_t kind = VALUE_ANY;
  for (uint32_t i = first, count = dag_child_count(p->dag, e); i < count; i++)
    kind = kind_join(kind, kind_of(p, dag_child(p->dag, e, i)));
  return kind;
}

/* Integer if all children are whole numbers (enumerations count as such), otherwise Real. */
static uint32_t kind_of_arithmetic(const Printer *p, Expr e) {
  for (uint32_t i = 0, count = dag_child_count(p->dag, e); i < count; i++)
    if (kind_of(p, dag_child(p->dag, e, i)) == VALUE_REAL) return VALUE_REAL;
  return VALUE_INTEGER;
}

static uint32_t kind_of_sum(const Printer *p, Expr e) {
  double constant;
  const Term *terms;
  uint32_t count = dag_terms(p->dag, e, &constant, &terms);
  if (constant != floor(constant)) return VALUE_REAL;
  for (uint32_t i = 0; i < count; i++)
    if (terms[i].coefficient != floor(terms[i].coefficient)) return VALUE_REAL;
  return kind_of_arithmetic(p, e);
}

/* A small power of an Integer is printed as a product, n*n: the language's n^2 is Real. */
static uint32_t whole_power(const Printer *p, Expr e) {
  double exponent;
  bool is_small = dag_is_constant(p->dag, dag_child(p->dag, e, 1), &exponent) && exponent >= 2 && exponent <= 8;
  bool is_whole = is_small && exponent == floor(exponent);
  return is_whole && kind_of(p, dag_child(p->dag, e, 0)) == VALUE_INTEGER ? (uint32_t)exponent : 0;
}

/* A whole number may stand for an Integer, a Boolean, a literal of an enumeration, or a Real. */
static uint32_t kind_of_constant(double value) {
  return value == floor(value) && fabs(value) <= 0x1p53 ? VALUE_ANY : VALUE_REAL;
}

static uint32_t find_kind(const Printer *p, Expr e) {
  Op op = dag_op(p->dag, e);
  if (op_kind(op) == KIND_RELATION) return VALUE_BOOLEAN;
  switch (op) {
  case OP_CONSTANT: return kind_of_constant(dag_value(p->dag, e));
  case OP_PARAMETER:
  case OP_VARIABLE:
  case OP_DISCRETE:
  case OP_PRE:
  case OP_CALL: return p->leaves && p->leaves->kind ? p->leaves->kind(p->leaves->context, p->dag, e) : VALUE_REAL;
  case OP_AND:
  case OP_OR:
  case OP_NOT:
  case OP_INITIAL:
  case OP_TERMINAL:
  case OP_SAMPLE:
  case OP_EDGE:
  case OP_CHANGE: return VALUE_BOOLEAN;
  case OP_IF:
  case OP_SMOOTH: return kind_of_children(p, e, 1);
  case OP_NOEVENT:
  case OP_HOMOTOPY:
  case OP_MIN:
  case OP_MAX: return kind_of_children(p, e, 0);
  case OP_SUM: return kind_of_sum(p, e);
  case OP_MULTIPLY:
  case OP_ABS:
  case OP_DIV:
  case OP_MOD:
  case OP_REM: return kind_of_arithmetic(p, e);
  case OP_SIGN:
  case OP_INTEGER: return VALUE_INTEGER;
  case OP_POWER: return whole_power(p, e) ? VALUE_INTEGER : VALUE_REAL;
  case OP_STRING:
  case OP_STRING_OF:
  case OP_STRING_JOIN: return VALUE_STRING;
  default: return VALUE_REAL;
  }
}

/* A printer of the graph below a root, with the kinds of its nodes. */
static Printer printer_make(Dag *dag, Expr root, const LeafPrinter *leaves, Heap *heap) {
  Printer p = {.dag = dag, .leaves = leaves, .heap = heap};
  dag_below(dag, &dag->scratch, &root, 1, &p.order);
  p.kinds = heap_array(heap, p.order.count, sizeof *p.kinds);
  for (uint32_t i = 0; i < p.order.count; i++) p.kinds[i] = find_kind(&p, p.order.data[i]);
  return p;
}

static void printer_free(Printer *p) {
  vec_free(p->dag->heap, &p->order);
  heap_free_all(p->heap, p->kinds, p->names);
  vec_free(p->heap, &p->named, &p->terms, &p->stack, &p->parts);
}

/* ---- operators ---- */

static Level node_level(const Dag *dag, Expr e) {
  Op op = dag_op(dag, e);
  if (op_kind(op) == KIND_RELATION) return LEVEL_RELATION;
  switch (op) {
  case OP_CONSTANT:
    return !(dag_value(dag, e) >= 0) ? LEVEL_SUM : isinf(dag_value(dag, e)) ? LEVEL_PRODUCT : LEVEL_PRIMARY;
  case OP_SUM:
  case OP_STRING_JOIN: return LEVEL_SUM;
  case OP_MULTIPLY:
  case OP_DIVIDE: return LEVEL_PRODUCT;
  case OP_POWER: return LEVEL_POWER;
  case OP_NOT: return LEVEL_NOT;
  case OP_AND: return LEVEL_AND;
  case OP_OR: return LEVEL_OR;
  case OP_IF: return LEVEL_IF;
  default: return LEVEL_PRIMARY;
  }
}

static uint32_t rank_of(const Printer *p, Expr e) { return p->leaves && p->leaves->ranks ? p->leaves->ranks[e] : e; }

/* Chooses the left and the right factor. If an operand is a product or quotient, it goes to the left, where it needs no
 * parentheses. If it is a sum, it goes to the right, so that a coefficient in front is not read as part of the sum. */
static void product_sides(const Printer *p, Expr e, Expr *left, Expr *right) {
  const Dag *dag = p->dag;
  Expr a = dag_child(dag, e, 0), b = dag_child(dag, e, 1);
  bool is_turned = dag_op(dag, e) == OP_MULTIPLY && rank_of(p, a) > rank_of(p, b);
  *left = is_turned ? b : a;
  *right = is_turned ? a : b;
  if (dag_op(dag, e) != OP_MULTIPLY) return;
  Level first = node_level(dag, *left), second = node_level(dag, *right);
  if (first == LEVEL_PRODUCT || (second != LEVEL_PRODUCT && (first != LEVEL_SUM || second == LEVEL_SUM))) return;
  Expr swap = *left;
  *left = *right, *right = swap;
}

/* 3*x */
static bool is_multiple(const Dag *dag, Expr e) {
  const Term *terms;
  double constant;
  return dag_op(dag, e) == OP_SUM && dag_terms(dag, e, &constant, &terms) == 1 && constant == 0;
}

/* Does the text of a product begin with a number, like 3/x/y, or with a sum, like (x + y)/z? Or does it divide by the number 0
 * or by a multiple, like x/(3*x)*x? Then a coefficient in front would be read as part of it. */
static bool takes_coefficient(const Printer *p, Expr e) {
  while (dag_op(p->dag, e) == OP_MULTIPLY || dag_op(p->dag, e) == OP_DIVIDE) {
    Expr right;
    bool is_quotient = dag_op(p->dag, e) == OP_DIVIDE;
    product_sides(p, e, &e, &right);
    if (is_quotient && (right == EXPR_ZERO || is_multiple(p->dag, right))) return true;
  }
  return dag_op(p->dag, e) == OP_CONSTANT || dag_op(p->dag, e) == OP_SUM;
}

static void open_product(Printer *p, Expr e) {
  Expr left, right;
  product_sides(p, e, &left, &right);
  part_node(p, left, LEVEL_PRODUCT, VALUE_REAL);
  part_text(p, op_name(dag_op(p->dag, e)));
  part_node(p, right, LEVEL_POWER, VALUE_REAL);
}

static void open_term(Printer *p, Term term, bool first) {
  double factor = fabs(term.coefficient);
  part_text(p, term.coefficient < 0 ? first ? "-" : " - " : first ? "" : " + ");
  if (factor != 1) {
    part_number(p, factor);
    part_text(p, "*");
  }
  bool enclose = factor != 1 && takes_coefficient(p, term.node);
  part_node(p, term.node, enclose ? LEVEL_POWER : LEVEL_PRODUCT, VALUE_REAL);
}

static void open_constant(Printer *p, double constant, bool first) {
  part_text(p, constant < 0 ? " - " : first ? "" : " + ");
  part_number(p, fabs(constant));
}

static int compare_terms(const void *a, const void *b) {
  const RankedTerm *x = a, *y = b;
  return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The terms of a sum in order of rank. */
static const RankedTerm *sorted_terms(Printer *p, Expr e, double *constant, uint32_t *count) {
  const Term *terms;
  *count = dag_terms(p->dag, e, constant, &terms);
  p->terms.count = 0;
  for (uint32_t i = 0; i < *count; i++) vec_push(p->heap, &p->terms, (RankedTerm){rank_of(p, terms[i].node), terms[i]});
  if (p->leaves && p->leaves->ranks) dag_sort(p->heap, p->terms.data, *count, sizeof(RankedTerm), compare_terms);
  return p->terms.data;
}

/* Prints the terms in order, then the constant. But a positive term goes first if there is one. */
static void open_sum(Printer *p, Expr e) {
  double constant;
  uint32_t count, lead = 0;
  const RankedTerm *terms = sorted_terms(p, e, &constant, &count);
  while (lead < count && terms[lead].term.coefficient < 0) lead++;
  bool constant_leads = lead == count && constant > 0;
  if (constant_leads) open_constant(p, constant, true);
  if (lead == count && !constant_leads) lead = 0;
  if (lead < count) open_term(p, terms[lead].term, true);
  for (uint32_t i = 0; i < count; i++)
    if (i != lead) open_term(p, terms[i].term, false);
  if (constant != 0 && !constant_leads) open_constant(p, constant, false);
}

/* An infix operator; `left` and `right` are the levels of its operands. */
static void open_infix(Printer *p, Expr e, Level left, Level right, uint32_t place) {
  part_node(p, dag_child(p->dag, e, 0), left, place);
  part_text(p, " ");
  part_text(p, op_name(dag_op(p->dag, e)));
  part_text(p, " ");
  part_node(p, dag_child(p->dag, e, 1), right, place);
}

static void open_power(Printer *p, Expr e) {
  uint32_t factors = whole_power(p, e);
  for (uint32_t i = 0; i < factors; i++) {
    part_text(p, i ? "*" : "(");
    part_node(p, dag_child(p->dag, e, 0), LEVEL_POWER, VALUE_INTEGER);
  }
  if (factors) {
    part_text(p, ")");
    return;
  }
  part_node(p, dag_child(p->dag, e, 0), LEVEL_PRIMARY, VALUE_REAL);
  part_text(p, "^");
  part_node(p, dag_child(p->dag, e, 1), LEVEL_PRIMARY, VALUE_REAL);
}

/* The number of the name by which a node is printed; 0: it is written out. An Integer in the place of a Boolean is a choice among
 * constants, which are written as true and false there. */
static uint32_t name_of(const Printer *p, Expr e, uint32_t place) {
  if (!p->names || (place == VALUE_BOOLEAN && kind_of(p, e) == VALUE_INTEGER)) return 0;
  return p->names[position_of(p, e)];
}

/* Prints "condition then value" and the rest; `if` or `elseif` is already printed. */
static void open_choice(Printer *p, Expr e, uint32_t place) {
  part_node(p, dag_child(p->dag, e, 0), LEVEL_IF, VALUE_BOOLEAN);
  part_text(p, " then ");
  part_node(p, dag_child(p->dag, e, 1), LEVEL_OR, place);
  vec_push(p->heap, &p->parts, (PrintPart){.kind = PART_ELSE, .node = dag_child(p->dag, e, 2), .place = place});
}

static void open_else(Printer *p, Expr e, uint32_t place) {
  bool chain = dag_op(p->dag, e) == OP_IF && !name_of(p, e, place);
  part_text(p, chain ? " elseif " : " else ");
  if (chain) open_choice(p, e, place);
  else part_node(p, e, LEVEL_IF, place);
}

static void open_arguments(Printer *p, Expr e, uint32_t first, uint32_t place) {
  part_text(p, "(");
  for (uint32_t i = first, count = dag_child_count(p->dag, e); i < count; i++) {
    if (i > first) part_text(p, ", ");
    part_node(p, dag_child(p->dag, e, i), LEVEL_IF, place);
  }
  part_text(p, ")");
}

/* The last two arguments are vectors of one size. */
static void open_transport(Printer *p, Expr e) {
  uint32_t count = dag_child_count(p->dag, e), points = (count - TRANSPORT_SCALARS) / 2;
  for (uint32_t i = 0; i < count; i++) {
    bool is_vector = i == TRANSPORT_SCALARS || i == TRANSPORT_SCALARS + points;
    part_text(p, i == 0 ? "(" : i == TRANSPORT_SCALARS ? ", {" : is_vector ? "}, {" : ", ");
    part_node(p, dag_child(p->dag, e, i), LEVEL_IF, i == TRANSPORT_POSITIVE ? VALUE_BOOLEAN : VALUE_REAL);
  }
  part_text(p, "})");
}

/* The name is printed at once, because it comes before all parts of this node. */
static void open_plain_call(Printer *p, Expr e, CallInfo call) {
  if (p->leaves && p->leaves->function)
    text_printf(p->heap, p->text, "%s", p->leaves->function(p->leaves->context, call.function));
  else text_printf(p->heap, p->text, "f%u", call.function + 1);
  if (call.output) text_printf(p->heap, p->text, "$output%u", call.output + 1);
  for (uint32_t i = 0; i < call.partial_count; i++) text_printf(p->heap, p->text, "$d%u", call.partials[i] + 1);
  open_arguments(p, e, 0, VALUE_ANY);
}

static void open_call(Printer *p, Expr e) {
  CallInfo call = dag_call_info(p->dag, e);
  const LeafPrinter *leaves = p->leaves;
  const char *first = leaves && leaves->around ? leaves->around(leaves->context, call, 0) : NULL;
  if (!first) {
    open_plain_call(p, e, call);
    return;
  }
  uint32_t count = dag_child_count(p->dag, e);
  part_text(p, first);
  for (uint32_t i = 0; i < count; i++) {
    const char *after = leaves->around(leaves->context, call, i + 1);
    if (!after) break;
    part_node(p, dag_child(p->dag, e, i), LEVEL_IF, leaves->argument(leaves->context, call, i));
    part_text(p, after);
  }
}

static void open_join(Printer *p, Expr e) {
  for (uint32_t i = 0, count = dag_child_count(p->dag, e); i < count; i++) {
    if (i) part_text(p, " + ");
    part_node(p, dag_child(p->dag, e, i), LEVEL_PRODUCT, VALUE_REAL);
  }
}

static void open_relation(Printer *p, Expr e) { open_infix(p, e, LEVEL_SUM, LEVEL_SUM, kind_of_children(p, e, 0)); }

/* min(a, b) and max(a, b) in order of rank. */
static void open_extreme(Printer *p, Expr e, uint32_t place) {
  Expr a = dag_child(p->dag, e, 0), b = dag_child(p->dag, e, 1);
  bool is_turned = rank_of(p, a) > rank_of(p, b);
  part_text(p, "(");
  part_node(p, is_turned ? b : a, LEVEL_IF, place);
  part_text(p, ", ");
  part_node(p, is_turned ? a : b, LEVEL_IF, place);
  part_text(p, ")");
}

/* name(arguments), where each argument gets the kind that its place requires. */
static void open_function(Printer *p, Expr e, uint32_t place) {
  Op op = dag_op(p->dag, e);
  part_text(p, op_name(op));
  if (op == OP_SMOOTH) {
    part_text(p, "(");
    part_node(p, dag_child(p->dag, e, 0), LEVEL_IF, VALUE_INTEGER);
    part_text(p, ", ");
    part_node(p, dag_child(p->dag, e, 1), LEVEL_IF, place);
    part_text(p, ")");
    return;
  }
  if (op == OP_MIN || op == OP_MAX) {
    open_extreme(p, e, place);
    return;
  }
  if (op == OP_TRANSPORT) {
    open_transport(p, e);
    return;
  }
  uint32_t inner = VALUE_REAL;
  if (op == OP_NOEVENT || op == OP_HOMOTOPY) inner = place;
  if (op == OP_STRING_OF || op == OP_EDGE || op == OP_CHANGE) inner = VALUE_ANY;
  open_arguments(p, e, 0, inner);
}

/* The parts of a node, without parentheses around it. */
static void open_node(Printer *p, Expr e, uint32_t place) {
  Op op = dag_op(p->dag, e);
  if (op_kind(op) == KIND_RELATION) {
    open_relation(p, e);
    return;
  }
  switch (op) {
  case OP_SUM: open_sum(p, e); break;
  case OP_MULTIPLY:
  case OP_DIVIDE: open_product(p, e); break;
  case OP_POWER: open_power(p, e); break;
  case OP_AND: open_infix(p, e, LEVEL_AND, LEVEL_NOT, VALUE_BOOLEAN); break;
  case OP_OR: open_infix(p, e, LEVEL_OR, LEVEL_AND, VALUE_BOOLEAN); break;
  case OP_NOT:
    part_text(p, "not ");
    part_node(p, dag_child(p->dag, e, 0), LEVEL_RELATION, VALUE_BOOLEAN);
    break;
  case OP_IF:
    part_text(p, "if ");
    open_choice(p, e, place);
    break;
  case OP_CALL: open_call(p, e); break;
  case OP_STRING_JOIN: open_join(p, e); break;
  default: open_function(p, e, place);
  }
}

/* The conversion of a value of this kind for the place: Integer(e), or the name of the enumeration; NULL if none is
 * needed. */
static const char *conversion(const Printer *p, Expr e, uint32_t kind, uint32_t place) {
  if (kind >= VALUE_ENUMERATION && is_number(place)) return "Integer";
  if (place < VALUE_ENUMERATION || !is_number(kind) || dag_op(p->dag, e) == OP_CONSTANT) return NULL;
  return p->leaves && p->leaves->enumeration ? p->leaves->enumeration(p->leaves->context, place) : NULL;
}

static void print_node(Printer *p, PrintPart part) {
  uint32_t kind = kind_of(p, part.node), name = name_of(p, part.node, part.place);
  const char *convert = conversion(p, part.node, kind, part.place);
  bool enclose = convert || (!name && node_level(p->dag, part.node) < (Level)part.level);
  if (convert) text_append(p->heap, p->text, convert, strlen(convert));
  if (convert || part.place == VALUE_ANY) part.place = kind;
  if (enclose) text_append(p->heap, p->text, "(", 1);
  if (name) text_printf(p->heap, p->text, DAG_PART_NAME, name);
  else if (op_kind(dag_op(p->dag, part.node)) == KIND_LEAF) print_leaf(p, part.node, part.place);
  else open_node(p, part.node, part.place);
  if (enclose) part_text(p, ")");
}

uint32_t dag_value_kind(Dag *dag, Expr e, const LeafPrinter *printer) {
  Printer p = printer_make(dag, e, printer, dag->heap);
  uint32_t kind = kind_of(&p, e);
  printer_free(&p);
  return kind;
}

/* The text of a node up to the limit; after it "...". */
static void print_root(Printer *p, Expr e, uint32_t place, TextVec *text, uint32_t limit) {
  uint32_t begin = text->count;
  p->text = text;
  p->stack.count = 0;
  part_node(p, e, LEVEL_IF, place);
  while (p->parts.count || p->stack.count) {
    while (p->parts.count)
      vec_push(p->heap, &p->stack, vec_pop(&p->parts)); /* reversed, so that the first part is printed next */
    if (limit && text->count - begin >= limit) {
      text_append(p->heap, text, "...", 3);
      return;
    }
    PrintPart part = vec_pop(&p->stack);
    switch ((PartKind)part.kind) {
    case PART_TEXT: text_append(p->heap, text, part.text, strlen(part.text)); break;
    case PART_NUMBER: print_number(p, part.number); break;
    case PART_NODE: print_node(p, part); break;
    case PART_ELSE: open_else(p, part.node, part.place); break;
    }
  }
}

void dag_print(Dag *dag, Expr e, const LeafPrinter *printer, Heap *heap, TextVec *text) {
  Printer p = printer_make(dag, e, printer, heap);
  text_append(heap, text, "", 0);
  print_root(&p, e, printer ? printer->place : VALUE_ANY, text, printer ? printer->limit : 0);
  printer_free(&p);
}

/* ---- shared parts ---- */

/* How often the text of a child occurs in the text of its parent. */
static uint32_t repetitions(const Printer *p, Expr e, uint32_t child) {
  return dag_op(p->dag, e) == OP_POWER && child == 0 && whole_power(p, e) ? whole_power(p, e) : 1;
}

/* The number of tree nodes below the node at a position; a node with a name counts as one. */
static double tree_size(const Printer *p, uint32_t position, const double *sizes) {
  double size = 1;
  Expr e = p->order.data[position];
  for (uint32_t i = 0, count = dag_child_count(p->dag, e); i < count; i++) {
    uint32_t child = position_of(p, dag_child(p->dag, e, i));
    size += repetitions(p, e, i) * (p->names && p->names[child] ? 1 : sizes[child]);
  }
  return size;
}

/* Is the tree so much larger than the graph that its text needs names? */
static bool needs_names(const Printer *p, double *sizes) {
  enum { SMALL_TREE = 1000, REPETITION = 4 };
  for (uint32_t i = 0; i < p->order.count; i++) sizes[i] = tree_size(p, i, sizes);
  double size = sizes[p->order.count - 1];
  return size > SMALL_TREE && size > REPETITION * (double)p->order.count;
}

static uint32_t *count_uses(const Printer *p) {
  uint32_t *uses = heap_array(p->heap, p->order.count, sizeof *uses);
  for (uint32_t i = 0; i < p->order.count; i++) {
    Expr e = p->order.data[i];
    for (uint32_t k = 0, count = dag_child_count(p->dag, e); k < count; k++)
      uses[position_of(p, dag_child(p->dag, e, k))] += repetitions(p, e, k);
  }
  return uses;
}

static int compare_named(const void *a, const void *b) {
  const NamedNode *x = a, *y = b;
  return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Names the nodes that are used several times and are not short, in order of rank, so children come first. A choice among whole
 * numbers, whose kind is open, becomes an Integer. */
static void give_names(Printer *p, double *sizes) {
  enum { SHORT_TREE = 4 };
  uint32_t *uses = count_uses(p);
  p->names = heap_array(p->heap, p->order.count, sizeof *p->names);
  for (uint32_t i = 0; i + 1 < p->order.count; i++) {
    sizes[i] = tree_size(p, i, sizes);
    if (uses[i] < 2 || sizes[i] <= SHORT_TREE) continue;
    p->names[i] = 1;
    if (p->kinds[i] == VALUE_ANY) p->kinds[i] = VALUE_INTEGER;
    vec_push(p->heap, &p->named, (NamedNode){rank_of(p, p->order.data[i]), i});
  }
  dag_sort(p->heap, p->named.data, p->named.count, sizeof(NamedNode), compare_named);
  for (uint32_t k = 0; k < p->named.count; k++) p->names[p->named.data[k].position] = k + 1;
  heap_free(p->heap, uses);
}

static void print_parts(Printer *p, TextVec *statements, IndexVec *kinds) {
  for (uint32_t k = 0; k < p->named.count; k++) {
    uint32_t i = p->named.data[k].position;
    text_printf(p->heap, statements, "    " DAG_PART_NAME " := ", k + 1);
    p->names[i] = 0; /* the node itself is written out here */
    print_root(p, p->order.data[i], p->kinds[i], statements, 0);
    p->names[i] = k + 1;
    text_append(p->heap, statements, ";\n", 2);
    vec_push(p->heap, kinds, p->kinds[i]);
  }
}

bool dag_print_parts(Dag *dag, Expr e, const LeafPrinter *printer, Heap *heap, TextVec *statements, IndexVec *kinds,
                     TextVec *text) {
  Printer p = printer_make(dag, e, printer, heap);
  double *sizes = heap_array(heap, p.order.count, sizeof *sizes);
  bool is_needed = needs_names(&p, sizes);
  if (is_needed) {
    give_names(&p, sizes);
    print_parts(&p, statements, kinds);
    print_root(&p, e, printer->place, text, 0);
  }
  heap_free(heap, sizes);
  printer_free(&p);
  return is_needed;
}
