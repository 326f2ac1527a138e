/* The base layer: heap, arena, vectors, map, names, diagnostics, sources; and a run through all of it in which each allocation
 * is refused once. */
#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/pairs.h"
#include "base/vec.h"
#include "fail_alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A heap whose refusals fail the test: every case without its own refusals starts here. */
typedef struct Fixture {
  FailAlloc fail;
  Heap *heap;
} Fixture;

static int set_up(void **state) {
  Fixture *fixture = calloc(1, sizeof *fixture);
  if (!fixture) return -1;
  fail_alloc_begin(&fixture->fail);
  fixture->heap = heap_new(&fixture->fail.hook);
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

static Heap *heap_of(void **state) { return ((Fixture *)*state)->heap; }

/* ---- heap ---- */

static void heap_zeroes_and_counts(void **state) {
  Heap *heap = heap_of(state);
  size_t before = heap_bytes(heap);
  unsigned char *block = heap_alloc(heap, 100);
  for (int i = 0; i < 100; i++) assert_int_equal(block[i], 0);
  assert_int_equal((uintptr_t)block % _Alignof(max_align_t), 0);
  memset(block, 7, 100);
  block = heap_resize(heap, block, 5000);
  for (int i = 0; i < 100; i++) assert_int_equal(block[i], 7);
  assert_true(heap_bytes(heap) - before >= 5000);
  block = heap_resize(heap, block, 10);
  assert_true(heap_bytes(heap) - before < 200);
  heap_free(heap, block);
  heap_free(heap, NULL);
  assert_int_equal(heap_bytes(heap), before);
}

static void heap_empty_blocks_are_distinct(void **state) {
  Heap *heap = heap_of(state);
  void *first = heap_alloc(heap, 0);
  void *second = heap_alloc(heap, 0);
  assert_non_null(first);
  assert_ptr_not_equal(first, second);
}

static void heap_refuses_overflow(void **state) {
  Heap *heap = heap_of(state);
  jmp_buf point;
  volatile int refused = 0;
  if (HEAP_TRY(heap, point)) heap_array(heap, SIZE_MAX / 4, 8);
  else refused++;
  if (HEAP_TRY(heap, point)) heap_alloc(heap, SIZE_MAX - 8);
  else refused++;
  if (HEAP_TRY(heap, point)) heap_alloc(heap, (size_t)PTRDIFF_MAX);
  else refused++;
  assert_int_equal(refused, 3);
}

/* A text that would grow beyond its limit is refused; its length never wraps. */
static void texts_refuse_to_wrap(void **state) {
  Heap *heap = heap_of(state);
  jmp_buf point;
  volatile int refused = 0;
  TextVec text = {.count = INT32_MAX - 3, .capacity = INT32_MAX - 3}; /* as if the text were that long */
  if (HEAP_TRY(heap, point)) text_append(heap, &text, "abcdef", 6);
  else refused++;
  if (HEAP_TRY(heap, point)) text_printf(heap, &text, "%s", "abcdef");
  else refused++;
  if (HEAP_TRY(heap, point)) text_append(heap, &text, "", (size_t)INT32_MAX + 5);
  else refused++;
  assert_int_equal(refused, 3);
}

static void printable_texts(void **state) {
  Arena arena = arena_make(heap_of(state));
  assert_string_equal(arena_printable(&arena, "body.r[1] \u00fc"), "body.r[1] \u00fc");
  assert_string_equal(arena_printable(&arena, "a\nb\x1b[2J\x7f\xc2\x9b"), "a\\nb\\x1b[2J\\x7f\\x9b");
  arena_free(&arena);
}

static void heap_keeps_a_block_that_cannot_grow(void **state) {
  Fixture *fixture = *state;
  char *block = heap_alloc(fixture->heap, 10);
  memcpy(block, "unchanged", 10);
  jmp_buf point;
  fixture->fail.refuse = fixture->fail.count + 1;
  if (HEAP_TRY(fixture->heap, point)) {
    heap_resize(fixture->heap, block, 100000);
    fail_msg("the refusal did not arrive");
  }
  assert_string_equal(block, "unchanged");
  block = heap_resize(fixture->heap, block, 100000);
  assert_string_equal(block, "unchanged");
}

static void heap_catch_nests(void **state) {
  Heap *heap = heap_of(state);
  jmp_buf outer, inner;
  volatile int path = 0;
  if (HEAP_TRY(heap, outer)) {
    jmp_buf *before = heap_set_catch(heap, &inner);
    assert_ptr_equal(before, &outer);
    if (setjmp(inner) == 0) heap_fail(heap);
    path = 1;
    assert_ptr_equal(heap_set_catch(heap, before), &inner);
    heap_fail(heap);
  }
  assert_int_equal(path, 1);
}

/* ---- a heap within a heap ---- */

static void heap_within_goes_early_or_with_the_outer_one(void **state) {
  Heap *outer = heap_of(state);
  void *early, *late;
  size_t before = heap_bytes(outer);
  heap_alloc(heap_within(outer, &early), 100);
  heap_release(outer, early);
  assert_int_equal(heap_bytes(outer), before);
  heap_alloc(heap_within(outer, &late), 100);
}

static void heap_within_refuses_to_the_outer_catch(void **state) {
  Heap *outer = heap_of(state);
  jmp_buf point;
  void *ticket;
  volatile bool caught = false;
  jmp_buf *before = heap_set_catch(outer, &point);
  if (setjmp(point) == 0) heap_fail(heap_within(outer, &ticket));
  else caught = true;
  heap_set_catch(outer, before);
  assert_true(caught);
}

/* A foreign object: its release reads a heap block and records the order. */
typedef struct Foreign {
  const int *block;
  int *log;
  int *released;
} Foreign;

static void foreign_release(void *object) {
  Foreign *foreign = object;
  foreign->log[(*foreign->released)++] = *foreign->block;
}

static void heap_releases_last_first_and_before_blocks(void **state) {
  (void)state;
  Heap *heap = heap_new(NULL);
  int log[3] = {0}, released = 0;
  Foreign foreign[3];
  int *blocks[3];
  for (int i = 0; i < 3; i++) {
    blocks[i] = heap_alloc(heap, sizeof(int));
    foreign[i] = (Foreign){NULL, log, &released};
    heap_defer(heap, foreign_release, &foreign[i]);
  }
  for (int i = 0; i < 3; i++) { /* a block that grew after the registration must still exist */
    blocks[i] = heap_resize(heap, blocks[i], 1000);
    *blocks[i] = i + 1;
    foreign[i].block = blocks[i];
  }
  heap_destroy(heap);
  assert_int_equal(released, 3);
  for (int i = 0; i < 3; i++) assert_int_equal(log[i], 3 - i);
}

static void heap_release_runs_once(void **state) {
  (void)state;
  Heap *heap = heap_new(NULL);
  int log[2] = {0}, released = 0, value = 5;
  Foreign foreign = {&value, log, &released};
  void *ticket = heap_defer(heap, foreign_release, &foreign);
  heap_release(heap, ticket);
  heap_release(heap, NULL);
  assert_int_equal(released, 1);
  heap_destroy(heap);
  assert_int_equal(released, 1);
}

static void heap_defer_releases_when_refused(void **state) {
  Fixture *fixture = *state;
  int log[2] = {0}, value = 5;
  int released = 0;
  Foreign foreign = {&value, log, &released};
  jmp_buf point;
  fixture->fail.refuse = fixture->fail.count + 1;
  if (HEAP_TRY(fixture->heap, point)) {
    heap_defer(fixture->heap, foreign_release, &foreign);
    fail_msg("the refusal did not arrive");
  }
  assert_int_equal(*(volatile int *)&released, 1);
}

static void heap_destroy_takes_null(void **state) {
  (void)state;
  heap_destroy(NULL);
}

/* ---- arena ---- */

static void arena_objects_do_not_overlap(void **state) {
  Arena arena = arena_make(heap_of(state));
  enum { COUNT = 3000 };
  static const size_t sizes[] = {1, 16, 0, 3, 5000, 17, 200, 70000};
  unsigned char *objects[COUNT];
  for (int i = 0; i < COUNT; i++) {
    size_t size = sizes[i % 8];
    objects[i] = arena_alloc(&arena, size);
    assert_int_equal((uintptr_t)objects[i] % _Alignof(double), 0);
    for (size_t k = 0; k < size; k++) assert_int_equal(objects[i][k], 0);
    memset(objects[i], i & 0xff, size);
  }
  for (int i = 0; i < COUNT; i++)
    for (size_t k = 0; k < sizes[i % 8]; k++)
      if (objects[i][k] != (i & 0xff)) fail_msg("object %d was overwritten", i);
}

static void arena_free_gives_all_back(void **state) {
  Heap *heap = heap_of(state);
  size_t before = heap_bytes(heap);
  Arena arena = arena_make(heap);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 1000; i++) arena_array(&arena, 10, 8);
    assert_true(heap_bytes(heap) - before >= 80000);
    arena_free(&arena);
    assert_int_equal(heap_bytes(heap), before);
  }
}

