/* suggest: see suggest.h. */
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "daedal.h"

#include <stdarg.h>
#include <stdio.h>

bool say_error(const char *code, const char *format, ...) {
  va_list values;
  char message[8192];
  fprintf(stderr, "daedal: %serror:%s ", terminal_style(STYLE_ERROR), terminal_style(STYLE_NONE));
  va_start(values, format);
  vsnprintf(message, sizeof message, format, values);
  va_end(values);
  terminal_say("%s [%s]", message, code);
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
