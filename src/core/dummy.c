/* dummy: see dummy.h. */
#include "core/dummy.h"

#include "base/vec.h"

#include <math.h>
#include <string.h>

/* The most terms of a Taylor series: later ones are far below round-off of a step. */
enum { SERIES = 16 };

/* Exchange states when det M can grow by the factor EXCHANGE. A new selection favours the present choice by the factor KEEP, so
 * that only a choice that is better by more than KEEP replaces it. */
static const double EXCHANGE = 1.5, KEEP = 1.1;

/* A column whose start value is kept should not become a dummy: its weight falls with its rank. */
static const double HOLD_WEIGHT[] = {1, 1e-3, 1e-6};

typedef struct ChoiceBlock {
  const ChoicePlan *plan;
  BlockMatrix *matrix;
  double *weight; /* a larger weight means less preferred as a state, at the last point */
  Judged *judged; /* per stage: the last examination of the present choice */
} ChoiceBlock;

struct Dummy {
  Heap *heap;
  RowsHost host;
  DummyPlan plan;
  int32_t *depth, *proposed; /* per unknown */
  int32_t *from, *to;
  uint32_t links, removable_links;
  ChoiceBlock *blocks;
  VEC(Exchange) exchanges;
  Selector *selector;
  int32_t *candidates; /* scratch, block columns */
  double *weights;     /* scratch, block columns */
  const uint8_t *held; /* per column: how firmly a start value holds it; NULL: start values are not held */
  bool *chosen;
};

/* An examination is valid for one choice and its weights. */
static void forget_judged(ChoiceBlock *choice) {
  for (int32_t s = 1; s <= choice->matrix->shape->stages; s++) choice->judged[s].rows = 0;
}

/* Updates the lists after a new choice. */
static void list_links(Dummy *dummy) {
  const DummyPlan *plan = &dummy->plan;
  for (uint32_t b = 0; b < plan->count; b++) forget_judged(&dummy->blocks[b]);
  uint32_t n = 0;
  for (uint32_t i = 0; i < plan->unknowns; i++) {
    uint32_t j = plan->order ? plan->order[i] : i;
    for (int32_t k = 0; k < plan->d[j] - dummy->depth[j]; k++, n++) {
      dummy->from[n] = (int32_t)plan->column_start[j] + k;
      dummy->to[n] = dummy->from[n] + 1;
    }
  }
  dummy->links = n;
  for (uint32_t j = 0; j < plan->unknowns && plan->removable; j++) {
    if (dummy->depth[j] == 0 || !plan->removable[j]) continue;
    dummy->from[n] = (int32_t)plan->column_start[j] + plan->d[j] - 1;
    dummy->to[n] = dummy->from[n] + 1;
    n++;
  }
  dummy->removable_links = n - dummy->links;
}

/* ---- preferences ---- */

/* The error that the integrator allows for an unknown, divided by its tolerance. */
static double allowed_error(const Dummy *dummy, int32_t unknown, const double *y) {
  uint32_t column = dummy->plan.column_start[unknown];
  return dummy->host.nominal[column] + fabs(y[column]);
}

static void follow_sizes(const Dummy *dummy, ChoiceBlock *choice, const double *y) {
  const BlockShape *shape = choice->plan->shape;
  for (int32_t p = 0; p < shape->size; p++)
    choice->weight[p] = choice->plan->preference[p] * allowed_error(dummy, shape->unknown[p], y);
  forget_judged(choice);
}

/* The matrix of a block and the weights of its columns at a point. */
static EvalStatus run_block(const Dummy *dummy, ChoiceBlock *choice, double t, const double *y) {
  EvalStatus status = block_matrix_run_differentiated(choice->matrix, &dummy->host, t, y);
  if (status == EVAL_OK && choice->plan->follows_sizes) follow_sizes(dummy, choice, y);
  return status;
}

static ChoiceBlock make_choice_block(const Dummy *dummy, const ChoicePlan *plan) {
  const BlockShape *shape = plan->shape;
  return (ChoiceBlock){.plan = plan,
                       .matrix = block_matrix_new(dummy->heap, shape),
                       .weight = heap_copy(dummy->heap, plan->preference, (size_t)shape->size, sizeof(double)),
                       .judged = heap_array(dummy->heap, (size_t)shape->stages + 1, sizeof(Judged))};
}

