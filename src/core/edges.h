/* edges: conditions between events and at events. Each condition is frozen in its mode, a discrete value that holds while the
 * difference of the condition's sides stays in a range. A difference that has left the range is an event. This file keeps what a
 * run learns about each mode: how fast its difference moves, how far hysteresis lets it pass its edge, and when its events were. It
 * also knows along which edges the solution slides.
 *
 * The host owns all memory. Exported solvers contain this file unchanged. */
#pragma once

#include "core/condition.h"

#include <stdbool.h>
#include <stdint.h>

enum { SLIDE_LIMIT = 8, TRIAL_LIMIT = 10 };

/* The part of a condition that belongs to the plan. */
typedef struct Condition {
  ConditionKind kind;
  int is_timed;      /* its changes depend only on time */
  int may_try;       /* it has two values, and time alone does not determine it: combinations may be tried */
  int matters;       /* rows depend on it */
  int is_remembered; /* a when or pre() stores the effect of a change */
  int has_rate;      /* the rate of its difference is known */
  int has_inner;     /* its difference depends on modes before it */
  int meets;         /* its branches meet where it changes: it causes events only in steps that are searched anyway */
  int jumps;         /* it contains discrete values of functions, which jump at unknown times */
  int edge, is_mirrored; /* the first mode with the same difference, or its negative: both change at one edge */
} Condition;

/* A solution that stays on an edge because the equations on both sides lead back to it. The columns are the mean of the columns of
 * both modes that keeps the difference constant (Filippov 1988, chapter 2). On several edges at once the effects of the modes must
 * be additive. A corner has all modes below their edges, or one of them above. The columns are the mean over the corners that keeps
 * all differences constant. */
typedef struct Slide {
  int mode;                     /* the first mode that chattered; other modes with the same edge follow it */
  double weight;                /* weight of the side above; outside of [0, 1] the solution leaves the edge */
  double rate[SLIDE_LIMIT + 1]; /* rates of the difference at each corner, when last computed */
} Slide;

/* The times of the events of a mode. A cycle is two events: one change and the change back. */
typedef struct EventTimes {
  double before, last;        /* the last two events */
  double cycle, cycle_before; /* the last cycle, and the one that ended one event earlier */
  double ratio; /* the last cycle divided by the one before it, which ended with the same change of the mode */
  double hold;  /* the longest time for which hysteresis delays the next event */
  double peak;  /* largest margin between the last two events */
  double edge;  /* the edge of the last event: floor and similar functions have many */
  /* beyond this margin the mode has left a series of events that the tolerance can no longer resolve; 0: there is no such series */
  double range;
  int regular; /* number of similar ratios below 1 in a row */
  int falls;   /* cycles have been shrinking regularly */
} EventTimes;

/* The facts that a run learns about a mode. */
typedef struct EdgeHistory {
  double speed;   /* largest recent rate: how fast the difference may move within a step */
  double slack;   /* a difference beyond its edge by less than this contradicts no mode */
  double largest; /* the largest peak so far */
  double nominal; /* size of the difference at the nominal values of the columns */
  EventTimes times;
  int hovers;      /* consecutive events between which the mode stayed near its edge */
  int slides_with; /* 1 + the mode whose slide this mode follows; 0: it does not slide */
  int jumps;       /* the rate jumps where the mode changes, and leads back to the edge from both sides */
  int is_widened;  /* its slack is larger than the tolerance requires, to bound the number of events */
} EdgeHistory;

/* The place of a mode in the current step or event. */
typedef struct EdgePlace {
  double before; /* the difference at the beginning of the step */
  double end;    /* difference at the end of the step in which an event was located */
  double at;     /* difference where the last event was located */
  double peak;   /* largest margin seen since its last event */
  int changes;   /* number of changes since edges_begin */
  int slid;      /* it slid until the current event */
  int rests;     /* the difference has come to rest on its edge, and on the edge the mode has the other value */
} EdgePlace;

typedef struct EdgesNow {
  double time, kept,
      step; /* time of the last evaluation; time at the beginning of the step; length of the step in which an event was located */
  int crossing; /* the mode whose event it is; -1: none */
  int slides;   /* number of sliding modes */
  Slide slide[SLIDE_LIMIT];
  int has_begun; /* a step has begun; before the first step, a mode whose difference rests on the edge follows its relation */
  int is_at_start; /* modes follow their relations exactly as written, even on an edge */
  /* an event is being settled. Modes that no row reads keep their rates from before the event, because the event may still change
   * their differences, or values that their rates read */
  int keeps_rates;
  int one_by_one; /* of the modes that must change, only the first changes; the others are examined again afterwards */
  int looks_inside; /* modes whose branches meet cause events, too */
  int is_located;   /* an event is in progress, and EdgePlace.at holds the differences before it */
  int goes_on;      /* the search began in another system: its changes count */
} EdgesNow;

/* Evaluates the differences of all conditions followed by their sizes, or the rates of the differences. Returns 0, or 1 if one of
 * them is not finite. */
typedef int EdgesEvaluate(void *host, bool rates, double t, const double *y, double *out);

