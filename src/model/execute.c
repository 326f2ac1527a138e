/* execute: the dispatch loop of the machine, and runs (execute.h). */
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

/* Runs the instruction at the position of the frame on top. An array of constants is pushed at once. */
static bool step_once(Machine *machine) {
  const Frame *frame = frame_top(machine);
  bool is_done = false;
  if (frame->literals && (!literal_push(machine, &is_done) || is_done)) return is_done;
  return step(machine, frame->routine->code.data[frame->position]);
}

/* Is the inlined call within its limit? If not, it stays a call. */
static bool within_inlining(Machine *machine) {
  if (!machine->domain->call || machine->frames.count < 2) return true;
  const Frame *outer = &machine->frames.data[1];
  uint64_t made = machine->domain->made ? machine->domain->made(machine->domain->context) - outer->made : 0;
  if (machine->steps - outer->steps <= machine->limits.inlining && made <= machine->limits.inlining) return true;
  if (machine->limits.inlining > STEPS_AFTER_LIMIT) machine->limits.inlining = STEPS_AFTER_LIMIT;
  while (machine->frames.count > 2) frame_end(machine);
  frame_top(machine)->steps = machine->steps;
  frame_top(machine)->made += made;
  return machine_unknown(machine, "the result of a long calculation");
}

/* Runs from the frame on top until the outermost one ends; false with machine->status set. */
static bool run_frames(Machine *machine) {
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
    if (!step_once(machine) || !within_inlining(machine))
      if (!frame_recover(machine)) return false;
  }
}

ExecuteStatus machine_run(Machine *machine, const Routine *routine, const Value *inputs, uint32_t count) {
  machine_clear(machine);
  frame_begin(machine, routine, 0, false);
  Frame *frame = frame_top(machine);
  for (uint32_t i = 0; i < count; i++) frame->slots[i] = inputs[i];
  for (uint32_t i = 0; i < routine->preset_count; i++)
    frame->slots[routine->presets[i].slot] = value_copy(machine, &routine->presets[i].value);
  frame->mark = frame->floor = mark_now(machine);
  frame->position = UINT32_MAX;
  return run_frames(machine) ? EXECUTE_OK : machine->status;
}
