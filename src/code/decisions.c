/* decisions: see decisions.h. */
#include "code/decisions.h"

#include "base/map.h"
#include "code/dependents.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double constant(Evaluator *evaluator, Expr e, double otherwise) {
  double value;
  return e != EXPR_NONE && evaluator_constant(evaluator, e, &value) ? value : otherwise;
}

static bool is_moving(const Dag *dag, Expr e) {
  return dag_depends(dag, e, OP_VARIABLE) || dag_depends(dag, e, OP_TIME);
}

static bool is_watched(const Dag *dag, const LogicAction *action) {
  return action->kind == ACTION_ASSERT && !action->in_when && !action->written->is_initial &&
         (is_moving(dag, action->value) || (action->fires != EXPR_NONE && is_moving(dag, action->fires)));
}

/* The column that a reinit sets, through its alias. */
static DecideAction make_action(const Decisions *decisions, const LogicAction *action) {
  const Array *array = decisions->evaluator->array;
  const Term *terms;
  double coefficient = 1;
  DecideAction made = {.column = -1, .sign = 1, .is_initial = action->written->is_initial};
  made.kind = action->kind == ACTION_REINIT      ? DECIDE_REINIT
              : action->kind == ACTION_ASSERT    ? DECIDE_ASSERT
              : action->kind == ACTION_TERMINATE ? DECIDE_TERMINATE
                                                 : DECIDE_CALL;
  if (made.kind != DECIDE_REINIT) return made;
  Expr target = action->target;
  bool is_negated = dag_op(array->dag, target) == OP_SUM;
  if (is_negated && dag_terms(array->dag, target, &coefficient, &terms) == 1) target = terms[0].node;
  if (dag_op(array->dag, target) == OP_VARIABLE) made.column = (int)array_column(array, target);
  made.sign = is_negated ? -1 : 1;
  return made;
}

static DecideStep *make_steps(const Decisions *decisions, Heap *heap, const LogicStep *steps, uint32_t count) {
  DecideStep *made = heap_array(heap, count, sizeof *made);
  for (uint32_t k = 0; k < count; k++)
    made[k] = (DecideStep){(int)steps[k].leaf, steps[k].fires, steps[k].is_parameter,
                           dag_depends(decisions->evaluator->model->dag, steps[k].value, OP_VARIABLE)};
  return made;
}

static DecidePlan make_plan(const Decisions *decisions, Heap *heap) {
  const Logic *logic = decisions->logic;
  const ArrayCode *code = decisions->evaluator->code;
  int *left = heap_array(heap, logic->lefts.count, sizeof *left),
      *sample = heap_array(heap, logic->samples.count, sizeof *sample);
  DecideAction *action = heap_array(heap, logic->actions.count, sizeof *action);
  uint8_t *is_real = heap_array(heap, modes_leaves(code->modes), sizeof *is_real);
  const Model *model = decisions->evaluator->model;
  for (uint32_t d = 0; d < model->discretes.count; d++)
    is_real[d] = model->variables.data[model->discretes.data[d]].type == TYPE_REAL;
  for (uint32_t k = 0; k < logic->lefts.count; k++) left[k] = (int)logic->lefts.data[k].leaf;
  for (uint32_t k = 0; k < logic->samples.count; k++) sample[k] = (int)logic->samples.data[k].leaf;
  for (uint32_t a = 0; a < logic->actions.count; a++) action[a] = make_action(decisions, &logic->actions.data[a]);
  return (DecidePlan){
      .leaves = (int)logic->leaves,
      .all = (int)modes_leaves(code->modes),
      .initial = (int)logic->initial,
      .terminal = logic->asks_terminal ? (int)logic->terminal : -1,
      .levels = (int)logic->level_start.count - 1,
      .initial_steps = (int)logic->initial_steps.count,
      .lefts = (int)logic->lefts.count,
      .samples = (int)logic->samples.count,
      .actions = (int)logic->actions.count,
      .level_start = (const int *)logic->level_start.data,
      .step = make_steps(decisions, heap, logic->steps.data, logic->steps.count),
      .initial_step = make_steps(decisions, heap, logic->initial_steps.data, logic->initial_steps.count),
      .left = left,
      .sample = sample,
      .action = action,
      .matters = code->matters,
      .is_real = is_real,
  };
}

