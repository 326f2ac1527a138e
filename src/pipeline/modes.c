/* modes: runs whose equations change their structure at events. Each mode has a plan of its own, derived when a run first comes to it,
 * and then there for all runs of the plan that it is derived from.
 *
 * Invariant: a derived plan is a function of its base, of the branches and of the parameter values that it depends on. */
#include "pipeline/parts.h"

#include "code/past.h"
#include "code/switches.h"
#include "view/share.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

/* ---- derived plans ---- */

/* Plans that a table holds at most: parameters that conversions depend on may have other values in every run. */
enum { MOST_SHARED = 256 };

/* A plan derived from a base, or the messages that say why there is none. */
typedef struct ModePlan {
  Heap *heap; /* of its own; NULL: that of the run which made it */
  struct ModePlan *next;
  Plan plan;
  Diags diags;
  uint32_t branches;
  bool ok;
} ModePlan;

struct ModeTable {
  pthread_mutex_t lock;
  ModePlan *first;
  uint32_t count;
};

static void destroy_table(void *object) {
  ModeTable *table = object;
  for (ModePlan *mode = table->first, *next; mode; mode = next) {
    next = mode->next;
    heap_destroy(mode->heap);
  }
  pthread_mutex_destroy(&table->lock);
}

void plan_share(Plan *plan) {
  ModeTable *table = heap_alloc(plan->heap, sizeof *table);
  if (pthread_mutex_init(&table->lock, NULL) != 0) heap_fail(plan->heap);
  heap_defer(plan->heap, destroy_table, table);
  plan->table = table;
}

uint32_t plan_structures(const Plan *plan) {
  if (!plan->table) return 1;
  pthread_mutex_lock(&plan->table->lock);
  uint32_t count = plan->table->count + 1;
  pthread_mutex_unlock(&plan->table->lock);
  return count;
}

/* What a plan is to be derived for. */
typedef struct ModeKey {
  const Plan *base, *from; /* from: of its branches the next line speaks */
  const bool *holds;
  const double *parameters;
  const Handover *handover; /* of a method that needs values */
} ModeKey;

static bool has_branches(const Plan *plan, uint32_t branches, const ModeKey *key) {
  if (plan->request.opens_kinks != key->from->request.opens_kinks || !plan->holds != !key->holds) return false;
  if (!key->holds) return true;
  return branches == key->from->branches.count && memcmp(plan->holds, key->holds, branches * sizeof(bool)) == 0;
}

static bool has_key(const Plan *plan, uint32_t branches, const ModeKey *key) {
  return has_branches(plan, branches, key) &&
         memcmp(plan->parameters, key->parameters, plan->model->parameters.count * sizeof(double)) == 0;
}

static void derive(ModePlan *mode, Heap *heap, const ModeKey *key) {
  mode->diags = diags_make(heap);
  mode->branches = key->from->branches.count;
  mode->ok =
      plan_derive(&mode->plan, heap, key->base, key->from, key->holds, key->parameters, key->handover, &mode->diags);
}

/* One to be made in a heap of its own. */
typedef struct ModeMaking {
  Heap *heap;
  const ModeKey *key;
  ModePlan *mode;
} ModeMaking;

static void make_shared(void *context) {
  ModeMaking *making = context;
  making->mode = heap_alloc(making->heap, sizeof *making->mode);
  making->mode->heap = making->heap;
  derive(making->mode, making->heap, making->key);
}

/* What the plan was refused the run is: under the same limits. */
_Noreturn static void refuse_run(Heap *run, Heap *refused) {
  Budget *budget = heap_budget(run);
  if (refused && heap_budget(refused)->is_exceeded) {
    const Budget *other = heap_budget(refused);
    budget->is_exceeded = true;
    budget->exceeded = other->exceeded;
    budget->used[other->exceeded] = other->used[other->exceeded];
    budget->task = other->task, budget->begin = other->begin, budget->end = other->end;
  }
  heap_destroy(refused);
  heap_fail(run);
}

/* Under the lock, which it leaves open when memory is refused. */
static ModePlan *add_shared(ModeTable *table, const ModeKey *key, Heap *run) {
  ModeMaking making = {.heap = heap_new(heap_hook(run)), .key = key};
  if (making.heap) memcpy(heap_budget(making.heap)->most, heap_budget(run)->most, sizeof heap_budget(run)->most);
  if (!making.heap || !heap_protect(making.heap, make_shared, &making)) {
    pthread_mutex_unlock(&table->lock);
    refuse_run(run, making.heap);
  }
  making.mode->next = table->first;
  table->first = making.mode;
  table->count++;
  return making.mode;
}

