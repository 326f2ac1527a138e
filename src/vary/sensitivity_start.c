/* sensitivity_start: derivatives at the start. Parameters vary with the parameters that they are bound to; start
 * values vary with the parameters in them. Columns that keep their start values vary with these values; all others vary as the
 * equations require. */
#include "base/map.h"
#include "core/constants.h"
#include "init/differentiate.h"
#include "vary/sensitivity_internal.h"

#include <math.h>
#include <string.h>

/* The variation of an expression over parameters, if the value comes from it. */
static double move_of(Sensitivity *sensitivity, const Direction *direction, Expr e, double value) {
  const SensitivityPlan *plan = sensitivity->plan;
  Evaluator *evaluator = sensitivity->view->evaluator;
  if (e == EXPR_NONE || dag_op(evaluator->model->dag, e) == OP_CONSTANT) return 0;
  Model *own = evaluator_model(evaluator);
  double now, slope, sum = 0;
  if (!evaluator_constant(evaluator, e, &now) || now != value) return 0;
  for (uint32_t p = 0; p < plan->parameters.count; p++) {
    if (direction->parameter[p] == 0) continue;
    Expr leaf = dag_parameter(own->dag, plan->parameters.data[p]);
    if (model_evaluate(own, &evaluator->scratch, dag_partial(own->dag, e, leaf), evaluator->parameters, &slope))
      sum += slope * direction->parameter[p];
  }
  return sum;
}

double sensitivity_slope(Sensitivity *sensitivity, uint32_t target, Expr e) {
  double value;
  if (!evaluator_constant(sensitivity->view->evaluator, e, &value)) return NAN;
  return move_of(sensitivity, &sensitivity->directions[target], e, value);
}

static const Variable *variable_of(const Sensitivity *sensitivity, uint32_t parameter) {
  const Model *model = sensitivity->view->evaluator->model;
  return &model->variables.data[model->parameters.data[parameter]];
}

/* Bound parameters come after the parameters in their bindings. */
static void move_bound(Sensitivity *sensitivity, Direction *direction, const SensitivityTarget *target) {
  const SensitivityPlan *plan = sensitivity->plan;
  for (uint32_t p = 0; p < plan->parameters.count; p++) {
    uint32_t leaf = plan->parameters.data[p];
    const Variable *variable = variable_of(sensitivity, leaf);
    if (variable_is_sought(variable)) continue;
    direction->parameter[p] = 0;
    direction->parameter[p] = leaf == target->parameter ? 1
                                                        : move_of(sensitivity, direction, variable->binding,
                                                                  sensitivity->view->evaluator->parameters[leaf]);
  }
}

/* The variation of the start value of a column. */
static double start_move(Sensitivity *sensitivity, const Direction *direction, const SensitivityTarget *target,
                         const InitialColumn *column) {
  const Model *model = sensitivity->view->evaluator->model;
  if (column->named == MAP_NONE) return 0;
  if (column->named == target->variable) return column->sign;
  const StartSlopes *slopes = &sensitivity->start_slopes;
  bool may_have = slopes->by && column->named < slopes->variables;
  double slope = may_have ? slopes->by[target - sensitivity->plan->target][column->named] : NAN;
  if (!isnan(slope)) return column->sign * slope;
  return column->sign *
         move_of(sensitivity, direction, model->variables.data[column->named].start, column->sign * column->start);
}

static void start_discretes(Sensitivity *sensitivity, Direction *direction, const SensitivityTarget *target) {
  const Evaluator *evaluator = sensitivity->view->evaluator;
  const Model *model = evaluator->model;
  const Switches *switches = sensitivity->view->switches;
  const double *before = switches && switches->decisions ? evaluator->pre : evaluator->discretes;
  double *discrete = direction->at + sensitivity->view->system.columns;
  for (uint32_t k = 0; k < sensitivity->plan->discretes.count; k++) {
    uint32_t leaf = sensitivity->plan->discretes.data[k];
    if (leaf >= model->discretes.count) continue;
    uint32_t position = model->discretes.data[leaf];
    discrete[leaf] = position == target->variable
                         ? 1
                         : move_of(sensitivity, direction, model->variables.data[position].start, before[leaf]);
    direction->pre[leaf] = discrete[leaf];
  }
}

