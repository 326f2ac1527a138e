/* switches: modes made numeric. Between events the modes are frozen in the evaluator's discrete values; a difference that has
 * left the range of its mode is an event. Modes of time alone change by the schedule instead. */
#pragma once

#include "base/bernstein.h"
#include "code/decisions.h"
#include "code/schedule.h"

enum { SLIDE_LIMIT = 8 };

/* A solution that stays on an edge, since the equations on either side lead back to it: the columns are the mean of those of
 * both modes that keeps the difference where it is (Filippov 1988, chapter 2). On several edges at once the modes add up: a corner is
 * all of them below their edges, or one of them above, and the columns are the mean of those of the corners that keeps all
 * differences where they are. */
typedef struct Slide {
  uint32_t mode;                /* the first that went to and fro; others that change at the same edge go with it */
  double weight;                /* of the latter, when last computed; outside of [0, 1] the solution leaves the edge */
  double rate[SLIDE_LIMIT + 1]; /* of the difference, at each corner, when last computed */
} Slide;

/* Of a mode. A cycle is to and fro: two events. */
typedef struct EventTimes {
  double before, last;        /* the two last ones */
  double cycle, cycle_before; /* the last cycle, and the one that ended an event before */
  double ratio;               /* of the last cycle to the one before it, which ended with the same change of the mode */
  uint32_t regular;           /* ratios in a row that were about the same, and below 1 */
  double hold;                /* hysteresis holds the next one back for so long at most */
  double peak;                /* largest margin between the two last ones */
  bool falls;                 /* cycles have become shorter regularly, and are becoming so since */
  double
      range; /* beyond this margin a series of them that the tolerance no longer resolves has been left; 0: there is none */
} EventTimes;

typedef struct Switches {
  const Modes *modes;
  Evaluator *evaluator;
  Schedule *schedule;           /* NULL: no mode is one of time alone */
  Decisions *decisions;         /* NULL: nothing but modes changes at events */
  bool matter;                  /* something that rows depend on was set otherwise since this was false */
  Workspace *workspace, *rates; /* of the conditions and rates of the evaluator's code */
  bool has_rates;               /* the rate of some mode is known */
  Op *op;                       /* of each mode's relation */
  double time;                  /* of the last evaluation */
  double *difference;           /* of it; behind them their sizes */
  double *rate;                 /* at the end of the last step; 0 where not known */
  double *slope;                /* rate at the beginning of a step, while that at its end is looked at */
  double *before;               /* differences there; see switches_keep */
  double *end, step;            /* at the end of the step in which an event was located, and its size */
  double *speed;                /* largest rate of late: how fast a difference may move within a step */
  double *slack;                /* a difference beyond its edge by less contradicts no mode; for solutions that slide */
  double *peak;                 /* largest margin seen since the mode's last event; see switches_hover */
  double *largest;              /* of all peaks so far */
  double *nominal;              /* sizes at the nominal values of the columns; see switches_set_nominal */
  EventTimes *times;
  bool *jumps;       /* the rate jumps where the mode changes, and leads back from both sides */
  uint32_t *hovers;  /* events in a row between which the mode did not get away from its edge */
  bool *is_widened;  /* its slack has grown beyond what the tolerance asks for, to bound the number of events */
  double *at;        /* the differences where the event was located */
  uint32_t crossing; /* the mode whose event it is; MAP_NONE */
  bool *slid;        /* until the event of now */
  bool *
      rests; /* the difference has come to its edge and stays there, where the mode is the other one: see switches_rest */
  uint8_t *changes; /* of each mode since switches_begin */
  bool goes_on;     /* the search began in another system: see switches_go_on */
  bool
      one_by_one; /* of the modes that must change only the first does, and the others when it has been seen what follows */
  Slide slide[SLIDE_LIMIT];
  uint32_t slides;       /* how many modes slide */
  uint32_t *slides_with; /* per mode: the one of the slide along whose edge it is; MAP_NONE: it does not slide */
  bool looks_inside;     /* modes whose branches meet make events, too */
  bool some_meet;        /* there are such */
  double kept;           /* the time at which a step's beginning was kept last */
  bool begun;            /* one has been: until then a mode on an edge that does not move is as its relation is there */
  const bool
      *waits; /* modes that stay in the event of now, since events of their own follow at the same time; NULL: none */
  bool is_at_start; /* modes are what the relations are as written, also on an edge: see switches_leave_start */
} Switches;

