/* structure: see structure.h. */
#include "structure/structure.h"

#include "base/vec.h"

/* An additional entry of the incidence. Equations and unknowns that depend on each other through it become one block. */
typedef struct Join {
  int32_t row, column;
} Join;

typedef struct Joins {
  VEC(Join) list;
} Joins;

static void sum_up(Structure *structure) {
  int32_t most = 0, algebraic = 0;
  structure->differentiations = structure->dof = 0;
  for (int32_t i = 0; i < structure->n_equations; i++) {
    structure->differentiations += structure->c[i];
    if (structure->c[i] > most) most = structure->c[i];
  }
  for (int32_t j = 0; j < structure->n_variables; j++) {
    structure->dof += structure->d[j];
    if (structure->d[j] == 0) algebraic = 1;
  }
  structure->dof -= structure->differentiations;
  structure->structural_index = most + algebraic;
}

/* Marks the blocks that block b uses: an algebraic variable depends on them. */
static void spread_algebraic(const Structure *structure, const Pattern *tight, int32_t b, const bool *needed,
                             bool *algebraic) {
  const Blocks *blocks = &structure->blocks;
  for (int32_t p = blocks->start[b]; p < blocks->start[b + 1]; p++)
    if (structure->d[blocks->column[p]] == 0 || (needed && needed[blocks->column[p]])) algebraic[b] = true;
  if (!algebraic[b]) return;
  for (int32_t p = blocks->start[b]; p < blocks->start[b + 1]; p++) {
    int32_t i = blocks->row[p];
    for (int32_t e = tight->row_start[i]; e < tight->row_start[i + 1]; e++)
      algebraic[blocks->block_of_column[tight->column[e]]] = true;
  }
}

/* Mattsson, Söderlind 1991, section 3, Example 2 and after it. A block that determines a derivative used by an
 * algebraic variable must keep its last differentiation. In x = f, y = x', z = y', dropping x'' = f'' would leave z at
 * index 2, because z equals the derivative of an algebraic variable. */
static void find_superfluous(Arena *arena, Arena *scratch, const Pattern *tight, const bool *needed,
                             Structure *structure) {
  const Blocks *blocks = &structure->blocks;
  bool *algebraic = arena_array(scratch, (size_t)blocks->n_blocks, sizeof *algebraic);
  structure->superfluous_block = arena_array(arena, (size_t)blocks->n_blocks, sizeof(bool));
  structure->superfluous = arena_array(arena, (size_t)structure->n_equations, sizeof(bool));
  for (int32_t b = blocks->n_blocks - 1; b >= 0; b--) {
    spread_algebraic(structure, tight, b, needed, algebraic);
    structure->superfluous_block[b] = !algebraic[b];
  }
  structure->n_superfluous = 0;
  for (int32_t i = 0; i < structure->n_equations; i++) {
    structure->superfluous[i] = structure->c[i] > 0 && structure->superfluous_block[blocks->block_of_row[i]];
    structure->n_superfluous += structure->superfluous[i];
  }
}

/* Is coarse block b a function of time? This is the case if neither the block nor any block on which it depends has states. */
static bool is_driven(const Structure *structure, const Incidence *incidence, int32_t b, const bool *driven) {
  const Blocks *coarse = &structure->coarse;
  int32_t states = 0;
  for (int32_t p = coarse->start[b]; p < coarse->start[b + 1]; p++) {
    int32_t i = coarse->row[p];
    states += structure->d[coarse->column[p]] - structure->c[i];
    for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++) {
      int32_t used = coarse->block_of_column[incidence->column[e]];
      if (used != b && !driven[used]) return false;
    }
  }
  return states == 0;
}

/* Does equation i contain only unknowns of its block and functions of time? */
static bool is_closed(const Structure *structure, const Incidence *incidence, int32_t i, const bool *driven) {
  const Blocks *blocks = &structure->blocks;
  for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++) {
    int32_t j = incidence->column[e];
    if (blocks->block_of_column[j] != blocks->block_of_row[i] && !driven[structure->coarse.block_of_column[j]])
      return false;
  }
  return true;
}

