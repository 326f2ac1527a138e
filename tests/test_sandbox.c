/* A process in the sandbox can use its inputs, the folders of its outputs, and threads, but no other file, no connection and
 * no program. The table of options belongs to this test. */
#define _GNU_SOURCE
#include "../src/cli/sandbox.c"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define AT(member) offsetof(Arguments, member)

const Option options[] = {
    {"--output-file", NULL, "FILE", 0, OPTION_TRAJECTORY, AT(output_path), ""},
    {"--html", NULL, "FILE", 0, OPTION_PAGE, AT(html_path), ""},
    {"--data", NULL, "FILE", 0, OPTION_READ, AT(data), ""},
    {"--input", NULL, "LIST", 0, OPTION_INPUTS, AT(input), ""},
    {"--allow-read", NULL, "DIR", 0, OPTION_SEARCHED, AT(readable), ""},
    {0},
};

const char *outputs_path(const Option *option, const Arguments *arguments, int k) {
  if (k > 0) return NULL;
  if (option->kind != OPTION_TRAJECTORY && option->kind != OPTION_PAGE) return NULL;
  return *(const char *const *)((const char *)arguments + option->offset);
}

bool cluster_expected(void) { return getenv("PMIX_RANK"); }

static char said[200];

bool say_error(const char *code, const char *format, ...) {
  (void)code;
  va_list list;
  va_start(list, format);
  vsnprintf(said, sizeof said, format, list);
  va_end(list);
  return false;
}

/* ---- a world of files ---- */

static char root[64];

static const char *path_of(const char *name) {
  static char paths[8][PATH_MAX];
  static int next;
  char *path = paths[next++ % 8];
  snprintf(path, PATH_MAX, "%s/%s", root, name);
  return path;
}

static void write_file(const char *name) {
  int file = open(path_of(name), O_WRONLY | O_CREAT, 0666);
  assert_true(file >= 0 && write(file, "x", 1) == 1 && close(file) == 0);
}

static int setup(void **state) {
  (void)state;
  static const char *const folders[] = {"lib", "lib/P", "own", "own/deep", "out", "other", "more", NULL};
  static const char *const files[] = {"lib/package.mo", "lib/P/package.mo", "lib/P/M.mo",   "lib/table",
                                      "own/deep/file",  "out/old",          "other/secret", "data.csv",
                                      "inputs.csv",     "held.csv",         "more/file",    NULL};
  snprintf(root, sizeof root, "/tmp/daedal-test-sandbox-XXXXXX");
  assert_non_null(mkdtemp(root));
  for (const char *const *folder = folders; *folder; folder++) assert_int_equal(mkdir(path_of(*folder), 0777), 0);
  for (const char *const *file = files; *file; file++) write_file(*file);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -r '%s'", root);
  return system(command);
}

/* ---- probes, in a child ---- */

static bool can_open(const char *name, int flags) {
  int file = open(*name == '/' ? name : path_of(name), flags, 0666);
  if (file >= 0) close(file);
  return file >= 0;
}

static void *thread(void *context) { return context; }

/* The line is the exit status of the child, so that it says which check failed. */
#define EXPECT(condition) \
  if (!(condition)) _exit(__LINE__ % 200 + 20)

static void probe(void) {
  static char list[3 * PATH_MAX], data[PATH_MAX], readable[PATH_MAX];
  pthread_t other;
  snprintf(list, sizeof list, "u=sin(time), %s, held:%s ", path_of("inputs.csv"), path_of("held.csv"));
  snprintf(data, sizeof data, "%s@2.5", path_of("data.csv"));
  snprintf(readable, sizeof readable, "/nowhere:%s", path_of("more"));
  Arguments arguments = {.model_path = path_of("lib/P/M.mo"), .data = data, .readable = readable, .input = list};
  arguments.output_path = path_of("out/new.csv");
  arguments.html_path = path_of("out/page.html");
  EXPECT(chdir("/") == 0);
  if (!sandbox_enter(&arguments)) _exit(strstr(said, "landlock") ? 1 : 2);
  EXPECT(can_open("lib/P/M.mo", O_RDONLY));
  EXPECT(can_open("lib/table", O_RDONLY));
  EXPECT(can_open("data.csv", O_RDONLY));
  EXPECT(can_open("inputs.csv", O_RDONLY));
  EXPECT(can_open("held.csv", O_RDONLY));
  EXPECT(can_open("more/file", O_RDONLY));
  EXPECT(can_open("out/new.csv", O_WRONLY | O_CREAT | O_EXCL));
  EXPECT(can_open("out/old", O_WRONLY | O_TRUNC));
  EXPECT(rename(path_of("out/new.csv"), path_of("out/old")) == 0);
  EXPECT(!can_open("other/secret", O_RDONLY) && errno == EACCES);
  EXPECT(!can_open("own/deep/file", O_RDONLY));
  EXPECT(!can_open("/etc/passwd", O_RDONLY));
  EXPECT(!can_open("/proc/self/environ", O_RDONLY));
  EXPECT(!can_open("lib/table", O_WRONLY));
  EXPECT(!can_open("lib/new", O_WRONLY | O_CREAT));
  EXPECT(!can_open("data.csv", O_WRONLY));
  EXPECT(unlink(path_of("lib/table")) != 0);
  EXPECT(socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM);
  EXPECT(socket(AF_UNIX, SOCK_STREAM, 0) < 0);
  EXPECT(kill(getppid(), 0) != 0 && errno == EPERM);
  EXPECT(syscall(__NR_tgkill, getppid(), getppid(), 0) != 0 && errno == EPERM);
  EXPECT(syscall(__NR_tkill, getppid(), 0) != 0 && errno == EPERM);
  EXPECT(sigqueue(getppid(), 0, (union sigval){0}) != 0 && errno == EPERM);
  EXPECT(kill(getpid(), 0) == 0 && syscall(__NR_tgkill, getpid(), syscall(__NR_gettid), 0) == 0);
  EXPECT(execl("/bin/true", "true", (char *)NULL) != 0 && errno == EPERM);
  EXPECT(pthread_create(&other, NULL, thread, NULL) == 0 && pthread_join(other, NULL) == 0);
  _exit(0);
}

