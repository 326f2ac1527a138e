/* meeting: see meeting.h. */
#include "array/meeting.h"

#include <math.h>

/* A row with more work counts as jumping. */
enum { SAMPLES = 12, LEAST_DEFINED = 4, WORK_LIMIT = 1 << 20 };

/* Branches are compared at this distance from the edge. If their slopes agree at the edge, they differ much less at this
 * distance than they would otherwise (apart from round-off of the row). Farther away they differ by a considerable part
 * of the row's size. */
static const double NEAR = 1e-4, SMOOTH = 0.03, ROUND_OFF = 1e-13, VISIBLE = 1e-6;

typedef struct Meeting {
  Heap *heap;
  Modes *modes;
  Problem *problem;
  Dag *dag;
  bool *fails, *holds; /* per mode: in some row, its branches do not meet; in some row, they do */
  Expr *leaf;          /* per mode: a variable in which its difference is linear; EXPR_NONE: there is none */
  uint32_t *slots;     /* per node: its place in the order of the current row */
} Meeting;

/* A row and the relations of its modes, at a random point. */
typedef struct ModeRow {
  const Meeting *meeting;
  IndexVec below, order; /* the modes of the row; the nodes of their relations, then the nodes of the row */
  NodeValues nodes;
  uint32_t sample;
  Expr moved;    /* the variable that is moved to the edge */
  double here;   /* its value */
  uint32_t mode; /* the mode that gets `value`, regardless of its relation */
  double value;
} ModeRow;

static bool is_candidate(const Modes *modes, const Dag *dag, uint32_t m) {
  return !modes->timed[m] && op_is_order(dag_op(dag, modes->relation[m]));
}

/* The mode of a node; MAP_NONE: it is not a mode. */
static uint32_t mode_of(const Meeting *meeting, Expr node) {
  const Modes *modes = meeting->modes;
  if (dag_op(meeting->dag, node) != OP_DISCRETE) return MAP_NONE;
  uint32_t m = dag_index(meeting->dag, node) - modes->first;
  return dag_index(meeting->dag, node) >= modes->first && m < modes->count ? m : MAP_NONE;
}

/* The modes that are leaves below an expression. */
static void list_modes(const Meeting *meeting, Expr e, IndexVec *below) {
  IndexVec order = {0};
  DagScratch *scratch = dag_scratch(meeting->dag);
  below->count = 0;
  dag_below(meeting->dag, scratch, &e, 1, &order);
  for (uint32_t k = 0; k < order.count; k++)
    if (mode_of(meeting, order.data[k]) != MAP_NONE) vec_push(meeting->heap, below, mode_of(meeting, order.data[k]));
  vec_free(scratch->heap, &order);
}

/* ---- a row at a point ---- */

/* A number in [0, 1) for a leaf. */
static double chance(const ModeRow *row, Expr leaf) {
  return (double)(hash_mix(hash_mix((uint64_t)leaf << 8 ^ row->sample)) >> 11) * 0x1p-53;
}

/* Parameters are positive, variables have either sign; discrete variables are unknown. */
static double leaf_value(const ModeRow *row, Expr leaf) {
  const Meeting *meeting = row->meeting;
  uint32_t m = mode_of(meeting, leaf);
  if (leaf == row->moved) return row->here;
  if (m != MAP_NONE && m == row->mode) return row->value;
  if (m != MAP_NONE) return row->nodes.values[row->nodes.slots[meeting->modes->relation[m]]];
  switch (dag_op(meeting->dag, leaf)) {
  case OP_PARAMETER:
  case OP_TIME: return 0.5 + chance(row, leaf);
  case OP_VARIABLE: return 4 * chance(row, leaf) - 2;
  default: return NAN;
  }
}

static bool is_valued_leaf(Op op) {
  return op == OP_TIME || op == OP_PARAMETER || op == OP_VARIABLE || op == OP_DISCRETE || op == OP_PRE;
}

/* The row with this value of its mode; NAN: it is undefined. */
static double evaluate(ModeRow *row, double value) {
  const Dag *dag = row->meeting->dag;
  uint32_t last = row->order.count - 1;
  row->value = value;
  for (uint32_t k = 0; k <= last; k++) {
    Expr node = row->order.data[k];
    row->nodes.faults[k] = EXPR_NONE;
    if (is_valued_leaf(dag_op(dag, node))) row->nodes.values[k] = leaf_value(row, node);
    else row->nodes.faults[k] = dag_evaluate_node(dag, &row->nodes, node, &row->nodes.values[k]);
  }
  return row->nodes.faults[last] == EXPR_NONE ? row->nodes.values[last] : NAN;
}

