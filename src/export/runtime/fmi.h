/* fmi: what both versions of the Functional Mock-up Interface ask of an instance. */
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

/* In one program with other models, function names begin with that of the model. */
#ifdef FUNCTION_PREFIX
#define PASTE(a, b) a##b
#define PASTE_NAMES(a, b) PASTE(a, b)
#define NAME(name) PASTE_NAMES(FUNCTION_PREFIX, name)
#else
#define NAME(name) name
#endif

/* By which the model description and the code know that they belong together. */
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

/* Writes a message; is_error: else a warning. */
typedef void InstanceLog(void *context, int is_error, const char *text);

/* Hears that a step within a call for one has ended. Returns 1 where the call is to return. */
typedef int InstanceStepped(void *context);

typedef struct Instance {
  Solver *solver;
  void *memory;
  InstancePhase phase;
  double start, stop, tolerance; /* of the experiment; stop is NAN where it is not given, tolerance 0 */
  int is_cosimulation;
  int has_values; /* consistent values are there: before the start only if nothing was set since */
  int is_stale;   /* time, states or inputs were set since */
  int returns_at_events;
  InstanceLog *log;
  InstanceStepped *stepped; /* 0: nobody hears */
  void *context;
} Instance;

/* What a call for the discrete values at an event has found. */
typedef struct InstanceEvent {
  int states_changed, nominals_changed, terminates, has_next;
  double next;
} InstanceEvent;

/* NULL: the model is another one, or there is no memory. */
Instance *instance_make(const char *guid, int is_cosimulation, InstanceLog *log, void *context);
void instance_free(Instance *instance);
void instance_reset(Instance *instance);

void instance_set_experiment(Instance *instance, int has_tolerance, double tolerance, double start, int has_stop,
                             double stop);

/* All return 0, or 1 on failure. */
int instance_begin(Instance *instance); /* the end of the initialization mode */
int instance_get(Instance *instance, unsigned variable, double *value);
int instance_set(Instance *instance, unsigned variable, double value);
int instance_set_time(Instance *instance, double time);
int instance_set_states(Instance *instance, const double *states, size_t count);
int instance_states(Instance *instance, double *states, size_t count);
int instance_derivatives(Instance *instance, double *derivatives, size_t count);
int instance_indicators(Instance *instance, double *indicators, size_t count);
int instance_nominals(Instance *instance, double *nominals, size_t count);
int instance_discrete(Instance *instance, InstanceEvent *event);
int instance_end(Instance *instance);
int instance_completed(Instance *instance, int *needs_event, int *terminates);
int instance_step(Instance *instance, double until, int *is_event, int *terminates);
int instance_direction(Instance *instance, const unsigned *unknowns, size_t unknown_count, const unsigned *knowns,
                       size_t known_count, const double *seed, double *sensitivity);
int instance_adjoint(Instance *instance, const unsigned *unknowns, size_t unknown_count, const unsigned *knowns,
                     size_t known_count, const double *seed, double *sensitivity);
size_t instance_indicator_count(const Instance *instance);

/* A state of the whole is bytes; it is made where there is none yet. */
size_t instance_state_size(const Instance *instance);
int instance_get_state(const Instance *instance, void **state);
int instance_set_state(Instance *instance, const void *state);
void instance_free_state(void **state);
int instance_serialize(const Instance *instance, const void *state, void *bytes, size_t size);
int instance_deserialize(const Instance *instance, const void *bytes, size_t size, void **state);

/* Values of a type that are numbers; `failed` tells. */
#define GET_NUMBERS(instance, references, count, type, values, failed) \
  for (size_t number = 0; number < (count) && !(failed); number++) {   \
    double value = 0;                                                  \
    failed = instance_get(instance, (references)[number], &value);     \
    (values)[number] = (type)value;                                    \
  }
#define SET_NUMBERS(instance, references, count, values, failed)   \
  for (size_t number = 0; number < (count) && !(failed); number++) \
    failed = instance_set(instance, (references)[number], (double)(values)[number]);

#endif
