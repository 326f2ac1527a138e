/* turning: see turning.h. */
#include "solve/turning.h"

#include "array/regular.h"
#include "base/linear.h"

#include <math.h>
#include <string.h>

/* What keeps the cost small. */
enum {
  SMALL_BLOCK = 64,       /* blocks up to this size and */
  SMALL_TOTAL = 20000,    /* up to so many entries are looked at in every step, */
  SELDOM = 10,            /* larger ones in every so many steps */
  LARGEST_BLOCK = 5000,   /* still larger ones, */
  LARGEST_TOTAL = 100000, /* and what goes beyond so many entries, are left to the integrator */
  RANK_BLOCK = 200,       /* the rank at a singular point is found up to this size, else taken to drop by one */
  FOLLOW = 1000,          /* steps of a follower at most, each not longer than */
  FINE = 100,             /* this part of its way */
  REPEAT = 4000,          /* steps at most from the beginning to where a follower begins */
  HALVINGS = 50,          /* of an interval of time */
  NODES = 8               /* of an extrapolation */
};

static const double TIGHT = 1e-13;     /* tolerance of a follower */
static const double BACK = 0.02;       /* part of the run that a follower begins behind, at least */
static const double VANISHED = 1e-3;   /* part of a determinant that is left where a follower cannot go on, or its sign
                                          changes, if it is zero there: it goes like a root of the distance at worst */
static const double RANK_LOST = 1e-10; /* part that is left at a converged point: zero but for the errors there */
static const double LOWER =
    0.8; /* a determinant below this part of the last node is the next node of an extrapolation */
static const double PIVOT_LOST = 1e-4; /* ratio of pivots near a zero: what is left belongs to the rank */
static const double PIVOT_LOST_AT_START = 1e-14;

typedef struct Watched {
  int32_t block, size, first; /* first entry among all */
  const int32_t *row_start, *column;
  Linear *linear;   /* NULL for a single equation */
  double reference; /* logarithm: determinants are relative to the first that was not zero; NAN: none yet */
  double determinant, before, earlier; /* at the last three looks */
  double largest;                      /* absolute, since the run or its last event began */
  double harmless;                     /* the lowest that was followed without a zero */
} Watched;

typedef VEC(Watched) WatchedVec;

typedef struct Mark {
  double t;
  double *y;
} Mark;

