/* control: if, loops, break, return, when.
 *
 * Invariant: an if whose condition is not known has an entry on the control stack while its branches run. A return or break inside
 * it is recorded with its condition, and takes effect where the function or loop ends. If several conditions are true, the first
 * one counts. */
#include "model/machine.h"

#include <string.h>

/* ---- conditions ---- */

/* NULL stands for true. */
static char *path_both(Machine *machine, char *path, const char *condition, bool is_negated) {
  const Domain *domain = machine->domain;
  char *pair = machine_alloc(machine, 2 * (size_t)domain->size), *out = machine_alloc(machine, domain->size);
  memcpy(pair + domain->size, condition, domain->size);
  if (is_negated) domain->apply(domain->context, OP_NOT, condition, 1, pair + domain->size);
  if (!path) return pair + domain->size;
  memcpy(pair, path, domain->size);
  domain->apply(domain->context, OP_AND, pair, 2, out);
  return out;
}

static Value *slots_snapshot(Machine *machine, const uint32_t *assigned) {
  Frame *frame = frame_top(machine);
  Value *values = machine_alloc(machine, assigned[0] * sizeof *values);
  for (uint32_t i = 0; i < assigned[0]; i++) values[i] = value_copy(machine, &frame->slots[assigned[1 + i]]);
  return values;
}

void slots_restore(Machine *machine, const uint32_t *assigned, const Value *values) {
  Frame *frame = frame_top(machine);
  for (uint32_t i = 0; i < assigned[0]; i++) frame->slots[assigned[1 + i]] = value_copy(machine, &values[i]);
}

/* slot = if condition then other else slot, for each slot. A slot that is set on only one side gets the value from there. */
static bool slots_merge(Machine *machine, const uint32_t *assigned, const char *condition, const Value *other) {
  Frame *frame = frame_top(machine);
  for (uint32_t i = 0; i < assigned[0]; i++) {
    Value *slot = &frame->slots[assigned[1 + i]], merged;
    if (!slot_is_set(&other[i])) continue;
    if (!slot_is_set(slot)) {
      *slot = other[i];
      continue;
    }
    if (!value_same_sizes(slot, &other[i])) return machine_unknown(machine, "the size of an array");
    if (!value_select(machine, condition, &other[i], slot, &merged)) return false;
    merged.type = slot->type;
    *slot = merged;
  }
  return true;
}

/* The list in the routine's extra words that belongs to the instruction at `position`; its length comes first. */
static const uint32_t *frame_list(const Frame *frame, uint32_t position) {
  return frame->routine->extra.data + frame->routine->code.data[position].b;
}

/* The slots that the loop which ends at `end` assigns. */
static const uint32_t *loop_assigned(const Frame *frame, uint32_t end) { return frame_list(frame, end - 1); }

static Instruction frame_instruction(const Frame *frame) { return frame->routine->code.data[frame->position]; }

/* Applies the snapshots taken at breaks or returns, the last one first, so that the first one wins if several conditions
 * hold. */
bool snapshots_apply(Machine *machine, const Snapshot *list, uint32_t count, const uint32_t *assigned) {
  for (uint32_t i = count; i-- > 0;)
    if (!slots_merge(machine, assigned, list[i].condition, list[i].values)) return false;
  return true;
}

/* ---- leaving early ---- */

uint32_t *frame_outputs(Machine *machine, const Routine *routine) {
  uint32_t *list = machine_alloc(machine, (routine->outputs + 1) * sizeof *list);
  list[0] = routine->outputs;
  for (uint32_t i = 0; i < routine->outputs; i++) list[1 + i] = routine->inputs + i;
  return list;
}

