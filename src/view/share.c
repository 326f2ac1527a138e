/* share: see share.h. */
#include "view/share.h"

#include "view/array_jump.h"

#include <math.h>
#include <string.h>

struct Share {
  View *view;
  const Reduced *reduced;
  ArrayRun original;
  ArrayJump *jump;
  double *begin;         /* columns of the view where the event began */
  double *before;        /* columns of the model's array at that moment, with every row solved */
  double *whole, *moved; /* columns of the model's array now, and after a jump */
  double *drift;         /* differences of the model's columns from those of the view */
  uint8_t *held;         /* per column of the model's array */
  const Blocks *blocks;  /* blocks of that array */
  int32_t block;         /* the block that could not be solved last */
  bool is_constrained;   /* equations are differentiated: columns may have drifted, or be missing in the view */
};

Share *share_new(Heap *heap, View *view, const Reduction *reduction, const ArrayRun *original) {
  const Reduced *reduced = &reduction->reduced;
  if (!modes_make_events(reduced->modes)) return NULL;
  Share *share = heap_alloc(heap, sizeof *share);
  size_t columns = reduction->array->columns;
  *share = (Share){.view = view, .reduced = reduced, .original = *original};
  share->jump = array_jump_new(heap, original->evaluator);
  share->begin = heap_array(heap, reduced->array->columns, sizeof(double));
  share->before = heap_copy(heap, original->y, columns, sizeof(double));
  /* These are guesses. Columns that the view of a cloned run did not have start from 0. */
  for (size_t q = 0; q < columns; q++)
    if (!isfinite(share->before[q])) share->before[q] = 0;
  heap_numbers(heap, columns, &share->whole, &share->moved, &share->drift);
  share->held = heap_array(heap, columns, sizeof(uint8_t));
  share->blocks = &reduction->structure->blocks;
  share->is_constrained = reduction_depth(reduction) > 0;
  return share;
}

static uint32_t columns_of(const Share *share) { return share->view->original->array->columns; }

double *share_save(const Share *share, Heap *heap) {
  return heap_copy(heap, share->before, columns_of(share), sizeof(double));
}

void share_restore(Share *share, const double *guesses) {
  memcpy(share->before, guesses, columns_of(share) * sizeof(double));
  statespace_forget(share->original.space);
  array_jump_forget(share->jump);
}

/* Solves the columns that are not states, with the best states or those held. If that fails, y stays unchanged and share->block
 * is the block. */
static bool complete(Share *share, double t, double *y, const uint8_t *held) {
  const ArrayRun *original = &share->original;
  size_t bytes = columns_of(share) * sizeof *y;
  bool chosen = held ? dummy_select_holding(original->dummy, t, y, held, &share->block)
                     : dummy_select(original->dummy, t, y, &share->block);
  if (!chosen) return false;
  statespace_choose(original->space, dummy_depth(original->dummy));
  memcpy(share->moved, y, bytes);
  bool solved = statespace_complete(original->space, t, share->moved) == EVAL_OK;
  if (solved) memcpy(y, share->moved, bytes);
  else share->block = statespace_failure(original->space).block;
  return solved;
}

void share_begin(Share *share, double t, const double *y) {
  const View *view = share->view;
  memcpy(share->begin, y, (size_t)view->system.columns * sizeof *y);
  for (uint32_t q = 0; q < columns_of(share); q++)
    if (view->source[q] != MAP_NONE) share->before[q] = view->sign[q] * y[view->source[q]];
  view_set_original(share->view);
  if (share->is_constrained) complete(share, t, share->before, NULL);
}

/* The event begins, or begins again. */
static void take_beginning(Share *share) {
  const View *view = share->view;
  memcpy(share->whole, share->before, columns_of(share) * sizeof(double));
  for (uint32_t q = 0; q < columns_of(share); q++)
    if (view->source[q] != MAP_NONE) share->drift[q] = share->before[q] - view->sign[q] * share->begin[view->source[q]];
}

const double *share_columns(Share *share, const double *y) {
  const View *view = share->view;
  if (memcmp(share->begin, y, (size_t)view->system.columns * sizeof *y) == 0) take_beginning(share);
  for (uint32_t q = 0; q < columns_of(share); q++)
    if (view->source[q] != MAP_NONE) share->whole[q] = view->sign[q] * y[view->source[q]] + share->drift[q];
  return share->whole;
}

bool share_jump(Share *share, double t, double *y) {
  View *view = share->view;
  uint32_t column;
  view_set_original(view);
  share_columns(share, y);
  memcpy(share->moved, share->whole, columns_of(share) * sizeof *y);
  if (!array_jump_solve(share->jump, t, share->moved, &column)) {
    view->settle.undetermined = column;
    return false;
  }
  for (uint32_t q = 0; q < columns_of(share); q++)
    if (view->source[q] != MAP_NONE) y[view->source[q]] += view->sign[q] * (share->moved[q] - share->whole[q]);
  memcpy(share->whole, share->moved, columns_of(share) * sizeof *y);
  return true;
}

/* Sets the columns of the view that are columns of the model's array, and those that start with the value of such a column. */
static void give_columns(Share *share, double *y) {
  const View *view = share->view;
  memset(share->drift, 0, columns_of(share) * sizeof *y);
  for (uint32_t q = 0; q < columns_of(share); q++)
    if (view->source[q] != MAP_NONE) y[view->source[q]] = view->sign[q] * share->whole[q];
  for (uint32_t k = 0; k < share->reduced->starts.count; k++) {
    const StartLink *start = &share->reduced->starts.data[k];
    y[start->column] = start->sign * share->whole[start->source];
  }
}

/* A column of the block that could not be solved. */
static uint32_t unsolved_column(const Share *share) {
  int32_t unknown = share->blocks->column[share->blocks->start[share->block]];
  return share->view->original->array->column_start[unknown];
}

bool share_solve(Share *share, double t, double *y) {
  if (complete(share, t, share->whole, NULL)) {
    give_columns(share, y);
    return true;
  }
  if (share->view->mode) share->view->settle.undetermined = unsolved_column(share);
  return false;
}

bool share_solve_holding(Share *share, double t, double *y, const uint8_t *held) {
  View *view = share->view;
  view_set_original(view);
  share_columns(share, y);
  for (uint32_t q = 0; q < columns_of(share); q++)
    share->held[q] = view->source[q] == MAP_NONE ? 0 : held[view->source[q]];
  if (!complete(share, t, share->whole, share->held)) return false;
  give_columns(share, y);
  return true;
}
