/* turning: see turning.h. */
#include "solve/turning.h"

#include "array/regular.h"
#include "base/linear.h"

#include <math.h>
#include <string.h>

enum {
  SMALL_BLOCK = 64,    /* blocks up to this size are watched at every step */
  SMALL_TOTAL = 20000, /* and entries up to this number; else at every so many steps only, which keeps the cost small */
  SELDOM = 10,         /* as this */
  LARGEST_BLOCK = 5000,   /* larger blocks are left to the integrator's own tests */
  LARGEST_TOTAL = 100000, /* entries watched at most */
  RANK_BLOCK = 200,       /* the rank at a singular point is found up to this size, else taken to drop by one */
  HISTORY = 24,           /* points behind that are kept */
  FOLLOW = 400,           /* steps of a suspect at most */
  REPEAT = 4000,          /* steps at most from the beginning to where it is followed */
  FINE = 120,             /* steps to where it became suspect */
  SAMPLES = 96,           /* of its determinant, the last ones */
  NODES = 8               /* of the extrapolation */
};

static const double NEAR = 1e-2; /* of its largest value: a determinant this small that heads for zero is suspect */
static const double DIP =
    0.02; /* one that goes up again, but seems to have been this small in between, is suspect, too */
static const double CHANGED = 0.35; /* a step over which one changes by more is looked into */
static const double TINY = 1e-5;    /* one this small is suspect in any case */
static const double TIGHT = 1e-13;  /* tolerance when a suspect is followed */
static const double WINDOW =
    0.02; /* smallest part of the determinant used at first: below, errors of the states count more */
static const double NEARER = 0.25; /* where that window is too wide, nearer ones by this factor, down to the last */
static const double LAST_WINDOW = 0.0003;
static const double SHRINK = 0.12; /* of the determinant in one step of following, at most */
static const double AGREED = 2e-7; /* of two extrapolations, relative to the time or the way followed */
static const double TOUCHED =
    1e-7; /* a determinant that is said to touch zero must be this small there, if it can be followed so far */
static const double RANK_LOST = 1e-4; /* ratio of pivots at the extrapolated matrix */
static const double RANK_LOST_AT_START = 1e-14;

typedef struct Watched {
  int32_t block, size, first; /* first entry among all */
  const int32_t *row_start, *column;
  Linear *linear;   /* NULL for a single equation */
  double reference; /* logarithm: determinants are relative to the first that was not zero; NAN: none yet */
  double determinant, before, earlier; /* now, and at the two steps before */
  double lowest;                       /* the least size seen or to be supposed between these */
  double harmless;                     /* such a size that was followed, and there was no zero */
  double largest;                      /* absolute, since the last reset */
  bool changed;                        /* much, in the last step */
  bool smooth;                         /* it cannot jump: a change of sign is a zero */
} Watched;

typedef VEC(Watched) WatchedVec;

typedef struct Mark {
  double t;
  double *y;
  double *determinant; /* per watched block */
} Mark;

struct TurningPlan {
  WatchedVec blocks;                         /* as a run begins with them, without factors */
  WatchedVec switched;                       /* blocks that change at events only, which are looked at then */
  const Program *program, *switched_program; /* entries of all of these; NULL where there are none */
  int32_t sampled;                           /* entries of the largest block whose rank is found */
  int every;                                 /* steps between two looks */
};

struct Turning {
  Heap *heap;
  View *view;
  const TurningPlan *plan;
  WatchedVec blocks;
  Workspace *program;
  double *values;
  WatchedVec switched;
  Workspace *switched_program;
  double *switched_values;
  double *inside; /* columns at a point within a step */
  double t, t_before, t_earlier;
  Mark origin; /* where the smooth part of the run began */
  Mark mark[HISTORY];
  int marks;
  double sample_time[SAMPLES], sample_size[SAMPLES];
  double *
      sample_entries; /* SAMPLES times the entries of the largest block whose rank is found; NULL before it is needed */
  int unseen;         /* steps since the last look */
  int samples;
  double lost; /* where following ended too early: behind the zero, or a step failed; NAN */
};

