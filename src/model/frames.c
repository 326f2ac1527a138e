/* frames: slots and their sizes, assignments, calls, and effects.
 *
 * Invariant: if the run of a call needs an unknown value, the call is run again as a probe. The probe ends as soon as the
 * sizes of the outputs are known; then the domain gives the outputs their values. */
#include "model/machine.h"

#include <stdio.h>
#include <string.h>

/* ---- slots ---- */

static bool declare_input(Machine *machine, const Local *local, const Value *slot, const Value *sizes, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    int64_t size;
    if (value_is_all(&sizes[i])) continue;
    if (!value_integer(machine, &sizes[i], &size)) return false;
    if (size != slot->sizes[i])
      return machine_error(machine, "argument `%s` has size %u in dimension %u, expected %lld",
                           names_text(machine->names, local->name), slot->sizes[i], i + 1, (long long)size);
  }
  return true;
}

/* The outputs of the frame on top go to the caller's stack. */
void frame_end(Machine *machine) {
  Frame frame = vec_pop(&machine->frames);
  for (uint32_t i = frame.control; i < machine->control.count; i++)
    vec_free(machine->heap, &machine->control.data[i].breaks);
  machine->control.count = frame.control;
  machine->stack.count = frame.stack;
  machine->path = frame.path;
  machine->route = frame.route;
  vec_free(machine->heap, &frame.returns);
  for (uint32_t i = 0; i < frame.wanted; i++) machine_push(machine, frame.slots[frame.routine->inputs + i]);
}

/* Does the record have a field whose size is neither declared nor given yet? */
static bool has_open_field(Machine *machine, const Value *value) {
  if (value->type.base != TYPE_RECORD) return false;
  const Record *record = machine_record(machine, value->type.definition);
  for (uint32_t i = 0; i < record->fields.count; i++) {
    const Field *field = &record->fields.data[i];
    if (has_open_field(machine, &value->fields[i])) return true;
    for (uint32_t k = 0; k < field->type.dimensions; k++)
      if (field->sizes[k] == UINT32_MAX && value->fields[i].count == 0) return true;
  }
  return false;
}

/* Ends a probe once its outputs have sizes: the domain gives them values. is_last: they must have sizes by now. */
static bool probe_finish(Machine *machine, bool is_last) {
  Frame *frame = frame_top(machine);
  const Routine *routine = frame->routine;
  if (!frame->is_probe) return true;
  for (uint32_t i = 0; i < routine->inputs + routine->outputs; i++)
    if (!is_last && (!slot_is_set(&frame->slots[i]) || has_open_field(machine, &frame->slots[i]))) return true;
  for (uint32_t i = 0; i < routine->outputs; i++)
    if (routine->locals.data[routine->inputs + i].is_free)
      return machine_lacks(machine, "the size of output `%s`",
                           names_text(machine->names, routine->locals.data[routine->inputs + i].name));
  const Frame *caller = &machine->frames.data[machine->frames.count - 2];
  Span span = caller->routine->spans.data[caller->position];
  if (!machine->domain->call(machine->domain->context, routine, frame->slots, frame->slots + routine->inputs, span)) {
    machine->status = EXECUTE_ERROR;
    return false;
  }
  if (routine->inverses.count && machine->domain->returned)
    machine->domain->returned(machine->domain->context, routine, frame->slots);
  frame_end(machine);
  return true;
}

bool step_declare(Machine *machine, uint32_t number, uint32_t count) {
  Frame *frame = frame_top(machine);
  const Local *local = &frame->routine->locals.data[number];
  const Value *sizes = machine_top(machine, count);
  uint32_t list[TYPE_MAX_DIMENSIONS];
  if (slot_is_set(&frame->slots[number])) {
    if (!declare_input(machine, local, &frame->slots[number], sizes, count)) return false;
    frame_keep(machine);
  } else {
    for (uint32_t i = 0; i < count; i++) {
      int64_t size = 0;
      if (!value_is_all(&sizes[i]) && !value_integer(machine, &sizes[i], &size)) return false;
      if (size < 0 || size > INT32_MAX)
        return machine_error(machine, "`%s` has size %lld", names_text(machine->names, local->name), (long long)size);
      list[i] = (uint32_t)size;
    }
    Value made;
    if (!value_make_checked(machine, local->type, list, &made) || !value_zero(machine, &made)) return false;
    frame = frame_top(machine);
    frame->slots[number] = made;
    frame_keep(machine);
  }
  machine->stack.count -= count;
  return probe_finish(machine, false);
}

