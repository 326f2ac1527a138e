/* generate: small models from a random number, and mutations of model texts that mostly stay well formed.
 *
 * A model is a sequence of blocks. Each block has as many equations as unknowns and may use the declarations of earlier blocks.
 * Then equations are swapped, reversed and added to each other. So most models are balanced and many can be solved, at any index.
 */
#ifndef DAEDAL_FUZZ_GENERATE_H
#define DAEDAL_FUZZ_GENERATE_H

#include <stddef.h>
#include <stdint.h>

/* Longer inputs are ignored. */
enum { LONGEST_INPUT = 6000 };

typedef struct Random {
  uint64_t state;
} Random;

uint32_t random_below(Random *random, uint32_t bound);

/* Writes a model to `text`, which has room for `limit` bytes. Returns its length, or 0 when it does not fit. */
size_t generate_model(Random *random, char *text, size_t limit);

/* Changes one thing in the text of `size` bytes. Returns the new length, at most `limit`. */
size_t mutate_model(Random *random, char *text, size_t size, size_t limit);

/* The mutation step of all targets: one input in four is new, the others are changed up to three times. */
size_t mutate_or_generate(size_t (*generate)(Random *, char *, size_t),
                          size_t (*mutate)(Random *, char *, size_t, size_t), unsigned seed, char *text, size_t size,
                          size_t limit);

#endif
