/* Structural analysis: the papers' examples as tables, and random tables against plain methods that share no code with the
 * library (exhaustive matching, the textbook form of Pantelides, sweeps of the signature method, transitive closure, subsets).
 * A table holds the order of each variable in each equation, '.' if it is absent. */
#include "fail_alloc.h"
#include "signature.h"
#include "structure/initial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 48, ABSENT = -1, SMALL = 7 };

typedef struct Table {
  int32_t m, n; /* equations, variables */
  int order[MOST][MOST];
  int32_t start[MOST + 1], column[4 * MOST * MOST], entry_order[4 * MOST * MOST];
} Table;

static Incidence incidence_of(const Table *t) {
  return (Incidence){
      .n_equations = t->m, .n_variables = t->n, .row_start = t->start, .column = t->column, .order = t->entry_order};
}

static Pattern pattern_of(const Table *t) {
  Incidence incidence = incidence_of(t);
  return incidence_pattern(&incidence);
}

static void table_pack(Table *t) {
  int32_t count = 0;
  for (int32_t i = 0; i < t->m; i++) {
    for (int32_t j = 0; j < t->n; j++) {
      if (t->order[i][j] == ABSENT) continue;
      t->column[count] = j;
      t->entry_order[count++] = t->order[i][j];
    }
    t->start[i + 1] = count;
  }
}

/* Rows end with ';'. */
static Table table_of(const char *text) {
  Table t = {0};
  int32_t j = 0;
  for (const char *p = text; *p; p++) {
    if (*p == ' ') continue;
    if (*p == ';') t.m++, t.n = j > t.n ? j : t.n, j = 0;
    else t.order[t.m][j++] = *p == '.' ? ABSENT : *p - '0';
  }
  table_pack(&t);
  return t;
}

typedef struct Random {
  uint64_t state;
} Random;

static int draw(Random *random, int below) {
  random->state ^= random->state << 13;
  random->state ^= random->state >> 7;
  random->state ^= random->state << 17;
  return (int)((random->state >> 33) % (uint64_t)below);
}

/* Every entry with the given chance in percent. */
static Table table_random(Random *random, int m, int n, int percent, int orders) {
  Table t = {.m = m, .n = n};
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) t.order[i][j] = draw(random, 100) < percent ? draw(random, orders) : ABSENT;
  table_pack(&t);
  return t;
}

/* A random table like the one above, but with a full diagonal, so that it is not singular. */
static Table table_regular(Random *random, int n, int percent, int orders) {
  Table t = table_random(random, n, n, percent, orders);
  for (int i = 0; i < n; i++)
    if (t.order[i][(i + 1) % n] == ABSENT) t.order[i][(i + 1) % n] = draw(random, orders);
  table_pack(&t);
  return t;
}

static void shuffle(Random *random, int32_t *index, int32_t n) {
  for (int32_t i = 0; i < n; i++) index[i] = i;
  for (int32_t i = n - 1; i > 0; i--) {
    int32_t k = draw(random, i + 1), held = index[i];
    index[i] = index[k];
    index[k] = held;
  }
}

/* Row i, column j of the result is row p[i], column q[j] of the table. */
static Table table_permute(const Table *t, const int32_t *p, const int32_t *q) {
  Table r = {.m = t->m, .n = t->n};
  for (int32_t i = 0; i < t->m; i++)
    for (int32_t j = 0; j < t->n; j++) r.order[i][j] = t->order[p[i]][q[j]];
  table_pack(&r);
  return r;
}

/* Each entry is given several times, in any order, the true order being the highest. */
static void table_scatter(Random *random, Table *t) {
  int32_t count = 0;
  for (int32_t i = 0; i < t->m; i++) {
    int32_t begin = count;
    for (int32_t j = 0; j < t->n; j++) {
      for (int copies = draw(random, 4), k = 0; t->order[i][j] != ABSENT && k <= copies; k++) {
        int32_t at = begin + draw(random, count - begin + 1);
        memmove(t->column + at + 1, t->column + at, (size_t)(count - at) * sizeof *t->column);
        memmove(t->entry_order + at + 1, t->entry_order + at, (size_t)(count - at) * sizeof *t->entry_order);
        t->column[at] = j;
        t->entry_order[at] = k == 0 ? t->order[i][j] : draw(random, t->order[i][j] + 1);
        count++;
      }
    }
    t->start[i + 1] = count;
  }
}

/* ---- plain methods ---- */

/* The size of a maximum matching of the chosen rows into the chosen columns (bit sets), found by trying all matchings. */
static int plain_rank(const Table *t, unsigned rows, unsigned columns) {
  int best[1 << (SMALL + 3)];
  memset(best, 0xff, sizeof(int) * ((size_t)1 << t->n));
  best[0] = 0;
  for (int32_t i = 0; i < t->m; i++) {
    if (!(rows >> i & 1)) continue;
    for (int used = (1 << t->n) - 1; used >= 0; used--) {
      for (int32_t j = 0; j < t->n; j++) {
        if (!(columns >> j & 1) || !(used >> j & 1) || t->order[i][j] == ABSENT) continue;
        int before = best[used & ~(1 << j)];
        if (before >= 0 && before + 1 > best[used]) best[used] = before + 1;
      }
    }
  }
  int most = 0;
  for (int used = 0; used < 1 << t->n; used++) most = best[used] > most ? best[used] : most;
  return most;
}

/* A transversal of highest value, by trying all: its value, or -1 when there is none; row_of[j] is set. */
static int plain_transversal(const Table *t, int32_t *row_of) {
  static int best[SMALL + 1][1 << SMALL];
  int n = t->n, full = (1 << n) - 1;
  memset(best, 0xff, sizeof best);
  best[0][0] = 0;
  for (int i = 0; i < n; i++)
    for (int used = 0; used <= full; used++)
      for (int j = 0; best[i][used] >= 0 && j < n; j++) {
        if (used >> j & 1 || t->order[i][j] == ABSENT) continue;
        int value = best[i][used] + t->order[i][j];
        if (value > best[i + 1][used | 1 << j]) best[i + 1][used | 1 << j] = value;
      }
  for (int i = n, used = full; i > 0 && best[n][full] >= 0; i--) {
    for (int j = 0; j < n; j++) {
      int before = used & ~(1 << j);
      if (!(used >> j & 1) || t->order[i - 1][j] == ABSENT || best[i - 1][before] < 0) continue;
      if (best[i - 1][before] + t->order[i - 1][j] != best[i][used]) continue;
      row_of[j] = i - 1;
      used = before;
      break;
    }
  }
  return best[n][full];
}

/* Pryce's fixed point by sweeps over the whole table. */
static void plain_offsets(const Table *t, const int32_t *row_of, int32_t *c, int32_t *d) {
  memset(c, 0, sizeof(int32_t) * (size_t)t->n);
  for (int changed = 1; changed;) {
    changed = 0;
    for (int32_t j = 0; j < t->n; j++) {
      d[j] = 0;
      for (int32_t i = 0; i < t->n; i++)
        if (t->order[i][j] != ABSENT && t->order[i][j] + c[i] > d[j]) d[j] = t->order[i][j] + c[i];
    }
    for (int32_t j = 0; j < t->n; j++) {
      int32_t need = d[j] - t->order[row_of[j]][j];
      if (need != c[row_of[j]]) c[row_of[j]] = need, changed = 1;
    }
  }
}