/* ---- what is watched ---- */

static bool is_moving(Dag *dag, Expr e) { return dag_depends(dag, e, OP_VARIABLE) || dag_depends(dag, e, OP_TIME); }

/* How a matrix changes: not at all, at events, all the time. */
typedef enum Change { CHANGE_NEVER, CHANGE_AT_EVENTS, CHANGE_ALWAYS } Change;

static Change change_of(Dag *dag, const BlockJacobian *jacobian) {
  Change change = CHANGE_NEVER;
  for (int32_t e = 0; e < jacobian->row_start[jacobian->size]; e++) {
    if (is_moving(dag, jacobian->entry[e])) return CHANGE_ALWAYS;
    if (dag_depends(dag, jacobian->entry[e], OP_DISCRETE)) change = CHANGE_AT_EVENTS;
  }
  return change;
}

/* Relations that make events are modes, constant in between. */
static bool is_smooth(Dag *dag, const BlockJacobian *jacobian, Heap *heap) {
  IndexVec below = {0};
  bool smooth = true;
  dag_below(dag, dag_scratch(dag), jacobian->entry, (uint32_t)jacobian->row_start[jacobian->size], &below);
  for (uint32_t k = 0; k < below.count && smooth; k++) {
    OpKind kind = op_kind(dag_op(dag, below.data[k]));
    smooth = (kind == KIND_LEAF || kind == KIND_SMOOTH || kind == KIND_LOGIC) && dag_op(dag, below.data[k]) != OP_CALL;
  }
  vec_free(heap, &below);
  return smooth;
}

/* One equation that gives its variable with a constant factor need not be differentiated to be seen
 * through. */
static bool is_plain(const Problem *problem, const Structure *structure, int32_t block) {
  int32_t begin = structure->blocks.start[block];
  if (structure->blocks.start[block + 1] - begin > 1) return false;
  int32_t i = structure->blocks.row[begin], j = structure->blocks.column[begin];
  Dag *dag = problem->model->dag;
  Expr slope, rest, leaf = dag_variable(dag, problem->unknown[j], (uint32_t)(structure->d[j] - structure->c[i]));
  if (!dag_linear(dag, problem->residual[i], leaf, &slope, &rest)) return false;
  return !is_moving(dag, slope) && !dag_depends(dag, slope, OP_DISCRETE);
}

static Watched watch_block(Heap *heap, Dag *dag, const BlockJacobian *jacobian, int32_t block, int32_t first) {
  return (Watched){.block = block,
                   .size = jacobian->size,
                   .first = first,
                   .row_start = jacobian->row_start,
                   .column = jacobian->column,
                   .reference = NAN,
                   .harmless = HUGE_VAL,
                   .smooth = is_smooth(dag, jacobian, heap)};
}

TurningPlan *turning_plan(ArrayCode *code, const Structure *structure) {
  const Problem *problem = code->array->problem;
  Heap *heap = code->heap;
  Arena *arena = heap_alloc(heap, sizeof *arena);
  *arena = arena_make(heap);
  int32_t *place = arena_array(arena, problem->unknowns, sizeof *place);
  TurningPlan *plan = heap_alloc(heap, sizeof *plan);
  plan->every = 1;
  ExprVec roots = {0}, switched = {0};
  for (int32_t b = 0; b < structure->blocks.n_blocks; b++) {
    int32_t size = structure->blocks.start[b + 1] - structure->blocks.start[b];
    if (size > LARGEST_BLOCK || roots.count > LARGEST_TOTAL || is_plain(problem, structure, b)) continue;
    BlockJacobian jacobian = regular_jacobian(problem, structure, b, place, arena);
    Change change = change_of(problem->model->dag, &jacobian);
    if (change == CHANGE_NEVER) continue;
    ExprVec *entries = change == CHANGE_ALWAYS ? &roots : &switched;
    Watched watched = watch_block(heap, problem->model->dag, &jacobian, b, (int32_t)entries->count);
    vec_push(heap, change == CHANGE_ALWAYS ? &plan->blocks : &plan->switched, watched);
    for (int32_t e = 0; e < jacobian.row_start[size]; e++) vec_push(heap, entries, jacobian.entry[e]);
    if (change == CHANGE_AT_EVENTS) continue;
    if (size > SMALL_BLOCK || roots.count > SMALL_TOTAL) plan->every = SELDOM;
    if (size <= RANK_BLOCK && jacobian.row_start[size] > plan->sampled) plan->sampled = jacobian.row_start[size];
  }
  if (roots.count) plan->program = array_code_program(code, roots.data, roots.count);
  if (switched.count) plan->switched_program = array_code_program(code, switched.data, switched.count);
  vec_free(heap, &roots);
  vec_free(heap, &switched);
  return plan->program || plan->switched_program ? plan : NULL;
}

