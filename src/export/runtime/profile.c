/* profile: what a pipe contains. The contents move by x and do not change: in the coordinate s = place - x, which moves with them, they stay
 * where they are, and the pipe reaches from -x to 1 - x.
 *
 * What enters in a step is an entry, at the low end or at the high one. Its places and its values are polynomials of the time in that
 * step: where the flow turns around, the value is no smooth function of the place. Between entries there may be breaks, jumps or kinks of
 * the contents. The profile is looked at from its low end on, up to the next break, beyond which it is read only when the event that
 * passes the break has happened. */
#include "solver.h"

#include <math.h>
#include <string.h>

enum { NODES = PAST_DEGREE + 1, SEARCH_LIMIT = 64 };

/* Part of a value by which it jumps at least; of the change along the pipe that a kink makes at least. */
static const double JUMP = 1e-9, KINK = 1e-6;

/* Breaks that are nearer than this part of the pipe have been reached. */
static const double NEAR = 1e-10;

/* Part of its greatest rate below which the place stands still: near it the value has no derivatives along the place. */
static const double STILL = 1e-7;

/* ---- entries ---- */

static ProfileEntry *entry_at(const Profile *profile, const ProfileRing *ring, int k) {
  return &ring->entries[(profile->first + k) % ring->capacity];
}

static ProfileEntry *add_entry(Profile *profile, const ProfileRing *ring, int is_low) {
  if (is_low) profile->first = (profile->first + ring->capacity - 1) % ring->capacity;
  profile->count++;
  return entry_at(profile, ring, is_low ? 0 : profile->count - 1);
}

/* Forgets what lies outside of these places; one entry stays. */
static void trim(Profile *profile, const ProfileRing *ring, double low, double high) {
  while (profile->count > 1 && entry_at(profile, ring, 0)->high <= low)
    profile->first = (profile->first + 1) % ring->capacity, profile->count--;
  while (profile->count > 1 && entry_at(profile, ring, profile->count - 1)->low >= high) profile->count--;
  ProfileEntry *lowest = entry_at(profile, ring, 0), *highest = entry_at(profile, ring, profile->count - 1);
  lowest->low = fmax(lowest->low, low);
  highest->high = fmin(highest->high, high);
}

/* The last entry that begins at or below s, but for round-off, and below the limit; the first one if none does. */
static int find_entry(const Profile *profile, const ProfileRing *ring, double s, double limit) {
  int begin = 0, end = profile->count;
  while (end - begin > 1) {
    int middle = begin + (end - begin) / 2;
    double low = entry_at(profile, ring, middle)->low;
    *(low <= s + NEAR && low + NEAR < limit ? &begin : &end) = middle;
  }
  return begin;
}

/* ---- reading ---- */

static double polynomial(const double *c, double s, double *rate) {
  double value = 0;
  *rate = 0;
  for (int i = NODES; i-- > 0;) {
    *rate = *rate * s + value;
    value = value * s + c[i];
  }
  return value;
}

/* When the place was s: Newton's method between bounds, in which the place is monotone. */
static double time_at(const ProfileEntry *entry, double s) {
  double low = -1, high = 1, rate, begin = polynomial(entry->place, low, &rate),
         end = polynomial(entry->place, high, &rate);
  double time = fmin(fmax(2 * (s - begin) / (end - begin) - 1, -1), 1);
  for (int k = 0; k < SEARCH_LIMIT; k++) {
    double off = polynomial(entry->place, time, &rate) - s;
    *((off > 0) == (end > begin) ? &high : &low) = time;
    double next = time - off / rate;
    if (!(next >= low && next <= high)) next = low + (high - low) / 2;
    if (fabs(next - time) <= 1e-15) return next;
    time = next;
  }
  return time;
}

/* The derivative of the value along the place is the quotient of both along time, as series, again and again. */
static void read_entry(const ProfileEntry *entry, double s, double *derivatives) {
  double slope[NODES], value[NODES], greatest = 0, time = time_at(entry, s);
  piece_expand(entry->place, time, slope);
  piece_expand(entry->value, time, value);
  memset(derivatives, 0, NODES * sizeof *derivatives);
  for (int i = 0; i + 1 < NODES; i++) {
    slope[i] = (i + 1) * slope[i + 1];
    greatest += fabs((i + 1) * entry->place[i + 1]);
  }
  for (int order = 0; order < NODES; order++) {
    derivatives[order] = is_finite(value[0]) ? value[0] : 0;
    if (!(fabs(slope[0]) > STILL * greatest)) return;
    for (int i = 0; i < NODES - 1 - order; i++) {
      value[i] = (i + 1) * value[i + 1];
      for (int j = 1; j <= i; j++) value[i] -= slope[j] * value[i - j];
      value[i] /= slope[0];
    }
  }
}