static void arena_wastes_little(void **state) {
  Heap *heap = heap_of(state);
  size_t before = heap_bytes(heap), asked = 0;
  Arena arena = arena_make(heap);
  for (int i = 0; i < 20000; i++, asked += 256) arena_alloc(&arena, 256);
  assert_true(heap_bytes(heap) - before < asked + asked / 2);
}

static void arena_text(void **state) {
  Arena arena = arena_make(heap_of(state));
  assert_string_equal(arena_copy(&arena, "pendulum", 4), "pend");
  assert_string_equal(arena_copy(&arena, NULL, 0), "");
  assert_string_equal(arena_printf(&arena, "%s=%d", "index", 3), "index=3");
  assert_string_equal(arena_printf(&arena, "%s", ""), "");
  char *wide = arena_printf(&arena, "%*d", 10000, 7);
  assert_int_equal(strlen(wide), 10000);
}

static void arena_refuses_overflow(void **state) {
  Arena arena = arena_make(heap_of(state));
  jmp_buf point;
  volatile int refused = 0;
  if (HEAP_TRY(arena.heap, point)) arena_array(&arena, SIZE_MAX / 2, 3);
  else refused++;
  if (HEAP_TRY(arena.heap, point)) arena_alloc(&arena, SIZE_MAX);
  else refused++;
  if (HEAP_TRY(arena.heap, point)) arena_alloc(&arena, SIZE_MAX - 64);
  else refused++;
  assert_int_equal(refused, 3);
}

