/* entry: the contents that entered a pipe in a step (profile.h). Exported solvers contain this file unchanged. */
#pragma once

#include "core/piece.h"

#include <stdbool.h>

typedef enum ProfileBreak { PROFILE_JUMP, PROFILE_KINK, PROFILE_SMOOTH } ProfileBreak;

/* Places and values as polynomials of the time within the step. */
typedef struct ProfileEntry {
  double low, high; /* the places that it covers */
  double place[PIECE_NODES], value[PIECE_NODES];
  ProfileBreak end; /* break at its high end */
} ProfileEntry;

/* The value at the place s and its derivatives [PIECE_NODES]. Beyond the entry it continues as a straight line. */
void entry_read(const ProfileEntry *entry, double s, double *derivatives);

/* Do two values differ, beyond round-off? */
bool entry_has_jump(double a, double b);

/* Do the slopes differ where one entry ends and the next begins? */
bool entry_has_kink(const ProfileEntry *below, const ProfileEntry *above);
