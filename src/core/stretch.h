/* stretch: the intervals between events, and the expected length and first step of the next one.
 *
 * An error estimate that allows any step, as on the parabola of a ball, may let a step jump over everything that follows. So a
 * step ends at the time at which the next event is expected, and the first step after an event is as long as the one after the
 * previous event. */
#pragma once

#include "core/edges.h"

typedef struct Stretch {
  double first;                 /* the size that its first step suggested */
  double lasted, lasted_before; /* length of the last one, and of the one before */
} Stretch;

typedef struct Stretches {
  /* [2 (modes + 1)] the interval that followed the last event: for each mode and its value after the event, then for events of
   * no mode */
  Stretch *list;
  Stretch *now;    /* the one since the last event; NULL: there was none */
  double begin;    /* when that began */
  double expected; /* a little after the time at which the next event is expected; INFINITY: unknown */
  bool is_first;   /* the next step is the first of the interval */
} Stretches;

/* Forgets all intervals. */
void stretches_forget(Stretches *stretches, int modes);

/* After an event of this mode (-1: no mode) at t, in a run of length `span`: ends one interval, and begins the next. Returns the
 * size of its first step; 0: unknown. */
double stretches_begin(Stretches *stretches, const Edges *edges, int mode, double t, double span, bool is_one_step);

/* The time at which a step from `begin` must end. */
double stretches_end(const Stretches *stretches, double begin, double stop);

/* Call this after each step; next: the size that the step suggests for the next one. */
void stretches_note_step(Stretches *stretches, double next);
