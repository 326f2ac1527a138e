/* pipeline: see pipeline.h. Each pass leaves its result in the plan or the simulation, and its time in the facts. */
#include "pipeline.h"

#include "array/verdict.h"
#include "code/past.h"
#include "code/switches.h"
#include "external/external.h"
#include "model/input.h"
#include "reduce/mass.h"
#include "solve/jump.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* Longest step of an explicit solver, times the rate at which the method itself lets deviations die out. */
static const double EXPLICIT_STEP = 3;

/* Unknowns of a model that is refused by its structure, up to which ranks are asked whether they would do: a refusal is quick. */
enum { QUICK_RANKS = 60 };

static const double SAME_START = 1e-9; /* relative difference of initial values that are the same */

double pipeline_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- what can be run ---- */

/* Has the node no numeric value? */
static bool is_unsupported(const Model *model, Expr e) {
  switch (dag_op(model->dag, e)) {
  case OP_CALL: return !routine_can_run(model->functions.data[dag_call_info(model->dag, e).function]->routine);
  default: return false;
  }
}

/* The first such node at or below the roots; EXPR_NONE if there is none. */
static Expr first_unsupported(const Model *model, const Expr *roots, uint32_t count) {
  Expr found = EXPR_NONE;
  IndexVec below = {0};
  dag_below(model->dag, dag_scratch(model->dag), roots, count, &below);
  for (uint32_t k = 0; k < below.count && found == EXPR_NONE; k++)
    if (is_unsupported(model, below.data[k])) found = below.data[k];
  vec_free(dag_heap(model->dag), &below);
  return found;
}

static void report_unsupported(const Model *model, Expr e, Span span, Diags *diags) {
  const Routine *routine = model->functions.data[dag_call_info(model->dag, e).function]->routine;
  Diag *diag =
      diag_error(diags, DIAG_FUNCTION_UNAVAILABLE, span, "`%s` cannot be run", names_text(model->names, routine->name));
  diag_note(diags, diag, (Span){0}, routine_lacks(routine), names_text(model->names, routine->external));
}

/* An expression that a run evaluates, and where it was written. */
typedef struct Written {
  Expr e;
  Span span;
} Written;
typedef VEC(Written) WrittenVec;

static void list_actions(Heap *heap, const Action *actions, uint32_t count, WrittenVec *list) {
  for (uint32_t a = 0; a < count; a++) {
    const Expr parts[] = {actions[a].guard, actions[a].value};
    for (int k = 0; k < 2; k++)
      if (parts[k] != EXPR_NONE) vec_push(heap, list, (Written){parts[k], actions[a].span});
  }
}

static void list_when(Heap *heap, const When *when, WrittenVec *list) {
  for (uint32_t b = 0; b < when->branches.count; b++) {
    const WhenBranch *branch = &when->branches.data[b];
    for (uint32_t c = 0; c < branch->conditions.count; c++)
      vec_push(heap, list, (Written){branch->conditions.data[c], when->span});
    list_actions(heap, branch->actions.data, branch->actions.count, list);
  }
}

static void list_written(const Model *model, Heap *heap, WrittenVec *list) {
  for (uint32_t i = 0; i < model->equations.count; i++)
    vec_push(heap, list, (Written){model->equations.data[i].residual, model->equations.data[i].span});
  for (uint32_t i = 0; i < model->initial_equations.count; i++)
    vec_push(heap, list, (Written){model->initial_equations.data[i].residual, model->initial_equations.data[i].span});
  for (uint32_t i = 0; i < model->discrete_equations.count; i++)
    vec_push(heap, list, (Written){model->discrete_equations.data[i].right, model->discrete_equations.data[i].span});
  for (uint32_t w = 0; w < model->whens.count; w++) list_when(heap, &model->whens.data[w], list);
  list_actions(heap, model->asserts.data, model->asserts.count, list);
}

/* Only what can be run is called; the first that does not is named. */
static bool operators_supported(Plan *plan) {
  const Model *model = plan->own;
  WrittenVec list = {0};
  list_written(model, plan->heap, &list);
  Expr *roots = heap_array(plan->heap, list.count, sizeof *roots), found = EXPR_NONE;
  for (uint32_t k = 0; k < list.count; k++) roots[k] = list.data[k].e;
  bool fine = first_unsupported(model, roots, list.count) == EXPR_NONE;
  for (uint32_t k = 0; k < list.count && !fine && found == EXPR_NONE; k++) {
    found = first_unsupported(model, &roots[k], 1);
    if (found != EXPR_NONE) report_unsupported(model, found, list.data[k].span, plan->diags);
  }
  heap_free(plan->heap, roots);
  vec_free(plan->heap, &list);
  return fine;
}

/* What the numeric part cannot run yet is refused by name, not run wrongly. */
static bool pass_supported(Plan *plan) { return operators_supported(plan); }

/* ---- the plan ---- */

/* No choice of states serves at the initial point. */
static bool report_no_choice(Evaluator *evaluator, const Structure *structure, int32_t block, Diags *diags) {
  enum { SHOWN = 6 };
  const Blocks *blocks = &structure->blocks;
  const Array *array = evaluator->array;
  int32_t begin = blocks->start[block], size = blocks->start[block + 1] - begin;
  Diag *diag = diag_error(diags, DIAG_SINGULAR_JACOBIAN, (Span){0},
                          "at the initial values the Jacobian of %d equation%s is singular for every choice of states",
                          (int)size, size == 1 ? "" : "s");
  for (int32_t p = begin; p < begin + size && p < begin + SHOWN; p++) {
    uint32_t row = array->row_start[blocks->row[p]];
    diag_note(diags, diag, array_row_span(array, row), "equation: %s",
              evaluator_row_text(evaluator, row, &diags->arena));
  }
  diag_note(diags, diag, (Span){0}, "other initial values, or method strangeness, may work");
  return false;
}

static bool pass_parameters(Plan *plan) {
  plan->parameters = heap_array(plan->heap, plan->model->parameters.count, sizeof(double));
  return model_parameter_values(plan->model, plan->heap, plan->request.parameter_overrides, plan->parameters,
                                plan->diags);
}

static bool make_passes(Plan *plan, Heap *heap, const Model *model, const Request *request, bool *holds, Diags *diags);

/* A method by ranks starts where the others do. */
static bool pass_common(Plan *plan) {
  if (!plan->request.method->by_ranks) return true;
  Diags silent = diags_make(plan->heap);
  Request request = plan->request;
  request.method = &method_dummy;
  request.initialize_only = true;
  plan->common = heap_alloc(plan->heap, sizeof *plan->common);
  if (!make_passes(plan->common, plan->heap, plan->model, &request, NULL, &silent)) plan->common = NULL;
  return true;
}

