/* delays: see delays.h. */
#include "core/delays.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The levels of breaks. Equations may pass on a kink unchanged, or as a kink of a higher derivative: has_kink finds out which. */
enum { LEVEL_JUMP, LEVEL_KINK, LEVEL_NONE };

/* The largest number of pieces for one step. */
enum { PARTS_LIMIT = 16 };

/* The number of the piece that stands for the time before the run. */
enum { NO_PIECE = -1 };

/* JUMP: the smallest jump, relative to the value. KINK: a change of the derivatives counts as a kink if it changes the
 * value by at least this fraction within the delay time. */
static const double JUMP = 1e-10, KINK = 1e-6;

/* Relative to the longest delay: a delay that goes to zero may read this far ahead of the known values. */
static const double SHORTEST = 1e-3;

/* FAR: a pipe without breaks waits for a break that is this many pipe lengths away. STEP_PART: the part of a pipe by which its
 * contents may move in one step. */
static const double FAR = 1000, STEP_PART = 0.5;

/* ---- rings ---- */

DelayPiece *delays_piece(const Delays *delays, int64_t piece) { return &delays->pieces[piece % delays->capacity]; }

double *delays_coefficients(const Delays *delays, int64_t piece, int k) {
  return delays->coefficients + (size_t)(piece % delays->capacity * delays->count + k) * PIECE_NODES;
}

DelayBreak *delays_break(const Delays *delays, int k, int64_t number) {
  return &delays->breaks[(size_t)k * (size_t)delays->capacity + (size_t)(number % delays->capacity)];
}

ProfileRing delays_ring(const Delays *delays, int k) {
  return (ProfileRing){delays->entries + (size_t)k * (size_t)delays->capacity, delays->capacity};
}

static int64_t piece_end(const DelaysNow *now) { return now->first + now->count; }

/* The value and all derivatives of a piece at a time. */
static void expand(const Delays *delays, int k, int64_t piece, double at, double *leaves) {
  const DelayPiece *stretch = delays_piece(delays, piece);
  double half = 0.5 * (stretch->to - stretch->from), s = (at - stretch->from) / half - 1, factor = 1;
  piece_expand(delays_coefficients(delays, piece, k), s, leaves);
  for (int order = 0; order < PIECE_NODES; order++) {
    leaves[order] *= factor;
    factor *= (order + 1) / half;
  }
}

/* The piece in [begin, end) that contains this time; the nearest one if none does. */
static int64_t find_piece(const Delays *delays, int64_t guess, int64_t begin, int64_t end, double at) {
  int64_t piece = guess < begin ? begin : guess >= end ? end - 1 : guess;
  while (piece + 1 < end && at > delays_piece(delays, piece)->to) piece++;
  while (piece > begin && at < delays_piece(delays, piece)->from) piece--;
  return piece;
}

/* ---- reading ---- */

static void read_times(Delays *delays, double t, const double *y) {
  int count = delays->count;
  delays->evaluate(delays->host, DELAY_TIMES, t, y, delays->values);
  for (int k = 0; k < count; k++) {
    const double *values = delays->values + k;
    DelayPipe *pipe = &delays->pipe[k];
    if (delays->delay[k].is_pipe) {
      pipe->x = values[0];
      pipe->is_positive = values[count] != 0;
      pipe->rate = values[2 * count];
    } else {
      delays->channel[k].time = values[0];
      delays->channel[k].longest = values[count];
    }
  }
}

/* Reads the content of pipe k at its inlet, position 0. */
static void read_pipe(const Delays *delays, int k) {
  ProfileRing ring = delays_ring(delays, k);
  double *leaves = delays->discretes + delays->delay[k].leaf, s = -delays->pipe[k].x;
  profile_read(&delays->pipe[k].profile, &ring, s, leaves);
  leaves[PIECE_DEGREE + 1] = s;
}

static void set_constant(double *leaves, double value) {
  memset(leaves, 0, DELAY_LEAVES * sizeof *leaves);
  leaves[0] = value;
}

