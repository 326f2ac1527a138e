/* A real-time loop: a controller reads the angle of a motor every 10 ms and sets its voltage for the next 10 ms.
 *
 *   cc realtime.c -ldaedal -o realtime && ./realtime
 */
#include <daedal.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char MODEL[] = "model Motor\n"
                            "  input Real voltage(unit = \"V\");\n"
                            "  parameter Real R = 1, k = 0.1, J = 0.01, d = 0.01;\n"
                            "  Real current, angle(start = 0, fixed = true), speed(start = 0, fixed = true);\n"
                            "equation\n"
                            "  voltage = R*current + k*speed;\n"
                            "  der(angle) = speed;\n"
                            "  J*der(speed) = k*current - d*speed;\n"
                            "end Motor;\n";

static const double PERIOD = 0.01, STOP = 3, TARGET = 1;

int main(void) {
  daedal_input voltage_input = {.name = "voltage"}; /* set by this program */
  daedal_options options = daedal_default_options();
  options.inputs = &voltage_input;
  options.input_count = 1;
  options.stop_time = STOP;
  daedal_model *model = daedal_load_text(MODEL, strlen(MODEL), "motor", NULL, NULL);
  daedal_plan *plan = daedal_plan_make(model, &options);
  daedal_run *run = daedal_run_make(plan);
  uint32_t voltage = daedal_variable_find(daedal_plan_model(plan), "voltage");
  uint32_t angle = daedal_variable_find(daedal_plan_model(plan), "angle");
  uint32_t speed = daedal_variable_find(daedal_plan_model(plan), "speed");
  daedal_status status = daedal_run_start(run);
  for (int k = 1; status == DAEDAL_OK && !daedal_run_ended(run); k++) {
    const double *values = daedal_run_values(run); /* without a copy, until the next call for them */
    daedal_run_set_value(run, voltage, 2 * (TARGET - values[angle]) - 0.3 * values[speed]);
    status = daedal_run_advance(run, fmin(k * PERIOD, STOP));
  }
  double reached = status == DAEDAL_OK ? daedal_run_values(run)[angle] : NAN;
  printf("after %g s the angle is %.4f\n", daedal_run_time(run), reached);
  daedal_free(run);
  daedal_free(plan);
  daedal_free(model);
  return fabs(reached - TARGET) < 0.05 ? 0 : 1;
}