/* The characteristic values of a method by ranks are those of the equations as written. */
static bool pass_structure(Plan *plan) {
  plan->problem = problem_make(plan->own, !plan->request.method->by_ranks, &plan->arena);
  plan->modes = modes_extract(&plan->problem, &plan->arena);
  plan->branches = branches_find(&plan->problem, &plan->arena);
  if (plan->holds) plan->problem = branches_narrow(&plan->problem, &plan->branches, plan->holds, &plan->arena);
  plan->structure = structure_run(&plan->arena, &plan->problem.incidence);
  if (plan->structure.status == STRUCTURE_OK) return true;
  /* The message speaks of the model as written. If that is sound, equations became empty by alias elimination. */
  Problem written = problem_make(plan->own, false, &plan->arena);
  Structure structure = structure_run(&plan->arena, &written.incidence);
  if (structure.status == STRUCTURE_OK) return true;
  plan->facts.status = structure.status == STRUCTURE_UNBALANCED ? "unbalanced" : "singular";
  plan->is_misled = plan->own->unknowns.count <= QUICK_RANKS;
  verdict_report(&written, &structure, plan->diags);
  return false;
}

/* The start values given, for the variables that a conversion added too: none. */
static void extend_starts(Plan *plan) {
  uint32_t given = plan->model->variables.count, count = plan->problem.model->variables.count;
  plan->starts = plan->request.starts;
  if (!plan->starts.start || count == given) return;
  double *start = heap_array(plan->heap, count, sizeof *start);
  for (uint32_t v = 0; v < count; v++) start[v] = v < given ? plan->starts.start[v] : NAN;
  plan->starts.start = start;
}

/* Structure sees zeros only: where the Jacobian is singular all the same, the equations are rewritten until it is not. */
static bool pass_regular(Plan *plan) {
  plan->facts.status = "singular";
  plan->facts.conversions = &plan->conversions;
  ConvertStatus status = convert_run(&plan->problem, &plan->structure, &plan->modes, plan->parameters, &plan->arena,
                                     &plan->conversions, NULL, plan->diags);
  extend_starts(plan);
  plan->is_misled = status != CONVERT_REGULAR;
  return status != CONVERT_FAILED;
}

/* The array has every derivative that the model speaks of, also those that only aliases write. */
static bool pass_array(Plan *plan) {
  int32_t *least = arena_array(&plan->arena, plan->problem.unknowns, sizeof *least);
  if (problem_least_orders(&plan->problem, plan->structure.d, least))
    plan->structure = structure_raise(&plan->arena, &plan->problem.incidence, &plan->structure, least);
  if (plan->structure.n_superfluous) {
    bool *named = arena_array(&plan->arena, plan->problem.unknowns, sizeof *named);
    problem_named_derivatives(&plan->problem, plan->structure.d, named);
    structure_need(&plan->arena, &plan->problem.incidence, &plan->structure, named);
  }
  plan->array = array_make(&plan->problem, plan->structure.c, plan->structure.d, &plan->arena);
  return true;
}

/* The derivatives of inputs that the equations need are those that their sources give. */
static bool pass_inputs(Plan *plan) {
  static const char *const gives[] = {[INPUT_SET] = "a value that is set has none",
                                      [INPUT_LINES] = "lines between points have derivative 1 alone",
                                      [INPUT_STAIRS] = "values that are held have none",
                                      [INPUT_FUNCTION] = "its function has no more"};
  const Problem *problem = &plan->problem;
  int32_t order;
  if (!plan->structure.c) return true; /* ranks alone say what is differentiated */
  const InputSource *source =
      model_lacking_input(problem->model, problem->residual, plan->structure.c, problem->equations, &order);
  if (!source) return true;
  const Variable *variable = &problem->model->variables.data[source->variable];
  diag_error(plan->diags, DIAG_INPUT_TOO_ROUGH, variable->span,
             "the equations need derivative %d of the input `%s`: %s", (int)order,
             names_text(problem->model->names, variable->name), gives[source->kind]);
  return false;
}

static ArrayRun make_original(const Plan *plan, Heap *heap, const double *parameters) {
  ArrayRun run = {.evaluator = evaluator_new(heap, plan->code, parameters)};
  run.dummy = dummy_new(heap, run.evaluator, plan->choice);
  run.space = statespace_new(heap, run.evaluator, plan->states);
  return run;
}

static bool pass_code(Plan *plan) {
  plan->code = array_code_new(plan->heap, &plan->array, &plan->modes);
  plan->choice = dummy_plan(plan->code, &plan->structure);
  plan->states = state_plan(plan->code, &plan->structure);
  if (plan->branches.count)
    plan->conditions = array_code_program(plan->code, plan->branches.condition, plan->branches.count);
  plan->first = make_original(plan, plan->heap, plan->parameters);
  plan->facts.evaluator = plan->first.evaluator;
  return true;
}

/* Sets all that is discrete by the values found, until it stays. Do rows depend on what has changed? */
static bool modes_differ(Switches *switches, double t, const double *y) {
  switches->matter = false;
  for (uint32_t round = 0; round <= modes_leaves(switches->modes) && !switches->matter; round++)
    if (!switches_evaluate(switches, t, y) || !switches_set(switches, t, y)) return false;
  return switches->matter;
}

/* Initial values for the modes of now, until the values found have those modes. */
static bool solve_modes(Initializer *initializer, Switches *switches, const StartValues *starts, const RunOptions *run,
                        Initial *initial, Diags *diags) {
  enum { ROUNDS = 20 };
  for (int round = 0; round < ROUNDS; round++) {
    if (!initial_solve(initializer, starts, run->start, run->tolerance, initial, diags)) return false;
    past_guess(initializer->evaluator, run->start, initial->y);
    if (!switches || !modes_differ(switches, run->start, initial->y)) return true;
  }
  diag_error(diags, DIAG_INIT, (Span){0},
             "no consistent initial values: the conditions of if-expressions do not settle; change the start "
             "values");
  return false;
}

/* Modes that a guess leaves without a solution, as it does where all ideal diodes of a bridge conduct: the combination with the
 * fewest changes is taken whose values agree with it. */
static bool enumerate_modes(Initializer *initializer, Switches *switches, const StartValues *starts,
                            const RunOptions *run, const double *guess, Initial *initial) {
  enum { LIMIT = 8 }; /* an attempt costs more than at an event */
  size_t leaves = modes_leaves(switches->modes) * sizeof(double);
  double *discretes = initializer->evaluator->discretes, *first = heap_alloc(initializer->heap, leaves);
  Diags attempt = diags_make(initializer->heap);
  Trial trial = switches_trial(switches, LIMIT);
  memcpy(first, discretes, leaves);
  while (trial_next(&trial)) {
    memcpy(discretes, first, leaves);
    switches_try(switches, &trial, run->start, guess);
    if (solve_modes(initializer, switches, starts, run, initial, &attempt) && switches_agree(switches)) return true;
    diags_keep(&attempt, 0);
  }
  memcpy(discretes, first, leaves);
  return false;
}

