/* diag: see diag.h. */
#include "base/diag.h"

#include "base/reading.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

enum { ERROR_LIMIT = 20 };

Diags diags_make(Heap *heap) { return (Diags){.arena = arena_make(heap), .limit = ERROR_LIMIT}; }

const DiagMessage *diag_messages(void) {
  static const DiagMessage messages[] = {
#define MESSAGE(name, number, title, explanation) {"D" #number, title, explanation},
#include "base/messages.def"
      {0}};
  return messages;
}

/* A message without its own code uses the row of its class. */
static const char *label_of(DiagCode code) {
#define MESSAGE(name, number, title, explanation) \
  if (code == number || 100 * (unsigned)code == number) return "D" #number;
#include "base/messages.def"
  return NULL;
}

/* The error in the list with the same text and place; NULL: there is none. */
static Diag *find_equal(const Diags *diags, const Diag *diag) {
  for (uint32_t i = 0; i < diags->list.count; i++) {
    Diag *other = &diags->list.data[i];
    if (other->severity == SEVERITY_ERROR && other->span.begin == diag->span.begin &&
        other->span.end == diag->span.end && strcmp(other->message, diag->message) == 0)
      return other;
  }
  return NULL;
}

static Diag *diag_add(Diags *diags, Severity severity, DiagCode code, Span span, const char *format, va_list list) {
  Diag diag = {.severity = severity, .label = label_of(code), .message = "", .span = span};
  if (severity == SEVERITY_ERROR) diag.code = code < DIAG_INTERNAL_OTHER ? code : code / 100;
  bool is_error = severity == SEVERITY_ERROR, is_beyond = is_error && ++diags->errors - diags->repeated > diags->limit;
  if (!is_beyond) diag.message = arena_printable(&diags->arena, arena_vprintf(&diags->arena, format, list));
  Diag *equal = is_error && !is_beyond && diags->says_once ? find_equal(diags, &diag) : NULL;
  if (equal) equal->repeated++, diags->repeated++;
  if (is_beyond || equal) {
    diags->spare = diag;
    return &diags->spare;
  }
  vec_push(diags->arena.heap, &diags->list, diag);
  return &vec_last(&diags->list);
}

Diag *diag_error(Diags *diags, DiagCode code, Span span, const char *format, ...) {
  va_list list;
  va_start(list, format);
  Diag *diag = diag_add(diags, SEVERITY_ERROR, code, span, format, list);
  va_end(list);
  return diag;
}

Diag *diag_warning(Diags *diags, DiagCode code, Span span, const char *format, ...) {
  va_list list;
  va_start(list, format);
  Diag *diag = diag_add(diags, SEVERITY_WARNING, code, span, format, list);
  va_end(list);
  return diag;
}

void diag_note(Diags *diags, Diag *diag, Span span, const char *format, ...) {
  if (diag == &diags->spare) return;
  va_list list;
  va_start(list, format);
  DiagNote note = {arena_printable(&diags->arena, arena_vprintf(&diags->arena, format, list)), span};
  va_end(list);
  vec_push(diags->arena.heap, &diag->notes, note);
}

void diag_file_error(Diags *diags, const char *verb, const char *path, int error) {
  char text[READING_TEXT];
  Diag *diag =
      diag_error(diags, DIAG_FILE_ACCESS, (Span){0}, "cannot %s `%s`: %s", verb, path, reading_failure(error, text));
  if (error == ENOENT && *verb == 'w') diag_note(diags, diag, (Span){0}, "its directory does not exist");
  if (error == ENOSPC) diag_note(diags, diag, (Span){0}, "the disk is full; choose another place or fewer variables");
  if (error == EDQUOT) diag_note(diags, diag, (Span){0}, "your share of the disk is full");
  if (error == EFBIG && *verb == 'w') diag_note(diags, diag, (Span){0}, "a limit of file sizes is reached: ulimit -f");
}

void diags_keep(Diags *diags, uint32_t count) {
  for (; diags->list.count > count; diags->list.count--) {
    const Diag *last = &vec_last(&diags->list);
    if (last->severity == SEVERITY_ERROR) diags->errors -= 1 + last->repeated;
    diags->repeated -= last->repeated;
  }
}

