/* machine: memory, errors, and the interface of the machine (execute.h).
 *
 * Invariant: values of the current statement live in a stack of chunks. When a statement ends, the stack is cut back to the frame's
 * mark. Values that must live longer (slots, snapshots of open ifs) raise the mark. */
#include "model/machine.h"

#include "base/format.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 16, DEPTH_DEFAULT = 2000 };
static const uint64_t STEPS_DEFAULT = UINT64_MAX, INLINING_DEFAULT = 500000;

/* Steps of work that an operation costs. */
enum { OPERATION_WORK = 8 };

/* ---- memory ---- */

ChunkMark mark_now(const Machine *machine) { return (ChunkMark){machine->chunk, machine->used}; }

bool mark_is_above(ChunkMark a, ChunkMark b) { return a.chunk != b.chunk ? a.chunk > b.chunk : a.used > b.used; }

static void mark_release(Machine *machine, ChunkMark mark) {
  machine->chunk = mark.chunk;
  machine->used = mark.used;
}

void *machine_alloc(Machine *machine, size_t bytes) {
  bytes = (bytes + 7) & ~(size_t)7;
  if (machine->chunks.count && machine->used + bytes <= machine->chunks.data[machine->chunk].size) {
    void *block = machine->chunks.data[machine->chunk].data + machine->used;
    machine->used += bytes;
    return block;
  }
  uint32_t next = machine->chunks.count ? machine->chunk + 1 : 0;
  size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
  if (next == machine->chunks.count) vec_push(machine->heap, &machine->chunks, (Chunk){0});
  Chunk *chunk = &machine->chunks.data[next];
  if (chunk->size < bytes) {
    heap_free(machine->heap, chunk->data);
    chunk->data = NULL;
    chunk->data = heap_alloc(machine->heap, size);
    chunk->size = size;
  }
  machine->chunk = next;
  machine->used = bytes;
  return chunk->data;
}

/* ---- errors ---- */

Frame *frame_top(Machine *machine) { return &vec_last(&machine->frames); }

Span machine_span(const Machine *machine) {
  if (machine->frames.count == 0) return (Span){0, 0};
  const Frame *frame = &vec_last(&machine->frames);
  return frame->position < frame->routine->spans.count ? frame->routine->spans.data[frame->position]
                                                       : frame->routine->span;
}

bool machine_may_have_left(const Machine *machine, uint32_t control) {
  for (uint32_t i = control; i < machine->control.count; i++)
    if (machine->control.data[i].breaks.count) return true;
  return false;
}

/* An error in a loop is not certain if the loop may have ended before it. In that case the function is called during the run,
 * when the conditions are known. */
bool machine_error(Machine *machine, const char *format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  format_list(text, sizeof text, format, list);
  va_end(list);
  if (machine_may_have_left(machine, 0)) return machine_lacks(machine, "%s", text);
  machine->status = EXECUTE_ERROR;
  Diag *diag = diag_error(machine->diags, DIAG_INPUT, machine_span(machine), "%s", text);
  uint32_t shown = 0;
  for (uint32_t i = machine->frames.count; i-- > 1 && shown < 4; shown++) {
    const Frame *caller = &machine->frames.data[i - 1];
    diag_note(machine->diags, diag, caller->routine->spans.data[caller->position], "in this call of `%s`",
              names_text(machine->names, machine->frames.data[i].routine->name));
  }
  return false;
}

bool machine_require(Machine *machine, const void *condition, const char *format, ...) {
  const Domain *domain = machine->domain;
  char text[128], *scalars = machine_alloc(machine, 2 * (size_t)domain->size);
  va_list list;
  va_start(list, format);
  format_list(text, sizeof text, format, list);
  va_end(list);
  domain->text(domain->context, names_add(machine->names, text, strlen(text)), scalars);
  domain->constant(domain->context, ASSERTION_ERROR, scalars + domain->size);
  if (domain->assertion(domain->context, machine->path, condition, scalars, scalars + domain->size,
                        machine_span(machine)))
    return true;
  machine->status = EXECUTE_ERROR;
  return false;
}

