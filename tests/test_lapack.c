/* LAPACK routines as a model calls them. For every row of the table, the smallest accepted call is found by trying. Starting
 * from this call, every argument is made wrong in turn. LAPACK is not instrumented, so its memory is fenced: each block of the
 * heap ends, or begins,
 * at an inaccessible page, and its slack holds a pattern. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "external/external.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* Arenas poison memory that they have not given out. Reused pages may have belonged to arenas. */
#ifdef DAEDAL_SANITIZE
#include <sanitizer/asan_interface.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#endif

/* ---- fences ---- */

enum { PATTERN = 0xa5, BLOCKS = 256 };

/* Blocks in use, so that patterns can be checked. */
typedef struct Fence {
  bool at_end; /* the block ends at the page after it; otherwise it begins at the page before it */
  struct Block {
    char *pages, *block;
    size_t length, size;
  } blocks[BLOCKS];
} Fence;

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static void *fence_make(Fence *fence, size_t size) {
  size_t page = page_size(), inner = (size + page - 1) / page * page, aligned = (size + 15) / 16 * 16;
  struct Block *block = fence->blocks;
  while (block->pages) assert_true(++block < fence->blocks + BLOCKS);
  block->length = inner + 2 * page;
  block->pages = mmap(NULL, block->length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(block->pages != MAP_FAILED && mprotect(block->pages + page, inner, PROT_READ | PROT_WRITE) == 0);
  ASAN_UNPOISON_MEMORY_REGION(block->pages + page, inner);
  memset(block->pages + page, PATTERN, inner);
  block->size = size;
  block->block = block->pages + page + (fence->at_end ? inner - aligned : 0);
  return block->block;
}

static void check_block(const struct Block *block) {
  size_t page = page_size();
  for (const char *at = block->pages + page; at < block->pages + block->length - page; at++)
    if (at < block->block || at >= block->block + block->size) assert_int_equal(*(const unsigned char *)at, PATTERN);
}

static void *fence_resize(void *context, void *pointer, size_t size) {
  Fence *fence = context;
  struct Block *block = fence->blocks;
  if (!pointer) return size ? fence_make(fence, size) : NULL;
  while (block->block != pointer) assert_true(++block < fence->blocks + BLOCKS);
  check_block(block);
  struct Block old = *block;
  void *moved = NULL;
  if (size) {
    moved = fence_make(fence, size);
    memcpy(moved, pointer, old.size < size ? old.size : size);
  }
  *block = (struct Block){0};
  munmap(old.pages, old.length);
  return moved;
}

/* ---- calls ---- */

enum { ARGUMENTS = 24, NUMBERS = 200, TRIES = 400 };

static const struct Row {
  const char *name, *row;
} rows[] = {
#define LAPACK(name, result, row) {#name, row},
#include "external/functions.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

/* A call as the model makes it. */
typedef struct Case {
  const char *name;
  uint32_t count;
  const char *words[ARGUMENTS]; /* for the row: the text after the name */
  ExternalValue values[ARGUMENTS];
  uint32_t sizes[ARGUMENTS][3];
  double numbers[ARGUMENTS][NUMBERS];
  const char *texts[ARGUMENTS];
  ExternalType result;
} Case;

static uint64_t seed;

static uint32_t draw(uint32_t below) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33) % below;
}

/* Runs a copy of the case; the failure, or "" if there was none. */
static const char *run(const Case *given, bool at_end, char failure[200]) {
  static Fence fence;
  Case *own = malloc(sizeof *own);
  double *arrays[ARGUMENTS] = {NULL}, result = 0;
  bool is_forbidden;
  const char *text = "";
  fence = (Fence){.at_end = at_end};
  Heap *heap = heap_new(&(HeapHook){.resize = fence_resize, .context = &fence});
  Arena arena = arena_make(heap);
  *own = *given;
  ExternalCall call = {.arguments = own->values, .count = own->count, .arena = &arena, .state = external_state(heap)};
  call.function = external_find(heap, (ExternalName){.name = own->name, .is_fortran = true}, NULL, &is_forbidden);
  assert_non_null(call.function);
  for (uint32_t k = 0; k < own->count; k++) {
    ExternalValue *value = &own->values[k];
    value->sizes = own->sizes[k];
    if (value->type == EXTERNAL_TEXT) {
      value->texts = &own->texts[k];
      continue;
    }
    arrays[k] = malloc((value->count + 1) * sizeof(double)); /* not longer, for the address sanitizer */
    memcpy(arrays[k], given->numbers[k], value->count * sizeof(double));
    value->numbers = value->type == EXTERNAL_OBJECT ? NULL : arrays[k];
  }
  call.result = (ExternalValue){.type = own->result, .count = 1};
  if (own->result == EXTERNAL_TEXT) call.result.texts = &text;
  else call.result.numbers = &result;
  bool is_done = external_run(&call);
  snprintf(failure, 200, "%s", is_done ? "" : call.failure);
  assert_true(is_done || *failure);
  for (uint32_t k = 0; k < own->count; k++) free(arrays[k]);
  arena_free(&arena);
  heap_destroy(heap);
  free(own);
  for (uint32_t i = 0; i < BLOCKS; i++) assert_null(fence.blocks[i].pages);
  return failure;
}

