/* stepper_integrator: the integration method of a stepper, and the states that it integrates. */
#include "core/constants.h"
#include "run/stepper_internal.h"

#include "base/copy.h"
#include "vary/sensitivity.h"
#include "view/branch.h"

double stepper_time(const Stepper *stepper) {
  return stepper->at_event ? stepper->t_event : stepper->steps.integrator->time(stepper->steps.self);
}

const double *stepper_values(const Stepper *stepper) {
  return stepper->at_event ? stepper->steps.y : stepper->steps.integrator->values(stepper->steps.self);
}

bool stepper_interpolate(Stepper *stepper, double t, double *y) {
  double span = stepper_span(stepper);
  if (view_point(stepper->view, stepper->steps.segment, t, y) == EVAL_OK) return true;
  bool is_start = stepper->starts_singular && t == stepper->now.before; /* the values there are the initial values */
  if (!is_start && !stepper_is_at_instant(stepper, t)) return false;
  /* The limit from the left, taken from the nearest point that has a solution. */
  for (double gap = LOCATED * span; gap <= SLIVER * span && t - gap > stepper->now.before; gap *= 2) {
    if (view_point(stepper->view, stepper->steps.segment, t - gap, y) == EVAL_OK) return true;
    segment_values(stepper->steps.segment, t - gap, y);
    if (stepper->view->methods->find(stepper->view, t - gap, y) == EVAL_OK) return true;
  }
  copy_numbers(y, stepper->steps.begin, (size_t)stepper->view->system.columns);
  return true;
}

/* ---- integrators ---- */

void stepper_take_branch(const Stepper *stepper, double *y) {
  Branch *branch = stepper->view->branch;
  if (branch) branch_take(branch, stepper->steps.segment, stepper->steps.integrator->time(stepper->steps.self), y);
}

void stepper_take_values(const Stepper *stepper, double *y) {
  copy_numbers(y, stepper->steps.integrator->values(stepper->steps.self), (size_t)stepper->view->system.columns);
  stepper_take_branch(stepper, y);
}

void stepper_copy_values(Stepper *stepper) { stepper_take_values(stepper, stepper->steps.y); }

/* Variations are solved at the stages of radau, which chooses the number of stages only by the error of the solution. Three
 * stages are enough for the solution, but need short steps if it is smoother than its variations. */

void stepper_create_integrator(Stepper *stepper, const Integrator *integrator) {
  IntegratorOptions options = {.relative_tolerance = stepper->options.tolerance,
                               .absolute_tolerance = stepper->options.tolerance,
                               .max_step = stepper->options.max_step,
                               .min_order = stepper->view->sensitivity ? ORDER_OF_VARIATIONS : 0,
                               .unread = &stepper->unread};
  const System *system = view_system(stepper->view, integrator);
  heap_release(stepper->heap, stepper->ticket);
  stepper->steps.integrator = integrator;
  stepper->steps.self = integrator->create(heap_within(stepper->heap, &stepper->ticket), system, &options);
  stepper->rejected = stepper->steps.looks.rejections = 0;
  stepper->statistics.removed = (uint32_t)(stepper->view->system.rows - system->rows);
}

void stepper_add_work(const Stepper *stepper, StepperStatistics *statistics) {
  IntegratorStatistics part;
  stepper->steps.integrator->statistics(stepper->steps.self, &part);
  statistics->steps += part.steps;
  statistics->rejected += part.rejected_error + part.rejected_convergence;
  statistics->factorizations += part.factorizations;
}

StepperStatistics stepper_statistics(const Stepper *stepper) {
  StepperStatistics statistics = stepper->statistics;
  stepper_add_work(stepper, &statistics);
  statistics.factorizations += stepper->view->methods->factorizations(stepper->view) - stepper->look_factorizations;
  statistics.solver = stepper->steps.integrator->name;
  statistics.iterations += stepper->view->settle.iterations;
  statistics.time = statistics.turning ? statistics.turning->time : stepper_time(stepper);
  certificate_accept(stepper->certificate, stepper_time(stepper));
  statistics.certificate = certificate_totals(stepper->certificate);
  statistics.unproven = *certificate_unproven(stepper->certificate);
  return statistics;
}