/* The differentiated equations of block b stay, so they need the highest derivatives that they contain. */
static void spread_kept(const Structure *structure, const Pattern *tight, int32_t b, bool *kept) {
  const Blocks *blocks = &structure->blocks;
  for (int32_t p = blocks->start[b]; p < blocks->start[b + 1]; p++) {
    int32_t i = blocks->row[p];
    for (int32_t e = tight->row_start[i]; e < tight->row_start[i + 1] && structure->c[i] > 0; e++)
      kept[blocks->block_of_column[tight->column[e]]] = true;
  }
}

static void find_removable(Arena *arena, Arena *scratch, const Incidence *incidence, const Pattern *tight,
                           Structure *structure) {
  structure->removable_block = structure->superfluous_block;
  if (!structure->differentiations) return;
  const Blocks *blocks = &structure->blocks;
  bool *driven = arena_array(scratch, (size_t)structure->coarse.n_blocks, sizeof *driven);
  bool *kept = arena_array(scratch, (size_t)blocks->n_blocks, sizeof *kept);
  structure->removable_block = arena_array(arena, (size_t)blocks->n_blocks, sizeof(bool));
  for (int32_t b = 0; b < structure->coarse.n_blocks; b++) driven[b] = is_driven(structure, incidence, b, driven);
  for (int32_t b = blocks->n_blocks - 1; b >= 0; b--) {
    bool removable = structure->superfluous_block[b] && !kept[b];
    for (int32_t p = blocks->start[b]; p < blocks->start[b + 1] && removable; p++)
      removable = structure->c[blocks->row[p]] == 0 || is_closed(structure, incidence, blocks->row[p], driven);
    structure->removable_block[b] = removable;
    if (!removable) spread_kept(structure, tight, b, kept);
  }
}

/* Adds the entries of the joins to the pattern. */
static Pattern add_joins(Arena *arena, const Pattern *pattern, const Joins *joins) {
  if (!joins->list.count) return *pattern;
  int32_t n = pattern->n_rows, more = (int32_t)joins->list.count, *start = index_zeros(arena, n + 1);
  int32_t *column = index_zeros(arena, pattern->row_start[n] + more), *end = index_zeros(arena, n);
  for (int32_t k = 0; k < more; k++) start[joins->list.data[k].row + 1]++;
  for (int32_t i = 0; i < n; i++) {
    start[i + 1] += start[i] + pattern->row_start[i + 1] - pattern->row_start[i];
    end[i] = start[i];
    for (int32_t e = pattern->row_start[i]; e < pattern->row_start[i + 1]; e++) column[end[i]++] = pattern->column[e];
  }
  for (int32_t k = 0; k < more; k++) column[end[joins->list.data[k].row]++] = joins->list.data[k].column;
  return (Pattern){n, pattern->n_columns, start, column};
}

static void complete(Arena *arena, const Incidence *incidence, const Joins *joins, Structure *structure) {
  Arena scratch = arena_make(arena->heap);
  Pattern pattern = incidence_pattern(incidence);
  Pattern tight = incidence_tight(&scratch, incidence, structure->c, structure->d);
  Pattern fine = add_joins(&scratch, &tight, joins);
  sum_up(structure);
  structure->blocks = blocks_find(arena, &fine, &structure->matching);
  if (structure->differentiations) {
    Pattern coarse = add_joins(&scratch, &pattern, joins);
    structure->coarse = blocks_find(arena, &coarse, &structure->matching);
  }
  find_superfluous(arena, &scratch, &tight, NULL, structure);
  find_removable(arena, &scratch, incidence, &tight, structure);
  arena_free(&scratch);
}

