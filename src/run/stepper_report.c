/* stepper_report: errors and warnings of a stepper. */
#include "code/message.h"
#include "run/stepper_internal.h"

/* Finds the equation that is outside its domain at y. false: none is. */
static bool find_domain(Stepper *stepper, double t, const double *y, Blame *blame) {
  Evaluator *evaluator = stepper->view->evaluator;
  Point point = evaluator_point(evaluator, t, y);
  return workspace_blame(evaluator->rows, evaluator_model(evaluator)->dag, &point, blame);
}

static void note_domain(Stepper *stepper, Diag *diag, const Blame *blame) {
  Evaluator *evaluator = stepper->view->evaluator;
  Model *own = evaluator_model(evaluator);
  Arena *arena = &stepper->diags->arena;
  const Switches *switches = stepper->view->switches;
  Expr node = switches ? modes_restore(switches->modes, own->dag, blame->node) : blame->node;
  diag_note(stepper->diags, diag, array_row_span(evaluator->array, blame->output), "%s (%.6g) in %s: %s", blame->reason,
            blame->argument, model_text(own, node, arena), evaluator_row_text(evaluator, blame->output, arena));
}

static const char *known_name(const Array *array, uint32_t column, Arena *arena) {
  const Aliases *aliases = &array->problem->aliases;
  const Model *model = array->problem->model;
  uint32_t root = array->problem->unknown[array->column_unknown[column]], order = array_order(array, column);
  for (uint32_t j = 0; order && j < aliases->count && aliases->removed; j++)
    if (aliases->root[j] == root && aliases->shift[j] == order) return model_name(model, model->unknowns.data[j]);
  return array_column_name(array, column, arena);
}

const char *stepper_known_name(const Stepper *stepper, uint32_t column) {
  return known_name(stepper->view->evaluator->array, column, &stepper->diags->arena);
}

void report_block(Diags *diags, Diag *diag, Evaluator *evaluator, const Structure *structure, int32_t block) {
  enum { SHOWN = 6 };
  const Blocks *blocks = &structure->blocks;
  const Array *array = evaluator->array;
  if (block < 0 || block >= blocks->n_blocks) return;
  int32_t begin = blocks->start[block], size = blocks->start[block + 1] - begin;
  for (int32_t p = begin; p < begin + size && p < begin + SHOWN; p++) {
    uint32_t row = array->row_start[blocks->row[p]],
             column = array->column_start[blocks->column[p]] + (uint32_t)structure->d[blocks->column[p]];
    if (array_row_is_added(array, row)) continue;
    diag_note(diags, diag, array_row_span(array, row), "equation `%s`, variable %s",
              evaluator_row_text(evaluator, row, &diags->arena), known_name(array, column, &diags->arena));
  }
  if (size > SHOWN) diag_note(diags, diag, (Span){0}, "and %d more equations", (int)(size - SHOWN));
}

static void note_block(Stepper *stepper, Diag *diag, int32_t block) {
  report_block(stepper->diags, diag, stepper->view->evaluator, stepper->structure, block);
}

static const TurningPoint *keep_turning_point(Stepper *stepper) {
  TurningPoint *point = heap_alloc(stepper->heap, sizeof *point);
  *point = stepper->turning_point;
  stepper->statistics.turning = point;
  return point;
}

bool stepper_report_astray(Stepper *stepper) {
  const TurningPoint *point = keep_turning_point(stepper);
  Diag *diag = diag_error(stepper->diags, DIAG_SINGULAR_POINT, (Span){0},
                          "integration stopped at time %.10g: two solutions come so close before it "
                          "that steps move from one to the other",
                          point->time);
  note_block(stepper, diag, point->block);
  return false;
}

/* Are all variables of the block derivatives? */
static bool determines_derivatives(const Stepper *stepper, int32_t block) {
  const Structure *structure = stepper->structure;
  bool are = true;
  for (int32_t p = structure->blocks.start[block]; p < structure->blocks.start[block + 1]; p++)
    are = are && structure->d[structure->blocks.column[p]] > 0;
  return are;
}