static void find_assigned(Decisions *decisions, Heap *heap) {
  const Logic *logic = decisions->logic;
  IndexVec assigned = {0};
  for (uint32_t k = 0; k < logic->initial_steps.count; k++)
    if (logic->initial_steps.data[k].is_parameter) vec_push(heap, &assigned, logic->initial_steps.data[k].leaf);
  dependents_find(decisions->evaluator, heap, &assigned, &decisions->dependents);
  vec_free(heap, &assigned);
}

/* The cheaper of two programs, if it is valid at the current values. */
static Workspace *program_now(const Decisions *decisions, const IndexVec *guards, Workspace *full, Workspace *idle) {
  for (uint32_t k = 0; k < guards->count; k++)
    if (decisions->evaluator->discretes[guards->data[k]] != 0) return full;
  return guards->count ? idle : full;
}

static Workspace *find_program(const Decisions *decisions, DecideProgram program, int level) {
  const ArrayCode *code = decisions->evaluator->code;
  switch (program) {
  case DECIDE_LEVEL:
    return program_now(decisions, &code->guards[level], decisions->levels[level], decisions->idle_levels[level]);
  case DECIDE_ACTIONS: return program_now(decisions, &code->action_guards, decisions->actions, decisions->idle_actions);
  case DECIDE_INITIAL: return decisions->initial_steps;
  default: return decisions->lefts;
  }
}

static void evaluate(void *host, DecideProgram program, int level, double t, const double *y, double *out) {
  Decisions *decisions = host;
  const Logic *logic = decisions->logic;
  Point point = evaluator_point(decisions->evaluator, t, y);
  if (program != DECIDE_SAMPLES) {
    Workspace *workspace = find_program(decisions, program, level);
    effects_wait(decisions->effects, decisions->evaluator->discretes[logic->initial] != 0);
    if (workspace) workspace_run(workspace, &point, out);
    effects_wait_no_more(decisions->effects);
    return;
  }
  for (uint32_t k = 0; k < logic->samples.count; k++) {
    out[2 * k] = constant(decisions->evaluator, logic->samples.data[k].start, NAN);
    out[2 * k + 1] = constant(decisions->evaluator, logic->samples.data[k].interval, NAN);
  }
}

static bool set_parameter(void *host, int parameter, double value) {
  Decisions *decisions = host;
  double *now = &decisions->evaluator->parameters[parameter];
  if (isnan(value) || *now == value) return false;
  *now = value;
  dependents_set(decisions->evaluator, &decisions->dependents);
  return true;
}

static void keep_undefined(void *host, DecideProgram program, int level, int k, double t, const double *y) {
  Decisions *decisions = host;
  if (effects_are_waiting(decisions->effects)) return;
  Blame blame;
  Point point = evaluator_point(decisions->evaluator, t, y);
  bool is_known = workspace_blame_output(find_program(decisions, program, level),
                                         evaluator_model(decisions->evaluator)->dag, &point, (uint32_t)k, &blame);
  decisions->undefined_span =
      program == DECIDE_INITIAL
          ? decisions->logic->initial_steps.data[k].span
          : decisions->logic->steps.data[decisions->logic->level_start.data[level] + (uint32_t)k].span;
  decisions->undefined_node = is_known ? blame.node : EXPR_NONE;
  if (is_known) snprintf(decisions->undefined_reason, sizeof decisions->undefined_reason, "%s", blame.reason);
}

static void forget_calls(void *host, bool is_new_event) {
  Decisions *decisions = host;
  if (is_new_event) effects_forget_failure(decisions->effects);
  effects_begin(decisions->effects);
}

static const DecideHost methods = {evaluate, set_parameter, keep_undefined, forget_calls};

/* ---- making ---- */