void diags_clear(Diags *diags) {
  Heap *heap = diags->arena.heap;
  if (!diags->list.count) return;
  for (uint32_t d = 0; d < diags->list.count; d++) vec_free(heap, &diags->list.data[d].notes);
  vec_free(heap, &diags->list);
  arena_free(&diags->arena);
  *diags = diags_make(heap);
}

Diag *diags_copy(Diags *diags, const Diag *from) {
  bool is_error = from->severity == SEVERITY_ERROR;
  Diag *diag = is_error ? diag_error(diags, from->code, from->span, "%s", from->message)
                        : diag_warning(diags, DIAG_WARNING, from->span, "%s", from->message);
  diag->label = from->label;
  for (uint32_t k = 0; k < from->notes.count; k++)
    diag_note(diags, diag, from->notes.data[k].span, "%s", from->notes.data[k].message);
  return diag;
}

void diags_append(Diags *diags, const Diags *more) {
  for (uint32_t i = 0; i < more->list.count; i++) diags_copy(diags, &more->list.data[i]);
}

Diag *diags_first_error(const Diags *diags) {
  for (uint32_t i = 0; i < diags->list.count; i++)
    if (diags->list.data[i].severity == SEVERITY_ERROR) return &diags->list.data[i];
  return NULL;
}

DiagCode diags_code(const Diags *diags) {
  const Diag *first = diags_first_error(diags);
  return first ? first->code : DIAG_NONE;
}

/* ---- sources ---- */

static SourceFile file_make(Heap *heap, const char *path, const char *text, uint32_t begin, uint32_t length) {
  SourceFile file = {.path = path, .text = text, .begin = begin, .length = length};
  vec_push(heap, &file.lines, 0);
  const char *end = text + length, *at = text;
  while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) vec_push(heap, &file.lines, (uint32_t)(++at - text));
  return file;
}

Source source_make(Heap *heap, const char *path, const char *text, uint32_t length) {
  Source source = {.heap = heap};
  vec_push(heap, &source.files, file_make(heap, path, text, 0, length));
  return source;
}

uint32_t source_add(Source *source, const char *path, const char *text, uint32_t length) {
  const SourceFile *last = &vec_last(&source->files);
  uint32_t begin = last->begin + last->length + 1; /* the end of a file is a separate offset */
  if (length >= INT32_MAX - begin) return UINT32_MAX;
  vec_push(source->heap, &source->files, file_make(source->heap, path, text, begin, length));
  return source->files.count - 1;
}

bool source_holds(const Source *source, Span span) {
  const SourceFile *last = &vec_last(&source->files);
  return span.end > span.begin && span.begin <= last->begin + last->length;
}

const SourceFile *source_file(const Source *source, uint32_t offset) {
  const SourceFile *files = source->files.data;
  return &files[search_last(&files->begin, sizeof *files, source->files.count, offset)];
}

const char *source_text(const Source *source, uint32_t offset) {
  const SourceFile *file = source_file(source, offset);
  return file->text + (offset - file->begin);
}

static uint32_t file_line(const SourceFile *file, uint32_t offset) {
  return search_last(file->lines.data, sizeof *file->lines.data, file->lines.count, offset) + 1;
}

uint32_t source_line(const Source *source, uint32_t offset) {
  const SourceFile *file = source_file(source, offset);
  return file_line(file, offset - file->begin);
}

uint32_t source_column(const Source *source, uint32_t offset) {
  const SourceFile *file = source_file(source, offset);
  uint32_t column = 1, place = offset - file->begin;
  uint32_t end = place < file->length ? place : file->length;
  for (uint32_t i = file->lines.data[file_line(file, place) - 1]; i < end; i++)
    if (((unsigned char)file->text[i] & 0xc0) != 0x80) column++;
  return column;
}

const char *source_place(const Source *source, Span span, Arena *arena) {
  const SourceFile *file = source_file(source, span.begin);
  const char *line = arena_printf(arena, "line %u", file_line(file, span.begin - file->begin));
  return file->begin == 0 ? line : arena_printf(arena, "%s of %s", line, file->path);
}
