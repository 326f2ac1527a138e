/* sensitivity_plan: see sensitivity_plan.h. */
#include "vary/sensitivity_plan.h"

#include "code/dependents.h"
#include "external/external.h"

/* ---- refusals ---- */

static bool is_opaque(const Routine *routine) {
  return routine->kind == ROUTINE_EXTERNAL && routine->implementation && !routine->implementation->is_smooth &&
         !routine->derivatives.count;
}

/* A function with unknown derivative that a call may reach; NULL: there is none. */
static const Routine *opaque_routine(const Model *model, const Routine *routine) {
  if (is_opaque(routine)) return routine;
  for (uint32_t k = 0; k < model->routines.count && routine->kind == ROUTINE_CODE; k++)
    if (is_opaque(model->routines.data[k])) return model->routines.data[k];
  return NULL;
}

/* Differences replace unknown derivatives: good enough for Newton's method, but not here. */
static bool functions_are_smooth(const ArrayCode *code, const Expr *roots, uint32_t count, Diags *diags) {
  const Model *model = code->model;
  Dag *dag = model->dag;
  const Routine *found = NULL;
  IndexVec below = {0};
  dag_below(dag, dag_scratch(dag), roots, count, &below);
  for (uint32_t k = 0; k < below.count && !found; k++)
    if (dag_op(dag, below.data[k]) == OP_CALL)
      found = opaque_routine(model, model->functions.data[dag_call_info(dag, below.data[k]).function]->routine);
  vec_free(dag_heap(dag), &below);
  if (found)
    diag_error(diags, DIAG_USAGE, found->span, "the external function `%s` has no derivative: sensitivities need one",
               names_text(model->names, found->name));
  return !found;
}

static bool has_no_delays(const ArrayCode *code, Diags *diags) {
  const Logic *logic = code->modes->logic;
  if (!logic || !logic->delays.count) return true;
  diag_error(diags, DIAG_USAGE, (Span){0}, "sensitivities do not cover delays: %s",
             model_text(code->model, logic->delays.data[0].written, &diags->arena));
  return false;
}

/* Does the expression use a parameter that varies? */
static bool moves(const SensitivityPlan *plan, Expr e) {
  Dag *dag = plan->code->model->dag;
  bool found = false;
  IndexVec below = {0};
  if (e == EXPR_NONE) return false;
  dag_below(dag, dag_scratch(dag), &e, 1, &below);
  for (uint32_t k = 0; k < below.count; k++)
    for (uint32_t p = 0; p < plan->parameters.count && dag_op(dag, below.data[k]) == OP_PARAMETER; p++)
      found = found || dag_index(dag, below.data[k]) == plan->parameters.data[p];
  vec_free(dag_heap(dag), &below);
  return found;
}

static bool samples_stay(const SensitivityPlan *plan, Diags *diags) {
  const Logic *logic = plan->code->modes->logic;
  for (uint32_t k = 0; logic && k < logic->samples.count; k++) {
    if (!moves(plan, logic->samples.data[k].start) && !moves(plan, logic->samples.data[k].interval)) continue;
    diag_error(diags, DIAG_USAGE, (Span){0}, "the times of a sample depend on a parameter of the sensitivities");
    return false;
  }
  return true;
}

/* An object made from a parameter in another language has no derivative with respect to it. */
static bool objects_stay(const SensitivityPlan *plan, Diags *diags) {
  const Model *model = plan->code->model;
  for (uint32_t p = 0; p < model->parameters.count; p++) {
    const Variable *variable = &model->variables.data[model->parameters.data[p]];
    if (variable->type != TYPE_EXTERNAL_OBJECT || !moves(plan, variable->binding)) continue;
    diag_error(diags, DIAG_USAGE, variable->span,
               "the external object `%s` depends on a parameter of the sensitivities, and has no derivative with "
               "respect to it",
               names_text(model->names, variable->name));
    return false;
  }
  return true;
}

/* ---- what moves ---- */

