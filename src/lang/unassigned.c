/* unassigned: scalars of functions, and scalar fields of their records, that are read or returned although nothing in the function
 * assigns them. A scalar that is assigned only in some branch is not examined: it is 0 in the others. A scalar needs no value if it
 * is read only in a branch that a constant condition never takes, or in the default value of a field that is not read. */
#include "lang/elaborate.h"

/* A place that an instruction reads or assigns: a slot, or a part of it, given by fields. */
typedef struct AssignedPart {
  uint32_t slot;
  const Instruction *fields; /* CODE_FIELD, one after the other */
  uint32_t count;
  Type type;
} AssignedPart;

/* The part that the code reads at the position of a CODE_LOCAL. */
static AssignedPart part_read(const Compiler *c, uint32_t at) {
  const Routine *routine = c->routine;
  AssignedPart part = {.slot = routine->code.data[at].b, .fields = routine->code.data + at + 1};
  part.type = routine->locals.data[part.slot].type;
  while (at + 1 + part.count < routine->code.count && part.fields[part.count].code == CODE_FIELD &&
         part.type.base == TYPE_RECORD && !part.type.dimensions) {
    const Record *record = &c->el->model->records.data[part.type.definition];
    part.type = record->fields.data[part.fields[part.count].b].type;
    part.count++;
  }
  return part;
}

/* Does a store into `place` assign the part, or some of it? */
static bool is_stored(const AssignedPart *part, const uint32_t *place) {
  if (place[0] != part->slot) return false;
  for (uint32_t k = 0; k < place[1] && k < part->count; k++) {
    if (place[2 + 2 * k] == STEP_INDEX) return true;
    if (place[3 + 2 * k] != part->fields[k].b) return false;
  }
  return true;
}

static bool is_assigned_by(const Routine *routine, Instruction i, const AssignedPart *part) {
  switch ((Code)i.code) {
  case CODE_STORE: return is_stored(part, routine->extra.data + i.b);
  case CODE_BIND: return i.b == part->slot;
  case CODE_FOR:
  case CODE_EACH: return i.a == part->slot;
  default: return false;
  }
}

/* The instructions that assign a slot or a part of it, as linked lists. `first` has the first instruction for each slot,
 * `next` the following one for each instruction; NONE ends a list. */
typedef struct Stores {
  uint32_t *first, *next;
} Stores;

static uint32_t slot_assigned(const Routine *routine, Instruction i) {
  switch ((Code)i.code) {
  case CODE_STORE: return routine->extra.data[i.b];
  case CODE_BIND: return i.b;
  case CODE_FOR:
  case CODE_EACH: return i.a;
  default: return NONE;
  }
}

static Stores stores_find(Heap *heap, const Routine *routine) {
  Stores stores = {.first = heap_array(heap, routine->locals.count, sizeof(uint32_t)),
                   .next = heap_array(heap, routine->code.count, sizeof(uint32_t))};
  for (uint32_t slot = 0; slot < routine->locals.count; slot++) stores.first[slot] = NONE;
  for (uint32_t k = routine->code.count; k-- > 0;) {
    uint32_t slot = slot_assigned(routine, routine->code.data[k]);
    if (slot >= routine->locals.count) continue;
    stores.next[k] = stores.first[slot];
    stores.first[slot] = k;
  }
  return stores;
}

static void stores_free(Heap *heap, Stores *stores) {
  heap_free(heap, stores->first);
  heap_free(heap, stores->next);
}

static bool is_assigned(const Compiler *c, const Stores *stores, const AssignedPart *part) {
  const Routine *routine = c->routine;
  bool is = part->slot < routine->inputs;
  for (uint32_t k = stores->first[part->slot]; k != NONE && !is; k = stores->next[k]) {
    heap_work(c->el->heap, 1);
    is = is_assigned_by(routine, routine->code.data[k], part);
  }
  return is;
}

static const char *part_name(const Compiler *c, const AssignedPart *part) {
  const Local *local = &c->routine->locals.data[part->slot];
  const char *text = names_text(c->el->names, local->name);
  Type type = local->type;
  for (uint32_t k = 0; k < part->count; k++) {
    const Field *field = &c->el->model->records.data[type.definition].fields.data[part->fields[k].b];
    text = arena_printf(&c->el->arena, "%s.%s", text, names_text(c->el->names, field->name));
    type = field->type;
  }
  return text;
}