/* The change of the row when its mode changes; *size: the size of the row. */
static double row_jump(ModeRow *row, double here, double *size) {
  row->here = here;
  double without = evaluate(row, 0), with = evaluate(row, 1);
  *size = fmax(fabs(with), fabs(without));
  return fabs(with - without);
}

/* The difference of the mode. */
static double difference(ModeRow *row, double here) {
  const Dag *dag = row->meeting->dag;
  Expr relation = row->meeting->modes->relation[row->mode];
  row->here = here;
  evaluate(row, 0);
  double side[2];
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t slot = row->nodes.slots[dag_child(dag, relation, k)];
    side[k] = row->nodes.faults[slot] == EXPR_NONE ? row->nodes.values[slot] : NAN;
  }
  return side[0] - side[1];
}

/* The value of the moved variable at the edge. */
static double find_edge(ModeRow *row) {
  double rest = difference(row, 0);
  return -rest / (difference(row, 1) - rest);
}

/* ---- rows whose branches meet ---- */

/* On the edge, the branches differ, or meet, or meet with equal slopes; in the last case they differ by the square of the distance
 * from the edge. */
typedef enum Joint { JOINT_JUMP, JOINT_KINK, JOINT_SMOOTH } Joint;

/* The differences of the branches of a row at a point: on the edge, near it, and farther away. */
typedef struct MeetingGap {
  double on_edge, near, beside, size;
} MeetingGap;

static MeetingGap find_gap(ModeRow *row) {
  double edge = find_edge(row), away = chance(row, row->moved) < 0.5 ? -1 : 1, size;
  MeetingGap gap = {.beside = row_jump(row, edge + away, &size)};
  gap.size = size;
  gap.near = row_jump(row, edge + NEAR * away, &size);
  gap.on_edge = row_jump(row, edge, &size);
  return gap;
}

/* How the branches of the row meet where mode m changes. */
static Joint find_joint(ModeRow *row, uint32_t m) {
  MeetingGap largest = {0};
  uint32_t defined = 0;
  row->mode = m;
  row->moved = row->meeting->leaf[m];
  if (row->moved == EXPR_NONE) return JOINT_JUMP;
  for (row->sample = 0; row->sample < SAMPLES; row->sample++) {
    MeetingGap gap = find_gap(row);
    if (!isfinite(gap.on_edge + gap.near + gap.beside)) continue;
    if (gap.on_edge > ROUND_OFF * gap.size) return JOINT_JUMP;
    largest.near = fmax(largest.near, gap.near);
    largest.beside = fmax(largest.beside, gap.beside);
    largest.size = fmax(largest.size, gap.size);
    defined++;
  }
  if (defined < LEAST_DEFINED || largest.beside <= VISIBLE * largest.size) return JOINT_JUMP;
  return largest.near <= SMOOTH * NEAR * largest.beside + ROUND_OFF * largest.size ? JOINT_SMOOTH : JOINT_KINK;
}

/* Lists the nodes below the row. */
static void open_row(ModeRow *row, Expr e) {
  const Meeting *meeting = row->meeting;
  Heap *heap = meeting->heap;
  DagScratch *scratch = dag_scratch(meeting->dag);
  ExprVec roots = {0};
  list_modes(meeting, e, &row->below);
  for (uint32_t k = 0; k < row->below.count; k++) vec_push(heap, &roots, meeting->modes->relation[row->below.data[k]]);
  vec_push(heap, &roots, e);
  dag_below(meeting->dag, scratch, roots.data, roots.count, &row->order);
  for (uint32_t k = 0; k < row->order.count; k++) meeting->slots[row->order.data[k]] = k;
  row->nodes.slots = meeting->slots;
  row->nodes.values = heap_array(heap, row->order.count, sizeof(double));
  row->nodes.faults = heap_array(heap, row->order.count, sizeof(Expr));
  vec_free(heap, &roots);
}

/* All other expressions that depend on a mode need its event. */
static void keep_events(Meeting *meeting, Expr e, IndexVec *below) {
  if (!dag_depends(meeting->dag, e, OP_DISCRETE)) return;
  list_modes(meeting, e, below);
  for (uint32_t k = 0; k < below->count; k++) meeting->fails[below->data[k]] = true;
}

