/* rank: an order of nodes that depends on their content, not on when they were built, so that printed sums and
 * products do not depend on earlier work. Height by height, each node gets a key of words (operator, constants, ranks of its
 * children). The keys of one height are sorted; the position in the whole list is the rank.
 *
 * Invariant: children have smaller heights, so their ranks are known when a node's key is made; children of sums and
 * products enter the key in order of rank. */
#include "expr/dag_internal.h"

#include <string.h>

typedef VEC(uint64_t) WordVec;

/* The key of one node: words[begin .. end) of the pool. */
typedef struct Key {
  const uint64_t *begin, *end;
  Expr node;
} Key;

typedef struct RankedFactor {
  uint32_t rank;
  double coefficient;
} RankedFactor;

typedef struct Ranking {
  const Dag *dag;
  Heap *heap;
  uint32_t *ranks;
  WordVec pool;
  IndexVec starts; /* beginnings of the keys of this height in the pool */
  VEC(Key) keys;
  VEC(RankedFactor) terms;
} Ranking;

/* ---- keys ---- */

static void key_word(Ranking *ranking, uint64_t word) { vec_push(ranking->heap, &ranking->pool, word); }

/* Bits that have the same order as the numbers. */
static void key_number(Ranking *ranking, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  key_word(ranking, bits >> 63 ? ~bits : bits | UINT64_C(1) << 63);
}

static void key_text(Ranking *ranking, Name name) {
  const char *text = names_text(ranking->dag->names, name);
  for (uint32_t i = 0, length = names_length(ranking->dag->names, name); i <= length; i += 8) {
    uint64_t word = 0;
    for (uint32_t k = i; k < i + 8; k++) word = word << 8 | (k < length ? (unsigned char)text[k] : 0);
    key_word(ranking, word);
  }
}

/* Variables, parameters and discrete variables are in the order in which their leaves were made, which is the order of
 * declarations. Then come derivatives and pre, by order and index. */
static void key_leaf(Ranking *ranking, Expr e) {
  const Dag *dag = ranking->dag;
  Op op = dag_op(dag, e);
  bool is_derivative = op == OP_VARIABLE && dag_order(dag, e) > 0;
  if (op == OP_CONSTANT) {
    key_word(ranking, 5);
    key_number(ranking, dag_value(dag, e));
  } else if (op == OP_STRING) {
    key_word(ranking, 4);
    key_text(ranking, dag_index(dag, e));
  } else if (is_derivative || op == OP_PRE) {
    key_word(ranking, op == OP_PRE ? 3 : 2);
    key_word(ranking, is_derivative ? dag_order(dag, e) : 0);
    key_word(ranking, dag_index(dag, e));
  } else {
    key_word(ranking, 1);
    key_word(ranking, op == OP_TIME ? UINT64_MAX : e);
  }
}

static int compare_ranked_terms(const void *a, const void *b) {
  const RankedFactor *x = a, *y = b;
  return (x->rank > y->rank) - (x->rank < y->rank);
}

static void key_sum(Ranking *ranking, Expr e) {
  double constant;
  const Term *terms;
  uint32_t count = dag_terms(ranking->dag, e, &constant, &terms);
  ranking->terms.count = 0;
  for (uint32_t i = 0; i < count; i++)
    vec_push(ranking->heap, &ranking->terms, (RankedFactor){ranking->ranks[terms[i].node], terms[i].coefficient});
  dag_sort(ranking->heap, ranking->terms.data, count, sizeof(RankedFactor), compare_ranked_terms);
  key_word(ranking, count);
  for (uint32_t i = 0; i < count; i++) {
    key_word(ranking, ranking->terms.data[i].rank);
    key_number(ranking, ranking->terms.data[i].coefficient);
  }
  key_number(ranking, constant);
}

static void key_call(Ranking *ranking, Expr e) {
  CallInfo call = dag_call_info(ranking->dag, e);
  key_word(ranking, (uint64_t)call.function << 32 | call.output);
  key_word(ranking, call.partial_count);
  for (uint32_t i = 0; i < call.partial_count; i++) key_word(ranking, call.partials[i]);
}