/* Stores the value in the slot: in its memory if it fits, otherwise in new memory that stays. */
static bool store_whole(Machine *machine, uint32_t number, const Value *value) {
  Frame *frame = frame_top(machine);
  const Local *local = &frame->routine->locals.data[number];
  Value *slot = &frame->slots[number];
  if (slot_is_set(slot) && slot->type.base != TYPE_RECORD && value_same_sizes(slot, value)) {
    value_assign(machine, slot, value);
    return true;
  }
  if (slot_is_set(slot) && !local->is_free && !value_same_sizes(slot, value))
    return machine_error(machine, "sizes differ: `%s` is %s, the value assigned is %s",
                         names_text(machine->names, local->name), value_sizes_text(machine, slot),
                         value_sizes_text(machine, value));
  *slot = value_copy(machine, value);
  slot->type.base = local->type.base;
  frame_keep(machine);
  return true;
}

static bool is_all(const Value *subscripts, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (!value_is_all(&subscripts[i])) return false;
  return true;
}

/* The place that the steps lead to, with the subscripts of all steps in one list. */
static Value *find_place(Value *target, const uint32_t *place, const Value *subscripts, Value *list, uint32_t *count) {
  uint32_t dimensions = target->type.dimensions, used = 0;
  *count = 0;
  for (uint32_t i = 0; i < place[1]; i++) {
    if (place[2 + 2 * i] == STEP_INDEX) {
      for (uint32_t k = 0; k < place[3 + 2 * i] && *count < TYPE_MAX_DIMENSIONS; k++)
        list[(*count)++] = subscripts[used++];
      continue;
    }
    /* Dimensions of the record without a subscript: all elements. */
    while (*count < dimensions) list[(*count)++] = (Value){.type = {.base = TYPE_NOTHING}};
    target = &target->fields[place[3 + 2 * i]];
    dimensions = target->type.dimensions;
  }
  return target;
}

static bool store_part(Machine *machine, const uint32_t *place, const Value *subscripts, const Value *value) {
  Frame *frame = frame_top(machine);
  Value list[TYPE_MAX_DIMENSIONS];
  uint32_t count;
  if (!slot_is_set(&frame->slots[place[0]]))
    return machine_error(machine, "`%s` is assigned in part before it has a size",
                         names_text(machine->names, frame->routine->locals.data[place[0]].name));
  Value *target = find_place(&frame->slots[place[0]], place, subscripts, list, &count);
  bool is_record = target->type.base == TYPE_RECORD;
  bool is_free_field = !is_record && target->count == 0 && is_all(list, count) &&
                       !memcmp(target->sizes, value->sizes, count * sizeof *value->sizes);
  if (is_free_field) {
    *target = value_copy(machine, value);
    frame_keep(machine);
    return true;
  }
  /* The value may consist of parts of the place itself, which must be read before they are overwritten. */
  Value source = is_record || value->data == target->data ? value_copy(machine, value) : *value;
  return value_store(machine, target, list, count, &source);
}

static void fill_ones(Machine *machine, Value *value) {
  const Domain *domain = machine->domain;
  if (value->type.base == TYPE_RECORD)
    for (uint32_t i = 0; i < machine_record(machine, value->type.definition)->fields.count; i++)
      fill_ones(machine, &value->fields[i]);
  else
    for (uint32_t i = 0; i < value->count; i++)
      domain->constant(domain->context, 1, value->data + (size_t)i * domain->size);
}

/* Marks the assigned elements of a variable that an algorithm section assigns. */
static bool mark_assigned(Machine *machine, const uint32_t *place, const Value *subscripts, const Value *value) {
  Value list[TYPE_MAX_DIMENSIONS];
  uint32_t count;
  const Routine *routine = frame_top(machine)->routine;
  for (uint32_t i = 0; i < routine->preset_count; i++) {
    Preset *preset = &routine->presets[i];
    if (preset->slot != place[0]) continue;
    Value ones = value_copy(machine, value);
    fill_ones(machine, place[1] ? &ones : &preset->assigned);
    Value *target = find_place(&preset->assigned, place, subscripts, list, &count);
    return place[1] == 0 || value_store(machine, target, list, count, &ones);
  }
  return true;
}