bool stepper_report_turning(Stepper *stepper) {
  const TurningPoint *point = keep_turning_point(stepper);
  Diag *diag =
      diag_error(stepper->diags, DIAG_SINGULAR_POINT, (Span){0},
                 "integration stopped at time %.10g: the Jacobian of %d equation%s is singular "
                 "there, its rank drops from %d to %d",
                 point->time, (int)point->size, point->size == 1 ? "" : "s", (int)point->size, (int)point->rank);
  note_block(stepper, diag, point->block);
  diag_note(stepper->diags, diag, (Span){0}, "%s",
            determines_derivatives(stepper, point->block)
                ? "the equations determine no highest derivatives there: the index changes, and the "
                  "solution ends or is not unique"
                : "the solution ends, turns back or branches there: the equations determine no unique continuation");
  return false;
}

bool stepper_report_divisor(Stepper *stepper, double t, uint32_t k) {
  Evaluator *evaluator = stepper->view->evaluator;
  diag_error(stepper->diags, DIAG_STEP_FAILED, (Span){0},
             "integration stopped at time %.10g: the equations as rewritten divide by `%s`, which passes zero", t,
             model_text(evaluator_model(evaluator), evaluator->code->divisor.data[k], &stepper->diags->arena));
  return false;
}

void stepper_warn_pole(Stepper *stepper, const Pole *pole) {
  Evaluator *evaluator = stepper->view->evaluator;
  const Array *array = evaluator->array;
  Arena *arena = &stepper->diags->arena;
  Model *model = evaluator_model(evaluator);
  uint32_t row = array->row_start[pole->equation];
  Diag *diag =
      diag_warning(stepper->diags, DIAG_POLE, array_row_span(array, row),
                   "`%s` is not defined near time %.6g, where `%s` passes or touches zero: the run continues after it",
                   model_text(model, pole->node, arena), pole->time, model_text(model, pole->divisor, arena));
  diag_note(stepper->diags, diag, (Span){0}, "in `%s`", evaluator_row_text(evaluator, row, arena));
}

bool stepper_report_pole(Stepper *stepper, const Pole *pole, uint32_t state) {
  Evaluator *evaluator = stepper->view->evaluator;
  Arena *arena = &stepper->diags->arena;
  Model *model = evaluator_model(evaluator);
  uint32_t row = evaluator->array->row_start[pole->equation];
  Diag *diag =
      diag_error(stepper->diags, DIAG_STEP_FAILED, array_row_span(evaluator->array, row),
                 "integration stopped at time %.10g: `%s` is zero there, so `%s` and the rate of %s have no limit",
                 pole->time, model_text(model, pole->divisor, arena), model_text(model, pole->node, arena),
                 stepper_known_name(stepper, state));
  diag_note(stepper->diags, diag, (Span){0}, "in `%s`", evaluator_row_text(evaluator, row, arena));
  return false;
}

void stepper_warn_turning(Stepper *stepper, const char *what) {
  if (stepper->warned) return;
  stepper->warned = true;
  Diag *diag = diag_warning(stepper->diags, DIAG_WARNING, (Span){0}, "near time %.10g the determinant of a Jacobian %s",
                            stepper->turning_point.time, what);
  note_block(stepper, diag, stepper->turning_point.block);
}

/* Advice if the method has left a high index, which no error control can hide; otherwise "". */
static const char *index_hint(const Stepper *stepper) {
  const System *system = &stepper->view->system;
  int32_t index = 1;
  for (int32_t q = 0; q < system->columns && system->column_index; q++)
    if (system->column_index[q] > index) index = system->column_index[q];
  if (index < 3) return "";
  bool radau = stepper->steps.integrator == &integrator_radau;
  return arena_printf(&stepper->diags->arena,
                      "; the system integrated has index %d: use %sa method that reduces it, such as dummy", (int)index,
                      radau ? "" : "solver radau, or ");
}

