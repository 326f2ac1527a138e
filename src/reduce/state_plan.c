/* state_plan: see state_plan.h. */
#include "reduce/state_plan.h"

#include <math.h>
#include <string.h>

/* The most columns of one program of assignments: the FUSE_PART-th part of all columns, within these limits. In large systems the
 * equations of an array then have templates. A condition that depends on some columns needs only their programs. */
enum { FUSE_LEAST = 128, FUSE_MOST = 1024, FUSE_PART = 16 };

/* The most equations of a block that becomes assignments: larger ones are solved with sparse factors. */
enum { EXPLICIT_LIMIT = 8 };

/* From this many entries on, the factors of a matrix are kept for later points. Factoring smaller matrices takes less time than
 * more corrections. */
enum { KEPT_ENTRIES = 400 };

/* ---- motion under constraints ---- */

/* The most equations of such a system: its matrices are dense. */
enum { LARGEST_MOTION = 64 };

static int32_t *index_list(Heap *heap, int32_t count) { return heap_array(heap, (size_t)count, sizeof(int32_t)); }

/* The coordinate or constraint that an unknown of the model belongs to; -1 if it is neither. */
static int32_t position(const uint32_t *list, uint32_t count, uint32_t unknown) {
  for (uint32_t i = 0; i < count; i++)
    if (list[i] == unknown) return (int32_t)i;
  return -1;
}

const TangentPlan *tangent_plan(const Problem *problem, const int32_t *equation, const int32_t *unknown, int32_t count,
                                Heap *heap) {
  const MassForm *mass = problem->model->mass;
  if (!mass || count < 2 || count > LARGEST_MOTION) return NULL;
  int32_t all = (int32_t)(mass->coordinates + mass->constraints);
  /* Per coordinate, then per constraint; from 1. */
  int32_t *row = index_list(heap, all), *column = index_list(heap, all);
  for (int32_t k = 0; k < count; k++) {
    uint32_t e = problem->equation[equation[k]] - mass->first, u = problem->unknown[unknown[k]];
    int32_t coordinate = position(mass->coordinate, mass->coordinates, u);
    int32_t multiplier = position(mass->multiplier, mass->constraints, u);
    if (e >= (uint32_t)all || (coordinate < 0 && multiplier < 0)) return NULL;
    row[e] = k + 1;
    column[coordinate >= 0 ? coordinate : (int32_t)mass->coordinates + multiplier] = k + 1;
  }
  int32_t *motion = index_list(heap, count), *acceleration = index_list(heap, count), *role = index_list(heap, count);
  int32_t *constraint = index_list(heap, count), *multiplier = index_list(heap, count);
  TangentPlan *plan = heap_alloc(heap, sizeof *plan);
  *plan = (TangentPlan){0, 0, motion, acceleration, constraint, multiplier, role, &tangent_methods};
  for (int32_t k = 0; k < all; k++) {
    bool is_coordinate = k < (int32_t)mass->coordinates;
    if (!row[k] != !column[k]) return NULL;
    if (!row[k]) continue;
    int32_t at = is_coordinate ? plan->coordinates++ : plan->constraints++;
    (is_coordinate ? motion : constraint)[at] = row[k] - 1;
    role[row[k] - 1] = is_coordinate ? at : -1 - at;
    (is_coordinate ? acceleration : multiplier)[at] = column[k] - 1;
  }
  return plan->constraints <= plan->coordinates ? plan : NULL;
}

/* ---- units ---- */

static int32_t unit_row(const StatePlan *plan, const BlockShape *shape, int32_t stage, int32_t p) {
  int32_t i = shape->equation[p];
  return (int32_t)plan->code->array->row_start[i] + plan->structure->c[i] - stage;
}

/* Pending explicit assignments: column leaf and value, joined into one program by substitution. */
typedef struct Fusion {
  DagSubstitution given; /* leaves by values */
  ExprVec values;
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
  fusion->values.count = fusion->columns.count = 0;
  dag_substitution_clear(&fusion->given);
}

