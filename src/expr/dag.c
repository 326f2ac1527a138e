/* dag: nodes, hash-consing, leaves and reading. A node is looked up by the content of its pools: a candidate is written
 * at the end of its pool, and removed again if an equal node exists. So a node is in the table exactly once. */
#include "core/piece.h"
#include "expr/dag_internal.h"

#include <string.h>

/* ---- hash-consing ---- */

/* Words of an argument list, as described in dag_internal.h. */
static uint32_t node_words(const Dag *dag, const Node *node) {
  int arity = op_arity((Op)node->op);
  return arity >= 0 ? (uint32_t)arity : 1 + *dag_words(dag, node);
}

static uint64_t hash_double(uint64_t hash, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return hash_mix(hash ^ bits);
}

static uint64_t hash_node(const Dag *dag, const Node *node) {
  if (node->op == OP_CONSTANT) return hash_double(0, pool_at(double, &dag->pools.constants, node->first));
  uint64_t hash = (uint64_t)node->op << 48;
  if (op_kind((Op)node->op) == KIND_LEAF) return hash_mix(hash | (uint64_t)node->count << 32 | node->first);
  uint32_t count = node_words(dag, node);
  const Expr *words = count ? dag_words(dag, node) : NULL;
  for (uint32_t i = 0; i < count; i++) hash = hash_mix(hash ^ words[i]);
  return hash;
}

static bool has_same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

static bool sums_equal(const Dag *dag, const Node *a, const Node *b) {
  const Term *s = dag_sum_terms(dag, a), *t = dag_sum_terms(dag, b);
  for (uint32_t i = 0, count = s->node; i <= count; i++)
    if (s[i].node != t[i].node || !has_same_bits(s[i].coefficient, t[i].coefficient)) return false;
  return true;
}

static bool nodes_equal(const Dag *dag, const Node *a, const Node *b) {
  if (a->op != b->op || a->count != b->count) return false;
  if (a->op == OP_SUM) return sums_equal(dag, a, b);
  if (a->op == OP_CONSTANT)
    return has_same_bits(pool_at(double, &dag->pools.constants, a->first),
                         pool_at(double, &dag->pools.constants, b->first));
  if (op_kind((Op)a->op) == KIND_LEAF) return a->first == b->first;
  uint32_t words = node_words(dag, a);
  if (words != node_words(dag, b)) return false;
  return !words || memcmp(dag_words(dag, a), dag_words(dag, b), words * sizeof(Expr)) == 0;
}

/* Relations, jumps and operators with history cause events. noEvent hides the events below it; other operators pass
 * them on. */
static bool op_makes_event(Op op) {
  if (op == OP_NOEVENT || op == OP_SMOOTH || op == OP_HOMOTOPY) return false;
  OpKind kind = op_kind(op);
  return kind == KIND_RELATION || kind == KIND_PIECEWISE || kind == KIND_LANGUAGE;
}

static uint8_t op_flag(Op op) {
  OpKind kind = op_kind(op);
  if (kind == KIND_LEAF) return (uint8_t)(op == OP_CONSTANT ? 0 : 1u << op);
  return kind == KIND_SMOOTH && op != OP_CALL ? 0 : DAG_NONSMOOTH;
}

/* A node to be looked up. */
typedef struct Key {
  const Node *node;
  uint32_t hash;
  Expr newest;    /* the child that was made last; 0: the node has no children, or a list of them */
  unsigned flags; /* flags of the node, see dag_flags */
} Key;

/* Terms are read only once for the hash and the rest of the key. */
static Key sum_key(const Dag *dag, const Node *node) {
  const Term *terms = dag_sum_terms(dag, node);
  uint64_t hash = hash_double(OP_SUM, terms->coefficient) + terms->node;
  Key key = {.node = node, .flags = op_flag(OP_SUM)};
  for (uint32_t i = 1, count = terms->node; i <= count; i++) {
    Expr child = terms[i].node;
    hash = hash_double(hash, terms[i].coefficient) + child;
    key.flags |= dag_flags(dag, child);
    if (child > key.newest) key.newest = child;
  }
  key.hash = (uint32_t)hash_mix(hash);
  return key;
}

