/* typed: see typed.h. */
#include "model/typed.h"

#include "base/number.h"
#include "model/print.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

const char *typed_name(Arena *arena, const char *at, const char *end) {
  char *name = arena_alloc(arena, (size_t)(end - at) + 1);
  size_t length = 0;
  bool quoted = false;
  for (; at < end; at++) {
    if (*at == '\'') quoted = !quoted;
    else if (quoted && *at == '\\' && at + 1 < end) name[length++] = *++at;
    else if (quoted || !is_blank(*at)) name[length++] = *at;
  }
  name[length] = '\0';
  return name;
}

static bool read_number(const char *text, double *value) {
  const char *digits = text + (*text == '-' || *text == '+');
  if (!isdigit((unsigned char)*digits) && *digits != '.') return false; /* number_parse also reads words */
  return number_parse(text, text + strlen(text), value) && isfinite(*value);
}

static bool read_integer(const char *text, double least, double most, double *value) {
  return read_number(text, value) && *value == floor(*value) && *value >= least && *value <= most;
}

static bool ends_with_part(const char *name, size_t length, const char *part, size_t part_length) {
  if (length < part_length || memcmp(name + length - part_length, part, part_length) != 0) return false;
  return length == part_length || name[length - part_length - 1] == '.';
}

/* off, Mode.off, P.Mode.off, or the number of the literal. */
static bool read_literal(const Model *model, const Enumeration *enumeration, const char *text, Arena *arena,
                         double *value) {
  const char *name = typed_name(arena, text, text + strlen(text)), *type = names_text(model->names, enumeration->name);
  size_t length = strlen(name);
  for (uint32_t i = 0; i < enumeration->literals.count; i++) {
    const char *literal = names_text(model->names, enumeration->literals.data[i]);
    size_t own = strlen(literal);
    if (!ends_with_part(name, length, literal, own)) continue;
    if (length > own && !ends_with_part(type, strlen(type), name, length - own - 1) &&
        !ends_with_part(name, length - own - 1, type, strlen(type)))
      continue;
    *value = i + 1;
    return true;
  }
  return read_integer(text, 1, enumeration->literals.count, value);
}

static const double LARGEST_INTEGER = 9007199254740992; /* 2^53: above it not every integer is a double */

bool typed_read(const Model *model, const Variable *variable, const char *text, Arena *arena, double *value) {
  *value = 0;
  switch (variable->type) {
  case TYPE_REAL: return read_number(text, value);
  case TYPE_INTEGER: return read_integer(text, -LARGEST_INTEGER, LARGEST_INTEGER, value);
  case TYPE_BOOLEAN:
    *value = strcmp(text, "true") == 0;
    return *value != 0 || strcmp(text, "false") == 0 || read_integer(text, 0, 1, value);
  case TYPE_ENUMERATION:
    return read_literal(model, &model->enumerations.data[variable->enumeration], text, arena, value);
  case TYPE_STRING: return true;
  default: return false;
  }
}

void typed_print(Heap *heap, TextVec *out, const Model *model, const Variable *variable, double value,
                 const char *text) {
  char number[NUMBER_SIZE];
  Print print;
  switch (variable->type) {
  case TYPE_BOOLEAN: text_printf(heap, out, value != 0 ? "true" : "false"); break;
  case TYPE_STRING:
    if (*text == '"') text_append(heap, out, text, strlen(text));
    else text_quote(heap, out, text, '"');
    break;
  case TYPE_ENUMERATION:
    print_start(&print, model_layer(model, heap), heap, true);
    print_literal(&print, out, variable->enumeration, value);
    print_free(&print);
    break;
  default: text_append(heap, out, number, number_shortest(value, number));
  }
}
