/* posix: the parts of POSIX that daedal's sources use and mingw's headers lack. The other headers of this folder include this one
 * after mingw's header of the same name. Where Windows has no such thing (owners, permissions, descriptors that child processes
 * inherit), the flag is 0 and the function does nothing. */
#pragma once

#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files: always as bytes ---- */

enum { O_CLOEXEC = 0, O_NONBLOCK = 0, F_GETFD = 1, EDQUOT = 10069 };

/* Sets the number of the file, which shows that two paths name the same file; mingw's is always 0. */
struct posix_stat {
  unsigned long long st_dev, st_ino;
  long long st_size, st_mtime;
  int st_mode, st_uid, st_gid;
};

int posix_stat(const char *path, struct posix_stat *info);
int posix_fstat(int descriptor, struct posix_stat *info);
#undef stat
#undef fstat
#define stat posix_stat
#define fstat posix_fstat

int posix_open(const char *path, int flags, ...);
int posix_rename(const char *from, const char *to);
char *realpath(const char *path, char *resolved);
char *mkdtemp(char *template);
#define open(...) posix_open(__VA_ARGS__)
#define rename(from, to) posix_rename(from, to)
int setenv(const char *name, const char *value, int replaces);
int fchown(int descriptor, int user, int group);
int fchmod(int descriptor, int mode);
ssize_t readlink(const char *path, char *target, size_t size);
#define mkdir(path, mode) mkdir(path)
#define fdatasync _commit
#define fcntl(descriptor, flag) (_get_osfhandle(descriptor) < 0 ? -1 : 0)
#define strerror_r(error, text, size) strerror_s(text, size, error)

/* ---- libraries ---- */

enum { RTLD_NOW, RTLD_LOCAL, RTLD_GLOBAL };

void *dlopen(const char *path, int mode);
void *dlsym(void *library, const char *name);
int dlclose(void *library);
char *dlerror(void);

/* ---- signals: Windows sends only SIGINT, in a separate thread ---- */

enum { SIGHUP = NSIG, SIGALRM, SIGPIPE, SIGXFSZ };

typedef unsigned long long sigset_t;

struct sigaction {
  void (*sa_handler)(int);
};

int sigaction(int number, const struct sigaction *action, struct sigaction *before);
unsigned alarm(unsigned seconds);

/* ---- the locale: the command leaves it as it is, "C" ---- */

typedef void *locale_t;
#define newlocale(mask, name, base) NULL
locale_t uselocale(locale_t locale);
void freelocale(locale_t locale);

/* ---- the terminal and the machine ---- */

enum { TIOCGWINSZ, _SC_NPROCESSORS_ONLN };

struct winsize {
  unsigned short ws_col;
};

int ioctl(int descriptor, int request, struct winsize *size);
long sysconf(int name);
