/* generate: small models from a random number, and mutations of model texts that mostly stay well formed.
 *
 * A model is put together from blocks, each of which brings as many equations as unknowns and may refer to what the
 * blocks before it declared; then equations are swapped, turned around and added to each other. So most models are
 * balanced and many can be solved, whatever their index. */
#ifndef DAEDAL_FUZZ_GENERATE_H
#define DAEDAL_FUZZ_GENERATE_H

#include <stddef.h>
#include <stdint.h>

/* Inputs that are longer take no part. */
enum { LONGEST_INPUT = 6000 };

typedef struct Random {
  uint64_t state;
} Random;

uint32_t random_below(Random *random, uint32_t bound);

/* Writes a model to `text`, which has room for `limit` bytes; its length, or 0 when it does not fit. */
size_t generate_model(Random *random, char *text, size_t limit);

/* Changes one thing in the text of `size` bytes; the new length, at most `limit`. */
size_t mutate_model(Random *random, char *text, size_t size, size_t limit);

/* What the mutators of the targets do: one input of four is a new one, the others are changed up to three times. */
size_t mutate_or_generate(size_t (*generate)(Random *, char *, size_t),
                          size_t (*mutate)(Random *, char *, size_t, size_t), unsigned seed, char *text, size_t size,
                          size_t limit);

#endif
