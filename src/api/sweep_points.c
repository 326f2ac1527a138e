/* sweep_points: the runs of a sweep in threads. Each thread takes the next point from a counter, runs a shared plan, and writes the
 * row of the point. Threads share only the plans, which are not written. */
#include "api/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- finished points ---- */

static const char *keep_text(const daedal_sweep *sweep, const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = size > 1 ? sweep->hook.resize(sweep->hook.context, NULL, size) : NULL;
  return copy ? memcpy(copy, text, size) : NULL;
}

/* The first file that cannot be written ends the sweep. */
static void fail(daedal_sweep *sweep, const char *path, int error) {
  int none = DAEDAL_OK;
  if (!atomic_compare_exchange_strong(&sweep->failure, &none, DAEDAL_FILE)) return;
  sweep->failed_path = path;
  sweep->failed_error = error;
  atomic_store(&sweep->stopped, true);
}

/* A row counts only after it is on the disk. */
void sweep_finish_point(daedal_sweep *sweep, uint32_t point, daedal_status status, const char *cause,
                        const double *values) {
  double *row = sweep->values + (size_t)point * sweep->table.stride + design_variables(&sweep->design);
  JournalRecord record = {point, (uint32_t)status, values, cause};
  if (sweep->journal && values && !journal_append(sweep->journal, &record)) {
    fail(sweep, journal_path(sweep->journal), errno);
    return;
  }
  if (values && values != row) memcpy(row, values, sweep->outputs.count * sizeof *row);
  sweep->status[point] = (uint8_t)status;
  sweep->causes[point] = keep_text(sweep, cause);
  atomic_store(&sweep->done[point], true);
  atomic_fetch_add(&sweep->finished, 1);
  if (status != DAEDAL_OK) atomic_fetch_add(&sweep->failed, 1);
}

/* ---- plans ---- */

static bool has_key(const daedal_sweep *sweep, const SweepPlan *plan, uint32_t point) {
  for (uint32_t k = 0; k < sweep->structural_count; k++)
    if (plan->key[k] != design_value(&sweep->design, point, sweep->structural[k])) return false;
  return true;
}

/* Makes the plan for the structure of a point; the caller holds the lock. NULL: there is no memory for it. */
static daedal_plan *make_plan(daedal_sweep *sweep, uint32_t point, daedal_override *room) {
  double *key = sweep->hook.resize(sweep->hook.context, NULL, sweep->structural_count * sizeof *key);
  if (!key) return NULL;
  for (uint32_t k = 0; k < sweep->structural_count; k++)
    key[k] = design_value(&sweep->design, point, sweep->structural[k]);
  daedal_options options = sweep->options;
  options.output_times = NULL;
  options.output_time_count = 0;
  sweep_override(sweep, point, true, room, &options);
  SweepPlan made = {key, daedal_plan_make(sweep->asked->model, &options)};
  sweep->plans.data[sweep->plans.count++] = made;
  return made.plan;
}

/* The plan is made for the structural values only, so it does not depend on which point comes first. If making it fails, the run of
 * each point reports why. */
static daedal_plan *plan_of(daedal_sweep *sweep, uint32_t point, daedal_override *room) {
  daedal_plan *plan = NULL;
  if (!sweep->structural_count) return sweep->plan;
  pthread_mutex_lock(&sweep->lock);
  uint32_t k = 0;
  while (k < sweep->plans.count && !has_key(sweep, &sweep->plans.data[k], point)) k++;
  if (k < sweep->plans.count) plan = sweep->plans.data[k].plan;
  else if (k < sweep->plans.capacity) plan = make_plan(sweep, point, room);
  pthread_mutex_unlock(&sweep->lock);
  return daedal_status_of(plan) == DAEDAL_OK ? plan : sweep->plan;
}

/* ---- a point ---- */

/* The data of one thread. */
typedef struct SweepThread {
  daedal_sweep *sweep;
  struct Crew *crew;
  pthread_t thread;
  daedal_override *overrides; /* room for the overrides of a point */
  double *row;
} SweepThread;

static const char *cause_of(const daedal_result *result) {
  for (uint32_t k = 0; k < daedal_diagnostic_count(result); k++) {
    daedal_diagnostic diagnostic = daedal_diagnostic_get(result, k);
    if (diagnostic.severity == DAEDAL_ERROR) return diagnostic.message;
  }
  return "";
}

static void read_row(const SweepThread *thread, const daedal_plan *plan, daedal_result *result) {
  const OutputVec *outputs = &thread->sweep->outputs;
  const Recorder *recorder = recorder_of(result);
  uint32_t events = result->simulation.statistics.stepper.passed.count;
  for (uint32_t k = 0; k < outputs->count; k++)
    thread->row[k] = output_value(&outputs->data[k], &plan->plan->problem, recorder->trajectory, result->events, events,
                                  &result->diags.arena);
}

static void clear_row(const SweepThread *thread) {
  for (uint32_t k = 0; k < thread->sweep->outputs.count; k++) thread->row[k] = NAN;
}

