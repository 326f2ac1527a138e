/* past: what delays look back at, and what pipes contain. The values delayed are kept as pieces of polynomials, one or several for each step, in a ring; each delay
 * reads the piece that is its time ago into the discrete leaves that stand for it: the value and its derivatives, and the time read. A
 * pipe reads its profile instead (profile.c), which grows by a piece a step.
 *
 * Where a value jumped or had a kink, a delay by a fixed time does so again that much later: such a break is known in advance, and until
 * the event that passes it the delay stays on its near side. */
#include "solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LEAVES = PIECE_NODES + 1 };

/* A kink of a value is one of a higher derivative in what follows from it: behind so many delays nobody notices. */
enum { LEVEL_LIMIT = 4, NO_LEVEL = 1000, PARTS_LIMIT = 16 };

/* Leaves of a pipe. */
enum { PIPE_BREAK = LEAVES, PIPE_SIGN };

/* Before the run. */
enum { NO_PIECE = -1 };

/* Part of a value by which it jumps at least; changes of derivatives over the time of the delay that make less of it are no kink. */
static const double JUMP = 1e-10, KINK = 1e-6;

/* Of the longest delay: one that vanishes is read a little ahead of what is known. */
static const double SHORTEST = 1e-3;

/* A pipe without breaks waits for one that is so many times its length away; part of it by which its contents may move in a step. */
static const double FAR = 1000, STEP_PART = 0.5;

/* ---- the ring ---- */

static int piece_end(const Past *past) { return past->first + past->count; }

static double *bounds_of(const Solver *solver, int piece) {
  return solver->piece_bounds + 2 * (piece % solver->model->pieces);
}

static double *coefficients_of(const Solver *solver, int piece, int k) {
  return solver->piece_values + (size_t)(piece % solver->model->pieces * solver->model->delays + k) * PIECE_NODES;
}

static PastBreak *break_of(const Solver *solver, int k, int number) {
  return &solver->breaks[k * solver->model->pieces + number % solver->model->pieces];
}

/* The value and all derivatives of a piece at a time. */
static void expand(const Solver *solver, int k, int piece, double at, double *leaves) {
  const double *bounds = bounds_of(solver, piece);
  double half = 0.5 * (bounds[1] - bounds[0]), s = (at - bounds[0]) / half - 1, factor = 1;
  piece_expand(coefficients_of(solver, piece, k), s, leaves);
  for (int order = 0; order < PIECE_NODES; order++) {
    leaves[order] *= factor;
    factor *= (order + 1) / half;
  }
}

/* The piece from `begin` to before `end` that has this time; the nearest if none has. */
static int find_piece(const Solver *solver, int guess, int begin, int end, double at) {
  int piece = guess < begin ? begin : guess >= end ? end - 1 : guess;
  while (piece + 1 < end && at > bounds_of(solver, piece)[1]) piece++;
  while (piece > begin && at < bounds_of(solver, piece)[0]) piece--;
  return piece;
}

/* ---- reading ---- */

static int run(const Solver *solver, ModelProgram *program, double t, const double *y, double *out) {
  return program(t, y, solver->parameters, solver->discretes, solver->pre, solver->work, out);
}

static void read_times(const Solver *solver, double t, const double *y) {
  int count = solver->model->delays;
  run(solver, solver->model->delay_times, t, y, solver->delay_values);
  for (int k = 0; k < count; k++) {
    const double *values = solver->delay_values + k;
    PastPipe *pipe = &solver->pipe[k];
    if (solver->model->delay[k].is_pipe) {
      pipe->x = values[0];
      pipe->is_positive = values[count] != 0;
      pipe->rate = values[2 * count];
    } else {
      solver->channel[k].time = values[0];
      solver->channel[k].longest = values[count];
    }
  }
}

static ProfileRing ring_of(const Solver *solver, int k) {
  return (ProfileRing){solver->entries + (size_t)k * (size_t)solver->model->pieces, solver->model->pieces};
}

/* What is at the place 0. */
static void read_pipe(const Solver *solver, int k) {
  ProfileRing ring = ring_of(solver, k);
  double *leaves = solver->discretes + solver->model->delay[k].leaf, s = -solver->pipe[k].x;
  profile_read(&solver->pipe[k].profile, &ring, s, leaves);
  leaves[PIECE_DEGREE + 1] = s;
}

static void set_constant(double *leaves, double value) {
  memset(leaves, 0, LEAVES * sizeof *leaves);
  leaves[0] = value;
}

