/* field: the pieces of a card. Blanks, commas and parentheses separate; `=` is a piece of its own; braces and quotes hold an
 * expression together. */
#include "spice/circuit.h"

#include <string.h>

static bool separates(char c) { return c == ' ' || c == ',' || c == '(' || c == ')'; }

/* Behind the bracket or quote that closes the one at `at`, or the end. */
static uint32_t group_end(const char *text, uint32_t at) {
  char open = text[at], close = open == '{' ? '}' : open;
  uint32_t depth = 0;
  for (; text[at]; at++) {
    if (open == '{' && text[at] == open) depth++;
    else if (text[at] == close && (open == '{' || depth++ > 0) && (open != '{' || --depth == 0)) return at + 1;
  }
  return at;
}

FieldVec fields_split(Circuit *circuit, const Card *card) {
  FieldVec fields = {0};
  for (uint32_t at = 0; card->text[at];) {
    uint32_t begin = at;
    char c = card->text[at];
    if (separates(c)) {
      at++;
      continue;
    }
    if (c == '=') at++;
    else if (c == '{' || c == '\'' || c == '"') at = group_end(card->text, at);
    else
      while (card->text[at] && !separates(card->text[at]) && !strchr("={'\"", card->text[at])) at++;
    vec_push(circuit->heap, &fields.list, (CardField){begin, at});
  }
  return fields;
}

bool field_is(const Card *card, CardField field, const char *word) {
  size_t length = field.end - field.begin;
  return strlen(word) == length && !memcmp(card->text + field.begin, word, length);
}

Name field_name(Circuit *circuit, const Card *card, CardField field) {
  return names_add(circuit->names, card->text + field.begin, field.end - field.begin);
}

uint32_t field_after(const Card *card, const FieldVec *fields, uint32_t first, const char *word) {
  for (uint32_t k = first; k + 2 < fields->list.count; k++)
    if (field_is(card, fields->list.data[k], word) && field_is(card, fields->list.data[k + 1], "=")) return k + 2;
  return MAP_NONE;
}
