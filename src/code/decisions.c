/* decisions: see decisions.h. */
#include "code/decisions.h"

#include "base/map.h"
#include "code/dependents.h"

#include <float.h>
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
static void find_targets(Decisions *decisions, Heap *heap) {
  const Logic *logic = decisions->logic;
  const Array *array = decisions->evaluator->array;
  const Term *terms;
  double coefficient = 1;
  decisions->column = heap_array(heap, logic->actions.count, sizeof *decisions->column);
  decisions->sign = heap_array(heap, logic->actions.count, sizeof *decisions->sign);
  for (uint32_t a = 0; a < logic->actions.count; a++) {
    Expr target = logic->actions.data[a].target;
    decisions->column[a] = MAP_NONE;
    if (logic->actions.data[a].kind != ACTION_REINIT) continue;
    bool is_negated = dag_op(array->dag, target) == OP_SUM;
    if (is_negated && dag_terms(array->dag, target, &coefficient, &terms) == 1) target = terms[0].node;
    if (dag_op(array->dag, target) == OP_VARIABLE) decisions->column[a] = array_column(array, target);
    decisions->sign[a] = is_negated ? -1 : 1;
  }
}

static void find_assigned(Decisions *decisions, Heap *heap) {
  const Logic *logic = decisions->logic;
  IndexVec assigned = {0};
  for (uint32_t k = 0; k < logic->initial_steps.count; k++)
    if (logic->initial_steps.data[k].is_parameter) vec_push(heap, &assigned, logic->initial_steps.data[k].leaf);
  dependents_find(decisions->evaluator, heap, &assigned, &decisions->dependents);
  vec_free(heap, &assigned);
}

Decisions *decisions_new(Heap *heap, Evaluator *evaluator) {
  const ArrayCode *code = evaluator->code;
  const Logic *logic = code->modes->logic;
  if (logic_is_empty(logic)) return NULL;
  Decisions *decisions = heap_alloc(heap, sizeof *decisions);
  uint32_t levels = logic->level_start.count - 1,
           largest = 2 * logic->actions.count + logic->initial_steps.count + logic->lefts.count;
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
  decisions->values = heap_array(heap, largest, sizeof(double));
  decisions->start = heap_array(heap, logic->samples.count, sizeof(double));
  decisions->interval = heap_array(heap, logic->samples.count, sizeof(double));
  decisions->count = heap_array(heap, logic->samples.count, sizeof(uint64_t));
  for (uint32_t k = 0; k < logic->steps.count; k++) decisions->fires = decisions->fires || logic->steps.data[k].fires;
  decisions->is_reported = heap_array(heap, logic->actions.count, sizeof(bool));
  for (uint32_t a = 0; a < logic->actions.count; a++)
    decisions->watches = decisions->watches || is_watched(evaluator->model->dag, &logic->actions.data[a]);
  find_targets(decisions, heap);
  find_assigned(decisions, heap);
  return decisions;
}

/* ---- samples ---- */

/* The whole numbers that a double has all of. */
static const double COUNT_LIMIT = 9007199254740992;

static double sample_time(const Decisions *decisions, uint32_t k, uint64_t count) {
  return count ? decisions->start[k] + (double)count * decisions->interval[k] : decisions->start[k];
}

/* Times that differ by round-off only are one. */
static bool is_due(double due, double t) { return due <= t + 8 * DBL_EPSILON * fmax(fabs(t), fabs(due)); }

double decisions_expected(Decisions *decisions, double begin, double stop, double *start, double *interval) {
  double most = 0;
  for (uint32_t k = 0; k < decisions->logic->samples.count; k++) {
    const LogicSample *sample = &decisions->logic->samples.data[k];
    double first = constant(decisions->evaluator, sample->start, NAN);
    double between = constant(decisions->evaluator, sample->interval, NAN);
    double behind = (begin - first) / between, ahead = (stop - fmax(first, begin)) / between;
    double events = behind > COUNT_LIMIT ? INFINITY : ahead; /* of equal times there is no end */
    if (!(between > 0) || !(events > most)) continue;
    most = events;
    *start = first, *interval = between;
  }
  return most;
}