static void read_channel(const Solver *solver, int k, double t) {
  const ModelDelay *delay = &solver->model->delay[k];
  const Past *past = solver->past;
  PastChannel *channel = &solver->channel[k];
  double *leaves = solver->discretes + delay->leaf, at = t - channel->time;
  int begin = past->first, end = piece_end(past);
  if (delay->is_pipe && !solver->pipe[k].is_positive) read_pipe(solver, k);
  if (delay->is_discrete || delay->is_pipe) return;
  if (delay->is_fixed && channel->first > begin) begin = channel->first;
  if (delay->is_fixed && channel->passed < channel->breaks) end = break_of(solver, k, channel->passed)->piece;
  int is_before = delay->is_fixed ? channel->first == NO_PIECE : at <= past->begin;
  if (is_before || begin >= end) {
    set_constant(leaves, is_before ? channel->start : channel->last);
  } else {
    channel->cursor = find_piece(solver, channel->cursor, begin, end, at);
    expand(solver, k, channel->cursor, at, leaves);
  }
  leaves[PIECE_DEGREE + 1] = at;
}

/* Reads all delays for the point (t, y); nothing before the run has begun. */
void past_read(const Solver *solver, double t, const double *y) {
  Past *past = solver->past;
  if (!past->has_begun || (!solver->model->has_free_delays && past->read == t)) return;
  if (solver->model->has_free_delays) read_times(solver, t, y);
  for (int k = 0; k < solver->model->delays; k++) read_channel(solver, k, t);
  past->read = t;
}

/* The values of a program at a point, where delays have been read for it. */
int program_run(const Solver *solver, ModelProgram *program, double t, const double *y, double *out) {
  if (solver->model->delays) past_read(solver, t, y);
  return run(solver, program, t, y, out);
}

/* Is the time of every delay one that it may have? One that is fixed at zero leaves an algebraic loop that nobody has looked for. */
static int has_fault(const Solver *solver) {
  for (int k = 0; k < solver->model->delays; k++) {
    const ModelDelay *delay = &solver->model->delay[k];
    const PastChannel *channel = &solver->channel[k];
    if (delay->is_pipe && (!solver->pipe[k].is_fit || solver->pipe[k].profile.is_full)) return 1;
    if (delay->is_pipe) continue;
    int vanishes = channel->time == 0 && delay->is_fixed && !delay->is_discrete;
    if (vanishes || !(channel->time >= 0) || !(channel->time <= channel->longest * (1 + 1e-12))) return 1;
  }
  return 0;
}

/* The longest step from (t, y) that needs no value of its own. */
double past_longest_step(const Solver *solver, double t, const double *y) {
  double longest = HUGE_VAL;
  past_read(solver, t, y);
  for (int k = 0; k < solver->model->delays; k++) {
    const ModelDelay *delay = &solver->model->delay[k];
    const PastChannel *channel = &solver->channel[k];
    PastPipe *pipe = &solver->pipe[k];
    double time = delay->is_fixed ? channel->time : fmax(channel->time, SHORTEST * channel->longest);
    if (delay->is_pipe) pipe->begin = pipe->x, time = STEP_PART / fabs(pipe->rate);
    if (!delay->is_discrete) longest = fmin(longest, time);
  }
  return longest;
}

/* By which part of a pipe the contents have moved at most since the step began. */
double past_moved(const Solver *solver, double t, const double *y) {
  double most = 0;
  past_read(solver, t, y);
  for (int k = 0; k < solver->model->delays; k++)
    if (solver->model->delay[k].is_pipe) most = fmax(most, fabs(solver->pipe[k].x - solver->pipe[k].begin));
  return most;
}

/* ---- the start ---- */

/* The break that a pipe waits for; none comes to the end at which it is filled. */
static void set_break(const Solver *solver, int k) {
  PastPipe *pipe = &solver->pipe[k];
  ProfileRing ring = ring_of(solver, k);
  double limit = pipe->is_positive ? HUGE_VAL : profile_limit(&pipe->profile, &ring, -pipe->x, 1);
  solver->discretes[solver->model->delay[k].leaf + PIPE_BREAK] = fmin(limit, FAR - pipe->x);
}

/* Places ascend from 0 to 1. */
static int points_fit(const double *points, int count) {
  for (int k = 0; k + 1 < count; k++)
    if (!(points[k] <= points[k + 1])) return 0;
  return count > 1 && points[0] == 0 && points[count - 1] == 1;
}