/* The requested parameters, those that initialization determines, and all that are bound to them. */
static void find_parameters(SensitivityPlan *plan, Evaluator *evaluator) {
  Heap *heap = plan->code->heap;
  const Model *model = plan->code->model;
  for (uint32_t k = 0; k < plan->targets; k++)
    if (plan->target[k].parameter != MAP_NONE) vec_push(heap, &plan->parameters, plan->target[k].parameter);
  for (uint32_t p = 0; p < model->parameters.count; p++) {
    const Variable *variable = &model->variables.data[model->parameters.data[p]];
    if (variable_is_sought(variable) && variable->type == TYPE_REAL) vec_push(heap, &plan->parameters, p);
  }
  IndexVec dependents = {0};
  dependents_find(evaluator, heap, &plan->parameters, &dependents);
  for (uint32_t k = 0; k < dependents.count; k++) vec_push(heap, &plan->parameters, dependents.data[k]);
  vec_free(heap, &dependents);
}

static void find_discretes(SensitivityPlan *plan) {
  Heap *heap = plan->code->heap;
  const Model *model = plan->code->model;
  const Logic *logic = plan->code->modes->logic;
  for (uint32_t d = 0; d < model->discretes.count; d++)
    if (model->variables.data[model->discretes.data[d]].type == TYPE_REAL) vec_push(heap, &plan->discretes, d);
  for (uint32_t k = 0; logic && k < logic->lefts.count; k++)
    vec_push(heap, &plan->discretes, logic->lefts.data[k].leaf);
}

static bool is_real(const SensitivityPlan *plan, uint32_t leaf) {
  for (uint32_t d = 0; d < plan->discretes.count; d++)
    if (plan->discretes.data[d] == leaf) return true;
  return false;
}

/* ---- programs ---- */

/* Parameters, discretes, pre() of them, and time last. */
static void list_leaves(const SensitivityPlan *plan, ExprVec *leaves) {
  Heap *heap = plan->code->heap;
  Dag *dag = plan->code->model->dag;
  for (uint32_t p = 0; p < plan->parameters.count; p++)
    vec_push(heap, leaves, dag_parameter(dag, plan->parameters.data[p]));
  for (uint32_t d = 0; d < plan->discretes.count; d++)
    vec_push(heap, leaves, dag_discrete(dag, plan->discretes.data[d]));
  for (uint32_t d = 0; d < plan->discretes.count; d++) vec_push(heap, leaves, dag_pre(dag, plan->discretes.data[d]));
  vec_push(heap, leaves, dag_time(dag));
}

static void list_roots(SensitivityPlan *plan, ExprVec *roots) {
  const Modes *modes = plan->code->modes;
  const Logic *logic = modes->logic;
  Heap *heap = plan->code->heap;
  for (uint32_t m = 0; m < modes->count; m++) vec_push(heap, roots, modes->difference[m]);
  plan->first_step = roots->count;
  for (uint32_t k = 0; logic && k < logic->steps.count; k++) {
    if (!is_real(plan, logic->steps.data[k].leaf)) continue;
    vec_push(heap, &plan->steps, k);
    vec_push(heap, roots, logic->steps.data[k].value);
  }
  plan->first_left = roots->count;
  for (uint32_t k = 0; logic && k < logic->lefts.count; k++) vec_push(heap, roots, logic->lefts.data[k].value);
  plan->first_reset = roots->count;
  for (uint32_t a = 0; logic && a < logic->actions.count; a++) {
    if (logic->actions.data[a].kind != ACTION_REINIT) continue;
    vec_push(heap, &plan->resets, a);
    vec_push(heap, roots, logic->actions.data[a].value);
  }
  plan->first_initial = roots->count;
  for (uint32_t k = 0; logic && k < logic->initial_steps.count; k++) {
    const LogicStep *step = &logic->initial_steps.data[k];
    if (step->is_parameter || !is_real(plan, step->leaf)) continue;
    vec_push(heap, &plan->initials, k);
    vec_push(heap, roots, step->value);
  }
  plan->roots = roots->count;
}

