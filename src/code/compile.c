/* compile: see compile.h. Between the making and the removal of the directory nothing is allocated from the
 * heap, so no refusal can leave it behind; nor can a signal, which waits until it is gone. */
#include "code/compile.h"

#include "base/signals.h"
#include "code/cfunctions.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* ---- running compiled code ---- */

struct Compiled {
  const Program *program;
  CText text;
  const CTextFunction *functions;
  CTextRun run;
};

static bool run_compiled(const struct Compiled *code, const Arrays *arrays, double *work) {
  CTextRun run = code->run;
  run.work = work;
  run.read = arrays->read;
  run.write = arrays->write;
  double sum = 0;
  const CTextStep *step = code->text.steps.data;
  for (const CTextStep *end = step + code->text.steps.count; step < end; step++)
    sum += code->functions[step->function](&run, code->text.starts.data + step->starts, step->count, step->first);
  return isfinite(sum) || all_finite(arrays->read[STORE_OUTPUT], code->program->outputs);
}

static struct Compiled *compiled_new(Heap *heap, const Program *program, const char *name) {
  struct Compiled *code = heap_alloc(heap, sizeof *code);
  code->program = program;
  code->text = ctext_make(heap, program, name, true);
  const uint32_t **tables = heap_array(heap, code->text.tables.count, sizeof *tables);
  for (uint32_t t = 0; t < code->text.tables.count; t++) tables[t] = code->text.tables.data[t]->table;
  code->run = (CTextRun){.tables = tables};
  return code;
}

/* ---- the compiler ---- */

/* Paths in the private directory. */
typedef struct Workshop {
  char directory[1024], source[1100], library[1100], messages[1100];
  char variable[1100]; /* for the environment: the compiler's own files go here, too */
  char **environment;
  char failure[512]; /* one line, empty when all is well */
  SignalHold hold;
} Workshop;

__attribute__((format(printf, 2, 3))) static bool fail(Workshop *shop, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(shop->failure, sizeof shop->failure, format, list);
  va_end(list);
  return false;
}

static bool open_workshop(Workshop *shop) {
  const char *parent = getenv("TMPDIR");
  if (!parent || !*parent) parent = "/tmp";
  const char *here = *parent == '/' ? "" : "./"; /* the compiler shall not take it for an option */
  int length = snprintf(shop->directory, sizeof shop->directory, "%s%s/daedal-XXXXXX", here, parent);
  if (length < 0 || (size_t)length >= sizeof shop->directory) {
    shop->directory[0] = 0;
    return fail(shop, "TMPDIR is too long");
  }
  shop->hold = signals_hold();
  if (!mkdtemp(shop->directory)) {
    shop->directory[0] = 0;
    return fail(shop, "no directory can be made in %s: %s", parent, strerror(errno));
  }
  snprintf(shop->variable, sizeof shop->variable, "TMPDIR=%s", shop->directory);
  snprintf(shop->source, sizeof shop->source, "%s/code.c", shop->directory);
  snprintf(shop->library, sizeof shop->library, "%s/code.so", shop->directory);
  snprintf(shop->messages, sizeof shop->messages, "%s/messages", shop->directory);
  return true;
}

/* Whatever the compiler left in it goes as well. */
static void close_workshop(Workshop *shop) {
  DIR *directory = shop->directory[0] ? opendir(shop->directory) : NULL;
  if (directory) {
    for (struct dirent *entry; (entry = readdir(directory));) unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    rmdir(shop->directory);
  }
  signals_release(&shop->hold);
}

/* Ours, with room in front for the variable that says where temporary files go. */
static char **copy_environment(Heap *heap, char *variable) {
  size_t count = 0, kept = 1;
  while (environ[count]) count++;
  char **copy = heap_array(heap, count + 2, sizeof *copy);
  copy[0] = variable;
  for (size_t i = 0; i < count; i++)
    if (strncmp(environ[i], "TMPDIR=", 7) != 0) copy[kept++] = environ[i];
  return copy;
}

static bool write_source(Workshop *shop, const TextVec *text) {
  FILE *file = fopen(shop->source, "w");
  bool is_written = file && fwrite(text->data, 1, text->count, file) == text->count;
  if (file && fclose(file) != 0) is_written = false;
  return is_written || fail(shop, "the C text cannot be written to %s: %s", shop->source, strerror(errno));
}

/* The first line in which the compiler speaks of an error, or the last one. */
static bool compiler_failure(Workshop *shop) {
  char line[256] = "";
  FILE *file = fopen(shop->messages, "r");
  while (file && fgets(line, sizeof line, file) && !strstr(line, "error:")) continue;
  if (file) fclose(file);
  line[strcspn(line, "\n")] = 0;
  return fail(shop, "the C compiler `cc` failed%s%s", line[0] ? ": " : "", line);
}