/* The blocks with room for their factors; of the transposed matrices, which have the same determinants. */
static WatchedVec begin_blocks(Heap *heap, const WatchedVec *plan) {
  WatchedVec blocks = {0};
  for (uint32_t b = 0; b < plan->count; b++) {
    Watched watched = plan->data[b];
    if (watched.size > 1) {
      watched.linear = linear_new(heap, watched.size, watched.row_start[watched.size], false);
      linear_set_pattern(watched.linear, watched.row_start, watched.column);
    }
    vec_push(heap, &blocks, watched);
  }
  return blocks;
}

Turning *turning_new(Heap *heap, View *view, const TurningPlan *plan) {
  size_t columns = (size_t)view->system.columns;
  Turning *turning = heap_alloc(heap, sizeof *turning);
  turning->heap = heap;
  turning->view = view;
  turning->plan = plan;
  turning->blocks = begin_blocks(heap, &plan->blocks);
  turning->switched = begin_blocks(heap, &plan->switched);
  if (plan->program) {
    turning->program = workspace_new(heap, plan->program);
    turning->values = heap_array(heap, program_outputs(plan->program), sizeof(double));
  }
  if (plan->switched_program) {
    turning->switched_program = workspace_new(heap, plan->switched_program);
    turning->switched_values = heap_array(heap, program_outputs(plan->switched_program), sizeof(double));
  }
  turning->inside = heap_array(heap, columns, sizeof(double));
  turning->origin.y = heap_array(heap, columns, sizeof(double));
  for (int k = 0; k < HISTORY; k++) {
    turning->mark[k].y = heap_array(heap, columns, sizeof(double));
    turning->mark[k].determinant = heap_array(heap, turning->blocks.count, sizeof(double));
  }
  return turning;
}

/* ---- determinants ---- */

static bool evaluate(Turning *turning, double t, const double *y) {
  Evaluator *evaluator = turning->view->evaluator;
  if (!turning->program) return true;
  Point point = evaluator_point(evaluator, t, y);
  evaluator->entry_evaluations += program_outputs(turning->plan->program);
  return workspace_run(turning->program, &point, turning->values) == EVAL_OK;
}

/* Relative to its first value, so that products of many factors neither over- nor underflow. */
static double block_determinant(Turning *turning, Watched *watched) {
  enum { LARGEST_LOGARITHM = 600 };
  const double *values = turning->values + watched->first;
  double sign = 1, logarithm = 0;
  if (watched->size == 1) {
    double sum = 0;
    for (int32_t e = 0; e < watched->row_start[1]; e++) sum += values[e];
    return sum;
  }
  if (!linear_factor(watched->linear, values)) return 0;
  sign = linear_determinant(watched->linear, &logarithm);
  if (isnan(watched->reference)) watched->reference = logarithm;
  return sign * exp(fmin(fmax(logarithm - watched->reference, -LARGEST_LOGARITHM), LARGEST_LOGARITHM));
}

