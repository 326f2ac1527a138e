/* past: see past.h. */
#include "code/past.h"

#include "core/profile.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

_Static_assert((int)PIECE_DEGREE == (int)DELAY_DEGREE, "the leaves of a delay are the coefficients of a piece");

/* A kink of a value is one of a higher derivative in what follows from it: behind so many delays nobody notices. */
enum { LEVEL_LIMIT = 4 };

/* Part of a value by which it jumps at least. */
static const double JUMP = 1e-10;

/* Of a value: changes of its derivatives over the time of the delay that make less are no kink. */
static const double KINK = 1e-6;

/* A step has at most so many pieces. */
enum { PARTS_LIMIT = 16 };

/* Pieces that are too old are dropped when so many are. */
enum { DROP_LEAST = 256 };

/* A pipe without breaks waits for one that is so many times its length away. */
static const double FAR = 1000;

/* Part of a pipe by which its contents may move in a step, by the velocity before it. */
static const double STEP_PART = 0.5;

#define NO_PIECE UINT64_MAX
#define NO_LEVEL UINT32_MAX

typedef struct Break {
  double time;
  double value;   /* behind it, of a discrete one */
  uint64_t piece; /* the first one behind it */
  uint32_t level; /* 0: a jump; else the derivative that jumps, or a higher one */
} Break;

typedef struct Transport {
  Profile profile;
  ProfileRing ring;
  double x, rate;
  double begin, end; /* x where the step under way began, and at the end of the last one */
  bool is_positive, is_fit;
} Transport;

typedef struct Channel {
  double time, longest;
  double start;   /* the value at all times before the run */
  double last;    /* at the end of what is known */
  uint64_t first; /* piece where the stretch without breaks begins that is read; NO_PIECE: before the run */
  uint64_t cursor;
  uint32_t passed; /* breaks */
  VEC(Break) breaks;
  Transport *pipe; /* NULL: a delay */
} Channel;

typedef struct Piece {
  double from, to;
} Piece;

struct Past {
  Heap *heap;
  const ArrayCode *code; /* whose columns the programs read */
  const Logic *logic;
  Workspace *values, *times;
  uint32_t count;
  Channel *channel;
  double *nodes;       /* values at the nodes of the piece under way */
  double *places;      /* x of pipes there */
  double *span;        /* the values of `times` */
  bool begun, changes; /* changes: not all times are fixed */
  double begin, read;  /* when the run began; time of the last reading */
  double noted;        /* time of the last event */
  double reach;        /* the longest delay */
  uint32_t level;      /* least of the breaks that the event under way passes */
  uint64_t dropped;    /* pieces */
  VEC(Piece) pieces;
  VEC(double) coefficients; /* PIECE_NODES for each delay and piece */
};

/* Entries of a pipe that there is room for at first. */
enum { FIRST_CAPACITY = 16 };

static Transport *transport_new(Heap *heap) {
  Transport *pipe = heap_alloc(heap, sizeof *pipe);
  ProfileEntry *entries = heap_array(heap, FIRST_CAPACITY, sizeof *entries);
  *pipe = (Transport){.profile = {.limit = INFINITY, .announced = PROFILE_SMOOTH}, .ring = {entries, FIRST_CAPACITY}};
  return pipe;
}

/* Makes room for so many entries in all. */
static void reserve_entries(Heap *heap, Transport *pipe, int count) {
  int capacity = pipe->ring.capacity;
  if (count <= capacity) return;
  while (capacity < count) capacity *= 2;
  ProfileEntry *entries = heap_array(heap, (size_t)capacity, sizeof *entries);
  for (int k = 0; k < pipe->profile.count; k++) entries[k] = *profile_entry(&pipe->profile, &pipe->ring, k);
  heap_free(heap, pipe->ring.entries);
  pipe->ring = (ProfileRing){entries, capacity};
  pipe->profile.first = 0;
}