bool step_store(Machine *machine, const uint32_t *place) {
  uint32_t total = 0;
  for (uint32_t i = 0; i < place[1]; i++)
    if (place[2 + 2 * i] == STEP_INDEX) total += place[3 + 2 * i];
  const Value *subscripts = machine_top(machine, total), value = machine_top(machine, total + 1)[0];
  if (!mark_assigned(machine, place, subscripts, &value)) return false;
  if (!(place[1] ? store_part(machine, place, subscripts, &value) : store_whole(machine, place[0], &value)))
    return false;
  machine->stack.count -= total + 1;
  statement_end(machine);
  return true;
}

/* ---- calls ---- */

static bool routine_is_active(const Machine *machine, const Routine *routine) {
  for (uint32_t i = 1; i < machine->frames.count; i++)
    if (machine->frames.data[i].routine == routine) return true;
  return false;
}

bool step_call(Machine *machine, const uint32_t *call, uint32_t count) {
  const Routine *routine = (*machine->routines)[call[0]];
  if (routine->is_broken) {
    machine->status = EXECUTE_ERROR;
    return false;
  }
  if (routine->is_partial)
    return machine_error(machine, "function `%s` is partial: it cannot be called",
                         names_text(machine->names, routine->name));
  if (machine->frames.count > machine->limits.depth)
    return machine_error(machine, "calls are nested deeper than %u: `%s` calls itself without end",
                         machine->limits.depth, names_text(machine->names, routine->name));
  if (machine->path && machine->domain->call && routine_is_active(machine, routine))
    return machine_unknown(machine, "a condition on which a recursion ends");
  Value *arguments = machine_alloc(machine, count * sizeof *arguments);
  if (count) memcpy(arguments, machine_top(machine, count), count * sizeof *arguments);
  machine->stack.count -= count;
  frame_begin(machine, routine, call[1], false);
  frame_top(machine)->literals = literals_of(machine, call[0]);
  for (uint32_t i = 0; i < count; i++) {
    Value *slot = &frame_top(machine)->slots[call[2 + i]];
    *slot = arguments[i];
    slot->type.base = routine->locals.data[call[2 + i]].type.base;
  }
  frame_top(machine)->position = UINT32_MAX;
  return true;
}

/* The field of this name; the number of fields if there is none. */
static uint32_t find_field(const Record *record, Name name) {
  uint32_t field = 0;
  while (field < record->fields.count && record->fields.data[field].name != name) field++;
  return field;
}

bool step_call_local(Machine *machine, const uint32_t *call, uint32_t count) {
  const Value function = frame_top(machine)->slots[call[0]];
  const Record *record = machine_record(machine, function.type.definition);
  const Routine *routine = (*machine->routines)[record->function - 1];
  uint32_t *list = machine_alloc(machine, (2 + count + record->fields.count) * sizeof *list), used = 2;
  list[0] = record->function - 1;
  list[1] = call[1];
  for (uint32_t slot = 0; slot < routine->inputs && used < 2 + count; slot++)
    if (find_field(record, routine->locals.data[slot].name) == record->fields.count) list[used++] = slot;
  if (used < 2 + count || routine->outputs < call[1])
    return machine_error(machine, "`%s` does not have the inputs and outputs that it is called with",
                         names_text(machine->names, routine->name));
  for (uint32_t slot = 0; slot < routine->inputs; slot++) {
    uint32_t field = find_field(record, routine->locals.data[slot].name);
    if (field == record->fields.count) continue;
    machine_push(machine, function.fields[field]);
    list[used++] = slot;
  }
  return step_call(machine, list, used - 2);
}

bool frame_finish(Machine *machine) {
  Frame *frame = frame_top(machine);
  if (frame->returns.count) {
    const uint32_t *outputs = frame_outputs(machine, frame->routine);
    uint32_t count = frame->returns.count;
    if (frame->is_done) slots_restore(machine, outputs, frame->returns.data[--count].values);
    if (!snapshots_apply(machine, frame->returns.data, count, outputs)) return false;
  }
  for (uint32_t i = 0; i < frame->routine->outputs; i++)
    if (!slot_is_set(&frame->slots[frame->routine->inputs + i]))
      return machine_error(machine, "output `%s` of function `%s` is not assigned",
                           names_text(machine->names, frame->routine->locals.data[frame->routine->inputs + i].name),
                           names_text(machine->names, frame->routine->name));
  if (frame->routine->inverses.count && machine->domain->returned)
    machine->domain->returned(machine->domain->context, frame->routine, frame->slots);
  if (machine->frames.count > 1) frame_end(machine);
  return true;
}

