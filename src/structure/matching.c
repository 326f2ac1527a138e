/* matching: see matching.h. In addition to distances, levels contain two marks: FINISHED for a row whose search in the current
 * phase is over, and DEAD for a row that no later phase can match. */
#include "structure/matching.h"

enum { FINISHED = -2, DEAD = -3 };

Matching matching_empty(Arena *arena, int32_t n_rows, int32_t n_columns) {
  return (Matching){.column_of_row = index_nones(arena, n_rows), .row_of_column = index_nones(arena, n_columns)};
}

static void match(Matching *matching, int32_t row, int32_t column) {
  matching->column_of_row[row] = column;
  matching->row_of_column[column] = row;
}

/* ---- the start: Karp and Sipser 1981 ---- */

/* One side of the graph: its pattern, the partners of its vertices, and how many entries of each vertex lead to an unmatched one.
 * Vertex v of side s is pushed as 2 v + s when only one such entry is left. */
typedef struct Side {
  Pattern pattern;
  int32_t *partner, *degree;
} Side;

typedef struct Start {
  Side side[2];
  int32_t *single; /* stack of pushed vertices */
  int32_t n_single, size;
} Start;

static void start_lower(Start *start, int other, int32_t vertex) {
  const Side *side = &start->side[other];
  if (side->partner[vertex] == STRUCTURE_NONE && --side->degree[vertex] == 1)
    start->single[start->n_single++] = 2 * vertex + other;
}

static void start_retire(Start *start, int own, int32_t vertex) {
  const Pattern *pattern = &start->side[own].pattern;
  for (int32_t e = pattern->row_start[vertex]; e < pattern->row_start[vertex + 1]; e++)
    start_lower(start, 1 - own, pattern->column[e]);
}

/* Matches the vertex to the unmatched neighbour with the fewest choices, if there is one. */
static void start_match(Start *start, int own, int32_t vertex) {
  const Side *side = &start->side[own], *other = &start->side[1 - own];
  int32_t best = STRUCTURE_NONE;
  for (int32_t e = side->pattern.row_start[vertex]; e < side->pattern.row_start[vertex + 1]; e++) {
    int32_t v = side->pattern.column[e];
    if (other->partner[v] != STRUCTURE_NONE) continue;
    if (best == STRUCTURE_NONE || other->degree[v] < other->degree[best]) best = v;
  }
  if (best == STRUCTURE_NONE) return;
  side->partner[vertex] = best;
  other->partner[best] = vertex;
  start->size++;
  start_retire(start, own, vertex);
  start_retire(start, 1 - own, best);
}

static void start_singles(Start *start) {
  while (start->n_single > 0) {
    int32_t code = start->single[--start->n_single];
    if (start->side[code % 2].partner[code / 2] == STRUCTURE_NONE) start_match(start, code % 2, code / 2);
  }
}

static void start_degrees(Arena *scratch, Start *start, int own) {
  Side *side = &start->side[own];
  side->degree = index_zeros(scratch, side->pattern.n_rows);
  for (int32_t v = 0; v < side->pattern.n_rows; v++) {
    side->degree[v] = side->pattern.row_start[v + 1] - side->pattern.row_start[v];
    if (side->degree[v] == 1) start->single[start->n_single++] = 2 * v + own;
  }
}

static void start_run(Arena *scratch, const Pattern *pattern, Matching *matching) {
  Start start = {.side = {{.pattern = *pattern, .partner = matching->column_of_row},
                          {.pattern = pattern_transpose(scratch, pattern), .partner = matching->row_of_column}}};
  start.single = index_zeros(scratch, pattern->n_rows + pattern->n_columns);
  start_degrees(scratch, &start, 1);
  start_degrees(scratch, &start, 0);
  start_singles(&start);
  for (int32_t i = 0; i < pattern->n_rows; i++) {
    if (matching->column_of_row[i] != STRUCTURE_NONE) continue;
    start_match(&start, 0, i);
    start_singles(&start);
  }
  matching->size = start.size;
}

/* ---- augmenting: Hopcroft and Karp 1973 ---- */

Matcher matcher_make(Arena *arena, const Pattern *pattern, Matching *matching) {
  return (Matcher){.pattern = *pattern,
                   .matching = matching,
                   .level = index_nones(arena, pattern->n_rows),
                   .next = index_zeros(arena, pattern->n_rows),
                   .queue = index_zeros(arena, pattern->n_rows),
                   .path = index_zeros(arena, pattern->n_rows),
                   .free = index_zeros(arena, pattern->n_rows)};
}

static bool counts(const Matcher *matcher, int32_t row, int32_t entry) {
  return !matcher->order || matcher->order[entry] + matcher->c[row] == matcher->d[matcher->pattern.column[entry]];
}

