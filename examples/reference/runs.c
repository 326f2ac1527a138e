/* A ball that bounces: callbacks, tolerances, events, derivatives with respect to parameters, and every value of the result. */
#include <daedal.h>
#include <stdio.h>

static bool on_event(void *context, const daedal_event *event) {
  unsigned *count = context;
  if (event->direction > 0) printf("%s at %.4f\n", event->condition, event->time);
  return ++*count == 4; /* true ends the run */
}

static bool on_step(void *context, const daedal_progress *progress) {
  (void)context;
  return progress->steps > 100000;
}

int main(void) {
  const char *text = "model Ball parameter Real e = 0.7; Real h(start = 1, fixed = true, unit = \"m\"), v(start = 0, fixed = true); "
                     "equation der(h) = v; der(v) = -9.81; when h < 0 then reinit(v, -e*pre(v)); end when; end Ball;";
  daedal_model *model = daedal_load_text(text, strlen(text), NULL, NULL, NULL);
  unsigned events = 0;
  daedal_value tolerances[] = {{"h", 1e-9}};
  daedal_options options = daedal_default_options();
  options.stop_time = 3;
  options.on_event = on_event;
  options.on_step = on_step;
  options.context = &events;
  options.absolute_tolerances = tolerances;
  options.absolute_tolerance_count = 1;
  daedal_result *result = daedal_simulate(model, &options);
  daedal_statistics statistics = daedal_result_statistics(result);
  printf("ended at %.4f after %u events\n", statistics.end_time, (unsigned)statistics.events);
  printf("the first event: %s, direction %d\n", daedal_result_event(result, 0).condition, (int)daedal_result_event(result, 0).direction);

  uint32_t h = daedal_result_find(result, "h"), last = daedal_result_rows(result) - 1, shown[2];
  const double *heights = daedal_result_values(result, h);
  printf("%s [%s] from %g to %g in %s\n", daedal_result_name(result, h), daedal_result_unit(result, h), heights[0],
         daedal_result_value(result, h, last) < 1e-6 ? 0.0 : 1.0, daedal_result_signals(result) > 2 ? "several signals" : "one signal");
  printf("a plot shows %u signals\n", (unsigned)daedal_result_choose(result, NULL, shown, 2));
  printf("constraints at %u points, changes of states: %u, %s\n", (unsigned)daedal_result_residuals(result).points,
         (unsigned)statistics.pivots, daedal_result_pivot(result, 0).out[0] ? "some" : "none");
  daedal_free(result);

  /* The height at t = 0.4, and its derivative with respect to its start value, computed forward and by the adjoint. */
  options = daedal_default_options();
  options.stop_time = 0.4;
  options.sensitivity = (const char *const[]){"h.start", NULL};
  result = daedal_simulate(model, &options);
  uint32_t by = daedal_result_sensitivity(result, "h", "h.start");
  printf("dh/dh.start = %.4f\n", daedal_result_value(result, by, daedal_result_rows(result) - 1));
  daedal_free(result);
  options.sensitivity = NULL;
  options.gradient = "h";
  options.gradient_by = (const char *const[]){"h.start", NULL};
  result = daedal_simulate(model, &options);
  printf("h = %.4f, %u derivative: %.4f\n", daedal_result_functional(result), (unsigned)daedal_result_derivatives(result),
         daedal_result_derivative(result, 0).value);
  daedal_free(result);

  result = daedal_initialize(model, NULL); /* one row: the initial values */
  printf("h = %g at the start\n", daedal_result_value(result, daedal_result_find(result, "h"), 0));
  daedal_free(result);
  daedal_free(model);
  return 0;
}

/* Output:
 * h < 0 at 0.4515
 * h < 0 at 1.0837
 * ended at 1.0837 after 3 events
 * the first event: the start, direction 0
 * h [m] from 1 to 0 in several signals
 * a plot shows 2 signals
 * constraints at 181 points, changes of states: 0, none
 * dh/dh.start = 1.0000
 * h = 0.2152, 1 derivative: 1.0000
 * h = 1 at the start
 */
