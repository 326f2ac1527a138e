/* reduction: see reduction.h. */
#include "reduce/reduction.h"

#include "code/switches.h"

#include <math.h>
#include <string.h>

/* The finest tolerance that is requested from an integrator because of hidden variables. */
static const double FINEST = 1e-12;

/* ---- forms ---- */

void form_begin(Reduction *reduction) {
  uint32_t columns = reduction->array->columns;
  reduction->form = (Form){.tie = arena_array(reduction->arena, columns, sizeof(uint8_t)),
                           .fixed = arena_array(reduction->arena, columns, sizeof(bool))};
}

void form_add(Reduction *reduction, uint32_t equation, int32_t level) {
  double *weight = arena_array(reduction->arena, (size_t)reduction->array->c[equation] + 1, sizeof *weight);
  weight[level] = 1;
  vec_push(reduction->heap, &reduction->form.rows, (FormRow){equation, weight, EXPR_NONE});
}

/* Marks the columns whose start values determine the solution: the states of the chosen dummies. */
static void fix_states(Reduction *reduction) {
  const int32_t *from, *to;
  uint32_t links = dummy_links(reduction->at.dummy, &from, &to);
  for (uint32_t k = 0; k < links; k++) reduction->form.fixed[from[k]] = true;
}

void form_use_dummies(Reduction *reduction) {
  const Array *array = reduction->array;
  form_begin(reduction);
  vec_reserve(reduction->heap, &reduction->form.rows, array->rows);
  for (uint32_t i = 0; i < array->problem->equations; i++)
    for (int32_t l = 0; l <= array->c[i]; l++) form_add(reduction, i, l);
  fix_states(reduction);
  for (uint32_t q = 0; q < array->columns; q++)
    reduction->form.tie[q] = reduction->form.fixed[q] ? TIE_DERIVATIVE : TIE_NONE;
}

/* Mattsson, Söderlind 1991, section 3, "Removing superfluous differentiations". */
void form_remove_superfluous(Reduction *reduction) {
  const Array *array = reduction->array;
  const Structure *structure = reduction->structure;
  Form *form = &reduction->form;
  uint32_t kept = 0;
  for (uint32_t j = 0; j < array->problem->unknowns; j++)
    if (array->d[j] > 0 && structure->superfluous_block[structure->blocks.block_of_column[j]])
      form->tie[array->column_start[j] + (uint32_t)array->d[j] - 1] = TIE_DERIVATIVE;
  for (uint32_t r = 0; r < form->rows.count; r++) {
    uint32_t i = form->rows.data[r].equation;
    bool last = form->rows.data[r].weight[array->c[i]] != 0;
    if (!(last && structure->superfluous[i])) form->rows.data[kept++] = form->rows.data[r];
  }
  reduction->counts.removed = form->rows.count - kept;
  form->rows.count = kept;
}

static bool is_last(const Array *array, uint32_t q) {
  return (int32_t)array_order(array, q) == array->d[array->column_unknown[q]];
}

void form_use_highest_rows(Reduction *reduction) {
  const Array *array = reduction->array;
  form_begin(reduction);
  for (uint32_t i = 0; i < array->problem->equations; i++) form_add(reduction, i, array->c[i]);
  for (uint32_t q = 0; q < array->columns; q++) {
    reduction->form.tie[q] = is_last(array, q) ? TIE_NONE : TIE_DERIVATIVE;
    reduction->form.fixed[q] = !is_last(array, q);
  }
}

/* If a row has a multiplier, the columns at the row's own stage have that multiplier in their ties. */
static void tie_columns(Reduction *reduction) {
  Array *array = reduction->array;
  Form *form = &reduction->form;
  for (uint32_t q = 0; q < array->columns; q++) {
    int32_t stage = (int32_t)array_order(array, q) - array->d[array->column_unknown[q]];
    form->tie[q] = (uint8_t)(stage < 0 ? TIE_DERIVATIVE : TIE_NONE);
  }
  ExprVec leaves = {0};
  for (uint32_t m = 0; m < form->multipliers.count; m++) {
    const Multiplier *multiplier = &form->multipliers.data[m];
    leaves.count = 0;
    dag_variables(array->dag, dag_scratch(array->dag),
                  array_row(array, array->row_start[multiplier->equation] + multiplier->level), &leaves);
    for (uint32_t k = 0; k < leaves.count; k++) {
      uint32_t q = array_column(array, leaves.data[k]);
      int32_t stage = (int32_t)array_order(array, q) - array->d[array->column_unknown[q]];
      if (stage == (int32_t)multiplier->level - array->c[multiplier->equation]) form->tie[q] = TIE_MULTIPLIED;
    }
  }
  vec_free(reduction->heap, &leaves);
}

