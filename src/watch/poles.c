/* poles: see poles.h. */
#include "watch/poles.h"

#include "base/copy.h"
#include "core/constants.h"
#include "core/search.h"
#include "expr/enclosure_plan.h"
#include "init/terms.h"

#include <float.h>
#include <math.h>

/* An equation in which a divisor, or the cosine of a tangent, is replaced by zero. */
typedef struct PoleRow {
  uint32_t equation;
  Workspace *workspace;
} PoleRow;

/* A node that is infinite where a divisor is zero. */
typedef struct PoleNode {
  Expr node;
  Workspace *workspace; /* evaluates its value; NULL: it is a logarithm */
  bool has_rows;
  VEC(PoleRow) rows; /* the equations that the zero changes */
} PoleNode;

/* Made when a divisor is first found to be zero. */
typedef struct PoleNodes {
  bool is_made;
  VEC(PoleNode) list;
} PoleNodes;

struct Poles {
  Heap *heap;
  View *view;
  uint32_t count;
  double tolerance;
  Workspace *workspace;
  double kept; /* the time of `before` */
  double *earlier, *before,
      *end; /* divisors at the beginning of the step before the last one, and at the beginning and the end of the last
                      * one */
  double *inside;         /* divisors at the last evaluation inside the step */
  double *side;           /* the sign of each divisor at the beginning of the step; 0: it is not searched for */
  double *least;          /* a divisor below this is examined closely */
  double *speed;          /* recent speed of each divisor */
  double *margin;         /* margins at the last evaluation */
  bool *is_done;          /* the divisor is never zero, or was already found */
  uint64_t *in_vain;      /* number of searches for a divisor that found no pole */
  uint64_t *pause, *wait; /* steps without a search after that, and how many of them are left */
  bool
      *is_harmless; /* the divisor has been zero without a pole: even steps in which its sign changes may be left out */
  PoleNodes *nodes;
  Search search;
  double *y; /* columns at the last evaluation */
};

/* The last step. */
typedef struct PoleStep {
  Poles *poles;
  const Segment *segment;
  ConstMoment begin, end;
} PoleStep;

/* ---- what to watch ---- */

/* Can the divisor be zero in this time span, for any values of the variables? */
static bool may_be_zero(Heap *heap, const Evaluator *evaluator, DagScratch *scratch, Expr divisor, Interval time) {
  const Dag *dag = evaluator->array->dag;
  if (!enclosure_possible_of_variables(dag, scratch, divisor)) return true;
  Enclosure enclosure = enclosure_plan(heap, dag, scratch, divisor);
  Interval *room = heap_array(heap, enclosure.count, sizeof *room);
  HeldValues held = {evaluator->parameters, evaluator->discretes, evaluator->pre};
  bool varies = dag_depends(dag, divisor, OP_DISCRETE) || dag_depends(dag, divisor, OP_PRE);
  bool may_be = varies || interval_holds(enclosure_bounds(&enclosure, time, held, room), 0);
  heap_free(heap, room);
  return may_be;
}

Poles *poles_new(Heap *heap, View *view, double start, double stop, double tolerance) {
  Evaluator *evaluator = view->evaluator;
  const ArrayCode *code = evaluator->code;
  uint32_t count = code->pole.count, watched = 0;
  if (!count) return NULL;
  bool *is_done = heap_array(heap, count, sizeof *is_done);
  for (uint32_t k = 0; k < count; k++) {
    is_done[k] = !may_be_zero(heap, evaluator, &evaluator->scratch, code->pole.data[k], (Interval){start, stop});
    watched += !is_done[k];
  }
  if (!watched) return NULL;
  Poles *poles = heap_alloc(heap, sizeof *poles);
  *poles = (Poles){.heap = heap, .view = view, .count = count, .tolerance = tolerance, .is_done = is_done};
  poles->workspace = workspace_new(heap, code->poles);
  heap_numbers(heap, count, &poles->earlier, &poles->before, &poles->end, &poles->inside, &poles->side, &poles->least,
               &poles->speed, &poles->margin);
  poles->in_vain = heap_array(heap, count, sizeof *poles->in_vain);
  poles->pause = heap_array(heap, count, sizeof *poles->pause);
  poles->wait = heap_array(heap, count, sizeof *poles->wait);
  poles->is_harmless = heap_array(heap, count, sizeof *poles->is_harmless);
  poles->nodes = heap_array(heap, count, sizeof *poles->nodes);
  poles->search = search_make(count, heap_array(heap, count, SEARCH_NUMBERS * sizeof(double)));
  poles->y = heap_array(heap, (size_t)view->system.columns, sizeof(double));
  poles_forget(poles);
  return poles;
}

