/* fmu: an FMU as an object of a model (fmi/text.h writes the model around it).
 *
 * Equations are evaluated in any order, so nothing may depend on earlier calls. A number, the mode, identifies the data that an FMU
 * keeps between calls. An event or a step of co-simulation changes one mode to the next; everything else is a function of mode,
 * time, states and inputs. An FMU whose state can be saved is set back to the requested mode; any other FMU is always in its
 * last mode. */
#include "external/functions.h"

#include "fmi/fmu.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MODES_KEPT = 16 };         /* the newest modes; a repeated step goes back by one or two */
static const double NEVER = 1e60; /* Modelica.Constants.inf */

/* How the FMU got into a mode, and its values there. */
typedef struct Mode {
  int64_t number, from; /* 0: none */
  double time;
  double *cause;           /* states and inputs before the mode, in one array */
  void *saved;             /* NULL: its state cannot be saved */
  double *states, *values; /* all states after the change, and the values held until the next mode */
  FmuEvent event;
} Mode;

typedef struct FmuObject {
  Fmu fmu;
  double tolerance, *parameters;
  Mode modes[MODES_KEPT]; /* mode `number` is at number % MODES_KEPT */
  int64_t last, current;  /* the newest mode, and the mode that the FMU is in */
  uint32_t causes;        /* numbers in Mode.cause */
  bool has_begun;
} FmuObject;

static const char FMU_KIND = 0;

static uint32_t count_of(const FmuObject *object, FmiRole role) {
  return description_count(object->fmu.description, role);
}

static const FmiScalar *scalars_of(const FmuObject *object, FmiRole role) {
  return description_scalars(object->fmu.description, role);
}

static bool fail(ExternalCall *call, const FmuObject *object) { return external_fail(call, "%s", object->fmu.failure); }

/* ---- opening ---- */

/* The whole file, in the heap. */
static char *read_archive(ExternalCall *call, const char *path, size_t *size) {
  if (!external_may_read(call, path)) return NULL;
  int descriptor = reading_open(path);
  FILE *file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
  TextVec bytes = {0};
  char buffer[65536];
  size_t count;
  if (!file) {
    external_fail(call, "`%s` cannot be read", path);
    return NULL;
  }
  while ((count = fread(buffer, 1, sizeof buffer, file)) > 0) text_append(call->state->heap, &bytes, buffer, count);
  fclose(file);
  *size = bytes.count;
  return bytes.data;
}

static void release_modes(void *content) {
  FmuObject *object = content;
  for (uint32_t k = 0; k < MODES_KEPT; k++) fmu_forget(&object->fmu, &object->modes[k].saved);
}

static bool load(ExternalCall *call, FmuObject *object, const char *path, bool is_exchange) {
  Heap *heap = call->state->heap;
  Arena *arena = heap_alloc(heap, sizeof *arena);
  *arena = arena_make(heap);
  Zip zip;
  size_t size = 0;
  const char *failure = NULL;
  char *bytes = read_archive(call, path, &size);
  if (!bytes) return false;
  if (!zip_open(&zip, bytes, size)) return external_fail(call, "`%s` is no archive", path);
  const FmiDescription *description = fmu_describe(&zip, arena, &failure);
  if (!description) return external_fail(call, "`%s`: %s", path, failure);
  if (is_exchange ? !description->exchange : !description->cosimulation)
    return external_fail(call, "`%s` does not offer %s", path, is_exchange ? "model exchange" : "co-simulation");
  if (!fmu_load(&object->fmu, heap, &zip, description, is_exchange)) return fail(call, object);
  heap_free(heap, bytes);
  return true;
}

/* The number of states with a start value that may be set. */
static uint32_t count_starts(const FmuObject *object) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < count_of(object, FMI_STATE); k++)
    count += scalar_has_start(&scalars_of(object, FMI_STATE)[k]);
  return count;
}

