/* format: see format.h. The locale is the calling thread's alone, and only for the call. */
#include "base/format.h"

#include <locale.h>
#include <stdatomic.h>
#include <stdio.h>

/* Made once and kept. */
static locale_t plain_locale(void) {
  static _Atomic(locale_t) kept;
  locale_t known = atomic_load(&kept);
  if (known) return known;
  locale_t made = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (atomic_compare_exchange_strong(&kept, &known, made)) return made;
  freelocale(made); /* another thread was first */
  return known;
}

int format_list(char *out, size_t size, const char *format, va_list list) {
  locale_t before = uselocale(plain_locale());
  int length = vsnprintf(out, size, format, list);
  uselocale(before);
  return length;
}
