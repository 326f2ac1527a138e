/* fmi3: the functions of FMI 3.0, declared as its text has them, for model exchange and co-simulation. */
#include "fmi.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined _WIN32
#define EXPORT __declspec(dllexport)
#elif defined __GNUC__
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

/* In one program with other models, function names begin with that of the model. */
#ifdef FMI3_FUNCTION_PREFIX
#define PASTE(a, b) a##b
#define PASTE_NAMES(a, b) PASTE(a, b)
#define NAME(name) PASTE_NAMES(FMI3_FUNCTION_PREFIX, name)
#else
#define NAME(name) name
#endif

typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef const char *fmi3String;
typedef const uint8_t *fmi3Binary;
typedef bool fmi3Clock;
typedef uint8_t fmi3Byte;

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum { fmi3Independent, fmi3Constant, fmi3Fixed, fmi3Tunable, fmi3Discrete, fmi3Dependent } fmi3DependencyKind;
typedef enum { fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged } fmi3IntervalQualifier;

typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String, fmi3String);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment, double, bool, bool, bool, bool, bool, bool *,
                                               double *);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment);
typedef void (*fmi3LockPreemptionCallback)(void);

/* An instance and who hears its messages. */
typedef struct Component {
  Instance *instance;
  fmi3LogMessageCallback log;
  fmi3InstanceEnvironment environment;
  bool has_event_mode;
} Component;

static Instance *of(fmi3Instance instance) { return ((Component *)instance)->instance; }
static fmi3Status status(int failed) { return failed ? fmi3Error : fmi3OK; }

static void write_log(void *context, int is_error, const char *text) {
  const Component *component = context;
  if (component->log)
    component->log(component->environment, is_error ? fmi3Error : fmi3Warning,
                   is_error ? "logStatusError" : "logStatusWarning", text);
}

/* ---- instances ---- */

EXPORT const char *NAME(fmi3GetVersion)(void) { return "3.0"; }

EXPORT fmi3Status NAME(fmi3SetDebugLogging)(fmi3Instance instance, bool is_on, size_t count,
                                            const fmi3String categories[]) {
  (void)instance, (void)is_on, (void)count, (void)categories;
  return fmi3OK;
}

static fmi3Instance instantiate(fmi3String token, bool is_cosimulation, bool has_event_mode, bool may_return,
                                fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
  Component *component = calloc(1, sizeof *component);
  if (!component) return 0;
  component->log = log;
  component->environment = environment;
  component->has_event_mode = has_event_mode;
  component->instance = instance_make(token, is_cosimulation, write_log, component);
  if (component->instance) {
    component->instance->returns_at_events = has_event_mode && may_return;
    return component;
  }
  free(component);
  return 0;
}

EXPORT fmi3Instance NAME(fmi3InstantiateModelExchange)(fmi3String name, fmi3String token, fmi3String resources,
                                                       bool is_visible, bool is_logging,
                                                       fmi3InstanceEnvironment environment,
                                                       fmi3LogMessageCallback log) {
  (void)name, (void)resources, (void)is_visible, (void)is_logging;
  return instantiate(token, false, true, false, environment, log);
}

EXPORT fmi3Instance NAME(fmi3InstantiateCoSimulation)(fmi3String name, fmi3String token, fmi3String resources,
                                                      bool is_visible, bool is_logging, bool has_event_mode,
                                                      bool may_return, const fmi3ValueReference intermediate[],
                                                      size_t count, fmi3InstanceEnvironment environment,
                                                      fmi3LogMessageCallback log,
                                                      fmi3IntermediateUpdateCallback update) {
  (void)name, (void)resources, (void)is_visible, (void)is_logging, (void)intermediate, (void)count, (void)update;
  return instantiate(token, true, has_event_mode, may_return, environment, log);
}

EXPORT fmi3Instance NAME(fmi3InstantiateScheduledExecution)(fmi3String name, fmi3String token, fmi3String resources,
                                                            bool is_visible, bool is_logging,
                                                            fmi3InstanceEnvironment environment,
                                                            fmi3LogMessageCallback log, fmi3ClockUpdateCallback update,
                                                            fmi3LockPreemptionCallback lock,
                                                            fmi3LockPreemptionCallback unlock) {
  (void)name, (void)token, (void)resources, (void)is_visible, (void)is_logging, (void)environment, (void)log;
  (void)update, (void)lock, (void)unlock;
  return 0;
}