Past *past_new(Heap *heap, const ArrayCode *code) {
  const Logic *logic = code->modes->logic;
  uint32_t count = logic->delays.count;
  if (!count) return NULL;
  Past *past = heap_alloc(heap, sizeof *past);
  *past = (Past){.heap = heap, .code = code, .logic = logic, .count = count, .level = NO_LEVEL};
  past->values = workspace_new(heap, code->delayed);
  past->times = workspace_new(heap, code->delay_times);
  past->channel = heap_array(heap, count, sizeof *past->channel);
  past->nodes = heap_array(heap, (size_t)PIECE_NODES * count, sizeof(double));
  past->places = heap_array(heap, (size_t)PIECE_NODES * count, sizeof(double));
  past->span = heap_array(heap, 3 * (size_t)count, sizeof(double));
  for (uint32_t k = 0; k < count; k++) {
    past->changes = past->changes || !logic->delays.data[k].is_fixed;
    if (logic->delays.data[k].pipe) past->channel[k].pipe = transport_new(heap);
  }
  return past;
}

/* ---- reading ---- */

static Point bare_point(const Evaluator *evaluator, double t, const double *y) {
  return (Point){t, y, evaluator->parameters, evaluator->discretes, evaluator->pre};
}

static void read_times(Past *past, const Point *point) {
  workspace_run(past->times, point, past->span);
  for (uint32_t k = 0; k < past->count; k++) {
    Channel *channel = &past->channel[k];
    double first = past->span[k], second = past->span[past->count + k], third = past->span[2 * past->count + k];
    if (channel->pipe) channel->pipe->x = first, channel->pipe->is_positive = second != 0, channel->pipe->rate = third;
    else channel->time = first, channel->longest = second;
  }
}

static void set_constant(double *leaves, double value) {
  memset(leaves, 0, DELAY_LEAVES * sizeof *leaves);
  leaves[0] = value;
}

static const Piece *piece_at(const Past *past, uint64_t piece) { return &past->pieces.data[piece - past->dropped]; }

/* The piece from `begin` to before `end` that has this time; the nearest if none has. */
static uint64_t find_piece(const Past *past, uint64_t guess, uint64_t begin, uint64_t end, double at) {
  uint64_t piece = guess < begin ? begin : guess >= end ? end - 1 : guess;
  while (piece + 1 < end && at > piece_at(past, piece)->to) piece++;
  while (piece > begin && at < piece_at(past, piece)->from) piece--;
  return piece;
}

/* The value and all derivatives of a piece at a time. */
static void expand(const Past *past, uint32_t k, uint64_t piece, double at, double *leaves) {
  const Piece *stretch = piece_at(past, piece);
  double half = 0.5 * (stretch->to - stretch->from), s = (at - stretch->from) / half - 1, factor = 1;
  piece_expand(past->coefficients.data + ((piece - past->dropped) * past->count + k) * PIECE_NODES, s, leaves);
  for (int order = 0; order < PIECE_NODES; order++) {
    leaves[order] *= factor;
    factor *= (order + 1) / half;
  }
}

/* What is at the place 0. */
static void read_pipe(const Transport *pipe, double *leaves) {
  profile_read(&pipe->profile, &pipe->ring, -pipe->x, leaves);
  leaves[DELAY_DEGREE + 1] = -pipe->x;
}

static void read_channel(const Past *past, uint32_t k, double t, double *discretes) {
  const LogicDelay *delay = &past->logic->delays.data[k];
  Channel *channel = &past->channel[k];
  double *leaves = discretes + delay->leaf, at = t - channel->time;
  if (channel->pipe && !channel->pipe->is_positive) read_pipe(channel->pipe, leaves);
  if (delay->is_discrete || channel->pipe) return;
  uint64_t begin = past->dropped, end = begin + past->pieces.count;
  if (delay->is_fixed && channel->first > begin) begin = channel->first;
  if (delay->is_fixed && channel->passed < channel->breaks.count) end = channel->breaks.data[channel->passed].piece;
  bool is_before = delay->is_fixed ? channel->first == NO_PIECE : at <= past->begin;
  if (is_before || begin >= end) {
    set_constant(leaves, is_before ? channel->start : channel->last);
  } else {
    channel->cursor = find_piece(past, channel->cursor, begin, end, at);
    expand(past, k, channel->cursor, at, leaves);
  }
  leaves[DELAY_DEGREE + 1] = at;
}

