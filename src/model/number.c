/* number: the domain of plain doubles (number.h). Everything is known; an argument outside of an operator's domain is an error. */
#include "model/number.h"

#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- texts of numbers ---- */

/* [flags] [width] [.digits] letter, as printf accepts it. */
static bool is_number_format(const char *format) {
  size_t flags = strspn(format, "-+ 0#"), width = strspn(format + flags, "0123456789");
  const char *at = format + flags + width;
  size_t digits = *at == '.' ? strspn(at + 1, "0123456789") : 0;
  at += *at == '.' ? 1 + digits : 0;
  return flags < 6 && width < 3 && digits < 3 && *at && strchr("fFeEgG", *at) && !at[1];
}

bool text_format_read(BaseType base, const double *options, uint32_t count, const char *text, TextFormat *format) {
  double all[4] = {0, 6, 0, 1};
  uint32_t first = base == TYPE_REAL ? 1 : 2;
  for (uint32_t i = 0; i < count && i + first < 4; i++) all[i + first] = options[i];
  *format = (TextFormat){text, all[1], text ? 0 : all[2], all[3] != 0};
  return !text || (base == TYPE_REAL && is_number_format(text));
}

/* Texts have a decimal point in any locale. */
static void format_number(Heap *heap, TextVec *text, double number, const char *format) {
  char full[24], digits[512];
  snprintf(full, sizeof full, "%%%s", format);
  int length = snprintf(digits, sizeof digits, full, number);
  for (char *comma = digits; (comma = strchr(comma, ','));) *comma = '.';
  text_append(heap, text, digits, (size_t)length);
}

static void append_spaces(Heap *heap, TextVec *text, size_t count) {
  while (count-- > 0) text_append(heap, text, " ", 1);
}

void text_of_number(Heap *heap, TextVec *text, double number, BaseType base, const TextFormat *format) {
  char digits[NUMBER_SIZE];
  double most = base == TYPE_REAL ? format->digits : 17;
  if (format->format && base == TYPE_REAL) {
    format_number(heap, text, number, format->format);
    return;
  }
  if (base == TYPE_BOOLEAN) strcpy(digits, number != 0 ? "true" : "false");
  else number_format(number, most < 1 ? 1 : most > 17 ? 17 : (int)most, digits);
  size_t length = strlen(digits), room = format->length > 0 && format->length < 1e6 ? (size_t)format->length : 0;
  size_t spaces = length < room ? room - length : 0;
  if (!format->is_left) append_spaces(heap, text, spaces);
  text_append(heap, text, digits, length);
  if (format->is_left) append_spaces(heap, text, spaces);
}

/* ---- the domain ---- */

static void number_constant(void *context, double value, void *out) {
  (void)context;
  memcpy(out, &value, sizeof value);
}

static void number_text(void *context, Name text, void *out) { number_constant(context, text, out); }

static bool number_known(void *context, const void *scalar, double *value) {
  (void)context;
  memcpy(value, scalar, sizeof *value);
  return true;
}

double number_join(Names *names, const double *parts, uint32_t count) {
  Arena arena = arena_make(names->arena.heap);
  size_t length = 0, used = 0;
  for (uint32_t i = 0; i < count; i++) length += names_length(names, (Name)parts[i]);
  char *text = arena_alloc(&arena, length + 1);
  for (uint32_t i = 0; i < count; i++) {
    size_t part = names_length(names, (Name)parts[i]);
    memcpy(text + used, names_text(names, (Name)parts[i]), part);
    used += part;
  }
  Name joined = names_add(names, text, length);
  arena_free(&arena);
  return joined;
}

static bool number_apply(void *context, Op op, const void *arguments, uint32_t count, void *out) {
  double result = 0;
  if (op == OP_STRING_JOIN) result = number_join(((NumberContext *)context)->names, arguments, count);
  else if (op_arity(op) != (int)count || !op_evaluate(op, arguments, &result) || !isfinite(result)) return false;
  memcpy(out, &result, sizeof result);
  return true;
}

static void number_sum(void *context, const void *terms, const uint32_t *signs, uint32_t count, void *out) {
  (void)context;
  const double *term = terms;
  double total = 0;
  for (uint32_t i = 0; i < count; i++) total += (signs[i / 32] >> (i % 32)) & 1 ? -term[i] : term[i];
  memcpy(out, &total, sizeof total);
}

static void number_select(void *context, const void *condition, const void *then, const void *otherwise, void *out) {
  (void)context;
  double truth;
  memcpy(&truth, condition, sizeof truth);
  memmove(out, truth != 0 ? then : otherwise, sizeof truth);
}

Domain number_domain(NumberContext *context) {
  return (Domain){.size = sizeof(double),
                  .context = context,
                  .constant = number_constant,
                  .text = number_text,
                  .known = number_known,
                  .apply = number_apply,
                  .sum = number_sum,
                  .select = number_select};
}
