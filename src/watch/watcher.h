/* watcher: what happened inside of the last step? First a proof is tried that no mode has changed (prover.h). A stretch in which conditions that change are
 * monotone has one root, which is located. What is not proven, since it cannot be or would cost too much, is sampled (search.h), and counts as not
 * proven (certificate.h).
 *
 * Only the segment of the step is asked, so an event costs no steps; inside of the step the modes stay frozen, and the place found is the first point, to
 * round-off, at which a difference has left the range of its mode. Modes of time alone are never looked at: their times are known in advance. */
#pragma once

#include "watch/certificate.h"

typedef struct Watcher Watcher;

/* For the modes of a view. Lives in the heap. */
Watcher *watcher_new(Heap *heap, View *view);

/* What it has proven. */
Certificate *watcher_certificate(Watcher *watcher);

/* Is it proven, or plain from both ends of the step, that no mode changes in it? Nothing slides. Then what conditions are at the end is kept for the next step. */
bool watcher_rules_out(Watcher *watcher, const WatchedStep *step);

/* Where the first event of a step is: nothing contradicts its mode at `low`, something does at `high`. */
typedef struct EventBracket {
  double low, high;
  bool inside;       /* all agree again at the end of the step: only the segment tells of the event */
  bool looks_inside; /* modes whose branches meet are looked for, too */
} EventBracket;

/* After a step that watcher_rules_out did not rule out: the first event in it. false: there is none, and the end is kept as above. y is for any columns. */
bool watcher_find(Watcher *watcher, const WatchedStep *step, double *y, EventBracket *bracket);

/* The time of the event in the bracket, to round-off, and a mode that changes there. The columns there, closed in the old modes, in y. */
double watcher_locate(Watcher *watcher, const WatchedStep *step, const EventBracket *bracket, double *y,
                      uint32_t *mode);

/* Does a solution that slides along an edge leave it in the step, up to *t? *t is then the time of that, and y has the columns there. */
bool watcher_leaves(Watcher *watcher, const WatchedStep *step, double *t, double *y);
