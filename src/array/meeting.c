/* meeting: see meeting.h. */
#include "array/meeting.h"

#include <math.h>

/* So few modes are left to make events, which are exact; a row with more work than that is taken to jump. */
enum { FEW_MODES = 12, SAMPLES = 16, LEAST_DEFINED = 4, WORK_LIMIT = 1 << 20 };

/* Branches that meet differ on the edge by this part of what they differ by beside it, and beside it by that part of the row. */
static const double ROUND_OFF = 1e-9, VISIBLE = 1e-10;

typedef struct Meeting {
  Heap *heap;
  Modes *modes;
  Problem *problem;
  Dag *dag;
  bool *fails, *holds; /* per mode: the branches of a row do not meet; those of a row do */
  double *value;       /* per mode, at the point of now */
  uint32_t sample;
  Expr moved;  /* the variable that leads to the edge */
  double here; /* its value; NAN: as it comes */
} Meeting;

static bool is_candidate(const Modes *modes, const Dag *dag, uint32_t m) {
  Op op = dag_op(dag, modes->relation[m]);
  return !modes->timed[m] && op >= OP_LESS && op <= OP_GREATER_EQUAL;
}

/* A number in [0, 1) for a leaf at the sample of now. */
static double chance(const Meeting *meeting, Expr leaf) {
  return (double)(hash_mix(hash_mix((uint64_t)leaf << 8 ^ meeting->sample)) >> 11) * 0x1p-53;
}

/* Parameters are positive, variables not; discrete variables are not known. */
static double leaf_value(void *context, const Dag *dag, Expr leaf) {
  const Meeting *meeting = context;
  const Modes *modes = meeting->modes;
  if (leaf == meeting->moved && !isnan(meeting->here)) return meeting->here;
  switch (dag_op(dag, leaf)) {
  case OP_DISCRETE: {
    uint32_t index = dag_index(dag, leaf);
    return index >= modes->first && index < modes->first + modes->count ? meeting->value[index - modes->first] : NAN;
  }
  case OP_PARAMETER:
  case OP_TIME: return 0.5 + chance(meeting, leaf);
  case OP_VARIABLE: return 4 * chance(meeting, leaf) - 2;
  default: return NAN;
  }
}

static double evaluate(Meeting *meeting, Expr e) {
  double value;
  return dag_evaluate(meeting->dag, dag_scratch(meeting->dag), e, leaf_value, meeting, &value, NULL) ? value : NAN;
}

/* By how much the row changes with mode m, the others as their relations say; *size: how large it is. */
static double row_jump(Meeting *meeting, Expr row, const IndexVec *below, uint32_t m, double *size) {
  const Modes *modes = meeting->modes;
  for (uint32_t k = 0; k < below->count; k++)
    meeting->value[below->data[k]] = evaluate(meeting, modes->relation[below->data[k]]);
  meeting->value[m] = 0;
  double without = evaluate(meeting, row);
  meeting->value[m] = 1;
  double with = evaluate(meeting, row);
  *size = fmax(fabs(with), fabs(without));
  return fabs(with - without);
}

/* A variable that the difference of mode m is linear in; EXPR_NONE: there is none. */
static Expr linear_leaf(const Meeting *meeting, uint32_t m, Expr *slope, Expr *rest) {
  ExprVec leaves = {0};
  Dag *dag = meeting->dag;
  Heap *heap = dag_scratch(dag)->heap;
  Expr relation = meeting->modes->relation[m], found = EXPR_NONE;
  Expr difference = dag_subtract(dag, dag_child(dag, relation, 0), dag_child(dag, relation, 1));
  dag_variables(dag, dag_scratch(dag), difference, &leaves);
  for (uint32_t k = 0; k < leaves.count && found == EXPR_NONE; k++)
    if (dag_linear(dag, difference, leaves.data[k], slope, rest)) found = leaves.data[k];
  vec_free(heap, &leaves);
  return found;
}

/* Do the branches of the row meet where mode m changes? */
static bool row_meets(Meeting *meeting, Expr row, const IndexVec *below, uint32_t m) {
  Expr slope, rest;
  double on_edge = 0, beside = 0, size = 0, largest = 0;
  uint32_t defined = 0;
  meeting->moved = linear_leaf(meeting, m, &slope, &rest);
  if (meeting->moved == EXPR_NONE) return false;
  for (meeting->sample = 0; meeting->sample < SAMPLES; meeting->sample++) {
    meeting->here = NAN;
    double edge = -evaluate(meeting, rest) / evaluate(meeting, slope);
    if (!isfinite(edge)) continue;
    meeting->here = edge + 4 * chance(meeting, meeting->moved) - 2;
    double jump = row_jump(meeting, row, below, m, &size);
    if (isfinite(jump)) beside = fmax(beside, jump);
    if (isfinite(jump)) largest = fmax(largest, size);
    meeting->here = edge;
    jump = row_jump(meeting, row, below, m, &size);
    if (!isfinite(jump)) continue;
    on_edge = fmax(on_edge, jump);
    defined++;
    if (on_edge > VISIBLE * size && on_edge > 0.5 * beside) return false; /* most that jump are told at once */
  }
  return defined >= LEAST_DEFINED && on_edge <= ROUND_OFF * beside && beside > VISIBLE * largest;
}

