/* xml: see xml.h. */
#include "fmi/xml.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 }; /* descriptions of the standard have six levels */

typedef struct Reader {
  const char *at;
  Arena *arena;
} Reader;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void skip_blanks(Reader *reader) {
  while (is_blank(*reader->at)) reader->at++;
}

static bool begins(const Reader *reader, const char *text) { return !strncmp(reader->at, text, strlen(text)); }

/* Skips to the end of this construct, just after the text `end`; false: it does not end. */
static bool skip_past(Reader *reader, const char *end) {
  const char *found = strstr(reader->at, end);
  if (found) reader->at = found + strlen(end);
  return found;
}

/* Continues to the next tag; false at the end of the text, or if something does not end. */
static bool next_tag(Reader *reader) {
  for (;;) {
    reader->at += strcspn(reader->at, "<");
    if (!*reader->at) return false;
    bool is_skipped = true;
    if (begins(reader, "<!--")) is_skipped = skip_past(reader, "-->");
    else if (begins(reader, "<?")) is_skipped = skip_past(reader, "?>");
    else if (begins(reader, "<![CDATA[")) is_skipped = skip_past(reader, "]]>");
    else if (begins(reader, "<!")) is_skipped = skip_past(reader, ">");
    else return true;
    if (!is_skipped) return false;
  }
}

static const char *read_name(Reader *reader) {
  size_t length = strcspn(reader->at, " \t\r\n=/><\"'");
  const char *name = length ? arena_copy(reader->arena, reader->at, length) : NULL;
  reader->at += length;
  return name;
}

/* Reads one entity and appends its text at `to`; NULL: the entity is unknown. */
static char *read_entity(Reader *reader, char *to) {
  static const struct {
    const char *code;
    char meaning;
  } CODES[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
  for (size_t k = 0; k < sizeof CODES / sizeof *CODES; k++) {
    if (!begins(reader, CODES[k].code)) continue;
    reader->at += strlen(CODES[k].code);
    *to = CODES[k].meaning;
    return to + 1;
  }
  if (!begins(reader, "&#")) return NULL;
  char *end;
  bool is_hexadecimal = reader->at[2] == 'x';
  unsigned long code = strtoul(reader->at + 2 + is_hexadecimal, &end, is_hexadecimal ? 16 : 10);
  if (*end != ';' || code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return NULL;
  reader->at = end + 1;
  return to + utf8_write((uint32_t)code, to);
}

/* Reads a value in quotes, in place: an entity is never shorter than its character. */
static const char *read_value(Reader *reader) {
  char quote = *reader->at;
  if (quote != '"' && quote != '\'') return NULL;
  const char *end = strchr(++reader->at, quote);
  if (!end) return NULL;
  char *value = arena_copy(reader->arena, reader->at, (size_t)(end - reader->at)), *to = value;
  while (to && reader->at < end) {
    if (*reader->at == '<') return NULL;
    if (*reader->at == '&') to = read_entity(reader, to);
    else *to++ = is_blank(*reader->at) ? ' ' : *reader->at, reader->at++;
  }
  if (!to || reader->at != end) return NULL;
  *to = 0;
  reader->at++;
  return value;
}

static bool read_attributes(Reader *reader, XmlElement *element) {
  XmlAttribute **last = &element->attributes;
  for (skip_blanks(reader); *reader->at && *reader->at != '>' && *reader->at != '/'; skip_blanks(reader)) {
    XmlAttribute *attribute = *last = arena_alloc(reader->arena, sizeof *attribute);
    attribute->name = read_name(reader);
    skip_blanks(reader);
    if (!attribute->name || *reader->at++ != '=') return false;
    skip_blanks(reader);
    attribute->value = read_value(reader);
    if (!attribute->value) return false;
    last = &attribute->next;
  }
  return *reader->at;
}

/* Reads the element whose tag begins here; NULL: there is an error at the reader's position. */
static XmlElement *read_element(Reader *reader, uint32_t depth) {
  XmlElement *element = arena_alloc(reader->arena, sizeof *element), **last = &element->child;
  reader->at++;
  element->name = read_name(reader);
  if (!element->name || !read_attributes(reader, element) || depth == DEPTH_MAX) return NULL;
  if (begins(reader, "/>")) {
    reader->at += 2;
    return element;
  }
  if (*reader->at++ != '>') return NULL;
  while (next_tag(reader) && !begins(reader, "</")) {
    if (!(*last = read_element(reader, depth + 1))) return NULL;
    last = &(*last)->next;
  }
  if (!begins(reader, "</")) return NULL;
  reader->at += 2;
  const char *name = read_name(reader);
  skip_blanks(reader);
  return name && !strcmp(name, element->name) && *reader->at++ == '>' ? element : NULL;
}

XmlElement *xml_read(const char *text, Arena *arena, uint32_t *line) {
  Reader reader = {.at = text, .arena = arena};
  XmlElement *root = next_tag(&reader) ? read_element(&reader, 0) : NULL;
  *line = 1;
  for (const char *c = text; c < reader.at && *c; c++) *line += *c == '\n';
  return root;
}

const XmlElement *xml_child(const XmlElement *element, const char *name) {
  for (element = element ? element->child : NULL; element; element = element->next)
    if (!strcmp(element->name, name)) return element;
  return NULL;
}

const char *xml_attribute(const XmlElement *element, const char *name) {
  for (const XmlAttribute *a = element ? element->attributes : NULL; a; a = a->next)
    if (!strcmp(a->name, name)) return a->value;
  return NULL;
}