static bool find_initial(Initializer *initializer, const StartValues *starts, const RunOptions *run, Initial *initial,
                         Diags *diags) {
  Switches *switches = switches_new(initializer->heap, initializer->evaluator);
  Decisions *decisions = switches ? switches->decisions : NULL;
  uint32_t before = diags->list.count;
  if (decisions) decisions_start(decisions);
  double *guess = heap_array(initializer->heap, initializer->evaluator->array->columns, sizeof *guess);
  if (switches) {
    if (!initial_guess(initializer, starts, guess, diags)) return false;
    past_guess(initializer->evaluator, run->start, guess);
    switches_guess(switches, run->start, guess);
  }
  if (!solve_modes(initializer, switches, starts, run, initial, diags)) {
    if (!switches || !enumerate_modes(initializer, switches, starts, run, guess, initial)) return false;
    diags_keep(diags, before);
  }
  if (decisions && !decisions_defined(decisions, run->start, DIAG_INIT, diags)) return false;
  if (decisions) decisions_started(decisions);
  initial_report_bounds(initializer, initial, diags);
  return true;
}

/* Inputs that the caller sets begin at their start values. */
static void start_inputs(Evaluator *evaluator, const StartValues *starts) {
  const Model *model = evaluator->model;
  for (uint32_t k = 0; k < model->inputs.count; k++) {
    uint32_t position = model->inputs.data[k].variable;
    const Variable *variable = &model->variables.data[position];
    double value = starts->start ? starts->start[position] : NAN;
    if (isnan(value) && (variable->start == EXPR_NONE || !evaluator_constant(evaluator, variable->start, &value)))
      value = 0;
    inputs_start(evaluator->inputs, position, value);
  }
}

static Initializer make_initializer(const Plan *plan, Heap *heap, const ArrayRun *run) {
  return (Initializer){.heap = heap,
                       .evaluator = run->evaluator,
                       .structure = &plan->structure,
                       .dummy = run->dummy,
                       .space = run->space};
}

/* Start values at the point that the other methods start from. */
static StartValues common_starts(const Plan *plan) {
  StartValues starts = plan->starts;
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

/* ---- at an event that changes the structure ---- */

/* The values of the handover in another array; the columns that jump do so as the equations integrated over the instant say. */
static bool take_over(const Plan *plan, ArrayRun *run, const Handover *from, Heap *heap, Diags *diags) {
  Evaluator *evaluator = run->evaluator;
  const Array *array = &plan->array;
  size_t leaves = modes_leaves(&plan->modes) * sizeof(double);
  uint32_t column;
  int32_t block;
  run->y = heap_array(heap, array->columns, sizeof(double));
  memcpy(evaluator->discretes, from->evaluator->discretes, leaves);
  memcpy(evaluator->pre, from->evaluator->pre, leaves);
  if (evaluator->past) past_restore(evaluator->past, from->evaluator->past);
  for (uint32_t q = 0; q < array->columns; q++) {
    uint32_t unknown = plan->problem.unknown[array->column_unknown[q]];
    double value = evaluator_value(from->evaluator, from->y, unknown, array_order(array, q));
    run->y[q] = isfinite(value) ? value : 0;
  }
  if (!jump_solve(jump_new(heap, evaluator), from->time, run->y, &column)) {
    diag_error(diags, DIAG_JUMP, (Span){0},
               "at the event at time %.10g the equations do not determine by how much %s jumps", from->time,
               array_column_name(array, column, &diags->arena));
    return false;
  }
  if (!dummy_select(run->dummy, from->time, run->y, &block))
    return report_no_choice(evaluator, &plan->structure, block, diags);
  statespace_choose(run->space, dummy_depth(run->dummy));
  if (statespace_complete(run->space, from->time, run->y) == EVAL_OK) return true;
  diag_error(diags, DIAG_JUMP, (Span){0},
             "at the event at time %.10g, which changes the structure, no consistent values were found", from->time);
  return false;
}

/* The branches that hold at the discrete values of now. */
static bool *branches_now(const Plan *plan, Evaluator *evaluator, Heap *heap) {
  uint32_t count = plan->branches.count;
  double *values = heap_array(heap, count, sizeof *values);
  bool *holds = heap_array(heap, count, sizeof *holds);
  Point point = evaluator_point(evaluator, 0, NULL);
  workspace_run(workspace_new(heap, plan->conditions), &point, values);
  for (uint32_t k = 0; k < count; k++) holds[k] = values[k] != 0;
  heap_free(heap, values);
  return holds;
}

/* Do the equations in the mode of now need other differentiations than those of all branches together? Then their structure says
 * nothing about this mode. */
static bool needs_mode(Plan *plan) {
  if (!plan->branches.count || plan->holds || plan->conversions.count) return false;
  bool *holds = branches_now(plan, plan->first.evaluator, plan->heap);
  Problem narrow = branches_narrow(&plan->problem, &plan->branches, holds, &plan->arena);
  Structure structure = structure_run(&plan->arena, &narrow.incidence);
  if (structure.status != STRUCTURE_OK) return false;
  for (uint32_t i = 0; i < narrow.equations; i++)
    if (structure.c[i] > plan->structure.c[i]) return true;
  return false;
}

static bool pass_initial(Plan *plan) {
  plan->facts.status = "init";
  if (plan->request.handover) {
    plan->initial.y = NULL;
    return take_over(plan, &plan->first, plan->request.handover, plan->heap, plan->diags);
  }
  start_inputs(plan->first.evaluator, &plan->starts);
  plan->initializer = make_initializer(plan, plan->heap, &plan->first);
  StartValues starts = plan->common ? common_starts(plan) : plan->starts;
  if (!find_initial(&plan->initializer, &starts, &plan->request.run, &plan->initial, plan->diags)) return false;
  plan->first.y = plan->initial.y;
  return plan->request.method->by_ranks || !needs_mode(plan);
}

/* Delays look back at values of the model's own unknowns; a method that makes another model of it leaves none. */
static bool carries_delays(Plan *plan) {
  const Logic *logic = plan->problem.logic;
  if (!logic || !logic->delays.count || plan->reduction.reduced.modes == &plan->modes) return true;
  diag_error(plan->diags, DIAG_USAGE, (Span){0}, "method %s cannot carry %s", plan->request.method->name,
             model_text(plan->own, logic->delays.data[0].written, &plan->diags->arena));
  return false;
}

/* What the method makes of the array at the initial point. */
static bool pass_reduce(Plan *plan) {
  const Request *request = &plan->request;
  int32_t block;
  plan->facts.status = "singular";
  if (plan->first.y && !dummy_select(plan->first.dummy, request->run.start, plan->first.y, &block) &&
      !request->method->by_ranks) {
    plan->is_misled = true;
    return report_no_choice(plan->first.evaluator, &plan->structure, block, plan->diags);
  }
  plan->reduction = (Reduction){.heap = plan->heap,
                                .arena = &plan->arena,
                                .diags = plan->diags,
                                .model = plan->own,
                                .parameters = plan->parameters,
                                .starts = request->starts.start,
                                .is_converted = plan->conversions.count > 0,
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
                                .options = request->method_options};
  mass_examine(&plan->reduction);
  if (!request->method->apply(&plan->reduction)) {
    if (diags_code(plan->diags) == DIAG_INIT) plan->facts.status = "init";
    return false;
  }
  reduction_remove_superfluous(&plan->reduction);
  return carries_delays(plan);
}

/* What runs need besides: signals, constraints to check, blocks to watch. */
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
  plan->orders = problem_written_orders(reduced->code->model, dag_scratch(reduced->code->model->dag));
  plan->run = (RunPlan){.structure = reduced->structure, .constraints = constraint_plan(original, source)};
  if (reduced->structure) plan->run.watched = turning_plan(reduced->code, reduced->structure);
  return true;
}

