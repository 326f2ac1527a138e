/* plan: the list of passes that make a plan. Each pass leaves its result in the plan, and its time in the facts. */
#include "pipeline/parts.h"

#include "array/divisors.h"
#include "array/kink_modes.h"
#include "array/meeting.h"
#include "array/state_preference.h"
#include "array/verdict.h"
#include "external/external.h"
#include "init/explain.h"
#include "model/input.h"
#include "reduce/mass.h"
#include "reduce/redundancy.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* If structural analysis refuses a model with more unknowns, ranks are not tried, so that the refusal is quick. */
enum { QUICK_RANKS = 60 };

/* A derived plan already has them. */
static bool pass_parameters(Plan *plan) {
  if (plan->base) return true;
  plan->parameters = heap_array(plan->heap, plan->model->parameters.count, sizeof(double));
  return model_parameter_values(plan->model, plan->heap, plan->request.parameter_overrides, plan->parameters,
                                plan->diags);
}

void plan_report_unsettled(Diags *diags) {
  diag_error(diags, DIAG_INIT, (Span){0},
             "no consistent initial values: in each mode that was tried, "
             "the values belong to another mode; change the start values");
}

/* Each choice of branches leads to other branches. At an edge, the event that the run finds there decides. */
static bool accept_branches(Plan *plan, Heap *heap, Diags *diags) {
  if (!plan->initial.y || start_is_on_edge(plan, plan->first.evaluator, &plan->initial, heap)) return true;
  plan->facts.status = "init";
  plan_report_unsettled(diags);
  return false;
}

static bool plan_make_for(Plan *plan, Heap *heap, const Model *model, const Request *request, bool *holds,
                          Diags *diags);

bool plan_make_at_start(Plan *plan, Heap *heap, const Model *model, const Request *request, bool *holds, Diags *diags) {
  uint32_t before = diags->list.count;
  for (uint32_t round = 0;; round++) {
    diags_keep(diags, before);
    if (!plan_make_for(plan, heap, model, request, holds, diags)) return false;
    bool *now = start_branches(plan, plan->first.evaluator, heap);
    if (memcmp(now, holds, plan->branches.count * sizeof *now) == 0) return true;
    if (round > plan->branches.count) return accept_branches(plan, heap, diags);
    holds = now;
  }
}

/* Replaces a plan for all branches, which failed, by one for the branches that hold at the start values. NULL: that fails, too. */
static Plan *plan_by_mode(Plan *plan, uint32_t before) {
  Heap *heap = plan->heap;
  if (!plan->conditions || plan->holds || plan->request.method->by_ranks) return NULL;
  Diags attempt = diags_make(heap);
  Plan *other = heap_alloc(heap, sizeof *other);
  bool *holds = start_branches(plan, plan->first.evaluator, heap);
  if (!plan_make_at_start(other, heap, plan->model, &plan->request, holds, &attempt)) {
    if (plan->diags->list.count == before) diags_append(plan->diags, &attempt);
    return NULL;
  }
  other->diags = plan->diags;
  diags_keep(other->diags, before);
  diags_append(other->diags, &attempt);
  return other;
}

/* For a method by ranks, makes a plan with dummy derivatives too, so that both start from the same initial values. */
static bool pass_common(Plan *plan) {
  if (!plan->request.method->by_ranks) return true;
  Diags silent = diags_make(plan->heap);
  Request request = plan->request;
  request.method = &method_dummy;
  request.initialize_only = true;
  plan->common = heap_alloc(plan->heap, sizeof *plan->common);
  if (!plan_make_for(plan->common, plan->heap, plan->model, &request, NULL, &silent))
    plan->common = plan_by_mode(plan->common, 0);
  return true;
}

/* Replaces equations that follow from the others on the solutions. Variables that they leave free get the values of least norm.
 * false: there are none. */
static bool replace_redundant(Plan *plan) {
  Redundancy redundancy;
  Strangeness strangeness = {.heap = plan->heap,
                             .arena = &plan->arena,
                             .diags = plan->diags,
                             .problem = plan->problem,
                             .parameters = plan->parameters,
                             .start = plan->request.starts.start,
                             .modes = &plan->modes,
                             .rank_tolerance = strangeness_tolerance(&plan->request.method_options)};
  const Expr *residual = plan->problem.residual;
  if (!redundancy_replace(&strangeness, plan->request.run.start, &plan->problem, &plan->structure, &plan->conversions,
                          &redundancy))
    return false;
  plan->left_out = arena_array(&plan->arena, redundancy.count, sizeof *plan->left_out);
  plan->left_out_count = redundancy.count;
  for (uint32_t k = 0; k < redundancy.count; k++) plan->left_out[k] = residual[redundancy.equation[k]];
  return true;
}

