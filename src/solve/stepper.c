/* stepper: see stepper.h. */
#include "solve/stepper.h"

#include "code/past.h"
#include "model/input.h"
#include "solve/events.h"
#include "solve/fold.h"
#include "solve/sensitivity.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* With `auto`, systems of more rows than this go to a sparse multistep method from the start. */
enum { LARGE_ROWS = 3000 };

/* A choice of states is judged this part of a step ahead. */
static const double LOOK_AHEAD = 0.75;

/* An event in this first part of a step is early: the collocation polynomial of a long step overshoots there. */
static const double EARLY = 0.3;

/* The first step behind an event is not made shorter than this part of the run. */
static const double SHORTEST_FIRST = 1e-9;

/* A fold is looked for at least within this part of the run. */
static const double SHORTEST_SEEN = 5e-4;

/* Part of the run that a method has to get ahead before another that failed is tried again. */
static const double LEAST_PROGRESS = 1e-5;

/* So many steps in a row below the round-off of the whole run do not get ahead. */
enum { TINY_LIMIT = 10000 };
static const double TINY = 1e-16;

/* Other choices that are tried at one point. */
enum { REPAIR_LIMIT = 6 };

/* A step that left its branch is taken again in so many parts, so many times. */
enum { RETAKE_PARTS = 8, RETAKE_LIMIT = 3 };

/* A step in which something would pass a whole pipe is made shorter so many times. */
enum { SHORTEN_LIMIT = 20 };

struct Stepper {
  Heap *heap;
  View *view;
  const Structure *structure;
  StepperOptions options;
  Diags *diags;
  StepperStatistics statistics;
  Turning *turning; /* NULL: nothing to watch */
  TurningPoint turning_point;
  const Integrator *integrator;
  double changed; /* when a method that failed was last left for another, if it ever was */
  bool has_changed;
  const Integrator *waiting; /* the one to go on with when the solution slides no longer; NULL: that in use */
  void *self, *ticket;       /* of the heap that the integrator lives in; NULL: there is none yet */
  double *y, *ahead, *begin; /* begin: where the last step began */
  double before;             /* where the last step began */
  bool terminated;           /* the model asked for the end */
  bool at_event;             /* the last step ended at one, with the columns before it in y */
  EventCause cause;          /* of it */
  uint32_t mode;             /* one that changes there */
  double limit;              /* where the caller wants a step to end; INFINITY: anywhere */
  double unread;             /* steps that end by then are not looked at inside */
  double t_doubt;            /* where a step that is taken again must end; INFINITY: anywhere */
  double t_timed;            /* the next event of time alone; INFINITY: none */
  uint32_t timed;            /* a mode that changes then */
  double t_event;            /* when it was; of the last event */
  double *first_steps; /* per mode and truth of it: what the first step after its last event asked for; 0: not known */
  double *first_step;  /* of these the one to be found out by the next step; NULL: none */
  int repairs;         /* of the choice of states since the last step that succeeded */
  uint64_t rejected;   /* steps that the integrator had rejected when the states were looked at last */
  int retakes;         /* of a step that ended at `disputed` */
  double disputed;     /* up to here steps are short */
  bool warned;         /* of a determinant */
  bool warned_fold;    /* of a fold */
  bool is_folded;      /* the event is a fold, behind which the columns are `beyond` */
  double *beyond;
  Moment recent,
      origin; /* points of the branch that the solution is on, some way back: in its states of now, behind the last event */
  uint32_t tiny; /* steps in a row that hardly got ahead */
};

double stepper_time(const Stepper *stepper) {
  return stepper->at_event ? stepper->t_event : stepper->integrator->time(stepper->self);
}

const double *stepper_values(const Stepper *stepper) {
  return stepper->at_event ? stepper->y : stepper->integrator->values(stepper->self);
}

static bool is_sliding(const Stepper *stepper) {
  return stepper->view->switches && stepper->view->switches->slide.mode != MAP_NONE;
}

static double span_of(const Stepper *stepper) { return stepper->options.stop - stepper->options.start; }

/* ---- messages ---- */

/* The equation that is outside of its domain at y, if one is. */
static void note_domain(Stepper *stepper, Diag *diag, double t, const double *y) {
  Evaluator *evaluator = stepper->view->evaluator;
  Point point = evaluator_point(evaluator, t, y);
  Model *own = evaluator_model(evaluator);
  Arena *arena = &stepper->diags->arena;
  Blame blame;
  if (!workspace_blame(evaluator->rows, own->dag, &point, &blame)) return;
  if (stepper->view->switches) blame.node = modes_restore(stepper->view->switches->modes, own->dag, blame.node);
  diag_note(stepper->diags, diag, array_row_span(evaluator->array, blame.output), "%s (%.6g) in %s: %s", blame.reason,
            blame.argument, model_text(own, blame.node, arena), evaluator_row_text(evaluator, blame.output, arena));
}

/* The name under which the model knows a column: that of an alias v = der(x) if there is one. */
static const char *known_name(const Stepper *stepper, uint32_t column) {
  const Array *array = stepper->view->evaluator->array;
  const Aliases *aliases = &array->problem->aliases;
  const Model *model = array->problem->model;
  uint32_t root = array->problem->unknown[array->column_unknown[column]], order = array_order(array, column);
  for (uint32_t j = 0; order && j < aliases->count && aliases->removed; j++)
    if (aliases->root[j] == root && aliases->shift[j] == order) return model_name(model, model->unknowns.data[j]);
  return array_column_name(array, column, &stepper->diags->arena);
}

/* Adds the equations of a block and what they determine to a message: all of a small one, the first of a large one. */
static void note_block(Stepper *stepper, Diag *diag, int32_t block) {
  enum { SHOWN = 6 };
  const Blocks *blocks = &stepper->structure->blocks;
  const Array *array = stepper->view->evaluator->array;
  if (block < 0 || block >= blocks->n_blocks) return;
  int32_t begin = blocks->start[block], size = blocks->start[block + 1] - begin;
  for (int32_t p = begin; p < begin + size && p < begin + SHOWN; p++) {
    uint32_t row = array->row_start[blocks->row[p]],
             column = array->column_start[blocks->column[p]] + (uint32_t)array->d[blocks->column[p]];
    diag_note(stepper->diags, diag, array_row_span(array, row), "equation `%s`, variable %s",
              evaluator_row_text(stepper->view->evaluator, row, &stepper->diags->arena), known_name(stepper, column));
  }
  if (size > SHOWN) diag_note(stepper->diags, diag, (Span){0}, "and %d more equations", (int)(size - SHOWN));
}

/* Ends the run at a singular point, with the equations and variables of its block. */
static bool report_turning(Stepper *stepper) {
  TurningPoint *point = heap_alloc(stepper->heap, sizeof *point);
  *point = stepper->turning_point;
  stepper->statistics.turning = point;
  Diag *diag =
      diag_error(stepper->diags, DIAG_SINGULAR_POINT, (Span){0},
                 "integration stopped at time %.10g: the Jacobian of %d equation%s is singular "
                 "there, its rank drops from %d to %d",
                 point->time, (int)point->size, point->size == 1 ? "" : "s", (int)point->size, (int)point->rank);
  note_block(stepper, diag, point->block);
  diag_note(stepper->diags, diag, (Span){0},
            "the solution ends, turns back or branches there: the equations determine no unique continuation");
  return false;
}