void stepper_statistics_add(StepperStatistics *statistics, const StepperStatistics *before) {
  statistics->steps += before->steps;
  statistics->rejected += before->rejected;
  statistics->factorizations += before->factorizations;
  statistics->events += before->events;
  statistics->time_events += before->time_events;
  statistics->iterations += before->iterations;
  statistics->looks += before->looks;
  statistics->largest_defect = fmax(statistics->largest_defect, before->largest_defect);
  statistics->certificate.time += before->certificate.time;
  statistics->certificate.proven += before->certificate.proven;
  statistics->certificate.evaluations += before->certificate.evaluations;
  statistics->certificate.has_lost_branch |= before->certificate.has_lost_branch;
}

void stepper_change_integrator(Stepper *stepper, const Integrator *integrator, double t) {
  stepper_add_work(stepper, &stepper->statistics);
  stepper_create_integrator(stepper, integrator);
  steps_restart(&stepper->steps, t, stepper->steps.y, 0);
}

/* Continues with an implicit method from (t, y), unless the user chose the method. */
static bool leave_explicit(Stepper *stepper, double t, const double *y) {
  if (stepper->options.integrator || !stepper->steps.integrator->explicit_form || stepper_is_sliding(stepper))
    return false;
  copy_numbers(stepper->steps.y, y, (size_t)stepper->view->system.columns);
  stepper_change_integrator(stepper, &integrator_radau, t);
  stepper->statistics.solver_reason = "began explicit, found stiff";
  return true;
}

bool stepper_leave_explicit(Stepper *stepper) {
  return leave_explicit(stepper, stepper->now.before, stepper->steps.begin);
}

void stepper_leave_if_stiff(Stepper *stepper) {
  IntegratorStatistics now;
  stepper->steps.integrator->statistics(stepper->steps.self, &now);
  if (!now.stiff) return;
  stepper_take_values(stepper, stepper->steps.ahead);
  leave_explicit(stepper, stepper->steps.integrator->time(stepper->steps.self), stepper->steps.ahead);
}

/* The method to continue with at t, after the current one has failed there; NULL: there is none. An implicit method may succeed
 * after another one has failed, as long as the run advances. */
static const Integrator *other_integrator(const Stepper *stepper, double t) {
  if (stepper->steps.integrator == &integrator_erk) return &integrator_radau;
  if (stepper->steps.integrator == &integrator_radau) return &integrator_bdf;
  bool gets_ahead = t - stepper->changed > SLIVER * stepper_span(stepper);
  return stepper->steps.integrator == &integrator_bdf && stepper->has_changed && gets_ahead ? &integrator_radau : NULL;
}

static void keep_sizes(const Stepper *stepper) {
  copy_numbers(stepper->view->evaluator->size, stepper->view->size, (size_t)stepper->view->system.columns);
}

void stepper_note_sizes(Stepper *stepper, double t, const double *y) {
  steps_note_sizes(&stepper->steps, t, y);
  keep_sizes(stepper);
}

bool stepper_try_other(Stepper *stepper, double t) {
  if (stepper->turning && turning_explain(stepper->turning, t, stepper_modes_end(stepper), &stepper->turning_point))
    return false;
  bool may_change = !stepper->options.integrator && stepper->view->system.complete;
  const Integrator *other = may_change ? other_integrator(stepper, t) : NULL;
  if (!other && !steps_widen_sizes(&stepper->steps)) return false;
  if (!other) {
    keep_sizes(stepper);
    copy_numbers(stepper->steps.y, stepper->steps.begin, (size_t)stepper->view->system.columns);
    stepper_change_integrator(stepper, may_change ? &integrator_radau : stepper->steps.integrator, stepper->now.before);
    return true;
  }
  stepper_copy_values(stepper);
  stepper_change_integrator(stepper, other, t);
  stepper->changed = t;
  stepper->has_changed = true;
  stepper->statistics.solver_reason = "after another solver failed";
  return true;
}

