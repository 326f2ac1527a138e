/* fmi_driver: runs an FMU of FMI 2.0 or 3.0 to its stop time and prints the last values, "name value" a line.
 *
 *   fmi_driver FILE.fmu cs [TOLERANCE] [NAME=VALUE...]    co-simulation, with the steps of the default experiment
 *   fmi_driver FILE.fmu me [TOLERANCE] [NAME=VALUE...]    model exchange: Dormand-Prince with event location
 *   fmi_driver FILE.fmu state                             co-simulation, saved half-way, serialized, and gone on with twice
 *   fmi_driver FILE.fmu derivatives                       directional derivatives against differences
 *   fmi_driver FILE.fmu many N                            makes, starts and frees N instances
 *
 * It knows nothing of daedal but the file: the archive is read here, and what the interface asks for is declared here. */
#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static void fail(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fprintf(stderr, "fmi_driver: ");
  vfprintf(stderr, format, list);
  fprintf(stderr, "\n");
  va_end(list);
  exit(1);
}

static void *need(void *pointer, const char *what) {
  if (!pointer) fail("no %s", what);
  return pointer;
}

/* ---- the archive ---- */

typedef struct Bytes {
  unsigned char *data;
  size_t size;
} Bytes;

static Bytes read_file(const char *path) {
  FILE *file = need(fopen(path, "rb"), path);
  fseek(file, 0, SEEK_END);
  Bytes bytes = {.size = (size_t)ftell(file)};
  rewind(file);
  bytes.data = need(malloc(bytes.size + 1), "memory");
  if (fread(bytes.data, 1, bytes.size, file) != bytes.size) fail("cannot read %s", path);
  bytes.data[bytes.size] = 0;
  fclose(file);
  return bytes;
}

static uint32_t number(const unsigned char *at, int size) {
  uint32_t value = 0;
  for (int k = size - 1; k >= 0; k--) value = value << 8 | at[k];
  return value;
}

static Bytes unpack(const unsigned char *packed, uint32_t packed_size, uint32_t size, uint32_t method) {
  Bytes bytes = {need(malloc(size + 1), "memory"), size};
  z_stream stream = {
      .next_in = (Bytef *)(uintptr_t)packed, .avail_in = packed_size, .next_out = bytes.data, .avail_out = size};
  if (method == 0) memcpy(bytes.data, packed, size);
  else if (inflateInit2(&stream, -MAX_WBITS) != Z_OK || inflate(&stream, Z_FINISH) != Z_STREAM_END)
    fail("the archive is damaged");
  if (method != 0) inflateEnd(&stream);
  bytes.data[size] = 0;
  return bytes;
}

/* The file of the archive whose path has this beginning and end. */
static Bytes find_file(const Bytes *archive, const char *begin, const char *end) {
  const unsigned char *at = archive->data + archive->size - 22;
  while (at > archive->data && number(at, 4) != 0x06054b50) at--;
  uint32_t count = number(at + 10, 2);
  at = archive->data + number(at + 16, 4);
  for (uint32_t k = 0; k < count; k++) {
    uint32_t length = number(at + 28, 2), skip = length + number(at + 30, 2) + number(at + 32, 2);
    const char *name = (const char *)at + 46;
    bool fits = length >= strlen(begin) + strlen(end) && strncmp(name, begin, strlen(begin)) == 0 &&
                strncmp(name + length - strlen(end), end, strlen(end)) == 0;
    const unsigned char *local = archive->data + number(at + 42, 4);
    if (fits) {
      const unsigned char *data = local + 30 + number(local + 26, 2) + number(local + 28, 2);
      Bytes bytes = unpack(data, number(at + 20, 4), number(at + 24, 4), number(at + 10, 2));
      if (crc32(crc32(0, NULL, 0), bytes.data, (uInt)bytes.size) != number(at + 16, 4)) fail("%s is damaged", name);
      return bytes;
    }
    at += 46 + skip;
  }
  fail("the archive has no %s...%s", begin, end);
  return (Bytes){0};
}

/* ---- the description ---- */