/* ---- the smallest call that is accepted ---- */

static bool is_array(const Case *c, uint32_t k) { return strchr("([~#&", *c->words[k]) && *c->words[k]; }
static bool is_text(const Case *c, uint32_t k) { return *c->words[k] == '\''; }
static bool is_real(const Case *c, uint32_t k) { return strchr(".(~", *c->words[k]) && *c->words[k]; }

static double number_for(const Case *c, uint32_t k) {
  if (is_real(c, k)) return (draw(2001) - 1000.0) / 100;
  return *c->words[k] == '{' ? 2.0 * draw(2) - 1 : *c->words[k] == '>' ? 0 : draw(5);
}

static void set_size(Case *c, uint32_t k, uint32_t first, uint32_t second) {
  c->sizes[k][0] = first, c->sizes[k][1] = second;
  c->values[k].count = c->values[k].dimensions == 2 ? first * second : first;
  assert_true(c->values[k].count <= NUMBERS);
}

static void begin(Case *c, const struct Row *row) {
  const char *at = row->row;
  *c = (Case){.name = row->name, .result = strcmp(row->name, "dlange") == 0 ? EXTERNAL_REAL : EXTERNAL_NOTHING};
  for (; *at; c->count++) {
    uint32_t k = c->count, letter;
    size_t name = strcspn(at, " >:{!.'([~#@&"), length = strcspn(at, " ");
    c->words[k] = at + name;
    ExternalValue *value = &c->values[k];
    *value = (ExternalValue){.type = is_text(c, k)   ? EXTERNAL_TEXT
                                     : is_real(c, k) ? EXTERNAL_REAL
                                                     : EXTERNAL_INTEGER,
                             .count = 1,
                             .is_output = true};
    bool is_matrix = *c->words[k] == '(' && at[name + 1 + strcspn(at + name + 1, "(,)")] == ',';
    if (is_array(c, k)) value->dimensions = is_matrix ? 2 : 1, value->count = 0;
    for (uint32_t i = 0; i < NUMBERS; i++) c->numbers[k][i] = number_for(c, k);
    if (is_text(c, k)) {
      static char letters[26][2];
      uint32_t count = (uint32_t)strcspn(c->words[k] + 1, "'");
      letter = count ? draw(count) : 0;
      char chosen = c->words[k][1 + letter];
      if (chosen >= 'A' && chosen <= 'Z') snprintf(letters[chosen - 'A'], 2, "%c", chosen);
      c->texts[k] = !count ? " " : chosen == '1' ? "1" : letters[chosen - 'A'];
    }
    at += length;
    at += *at == ' ';
  }
}

/* The argument that gives the first size of a matrix. */
static uint32_t leading_of(const Case *c, const struct Row *row, uint32_t k) {
  const char *at = row->row, *name = c->words[k] + 1;
  size_t length = strcspn(name, ",");
  for (uint32_t i = 0;; i++) {
    if (strncmp(at, name, length) == 0 && at[length] == '>') return i;
    at += strcspn(at, " ") + 1;
  }
}

/* Makes the refused argument larger by one, or gives it another value. */
static void grow(Case *c, const struct Row *row, uint32_t k, const char *failure) {
  uint32_t *sizes = c->sizes[k];
  double *numbers = c->numbers[k];
  if (*c->words[k] == '>') numbers[0]++;
  else if (!is_array(c, k)) numbers[0] = number_for(c, k);
  else if (strstr(failure, "size")) {
    if (c->values[k].dimensions == 2) set_size(c, k, (uint32_t)c->numbers[leading_of(c, row, k)][0], sizes[1] + 1);
    else set_size(c, k, sizes[0] + 1, 0);
  } else if (strstr(failure, "triangular")) {
    for (uint32_t i = 1; i < sizes[0]; i++)
      for (uint32_t j = 0; j < i && j < sizes[1]; j++) numbers[i * sizes[1] + j] = 0;
  } else {
    uint32_t most = draw(2) ? 2 : 1 + c->values[k].count;
    for (uint32_t i = 0; i < NUMBERS; i++) numbers[i] = draw(most) + (draw(2) && most > 2 ? 1 : 0);
    for (uint32_t i = 0; i < NUMBERS; i++)
      if (most > 2 && (numbers[i] < 1 || numbers[i] > c->values[k].count)) numbers[i] = c->values[k].count;
  }
}

