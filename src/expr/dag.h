/* dag: the expression graph of a model. Nodes live in one array, are addressed by 32-bit index and are hash-consed: equal
 * expressions have equal index, so equality is integer equality and shared subterms stay shared in derivatives. Nodes are
 * immutable; children come before parents, so a loop over indices is a traversal in dependency order and nothing here recurses.
 *
 * Normal form, kept by the constructors (simplify.c):
 *  - A sum is one node OP_SUM: constant + sum of coefficient_i * term_i, the terms distinct, none a sum or a
 *    constant, ascending by index. So a + b, a - b, -a, 3*a are all OP_SUM, like terms are collected, and
 *    x - x is the constant 0. A nested sum is merged when it has at most DAG_MERGE_TERMS terms (and no
 *    coefficient would over- or underflow).
 *  - Products are binary, the smaller index first; constant factors move out into a sum's coefficient; a*a is
 *    a^2. Products are not flattened or distributed: this keeps repeated derivatives polynomial in size.
 *  - x/y stays a quotient (also by constants: x/3 is not 0.333*x), but (c*x)/y is c*(x/y). x^(-n) is 1/x^n,
 *    x^0.5 is sqrt(x).
 *  - noEvent disappears if nothing below causes an event.
 *  - Constants are folded if the result is finite. No rewriting changes a value where the original is
 *    defined.
 * Values are doubles; Boolean is 0 or 1, Integer and enumeration are exact in a double. Strings are leaves.
 */
#pragma once

#include "base/map.h"
#include "base/pool.h"
#include "expr/op.h"

#include <float.h>

typedef uint32_t Expr;
#define EXPR_NONE UINT32_MAX

enum { DAG_MERGE_TERMS = 32 };

/* A term of a sum. Packed, because large models have millions of them. */
typedef struct __attribute__((packed, aligned(sizeof(Expr)))) Term {
  double coefficient;
  Expr node;
} Term;

typedef struct Node {
  uint16_t op;
  uint16_t count; /* arguments, or terms of a sum (long sums: see dag_terms) */
  uint32_t first; /* leaf payload, or position in the pool of arguments/terms */
} Node;

typedef struct Dag Dag;

/* The contents of a graph. They are its first member, so that reading needs no calls. dag_internal.h says what the pools
 * contain. */
typedef struct DagPools {
  Pool nodes, flags, constants, words, terms; /* Node, uint8_t, double, Expr, Term */
} DagPools;

/* A node that a walk has entered, and its children that are still to be visited, `stride` words apart. */
typedef struct DagFrame {
  Expr node;
  uint32_t rest, stride;
  const Expr *next;
} DagFrame;

/* Workspace of walks. It belongs to the caller: any number of threads may walk a graph that is not extended, each with its own
 * scratch. */
typedef struct DagScratch {
  Heap *heap;
  IndexVec marks, slots; /* per node: stamp of the last walk that visited it, and its position there */
  uint32_t stamp;
  VEC(DagFrame) stack;
  IndexVec order; /* the nodes of a temporary walk */
} DagScratch;

DagScratch dag_scratch_make(Heap *heap);
void dag_scratch_free(DagScratch *scratch);

/* The graph's own scratch, for the one owner that extends it. */
DagScratch *dag_scratch(Dag *dag);

/* Frees the scratch memory of constructors and walks, which otherwise stays for the next ones. */
void dag_trim(Dag *dag);

Dag *dag_new(Heap *heap, Names *names);

/* Makes room for this many further nodes at once; the actual number may be smaller or larger. */
void dag_reserve(Dag *dag, uint32_t more);

/* A new graph that begins with the nodes of `below`: every expression of `below` means the same in it. `below` may grow, and must
 * outlive the new graph. The full pieces of its pools are shared. O(number of pieces). */
Dag *dag_over(const Dag *below, Heap *heap, Names *names);

Heap *dag_heap(const Dag *dag);
uint32_t dag_size(const Dag *dag);  /* number of nodes; indices are below it */
uint64_t dag_edges(const Dag *dag); /* arguments of all nodes and terms of all sums */

