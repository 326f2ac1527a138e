/* schedule: the times at which modes that depend only on time change. Their times are found in advance, by bounds over intervals of
 * time, so that none is missed, however narrow. The integrator stops at them and never searches. */
#pragma once

#include "code/evaluator.h"

typedef struct Schedule Schedule;

/* For the timed modes of the evaluator's code; NULL if it has none. Lives in the heap. */
Schedule *schedule_new(Heap *heap, Evaluator *evaluator);

/* The run ends at this time. A relation that would change right after it no longer changes: at the end `time > end` is false. */
void schedule_end(Schedule *schedule, double end);

/* Sets the timed modes to their values at t, except those marked in `waits` (NULL: none); returns how many changed. */
uint32_t schedule_set(Schedule *schedule, double t, const bool *waits);

/* The first mode whose value at t differs from its present one; MAP_NONE: none. */
uint32_t schedule_changes(const Schedule *schedule, double t);

/* The same for all: marks them, per mode. */
void schedule_mark_changes(const Schedule *schedule, double t, bool *marks);

/* A lower bound for the number of events from `begin` to `stop`. O(modes). */
double schedule_expected(const Schedule *schedule, double begin, double stop);

/* Searches for the first event of each mode after `begin` only to count the work. A search that costs too much is refused before
 * the run, whose events search in the same way. */
void schedule_count_work(const Schedule *schedule, double begin, double stop);

/* The number of modes in the schedule. */
uint32_t schedule_count(const Schedule *schedule);

/* The first time in (t, stop] at which a timed mode changes, and that mode. If none changes before `first`, the time of the first
 * other event or INFINITY, it returns `first` and MAP_NONE. The modes must be set for t. */
double schedule_next(Schedule *schedule, double t, double stop, double first, uint32_t *mode);
