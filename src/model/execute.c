/* execute: frames, control flow and the dispatch loop of the machine; array semantics are in values.c and builtins.c.
 *
 * Invariants: values of the current statement live in a stack of chunks that is cut back to the frame's mark when a
 * statement ends; what must live longer (slots, snapshots of open ifs) raises the mark. An if with a condition that is not
 * known has an entry on the control stack while its branches run; a return or break inside it is recorded with the path
 * condition under which it happens, and applied where the function or loop ends. */
#include "model/execute.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 16, DEPTH_DEFAULT = 2000 };
static const uint64_t STEPS_DEFAULT = 100000000, INLINING_DEFAULT = 3000000, ELEMENTS_DEFAULT = 50000000;

typedef struct Chunk {
  char *data;
  size_t size;
} Chunk;

/* A point in the chunk stack. */
typedef struct Mark {
  uint32_t chunk;
  size_t used;
} Mark;

/* State saved with a condition: the slots listed, under the path on which it was saved. */
typedef struct Snapshot {
  char *condition; /* NULL: always */
  Value *values;
} Snapshot;

typedef enum ControlKind { CONTROL_IF, CONTROL_IF_VALUE, CONTROL_LOOP, CONTROL_EACH, CONTROL_WHEN } ControlKind;

typedef struct Control {
  ControlKind kind;
  uint32_t begin, end;      /* positions of the statement's first and last instruction */
  uint32_t stack;           /* height of the value stack below it */
  const uint32_t *assigned; /* list of slots, count first */
  char *condition;          /* of an if */
  char *path, *route;       /* conditions outside; NULL: always */
  Value *before, *then;     /* of an if: assigned slots before it and after its first branch */
  bool in_else, then_is_dead;
  Value range;              /* of loops */
  uint32_t next;            /* next element of the range */
  Mark mark;                /* the frame's before the loop */
  VEC(Snapshot) breaks;
} Control;

typedef struct Frame {
  const Routine *routine;
  Value *slots;
  uint32_t position;   /* of the instruction that runs, or of the call that waits */
  uint32_t stack;      /* heights when it began */
  uint32_t control;
  uint32_t wanted;     /* outputs to push */
  uint64_t steps;      /* machine's count when it began */
  uint32_t effects;    /* of the domain, when it began */
  char *path, *route;
  Mark mark, floor;
  bool is_probe;       /* runs only up to CODE_BODY, to learn the sizes of the outputs */
  bool is_done;
  VEC(Snapshot) returns; /* of the outputs */
} Frame;

struct Machine {
  Heap *heap;
  Names *names;
  const Domain *domain;
  Routine *const *const *routines;
  const Record *const *records;
  Diags *diags;
  Limits limits;
  VEC(Chunk) chunks;
  uint32_t chunk;
  size_t used;
  VEC(Value) stack;
  VEC(Control) control;
  VEC(Frame) frames;
  char *path;  /* condition under which the present instruction runs; NULL: always */
  char *route; /* the same without what follows from paths that have left by break or return: those are applied first */
  uint64_t steps;
  ExecuteStatus status;
  const char *obstacle;
  Span obstacle_span;
  VEC(struct Preset {
    uint32_t slot;
    Value value;
  }) presets;
};

/* ---- memory ---- */

static Mark mark_now(const Machine *machine) { return (Mark){machine->chunk, machine->used}; }

static bool mark_is_above(Mark a, Mark b) { return a.chunk != b.chunk ? a.chunk > b.chunk : a.used > b.used; }