EXPORT void NAME(fmi3FreeInstance)(fmi3Instance instance) {
  if (instance) instance_free(of(instance));
  free(instance);
}

EXPORT fmi3Status NAME(fmi3EnterInitializationMode)(fmi3Instance instance, bool has_tolerance, double tolerance,
                                                    double start, bool has_stop, double stop) {
  Instance *own = of(instance);
  own->tolerance = has_tolerance ? tolerance : 0;
  own->start = start;
  own->stop = has_stop ? stop : number_nan();
  own->phase = PHASE_INITIALIZATION;
  own->has_values = 0;
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3ExitInitializationMode)(fmi3Instance instance) {
  return status(instance_begin(of(instance)));
}

EXPORT fmi3Status NAME(fmi3EnterEventMode)(fmi3Instance instance) {
  of(instance)->phase = PHASE_EVENT;
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3Terminate)(fmi3Instance instance) {
  of(instance)->phase = PHASE_TERMINATED;
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3Reset)(fmi3Instance instance) {
  instance_reset(of(instance));
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3EnterConfigurationMode)(fmi3Instance instance) {
  (void)instance;
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3ExitConfigurationMode)(fmi3Instance instance) {
  (void)instance;
  return fmi3OK;
}

/* ---- values ---- */

/* Getter and setter of a type whose values are numbers. */
#define NUMBERS(name, type)                                                                                         \
  EXPORT fmi3Status NAME(fmi3Get##name)(fmi3Instance instance, const fmi3ValueReference references[], size_t count, \
                                        type values[], size_t value_count) {                                        \
    for (size_t k = 0; k < count && k < value_count; k++) {                                                         \
      double value;                                                                                                 \
      if (instance_get(of(instance), references[k], &value)) return fmi3Error;                                      \
      values[k] = (type)value;                                                                                      \
    }                                                                                                               \
    return status(count != value_count);                                                                            \
  }                                                                                                                 \
  EXPORT fmi3Status NAME(fmi3Set##name)(fmi3Instance instance, const fmi3ValueReference references[], size_t count, \
                                        const type values[], size_t value_count) {                                  \
    for (size_t k = 0; k < count && k < value_count; k++)                                                           \
      if (instance_set(of(instance), references[k], (double)values[k])) return fmi3Error;                           \
    return status(count != value_count);                                                                            \
  }

NUMBERS(Float64, double)
NUMBERS(Int32, int32_t)
NUMBERS(Int64, int64_t)
NUMBERS(Boolean, bool)

/* Getter and setter of a type that no variable has. */
#define NONE(name, type)                                                                                            \
  EXPORT fmi3Status NAME(fmi3Get##name)(fmi3Instance instance, const fmi3ValueReference references[], size_t count, \
                                        type values[], size_t value_count) {                                        \
    (void)instance, (void)references, (void)values, (void)value_count;                                              \
    return status(count > 0);                                                                                       \
  }                                                                                                                 \
  EXPORT fmi3Status NAME(fmi3Set##name)(fmi3Instance instance, const fmi3ValueReference references[], size_t count, \
                                        const type values[], size_t value_count) {                                  \
    (void)instance, (void)references, (void)values, (void)value_count;                                              \
    return status(count > 0);                                                                                       \
  }

NONE(Float32, float)
NONE(Int8, int8_t)
NONE(UInt8, uint8_t)
NONE(Int16, int16_t)
NONE(UInt16, uint16_t)
NONE(UInt32, uint32_t)
NONE(UInt64, uint64_t)
NONE(String, fmi3String)

EXPORT fmi3Status NAME(fmi3GetBinary)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                      size_t sizes[], fmi3Binary values[], size_t value_count) {
  (void)instance, (void)references, (void)sizes, (void)values, (void)value_count;
  return status(count > 0);
}

EXPORT fmi3Status NAME(fmi3SetBinary)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                      const size_t sizes[], const fmi3Binary values[], size_t value_count) {
  (void)instance, (void)references, (void)sizes, (void)values, (void)value_count;
  return status(count > 0);
}

EXPORT fmi3Status NAME(fmi3GetClock)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                     fmi3Clock values[]) {
  (void)instance, (void)references, (void)values;
  return status(count > 0);
}

EXPORT fmi3Status NAME(fmi3SetClock)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                     const fmi3Clock values[]) {
  (void)instance, (void)references, (void)values;
  return status(count > 0);
}