static bool pass_compile(Plan *plan) {
  if (!plan->request.compile || plan->request.initialize_only) return true;
  return array_code_compile(plan->reduction.reduced.code, plan->diags);
}

/* ---- the run ---- */

/* Two values of a parameter serve the same run. Objects that never change are made of other parameters. */
static bool same_parameter(const Model *model, uint32_t p, double a, double b) {
  if (model->variables.data[model->parameters.data[p]].type != TYPE_EXTERNAL_OBJECT)
    return a == b || (isnan(a) && isnan(b));
  const ExternalInstance *mine = external_instance(a);
  return mine && mine->is_shared;
}

static bool same_parameters(const Model *model, const double *a, const double *b) {
  for (uint32_t p = 0; p < model->parameters.count; p++)
    if (!same_parameter(model, p, a[p], b[p])) return false;
  return true;
}

static bool same_numbers(const double *a, const double *b, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (!(a[k] == b[k] || (isnan(a[k]) && isnan(b[k])))) return false;
  return true;
}

/* Does the run begin with just the values of its plan? */
static bool has_plan_values(const Simulation *simulation, const double *parameters) {
  const Plan *plan = simulation->plan;
  const double *mine = simulation->request.starts.start, *given = plan->request.starts.start;
  if (simulation->request.run.start != plan->request.run.start) return false;
  if (!same_parameters(plan->model, parameters, plan->parameters)) return false;
  if (!mine || !given) return mine == given;
  return same_numbers(mine, given, plan->model->variables.count);
}

/* The plan's initial values. What explains them is made anew if it is asked for: it belongs to the plan's own run. */
static void copy_initial(Simulation *simulation) {
  const Plan *plan = simulation->plan;
  Heap *heap = simulation->heap;
  Initial *initial = &simulation->initial;
  *initial = plan->initial;
  initial->system = NULL;
  initial->column = heap_array(heap, initial->columns, sizeof *initial->column);
  initial->value = heap_array(heap, initial->columns, sizeof *initial->value);
  initial->y = heap_array(heap, plan->array.columns, sizeof *initial->y);
  memcpy(initial->column, plan->initial.column, initial->columns * sizeof *initial->column);
  memcpy(initial->value, plan->initial.value, initial->columns * sizeof *initial->value);
  memcpy(initial->y, plan->initial.y, plan->array.columns * sizeof *initial->y);
}

/* A plan for other values of the parameters that it depends on. */
static bool make_own_plan(Simulation *simulation) {
  Plan *own = heap_alloc(simulation->heap, sizeof *own);
  bool made = plan_make(own, simulation->heap, simulation->plan->model, &simulation->request, simulation->diags);
  simulation->plan = own;
  simulation->facts = own->facts;
  return made;
}

/* Was the plan made for the mode of now? */
static bool fits_mode(const Plan *plan, Evaluator *evaluator, Heap *heap) {
  if (!plan->holds) return true;
  const bool *now = branches_now(plan, evaluator, heap);
  return memcmp(now, plan->holds, plan->branches.count * sizeof *now) == 0;
}

/* Fresh values for a plan that others run too. */
static bool begin_shared(Simulation *simulation) {
  Heap *heap = simulation->heap;
  const Model *model = simulation->plan->model;
  double *parameters = heap_array(heap, model->parameters.count, sizeof *parameters);
  if (!model_parameter_values(model, heap, simulation->request.parameter_overrides, parameters, simulation->diags))
    return false;
  bool same = has_plan_values(simulation, parameters);
  if (!same && plan_depends_on_values(simulation->plan)) {
    if (!make_own_plan(simulation)) return false;
    same = true;
  }
  const Plan *plan = simulation->plan;
  if (!plan->code || !plan->initial.y) return true; /* the method goes by ranks alone */
  simulation->original = make_original(plan, heap, same ? plan->first.evaluator->parameters : parameters);
  start_inputs(simulation->original.evaluator, &simulation->request.starts);
  simulation->initializer = make_initializer(plan, heap, &simulation->original);
  simulation->facts.evaluator = simulation->original.evaluator;
  if (same) {
    copy_initial(simulation);
    memcpy(simulation->original.evaluator->discretes, plan->discretes, modes_leaves(&plan->modes) * sizeof(double));
  } else {
    simulation->facts.status = "init";
    if (!find_initial(&simulation->initializer, &simulation->request.starts, &simulation->request.run,
                      &simulation->initial, simulation->diags))
      return false;
    if (!fits_mode(plan, simulation->original.evaluator, heap))
      return make_own_plan(simulation) && begin_shared(simulation);
  }
  simulation->original.y = simulation->initial.y;
  return true;
}

/* The values that the plan was made at. */
static void begin_alone(Simulation *simulation) {
  const Plan *plan = simulation->plan;
  simulation->original = plan->first;
  simulation->initializer = plan->initializer;
  simulation->initial = plan->initial;
}

/* Moves the start by the perturbation asked for; what is no state follows. Rates move less than what they are rates of, by a
 * ratio that no model has: equal changes can leave an energy as it is. */
static void perturb_start(View *view, double t, double perturbation, double *y) {
  static const double ratio = 0.6180339887498949;
  const System *system = &view->system;
  if (!system->complete || perturbation == 0) return;
  for (int32_t k = 0; k < system->links; k++) {
    double *value = &y[system->link_from[k]];
    uint32_t order = array_order(view->evaluator->array, (uint32_t)system->link_from[k]);
    *value += perturbation * fmax(1, fabs(*value)) * pow(ratio, order);
  }
  view->methods->solve(view, t, y);
}