struct TurningPlan {
  WatchedVec blocks;                         /* as a run begins with them, without factors */
  WatchedVec switched;                       /* blocks that change at events only, which are looked at then */
  const Program *program, *switched_program; /* entries of all of these; NULL where there are none */
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
  double *inside;                /* columns at a point within a step */
  double t, t_before, t_earlier; /* of the last three looks */
  Mark origin;                   /* where the smooth part of the run began */
  Mark behind, recent;           /* two points of it, the first far enough behind for a follower to begin */
  int unseen;                    /* steps since the last look */
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

static Watched watch_block(const BlockJacobian *jacobian, int32_t block, int32_t first) {
  return (Watched){.block = block,
                   .size = jacobian->size,
                   .first = first,
                   .row_start = jacobian->row_start,
                   .column = jacobian->column,
                   .reference = NAN};
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
    Watched watched = watch_block(&jacobian, b, (int32_t)entries->count);
    vec_push(heap, change == CHANGE_ALWAYS ? &plan->blocks : &plan->switched, watched);
    for (int32_t e = 0; e < jacobian.row_start[size]; e++) vec_push(heap, entries, jacobian.entry[e]);
    if (change == CHANGE_ALWAYS && (size > SMALL_BLOCK || roots.count > SMALL_TOTAL)) plan->every = SELDOM;
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
  turning->behind.y = heap_array(heap, columns, sizeof(double));
  turning->recent.y = heap_array(heap, columns, sizeof(double));
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

static void set_mark(const Turning *turning, Mark *mark, double t, const double *y) {
  mark->t = t;
  memcpy(mark->y, y, (size_t)turning->view->system.columns * sizeof *y);
}

/* Keeps a point where the last one kept is far enough behind. */
static void move_marks(Turning *turning, double t, const double *y) {
  if (t - turning->recent.t < BACK * (t - turning->origin.t)) return;
  Mark behind = turning->behind;
  turning->behind = turning->recent;
  turning->recent = behind;
  set_mark(turning, &turning->recent, t, y);
}

void turning_begin(Turning *turning, double t, const double *y) {
  turning->t = turning->t_before = turning->t_earlier = t;
  set_mark(turning, &turning->origin, t, y);
  set_mark(turning, &turning->behind, t, y);
  set_mark(turning, &turning->recent, t, y);
  bool known = evaluate(turning, t, y);
  for (uint32_t b = 0; b < turning->blocks.count; b++) {
    Watched *watched = &turning->blocks.data[b];
    watched->determinant = known ? block_determinant(turning, watched) : NAN;
    watched->before = watched->earlier = watched->determinant;
    watched->largest = watched->harmless = known ? fabs(watched->determinant) : 0;
  }
}

/* ---- between two looks ---- */

/* A determinant over an interval of time. */
typedef struct Stretch {
  double left, right;       /* times */
  double at_left, at_right; /* determinants */
  double bend;              /* how far it may depart from its chord, with a wide margin */
} Stretch;

static bool changes_sign(const Stretch *stretch) {
  return stretch->at_left * stretch->at_right <= 0 && stretch->at_left != 0;
}

static double lowest(const Stretch *stretch) { return fmin(fabs(stretch->at_left), fabs(stretch->at_right)); }

static bool hides_zero(const Stretch *stretch) { return changes_sign(stretch) || lowest(stretch) <= stretch->bend; }

/* The last interval of a function known at three times. */
static Stretch last_stretch(const double *t, const double *values) {
  double first = t[1] - t[0], second = t[2] - t[1];
  Stretch stretch = {.left = t[1], .right = t[2], .at_left = values[1], .at_right = values[2]};
  if (first > 0 && second > 0)
    stretch.bend = 8 * fabs((values[2] - values[1]) / second - (values[1] - values[0]) / first) / (first + second) *
                   second * second;
  return stretch;
}

/* The determinant within the last step. NAN: it cannot be evaluated. */
static double determinant_inside(Turning *turning, Watched *watched, const Integrator *integrator, void *self,
                                 double t) {
  integrator->interpolate(self, t, turning->inside);
  if (turning->view->methods->solve(turning->view, t, turning->inside) != EVAL_OK)
    integrator->interpolate(self, t, turning->inside); /* near a zero, where Newton's method fails */
  return evaluate(turning, t, turning->inside) ? block_determinant(turning, watched) : NAN;
}

/* Halves an interval within the last step as long as it may hide a zero: the half where the sign changes, or the lower one.
 * false: there is none. */
static bool close_in(Turning *turning, Watched *watched, const Integrator *integrator, void *self, Stretch *stretch) {
  for (int k = 0; k < HALVINGS && hides_zero(stretch); k++) {
    double middle = stretch->left + (stretch->right - stretch->left) / 2;
    if (middle <= stretch->left || middle >= stretch->right) return true;
    double value = determinant_inside(turning, watched, integrator, self, middle);
    if (isnan(value)) return true;
    Stretch halves[] = {{stretch->left, middle, stretch->at_left, value, 0},
                        {middle, stretch->right, value, stretch->at_right, 0}};
    bool upper = changes_sign(stretch) || changes_sign(&halves[0]) ? !changes_sign(&halves[0])
                                                                   : fabs(stretch->at_right) < fabs(stretch->at_left);
    double bend = 4 * fabs(stretch->at_left - 2 * value + stretch->at_right);
    *stretch = halves[upper];
    stretch->bend = bend;
  }
  return hides_zero(stretch);
}

/* ---- following a suspect ---- */

/* An integrator with a tight tolerance, in a heap of its own: there may be many in a run. */
typedef struct Follower {
  const Integrator *integrator;
  void *self, *ticket;
} Follower;

static Follower follower_start(const Turning *turning, const Mark *mark, double until, double max_step) {
  IntegratorOptions options = {.relative_tolerance = TIGHT, .absolute_tolerance = TIGHT, .max_step = max_step};
  Follower follower = {.integrator = integrator_find(turning->view->system.close ? "erk" : "radau")};
  Heap *heap = heap_within(turning->heap, &follower.ticket);
  follower.self = follower.integrator->create(heap, &turning->view->system, &options);
  follower.integrator->start(follower.self, mark->t, mark->y, until);
  return follower;
}

/* The smooth part once more up to `until`, tight all the way: marks have the errors of the run. false: it takes too long. */
static bool repeat(const Turning *turning, double until, double *y) {
  Follower follower = follower_start(turning, &turning->origin, until, 0);
  const Integrator *integrator = follower.integrator;
  bool ok = true;
  for (int k = 0; k < REPEAT && integrator->time(follower.self) < until && ok; k++)
    ok = integrator->step(follower.self, until) == STEP_OK;
  ok = ok && integrator->time(follower.self) >= until;
  if (ok) memcpy(y, integrator->values(follower.self), (size_t)turning->view->system.columns * sizeof(double));
  heap_release(turning->heap, follower.ticket);
  return ok;
}

/* The singular point at t, where turning->values are the entries. */
static TurningPoint make_point(const Turning *turning, const Watched *watched, double t) {
  int32_t n = watched->size, rank = n - 1;
  if (n > 1 && n <= RANK_BLOCK) rank = block_rank(turning->heap, watched, turning->values + watched->first, PIVOT_LOST);
  return (TurningPoint){.time = t, .block = watched->block, .size = n, .rank = rank < n ? rank : n - 1};
}

/* What a follower has seen. */
typedef struct Trail {
  double times[3], values[3]; /* the last three points */
  double largest;
  double node[NODES], node_time[NODES]; /* determinants on the way down, each clearly below the one before */
  int nodes;
} Trail;

static void add_point(Trail *trail, double t, double value) {
  for (int k = 0; k < 2; k++) {
    trail->times[k] = trail->times[k + 1];
    trail->values[k] = trail->values[k + 1];
  }
  trail->times[2] = t;
  trail->values[2] = value;
  trail->largest = fmax(trail->largest, fabs(value));
  if (fabs(value) > VANISHED * trail->largest && (!trail->nodes || value / trail->node[0] < LOWER)) {
    int kept = trail->nodes < NODES ? trail->nodes++ : NODES - 1;
    memmove(trail->node + 1, trail->node, (size_t)kept * sizeof(double));
    memmove(trail->node_time + 1, trail->node_time, (size_t)kept * sizeof(double));
    trail->node[0] = value;
    trail->node_time[0] = t;
  }
}

/* The time where the determinant is zero, by Neville's scheme over the first `count` nodes: a polynomial in its root. */
static double extrapolate(const Trail *trail, int count, int root) {
  double value[NODES], node[NODES];
  for (int k = 0; k < count; k++) {
    value[k] = trail->node_time[k];
    node[k] = pow(fabs(trail->node[k]), 1.0 / root);
  }
  for (int order = 1; order < count; order++)
    for (int k = 0; k + order < count; k++)
      value[k] = (node[k] * value[k + 1] - node[k + order] * value[k]) / (node[k] - node[k + order]);
  return value[0];
}

/* Errors of the states are largest at a zero that was found at t. Time is a smooth function of the determinant at a fold as at a
 * plain crossing, of its root at a double or triple zero. The extrapolation that is most certain is better than t if its own error
 * is less than what it corrects. */
static double improve(const Trail *trail, double t) {
  double best = t, least = t - trail->node_time[0];
  for (int root = 1; root <= 3 && trail->nodes > 2; root++) {
    double time = extrapolate(trail, trail->nodes, root);
    double error = fabs(time - extrapolate(trail, trail->nodes - 1, root));
    if (error >= least) continue;
    least = error;
    best = time;
  }
  return fabs(best - t) > least ? best : t;
}

/* Is there a zero within the last step of the follower? Then *t is where. */
static bool ends_at_zero(Turning *turning, Watched *watched, const Follower *follower, const Trail *trail, double *t) {
  Stretch stretch = last_stretch(trail->times, trail->values);
  if (!close_in(turning, watched, follower->integrator, follower->self, &stretch)) return false;
  *t = stretch.right;
  if (changes_sign(&stretch)) return fmax(fabs(stretch.at_left), fabs(stretch.at_right)) <= VANISHED * trail->largest;
  return lowest(&stretch) <= RANK_LOST * trail->largest;
}

/* Follows a determinant tightly from a mark on, to where it is zero: its sign changes, it touches zero, or the follower cannot go
 * on there. */
static bool follow(Turning *turning, Watched *watched, const Mark *mark, double until, TurningPoint *point) {
  Follower follower = follower_start(turning, mark, until, (until - mark->t) / FINE);
  const Integrator *integrator = follower.integrator;
  Trail trail = {.times = {mark->t, mark->t, mark->t}};
  bool found = false, ahead = true;
  double t = mark->t;
  for (int k = 0; k < FOLLOW && !found && ahead && t < until; k++) {
    ahead = evaluate(turning, t, integrator->values(follower.self));
    if (!ahead) break;
    add_point(&trail, t, block_determinant(turning, watched));
    found = k > 0 && ends_at_zero(turning, watched, &follower, &trail, &t);
    ahead = found || integrator->step(follower.self, until) == STEP_OK;
    if (!found) t = integrator->time(follower.self);
  }
  if (!found && t < until) found = fabs(trail.values[2]) <= VANISHED * trail.largest;
  if (found) *point = make_point(turning, watched, improve(&trail, t));
  heap_release(turning->heap, follower.ticket);
  return found;
}

/* The zero of a determinant near t. */
static bool locate(Turning *turning, Watched *watched, double t, double stop, TurningPoint *point) {
  const Mark *mark = t - turning->recent.t < BACK * (t - turning->origin.t) ? &turning->behind : &turning->recent;
  double until = t + (t - mark->t);
  if (!follow(turning, watched, mark, until, point)) return false;
  Mark exact = {mark->t, heap_array(turning->heap, (size_t)turning->view->system.columns, sizeof(double))};
  TurningPoint better;
  if (repeat(turning, exact.t, exact.y) && follow(turning, watched, &exact, until, &better)) *point = better;
  heap_free(turning->heap, exact.y);
  return point->time <= stop;
}

/* ---- the watch ---- */

/* Of a large block only that it cannot be factored is seen. */
static int32_t rank_at_start(Turning *turning, const Watched *watched, const double *entries) {
  if (watched->size <= RANK_BLOCK) return block_rank(turning->heap, watched, entries, PIVOT_LOST_AT_START);
  return linear_factor(watched->linear, entries) ? watched->size : watched->size - 1;
}

static bool find_singular(Turning *turning, const WatchedVec *blocks, const double *values, TurningPoint *point) {
  for (uint32_t b = 0; b < blocks->count; b++) {
    const Watched *watched = &blocks->data[b];
    int32_t rank = rank_at_start(turning, watched, values + watched->first);
    if (rank == watched->size) continue;
    *point = (TurningPoint){turning->origin.t, watched->block, watched->size, rank};
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

/* The determinants at the end of a step. */
static bool look(Turning *turning, double t, const double *y) {
  if (!evaluate(turning, t, y)) return false;
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
  }
  return true;
}

/* It has turned at a value far below its largest, and lower than when this was looked into before. */
static bool has_turned_low(const Watched *watched) {
  double value = fabs(watched->before);
  return value < fabs(watched->determinant) && value < VANISHED * watched->largest && value < watched->harmless / 2;
}

/* Can a determinant have been zero since the look before? Within a step values in between tell. */
static bool is_suspect(Turning *turning, Watched *watched, const Integrator *integrator, void *self) {
  double times[3] = {turning->t_earlier, turning->t_before, turning->t};
  double values[3] = {watched->earlier, watched->before, watched->determinant};
  Stretch stretch = last_stretch(times, values);
  if (changes_sign(&stretch) || has_turned_low(watched)) return true;
  return turning->plan->every == 1 && close_in(turning, watched, integrator, self, &stretch);
}

TurningStatus turning_watch(Turning *turning, const Integrator *integrator, void *self, double t, const double *y,
                            double stop, bool last, TurningPoint *point) {
  if (++turning->unseen < turning->plan->every && !last) return TURNING_NONE;
  turning->unseen = 0;
  if (!look(turning, t, y)) return TURNING_NONE; /* the next step will answer for that */
  TurningStatus status = TURNING_NONE;
  for (uint32_t b = 0; b < turning->blocks.count; b++) {
    Watched *watched = &turning->blocks.data[b];
    if (!is_suspect(turning, watched, integrator, self)) continue;
    if (locate(turning, watched, t, stop, point)) return TURNING_POINT;
    *point = (TurningPoint){t, watched->block, watched->size, watched->size};
    watched->harmless = fmin(watched->harmless, fabs(watched->before));
    status = watched->determinant * watched->before < 0 ? TURNING_JUMP : TURNING_SMALL;
  }
  move_marks(turning, t, y);
  return status;
}

void turning_go_back(Turning *turning) {
  turning->t = turning->t_before;
  turning->t_before = turning->t_earlier;
  for (uint32_t b = 0; b < turning->blocks.count; b++) {
    Watched *watched = &turning->blocks.data[b];
    watched->determinant = watched->before;
    watched->before = watched->earlier;
  }
}

/* The one that is smallest compared with what it was. */
static Watched *lowest_block(const Turning *turning) {
  Watched *best = NULL;
  for (uint32_t b = 0; b < turning->blocks.count; b++) {
    Watched *watched = &turning->blocks.data[b];
    if (!best || fabs(watched->determinant) * best->largest < fabs(best->determinant) * watched->largest)
      best = watched;
  }
  return best;
}

bool turning_explain(Turning *turning, double t, double stop, TurningPoint *point) {
  Watched *watched = lowest_block(turning);
  return watched && t > turning->origin.t && locate(turning, watched, t, stop, point);
}