/* The assignments of an explicitly solved block: columns as leaves of the graph, in order, and their values. */
typedef struct Assignments {
  ExprVec leaves, values;
  ExprVec rows, columns; /* workspace: the remaining part of the block */
  uint32_t written;      /* this many rows at the beginning are unchanged */
  Expr *idle;            /* per block: the value of its column, if find_idle has solved it; else EXPR_NONE */
} Assignments;

static void free_assignments(Heap *heap, Assignments *assignments) {
  vec_free(heap, &assignments->leaves, &assignments->values, &assignments->rows, &assignments->columns);
  heap_free(heap, assignments->idle);
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

/* Merges two rows into one, which is placed after the others. */
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

/* Eliminates a column that two rows contain with factors 1 or -1: the multiplier is 1 or -1, so no pivot is too small. A row as
 * written gives the column in preference to a merged one; of two such rows, it is the one with fewer variables, because small
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

/* Is the factor of a column constant during a run, and not identically zero? */
static bool is_fixed(const Dag *dag, Expr slope) {
  double number = 1;
  dag_is_constant(dag, slope, &number);
  return number != 0 && !dag_depends(dag, slope, OP_VARIABLE) && !dag_depends(dag, slope, OP_TIME) &&
         !dag_depends(dag, slope, OP_DISCRETE) && !dag_depends(dag, slope, OP_PRE);
}

/* The columns that a block gives linearly at this stage, and their values in reverse order. The block has one equation, or
 * is not differentiated and can be reduced to one equation by elimination with factors 1 and -1. false: neither holds. */
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
  if (stage == 0 && found->idle[block] != EXPR_NONE) {
    assign(plan->heap, found, found->columns.data[0], found->idle[block]);
    return true;
  }
  Expr value = is_single ? dag_isolate(dag, found->rows.data[0], found->columns.data[0]) : EXPR_NONE;
  if (value != EXPR_NONE) {
    assign(plan->heap, found, found->columns.data[0], value);
    return true;
  }
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
  const Array *array = plan->code->array;
  uint32_t part = array->columns / FUSE_PART, most = part < FUSE_LEAST  ? FUSE_LEAST
                                                     : part > FUSE_MOST ? FUSE_MOST
                                                                        : part;
  if (!solve_explicitly(plan, block, stage, found)) return false;
  for (uint32_t k = found->leaves.count; k-- > 0;) {
    Expr value = dag_substitution_of(&fusion->given, found->values.data[k]), leaf = found->leaves.data[k];
    if (!fusion->columns.count) fusion->block = block;
    dag_substitution_add(&fusion->given, leaf, value);
    vec_push(plan->heap, &fusion->values, value);
    vec_push(plan->heap, &fusion->columns, (uint32_t)array_column(array, leaf));
    if (fusion->columns.count >= most) flush_fusion(plan, fusion);
  }
  return true;
}

/* The matrix entries that the joint program of a unit evaluates. These are the entries of its stage that are not constant, and
 * the entries that the last correction of a nonlinear unit at a lower stage has changed. So no separate program is needed for
 * these. */
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

/* Removes from the set the blocks of algebraic columns whose values the rows of this block use. Algebraic columns occur only in
 * rows that are not differentiated. */
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

/* Removes from a set the blocks that blocks outside of the set use. */
static void keep_unused(const StatePlan *plan, bool *set) {
  ExprVec leaves = {0};
  if (!memchr(set, true, (size_t)plan->structure->blocks.n_blocks)) return;
  for (int32_t b = plan->structure->blocks.n_blocks - 1; b >= 0; b--)
    if (!set[b]) mark_used(plan, b, &leaves, set);
  vec_free(plan->heap, &leaves);
}

static bool is_algebraic(const Structure *structure, int32_t block) {
  for (int32_t p = structure->blocks.start[block]; p < structure->blocks.start[block + 1]; p++)
    if (structure->d[structure->blocks.column[p]] > 0) return false;
  return true;
}