static bool make_view(Simulation *simulation) {
  const Plan *plan = simulation->plan;
  const Strangeness *strangeness = plan->reduction.strangeness;
  if (strangeness) {
    simulation->strangeness = strangeness_run(strangeness, simulation->heap, &simulation->arena, simulation->diags);
    simulation->facts.strangeness = &simulation->strangeness;
    simulation->system = (ArrayRun){.evaluator = simulation->strangeness.evaluator, .y = simulation->strangeness.y};
    simulation->facts.evaluator = simulation->system.evaluator;
    simulation->view = view_strangeness(simulation->heap, &simulation->strangeness, simulation->system.y);
    if (simulation->initial.solved && strangeness->reduced) return true;
    simulation->initializer = (Initializer){.heap = simulation->heap, .ranks = &simulation->strangeness};
    simulation->initial =
        initial_of_ranks(&simulation->initializer, &simulation->request.starts, simulation->request.run.start);
    return true;
  }
  simulation->facts.evaluator = simulation->original.evaluator;
  simulation->facts.reduction = &plan->reduction;
  simulation->system = reduced_run(&plan->reduction, &simulation->original, simulation->heap);
  const Structure *structure = plan->reduction.reduced.structure;
  if (structure) {
    const ArrayRun *system = &simulation->system;
    int32_t block;
    if (!dummy_select(system->dummy, simulation->request.run.start, system->y, &block))
      return report_no_choice(system->evaluator, structure, block, simulation->diags);
    statespace_choose(system->space, dummy_depth(system->dummy));
  }
  View *view = simulation->view =
      view_reduced(simulation->heap, &plan->reduction, &simulation->original, &simulation->system);
  if (!plan->conditions || plan->reduction.reduced.modes != plan->reduction.modes) return true;
  view->conditions = workspace_new(simulation->heap, plan->conditions);
  view->holds = plan->holds;
  view->branches = plan->branches.count;
  view->values = heap_array(simulation->heap, view->branches, sizeof(double));
  return true;
}

static void make_recorder(Simulation *simulation) {
  const System *system = &simulation->view->system;
  bool *is_state = heap_array(simulation->heap, (size_t)system->columns, sizeof *is_state);
  for (int32_t k = 0; k < system->links; k++) is_state[system->link_from[k]] = true;
  simulation->facts.states = (uint32_t)system->links;
  simulation->facts.run_evaluator = simulation->system.evaluator;
  simulation->recorder = recorder_new(simulation->heap, simulation->system.evaluator, simulation->plan->orders,
                                      is_state, simulation->request.choice);
  simulation->facts.recorder = simulation->recorder;
}

static bool pass_view(Simulation *simulation) {
  const Request *request = &simulation->request;
  simulation->facts.status = "singular";
  if (!make_view(simulation)) return false;
  const System *system = &simulation->view->system;
  const Integrator *integrator = request->run.integrator;
  if (integrator && integrator->explicit_form && !system->complete) {
    diag_error(simulation->diags, DIAG_USAGE, (Span){0},
               "solver %s needs the state-space form, which method %s does not make of this model; use radau or bdf",
               integrator->name, request->method->name);
    return false;
  }
  perturb_start(simulation->view, request->run.start, request->perturbation, simulation->system.y);
  make_recorder(simulation);
  if (request->initialize_only) recorder_add(simulation->recorder, request->run.start, simulation->system.y);
  return true;
}

/* Part of the tolerance that a multistep method gets when it is daedal's own choice: errors add up over its many steps. */
static double multistep_accuracy(double tolerance) { return fmin(1, fmax(0.02, 1e-13 / tolerance)); }

/* ---- modes with a structure of their own ---- */

static const Plan *find_mode(const Simulation *simulation, const bool *holds) {
  size_t count = simulation->plan->branches.count;
  for (uint32_t k = 0; k < simulation->modes.count; k++)
    if (memcmp(simulation->modes.data[k]->holds, holds, count * sizeof *holds) == 0) return simulation->modes.data[k];
  return NULL;
}

/* The plan of the mode that the handover leads into, made when first met; NULL: of the mode in which the run begins. NULL: an
 * error is in diags. */
static const Plan *plan_mode(Simulation *simulation, const Handover *handover, bool *is_new) {
  Heap *heap = simulation->heap;
  Evaluator *evaluator = handover ? handover->evaluator : simulation->view->evaluator;
  bool *holds = branches_now(simulation->plan, evaluator, heap);
  const Plan *known = find_mode(simulation, holds);
  *is_new = !known;
  if (known) return known;
  Request request = simulation->request;
  request.handover = handover;
  if (handover) request.run.start = handover->time;
  Plan *plan = heap_alloc(heap, sizeof *plan);
  if (!make_passes(plan, heap, simulation->plan->model, &request, holds, simulation->diags)) return NULL;
  vec_push(heap, &simulation->modes, plan);
  return plan;
}

/* The columns of the model's array where the view is. */
static double *original_columns(const Simulation *simulation, const double *y, Heap *heap) {
  const View *view = simulation->view;
  uint32_t columns = view->original->array->columns;
  double *own = heap_array(heap, columns, sizeof *own);
  for (uint32_t q = 0; q < columns; q++)
    own[q] = view->source[q] == MAP_NONE ? NAN : view->sign[q] * y[view->source[q]];
  return own;
}

/* Goes over to the plan of the mode that the event leads into. */
static bool restructure(Simulation *simulation, double t, const double *y) {
  bool is_new;
  View *before = simulation->view;
  Handover handover = {t, before->original, original_columns(simulation, y, simulation->heap)};
  memcpy(handover.evaluator->discretes, before->evaluator->discretes,
         simulation->plan->model->discretes.count * sizeof(double));
  const Plan *plan = plan_mode(simulation, &handover, &is_new);
  if (!plan) return false;
  ArrayRun original = is_new ? plan->first : make_original(plan, simulation->heap, before->original->parameters);
  if (!is_new && !take_over(plan, &original, &handover, simulation->heap, simulation->diags)) return false;
  simulation->plan = plan;
  simulation->original = original;
  simulation->original.evaluator->inputs = before->evaluator->inputs;
  simulation->request.run.start = t;
  if (!make_view(simulation)) return false;
  switches_adopt(simulation->view->switches, before->switches);
  if (before->switches->decisions)
    decisions_restore(simulation->view->switches->decisions,
                      decisions_save(before->switches->decisions, simulation->heap));
  recorder_rebind(simulation->recorder, simulation->system.evaluator);
  simulation->statistics.replans++;
  return true;
}

/* Begins in a plan of its own for the mode at the start, which the one for all branches does not fit. */
static bool begin_in_mode(Simulation *simulation) {
  bool is_new;
  const Plan *plan = plan_mode(simulation, NULL, &is_new);
  if (!plan) return false;
  simulation->plan = plan;
  simulation->original = plan->first;
  simulation->initializer = plan->initializer;
  simulation->initial = plan->initial;
  simulation->statistics = (RunStatistics){0};
  if (!make_view(simulation)) return false;
  simulation->facts.states = (uint32_t)simulation->view->system.links;
  recorder_rebind(simulation->recorder, simulation->system.evaluator);
  return true;
}