void past_read(const Evaluator *evaluator, const Point *point) {
  Past *past = evaluator->past;
  bool is_other = evaluator->code != past->code; /* it shares the past of the one that runs, which reads the times */
  if (!past->begun || (past->changes ? is_other : past->read == point->time)) return;
  if (past->changes) read_times(past, point);
  for (uint32_t k = 0; k < past->count; k++) read_channel(past, k, point->time, evaluator->discretes);
  past->read = point->time;
}

/* The point (t, y) with delays read for it. */
static Point read_point(const Evaluator *evaluator, double t, const double *y) {
  Point point = bare_point(evaluator, t, y);
  past_read(evaluator, &point);
  return point;
}

uint32_t past_fault(const Past *past) {
  for (uint32_t k = 0; k < past->count; k++) {
    const Channel *channel = &past->channel[k];
    const LogicDelay *delay = &past->logic->delays.data[k];
    const Transport *pipe = channel->pipe;
    if (pipe && !pipe->is_fit) return k;
    if (pipe) continue;
    bool vanishes = channel->time == 0 && delay->is_fixed && !delay->is_discrete;
    if (vanishes || !(channel->time >= 0) || !(channel->time <= channel->longest * (1 + 1e-12))) return k;
  }
  return MAP_NONE;
}

double past_time(const Past *past, uint32_t delay) { return past->channel[delay].time; }

double past_shortest(Evaluator *evaluator) {
  const Past *past = evaluator->past;
  double shortest = INFINITY, time;
  for (uint32_t k = 0; k < past->count; k++) {
    const LogicDelay *delay = &past->logic->delays.data[k];
    bool bounds_steps = delay->is_fixed && !delay->is_discrete && !delay->pipe;
    if (!bounds_steps) continue;
    if (model_evaluate(evaluator->model, &evaluator->scratch, delay->time, evaluator->parameters, &time) && time > 0)
      shortest = fmin(shortest, time);
  }
  return shortest;
}

double past_longest_step(Evaluator *evaluator, double t, const double *y) {
  Past *past = evaluator->past;
  static const double shortest =
      1e-3; /* of the longest delay: one that vanishes is read a little ahead of what is known */
  double longest = INFINITY;
  read_point(evaluator, t, y);
  for (uint32_t k = 0; k < past->count; k++) {
    const LogicDelay *delay = &past->logic->delays.data[k];
    Transport *pipe = past->channel[k].pipe;
    double time = past->channel[k].time;
    if (pipe) pipe->begin = pipe->x, time = STEP_PART / fabs(pipe->rate);
    else if (!delay->is_fixed) time = fmax(time, shortest * past->channel[k].longest);
    if (!delay->is_discrete) longest = fmin(longest, time);
  }
  return longest;
}

double past_moved(Evaluator *evaluator, double t, const double *y) {
  Past *past = evaluator->past;
  double most = 0;
  read_point(evaluator, t, y);
  for (uint32_t k = 0; k < past->count; k++) {
    const Transport *pipe = past->channel[k].pipe;
    if (pipe) most = fmax(most, fabs(pipe->x - pipe->begin));
  }
  return most;
}

/* ---- the start ---- */

/* The break that a pipe waits for; none comes to the end at which it is filled. */
static void set_break(Evaluator *evaluator, uint32_t k) {
  Transport *pipe = evaluator->past->channel[k].pipe;
  double limit = pipe->is_positive ? INFINITY : profile_limit(&pipe->profile, &pipe->ring, -pipe->x, true);
  evaluator->discretes[evaluator->past->logic->delays.data[k].leaf + PIPE_BREAK] = fmin(limit, FAR - pipe->x);
}