static void read_channel(const Delays *delays, int k, double t) {
  const Delay *delay = &delays->delay[k];
  const DelaysNow *now = delays->now;
  DelayChannel *channel = &delays->channel[k];
  double *leaves = delays->discretes + delay->leaf, at = t - channel->time;
  int64_t begin = now->first, end = piece_end(now);
  if (delay->is_pipe && !delays->pipe[k].is_positive) read_pipe(delays, k);
  if (delay->is_discrete || delay->is_pipe) return;
  if (delay->is_fixed && channel->first > begin) begin = channel->first;
  if (delay->is_fixed && channel->passed < channel->breaks) end = delays_break(delays, k, channel->passed)->piece;
  bool is_before = delay->is_fixed ? channel->first == NO_PIECE : at <= now->begin;
  if (is_before || begin >= end) {
    set_constant(leaves, is_before ? channel->start : channel->last);
  } else {
    channel->cursor = find_piece(delays, channel->cursor, begin, end, at);
    expand(delays, k, channel->cursor, at, leaves);
  }
  leaves[PIECE_DEGREE + 1] = at;
}

void delays_read(Delays *delays, double t, const double *y) {
  DelaysNow *now = delays->now;
  if (!now->has_begun || (!delays->are_free && now->read == t)) return;
  if (delays->are_free) read_times(delays, t, y);
  for (int k = 0; k < delays->count; k++) read_channel(delays, k, t);
  now->read = t;
}

int delays_fault(const Delays *delays) {
  for (int k = 0; k < delays->count; k++) {
    const Delay *delay = &delays->delay[k];
    const DelayChannel *channel = &delays->channel[k];
    if (delay->is_pipe && (!delays->pipe[k].is_fit || delays->pipe[k].profile.is_full)) return k;
    if (delay->is_pipe) continue;
    bool vanishes = channel->time == 0 && delay->is_fixed && !delay->is_discrete;
    if (vanishes || !(channel->time >= 0) || !(channel->time <= channel->longest * (1 + 1e-12))) return k;
  }
  return -1;
}

double delays_longest_step(Delays *delays, double t, const double *y) {
  double longest = HUGE_VAL;
  delays_read(delays, t, y);
  for (int k = 0; k < delays->count; k++) {
    const Delay *delay = &delays->delay[k];
    const DelayChannel *channel = &delays->channel[k];
    DelayPipe *pipe = &delays->pipe[k];
    double time = delay->is_fixed ? channel->time : fmax(channel->time, SHORTEST * channel->longest);
    if (delay->is_pipe) pipe->begin = pipe->x, time = STEP_PART / fabs(pipe->rate);
    if (!delay->is_discrete) longest = fmin(longest, time);
  }
  return longest;
}

double delays_moved(Delays *delays, double t, const double *y) {
  double most = 0;
  delays_read(delays, t, y);
  for (int k = 0; k < delays->count; k++)
    if (delays->delay[k].is_pipe) most = fmax(most, fabs(delays->pipe[k].x - delays->pipe[k].begin));
  return most;
}

/* ---- the start ---- */

bool delays_points_fit(const double *points, int count) {
  for (int k = 0; k + 1 < count; k++)
    if (!(points[k] <= points[k + 1])) return false;
  return count > 1 && points[0] == 0 && points[count - 1] == 1;
}

/* Sets the break that a pipe waits for. No break arrives at the end at which the pipe is filled. */
static void set_break(const Delays *delays, int k) {
  DelayPipe *pipe = &delays->pipe[k];
  ProfileRing ring = delays_ring(delays, k);
  double limit = pipe->is_positive ? HUGE_VAL : profile_limit(&pipe->profile, &ring, -pipe->x, true);
  delays->discretes[delays->delay[k].leaf + PIPE_BREAK] = fmin(limit, FAR - pipe->x);
}

/* Fills a pipe with its contents at the start; `values` are those of all points. */
static void fill_pipe(const Delays *delays, int k) {
  const Delay *delay = &delays->delay[k];
  DelayPipe *pipe = &delays->pipe[k];
  ProfileRing ring = delays_ring(delays, k);
  double *points = delays->values + delay->first_point;
  pipe->is_fit = delays_points_fit(points, delay->points);
  points[0] = 0;
  points[delay->points - 1] = 1;
  profile_fill(&pipe->profile, &ring, points, points + delay->points, delay->points, pipe->x);
  read_pipe(delays, k);
  delays->discretes[delay->leaf + PIPE_BREAK] = FAR - pipe->x;
  delays->discretes[delay->leaf + PIPE_SIGN] = 1;
}

/* Sets the inflow of a pipe from now on, and finds the next break that leaves it. */
static void await_break(const Delays *delays, int k, double enters, bool is_kink) {
  const Delay *delay = &delays->delay[k];
  DelayPipe *pipe = &delays->pipe[k];
  ProfileRing ring = delays_ring(delays, k);
  profile_announce(&pipe->profile, &ring, pipe->is_positive, pipe->x, enters, is_kink);
  set_break(delays, k);
  delays->discretes[delay->leaf + PIPE_SIGN] = delays->discretes[delay->arrival] != 0 ? -1 : 1;
}