/* The rank of the block's matrix with these entries, rows scaled. */
static int32_t block_rank(Heap *heap, const Watched *watched, const double *entries, double lost) {
  int32_t n = watched->size;
  double *a = heap_array(heap, (size_t)n * (size_t)n, sizeof *a);
  for (int32_t p = 0; p < n; p++) {
    double largest = 0;
    for (int32_t e = watched->row_start[p]; e < watched->row_start[p + 1]; e++)
      largest = fmax(largest, fabs(entries[e]));
    for (int32_t e = watched->row_start[p]; e < watched->row_start[p + 1] && largest > 0; e++)
      a[p * n + watched->column[e]] += entries[e] / largest;
  }
  int32_t rank = linear_rank(a, n, lost);
  heap_free(heap, a);
  return rank;
}

/* ---- the way behind ---- */

/* Keeps a point. One that is very near to the last kept takes its place, so that the marks reach back far
 * enough. */
static void add_mark(Turning *turning, double t, const double *y) {
  int at = turning->marks;
  if (at > 1 && t - turning->mark[at - 1].t < 0.02 * (t - turning->mark[0].t)) at--;
  if (at == HISTORY) {
    Mark oldest = turning->mark[0];
    memmove(turning->mark, turning->mark + 1, (HISTORY - 1) * sizeof(Mark));
    turning->mark[--at] = oldest;
  }
  Mark *mark = &turning->mark[at];
  mark->t = t;
  memcpy(mark->y, y, (size_t)turning->view->system.columns * sizeof *y);
  for (uint32_t b = 0; b < turning->blocks.count; b++) mark->determinant[b] = turning->blocks.data[b].determinant;
  turning->marks = at + 1;
}

void turning_begin(Turning *turning, double t, const double *y) {
  turning->marks = 0;
  turning->t = turning->t_before = turning->t_earlier = turning->origin.t = t;
  memcpy(turning->origin.y, y, (size_t)turning->view->system.columns * sizeof *y);
  bool known = evaluate(turning, t, y);
  for (uint32_t b = 0; b < turning->blocks.count; b++) {
    Watched *watched = &turning->blocks.data[b];
    watched->determinant = known ? block_determinant(turning, watched) : NAN;
    watched->before = watched->earlier = watched->determinant;
    watched->largest = known ? fabs(watched->determinant) : 0;
  }
  add_mark(turning, t, y);
}

/* What lies behind belongs to another branch. */
static void restart(Turning *turning, double t, const double *y) {
  turning->marks = 0;
  add_mark(turning, t, y);
}

/* ---- following a suspect ---- */

/* An integrator with a tight tolerance, in a heap of its own: there may be many in a run. */
typedef struct Follower {
  const Integrator *integrator;
  void *self, *ticket;
} Follower;

static Follower follower_make(const Turning *turning, double max_step) {
  IntegratorOptions options = {.relative_tolerance = TIGHT, .absolute_tolerance = TIGHT, .max_step = max_step};
  Follower follower = {.integrator = integrator_find(turning->view->system.complete ? "erk" : "radau")};
  Heap *heap = heap_within(turning->heap, &follower.ticket);
  follower.self = follower.integrator->create(heap, &turning->view->system, &options);
  return follower;
}

static void follower_free(const Turning *turning, const Follower *follower) {
  heap_release(turning->heap, follower->ticket);
}

/* Integrates tightly from (t, from) to `until`, whose columns it writes to y; false: it does not get there in so many
 * steps. */
static bool carry(const Turning *turning, double t, const double *from, double until, int steps, double *y) {
  Follower follower = follower_make(turning, 0);
  const Integrator *integrator = follower.integrator;
  bool ok = true;
  integrator->start(follower.self, t, from, until);
  for (int k = 0; k < steps && integrator->time(follower.self) < until && ok; k++)
    ok = integrator->step(follower.self, until) == STEP_OK;
  ok = ok && integrator->time(follower.self) >= until;
  if (ok) memcpy(y, integrator->values(follower.self), (size_t)turning->view->system.columns * sizeof(double));
  follower_free(turning, &follower);
  return ok;
}

