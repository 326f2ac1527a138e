/* suggest: the name that a misspelt word may mean. A name is near if at most a third of its letters differ (inserted, left out,
 * replaced, or swapped with a neighbour; capitals do not count), or if it begins with the word. */
#pragma once

#include <stddef.h>

/* Starts as {word}. Names are offered one by one. `nearest` is the best so far; NULL: none is near. It points to the offered
 * text. */
typedef struct Suggestion {
  const char *word, *nearest;
  size_t distance;
} Suggestion;

/* O(product of the lengths); names of more than 100 letters are never near. */
void suggest_offer(Suggestion *suggestion, const char *name);
