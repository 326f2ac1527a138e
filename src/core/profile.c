/* profile: see profile.h. */
#include "core/profile.h"

#include <math.h>

/* A break counts as reached if it is nearer than this part of the pipe. */
static const double NEAR = 1e-10;

/* ---- entries ---- */

ProfileEntry *profile_entry(const Profile *profile, const ProfileRing *ring, int k) {
  return &ring->entries[(profile->first + k) % ring->capacity];
}

ProfileEntry *profile_append(Profile *profile, const ProfileRing *ring, bool is_low) {
  if (is_low) profile->first = (profile->first + ring->capacity - 1) % ring->capacity;
  profile->count++;
  return profile_entry(profile, ring, is_low ? 0 : profile->count - 1);
}

/* Forgets the contents outside of these places, but keeps at least one entry. */
static void trim(Profile *profile, const ProfileRing *ring, double low, double high) {
  while (profile->count > 1 && profile_entry(profile, ring, 0)->high <= low)
    profile->first = (profile->first + 1) % ring->capacity, profile->count--;
  while (profile->count > 1 && profile_entry(profile, ring, profile->count - 1)->low >= high) profile->count--;
  ProfileEntry *lowest = profile_entry(profile, ring, 0), *highest = profile_entry(profile, ring, profile->count - 1);
  lowest->low = fmax(lowest->low, low);
  highest->high = fmin(highest->high, high);
}

/* The last entry that begins at or below s, except for round-off, and below the limit; otherwise the first one. */
static int find_entry(const Profile *profile, const ProfileRing *ring, double s, double limit) {
  int begin = 0, end = profile->count;
  while (end - begin > 1) {
    int middle = begin + (end - begin) / 2;
    double low = profile_entry(profile, ring, middle)->low;
    *(low <= s + NEAR && low + NEAR < limit ? &begin : &end) = middle;
  }
  return begin;
}

void profile_read(const Profile *profile, const ProfileRing *ring, double s, double *derivatives) {
  entry_read(profile_entry(profile, ring, find_entry(profile, ring, s, profile->limit)), s, derivatives);
}

/* ---- breaks ---- */

double profile_limit(Profile *profile, const ProfileRing *ring, double s, bool enters) {
  int k = find_entry(profile, ring, s, HUGE_VAL);
  while (k + 1 < profile->count && profile_entry(profile, ring, k)->end == PROFILE_SMOOTH) k++;
  bool is_inside = k + 1 < profile->count, is_end = !is_inside && enters;
  profile->at_limit = is_inside ? profile_entry(profile, ring, k)->end : is_end ? profile->announced : PROFILE_SMOOTH;
  profile->limit = is_inside ? profile_entry(profile, ring, k)->high : profile->end;
  if (profile->at_limit == PROFILE_SMOOTH) profile->limit = HUGE_VAL;
  return profile->limit;
}

ProfileBreak profile_pass(Profile *profile, const ProfileRing *ring, double s) {
  if (!(s + NEAR >= profile->limit)) return PROFILE_SMOOTH;
  ProfileBreak passed = profile->at_limit;
  profile_limit(profile, ring, s, false);
  return passed;
}

void profile_announce(Profile *profile, const ProfileRing *ring, bool is_low, double x, double value, bool is_kink) {
  double there[PIECE_NODES], s = is_low ? -x : 1 - x;
  entry_read(profile_entry(profile, ring, find_entry(profile, ring, s, HUGE_VAL)), s, there);
  profile->announced = entry_has_jump(value, there[0]) ? PROFILE_JUMP : is_kink ? PROFILE_KINK : PROFILE_SMOOTH;
  profile->end = 1 - x;
}

/* ---- changes ---- */

void profile_fill(Profile *profile, const ProfileRing *ring, const double *points, const double *values, int count,
                  double x) {
  profile->first = profile->count = 0;
  profile->announced = PROFILE_SMOOTH;
  profile->limit = HUGE_VAL;
  profile->is_full = count > ring->capacity;
  for (int k = 0; k + 1 < count && !profile->is_full; k++) {
    if (!(points[k + 1] > points[k])) continue;
    ProfileEntry *entry = profile_append(profile, ring, false);
    *entry = (ProfileEntry){.low = points[k] - x, .high = points[k + 1] - x, .end = PROFILE_SMOOTH};
    entry->place[0] = (entry->low + entry->high) / 2;
    entry->place[1] = (entry->high - entry->low) / 2;
    entry->value[0] = (values[k] + values[k + 1]) / 2;
    entry->value[1] = (values[k + 1] - values[k]) / 2;
    if (profile->count == 1) continue;
    ProfileEntry *below = profile_entry(profile, ring, profile->count - 2);
    bool jumps = entry_has_jump(below->value[0] + below->value[1], values[k]);
    below->end = jumps ? PROFILE_JUMP : entry_has_kink(below, entry) ? PROFILE_KINK : PROFILE_SMOOTH;
  }
}

/* Both ends of the polynomial of x. */
static void find_ends(const double *x, double *from, double *to) {
  double rate;
  *from = piece_value(x, -1, &rate);
  *to = piece_value(x, 1, &rate);
}

bool profile_add(Profile *profile, const ProfileRing *ring, bool is_low, double begin, const double *x,
                 const double *value, bool is_fresh) {
  double from, to;
  find_ends(x, &from, &to);
  trim(profile, ring, -(is_low ? from : begin), 1 - (is_low ? begin : from));
  if (is_low ? !(to > from) : !(to < from)) return false;
  profile->is_full = profile->count == ring->capacity;
  if (profile->is_full) return false;
  ProfileEntry *entry = profile_append(profile, ring, is_low),
               *below = is_low ? entry : profile_entry(profile, ring, profile->count - 2);
  const ProfileEntry *above = profile_entry(profile, ring, is_low ? 1 : profile->count - 1);
  *entry = is_low ? (ProfileEntry){.low = -to, .high = -from} : (ProfileEntry){.low = 1 - from, .high = 1 - to};
  for (int i = 0; i < PIECE_NODES; i++) entry->place[i] = -x[i], entry->value[i] = value[i];
  entry->place[0] += is_low ? 0 : 1;
  entry->end = PROFILE_SMOOTH;
  bool is_smooth = is_fresh && profile->announced == PROFILE_KINK && !entry_has_kink(below, above);
  if (is_smooth) profile->announced = PROFILE_SMOOTH;
  below->end = is_fresh ? profile->announced : PROFILE_SMOOTH;
  return is_smooth;
}
