/* profile: see profile.h. */
#include "code/profile.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Breaks that are nearer than this part of the pipe have been reached. */
static const double NEAR = 1e-10;

enum { FIRST_CAPACITY = 16 };

/* A ring of entries, ascending along s. */
struct Profile {
  Heap *heap;
  ProfileEntry *entries;
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

static ProfileEntry *entry_at(const Profile *profile, uint32_t k) {
  return &profile->entries[(profile->first + k) & (profile->capacity - 1)];
}

static void reserve(Profile *profile) {
  if (profile->count < profile->capacity) return;
  ProfileEntry *entries = heap_array(profile->heap, 2 * (size_t)profile->capacity, sizeof *entries);
  for (uint32_t k = 0; k < profile->count; k++) entries[k] = *entry_at(profile, k);
  heap_free(profile->heap, profile->entries);
  profile->entries = entries;
  profile->first = 0;
  profile->capacity *= 2;
}

static ProfileEntry *add_entry(Profile *profile, bool is_low) {
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
  ProfileEntry *lowest = entry_at(profile, 0), *highest = entry_at(profile, profile->count - 1);
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

void profile_read(const Profile *profile, double s, double *derivatives) {
  entry_read(entry_at(profile, find_entry(profile, s, profile->limit)), s, derivatives);
}

/* ---- breaks ---- */

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
  entry_read(entry_at(profile, find_entry(profile, s, INFINITY)), s, there);
  profile->announced = entry_has_jump(value, there[0]) ? PROFILE_JUMP : is_kink ? PROFILE_KINK : PROFILE_SMOOTH;
  profile->end = 1 - x;
}

/* ---- changes ---- */

void profile_fill(Profile *profile, const double *points, const double *values, uint32_t count, double x) {
  profile->first = profile->count = 0;
  profile->announced = PROFILE_SMOOTH;
  profile->limit = INFINITY;
  for (uint32_t k = 0; k + 1 < count; k++) {
    if (!(points[k + 1] > points[k])) continue;
    ProfileEntry *entry = add_entry(profile, false);
    *entry = (ProfileEntry){.low = points[k] - x, .high = points[k + 1] - x, .end = PROFILE_SMOOTH};
    entry->place[0] = (entry->low + entry->high) / 2;
    entry->place[1] = (entry->high - entry->low) / 2;
    entry->value[0] = (values[k] + values[k + 1]) / 2;
    entry->value[1] = (values[k + 1] - values[k]) / 2;
    if (profile->count == 1) continue;
    ProfileEntry *below = entry_at(profile, profile->count - 2);
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

bool profile_add(Profile *profile, bool is_low, double begin, const double *x, const double *value, bool is_fresh) {
  double from, to;
  find_ends(x, &from, &to);
  trim(profile, -(is_low ? from : begin), 1 - (is_low ? begin : from));
  if (is_low ? !(to > from) : !(to < from)) return false;
  ProfileEntry *entry = add_entry(profile, is_low), *below = is_low ? entry : entry_at(profile, profile->count - 2);
  const ProfileEntry *above = entry_at(profile, is_low ? 1 : profile->count - 1);
  *entry = is_low ? (ProfileEntry){.low = -to, .high = -from} : (ProfileEntry){.low = 1 - from, .high = 1 - to};
  for (int i = 0; i < PIECE_NODES; i++) entry->place[i] = -x[i], entry->value[i] = value[i];
  entry->place[0] += is_low ? 0 : 1;
  entry->end = PROFILE_SMOOTH;
  bool is_smooth = is_fresh && profile->announced == PROFILE_KINK && !entry_has_kink(below, above);
  if (is_smooth) profile->announced = PROFILE_SMOOTH;
  below->end = is_fresh ? profile->announced : PROFILE_SMOOTH;
  return is_smooth;
}

/* ---- copies ---- */

static void transfer_break(ProfileBreak *at, Transfer *transfer) {
  uint32_t number = *at;
  transfer_indices(transfer, &number, 1, PROFILE_SMOOTH + 1);
  if (!transfer->is_broken) *at = (ProfileBreak)number;
}

/* Entry by entry, so that the ring may lie otherwise. */
void profile_transfer(Profile *profile, Transfer *transfer) {
  ProfileEntry none = {.end = PROFILE_SMOOTH};
  uint32_t count = transfer_count(transfer, profile->count, offsetof(ProfileEntry, end));
  if (transfer->reads) profile->count = 0;
  for (uint32_t k = 0; k < count && !transfer->is_broken; k++) {
    ProfileEntry *entry = transfer->reads ? add_entry(profile, false) : entry_at(profile, k);
    if (transfer->reads) *entry = none;
    transfer_array(transfer, entry, 1, offsetof(ProfileEntry, end));
    transfer_break(&entry->end, transfer);
  }
  transfer_require(transfer, count > 0);
  transfer_value(transfer, &profile->limit);
  transfer_value(transfer, &profile->end);
  transfer_break(&profile->at_limit, transfer);
  transfer_break(&profile->announced, transfer);
}

void profile_assign(Profile *to, const Profile *from) {
  Heap *heap = to->heap;
  heap_free(heap, to->entries);
  *to = *from;
  to->heap = heap;
  to->entries = heap_copy(heap, from->entries, from->capacity, sizeof *from->entries);
}
