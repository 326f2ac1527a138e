/* stretch: see stretch.h. */
#include "core/stretch.h"

#include "core/constants.h"

#include <math.h>
#include <string.h>

void stretches_forget(Stretches *stretches, int modes) {
  stretches->now = NULL;
  stretches->expected = INFINITY;
  stretches->is_first = false;
  if (stretches->list) memset(stretches->list, 0, 2 * ((size_t)modes + 1) * sizeof(Stretch));
}

/* The latest expected end of the interval that begins at t, if it lasts as long as the one before. This is
 * informative if the earlier intervals were equally long, or became shorter, as between the bounces of a ball. It is not
 * informative if events of several causes interleave. */
static double expected_end(const Stretches *stretches, const Edges *edges, int mode, double t, double span) {
  double lasted = stretches->now->lasted, before = stretches->now->lasted_before;
  bool is_alike = lasted >= before / 2 && lasted <= (1 + GOOD_PART) * before;
  is_alike = is_alike || edges->history[mode].times.regular > 0;
  return lasted == 0 || !is_alike ? INFINITY : t + lasted + fmax(GOOD_PART * lasted, STUCK * span);
}

double stretches_begin(Stretches *stretches, const Edges *edges, int mode, double t, double span, bool is_one_step) {
  bool is_timed = mode < 0 || edges->condition[mode].is_timed;
  if (stretches->now) {
    stretches->now->lasted_before = stretches->now->lasted;
    stretches->now->lasted = t - stretches->begin;
  }
  stretches->now = &stretches->list[mode < 0 ? 2 * edges->count + 1 : 2 * mode + (edges->mode[mode] != 0)];
  stretches->begin = t;
  stretches->expected = is_timed || !is_one_step ? INFINITY : expected_end(stretches, edges, mode, t, span);
  stretches->is_first = true;
  double first = stretches->now->first;
  if (is_timed || stretches->expected < INFINITY) return first;
  /* its end is unknown: a step that is not much shorter than the time since the last change of the mode may jump over two events */
  return fmin(first, fmax((1 - EARLY) * edges->history[mode].times.cycle, STUCK * span));
}

double stretches_end(const Stretches *stretches, double begin, double stop) {
  return stretches->expected < stop && begin < stretches->expected ? stretches->expected : stop;
}

void stretches_note_step(Stretches *stretches, double next) {
  if (stretches->is_first) stretches->now->first = next;
  stretches->is_first = false;
}
