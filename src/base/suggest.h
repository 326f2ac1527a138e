/* suggest: the name that a misspelt word may mean. A name is near when a third of its letters or fewer differ
 * (inserted, left out, replaced, or swapped with a neighbour; capitals do not count), or when the word is its beginning. */
#pragma once

#include <stddef.h>

/* Starts with {word}; names are offered one by one, `nearest` is the best so far, NULL if none is near. It
 * points to the text offered. */
typedef struct Suggestion {
  const char *word, *nearest;
  size_t distance;
} Suggestion;

/* O(product of the lengths); names above 100 letters are near no word. */
void suggest_offer(Suggestion *suggestion, const char *name);
