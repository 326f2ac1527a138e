/* profile: the contents of a pipe, for spatialDistribution. The contents move by x and do not change. In the coordinate s = place -
 * x, which moves with them, they are at rest. The pipe reaches from -x to 1 - x.
 *
 * The contents that enter the pipe in one step, at its low or high end, are one entry. The places and values of an entry are
 * polynomials of time: where the flow turns around, the value is not a smooth function of the place. Between entries there may be
 * breaks: jumps or kinks of the contents. The profile is read from its low end up to the next break. The part beyond the break is
 * read only after the event that passes it.
 *
 * The host gives the ring of entries. Exported solvers contain this file unchanged. */
#pragma once

#include "core/entry.h"

/* The entries of the ring, ascending in s. */
typedef struct Profile {
  int first, count;
  bool is_full;      /* the ring had no room for an entry */
  double limit, end; /* end: s at the high end at the time when a break was announced there */
  ProfileBreak at_limit, announced;
} Profile;

typedef struct ProfileRing {
  ProfileEntry *entries;
  int capacity;
} ProfileRing;

/* The k-th entry from the low end. The second function adds an entry at an end, if there is room. */
ProfileEntry *profile_entry(const Profile *profile, const ProfileRing *ring, int k);
ProfileEntry *profile_append(Profile *profile, const ProfileRing *ring, bool is_low);

/* Fills the pipe at the start: values at points that ascend from 0 to 1, and straight lines between them. Needs room for `count`
 * entries. */
void profile_fill(Profile *profile, const ProfileRing *ring, const double *points, const double *values, int count,
                  double x);

/* Announces that another value enters from now on, at the low or the high end. This is a jump if the value differs from
 * the one there, otherwise a kink if one is possible. The next profile_add with is_fresh makes the break part of the
 * profile. */
void profile_announce(Profile *profile, const ProfileRing *ring, bool is_low, double x, double value, bool is_kink);

/* Adds a part of a step, in which x and the value that enters are these polynomials. Forgets the contents that were
 * outside of the pipe at the beginning of the step, when x was `begin`, and contents that were added for this part
 * earlier. The profile must have room
 * for one more entry. Returns true if an announced kink turned out to be none. */
bool profile_add(Profile *profile, const ProfileRing *ring, bool is_low, double begin, const double *x,
                 const double *value, bool is_fresh);

/* The value at s and its derivatives along s. */
void profile_read(const Profile *profile, const ProfileRing *ring, double s, double *derivatives);

/* Makes the next break above s the limit of reading and returns it; HUGE_VAL: there is none. `enters`: the high end counts as a
 * break if one is announced there. */
double profile_limit(Profile *profile, const ProfileRing *ring, double s, bool enters);

/* If s has reached the limit, returns the break there and moves the limit to the next one. Otherwise returns PROFILE_SMOOTH. */
ProfileBreak profile_pass(Profile *profile, const ProfileRing *ring, double s);