/* ---- leaves ---- */
Expr dag_constant(Dag *dag, double value);
#define DAG_RESIDUE (2 * DBL_EPSILON)     /* round-off of literals and of their sum, relative to their sizes */
Expr dag_residue(Dag *dag, double value); /* a constant that is only the round-off of a sum, such as 0.1 + 0.2 - 0.3 */
Expr dag_time(Dag *dag);
Expr dag_parameter(Dag *dag, uint32_t index);                /* any value fixed during a run */
Expr dag_variable(Dag *dag, uint32_t index, uint32_t order); /* column (j, k): k-th derivative of unknown j */
Expr dag_discrete(Dag *dag, uint32_t index);                 /* constant between events */
Expr dag_pre(Dag *dag, uint32_t index);                      /* pre() of discrete variable `index` */
Expr dag_string(Dag *dag, Name text);

/* A delay reads its past values from a polynomial. The discrete leaves from `first` on hold its derivatives; the leaf after them
 * is the time around which the polynomial is expanded. The node is derivative number `order` as a function of time, for a delay by
 * a fixed time. */
Expr dag_delayed(Dag *dag, uint32_t first, uint32_t order);

/* Children of OP_TRANSPORT. Points and values follow, equally many. */
enum { TRANSPORT_IN0, TRANSPORT_IN1, TRANSPORT_X, TRANSPORT_POSITIVE, TRANSPORT_SCALARS };

uint32_t dag_delayed_leaf(const Dag *dag, Expr e); /* for OP_DELAYED: the discrete leaf that holds its value */

Expr dag_known_parameter(const Dag *dag, uint32_t index); /* EXPR_NONE: not made yet */

/* ---- operators; arguments are simplified as they are built ----
 * Build each operand in its own statement, because C does not define in which order the arguments of a call are evaluated. Nodes
 * get their indices in the order in which they are built, and the indices decide the order of terms. */
Expr dag_sum(Dag *dag, double constant, const Term *terms, uint32_t count); /* any order; O(n log n) */
Expr dag_add(Dag *dag, Expr a, Expr b);
Expr dag_subtract(Dag *dag, Expr a, Expr b);
Expr dag_negate(Dag *dag, Expr a);
Expr dag_scale(Dag *dag, double factor, Expr a);
Expr dag_multiply(Dag *dag, Expr a, Expr b);
Expr dag_divide(Dag *dag, Expr a, Expr b);
Expr dag_power(Dag *dag, Expr a, Expr b);
Expr dag_unary(Dag *dag, Op op, Expr a);
Expr dag_binary(Dag *dag, Op op, Expr a, Expr b);
Expr dag_if(Dag *dag, Expr condition, Expr then, Expr otherwise);

/* Any operator except leaves and calls, with a list of arguments (as many as its arity says). For callers that get the operator as
 * data, and for operators of arity -1 and 0. */
Expr dag_nary(Dag *dag, Op op, const Expr *arguments, uint32_t count);

/* Output `output` of function `function` of the model, differentiated partially with respect to the argument
 * positions listed (ascending, repeats allowed; none for the value itself). */
Expr dag_call(Dag *dag, uint32_t function, uint32_t output, const uint32_t *partials, uint32_t partial_count,
              const Expr *arguments, uint32_t count);

/* e with other children, one for each of dag_child_count(e), in the same order; simplified. A leaf is
 * returned as it is. */
Expr dag_rebuild(Dag *dag, Expr e, const Expr *children);

typedef struct CallInfo {
  uint32_t function, output, partial_count;
  const uint32_t *partials;
} CallInfo;
CallInfo dag_call_info(const Dag *dag, Expr e); /* pointers into the graph are valid until the next constructor */

/* ---- reading; pointers into the graph are valid until the next constructor ---- */
static inline const DagPools *dag_pools(const Dag *dag) { return (const DagPools *)(const void *)dag; }
static inline const Node *dag_node(const Dag *dag, Expr e) { return &pool_at(Node, &dag_pools(dag)->nodes, e); }
static inline const uint32_t *dag_words(const Dag *dag, const Node *node) {
  return &pool_at(Expr, &dag_pools(dag)->words, node->first);
}
static inline const Term *dag_sum_terms(const Dag *dag, const Node *node) {
  return &pool_at(Term, &dag_pools(dag)->terms, node->first);
}

static inline Op dag_op(const Dag *dag, Expr e) { return (Op)dag_node(dag, e)->op; }

