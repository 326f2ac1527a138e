/* suggest: see suggest.h. */
#include "base/suggest.h"

#include <stdbool.h>
#include <string.h>

enum { LONGEST = 100 };

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* The lower-case form of an ASCII letter, since wrong capitals are the most common mistake. */
static char small(char letter) { return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter; }

static bool is_same(char a, char b) { return small(a) == small(b); }

/* Edit distance by rows of the table. A swap needs the last two rows. */
static size_t edit_distance(const char *a, size_t n, const char *b, size_t m) {
  size_t rows[3][LONGEST + 1];
  for (size_t j = 0; j <= m; j++) rows[0][j] = j;
  for (size_t i = 1; i <= n; i++) {
    const size_t *above = rows[(i - 1) % 3], *second = rows[(i + 1) % 3];
    size_t *row = rows[i % 3];
    row[0] = i;
    for (size_t j = 1; j <= m; j++) {
      row[j] = smaller(above[j - 1] + !is_same(a[i - 1], b[j - 1]), 1 + smaller(above[j], row[j - 1]));
      if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]))
        row[j] = smaller(row[j], second[j - 2] + 1);
    }
  }
  return rows[n % 3][m];
}

void suggest_offer(Suggestion *suggestion, const char *name) {
  const char *word = suggestion->word;
  size_t n = strlen(word), m = strlen(name), limit = (m + 1) / 3;
  bool begins = n >= 3 && n <= m && !strncmp(word, name, n);
  if (n > LONGEST || m > LONGEST || (!begins && (n > m ? n - m : m - n) > limit)) return;
  size_t distance = begins ? m - n : edit_distance(word, n, name, m);
  if ((!begins && distance > limit) || (suggestion->nearest && distance >= suggestion->distance)) return;
  suggestion->nearest = name;
  suggestion->distance = distance;
}
