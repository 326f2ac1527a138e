/* connect_sets: connection sets of numbered members, a partition that grows by joining (Tarjan 1975).
 *
 * Invariant: once closed, the sets are in the order of their first members, the members of a set ascend, and members that were
 * never joined are in no set. So the written equations do not depend on the order of connect clauses. */
#pragma once

#include "base/vec.h"

#include <stdbool.h>

#define CONNECT_NONE UINT32_MAX

typedef struct ConnectSets {
  Heap *heap;
  uint32_t member_count;
  uint32_t *parent; /* parent in the forest; CONNECT_NONE for a member that was never joined */
  uint32_t *size;   /* size of the tree below a root */
  /* once closed */
  uint32_t set_count;
  uint32_t *start;   /* set_count + 1 */
  uint32_t *members; /* of set s: start[s] .. start[s + 1] - 1 */
  uint32_t *set_of;  /* per member; CONNECT_NONE: in no set */
} ConnectSets;

/* Members 0 .. member_count - 1, none of them in a set. O(member_count). */
ConnectSets connect_sets_make(Heap *heap, uint32_t member_count);

/* Puts both members in one set. With a == b, a member that is in no set forms a set by itself. Amortized nearly O(1). */
void connect_sets_join(ConnectSets *sets, uint32_t a, uint32_t b);

/* Lists the sets; no joins are allowed afterwards. O(member_count). */
void connect_sets_close(ConnectSets *sets);

void connect_sets_free(ConnectSets *sets);