/* ---- vectors ---- */

static void vec_keeps_order(void **state) {
  Heap *heap = heap_of(state);
  IndexVec list = {0};
  for (uint32_t i = 0; i < 1000; i++) vec_push(heap, &list, i * i);
  assert_int_equal(list.count, 1000);
  for (uint32_t i = 0; i < 1000; i++) assert_int_equal(list.data[i], i * i);
  assert_int_equal(vec_last(&list), 999 * 999);
  assert_int_equal(vec_pop(&list), 999 * 999);
  assert_int_equal(list.count, 999);
  vec_free(heap, &list);
  assert_null(list.data);
  assert_int_equal(list.count + list.capacity, 0);
}

static void vec_pushes_its_own_element(void **state) {
  Heap *heap = heap_of(state);
  IntVec list = {0};
  vec_push(heap, &list, 41);
  for (int i = 0; i < 1000; i++) vec_push(heap, &list, list.data[0]); /* even when the data moves */
  assert_int_equal(vec_last(&list), 41);
}

static void vec_takes_structs(void **state) {
  Heap *heap = heap_of(state);
  VEC(Span) spans = {0};
  vec_push(heap, &spans, (Span){3, 4});
  assert_int_equal(spans.data[0].end, 4);
}

static void vec_extends(void **state) {
  Heap *heap = heap_of(state);
  IntVec list = {0};
  vec_push(heap, &list, 1);
  int32_t *more = vec_extend(heap, &list, 100);
  for (int i = 0; i < 100; i++) more[i] = i;
  assert_int_equal(list.count, 101);
  assert_ptr_equal(more, list.data + 1);
  assert_int_equal(list.data[100], 99);
}

static void vec_refuses_too_many(void **state) {
  Heap *heap = heap_of(state);
  IntVec list = {0};
  vec_push(heap, &list, 1);
  jmp_buf point;
  if (HEAP_TRY(heap, point)) {
    vec_reserve(heap, &list, UINT32_MAX - 1);
    fail_msg("the refusal did not arrive");
  }
  assert_int_equal(list.data[0], 1);
}

