/* execute: the dispatch loop of the machine (execute.h). */
#include "model/machine.h"

static bool step(Machine *machine, Instruction i) {
  Frame *frame = frame_top(machine);
  switch ((Code)i.code) {
  case CODE_CONSTANT: return step_push_number(machine, (BaseType)i.a, frame->routine->constants.data[i.b]);
  case CODE_LITERAL: return step_push_literal(machine, i.a, i.b);
  case CODE_STRING: return step_push_text(machine, i.b);
  case CODE_LOCAL: return step_push_local(machine, i.b);
  case CODE_GLOBAL: return step_push_global(machine, i.b, machine_span(machine));
  case CODE_SIZES: return step_push_sizes(machine, i.b, machine_span(machine));
  case CODE_BIND: return step_bind(machine, i.b);
  case CODE_ALL: machine_push(machine, (Value){.type = {.base = TYPE_NOTHING}}); return true;
  case CODE_FIELD: return step_field(machine, i.b);
  case CODE_INDEX: return step_index(machine, i.b);
  case CODE_ARRAY:
  case CODE_MATRIX: return step_collect(machine, i);
  case CODE_RANGE: return step_range(machine, i.a != 0);
  case CODE_RECORD: return step_record(machine, i.b);
  case CODE_SUM: return step_sum(machine, i.a, frame_list(frame, i.b));
  case CODE_MULTIPLY:
  case CODE_DIVIDE:
  case CODE_POWER: return step_product(machine, (Code)i.code, i.a != 0);
  case CODE_ADD_EACH: return step_each_sum(machine, false);
  case CODE_SUBTRACT_EACH: return step_each_sum(machine, true);
  case CODE_COMPARE: return step_compare(machine, (Op)i.a);
  case CODE_APPLY: return step_apply(machine, (Op)i.b, i.a);
  case CODE_SKIP_FALSE:
  case CODE_SKIP_TRUE: return step_skip(machine, i);
  case CODE_BUILTIN: return step_builtin(machine, i);
  case CODE_SPECIAL: return step_special(machine, (Special)i.b, i.a, machine_span(machine));
  case CODE_CONVERT: return step_convert(machine, i.a, i.b);
  case CODE_CALL: return step_call(machine, i);
  case CODE_DROP: return step_drop(machine, i.a);
  case CODE_IF_VALUE: return step_if_value(machine, i);
  case CODE_ELSE_VALUE: return step_else_value(machine, i);
  case CODE_END_VALUE: return step_end_value(machine);
  case CODE_EACH: return step_each(machine, i);
  case CODE_EACH_NEXT: return step_each_next(machine, i);
  case CODE_DECLARE: return step_declare(machine, i.b, i.a);
  case CODE_DEFAULT: return step_default(machine, i);
  case CODE_BODY: return probe_finish(machine, true);
  case CODE_STORE: return step_store(machine, frame_list(frame, i.b));
  case CODE_IF: return step_if(machine, i);
  case CODE_ELSE: return step_else(machine, i);
  case CODE_END_IF: return step_end_if(machine);
  case CODE_LOOP: return true;
  case CODE_FOR: return step_for(machine, i, frame_list(frame, frame->routine->code.data[i.b - 1].b));
  case CODE_END_FOR: return step_end_for(machine, i);
  case CODE_WHILE: return step_while(machine, i, frame_list(frame, frame->routine->code.data[i.b - 1].b));
  case CODE_WHILE_TEST: return step_while_test(machine);
  case CODE_END_WHILE: frame->position = i.b; return machine_charge(machine, 1);
  case CODE_BREAK: return step_break(machine);
  case CODE_RETURN: return step_return(machine);
  case CODE_ASSERT: return step_assert(machine);
  case CODE_TERMINATE: return step_terminate(machine);
  case CODE_WHEN: return step_when(machine, i);
  case CODE_ELSE_WHEN: return step_when_branch(machine);
  case CODE_END_WHEN: return step_end_when(machine);
  case CODE_REINIT: return step_reinit(machine);
  case CODE_MISSING: return machine_unknown(machine, "a function that is not defined");
  case CODE_EXTERNAL: return machine_unknown(machine, "the result of an external function");
  case CODE_END:
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
