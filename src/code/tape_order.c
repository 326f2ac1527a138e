/* tape_order: see tape_order.h. A line is ready when all lines that it waits for have run; each code has a list of ready lines.
 * Groups of four come first, from the longest list; then operators, which gain nothing from grouping. If there is no ready
 * line of either kind, the next line is the one on which the longest chain of others depends. */
#include "code/tape_order.h"

/* The most lines that are mixed, so that their values stay in the nearest caches. */
enum { WINDOW = 4096 };

#define NONE UINT32_MAX

/* A line that waits for another; `next` waits for the same one. */
typedef struct Waiting {
  uint32_t line, next;
} Waiting;

/* Data for the ordering, per line. */
typedef struct LineState {
  uint32_t needs;   /* number of lines that this line waits for */
  uint32_t waiting; /* the first line that waits for this line */
  uint32_t height;  /* length of the longest chain of lines that waits for this line */
  uint32_t next;    /* next line in its list of ready lines */
  bool is_held, is_done;
} LineState;

typedef struct ReadyList {
  uint32_t first, last, count;
} ReadyList;

typedef struct Ordering {
  Heap *heap;
  const Kernel *kernel;
  LineState *state; /* per line */
  VEC(Waiting) waiting;
  ReadyList ready[LINE_COUNT];            /* ready lines by code of tapes */
  uint32_t codes[LINE_COUNT], code_count; /* that occur */
  uint32_t last_call;                     /* NONE: no call so far */
  TapeOrder order;
  uint32_t count; /* length of the order so far */
} Ordering;

uint32_t line_operands(const Line *line, const CallSite *calls, const Operand **operands, Operand room[3]) {
  if (line->code == LINE_CALL) {
    *operands = calls[line->a].arguments;
    return calls[line->a].argument_count;
  }
  room[0] = line->a, room[1] = line->b, room[2] = line->c;
  *operands = room;
  return line_arity(line);
}

static uint32_t code_of(const Ordering *ordering, uint32_t i) {
  return tape_code(ordering->kernel->prologue.data[i].code);
}

/* Those of lines.def. */
static bool comes_in_fours(uint32_t code) { return code > LINE_BASE && code < LINE_POWER; }

/* ---- held lines ---- */

static bool is_held_operand(const Ordering *ordering, Operand o) {
  uint32_t index = operand_index(o);
  switch (operand_kind(o)) {
  case OPERAND_NUMBER: return true;
  case OPERAND_SLOT: return is_held_store(ordering->kernel->instances.lanes[index].store);
  default: return ordering->state[index].is_held;
  }
}

/* Calls may have effects. */
static bool is_held_line(const Ordering *ordering, const Line *line) {
  const Operand operands[3] = {line->a, line->b, line->c};
  if (line->code == LINE_CALL || line->code == LINE_RESULT) return false;
  for (uint32_t k = 0; k < line_arity(line); k++)
    if (!is_held_operand(ordering, operands[k])) return false;
  return true;
}

/* ---- what is ready ---- */

static void add_ready(Ordering *ordering, uint32_t i) {
  ReadyList *list = &ordering->ready[code_of(ordering, i)];
  if (list->count++) ordering->state[list->last].next = i;
  else list->first = i;
  list->last = i;
  ordering->state[i].next = NONE;
}

static void wait_for(Ordering *ordering, uint32_t i, uint32_t other) {
  if (ordering->state[other].is_done) return;
  vec_push(ordering->heap, &ordering->waiting, (Waiting){i, ordering->state[other].waiting});
  ordering->state[other].waiting = ordering->waiting.count - 1;
  ordering->state[i].needs++;
}

/* A call must come after the call before it, and each further result of a call after that call. */
static void add_line(Ordering *ordering, uint32_t i) {
  const Line *line = &ordering->kernel->prologue.data[i];
  const Operand *operands;
  Operand room[3];
  uint32_t count = line_operands(line, ordering->kernel->calls.data, &operands, room);
  for (uint32_t k = 0; k < count; k++)
    if (operand_kind(operands[k]) == OPERAND_UNIFORM) wait_for(ordering, i, operand_index(operands[k]));
  if (line->code == LINE_RESULT) wait_for(ordering, i, i - line->b);
  if (line->code == LINE_CALL) {
    if (ordering->last_call != NONE) wait_for(ordering, i, ordering->last_call);
    ordering->last_call = i;
  }
  if (!ordering->state[i].needs) add_ready(ordering, i);
}

/* The lines that depend on line i already have their heights. */
static void find_height(Ordering *ordering, uint32_t i) {
  uint32_t height = 0;
  for (uint32_t w = ordering->state[i].waiting; w != NONE; w = ordering->waiting.data[w].next) {
    uint32_t above = ordering->state[ordering->waiting.data[w].line].height;
    if (above > height) height = above;
  }
  ordering->state[i].height = height + 1;
}

/* Removes from its list the line after `before`; NONE: the first line. */
static uint32_t take_ready(Ordering *ordering, uint32_t code, uint32_t before) {
  ReadyList *list = &ordering->ready[code];
  uint32_t *link = before == NONE ? &list->first : &ordering->state[before].next, i = *link;
  *link = ordering->state[i].next;
  if (list->last == i) list->last = before;
  list->count--;
  return i;
}

