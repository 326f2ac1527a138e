/* codes: see codes.h. */
#include "init/codes.h"

#include <string.h>

struct InitialCodes {
  Heap *heap;
  Map by_hash; /* hash of the words -> place in the list; if two have the same hash, the first is found */
  VEC(InitialCode) list;
};

InitialCodes *codes_new(Heap *heap) {
  InitialCodes *codes = heap_alloc(heap, sizeof *codes);
  *codes = (InitialCodes){.heap = heap, .by_hash = map_make(heap)};
  return codes;
}

const InitialCode *codes_find(const InitialCodes *codes, const uint32_t *words, uint32_t count) {
  uint32_t place = codes ? map_get(&codes->by_hash, hash_bytes(words, count * sizeof *words)) : MAP_NONE;
  if (place == MAP_NONE) return NULL;
  const InitialCode *code = &codes->list.data[place];
  bool is_same = code->count == count && memcmp(code->words, words, count * sizeof *words) == 0;
  return is_same ? code : NULL;
}

void codes_add(InitialCodes *codes, InitialCode code) {
  if (!codes || codes_find(codes, code.words, code.count)) return;
  code.words = heap_copy(codes->heap, code.words, code.count, sizeof *code.words);
  map_put(&codes->by_hash, hash_bytes(code.words, code.count * sizeof *code.words), codes->list.count);
  vec_push(codes->heap, &codes->list, code);
}

bool codes_may_share(const InitialSystem *system, uint32_t row) {
  return (system->known || system->collected) && system->row[row] < dag_size(system->evaluator->model->dag);
}

/* Lists the columns in the rows, ascending, each once; returns how many there are. */
static uint32_t list_positions(const InitialSystem *system, const uint32_t *rows, uint32_t count, IndexVec *positions) {
  const Pattern *pattern = &system->pattern;
  for (uint32_t k = 0; k < count; k++)
    for (int32_t e = pattern->row_start[rows[k]]; e < pattern->row_start[rows[k] + 1]; e++)
      vec_push(system->heap, positions, (uint32_t)pattern->column[e]);
  index_sort((int32_t *)positions->data, (int32_t)positions->count);
  uint32_t distinct = 0;
  for (uint32_t k = 0; k < positions->count; k++)
    if (!k || positions->data[k] != positions->data[k - 1]) positions->data[distinct++] = positions->data[k];
  return distinct;
}

/* The expressions of the rows, and one more word for the whole system, whose Jacobian has all columns. */
static Expr *list_roots(const InitialSystem *system, const uint32_t *rows, uint32_t count) {
  Expr *roots = heap_array(system->heap, (size_t)count + 1, sizeof *roots);
  for (uint32_t k = 0; k < count; k++) roots[k] = system->row[rows ? rows[k] : k];
  roots[count] = EXPR_NONE;
  return roots;
}

InitialCode codes_make(const InitialSystem *system, const uint32_t *rows, uint32_t count) {
  Heap *heap = system->heap;
  IndexVec positions = {0};
  uint32_t distinct = rows ? list_positions(system, rows, count, &positions) : 0;
  Expr *roots = list_roots(system, rows, count);
  InitialCode code = {.words = roots, .count = count + !rows};
  code.program = program_new(heap, system->model, &system->layout, roots, count);
  code.jacobian = jacobian_new(heap, system->model, &system->layout, roots, count, positions.data, distinct);
  vec_free(heap, &positions);
  return code;
}

InitialCode codes_take(const InitialSystem *system, const uint32_t *rows, uint32_t count) {
  bool shareable = true;
  Expr *roots = list_roots(system, rows, count);
  for (uint32_t k = 0; k < count && shareable; k++) shareable = codes_may_share(system, rows ? rows[k] : k);
  const InitialCode *known = shareable ? codes_find(system->known, roots, count + !rows) : NULL;
  heap_free(system->heap, roots);
  if (known) return *known;
  InitialCode code = codes_make(system, rows, count);
  if (shareable) codes_add(system->collected, code);
  return code;
}
