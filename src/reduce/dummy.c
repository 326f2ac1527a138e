/* dummy: see dummy.h. A block has a choice when at some stage it has fewer rows than candidates but at least
 * one row; only such blocks are kept here. */
#include "reduce/dummy.h"

#include "code/block_matrix.h"
#include "reduce/method.h"
#include "reduce/select.h"
#include "reduce/wishes.h"

#include <string.h>

/* Exchange when det M can grow by this factor; a fresh selection favours the present choice by KEEP, so that
 * a choice made is kept until something better by more than that comes up. */
static const double EXCHANGE = 1.5, KEEP = 1.1;

/* A column with a start value to hold should not become a dummy: its weight falls, by rank. */
static const double HOLD_WEIGHT[] = {1, 1e-3, 1e-6};

typedef struct ChoiceBlock {
  BlockMatrix *matrix;
  double *wish;    /* per block column: nominal times stateSelect */
  double *weight;  /* wishes as far as they go at the last point */
  bool is_bounded; /* wishes may lead to where the matrix is singular: see wishes.h */
  Judged *judged;  /* per stage, of the present choice */
} ChoiceBlock;

struct DummyPlan {
  const Structure *structure;
  int32_t *depth;                 /* per unknown, of blocks without a choice */
  VEC(const BlockShape *) blocks; /* those with one */
};

struct Dummy {
  Heap *heap;
  Evaluator *evaluator;
  const Structure *structure;
  int32_t *depth, *proposed; /* per unknown */
  int32_t *from, *to;
  uint32_t links, removable_links;
  VEC(ChoiceBlock) blocks;
  VEC(Exchange) exchanges;
  Selector *selector;
  int32_t *candidates; /* scratch, block columns */
  double *weights;     /* scratch, block columns */
  const uint8_t *held; /* during a selection that holds start values */
  bool *chosen;
};

/* What was judged holds for one choice and its weights. */
static void forget_judged(ChoiceBlock *choice) {
  for (int32_t s = 1; s <= choice->matrix->shape->stages; s++) choice->judged[s].rows = 0;
}

/* Takes note of a new choice. */
static void list_links(Dummy *dummy) {
  for (uint32_t b = 0; b < dummy->blocks.count; b++) forget_judged(&dummy->blocks.data[b]);
  const Array *array = dummy->evaluator->array;
  uint32_t n = 0;
  for (uint32_t j = 0; j < array->problem->unknowns; j++) {
    for (int32_t k = 0; k < array->d[j] - dummy->depth[j]; k++, n++) {
      dummy->from[n] = (int32_t)array->column_start[j] + k;
      dummy->to[n] = dummy->from[n] + 1;
    }
  }
  dummy->links = n;
  for (uint32_t j = 0; j < array->problem->unknowns; j++) {
    if (dummy->depth[j] == 0 || !dummy->structure->removable_block[dummy->structure->blocks.block_of_column[j]])
      continue;
    dummy->from[n] = (int32_t)array->column_start[j] + array->d[j] - 1;
    dummy->to[n] = dummy->from[n] + 1;
    n++;
  }
  dummy->removable_links = n - dummy->links;
}

static bool has_choice(const Structure *structure, int32_t block) {
  int32_t begin = structure->blocks.start[block], end = structure->blocks.start[block + 1], stages = 0;
  for (int32_t p = begin; p < end; p++)
    if (structure->c[structure->blocks.row[p]] > stages) stages = structure->c[structure->blocks.row[p]];
  for (int32_t s = 1; s <= stages; s++) {
    int32_t rows = 0, columns = 0;
    for (int32_t p = begin; p < end; p++) {
      rows += structure->c[structure->blocks.row[p]] >= s;
      columns += structure->d[structure->blocks.column[p]] >= s;
    }
    if (rows < columns) return true;
  }
  return false;
}

/* Without a choice every candidate of a stage with rows is a dummy. */
static void set_fixed_depth(const Structure *structure, int32_t block, int32_t *depth) {
  const Blocks *blocks = &structure->blocks;
  int32_t stages = 0;
  for (int32_t p = blocks->start[block]; p < blocks->start[block + 1]; p++)
    if (structure->c[blocks->row[p]] > stages) stages = structure->c[blocks->row[p]];
  for (int32_t p = blocks->start[block]; p < blocks->start[block + 1]; p++) {
    int32_t j = blocks->column[p];
    depth[j] = stages < structure->d[j] ? stages : structure->d[j];
  }
}