/* Nested delays are set from the inside out: each round sets the delays whose arguments no longer change, until a round changes
 * none. */
bool delays_guess(Delays *delays, double t, const double *y) {
  bool changed = false, again = true;
  for (int round = 0; again && round < delays->count; round++) {
    bool has_points = again = false;
    delays->evaluate(delays->host, DELAY_VALUES, t, y, delays->nodes);
    read_times(delays, t, y);
    for (int k = 0; k < delays->count; k++) {
      double *leaves = delays->discretes + delays->delay[k].leaf, value = delays->nodes[k], before[DELAY_LEAVES];
      size_t size = (delays->delay[k].is_discrete ? 1 : DELAY_LEAVES) * sizeof *leaves;
      memcpy(before, leaves, size);
      if (delays->delay[k].is_pipe && !has_points) {
        delays->evaluate(delays->host, DELAY_POINTS, t, y, delays->values);
        has_points = true;
      }
      if (delays->delay[k].is_pipe) fill_pipe(delays, k);
      else if (delays->delay[k].is_discrete) *leaves = value;
      else set_constant(leaves, value);
      changed = changed || !(fabs(leaves[0] - before[0]) <= 1e-14 * fabs(before[0]));
      again = again || memcmp(leaves, before, size) != 0;
    }
  }
  return changed;
}

void delays_begin(Delays *delays, double t, const double *y) {
  DelaysNow *now = delays->now;
  delays_guess(delays, t, y);
  read_times(delays, t, y);
  *now = (DelaysNow){.begin = t, .read = nan(""), .noted = t, .level = LEVEL_NONE, .has_begun = true};
  for (int k = 0; k < delays->count; k++) {
    double value = delays->nodes[k];
    DelayChannel *channel = &delays->channel[k];
    if (delays->delay[k].is_pipe) {
      delays->pipe[k].begin = delays->pipe[k].end = delays->pipe[k].x;
      await_break(delays, k, value, true);
      continue;
    }
    channel->start = channel->last = value;
    channel->first = NO_PIECE;
    channel->cursor = channel->passed = channel->breaks = 0;
    now->reach = fmax(now->reach, channel->longest);
    if (!delays->delay[k].is_discrete)
      *delays_break(delays, k, channel->breaks++) = (DelayBreak){t, value, 0, LEVEL_KINK};
  }
}

/* ---- pieces ---- */

static double node_time(int node, double from, double to) {
  return node < PIECE_NODES - 1 ? from + 0.5 * (to - from) * (1 + piece_node((uint32_t)node)) : to;
}

/* Stores the values at a node of the current piece. */
static void sample(Delays *delays, int node, double t, const double *y) {
  int count = delays->count;
  delays_read(delays, t, y);
  delays->evaluate(delays->host, DELAY_VALUES, t, y, delays->nodes + node * count);
  for (int k = 0; k < count; k++) delays->places[node * count + k] = delays->pipe[k].x;
}

/* The number of pieces into which a step must be divided. */
static int count_parts(const Delays *delays, double tolerance) {
  double worst = 0, c[PIECE_NODES];
  size_t stride = (size_t)delays->count;
  for (int k = 0; k < delays->count; k++) {
    if (delays->delay[k].is_discrete) continue;
    piece_fit(delays->nodes + k, stride, c);
    worst = fmax(worst, piece_error(c) / fmax(1, fabs(c[0])));
    if (!delays->delay[k].is_pipe) continue;
    piece_fit(delays->places + k, stride, c);
    worst = fmax(worst, piece_error(c));
  }
  double parts = ceil(pow(worst / tolerance, 1.0 / PIECE_NODES));
  return parts > 1 ? (int)fmin(parts, PARTS_LIMIT) : 1;
}

/* Do the pieces on both sides of the last break differ in their slope or curvature? */
static bool has_kink(const Delays *delays, int k, int64_t piece) {
  double left[DELAY_LEAVES], right[DELAY_LEAVES], t = delays_piece(delays, piece)->from, factor = 1;
  expand(delays, k, piece - 1, t, left);
  expand(delays, k, piece, t, right);
  for (int order = 1; order <= 2; order++) {
    double change = fabs(right[order] - left[order]), size = fmax(fabs(right[order]), fabs(left[order]));
    factor *= delays->channel[k].time / order;
    if (change * factor > KINK * fmax(1, fabs(right[0])) && change > 1e-3 * size) return true;
  }
  return false;
}