/* What a pipe contains at the start. */
static void fill_pipe(Evaluator *evaluator, uint32_t k) {
  const LogicDelay *delay = &evaluator->past->logic->delays.data[k];
  Transport *pipe = evaluator->past->channel[k].pipe;
  uint32_t count = delay->pipe->count;
  double *points = heap_array(evaluator->heap, 2 * (size_t)count, sizeof *points), *values = points + count;
  for (uint32_t i = 0; i < 2 * count; i++)
    model_evaluate(evaluator->model, &evaluator->scratch, delay->pipe->points[i], evaluator->parameters, &points[i]);
  pipe->is_fit = transport_points_fit(points, count);
  points[0] = 0, points[count - 1] = 1;
  reserve_entries(evaluator->past->heap, pipe, (int)count);
  profile_fill(&pipe->profile, &pipe->ring, points, values, (int)count, pipe->x);
  heap_free(evaluator->heap, points);
  read_pipe(pipe, evaluator->discretes + delay->leaf);
  evaluator->discretes[delay->leaf + PIPE_BREAK] = FAR - pipe->x;
  evaluator->discretes[delay->leaf + PIPE_SIGN] = 1;
}

/* Delays inside of others settle first. */
void past_guess(Evaluator *evaluator, double t, const double *y) {
  Past *past = evaluator->past;
  if (!past) return;
  Point point = bare_point(evaluator, t, y);
  for (uint32_t round = 0; round < past->count; round++) {
    workspace_run(past->values, &point, past->nodes);
    read_times(past, &point);
    for (uint32_t k = 0; k < past->count; k++) {
      const LogicDelay *delay = &past->logic->delays.data[k];
      if (delay->pipe) fill_pipe(evaluator, k);
      else if (delay->is_discrete) evaluator->discretes[delay->leaf] = past->nodes[k];
      else set_constant(evaluator->discretes + delay->leaf, past->nodes[k]);
    }
  }
}

/* Tells a pipe of what enters from now on, and which of its breaks is the next to come out. */
static void await_break(Evaluator *evaluator, uint32_t k, double enters, bool is_kink) {
  const LogicDelay *delay = &evaluator->past->logic->delays.data[k];
  Transport *pipe = evaluator->past->channel[k].pipe;
  double *leaves = evaluator->discretes + delay->leaf;
  profile_announce(&pipe->profile, &pipe->ring, pipe->is_positive, pipe->x, enters, is_kink);
  set_break(evaluator, k);
  leaves[PIPE_SIGN] = evaluator->discretes[delay->pipe->arrival] != 0 ? -1 : 1;
}

void past_begin(Evaluator *evaluator, double t, const double *y) {
  Past *past = evaluator->past;
  Point point = bare_point(evaluator, t, y);
  past_guess(evaluator, t, y);
  read_times(past, &point);
  past->begun = true;
  past->begin = past->noted = t;
  past->read = NAN;
  past->reach = 0;
  past->dropped = past->pieces.count = past->coefficients.count = 0;
  for (uint32_t k = 0; k < past->count; k++) {
    Channel *channel = &past->channel[k];
    if (channel->pipe) {
      channel->pipe->begin = channel->pipe->end = channel->pipe->x;
      await_break(evaluator, k, past->nodes[k], true);
      continue;
    }
    channel->start = channel->last = past->nodes[k];
    channel->first = NO_PIECE;
    channel->passed = channel->breaks.count = 0;
    past->reach = fmax(past->reach, channel->longest);
    if (!past->logic->delays.data[k].is_discrete)
      vec_push(past->heap, &channel->breaks, (Break){.time = t, .level = 1});
  }
}

/* ---- pieces ---- */

double past_node_time(uint32_t node, double from, double to) {
  return from + 0.5 * (to - from) * (1 + piece_node(node));
}