DummyPlan *dummy_plan(ArrayCode *code, const Structure *structure) {
  Heap *heap = code->heap;
  uint32_t n = code->array->problem->unknowns;
  DummyPlan *plan = heap_alloc(heap, sizeof *plan);
  plan->structure = structure;
  plan->depth = heap_array(heap, n, sizeof(int32_t));
  int32_t *place = heap_array(heap, n, sizeof *place);
  for (int32_t b = 0; b < structure->blocks.n_blocks; b++)
    if (has_choice(structure, b)) vec_push(heap, &plan->blocks, block_shape(code, structure, b, place));
    else set_fixed_depth(structure, b, plan->depth);
  heap_free(heap, place);
  return plan;
}

bool dummy_plan_chooses(const DummyPlan *plan, int32_t block) {
  for (uint32_t b = 0; b < plan->blocks.count; b++)
    if (plan->blocks.data[b]->block == block) return true;
  return false;
}

static ChoiceBlock make_choice_block(const Dummy *dummy, const BlockShape *shape) {
  ChoiceBlock choice = {.matrix = block_matrix_new(dummy->heap, shape)};
  heap_numbers(dummy->heap, (size_t)shape->size, &choice.wish, &choice.weight);
  choice.judged = heap_array(dummy->heap, (size_t)shape->stages + 1, sizeof *choice.judged);
  choice.is_bounded = wishes_are_bounded(dummy->evaluator, shape);
  for (int32_t p = 0; p < shape->size; p++)
    choice.wish[p] = choice.weight[p] = wishes_weight(dummy->evaluator, shape->unknown[p]);
  return choice;
}

/* The matrix of a block and the weights of its columns at a point. */
static EvalStatus run_block(const Dummy *dummy, ChoiceBlock *choice, double t, const double *y) {
  EvalStatus status = block_matrix_run_differentiated(choice->matrix, dummy->evaluator, t, y);
  if (status != EVAL_OK || !choice->is_bounded) return status;
  wishes_bound(dummy->evaluator, choice->matrix->shape, choice->wish, y, choice->weight);
  forget_judged(choice);
  return status;
}

Dummy *dummy_new(Heap *heap, Evaluator *evaluator, const DummyPlan *plan) {
  const Array *array = evaluator->array;
  uint32_t n = array->problem->unknowns;
  Dummy *dummy = heap_alloc(heap, sizeof *dummy);
  dummy->heap = heap;
  dummy->evaluator = evaluator;
  dummy->structure = plan->structure;
  dummy->depth = heap_copy(heap, plan->depth, n, sizeof(int32_t));
  dummy->proposed = heap_array(heap, n, sizeof(int32_t));
  dummy->from = heap_array(heap, array->columns, sizeof(int32_t));
  dummy->to = heap_array(heap, array->columns, sizeof(int32_t));
  dummy->candidates = heap_array(heap, n, sizeof(int32_t));
  dummy->weights = heap_array(heap, n, sizeof(double));
  dummy->chosen = heap_array(heap, n, sizeof(bool));
  for (uint32_t b = 0; b < plan->blocks.count; b++)
    vec_push(heap, &dummy->blocks, make_choice_block(dummy, plan->blocks.data[b]));
  dummy->selector = selector_new(heap);
  list_links(dummy);
  return dummy;
}

/* Candidates of stage s: unknowns that are dummies one stage up (all at the first) and have that many derivatives. */
static int32_t list_candidates(Dummy *dummy, const ChoiceBlock *choice, const int32_t *depth, int32_t s) {
  int32_t count = 0;
  for (int32_t p = 0; p < choice->matrix->shape->size; p++) {
    int32_t j = choice->matrix->shape->unknown[p];
    if (dummy->structure->d[j] >= s && (s == 1 || depth[j] >= s - 1)) dummy->candidates[count++] = p;
  }
  return count;
}

/* Weights of the block's columns at stage s, lowered for those that hold a start value. */
static const double *stage_weights(Dummy *dummy, const ChoiceBlock *choice, int32_t s) {
  if (!dummy->held) return choice->weight;
  const Array *array = dummy->evaluator->array;
  for (int32_t p = 0; p < choice->matrix->shape->size; p++) {
    int32_t j = choice->matrix->shape->unknown[p], order = array->d[j] - s;
    dummy->weights[p] = choice->weight[p];
    if (order >= 0) dummy->weights[p] *= HOLD_WEIGHT[dummy->held[array->column_start[j] + (uint32_t)order]];
  }
  return dummy->weights;
}