/* The loop on top of the control stack is over: applies its breaks and continues after it. */
static bool loop_finish(Machine *machine, bool is_dead) {
  Frame *frame = frame_top(machine);
  Control loop = vec_last(&machine->control);
  uint32_t count = loop.breaks.count;
  if (is_dead) slots_restore(machine, loop.assigned, loop.breaks.data[--count].values);
  if (!snapshots_apply(machine, loop.breaks.data, count, loop.assigned)) return false;
  machine->path = loop.path;
  machine->route = loop.route;
  machine->stack.count = loop.stack;
  machine->control.count--;
  frame->position = loop.end;
  if (loop.breaks.count) frame_keep(machine);
  frame->mark = mark_is_above(frame->floor, loop.mark) ? frame->floor : loop.mark;
  vec_free(machine->heap, &loop.breaks);
  return true;
}

/* The current point is never reached. Continues where another path continues: in the other branch of the innermost open if, after a
 * loop that some path has left, or at the end of the function. */
static bool leave_dead(Machine *machine) {
  Frame *frame = frame_top(machine);
  while (machine->control.count > frame->control) {
    Control *control = &vec_last(&machine->control);
    machine->stack.count = control->stack;
    if (control->kind == CONTROL_IF && !control->in_else) {
      control->then_is_dead = true;
      frame->position = control->begin - 1; /* begin is the position of ELSE while the first branch runs */
      return true;
    }
    if (control->kind == CONTROL_IF && !control->then_is_dead) {
      slots_restore(machine, control->assigned, control->then);
      frame_keep(machine);
      frame->position = control->end;
      machine->path = path_both(machine, control->path, control->condition, false);
      machine->route = control->route;
      frame_keep(machine);
      machine->control.count--;
      return true;
    }
    if (control->kind == CONTROL_LOOP && control->breaks.count) return loop_finish(machine, true);
    vec_free(machine->heap, &control->breaks);
    machine->control.count--;
  }
  frame->is_done = true;
  return true;
}

static Control *innermost_loop(Machine *machine) {
  for (uint32_t i = machine->control.count; i-- > frame_top(machine)->control;)
    if (machine->control.data[i].kind == CONTROL_LOOP) return &machine->control.data[i];
  return NULL;
}

static bool open_if_above(Machine *machine, const Control *loop) {
  uint32_t low = loop ? (uint32_t)(loop - machine->control.data) + 1 : frame_top(machine)->control;
  for (uint32_t i = machine->control.count; i-- > low;)
    if (machine->control.data[i].kind == CONTROL_IF) return true;
  return false;
}

bool step_break(Machine *machine) {
  Control *loop = innermost_loop(machine);
  if (!loop) return machine_error(machine, "break outside of a loop");
  if (!open_if_above(machine, loop)) {
    machine->control.count = (uint32_t)(loop - machine->control.data) + 1;
    return loop_finish(machine, false);
  }
  Snapshot saved = {machine->route, slots_snapshot(machine, loop->assigned)};
  vec_push(machine->heap, &loop->breaks, saved);
  frame_keep(machine);
  return leave_dead(machine);
}

/* Records the values that a path returns with, while other paths continue. A path that broke out of a loop earlier does
 * not return here. */
bool step_return(Machine *machine) {
  Frame *frame = frame_top(machine);
  bool may_break = machine_may_have_left(machine, frame->control);
  if (!open_if_above(machine, NULL) && !may_break) {
    frame->position = frame->routine->code.count;
    return true;
  }
  uint32_t *outputs = frame_outputs(machine, frame->routine);
  Snapshot saved = {may_break ? machine->path : machine->route, slots_snapshot(machine, outputs)};
  vec_push(machine->heap, &frame->returns, saved);
  frame_keep(machine);
  return leave_dead(machine);
}

/* ---- if ---- */

/* Is the condition known? Then the machine continues in the branch that it chooses. */
static bool is_decided(Machine *machine, Value condition, Instruction instruction) {
  double truth;
  if (!machine->domain->known(machine->domain->context, condition.data, &truth)) return false;
  if (truth == 0) frame_top(machine)->position = instruction.b;
  return true;
}

