/* inverse: see inverse.h. */
#include "array/inverse.h"

/* Does the structure solve the equation alone for the unknown itself, not for a derivative? */
static bool solves_alone(const Structure *structure, int32_t i, int32_t j) {
  const Blocks *blocks = &structure->blocks;
  int32_t b = blocks->block_of_row[i];
  return blocks->start[b + 1] == blocks->start[b] + 1 && structure->matching.column_of_row[i] == j &&
         structure->d[j] == structure->c[i];
}

/* Can the residual be evaluated along the run, without what events and delays remember? */
static bool is_plain(Dag *dag, Expr e) {
  static const Op remembered[] = {OP_DELAY, OP_TRANSPORT, OP_LEFT, OP_EDGE, OP_CHANGE};
  for (size_t k = 0; k < sizeof remembered / sizeof *remembered; k++)
    if (dag_contains(dag, dag_scratch(dag), e, remembered[k])) return false;
  return !dag_depends(dag, e, OP_PRE);
}

/* Does the value contain only unknowns of the equation, and not the unknown itself? */
static bool fits(const Problem *problem, uint32_t i, Expr unknown, Expr value) {
  const Incidence *incidence = &problem->incidence;
  Dag *dag = problem->model->dag;
  ExprVec leaves = {0};
  bool found = true;
  dag_variables(dag, dag_scratch(dag), value, &leaves);
  for (uint32_t k = 0; k < leaves.count && found; k++) {
    int32_t j = (int32_t)problem->local[dag_index(dag, leaves.data[k])], e = incidence->row_start[i];
    while (e < incidence->row_start[i + 1] && incidence->column[e] != j) e++;
    found = leaves.data[k] != unknown && e < incidence->row_start[i + 1];
  }
  vec_free(dag_heap(dag), &leaves);
  return found;
}

/* The equation of the problem; MAP_NONE: it was eliminated. Ascending. */
static uint32_t find_equation(const Problem *problem, uint32_t equation) {
  uint32_t low = 0, high = problem->equations;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (problem->equation[middle] < equation) low = middle + 1;
    else high = middle;
  }
  return low < problem->equations && problem->equation[low] == equation ? low : MAP_NONE;
}

void inverse_replace(Problem *problem, Expr (*put_aliases)(const void *problem, Expr e), Arena *arena) {
  const Model *model = problem->model;
  Dag *dag = model->dag;
  Arena scratch = arena_make(arena->heap);
  Structure structure = structure_run(&scratch, &problem->incidence);
  problem->replaced = arena_array(arena, model->inversions.count, sizeof *problem->replaced);
  for (uint32_t k = 0; k < model->inversions.count && structure.status == STRUCTURE_OK; k++) {
    const Inversion *inversion = &model->inversions.data[k];
    uint32_t i = find_equation(problem, inversion->equation);
    if (i == MAP_NONE) continue;
    Expr unknown = put_aliases(problem, inversion->unknown), value = put_aliases(problem, inversion->value);
    Expr residual = dag_subtract(dag, unknown, value);
    ExprVec leaf = {0};
    dag_variables(dag, dag_scratch(dag), unknown, &leaf);
    if (leaf.count == 1 && is_plain(dag, problem->residual[i]) &&
        solves_alone(&structure, (int32_t)i, (int32_t)problem->local[dag_index(dag, leaf.data[0])]) &&
        fits(problem, i, leaf.data[0], value)) {
      problem->replaced[problem->replaced_count++] = (Replaced){i, dag_unary(dag, OP_NOEVENT, problem->residual[i])};
      problem->residual[i] = residual;
    }
    vec_free(dag_heap(dag), &leaf);
  }
  arena_free(&scratch);
}
