/* execute: the dispatch loop of the machine (execute.h). */
#include "model/machine.h"

static bool step(Machine *self, Instruction i) {
  const Routine *routine = frame_top(self)->routine;
  switch ((Code)i.code) {
#define CODE(id, verb, arguments) \
  case CODE_##id: {               \
    return step_##verb arguments; \
  }
#include "model/codes.def"
  case CODE_COUNT: break;
  }
  return true;
}

/* A call inlined beyond its limit is better left a call. */
static bool within_inlining(Machine *machine) {
  if (!machine->domain->call || machine->frames.count < 2) return true;
  if (machine->steps - machine->frames.data[1].steps <= machine->limits.inlining) return true;
  if (machine->limits.inlining > STEPS_AFTER_LIMIT) machine->limits.inlining = STEPS_AFTER_LIMIT;
  while (machine->frames.count > 2) frame_end(machine);
  frame_top(machine)->steps = machine->steps;
  return machine_unknown(machine, "the result of a long calculation");
}

bool machine_loop(Machine *machine) {
  for (;;) {
    Frame *frame = frame_top(machine);
    frame->position++;
    if (frame->position >= frame->routine->code.count || frame->is_done) {
      if (!frame_finish(machine)) {
        if (!frame_recover(machine)) return false;
        continue;
      }
      if (machine->frames.count == 1 && frame == machine->frames.data) return true;
      continue;
    }
    machine->steps++;
    if (machine->steps > machine->budget && !machine_charge(machine, 0)) return false;
    if (!step(machine, frame->routine->code.data[frame->position]) || !within_inlining(machine))
      if (!frame_recover(machine)) return false;
  }
}
