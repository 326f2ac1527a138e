/* format: see format.h. The locale is set only for the calling thread and only during the call. */
#include "base/format.h"

#include <limits.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 3 * sizeof(unsigned) + 1 };

static const char *digits_of(unsigned value, char text[DIGITS]) {
  char *at = text + DIGITS - 1;
  for (*at = '\0'; value > 9; value /= 10) *--at = (char)('0' + value % 10);
  *--at = (char)('0' + value);
  return at;
}

/* Writes what fits. false: the format has other conversions than %s and %u. */
static bool write_texts(char *out, size_t size, const char *format, va_list list, size_t *length) {
  char digits[DIGITS];
  *length = 0;
  while (*format) {
    size_t count = strcspn(format, "%");
    const char *part = format;
    format += count;
    if (!count) {
      if (format[1] == 's') part = va_arg(list, const char *);
      else if (format[1] == 'u') part = digits_of(va_arg(list, unsigned), digits);
      else return false;
      count = strlen(part);
      format += 2;
    }
    size_t room = *length < size ? size - *length : 0;
    if (room) memcpy(out + *length, part, count < room ? count : room);
    *length += count;
  }
  if (size) out[*length < size ? *length : size - 1] = '\0';
  return true;
}

/* Texts and whole numbers, as in most formats, need no locale. The C locale costs no memory. If it is not available, the present
 * locale stays. */
int format_list(char *out, size_t size, const char *format, va_list list) {
  va_list texts;
  size_t count;
  va_copy(texts, list);
  bool is_done = write_texts(out, size, format, texts, &count);
  va_end(texts);
  if (is_done) return count <= INT_MAX ? (int)count : -1;
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = uselocale(plain);
  int length = vsnprintf(out, size, format, list);
  uselocale(before);
  if (plain) freelocale(plain);
  return length;
}