/* ---- dependencies: those of the model description hold ---- */

EXPORT fmi3Status NAME(fmi3GetNumberOfVariableDependencies)(fmi3Instance instance, fmi3ValueReference reference,
                                                            size_t *count) {
  (void)instance, (void)reference, (void)count;
  return fmi3Error;
}

EXPORT fmi3Status NAME(fmi3GetVariableDependencies)(fmi3Instance instance, fmi3ValueReference dependent,
                                                    size_t dependent_elements[], fmi3ValueReference independents[],
                                                    size_t independent_elements[], fmi3DependencyKind kinds[],
                                                    size_t count) {
  (void)instance, (void)dependent, (void)dependent_elements, (void)independents, (void)independent_elements;
  (void)kinds, (void)count;
  return fmi3Error;
}

/* ---- states of the whole ---- */

EXPORT fmi3Status NAME(fmi3GetFMUState)(fmi3Instance instance, fmi3FMUState *state) {
  if (!*state) *state = malloc(instance_state_size(of(instance)));
  if (!*state) return fmi3Error;
  instance_save(of(instance), *state);
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3SetFMUState)(fmi3Instance instance, fmi3FMUState state) {
  if (!state) return fmi3Error;
  instance_restore(of(instance), state);
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3FreeFMUState)(fmi3Instance instance, fmi3FMUState *state) {
  (void)instance;
  free(*state);
  *state = 0;
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3SerializedFMUStateSize)(fmi3Instance instance, fmi3FMUState state, size_t *size) {
  (void)state;
  *size = instance_state_size(of(instance));
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3SerializeFMUState)(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[],
                                              size_t size) {
  if (!state || size < instance_state_size(of(instance))) return fmi3Error;
  memcpy(bytes, state, instance_state_size(of(instance)));
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3DeserializeFMUState)(fmi3Instance instance, const fmi3Byte bytes[], size_t size,
                                                fmi3FMUState *state) {
  if (size != instance_state_size(of(instance))) return fmi3Error;
  if (!*state) *state = malloc(size);
  if (!*state) return fmi3Error;
  memcpy(*state, bytes, size);
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3GetDirectionalDerivative)(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                                     size_t unknown_count, const fmi3ValueReference knowns[],
                                                     size_t known_count, const double seed[], size_t seed_count,
                                                     double sensitivity[], size_t sensitivity_count) {
  if (seed_count != known_count || sensitivity_count != unknown_count) return fmi3Error;
  return status(instance_direction(of(instance), unknowns, unknown_count, knowns, known_count, seed, sensitivity));
}

EXPORT fmi3Status NAME(fmi3GetAdjointDerivative)(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                                 size_t unknown_count, const fmi3ValueReference knowns[],
                                                 size_t known_count, const double seed[], size_t seed_count,
                                                 double sensitivity[], size_t sensitivity_count) {
  (void)instance, (void)unknowns, (void)unknown_count, (void)knowns, (void)known_count, (void)seed, (void)seed_count;
  (void)sensitivity, (void)sensitivity_count;
  return fmi3Error;
}

/* ---- clocks: there are none ---- */

#define NO_CLOCKS(name, ...)                                                                                     \
  EXPORT fmi3Status NAME(fmi3##name)(fmi3Instance instance, const fmi3ValueReference references[], size_t count, \
                                     __VA_ARGS__) {                                                              \
    (void)instance, (void)references, (void)a, (void)b;                                                          \
    return status(count > 0);                                                                                    \
  }

NO_CLOCKS(GetIntervalDecimal, double *a, fmi3IntervalQualifier *b)
NO_CLOCKS(GetShiftFraction, uint64_t *a, uint64_t *b)
NO_CLOCKS(SetIntervalFraction, const uint64_t *a, const uint64_t *b)
NO_CLOCKS(SetShiftFraction, const uint64_t *a, const uint64_t *b)

EXPORT fmi3Status NAME(fmi3GetIntervalFraction)(fmi3Instance instance, const fmi3ValueReference references[],
                                                size_t count, uint64_t counters[], uint64_t resolutions[],
                                                fmi3IntervalQualifier qualifiers[]) {
  (void)instance, (void)references, (void)counters, (void)resolutions, (void)qualifiers;
  return status(count > 0);
}

EXPORT fmi3Status NAME(fmi3GetShiftDecimal)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                            double shifts[]) {
  (void)instance, (void)references, (void)shifts;
  return status(count > 0);
}