/* A target and the place of its derivatives: a separate direction, or the one that the adjoint reads. */
static Direction *begin_target(Sensitivity *sensitivity, uint32_t k) {
  Direction *direction = &sensitivity->directions[sensitivity->adjoint ? 0 : k];
  size_t values = (size_t)sensitivity->view->system.columns + modes_leaves(sensitivity->plan->code->modes);
  memset(direction->at, 0, values * sizeof(double));
  memset(direction->parameter, 0, sensitivity->plan->parameters.count * sizeof(double));
  move_bound(sensitivity, direction, &sensitivity->plan->target[k]);
  start_discretes(sensitivity, direction, &sensitivity->plan->target[k]);
  return direction;
}

/* ---- combinations ----
 *
 * The gradient that an adjoint finds is that of the sensitivities over the same steps, so these must resolve the sensitivities. A
 * few targets are followed one by one. If there are many targets, one random combination of them is followed, with weights by their
 * sizes. The probability that they cancel in such a sum is zero. */

/* The size of a target: its value, or 1. */
static double target_size(const Sensitivity *sensitivity, const Initial *initial, const SensitivityTarget *target) {
  double size = 0;
  if (target->parameter != MAP_NONE) size = fabs(sensitivity->view->evaluator->parameters[target->parameter]);
  for (int32_t q = 0; q < sensitivity->view->system.columns && target->parameter == MAP_NONE; q++)
    if (initial->column[q].named == target->variable) size = fabs(initial->column[q].start);
  return size > 0 ? size : 1;
}

static void add_product(double *sum, double factor, const double *vector, size_t count) {
  for (size_t k = 0; k < count; k++) sum[k] += factor * vector[k];
}

static void join_combination(Sensitivity *sensitivity, uint32_t k, const Direction *own) {
  size_t leaves = modes_leaves(sensitivity->plan->code->modes);
  bool is_alone = sensitivity->plan->targets <= FEW;
  Direction *sum = &sensitivity->directions[is_alone ? 1 + k : 1];
  double weight = (1 + (double)(hash_mix(k + 1) >> 11) * 0x1p-53) * own->size;
  sum->size = is_alone ? own->size : 1;
  if (is_alone) weight = 1;
  add_product(sum->now, weight, own->now, (size_t)sensitivity->view->system.columns + leaves);
  add_product(sum->pre, weight, own->pre, leaves);
  add_product(sum->parameter, weight, own->parameter, sensitivity->plan->parameters.count);
}

static void end_target(Sensitivity *sensitivity, const Initial *initial, uint32_t k, Direction *direction) {
  size_t values = (size_t)sensitivity->view->system.columns + modes_leaves(sensitivity->plan->code->modes);
  size_t columns = (size_t)sensitivity->view->system.columns;
  memcpy(direction->now, direction->at, values * sizeof(double));
  memcpy(direction->pre, direction->at + columns, (values - columns) * sizeof(double));
  direction->size = target_size(sensitivity, initial, &sensitivity->plan->target[k]);
  if (!sensitivity->adjoint) return;
  adjoint_note_start(sensitivity->adjoint, direction->now, direction->pre, direction->parameter);
  join_combination(sensitivity, k, direction);
}

/* ---- columns and discrete values ---- */

/* Initial equations and whens with initial() give discrete values that vary with columns, and columns vary with these: a loop of
 * linear equations, which few models have. */
static bool refuse_loop(Sensitivity *sensitivity, double t) {
  return sensitivity_refuse(sensitivity, t, "at the start, discrete values depend on each other in a loop");
}

/* The derivatives of the expressions that determine discrete values at the start. If some are undefined, they matter only
 * if a value follows from initialization. */
static bool find_roots(Sensitivity *sensitivity, double t, const double *y, bool *are_found) {
  const Logic *logic = sensitivity->plan->code->modes->logic;
  *are_found = sensitivity_evaluate_roots(sensitivity, t, y);
  if (*are_found || !logic || (!logic->is_asked && !sensitivity->plan->initials.count)) return true;
  return sensitivity_refuse(sensitivity, t, "an expression that gives a discrete value at the start has no derivative");
}

/* Finds the variations at the start with a choice of states in which the columns with start values are states, as in the
 * initializer. */