void form_use_levels(Reduction *reduction, int32_t without) {
  const Array *array = reduction->array;
  form_use_dummies(reduction); /* for the start values that may be fixed */
  Form *form = &reduction->form;
  form->rows.count = 0;
  for (uint32_t i = 0; i < array->problem->equations; i++) {
    int32_t highest = array->c[i] ? array->c[i] - without : 0;
    for (int32_t l = 0; l <= highest; l++) form_add(reduction, i, l);
    for (int32_t l = 0; l < highest; l++) vec_push(reduction->heap, &form->multipliers, (Multiplier){i, (uint32_t)l});
  }
  tie_columns(reduction);
}

Expr form_residual(Reduction *reduction, const FormRow *row) {
  Array *array = reduction->array;
  if (row->residual != EXPR_NONE) return row->residual;
  uint32_t levels = (uint32_t)array->c[row->equation] + 1;
  Term *terms = arena_array(reduction->arena, levels, sizeof *terms);
  uint32_t count = 0;
  for (uint32_t l = 0; l < levels; l++)
    if (row->weight[l] != 0)
      terms[count++] = (Term){row->weight[l], array_row(array, array->row_start[row->equation] + l)};
  return dag_sum(array->dag, 0, terms, count);
}

uint32_t form_first_order(const Reduction *reduction, const Form *form) {
  const Array *array = reduction->array;
  uint32_t count = form->rows.count;
  for (uint32_t q = 0; q < array->columns; q++)
    if (form->tie[q] == TIE_MULTIPLIED || (form->tie[q] == TIE_DERIVATIVE && form->tie[q + 1] != TIE_NONE)) count++;
  return count;
}

void reduction_mark_multipliers(const Reduction *reduction, const bool *constrains, bool *marked) {
  const Blocks *blocks = &reduction->structure->blocks;
  for (int32_t b = 0; b < blocks->n_blocks; b++) {
    bool any = false;
    for (int32_t p = blocks->start[b]; p < blocks->start[b + 1]; p++) any = any || constrains[blocks->row[p]];
    for (int32_t p = blocks->start[b]; p < blocks->start[b + 1]; p++)
      marked[blocks->column[p]] = any && reduction->array->d[blocks->column[p]] == 0;
  }
}

int32_t reduction_depth(const Reduction *reduction) {
  int32_t deepest = 0;
  for (uint32_t i = 0; i < reduction->array->problem->equations; i++)
    if (reduction->array->c[i] > deepest) deepest = reduction->array->c[i];
  return deepest;
}

/* ---- values ---- */

static double leaf_value(void *context, const Dag *dag, Expr leaf) {
  const Reduction *reduction = context;
  switch (dag_op(dag, leaf)) {
  case OP_TIME: return reduction->time;
  case OP_PARAMETER: return reduction->at.evaluator->parameters[dag_index(dag, leaf)];
  case OP_VARIABLE: return reduction->at.y[array_column(reduction->array, leaf)];
  case OP_DISCRETE: return reduction->at.evaluator->discretes[dag_index(dag, leaf)];
  case OP_PRE: return reduction->at.evaluator->pre[dag_index(dag, leaf)];
  default: return 0;
  }
}

double reduction_value(const Reduction *reduction, Expr e) {
  Dag *dag = reduction->array->dag;
  double value;
  Reduction at = *reduction;
  return dag_evaluate(dag, dag_scratch(dag), e, leaf_value, &at, &value, NULL) ? value : NAN;
}

/* ---- systems ---- */

static void map_columns(Reduction *reduction) {
  const Array *array = reduction->array, *here = reduction->reduced.array;
  Reduced *reduced = &reduction->reduced;
  reduced->source = arena_array(reduction->arena, array->columns, sizeof *reduced->source);
  reduced->sign = arena_array(reduction->arena, array->columns, sizeof *reduced->sign);
  for (uint32_t q = 0; q < array->columns; q++) {
    uint32_t j = array->column_unknown[q], order = array_order(array, q);
    reduced->source[q] = (int32_t)order <= here->d[j] ? here->column_start[j] + order : MAP_NONE;
    reduced->sign[q] = 1;
  }
}