/* A system without a structure cannot be watched: one with branches needs a plan for those that hold. */
static bool start_is_regular(Stepper *stepper) {
  View *view = stepper->view;
  bool for_all = view->conditions && !view->holds;
  bool is_singular = stepper->turning && turning_at_start(stepper->turning, &stepper->turning_point);
  if (!is_singular && (stepper->structure || !for_all)) return true;
  view->restructured = for_all;
  if (view->restructured) return false;
  return report_turning(stepper);
}

/* Says of a determinant what is not certain, once a run. */
static void warn_turning(Stepper *stepper, const char *what) {
  if (stepper->warned) return;
  stepper->warned = true;
  Diag *diag = diag_warning(stepper->diags, DIAG_WARNING, (Span){0}, "near time %.10g the determinant of a Jacobian %s",
                            stepper->turning_point.time, what);
  note_block(stepper, diag, stepper->turning_point.block);
}

/* What to try where the method has left a high index, which no error control can hide; "" elsewhere. */
static const char *index_hint(const Stepper *stepper) {
  const System *system = &stepper->view->system;
  int32_t index = 1;
  for (int32_t q = 0; q < system->columns && system->column_index; q++)
    if (system->column_index[q] > index) index = system->column_index[q];
  if (index < 3) return "";
  bool radau = stepper->integrator == &integrator_radau;
  return arena_printf(&stepper->diags->arena,
                      "; the system integrated has index %d: use %sa method that reduces it, such as dummy", (int)index,
                      radau ? "" : "solver radau, or ");
}

bool stepper_fail(Stepper *stepper, StepStatus status, double t) {
  if (stepper->turning && turning_explain(stepper->turning, t, stepper->options.stop, &stepper->turning_point))
    return report_turning(stepper);
  static const char *const what[] = {
      [STEP_TOO_SMALL] = "the step size fell to round-off",
      [STEP_SINGULAR] = "the Jacobian is singular",
      [STEP_EVALUATION] = "the equations could not be evaluated",
  };
  Diag *diag = diag_error(stepper->diags, DIAG_STEP_FAILED, (Span){0}, "integration stopped at time %.10g: %s%s", t,
                          what[status], index_hint(stepper));
  SolveFailure failure = stepper->view->methods->failure(stepper->view);
  if (failure.reason) {
    diag_note(stepper->diags, diag, (Span){0}, "%s in block %d", failure.reason, (int)failure.block + 1);
    note_block(stepper, diag, failure.block);
  }
  note_domain(stepper, diag, t, stepper->integrator->values(stepper->self));
  return false;
}

/* ---- integrators ---- */

/* The columns that the integrator has reached. */
static void copy_values(Stepper *stepper) {
  memcpy(stepper->y, stepper->integrator->values(stepper->self),
         (size_t)stepper->view->system.columns * sizeof(double));
}

/* In place of the one before, if there was one. */
static void create_integrator(Stepper *stepper, const Integrator *integrator) {
  IntegratorOptions options = {.relative_tolerance = stepper->options.tolerance,
                               .absolute_tolerance = stepper->options.tolerance,
                               .max_step = stepper->options.max_step,
                               .unread = &stepper->unread};
  const System *system = view_system(stepper->view, integrator);
  heap_release(stepper->heap, stepper->ticket);
  stepper->integrator = integrator;
  stepper->self = integrator->create(heap_within(stepper->heap, &stepper->ticket), system, &options);
  stepper->rejected = 0;
  stepper->statistics.removed = (uint32_t)(stepper->view->system.rows - system->rows);
}

/* Adds the work of the present integrator. */
static void add_work(const Stepper *stepper, StepperStatistics *statistics) {
  IntegratorStatistics part;
  stepper->integrator->statistics(stepper->self, &part);
  statistics->steps += part.steps;
  statistics->rejected += part.rejected_error + part.rejected_convergence;
  statistics->factorizations += part.factorizations;
}

StepperStatistics stepper_statistics(const Stepper *stepper) {
  StepperStatistics statistics = stepper->statistics;
  add_work(stepper, &statistics);
  statistics.factorizations += stepper->view->methods->factorizations(stepper->view);
  statistics.solver = stepper->integrator->name;
  statistics.iterations += stepper->view->iterations;
  statistics.time = statistics.turning ? statistics.turning->time : stepper->integrator->time(stepper->self);
  return statistics;
}

void stepper_statistics_add(StepperStatistics *statistics, const StepperStatistics *before, Heap *heap) {
  statistics->steps += before->steps;
  statistics->rejected += before->rejected;
  statistics->factorizations += before->factorizations;
  statistics->events += before->events;
  statistics->time_events += before->time_events;
  statistics->iterations += before->iterations;
  PivotVec pivots = before->pivots;
  for (uint32_t k = 0; k < statistics->pivots.count; k++) vec_push(heap, &pivots, statistics->pivots.data[k]);
  statistics->pivots = pivots;
  EventVec passed = before->passed;
  for (uint32_t k = 0; k < statistics->passed.count; k++) vec_push(heap, &passed, statistics->passed.data[k]);
  statistics->passed = passed;
}

/* Another integrator from (t, y) on. */
static void change_integrator(Stepper *stepper, const Integrator *integrator, double t) {
  add_work(stepper, &stepper->statistics);
  create_integrator(stepper, integrator);
  stepper->integrator->start(stepper->self, t, stepper->y, stepper->options.stop);
}

/* Leaves the explicit method for an implicit one when it says that the problem is stiff. */
static void leave_if_stiff(Stepper *stepper) {
  if (stepper->options.integrator || !stepper->integrator->explicit_form || is_sliding(stepper)) return;
  IntegratorStatistics now;
  stepper->integrator->statistics(stepper->self, &now);
  if (!now.stiff) return;
  copy_values(stepper);
  change_integrator(stepper, &integrator_radau, stepper->integrator->time(stepper->self));
  stepper->statistics.solver_reason = "began explicit, found stiff";
}

/* The method to go on with at t, where the one of now has failed; NULL: there is none. Of the implicit methods each may help where
 * the other cannot go on, as long as they get ahead. */
static const Integrator *other_integrator(const Stepper *stepper, double t) {
  if (stepper->integrator == &integrator_erk) return &integrator_radau;
  if (stepper->integrator == &integrator_radau) return &integrator_bdf;
  bool gets_ahead = t - stepper->changed > LEAST_PROGRESS * span_of(stepper);
  return stepper->integrator == &integrator_bdf && stepper->has_changed && gets_ahead ? &integrator_radau : NULL;
}

/* After a step from t that failed: goes on with another method where the choice is free, and nothing shows that the solution
 * ends there. */
static bool try_other(Stepper *stepper, double t) {
  if (stepper->options.integrator || !stepper->view->system.complete) return false;
  if (stepper->turning && turning_explain(stepper->turning, t, stepper->options.stop, &stepper->turning_point))
    return false;
  const Integrator *other = other_integrator(stepper, t);
  if (!other) return false;
  copy_values(stepper);
  change_integrator(stepper, other, t);
  stepper->changed = t;
  stepper->has_changed = true;
  stepper->statistics.solver_reason = "where another failed";
  return true;
}