/* Removes breaks at the beginning of the last piece if the function turns out to be smooth there. */
static bool drop_smooth(const Delays *delays) {
  int64_t last = piece_end(delays->now) - 1;
  bool any = false;
  for (int k = 0; k < delays->count && delays->now->count > 1; k++) {
    DelayChannel *channel = &delays->channel[k];
    if (channel->breaks == channel->passed) continue;
    const DelayBreak *newest = delays_break(delays, k, channel->breaks - 1);
    if (newest->piece != last || newest->level == LEVEL_JUMP || has_kink(delays, k, last)) continue;
    channel->breaks--;
    any = true;
  }
  return any;
}

/* Adds the contents that have entered the pipes in the step from this time on. Returns true if a break at its beginning
 * turned out to be none. */
static bool add_inflow(const Delays *delays, double from, int64_t piece) {
  bool any = false;
  for (int k = 0; k < delays->count; k++) {
    if (!delays->delay[k].is_pipe) continue;
    DelayPipe *pipe = &delays->pipe[k];
    ProfileRing ring = delays_ring(delays, k);
    double x[PIECE_NODES];
    piece_fit(delays->places + k, (size_t)delays->count, x);
    pipe->end = pipe->x;
    pipe->is_fit = pipe->is_fit && fabs(pipe->end - pipe->begin) <= 1;
    if (!profile_add(&pipe->profile, &ring, pipe->is_positive, pipe->begin, x, delays_coefficients(delays, piece, k),
                     from == delays->now->noted))
      continue;
    set_break(delays, k);
    any = true;
  }
  return any;
}

/* Forgets the pieces from `from` on (the next piece begins there), and the pieces that nothing reads after `begin`, the beginning
 * of the step. false: there is no room for another piece. */
static bool make_room(Delays *delays, double begin, double from) {
  DelaysNow *now = delays->now;
  while (now->count && delays_piece(delays, piece_end(now) - 1)->from >= from) now->count--;
  while (now->count && delays_piece(delays, now->first)->to < begin - now->reach) now->first++, now->count--;
  return now->count < delays->capacity;
}

/* Adds the piece of all nodes. Returns true if a break at its beginning turned out to be none. */
static bool add(Delays *delays, double from, double to) {
  DelaysNow *now = delays->now;
  int count = delays->count;
  if (!(to > from)) return false;
  int64_t piece = now->first + now->count++;
  *delays_piece(delays, piece) = (DelayPiece){from, to};
  for (int k = 0; k < count; k++) {
    piece_fit(delays->nodes + k, (size_t)count, delays_coefficients(delays, piece, k));
    delays->channel[k].last = delays->nodes[(PIECE_NODES - 1) * count + k];
  }
  now->read = nan("");
  bool is_shorter = add_inflow(delays, from, piece);
  return drop_smooth(delays) || is_shorter;
}

static void sample_part(Delays *delays, const DelaysStep *step, double from, double to) {
  for (int node = 0; node < PIECE_NODES; node++) {
    double t = node_time(node, from, to);
    sample(delays, node, t, step->columns(step->host, t));
  }
}

bool delays_keep_step(Delays *delays, const DelaysStep *step, bool *is_smooth) {
  double from = step->begin;
  *is_smooth = false;
  sample_part(delays, step, step->begin, step->end);
  int parts = count_parts(delays, step->tolerance);
  for (int k = 0; k < parts; k++) {
    double to = k + 1 < parts ? step->begin + (step->end - step->begin) * (k + 1) / parts : step->end;
    if (parts > 1) sample_part(delays, step, from, to);
    if (!make_room(delays, step->begin, from) && !step->reserve) return false;
    if (step->reserve) step->reserve(step->host);
    *is_smooth = add(delays, from, to) || *is_smooth;
    from = to;
  }
  return true;
}

double delays_end(const Delays *delays) {
  const DelaysNow *now = delays->now;
  return now->count ? delays_piece(delays, piece_end(now) - 1)->to : now->begin;
}

/* ---- breaks ---- */

static double due_time(const Delays *delays, int k) {
  const DelayChannel *channel = &delays->channel[k];
  if (channel->passed == channel->breaks) return HUGE_VAL;
  return delays_break(delays, k, channel->passed)->time + channel->time;
}

double delays_next_time(const Delays *delays, double t) {
  double next = HUGE_VAL;
  for (int k = 0; k < delays->count; k++) {
    double due = due_time(delays, k);
    if (delays->delay[k].is_fixed && due > t) next = fmin(next, due);
  }
  return next;
}