/* A hash of everything that the modes determine at (t, y): rows, discrete values, actions, the values of other conditions. */
typedef uint64_t EdgesOutcome(void *host, double t, const double *y);

typedef struct Edges {
  const Condition *condition;
  int count;
  bool some_meet;
  EdgesEvaluate *evaluate;
  EdgesOutcome *outcome;
  void *host;
  double *mode; /* the modes, among the discrete values */
  /* what changes */
  EdgesNow *now;
  EdgeHistory *history;
  EdgePlace *place;
  double *difference,
      *rate; /* difference: at the last evaluation; rate: at the end of the last step, 0 if it is not known */
  /* scratch */
  double *slope; /* the rates at the beginning of a step, while those at its end are evaluated */
  const bool *
      waits; /* modes that stay unchanged in the current event, because they have separate events at the same time; 0: none */
} Edges;

/* ---- differences and margins ---- */

/* Evaluates the differences at (t, y). An undefined difference (NaN; infinity in floor and its like) leaves its mode unchanged. The second function evaluates the
 * rates. */
void edges_evaluate(Edges *edges, double t, const double *y);

/* The first mode whose last difference, at (t, y), is undefined although its value changes the outcome there; -1: none. A condition
 * in a branch that is not taken changes nothing. */
int edges_undefined(Edges *edges, double t, const double *y);
void edges_evaluate_rates(Edges *edges, double t, const double *y);

/* The size of a difference, as far as it is known. */
double edges_size(double difference);

/* The distance by which mode m may be beyond its edge, because of round-off or hysteresis. */
double edges_band(const Edges *edges, int m);

/* The distance by which a difference is inside the range of mode m, plus round-off. A negative margin is a contradiction. HUGE_VAL
 * for timed modes. The second function does this for any value of the mode, timed modes included. */
double edges_margin(const Edges *edges, int m, double difference);
double edges_margin_with(const Edges *edges, int m, double value, double difference);

/* The smallest margin of all differences between a and b. The second function: are all differences away from the edges of the
 * mode by more than round-off? */
double edges_least_margin(const Edges *edges, int m, double a, double b);
bool edges_are_off(const Edges *edges, int m, double a, double b);

/* Has the last difference of mode m left its range by more than round-off? The second function returns the first such mode;
 * -1: none. */
bool edges_contradict(const Edges *edges, int m);
int edges_first_contradiction(const Edges *edges);

/* Sets the nominal values of all columns. Hysteresis uses them until larger values have been seen. */
void edges_set_nominal(Edges *edges, double t, const double *nominal);

/* Forgets what was learned during a run: rates, hysteresis, sliding. The modes stay. */
void edges_forget(Edges *edges);

/* ---- during steps ---- */

/* A run or a step begins at (t, y): keeps the last differences as those at the beginning. */
void edges_start(Edges *edges, double t, const double *y);

/* Keeps the last differences, which belong to (t, y). step: they are at the end of a step of this size; 0: at the beginning of a
 * step. */
void edges_keep(Edges *edges, double t, const double *y, double step);

/* Has a mode whose branches meet changed in a step to (t, y)? */
bool edges_bend(Edges *edges, double t, const double *y);

/* Does the difference of a mode whose branches meet seem to cross its edge and return within the step of this size to (t, y)? The
 * error estimate of the step may miss that. Uses the last differences and those kept. */
bool edges_dip(Edges *edges, double t, const double *y, double step);

/* Like edges_keep at the end of a step, unless edges_dip is true: then it returns false. */
bool edges_pass(Edges *edges, double t, const double *y, double step);

/* Call this at the end of a step, at (t, y). From the last differences it finds modes whose differences have reached their edges
 * and rest there, as in max(x, 1) > 1. Such a difference is in the range of either mode, so only the relation itself says which one
 * holds. */
void edges_rest(Edges *edges, double t, const double *y);

/* May the difference of mode m have left its range and come back since the beginning of the step, if it moved no faster than
 * recently? The last evaluation is at the end of that step, which has this size. The second function: is this excluded for all
 * modes? */
bool edges_may_hide(const Edges *edges, int m, double step);
bool edges_are_far(const Edges *edges, double step);

/* Reports the margins of all modes inside a step: see edges_note_event. */
void edges_note_peaks(Edges *edges, const double *margin);

/* An event was located in the step of this size: keeps the last differences as those at its end. */
void edges_keep_end(Edges *edges, double step);

/* ---- accumulating events ---- */

/* The conclusion from an event of a condition. */
typedef struct EdgesNote {
  bool hovers;  /* the solution hovers at the edge, within the tolerance, event after event */
  bool begins;  /* it hovers for the first time */
  bool widened; /* the hysteresis of the condition is now larger than the tolerance, for the first time */
} EdgesNote;

/* Records the event of mode m that is handled at t, in a run of this span. false: infinitely many events follow before a time that
 * equals t up to round-off (Zeno). If a when or pre() stores one of the modes whose events accumulate, the model can come to
 * rest in the limit. These modes then change only when their difference passes the edge by several times as much as the last
 * time. So the run continues, and edges_escaped reports a model that does not come to rest. A mode that hovers contradicts its
 * difference from then on only if it is farther beyond the edge. */
