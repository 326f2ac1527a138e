/* card: see card.h. Included files are read with a stack, so that a chain of includes costs no call depth. The chain ends at a
 * depth that only a cycle reaches. */
#include "spice/card.h"

#include "base/utf8.h"

#include <ctype.h>
#include <string.h>

enum { DEEPEST_INCLUDE = 32 };

/* Opening a file costs as much as this many steps of work. */
enum { FILE_WORK = 3000 };

/* A text being read, line by line. */
typedef struct CardFile {
  const char *path, *text, *at, *end;
  uint32_t line;         /* of `at`, from 1 */
  const char *section;   /* for .lib FILE SECTION: only that is read; NULL: all */
  bool is_inside;        /* of the section */
  const Card *including; /* NULL: the netlist itself */
} CardFile;

typedef struct DeckReader {
  Deck *deck;
  Arena *arena;
  Heap *heap;
  FileReader included;
  Diags *diags;
  const char *base; /* start of the netlist's text: places are offsets in it */
  CardFile files[DEEPEST_INCLUDE];
  uint32_t depth;
  TextVec text; /* the card being read */
  IndexVec place;
  uint32_t line;
  bool is_open, in_control, ended;
} DeckReader;

Span card_span(const Card *card, uint32_t begin, uint32_t end) {
  if (!card->place) return card->whole;
  uint32_t length = (uint32_t)strlen(card->text);
  if (begin > length) begin = length;
  if (end > length) end = length;
  if (end <= begin) end = begin + (begin < length);
  uint32_t last = end > begin ? card->place[end - 1] + 1 : card->place[begin] + 1;
  return (Span){card->place[begin], last};
}

Span card_whole(const Card *card) { return card_span(card, 0, CARD_END); }

static const char *format_message(Diags *diags, const Card *card, const char *format, va_list list) {
  const char *message = arena_vprintf(&diags->arena, format, list);
  if (!card->file) return message;
  return arena_printf(&diags->arena, "%s, line %u: %s", arena_printable(&diags->arena, card->file), card->line,
                      message);
}

Diag *card_error(Diags *diags, const Card *card, uint32_t begin, uint32_t end, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const char *message = format_message(diags, card, format, list);
  va_end(list);
  return diag_error(diags, DIAG_NETLIST, card_span(card, begin, end), "%s", message);
}

Diag *card_warning(Diags *diags, const Card *card, uint32_t begin, uint32_t end, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const char *message = format_message(diags, card, format, list);
  va_end(list);
  return diag_warning(diags, DIAG_CARD_SKIPPED, card_span(card, begin, end), "%s", message);
}

/* ---- words of a card ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f'; }

/* The word at *at, which moves after it; a file name may be in quotes. NULL at the end. */
static char *next_word(Arena *arena, const char **at) {
  while (is_blank(**at)) (*at)++;
  char quote = **at == '"' || **at == '\'' ? *(*at)++ : '\0';
  const char *begin = *at;
  while (**at && (quote ? **at != quote : !is_blank(**at))) (*at)++;
  char *word = *at > begin ? arena_copy(arena, begin, (size_t)(*at - begin)) : NULL;
  if (quote && **at) (*at)++;
  return word;
}

static bool begins(const char *text, const char *word) {
  size_t length = strlen(word);
  return !strncmp(text, word, length) && (!text[length] || is_blank(text[length]));
}

/* ---- lines ---- */

/* The end of the line's content: before `;`, or before `$` or `//` after a blank, outside of quotes and braces. */
static const char *content_end(const char *at, const char *end) {
  bool quoted = false;
  for (const char *p = at; p < end; p++) {
    if (*p == '\'' || *p == '"') quoted = !quoted;
    if (quoted) continue;
    if (*p == ';') return p;
    bool marks = *p == '$' || (*p == '/' && p + 1 < end && p[1] == '/');
    if (marks && (p == at || is_blank(p[-1]))) return p;
  }
  return end;
}

/* Appends the character at `at`. A byte that is not UTF-8 is read as Latin-1, as in old netlists. Returns the number of bytes
 * read. */
static size_t append_character(Heap *heap, TextVec *text, const char *at, size_t room) {
  size_t length = utf8_length(at, room);
  unsigned char byte = (unsigned char)*at;
  const char latin[2] = {(char)(0xc0 | byte >> 6), (char)(0x80 | (byte & 0x3f))};
  if (!length && byte >= 0x80) text_append(heap, text, latin, sizeof latin);
  else text_append(heap, text, at, length ? length : 1);
  return length ? length : 1;
}