static void keep_sample(Turning *turning, const Watched *watched, double t, double size) {
  size_t entries = watched->size <= RANK_BLOCK ? (size_t)watched->row_start[watched->size] : 0;
  if (!turning->sample_entries && turning->plan->sampled)
    turning->sample_entries =
        heap_array(turning->heap, (size_t)SAMPLES * (size_t)turning->plan->sampled, sizeof(double));
  if (turning->samples == SAMPLES) { /* the oldest goes */
    memmove(turning->sample_time, turning->sample_time + 1, (SAMPLES - 1) * sizeof(double));
    memmove(turning->sample_size, turning->sample_size + 1, (SAMPLES - 1) * sizeof(double));
    if (entries)
      memmove(turning->sample_entries, turning->sample_entries + entries, (SAMPLES - 1) * entries * sizeof(double));
    turning->samples--;
  }
  size_t at = (size_t)turning->samples++;
  turning->sample_time[at] = t;
  turning->sample_size[at] = size;
  if (entries)
    memcpy(turning->sample_entries + at * entries, turning->values + watched->first, entries * sizeof(double));
}

/* Where the determinant has shrunk by a small part since the last sample, if it goes on as it does. */
static double next_stop(const Turning *turning, double end) {
  int last = turning->samples - 1;
  if (last < 1) return end;
  double fallen = turning->sample_size[last - 1] - turning->sample_size[last];
  double step = turning->sample_time[last] - turning->sample_time[last - 1];
  if (!(fallen > 0)) return end;
  return fmin(end, turning->sample_time[last] + SHRINK * turning->sample_size[last] / fallen * step);
}

/* Integrates from a mark with a tight tolerance and keeps the determinants on the way, down to the smallest
 * that is of use. */
static void follow(Turning *turning, Watched *watched, const Mark *mark, double until) {
  double step = (until - mark->t) / FINE, end = until + (until - mark->t), first = 0;
  Follower follower = follower_make(turning, step);
  const Integrator *integrator = follower.integrator;
  turning->samples = 0;
  turning->lost = NAN;
  integrator->start(follower.self, mark->t, mark->y, end);
  for (int k = 0; k < FOLLOW; k++) {
    double t = integrator->time(follower.self);
    bool known = evaluate(turning, t, integrator->values(follower.self));
    double size = known ? block_determinant(turning, watched) : 0;
    if (k == 0) first = size;
    if (!known || first == 0 || size / first < LAST_WINDOW / 4) {
      turning->lost = t;
      break;
    }
    keep_sample(turning, watched, t, size / first);
    if (t >= end) break;
    if (integrator->step(follower.self, next_stop(turning, end)) != STEP_OK) {
      turning->lost = t + step;
      break;
    }
  }
  follower_free(turning, &follower);
}

/* Neville's scheme at 0 for `count` nodes; values are spoilt. */
static double extrapolate(const double *node, double *value, int count) {
  for (int order = 1; order < count; order++)
    for (int k = 0; k + order < count; k++)
      value[k] = (node[k] * value[k + 1] - node[k + order] * value[k]) / (node[k] - node[k + order]);
  return value[0];
}

/* The nodes: among the last samples on which the determinant falls, spread over the window from `least` to
 * `widest`. */
static int choose_nodes(const Turning *turning, double power, double least, double widest, int *chosen, double *node) {
  int last = turning->samples - 1, count = 0;
  while (last > 0 && turning->sample_size[last] < least) last--;
  int first = last;
  while (first > 0 && turning->sample_size[first - 1] > turning->sample_size[first] &&
         turning->sample_size[first - 1] < widest)
    first--;
  int available = last - first + 1;
  if (available < NODES) return 0;
  for (int k = 0; k < NODES; k++) {
    chosen[count] = last - k * (available - 1) / (NODES - 1);
    node[count] = pow(turning->sample_size[chosen[count]], power);
    count++;
  }
  return count;
}

static double node_time(const Turning *turning, const int *chosen, const double *node, int count) {
  double value[NODES];
  for (int k = 0; k < count; k++) value[k] = turning->sample_time[chosen[k]];
  return extrapolate(node, value, count);
}

