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

/* The plan for one combination of values of the variables that determine the structure. */
typedef struct SweepPlan {
  double *key;
  daedal_plan *plan; /* NULL: it has not been made */
} SweepPlan;

/* The trajectories of outputs, as further outputs: signal_count times time_count of them. */
typedef struct SweepCourses {
  const char **labels;
  uint32_t signal_count, time_count;
  double *times;
} SweepCourses;

struct daedal_sweep {
  HandleKind kind;
  HeapHook hook;
  daedal_result *asked;   /* the model, diagnostics and memory, but no run */
  daedal_options given;   /* the texts belong to the caller until the plan is made */
  daedal_options options; /* options of the runs, without overrides */
  const char *directory;  /* for trajectories; NULL: none */
  const char *collection; /* the file for all trajectories, if `directory` is temporary; NULL: none */
  uint32_t threads, process, processes;
  bool (*on_progress)(void *context, const daedal_sweep_progress *progress);
  void *context;
  Design design;
  OutputVec outputs;     /* the requested outputs, then the trajectories */
  uint32_t output_count; /* number of requested outputs */
  SweepCourses courses;
  uint32_t *structural; /* variables that determine the structure */
  uint32_t structural_count;
  daedal_plan *plan;    /* plan for the model's own values */
  pthread_mutex_t lock; /* protects `plans`, the causes and the failure */
  bool has_lock;
  VEC(SweepPlan) plans; /* list with room for all plans, so that it never moves */
  Table table;
  double *values; /* of the table */
  uint8_t *status;
  const char **causes;     /* causes by point, allocated from the hook; NULL: none */
  atomic_bool *done;       /* by point */
  _Atomic uint32_t *order; /* points in the order in which this process finished them; UINT32_MAX: not yet */
  atomic_uint ordered, next, finished, failed;
  atomic_bool stopped;
  uint32_t resumed;
  Journal *journal;
  atomic_int failure; /* a daedal_status, if a file cannot be written */
  const char *failed_path;
  int failed_error;
  double begun, seconds; /* start of this execution, and time of all executions */
  TextVec json, plot;
};

/* ---- sweep_overrides.c ---- */

/* The number of overrides of a point. */
uint32_t sweep_override_count(const daedal_sweep *sweep);

/* Gives the options the overrides of a point: all variables, or only those that determine the structure. The list is written to
 * `room`, which has sweep_override_count members. */
void sweep_override(const daedal_sweep *sweep, uint32_t point, bool only_structural, daedal_override *room,
                    daedal_options *options);

/* ---- sweep_trajectories.c ---- */

/* Reads where trajectories go, and makes the directory. false: an error is in the diagnostics. */
bool sweep_place_trajectories(daedal_sweep *sweep, const char *place);

/* Writes the trajectory of a point. Any thread may call it. false, with errno set: it cannot be written. */
bool sweep_write_trajectory(const daedal_sweep *sweep, uint32_t point, daedal_result *result);

/* Does the file of the trajectory still exist? Always true if trajectories are not collected. */
bool sweep_has_trajectory(const daedal_sweep *sweep, uint32_t point);

/* Writes all trajectories to one file, once, after all points are finished and if a file was requested. false: an error is in the
 * diagnostics. */
bool sweep_collect_trajectories(daedal_sweep *sweep);

/* ---- sweep_points.c ---- */

/* Runs the unfinished points of this process, in threads. */
void sweep_run_points(daedal_sweep *sweep);

/* Stores a row; `values` NULL: it has none. Any thread may call it. */
void sweep_finish_point(daedal_sweep *sweep, uint32_t point, daedal_status status, const char *cause,
                        const double *values);