static void make_key(Ranking *ranking, Expr e) {
  const Dag *dag = ranking->dag;
  Op op = dag_op(dag, e);
  vec_push(ranking->heap, &ranking->starts, ranking->pool.count);
  if (op_kind(op) == KIND_LEAF) {
    key_leaf(ranking, e);
    return;
  }
  key_word(ranking, op);
  if (op == OP_SUM) {
    key_sum(ranking, e);
    return;
  }
  if (op == OP_CALL) key_call(ranking, e);
  uint32_t count = dag_child_count(dag, e);
  uint32_t first = ranking->pool.count;
  for (uint32_t i = 0; i < count; i++) key_word(ranking, ranking->ranks[dag_child(dag, e, i)]);
  uint64_t *words = ranking->pool.data + first;
  bool is_symmetric = op == OP_MULTIPLY || op == OP_MIN || op == OP_MAX;
  if (is_symmetric && words[0] > words[1]) {
    uint64_t swap = words[0];
    words[0] = words[1], words[1] = swap;
  }
}

static int compare_keys(const void *a, const void *b) {
  const Key *x = a, *y = b;
  const uint64_t *p = x->begin, *q = y->begin;
  for (; p < x->end && q < y->end; p++, q++)
    if (*p != *q) return *p < *q ? -1 : 1;
  return (p < x->end) - (q < y->end);
}

/* ---- heights ---- */

/* Nodes sorted by height, and where each height begins; children come before parents. */
static uint32_t sort_by_height(Ranking *ranking, uint32_t *order, IndexVec *begins) {
  const Dag *dag = ranking->dag;
  uint32_t size = dag_size(dag), highest = 0;
  uint32_t *heights = ranking->ranks; /* the array is free until the ranks are stored */
  for (Expr e = 0; e < size; e++) {
    heights[e] = 0;
    for (uint32_t i = 0, count = dag_child_count(dag, e); i < count; i++)
      if (heights[dag_child(dag, e, i)] >= heights[e]) heights[e] = heights[dag_child(dag, e, i)] + 1;
    if (heights[e] > highest) highest = heights[e];
  }
  uint32_t *next = vec_extend(ranking->heap, begins, highest + 2);
  memset(next, 0, (highest + 2) * sizeof *next);
  for (Expr e = 0; e < size; e++) next[heights[e] + 1]++;
  for (uint32_t h = 0; h <= highest; h++) next[h + 1] += next[h];
  for (Expr e = 0; e < size; e++) order[next[heights[e]]++] = e;
  for (uint32_t h = highest + 1; h > 0; h--) next[h] = next[h - 1];
  next[0] = 0;
  return highest + 1;
}

/* Ranks of the nodes order[begin .. end), which have one height. */
static void rank_height(Ranking *ranking, const uint32_t *order, uint32_t begin, uint32_t end) {
  ranking->pool.count = ranking->starts.count = ranking->keys.count = 0;
  for (uint32_t i = begin; i < end; i++) make_key(ranking, order[i]);
  vec_push(ranking->heap, &ranking->starts, ranking->pool.count);
  const uint32_t *starts = ranking->starts.data;
  const uint64_t *words = ranking->pool.data;
  for (uint32_t i = begin; i < end; i++) {
    Key key = {words + starts[i - begin], words + starts[i - begin + 1], order[i]};
    vec_push(ranking->heap, &ranking->keys, key);
  }
  dag_sort(ranking->heap, ranking->keys.data, end - begin, sizeof(Key), compare_keys);
  for (uint32_t i = begin; i < end; i++) ranking->ranks[ranking->keys.data[i - begin].node] = i;
}

uint32_t *dag_ranks(const Dag *dag, Heap *heap) {
  uint32_t size = dag_size(dag);
  Ranking ranking = {.dag = dag, .heap = heap, .ranks = heap_array(heap, size, sizeof(uint32_t))};
  uint32_t *order = heap_array(heap, size, sizeof *order);
  IndexVec begins = {0};
  uint32_t heights = sort_by_height(&ranking, order, &begins);
  for (uint32_t h = 0; h < heights; h++) rank_height(&ranking, order, begins.data[h], begins.data[h + 1]);
  heap_free(heap, order);
  vec_free(heap, &begins, &ranking.pool, &ranking.starts, &ranking.keys, &ranking.terms);
  return ranking.ranks;
}