/* The matrix where the determinant is zero, by the same extrapolation. */
static int32_t rank_there(Turning *turning, const Watched *watched, const int *chosen, const double *node) {
  int32_t n = watched->size, entries = watched->row_start[n];
  if (n == 1 || n > RANK_BLOCK) return n - 1;
  double *matrix = heap_array(turning->heap, (size_t)entries, sizeof *matrix);
  for (int32_t e = 0; e < entries; e++) {
    double value[NODES];
    for (int k = 0; k < NODES; k++) value[k] = turning->sample_entries[chosen[k] * entries + e];
    matrix[e] = extrapolate(node, value, NODES);
  }
  int32_t rank = block_rank(turning->heap, watched, matrix, RANK_LOST);
  heap_free(turning->heap, matrix);
  return rank;
}

/* The zero that the samples head for if the determinant to this power is a smooth function of time, or time
 * one of it. */
static bool find_zero_of(Turning *turning, const Watched *watched, double power, double least, double widest,
                         TurningPoint *point) {
  int chosen[NODES];
  double node[NODES];
  if (!choose_nodes(turning, power, least, widest, chosen, node)) return false;
  double way = turning->sample_time[turning->samples - 1] - turning->sample_time[0],
         last = turning->sample_time[chosen[0]];
  double fine = node_time(turning, chosen, node, NODES), coarse = node_time(turning, chosen, node, NODES - 1);
  bool agreed = fabs(fine - coarse) <= AGREED * fmax(fabs(fine), way) && fine > last && fine < last + way;
  if (!agreed) return false;
  *point = (TurningPoint){.time = fine, .block = watched->block, .size = watched->size, .located = true};
  point->rank = rank_there(turning, watched, chosen, node);
  if (point->rank == watched->size) point->rank--;
  return true;
}

/* A determinant that touches zero without changing its sign looks from afar like one that dips low: there the value itself decides,
 * where the solution can be followed to it. */
static bool is_confirmed(Turning *turning, Watched *watched, const Mark *mark, const TurningPoint *point) {
  double *y = heap_array(turning->heap, (size_t)turning->view->system.columns, sizeof *y);
  bool ok = evaluate(turning, mark->t, mark->y);
  double first = ok ? block_determinant(turning, watched) : 0;
  ok = ok && carry(turning, mark->t, mark->y, point->time, FOLLOW, y) && evaluate(turning, point->time, y);
  heap_free(turning->heap, y);
  return !ok || fabs(block_determinant(turning, watched)) < TOUCHED * fabs(first);
}

/* Simple zero or fold first, then double and triple zeros; narrow windows first, then nearer ones. */
static bool find_zero(Turning *turning, Watched *watched, const Mark *mark, TurningPoint *point) {
  static const double powers[] = {1, 1.0 / 2, 1.0 / 3}, widths[] = {10, 17.5, 30, 40};
  for (double least = WINDOW; least >= LAST_WINDOW; least *= NEARER)
    for (size_t p = 0; p < sizeof powers / sizeof *powers; p++)
      for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        if (find_zero_of(turning, watched, powers[p], least, widths[w] * least, point))
          return p == 0 || is_confirmed(turning, watched, mark, point);
  return false;
}

/* Follows with finer and finer steps as long as the zero lies in the first part of the way. */
static bool close_in(Turning *turning, Watched *watched, const Mark *mark, double until, TurningPoint *point) {
  enum { TIMES = 8 };
  for (int k = 0; k < TIMES; k++) {
    follow(turning, watched, mark, until);
    if (find_zero(turning, watched, mark, point)) return true;
    if (!(turning->lost - mark->t < 0.5 * (until - mark->t)) || turning->lost <= mark->t) return false;
    until = turning->lost;
  }
  return false;
}