typedef struct Variable {
  char *name;
  unsigned reference;
  char type; /* f, i, b, e: Real, Integer, Boolean, Enumeration */
} Variable;

typedef struct Description {
  char *text;
  int version;
  char *token, *exchange, *cosimulation; /* identifiers; NULL: not offered */
  double start, stop, tolerance, step;
  Variable *variables;
  size_t count, states, indicators;
} Description;

/* The value of an attribute of the element at `at`; NULL if it has none. */
static char *attribute(const char *at, const char *name) {
  char pattern[64];
  const char *end = strchr(at, '>');
  snprintf(pattern, sizeof pattern, " %s=\"", name);
  const char *found = strstr(at, pattern);
  if (!found || found > end) return NULL;
  found += strlen(pattern);
  char *value = strndup(found, strcspn(found, "\"")), *to = value;
  static const struct {
    const char *code;
    char meaning;
  } codes[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
  for (const char *from = value; *from;) {
    size_t length = 1;
    char character = *from;
    for (size_t k = 0; k < sizeof codes / sizeof *codes; k++) {
      if (strncmp(from, codes[k].code, strlen(codes[k].code)) != 0) continue;
      character = codes[k].meaning;
      length = strlen(codes[k].code);
    }
    *to++ = character;
    from += length;
  }
  *to = 0;
  return value;
}

static double attribute_number(const char *at, const char *name, double otherwise) {
  char *text = at ? attribute(at, name) : NULL;
  double value = text ? atof(text) : otherwise;
  free(text);
  return value;
}

static char *attribute_of(const char *text, const char *element, const char *name) {
  const char *at = strstr(text, element);
  return at ? attribute(at, name) : NULL;
}

static size_t count_of(const char *begin, const char *end, const char *element) {
  size_t count = 0;
  for (const char *at = begin; begin && (at = strstr(at, element)) && (!end || at < end); at++) count++;
  return count;
}

static void add_variable(Description *description, const char *at, char type) {
  char *name = attribute(at, "name"), *reference = attribute(at, "valueReference");
  description->variables = realloc(description->variables, (description->count + 1) * sizeof(Variable));
  description->variables[description->count++] = (Variable){name, (unsigned)strtoul(reference, NULL, 10), type};
  free(reference);
}

static void read_variables(Description *description) {
  static const struct {
    const char *element;
    char type;
  } types[] = {{"<Float64 ", 'f'}, {"<Int32 ", 'i'}, {"<Boolean ", 'b'}, {"<Enumeration ", 'e'}};
  const char *begin = need(strstr(description->text, "<ModelVariables"), "variables");
  const char *end = need(strstr(begin, "</ModelVariables"), "end of the variables");
  if (description->version == 3) {
    for (const char *at = begin; (at = strchr(at + 1, '<')) < end;)
      for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (strncmp(at, types[k].element, strlen(types[k].element)) == 0) add_variable(description, at, types[k].type);
    return;
  }
  for (const char *at = begin; (at = strstr(at, "<ScalarVariable ")) && at < end; at++) {
    const char *type = strchr(at + 1, '<');
    add_variable(description, at, type[1] == 'R' ? 'f' : type[1] == 'I' ? 'i' : type[1] == 'B' ? 'b' : 'e');
  }
}

static Description read_description(const Bytes *archive) {
  Description description = {.text = (char *)find_file(archive, "modelDescription.xml", "").data};
  const char *text = description.text, *derivatives = strstr(text, "<Derivatives>");
  char *version = attribute_of(text, "<fmiModelDescription", "fmiVersion");
  description.version = atoi(need(version, "version"));
  bool is_third = description.version == 3;
  description.token = attribute_of(text, "<fmiModelDescription", is_third ? "instantiationToken" : "guid");
  description.exchange = attribute_of(text, "<ModelExchange", "modelIdentifier");
  description.cosimulation = attribute_of(text, "<CoSimulation", "modelIdentifier");
  const char *experiment = strstr(text, "<DefaultExperiment");
  description.start = attribute_number(experiment, "startTime", 0);
  description.stop = attribute_number(experiment, "stopTime", 1);
  description.tolerance = attribute_number(experiment, "tolerance", 1e-6);
  description.step = attribute_number(experiment, "stepSize", (description.stop - description.start) / 500);
  description.states =
      is_third ? count_of(text, NULL, "<ContinuousStateDerivative")
               : count_of(derivatives, derivatives ? strstr(derivatives, "</Derivatives>") : NULL, "<Unknown");
  description.indicators = is_third ? count_of(text, NULL, "<EventIndicator")
                                    : (size_t)attribute_number(text + 5, "numberOfEventIndicators", 0);
  if (!is_third)
    description.indicators =
        (size_t)attribute_number(strstr(text, "<fmiModelDescription"), "numberOfEventIndicators", 0);
  read_variables(&description);
  free(version);
  return description;
}

static void free_description(Description *description) {
  for (size_t k = 0; k < description->count; k++) free(description->variables[k].name);
  free(description->variables);
  free(description->text);
  free(description->token);
  free(description->exchange);
  free(description->cosimulation);
}

/* ---- the interface: types of the arguments as both versions have them ---- */

typedef struct Callbacks2 {
  void (*log)(void *, const char *, int, const char *, const char *, ...);
  void *(*allocate)(size_t, size_t);
  void (*release)(void *);
  void (*finished)(void *, int);
  void *environment;
} Callbacks2;

typedef struct EventInfo2 {
  int needs_more, terminates, nominals_changed, values_changed, has_next;
  double next;
} EventInfo2;

typedef struct Fmu {
  Description description;
  void *library;
  char path[256];
  Callbacks2 callbacks;
  bool is_exchange;
} Fmu;

static void log_2(void *environment, const char *name, int status, const char *category, const char *message, ...) {
  va_list list;
  va_start(list, message);
  (void)environment, (void)name, (void)status, (void)category;
  vfprintf(stderr, message, list);
  fprintf(stderr, "\n");
  va_end(list);
}

static void log_3(void *environment, int status, const char *category, const char *message) {
  (void)environment, (void)status, (void)category;
  fprintf(stderr, "%s\n", message);
}

/* The function of this name, without the prefix of the version. */
static void *function(const Fmu *fmu, const char *name) {
  char full[64];
  snprintf(full, sizeof full, "fmi%d%s", fmu->description.version, name);
  return need(dlsym(fmu->library, full), full);
}

/* ISO C knows no conversion from object to function pointers; POSIX does. */
#define CALL(fmu, name, type, ...) ((type)(uintptr_t)function(fmu, name))(__VA_ARGS__)

static void check(int status, const char *what) {
  if (status > 1) fail("%s returned %d", what, status);
}

static bool is_third(const Fmu *fmu) { return fmu->description.version == 3; }

static Fmu open_fmu(const char *path, bool is_exchange) {
  Bytes archive = read_file(path);
  Fmu fmu = {.description = read_description(&archive),
             .callbacks = {log_2, calloc, free, NULL, NULL},
             .is_exchange = is_exchange};
  const char *identifier = is_exchange ? fmu.description.exchange : fmu.description.cosimulation;
  char ending[300];
  snprintf(ending, sizeof ending, "linux%s/%s.so", is_third(&fmu) ? "" : "64",
           (char *)need((void *)(uintptr_t)identifier, "such kind"));
  Bytes library = find_file(&archive, "binaries/", ending);
  snprintf(fmu.path, sizeof fmu.path, "/tmp/fmi_driver-XXXXXX");
  int file = mkstemp(fmu.path);
  if (file < 0 || write(file, library.data, library.size) != (ssize_t)library.size) fail("cannot write %s", fmu.path);
  close(file);
  fmu.library = dlopen(fmu.path, RTLD_NOW | RTLD_LOCAL);
  unlink(fmu.path);
  if (!fmu.library) fail("%s", dlerror());
  free(library.data);
  free(archive.data);
  return fmu;
}

static void close_fmu(Fmu *fmu) {
  dlclose(fmu->library);
  free_description(&fmu->description);
}

static void *instantiate(const Fmu *fmu) {
  const char *token = fmu->description.token;
  if (!is_third(fmu))
    return CALL(fmu, "Instantiate",
                void *(*)(const char *, int, const char *, const char *, const Callbacks2 *, int, int), "i",
                fmu->is_exchange ? 0 : 1, token, "file:///", &fmu->callbacks, 0, 1);
  if (fmu->is_exchange)
    return CALL(fmu, "InstantiateModelExchange",
                void *(*)(const char *, const char *, const char *, bool, bool, void *,
                          void (*)(void *, int, const char *, const char *)),
                "i", token, "/", false, true, NULL, log_3);
  return CALL(fmu, "InstantiateCoSimulation",
              void *(*)(const char *, const char *, const char *, bool, bool, bool, bool, const unsigned *, size_t,
                        void *, void (*)(void *, int, const char *, const char *), void *),
              "i", token, "/", false, true, false, false, NULL, 0, NULL, log_3, NULL);
}

static void release(const Fmu *fmu, void *instance) { CALL(fmu, "FreeInstance", void (*)(void *), instance); }

static double get(const Fmu *fmu, void *instance, const Variable *variable) {
  double real = 0;
  int64_t large = 0;
  int32_t whole = 0;
  int truth = 0;
  bool third_truth = false;
  unsigned reference = variable->reference;
  if (is_third(fmu)) {
    if (variable->type == 'f')
      check(CALL(fmu, "GetFloat64", int (*)(void *, const unsigned *, size_t, double *, size_t), instance, &reference,
                 1, &real, 1),
            "GetFloat64");
    if (variable->type == 'i')
      check(CALL(fmu, "GetInt32", int (*)(void *, const unsigned *, size_t, int32_t *, size_t), instance, &reference, 1,
                 &whole, 1),
            "GetInt32");
    if (variable->type == 'e')
      check(CALL(fmu, "GetInt64", int (*)(void *, const unsigned *, size_t, int64_t *, size_t), instance, &reference, 1,
                 &large, 1),
            "GetInt64");
    if (variable->type == 'b')
      check(CALL(fmu, "GetBoolean", int (*)(void *, const unsigned *, size_t, bool *, size_t), instance, &reference, 1,
                 &third_truth, 1),
            "GetBoolean");
  } else {
    if (variable->type == 'f')
      check(CALL(fmu, "GetReal", int (*)(void *, const unsigned *, size_t, double *), instance, &reference, 1, &real),
            "GetReal");
    if (variable->type == 'i' || variable->type == 'e')
      check(CALL(fmu, "GetInteger", int (*)(void *, const unsigned *, size_t, int *), instance, &reference, 1, &whole),
            "GetInteger");
    if (variable->type == 'b')
      check(CALL(fmu, "GetBoolean", int (*)(void *, const unsigned *, size_t, int *), instance, &reference, 1, &truth),
            "GetBoolean");
  }
  return real + (double)large + whole + truth + third_truth;
}

static const Variable *find_variable(const Fmu *fmu, const char *name, size_t length) {
  for (size_t k = 0; k < fmu->description.count; k++)
    if (strlen(fmu->description.variables[k].name) == length &&
        strncmp(fmu->description.variables[k].name, name, length) == 0)
      return &fmu->description.variables[k];
  fail("no variable %s", name);
  return NULL;
}

static void set(const Fmu *fmu, void *instance, const Variable *variable, double value) {
  unsigned reference = variable->reference;
  int32_t whole = (int32_t)value;
  int truth = value != 0;
  bool third_truth = value != 0;
  int status;
  if (variable->type == 'f')
    status = is_third(fmu) ? CALL(fmu, "SetFloat64", int (*)(void *, const unsigned *, size_t, const double *, size_t),
                                  instance, &reference, 1, &value, 1)
                           : CALL(fmu, "SetReal", int (*)(void *, const unsigned *, size_t, const double *), instance,
                                  &reference, 1, &value);
  else if (variable->type == 'b')
    status = is_third(fmu) ? CALL(fmu, "SetBoolean", int (*)(void *, const unsigned *, size_t, const bool *, size_t),
                                  instance, &reference, 1, &third_truth, 1)
                           : CALL(fmu, "SetBoolean", int (*)(void *, const unsigned *, size_t, const int *), instance,
                                  &reference, 1, &truth);
  else
    status = is_third(fmu) ? CALL(fmu, "SetInt32", int (*)(void *, const unsigned *, size_t, const int32_t *, size_t),
                                  instance, &reference, 1, &whole, 1)
                           : CALL(fmu, "SetInteger", int (*)(void *, const unsigned *, size_t, const int *), instance,
                                  &reference, 1, &whole);
  check(status, "set");
}

static void initialize(const Fmu *fmu, void *instance, double tolerance, char **settings) {
  const Description *description = &fmu->description;
  for (; settings && *settings; settings++) {
    const char *equal = need(strchr(*settings, '='), "value in NAME=VALUE");
    set(fmu, instance, find_variable(fmu, *settings, (size_t)(equal - *settings)), atof(equal + 1));
  }
  if (is_third(fmu)) {
    check(CALL(fmu, "EnterInitializationMode", int (*)(void *, bool, double, double, bool, double), instance, true,
               tolerance, description->start, true, description->stop),
          "EnterInitializationMode");
  } else {
    check(CALL(fmu, "SetupExperiment", int (*)(void *, int, double, double, int, double), instance, 1, tolerance,
               description->start, 1, description->stop),
          "SetupExperiment");
    check(CALL(fmu, "EnterInitializationMode", int (*)(void *), instance), "EnterInitializationMode");
  }
  check(CALL(fmu, "ExitInitializationMode", int (*)(void *), instance), "ExitInitializationMode");
}

static void print_values(const Fmu *fmu, void *instance) {
  for (size_t k = 0; k < fmu->description.count; k++) {
    const Variable *variable = &fmu->description.variables[k];
    printf("%s\t%.17g\n", variable->name, get(fmu, instance, variable));
  }
}

/* ---- co-simulation ---- */

/* false: the model has ended the run. */
static bool step(const Fmu *fmu, void *instance, double t, double size) {
  bool needs_event, terminates = false, is_early;
  double last;
  if (is_third(fmu)) {
    check(CALL(fmu, "DoStep", int (*)(void *, double, double, bool, bool *, bool *, bool *, double *), instance, t,
               size, true, &needs_event, &terminates, &is_early, &last),
          "DoStep");
    return !terminates;
  }
  int status = CALL(fmu, "DoStep", int (*)(void *, double, double, int), instance, t, size, 1);
  if (status != 2) check(status, "DoStep");
  return status != 2;
}

static void advance(const Fmu *fmu, void *instance, double from, double to) {
  long steps = lround((to - from) / fmu->description.step);
  for (long k = 0; k < (steps ? steps : 1); k++) {
    double begin = k ? from + (double)k * fmu->description.step : from;
    double end = k + 1 < steps ? from + (double)(k + 1) * fmu->description.step : to;
    if (!step(fmu, instance, begin, end - begin)) return;
  }
}

/* ---- model exchange ---- */

typedef struct Exchange {
  const Fmu *fmu;
  void *instance;
  size_t states, indicators;
  double t, next_event;
  double *x, *trial, *slopes[7], *before, *after;
  bool terminated;
} Exchange;

static double *room(size_t count) { return need(calloc(count + 1, sizeof(double)), "memory"); }

static void set_point(Exchange *run, double t, const double *x) {
  check(CALL(run->fmu, "SetTime", int (*)(void *, double), run->instance, t), "SetTime");
  if (run->states)
    check(CALL(run->fmu, "SetContinuousStates", int (*)(void *, const double *, size_t), run->instance, x, run->states),
          "SetContinuousStates");
}

/* false: the equations cannot be solved there. */
static bool derivatives(Exchange *run, double t, const double *x, double *slope) {
  const char *name = is_third(run->fmu) ? "GetContinuousStateDerivatives" : "GetDerivatives";
  set_point(run, t, x);
  return CALL(run->fmu, name, int (*)(void *, double *, size_t), run->instance, slope, run->states) <= 1;
}

static void indicators(Exchange *run, double *values) {
  if (run->indicators)
    check(
        CALL(run->fmu, "GetEventIndicators", int (*)(void *, double *, size_t), run->instance, values, run->indicators),
        "GetEventIndicators");
}

/* Dormand and Prince 1980: the step in `trial`; its error over the tolerance, infinite where it cannot be made. */
static double try_step(Exchange *run, double h, double tolerance) {
  static const double c[7] = {0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1};
  static const double a[7][6] = {{0},
                                 {1. / 5},
                                 {3. / 40, 9. / 40},
                                 {44. / 45, -56. / 15, 32. / 9},
                                 {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
                                 {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
                                 {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}};
  static const double e[7] = {71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40};
  for (int s = 0; s < 7; s++) {
    for (size_t k = 0; k < run->states; k++) {
      run->trial[k] = run->x[k];
      for (int i = 0; i < s; i++) run->trial[k] += h * a[s][i] * run->slopes[i][k];
    }
    if (!derivatives(run, run->t + c[s] * h, run->trial, run->slopes[s])) return INFINITY;
  }
  double error = 0;
  for (size_t k = 0; k < run->states; k++) {
    double sum = 0;
    for (int s = 0; s < 7; s++) sum += h * e[s] * run->slopes[s][k];
    error = fmax(error, fabs(sum) / (tolerance * (1 + fabs(run->x[k]))));
  }
  return error;
}

static bool crosses(const Exchange *run) {
  for (size_t k = 0; k < run->indicators; k++)
    if ((run->before[k] > 0) != (run->after[k] > 0)) return true;
  return false;
}

static void handle_event(Exchange *run) {
  const Fmu *fmu = run->fmu;
  bool needs_more = true, values_changed = true, has_next = false;
  double next = INFINITY;
  check(CALL(fmu, "EnterEventMode", int (*)(void *), run->instance), "EnterEventMode");
  while (needs_more && !run->terminated) {
    if (is_third(fmu)) {
      bool nominals, terminates;
      check(CALL(fmu, "UpdateDiscreteStates", int (*)(void *, bool *, bool *, bool *, bool *, bool *, double *),
                 run->instance, &needs_more, &terminates, &nominals, &values_changed, &has_next, &next),
            "UpdateDiscreteStates");
      run->terminated = terminates;
    } else {
      EventInfo2 info = {0};
      check(CALL(fmu, "NewDiscreteStates", int (*)(void *, EventInfo2 *), run->instance, &info), "NewDiscreteStates");
      needs_more = info.needs_more;
      run->terminated = info.terminates;
      has_next = info.has_next;
      next = info.next;
    }
  }
  run->next_event = has_next ? next : INFINITY;
  check(CALL(fmu, "EnterContinuousTimeMode", int (*)(void *), run->instance), "EnterContinuousTimeMode");
  if (run->states)
    check(CALL(fmu, "GetContinuousStates", int (*)(void *, double *, size_t), run->instance, run->x, run->states),
          "GetContinuousStates");
  indicators(run, run->before);
}

/* The largest part of a step without an event, and a little more. */
static double locate(Exchange *run, double h) {
  double low = 0, high = h;
  for (int k = 0; k < 60 && high - low > 1e-14 * (fabs(run->t) + h); k++) {
    double middle = low + (high - low) / 2;
    try_step(run, middle, 1);
    set_point(run, run->t + middle, run->trial);
    indicators(run, run->after);
    *(crosses(run) ? &high : &low) = middle;
  }
  try_step(run, high, 1);
  return high;
}

static void accept(Exchange *run, double h, bool is_event) {
  bool needs_event_3 = false, terminates_3 = false;
  int needs_event = 0, terminates = 0;
  run->t += h;
  memcpy(run->x, run->trial, run->states * sizeof(double));
  set_point(run, run->t, run->x);
  if (is_third(run->fmu))
    check(CALL(run->fmu, "CompletedIntegratorStep", int (*)(void *, bool, bool *, bool *), run->instance, true,
               &needs_event_3, &terminates_3),
          "CompletedIntegratorStep");
  else
    check(CALL(run->fmu, "CompletedIntegratorStep", int (*)(void *, int, int *, int *), run->instance, 1, &needs_event,
               &terminates),
          "CompletedIntegratorStep");
  run->terminated = run->terminated || terminates || terminates_3;
  if (is_event || needs_event || needs_event_3) handle_event(run);
  else indicators(run, run->before);
}

static void exchange(const Fmu *fmu, void *instance, double tolerance) {
  size_t n = fmu->description.states, m = fmu->description.indicators;
  double stop = fmu->description.stop, h = 1e-4 * (stop - fmu->description.start);
  Exchange run = {.fmu = fmu, .instance = instance, .states = n, .indicators = m, .t = fmu->description.start};
  run.x = room(n), run.trial = room(n), run.before = room(m), run.after = room(m);
  for (int s = 0; s < 7; s++) run.slopes[s] = room(n);
  handle_event(&run);
  while (run.t < stop && !run.terminated) {
    double end = fmin(stop, run.next_event);
    h = fmin(h, 5 * fmu->description.step); /* an event may hide in a long step */
    bool is_last = run.t + 1.001 * h >= end;
    double size = is_last ? end - run.t : h;
    double error = n ? try_step(&run, size, 0.1 * tolerance) : 0;
    if (!n) set_point(&run, run.t + size, NULL);
    if (error > 1) {
      h = size * fmax(0.2, isfinite(error) ? 0.9 * pow(error, -0.2) : 0.2);
      if (h < 1e-15 * (1 + fabs(run.t))) fail("the step at %g is too small", run.t);
      continue;
    }
    set_point(&run, run.t + size, run.trial);
    indicators(&run, run.after);
    bool is_event = crosses(&run);
    double done = is_event && n ? locate(&run, size) : size;
    if (!is_last || error > 0.01) h = size * fmin(5, 0.9 * pow(fmax(error, 1e-6), -0.2));
    accept(&run, done, is_event || (is_last && end == run.next_event));
  }
  free(run.x), free(run.trial), free(run.before), free(run.after);
  for (int s = 0; s < 7; s++) free(run.slopes[s]);
}

/* ---- states, derivatives, instances ---- */

static double *all_values(const Fmu *fmu, void *instance) {
  double *values = room(fmu->description.count);
  for (size_t k = 0; k < fmu->description.count; k++) values[k] = get(fmu, instance, &fmu->description.variables[k]);
  return values;
}

/* A state saved half-way and serialized leads another instance to the same numbers, bit for bit. */
static void check_state(const Fmu *fmu) {
  const Description *description = &fmu->description;
  double middle = description->start + 0.5 * (description->stop - description->start);
  void *state = NULL, *copy = NULL, *first = instantiate(fmu), *second = instantiate(fmu);
  size_t size = 0;
  initialize(fmu, first, description->tolerance, NULL);
  initialize(fmu, second, description->tolerance, NULL);
  advance(fmu, first, description->start, middle);
  const char *spelled = is_third(fmu) ? "GetFMUState" : "GetFMUstate";
  check(CALL(fmu, spelled, int (*)(void *, void **), first, &state), spelled);
  spelled = is_third(fmu) ? "SerializedFMUStateSize" : "SerializedFMUstateSize";
  check(CALL(fmu, spelled, int (*)(void *, void *, size_t *), first, state, &size), spelled);
  char *bytes = need(malloc(size), "memory");
  spelled = is_third(fmu) ? "SerializeFMUState" : "SerializeFMUstate";
  check(CALL(fmu, spelled, int (*)(void *, void *, char *, size_t), first, state, bytes, size), spelled);
  advance(fmu, first, middle, description->stop);
  spelled = is_third(fmu) ? "DeserializeFMUState" : "DeSerializeFMUstate";
  check(CALL(fmu, spelled, int (*)(void *, const char *, size_t, void **), second, bytes, size, &copy), spelled);
  spelled = is_third(fmu) ? "SetFMUState" : "SetFMUstate";
  check(CALL(fmu, spelled, int (*)(void *, void *), second, copy), spelled);
  advance(fmu, second, middle, description->stop);
  double *a = all_values(fmu, first), *b = all_values(fmu, second);
  for (size_t k = 0; k < description->count; k++)
    if (a[k] != b[k] && !(isnan(a[k]) && isnan(b[k])))
      fail("%s is %.17g and %.17g", description->variables[k].name, a[k], b[k]);
  spelled = is_third(fmu) ? "FreeFMUState" : "FreeFMUstate";
  check(CALL(fmu, spelled, int (*)(void *, void **), first, &state), spelled);
  check(CALL(fmu, spelled, int (*)(void *, void **), second, &copy), spelled);
  print_values(fmu, first);
  free(a), free(b), free(bytes);
  release(fmu, first);
  release(fmu, second);
}

/* Each derivative by each state, against central differences. */
static void check_derivatives(const Fmu *fmu) {
  size_t n = fmu->description.states;
  Exchange run = {.fmu = fmu, .instance = instantiate(fmu), .states = n, .t = fmu->description.start};
  double *x = room(n), *high = room(n), *low = room(n), worst = 0;
  initialize(fmu, run.instance, fmu->description.tolerance, NULL);
  check(CALL(fmu, "GetContinuousStates", int (*)(void *, double *, size_t), run.instance, x, n), "GetContinuousStates");
  for (size_t k = 0; k < n; k++) {
    char name[48];
    snprintf(name, sizeof name, "$state[%zu]", k + 1);
    unsigned known = find_variable(fmu, name, strlen(name))->reference;
    double kept = x[k], delta = 1e-5 * (1 + fabs(kept)), seed = 1, exact;
    x[k] = kept + delta;
    if (!derivatives(&run, run.t, x, high)) fail("no derivatives");
    x[k] = kept - delta;
    if (!derivatives(&run, run.t, x, low)) fail("no derivatives");
    x[k] = kept;
    set_point(&run, run.t, x);
    for (size_t i = 0; i < n; i++) {
      snprintf(name, sizeof name, "der($state[%zu])", i + 1);
      unsigned unknown = find_variable(fmu, name, strlen(name))->reference;
      check(is_third(fmu)
                ? CALL(fmu, "GetDirectionalDerivative",
                       int (*)(void *, const unsigned *, size_t, const unsigned *, size_t, const double *, size_t,
                               double *, size_t),
                       run.instance, &unknown, 1, &known, 1, &seed, 1, &exact, 1)
                : CALL(fmu, "GetDirectionalDerivative",
                       int (*)(void *, const unsigned *, size_t, const unsigned *, size_t, const double *, double *),
                       run.instance, &unknown, 1, &known, 1, &seed, &exact),
            "GetDirectionalDerivative");
      double differences = (high[i] - low[i]) / (2 * delta);
      worst = fmax(worst, fabs(exact - differences) / (1 + fabs(differences)));
    }
  }
  printf("worst\t%.17g\n", worst);
  free(x), free(high), free(low);
  release(fmu, run.instance);
}

static void make_many(const Fmu *fmu, long count) {
  for (long k = 0; k < count; k++) {
    void *instance = need(instantiate(fmu), "instance");
    initialize(fmu, instance, fmu->description.tolerance, NULL);
    release(fmu, instance);
  }
}

int main(int count, char **arguments) {
  if (count < 3) fail("usage: fmi_driver FILE.fmu cs|me|state|derivatives|many ...");
  const char *what = arguments[2];
  Fmu fmu = open_fmu(arguments[1], strcmp(what, "me") == 0 || strcmp(what, "derivatives") == 0);
  if (strcmp(what, "state") == 0) check_state(&fmu);
  else if (strcmp(what, "derivatives") == 0) check_derivatives(&fmu);
  else if (strcmp(what, "many") == 0) make_many(&fmu, atol(arguments[3]));
  else {
    double tolerance = count > 3 ? atof(arguments[3]) : fmu.description.tolerance;
    void *instance = need(instantiate(&fmu), "instance");
    initialize(&fmu, instance, tolerance, count > 4 ? arguments + 4 : NULL);
    if (fmu.is_exchange) exchange(&fmu, instance, tolerance);
    else advance(&fmu, instance, fmu.description.start, fmu.description.stop);
    print_values(&fmu, instance);
    release(&fmu, instance);
  }
  close_fmu(&fmu);
  return 0;
}