/* Beyond the entry it goes on straight. */
static void read_at(const ProfileEntry *entry, double s, double *derivatives) {
  double inside = fmin(fmax(s, entry->low), entry->high);
  read_entry(entry, inside, derivatives);
  if (s == inside) return;
  derivatives[0] += (s - inside) * derivatives[1];
  memset(derivatives + 2, 0, (NODES - 2) * sizeof *derivatives);
}

void profile_read(const Profile *profile, const ProfileRing *ring, double s, double *derivatives) {
  read_at(entry_at(profile, ring, find_entry(profile, ring, s, profile->limit)), s, derivatives);
}

/* ---- breaks ---- */

static int has_jump(double a, double b) { return fabs(a - b) > JUMP * fmax(fabs(a), fabs(b)); }

static int has_kink(const ProfileEntry *below, const ProfileEntry *above) {
  double left[NODES], right[NODES];
  read_entry(below, below->high, left);
  read_entry(above, above->low, right);
  double change = fabs(right[1] - left[1]), size = fmax(fabs(right[1]), fabs(left[1]));
  return change > KINK * fmax(1, fabs(right[0])) && change > 1e-3 * size;
}

double profile_limit(Profile *profile, const ProfileRing *ring, double s, int enters) {
  int k = find_entry(profile, ring, s, HUGE_VAL);
  while (k + 1 < profile->count && entry_at(profile, ring, k)->end == PROFILE_SMOOTH) k++;
  int is_inside = k + 1 < profile->count, is_end = !is_inside && enters;
  profile->at_limit = is_inside ? entry_at(profile, ring, k)->end : is_end ? profile->announced : PROFILE_SMOOTH;
  profile->limit = is_inside ? entry_at(profile, ring, k)->high : profile->end;
  if (profile->at_limit == PROFILE_SMOOTH) profile->limit = HUGE_VAL;
  return profile->limit;
}

ProfileBreak profile_pass(Profile *profile, const ProfileRing *ring, double s) {
  if (!(s + NEAR >= profile->limit)) return PROFILE_SMOOTH;
  ProfileBreak passed = profile->at_limit;
  profile_limit(profile, ring, s, 0);
  return passed;
}

void profile_announce(Profile *profile, const ProfileRing *ring, int is_low, double x, double value, int is_kink) {
  double there[NODES], s = is_low ? -x : 1 - x;
  read_at(entry_at(profile, ring, find_entry(profile, ring, s, HUGE_VAL)), s, there);
  profile->announced = has_jump(value, there[0]) ? PROFILE_JUMP : is_kink ? PROFILE_KINK : PROFILE_SMOOTH;
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
    ProfileEntry *entry = add_entry(profile, ring, 0);
    *entry = (ProfileEntry){.low = points[k] - x, .high = points[k + 1] - x, .end = PROFILE_SMOOTH};
    entry->place[0] = (entry->low + entry->high) / 2;
    entry->place[1] = (entry->high - entry->low) / 2;
    entry->value[0] = (values[k] + values[k + 1]) / 2;
    entry->value[1] = (values[k + 1] - values[k]) / 2;
    if (profile->count == 1) continue;
    ProfileEntry *below = entry_at(profile, ring, profile->count - 2);
    int jumps = has_jump(below->value[0] + below->value[1], values[k]);
    below->end = jumps ? PROFILE_JUMP : has_kink(below, entry) ? PROFILE_KINK : PROFILE_SMOOTH;
  }
}

/* Both ends of the polynomial of x. */
static void find_ends(const double *x, double *from, double *to) {
  double rate;
  *from = polynomial(x, -1, &rate);
  *to = polynomial(x, 1, &rate);
}

int profile_add(Profile *profile, const ProfileRing *ring, int is_low, double begin, const double *x,
                const double *value, int is_fresh) {
  double from, to;
  find_ends(x, &from, &to);
  trim(profile, ring, -(is_low ? from : begin), 1 - (is_low ? begin : from));
  if (is_low ? !(to > from) : !(to < from)) return 0;
  profile->is_full = profile->count == ring->capacity;
  if (profile->is_full) return 0;
  ProfileEntry *entry = add_entry(profile, ring, is_low),
               *below = is_low ? entry : entry_at(profile, ring, profile->count - 2);
  const ProfileEntry *above = entry_at(profile, ring, is_low ? 1 : profile->count - 1);
  *entry = is_low ? (ProfileEntry){.low = -to, .high = -from} : (ProfileEntry){.low = 1 - from, .high = 1 - to};
  for (int i = 0; i < NODES; i++) entry->place[i] = -x[i], entry->value[i] = value[i];
  entry->place[0] += is_low ? 0 : 1;
  entry->end = PROFILE_SMOOTH;
  int is_smooth = is_fresh && profile->announced == PROFILE_KINK && !has_kink(below, above);
  if (is_smooth) profile->announced = PROFILE_SMOOTH;
  below->end = is_fresh ? profile->announced : PROFILE_SMOOTH;
  return is_smooth;
}