/* The characteristic values of a method by ranks refer to the equations as written. */
static bool pass_structure(Plan *plan) {
  plan->problem = problem_make(plan->own, !plan->request.method->by_ranks, &plan->arena);
  if (!plan->holds) plan->structure = structure_run(&plan->arena, &plan->problem.incidence);
  kink_modes_open(&plan->problem, plan->holds ? NULL : &plan->structure, plan->request.opens_kinks,
                  plan->request.target_count > 0, &plan->arena);
  plan->modes = modes_extract(&plan->problem, &plan->arena);
  divisors_assert(&plan->problem, &plan->modes, &plan->arena);
  plan->branches = branches_find(&plan->problem, &plan->arena);
  plan->whole = plan->problem;
  if (plan->holds) {
    plan->problem = branches_narrow(&plan->problem, &plan->branches, plan->holds, &plan->arena);
    plan->structure = structure_run(&plan->arena, &plan->problem.incidence);
  }
  if (plan->request.is_redundant) return replace_redundant(plan);
  if (plan->structure.status == STRUCTURE_OK) return true;
  /* The message is about the model as written. If the model as written is regular, equations became empty by alias elimination. */
  Problem written = problem_make(plan->own, false, &plan->arena);
  Structure structure = structure_run(&plan->arena, &written.incidence);
  if (structure.status == STRUCTURE_OK) return true;
  plan->facts.status = structure.status == STRUCTURE_UNBALANCED ? "unbalanced" : "singular";
  plan->is_misled = true;
  verdict_report(&written, &structure, plan->diags);
  return false;
}

/* A plan must not depend on a value that the run sets, such as an input. */
static void keep_read(Plan *plan, const bool *read) {
  const Model *model = plan->model;
  for (uint32_t p = 0; p < model->parameters.count; p++)
    if (read[p] && model->variables.data[model->parameters.data[p]].variability <= VARIABILITY_PARAMETER)
      vec_push(plan->heap, &plan->read, p);
}

/* Structural analysis only sees which entries are zero. If the Jacobian is singular nevertheless, the equations are
 * rewritten until it is regular. Then they may be differentiated more often than the structure showed. If that happens
 * to an equation with a kink, everything is done again with all kinks open. */
static bool pass_regular(Plan *plan) {
  uint32_t before = plan->diags->list.count;
  bool *read = arena_array(&plan->arena, plan->model->parameters.count, sizeof *read);
  plan->facts.status = "singular";
  plan->facts.conversions = &plan->conversions;
  ConvertStatus status = convert_run(&plan->problem, &plan->structure, &plan->modes, plan->parameters, &plan->arena,
                                     &plan->conversions, NULL, read, plan->diags);
  for (uint32_t p = 0; p < plan->model->parameters.count; p++)
    read[p] |= plan->request.is_redundant; /* ranks depend on all
                                                                                                       * parameters */
  keep_read(plan, read);
  plan->starts = start_extended(plan, &plan->request.starts, plan->heap);
  plan->is_misled = status != CONVERT_REGULAR;
  if (status != CONVERT_DONE || plan->holds || plan->request.opens_kinks) return status != CONVERT_FAILED;
  if (kink_modes_left(&plan->problem, plan->structure.c) == MAP_NONE) return true;
  diags_keep(plan->diags, before);
  plan->conversions.count = 0;
  plan->request.opens_kinks = true;
  return pass_structure(plan) && pass_regular(plan);
}

/* In a mode, equations may be differentiated more often than kink_modes_open found. */
static void warn_of_kinks(Plan *plan) {
  uint32_t i = kink_modes_left(&plan->problem, plan->structure.c);
  if (i == MAP_NONE) return;
  diag_warning(plan->diags, DIAG_WARNING_OTHER, plan->problem.model->equations.data[plan->problem.equation[i]].span,
               "where the kinks of this equation make velocities jump, the jump is not distributed as the constraints "
               "require: write the kinks as if-expressions");
}

