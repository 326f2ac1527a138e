/* fmi: the functions of an instance that both versions of the Functional Mock-up Interface need. */
#ifndef FMI_H
#define FMI_H

#include "solver.h"

#if defined _WIN32
#define EXPORT __declspec(dllexport)
#elif defined __GNUC__
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

/* If several models are in one program, function names begin with the name of the model. */
#ifdef FUNCTION_PREFIX
#define PASTE(a, b) a##b
#define PASTE_NAMES(a, b) PASTE(a, b)
#define NAME(name) PASTE_NAMES(FUNCTION_PREFIX, name)
#else
#define NAME(name) name
#endif

/* Shows that the model description and the code belong together. */
extern const char model_token[];

typedef enum InstancePhase {
  PHASE_INSTANTIATED,
  PHASE_INITIALIZATION,
  PHASE_EVENT,
  PHASE_CONTINUOUS,
  PHASE_STEP,
  PHASE_TERMINATED,
  PHASE_FAILED
} InstancePhase;

/* Sets of phases and of kinds in which a call is allowed; without a kind, it is allowed in both kinds. */
enum {
  IN_INSTANTIATED = 1 << PHASE_INSTANTIATED,
  IN_INITIALIZATION = 1 << PHASE_INITIALIZATION,
  IN_EVENT = 1 << PHASE_EVENT,
  IN_CONTINUOUS = 1 << PHASE_CONTINUOUS,
  IN_STEP = 1 << PHASE_STEP,
  IN_TERMINATED = 1 << PHASE_TERMINATED,
  IN_FAILED = 1 << PHASE_FAILED,
  IN_RUN = IN_EVENT | IN_CONTINUOUS | IN_STEP,
  IN_ANY = IN_INSTANTIATED | IN_INITIALIZATION | IN_RUN | IN_TERMINATED | IN_FAILED,
  OF_EXCHANGE = 1 << 8,
  OF_COSIMULATION = 1 << 9
};

/* The outcome of a call. Discarded: a shorter step, or another value, may work. */
typedef enum InstanceStatus { INSTANCE_OK, INSTANCE_ERROR, INSTANCE_DISCARD } InstanceStatus;

/* Writes a message: an error if is_error, otherwise a warning. */
typedef void InstanceLog(void *context, int is_error, const char *text);

/* Called when a step within a call has ended. Returns 1 if the call should return. */
typedef int InstanceStepped(void *context);

typedef struct Instance {
  Solver *solver;
  InstancePhase phase;
  double start, stop, tolerance; /* values of the experiment; stop is NAN if it is not given, tolerance 0 */
  int is_cosimulation;
  int has_values;                        /* values are consistent; before the start only if nothing was set since */
  int is_stale;                          /* time, states or inputs were set since */
  int has_event_mode, returns_at_events; /* of co-simulation */
  struct SavedState *saved;              /* saved states that it has given to the caller */
  InstanceLog *log;
  InstanceStepped *stepped; /* 0: no callback */
  void *context;
  jmp_buf refused; /* where the present call continues if memory is refused */
} Instance;

/* The result of a call for the discrete values at an event. */
typedef struct InstanceEvent {
  int states_changed, nominals_changed, terminates, has_next;
  double next;
} InstanceEvent;

/* NULL: the model is a different one, or there is no memory. */
Instance *instance_make(const char *guid, int is_cosimulation, InstanceLog *log, void *context);
void instance_free(Instance *instance);

/* Is a call allowed now? If not, a message names it. A NULL instance allows none. */
int instance_may(Instance *instance, int phases, const char *call);

/* The following functions may be called at any time with any arguments: calls that FMI does not allow are errors. */
InstanceStatus instance_reset(Instance *instance);
InstanceStatus instance_set_experiment(Instance *instance, int has_tolerance, double tolerance, double start,
                                       int has_stop, double stop);
InstanceStatus instance_enter(Instance *instance, InstancePhase phase);
InstanceStatus instance_begin(Instance *instance); /* the end of the initialization mode */
InstanceStatus instance_get(Instance *instance, unsigned variable, int types, double *value);
InstanceStatus instance_set(Instance *instance, unsigned variable, int types, double value);
InstanceStatus instance_set_time(Instance *instance, double time);
InstanceStatus instance_set_states(Instance *instance, const double *states, size_t count);
InstanceStatus instance_states(Instance *instance, double *states, size_t count);
InstanceStatus instance_derivatives(Instance *instance, double *derivatives, size_t count);
InstanceStatus instance_indicators(Instance *instance, double *indicators, size_t count);
InstanceStatus instance_nominals(Instance *instance, double *nominals, size_t count);
InstanceStatus instance_discrete(Instance *instance, InstanceEvent *event);
InstanceStatus instance_end(Instance *instance);
InstanceStatus instance_completed(Instance *instance, int *needs_event, int *terminates);
InstanceStatus instance_step(Instance *instance, double time, double step, int *is_event, int *terminates);
InstanceStatus instance_direction(Instance *instance, const unsigned *unknowns, size_t unknown_count,
                                  const unsigned *knowns, size_t known_count, const double *seed, double *sensitivity);
InstanceStatus instance_adjoint(Instance *instance, const unsigned *unknowns, size_t unknown_count,
                                const unsigned *knowns, size_t known_count, const double *seed, double *sensitivity);
size_t instance_indicator_count(const Instance *instance);

/* A saved state is bytes; it is allocated if there is none yet. Only states that the instance has given out are accepted. The
 * bytes identify the model and version that wrote them, and have a checksum. */
InstanceStatus instance_get_state(Instance *instance, void **state);
InstanceStatus instance_set_state(Instance *instance, const void *state);
InstanceStatus instance_free_state(Instance *instance, void **state);
InstanceStatus instance_serialized_size(Instance *instance, const void *state, size_t *size);
InstanceStatus instance_serialize(Instance *instance, const void *state, void *bytes, size_t size);
InstanceStatus instance_deserialize(Instance *instance, const void *bytes, size_t size, void **state);

/* Values of some types as numbers; `result` is the result for the first value that fails. */
#define GET_NUMBERS(instance, references, count, types, type, values, result)                                         \
  for (size_t number = 0; number < (count) && (result) == INSTANCE_OK; number++) {                                    \
    double value = 0;                                                                                                 \
    result = (references) && (values) ? instance_get(instance, (references)[number], types, &value) : INSTANCE_ERROR; \
    if ((result) == INSTANCE_OK) (values)[number] = (type)value;                                                      \
  }
#define SET_NUMBERS(instance, references, count, types, values, result)                                               \
  for (size_t number = 0; number < (count) && (result) == INSTANCE_OK; number++)                                      \
    result = (references) && (values) ? instance_set(instance, (references)[number], types, (double)(values)[number]) \
                                      : INSTANCE_ERROR;

#endif
