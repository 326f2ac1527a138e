/* posix: see posix.h. */
#include "posix.h"

#include <stdarg.h>
#include <windows.h>

#undef open
#undef rename
#undef stat
#undef fstat

/* ---- files ---- */

/* Temporary files go to TMPDIR, which Windows calls TEMP. */
__attribute__((constructor)) static void begin(void) {
  const char *temporary = getenv("TEMP");
  if (temporary && !getenv("TMPDIR")) _putenv_s("TMPDIR", temporary);
  _fmode = _O_BINARY;
  _setmode(STDIN_FILENO, _O_BINARY);
  _setmode(STDOUT_FILENO, _O_BINARY);
  _setmode(STDERR_FILENO, _O_BINARY);
}

static void fill(struct posix_stat *info, const struct _stat64 *known, HANDLE file) {
  BY_HANDLE_FILE_INFORMATION more = {0};
  if (file != INVALID_HANDLE_VALUE) GetFileInformationByHandle(file, &more);
  *info = (struct posix_stat){.st_dev = more.dwVolumeSerialNumber,
                              .st_ino = (unsigned long long)more.nFileIndexHigh << 32 | more.nFileIndexLow,
                              .st_size = known->st_size,
                              .st_mtime = known->st_mtime,
                              .st_mode = known->st_mode};
}

int posix_stat(const char *path, struct posix_stat *info) {
  struct _stat64 known;
  if (_stat64(path, &known) != 0) return -1;
  HANDLE file = CreateFileA(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                            FILE_FLAG_BACKUP_SEMANTICS, NULL);
  fill(info, &known, file);
  if (file != INVALID_HANDLE_VALUE) CloseHandle(file);
  return 0;
}

int posix_fstat(int descriptor, struct posix_stat *info) {
  struct _stat64 known;
  if (_fstat64(descriptor, &known) != 0) return -1;
  fill(info, &known, (HANDLE)_get_osfhandle(descriptor));
  return 0;
}

int posix_open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  int mode = flags & O_CREAT ? va_arg(list, int) : 0;
  va_end(list);
  return _open(strcmp(path, "/dev/null") == 0 ? "NUL" : path, flags | _O_BINARY | _O_NOINHERIT,
               mode & (_S_IREAD | _S_IWRITE));
}

/* The function of Windows does not replace an existing file. */
int posix_rename(const char *from, const char *to) {
  if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING)) return 0;
  errno = GetLastError() == ERROR_FILE_NOT_FOUND ? ENOENT : EACCES;
  return -1;
}

/* The absolute path of an existing file or directory, with slashes; links are not followed. */
char *realpath(const char *path, char *resolved) {
  if (_access(path, 0) != 0) return NULL;
  char *whole = _fullpath(resolved, path, PATH_MAX);
  for (char *at = whole; at && *at; at++)
    if (*at == '\\') *at = '/';
  return whole;
}

char *mkdtemp(char *template) { return _mktemp(template) && _mkdir(template) == 0 ? template : NULL; }

int setenv(const char *name, const char *value, int replaces) {
  return !replaces && getenv(name) ? 0 : _putenv_s(name, value);
}

int fchown(int descriptor, int user, int group) { return (void)descriptor, (void)user, (void)group, 0; }

int fchmod(int descriptor, int mode) { return (void)descriptor, (void)mode, 0; }

ssize_t readlink(const char *path, char *target, size_t size) { return (void)path, (void)target, (void)size, -1; }

locale_t uselocale(locale_t locale) { return locale; }

void freelocale(locale_t locale) { (void)locale; }

/* ---- libraries ---- */

static _Thread_local char failure[512];

static void *note_failure(void *result) {
  if (!result && !FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, GetLastError(), 0,
                                 failure, sizeof failure, NULL))
    snprintf(failure, sizeof failure, "error %lu", GetLastError());
  failure[strcspn(failure, "\r\n")] = 0;
  return result;
}

void *dlopen(const char *path, int mode) {
  (void)mode;
  return note_failure(LoadLibraryA(path));
}

void *dlsym(void *library, const char *name) { return note_failure((void *)(intptr_t)GetProcAddress(library, name)); }

int dlclose(void *library) { return !FreeLibrary(library); }

char *dlerror(void) { return failure; }

/* ---- signals ---- */

static void (*on_alarm)(int);
static HANDLE timer;

static void CALLBACK ring(void *context, BOOLEAN is_time) {
  (void)context, (void)is_time;
  if (on_alarm) on_alarm(SIGALRM);
}

unsigned alarm(unsigned seconds) {
  HANDLE old = timer;
  timer = NULL;
  if (old) (void)DeleteTimerQueueTimer(NULL, old, NULL);
  if (seconds) CreateTimerQueueTimer(&timer, NULL, ring, NULL, 1000 * seconds, 0, WT_EXECUTEONLYONCE);
  return 0;
}

/* Windows forgets a handler of SIGINT after each signal, so it is installed again each time. */
static void (*on_interrupt)(int);

static void interrupt(int number) {
  signal(number, interrupt);
  on_interrupt(number);
}

int sigaction(int number, const struct sigaction *action, struct sigaction *before) {
  if (before) before->sa_handler = SIG_DFL;
  if (action && number == SIGALRM) on_alarm = action->sa_handler;
  if (action && number == SIGINT) on_interrupt = action->sa_handler, signal(SIGINT, interrupt);
  return 0;
}

/* ---- the terminal and the machine ---- */

int ioctl(int descriptor, int request, struct winsize *size) {
  CONSOLE_SCREEN_BUFFER_INFO info;
  (void)request;
  if (!GetConsoleScreenBufferInfo((HANDLE)_get_osfhandle(descriptor), &info)) return -1;
  size->ws_col = (unsigned short)(info.srWindow.Right - info.srWindow.Left + 1);
  return 0;
}

long sysconf(int name) {
  SYSTEM_INFO info;
  (void)name;
  GetSystemInfo(&info);
  return (long)info.dwNumberOfProcessors;
}