/* The modes that are leaves below an expression. */
static uint32_t list_modes(const Meeting *meeting, Expr e, IndexVec *below) {
  IndexVec order = {0};
  const Dag *dag = meeting->dag;
  const Modes *modes = meeting->modes;
  DagScratch *scratch = dag_scratch(meeting->dag);
  below->count = 0;
  dag_below(dag, scratch, &e, 1, &order);
  for (uint32_t k = 0; k < order.count; k++) {
    Expr node = order.data[k];
    uint32_t index = dag_op(dag, node) == OP_DISCRETE ? dag_index(dag, node) : UINT32_MAX;
    if (index >= modes->first && index < modes->first + modes->count)
      vec_push(meeting->heap, below, index - modes->first);
  }
  uint32_t nodes = order.count;
  vec_free(scratch->heap, &order);
  return nodes;
}

/* Whatever else depends on a mode needs its event. */
static void keep_events(Meeting *meeting, Expr e, IndexVec *below) {
  if (!dag_depends(meeting->dag, e, OP_DISCRETE)) return;
  list_modes(meeting, e, below);
  for (uint32_t k = 0; k < below->count; k++) meeting->fails[below->data[k]] = true;
}

static void judge_row(Meeting *meeting, Expr row, bool is_differentiated, IndexVec *below) {
  if (!dag_depends(meeting->dag, row, OP_DISCRETE)) return;
  uint64_t nodes = list_modes(meeting, row, below);
  bool is_hopeless = is_differentiated || nodes * below->count > WORK_LIMIT;
  for (uint32_t k = 0; k < below->count; k++) {
    uint32_t m = below->data[k];
    if (meeting->fails[m]) continue;
    bool meets = !is_hopeless && row_meets(meeting, row, below, m);
    *(meets ? &meeting->holds[m] : &meeting->fails[m]) = true;
  }
}

static void judge(Meeting *meeting, const int32_t *c) {
  Modes *modes = meeting->modes;
  Problem *problem = meeting->problem;
  IndexVec below = {0};
  PlaceVec places = {0};
  for (uint32_t m = 0; m < modes->count; m++) meeting->fails[m] = !is_candidate(modes, meeting->dag, m);
  for (uint32_t m = 0; m < modes->count; m++) keep_events(meeting, modes->written[m], &below);
  logic_places(problem->logic, meeting->heap, &places);
  for (uint32_t k = 0; k < places.count; k++) keep_events(meeting, *places.data[k], &below);
  for (uint32_t i = 0; i < problem->equations; i++) judge_row(meeting, problem->residual[i], c[i] > 0, &below);
  vec_free(meeting->heap, &below, &places);
}

static void put_back(Meeting *meeting) {
  Modes *modes = meeting->modes;
  Dag *dag = meeting->dag;
  ExprVec from = {0}, to = {0};
  for (uint32_t m = 0; m < modes->count; m++) {
    if (!modes->meets[m]) continue;
    vec_push(meeting->heap, &from, dag_discrete(dag, modes->first + m));
    vec_push(meeting->heap, &to, dag_unary(dag, OP_NOEVENT, modes->relation[m]));
  }
  dag_substitute(dag, from.data, to.data, from.count, meeting->problem->residual, meeting->problem->equations);
  Expr *const of_modes[] = {modes->difference, modes->size, modes->rate};
  for (size_t k = 0; k < sizeof of_modes / sizeof *of_modes; k++)
    dag_substitute(dag, from.data, to.data, from.count, of_modes[k], modes->count);
  vec_free(meeting->heap, &from, &to);
}

void meeting_release(Modes *modes, Problem *problem, const int32_t *c) {
  Dag *dag = problem->model->dag;
  Heap *heap = dag_scratch(dag)->heap;
  uint32_t candidates = 0, meets = 0;
  for (uint32_t m = 0; m < modes->count; m++) candidates += is_candidate(modes, dag, m);
  if (candidates <= FEW_MODES) return;
  Meeting meeting = {.heap = heap, .modes = modes, .problem = problem, .dag = dag};
  meeting.fails = heap_array(heap, modes->count, sizeof(bool));
  meeting.holds = heap_array(heap, modes->count, sizeof(bool));
  meeting.value = heap_array(heap, modes->count, sizeof(double));
  judge(&meeting, c);
  for (uint32_t m = 0; m < modes->count; m++) meets += meeting.holds[m] && !meeting.fails[m];
  if (meets > FEW_MODES) {
    for (uint32_t m = 0; m < modes->count; m++) modes->meets[m] = meeting.holds[m] && !meeting.fails[m];
    put_back(&meeting);
  }
  heap_free_all(heap, meeting.fails, meeting.holds, meeting.value);
}
