/* search: see search.h. */
#include "core/search.h"

#include "core/bernstein.h"
#include "core/constants.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { POINTS = SEARCH_POINTS, LAST = POINTS - 1, CHECKS = SEARCH_CHECKS };

/* Chebyshev points of the second kind: the polynomial through them is nearly the best one. */
static const double part[POINTS] = {0,
                                    0.049515566048790427,
                                    0.18825509907063326,
                                    0.38873953302184280,
                                    0.61126046697815720,
                                    0.81174490092936674,
                                    0.95048443395120957,
                                    1};

static const double WIDEST_GAP = 0.22252093395631440; /* the largest distance between two of them */

/* The checks lie between two points, where the polynomial is least accurate, and not symmetrically. */
static const double check_part[CHECKS] = {0.118, 0.712};

Search search_make(uint32_t count, double *room) {
  Search search;
  for (int i = 0; i < POINTS; i++, room += count) search.sample[i] = room;
  for (int i = 0; i < CHECKS; i++, room += count) search.check[i] = room;
  search.solved = room;
  search.at_low = room + count;
  search.at_high = room + 2 * (size_t)count;
  return search;
}

static bool any_negative(const double *margin, uint32_t count) {
  for (uint32_t m = 0; m < count; m++)
    if (margin[m] < 0) return true;
  return false;
}

/* ---- one interval ---- */

typedef enum Sampled {
  SAMPLED,
  SAMPLED_NOT,   /* margins are unknown at some time */
  SAMPLED_WRONG, /* margins of interpolated columns differ from those of solved ones */
} Sampled;

/* Are margins from interpolated columns accurate here, compared with those from solved columns? They may differ by a tenth. */
static bool is_faithful(Search *search, const Watched *watched, double t, const double *peeked) {
  if (!watched->look(watched->context, t, search->solved)) return false;
  for (uint32_t m = 0; m < watched->count; m++)
    if (fabs(search->solved[m] - peeked[m]) > GOOD_PART * fabs(search->solved[m])) return false;
  return true;
}

/* Samples the interval; its first point is known. is_first: interpolated columns have not been compared in this step. */
static Sampled sample(Search *search, const Watched *watched, Bracket stretch, bool is_first) {
  MarginFunction *look = watched->peek ? watched->peek : watched->look;
  double width = stretch.high - stretch.low;
  for (int i = 1; i < POINTS; i++)
    if (!look(watched->context, i < LAST ? stretch.low + part[i] * width : stretch.high, search->sample[i]))
      return SAMPLED_NOT;
  bool compares = is_first && watched->peek && !watched->is_exact;
  for (int i = 0; i < CHECKS; i++) {
    double t = stretch.low + check_part[i] * width;
    if (!look(watched->context, t, search->check[i])) return SAMPLED_NOT;
    if (compares && !is_faithful(search, watched, t, search->check[i])) return SAMPLED_WRONG;
  }
  return SAMPLED;
}

/* The first sample with a negative margin; POINTS: there is none. */
static int first_negative(const Search *search, uint32_t count) {
  int i = 1;
  while (i < POINTS && !any_negative(search->sample[i], count)) i++;
  return i;
}

static bool has_one_root(int count, const double *b) {
  int changes = 0;
  for (int i = 1; i < count; i++) changes += (b[i] < 0) != (b[i - 1] < 0);
  return changes == 1; /* Descartes' rule of signs in Bernstein's basis */
}

/* The polynomial of a margin is off by `missed` at the checks. Is it still certain that the margin stays positive, or that
 * it becomes negative only once if it is negative at the end? */
static bool is_clear(int count, const double *b, double missed) {
  double lowest = INFINITY, ends = fmin(b[0], b[count - 1]), low = ends, high = fmax(b[0], b[count - 1]);
  for (int i = 1; i < count - 1; i++) {
    lowest = fmin(lowest, b[i]);
    high = fmax(high, b[i]);
  }
  low = fmin(low, lowest);
  bool is_seen = missed <= GOOD_PART * (high - low); /* the polynomial follows the margin */
  if (b[count - 1] < 0) return is_seen && has_one_root(count, b);
  return lowest > SEVERAL * missed || (is_seen && lowest >= ends);
}

/* The error of the polynomial of margin m at the checks. */
static double missed_by(const Search *search, uint32_t m, int count, const double *b) {
  double missed = 0;
  for (int i = 0; i < CHECKS; i++)
    missed = fmax(missed, fabs(bernstein_value(count, b, check_part[i]) - search->check[i][m]));
  return missed;
}

/* Answers the question of is_clear for margin m, from the first sample up to sample `end`. */
static bool is_sampled_clear(const Search *search, uint32_t m, int end) {
  double b[POINTS];
  for (int i = 0; i < POINTS; i++) b[i] = search->sample[i][m];
  if (!isfinite(b[0])) return true;
  bernstein_from_values(POINTS, part, b);
  double missed = missed_by(search, m, POINTS, b);
  if (end < LAST) bernstein_keep_before(POINTS, b, part[end]);
  b[LAST] = search->sample[end][m];
  return is_clear(POINTS, b, missed);
}