Decisions *decisions_new(Heap *heap, Evaluator *evaluator) {
  const ArrayCode *code = evaluator->code;
  const Logic *logic = code->modes->logic;
  if (logic_is_empty(logic)) return NULL;
  Decisions *decisions = heap_alloc(heap, sizeof *decisions);
  uint32_t levels = logic->level_start.count - 1, largest = 2 * (logic->actions.count + logic->samples.count) +
                                                            logic->initial_steps.count + logic->lefts.count;
  *decisions = (Decisions){.logic = logic, .evaluator = evaluator};
  decisions->levels = heap_array(heap, levels, sizeof *decisions->levels);
  decisions->idle_levels = heap_array(heap, levels, sizeof *decisions->idle_levels);
  for (uint32_t l = 0; l < levels; l++) {
    decisions->levels[l] = workspace_new(heap, code->levels[l]);
    if (code->idle_levels[l]) decisions->idle_levels[l] = workspace_new(heap, code->idle_levels[l]);
    if (program_outputs(code->levels[l]) > largest) largest = program_outputs(code->levels[l]);
  }
  if (code->initial_steps) decisions->initial_steps = workspace_new(heap, code->initial_steps);
  if (code->lefts) decisions->lefts = workspace_new(heap, code->lefts);
  if (code->actions) decisions->actions = workspace_new(heap, code->actions);
  if (code->idle_actions) decisions->idle_actions = workspace_new(heap, code->idle_actions);
  decisions->decide = (Decide){.plan = make_plan(decisions, heap),
                               .methods = &methods,
                               .host = decisions,
                               .discretes = evaluator->discretes,
                               .pre = evaluator->pre,
                               .refused = -1,
                               .rival = -1};
  Decide *decide = &decisions->decide;
  heap_numbers(heap, logic->samples.count, &decide->start, &decide->interval);
  decide->count = heap_array(heap, logic->samples.count, sizeof(uint64_t));
  decide->values = heap_array(heap, largest, sizeof(double));
  decisions->is_reported = heap_array(heap, logic->actions.count, sizeof(bool));
  decisions->assertion = heap_array(heap, logic->actions.count, sizeof *decisions->assertion);
  decisions->failure = heap_array(heap, logic->actions.count, sizeof *decisions->failure);
  decisions->fails = heap_array(heap, logic->actions.count, sizeof *decisions->fails);
  for (uint32_t a = 0; a < logic->actions.count; a++)
    decisions->watches = decisions->watches || is_watched(evaluator->model->dag, &logic->actions.data[a]);
  find_assigned(decisions, heap);
  decisions->effects = effects_of(heap, evaluator->model);
  effects_order(decisions->effects, logic, evaluator->array->dag);
  return decisions;
}

/* ---- samples ---- */

double decisions_expected(Decisions *decisions, double begin, double stop, double *start, double *interval) {
  static const double most_counted = 9007199254740992; /* up to this number a double represents every integer */
  double most = 0;
  for (uint32_t k = 0; k < decisions->logic->samples.count; k++) {
    const LogicSample *sample = &decisions->logic->samples.data[k];
    double first = constant(decisions->evaluator, sample->start, NAN);
    double between = constant(decisions->evaluator, sample->interval, NAN);
    double behind = (begin - first) / between, ahead = (stop - fmax(first, begin)) / between;
    double events = behind > most_counted ? INFINITY : ahead; /* equal times would never end */
    if (!(between > 0) || !(events > most)) continue;
    most = events;
    *start = first, *interval = between;
  }
  return most;
}

uint64_t *decisions_save(const Decisions *decisions, Heap *heap) {
  return heap_copy(heap, decisions->decide.count, decisions->logic->samples.count, sizeof(uint64_t));
}

void decisions_restore(Decisions *decisions, const uint64_t *saved) {
  uint32_t count = decisions->logic->samples.count;
  decide_begin_samples(&decisions->decide, 0, NULL);
  if (count) memcpy(decisions->decide.count, saved, count * sizeof *saved);
}

void decisions_transfer(const Decisions *decisions, uint64_t *saved, Transfer *transfer) {
  transfer_array(transfer, saved, decisions->logic->samples.count, sizeof *saved);
}

/* ---- values ---- */

void decisions_start(Decisions *decisions, const double *starts) {
  Evaluator *evaluator = decisions->evaluator;
  effects_forget_failure(decisions->effects);
  effects_begin(decisions->effects);
  const Model *model = evaluator->model;
  for (uint32_t d = 0; d < model->discretes.count; d++) {
    uint32_t position = model->discretes.data[d];
    const Variable *variable = &model->variables.data[position];
    double given = starts ? starts[position] : NAN, otherwise = variable->type == TYPE_ENUMERATION ? 1 : 0;
    evaluator->discretes[d] = evaluator->pre[d] =
        isnan(given) ? constant(evaluator, variable->start, otherwise) : given;
  }
  evaluator->discretes[decisions->logic->initial] = 1;
}

void decisions_started(Decisions *decisions) {
  decisions->evaluator->discretes[decisions->logic->initial] = 0;
  decide_copy_pre(&decisions->decide);
}

void decisions_adopt(Decisions *decisions, const double *discretes) {
  uint32_t count = decisions->evaluator->model->discretes.count;
  if (count) memcpy(decisions->evaluator->discretes, discretes, count * sizeof *discretes);
  decide_copy_pre(&decisions->decide);
}