static void text_grows(void **state) {
  Heap *heap = heap_of(state);
  TextVec text = {0};
  text_append(heap, &text, "", 0);
  assert_string_equal(text.data, "");
  for (int i = 0; i < 500; i++) {
    text_append(heap, &text, "ab", 2);
    text_printf(heap, &text, "%d;", i % 10);
  }
  assert_int_equal(text.count, 500 * 4);
  assert_int_equal(strlen(text.data), text.count);
  assert_memory_equal(text.data, "ab0;ab1;ab2;", 12);
}

/* ---- map and names ---- */

/* Compares with a plain array: a fixed mixing spreads the keys, so that keys added one after another are not neighbours in the
 * table. */
static void map_agrees_with_an_array(void **state) {
  Map map = map_make(heap_of(state));
  enum { KEYS = 5000 };
  uint32_t expected[KEYS];
  for (uint32_t i = 0; i < KEYS; i++) expected[i] = MAP_NONE;
  assert_int_equal(map_get(&map, 0), MAP_NONE);
  for (uint32_t step = 0; step < 20000; step++) {
    uint32_t key = (uint32_t)(hash_mix(step) % KEYS);
    expected[key] = step;
    map_put(&map, (uint64_t)key << 33, step);
  }
  uint32_t present = 0;
  for (uint32_t i = 0; i < KEYS; i++) {
    assert_int_equal(map_get(&map, (uint64_t)i << 33), expected[i]);
    present += expected[i] != MAP_NONE;
  }
  assert_int_equal(map.count, present);
  assert_int_equal(map_get(&map, UINT64_MAX), MAP_NONE);
  map_free(&map);
  assert_int_equal(map_get(&map, 0), MAP_NONE);
  map_put(&map, 0, 9);
  assert_int_equal(map_get(&map, 0), 9);
}

static void names_are_interned(void **state) {
  Names names = names_make(heap_of(state));
  assert_int_equal(names_add(&names, "", 0), 0);
  assert_int_equal(names_find(&names, "x", 1), MAP_NONE);
  char text[16];
  for (uint32_t i = 0; i < 5000; i++) {
    int length = snprintf(text, sizeof text, "v%u", i);
    assert_int_equal(names_add(&names, text, (size_t)length), i + 1);
  }
  const char *first = names_text(&names, 1);
  for (uint32_t i = 0; i < 5000; i++) {
    int length = snprintf(text, sizeof text, "v%u", i);
    assert_int_equal(names_find(&names, text, (size_t)length), i + 1);
    assert_int_equal(names_add(&names, text, (size_t)length), i + 1);
    assert_string_equal(names_text(&names, i + 1), text);
    assert_int_equal(names_length(&names, i + 1), length);
  }
  assert_ptr_equal(names_text(&names, 1), first);
  names_free(&names);
}

static void names_tell_bytes_apart(void **state) {
  Names names = names_make(heap_of(state));
  Name plain = names_add(&names, "ab", 2);
  Name with_zero = names_add(&names, "ab\0", 3);
  Name longer = names_add(&names, "ab\0\0\0\0\0\0", 8);
  assert_true(plain != with_zero && with_zero != longer && plain != longer);
  assert_int_equal(names_length(&names, with_zero), 3);
  assert_int_equal(names_find(&names, "abc", 2), plain);
}

/* ---- diagnostics and sources ---- */

static void diags_keep_order_code_and_notes(void **state) {
  Diags diags = diags_make(heap_of(state));
  assert_int_equal(diags_code(&diags), DIAG_NONE);
  diag_warning(&diags, DIAG_WARNING, (Span){0, 1}, "unused %s", "x");
  assert_int_equal(diags_code(&diags), DIAG_NONE);
  Diag *diag = diag_error(&diags, DIAG_STRUCTURE, (Span){4, 9}, "%d equations", 3);
  diag_note(&diags, diag, (Span){1, 2}, "see %s", "there");
  diag_note(&diags, diag, (Span){0}, "remove one");
  diag_error(&diags, DIAG_INPUT, (Span){0}, "later");
  assert_int_equal(diags_code(&diags), DIAG_STRUCTURE);
  assert_int_equal(diags.list.count, 3);
  assert_int_equal(diags.errors, 2);
  const Diag *second = &diags.list.data[1];
  assert_string_equal(diags.list.data[0].message, "unused x");
  assert_string_equal(second->message, "3 equations");
  assert_int_equal(second->span.begin, 4);
  assert_int_equal(second->notes.count, 2);
  assert_string_equal(second->notes.data[0].message, "see there");
  assert_int_equal(second->notes.data[0].span.end, 2);
}

