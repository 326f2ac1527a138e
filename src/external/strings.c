/* strings: Modelica.Utilities.Strings. Positions count from 1; the language counts bytes here. */
#include "base/number.h"
#include "external/functions.h"

#include <ctype.h>
#include <string.h>

bool external_string_length(ExternalCall *call) { return external_give(call, (double)strlen(external_text(call, 0))); }

/* 1 less, 2 equal, 3 greater. */
bool external_string_compare(ExternalCall *call) {
  const char *a = external_text(call, 0), *b = external_text(call, 1);
  bool is_exact = external_integer(call, 2) != 0;
  for (;; a++, b++) {
    int left = (unsigned char)*a, right = (unsigned char)*b;
    if (!is_exact) left = tolower(left), right = tolower(right);
    if (left != right || !left) return external_give(call, left < right ? 1 : left == right ? 2 : 3);
  }
}

/* The characters [first, last] that the text has. */
bool external_string_part(ExternalCall *call) {
  const char *text = external_text(call, 0);
  int64_t length = (int64_t)strlen(text), first = external_integer(call, 1), last = external_integer(call, 2);
  if (first < 1) first = 1;
  if (last > length) last = length;
  if (first > last) return external_give_text(call, "", 0);
  return external_give_text(call, text + first - 1, (size_t)(last - first + 1));
}

/* A. Partow's hash, as an Integer. */
bool external_string_hash(ExternalCall *call) {
  uint32_t hash = 0xAAAAAAAA, i = 0;
  for (const unsigned char *c = (const unsigned char *)external_text(call, 0); *c; c++, i++)
    hash ^= i % 2 == 0 ? (hash << 7) ^ *c * (hash >> 3) : ~((hash << 11) + (*c ^ (hash >> 5)));
  return external_give(call, (int32_t)hash);
}

/* ---- scanning: argument 1 is where to begin; white space is skipped ---- */

static const char *text_from(const ExternalCall *call) {
  const char *text = external_text(call, 0);
  int64_t begin = external_integer(call, 1);
  return begin >= 1 && begin <= (int64_t)strlen(text) ? text + begin - 1 : "";
}

static const char *skip_space(const char *at) { return at + strspn(at, " \t\n\r\f\v"); }

static double index_of(const ExternalCall *call, const char *at) { return (double)(at - external_text(call, 0)) + 1; }

bool external_string_skip(ExternalCall *call) {
  const char *from = text_from(call);
  if (!*from) return external_give(call, external_number(call, 1));
  return external_give(call, index_of(call, skip_space(from)));
}

static const char *skip_digits(const char *at) { return at + strspn(at, "0123456789"); }

/* The end of the number at `at`, which may have a sign only if that is allowed; `at` itself if there is no number. */
static const char *number_end(const char *at, bool is_unsigned, bool is_integer) {
  const char *digits = at + (!is_unsigned && (*at == '+' || *at == '-')), *end = skip_digits(digits);
  uint32_t count = (uint32_t)(end - digits);
  if (is_integer) return count && *end != '.' && *end != 'e' && *end != 'E' ? end : at;
  if (*end == '.') {
    const char *fraction = skip_digits(end + 1);
    count += (uint32_t)(fraction - end - 1);
    end = fraction;
  }
  if (!count) return at;
  if (*end != 'e' && *end != 'E') return end;
  const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-'), *last = skip_digits(exponent);
  return last > exponent ? last : end;
}

static bool scan_number(ExternalCall *call, bool is_integer) {
  const char *begin = skip_space(text_from(call)), *end = number_end(begin, external_integer(call, 2) != 0, is_integer);
  double *next = call->arguments[3].numbers, *value = call->arguments[4].numbers;
  *next = external_number(call, 1);
  *value = 0;
  if (end > begin && number_parse(begin, end, value)) *next = index_of(call, end);
  return true;
}

bool external_scan_real(ExternalCall *call) { return scan_number(call, false); }
bool external_scan_integer(ExternalCall *call) { return scan_number(call, true); }

/* Sets arguments 2 and 3: where the text continues, and the value found. */
static bool give_scanned(ExternalCall *call, const char *begin, const char *end, const char *next) {
  bool is_found = next > begin;
  call->arguments[2].numbers[0] = is_found ? index_of(call, next) : external_number(call, 1);
  call->arguments[3].texts[0] = is_found ? arena_copy(call->arena, begin, (size_t)(end - begin)) : "";
  return true;
}

/* A text in quotes. */
bool external_scan_text(ExternalCall *call) {
  const char *quote = skip_space(text_from(call)), *end = quote;
  if (*quote != '"') return give_scanned(call, quote, quote, quote);
  for (end++; *end && *end != '"';) end += end[0] == '\\' && end[1] ? 2 : 1;
  if (!*end) return give_scanned(call, quote, quote, quote);
  return give_scanned(call, quote + 1, end, end + 1);
}

bool external_scan_name(ExternalCall *call) {
  const char *begin = skip_space(text_from(call)), *end = begin;
  if (isalpha((unsigned char)*begin))
    while (isalnum((unsigned char)*end) || *end == '_') end++;
  return give_scanned(call, begin, end, end);
}