/* For scalars that jump, the interval is already short enough. */
static bool all_clear(const Search *search, const Watched *watched, int end) {
  for (uint32_t m = 0; m < watched->count; m++)
    if (!(watched->jumps && watched->jumps[m]) && !is_sampled_clear(search, m, end)) return false;
  return true;
}

/* Do the ends of an interval decide for all margins, with evaluations only at the checks? *any: one margin leaves its range,
 * once. */
static bool ends_tell(Search *search, const Watched *watched, Bracket stretch, const KnownEnds *ends, bool *any) {
  double width = stretch.high - stretch.low;
  for (int i = 0; i < CHECKS; i++)
    if (!watched->look(watched->context, stretch.low + check_part[i] * width, search->check[i]) ||
        any_negative(search->check[i], watched->count))
      return false;
  for (uint32_t m = 0; m < watched->count; m++) {
    double left = ends->low[m], right = ends->high[m], third = width / 3;
    double b[4] = {left, left + third * ends->low_rate[m], right - third * ends->high_rate[m], right};
    if (isfinite(left) && !is_clear(4, b, missed_by(search, m, 4, b))) return false;
  }
  *any = any_negative(ends->high, watched->count);
  return true;
}

/* Does a margin leave its range between an end of the interval and the next sample, and come back before it? Uses its rate at that
 * end. `way` is the step from that end to the other one. *t: a time at which the margin is negative. */
static bool dips_beside(Search *search, const Watched *watched, double end, double way, const double *margin,
                        double *t) {
  MarginFunction *look = watched->peek ? watched->peek : watched->look;
  double first = part[1];
  if (!watched->looks_beside || !look(watched->context, end + SLIVER * way, search->solved)) return false;
  for (uint32_t m = 0; m < watched->count; m++) {
    double fall = margin[m] - search->solved[m];
    if (fall > 0 && margin[m] >= 0) first = fmin(first, (1 + MINOR) * SLIVER * margin[m] / fall);
  }
  *t = end + first * way;
  return first < part[1] && look(watched->context, *t, search->solved) && any_negative(search->solved, watched->count);
}

/* ---- the walk along an interval ---- */

/* Walks from left to right. The part after `end` does not matter: a margin is negative there, or the interval ends. */
typedef struct MarginWalk {
  double low, end, width, skip, widest;
  bool ends_negative;
} MarginWalk;

/* According to the samples, no margin is negative up to `high`. */
static void move_on(Search *search, MarginWalk *walk, double high) {
  double *first = search->sample[0];
  search->sample[0] = search->sample[LAST];
  search->sample[LAST] = first;
  walk->low = high;
  walk->width = fmin(2 * walk->width, walk->widest);
}

/* Examines the next interval. Returns true if the first margin becomes negative there, in *found. */
static bool walk_on(Search *search, const Watched *watched, MarginWalk *walk, Bracket stretch, Bracket *found) {
  double width = stretch.high - stretch.low;
  int end = first_negative(search, watched->count);
  bool is_negative = end < POINTS;
  double dip;
  if (dips_beside(search, watched, stretch.low, width, search->sample[0], &dip)) {
    *found = (Bracket){stretch.low, dip};
    return true;
  }
  if (!is_negative && dips_beside(search, watched, stretch.high, -width, search->sample[LAST], &dip)) {
    *found = (Bracket){stretch.low + part[LAST - 1] * width, dip};
    return true;
  }
  if (!is_negative) end = LAST;
  bool is_known = all_clear(search, watched, end), is_short = width <= walk->skip;
  if (is_negative) {
    walk->end = end < LAST ? stretch.low + part[end] * width : stretch.high;
    walk->ends_negative = true;
  }
  if (is_negative && (is_known || is_short)) {
    *found = (Bracket){stretch.low + part[end - 1] * width, walk->end};
    return true;
  }
  if (is_known || is_short) {
    if (is_short) walk->skip *= 2;
    move_on(search, walk, stretch.high);
  } else walk->width = ((walk->end < stretch.high ? walk->end : stretch.high) - stretch.low) / 2;
  return false;
}

/* Searches the interval `all`. *is_wrong: interpolated columns are not accurate enough. */
static bool find(Search *search, const Watched *watched, Bracket all, Bracket *found, bool *is_wrong) {
  double least = NEGLIGIBLE * watched->step, widest = watched->jumps ? least / WIDEST_GAP : INFINITY;
  MarginWalk walk = {all.low, all.high, fmin(all.high - all.low, widest), least, widest, false};
  int limit = PARTS + (int)ceil(watched->step / widest);
  MarginFunction *look = watched->peek ? watched->peek : watched->look;
  bool is_first = true;
  *is_wrong = false;
  if (!(walk.width > 0) || !look(watched->context, all.low, search->sample[0])) return false;
  for (int looks = 0; looks < limit && walk.low < walk.end; looks++) {
    Bracket stretch = {walk.low, fmin(walk.low + walk.width, walk.end)};
    Sampled sampled = sample(search, watched, stretch, is_first);
    *is_wrong = sampled == SAMPLED_WRONG;
    if (*is_wrong) return false;
    is_first = false;
    if (sampled == SAMPLED_NOT) { /* there is no solution to examine */
      if (stretch.high - stretch.low <= walk.skip) break;
      walk.width = (stretch.high - stretch.low) / 2;
    } else if (walk_on(search, watched, &walk, stretch, found)) return true;
  }
  *found = (Bracket){walk.low, walk.end};
  return walk.ends_negative;
}

