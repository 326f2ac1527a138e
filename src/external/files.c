/* files: the functions of Modelica.Utilities that read files, folders and system settings, and those that read matrices in files
 * (ModelicaIO). */
#define _XOPEN_SOURCE 700 /* realpath */

#include "external/functions.h"
#include "external/matrix_file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- names ---- */

bool external_full_path(ExternalCall *call) {
  const char *path = external_text(call, 0);
  char full[PATH_MAX], here[PATH_MAX];
  const ExternalRights *rights = call->function->rights;
  if (reading_allows(rights ? &rights->reading : NULL, path, full) && realpath(path, full))
    return external_give_text(call, full, strlen(full));
  if (path[0] == '/' || !getcwd(here, sizeof here)) return external_give_text(call, path, strlen(path));
  const char *joined = arena_printf(call->arena, "%s/%s", here, path);
  return external_give_text(call, joined, strlen(joined));
}

/* Modelica.Utilities.Types.FileType: none, file, directory, other. */
bool external_file_kind(ExternalCall *call) {
  struct stat found;
  if (!external_may_read(call, external_text(call, 0))) return false;
  if (stat(external_text(call, 0), &found) != 0) return external_give(call, 1);
  return external_give(call, S_ISREG(found.st_mode) ? 2 : S_ISDIR(found.st_mode) ? 3 : 4);
}

bool external_working_directory(ExternalCall *call) {
  char here[PATH_MAX];
  if (!getcwd(here, sizeof here)) return external_fail(call, "the working directory has no name");
  return external_give_text(call, here, strlen(here));
}

/* Arguments: name, convertToSlash, content, exist. */
bool external_environment(ExternalCall *call) {
  const ExternalRights *rights = call->function->rights;
  if (!rights || !rights->may_write)
    return external_fail(call, "reading environment variable `%s` needs --allow-external", external_text(call, 0));
  const char *value = getenv(external_text(call, 0));
  call->arguments[2].texts[0] = value ? arena_copy(call->arena, value, strlen(value)) : "";
  call->arguments[3].numbers[0] = value != NULL;
  return true;
}

bool external_process(ExternalCall *call) { return external_give(call, (double)getpid()); }

/* Arguments: milliseconds, seconds, minutes, hours, day, month, year. */
bool external_time_of_day(ExternalCall *call) {
  struct timespec now;
  struct tm local;
  clock_gettime(CLOCK_REALTIME, &now);
  if (!localtime_r(&now.tv_sec, &local)) return external_fail(call, "the time is not known");
  int parts[] = {
      (int)(now.tv_nsec / 1000000), local.tm_sec, local.tm_min, local.tm_hour, local.tm_mday, local.tm_mon + 1,
      local.tm_year + 1900};
  for (uint32_t i = 0; i < 7; i++) call->arguments[i].numbers[0] = parts[i];
  return true;
}

/* ---- lines ---- */

static const char *line_end(const char *line) { return line + strcspn(line, "\n"); }

/* Line `number`, from 1, without its end; NULL if there are fewer. */
static const char *find_line(const char *text, int64_t number, size_t *length) {
  for (; *text && number > 1; number--) {
    text = line_end(text);
    text += *text == '\n';
  }
  if (!*text || number < 1) return NULL;
  *length = (size_t)(line_end(text) - text);
  if (*length && text[*length - 1] == '\r') --*length;
  return text;
}

static int64_t count_lines(const char *text) {
  int64_t count = 0;
  for (; *text; count++) {
    text = line_end(text);
    text += *text == '\n';
  }
  return count;
}

bool external_count_lines(ExternalCall *call) {
  size_t size;
  const char *text = file_bytes(call, external_text(call, 0), &size);
  return text && external_give(call, (double)count_lines(text));
}

/* Arguments: file, number of the line, out: is the line after the end? */
bool external_read_line(ExternalCall *call) {
  size_t size, length = 0;
  const char *text = file_bytes(call, external_text(call, 0), &size);
  if (!text) return false;
  const char *line = find_line(text, external_integer(call, 1), &length);
  call->arguments[2].numbers[0] = !line;
  return external_give_text(call, line ? line : "", length);
}

bool external_read_lines(ExternalCall *call) {
  size_t size, length = 0;
  const char *text = file_bytes(call, external_text(call, 0), &size);
  ExternalValue *lines = &call->arguments[1];
  if (!text) return false;
  for (uint32_t i = 0; i < lines->count; i++) {
    const char *line = find_line(text, 1, &length);
    lines->texts[i] = line ? arena_copy(call->arena, line, length) : "";
    text = line_end(text);
    text += *text == '\n';
  }
  return true;
}

/* ---- folders ---- */

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void close_directory(void *directory) { closedir(directory); }

/* Sorted names except . and .., as many as `names` has room for. Returns the number of all names; -1 after external_fail. */
static int64_t list_directory(ExternalCall *call, const char *path, const char **names, uint32_t room) {
  if (!external_may_read(call, path)) return -1;
  DIR *directory = opendir(path);
  int64_t count = 0;
  if (!directory) {
    external_fail(call, "directory `%s` cannot be read", path);
    return -1;
  }
  void *ticket = heap_defer(call->state->heap, close_directory, directory);
  for (struct dirent *entry; (entry = readdir(directory));) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (count < room) names[count] = arena_copy(call->arena, entry->d_name, strlen(entry->d_name));
    count++;
  }
  heap_release(call->state->heap, ticket);
  qsort(names, count < room ? (size_t)count : room, sizeof *names, compare_names);
  return count;
}

bool external_count_files(ExternalCall *call) {
  const char *none = "";
  int64_t count = list_directory(call, external_text(call, 0), &none, 0);
  return count >= 0 && external_give(call, (double)count);
}

/* Arguments: directory, number of files, their names. */
bool external_list_files(ExternalCall *call) {
  ExternalValue *names = &call->arguments[2];
  for (uint32_t i = 0; i < names->count; i++) names->texts[i] = "";
  return list_directory(call, external_text(call, 0), names->texts, names->count) >= 0;
}

/* ---- matrices ---- */

/* Arguments: file, matrix, number of rows and columns. */
bool external_matrix_sizes(ExternalCall *call) {
  ExternalValue *sizes = &call->arguments[2];
  Matrix matrix;
  if (sizes->count != 2) return external_fail(call, "a matrix has two sizes");
  if (!matrix_read(call, external_text(call, 0), external_text(call, 1), (MatrixFormat){0}, &matrix)) return false;
  sizes->numbers[0] = matrix.rows;
  sizes->numbers[1] = matrix.columns;
  heap_free(call->state->heap, matrix.values);
  return true;
}

bool external_matrix_read(ExternalCall *call) {
  ExternalValue *out = &call->arguments[2];
  Matrix matrix;
  if (!matrix_read(call, external_text(call, 0), external_text(call, 1), (MatrixFormat){0}, &matrix)) return false;
  bool fits = out->dimensions == 2 && out->sizes[0] == matrix.rows && out->sizes[1] == matrix.columns;
  if (fits) memcpy(out->numbers, matrix.values, out->count * sizeof *out->numbers);
  heap_free(call->state->heap, matrix.values);
  return fits || external_fail(call, "matrix `%s` has %u rows and %u columns", external_text(call, 1), matrix.rows,
                               matrix.columns);
}