/* The array has every derivative that the model mentions, including those that only aliases write. */
static bool pass_array(Plan *plan) {
  warn_of_kinks(plan);
  int32_t *least = arena_array(&plan->arena, plan->problem.unknowns, sizeof *least);
  if (problem_least_orders(&plan->problem, plan->structure.d, least))
    plan->structure = structure_raise(&plan->arena, &plan->problem.incidence, &plan->structure, least);
  if (plan->request.method->offers_preferred) {
    plan->structure = state_preference_offer(&plan->problem, &plan->structure, &plan->arena);
    if (!state_preference_check(&plan->problem, &plan->structure, plan->diags)) return false;
  }
  if (plan->structure.n_superfluous) {
    bool *named = arena_array(&plan->arena, plan->problem.unknowns, sizeof *named);
    problem_named_derivatives(&plan->problem, plan->structure.d, named);
    structure_need(&plan->arena, &plan->problem.incidence, &plan->structure, named);
  }
  meeting_release(&plan->modes, &plan->problem, plan->structure.c);
  plan->array = array_make(&plan->problem, plan->structure.c, plan->structure.d, &plan->arena);
  return true;
}

/* The sources of inputs provide the derivatives that the equations need. */
static bool pass_inputs(Plan *plan) {
  static const char *const gives[] = {[INPUT_SET] = "a value that is set has none",
                                      [INPUT_LINES] = "lines between points have only a first derivative",
                                      [INPUT_STAIRS] = "values that are held have none",
                                      [INPUT_FUNCTION] = "its function has no more"};
  const Problem *problem = &plan->problem;
  int32_t order;
  if (!plan->structure.c) return true; /* ranks alone decide which equations are differentiated */
  const InputSource *source =
      model_lacking_input(problem->model, problem->residual, plan->structure.c, problem->equations, &order);
  if (!source) return true;
  const Variable *variable = &problem->model->variables.data[source->variable];
  diag_error(plan->diags, DIAG_INPUT_TOO_ROUGH, variable->span,
             "the equations need derivative %d of the input `%s`: %s", (int)order,
             names_text(problem->model->names, variable->name), gives[source->kind]);
  return false;
}

static bool pass_code(Plan *plan) {
  plan->code = array_code_new(plan->heap, &plan->array, &plan->modes);
  plan->choice = dummy_blocks(plan->code, &plan->structure);
  plan->states = state_plan(plan->code, &plan->structure);
  if (plan->branches.count)
    plan->conditions = array_code_program(plan->code, plan->branches.condition, plan->branches.count);
  plan->first = start_array(plan, plan->heap, plan->parameters);
  plan->facts.evaluator = plan->first.evaluator;
  return true;
}

/* Start values at the point where the other methods start; parameters that it determines have their values there. */
static StartValues common_starts(const Plan *plan) {
  StartValues starts = plan->starts;
  for (uint32_t p = 0; p < plan->model->parameters.count; p++) {
    const Variable *variable = &plan->model->variables.data[plan->model->parameters.data[p]];
    if (variable_is_sought(variable))
      plan->first.evaluator->parameters[p] = plan->common->first.evaluator->parameters[p];
  }
  const Array *array = &plan->array;
  double *column = heap_array(plan->heap, array->columns, sizeof *column);
  for (uint32_t q = 0; q < array->columns; q++) {
    uint32_t unknown = array->problem->unknown[array->column_unknown[q]];
    bool written = unknown < plan->model->unknowns.count;
    const ArrayRun *common = &plan->common->first;
    column[q] = written ? evaluator_value(common->evaluator, common->y, unknown, array_order(array, q)) : NAN;
  }
  starts.column = column;
  return starts;
}

/* The structure of the equations in a mode; not ok where these branches leave them singular. */
static Structure mode_structure(Plan *plan, const bool *holds) {
  Problem narrow = branches_narrow(&plan->whole, &plan->branches, holds, &plan->arena);
  return structure_run(&plan->arena, &narrow.incidence);
}

/* Do the equations in the current mode have other degrees of freedom than the equations of all branches together? Then the offsets
 * of all branches are not optimal in this mode, and their system is singular there (Pryce 2001). */
