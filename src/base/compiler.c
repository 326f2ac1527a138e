/* compiler: see compiler.h. While the directory exists, nothing is allocated from the heap, so a refused allocation cannot leave
 * the directory behind. Signals wait until it is removed. */
#include "base/compiler.h"

#include "base/format.h"
#include "base/signals.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

/* Paths in the private directory. */
typedef struct Workshop {
  char directory[1024], library[1100], messages[1100];
  char include[1100];  /* -I: sources in other folders find the files that are written here */
  char variable[1100]; /* for the environment, so that the compiler's temporary files go here, too */
  char **environment;
  char **arguments;
  char *failure; /* one line; empty: no failure */
  SignalHold hold;
} Workshop;

__attribute__((format(printf, 2, 3))) static bool fail(Workshop *shop, const char *format, ...) {
  va_list list;
  va_start(list, format);
  format_list(shop->failure, COMPILER_FAILURE, format, list);
  va_end(list);
  return false;
}

static bool open_workshop(Workshop *shop) {
  const char *parent = getenv("TMPDIR");
  if (!parent || !*parent) parent = "/tmp";
  const char *here = *parent == '/' ? "" : "./"; /* so that the compiler does not read it as an option */
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
  snprintf(shop->library, sizeof shop->library, "%s/code.so", shop->directory);
  snprintf(shop->include, sizeof shop->include, "-I%s", shop->directory);
  snprintf(shop->messages, sizeof shop->messages, "%s/messages", shop->directory);
  return true;
}

/* Removes the directory and everything that the compiler left in it. */
static void close_workshop(Workshop *shop) {
  DIR *directory = shop->directory[0] ? opendir(shop->directory) : NULL;
  if (directory) {
    for (struct dirent *entry; (entry = readdir(directory));) unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    rmdir(shop->directory);
  }
  signals_release(&shop->hold);
}

/* Copies our environment, with room in front for the variable of the directory for temporary files. */
static char **copy_environment(Heap *heap, char *variable) {
  size_t count = 0, kept = 1;
  while (environ[count]) count++;
  char **copy = heap_array(heap, count + 2, sizeof *copy);
  copy[0] = variable;
  for (size_t i = 0; i < count; i++)
    if (strncmp(environ[i], "TMPDIR=", 7) != 0) copy[kept++] = environ[i];
  return copy;
}

/* Paths in the directory; they have room for the same lengths as the paths of the workshop. */
enum { PATH_SIZE = 1100 };

static bool write_source(Workshop *shop, const CompilerSource *source, char *path) {
  snprintf(path, PATH_SIZE, "%s/%s", shop->directory, source->name);
  FILE *file = fopen(path, "w");
  bool is_written = file && fwrite(source->text, 1, source->length, file) == source->length;
  if (file && fclose(file) != 0) is_written = false;
  return is_written || fail(shop, "the C text cannot be written to %s: %s", path, strerror(errno));
}

/* The first line in which the compiler mentions an error, or the last one. */
static bool compiler_failure(Workshop *shop) {
  char line[256] = "";
  FILE *file = fopen(shop->messages, "r");
  while (file && fgets(line, sizeof line, file) && !strstr(line, "error:")) continue;
  if (file) fclose(file);
  line[strcspn(line, "\n")] = 0;
  return fail(shop, "the C compiler `cc` failed%s%s", line[0] ? ": " : "", line);
}

/* Starts the compiler as the leader of a process group, so that its children can be ended with it. The signals that are blocked
 * here are not blocked in the compiler. Returns an error number, or 0. */
static int start_compiler(Workshop *shop, pid_t *child) {
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
  int error = posix_spawnp(child, shop->arguments[0], &actions, &attributes, shop->arguments, shop->environment);
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
  if (error)
    return fail(shop, "there is no C compiler: `%s` cannot be started (%s)", shop->arguments[0], strerror(error));
  while ((ended = waitpid(child, &status, is_stopped ? 0 : WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
    if (!is_stopped && (is_stopped = signals_waiting(&shop->hold))) kill(-child, SIGTERM);
    nanosleep(&pause, NULL);
  }
  if (ended < 0) return fail(shop, "lost contact with the C compiler: %s", strerror(errno));
  if (is_stopped) return fail(shop, "interrupted");
  return (WIFEXITED(status) && WEXITSTATUS(status) == 0) || compiler_failure(shop);
}

/* Makes the command line. paths[] gets a path for every source; headers are not arguments. */
static char **make_arguments(Heap *heap, const char *program, Workshop *shop, const CompilerSource *sources,
                             uint32_t count, char **paths, char *const *more, uint32_t more_count) {
  char *const options[] = {
      (char *)(uintptr_t)program, "-O2", "-shared", "-fPIC", "-w", "-ffp-contract=off", "-fno-math-errno",
      "-fvisibility=hidden",      "-o"};
  size_t fixed = sizeof options / sizeof *options, next = fixed;
  char **arguments = heap_array(heap, fixed + count + more_count + 4, sizeof *arguments);
  memcpy(arguments, options, sizeof options);
  arguments[next++] = shop->library;
  if (more_count) arguments[next++] = shop->include;
  for (uint32_t k = 0; k < count; k++) {
    const char *ending = strrchr(sources[k].name, '.');
    paths[k] = heap_alloc(heap, PATH_SIZE);
    if (ending && strcmp(ending, ".c") == 0) arguments[next++] = paths[k];
  }
  for (uint32_t k = 0; k < more_count; k++) arguments[next++] = more[k];
  arguments[next++] = "-lm";
  return arguments;
}

bool compiler_build(Heap *heap, const CompilerSource *sources, uint32_t count, CompilerTake *take, void *context,
                    char *failure) {
  return compiler_build_with(heap, "cc", sources, count, NULL, 0, take, context, failure);
}

bool compiler_is_found(const char *program) {
  const char *places = getenv("PATH");
  char path[PATH_SIZE];
  for (size_t length; places && *places; places += length + (places[length] == ':')) {
    length = strcspn(places, ":");
    int count = snprintf(path, sizeof path, "%.*s/%s", (int)length, places, program);
    if (length && count > 0 && (size_t)count < sizeof path && access(path, X_OK) == 0) return true;
  }
  return false;
}

bool compiler_build_with(Heap *heap, const char *program, const CompilerSource *sources, uint32_t count,
                         char *const *more, uint32_t more_count, CompilerTake *take, void *context, char *failure) {
  Workshop shop = {.failure = failure};
  char **paths = heap_array(heap, count, sizeof *paths);
  shop.environment = copy_environment(heap, shop.variable);
  shop.arguments = make_arguments(heap, program, &shop, sources, count, paths, more, more_count);
  failure[0] = 0;
  bool is_done = open_workshop(&shop);
  for (uint32_t k = 0; k < count && is_done; k++) is_done = write_source(&shop, &sources[k], paths[k]);
  is_done = is_done && run_compiler(&shop) && take(context, shop.library, failure);
  close_workshop(&shop);
  for (uint32_t k = 0; k < count; k++) heap_free(heap, paths[k]);
  heap_free_all(heap, paths, shop.environment, shop.arguments);
  return is_done;
}