static bool names_file(const DeckReader *reader) {
  const char *text = reader->text.data;
  return reader->text.count > 0 && (begins(text, ".include") || begins(text, ".inc") || begins(text, ".lib"));
}

/* Names of files stay as they are, byte by byte. */
static void append_bytes(DeckReader *reader, const CardFile *file, const char *at, const char *end) {
  bool stays = names_file(reader);
  for (size_t used = 1; at < end; at += used) {
    uint32_t place = file->including ? file->including->place[0] : (uint32_t)(at - reader->base);
    char c = is_blank(*at) || !*at ? ' ' : stays ? *at : (char)tolower((unsigned char)*at);
    used = 1;
    if (stays || (unsigned char)c < 0x80) text_append(reader->heap, &reader->text, &c, 1);
    else used = append_character(reader->heap, &reader->text, at, (size_t)(end - at));
    while (reader->place.count < reader->text.count) vec_push(reader->heap, &reader->place, place);
    if (!stays && reader->text.data[0] == '.' && c == ' ') stays = names_file(reader);
  }
}

static CardFile *top_file(DeckReader *reader) { return &reader->files[reader->depth - 1]; }

/* The path, relative to the file that names it. */
static char *resolve_path(DeckReader *reader, const CardFile *file, const char *path) {
  const char *slash = strrchr(file->path, '/');
  if (path[0] == '/' || !slash) return arena_copy(reader->arena, path, strlen(path));
  return arena_printf(reader->arena, "%.*s/%s", (int)(slash - file->path), file->path, path);
}

static void open_file(DeckReader *reader, const Card *card, const char *name, const char *section) {
  uint32_t length = 0;
  if (reader->depth == DEEPEST_INCLUDE) {
    card_error(reader->diags, card, 0, CARD_END, "files include each other more than %d deep", DEEPEST_INCLUDE);
    return;
  }
  heap_work(reader->heap, FILE_WORK);
  char *path = resolve_path(reader, top_file(reader), name);
  Diags local = diags_make(reader->heap);
  char *text = reader->included.read
                   ? reader->included.read(reader->included.reading, reader->heap, &local, path, &length)
                   : NULL;
  if (!text) {
    const Diag *reason = diags_first_error(&local);
    card_error(reader->diags, card, 0, CARD_END, "%s", reason ? reason->message : "files are not read here");
    return;
  }
  reader->files[reader->depth++] = (CardFile){.path = path,
                                              .text = text,
                                              .at = text,
                                              .end = text + length,
                                              .line = 1,
                                              .section = section,
                                              .is_inside = section == NULL,
                                              .including = card};
}

static void lower_case(char *word) {
  for (; *word; word++) *word = (char)tolower((unsigned char)*word);
}

/* .include FILE, .lib FILE SECTION: true if the card was one. */
static bool include_card(DeckReader *reader, const Card *card) {
  const char *at = card->text;
  bool is_lib = begins(at, ".lib");
  if (!is_lib && !begins(at, ".include") && !begins(at, ".inc")) return false;
  next_word(reader->arena, &at);
  char *name = next_word(reader->arena, &at), *section = next_word(reader->arena, &at);
  if (section) lower_case(section);
  if (!name) card_error(reader->diags, card, 0, CARD_END, "the name of a file is missing");
  else open_file(reader, card, name, is_lib ? section : NULL);
  return true;
}

/* Handles cards that begin or end the section to read, or are outside of it. true: the card is not part of the circuit. */
static bool outside_section(DeckReader *reader, const Card *card) {
  CardFile *file = top_file(reader);
  const char *at = card->text;
  if (!file->section) return begins(at, ".endl");
  if (begins(at, ".endl")) {
    file->is_inside = false;
    return true;
  }
  if (!begins(at, ".lib")) return !file->is_inside;
  next_word(reader->arena, &at);
  char *section = next_word(reader->arena, &at);
  if (next_word(reader->arena, &at)) return !file->is_inside; /* the card also names a file */
  if (section) lower_case(section);
  if (section && !strcmp(section, file->section)) file->is_inside = true;
  return true;
}

