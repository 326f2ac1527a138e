/* reading: see reading.h. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "base/reading.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- permissions ---- */

const char *reading_file(const char *given) {
  const char *at = given;
  while (*at == '_' || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
         (at > given && *at >= '0' && *at <= '9'))
    at++;
  return at > given && *at == '=' ? at + 1 : given;
}

static void allow_folder(Reading *reading, Heap *heap, const char *path) {
  char real[PATH_MAX];
  if (realpath(reading_file(path), real)) vec_push(heap, &reading->folders, heap_copy(heap, real, strlen(real) + 1, 1));
}

void reading_allow(Reading *reading, Heap *heap, const char *folders) {
  for (const char *at = folders; at && *at;) {
    char path[PATH_MAX];
    size_t length = strcspn(at, ":");
    int size = snprintf(path, sizeof path, "%.*s", (int)(length < PATH_MAX ? length : 0), at);
    if (size > 0) allow_folder(reading, heap, path);
    at += length + (at[length] == ':');
  }
}

/* Cuts off the last part: "a/b" becomes "a", "b" becomes ".". False: there is no part left. */
static bool cut_last(char *path) {
  char *slash = strrchr(path, '/');
  if (!slash && strcmp(path, ".") == 0) return false;
  if (!slash) strcpy(path, ".");
  else if (slash != path) *slash = '\0';
  else if (path[1]) path[1] = '\0';
  else return false;
  return true;
}

static bool has_package(const char *folder) {
  char file[PATH_MAX];
  int size = snprintf(file, sizeof file, "%s/package.mo", folder);
  return size > 0 && size < PATH_MAX && access(file, F_OK) == 0;
}

void reading_allow_model(Reading *reading, Heap *heap, const char *path) {
  char folder[PATH_MAX], real[PATH_MAX];
  int size = snprintf(folder, sizeof folder, "%s", path);
  if (size <= 0 || size >= PATH_MAX || !cut_last(folder) || !realpath(folder, real)) return;
  for (char above[PATH_MAX]; has_package(real);) {
    strcpy(above, real);
    if (!cut_last(above) || !has_package(above)) break;
    strcpy(real, above);
  }
  allow_folder(reading, heap, real);
}

static bool is_inside(const char *folder, const char *real) {
  size_t length = strlen(folder);
  if (length && folder[length - 1] == '/') length--; /* only the root ends with a slash */
  return strncmp(folder, real, length) == 0 && (real[length] == '/' || !real[length]);
}

/* For a path that does not exist: the real path of the folder that would contain it. A part `..` after a missing part is not
 * resolved. */
static bool resolve_above(const char *path, char real[PATH_MAX]) {
  char above[PATH_MAX];
  int size = snprintf(above, sizeof above, "%s", path);
  if (size <= 0 || size >= PATH_MAX) return false;
  while (!realpath(above, real)) {
    const char *last = strrchr(above, '/');
    if ((errno != ENOENT && errno != ENOTDIR) || strcmp(last ? last + 1 : above, "..") == 0 || !cut_last(above))
      return false;
  }
  return true;
}

bool reading_allows(const Reading *reading, const char *path, char real[PATH_MAX]) {
  if (!realpath(path, real) && !resolve_above(path, real)) return reading && reading->is_everywhere;
  if (reading && reading->is_everywhere) return true;
  for (uint32_t i = 0; reading && i < reading->folders.count; i++)
    if (is_inside(reading->folders.data[i], real)) return true;
  return false;
}

/* ---- opening ---- */

/* Opens a path only if it is a regular file, since opening a device can already have an effect. */
int reading_open(const char *path) {
  struct stat info;
  if (stat(path, &info) != 0) return -1;
  if (S_ISREG(info.st_mode)) return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  errno = S_ISDIR(info.st_mode) ? EISDIR : READING_NOT_A_FILE;
  return -1;
}

const char *reading_failure(int error, char room[READING_TEXT]) {
  if (error == READING_NOT_A_FILE) return "It is a pipe, a device or a socket, not a file";
  return strerror_r(error, room, READING_TEXT) == 0 ? room : "unknown error";
}
