/* templates: see templates.h. A region is written children first. A word stream determines the region up to the contents of its
 * slots, so streams are compared in full when their hashes agree. */
#include "code/templates.h"

#include <string.h>

Store leaf_store(Op op) {
  switch (op) {
  case OP_TIME: return STORE_TIME;
  case OP_PARAMETER: return STORE_PARAMETER;
  case OP_VARIABLE: return STORE_COLUMN;
  case OP_DELAYED:
  case OP_DISCRETE: return STORE_DISCRETE;
  case OP_PRE: return STORE_PRE;
  default: return STORE_CONSTANT;
  }
}

Templates templates_make(Heap *heap, const Graph *graph, const uint8_t *boundary) {
  Templates templates = {
      .heap = heap, .graph = graph, .boundary = boundary, .number_index = map_make(heap), .by_hash = map_make(heap)};
  templates.mark = heap_array(heap, graph->nodes.count, sizeof *templates.mark);
  templates.local = heap_array(heap, graph->nodes.count, sizeof *templates.local);
  return templates;
}

void templates_free(Templates *templates) {
  Heap *heap = templates->heap;
  vec_free(heap, &templates->list, &templates->stores, &templates->items, &templates->numbers, &templates->words,
           &templates->number_mark);
  vec_free(heap, &templates->number_slot, &templates->stack);
  map_free(&templates->number_index);
  map_free(&templates->by_hash);
  heap_free_all(heap, templates->mark, templates->local);
}

uint32_t templates_number(Templates *templates, double number) {
  uint64_t key = number_key(number);
  uint32_t index = map_get(&templates->number_index, key);
  if (index != MAP_NONE) return index;
  index = templates->numbers.count;
  vec_push(templates->heap, &templates->numbers, number);
  vec_push(templates->heap, &templates->number_mark, 0);
  vec_push(templates->heap, &templates->number_slot, 0);
  map_put(&templates->number_index, key, index);
  return index;
}

/* ---- words ---- */

static void put_word(Templates *templates, uint32_t word) { vec_push(templates->heap, &templates->words, word); }

static uint32_t new_slot(Templates *templates, Template *region, Store store, uint32_t item) {
  vec_push(templates->heap, &templates->items, item);
  vec_push(templates->heap, &templates->stores, store);
  return region->slots++;
}

/* A slot is written as 2 * number; if it is new, its array follows. */
static void put_slot(Templates *templates, Template *region, Store store, uint32_t item, uint32_t *mark,
                     uint32_t *slot) {
  bool is_new = *mark != templates->stamp;
  if (is_new) {
    *mark = templates->stamp;
    *slot = new_slot(templates, region, store, item);
  }
  put_word(templates, 2 * *slot);
  if (is_new) put_word(templates, (uint32_t)store);
}

static void put_number(Templates *templates, Template *region, double number) {
  uint32_t index = templates_number(templates, number);
  put_slot(templates, region, STORE_CONSTANT, index, &templates->number_mark.data[index],
           &templates->number_slot.data[index]);
}

static void put_child(Templates *templates, Template *region, uint32_t position) {
  uint32_t boundary = templates->boundary[position];
  Expr child = templates->graph->nodes.data[position];
  if (boundary == 0) put_word(templates, 2 * templates->local[position] + 1);
  else if (boundary == STORE_CONSTANT + 1) put_number(templates, region, node_number(templates->graph->dag, child));
  else
    put_slot(templates, region, (Store)(boundary - 1), child, &templates->mark[position], &templates->local[position]);
}

static void put_coefficient(Templates *templates, Template *region, double coefficient) {
  if (coefficient == 1) put_word(templates, 1);
  else if (coefficient == -1) put_word(templates, 3);
  else put_number(templates, region, coefficient);
}

static void put_sum(Templates *templates, Template *region, Expr e, const uint32_t *below) {
  double constant;
  const Term *terms;
  uint32_t count = dag_terms(templates->graph->dag, e, &constant, &terms);
  put_word(templates, count);
  if (constant == 0) put_word(templates, 1);
  else put_number(templates, region, constant);
  for (uint32_t t = 0; t < count; t++) {
    put_coefficient(templates, region, terms[t].coefficient);
    put_child(templates, region, below[t]);
  }
}

static void put_call(Templates *templates, Expr e) {
  CallInfo info = dag_call_info(templates->graph->dag, e);
  put_word(templates, info.function);
  put_word(templates, info.output);
  put_word(templates, info.partial_count);
  for (uint32_t p = 0; p < info.partial_count; p++) put_word(templates, info.partials[p]);
}

static void put_node(Templates *templates, Template *region, uint32_t position) {
  const Dag *dag = templates->graph->dag;
  Expr e = templates->graph->nodes.data[position];
  Op op = dag_op(dag, e);
  uint32_t count;
  const uint32_t *below = graph_below(templates->graph, position, &count);
  double exponent;
  put_word(templates, op);
  if (op == OP_SUM) {
    put_sum(templates, region, e, below);
    return;
  }
  if (op == OP_CALL) put_call(templates, e);
  put_word(templates, count);
  for (uint32_t c = 0; c < count; c++) put_child(templates, region, below[c]);
  if (!node_exponent(dag, e, &exponent)) return;
  uint64_t bits = number_key(exponent);
  put_word(templates, (uint32_t)bits);
  put_word(templates, (uint32_t)(bits >> 32));
}

/* Appends the region as words; its nodes are numbered in the order in which they are finished. */
static void write_region(Templates *templates, Template *region) {
  const Graph *graph = templates->graph;
  uint32_t finished = 0, count;
  vec_push(templates->heap, &templates->stack, (struct RegionVisit){graph_position(graph, region->root), 0});
  while (templates->stack.count) {
    struct RegionVisit *top = &vec_last(&templates->stack);
    const uint32_t *below = graph_below(graph, top->position, &count);
    if (top->next == count) {
      uint32_t position = vec_pop(&templates->stack).position;
      put_node(templates, region, position);
      templates->local[position] = finished++;
      continue;
    }
    uint32_t position = below[top->next++];
    if (templates->boundary[position] || templates->mark[position] == templates->stamp) continue;
    templates->mark[position] = templates->stamp;
    vec_push(templates->heap, &templates->stack, (struct RegionVisit){position, 0});
  }
}

static bool is_same(const Templates *templates, const Template *a, const Template *b) {
  const uint32_t *words = templates->words.data;
  return a->words == b->words && memcmp(words + a->first_word, words + b->first_word, a->words * sizeof *words) == 0;
}

uint32_t templates_add(Templates *templates, Expr root) {
  Template region = {.root = root,
                     .first_store = templates->stores.count,
                     .first_item = templates->items.count,
                     .first_word = templates->words.count,
                     .next = MAP_NONE};
  templates->stamp++;
  write_region(templates, &region);
  region.words = templates->words.count - region.first_word;
  uint64_t hash = hash_bytes(templates->words.data + region.first_word, region.words * sizeof(uint32_t));
  uint32_t first = map_get(&templates->by_hash, hash);
  for (uint32_t t = first; t != MAP_NONE; t = templates->list.data[t].next) {
    if (!is_same(templates, &templates->list.data[t], &region)) continue;
    templates->list.data[t].instances++;
    templates->words.count = region.first_word; /* a known shape needs no second copy of its words and stores */
    templates->stores.count = region.first_store;
    return t;
  }
  region.next = first;
  region.instances = 1;
  vec_push(templates->heap, &templates->list, region);
  map_put(&templates->by_hash, hash, templates->list.count - 1);
  return templates->list.count - 1;
}
