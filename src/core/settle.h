/* settle: what happens at an event. Modes and all else that is discrete change until they agree with the columns, which follow, or begin to slide along
 * an edge; then whens act, pre() takes the values found, and so on until nothing changes. The host solves the columns.
 *
 * All memory is the host's. Exported solvers carry this as it stands. */
#pragma once

#include "core/decide.h"
#include "core/edges.h"
#include "core/when_loop.h"

#include <stddef.h>

/* No column. */
#define SETTLE_NONE UINT32_MAX

/* What the host does with the columns y at time t. */
typedef struct SettleMethods {
  /* Solves for all columns that are no states, also on edges that the solution slides along; at a corner of these (edges_set_corner); and where modes have
   * changed, so that columns may jump. false: they cannot be solved. */
  bool (*solve)(void *host, double t, double *y);
  bool (*solve_corner)(void *host, double t, double *y, int corner);
  bool (*solve_at_event)(void *host, double t, double *y);

  /* Sets every mode by its last difference, and all else that is discrete; returns how many changed. *matter becomes true if rows depend on one. */
  int (*set)(void *host, double t, const double *y, bool *matter);

  /* Does another system hold now? Then Settle.restructured is set. */
  bool (*leaves_structure)(void *host, double t, const double *y);

  /* All agrees: what happens there. Sets columns by reinit; *is_reset: it has. false: it fails. */
  bool (*act)(void *host, double t, double *y, bool *is_reset);

  /* pre() has taken the values over. false: it fails. */
  bool (*accepted)(void *host, double t, const double *y);

  /* Nothing changes any more. is_kink: columns, or what rows depend on, have changed. false: it fails. */
  bool (*end)(void *host, double t, const double *y, bool is_kink);
} SettleMethods;

/* The columns and all that is discrete where an iteration of an event begins. */
typedef struct SettleBeginning {
  double *y, *discretes;
} SettleBeginning;

typedef struct Settle {
  const SettleMethods *methods;
  void *host;
  Edges *edges;
  Decide *decide; /* 0: nothing but modes changes at events */
  double *discretes;
  int columns, leaves; /* of these: how many discrete values */
  bool may_slide;
  bool has_other_structure; /* the system is made for all branches of its equations, and may be singular in some */
  WhenLoop *loop;           /* of Real values of whens and columns that depend on each other; 0: there are none */
  SettleBeginning begin, left, round; /* memory: of the event, of what iterating left, of a round */
  /* of the last event */
  bool disturbed;        /* what rows depend on has changed, or columns */
  bool restructured;     /* the equations have become those of another system */
  uint32_t undetermined; /* column whose jump the equations do not determine; SETTLE_NONE: there is none */
  uint64_t iterations;   /* of all events */
} Settle;

/* Just after t: events of time that coincide except for round-off are one. */
double settle_behind(double t);

/* Takes the modes over at the event (t, y) of this mode (-1: of none) and all else that is discrete, after decide_begin. Where the equations have no value at the time of
 * an event of time, as log(time) has none at 0, *t moves to just after it. false: they do not settle. */
bool settle_event(Settle *settle, double *t, double *y, int mode);
