/* matching: bipartite matching of maximum size (Hopcroft and Karp 1973). It begins with the degree-one rule of Karp and Sipser
 * 1981, which by itself is exact on trees such as ladders.
 *
 * Invariant: a matched vertex stays matched; augmenting only changes partners. Searches access only the rows that they reach; no
 * array of size n is cleared between them. */
#pragma once

#include "structure/pattern.h"

#include <stdbool.h>

typedef struct Matching {
  int32_t size;
  int32_t *column_of_row; /* n_rows, STRUCTURE_NONE if unmatched */
  int32_t *row_of_column; /* n_columns */
} Matching;

/* A matching of maximum size, owned by the arena. Deterministic. O(sqrt(n) * entries) at worst,
 * about linear in practice. */
Matching matching_maximum(Arena *arena, const Pattern *pattern);

/* A matching without entries, owned by the arena; to be grown by a matcher. O(n). */
Matching matching_empty(Arena *arena, int32_t n_rows, int32_t n_columns);

/* The state of a growing matching. With `order` (and c, d) only the entries with order + c == d count,
 * so the graph may change between calls by changing c and d, as long as matched entries keep counting. */
typedef struct Matcher {
  Pattern pattern;
  const int32_t *order, *c, *d; /* NULL: every entry counts */
  Matching *matching;
  int32_t *level; /* per row: distance in the current search; STRUCTURE_NONE: not reached */
  int32_t *next;  /* per row: next entry to try */
  int32_t *queue; /* rows in the order reached */
  int32_t *path;  /* rows of the current path */
  int32_t *free;  /* the rows still to be matched */
  int32_t n_reached, n_free;
} Matcher;

/* Working arrays for the pattern, from the arena. `matching` is updated in place. O(n_rows). */
Matcher matcher_make(Arena *arena, const Pattern *pattern, Matching *matching);

/* Augments from the given rows until no augmenting path starts in a row that is still unmatched; returns how many were
 * matched. With `keep_dead` (allowed if c and d never change), rows that can never be matched are remembered,
 * because free columns only become fewer; then all calls together cost as much as one. Without it, nothing is
 * remembered after the call. */
int32_t matcher_grow(Matcher *matcher, const int32_t *rows, int32_t n_rows, bool keep_dead);
