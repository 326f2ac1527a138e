/* nearest: see nearest.h. There are two corrections of least norm (least_norm.h): one moves all columns, the other one all
 * except the states. */
#include "integrate/nearest.h"

#include "core/constants.h"
#include "core/corrector.h"
#include "nonlinear/least_norm.h"

#include <math.h>
#include <string.h>

/* Corrections in which columns move according to their weights. */
typedef struct Mover {
  LeastNorm *norm;
  double *weight; /* per column */
} Mover;

struct Nearest {
  const System *system;
  Mover all, others;
  double *jacobian, *residual, *scale, *step, *trial;
};

static Mover make_mover(Heap *heap, const System *system, double of_states) {
  Mover mover = {least_norm_new(heap, system->rows, system->columns, system->column_start, system->row_index),
                 heap_array(heap, (size_t)system->columns, sizeof(double))};
  for (int32_t q = 0; q < system->columns; q++) mover.weight[q] = system->nominal[q] / NEGLIGIBLE;
  for (int32_t k = 0; k < system->links; k++)
    mover.weight[system->link_from[k]] = of_states * system->nominal[system->link_from[k]];
  least_norm_set_units(mover.norm, mover.weight);
  return mover;
}

Nearest *nearest_new(Heap *heap, const System *system) {
  Nearest *nearest = heap_alloc(heap, sizeof *nearest);
  *nearest = (Nearest){.system = system, .all = make_mover(heap, system, 1), .others = make_mover(heap, system, 0)};
  nearest->jacobian = heap_array(heap, (size_t)system->column_start[system->columns], sizeof(double));
  heap_numbers(heap, (size_t)system->rows, &nearest->residual, &nearest->scale);
  heap_numbers(heap, (size_t)system->columns, &nearest->step, &nearest->trial);
  return nearest;
}

void nearest_forget(Nearest *nearest) {
  least_norm_forget(nearest->all.norm);
  least_norm_forget(nearest->others.norm);
}

/* Scales rows to a largest entry of 1. */
static void scale_rows(Nearest *nearest, const double *weight) {
  const System *system = nearest->system;
  double *scale = nearest->scale;
  memset(scale, 0, (size_t)system->rows * sizeof *scale);
  for (int32_t q = 0; q < system->columns; q++)
    for (int32_t e = system->column_start[q]; e < system->column_start[q + 1]; e++)
      scale[system->row_index[e]] = fmax(scale[system->row_index[e]], fabs(nearest->jacobian[e]) * weight[q]);
  for (int32_t i = 0; i < system->rows; i++) scale[i] = scale[i] > 0 ? 1 / scale[i] : 1;
}

/* One correction of the trial point. Returns its size relative to the columns, or infinity if it cannot be computed. */
static double correct(Nearest *nearest, const Mover *mover, double t) {
  const System *system = nearest->system;
  double *trial = nearest->trial, size = 0;
  if (system->residual(system->context, t, trial, nearest->residual) != EVAL_OK) return HUGE_VAL;
  if (system->jacobian(system->context, t, trial, nearest->jacobian) != EVAL_OK) return HUGE_VAL;
  scale_rows(nearest, mover->weight);
  if (!least_norm_factor(mover->norm, nearest->jacobian, nearest->scale, DBL_EPSILON)) return HUGE_VAL;
  for (int32_t i = 0; i < system->rows; i++) nearest->residual[i] *= -nearest->scale[i];
  if (!least_norm_solve(mover->norm, nearest->residual, NULL, nearest->step)) return HUGE_VAL;
  for (int32_t q = 0; q < system->columns; q++) {
    trial[q] += nearest->step[q];
    size = fmax(size, fabs(nearest->step[q]) / (fabs(trial[q]) + system->nominal[q]));
  }
  return size;
}

/* A point during its correction. */
typedef struct Move {
  Nearest *nearest;
  const Mover *mover;
  double t, last; /* last: the size of the last correction */
  double *y;
} Move;

/* Corrections that no longer get smaller are not applied. */
static double move_once(void *context, bool *renew) {
  *renew = true;
  Move *move = context;
  double size = correct(move->nearest, move->mover, move->t);
  if (!(size < move->last)) return HUGE_VAL;
  memcpy(move->y, move->nearest->trial, (size_t)move->nearest->system->columns * sizeof *move->y);
  return move->last = size;
}

static void move(Nearest *nearest, const Mover *mover, double t, double *y) {
  Move move = {nearest, mover, t, HUGE_VAL, y};
  memcpy(nearest->trial, y, (size_t)nearest->system->columns * sizeof *y);
  corrector_run(move_once, &move, REACH_NEXT, false, CORRECTOR_ROUND_OFF);
}

void nearest_move(Nearest *nearest, double t, double *y) { move(nearest, &nearest->all, t, y); }

void nearest_move_others(Nearest *nearest, double t, double *y) { move(nearest, &nearest->others, t, y); }

double nearest_missed(Nearest *nearest, double t, const double *y, int32_t *column) {
  const System *system = nearest->system;
  double most = 0;
  memcpy(nearest->trial, y, (size_t)system->columns * sizeof *y);
  if (correct(nearest, &nearest->all, t) == HUGE_VAL) return 0;
  for (int32_t k = 0; k < system->links; k++) {
    int32_t q = system->link_from[k];
    double change = fabs(nearest->trial[q] - y[q]) / (fabs(y[q]) + system->nominal[q]);
    if (change > most) most = change, *column = q;
  }
  return most;
}
