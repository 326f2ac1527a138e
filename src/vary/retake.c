/* retake: see retake.h. A step of Radau IIA: Newton's method from the polynomial of the step before. The Jacobian is evaluated at
 * the middle stage, and again if convergence is slow. */
#include "vary/retake.h"

#include "core/constants.h"
#include "core/corrector.h"

#include <math.h>
#include <string.h>

struct Retake {
  const System *system;
  Stages *stages;
  double *jacobian;
  double *residual[RADAU_STAGES_MAX];
};

Retake *retake_new(Heap *heap, const System *system) {
  Retake *retake = heap_alloc(heap, sizeof *retake);
  *retake = (Retake){.system = system};
  retake->stages = stages_new(heap, system, RADAU_STAGES_MAX);
  retake->jacobian = heap_array(heap, (size_t)system->column_start[system->columns], sizeof(double));
  for (int i = 0; i < RADAU_STAGES_MAX; i++)
    retake->residual[i] = heap_array(heap, (size_t)system->rows, sizeof(double));
  return retake;
}

/* Predicts all columns by continuing the step before, and the states by the links. */
static void predict(Retake *retake, const TakenStep *before, const TakenStep *step) {
  const System *system = retake->system;
  size_t columns = (size_t)system->columns;
  int s = step->method->stages, first = radau_first_point(before->method, step->h / before->h);
  Continuation continuation = radau_continue_from(before->method, first > 0 ? first : 1);
  const double *start = before->values + (size_t)(before->method->stages - 1) * columns, *from[RADAU_STAGES_MAX];
  double weight[RADAU_STAGES_MAX], *stage[RADAU_STAGES_MAX];
  for (int j = continuation.first; j <= continuation.last; j++)
    from[j - continuation.first] = before->values + (size_t)(j - 1) * columns;
  for (int i = 0; i < s; i++) {
    stage[i] = step->values + (size_t)i * columns;
    int count = radau_continuation_weights(&continuation, 1 + step->method->node[i] * step->h / before->h, weight);
    set_to_sum(stage[i], from, weight, count, system->columns);
  }
  if (!stages_are_chosen(retake->stages)) stages_choose(retake->stages, NULL);
  const Elimination *elimination = retake->stages->elimination;
  radau_follow_links(step->method, step->h, elimination->from, elimination->to, system->links, start, stage);
}

static bool factor(Retake *retake, const TakenStep *step) {
  const System *system = retake->system;
  int middle = step->method->stages / 2;
  double t = step->t + step->method->node[middle] * step->h;
  const double *y = step->values + (size_t)middle * (size_t)system->columns;
  if (system->jacobian(system->context, t, y, retake->jacobian) != EVAL_OK) return false;
  stages_take_jacobian(retake->stages, retake->jacobian);
  return stages_factor(retake->stages, step->method, step->h);
}

/* Adds the changes; returns the largest, relative to the size of its column. */
static double add_changes(const Retake *retake, const TakenStep *step) {
  const System *system = retake->system;
  int s = step->method->stages;
  double largest = 0;
  for (int i = 0; i < s; i++)
    for (int32_t c = 0; c < system->columns; c++) {
      double *value = &step->values[(size_t)i * (size_t)system->columns + (size_t)c];
      double change = retake->stages->change[c * (s + 1) + i];
      *value += change;
      largest = fmax(largest, fabs(change) / (system->nominal[c] + fabs(*value)));
    }
  return largest;
}

/* A step that is solved. */
typedef struct StepSolution {
  Retake *retake;
  const TakenStep *step;
  bool has_factors;
} StepSolution;

static double correct_stages(void *context, bool *renew) {
  StepSolution *solution = context;
  Retake *retake = solution->retake;
  const TakenStep *step = solution->step;
  const System *system = retake->system;
  *renew |= !solution->has_factors;
  if (*renew && !factor(retake, step)) return HUGE_VAL;
  solution->has_factors = true;
  for (int i = 0; i < step->method->stages; i++) {
    double t = step->t + step->method->node[i] * step->h;
    const double *y = step->values + (size_t)i * (size_t)system->columns;
    if (system->residual(system->context, t, y, retake->residual[i]) != EVAL_OK) return HUGE_VAL;
  }
  stages_solve(retake->stages, retake->residual);
  return add_changes(retake, step);
}

bool retake_step(Retake *retake, const TakenStep *before, const TakenStep *step) {
  StepSolution solution = {.retake = retake, .step = step};
  predict(retake, before, step);
  return corrector_run(correct_stages, &solution, REACH_ANY, true, CORRECTOR_ROUND_OFF) == CORRECTOR_CONVERGED;
}