/* NULL: it is not there, and the table is full. */
static const ModePlan *take_shared(ModeTable *table, const ModeKey *key, Heap *run) {
  pthread_mutex_lock(&table->lock);
  ModePlan *mode = table->first;
  while (mode && !has_key(&mode->plan, mode->branches, key)) mode = mode->next;
  if (!mode && table->count < MOST_SHARED) mode = add_shared(table, key, run);
  pthread_mutex_unlock(&table->lock);
  return mode;
}

static const ModePlan *take_own(Simulation *simulation, const ModeKey *key) {
  for (uint32_t k = 0; k < simulation->own.count; k++) {
    const ModePlan *mode = simulation->own.data[k];
    if ((key->handover ? has_branches : has_key)(&mode->plan, mode->branches, key)) return mode;
  }
  ModePlan *mode = heap_alloc(simulation->heap, sizeof *mode);
  derive(mode, simulation->heap, key);
  vec_push(simulation->heap, &simulation->own, mode);
  return mode;
}

static const ModePlan *take_mode(Simulation *simulation, const ModeKey *key) {
  ModeTable *table = simulation->is_shared && !key->handover ? simulation->base->table : NULL;
  const ModePlan *mode = table ? take_shared(table, key, simulation->heap) : NULL;
  return mode ? mode : take_own(simulation, key);
}

/* Takes over what a plan depends on of the run's parameters. false: it is for these. */
static bool take_read(const Plan *plan, const double *parameters, double *wanted) {
  bool differ = false;
  for (uint32_t k = 0; k < plan->read.count; k++) {
    uint32_t p = plan->read.data[k];
    differ = differ || memcmp(&wanted[p], &parameters[p], sizeof *wanted) != 0;
    wanted[p] = parameters[p];
  }
  return differ;
}

/* Notes that the run uses the plan. What was said of it is said once. NULL: there is none, and the error is in diags. */
static const Plan *use_mode(Simulation *simulation, const ModePlan *mode, Diags *diags) {
  for (uint32_t k = 0; k < simulation->modes.count; k++)
    if (simulation->modes.data[k].plan == &mode->plan) return &mode->plan;
  diags_append(diags, &mode->diags);
  if (!mode->ok) return NULL;
  vec_push(simulation->heap, &simulation->modes, ((ModeStart){.plan = &mode->plan}));
  return &mode->plan;
}

/* From the base's own values on: of the run's, only those count that the plan depends on, and they may lead to one that depends on more. */
const Plan *mode_plan(Simulation *simulation, const bool *holds, const double *parameters, Diags *diags) {
  const Plan *base = simulation->base, *plan = base;
  const ModePlan *mode = NULL;
  double *wanted =
      heap_copy(simulation->heap, base->parameters, base->model->parameters.count, sizeof *base->parameters);
  ModeKey key = {base, simulation->plan, holds, wanted, NULL};
  bool is_first = true;
  do {
    mode = is_first && has_branches(base, base->branches.count, &key) ? NULL : take_mode(simulation, &key);
    plan = mode ? &mode->plan : base;
    is_first = false;
  } while (take_read(plan, parameters, wanted));
  heap_free(simulation->heap, wanted);
  return mode ? use_mode(simulation, mode, diags) : base;
}

/* The same of a method that needs values: those of the run when it first comes there. */
static const Plan *mode_plan_at(Simulation *simulation, const bool *holds, const Handover *handover, Diags *diags) {
  if (plan_is_derivable(simulation->base)) return mode_plan(simulation, holds, handover->evaluator->parameters, diags);
  ModeKey key = {simulation->base, simulation->plan, holds, handover->evaluator->parameters, handover};
  return use_mode(simulation, take_own(simulation, &key), diags);
}

const Plan *mode_plan_again(Simulation *simulation, const Plan *other) {
  Handover handover = {.time = other->request.run.start, .evaluator = other->first.evaluator, .again = &other->first};
  return mode_plan_at(simulation, other->holds, &handover, simulation->diags);
}