/* Commands of interactive SPICE between .control and .endc are ignored. */
static bool in_control(DeckReader *reader, const Card *card) {
  if (begins(card->text, ".control")) {
    card_warning(reader->diags, card, 0, CARD_END, "the block .control is skipped");
    reader->in_control = true;
    return true;
  }
  bool was = reader->in_control;
  if (begins(card->text, ".endc")) reader->in_control = false;
  return was;
}

static void finish_card(DeckReader *reader) {
  if (!reader->is_open) return;
  reader->is_open = false;
  while (reader->text.count && reader->text.data[reader->text.count - 1] == ' ') {
    reader->text.data[--reader->text.count] = '\0';
    reader->place.count--;
  }
  if (!reader->text.count) return;
  const CardFile *file = top_file(reader);
  uint32_t count = reader->text.count;
  uint32_t *place = arena_array(reader->arena, count + 1, sizeof *place);
  memcpy(place, reader->place.data, count * sizeof *place);
  place[count] = place[count - 1];
  Card card = {arena_copy(reader->arena, reader->text.data, count),
               place,
               file->including ? file->path : NULL,
               reader->line,
               {0}};
  if (in_control(reader, &card) || outside_section(reader, &card)) return;
  if (begins(card.text, ".end")) {
    reader->ended = true;
    return;
  }
  Card *kept = arena_alloc(reader->arena, sizeof *kept);
  *kept = card;
  if (!include_card(reader, kept)) vec_push(reader->heap, &reader->deck->cards, card);
}

static void begin_card(DeckReader *reader, uint32_t line) {
  reader->text.count = reader->place.count = 0;
  reader->line = line;
  reader->is_open = true;
}

/* Reads one line of the innermost open file. */
static void read_line(DeckReader *reader, CardFile *file) {
  const char *begin = file->at, *line_end = memchr(begin, '\n', (size_t)(file->end - begin));
  if (!line_end) line_end = file->end;
  while (begin < line_end && is_blank(*begin)) begin++;
  const char *end = content_end(begin, line_end);
  bool continues = begin < end && *begin == '+';
  if (begin < end && *begin != '*' && !continues) {
    uint32_t depth = reader->depth;
    finish_card(reader);
    /* An include just finished comes before this line, which is then read again. */
    if (reader->depth != depth || reader->ended) return;
    begin_card(reader, file->line);
    append_bytes(reader, file, begin, end);
  } else if (continues && reader->is_open) {
    text_append(reader->heap, &reader->text, " ", 1);
    vec_push(reader->heap, &reader->place, vec_last(&reader->place));
    append_bytes(reader, file, begin + 1, end);
  }
  file->at = line_end < file->end ? line_end + 1 : file->end;
  file->line++;
}

/* The title: the first line, with any content. */
static void read_title(DeckReader *reader) {
  CardFile *file = top_file(reader);
  const char *end = memchr(file->at, '\n', (size_t)(file->end - file->at));
  if (!end) end = file->end;
  const char *last = end;
  while (last > file->at && is_blank(last[-1])) last--;
  TextVec title = {0};
  for (const char *at = file->at; at < last;) at += append_character(reader->heap, &title, at, (size_t)(last - at));
  reader->deck->title = arena_copy(reader->arena, title.data, title.count);
  vec_free(reader->heap, &title);
  file->at = end < file->end ? end + 1 : file->end;
  file->line++;
}

bool deck_read(Deck *deck, Arena *arena, const Source *source, FileReader included, Diags *diags) {
  const SourceFile *main = source_main(source);
  DeckReader reader = {
      .deck = deck, .arena = arena, .heap = arena->heap, .included = included, .diags = diags, .base = main->text};
  uint32_t errors = diags->errors;
  reader.files[reader.depth++] = (CardFile){.path = main->path,
                                            .text = main->text,
                                            .at = main->text,
                                            .end = main->text + main->length,
                                            .line = 1,
                                            .is_inside = true};
  read_title(&reader);
  while (reader.depth && !reader.ended) {
    CardFile *file = top_file(&reader);
    if (file->at < file->end) read_line(&reader, file);
    else {
      uint32_t depth = reader.depth;
      finish_card(&reader);
      if (reader.depth == depth) reader.depth--;
    }
  }
  vec_free(reader.heap, &reader.text);
  vec_free(reader.heap, &reader.place);
  return diags->errors == errors;
}