/* Pantelides 1988 as published: one equation at a time, one differentiation at a time. */
typedef struct Textbook {
  const Table *t;
  int32_t c[MOST], d[MOST], row_of[MOST];
  int row_colour[MOST], column_colour[MOST];
} Textbook;

static bool textbook_augment(Textbook *book, int32_t i) {
  book->row_colour[i] = 1;
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t j = 0; j < book->t->n; j++) {
      if (book->t->order[i][j] == ABSENT || book->t->order[i][j] + book->c[i] != book->d[j]) continue;
      bool take = pass == 0 ? book->row_of[j] < 0 : !book->column_colour[j];
      if (pass == 1 && take) {
        book->column_colour[j] = 1;
        take = textbook_augment(book, book->row_of[j]);
      }
      if (!take) continue;
      book->row_of[j] = i;
      return true;
    }
  }
  return false;
}

static void textbook_run(Textbook *book, const Table *t) {
  *book = (Textbook){.t = t};
  for (int32_t j = 0; j < t->n; j++) {
    book->row_of[j] = -1;
    for (int32_t i = 0; i < t->m; i++)
      if (t->order[i][j] > book->d[j]) book->d[j] = t->order[i][j];
  }
  for (int32_t i = 0; i < t->m; i++) {
    for (;;) {
      memset(book->row_colour, 0, sizeof book->row_colour);
      memset(book->column_colour, 0, sizeof book->column_colour);
      if (textbook_augment(book, i)) break;
      for (int32_t k = 0; k < t->m; k++) book->c[k] += book->row_colour[k];
      for (int32_t j = 0; j < t->n; j++) book->d[j] += book->column_colour[j];
    }
  }
}

/* ---- fixture and checks ---- */

typedef struct Fixture {
  FailAlloc fail;
  Heap *heap;
  Arena arena;
} Fixture;

static int set_up(void **state) {
  Fixture *fixture = calloc(1, sizeof *fixture);
  if (!fixture) return -1;
  fail_alloc_begin(&fixture->fail);
  fixture->heap = heap_new(&fixture->fail.hook);
  fixture->arena = arena_make(fixture->heap);
  *state = fixture;
  return fixture->heap ? 0 : -1;
}

static int tear_down(void **state) {
  Fixture *fixture = *state;
  heap_destroy(fixture->heap);
  int leaked = fixture->fail.live != 0;
  free(fixture);
  return leaked;
}

static Arena *arena_of(void **state) { return &((Fixture *)*state)->arena; }

static void assert_indices(const int32_t *got, const int32_t *expected, int32_t n, const char *what) {
  for (int32_t i = 0; i < n; i++)
    if (got[i] != expected[i]) fail_msg("%s[%d] is %d, expected %d", what, i, got[i], expected[i]);
}

static void assert_matching(const Table *t, const Matching *matching) {
  int32_t size = 0;
  for (int32_t i = 0; i < t->m; i++) {
    int32_t j = matching->column_of_row[i];
    if (j == STRUCTURE_NONE) continue;
    size++;
    assert_true(t->order[i][j] != ABSENT);
    assert_int_equal(matching->row_of_column[j], i);
  }
  assert_int_equal(size, matching->size);
  for (int32_t j = 0; j < t->n; j++)
    if (matching->row_of_column[j] != STRUCTURE_NONE)
      assert_int_equal(matching->column_of_row[matching->row_of_column[j]], j);
}

/* Blocks of the entries for which order + c == d (all entries if c is NULL), by transitive closure. */
static void assert_blocks(const Table *t, const int32_t *c, const int32_t *d, const Matching *matching,
                          const Blocks *blocks) {
  static bool leads[MOST][MOST];
  int32_t n = t->n;
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = 0; k < n; k++) {
      int32_t j = matching->column_of_row[k];
      leads[i][k] = t->order[i][j] != ABSENT && (!c || t->order[i][j] + c[i] == d[j]);
      if (leads[i][k]) assert_true(blocks->block_of_column[j] <= blocks->block_of_row[i]);
    }
  for (int32_t via = 0; via < n; via++)
    for (int32_t i = 0; i < n; i++)
      for (int32_t k = 0; leads[i][via] && k < n; k++) leads[i][k] = leads[i][k] || leads[via][k];
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = 0; k < n; k++)
      assert_int_equal(leads[i][k] && leads[k][i], blocks->block_of_row[i] == blocks->block_of_row[k]);
  assert_int_equal(blocks->start[0], 0);
  assert_int_equal(blocks->start[blocks->n_blocks], n);
  for (int32_t b = 0; b < blocks->n_blocks; b++)
    for (int32_t p = blocks->start[b]; p < blocks->start[b + 1]; p++) {
      assert_int_equal(blocks->block_of_row[blocks->row[p]], b);
      assert_int_equal(blocks->block_of_column[blocks->column[p]], b);
      assert_int_equal(matching->column_of_row[blocks->row[p]], blocks->column[p]);
      if (p > blocks->start[b]) assert_true(blocks->row[p - 1] < blocks->row[p]);
    }
}

/* The order of the blocks: going from the last to the first, each is the one with the largest first row among those that no
 * unplaced block uses. */
static void assert_order(const Table *t, const int32_t *c, const int32_t *d, const Blocks *blocks) {
  bool placed[MOST] = {false};
  for (int32_t b = blocks->n_blocks - 1; b >= 0; b--) {
    int32_t best = -1;
    for (int32_t a = 0; a < blocks->n_blocks; a++) {
      bool used = placed[a];
      for (int32_t i = 0; i < t->n; i++)
        for (int32_t j = 0; j < t->n; j++)
          if (t->order[i][j] != ABSENT && t->order[i][j] + c[i] == d[j] && blocks->block_of_column[j] == a &&
              blocks->block_of_row[i] != a && !placed[blocks->block_of_row[i]])
            used = true;
      if (!used && (best < 0 || blocks->row[blocks->start[a]] > blocks->row[blocks->start[best]])) best = a;
    }
    assert_int_equal(best, b);
    placed[b] = true;
  }
}

/* The definition: a block is superfluous if neither it nor any block that uses its highest derivatives contains an algebraic
 * variable. */
static void assert_superfluous(const Table *t, const Structure *s) {
  static bool uses[MOST][MOST];
  int32_t n_blocks = s->blocks.n_blocks, count = 0;
  memset(uses, 0, sizeof uses);
  for (int32_t i = 0; i < t->n; i++)
    for (int32_t j = 0; j < t->n; j++)
      if (t->order[i][j] != ABSENT && t->order[i][j] + s->c[i] == s->d[j])
        uses[s->blocks.block_of_row[i]][s->blocks.block_of_column[j]] = true;
  for (int32_t via = 0; via < n_blocks; via++)
    for (int32_t a = 0; a < n_blocks; a++)
      for (int32_t b = 0; b < n_blocks; b++) uses[a][b] = uses[a][b] || (uses[a][via] && uses[via][b]);
  for (int32_t b = 0; b < n_blocks; b++) {
    bool zero = true;
    for (int32_t j = 0; j < t->n; j++)
      if (s->d[j] == 0 && uses[s->blocks.block_of_column[j]][b]) zero = false;
    assert_int_equal(zero, s->superfluous_block[b]);
  }
  for (int32_t i = 0; i < t->n; i++) {
    assert_int_equal(s->superfluous[i], s->c[i] > 0 && s->superfluous_block[s->blocks.block_of_row[i]]);
    count += s->superfluous[i];
  }
  assert_int_equal(count, s->n_superfluous);
}

