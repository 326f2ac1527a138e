/* plan_file: a file with a model that was read, flattened and given consistent initial values. A run of it only has to
 * differentiate the equations and write their programs before it integrates.
 *
 *   daedal plan 1
 *   version 1.2.3                  of daedal; other versions refuse the file
 *   checksum 0123456789abcdef      of all that follows
 *   start 123                      bytes of the list of initial values, as `init --write` writes it
 *   (x(start = 1), ...
 *   model M ...                    as `flatten` writes it
 *
 * The file is checked like the text of a model. */
#include "api/handles.h"

#include "base/map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char FIRST[] = "daedal plan 1\n";
enum { CHECKSUM_SIZE = 32 };

static void write_checksum(const char *bytes, size_t length, char *line) {
  snprintf(line, CHECKSUM_SIZE, "checksum %016" PRIx64 "\n", hash_bytes(bytes, length));
}

/* ---- writing ---- */

void plan_file_print(Heap *heap, const TextVec *start, const TextVec *flat, TextVec *text) {
  TextVec content = {0};
  char checksum[CHECKSUM_SIZE];
  text_printf(heap, &content, "start %" PRIu32 "\n", start->count);
  text_append(heap, &content, start->data, start->count);
  text_append(heap, &content, flat->data, flat->count);
  write_checksum(content.data, content.count, checksum);
  text_printf(heap, text, "%sversion %s\n%s", FIRST, DAEDAL_VERSION, checksum);
  text_append(heap, text, content.data, content.count);
  vec_free(heap, &content);
}

/* ---- reading ---- */

static bool refuse(daedal_model *model, const char *path, const char *what) {
  diag_error(&model->diags, DIAG_FILE_CONTENT, (Span){0}, "'%s': %s", path, what);
  return false;
}

/* The text after a word at the beginning of a line; NULL: the line begins differently. */
static char *after(char *line, const char *word) {
  return strncmp(line, word, strlen(word)) == 0 ? line + strlen(word) : NULL;
}

static bool check_version(daedal_model *model, const char *path, const char *version, size_t length) {
  if (length == strlen(DAEDAL_VERSION) && memcmp(version, DAEDAL_VERSION, length) == 0) return true;
  return refuse(model, path,
                arena_printf(&model->arena, "it is a plan of daedal %.*s, and this is daedal %s: make it again",
                             (int)(length < 20 ? length : 20), version, DAEDAL_VERSION));
}

/* Replaces the text before the model by blanks, so that lines and columns in messages are those of the file. */
bool plan_file_open(daedal_model *model, const char *path, char *bytes, uint32_t length) {
  static const char spoilt[] = "it is incomplete or was changed: the checksum does not match";
  char checksum[CHECKSUM_SIZE], *end = bytes + length, *version = after(bytes, FIRST);
  version = version ? after(version, "version ") : NULL;
  if (!version) return refuse(model, path, "it is not a plan in this version of the format, `daedal plan 1`");
  size_t size = strcspn(version, "\n");
  if (!check_version(model, path, version, size)) return false;
  char *sum = version + size + (version[size] == '\n');
  char *content = sum + strcspn(sum, "\n");
  content += *content == '\n';
  write_checksum(content, (size_t)(end - content), checksum);
  char *count = strncmp(sum, checksum, strlen(checksum)) == 0 ? after(content, "start ") : NULL, *list;
  if (!count) return refuse(model, path, spoilt);
  unsigned long long used = strtoull(count, &list, 10);
  if (*list++ != '\n' || used > (size_t)(end - list)) return refuse(model, path, spoilt);
  model->plan_start = arena_copy(&model->arena, list, (size_t)used);
  for (char *at = bytes; at < list + used; at++)
    if (*at != '\n') *at = ' ';
  return true;
}
