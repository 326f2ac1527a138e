/* outputs: existing files are the same if they have the same inode; new ones, if their names and directories are equal. A file is
 * replaced by renaming, so its directory must be writable. The file itself must be writable as well: a protected file is not
 * replaced. */
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

const char *outputs_path(const Option *option, const Arguments *arguments, int k) {
  const char *path = NULL;
  if (!(option->commands & arguments->command)) return NULL;
  switch (option->kind) {
  case OPTION_PLOT: path = arguments->plots.words[k]; break;
  case OPTION_TRAJECTORY:
  case OPTION_PICTURE:
  case OPTION_PAGE:
  case OPTION_JSON:
  case OPTION_OUTPUT:
  case OPTION_DIRECTORY:
  case OPTION_RUNS:
    if (k == 0) path = *(const char *const *)((const char *)arguments + option->offset);
    break;
  default: break;
  }
  return is_standard_output(path) ? "" : path;
}

static const char *last_part(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static const char *ending_of(const char *path) {
  const char *dot = strrchr(last_part(path), '.');
  return dot ? dot : "";
}

/* The directory that contains the path, with "/." at the end, which only directories may have. */
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

/* Is the file one of the paths of a list, which may have blanks and "held:" in front? */
static bool lists_file(const char *list, const char *path) {
  char part[PATH_MAX];
  for (const char *at = list; at; at = strchr(at, ',')) {
    at += strspn(at, ", ");
    if (!strncmp(at, "held:", 5)) at += 5;
    size_t length = strcspn(at, ",");
    while (length && at[length - 1] == ' ') length--;
    snprintf(part, sizeof part, "%.*s", (int)length, at);
    if (same_file(part, path)) return true;
  }
  return false;
}

/* Does the name mean the file of the path? It may have "@TIME" at its end. */
static bool names_file(const char *name, const char *path) {
  char part[PATH_MAX];
  const char *at = strrchr(name, '@');
  snprintf(part, sizeof part, "%.*s", at ? (int)(at - name) : (int)strlen(name), name);
  return same_file(name, path) || same_file(part, path);
}

/* Is the file in one of these directories, which are separated by colons? */
static bool holds_file(const char *directories, const char *path) {
  char real[PATH_MAX], part[PATH_MAX], directory[PATH_MAX];
  if (!realpath(path, real)) return false;
  for (const char *at = directories; *at; at += *at == ':') {
    size_t length = strcspn(at, ":");
    snprintf(part, sizeof part, "%.*s", (int)length, at);
    at += length;
    if (length && realpath(part, directory) && !strncmp(real, directory, strlen(directory)) &&
        real[strlen(directory)] == '/')
      return true;
  }
  return false;
}

/* Does this option read the file? A file that does not exist yet is not read. */
static bool reads_file(const Option *option, const Arguments *arguments, const char *path) {
  const char *text = NULL;
  if (access(path, F_OK) != 0) return false;
  if (option->kind == OPTION_READ || option->kind == OPTION_INPUTS || option->kind == OPTION_SEARCHED)
    text = *(const char *const *)((const char *)arguments + option->offset);
  if (!text) return false;
  if (option->kind == OPTION_SEARCHED) return !strcmp(ending_of(path), ".mo") && holds_file(text, path);
  return option->kind == OPTION_READ ? names_file(text, path) : lists_file(text, path);
}

/* The option that reads the file; NULL: none. */
static const Option *find_reader(const Arguments *arguments, const char *path) {
  for (const Option *option = options; option->name; option++)
    if (reads_file(option, arguments, path)) return option;
  return NULL;
}

/* Does the k-th path of the option differ from all other paths that are read or written? false after a message. */
static bool is_distinct(const Arguments *arguments, const Option *option, int k, const char *path) {
  for (const char *const *read = arguments->paths.words; *read; read++)
    if (same_file(path, *read))
      return usage_error("%s would overwrite the %s: '%s'", option->name, arguments->subject, path);
  const Option *reader = find_reader(arguments, path);
  if (reader) return usage_error("%s would overwrite a file that %s reads: '%s'", option->name, reader->name, path);
  for (const Option *other = options; other <= option; other++) {
    const char *taken;
    for (int i = 0; (other < option || i < k) && (taken = outputs_path(other, arguments, i)); i++)
      if (*taken && same_file(path, taken))
        return usage_error("%s and %s would write to one file: '%s'", other->name, option->name, path);
  }
  return true;
}

bool outputs_distinct(const Arguments *arguments) {
  const char *path;
  for (const Option *option = options; option->name; option++)
    for (int k = 0; (path = outputs_path(option, arguments, k)); k++)
      if (*path && !is_distinct(arguments, option, k, path)) return false;
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

/* Can the path be written now? false after a message. */
static bool is_writable(const Option *option, const char *path) {
  int error = option_is_directory(option, path) ? directory_error(path) : output_error(path);
  if (error)
    say_error("D701", "cannot write '%s': %s", path,
              error == ENOENT ? "its directory does not exist" : strerror(error));
  return !error;
}

bool outputs_writable(const Arguments *arguments) {
  const char *path;
  for (const Option *option = options; option->name; option++)
    for (int k = 0; (path = outputs_path(option, arguments, k)); k++)
      if (*path && !is_writable(option, path)) return false;
  return true;
}
