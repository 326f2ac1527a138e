/* statespace: see statespace.h. The order of work is a list of units made once; only units of blocks with a
 * choice of dummies change their columns when the choice changes, and a unit whose columns are all states
 * then has nothing to do. */
#include "reduce/statespace.h"

#include "base/copy.h"
#include "base/linear.h"
#include "nonlinear/nonlinear.h"
#include "reduce/state_plan.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Newton: iterations at most, halvings of a step at most; accept when the next correction, quadratic in this
 * one, is lost in round-off; inside of a step, when it is lost in any error that a step may have. */
/* A junction that blocks has a conductance of 1e-12 siemens: a step by that is 1e12 times too long, and must be halved as often. */
/* Columns of one program of assignments, and equations of a block that becomes assignments, at most: larger ones are solved with sparse factors. */
enum { NEWTON_LIMIT = 60, HALVING_LIMIT = 60, FUSE_LIMIT = 128, EXPLICIT_LIMIT = 8 };

/* Matrices of so many entries: their factors serve at later points too, for so many corrections, each at most this part of the
 * one before. Smaller matrices are factored in less time than more corrections take. */
enum { KEPT_ENTRIES = 400, KEPT_LIMIT = 6 };
static const double KEPT_CONTRACTION = 0.02;

/* Part of the terms that cancel in a residual which may be left of them. */
static const double RESIDUAL_ROUND_OFF = 8 * DBL_EPSILON;

static const double NEWTON_QUADRATIC = 1e-8, NEWTON_QUADRATIC_INSIDE = 1e-7, NEWTON_FLOOR = 1e-14;

/* If corrections shrink by this factor from the first one on, they lead to the solution nearest to the start. Otherwise they may lead to
 * any solution (Kantorovich's theorem). */
static const double NEWTON_CONTRACTION = 0.5;

/* The theorem asks for h <= 1/2, where h is the part of the matrix that changes over the first correction. Then halfway along it the residual is
 * half of what it was except for h/8, as a correction by the first matrix, and the solution is next to its end, by less than h (Deuflhard 2004,
 * section 2.1). In parts of the first correction. */
static const double NEWTON_STRAIGHT = 0.0625, NEWTON_AWAY = 0.5;

/* Relative to the size of the columns: on a path that is not longer, the sign of the determinant at its quarters is
 * enough to see whether it changes. */
static const double NEWTON_SHORT = 1e-3;

typedef struct Unit {
  const UnitPlan *plan;
  uint32_t *columns; /* positions in y */
  Workspace *program, *joint;
  double *joint_values;
  double *values;
  /* of UNIT_SOLVE */
  BlockMatrix *matrix;
  uint64_t factored; /* version of the block matrix in the factors; 0 for none */
  int32_t *column_start, *row_index, *gather;
  double *entries, *trial;
  Linear *linear_system; /* NULL for a single row, or if another unit owns the factors */
  Tangent *tangent;      /* NULL where the plan has none */
  bool is_projected;     /* the factors are those of `tangent` */
  bool is_moved;         /* the last correction moved matrix rows of this stage; see UnitPlan.entries_below */
  double single;         /* the 1 x 1 matrix */
} Unit;

/* What is wanted of Newton's method. */
typedef enum NewtonGoal {
  GOAL_ANY,   /* a solution: residuals get smaller */
  GOAL_SHORT, /* a solution at a short way from the guess: residuals get smaller */
  GOAL_NEXT,  /* the solution next to the guess, and no other */
} NewtonGoal;

struct StateSpace {
  Heap *heap;
  Evaluator *evaluator;
  const StatePlan *plan;
  const Structure *structure;
  Unit *units;
  int32_t *depth; /* the present choice */
  bool chosen;
  NewtonGoal goal;
  double quadratic; /* corrections up to this are the last ones */
  SolveFailure failure;
  uint64_t factorizations;
  double *correction, *residual, *remainder, *first;
};

static int32_t unit_row(const StatePlan *plan, const BlockShape *shape, int32_t stage, int32_t p) {
  int32_t i = shape->equation[p];
  return (int32_t)plan->code->array->row_start[i] + plan->structure->c[i] - stage;
}

/* ---- building ---- */

/* Pending explicit assignments: column leaf and value, fused into one program by substitution. */
typedef struct Fusion {
  ExprVec leaves, values;
  IndexVec columns;
  int32_t block;
} Fusion;

static void flush_fusion(StatePlan *plan, Fusion *fusion) {
  if (!fusion->columns.count) return;
  uint32_t n = fusion->columns.count;
  UnitPlan unit = {.kind = UNIT_EXPLICIT, .block = fusion->block, .count = (int32_t)n};
  unit.columns = heap_copy(plan->heap, fusion->columns.data, n, sizeof(uint32_t));
  unit.program = array_code_program(plan->code, fusion->values.data, n);
  vec_push(plan->heap, &plan->units, unit);
  fusion->leaves.count = fusion->values.count = fusion->columns.count = 0;
}

/* What a block that is solved outright assigns: columns as leaves of the graph, in order, and their values. */
typedef struct Assignments {
  ExprVec leaves, values;
  ExprVec rows, columns; /* workspace: what is left of the block */
  uint32_t written;      /* the first so many rows are as written */
} Assignments;

static void free_assignments(Heap *heap, Assignments *assignments) {
  vec_free(heap, &assignments->leaves, &assignments->values, &assignments->rows, &assignments->columns);
}

static void assign(Heap *heap, Assignments *assignments, Expr leaf, Expr value) {
  vec_push(heap, &assignments->leaves, leaf);
  vec_push(heap, &assignments->values, value);
}

static uint32_t row_variables(Dag *dag, Expr row) {
  DagScratch *scratch = dag_scratch(dag);
  ExprVec leaves = {0};
  dag_variables(dag, scratch, row, &leaves);
  uint32_t count = leaves.count;
  vec_free(scratch->heap, &leaves);
  return count;
}

/* Two rows become one, after the others. */
static void merge_rows(Heap *heap, Assignments *block, const uint32_t *pair, Expr merged) {
  uint32_t kept = 0;
  for (uint32_t r = 0; r < block->rows.count; r++)
    if (r != pair[0] && r != pair[1]) block->rows.data[kept++] = block->rows.data[r];
  for (uint32_t k = 0; k < 2; k++) block->written -= pair[1 - k] < block->written;
  block->rows.count = kept;
  vec_push(heap, &block->rows, merged);
}

