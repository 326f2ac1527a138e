/* fmu: see fmu.h. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "fmi/fmu.h"

#include <dlfcn.h>
#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { UPDATES_MAX = 1000 }; /* updates of discrete states at one instant; a model that needs more does not converge */
enum { FMI_OK = 0, FMI_WARNING = 1, FMI_DISCARD = 2 };

/* ---- failures ---- */

__attribute__((format(printf, 2, 3))) static bool fail(Fmu *fmu, const char *format, ...) {
  va_list list;
  Arena arena = arena_make(fmu->heap);
  size_t used = strlen(fmu->failure);
  va_start(list, format);
  snprintf(fmu->failure + used, FMU_MESSAGE - used, "%s%s", used ? ": " : "", arena_vprintf(&arena, format, list));
  va_end(list);
  arena_free(&arena);
  return false;
}

static bool check(Fmu *fmu, int status, const char *function) {
  if (status == FMI_OK || status == FMI_WARNING) {
    fmu->failure[0] = 0;
    return true;
  }
  return fail(fmu, "%s of the FMU failed (status %d)", function, status);
}

/* ---- the interface ---- */

typedef void (*Address)(void);

/* Types as in the standard, for both versions; functions take the component first. */
typedef struct Callbacks2 {
  void (*log)(void *environment, const char *name, int status, const char *category, const char *message, ...);
  void *(*allocate)(size_t count, size_t size);
  void (*release)(void *pointer);
  void (*finished)(void *environment, int status);
  void *environment;
} Callbacks2;

typedef struct EventInfo2 {
  int needs_more, terminates, nominals_changed, values_changed, has_next;
  double next;
} EventInfo2;

typedef void Free(void *component);
typedef int Plain(void *component);
typedef int Numbers(void *component, double *values, size_t count);
typedef int Time(void *component, double time);
typedef int Save(void *component, void **state);
typedef int Restore(void *component, void *state);
typedef int Access2(void *component, const unsigned *references, size_t count, void *values);
typedef int Access3(void *component, const unsigned *references, size_t count, void *values, size_t value_count);

/* Functions of both versions: the name, and whether model exchange (x), co-simulation (c) or both (b) need it, or it is optional
 * (o). */
#define FMI_COMMON(F)           \
  F(FreeInstance, b)            \
  F(Reset, b)                   \
  F(EnterInitializationMode, b) \
  F(ExitInitializationMode, b)  \
  F(EnterEventMode, x)          \
  F(EnterContinuousTimeMode, x) \
  F(SetTime, x)                 \
  F(SetContinuousStates, x)     \
  F(GetContinuousStates, x)     \
  F(GetEventIndicators, x)      \
  F(DoStep, c)
#define FMI_OF_2(F)       \
  F(Instantiate, b)       \
  F(SetupExperiment, b)   \
  F(NewDiscreteStates, x) \
  F(GetDerivatives, x)    \
  F(GetBooleanStatus, c)  \
  F(GetFMUstate, o)       \
  F(SetFMUstate, o)       \
  F(FreeFMUstate, o)
#define FMI_OF_3(F)                   \
  F(InstantiateModelExchange, x)      \
  F(InstantiateCoSimulation, c)       \
  F(UpdateDiscreteStates, x)          \
  F(GetContinuousStateDerivatives, x) \
  F(GetFMUState, o)                   \
  F(SetFMUState, o)                   \
  F(FreeFMUState, o)

typedef enum Function {
#define ONE(name, need) FMI_##name,
  FMI_COMMON(ONE) FMI_OF_2(ONE) FMI_OF_3(ONE)
#undef ONE
      FMI_FUNCTIONS
} Function;

typedef struct FunctionName {
  const char *name;
  char need;
  uint32_t version; /* 0: both */
} FunctionName;

static const FunctionName FUNCTIONS[] = {
#define ONE(name, need) {#name, #need[0], 0},
    FMI_COMMON(ONE)
#undef ONE
#define ONE(name, need) {#name, #need[0], 2},
        FMI_OF_2(ONE)
#undef ONE
#define ONE(name, need) {#name, #need[0], 3},
            FMI_OF_3(ONE)
#undef ONE
};

typedef struct Access {
  const char *name[2]; /* name in FMI 2 (NULL: not there) and in FMI 3 */
  size_t size[2];
} Access;