enum { TRIAL_LIMIT = 10 };

/* A combination of modes to try. */
typedef struct Trial {
  uint32_t mode[TRIAL_LIMIT], count;
  uint32_t flipped, changes; /* a bit for each mode; how many are set */
} Trial;

/* For the modes and the logic of the evaluator's code, and its inputs; NULL if it has none. Lives in the heap. */
Switches *switches_new(Heap *heap, Evaluator *evaluator);

/* Forgets what was learned along a run: rates, hysteresis, sliding. The modes stay. */
void switches_forget(Switches *switches);

/* What a run has learned of its modes, and how it slides: a copy in the heap; back from it; as bytes. */
typedef struct SwitchesState SwitchesState;
SwitchesState *switches_save(const Switches *switches, Heap *heap);
void switches_restore(Switches *switches, const SwitchesState *state);
void switches_transfer(const Switches *switches, SwitchesState *state, Transfer *transfer);

/* Takes over what was learned of the same modes in another system: their speeds, hysteresis and times of events. */
void switches_adopt(Switches *switches, const Switches *before);

/* Goes on with the search for modes that began in another system, which the modes of now led out of: what changed there counts until the
 * search is over. */
void switches_go_on(Switches *switches, const Switches *before);

/* At the start, from switches_new on, modes have the values of their relations as written; in a run from the first call on, if they have them
 * at (t, y). From the second call on a mode on an edge is as it will be right behind it. That returns the first mode at (t, y) to which that makes a difference; MAP_NONE: none is. */
void switches_enter_start(Switches *switches, double t, const double *y);
uint32_t switches_leave_start(Switches *switches, double t, const double *y);

/* Evaluates the differences at (t, y); false where one is not defined. */
bool switches_evaluate(Switches *switches, double t, const double *y);

/* Sets the modes by the relations as written at a guess, where equations need not hold. */
void switches_guess(Switches *switches, double t, const double *y);

/* The same as often as asked, in a search without logic; `written` is a workspace of the conditions as written. false: one is not defined. */
bool switches_follow(Switches *switches, Workspace *written, double t, const double *y);

/* Keeps the last differences, at (t, y), as those at the end of a step of this size; 0: at the beginning of one. */
void switches_keep(Switches *switches, double t, const double *y, double step);

/* Has a mode whose branches meet changed in a step to (t, y)? */
bool switches_bend(Switches *switches, double t, const double *y);

/* Does a mode whose branches meet seem to change and change back in the step of this size to (t, y), of which the error of the step need
 * not tell? By the last differences and those kept. */
bool switches_dip(Switches *switches, double t, const double *y, double step);

/* As switches_keep at the end of a step, unless switches_dip: then false. */
bool switches_pass(Switches *switches, double t, const double *y, double step);

/* At the end of a step, at (t, y), by the last differences: looks for modes whose differences have come to their edges and rest there, as that of
 * max(x, 1) > 1. They are in the range of either mode, so that only the relation itself tells which one holds. */
void switches_rest(Switches *switches, double t, const double *y);

/* Is every difference so far from its edge, between the end kept and the last evaluation, a step of this size on, that it has not left the range of its mode
 * if it moved no faster than of late? */
bool switches_are_far(const Switches *switches, double step);

/* Tells of the margins of all modes inside of a step: see switches_hover. */
void switches_note_peaks(Switches *switches, const double *margin);

/* How far a difference is inside of the range of mode m, and round-off further; negative is a contradiction. INFINITY for
 * modes of time. */
double switches_margin(const Switches *switches, uint32_t m, double difference);

/* The least margin of all differences between two; and are they all off the edges of the mode, by more than round-off? */
double switches_least_margin(const Switches *switches, uint32_t m, double a, double b);
bool switches_are_off_edges(const Switches *switches, uint32_t m, double a, double b);

/* Has the last difference of mode m left its range by more than round-off? */
bool switches_contradict(const Switches *switches, uint32_t m);

/* The same of any; *mode is it. */
bool switches_any_contradicts(const Switches *switches, uint32_t *mode);

/* Tells of the nominal values of all columns, by which hysteresis goes where nothing larger has been seen. */
void switches_set_nominal(Switches *switches, double t, const double *nominal);

/* Tells of the time of an event of mode m in a run of this span. true: its events come ever faster, and infinitely many before a time
 * that is t but for round-off (Zeno). */
bool switches_accumulate(Switches *switches, uint32_t m, double t, double span);