static void run_point(const SweepThread *thread, uint32_t point) {
  daedal_sweep *sweep = thread->sweep;
  daedal_options options = sweep->options;
  daedal_plan *plan = plan_of(sweep, point, thread->overrides);
  sweep_override(sweep, point, false, thread->overrides, &options);
  daedal_result *result = plan_run(plan, &options, RUN_ROWS);
  daedal_status status = daedal_status_of(result);
  if (status == DAEDAL_OK) read_row(thread, plan, result);
  else clear_row(thread);
  bool is_stopped = atomic_load(&sweep->stopped), is_kept = is_stopped || sweep_write_trajectory(sweep, point, result);
  if (!is_kept) fail(sweep, sweep->directory, daedal_status_of(result) == DAEDAL_INTERNAL ? ENOMEM : errno);
  if (!is_stopped && is_kept) {
    sweep_finish_point(sweep, point, status, status == DAEDAL_OK ? "" : cause_of(result), thread->row);
    atomic_store(&sweep->order[atomic_fetch_add(&sweep->ordered, 1)], point);
  }
  daedal_free(result);
}

/* ---- threads ---- */

/* The working threads, and how the caller's thread learns that one has ended. */
typedef struct Crew {
  SweepThread *threads;
  uint32_t count, running;
  pthread_mutex_t lock;
  pthread_cond_t ended;
} Crew;

/* Each process gets one random point of every N consecutive points, where N is the number of processes. So no pattern of the values
 * gives one process all the long runs. */
static bool is_own(const daedal_sweep *sweep, uint32_t point) {
  if (sweep->processes == 1) return true;
  return (point + hash_mix(point / sweep->processes)) % sweep->processes == sweep->process;
}

static void *run_points(void *context) {
  SweepThread *thread = context;
  daedal_sweep *sweep = thread->sweep;
  for (;;) {
    uint32_t point = atomic_fetch_add(&sweep->next, 1);
    if (point >= sweep->design.points || atomic_load(&sweep->stopped)) break;
    if (is_own(sweep, point) && !atomic_load(&sweep->done[point])) run_point(thread, point);
  }
  pthread_mutex_lock(&thread->crew->lock);
  thread->crew->running--;
  pthread_cond_signal(&thread->crew->ended);
  pthread_mutex_unlock(&thread->crew->lock);
  return NULL;
}

static bool stop_run(void *context, const daedal_progress *progress) {
  (void)progress;
  return atomic_load_explicit(&((daedal_sweep *)context)->stopped, memory_order_relaxed);
}

static void look_around(daedal_sweep *sweep) {
  daedal_sweep_progress progress = daedal_sweep_progress_get(sweep);
  if (sweep->journal) journal_sync(sweep->journal);
  if (sweep->on_progress && sweep->on_progress(sweep->context, &progress)) atomic_store(&sweep->stopped, true);
}

/* Waits for a thread to end, for a fraction of a second at most. */
static void wait_a_while(Crew *crew) {
  enum { PAUSE = 20000000 };
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += PAUSE;
  if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
  pthread_cond_timedwait(&crew->ended, &crew->lock, &until);
}

static void oversee(daedal_sweep *sweep, Crew *crew) {
  pthread_mutex_lock(&crew->lock);
  while (crew->running) {
    wait_a_while(crew);
    pthread_mutex_unlock(&crew->lock);
    look_around(sweep);
    pthread_mutex_lock(&crew->lock);
  }
  pthread_mutex_unlock(&crew->lock);
}

/* Starts as many threads as possible; if none starts, the caller's thread does the work. */
static void start_threads(daedal_sweep *sweep, Crew *crew) {
  uint32_t started = 0;
  crew->running = crew->count;
  while (started < crew->count &&
         pthread_create(&crew->threads[started].thread, NULL, run_points, &crew->threads[started]) == 0)
    started++;
  pthread_mutex_lock(&crew->lock);
  crew->running -= crew->count - started;
  crew->count = started;
  if (!started) crew->running = 1;
  pthread_mutex_unlock(&crew->lock);
  if (!started) run_points(&crew->threads[0]);
  oversee(sweep, crew);
  for (uint32_t k = 0; k < crew->count; k++) pthread_join(crew->threads[k].thread, NULL);
}

static uint32_t thread_count(const daedal_sweep *sweep) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  uint32_t count = sweep->threads ? sweep->threads : cores > 0 ? (uint32_t)cores : 1;
  return count < sweep->design.points ? count : sweep->design.points;
}

static bool run_crew(daedal_result *asked, const void *argument) {
  daedal_sweep *sweep = *(daedal_sweep *const *)argument;
  Heap *heap = asked->heap;
  Crew crew = {.count = thread_count(sweep)};
  crew.threads = heap_array(heap, crew.count, sizeof *crew.threads);
  for (uint32_t k = 0; k < crew.count; k++)
    crew.threads[k] = (SweepThread){.sweep = sweep,
                                    .crew = &crew,
                                    .overrides = heap_array(heap, sweep_override_count(sweep), sizeof(daedal_override)),
                                    .row = heap_array(heap, sweep->outputs.count, sizeof(double))};
  sweep->options.on_step = stop_run;
  sweep->options.context = sweep;
  pthread_mutex_init(&crew.lock, NULL);
  pthread_cond_init(&crew.ended, NULL);
  start_threads(sweep, &crew);
  pthread_cond_destroy(&crew.ended);
  pthread_mutex_destroy(&crew.lock);
  return true;
}

void sweep_run_points(daedal_sweep *sweep) {
  sweep->begun = pipeline_clock();
  result_protect(sweep->asked, run_crew, &sweep);
  sweep->seconds += pipeline_clock() - sweep->begun;
  sweep->begun = 0;
}