void reduction_keep(Reduction *reduction) {
  reduction->reduced = (Reduced){.array = reduction->array,
                                 .code = reduction->code,
                                 .structure = reduction->structure,
                                 .choice = reduction->choice,
                                 .states = reduction->states,
                                 .modes = reduction->modes};
  map_columns(reduction);
}

bool reduction_keep_unconstrained(Reduction *reduction) {
  const MassForm *mass = reduction->model->mass;
  if (!mass || !mass->constraints || reduction_depth(reduction)) return false;
  form_use_dummies(reduction);
  reduction_keep(reduction);
  reduction->remark = "no equation must be differentiated: nothing is left to reduce";
  return true;
}

/* Makes the code of the reduced array, over the same model and modes. The reduced array depends on everything on which the
 * original rows depend, because it jumps when they jump. */
static void make_code(Reduction *reduction) {
  Reduced *reduced = &reduction->reduced;
  reduced->modes = reduction->modes;
  reduced->code = array_code_new(reduction->heap, reduced->array, reduced->modes);
  for (uint32_t leaf = 0; leaf < modes_leaves(reduced->modes); leaf++)
    reduced->code->matters[leaf] |= reduction->code->matters[leaf];
  map_columns(reduction);
}

/* A system with its own modes takes their values at the point where it starts, and the discrete variables of the original.
 * Modes inside a relation are set before the relation itself. */
static void set_modes(const Reduced *reduced, const ArrayRun *run, const Evaluator *original, double t, Heap *heap) {
  Switches *switches = switches_new(heap, run->evaluator);
  bool changed = switches != NULL, matter = false;
  for (uint32_t round = 0; round < modes_leaves(reduced->modes) && changed; round++) {
    if (switches->decisions) decisions_adopt(switches->decisions, original->discretes);
    edges_evaluate(&switches->edges, t, run->y);
    changed = switching_set(&switches->switching, t, run->y, &matter) > 0;
  }
}

static double *start_values(const Reduced *reduced, const Array *original, const double *y, Heap *heap) {
  double *values = heap_array(heap, reduced->array->columns, sizeof *values);
  for (uint32_t q = 0; q < original->columns; q++)
    if (reduced->source[q] != MAP_NONE) values[reduced->source[q]] = reduced->sign[q] * y[q];
  for (uint32_t k = 0; k < reduced->starts.count; k++) {
    const StartLink *start = &reduced->starts.data[k];
    values[start->column] = start->sign * y[start->source];
  }
  return values;
}

ArrayRun reduced_run(const Reduction *reduction, const ArrayRun *at, Heap *heap) {
  const Reduced *reduced = &reduction->reduced;
  ArrayRun run = *at;
  run.y = start_values(reduced, reduction->array, at->y, heap);
  if (reduced->array == reduction->array) return run;
  run = (ArrayRun){.evaluator = evaluator_new(heap, reduced->code, at->evaluator->parameters), .y = run.y};
  run.evaluator->inputs = at->evaluator->inputs;
  if (reduced->modes == reduction->modes) { /* an event changes both */
    run.evaluator->discretes = at->evaluator->discretes;
    run.evaluator->pre = at->evaluator->pre;
    at->evaluator->past = run.evaluator->past;
  } else {
    set_modes(reduced, &run, at->evaluator, reduction->time, heap);
  }
  if (!reduced->structure) return run;
  run.dummy = dummy_new(heap, run.evaluator, reduced->choice);
  run.space = state_plan_space(heap, run.evaluator, reduced->states);
  return run;
}

void reduction_remove_superfluous(Reduction *reduction) {
  Reduced *reduced = &reduction->reduced;
  const Structure *structure = reduced->structure;
  if (!structure || !reduction->counts.removed || !dummy_removable_links(reduction->at.dummy)) return;
  Array *array = reduced->array;
  ExprVec rows = {0};
  for (uint32_t r = 0; r < array->rows; r++) {
    uint32_t i = array->row_equation[r];
    bool last = (int32_t)array_level(array, r) == array->c[i];
    bool removable = structure->superfluous[i] && structure->removable_block[structure->blocks.block_of_row[i]];
    if (!(last && removable)) vec_push(reduction->heap, &rows, array_row(array, r));
  }
  reduced->kept_rows = array_code_program(reduced->code, rows.data, rows.count);
  reduced->kept_jacobian = array_code_jacobian(reduced->code, rows.data, rows.count);
  vec_free(reduction->heap, &rows);
}

