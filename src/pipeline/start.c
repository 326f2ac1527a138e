/* start: the values at which a plan or a run starts: initial values, or values that an event hands over. */
#include "pipeline/parts.h"

#include "code/past.h"
#include "code/switches.h"
#include "core/constants.h"
#include "core/lu.h"
#include "core/rounds.h"
#include "init/explain.h"
#include "model/input.h"
#include "view/array_jump.h"

#include <math.h>
#include <string.h>

/* Up to this condition number an initial point counts as isolated without computing its ranks. */
static const double REGULAR_START = 1e10;

bool start_no_choice(Evaluator *evaluator, const Structure *structure, int32_t block, Diags *diags) {
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

ArrayRun start_array(const Plan *plan, Heap *heap, const double *parameters) {
  ArrayRun run = {.evaluator = evaluator_new(heap, plan->code, parameters)};
  run.dummy = dummy_new(heap, run.evaluator, plan->choice);
  run.space = state_plan_space(heap, run.evaluator, plan->states);
  return run;
}

Initializer start_initializer(const Plan *plan, Heap *heap, const ArrayRun *run) {
  return (Initializer){.heap = heap,
                       .evaluator = run->evaluator,
                       .structure = &plan->structure,
                       .dummy = run->dummy,
                       .space = run->space,
                       .known = plan->starting};
}

void start_inputs(Evaluator *evaluator, const StartValues *starts) {
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

StartValues start_extended(const Plan *plan, const StartValues *given, Heap *heap) {
  uint32_t known = plan->model->variables.count, count = plan->problem.model->variables.count;
  StartValues starts = *given;
  if (!starts.start || count == known) return starts;
  double *start = heap_array(heap, count, sizeof *start);
  for (uint32_t v = 0; v < count; v++) start[v] = v < known ? given->start[v] : NAN;
  starts.start = start;
  return starts;
}

/* Are the divisors of rewritten equations more than round-off at the initial point? `later`: the time, changed by round-off. */
static bool divisors_hold(const Plan *plan, Evaluator *evaluator, const Initial *initial, double later, Heap *heap) {
  uint32_t columns = plan->array.columns, count = plan->code->divisor.count;
  if (!plan->code->divisors) return true;
  double *y = initial->y, *shaken = heap_array(heap, columns, sizeof *shaken), *divisor, *other;
  heap_numbers(heap, count, &divisor, &other);
  columns_shake(evaluator->nominal, y, columns, shaken);
  Workspace *workspace = workspace_new(heap, plan->code->divisors);
  Point point = evaluator_point(evaluator, initial->t0, y), beside = evaluator_point(evaluator, later, shaken);
  bool holds = workspace_run(workspace, &point, divisor) == EVAL_OK;
  bool is_known = holds && workspace_run(workspace, &beside, other) == EVAL_OK;
  for (uint32_t k = 0; k < count && is_known && holds; k++) holds = !entry_is_lost(divisor[k], other[k]);
  return holds;
}

/* A singular point is not determined, so a run cannot start there. Equations that repeat each other have no condition number, and
 * are solved nevertheless. A large condition number does not decide by itself: with conductances of 1e-12 and 1 it is large, and
 * the equations still determine all values. */
bool start_is_regular(const Plan *plan, const Request *request, Initializer *initializer, Initial *initial,
                      Arena *arena, Diags *diags) {
  if (!plan->is_misled) return true;
  Explanation explanation = initial_explain(initializer, initial, arena);
  if (explanation.condition <= REGULAR_START || isinf(explanation.condition)) return true;
  double start = initial->t0, later = start + 0x1p-43 * (fabs(start) + request->run.stop - start);
  if (divisors_hold(plan, initializer->evaluator, initial, later, initializer->heap) &&
      initial_is_regular(initializer, initial, later))
    return true;
  diag_error(diags, DIAG_SINGULAR_JACOBIAN, (Span){0}, "the equations as rewritten are singular at the initial values");
  return false;
}

static bool is_step(const Condition *condition) {
  return condition->kind >= CONDITION_FLOOR && condition->kind <= CONDITION_TRUNCATE;
}

/* Sets the modes of steps (floor and the like), or those of relations, from their differences. This is repeated together with
 * the other discrete values, because conditions may contain each other. */
static void take_literal(Switches *switches, bool steps, double t, const double *y) {
  Edges *edges = &switches->edges;
  bool changes = true;
  for (int round = 0; round < edges->count && changes; round++) {
    changes = false;
    for (int m = 0; m < edges->count; m++) {
      const Condition *condition = &edges->condition[m];
      double wanted = edges_wanted(edges, m);
      if (condition->is_timed) /* these modes depend on time, or on discrete values */
        wanted = edges_margin_with(edges, m, edges->mode[m], edges->difference[m]) < 0
                     ? condition_value(condition->kind, edges->difference[m])
                     : edges->mode[m];
      if (is_step(condition) != steps || wanted == edges->mode[m]) continue;
      edges->mode[m] = wanted;
      changes = true;
    }
    switches_follow_modes(switches, t, y);
    edges_evaluate(&switches->edges, t, y);
  }
}

/* Relations on their edges may have the value of the other side, as for ideal diodes without voltage and current. Then the
 * values found also solve the equations with the literal values. */
static bool literal_modes_hold(Initializer *initializer, Switches *switches, const RunOptions *run, Initial *initial) {
  size_t leaves = modes_leaves(switches->modes);
  if (edges_first_contradiction(&switches->edges) >= 0) return false;
  take_literal(switches, true, run->start, initial->y);
  double *kept = heap_copy(initializer->heap, initializer->evaluator->discretes, leaves, sizeof *kept);
  take_literal(switches, false, run->start, initial->y);
  bool hold = initial_holds(initializer, initial, run->start);
  memcpy(initializer->evaluator->discretes, kept, leaves * sizeof *kept);
  heap_free(initializer->heap, kept);
  return hold;
}

/* Columns for the current modes. If there are several failures, the first is reported. */
typedef struct ModeSolver {
  Initializer *initializer;
  const StartValues *starts;
  const RunOptions *run;
  Initial *initial;
  Diags *diags, silent;
  bool has_failed;
} ModeSolver;

static bool solve_columns(void *host, double t, bool again, const double **y) {
  ModeSolver *solver = host;
  Initial *initial = solver->initial;
  Diags *diags = again ? &solver->silent : solver->diags;
  bool is_solved = initial_solve(solver->initializer, solver->starts, t, solver->run->tolerance, initial, diags);
  *y = initial->y;
  past_guess(solver->initializer->evaluator, t, initial->y);
  solver->has_failed = solver->has_failed || !is_solved;
  return is_solved;
}

/* Finds initial values for the current modes, until the values found have those modes. */
static bool solve_modes(Initializer *initializer, Switches *switches, const StartValues *starts, const RunOptions *run,
                        Initial *initial, Diags *diags) {
  uint32_t before = diags->list.count;
  ModeSolver solver = {initializer, starts, run, initial, diags, diags_make(initializer->heap), false};
  const double *y;
  if (!switches) return solve_columns(&solver, run->start, false, &y);
  SwitchingStart end = switching_start(&switches->switching, &(SwitchingColumns){&solver, solve_columns}, run->start);
  if (end == START_FAILS) return false;
  if (solver.has_failed && initial->solved) diags_keep(diags, before);
  if (end == START_AGREES && (edges_agree(&switches->edges) || literal_modes_hold(initializer, switches, run, initial)))
    return true;
  initial->solved = false;
  diag_error(diags, DIAG_INIT, (Span){0},
             "no consistent initial values: the conditions of if-expressions do not settle; change the start "
             "values");
  return false;
}

/* A search for modes if the guess has no solution. */
typedef struct ModeSearch {
  Initializer *initializer;
  Switches *switches;
  const StartValues *starts;
  const RunOptions *run;
  const double *guess, *first; /* columns, and their discrete values */
  bool has_logic; /* there are discrete values other than modes, so the conditions as written are not searched */
  Initial found;
} ModeSearch;

enum { TRIAL_MODES = 8, FEW_CHANGES = 2 }; /* 37 of 256 combinations have few changes */

/* Solves with these modes flipped, and these steps (of floor, div, ...) held at given values. */
static bool try_held(ModeSearch *search, const Trial *trial, int steps, const int *mode, const double *value) {
  Initializer *initializer = search->initializer;
  Edges *edges = &search->switches->edges;
  Diags silent = diags_make(initializer->heap);
  bool is_few = trial->changes <= FEW_CHANGES;
  memcpy(initializer->evaluator->discretes, search->first, modes_leaves(search->switches->modes) * sizeof(double));
  edges_flip(edges, trial);
  for (int k = 0; k < steps; k++) edges_hold(edges, mode[k], value[k]);
  switches_follow_modes(search->switches, search->run->start, search->guess);
  if (initial_is_ruled_out(initializer)) return false;
  initializer->trial = !search->has_logic ? TRIAL_QUICK : is_few ? TRIAL_OF_FEW : TRIAL_OF_MANY;
  bool is_found = solve_modes(initializer, search->switches, search->starts, search->run, &search->found, &silent) &&
                  edges_agree(edges);
  initializer->trial = TRIAL_NONE;
  return is_found;
}

/* Whole numbers k = floor(f(k)), as `n = integer(x)` where x depends on n. The condition that f(k) lies in the middle between k and
 * k + 1 is an equation in real numbers. Newton's method with secants (Broyden 1965) solves it, and k is rounded. If f is linear
 * in one k, the rounded root is a solution if there is one. */
typedef struct StepSearch {
  ModeSearch *search;
  const Trial *trial;
  int count, mode[TRIAL_MODES];
  double value[TRIAL_MODES], miss[TRIAL_MODES], slope[TRIAL_MODES * TRIAL_MODES];
} StepSearch;

static void collect_steps(StepSearch *steps) {
  const Edges *edges = &steps->search->switches->edges;
  for (int m = 0; m < edges->count && steps->count < TRIAL_MODES; m++) {
    if (edges->condition[m].is_timed || !is_step(&edges->condition[m])) continue;
    steps->value[steps->count] = edges->mode[m];
    steps->mode[steps->count++] = m;
  }
}

/* Is there a solution with these values? If not, computes how far each is from the middle of its interval. */
static bool try_steps(StepSearch *steps, const double *value, double *miss) {
  const Edges *edges = &steps->search->switches->edges;
  if (try_held(steps->search, steps->trial, steps->count, steps->mode, value)) return true;
  for (int k = 0; k < steps->count; k++) {
    ConditionRange range = condition_range(edges->condition[steps->mode[k]].kind, value[k]);
    miss[k] = edges->difference[steps->mode[k]] - (range.low + range.high) / 2;
  }
  return false;
}

static bool are_finite(const double *values, int count) {
  for (int k = 0; k < count; k++)
    if (!isfinite(values[k])) return false;
  return true;
}

/* Tries neighbours in each direction; the neighbours above also give the slopes. */
static bool try_neighbours(StepSearch *steps, double away) {
  for (int j = 0; j < steps->count; j++) {
    double miss[TRIAL_MODES];
    steps->value[j] += away;
    if (try_steps(steps, steps->value, miss)) return true;
    steps->value[j] -= away;
    for (int k = 0; k < steps->count; k++) steps->slope[j * steps->count + k] = (miss[k] - steps->miss[k]) / away;
  }
  return false;
}

/* One iteration of Newton's method, rounded; false if it fails or changes nothing. */
static bool next_steps(const StepSearch *steps, double *next) {
  int pivot[TRIAL_MODES], n = steps->count;
  double factors[TRIAL_MODES * TRIAL_MODES];
  bool differs = false;
  memcpy(factors, steps->slope, (size_t)(n * n) * sizeof *factors);
  memcpy(next, steps->miss, (size_t)n * sizeof *next);
  if (!are_finite(steps->miss, n) || !are_finite(factors, n * n) || lu_factor(n, factors, pivot)) return false;
  lu_solve(n, factors, pivot, next);
  for (int k = 0; k < n; k++) {
    next[k] = round(steps->value[k] - next[k]);
    differs = differs || next[k] != steps->value[k];
    if (!(fabs(next[k]) <= INT32_MAX)) return false; /* not an Integer */
  }
  return differs;
}

/* Moves there, and corrects the slopes by the result. */
static bool go_to_steps(StepSearch *steps, const double *next) {
  int n = steps->count;
  double miss[TRIAL_MODES], way = 0;
  if (try_steps(steps, next, miss)) return true;
  for (int j = 0; j < n; j++) way += (next[j] - steps->value[j]) * (next[j] - steps->value[j]);
  for (int k = 0; k < n; k++) {
    double error = miss[k] - steps->miss[k];
    for (int j = 0; j < n; j++) error -= steps->slope[j * n + k] * (next[j] - steps->value[j]);
    for (int j = 0; j < n; j++) steps->slope[j * n + k] += error * (next[j] - steps->value[j]) / way;
  }
  memcpy(steps->miss, miss, (size_t)n * sizeof *miss);
  memcpy(steps->value, next, (size_t)n * sizeof *next);
  return false;
}

static bool search_steps(ModeSearch *search, const Trial *trial) {
  StepSearch steps = {.search = search, .trial = trial};
  double next[TRIAL_MODES];
  collect_steps(&steps);
  if (!steps.count) return false;
  if (try_steps(&steps, steps.value, steps.miss) || try_neighbours(&steps, 1)) return true;
  for (int round = 0; round < ROUNDS && next_steps(&steps, next); round++)
    if (go_to_steps(&steps, next)) return true;
  return try_neighbours(&steps, 1) || try_neighbours(&steps, -1);
}

static bool try_modes(ModeSearch *search, const Trial *trial) {
  return try_held(search, trial, 0, NULL, NULL) || (trial->changes <= FEW_CHANGES && search_steps(search, trial));
}

static bool search_all_modes(ModeSearch *search) {
  bool has_conditions = search->switches->modes->count > 0;
  return has_conditions && !search->has_logic &&
         initial_search(search->initializer, search->switches, search->starts, search->run->start,
                        search->run->tolerance, &search->found);
}

/* Finds modes if the modes of the guess have no solution, for example if all ideal diodes of a bridge conduct in them. Takes
 * the combination with the fewest changes whose values agree with it. Most combinations have many changes, and few of them
 * have a solution. So guesses from which all modes can be reached are tried first. */
static bool enumerate_modes(ModeSearch *search) {
  Trial trial = edges_trial(&search->switches->edges, TRIAL_MODES);
  bool is_found = search_steps(search, &trial), is_searched = false;
  while (!is_found && trial_next(&trial)) {
    if (trial.changes > FEW_CHANGES && !is_searched) is_searched = true, is_found = search_all_modes(search);
    if (!is_found) is_found = try_modes(search, &trial);
  }
  return is_found || (!is_searched && search_all_modes(search));
}

static bool find_modes(Initializer *initializer, Switches *switches, const StartValues *starts, const RunOptions *run,
                       const double *guess, Initial *initial) {
  size_t leaves = modes_leaves(switches->modes);
  double *discretes = initializer->evaluator->discretes;
  double *first = heap_copy(initializer->heap, discretes, leaves, sizeof *first);
  ModeSearch search = {initializer,
                       switches,
                       starts,
                       run,
                       guess,
                       first,
                       .has_logic = switches->decisions || initializer->evaluator->past};
  bool is_found = enumerate_modes(&search);
  if (is_found) *initial = search.found;
  else memcpy(discretes, first, leaves * sizeof *first);
  heap_free(initializer->heap, first);
  return is_found;
}

static double *copy_discretes(const Initializer *initializer, const double *values) {
  return heap_copy(initializer->heap, values, initializer->evaluator->model->discretes.count, sizeof(double));
}

static bool solve_start(Initializer *initializer, Switches *switches, const StartValues *starts, const RunOptions *run,
                        Initial *initial, Diags *diags) {
  Decisions *decisions = switches ? switches->decisions : NULL;
  uint32_t before = diags->list.count;
  if (decisions) decisions_start(decisions, starts->start);
  double *guess = NULL;
  if (switches) {
    guess = heap_array(initializer->heap, initializer->evaluator->array->columns, sizeof *guess);
    if (!initial_guess(initializer, starts, guess, diags)) return false;
    past_guess(initializer->evaluator, run->start, guess);
    switching_guess(&switches->switching, run->start, guess);
  }
  if (solve_modes(initializer, switches, starts, run, initial, diags)) return true;
  if (!switches || !find_modes(initializer, switches, starts, run, guess, initial)) return false;
  diags_keep(diags, before);
  return true;
}

/* At the start relations have their literal values. If that has no solution, for example if all ideal diodes of a bridge conduct
 * at a voltage of 0, relations on an edge get their values from right after the start. */
bool start_values(Initializer *initializer, const StartValues *starts, const RunOptions *run, Initial *initial,
                  Diags *diags) {
  Switches *switches = switches_new(initializer->heap, initializer->evaluator);
  Decisions *decisions = switches ? switches->decisions : NULL;
  uint32_t before = diags->list.count;
  bool is_found = solve_start(initializer, switches, starts, run, initial, diags);
  if (!is_found && switches && switches->modes->count) {
    uint32_t after = diags->list.count;
    switches->edges.now->is_at_start = false;
    is_found = solve_start(initializer, switches, starts, run, initial, diags);
    diags_keep(diags, is_found ? before : after);
  }
  if (!is_found) return false;
  if (decisions && !decisions_defined(decisions, run->start, DIAG_INIT, diags)) return false;
  const Evaluator *evaluator = initializer->evaluator;
  if (decisions) initial->discrete_starts = copy_discretes(initializer, evaluator->pre);
  if (decisions) decisions_started(decisions);
  initial->discretes = copy_discretes(initializer, evaluator->discretes);
  initial_report_bounds(initializer, initial, diags);
  return true;
}

/* Copies the values handed over into the array of the plan. */
static void take_values(const Plan *plan, ArrayRun *run, const Handover *from) {
  const Array *array = &plan->array;
  Evaluator *evaluator = run->evaluator;
  evaluator_copy_leaves(evaluator, from->evaluator);
  if (evaluator->past) past_restore(evaluator->past, from->evaluator->past);
  for (uint32_t q = 0; q < array->columns; q++) {
    uint32_t unknown = plan->problem.unknown[array->column_unknown[q]];
    double value = evaluator_value(from->evaluator, from->y, unknown, array_order(array, q));
    run->y[q] = isfinite(value) ? value : 0;
  }
}

/* Computes the columns that jump at t. */
static bool jump_at_event(const Plan *plan, ArrayRun *run, double t, Heap *heap, Diags *diags) {
  uint32_t column;
  int32_t block;
  if (!array_jump_solve(array_jump_new(heap, run->evaluator), t, run->y, &column)) {
    diag_error(diags, DIAG_JUMP, (Span){0},
               "at the event at time %.10g the equations do not determine by how much %s jumps", t,
               array_column_name(&plan->array, column, &diags->arena));
    return false;
  }
  if (!dummy_select(run->dummy, t, run->y, &block))
    return start_no_choice(run->evaluator, &plan->structure, block, diags);
  statespace_choose(run->space, dummy_depth(run->dummy));
  if (statespace_complete(run->space, t, run->y) == EVAL_OK) return true;
  diag_error(diags, DIAG_JUMP, (Span){0},
             "at the event at time %.10g, which changes the structure, no consistent values were found", t);
  return false;
}

/* Is the next column its rate? */
static bool has_rate(const Array *array, uint32_t q) {
  return q + 1 < array->columns && array->column_unknown[q + 1] == array->column_unknown[q];
}

/* Moves columns that have a rate by their rate times this time; the rates belong to the columns `at`. */
static void go_on(const Plan *plan, ArrayRun *run, const Handover *from, const double *at, double gap) {
  take_values(plan, run, from);
  for (uint32_t q = 0; q < plan->array.columns; q++)
    if (has_rate(&plan->array, q)) run->y[q] += gap * at[q + 1];
}

/* The values `gap` after the event: first with the rates before it, then with those found. */
static bool start_after(const Plan *plan, ArrayRun *run, const Handover *from, double gap, Heap *heap) {
  Diags attempt = diags_make(heap);
  bool is = true;
  take_values(plan, run, from);
  for (int round = 0; round < 2 && is; round++) {
    double *at = heap_copy(heap, run->y, plan->array.columns, sizeof *at);
    go_on(plan, run, from, at, gap);
    is = jump_at_event(plan, run, from->time + gap, heap, &attempt);
    heap_free(heap, at);
  }
  return is;
}

/* Equations without values at the event itself, such as `if time <= 0 then u else x/time`, may have values after it. If rates have
 * a limit from that side, the run continues right after it. Other columns may have a pole. */
static bool start_behind(const Plan *plan, ArrayRun *run, const Handover *from, double gap, Heap *heap) {
  if (!start_after(plan, run, from, FAR * gap, heap)) return false;
  double *far = heap_copy(heap, run->y, plan->array.columns, sizeof *far);
  bool is = start_after(plan, run, from, gap, heap);
  for (uint32_t q = 1; q < plan->array.columns && is; q++)
    is = !has_rate(&plan->array, q - 1) || fabs(run->y[q] - far[q]) <= fabs(far[q]) + run->evaluator->nominal[q] / 2;
  heap_free(heap, far);
  return is;
}

bool start_at_event(const Plan *plan, ArrayRun *run, const Handover *from, double *since, Heap *heap, Diags *diags) {
  double gap = LOCATED * (plan->request.run.stop - plan->request.run.start);
  uint32_t said = diags->list.count;
  run->y = heap_array(heap, plan->array.columns, sizeof(double));
  *since = from->time;
  take_values(plan, run, from);
  if (jump_at_event(plan, run, from->time, heap, diags)) return true;
  if (!(gap > 0) || !start_behind(plan, run, from, gap, heap)) return false;
  diags_keep(diags, said);
  *since += gap;
  return true;
}

bool start_plan_at_event(Plan *plan) {
  const Handover *from = plan->request.handover;
  ArrayRun *run = &plan->first;
  double since;
  if (!from->again) return start_at_event(plan, run, from, &since, plan->heap, plan->diags);
  run->y = heap_copy(plan->heap, from->again->y, plan->array.columns, sizeof(double));
  evaluator_copy_leaves(run->evaluator, from->again->evaluator);
  return true;
}

bool *start_branches(const Plan *plan, Evaluator *evaluator, Heap *heap) {
  uint32_t count = plan->branches.count;
  double *values = heap_array(heap, count, sizeof *values);
  bool *holds = heap_array(heap, count, sizeof *holds);
  Point point = evaluator_point(evaluator, 0, NULL);
  workspace_run(workspace_new(heap, plan->conditions), &point, values);
  for (uint32_t k = 0; k < count; k++) holds[k] = values[k] != 0;
  heap_free(heap, values);
  return holds;
}

/* ---- edges ---- */

static double *mode_at(const Switches *switches, uint32_t m) {
  return &switches->evaluator->discretes[switches->modes->first + m];
}

/* Gives a mode on its edge its other value, using the last differences. Marks the branches of the plan that hold with that
 * value. */
static bool mark_beyond_edge(const Plan *plan, Switches *switches, uint32_t m, const bool *holds, bool *explained,
                             Heap *heap) {
  double *mode = mode_at(switches, m), value = *mode;
  *mode = value == 0;
  bool is_on_edge = !edges_contradict(&switches->edges, (int)m);
  bool *now = start_branches(plan, switches->evaluator, heap);
  for (uint32_t k = 0; k < plan->branches.count; k++) explained[k] = explained[k] || (is_on_edge && now[k] == holds[k]);
  *mode = value;
  heap_free(heap, now);
  return is_on_edge;
}

bool start_is_on_edge(const Plan *plan, Evaluator *evaluator, const Initial *initial, Heap *heap) {
  const bool *holds = plan->holds;
  Switches *switches = switches_new(heap, evaluator);
  if (!switches) return true;
  edges_evaluate(&switches->edges, initial->t0, initial->y);
  bool *now = start_branches(plan, switches->evaluator, heap), any = false, all = true;
  for (uint32_t k = 0; k < plan->branches.count; k++) now[k] = now[k] == holds[k];
  for (uint32_t m = 0; m < switches->modes->count; m++) any |= mark_beyond_edge(plan, switches, m, holds, now, heap);
  for (uint32_t k = 0; k < plan->branches.count; k++) all = all && now[k];
  return all || (any && switches->decisions); /* variables of the logic do not follow a mode here */
}