void poles_forget(Poles *poles) {
  poles->kept = NAN;
  for (uint32_t k = 0; k < poles->count; k++) poles->earlier[k] = NAN;
}

/* ---- the time of a zero ---- */

/* Divisors in branches that are not taken may be undefined: they become NAN, and the others keep their values. */
static void evaluate(const Poles *poles, ConstMoment at, double *out) {
  Point point = evaluator_point(poles->view->evaluator, at.t, at.y);
  workspace_run(poles->workspace, &point, out);
}

/* Columns are interpolated: that costs little, and a zero of a divisor shows in them just as in solved columns. But
 * explicit methods interpolate states only. */
static bool look_at(void *context, double t, double *margin) {
  const PoleStep *step = context;
  const Poles *poles = step->poles;
  if (!step->segment->methods->is_explicit) segment_values(step->segment, t, poles->y);
  else if (view_point(poles->view, step->segment, t, poles->y) != EVAL_OK) return false;
  evaluate(poles, (ConstMoment){t, poles->y}, poles->inside);
  for (uint32_t k = 0; k < poles->count; k++)
    margin[k] = poles->side[k] == 0 ? INFINITY : poles->side[k] * poles->inside[k] - poles->least[k];
  return true;
}

/* May divisor k have been zero in a step of this size? If it keeps its sign, it would have to change faster than it did
 * recently. */
static bool may_pass(Poles *poles, uint32_t k, double size) {
  double before = poles->before[k], end = poles->end[k];
  if (!isfinite(before) || !isfinite(end)) return false;
  double way = fmax(fabs(end - before), size * poles->speed[k] / 2);
  poles->speed[k] = way / size;
  bool may_wait = poles->is_harmless[k] || before * end > 0;
  if (may_wait && poles->wait[k] > 0) return poles->wait[k]--, false;
  return !poles->is_done[k] && way > 0 && !(before * end > 0 && fmin(fabs(before), fabs(end)) > way);
}

/* If a divisor was often zero without a pole, the search is made only in every second step, then in every fourth, and so on. An
 * example is a flow that reverses while its quotient is not used. So searches never cost more than the steps. */
static void note_in_vain(Poles *poles, uint32_t k) {
  if (++poles->in_vain[k] % NEXT_STEPS == 0) poles->pause[k] = 2 * poles->pause[k] + 1;
  poles->wait[k] = poles->pause[k];
}

/* Do evaluations inside the step need iterations? Then there is no search: it would cost more than the step. */
static bool looks_cost(const Poles *poles, const Segment *segment) {
  return segment->methods->is_explicit && !poles->view->is_direct;
}

/* Sets which divisors are searched for. */
static bool set_sides(Poles *poles, double size) {
  bool any = false;
  for (uint32_t k = 0; k < poles->count; k++) {
    double before = poles->before[k], end = poles->end[k];
    bool is_wanted = may_pass(poles, k, size);
    poles->side[k] = !is_wanted ? 0 : before < 0 || (before == 0 && end < 0) ? -1 : 1;
    poles->least[k] = (before * end > 0 ? GOOD_PART : poles->tolerance) * fmin(fabs(before), fabs(end));
    any = any || is_wanted;
  }
  return any;
}

