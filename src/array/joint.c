/* joint: see joint.h. */
#include "array/joint.h"

#include "base/map.h"

#include <math.h>

enum { SAMPLES = 12, LEAST_DEFINED = 4, BISECTIONS = 52 };

/* Edges that are not linear are searched between -RANGE and RANGE. */
static const double RANGE = 4;

/* Branches are compared at a point near the edge, and at a second point much nearer to it. If their slopes agree, the difference
 * there is much smaller than it would be otherwise, except for round-off. */
static const double NEAR = 1e-4, SMOOTH = 0.03, ROUND_OFF = 1e-13;

/* A difference that does not jump gets smaller nearer to the edge; the difference of a root gets smaller by a factor of ten between
 * these distances. */
static const double NEARER = 1e-6, NEAREST = 1e-8, CONTINUOUS = 0.5;

/* A random point: the leaf that leads to the edge, and its value. */
typedef struct RandomPoint {
  Expr moved;
  double here;
  uint32_t sample;
} RandomPoint;

/* A number in [0, 1) for a key. */
static double chance(const RandomPoint *point, uint64_t key) {
  return (double)(hash_mix(hash_mix(key << 8 ^ point->sample)) >> 11) * 0x1p-53;
}

/* Parameters are positive, variables have either sign; discrete variables are unknown. */
static double leaf_value(void *context, const Dag *dag, Expr leaf) {
  const RandomPoint *point = context;
  if (leaf == point->moved) return point->here;
  switch (dag_op(dag, leaf)) {
  case OP_PARAMETER:
  case OP_TIME: return 0.5 + chance(point, leaf);
  case OP_VARIABLE: return 4 * chance(point, leaf) - 2;
  default: return NAN;
  }
}

static double value_at(Dag *dag, Expr e, RandomPoint *point, double here) {
  double value;
  point->here = here;
  return dag_evaluate(dag, dag_scratch(dag), e, leaf_value, point, &value, NULL) ? value : NAN;
}

/* A variable or time in the expression. If the expression is linear in a variable or in time, that one. EXPR_NONE: it contains
 * none. */
static Expr leaf_to_move(Dag *dag, Expr e) {
  ExprVec leaves = {0};
  Expr found = EXPR_NONE, slope;
  dag_variables(dag, dag_scratch(dag), e, &leaves);
  if (dag_depends(dag, e, OP_TIME)) vec_push(dag_scratch(dag)->heap, &leaves, dag_time(dag));
  for (uint32_t k = 0; k < leaves.count && found == EXPR_NONE; k++)
    if (dag_linear(dag, e, leaves.data[k], &slope, NULL)) found = leaves.data[k];
  if (found == EXPR_NONE && leaves.count) found = leaves.data[0];
  vec_free(dag_scratch(dag)->heap, &leaves);
  return found;
}

/* The difference of the branches at a distance from the edge, and at a smaller distance; their size at the first distance. */
typedef struct JointGap {
  double near, beside, size;
} JointGap;

static JointGap find_gap(Dag *dag, Expr then, Expr otherwise, RandomPoint *point, double edge, double way,
                         double near) {
  double a = value_at(dag, then, point, edge + way), b = value_at(dag, otherwise, point, edge + way);
  double gap = value_at(dag, then, point, edge + near * way) - value_at(dag, otherwise, point, edge + near * way);
  return (JointGap){fabs(gap), fabs(a - b), fmax(fabs(a), fabs(b))};
}

/* The value of the moved leaf at the edge: from a straight line if the expression is linear, otherwise by bisection of the
 * first part of the range with a change of sign. NAN: there is none. */
static double find_edge(Dag *dag, Expr difference, RandomPoint *point) {
  double rest = value_at(dag, difference, point, 0), line = -rest / (value_at(dag, difference, point, 1) - rest);
  if (fabs(value_at(dag, difference, point, line)) <= ROUND_OFF * fabs(rest)) return line;
  double low = -RANGE, at_low = value_at(dag, difference, point, low), high = RANGE, at_high = NAN;
  for (int k = 1; k <= SAMPLES && !(at_low * at_high < 0); k++) {
    if (k > 1) low = high, at_low = at_high;
    high = RANGE * (2.0 * k / SAMPLES - 1);
    at_high = value_at(dag, difference, point, high);
  }
  if (!(at_low * at_high < 0)) return NAN;
  for (int k = 0; k < BISECTIONS; k++) {
    double middle = (low + high) / 2;
    *(value_at(dag, difference, point, middle) * at_low > 0 ? &low : &high) = middle;
  }
  return (low + high) / 2;
}

/* The gaps at random points on both sides of edges. */
typedef struct Joint {
  JointGap largest;
  uint32_t points,
      jumps;       /* points where both branches are defined; points among these where the branches do not meet */
  bool is_defined; /* both branches are defined at all points */
} Joint;

static Joint find_joint(Dag *dag, Expr relation, Expr then, Expr otherwise, double beside, double near) {
  Expr difference = dag_subtract(dag, dag_child(dag, relation, 0), dag_child(dag, relation, 1));
  RandomPoint point = {.moved = leaf_to_move(dag, difference)};
  Joint joint = {.is_defined = true};
  for (point.sample = 0; point.sample < SAMPLES && point.moved != EXPR_NONE; point.sample++) {
    double edge = find_edge(dag, difference, &point);
    for (int side = -1; side <= 1 && !isnan(edge); side += 2) {
      double way = side * beside * (0.5 + chance(&point, point.moved));
      JointGap gap = find_gap(dag, then, otherwise, &point, edge, way, near);
      bool is_defined = isfinite(gap.near + gap.beside);
      joint.is_defined = joint.is_defined && is_defined;
      if (!is_defined) continue;
      joint.largest.near = fmax(joint.largest.near, gap.near);
      joint.largest.beside = fmax(joint.largest.beside, gap.beside);
      joint.largest.size = fmax(joint.largest.size, gap.size);
      joint.jumps += gap.near > CONTINUOUS * gap.beside + SMOOTH * gap.size;
      joint.points++;
    }
  }
  return joint;
}

bool joint_is_smooth(Dag *dag, Expr relation, Expr then, Expr otherwise) {
  Joint joint = find_joint(dag, relation, then, otherwise, 1, NEAR);
  double least = SMOOTH * NEAR * joint.largest.beside + ROUND_OFF * joint.largest.size;
  return joint.points >= LEAST_DEFINED && joint.largest.near <= least;
}

bool joint_is_continuous(Dag *dag, Expr relation, Expr then, Expr otherwise) {
  Joint joint = find_joint(dag, relation, then, otherwise, NEARER, NEAREST / NEARER);
  double least = CONTINUOUS * joint.largest.beside + ROUND_OFF * joint.largest.size;
  return joint.points >= LEAST_DEFINED && joint.largest.near <= least;
}

/* It is enough that the branches jump at most of the points: at some points they may happen to meet. */
bool joint_jumps(Dag *dag, Expr relation, Expr then, Expr otherwise) {
  Joint joint = find_joint(dag, relation, then, otherwise, NEARER, NEAREST / NEARER);
  return joint.is_defined && joint.points >= LEAST_DEFINED && 2 * joint.jumps > joint.points;
}