/* Arguments: file, is it model exchange?, parameters and start values of states, tolerance. */
bool external_fmu_open(ExternalCall *call) {
  Heap *heap = call->state->heap;
  FmuObject *object = heap_alloc(heap, sizeof *object);
  const ExternalValue *parameters = &call->arguments[2];
  if (!load(call, object, external_text(call, 0), external_integer(call, 1))) return false;
  if (parameters->count != count_of(object, FMI_PARAMETER) + count_starts(object))
    return external_fail(call, "this text was made for another FMU");
  object->parameters = heap_copy(heap, parameters->numbers, parameters->count, sizeof(double));
  object->tolerance = external_number(call, 3);
  object->causes = count_of(object, FMI_STATE) + count_of(object, FMI_INPUT) + count_of(object, FMI_SWITCH);
  if (object->fmu.saves) heap_defer(heap, release_modes, object);
  return external_give_object(call, &FMU_KIND, object, false);
}

/* ---- modes ---- */

/* The outputs that stay constant within a mode: in model exchange the discrete ones, in co-simulation all of them. */
static FmiRole first_held(const FmuObject *object) { return object->fmu.is_exchange ? FMI_DISCRETE : FMI_STATE; }

static uint32_t held_count(const FmuObject *object) {
  const FmiDescription *description = object->fmu.description;
  return description->first[FMI_ROLES] - description->first[first_held(object)];
}

static Mode *find_mode(FmuObject *object, int64_t number) {
  Mode *mode = number > 0 ? &object->modes[number % MODES_KEPT] : NULL;
  return mode && mode->number == number ? mode : NULL;
}

/* Even an FMU that cannot go back can continue if the requested mode and its own mode both follow the same earlier mode at the
 * same time. The standard allows several events at one instant, and only the last one has an effect. */
static bool serves(FmuObject *object, int64_t from, double time) {
  const Mode *current = find_mode(object, object->current);
  return object->fmu.is_exchange && !object->fmu.saves && current && current->from == from && current->time == time;
}

/* Puts the FMU into this mode; NULL after external_fail. */
static Mode *enter_mode(ExternalCall *call, FmuObject *object, int64_t number) {
  Mode *mode = find_mode(object, number);
  if (!mode) return external_fail(call, "the FMU cannot return to such an early time"), NULL;
  if (object->current == number || serves(object, mode->from, mode->time)) return mode;
  if (!mode->saved) return external_fail(call, "the FMU cannot go back: it does not save its state"), NULL;
  if (!fmu_restore(&object->fmu, mode->saved)) return fail(call, object), NULL;
  object->current = number;
  return mode;
}

/* Reads the arguments from position `first` on into one array: three arrays, or two if there are no states. */
static bool read_cause(ExternalCall *call, const FmuObject *object, uint32_t first, bool has_states, double *cause) {
  static const FmiRole ROLES[] = {FMI_STATE, FMI_INPUT, FMI_SWITCH};
  uint32_t at = has_states ? 0 : count_of(object, FMI_STATE);
  for (uint32_t k = has_states ? 0 : 1; k < 3; k++) {
    const ExternalValue *value = &call->arguments[first++];
    if (value->count != (k == 0 && !object->fmu.is_exchange ? 0 : count_of(object, ROLES[k])))
      return external_fail(call, "this text was made for another FMU");
    memcpy(cause + at, value->numbers, value->count * sizeof(double));
    at += count_of(object, ROLES[k]);
  }
  return true;
}

static const double *cause_of(const FmuObject *object, const double *cause, FmiRole role) {
  uint32_t states = count_of(object, FMI_STATE);
  return role == FMI_STATE ? cause : cause + states + (role == FMI_SWITCH ? count_of(object, FMI_INPUT) : 0);
}

static bool set_inputs(FmuObject *object, const double *cause, FmiRole role) {
  return fmu_set(&object->fmu, scalars_of(object, role), count_of(object, role), cause_of(object, cause, role));
}

/* Adds a new mode after `from`; the FMU is in it now. */
static bool add_mode(ExternalCall *call, FmuObject *object, int64_t from, double time, const double *cause,
                     FmuEvent event) {
  Heap *heap = call->state->heap;
  int64_t number = object->last + 1;
  Mode *mode = &object->modes[number % MODES_KEPT];
  if (!mode->cause)
    heap_numbers(heap, (size_t)object->causes + count_of(object, FMI_STATE) + held_count(object) + 1, &mode->cause,
                 &mode->states, &mode->values);
  mode->number = 0;
  memcpy(mode->cause, cause, object->causes * sizeof *cause);
  bool is_read = (!object->fmu.is_exchange || fmu_get_states(&object->fmu, mode->states)) &&
                 fmu_get(&object->fmu, scalars_of(object, first_held(object)), held_count(object), mode->values) &&
                 (!object->fmu.saves || fmu_save(&object->fmu, &mode->saved));
  if (!is_read) return fail(call, object);
  mode->number = object->last = object->current = number;
  mode->from = from;
  mode->time = time;
  mode->event = event;
  return external_give(call, (double)number);
}