static const Integrator *first_integrator(Stepper *stepper) {
  if (stepper->options.integrator) {
    stepper->statistics.solver_reason = "as asked for";
    return stepper->options.integrator;
  }
  if (stepper->view->methods->reselect) {
    stepper->statistics.solver_reason = "few evaluations of the whole array";
    return &integrator_bdf;
  }
  if (stepper->view->system.rows > LARGE_ROWS) {
    stepper->statistics.solver_reason = "large and sparse";
    return &integrator_bdf;
  }
  if (stepper->view->sensitivity) {
    stepper->statistics.solver_reason = "its factors serve sensitivities";
    return &integrator_radau;
  }
  if (stepper->view->system.complete) {
    stepper->statistics.solver_reason = "not stiff so far";
    return &integrator_erk;
  }
  stepper->statistics.solver_reason = "no state-space form";
  return &integrator_radau;
}

static void copy_moment(const Stepper *stepper, Moment *to, double t, const double *y) {
  to->t = t;
  memcpy(to->y, y, (size_t)stepper->view->system.columns * sizeof(double));
}

/* A branch, or the choice of states, begins. */
static void begin_branch(Stepper *stepper, double t, const double *y) {
  copy_moment(stepper, &stepper->recent, t, y);
  copy_moment(stepper, &stepper->origin, t, y);
}

/* Keeps points apart, since the very last ones may be beyond the end of the branch by the error of the steps. */
static void keep_branch(Stepper *stepper) {
  if (stepper->before - stepper->recent.t < SHORTEST_SEEN * span_of(stepper)) return;
  Moment swap = stepper->origin;
  stepper->origin = stepper->recent;
  stepper->recent = swap;
  copy_moment(stepper, &stepper->recent, stepper->before, stepper->begin);
}

/* ---- the choice of states ---- */

/* The columns at t + ahead by the Taylor series that they are: (j, k) + ahead (j, k + 1) + ... Good enough to
 * judge a choice where the next step will use it rather than where the last one ended. */
static void look_ahead(const Stepper *stepper, const double *y, double ahead, double *out) {
  const Array *array = stepper->view->evaluator->array;
  for (uint32_t j = 0; j < array->problem->unknowns; j++) {
    uint32_t begin = array->column_start[j], end = array->column_start[j + 1];
    for (uint32_t q = end; q-- > begin;) {
      out[q] = y[q];
      double factor = 1;
      for (uint32_t r = q + 1; r < end; r++) out[q] += (factor *= ahead / (double)(r - q)) * y[r];
    }
  }
}

static void note_exchanges(Stepper *stepper, double t, const Exchanges *exchanges, int32_t count) {
  for (int32_t k = 0; k < count; k++)
    vec_push(stepper->heap, &stepper->statistics.pivots,
             (PivotRecord){t, exchanges->list[k].out, exchanges->list[k].in});
}

/* Looks at the choice of states: judged at `ahead`, changed at (t, stepper->y). */
static int32_t exchange_states(Stepper *stepper, double t, ConstMoment ahead, bool sure, Exchanges *exchanges) {
  View *view = stepper->view;
  if (!view->methods->exchange) return 0;
  int32_t count = view->methods->exchange(view, (Moment){t, stepper->y}, ahead, sure, exchanges);
  note_exchanges(stepper, t, exchanges, count);
  return count;
}

/* A new selection of rows and columns at stepper->y, and a new integrator for it. */
static bool reselect(Stepper *stepper, double t) {
  View *view = stepper->view;
  if (!view->methods->reselect || !view->methods->reselect(view, t, stepper->y)) return false;
  change_integrator(stepper, stepper->integrator, t);
  return true;
}

static bool report_no_choice(Stepper *stepper, double t, int32_t block) {
  Diag *diag =
      diag_error(stepper->diags, DIAG_SINGULAR_POINT, (Span){0},
                 "at time %.10g the Jacobian of block %d is singular for every choice of states", t, (int)block + 1);
  note_block(stepper, diag, block);
  return false;
}

/* Looks at the choice of states at the end of a step, closely if the step was rejected before. */
static bool watch_choice(Stepper *stepper, double t) {
  if (!stepper->view->methods->exchange) return true;
  IntegratorStatistics now;
  stepper->integrator->statistics(stepper->self, &now);
  uint64_t rejected = now.rejected_error + now.rejected_convergence;
  bool sure = rejected != stepper->rejected;
  stepper->rejected = rejected;
  double ahead = stepper->structure ? LOOK_AHEAD * now.step : 0;
  Exchanges exchanges;
  copy_values(stepper);
  look_ahead(stepper, stepper->y, ahead, stepper->ahead);
  int32_t count = exchange_states(stepper, t, (ConstMoment){t + ahead, stepper->ahead}, sure, &exchanges);
  if (count == EXCHANGE_SINGULAR) return report_no_choice(stepper, t, exchanges.block);
  if (count == EXCHANGE_UNSOLVED) return stepper_fail(stepper, STEP_EVALUATION, t);
  if (count == EXCHANGE_RESELECT) reselect(stepper, t);
  if (count <= 0) return true;
  stepper->integrator->switch_states(stepper->self, stepper->y);
  begin_branch(stepper, t, stepper->y);
  return true;
}

/* After a step from t that failed: true if the run goes on with another choice. Dummies were looked at before the step. */
static bool repair_choice(Stepper *stepper, double t) {
  if (!stepper->view->methods->reselect || stepper->repairs++ == REPAIR_LIMIT) return false;
  Exchanges exchanges;
  copy_values(stepper);
  if (exchange_states(stepper, t, (ConstMoment){t, stepper->y}, true, &exchanges) <= 0) return reselect(stepper, t);
  stepper->integrator->start(stepper->self, t, stepper->y, stepper->options.stop);
  return true;
}

/* ---- events ---- */

static const char *condition_text(Stepper *stepper) {
  if (stepper->mode == MAP_NONE) return "of a when";
  return model_text(evaluator_model(stepper->view->evaluator), stepper->view->switches->modes->relation[stepper->mode],
                    &stepper->diags->arena);
}

static bool report_chatter(Stepper *stepper) {
  diag_error(stepper->diags, DIAG_CHATTERING, (Span){0},
             "at time %.10g the condition %s changes again and again without getting ahead; use noEvent, or "
             "a smooth transition",
             stepper->t_event, condition_text(stepper));
  return false;
}

/* Tells of an event of the states. false: infinitely many follow, which ends the run. */
static bool note_event(Stepper *stepper) {
  double t = stepper->t_event;
  if (!switches_accumulate(stepper->view->switches, stepper->mode, t, span_of(stepper))) return true;
  diag_error(stepper->diags, DIAG_ZENO, (Span){0},
             "integration stopped at time %.10g: the condition %s changes ever faster, infinitely often before the "
             "solution gets beyond this time; end the run before, or model what happens behind it",
             t, condition_text(stepper));
  return false;
}

/* The solution hovers at an edge that it cannot be made to slide along: there hysteresis grows, and the explicit method, if
 * chosen automatically, gives way to one that damps. */
