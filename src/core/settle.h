/* settle: the iteration at an event. Modes and other discrete values change until they agree with the columns, which are solved
 * again each time; or the solution begins to slide along an edge. Then whens act and pre() takes the values found. This repeats
 * until nothing changes. The host solves the columns.
 *
 * The host owns all memory. Exported solvers contain this file unchanged. */
#pragma once

#include "core/decide.h"
#include "core/edges.h"
#include "core/when_loop.h"

#include <stddef.h>

/* No column. */
#define SETTLE_NONE UINT32_MAX

/* Functions of the host, for the columns y at time t. */
typedef struct SettleMethods {
  /* The first function solves all columns that are not states, also on edges along which the solution slides. The second
   * function solves them at a corner of these edges (edges_set_corner). The third function is called after modes have
   * changed, so that columns may jump. false: the columns cannot be solved. */
  bool (*solve)(void *host, double t, double *y);
  bool (*solve_corner)(void *host, double t, double *y, int corner);
  bool (*solve_at_event)(void *host, double t, double *y);

  /* Sets every mode by its last difference, and the other discrete values; returns how many changed. *matter becomes true if rows
   * depend on one of them. */
  int (*set)(void *host, double t, const double *y, bool *matter);

  /* Does another system hold now? Then it sets Settle.restructured. */
  bool (*leaves_structure)(void *host, double t, const double *y);

  /* Called when everything agrees: performs the actions there, and sets columns by reinit. *is_reset: reinit has set one. false:
   * failure. */
  bool (*act)(void *host, double t, double *y, bool *is_reset);

  /* Called after pre() has taken the values. false: failure. */
  bool (*accepted)(void *host, double t, const double *y);

  /* May be 0. Called when modes and discrete values agree: makes the next call that the event makes only once. Then they are set
   * again. false: there is no such call. */
  bool (*call)(void *host, double t, const double *y);

  /* Called when nothing changes any more. is_kink: columns, or values that rows depend on, have changed. false: failure. */
  bool (*end)(void *host, double t, const double *y, bool is_kink);
} SettleMethods;

/* The columns and the discrete values at the beginning of an iteration. */
typedef struct SettleBeginning {
  double *y, *discretes;
} SettleBeginning;

typedef struct Settle {
  const SettleMethods *methods;
  void *host;
  Edges *edges;
  Decide *decide; /* 0: only modes change at events */
  double *discretes;
  int columns, leaves; /* the number of columns and of discrete values */
  bool may_slide;
  bool has_other_structure; /* the system includes all branches of its equations, and may be singular in some */
  WhenLoop *loop;           /* for Real values of whens and columns that depend on each other; 0: there are none */
  SettleBeginning begin, left,
      round;        /* memory: at the beginning of the event, after the iteration, at the beginning of a round */
  bool looks_ahead; /* the next iteration begins with modes that follow their rates */
  /* about the last event */
  bool disturbed;        /* columns, or values that rows depend on, have changed */
  bool restructured;     /* the equations have become those of another system */
  uint32_t undetermined; /* column whose jump the equations do not determine; SETTLE_NONE: none */
  uint64_t iterations;   /* of all events */
} Settle;

/* Just after t: events of time that differ only by round-off are one. */
double settle_behind(double t);

/* Finds the modes and the other discrete values at the event (t, y) of this mode (-1: of none), after decide_begin. If the
 * equations are undefined at an event of time, as log(time) is at 0, *t moves to just after it. false: the modes do not settle. */
bool settle_event(Settle *settle, double *t, double *y, int mode);