/* Is the leaf a term of the row, with factor 1 or -1? */
static bool is_unit_term(const Dag *dag, Expr row, Expr leaf) {
  double constant;
  const Term *terms;
  uint32_t count = dag_op(dag, row) == OP_SUM ? dag_terms(dag, row, &constant, &terms) : 0;
  for (uint32_t t = 0; t < count; t++)
    if (terms[t].node == leaf) return fabs(terms[t].coefficient) == 1;
  return false;
}

/* Eliminates a column that two rows have with factors 1 or -1: the multiplier is 1 or -1, so no pivot is too small.
 * A row as written is preferred to a merged one, and a row with fewer variables to one with more, because small
 * terms are lost in long sums. false: not this column. */
static bool eliminate_unit(Heap *heap, Dag *dag, Assignments *block, uint32_t column) {
  uint32_t pair[2], count = 0;
  double factors[2], factor;
  Expr slope, rest, rests[2], leaf = block->columns.data[column], *rows = block->rows.data;
  for (uint32_t r = 0; r < block->rows.count; r++) count += is_unit_term(dag, rows[r], leaf);
  if (count != 2) return false;
  count = 0;
  for (uint32_t r = 0; r < block->rows.count; r++) {
    if (!dag_linear(dag, rows[r], leaf, &slope, &rest) || !dag_is_constant(dag, slope, &factor)) return false;
    if (factor == 0) continue;
    if (count == 2 || fabs(factor) != 1) return false;
    rests[count] = rest;
    factors[count] = factor;
    pair[count++] = r;
  }
  if (count < 2) return false;
  bool is_second = pair[1] < block->written && row_variables(dag, rests[1]) < row_variables(dag, rests[0]);
  Expr other = rests[!is_second];
  rest = rests[is_second];
  assign(heap, block, leaf, factors[is_second] == 1 ? dag_negate(dag, rest) : rest);
  merge_rows(heap, block, pair, factors[0] == factors[1] ? dag_subtract(dag, other, rest) : dag_add(dag, other, rest));
  block->columns.data[column] = vec_last(&block->columns);
  block->columns.count--;
  return true;
}

static bool eliminate_units(Heap *heap, Dag *dag, Assignments *block) {
  for (uint32_t column = 0; block->columns.count > 1 && column < block->columns.count;)
    column = eliminate_unit(heap, dag, block, column) ? 0 : column + 1;
  return block->columns.count == 1;
}

/* Does the factor of a column stay as it is while a run goes on, and is it not zero outright? */
static bool is_fixed(const Dag *dag, Expr slope) {
  double number = 1;
  dag_is_constant(dag, slope, &number);
  return number != 0 && !dag_depends(dag, slope, OP_VARIABLE) && !dag_depends(dag, slope, OP_TIME) &&
         !dag_depends(dag, slope, OP_DISCRETE) && !dag_depends(dag, slope, OP_PRE);
}

/* The columns that a block gives linearly at this stage, and their values in reverse order: a block of one equation, or one that is not
 * differentiated and comes down to one by elimination with factors 1 and -1. false: it does not. */
static bool solve_explicitly(const StatePlan *plan, int32_t block, int32_t stage, Assignments *found) {
  Array *array = plan->code->array;
  Dag *dag = array->dag;
  const Structure *structure = plan->structure;
  int32_t begin = structure->blocks.start[block], end = structure->blocks.start[block + 1];
  bool is_single = end - begin == 1;
  if (end - begin > EXPLICIT_LIMIT || (stage > 0 && !is_single)) return false;
  found->leaves.count = found->values.count = found->rows.count = found->columns.count = 0;
  for (int32_t p = begin; p < end; p++) {
    int32_t i = structure->blocks.row[p], j = structure->blocks.column[p];
    if (!is_single && structure->c[i] > 0) return false;
    vec_push(plan->heap, &found->rows, array_row(array, array->row_start[i] + (uint32_t)(structure->c[i] - stage)));
    vec_push(plan->heap, &found->columns,
             dag_variable(dag, array->problem->unknown[j], (uint32_t)(structure->d[j] - stage)));
  }
  Expr slope, rest;
  found->written = found->rows.count;
  if (!eliminate_units(plan->heap, dag, found) ||
      !dag_linear(dag, found->rows.data[0], found->columns.data[0], &slope, &rest) ||
      !(is_single || is_fixed(dag, slope)))
    return false;
  assign(plan->heap, found, found->columns.data[0], dag_divide(dag, dag_negate(dag, rest), slope));
  return true;
}

/* A block that gives its columns linearly at this stage becomes assignments. */
static bool add_explicit(StatePlan *plan, Fusion *fusion, Assignments *found, int32_t block, int32_t stage) {
  Array *array = plan->code->array;
  if (!solve_explicitly(plan, block, stage, found)) return false;
  for (uint32_t k = found->leaves.count; k-- > 0;) {
    Expr value = found->values.data[k], leaf = found->leaves.data[k];
    dag_substitute(array->dag, fusion->leaves.data, fusion->values.data, fusion->leaves.count, &value, 1);
    if (!fusion->columns.count) fusion->block = block;
    vec_push(plan->heap, &fusion->leaves, leaf);
    vec_push(plan->heap, &fusion->values, value);
    vec_push(plan->heap, &fusion->columns, (uint32_t)array_column(array, leaf));
    if (fusion->columns.count >= FUSE_LIMIT) flush_fusion(plan, fusion);
  }
  return true;
}

/* The matrix entries that the joint program of a unit evaluates: those of its stage that are not constant, and those that the last correction of
 * a nonlinear unit below has changed. The latter then need no program of their own. */
static void choose_entries(const StatePlan *plan, const BlockShape *shape, UnitPlan *unit) {
  const BlockGroup *group = &shape->group[unit->stage];
  const UnitPlan *below = unit->below == NONE ? NULL : &plan->units.data[unit->below];
  unit->first_entry = below && !below->linear ? shape->group[below->stage].first_entry : group->first_entry;
  unit->entries_below = group->first_entry - unit->first_entry;
  unit->entries = unit->entries_below || !group->constant ? unit->entries_below + group->entries : 0;
}