static void close_row(ModeRow *row) {
  Heap *heap = row->meeting->heap;
  vec_free(dag_scratch(row->meeting->dag)->heap, &row->order);
  vec_free(heap, &row->below);
  heap_free_all(heap, row->nodes.values, row->nodes.faults);
}

/* A single kink is usually a contact or a switch, and steps should end at it. In a row with smooth joints, a kink separates
 * two regions of a device. */
static void judge_row(Meeting *meeting, Expr e, bool is_differentiated) {
  if (!dag_depends(meeting->dag, e, OP_DISCRETE)) return;
  ModeRow row = {.meeting = meeting};
  open_row(&row, e);
  bool is_hopeless = is_differentiated || (uint64_t)row.order.count * row.below.count > WORK_LIMIT, is_device = false;
  Joint *joint = heap_array(meeting->heap, row.below.count, sizeof *joint);
  for (uint32_t k = 0; k < row.below.count; k++) {
    joint[k] = is_hopeless || meeting->fails[row.below.data[k]] ? JOINT_JUMP : find_joint(&row, row.below.data[k]);
    is_device = is_device || joint[k] == JOINT_SMOOTH;
  }
  for (uint32_t k = 0; k < row.below.count; k++) {
    bool meets = joint[k] != JOINT_JUMP && is_device;
    *(meets ? &meeting->holds[row.below.data[k]] : &meeting->fails[row.below.data[k]]) = true;
  }
  heap_free(meeting->heap, joint);
  close_row(&row);
}

/* A variable in which the difference of a relation is linear; EXPR_NONE: there is none. */
static Expr linear_leaf(Dag *dag, Expr relation) {
  ExprVec leaves = {0};
  Expr found = EXPR_NONE, slope;
  Expr e = dag_subtract(dag, dag_child(dag, relation, 0), dag_child(dag, relation, 1));
  dag_variables(dag, dag_scratch(dag), e, &leaves);
  for (uint32_t k = 0; k < leaves.count && found == EXPR_NONE; k++)
    if (dag_linear(dag, e, leaves.data[k], &slope, NULL)) found = leaves.data[k];
  vec_free(dag_scratch(dag)->heap, &leaves);
  return found;
}

static void judge(Meeting *meeting, const int32_t *c) {
  Modes *modes = meeting->modes;
  Problem *problem = meeting->problem;
  IndexVec below = {0};
  PlaceVec places = {0};
  for (uint32_t m = 0; m < modes->count; m++) {
    meeting->fails[m] = !is_candidate(modes, meeting->dag, m);
    meeting->leaf[m] = meeting->fails[m] ? EXPR_NONE : linear_leaf(meeting->dag, modes->relation[m]);
  }
  meeting->slots = heap_array(meeting->heap, dag_size(meeting->dag), sizeof *meeting->slots);
  for (uint32_t m = 0; m < modes->count; m++) keep_events(meeting, modes->written[m], &below);
  logic_places(problem->logic, meeting->heap, &places);
  for (uint32_t k = 0; k < places.count; k++) keep_events(meeting, *places.data[k], &below);
  for (uint32_t i = 0; i < problem->equations; i++) judge_row(meeting, problem->residual[i], c[i] > 0);
  vec_free(meeting->heap, &below);
  vec_free(meeting->heap, &places);
  heap_free(meeting->heap, meeting->slots);
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
  if (candidates <= FEW_BENDS) return;
  Meeting meeting = {.heap = heap, .modes = modes, .problem = problem, .dag = dag};
  meeting.fails = heap_array(heap, modes->count, sizeof(bool));
  meeting.holds = heap_array(heap, modes->count, sizeof(bool));
  meeting.leaf = heap_array(heap, modes->count, sizeof(Expr));
  judge(&meeting, c);
  for (uint32_t m = 0; m < modes->count; m++) meets += meeting.holds[m] && !meeting.fails[m];
  if (meets > FEW_BENDS) {
    for (uint32_t m = 0; m < modes->count; m++) modes->meets[m] = meeting.holds[m] && !meeting.fails[m];
    put_back(&meeting);
  }
  heap_free_all(heap, meeting.fails, meeting.holds, meeting.leaf);
}