static void mark_release(Machine *machine, Mark mark) {
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

static Frame *frame_top(Machine *machine) { return &vec_last(&machine->frames); }

static Span present_span(const Machine *machine) {
  if (machine->frames.count == 0) return (Span){0, 0};
  const Frame *frame = &vec_last(&machine->frames);
  return frame->position < frame->routine->spans.count ? frame->routine->spans.data[frame->position] : frame->routine->span;
}

bool machine_error(Machine *machine, const char *format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  machine->status = EXECUTE_ERROR;
  Diag *diag = diag_error(machine->diags, DIAG_INPUT, present_span(machine), "%s", text);
  uint32_t shown = 0;
  for (uint32_t i = machine->frames.count; i-- > 1 && shown < 4; shown++) {
    const Frame *caller = &machine->frames.data[i - 1];
    diag_note(machine->diags, diag, caller->routine->spans.data[caller->position], "in this call of `%s`",
              names_text(machine->names, machine->frames.data[i].routine->name));
  }
  return false;
}

bool machine_unknown(Machine *machine, const char *what) {
  machine->status = EXECUTE_UNKNOWN;
  machine->obstacle = what;
  machine->obstacle_span = present_span(machine);
  return false;
}

const char *machine_obstacle(const Machine *machine, Span *where) {
  *where = machine->obstacle_span;
  return machine->obstacle ? machine->obstacle : "a condition";
}

bool machine_charge(Machine *machine, uint64_t steps) {
  machine->steps += steps;
  if (steps > machine->limits.elements)
    return machine_error(machine, "an array of more than %llu elements is refused",
                         (unsigned long long)machine->limits.elements);
  if (machine->steps > machine->limits.steps)
    return machine_error(machine, "more than %llu operations at compile time are refused",
                         (unsigned long long)machine->limits.steps);
  return true;
}

const Domain *machine_domain(const Machine *machine) { return machine->domain; }
const Record *machine_record(const Machine *machine, uint32_t definition) { return &(*machine->records)[definition]; }
Names *machine_names(const Machine *machine) { return machine->names; }
void machine_set_diags(Machine *machine, Diags *diags) { machine->diags = diags; }

/* ---- stack and frames ---- */

static void push(Machine *machine, Value value) { vec_push(machine->heap, &machine->stack, value); }

/* The topmost `count` values. */
static Value *top(Machine *machine, uint32_t count) { return machine->stack.data + machine->stack.count - count; }

static void replace(Machine *machine, uint32_t count, Value value) {
  machine->stack.count -= count;
  push(machine, value);
}

static char *copy_scalar(Machine *machine, const char *scalar) {
  char *copy = machine_alloc(machine, machine->domain->size);
  memcpy(copy, scalar, machine->domain->size);
  return copy;
}

/* Ends a statement: its values go (unless some output of a call still waits to be stored); what must stay was marked. */
static void end_statement(Machine *machine) {
  if (machine->stack.count == frame_top(machine)->stack) mark_release(machine, frame_top(machine)->mark);
}

/* Everything allocated so far stays as long as the frame. */
static void keep_memory(Machine *machine) {
  Frame *frame = frame_top(machine);
  frame->mark = frame->floor = mark_now(machine);
}

static void frame_begin(Machine *machine, const Routine *routine, uint32_t wanted, bool is_probe) {
  Frame frame = {.routine = routine,
                 .stack = machine->stack.count,
                 .control = machine->control.count,
                 .wanted = wanted,
                 .steps = machine->steps,
                 .path = machine->path,
                 .route = machine->route,
                 .effects = machine->domain->effects ? machine->domain->effects(machine->domain->context) : 0,
                 .is_probe = is_probe};
  frame.slots = machine_alloc(machine, routine->locals.count * sizeof *frame.slots);
  for (uint32_t i = 0; i < routine->locals.count; i++) frame.slots[i] = (Value){.type = {.base = TYPE_NOTHING}};
  frame.mark = frame.floor = mark_now(machine);
  vec_push(machine->heap, &machine->frames, frame);
}

static bool slot_is_set(const Value *slot) { return slot->type.base != TYPE_NOTHING; }

/* ---- conditions ---- */

/* NULL stands for true. */
static char *both(Machine *machine, char *path, const char *condition, bool is_negated) {
  const Domain *domain = machine->domain;
  char *pair = machine_alloc(machine, 2 * (size_t)domain->size), *out = machine_alloc(machine, domain->size);
  memcpy(pair + domain->size, condition, domain->size);
  if (is_negated) domain->apply(domain->context, OP_NOT, condition, 1, pair + domain->size);
  if (!path) return pair + domain->size;
  memcpy(pair, path, domain->size);
  domain->apply(domain->context, OP_AND, pair, 2, out);
  return out;
}

static Value *snapshot(Machine *machine, const uint32_t *assigned) {
  Frame *frame = frame_top(machine);
  Value *values = machine_alloc(machine, assigned[0] * sizeof *values);
  for (uint32_t i = 0; i < assigned[0]; i++) values[i] = value_copy(machine, &frame->slots[assigned[1 + i]]);
  return values;
}

static void restore(Machine *machine, const uint32_t *assigned, const Value *values) {
  Frame *frame = frame_top(machine);
  for (uint32_t i = 0; i < assigned[0]; i++) frame->slots[assigned[1 + i]] = value_copy(machine, &values[i]);
}

/* slot = if condition then other else slot, for each slot; what only one side has set is taken from there. */
static bool merge(Machine *machine, const uint32_t *assigned, const char *condition, const Value *other) {
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

static const uint32_t *list_at(const Frame *frame, uint32_t position) { return frame->routine->extra.data + position; }

/* The snapshots taken at breaks or returns, the last first, so that the first one wins where several hold. */
static bool apply_snapshots(Machine *machine, const Snapshot *list, uint32_t count, const uint32_t *assigned) {
  for (uint32_t i = count; i-- > 0;)
    if (!merge(machine, assigned, list[i].condition, list[i].values)) return false;
  return true;
}

/* ---- values ---- */

static BaseType number_base(const Value *values, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (values[i].type.base != TYPE_INTEGER) return (BaseType)values[i].type.base;
  return TYPE_INTEGER;
}

static Type result_type(Op op, const Value *arguments, uint32_t count) {
  Type type = count ? arguments[count > 1 && (op == OP_SMOOTH || op == OP_IF) ? 1 : 0].type : (Type){0};
  switch (op_kind(op)) {
  case KIND_RELATION: type.base = TYPE_BOOLEAN; return type;
  case KIND_LOGIC:
    if (op != OP_IF) type.base = TYPE_BOOLEAN;
    return type;
  case KIND_LANGUAGE:
    if (op == OP_EDGE || op == OP_CHANGE || op == OP_SAMPLE || op == OP_INITIAL || op == OP_TERMINAL) type.base = TYPE_BOOLEAN;
    return type;
  default: break;
  }
  if (op == OP_SIGN || op == OP_INTEGER) type.base = TYPE_INTEGER;
  else if (op == OP_ABS || op == OP_MIN || op == OP_MAX || op == OP_DIV || op == OP_MOD || op == OP_REM)
    type.base = (uint8_t)number_base(arguments, count);
  else type.base = TYPE_REAL;
  return type;
}

static bool run_apply(Machine *machine, Op op, uint32_t count) {
  Value out;
  const Value *arguments = top(machine, count);
  if (!value_apply(machine, op, result_type(op, arguments, count), arguments, count, &out)) return false;
  replace(machine, count, out);
  return true;
}

static bool run_compare(Machine *machine, Op op) {
  const Domain *domain = machine->domain;
  const Value *pair = top(machine, 2);
  double a, b;
  if (pair[0].type.base != TYPE_STRING || !domain->known(domain->context, pair[0].data, &a) ||
      !domain->known(domain->context, pair[1].data, &b))
    return run_apply(machine, op, 2);
  int order = strcmp(names_text(machine->names, (Name)a), names_text(machine->names, (Name)b));
  double sign[2] = {order, 0}, truth = 0;
  op_evaluate(op, sign, &truth);
  replace(machine, 2, value_scalar(machine, TYPE_BOOLEAN, truth));
  return true;
}

static bool run_sum(Machine *machine, uint32_t count, const uint32_t *signs) {
  Value out;
  const Value *terms = top(machine, count);
  Type type = terms[0].type;
  type.base = (uint8_t)number_base(terms, count);
  if (!value_sum(machine, signs, type, terms, count, &out)) return false;
  replace(machine, count, out);
  return true;
}

static bool run_each_sum(Machine *machine, bool is_minus) {
  const Domain *domain = machine->domain;
  const Value *pair = top(machine, 2);
  if (pair[0].type.dimensions == pair[1].type.dimensions) return run_sum(machine, 2, (const uint32_t[]){is_minus ? 2 : 0});
  /* A scalar goes with every element: spread it. */
  const Value *shape = pair[0].type.dimensions ? &pair[0] : &pair[1], *scalar = pair[0].type.dimensions ? &pair[1] : &pair[0];
  Value spread;
  Type type = scalar->type;
  type.dimensions = shape->type.dimensions;
  if (!value_make_checked(machine, type, shape->sizes, &spread)) return false;
  for (uint32_t i = 0; i < spread.count; i++) memcpy(spread.data + (size_t)i * domain->size, scalar->data, domain->size);
  *top(machine, shape == &pair[0] ? 1 : 2) = spread;
  return run_sum(machine, 2, (const uint32_t[]){is_minus ? 2 : 0});
}

static bool run_product(Machine *machine, Code code, bool is_each) {
  Value out, *pair = top(machine, 2);
  Type type = pair[0].type;
  type.base = (uint8_t)number_base(pair, 2);
  Op op = code == CODE_MULTIPLY ? OP_MULTIPLY : code == CODE_DIVIDE ? OP_DIVIDE : OP_POWER;
  if (op != OP_MULTIPLY) type.base = TYPE_REAL;
  bool fits;
  if (is_each) fits = value_apply(machine, op, type, pair, 2, &out);
  else if (code == CODE_MULTIPLY) fits = value_multiply(machine, type, &pair[0], &pair[1], &out);
  else if (code == CODE_POWER) fits = value_power(machine, type, &pair[0], &pair[1], &out);
  else fits = value_apply(machine, op, type, pair, 2, &out);
  if (fits) replace(machine, 2, out);
  return fits;
}

static bool run_special(Machine *machine, Special special, uint32_t count, Span span) {
  const Domain *domain = machine->domain;
  static const uint8_t base[SPECIAL_COUNT] = {
      [SPECIAL_EDGE] = TYPE_BOOLEAN,   [SPECIAL_CHANGE] = TYPE_BOOLEAN,   [SPECIAL_INITIAL] = TYPE_BOOLEAN,
      [SPECIAL_SAMPLE] = TYPE_BOOLEAN, [SPECIAL_TERMINAL] = TYPE_BOOLEAN, [SPECIAL_DER] = TYPE_REAL,
  };
  if (!domain->special) return machine_error(machine, "this operator cannot be used in a function");
  const Value *arguments = top(machine, count);
  Type type = {.base = base[special]};
  if (count) type = arguments[0].type;
  if (special != SPECIAL_PRE && special != SPECIAL_DELAY) type.base = base[special];
  Value out;
  uint32_t size = domain->size;
  if (!value_make_checked(machine, type, count ? arguments[0].sizes : NULL, &out)) return false;
  char *scalars = machine_alloc(machine, (size_t)count * size);
  for (uint32_t i = 0; i < out.count; i++) {
    for (uint32_t k = 0; k < count; k++)
      memcpy(scalars + (size_t)k * size, arguments[k].data + (arguments[k].type.dimensions ? (size_t)i * size : 0), size);
    if (!domain->special(domain->context, special, scalars, count, span, out.data + (size_t)i * size)) {
      machine->status = EXECUTE_ERROR;
      return false;
    }
  }
  replace(machine, count, out);
  return true;
}

static bool run_record(Machine *machine, uint32_t definition) {
  const Record *record = machine_record(machine, definition);
  uint32_t count = record->fields.count;
  Value out = {.type = {.base = TYPE_RECORD, .definition = definition}, .count = 1};
  out.fields = machine_alloc(machine, count * sizeof *out.fields);
  for (uint32_t i = 0; i < count; i++) {
    out.fields[i] = top(machine, count)[i];
    out.fields[i].type.base = record->fields.data[i].type.base;
    for (uint32_t k = 0; k < record->fields.data[i].type.dimensions; k++)
      if (record->fields.data[i].sizes[k] != UINT32_MAX && record->fields.data[i].sizes[k] != out.fields[i].sizes[k])
        return machine_error(machine, "field `%s` of record `%s` has the wrong size: %s",
                             names_text(machine->names, record->fields.data[i].name), names_text(machine->names, record->name),
                             value_sizes_text(machine, &out.fields[i]));
  }
  replace(machine, count, out);
  return true;
}

static bool run_range(Machine *machine, bool has_step) {
  Value out, *v = top(machine, has_step ? 3 : 2);
  if (!value_range(machine, &v[0], has_step ? &v[1] : NULL, &v[has_step ? 2 : 1], &out)) return false;
  replace(machine, has_step ? 3 : 2, out);
  return true;
}

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
static void frame_end(Machine *machine) {
  Frame frame = vec_pop(&machine->frames);
  for (uint32_t i = frame.control; i < machine->control.count; i++) vec_free(machine->heap, &machine->control.data[i].breaks);
  machine->control.count = frame.control;
  machine->stack.count = frame.stack;
  machine->path = frame.path;
  machine->route = frame.route;
  vec_free(machine->heap, &frame.returns);
  for (uint32_t i = 0; i < frame.wanted; i++) push(machine, frame.slots[frame.routine->inputs + i]);
}

/* In a probe, as soon as the sizes of the outputs are settled, the domain gives them their values. */
static bool probe_finish(Machine *machine, bool is_last) {
  Frame *frame = frame_top(machine);
  const Routine *routine = frame->routine;
  if (!frame->is_probe) return true;
  for (uint32_t i = 0; i < routine->inputs + routine->outputs; i++)
    if (!slot_is_set(&frame->slots[i]) && !is_last) return true;
  for (uint32_t i = 0; i < routine->outputs; i++)
    if (routine->locals.data[routine->inputs + i].is_free) {
      machine_unknown(machine, "the size of an output");
      return machine_error(machine, "the size of output `%s` of function `%s` is not known before it runs",
                           names_text(machine->names, routine->locals.data[routine->inputs + i].name),
                           names_text(machine->names, routine->name));
    }
  const Frame *caller = &machine->frames.data[machine->frames.count - 2];
  Span span = caller->routine->spans.data[caller->position];
  if (!machine->domain->call(machine->domain->context, routine, frame->slots, frame->slots + routine->inputs, span)) {
    machine->status = EXECUTE_ERROR;
    return false;
  }
  frame_end(machine);
  return true;
}

static bool run_declare(Machine *machine, uint32_t number, uint32_t count) {
  Frame *frame = frame_top(machine);
  const Local *local = &frame->routine->locals.data[number];
  const Value *sizes = top(machine, count);
  uint32_t list[TYPE_MAX_DIMENSIONS];
  if (slot_is_set(&frame->slots[number])) {
    if (!declare_input(machine, local, &frame->slots[number], sizes, count)) return false;
    keep_memory(machine);
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
    keep_memory(machine);
  }
  machine->stack.count -= count;
  return probe_finish(machine, false);
}

/* The value becomes the slot's: into its memory where it fits, else into new memory that stays. */
static bool store_whole(Machine *machine, uint32_t number, const Value *value) {
  Frame *frame = frame_top(machine);
  const Local *local = &frame->routine->locals.data[number];
  Value *slot = &frame->slots[number];
  if (slot_is_set(slot) && slot->type.base != TYPE_RECORD && value_same_sizes(slot, value)) {
    value_assign(machine, slot, value);
    return true;
  }
  if (slot_is_set(slot) && !local->is_free && !value_same_sizes(slot, value))
    return machine_error(machine, "sizes differ: `%s` is %s, the value assigned is %s", names_text(machine->names, local->name),
                         value_sizes_text(machine, slot), value_sizes_text(machine, value));
  *slot = value_copy(machine, value);
  slot->type.base = local->type.base;
  keep_memory(machine);
  return true;
}

/* The place that the steps lead to, with the subscripts of all steps in one list. */
static bool run_store(Machine *machine, const uint32_t *place) {
  Frame *frame = frame_top(machine);
  uint32_t steps = place[1], total = 0, used = 0, count = 0;
  for (uint32_t i = 0; i < steps; i++)
    if (place[2 + 2 * i] == STEP_INDEX) total += place[3 + 2 * i];
  const Value *subscripts = top(machine, total), value = top(machine, total + 1)[0];
  if (steps == 0) {
    if (!store_whole(machine, place[0], &value)) return false;
  } else {
    Value *target = &frame->slots[place[0]], list[TYPE_MAX_DIMENSIONS];
    uint32_t dimensions = target->type.dimensions;
    if (!slot_is_set(target)) return machine_error(machine, "`%s` is assigned in part before it has a size",
                                                   names_text(machine->names, frame->routine->locals.data[place[0]].name));
    for (uint32_t i = 0; i < steps; i++) {
      if (place[2 + 2 * i] == STEP_INDEX) {
        for (uint32_t k = 0; k < place[3 + 2 * i] && count < TYPE_MAX_DIMENSIONS; k++) list[count++] = subscripts[used++];
        continue;
      }
      /* Dimensions of the record that had no subscript: all of them. */
      while (count < dimensions) list[count++] = (Value){.type = {.base = TYPE_NOTHING}};
      target = &target->fields[place[3 + 2 * i]];
      dimensions = target->type.dimensions;
    }
    bool is_free_field = target->type.base != TYPE_RECORD && count == 0 && !value_same_sizes(target, &value);
    if (is_free_field && target->count == 0) {
      *target = value_copy(machine, &value);
      keep_memory(machine);
    } else if (!value_store(machine, target, list, count, &value)) {
      return false;
    }
  }
  machine->stack.count -= total + 1;
  end_statement(machine);
  return true;
}

/* ---- leaving early ---- */

typedef enum Leaving { LEAVE_BREAK, LEAVE_RETURN, LEAVE_DEAD } Leaving;

static uint32_t *output_list(Machine *machine, const Routine *routine) {
  uint32_t *list = machine_alloc(machine, (routine->outputs + 1) * sizeof *list);
  list[0] = routine->outputs;
  for (uint32_t i = 0; i < routine->outputs; i++) list[1 + i] = routine->inputs + i;
  return list;
}

/* The loop on top of the control stack is over: applies its breaks and goes on behind it. */
static bool loop_finish(Machine *machine, bool is_dead) {
  Frame *frame = frame_top(machine);
  Control loop = vec_last(&machine->control);
  uint32_t count = loop.breaks.count;
  if (is_dead) restore(machine, loop.assigned, loop.breaks.data[--count].values);
  if (!apply_snapshots(machine, loop.breaks.data, count, loop.assigned)) return false;
  machine->path = loop.path;
  machine->route = loop.route;
  machine->stack.count = loop.stack;
  machine->control.count--;
  frame->position = loop.end;
  if (loop.breaks.count) keep_memory(machine);
  frame->mark = mark_is_above(frame->floor, loop.mark) ? frame->floor : loop.mark;
  vec_free(machine->heap, &loop.breaks);
  return true;
}

/* What is at the present point is never reached: goes on where another path continues: the other branch of the innermost
 * open if, behind a loop that some path has left, or the end of the function. */
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
      restore(machine, control->assigned, control->then);
      keep_memory(machine);
      frame->position = control->end;
      machine->path = both(machine, control->path, control->condition, false);
      machine->route = control->route;
      keep_memory(machine);
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

static bool run_break(Machine *machine) {
  Control *loop = innermost_loop(machine);
  if (!loop) return machine_error(machine, "break outside of a loop");
  if (!open_if_above(machine, loop)) {
    machine->control.count = (uint32_t)(loop - machine->control.data) + 1;
    return loop_finish(machine, false);
  }
  Snapshot saved = {machine->route, snapshot(machine, loop->assigned)};
  vec_push(machine->heap, &loop->breaks, saved);
  keep_memory(machine);
  return leave_dead(machine);
}

static bool run_return(Machine *machine) {
  Frame *frame = frame_top(machine);
  if (!open_if_above(machine, NULL)) {
    frame->is_done = true;
    return true;
  }
  uint32_t *outputs = output_list(machine, frame->routine);
  Snapshot saved = {machine->route, snapshot(machine, outputs)};
  vec_push(machine->heap, &frame->returns, saved);
  keep_memory(machine);
  return leave_dead(machine);
}

/* ---- if ---- */

static bool run_if(Machine *machine, Instruction instruction) {
  const Domain *domain = machine->domain;
  Frame *frame = frame_top(machine);
  Value condition = vec_pop(&machine->stack);
  double truth;
  if (domain->known(domain->context, condition.data, &truth)) {
    if (truth == 0) frame->position = instruction.b;
    end_statement(machine);
    return true;
  }
  uint32_t end = frame->routine->code.data[instruction.b].b;
  Control control = {.kind = CONTROL_IF,
                     .begin = instruction.b,
                     .end = end,
                     .stack = machine->stack.count,
                     .assigned = list_at(frame, frame->routine->code.data[end].b),
                     .path = machine->path,
                     .route = machine->route};
  control.condition = copy_scalar(machine, condition.data);
  control.before = snapshot(machine, control.assigned);
  machine->path = both(machine, machine->path, control.condition, false);
  machine->route = both(machine, machine->route, control.condition, false);
  keep_memory(machine);
  vec_push(machine->heap, &machine->control, control);
  return true;
}

/* The open if whose ELSE or END_IF is at `position`, if the present one is open. */
static Control *open_if(Machine *machine, ControlKind kind, uint32_t begin) {
  Frame *frame = frame_top(machine);
  if (machine->control.count == frame->control) return NULL;
  Control *control = &vec_last(&machine->control);
  return control->kind == kind && (control->begin == begin || control->end == begin) ? control : NULL;
}

static bool run_else(Machine *machine, Instruction instruction) {
  Frame *frame = frame_top(machine);
  Control *control = open_if(machine, CONTROL_IF, frame->position);
  if (!control) {
    frame->position = instruction.b;
    return true;
  }
  if (!control->then_is_dead) control->then = snapshot(machine, control->assigned);
  restore(machine, control->assigned, control->before);
  machine->path = both(machine, control->path, control->condition, true);
  machine->route = control->then_is_dead ? control->route : both(machine, control->route, control->condition, true);
  control->in_else = true;
  keep_memory(machine);
  return true;
}

static bool run_end_if(Machine *machine) {
  Frame *frame = frame_top(machine);
  Control *control = open_if(machine, CONTROL_IF, frame->position);
  if (!control || !control->in_else) return true;
  if (!control->then_is_dead) {
    if (!merge(machine, control->assigned, control->condition, control->then)) return false;
    machine->path = control->path;
  }
  machine->route = control->route;
  machine->control.count--;
  keep_memory(machine);
  return true;
}

static bool run_if_value(Machine *machine, Instruction instruction) {
  const Domain *domain = machine->domain;
  Frame *frame = frame_top(machine);
  Value condition = vec_pop(&machine->stack);
  double truth;
  if (domain->known(domain->context, condition.data, &truth)) {
    if (truth == 0) frame->position = instruction.b;
    return true;
  }
  Control control = {.kind = CONTROL_IF_VALUE,
                     .begin = instruction.b,
                     .end = frame->routine->code.data[instruction.b].b,
                     .stack = machine->stack.count,
                     .condition = copy_scalar(machine, condition.data),
                     .path = machine->path};
  machine->path = both(machine, machine->path, control.condition, false);
  vec_push(machine->heap, &machine->control, control);
  return true;
}

static bool run_else_value(Machine *machine, Instruction instruction) {
  Frame *frame = frame_top(machine);
  Control *control = open_if(machine, CONTROL_IF_VALUE, frame->position);
  if (!control) frame->position = instruction.b;
  else machine->path = both(machine, control->path, control->condition, true);
  return true;
}

static bool run_end_value(Machine *machine) {
  Control *control = open_if(machine, CONTROL_IF_VALUE, frame_top(machine)->position);
  if (!control) return true;
  Value out, *pair = top(machine, 2);
  if (!value_select(machine, control->condition, &pair[0], &pair[1], &out)) return false;
  machine->path = control->path;
  machine->control.count--;
  replace(machine, 2, out);
  return true;
}

static bool run_skip(Machine *machine, Instruction instruction) {
  const Domain *domain = machine->domain;
  const Value *value = top(machine, 1);
  double truth;
  if (value->type.dimensions == 0 && domain->known(domain->context, value->data, &truth) &&
      (truth != 0) == (instruction.code == CODE_SKIP_TRUE))
    frame_top(machine)->position = instruction.b - 1;
  return true;
}

/* ---- loops ---- */

/* Element `next` of the range into the loop slot. */
static void loop_element(Machine *machine, Control *loop, uint32_t slot) {
  Frame *frame = frame_top(machine);
  size_t each = (size_t)(loop->range.sizes[0] ? loop->range.count / loop->range.sizes[0] : 0) * machine->domain->size;
  Value value = loop->range;
  value.type.dimensions--;
  value.sizes++;
  value.count = (uint32_t)(each / machine->domain->size);
  value.data += each * loop->next++;
  frame->slots[slot] = value;
}

static bool run_for(Machine *machine, Instruction instruction, const uint32_t *assigned) {
  Frame *frame = frame_top(machine);
  Control loop = {.kind = CONTROL_LOOP,
                  .begin = frame->position,
                  .end = instruction.b,
                  .stack = machine->stack.count - 1,
                  .assigned = assigned,
                  .path = machine->path,
                  .route = machine->route,
                  .mark = frame->mark,
                  .range = value_copy(machine, top(machine, 1))};
  machine->stack.count--;
  frame->mark = mark_now(machine);
  vec_push(machine->heap, &machine->control, loop);
  if (loop.range.sizes[0] == 0) return loop_finish(machine, false);
  loop_element(machine, &vec_last(&machine->control), instruction.a);
  return true;
}

/* The control entry of the loop that ends here; entries of ifs inside are gone by now. */
static bool run_end_for(Machine *machine, Instruction instruction) {
  Frame *frame = frame_top(machine);
  Control *loop = &vec_last(&machine->control);
  if (!machine_charge(machine, 1)) return false;
  if (loop->next == loop->range.sizes[0]) return loop_finish(machine, false);
  loop_element(machine, loop, frame->routine->code.data[instruction.b].a);
  frame->position = instruction.b;
  return true;
}

static bool run_while(Machine *machine, Instruction instruction, const uint32_t *assigned) {
  Control loop = {.kind = CONTROL_LOOP,
                  .begin = frame_top(machine)->position,
                  .end = instruction.b,
                  .stack = machine->stack.count,
                  .assigned = assigned,
                  .path = machine->path,
                  .route = machine->route,
                  .mark = frame_top(machine)->mark};
  vec_push(machine->heap, &machine->control, loop);
  return true;
}

static bool run_while_test(Machine *machine) {
  const Domain *domain = machine->domain;
  Value condition = vec_pop(&machine->stack);
  double truth;
  if (!domain->known(domain->context, condition.data, &truth)) return machine_unknown(machine, "the condition of a while loop");
  end_statement(machine);
  return truth != 0 || loop_finish(machine, false);
}

static bool run_each(Machine *machine, Instruction instruction) {
  Frame *frame = frame_top(machine);
  Control loop = {.kind = CONTROL_EACH, .begin = frame->position, .end = instruction.b, .range = *top(machine, 1)};
  machine->stack.count--;
  loop.stack = machine->stack.count;
  vec_push(machine->heap, &machine->control, loop);
  if (loop.range.sizes[0] == 0) frame->position = instruction.b - 1;
  else loop_element(machine, &vec_last(&machine->control), instruction.a);
  return true;
}

static bool run_each_next(Machine *machine, Instruction instruction) {
  Frame *frame = frame_top(machine);
  Control *loop = &vec_last(&machine->control);
  if (!machine_charge(machine, 1)) return false;
  if (loop->next < loop->range.sizes[0]) {
    loop_element(machine, loop, frame->routine->code.data[instruction.b].a);
    frame->position = instruction.b;
    return true;
  }
  uint32_t count = machine->stack.count - loop->stack;
  Value out;
  if (!value_array(machine, top(machine, count), count, (BaseType)instruction.a, &out)) return false;
  machine->control.count--;
  replace(machine, count, out);
  return true;
}

/* ---- calls ---- */

static bool routine_is_active(const Machine *machine, const Routine *routine) {
  for (uint32_t i = 1; i < machine->frames.count; i++)
    if (machine->frames.data[i].routine == routine) return true;
  return false;
}

static bool run_call(Machine *machine, Instruction instruction) {
  const Frame *caller = frame_top(machine);
  const uint32_t *call = list_at(caller, instruction.b), count = instruction.a;
  const Routine *routine = (*machine->routines)[call[0]];
  if (routine->is_broken) {
    machine->status = EXECUTE_ERROR;
    return false;
  }
  if (machine->frames.count > machine->limits.depth)
    return machine_error(machine, "calls are nested deeper than %u: `%s` calls itself without end", machine->limits.depth,
                         names_text(machine->names, routine->name));
  if (machine->path && machine->domain->call && routine_is_active(machine, routine))
    return machine_unknown(machine, "a condition on which a recursion ends");
  Value *arguments = machine_alloc(machine, count * sizeof *arguments);
  memcpy(arguments, top(machine, count), count * sizeof *arguments);
  machine->stack.count -= count;
  frame_begin(machine, routine, call[1], false);
  for (uint32_t i = 0; i < count; i++) {
    Value *slot = &frame_top(machine)->slots[call[2 + i]];
    *slot = arguments[i];
    slot->type.base = routine->locals.data[call[2 + i]].type.base;
  }
  frame_top(machine)->position = UINT32_MAX;
  return true;
}

static bool frame_finish(Machine *machine) {
  Frame *frame = frame_top(machine);
  if (frame->returns.count) {
    const uint32_t *outputs = output_list(machine, frame->routine);
    uint32_t count = frame->returns.count;
    if (frame->is_done) restore(machine, outputs, frame->returns.data[--count].values);
    if (!apply_snapshots(machine, frame->returns.data, count, outputs)) return false;
  }
  for (uint32_t i = 0; i < frame->routine->outputs; i++)
    if (!slot_is_set(&frame->slots[frame->routine->inputs + i]))
      return machine_error(machine, "output `%s` of function `%s` is not assigned",
                           names_text(machine->names, frame->routine->locals.data[frame->routine->inputs + i].name),
                           names_text(machine->names, frame->routine->name));
  if (machine->frames.count > 1) frame_end(machine);
  return true;
}

/* Something is not known: the innermost function that can be handed over as a call is; its inputs are still in its slots. */
static bool recover(Machine *machine) {
  if (machine->status != EXECUTE_UNKNOWN || !machine->domain->call) return false;
  while (machine->frames.count > 1 && frame_top(machine)->is_probe) frame_end(machine);
  if (machine->frames.count < 2) return false;
  Frame *frame = frame_top(machine);
  for (uint32_t i = frame->control; i < machine->control.count; i++) vec_free(machine->heap, &machine->control.data[i].breaks);
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

static bool run_assert(Machine *machine) {
  const Domain *domain = machine->domain;
  const Value *v = top(machine, 3);
  double truth, level = 1, message;
  bool is_known = domain->known(domain->context, v[0].data, &truth);
  domain->known(domain->context, v[2].data, &level);
  if (is_known && truth != 0) goto done;
  if (is_known && !machine->path && level == 1 && !domain->assertion) {
    const char *text = domain->known(domain->context, v[1].data, &message) ? names_text(machine->names, (Name)message) : "";
    return machine_error(machine, "assertion failed: %s", text);
  }
  if (domain->assertion &&
      !domain->assertion(domain->context, machine->path, v[0].data, v[1].data, v[2].data, present_span(machine))) {
    machine->status = EXECUTE_ERROR;
    return false;
  }
done:
  machine->stack.count -= 3;
  end_statement(machine);
  return true;
}

static bool run_terminate(Machine *machine) {
  const Domain *domain = machine->domain;
  if (!domain->terminate) return machine_error(machine, "terminate cannot be used here");
  if (!domain->terminate(domain->context, machine->path, top(machine, 1)->data, present_span(machine))) {
    machine->status = EXECUTE_ERROR;
    return false;
  }
  machine->stack.count--;
  end_statement(machine);
  return true;
}

static bool run_reinit(Machine *machine) {
  const Domain *domain = machine->domain;
  const Value *pair = top(machine, 2);
  if (!domain->reinit) return machine_error(machine, "reinit cannot be used here");
  if (!domain->reinit(domain->context, machine->path, &pair[0], &pair[1], present_span(machine))) {
    machine->status = EXECUTE_ERROR;
    return false;
  }
  machine->stack.count -= 2;
  end_statement(machine);
  return true;
}

/* ---- when ---- */

static bool run_when(Machine *machine, Instruction instruction) {
  const Domain *domain = machine->domain;
  Frame *frame = frame_top(machine);
  if (!domain->when_begin) return machine_error(machine, "when cannot be used here");
  if (machine->path) return machine_error(machine, "not supported yet: when inside of if");
  Value condition = value_copy(machine, top(machine, 1));
  machine->stack.count--;
  if (!domain->when_begin(domain->context, instruction.a != 0, &condition, present_span(machine))) {
    machine->status = EXECUTE_ERROR;
    return false;
  }
  if (instruction.a == 0) return true;
  uint32_t end = instruction.b;
  while (frame->routine->code.data[end].code != CODE_END_WHEN) end = frame->routine->code.data[end].b;
  Control control = {.kind = CONTROL_WHEN, .begin = frame->position, .end = end, .stack = machine->stack.count};
  control.assigned = list_at(frame, frame->routine->code.data[end].b);
  control.before = snapshot(machine, control.assigned);
  keep_memory(machine);
  vec_push(machine->heap, &machine->control, control);
  return true;
}

/* A branch of the when is over: what it assigned becomes actions, and the slots are as before it. */
static bool run_when_branch(Machine *machine) {
  const Domain *domain = machine->domain;
  Frame *frame = frame_top(machine);
  Control *control = &vec_last(&machine->control);
  for (uint32_t i = 0; i < control->assigned[0]; i++) {
    uint32_t slot = control->assigned[1 + i];
    if (!domain->when_assign(domain->context, slot, &control->before[i], &frame->slots[slot], present_span(machine))) {
      machine->status = EXECUTE_ERROR;
      return false;
    }
  }
  restore(machine, control->assigned, control->before);
  keep_memory(machine);
  return true;
}

static bool run_end_when(Machine *machine) {
  Frame *frame = frame_top(machine);
  if (!run_when_branch(machine)) return false;
  Control *control = &vec_last(&machine->control);
  for (uint32_t i = 0; i < control->assigned[0]; i++)
    machine->domain->when_settle(machine->domain->context, control->assigned[1 + i], &frame->slots[control->assigned[1 + i]]);
  machine->domain->when_end(machine->domain->context);
  machine->control.count--;
  return true;
}

/* ---- the loop ---- */

static bool push_number(Machine *machine, BaseType base, double number) {
  push(machine, value_scalar(machine, base, number));
  return true;
}

static bool push_text(Machine *machine, Name text) {
  const Domain *domain = machine->domain;
  Value value = {.type = {.base = TYPE_STRING}, .count = 1, .data = machine_alloc(machine, domain->size)};
  domain->text(domain->context, text, value.data);
  push(machine, value);
  return true;
}

static bool push_literal(Machine *machine, uint32_t number, uint32_t enumeration) {
  Value value = value_scalar(machine, TYPE_ENUMERATION, number);
  value.type.definition = enumeration;
  push(machine, value);
  return true;
}

static bool push_local(Machine *machine, uint32_t slot) {
  const Frame *frame = frame_top(machine);
  if (!slot_is_set(&frame->slots[slot]))
    return machine_error(machine, "`%s` is used before it has a value",
                         names_text(machine->names, frame->routine->locals.data[slot].name));
  push(machine, frame->slots[slot]);
  return true;
}

static bool push_global(Machine *machine, uint32_t component, Span span) {
  Value value;
  ExecuteStatus status = machine->domain->global(machine->domain->context, component, false, span, &value);
  if (status == EXECUTE_OK) push(machine, value);
  else if (status == EXECUTE_UNKNOWN) machine_unknown(machine, "a variable");
  else machine->status = status;
  return status == EXECUTE_OK;
}

static bool push_sizes(Machine *machine, uint32_t component, Span span) {
  Value value, out;
  ExecuteStatus status = machine->domain->global(machine->domain->context, component, true, span, &value);
  if (status != EXECUTE_OK) {
    machine->status = status;
    return false;
  }
  if (!builtin_run(machine, BUILTIN_SIZE, &value, 1, &out)) return false;
  push(machine, out);
  return true;
}

static bool run_bind(Machine *machine, uint32_t slot) {
  frame_top(machine)->slots[slot] = vec_pop(&machine->stack);
  return true;
}

static bool run_index(Machine *machine, uint32_t count) {
  Value out, *v = top(machine, count + 1);
  if (!value_index(machine, &v[0], &v[1], count, &out)) return false;
  replace(machine, count + 1, out);
  return true;
}

static bool run_collect(Machine *machine, Instruction instruction) {
  Value out, *v = top(machine, instruction.b);
  bool fits = instruction.code == CODE_ARRAY ? value_array(machine, v, instruction.b, TYPE_REAL, &out)
                                             : builtin_matrix(machine, v, instruction.b, instruction.a, &out);
  if (fits) replace(machine, instruction.b, out);
  return fits;
}

static bool run_builtin(Machine *machine, Instruction instruction) {
  Value out;
  if (!builtin_run(machine, (Builtin)instruction.b, top(machine, instruction.a), instruction.a, &out)) return false;
  replace(machine, instruction.a, out);
  return true;
}

static bool run_convert(Machine *machine, BaseType base) {
  top(machine, 1)->type.base = (uint8_t)base;
  return true;
}

static bool run_field(Machine *machine, uint32_t field) {
  Value value = top(machine, 1)->fields[field];
  *top(machine, 1) = value;
  return true;
}

static bool run_default(Machine *machine, Instruction instruction) {
  Frame *frame = frame_top(machine);
  if (slot_is_set(&frame->slots[instruction.a])) frame->position = instruction.b - 1;
  return true;
}

static bool run_drop(Machine *machine, uint32_t count) {
  machine->stack.count -= count;
  end_statement(machine);
  return true;
}

static bool step(Machine *machine, Instruction i) {
  Frame *frame = frame_top(machine);
  switch ((Code)i.code) {
  case CODE_CONSTANT: return push_number(machine, (BaseType)i.a, frame->routine->constants.data[i.b]);
  case CODE_LITERAL: return push_literal(machine, i.a, i.b);
  case CODE_STRING: return push_text(machine, i.b);
  case CODE_LOCAL: return push_local(machine, i.b);
  case CODE_GLOBAL: return push_global(machine, i.b, present_span(machine));
  case CODE_SIZES: return push_sizes(machine, i.b, present_span(machine));
  case CODE_BIND: return run_bind(machine, i.b);
  case CODE_ALL: push(machine, (Value){.type = {.base = TYPE_NOTHING}}); return true;
  case CODE_FIELD: return run_field(machine, i.b);
  case CODE_INDEX: return run_index(machine, i.b);
  case CODE_ARRAY:
  case CODE_MATRIX: return run_collect(machine, i);
  case CODE_RANGE: return run_range(machine, i.a != 0);
  case CODE_RECORD: return run_record(machine, i.b);
  case CODE_SUM: return run_sum(machine, i.a, list_at(frame, i.b));
  case CODE_MULTIPLY:
  case CODE_DIVIDE:
  case CODE_POWER: return run_product(machine, (Code)i.code, i.a != 0);
  case CODE_ADD_EACH: return run_each_sum(machine, false);
  case CODE_SUBTRACT_EACH: return run_each_sum(machine, true);
  case CODE_COMPARE: return run_compare(machine, (Op)i.a);
  case CODE_APPLY: return run_apply(machine, (Op)i.b, i.a);
  case CODE_SKIP_FALSE:
  case CODE_SKIP_TRUE: return run_skip(machine, i);
  case CODE_BUILTIN: return run_builtin(machine, i);
  case CODE_SPECIAL: return run_special(machine, (Special)i.b, i.a, present_span(machine));
  case CODE_CONVERT: return run_convert(machine, (BaseType)i.a);
  case CODE_CALL: return run_call(machine, i);
  case CODE_DROP: return run_drop(machine, i.a);
  case CODE_IF_VALUE: return run_if_value(machine, i);
  case CODE_ELSE_VALUE: return run_else_value(machine, i);
  case CODE_END_VALUE: return run_end_value(machine);
  case CODE_EACH: return run_each(machine, i);
  case CODE_EACH_NEXT: return run_each_next(machine, i);
  case CODE_DECLARE: return run_declare(machine, i.b, i.a);
  case CODE_DEFAULT: return run_default(machine, i);
  case CODE_BODY: return probe_finish(machine, true);
  case CODE_STORE: return run_store(machine, list_at(frame, i.b));
  case CODE_IF: return run_if(machine, i);
  case CODE_ELSE: return run_else(machine, i);
  case CODE_END_IF: return run_end_if(machine);
  case CODE_LOOP: return true;
  case CODE_FOR: return run_for(machine, i, list_at(frame, frame->routine->code.data[i.b - 1].b));
  case CODE_END_FOR: return run_end_for(machine, i);
  case CODE_WHILE: return run_while(machine, i, list_at(frame, frame->routine->code.data[i.b - 1].b));
  case CODE_WHILE_TEST: return run_while_test(machine);
  case CODE_END_WHILE: frame->position = i.b; return machine_charge(machine, 1);
  case CODE_BREAK: return run_break(machine);
  case CODE_RETURN: return run_return(machine);
  case CODE_ASSERT: return run_assert(machine);
  case CODE_TERMINATE: return run_terminate(machine);
  case CODE_WHEN: return run_when(machine, i);
  case CODE_ELSE_WHEN: return run_when_branch(machine);
  case CODE_END_WHEN: return run_end_when(machine);
  case CODE_REINIT: return run_reinit(machine);
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
  while (machine->frames.count > 2) frame_end(machine);
  frame_top(machine)->steps = machine->steps;
  return machine_unknown(machine, "the result of a long calculation");
}

static bool run_loop(Machine *machine) {
  for (;;) {
    Frame *frame = frame_top(machine);
    frame->position++;
    if (frame->position >= frame->routine->code.count || frame->is_done) {
      if (!frame_finish(machine)) {
        if (!recover(machine)) return false;
        continue;
      }
      if (machine->frames.count == 1 && frame == machine->frames.data) return true;
      continue;
    }
    machine->steps++;
    if (machine->steps > machine->limits.steps && !machine_charge(machine, 0)) return false;
    if (!step(machine, frame->routine->code.data[frame->position]) || !within_inlining(machine))
      if (!recover(machine)) return false;
  }
}

Machine *machine_new(Heap *heap, Names *names, const Domain *domain, Routine *const *const *routines,
                     const Record *const *records, Diags *diags, Limits limits) {
  Machine *machine = heap_alloc(heap, sizeof *machine);
  *machine = (Machine){.heap = heap, .names = names, .domain = domain, .routines = routines, .records = records, .diags = diags};
  machine->limits.steps = limits.steps ? limits.steps : STEPS_DEFAULT;
  machine->limits.inlining = limits.inlining ? limits.inlining : INLINING_DEFAULT;
  machine->limits.elements = limits.elements ? limits.elements : ELEMENTS_DEFAULT;
  machine->limits.depth = limits.depth ? limits.depth : DEPTH_DEFAULT;
  return machine;
}

void machine_preset(Machine *machine, uint32_t slot, const Value *value) {
  struct Preset preset = {slot, *value};
  vec_push(machine->heap, &machine->presets, preset);
}

static void machine_clear(Machine *machine) {
  while (machine->frames.count) {
    Frame frame = vec_pop(&machine->frames);
    vec_free(machine->heap, &frame.returns);
  }
  while (machine->control.count) {
    Control control = vec_pop(&machine->control);
    vec_free(machine->heap, &control.breaks);
  }
  machine->stack.count = 0;
  machine->path = machine->route = NULL;
  machine->steps = 0;
  machine->status = EXECUTE_OK;
  machine->obstacle = NULL;
  mark_release(machine, (Mark){0, 0});
}

void machine_free(Machine *machine) {
  machine_clear(machine);
  for (uint32_t i = 0; i < machine->chunks.count; i++) heap_free(machine->heap, machine->chunks.data[i].data);
  vec_free(machine->heap, &machine->chunks);
  vec_free(machine->heap, &machine->stack);
  vec_free(machine->heap, &machine->control);
  vec_free(machine->heap, &machine->frames);
  vec_free(machine->heap, &machine->presets);
  heap_free(machine->heap, machine);
}

ExecuteStatus machine_run(Machine *machine, const Routine *routine, const Value *inputs, uint32_t count) {
  machine_clear(machine);
  frame_begin(machine, routine, 0, false);
  Frame *frame = frame_top(machine);
  for (uint32_t i = 0; i < count; i++) frame->slots[i] = inputs[i];
  for (uint32_t i = 0; i < machine->presets.count; i++)
    frame->slots[machine->presets.data[i].slot] = value_copy(machine, &machine->presets.data[i].value);
  machine->presets.count = 0;
  frame->mark = frame->floor = mark_now(machine);
  frame->position = UINT32_MAX;
  return run_loop(machine) ? EXECUTE_OK : machine->status;
}

uint32_t machine_depth(const Machine *machine) { return machine->frames.count; }
uint32_t machine_results(const Machine *machine) { return machine->stack.count; }
const Value *machine_result(const Machine *machine, uint32_t index) { return &machine->stack.data[index]; }
const Value *machine_slot(const Machine *machine, uint32_t slot) { return &machine->frames.data[0].slots[slot]; }
const Value *machine_output(const Machine *machine, uint32_t output) {
  return machine_slot(machine, machine->frames.data[0].routine->inputs + output);
}

Value machine_make(Machine *machine, Type type, const uint32_t *sizes) {
  Value value = {.type = {.base = TYPE_NOTHING}};
  value_make_checked(machine, type, sizes, &value);
  return value;
}