/* Starts the compiler as the leader of a process group, so that its own children can be ended with it; an error number,
 * or 0. Signals reach it as they would reach us without the hold. */
static int start_compiler(Workshop *shop, pid_t *child) {
  char *arguments[] = {"cc", "-O2",         "-shared",    "-fPIC", "-w", "-ffp-contract=off", "-fno-math-errno",
                       "-o", shop->library, shop->source, "-lm",   NULL};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t mask;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, shop->messages, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  sigemptyset(&mask);
  posix_spawnattr_setsigmask(&attributes, &mask);
  int error = posix_spawnp(child, arguments[0], &actions, &attributes, arguments, shop->environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static bool run_compiler(Workshop *shop) {
  static const struct timespec pause = {0, 2000000};
  pid_t child, ended;
  int status = 0;
  bool is_stopped = false;
  int error = start_compiler(shop, &child);
  if (error) return fail(shop, "there is no C compiler: `cc` cannot be started (%s)", strerror(error));
  while ((ended = waitpid(child, &status, is_stopped ? 0 : WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
    if (!is_stopped && (is_stopped = signals_waiting(&shop->hold))) kill(-child, SIGTERM);
    nanosleep(&pause, NULL);
  }
  if (ended < 0) return fail(shop, "the C compiler got lost: %s", strerror(errno));
  if (is_stopped) return fail(shop, "interrupted");
  return (WIFEXITED(status) && WEXITSTATUS(status) == 0) || compiler_failure(shop);
}

static bool load(Workshop *shop, void **library) {
  *library = dlopen(shop->library, RTLD_NOW | RTLD_LOCAL);
  return *library ||
         fail(shop, "the compiled code cannot be loaded (%s); set TMPDIR to a directory from which code may run",
              dlerror());
}

static void release_library(void *object) {
  void **library = object;
  if (*library) dlclose(*library);
}

/* The whole text, from codes made by compiled_new; false if a function cannot be written. */
static bool put_text(Heap *heap, Program *const *programs, struct Compiled **codes, uint32_t count, TextVec *text,
                     Diags *diags) {
  char(*names)[32] = heap_array(heap, count, sizeof *names);
  CallingText *callers = heap_array(heap, count, sizeof *callers);
  const TextVec **texts = heap_array(heap, count + 1, sizeof *texts);
  TextVec functions = {0};
  for (uint32_t k = 0; k < count; k++) {
    snprintf(names[k], sizeof names[k], "code%u", k);
    codes[k] = compiled_new(heap, programs[k], names[k]);
    callers[k] = (CallingText){programs[k], &codes[k]->text, names[k]};
    texts[k] = &codes[k]->text.text;
  }
  texts[count] = &functions;
  bool fits = !count || cfunctions_write(heap, programs[0]->model, callers, count, &functions, diags);
  ctext_header(heap, text, texts, count + 1);
  if (functions.count) text_append(heap, text, functions.data, functions.count);
  for (uint32_t k = 0; k < count; k++) text_append(heap, text, texts[k]->data, texts[k]->count);
  vec_free(heap, &functions);
  heap_free_all(heap, texts, callers, names);
  return fits;
}

bool program_compile(Heap *heap, Program *const *programs, uint32_t count, Diags *diags) {
  TextVec text = {0};
  char name[32];
  struct Compiled **codes = heap_array(heap, count, sizeof *codes);
  bool fits = put_text(heap, programs, codes, count, &text, diags);
  void **library = heap_alloc(heap, sizeof *library);
  heap_defer(heap, release_library, library);

  Workshop shop = {.failure = ""};
  shop.environment = copy_environment(heap, shop.variable);
  bool is_done =
      fits && open_workshop(&shop) && write_source(&shop, &text) && run_compiler(&shop) && load(&shop, library);
  close_workshop(&shop);
  heap_free(heap, shop.environment);
  vec_free(heap, &text);
  if (!is_done) {
    if (fits)
      diag_error(diags, DIAG_FILE, (Span){0, 0}, "the model cannot be compiled: %s; without --compile it runs as it is",
                 shop.failure);
    heap_free(heap, codes);
    return false;
  }
  for (uint32_t k = 0; k < count; k++) {
    snprintf(name, sizeof name, "code%u_functions", k);
    codes[k]->functions = dlsym(*library, name);
    vec_free(heap, &codes[k]->text.text);
    programs[k]->code = codes[k];
    programs[k]->compiled = run_compiled;
    programs[k]->compiled_work = codes[k]->text.work;
  }
  heap_free(heap, codes);
  return true;
}