/* driven[j]: nothing that unknown j depends on has states. The equation of an unknown is the one matched to it. */
static void find_driven(const Table *t, const Structure *s, bool *driven) {
  static bool depends[MOST][MOST];
  for (int32_t j = 0; j < t->n; j++)
    for (int32_t k = 0; k < t->n; k++) depends[j][k] = j == k || t->order[s->matching.row_of_column[j]][k] != ABSENT;
  for (int32_t via = 0; via < t->n; via++)
    for (int32_t j = 0; j < t->n; j++)
      for (int32_t k = 0; k < t->n && depends[j][via]; k++) depends[j][k] = depends[j][k] || depends[via][k];
  for (int32_t j = 0; j < t->n; j++) {
    driven[j] = true;
    for (int32_t k = 0; k < t->n; k++)
      if (depends[j][k] && s->d[k] > s->c[s->matching.row_of_column[k]]) driven[j] = false;
  }
}

/* The definition: removes blocks whose constraints contain states of other blocks, then blocks that a remaining
 * differentiated equation needs. */
static void assert_spare(const Table *t, const Structure *s) {
  bool driven[MOST], removable[MOST];
  find_driven(t, s, driven);
  for (int32_t b = 0; b < s->blocks.n_blocks; b++) removable[b] = s->superfluous_block[b];
  for (bool changed = true; changed;) {
    changed = false;
    for (int32_t i = 0; i < t->n; i++) {
      for (int32_t j = 0; j < t->n; j++) {
        int32_t here = s->blocks.block_of_row[i], there = s->blocks.block_of_column[j], order = t->order[i][j];
        if (order == ABSENT || s->c[i] == 0 || here == there) continue;
        int32_t out = removable[here] && !driven[j]                    ? here
                      : !removable[here] && order + s->c[i] == s->d[j] ? there
                                                                       : -1;
        if (out < 0 || !removable[out]) continue;
        removable[out] = false;
        changed = true;
      }
    }
  }
  for (int32_t b = 0; b < s->blocks.n_blocks; b++) assert_int_equal(removable[b], s->removable_block[b]);
}

/* Everything that a correct result must satisfy, given offsets found another way. */
static void assert_structure(const Table *t, const Structure *s, const int32_t *c, const int32_t *d) {
  int64_t sum_c = 0, sum_d = 0;
  int32_t index = 0, algebraic = 0;
  assert_int_equal(s->status, STRUCTURE_OK);
  assert_indices(s->c, c, t->m, "c");
  assert_indices(s->d, d, t->n, "d");
  for (int32_t i = 0; i < t->m; i++) {
    sum_c += c[i], sum_d += d[i];
    if (c[i] > index) index = c[i];
    if (d[i] == 0) algebraic = 1;
  }
  assert_int_equal(s->dof, sum_d - sum_c);
  assert_int_equal(s->differentiations, sum_c);
  assert_int_equal(s->structural_index, index + algebraic);
  Incidence incidence = incidence_of(t);
  assert_true(signature_slackness(&incidence, &s->matching, s->c, s->d));
  assert_int_equal(s->matching.size, t->n);
  assert_matching(t, &s->matching);
  for (int32_t i = 0; i < t->m; i++) {
    int32_t j = s->matching.column_of_row[i];
    assert_int_equal(t->order[i][j] + c[i], d[j]);
  }
  assert_blocks(t, c, d, &s->matching, &s->blocks);
  assert_blocks(t, NULL, NULL, &s->matching, &s->coarse);
  assert_order(t, c, d, &s->blocks);
  assert_superfluous(t, s);
  assert_spare(t, s);
}

/* ---- the papers' examples ---- */

typedef struct Example {
  const char *name, *table;
  int32_t c[5], d[5];
  int32_t index, dof, n_blocks, n_superfluous;
} Example;

static const Example examples[] = {
    {"Mattsson-Söderlind (1.2)", "10.; .10; 0..;", {1, 0, 2}, {2, 1, 0}, 3, 0, 3, 0},
    /* x4' is found from only c', so the blocks are {c'} and {a'', b'', d}. Example 2: a'', b'' and c' are removed. */
    {"Mattsson-Söderlind (3.1)", "00..; 000.; 0..0; 2221;", {2, 2, 1, 0}, {2, 2, 2, 1}, 2, 2, 2, 3},
    {"Mattsson-Söderlind section 2", "11; 00;", {0, 1}, {1, 1}, 1, 1, 1, 1},
    {"pendulum (4.1)", "00.; 2.0; .20;", {2, 0, 0}, {2, 2, 0}, 3, 2, 1, 0},
    {"pendulum (4.5)", "1.0..; .1.0.; 0.1.0; .0.10; 00...;", {1, 1, 0, 0, 2}, {2, 2, 1, 1, 0}, 3, 2, 1, 0},
    {"Mattsson-Söderlind (4.6)", "11; 00;", {0, 1}, {1, 1}, 1, 1, 1, 1},
    {"Hessenberg, index 2", "10; 0.;", {0, 1}, {1, 0}, 2, 0, 2, 0},
    {"Hessenberg, index 3", "100; 01.; .0.;", {0, 1, 2}, {1, 2, 0}, 3, 0, 3, 0},
    {"Hessenberg, index 4", "1000; 010.; .01.; ..0.;", {0, 1, 2, 3}, {1, 2, 3, 0}, 4, 0, 4, 0},
    {"ordinary differential equation", "10; 01;", {0, 0}, {1, 1}, 0, 2, 2, 0},
    {"semi-explicit, index 1", "10; 00;", {0, 0}, {1, 0}, 1, 1, 2, 0},
};

static void check_example(Arena *arena, const Table *t, const Example *example, const int32_t *p, const int32_t *q) {
  int32_t c[5], d[5];
  Incidence incidence = incidence_of(t);
  Structure s = structure_run(arena, &incidence);
  for (int32_t i = 0; i < t->n; i++) c[i] = example->c[p[i]], d[i] = example->d[q[i]];
  assert_structure(t, &s, c, d);
  assert_int_equal(s.structural_index, example->index);
  assert_int_equal(s.dof, example->dof);
  assert_int_equal(s.blocks.n_blocks, example->n_blocks);
  assert_int_equal(s.n_superfluous, example->n_superfluous);
}