bool step_if(Machine *machine) {
  Frame *frame = frame_top(machine);
  Instruction instruction = frame_instruction(frame);
  Value condition = vec_pop(&machine->stack);
  if (is_decided(machine, condition, instruction)) {
    statement_end(machine);
    return true;
  }
  uint32_t end = frame->routine->code.data[instruction.b].b;
  Control control = {.kind = CONTROL_IF,
                     .begin = instruction.b,
                     .end = end,
                     .stack = machine->stack.count,
                     .assigned = frame_list(frame, end),
                     .path = machine->path,
                     .route = machine->route};
  control.condition = machine_copy_scalar(machine, condition.data);
  control.before = slots_snapshot(machine, control.assigned);
  machine->path = path_both(machine, machine->path, control.condition, false);
  machine->route = path_both(machine, machine->route, control.condition, false);
  frame_keep(machine);
  vec_push(machine->heap, &machine->control, control);
  return true;
}

/* The entry of the if whose ELSE or END_IF is at this position; NULL if its condition was known. */
static Control *open_if(Machine *machine, ControlKind kind, uint32_t begin) {
  Frame *frame = frame_top(machine);
  if (machine->control.count == frame->control) return NULL;
  Control *control = &vec_last(&machine->control);
  return control->kind == kind && (control->begin == begin || control->end == begin) ? control : NULL;
}

bool step_else(Machine *machine) {
  Frame *frame = frame_top(machine);
  Instruction instruction = frame_instruction(frame);
  Control *control = open_if(machine, CONTROL_IF, frame->position);
  if (!control) {
    frame->position = instruction.b;
    return true;
  }
  if (!control->then_is_dead) control->then = slots_snapshot(machine, control->assigned);
  slots_restore(machine, control->assigned, control->before);
  machine->path = path_both(machine, control->path, control->condition, true);
  machine->route =
      control->then_is_dead ? control->route : path_both(machine, control->route, control->condition, true);
  control->in_else = true;
  frame_keep(machine);
  return true;
}

bool step_end_if(Machine *machine) {
  Frame *frame = frame_top(machine);
  Control *control = open_if(machine, CONTROL_IF, frame->position);
  if (!control || !control->in_else) return true;
  if (!control->then_is_dead) {
    if (!slots_merge(machine, control->assigned, control->condition, control->then)) return false;
    machine->path = control->path;
  }
  machine->route = control->route;
  machine->control.count--;
  frame_keep(machine);
  return true;
}

bool step_if_value(Machine *machine) {
  Frame *frame = frame_top(machine);
  Instruction instruction = frame_instruction(frame);
  Value condition = vec_pop(&machine->stack);
  if (is_decided(machine, condition, instruction)) return true;
  Control control = {.kind = CONTROL_IF_VALUE,
                     .begin = instruction.b,
                     .end = frame->routine->code.data[instruction.b].b,
                     .stack = machine->stack.count,
                     .condition = machine_copy_scalar(machine, condition.data),
                     .path = machine->path};
  machine->path = path_both(machine, machine->path, control.condition, false);
  vec_push(machine->heap, &machine->control, control);
  return true;
}

bool step_else_value(Machine *machine) {
  Frame *frame = frame_top(machine);
  Instruction instruction = frame_instruction(frame);
  Control *control = open_if(machine, CONTROL_IF_VALUE, frame->position);
  if (!control) frame->position = instruction.b;
  else machine->path = path_both(machine, control->path, control->condition, true);
  return true;
}

bool step_end_value(Machine *machine) {
  Control *control = open_if(machine, CONTROL_IF_VALUE, frame_top(machine)->position);
  if (!control) return true;
  Value out, *pair = machine_top(machine, 2);
  if (!value_select(machine, control->condition, &pair[0], &pair[1], &out)) return false;
  machine->path = control->path;
  machine->control.count--;
  machine_replace(machine, 2, out);
  return true;
}

