/* fmi2: the functions of FMI 2.0, declared as in its specification, for model exchange and co-simulation. */
#ifdef FMI2_FUNCTION_PREFIX
#define FUNCTION_PREFIX FMI2_FUNCTION_PREFIX
#endif
#include "fmi.h"

#include <stdlib.h>
#include <string.h>

typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef const char *fmi2String;
typedef char fmi2Byte;

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;

typedef struct {
  void (*logger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
  void *(*allocateMemory)(size_t, size_t);
  void (*freeMemory)(void *);
  void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
  fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef struct {
  fmi2Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged,
      valuesOfContinuousStatesChanged, nextEventTimeDefined;
  fmi2Real nextEventTime;
} fmi2EventInfo;

/* An instance and the receiver of its messages. */
typedef struct Component {
  Instance *instance;
  const fmi2CallbackFunctions *callbacks;
  char *name;
} Component;

static Instance *of(fmi2Component component) { return component ? ((Component *)component)->instance : 0; }

static fmi2Status status(InstanceStatus result) {
  static const fmi2Status all[] = {
      [INSTANCE_OK] = fmi2OK, [INSTANCE_ERROR] = fmi2Error, [INSTANCE_DISCARD] = fmi2Discard};
  return all[result];
}

/* There are no such variables or values. */
static fmi2Status none(fmi2Component component, size_t count) { return of(component) && !count ? fmi2OK : fmi2Error; }

static void write_log(void *context, int is_error, const char *text) {
  const Component *component = context;
  if (component->callbacks && component->callbacks->logger)
    component->callbacks->logger(component->callbacks->componentEnvironment, component->name,
                                 is_error ? fmi2Error : fmi2Warning, is_error ? "logStatusError" : "logStatusWarning",
                                 "%s", text);
}

#define FMI(name) NAME(fmi2##name)
#define STATE(before, after) NAME(fmi2##before##FMUstate##after)
#define DESERIALIZE NAME(fmi2DeSerializeFMUstate)
#define DERIVATIVES NAME(fmi2GetDerivatives)
typedef fmi2Status Status;
typedef fmi2Component Handle;
typedef fmi2FMUstate StateBytes;
typedef fmi2Byte Byte;
#include "fmi_functions.h"

/* ---- instances ---- */

EXPORT const char *NAME(fmi2GetTypesPlatform)(void) { return "default"; }
EXPORT const char *NAME(fmi2GetVersion)(void) { return "2.0"; }

EXPORT fmi2Status NAME(fmi2SetDebugLogging)(fmi2Component component, fmi2Boolean is_on, size_t count,
                                            const fmi2String categories[]) {
  (void)is_on, (void)count, (void)categories;
  return status(instance_may(of(component), IN_ANY, "fmi2SetDebugLogging") ? INSTANCE_OK : INSTANCE_ERROR);
}

EXPORT void NAME(fmi2FreeInstance)(fmi2Component component) {
  if (!component) return;
  instance_free(of(component));
  free(((Component *)component)->name);
  free(component);
}

EXPORT fmi2Component NAME(fmi2Instantiate)(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                           const fmi2CallbackFunctions *callbacks, fmi2Boolean is_visible,
                                           fmi2Boolean is_logging) {
  Component *component = calloc(1, sizeof *component);
  size_t length = strlen(name ? name : "") + 1;
  (void)resources, (void)is_visible, (void)is_logging;
  if (!component) return 0;
  component->callbacks = callbacks;
  component->name = calloc(length, 1);
  if (component->name) {
    memcpy(component->name, name ? name : "", length);
    component->instance = instance_make(guid, type == fmi2CoSimulation, write_log, component);
  }
  if (component->instance) return component;
  NAME(fmi2FreeInstance)(component);
  return 0;
}

EXPORT fmi2Status NAME(fmi2SetupExperiment)(fmi2Component component, fmi2Boolean has_tolerance, fmi2Real tolerance,
                                            fmi2Real start, fmi2Boolean has_stop, fmi2Real stop) {
  return status(instance_set_experiment(of(component), has_tolerance, tolerance, start, has_stop, stop));
}

EXPORT fmi2Status NAME(fmi2EnterInitializationMode)(fmi2Component component) {
  return status(instance_enter(of(component), PHASE_INITIALIZATION));
}

/* ---- values ---- */

/* Getter and setter of a type whose values are numbers. */
#define NUMBERS(name, type, types)                                                                                    \
  EXPORT fmi2Status NAME(fmi2Get##name)(fmi2Component component, const fmi2ValueReference references[], size_t count, \
                                        type values[]) {                                                              \
    InstanceStatus result = of(component) ? INSTANCE_OK : INSTANCE_ERROR;                                             \
    GET_NUMBERS(of(component), references, count, types, type, values, result)                                        \
    return status(result);                                                                                            \
  }                                                                                                                   \
  EXPORT fmi2Status NAME(fmi2Set##name)(fmi2Component component, const fmi2ValueReference references[], size_t count, \
                                        const type values[]) {                                                        \
    InstanceStatus result = of(component) ? INSTANCE_OK : INSTANCE_ERROR;                                             \
    SET_NUMBERS(of(component), references, count, types, values, result)                                              \
    return status(result);                                                                                            \
  }

NUMBERS(Real, fmi2Real, IS_REAL)
NUMBERS(Integer, fmi2Integer, IS_INTEGER | IS_ENUMERATION)
NUMBERS(Boolean, fmi2Boolean, IS_BOOLEAN)

EXPORT fmi2Status NAME(fmi2GetString)(fmi2Component component, const fmi2ValueReference references[], size_t count,
                                      fmi2String values[]) {
  (void)references, (void)values;
  return none(component, count);
}

EXPORT fmi2Status NAME(fmi2SetString)(fmi2Component component, const fmi2ValueReference references[], size_t count,
                                      const fmi2String values[]) {
  (void)references, (void)values;
  return none(component, count);
}

/* ---- derivatives ---- */

EXPORT fmi2Status NAME(fmi2GetDirectionalDerivative)(fmi2Component component, const fmi2ValueReference unknowns[],
                                                     size_t unknown_count, const fmi2ValueReference knowns[],
                                                     size_t known_count, const fmi2Real seed[],
                                                     fmi2Real sensitivity[]) {
  return status(instance_direction(of(component), unknowns, unknown_count, knowns, known_count, seed, sensitivity));
}

/* ---- model exchange ---- */

EXPORT fmi2Status NAME(fmi2NewDiscreteStates)(fmi2Component component, fmi2EventInfo *info) {
  InstanceEvent event;
  InstanceStatus result = info ? instance_discrete(of(component), &event) : INSTANCE_ERROR;
  if (result) return status(result);
  info->newDiscreteStatesNeeded = 0;
  info->terminateSimulation = event.terminates;
  info->nominalsOfContinuousStatesChanged = event.nominals_changed;
  info->valuesOfContinuousStatesChanged = event.states_changed;
  info->nextEventTimeDefined = event.has_next;
  info->nextEventTime = event.has_next ? event.next : 0;
  return fmi2OK;
}

EXPORT fmi2Status NAME(fmi2CompletedIntegratorStep)(fmi2Component component, fmi2Boolean no_set_prior,
                                                    fmi2Boolean *needs_event, fmi2Boolean *terminates) {
  (void)no_set_prior;
  return status(instance_completed(of(component), needs_event, terminates));
}

/* ---- co-simulation ---- */

EXPORT fmi2Status NAME(fmi2SetRealInputDerivatives)(fmi2Component component, const fmi2ValueReference references[],
                                                    size_t count, const fmi2Integer orders[], const fmi2Real values[]) {
  (void)references, (void)orders, (void)values;
  return none(component, count);
}

EXPORT fmi2Status NAME(fmi2GetRealOutputDerivatives)(fmi2Component component, const fmi2ValueReference references[],
                                                     size_t count, const fmi2Integer orders[], fmi2Real values[]) {
  (void)references, (void)orders, (void)values;
  return none(component, count);
}

EXPORT fmi2Status NAME(fmi2DoStep)(fmi2Component component, fmi2Real time, fmi2Real step, fmi2Boolean no_set_prior) {
  int is_event, terminates = 0;
  (void)no_set_prior;
  InstanceStatus result = instance_step(of(component), time, step, &is_event, &terminates);
  return result ? status(result) : terminates ? fmi2Discard : fmi2OK;
}

/* Steps end before their call returns, so there is nothing to cancel. */
EXPORT fmi2Status NAME(fmi2CancelStep)(fmi2Component component) {
  (void)component;
  return fmi2Error;
}

/* This may be called after a step that did not succeed. */
static int may_ask(fmi2Component component, const void *value) {
  return value && instance_may(of(component), IN_STEP | IN_TERMINATED | IN_FAILED | OF_COSIMULATION, "fmi2GetStatus");
}

EXPORT fmi2Status NAME(fmi2GetStatus)(fmi2Component component, const fmi2StatusKind kind, fmi2Status *value) {
  (void)kind;
  return may_ask(component, value) ? fmi2Discard : fmi2Error;
}

EXPORT fmi2Status NAME(fmi2GetRealStatus)(fmi2Component component, const fmi2StatusKind kind, fmi2Real *value) {
  if (!may_ask(component, value)) return fmi2Error;
  if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
  *value = of(component)->solver->now->time;
  return fmi2OK;
}

EXPORT fmi2Status NAME(fmi2GetIntegerStatus)(fmi2Component component, const fmi2StatusKind kind, fmi2Integer *value) {
  (void)kind;
  return may_ask(component, value) ? fmi2Discard : fmi2Error;
}

EXPORT fmi2Status NAME(fmi2GetBooleanStatus)(fmi2Component component, const fmi2StatusKind kind, fmi2Boolean *value) {
  if (!may_ask(component, value)) return fmi2Error;
  if (kind != fmi2Terminated) return fmi2Discard;
  *value = of(component)->solver->now->terminated;
  return fmi2OK;
}

EXPORT fmi2Status NAME(fmi2GetStringStatus)(fmi2Component component, const fmi2StatusKind kind, fmi2String *value) {
  (void)kind;
  return may_ask(component, value) ? fmi2Discard : fmi2Error;
}