static bool needs_mode(Plan *plan) {
  if (!plan->branches.count || plan->holds || plan->conversions.count) return false;
  Structure now = mode_structure(plan, start_branches(plan, plan->first.evaluator, plan->heap));
  return now.status == STRUCTURE_OK && now.dof != plan->structure.dof;
}

static bool pass_initial(Plan *plan) {
  plan->facts.status = "init";
  if (plan->base) return !plan->request.handover || start_plan_at_event(plan);
  start_inputs(plan->first.evaluator, &plan->starts);
  plan->initializer = start_initializer(plan, plan->heap, &plan->first);
  plan->initializer.collected = plan->starting = codes_new(plan->heap);
  StartValues starts = plan->common ? common_starts(plan) : plan->starts;
  if (!start_values(&plan->initializer, &starts, &plan->request.run, &plan->initial, plan->diags)) return false;
  if (plan->common) initial_retell(&plan->initializer, &plan->starts, &plan->common->initial, &plan->initial);
  if (!start_is_regular(plan, &plan->request, &plan->initializer, &plan->initial, &plan->arena, plan->diags)) {
    plan->facts.status = "singular";
    plan->initial.y = NULL;
    return false;
  }
  if (!redundancy_holds(&plan->array, plan->first.evaluator, plan->request.run.start, plan->initial.y, plan->left_out,
                        plan->left_out_count, sqrt(strangeness_tolerance(&plan->request.method_options))))
    return false;
  plan->first.y = plan->initial.y;
  return plan->request.method->by_ranks || !needs_mode(plan);
}

static void flip_branches(const Plan *plan, Expr condition, bool *holds) {
  for (uint32_t k = 0; k < plan->branches.count; k++)
    if (plan->branches.condition[k] == condition) holds[k] = !holds[k];
}

/* A condition that, if it changes in the current mode, leads to equations for which the array was not made; EXPR_NONE: there is none.
 * An array for all branches is valid in a mode with as many degrees of freedom: its offsets are optimal there, too (Pryce 2001). */
static Expr restructuring_condition(Plan *plan) {
  if (plan->holds) return plan->branches.condition[0];
  Expr found = EXPR_NONE;
  int64_t dof = structure_run(&plan->arena, &plan->whole.incidence).dof;
  bool *holds = start_branches(plan, plan->first.evaluator, plan->heap);
  for (uint32_t k = 0; found == EXPR_NONE && k < plan->branches.count; k++) {
    Expr condition = plan->branches.condition[k];
    flip_branches(plan, condition, holds);
    Structure then = mode_structure(plan, holds);
    flip_branches(plan, condition, holds);
    if (then.status == STRUCTURE_OK && then.dof != dof) found = condition;
  }
  heap_free(plan->heap, holds);
  return found;
}

/* A system with its own modes cannot change. It is refused if an event may change the structure. */
static bool keeps_structure(Plan *plan) {
  const Reduced *reduced = &plan->reduction.reduced;
  if (!reduced->mode || !plan->branches.count || !plan->first.y) return true;
  Expr condition = restructuring_condition(plan);
  if (condition == EXPR_NONE) return true;
  diag_error(plan->diags, DIAG_USAGE, (Span){0},
             "method %s cannot follow equations that change at events, where %s changes; use method dummy",
             plan->request.method->name,
             model_text(plan->own, modes_restore(&plan->modes, plan->own->dag, condition), &plan->diags->arena));
  return false;
}

/* Delays read past values of the model's own unknowns. A method that integrates another model has no past values. */
static bool carries_delays(Plan *plan) {
  const Logic *logic = plan->problem.logic;
  if (!logic || !logic->delays.count || plan->reduction.reduced.modes == &plan->modes) return true;
  diag_error(plan->diags, DIAG_USAGE, (Span){0}, "method %s cannot integrate %s", plan->request.method->name,
             model_text(plan->own, logic->delays.data[0].written, &plan->diags->arena));
  return false;
}

/* The modes that rows depend on must also exist in the method's own model. */
static bool carries_modes(Plan *plan) {
  const uint32_t *mode = plan->reduction.reduced.mode;
  for (uint32_t m = 0; mode && m < plan->modes.count; m++) {
    if (mode[m] != MAP_NONE || !plan->code->matters[plan->modes.first + m]) continue;
    diag_error(plan->diags, DIAG_USAGE, (Span){0}, "method %s cannot integrate %s", plan->request.method->name,
               model_text(plan->own, modes_restore(&plan->modes, plan->own->dag, plan->modes.relation[m]),
                          &plan->diags->arena));
    return false;
  }
  return true;
}

