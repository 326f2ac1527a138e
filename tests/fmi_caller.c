/* fmi_caller: calls an FMU in ways that the standard forbids. Compiled with the sources of the FMU, by test_fmu_callers.py, with
 * VERSION 2 or
 * 3.
 *
 * fmi_caller TOKEN START STOP VARIABLES SEED COUNT
 *
 * First it makes single wrong calls: each must be refused, and the run must continue as if the call had not been made. Then it
 * makes COUNT sequences of calls in any order with any arguments; after each of them a reset instance must run as a new one
 * does. */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASTE(a, b, c) a##b##c
#define NAMED(a, b, c) PASTE(a, b, c)
#define FMI(name) NAMED(fmi, VERSION, name)
enum { OK, WARNING, DISCARD, ERROR };

static int failures, checks;
static const char *token;
static double start, stop;
static unsigned variables;

static void expect(bool holds, const char *what) {
  checks++;
  if (holds) return;
  failures++;
  fprintf(stderr, "fmi_caller: %s\n", what);
}

/* The part that both versions share. */
int FMI(ExitInitializationMode)(void *);
int FMI(EnterEventMode)(void *);
int FMI(EnterContinuousTimeMode)(void *);
int FMI(Terminate)(void *);
int FMI(Reset)(void *);
void FMI(FreeInstance)(void *);
int FMI(SetTime)(void *, double);
int FMI(SetContinuousStates)(void *, const double *, size_t);
int FMI(GetContinuousStates)(void *, double *, size_t);
int FMI(GetNominalsOfContinuousStates)(void *, double *, size_t);
int FMI(GetEventIndicators)(void *, double *, size_t);

#if VERSION == 2
typedef struct Callbacks {
  void (*log)(void *, const char *, int, const char *, const char *, ...);
  void *(*allocate)(size_t, size_t);
  void (*release)(void *);
  void (*finished)(void *, int);
  void *environment;
} Callbacks;
typedef struct EventInfo {
  int more, ends, nominals, values, has_next;
  double next;
} EventInfo;
void *fmi2Instantiate(const char *, int, const char *, const char *, const Callbacks *, int, int);
int fmi2SetupExperiment(void *, int, double, double, int, double);
int fmi2EnterInitializationMode(void *);
int fmi2GetReal(void *, const unsigned *, size_t, double *);
int fmi2SetReal(void *, const unsigned *, size_t, const double *);
int fmi2GetInteger(void *, const unsigned *, size_t, int *);
int fmi2SetInteger(void *, const unsigned *, size_t, const int *);
int fmi2GetBoolean(void *, const unsigned *, size_t, int *);
int fmi2SetBoolean(void *, const unsigned *, size_t, const int *);
int fmi2GetString(void *, const unsigned *, size_t, const char **);
int fmi2GetDerivatives(void *, double *, size_t);
int fmi2NewDiscreteStates(void *, EventInfo *);
int fmi2CompletedIntegratorStep(void *, int, int *, int *);
int fmi2DoStep(void *, double, double, int);
int fmi2CancelStep(void *);
int fmi2GetRealStatus(void *, int, double *);
int fmi2GetBooleanStatus(void *, int, int *);
int fmi2GetFMUstate(void *, void **);
int fmi2SetFMUstate(void *, void *);
int fmi2FreeFMUstate(void *, void **);
int fmi2SerializedFMUstateSize(void *, void *, size_t *);
int fmi2SerializeFMUstate(void *, void *, char *, size_t);
int fmi2DeSerializeFMUstate(void *, const char *, size_t, void **);
int fmi2GetDirectionalDerivative(void *, const unsigned *, size_t, const unsigned *, size_t, const double *, double *);
#define STATE(before, after) fmi2##before##FMUstate##after
#define DESERIALIZE fmi2DeSerializeFMUstate

static void hear(void *environment, const char *name, int status, const char *category, const char *text, ...) {
  (void)environment, (void)name, (void)status, (void)category, (void)text;
}
static const Callbacks callbacks = {hear, calloc, free, NULL, NULL};