bool step_skip(Machine *machine, uint32_t target, bool on) {
  const Domain *domain = machine->domain;
  const Value *value = machine_top(machine, 1);
  double truth;
  if (value->type.dimensions == 0 && domain->known(domain->context, value->data, &truth) && (truth != 0) == on)
    frame_top(machine)->position = target - 1;
  return true;
}

/* ---- loops ---- */

/* Stores element `next` of the range in the loop slot. */
static void loop_element(Machine *machine, Control *loop, uint32_t slot) {
  frame_top(machine)->slots[slot] = value_element(machine, &loop->range, loop->next++);
}

bool step_for(Machine *machine, uint32_t slot) {
  Frame *frame = frame_top(machine);
  uint32_t end = frame_instruction(frame).b;
  Control loop = {.kind = CONTROL_LOOP,
                  .begin = frame->position,
                  .end = end,
                  .stack = machine->stack.count - 1,
                  .assigned = loop_assigned(frame, end),
                  .path = machine->path,
                  .route = machine->route,
                  .mark = frame->mark,
                  .range = value_copy(machine, machine_top(machine, 1))};
  machine->stack.count--;
  frame->mark = mark_now(machine);
  vec_push(machine->heap, &machine->control, loop);
  if (loop.range.sizes[0] == 0) return loop_finish(machine, false);
  loop_element(machine, &vec_last(&machine->control), slot);
  return true;
}

/* The control entry of the loop that ends here; entries of ifs inside are gone by now. */
bool step_end_for(Machine *machine) {
  Frame *frame = frame_top(machine);
  Instruction instruction = frame_instruction(frame);
  Control *loop = &vec_last(&machine->control);
  if (!machine_charge(machine, 1)) return false;
  if (loop->next == loop->range.sizes[0]) return loop_finish(machine, false);
  loop_element(machine, loop, frame->routine->code.data[instruction.b].a);
  frame->position = instruction.b;
  return true;
}

bool step_while(Machine *machine) {
  const Frame *frame = frame_top(machine);
  uint32_t end = frame_instruction(frame).b;
  Control loop = {.kind = CONTROL_LOOP,
                  .begin = frame->position,
                  .end = end,
                  .stack = machine->stack.count,
                  .assigned = loop_assigned(frame, end),
                  .path = machine->path,
                  .route = machine->route,
                  .mark = frame->mark};
  vec_push(machine->heap, &machine->control, loop);
  return true;
}

bool step_end_while(Machine *machine) {
  Frame *frame = frame_top(machine);
  frame->position = frame_instruction(frame).b;
  return machine_charge(machine, 1);
}

/* The instruction only lists the slots that the loop assigns. */
bool step_loop(Machine *machine) {
  (void)machine;
  return true;
}

/* Are all slots that the loop assigns known, if they are set? */
static bool only_counts(Machine *machine, const Control *loop) {
  const Domain *domain = machine->domain;
  double number;
  for (uint32_t i = 0; i < loop->assigned[0]; i++) {
    const Value *slot = &frame_top(machine)->slots[loop->assigned[1 + i]];
    if (slot->type.base == TYPE_RECORD) return false;
    for (uint32_t k = 0; slot_is_set(slot) && k < slot->count; k++)
      if (!domain->known(domain->context, slot->data + k * (size_t)domain->size, &number)) return false;
  }
  return true;
}

/* It is not known whether the loop continues. A loop that only counts, such as a search in a table, is followed on both
 * paths. One path leaves here, as if by a break; the other runs the body again, until the condition is known. */
static bool leave_perhaps(Machine *machine, const char *condition) {
  Control *loop = &vec_last(&machine->control);
  if (loop->kind != CONTROL_LOOP || loop->breaks.count + 1 >= CHOICES || !only_counts(machine, loop))
    return machine_unknown(machine, "the condition of a while loop");
  condition = machine_copy_scalar(machine, condition);
  Snapshot saved = {path_both(machine, machine->route, condition, true), slots_snapshot(machine, loop->assigned)};
  vec_push(machine->heap, &loop->breaks, saved);
  machine->path = path_both(machine, machine->path, condition, false);
  frame_keep(machine);
  return true;
}

