/* frequency: the response of a linear form to inputs that oscillate, G(s) = C (s - A)^-1 B + D at s = i w. */
#pragma once

#include "vary/linearize.h"

typedef struct FrequencyResponse FrequencyResponse;

/* Lives in the arena. O(states^3), once. */
FrequencyResponse *frequency_response_new(const LinearForm *form, Arena *arena);

/* G(i w) from one input to all outputs, as pairs (re, im). false: i w is an eigenvalue. O(states^2). */
bool frequency_response_at(FrequencyResponse *response, uint32_t input, double w, double *out);

/* Angular frequencies that show the modes: `count` of them in equal steps of their logarithm, from a hundredth of the
 * slowest mode to a hundred times the fastest. */
void frequency_grid(const LinearForm *form, uint32_t count, double *w);
