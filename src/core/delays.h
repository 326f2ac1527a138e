/* delays: the history that delays read, and the contents of pipes. The delayed values are kept in a ring as polynomial
 * pieces, one or several for each step. Each delay reads the piece that is its delay time ago. It stores the value, its
 * derivatives and the time read in the discrete leaves that stand for them. A pipe reads its profile instead (profile.h),
 * which grows by one entry per step.
 *
 * If a value jumps or has a kink, a delay by a fixed time does the same after that time. Such a break is known in advance.
 * Until the event that passes it, the delay stays on the earlier side.
 *
 * The host owns all memory. Exported solvers contain this file unchanged. */
#pragma once

#include "core/profile.h"

/* The leaves of a delay. A pipe has two more: the place of the next break, and a sign that changes with each break. */
enum { DELAY_LEAVES = PIECE_NODES + 1, PIPE_BREAK = DELAY_LEAVES, PIPE_SIGN, PIPE_LEAVES };

/* One delay. A discrete value delayed by a fixed time has one leaf. A pipe delays its inflow until it leaves the pipe;
 * its derivatives are along the pipe. */
typedef struct Delay {
  int leaf, matters; /* matters: a bit for each of its derivatives that rows depend on */
  int is_fixed, is_discrete;
  int is_pipe, arrival; /* arrival: the leaf that changes when a break has come out */
  int points,
      first_point; /* for the contents at the start: `points` places, then as many values, in the list of all pipes */
} Delay;

/* A break: a delayed value jumps there (level 0), or a derivative of it does. */
typedef struct DelayBreak {
  double time, value; /* value: just after the break */
  int64_t piece;      /* the first piece after the break */
  int level;
} DelayBreak;

typedef struct DelayChannel {
  double time, longest;
  double start, last;    /* the value at all times before the run, and at the end of the history */
  int64_t first, cursor; /* first: where the interval without breaks that is read begins; cursor: the piece read last */
  int64_t passed, breaks; /* how many breaks were passed, and how many there were, since the beginning */
} DelayChannel;

/* The distance that the contents of a pipe have moved. */
typedef struct DelayPipe {
  double x, rate, begin, end; /* begin, end: x at the beginning of the current step, and at the end of the last one */
  bool is_positive, is_fit;
  Profile profile;
} DelayPipe;

typedef struct DelayPiece {
  double from, to;
} DelayPiece;

typedef struct DelaysNow {
  double begin, read, noted; /* when the run began; the times of the last reading and of the last event */
  double reach;              /* the longest delay */
  int64_t first;             /* the first piece that is kept */
  int count, level; /* count: pieces kept; level: the smallest level of the breaks that the current event passes */
  bool has_begun;
} DelaysNow;

/* The programs that the host evaluates at a point. DELAY_VALUES: the delayed values, and the values that enter the pipes.
 * DELAY_TIMES: for each delay its time, the longest time, and 0; for each pipe x, whether the flow is positive, and der(x).
 * DELAY_POINTS: the points of all pipes. */
typedef enum DelayProgram { DELAY_VALUES, DELAY_TIMES, DELAY_POINTS } DelayProgram;
typedef void DelayEvaluate(void *host, DelayProgram program, double t, const double *y, double *out);

typedef struct Delays {
  const Delay *delay;
  int count;
  bool are_free; /* some times are not fixed */
  DelayEvaluate *evaluate;
  void *host;
  double *discretes;
  /* data that change: rings of `capacity` pieces; each delay has a ring of as many breaks, and each pipe one of as many
   * entries */
  DelaysNow *now;
  DelayChannel *channel;
  DelayPipe *pipe;
  int capacity;
  DelayPiece *pieces;
  double *coefficients; /* PIECE_NODES for each piece and delay */
  DelayBreak *breaks;
  ProfileEntry *entries;
  /* scratch: values and places of pipes at the nodes of the current piece; 3 numbers for each delay; all points */
  double *nodes, *places, *values;
} Delays;

/* Access to the rings: a piece by its number, its coefficients, a break of delay k, the entries of pipe k. */
DelayPiece *delays_piece(const Delays *delays, int64_t piece);
double *delays_coefficients(const Delays *delays, int64_t piece, int k);
DelayBreak *delays_break(const Delays *delays, int k, int64_t number);
ProfileRing delays_ring(const Delays *delays, int k);

/* Do the points of a pipe ascend from 0 to 1? */
bool delays_points_fit(const double *points, int count);

/* Sets every delay to the current value of its argument at (t, y): that is its value up to the start. Returns true if one has
 * changed. */
bool delays_guess(Delays *delays, double t, const double *y);

/* A run begins at (t, y). */
void delays_begin(Delays *delays, double t, const double *y);

/* Reads all delays for the point (t, y). Does nothing before the run has begun. */
void delays_read(Delays *delays, double t, const double *y);

/* Returns a delay or pipe that cannot continue; -1: none. A delay fails if its time at the last reading is negative or above its
 * longest time, or is fixed at zero, which would leave an algebraic loop. A pipe fails if its initial points do not ascend from 0
 * to 1, or if its whole contents have moved in one step. */
int delays_fault(const Delays *delays);

/* The longest step from (t, y) that does not read values of the step itself; for a pipe, if the flow keeps its speed. */
double delays_longest_step(Delays *delays, double t, const double *y);

/* The largest part of a pipe by which its contents have moved since the step began. */
double delays_moved(Delays *delays, double t, const double *y);

/* A step, with a function that gives the columns at a time inside the step. */
typedef struct DelaysStep {
  double begin, end, tolerance;
  const double *(*columns)(void *host, double t);
  void (*reserve)(void *host); /* makes room for another piece; 0: there is only the room that was given */
  void *host;
} DelaysStep;

/* Keeps what delays will read from a step: as many pieces as make the polynomials accurate to the tolerance, as far as
 * possible. Pieces that nothing reads any more are forgotten. *is_smooth: the beginning of the step was thought to be a break,
 * and is none. false: there is no room. */
bool delays_keep_step(Delays *delays, const DelaysStep *step, bool *is_smooth);

/* The end of the history. */
double delays_end(const Delays *delays);

/* The first time after t at which a break is passed; HUGE_VAL: none is. */
double delays_next_time(const Delays *delays, double t);

/* Passes the breaks that are due at t. Returns true if something that rows depend on jumps. */
bool delays_pass(Delays *delays, double t, const double *y);

/* Is there room for a break of every delay? */
bool delays_have_room(const Delays *delays);

/* Ends an event at (t, y) and records the jumps, if there is room. is_kink: derivatives may jump. */
void delays_note(Delays *delays, double t, const double *y, bool is_kink);
