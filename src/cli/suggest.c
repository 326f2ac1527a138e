/* suggest: the nearest name by edit distance (insertion, deletion, replacement, swap of neighbours). A name
 * is near when a third of its letters or fewer differ, or when the word is its beginning.
 */
#include "cli/suggest.h"
#include "cli/terminal.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 40 };

void usage_error(const char *format, ...) {
  va_list values;
  fprintf(stderr, "daedal: %serror:%s ", terminal_style(STYLE_ERROR), terminal_style(STYLE_NONE));
  va_start(values, format);
  terminal_vsay(format, values);
  va_end(values);
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static size_t edit_distance(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b);
  if (n > LONGEST || m > LONGEST) return LONGEST;
  size_t cost[LONGEST + 1][LONGEST + 1];
  for (size_t i = 0; i <= n; i++) cost[i][0] = i;
  for (size_t j = 0; j <= m; j++) cost[0][j] = j;
  for (size_t i = 1; i <= n; i++)
    for (size_t j = 1; j <= m; j++) {
      size_t replaced = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      cost[i][j] = smaller(replaced, 1 + smaller(cost[i - 1][j], cost[i][j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = smaller(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[n][m];
}

static int is_near(const char *word, const char *name) {
  size_t length = strlen(word);
  if (length >= 3 && !strncmp(word, name, length)) return 1;
  return edit_distance(word, name) <= (strlen(name) + 1) / 3;
}

void suggest_print(const char *word, const char *const *names, const char *kind) {
  const char *nearest = NULL;
  for (const char *const *name = names; *name; name++)
    if (is_near(word, *name) && (!nearest || edit_distance(word, *name) < edit_distance(word, nearest)))
      nearest = *name;
  if (nearest) {
    fprintf(stderr, "  did you mean %s?\n", nearest);
    return;
  }
  fprintf(stderr, "  available %s:", kind);
  for (const char *const *name = names; *name; name++) fprintf(stderr, "%s %s", name == names ? "" : ",", *name);
  fputc('\n', stderr);
}
