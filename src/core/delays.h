/* delays: what delays look back at, and what pipes contain. The values delayed are kept as pieces of polynomials, one or several for each
 * step, in a ring; each delay reads the piece that is its time ago into the discrete leaves that stand for it: the value and its
 * derivatives, and the time read. A pipe reads its profile instead (profile.h), which grows by a piece a step.
 *
 * Where a value jumped or had a kink, a delay by a fixed time does so again that much later: such a break is known in advance, and until
 * the event that passes it the delay stays on its near side.
 *
 * All memory is the host's. Exported solvers carry this as it stands. */
#pragma once

#include "core/profile.h"

/* Leaves of a delay, and of a pipe after them: the place of the next break, and a sign that turns with each one. */
enum { DELAY_LEAVES = PIECE_NODES + 1, PIPE_BREAK = DELAY_LEAVES, PIPE_SIGN, PIPE_LEAVES };

/* A delay. That of a discrete value by a fixed time has one leaf. A pipe delays what enters it until it comes out: derivatives are those
 * along it. */
typedef struct Delay {
  int leaf, matters; /* matters: a bit for each of its derivatives that rows depend on */
  int is_fixed, is_discrete;
  int is_pipe, arrival;    /* arrival: the leaf that tells that a break has come out */
  int points, first_point; /* of the contents at the start: `points` places, then values, among those of all pipes */
} Delay;

/* Where a delayed value jumps (level 0), or a derivative of it does. */
typedef struct DelayBreak {
  double time, value; /* value: after it */
  int64_t piece;      /* the first one after it */
  int level;
} DelayBreak;

typedef struct DelayChannel {
  double time, longest;
  double start, last;     /* the value at all times before the run, and at the end of what is known */
  int64_t first, cursor;  /* the piece where the stretch without breaks begins that is read, and the one read last */
  int64_t passed, breaks; /* how many, since the beginning */
} DelayChannel;

/* How far the contents of a pipe have moved. */
typedef struct DelayPipe {
  double x, rate, begin, end; /* begin, end: x where the step under way began, and at the end of the last one */
  bool is_positive, is_fit;
  Profile profile;
} DelayPipe;

typedef struct DelayPiece {
  double from, to;
} DelayPiece;

typedef struct DelaysNow {
  double begin, read, noted; /* when the run began; the times of the last reading and of the last event */
  double reach;              /* the longest delay */
  int64_t first;             /* of the pieces kept */
  int count, level;          /* of them; the least level of the breaks that the event under way passes */
  bool has_begun;
} DelaysNow;

/* What the host evaluates at a point: the values, and what enters pipes; by how long, then at most, then 0, and of pipes x, whether the
 * flow is positive and der(x); the points of all pipes. */
typedef enum DelayProgram { DELAY_VALUES, DELAY_TIMES, DELAY_POINTS } DelayProgram;
typedef void DelayEvaluate(void *host, DelayProgram program, double t, const double *y, double *out);

typedef struct Delays {
  const Delay *delay;
  int count;
  bool are_free; /* not all times are fixed */
  DelayEvaluate *evaluate;
  void *host;
  double *discretes;
  /* what changes: rings of `capacity` pieces, and of as many breaks for each delay and entries for each pipe */
  DelaysNow *now;
  DelayChannel *channel;
  DelayPipe *pipe;
  int capacity;
  DelayPiece *pieces;
  double *coefficients; /* PIECE_NODES for each piece and delay */
  DelayBreak *breaks;
  ProfileEntry *entries;
  /* scratch: values and places of pipes at the nodes of the piece under way; 3 numbers a delay, and all points */
  double *nodes, *places, *values;
} Delays;

/* Of the rings: a piece by its number, and its coefficients; a break of delay k; the entries of pipe k. */
DelayPiece *delays_piece(const Delays *delays, int64_t piece);
double *delays_coefficients(const Delays *delays, int64_t piece, int k);
DelayBreak *delays_break(const Delays *delays, int k, int64_t number);
ProfileRing delays_ring(const Delays *delays, int k);

/* Do the points of a pipe ascend from 0 to 1? */
bool delays_points_fit(const double *points, int count);

/* Sets every delay to the current value of its argument at (t, y), which is its value up to the start. true: one has changed. */
bool delays_guess(Delays *delays, double t, const double *y);

/* A run begins at (t, y). */
void delays_begin(Delays *delays, double t, const double *y);

/* Reads all delays for the point (t, y). Does nothing before the run has begun. */
void delays_read(Delays *delays, double t, const double *y);

/* A delay whose time at the last reading is below zero or above the longest one, or fixed at zero, which leaves an algebraic
 * loop that nobody has looked for; a pipe whose initial points do not ascend from 0 to 1, or through which the contents have
 * moved as a whole in one step. -1: there is none. */
int delays_fault(const Delays *delays);

/* The longest step from (t, y) that needs no value of its own; for a pipe, as long as the flow is as fast as there. */
double delays_longest_step(Delays *delays, double t, const double *y);

/* By which part of a pipe the contents have moved at most since the step began. */
double delays_moved(Delays *delays, double t, const double *y);

/* A part of a step, from `from` to `to`: the time of a node of its piece, and the values there. */
double delays_node_time(int node, double from, double to);
void delays_sample(Delays *delays, int node, double t, const double *y);

/* Into how many parts the step is to be divided, each with a piece of its own, so that polynomials through the values sampled are
 * exact to the tolerance, as far as that can be. */
int delays_parts(const Delays *delays, double tolerance);

/* Before a piece that begins at `from` is added: forgets pieces from that point on, and those that nothing after `begin`, where the step
 * begins, looks back at. false: there is no room for another one. */
bool delays_make_room(Delays *delays, double begin, double from);

/* The piece of all nodes, where there is room. true: a break at its beginning turned out to be none. */
bool delays_add(Delays *delays, double from, double to);

/* The end of what is known. */
double delays_end(const Delays *delays);

/* The first time after t at which a break is passed; HUGE_VAL: none is. */
double delays_next_time(const Delays *delays, double t);

/* Passes the breaks that are due at t. true: something that rows depend on jumps. */
bool delays_pass(Delays *delays, double t, const double *y);

/* Is there room for a break of every delay? */
bool delays_have_room(const Delays *delays);

/* Where there is: ends an event at (t, y), and notes what jumped. is_kink: what changes may do so in its derivatives. */
void delays_note(Delays *delays, double t, const double *y, bool is_kink);