static const Access ACCESS[FMI_OTHER] = {
    [FMI_FLOAT64] = {{"Real", "Float64"}, {sizeof(double), sizeof(double)}},
    [FMI_FLOAT32] = {{NULL, "Float32"}, {0, sizeof(float)}},
    [FMI_INT8] = {{NULL, "Int8"}, {0, 1}},
    [FMI_UINT8] = {{NULL, "UInt8"}, {0, 1}},
    [FMI_INT16] = {{NULL, "Int16"}, {0, 2}},
    [FMI_UINT16] = {{NULL, "UInt16"}, {0, 2}},
    [FMI_INT32] = {{"Integer", "Int32"}, {sizeof(int), 4}},
    [FMI_UINT32] = {{NULL, "UInt32"}, {0, 4}},
    [FMI_INT64] = {{NULL, "Int64"}, {0, 8}},
    [FMI_UINT64] = {{NULL, "UInt64"}, {0, 8}},
    [FMI_BOOLEAN] = {{"Boolean", "Boolean"}, {sizeof(int), sizeof(bool)}},
};

typedef struct FmiFunctions {
  Address list[FMI_FUNCTIONS];
  Address get[FMI_OTHER], set[FMI_OTHER];
  Callbacks2 callbacks;
} FmiFunctions;

#define CALL(fmu, type, function) ((type *)(fmu)->functions->list[FMI_##function])

static bool is_third(const Fmu *fmu) { return fmu->description->version == 3; }

static Address find_function(const Fmu *fmu, const char *prefix, const char *name) {
  char full[80];
  Address address = NULL;
  snprintf(full, sizeof full, "fmi%u%s%s", (unsigned)fmu->description->version, prefix, name);
  void *symbol = dlsym(fmu->library, full);
  memcpy(&address, &symbol, sizeof address); /* POSIX allows this conversion of pointers; C does not */
  return address;
}

static bool find_functions(Fmu *fmu) {
  FmiFunctions *functions = heap_alloc(fmu->heap, sizeof *functions);
  fmu->functions = functions;
  for (Function f = 0; f < FMI_FUNCTIONS; f++) {
    const FunctionName *wanted = &FUNCTIONS[f];
    if (wanted->version && wanted->version != fmu->description->version) continue;
    functions->list[f] = find_function(fmu, "", wanted->name);
    bool is_needed = wanted->need == 'b' || wanted->need == (fmu->is_exchange ? 'x' : 'c');
    if (!functions->list[f] && is_needed)
      return fail(fmu, "its library has no function fmi%u%s", (unsigned)fmu->description->version, wanted->name);
  }
  for (FmiType type = 0; type < FMI_OTHER; type++) {
    const char *name = ACCESS[type].name[is_third(fmu)];
    functions->get[type] = name ? find_function(fmu, "Get", name) : NULL;
    functions->set[type] = name ? find_function(fmu, "Set", name) : NULL;
  }
  fmu->saves = (fmu->is_exchange ? fmu->description->exchange_saves : fmu->description->cosimulation_saves) &&
               functions->list[is_third(fmu) ? FMI_GetFMUState : FMI_GetFMUstate] &&
               functions->list[is_third(fmu) ? FMI_SetFMUState : FMI_SetFMUstate] &&
               functions->list[is_third(fmu) ? FMI_FreeFMUState : FMI_FreeFMUstate];
  return true;
}

/* ---- unpacking ---- */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
  (void)status, (void)kind, (void)place;
  return remove(path);
}