/* Is the divisor only round-off of its terms at the beginning of the step? */
static bool begins_lost(const PoleStep *step, uint32_t k) {
  const Poles *poles = step->poles;
  Evaluator *evaluator = poles->view->evaluator;
  Point point = evaluator_point(evaluator, step->begin.t, step->begin.y);
  double size;
  terms_sizes(poles->heap, evaluator_model(evaluator), &evaluator->code->layout, &evaluator->code->pole.data[k], 1,
              &point, &size);
  return fabs(poles->before[k]) <= 10 * DIFFERENCE_ROUND_OFF * size;
}

/* Was the divisor zero at the beginning of the step? After an event only that side is known. */
static bool begins_at_zero(const PoleStep *step, uint32_t k) {
  const Poles *poles = step->poles;
  double before = fabs(poles->before[k]), earlier = fabs(poles->earlier[k]);
  if (poles->side[k] == 0 || !(before <= poles->tolerance * fabs(poles->end[k]))) return false;
  return isnan(earlier) ? begins_lost(step, k) : before <= poles->tolerance * earlier;
}

/* The time of the first zero among them; NAN: there is none. is_certain: it is zero, and not only small. */
static double find_zero(PoleStep *step, uint32_t *zero, bool *is_certain) {
  Poles *poles = step->poles;
  Bracket found = {step->begin.t, step->end.t};
  double size = step->end.t - step->begin.t;
  Watched watched = {.context = step, .count = poles->count, .step = size, .look = look_at, .near = LOCATED * size};
  for (uint32_t k = 0; k < poles->count; k++) {
    *zero = k;
    *is_certain = begins_at_zero(step, k);
    if (!*is_certain) continue;
    return step->begin.t + PRESENT * size;
  }
  if (!search_find(&poles->search, &watched, found, NULL, &found)) return NAN;
  search_locate(&poles->search, &watched, &found);
  for (uint32_t k = 0; k < poles->count; k++)
    if (poles->side[k] != 0 && poles->side[k] * poles->inside[k] < poles->least[k]) *zero = k;
  *is_certain = !(poles->before[*zero] * poles->end[*zero] > 0);
  return found.high;
}

static double size_at(PoleStep *step, double t, uint32_t k) {
  return look_at(step, t, step->poles->margin) ? fabs(step->poles->inside[k]) : INFINITY;
}

/* Divisor k is small at *t and keeps its sign. Does it touch zero? *t becomes the time of its minimum, by golden-section search. */
static bool touches(PoleStep *step, uint32_t k, double *t) {
  const double part = 1 - 0.6180339887498949; /* part of the longer side, by the golden ratio */
  const Poles *poles = step->poles;
  double zero = poles->tolerance * fmin(fabs(poles->before[k]), fabs(poles->end[k]));
  double low = step->begin.t, high = step->end.t, least = size_at(step, *t, k);
  for (int look = 0; look < LOCATE_LIMIT && least > zero; look++) {
    bool is_left = *t - low > high - *t;
    double other = is_left ? *t - part * (*t - low) : *t + part * (high - *t), size = size_at(step, other, k);
    if (size < least) {
      *(is_left ? &high : &low) = *t;
      *t = other;
      least = size;
    } else *(is_left ? &low : &high) = other;
  }
  return size_at(step, *t, k) <= zero;
}

/* ---- is it a pole? ---- */

/* Is the divisor one of the factors that make the node infinite? */
static bool has_factor(Heap *heap, Dag *dag, Expr node, Expr divisor) {
  ExprVec factors = {0};
  bool found = false;
  array_code_pole_factors(dag, node, heap, &factors);
  for (uint32_t k = 0; k < factors.count && !found; k++) found = factors.data[k] == divisor;
  vec_free(heap, &factors);
  return found;
}

static Workspace *make_workspace(const Poles *poles, Model *model, Expr e) {
  return workspace_new(poles->heap, program_new(poles->heap, model, &poles->view->evaluator->code->layout, &e, 1));
}