/* "x < 1 is true and y > 2 is false": the conditions for which the plan was made; NULL: any. */
static const char *mode_text(Plan *plan) {
  const Branches *branches = &plan->branches;
  const char *text = NULL;
  for (uint32_t k = 0; plan->holds && k < branches->count; k++) {
    bool is_new = true;
    for (uint32_t other = 0; other < k && is_new; other++)
      is_new = branches->condition[other] != branches->condition[k];
    if (!is_new) continue;
    Expr condition = modes_restore(&plan->modes, plan->own->dag, branches->condition[k]);
    text = arena_printf(&plan->arena, "%s%s%s is %s", text ? text : "", text ? " and " : "",
                        model_text(plan->own, condition, &plan->arena), plan->holds[k] ? "true" : "false");
  }
  return text;
}

/* Lets the method reduce the array at the initial point. */
static bool pass_reduce(Plan *plan) {
  const Request *request = &plan->request;
  int32_t block;
  plan->facts.status = "singular";
  if (plan->first.y && !dummy_select(plan->first.dummy, request->run.start, plan->first.y, &block) &&
      !request->method->by_ranks) {
    plan->is_misled = true;
    return start_no_choice(plan->first.evaluator, &plan->structure, block, plan->diags);
  }
  plan->reduction = (Reduction){.heap = plan->heap,
                                .arena = &plan->arena,
                                .diags = plan->diags,
                                .model = plan->own,
                                .parameters = plan->parameters,
                                .starts = request->starts.start,
                                .discrete_starts = plan->initial.discrete_starts,
                                .is_converted = plan->conversions.count > 0,
                                .opens_kinks = request->opens_kinks,
                                .array = &plan->array,
                                .code = plan->code,
                                .structure = &plan->structure,
                                .choice = plan->choice,
                                .states = plan->states,
                                .modes = &plan->modes,
                                .at = plan->first,
                                .known = plan->common ? plan->common->first : plan->first,
                                .time = request->run.start,
                                .duration = request->run.stop - request->run.start,
                                .tolerance = request->run.tolerance,
                                .options = request->method_options,
                                .mode = mode_text(plan)};
  mass_examine(&plan->reduction);
  if (!request->method->apply(&plan->reduction)) {
    if (diags_code(plan->diags) == DIAG_INIT) plan->facts.status = "init";
    return false;
  }
  reduction_remove_superfluous(&plan->reduction);
  return carries_delays(plan) && carries_modes(plan) && keeps_structure(plan);
}

/* Per unknown of the system's own model: the highest derivative that this model or the user's model writes. The unknowns of
 * the user's model come first in both. */
static const uint32_t *written_orders(Plan *plan) {
  const uint32_t *given = plan->problem.highest;
  const Problem *problem = plan->reduction.reduced.code->array->problem;
  if (problem->highest == given) return given;
  uint32_t *orders = arena_copy_array(&plan->arena, problem->highest, problem->model->unknowns.count, sizeof *orders);
  for (uint32_t u = 0; u < plan->own->unknowns.count; u++)
    if (given[u] > orders[u]) orders[u] = given[u];
  return orders;
}

/* Watches equations that freedom_close has completed, if structural analysis is right about them: the nearest point may become
 * ambiguous. */
static void watch_closed(Plan *plan) {
  const Strangeness *strangeness = plan->reduction.strangeness;
  Structure *structure = arena_alloc(&plan->arena, sizeof *structure);
  *structure = structure_run(&plan->arena, &strangeness->problem.incidence);
  if (structure->status != STRUCTURE_OK) return;
  TurningPoint point;
  TurningPlan *watched = turning_plan(strangeness->code, structure);
  if (!watched ||
      turning_is_singular(plan->heap, strangeness->evaluator, watched, plan->request.run.start, strangeness->y, &point))
    return;
  plan->run.watched = watched;
  plan->run.structure = structure;
}