double decisions_next_time(const Decisions *decisions, double t) {
  double first = INFINITY;
  for (uint32_t k = 0; k < decisions->logic->samples.count; k++) {
    double next = sample_time(decisions, k, decisions->count[k]);
    if (next < first && next > t) first = next;
  }
  return first;
}

static bool is_sample_due(const Decisions *decisions, uint32_t k, double t) {
  return decisions->interval[k] > 0 && is_due(sample_time(decisions, k, decisions->count[k]), t);
}

bool decisions_are_due(const Decisions *decisions, double t) {
  for (uint32_t k = 0; k < decisions->logic->samples.count; k++)
    if (is_sample_due(decisions, k, t)) return true;
  return false;
}

static void set_samples(Decisions *decisions, double t) {
  for (uint32_t k = 0; k < decisions->logic->samples.count; k++) {
    double *leaf = &decisions->evaluator->discretes[decisions->logic->samples.data[k].leaf];
    *leaf = 0;
    while (!decisions->samples_wait && is_sample_due(decisions, k, t)) {
      decisions->count[k]++;
      *leaf = 1;
    }
  }
}

/* By the parameters of now; those before t are left out. */
static void begin_samples(Decisions *decisions, double t) {
  for (uint32_t k = 0; k < decisions->logic->samples.count; k++) {
    const LogicSample *sample = &decisions->logic->samples.data[k];
    decisions->start[k] = constant(decisions->evaluator, sample->start, NAN);
    decisions->interval[k] = constant(decisions->evaluator, sample->interval, NAN);
    double behind = (t - decisions->start[k]) / decisions->interval[k];
    decisions->count[k] = behind > 0 ? (uint64_t)ceil(fmin(behind, COUNT_LIMIT) - 1e-9) : 0;
  }
}

uint64_t *decisions_save(const Decisions *decisions, Heap *heap) {
  uint32_t count = decisions->logic->samples.count;
  uint64_t *saved = heap_array(heap, count, sizeof *saved);
  if (count) memcpy(saved, decisions->count, count * sizeof *saved);
  return saved;
}

void decisions_restore(Decisions *decisions, const uint64_t *saved) {
  uint32_t count = decisions->logic->samples.count;
  begin_samples(decisions, 0);
  if (count) memcpy(decisions->count, saved, count * sizeof *saved);
}

void decisions_transfer(const Decisions *decisions, uint64_t *saved, Transfer *transfer) {
  transfer_array(transfer, saved, decisions->logic->samples.count, sizeof *saved);
}

/* ---- steps ---- */

static void copy_pre(Decisions *decisions) {
  Evaluator *evaluator = decisions->evaluator;
  memcpy(evaluator->pre, evaluator->discretes, modes_leaves(evaluator->code->modes) * sizeof(double));
}

/* pre() of continuous variables. */
static void set_lefts(Decisions *decisions, double t, const double *y) {
  const Logic *logic = decisions->logic;
  Point point = evaluator_point(decisions->evaluator, t, y);
  if (decisions->lefts) workspace_run(decisions->lefts, &point, decisions->values);
  for (uint32_t k = 0; k < logic->lefts.count; k++)
    decisions->evaluator->discretes[logic->lefts.data[k].leaf] = decisions->values[k];
}

/* ---- random numbers ---- */

static ExternalSeed *hidden_seed(const Decisions *decisions) {
  return &external_state(decisions->evaluator->heap)->seed;
}

static void keep_seed(Decisions *decisions) { decisions->seed = decisions->drawn = *hidden_seed(decisions); }

static void draw_again(const Decisions *decisions) { *hidden_seed(decisions) = decisions->seed; }