/* The nodes that are infinite where a divisor is zero. */
static PoleNodes *find_nodes(const Poles *poles, Model *model, uint32_t zero) {
  const Problem *problem = poles->view->evaluator->array->problem;
  PoleNodes *nodes = &poles->nodes[zero];
  Expr divisor = poles->view->evaluator->code->pole.data[zero];
  IndexVec order = {0};
  if (nodes->is_made) return nodes;
  nodes->is_made = true;
  dag_below(model->dag, dag_scratch(model->dag), problem->residual, problem->equations, &order);
  for (uint32_t k = 0; k < order.count; k++) {
    PoleNode node = {.node = order.data[k]};
    if (!has_factor(poles->heap, model->dag, node.node, divisor)) continue;
    Op op = dag_op(model->dag, node.node);
    if (op != OP_LOG && op != OP_LOG10) node.workspace = make_workspace(poles, model, node.node);
    vec_push(poles->heap, &nodes->list, node);
  }
  vec_free(dag_heap(model->dag), &order);
  return nodes;
}

/* Lists the equations that change when the divisor, or the cosine of a tangent, is replaced by zero. In a condition, the
 * divisor is also replaced by zero. */
static void make_rows(const Poles *poles, Model *model, Expr divisor, PoleNode *node) {
  const Problem *problem = poles->view->evaluator->array->problem;
  bool is_tangent = dag_op(model->dag, node->node) == OP_TAN;
  Expr zero = dag_constant(model->dag, 0), infinite = dag_divide(model->dag, dag_constant(model->dag, 1), zero);
  Expr *rows = heap_copy(poles->heap, problem->residual, problem->equations, sizeof *rows);
  dag_substitute(model->dag, is_tangent ? &node->node : &divisor, is_tangent ? &infinite : &zero, 1, rows,
                 problem->equations);
  for (uint32_t i = 0; i < problem->equations; i++) {
    if (rows[i] == problem->residual[i]) continue;
    PoleRow row = {i, make_workspace(poles, model, rows[i])};
    vec_push(poles->heap, &node->rows, row);
  }
  node->has_rows = true;
  heap_free(poles->heap, rows);
}

static double value_at(const Poles *poles, Workspace *workspace, ConstMoment at) {
  double value = NAN;
  Point point = evaluator_point(poles->view->evaluator, at.t, at.y);
  workspace_run(workspace, &point, &value);
  return value;
}

/* Is the node much larger near the zero than at the ends of the step, or does its sign change with the divisor? A logarithm need not
 * be larger. */
static bool grows(const PoleStep *step, const PoleNode *node, uint32_t zero, double t) {
  const Poles *poles = step->poles;
  if (!node->workspace) return true;
  double there = fabs(value_at(poles, node->workspace, (ConstMoment){t, poles->y}));
  double begin = value_at(poles, node->workspace, step->begin), end = value_at(poles, node->workspace, step->end);
  if (poles->before[zero] * poles->end[zero] < 0 && begin * end < 0) return true;
  return !(GOOD_PART * there < fmin(fabs(begin), fabs(end)));
}

/* The first equation without a value at the point with the zero; MAP_NONE: there is none. */
static uint32_t find_user(const Poles *poles, const PoleNode *node, double t) {
  Point point = evaluator_point(poles->view->evaluator, t, poles->y);
  for (uint32_t i = 0; i < node->rows.count; i++) {
    double value;
    if (workspace_run(node->rows.data[i].workspace, &point, &value) != EVAL_OK) return node->rows.data[i].equation;
  }
  return MAP_NONE;
}

/* Is an equation infinite where the divisor is zero? */
static bool is_pole(const PoleStep *step, uint32_t zero, Pole *pole) {
  const Poles *poles = step->poles;
  Model *model = evaluator_model(poles->view->evaluator);
  PoleNodes *nodes = find_nodes(poles, model, zero);
  pole->equation = MAP_NONE;
  pole->number = zero;
  pole->divisor = poles->view->evaluator->code->pole.data[zero];
  for (uint32_t k = 0; k < nodes->list.count && pole->equation == MAP_NONE; k++) {
    PoleNode *node = &nodes->list.data[k];
    pole->node = node->node;
    if (!grows(step, node, zero, pole->time)) continue;
    if (!node->has_rows) make_rows(poles, model, pole->divisor, node);
    pole->equation = find_user(poles, node, pole->time);
  }
  return pole->equation != MAP_NONE;
}

