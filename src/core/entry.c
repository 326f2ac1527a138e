/* entry: see entry.h. */
#include "core/entry.h"

#include <math.h>
#include <string.h>

/* JUMP: the smallest jump, relative to the value. KINK: the smallest kink, relative to the change along the pipe. */
static const double JUMP = 1e-9, KINK = 1e-6;

/* The place counts as resting if its rate is below this fraction of its largest rate. Near there the value has no
 * derivatives along the place. */
static const double STILL = 1e-7;

enum { SEARCH_LIMIT = 64 };

/* The time at which the place was s, by Newton's method between bounds. The place is monotone there. */
static double time_at(const ProfileEntry *entry, double s) {
  double low = -1, high = 1, rate, begin = piece_value(entry->place, low, &rate),
         end = piece_value(entry->place, high, &rate);
  double time = fmin(fmax(2 * (s - begin) / (end - begin) - 1, -1), 1);
  for (int k = 0; k < SEARCH_LIMIT; k++) {
    double off = piece_value(entry->place, time, &rate) - s;
    *((off > 0) == (end > begin) ? &high : &low) = time;
    double next = time - off / rate;
    if (!(next >= low && next <= high)) next = low + (high - low) / 2;
    if (fabs(next - time) <= 1e-15) return next;
    time = next;
  }
  return time;
}

/* The derivative of the value along the place is the quotient of both derivatives in time. It is applied repeatedly to the
 * series. */
static void read_inside(const ProfileEntry *entry, double s, double *derivatives) {
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

void entry_read(const ProfileEntry *entry, double s, double *derivatives) {
  double inside = fmin(fmax(s, entry->low), entry->high);
  read_inside(entry, inside, derivatives);
  if (s == inside) return;
  derivatives[0] += (s - inside) * derivatives[1];
  memset(derivatives + 2, 0, (PIECE_NODES - 2) * sizeof *derivatives);
}

bool entry_has_jump(double a, double b) { return fabs(a - b) > JUMP * fmax(fabs(a), fabs(b)); }

bool entry_has_kink(const ProfileEntry *below, const ProfileEntry *above) {
  double left[PIECE_NODES], right[PIECE_NODES];
  read_inside(below, below->high, left);
  read_inside(above, above->low, right);
  double change = fabs(right[1] - left[1]), size = fmax(fabs(right[1]), fabs(left[1]));
  return change > KINK * fmax(1, fabs(right[0])) && change > 1e-3 * size;
}
