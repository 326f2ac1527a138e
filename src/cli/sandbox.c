/* sandbox: see sandbox.h. landlock restricts files. seccomp restricts the rest: it refuses system calls with EPERM. Restrictions
 * apply to the calling thread and the threads it starts later, so no other thread may run yet. */
#define _GNU_SOURCE /* O_PATH, syscall */
#include "cli/sandbox.h"

#include "cli/cluster.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/suggest.h"

#if defined(__linux__) && __has_include(<linux/landlock.h>) && __has_include(<linux/seccomp.h>)

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Bits of rights that newer versions of landlock have; the headers may be older than the kernel. */
enum { RIGHT_REFER = 13, RIGHT_TRUNCATE = 14 };

static const uint64_t READ_FILE = LANDLOCK_ACCESS_FS_READ_FILE,
                      READ = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t WRITE = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
                              LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                              LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                              LANDLOCK_ACCESS_FS_MAKE_DIR | 1u << RIGHT_REFER | 1u << RIGHT_TRUNCATE;

static const uint64_t ALL = ((uint64_t)1 << (RIGHT_TRUNCATE + 1)) - 1;
static const uint64_t ONLY_READ =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;

/* The rights in `handled` are refused unless a rule allows them. */
typedef struct Sandbox {
  int rules;
  uint64_t handled;
} Sandbox;

static bool begin_rules(Sandbox *sandbox, uint64_t handled, long least_version) {
  long version = syscall(__NR_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < least_version) return false;
  if (version < 2) handled &= ~((uint64_t)1 << RIGHT_REFER);
  if (version < 3) handled &= ~((uint64_t)1 << RIGHT_TRUNCATE);
  struct landlock_ruleset_attr attributes = {.handled_access_fs = handled};
  sandbox->handled = handled;
  sandbox->rules = (int)syscall(__NR_landlock_create_ruleset, &attributes, sizeof attributes.handled_access_fs, 0);
  return sandbox->rules >= 0;
}

static bool end_rules(const Sandbox *sandbox) {
  bool is_done = syscall(__NR_landlock_restrict_self, sandbox->rules, 0) == 0;
  close(sandbox->rules);
  return is_done;
}

/* ---- files ---- */