static void finish_line(Ordering *ordering, uint32_t i) {
  ordering->order.lines[ordering->count++] = i;
  ordering->state[i].is_done = true;
  for (uint32_t w = ordering->state[i].waiting; w != NONE; w = ordering->waiting.data[w].next)
    if (!--ordering->state[ordering->waiting.data[w].line].needs) add_ready(ordering, ordering->waiting.data[w].line);
}

/* ---- choosing ---- */

/* The code with the most ready lines. A code whose lines are decoded in fours is chosen only if four of its lines are
 * ready; such codes come before operators. */
static uint32_t longest_list(const Ordering *ordering) {
  uint32_t longest = NONE, most = 0, operator= NONE;
  for (uint32_t k = 0; k < ordering->code_count; k++) {
    uint32_t code = ordering->codes[k], count = ordering->ready[code].count;
    if (!count) continue;
    if (!comes_in_fours(code)) operator= code;
    else if (count >= 4 && count > most) longest = code, most = count;
  }
  return longest == NONE ? operator: longest;
}

static void run_four(Ordering *ordering, uint32_t code) {
  uint32_t four[4];
  ordering->order.begins_four[ordering->count] = true;
  for (uint32_t k = 0; k < 4; k++) four[k] = take_ready(ordering, code, NONE);
  for (uint32_t k = 0; k < 4; k++) finish_line(ordering, four[k]);
}

static void run_list(Ordering *ordering, uint32_t code) {
  for (uint32_t left = ordering->ready[code].count; left; left--)
    finish_line(ordering, take_ready(ordering, code, NONE));
}

/* The highest of the few lines that are ready; false: there are none. */
static bool run_highest(Ordering *ordering) {
  uint32_t height = 0, code = NONE, before = NONE;
  for (uint32_t k = 0; k < ordering->code_count; k++) {
    const ReadyList *list = &ordering->ready[ordering->codes[k]];
    for (uint32_t n = 0, i = list->first, last = NONE; n < list->count; n++, last = i, i = ordering->state[i].next) {
      if (ordering->state[i].height <= height) continue;
      height = ordering->state[i].height;
      code = ordering->codes[k];
      before = last;
    }
  }
  if (code != NONE) finish_line(ordering, take_ready(ordering, code, before));
  return code != NONE;
}

static bool has_fours(const Ordering *ordering, const uint32_t *lines, uint32_t count) {
  uint8_t counts[LINE_COUNT] = {0};
  for (uint32_t k = 0; k < count; k++) {
    uint32_t code = code_of(ordering, lines[k]);
    if (comes_in_fours(code) && ++counts[code] == 4) return true;
  }
  return false;
}

/* Orders lines whose operands are among them or already computed. */
static void order_window(Ordering *ordering, const uint32_t *lines, uint32_t count) {
  if (!has_fours(ordering, lines, count)) {
    for (uint32_t k = 0; k < count; k++) finish_line(ordering, lines[k]);
    return;
  }
  ordering->waiting.count = 0;
  for (uint32_t k = 0; k < count; k++) add_line(ordering, lines[k]);
  for (uint32_t k = count; k-- > 0;) find_height(ordering, lines[k]);
  for (bool is_left = true; is_left;) {
    uint32_t code = longest_list(ordering);
    if (code == NONE) is_left = run_highest(ordering);
    else if (comes_in_fours(code)) run_four(ordering, code);
    else run_list(ordering, code);
  }
}

/* ---- all lines ---- */

static void list_codes(Ordering *ordering) {
  bool occurs[LINE_COUNT] = {false};
  for (uint32_t i = 0; i < ordering->kernel->prologue.count; i++) {
    uint32_t code = code_of(ordering, i);
    if (!occurs[code]) ordering->codes[ordering->code_count++] = code;
    occurs[code] = true;
  }
}

/* Lists the held lines first, and keeps the order otherwise. */
static uint32_t *list_lines(Ordering *ordering) {
  uint32_t count = ordering->kernel->prologue.count, held = 0, other;
  uint32_t *list = heap_array(ordering->heap, count, sizeof *list);
  for (uint32_t i = 0; i < count; i++) {
    ordering->state[i].waiting = NONE;
    ordering->state[i].is_held = is_held_line(ordering, &ordering->kernel->prologue.data[i]);
    if (ordering->state[i].is_held) list[held++] = i;
  }
  ordering->order.held = other = held;
  for (uint32_t i = 0; i < count; i++)
    if (!ordering->state[i].is_held) list[other++] = i;
  return list;
}

TapeOrder tape_order(Heap *heap, const Kernel *kernel) {
  uint32_t count = kernel->prologue.count;
  Ordering ordering = {.heap = heap, .kernel = kernel, .last_call = NONE};
  ordering.state = heap_array(heap, count, sizeof *ordering.state);
  ordering.order.lines = heap_array(heap, count, sizeof *ordering.order.lines);
  ordering.order.begins_four = heap_array(heap, count, sizeof *ordering.order.begins_four);
  list_codes(&ordering);
  uint32_t *list = list_lines(&ordering), held = ordering.order.held;
  order_window(&ordering, list, held);
  for (uint32_t from = held; from < count; from += WINDOW)
    order_window(&ordering, list + from, count - from < WINDOW ? count - from : WINDOW);
  vec_free(heap, &ordering.waiting);
  heap_free_all(heap, ordering.state, list);
  return ordering.order;
}