static Key make_key(const Dag *dag, const Node *node, uint32_t hash) {
  Op op = (Op)node->op;
  Key key = {node, hash, 0, op_flag(op)};
  if (op_kind(op) == KIND_LEAF) return key;
  DagChildren children = dag_children_of(dag, node);
  for (uint32_t i = 0; i < children.count; i++) {
    Expr child = dag_child_at(&children, i);
    key.flags |= dag_flags(dag, child);
    if (child > key.newest) key.newest = child;
  }
  if (op != OP_SUM && op_arity(op) < 0) key.newest = 0;
  if (op_makes_event(op)) key.flags |= DAG_EVENT;
  if (op == OP_NOEVENT) key.flags &= ~(unsigned)DAG_EVENT;
  return key;
}

/* Nodes that are made one after another often have children that were made one after another. So nodes whose newest children are
 * neighbours share NEAR_SLOTS slots, one line of the processor's cache. If these are full, the hash decides, and probing continues
 * in steps that depend on the node. Full lines are often next to each other, in large parts of the table, so the steps are as long
 * as the table. */
enum { NEAR_SLOTS = 8, NEAR_CHILDREN = 4 };
static const uint32_t SPREAD = 0x9e3779b1; /* the golden ratio (Knuth, The Art of Computer Programming, section 6.4) */

/* The slot of the node in the table of a graph, or the slot for it if it is not there. Nodes from `end` on are ignored: the
 * graph got them later. */
static uint32_t table_slot(const Dag *dag, const Dag *owner, Expr end, const Key *key) {
  uint32_t mask = owner->table_capacity - 1;
  uint32_t at = (key->newest ? key->newest / NEAR_CHILDREN : key->hash) * NEAR_SLOTS & mask;
  for (uint32_t k = 1;; k++) {
    Slot slot = owner->table[at];
    if (!slot.node) return at;
    if (slot.hash == key->hash && slot.node <= end && nodes_equal(dag, dag_node(dag, slot.node - 1), key->node))
      return at;
    at = (k < NEAR_SLOTS ? at + 1 : k == NEAR_SLOTS ? key->hash : at + (key->hash * SPREAD | 1)) & mask;
  }
}

/* Finds the node in the graphs below; EXPR_NONE: it is not there. */
static Expr find_below(const Dag *dag, const Key *key) {
  Expr found = EXPR_NONE, end = dag->first;
  for (const Dag *owner = dag->below; owner && found == EXPR_NONE && key->newest < end; owner = owner->below) {
    if (owner->table) found = owner->table[table_slot(dag, owner, end, key)].node - 1;
    if (owner->first < end) end = owner->first;
  }
  return found;
}

/* The list that holds leaves of this kind; LEAF_LISTS: none. */
static uint32_t leaf_list(Op op, uint32_t index, uint16_t order) {
  if (index >= LEAF_INDICES) return LEAF_LISTS;
  if (op == OP_VARIABLE) return order < LEAF_ORDERS ? order : LEAF_LISTS;
  if (op == OP_PARAMETER) return LEAF_ORDERS;
  if (op == OP_DISCRETE) return LEAF_ORDERS + 1;
  return op == OP_PRE ? LEAF_ORDERS + 2 : LEAF_LISTS;
}

/* Is the node found by a list, so that it is not in the table? */
static bool is_in_list(const Dag *dag, const Node *node, Expr e) {
  Op op = (Op)node->op;
  if (op != OP_CONSTANT) return op_kind(op) == KIND_LEAF && leaf_list(op, node->first, node->count) != LEAF_LISTS;
  const IndexVec *numbers = &dag->leaves[LEAF_NUMBERS];
  double value = pool_at(double, &dag->pools.constants, node->first);
  return value >= 0 && value < numbers->count && numbers->data[(uint32_t)value] == e + 1;
}

/* Slots far from all nodes are in pages that are never touched, but in a large table there are few of them. */
enum { GROWTH = 4, LARGE_GROWTH = 2, LARGE_TABLE = 1 << 20 };

