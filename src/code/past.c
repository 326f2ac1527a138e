/* past: see past.h. */
#include "code/past.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* The first capacity of the rings. */
enum { FIRST_CAPACITY = 16 };

struct Past {
  Heap *heap;
  const ArrayCode *code; /* the programs read the columns of this code */
  Workspace *values, *times;
  Delays delays;
};

/* ---- memory ---- */

static void make_rings(Heap *heap, Delays *delays, int capacity) {
  size_t places = (size_t)capacity, count = (size_t)delays->count;
  bool any = false;
  for (int k = 0; k < delays->count; k++) any = any || delays->delay[k].is_pipe;
  delays->capacity = capacity;
  delays->pieces = heap_array(heap, places, sizeof *delays->pieces);
  delays->coefficients = heap_array(heap, places * count * PIECE_NODES, sizeof(double));
  delays->breaks = heap_array(heap, places * count, sizeof *delays->breaks);
  delays->entries = heap_array(heap, any ? places * count : 0, sizeof *delays->entries);
}

static void free_rings(Heap *heap, const Delays *delays) {
  heap_free(heap, delays->pieces);
  heap_free(heap, delays->coefficients);
  heap_free(heap, delays->breaks);
  heap_free(heap, delays->entries);
}

static void copy_entries(const Delays *to, const Delays *from, int k) {
  ProfileRing source = delays_ring(from, k), ring = delays_ring(to, k);
  for (int i = 0; i < from->pipe[k].profile.count; i++)
    ring.entries[i] = *profile_entry(&from->pipe[k].profile, &source, i);
  to->pipe[k].profile.first = 0;
}

/* The rings may have different sizes. */
static void copy_rings(const Delays *to, const Delays *from) {
  const DelaysNow *now = from->now;
  size_t width = (size_t)from->count * PIECE_NODES * sizeof(double);
  for (int64_t piece = now->first; piece < now->first + now->count; piece++) {
    *delays_piece(to, piece) = *delays_piece(from, piece);
    memcpy(delays_coefficients(to, piece, 0), delays_coefficients(from, piece, 0), width);
  }
  for (int k = 0; k < from->count; k++) {
    for (int64_t b = from->channel[k].passed; b < from->channel[k].breaks; b++)
      *delays_break(to, k, b) = *delays_break(from, k, b);
    if (from->delay[k].is_pipe) copy_entries(to, from, k);
  }
}

/* Makes room for at least this many places. */
static void reserve(Past *past, int64_t places) {
  Delays before = past->delays;
  int64_t capacity = before.capacity;
  if (places <= capacity) return;
  while (capacity < places) capacity *= 2;
  make_rings(past->heap, &past->delays, (int)capacity);
  copy_rings(&past->delays, &before);
  free_rings(past->heap, &before);
}

/* Makes room for one more piece, one more break of every delay, and one more entry of every pipe. */
void past_reserve(Past *past) {
  const Delays *delays = &past->delays;
  int64_t most = delays->now->count;
  for (int k = 0; k < delays->count; k++) {
    int64_t breaks = delays->channel[k].breaks - delays->channel[k].passed, entries = delays->pipe[k].profile.count;
    if (breaks > most) most = breaks;
    if (entries > most) most = entries;
  }
  reserve(past, most + 1);
}

/* The data that change in a run. */
static void make_state(Heap *heap, Delays *delays, int capacity) {
  delays->now = heap_alloc(heap, sizeof *delays->now);
  delays->channel = heap_array(heap, (size_t)delays->count, sizeof *delays->channel);
  delays->pipe = heap_array(heap, (size_t)delays->count, sizeof *delays->pipe);
  make_rings(heap, delays, capacity);
}

/* Makes the table of delays. Returns how many numbers the points of all pipes have; *most: the most points of one. */
static int list_delays(const ArrayCode *code, Delay *list, int *most) {
  const Logic *logic = code->modes->logic;
  int points = 0;
  for (uint32_t k = 0; k < logic->delays.count; k++) {
    const LogicDelay *delay = &logic->delays.data[k];
    list[k] = past_delay(code, delay, points);
    points += 2 * list[k].points;
    if (list[k].points > *most) *most = list[k].points;
  }
  return points;
}

