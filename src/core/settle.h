/* settle: the iteration at an event. Modes and other discrete values change until they agree with the columns, which are solved
 * again each time; or the solution begins to slide along an edge. Then whens act and pre() takes the values found. This repeats
 * until nothing changes. The host solves the columns.
 *
 * Exported solvers contain this file unchanged. */
#pragma once

#include "base/heap.h"
#include "core/switching.h"
#include "core/when_loop.h"

#include <stddef.h>

/* No column. */
#define SETTLE_NONE UINT32_MAX

/* Functions of the host, for the columns y at time t. */
typedef struct SettleMethods {
  /* The first function solves all columns that are not states, even on edges along which the solution slides. The second
   * function solves them at a corner of these edges (edges_set_corner). The third function is called after modes have
   * changed, so that columns may jump. false: the columns cannot be solved. */
  bool (*solve)(void *host, double t, double *y);
  bool (*solve_corner)(void *host, double t, double *y, int corner);
  bool (*solve_at_event)(void *host, double t, double *y);

  /* Moves the states along their rates for this time. Returns false, and moves nothing, if that would change them by more than
   * round-off. */
  bool (*drift)(void *host, double by, double *y);

  /* Solves the rows with the columns that reinit has set, marked 2 in `held`. States keep their values as far as the rows allow.
   * before: the columns before the reinit. false: the rows cannot be solved. */
  bool (*solve_holding)(void *host, double t, double *y, unsigned char *held, const double *before);

  /* Does another system hold now? Then it sets Settle.restructured. */
  bool (*leaves_structure)(void *host, double t, const double *y);

  /* An assertion fails, or the run must end. */
  void (*fires)(void *host, int action, double t, const double *y);

  /* The next three functions may be 0. Called when everything agrees, before the actions there. false: failure. */
  bool (*agreed)(void *host, double t, const double *y);

  /* Called after pre() has taken the values. false: failure. */
  bool (*accepted)(void *host, double t, const double *y);

  /* Called when nothing changes any more, before delays note the event: makes room for it. */
  void (*end)(void *host, const double *y);
} SettleMethods;

/* The columns and the discrete values at the beginning of an iteration. */
typedef struct SettleBeginning {
  double *y, *discretes;
} SettleBeginning;

typedef struct Settle {
  const SettleMethods *methods;
  void *host;
  Heap *heap; /* for an event, until it is handled */
  Switching *switching;
  double *discretes;
  int columns;
  bool may_slide;
  bool has_other_structure; /* the system includes all branches of its equations, and may be singular in some */
  /* during an event */
  WhenLoop *loop; /* for Real values of whens and columns that depend on each other; 0: there are none */
  SettleBeginning begin, left,
      round;           /* at the beginning of the event, after the iteration, at the beginning of a round */
  unsigned char *held; /* per column */
  bool looks_ahead;    /* the next iteration begins with modes that follow their rates */
  /* about the last event */
  bool disturbed;        /* columns, or values that rows depend on, have changed */
  bool restructured;     /* the equations have become those of another system */
  uint32_t undetermined; /* column whose jump the equations do not determine; SETTLE_NONE: none */
  uint64_t iterations;   /* of all events */
} Settle;

/* Handles the event (t, y) of this mode (-1: no mode): finds the modes and the other discrete values. If the equations are
 * undefined at a time event, as log(time) is at 0, *t moves to just after it. false: the modes do not settle. */
bool settle_event(Settle *settle, double *t, double *y, int mode);

/* Continues an event in another system: whens that have fired do not fire again. */
bool settle_resume(Settle *settle, double *t, double *y);

/* Checks the actions at (t, y), between events: calls `fires`. Returns whether a reinit fires. */
bool settle_watch(Settle *settle, double t, const double *y);