static void *make(bool is_step) { return fmi2Instantiate("i", is_step, token, NULL, &callbacks, 0, 0); }
static int begin(void *c) {
  int status = fmi2SetupExperiment(c, 1, 1e-6, start, 1, stop);
  return status ? status : fmi2EnterInitializationMode(c);
}
static int get(void *c, const unsigned *references, size_t count, double *values) {
  return fmi2GetReal(c, references, count, values);
}
static int set(void *c, const unsigned *references, size_t count, const double *values) {
  return fmi2SetReal(c, references, count, values);
}
static int step(void *c, double t, double h) { return fmi2DoStep(c, t, h, 1); }
static int discrete(void *c, bool *more) {
  EventInfo info = {0};
  int status = fmi2NewDiscreteStates(c, &info);
  *more = info.more;
  return status;
}
static int rates(void *c, double *values, size_t count) { return fmi2GetDerivatives(c, values, count); }
static int completed(void *c) {
  int event, end;
  return fmi2CompletedIntegratorStep(c, 1, &event, &end);
}
static int derivative(void *c, const unsigned *unknown, size_t unknowns, const unsigned *known, size_t knowns,
                      const double *seed, double *value) {
  return fmi2GetDirectionalDerivative(c, unknown, unknowns, known, knowns, seed, value);
}
#else
void *fmi3InstantiateModelExchange(const char *, const char *, const char *, bool, bool, void *,
                                   void (*)(void *, int, const char *, const char *));
void *fmi3InstantiateCoSimulation(const char *, const char *, const char *, bool, bool, bool, bool, const unsigned *,
                                  size_t, void *, void (*)(void *, int, const char *, const char *),
                                  void (*)(void *, double, bool, bool, bool, bool, bool *, double *));
int fmi3EnterInitializationMode(void *, bool, double, double, bool, double);
int fmi3EnterConfigurationMode(void *);
int fmi3EnterStepMode(void *);
int fmi3GetFloat64(void *, const unsigned *, size_t, double *, size_t);
int fmi3SetFloat64(void *, const unsigned *, size_t, const double *, size_t);
int fmi3GetInt32(void *, const unsigned *, size_t, int32_t *, size_t);
int fmi3SetInt32(void *, const unsigned *, size_t, const int32_t *, size_t);
int fmi3GetBoolean(void *, const unsigned *, size_t, bool *, size_t);
int fmi3SetBoolean(void *, const unsigned *, size_t, const bool *, size_t);
int fmi3GetString(void *, const unsigned *, size_t, const char **, size_t);
int fmi3GetContinuousStateDerivatives(void *, double *, size_t);
int fmi3GetNumberOfContinuousStates(void *, size_t *);
int fmi3GetNumberOfEventIndicators(void *, size_t *);
int fmi3UpdateDiscreteStates(void *, bool *, bool *, bool *, bool *, bool *, double *);
int fmi3CompletedIntegratorStep(void *, bool, bool *, bool *);
int fmi3DoStep(void *, double, double, bool, bool *, bool *, bool *, double *);
int fmi3GetFMUState(void *, void **);
int fmi3SetFMUState(void *, void *);
int fmi3FreeFMUState(void *, void **);
int fmi3SerializedFMUStateSize(void *, void *, size_t *);
int fmi3SerializeFMUState(void *, void *, char *, size_t);
int fmi3DeserializeFMUState(void *, const char *, size_t, void **);
int fmi3GetDirectionalDerivative(void *, const unsigned *, size_t, const unsigned *, size_t, const double *, size_t,
                                 double *, size_t);
#define STATE(before, after) fmi3##before##FMUState##after
#define DESERIALIZE fmi3DeserializeFMUState

static void hear(void *environment, int status, const char *category, const char *text) {
  (void)environment, (void)status, (void)category, (void)text;
}
static void *make(bool is_step) {
  if (!is_step) return fmi3InstantiateModelExchange("i", token, NULL, false, false, NULL, hear);
  return fmi3InstantiateCoSimulation("i", token, NULL, false, false, false, false, NULL, 0, NULL, hear, NULL);
}
static int begin(void *c) { return fmi3EnterInitializationMode(c, true, 1e-6, start, true, stop); }
static int get(void *c, const unsigned *references, size_t count, double *values) {
  return fmi3GetFloat64(c, references, count, values, count);
}
static int set(void *c, const unsigned *references, size_t count, const double *values) {
  return fmi3SetFloat64(c, references, count, values, count);
}
static int step(void *c, double t, double h) {
  bool event, end, early;
  double last;
  return fmi3DoStep(c, t, h, true, &event, &end, &early, &last);
}
static int discrete(void *c, bool *more) {
  bool end, nominals, values, has_next;
  double next;
  return fmi3UpdateDiscreteStates(c, more, &end, &nominals, &values, &has_next, &next);
}
static int rates(void *c, double *values, size_t count) { return fmi3GetContinuousStateDerivatives(c, values, count); }
static int completed(void *c) {
  bool event, end;
  return fmi3CompletedIntegratorStep(c, true, &event, &end);
}
static int derivative(void *c, const unsigned *unknown, size_t unknowns, const unsigned *known, size_t knowns,
                      const double *seed, double *value) {
  return fmi3GetDirectionalDerivative(c, unknown, unknowns, known, knowns, seed, knowns, value, unknowns);
}
#endif

