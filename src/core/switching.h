/* switching: everything discrete of a run: modes (edges.h), conditions that depend only on time, other discrete values (decide.h) and
 * delays (delays.h). This file sets them for given columns, at the start of a run and at events (settle.h), and knows
 * the next time event.
 *
 * The host owns all memory. Exported solvers contain this file unchanged. */
#pragma once

#include "core/decide.h"
#include "core/delays.h"
#include "core/edges.h"

/* Functions of the host, for the columns y at time t. */
typedef struct SwitchingHost {
  /* Evaluates the differences as the relations are written. */
  void (*written)(void *host, double t, const double *y, double *out);

  /* Both may be 0. set_inputs takes the inputs just after t and returns how many changed. next_input is the first time after t
   * at which an input jumps. */
  int (*set_inputs)(void *host, double t);
  double (*next_input)(void *host, double t);

  /* May be 0. Everything agrees: makes the next call that the event makes only once; afterwards everything must settle
   * again. false: there is no such call. */
  bool (*call)(void *host, double t, const double *y);
} SwitchingHost;

/* The conditions that depend only on time (code/schedule.h). */
typedef struct SwitchingTimed {
  /* Sets each condition to its value at t, except those marked in `waits` (0: none). Returns how many have changed. */
  int (*set)(void *self, double t, const bool *waits);

  /* The mode of the first condition whose value at t differs from its present value; -1: there is none. */
  int (*find_change)(const void *self, double t);

  /* The first time in (t, stop] at which one of them changes, and its mode. If none changes before `first`, the time of the first
   * other event or HUGE_VAL, returns `first`, and -1 as the mode. They must be set for t. */
  double (*find_next)(void *self, double t, double stop, double first, int *mode);
} SwitchingTimed;

typedef struct Switching {
  const SwitchingHost *methods;
  void *host;
  const SwitchingTimed *timed; /* 0: no condition depends only on time */
  void *schedule;
  Edges *edges;
  Decide *decide; /* 0: only modes change at events */
  Delays *delays; /* 0: there are none */
  const double *discretes;
  int leaves; /* the number of discrete values */
} Switching;

/* Just after t: time events that differ only by round-off are one. */
double switching_behind(double t);

/* Sets everything by the relations as written at a guess, where equations need not hold. Do rows depend on what has changed? */
bool switching_guess(Switching *switching, double t, const double *y);

/* Sets every mode from its last difference, at (t, y), then all other discrete values; returns how many changed: see edges_set. */
int switching_set(Switching *switching, double t, const double *y, bool *matter);

/* Sets all discrete values by the columns at (t, y), until they no longer change. Do rows depend on what has changed? */
bool switching_settle(Switching *switching, double t, const double *y);

/* How the columns are solved at the start, with the present discrete values. `again`: an earlier attempt has failed. *y: the columns;
 * after a failure, those solved before the equations that failed. */
typedef struct SwitchingColumns {
  void *host;
  bool (*solve)(void *host, double t, bool again, const double **y);
} SwitchingColumns;

typedef enum SwitchingStart {
  START_AGREES,
  START_FAILS,  /* the equations have no solution, and no other discrete values follow from the columns */
  START_CHANGES /* discrete values do not settle */
} SwitchingStart;

/* Solves for the columns at the start until all discrete values agree with them. */
SwitchingStart switching_start(Switching *switching, const SwitchingColumns *columns, double t);

/* At the start, modes have the values of their relations as written. In a run this holds from the first call on, if modes have
 * these values at (t, y). From the second call on, a mode on an edge has the value that holds right after the start. The second
 * function returns the first mode at (t, y) for which that makes a difference; -1: none. */
void switching_enter_start(Switching *switching, double t, const double *y);
int switching_leave_start(Switching *switching, double t, const double *y);

/* A run or a step begins at (t, y), where the modes agree: keeps the differences there. */
void switching_begin(Switching *switching, double t, const double *y);

/* The time of the next event in (t, until] that is known in advance; HUGE_VAL: none. *mode is the timed mode that changes there, or
 * -1 if it is another event. */
double switching_next_time(Switching *switching, double t, double until, int *mode);
