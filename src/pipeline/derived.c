/* derived: plans for structures other than the structure of a run's plan. A plan is derived when a run first needs it, and then all
 * runs of the original plan use it.
 *
 * Invariant: a derived plan is a function of its base, of the branches and of the parameter values that it depends on. So it does
 * not matter which run came first. */
#include "pipeline/parts.h"

#include <pthread.h>
#include <string.h>

/* The most plans in a table: parameters that conversions depend on may differ in every run. */
enum { MOST_SHARED = 256 };

/* A plan derived from a base, or the messages that say why there is none. */
typedef struct ModePlan {
  Heap *heap; /* its own heap; NULL: that of the run that made it */
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

/* The structure for which a plan is derived. */
typedef struct ModeKey {
  const Plan *base, *from; /* the branches in the next line belong to `from` */
  const bool *holds;
  const double *parameters;
  const Handover *handover; /* values, for a method that needs them */
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

/* A plan that is being made in its own heap. */
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

/* If memory for the plan is refused, the run fails too: both have the same limits. */
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

/* Called with the lock held; the lock stays held when memory is refused. */
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

/* NULL: it is not in the table, and the table is full. */
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

/* Copies the run's values of the parameters that a plan depends on. false: the plan was already made for these. */
static bool take_read(const Plan *plan, const double *parameters, double *wanted) {
  bool differ = false;
  for (uint32_t k = 0; k < plan->read.count; k++) {
    uint32_t p = plan->read.data[k];
    differ = differ || memcmp(&wanted[p], &parameters[p], sizeof *wanted) != 0;
    wanted[p] = parameters[p];
  }
  return differ;
}

/* Records that the run uses the plan. Its messages are reported once. NULL: there is no plan, and the error is in diags. */
static const Plan *use_mode(Simulation *simulation, const ModePlan *mode, Diags *diags) {
  for (uint32_t k = 0; k < simulation->modes.count; k++)
    if (simulation->modes.data[k].plan == &mode->plan) return &mode->plan;
  diags_append(diags, &mode->diags);
  if (!mode->ok) return NULL;
  vec_push(simulation->heap, &simulation->modes, ((ModeStart){.plan = &mode->plan}));
  return &mode->plan;
}

/* Starts from the base's own values. Uses only those values of the run on which the plan depends; the derived plan may depend
 * on more. */
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

/* Like mode_plan, but also for methods that need values: they get the values of the run that first needs the plan. */
const Plan *mode_plan_at(Simulation *simulation, const bool *holds, const Handover *handover, Diags *diags) {
  if (plan_is_derivable(simulation->base)) return mode_plan(simulation, holds, handover->evaluator->parameters, diags);
  ModeKey key = {simulation->base, simulation->plan, holds, handover->evaluator->parameters, handover};
  return use_mode(simulation, take_own(simulation, &key), diags);
}

const Plan *mode_plan_again(Simulation *simulation, const Plan *other) {
  Handover handover = {.time = other->request.run.start, .evaluator = other->first.evaluator, .again = &other->first};
  return mode_plan_at(simulation, other->holds, &handover, simulation->diags);
}

/* The plan for these branches with initial values, for a method that needs them. */
const Plan *mode_plan_at_start(Simulation *simulation, const bool *branches) {
  Heap *heap = simulation->heap;
  const Plan *from = simulation->plan;
  Request request = simulation->request;
  ModePlan *mode = heap_alloc(heap, sizeof *mode);
  bool *holds = heap_copy(heap, branches, from->branches.count, sizeof *holds);
  request.opens_kinks = from->request.opens_kinks;
  *mode = (ModePlan){.diags = diags_make(heap), .branches = from->branches.count};
  mode->ok = plan_make_at_start(&mode->plan, heap, from->model, &request, holds, &mode->diags);
  vec_push(heap, &simulation->own, mode);
  return use_mode(simulation, mode, simulation->diags);
}
