/* switches: see switches.h. */
#include "code/switches.h"

#include <string.h>

/* To, fro, and to again. */
enum { CHANGE_LIMIT = 3 };

Switches *switches_new(Heap *heap, Evaluator *evaluator, const Modes *modes) {
  Switches *switches = heap_alloc(heap, sizeof *switches);
  switches->modes = modes;
  switches->evaluator = evaluator;
  switches->program = evaluator_program(evaluator, modes->difference, modes->count);
  switches->difference = heap_array(heap, modes->count, sizeof(double));
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

bool switches_contradict(const Switches *switches, uint32_t m) {
  return holds(switches, m) != (switches->evaluator->discretes[switches->modes->first + m] != 0);
}

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
