/* tier: how many of its members a test runs. With DAEDAL_TEST_TIER=long in the environment it runs all of them, otherwise an
 * evenly spread sample: one in `quick`, or one in `sanitized` in a build with sanitizers, which is twenty times slower. */
#ifndef DAEDAL_TESTS_TIER_H
#define DAEDAL_TESTS_TIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static inline bool tier_is_long(void) {
  const char *tier = getenv("DAEDAL_TEST_TIER");
  return tier && strcmp(tier, "long") == 0;
}

static inline size_t tier_stride(size_t quick, size_t sanitized) {
  if (tier_is_long()) return 1;
#ifdef DAEDAL_SANITIZE
  (void)quick;
  return sanitized;
#else
  (void)sanitized;
  return quick;
#endif
}

#endif
