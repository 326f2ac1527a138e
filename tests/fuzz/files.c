/* files: see files.h. Paths keep letters, digits, '_', ' ', '-', '/' and dots that are no "..". */
#include "files.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char MARK[] = "//@ ";

static const char *find_mark(const char *text, const char *end) {
  for (const char *at = text; at < end; at++) {
    size_t left = (size_t)(end - at);
    if (left > sizeof MARK - 1 && !memcmp(at, MARK, sizeof MARK - 1) && (at == text || at[-1] == '\n')) return at;
    at = memchr(at, '\n', left);
    if (!at) break;
  }
  return end;
}

/* The path below the folder; characters that are not plain become underscores. */
static void set_path(InputFiles *files, const char *name, size_t length) {
  char *path = files->paths[files->count];
  size_t used = strnlen(files->folder, LONGEST_PATH - 2);
  memmove(path, files->folder, used);
  path[used++] = '/';
  for (size_t i = 0; i < length && used < LONGEST_PATH - 1; i++) {
    char c = name[i];
    bool is_dots = c == '.' && i + 1 < length && name[i + 1] == '.';
    bool is_plain = !is_dots && (isalnum((unsigned char)c) || strchr("_ -./", c)) && c;
    path[used++] = is_plain ? c : '_';
  }
  path[used] = '\0';
}

static void make_directories(const InputFiles *files, const char *path) {
  char directory[LONGEST_PATH];
  for (const char *slash = strchr(path + strlen(files->folder) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    snprintf(directory, sizeof directory, "%.*s", (int)(slash - path), path);
    mkdir(directory, 0700);
  }
}

static void write_file(InputFiles *files, const char *begin, const char *end) {
  const char *name = begin + sizeof MARK - 1, *line = memchr(name, '\n', (size_t)(end - name));
  if (!line) line = end;
  set_path(files, name, (size_t)(line - name));
  const char *path = files->paths[files->count++];
  make_directories(files, path);
  FILE *file = fopen(path, "w");
  if (!file) return;
  if (line < end) fwrite(line + 1, 1, (size_t)(end - line - 1), file);
  fclose(file);
}

void files_open(InputFiles *files, const char *text, size_t length) {
  const char *end = text + length, *at = find_mark(text, end);
  *files = (InputFiles){.main_length = (size_t)(at - text)};
  if (at == end) return;
  strcpy(files->folder, "/tmp/daedal-fuzz-XXXXXX");
  if (!mkdtemp(files->folder)) files->folder[0] = '\0';
  while (files->folder[0] && at < end && files->count < MOST_FILES) {
    const char *next = find_mark(at + 1, end);
    write_file(files, at, next);
    at = next;
  }
}

/* Removes directories when they are empty, from the innermost outward. */
void files_close(InputFiles *files) {
  if (!files->folder[0]) return;
  for (int i = 0; i < files->count; i++) unlink(files->paths[i]);
  for (int i = 0; i < files->count; i++) {
    char *path = files->paths[i];
    for (char *slash = strrchr(path, '/'); slash && slash > path + strlen(files->folder); slash = strrchr(path, '/')) {
      *slash = '\0';
      rmdir(path);
    }
  }
  rmdir(files->folder);
}