/* Allows rights on a path. Does nothing if the path does not exist. A file cannot have the rights of a directory. */
static void allow(const Sandbox *sandbox, const char *path, uint64_t rights) {
  static const uint64_t of_files = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | 1u << RIGHT_TRUNCATE;
  struct stat info;
  struct landlock_path_beneath_attr rule = {.parent_fd = open(path, O_PATH | O_CLOEXEC)};
  if (rule.parent_fd < 0) return;
  rule.allowed_access = rights & sandbox->handled;
  if (fstat(rule.parent_fd, &info) == 0 && !S_ISDIR(info.st_mode)) rule.allowed_access &= of_files;
  (void)syscall(__NR_landlock_add_rule, sandbox->rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  close(rule.parent_fd);
}

/* Allows each path of a list. */
static void allow_list(const Sandbox *sandbox, const char *list, char separator, uint64_t rights) {
  char part[PATH_MAX];
  for (const char *at = list; at; at = strchr(at, separator)) {
    at += *at == separator;
    at += strspn(at, " ");
    if (!strncmp(at, "held:", 5)) at += 5;
    const char *end = strchr(at, separator);
    snprintf(part, sizeof part, "%.*s", end ? (int)(end - at) : (int)strlen(at), at);
    for (size_t length = strlen(part); length && part[length - 1] == ' ';) part[--length] = '\0';
    if (*part) allow(sandbox, part, rights);
  }
}

/* Cuts off the last part of a real path; false at the root. */
static bool cut_last(char *path) {
  char *slash = strrchr(path, '/');
  if (!slash || !slash[1]) return false;
  slash[slash == path] = '\0';
  return true;
}

/* The folder that contains a real path. */
static bool folder_of(const char *path, char folder[PATH_MAX]) {
  char copy[PATH_MAX];
  if (realpath(path, folder)) return cut_last(folder);
  const char *slash = strrchr(path, '/');
  snprintf(copy, sizeof copy, "%.*s.", slash ? (int)(slash - path + 1) : 0, path);
  return realpath(copy, folder);
}

static bool is_package(const char *folder) {
  char file[PATH_MAX + 16];
  snprintf(file, sizeof file, "%s/package.mo", folder);
  return access(file, F_OK) == 0;
}

/* Allows reading the folder of the model, and those of the enclosing packages. */
static void allow_model(const Sandbox *sandbox, const char *path) {
  char folder[PATH_MAX], written[PATH_MAX];
  const char *slash = strrchr(path, '/');
  allow(sandbox, path, READ_FILE);
  snprintf(written, sizeof written, "%.*s.", slash ? (int)(slash - path + 1) : 0, path);
  for (bool is_there = realpath(written, folder); is_there;
       is_there = is_package(folder) && cut_last(folder) && is_package(folder))
    allow(sandbox, folder, READ);
}

/* Allows the folder of an output, since the file is written under another name and renamed; for a device, the device itself. */
static void allow_output(const Sandbox *sandbox, const char *path) {
  char folder[PATH_MAX];
  if (folder_of(path, folder)) allow(sandbox, folder, WRITE);
  allow(sandbox, path, WRITE);
}

static void allow_option(const Sandbox *sandbox, const Option *option, const char *text) {
  if (option->kind == OPTION_INPUTS) allow_list(sandbox, text, ',', READ_FILE);
  else if (option->kind == OPTION_SEARCHED) allow_list(sandbox, text, ':', READ);
  else allow(sandbox, text, READ_FILE), allow_list(sandbox, text, '@', READ_FILE); /* a result, possibly with @TIME */
}

static void allow_options(const Sandbox *sandbox, const Arguments *arguments) {
  for (const Option *option = options; option->name; option++) {
    const char *output, *text = NULL;
    for (int k = 0; (output = outputs_path(option, arguments, k)); k++)
      if (*output) allow_output(sandbox, output);
    if (option->kind == OPTION_INPUTS || option->kind == OPTION_SEARCHED || option->kind == OPTION_READ)
      text = *(const char *const *)((const char *)arguments + option->offset);
    if (text) allow_option(sandbox, option, text);
  }
}

/* Allows reading the files that the C library and the picture libraries need. */
static void allow_system(const Sandbox *sandbox) {
  static const char *const paths[] = {"/usr",
                                      "/lib",
                                      "/lib64",
                                      "/etc/localtime",
                                      "/etc/fonts",
                                      "/etc/ld.so.cache",
                                      "/var/cache/fontconfig",
                                      "/sys/devices/system/cpu",
                                      "/proc/stat",
                                      "/proc/meminfo",
                                      "/dev/null",
                                      NULL};
  for (const char *const *path = paths; *path; path++) allow(sandbox, *path, READ);
  allow(sandbox, "/dev/null", WRITE);
}

static bool restrict_files(const Arguments *arguments) {
  Sandbox sandbox;
  if (!begin_rules(&sandbox, ALL, 1))
    return usage_error("--sandbox needs landlock, which this kernel does not have: %s", strerror(errno));
  allow_system(&sandbox);
  allow_options(&sandbox, arguments);
  if (arguments->model_path) allow_model(&sandbox, arguments->model_path);
  if (!arguments->output_path && !arguments->html_path)
    allow(&sandbox, ".", WRITE); /* the folder of files with default names */
  return end_rules(&sandbox) || usage_error("--sandbox: %s", strerror(errno));
}

/* Allows reading any file: libraries, fonts and links to them can be anywhere. */
static bool restrict_writing(const Arguments *arguments) {
  const char *temporary = getenv("TMPDIR");
  Sandbox sandbox;
  if (!begin_rules(&sandbox, ALL & ~ONLY_READ, 2))
    return false; /* version 1 does not allow renaming to another folder */
  allow_options(&sandbox, arguments);
  allow(&sandbox, ".", WRITE);
  allow(&sandbox, "/dev", WRITE);
  allow(&sandbox, temporary && *temporary ? temporary : "/tmp", WRITE);
  return end_rules(&sandbox);
}

/* ---- system calls ---- */

#if defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#elif defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#endif

/* Programs, connections, other processes (landlock prevents ptrace of processes outside), settings of the whole system, and ways
 * around a filter. */
static const int REFUSED[] = {__NR_execve,
                              __NR_execveat,
                              __NR_socket,
                              __NR_socketpair,
                              __NR_connect,
                              __NR_bind,
                              __NR_listen,
                              __NR_accept,
                              __NR_accept4,
                              __NR_sendto,
                              __NR_sendmsg,
                              __NR_sendmmsg,
                              __NR_process_vm_readv,
                              __NR_process_vm_writev,
                              __NR_tkill,
                              __NR_mount,
                              __NR_umount2,
                              __NR_pivot_root,
                              __NR_chroot,
                              __NR_unshare,
                              __NR_setns,
                              __NR_bpf,
                              __NR_perf_event_open,
                              __NR_userfaultfd,
                              __NR_keyctl,
                              __NR_add_key,
                              __NR_request_key,
                              __NR_init_module,
                              __NR_finit_module,
                              __NR_delete_module,
                              __NR_kexec_load,
                              __NR_reboot,
                              __NR_swapon,
                              __NR_swapoff,
                              __NR_open_by_handle_at,
                              __NR_memfd_create,
                              __NR_io_uring_setup,
                              __NR_pidfd_open,
                              __NR_pidfd_getfd,
                              __NR_pidfd_send_signal};
enum { REFUSED_COUNT = sizeof REFUSED / sizeof *REFUSED };

/* Calls that send signals. A process may send signals only to itself: abort and raise need that. */
static const int TO_ITSELF[] = {__NR_kill, __NR_tgkill, __NR_rt_sigqueueinfo, __NR_rt_tgsigqueueinfo};
enum { TO_ITSELF_COUNT = sizeof TO_ITSELF / sizeof *TO_ITSELF };
enum {
  X32_CALLS = 0x40000000
}; /* on x86-64 all calls exist a second time, for 32-bit pointers, numbered from here on */

static bool restrict_calls(void) {
#ifdef MACHINE
  enum {
    FIRST = 4,
    SIGNALS = FIRST + REFUSED_COUNT,
    OTHERS = SIGNALS + TO_ITSELF_COUNT,
    PROCESS,
    REFUSE = PROCESS + 3
  };
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 0, REFUSE - 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, REFUSE - FIRST, 0),
      [OTHERS] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      [PROCESS] =
          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)), /* the low half of the argument */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)getpid(), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      [REFUSE] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)};
  for (int i = FIRST; i < SIGNALS; i++)
    filter[i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)REFUSED[i - FIRST],
                                             (unsigned char)(REFUSE - i - 1), 0);
  for (int i = SIGNALS; i < OTHERS; i++)
    filter[i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)TO_ITSELF[i - SIGNALS],
                                             (unsigned char)(PROCESS - i - 1), 0);
  struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
#else
  errno = ENOSYS; /* another processor */
  return false;
#endif
}

bool sandbox_enter(const Arguments *arguments) {
  if (arguments->run.compile || arguments->fmu_path)
    return usage_error("--sandbox cannot be used with the compiler: --compile, --fmu");
  if (arguments->libraries) return usage_error("--sandbox and --allow-external cannot be used together");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return usage_error("--sandbox: %s", strerror(errno));
  return restrict_files(arguments) && (restrict_calls() || usage_error("--sandbox: %s", strerror(errno)));
}

void sandbox_enter_default(const Arguments *arguments) {
  bool needs_more = arguments->run.compile || arguments->fmu_path || arguments->libraries || cluster_expected();
  if (needs_more || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  if (restrict_writing(arguments)) (void)restrict_calls();
}

#else

bool sandbox_enter(const Arguments *arguments) {
  (void)arguments;
  return usage_error("--sandbox needs a system with landlock and seccomp");
}

void sandbox_enter_default(const Arguments *arguments) { (void)arguments; }

#endif