/* The values of all Real variables; 0 for others. */
static double *all_values(void *c) {
  double *values = calloc(variables + 1, sizeof *values);
  for (unsigned v = 0; v < variables; v++)
    if (get(c, &v, 1, &values[v])) values[v] = 0;
  return values;
}

/* A run by co-simulation in a few steps, from an instance that was just made or reset. */
static double *run_plainly(void *c) {
  expect(begin(c) == OK && FMI(ExitInitializationMode)(c) == OK, "a run begins");
  for (int k = 0; k < 4; k++) expect(step(c, start + k * (stop - start) / 4, (stop - start) / 4) <= DISCARD, "a step");
  return all_values(c);
}

static bool is_same(const double *a, const double *b) {
  for (unsigned v = 0; v < variables; v++)
    if (a[v] != b[v] && !(isnan(a[v]) && isnan(b[v]))) return false;
  return true;
}

/* ---- single wrong calls ---- */

static void check_order(void) {
  void *c = make(true);
  unsigned v = 0;
  double value = 0;
  bool more;
  expect(step(c, start, 0.1) == ERROR, "a step before the initialization");
  expect(FMI(ExitInitializationMode)(c) == ERROR, "the end of an initialization that has not begun");
  expect(FMI(Terminate)(c) == ERROR, "an end before the start");
  expect(begin(c) == OK, "the initialization begins");
  expect(begin(c) == ERROR, "it begins twice");
  expect(step(c, start, 0.1) == ERROR, "a step in the initialization");
  expect(FMI(ExitInitializationMode)(c) == OK, "the initialization ends");
  expect(FMI(ExitInitializationMode)(c) == ERROR, "it ends twice");
  expect(FMI(SetTime)(c, start) == ERROR && FMI(EnterContinuousTimeMode)(c) == ERROR && completed(c) == ERROR &&
             discrete(c, &more) == ERROR && FMI(EnterEventMode)(c) == ERROR && rates(c, &value, 1) == ERROR,
         "model exchange in co-simulation");
  expect(FMI(Terminate)(c) == OK && FMI(Terminate)(c) == ERROR, "the end, twice");
  expect(step(c, start, 0.1) == ERROR && set(c, &v, 1, &value) == ERROR, "calls after the end");
  FMI(FreeInstance)(c);
  c = make(false);
  expect(begin(c) == OK && FMI(ExitInitializationMode)(c) == OK, "model exchange begins");
  expect(step(c, start, 0.1) == ERROR, "a step in model exchange");
  expect(FMI(EnterContinuousTimeMode)(c) == OK && FMI(EnterContinuousTimeMode)(c) == ERROR, "a mode is entered twice");
  expect(discrete(c, &more) == ERROR, "discrete states in continuous time");
  expect(FMI(SetTime)(c, NAN) == ERROR && FMI(SetTime)(c, INFINITY) == ERROR, "times that are none");
  FMI(FreeInstance)(c);
}

static void check_steps(void) {
  void *c = make(true), *other = make(true);
  double h = (stop - start) / 4;
  expect(begin(c) == OK && FMI(ExitInitializationMode)(c) == OK, "a run begins");
  for (int k = 0; k < 4; k++) {
    double t = start + k * h;
    expect(step(c, t + h, h) == ERROR && step(c, t - h, h) == ERROR, "wrong communication points");
    expect(step(c, t, -h) == ERROR && step(c, t, NAN) == ERROR && step(c, NAN, h) == ERROR &&
               step(c, t, INFINITY) == ERROR,
           "lengths that are none");
    expect(step(c, t, 5 * h) == ERROR, "a step beyond the end");
    expect(step(c, t, h) <= DISCARD, "a step after refused ones");
  }
  expect(step(c, stop, h) == ERROR, "a step after the end");
  double *values = all_values(c), *plain = run_plainly(other);
  expect(is_same(values, plain), "refused steps change nothing");
  free(values), free(plain);
  FMI(FreeInstance)(c);
  FMI(FreeInstance)(other);
}