/* Of OP_CONSTANT. */
static inline double dag_value(const Dag *dag, Expr e) {
  return pool_at(double, &dag_pools(dag)->constants, dag_node(dag, e)->first);
}

/* value may be NULL. */
static inline bool dag_is_constant(const Dag *dag, Expr e, double *value) {
  if (dag_op(dag, e) != OP_CONSTANT) return false;
  if (value) *value = dag_value(dag, e);
  return true;
}

/* Was the node made by dag_residue? Divisions by it are kept. */
static inline bool dag_is_residue(const Dag *dag, Expr e) {
  return dag_op(dag, e) == OP_CONSTANT && dag_node(dag, e)->count;
}

/* The index of a leaf that is a parameter, variable, discrete value, pre() or string; the order of a leaf OP_VARIABLE. */
static inline uint32_t dag_index(const Dag *dag, Expr e) { return dag_node(dag, e)->first; }
static inline uint32_t dag_order(const Dag *dag, Expr e) { return dag_node(dag, e)->count; }

/* The arguments of a node that is not a sum; returns their number. */
static inline uint32_t dag_arguments_of(const Dag *dag, const Node *node, const Expr **out) {
  int arity = op_arity((Op)node->op);
  *out = NULL;
  if (!arity) return 0;
  const uint32_t *words = dag_words(dag, node);
  uint32_t head = arity >= 0 ? 0 : node->op == OP_CALL ? 4 + words[3] : 1;
  *out = words + head;
  return arity >= 0 ? (uint32_t)arity : words[0] + 1 - head;
}
static inline uint32_t dag_arguments(const Dag *dag, Expr e, const Expr **out) {
  return dag_arguments_of(dag, dag_node(dag, e), out);
}

/* The constant and the terms of a node OP_SUM; returns the number of terms. */
static inline uint32_t dag_terms(const Dag *dag, Expr e, double *constant, const Term **out) {
  const Term *terms = dag_sum_terms(dag, dag_node(dag, e));
  *constant = terms->coefficient;
  *out = terms + 1;
  return terms->node;
}

/* Arguments and terms alike: the direct children of a node (none for leaves), `stride` words apart. */
typedef struct DagChildren {
  const Expr *first;
  uint32_t count, stride;
} DagChildren;
static inline DagChildren dag_children_of(const Dag *dag, const Node *node) {
  DagChildren children = {NULL, 0, 1};
  _Static_assert(sizeof(Term) % sizeof(Expr) == 0, "terms are a whole number of nodes apart");
  if (node->op == OP_SUM) {
    const Term *terms = dag_sum_terms(dag, node);
    return (DagChildren){&terms[1].node, terms->node, sizeof(Term) / sizeof(Expr)};
  }
  if (op_kind((Op)node->op) != KIND_LEAF) children.count = dag_arguments_of(dag, node, &children.first);
  return children;
}
static inline DagChildren dag_children(const Dag *dag, Expr e) { return dag_children_of(dag, dag_node(dag, e)); }
static inline Expr dag_child_at(const DagChildren *children, uint32_t i) {
  return children->first[(size_t)i * children->stride];
}

/* The number of children, and the i-th child. */
static inline uint32_t dag_child_count(const Dag *dag, Expr e) { return dag_children(dag, e).count; }
static inline Expr dag_child(const Dag *dag, Expr e, uint32_t i) {
  DagChildren children = dag_children(dag, e);
  return dag_child_at(&children, i);
}

/* ---- calculus (differentiate.c) ---- */

/* Total time derivative: time -> 1, (j, k) -> (j, k + 1), parameters and discrete variables -> 0. Memoized in the
 * graph, so the n-th derivative costs only its new nodes. */
Expr dag_time_derivative(Dag *dag, Expr e);

/* Partial derivative with respect to one leaf node (a variable column, parameter, or time). */
Expr dag_partial(Dag *dag, Expr e, Expr leaf);

/* All partial derivatives at once: appends the variable columns on which e depends, ascending by (index, order), and the
 * partial derivative with respect to each. Derivatives that are identically zero, such as those of floor(x) and delay(x, 1),
 * are left out. Adjoints are swept from e to the leaves, so the cost is proportional to the size of the graph below e. At if, min,
 * max, noEvent, smooth and homotopy the cost is multiplied by the number of columns below, because each column's partial is a
 * separate selection: an inactive branch must not be evaluated. */
