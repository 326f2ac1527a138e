/* switches: the conditions of a model made numeric (core/edges.h), and everything else that changes at events. Modes
 * that depend only on time change by the schedule, and discrete values by decisions. */
#pragma once

#include "code/decisions.h"
#include "code/evaluator.h"
#include "code/schedule.h"
#include "core/bernstein.h"
#include "core/switching.h"

typedef struct Switches {
  const Modes *modes;
  Evaluator *evaluator;
  Schedule schedule;    /* schedule of the modes that depend only on time */
  double end;           /* of the run */
  Decisions *decisions; /* NULL: only modes change at events */
  Workspace *workspace,
      *rates; /* workspaces of the conditions and rates of the evaluator's code; rates: NULL if none is known */
  Edges edges;
  Switching switching; /* the members above as shared code sees them; the delays are added where they are needed */
} Switches;

/* For the modes and the logic of the evaluator's code, and its inputs; NULL if it has none. Lives in the heap. */
Switches *switches_new(Heap *heap, Evaluator *evaluator);

/* The part of mode m that belongs to the plan. */
Condition switches_condition(Evaluator *evaluator, uint32_t m);

/* The plan for the timed modes of the evaluator's code. Lives in the heap. */
SchedulePlan switches_schedule(Heap *heap, Evaluator *evaluator);

/* Saves in the heap what a run knows about its modes and how it slides, restores it, and transfers it as bytes. */
typedef struct SwitchesState SwitchesState;
SwitchesState *switches_save(const Switches *switches, Heap *heap);
void switches_restore(Switches *switches, const SwitchesState *state);
void switches_transfer(const Switches *switches, SwitchesState *state, Transfer *transfer);

/* Copies the knowledge of another system about the same modes: their speeds, hysteresis and times of events. */
void switches_adopt(Switches *switches, const Switches *before);

/* Continues a search for modes that began in another system, whose structure the current modes have changed. Changes there count
 * until the search is over. */
void switches_go_on(Switches *switches, const Switches *before);

/* Sets the modes by the relations as written, at a guess. A search without logic calls this again and again. `written` is a
 * workspace of the conditions as written. */
void switches_follow(Switches *switches, Workspace *written, double t, const double *y);

/* The first mode whose last difference has left its range by more than round-off; false: there is none. */
bool switches_contradict(const Switches *switches, uint32_t *mode);

/* Sets all discrete values except the modes, for modes that were flipped or are held. */
void switches_follow_modes(Switches *switches, double t, const double *y);

/* Marks the modes that leave their ranges by themselves at the event (t, y) of mode m: according to the differences and
 * rates before anything changes. */
void switches_mark_crossing(Switches *switches, uint32_t m, double t, const double *y, bool *marks);

/* Saves in the heap the data with which the step after an event begins, and restores them at the beginning of the event. */
typedef struct SwitchesMark SwitchesMark;
SwitchesMark *switches_keep_mark(const Switches *switches, Heap *heap);
void switches_go_back(Switches *switches, const SwitchesMark *mark);