static Key node_key(const Dag *dag, const Node *node) {
  return node->op == OP_SUM ? sum_key(dag, node) : make_key(dag, node, (uint32_t)hash_node(dag, node));
}

/* Inserts the nodes again in the order in which they were made: so the memory is read from its beginning to its end, which takes less
 * time than the table's order, although each hash is computed again. No node is inserted twice, so nodes need not be compared. */
static void table_grow(Dag *dag, uint32_t capacity) {
  heap_free(dag->heap, dag->table);
  dag->table = NULL;
  dag->table = heap_array(dag->heap, capacity, sizeof *dag->table);
  dag->table_capacity = capacity;
  for (Expr e = dag->first; dag->entries && e < dag->pools.nodes.count; e++) {
    const Node *node = dag_node(dag, e);
    if (is_in_list(dag, node, e)) continue;
    Key key = node_key(dag, node);
    dag->table[table_slot(dag, dag, 0, &key)] = (Slot){key.hash, e + 1};
  }
}

static uint32_t larger_capacity(uint32_t capacity) {
  return capacity ? capacity * (capacity < LARGE_TABLE ? GROWTH : LARGE_GROWTH) : 256;
}

static bool has_room(uint32_t capacity, uint32_t entries) { return entries / 2 < capacity / 3; }

void dag_reserve(Dag *dag, uint32_t more) {
  uint32_t capacity = dag->table_capacity;
  if (more > INT32_MAX / 2 - dag->entries) return;
  while (!has_room(capacity, dag->entries + more)) capacity = larger_capacity(capacity);
  if (capacity > dag->table_capacity) table_grow(dag, capacity);
}

static Expr add_node(Dag *dag, Node node, unsigned flags) {
  Expr e = pool_add(dag->heap, &dag->pools.nodes, 1);
  pool_at(Node, &dag->pools.nodes, e) = node;
  pool_add(dag->heap, &dag->pools.flags, 1);
  pool_at(uint8_t, &dag->pools.flags, e) = (uint8_t)flags;
  return e;
}

/* Steps of work for finding or making a node. If the table does not fit into the processor's cache, each step takes a memory access
 * of some hundred nanoseconds. */
enum { LEAF_WORK = 2, NODE_WORK = 10, FAR_NODE_WORK = 80, NEAR_NODES = 170000 };

/* Finds the node that equals the candidate, or adds one. `fresh`: it was added, so the pool entries of the candidate are in use.
 * `is_listed`: a node that is added does not go into the table, because the caller keeps it in a list. */
static Expr intern_or_list(Dag *dag, Node candidate, bool is_listed, bool *fresh) {
  Key key = node_key(dag, &candidate);
  heap_work(dag->heap, dag->pools.nodes.count <= NEAR_NODES ? NODE_WORK : FAR_NODE_WORK);
  *fresh = false;
  Expr known = dag->below ? find_below(dag, &key) : EXPR_NONE;
  if (known != EXPR_NONE) return known;
  if (!has_room(dag->table_capacity, dag->entries)) table_grow(dag, larger_capacity(dag->table_capacity));
  uint32_t at = table_slot(dag, dag, EXPR_NONE, &key);
  *fresh = dag->table[at].node == 0;
  if (!*fresh) return dag->table[at].node - 1;
  Expr e = add_node(dag, candidate, key.flags);
  if (is_listed) return e;
  dag->table[at] = (Slot){key.hash, e + 1};
  dag->entries++;
  return e;
}

static Expr intern(Dag *dag, Node candidate, bool *fresh) { return intern_or_list(dag, candidate, false, fresh); }

static uint16_t short_count(uint32_t count) { return (uint16_t)(count < UINT16_MAX ? count : UINT16_MAX); }

/* Interns the node whose words are the last `words` of the pool. */
static Expr intern_words(Dag *dag, Op op, uint32_t count, uint32_t first, uint32_t words) {
  bool fresh;
  Expr e = intern(dag, (Node){(uint16_t)op, short_count(count), first}, &fresh);
  if (!fresh && words) pool_take_back(dag->heap, &dag->pools.words, first, words);
  return e;
}