const Integrator *stepper_first_integrator(Stepper *stepper) {
  if (stepper->options.integrator) {
    stepper->statistics.solver_reason = "as requested";
    return stepper->options.integrator;
  }
  if (stepper->view->system.rows > LARGE_ROWS) {
    stepper->statistics.solver_reason = "large and sparse";
    return &integrator_bdf;
  }
  if (stepper->view->methods->reselect) {
    stepper->statistics.solver_reason = "few factors of the whole array";
    return &integrator_radau;
  }
  if (stepper->view->sensitivity && sensitivity_shares_factors(stepper->view->sensitivity)) {
    stepper->statistics.solver_reason = "its factors are used for sensitivities";
    return &integrator_radau;
  }
  if (stepper->view->system.complete) {
    stepper->statistics.solver_reason = "not stiff so far";
    return &integrator_erk;
  }
  stepper->statistics.solver_reason = "no state-space form";
  return &integrator_radau;
}

/* ---- the choice of states ---- */

static void note_exchanges(Stepper *stepper, double t, const Exchanges *exchanges, int32_t count) {
  for (int32_t k = 0; k < count; k++)
    vec_push(stepper->heap, &stepper->statistics.pivots,
             (PivotRecord){t, exchanges->list[k].out, exchanges->list[k].in});
}

int32_t stepper_exchange_states(Stepper *stepper, double t, ConstMoment ahead, bool sure, Exchanges *exchanges) {
  View *view = stepper->view;
  if (!view->methods->exchange) return 0;
  int32_t count = view->methods->exchange(view, (Moment){t, stepper->steps.y}, ahead, sure, exchanges);
  note_exchanges(stepper, t, exchanges, count);
  return count;
}

bool stepper_reselect(Stepper *stepper, double t) {
  View *view = stepper->view;
  if (!view->methods->reselect || !view->methods->reselect(view, t, stepper->steps.y)) return false;
  stepper_change_integrator(stepper, stepper->steps.integrator, t);
  return true;
}

bool stepper_watch_choice(Stepper *stepper, double t) {
  if (!stepper->view->chooses) return true;
  IntegratorStatistics now;
  stepper->steps.integrator->statistics(stepper->steps.self, &now);
  uint64_t rejected = now.rejected_error + now.rejected_convergence;
  bool sure = rejected != stepper->rejected;
  stepper->rejected = rejected;
  Exchanges exchanges;
  stepper_copy_values(stepper);
  ConstMoment judged = {t, stepper->steps.y};
  if (stepper->structure) {
    const Array *array = stepper->view->evaluator->array;
    double ahead = LOOK_AHEAD * now.step;
    dummy_look_ahead(array->problem->unknowns, array->column_start, array->d, ahead, stepper->steps.y,
                     stepper->steps.ahead);
    judged = (ConstMoment){t + ahead, stepper->steps.ahead};
  }
  int32_t count = stepper_exchange_states(stepper, t, judged, sure, &exchanges);
  if (count == EXCHANGE_SINGULAR) return stepper_report_no_choice(stepper, t, exchanges.block);
  if (count == EXCHANGE_UNSOLVED) return stepper_fail(stepper, STEP_EVALUATION, t);
  if (count == EXCHANGE_RESELECT) stepper_reselect(stepper, t);
  if (count <= 0) return true;
  stepper->steps.integrator->switch_states(stepper->steps.self, stepper->steps.y);
  steps_rest_segment(&stepper->steps);
  steps_begin_branch(&stepper->steps, t, stepper->steps.y);
  return true;
}

bool stepper_repair_choice(Stepper *stepper, double t) {
  if (!stepper->view->methods->reselect || stepper->repairs++ == ATTEMPTS) return false;
  Exchanges exchanges;
  stepper_copy_values(stepper);
  if (stepper_exchange_states(stepper, t, (ConstMoment){t, stepper->steps.y}, true, &exchanges) <= 0)
    return stepper_reselect(stepper, t);
  steps_restart(&stepper->steps, t, stepper->steps.y, 0);
  return true;
}