Structure structure_run(Arena *arena, const Incidence *incidence) {
  Pantelides pantelides = pantelides_run(arena, incidence);
  Structure structure = {.n_equations = incidence->n_equations, .n_variables = incidence->n_variables};
  structure.matching = pantelides.matching;
  structure.c = pantelides.c;
  structure.d = pantelides.d;
  if (pantelides.ok) {
    complete(arena, incidence, &(Joins){0}, &structure);
    return structure;
  }
  bool balanced = incidence->n_equations == incidence->n_variables;
  Pattern pattern = incidence_pattern(incidence);
  structure.status = balanced ? STRUCTURE_SINGULAR : STRUCTURE_UNBALANCED;
  structure.dulmage = dulmage_find(arena, &pattern, &structure.matching);
  return structure;
}

Blocks structure_coarse(Arena *arena, const Incidence *incidence, const Structure *structure) {
  Pattern pattern = incidence_pattern(incidence);
  return structure->differentiations ? structure->coarse : blocks_find(arena, &pattern, &structure->matching);
}

/* One round of Pryce's iteration (2001), upwards: c from d on the transversal, then d from c. */
static bool raise_once(const Incidence *incidence, const Matching *transversal, const int32_t *sigma, int32_t *c,
                       int32_t *d) {
  bool changed = false;
  for (int32_t i = 0; i < incidence->n_equations; i++) {
    int32_t least = d[transversal->column_of_row[i]] - sigma[i];
    if (least > c[i]) c[i] = least;
    for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++) {
      int32_t j = incidence->column[e];
      if (c[i] + incidence->order[e] <= d[j]) continue;
      d[j] = c[i] + incidence->order[e];
      changed = true;
    }
  }
  return changed;
}

static Structure raise_and_join(Arena *arena, const Incidence *incidence, const Structure *structure,
                                const int32_t *least, const Joins *joins) {
  Structure raised = *structure;
  int32_t n = incidence->n_equations;
  raised.c = index_zeros(arena, n);
  raised.d = index_zeros(arena, n);
  int32_t *sigma = index_zeros(arena, n);
  for (int32_t i = 0; i < n; i++) {
    raised.c[i] = structure->c[i];
    sigma[i] = structure->d[structure->matching.column_of_row[i]] - structure->c[i];
  }
  for (int32_t j = 0; j < n; j++) raised.d[j] = least[j] > structure->d[j] ? least[j] : structure->d[j];
  while (raise_once(incidence, &raised.matching, sigma, raised.c, raised.d)) continue;
  complete(arena, incidence, joins, &raised);
  return raised;
}

Structure structure_raise(Arena *arena, const Incidence *incidence, const Structure *structure, const int32_t *least) {
  return raise_and_join(arena, incidence, structure, least, &(Joins){0});
}

/* ---- preferred states ---- */

/* Unknowns to continue from, each once. */
typedef struct IndexStack {
  int32_t *data, count;
  bool *seen; /* per unknown */
} IndexStack;

static IndexStack stack_make(Arena *arena, int32_t n) {
  return (IndexStack){index_zeros(arena, n), 0, arena_array(arena, (size_t)n, sizeof(bool))};
}

static void stack_push(IndexStack *stack, int32_t j) {
  if (!stack->seen[j]) stack->data[stack->count++] = j;
  stack->seen[j] = true;
}

/* The algebraic unknowns that can replace states, during the search for them. */
typedef struct StateExchange {
  const Incidence *incidence;
  const Structure *structure;
  const bool *smooth;
  bool *is_rough;   /* per block: it depends on equations that may not be differentiated, or on highest derivatives */
  bool *has_states; /* per block: it depends on unknowns one derivative below the highest */
} StateExchange;

/* The difference in order between an entry and the highest derivative of its unknown. */
static int32_t entry_below(const StateExchange *exchange, int32_t e) {
  return exchange->structure->d[exchange->incidence->column[e]] - exchange->incidence->order[e];
}

