/* render: columns count characters (UTF-8 lead bytes). Tabs are kept in front of the underline so that it stays in place. A long
 * line is cut to a window around the place. Unprintable bytes become '?'. */
#include "cli/render.h"
#include "cli/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WINDOW = 160, BEFORE = 100, GUTTER = 6 };

static const char *const words[] = {[DAEDAL_NOTE] = "note", [DAEDAL_WARNING] = "warning", [DAEDAL_ERROR] = "error"};
static const Style styles[] = {
    [DAEDAL_NOTE] = STYLE_NOTE, [DAEDAL_WARNING] = STYLE_WARNING, [DAEDAL_ERROR] = STYLE_ERROR};

static bool is_lead(char byte) { return ((unsigned char)byte & 0xc0) != 0x80; }

static size_t character_length(const char *text) {
  size_t length = 1;
  while (text[length] && !is_lead(text[length])) length++;
  return length;
}

static uint32_t count_characters(const char *text) {
  uint32_t count = 0;
  for (; *text; text++) count += is_lead(*text);
  return count;
}

static const char *skip_characters(const char *text, uint32_t count) {
  for (; count > 0 && *text; count--) text += character_length(text);
  return text;
}

/* The number of bytes of a valid character with this first byte; 0 for an invalid byte or a control character. */
static size_t expected_length(const char *text) {
  unsigned char lead = (unsigned char)text[0];
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  if (lead == 0xc2 && (unsigned char)text[1] < 0xa0) return 0;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

static void print_line(const char *text, uint32_t count) {
  for (; count > 0 && *text && *text != '\n' && *text != '\r'; count--) {
    size_t length = character_length(text);
    if (*text == '\t') fputc('\t', stderr);
    else if (expected_length(text) == length) fwrite(text, 1, length, stderr);
    else fputc('?', stderr);
    text += length;
  }
}

/* Prints the underline: blanks (tabs under the line's tabs), a caret, then tildes to the end of the place or of the window. */
static void print_underline(const char *text, uint32_t before, uint32_t length, uint32_t most) {
  for (; before > 0 && *text; before--) {
    fputc(*text == '\t' ? '\t' : ' ', stderr);
    text += character_length(text);
  }
  for (; before > 0; before--) fputc(' ', stderr);
  uint32_t left = count_characters(text);
  if (length > left) length = left;
  if (length > most) length = most;
  fprintf(stderr, "%s^", terminal_style(STYLE_CARET));
  for (uint32_t i = 1; i < length; i++) fputc('~', stderr);
  fputs(terminal_style(STYLE_NONE), stderr);
}

static void draw_place(const daedal_place *place) {
  uint32_t before = place->column > 0 ? place->column - 1 : 0, first = 0;
  uint32_t length = count_characters(place->text);
  if (length > WINDOW && before > BEFORE) first = before - BEFORE;
  const char *text = skip_characters(place->text, first);
  fprintf(stderr, "%*" PRIu32 " | %s", GUTTER, place->line, first ? "..." : "");
  print_line(text, WINDOW);
  fprintf(stderr, "%s\n%*s | %s", length > first + WINDOW ? "..." : "", GUTTER, "", first ? "   " : "");
  print_underline(text, before - first, place->length,
                  WINDOW - (before - first < WINDOW ? before - first : WINDOW - 1));
  fputc('\n', stderr);
}

static void draw(daedal_severity severity, const char *message, const char *code, const daedal_place *place,
                 const char *path) {
  const char *name = place->path && *place->path ? place->path : path;
  bool is_named = place->line > 0 || severity != DAEDAL_NOTE;
  fputs(terminal_style(STYLE_BOLD), stderr);
  if (is_named) terminal_write(stderr, name, strlen(name), false);
  if (place->line > 0) fprintf(stderr, ":%" PRIu32 ":%" PRIu32, place->line, place->column);
  fprintf(stderr, "%s%s%s%s:%s ", is_named ? ": " : "  ", terminal_style(STYLE_NONE), terminal_style(styles[severity]),
          words[severity], terminal_style(STYLE_NONE));
  terminal_say(code ? "%s [%s]" : "%s", message, code);
  if (place->line > 0 && place->text) draw_place(place);
}

void render_diagnostic(const daedal_diagnostic *diagnostic, const char *path) {
  draw(diagnostic->severity, diagnostic->message, diagnostic->code, &diagnostic->place, path);
  for (uint32_t i = 0; i < diagnostic->note_count; i++)
    draw(DAEDAL_NOTE, diagnostic->notes[i].message, NULL, &diagnostic->notes[i].place, path);
}

void render_count(uint32_t errors, uint32_t drawn) {
  if (errors < 2) return;
  fprintf(stderr, "%" PRIu32 " errors", errors);
  if (errors > drawn) fprintf(stderr, ", the first %" PRIu32 " shown", drawn);
  fputc('\n', stderr);
}
