/* edges: conditions between events and at them. Each is frozen in its mode, a discrete value that holds while the difference of the condition's sides stays
 * in a range; a difference that has left the range is an event. What a run learns of each mode is kept here: how fast its difference moves,
 * how far hysteresis lets it pass its edge, when its events were, and along which edges the solution slides.
 *
 * All memory is the host's. Exported solvers carry this as it stands. */
#pragma once

#include "core/condition.h"

#include <stdbool.h>
#include <stdint.h>

enum { SLIDE_LIMIT = 8, TRIAL_LIMIT = 10 };

/* What a plan says of a condition. */
typedef struct Condition {
  ConditionKind kind;
  int is_timed;          /* its changes are known from the time */
  int may_try;           /* one of two values, not known from the time */
  int matters;           /* rows depend on it */
  int is_remembered;     /* a when or pre() keeps what a change of it does */
  int has_rate;          /* the rate of its difference is known */
  int has_inner;         /* its difference is made of modes before it */
  int meets;             /* its branches meet where it changes: it makes events only where a step is looked into */
  int edge, is_mirrored; /* the first mode with the same difference, or the negative one, at whose edge it changes */
} Condition;

/* A solution that stays on an edge, since the equations on either side lead back to it: the columns are the mean of those of
 * both modes that keeps the difference where it is (Filippov 1988, chapter 2). On several edges at once the modes add up: a corner is
 * all of them below their edges, or one of them above, and the columns are the mean of those of the corners that keeps all
 * differences where they are. */
typedef struct Slide {
  int mode;                     /* the first that went to and fro; others that change at the same edge go with it */
  double weight;                /* of what is above; outside of [0, 1] the solution leaves the edge */
  double rate[SLIDE_LIMIT + 1]; /* of the difference, at each corner, when last computed */
} Slide;

/* Of the events of a mode. A cycle is to and fro: two events. */
typedef struct EventTimes {
  double before, last;        /* the two last ones */
  double cycle, cycle_before; /* the last cycle, and the one that ended an event before */
  double ratio;               /* of the last cycle to the one before it, which ended with the same change of the mode */
  double hold;                /* hysteresis holds the next one back for so long at most */
  double peak;                /* largest margin between the two last ones */
  double edge;                /* at which the last one was: floor and the like have many */
  double range; /* beyond this margin a series that the tolerance no longer resolves has been left; 0: there is none */
  int regular;  /* ratios in a row that were about the same, and below 1 */
  int falls;    /* cycles have become shorter regularly, and are becoming so since */
} EventTimes;

/* What a run learns of a mode. */
typedef struct EdgeHistory {
  double speed;   /* largest rate of late: how fast the difference may move within a step */
  double slack;   /* a difference beyond its edge by less contradicts no mode */
  double largest; /* of all peaks so far */
  double nominal; /* its size at the nominal values of the columns */
  EventTimes times;
  int hovers;      /* events in a row between which it did not get away from its edge */
  int slides_with; /* 1 + the mode of the slide along whose edge it is; 0: it does not slide */
  int jumps;       /* the rate jumps where the mode changes, and leads back from both sides */
  int is_widened;  /* its slack has grown beyond what the tolerance asks for, to bound the number of events */
} EdgeHistory;

/* Where a mode is in the step or the event under way. */
typedef struct EdgePlace {
  double before; /* the difference at the beginning of the step */
  double end;    /* at the end of the step in which an event was located */
  double at;     /* where the last event was located */
  double peak;   /* largest margin seen since its last event */
  int changes;   /* since edges_begin */
  int slid;      /* until the current event */
  int rests;     /* the difference has come to its edge and stays there, where the mode is the other one */
} EdgePlace;

typedef struct EdgesNow {
  double time, kept,
      step; /* of the last evaluation; of the beginning of the step; how long the step was in which an event was located */
  int crossing; /* the mode whose event it is; -1: none */
  int slides;   /* how many modes slide */
  Slide slide[SLIDE_LIMIT];
  int has_begun;   /* a step has: until then a mode on an edge that does not move is as its relation is there */
  int is_at_start; /* modes are what the relations are as written, also on an edge */
  int one_by_one; /* of the modes that must change only the first does, and the others when it has been seen what follows */
  int looks_inside; /* modes whose branches meet make events, too */
  int is_located;   /* an event is under way, and EdgePlace.at tells where the differences were before it */
  int goes_on;      /* the search began in another system: what changed there counts */
} EdgesNow;