/* What a pipe contains at the start. */
static void fill_pipe(const Solver *solver, int k, double t, const double *y) {
  const ModelDelay *delay = &solver->model->delay[k];
  PastPipe *pipe = &solver->pipe[k];
  ProfileRing ring = ring_of(solver, k);
  double *points = solver->delay_values + delay->first_point;
  run(solver, solver->model->pipe_points, t, y, solver->delay_values);
  pipe->is_fit = points_fit(points, delay->points);
  points[0] = 0;
  points[delay->points - 1] = 1;
  profile_fill(&pipe->profile, &ring, points, points + delay->points, delay->points, pipe->x);
  read_pipe(solver, k);
  solver->discretes[delay->leaf + PIPE_BREAK] = FAR - pipe->x;
  solver->discretes[delay->leaf + PIPE_SIGN] = 1;
}

/* Tells a pipe of what enters from now on, and which of its breaks is the next to come out. */
static void await_break(const Solver *solver, int k, double enters, int is_kink) {
  const ModelDelay *delay = &solver->model->delay[k];
  PastPipe *pipe = &solver->pipe[k];
  ProfileRing ring = ring_of(solver, k);
  profile_announce(&pipe->profile, &ring, pipe->is_positive, pipe->x, enters, is_kink);
  set_break(solver, k);
  solver->discretes[delay->leaf + PIPE_SIGN] = solver->discretes[delay->arrival] != 0 ? -1 : 1;
}

/* Delays are what their values are at (t, y), as they are before and at the start; those inside of others settle first. Returns whether
 * one has changed. */
int past_guess(Solver *solver, double t, const double *y) {
  const Model *model = solver->model;
  int changed = 0;
  for (int round = 0; round < model->delays; round++) {
    run(solver, model->delayed, t, y, solver->delay_nodes);
    read_times(solver, t, y);
    for (int k = 0; k < model->delays; k++) {
      double *leaves = solver->discretes + model->delay[k].leaf, value = solver->delay_nodes[k];
      double before = leaves[0];
      if (model->delay[k].is_pipe) fill_pipe(solver, k, t, y);
      else if (model->delay[k].is_discrete) *leaves = value;
      else set_constant(leaves, value);
      changed |= !(fabs(leaves[0] - before) <= 1e-14 * fabs(before));
    }
  }
  return changed;
}

/* A run begins at (t, y). Returns 1 where the time of a delay is none that it may have. */
int past_begin(Solver *solver, double t, const double *y) {
  Past *past = solver->past;
  past_guess(solver, t, y);
  read_times(solver, t, y);
  *past = (Past){.begin = t, .end = t, .noted = t, .read = number_nan(), .has_begun = 1, .level = NO_LEVEL};
  for (int k = 0; k < solver->model->delays; k++) {
    double value = solver->delay_nodes[k];
    PastChannel *channel = &solver->channel[k];
    if (solver->model->delay[k].is_pipe) {
      solver->pipe[k].begin = solver->pipe[k].end = solver->pipe[k].x;
      await_break(solver, k, value, 1);
      continue;
    }
    channel->start = channel->last = value;
    channel->first = NO_PIECE;
    channel->cursor = channel->passed = channel->breaks = 0;
    past->reach = fmax(past->reach, channel->longest);
    if (!solver->model->delay[k].is_discrete) *break_of(solver, k, channel->breaks++) = (PastBreak){t, value, 0, 1};
  }
  memcpy(solver->past_y, y, (size_t)solver->model->columns * sizeof(double));
  return has_fault(solver);
}

/* ---- pieces ---- */

double past_node_time(int node, double from, double to) {
  return node < PIECE_NODES - 1 ? from + 0.5 * (to - from) * (1 + piece_node(node)) : to;
}

/* The values at a node of the piece under way. */
void past_sample(const Solver *solver, int node, double t, const double *y) {
  int count = solver->model->delays;
  past_read(solver, t, y);
  run(solver, solver->model->delayed, t, y, solver->delay_nodes + node * count);
  for (int k = 0; k < count; k++) solver->delay_places[node * count + k] = solver->pipe[k].x;
}

/* Into how many parts a step is to be divided, each with a piece of its own, so that polynomials through the values sampled are exact to
 * the tolerance, as far as that can be. */