static RunStatus begin_loop(Simulation *simulation, bool resumes) {
  return run_begin(simulation->run, simulation->view, &simulation->plan->run, simulation->request.run.start,
                   simulation->system.y, resumes);
}

/* Where the structure changes, the run goes on in another system. Some event may change it again and again. */
static RunStatus follow_structure(Simulation *simulation) {
  enum { LIMIT = 1000 }; /* changes of the structure at one time */
  const double *y;
  double t = run_event(simulation->run, &y);
  simulation->changes = t > simulation->changed ? 0 : simulation->changes + 1;
  simulation->changed = t;
  if (simulation->changes == LIMIT) {
    diag_error(simulation->diags, DIAG_CHATTERING, (Span){0},
               "at time %.10g the structure of the equations changes again and again", t);
    return RUN_FAILED;
  }
  return restructure(simulation, t, y) ? begin_loop(simulation, true) : RUN_FAILED;
}

/* The options of the integration: those asked for, as the method allows. */
static RunOptions integration_options(const Simulation *simulation) {
  const Request *request = &simulation->request;
  const Reduced *reduced = &simulation->plan->reduction.reduced;
  RunOptions options = request->run;
  if (!request->method->by_ranks) options.tolerance *= reduced_accuracy(reduced, options.tolerance);
  else if (!options.integrator) options.tolerance *= multistep_accuracy(options.tolerance);
  if (reduced->rate > 0 && (!options.integrator || options.integrator->explicit_form)) {
    double longest = EXPLICIT_STEP / reduced->rate; /* stages, and above all the output between them, stay stable */
    if (options.max_step == 0 || options.max_step > longest) options.max_step = longest;
  }
  return options;
}

static void make_loop(Simulation *simulation) {
  Recorder *recorder = simulation->request.is_stepped ? NULL : simulation->recorder;
  simulation->facts.status = "integration";
  simulation->facts.statistics = &simulation->statistics;
  simulation->options = integration_options(simulation);
  simulation->changed = -HUGE_VAL;
  simulation->run =
      run_new(simulation->heap, &simulation->options, recorder, &simulation->statistics, simulation->diags);
}

static bool pass_begin(Simulation *simulation) {
  if (simulation->request.initialize_only) return true;
  make_loop(simulation);
  RunStatus status = begin_loop(simulation, false);
  if (status == RUN_MISLED) status = begin_in_mode(simulation) ? begin_loop(simulation, false) : RUN_FAILED;
  while (status == RUN_RESTRUCTURED) status = follow_structure(simulation);
  return status == RUN_DONE;
}

/* Goes on after a call that ended so, through every structure. */
static bool go_on(Simulation *simulation, RunStatus status, double until, bool once) {
  while (status == RUN_RESTRUCTURED) {
    status = follow_structure(simulation);
    if (status == RUN_DONE && !once) status = run_advance(simulation->run, until, false);
  }
  return status == RUN_DONE;
}

bool simulation_advance(Simulation *simulation, double until, bool once) {
  return go_on(simulation, run_advance(simulation->run, until, once), until, once);
}

static bool pass_integrate(Simulation *simulation) {
  const Request *request = &simulation->request;
  if (request->initialize_only || request->is_stepped) return true;
  return simulation_advance(simulation, request->run.stop, false) && run_end(simulation->run) == RUN_DONE;
}

static void simulation_begin(Simulation *simulation, Heap *heap, const Plan *plan, const Request *request,
                             Diags *diags) {
  *simulation =
      (Simulation){.heap = heap, .arena = arena_make(heap), .diags = diags, .plan = plan, .request = *request};
}

/* ---- states and copies of a run under way ---- */

struct SimulationState {
  const Plan *plan;
  ArrayRun original, system;
  View *view;
  RunState *reached;
};

SimulationState *simulation_save(Simulation *simulation, Heap *heap) {
  SimulationState *state = heap_alloc(heap, sizeof *state);
  RunState *reached = run_save(simulation->run, heap);
  if (!reached) return NULL;
  *state = (SimulationState){simulation->plan, simulation->original, simulation->system, simulation->view, reached};
  return state;
}

bool simulation_restore(Simulation *simulation, const SimulationState *state) {
  simulation->plan = state->plan;
  simulation->original = state->original;
  simulation->system = state->system;
  simulation->view = state->view;
  recorder_rebind(simulation->recorder, simulation->system.evaluator);
  return run_restore(simulation->run, state->reached);
}

/* The plan that the other run is in: shared, or made once more for this one. */
static bool share_plan(Simulation *simulation, const Simulation *from, const Handover *here) {
  bool is_new;
  if (from->plan == from->shared) return true;
  if (!from->plan->holds) return make_own_plan(simulation);
  simulation->plan = plan_mode(simulation, here, &is_new);
  return simulation->plan != NULL;
}

static void copy_values(Evaluator *to, const Evaluator *from) {
  size_t leaves = modes_leaves(from->code->modes) * sizeof(double);
  memcpy(to->discretes, from->discretes, leaves);
  memcpy(to->pre, from->pre, leaves);
}

/* The numbers of the request in a heap of one's own. */
static Request copy_request(const Simulation *from, Heap *heap) {
  Request request = from->request;
  const Model *model = from->plan->model;
  if (request.parameter_overrides)
    request.parameter_overrides = heap_copy(heap, request.parameter_overrides, model->parameters.count, sizeof(double));
  if (request.starts.start)
    request.starts.start = heap_copy(heap, request.starts.start, model->variables.count, sizeof(double));
  request.choice = (RecorderChoice){0};
  return request;
}

/* The values of the other run, for the plan that both have. */
static void share_values(Simulation *simulation, const Handover *here) {
  const Plan *plan = simulation->plan;
  Heap *heap = simulation->heap;
  if (!plan->code) return; /* the method goes by ranks alone */
  simulation->original = make_original(plan, heap, here->evaluator->parameters);
  simulation->original.y = heap_copy(heap, here->y, plan->array.columns, sizeof(double));
  copy_values(simulation->original.evaluator, here->evaluator);
}

bool simulation_clone(Simulation *simulation, Heap *heap, const Simulation *from, const SimulationState *state,
                      Diags *diags) {
  Request request = copy_request(from, heap);
  simulation_begin(simulation, heap, from->shared ? from->shared : from->plan, &request, diags);
  simulation->shared = from->shared;
  Handover here = {run_time(from->run), from->view->original, original_columns(from, run_values(from->run), heap)};
  if (!share_plan(simulation, from, &here)) return false;
  simulation->request.run.start = here.time;
  share_values(simulation, &here);
  if (!make_view(simulation)) return false;
  make_recorder(simulation);
  make_loop(simulation);
  simulation->facts = from->facts;
  simulation->facts.evaluator = NULL;
  simulation->facts.recorder = simulation->recorder;
  simulation->facts.statistics = &simulation->statistics;
  simulation->facts.run_evaluator = simulation->system.evaluator;
  return run_adopt(simulation->run, simulation->view, &simulation->plan->run, state->reached);
}

