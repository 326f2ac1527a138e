/* connect_sets: see connect_sets.h. Union by size, with path halving. */
#include "instance/connect_sets.h"

static uint32_t *filled(Heap *heap, uint32_t count, uint32_t value) {
  uint32_t *numbers = heap_array(heap, count, sizeof *numbers);
  for (uint32_t i = 0; i < count; i++) numbers[i] = value;
  return numbers;
}

ConnectSets connect_sets_make(Heap *heap, uint32_t member_count) {
  return (ConnectSets){.heap = heap,
                       .member_count = member_count,
                       .parent = filled(heap, member_count, CONNECT_NONE),
                       .size = filled(heap, member_count, 1)};
}

static uint32_t find_root(ConnectSets *sets, uint32_t member) {
  uint32_t *parent = sets->parent;
  if (parent[member] == CONNECT_NONE) parent[member] = member;
  while (parent[member] != member) member = parent[member] = parent[parent[member]];
  return member;
}

void connect_sets_join(ConnectSets *sets, uint32_t a, uint32_t b) {
  uint32_t large = find_root(sets, a), small = find_root(sets, b);
  if (large == small) return;
  if (sets->size[large] < sets->size[small]) {
    uint32_t swap = large;
    large = small;
    small = swap;
  }
  sets->parent[small] = large;
  sets->size[large] += sets->size[small];
}

/* Numbers the sets by their first members and counts their members. */
static void number_sets(ConnectSets *sets) {
  sets->set_of = filled(sets->heap, sets->member_count, CONNECT_NONE);
  sets->start = heap_array(sets->heap, (size_t)sets->member_count + 1, sizeof *sets->start);
  uint32_t *of_root = filled(sets->heap, sets->member_count, CONNECT_NONE);
  for (uint32_t member = 0; member < sets->member_count; member++) {
    if (sets->parent[member] == CONNECT_NONE) continue;
    uint32_t root = find_root(sets, member);
    if (of_root[root] == CONNECT_NONE) of_root[root] = sets->set_count++;
    sets->set_of[member] = of_root[root];
    sets->start[of_root[root] + 1]++;
  }
  heap_free(sets->heap, of_root);
}

void connect_sets_close(ConnectSets *sets) {
  number_sets(sets);
  for (uint32_t s = 0; s < sets->set_count; s++) sets->start[s + 1] += sets->start[s];
  sets->members = heap_array(sets->heap, sets->start[sets->set_count], sizeof *sets->members);
  uint32_t *fill = heap_copy(sets->heap, sets->start, (size_t)sets->set_count + 1, sizeof *fill);
  for (uint32_t member = 0; member < sets->member_count; member++)
    if (sets->set_of[member] != CONNECT_NONE) sets->members[fill[sets->set_of[member]]++] = member;
  heap_free(sets->heap, fill);
}

void connect_sets_free(ConnectSets *sets) {
  heap_free_all(sets->heap, sets->parent, sets->size, sets->start, sets->members, sets->set_of);
  *sets = (ConnectSets){.heap = sets->heap};
}