static Expr column_leaf(const Array *array, uint32_t column) {
  uint32_t unknown = array->problem->unknown[array->column_unknown[column]];
  return dag_variable(array->dag, unknown, array_order(array, column));
}

/* Programs that steps evaluate at every stage. */
static Program *make_stage(ArrayCode *code, const LeafJacobian *rows) {
  const Jacobian *jacobian = code->jacobian;
  ExprVec entries = {0};
  for (uint32_t q = 0; q < jacobian->columns; q++)
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++)
      if (!jacobian->is_constant[e])
        vec_push(code->heap, &entries,
                 dag_partial(code->array->dag, code->array->row[jacobian->row_index[e]], column_leaf(code->array, q)));
  for (uint32_t e = 0; e < rows->entries; e++) vec_push(code->heap, &entries, rows->entry[e]);
  Program *program = entries.count ? array_code_program(code, entries.data, entries.count) : NULL;
  vec_free(code->heap, &entries);
  return program;
}

/* Calls whose values depend on the solution, or on time and a parameter that varies. */
static void list_calls(SensitivityPlan *plan, ArrayCode *code) {
  Dag *dag = code->array->dag;
  IndexVec below = {0};
  dag_below(dag, dag_scratch(dag), code->array->row, code->array->rows, &below);
  for (uint32_t k = 0; k < below.count; k++) {
    Expr e = below.data[k];
    if (dag_op(dag, e) != OP_CALL || dag_call_info(dag, e).partial_count) continue;
    if (dag_depends(dag, e, OP_VARIABLE) || (dag_depends(dag, e, OP_TIME) && moves(plan, e)))
      vec_push(code->heap, &plan->calls, e);
  }
  vec_free(dag_heap(dag), &below);
  if (plan->calls.count) plan->call_values = array_code_program(code, plan->calls.data, plan->calls.count);
}

/* Runs with initial equations need the derivatives of these equations; other runs may need derivatives if start values are not
 * those of states. */
static const StartCode *make_start(const SensitivityPlan *plan, Evaluator *evaluator, const Structure *structure) {
  Heap *heap = plan->code->heap;
  StartLeaves varied = {plan->parameters.data, plan->discretes.data, plan->parameters.count, plan->discretes.count};
  if (plan->code->model->initial_equations.count)
    return start_code_new(heap, system_new(heap, evaluator, structure, true), varied);
  StartCode *none = heap_alloc(heap, sizeof *none);
  *none = (StartCode){.varied = varied};
  return none;
}

const SensitivityPlan *sensitivity_plan(ArrayCode *code, Evaluator *evaluator, const Structure *structure,
                                        const SensitivityTarget *targets, uint32_t count, Diags *diags) {
  Heap *heap = code->heap;
  SensitivityPlan *plan = heap_alloc(heap, sizeof *plan);
  *plan = (SensitivityPlan){.code = code, .target = targets, .targets = count};
  ExprVec leaves = {0}, roots = {0};
  find_parameters(plan, evaluator);
  find_discretes(plan);
  if (!has_no_delays(code, diags) || !samples_stay(plan, diags) || !objects_stay(plan, diags)) return NULL;
  list_leaves(plan, &leaves);
  list_roots(plan, &roots);
  if (!functions_are_smooth(code, code->array->row, code->array->rows, diags) ||
      !functions_are_smooth(code, roots.data, roots.count, diags))
    return NULL;
  plan->rows = leaf_jacobian_new(heap, code->model, &code->layout, code->array->row, code->array->rows, leaves.data,
                                 leaves.count);
  if (roots.count) {
    plan->columns = array_code_jacobian(code, roots.data, roots.count);
    plan->leaves =
        leaf_jacobian_new(heap, code->model, &code->layout, roots.data, roots.count, leaves.data, leaves.count);
  }
  plan->stage = make_stage(code, plan->rows);
  list_calls(plan, code);
  plan->start = make_start(plan, evaluator, structure);
  vec_free(heap, &leaves, &roots);
  return plan;
}