Expr dag_intern(Dag *dag, Op op, const Expr *arguments, uint32_t count) {
  uint32_t head = op_arity(op) < 0 ? 1 : 0, first = 0;
  heap_work(dag->heap, count);
  if (head + count) {
    first = pool_add(dag->heap, &dag->pools.words, head + count);
    Expr *words = &pool_at(Expr, &dag->pools.words, first);
    if (head) words[0] = count;
    if (count) memcpy(words + head, arguments, count * sizeof *words);
  }
  return intern_words(dag, op, count, first, head + count);
}

Expr dag_intern_sum(Dag *dag, double constant, const Term *terms, uint32_t count) {
  bool fresh;
  heap_work(dag->heap, count);
  uint32_t first = pool_add(dag->heap, &dag->pools.terms, count + 1);
  Term *sum = &pool_at(Term, &dag->pools.terms, first);
  sum[0] = (Term){constant, count};
  if (count) memcpy(sum + 1, terms, count * sizeof *sum);
  Expr e = intern(dag, (Node){OP_SUM, short_count(count), first}, &fresh);
  if (!fresh) pool_take_back(dag->heap, &dag->pools.terms, first, count + 1);
  return e;
}

Expr dag_call(Dag *dag, uint32_t function, uint32_t output, const uint32_t *partials, uint32_t partial_count,
              const Expr *arguments, uint32_t count) {
  uint32_t words = 4 + partial_count + count;
  /* Copied to scratch memory first, because partials and arguments may be in the pool, which is about to move. */
  uint32_t *copy = heap_array(dag->heap, words, sizeof *copy);
  copy[0] = words - 1, copy[1] = function, copy[2] = output, copy[3] = partial_count;
  if (partial_count) memcpy(copy + 4, partials, partial_count * sizeof *copy);
  if (count) memcpy(copy + 4 + partial_count, arguments, count * sizeof *copy);
  uint32_t first = pool_add(dag->heap, &dag->pools.words, words);
  memcpy(&pool_at(Expr, &dag->pools.words, first), copy, words * sizeof *copy);
  heap_free(dag->heap, copy);
  return intern_words(dag, OP_CALL, count, first, words);
}

/* ---- leaves ---- */

/* Finds the leaf in the lists of this graph and those below; EXPR_NONE: it is not there. */
static Expr find_leaf(const Dag *dag, uint32_t list, uint32_t index) {
  Expr end = EXPR_NONE;
  for (const Dag *owner = dag; owner; owner = owner->below) {
    Expr next = index < owner->leaves[list].count ? owner->leaves[list].data[index] : 0;
    if (next && next <= end) return next - 1;
    if (owner->first < end) end = owner->first;
  }
  return EXPR_NONE;
}

static void list_leaf(Dag *dag, uint32_t list, uint32_t index, Expr e) {
  IndexVec *leaves = &dag->leaves[list];
  uint32_t before = leaves->count;
  if (index >= before)
    memset(vec_extend(dag->heap, leaves, index + 1 - before), 0, (index + 1 - before) * sizeof *leaves->data);
  leaves->data[index] = e + 1;
}

static Expr leaf(Dag *dag, Op op, uint32_t index, uint16_t order) {
  bool fresh;
  Node node = {(uint16_t)op, order, index};
  uint32_t list = leaf_list(op, index, order);
  if (list == LEAF_LISTS) return intern(dag, node, &fresh);
  heap_work(dag->heap, LEAF_WORK);
  Expr known = find_leaf(dag, list, index);
  if (known != EXPR_NONE) return known;
  Expr e = add_node(dag, node, op_flag(op));
  list_leaf(dag, list, index, e);
  return e;
}

