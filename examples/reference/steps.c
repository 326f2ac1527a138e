/* A run under your control: step, look, set, go back. */
#include <daedal.h>
#include <stdio.h>

int main(void) {
  const char *text = "model M input Real u; Real x(start = 1, fixed = true); Boolean high = x > 2; equation der(x) = u - x; end M;";
  daedal_model *model = daedal_load_text(text, strlen(text), NULL, NULL, NULL);
  daedal_options options = daedal_default_options();
  options.stop_time = 2;
  options.tolerance = 1e-8;
  options.inputs = &(daedal_input){.name = "u"};
  options.input_count = 1;
  daedal_plan *plan = daedal_plan_make(model, &options);
  daedal_run *run = daedal_run_make(plan);
  uint32_t x = daedal_variable_find(daedal_plan_model(plan), "x"), u = daedal_variable_find(daedal_plan_model(plan), "u");
  daedal_run_set_value(run, u, 0);
  if (daedal_run_start(run) != DAEDAL_OK) return 1;

  daedal_run_advance(run, 1);
  printf("t = %g: x = %.4f, x' = %.4f\n", daedal_run_time(run), daedal_run_values(run)[x], daedal_run_derivatives(run)[x]);
  daedal_state *here = daedal_run_save(run);
  daedal_run *other = daedal_run_clone(run);

  daedal_run_set_value(run, u, 5);
  while (!daedal_run_ended(run)) daedal_run_step(run);
  printf("with u = 5: x(2) = %.4f\n", daedal_run_values(run)[x]);
  double values[16];
  printf("inside of the last step: %s\n", daedal_run_interpolate(run, 2, values) == DAEDAL_OK ? "known" : "unknown");

  daedal_run_restore(run, here);
  daedal_run_advance(run, 2);
  daedal_run_advance(other, 2);
  printf("with u = 0: x(2) = %.4f, and %.4f in the clone\n", daedal_run_values(run)[x], daedal_run_values(other)[x]);
  daedal_state_free(run, here);
  daedal_free(other);

  /* The state-space form x' = f(t, x) at points of your choice. */
  double state[1], rate[1], slope[1], indicator[4];
  daedal_run_states(run, state);
  daedal_run_rates(run, 2, state, rate);
  daedal_run_jacobian(run, 2, state, slope);
  printf("%u state: f = %.4f, df/dx = %.4f\n", (unsigned)daedal_run_state_count(run), rate[0], slope[0]);
  daedal_run_indicators(run, 2, state, indicator);
  printf("%u condition, it holds as it is: %s\n", (unsigned)daedal_run_indicator_count(run), indicator[0] > 0 ? "yes" : "no");
  daedal_free(run);
  daedal_free(plan);
  daedal_free(model);
  return 0;
}

/* Output:
 * t = 1: x = 0.3679, x' = -0.3679
 * with u = 5: x(2) = 3.2959
 * inside of the last step: known
 * with u = 0: x(2) = 0.1353, and 0.1353 in the clone
 * 1 state: f = -0.1353, df/dx = -1.0000
 * 1 condition, it holds as it is: yes
 */