/* If the same mode was already requested, returns it again. */
static bool give_known(ExternalCall *call, FmuObject *object, int64_t from, double time, const double *cause) {
  for (int64_t number = object->last; number > 0 && number > object->last - MODES_KEPT; number--) {
    const Mode *mode = find_mode(object, number);
    if (mode && mode->from == from && mode->time == time && !memcmp(mode->cause, cause, object->causes * sizeof *cause))
      return external_give(call, (double)number);
  }
  return false;
}

/* Sets start values only if they differ from the description, because an FMU may compute its own from parameters. */
static bool set_starts(FmuObject *object) {
  const FmiScalar *states = scalars_of(object, FMI_STATE);
  const double *value = object->parameters + count_of(object, FMI_PARAMETER);
  for (uint32_t k = 0; k < count_of(object, FMI_STATE); k++) {
    if (!scalar_has_start(&states[k])) continue;
    if (*value != states[k].start && !fmu_set(&object->fmu, &states[k], 1, value)) return false;
    value++;
  }
  return true;
}

static bool initialize(FmuObject *object, double time, const double *cause, FmuEvent *event) {
  Fmu *fmu = &object->fmu;
  if (object->has_begun && !fmu_reset(fmu)) return false;
  object->has_begun = true;
  *event = (FmuEvent){.next = INFINITY};
  return fmu_set(fmu, scalars_of(object, FMI_PARAMETER), count_of(object, FMI_PARAMETER), object->parameters) &&
         set_starts(object) && fmu_begin(fmu, time, object->tolerance) && set_inputs(object, cause, FMI_INPUT) &&
         set_inputs(object, cause, FMI_SWITCH) && fmu_end_initialization(fmu) &&
         (!fmu->is_exchange || fmu_update(fmu, event));
}

/* Arguments: object, time, inputs, discrete inputs; result: the first mode. */
bool external_fmu_begin(ExternalCall *call) {
  FmuObject *object = external_content(call, 0, &FMU_KIND);
  double time = external_number(call, 1);
  FmuEvent event;
  if (!object) return false;
  double *cause = arena_array(call->arena, (size_t)object->causes + 1, sizeof *cause);
  if (!read_cause(call, object, 2, false, cause)) return false;
  if (give_known(call, object, 0, time, cause)) return true;
  object->current = 0;
  return initialize(object, time, cause, &event) ? add_mode(call, object, 0, time, cause, event) : fail(call, object);
}

/* An event of model exchange. */
static bool pass_event(FmuObject *object, double time, const double *cause, FmuEvent *event) {
  Fmu *fmu = &object->fmu;
  return fmu_set_time(fmu, time) && fmu_set_states(fmu, cause_of(object, cause, FMI_STATE)) &&
         set_inputs(object, cause, FMI_INPUT) && fmu_enter_event_mode(fmu) && set_inputs(object, cause, FMI_SWITCH) &&
         fmu_update(fmu, event);
}

/* A step of co-simulation from the mode, with the inputs of that mode; the current inputs are for the next step. */
static bool make_step(FmuObject *object, const Mode *mode, double time, const double *cause, FmuEvent *event) {
  *event = (FmuEvent){.next = INFINITY};
  return fmu_step(&object->fmu, mode->time, time - mode->time, &event->terminates) &&
         set_inputs(object, cause, FMI_INPUT) && set_inputs(object, cause, FMI_SWITCH);
}

/* Arguments: object, mode, time, states, inputs, discrete inputs; result: the next mode. */
bool external_fmu_update(ExternalCall *call) {
  FmuObject *object = external_content(call, 0, &FMU_KIND);
  int64_t from = external_integer(call, 1);
  double time = external_number(call, 2);
  FmuEvent event;
  if (!object) return false;
  double *cause = arena_array(call->arena, (size_t)object->causes + 1, sizeof *cause);
  if (!read_cause(call, object, 3, true, cause)) return false;
  if (give_known(call, object, from, time, cause)) return true;
  const Mode *mode = serves(object, from, time) ? find_mode(object, object->current) : enter_mode(call, object, from);
  if (!mode) return false;
  object->current = 0;
  bool is_done =
      object->fmu.is_exchange ? pass_event(object, time, cause, &event) : make_step(object, mode, time, cause, &event);
  return is_done ? add_mode(call, object, from, time, cause, event) : fail(call, object);
}

