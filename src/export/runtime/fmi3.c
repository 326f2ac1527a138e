/* fmi3: the functions of FMI 3.0, declared as in its specification, for model exchange and co-simulation. */
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

/* An instance and the receiver of its messages and steps. */
typedef struct Component {
  Instance *instance;
  fmi3LogMessageCallback log;
  fmi3IntermediateUpdateCallback update;
  fmi3InstanceEnvironment environment;
  bool has_event_mode, may_return;
} Component;

static Instance *of(fmi3Instance instance) { return instance ? ((Component *)instance)->instance : 0; }

static fmi3Status status(InstanceStatus result) {
  static const fmi3Status all[] = {
      [INSTANCE_OK] = fmi3OK, [INSTANCE_ERROR] = fmi3Error, [INSTANCE_DISCARD] = fmi3Discard};
  return all[result];
}

/* There are no such variables or values. */
static fmi3Status none(fmi3Instance instance, size_t count) { return of(instance) && !count ? fmi3OK : fmi3Error; }

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
typedef fmi3Status Status;
typedef fmi3Instance Handle;
typedef fmi3FMUState StateBytes;
typedef fmi3Byte Byte;
#include "fmi_functions.h"

/* ---- instances ---- */

EXPORT const char *NAME(fmi3GetVersion)(void) { return "3.0"; }

EXPORT fmi3Status NAME(fmi3SetDebugLogging)(fmi3Instance instance, bool is_on, size_t count,
                                            const fmi3String categories[]) {
  (void)is_on, (void)count, (void)categories;
  return status(instance_may(of(instance), IN_ANY, "fmi3SetDebugLogging") ? INSTANCE_OK : INSTANCE_ERROR);
}

/* `wanted` is copied. */
static Component *instantiate(fmi3String token, bool is_cosimulation, Component wanted) {
  Component *component = calloc(1, sizeof *component);
  if (!component) return 0;
  *component = wanted;
  component->instance = instance_make(token, is_cosimulation, write_log, component);
  if (component->instance) {
    component->instance->has_event_mode = wanted.has_event_mode;
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
  InstanceStatus result = instance_set_experiment(of(instance), has_tolerance, tolerance, start, has_stop, stop);
  return status(result ? result : instance_enter(of(instance), PHASE_INITIALIZATION));
}

/* There are no structural parameters, and so no configuration mode. */
EXPORT fmi3Status NAME(fmi3EnterConfigurationMode)(fmi3Instance instance) {
  instance_may(of(instance), 0, "fmi3EnterConfigurationMode");
  return fmi3Error;
}

EXPORT fmi3Status NAME(fmi3ExitConfigurationMode)(fmi3Instance instance) {
  instance_may(of(instance), 0, "fmi3ExitConfigurationMode");
  return fmi3Error;
}

/* ---- values ---- */

/* Getter and setter of a type whose values are numbers. */
#define NUMBERS(name, type, types)                                                                                  \
  EXPORT fmi3Status NAME(fmi3Get##name)(fmi3Instance instance, const fmi3ValueReference references[], size_t count, \
                                        type values[], size_t value_count) {                                        \
    InstanceStatus result = of(instance) && count == value_count ? INSTANCE_OK : INSTANCE_ERROR;                    \
    GET_NUMBERS(of(instance), references, count, types, type, values, result)                                       \
    return status(result);                                                                                          \
  }                                                                                                                 \
  EXPORT fmi3Status NAME(fmi3Set##name)(fmi3Instance instance, const fmi3ValueReference references[], size_t count, \
                                        const type values[], size_t value_count) {                                  \
    InstanceStatus result = of(instance) && count == value_count ? INSTANCE_OK : INSTANCE_ERROR;                    \
    SET_NUMBERS(of(instance), references, count, types, values, result)                                             \
    return status(result);                                                                                          \
  }

NUMBERS(Float64, double, IS_REAL)
NUMBERS(Int32, int32_t, IS_INTEGER)
NUMBERS(Int64, int64_t, IS_ENUMERATION)
NUMBERS(Boolean, bool, IS_BOOLEAN)

/* Getter and setter of a type that no variable has. */
#define NONE(name, type)                                                                                            \
  EXPORT fmi3Status NAME(fmi3Get##name)(fmi3Instance instance, const fmi3ValueReference references[], size_t count, \
                                        type values[], size_t value_count) {                                        \
    (void)references, (void)values, (void)value_count;                                                              \
    return none(instance, count);                                                                                   \
  }                                                                                                                 \
  EXPORT fmi3Status NAME(fmi3Set##name)(fmi3Instance instance, const fmi3ValueReference references[], size_t count, \
                                        const type values[], size_t value_count) {                                  \
    (void)references, (void)values, (void)value_count;                                                              \
    return none(instance, count);                                                                                   \
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
  (void)references, (void)sizes, (void)values, (void)value_count;
  return none(instance, count);
}

EXPORT fmi3Status NAME(fmi3SetBinary)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                      const size_t sizes[], const fmi3Binary values[], size_t value_count) {
  (void)references, (void)sizes, (void)values, (void)value_count;
  return none(instance, count);
}