static SelectProblem stage_problem(Dummy *dummy, const ChoiceBlock *choice, const int32_t *depth, int32_t s) {
  SelectProblem problem = {.rows = choice->matrix->shape->stage_rows[s],
                           .columns = choice->matrix->shape->size,
                           .row_start = choice->matrix->shape->row_start,
                           .column = choice->matrix->shape->column,
                           .values = choice->matrix->values,
                           .weight = stage_weights(dummy, choice, s),
                           .candidates = dummy->candidates,
                           .chosen = dummy->chosen};
  problem.candidate_count = list_candidates(dummy, choice, depth, s);
  for (int32_t p = 0; p < choice->matrix->shape->size; p++)
    dummy->chosen[p] = depth[choice->matrix->shape->unknown[p]] >= s;
  return problem;
}

/* Steps 2 to 5 of the paper for one block; the result goes to dummy->proposed. */
static bool select_block(Dummy *dummy, const ChoiceBlock *choice, double keep) {
  for (int32_t p = 0; p < choice->matrix->shape->size; p++) dummy->proposed[choice->matrix->shape->unknown[p]] = 0;
  for (int32_t s = 1; s <= choice->matrix->shape->stages; s++) {
    SelectProblem problem = stage_problem(dummy, choice, dummy->proposed, s);
    for (int32_t p = 0; p < choice->matrix->shape->size; p++)
      dummy->chosen[p] = dummy->depth[choice->matrix->shape->unknown[p]] >= s;
    problem.keep = keep;
    if (!selector_choose(dummy->selector, &problem)) return false;
    for (int32_t p = 0; p < choice->matrix->shape->size; p++)
      if (dummy->chosen[p]) dummy->proposed[choice->matrix->shape->unknown[p]] = s;
  }
  return true;
}

static bool select_all(Dummy *dummy, double t, const double *y, const uint8_t *held, int32_t *block) {
  for (uint32_t b = 0; b < dummy->blocks.count; b++) {
    ChoiceBlock *choice = &dummy->blocks.data[b];
    *block = choice->matrix->shape->block;
    if (run_block(dummy, choice, t, y) != EVAL_OK) return false;
    dummy->held = held;
    bool full = select_block(dummy, choice, 1);
    dummy->held = NULL;
    if (!full) return false;
    for (int32_t p = 0; p < choice->matrix->shape->size; p++) {
      int32_t j = choice->matrix->shape->unknown[p];
      dummy->depth[j] = dummy->proposed[j];
    }
  }
  list_links(dummy);
  return true;
}

bool dummy_select(Dummy *dummy, double t, const double *y, int32_t *block) {
  return select_all(dummy, t, y, NULL, block);
}

bool dummy_select_holding(Dummy *dummy, double t, const double *y, const uint8_t *held, int32_t *block) {
  return select_all(dummy, t, y, held, block);
}

/* Takes over the proposed depths and lists which columns stopped and which began to be states. */
static void accept_block(Dummy *dummy, const ChoiceBlock *choice) {
  const Array *array = dummy->evaluator->array;
  uint32_t outs = dummy->exchanges.count, ins = outs;
  for (int32_t p = 0; p < choice->matrix->shape->size; p++) {
    int32_t j = choice->matrix->shape->unknown[p];
    int32_t before = array->d[j] - dummy->depth[j], after = array->d[j] - dummy->proposed[j];
    for (int32_t k = after; k < before; k++) {
      if (outs == dummy->exchanges.count) vec_push(dummy->heap, &dummy->exchanges, (Exchange){0});
      dummy->exchanges.data[outs++].out = array->column_start[j] + (uint32_t)k;
    }
    for (int32_t k = before; k < after; k++) {
      if (ins == dummy->exchanges.count) vec_push(dummy->heap, &dummy->exchanges, (Exchange){0});
      dummy->exchanges.data[ins++].in = array->column_start[j] + (uint32_t)k;
    }
    dummy->depth[j] = dummy->proposed[j];
  }
}

/* Would no single exchange at any stage of the block gain much? */
static bool is_good(Dummy *dummy, const ChoiceBlock *choice) {
  for (int32_t s = 1; s <= choice->matrix->shape->stages; s++) {
    SelectProblem problem = stage_problem(dummy, choice, dummy->depth, s);
    if (!selector_is_good(dummy->selector, &problem, EXCHANGE, &choice->judged[s])) return false;
  }
  return true;
}

bool dummy_chooses(const Dummy *dummy) { return dummy->blocks.count > 0; }