/* below: the block's last unit, of a lower stage; NONE if this is the first. */
static void add_solve(StatePlan *plan, const BlockShape *shape, int32_t stage, int32_t below) {
  int32_t rows = shape->stage_rows[stage];
  const BlockGroup *group = &shape->group[stage];
  UnitPlan unit = {
      .kind = UNIT_SOLVE, .block = shape->block, .stage = stage, .count = rows, .shape = shape, .below = below};
  ExprVec roots = {0};
  for (int32_t p = 0; p < rows; p++)
    vec_push(plan->heap, &roots, array_row(plan->code->array, (uint32_t)unit_row(plan, shape, stage, p)));
  unit.program = array_code_program(plan->code, roots.data, roots.count);
  choose_entries(plan, shape, &unit);
  for (int32_t e = 0; e < unit.entries; e++) vec_push(plan->heap, &roots, shape->roots[unit.first_entry + e]);
  if (unit.entries) unit.joint = array_code_program(plan->code, roots.data, roots.count);
  vec_free(plan->heap, &roots);
  unit.nonzeros = shape->row_start[rows];
  unit.linear = group->linear;
  unit.keeps = stage == 0 && unit.joint && unit.nonzeros >= KEPT_ENTRIES;
  unit.owner = (int32_t)plan->units.count;
  if (stage == 0 && unit.linear)
    unit.tangent = tangent_plan(plan->code->array->problem, shape->equation, shape->unknown, rows, plan->heap);
  bool next = below != NONE && plan->units.data[below].stage == stage + 1;
  if (next && plan->units.data[below].count == rows) unit.owner = plan->units.data[below].owner;
  vec_push(plan->heap, &plan->units, unit);
}

/* The units of one stage of one block; last[]: the last unit of each block that is solved for. Blocks without
 * rows at this stage have states there, and nothing to do. */
static void add_units(StatePlan *plan, Fusion *fusion, Assignments *found, int32_t *last, int32_t block, int32_t stage,
                      int32_t *place) {
  const Blocks *blocks = &plan->structure->blocks;
  bool any = false;
  for (int32_t p = blocks->start[block]; p < blocks->start[block + 1] && !any; p++)
    any = plan->structure->c[blocks->row[p]] >= stage;
  if (!any) return;
  if (add_explicit(plan, fusion, found, block, stage)) return;
  flush_fusion(plan, fusion);
  add_solve(plan, block_shape(plan->code, plan->structure, block, place), stage, last[block]);
  last[block] = (int32_t)plan->units.count - 1;
}

/* Blocks by their largest c, so that a stage visits only the blocks that have rows in it. */
static int32_t largest_c(const Structure *structure, int32_t block) {
  int32_t largest = 0;
  for (int32_t p = structure->blocks.start[block]; p < structure->blocks.start[block + 1]; p++)
    if (structure->c[structure->blocks.row[p]] > largest) largest = structure->c[structure->blocks.row[p]];
  return largest;
}

/* Marks the blocks of algebraic columns whose values the rows of this block use as none of the set. Algebraic columns are in
 * rows that are not differentiated only. */
static void mark_used(const StatePlan *plan, int32_t block, ExprVec *leaves, bool *set) {
  Array *array = plan->code->array;
  const Structure *structure = plan->structure;
  for (int32_t p = structure->blocks.start[block]; p < structure->blocks.start[block + 1]; p++) {
    int32_t i = structure->blocks.row[p];
    if (structure->c[i] > 0) continue;
    leaves->count = 0;
    dag_variables(array->dag, dag_scratch(array->dag), array_row(array, array->row_start[i]), leaves);
    for (uint32_t k = 0; k < leaves->count; k++) {
      int32_t j = (int32_t)array->problem->local[dag_index(array->dag, leaves->data[k])];
      if (structure->blocks.block_of_column[j] != block) set[structure->blocks.block_of_column[j]] = false;
    }
  }
}

/* Takes those out of a set of blocks that blocks outside of it use. */
static void keep_unused(const StatePlan *plan, bool *set) {
  ExprVec leaves = {0};
  for (int32_t b = plan->structure->blocks.n_blocks - 1; b >= 0; b--)
    if (!set[b]) mark_used(plan, b, &leaves, set);
  vec_free(plan->heap, &leaves);
}

static bool is_algebraic(const Structure *structure, int32_t block) {
  for (int32_t p = structure->blocks.start[block]; p < structure->blocks.start[block + 1]; p++)
    if (structure->d[structure->blocks.column[p]] > 0) return false;
  return true;
}

/* A block is idle if it gives an algebraic column outright and no block that is not idle uses it. */
static void find_idle(StatePlan *plan, Assignments *found) {
  const Blocks *blocks = &plan->structure->blocks;
  plan->idle = heap_array(plan->heap, (size_t)blocks->n_blocks, sizeof(bool));
  for (int32_t b = 0; b < blocks->n_blocks; b++)
    plan->idle[b] = blocks->start[b + 1] - blocks->start[b] == 1 &&
                    plan->structure->d[blocks->column[blocks->start[b]]] == 0 && solve_explicitly(plan, b, 0, found);
  keep_unused(plan, plan->idle);
}

/* A block is loose if its columns are algebraic and no block that is not loose uses it. Without states all are. */
static void find_loose(StatePlan *plan) {
  const Structure *structure = plan->structure;
  int64_t states = 0;
  plan->loose = heap_array(plan->heap, (size_t)structure->blocks.n_blocks, sizeof(bool));
  for (uint32_t j = 0; j < plan->code->array->problem->unknowns; j++) states += structure->d[j];
  for (uint32_t i = 0; i < plan->code->array->problem->unknowns; i++) states -= structure->c[i];
  for (int32_t b = 0; b < structure->blocks.n_blocks; b++) plan->loose[b] = states == 0 || is_algebraic(structure, b);
  keep_unused(plan, plan->loose);
}

/* Nonlinear units need a guess for what they may solve. */
static void find_given(StatePlan *plan) {
  const Array *array = plan->code->array;
  plan->given = heap_array(plan->heap, array->columns, sizeof *plan->given);
  plan->branching = heap_array(plan->heap, array->columns, sizeof *plan->branching);
  for (uint32_t q = 0; q < array->columns; q++) plan->given[q] = true;
  for (uint32_t u = 0; u < plan->units.count; u++) {
    const UnitPlan *unit = &plan->units.data[u];
    if (unit->kind != UNIT_SOLVE || unit->linear) continue;
    if (plan->loose[unit->block]) plan->branched = u + 1;
    for (int32_t k = 0; k < unit->shape->size; k++) {
      int32_t j = unit->shape->unknown[k], order = plan->structure->d[j] - unit->stage;
      if (order < 0) continue;
      plan->given[array->column_start[j] + (uint32_t)order] = false;
      plan->branching[array->column_start[j] + (uint32_t)order] = plan->loose[unit->block];
    }
  }
}

/* Columns of idle blocks. */
static void find_spare(StatePlan *plan) {
  const Array *array = plan->code->array;
  const Blocks *blocks = &plan->structure->blocks;
  plan->spare = heap_array(plan->heap, array->columns, sizeof *plan->spare);
  for (int32_t b = 0; b < blocks->n_blocks; b++)
    if (plan->idle[b]) plan->spare[array->column_start[blocks->column[blocks->start[b]]]] = true;
}

