/* The base layer: heap, arena, vectors, map, names, diagnostics. */
#include "base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void vec_keeps_order(void **state) {
  (void)state;
  Heap *heap = heap_new(NULL);
  IndexVec list = {0};
  jmp_buf point;
  assert_true(HEAP_TRY(heap, point));
  for (uint32_t i = 0; i < 1000; i++) vec_push(heap, &list, i * i);
  for (uint32_t i = 0; i < 1000; i++) assert_int_equal(list.data[i], i * i);
  heap_destroy(heap);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(vec_keeps_order)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