EXPORT fmi3Status NAME(fmi3SetIntervalDecimal)(fmi3Instance instance, const fmi3ValueReference references[],
                                               size_t count, const double intervals[]) {
  (void)instance, (void)references, (void)intervals;
  return status(count > 0);
}

EXPORT fmi3Status NAME(fmi3SetShiftDecimal)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                            const double shifts[]) {
  (void)instance, (void)references, (void)shifts;
  return status(count > 0);
}

EXPORT fmi3Status NAME(fmi3ActivateModelPartition)(fmi3Instance instance, fmi3ValueReference clock, double time) {
  (void)instance, (void)clock, (void)time;
  return fmi3Error;
}

/* ---- events and model exchange ---- */

EXPORT fmi3Status NAME(fmi3EvaluateDiscreteStates)(fmi3Instance instance) {
  (void)instance;
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3UpdateDiscreteStates)(fmi3Instance instance, bool *needs_update, bool *terminates,
                                                 bool *nominals_changed, bool *states_changed, bool *has_next,
                                                 double *next) {
  InstanceEvent event;
  if (instance_discrete(of(instance), &event)) return fmi3Error;
  *needs_update = false;
  *terminates = event.terminates;
  *nominals_changed = event.nominals_changed;
  *states_changed = event.states_changed;
  *has_next = event.has_next;
  *next = event.has_next ? event.next : 0;
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3EnterContinuousTimeMode)(fmi3Instance instance) {
  of(instance)->phase = PHASE_CONTINUOUS;
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3CompletedIntegratorStep)(fmi3Instance instance, bool no_set_prior, bool *needs_event,
                                                    bool *terminates) {
  int event, end;
  (void)no_set_prior;
  if (instance_completed(of(instance), &event, &end)) return fmi3Error;
  *needs_event = event;
  *terminates = end;
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3SetTime)(fmi3Instance instance, double time) {
  return status(instance_set_time(of(instance), time));
}

EXPORT fmi3Status NAME(fmi3SetContinuousStates)(fmi3Instance instance, const double states[], size_t count) {
  return status(instance_set_states(of(instance), states, count));
}

EXPORT fmi3Status NAME(fmi3GetContinuousStates)(fmi3Instance instance, double states[], size_t count) {
  return status(instance_states(of(instance), states, count));
}

EXPORT fmi3Status NAME(fmi3GetContinuousStateDerivatives)(fmi3Instance instance, double derivatives[], size_t count) {
  return instance_derivatives(of(instance), derivatives, count) ? fmi3Discard : fmi3OK;
}

EXPORT fmi3Status NAME(fmi3GetEventIndicators)(fmi3Instance instance, double indicators[], size_t count) {
  return instance_indicators(of(instance), indicators, count) ? fmi3Discard : fmi3OK;
}

EXPORT fmi3Status NAME(fmi3GetNominalsOfContinuousStates)(fmi3Instance instance, double nominals[], size_t count) {
  return status(instance_nominals(of(instance), nominals, count));
}

EXPORT fmi3Status NAME(fmi3GetNumberOfEventIndicators)(fmi3Instance instance, size_t *count) {
  *count = instance_indicator_count(of(instance));
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3GetNumberOfContinuousStates)(fmi3Instance instance, size_t *count) {
  *count = (size_t)of(instance)->solver->model->states;
  return fmi3OK;
}

/* ---- co-simulation ---- */

EXPORT fmi3Status NAME(fmi3EnterStepMode)(fmi3Instance instance) {
  of(instance)->phase = PHASE_STEP;
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3GetOutputDerivatives)(fmi3Instance instance, const fmi3ValueReference references[],
                                                 size_t count, const int32_t orders[], double values[],
                                                 size_t value_count) {
  (void)instance, (void)references, (void)orders, (void)values, (void)value_count;
  return status(count > 0);
}

EXPORT fmi3Status NAME(fmi3DoStep)(fmi3Instance instance, double time, double step, bool no_set_prior,
                                   bool *needs_event, bool *terminates, bool *returned_early, double *last) {
  int is_event, end;
  double until = time + step;
  (void)no_set_prior;
  if (instance_step(of(instance), until, &is_event, &end)) return fmi3Error;
  *last = of(instance)->solver->now->time;
  *returned_early = *last < until;
  *needs_event = is_event && ((Component *)instance)->has_event_mode;
  *terminates = end;
  return fmi3OK;
}
