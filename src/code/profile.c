/* profile: see profile.h. */
#include "code/profile.h"

#include "code/piece.h"

#include <math.h>
#include <string.h>

/* Part of a value by which it jumps at least; of the change along the pipe that a kink makes at least. */
static const double JUMP = 1e-9, KINK = 1e-6;

/* Breaks that are nearer than this part of the pipe have been reached. */
static const double NEAR = 1e-10;

/* Part of its greatest rate below which the place stands still: near it the value has no derivatives along the place. */
static const double STILL = 1e-7;

enum { FIRST_CAPACITY = 16, SEARCH_LIMIT = 64 };

typedef struct Entry {
  double low, high; /* where it lies */
  double place[PIECE_NODES], value[PIECE_NODES];
  ProfileBreak end; /* at its high one */
} Entry;

/* A ring of entries, ascending along s. */
struct Profile {
  Heap *heap;
  Entry *entries;
  uint32_t capacity, first, count; /* the capacity is a power of 2 */
  double limit;
  ProfileBreak at_limit;
  double end; /* the high one, when a break was announced */
  ProfileBreak announced;
};

Profile *profile_new(Heap *heap) {
  Profile *profile = heap_alloc(heap, sizeof *profile);
  *profile = (Profile){.heap = heap, .capacity = FIRST_CAPACITY, .announced = PROFILE_SMOOTH, .limit = INFINITY};
  profile->entries = heap_array(heap, profile->capacity, sizeof *profile->entries);
  return profile;
}

/* ---- entries ---- */

static Entry *entry_at(const Profile *profile, uint32_t k) {
  return &profile->entries[(profile->first + k) & (profile->capacity - 1)];
}

static void reserve(Profile *profile) {
  if (profile->count < profile->capacity) return;
  Entry *entries = heap_array(profile->heap, 2 * (size_t)profile->capacity, sizeof *entries);
  for (uint32_t k = 0; k < profile->count; k++) entries[k] = *entry_at(profile, k);
  heap_free(profile->heap, profile->entries);
  profile->entries = entries;
  profile->first = 0;
  profile->capacity *= 2;
}

static Entry *add_entry(Profile *profile, bool is_low) {
  reserve(profile);
  if (is_low) profile->first = (profile->first - 1) & (profile->capacity - 1);
  profile->count++;
  return entry_at(profile, is_low ? 0 : profile->count - 1);
}

/* Forgets what lies outside of these places; one entry stays. */
static void trim(Profile *profile, double low, double high) {
  while (profile->count > 1 && entry_at(profile, 0)->high <= low)
    profile->first = (profile->first + 1) & (profile->capacity - 1), profile->count--;
  while (profile->count > 1 && entry_at(profile, profile->count - 1)->low >= high) profile->count--;
  Entry *lowest = entry_at(profile, 0), *highest = entry_at(profile, profile->count - 1);
  lowest->low = fmax(lowest->low, low);
  highest->high = fmin(highest->high, high);
}

/* The last entry that begins at or below s, but for round-off, and below the limit; the first one if none does. */
static uint32_t find_entry(const Profile *profile, double s, double limit) {
  uint32_t begin = 0, end = profile->count;
  while (end - begin > 1) {
    uint32_t middle = begin + (end - begin) / 2;
    double low = entry_at(profile, middle)->low;
    *(low <= s + NEAR && low + NEAR < limit ? &begin : &end) = middle;
  }
  return begin;
}

/* ---- reading ---- */

static double polynomial(const double *c, double s, double *rate) {
  double value = 0;
  *rate = 0;
  for (int i = PIECE_NODES; i-- > 0;) {
    *rate = *rate * s + value;
    value = value * s + c[i];
  }
  return value;
}