void past_sample(Evaluator *evaluator, uint32_t node, double t, const double *y) {
  Past *past = evaluator->past;
  Point point = read_point(evaluator, t, y);
  workspace_run(past->values, &point, past->nodes + (size_t)node * past->count);
  for (uint32_t k = 0; k < past->count; k++)
    if (past->channel[k].pipe) past->places[(size_t)node * past->count + k] = past->channel[k].pipe->x;
}

static void drop_old(Past *past, double t) {
  uint32_t old = 0;
  while (old < past->pieces.count && past->pieces.data[old].to < t - past->reach) old++;
  if (old < DROP_LEAST || old < past->pieces.count / 2) return;
  uint32_t kept = past->pieces.count - old;
  size_t width = (size_t)past->count * PIECE_NODES;
  memmove(past->pieces.data, past->pieces.data + old, kept * sizeof *past->pieces.data);
  memmove(past->coefficients.data, past->coefficients.data + old * width, kept * width * sizeof(double));
  past->pieces.count = kept;
  past->coefficients.count = (uint32_t)(kept * width);
  past->dropped += old;
}

/* Do the pieces on both sides of the last break differ in their slope or curvature? */
static bool has_kink(const Past *past, uint32_t k, uint64_t piece) {
  const Channel *channel = &past->channel[k];
  double left[DELAY_LEAVES], right[DELAY_LEAVES], t = piece_at(past, piece)->from;
  expand(past, k, piece - 1, t, left);
  expand(past, k, piece, t, right);
  double least = KINK * fmax(1, fabs(right[0])), factor = 1;
  for (int order = 1; order <= 2; order++) {
    factor *= channel->time / order;
    double change = fabs(right[order] - left[order]), size = fmax(fabs(right[order]), fabs(left[order]));
    if (change * factor > least && change > 1e-3 * size) return true;
  }
  return false;
}

/* Takes back breaks at the beginning of the last piece that turn out to be none. */
static bool drop_smooth(Past *past) {
  uint64_t last = past->dropped + past->pieces.count - 1;
  bool any = false;
  for (uint32_t k = 0; k < past->count && past->pieces.count > 1; k++) {
    Channel *channel = &past->channel[k];
    const Break *newest = channel->breaks.count > channel->passed ? &vec_last(&channel->breaks) : NULL;
    if (!newest || newest->piece != last || newest->level == 0 || has_kink(past, k, last)) continue;
    channel->breaks.count--;
    any = true;
  }
  return any;
}

/* What has entered pipes in the step from this time on. true: a break at its beginning turned out to be none. */
static bool add_inflow(Evaluator *evaluator, double from, const double *coefficients) {
  Past *past = evaluator->past;
  bool any = false;
  for (uint32_t k = 0; k < past->count; k++) {
    Transport *pipe = past->channel[k].pipe;
    double x[PIECE_NODES];
    if (!pipe) continue;
    piece_fit(past->places + k, past->count, x);
    pipe->end = pipe->x;
    pipe->is_fit = pipe->is_fit && fabs(pipe->end - pipe->begin) <= 1;
    const double *value = coefficients + (size_t)k * PIECE_NODES;
    reserve_entries(past->heap, pipe, pipe->profile.count + 1);
    if (!profile_add(&pipe->profile, &pipe->ring, pipe->is_positive, pipe->begin, x, value, from == past->noted))
      continue;
    set_break(evaluator, k);
    any = true;
  }
  return any;
}

uint32_t past_parts(const Past *past, double tolerance) {
  double worst = 0, c[PIECE_NODES];
  for (uint32_t k = 0; k < past->count; k++) {
    if (past->logic->delays.data[k].is_discrete) continue;
    piece_fit(past->nodes + k, past->count, c);
    worst = fmax(worst, piece_error(c) / fmax(1, fabs(c[0])));
    if (past->channel[k].pipe) piece_fit(past->places + k, past->count, c);
    if (past->channel[k].pipe) worst = fmax(worst, piece_error(c));
  }
  double parts = ceil(pow(worst / tolerance, 1.0 / PIECE_NODES));
  return parts > 1 ? (uint32_t)fmin(parts, PARTS_LIMIT) : 1;
}