static void let_hover(Stepper *stepper) {
  Switches *switches = stepper->view->switches;
  bool first = switches->slack[stepper->mode] == 0;
  if (!switches_hover(switches, stepper->mode, stepper->options.tolerance, span_of(stepper))) return;
  if (first)
    diag_warning(
        stepper->diags, DIAG_WARNING, (Span){0},
        "at time %.10g the solution hovers at the edge of the condition %s, which from here on changes only when "
        "passed by some times the tolerance; use noEvent, or a smooth transition",
        stepper->t_event, condition_text(stepper));
  if (!stepper->options.integrator && stepper->integrator->explicit_form && !stepper->waiting) {
    change_integrator(stepper, &integrator_radau, stepper->t_event);
    stepper->statistics.solver_reason = "began explicit, conditions hover at their edges";
  }
}

/* Only the state-space form slides, and a method without history: the others wait until the solution leaves the edge. */
static void suit_integrator(Stepper *stepper, double t) {
  const Integrator *erk = &integrator_erk;
  if (is_sliding(stepper) && stepper->integrator != erk) {
    stepper->waiting = stepper->integrator;
    change_integrator(stepper, erk, t);
  } else if (!is_sliding(stepper) && stepper->waiting) {
    change_integrator(stepper, stepper->waiting, t);
    stepper->waiting = NULL;
  }
}

/* Are the ranks, where they choose, still those of the start? */
static bool has_same_ranks(Stepper *stepper) {
  View *view = stepper->view;
  if (!view->methods->same_ranks || view->methods->same_ranks(view, stepper->t_event, stepper->y)) return true;
  diag_error(stepper->diags, DIAG_JUMP, (Span){0},
             "at the event at time %.10g the ranks of the derivative array change, and with them the number "
             "of degrees of freedom",
             stepper->t_event);
  return false;
}

/* Of the mode that made the event; 1 where none did. */
static double event_value(const Stepper *stepper) {
  const Switches *switches = stepper->view->switches;
  return stepper->mode == MAP_NONE ? 1 : switches->evaluator->discretes[switches->modes->first + stepper->mode];
}

static void start_with(Stepper *stepper, double t, const double *y, double step) {
  const Integrator *integrator = stepper->integrator;
  begin_branch(stepper, t, y);
  integrator->start(stepper->self, t, y, stepper->options.stop);
  if (integrator->suggest && step > 0) integrator->suggest(stepper->self, step);
}

/* The first step behind an event: what the last such one asked for, but not more than the time since then. What an error estimate
 * allows, as that of a ball's parabola does any step, may jump over all that follows. */
static double suggested_step(const Stepper *stepper) {
  const Switches *switches = stepper->view->switches;
  if (stepper->mode == MAP_NONE || switches->modes->timed[stepper->mode]) return *stepper->first_step;
  double since = stepper->t_event - switches->times[stepper->mode].before;
  return fmin(*stepper->first_step, fmax(since, SHORTEST_FIRST * span_of(stepper)));
}

/* Starts again behind an event, with the choice that suits the modes of now. */
static void restart(Stepper *stepper, double t) {
  Exchanges exchanges;
  bool by_ranks = stepper->view->methods->reselect != NULL;
  int32_t count = by_ranks ? exchange_states(stepper, t, (ConstMoment){t, stepper->y}, true, &exchanges) : 1;
  if (count <= 0 && reselect(stepper, t)) return;
  const Switches *switches = stepper->view->switches;
  if (!switches) { /* the caller has changed values */
    start_with(stepper, t, stepper->y, 0);
    return;
  }
  uint32_t mode = stepper->mode == MAP_NONE ? switches->modes->count : stepper->mode;
  stepper->first_step = &stepper->first_steps[2 * mode + (event_value(stepper) != 0)];
  start_with(stepper, t, stepper->y, suggested_step(stepper));
}

/* Keeps the step size that the first step after an event asks for. */
static void keep_first_step(Stepper *stepper) {
  if (!stepper->first_step) return;
  IntegratorStatistics now;
  stepper->integrator->statistics(stepper->self, &now);
  *stepper->first_step = now.next;
  stepper->first_step = NULL;
}

static double round_off(const Stepper *stepper) {
  return 16 * DBL_EPSILON * fmax(fabs(stepper->options.stop), fabs(stepper->options.start));
}

/* A time that is the end but for round-off is the end: no step leads from there to it. */
static double snap(const Stepper *stepper, double t) {
  double stop = stepper->options.stop;
  return fabs(stop - t) <= round_off(stepper) ? stop : t;
}

static void plan_timed(Stepper *stepper, double t) {
  double until = stepper->options.stop + round_off(stepper);
  stepper->t_timed =
      t < stepper->options.stop ? snap(stepper, events_next_time(stepper->view, t, until, &stepper->timed)) : INFINITY;
}

static bool report_jump(Stepper *stepper) {
  const View *view = stepper->view;
  diag_error(stepper->diags, DIAG_JUMP, (Span){0},
             "at the event at time %.10g the equations do not determine by how much %s jumps", stepper->t_event,
             array_column_name(view->evaluator->array, view->undetermined, &stepper->diags->arena));
  return false;
}

/* Reports what has fired at t. false: the run fails. */
static bool take_fired(Stepper *stepper, double t) {
  const View *view = stepper->view;
  for (uint32_t k = 0; k < view->fired.count; k++) {
    const LogicAction *action = &view->switches->modes->logic->actions.data[view->fired.data[k]];
    bool *is_reported = &view->switches->decisions->is_reported[view->fired.data[k]];
    const char *text = model_text(evaluator_model(view->evaluator), action->written->message, &stepper->diags->arena);
    if (action->kind == ACTION_TERMINATE) {
      stepper->terminated = true;
      diag_warning(stepper->diags, DIAG_MODEL_SAYS, action->written->span, "the model ends the run at time %.10g: %s",
                   t, text);
    } else if (action->written->is_warning) {
      if (!*is_reported)
        diag_warning(stepper->diags, DIAG_MODEL_SAYS, action->written->span, "at time %.10g: %s", t, text);
      *is_reported = true;
    } else {
      DiagCode code = t > stepper->options.start ? DIAG_ASSERTION : DIAG_INIT_ASSERTION;
      diag_error(stepper->diags, code, action->written->span, "assertion failed at time %.10g: %s", t, text);
      return false;
    }
  }
  return true;
}

/* Nothing that is integrated has changed at the event, on which the last step has landed. */
static bool goes_on(const Stepper *stepper) {
  return !stepper->view->disturbed && stepper->integrator->time(stepper->self) == stepper->t_event;
}

/* Does the event lead out of the structure that the system was made for? One made for all branches may be singular in some. */
static bool leaves_structure(Stepper *stepper, bool settled) {
  View *view = stepper->view;
  if (view->restructured || !view->conditions || view->holds) return view->restructured;
  if (settled && stepper->turning) {
    turning_begin(stepper->turning, stepper->t_event, stepper->y);
    settled = !turning_at_start(stepper->turning, &stepper->turning_point);
  }
  return view->restructured = !settled;
}

