/* design: the points of a sweep: every combination of the varied values, each with every sample of the distributions.
 *
 * Invariant: the values of a point depend only on its number. Samples change fastest, then the last varied variable. */
#pragma once

#include "study/distribution.h"
#include "study/sampling.h"
#include "study/vary.h"

typedef struct DesignRequest {
  uint32_t samples; /* 0: not given */
  const char *sampling;
  uint64_t seed;
} DesignRequest;

typedef struct Design {
  Vary *vary;
  Distribution *distributions;
  Sampling *sampling;
  uint32_t vary_count, distribution_count;
  uint32_t samples; /* for each combination; 1 without distributions */
  uint32_t points;
} Design;

/* Completes a design that already has its varied values and its distributions. false: an error is in diags. Lives in the arena. */
bool design_check(Design *design, const DesignRequest *request, Arena *arena, Diags *diags);

/* The number of variables that get values, and their names: the varied ones, then those with distributions. */
uint32_t design_variables(const Design *design);
const char *design_name(const Design *design, uint32_t variable);

/* Do two lists of values span a map? */
bool design_is_map(const Design *design);

/* The value of a variable at a point. */
double design_value(const Design *design, uint32_t point, uint32_t variable);