/* (3.1): where x4' is a separate variable, (c') stays; where x1'' is, its whole block stays, and (c') for x4', which (d) uses. */
static void needed_derivatives_keep_differentiations(void **state) {
  Arena *arena = arena_of(state);
  Table t = table_of("00..; 000.; 0..0; 2221;");
  Incidence incidence = incidence_of(&t);
  Structure s = structure_run(arena, &incidence);
  const bool x4[] = {false, false, false, true}, x1[] = {true, false, false, false},
             none[] = {false, false, false, false};
  structure_need(arena, &incidence, &s, x4);
  assert_int_equal(s.n_superfluous, 2);
  assert_false(s.superfluous[2]);
  structure_need(arena, &incidence, &s, x1);
  assert_int_equal(s.n_superfluous, 0);
  structure_need(arena, &incidence, &s, none);
  assert_int_equal(s.n_superfluous, 3);
  assert_true(s.removable_block[s.blocks.block_of_row[0]]);
  assert_false(s.removable_block[s.blocks.block_of_row[2]]); /* x1 is of another block */
}

static void papers_examples_permuted(void **state) {
  Random random = {.state = 20260101};
  for (size_t e = 0; e < sizeof examples / sizeof *examples; e++) {
    Table t = table_of(examples[e].table);
    for (int round = 0; round < 20; round++) {
      int32_t p[MOST], q[MOST];
      shuffle(&random, p, t.m);
      shuffle(&random, q, t.n);
      if (round == 0)
        for (int32_t i = 0; i < t.n; i++) p[i] = q[i] = i;
      Table permuted = table_permute(&t, p, q);
      check_example(arena_of(state), &permuted, &examples[e], p, q);
    }
  }
}

static void empty_problem(void **state) {
  Table t = {0};
  Incidence incidence = incidence_of(&t);
  Structure s = structure_run(arena_of(state), &incidence);
  assert_int_equal(s.status, STRUCTURE_OK);
  assert_int_equal(s.structural_index, 0);
  assert_int_equal(s.dof, 0);
  assert_int_equal(s.blocks.n_blocks, 0);
}

/* ---- long ones, with the answer known ---- */

typedef struct Builder {
  Incidence incidence;
  int32_t *start, *column, *order, n_rows, n_entries;
} Builder;

static Builder builder_make(Arena *arena, int32_t n) {
  return (Builder){
      .start = index_zeros(arena, n + 1), .column = index_zeros(arena, 8 * n), .order = index_zeros(arena, 8 * n)};
}

static void put(Builder *b, int32_t column, int32_t order) {
  b->column[b->n_entries] = column;
  b->order[b->n_entries++] = order;
}

static void end_row(Builder *b) { b->start[++b->n_rows] = b->n_entries; }

static Incidence finish(const Builder *b) {
  return (Incidence){.n_equations = b->n_rows,
                     .n_variables = b->n_rows,
                     .row_start = b->start,
                     .column = b->column,
                     .order = b->order};
}

/* Point masses on rigid rods: x, y, u, v, s per mass; one block of index 3. */
static void chain_of_rods(void **state) {
  enum { N = 3000 };
  Arena *arena = arena_of(state);
  Builder b = builder_make(arena, 5 * N);
  for (int32_t i = 0; i < N; i++) {
    int32_t x = 5 * i;
    for (int32_t k = 0; k < 2; k++) put(&b, x + k, 1), put(&b, x + 2 + k, 0), end_row(&b);
    for (int32_t k = 0; k < 2; k++) {
      put(&b, x + 2 + k, 1), put(&b, x + 4, 0), put(&b, x + k, 0);
      if (i > 0) put(&b, x - 5 + k, 0);
      if (i < N - 1) put(&b, x + 9, 0), put(&b, x + 5 + k, 0);
      end_row(&b);
    }
    for (int32_t k = 0; k < 2; k++) {
      put(&b, x + k, 0);
      if (i > 0) put(&b, x - 5 + k, 0);
    }
    end_row(&b);
  }
  Incidence incidence = finish(&b);
  Structure s = structure_run(arena, &incidence);
  static const int32_t c[] = {1, 1, 0, 0, 2}, d[] = {2, 2, 1, 1, 0};
  assert_int_equal(s.status, STRUCTURE_OK);
  for (int32_t i = 0; i < 5 * N; i++) {
    assert_int_equal(s.c[i], c[i % 5]);
    assert_int_equal(s.d[i], d[i % 5]);
  }
  assert_int_equal(s.structural_index, 3);
  assert_int_equal(s.dof, 2 * N);
  assert_int_equal(s.blocks.n_blocks, 1);
  assert_true(signature_agrees(arena, &incidence, &s));
}

/* x1 = f, x1' = x2, x2' = x3, ...: c sums to more than 32 bits hold, and must not take as many steps. */
static void chain_of_derivatives(void **state) {
  enum { N = 100000 };
  Arena *arena = arena_of(state);
  Builder b = builder_make(arena, N);
  for (int32_t i = N - 2; i >= 0; i--) put(&b, i, 1), put(&b, i + 1, 0), end_row(&b);
  put(&b, 0, 0), end_row(&b);
  Incidence incidence = finish(&b);
  Structure s = structure_run(arena, &incidence);
  assert_int_equal(s.status, STRUCTURE_OK);
  for (int32_t i = 0; i < N; i++) {
    assert_int_equal(s.d[i], N - 1 - i);
    assert_int_equal(s.c[i], i);
  }
  assert_int_equal(s.structural_index, N);
  assert_int_equal(s.differentiations, (int64_t)N * (N - 1) / 2);
  assert_int_equal(s.dof, 0);
  assert_true(signature_agrees(arena, &incidence, &s));
}

/* ---- random structures ---- */

static void random_small_against_exhaustion(void **state) {
  Random random = {.state = 7};
  int regular = 0, singular = 0, left_out = 0, kept = 0;
  for (int round = 0; round < 6000; round++) {
    Arena arena = arena_make(arena_of(state)->heap);
    int n = 1 + draw(&random, SMALL), orders = 1 + draw(&random, round % 7 ? 3 : 9);
    Table t = table_random(&random, n, n, 15 + draw(&random, 70), orders);
    if (round % 2) table_scatter(&random, &t);
    Incidence incidence = incidence_of(&t);
    int32_t row_of[SMALL] = {0}, c[SMALL], d[SMALL];
    int value = plain_transversal(&t, row_of);
    Structure s = structure_run(&arena, &incidence);
    if (value < 0) {
      assert_int_equal(s.status, STRUCTURE_SINGULAR);
      assert_null(s.c);
      singular++;
    } else {
      plain_offsets(&t, row_of, c, d);
      assert_structure(&t, &s, c, d);
      assert_int_equal(s.dof, value);
      for (int32_t i = 0; i < n; i++)
        if (s.superfluous[i]) *(s.removable_block[s.blocks.block_of_row[i]] ? &left_out : &kept) += 1;
      regular++;
    }
    arena_free(&arena);
  }
  assert_true(regular > 1500 && singular > 1500);
  assert_true(left_out > 100 && kept > 100);
}