/* false: none was found within the allowed tries. */
static bool find_accepted(Case *c, const struct Row *row) {
  char failure[200];
  begin(c, row);
  for (int tries = 0; tries < TRIES; tries++) {
    unsigned position;
    run(c, true, failure);
    if (!*failure) return true;
    if (sscanf(failure, "argument %u of", &position) != 1) fail_msg("%s: %s", row->name, failure);
    assert_true(position >= 1 && position <= c->count);
    grow(c, row, position - 1, failure);
  }
  return false;
}

/* ---- wrong arguments ---- */

typedef enum Expect { REFUSED, EITHER } Expect;

static uint32_t calls, refused;

static void try_both(const Case *c, Expect expect, uint32_t k, const char *what) {
  char failure[200];
  bool is_refused = false;
  for (int at_end = 0; at_end < 2 && !is_refused; at_end++) { /* a refused call never reaches a fence */
    run(c, at_end, failure);
    is_refused = *failure;
    calls++, refused += is_refused;
    if (expect == REFUSED && !is_refused) fail_msg("%s: argument %u, %s: accepted", c->name, k + 1, what);
  }
}

/* Does the routine read the numbers of this argument? */
static bool is_read(const Case *c, uint32_t k) {
  const char *word = c->words[k];
  size_t length = strcspn(word, " ");
  return !strchr("~#&", *word) && !memchr(word, '!', length) && strncmp(word, "''", 2) != 0;
}

static void try_types(const Case *c, Case *w, uint32_t k) {
  static const ExternalType types[] = {EXTERNAL_REAL, EXTERNAL_INTEGER, EXTERNAL_TEXT, EXTERNAL_OBJECT,
                                       EXTERNAL_NOTHING};
  for (uint32_t i = 0; i < 5; i++) {
    if (types[i] == c->values[k].type) continue;
    *w = *c;
    w->values[k].type = types[i];
    w->texts[k] = "N";
    if (types[i] == EXTERNAL_TEXT) w->values[k].dimensions = 0, w->values[k].count = 1;
    try_both(w, REFUSED, k, "another type");
  }
  for (uint32_t dimensions = 0; dimensions < 4; dimensions++) {
    if (dimensions == c->values[k].dimensions) continue;
    *w = *c;
    w->values[k].dimensions = dimensions;
    for (uint32_t d = 0; d < 3; d++) w->sizes[k][d] = d < dimensions ? 1 : 0;
    w->values[k].count = 1;
    try_both(w, dimensions > 2 || !is_array(c, k) ? REFUSED : EITHER, k, "other dimensions");
  }
}

static void try_sizes(const Case *c, Case *w, uint32_t k) {
  bool is_workspace = strchr("~#&", *c->words[k]);
  for (uint32_t d = 0; d < c->values[k].dimensions; d++) {
    *w = *c;
    if (c->values[k].count) {
      uint32_t rows_left = c->sizes[k][0] - (d == 0), columns = c->sizes[k][1] - (d == 1);
      set_size(w, k, rows_left, columns);
      try_both(w, is_workspace ? EITHER : REFUSED, k, "one less");
      *w = *c;
      set_size(w, k, 0, 0);
      try_both(w, is_workspace ? EITHER : REFUSED, k, "empty");
    }
    *w = *c;
    set_size(w, k, c->sizes[k][0] + (d == 0), c->sizes[k][1] + (d == 1));
    try_both(w, EITHER, k, "one more");
    *w = *c;
    if (c->values[k].dimensions == 2) set_size(w, k, c->sizes[k][1], c->sizes[k][0]);
    try_both(w, EITHER, k, "transposed");
  }
}

