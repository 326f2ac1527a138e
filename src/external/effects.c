/* effects: functions of Modelica.Utilities that change something outside; they are found only if the user allows it. Printed
 * messages go to the state of the run, not to the terminal. */
#include "external/functions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PRINTED_MOST = 1 << 16 }; /* bytes; a limit, because equations are evaluated often */

static bool check(ExternalCall *call, bool is_done, const char *path) {
  return is_done || external_fail(call, "`%s`: %s", path, strerror(errno));
}

/* Adds a line of text to the run's messages, or appends it to a file if one is named. */
bool external_print(ExternalCall *call) {
  const char *text = external_text(call, 0), *path = external_text(call, 1);
  if (!path[0]) {
    if (call->state->printed.count < PRINTED_MOST) text_printf(call->state->heap, &call->state->printed, "%s\n", text);
    return true;
  }
  if (!call->function->rights || !call->function->rights->may_write)
    return external_fail(call, "writing to file `%s` needs --allow-external", path);
  FILE *file = fopen(path, "a");
  bool is_written = file && fprintf(file, "%s\n", text) >= 0;
  if (file && fclose(file) != 0) is_written = false;
  return check(call, is_written, path);
}

bool external_stop(ExternalCall *call) { return external_fail(call, "%s", external_text(call, 0)); }

bool external_make_directory(ExternalCall *call) {
  const char *path = external_text(call, 0);
  return check(call, mkdir(path, 0777) == 0 || errno == EEXIST, path);
}

bool external_remove_directory(ExternalCall *call) {
  return check(call, rmdir(external_text(call, 0)) == 0, external_text(call, 0));
}

bool external_remove_file(ExternalCall *call) {
  return check(call, unlink(external_text(call, 0)) == 0, external_text(call, 0));
}

bool external_rename(ExternalCall *call) {
  return check(call, rename(external_text(call, 0), external_text(call, 1)) == 0, external_text(call, 0));
}

static bool copy_bytes(FILE *from, FILE *to) {
  char buffer[65536];
  size_t count;
  while ((count = fread(buffer, 1, sizeof buffer, from)) > 0)
    if (fwrite(buffer, 1, count, to) != count) return false;
  return !ferror(from);
}

bool external_copy_file(ExternalCall *call) {
  int descriptor = reading_open(external_text(call, 0));
  FILE *from = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL,
       *to = from ? fopen(external_text(call, 1), "wb") : NULL;
  bool is_copied = to && copy_bytes(from, to);
  if (from) fclose(from);
  if (to && fclose(to) != 0) is_copied = false;
  return check(call, is_copied, external_text(call, from ? 1 : 0));
}

bool external_change_directory(ExternalCall *call) {
  return check(call, chdir(external_text(call, 0)) == 0, external_text(call, 0));
}

bool external_set_environment(ExternalCall *call) {
  return check(call, setenv(external_text(call, 0), external_text(call, 1), 1) == 0, external_text(call, 0));
}

bool external_command(ExternalCall *call) { return external_give(call, system(external_text(call, 0))); }

/* Writes the level-4 format of MATLAB, column by column. */
static bool write_matrix(FILE *file, const char *name, const ExternalValue *matrix) {
  int32_t head[5] = {0, (int32_t)matrix->sizes[0], (int32_t)matrix->sizes[1], 0, (int32_t)strlen(name) + 1};
  if (fwrite(head, sizeof *head, 5, file) != 5 || fwrite(name, 1, (size_t)head[4], file) != (size_t)head[4])
    return false;
  for (uint32_t c = 0; c < matrix->sizes[1]; c++)
    for (uint32_t r = 0; r < matrix->sizes[0]; r++)
      if (fwrite(&matrix->numbers[(size_t)r * matrix->sizes[1] + c], sizeof(double), 1, file) != 1) return false;
  return true;
}

/* file, name, matrix, rows, columns, append, version of the format */
bool external_matrix_write(ExternalCall *call) {
  const ExternalValue *matrix = &call->arguments[2];
  if (matrix->dimensions != 2) return external_fail(call, "a matrix has two dimensions");
  FILE *file = fopen(external_text(call, 0), external_integer(call, 5) ? "ab" : "wb");
  bool is_written = file && write_matrix(file, external_text(call, 1), matrix);
  if (file && fclose(file) != 0) is_written = false;
  return check(call, is_written, external_text(call, 0)) && external_give(call, 1);
}