/* Without an option. */
static void probe_default(void) {
  pthread_t other;
  Arguments arguments = {.model_path = path_of("lib/P/M.mo"), .output_path = path_of("out/new.csv")};
  EXPECT(chdir(path_of("more")) == 0 && setenv("TMPDIR", path_of("own/deep"), 1) == 0);
  sandbox_enter_default(&(Arguments){.run.compile = true});
  sandbox_enter_default(&(Arguments){.fmu_path = "a.fmu"});
  sandbox_enter_default(&(Arguments){.libraries = (const char *const[]){NULL}});
  EXPECT(setenv("PMIX_RANK", "0", 1) == 0);
  sandbox_enter_default(&arguments);
  EXPECT(can_open("other/secret", O_WRONLY) && unsetenv("PMIX_RANK") == 0);
  sandbox_enter_default(&arguments);
  if (can_open("other/secret", O_WRONLY)) _exit(1);
  EXPECT(can_open("other/secret", O_RDONLY) && can_open("/etc/passwd", O_RDONLY));
  EXPECT(can_open("out/new.csv", O_WRONLY | O_CREAT | O_EXCL));
  EXPECT(can_open("more/new", O_WRONLY | O_CREAT | O_EXCL) && can_open("own/deep/new", O_WRONLY | O_CREAT | O_EXCL));
  EXPECT(rename(path_of("own/deep/new"), path_of("out/old")) == 0);
  EXPECT(mkdir(path_of("out/folder"), 0777) == 0);
  EXPECT(can_open("/dev/null", O_WRONLY));
  EXPECT(!can_open("lib/new", O_WRONLY | O_CREAT) && errno == EACCES);
  EXPECT(!can_open("lib/table", O_WRONLY | O_TRUNC) && unlink(path_of("lib/table")) != 0);
  EXPECT(rename(path_of("more/new"), path_of("lib/new")) != 0);
  EXPECT(socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM);
  EXPECT(kill(getppid(), 0) != 0 && errno == EPERM);
  EXPECT(execl("/bin/true", "true", (char *)NULL) != 0 && errno == EPERM);
  EXPECT(pthread_create(&other, NULL, thread, NULL) == 0 && pthread_join(other, NULL) == 0);
  _exit(0);
}

static void check_child(void (*work)(void)) {
  int status;
  pid_t child = fork();
  if (child == 0) work();
  assert_true(waitpid(child, &status, 0) == child && WIFEXITED(status));
  if (WEXITSTATUS(status) == 1) skip(); /* this kernel has no landlock */
  assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_rights(void **state) {
  (void)state;
  check_child(probe);
}

static void test_default_rights(void **state) {
  (void)state;
  check_child(probe_default);
}

static void test_refusals(void **state) {
  (void)state;
  assert_false(sandbox_enter(&(Arguments){.run.compile = true}));
  if (strstr(said, "landlock")) skip(); /* it was built without */
  assert_non_null(strstr(said, "--compile"));
  assert_false(sandbox_enter(&(Arguments){.fmu_path = "a.fmu"}));
  assert_false(sandbox_enter(&(Arguments){.libraries = (const char *const[]){NULL}}));
  assert_non_null(strstr(said, "--allow-external"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_rights, setup, teardown),
      cmocka_unit_test_setup_teardown(test_default_rights, setup, teardown),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