/* The place where a sample is written: the equation or when that reads its leaf. */
static Span sample_span(const Decisions *decisions, int sample) {
  const Logic *logic = decisions->logic;
  const Dag *dag = decisions->evaluator->array->dag;
  Heap *heap = decisions->evaluator->heap;
  DagScratch scratch = dag_scratch_make(heap);
  Span span = {0};
  for (uint32_t k = 0; k < logic->steps.count && !span.end; k++) {
    IndexVec below = {0};
    dag_below(dag, &scratch, &logic->steps.data[k].value, 1, &below);
    for (uint32_t n = 0; n < below.count; n++)
      if (dag_op(dag, below.data[n]) == OP_DISCRETE &&
          dag_index(dag, below.data[n]) == logic->samples.data[sample].leaf)
        span = logic->steps.data[k].span;
    vec_free(heap, &below);
  }
  dag_scratch_free(&scratch);
  return span;
}

bool decisions_run(Decisions *decisions, double t, Diags *diags) {
  int wrong = decide_begin_samples(&decisions->decide, t, NULL);
  if (wrong < 0) return true;
  double start = decisions->decide.start[wrong], interval = decisions->decide.interval[wrong];
  diag_error(diags, DIAG_INPUT, sample_span(decisions, wrong), "the %s of sample(%.10g, %.10g) is not %s",
             isfinite(start) ? "interval" : "start", start, interval,
             isfinite(start) && isfinite(interval) ? "positive" : "defined");
  return false;
}

bool decisions_admit(Decisions *decisions, double t, const double *y) {
  if (!effects_any(decisions->effects)) return false;
  effects_look(decisions->effects);
  decide_look(&decisions->decide, t, y);
  return effects_admit(decisions->effects);
}

/* ---- messages ---- */

static void report_refused(const Decisions *decisions, double t, DiagCode code, Diags *diags) {
  const LogicAction *actions = decisions->logic->actions.data;
  const Action *refused = actions[decisions->decide.refused].written;
  const char *name = model_name(decisions->evaluator->model, refused->target);
  if (decisions->decide.rival >= 0) {
    Diag *diag = diag_error(diags, code, refused->span, "at time %.10g two reinit set %s to different values", t, name);
    diag_note(diags, diag, actions[decisions->decide.rival].written->span, "the other one");
  } else diag_error(diags, code, refused->span, "at time %.10g reinit sets %s to a value that is not defined", t, name);
}

static void report_left_out(const Decisions *decisions, double t, Diags *diags) {
  const Model *model = decisions->evaluator->model;
  const char *reason;
  uint32_t number;
  while ((number = effects_refused(decisions->effects, &reason)) != MAP_NONE)
    diag_warning(diags, DIAG_WARNING, model->functions.data[number]->routine->span,
                 "at time %.10g a call of `%s` is left out: %s", t,
                 names_text(model->names, model->functions.data[number]->name), reason);
}

static void report_failed(const Decisions *decisions, uint32_t number, const char *reason, double t, DiagCode code,
                          Diags *diags) {
  const Model *model = decisions->evaluator->model;
  const Function *function = model->functions.data[number];
  diag_error(diags, code, function->routine->span, "at time %.10g a call of `%s` fails: %s", t,
             names_text(model->names, function->name), reason);
  effects_forget_failure(decisions->effects); /* the run may be restored or started again */
}

bool decisions_defined(const Decisions *decisions, double t, DiagCode code, Diags *diags) {
  const DecideStep *step = decisions->decide.undefined;
  Model *model = evaluator_model(decisions->evaluator);
  const char *reason;
  uint32_t failed = effects_failed(decisions->effects, &reason);
  report_left_out(decisions, t, diags);
  if (failed != MAP_NONE) return report_failed(decisions, failed, reason, t, code, diags), false;
  if (decisions->decide.refused >= 0) return report_refused(decisions, t, code, diags), false;
  if (!step) return true;
  const IndexVec *own = step->is_parameter ? &model->parameters : &model->discretes;
  Diag *diag = diag_error(diags, code, decisions->undefined_span, "at time %.10g the value of %s is not defined", t,
                          (uint32_t)step->leaf < own->count ? model_name(model, own->data[step->leaf]) : "a condition");
  Expr node = decisions->undefined_node;
  if (node != EXPR_NONE)
    diag_note(diags, diag, (Span){0}, "`%s`: %s",
              model_text(model, modes_restore(decisions->evaluator->code->modes, model->dag, node), &diags->arena),
              decisions->undefined_reason);
  return false;
}