/* The event at t_event has been settled, or not. */
static bool finish_event(Stepper *stepper, bool settled) {
  double t = stepper->t_event;
  if (leaves_structure(stepper, settled)) {
    memcpy(stepper->y, stepper->begin, (size_t)stepper->view->system.columns * sizeof(double));
    return false;
  }
  if (!settled && stepper->view->sensitivity && sensitivity_failed(stepper->view->sensitivity)) return false;
  const Decisions *decisions = stepper->view->switches ? stepper->view->switches->decisions : NULL;
  if (decisions && !decisions_defined(decisions, t, DIAG_INTEGRATION, stepper->diags)) return false;
  if (!settled && stepper->view->undetermined != MAP_NONE) return report_jump(stepper);
  if (settled && !take_fired(stepper, t)) return false;
  vec_push(stepper->heap, &stepper->statistics.passed,
           (EventRecord){t, stepper->cause, stepper->mode, event_value(stepper)});
  if (settled && goes_on(stepper)) {
    plan_timed(stepper, t);
    stepper->at_event = false;
    return true;
  }
  if (!has_same_ranks(stepper)) return false;
  if (stepper->turning) turning_begin(stepper->turning, t, stepper->y);
  if (!start_is_regular(stepper)) return false;
  if (!settled) return report_chatter(stepper);
  suit_integrator(stepper, t);
  restart(stepper, t);
  plan_timed(stepper, t);
  stepper->at_event = false;
  return true;
}

bool stepper_settle(Stepper *stepper) {
  View *view = stepper->view;
  double t = stepper->t_event;
  if (is_sliding(stepper)) switches_leave(view->switches);
  if (t < stepper->t_timed && stepper->mode != MAP_NONE) let_hover(stepper);
  size_t size = (size_t)view->system.columns * sizeof(double);
  bool is_folded = stepper->is_folded;
  if (is_folded && view->sensitivity)
    return sensitivity_refuse(view->sensitivity, t, "the solution jumps there over a fold of its equations");
  if (is_folded) memcpy(stepper->y, stepper->beyond, size);
  stepper->is_folded = false;
  memcpy(stepper->begin, stepper->y, size);
  bool settled = !view->switches || events_settle(view, t, stepper->y, stepper->mode);
  view->disturbed = view->disturbed || is_folded;
  return finish_event(stepper, settled);
}

bool stepper_restructured(const Stepper *stepper) { return stepper->view->restructured; }

/* The event of time alone at which the last step has landed. An implicit method leaves the rows unsolved by its error, which is
 * no jump. */
static void take_timed(Stepper *stepper) {
  if (stepper->integrator->explicit_form || !stepper_interpolate(stepper, stepper->t_timed, stepper->y))
    copy_values(stepper);
  stepper->at_event = true;
  stepper->t_event = stepper->t_timed;
  stepper->cause = stepper->timed == MAP_NONE ? EVENT_TIME : EVENT_CONDITION;
  stepper->mode = stepper->timed;
  stepper->statistics.time_events++;
}

/* An event that only the dense output tells of, or one early in a step of radau, may be an error of the dense output, as in a
 * transient that a stiff method steps over: the step is taken again, up to there. false: it was already, or would hardly get ahead. */
static bool take_again(Stepper *stepper, double t) {
  double step = stepper->integrator->time(stepper->self) - stepper->before;
  double least = fmax(1e-6 * step, 64 * DBL_EPSILON * fabs(t));
  if (stepper->t_doubt < INFINITY || !(t - stepper->before > least)) return false;
  stepper->t_doubt = t;
  stepper->at_event = false;
  start_with(stepper, stepper->before, stepper->begin, t - stepper->before);
  events_begin(stepper->view, stepper->before, stepper->begin);
  return true;
}

bool stepper_passed_event(Stepper *stepper, double t, const double *y) {
  uint32_t mode;
  if (!(t < stepper_time(stepper)) || !events_contradict(stepper->view, t, y, &mode)) return false;
  return take_again(stepper, t);
}

/* inside: only the dense output tells of the event at t. */
static bool is_doubtful(const Stepper *stepper, double t, bool inside) {
  double step = stepper->integrator->time(stepper->self) - stepper->before;
  return inside || (stepper->integrator == &integrator_radau && t - stepper->before < EARLY * step);
}

/* An event of states, or the end of sliding, in the last step, which it then ends. */
static bool find_state_event(Stepper *stepper, double t) {
  View *view = stepper->view;
  bool inside = false;
  stepper->at_event =
      events_locate(view, stepper->integrator, stepper->self, stepper->before, &t, stepper->y, &stepper->mode, &inside);
  if (stepper->at_event && is_doubtful(stepper, t, inside) && take_again(stepper, t)) return false;
  if (is_sliding(stepper) && events_leave(view, stepper->integrator, stepper->self, stepper->before, &t, stepper->y)) {
    stepper->at_event = true;
    stepper->mode = view->switches->slide.mode;
  }
  if (!stepper->at_event) return false;
  stepper->t_event = snap(stepper, t);
  stepper->cause = EVENT_CONDITION;
  stepper->statistics.events++;
  return true;
}

/* Ends the step at the first event in it, if there is one. */
static bool find_event(Stepper *stepper) {
  Switches *switches = stepper->view->switches;
  if (!switches) return false;
  stepper->at_event = false;
  double t = stepper->integrator->time(stepper->self), step = t - stepper->before;
  bool is_quiet =
      !is_sliding(stepper) && switches_are_quiet(switches, t, stepper->integrator->values(stepper->self), step);
  if (!is_quiet && find_state_event(stepper, t)) return true;
  if (stepper->integrator->time(stepper->self) < stepper->t_timed) return false;
  take_timed(stepper);
  return true;
}

/* ---- folds ---- */

/* The column that jumps farthest, for its size. */
static uint32_t farthest_jump(const Stepper *stepper) {
  const double *nominal = stepper->view->system.nominal;
  uint32_t farthest = 0;
  double most = 0;
  for (uint32_t q = 0; q < (uint32_t)stepper->view->system.columns; q++) {
    double jump = fabs(stepper->beyond[q] - stepper->y[q]) / (fabs(stepper->y[q]) + nominal[q]);
    if (array_order(stepper->view->evaluator->array, q) == 0 && jump > most) most = jump, farthest = q;
  }
  return farthest;
}

/* Looks for a fold from where the last step began, with the other columns of there or, where steps have led them astray, of some way back. */
static bool find_fold(Stepper *stepper, double longest, Fold *fold) {
  View *view = stepper->view;
  const System *system = &view->system;
  ConstMoment origin = {stepper->origin.t, stepper->origin.y};
  if (fold_pass(view, origin, (ConstMoment){stepper->before, stepper->begin}, longest, fold)) return true;
  memcpy(stepper->ahead, stepper->origin.y, (size_t)system->columns * sizeof(double));
  for (int32_t k = 0; k < system->links; k++)
    stepper->ahead[system->link_from[k]] = stepper->begin[system->link_from[k]];
  return fold_pass(view, origin, (ConstMoment){stepper->before, stepper->ahead}, longest, fold);
}

/* The solution may end in the last step, or soon after it: if that is at a corner, where it folds, the run goes on behind the fold, with
 * an event. */