static void try_numbers(const Case *c, Case *w, uint32_t k) {
  static const double wrong[] = {
      -1,     -2,     -2147483648.0, -2147483649.0, 2147483647, 2147483648.0, 4294967296.0, 1e18, -1e18, 1e308,
      -1e308, NAN,    INFINITY,      -INFINITY,     0x1p24,     0x1p24 + 1,   500,          0,    1,     2,
      3,      5e-324, 46341,         65536};
  uint32_t count = c->values[k].count;
  char kind = *c->words[k];
  bool is_size = !kind || kind == ' ' || kind == '>';
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong && count; i++)
    for (uint32_t element = 0; element<count; element += count> 1 ? count - 1 : 1) {
      *w = *c;
      w->numbers[k][element] = wrong[i];
      bool must = is_read(c, k) && (!isfinite(wrong[i]) || (is_size && (wrong[i] < 0 || wrong[i] > 0x1p24)));
      try_both(w, must ? REFUSED : EITHER, k, "another number");
    }
  for (int i = 0; i < 3 && count > 1 && is_real(c, k); i++) { /* overflow within */
    *w = *c;
    for (uint32_t element = 0; element < count; element++)
      w->numbers[k][element] = i == 0 ? 0 : ldexp(draw(2) ? 1 : -1, i == 1 ? 1023 : (int)draw(2000) - 1000);
    try_both(w, EITHER, k, "extreme numbers");
  }
}

static void try_texts(const Case *c, Case *w, uint32_t k) {
  static const char *const texts[] = {"", "Z", "\x80", "n", "NNNNNNNN", "O", "A", " "};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    *w = *c;
    w->texts[k] = texts[i];
    try_both(w, i < 3 && is_read(c, k) ? REFUSED : EITHER, k, "another text");
  }
}

static void try_argument(const Case *c, Case *w, uint32_t k) {
  try_types(c, w, k);
  try_sizes(c, w, k);
  if (is_text(c, k)) try_texts(c, w, k);
  else try_numbers(c, w, k);
  *w = *c;
  w->values[k].is_output = !w->values[k].is_output;
  try_both(w, EITHER, k, "not taken");
  for (uint32_t other = 0; other < c->count; other++) { /* the argument that belongs at another place */
    if (other == k) continue;
    *w = *c;
    w->values[k] = c->values[other];
    w->texts[k] = c->texts[other];
    memcpy(w->sizes[k], c->sizes[other], sizeof w->sizes[k]);
    memcpy(w->numbers[k], c->numbers[other], sizeof w->numbers[k]);
    try_both(w, EITHER, k, "that of another place");
  }
}

static void try_call(const Case *c, Case *w) {
  static const ExternalType types[] = {EXTERNAL_NOTHING, EXTERNAL_REAL, EXTERNAL_INTEGER, EXTERNAL_TEXT};
  for (uint32_t i = 0; i < 4; i++) {
    *w = *c;
    w->result = types[i];
    try_both(w, types[i] == c->result ? EITHER : REFUSED, 0, "another result");
  }
  for (uint32_t count = 0; count <= c->count + 1 && count < ARGUMENTS; count++) {
    *w = *c;
    w->count = count;
    try_both(w, count == c->count ? EITHER : REFUSED, count, "another number of arguments");
  }
}

static void test_every_argument_wrong(void **state) {
  Case *accepted = *state, *wrong = accepted + 1;
  calls = refused = 0;
  for (uint32_t r = 0; r < ROWS; r++) {
    uint32_t found = 0;
    for (uint32_t round = 0; round < 8; round++) {
      seed = 1000 * r + round;
      if (!find_accepted(accepted, &rows[r])) continue;
      try_both(accepted, EITHER, 0, "as it is");
      if (found++) continue; /* after the first accepted call, only the edges of the arrays are tried */
      try_call(accepted, wrong);
      for (uint32_t k = 0; k < accepted->count; k++) try_argument(accepted, wrong, k);
    }
    if (!found) fail_msg("%s: no accepted call found", rows[r].name);
  }
  print_message("%u calls of %d routines, %u refused\n", calls, ROWS, refused);
}

/* Several arguments wrong at once. */
static void test_random_calls(void **state) {
  Case *accepted = *state, *wrong = accepted + 1;
  for (uint32_t r = 0; r < ROWS; r++) {
    seed = 77 + r;
    if (!find_accepted(accepted, &rows[r])) continue;
    for (int i = 0; i < 100; i++) {
      *wrong = *accepted;
      for (uint32_t changes = 1 + draw(3); changes; changes--) {
        uint32_t k = draw(wrong->count);
        if (is_array(wrong, k)) set_size(wrong, k, draw(6), draw(6));
        else if (!is_text(wrong, k)) wrong->numbers[k][0] = (double)draw(8) - 2;
        else wrong->texts[k] = draw(2) ? "V" : "T";
      }
      try_both(wrong, EITHER, 0, "several changes");
    }
  }
}

static int setup(void **state) {
  *state = malloc(2 * sizeof(Case));
  return *state ? 0 : -1;
}

static int teardown(void **state) {
  free(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_every_argument_wrong, setup, teardown),
      cmocka_unit_test_setup_teardown(test_random_calls, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