bool edges_note_event(Edges *edges, int m, double t, double tolerance, double span, EdgesNote *note);

/* Returns a mode whose event was lost in errors, such as one of the last bounces of a ball; -1: none. Such a mode is stored by
 * a when or pre(). Its events accumulated until the tolerance no longer resolved them, and it left its edge after an event at
 * this time. */
int edges_escaped(const Edges *edges, double t, double round_off);

/* ---- events ---- */

/* Begins the search for modes that agree with their relations, at an event of mode m whose difference is on an edge; -1: at no
 * event. */
void edges_begin(Edges *edges, int m);

/* Keeps the differences at (t, y) as those where an event was located. */
void edges_locate(Edges *edges, double t, const double *y);

/* The value that mode m should have according to its last difference. On an edge, the rate decides; if the rate is not known, the
 * mode stays. */
double edges_wanted(const Edges *edges, int m);

/* Does every mode except the timed ones have the value that its last difference requires, or on an edge its rate? The second
 * function includes the timed modes. */
bool edges_agree(const Edges *edges);
bool edges_all_agree(const Edges *edges);

/* The start of a run is at (t, y). There modes have the values of their relations as written, if they agree with them.
 * The second function gives modes on an edge, from here on, the value that holds right after the start. It returns the
 * first mode for which that makes a difference, except timed modes; -1: none. */
void edges_enter_start(Edges *edges, double t, const double *y);
int edges_leave_start(Edges *edges, double t, const double *y);

/* Sets every mode from its last difference, at (t, y), and returns how many changed. A difference on an edge moves in the direction
 * of its rate. A mode that has changed and changed back since edges_begin no longer changes. others: something has changed on which
 * modes may depend. *matter becomes true if rows depend on a mode that changes. */
int edges_set(Edges *edges, double t, const double *y, bool others, bool *matter);

/* Modes that have changed because of their rates may have their differences on the other side of the edge, by round-off. Returns the
 * time after which all of them are on their side at the present rates. 0: they are there already. */
double edges_lag(const Edges *edges);

/* Did a mode chatter since edges_begin? */
bool edges_undecided(const Edges *edges);

/* A combination of modes to try. */
typedef struct Trial {
  int mode[TRIAL_LIMIT], count;
  uint32_t flipped; /* a bit for each mode */
  int changes;      /* number of modes that are set */
} Trial;

/* Lists the modes whose combinations are tried: those with two values that time alone does not determine. There are at most `limit`
 * (TRIAL_LIMIT); the modes that changed since edges_begin come first. The first combination is the present one; then come those
 * with one mode flipped, with two, and so on. */
Trial edges_trial(const Edges *edges, int limit);
bool trial_next(Trial *trial);

/* Flips the modes of the combination, and holds them until edges_begin. */
void edges_flip(Edges *edges, const Trial *trial);

/* Holds mode m at a value until edges_begin. */
void edges_hold(Edges *edges, int m, double value);

/* ---- sliding ---- */

/* Does mode m slide? The second function begins to slide along the edges nearest to the last differences of the modes that
 * chattered since edges_begin, according to their rates. false: none did. */
bool edges_slides(const Edges *edges, int m);
bool edges_slide(Edges *edges);

/* Call this when sliding has just begun and the columns are solved. Does the rate of each mode's difference jump, and lead back to
 * the edge from both sides? false: the mode that fails this test most clearly no longer slides, and is now on the side to which its
 * rate leads. The weights of the other modes were computed with this mode, too: solve the columns, and call this again. */
bool edges_leads_back(Edges *edges);

/* Slides only along `count` edges: those to which the rates lead back most strongly. The other modes follow their last
 * differences. */
void edges_slide_along(Edges *edges, int count);

/* Sets the sliding modes to a corner: 0 is all below, k is all below except the k-th, and `slides` + 1 is all above. */
void edges_set_corner(Edges *edges, int corner);

/* Keeps the rates of the sliding modes for the columns of this corner. */
void edges_keep_corner(Edges *edges, int corner, double t, const double *y);

/* Computes the weights from the rates at the corners, and then the mean of the corners' columns, which are stored one after
 * another. false: no mean stays on all edges. */
bool edges_mean(Edges *edges, const double *corners, int columns, double *y);

/* Do the rates at (t, y), at the corner with all modes above, follow from those at the other corners? */
bool edges_add_up(Edges *edges, double t, const double *y);

/* Returns how far the weight of a sliding mode is outside of [0, 1], and the mode for which this is largest; negative: all are
 * inside. */
double edges_leaving(const Edges *edges, int *mode);

/* edges_leave ends all sliding and sets the modes to which the solution leads; edges_forget_slides only forgets it.
 * edges_slid: did modes slide until the current event? */
void edges_leave(Edges *edges);
void edges_forget_slides(Edges *edges);
bool edges_slid(const Edges *edges);
