/* schedule: when the modes of time alone change. Their times are found in advance, by bounds over stretches of time, so that
 * none is missed, however narrow; the integrator stops at them and never searches. */
#pragma once

#include "code/evaluator.h"

typedef struct Schedule Schedule;

/* For the timed modes of the evaluator's code; NULL if it has none. Lives in the heap. */
Schedule *schedule_new(Heap *heap, Evaluator *evaluator);

/* The run ends at this time. A relation that becomes another one right after it does not change any more: at the end `time > end` is false. */
void schedule_end(Schedule *schedule, double end);

/* Sets the timed modes as they are at t, except for those with a mark in `waits` (NULL: none); returns how many changed. */
uint32_t schedule_set(Schedule *schedule, double t, const bool *waits);

/* The first mode that is another one at t than it is now; MAP_NONE: none is. */
uint32_t schedule_changes(const Schedule *schedule, double t);

/* The same of all: marks them, per mode. */
void schedule_mark_changes(const Schedule *schedule, double t, bool *marks);

/* At least so many events happen from `begin` to `stop`. O(modes). */
double schedule_expected(const Schedule *schedule, double begin, double stop);

/* Looks for the first event of each mode after `begin`, for the work of it alone: what a search costs too much is refused
 * before a run, whose events search in the same way. */
void schedule_count_work(const Schedule *schedule, double begin, double stop);

/* Of how many modes it keeps the time. */
uint32_t schedule_count(const Schedule *schedule);

/* The first time after t, up to stop, at which a timed mode changes, and which; `first`, that of the first other event or INFINITY, and MAP_NONE if none does before
 * it. The modes must be set for t. */
double schedule_next(Schedule *schedule, double t, double stop, double first, uint32_t *mode);