Dummy *dummy_make(Heap *heap, const DummyPlan *plan, const RowsHost *host) {
  uint32_t n = plan->unknowns;
  Dummy *dummy = heap_alloc(heap, sizeof *dummy);
  dummy->heap = heap;
  dummy->host = *host;
  dummy->plan = *plan;
  dummy->depth = heap_copy(heap, plan->depth, n, sizeof(int32_t));
  dummy->proposed = heap_array(heap, n, sizeof(int32_t));
  dummy->from = heap_array(heap, plan->columns, sizeof(int32_t));
  dummy->to = heap_array(heap, plan->columns, sizeof(int32_t));
  dummy->candidates = heap_array(heap, n, sizeof(int32_t));
  dummy->weights = heap_array(heap, n, sizeof(double));
  dummy->chosen = heap_array(heap, n, sizeof(bool));
  dummy->blocks = heap_array(heap, plan->count, sizeof *dummy->blocks);
  for (uint32_t b = 0; b < plan->count; b++) dummy->blocks[b] = make_choice_block(dummy, &plan->choice[b]);
  dummy->selector = selector_new(heap);
  list_links(dummy);
  return dummy;
}

/* ---- the choice ---- */

/* Candidates of stage s: unknowns that are dummies one stage up (all at the first) and have that many derivatives. */
static int32_t list_candidates(Dummy *dummy, const ChoiceBlock *choice, const int32_t *depth, int32_t s) {
  int32_t count = 0;
  for (int32_t p = 0; p < choice->matrix->shape->size; p++) {
    int32_t j = choice->matrix->shape->unknown[p];
    if (dummy->plan.d[j] >= s && (s == 1 || depth[j] >= s - 1)) dummy->candidates[count++] = p;
  }
  return count;
}

