/* random: random numbers (generators.inc). */
#include "external/functions.h"

#include <string.h>
#include <time.h>

#include "external/generators.inc"

enum { WORDS = 16 }; /* words of the longest generator */

static bool has_integers(ExternalCall *call, uint32_t count) {
  const ExternalValue *in = &call->arguments[0];
  return in->count == count || external_fail(call, "the state has %u Integers, expected %u", in->count, count);
}

/* One step: argument 0 is the state, argument 1 becomes the next state, and argument 2 the number. */
static bool step(ExternalCall *call, uint32_t count, double (*generator)(double *integers)) {
  const ExternalValue *in = &call->arguments[0], *out = &call->arguments[1];
  if (!has_integers(call, count)) return false;
  if (out->count != count) return external_fail(call, "the states differ in size");
  memcpy(out->numbers, in->numbers, count * sizeof *out->numbers);
  call->arguments[2].numbers[0] = generator(out->numbers);
  return true;
}

bool external_random_64(ExternalCall *call) { return step(call, 2, random_64); }
bool external_random_128(ExternalCall *call) { return step(call, 4, random_128); }
bool external_random_1024(ExternalCall *call) { return step(call, 2 * WORDS + 1, random_1024); }

/* ---- the generator with hidden state: it belongs to the run ---- */

static uint64_t *hidden_state(ExternalCall *call) {
  ExternalSeed *seed = &call->state->seed;
  uint64_t filler = 1;
  for (uint32_t i = 0; i < WORDS && !seed->is_set; i++) seed->words[i] = next_64(&filler);
  seed->is_set = true;
  return seed->words;
}

bool external_random_set_hidden(ExternalCall *call) {
  uint64_t *state = hidden_state(call);
  const double *integers = call->arguments[0].numbers;
  if (!has_integers(call, 2 * WORDS + 1)) return false;
  for (uint32_t i = 0; i < WORDS; i++) state[i] = read_word(integers + (size_t)2 * i);
  state[WORDS] = (uint64_t)(int64_t)integers[2 * WORDS] % WORDS;
  return true;
}

bool external_random_hidden(ExternalCall *call) {
  return external_give(call, unit_number(next_1024(hidden_state(call))));
}

/* The seed stays the same in a run: initial values are found by iteration, which must not get another seed each time. */
bool external_random_seed(ExternalCall *call) {
  struct timespec now;
  while (!call->state->automatic_seed) {
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t state = (uint64_t)now.tv_sec * 1000003 + (uint64_t)now.tv_nsec + 1;
    call->state->automatic_seed = (int32_t)(next_64(&state) >> 33);
  }
  return external_give(call, call->state->automatic_seed);
}

bool external_random_split(ExternalCall *call) {
  uint64_t word;
  if (call->arguments[1].count != 2) return external_fail(call, "two Integers are needed");
  memcpy(&word, call->arguments[0].numbers, sizeof word);
  write_word(word, call->arguments[1].numbers);
  return true;
}