/* Prepares other data of runs: signals, constraints to check, blocks to watch. */
static bool pass_watch(Plan *plan) {
  const Reduced *reduced = &plan->reduction.reduced;
  const Strangeness *strangeness = plan->reduction.strangeness;
  const uint32_t *source = reduced->source;
  ArrayCode *original = strangeness ? strangeness->code : plan->code;
  if (strangeness) {
    uint32_t *same = heap_array(plan->heap, strangeness->array->columns, sizeof *same);
    for (uint32_t q = 0; q < strangeness->array->columns; q++) same[q] = q;
    source = same;
  }
  plan->orders = written_orders(plan);
  plan->run = (RunPlan){.structure = reduced->structure,
                        .constraints = constraint_plan(original, source),
                        .is_converted = plan->conversions.count > 0};
  if (reduced->structure) plan->run.watched = turning_plan(reduced->code, reduced->structure);
  else if (strangeness && strangeness->free_count) watch_closed(plan);
  else if (!strangeness && plan->first.y && !plan->branches.count)
    plan->run.outside = turning_plan(plan->code, &plan->structure), plan->run.own = &plan->structure;
  return true;
}

/* A differentiated equation that contains the leaf; MAP_NONE if there is none. */
static uint32_t differentiated_equation(const Plan *plan, uint32_t leaf) {
  Dag *dag = plan->own->dag;
  uint32_t found = MAP_NONE;
  IndexVec below = {0};
  for (uint32_t i = 0; i < plan->problem.equations && found == MAP_NONE; i++) {
    below.count = 0;
    if (plan->structure.c[i] > 0) dag_below(dag, dag_scratch(dag), &plan->problem.residual[i], 1, &below);
    for (uint32_t k = 0; k < below.count; k++)
      if (dag_op(dag, below.data[k]) == OP_PARAMETER && dag_index(dag, below.data[k]) == leaf) found = i;
  }
  vec_free(dag_heap(dag), &below);
  return found;
}

/* Does the result need the derivative of an eliminated unknown whose expression contains this parameter? Such a derivative is not a
 * column, and counts as 0. */
static bool is_differentiated_alias(const Plan *plan, uint32_t leaf) {
  const Aliases *aliases = &plan->problem.aliases;
  Dag *dag = plan->own->dag;
  bool found = false;
  IndexVec below = {0};
  for (uint32_t j = 0; j < plan->model->unknowns.count && aliases->removed && !found; j++) {
    if (aliases->root[j] != UINT32_MAX || !plan->orders[j]) continue;
    below.count = 0;
    dag_below(dag, dag_scratch(dag), &aliases->constant[j], 1, &below);
    for (uint32_t k = 0; k < below.count; k++)
      found = found || (dag_op(dag, below.data[k]) == OP_PARAMETER && dag_index(dag, below.data[k]) == leaf);
  }
  vec_free(dag_heap(dag), &below);
  return found;
}

/* If the equations need derivatives of an input, the input stands for several inputs. */
static bool inputs_are_plain(Plan *plan) {
  for (uint32_t k = 0; k < plan->request.varied_count; k++) {
    const Variable *variable = &plan->own->variables.data[plan->own->parameters.data[plan->request.varied[k]]];
    if (variable->variability <= VARIABILITY_PARAMETER) continue;
    uint32_t equation = differentiated_equation(plan, plan->request.varied[k]);
    if (equation == MAP_NONE && !is_differentiated_alias(plan, plan->request.varied[k])) continue;
    Span span =
        equation == MAP_NONE ? variable->span : plan->own->equations.data[plan->problem.equation[equation]].span;
    diag_error(
        plan->diags, DIAG_STRUCTURE, span,
        "an equation that contains the input `%s` is differentiated, but a linear form has no derivatives of inputs",
        names_text(plan->own->names, variable->name));
    return false;
  }
  return true;
}

/* Prepares the derivatives of solutions with respect to the requested parameters. */
static bool differentiate(Plan *plan) {
  const Request *request = &plan->request;
  if (!request->target_count) return true;
  plan->sensitivity = sensitivity_plan(plan->code, plan->first.evaluator, &plan->structure, request->targets,
                                       request->target_count, plan->diags);
  return plan->sensitivity != NULL;
}