/* Finds the blocks that block b depends on; the blocks that it uses are already done. */
static void judge_block(StateExchange *exchange, int32_t b) {
  const Blocks *blocks = &exchange->structure->blocks;
  for (int32_t p = blocks->start[b]; p < blocks->start[b + 1]; p++) {
    int32_t i = blocks->row[p];
    if (!exchange->smooth[i] || exchange->structure->d[blocks->column[p]] > 0) exchange->is_rough[b] = true;
    for (int32_t e = exchange->incidence->row_start[i]; e < exchange->incidence->row_start[i + 1]; e++) {
      int32_t below = entry_below(exchange, e), used = blocks->block_of_column[exchange->incidence->column[e]];
      exchange->is_rough[b] = exchange->is_rough[b] || (below == 0 && exchange->is_rough[used]);
      exchange->has_states[b] = exchange->has_states[b] || below == 1 || (below == 0 && exchange->has_states[used]);
    }
  }
}

/* Joins the unknowns on the stack with those that they depend on, down to the states. Preferred states are left out. */
static void join_dependences(const StateExchange *exchange, const bool *preferred, IndexStack *stack, Heap *heap,
                             Joins *joins) {
  const Structure *structure = exchange->structure;
  while (stack->count) {
    int32_t j = stack->data[--stack->count], i = structure->matching.row_of_column[j];
    for (int32_t e = exchange->incidence->row_start[i]; e < exchange->incidence->row_start[i + 1]; e++) {
      int32_t k = exchange->incidence->column[e], below = entry_below(exchange, e);
      bool is_between = below == 0 && exchange->has_states[structure->blocks.block_of_column[k]];
      if (!is_between && (below != 1 || preferred[k])) continue;
      vec_push(heap, &joins->list, (Join){structure->matching.row_of_column[k], j});
      if (is_between) stack_push(stack, k);
    }
  }
}

/* The structure in which the offered unknowns can be states. */
static Structure offer(Arena *arena, const StateExchange *exchange, const bool *preferred, const bool *offered) {
  Arena scratch = arena_make(arena->heap);
  int32_t n = exchange->structure->n_variables, *least = index_zeros(&scratch, n);
  IndexStack stack = stack_make(&scratch, n);
  Joins joins = {0};
  for (int32_t j = 0; j < n; j++) {
    if (!offered[j]) continue;
    least[j] = 1;
    stack_push(&stack, j);
  }
  join_dependences(exchange, preferred, &stack, arena->heap, &joins);
  Structure raised = *exchange->structure;
  if (joins.list.count) raised = raise_and_join(arena, exchange->incidence, exchange->structure, least, &joins);
  vec_free(arena->heap, &joins.list);
  arena_free(&scratch);
  return raised;
}

static int32_t block_size(const Blocks *blocks, int32_t b) { return blocks->start[b + 1] - blocks->start[b]; }

/* The equations differentiated for the exchange, with the unknowns that they determine if the offered unknowns are states. These
 * are the replaced states, and the unknowns between the replaced states and the offered unknowns. */
static Pattern exchange_pattern(Arena *scratch, const StateExchange *exchange, const Structure *raised,
                                const bool *offered) {
  const Incidence *incidence = exchange->incidence;
  int32_t n = incidence->n_equations, count = 0, *start = index_zeros(scratch, n + 1);
  int32_t *column = index_zeros(scratch, incidence->row_start[n]);
  for (int32_t i = 0; i < n; i++) {
    bool is_raised = raised->c[i] > exchange->structure->c[i];
    for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1] && is_raised; e++) {
      int32_t j = incidence->column[e];
      if (offered[j] || raised->c[i] + incidence->order[e] < raised->d[j]) continue;
      if (raised->blocks.block_of_column[j] == raised->blocks.block_of_row[i]) column[count++] = j;
    }
    start[i + 1] = count;
  }
  return (Pattern){n, n, start, column};
}

