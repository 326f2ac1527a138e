/* fmi3: the functions of FMI 3.0, declared as its text has them, for model exchange and co-simulation. */
#ifdef FMI3_FUNCTION_PREFIX
#define FUNCTION_PREFIX FMI3_FUNCTION_PREFIX
#endif
#include "fmi.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment, double, bool, bool, bool, bool, bool *,
                                               double *);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment);
typedef void (*fmi3LockPreemptionCallback)(void);

/* An instance and who hears its messages and steps. */
typedef struct Component {
  Instance *instance;
  fmi3LogMessageCallback log;
  fmi3IntermediateUpdateCallback update;
  fmi3InstanceEnvironment environment;
  bool has_event_mode, may_return;
} Component;

static Instance *of(fmi3Instance instance) { return ((Component *)instance)->instance; }
static fmi3Status status(int failed) { return failed ? fmi3Error : fmi3OK; }

static void write_log(void *context, int is_error, const char *text) {
  const Component *component = context;
  if (component->log)
    component->log(component->environment, is_error ? fmi3Error : fmi3Warning,
                   is_error ? "logStatusError" : "logStatusWarning", text);
}

/* Values may be read between steps; nothing can be set there. */
static int tell_of_step(void *context) {
  const Component *component = context;
  bool wants_return = false;
  double earliest = 0;
  component->update(component->environment, component->instance->solver->now->time, false, true, true,
                    component->may_return, &wants_return, &earliest);
  return wants_return && component->may_return;
}

#define FMI(name) NAME(fmi3##name)
#define STATE(before, after) NAME(fmi3##before##FMUState##after)
#define DESERIALIZE NAME(fmi3DeserializeFMUState)
#define DERIVATIVES NAME(fmi3GetContinuousStateDerivatives)
#define DISCARD fmi3Discard
typedef fmi3Status Status;
typedef fmi3Instance Handle;
typedef fmi3FMUState StateBytes;
typedef fmi3Byte Byte;
#include "fmi_functions.h"

/* ---- instances ---- */

EXPORT const char *NAME(fmi3GetVersion)(void) { return "3.0"; }

EXPORT fmi3Status NAME(fmi3SetDebugLogging)(fmi3Instance instance, bool is_on, size_t count,
                                            const fmi3String categories[]) {
  (void)instance, (void)is_on, (void)count, (void)categories;
  return fmi3OK;
}

/* `wanted` is copied. */
static Component *instantiate(fmi3String token, bool is_cosimulation, Component wanted) {
  Component *component = calloc(1, sizeof *component);
  if (!component) return 0;
  *component = wanted;
  component->instance = instance_make(token, is_cosimulation, write_log, component);
  if (component->instance) {
    component->instance->returns_at_events = wanted.has_event_mode && wanted.may_return;
    component->instance->stepped = wanted.update ? tell_of_step : 0;
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
  return instantiate(token, false, (Component){.log = log, .environment = environment, .has_event_mode = true});
}

EXPORT fmi3Instance NAME(fmi3InstantiateCoSimulation)(fmi3String name, fmi3String token, fmi3String resources,
                                                      bool is_visible, bool is_logging, bool has_event_mode,
                                                      bool may_return, const fmi3ValueReference intermediate[],
                                                      size_t count, fmi3InstanceEnvironment environment,
                                                      fmi3LogMessageCallback log,
                                                      fmi3IntermediateUpdateCallback update) {
  (void)name, (void)resources, (void)is_visible, (void)is_logging, (void)intermediate, (void)count;
  Component wanted = {.log = log,
                      .update = update,
                      .environment = environment,
                      .has_event_mode = has_event_mode,
                      .may_return = may_return};
  return instantiate(token, true, wanted);
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
  instance_set_experiment(of(instance), has_tolerance, tolerance, start, has_stop, stop);
  of(instance)->phase = PHASE_INITIALIZATION;
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
    int failed = count != value_count;                                                                              \
    GET_NUMBERS(of(instance), references, count, type, values, failed)                                              \
    return status(failed);                                                                                          \
  }                                                                                                                 \
  EXPORT fmi3Status NAME(fmi3Set##name)(fmi3Instance instance, const fmi3ValueReference references[], size_t count, \
                                        const type values[], size_t value_count) {                                  \
    int failed = count != value_count;                                                                              \
    SET_NUMBERS(of(instance), references, count, values, failed)                                                    \
    return status(failed);                                                                                          \
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

/* ---- derivatives ---- */

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
  if (seed_count != unknown_count || sensitivity_count != known_count) return fmi3Error;
  return status(instance_adjoint(of(instance), unknowns, unknown_count, knowns, known_count, seed, sensitivity));
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

EXPORT fmi3Status NAME(fmi3CompletedIntegratorStep)(fmi3Instance instance, bool no_set_prior, bool *needs_event,
                                                    bool *terminates) {
  int event, end;
  (void)no_set_prior;
  if (instance_completed(of(instance), &event, &end)) return fmi3Error;
  *needs_event = event;
  *terminates = end;
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3GetNumberOfEventIndicators)(fmi3Instance instance, size_t *count) {
  *count = instance_indicator_count(of(instance));
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3GetNumberOfContinuousStates)(fmi3Instance instance, size_t *count) {
  *count = (size_t)of(instance)->solver->width;
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