static bool pass_fold(Stepper *stepper, double step) {
  double longest = fmax(4 * step, SHORTEST_SEEN * span_of(stepper));
  Fold fold = {.before = stepper->y, .after = stepper->beyond};
  if (stepper->view->evaluator->past || !find_fold(stepper, longest, &fold)) return false;
  add_work(stepper, &stepper->statistics);
  create_integrator(stepper, stepper->integrator); /* which does not remember that its steps failed */
  stepper->integrator->start(stepper->self, stepper->before, stepper->begin, stepper->options.stop);
  stepper->at_event = stepper->is_folded = true;
  stepper->t_event = snap(stepper, fold.time);
  stepper->cause = EVENT_FOLD;
  stepper->mode = MAP_NONE;
  stepper->statistics.events++;
  uint32_t column = farthest_jump(stepper);
  if (!stepper->warned_fold)
    diag_warning(stepper->diags, DIAG_WARNING, (Span){0},
                 "at time %.10g the branch of the solution ends at a corner of the equations: %s jumps from %.6g to "
                 "%.6g, where the curve "
                 "of solutions leads behind the fold",
                 fold.time, known_name(stepper, column), stepper->y[column], stepper->beyond[column]);
  stepper->warned_fold = true;
  return true;
}

/* ---- delays ---- */

/* Is the time of every delay, as read last, one that it may have? */
static bool has_delays(Stepper *stepper, double t) {
  Evaluator *evaluator = stepper->view->evaluator;
  uint32_t fault = past_fault(evaluator->past);
  if (fault == MAP_NONE) return true;
  double time = past_time(evaluator->past, fault);
  const LogicDelay *delay = &evaluator->code->modes->logic->delays.data[fault];
  DiagCode code = t > stepper->options.start ? DIAG_INTEGRATION : DIAG_INIT;
  const char *text = model_text(evaluator_model(evaluator), delay->written, &stepper->diags->arena);
  if (delay->pipe) {
    diag_error(stepper->diags, code, (Span){0}, "at time %.10g %s %s", t,
               code == DIAG_INIT ? "initialPoints does not ascend from 0 to 1 in" : "x jumps by more than 1 in", text);
    return false;
  }
  diag_error(stepper->diags, code, (Span){0}, "at time %.10g the delay time of %s is %.10g, %s", t, text, time,
             time > 0   ? "above its maximum"
             : time < 0 ? "below zero"
                        : "which only a constant may be");
  return false;
}

/* The columns at a time of the last step. */
static const double *values_at(Stepper *stepper, double t) {
  if (t == stepper->before) return stepper->begin;
  if (t == stepper_time(stepper)) return stepper_values(stepper);
  if (view_point(stepper->view, stepper->integrator, stepper->self, t, stepper->ahead) != EVAL_OK)
    stepper->integrator->interpolate(stepper->self, t, stepper->ahead);
  return stepper->ahead;
}

static void sample_past(Stepper *stepper, double from, double to) {
  for (uint32_t node = 0; node < PIECE_NODES; node++) {
    double t = node + 1 < PIECE_NODES ? past_node_time(node, from, to) : to;
    past_sample(stepper->view->evaluator, node, t, values_at(stepper, t));
  }
}

/* Keeps what delays will look back at in the last step. */
static bool keep_past(Stepper *stepper) {
  Evaluator *evaluator = stepper->view->evaluator;
  double before = stepper->before, end = stepper_time(stepper);
  if (!evaluator->past) return true;
  sample_past(stepper, before, end);
  uint32_t parts = past_parts(evaluator->past, stepper->options.tolerance);
  double from = before;
  bool is_smooth = false;
  for (uint32_t k = 0; k < parts; k++) {
    double to = k + 1 < parts ? before + (end - before) * (k + 1) / parts : end;
    if (parts > 1) sample_past(stepper, from, to);
    is_smooth = past_add(evaluator, from, to) || is_smooth;
    from = to;
  }
  if (is_smooth) {
    plan_timed(stepper, before);
    events_begin(stepper->view, end, stepper_values(stepper));
  }
  return has_delays(stepper, end);
}

/* ---- steps ---- */

/* A step that is not longer than delays, and in which nothing passes a whole pipe: else it is taken again, shorter. */
static StepStatus step_within_pipes(Stepper *stepper, double stop) {
  Evaluator *evaluator = stepper->view->evaluator;
  double longest = past_longest_step(evaluator, stepper->before, stepper->begin), moved;
  for (int k = 0; k < SHORTEN_LIMIT; k++) {
    StepStatus status = stepper->integrator->step(stepper->self, fmin(stop, stepper->before + longest));
    if (status != STEP_OK) return status;
    double t = stepper->integrator->time(stepper->self);
    moved = past_moved(evaluator, t, stepper->integrator->values(stepper->self));
    if (moved <= 1) return status;
    longest = 0.5 * (t - stepper->before) / moved;
    start_with(stepper, stepper->before, stepper->begin, longest);
  }
  return stepper->integrator->step(stepper->self, fmin(stop, stepper->before + longest));
}

static StepStatus try_step(Stepper *stepper) {
  stepper->before = stepper->integrator->time(stepper->self);
  memcpy(stepper->begin, stepper->integrator->values(stepper->self),
         (size_t)stepper->view->system.columns * sizeof(double));
  keep_branch(stepper);
  double stop = fmin(fmin(stepper->options.stop, stepper->limit), fmin(stepper->t_timed, stepper->t_doubt));
  if (stepper->view->evaluator->past) return step_within_pipes(stepper, stop);
  return stepper->integrator->step(stepper->self, stop);
}

/* A step. Where it fails, the solution is followed around a fold, or another choice of states or another method is tried. */
static bool take_step(Stepper *stepper) {
  StepStatus status;
  do {
    status = try_step(stepper);
    if (status != STEP_OK && pass_fold(stepper, 0)) return true;
  } while (status != STEP_OK && (repair_choice(stepper, stepper->before) || try_other(stepper, stepper->before)));
  if (status != STEP_OK) return stepper_fail(stepper, status, stepper->before);
  stepper->repairs = 0;
  keep_first_step(stepper);
  return true;
}

/* Goes on from (t, stepper->y) with steps not longer than `max_step`. */
static void limit_steps(Stepper *stepper, double t, double max_step) {
  double asked = stepper->options.max_step;
  stepper->options.max_step = max_step;
  change_integrator(stepper, stepper->integrator, t);
  stepper->options.max_step = asked;
}

/* A determinant that changed its sign but not through zero: the step left its branch, and is taken again in parts. false: it has been
 * taken again often enough. */
static bool retake(Stepper *stepper, double t) {
  if (stepper->retakes == RETAKE_LIMIT) return false;
  if (stepper->retakes++ == 0) stepper->disputed = t;
  turning_go_back(stepper->turning);
  memcpy(stepper->y, stepper->begin, (size_t)stepper->view->system.columns * sizeof(double));
  limit_steps(stepper, stepper->before, (t - stepper->before) / RETAKE_PARTS);
  return true;
}

/* Behind what was disputed steps are as long as they were. */
static void end_retakes(Stepper *stepper) {
  double t = stepper_time(stepper);
  if (!stepper->retakes || stepper->at_event || t < stepper->disputed) return;
  stepper->retakes = 0;
  copy_values(stepper);
  limit_steps(stepper, t, stepper->options.max_step);
}

static bool gets_ahead(Stepper *stepper) {
  bool is_tiny = stepper->integrator->time(stepper->self) - stepper->before < TINY * span_of(stepper);
  stepper->tiny = is_tiny ? stepper->tiny + 1 : 0;
  return stepper->tiny <= TINY_LIMIT;
}

