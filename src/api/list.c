/* list: texts of options that are lists. */
#include "api/handles.h"

#include <string.h>

const char *scan_list(const char *at, const char *stops) {
  int depth = 0;
  char quote = 0;
  for (; *at; at++) {
    if (quote && *at == '\\' && at[1]) at++;
    else if (quote) quote = *at == quote ? 0 : quote;
    else if (*at == '\'' || *at == '"') quote = *at;
    else if (depth <= 0 && strchr(stops, *at)) break;
    else depth += (*at == '[' || *at == '(') - (*at == ']' || *at == ')');
  }
  return at;
}

const char **split_names(Arena *arena, const char *text, uint32_t *count) {
  const char **names = arena_array(arena, text ? strlen(text) + 1 : 1, sizeof *names);
  *count = 0;
  for (const char *begin = text ? text : ""; *begin;) {
    const char *end = scan_list(begin, ",");
    names[(*count)++] = arena_trimmed(arena, begin, end);
    begin = *end ? end + 1 : end;
  }
  return names;
}
