/* print: Modelica text with the fewest parentheses. A node becomes a list of parts (texts, numbers, nodes
 * with the level of precedence their place asks for), which go to a stack and are printed or opened in turn:
 * no recursion. Invariant: reading the text with the constructors of simplify.c gives the same node. */
#include "expr/dag_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Levels of the Modelica grammar, loosest first (Modelica 3.6, section 3.2 and appendix A.2.7). */
typedef enum Level {
  LEVEL_IF,
  LEVEL_OR,
  LEVEL_AND,
  LEVEL_NOT,
  LEVEL_RELATION,
  LEVEL_SUM, /* unary minus too */
  LEVEL_PRODUCT,
  LEVEL_POWER,
  LEVEL_PRIMARY,
} Level;

typedef enum PartKind { PART_TEXT, PART_NUMBER, PART_NODE, PART_ELSE } PartKind;

typedef struct Part {
  uint8_t kind, level;
  bool boolean; /* a constant here is a truth value */
  Expr node;
  const char *text;
  double number;
} Part;

typedef struct Printer {
  Dag *dag;
  const LeafPrinter *leaves;
  Heap *heap;
  TextVec *text;
  VEC(Part) stack, parts;
} Printer;

static void part_text(Printer *p, const char *text) {
  vec_push(p->heap, &p->parts, (Part){.kind = PART_TEXT, .text = text});
}

static void part_number(Printer *p, double number) {
  vec_push(p->heap, &p->parts, (Part){.kind = PART_NUMBER, .number = number});
}

static void part_node(Printer *p, Expr node, Level level, bool boolean) {
  vec_push(p->heap, &p->parts,
           (Part){.kind = PART_NODE, .node = node, .level = (uint8_t)level, .boolean = boolean});
}

/* ---- numbers, strings, leaves ---- */

/* The shortest of 15 to 17 digits that reads back. What is not finite cannot be a literal: an overflowing
 * product. */
static void print_number(Printer *p, double value) {
  char digits[40];
  if (!isfinite(value)) {
    text_printf(p->heap, p->text, isnan(value) ? "nan" : value > 0 ? "1e308*10" : "-1e308*10");
    return;
  }
  for (int precision = 15; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, value);
    if (strtod(digits, NULL) == value) break;
  }
  for (char *c = digits; *c; c++)
    if (*c == ',') *c = '.'; /* the host program may have set a locale */
  text_append(p->heap, p->text, digits, strlen(digits));
}

static void print_string(Printer *p, Name name) {
  static const char plain[] = "\"\\\n\t\r\a\b\f\v", escaped[] = "\"\\ntrabfv";
  const char *text = names_text(p->dag->names, name);
  text_append(p->heap, p->text, "\"", 1);
  for (uint32_t i = 0, length = names_length(p->dag->names, name); i < length; i++) {
    const char *found = text[i] ? strchr(plain, text[i]) : NULL;
    if (found) text_append(p->heap, p->text, (char[]){'\\', escaped[found - plain]}, 2);
    else text_append(p->heap, p->text, text + i, 1);
  }
  text_append(p->heap, p->text, "\"", 1);
}

static void print_leaf_index(Printer *p, Expr e) {
  Op op = dag_op(p->dag, e);
  uint32_t order = op == OP_VARIABLE ? dag_order(p->dag, e) : 0;
  for (uint32_t i = 0; i < order; i++) text_append(p->heap, p->text, "der(", 4);
  const char *format = op == OP_PARAMETER  ? "p%u"
                       : op == OP_VARIABLE ? "x%u"
                       : op == OP_PRE      ? "pre(d%u)"
                                           : "d%u";
  text_printf(p->heap, p->text, format, dag_index(p->dag, e) + 1);
  for (uint32_t i = 0; i < order; i++) text_append(p->heap, p->text, ")", 1);
}