bool step_while_test(Machine *machine) {
  const Domain *domain = machine->domain;
  Value condition = vec_pop(&machine->stack);
  double truth;
  if (!domain->known(domain->context, condition.data, &truth)) return leave_perhaps(machine, condition.data);
  statement_end(machine);
  return truth != 0 || loop_finish(machine, false);
}

bool step_each(Machine *machine, uint32_t slot) {
  Frame *frame = frame_top(machine);
  uint32_t end = frame_instruction(frame).b;
  Control loop = {.kind = CONTROL_EACH, .begin = frame->position, .end = end, .range = *machine_top(machine, 1)};
  machine->stack.count--;
  loop.stack = machine->stack.count;
  vec_push(machine->heap, &machine->control, loop);
  if (loop.range.sizes[0] == 0) frame->position = end - 1;
  else loop_element(machine, &vec_last(&machine->control), slot);
  return true;
}

bool step_each_next(Machine *machine) {
  Frame *frame = frame_top(machine);
  Instruction instruction = frame_instruction(frame);
  Control *loop = &vec_last(&machine->control);
  if (!machine_charge(machine, 1)) return false;
  if (loop->next < loop->range.sizes[0]) {
    loop_element(machine, loop, frame->routine->code.data[instruction.b].a);
    frame->position = instruction.b;
    return true;
  }
  uint32_t count = machine->stack.count - loop->stack;
  Value out;
  if (!value_array(machine, machine_top(machine, count), count, element_unpack(instruction.a), &out)) return false;
  machine->control.count--;
  machine_replace(machine, count, out);
  return true;
}

/* ---- when ---- */

bool step_when(Machine *machine) {
  const Domain *domain = machine->domain;
  Frame *frame = frame_top(machine);
  Instruction instruction = frame_instruction(frame);
  if (!domain->when_begin) return machine_error(machine, "when cannot be used here");
  if (machine->path) return machine_error(machine, "not supported yet: when inside of if");
  Value condition = value_copy(machine, machine_top(machine, 1));
  machine->stack.count--;
  if (!domain->when_begin(domain->context, instruction.a != 0, &condition, machine_span(machine))) {
    machine->status = EXECUTE_ERROR;
    return false;
  }
  if (instruction.a == 0) return true;
  uint32_t end = instruction.b;
  while (frame->routine->code.data[end].code != CODE_END_WHEN) end = frame->routine->code.data[end].b;
  Control control = {.kind = CONTROL_WHEN, .begin = frame->position, .end = end, .stack = machine->stack.count};
  control.assigned = frame_list(frame, end);
  control.before = slots_snapshot(machine, control.assigned);
  frame_keep(machine);
  vec_push(machine->heap, &machine->control, control);
  return true;
}

/* A branch of the when is over: its assignments become actions, and the slots get their earlier values back. */
bool step_else_when(Machine *machine) {
  const Domain *domain = machine->domain;
  Frame *frame = frame_top(machine);
  Control *control = &vec_last(&machine->control);
  for (uint32_t i = 0; i < control->assigned[0]; i++) {
    uint32_t slot = control->assigned[1 + i];
    if (!domain->when_assign(domain->context, slot, &control->before[i], &frame->slots[slot], machine_span(machine))) {
      machine->status = EXECUTE_ERROR;
      return false;
    }
  }
  slots_restore(machine, control->assigned, control->before);
  frame_keep(machine);
  return true;
}

bool step_end_when(Machine *machine) {
  Frame *frame = frame_top(machine);
  if (!step_else_when(machine)) return false;
  Control *control = &vec_last(&machine->control);
  for (uint32_t i = 0; i < control->assigned[0]; i++)
    machine->domain->when_settle(machine->domain->context, control->assigned[1 + i],
                                 &frame->slots[control->assigned[1 + i]]);
  machine->domain->when_end(machine->domain->context);
  machine->control.count--;
  return true;
}
