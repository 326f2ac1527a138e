/* watcher: finds events inside the last step. First it tries to prove that no mode has changed (prover.h). In an interval where the
 * conditions that change are monotone there is one root, which is located. An interval without a proof, or with one that would cost
 * too much, is sampled (search.h) and counts as not proven (certificate.h).
 *
 * Only the segment of the step is used, so an event costs no steps. Inside the step the modes stay frozen. The time found is the
 * first one, up to round-off, at which a difference has left the range of its mode. Modes that depend only on time are never
 * searched for: their times are known in advance.
 *
 * Exported solvers contain this file unchanged. Nothing is proven there. */
#pragma once

#include "core/edges.h"
#include "segment/segment.h"
#include "segment/system.h"

/* What is known about the inside of a step. */
typedef enum StepInside {
  INSIDE_KNOWN,  /* the segment's dense output costs nothing, or was already requested */
  INSIDE_COSTLY, /* the segment's dense output would take evaluations, and nothing else has requested it */
  INSIDE_UNREAD, /* the step was taken without dense output */
} StepInside;

/* The last step. */
typedef struct WatchedStep {
  Segment *segment;
  StepInside inside;
  bool is_timed; /* the step ends at an event that was known in advance */
} WatchedStep;

/* The outcome of a proof. */
typedef enum StepProof {
  STEP_UNTRIED, /* a proof is impossible, or the budget is used up */
  STEP_OPEN,    /* a mode changes, or may change */
  STEP_PROVEN,  /* no mode changes in the step */
} StepProof;

/* Proofs about the last step; all modes agree at its beginning. In the library, certificate.h makes them. */
typedef struct ProofMethods {
  /* Does the step stay in a region in which an earlier proof found that no mode changes? This takes no evaluation. */
  bool (*covers)(void *proofs, const WatchedStep *step);

  /* Tries to prove that no mode changes in the step. agrees: all modes agree at its end, too. is_far: conditions seem to be far
   * from their edges. */
  StepProof (*prove)(void *proofs, const WatchedStep *step, bool agrees, bool is_far);

  /* Like `prove`, with the segment of the step, if that was not requested yet. From then on the inside of the step is known. */
  void (*prove_inside)(void *proofs, const WatchedStep *step, bool agrees);

  /* After a proof. bracket: the interval in which the first mode changes, exactly once; false: that interval is unknown. open: the
   * interval that is not proven; outside of it no mode changes. */
  bool (*bracket)(void *proofs, double *low, double *high);
  void (*open)(void *proofs, double *low, double *high);
} ProofMethods;

typedef struct WatcherPlan {
  void *host;
  Edges *edges; /* NULL: there are no conditions */
  const System *system;
  /* All columns at a time of the step, with the rows solved. */
  bool (*point)(void *host, const Segment *segment, double t, double *y);
  const uint32_t *columns; /* those that conditions read, each once; none: unknown, unless `reads_none` */
  uint32_t count;
  bool reads_none;             /* conditions depend only on time and on values that change at events */
  const ProofMethods *methods; /* NULL: nothing is proven, and the search also looks next to the ends of a step */
  void *proofs;
} WatcherPlan;

typedef struct Watcher Watcher;

/* Lives in the heap. */
Watcher *watcher_new(Heap *heap, const WatcherPlan *plan);

/* Is it proven, or clear from both ends of the step, that no mode changes in it and nothing slides? Then the conditions at its end
 * are kept for the next step. */
bool watcher_rules_out(Watcher *watcher, const WatchedStep *step);

/* The interval of the first event of a step: no mode is contradicted at `low`, and at least one is at `high`. */
typedef struct EventBracket {
  double low, high;
  bool inside;       /* all modes agree again at the end of the step: only the segment shows the event */
  bool looks_inside; /* modes whose branches meet are searched for, too */
} EventBracket;

/* After a step that watcher_rules_out did not rule out: finds the first event in it. false: there is none, and the end is kept as
 * above. y is scratch for the columns. */
bool watcher_find(Watcher *watcher, const WatchedStep *step, double *y, EventBracket *bracket);

/* The time of the event in the bracket, up to round-off, and a mode that changes there. y gets the columns there, solved in the old
 * modes. */
double watcher_locate(Watcher *watcher, const WatchedStep *step, const EventBracket *bracket, double *y, int *mode);

/* Does a solution that slides along an edge leave it in the step, up to *t? If so, *t becomes the time at which it leaves,
 * and y the columns at this time. */
bool watcher_leaves(Watcher *watcher, const WatchedStep *step, double *t, double *y);