static void random_large_against_textbook(void **state) {
  Random random = {.state = 11};
  static Textbook book;
  for (int round = 0; round < 1500; round++) {
    Arena arena = arena_make(arena_of(state)->heap);
    int n = 8 + draw(&random, MOST - 8), orders = 1 + draw(&random, round % 5 ? 3 : 9);
    Table t = table_regular(&random, n, 1 + draw(&random, 12), orders);
    if (round % 2) table_scatter(&random, &t);
    Incidence incidence = incidence_of(&t);
    textbook_run(&book, &t);
    Structure s = structure_run(&arena, &incidence);
    assert_structure(&t, &s, book.c, book.d);
    arena_free(&arena);
  }
}

/* Offsets, parts and blocks follow the permutation; only the order of blocks may distinguish equations. */
static void permutation_permutes_the_result(void **state) {
  Random random = {.state = 13};
  for (int round = 0; round < 1000; round++) {
    Arena arena = arena_make(arena_of(state)->heap);
    int n = 2 + draw(&random, 30);
    Table t = round % 3 ? table_regular(&random, n, 1 + draw(&random, 15), 3)
                        : table_random(&random, n, 2 + draw(&random, 30), 1 + draw(&random, 15), 3);
    int32_t p[MOST], q[MOST];
    shuffle(&random, p, t.m);
    shuffle(&random, q, t.n);
    Table permuted = table_permute(&t, p, q);
    Incidence incidence = incidence_of(&t), other = incidence_of(&permuted);
    Structure s = structure_run(&arena, &incidence), r = structure_run(&arena, &other);
    assert_int_equal(r.status, s.status);
    for (int32_t i = 0; s.status == STRUCTURE_OK && i < n; i++) {
      assert_int_equal(r.c[i], s.c[p[i]]);
      assert_int_equal(r.d[i], s.d[q[i]]);
      assert_int_equal(r.superfluous[i], s.superfluous[p[i]]);
      assert_int_equal(r.removable_block[r.blocks.block_of_row[i]], s.removable_block[s.blocks.block_of_row[p[i]]]);
      for (int32_t k = 0; k < n; k++) {
        assert_int_equal(r.blocks.block_of_row[i] == r.blocks.block_of_row[k],
                         s.blocks.block_of_row[p[i]] == s.blocks.block_of_row[p[k]]);
        assert_int_equal(r.blocks.block_of_row[i] == r.blocks.block_of_column[k],
                         s.blocks.block_of_row[p[i]] == s.blocks.block_of_column[q[k]]);
      }
    }
    if (s.status != STRUCTURE_OK) {
      for (int32_t i = 0; i < t.m; i++) assert_int_equal(r.dulmage.row_kind[i], s.dulmage.row_kind[p[i]]);
      for (int32_t j = 0; j < t.n; j++) assert_int_equal(r.dulmage.column_kind[j], s.dulmage.column_kind[q[j]]);
      assert_int_equal(r.dulmage.n_over, s.dulmage.n_over);
      assert_int_equal(r.dulmage.n_under, s.dulmage.n_under);
    }
    arena_free(&arena);
  }
}

/* The algebraic unknowns and states on which an algebraic unknown depends. false: it cannot be differentiated once. */
static bool walk_down(const Table *t, const Structure *s, const bool *smooth, int j, bool *is_passed, bool *is_state) {
  int i = s->matching.row_of_column[j];
  if (!smooth[i] || s->d[j] > 0) return false;
  is_passed[j] = true;
  for (int k = 0; k < t->n; k++) {
    if (t->order[i][k] == ABSENT) continue;
    int below = s->d[k] - t->order[i][k];
    if (below == 1) is_state[k] = true;
    if (below == 0 && !is_passed[k] && !walk_down(t, s, smooth, k, is_passed, is_state)) return false;
  }
  return true;
}

/* Do the differentiated equations of a block give, with its preferred unknowns known, one unknown after the other? */
static bool follows_one_by_one(const Table *t, const Structure *s, const Structure *r, const bool *preferred,
                               int block) {
  bool is_known[MOST], is_used[MOST] = {0}, ahead = true;
  int left = 0;
  for (int j = 0; j < t->n; j++) is_known[j] = preferred[j] || r->blocks.block_of_column[j] != block;
  for (int i = 0; i < t->n; i++) {
    is_used[i] = r->c[i] == s->c[i] || r->blocks.block_of_row[i] != block;
    left += !is_used[i];
  }
  while (ahead) {
    ahead = false;
    for (int i = 0; i < t->n; i++) {
      int open = 0, last = 0;
      for (int k = 0; k < t->n && !is_used[i]; k++)
        if (t->order[i][k] != ABSENT && r->c[i] + t->order[i][k] == r->d[k] && !is_known[k]) open++, last = k;
      if (is_used[i] || open != 1) continue;
      is_used[i] = is_known[last] = ahead = true;
      left--;
    }
  }
  return left == 0;
}

/* Preferred unknowns that can be states depend on states through smooth equations, which are differentiated. They are
 * in one block with the unknowns that they can replace, and these follow from them. Everything else stays unchanged. */
static void preferred_unknowns_can_be_states(void **state) {
  Random random = {.state = 41};
  int offered = 0, refused = 0, taken_back = 0;
  for (int round = 0; round < 6000; round++) {
    Arena arena = arena_make(arena_of(state)->heap);
    int n = 2 + draw(&random, 20);
    Table t = table_regular(&random, n, 1 + draw(&random, 15), 2);
    Incidence incidence = incidence_of(&t);
    Structure s = structure_run(&arena, &incidence);
    bool preferred[MOST], smooth[MOST];
    for (int k = 0; k < n; k++) preferred[k] = draw(&random, 3) == 0, smooth[k] = draw(&random, 8) > 0;
    Structure r = structure_prefer(&arena, &incidence, &s, preferred, smooth);
    assert_int_equal(r.dof, s.dof);
    for (int i = 0; i < n; i++) {
      int j = r.matching.column_of_row[i];
      assert_int_equal(r.d[j] - r.c[i], s.d[j] - s.c[i]);
      assert_true(r.c[i] == s.c[i] || (smooth[i] && r.c[i] == 1));
      for (int k = 0; k < n; k++) {
        if (t.order[i][k] == ABSENT) continue;
        assert_true(r.c[i] + t.order[i][k] <= r.d[k]);
        if (r.c[i] + t.order[i][k] == r.d[k]) assert_true(r.blocks.block_of_column[k] <= r.blocks.block_of_row[i]);
      }
    }
    for (int j = 0; j < n; j++) {
      bool is_passed[MOST] = {0}, is_state[MOST] = {0};
      int states = 0, own = 0, theirs = 0, block = r.blocks.block_of_column[j];
      if (!preferred[j] || s.d[j] > 0) continue;
      bool can = walk_down(&t, &s, smooth, j, is_passed, is_state);
      for (int k = 0; k < n; k++) states += is_state[k] && !preferred[k];
      if (r.d[j] == 0) {
        refused += !can;
        taken_back += can && states;
        continue;
      }
      assert_true(can); /* it has no states itself, but lies between blocks that have */
      offered += states > 0;
      for (int k = 0; k < n; k++) {
        bool is_here = r.blocks.block_of_column[k] == block;
        if (is_state[k] && !preferred[k]) assert_true(is_here);
        own += is_here && preferred[k] && s.d[k] == 0 && r.d[k] == 1;
        theirs += is_here && s.d[k] > 0 && !preferred[k];
      }
      if (own == theirs) assert_true(follows_one_by_one(&t, &s, &r, preferred, block));
    }
    arena_free(&arena);
  }
  assert_true(offered > 100 && refused > 300 && taken_back > 50);
}