typedef VEC(Expr) ExprVec;
void dag_gradient(Dag *dag, Expr e, ExprVec *leaves, ExprVec *partials);

/* The variable leaves (OP_VARIABLE) below e, each once, ascending by node index, appended to a vector
 * in the scratch's heap. O(graph below e); stamps make it unnecessary to clear O(size) marks per call. */
void dag_variables(const Dag *dag, DagScratch *scratch, Expr e, ExprVec *leaves);

/* Is there a leaf of this operator, other than a constant, at or below e? O(1). */
bool dag_depends(const Dag *dag, Expr e, Op leaf);

/* Is there a node of this operator at or below e? O(graph below e), and less for the operators of dag_below_nonsmooth. */
bool dag_contains(const Dag *dag, DagScratch *scratch, Expr e, Op op);

/* Is there a relation, a jump or kink, or an event operator below e outside of every noEvent? O(1). */
bool dag_has_event(const Dag *dag, Expr e);

/* The nodes at or below the roots, each once, children before parents, appended to `order`, in the scratch's heap. */
void dag_below(const Dag *dag, DagScratch *scratch, const Expr *roots, uint32_t count, IndexVec *order);

/* The nodes among these that are, or contain, a call or an operator of another kind than KIND_SMOOTH; in the same order. O(their
 * number and the number of roots): if everything is arithmetic, no node is visited. */
void dag_below_nonsmooth(const Dag *dag, DagScratch *scratch, const Expr *roots, uint32_t count, IndexVec *order);

/* Is e arithmetic throughout, so that dag_below_nonsmooth finds nothing? O(1). */
bool dag_is_smooth(const Dag *dag, Expr e);

/* Continues a hash with an expression: equal for graphs whose nodes below e are equal and were made in the same order. O(graph
 * below e). e must be smooth. */
uint64_t dag_digest(const Dag *dag, DagScratch *scratch, Expr e, uint64_t hash);

/* Replaces leaves and rebuilds (hence simplifies): from[i] -> to[i]. Memoized over one call for `count`
 * roots. Also replaces inner nodes if given as `from`. */
void dag_substitute(Dag *dag, const Expr *from, const Expr *to, uint32_t pairs, Expr *roots, uint32_t count);

/* Replacements that are added one after another. The result for each expression is remembered, so each node is rebuilt once. */
typedef struct DagSubstitution {
  Dag *dag;
  ExprVec from, to;
  ExprVec made;   /* per node: its replacement; EXPR_NONE: not yet known */
  IndexVec known; /* the nodes for which it is known */
  VEC(DagFrame) stack;
  ExprVec children;
} DagSubstitution;

DagSubstitution dag_substitution_make(Dag *dag);
void dag_substitution_free(DagSubstitution *substitution);

/* Replaces `from` by `to`, which is not itself replaced. */
void dag_substitution_add(DagSubstitution *substitution, Expr from, Expr to);

/* The expression that e becomes by the replacements so far. O(nodes below e that no earlier call has met), unless a leaf that
 * such a call has met was replaced since. */
Expr dag_substitution_of(DagSubstitution *substitution, Expr e);

/* Removes all replacements. */
void dag_substitution_clear(DagSubstitution *substitution);

/* If e is linear in leaf: e = slope * leaf + rest, with slope and rest free of leaf. rest may be NULL. */
bool dag_linear(Dag *dag, Expr e, Expr leaf, Expr *slope, Expr *rest);

/* If e is a short sum that has the leaf as a term with factor 1 or -1, and nowhere else: the value of the leaf for which e is zero;
 * otherwise EXPR_NONE. The same as dividing -rest by the slope (dag_linear), without making the rest. */
Expr dag_isolate(Dag *dag, Expr e, Expr leaf);

/* Number of distinct nodes below the roots (for tests and reports). */
uint32_t dag_count(const Dag *dag, DagScratch *scratch, const Expr *roots, uint32_t count);

/* Values of nodes, and for each value the node because of which it is undefined (EXPR_NONE: it is defined). Indexed by node or,
 * if slots is not NULL, by slots[node]. */
typedef struct NodeValues {
  const uint32_t *slots;
  double *values;
  Expr *faults;
} NodeValues;