/* ---- values of a run that is stepped ---- */

double simulation_value(const Simulation *simulation, const Signal *signal, const double *y) {
  if (signal->column == SIGNAL_CONSTANT) return signal->value;
  const Evaluator *evaluator = simulation->system.evaluator;
  uint32_t source = simulation->recorder->source[signal->column], columns = evaluator->array->columns;
  double value = source < columns ? y[source] : evaluator->discretes[source - columns];
  return signal->negated ? -value : value;
}

bool simulation_reset(Simulation *simulation, const Signal *signal, double value) {
  uint32_t columns = simulation->system.evaluator->array->columns;
  uint32_t source = signal->column == SIGNAL_CONSTANT ? columns : simulation->recorder->source[signal->column];
  if (source >= columns) return false;
  if (!simulation->held) {
    simulation->held = heap_array(simulation->heap, columns, sizeof *simulation->held);
    simulation->reset = heap_array(simulation->heap, columns, sizeof *simulation->reset);
  }
  simulation->held[source] = 1;
  simulation->reset[source] = signal->negated ? -value : value;
  simulation->is_disturbed = true;
  return true;
}

bool simulation_give(Simulation *simulation, uint32_t variable, double value) {
  bool given = inputs_give(simulation->view->evaluator->inputs, variable, value);
  simulation->is_disturbed = simulation->is_disturbed || given;
  return given;
}

bool simulation_settle(Simulation *simulation) {
  if (!simulation->is_disturbed) return true;
  RunStatus status = run_disturb(simulation->run, simulation->held, simulation->reset);
  bool ok = go_on(simulation, status, run_time(simulation->run), true);
  heap_free_all(simulation->heap, simulation->held, simulation->reset);
  simulation->held = NULL;
  simulation->reset = NULL;
  simulation->is_disturbed = false;
  return ok;
}

/* ---- the lists of passes ---- */

typedef struct PlanPass {
  bool (*run)(Plan *plan);
  size_t seconds;     /* where its time goes */
  bool is_structural; /* a method by ranks does without, if it fails */
} PlanPass;

static const PlanPass PLAN_PASSES[] = {
    {pass_supported, offsetof(Seconds, structure), false}, {pass_parameters, offsetof(Seconds, structure), false},
    {pass_common, offsetof(Seconds, init), false},         {pass_structure, offsetof(Seconds, structure), true},
    {pass_regular, offsetof(Seconds, structure), true},    {pass_array, offsetof(Seconds, structure), true},
    {pass_inputs, offsetof(Seconds, structure), false},    {pass_code, offsetof(Seconds, code), true},
    {pass_initial, offsetof(Seconds, init), true},         {pass_reduce, offsetof(Seconds, code), false},
    {pass_watch, offsetof(Seconds, code), false},          {pass_compile, offsetof(Seconds, code), false},
};

typedef struct RunPass {
  bool (*run)(Simulation *simulation);
  size_t seconds;
} RunPass;

static const RunPass RUN_PASSES[] = {
    {pass_view, offsetof(Seconds, code)},
    {pass_begin, offsetof(Seconds, integrate)},
    {pass_integrate, offsetof(Seconds, integrate)},
};

static void add_seconds(Seconds *seconds, size_t place, double begin) {
  *(double *)(void *)((char *)seconds + place) += pipeline_clock() - begin;
}

/* A failed structural pass is an error, unless the method goes by ranks: then it is silent, and the structural passes that follow are
 * left out. Only a conflict of initial values counts all the same, if the equations are as written. */
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

/* holds: the branches to make it for; NULL: all. */
static bool make_passes(Plan *plan, Heap *heap, const Model *model, const Request *request, bool *holds, Diags *diags) {
  bool has_structure = true, ok = true;
  *plan = (Plan){.heap = heap, .arena = arena_make(heap), .diags = diags, .model = model, .request = *request};
  plan->facts = (RunFacts){.status = "input", .method = request->method->name, .equations = model->equations.count};
  plan->own = model_layer(model, heap);
  plan->holds = holds;
  for (size_t p = 0; p < sizeof PLAN_PASSES / sizeof *PLAN_PASSES && ok; p++) {
    double begin = pipeline_clock();
    ok = run_pass(plan, &PLAN_PASSES[p], &has_structure);
    add_seconds(&plan->facts.seconds, PLAN_PASSES[p].seconds, begin);
  }
  if (!ok) return false;
  plan->discretes = heap_array(heap, modes_leaves(&plan->modes), sizeof(double));
  if (plan->code)
    memcpy(plan->discretes, plan->first.evaluator->discretes, modes_leaves(&plan->modes) * sizeof(double));
  return true;
}

/* ---- the method by ranks in place of another ---- */

/* The same request for it, with messages of its own. */
static Request ask_ranks(const Request *request, Heap *heap, Diags **attempt) {
  Request asked = *request;
  asked.method = &method_strangeness;
  *attempt = heap_alloc(heap, sizeof **attempt);
  **attempt = diags_make(heap);
  return asked;
}

/* Ranks have succeeded where the request failed: do they take its place, with their messages instead of those behind the first
 * `before`? Only for the default method, and if no equation follows from others and no variable is free. Otherwise a note names them. */
static bool ranks_take_over(const Strangeness *strangeness, const Request *request, const Diags *attempt,
                            uint32_t before, Diags *diags) {
  Diag *error = diags_first_error(diags);
  if (!error) return false;
  if (request->method == &method_dummy && !request->keeps_method && !strangeness->v && !strangeness->u) {
    const char *reason = error->message;
    diags_keep(diags, before);
    diag_warning(diags, DIAG_METHOD_REPLACED, (Span){0}, "method %s fails, method strangeness takes its place: %s",
                 request->method->name, reason);
    diags_append(diags, attempt);
    return true;
  }
  diag_note(diags, error, (Span){0},
            "method strangeness runs this model; %d of its equations follow from others, %d of its variables are free",
            (int)strangeness->v, (int)strangeness->u);
  return false;
}

/* A plan that failed for all branches, made for those that hold at the start values. */
static bool plan_by_mode(Plan *plan, uint32_t before) {
  Heap *heap = plan->heap;
  if (!plan->conditions || plan->holds || plan->request.method->by_ranks) return false;
  Diags attempt = diags_make(heap);
  Plan *other = heap_alloc(heap, sizeof *other);
  bool *holds = branches_now(plan, plan->first.evaluator, heap);
  if (!make_passes(other, heap, plan->model, &plan->request, holds, &attempt)) return false;
  Diags *diags = plan->diags;
  diags_keep(diags, before);
  diags_append(diags, &attempt);
  *plan = *other;
  plan->arena = arena_make(heap); /* what is in the other one is used where it is */
  plan->diags = diags;
  return true;
}