static void print_leaf(Printer *p, Expr e, bool boolean) {
  Op op = dag_op(p->dag, e);
  if (op == OP_TIME) text_append(p->heap, p->text, "time", 4);
  else if (op == OP_STRING) print_string(p, dag_index(p->dag, e));
  else if (op == OP_CONSTANT && boolean)
    text_printf(p->heap, p->text, dag_value(p->dag, e) != 0 ? "true" : "false");
  else if (op == OP_CONSTANT) print_number(p, dag_value(p->dag, e));
  else if (p->leaves && p->leaves->print) p->leaves->print(p->leaves->context, p->heap, p->text, p->dag, e);
  else print_leaf_index(p, e);
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

/* Is the value of e a truth value, as far as one look tells? */
static bool is_boolean(const Printer *p, Expr e) {
  Op op = dag_op(p->dag, e);
  OpKind kind = op_kind(op);
  if (kind == KIND_LEAF && op != OP_CONSTANT && op != OP_TIME && op != OP_STRING)
    return p->leaves && p->leaves->is_boolean && p->leaves->is_boolean(p->leaves->context, p->dag, e);
  return kind == KIND_RELATION || op == OP_AND || op == OP_OR || op == OP_NOT || op == OP_INITIAL ||
         op == OP_TERMINAL || op == OP_SAMPLE || op == OP_EDGE || op == OP_CHANGE;
}

/* Left and right factor; a product or quotient goes to the left, where it needs no parentheses; a sum to the
 * right, so that a coefficient in front is not read into it. */
static void product_sides(const Dag *dag, Expr e, Expr *left, Expr *right) {
  *left = dag_child(dag, e, 0);
  *right = dag_child(dag, e, 1);
  if (dag_op(dag, e) != OP_MULTIPLY) return;
  Level first = node_level(dag, *left), second = node_level(dag, *right);
  if (first == LEVEL_PRODUCT || (second != LEVEL_PRODUCT && (first != LEVEL_SUM || second == LEVEL_SUM)))
    return;
  Expr swap = *left;
  *left = *right, *right = swap;
}

/* Does the text of a product begin with a number (3/x/y) or a sum ((x + y)/z)? Then a coefficient in front
 * would be read into it. */
static bool takes_coefficient(const Dag *dag, Expr e) {
  Expr right;
  while (dag_op(dag, e) == OP_MULTIPLY || dag_op(dag, e) == OP_DIVIDE) product_sides(dag, e, &e, &right);
  return dag_op(dag, e) == OP_CONSTANT || dag_op(dag, e) == OP_SUM;
}

static void open_product(Printer *p, Expr e) {
  Expr left, right;
  product_sides(p->dag, e, &left, &right);
  part_node(p, left, LEVEL_PRODUCT, false);
  part_text(p, op_name(dag_op(p->dag, e)));
  part_node(p, right, LEVEL_POWER, false);
}

static void open_term(Printer *p, Term term, bool first) {
  double factor = fabs(term.coefficient);
  part_text(p, term.coefficient < 0 ? first ? "-" : " - " : first ? "" : " + ");
  if (factor != 1) {
    part_number(p, factor);
    part_text(p, "*");
  }
  bool enclose = factor != 1 && takes_coefficient(p->dag, term.node);
  part_node(p, term.node, enclose ? LEVEL_POWER : LEVEL_PRODUCT, false);
}

static void open_constant(Printer *p, double constant, bool first) {
  part_text(p, constant < 0 ? " - " : first ? "" : " + ");
  part_number(p, fabs(constant));
}

/* Terms in order, then the constant; but something positive goes first if there is any. */
static void open_sum(Printer *p, Expr e) {
  double constant;
  const Term *terms;
  uint32_t count = dag_terms(p->dag, e, &constant, &terms), lead = 0;
  while (lead < count && terms[lead].coefficient < 0) lead++;
  bool constant_leads = lead == count && constant > 0;
  if (constant_leads) open_constant(p, constant, true);
  if (lead == count && !constant_leads) lead = 0;
  if (lead < count) open_term(p, terms[lead], true);
  for (uint32_t i = 0; i < count; i++)
    if (i != lead) open_term(p, terms[i], false);
  if (constant != 0 && !constant_leads) open_constant(p, constant, false);
}

/* An infix operator; `left` and `right` are the levels of its operands. */
static void open_infix(Printer *p, Expr e, Level left, Level right, bool boolean) {
  part_node(p, dag_child(p->dag, e, 0), left, boolean);
  part_text(p, " ");
  part_text(p, op_name(dag_op(p->dag, e)));
  part_text(p, " ");
  part_node(p, dag_child(p->dag, e, 1), right, boolean);
}

static void open_power(Printer *p, Expr e) {
  part_node(p, dag_child(p->dag, e, 0), LEVEL_PRIMARY, false);
  part_text(p, "^");
  part_node(p, dag_child(p->dag, e, 1), LEVEL_PRIMARY, false);
}

/* "condition then value" and what follows; the words if or elseif stand before. */
static void open_choice(Printer *p, Expr e, bool boolean) {
  Expr then = dag_child(p->dag, e, 1), otherwise = dag_child(p->dag, e, 2);
  boolean = boolean || is_boolean(p, then) || is_boolean(p, otherwise);
  part_node(p, dag_child(p->dag, e, 0), LEVEL_IF, true);
  part_text(p, " then ");
  part_node(p, then, LEVEL_OR, boolean);
  vec_push(p->heap, &p->parts, (Part){.kind = PART_ELSE, .node = otherwise, .boolean = boolean});
}

static void open_else(Printer *p, Expr e, bool boolean) {
  bool chain = dag_op(p->dag, e) == OP_IF;
  part_text(p, chain ? " elseif " : " else ");
  if (chain) open_choice(p, e, boolean);
  else part_node(p, e, LEVEL_IF, boolean);
}

static void open_arguments(Printer *p, Expr e, uint32_t first, bool boolean) {
  part_text(p, "(");
  for (uint32_t i = first, count = dag_child_count(p->dag, e); i < count; i++) {
    if (i > first) part_text(p, ", ");
    part_node(p, dag_child(p->dag, e, i), LEVEL_IF, boolean);
  }
  part_text(p, ")");
}

/* The name goes out at once: nothing of this node stands before it. */
static void open_call(Printer *p, Expr e) {
  CallInfo call = dag_call_info(p->dag, e);
  if (p->leaves && p->leaves->function)
    text_printf(p->heap, p->text, "%s", p->leaves->function(p->leaves->context, call.function));
  else text_printf(p->heap, p->text, "f%u", call.function + 1);
  if (call.output) text_printf(p->heap, p->text, "$output%u", call.output + 1);
  for (uint32_t i = 0; i < call.partial_count; i++)
    text_printf(p->heap, p->text, "$d%u", call.partials[i] + 1);
  open_arguments(p, e, 0, false);
}

static void open_opaque(Printer *p, Expr e) {
  part_text(p, names_text(p->dag->names, dag_index(p->dag, dag_child(p->dag, e, 0))));
  open_arguments(p, e, 1, false);
}

static void open_join(Printer *p, Expr e) {
  for (uint32_t i = 0, count = dag_child_count(p->dag, e); i < count; i++) {
    if (i) part_text(p, " + ");
    part_node(p, dag_child(p->dag, e, i), LEVEL_PRODUCT, false);
  }
}

static void open_relation(Printer *p, Expr e) {
  bool boolean = is_boolean(p, dag_child(p->dag, e, 0)) || is_boolean(p, dag_child(p->dag, e, 1));
  open_infix(p, e, LEVEL_SUM, LEVEL_SUM, boolean);
}

/* The parts of a node, without parentheses around it. */
static void open_node(Printer *p, Expr e, bool boolean) {
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
  case OP_AND: open_infix(p, e, LEVEL_AND, LEVEL_NOT, true); break;
  case OP_OR: open_infix(p, e, LEVEL_OR, LEVEL_AND, true); break;
  case OP_NOT:
    part_text(p, "not ");
    part_node(p, dag_child(p->dag, e, 0), LEVEL_RELATION, true);
    break;
  case OP_IF:
    part_text(p, "if ");
    open_choice(p, e, boolean);
    break;
  case OP_CALL: open_call(p, e); break;
  case OP_OPAQUE: open_opaque(p, e); break;
  case OP_STRING_JOIN: open_join(p, e); break;
  default:
    part_text(p, op_name(op));
    open_arguments(p, e, 0, boolean && (op == OP_NOEVENT || op == OP_HOMOTOPY));
  }
}