static void check_values(void) {
  void *c = make(true);
  unsigned unknown[] = {variables + 1000, UINT32_MAX};
  double value = 1, none[] = {NAN, INFINITY, -INFINITY};
  expect(get(c, &unknown[0], 1, &value) == ERROR && get(c, &unknown[1], 1, &value) == ERROR, "no such variables");
  expect(set(c, &unknown[0], 1, &value) == ERROR, "no such variable to set");
  for (unsigned v = 0; v < variables; v++)
    for (int k = 0; k < 3; k++) expect(set(c, &v, 1, &none[k]) >= DISCARD, "a value that is none");
  expect(get(c, NULL, 1, &value) == ERROR && set(c, NULL, 1, &value) == ERROR, "no references");
  expect(get(c, unknown, 0, NULL) == OK, "nothing is asked for");
  expect(get(NULL, unknown, 1, &value) == ERROR && step(NULL, 0, 1) == ERROR && begin(NULL) == ERROR &&
             FMI(Reset)(NULL) == ERROR && FMI(Terminate)(NULL) == ERROR,
         "no instance");
  unsigned v = 0;
  expect(get(c, &v, 1, NULL) == ERROR, "no room for a value");
  expect(derivative(c, &v, 1, &v, 1, &value, &value) == ERROR, "a derivative before the start");
  FMI(FreeInstance)(NULL);
  double *first = run_plainly(c);
  expect(derivative(c, NULL, 1, &v, 1, &value, &value) == ERROR &&
             derivative(c, &v, 1, unknown, 1, &value, &value) == ERROR,
         "derivatives of nothing");
  expect(FMI(Reset)(c) == OK, "reset");
  double *second = run_plainly(c);
  expect(is_same(first, second), "a run after a reset");
  free(first), free(second);
  FMI(FreeInstance)(c);
}

static void check_states(uint64_t *seed) {
  void *c = make(true), *other = make(true), *state = NULL, *copy = NULL, *garbage = (void *)(uintptr_t)0x1234567;
  size_t size = 0;
  expect(STATE(Set, )(c, NULL) == ERROR && STATE(Set, )(c, garbage) == ERROR && STATE(Set, )(c, &size) == ERROR,
         "no states");
  expect(STATE(Serialized, Size)(c, garbage, &size) == ERROR && STATE(Free, )(c, &garbage) == ERROR,
         "no states to free");
  expect(STATE(Get, )(c, NULL) == ERROR && STATE(Get, )(c, &garbage) == ERROR, "no room for states");
  expect(begin(c) == OK && FMI(ExitInitializationMode)(c) == OK && STATE(Get, )(c, &state) == OK, "a state");
  expect(STATE(Serialized, Size)(c, state, &size) == OK && STATE(Serialized, Size)(c, state, NULL) == ERROR,
         "its size");
  char *bytes = malloc(size), *wrong = malloc(size + 8);
  expect(STATE(Serialize, )(c, state, bytes, size) == OK && STATE(Serialize, )(c, state, bytes, size - 1) == ERROR &&
             STATE(Serialize, )(c, state, NULL, size) == ERROR,
         "its bytes");
  expect(DESERIALIZE(c, NULL, size, &copy) == ERROR && DESERIALIZE(c, bytes, size - 1, &copy) == ERROR,
         "too few bytes");
  for (int k = 0; k < 200; k++) {
    memcpy(wrong, bytes, size);
    for (int n = 0; n <= k % 5; n++) {
      *seed = *seed * 6364136223846793005u + 1442695040888963407u;
      wrong[(*seed >> 33) % size] ^= (char)(1 << (*seed >> 30) % 7);
    }
    bool is_other = memcmp(wrong, bytes, size) != 0;
    copy = NULL;
    int status = DESERIALIZE(other, wrong, size, &copy);
    if (is_other && status == OK) { /* experiment and flags have no checksum, so this is still a state */
      STATE(Set, )(other, copy);
      FMI(Reset)(other);
    }
    if (copy) STATE(Free, )(other, &copy);
  }
  for (size_t k = 0; k < size; k++) wrong[k] = (char)(k * 37);
  expect(DESERIALIZE(c, wrong, size, &copy) == ERROR && !copy, "bytes that are no state");
  expect(DESERIALIZE(other, bytes, size, &copy) == OK && STATE(Set, )(other, copy) == OK, "the bytes of a state");
  expect(STATE(Free, )(c, &state) == OK && !state && STATE(Free, )(c, &state) == OK, "a state goes");
  free(bytes), free(wrong);
  FMI(FreeInstance)(c);
  FMI(FreeInstance)(other); /* with its state */
}

