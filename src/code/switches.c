/* switches: see switches.h. */
#include "code/switches.h"

#include <math.h>
#include <string.h>

/* To, fro, and to again. */
enum { CHANGE_LIMIT = 3 };

/* A difference below this part of its largest size is zero, unless the band is widened. Within a step it can have come back from zero if it is below HIDING
 * times its change over the step, or below NEAR times its largest size. */
static const double ROUND_OFF = 1e-12, HIDING = 1, NEAR = 0.02;

Switches *switches_new(Heap *heap, Evaluator *evaluator, const Modes *modes) {
  Switches *switches = heap_alloc(heap, sizeof *switches);
  switches->modes = modes;
  switches->evaluator = evaluator;
  switches->program = evaluator_program(evaluator, modes->difference, modes->count);
  switches->difference = heap_array(heap, modes->count, sizeof(double));
  switches->before = heap_array(heap, modes->count, sizeof(double));
  switches->scale = heap_array(heap, modes->count, sizeof(double));
  switches->band = heap_array(heap, modes->count, sizeof(double));
  for (uint32_t m = 0; m < modes->count; m++) switches->band[m] = ROUND_OFF;
  switches->changes = heap_array(heap, modes->count, sizeof(uint8_t));
  return switches;
}

bool switches_evaluate(Switches *switches, double t, const double *y) {
  Point point = evaluator_point(switches->evaluator, t, y);
  return program_run(switches->program, &point, switches->difference) == EVAL_OK;
}

/* Value of the relation by its difference: a >= b and a <= b hold at 0. */
static bool holds(const Switches *switches, uint32_t m) {
  double difference = switches->difference[m];
  switch (dag_op(switches->evaluator->model->dag, switches->modes->relation[m])) {
  case OP_GREATER: return difference > 0;
  case OP_GREATER_EQUAL: return difference >= 0;
  case OP_LESS: return difference < 0;
  default: return difference <= 0;
  }
}

void switches_keep(Switches *switches) {
  for (uint32_t m = 0; m < switches->modes->count; m++) {
    switches->before[m] = switches->difference[m];
    if (fabs(switches->difference[m]) > switches->scale[m]) switches->scale[m] = fabs(switches->difference[m]);
  }
}

bool switches_may_hide(const Switches *switches) {
  for (uint32_t m = 0; m < switches->modes->count; m++) {
    double change = fabs(switches->difference[m] - switches->before[m]);
    double nearest = fmin(fabs(switches->difference[m]), fabs(switches->before[m]));
    if (nearest < HIDING * change || nearest < NEAR * switches->scale[m]) return true;
  }
  return false;
}

bool switches_contradict(const Switches *switches, uint32_t m) {
  if (fabs(switches->difference[m]) <= switches->band[m] * switches->scale[m]) return false;
  return holds(switches, m) != (switches->evaluator->discretes[switches->modes->first + m] != 0);
}

double switches_beyond(const Switches *switches, uint32_t m) {
  double difference = switches->difference[m];
  return difference - copysign(switches->band[m] * switches->scale[m], difference);
}

void switches_widen(Switches *switches, uint32_t m, double band) { switches->band[m] = fmax(switches->band[m], band); }

void switches_begin(Switches *switches) { memset(switches->changes, 0, switches->modes->count * sizeof(uint8_t)); }

uint32_t switches_set(Switches *switches) {
  uint32_t changed = 0;
  for (uint32_t m = 0; m < switches->modes->count; m++) {
    if (!switches_contradict(switches, m) || switches->changes[m] >= CHANGE_LIMIT) continue;
    switches->changes[m]++;
    switches->evaluator->discretes[switches->modes->first + m] = holds(switches, m);
    changed++;
  }
  return changed;
}
