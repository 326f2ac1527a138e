/* format: see format.h. The locale is set only for the calling thread and only during the call. */
#include "base/format.h"

#include <locale.h>
#include <stdio.h>

/* The C locale costs no memory. If it is not available, the present locale stays. */
int format_list(char *out, size_t size, const char *format, va_list list) {
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = uselocale(plain);
  int length = vsnprintf(out, size, format, list);
  uselocale(before);
  if (plain) freelocale(plain);
  return length;
}