/* A function that is called only for its effect becomes part of the calling function. A function that is called in
 * only one branch is included, too: as a separate call it would also run in the other branches, with unsuitable
 * arguments. */
static bool belongs_to_caller(const Frame *frame) {
  return frame->routine->outputs == 0 || (frame->path && frame->routine->kind == ROUTINE_CODE);
}

/* Something is not known. Passes the innermost function that may remain a call to the domain; the inputs are still in its
 * slots. */
bool frame_recover(Machine *machine) {
  if (machine->status != EXECUTE_UNKNOWN || !machine->domain->call) return false;
  while (machine->frames.count > 1 && frame_top(machine)->is_probe) frame_end(machine);
  while (machine->frames.count > 2 && belongs_to_caller(frame_top(machine))) frame_end(machine);
  if (machine->frames.count < 2) return false;
  Frame *frame = frame_top(machine);
  for (uint32_t i = frame->control; i < machine->control.count; i++)
    vec_free(machine->heap, &machine->control.data[i].breaks);
  machine->control.count = frame->control;
  machine->stack.count = frame->stack;
  machine->path = frame->path;
  machine->route = frame->route;
  frame->returns.count = 0;
  if (machine->domain->forget) machine->domain->forget(machine->domain->context, frame->effects);
  frame->is_probe = true;
  frame->is_done = false;
  frame->position = UINT32_MAX;
  for (uint32_t i = frame->routine->inputs; i < frame->routine->locals.count; i++)
    frame->slots[i] = (Value){.type = {.base = TYPE_NOTHING}};
  machine->status = EXECUTE_OK;
  return true;
}

/* ---- effects ---- */

bool step_assert(Machine *machine) {
  const Domain *domain = machine->domain;
  const Value *v = machine_top(machine, 3);
  double truth, level = ASSERTION_ERROR, message;
  bool is_known = domain->known(domain->context, v[0].data, &truth);
  domain->known(domain->context, v[2].data, &level);
  if (is_known && truth != 0) goto done;
  if (is_known && !machine->path && level == ASSERTION_ERROR && !domain->assertion) {
    const char *text =
        domain->known(domain->context, v[1].data, &message) ? names_text(machine->names, (Name)message) : "";
    return machine_error(machine, "assertion failed: %s", text);
  }
  if (domain->assertion &&
      !domain->assertion(domain->context, machine->path, v[0].data, v[1].data, v[2].data, machine_span(machine))) {
    machine->status = EXECUTE_ERROR;
    return false;
  }
done:
  machine->stack.count -= 3;
  statement_end(machine);
  return true;
}

bool step_terminate(Machine *machine) {
  const Domain *domain = machine->domain;
  if (!domain->terminate) return machine_error(machine, "terminate cannot be used here");
  if (!domain->terminate(domain->context, machine->path, machine_top(machine, 1)->data, machine_span(machine))) {
    machine->status = EXECUTE_ERROR;
    return false;
  }
  machine->stack.count--;
  statement_end(machine);
  return true;
}

bool step_missing(Machine *machine, Name name) {
  return machine_lacks(machine, "function `%s`, which is not in the file", names_text(machine->names, name));
}

/* Sizes and bindings are done. A function whose derivative is given separately needs no body. */
bool step_body(Machine *machine) {
  const Domain *domain = machine->domain;
  Frame *frame = frame_top(machine);
  bool is_done = false;
  if (!domain->derive) return probe_finish(machine, true);
  if (!domain->derive(domain->context, frame->routine, frame->slots, frame->slots + frame->routine->inputs, &is_done)) {
    machine->status = EXECUTE_ERROR;
    return false;
  }
  if (is_done) frame->position = frame->routine->code.count;
  return true;
}

bool step_reinit(Machine *machine) {
  const Domain *domain = machine->domain;
  const Value *pair = machine_top(machine, 2);
  if (!domain->reinit) return machine_error(machine, "reinit cannot be used here");
  if (!domain->reinit(domain->context, machine->path, &pair[0], &pair[1], machine_span(machine))) {
    machine->status = EXECUTE_ERROR;
    return false;
  }
  machine->stack.count -= 2;
  statement_end(machine);
  return true;
}