static bool step_to_event(Stepper *stepper) {
  end_retakes(stepper);
  for (;;) {
    bool event;
    do {
      if (!take_step(stepper)) return false;
      if (stepper->is_folded) return true;
      event = find_event(stepper);
      if (event && stepper->t_event < stepper->t_timed && !note_event(stepper)) return false;
      if (!gets_ahead(stepper)) return stepper_fail(stepper, STEP_TOO_SMALL, stepper->before);
    } while (!event && stepper->integrator->time(stepper->self) == stepper->before);
    if (event || stepper_time(stepper) >= stepper->t_doubt) stepper->t_doubt = INFINITY;
    double t = stepper_time(stepper);
    if (!stepper->turning) return true;
    TurningStatus status =
        turning_watch(stepper->turning, stepper->integrator, stepper->self, t, stepper_values(stepper),
                      stepper->options.stop, event || t >= stepper->options.stop, &stepper->turning_point);
    if (status == TURNING_POINT) return pass_fold(stepper, t - stepper->before) || report_turning(stepper);
    if (status == TURNING_SMALL) warn_turning(stepper, "is nearly zero");
    if (status != TURNING_JUMP) return true;
    if (!event && retake(stepper, t)) continue;
    if (!event && pass_fold(stepper, t - stepper->before)) return true;
    warn_turning(stepper, "changes its sign");
    return true;
  }
}

bool stepper_step(Stepper *stepper) { return stepper->is_folded || (step_to_event(stepper) && keep_past(stepper)); }

bool stepper_passed_fold(Stepper *stepper) { return pass_fold(stepper, stepper_time(stepper) - stepper->before); }

void stepper_limit(Stepper *stepper, double limit) { stepper->limit = limit; }

/* Conditions, delays and sensitivities look at every step. */
void stepper_expect(Stepper *stepper, double time) {
  const View *view = stepper->view;
  stepper->unread = view->switches || view->evaluator->past || view->sensitivity ? -INFINITY : time;
}

bool stepper_terminated(const Stepper *stepper) { return stepper->terminated; }

bool stepper_at_event(const Stepper *stepper) { return stepper->at_event; }

bool stepper_prepare(Stepper *stepper) {
  events_watch(stepper->view, stepper_time(stepper), stepper_values(stepper));
  if (!take_fired(stepper, stepper_time(stepper))) return false;
  if (!watch_choice(stepper, stepper_time(stepper))) return false;
  leave_if_stiff(stepper);
  return true;
}

bool stepper_interpolate(Stepper *stepper, double t, double *y) {
  return view_point(stepper->view, stepper->integrator, stepper->self, t, y) == EVAL_OK;
}

bool stepper_differentiate(Stepper *stepper) {
  return sensitivity_step(stepper->view->sensitivity, stepper->integrator, stepper->self, stepper->before,
                          stepper_time(stepper));
}

Stepper *stepper_new(Heap *heap, View *view, const Structure *structure, const TurningPlan *watched,
                     const StepperOptions *options, Diags *diags) {
  Stepper *stepper = heap_alloc(heap, sizeof *stepper);
  size_t columns = (size_t)view->system.columns;
  *stepper = (Stepper){.heap = heap, .view = view, .structure = structure, .options = *options, .diags = diags};
  if (view->switches) switches_set_nominal(view->switches, options->start, view->system.nominal);
  stepper->limit = INFINITY;
  stepper->unread = -INFINITY;
  stepper->y = heap_array(heap, columns, sizeof(double));
  stepper->ahead = heap_array(heap, columns, sizeof(double));
  stepper->begin = heap_array(heap, columns, sizeof(double));
  stepper->beyond = heap_array(heap, columns, sizeof(double));
  stepper->recent.y = heap_array(heap, columns, sizeof(double));
  stepper->origin.y = heap_array(heap, columns, sizeof(double));
  if (view->switches)
    stepper->first_steps = heap_array(heap, 2 * ((size_t)view->switches->modes->count + 1), sizeof(double));
  if (watched) stepper->turning = turning_new(heap, view, watched);
  return stepper;
}

/* What happens at the start itself: whens, and samples that are due at once. */
static bool begin_discrete(Stepper *stepper, double t) {
  const Switches *switches = stepper->view->switches;
  if (!switches || !switches->decisions) return true;
  decisions_run(switches->decisions, t);
  const ArrayCode *code = stepper->view->evaluator->code;
  if (code->matters[code->modes->logic->initial]) { /* it was true when the columns were found */
    stepper->view->methods->solve(stepper->view, t, stepper->y);
    stepper->integrator->start(stepper->self, t, stepper->y, stepper->options.stop);
  }
  stepper->at_event = true;
  stepper->t_event = t;
  stepper->cause = EVENT_START;
  stepper->mode = MAP_NONE;
  return stepper_settle(stepper);
}

static bool start_at(Stepper *stepper, double t, const double *y) {
  memcpy(stepper->y, y, (size_t)stepper->view->system.columns * sizeof *y);
  stepper->before = t;
  stepper->t_event = -HUGE_VAL;
  stepper->t_doubt = INFINITY;
  stepper->at_event = false;
  if (stepper->turning) turning_begin(stepper->turning, t, stepper->y);
  create_integrator(stepper, stepper->integrator ? stepper->integrator : first_integrator(stepper));
  stepper->integrator->start(stepper->self, t, stepper->y, stepper->options.stop);
  begin_branch(stepper, t, stepper->y);
  events_begin(stepper->view, t, stepper->y);
  plan_timed(stepper, t);
  return start_is_regular(stepper);
}

bool stepper_start(Stepper *stepper, double t, const double *y) {
  Evaluator *evaluator = stepper->view->evaluator;
  if (evaluator->past) past_begin(evaluator, t, y);
  return start_at(stepper, t, y) && (!evaluator->past || has_delays(stepper, t)) && begin_discrete(stepper, t);
}

bool stepper_resume(Stepper *stepper, double t, const double *y) {
  if (!start_at(stepper, t, y)) return false;
  stepper->at_event = true;
  stepper->t_event = t;
  stepper->cause = EVENT_STRUCTURE;
  stepper->mode = MAP_NONE;
  memcpy(stepper->begin, stepper->y, (size_t)stepper->view->system.columns * sizeof(double));
  return finish_event(stepper, events_resume(stepper->view, t, stepper->y));
}

double stepper_begin(const Stepper *stepper) { return stepper->before; }

bool stepper_go_back(Stepper *stepper, double t, const double *y) {
  add_work(stepper, &stepper->statistics);
  return start_at(stepper, t, y);
}

bool stepper_disturb(Stepper *stepper, const uint8_t *held, const double *values) {
  View *view = stepper->view;
  double t = stepper_time(stepper);
  copy_values(stepper);
  memcpy(stepper->begin, stepper->y, (size_t)view->system.columns * sizeof(double));
  stepper->at_event = true;
  stepper->t_event = t;
  stepper->cause = EVENT_CALLER;
  stepper->mode = MAP_NONE;
  stepper->statistics.time_events++;
  if (held && !events_reset(view, t, stepper->y, held, values)) return stepper_fail(stepper, STEP_EVALUATION, t);
  bool settled = !view->switches || events_settle(view, t, stepper->y, MAP_NONE);
  view->disturbed = true;
  return finish_event(stepper, settled);
}

/* ---- states ---- */

