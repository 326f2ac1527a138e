/* stepper_events: finds and handles events in the steps of a stepper, and continues after them. */
#include "core/constants.h"
#include "run/stepper_internal.h"

#include "base/copy.h"
#include "event/events.h"
#include "event/turns.h"
#include "vary/sensitivity.h"

#include <float.h>
#include <math.h>

bool stepper_start_is_regular(Stepper *stepper) {
  View *view = stepper->view;
  bool for_all = view->conditions && !view->holds;
  bool is_singular = stepper->turning && turning_at_start(stepper->turning, stepper->at_event, &stepper->turning_point);
  if (!is_singular && (stepper->structure || !for_all)) return true;
  view->settle.restructured = for_all;
  if (view->settle.restructured) return false;
  stepper->starts_singular = true; /* the first step shows more */
  return true;
}

/* Records an event of the states. Where the solution hovers at an edge along which it cannot slide, an explicit method that was chosen
 * automatically is replaced by one that damps. false: infinitely many events follow, which ends the run. */
static bool note_event(Stepper *stepper) {
  EdgesNote note;
  Edges *edges = &stepper->view->switches->edges;
  if (!edges_note_event(edges, (int)stepper->mode, stepper->t_event, stepper->options.tolerance, stepper_span(stepper),
                        &note))
    return stepper_report_accumulation(stepper);
  if (note.begins) stepper_warn_hovering(stepper);
  if (note.hovers && !stepper->options.integrator && stepper->steps.integrator->explicit_form && !stepper->waiting) {
    stepper_change_integrator(stepper, &integrator_radau, stepper->t_event);
    stepper->statistics.solver_reason = "began explicit, conditions hover at their edges";
  }
  return true;
}

/* Only the state-space form with a one-step method can slide. The other methods wait until the solution leaves the edge. */
void stepper_suit_integrator(Stepper *stepper, double t) {
  const Integrator *erk = &integrator_erk;
  if (stepper_is_sliding(stepper) && stepper->steps.integrator != erk) {
    stepper->waiting = stepper->steps.integrator;
    stepper_change_integrator(stepper, erk, t);
  } else if (!stepper_is_sliding(stepper) && stepper->waiting) {
    stepper_change_integrator(stepper, stepper->waiting, t);
    stepper->waiting = NULL;
  }
}

/* If ranks select the rows: are the ranks still those of the start? */
static bool has_same_ranks(Stepper *stepper) {
  View *view = stepper->view;
  if (!view->methods->same_ranks || view->methods->same_ranks(view, stepper->t_event, stepper->steps.y)) return true;
  diag_error(stepper->diags, DIAG_JUMP, (Span){0},
             "at the event at time %.10g the ranks of the derivative array change, and with them the number "
             "of degrees of freedom",
             stepper->t_event);
  return false;
}

/* The value of the mode that caused the event; 1 if none did. */
static double event_value(const Stepper *stepper) {
  const Switches *switches = stepper->view->switches;
  return stepper->mode == MAP_NONE ? 1 : switches->evaluator->discretes[switches->modes->first + stepper->mode];
}

/* Restarts after an event, with the choice of states for the current modes. */
static void restart(Stepper *stepper, double t) {
  Exchanges exchanges;
  bool by_ranks = stepper->view->methods->reselect != NULL;
  int32_t count =
      by_ranks ? stepper_exchange_states(stepper, t, (ConstMoment){t, stepper->steps.y}, true, &exchanges) : 1;
  if (count <= 0 && stepper_reselect(stepper, t)) return;
  if (!stepper->view->switches) { /* the caller has changed values */
    steps_start(&stepper->steps, t, stepper->steps.y, 0);
    return;
  }
  steps_pass_event(&stepper->steps, t, stepper->steps.y, (int)stepper->mode);
}

void stepper_plan_timed(Stepper *stepper, double t) {
  if (t < stepper->options.stop) steps_plan_timed(&stepper->steps, t, stepper->options.stop);
  else stepper->now.t_timed = INFINITY;
}

/* Did the event that ended the last step leave everything that is integrated unchanged? */
static bool goes_on(const Stepper *stepper) {
  return !stepper->view->settle.disturbed && stepper->steps.integrator->time(stepper->steps.self) == stepper->t_event;
}

/* Does the event change the structure for which the system was made? A system made for all branches may be singular in some of
 * them. */
static bool leaves_structure(Stepper *stepper, bool settled) {
  View *view = stepper->view;
  if (view->settle.restructured || !view->conditions || view->holds) return view->settle.restructured;
  if (settled && stepper->turning) {
    turning_begin(stepper->turning, stepper->t_event, stepper->steps.y);
    settled = !turning_at_start(stepper->turning, true, &stepper->turning_point);
  }
  return view->settle.restructured = !settled;
}

