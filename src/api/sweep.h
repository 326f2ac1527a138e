/* sweep: the type daedal_sweep.
 *
 * Invariant: a row of the table belongs to the thread that runs its point until the point is in `order`; after that it is never
 * written again. Threads allocate from the hook, not from the heap of the handle. */
#pragma once

#include "api/handles.h"
#include "result/table.h"
#include "study/design.h"
#include "study/journal.h"
#include "study/outputs.h"

/* The plan for some values of the variables that decide the structure. */
typedef struct SweepPlan {
  double *key;
  daedal_plan *plan; /* NULL: it has not been made */
} SweepPlan;

/* The courses of outputs over time, as further outputs: signal_count times time_count of them. */
typedef struct SweepCourses {
  const char **labels;
  uint32_t signal_count, time_count;
  double *times;
} SweepCourses;

struct daedal_sweep {
  HandleKind kind;
  HeapHook hook;
  daedal_result *asked;   /* the model, diagnostics and memory, but no run */
  daedal_options given;   /* texts are the caller's, until the plan is made */
  daedal_options options; /* of the runs except for their overrides */
  const char *directory;  /* of trajectories; NULL: none */
  const char *collection; /* the file they are to be in, the directory being for a while; NULL: none */
  uint32_t threads, process, processes;
  bool (*on_progress)(void *context, const daedal_sweep_progress *progress);
  void *context;
  Design design;
  OutputVec outputs;     /* those requested, then the courses */
  uint32_t output_count; /* those requested */
  SweepCourses courses;
  uint32_t *structural; /* variables that decide the structure */
  uint32_t structural_count;
  daedal_plan *plan;    /* of the values that the model has */
  pthread_mutex_t lock; /* of `plans`, the causes and the failure */
  bool has_lock;
  VEC(SweepPlan) plans; /* with room for all: it does not grow */
  Table table;
  double *values; /* of the table */
  uint8_t *status;
  const char **causes;     /* by point, from the hook; NULL: none */
  atomic_bool *done;       /* by point */
  _Atomic uint32_t *order; /* points in the order in which they were finished here; UINT32_MAX: not yet */
  atomic_uint ordered, next, finished, failed;
  atomic_bool stopped;
  uint32_t resumed;
  Journal *journal;
  atomic_int failure; /* a daedal_status: a file cannot be written */
  const char *failed_path;
  int failed_error;
  double begun, seconds; /* of executions */
  TextVec json, plot;
};

/* ---- sweep_overrides.c ---- */

/* How many overrides a point has. */
uint32_t sweep_override_count(const daedal_sweep *sweep);

/* Gives the options the overrides of a point: of all variables, or of those that decide the structure. The list is written to `room`, which
 * has sweep_override_count members. */
void sweep_override(const daedal_sweep *sweep, uint32_t point, bool only_structural, daedal_override *room,
                    daedal_options *options);

/* ---- sweep_trajectories.c ---- */

/* Reads where trajectories go, and makes the directory. false: an error is in the diagnostics. */
bool sweep_place_trajectories(daedal_sweep *sweep, const char *place);

/* Writes the trajectory of a point; from any thread. false, with errno set: it cannot be written. */
bool sweep_write_trajectory(const daedal_sweep *sweep, uint32_t point, daedal_result *result);

/* Does the file of the trajectory still exist? Always true if trajectories are not collected. */
bool sweep_has_trajectory(const daedal_sweep *sweep, uint32_t point);

/* Writes all trajectories to one file, once, when all points are finished and a file was requested. false: an error is in the
 * diagnostics. */
bool sweep_collect_trajectories(daedal_sweep *sweep);

/* ---- sweep_points.c ---- */

/* Runs the points of this process that are not finished, in threads. */
void sweep_run_points(daedal_sweep *sweep);

/* Stores a row; `values` NULL: none. From any thread. */
void sweep_finish_point(daedal_sweep *sweep, uint32_t point, daedal_status status, const char *cause,
                        const double *values);
