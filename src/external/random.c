/* random: the generators of Modelica.Math.Random, by S. Vigna (ACM Trans. Math. Softw. 42 (2016) 30, and J. Comput. Appl. Math. 315
 * (2017) 175). As in the Modelica Standard Library, and unlike in the papers, the two short generators store the word that they
 * return as their state; so the sequences are those of the library. A word of 64 bits is two Integers, the low one first. */
#include "external/functions.h"

#include <string.h>
#include <time.h>

enum { WORDS = 16 }; /* of the longest generator */

static uint64_t read_word(const double *pair) {
  uint32_t low = (uint32_t)(int64_t)pair[0], high = (uint32_t)(int64_t)pair[1];
  return (uint64_t)high << 32 | low;
}

static void write_word(uint64_t word, double *pair) {
  pair[0] = (int32_t)(uint32_t)word;
  pair[1] = (int32_t)(uint32_t)(word >> 32);
}

/* A word taken as signed, scaled to 0 .. 1. */
static double unit_number(uint64_t word) { return (double)(int64_t)word * 0x1p-64 + 0.5; }

static uint64_t next_64(uint64_t *state) {
  uint64_t x = *state;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  return *state = x * 2685821657736338717u;
}

static uint64_t next_128(uint64_t *state) {
  uint64_t a = state[0], b = state[1];
  a ^= a << 23;
  state[0] = b;
  return state[1] = (a ^ b ^ (a >> 17) ^ (b >> 26)) + b;
}

/* The position is after the 16 words. */
static uint64_t next_1024(uint64_t *state) {
  uint64_t *position = &state[WORDS], a = state[*position % WORDS];
  *position = (*position + 1) % WORDS;
  uint64_t b = state[*position];
  b ^= b << 31;
  b ^= b >> 11;
  a ^= a >> 30;
  state[*position] = a ^ b;
  return state[*position] * 1181783497276652981u;
}

static bool read_state(ExternalCall *call, uint32_t words, bool has_position, uint64_t *state) {
  const ExternalValue *in = &call->arguments[0];
  uint32_t count = 2 * words + has_position;
  if (in->count != count) return external_fail(call, "the state has %u Integers, expected %u", in->count, count);
  for (uint32_t i = 0; i < words; i++) state[i] = read_word(in->numbers + (size_t)2 * i);
  if (has_position) state[words] = (uint64_t)(int64_t)in->numbers[2 * words] % WORDS;
  return true;
}

/* One step: argument 0 is the state, argument 1 becomes the next state, and argument 2 the number. */
static bool step(ExternalCall *call, uint32_t words, bool has_position, uint64_t (*next)(uint64_t *state)) {
  uint64_t state[WORDS + 1];
  ExternalValue *out = &call->arguments[1];
  if (!read_state(call, words, has_position, state)) return false;
  if (out->count != call->arguments[0].count) return external_fail(call, "the states differ in size");
  call->arguments[2].numbers[0] = unit_number(next(state));
  for (uint32_t i = 0; i < words; i++) write_word(state[i], out->numbers + (size_t)2 * i);
  if (has_position) out->numbers[2 * words] = (double)state[words];
  return true;
}

bool external_random_64(ExternalCall *call) { return step(call, 1, false, next_64); }
bool external_random_128(ExternalCall *call) { return step(call, 2, false, next_128); }
bool external_random_1024(ExternalCall *call) { return step(call, WORDS, true, next_1024); }

/* ---- the generator with hidden state: it belongs to the run ---- */

static uint64_t *hidden_state(ExternalCall *call) {
  ExternalSeed *seed = &call->state->seed;
  uint64_t filler = 1;
  for (uint32_t i = 0; i < WORDS && !seed->is_set; i++) seed->words[i] = next_64(&filler);
  seed->is_set = true;
  return seed->words;
}

bool external_random_set_hidden(ExternalCall *call) { return read_state(call, WORDS, true, hidden_state(call)); }

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