int past_parts(const Solver *solver) {
  double worst = 0, c[PIECE_NODES];
  for (int k = 0; k < solver->model->delays; k++) {
    if (solver->model->delay[k].is_discrete) continue;
    piece_fit(solver->delay_nodes + k, solver->model->delays, c);
    worst = fmax(worst, piece_error(c) / fmax(1, fabs(c[0])));
    if (!solver->model->delay[k].is_pipe) continue;
    piece_fit(solver->delay_places + k, solver->model->delays, c);
    worst = fmax(worst, piece_error(c));
  }
  double parts = ceil(pow(worst / solver->now->tolerance, 1.0 / PIECE_NODES));
  return parts > 1 ? (int)fmin(parts, PARTS_LIMIT) : 1;
}

/* Do the pieces on both sides of the last break differ in their slope or curvature? */
static int has_kink(const Solver *solver, int k, int piece) {
  double left[LEAVES], right[LEAVES], t = bounds_of(solver, piece)[0], factor = 1;
  expand(solver, k, piece - 1, t, left);
  expand(solver, k, piece, t, right);
  for (int order = 1; order <= 2; order++) {
    double change = fabs(right[order] - left[order]), size = fmax(fabs(right[order]), fabs(left[order]));
    factor *= solver->channel[k].time / order;
    if (change * factor > KINK * fmax(1, fabs(right[0])) && change > 1e-3 * size) return 1;
  }
  return 0;
}

/* Takes back breaks at the beginning of the last piece that turn out to be none. */
static void drop_smooth(const Solver *solver) {
  const Past *past = solver->past;
  int last = piece_end(past) - 1;
  for (int k = 0; k < solver->model->delays && past->count > 1; k++) {
    PastChannel *channel = &solver->channel[k];
    if (channel->breaks == channel->passed) continue;
    const PastBreak *newest = break_of(solver, k, channel->breaks - 1);
    if (newest->piece == last && newest->level > 0 && !has_kink(solver, k, last)) channel->breaks--;
  }
}

/* What has entered pipes in the step from this time on. */
static void add_inflow(const Solver *solver, double from, int piece) {
  for (int k = 0; k < solver->model->delays; k++) {
    PastPipe *pipe = &solver->pipe[k];
    ProfileRing ring = ring_of(solver, k);
    double x[PIECE_NODES];
    if (!solver->model->delay[k].is_pipe) continue;
    piece_fit(solver->delay_places + k, solver->model->delays, x);
    pipe->end = pipe->x;
    pipe->is_fit = pipe->is_fit && fabs(pipe->end - pipe->begin) <= 1;
    if (profile_add(&pipe->profile, &ring, pipe->is_positive, pipe->begin, x, coefficients_of(solver, piece, k),
                    from == solver->past->noted))
      set_break(solver, k);
  }
}

/* Forgets what no delay reaches any more. Returns 1 where there is no room for another piece. */
static int make_room(const Solver *solver, double t) {
  Past *past = solver->past;
  while (past->count && bounds_of(solver, past->first)[1] < t - past->reach) past->first++, past->count--;
  return past->count >= solver->model->pieces;
}

/* The piece of all nodes of a step from `from` to `to`. Pieces of a step from there that were added before are forgotten. Returns 1 where
 * there is no room, or where the time of a delay is none that it may have. */
int past_add(const Solver *solver, double from, double to) {
  Past *past = solver->past;
  int count = solver->model->delays;
  while (past->count && bounds_of(solver, piece_end(past) - 1)[0] >= from) past->count--;
  if (!(to > from)) return 0;
  if (make_room(solver, solver->now->step_begin)) return 1; /* output points of the step look back from there on */
  int piece = past->first + past->count++;
  bounds_of(solver, piece)[0] = from;
  bounds_of(solver, piece)[1] = to;
  for (int k = 0; k < count; k++) {
    piece_fit(solver->delay_nodes + k, count, coefficients_of(solver, piece, k));
    solver->channel[k].last = solver->delay_nodes[(PIECE_NODES - 1) * count + k];
  }
  past->read = number_nan();
  past->end = to;
  add_inflow(solver, from, piece);
  drop_smooth(solver);
  return has_fault(solver);
}

/* ---- breaks ---- */

static double due_time(const Solver *solver, int k) {
  const PastChannel *channel = &solver->channel[k];
  if (channel->passed == channel->breaks) return HUGE_VAL;
  return break_of(solver, k, channel->passed)->time + channel->time;
}

/* The first time behind t at which a break is passed. */
double past_next_time(const Solver *solver, double t) {
  double next = HUGE_VAL;
  for (int k = 0; k < solver->model->delays; k++) {
    double due = due_time(solver, k);
    if (solver->model->delay[k].is_fixed && due > t) next = fmin(next, due);
  }
  return next;
}

/* Sums of delays that differ by round-off only are one. */
static int is_due(double due, double t) { return due <= t + 64 * DBL_EPSILON * fabs(t); }

