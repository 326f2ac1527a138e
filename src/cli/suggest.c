/* suggest: see suggest.h. */
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "daedal.h"

#include <stdio.h>

bool usage_error(const char *format, ...) {
  va_list values;
  fprintf(stderr, "daedal: %serror:%s ", terminal_style(STYLE_ERROR), terminal_style(STYLE_NONE));
  va_start(values, format);
  terminal_vsay(format, values);
  va_end(values);
  return false;
}

void suggest_print(const char *word, const char *const *names, const char *kind) {
  const char *nearest = daedal_nearest_name(word, names);
  if (nearest) {
    fprintf(stderr, "  did you mean %s?\n", nearest);
    return;
  }
  fprintf(stderr, "  available %s:", kind);
  for (const char *const *name = names; *name; name++) fprintf(stderr, "%s %s", name == names ? "" : ",", *name);
  fputc('\n', stderr);
}