bool stepper_fail(Stepper *stepper, StepStatus status, double t) {
  if (stepper->turning && turning_explain(stepper->turning, t, stepper_modes_end(stepper), &stepper->turning_point))
    return stepper_report_turning(stepper);
  static const char *const what[] = {
      [STEP_TOO_SMALL] = "the step size fell to round-off",
      [STEP_SINGULAR] = "the Jacobian is singular",
      [STEP_EVALUATION] = "the equations could not be evaluated",
  };
  Diag *diag = diag_error(stepper->diags, DIAG_STEP_FAILED, (Span){0}, "integration stopped at time %.10g: %s%s", t,
                          what[status], index_hint(stepper));
  SolveFailure failure = stepper->view->methods->failure(stepper->view);
  const Evaluator *evaluator = stepper->view->evaluator;
  Blame blame;
  if (status == STEP_EVALUATION && evaluator->failed_y &&
      find_domain(stepper, evaluator->failed_time, evaluator->failed_y, &blame)) {
    note_domain(stepper, diag, &blame);
    return false;
  }
  if (failure.reason) {
    diag_note(stepper->diags, diag, (Span){0}, "%s in block %d", failure.reason, (int)failure.block + 1);
    note_block(stepper, diag, failure.block);
  }
  if (find_domain(stepper, t, stepper->steps.integrator->values(stepper->steps.self), &blame) ||
      (failure.reason && evaluator->failed_y &&
       find_domain(stepper, evaluator->failed_time, evaluator->failed_y, &blame)))
    note_domain(stepper, diag, &blame);
  return false;
}

bool stepper_report_no_choice(Stepper *stepper, double t, int32_t block) {
  Diag *diag =
      diag_error(stepper->diags, DIAG_SINGULAR_POINT, (Span){0},
                 "at time %.10g the Jacobian of block %d is singular for every choice of states", t, (int)block + 1);
  note_block(stepper, diag, block);
  return false;
}

static const char *relation_text(Stepper *stepper, uint32_t mode) {
  return model_text(evaluator_model(stepper->view->evaluator), stepper->view->switches->modes->relation[mode],
                    &stepper->diags->arena);
}

static const char *condition_text(Stepper *stepper) {
  return stepper->mode == MAP_NONE ? "of a when" : relation_text(stepper, stepper->mode);
}

/* Values set by an event may leave an equation undefined in all modes. */
static bool report_undefined(Stepper *stepper, const Blame *blame) {
  Diag *diag = diag_error(stepper->diags, DIAG_STEP_FAILED, (Span){0},
                          "integration stopped at time %.10g: the equations could not be evaluated after the event",
                          stepper->t_event);
  note_domain(stepper, diag, blame);
  return false;
}

bool stepper_report_condition(Stepper *stepper, int mode, double t, double defined, const double *y) {
  Evaluator *evaluator = stepper->view->evaluator;
  const Switches *switches = stepper->view->switches;
  Model *own = evaluator_model(evaluator);
  Point point = evaluator_point(evaluator, t, y);
  Blame blame;
  Diag *diag = diag_error(stepper->diags, DIAG_STEP_FAILED, (Span){0},
                          "integration stopped at time %.10g: the condition %s is not defined %s", defined,
                          relation_text(stepper, (uint32_t)mode), t > defined ? "beyond it" : "there");
  if (workspace_blame_output(switches->workspace, own->dag, &point, (uint32_t)mode, &blame))
    diag_note(stepper->diags, diag, (Span){0}, "%s (%.6g) in %s", blame.reason, blame.argument,
              model_text(own, modes_restore(switches->modes, own->dag, blame.node), &stepper->diags->arena));
  return false;
}

