/* signature: the offsets of the signature method (Pryce 2001), used as a check on Pantelides.
 *
 * Invariant: offsets are valid when c >= 0, d_j - c_i >= sigma_ij everywhere, with equality on a
 * transversal (complementary slackness); the transversal then has the highest value. Among valid offsets
 * there is a smallest pair, the canonical one.
 */
#ifndef DAEDAL_STRUCTURE_SIGNATURE_H
#define DAEDAL_STRUCTURE_SIGNATURE_H

#include "structure/blocks.h"

typedef struct Offsets {
  bool ok; /* false: the transversal does not have the highest value, no offsets exist */
  int32_t *c, *d;
} Offsets;

/* The smallest canonical offsets for a perfect matching of the incidence. `coarse` are the blocks of the
 * whole pattern with that matching: later blocks raise the offsets of earlier ones, never the reverse, so
 * each block is iterated to its fixed point once. Owned by the arena. O(entries) times at most the largest
 * c gained within a block. */
Offsets signature_offsets(Arena *arena, const Incidence *incidence, const Matching *transversal, const Blocks *coarse);

/* True if the offsets are valid for the transversal. O(entries). */
bool signature_slackness(const Incidence *incidence, const Matching *transversal, const int32_t *c, const int32_t *d);

#endif