const bool *state_plan_given(const StatePlan *plan) { return plan->given; }
const bool *state_plan_branching(const StatePlan *plan) { return plan->branched ? plan->branching : NULL; }
const bool *state_plan_spare(const StatePlan *plan) { return plan->spare; }

StatePlan *state_plan(ArrayCode *code, const Structure *structure) {
  Heap *heap = code->heap;
  StatePlan *plan = heap_alloc(heap, sizeof *plan);
  plan->heap = heap;
  plan->code = code;
  plan->structure = structure;
  int32_t blocks = structure->blocks.n_blocks, deepest = 0;
  int32_t *last = heap_array(heap, (size_t)blocks, sizeof *last);
  int32_t *largest = heap_array(heap, (size_t)blocks, sizeof *largest);
  int32_t *place = heap_array(heap, code->array->problem->unknowns, sizeof *place);
  for (int32_t b = 0; b < blocks; b++) {
    last[b] = NONE;
    largest[b] = largest_c(structure, b);
    if (largest[b] > deepest) deepest = largest[b];
  }
  Fusion fusion = {0};
  Assignments found = {0};
  find_idle(plan, &found);
  find_loose(plan);
  for (int32_t stage = deepest; stage >= 0; stage--)
    for (int32_t b = 0; b < blocks; b++)
      if (largest[b] >= stage && !plan->idle[b]) add_units(plan, &fusion, &found, last, b, stage, place);
  flush_fusion(plan, &fusion);
  plan->serving = plan->units.count;
  for (int32_t b = 0; b < blocks; b++)
    if (plan->idle[b]) add_units(plan, &fusion, &found, last, b, 0, place);
  flush_fusion(plan, &fusion);
  find_given(plan);
  find_spare(plan);
  vec_free(heap, &fusion.leaves, &fusion.values, &fusion.columns);
  free_assignments(heap, &found);
  heap_free_all(heap, largest, place, last);
  return plan;
}

static Unit make_unit(StateSpace *space, const UnitPlan *plan, int32_t number) {
  Heap *heap = space->heap;
  size_t n = (size_t)plan->count, nonzeros = (size_t)plan->nonzeros;
  Unit unit = {
      .plan = plan, .program = workspace_new(heap, plan->program), .values = heap_array(heap, n, sizeof(double))};
  unit.columns = heap_array(heap, n, sizeof(uint32_t));
  if (plan->kind == UNIT_EXPLICIT) {
    memcpy(unit.columns, plan->columns, n * sizeof(uint32_t));
    return unit;
  }
  unit.matrix = plan->below == NONE ? block_matrix_new(heap, plan->shape) : space->units[plan->below].matrix;
  if (plan->joint) {
    unit.joint = workspace_new(heap, plan->joint);
    unit.joint_values = heap_array(heap, program_outputs(plan->joint), sizeof(double));
  }
  unit.trial = heap_array(heap, n, sizeof(double));
  unit.column_start = heap_array(heap, n + 1, sizeof(int32_t));
  unit.row_index = heap_array(heap, nonzeros, sizeof(int32_t));
  unit.gather = heap_array(heap, nonzeros, sizeof(int32_t));
  unit.entries = heap_array(heap, nonzeros, sizeof(double));
  if (plan->owner == number && n > 1) unit.linear_system = linear_new(heap, plan->count, plan->nonzeros, false);
  if (plan->owner == number && plan->tangent) unit.tangent = tangent_new(heap, plan->tangent);
  return unit;
}

StateSpace *statespace_new(Heap *heap, Evaluator *evaluator, const StatePlan *plan) {
  StateSpace *space = heap_alloc(heap, sizeof *space);
  uint32_t n = evaluator->array->problem->unknowns;
  space->heap = heap;
  space->evaluator = evaluator;
  space->plan = plan;
  space->structure = plan->structure;
  space->depth = heap_array(heap, n, sizeof(int32_t));
  heap_numbers(heap, n, &space->correction, &space->residual, &space->remainder, &space->first);
  space->units = heap_array(heap, plan->units.count, sizeof *space->units);
  for (uint32_t u = 0; u < plan->units.count; u++) space->units[u] = make_unit(space, &plan->units.data[u], (int32_t)u);
  return space;
}

/* ---- choosing ---- */

/* Compressed columns of the part of the block matrix with this stage's rows and the chosen columns. */
static void choose_unit(StateSpace *space, Unit *unit, const int32_t *depth) {
  const BlockShape *shape = unit->plan->shape;
  int32_t *place = heap_array(space->heap, (size_t)shape->size, sizeof *place);
  int32_t n = 0;
  for (int32_t q = 0; q < shape->size; q++) {
    int32_t j = shape->unknown[q], d = space->structure->d[j];
    bool solved = unit->plan->stage == 0 || (d >= unit->plan->stage && depth[j] >= unit->plan->stage);
    place[q] = solved ? n : -1;
    if (solved) unit->columns[n++] = space->evaluator->array->column_start[j] + (uint32_t)(d - unit->plan->stage);
  }
  memset(unit->column_start, 0, ((size_t)unit->plan->count + 1) * sizeof(int32_t));
  for (int32_t e = 0; e < unit->plan->nonzeros; e++)
    if (place[shape->column[e]] >= 0) unit->column_start[place[shape->column[e]] + 1]++;
  for (int32_t k = 0; k < unit->plan->count; k++) unit->column_start[k + 1] += unit->column_start[k];
  int32_t *next = heap_array(space->heap, (size_t)unit->plan->count + 1, sizeof *next);
  memcpy(next, unit->column_start, (size_t)unit->plan->count * sizeof *next);
  for (int32_t p = 0; p < unit->plan->count; p++) {
    for (int32_t e = shape->row_start[p]; e < shape->row_start[p + 1]; e++) {
      int32_t column = place[shape->column[e]];
      if (column < 0) continue;
      unit->row_index[next[column]] = p;
      unit->gather[next[column]++] = e;
    }
  }
  unit->factored = 0;
  if (unit->linear_system) linear_set_pattern(unit->linear_system, unit->column_start, unit->row_index);
  heap_free_all(space->heap, next, place);
}

void statespace_choose(StateSpace *space, const int32_t *depth) {
  for (uint32_t u = 0; u < space->plan->units.count; u++) {
    Unit *unit = &space->units[u];
    if (unit->plan->kind != UNIT_SOLVE) continue;
    bool changed = !space->chosen;
    for (int32_t q = 0; q < unit->plan->shape->size && !changed; q++)
      changed = space->depth[unit->plan->shape->unknown[q]] != depth[unit->plan->shape->unknown[q]];
    if (changed) choose_unit(space, unit, depth);
  }
  memcpy(space->depth, depth, space->evaluator->array->problem->unknowns * sizeof *depth);
  space->chosen = true;
}