bool machine_unknown(Machine *machine, const char *what) {
  machine->status = EXECUTE_UNKNOWN;
  machine->obstacle = what;
  machine->obstacle_span = machine_span(machine);
  return false;
}

bool machine_lacks(Machine *machine, const char *format, const char *name) {
  char *text = machine_alloc(machine, strlen(format) + strlen(name) + 1);
  sprintf(text, format, name);
  return machine_unknown(machine, text);
}

const char *machine_obstacle(const Machine *machine, Span *where) {
  *where = machine->obstacle_span;
  return machine->obstacle ? machine->obstacle : "a condition";
}

bool machine_lacks_right(const Machine *machine) { return machine->lacks_right; }

bool machine_in_branch(const Machine *machine) { return machine->path; }

/* The number of operations that the heap's budget of work still allows. */
static uint64_t operations_left(const Machine *machine) {
  const Budget *budget = heap_budget(machine->heap);
  return (budget->most[BUDGET_WORK] - budget->used[BUDGET_WORK]) / OPERATION_WORK;
}

/* Counts the operations since the last call as work. Ends the run if they exceed the budget. */
static void pay(Machine *machine) {
  uint64_t unpaid = machine->steps - machine->paid;
  if (unpaid > operations_left(machine)) {
    Budget *budget = heap_budget(machine->heap);
    Span span = machine->frames.count ? machine_span(machine) : (Span){0};
    budget_task(budget, "evaluation of expressions and algorithms");
    budget_place(budget, span.begin, span.end);
    unpaid = UINT64_MAX / OPERATION_WORK;
  }
  heap_work(machine->heap, unpaid * OPERATION_WORK);
  machine->paid = machine->steps;
}

bool machine_charge(Machine *machine, uint64_t steps) {
  if (steps > operations_left(machine)) steps = UINT64_MAX / 2 - machine->steps;
  machine->steps += steps;
  if (machine->steps <= machine->budget) return true;
  pay(machine);
  if (!machine->is_shortened && machine->limits.steps > STEPS_AFTER_LIMIT) machine->limits.steps = STEPS_AFTER_LIMIT;
  return machine_error(machine, "a calculation of more than %llu operations is refused",
                       (unsigned long long)machine->budget);
}

const Domain *machine_domain(const Machine *machine) { return machine->domain; }
const Record *machine_record(const Machine *machine, uint32_t definition) { return &(*machine->records)[definition]; }
Names *machine_names(const Machine *machine) { return machine->names; }
void machine_set_diags(Machine *machine, Diags *diags) { machine->diags = diags; }

/* ---- stack and frames ---- */

void machine_push(Machine *machine, Value value) { vec_push(machine->heap, &machine->stack, value); }

/* The topmost `count` values. */
Value *machine_top(Machine *machine, uint32_t count) { return machine->stack.data + machine->stack.count - count; }

void machine_replace(Machine *machine, uint32_t count, Value value) {
  machine->stack.count -= count;
  machine_push(machine, value);
}

char *machine_copy_scalar(Machine *machine, const char *scalar) {
  char *copy = machine_alloc(machine, machine->domain->size);
  memcpy(copy, scalar, machine->domain->size);
  return copy;
}

/* Ends a statement and frees its values, unless some output of a call still waits to be stored. Values that must stay were
 * marked. */
void statement_end(Machine *machine) {
  if (machine->stack.count == frame_top(machine)->stack) mark_release(machine, frame_top(machine)->mark);
}

/* Everything allocated so far lives as long as the frame. */
void frame_keep(Machine *machine) {
  Frame *frame = frame_top(machine);
  frame->mark = frame->floor = mark_now(machine);
}

