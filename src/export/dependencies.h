/* dependencies: the inputs and states on which the derivatives of states and the outputs of an exported model depend between
 * events, for every choice of states. */
#pragma once

#include "export/variables.h"

typedef struct Dependencies {
  uint32_t count;        /* number of sources */
  const uint32_t *known; /* their variables, ascending: the inputs, then the states */
  uint32_t words;        /* words in a set of them */
  uint64_t *columns;     /* a set per column of the array, twice as many words: dependencies_is_fixed */
  uint64_t *rates;       /* per state: the set of its derivative */
} Dependencies;

/* In the arena. Nothing is known for a model of several systems. O(entries of the Jacobian * words), times the depth of the
 * dependencies. */
Dependencies dependencies_find(Arena *arena, const ExportSource *source, const ExportVariables *variables);

/* The set of a variable; NULL if it is unknown, as for a discrete one. */
const uint64_t *dependencies_of(const Dependencies *dependencies, const ExportVariable *variable);

bool dependencies_has(const uint64_t *set, uint32_t source);

/* Does a variable with this set depend on a source in it by a factor that is fixed from the start on? */
bool dependencies_is_fixed(const Dependencies *dependencies, const uint64_t *set, uint32_t source);
