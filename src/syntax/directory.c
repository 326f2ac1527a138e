/* directory: see directory.h. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "syntax/directory.h"

#include "base/reading.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads the number at `text` and moves past it and a dot. */
static unsigned long version_part(const char **text) {
  char *end;
  unsigned long value = strtoul(*text, &end, 10);
  if (end == *text && *end) end++;
  *text = *end == '.' ? end + 1 : end;
  return value;
}

int version_compare(const char *a, const char *b) {
  while (*a && *b) {
    unsigned long left = version_part(&a), right = version_part(&b);
    if (left != right) return left < right ? -1 : 1;
  }
  return *a ? 1 : *b ? -1 : 0;
}

static int stored_compare(const void *left, const void *right) {
  const StoredClass *a = left, *b = right;
  int order = strcmp(a->name, b->name);
  if (order || (!*a->version && !*b->version)) return order ? order : strcmp(a->path, b->path);
  if (!*a->version || !*b->version) return *a->version ? 1 : -1;
  return version_compare(b->version, a->version);
}

static bool is_file(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Splits "Modelica 4.1.0"; a version begins with a digit. */
static void set_name(StoredClass *stored, const char *text, size_t length, Arena *arena) {
  const char *blank = memchr(text, ' ', length);
  bool has_version = blank && blank + 1 < text + length && blank[1] >= '0' && blank[1] <= '9';
  size_t name = has_version ? (size_t)(blank - text) : length;
  bool is_quoted = name > 2 && text[0] == '\'' && text[name - 1] == '\'';
  stored->name = arena_copy(arena, text + is_quoted, name - 2 * is_quoted);
  stored->version = has_version ? arena_copy(arena, blank + 1, length - name - 1) : "";
}

static bool has_ending(const char *name, const char *ending) {
  size_t length = strlen(name), end = strlen(ending);
  return length > end && !strcmp(name + length - end, ending);
}

/* An FMU is a class only if it is named itself. In a folder it may be next to the model from which it was made. */
static void add_entry(const char *path, const char *name, bool is_named, Arena *arena, StoredClassVec *classes) {
  StoredClass stored = {.path = arena_printf(arena, "%s/%s", path, name)};
  size_t length = strlen(name);
  if (name[0] == '.' || !strcmp(name, "package.mo")) return;
  if (has_ending(name, ".mo") && is_file(stored.path)) {
    length -= strlen(".mo");
  } else if (is_named && has_ending(name, ".fmu") && is_file(stored.path)) {
    length -= strlen(".fmu");
  } else {
    stored.directory = stored.path;
    stored.path = arena_printf(arena, "%s/package.mo", stored.directory);
    if (!is_file(stored.path)) return;
  }
  set_name(&stored, name, length, arena);
  vec_push(arena->heap, classes, stored);
}

bool directory_entry(const char *path, Arena *arena, StoredClassVec *classes) {
  char whole[PATH_MAX];
  const char *file = reading_file(path);
  if (!realpath(file, whole)) return false;
  if (file != path && has_ending(file, ".fmu") && is_file(whole)) {
    size_t name = (size_t)(file - path) - 1;
    StoredClass stored = {.name = arena_copy(arena, path, name), .version = ""};
    stored.path = arena_printf(arena, "%s=%s", stored.name, whole);
    vec_push(arena->heap, classes, stored);
    return true;
  }
  uint32_t before = classes->count;
  char *slash = strrchr(whole, '/');
  *slash = '\0';
  add_entry(whole, slash + 1, true, arena, classes);
  return classes->count > before;
}

static void close_directory(void *directory) { closedir(directory); }

/* The entry of the directory that differs from the name only in upper and lower case; NULL: none. */
static const char *find_spelled(const char *path, const char *name, Arena *arena) {
  const char *found = NULL;
  DIR *directory = opendir(path);
  if (!directory) return NULL;
  void *ticket = heap_defer(arena->heap, close_directory, directory);
  for (const struct dirent *entry; !found && (entry = readdir(directory));)
    if (!strcasecmp(entry->d_name, name)) found = arena_copy(arena, entry->d_name, strlen(entry->d_name));
  heap_release(arena->heap, ticket);
  return found;
}

const char *directory_spelled(const char *directory, const char *path, Arena *arena) {
  const char *whole = arena_printf(arena, "%s%s", directory, path), *at = path;
  if (access(whole, F_OK) == 0) return whole;
  for (const char *done = directory; done;) {
    at += strspn(at, "/");
    if (!*at) return done;
    size_t width = strcspn(at, "/");
    const char *name = arena_copy(arena, at, width), *next = arena_printf(arena, "%s/%s", done, name);
    bool is_there = access(next, F_OK) == 0;
    const char *entry = is_there ? name : find_spelled(done, name, arena);
    done = is_there ? next : entry ? arena_printf(arena, "%s/%s", done, entry) : NULL;
    at += width;
  }
  return whole;
}

bool directory_list(const char *path, Arena *arena, StoredClassVec *classes) {
  uint32_t first = classes->count;
  DIR *directory = opendir(path);
  if (!directory) return false;
  void *ticket = heap_defer(arena->heap, close_directory, directory);
  for (const struct dirent *entry; (entry = readdir(directory));) add_entry(path, entry->d_name, false, arena, classes);
  heap_release(arena->heap, ticket);
  if (classes->count > first)
    qsort(classes->data + first, classes->count - first, sizeof *classes->data, stored_compare);
  return true;
}