static void equal_input_gives_equal_result(void **state) {
  Random random = {.state = 17};
  for (int round = 0; round < 200; round++) {
    Arena arena = arena_make(arena_of(state)->heap);
    int n = 2 + draw(&random, 40);
    Table t = table_regular(&random, n, 8, 3);
    Incidence incidence = incidence_of(&t);
    Structure s = structure_run(&arena, &incidence), r = structure_run(&arena, &incidence);
    assert_indices(r.matching.column_of_row, s.matching.column_of_row, n, "match");
    assert_indices(r.blocks.row, s.blocks.row, n, "block row");
    arena_free(&arena);
  }
}

static void matching_is_of_maximum_size(void **state) {
  Random random = {.state = 19};
  for (int round = 0; round < 5000; round++) {
    Arena arena = arena_make(arena_of(state)->heap);
    Table t = table_random(&random, draw(&random, 11), draw(&random, SMALL + 3), 5 + draw(&random, 50), 1);
    if (round % 2) table_scatter(&random, &t);
    Pattern pattern = pattern_of(&t);
    Matching matching = matching_maximum(&arena, &pattern);
    assert_matching(&t, &matching);
    assert_int_equal(matching.size, plain_rank(&t, ~0u, ~0u));
    arena_free(&arena);
  }
}

/* The matching begins empty, without the heuristic that finds most of it: this makes long alternating paths. */
static void matcher_grows_to_maximum(void **state) {
  Random random = {.state = 23};
  for (int round = 0; round < 5000; round++) {
    Arena arena = arena_make(arena_of(state)->heap);
    Table t = table_random(&random, draw(&random, 11), draw(&random, SMALL + 3), 5 + draw(&random, 50), 1);
    Pattern pattern = pattern_of(&t);
    Matching matching = matching_empty(&arena, t.m, t.n);
    Matcher matcher = matcher_make(&arena, &pattern, &matching);
    int32_t rows[MOST];
    shuffle(&random, rows, t.m);
    for (int32_t begin = 0, end; begin < t.m; begin = end) {
      end = begin + 1 + draw(&random, t.m - begin);
      unsigned chosen = 0;
      for (int32_t r = 0; r < end; r++) chosen |= 1u << rows[r];
      matcher_grow(&matcher, rows + begin, end - begin, round % 2);
      assert_int_equal(matching.size, plain_rank(&t, chosen, ~0u));
    }
    assert_matching(&t, &matching);
    arena_free(&arena);
  }
}

/* A perfect matching whose value is not the highest has no offsets; one with the highest value gives the smallest ones. */
static void signature_tells_highest_value(void **state) {
  Random random = {.state = 29};
  int highest = 0, lower = 0;
  for (int round = 0; round < 4000; round++) {
    Arena arena = arena_make(arena_of(state)->heap);
    Table t = table_regular(&random, 1 + draw(&random, SMALL), 10 + draw(&random, 60), 1 + draw(&random, 4));
    Incidence incidence = incidence_of(&t);
    Pattern pattern = pattern_of(&t);
    Matching matching = matching_maximum(&arena, &pattern);
    Blocks coarse = blocks_find(&arena, &pattern, &matching);
    Offsets offsets = signature_offsets(&arena, &incidence, &matching, &coarse);
    int32_t row_of[SMALL] = {0}, c[SMALL], d[SMALL], value = 0;
    for (int32_t i = 0; i < t.n; i++) value += t.order[i][matching.column_of_row[i]];
    assert_int_equal(offsets.ok, value == plain_transversal(&t, row_of));
    *(offsets.ok ? &highest : &lower) += 1;
    if (offsets.ok) {
      plain_offsets(&t, row_of, c, d);
      assert_indices(offsets.c, c, t.n, "c");
      assert_indices(offsets.d, d, t.n, "d");
      assert_true(signature_slackness(&incidence, &matching, c, d));
      c[draw(&random, t.n)] += 1;
      assert_false(signature_slackness(&incidence, &matching, c, d));
    }
    arena_free(&arena);
  }
  assert_true(highest > 500 && lower > 500);
}

/* ---- Dulmage-Mendelsohn ---- */

static unsigned bits(const int32_t *index, int32_t n) {
  unsigned set = 0;
  for (int32_t i = 0; i < n; i++) {
    if (i > 0) assert_true(index[i - 1] < index[i]);
    set |= 1u << index[i];
  }
  return set;
}

static int count_bits(unsigned set) {
  int count = 0;
  for (; set; set &= set - 1) count++;
  return count;
}

static unsigned columns_of_rows(const Table *t, unsigned rows) {
  unsigned columns = 0;
  for (int32_t i = 0; i < t->m; i++)
    for (int32_t j = 0; j < t->n; j++)
      if (rows >> i & 1 && t->order[i][j] != ABSENT) columns |= 1u << j;
  return columns;
}

static Table table_transpose(const Table *t) {
  Table r = {.m = t->n, .n = t->m};
  for (int32_t i = 0; i < t->m; i++)
    for (int32_t j = 0; j < t->n; j++) r.order[j][i] = t->order[i][j];
  table_pack(&r);
  return r;
}

/* The fewest rows among the culprits of a component. A culprit is an unmatched row together with matched rows, such that the
 * rest is independent if any one of them is removed. */
static int plain_culprit(const Table *t, const int32_t *partner, unsigned component) {
  unsigned matched = 0;
  int best = INT32_MAX;
  for (int32_t i = 0; i < t->m; i++)
    if (partner[i] != STRUCTURE_NONE) matched |= 1u << i;
  for (int32_t e = 0; e < t->m; e++) {
    if (!((component & ~matched) >> e & 1)) continue;
    unsigned rows = matched | 1u << e;
    int size = 0;
    for (int32_t i = 0; i < t->m; i++)
      if (rows >> i & 1 && plain_rank(t, rows & ~(1u << i), ~0u) == count_bits(matched)) size++;
    best = size < best ? size : best;
  }
  return best;
}