static Expr intern_constant(Dag *dag, double value, bool is_residue, bool is_listed) {
  bool fresh;
  uint32_t first = pool_add(dag->heap, &dag->pools.constants, 1);
  pool_at(double, &dag->pools.constants, first) =
      value == 0 ? 0 : value; /* no negative zero, so that equal values have equal nodes */
  Expr e = intern_or_list(dag, (Node){OP_CONSTANT, is_residue, first}, is_listed, &fresh);
  if (!fresh) pool_take_back(dag->heap, &dag->pools.constants, first, 1);
  else if (is_listed) list_leaf(dag, LEAF_NUMBERS, (uint32_t)value, e);
  return e;
}

/* The list grows by at most this many numbers at once; numbers farther away are in the table. */
enum { NUMBERS_AHEAD = 1024 };

Expr dag_constant(Dag *dag, double value) {
  if (value == -1) return EXPR_MINUS_ONE;
  if (!(value >= 0 && value < LEAF_INDICES) || value != (uint32_t)value)
    return intern_constant(dag, value, false, false);
  Expr known = find_leaf(dag, LEAF_NUMBERS, (uint32_t)value);
  if (known == EXPR_NONE)
    return intern_constant(dag, value, false, value < dag->leaves[LEAF_NUMBERS].count + NUMBERS_AHEAD);
  heap_work(dag->heap, LEAF_WORK);
  return known;
}

Expr dag_residue(Dag *dag, double value) { return intern_constant(dag, value, true, false); }

Expr dag_time(Dag *dag) { return leaf(dag, OP_TIME, 0, 0); }
Expr dag_parameter(Dag *dag, uint32_t index) { return leaf(dag, OP_PARAMETER, index, 0); }

Expr dag_known_parameter(const Dag *dag, uint32_t index) {
  return index < LEAF_INDICES ? find_leaf(dag, leaf_list(OP_PARAMETER, index, 0), index) : EXPR_NONE;
}

Expr dag_discrete(Dag *dag, uint32_t index) { return leaf(dag, OP_DISCRETE, index, 0); }
Expr dag_delayed(Dag *dag, uint32_t first, uint32_t order) {
  if (order > PIECE_DEGREE) return EXPR_ZERO;
  Expr place = dag_constant(dag, first), derivative = dag_constant(dag, order), time = dag_time(dag);
  return dag_intern(dag, OP_DELAYED, (Expr[]){place, derivative, time}, 3);
}

uint32_t dag_delayed_leaf(const Dag *dag, Expr e) {
  return (uint32_t)(dag_value(dag, dag_child(dag, e, 0)) + dag_value(dag, dag_child(dag, e, 1)));
}

Expr dag_pre(Dag *dag, uint32_t index) { return leaf(dag, OP_PRE, index, 0); }
Expr dag_string(Dag *dag, Name text) { return leaf(dag, OP_STRING, text, 0); }

Expr dag_variable(Dag *dag, uint32_t index, uint32_t order) {
  if (order > UINT16_MAX)
    heap_fail(dag->heap); /* more than 65,535 differentiations: memory would have run out before */
  return leaf(dag, OP_VARIABLE, index, (uint16_t)order);
}

Dag *dag_new(Heap *heap, Names *names) {
  Dag *dag = heap_alloc(heap, sizeof *dag);
  dag->heap = heap;
  dag->names = names;
  dag->scratch = dag_scratch_make(heap);
  dag->pools.nodes = pool_make(sizeof(Node));
  dag->pools.flags = pool_make(sizeof(uint8_t));
  dag->pools.constants = pool_make(sizeof(double));
  dag->pools.words = pool_make(sizeof(Expr));
  dag->pools.terms = pool_make(sizeof(Term));
  dag_constant(dag, 0);
  dag_constant(dag, 1);
  intern_constant(dag, -1, false, false);
  return dag;
}

Dag *dag_over(const Dag *below, Heap *heap, Names *names) {
  Dag *dag = heap_alloc(heap, sizeof *dag);
  *dag = (Dag){.heap = heap,
               .names = names,
               .scratch = dag_scratch_make(heap),
               .below = below,
               .first = below->pools.nodes.count};
  dag->pools.nodes = pool_over(heap, &below->pools.nodes);
  dag->pools.flags = pool_over(heap, &below->pools.flags);
  dag->pools.constants = pool_over(heap, &below->pools.constants);
  dag->pools.words = pool_over(heap, &below->pools.words);
  dag->pools.terms = pool_over(heap, &below->pools.terms);
  return dag;
}