/* After switches_accumulate: the modes whose events come ever faster change from now on only when passed by some times what they were passed by last, so that the
 * run goes on where the model has a state of rest in the limit; where it has none, switches_escaped tells. false: no when and no
 * pre() remembers one of them. */
bool switches_let_rest(Switches *switches, double tolerance, double span);

/* A mode that a when or pre() remembers, whose events came ever faster, too small at last for the tolerance to resolve, and which got away from its edge behind an event at this time: one that should have
 * followed is lost in errors, as the last bounces of a ball are. MAP_NONE: there is none. */
uint32_t switches_escaped(const Switches *switches, double t, double round_off);

/* After switches_accumulate: true if the difference of mode m hovers at its edge, within the tolerance, event after event, and
 * contradicts it from now on only when beyond by more. */
bool switches_hover(Switches *switches, uint32_t m, double tolerance, double span);

/* Begins the search for modes that agree with their relations, at an event of mode m, whose difference is on an edge; MAP_NONE:
 * at no event. */
void switches_begin(Switches *switches, uint32_t m);

/* Modes of two values, not known from the time, of which combinations are tried: at most `limit` (TRIAL_LIMIT), first those that
 * changed since switches_begin. The first combination is the present one, then come those with one flipped, with two and so on. */
Trial switches_trial(const Switches *switches, uint32_t limit);
bool trial_next(Trial *trial);

/* Flips the modes of the combination, sets all else that is discrete for them, and holds them until switches_begin. */
void switches_try(Switches *switches, const Trial *trial, double t, const double *y);

/* Has every mode the value that its last difference asks for, on an edge that its rate does? */
bool switches_agree(const Switches *switches);

/* The same of those known from the time, too. */
bool switches_all_agree(const Switches *switches);

/* Sets every mode by its last difference, at (t, y), then all else that is discrete; returns how many changed. A difference on an
 * edge goes where its rate leads. A mode that has changed to and fro since switches_begin stays. */
uint32_t switches_set(Switches *switches, double t, const double *y);

/* Sets all that is discrete by the columns at (t, y), until it stays. Do rows depend on what has changed? */
bool switches_settle(Switches *switches, double t, const double *y);

/* Marks the modes that leave their ranges at the event (t, y) of mode m by themselves: by the differences and rates before anything changes. */
void switches_mark_crossing(Switches *switches, uint32_t m, double t, const double *y, bool *marks);

/* What an event leaves of the beginning of the next step: kept in the heap, and taken back to where the event began. */
typedef struct SwitchesMark SwitchesMark;
SwitchesMark *switches_keep_mark(const Switches *switches, Heap *heap);
void switches_go_back(Switches *switches, const SwitchesMark *mark);

/* Did a mode go to and fro since switches_begin? */
bool switches_undecided(const Switches *switches);

/* Begins to slide along the edges, nearest to their last differences, of modes that went to and fro since switches_begin, by their
 * rates. false: none did. */
bool switches_slide(Switches *switches);

/* Just begun to slide, and the columns solved: do the rates jump, and lead back from both sides? If not, the modes of which that is
 * not so no longer slide, and are as they lead. */
bool switches_leads_back(Switches *switches);

/* Slides only along so many of the edges; the other modes are as the last differences say. */
void switches_slide_first(Switches *switches, uint32_t count);

/* Sets the modes that slide to those of a corner: 0 is all below, k all below but the k-th, and `slides` + 1 all above. */
void switches_set_corner(Switches *switches, uint32_t corner);

/* The rates of the modes that slide, at the columns of this corner. */
void switches_keep_corner(Switches *switches, uint32_t corner, double t, const double *y);

/* Finds the weights by the rates at the corners. */
void switches_weigh(Switches *switches);

/* Do the rates at (t, y), of the corner all above, follow from those at the others? */
bool switches_add_up(Switches *switches, double t, const double *y);

/* How far the weight of a mode that slides is outside of [0, 1], and which one's is most; negative: all are inside. */
double switches_leaving(const Switches *switches, uint32_t *mode);

/* Ends all sliding in the modes to which it leads, or forgets it. */
void switches_leave(Switches *switches);
void switches_forget_slides(Switches *switches);

/* Did modes slide until the event of now? */
bool switches_slid(const Switches *switches);

/* At the event (t, y) of mode m (MAP_NONE: of none): it and modes that slid are on their edges. */
void switches_locate(Switches *switches, uint32_t m, double t, const double *y);