static bool start_by_states(Sensitivity *sensitivity, const Initial *initial, double t, const double *y) {
  View *view = sensitivity->view;
  const SensitivityPlan *plan = sensitivity->plan;
  size_t columns = (size_t)view->system.columns;
  Arena arena = arena_make(sensitivity->heap);
  uint8_t *held = arena_array(&arena, columns, sizeof *held);
  double *guess = arena_array(&arena, columns, sizeof *guess);
  for (size_t q = 0; q < columns; q++) {
    const InitialColumn *column = &initial->column[q];
    held[q] = column->fixed ? 2 : column->given && column->low;
    guess[q] = column->start;
  }
  void *choice = view->methods->save_choice(view, sensitivity->heap);
  bool has_roots, ok = view->methods->solve_holding(view, t, guess, held) == EVAL_OK &&
                       sensitivity_factor(sensitivity, t, y) && find_roots(sensitivity, t, y, &has_roots);
  for (uint32_t k = 0; k < plan->targets && ok; k++) {
    Direction *direction = begin_target(sensitivity, k);
    for (int32_t l = 0; l < view->system.links; l++) {
      uint32_t q = (uint32_t)view->system.link_from[l];
      direction->at[q] = start_move(sensitivity, direction, &plan->target[k], &initial->column[q]);
    }
    bool changes = true;
    for (int sweep = 0; sweep < ROUNDS && changes; sweep++) {
      sensitivity_complete(sensitivity, direction);
      changes = has_roots && sensitivity_settle_start(sensitivity, direction);
    }
    ok = !changes || refuse_loop(sensitivity, t);
    end_target(sensitivity, initial, k, direction);
  }
  view->methods->restore_choice(view, choice, y);
  arena_free(&arena);
  return ok;
}

/* Free parameters are columns of the initial system after those of its array. */
static void take_free(Sensitivity *sensitivity, Direction *direction, const InitialSystem *system,
                      const double *change) {
  for (uint32_t p = 0; p < sensitivity->plan->parameters.count; p++)
    for (uint32_t k = 0; k < system->parameters.count; k++)
      if (system->parameters.data[k] == sensitivity->plan->parameters.data[p])
        direction->parameter[p] = change[system->array->columns + k];
}

/* Includes the initial equations, and the parameters that they determine. */
static bool start_by_system(Sensitivity *sensitivity, Initializer *initializer, const Initial *initial, double t,
                            const double *y) {
  const SensitivityPlan *plan = sensitivity->plan;
  bool has_roots, ok = find_roots(sensitivity, t, y, &has_roots);
  if (!ok) return false;
  StartDerivative *derivative = start_derivative_new(initializer, initial, plan->start, sensitivity->diags);
  if (!derivative) return false;
  const InitialSystem *system = start_derivative_system(derivative);
  Arena arena = arena_make(sensitivity->heap);
  double *moves = arena_array(&arena, system->columns, sizeof *moves);
  double *change = arena_array(&arena, system->columns, sizeof *change);
  double *discrete = arena_array(&arena, 2 * (size_t)plan->discretes.count, sizeof *discrete);
  for (uint32_t k = 0; k < plan->targets && ok; k++) {
    Direction *direction = begin_target(sensitivity, k);
    for (uint32_t q = 0; q < system->columns; q++)
      moves[q] = start_move(sensitivity, direction, &plan->target[k], &initial->column[q]);
    bool changes = true;
    for (int sweep = 0; sweep < ROUNDS && changes; sweep++) {
      const double *now = direction->at + sensitivity->view->system.columns;
      for (uint32_t d = 0; d < plan->discretes.count; d++) {
        discrete[d] = now[plan->discretes.data[d]];
        discrete[plan->discretes.count + d] = direction->pre[plan->discretes.data[d]];
      }
      start_derivative_apply(derivative, &(StartChange){moves, direction->parameter, discrete}, change);
      for (int32_t q = 0; q < sensitivity->view->system.columns; q++)
        direction->at[q] = change[system_column(system, (uint32_t)q)];
      changes = has_roots && sensitivity_settle_start(sensitivity, direction);
    }
    ok = !changes || refuse_loop(sensitivity, t);
    take_free(sensitivity, direction, system, change);
    move_bound(sensitivity, direction, &plan->target[k]);
    end_target(sensitivity, initial, k, direction);
  }
  arena_free(&arena);
  return ok;
}

bool sensitivity_start(Sensitivity *sensitivity, Initializer *initializer, const Initial *initial, StartSlopes slopes,
                       double t, const double *y) {
  Evaluator *evaluator = sensitivity->view->evaluator;
  size_t leaves = initial->discrete_starts ? evaluator->model->discretes.count : 0;
  double *after = heap_copy(sensitivity->heap, evaluator->pre, leaves, sizeof *after);
  sensitivity->start_slopes = slopes;
  if (leaves) memcpy(evaluator->pre, initial->discrete_starts, leaves * sizeof(double)); /* as in the initialization */
  bool ok = initial->way != WAY_STATES ? start_by_system(sensitivity, initializer, initial, t, y)
                                       : start_by_states(sensitivity, initial, t, y);
  if (leaves) memcpy(evaluator->pre, after, leaves * sizeof(double));
  heap_free(sensitivity->heap, after);
  return ok;
}