/* ---- reading ---- */

Heap *dag_heap(const Dag *dag) { return dag->heap; }
uint32_t dag_size(const Dag *dag) { return dag->pools.nodes.count; }

uint64_t dag_edges(const Dag *dag) { return (uint64_t)dag->pools.words.count + dag->pools.terms.count; }
CallInfo dag_call_info(const Dag *dag, Expr e) {
  const uint32_t *words = dag_words(dag, dag_node(dag, e));
  return (CallInfo){.function = words[1], .output = words[2], .partial_count = words[3], .partials = words + 4};
}

/* ---- walks ---- */

DagScratch dag_scratch_make(Heap *heap) { return (DagScratch){.heap = heap}; }

void dag_scratch_free(DagScratch *scratch) {
  vec_free(scratch->heap, &scratch->marks, &scratch->slots, &scratch->stack, &scratch->order);
}

DagScratch *dag_scratch(Dag *dag) { return &dag->scratch; }

bool dag_was_met(const DagScratch *scratch, Expr e) {
  return e < scratch->marks.count && scratch->marks.data[e] == scratch->stamp;
}

/* A new stamp marks all nodes as unvisited at once. The array is cleared only when stamps run out. */
static void walk_begin(const Dag *dag, DagScratch *scratch) {
  if (++scratch->stamp == 0) {
    memset(scratch->marks.data, 0, scratch->marks.count * sizeof *scratch->marks.data);
    scratch->stamp = 1;
  }
  if (dag->pools.nodes.count <= scratch->marks.count) return;
  uint32_t more = dag->pools.nodes.count - scratch->marks.count;
  if (!scratch->marks.count) { /* pages that no walk visits stay untouched */
    vec_free(scratch->heap, &scratch->marks);
    scratch->marks.data = heap_array(scratch->heap, more, sizeof *scratch->marks.data);
    scratch->marks.count = scratch->marks.capacity = more;
  } else memset(vec_extend(scratch->heap, &scratch->marks, more), 0, more * sizeof *scratch->marks.data);
  vec_reserve(scratch->heap, &scratch->slots, more);
  scratch->slots.count += more;
}

static void walk_leave(DagScratch *scratch, Expr e, uint32_t base, IndexVec *order) {
  scratch->slots.data[e] = order->count - base;
  vec_push(scratch->heap, order, e);
}

/* Enters a node that the walk has not met yet, and leaves it at once if it has no children. The graph is not extended during a
 * walk, so the pools do not move. */
static void walk_enter(const Dag *dag, DagScratch *scratch, Walk walk, Expr e, uint32_t base, IndexVec *order) {
  if (scratch->marks.data[e] == scratch->stamp || (walk.mask && !(dag_flags(dag, e) & walk.mask))) return;
  scratch->marks.data[e] = scratch->stamp;
  const Node *node = dag_node(dag, e);
  DagChildren children = dag_children_of(dag, node);
  if (!children.count || (walk.shallow && op_is_selector((Op)node->op))) walk_leave(scratch, e, base, order);
  else vec_push(scratch->heap, &scratch->stack, (DagFrame){e, children.count, children.stride, children.first});
}

void dag_walk(const Dag *dag, DagScratch *scratch, Walk walk, const Expr *roots, uint32_t count, IndexVec *order) {
  walk_begin(dag, scratch);
  uint32_t base = order->count;
  uint64_t edges = 0;
  for (uint32_t i = 0; i < count; i++) {
    walk_enter(dag, scratch, walk, roots[i], base, order);
    while (scratch->stack.count) {
      DagFrame *frame = &vec_last(&scratch->stack);
      if (frame->rest == 0) {
        walk_leave(scratch, vec_pop(&scratch->stack).node, base, order);
        continue;
      }
      Expr child = *frame->next;
      frame->next += frame->stride;
      frame->rest--;
      edges++;
      walk_enter(dag, scratch, walk, child, base, order);
    }
  }
  heap_work(scratch->heap, order->count - base + 2 * edges);
}