bool poles_find(Poles *poles, const Segment *segment, ConstMoment begin, ConstMoment end, Pole *pole) {
  PoleStep step = {poles, segment, begin, end};
  if (poles->kept != begin.t) evaluate(poles, begin, poles->before);
  evaluate(poles, end, poles->end);
  poles->kept = NAN;
  bool may_be = set_sides(poles, end.t - begin.t) && !looks_cost(poles, segment);
  for (uint32_t zero = 0; may_be; poles->side[zero] = 0) {
    bool is_certain;
    pole->time = find_zero(&step, &zero, &is_certain);
    if (isnan(pole->time)) break;
    if (!is_certain && !touches(&step, zero, &pole->time)) {
      note_in_vain(poles, zero);
      continue;
    }
    if (view_point(poles->view, segment, pole->time, poles->y) != EVAL_OK) look_at(&step, pole->time, poles->margin);
    poles->is_done[zero] = is_pole(&step, zero, pole);
    if (poles->is_done[zero]) return true;
    poles->is_harmless[zero] = true;
    note_in_vain(poles, zero);
  }
  for (uint32_t k = 0; k < poles->count && may_be; k++)
    if (poles->side[k] != 0) note_in_vain(poles, k);
  double *free = poles->earlier;
  poles->earlier = poles->before;
  poles->before = poles->end;
  poles->end = free;
  poles->kept = end.t;
  return false;
}

/* Does a rate grow like 1/(t - pole->time) up to this distance from the pole? A point FAR times as far away is compared. */
static int32_t end_state_at(Poles *poles, const Segment *segment, const Pole *pole, double way) {
  const System *system = &poles->view->system;
  double t = pole->time + FAR * way;
  if (!(t >= segment->t0 && t <= segment->t1) || view_point(poles->view, segment, t, poles->y) != EVAL_OK) return -1;
  double *far = heap_copy(poles->heap, poles->y, (size_t)system->columns, sizeof *far);
  int32_t found = -1;
  bool is_near = view_point(poles->view, segment, pole->time + way, poles->y) == EVAL_OK;
  for (int32_t k = 0; k < system->links && found < 0 && is_near; k++) {
    int32_t q = system->link_to[k];
    if (far[q] != 0 && fabs(poles->y[q]) > CLEARLY_LESS * FAR * fabs(far[q])) found = system->link_from[k];
  }
  heap_free(poles->heap, far);
  return found;
}

/* In a step almost as short as the round-off of time: a state that its rate moves by more than the tolerance, or whose rate leads back
 * from the end. At the end the rate is solved for, since that of the integrator is a mean. */
static int32_t moved_state(Poles *poles, const Segment *segment) {
  const System *system = &poles->view->system;
  if (view_point(poles->view, segment, segment->t1, poles->y) != EVAL_OK) return -1;
  for (int32_t k = 0; k < system->links; k++) {
    int32_t c = system->link_from[k], q = system->link_to[k];
    double size = fabs(segment->begin[c]) + system->nominal[c], step = segment->t1 - segment->t0;
    double begin = segment->begin[q] * step / size, end = poles->y[q] * step / size;
    if (fmax(fabs(begin), fabs(end)) > poles->tolerance) return c;
    if (begin * end < 0 && fmin(fabs(begin), fabs(end)) > VANISHED) return c;
  }
  return -1;
}

int32_t poles_end_state(Poles *poles, const Segment *segment, const Pole *pole) {
  static const double parts[] = {-PRESENT, PRESENT, -NEGLIGIBLE, NEGLIGIBLE};
  double size = segment->t1 - segment->t0;
  bool is_long = PRESENT * size > FAR * DBL_EPSILON * fabs(pole->time);
  int32_t found = is_long ? -1 : moved_state(poles, segment);
  for (int k = 0; k < 4 && found < 0 && is_long; k++) found = end_state_at(poles, segment, pole, parts[k] * size);
  if (found >= 0) poles->is_done[pole->number] = false;
  return found;
}
