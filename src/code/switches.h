/* switches: modes made numeric. Between events the modes are frozen in the evaluator's discrete values; a difference that has
 * left the range of its mode is an event. Modes of time alone change by the schedule instead. */
#pragma once

#include "code/decisions.h"
#include "code/schedule.h"

/* A solution that stays on an edge, since the equations on either side lead back to it: the columns are the mean of those of
 * both modes that keeps the difference where it is (Filippov 1988, chapter 2). */
typedef struct Slide {
  uint32_t mode;   /* MAP_NONE: the solution does not slide */
  double value[2]; /* of the mode below and above the edge */
  double weight;   /* of the latter, when last computed; outside of [0, 1] the solution leaves the edge */
} Slide;

typedef struct Switches {
  const Modes *modes;
  Evaluator *evaluator;
  Schedule *schedule;           /* NULL: no mode is one of time alone */
  Decisions *decisions;         /* NULL: nothing but modes changes at events */
  bool matter;                  /* something that rows depend on was set otherwise since this was false */
  Workspace *workspace, *rates; /* of the conditions and rates of the evaluator's code */
  double time;                  /* of the last evaluation */
  double *difference;           /* of it; behind them their sizes */
  double *rate;                 /* at the end of the last step; 0 where not known */
  double *before;               /* differences there; see switches_keep */
  double *speed;                /* largest rate of late: how fast a difference may move within a step */
  double *slack;                /* a difference beyond its edge by less contradicts no mode; for solutions that slide */
  double *peak;                 /* largest margin seen since the mode's last event; see switches_hover */
  uint8_t *hovers;              /* events in a row between which the mode did not get away from its edge */
  uint32_t crossing;            /* the mode whose event it is; MAP_NONE */
  uint8_t *changes;             /* of each mode since switches_begin */
  Slide slide;
  bool begun; /* a step's beginning has been kept */
} Switches;

/* For the modes and the logic of the evaluator's code, and its inputs; NULL if it has none. Lives in the heap. */
Switches *switches_new(Heap *heap, Evaluator *evaluator);

/* Forgets what was learned along a run: rates, hysteresis, sliding. The modes stay. */
void switches_forget(Switches *switches);

/* Evaluates the differences at (t, y); false where one is not defined. */
bool switches_evaluate(Switches *switches, double t, const double *y);

/* Sets the modes by the relations as written at a guess, where equations need not hold. */
void switches_guess(Switches *switches, double t, const double *y);

/* Keeps the last differences, at (t, y), as those at the end of a step of this size; 0: at the beginning of one. */
void switches_keep(Switches *switches, double t, const double *y, double step);

/* May the difference of mode m have left its range between the end kept and the last evaluation, a step of this size on? */
bool switches_may_hide(const Switches *switches, uint32_t m, double step);

/* How far a difference is inside of the range of mode m, and round-off further; negative is a contradiction. INFINITY for
 * modes of time. */
double switches_margin(const Switches *switches, uint32_t m, double difference);

/* A time in which mode m, at its last difference, cannot change, if rates stay those of late; at least a small part of the
 * time in which its difference may change by its own size. */
double switches_safe_time(const Switches *switches, uint32_t m);

/* Has the last difference of mode m left its range by more than round-off? */
bool switches_contradict(const Switches *switches, uint32_t m);

/* Tells of an event of mode m. true: its difference hovers at its edge, within the tolerance, event after event, and contradicts
 * it from now on only when beyond by more. */
bool switches_hover(Switches *switches, uint32_t m, double tolerance);

/* Begins the search for modes that agree with their relations, at an event of mode m, whose difference is on an edge; MAP_NONE:
 * at no event. */
void switches_begin(Switches *switches, uint32_t m);

/* Sets every mode by its last difference, at (t, y), then all else that is discrete; returns how many changed. A difference on an
 * edge goes where its rate leads. A mode that has changed to and fro since switches_begin stays. */
uint32_t switches_set(Switches *switches, double t, const double *y);

/* The rate of mode m at (t, y), if it has this value, which it then has. */
double switches_rate(Switches *switches, uint32_t m, double value, double t, const double *y);

/* Did a mode go to and fro since switches_begin? */
bool switches_undecided(const Switches *switches);

/* A mode that went to and fro since switches_begin, by its rates: the solution slides along its edge. MAP_NONE: none did. */
uint32_t switches_torn(const Switches *switches);

/* Begins to slide along the edge of mode m nearest to its last difference; ends it in the mode to which it leads. */
void switches_slide(Switches *switches, uint32_t m);
void switches_leave(Switches *switches);
