/* fmi_driver: runs an FMU of FMI 2.0 or 3.0 to its stop time and prints the last values, "name value" a line.
 *
 *   fmi_driver FILE.fmu cs [TOLERANCE] [NAME=VALUE...]    co-simulation, with the steps of the default experiment
 *   fmi_driver FILE.fmu me [TOLERANCE] [NAME=VALUE...]    model exchange: Dormand-Prince with event location
 *   fmi_driver FILE.fmu part FRACTION KIND [NAME=VALUE...]   the same for a part of the time
 *   fmi_driver FILE.fmu tune KIND NAME=VALUE...              with other values from the middle of the time on
 *   fmi_driver FILE.fmu rows                              co-simulation, all communication points as CSV
 *   fmi_driver FILE.fmu events                            co-simulation of FMI 3.0 with event mode, early return, intermediate updates
 *   fmi_driver FILE.fmu state [me]                        saved half-way, serialized, and continued twice; co-simulation, or model exchange
 *   fmi_driver FILE.fmu derivatives                       directional and adjoint derivatives against differences, "unknown known value"
 *   fmi_driver FILE.fmu many N                            makes, starts and frees N instances
 *
 * It gets only the file from daedal: the archive is read here, and the types and functions of the interface are declared here. */
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

/* A file of an archive. */
typedef struct Member {
  const unsigned char *entry; /* entry of the archive's list */
  const char *name;
  uint32_t length;
} Member;

/* The k-th file; false after the last one. */
static bool member(const Bytes *archive, uint32_t k, Member *found) {
  const unsigned char *at = archive->data + archive->size - 22;
  while (at > archive->data && number(at, 4) != 0x06054b50) at--;
  if (k >= number(at + 10, 2)) return false;
  at = archive->data + number(at + 16, 4);
  for (; k > 0; k--) at += 46 + number(at + 28, 2) + number(at + 30, 2) + number(at + 32, 2);
  *found = (Member){at, (const char *)at + 46, number(at + 28, 2)};
  return true;
}

static Bytes unpack_member(const Bytes *archive, const Member *file) {
  const unsigned char *at = file->entry, *local = archive->data + number(at + 42, 4);
  const unsigned char *data = local + 30 + number(local + 26, 2) + number(local + 28, 2);
  Bytes bytes = unpack(data, number(at + 20, 4), number(at + 24, 4), number(at + 10, 2));
  if (crc32(crc32(0, NULL, 0), bytes.data, (uInt)bytes.size) != number(at + 16, 4)) fail("%s is damaged", file->name);
  return bytes;
}

/* The file of the archive whose path has this beginning and end. */
static Bytes find_file(const Bytes *archive, const char *begin, const char *end) {
  Member file;
  for (uint32_t k = 0; member(archive, k, &file); k++)
    if (file.length >= strlen(begin) + strlen(end) && strncmp(file.name, begin, strlen(begin)) == 0 &&
        strncmp(file.name + file.length - strlen(end), end, strlen(end)) == 0)
      return unpack_member(archive, &file);
  fail("the archive has no %s...%s", begin, end);
  return (Bytes){0};
}

static void write_file(const char *path, const Bytes *bytes) {
  FILE *file = need(fopen(path, "wb"), path);
  if (fwrite(bytes->data, 1, bytes->size, file) != bytes->size || fclose(file) != 0) fail("cannot write %s", path);
}

/* Unpacks the files of resources/; with `is_removed`, removes the unpacked ones. */
static void each_resource(const Bytes *archive, const char *folder, bool is_removed) {
  static const char begin[] = "resources/";
  Member file;
  for (uint32_t k = 0; member(archive, k, &file); k++) {
    char path[400];
    if (file.length <= strlen(begin) || strncmp(file.name, begin, strlen(begin)) != 0) continue;
    snprintf(path, sizeof path, "%s/%.*s", folder, (int)(file.length - strlen(begin)), file.name + strlen(begin));
    if (is_removed) {
      unlink(path);
      continue;
    }
    Bytes bytes = unpack_member(archive, &file);
    write_file(path, &bytes);
    free(bytes.data);
  }
}

