/* steps: the steps of a run, by the integrator of the library that was chosen when the model was written, or by radau.c. */
#include "solver.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

void *heap_array(Heap *heap, size_t count, size_t size) {
  size_t start = (heap->used + 15) / 16 * 16;
  heap->used = start + (count + 1) * size;
  return heap->begin ? heap->begin + start : 0;
}

void *heap_alloc(Heap *heap, size_t size) {
  void *made = heap_array(heap, 1, size);
  return made ? made : size <= heap->room ? heap->self : 0;
}

void heap_number_arrays(Heap *heap, size_t count, double **const *arrays, size_t array_count) {
  for (size_t k = 0; k < array_count; k++) *arrays[k] = heap_array(heap, count, sizeof(double));
}

/* ---- the system ---- */

static EvalStatus complete(void *context, double t, double *y) {
  return slides_complete(context, t, y, 1) == SOLVER_OK ? EVAL_OK : EVAL_DOMAIN;
}

static EvalStatus find(void *context, double t, double *y) {
  return slides_complete(context, t, y, 0) == SOLVER_OK ? EVAL_OK : EVAL_DOMAIN;
}

static System make_system(const Model *model) {
  return (System){.columns = model->columns,
                  .rows = model->rows,
                  .links = model->states,
                  .column_start = model->jacobian_start,
                  .row_index = model->jacobian_row,
                  .nominal = model->nominal,
                  .size = model->nominal,
                  .complete = complete,
                  .find = find,
                  .rates = complete,
                  .given = model->given};
}

static void *make(const Model *model, const System *system, const Scalars *now, Heap *heap) {
  IntegratorOptions options = {.relative_tolerance = now->tolerance, .absolute_tolerance = now->tolerance};
  if (now->max_step < HUGE_VAL) options.max_step = now->max_step;
  return model->integrator->create(heap, system, &options);
}

size_t steps_size(const Model *model) {
  double self[1024]; /* an integrator without its arrays is smaller */
  Heap heap = {.self = self, .room = sizeof self};
  System system = make_system(model);
  Scalars now = {.tolerance = model->tolerance, .max_step = HUGE_VAL};
  if (!model->integrator) return 0;
  make(model, &system, &now, &heap);
  return heap.used;
}

/* Tolerances and the system may have become others since the last time. */
static void make_integrator(Solver *solver) {
  const Model *model = solver->model;
  Heap heap = {.begin = solver->step_memory};
  solver->system = make_system(model);
  solver->system.context = solver;
  solver->system.link_from = solver->from;
  solver->system.link_to = solver->to;
  solver->system.successor = solver->successor;
  for (int j = 0; j < model->unknowns; j++)
    for (int order = 0; order <= model->d[j]; order++) {
      int q = model->column_start[j] + order;
      solver->successor[q] = order < model->d[j] ? q + 1 : -1;
    }
  memset(solver->step_memory, 0, solver->step_room);
  solver->integrator = make(model, &solver->system, solver->now, &heap);
  solver->made_for = model;
  solver->made_with = *solver->now;
}

static int has_integrator(const Solver *solver) { return solver->model->integrator && solver->model->states; }

/* ---- steps ---- */

void steps_start(Solver *solver) {
  Scalars *now = solver->now;
  const Scalars *with = &solver->made_with;
  if (!has_integrator(solver)) {
    radau_start(solver);
    return;
  }
  if (solver->made_for != solver->model || with->tolerance != now->tolerance || with->max_step != now->max_step)
    make_integrator(solver);
  double end = now->end < HUGE_VAL ? now->end : fmax(solver->model->stop, now->time);
  solver->model->integrator->start(solver->integrator, now->time, solver->y, end > now->time ? end : now->time + 1);
  now->next = 0;
}

void steps_suggest(Solver *solver, double next) {
  solver->now->next = next;
  if (has_integrator(solver) && next > 0) solver->model->integrator->suggest(solver->integrator, next);
}

/* States have been exchanged. */
void steps_switch(Solver *solver) {
  if (has_integrator(solver)) {
    solver->model->integrator->switch_states(solver->integrator, solver->y);
    return;
  }
  double next = solver->now->next;
  radau_start(solver);
  solver->now->next = next;
  solver->now->is_first = 0;
}

SolverStatus steps_step(Solver *solver, double stop) {
  Scalars *now = solver->now;
  IntegratorStatistics before, after;
  if (!has_integrator(solver)) return radau_step(solver, stop);
  const Integrator *integrator = solver->model->integrator;
  integrator->statistics(solver->integrator, &before);
  if (integrator->step(solver->integrator, stop) != STEP_OK) return SOLVER_FAILED;
  integrator->statistics(solver->integrator, &after);
  now->step_begin = now->time;
  now->step_end = now->time = integrator->time(solver->integrator);
  now->step = now->step_end - now->step_begin;
  now->next = after.next;
  now->steps++;
  now->rejected +=
      (int)(after.rejected_error + after.rejected_convergence - before.rejected_error - before.rejected_convergence);
  memcpy(solver->y, integrator->values(solver->integrator), (size_t)solver->model->columns * sizeof(double));
  return SOLVER_OK;
}

void steps_interpolate(Solver *solver, double t, double *y) {
  if (!has_integrator(solver)) radau_interpolate(solver, t, y);
  else solver->model->integrator->segment.interpolate(solver->integrator, t, 0, (uint32_t)solver->model->columns, y);
}

/* The memory of an integrator has pointers: it is no part of a saved state. Both who is saved and who is restored begin again with it. */
void steps_saved(Solver *solver) {
  double next = solver->now->next;
  if (!has_integrator(solver) || !solver->now->is_started) return;
  steps_start(solver);
  steps_suggest(solver, next);
}
