/* external_call: calls a function in another language; converts between the values of the machine and those of external.h. */
#include "external/external.h"
#include "model/machine.h"

#include <math.h>
#include <string.h>

static const ExternalType TYPES[] = {
    [TYPE_REAL] = EXTERNAL_REAL,      [TYPE_INTEGER] = EXTERNAL_INTEGER,     [TYPE_BOOLEAN] = EXTERNAL_INTEGER,
    [TYPE_STRING] = EXTERNAL_TEXT,    [TYPE_ENUMERATION] = EXTERNAL_INTEGER, [TYPE_EXTERNAL_OBJECT] = EXTERNAL_OBJECT,
    [TYPE_RECORD] = EXTERNAL_NOTHING, [TYPE_NOTHING] = EXTERNAL_NOTHING};

/* A call in progress. Scalars of the domain are `width` doubles; the function takes `kept` of them. */
typedef struct Passing {
  Machine *machine;
  Arena arena;
  ExternalCall call;
  size_t width, kept;
} Passing;

static double scalar_at(const Passing *passing, const Value *value, uint32_t i) {
  double number;
  memcpy(&number, value->data + i * passing->width * sizeof number, sizeof number);
  return number;
}

static ExternalValue value_to_external(Passing *passing, const Value *value) {
  ExternalValue out = {.type = TYPES[value->type.base],
                       .dimensions = value->type.dimensions,
                       .count = value->count,
                       .sizes = value->sizes};
  switch (out.type) {
  case EXTERNAL_NOTHING: break;
  case EXTERNAL_OBJECT: out.object = out.count ? external_instance(scalar_at(passing, value, 0)) : NULL; break;
  case EXTERNAL_TEXT:
    out.texts = machine_alloc(passing->machine, (out.count + 1) * sizeof *out.texts);
    for (uint32_t i = 0; i < out.count; i++)
      out.texts[i] = names_text(passing->machine->names, (Name)scalar_at(passing, value, i));
    break;
  case EXTERNAL_REAL:
  case EXTERNAL_INTEGER:
    out.numbers = machine_alloc(passing->machine, (out.count * passing->kept + 1) * sizeof(double));
    for (uint32_t i = 0; i < out.count; i++)
      memcpy(out.numbers + i * passing->kept, value->data + i * passing->width * sizeof(double),
             passing->kept * sizeof(double));
    break;
  }
  return out;
}

/* Is the number a value of the slot's type? Values written by functions are not trusted. */
static bool number_fits(const Local *local, double number) {
  switch (local->type.base) {
  case TYPE_BOOLEAN: return number == 0 || number == 1;
  case TYPE_ENUMERATION: return number >= 1 && number <= local->literals && number == floor(number);
  case TYPE_INTEGER: return number == floor(number);
  default: return true;
  }
}

/* Copies a value into the memory of the slot, which has the same sizes. */
static bool value_from_external(Passing *passing, const ExternalValue *from, uint32_t slot) {
  const Frame *frame = frame_top(passing->machine);
  const Local *local = &frame->routine->locals.data[slot];
  Value *value = &frame->slots[slot];
  const Domain *domain = passing->machine->domain;
  for (uint32_t i = 0; i < value->count; i++) {
    char *at = value->data + i * passing->width * sizeof(double);
    if (from->type == EXTERNAL_OBJECT) {
      domain->constant(domain->context, external_handle(from->object), at);
    } else if (from->type == EXTERNAL_TEXT) {
      const char *text = from->texts[i];
      domain->text(domain->context, names_add(passing->machine->names, text, strlen(text)), at);
    } else {
      const double *numbers = from->numbers + i * passing->kept;
      if (!isfinite(numbers[0]) || !number_fits(local, numbers[0]))
        return machine_error(passing->machine, "external function `%s` gives %g for `%s`", passing->call.function->name,
                             numbers[0], names_text(passing->machine->names, local->name));
      memset(at, 0, passing->width * sizeof(double));
      memcpy(at, numbers, passing->kept * sizeof(double));
    }
  }
  return true;
}

/* Stores the outputs of the function in their slots. */
static bool take_outputs(Passing *passing, const uint32_t *places) {
  if (places[0] != UINT32_MAX && !value_from_external(passing, &passing->call.result, places[0])) return false;
  for (uint32_t i = 0; i < passing->call.count; i++)
    if (places[1 + i] != UINT32_MAX && !value_from_external(passing, &passing->call.arguments[i], places[1 + i]))
      return false;
  return true;
}

/* Running code has no number (NAN) for a text that is composed outside of functions. */
static bool is_lost_text(const Passing *passing, const Value *value) {
  bool is_lost = false;
  for (uint32_t i = 0; i < value->count && TYPES[value->type.base] == EXTERNAL_TEXT; i++)
    is_lost = is_lost || isnan(scalar_at(passing, value, i));
  return is_lost;
}

static bool pass_values(Passing *passing, const uint32_t *places) {
  Machine *machine = passing->machine;
  ExternalCall *call = &passing->call;
  const Value *given = machine_top(machine, call->count);
  call->arguments = machine_alloc(machine, call->count * sizeof *call->arguments);
  for (uint32_t i = 0; i < call->count; i++) {
    bool is_output = places[1 + i] != UINT32_MAX;
    if (!is_output && is_lost_text(passing, &given[i]))
      return machine_error(machine,
                           "external function `%s`: a text that an equation puts together cannot be its argument",
                           call->function->name);
    call->arguments[i] = value_to_external(passing, &given[i]);
    call->arguments[i].is_output = is_output;
  }
  if (places[0] != UINT32_MAX) call->result = value_to_external(passing, &frame_top(machine)->slots[places[0]]);
  bool is_done = external_run(call);
  machine->lacks_right = !is_done && call->lacks_right;
  if (!is_done) return machine_error(machine, "external function `%s`: %s", call->function->name, call->failure);
  return take_outputs(passing, places);
}

bool step_external(Machine *machine, uint32_t count, const uint32_t *places) {
  const Routine *routine = frame_top(machine)->routine;
  const Domain *domain = machine->domain;
  machine->lacks_right = routine->is_forbidden;
  if (!routine->implementation)
    return machine_lacks(machine, routine_lacks(routine), names_text(machine->names, routine->external));
  if (!routine->implementation->run) return eliminate_linear(machine, count, places);
  if (!domain->externals) return machine_unknown(machine, "the result of an external function");
  Passing passing = {.machine = machine, .arena = arena_make(machine->heap), .width = domain->size / sizeof(double)};
  passing.kept = routine->implementation->is_smooth ? passing.width : 1;
  passing.call = (ExternalCall){
      .function = routine->implementation, .count = count, .state = domain->externals, .arena = &passing.arena};
  while ((size_t)1 << passing.call.nilpotents < passing.kept) passing.call.nilpotents++;
  bool done = pass_values(&passing, places);
  arena_free(&passing.arena);
  machine->stack.count -= count;
  return done;
}