Reduction reduction_layer(const Reduction *reduction, const ArrayRun *at, double time, Heap *heap, Arena *arena) {
  Reduction layer = *reduction;
  Model *own = model_layer(reduction->array->problem->model, heap);
  layer.heap = heap;
  layer.arena = arena;
  layer.at = *at;
  layer.time = time;
  layer.array = array_layer(reduction->array, own, arena);
  if (reduction->reduced.array == reduction->array) layer.reduced.array = layer.array;
  else if (reduction->reduced.structure) layer.reduced.array = array_layer(reduction->reduced.array, own, arena);
  return layer;
}

double reduced_accuracy(const Reduced *reduced, double tolerance) {
  if (reduced->left < 2) return 1;
  return fmax(pow(tolerance, 0.5 * (reduced->left - 1)), FINEST / tolerance);
}

bool reduction_replace(Reduction *reduction, const Expr *residual) {
  Arena *arena = reduction->arena;
  Reduced *reduced = &reduction->reduced;
  Problem *problem = arena_alloc(arena, sizeof *problem);
  *problem = problem_replace(reduction->array->problem, residual, arena);
  Structure *structure = arena_alloc(arena, sizeof *structure);
  *structure = structure_run(arena, &problem->incidence);
  if (structure->status != STRUCTURE_OK) return false;
  int32_t *least = arena_array(arena, problem->unknowns, sizeof *least); /* derivatives that only aliases write */
  if (problem_least_orders(problem, structure->d, least))
    *structure = structure_raise(arena, &problem->incidence, structure, least);
  reduced->array = arena_alloc(arena, sizeof *reduced->array);
  *reduced->array = array_make(problem, structure->c, structure->d, arena);
  reduced->structure = structure;
  make_code(reduction);
  reduced->choice = dummy_blocks(reduced->code, structure);
  reduced->states = state_plan(reduced->code, structure);
  return true;
}

/* The highest derivatives in the equations differentiated c times. */
static const int32_t *highest_orders(const Problem *problem, const int32_t *c, Arena *arena) {
  const Incidence *incidence = &problem->incidence;
  int32_t *d = arena_array(arena, problem->unknowns, sizeof *d);
  for (uint32_t i = 0; i < problem->equations; i++)
    for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++)
      if (incidence->order[e] + c[i] > d[incidence->column[e]]) d[incidence->column[e]] = incidence->order[e] + c[i];
  return d;
}

void reduction_shrink(Reduction *reduction, const int32_t *c, const int32_t *d, const uint8_t *tie) {
  Arena *arena = reduction->arena;
  Reduced *reduced = &reduction->reduced;
  const Problem *problem = reduction->array->problem;
  int32_t left = 0; /* differentiations that were not made */
  for (uint32_t i = 0; i < problem->equations; i++)
    if (reduction->array->c[i] - c[i] > left) left = reduction->array->c[i] - c[i];
  int32_t *raised = arena_array(arena, problem->unknowns, sizeof *raised);
  if (!d) d = highest_orders(problem, c, arena);
  if (problem->unknowns) memcpy(raised, d, problem->unknowns * sizeof *raised);
  problem_least_orders(problem, raised, raised); /* derivatives that only aliases write */
  reduced->array = arena_alloc(arena, sizeof *reduced->array);
  *reduced->array = array_make(problem, c, raised, arena);
  for (uint32_t r = 0; r < reduced->array->rows; r++)
    reduced->array->row[r] = form_residual(reduction, &reduction->form.rows.data[r]);
  make_code(reduction);
  const Array *here = reduced->array;
  uint8_t *ties = arena_array(arena, here->columns, sizeof *ties);
  int32_t *index = arena_array(arena, here->columns, sizeof *index);
  for (uint32_t q = 0; q < here->columns; q++) {
    uint32_t j = here->column_unknown[q], order = array_order(here, q);
    if ((int32_t)order < here->d[j]) ties[q] = tie ? tie[reduction->array->column_start[j] + order] : TIE_DERIVATIVE;
    int32_t position = 1 + left - reduction->array->d[j] + (int32_t)order;
    index[q] = position < 1 ? 1 : position;
  }
  reduced->tie = ties;
  reduced->column_index = tie ? NULL : index;
  if (!tie) reduced->left = left;
}