/* Of a method that needs values: a plan made at them. */
static bool start_own(Simulation *simulation, const bool *branches) {
  Heap *heap = simulation->heap;
  Request request = simulation->request;
  ModePlan *mode = heap_alloc(heap, sizeof *mode);
  bool *holds = heap_copy(heap, branches, simulation->plan->branches.count, sizeof *holds);
  request.opens_kinks = simulation->plan->request.opens_kinks;
  *mode = (ModePlan){.diags = diags_make(heap), .branches = simulation->plan->branches.count};
  mode->ok = plan_make_at_start(&mode->plan, heap, simulation->plan->model, &request, holds, &mode->diags);
  vec_push(heap, &simulation->own, mode);
  const Plan *plan = use_mode(simulation, mode, simulation->diags);
  if (!plan) return false;
  simulation->plan = plan;
  simulation_begin_alone(simulation);
  return true;
}

bool mode_start(Simulation *simulation, const bool *holds, const double *parameters) {
  uint32_t before = simulation->diags->list.count;
  if (!plan_is_derivable(simulation->base)) return start_own(simulation, holds);
  for (uint32_t round = 0;; round++) {
    diags_keep(simulation->diags, before);
    const Plan *plan = mode_plan(simulation, holds, parameters, simulation->diags);
    if (!plan || !simulation_find_start(simulation, plan, parameters)) return false;
    if (simulation_fits_mode(simulation)) return true;
    Evaluator *evaluator = simulation->original.evaluator;
    if (round > plan->branches.count) {
      if (start_is_on_edge(plan, evaluator, &simulation->initial, simulation->heap)) return true;
      plan_report_unsettled(simulation->diags);
      return false;
    }
    holds = start_branches(plan, evaluator, simulation->heap);
  }
}

/* ---- modes of a run ---- */

double *mode_columns(const Simulation *simulation, const double *y, Heap *heap) {
  const View *view = simulation->view;
  uint32_t columns = view->original->array->columns;
  double *own = heap_array(heap, columns, sizeof *own);
  for (uint32_t q = 0; q < columns; q++)
    own[q] = view->source[q] == MAP_NONE ? NAN : view->sign[q] * y[view->source[q]];
  return own;
}

/* Keeps the values with which a run begins in a mode for the first time. false: they cannot be found. */
static bool keep_start(Simulation *simulation, const Plan *plan, const Handover *handover, Diags *diags) {
  ModeStart *start = simulation->modes.data;
  while (start < simulation->modes.data + simulation->modes.count && start->plan != plan) start++;
  if (start == simulation->modes.data + simulation->modes.count || start->run.y) return true;
  ArrayRun run = start_array(plan, simulation->heap, handover->evaluator->parameters);
  bool ok = start_at_event(plan, &run, handover, simulation->heap, diags);
  if (ok) start->run = run;
  return ok;
}

void simulation_add_mode(Simulation *simulation, const bool *holds) {
  Heap *heap = simulation->heap;
  Diags attempt = diags_make(heap);
  Handover handover = {.time = run_time(simulation->run),
                       .evaluator = simulation->view->original,
                       .y = mode_columns(simulation, run_values(simulation->run), heap)};
  const Plan *plan = mode_plan_at(simulation, holds, &handover, &attempt);
  if (plan) keep_start(simulation, plan, &handover, &attempt);
}

/* The plan of the mode that the handover leads into. NULL: an error is in diags. */
static const Plan *next_plan(Simulation *simulation, const Handover *handover, Heap *heap) {
  if (simulation->view && simulation->view->sensitivity) {
    diag_error(simulation->diags, DIAG_INTEGRATION, (Span){0},
               "at time %.10g an event changes the structure of the equations, which sensitivities do not follow",
               handover->time);
    return NULL;
  }
  const bool *holds = start_branches(simulation->plan, handover->evaluator, heap);
  return mode_plan_at(simulation, holds, handover, simulation->diags);
}