/* The value of a constant, or of an operator from the values of its children. Returns the node at fault: e itself, or that of a
 * child whose value is used; EXPR_NONE if the value is defined. */
Expr dag_evaluate_node(const Dag *dag, const NodeValues *nodes, Expr e, double *value);

/* Value with the leaves' values given by a callback; false outside of the domain of an operator (then *where, if not NULL, is the
 * node at fault). Iterative; for tests and for constant expressions, not the run's evaluator. */
typedef double (*LeafValue)(void *context, const Dag *dag, Expr leaf);
bool dag_evaluate(const Dag *dag, DagScratch *scratch, Expr e, LeafValue leaf, void *context, double *value,
                  Expr *where);

/* ---- printing (print.c) ---- */

/* The kind of value that an expression has in the language; the nodes do not contain it. Enumeration i is
 * VALUE_ENUMERATION + i. */
typedef enum ValueKind {
  VALUE_ANY, /* the kind is not known, or the value decides it */
  VALUE_REAL,
  VALUE_INTEGER,
  VALUE_BOOLEAN,
  VALUE_STRING,
  VALUE_ENUMERATION,
} ValueKind;

/* Names come from the caller. `print` writes a leaf (quoted as the language needs it): parameters, variables,
 * discrete variables, pre and time; numbers and strings are printed here. The other members may be NULL. */
typedef struct LeafPrinter {
  void (*print)(void *context, Heap *heap, TextVec *text, const Dag *dag, Expr leaf);
  const char *(*function)(void *context, uint32_t function); /* name of a function for calls */
  void *context;
  uint32_t (*kind)(void *context, const Dag *dag, Expr e); /* ValueKind of a leaf or call; NULL: Real */
  uint32_t place; /* ValueKind expected of the whole: a constant 1 is true, a number, or a literal */
  void (*literal)(void *context, Heap *heap, TextVec *text, uint32_t kind, double value); /* of an enumeration */
  const char *(*enumeration)(void *context, uint32_t kind); /* its name, which converts a number */
  /* For calls whose arguments are arrays and records. `around` gives the text before argument `position`, or after the last if
   * position is the number of arguments; `argument` gives the ValueKind of the argument. Either both are set or neither. If
   * `around` returns NULL before the first argument, the call has partials, which the language cannot express; if it returns NULL
   * later, the remaining arguments are not part of the text. */
  const char *(*around)(void *context, CallInfo call, uint32_t position);
  uint32_t (*argument)(void *context, CallInfo call, uint32_t position);
  const uint32_t *ranks; /* order of terms and factors, by node (dag_ranks); NULL: order of building */
  uint32_t limit;        /* for dag_print: the text is cut after this many bytes and ends with `...`; 0: never */
} LeafPrinter;

/* Ranks of all nodes in an order that depends on their structure and on the order of variables, but not on
 * when they were built; in `heap`, for the caller to free. O(n log n) in the size of the graph. */
uint32_t *dag_ranks(const Dag *dag, Heap *heap);

/* ValueKind of an expression, from those of its leaves; VALUE_ANY if it could be several. O(graph below e). */
uint32_t dag_value_kind(Dag *dag, Expr e, const LeafPrinter *printer);

/* Modelica text with the fewest parentheses, which the parser reads back to the same node. Numbers have 17 digits at most, the
 * shortest that reads back. Column (j, k) prints as der(der(name)) by the caller's printer. A partial derivative of a call, or an
 * output other than the first, has no Modelica text: f$output2$d1$d3(...). Without a printer (NULL) leaves print as x1, der(x1),
 * p1, d1, pre(d1) by index, for dumps. Unless the printer has a limit, the text is as long as the tree, which may be exponentially
 * larger than the graph. */
void dag_print(Dag *dag, Expr e, const LeafPrinter *printer, Heap *heap, TextVec *text);

/* For an expression whose text would be much longer than its graph: the same text with names for its shared parts. `statements`
 * receives a line "name := text of the part;" for each part, and `kinds` its ValueKind. Linear in the graph. Returns false and
 * prints nothing if the expression is short enough for dag_print. */
#define DAG_PART_NAME "'$%u'" /* name of the k-th part, k from 1 */
bool dag_print_parts(Dag *dag, Expr e, const LeafPrinter *printer, Heap *heap, TextVec *statements, IndexVec *kinds,
                     TextVec *text);