EXPORT fmi3Status NAME(fmi3GetClock)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                     fmi3Clock values[]) {
  (void)references, (void)values;
  return none(instance, count);
}

EXPORT fmi3Status NAME(fmi3SetClock)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                     const fmi3Clock values[]) {
  (void)references, (void)values;
  return none(instance, count);
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
    (void)references, (void)a, (void)b;                                                                          \
    return none(instance, count);                                                                                \
  }

NO_CLOCKS(GetIntervalDecimal, double *a, fmi3IntervalQualifier *b)
NO_CLOCKS(GetShiftFraction, uint64_t *a, uint64_t *b)
NO_CLOCKS(SetIntervalFraction, const uint64_t *a, const uint64_t *b)
NO_CLOCKS(SetShiftFraction, const uint64_t *a, const uint64_t *b)

EXPORT fmi3Status NAME(fmi3GetIntervalFraction)(fmi3Instance instance, const fmi3ValueReference references[],
                                                size_t count, uint64_t counters[], uint64_t resolutions[],
                                                fmi3IntervalQualifier qualifiers[]) {
  (void)references, (void)counters, (void)resolutions, (void)qualifiers;
  return none(instance, count);
}

EXPORT fmi3Status NAME(fmi3GetShiftDecimal)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                            double shifts[]) {
  (void)references, (void)shifts;
  return none(instance, count);
}

EXPORT fmi3Status NAME(fmi3SetIntervalDecimal)(fmi3Instance instance, const fmi3ValueReference references[],
                                               size_t count, const double intervals[]) {
  (void)references, (void)intervals;
  return none(instance, count);
}

EXPORT fmi3Status NAME(fmi3SetShiftDecimal)(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                            const double shifts[]) {
  (void)references, (void)shifts;
  return none(instance, count);
}

EXPORT fmi3Status NAME(fmi3ActivateModelPartition)(fmi3Instance instance, fmi3ValueReference clock, double time) {
  (void)instance, (void)clock, (void)time;
  return fmi3Error;
}

/* ---- events and model exchange ---- */

EXPORT fmi3Status NAME(fmi3EvaluateDiscreteStates)(fmi3Instance instance) {
  int may = instance_may(of(instance), IN_INITIALIZATION | IN_EVENT, "fmi3EvaluateDiscreteStates");
  return status(may ? INSTANCE_OK : INSTANCE_ERROR);
}

EXPORT fmi3Status NAME(fmi3UpdateDiscreteStates)(fmi3Instance instance, bool *needs_update, bool *terminates,
                                                 bool *nominals_changed, bool *states_changed, bool *has_next,
                                                 double *next) {
  InstanceEvent event;
  int is_whole = needs_update && terminates && nominals_changed && states_changed && has_next && next;
  InstanceStatus result = is_whole ? instance_discrete(of(instance), &event) : INSTANCE_ERROR;
  if (result) return status(result);
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
  InstanceStatus result = needs_event && terminates ? instance_completed(of(instance), &event, &end) : INSTANCE_ERROR;
  if (result) return status(result);
  *needs_event = event;
  *terminates = end;
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3GetNumberOfEventIndicators)(fmi3Instance instance, size_t *count) {
  if (!count || !instance_may(of(instance), IN_ANY | OF_EXCHANGE, "fmi3GetNumberOfEventIndicators")) return fmi3Error;
  *count = instance_indicator_count(of(instance));
  return fmi3OK;
}

EXPORT fmi3Status NAME(fmi3GetNumberOfContinuousStates)(fmi3Instance instance, size_t *count) {
  if (!count || !instance_may(of(instance), IN_ANY | OF_EXCHANGE, "fmi3GetNumberOfContinuousStates")) return fmi3Error;
  *count = (size_t)of(instance)->solver->width;
  return fmi3OK;
}

/* ---- co-simulation ---- */

EXPORT fmi3Status NAME(fmi3EnterStepMode)(fmi3Instance instance) {
  return status(instance_enter(of(instance), PHASE_STEP));
}

EXPORT fmi3Status NAME(fmi3GetOutputDerivatives)(fmi3Instance instance, const fmi3ValueReference references[],
                                                 size_t count, const int32_t orders[], double values[],
                                                 size_t value_count) {
  (void)references, (void)orders, (void)values, (void)value_count;
  return none(instance, count);
}

EXPORT fmi3Status NAME(fmi3DoStep)(fmi3Instance instance, double time, double step, bool no_set_prior,
                                   bool *needs_event, bool *terminates, bool *returned_early, double *last) {
  int is_event = 0, end = 0, is_whole = needs_event && terminates && returned_early && last;
  (void)no_set_prior;
  if (is_whole && instance && !(step > 0)) {
    write_log(instance, 1, "a communication step must be longer than 0");
    return fmi3Error;
  }
  InstanceStatus result = is_whole ? instance_step(of(instance), time, step, &is_event, &end) : INSTANCE_ERROR;
  if (result) return status(result);
  *last = of(instance)->solver->now->time;
  *returned_early = *last < time + step;
  *needs_event = is_event && ((Component *)instance)->has_event_mode;
  *terminates = end;
  return fmi3OK;
}