static void remove_folder(void *object) {
  enum { DESCRIPTORS = 16 };
  nftw(object, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

static void close_library(void *library) { dlclose(library); }

static void free_component(void *object) {
  Fmu *fmu = object;
  if (fmu->component) CALL(fmu, Free, FreeInstance)(fmu->component);
  fmu->component = NULL;
}

/* Makes the folders that contain the last part of a path. */
static void make_folders(char *path, size_t begin) {
  for (char *slash = strchr(path + begin, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    (void)mkdir(path, 0700);
    *slash = '/';
  }
}

static bool write_entry(Fmu *fmu, const Zip *zip, const ZipEntry *entry, Arena *arena) {
  char *path = arena_printf(arena, "%s/%s", fmu->folder, entry->name);
  make_folders(path, strlen(fmu->folder) + 1);
  if (path[strlen(path) - 1] == '/') return true;
  char *content = zip_unpack(zip, entry, fmu->heap);
  if (!content) return fail(fmu, "`%s` of the archive is damaged", arena_printable(arena, entry->name));
  FILE *file = fopen(path, "wb");
  bool is_written = file && fwrite(content, 1, entry->size, file) == entry->size;
  if (file && fclose(file) != 0) is_written = false;
  heap_free(fmu->heap, content);
  return is_written || fail(fmu, "`%s` cannot be written: %s", arena_printable(arena, path), strerror(errno));
}

/* May the FMU need this file in a run: is it a binary or a resource? */
static bool is_needed(const char *name) {
  return !strncmp(name, "binaries/", strlen("binaries/")) || !strncmp(name, "resources/", strlen("resources/"));
}

static bool unpack(Fmu *fmu, const Zip *zip, Arena *arena) {
  const char *parent = getenv("TMPDIR");
  const ZipEntry *entries = zip_entries(zip, arena);
  if (!entries) return fail(fmu, "the list of the archive is damaged");
  char *folder = arena_printf(arena, "%s/daedal-fmu-XXXXXX", parent && *parent ? parent : "/tmp");
  if (!mkdtemp(folder)) return fail(fmu, "no folder to unpack it to: %s", strerror(errno));
  fmu->folder = heap_copy(fmu->heap, folder, strlen(folder) + 1, 1);
  heap_defer(fmu->heap, remove_folder, fmu->folder);
  for (uint32_t k = 0; k < zip->count; k++) {
    if (!is_needed(entries[k].name)) continue;
    if (!zip_path_is_safe(entries[k].name))
      return fail(fmu, "`%s` of the archive leads out of it", arena_printable(arena, entries[k].name));
    if (!write_entry(fmu, zip, &entries[k], arena)) return false;
  }
  return true;
}

/* ---- loading ---- */

#if defined _WIN32
static const char *const PLATFORMS[] = {"x86_64-windows", "win64", NULL};
#define ENDING ".dll"
#elif defined __aarch64__
static const char *const PLATFORMS[] = {"aarch64-linux", "linux64", NULL};
#elif defined __x86_64__
static const char *const PLATFORMS[] = {"x86_64-linux", "linux64", NULL};
#else
static const char *const PLATFORMS[] = {"linux32", NULL};
#endif
#ifndef ENDING
#define ENDING ".so"
#endif

/* Opens the library for this platform. Libraries of FMI 2 for other processors are often in linux64 as well; the loader refuses
 * these. */
static bool open_library(Fmu *fmu, Arena *arena) {
  const char *identifier = fmu->is_exchange ? fmu->description->exchange : fmu->description->cosimulation;
  const char *why = NULL;
  if (strchr(identifier, '/'))
    return fail(fmu, "its identifier `%s` is not a name", arena_printable(arena, identifier));
  for (size_t k = 0; PLATFORMS[k] && !fmu->library; k++) {
    char *path = arena_printf(arena, "%s/binaries/%s/%s" ENDING, fmu->folder, PLATFORMS[k], identifier);
    if (access(path, R_OK) != 0) continue;
    fmu->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!fmu->library) why = dlerror();
  }
  if (!fmu->library)
    return fail(fmu, "%s: %s", "it has no library for this machine", why ? why : "see the folders in `binaries`");
  heap_defer(fmu->heap, close_library, fmu->library);
  return true;
}

/* Log messages of the FMU are written before the failure that follows. */
enum { LOGGED = FMU_MESSAGE / 2 };

static void log_2(void *environment, const char *name, int status, const char *category, const char *message, ...) {
  Fmu *fmu = environment;
  va_list list;
  (void)name, (void)category;
  if (status == FMI_OK || !fmu) return;
  va_start(list, message);
  const char *words = message ? message : "";   /* this is the FMU's text, whose numbers may follow the locale */
  vsnprintf(fmu->failure, LOGGED, words, list); /* any locale */
  va_end(list);
}

static void log_3(void *environment, int status, const char *category, const char *message) {
  Fmu *fmu = environment;
  (void)category;
  if (status != FMI_OK && fmu) snprintf(fmu->failure, LOGGED, "%s", message ? message : "");
}

typedef void *Instantiate2(const char *name, int type, const char *token, const char *resources,
                           const Callbacks2 *callbacks, int is_visible, int is_logging);
typedef void Log3(void *environment, int status, const char *category, const char *message);
typedef void *InstantiateExchange3(const char *name, const char *token, const char *resources, bool is_visible,
                                   bool is_logging, void *environment, Log3 *log);
typedef void *InstantiateCosimulation3(const char *name, const char *token, const char *resources, bool is_visible,
                                       bool is_logging, bool has_event_mode, bool may_return_early,
                                       const unsigned *intermediate, size_t count, void *environment, Log3 *log,
                                       void *update);

static void instantiate(Fmu *fmu, Arena *arena) {
  const FmiDescription *d = fmu->description;
  if (!is_third(fmu)) {
    FmiFunctions *functions = (FmiFunctions *)(uintptr_t)fmu->functions;
    functions->callbacks = (Callbacks2){.log = log_2, .allocate = calloc, .release = free, .environment = fmu};
    fmu->component = CALL(fmu, Instantiate2, Instantiate)(d->name, !fmu->is_exchange, d->token,
                                                          arena_printf(arena, "file://%s/resources", fmu->folder),
                                                          &functions->callbacks, 0, 0);
    return;
  }
  const char *resources = arena_printf(arena, "%s/resources/", fmu->folder);
  if (fmu->is_exchange)
    fmu->component = CALL(fmu, InstantiateExchange3, InstantiateModelExchange)(d->name, d->token, resources, false,
                                                                               false, fmu, log_3);
  else
    fmu->component = CALL(fmu, InstantiateCosimulation3, InstantiateCoSimulation)(
        d->name, d->token, resources, false, false, false, false, NULL, 0, fmu, log_3, NULL);
}

bool fmu_load(Fmu *fmu, Heap *heap, const Zip *zip, const FmiDescription *description, bool is_exchange) {
  *fmu = (Fmu){.heap = heap, .description = description, .is_exchange = is_exchange};
  Arena arena = arena_make(heap);
  bool is_ready = unpack(fmu, zip, &arena) && open_library(fmu, &arena) && find_functions(fmu);
  if (is_ready) {
    heap_defer(heap, free_component, fmu);
    instantiate(fmu, &arena);
  }
  arena_free(&arena);
  return is_ready && (fmu->component || fail(fmu, "the FMU cannot be instantiated"));
}

FmiDescription *fmu_describe(const Zip *zip, Arena *arena, const char **failure) {
  const ZipEntry *entries = zip_entries(zip, arena);
  *failure = "the list of the archive is damaged";
  for (uint32_t k = 0; entries && k < zip->count; k++) {
    if (strcmp(entries[k].name, "modelDescription.xml")) continue;
    heap_text(arena->heap, entries[k].size, entries[k].size);
    char *text = zip_unpack(zip, &entries[k], arena->heap);
    *failure = "modelDescription.xml of the archive is damaged";
    FmiDescription *made = text ? description_read(text, arena, failure) : NULL;
    heap_free(arena->heap, text);
    return made;
  }
  if (entries) *failure = "the archive has no modelDescription.xml";
  return NULL;
}

/* ---- values ---- */

/* Converts one value between a double and its type in the FMU. */
static void put_value(FmiType type, size_t size, double value, char *to) {
  double limited = fmin(fmax(value, -0x1p53), 0x1p53);
  int64_t integer = type == FMI_BOOLEAN ? value != 0 : (int64_t)limited;
  float narrow = (float)value;
  if (type == FMI_FLOAT64) memcpy(to, &value, size);
  else if (type == FMI_FLOAT32) memcpy(to, &narrow, size);
  else
    for (size_t k = 0; k < size; k++) to[k] = (char)(integer >> 8 * k);
}

static double take_value(FmiType type, size_t size, const char *from) {
  static const bool SIGNED[FMI_OTHER] = {[FMI_INT8] = true, [FMI_INT16] = true, [FMI_INT32] = true, [FMI_INT64] = true};
  double value;
  float narrow;
  uint64_t integer = 0;
  if (type == FMI_FLOAT64) return memcpy(&value, from, size), value;
  if (type == FMI_FLOAT32) return memcpy(&narrow, from, size), (double)narrow;
  for (size_t k = size; k-- > 0;) integer = integer << 8 | (unsigned char)from[k];
  if (type == FMI_BOOLEAN) return integer != 0;
  unsigned shift = (unsigned)(64 - 8 * size);
  return SIGNED[type] ? (double)((int64_t)(integer << shift) >> shift) : (double)integer;
}

/* The number of scalars from the first on that have the same type and so fit into one call, and the number of their variables. */
static uint32_t run_length(const FmiScalar *scalars, uint32_t count, uint32_t *variables) {
  uint32_t k = 0;
  for (*variables = 0; k < count && scalars[k].type == scalars[0].type; k++) *variables += scalars[k].element == 0;
  return k;
}

static int call_access(const Fmu *fmu, Address function, const unsigned *references, uint32_t variables, void *values,
                       uint32_t count) {
  return is_third(fmu) ? ((Access3 *)function)(fmu->component, references, variables, values, count)
                       : ((Access2 *)function)(fmu->component, references, variables, values);
}

static bool pass(Fmu *fmu, const FmiScalar *scalars, uint32_t count, double *values, bool is_set) {
  Arena arena = arena_make(fmu->heap);
  bool is_done = true;
  for (uint32_t at = 0, variables; at < count && is_done;) {
    const FmiScalar *run = &scalars[at];
    uint32_t length = run_length(run, count - at, &variables), k = 0;
    size_t size = ACCESS[run->type].size[is_third(fmu)];
    Address function = is_set ? fmu->functions->set[run->type] : fmu->functions->get[run->type];
    unsigned *references = arena_array(&arena, (size_t)variables + 1, sizeof *references);
    char *buffer = arena_array(&arena, (size_t)length + 1, size + 1);
    for (uint32_t i = 0; i < length; i++) {
      if (run[i].element == 0) references[k++] = run[i].reference;
      if (is_set) put_value(run->type, size, values[at + i], buffer + i * size);
    }
    is_done = function ? check(fmu, call_access(fmu, function, references, variables, buffer, length),
                               is_set ? "setting values" : "reading values")
                       : fail(fmu, "the FMU has no function for the type of `%s`", run->name);
    for (uint32_t i = 0; i < length && is_done && !is_set; i++)
      values[at + i] = take_value(run->type, size, buffer + i * size);
    at += length;
  }
  arena_free(&arena);
  return is_done;
}

bool fmu_set(Fmu *fmu, const FmiScalar *scalars, uint32_t count, const double *values) {
  return pass(fmu, scalars, count, (double *)(uintptr_t)values, true);
}

bool fmu_get(Fmu *fmu, const FmiScalar *scalars, uint32_t count, double *values) {
  return pass(fmu, scalars, count, values, false);
}

/* ---- the course of a run ---- */

typedef int Setup2(void *component, int has_tolerance, double tolerance, double start, int has_stop, double stop);
typedef int Begin3(void *component, bool has_tolerance, double tolerance, double start, bool has_stop, double stop);

bool fmu_begin(Fmu *fmu, double start, double tolerance) {
  bool is_given = tolerance > 0 && !fmu->is_exchange;
  if (is_third(fmu))
    return check(fmu, CALL(fmu, Begin3, EnterInitializationMode)(fmu->component, is_given, tolerance, start, false, 0),
                 "entering initialization");
  return check(fmu, CALL(fmu, Setup2, SetupExperiment)(fmu->component, is_given, tolerance, start, 0, 0),
               "setting up the experiment") &&
         check(fmu, CALL(fmu, Plain, EnterInitializationMode)(fmu->component), "entering initialization");
}

bool fmu_end_initialization(Fmu *fmu) {
  return check(fmu, CALL(fmu, Plain, ExitInitializationMode)(fmu->component), "initialization");
}

bool fmu_reset(Fmu *fmu) { return check(fmu, CALL(fmu, Plain, Reset)(fmu->component), "reset"); }

bool fmu_enter_event_mode(Fmu *fmu) {
  return check(fmu, CALL(fmu, Plain, EnterEventMode)(fmu->component), "entering event mode");
}

typedef int Update2(void *component, EventInfo2 *info);
typedef int Update3(void *component, bool *needs_more, bool *terminates, bool *nominals_changed, bool *values_changed,
                    bool *has_next, double *next);

static bool update_once(Fmu *fmu, EventInfo2 *info) {
  if (!is_third(fmu))
    return check(fmu, CALL(fmu, Update2, NewDiscreteStates)(fmu->component, info), "an update of discrete states");
  bool needs_more = false, terminates = false, nominals = false, values = false, has_next = false;
  int status = CALL(fmu, Update3, UpdateDiscreteStates)(fmu->component, &needs_more, &terminates, &nominals, &values,
                                                        &has_next, &info->next);
  *info = (EventInfo2){needs_more, terminates, nominals, values, has_next, info->next};
  return check(fmu, status, "an update of discrete states");
}

bool fmu_update(Fmu *fmu, FmuEvent *event) {
  EventInfo2 info = {.needs_more = 1};
  for (int round = 0; info.needs_more && !info.terminates; round++) {
    if (round == UPDATES_MAX) return fail(fmu, "its discrete states do not settle in %d updates", UPDATES_MAX);
    info.needs_more = 0;
    if (!update_once(fmu, &info)) return false;
  }
  *event = (FmuEvent){.terminates = info.terminates, .next = info.has_next ? info.next : INFINITY};
  return check(fmu, CALL(fmu, Plain, EnterContinuousTimeMode)(fmu->component), "entering continuous-time mode");
}

bool fmu_set_time(Fmu *fmu, double time) {
  return check(fmu, CALL(fmu, Time, SetTime)(fmu->component, time), "setting the time");
}

static uint32_t state_count(const Fmu *fmu) { return description_count(fmu->description, FMI_STATE); }

bool fmu_set_states(Fmu *fmu, const double *states) {
  if (!state_count(fmu)) return true;
  return check(fmu,
               CALL(fmu, Numbers, SetContinuousStates)(fmu->component, (double *)(uintptr_t)states, state_count(fmu)),
               "setting states");
}

bool fmu_get_states(Fmu *fmu, double *states) {
  if (!state_count(fmu)) return true;
  return check(fmu, CALL(fmu, Numbers, GetContinuousStates)(fmu->component, states, state_count(fmu)),
               "reading states");
}

bool fmu_get_rates(Fmu *fmu, double *rates) {
  if (!state_count(fmu)) return true;
  Numbers *function =
      is_third(fmu) ? CALL(fmu, Numbers, GetContinuousStateDerivatives) : CALL(fmu, Numbers, GetDerivatives);
  return check(fmu, function(fmu->component, rates, state_count(fmu)), "computing derivatives");
}

bool fmu_get_indicators(Fmu *fmu, double *indicators) {
  uint32_t count = fmu->description->indicators;
  if (!count) return true;
  return check(fmu, CALL(fmu, Numbers, GetEventIndicators)(fmu->component, indicators, count),
               "computing event indicators");
}

typedef int Step2(void *component, double time, double step, int is_final);
typedef int BooleanStatus(void *component, int kind, int *value);
typedef int Step3(void *component, double time, double step, bool is_final, bool *needs_event, bool *terminates,
                  bool *returns_early, double *last);

/* In FMI 2.0 an FMU that ends the simulation discards the step, and says so when it is asked. */
static int step2(Fmu *fmu, double time, double step, bool *terminates) {
  enum { TERMINATED = 3 };
  int ends = 0, status = CALL(fmu, Step2, DoStep)(fmu->component, time, step, 0);
  if (status != FMI_DISCARD) return status;
  *terminates = CALL(fmu, BooleanStatus, GetBooleanStatus)(fmu->component, TERMINATED, &ends) == FMI_OK && ends;
  return *terminates ? FMI_OK : status;
}

bool fmu_step(Fmu *fmu, double time, double step, bool *terminates) {
  bool needs_event = false, returns_early = false;
  double last = time + step;
  *terminates = false;
  if (!is_third(fmu)) return check(fmu, step2(fmu, time, step, terminates), "a step");
  int status =
      CALL(fmu, Step3, DoStep)(fmu->component, time, step, false, &needs_event, terminates, &returns_early, &last);
  return check(fmu, status, "a step");
}

/* ---- the state of the whole ---- */

bool fmu_save(Fmu *fmu, void **state) {
  Save *function = is_third(fmu) ? CALL(fmu, Save, GetFMUState) : CALL(fmu, Save, GetFMUstate);
  return check(fmu, function(fmu->component, state), "taking its state");
}

bool fmu_restore(Fmu *fmu, void *state) {
  Restore *function = is_third(fmu) ? CALL(fmu, Restore, SetFMUState) : CALL(fmu, Restore, SetFMUstate);
  return check(fmu, function(fmu->component, state), "setting its state");
}

void fmu_forget(Fmu *fmu, void **state) {
  Save *function = is_third(fmu) ? CALL(fmu, Save, FreeFMUState) : CALL(fmu, Save, FreeFMUstate);
  if (*state) (void)function(fmu->component, state);
  *state = NULL;
}