/* A block is idle if it gives an algebraic column explicitly and only idle blocks use it. */
static void find_idle(StatePlan *plan, Assignments *found) {
  const Blocks *blocks = &plan->structure->blocks;
  plan->idle = heap_array(plan->heap, (size_t)blocks->n_blocks, sizeof(bool));
  found->idle = heap_array(plan->heap, (size_t)blocks->n_blocks, sizeof *found->idle);
  memset(found->idle, 0xff, (size_t)blocks->n_blocks * sizeof *found->idle);
  for (int32_t b = 0; b < blocks->n_blocks; b++) {
    plan->idle[b] = blocks->start[b + 1] - blocks->start[b] == 1 &&
                    plan->structure->d[blocks->column[blocks->start[b]]] == 0 && solve_explicitly(plan, b, 0, found);
    if (plan->idle[b]) found->idle[b] = found->values.data[0];
  }
  keep_unused(plan, plan->idle);
}

/* A block is loose if its columns are algebraic and only loose blocks use it. Without states, all blocks are loose. */
static void find_loose(StatePlan *plan) {
  const Structure *structure = plan->structure;
  int64_t states = 0;
  plan->loose = heap_array(plan->heap, (size_t)structure->blocks.n_blocks, sizeof(bool));
  for (uint32_t j = 0; j < plan->code->array->problem->unknowns; j++) states += structure->d[j];
  for (uint32_t i = 0; i < plan->code->array->problem->unknowns; i++) states -= structure->c[i];
  for (int32_t b = 0; b < structure->blocks.n_blocks; b++) plan->loose[b] = states == 0 || is_algebraic(structure, b);
  keep_unused(plan, plan->loose);
}

/* Nonlinear units need a guess for the columns that they solve. */
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

/* Algebraic columns that equations give explicitly, from the last block to the first: a block reads only those before it. */
static void find_followers(StatePlan *plan, const Assignments *found) {
  const Array *array = plan->code->array;
  const Structure *structure = plan->structure;
  plan->follower = heap_array(plan->heap, array->columns, sizeof *plan->follower);
  plan->given_by = heap_array(plan->heap, array->rows, sizeof *plan->given_by);
  memset(plan->given_by, 0xff, array->rows * sizeof *plan->given_by);
  for (int32_t b = structure->blocks.n_blocks - 1; b >= 0; b--) {
    int32_t begin = structure->blocks.start[b], i = structure->blocks.row[begin], j = structure->blocks.column[begin];
    if (found->idle[b] == EXPR_NONE) continue;
    plan->follower[plan->followers++] = plan->given_by[array->row_start[i]] = (int32_t)array->column_start[j];
  }
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
  Fusion fusion = {.given = dag_substitution_make(code->array->dag)};
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
  find_followers(plan, &found);
  vec_free(heap, &fusion.values, &fusion.columns);
  dag_substitution_free(&fusion.given);
  free_assignments(heap, &found);
  heap_free_all(heap, largest, place, last);
  return plan;
}

StateSpace *state_plan_space(Heap *heap, Evaluator *evaluator, const StatePlan *plan) {
  const Array *array = plan->code->array;
  UnitsPlan units = {.count = plan->units.count,
                     .serving = plan->serving,
                     .branched = plan->branched,
                     .unit = plan->units.data,
                     .loose = plan->loose,
                     .unknowns = array->problem->unknowns,
                     .d = plan->structure->d,
                     .column_start = array->column_start};
  RowsHost host = evaluator_host(evaluator);
  return statespace_new(heap, &units, &host);
}

bool state_plan_is_direct(const StatePlan *plan) {
  for (uint32_t u = 0; u < plan->units.count; u++)
    if (plan->units.data[u].kind != UNIT_EXPLICIT && !plan->units.data[u].linear) return false;
  return true;
}