/* Differences of all conditions and after them their sizes, or the rates of the differences. Returns 0, or 1 if one of them is not finite. */
typedef int EdgesEvaluate(void *host, bool rates, double t, const double *y, double *out);

/* A hash of all that modes decide at (t, y): rows, discrete values, actions, the values of other conditions. */
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
  double *difference, *rate; /* of the last evaluation; rates at the end of the last step, 0 where not known */
  /* scratch */
  double *slope; /* the rates at the beginning of a step, while those at its end are looked at */
  const bool
      *waits; /* modes that stay in the current event, since events of their own follow at the same time; 0: none */
} Edges;

/* ---- differences and margins ---- */

/* Evaluates the differences at (t, y). One that is not defined, NaN, leaves its mode as it is. And the rates. */
void edges_evaluate(Edges *edges, double t, const double *y);

/* The first mode whose difference, evaluated last at (t, y), is not defined though its value makes a difference there; -1: none. A condition in a branch that is not
 * taken makes none. */
int edges_undefined(Edges *edges, double t, const double *y);
void edges_evaluate_rates(Edges *edges, double t, const double *y);

/* The size of a difference as far as it tells one. */
double edges_size(double difference);

/* By how much mode m may be beyond its edge: by round-off, or by hysteresis. */
double edges_band(const Edges *edges, int m);

/* How far a difference is inside of the range of mode m, and round-off further; negative is a contradiction. HUGE_VAL for
 * modes of time. And with another value of the mode. */
double edges_margin(const Edges *edges, int m, double difference);
double edges_margin_with(const Edges *edges, int m, double value, double difference);

/* The least margin of all differences between two; and are they all off the edges of the mode, by more than round-off? */
double edges_least_margin(const Edges *edges, int m, double a, double b);
bool edges_are_off(const Edges *edges, int m, double a, double b);

/* Has the last difference of mode m left its range by more than round-off? The first mode of which that is so; -1: there is none. */
bool edges_contradict(const Edges *edges, int m);
int edges_first_contradiction(const Edges *edges);

/* Tells of the nominal values of all columns, by which hysteresis goes where nothing larger has been seen. */
void edges_set_nominal(Edges *edges, double t, const double *nominal);

/* Forgets what was learned along a run: rates, hysteresis, sliding. The modes stay. */
void edges_forget(Edges *edges);

/* ---- along steps ---- */

/* A run or a step begins at (t, y): keeps the last differences as those there. */
void edges_start(Edges *edges, double t, const double *y);

/* Keeps the last differences, at (t, y), as those at the end of a step of this size; 0: at the beginning of one. */
void edges_keep(Edges *edges, double t, const double *y, double step);

/* Has a mode whose branches meet changed in a step to (t, y)? */
bool edges_bend(Edges *edges, double t, const double *y);

/* Does a mode whose branches meet seem to change and change back in the step of this size to (t, y), of which the error of the step need
 * not tell? By the last differences and those kept. */
bool edges_dip(Edges *edges, double t, const double *y, double step);

/* As edges_keep at the end of a step, unless edges_dip: then false. */
bool edges_pass(Edges *edges, double t, const double *y, double step);

/* At the end of a step, at (t, y), by the last differences: looks for modes whose differences have come to their edges and rest there, as that of
 * max(x, 1) > 1. They are in the range of either mode, so that only the relation itself tells which one holds. */
void edges_rest(Edges *edges, double t, const double *y);

/* May the difference of mode m have left its range and come back, between the beginning of the step and the last evaluation, a step of this size on,
 * if it moved no faster than of late? And is there no mode of which that is so? */
bool edges_may_hide(const Edges *edges, int m, double step);
bool edges_are_far(const Edges *edges, double step);

/* Tells of the margins of all modes inside of a step: see edges_hover. */
void edges_note_peaks(Edges *edges, const double *margin);

/* An event was located in the step of this size: keeps the last differences as those at its end. */
void edges_keep_end(Edges *edges, double step);

/* ---- events without end ---- */

/* Tells of the time of an event of mode m in a run of this span. true: its events come ever faster, and infinitely many before a time
 * that is t except for round-off (Zeno). */