static int has_jumped(const Model *model, int leaf, const double *before, const double *leaves) {
  for (int order = 0; order <= PIECE_DEGREE; order++) {
    double size = fmax(fabs(before[order]), fabs(leaves[order]));
    if (model->matters[leaf + order] && fabs(leaves[order] - before[order]) > JUMP * size) return 1;
  }
  return 0;
}

/* Passes the breaks of a delay that are due; the value behind the last one. Returns 0 where none was. */
static int pass_breaks(const Solver *solver, int k, double t, double *value) {
  PastChannel *channel = &solver->channel[k];
  int any = 0;
  for (; is_due(due_time(solver, k), t); any = 1) {
    const PastBreak *passed = break_of(solver, k, channel->passed++);
    channel->first = passed->piece;
    *value = passed->value;
    if (passed->level < solver->past->level) solver->past->level = passed->level;
  }
  return any;
}

/* Passes the break of a pipe that has come out. */
static int pass_pipe(const Solver *solver, int k) {
  const ModelDelay *delay = &solver->model->delay[k];
  PastPipe *pipe = &solver->pipe[k];
  ProfileRing ring = ring_of(solver, k);
  double *leaves = solver->discretes + delay->leaf, before[LEAVES];
  ProfileBreak passed = pipe->is_positive ? PROFILE_SMOOTH : profile_pass(&pipe->profile, &ring, -pipe->x);
  if (passed == PROFILE_SMOOTH) return 0;
  solver->past->level = passed == PROFILE_JUMP || solver->past->level == 0 ? 0 : 1;
  memcpy(before, leaves, sizeof before);
  read_pipe(solver, k);
  return has_jumped(solver->model, delay->leaf, before, leaves);
}

/* Passes the breaks that are due at t. Returns 1 where something that rows depend on jumps. */
int past_pass(const Solver *solver, double t, const double *y) {
  int jumps = 0;
  past_read(solver, t, y);
  solver->past->level = NO_LEVEL;
  for (int k = 0; k < solver->model->delays; k++) {
    const ModelDelay *delay = &solver->model->delay[k];
    double *leaves = solver->discretes + delay->leaf, before[LEAVES], value = 0;
    if (delay->is_pipe) jumps |= pass_pipe(solver, k);
    if (!delay->is_fixed || !pass_breaks(solver, k, t, &value)) continue;
    if (delay->is_discrete) {
      *leaves = value; /* a step takes it over */
      continue;
    }
    memcpy(before, leaves, sizeof before);
    read_channel(solver, k, t);
    jumps |= has_jumped(solver->model, delay->leaf, before, leaves);
  }
  return jumps;
}

/* x has no jump; one that is less than the pipe moves its contents. */
static void note_pipe(const Solver *solver, int k, double enters, int is_kink) {
  PastPipe *pipe = &solver->pipe[k];
  pipe->is_fit = pipe->is_fit && fabs(pipe->x - pipe->end) <= 1;
  pipe->end = pipe->x;
  await_break(solver, k, enters, is_kink);
}

/* Ends an event at (t, y): notes what jumped. is_kink: what changes may do so in its derivatives. Returns 1 where there is no room. */
int past_note(Solver *solver, double t, const double *y, int is_kink) {
  Past *past = solver->past;
  int level = past->level != NO_LEVEL ? past->level + 1 : is_kink ? 1 : NO_LEVEL;
  if (t <= past->begin && !past->count) return past_begin(solver, t, y);
  past_sample(solver, 0, t, y);
  memcpy(solver->past_y, y, (size_t)solver->model->columns * sizeof(double));
  past->noted = t;
  for (int k = 0; k < solver->model->delays; k++) {
    const ModelDelay *delay = &solver->model->delay[k];
    PastChannel *channel = &solver->channel[k];
    double value = solver->delay_nodes[k], size = fmax(fabs(value), fabs(channel->last));
    int jumps = fabs(value - channel->last) > (delay->is_discrete ? 0 : JUMP * size);
    channel->last = value;
    if (delay->is_pipe) note_pipe(solver, k, value, is_kink || past->level != NO_LEVEL);
    if (!delay->is_fixed || (!jumps && (delay->is_discrete || level > LEVEL_LIMIT))) continue;
    if (channel->breaks - channel->passed >= solver->model->pieces) return 1;
    *break_of(solver, k, channel->breaks++) = (PastBreak){t, value, piece_end(past), jumps ? 0 : level};
  }
  return 0;
}