/* A discrete variable that changes if its equation is evaluated once more; MAP_NONE: there is none. */
static uint32_t changing_variable(Stepper *stepper) {
  const Evaluator *evaluator = stepper->view->evaluator;
  const Model *model = evaluator->model;
  Switching *switching = &stepper->view->switches->switching;
  uint32_t count = model->discretes.count, found = MAP_NONE;
  double *before = heap_copy(stepper->heap, evaluator->discretes, count, sizeof *before);
  bool matter = false;
  switching_set(switching, stepper->t_event, stepper->steps.y, &matter);
  for (uint32_t d = 0; d < count && found == MAP_NONE; d++) {
    uint32_t position = model->discretes.data[d];
    if (evaluator->discretes[d] != before[d] && !model->variables.data[position].is_hidden) found = position;
  }
  heap_free(stepper->heap, before);
  return found;
}

bool stepper_report_chatter(Stepper *stepper) {
  Blame blame;
  double t = stepper->t_event;
  Edges *edges = &stepper->view->switches->edges;
  edges_evaluate(edges, t, stepper->steps.y);
  int mode = edges_undefined(edges, t, stepper->steps.y);
  if (mode >= 0) return stepper_report_condition(stepper, mode, t, t, stepper->steps.y);
  if (find_domain(stepper, stepper->t_event, stepper->steps.y, &blame)) return report_undefined(stepper, &blame);
  uint32_t changing = stepper->mode == MAP_NONE ? changing_variable(stepper) : MAP_NONE;
  if (changing != MAP_NONE) {
    const Model *model = stepper->view->evaluator->model;
    diag_error(stepper->diags, DIAG_CHATTERING, model->variables.data[changing].span,
               "at time %.10g the value of `%s` changes again and again: its equation has no value that stays",
               stepper->t_event, model_name(model, changing));
    return false;
  }
  diag_error(stepper->diags, DIAG_CHATTERING, (Span){0},
             "at time %.10g the condition %s changes again and again at this time; use "
             "a smooth transition",
             stepper->t_event, condition_text(stepper));
  return false;
}

bool stepper_report_accumulation(Stepper *stepper) {
  diag_error(stepper->diags, DIAG_ZENO, (Span){0},
             "integration stopped at time %.10g: the condition %s changes infinitely often before this time, faster "
             "and faster; end the run earlier, or model what happens afterwards",
             stepper->t_event, condition_text(stepper));
  return false;
}

void stepper_warn_hovering(Stepper *stepper) {
  diag_warning(
      stepper->diags, DIAG_WARNING, (Span){0},
      "at time %.10g the solution hovers at the edge of the condition %s; from here on it changes only when it is "
      "passed by a few tolerances; use a smooth transition",
      stepper->t_event, condition_text(stepper));
}

void stepper_warn_widened(Stepper *stepper) {
  const Switches *switches = stepper->view->switches;
  for (uint32_t m = 0; switches && m < switches->modes->count; m++)
    if (switches->edges.history[m].is_widened)
      diag_warning(
          stepper->diags, DIAG_WARNING, (Span){0},
          "the condition %s had events without end, so its hysteresis grew to %.3g: values that depend on it are "
          "accurate only to about that size; use a smooth transition",
          relation_text(stepper, m), switches->edges.history[m].slack);
}

bool stepper_report_jump(Stepper *stepper) {
  const View *view = stepper->view;
  diag_error(stepper->diags, DIAG_JUMP, (Span){0},
             "at the event at time %.10g the equations do not determine by how much %s jumps", stepper->t_event,
             array_column_name(view->original->array, view->settle.undetermined, &stepper->diags->arena));
  return false;
}

/* ---- assertions ---- */

/* The assertion that has failed longest; -1: none fails. */
static int first_failure(const Stepper *stepper) {
  const Switches *switches = stepper->view->switches;
  const Decisions *decisions = switches ? switches->decisions : NULL;
  const Failure *failure = decisions ? decisions->failure : NULL;
  int first = -1;
  for (int k = 0; decisions && decisions->failures && k < (int)switches->modes->logic->actions.count; k++)
    if (failure[k].is_open && (first < 0 || failure[k].since < failure[first].since)) first = k;
  return first;
}

double stepper_failed_since(const Stepper *stepper) {
  int first = first_failure(stepper);
  return first < 0 ? INFINITY : stepper->view->switches->decisions->failure[first].since;
}

