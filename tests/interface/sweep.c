/* A sweep: the period of a pendulum over its length, on all cores, as a table.
 *
 *   cc sweep.c -ldaedal -lm -o sweep && ./sweep
 */
#include <daedal.h>

#include <stdio.h>
#include <string.h>

static const char MODEL[] = "model Pendulum \"angle from the vertical\"\n"
                            "  parameter Real L = 1, g = 9.81;\n"
                            "  Real phi(start = 0.5, fixed = true), w(start = 0, fixed = true);\n"
                            "equation\n"
                            "  der(phi) = w; L*der(w) = -g*sin(phi);\n"
                            "  when phi < 0 then terminate(\"a quarter of a period\"); end when;\n"
                            "end Pendulum;\n";

int main(void) {
  double lengths[7];
  for (int k = 0; k < 7; k++) lengths[k] = 0.5 + 0.25 * k;
  daedal_axis vary = {"L", lengths, 7};
  daedal_output kept = {"time", DAEDAL_OUTPUT_FINAL, 0};
  daedal_options options = daedal_default_options();
  daedal_sweep_options sweep_options = {0};
  options.stop_time = 10;
  sweep_options.size = sizeof sweep_options;
  sweep_options.vary = &vary;
  sweep_options.vary_count = 1;
  sweep_options.outputs = &kept;
  sweep_options.output_count = 1;
  daedal_model *model = daedal_load_text(MODEL, strlen(MODEL), "pendulum", NULL, NULL);
  daedal_sweep *sweep = daedal_sweep_make(model, &options, &sweep_options);
  daedal_status status = daedal_sweep_execute(sweep);
  for (uint32_t p = 0; p < daedal_sweep_points(sweep); p++)
    printf("L = %.2f: period %.4f\n", daedal_sweep_value(sweep, p, 0), 4 * daedal_sweep_value(sweep, p, 1));
  daedal_sweep_progress done = daedal_sweep_progress_get(sweep);
  printf("%u of %u points, %u failed\n", (unsigned)done.finished, (unsigned)done.points, (unsigned)done.failed);
  daedal_free(sweep);
  daedal_free(model);
  return status;
}