bool past_add(Evaluator *evaluator, double begin, double from, double to) {
  Past *past = evaluator->past;
  uint32_t width = past->count * PIECE_NODES;
  while (past->pieces.count && vec_last(&past->pieces).from >= from) {
    past->pieces.count--;
    past->coefficients.count -= width;
  }
  if (!(to > from)) return false;
  drop_old(past, begin);
  vec_push(past->heap, &past->pieces, (Piece){from, to});
  double *c = vec_extend(past->heap, &past->coefficients, width);
  for (uint32_t k = 0; k < past->count; k++) {
    piece_fit(past->nodes + k, past->count, c + (size_t)k * PIECE_NODES);
    past->channel[k].last = past->nodes[(size_t)(PIECE_NODES - 1) * past->count + k];
  }
  past->read = NAN;
  bool is_shorter = add_inflow(evaluator, from, c);
  return drop_smooth(past) || is_shorter;
}

/* ---- breaks ---- */

static double due_time(const Channel *channel) {
  return channel->passed < channel->breaks.count ? channel->breaks.data[channel->passed].time + channel->time
                                                 : INFINITY;
}

double past_next_time(const Past *past, double t) {
  double next = INFINITY;
  for (uint32_t k = 0; k < past->count; k++) {
    double due = due_time(&past->channel[k]);
    if (past->logic->delays.data[k].is_fixed && due > t) next = fmin(next, due);
  }
  return next;
}

/* Sums of delays that differ by round-off only are one. */
static bool is_due(double due, double t) { return due <= t + 64 * DBL_EPSILON * fabs(t); }

static void forget_passed(Channel *channel) {
  if (channel->passed < DROP_LEAST) return;
  channel->breaks.count -= channel->passed;
  memmove(channel->breaks.data, channel->breaks.data + channel->passed,
          channel->breaks.count * sizeof *channel->breaks.data);
  channel->passed = 0;
}

static bool has_jumped(const Past *past, const LogicDelay *delay, const double *before, const double *leaves) {
  for (uint32_t order = 0; order <= DELAY_DEGREE; order++) {
    double size = fmax(fabs(before[order]), fabs(leaves[order]));
    if (past->code->matters[delay->leaf + order] && fabs(leaves[order] - before[order]) > JUMP * size) return true;
  }
  return false;
}

/* false: none was due. */
static bool pass_breaks(Past *past, Channel *channel, double t, double *value) {
  bool any = false;
  for (; is_due(due_time(channel), t); any = true) {
    const Break *passed = &channel->breaks.data[channel->passed++];
    channel->first = passed->piece;
    *value = passed->value;
    if (passed->level < past->level) past->level = passed->level;
  }
  forget_passed(channel);
  return any;
}

/* Passes the break of a pipe that has come out. */
static bool pass_pipe(Past *past, uint32_t k, double *leaves) {
  Transport *pipe = past->channel[k].pipe;
  double before[DELAY_LEAVES];
  ProfileBreak passed = pipe->is_positive ? PROFILE_SMOOTH : profile_pass(&pipe->profile, &pipe->ring, -pipe->x);
  if (passed == PROFILE_SMOOTH) return false;
  past->level = passed == PROFILE_JUMP || past->level == 0 ? 0 : 1;
  memcpy(before, leaves, sizeof before);
  read_pipe(pipe, leaves);
  return has_jumped(past, &past->logic->delays.data[k], before, leaves);
}