void statespace_forget(StateSpace *space) { space->chosen = false; }

/* ---- solving ---- */

static bool factor_single(Unit *owner, const Unit *unit) {
  double sum = 0;
  for (int32_t e = 0; e < unit->column_start[1]; e++) sum += unit->matrix->values[unit->gather[e]];
  owner->single = sum;
  return sum != 0 && isfinite(sum);
}

static bool factor_several(Unit *owner, const Unit *unit) {
  const double *values = unit->matrix->values;
  for (int32_t e = 0, count = unit->column_start[unit->plan->count]; e < count; e++)
    unit->entries[e] = values[unit->gather[e]];
  owner->is_projected =
      owner->tangent && tangent_factor(owner->tangent, unit->column_start, unit->row_index, unit->entries);
  return owner->is_projected || linear_factor(owner->linear_system, unit->entries);
}

/* Factors the unit's part of the block matrix unless the owner of its factors has just these values. */
static bool factor_unit(StateSpace *space, const Unit *unit) {
  Unit *owner = &space->units[unit->plan->owner];
  if (owner->factored == unit->matrix->version) return true;
  space->factorizations++;
  bool is_regular = owner->linear_system ? factor_several(owner, unit) : factor_single(owner, unit);
  owner->factored = is_regular ? unit->matrix->version : 0;
  return is_regular;
}

static EvalStatus fail(StateSpace *space, const Unit *unit, const char *reason) {
  space->failure = (SolveFailure){unit->plan->block, reason};
  return EVAL_DOMAIN;
}

static EvalStatus fail_undefined(StateSpace *space, const Unit *unit, double t, const double *y) {
  fail(space, unit, "an equation or its derivative is not defined");
  return evaluator_fail(space->evaluator, t, y);
}

/* Residual of the unit's rows at y, counted. */
static EvalStatus unit_residual(StateSpace *space, Unit *unit, double t, const double *y, double *residual) {
  Point point = evaluator_point(space->evaluator, t, y);
  space->evaluator->row_evaluations += (uint64_t)unit->plan->count;
  return workspace_run(unit->program, &point, residual);
}

/* Takes the matrix entries of the joint program. Entries of the stage below that did not change are skipped, so that
 * its factors stay valid. */
static void take_entries(StateSpace *space, Unit *unit, const double *entries) {
  const UnitPlan *plan = unit->plan;
  int32_t skipped = plan->entries_below && !space->units[plan->below].is_moved ? plan->entries_below : 0;
  block_matrix_set_values(unit->matrix, space->evaluator, plan->first_entry + skipped, plan->entries - skipped,
                          entries + skipped);
}

/* Residual, and the matrix entries of this stage at the same point. */
static EvalStatus unit_joint(StateSpace *space, Unit *unit, double t, const double *y, double *residual) {
  if (!unit->joint) {
    bool is_defined = unit_residual(space, unit, t, y, residual) == EVAL_OK &&
                      block_matrix_run_group(unit->matrix, space->evaluator, unit->plan->stage, t, y) == EVAL_OK;
    return is_defined ? EVAL_OK : fail_undefined(space, unit, t, y);
  }
  Point point = evaluator_point(space->evaluator, t, y);
  space->evaluator->row_evaluations += (uint64_t)unit->plan->count;
  if (workspace_run(unit->joint, &point, unit->joint_values) != EVAL_OK) return fail_undefined(space, unit, t, y);
  copy_numbers(residual, unit->joint_values, (size_t)unit->plan->count);
  take_entries(space, unit, unit->joint_values + unit->plan->count);
  return EVAL_OK;
}

/* Is a column nothing but round-off? The other side of 0 may be out of the domain of a row, as of u^1.5. */
static bool is_round_off(const StateSpace *space, uint32_t column, double value) {
  return value != 0 && fabs(value) <= NEWTON_FLOOR * space->evaluator->nominal[column];
}

static bool has_round_off(const StateSpace *space, const Unit *unit, const double *y) {
  bool has = false;
  for (int32_t k = 0; k < unit->plan->count; k++) has |= is_round_off(space, unit->columns[k], y[unit->columns[k]]);
  return has;
}

static void clear_round_off(const StateSpace *space, const Unit *unit, double *y) {
  for (int32_t k = 0; k < unit->plan->count; k++)
    if (is_round_off(space, unit->columns[k], y[unit->columns[k]])) y[unit->columns[k]] = 0;
}

/* The same at a guess, which the solution before may have left out of a domain by round-off. */
static EvalStatus unit_joint_at_guess(StateSpace *space, Unit *unit, double t, double *y, double *residual) {
  EvalStatus status = unit_joint(space, unit, t, y, residual);
  if (status == EVAL_OK || !has_round_off(space, unit, y)) return status;
  clear_round_off(space, unit, y);
  return unit_joint(space, unit, t, y, residual);
}

/* Size of a correction relative to the columns it corrects. */
static double correction_norm(const StateSpace *space, const Unit *unit, const double *correction, const double *y) {
  double norm = 0;
  for (int32_t k = 0; k < unit->plan->count; k++) {
    double size = fabs(correction[k]) / (fabs(y[unit->columns[k]]) + space->evaluator->nominal[unit->columns[k]]);
    if (!(size <= norm)) norm = size;
  }
  return norm;
}

static double sum_squares(const double *values, int32_t count) {
  double sum = 0;
  for (int32_t k = 0; k < count; k++) sum += values[k] * values[k];
  return sum;
}

/* y - fraction * correction in the unit's columns, from the trial values kept. */
static void apply_correction(Unit *unit, const double *correction, double fraction, double *y) {
  for (int32_t k = 0; k < unit->plan->count; k++) y[unit->columns[k]] = unit->trial[k] - fraction * correction[k];
}

/* A residual becomes a correction by the factors that are there. */
static void solve_with_factors(const StateSpace *space, const Unit *unit, double *correction) {
  const Unit *owner = &space->units[unit->plan->owner];
  if (owner->is_projected) tangent_solve(owner->tangent, correction);
  else if (owner->linear_system) linear_solve(owner->linear_system, correction);
  else correction[0] /= owner->single;
}

/* The residual in `correction` becomes the Newton correction for the present matrix. */
static EvalStatus solve_correction(StateSpace *space, Unit *unit, double *correction) {
  if (!factor_unit(space, unit)) return fail(space, unit, "the Jacobian is singular");
  solve_with_factors(space, unit, correction);
  return EVAL_OK;
}

