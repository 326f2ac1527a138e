/* rounds: see rounds.h. */
#include "core/rounds.h"

#include "core/constants.h"

uint64_t rounds_hash(const double *values, size_t count) {
  const unsigned char *bytes = (const unsigned char *)values;
  uint64_t hash = UINT64_C(14695981039346656037);
  for (size_t k = 0; k < count * sizeof *values; k++) hash = (hash ^ bytes[k]) * UINT64_C(1099511628211);
  return hash;
}

/* The hash of a round is kept if the number of the round is a power of two. So a cycle is found within three times the sum of its
 * length and the rounds before it (Brent 1980, An improved Monte Carlo factorization algorithm). */
bool rounds_go_on(Rounds *rounds, const double *values, size_t count) {
  uint32_t done = rounds->done++;
  if (done < rounds->few) return true;
  if (done - rounds->few > (size_t)CHANGE_LIMIT * count) return false;
  uint64_t hash = rounds_hash(values, count);
  if (done > rounds->few && hash == rounds->kept) return false;
  if (done == rounds->few || (done & (done - 1)) == 0) rounds->kept = hash;
  return true;
}
