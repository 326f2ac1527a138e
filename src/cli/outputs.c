/* outputs: files that exist are the same if they are one inode; new ones, if their names and directories are. A file is
 * replaced by renaming, so what must be writable is its directory, and the file itself as a courtesy to who protects
 * it.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "cli/outputs.h"
#include "cli/options.h"
#include "cli/suggest.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What an option writes to; NULL for nothing but standard output. */
static const char *output_path(const Option *option, const Arguments *arguments) {
  switch (option->kind) {
  case OPTION_TRAJECTORY:
  case OPTION_PICTURE:
  case OPTION_PLOT:
  case OPTION_PAGE:
  case OPTION_JSON:
  case OPTION_OUTPUT:
  case OPTION_DIRECTORY:
  case OPTION_RUNS: break;
  default: return NULL;
  }
  const char *path = *(const char *const *)((const char *)arguments + option->offset);
  return is_standard_output(path) ? NULL : path;
}

static const char *last_part(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* The directory that holds it, with "/." at the end, which only directories may have. */
static void directory_of(const char *path, char directory[PATH_MAX]) {
  int length = (int)(last_part(path) - path);
  snprintf(directory, PATH_MAX, "%.*s.", length, path);
}

static bool same_inode(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool same_file(const char *a, const char *b) {
  struct stat of_a, of_b;
  bool has_a = stat(a, &of_a) == 0, has_b = stat(b, &of_b) == 0;
  if (has_a != has_b) return false;
  if (has_a) return S_ISREG(of_a.st_mode) && same_inode(&of_a, &of_b);
  char directory_a[PATH_MAX], directory_b[PATH_MAX];
  directory_of(a, directory_a);
  directory_of(b, directory_b);
  return !strcmp(last_part(a), last_part(b)) && stat(directory_a, &of_a) == 0 && stat(directory_b, &of_b) == 0 &&
         same_inode(&of_a, &of_b);
}

bool outputs_distinct(const Arguments *arguments) {
  for (const Option *option = options; option->name; option++) {
    const char *path = output_path(option, arguments);
    if (!path) continue;
    if (arguments->model_path && same_file(path, arguments->model_path))
      return usage_error("%s would overwrite the model: '%s'", option->name, path);
    for (const Option *other = options; other < option; other++) {
      const char *taken = output_path(other, arguments);
      if (!taken || !same_file(path, taken)) continue;
      usage_error("%s and %s would write to one file: '%s'", other->name, option->name, path);
      return false;
    }
  }
  return true;
}

static int access_error(const char *path, int mode) { return access(path, mode) == 0 ? 0 : errno; }

static int place_error(const char *path) {
  char directory[PATH_MAX];
  directory_of(path, directory);
  return access_error(directory, W_OK | X_OK);
}

int output_error(const char *path) {
  struct stat info;
  char real[PATH_MAX];
  if (stat(path, &info) != 0) {
    if (errno != ENOENT) return errno;
    return *last_part(path) ? place_error(path) : EISDIR;
  }
  if (S_ISDIR(info.st_mode)) return EISDIR;
  if (access(path, W_OK) != 0) return errno;
  return S_ISREG(info.st_mode) && realpath(path, real) ? place_error(real) : 0;
}

static int directory_error(const char *path) {
  struct stat info;
  if (stat(path, &info) == 0) return S_ISDIR(info.st_mode) ? access_error(path, W_OK | X_OK) : ENOTDIR;
  return errno == ENOENT ? place_error(path) : errno;
}

bool outputs_writable(const Arguments *arguments) {
  for (const Option *option = options; option->name; option++) {
    const char *path = output_path(option, arguments);
    if (!path) continue;
    int error = option_is_directory(option, path) ? directory_error(path) : output_error(path);
    if (!error) continue;
    say_error("D701", "cannot write '%s': %s", path,
              error == ENOENT ? "its directory does not exist" : strerror(error));
    return false;
  }
  return true;
}