/* Differentiates the rows with respect to the requested parameters. */
static bool pass_vary(Plan *plan) {
  const Request *request = &plan->request;
  if (!request->varied_count && !request->target_count) return true;
  if (plan->reduction.reduced.code != plan->code || plan->reduction.strangeness) {
    diag_error(
        plan->diags, DIAG_USAGE, (Span){0},
        "method %s makes other equations, which are not differentiated with respect to parameters; use method dummy",
        request->method->name);
    return false;
  }
  if (!inputs_are_plain(plan)) return false;
  Expr *leaf = arena_array(&plan->arena, request->varied_count, sizeof *leaf);
  for (uint32_t k = 0; k < request->varied_count; k++) leaf[k] = dag_parameter(plan->own->dag, request->varied[k]);
  plan->varied = leaf_jacobian_new(plan->heap, plan->own, &plan->code->layout, plan->array.row, plan->array.rows, leaf,
                                   request->varied_count);
  return differentiate(plan);
}

static bool pass_compile(Plan *plan) {
  if (!plan->request.compile || plan->request.initialize_only) return true;
  return array_code_compile(plan->reduction.reduced.code, plan->diags);
}

/* ---- the list of passes ---- */

typedef struct PlanPass {
  bool (*run)(Plan *plan);
  size_t seconds;     /* offset of the sum to which the time of the pass is added */
  bool is_structural; /* a method by ranks does not need this pass, so the pass may fail */
} PlanPass;

static const PlanPass PLAN_PASSES[] = {
    {pass_supported, offsetof(Seconds, structure), false},
    {pass_parameters, offsetof(Seconds, structure), false},
    {pass_common, offsetof(Seconds, init), false},
    {pass_structure, offsetof(Seconds, structure), true},
    {pass_regular, offsetof(Seconds, structure), true},
    {pass_array, offsetof(Seconds, structure), true},
    {pass_resets, offsetof(Seconds, structure), false},
    {pass_inputs, offsetof(Seconds, structure), false},
    {pass_code, offsetof(Seconds, code), true},
    {pass_initial, offsetof(Seconds, init), true},
    {pass_reduce, offsetof(Seconds, code), false},
    {pass_watch, offsetof(Seconds, code), false},
    {pass_vary, offsetof(Seconds, code), false},
    {pass_compile, offsetof(Seconds, code), false},
};

double pipeline_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void seconds_add(Seconds *seconds, size_t place, double begin) {
  *(double *)(void *)((char *)seconds + place) += pipeline_clock() - begin;
}

/* A failed structural pass is an error, unless the method uses ranks. Then it is silent, and the later structural passes are
 * skipped. But a conflict of initial values is an error if the equations are as written. */
static bool run_pass(Plan *plan, const PlanPass *pass, bool *has_structure) {
  bool by_ranks = plan->request.method->by_ranks && pass->is_structural;
  if (by_ranks && !*has_structure) return true;
  Diags *diags = plan->diags, silent = diags_make(plan->heap);
  bool is_quiet = by_ranks && !(pass->run == pass_initial && !plan->conversions.count);
  if (is_quiet) plan->diags = &silent;
  bool ok = pass->run(plan);
  plan->diags = diags;
  if (by_ranks) plan->facts.conversions = NULL;
  if (ok || !is_quiet) return ok;
  *has_structure = false;
  return true;
}

static bool run_plan_passes(Plan *plan) {
  bool has_structure = true, ok = true;
  for (size_t p = 0; p < sizeof PLAN_PASSES / sizeof *PLAN_PASSES && ok; p++) {
    double begin = pipeline_clock();
    ok = run_pass(plan, &PLAN_PASSES[p], &has_structure);
    seconds_add(&plan->facts.seconds, PLAN_PASSES[p].seconds, begin);
  }
  dag_trim(plan->own->dag);
  if (plan->first.evaluator) evaluator_trim(plan->first.evaluator);
  if (!ok) return false;
  plan->discretes = heap_array(plan->heap, modes_leaves(&plan->modes), sizeof(double));
  if (plan->code)
    memcpy(plan->discretes, plan->first.evaluator->discretes, modes_leaves(&plan->modes) * sizeof(double));
  return true;
}

static void plan_begin(Plan *plan, Heap *heap, const Model *model, const Request *request, Diags *diags) {
  *plan = (Plan){.heap = heap, .arena = arena_make(heap), .diags = diags, .model = model, .request = *request};
  plan->facts = (RunFacts){.status = "input", .method = request->method->name, .equations = model->equations.count};
  plan->own = model_layer(model, heap);
}

