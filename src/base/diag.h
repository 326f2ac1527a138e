/* diag: errors are values. A diagnostic has a class, a code, one line of message, a source span and notes (hints, further places).
 * The library collects them; only the front end draws line and caret. */
#pragma once

#include "base/arena.h"
#include "base/vec.h"

/* Offsets [begin, end) in the source of the model, which also determine the file; begin == end == 0 means no place. */
typedef struct Span {
  uint32_t begin, end;
} Span;

/* The values up to DIAG_WARNING are classes of messages, whose number is the command's exit status. Then follow the codes of
 * messages.def, whose hundreds are their class. */
typedef enum DiagCode {
  DIAG_NONE = 0,
  DIAG_INTERNAL = 1,
  DIAG_USAGE = 2,
  DIAG_INPUT = 3,
  DIAG_STRUCTURE = 4,
  DIAG_INIT = 5,
  DIAG_INTEGRATION = 6,
  DIAG_FILE = 7,
  DIAG_WARNING = 9, /* it has no exit status */
#define MESSAGE(name, number, title, explanation) DIAG_##name = number,
#include "base/messages.def"
} DiagCode;

typedef enum Severity { SEVERITY_NOTE, SEVERITY_WARNING, SEVERITY_ERROR } Severity;

typedef struct DiagNote {
  const char *message;
  Span span;
} DiagNote;

typedef struct Diag {
  Severity severity;
  DiagCode code;     /* its class */
  const char *label; /* label of the row in messages.def: "D301" */
  const char *message;
  Span span;
  VEC(DiagNote) notes;
  uint32_t repeated; /* how often an error was repeated */
} Diag;

/* The list; it owns its texts. Beyond `limit` errors, further ones are counted but not kept. Repeated errors are treated the same
 * way if each is kept only once: diag_error then returns `spare`, whose notes are dropped. `errors` counts all of them. */
typedef struct Diags {
  Arena arena;
  VEC(Diag) list;
  Diag spare;
  uint32_t errors, repeated, limit;
  bool says_once; /* keep equal errors at one place only once: many components may have the same class */
} Diags;

/* An empty list with the usual limit of errors kept. */
Diags diags_make(Heap *heap);

/* Appends an error (or warning) with a class or a code of messages.def. Returns the diagnostic, for diag_note; never NULL, valid
 * until the next one is added. */
__attribute__((format(printf, 4, 5))) Diag *diag_error(Diags *diags, DiagCode code, Span span, const char *format, ...);
__attribute__((format(printf, 4, 5))) Diag *diag_warning(Diags *diags, DiagCode code, Span span, const char *format,
                                                         ...);

/* Adds a hint or a further place to the diagnostic just made. */
__attribute__((format(printf, 4, 5))) void diag_note(Diags *diags, Diag *diag, Span span, const char *format, ...);

/* Reports a file or directory that cannot be used, by its error number (errno); verb: "read", "write", "make". Says what to do if
 * the disk is full. */
void diag_file_error(Diags *diags, const char *verb, const char *path, int error);

/* Forgets all but the first `count`. */
void diags_keep(Diags *diags, uint32_t count);

/* Forgets all and frees their memory. */
void diags_clear(Diags *diags);

/* Appends copies of all of `more`. */
void diags_append(Diags *diags, const Diags *more);

/* The first error; NULL when there is none. */
Diag *diags_first_error(const Diags *diags);

/* Appends a copy of one diagnostic. */
Diag *diags_copy(Diags *diags, const Diag *diag);

/* The class of the first error; DIAG_NONE when there is none. */
DiagCode diags_code(const Diags *diags);

/* A row of messages.def. */
typedef struct DiagMessage {
  const char *label, *title, *explanation;
} DiagMessage;

/* All rows in order, followed by one with a NULL label. */
const DiagMessage *diag_messages(void);

/* One text of a source, with the starts of its lines. Its offsets are begin .. begin + length, including the end. */
typedef struct SourceFile {
  const char *path; /* as the user gave it, or as it was found in a library; NULL: there is no file */
  const char *text; /* NUL-terminated, `length` bytes */
  uint32_t begin, length;
  IndexVec lines; /* offset of each line's first byte in the text */
} SourceFile;

/* All texts of a model, one after another in one space of offsets. The first is the text that the user gave. Lines and columns are
 * 1-based, and columns count UTF-8 characters. */
typedef struct Source {
  Heap *heap;
  VEC(SourceFile) files;
} Source;

/* A source of one text, O(length). Path and text belong to the caller and must outlive the source. */
Source source_make(Heap *heap, const char *path, const char *text, uint32_t length);

/* Adds a text, which must outlive the source, and returns its index in `files`; UINT32_MAX if no offsets are left for it. */
uint32_t source_add(Source *source, const char *path, const char *text, uint32_t length);

/* The text that the user gave. */
static inline const SourceFile *source_main(const Source *source) { return &source->files.data[0]; }

/* Is the span a place in the source? */
bool source_holds(const Source *source, Span span);

/* The file of an offset, O(log files); beyond the end, the last file. Valid until a text is added. */
const SourceFile *source_file(const Source *source, uint32_t offset);

/* The text from an offset to the end of its file. */
const char *source_text(const Source *source, uint32_t offset);

/* The line of an offset in its file, O(log files + log lines); beyond the end, the last line. */
uint32_t source_line(const Source *source, uint32_t offset);

/* The column of an offset, O(length of its line); beyond the end, one past the last character. */
uint32_t source_column(const Source *source, uint32_t offset);

/* The place of an equation in words: "line 7", or "line 7 of FILE" outside of the main file. */
const char *source_place(const Source *source, Span span, Arena *arena);