/* Corrects with the factors that are there, of a point nearby; *last is the size of the last correction. False: they do not serve. */
static bool correct_with_kept_factors(StateSpace *space, Unit *unit, double t, double *y, double *last) {
  const Unit *owner = &space->units[unit->plan->owner];
  double *correction = space->correction;
  for (int iteration = 0; iteration < KEPT_LIMIT; iteration++) {
    if (unit_residual(space, unit, t, y, correction) != EVAL_OK) return false;
    linear_solve(owner->linear_system, correction);
    double norm = correction_norm(space, unit, correction, y);
    if (!(norm <= KEPT_CONTRACTION * *last || norm <= NEWTON_FLOOR)) return false;
    for (int32_t k = 0; k < unit->plan->count; k++) y[unit->columns[k]] -= correction[k];
    if (norm * (isinf(*last) ? 1 : norm / *last) <= NEWTON_FLOOR) return true;
    *last = norm;
  }
  return false;
}

/* The same of a unit that keeps its factors, from the beginning. False: y is as it was. */
static bool solve_with_kept_factors(StateSpace *space, Unit *unit, double t, double *y) {
  double last = INFINITY;
  if (!space->units[unit->plan->owner].factored) return false;
  for (int32_t k = 0; k < unit->plan->count; k++) unit->values[k] = y[unit->columns[k]];
  if (correct_with_kept_factors(space, unit, t, y, &last)) return true;
  for (int32_t k = 0; k < unit->plan->count; k++) y[unit->columns[k]] = unit->values[k];
  return false;
}

static EvalStatus solve_linear(StateSpace *space, Unit *unit, double t, double *y) {
  if (unit->plan->keeps && solve_with_kept_factors(space, unit, t, y)) return EVAL_OK;
  EvalStatus status = unit_joint(space, unit, t, y, space->correction);
  if (status == EVAL_OK) status = solve_correction(space, unit, space->correction);
  if (status != EVAL_OK) return status;
  const double *correction = space->correction;
  for (int32_t k = 0, count = unit->plan->count; k < count; k++) y[unit->columns[k]] -= correction[k];
  return EVAL_OK;
}

/* Halves the step until the residual is defined and does not grow; leaves y and the residual there. */
static EvalStatus search_line(StateSpace *space, Unit *unit, double t, double *y) {
  double fraction = 1, before = sum_squares(space->residual, unit->plan->count);
  for (int halving = 0; halving < HALVING_LIMIT; halving++, fraction /= 2) {
    apply_correction(unit, space->correction, fraction, y);
    if (unit_joint(space, unit, t, y, space->residual) != EVAL_OK) continue;
    if (sum_squares(space->residual, unit->plan->count) <= before * (1 - fraction / 2) || before == 0) return EVAL_OK;
  }
  return fail(space, unit, "Newton's iteration does not converge");
}

/* Goes on by the correction: by all of it where the solution next to the guess is wanted. */
static EvalStatus correct(StateSpace *space, Unit *unit, double t, double *y) {
  if (space->goal != GOAL_NEXT) return search_line(space, unit, t, y);
  apply_correction(unit, space->correction, 1, y);
  return unit_joint(space, unit, t, y, space->residual);
}

/* Are the residuals at the trial values nothing but round-off of the terms that cancel in them? Then no correction makes them smaller. Leaves y
 * there. */
static bool is_at_round_off(StateSpace *space, Unit *unit, double t, double *y) {
  double *size = space->remainder;
  apply_correction(unit, space->correction, 0, y);
  if (unit_joint(space, unit, t, y, space->residual) != EVAL_OK) return false;
  memset(size, 0, (size_t)unit->plan->count * sizeof *size);
  for (int32_t k = 0; k < unit->plan->count; k++)
    for (int32_t e = unit->column_start[k]; e < unit->column_start[k + 1]; e++)
      size[unit->row_index[e]] += fabs(unit->matrix->values[unit->gather[e]] * y[unit->columns[k]]);
  for (int32_t k = 0; k < unit->plan->count; k++)
    if (!(fabs(space->residual[k]) <= RESIDUAL_ROUND_OFF * size[k])) return false;
  return true;
}

/* The last correction, whose size is given. It may lead out of a domain by round-off. */
static EvalStatus finish_newton(StateSpace *space, Unit *unit, const double *correction, double norm, double t,
                                double *y) {
  apply_correction(unit, correction, 1, y);
  if (has_round_off(space, unit, y) && unit_residual(space, unit, t, y, space->remainder) != EVAL_OK)
    clear_round_off(space, unit, y);
  unit->is_moved = norm > NEWTON_FLOOR;
  return EVAL_OK;
}

/* The first correction has new factors. Where it is small and no later stage needs the matrix, they serve for the next ones, too. */
static bool goes_on_with_factors(const StateSpace *space, const Unit *unit, double norm) {
  const Unit *owner = &space->units[unit->plan->owner];
  return space->goal == GOAL_NEXT && unit->plan->joint && unit->plan->stage == 0 && owner->linear_system &&
         !owner->is_projected && norm <= KEPT_CONTRACTION;
}

/* Is y at most a short way from the guess, which is in unit->values? */
static bool is_short_way(const StateSpace *space, const Unit *unit, const double *y) {
  double *way = space->remainder;
  for (int32_t k = 0; k < unit->plan->count; k++) way[k] = y[unit->columns[k]] - unit->values[k];
  return correction_norm(space, unit, way, y) <= NEWTON_SHORT;
}

static EvalStatus iterate_newton(StateSpace *space, Unit *unit, double t, double *y) {
  EvalStatus status = unit_joint_at_guess(space, unit, t, y, space->residual);
  if (status != EVAL_OK) return status;
  double last = 0;
  unit->is_moved = false;
  for (int iteration = 0; iteration < NEWTON_LIMIT; iteration++) {
    copy_numbers(space->correction, space->residual, (size_t)unit->plan->count);
    status = solve_correction(space, unit, space->correction);
    if (status != EVAL_OK) return status;
    for (int32_t k = 0; k < unit->plan->count; k++) unit->trial[k] = y[unit->columns[k]];
    double norm = correction_norm(space, unit, space->correction, y);
    if (!isfinite(norm)) return fail(space, unit, "the Jacobian is singular");
    bool quadratic = norm <= space->quadratic && (last == 0 || norm <= 0.1 * last);
    if (norm <= NEWTON_FLOOR || quadratic) return finish_newton(space, unit, space->correction, norm, t, y);
    if (norm < 1e-12 && last > 0 && norm > 0.1 * last) return EVAL_OK; /* round-off of the residual */
    if (space->goal == GOAL_NEXT && last > 0 && norm > NEWTON_CONTRACTION * last) break;
    last = norm;
    if (goes_on_with_factors(space, unit, norm)) {
      apply_correction(unit, space->correction, 1, y);
      if (correct_with_kept_factors(space, unit, t, y, &last)) return EVAL_OK;
      status = unit_joint(space, unit, t, y, space->residual);
    } else {
      status = correct(space, unit, t, y);
    }
    if (status != EVAL_OK) return is_at_round_off(space, unit, t, y) ? EVAL_OK : status;
    if (space->goal == GOAL_SHORT && !is_short_way(space, unit, y))
      return fail(space, unit, "other solutions are near");
  }
  if (is_at_round_off(space, unit, t, y)) return EVAL_OK;
  return fail(space, unit, "Newton's iteration does not converge");
}