bool past_pass(Evaluator *evaluator, double t, const double *y) {
  Past *past = evaluator->past;
  bool jumps = false;
  read_point(evaluator, t, y);
  past->level = NO_LEVEL;
  for (uint32_t k = 0; k < past->count; k++) {
    const LogicDelay *delay = &past->logic->delays.data[k];
    double *leaves = evaluator->discretes + delay->leaf, before[DELAY_LEAVES], value = 0;
    if (delay->pipe) jumps = pass_pipe(past, k, leaves) || jumps;
    if (!delay->is_fixed || !pass_breaks(past, &past->channel[k], t, &value)) continue;
    if (delay->is_discrete) {
      *leaves = value; /* a step takes it over */
      continue;
    }
    memcpy(before, leaves, sizeof before);
    read_channel(past, k, t, evaluator->discretes);
    jumps = jumps || has_jumped(past, delay, before, leaves);
  }
  return jumps;
}

/* x has no jump; one that is less than the pipe moves its contents. */
static void note_pipe(Evaluator *evaluator, uint32_t k, double enters, bool is_kink) {
  Transport *pipe = evaluator->past->channel[k].pipe;
  pipe->is_fit = pipe->is_fit && fabs(pipe->x - pipe->end) <= 1;
  pipe->end = pipe->x;
  await_break(evaluator, k, enters, is_kink);
}

void past_note(Evaluator *evaluator, double t, const double *y, bool is_kink) {
  Past *past = evaluator->past;
  if (t <= past->begin && !past->pieces.count) {
    past_begin(evaluator, t, y);
    return;
  }
  past_sample(evaluator, 0, t, y);
  past->noted = t;
  uint32_t level = past->level != NO_LEVEL ? past->level + 1 : is_kink ? 1 : NO_LEVEL;
  for (uint32_t k = 0; k < past->count; k++) {
    const LogicDelay *delay = &past->logic->delays.data[k];
    Channel *channel = &past->channel[k];
    double value = past->nodes[k], size = fmax(fabs(value), fabs(channel->last));
    bool jumps = fabs(value - channel->last) > (delay->is_discrete ? 0 : JUMP * size);
    channel->last = value;
    if (delay->pipe) note_pipe(evaluator, k, value, is_kink || past->level != NO_LEVEL);
    if (!delay->is_fixed || (!jumps && (delay->is_discrete || level > LEVEL_LIMIT))) continue;
    vec_push(past->heap, &channel->breaks, (Break){t, value, past->dropped + past->pieces.count, jumps ? 0 : level});
  }
}

/* ---- copies ---- */

static void assign_pipe(Heap *heap, Transport *to, const Transport *from) {
  heap_free(heap, to->ring.entries);
  *to = *from;
  to->ring.entries = heap_copy(heap, from->ring.entries, (size_t)from->ring.capacity, sizeof *from->ring.entries);
}

static void assign(Past *to, const Past *from) {
  Past own = *to;
  *to = *from;
  to->heap = own.heap;
  to->code = own.code, to->logic = own.logic;
  to->values = own.values, to->times = own.times;
  to->nodes = own.nodes, to->places = own.places, to->span = own.span;
  to->channel = own.channel;
  to->pieces.data = NULL, to->pieces.count = to->pieces.capacity = 0;
  to->coefficients.data = NULL, to->coefficients.count = to->coefficients.capacity = 0;
  heap_free(own.heap, own.pieces.data);
  heap_free(own.heap, own.coefficients.data);
  if (from->pieces.count) {
    memcpy(vec_extend(to->heap, &to->pieces, from->pieces.count), from->pieces.data,
           from->pieces.count * sizeof *from->pieces.data);
    memcpy(vec_extend(to->heap, &to->coefficients, from->coefficients.count), from->coefficients.data,
           from->coefficients.count * sizeof(double));
  }
  for (uint32_t k = 0; k < to->count; k++) {
    const Channel *source = &from->channel[k];
    Channel *channel = &to->channel[k];
    Break *room = channel->breaks.data;
    uint32_t capacity = channel->breaks.capacity;
    Transport *pipe = channel->pipe;
    *channel = *source;
    channel->pipe = pipe;
    if (pipe) assign_pipe(to->heap, pipe, source->pipe);
    channel->breaks.data = room, channel->breaks.count = 0, channel->breaks.capacity = capacity;
    for (uint32_t b = 0; b < source->breaks.count; b++) vec_push(to->heap, &channel->breaks, source->breaks.data[b]);
  }
}

