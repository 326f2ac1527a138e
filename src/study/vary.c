/* vary: see vary.h. */
#include "study/vary.h"

#include "base/list.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

static const double MOST_VALUES = 1e7;

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static const char *trimmed(Arena *arena, const char *begin, const char *end) {
  while (begin < end && is_blank(*begin)) begin++;
  while (end > begin && is_blank(end[-1])) end--;
  return arena_copy(arena, begin, (size_t)(end - begin));
}

const char *vary_split(Arena *arena, const char *item, const char **name) {
  const char *equal = scan_list(item, "=");
  char *text = (char *)trimmed(arena, item, equal);
  size_t length = strlen(text);
  bool is_quoted = length >= 2 && text[0] == '\'' && text[length - 1] == '\'';
  if (is_quoted) text[length - 1] = '\0';
  *name = text + is_quoted;
  return *equal && **name ? trimmed(arena, equal + 1, equal + strlen(equal)) : NULL;
}

static bool read_number(const char *begin, const char *end, double *value) {
  return number_parse(begin, end, value) && isfinite(*value);
}

/* Numbers with a separator between them, all of [begin, end). 0: there is something else, or more than `most`. */
static uint32_t read_numbers(const char *begin, const char *end, char separator, double *numbers, uint32_t most) {
  for (uint32_t count = 0; count < most; count++) {
    const char *stop = memchr(begin, separator, (size_t)(end - begin));
    if (!read_number(begin, stop ? stop : end, &numbers[count])) return 0;
    if (!stop) return count + 1;
    begin = stop + 1;
  }
  return 0;
}

const char *vary_call(Arena *arena, const char *text, double *numbers, uint32_t most, uint32_t *count) {
  const char *open = strchr(text, '(');
  size_t length = strlen(text);
  if (!open || text[length - 1] != ')') return NULL;
  *count = read_numbers(open + 1, text + length - 1, ',', numbers, most);
  return *count ? trimmed(arena, text, open) : NULL;
}

static bool fill(Vary *vary, Arena *arena, double count, double first, double step) {
  if (!(count >= 1 && count <= MOST_VALUES)) return false;
  vary->count = (uint32_t)count;
  vary->values = arena_array(arena, vary->count, sizeof *vary->values);
  for (uint32_t k = 0; k < vary->count; k++) vary->values[k] = first + k * step;
  return true;
}

/* The last value is met in spite of rounding, and then exactly. */
static bool read_range(Vary *vary, Arena *arena, const double *number, uint32_t count) {
  double first = number[0], last = number[count - 1], step = count == 3 ? number[1] : 1;
  double steps = (last - first) / step;
  if (!(steps >= 0 && isfinite(steps))) return false;
  if (!fill(vary, arena, floor(steps + 1e-9 * fmax(1, steps)) + 1, first, step)) return false;
  if (fabs(steps - (vary->count - 1)) <= 1e-9 * fmax(1, steps)) vary->values[vary->count - 1] = last;
  return true;
}

static bool read_spaced(Vary *vary, Arena *arena, const char *word, const double *number) {
  double first = number[0], last = number[1], count = number[2];
  bool is_log = strcmp(word, "log") == 0;
  if ((!is_log && strcmp(word, "lin") != 0) || count != floor(count) || count < 1) return false;
  if (is_log && !(first > 0 && last > 0)) return false;
  if (!fill(vary, arena, count, first, count > 1 ? (last - first) / (count - 1) : 0)) return false;
  for (uint32_t k = 0; is_log && k < vary->count; k++)
    vary->values[k] = first * pow(last / first, k / fmax(1, count - 1));
  vary->values[0] = first;
  if (vary->count > 1) vary->values[vary->count - 1] = last;
  return true;
}

static bool read_values(Vary *vary, const char *text, Arena *arena) {
  double number[3];
  uint32_t count;
  size_t length = strlen(text);
  const char *word = vary_call(arena, text, number, 3, &count);
  if (word) return count == 3 && read_spaced(vary, arena, word, number);
  if (text[0] == '{' && text[length - 1] == '}') {
    vary->values = arena_array(arena, length, sizeof *vary->values);
    vary->count = read_numbers(text + 1, text + length - 1, ',', vary->values, (uint32_t)length);
    return vary->count > 0;
  }
  count = read_numbers(text, text + length, ':', number, 3);
  if (count == 1) return fill(vary, arena, 1, number[0], 0);
  return count > 1 && read_range(vary, arena, number, count);
}

bool vary_read(Vary *vary, const char *item, Arena *arena, Diags *diags) {
  const char *text = vary_split(arena, item, &vary->name);
  if (text && *text && read_values(vary, text, arena)) return true;
  Diag *diag = diag_error(diags, DIAG_USAGE, (Span){0}, "'%s' gives no values to vary", item);
  diag_note(diags, diag, (Span){0},
            "name=first:step:last, name=log(first,last,count), name=lin(first,last,count) or name={a,b,c}");
  return false;
}