void dag_below(const Dag *dag, DagScratch *scratch, const Expr *roots, uint32_t count, IndexVec *order) {
  dag_walk(dag, scratch, (Walk){0}, roots, count, order);
}

void dag_below_nonsmooth(const Dag *dag, DagScratch *scratch, const Expr *roots, uint32_t count, IndexVec *order) {
  dag_walk(dag, scratch, (Walk){.mask = DAG_NONSMOOTH}, roots, count, order);
}

/* The nodes below the roots, in the scratch's own list; valid until the next walk that uses it. */
static const IndexVec *walk_list(const Dag *dag, DagScratch *scratch, Walk walk, const Expr *roots, uint32_t count) {
  scratch->order.count = 0;
  dag_walk(dag, scratch, walk, roots, count, &scratch->order);
  return &scratch->order;
}

uint32_t dag_count(const Dag *dag, DagScratch *scratch, const Expr *roots, uint32_t count) {
  return walk_list(dag, scratch, (Walk){0}, roots, count)->count;
}

bool dag_is_smooth(const Dag *dag, Expr e) { return !(dag_flags(dag, e) & DAG_NONSMOOTH); }

/* A node by its operator, its numbers or index, and the positions of its children in the walk. */
static uint64_t digest_node(const Dag *dag, const uint32_t *slots, Expr e, uint64_t hash) {
  const Node *node = dag_node(dag, e);
  if (op_kind((Op)node->op) == KIND_LEAF && node->op != OP_CONSTANT)
    return hash_mix(hash ^ ((uint64_t)node->op << 48 | (uint64_t)node->count << 32 | node->first));
  if (node->op == OP_CONSTANT) return hash_double(hash, dag_value(dag, e));
  hash = hash_mix(hash ^ node->op);
  if (node->op != OP_SUM) {
    for (uint32_t i = 0, count = dag_child_count(dag, e); i < count; i++)
      hash = hash_mix(hash ^ slots[dag_child(dag, e, i)]);
    return hash;
  }
  const Term *terms = dag_sum_terms(dag, node);
  hash = hash_double(hash, terms->coefficient);
  for (uint32_t i = 1; i <= terms->node; i++) hash = hash_double(hash + slots[terms[i].node], terms[i].coefficient);
  return hash;
}

uint64_t dag_digest(const Dag *dag, DagScratch *scratch, Expr e, uint64_t hash) {
  const IndexVec *order = walk_list(dag, scratch, (Walk){0}, &e, 1);
  for (uint32_t i = 0; i < order->count; i++) hash = digest_node(dag, scratch->slots.data, order->data[i], hash);
  return hash_mix(hash ^ order->count);
}

static int compare_index(const void *a, const void *b) {
  Expr x = *(const Expr *)a, y = *(const Expr *)b;
  return (x > y) - (x < y);
}

/* Sorts node indices, of which most are in order already. */
static void sort_indices(Heap *heap, Expr *index, uint32_t count) {
  enum { SHORT = 32 };
  if (count > SHORT) {
    dag_sort(heap, index, count, sizeof *index, compare_index);
    return;
  }
  for (uint32_t i = 1; i < count; i++) {
    Expr held = index[i];
    uint32_t j = i;
    for (; j > 0 && index[j - 1] > held; j--) index[j] = index[j - 1];
    index[j] = held;
  }
}

