/* number: the domain of plain doubles (number.h). Everything is known; what leaves an operator's domain is an error. */
#include "model/number.h"

#include <math.h>
#include <string.h>

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