/* Makes a plan with initial values. holds: the branches to make it for; NULL: all. */
static bool plan_make_for(Plan *plan, Heap *heap, const Model *model, const Request *request, bool *holds,
                          Diags *diags) {
  plan_begin(plan, heap, model, request, diags);
  plan->holds = holds;
  return run_plan_passes(plan);
}

/* ---- plans ---- */

static bool plan_make_by_ranks(Plan **plan, Heap *heap, const Model *model, const Request *request, uint32_t before,
                               Diags *diags) {
  Diags *attempt;
  Request asked = ranks_ask(request, heap, &attempt);
  Plan *other = heap_alloc(heap, sizeof *other);
  if (!plan_make_for(other, heap, model, &asked, NULL, attempt) ||
      !ranks_take_over(other->reduction.strangeness, request, attempt, before, diags))
    return false;
  other->diags = diags;
  *plan = other;
  return true;
}

/* Makes a plan in which equations that follow from others are replaced. */
static bool plan_make_redundant(Plan **plan, Heap *heap, const Model *model, const Request *request, uint32_t before,
                                Diags *diags) {
  Diags *attempt = heap_alloc(heap, sizeof *attempt);
  Request asked = *request;
  Plan *other = heap_alloc(heap, sizeof *other);
  *attempt = diags_make(heap);
  asked.is_redundant = true;
  if (!plan_make_for(other, heap, model, &asked, NULL, attempt)) {
    Diag *error = diags_first_error(diags), *reason = diags_first_error(attempt);
    bool is_conflict = error && reason && reason->code == DIAG_INIT;
    for (uint32_t k = 0; is_conflict && k < reason->notes.count; k++)
      diag_note(diags, error, reason->notes.data[k].span, "%s", reason->notes.data[k].message);
    if (error && reason && reason->code == DIAG_METHOD_UNFIT) diag_note(diags, error, (Span){0}, "%s", reason->message);
    return false;
  }
  other->diags = diags;
  diags_keep(diags, before);
  diags_append(diags, attempt);
  *plan = other;
  return true;
}

bool plan_make(Plan **plan, Heap *heap, const Model *model, const Request *request, Diags *diags) {
  uint32_t before = diags->list.count;
  Plan *first = *plan = heap_alloc(heap, sizeof *first);
  if (plan_make_for(first, heap, model, request, NULL, diags)) return true;
  Plan *other = plan_by_mode(first, before);
  if (other) *plan = other;
  if (other || !first->is_misled || request->method->by_ranks) return other != NULL;
  if (!request->is_redundant && plan_make_redundant(plan, heap, model, request, before, diags)) return true;
  return (first->structure.status == STRUCTURE_OK || first->own->unknowns.count <= QUICK_RANKS) &&
         plan_make_by_ranks(plan, heap, model, request, before, diags);
}

/* Values that a method has computed from those of the base, such as Baumgarte's rates, do not change. Plans for other branches
 * must not depend on the values that a run happens to have when it needs them. */
bool plan_derive(Plan *plan, Heap *heap, const Plan *base, const Plan *from, const bool *holds,
                 const double *parameters, const Handover *handover, Diags *diags) {
  Request request = base->request;
  request.handover = handover;
  if (handover) request.run.start = handover->time;
  request.opens_kinks = from->request.opens_kinks;
  request.method_options = base->reduction.options;
  plan_begin(plan, heap, base->model, &request, diags);
  plan->base = base;
  plan->parameters = heap_copy(heap, parameters, base->model->parameters.count, sizeof *parameters);
  if (holds) plan->holds = heap_copy(heap, holds, from->branches.count, sizeof *holds);
  return run_plan_passes(plan);
}

bool plan_is_derivable(const Plan *plan) { return !plan->request.method->needs_values; }

/* Does the plan have an object that changes, and so belongs to one run? */
bool plan_has_own_objects(const Plan *plan) {
  const Model *model = plan->model;
  for (uint32_t p = 0; p < model->parameters.count; p++) {
    if (model->variables.data[model->parameters.data[p]].type != TYPE_EXTERNAL_OBJECT) continue;
    const ExternalInstance *object = external_instance(plan->parameters[p]);
    if (object && !object->is_shared) return true;
  }
  return false;
}

bool plan_depends_on_values(const Plan *plan) {
  return plan->read.count || plan->reduction.strangeness || plan_has_own_objects(plan);
}