/* ---- what a mode says ---- */

static const Mode *mode_argument(ExternalCall *call, FmuObject **object) {
  *object = external_content(call, 0, &FMU_KIND);
  const Mode *mode = *object ? find_mode(*object, external_integer(call, 1)) : NULL;
  if (*object && !mode) external_fail(call, "the FMU cannot return to such an early time");
  return mode;
}

/* Arguments: object, mode, out: time of the next event, does the FMU end the run? */
bool external_fmu_timing(ExternalCall *call) {
  FmuObject *object;
  const Mode *mode = mode_argument(call, &object);
  if (!mode) return false;
  call->arguments[2].numbers[0] = fmin(mode->event.next, NEVER);
  call->arguments[3].numbers[0] = mode->event.terminates;
  return true;
}

/* Arguments: object, mode, out: states after the event. */
bool external_fmu_states(ExternalCall *call) {
  FmuObject *object;
  const Mode *mode = mode_argument(call, &object);
  if (!mode || call->arguments[2].count != count_of(object, FMI_STATE)) return false;
  memcpy(call->arguments[2].numbers, mode->states, call->arguments[2].count * sizeof(double));
  return true;
}

/* Arguments: object, mode, out: Reals that are held, and the others. */
bool external_fmu_held(ExternalCall *call) {
  FmuObject *object;
  const Mode *mode = mode_argument(call, &object);
  ExternalValue *reals = &call->arguments[2], *integers = &call->arguments[3];
  uint32_t real = 0, integer = 0;
  if (!mode) return false;
  const FmiScalar *scalars = scalars_of(object, first_held(object));
  for (uint32_t k = 0; k < held_count(object); k++) {
    ExternalValue *to = scalar_is_real(&scalars[k]) ? reals : integers;
    uint32_t at = to == reals ? real++ : integer++;
    if (at >= to->count) return external_fail(call, "this text was made for another FMU");
    to->numbers[at] = mode->values[k];
  }
  return true;
}

/* ---- values that depend on time, states and inputs ---- */

static FmuObject *evaluate(ExternalCall *call) {
  FmuObject *object = external_content(call, 0, &FMU_KIND);
  if (!object || !enter_mode(call, object, external_integer(call, 1))) return NULL;
  double *cause = arena_array(call->arena, (size_t)object->causes + 1, sizeof *cause);
  if (!read_cause(call, object, 3, true, cause)) return NULL;
  bool is_set = fmu_set_time(&object->fmu, external_number(call, 2)) &&
                fmu_set_states(&object->fmu, cause_of(object, cause, FMI_STATE)) &&
                set_inputs(object, cause, FMI_INPUT);
  if (!is_set) fail(call, object);
  return is_set ? object : NULL;
}

/* Arguments: object, mode, time, states, inputs, discrete inputs, out: derivatives of the states, then event indicators. */
bool external_fmu_rates(ExternalCall *call) {
  FmuObject *object = evaluate(call);
  const ExternalValue *out = &call->arguments[6];
  if (!object) return false;
  uint32_t states = count_of(object, FMI_STATE);
  if (out->count != states + object->fmu.description->indicators)
    return external_fail(call, "this text was made for another FMU");
  return (fmu_get_rates(&object->fmu, out->numbers) && fmu_get_indicators(&object->fmu, out->numbers + states)) ||
         fail(call, object);
}

/* Arguments: object, mode, time, states, inputs, discrete inputs, out: the other continuous variables. */
bool external_fmu_values(ExternalCall *call) {
  FmuObject *object = evaluate(call);
  const ExternalValue *out = &call->arguments[6];
  if (!object) return false;
  if (out->count != count_of(object, FMI_CONTINUOUS)) return external_fail(call, "this text was made for another FMU");
  return fmu_get(&object->fmu, scalars_of(object, FMI_CONTINUOUS), out->count, out->numbers) || fail(call, object);
}