/* What the iteration has drawn stays drawn, although its last rounds, in which no when fires, do not draw. */
static void keep_drawn(Decisions *decisions) {
  ExternalSeed *hidden = hidden_seed(decisions);
  bool has_drawn = memcmp(hidden->words, decisions->seed.words, sizeof hidden->words) != 0;
  if (has_drawn) decisions->drawn = *hidden;
  else *hidden = decisions->drawn;
}

/* ---- values ---- */

void decisions_start(Decisions *decisions, const double *starts) {
  Evaluator *evaluator = decisions->evaluator;
  keep_seed(decisions);
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

void decisions_draw_as(Decisions *decisions, const Decisions *before) {
  decisions->seed = before->seed;
  decisions->drawn = before->drawn;
}

void decisions_started(Decisions *decisions) {
  decisions->evaluator->discretes[decisions->logic->initial] = 0;
  copy_pre(decisions);
}

void decisions_adopt(Decisions *decisions, const double *discretes) {
  uint32_t count = decisions->evaluator->model->discretes.count;
  if (count) memcpy(decisions->evaluator->discretes, discretes, count * sizeof *discretes);
  copy_pre(decisions);
}

bool decisions_run(Decisions *decisions, double t, Diags *diags) {
  begin_samples(decisions, t);
  for (uint32_t k = 0; k < decisions->logic->samples.count; k++) {
    double start = decisions->start[k], interval = decisions->interval[k];
    bool is_defined = isfinite(start) && isfinite(interval);
    if (is_defined && interval > 0) continue;
    diag_error(diags, DIAG_INPUT, (Span){0}, "the %s of sample(%.10g, %.10g) is not %s",
               isfinite(start) ? "interval" : "start", start, interval, is_defined ? "positive" : "defined");
    return false;
  }
  return true;
}

void decisions_begin(Decisions *decisions, double t, const double *y) {
  set_lefts(decisions, t, y);
  copy_pre(decisions);
  decisions->matter = false;
  set_samples(decisions, t);
  keep_seed(decisions);
}

/* Columns are solved to round-off only: what is read from them is no sharper. */
static bool is_near(double a, double b) { return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b)); }

/* Has the event changed the leaf already, and the same value comes again? */
static bool comes_again(const Decisions *decisions, const LogicStep *step, double value) {
  double now = decisions->evaluator->discretes[step->leaf];
  return now != decisions->evaluator->pre[step->leaf] && is_near(now, value) &&
         dag_depends(decisions->evaluator->model->dag, step->value, OP_VARIABLE);
}

/* A value that is not defined leaves its leaf as it is. */
static uint32_t set_leaf(Decisions *decisions, double *values, uint32_t leaf, double value) {
  if (!isfinite(value) || values[leaf] == value) return 0;
  values[leaf] = value;
  decisions->matter = decisions->matter || decisions->evaluator->code->matters[leaf];
  return 1;
}

static uint32_t set_parameter(Decisions *decisions, uint32_t parameter, double value) {
  double *now = &decisions->evaluator->parameters[parameter];
  if (isnan(value) || *now == value) return 0;
  *now = value;
  dependents_set(decisions->evaluator, &decisions->dependents);
  decisions->matter = true;
  return 1;
}

static void keep_undefined(Decisions *decisions, const LogicStep *step, Workspace *program, const Point *point,
                           uint32_t output) {
  Blame blame;
  bool is_known = workspace_blame_output(program, evaluator_model(decisions->evaluator)->dag, point, output, &blame);
  decisions->undefined = step;
  decisions->undefined_node = is_known ? blame.node : EXPR_NONE;
  if (is_known) snprintf(decisions->undefined_reason, sizeof decisions->undefined_reason, "%s", blame.reason);
}