/* The last mark at which the block was far from singular. */
static const Mark *far_mark(const Turning *turning, uint32_t b, double t) {
  const Mark *best = NULL;
  double largest = 0;
  for (int k = 0; k < turning->marks; k++)
    if (turning->mark[k].t < t && isfinite(turning->mark[k].determinant[b]))
      largest = fmax(largest, fabs(turning->mark[k].determinant[b]));
  for (int k = 0; k < turning->marks; k++)
    if (turning->mark[k].t < t && fabs(turning->mark[k].determinant[b]) >= 0.6 * largest && largest > 0)
      best = &turning->mark[k];
  return best;
}

/* The same once more, tight all the way: the mark has the errors of the run. */
static void refine(Turning *turning, Watched *watched, const Mark *mark, double t, TurningPoint *point) {
  Mark exact = {.t = mark->t};
  exact.y = heap_array(turning->heap, (size_t)turning->view->system.columns, sizeof(double));
  TurningPoint better;
  bool reached = carry(turning, turning->origin.t, turning->origin.y, exact.t, REPEAT, exact.y);
  if (reached && close_in(turning, watched, &exact, t, &better)) *point = better;
  heap_free(turning->heap, exact.y);
}

static bool locate(Turning *turning, uint32_t b, double t, double stop, TurningPoint *point) {
  Watched *watched = &turning->blocks.data[b];
  const Mark *mark = far_mark(turning, b, t);
  if (!mark) return false;
  if (!close_in(turning, watched, mark, t, point)) return false;
  refine(turning, watched, mark, t, point);
  return point->time <= stop;
}

/* ---- the watch ---- */

/* Of a large block only that it cannot be factored is seen. */
static int32_t rank_at_start(Turning *turning, const Watched *watched, const double *entries) {
  if (watched->size <= RANK_BLOCK) return block_rank(turning->heap, watched, entries, RANK_LOST_AT_START);
  return linear_factor(watched->linear, entries) ? watched->size : watched->size - 1;
}

static bool find_singular(Turning *turning, const WatchedVec *blocks, const double *values, TurningPoint *point) {
  for (uint32_t b = 0; b < blocks->count; b++) {
    const Watched *watched = &blocks->data[b];
    int32_t rank = rank_at_start(turning, watched, values + watched->first);
    if (rank == watched->size) continue;
    *point = (TurningPoint){turning->origin.t, watched->block, watched->size, rank, true};
    return true;
  }
  return false;
}

bool turning_at_start(Turning *turning, TurningPoint *point) {
  Point start = evaluator_point(turning->view->evaluator, turning->origin.t, turning->origin.y);
  if (turning->switched_program &&
      workspace_run(turning->switched_program, &start, turning->switched_values) == EVAL_OK &&
      find_singular(turning, &turning->switched, turning->switched_values, point))
    return true;
  return evaluate(turning, turning->origin.t, turning->origin.y) &&
         find_singular(turning, &turning->blocks, turning->values, point);
}

/* The lowest point of the parabola through the last three values, if the one in the middle is the
 * smallest. */
static double lowest_by_parabola(const Turning *turning, const Watched *watched) {
  double a = fabs(watched->earlier), b = fabs(watched->before), c = fabs(watched->determinant);
  double first = turning->t_before - turning->t_earlier, second = turning->t - turning->t_before;
  if (!(b < a && b < c && first > 0 && second > 0)) return HUGE_VAL;
  double curvature = ((c - b) / second - (b - a) / first) / (first + second),
         slope = (b - a) / first + curvature * first;
  return b - slope * slope / (4 * curvature);
}

/* Over a step in which a determinant changes much it may touch zero and go back: a few values within the step
 * tell. */
static void look_inside(Turning *turning, const Integrator *integrator, void *self) {
  enum { POINTS = 4 };
  for (int k = 1; k < POINTS; k++) {
    double t = turning->t_before + (turning->t - turning->t_before) * k / POINTS;
    integrator->interpolate(self, t, turning->inside);
    if (!evaluate(turning, t, turning->inside)) return;
    for (uint32_t b = 0; b < turning->blocks.count; b++) {
      Watched *watched = &turning->blocks.data[b];
      if (!watched->changed) continue;
      double size = block_determinant(turning, watched) * (watched->determinant < 0 ? -1 : 1);
      watched->lowest = fmin(watched->lowest, size);
    }
  }
}