/* Checks components that have too many rows, and that they are all of the rows in `part`. */
static void assert_components(const Table *t, const DulmageComponent *list, int32_t count, bool turned,
                              const int32_t *partner, unsigned part) {
  unsigned seen_rows = 0, seen_columns = 0;
  for (int32_t k = 0; k < count; k++) {
    const DulmageSet *all = &list[k].all, *culprit = &list[k].culprit;
    unsigned all_rows = turned ? bits(all->columns, all->n_columns) : bits(all->rows, all->n_rows);
    unsigned all_columns = turned ? bits(all->rows, all->n_rows) : bits(all->columns, all->n_columns);
    unsigned rows = turned ? bits(culprit->columns, culprit->n_columns) : bits(culprit->rows, culprit->n_rows);
    unsigned columns = turned ? bits(culprit->rows, culprit->n_rows) : bits(culprit->columns, culprit->n_columns);
    assert_int_equal(columns_of_rows(t, all_rows), all_columns);
    assert_false(all_rows & seen_rows || all_columns & seen_columns);
    seen_rows |= all_rows, seen_columns |= all_columns;
    assert_int_equal(list[k].excess, count_bits(all_rows) - count_bits(all_columns));
    /* connected: no proper part of the rows has its columns to itself */
    for (unsigned some = (all_rows - 1) & all_rows; some; some = (some - 1) & all_rows)
      assert_true(columns_of_rows(t, some) & columns_of_rows(t, all_rows & ~some));
    /* a culprit, and minimal */
    assert_false(rows & ~all_rows);
    assert_int_equal(columns_of_rows(t, rows), columns);
    assert_int_equal(count_bits(rows), count_bits(columns) + 1);
    for (int32_t i = 0; i < t->m; i++)
      if (rows >> i & 1) assert_int_equal(plain_rank(t, rows & ~(1u << i), ~0u), count_bits(rows) - 1);
    /* no other if one row is too many, hence smallest */
    for (unsigned some = all_rows; some && list[k].excess == 1; some = (some - 1) & all_rows)
      if (count_bits(columns_of_rows(t, some)) < count_bits(some)) assert_false(rows & ~some);
    assert_int_equal(count_bits(rows), plain_culprit(t, partner, all_rows));
    if (k > 0) {
      int before = turned ? list[k - 1].culprit.n_columns : list[k - 1].culprit.n_rows;
      assert_true(before <= count_bits(rows));
    }
  }
  assert_int_equal(seen_rows, part);
}

/* A row belongs to the over-determined part if some maximum matching leaves it out. */
static unsigned plain_part(const Table *t) {
  unsigned part = 0;
  int rank = plain_rank(t, ~0u, ~0u);
  for (int32_t i = 0; i < t->m; i++)
    if (plain_rank(t, ~(1u << i), ~0u) == rank) part |= 1u << i;
  return part;
}

static void dulmage_against_exhaustion(void **state) {
  Random random = {.state = 31};
  int both = 0, several = 0;
  for (int round = 0; round < 1500; round++) {
    Arena arena = arena_make(arena_of(state)->heap);
    Table t = table_random(&random, draw(&random, 9), draw(&random, 9), 8 + draw(&random, 35), 2);
    if (round % 2) table_scatter(&random, &t);
    Table turned = table_transpose(&t);
    Pattern pattern = pattern_of(&t);
    Matching matching = matching_maximum(&arena, &pattern);
    Dulmage dulmage = dulmage_find(&arena, &pattern, &matching);
    unsigned over = plain_part(&t), under = plain_part(&turned);
    for (int32_t i = 0; i < t.m; i++) {
      bool is_under = columns_of_rows(&turned, under) >> i & 1;
      int kind = over >> i & 1 ? DULMAGE_OVER : is_under ? DULMAGE_UNDER : DULMAGE_WELL;
      assert_int_equal(dulmage.row_kind[i], kind);
    }
    for (int32_t j = 0; j < t.n; j++) {
      bool is_over = columns_of_rows(&t, over) >> j & 1;
      int kind = under >> j & 1 ? DULMAGE_UNDER : is_over ? DULMAGE_OVER : DULMAGE_WELL;
      assert_int_equal(dulmage.column_kind[j], kind);
    }
    assert_components(&t, dulmage.over, dulmage.n_over, false, matching.column_of_row, over);
    assert_components(&turned, dulmage.under, dulmage.n_under, true, matching.row_of_column, under);
    both += over && under;
    several += dulmage.n_over > 1;
    arena_free(&arena);
  }
  assert_true(both > 300 && several > 100);
}

static void assert_set(const DulmageSet *set, const char *rows, const char *columns) {
  char text[2 * MOST] = "";
  for (int32_t i = 0; i < set->n_rows; i++) text[strlen(text)] = (char)('0' + set->rows[i]);
  assert_string_equal(text, rows);
  memset(text, 0, sizeof text);
  for (int32_t j = 0; j < set->n_columns; j++) text[strlen(text)] = (char)('0' + set->columns[j]);
  assert_string_equal(text, columns);
}

static Structure run_text(void **state, const char *text) {
  Table t = table_of(text);
  Incidence incidence = incidence_of(&t);
  return structure_run(arena_of(state), &incidence);
}

static void culprits_are_named(void **state) {
  /* equations 1 and 3 both determine variable 2, and nothing determines variable 3 */
  Structure s = run_text(state, "1.0.; ..0.; 00..; ..0.;");
  assert_int_equal(s.status, STRUCTURE_SINGULAR);
  assert_null(s.c);
  assert_int_equal(s.dulmage.n_over, 1);
  assert_set(&s.dulmage.over[0].culprit, "13", "2");
  assert_int_equal(s.dulmage.n_under, 1);
  assert_set(&s.dulmage.under[0].culprit, "", "3");
  /* three variables are determined by two equations only; the others are well determined */
  s = run_text(state, "1....; 00...; ..000; ..00.;");
  assert_int_equal(s.status, STRUCTURE_UNBALANCED);
  assert_int_equal(s.dulmage.n_over, 0);
  assert_set(&s.dulmage.under[0].culprit, "23", "234");
  assert_int_equal(s.dulmage.row_kind[0], DULMAGE_WELL);
  /* an equation without unknowns comes before a larger culprit */
  s = run_text(state, "00.; 00.; 00.; ...; 1.1;");
  assert_int_equal(s.status, STRUCTURE_UNBALANCED);
  assert_int_equal(s.dulmage.n_over, 2);
  assert_set(&s.dulmage.over[0].culprit, "3", "");
  assert_set(&s.dulmage.over[1].culprit, "012", "01");
  /* of two culprits in one component the smaller is shown, for any matching */
  s = run_text(state, "00..; .00.; 0.00; 000.; ...0; ...0;");
  assert_int_equal(s.dulmage.n_over, 1);
  assert_int_equal(s.dulmage.over[0].excess, 2);
  assert_set(&s.dulmage.over[0].culprit, "45", "3");
  assert_set(&s.dulmage.over[0].all, "012345", "0123");
}

/* Many culprits of all sizes in one component: the search must stay cheap and still find the small one. */
static void culprit_search_is_bounded(void **state) {
  enum { N = 20000 };
  Arena *arena = arena_of(state);
  Builder b = builder_make(arena, 2 * N + 2);
  for (int32_t i = 0; i < N; i++) put(&b, i, 0), put(&b, (i + 1) % N, 0), end_row(&b);
  for (int32_t i = 0; i < N; i++) put(&b, i, 0), put(&b, (i + 7) % N, 0), put(&b, (i * 13) % N, 0), end_row(&b);
  put(&b, 5, 0), end_row(&b);
  put(&b, 5, 0), end_row(&b);
  Incidence incidence = finish(&b);
  incidence.n_variables = N;
  Structure s = structure_run(arena, &incidence);
  assert_int_equal(s.dulmage.n_over, 1);
  assert_int_equal(s.dulmage.over[0].excess, N + 2);
  const DulmageSet *culprit = &s.dulmage.over[0].culprit;
  assert_int_equal(culprit->n_rows, 2);
  assert_int_equal(culprit->rows[1], 2 * N + 1);
}