static void diags_beyond_the_limit_take_no_memory(void **state) {
  Heap *heap = heap_of(state);
  Diags diags = diags_make(heap);
  for (uint32_t i = 0; i < diags.limit; i++) diag_error(&diags, DIAG_INPUT, (Span){i, i}, "error %u", i);
  size_t full = heap_bytes(heap);
  for (int i = 0; i < 100000; i++) {
    Diag *diag = diag_error(&diags, DIAG_INPUT, (Span){0}, "error %d too many", i);
    diag_note(&diags, diag, (Span){0}, "a note on it");
  }
  assert_int_equal(heap_bytes(heap), full);
  assert_int_equal(diags.list.count, diags.limit);
  assert_int_equal(diags.errors, diags.limit + 100000);
}

static void source_finds_lines_and_columns(void **state) {
  static const char text[] = "model M\n\n  x = \xc3\xa4\xe2\x82\xac + 1;\r\nend";
  Source source = source_make(heap_of(state), "M.mo", text, sizeof text - 1);
  static const struct {
    uint32_t offset, line, column;
  } places[] = {
      {0, 1, 1},  {6, 1, 7},   {7, 1, 8}, /* the newline belongs to its line */
      {8, 2, 1},  {9, 3, 1},   {11, 3, 3}, {15, 3, 7}, {17, 3, 8},
      {20, 3, 9}, {21, 3, 10}, {27, 4, 1}, {30, 4, 4}, {9999, 4, 4},
  };
  assert_int_equal(text[27], 'e');
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    assert_int_equal(source_line(&source, places[i].offset), places[i].line);
    assert_int_equal(source_column(&source, places[i].offset), places[i].column);
  }
}

static void source_may_be_empty(void **state) {
  Source source = source_make(heap_of(state), "", "", 0);
  assert_int_equal(source_line(&source, 0), 1);
  assert_int_equal(source_column(&source, 0), 1);
}

static void source_tells_files_apart(void **state) {
  Arena arena = arena_make(heap_of(state));
  Source source = source_make(heap_of(state), "A.mo", "a\nb", 3);
  assert_int_equal(source_add(&source, "B.mo", "", 0), 1);
  assert_int_equal(source_add(&source, "C.mo",
                              "c\n\xc3\xa4"
                              "d",
                              5),
                   2);
  static const struct {
    uint32_t offset, line, column;
    const char *path;
  } places[] = {{2, 2, 1, "A.mo"}, {3, 2, 2, "A.mo"}, {4, 1, 1, "B.mo"}, {5, 1, 1, "C.mo"},
                {7, 2, 1, "C.mo"}, {9, 2, 2, "C.mo"}, {10, 2, 3, "C.mo"}};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    assert_string_equal(source_file(&source, places[i].offset)->path, places[i].path);
    assert_int_equal(source_line(&source, places[i].offset), places[i].line);
    assert_int_equal(source_column(&source, places[i].offset), places[i].column);
  }
  assert_string_equal(source_text(&source, 9), "d");
  assert_string_equal(source_place(&source, (Span){2, 3}, &arena), "line 2");
  assert_string_equal(source_place(&source, (Span){9, 10}, &arena), "line 2 of C.mo");
  assert_true(source_holds(&source, (Span){10, 11}) && !source_holds(&source, (Span){11, 12}));
  assert_int_equal(source_add(&source, "D.mo", "", INT32_MAX - 10), UINT32_MAX);
}

/* ---- each allocation refused once ---- */

static void count_release(void *object) { --*(int *)object; }