static void print_node(Printer *p, Part part) {
  bool enclose = node_level(p->dag, part.node) < (Level)part.level;
  if (enclose) text_append(p->heap, p->text, "(", 1);
  if (op_kind(dag_op(p->dag, part.node)) == KIND_LEAF) print_leaf(p, part.node, part.boolean);
  else open_node(p, part.node, part.boolean);
  if (enclose) part_text(p, ")");
}

void dag_print(Dag *dag, Expr e, const LeafPrinter *printer, Heap *heap, TextVec *text) {
  Printer p = {.dag = dag, .leaves = printer, .heap = heap, .text = text};
  text_append(heap, text, "", 0);
  part_node(&p, e, LEVEL_IF, printer && printer->boolean);
  while (p.parts.count || p.stack.count) {
    while (p.parts.count)
      vec_push(heap, &p.stack, vec_pop(&p.parts)); /* reversed: the first part is the next */
    Part part = vec_pop(&p.stack);
    switch ((PartKind)part.kind) {
    case PART_TEXT: text_append(heap, text, part.text, strlen(part.text)); break;
    case PART_NUMBER: print_number(&p, part.number); break;
    case PART_NODE: print_node(&p, part); break;
    case PART_ELSE: open_else(&p, part.node, part.boolean); break;
    }
  }
  vec_free(heap, &p.stack);
  vec_free(heap, &p.parts);
}