/* When the place was s: Newton's method between bounds, in which the place is monotone. */
static double time_at(const Entry *entry, double s) {
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
static void read_entry(const Entry *entry, double s, double *derivatives) {
  double slope[PIECE_NODES], value[PIECE_NODES], greatest = 0, time = time_at(entry, s);
  piece_expand(entry->place, time, slope);
  piece_expand(entry->value, time, value);
  memset(derivatives, 0, PIECE_NODES * sizeof *derivatives);
  for (int i = 0; i + 1 < PIECE_NODES; i++) {
    slope[i] = (i + 1) * slope[i + 1];
    greatest += fabs((i + 1) * entry->place[i + 1]);
  }
  for (int order = 0; order < PIECE_NODES; order++) {
    derivatives[order] = isfinite(value[0]) ? value[0] : 0;
    if (!(fabs(slope[0]) > STILL * greatest)) return;
    for (int i = 0; i < PIECE_NODES - 1 - order; i++) {
      value[i] = (i + 1) * value[i + 1];
      for (int j = 1; j <= i; j++) value[i] -= slope[j] * value[i - j];
      value[i] /= slope[0];
    }
  }
}

/* Beyond the entry it goes on straight. */
static void read_at(const Entry *entry, double s, double *derivatives) {
  double inside = fmin(fmax(s, entry->low), entry->high);
  read_entry(entry, inside, derivatives);
  if (s == inside) return;
  derivatives[0] += (s - inside) * derivatives[1];
  memset(derivatives + 2, 0, (PIECE_NODES - 2) * sizeof *derivatives);
}

void profile_read(const Profile *profile, double s, double *derivatives) {
  read_at(entry_at(profile, find_entry(profile, s, profile->limit)), s, derivatives);
}

/* ---- breaks ---- */

static bool has_jump(double a, double b) { return fabs(a - b) > JUMP * fmax(fabs(a), fabs(b)); }

static bool has_kink(const Entry *below, const Entry *above) {
  double left[PIECE_NODES], right[PIECE_NODES];
  read_entry(below, below->high, left);
  read_entry(above, above->low, right);
  double change = fabs(right[1] - left[1]), size = fmax(fabs(right[1]), fabs(left[1]));
  return change > KINK * fmax(1, fabs(right[0])) && change > 1e-3 * size;
}

double profile_limit(Profile *profile, double s, bool enters) {
  uint32_t k = find_entry(profile, s, INFINITY);
  while (k + 1 < profile->count && entry_at(profile, k)->end == PROFILE_SMOOTH) k++;
  bool is_inside = k + 1 < profile->count, is_end = !is_inside && enters;
  profile->at_limit = is_inside ? entry_at(profile, k)->end : is_end ? profile->announced : PROFILE_SMOOTH;
  profile->limit = is_inside ? entry_at(profile, k)->high : profile->end;
  if (profile->at_limit == PROFILE_SMOOTH) profile->limit = INFINITY;
  return profile->limit;
}

ProfileBreak profile_pass(Profile *profile, double s) {
  if (!(s + NEAR >= profile->limit)) return PROFILE_SMOOTH;
  ProfileBreak passed = profile->at_limit;
  profile_limit(profile, s, false);
  return passed;
}

void profile_announce(Profile *profile, bool is_low, double x, double value, bool is_kink) {
  double there[PIECE_NODES], s = is_low ? -x : 1 - x;
  read_at(entry_at(profile, find_entry(profile, s, INFINITY)), s, there);
  profile->announced = has_jump(value, there[0]) ? PROFILE_JUMP : is_kink ? PROFILE_KINK : PROFILE_SMOOTH;
  profile->end = 1 - x;
}

/* ---- changes ---- */

void profile_fill(Profile *profile, const double *points, const double *values, uint32_t count, double x) {
  profile->first = profile->count = 0;
  profile->announced = PROFILE_SMOOTH;
  profile->limit = INFINITY;
  for (uint32_t k = 0; k + 1 < count; k++) {
    if (!(points[k + 1] > points[k])) continue;
    Entry *entry = add_entry(profile, false);
    *entry = (Entry){.low = points[k] - x, .high = points[k + 1] - x, .end = PROFILE_SMOOTH};
    entry->place[0] = (entry->low + entry->high) / 2;
    entry->place[1] = (entry->high - entry->low) / 2;
    entry->value[0] = (values[k] + values[k + 1]) / 2;
    entry->value[1] = (values[k + 1] - values[k]) / 2;
    if (profile->count == 1) continue;
    Entry *below = entry_at(profile, profile->count - 2);
    bool jumps = has_jump(below->value[0] + below->value[1], values[k]);
    below->end = jumps ? PROFILE_JUMP : has_kink(below, entry) ? PROFILE_KINK : PROFILE_SMOOTH;
  }
}

/* Both ends of the polynomial of x. */
static void find_ends(const double *x, double *from, double *to) {
  double rate;
  *from = polynomial(x, -1, &rate);
  *to = polynomial(x, 1, &rate);
}

bool profile_add(Profile *profile, bool is_low, double begin, const double *x, const double *value, bool is_fresh) {
  double from, to;
  find_ends(x, &from, &to);
  trim(profile, -(is_low ? from : begin), 1 - (is_low ? begin : from));
  if (is_low ? !(to > from) : !(to < from)) return false;
  Entry *entry = add_entry(profile, is_low), *below = is_low ? entry : entry_at(profile, profile->count - 2);
  const Entry *above = entry_at(profile, is_low ? 1 : profile->count - 1);
  *entry = is_low ? (Entry){.low = -to, .high = -from} : (Entry){.low = 1 - from, .high = 1 - to};
  for (int i = 0; i < PIECE_NODES; i++) entry->place[i] = -x[i], entry->value[i] = value[i];
  entry->place[0] += is_low ? 0 : 1;
  entry->end = PROFILE_SMOOTH;
  bool is_smooth = is_fresh && profile->announced == PROFILE_KINK && !has_kink(below, above);
  if (is_smooth) profile->announced = PROFILE_SMOOTH;
  below->end = is_fresh ? profile->announced : PROFILE_SMOOTH;
  return is_smooth;
}

/* ---- copies ---- */

void profile_assign(Profile *to, const Profile *from) {
  Heap *heap = to->heap;
  heap_free(heap, to->entries);
  *to = *from;
  to->heap = heap;
  to->entries = heap_copy(heap, from->entries, from->capacity, sizeof *from->entries);
}