/* The values of an evaluator. */
typedef struct SavedValues {
  double *parameters, *discretes, *pre;
} SavedValues;

struct StepperState {
  double t, *y;
  const Integrator *integrator;
  SavedValues run, original;
  uint64_t *samples;       /* that are over */
  Past *past;              /* NULL without delays */
  void *inputs;            /* NULL: there are none */
  double *speed, *nominal; /* of the conditions, by which events are looked for */
  void *choice;            /* NULL: the states are never chosen */
};

static void copy_numbers(double *to, const double *from, size_t count) {
  if (count) memcpy(to, from, count * sizeof *to);
}

static size_t count_discretes(const Evaluator *evaluator) { return modes_leaves(evaluator->code->modes); }

static SavedValues save_values(const Evaluator *evaluator, Heap *heap) {
  size_t parameters = evaluator->model->parameters.count, discretes = count_discretes(evaluator);
  SavedValues saved = {heap_array(heap, parameters, sizeof(double)), heap_array(heap, discretes, sizeof(double)),
                       heap_array(heap, discretes, sizeof(double))};
  copy_numbers(saved.parameters, evaluator->parameters, parameters);
  copy_numbers(saved.discretes, evaluator->discretes, discretes);
  copy_numbers(saved.pre, evaluator->pre, discretes);
  return saved;
}

static void restore_values(Evaluator *evaluator, const SavedValues *saved) {
  size_t discretes = count_discretes(evaluator);
  copy_numbers(evaluator->parameters, saved->parameters, evaluator->model->parameters.count);
  copy_numbers(evaluator->discretes, saved->discretes, discretes);
  copy_numbers(evaluator->pre, saved->pre, discretes);
}

static StepperState *take_state(const Stepper *stepper, Heap *heap) {
  const View *view = stepper->view;
  size_t columns = (size_t)view->system.columns;
  StepperState *state = heap_alloc(heap, sizeof *state);
  state->t = stepper_time(stepper);
  state->y = heap_array(heap, columns, sizeof(double));
  copy_numbers(state->y, stepper_values(stepper), columns);
  state->integrator = stepper->integrator;
  state->run = save_values(view->evaluator, heap);
  state->original = save_values(view->original, heap);
  if (view->switches && view->switches->decisions) state->samples = decisions_save(view->switches->decisions, heap);
  if (view->evaluator->past) state->past = past_save(view->evaluator->past, heap);
  if (view->evaluator->inputs) state->inputs = inputs_save(view->evaluator->inputs, heap);
  if (view->switches) {
    state->speed = heap_copy(heap, view->switches->speed, view->switches->modes->count, sizeof(double));
    state->nominal = heap_copy(heap, view->switches->nominal, view->switches->modes->count, sizeof(double));
  }
  if (view->methods->save_choice) state->choice = view->methods->save_choice(view, heap);
  return state;
}

StepperState *stepper_save(Stepper *stepper, Heap *heap) {
  if (stepper->at_event && !stepper_settle(stepper)) return NULL;
  StepperState *state = take_state(stepper, heap);
  return stepper_restore(stepper, state) ? state : NULL;
}

bool stepper_restore(Stepper *stepper, const StepperState *state) {
  View *view = stepper->view;
  if (stepper->integrator) add_work(stepper, &stepper->statistics);
  restore_values(view->evaluator, &state->run);
  restore_values(view->original, &state->original);
  if (view->switches) {
    switches_forget(view->switches);
    copy_numbers(view->switches->speed, state->speed, view->switches->modes->count);
    copy_numbers(view->switches->nominal, state->nominal, view->switches->modes->count);
  }
  if (state->inputs) inputs_restore(view->evaluator->inputs, state->inputs);
  if (state->samples) decisions_restore(view->switches->decisions, state->samples);
  if (state->past) past_restore(view->evaluator->past, state->past);
  if (view->methods->restore_choice) view->methods->restore_choice(view, state->choice, state->y);
  stepper->integrator = state->integrator;
  stepper->waiting = NULL;
  stepper->first_step = NULL;
  if (view->switches) memset(stepper->first_steps, 0, 2 * ((size_t)view->switches->modes->count + 1) * sizeof(double));
  stepper->repairs = stepper->retakes = 0;
  return start_at(stepper, state->t, state->y);
}

/* ---- states as bytes ---- */

/* Is it one that a run with the same values begins with, and keeps? Objects live in memory, and inputs follow from the time. */
static bool is_kept(const Model *model, uint32_t parameter) {
  bool is_object = model->variables.data[model->parameters.data[parameter]].type == TYPE_EXTERNAL_OBJECT;
  return !is_object && !model_input_at(model, parameter);
}

static void pass_parameters(const Model *model, const double *values, Transfer *transfer) {
  for (uint32_t p = 0; p < model->parameters.count; p++)
    if (is_kept(model, p)) transfer_same(transfer, values[p]);
}

static void pass_values(const Evaluator *evaluator, SavedValues *values, Transfer *transfer) {
  size_t discretes = count_discretes(evaluator);
  pass_parameters(evaluator->model, values->parameters, transfer);
  transfer_array(transfer, values->discretes, discretes, sizeof(double));
  transfer_array(transfer, values->pre, discretes, sizeof(double));
}

/* Of a run that chooses the integrator by itself. */
static void pass_integrator(const Stepper *stepper, StepperState *state, Transfer *transfer) {
  uint32_t index = 0, found;
  while (integrator_at(index) != state->integrator) index++;
  found = index;
  transfer_value(transfer, &found);
  if (!stepper->options.integrator && found != index && integrator_at(found)) state->integrator = integrator_at(found);
}

static void pass_state(const Stepper *stepper, StepperState *state, Transfer *transfer) {
  const View *view = stepper->view;
  const Switches *switches = view->switches;
  transfer_same(transfer, view->system.columns);
  transfer_value(transfer, &state->t);
  transfer_array(transfer, state->y, (size_t)view->system.columns, sizeof(double));
  pass_integrator(stepper, state, transfer);
  pass_values(view->evaluator, &state->run, transfer);
  pass_values(view->original, &state->original, transfer);
  if (state->samples) decisions_transfer(switches->decisions, state->samples, transfer);
  if (state->past) past_transfer(state->past, transfer);
  if (state->inputs) inputs_transfer(view->evaluator->inputs, state->inputs, transfer);
  if (switches) transfer_array(transfer, state->speed, switches->modes->count, sizeof(double));
  if (switches) transfer_array(transfer, state->nominal, switches->modes->count, sizeof(double));
  if (view->methods->choice_size) transfer_array(transfer, state->choice, 1, view->methods->choice_size(view));
}

void stepper_write(Stepper *stepper, Transfer *transfer) {
  void *ticket;
  Heap *heap = heap_within(stepper->heap, &ticket);
  pass_state(stepper, take_state(stepper, heap), transfer);
  heap_release(stepper->heap, ticket);
}

bool stepper_read(Stepper *stepper, Transfer *transfer) {
  View *view = stepper->view;
  StepperState *state = take_state(stepper, stepper->heap);
  pass_state(stepper, state, transfer);
  if (transfer->is_broken || !stepper_restore(stepper, state)) return false;
  return !view->methods->reselect || !view->methods->reselect(view, state->t, state->y) ||
         stepper_go_back(stepper, state->t, state->y);
}