/* ---- initial values ---- */

enum { X, X1, X2, Y, Y1, Y2, LAMBDA };

/* The derivative array of the pendulum (4.1): a, a', a'', b, c; columns as in the enumeration. */
static const char pendulum_array[] = "0..0...; 00.00..; 000000.; 0.0...0; ...0.00;";

static void pendulum_initial_values(void **state) {
  Arena *arena = arena_of(state);
  Table t = table_of(pendulum_array);
  Pattern array = pattern_of(&t);
  int32_t preference[7] = {[X] = 1, [X1] = 1, [Y] = 2, [Y1] = 2}; /* y and y' are fixed: legal */
  InitialChoice choice = initial_choose(arena, &array, preference);
  assert_true(choice.rows_matched);
  assert_int_equal(choice.n_given, 2);
  assert_true(choice.given[Y] && choice.given[Y1]);
  /* x, y and y' are fixed: one of x and y is redundant, and they clash */
  preference[X] = 2;
  choice = initial_choose(arena, &array, preference);
  assert_int_equal(choice.n_given, 2);
  assert_true(choice.given[Y1] && choice.given[X] != choice.given[Y]);
  int32_t redundant = choice.given[X] ? Y : X, other = X + Y - redundant;
  InitialConflict conflict = initial_conflict(arena, &array, &choice, redundant);
  assert_int_equal(conflict.n_columns, 1);
  assert_int_equal(conflict.columns[0], other);
  assert_int_equal(conflict.n_rows, 1);
  assert_int_equal(conflict.rows[0], 0);
  /* only x is fixed: a velocity completes it, preferred to the acceleration */
  memset(preference, 0, sizeof preference);
  preference[X] = 2;
  preference[X1] = preference[Y1] = 1;
  choice = initial_choose(arena, &array, preference);
  assert_true(choice.given[X] && choice.given[X1] != choice.given[Y1]);
  static const int32_t d[] = {2, 2, 0};
  InitialCandidates candidates = initial_candidates(arena, 3, d);
  assert_int_equal(candidates.count, 4);
  assert_indices(candidates.variable, (const int32_t[]){0, 0, 1, 1}, 4, "variable");
  assert_indices(candidates.order, (const int32_t[]){0, 1, 0, 1}, 4, "order");
}

static bool plain_legal(const Table *t, unsigned given) { return plain_rank(t, ~0u, ~given) == t->m; }

/* The largest sum of preferences of a legal set; all preferences are positive, so it is a largest set. */
static int plain_preference(const Table *t, const int32_t *preference) {
  int best = -1;
  for (unsigned given = 0; given < 1u << t->n; given++) {
    int sum = 0;
    for (int32_t j = 0; j < t->n; j++) sum += given >> j & 1 ? preference[j] : 0;
    if (sum > best && count_bits(given) <= t->n - t->m && plain_legal(t, given)) best = sum;
  }
  return best;
}

static void assert_conflicts(Arena *arena, const Table *t, const InitialChoice *choice, unsigned given) {
  Pattern array = pattern_of(t);
  for (int32_t j = 0; j < t->n; j++) {
    if (choice->given[j]) continue;
    InitialConflict conflict = initial_conflict(arena, &array, choice, j);
    unsigned clash = bits(conflict.columns, conflict.n_columns);
    for (int32_t k = 0; k < t->n; k++)
      if (given >> k & 1) assert_int_equal(clash >> k & 1, plain_legal(t, (given | 1u << j) & ~(1u << k)));
    assert_false(clash & ~given);
    assert_int_equal(columns_of_rows(t, bits(conflict.rows, conflict.n_rows)) & given, clash);
  }
}

static void initial_values_against_exhaustion(void **state) {
  Random random = {.state = 37};
  int full = 0;
  for (int round = 0; round < 1200; round++) {
    Arena arena = arena_make(arena_of(state)->heap);
    int n = 1 + draw(&random, 8), m = draw(&random, n + 1), levels = 1 + draw(&random, 8);
    Table t = table_random(&random, m, n, 20 + draw(&random, 50), 1);
    if (round % 2) table_scatter(&random, &t);
    int32_t preference[MOST];
    for (int32_t j = 0; j < n; j++) preference[j] = 1 + draw(&random, levels);
    Pattern array = pattern_of(&t);
    InitialChoice choice = initial_choose(&arena, &array, preference);
    int rank = plain_rank(&t, ~0u, ~0u), sum = 0;
    unsigned given = 0;
    for (int32_t j = 0; j < n; j++)
      if (choice.given[j]) given |= 1u << j, sum += preference[j];
    assert_int_equal(choice.rows_matched, rank == m);
    assert_int_equal(choice.n_given, n - rank);
    assert_int_equal(count_bits(given), n - rank);
    if (rank == m) {
      full++;
      assert_true(plain_legal(&t, given));
      assert_int_equal(sum, plain_preference(&t, preference));
      assert_conflicts(&arena, &t, &choice, given);
    }
    arena_free(&arena);
  }
  assert_true(full > 300);
}

/* ---- memory ---- */

static void run_everything(Heap *heap) {
  Arena arena = arena_make(heap);
  static const char *const texts[] = {"1.0..; .1.0.; 0.1.0; .0.10; 00...;", "00..; 00..; 00..; ..1.;"};
  for (int k = 0; k < 2; k++) {
    Table t = table_of(texts[k]);
    Incidence incidence = incidence_of(&t);
    structure_run(&arena, &incidence);
  }
  Table t = table_of(pendulum_array);
  Pattern array = pattern_of(&t);
  int32_t preference[7] = {[X] = 1, [Y] = 1};
  InitialChoice choice = initial_choose(&arena, &array, preference);
  initial_conflict(&arena, &array, &choice, choice.given[X] ? Y : X);
}

static void refused_allocations_leave_nothing(void **state) {
  (void)state;
  volatile size_t runs = 0;
  FAIL_ALLOC_EACH(fail) {
    jmp_buf point;
    Heap *heap = heap_new(&fail.hook);
    if (heap && HEAP_TRY(heap, point)) run_everything(heap);
    heap_destroy(heap);
    assert_int_equal(fail.live, 0);
    runs++;
  }
  assert_true(runs > 10);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(papers_examples_permuted),
      TEST(needed_derivatives_keep_differentiations),
      TEST(empty_problem),
      TEST(chain_of_rods),
      TEST(chain_of_derivatives),
      TEST(random_small_against_exhaustion),
      TEST(random_large_against_textbook),
      TEST(permutation_permutes_the_result),
      TEST(equal_input_gives_equal_result),
      TEST(preferred_unknowns_can_be_states),
      TEST(matching_is_of_maximum_size),
      TEST(matcher_grows_to_maximum),
      TEST(signature_tells_highest_value),
      TEST(dulmage_against_exhaustion),
      TEST(culprits_are_named),
      TEST(culprit_search_is_bounded),
      TEST(pendulum_initial_values),
      TEST(initial_values_against_exhaustion),
      TEST(refused_allocations_leave_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
