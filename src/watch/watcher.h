/* watcher: finds events inside the last step. First it tries to prove that no mode has changed (prover.h). In an interval where the
 * conditions that change are monotone there is one root, which is located. An interval without a proof, or with one that would cost
 * too much, is sampled (search.h) and counts as not proven (certificate.h).
 *
 * Only the segment of the step is used, so an event costs no steps. Inside the step the modes stay frozen. The time found is the
 * first one, up to round-off, at which a difference has left the range of its mode. Modes that depend only on time are never
 * searched for: their times are known in advance. */
#pragma once

#include "watch/certificate.h"

typedef struct Watcher Watcher;

/* For the modes of a view. Lives in the heap. */
Watcher *watcher_new(Heap *heap, View *view);

/* The proven part of the run. */
Certificate *watcher_certificate(Watcher *watcher);

/* Is it proven, or clear from both ends of the step, that no mode changes in it and nothing slides? Then the conditions at its end
 * are kept for the next step. */
bool watcher_rules_out(Watcher *watcher, const WatchedStep *step);

/* Where the first event of a step is: no mode is contradicted at `low`, and one is at `high`. */
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
double watcher_locate(Watcher *watcher, const WatchedStep *step, const EventBracket *bracket, double *y,
                      uint32_t *mode);

/* Does a solution that slides along an edge leave it in the step, up to *t? If so, *t becomes the time at which it leaves,
 * and y the columns at this time. */
bool watcher_leaves(Watcher *watcher, const WatchedStep *step, double *t, double *y);
