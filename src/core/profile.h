/* profile: what a pipe contains, for spatialDistribution. The contents move by x and do not change: in the coordinate
 * s = place - x, which moves with them, they stay where they are, and the pipe reaches from -x to 1 - x.
 *
 * The contents that enter the pipe in one step, at its low or high end, are one entry. The places and values of an entry are polynomials of
 * time: where the flow turns around, the value is not a smooth function of the place. Between entries there may be breaks,
 * jumps or kinks of the contents. The profile is looked at from its low end on, up to the next break, beyond which it is read
 * only when the event that passes the break has happened.
 *
 * The entries are in a ring that the host gives. Exported solvers carry this as it stands. */
#pragma once

#include "core/entry.h"

/* Entries of the ring, ascending along s. */
typedef struct Profile {
  int first, count;
  bool is_full;      /* the ring had no room for an entry */
  double limit, end; /* end: the high one, when a break was announced */
  ProfileBreak at_limit, announced;
} Profile;

typedef struct ProfileRing {
  ProfileEntry *entries;
  int capacity;
} ProfileRing;

/* The k-th entry from the low end on; and a new one at an end, for which there is room. */
ProfileEntry *profile_entry(const Profile *profile, const ProfileRing *ring, int k);
ProfileEntry *profile_append(Profile *profile, const ProfileRing *ring, bool is_low);

/* The contents at the start: values at points that ascend from 0 to 1, straight lines between them. Needs room for `count` entries. */
void profile_fill(Profile *profile, const ProfileRing *ring, const double *points, const double *values, int count,
                  double x);

/* From now on this value and others enter, at the low end or at the high one: a jump where it is not what is there, else a kink if
 * there may be one. The break becomes part of the profile by the next profile_add with is_fresh. */
void profile_announce(Profile *profile, const ProfileRing *ring, bool is_low, double x, double value, bool is_kink);

/* A part of a step in which x and the value that enters are these polynomials. What was outside of the pipe when x was `begin`, at
 * the beginning of the step, is forgotten, and so is what was added before for this part. The profile must have room for one more
 * entry. Returns true if an announced kink turned out to be none. */
bool profile_add(Profile *profile, const ProfileRing *ring, bool is_low, double begin, const double *x,
                 const double *value, bool is_fresh);

/* The value at s and its derivatives along s. */
void profile_read(const Profile *profile, const ProfileRing *ring, double s, double *derivatives);

/* The next break above s is the limit of what is read; HUGE_VAL: there is none. With `enters`, the high end counts as far as a
 * break is announced there. */
double profile_limit(Profile *profile, const ProfileRing *ring, double s, bool enters);

/* Has s come to the limit? The break there, and the limit is the next one; PROFILE_SMOOTH: it has not. */
ProfileBreak profile_pass(Profile *profile, const ProfileRing *ring, double s);
