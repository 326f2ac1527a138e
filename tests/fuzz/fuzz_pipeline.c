/* libFuzzer target: generated models, by the pipeline. Text is generated and changed by generate.c, so that most inputs are
 * models that can be analyzed. */
#include "generate.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  return mutate_or_generate(generate_model, mutate_model, seed, (char *)data, size, max_size);
}