Past *past_save(const Past *past, Heap *heap) {
  Past *saved = heap_alloc(heap, sizeof *saved);
  saved->heap = heap;
  saved->channel = heap_array(heap, past->count, sizeof *saved->channel);
  for (uint32_t k = 0; k < past->count; k++)
    if (past->channel[k].pipe) saved->channel[k].pipe = transport_new(heap);
  assign(saved, past);
  return saved;
}

void past_restore(Past *past, const Past *saved) { assign(past, saved); }

static void transfer_break(ProfileBreak *at, Transfer *transfer) {
  uint32_t number = *at;
  transfer_indices(transfer, &number, 1, PROFILE_SMOOTH + 1);
  if (!transfer->is_broken) *at = (ProfileBreak)number;
}

/* Entry by entry, so that the ring may lie otherwise. */
static void transfer_profile(Heap *heap, Transport *pipe, Transfer *transfer) {
  ProfileEntry none = {.end = PROFILE_SMOOTH};
  Profile *profile = &pipe->profile;
  uint32_t count = transfer_count(transfer, (uint32_t)profile->count, offsetof(ProfileEntry, end));
  if (transfer->reads) profile->count = 0;
  for (uint32_t k = 0; k < count && !transfer->is_broken; k++) {
    if (transfer->reads) reserve_entries(heap, pipe, profile->count + 1);
    ProfileEntry *entry =
        transfer->reads ? profile_append(profile, &pipe->ring, false) : profile_entry(profile, &pipe->ring, (int)k);
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

static void transfer_pipe(Heap *heap, Transport *pipe, Transfer *transfer) {
  transfer_value(transfer, &pipe->x);
  transfer_value(transfer, &pipe->rate);
  transfer_value(transfer, &pipe->begin);
  transfer_value(transfer, &pipe->end);
  transfer_flags(transfer, &pipe->is_positive, 1);
  transfer_flags(transfer, &pipe->is_fit, 1);
  transfer_profile(heap, pipe, transfer);
}

/* Breaks lie before or behind pieces that are known. */
static void transfer_channel(Channel *channel, uint64_t pieces, Heap *heap, Transfer *transfer) {
  transfer_array(transfer, channel, 1, offsetof(Channel, breaks));
  transfer_vector(transfer, heap, &channel->breaks);
  transfer_require(transfer, channel->first == NO_PIECE || channel->first <= pieces);
  transfer_require(transfer, channel->passed <= channel->breaks.count);
  for (uint32_t b = 0; b < channel->breaks.count; b++)
    transfer_require(transfer, channel->breaks.data[b].piece <= pieces);
  if (channel->pipe) transfer_pipe(heap, channel->pipe, transfer);
}

void past_transfer(Past *saved, Transfer *transfer) {
  transfer_flags(transfer, &saved->begun, 1);
  transfer_value(transfer, &saved->begin);
  transfer_value(transfer, &saved->reach);
  transfer_value(transfer, &saved->dropped);
  transfer_vector(transfer, saved->heap, &saved->pieces);
  transfer_vector(transfer, saved->heap, &saved->coefficients);
  uint64_t pieces = saved->pieces.count, per_piece = (uint64_t)PIECE_NODES * saved->count;
  transfer_require(transfer, saved->coefficients.count == pieces * per_piece && saved->dropped <= UINT32_MAX);
  for (uint32_t k = 0; k < saved->count; k++)
    transfer_channel(&saved->channel[k], saved->dropped + pieces, saved->heap, transfer);
  saved->read = NAN;
}