bool stepper_report_failure(Stepper *stepper) {
  int first = first_failure(stepper);
  if (first < 0) return true;
  const Decisions *decisions = stepper->view->switches->decisions;
  const Assertion *assertion = &decisions->assertion[first];
  diags_keep(stepper->diags, assertion->said); /* later failures are its consequence */
  double since = decisions->failure[first].since;
  DiagCode code = since > stepper->options.start ? DIAG_ASSERTION : DIAG_INIT_ASSERTION;
  diag_error(stepper->diags, code, decisions->logic->actions.data[first].written->span,
             "assertion failed at time %.10g: %s", since, assertion->text);
  return false;
}

typedef struct Check {
  Stepper *stepper;
  double t;
  const double *y;
} Check;

static const LogicAction *action_of(const Check *check, int k) {
  return &check->stepper->view->switches->modes->logic->actions.data[k];
}

static const char *text_of(const Check *check, int k) {
  Stepper *stepper = check->stepper;
  return message_text(stepper->view->evaluator, check->t, check->y, action_of(check, k)->written->message,
                      &stepper->diags->arena);
}

static bool in_when(void *host, int k) { return action_of(host, k)->in_when; }

static void note_failure(void *host, int k, FailureState state, bool begins) {
  const Check *check = host;
  Stepper *stepper = check->stepper;
  Decisions *decisions = stepper->view->switches->decisions;
  Assertion *assertion = &decisions->assertion[k];
  if (begins) {
    *assertion = (Assertion){text_of(check, k), stepper->diags->list.count};
    decisions->failures++;
  }
  if (state != FAILURE_OVER) return;
  double since = decisions->failure[k].since;
  decisions->failures--;
  diag_warning(stepper->diags, DIAG_MODEL_SAYS, action_of(check, k)->written->span,
               "assertion failed at time %.10g for %.3g, which is too short to end the run: %s", since,
               check->t - since, assertion->text);
}

/* false: one that has failed for too long ends the run. */
static bool note_failures(Check *check) {
  static const FailureHost methods = {in_when, note_failure};
  Stepper *stepper = check->stepper;
  const Switches *switches = stepper->view->switches;
  Decisions *decisions = switches ? switches->decisions : NULL;
  if (!decisions || (!decisions->failures && !stepper->view->fired.count)) return true;
  FailureTimes run = {stepper->options.start, stepper->options.stop};
  int count = (int)switches->modes->logic->actions.count;
  return failures_note(decisions->failure, decisions->fails, count, check->t, run, &methods, check) < 0 ||
         stepper_report_failure(stepper);
}

bool stepper_report_fired(Stepper *stepper, double t, const double *y) {
  const View *view = stepper->view;
  Check check = {stepper, t, y};
  for (uint32_t i = 0; i < view->fired.count; i++) {
    int k = (int)view->fired.data[i];
    const LogicAction *action = action_of(&check, k);
    bool *is_reported = &view->switches->decisions->is_reported[k];
    if (action->kind == ACTION_TERMINATE) {
      stepper->terminated = true;
      diag_warning(stepper->diags, DIAG_MODEL_SAYS, action->written->span, "the model ends the run at time %.10g: %s",
                   t, text_of(&check, k));
    } else if (!action->written->is_warning) {
      view->switches->decisions->fails[k] = true;
    } else if (!*is_reported) {
      diag_warning(stepper->diags, DIAG_MODEL_SAYS, action->written->span, "at time %.10g: %s", t, text_of(&check, k));
      *is_reported = true;
    }
  }
  return note_failures(&check);
}

bool stepper_report_lost(Stepper *stepper, double t, uint32_t column, double value) {
  diag_error(stepper->diags, DIAG_INTEGRATION, (Span){0},
             "%s cannot be set to %.10g at time %.10g: the equations, and other values that were set, keep it at %.10g",
             stepper_known_name(stepper, column), value, t, stepper->steps.y[column]);
  return false;
}
