/* list: see list.h. */
#include "base/list.h"

#include <string.h>

const char *scan_list(const char *at, const char *stops) {
  int depth = 0;
  char quote = 0;
  for (; *at; at++) {
    if (quote && *at == '\\' && at[1]) at++;
    else if (quote) quote = *at == quote ? 0 : quote;
    else if (*at == '\'' || *at == '"') quote = *at;
    else if (depth <= 0 && strchr(stops, *at)) break;
    else depth += (strchr("[({", *at) != NULL) - (strchr("])}", *at) != NULL);
  }
  return at;
}

uint32_t names_count(const char *const *names) {
  uint32_t count = 0;
  while (names && names[count]) count++;
  return count;
}

const char *const *names_copy(Arena *arena, const char *const *names) {
  uint32_t count = names_count(names);
  const char **copy = names ? arena_array(arena, count + 1, sizeof *copy) : NULL;
  for (uint32_t k = 0; k < count; k++) copy[k] = arena_copy(arena, names[k], strlen(names[k]));
  return copy;
}