bool plan_make(Plan *plan, Heap *heap, const Model *model, const Request *request, Diags *diags) {
  uint32_t before = diags->list.count;
  if (make_passes(plan, heap, model, request, NULL, diags) || plan_by_mode(plan, before)) return true;
  if (!plan->is_misled || request->method->by_ranks) return false;
  Diags *attempt;
  Request asked = ask_ranks(request, heap, &attempt);
  Plan *other = heap_alloc(heap, sizeof *other);
  if (!make_passes(other, heap, model, &asked, NULL, attempt) ||
      !ranks_take_over(other->reduction.strangeness, request, attempt, before, diags))
    return false;
  *plan = *other;
  plan->arena = arena_make(heap); /* what is in the other one is used where it is */
  plan->diags = diags;
  return true;
}

/* An object that changes belongs to one run. */
static bool has_own_objects(const Plan *plan) {
  const Model *model = plan->model;
  for (uint32_t p = 0; p < model->parameters.count; p++) {
    if (model->variables.data[model->parameters.data[p]].type != TYPE_EXTERNAL_OBJECT) continue;
    const ExternalInstance *object = external_instance(plan->parameters[p]);
    if (object && !object->is_shared) return true;
  }
  return false;
}

bool plan_depends_on_values(const Plan *plan) {
  return plan->conversions.count || plan->reduction.strangeness || has_own_objects(plan);
}

/* What functions printed is told with the other messages, each line once in a row. */
static void report_printed(Simulation *simulation) {
  enum { SHOWN = 20 };
  TextVec *printed = &external_state(simulation->heap)->printed;
  uint32_t shown = 0;
  const char *before = "";
  for (char *line = printed->count ? printed->data : NULL, *end; line && *line && shown < SHOWN; line = end + 1) {
    end = strchr(line, '\n');
    *end = 0;
    if (strcmp(line, before) != 0) {
      diag_warning(simulation->diags, DIAG_MODEL_SAYS, (Span){0}, "the model prints: %s", line);
      shown++;
    }
    before = line;
  }
  printed->count = 0;
}

static bool run_passes(Simulation *simulation) {
  for (size_t p = 0; p < sizeof RUN_PASSES / sizeof *RUN_PASSES; p++) {
    double begin = pipeline_clock();
    bool ok = RUN_PASSES[p].run(simulation);
    add_seconds(&simulation->facts.seconds, RUN_PASSES[p].seconds, begin);
    if (!ok) return false;
  }
  report_printed(simulation);
  simulation->facts.status = "ok";
  return true;
}

/* With a plan of its own. */
static bool simulate_alone(Simulation *simulation, Heap *heap, const Model *model, const Request *request,
                           Diags *diags) {
  Plan *plan = heap_alloc(heap, sizeof *plan);
  simulation_begin(simulation, heap, plan, request, diags);
  bool ok = plan_make(plan, heap, model, request, diags);
  simulation->request.method = plan->request.method;
  simulation->facts = plan->facts;
  begin_alone(simulation);
  return ok && run_passes(simulation);
}

/* Did structure lie: about the equations as written, or in the modes or at the point where the run begins? */
static bool is_misled(const Simulation *simulation) {
  const TurningPoint *point = simulation->statistics.stepper.turning;
  return simulation->plan->is_misled || (point && point->time == simulation->request.run.start);
}

/* Runs once more by ranks where structure misled the run. */
static bool run_by_ranks(Simulation *simulation, uint32_t before) {
  Heap *heap = simulation->heap;
  Diags *attempt, *diags = simulation->diags;
  if (!simulation->view || simulation->request.method->by_ranks || !is_misled(simulation)) return false;
  Request asked = ask_ranks(&simulation->request, heap, &attempt);
  Simulation *other = heap_alloc(heap, sizeof *other);
  if (!simulate_alone(other, heap, simulation->plan->model, &asked, attempt) ||
      !ranks_take_over(&other->strangeness, &simulation->request, attempt, before, diags))
    return false;
  *simulation = *other;
  simulation->arena = arena_make(heap);
  simulation->diags = diags;
  return true;
}

/* Is the system made singular just at the initial values? */
static bool is_singular_at_start(const Simulation *simulation, TurningPoint *point) {
  const TurningPlan *watched = simulation->plan->run.watched;
  if (!watched) return false;
  Turning *turning = turning_new(simulation->heap, simulation->view, watched);
  turning_begin(turning, simulation->request.run.start, simulation->system.y);
  return turning_at_start(turning, point);
}

/* Do two simulations begin with the same values? */
static bool is_same_start(const Simulation *one, const Simulation *other) {
  const Model *model = one->plan->model;
  for (uint32_t u = 0; u < model->unknowns.count; u++) {
    double a = evaluator_value(one->system.evaluator, one->system.y, u, 0);
    double b = evaluator_value(other->system.evaluator, other->system.y, u, 0);
    if (fabs(a - b) > SAME_START * (1 + fabs(a))) return false;
  }
  return true;
}

/* Where the system is singular at the initial values, ranks take over as they would in a run, if they find the equations regular
 * at just these values. */
static void start_by_ranks(Simulation *simulation) {
  Diags *diags = simulation->diags;
  uint32_t before = diags->list.count;
  TurningPoint point;
  if (!is_singular_at_start(simulation, &point)) return;
  diag_error(diags, DIAG_SINGULAR_JACOBIAN, (Span){0}, "the Jacobian of %d equations is singular at the initial values",
             (int)point.size);
  simulation->statistics.stepper.turning = &point;
  Simulation structural = *simulation;
  if (run_by_ranks(simulation, before) && is_same_start(&structural, simulation)) return;
  *simulation = structural;
  simulation->statistics.stepper.turning = NULL;
  diags_keep(diags, before);
}

bool simulation_run(Simulation *simulation, Heap *heap, const Plan *plan, const Request *request, Diags *diags) {
  uint32_t before = diags->list.count;
  simulation_begin(simulation, heap, plan, request, diags);
  simulation->shared = plan;
  simulation->request.method = plan->request.method;
  simulation->facts = plan->facts;
  simulation->facts.evaluator = NULL; /* that of the plan is not the run's to write */
  simulation->facts.seconds = (Seconds){0};
  double begin = pipeline_clock();
  bool ok = begin_shared(simulation);
  add_seconds(&simulation->facts.seconds, offsetof(Seconds, init), begin);
  return (ok && run_passes(simulation)) || run_by_ranks(simulation, before);
}

bool pipeline_simulate(Simulation *simulation, Heap *heap, const Model *model, const Request *request, Diags *diags) {
  uint32_t before = diags->list.count;
  if (!simulate_alone(simulation, heap, model, request, diags)) return run_by_ranks(simulation, before);
  if (request->initialize_only) start_by_ranks(simulation);
  return true;
}