bool edges_accumulate(Edges *edges, int m, double t, double span);

/* After edges_accumulate: the modes whose events come ever faster change from now on only when passed by some times what they were passed by last, so that the
 * run goes on where the model has a state of rest in the limit; where it has none, edges_escaped tells. false: no when and no
 * pre() remembers one of them. */
bool edges_let_rest(Edges *edges, double tolerance, double span);

/* A mode that a when or pre() remembers, whose events came ever faster, too small at last for the tolerance to resolve, and which got away from its edge after an event at this time: one that should have
 * followed is lost in errors, as the last bounces of a ball are. -1: there is none. */
int edges_escaped(const Edges *edges, double t, double round_off);

/* After edges_accumulate: true if the difference of mode m hovers at its edge, within the tolerance, event after event, and
 * contradicts it from now on only when beyond by more. */
bool edges_hover(Edges *edges, int m, double tolerance, double span);

/* ---- events ---- */

/* Begins the search for modes that agree with their relations, at an event of mode m, whose difference is on an edge; -1: at no event. */
void edges_begin(Edges *edges, int m);

/* Keeps the differences at (t, y) as those where an event was located. */
void edges_locate(Edges *edges, double t, const double *y);

/* The value that mode m should have by its last difference: on an edge by its rate, and where nothing is known as it is. */
double edges_wanted(const Edges *edges, int m);

/* Has every mode the value that its last difference asks for, on an edge that its rate does? And those known from the time? */
bool edges_agree(const Edges *edges);
bool edges_all_agree(const Edges *edges);

/* Sets every mode by its last difference, at (t, y); returns how many changed. A difference on an edge goes where its rate leads. A mode that has changed
 * to and fro since edges_begin stays. others: something that they may depend on has changed. *matter becomes true if rows depend on one that changes. */
int edges_set(Edges *edges, double t, const double *y, bool others, bool *matter);

/* Did a mode go to and fro since edges_begin? */
bool edges_undecided(const Edges *edges);

/* A combination of modes to try. */
typedef struct Trial {
  int mode[TRIAL_LIMIT], count;
  uint32_t flipped; /* a bit for each mode */
  int changes;      /* how many are set */
} Trial;

/* Modes of two values, not known from the time, of which combinations are tried: at most `limit` (TRIAL_LIMIT), first those that
 * changed since edges_begin. The first combination is the present one, then come those with one flipped, with two and so on. */
Trial edges_trial(const Edges *edges, int limit);
bool trial_next(Trial *trial);

/* Flips the modes of the combination, and holds them until edges_begin. */
void edges_flip(Edges *edges, const Trial *trial);

/* Holds mode m at a value until edges_begin. */
void edges_hold(Edges *edges, int m, double value);

/* ---- sliding ---- */

/* Does mode m slide? Begins to slide along the edges, nearest to their last differences, of modes that went to and fro since edges_begin, by their
 * rates. false: none did. */
bool edges_slides(const Edges *edges, int m);
bool edges_slide(Edges *edges);

/* Just begun to slide, and the columns solved: do the rates jump, and lead back to the edge from both sides? Modes that fail this test stop sliding
 * and take the side to which their rates lead. */
bool edges_leads_back(Edges *edges);

/* Slides only along so many of the edges; the other modes are as the last differences say. */
void edges_slide_first(Edges *edges, int count);

/* Sets the modes that slide to those of a corner: 0 is all below, k all below but the k-th, and `slides` + 1 all above. */
void edges_set_corner(Edges *edges, int corner);

/* The rates of the modes that slide, at the columns of this corner. */
void edges_keep_corner(Edges *edges, int corner, double t, const double *y);

/* The weights by the rates at the corners, and the mean of the columns of the corners, which stand one after the other. */
void edges_mean(Edges *edges, const double *corners, int columns, double *y);

/* Do the rates at (t, y), of the corner all above, follow from those at the others? */
bool edges_add_up(Edges *edges, double t, const double *y);

/* How far the weight of a mode that slides is outside of [0, 1], and which one's is most; negative: all are inside. */
double edges_leaving(const Edges *edges, int *mode);

/* Ends all sliding in the modes to which it leads, or forgets it. Did modes slide until the current event? */
void edges_leave(Edges *edges);
void edges_forget_slides(Edges *edges);
bool edges_slid(const Edges *edges);