/* Marks the blocks in which these unknowns do not follow from the offered ones one after another, without a loop. */
static void mark_loops(Arena *scratch, const StateExchange *exchange, const Pattern *pattern, const Structure *raised,
                       bool *is_spoilt) {
  Matching matching = matching_maximum(scratch, pattern);
  int32_t n = pattern->n_rows, rows = 0, count = 0;
  int32_t *number = index_nones(scratch, n), *row = index_zeros(scratch, n), *start = index_zeros(scratch, n + 1);
  int32_t *column = index_zeros(scratch, pattern->row_start[n]), *own = index_zeros(scratch, n);
  for (int32_t i = 0; i < n; i++) {
    if (matching.column_of_row[i] != STRUCTURE_NONE) row[rows] = i, own[rows] = rows, number[i] = rows++;
    else if (raised->c[i] > exchange->structure->c[i]) is_spoilt[raised->blocks.block_of_row[i]] = true;
  }
  for (int32_t k = 0; k < rows; k++) {
    for (int32_t e = pattern->row_start[row[k]]; e < pattern->row_start[row[k] + 1]; e++) {
      int32_t by = matching.row_of_column[pattern->column[e]];
      if (by != STRUCTURE_NONE) column[count++] = number[by];
    }
    start[k + 1] = count;
  }
  Pattern square = {rows, rows, start, column};
  Blocks blocks = blocks_find(scratch, &square, &(Matching){.column_of_row = own, .row_of_column = own, .size = rows});
  for (int32_t k = 0; k < rows; k++)
    if (block_size(&blocks, blocks.block_of_row[k]) > 1) is_spoilt[raised->blocks.block_of_row[row[k]]] = true;
}

/* Withdraws two kinds of offers that have no advantage: those that would join a loop of equations with equations before or after
 * the loop, and those from which the replaced states follow only by a loop. Returns whether there were any. */
static bool take_back(const StateExchange *exchange, const Structure *raised, Arena *scratch, bool *offered) {
  const Blocks *blocks = &exchange->structure->blocks, *joined = &raised->blocks;
  bool *is_spoilt = arena_array(scratch, (size_t)joined->n_blocks, sizeof *is_spoilt), any = false;
  for (int32_t i = 0; i < raised->n_equations; i++) {
    int32_t size = block_size(blocks, blocks->block_of_row[i]), b = joined->block_of_row[i];
    if (size > 1 && raised->c[i] == 0 && block_size(joined, b) > size) is_spoilt[b] = true;
  }
  Pattern pattern = exchange_pattern(scratch, exchange, raised, offered);
  mark_loops(scratch, exchange, &pattern, raised, is_spoilt);
  for (int32_t j = 0; j < raised->n_variables; j++) {
    if (!offered[j] || !is_spoilt[joined->block_of_column[j]]) continue;
    offered[j] = false;
    any = true;
  }
  return any;
}

Structure structure_prefer(Arena *arena, const Incidence *incidence, const Structure *structure, const bool *preferred,
                           const bool *smooth) {
  Arena scratch = arena_make(arena->heap);
  size_t n = (size_t)structure->n_variables, blocks = (size_t)structure->blocks.n_blocks;
  bool *offered = arena_array(&scratch, n, sizeof *offered);
  StateExchange exchange = {incidence, structure, smooth, arena_array(&scratch, blocks, sizeof(bool)),
                            arena_array(&scratch, blocks, sizeof(bool))};
  for (int32_t b = 0; b < structure->blocks.n_blocks; b++) judge_block(&exchange, b);
  for (size_t j = 0; j < n; j++) {
    int32_t b = structure->blocks.block_of_column[j];
    offered[j] = preferred[j] && structure->d[j] == 0 && !exchange.is_rough[b] && exchange.has_states[b];
  }
  Structure raised = offer(arena, &exchange, preferred, offered);
  if (take_back(&exchange, &raised, &scratch, offered)) raised = offer(arena, &exchange, preferred, offered);
  arena_free(&scratch);
  return raised;
}

void structure_need(Arena *arena, const Incidence *incidence, Structure *structure, const bool *needed) {
  Arena scratch = arena_make(arena->heap);
  Pattern tight = incidence_tight(&scratch, incidence, structure->c, structure->d);
  find_superfluous(arena, &scratch, &tight, needed, structure);
  find_removable(arena, &scratch, incidence, &tight, structure);
  arena_free(&scratch);
}