/* Has a column become so large that its round-off is as large as its earlier value and its nominal value? There
 * every residual is round-off, like that of a sine, and any iteration would converge. */
static bool ran_away(const StateSpace *space, const Unit *unit, const double *y) {
  for (int32_t k = 0; k < unit->plan->count; k++) {
    double size = fabs(unit->values[k]) + space->evaluator->nominal[unit->columns[k]];
    if (!(fabs(y[unit->columns[k]]) <= size / DBL_EPSILON)) return true;
  }
  return false;
}

/* The size of `correction` over a part of the first one, relative to that. */
static double departure(const StateSpace *space, const Unit *unit, const double *y, double *correction, double part) {
  for (int32_t k = 0; k < unit->plan->count; k++) correction[k] -= part * space->first[k];
  return correction_norm(space, unit, correction, y) / correction_norm(space, unit, space->first, y);
}

/* The first correction, by the factors that are there or by those of the guess. */
static EvalStatus correct_first(StateSpace *space, Unit *unit, double t, double *y, bool is_kept, double *correction) {
  EvalStatus status =
      is_kept ? unit_residual(space, unit, t, y, correction) : unit_joint_at_guess(space, unit, t, y, correction);
  if (status == EVAL_OK && is_kept) solve_with_factors(space, unit, correction);
  else if (status == EVAL_OK) status = solve_correction(space, unit, correction);
  for (int32_t k = 0; k < unit->plan->count; k++) unit->values[k] = unit->trial[k] = y[unit->columns[k]];
  return status;
}

/* Goes half of the first correction. Is what is left to correct the other half? */
static bool goes_straight(StateSpace *space, Unit *unit, double t, double *y) {
  apply_correction(unit, space->first, 0.5, y);
  if (unit_residual(space, unit, t, y, space->remainder) != EVAL_OK) return false;
  solve_with_factors(space, unit, space->remainder);
  return departure(space, unit, y, space->remainder, 0.5) <= NEWTON_STRAIGHT;
}

/* Is the solution, y, where the first correction led? */
static bool is_next(const StateSpace *space, const Unit *unit, const double *y) {
  for (int32_t k = 0; k < unit->plan->count; k++) space->remainder[k] = unit->values[k] - y[unit->columns[k]];
  return departure(space, unit, y, space->remainder, 1) <= NEWTON_AWAY;
}

/* As solve_next, with the factors of a point before. */
static bool follow_with_kept_factors(StateSpace *space, Unit *unit, double t, double *y) {
  if (correct_first(space, unit, t, y, true, space->first) != EVAL_OK) return false;
  double last = correction_norm(space, unit, space->first, y);
  if (last > NEWTON_FLOOR && !goes_straight(space, unit, t, y)) return false;
  apply_correction(unit, space->first, 1, y);
  return last <= NEWTON_FLOOR || (correct_with_kept_factors(space, unit, t, y, &last) && is_next(space, unit, y));
}

/* The same. False: they do not serve, and y is as it was. */
static bool solve_next_with_kept_factors(StateSpace *space, Unit *unit, double t, double *y) {
  if (!space->units[unit->plan->owner].factored) return false;
  if (follow_with_kept_factors(space, unit, t, y)) return true;
  for (int32_t k = 0; k < unit->plan->count; k++) y[unit->columns[k]] = unit->values[k];
  return false;
}

/* A unit that is solved at a point. */
typedef struct Solution {
  StateSpace *space;
  Unit *unit;
  double t, *y;
} Solution;

static void set_unit(const Solution *solution, const double *x) {
  for (int32_t k = 0; k < solution->unit->plan->count; k++) solution->y[solution->unit->columns[k]] = x[k];
}

static bool evaluate_rows(void *context, const double *x, double *r) {
  const Solution *solution = context;
  set_unit(solution, x);
  return unit_residual(solution->space, solution->unit, solution->t, solution->y, r) == EVAL_OK;
}

static bool evaluate_entries(void *context, const double *x, double *entries) {
  const Solution *solution = context;
  Unit *unit = solution->unit;
  set_unit(solution, x);
  if (unit_joint(solution->space, unit, solution->t, solution->y, solution->space->residual) != EVAL_OK) return false;
  for (int32_t e = 0; e < unit->column_start[unit->plan->count]; e++)
    entries[e] = unit->matrix->values[unit->gather[e]];
  return true;
}

/* A solution by the one solver, from the guess in unit->values. */
static bool solve_far(StateSpace *space, Unit *unit, double t, double *y) {
  void *ticket = NULL;
  Heap *heap = heap_within(space->heap, &ticket);
  Solution solution = {.space = space, .unit = unit, .t = t, .y = y};
  size_t n = (size_t)unit->plan->count;
  double *nominal, *x;
  heap_numbers(heap, n, &nominal, &x);
  for (size_t k = 0; k < n; k++) nominal[k] = space->evaluator->nominal[unit->columns[k]];
  copy_numbers(x, unit->values, n);
  NonlinearProblem problem = {.context = &solution,
                              .rows = unit->plan->count,
                              .columns = unit->plan->count,
                              .column_start = unit->column_start,
                              .row_index = unit->row_index,
                              .nominal = nominal,
                              .residual = evaluate_rows,
                              .jacobian = evaluate_entries,
                              .by_corrections = true};
  NonlinearResult result = nonlinear_solve(nonlinear_new(heap, &problem), x);
  set_unit(&solution, x);
  unit->is_moved = true;
  heap_release(space->heap, ticket);
  return result.solved;
}

/* A solution from a guess that is far off, where the residual may have to grow first. */
static EvalStatus solve_any(StateSpace *space, Unit *unit, double t, double *y) {
  for (int32_t k = 0; k < unit->plan->count; k++) unit->values[k] = y[unit->columns[k]];
  EvalStatus status = iterate_newton(space, unit, t, y);
  if (status == EVAL_OK && !ran_away(space, unit, y)) return status;
  if (solve_far(space, unit, t, y) && !ran_away(space, unit, y)) return EVAL_OK;
  return status == EVAL_OK ? fail(space, unit, "Newton's iteration does not converge") : status;
}

