/* field: the pieces of a card, and which of them were used. Blanks, commas and parentheses separate; `=` is a separate piece;
 * braces and quotes hold an expression together. Every function that reads a piece marks it; fields_check reports unmarked
 * ones. */
#include "spice/circuit.h"

#include <string.h>

static bool separates(char c) { return c == ' ' || c == ',' || c == '(' || c == ')'; }

/* The place after the bracket or quote that closes the one at `at`, or the end. */
static uint32_t group_end(const char *text, uint32_t at) {
  char open = text[at], close = open == '{' ? '}' : open;
  uint32_t depth = 0;
  for (; text[at]; at++) {
    if (open == '{' && text[at] == open) depth++;
    else if (text[at] == close && (open == '{' || depth++ > 0) && (open != '{' || --depth == 0)) return at + 1;
  }
  return at;
}

static bool opens_group(char c) { return c == '{' || c == '\'' || c == '"'; }

/* Is there an `=` that is not part of a comparison? */
static bool is_equals(const char *text, uint32_t at) {
  return text[at] == '=' && text[at + 1] != '=' && (at == 0 || !strchr("=<>!", text[at - 1]));
}

Fields fields_split(Circuit *circuit, const Card *card) {
  Fields fields = {.card = card};
  for (uint32_t at = 0; card->text[at];) {
    uint32_t begin = at;
    char c = card->text[at];
    if (separates(c)) {
      at++;
      continue;
    }
    if (is_equals(card->text, at)) at++;
    else if (opens_group(c)) at = group_end(card->text, at);
    else do
        at++;
      while (card->text[at] && !separates(card->text[at]) && !is_equals(card->text, at) &&
             !opens_group(card->text[at]));
    vec_push(circuit->heap, &fields.list, (CardField){begin, at, false});
  }
  return fields;
}

bool field_is(const Fields *fields, uint32_t k, const char *word) {
  if (k >= fields->list.count) return false;
  CardField field = fields->list.data[k];
  size_t length = field.end - field.begin;
  return strlen(word) == length && !memcmp(fields->card->text + field.begin, word, length);
}

bool field_accept(Fields *fields, uint32_t k, const char *word) {
  if (!field_is(fields, k, word)) return false;
  fields->list.data[k].is_used = true;
  return true;
}

bool field_assigns(const Fields *fields, uint32_t k) { return field_is(fields, k + 1, "="); }

Name field_peek(Circuit *circuit, const Fields *fields, uint32_t k) {
  CardField field = fields->list.data[k];
  return names_add(circuit->names, fields->card->text + field.begin, field.end - field.begin);
}

Name field_name(Circuit *circuit, Fields *fields, uint32_t k) {
  fields->list.data[k].is_used = true;
  return field_peek(circuit, fields, k);
}

uint32_t field_after(Fields *fields, uint32_t first, const char *word) {
  for (uint32_t k = first; k + 2 < fields->list.count; k++)
    if (field_assigns(fields, k) && field_accept(fields, k, word)) {
      fields->list.data[k + 1].is_used = true;
      return k + 2;
    }
  return MAP_NONE;
}

/* ---- values ---- */

/* The fields from k on that begin before `end`. */
static void use_range(Fields *fields, uint32_t k, uint32_t end) {
  for (; k < fields->list.count && fields->list.data[k].begin < end; k++) fields->list.data[k].is_used = true;
}

/* The beginning of the value of field k: right after `=`, so it includes its parentheses. */
static uint32_t value_begin(const Fields *fields, uint32_t k) {
  uint32_t at = k && field_is(fields, k - 1, "=") ? fields->list.data[k - 1].end : fields->list.data[k].begin;
  while (fields->card->text[at] == ' ') at++;
  return at;
}

/* The end of the value that begins at `at`. A parenthesis that the value has not opened ends it. With `stops_at_blank`, so
 * does a blank or comma outside of parentheses; without it, the next name with `=`. */
static uint32_t value_end(const Fields *fields, uint32_t k, uint32_t at, bool stops_at_blank) {
  const char *text = fields->card->text;
  uint32_t depth = 0;
  while (text[at]) {
    while (k < fields->list.count && fields->list.data[k].begin < at) k++;
    bool is_name = k < fields->list.count && fields->list.data[k].begin == at && field_assigns(fields, k);
    if (!depth && !stops_at_blank && is_name) break;
    if (!depth && stops_at_blank && (text[at] == ' ' || text[at] == ',')) break;
    if (text[at] == ')' && !depth) break;
    if (text[at] == '(') depth++;
    if (text[at] == ')') depth--;
    at = opens_group(text[at]) ? group_end(text, at) : at + 1;
  }
  return at;
}

static Expr read_value(Circuit *circuit, const Scope *scope, Fields *fields, uint32_t k, uint32_t begin,
                       bool stops_at_blank) {
  uint32_t end = value_end(fields, k, begin, stops_at_blank);
  while (end > begin && strchr(" ,", fields->card->text[end - 1])) end--;
  use_range(fields, k, end);
  return read_range(circuit, scope, fields->card, begin, end, fields->is_source);
}

Expr field_value(Circuit *circuit, const Scope *scope, Fields *fields, uint32_t k) {
  return read_value(circuit, scope, fields, k, value_begin(fields, k), true);
}

Expr field_item(Circuit *circuit, const Scope *scope, Fields *fields, uint32_t k) {
  return read_value(circuit, scope, fields, k, fields->list.data[k].begin, true);
}

Expr field_rest(Circuit *circuit, const Scope *scope, Fields *fields, uint32_t k) {
  return read_value(circuit, scope, fields, k, value_begin(fields, k), false);
}

bool field_constant(Circuit *circuit, const Scope *scope, Fields *fields, uint32_t k, double *value) {
  Expr e = field_value(circuit, scope, fields, k);
  return e != EXPR_NONE && constant_value(circuit, fields->card, e, value);
}

bool fields_check(Circuit *circuit, const Fields *fields, const char *name) {
  for (uint32_t k = 0; k < fields->list.count; k++) {
    CardField field = fields->list.data[k];
    if (field.is_used) continue;
    card_error(circuit->diags, fields->card, field.begin, field.end, "%s: `%.*s` means nothing here", name,
               (int)(field.end - field.begin), fields->card->text + field.begin);
    return false;
  }
  return true;
}