/* What initial equations say of pre() and of parameters. */
static uint32_t set_initial(Decisions *decisions, const Point *point) {
  Evaluator *evaluator = decisions->evaluator;
  uint32_t changed = 0;
  if (!decisions->initial_steps || evaluator->discretes[decisions->logic->initial] == 0) return 0;
  workspace_run(decisions->initial_steps, point, decisions->values);
  for (uint32_t k = 0; k < decisions->logic->initial_steps.count; k++) {
    const LogicStep *step = &decisions->logic->initial_steps.data[k];
    if (!isfinite(decisions->values[k])) keep_undefined(decisions, step, decisions->initial_steps, point, k);
    if (step->is_parameter) changed += set_parameter(decisions, step->leaf, decisions->values[k]);
    else changed += set_leaf(decisions, evaluator->pre, step->leaf, decisions->values[k]);
  }
  return changed;
}

/* The cheaper of two programs, if it is right at the values of now. */
static Workspace *program_now(const Decisions *decisions, const IndexVec *guards, Workspace *full, Workspace *idle) {
  for (uint32_t k = 0; k < guards->count; k++)
    if (decisions->evaluator->discretes[guards->data[k]] != 0) return full;
  return guards->count ? idle : full;
}

uint32_t decisions_set(Decisions *decisions, double t, const double *y) {
  const Logic *logic = decisions->logic;
  Evaluator *evaluator = decisions->evaluator;
  Point point = evaluator_point(evaluator, t, y);
  decisions->undefined = NULL;
  decisions->refused = decisions->rival = NULL;
  draw_again(decisions);
  if (evaluator->discretes[logic->initial] != 0) set_lefts(decisions, t, y);
  uint32_t changed = set_initial(decisions, &point);
  for (uint32_t l = 0; l + 1 < logic->level_start.count; l++) {
    uint32_t begin = logic->level_start.data[l], end = logic->level_start.data[l + 1];
    Workspace *program =
        program_now(decisions, &evaluator->code->guards[l], decisions->levels[l], decisions->idle_levels[l]);
    workspace_run(program, &point, decisions->values);
    for (uint32_t k = begin; k < end; k++) {
      const LogicStep *step = &logic->steps.data[k];
      if (!isfinite(decisions->values[k - begin])) keep_undefined(decisions, step, program, &point, k - begin);
      bool acted = step->fires && evaluator->discretes[step->leaf] != 0 && evaluator->pre[step->leaf] == 0;
      if ((acted && decisions->latches) || comes_again(decisions, step, decisions->values[k - begin])) continue;
      decisions->retracted = decisions->retracted || (acted && decisions->values[k - begin] == 0);
      changed += set_leaf(decisions, evaluator->discretes, step->leaf, decisions->values[k - begin]);
    }
  }
  keep_drawn(decisions);
  return changed;
}

void decisions_end(Decisions *decisions, double t, const double *y) {
  const Logic *logic = decisions->logic;
  bool any = false;
  for (uint32_t k = 0; k < logic->samples.count; k++) {
    double *leaf = &decisions->evaluator->discretes[logic->samples.data[k].leaf];
    any = any || *leaf != 0;
    *leaf = 0;
  }
  if (!any) return;
  ExternalSeed drawn = *hidden_seed(decisions);
  decisions_set(decisions, t, y);
  *hidden_seed(decisions) = drawn;
  copy_pre(decisions);
}

bool decisions_accept(Decisions *decisions, double t, const double *y) {
  const Evaluator *evaluator = decisions->evaluator;
  set_lefts(decisions, t, y);
  for (uint32_t k = 0; k < decisions->logic->lefts.count; k++) {
    uint32_t leaf = decisions->logic->lefts.data[k].leaf;
    if (is_near(evaluator->pre[leaf], evaluator->discretes[leaf])) evaluator->discretes[leaf] = evaluator->pre[leaf];
  }
  bool differ = decisions->is_stale = false;
  for (uint32_t leaf = 0; leaf < decisions->logic->leaves; leaf++) {
    if (evaluator->pre[leaf] == evaluator->discretes[leaf]) continue;
    differ = true;
    decisions->is_stale = decisions->is_stale || evaluator->code->matters[leaf] & MATTERS_PRE;
  }
  copy_pre(decisions);
  return differ;
}