/* It may have touched zero, or nearly so, between two steps. */
static bool dips(const Watched *watched) { return watched->lowest < fmin(DIP * watched->largest, watched->harmless); }

static bool is_suspect(const Turning *turning, const Watched *watched) {
  double now = fabs(watched->determinant), before = fabs(watched->before), step = turning->t - turning->t_before;
  if (watched->determinant == 0 || (watched->determinant > 0) != (watched->before > 0)) return watched->before != 0;
  if (now < TINY * watched->largest || dips(watched)) return true;
  return now < NEAR * watched->largest && now < before && step > 0 && now <= 1.5 * (before - now);
}

/* By its values at the ends of a step; or it was heading for a zero within it. */
static bool changes_much(const Turning *turning, const Watched *watched) {
  double now = fabs(watched->determinant), before = fabs(watched->before), earlier = fabs(watched->earlier);
  double first = turning->t_before - turning->t_earlier, second = turning->t - turning->t_before;
  return fabs(now - before) > CHANGED * fmax(now, before) || before * first < (earlier - before) * second;
}

/* The determinants at the end of a step, and how low they may have been on the way. */
static bool look(Turning *turning, const Integrator *integrator, void *self, double t, const double *y) {
  if (!evaluate(turning, t, y)) return false;
  bool changed = false;
  turning->t_earlier = turning->t_before;
  turning->t_before = turning->t;
  turning->t = t;
  for (uint32_t b = 0; b < turning->blocks.count; b++) {
    Watched *watched = &turning->blocks.data[b];
    watched->earlier = watched->before;
    watched->before = watched->determinant;
    watched->determinant = block_determinant(turning, watched);
    if (isnan(watched->before)) watched->before = watched->determinant;
    watched->largest = fmax(watched->largest, fabs(watched->determinant));
    watched->lowest = lowest_by_parabola(turning, watched);
    watched->changed = changes_much(turning, watched);
    changed = changed || watched->changed;
  }
  if (changed && turning->plan->every == 1 && t > turning->t_before) look_inside(turning, integrator, self);
  return true;
}

TurningStatus turning_watch(Turning *turning, const Integrator *integrator, void *self, double t, const double *y,
                            double stop, bool last, TurningPoint *point) {
  if (++turning->unseen < turning->plan->every && !last) return TURNING_NONE;
  turning->unseen = 0;
  if (!look(turning, integrator, self, t, y)) return TURNING_NONE; /* the next step will answer for that */
  TurningStatus status = TURNING_NONE;
  for (uint32_t b = 0; b < turning->blocks.count && status != TURNING_POINT; b++) {
    Watched *watched = &turning->blocks.data[b];
    if (!is_suspect(turning, watched)) continue;
    bool jumped = (watched->determinant > 0) != (watched->before > 0);
    if (locate(turning, b, t, stop, point)) status = TURNING_POINT;
    else if (jumped) {
      bool pole = fabs(watched->before) > fabs(watched->earlier); /* it grew: infinite in between, not zero */
      status = watched->smooth && !pole ? TURNING_POINT : TURNING_JUMP;
      *point = (TurningPoint){t, watched->block, watched->size, watched->size - 1, false};
    }
    if (dips(watched)) watched->harmless = watched->lowest - NEAR * watched->largest;
    watched->largest = fabs(watched->determinant); /* merely small, or another branch */
  }
  if (status == TURNING_JUMP) restart(turning, t, y);
  else if (status == TURNING_NONE) add_mark(turning, t, y);
  return status;
}

bool turning_explain(Turning *turning, double t, double stop, TurningPoint *point) {
  for (uint32_t b = 0; b < turning->blocks.count; b++)
    if (locate(turning, b, t, stop, point)) return true;
  return false;
}