/* Weights of the block's columns at stage s; columns that hold a start value have lower ones. */
static const double *stage_weights(Dummy *dummy, const ChoiceBlock *choice, int32_t s) {
  if (!dummy->held) return choice->weight;
  const DummyPlan *plan = &dummy->plan;
  for (int32_t p = 0; p < choice->matrix->shape->size; p++) {
    int32_t j = choice->matrix->shape->unknown[p], order = plan->d[j] - s;
    dummy->weights[p] = choice->weight[p];
    if (order >= 0) dummy->weights[p] *= HOLD_WEIGHT[dummy->held[plan->column_start[j] + (uint32_t)order]];
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
  for (uint32_t b = 0; b < dummy->plan.count; b++) {
    ChoiceBlock *choice = &dummy->blocks[b];
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

/* Accepts the proposed depths, and lists which columns stopped and which began to be states. */
static void accept_block(Dummy *dummy, const ChoiceBlock *choice) {
  const DummyPlan *plan = &dummy->plan;
  uint32_t outs = dummy->exchanges.count, ins = outs;
  for (int32_t p = 0; p < choice->matrix->shape->size; p++) {
    int32_t j = choice->matrix->shape->unknown[p];
    int32_t before = plan->d[j] - dummy->depth[j], after = plan->d[j] - dummy->proposed[j];
    for (int32_t k = after; k < before; k++) {
      if (outs == dummy->exchanges.count) vec_push(dummy->heap, &dummy->exchanges, (Exchange){0});
      dummy->exchanges.data[outs++].out = plan->column_start[j] + (uint32_t)k;
    }
    for (int32_t k = before; k < after; k++) {
      if (ins == dummy->exchanges.count) vec_push(dummy->heap, &dummy->exchanges, (Exchange){0});
      dummy->exchanges.data[ins++].in = plan->column_start[j] + (uint32_t)k;
    }
    dummy->depth[j] = dummy->proposed[j];
  }
}

/* Is there no single exchange, at any stage of the block, that improves the choice much? */
static bool is_good(Dummy *dummy, const ChoiceBlock *choice) {
  for (int32_t s = 1; s <= choice->matrix->shape->stages; s++) {
    SelectProblem problem = stage_problem(dummy, choice, dummy->depth, s);
    if (!selector_is_good(dummy->selector, &problem, EXCHANGE, &choice->judged[s])) return false;
  }
  return true;
}

void dummy_set_parameters(Dummy *dummy) {
  for (uint32_t b = 0; b < dummy->plan.count; b++) block_matrix_forget(dummy->blocks[b].matrix);
}

bool dummy_chooses(const Dummy *dummy) { return dummy->plan.count > 0; }

void dummy_look_ahead(uint32_t unknowns, const uint32_t *column_start, const int32_t *d, double ahead, const double *y,
                      double *out) {
  double factor[SERIES] = {1};
  uint32_t known = 1; /* factors: powers of `ahead` over factorials */
  for (uint32_t j = 0; j < unknowns; j++) {
    uint32_t begin = column_start[j], end = begin + (uint32_t)d[j] + 1;
    for (uint32_t q = begin; q < end; q++) {
      uint32_t terms = end - q < SERIES ? end - q : SERIES;
      for (; known < terms; known++) factor[known] = factor[known - 1] * (ahead / known);
      double sum = y[q];
      for (uint32_t k = 1; k < terms; k++) sum += factor[k] * y[q + k];
      out[q] = sum;
    }
  }
}

int32_t dummy_watch(Dummy *dummy, double t, const double *y, int32_t *block) {
  dummy->exchanges.count = 0;
  for (uint32_t b = 0; b < dummy->plan.count; b++) {
    ChoiceBlock *choice = &dummy->blocks[b];
    *block = choice->matrix->shape->block;
    if (run_block(dummy, choice, t, y) != EVAL_OK) continue; /* the step itself will report that */
    if (is_good(dummy, choice)) continue;
    if (!select_block(dummy, choice, KEEP)) return -1;
    accept_block(dummy, choice);
  }
  if (dummy->exchanges.count) list_links(dummy);
  return (int32_t)dummy->exchanges.count;
}

double dummy_gain(Dummy *dummy, double t, const double *y) {
  double gain = 0;
  for (uint32_t b = 0; b < dummy->plan.count; b++) {
    ChoiceBlock *choice = &dummy->blocks[b];
    if (run_block(dummy, choice, t, y) != EVAL_OK) continue;
    for (int32_t s = 1; s <= choice->matrix->shape->stages; s++) {
      SelectProblem problem = stage_problem(dummy, choice, dummy->depth, s);
      gain = fmax(gain, selector_gain(dummy->selector, &problem));
    }
  }
  return gain;
}

bool dummy_is_exchange(double gain) { return gain > EXCHANGE; }

bool dummy_stage(Dummy *dummy, uint32_t block, int32_t stage, double t, const double *y, DummyStage *found) {
  ChoiceBlock *choice = &dummy->blocks[block];
  if (run_block(dummy, choice, t, y) != EVAL_OK) return false;
  SelectProblem problem = stage_problem(dummy, choice, dummy->depth, stage);
  *found =
      (DummyStage){problem.rows, problem.candidate_count, selector_condition(dummy->selector, &problem), dummy->chosen};
  return true;
}

static bool fits_block(const DummyPlan *plan, const BlockShape *shape, const int32_t *depth, bool *is_chosen) {
  for (int32_t s = 1; s <= shape->stages; s++) {
    int32_t chosen = 0;
    for (int32_t p = 0; p < shape->size; p++) chosen += depth[shape->unknown[p]] >= s;
    if (chosen != shape->stage_rows[s]) return false;
  }
  for (int32_t p = 0; p < shape->size; p++) {
    int32_t j = shape->unknown[p];
    if (depth[j] < 0 || depth[j] > plan->d[j] || depth[j] > shape->stages) return false;
    is_chosen[j] = true;
  }
  return true;
}

bool dummy_fits(const Dummy *dummy, const int32_t *depth) {
  const DummyPlan *plan = &dummy->plan;
  memset(dummy->chosen, 0, plan->unknowns * sizeof(bool));
  for (uint32_t b = 0; b < plan->count; b++)
    if (!fits_block(plan, plan->choice[b].shape, depth, dummy->chosen)) return false;
  for (uint32_t j = 0; j < plan->unknowns; j++)
    if (!dummy->chosen[j] && depth[j] != plan->depth[j]) return false;
  return true;
}

void dummy_restore(Dummy *dummy, const int32_t *depth) {
  if (dummy->plan.unknowns) memcpy(dummy->depth, depth, dummy->plan.unknowns * sizeof *depth);
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