static void report_refused(const Decisions *decisions, double t, DiagCode code, Diags *diags) {
  const Action *refused = decisions->refused->written;
  const char *name = model_name(decisions->evaluator->model, refused->target);
  if (decisions->rival) {
    Diag *diag = diag_error(diags, code, refused->span, "at time %.10g two reinit set %s to different values", t, name);
    diag_note(diags, diag, decisions->rival->written->span, "the other one");
  } else diag_error(diags, code, refused->span, "at time %.10g reinit sets %s to a value that is not defined", t, name);
}

bool decisions_defined(const Decisions *decisions, double t, DiagCode code, Diags *diags) {
  const LogicStep *step = decisions->undefined;
  Model *model = evaluator_model(decisions->evaluator);
  if (decisions->refused) return report_refused(decisions, t, code, diags), false;
  if (!step) return true;
  const IndexVec *own = step->is_parameter ? &model->parameters : &model->discretes;
  Diag *diag = diag_error(diags, code, step->span, "at time %.10g the value of %s is not defined", t,
                          step->leaf < own->count ? model_name(model, own->data[step->leaf]) : "a condition");
  Expr node = decisions->undefined_node;
  if (node != EXPR_NONE)
    diag_note(diags, diag, (Span){0}, "`%s`: %s",
              model_text(model, modes_restore(decisions->evaluator->code->modes, model->dag, node), &diags->arena),
              decisions->undefined_reason);
  return false;
}

/* ---- actions ---- */

void decisions_act(Decisions *decisions, double t, const double *y) {
  Point point = evaluator_point(decisions->evaluator, t, y);
  const IndexVec *guards = &decisions->evaluator->code->action_guards;
  Workspace *program = program_now(decisions, guards, decisions->actions, decisions->idle_actions);
  if (program) workspace_run(program, &point, decisions->values);
}

uint64_t decisions_hash(Decisions *decisions, double t, const double *y) {
  const Logic *logic = decisions->logic;
  const ArrayCode *code = decisions->evaluator->code;
  Point point = evaluator_point(decisions->evaluator, t, y);
  uint64_t hash = 0;
  for (uint32_t l = 0; l + 1 < logic->level_start.count; l++) {
    uint32_t count = logic->level_start.data[l + 1] - logic->level_start.data[l];
    workspace_run(program_now(decisions, &code->guards[l], decisions->levels[l], decisions->idle_levels[l]), &point,
                  decisions->values);
    hash = hash_mix(hash ^ hash_bytes(decisions->values, count * sizeof *decisions->values));
  }
  decisions_act(decisions, t, y);
  return hash_mix(hash ^ hash_bytes(decisions->values, 2 * logic->actions.count * sizeof *decisions->values));
}

bool decisions_fires(const Decisions *decisions, uint32_t action) {
  bool counts = decisions->is_starting || !decisions->logic->actions.data[action].written->is_initial;
  return counts && decisions->values[2 * action] != 0;
}

double decisions_value(const Decisions *decisions, uint32_t action) { return decisions->values[2 * action + 1]; }

static const LogicAction *reinit_of(const Decisions *decisions, uint32_t column, uint32_t before) {
  for (uint32_t a = 0; a < before; a++)
    if (decisions->column[a] == column && decisions_fires(decisions, a)) return &decisions->logic->actions.data[a];
  return NULL;
}

void decisions_reinit(Decisions *decisions, double *y, uint8_t *held) {
  for (uint32_t a = 0; a < decisions->logic->actions.count; a++) {
    uint32_t column = decisions->column[a];
    if (column == MAP_NONE || !decisions_fires(decisions, a)) continue;
    double value = decisions->sign[a] * decisions_value(decisions, a);
    bool is_other = held[column] && !is_near(y[column], value);
    if (is_other || !isfinite(value)) {
      decisions->refused = &decisions->logic->actions.data[a];
      decisions->rival = is_other && isfinite(value) ? reinit_of(decisions, column, a) : NULL;
    }
    held[column] = 2;
    y[column] = value;
  }
}