bool search_find(Search *search, const Watched *watched, Bracket stretch, const KnownEnds *ends, Bracket *found) {
  bool is_wrong, any = false;
  *found = stretch;
  if (ends && ends_tell(search, watched, stretch, ends, &any)) return any;
  any = find(search, watched, stretch, found, &is_wrong);
  bool has_other = watched->peek && !watched->is_exact;
  if (any && has_other) /* solved columns decide */
    is_wrong =
        !watched->look(watched->context, found->high, search->solved) || !any_negative(search->solved, watched->count);
  if (!is_wrong || !has_other) return any;
  Watched solved = *watched;
  solved.peek = NULL;
  return find(search, &solved, stretch, found, &is_wrong);
}

/* ---- location ---- */

/* A bracket with the margins at its ends. */
typedef struct Ends {
  double low, high, *at_low, *at_high;
} Ends;

/* The earliest secant root of the margins that are negative at the upper end, at least `near` away from the ends. */
static double guess_root(uint32_t count, const Ends *ends, double near) {
  double earliest = ends->high;
  for (uint32_t m = 0; m < count; m++) {
    double a = fmax(ends->at_low[m], 0), b = ends->at_high[m];
    if (b < 0) earliest = fmin(earliest, ends->low + (ends->high - ends->low) * (a / (a - b)));
  }
  return fmin(fmax(earliest, ends->low + near), ends->high - near);
}

/* The Illinois method: an end that stays twice gets half the weight in the secant. Every eighth time the bracket is halved. */
static void shrink(Search *search, const Watched *watched, MarginFunction *look, double near, Ends *ends) {
  uint32_t count = watched->count;
  int side = 0;
  for (int k = 0; k < LOCATE_LIMIT && ends->high - ends->low > 2 * near; k++) {
    double t = k % 8 == 7 ? ends->low + (ends->high - ends->low) / 2 : guess_root(count, ends, near);
    if (!(t > ends->low && t < ends->high) || !look(watched->context, t, search->solved)) return;
    int now = any_negative(search->solved, count) ? 1 : -1;
    memcpy(now > 0 ? ends->at_high : ends->at_low, search->solved, count * sizeof(double));
    *(now > 0 ? &ends->high : &ends->low) = t;
    double *other = now > 0 ? ends->at_low : ends->at_high;
    for (uint32_t m = 0; m < count && now == side; m++) other[m] /= 2;
    side = now;
  }
}

/* Shrinks the bracket with interpolated columns first: most of the way at little cost. */
static void peek_first(Search *search, const Watched *watched, double near, Bracket *bracket) {
  Ends ends = {bracket->low, bracket->high, search->at_low, search->at_high};
  double room = watched->is_exact ? 0 : SLIVER * watched->step;
  if (!watched->peek || !watched->peek(watched->context, ends.low, ends.at_low)) return;
  if (!watched->peek(watched->context, ends.high, ends.at_high) || !any_negative(ends.at_high, watched->count)) return;
  shrink(search, watched, watched->peek, fmax(near, room), &ends);
  double low = fmax(ends.low - room, bracket->low), high = fmin(ends.high + room, bracket->high);
  bool is_crossed = watched->is_exact; /* there may be no solved columns behind the crossing, and they are not needed */
  if (!is_crossed && high < bracket->high && watched->look(watched->context, high, search->solved))
    is_crossed = any_negative(search->solved, watched->count);
  if (is_crossed) *bracket = (Bracket){low, high};
}

void search_locate(Search *search, const Watched *watched, Bracket *bracket) {
  double near = fmax(watched->near, DBL_EPSILON * fabs(bracket->high) + ROUND_OFF * watched->step);
  double before = bracket->low;
  peek_first(search, watched, near, bracket);
  Ends ends = {bracket->low, bracket->high, search->at_low, search->at_high};
  bool is_known = watched->look(watched->context, ends.low, ends.at_low);
  if (is_known && any_negative(ends.at_low, watched->count)) {
    ends.low = before;
    is_known = watched->look(watched->context, ends.low, ends.at_low);
  }
  if (is_known && watched->look(watched->context, ends.high, ends.at_high))
    shrink(search, watched, watched->look, near, &ends);
  *bracket = (Bracket){ends.low, ends.high};
  watched->look(watched->context, ends.high, ends.at_high);
}