/* A bit of everything that allocates; `open` counts foreign objects not yet released. */
static void scripted_run(Heap *heap, int *open) {
  Names names = names_make(heap);
  Map map = map_make(heap);
  Arena arena = arena_make(heap);
  Diags diags = diags_make(heap);
  TextVec text = {0};
  for (uint32_t i = 0; i < 100; i++) {
    Name name = names_add(&names, arena_printf(&arena, "x%u", i), i < 10 ? 2 : 3);
    map_put(&map, name, i);
    text_printf(heap, &text, "%s,", names_text(&names, name));
    if (i % 10) continue;
    ++*open;
    void *ticket = heap_defer(heap, count_release, open);
    if (i % 20) heap_release(heap, ticket);
    diag_note(&diags, diag_error(&diags, DIAG_INPUT, (Span){0}, "%s", text.data), (Span){0}, "note %u", i);
  }
  source_make(heap, "", text.data, text.count);
  arena_alloc(&arena, 100000);
  names_free(&names);
  map_free(&map);
  arena_free(&arena);
}

/* Like a public entry point: returns true if the run was completed. */
static bool guarded_run(const HeapHook *hook, int *open) {
  Heap *heap = heap_new(hook);
  if (!heap) return false;
  jmp_buf point;
  volatile bool done = false;
  if (HEAP_TRY(heap, point)) {
    scripted_run(heap, open);
    done = true;
  }
  heap_destroy(heap);
  return done;
}

static void no_refusal_leaks(void **state) {
  (void)state;
  size_t runs = 0;
  FAIL_ALLOC_EACH(fail) {
    int open = 0;
    bool done = guarded_run(&fail.hook, &open);
    assert_int_equal(done, fail.refuse == 0);
    assert_int_equal(fail.refused, fail.refuse != 0);
    assert_int_equal(fail.live, 0);
    assert_int_equal(open, 0);
    runs++;
  }
  assert_true(runs > 20);
}

/* ---- pairs ---- */

static void pairs_sum_vectors(void **state) {
  (void)state;
  enum { MOST = 21, VECTORS = 4 };
  double values[VECTORS][MOST], sum[MOST + 1];
  const double *from[VECTORS], factor[VECTORS] = {0.5, -2, 3, 0.25};
  for (int k = 0; k < VECTORS; k++) {
    from[k] = values[k];
    for (int i = 0; i < MOST; i++) values[k][i] = i * i - 7 * k;
  }
  for (int32_t count = 0; count <= MOST; count++)
    for (int vectors = 0; vectors <= VECTORS; vectors++) {
      sum[count] = 12345;
      set_to_sum(sum, from, factor, vectors, count);
      for (int32_t i = 0; i < count; i++) {
        double expected = 0;
        for (int k = 0; k < vectors; k++) expected += factor[k] * values[k][i];
        assert_true(sum[i] == expected);
      }
      assert_true(sum[count] == 12345);
    }
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      CASE(heap_zeroes_and_counts),
      CASE(heap_empty_blocks_are_distinct),
      CASE(heap_refuses_overflow),
      CASE(texts_refuse_to_wrap),
      CASE(printable_texts),
      CASE(heap_keeps_a_block_that_cannot_grow),
      CASE(heap_catch_nests),
      CASE(heap_within_goes_early_or_with_the_outer_one),
      CASE(heap_within_refuses_to_the_outer_catch),
      CASE(heap_releases_last_first_and_before_blocks),
      CASE(heap_release_runs_once),
      CASE(heap_defer_releases_when_refused),
      CASE(heap_destroy_takes_null),
      CASE(arena_objects_do_not_overlap),
      CASE(arena_free_gives_all_back),
      CASE(arena_wastes_little),
      CASE(arena_text),
      CASE(arena_refuses_overflow),
      CASE(vec_keeps_order),
      CASE(vec_pushes_its_own_element),
      CASE(vec_takes_structs),
      CASE(vec_extends),
      CASE(vec_refuses_too_many),
      CASE(text_grows),
      CASE(map_agrees_with_an_array),
      CASE(names_are_interned),
      CASE(names_tell_bytes_apart),
      CASE(diags_keep_order_code_and_notes),
      CASE(diags_beyond_the_limit_take_no_memory),
      CASE(source_finds_lines_and_columns),
      CASE(source_may_be_empty),
      CASE(source_tells_files_apart),
      CASE(pairs_sum_vectors),
      CASE(no_refusal_leaks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