/* Does the code read a scalar at this position? */
static bool reads_scalar(const Compiler *c, uint32_t at, AssignedPart *part) {
  if (c->routine->code.data[at].code != CODE_LOCAL) return false;
  *part = part_read(c, at);
  return !part->type.dimensions && part->type.base <= TYPE_ENUMERATION;
}

/* The code at this position belongs to the computation of a value. Do the statements, which begin at `body`, read this value? */
static bool is_needed(const Compiler *c, uint32_t at, uint32_t body) {
  const Routine *routine = c->routine;
  AssignedPart part;
  if (at >= body) return true;
  heap_work(c->el->heap, routine->code.count);
  while (at < body && routine->code.data[at].code != CODE_STORE && routine->code.data[at].code != CODE_BIND) at++;
  for (uint32_t k = body; k < routine->code.count && at < body; k++)
    if (reads_scalar(c, k, &part) && is_assigned_by(routine, routine->code.data[at], &part)) return true;
  return false;
}

/* ---- what never runs ---- */

/* Is the value on top of the stack after position `at` a constant: a literal, or the declared value of a slot that nothing else
 * assigns? A value that a statement assigns does not count, since it may not have been assigned yet. */
static bool is_constant(const Routine *routine, const Stores *stores, uint32_t at, uint32_t body, double *value) {
  Instruction i = routine->code.data[at];
  if (i.code == CODE_CONSTANT) *value = routine->constants.data[i.b];
  if (i.code != CODE_LOCAL || i.b < routine->inputs) return i.code == CODE_CONSTANT;
  uint32_t from = stores->first[i.b];
  if (from == NONE || stores->next[from] != NONE || !from || from > at || from > body) return false;
  if (routine->code.data[from - 1].code != CODE_CONSTANT) return false;
  *value = routine->constants.data[routine->code.data[from - 1].b];
  return true;
}

/* Is the code at this position in a branch that a constant condition never takes? */
static bool is_dead(const Compiler *c, const Stores *stores, uint32_t at, uint32_t body) {
  const Routine *routine = c->routine;
  bool is = false;
  heap_work(c->el->heap, at);
  for (uint32_t k = 1; k < at && !is; k++) {
    Instruction i = routine->code.data[k];
    double condition;
    if ((i.code != CODE_IF && i.code != CODE_IF_VALUE) || !is_constant(routine, stores, k - 1, body, &condition))
      continue;
    is = condition == 0 ? at < i.b : at > i.b && at < routine->code.data[i.b].b;
  }
  return is;
}

void unassigned_report(Compiler *c) {
  const Routine *routine = c->routine;
  uint32_t body = 0;
  AssignedPart part;
  while (body < routine->code.count && routine->code.data[body].code != CODE_BODY) body++;
  Stores stores = stores_find(c->el->heap, routine);
  bool is_found = false;
  for (uint32_t at = 0; at < routine->code.count && !is_found; at++) {
    is_found = reads_scalar(c, at, &part) && !is_assigned(c, &stores, &part) && is_needed(c, at, body) &&
               !is_dead(c, &stores, at, body);
    if (is_found)
      compile_error(c, routine->spans.data[at], "`%s` has no value: nothing in function `%s` assigns it",
                    part_name(c, &part), names_text(c->el->names, routine->name));
  }
  uint32_t outputs = routine->is_partial ? 0 : routine->outputs;
  for (uint32_t slot = routine->inputs; slot < routine->inputs + outputs && !is_found; slot++) {
    const Local *output = &routine->locals.data[slot];
    part = (AssignedPart){.slot = slot};
    is_found = !output->type.dimensions && output->type.base <= TYPE_ENUMERATION && !is_assigned(c, &stores, &part);
    if (is_found)
      compile_error(c, output->span, "output `%s` has no value: nothing in function `%s` assigns it",
                    names_text(c->el->names, output->name), names_text(c->el->names, routine->name));
  }
  stores_free(c->el->heap, &stores);
}