Delay past_delay(const ArrayCode *code, const LogicDelay *delay, int first_point) {
  Delay entry = {.leaf = (int)delay->leaf, .is_fixed = delay->is_fixed, .is_discrete = delay->is_discrete};
  for (int order = 0; order <= PIECE_DEGREE && !delay->is_discrete; order++)
    entry.matters |= (code->matters[delay->leaf + (uint32_t)order] != 0) << order;
  if (!delay->pipe) return entry;
  entry.is_pipe = 1;
  entry.arrival = (int)delay->pipe->arrival;
  entry.points = (int)delay->pipe->count;
  entry.first_point = first_point;
  return entry;
}

static DelayEvaluate evaluate;

Past *past_new(Heap *heap, const ArrayCode *code) {
  const Logic *logic = code->modes->logic;
  uint32_t count = logic->delays.count;
  if (!count) return NULL;
  Past *past = heap_alloc(heap, sizeof *past);
  Delay *list = heap_array(heap, count, sizeof *list);
  int capacity = FIRST_CAPACITY, points = list_delays(code, list, &capacity);
  *past = (Past){.heap = heap, .code = code};
  past->values = workspace_new(heap, code->delayed);
  past->times = workspace_new(heap, code->delay_times);
  past->delays = (Delays){.delay = list, .count = (int)count, .evaluate = evaluate};
  past->delays.nodes = heap_array(heap, (size_t)PIECE_NODES * count, sizeof(double));
  past->delays.places = heap_array(heap, (size_t)PIECE_NODES * count, sizeof(double));
  past->delays.values = heap_array(heap, 3 * (size_t)count + (size_t)points, sizeof(double));
  for (uint32_t k = 0; k < count; k++) past->delays.are_free = past->delays.are_free || !list[k].is_fixed;
  make_state(heap, &past->delays, capacity);
  return past;
}

/* ---- programs ---- */

static void evaluate_points(Evaluator *evaluator, double *points) {
  const Logic *logic = evaluator->past->code->modes->logic;
  for (uint32_t k = 0; k < logic->delays.count; k++) {
    const LogicPipe *pipe = logic->delays.data[k].pipe;
    for (uint32_t i = 0; pipe && i < 2 * pipe->count; i++)
      model_evaluate(evaluator->model, &evaluator->scratch, pipe->points[i], evaluator->parameters, points++);
  }
}

static void evaluate(void *host, DelayProgram program, double t, const double *y, double *out) {
  Evaluator *evaluator = host;
  Point point = {t, y, evaluator->parameters, evaluator->discretes, evaluator->pre};
  if (program == DELAY_POINTS) evaluate_points(evaluator, out);
  else workspace_run(program == DELAY_VALUES ? evaluator->past->values : evaluator->past->times, &point, out);
}

Delays *past_delays(const Evaluator *evaluator) {
  Delays *delays = &evaluator->past->delays;
  delays->host = (void *)evaluator;
  delays->discretes = evaluator->discretes;
  return delays;
}

/* ---- a run ---- */

void past_read(const Evaluator *evaluator, const Point *point) {
  Past *past = evaluator->past;
  bool is_other =
      evaluator->code != past->code; /* the evaluator shares the past of the running evaluator, which reads the times */
  if (!past->delays.are_free || !is_other) delays_read(past_delays(evaluator), point->time, point->y);
}

double past_shortest(Evaluator *evaluator) {
  const Logic *logic = evaluator->past->code->modes->logic;
  double shortest = INFINITY, time;
  for (uint32_t k = 0; k < logic->delays.count; k++) {
    const LogicDelay *delay = &logic->delays.data[k];
    bool bounds_steps = delay->is_fixed && !delay->is_discrete && !delay->pipe;
    if (!bounds_steps) continue;
    if (model_evaluate(evaluator->model, &evaluator->scratch, delay->time, evaluator->parameters, &time) && time > 0)
      shortest = fmin(shortest, time);
  }
  return shortest;
}

void past_guess(Evaluator *evaluator, double t, const double *y) {
  if (evaluator->past) delays_guess(past_delays(evaluator), t, y);
}

void past_note(Evaluator *evaluator, double t, const double *y, bool is_kink) {
  past_reserve(evaluator->past);
  delays_note(past_delays(evaluator), t, y, is_kink);
}

/* ---- copies ---- */