/* The sign of the determinant at a part of the way from the guess to the solution, in space->first; 0: it is not known. Leaves y there. */
static int sign_on_way(StateSpace *space, Unit *unit, double t, double part, double *y) {
  double logarithm = 0;
  for (int32_t k = 0; k < unit->plan->count; k++)
    y[unit->columns[k]] = part * space->first[k] + (1 - part) * unit->values[k];
  if (unit_joint(space, unit, t, y, space->residual) != EVAL_OK || !factor_unit(space, unit)) return 0;
  const Unit *owner = &space->units[unit->plan->owner];
  if (owner->is_projected) return 0;
  double sign = owner->linear_system ? linear_determinant(owner->linear_system, &logarithm) : owner->single;
  return (sign > 0) - (sign < 0);
}

/* The solution next to a guess from which Newton's method does not reach it directly, because the branch is so steep
 * that the matrix changes within round-off of the time, as in a switching inverter. If the determinant keeps its
 * sign on the short way, no other solution lies between. */
static EvalStatus solve_steep(StateSpace *space, Unit *unit, double t, double *y) {
  for (int32_t k = 0; k < unit->plan->count; k++) y[unit->columns[k]] = unit->values[k];
  space->goal = GOAL_SHORT;
  EvalStatus status = iterate_newton(space, unit, t, y);
  space->goal = GOAL_NEXT;
  if (status != EVAL_OK) return status;
  for (int32_t k = 0; k < unit->plan->count; k++) space->first[k] = y[unit->columns[k]];
  int sign = is_short_way(space, unit, y) ? sign_on_way(space, unit, t, 0, y) : 0, others = 0;
  for (int k = 1; k <= 4 && sign; k++) others += sign_on_way(space, unit, t, k / 4.0, y) != sign;
  unit->is_moved = false;
  return sign && !others ? EVAL_OK : fail(space, unit, "other solutions are near");
}

/* The solution next to the guess, if it is certain to be that one. The end of the first correction does not prove
 * it, because another solution may lie there. */
static EvalStatus solve_next(StateSpace *space, Unit *unit, double t, double *y) {
  if (unit->plan->keeps && solve_next_with_kept_factors(space, unit, t, y)) return EVAL_OK;
  EvalStatus status = correct_first(space, unit, t, y, false, space->first);
  if (status != EVAL_OK) return status;
  double norm = correction_norm(space, unit, space->first, y);
  if (norm <= space->quadratic) return finish_newton(space, unit, space->first, norm, t, y);
  bool is_straight = goes_straight(space, unit, t, y);
  if (is_straight && iterate_newton(space, unit, t, y) == EVAL_OK && is_next(space, unit, y)) return EVAL_OK;
  return solve_steep(space, unit, t, y);
}

/* One correction, by the factors of a solution nearby. */
static EvalStatus correct_once(StateSpace *space, Unit *unit, double t, double *y) {
  bool is_kept = space->units[unit->plan->owner].factored;
  EvalStatus status = correct_first(space, unit, t, y, is_kept, space->first);
  if (status == EVAL_OK) apply_correction(unit, space->first, 1, y);
  return status;
}

static EvalStatus solve_newton(StateSpace *space, Unit *unit, double t, double *y) {
  if (unit->plan->keeps && solve_with_kept_factors(space, unit, t, y)) return EVAL_OK;
  if (space->goal != GOAL_NEXT) return solve_any(space, unit, t, y);
  for (int32_t k = 0; k < unit->plan->count; k++) unit->values[k] = y[unit->columns[k]];
  EvalStatus status = iterate_newton(space, unit, t, y);
  return status == EVAL_OK ? status : solve_steep(space, unit, t, y);
}

static EvalStatus run_explicit(StateSpace *space, Unit *unit, double t, double *y) {
  Point point = evaluator_point(space->evaluator, t, y);
  space->evaluator->row_evaluations += (uint64_t)unit->plan->count;
  if (workspace_run(unit->program, &point, unit->values) != EVAL_OK) return fail_undefined(space, unit, t, y);
  for (int32_t k = 0; k < unit->plan->count; k++) y[unit->columns[k]] = unit->values[k];
  return EVAL_OK;
}

static EvalStatus solve_units(StateSpace *space, uint32_t count, double t, double *y) {
  for (uint32_t u = 0; u < count; u++) {
    Unit *unit = &space->units[u];
    EvalStatus status = unit->plan->kind == UNIT_EXPLICIT ? run_explicit(space, unit, t, y)
                        : unit->plan->linear              ? solve_linear(space, unit, t, y)
                                                          : solve_newton(space, unit, t, y);
    if (status != EVAL_OK) return status;
  }
  return EVAL_OK;
}

EvalStatus statespace_complete(StateSpace *space, double t, double *y) {
  space->goal = GOAL_ANY;
  space->quadratic = NEWTON_QUADRATIC;
  return solve_units(space, space->plan->units.count, t, y);
}

EvalStatus statespace_follow(StateSpace *space, double t, double *y) {
  space->goal = GOAL_NEXT;
  space->quadratic = NEWTON_QUADRATIC;
  return solve_units(space, space->plan->units.count, t, y);
}

EvalStatus statespace_branch(StateSpace *space, double t, double *y, bool is_little) {
  space->goal = GOAL_NEXT;
  space->quadratic = NEWTON_QUADRATIC_INSIDE;
  for (uint32_t u = 0; u < space->plan->branched; u++) {
    Unit *unit = &space->units[u];
    EvalStatus status = EVAL_OK;
    if (unit->plan->kind == UNIT_EXPLICIT) status = run_explicit(space, unit, t, y);
    else if (unit->plan->linear) status = solve_linear(space, unit, t, y);
    else if (space->plan->loose[unit->plan->block])
      status = is_little ? correct_once(space, unit, t, y) : solve_next(space, unit, t, y);
    if (status != EVAL_OK) return status;
  }
  return EVAL_OK;
}

EvalStatus statespace_rates(StateSpace *space, double t, double *y) {
  space->goal = GOAL_NEXT;
  space->quadratic = NEWTON_QUADRATIC_INSIDE;
  return solve_units(space, space->plan->serving, t, y);
}

SolveFailure statespace_failure(const StateSpace *space) { return space->failure; }
uint64_t statespace_factorizations(const StateSpace *space) { return space->factorizations; }

bool state_plan_is_direct(const StatePlan *plan) {
  for (uint32_t u = 0; u < plan->units.count; u++)
    if (plan->units.data[u].kind != UNIT_EXPLICIT && !plan->units.data[u].linear) return false;
  return true;
}