void frame_begin(Machine *machine, const Routine *routine, uint32_t wanted, bool is_probe) {
  Frame frame = {.routine = routine,
                 .stack = machine->stack.count,
                 .control = machine->control.count,
                 .wanted = wanted,
                 .steps = machine->steps,
                 .made = machine->domain->made ? machine->domain->made(machine->domain->context) : 0,
                 .path = machine->path,
                 .route = machine->route,
                 .effects = machine->domain->effects ? machine->domain->effects(machine->domain->context) : 0,
                 .is_probe = is_probe};
  frame.slots = machine_alloc(machine, routine->locals.count * sizeof *frame.slots);
  for (uint32_t i = 0; i < routine->locals.count; i++) frame.slots[i] = (Value){.type = {.base = TYPE_NOTHING}};
  frame.mark = frame.floor = mark_now(machine);
  vec_push(machine->heap, &machine->frames, frame);
}

bool slot_is_set(const Value *slot) { return slot->type.base != TYPE_NOTHING; }

/* ---- interface ---- */

Machine *machine_new(Heap *heap, Names *names, const Domain *domain, Routine *const *const *routines,
                     const Record *const *records, Diags *diags, Limits limits) {
  Machine *machine = heap_alloc(heap, sizeof *machine);
  *machine = (Machine){
      .heap = heap, .names = names, .domain = domain, .routines = routines, .records = records, .diags = diags};
  machine->literal_arena = arena_make(heap);
  machine->limits.steps = limits.steps ? limits.steps : STEPS_DEFAULT;
  machine->limits.inlining = limits.inlining ? limits.inlining : INLINING_DEFAULT;
  machine->limits.depth = limits.depth ? limits.depth : DEPTH_DEFAULT;
  return machine;
}

void machine_shorten(Machine *machine, uint64_t steps) { machine->shortened = steps; }

void machine_clear(Machine *machine) {
  while (machine->frames.count) {
    Frame frame = vec_pop(&machine->frames);
    vec_free(machine->heap, &frame.returns);
  }
  while (machine->control.count) {
    Control control = vec_pop(&machine->control);
    vec_free(machine->heap, &control.breaks);
  }
  machine->runs++;
  machine->stack.count = 0;
  machine->path = machine->route = NULL;
  pay(machine);
  machine->steps = machine->paid = 0;
  uint64_t left = operations_left(machine);
  machine->budget = left < machine->limits.steps ? left : machine->limits.steps;
  machine->is_shortened = machine->shortened && machine->shortened < machine->budget;
  if (machine->is_shortened) machine->budget = machine->shortened;
  machine->shortened = 0;
  machine->status = EXECUTE_OK;
  machine->obstacle = NULL;
  machine->lacks_right = false;
  mark_release(machine, (ChunkMark){0, 0});
}

void machine_free(Machine *machine) {
  machine_clear(machine);
  for (uint32_t i = 0; i < machine->chunks.count; i++) heap_free(machine->heap, machine->chunks.data[i].data);
  arena_free(&machine->literal_arena);
  vec_free(machine->heap, &machine->literals, &machine->chunks, &machine->stack, &machine->control, &machine->frames);
  heap_free(machine->heap, machine);
}

/* Does the function have outputs, and are all of them discrete? */
static bool gives_discrete_values(const Routine *routine) {
  for (uint32_t k = 0; k < routine->outputs; k++)
    if (!type_is_discrete(routine->locals.data[routine->inputs + k].type.base)) return false;
  return routine->outputs > 0;
}

const void *machine_path(const Machine *machine) { return machine->path; }

bool machine_makes_events(const Machine *machine) {
  for (uint32_t i = 1; i < machine->frames.count; i++) {
    const Routine *routine = machine->frames.data[i].routine;
    if (gives_discrete_values(routine)) return true;
    if (!routine->makes_events) return false;
  }
  return true;
}

bool machine_is_idle(const Machine *machine) { return machine->frames.count <= 1; }

const Value *machine_result(const Machine *machine, uint32_t index) { return &machine->stack.data[index]; }
const Value *machine_slot(const Machine *machine, uint32_t slot) { return &machine->frames.data[0].slots[slot]; }
const Value *machine_output(const Machine *machine, uint32_t output) {
  return machine_slot(machine, machine->frames.data[0].routine->inputs + output);
}