/* ---- the description ---- */

typedef struct Variable {
  char *name;
  unsigned reference;
  char type;   /* f, i, b, e: Real, Integer, Boolean, Enumeration */
  size_t size; /* values; more than one of Float64 only */
  bool is_input;
  unsigned number,
      state; /* the number of the variable in lists, and that of its state if it is a rate: references in FMI 3.0, positions in FMI 2.0 */
  bool is_rate;
} Variable;

typedef struct Description {
  char *text;
  int version;
  char *token, *exchange, *cosimulation; /* identifiers; NULL: not offered */
  double start, stop, tolerance, step;
  Variable *variables;
  size_t count, states, indicators; /* the last two for FMI 2.0 only */
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

/* The start value of the structural parameter with this reference. */
static size_t structural_start(const Description *description, const char *reference) {
  char pattern[64];
  snprintf(pattern, sizeof pattern, " valueReference=\"%s\"", reference);
  return (size_t)attribute_number(need(strstr(description->text, pattern), "size of an array"), "start", 1);
}

/* The number of values of the variable at `at`: the product of its dimensions. */
static size_t variable_size(const Description *description, const char *at) {
  const char *end = strchr(at, '>');
  size_t size = 1;
  if (end[-1] == '/' || description->version == 2) return 1;
  for (const char *child = strchr(end, '<'); strncmp(child, "<Dimension", 10) == 0; child = strchr(child + 1, '<')) {
    char *reference = attribute(child, "valueReference");
    size *= reference ? structural_start(description, reference) : (size_t)attribute_number(child, "start", 1);
    free(reference);
  }
  return size;
}

static void add_variable(Description *description, const char *at, const char *inner, unsigned position, char type) {
  char *state = attribute(inner, "derivative");
  char *name = attribute(at, "name"), *reference = attribute(at, "valueReference"), *kind = attribute(at, "causality");
  size_t size = variable_size(description, at);
  if (size == 1 || type == 'f') {
    description->variables = realloc(description->variables, (description->count + 1) * sizeof(Variable));
    description->variables[description->count++] = (Variable){name,
                                                              (unsigned)strtoul(reference, NULL, 10),
                                                              type,
                                                              size,
                                                              kind && strcmp(kind, "input") == 0,
                                                              position,
                                                              state ? (unsigned)strtoul(state, NULL, 10) : 0,
                                                              state != NULL};
    if (description->version == 3)
      description->variables[description->count - 1].number = description->variables[description->count - 1].reference;
  } else free(name);
  free(state);
  free(reference);
  free(kind);
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
        if (strncmp(at, types[k].element, strlen(types[k].element)) == 0)
          add_variable(description, at, at, 0, types[k].type);
    return;
  }
  unsigned position = 1;
  for (const char *at = begin; (at = strstr(at, "<ScalarVariable ")) && at < end; at++, position++) {
    const char *type = strchr(at + 1, '<');
    if (type[1] != 'S')
      add_variable(description, at, type, position,
                   type[1] == 'R'   ? 'f'
                   : type[1] == 'I' ? 'i'
                   : type[1] == 'B' ? 'b'
                                    : 'e');
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
  description.states = count_of(derivatives, derivatives ? strstr(derivatives, "</Derivatives>") : NULL, "<Unknown");
  description.indicators = (size_t)attribute_number(strstr(text, "<fmiModelDescription"), "numberOfEventIndicators", 0);
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

/* The record of intermediate updates of FMI 3.0. */
typedef struct Updates {
  double last, return_at; /* from this time on, an early return is requested */
  long count;
  bool is_going_back;
} Updates;

typedef struct Fmu {
  Description description;
  Bytes archive;
  void *library;
  char folder[64], resources[100];
  Callbacks2 callbacks;
  bool is_exchange, has_event_mode;
  Updates *updates; /* NULL: none are recorded */
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

static void update_3(void *environment, double time, bool wants_input, bool may_read, bool is_step, bool may_return,
                     bool *wants_return, double *earliest) {
  Updates *updates = environment;
  (void)wants_input, (void)earliest;
  updates->count++;
  updates->is_going_back |= time < updates->last || !may_read || !is_step;
  updates->last = time;
  *wants_return = may_return && time >= updates->return_at;
  if (*wants_return) updates->return_at = INFINITY;
}

/* The function of this name, without the prefix of the version. */
static void *function(const Fmu *fmu, const char *name) {
  char full[64];
  snprintf(full, sizeof full, "fmi%d%s", fmu->description.version, name);
  return need(dlsym(fmu->library, full), full);
}

/* ISO C has no conversion from object to function pointers; POSIX has. */
#define CALL(fmu, name, type, ...) ((type)(uintptr_t)function(fmu, name))(__VA_ARGS__)

static void check(int status, const char *what) {
  if (status > 1) fail("%s returned %d", what, status);
}

static bool is_third(const Fmu *fmu) { return fmu->description.version == 3; }

/* Folders of this machine's binaries, by FMI 2 and 3. */
#if defined __x86_64__
static const char *const PLATFORM[] = {"linux64", "x86_64-linux"};
#else
static const char *const PLATFORM[] = {"aarch64-linux", "aarch64-linux"};
#endif

static Fmu open_fmu(const char *path, bool is_exchange) {
  Fmu fmu = {.archive = read_file(path), .callbacks = {log_2, calloc, free, NULL, NULL}, .is_exchange = is_exchange};
  char ending[300], binary[100];
  fmu.description = read_description(&fmu.archive);
  const char *identifier = is_exchange ? fmu.description.exchange : fmu.description.cosimulation;
  snprintf(ending, sizeof ending, "%s/%s.so", PLATFORM[is_third(&fmu)],
           (char *)need((void *)(uintptr_t)identifier, "such kind"));
  Bytes library = find_file(&fmu.archive, "binaries/", ending);
  snprintf(fmu.folder, sizeof fmu.folder, "/tmp/fmi_driver-XXXXXX");
  need(mkdtemp(fmu.folder), "folder");
  each_resource(&fmu.archive, fmu.folder, false);
  snprintf(fmu.resources, sizeof fmu.resources, is_third(&fmu) ? "%s/" : "file://%s", fmu.folder);
  snprintf(binary, sizeof binary, "%s/.so", fmu.folder);
  write_file(binary, &library);
  fmu.library = dlopen(binary, RTLD_NOW | RTLD_LOCAL);
  unlink(binary);
  if (!fmu.library) fail("%s", dlerror());
  free(library.data);
  return fmu;
}

static void close_fmu(Fmu *fmu) {
  dlclose(fmu->library);
  each_resource(&fmu->archive, fmu->folder, true);
  rmdir(fmu->folder);
  free(fmu->archive.data);
  free_description(&fmu->description);
}

static void *instantiate(const Fmu *fmu) {
  const char *token = fmu->description.token;
  if (!is_third(fmu))
    return CALL(fmu, "Instantiate",
                void *(*)(const char *, int, const char *, const char *, const Callbacks2 *, int, int), "i",
                fmu->is_exchange ? 0 : 1, token, fmu->resources, &fmu->callbacks, 0, 1);
  if (fmu->is_exchange)
    return CALL(fmu, "InstantiateModelExchange",
                void *(*)(const char *, const char *, const char *, bool, bool, void *,
                          void (*)(void *, int, const char *, const char *)),
                "i", token, fmu->resources, false, true, NULL, log_3);
  return CALL(fmu, "InstantiateCoSimulation",
              void *(*)(const char *, const char *, const char *, bool, bool, bool, bool, const unsigned *, size_t,
                        void *, void (*)(void *, int, const char *, const char *),
                        void (*)(void *, double, bool, bool, bool, bool, bool *, double *)),
              "i", token, fmu->resources, false, true, fmu->has_event_mode, fmu->has_event_mode, NULL, 0, fmu->updates,
              log_3, fmu->updates ? update_3 : NULL);
}

static void release(const Fmu *fmu, void *instance) { CALL(fmu, "FreeInstance", void (*)(void *), instance); }

static double get_element(const Fmu *fmu, void *instance, const Variable *variable, size_t k) {
  double *values = need(calloc(variable->size, sizeof *values), "memory");
  check(CALL(fmu, "GetFloat64", int (*)(void *, const unsigned *, size_t, double *, size_t), instance,
             &variable->reference, 1, values, variable->size),
        "GetFloat64");
  double value = values[k];
  free(values);
  return value;
}

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
  else if (variable->type == 'e' && is_third(fmu))
    status = CALL(fmu, "SetInt64", int (*)(void *, const unsigned *, size_t, const int64_t *, size_t), instance,
                  &reference, 1, &(int64_t){whole}, 1);
  else
    status = is_third(fmu) ? CALL(fmu, "SetInt32", int (*)(void *, const unsigned *, size_t, const int32_t *, size_t),
                                  instance, &reference, 1, &whole, 1)
                           : CALL(fmu, "SetInteger", int (*)(void *, const unsigned *, size_t, const int *), instance,
                                  &reference, 1, &whole);
  check(status, "set");
}

static void apply(const Fmu *fmu, void *instance, char **settings) {
  for (; settings && *settings; settings++) {
    const char *equal = need(strchr(*settings, '='), "value in NAME=VALUE");
    set(fmu, instance, find_variable(fmu, *settings, (size_t)(equal - *settings)), atof(equal + 1));
  }
}

static void initialize(const Fmu *fmu, void *instance, double tolerance, char **settings) {
  const Description *description = &fmu->description;
  apply(fmu, instance, settings);
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
    if (variable->size == 1) printf("%s\t%.17g\n", variable->name, get(fmu, instance, variable));
    for (size_t i = 0; i < variable->size && variable->size > 1; i++)
      printf("%s[%zu]\t%.17g\n", variable->name, i + 1, get_element(fmu, instance, variable, i));
  }
}

static void print_names(const Fmu *fmu) {
  printf("point");
  for (size_t k = 0; k < fmu->description.count; k++)
    if (fmu->description.variables[k].size == 1) printf(",\"%s\"", fmu->description.variables[k].name);
  printf("\n");
}

/* A row of CSV: the communication point, then the values there. */
static void print_row(const Fmu *fmu, void *instance, double t) {
  printf("%.17g", t);
  for (size_t k = 0; k < fmu->description.count; k++)
    if (fmu->description.variables[k].size == 1) printf(",%.17g", get(fmu, instance, &fmu->description.variables[k]));
  printf("\n");
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

static void advance(const Fmu *fmu, void *instance, double from, double to, bool prints) {
  long steps = lround((to - from) / fmu->description.step);
  if (prints) print_names(fmu);
  if (prints) print_row(fmu, instance, from);
  for (long k = 0; k < (steps ? steps : 1); k++) {
    double begin = k ? from + (double)k * fmu->description.step : from;
    double end = k + 1 < steps ? from + (double)(k + 1) * fmu->description.step : to;
    bool goes_on = step(fmu, instance, begin, end - begin);
    if (prints) print_row(fmu, instance, end);
    if (!goes_on) return;
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

/* Dormand and Prince 1980: computes the step in `trial`. Returns its error relative to the tolerance, infinite if the step is
 * impossible. */
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

/* Iterates at an event. *next: the time of the next one; false: the model ends the run. */
static bool update_discrete_states(const Fmu *fmu, void *instance, double *next) {
  bool needs_more = true, terminates = false;
  while (needs_more && !terminates) {
    bool has_next, nominals, values_changed;
    if (is_third(fmu)) {
      check(CALL(fmu, "UpdateDiscreteStates", int (*)(void *, bool *, bool *, bool *, bool *, bool *, double *),
                 instance, &needs_more, &terminates, &nominals, &values_changed, &has_next, next),
            "UpdateDiscreteStates");
    } else {
      EventInfo2 info = {0};
      check(CALL(fmu, "NewDiscreteStates", int (*)(void *, EventInfo2 *), instance, &info), "NewDiscreteStates");
      needs_more = info.needs_more;
      terminates = info.terminates;
      has_next = info.has_next;
      *next = info.next;
    }
    if (!has_next) *next = INFINITY;
  }
  return !terminates;
}

/* Finishes an event. The instance is in event mode, as after the initialization. */
static void finish_event(Exchange *run) {
  const Fmu *fmu = run->fmu;
  run->terminated = !update_discrete_states(fmu, run->instance, &run->next_event);
  check(CALL(fmu, "EnterContinuousTimeMode", int (*)(void *), run->instance), "EnterContinuousTimeMode");
  if (run->states)
    check(CALL(fmu, "GetContinuousStates", int (*)(void *, double *, size_t), run->instance, run->x, run->states),
          "GetContinuousStates");
  indicators(run, run->before);
}

static void handle_event(Exchange *run) {
  check(CALL(run->fmu, "EnterEventMode", int (*)(void *), run->instance), "EnterEventMode");
  finish_event(run);
}

/* The largest part of a step without an event, plus a little. */
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

/* The number of states or of event indicators. */
static size_t count_for(const Fmu *fmu, void *instance, const char *name, size_t described) {
  size_t count = described;
  if (is_third(fmu)) check(CALL(fmu, name, int (*)(void *, size_t *), instance, &count), name);
  return count;
}

static size_t state_count(const Fmu *fmu, void *instance) {
  return count_for(fmu, instance, "GetNumberOfContinuousStates", fmu->description.states);
}

/* A run from t on: from the start, or from the time that the instance has reached. */
static Exchange begin_exchange(const Fmu *fmu, void *instance, double t) {
  size_t n = state_count(fmu, instance),
         m = count_for(fmu, instance, "GetNumberOfEventIndicators", fmu->description.indicators);
  Exchange run = {.fmu = fmu, .instance = instance, .states = n, .indicators = m, .t = t};
  run.x = room(n), run.trial = room(n), run.before = room(m), run.after = room(m);
  for (int s = 0; s < 7; s++) run.slopes[s] = room(n);
  if (t == fmu->description.start) finish_event(&run);
  else handle_event(&run);
  return run;
}

static void end_exchange(Exchange *run) {
  free(run->x), free(run->trial), free(run->before), free(run->after);
  for (int s = 0; s < 7; s++) free(run->slopes[s]);
}

static void integrate(Exchange *run, double stop, double tolerance) {
  const Description *description = &run->fmu->description;
  double h = 1e-4 * (stop - run->t);
  while (run->t < stop && !run->terminated) {
    double end = fmin(stop, run->next_event);
    h = fmin(h, 5 * description->step); /* an event may hide in a long step */
    bool is_last = run->t + 1.001 * h >= end;
    double size = is_last ? end - run->t : h;
    double error = run->states ? try_step(run, size, 0.1 * tolerance) : 0;
    if (!run->states) set_point(run, run->t + size, NULL);
    if (error > 1) {
      h = size * fmax(0.2, isfinite(error) ? 0.9 * pow(error, -0.2) : 0.2);
      if (h < 1e-15 * (1 + fabs(run->t))) fail("the step at %g is too small", run->t);
      continue;
    }
    set_point(run, run->t + size, run->trial);
    indicators(run, run->after);
    bool is_event = crosses(run);
    double done = is_event && run->states ? locate(run, size) : size;
    if (!is_last || error > 0.01) h = size * fmin(5, 0.9 * pow(fmax(error, 1e-6), -0.2));
    accept(run, done, is_event || (is_last && end == run->next_event));
  }
}

/* Runs from one time to another, by the kind of the FMU. */
static void simulate(const Fmu *fmu, void *instance, double from, double to, double tolerance) {
  if (!fmu->is_exchange) {
    advance(fmu, instance, from, to, false);
    return;
  }
  Exchange run = begin_exchange(fmu, instance, from);
  integrate(&run, to, tolerance);
  end_exchange(&run);
}

/* ---- states, derivatives, instances ---- */

static double *all_values(const Fmu *fmu, void *instance) {
  double *values = room(fmu->description.count);
  for (size_t k = 0; k < fmu->description.count; k++) values[k] = get(fmu, instance, &fmu->description.variables[k]);
  return values;
}

/* Saves and serializes a state half-way. Another instance that continues from it must give the same numbers, bit for bit. */
static void check_state(const Fmu *fmu) {
  const Description *description = &fmu->description;
  double middle = description->start + 0.5 * (description->stop - description->start);
  void *state = NULL, *copy = NULL, *first = instantiate(fmu), *second = instantiate(fmu);
  size_t size = 0;
  initialize(fmu, first, description->tolerance, NULL);
  initialize(fmu, second, description->tolerance, NULL);
  simulate(fmu, first, description->start, middle, description->tolerance);
  const char *spelled = is_third(fmu) ? "GetFMUState" : "GetFMUstate";
  check(CALL(fmu, spelled, int (*)(void *, void **), first, &state), spelled);
  spelled = is_third(fmu) ? "SerializedFMUStateSize" : "SerializedFMUstateSize";
  check(CALL(fmu, spelled, int (*)(void *, void *, size_t *), first, state, &size), spelled);
  char *bytes = need(malloc(size), "memory");
  spelled = is_third(fmu) ? "SerializeFMUState" : "SerializeFMUstate";
  check(CALL(fmu, spelled, int (*)(void *, void *, char *, size_t), first, state, bytes, size), spelled);
  simulate(fmu, first, middle, description->stop, description->tolerance);
  spelled = is_third(fmu) ? "DeserializeFMUState" : "DeSerializeFMUstate";
  check(CALL(fmu, spelled, int (*)(void *, const char *, size_t, void **), second, bytes, size, &copy), spelled);
  spelled = is_third(fmu) ? "SetFMUState" : "SetFMUstate";
  check(CALL(fmu, spelled, int (*)(void *, void *), second, copy), spelled);
  simulate(fmu, second, middle, description->stop, description->tolerance);
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

/* ---- derivatives ---- */

typedef struct Pair {
  const Variable *unknown, *known;
} Pair;

static const Variable *find_number(const Fmu *fmu, unsigned number) {
  for (size_t k = 0; k < fmu->description.count; k++)
    if (fmu->description.variables[k].number == number) return &fmu->description.variables[k];
  fail("no variable with the number %u", number);
  return NULL;
}

/* The derivative of the k-th state, as the structure of the model lists them. */
static const Variable *find_rate(const Fmu *fmu, size_t k) {
  const char *element = is_third(fmu) ? "<ContinuousStateDerivative" : "<Unknown";
  const char *at = need(strstr(fmu->description.text, is_third(fmu) ? "<ModelStructure" : "<Derivatives"), "states");
  for (size_t i = 0; i <= k; i++) at = need(strstr(at + 1, element), "state");
  return find_number(fmu, (unsigned)attribute_number(at, is_third(fmu) ? "valueReference" : "index", 0));
}

static const Variable *find_state(const Fmu *fmu, size_t k) { return find_number(fmu, find_rate(fmu, k)->state); }

static double directional(const Fmu *fmu, void *instance, Pair pair) {
  double seed = 1, value = 0;
  unsigned unknown = pair.unknown->reference, known = pair.known->reference;
  check(is_third(fmu)
            ? CALL(fmu, "GetDirectionalDerivative",
                   int (*)(void *, const unsigned *, size_t, const unsigned *, size_t, const double *, size_t, double *,
                           size_t),
                   instance, &unknown, 1, &known, 1, &seed, 1, &value, 1)
            : CALL(fmu, "GetDirectionalDerivative",
                   int (*)(void *, const unsigned *, size_t, const unsigned *, size_t, const double *, double *),
                   instance, &unknown, 1, &known, 1, &seed, &value),
        "GetDirectionalDerivative");
  return value;
}

static double adjoint(const Fmu *fmu, void *instance, Pair pair) {
  double seed = 1, value = 0;
  unsigned unknown = pair.unknown->reference, known = pair.known->reference;
  check(CALL(fmu, "GetAdjointDerivative",
             int (*)(void *, const unsigned *, size_t, const unsigned *, size_t, const double *, size_t, double *,
                     size_t),
             instance, &unknown, 1, &known, 1, &seed, 1, &value, 1),
        "GetAdjointDerivative");
  return value;
}

/* Compares the derivatives of all states with respect to one known variable with central differences: slopes at `high` and `low`,
 * `width` apart. */
static double check_column(Exchange *run, const Variable *known, const double *high, const double *low, double width) {
  double worst = 0;
  for (size_t i = 0; i < run->states; i++) {
    Pair pair = {find_rate(run->fmu, i), known};
    double exact = directional(run->fmu, run->instance, pair), differences = (high[i] - low[i]) / width;
    worst = fmax(worst, fabs(exact - differences) / (1 + fabs(differences)));
    if (is_third(run->fmu))
      worst = fmax(worst, fabs(adjoint(run->fmu, run->instance, pair) - exact) / (1 + fabs(exact)));
    if (exact != 0) printf("%s %s\t%.17g\n", pair.unknown->name, known->name, exact);
  }
  return worst;
}

static void slopes_at(Exchange *run, const double *x, double *slopes) {
  if (!derivatives(run, run->t, x, slopes)) fail("no derivatives");
}

static double check_by_state(Exchange *run, size_t k, double *high, double *low) {
  double kept = run->x[k], delta = 1e-5 * (1 + fabs(kept));
  run->x[k] = kept + delta;
  slopes_at(run, run->x, high);
  run->x[k] = kept - delta;
  slopes_at(run, run->x, low);
  run->x[k] = kept;
  set_point(run, run->t, run->x);
  return check_column(run, find_state(run->fmu, k), high, low, 2 * delta);
}

static double check_by_input(Exchange *run, const Variable *input, double *high, double *low) {
  double kept = get(run->fmu, run->instance, input), delta = 1e-5 * (1 + fabs(kept));
  set(run->fmu, run->instance, input, kept + delta);
  slopes_at(run, run->x, high);
  set(run->fmu, run->instance, input, kept - delta);
  slopes_at(run, run->x, low);
  set(run->fmu, run->instance, input, kept);
  set_point(run, run->t, run->x);
  return check_column(run, input, high, low, 2 * delta);
}

static void check_derivatives(const Fmu *fmu) {
  void *instance = instantiate(fmu);
  initialize(fmu, instance, fmu->description.tolerance, NULL);
  size_t n = state_count(fmu, instance);
  Exchange run = {.fmu = fmu, .instance = instance, .states = n, .t = fmu->description.start, .x = room(n)};
  double *high = room(n), *low = room(n), worst = 0;
  finish_event(&run);
  for (size_t k = 0; k < n; k++) worst = fmax(worst, check_by_state(&run, k, high, low));
  for (size_t k = 0; k < fmu->description.count; k++) {
    const Variable *variable = &fmu->description.variables[k];
    if (variable->is_input && variable->type == 'f') worst = fmax(worst, check_by_input(&run, variable, high, low));
  }
  printf("worst\t%.17g\n", worst);
  free(run.x), free(high), free(low);
  release(fmu, instance);
}

/* ---- event mode in co-simulation ---- */

/* Goes from point to point as the FMU returns; half-way an intermediate update asks it to return early. */
static void run_with_events(Fmu *fmu) {
  const Description *description = &fmu->description;
  double t = description->start, next;
  Updates updates = {.last = t, .return_at = 0.5 * (t + description->stop)};
  long events = 0, early = 0, changes = 0;
  fmu->has_event_mode = true;
  fmu->updates = &updates;
  void *instance = need(instantiate(fmu), "instance");
  initialize(fmu, instance, description->tolerance, NULL);
  bool goes_on = update_discrete_states(fmu, instance, &next), needs_event, terminates, is_early;
  check(CALL(fmu, "EnterStepMode", int (*)(void *), instance), "EnterStepMode");
  while (t < description->stop && goes_on) {
    double size = fmin(description->step, description->stop - t);
    check(CALL(fmu, "DoStep", int (*)(void *, double, double, bool, bool *, bool *, bool *, double *), instance, t,
               size, true, &needs_event, &terminates, &is_early, &t),
          "DoStep");
    early += is_early;
    goes_on = !terminates;
    if (!needs_event || !goes_on) continue;
    events++;
    check(CALL(fmu, "EnterEventMode", int (*)(void *), instance), "EnterEventMode");
    double *before = all_values(fmu, instance);
    goes_on = update_discrete_states(fmu, instance, &next);
    double *after = all_values(fmu, instance);
    changes += memcmp(before, after, description->count * sizeof *before) != 0;
    free(before), free(after);
    check(CALL(fmu, "EnterStepMode", int (*)(void *), instance), "EnterStepMode");
  }
  if (updates.is_going_back) fail("an intermediate update went back in time, or offered nothing");
  print_values(fmu, instance);
  printf("events\t%ld\nearly\t%ld\nupdates\t%ld\nchanges\t%ld\n", events, early, updates.count, changes);
  release(fmu, instance);
}

static void make_many(const Fmu *fmu, long count) {
  for (long k = 0; k < count; k++) {
    void *instance = need(instantiate(fmu), "instance");
    initialize(fmu, instance, fmu->description.tolerance, NULL);
    release(fmu, instance);
  }
}

static void run_part(const Fmu *fmu, double fraction, char **settings) {
  const Description *description = &fmu->description;
  void *instance = need(instantiate(fmu), "instance");
  initialize(fmu, instance, description->tolerance, settings);
  simulate(fmu, instance, description->start, description->start + fraction * (description->stop - description->start),
           description->tolerance);
  print_values(fmu, instance);
  release(fmu, instance);
}

static void run_tuned(const Fmu *fmu, char **settings) {
  const Description *description = &fmu->description;
  double middle = 0.5 * (description->start + description->stop);
  void *instance = need(instantiate(fmu), "instance");
  initialize(fmu, instance, description->tolerance, NULL);
  simulate(fmu, instance, description->start, middle, description->tolerance);
  if (fmu->is_exchange) check(CALL(fmu, "EnterEventMode", int (*)(void *), instance), "EnterEventMode");
  apply(fmu, instance, settings);
  simulate(fmu, instance, middle, description->stop, description->tolerance);
  print_values(fmu, instance);
  release(fmu, instance);
}

static void run_to_end(const Fmu *fmu, double tolerance, char **settings, bool prints) {
  void *instance = need(instantiate(fmu), "instance");
  initialize(fmu, instance, tolerance, settings);
  if (prints) advance(fmu, instance, fmu->description.start, fmu->description.stop, true);
  else simulate(fmu, instance, fmu->description.start, fmu->description.stop, tolerance);
  if (!prints) print_values(fmu, instance);
  release(fmu, instance);
}

int main(int count, char **arguments) {
  if (count < 3) fail("usage: fmi_driver FILE.fmu cs|me|rows|events|state|derivatives|many ...");
  const char *what = arguments[2];
  bool is_state = strcmp(what, "state") == 0, is_part = strcmp(what, "part") == 0 && count > 4,
       is_tuned = strcmp(what, "tune") == 0 && count > 3;
  const char *kind = is_part ? arguments[4] : (is_state || is_tuned) && count > 3 ? arguments[3] : what;
  bool is_exchange = strcmp(kind, "me") == 0;
  Fmu fmu = open_fmu(arguments[1], is_exchange || strcmp(what, "derivatives") == 0);
  if (is_state) check_state(&fmu);
  else if (is_tuned) run_tuned(&fmu, arguments + 4);
  else if (is_part) run_part(&fmu, atof(arguments[3]), arguments + 5);
  else if (strcmp(what, "derivatives") == 0) check_derivatives(&fmu);
  else if (strcmp(what, "events") == 0) run_with_events(&fmu);
  else if (strcmp(what, "many") == 0) make_many(&fmu, atol(arguments[3]));
  else
    run_to_end(&fmu, count > 3 ? atof(arguments[3]) : fmu.description.tolerance, count > 4 ? arguments + 4 : NULL,
               strcmp(what, "rows") == 0);
  close_fmu(&fmu);
  return 0;
}
