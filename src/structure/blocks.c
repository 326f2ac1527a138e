/* blocks: see blocks.h. Rows are the vertices; row i leads to the rows whose columns it contains. */
#include "structure/blocks.h"

#include "structure/ready.h"

typedef struct Tarjan {
  const Pattern *pattern;
  const int32_t *row_of_column;
  int32_t *number; /* order of discovery, from 1; 0: not seen */
  int32_t *low;
  int32_t *next;  /* next entry of a row */
  int32_t *stack; /* rows not yet in a component */
  int32_t *calls; /* the path from the root */
  int32_t *component;
  int32_t n_seen, n_stack, n_calls, n_components;
} Tarjan;

static void tarjan_enter(Tarjan *t, int32_t row) {
  t->number[row] = t->low[row] = ++t->n_seen;
  t->next[row] = t->pattern->row_start[row];
  t->stack[t->n_stack++] = row;
  t->calls[t->n_calls++] = row;
}

static void tarjan_leave(Tarjan *t, int32_t row) {
  t->n_calls--;
  if (t->n_calls > 0) {
    int32_t caller = t->calls[t->n_calls - 1];
    if (t->low[row] < t->low[caller]) t->low[caller] = t->low[row];
  }
  if (t->low[row] != t->number[row]) return;
  int32_t member;
  do {
    member = t->stack[--t->n_stack];
    t->component[member] = t->n_components;
  } while (member != row);
  t->n_components++;
}

static void tarjan_from(Tarjan *t, int32_t root) {
  tarjan_enter(t, root);
  while (t->n_calls > 0) {
    int32_t row = t->calls[t->n_calls - 1];
    if (t->next[row] == t->pattern->row_start[row + 1]) {
      tarjan_leave(t, row);
      continue;
    }
    int32_t other = t->row_of_column[t->pattern->column[t->next[row]++]];
    if (t->number[other] == 0) tarjan_enter(t, other);
    else if (t->component[other] == STRUCTURE_NONE && t->number[other] < t->low[row]) t->low[row] = t->number[other];
  }
}

/* Finds the components, in an order that follows from the traversal; sets component[row] and returns their number. */
static int32_t components(Arena *scratch, const Pattern *pattern, const Matching *matching, int32_t *component) {
  int32_t n = pattern->n_rows;
  Tarjan t = {.pattern = pattern, .row_of_column = matching->row_of_column, .component = component};
  t.number = index_zeros(scratch, n);
  t.low = index_zeros(scratch, n);
  t.next = index_zeros(scratch, n);
  t.stack = index_zeros(scratch, n);
  t.calls = index_zeros(scratch, n);
  for (int32_t i = 0; i < n; i++)
    if (t.number[i] == 0) tarjan_from(&t, i);
  return t.n_components;
}

/* Lists the rows of each block, ascending, from block_of_row. */
static void list_rows(const Pattern *pattern, const int32_t *block_of_row, int32_t n_blocks, int32_t *start,
                      int32_t *row) {
  for (int32_t i = 0; i < pattern->n_rows; i++) start[block_of_row[i]]++;
  for (int32_t b = 0; b < n_blocks; b++) start[b + 1] += start[b];
  for (int32_t i = pattern->n_rows - 1; i >= 0; i--) row[--start[block_of_row[i]]] = i;
}

typedef struct ComponentOrder {
  const Pattern *pattern;
  const int32_t *row_of_column, *component;
  int32_t *start, *row; /* rows by component */
  int32_t *users;       /* per component: entries in its columns from components not placed yet */
  Ready ready;          /* the first rows of components without users */
} ComponentOrder;

static void order_ready(ComponentOrder *order, int32_t component) {
  ready_add(&order->ready, order->row[order->start[component]]);
}

/* Adds `change` to the users of every component that this one uses. */
static void order_count(ComponentOrder *order, int32_t component, int32_t change) {
  for (int32_t p = order->start[component]; p < order->start[component + 1]; p++) {
    int32_t i = order->row[p];
    for (int32_t e = order->pattern->row_start[i]; e < order->pattern->row_start[i + 1]; e++) {
      int32_t used = order->component[order->row_of_column[order->pattern->column[e]]];
      if (used == component) continue;
      order->users[used] += change;
      if (change < 0 && order->users[used] == 0) order_ready(order, used);
    }
  }
}

/* Numbers the components from the last to the first. Among the components that no unnumbered component uses, the one with the
 * largest first row is always next. So the block of row 0 comes as early as possible, then that of row 1, and so on. */
static void order_components(Arena *scratch, const Pattern *pattern, const Matching *matching, int32_t n_blocks,
                             const int32_t *component, int32_t *place) {
  ComponentOrder order = {.pattern = pattern, .component = component};
  order.row_of_column = matching->row_of_column;
  order.start = index_zeros(scratch, n_blocks + 1);
  order.row = index_zeros(scratch, pattern->n_rows);
  order.users = index_zeros(scratch, n_blocks);
  order.ready = ready_make(scratch, pattern->n_rows);
  list_rows(pattern, component, n_blocks, order.start, order.row);
  for (int32_t b = 0; b < n_blocks; b++) order_count(&order, b, 1);
  for (int32_t b = 0; b < n_blocks; b++)
    if (order.users[b] == 0) order_ready(&order, b);
  for (int32_t b = n_blocks - 1; b >= 0; b--) {
    int32_t last = component[ready_take(&order.ready)];
    place[last] = b;
    order_count(&order, last, -1);
  }
}

Blocks blocks_find(Arena *arena, const Pattern *pattern, const Matching *matching) {
  int32_t n = pattern->n_rows;
  Blocks blocks = {.block_of_row = index_nones(arena, n), .block_of_column = index_zeros(arena, n)};
  blocks.row = index_zeros(arena, n);
  blocks.column = index_zeros(arena, n);
  Arena scratch = arena_make(arena->heap);
  blocks.n_blocks = components(&scratch, pattern, matching, blocks.block_of_row);
  blocks.start = index_zeros(arena, blocks.n_blocks + 1);
  int32_t *place = index_zeros(&scratch, blocks.n_blocks);
  order_components(&scratch, pattern, matching, blocks.n_blocks, blocks.block_of_row, place);
  for (int32_t i = 0; i < n; i++) blocks.block_of_row[i] = place[blocks.block_of_row[i]];
  list_rows(pattern, blocks.block_of_row, blocks.n_blocks, blocks.start, blocks.row);
  for (int32_t p = 0; p < n; p++) {
    blocks.column[p] = matching->column_of_row[blocks.row[p]];
    blocks.block_of_column[blocks.column[p]] = blocks.block_of_row[blocks.row[p]];
  }
  arena_free(&scratch);
  return blocks;
}