/* Sums of delays that differ only by round-off count as one. */
static bool is_due(double due, double t) { return due <= t + 64 * DBL_EPSILON * fabs(t); }

static bool has_jumped(const Delay *delay, const double *before, const double *leaves) {
  for (int order = 0; order <= PIECE_DEGREE; order++) {
    double size = fmax(fabs(before[order]), fabs(leaves[order]));
    if (delay->matters >> order & 1 && fabs(leaves[order] - before[order]) > JUMP * size) return true;
  }
  return false;
}

/* Passes the breaks of a delay that are due; *value is the value after the last one. false: none was due. */
static bool pass_breaks(Delays *delays, int k, double t, double *value) {
  DelayChannel *channel = &delays->channel[k];
  bool any = false;
  for (; is_due(due_time(delays, k), t); any = true) {
    const DelayBreak *passed = delays_break(delays, k, channel->passed++);
    channel->first = passed->piece;
    *value = passed->value;
    if (passed->level < delays->now->level) delays->now->level = passed->level;
  }
  return any;
}

/* Passes the break of a pipe that has reached its end. */
static bool pass_pipe(Delays *delays, int k) {
  DelayPipe *pipe = &delays->pipe[k];
  DelaysNow *now = delays->now;
  ProfileRing ring = delays_ring(delays, k);
  double *leaves = delays->discretes + delays->delay[k].leaf, before[DELAY_LEAVES];
  ProfileBreak passed = pipe->is_positive ? PROFILE_SMOOTH : profile_pass(&pipe->profile, &ring, -pipe->x);
  if (passed == PROFILE_SMOOTH) return false;
  now->level = passed == PROFILE_JUMP || now->level == LEVEL_JUMP ? LEVEL_JUMP : LEVEL_KINK;
  memcpy(before, leaves, sizeof before);
  read_pipe(delays, k);
  return has_jumped(&delays->delay[k], before, leaves);
}

bool delays_pass(Delays *delays, double t, const double *y) {
  bool jumps = false;
  delays_read(delays, t, y);
  delays->now->level = LEVEL_NONE;
  for (int k = 0; k < delays->count; k++) {
    const Delay *delay = &delays->delay[k];
    double *leaves = delays->discretes + delay->leaf, before[DELAY_LEAVES], value = 0;
    if (delay->is_pipe) jumps = pass_pipe(delays, k) || jumps;
    if (!delay->is_fixed || !pass_breaks(delays, k, t, &value)) continue;
    if (delay->is_discrete) {
      *leaves = value; /* a step continues with this value */
      continue;
    }
    memcpy(before, leaves, sizeof before);
    read_channel(delays, k, t);
    jumps = jumps || has_jumped(delay, before, leaves);
  }
  return jumps;
}

bool delays_have_room(const Delays *delays) {
  for (int k = 0; k < delays->count; k++)
    if (delays->channel[k].breaks - delays->channel[k].passed >= delays->capacity) return false;
  return true;
}

/* x does not jump, or jumps by too little to move the contents of the pipe. */
static void note_pipe(const Delays *delays, int k, double enters, bool is_kink) {
  DelayPipe *pipe = &delays->pipe[k];
  pipe->is_fit = pipe->is_fit && fabs(pipe->x - pipe->end) <= 1;
  pipe->end = pipe->x;
  await_break(delays, k, enters, is_kink);
}

void delays_note(Delays *delays, double t, const double *y, bool is_kink) {
  DelaysNow *now = delays->now;
  if (t <= now->begin && !now->count) {
    delays_begin(delays, t, y);
    return;
  }
  is_kink = is_kink || now->level != LEVEL_NONE;
  sample(delays, 0, t, y);
  now->noted = t;
  for (int k = 0; k < delays->count; k++) {
    const Delay *delay = &delays->delay[k];
    DelayChannel *channel = &delays->channel[k];
    double value = delays->nodes[k], size = fmax(fabs(value), fabs(channel->last));
    bool jumps = fabs(value - channel->last) > (delay->is_discrete ? 0 : JUMP * size);
    channel->last = value;
    if (delay->is_pipe) note_pipe(delays, k, value, is_kink);
    if (!delay->is_fixed || (!jumps && (delay->is_discrete || !is_kink))) continue;
    *delays_break(delays, k, channel->breaks++) =
        (DelayBreak){t, value, piece_end(now), jumps ? LEVEL_JUMP : LEVEL_KINK};
  }
}