static void assign(Past *past, const Past *from) {
  Delays *to = &past->delays;
  size_t count = (size_t)to->count;
  reserve(past, from->delays.capacity);
  *to->now = *from->delays.now;
  memcpy(to->channel, from->delays.channel, count * sizeof *to->channel);
  memcpy(to->pipe, from->delays.pipe, count * sizeof *to->pipe);
  copy_rings(to, &from->delays);
}

Past *past_save(const Past *past, Heap *heap) {
  Past *saved = heap_alloc(heap, sizeof *saved);
  *saved = (Past){.heap = heap, .delays = {.delay = past->delays.delay, .count = past->delays.count}};
  make_state(heap, &saved->delays, past->delays.capacity);
  assign(saved, past);
  return saved;
}

void past_restore(Past *past, const Past *saved) { assign(past, saved); }

static void transfer_break(ProfileBreak *at, Transfer *transfer) {
  uint32_t number = *at;
  transfer_indices(transfer, &number, 1, PROFILE_SMOOTH + 1);
  if (!transfer->is_broken) *at = (ProfileBreak)number;
}

/* Entry by entry, so that the ring may begin elsewhere. */
static void transfer_profile(Past *past, int k, Transfer *transfer) {
  ProfileEntry none = {.end = PROFILE_SMOOTH};
  Profile *profile = &past->delays.pipe[k].profile;
  uint32_t count = transfer_count(transfer, (uint32_t)profile->count, offsetof(ProfileEntry, end));
  if (transfer->reads) profile->first = profile->count = 0;
  reserve(past, count);
  ProfileRing ring = delays_ring(&past->delays, k);
  for (uint32_t i = 0; i < count && !transfer->is_broken; i++) {
    ProfileEntry *entry =
        transfer->reads ? profile_append(profile, &ring, false) : profile_entry(profile, &ring, (int)i);
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

static void transfer_pipe(Past *past, int k, Transfer *transfer) {
  DelayPipe *pipe = &past->delays.pipe[k];
  transfer_array(transfer, pipe, 1, offsetof(DelayPipe, is_positive));
  transfer_flags(transfer, &pipe->is_positive, 1);
  transfer_flags(transfer, &pipe->is_fit, 1);
  transfer_profile(past, k, transfer);
}

/* The breaks that are not passed yet lie before or after known pieces. */
static void transfer_channel(Past *past, int k, Transfer *transfer) {
  DelayChannel *channel = &past->delays.channel[k];
  int64_t end = past->delays.now->first + past->delays.now->count;
  uint32_t count = transfer_count(transfer, (uint32_t)(channel->breaks - channel->passed), sizeof(DelayBreak));
  transfer_array(transfer, channel, 1, offsetof(DelayChannel, passed));
  transfer_require(transfer, channel->first >= -1 && channel->first <= end);
  if (transfer->reads) channel->passed = 0, channel->breaks = count;
  reserve(past, count);
  for (uint32_t i = 0; i < count && !transfer->is_broken; i++) {
    DelayBreak *at = delays_break(&past->delays, k, channel->passed + i);
    transfer_value(transfer, at);
    transfer_require(transfer, at->piece >= 0 && at->piece <= end);
  }
  if (past->delays.delay[k].is_pipe) transfer_pipe(past, k, transfer);
}

static void transfer_pieces(Past *past, Transfer *transfer) {
  DelaysNow *now = past->delays.now;
  size_t width = (size_t)past->delays.count * PIECE_NODES;
  uint32_t count = transfer_count(transfer, (uint32_t)now->count, sizeof(DelayPiece) + width * sizeof(double));
  transfer_value(transfer, &now->first);
  transfer_require(transfer, now->first >= 0 && now->first <= UINT32_MAX);
  if (transfer->is_broken) return;
  now->count = (int)count;
  reserve(past, count);
  for (int64_t piece = now->first; piece < now->first + now->count; piece++) {
    transfer_value(transfer, delays_piece(&past->delays, piece));
    transfer_array(transfer, delays_coefficients(&past->delays, piece, 0), width, sizeof(double));
  }
}

void past_transfer(Past *saved, Transfer *transfer) {
  DelaysNow *now = saved->delays.now;
  transfer_flags(transfer, &now->has_begun, 1);
  transfer_value(transfer, &now->begin);
  transfer_value(transfer, &now->reach);
  transfer_pieces(saved, transfer);
  for (int k = 0; k < saved->delays.count; k++) transfer_channel(saved, k, transfer);
  now->read = NAN;
}