/* ---- any calls in any order ---- */

static uint64_t next(uint64_t *seed) {
  return *seed = *seed * 6364136223846793005u + 1442695040888963407u, *seed >> 33;
}

static double any_number(uint64_t *seed) {
  static const double some[] = {0, 1, -1, 0.1, 1e300, -1e-300, NAN, INFINITY, -INFINITY, 1e9};
  return next(seed) % 3 ? start + (double)(next(seed) % 100) / 100 * (stop - start) : some[next(seed) % 10];
}

/* A value with which a run does not take too long. */
static double any_value(uint64_t *seed) {
  static const double some[] = {0, 1, -1, 0.5, NAN, INFINITY};
  return next(seed) % 3 ? 0.1 + (double)(next(seed) % 100) / 100 : some[next(seed) % 6];
}

static void call_anything(void *c, void **state, uint64_t *seed) {
  double values[64] = {0}, number = any_number(seed);
  unsigned references[64];
  size_t count = next(seed) % 9 ? next(seed) % 4 : 64;
  bool more;
  for (size_t k = 0; k < 64; k++) {
    references[k] = next(seed) % 7 ? (unsigned)next(seed) % (variables + 1) : (unsigned)next(seed);
    values[k] = any_value(seed);
  }
  switch (next(seed) % 22) {
  case 0: begin(c); break;
  case 1: FMI(ExitInitializationMode)(c); break;
  case 2: FMI(EnterEventMode)(c); break;
  case 3: FMI(EnterContinuousTimeMode)(c); break;
  case 4: FMI(Terminate)(c); break;
  case 5:
    if (next(seed) % 4 == 0) FMI(Reset)(c);
    break;
  case 6: FMI(SetTime)(c, number); break;
  case 7: FMI(SetContinuousStates)(c, next(seed) % 5 ? values : NULL, count); break;
  case 8: FMI(GetContinuousStates)(c, next(seed) % 5 ? values : NULL, count); break;
  case 9: FMI(GetNominalsOfContinuousStates)(c, values, count); break;
  case 10: FMI(GetEventIndicators)(c, values, count); break;
  case 11: rates(c, values, count); break;
  case 12: discrete(c, &more); break;
  case 13: completed(c); break;
  case 14: step(c, number, any_number(seed) - start); break;
  case 15: get(c, next(seed) % 9 ? references : NULL, count, next(seed) % 9 ? values : NULL); break;
  case 16: set(c, next(seed) % 9 ? references : NULL, count, next(seed) % 9 ? values : NULL); break;
  case 17: set(c, references, 1, values); break;
  case 18: derivative(c, references, count, references + 4, next(seed) % 3, values, values + 32); break;
  case 19: STATE(Get, )(c, state); break;
  case 20: STATE(Set, )(c, next(seed) % 4 ? *state : (void *)values); break;
  default: STATE(Free, )(c, state); break;
  }
}

static void check_sequences(long count, uint64_t seed) {
  void *plain = make(true);
  double *expected = run_plainly(plain);
  for (long k = 0; k < count; k++) {
    bool is_step = next(&seed) % 2;
    void *c = make(is_step), *state = NULL;
    size_t length = 5 + next(&seed) % 60;
    for (size_t n = 0; n < length; n++) call_anything(c, &state, &seed);
    if (is_step) {
      expect(FMI(Reset)(c) == OK, "reset after anything");
      double *values = run_plainly(c);
      expect(is_same(values, expected), "a run after anything");
      free(values);
    }
    FMI(FreeInstance)(c);
  }
  free(expected);
  FMI(FreeInstance)(plain);
}

int main(int count, char **arguments) {
  if (count < 7) return 2;
  token = arguments[1];
  start = atof(arguments[2]);
  stop = atof(arguments[3]);
  variables = (unsigned)atoi(arguments[4]);
  uint64_t seed = (uint64_t)atoll(arguments[5]);
  check_order();
  check_steps();
  check_values();
  check_states(&seed);
  check_sequences(atol(arguments[6]), seed);
  printf("%d passed, %d failed\n", checks - failures, failures);
  return failures != 0;
}