/* Goes over to the plan of the mode that the event leads into. */
static bool restructure(Simulation *simulation, double t, const double *y) {
  Stay stay = {0};
  Heap *heap = stay.heap = heap_within(simulation->heap, &stay.ticket);
  heap_share_guests(heap, simulation->heap);
  View *before = simulation->view;
  Handover handover = {.time = t,
                       .evaluator = before->original,
                       .y = before->share ? share_columns(before->share, y) : mode_columns(simulation, y, heap)};
  memmove(handover.evaluator->discretes, before->evaluator->discretes, /* which may be the same */
          simulation->plan->model->discretes.count * sizeof(double));
  const Plan *plan = next_plan(simulation, &handover, heap);
  if (!plan) return false;
  ArrayRun original = start_array(plan, heap, before->original->parameters);
  if (!start_at_event(plan, &original, &handover, heap, simulation->diags)) return false;
  if (simulation->request.keeps_modes) keep_start(simulation, plan, &handover, simulation->diags);
  simulation->plan = plan;
  simulation->stay = stay;
  simulation->original = original;
  simulation->original.evaluator->inputs = before->evaluator->inputs;
  simulation->since = t;
  if (!simulation_make_view(simulation)) return false;
  Past *past = simulation->system.evaluator->past;
  if (past) past_restore(past, before->evaluator->past);
  switches_adopt(simulation->view->switches, before->switches);
  if (before->holds) switches_go_on(simulation->view->switches, before->switches);
  if (before->switches->decisions)
    decisions_restore(simulation->view->switches->decisions, decisions_save(before->switches->decisions, heap));
  recorder_rebind(simulation->recorder, simulation->system.evaluator);
  simulation->statistics.replans++;
  return true;
}

/* Frees what the run held for a structure that it has left. Of the one whose constraint was violated most the report needs the text. */
static void leave(Simulation *simulation, Stay left, const Evaluator *original) {
  if (simulation->statistics.constraint_array == original) {
    Stay before = simulation->worst;
    simulation->worst = left;
    left = before;
  }
  if (left.ticket && !left.is_saved) heap_release(simulation->heap, left.ticket);
}

/* Is the system made for all branches singular at the start? */
static bool misfits_start(const Simulation *simulation) {
  const View *view = simulation->view;
  TurningPoint point;
  if (!view->conditions || view->holds) return false;
  return !simulation->plan->run.structure || simulation_is_singular(simulation, &point);
}

bool mode_begin(Simulation *simulation) {
  if (!misfits_start(simulation)) return true;
  const Plan *plan = simulation->plan;
  Heap *heap = simulation->heap;
  double *parameters = heap_array(heap, plan->model->parameters.count, sizeof *parameters);
  bool *holds = start_branches(plan, simulation->view->evaluator, heap);
  return model_parameter_values(plan->model, heap, simulation->request.parameter_overrides, parameters,
                                simulation->diags) &&
         mode_start(simulation, holds, parameters) && simulation_make_view(simulation);
}

RunStatus mode_loop(Simulation *simulation, bool resumes) {
  return run_begin(simulation->run, simulation->view, &simulation->plan->run, simulation->since, simulation->system.y,
                   resumes);
}

/* Instead of what was said, if that is not of a jump: a system of a high index may have been led into a mode by forces that it does not
 * know well enough. */
static void blame_index(Simulation *simulation, double t, int32_t index, uint32_t said) {
  if (index < 3 || diags_code(simulation->diags) == DIAG_JUMP) return;
  diags_keep(simulation->diags, said);
  diag_error(simulation->diags, DIAG_JUMP, (Span){0},
             "at the event at time %.10g, which changes the structure, no consistent values were found; the system "
             "integrated has index %d: use a method that reduces it, such as dummy",
             t, (int)index);
}

/* Times that differ by no more than round-off of the run's are one time. */
static bool is_same_time(const Simulation *simulation, double t) {
  const RunOptions *options = &simulation->options;
  return t - simulation->changed <= DBL_EPSILON * fmax(fabs(options->start), fabs(options->stop));
}

/* Another change of the structure. false: there have been too many at this time. */
static bool count_change(Simulation *simulation, double t) {
  enum { LIMIT = 1000 };
  simulation->changes = is_same_time(simulation, t) ? simulation->changes + 1 : 0;
  simulation->changed = t;
  if (simulation->changes < LIMIT) return true;
  diag_error(simulation->diags, DIAG_CHATTERING, (Span){0},
             "at time %.10g the structure of the equations changes again and again", t);
  return false;
}

RunStatus mode_follow(Simulation *simulation) {
  const double *y;
  double t = run_event(simulation->run, &y);
  int32_t index = simulation->plan->reduction.reduced.left + 1;
  bool is_counted = count_change(simulation, t);
  uint32_t said = simulation->diags->list.count;
  Stay left = simulation->stay;
  const Evaluator *original = simulation->view->original;
  if (is_counted && restructure(simulation, t, y)) {
    RunStatus status = mode_loop(simulation, true);
    leave(simulation, left, original);
    return status;
  }
  if (is_counted) blame_index(simulation, t, index, said);
  run_collect(simulation->run);
  return RUN_FAILED;
}
