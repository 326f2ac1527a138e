/* model_jump: see model_jump.h. */
#include "view/model_jump.h"

#include "view/array_jump.h"

#include <math.h>
#include <string.h>

struct ModelJump {
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

ModelJump *model_jump_new(Heap *heap, View *view, const Reduction *reduction, const ArrayRun *original) {
  const Reduced *reduced = &reduction->reduced;
  if (!modes_make_events(reduced->modes)) return NULL;
  ModelJump *model_jump = heap_alloc(heap, sizeof *model_jump);
  size_t columns = reduction->array->columns;
  *model_jump = (ModelJump){.view = view, .reduced = reduced, .original = *original};
  model_jump->jump = array_jump_new(heap, original->evaluator);
  model_jump->begin = heap_array(heap, reduced->array->columns, sizeof(double));
  model_jump->before = heap_copy(heap, original->y, columns, sizeof(double));
  /* These are guesses. Columns that the view of a cloned run did not have start from 0. */
  for (size_t q = 0; q < columns; q++)
    if (!isfinite(model_jump->before[q])) model_jump->before[q] = 0;
  heap_numbers(heap, columns, &model_jump->whole, &model_jump->moved, &model_jump->drift);
  model_jump->held = heap_array(heap, columns, sizeof(uint8_t));
  model_jump->blocks = &reduction->structure->blocks;
  model_jump->is_constrained = reduction_depth(reduction) > 0;
  return model_jump;
}

static uint32_t columns_of(const ModelJump *model_jump) { return model_jump->view->original->array->columns; }

double *model_jump_save(const ModelJump *model_jump, Heap *heap) {
  return heap_copy(heap, model_jump->before, columns_of(model_jump), sizeof(double));
}

void model_jump_restore(ModelJump *model_jump, const double *guesses) {
  memcpy(model_jump->before, guesses, columns_of(model_jump) * sizeof(double));
  statespace_forget(model_jump->original.space);
  array_jump_forget(model_jump->jump);
}

/* Solves the columns that are not states, with the best states or those held. If that fails, y stays unchanged and model_jump->block
 * is the block. */
static bool complete(ModelJump *model_jump, double t, double *y, const uint8_t *held) {
  const ArrayRun *original = &model_jump->original;
  size_t bytes = columns_of(model_jump) * sizeof *y;
  bool chosen = held ? dummy_select_holding(original->dummy, t, y, held, &model_jump->block)
                     : dummy_select(original->dummy, t, y, &model_jump->block);
  if (!chosen) return false;
  statespace_choose(original->space, dummy_depth(original->dummy));
  memcpy(model_jump->moved, y, bytes);
  bool solved = statespace_complete(original->space, t, model_jump->moved) == EVAL_OK;
  if (solved) memcpy(y, model_jump->moved, bytes);
  else model_jump->block = statespace_failure(original->space).block;
  return solved;
}

void model_jump_begin(ModelJump *model_jump, double t, const double *y) {
  const View *view = model_jump->view;
  memcpy(model_jump->begin, y, (size_t)view->system.columns * sizeof *y);
  for (uint32_t q = 0; q < columns_of(model_jump); q++)
    if (view->source[q] != MAP_NONE) model_jump->before[q] = view->sign[q] * y[view->source[q]];
  view_set_original(model_jump->view);
  if (model_jump->is_constrained) complete(model_jump, t, model_jump->before, NULL);
}

/* The event begins, or begins again. */
static void take_beginning(ModelJump *model_jump) {
  const View *view = model_jump->view;
  memcpy(model_jump->whole, model_jump->before, columns_of(model_jump) * sizeof(double));
  for (uint32_t q = 0; q < columns_of(model_jump); q++)
    if (view->source[q] != MAP_NONE)
      model_jump->drift[q] = model_jump->before[q] - view->sign[q] * model_jump->begin[view->source[q]];
}

const double *model_jump_columns(ModelJump *model_jump, const double *y) {
  const View *view = model_jump->view;
  if (memcmp(model_jump->begin, y, (size_t)view->system.columns * sizeof *y) == 0) take_beginning(model_jump);
  for (uint32_t q = 0; q < columns_of(model_jump); q++)
    if (view->source[q] != MAP_NONE) model_jump->whole[q] = view->sign[q] * y[view->source[q]] + model_jump->drift[q];
  return model_jump->whole;
}

bool model_jump_apply(ModelJump *model_jump, double t, double *y) {
  View *view = model_jump->view;
  uint32_t column;
  view_set_original(view);
  model_jump_columns(model_jump, y);
  memcpy(model_jump->moved, model_jump->whole, columns_of(model_jump) * sizeof *y);
  if (!array_jump_solve(model_jump->jump, t, model_jump->moved, &column)) {
    view->settle.undetermined = column;
    return false;
  }
  for (uint32_t q = 0; q < columns_of(model_jump); q++)
    if (view->source[q] != MAP_NONE)
      y[view->source[q]] += view->sign[q] * (model_jump->moved[q] - model_jump->whole[q]);
  memcpy(model_jump->whole, model_jump->moved, columns_of(model_jump) * sizeof *y);
  return true;
}

/* Sets the columns of the view that are columns of the model's array, and those that start with the value of such a column. */
static void give_columns(ModelJump *model_jump, double *y) {
  const View *view = model_jump->view;
  memset(model_jump->drift, 0, columns_of(model_jump) * sizeof *y);
  for (uint32_t q = 0; q < columns_of(model_jump); q++)
    if (view->source[q] != MAP_NONE) y[view->source[q]] = view->sign[q] * model_jump->whole[q];
  for (uint32_t k = 0; k < model_jump->reduced->starts.count; k++) {
    const StartLink *start = &model_jump->reduced->starts.data[k];
    y[start->column] = start->sign * model_jump->whole[start->source];
  }
}

/* A column of the block that could not be solved. */
static uint32_t unsolved_column(const ModelJump *model_jump) {
  int32_t unknown = model_jump->blocks->column[model_jump->blocks->start[model_jump->block]];
  return model_jump->view->original->array->column_start[unknown];
}

bool model_jump_solve(ModelJump *model_jump, double t, double *y) {
  if (complete(model_jump, t, model_jump->whole, NULL)) {
    give_columns(model_jump, y);
    return true;
  }
  if (model_jump->view->mode) model_jump->view->settle.undetermined = unsolved_column(model_jump);
  return false;
}

bool model_jump_solve_holding(ModelJump *model_jump, double t, double *y, const uint8_t *held) {
  View *view = model_jump->view;
  view_set_original(view);
  model_jump_columns(model_jump, y);
  for (uint32_t q = 0; q < columns_of(model_jump); q++)
    model_jump->held[q] = view->source[q] == MAP_NONE ? 0 : held[view->source[q]];
  if (!complete(model_jump, t, model_jump->whole, model_jump->held)) return false;
  give_columns(model_jump, y);
  return true;
}