bool stepper_finish_event(Stepper *stepper, bool settled) {
  double t = stepper->t_event;
  stepper->is_started = false;
  certificate_begin(stepper->certificate);
  if (stepper->steps.kinks) kinks_forget(stepper->steps.kinks);
  if (stepper->poles) poles_forget(stepper->poles);
  if (leaves_structure(stepper, settled)) {
    copy_numbers(stepper->steps.y, stepper->steps.begin, (size_t)stepper->view->system.columns);
    return false;
  }
  if (!settled && stepper->view->sensitivity && sensitivity_failed(stepper->view->sensitivity)) return false;
  const Decisions *decisions = stepper->view->switches ? stepper->view->switches->decisions : NULL;
  if (decisions && !decisions_defined(decisions, t, DIAG_INTEGRATION, stepper->diags)) return false;
  if (!settled && stepper->view->settle.undetermined != MAP_NONE) return stepper_report_jump(stepper);
  if (settled && !stepper_report_fired(stepper, t, stepper->steps.y)) return false;
  const StepperOptions *options = &stepper->options;
  EventVec *passed = &stepper->statistics.passed;
  EventRecord event = {t, stepper->cause, stepper->mode, event_value(stepper), stepper->value_before};
  if (!options->lists_few || options->listed + passed->count < LISTED) vec_push(stepper->heap, passed, event);
  if (options->on_event) options->on_event(options->context, &event);
  if (settled && goes_on(stepper)) {
    stepper_plan_timed(stepper, t);
    stepper->at_event = false;
    return true;
  }
  if (!has_same_ranks(stepper)) return false;
  if (stepper->turning) turning_begin(stepper->turning, t, stepper->steps.y);
  if (!stepper_start_is_regular(stepper)) return false;
  if (!settled) return stepper->starts_singular ? stepper_report_turning(stepper) : stepper_report_chatter(stepper);
  stepper_suit_integrator(stepper, t);
  restart(stepper, t);
  stepper_plan_timed(stepper, t);
  stepper->at_event = false;
  return true;
}

bool stepper_settle(Stepper *stepper) {
  View *view = stepper->view;
  double *t = &stepper->t_event;
  if (stepper_is_sliding(stepper)) edges_leave(&view->switches->edges);
  if (*t < stepper->now.t_timed && stepper->mode != MAP_NONE && !note_event(stepper)) return false;
  size_t columns = (size_t)view->system.columns;
  bool is_folded = stepper->is_folded;
  if (is_folded && view->sensitivity)
    return sensitivity_refuse(view->sensitivity, *t, "the solution jumps there over a fold of its equations");
  if (is_folded) copy_numbers(stepper->steps.y, stepper->steps.beyond, columns);
  stepper->is_folded = false;
  copy_numbers(stepper->steps.begin, stepper->steps.y, columns);
  stepper->value_before = event_value(stepper);
  if (view->switches && *t >= stepper->options.stop)
    view->switches->edges.now->is_at_start = true; /* relations hold as written at both ends */
  bool settled = !view->switches || turns_settle(view, t, stepper->steps.y, stepper->mode);
  view->settle.disturbed = view->settle.disturbed || is_folded;
  return stepper_finish_event(stepper, settled);
}

bool stepper_misses_no_event(Stepper *stepper) {
  int mode = steps_lost_event(&stepper->steps);
  if (mode < 0) return true;
  stepper->mode = (uint32_t)mode;
  stepper->t_event = stepper->steps.edges->history[mode].times.last;
  steps_restart(&stepper->steps, stepper->now.before, stepper->steps.begin, 0); /* the step away from there is undone */
  return stepper_report_accumulation(stepper);
}

bool stepper_restructured(const Stepper *stepper) { return stepper->view->settle.restructured; }

void stepper_meet_time(Stepper *stepper) {
  if (stepper->steps.integrator->explicit_form || !stepper_interpolate(stepper, stepper->now.t_timed, stepper->steps.y))
    stepper_copy_values(stepper);
  stepper_set_event(stepper, stepper->now.t_timed,
                    (uint32_t)stepper->now.timed == MAP_NONE ? EVENT_TIME : EVENT_CONDITION,
                    (uint32_t)stepper->now.timed);
  stepper->statistics.time_events++;
}

void stepper_meet_states(Stepper *stepper, double t, int mode) {
  stepper_set_event(stepper, t, EVENT_CONDITION, (uint32_t)mode);
  stepper->statistics.events++;
}