/* Like a walk, but in any order: a list of the inner nodes still to be visited is enough. */
void dag_variables(const Dag *dag, DagScratch *scratch, Expr e, ExprVec *leaves) {
  const uint8_t mask = 1u << OP_VARIABLE;
  if (!(dag_flags(dag, e) & mask)) return;
  if (dag_op(dag, e) == OP_VARIABLE) {
    vec_push(scratch->heap, leaves, e);
    return;
  }
  walk_begin(dag, scratch);
  uint32_t *marks = scratch->marks.data, stamp = scratch->stamp, first = leaves->count;
  uint64_t work = 1;
  scratch->order.count = 0;
  vec_push(scratch->heap, &scratch->order, e);
  while (scratch->order.count) {
    DagChildren children = dag_children(dag, vec_pop(&scratch->order));
    work += 3 * (uint64_t)children.count;
    for (uint32_t i = 0; i < children.count; i++) {
      Expr child = dag_child_at(&children, i);
      if (marks[child] == stamp || !(dag_flags(dag, child) & mask)) continue;
      marks[child] = stamp;
      if (dag_op(dag, child) == OP_VARIABLE) vec_push(scratch->heap, leaves, child);
      else vec_push(scratch->heap, &scratch->order, child);
    }
  }
  heap_work(scratch->heap, work);
  sort_indices(scratch->heap, leaves->data + first, leaves->count - first);
}

bool dag_depends(const Dag *dag, Expr e, Op leaf) { return dag_flags(dag, e) & 1u << leaf; }

bool dag_contains(const Dag *dag, DagScratch *scratch, Expr e, Op op) {
  unsigned flag = op_flag(op);
  if (flag && !(dag_flags(dag, e) & flag)) return false;
  if (flag && op_kind(op) == KIND_LEAF) return true;
  const IndexVec *order = walk_list(dag, scratch, (Walk){.mask = (uint8_t)flag}, &e, 1);
  bool found = false;
  for (uint32_t i = 0; i < order->count && !found; i++) found = dag_op(dag, order->data[i]) == op;
  return found;
}

bool dag_has_event(const Dag *dag, Expr e) { return dag_flags(dag, e) & DAG_EVENT; }

/* ---- sorting ---- */

static inline void insertion_sort(char *data, uint32_t count, size_t size, int (*compare)(const void *, const void *)) {
  char held[32];
  for (uint32_t i = 1; i < count; i++) {
    uint32_t j = i;
    memcpy(held, data + i * size, size);
    for (; j > 0 && compare(data + (j - 1) * size, held) > 0; j--) memcpy(data + j * size, data + (j - 1) * size, size);
    memcpy(data + j * size, held, size);
  }
}

/* Elements of a known size are copied without calls. */
static void sort_run(char *data, uint32_t count, size_t size, int (*compare)(const void *, const void *)) {
  switch (size) {
  case 4: insertion_sort(data, count, 4, compare); break;
  case 8: insertion_sort(data, count, 8, compare); break;
  case 16: insertion_sort(data, count, 16, compare); break;
  default: insertion_sort(data, count, size, compare);
  }
}

static void merge_runs(const char *in, char *out, uint32_t begin, uint32_t middle, uint32_t end, size_t size,
                       int (*compare)(const void *, const void *)) {
  uint32_t i = begin, j = middle;
  for (uint32_t k = begin; k < end; k++) {
    bool left = i < middle && (j == end || compare(in + i * size, in + j * size) <= 0);
    memcpy(out + k * size, in + (left ? i++ : j++) * size, size);
  }
}

void dag_sort(Heap *heap, void *data, uint32_t count, size_t size, int (*compare)(const void *, const void *)) {
  enum { RUN = 32, SORT_WORK = 8 }; /* SORT_WORK: steps of work per element */
  heap_work(heap, (uint64_t)count * SORT_WORK);
  char *from = data;
  for (uint32_t i = 0; i < count; i += RUN) sort_run(from + i * size, count - i < RUN ? count - i : RUN, size, compare);
  if (count <= RUN) return;
  char *scratch = heap_array(heap, count, size), *to = scratch;
  for (uint32_t width = RUN; width < count; width *= 2) {
    for (uint32_t i = 0; i < count; i += 2 * width) {
      uint32_t middle = count - i < width ? count : i + width, end = count - i < 2 * width ? count : i + 2 * width;
      merge_runs(from, to, i, middle, end, size, compare);
    }
    char *swap = from;
    from = to, to = swap;
  }
  if (from != data) memcpy(data, from, count * size);
  heap_free(heap, scratch);
}