int32_t dummy_watch(Dummy *dummy, double t, const double *y, int32_t *block) {
  dummy->exchanges.count = 0;
  for (uint32_t b = 0; b < dummy->blocks.count; b++) {
    ChoiceBlock *choice = &dummy->blocks.data[b];
    *block = choice->matrix->shape->block;
    if (run_block(dummy, choice, t, y) != EVAL_OK) continue; /* the step itself will answer for that */
    if (is_good(dummy, choice)) continue;
    if (!select_block(dummy, choice, KEEP)) return -1;
    accept_block(dummy, choice);
  }
  if (dummy->exchanges.count) list_links(dummy);
  return (int32_t)dummy->exchanges.count;
}

static void describe_stage(Dummy *dummy, const ChoiceBlock *choice, int32_t s, Arena *arena, TextVec *text) {
  const Array *array = dummy->evaluator->array;
  const BlockShape *shape = choice->matrix->shape;
  SelectProblem problem = stage_problem(dummy, choice, dummy->depth, s);
  bool *marked = arena_array(arena, array->columns, sizeof *marked);
  for (int32_t p = 0; p < shape->size; p++)
    if (dummy->chosen[p])
      marked[array->column_start[shape->unknown[p]] + (uint32_t)(array->d[shape->unknown[p]] - s)] = true;
  text_printf(arena->heap, text, "choice: %d of %d at stage %d, condition number %.3g: ", (int)problem.rows,
              (int)problem.candidate_count, (int)s, selector_condition(dummy->selector, &problem));
  array_list_columns(array, marked, arena, text);
  text_printf(arena->heap, text, "\n");
}

void dummy_describe(Dummy *dummy, double t, const double *y, Arena *arena, TextVec *text) {
  for (uint32_t b = 0; b < dummy->blocks.count; b++) {
    ChoiceBlock *choice = &dummy->blocks.data[b];
    if (run_block(dummy, choice, t, y) != EVAL_OK) continue;
    for (int32_t s = 1; s <= choice->matrix->shape->stages; s++) describe_stage(dummy, choice, s, arena, text);
  }
}

static bool fits_block(const Structure *structure, const BlockShape *shape, const int32_t *depth) {
  for (int32_t s = 1; s <= shape->stages; s++) {
    int32_t chosen = 0;
    for (int32_t p = 0; p < shape->size; p++) chosen += depth[shape->unknown[p]] >= s;
    if (chosen != shape->stage_rows[s]) return false;
  }
  for (int32_t p = 0; p < shape->size; p++) {
    int32_t j = shape->unknown[p];
    if (depth[j] < 0 || depth[j] > structure->d[j] || depth[j] > shape->stages) return false;
  }
  return true;
}

bool dummy_fits(const Dummy *dummy, const int32_t *depth) {
  const Structure *structure = dummy->structure;
  for (uint32_t b = 0; b < dummy->blocks.count; b++)
    if (!fits_block(structure, dummy->blocks.data[b].matrix->shape, depth)) return false;
  for (int32_t b = 0; b < structure->blocks.n_blocks; b++)
    for (int32_t p = structure->blocks.start[b]; p < structure->blocks.start[b + 1]; p++) {
      int32_t j = structure->blocks.column[p];
      if (depth[j] != dummy->depth[j] && !has_choice(structure, b)) return false;
    }
  return true;
}

void dummy_restore(Dummy *dummy, const int32_t *depth) {
  size_t unknowns = dummy->evaluator->array->problem->unknowns;
  if (unknowns) memcpy(dummy->depth, depth, unknowns * sizeof *depth);
  list_links(dummy);
}

const Exchange *dummy_exchanges(const Dummy *dummy) { return dummy->exchanges.data; }
const int32_t *dummy_depth(const Dummy *dummy) { return dummy->depth; }

uint32_t dummy_links(const Dummy *dummy, const int32_t **from, const int32_t **to) {
  *from = dummy->from;
  *to = dummy->to;
  return dummy->links;
}

uint32_t dummy_removable_links(const Dummy *dummy) { return dummy->removable_links; }

/* ---- the method ---- */

static bool apply(Reduction *reduction) {
  form_use_dummies(reduction);
  if (!reduction->options.keep_superfluous) form_remove_superfluous(reduction);
  reduction_keep(reduction);
  return true;
}

const Method method_dummy = {
    .name = "dummy",
    .description = "dummy derivatives (Mattsson, Söderlind), chosen anew while running",
    .enforces_all = true,
    .chooses = true,
    .offers_preferred = true,
    .apply = apply,
};