static void reach(Matcher *matcher, int32_t row, int32_t level) {
  if (matcher->level[row] != STRUCTURE_NONE) return;
  matcher->level[row] = level;
  matcher->next[row] = matcher->pattern.row_start[row];
  matcher->queue[matcher->n_reached++] = row;
}

/* Layers the rows by their distance from the free rows, down to the first layer with an entry in a free column. */
static bool find_layers(Matcher *matcher) {
  int32_t last = INT32_MAX;
  matcher->n_reached = 0;
  for (int32_t f = 0; f < matcher->n_free; f++) reach(matcher, matcher->free[f], 0);
  for (int32_t q = 0; q < matcher->n_reached && matcher->level[matcher->queue[q]] <= last; q++) {
    int32_t i = matcher->queue[q];
    for (int32_t e = matcher->pattern.row_start[i]; e < matcher->pattern.row_start[i + 1]; e++) {
      if (!counts(matcher, i, e)) continue;
      int32_t k = matcher->matching->row_of_column[matcher->pattern.column[e]];
      if (k == STRUCTURE_NONE) last = matcher->level[i];
      else if (last == INT32_MAX) reach(matcher, k, matcher->level[i] + 1);
    }
  }
  return last != INT32_MAX;
}

/* Advances the row to its next entry that leads to the next layer or to a free column. Returns the row matched to that column, the
 * row itself for a free column, or STRUCTURE_NONE. The entry taken is next[row] - 1. */
static int32_t step(Matcher *matcher, int32_t row) {
  while (matcher->next[row] < matcher->pattern.row_start[row + 1]) {
    int32_t e = matcher->next[row]++;
    if (!counts(matcher, row, e)) continue;
    int32_t k = matcher->matching->row_of_column[matcher->pattern.column[e]];
    if (k == STRUCTURE_NONE) return row;
    if (matcher->level[k] == matcher->level[row] + 1) return k;
  }
  return STRUCTURE_NONE;
}

static void flip(Matcher *matcher, int32_t depth) {
  for (int32_t p = depth; p >= 0; p--) {
    int32_t i = matcher->path[p];
    match(matcher->matching, i, matcher->pattern.column[matcher->next[i] - 1]);
    matcher->level[i] = FINISHED;
  }
}

/* Finds one augmenting path through the layers, vertex-disjoint from the earlier ones of this phase. */
static bool augment(Matcher *matcher, int32_t root) {
  int32_t depth = 0;
  matcher->path[0] = root;
  while (depth >= 0) {
    int32_t i = matcher->path[depth], k = step(matcher, i);
    if (k == i) {
      flip(matcher, depth);
      return true;
    }
    if (k != STRUCTURE_NONE) {
      matcher->path[++depth] = k;
    } else {
      matcher->level[i] = FINISHED;
      depth--;
    }
  }
  return false;
}

static void forget(Matcher *matcher, int32_t mark) {
  for (int32_t q = 0; q < matcher->n_reached; q++) matcher->level[matcher->queue[q]] = mark;
}

int32_t matcher_grow(Matcher *matcher, const int32_t *rows, int32_t n_rows, bool keep_dead) {
  int32_t grown = 0;
  matcher->n_free = 0;
  for (int32_t r = 0; r < n_rows; r++)
    if (matcher->matching->column_of_row[rows[r]] == STRUCTURE_NONE) matcher->free[matcher->n_free++] = rows[r];
  while (find_layers(matcher)) {
    int32_t left = 0;
    for (int32_t f = 0; f < matcher->n_free; f++) {
      int32_t row = matcher->free[f];
      if (matcher->level[row] == 0 && augment(matcher, row)) grown++;
      else if (matcher->level[row] != DEAD) matcher->free[left++] = row;
    }
    matcher->n_free = left;
    forget(matcher, STRUCTURE_NONE);
  }
  forget(matcher, keep_dead ? DEAD : STRUCTURE_NONE);
  matcher->matching->size += grown;
  return grown;
}

Matching matching_maximum(Arena *arena, const Pattern *pattern) {
  Matching matching = matching_empty(arena, pattern->n_rows, pattern->n_columns);
  Arena scratch = arena_make(arena->heap);
  start_run(&scratch, pattern, &matching);
  if (matching.size < pattern->n_rows && matching.size < pattern->n_columns) {
    Matcher matcher = matcher_make(&scratch, pattern, &matching);
    int32_t *rows = index_zeros(&scratch, pattern->n_rows);
    for (int32_t i = 0; i < pattern->n_rows; i++) rows[i] = i;
    matcher_grow(&matcher, rows, pattern->n_rows, false);
  }
  arena_free(&scratch);
  return matching;
}
