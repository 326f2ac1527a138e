/* Embedding daedal: a model from text, its structure, a run with a callback that watches it, and the end point.
 *
 *   cc pendulum.c -ldaedal -o pendulum && ./pendulum
 */
#include <daedal.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char MODEL[] =
    "model Pendulum\n"
    "  parameter Real g = 9.81; parameter Real L = 1;\n"
    "  Real x(start = 1, fixed = true); Real y(start = 0); Real u(start = 0, fixed = true); Real v; Real s;\n"
    "equation\n"
    "  der(x) = u; der(y) = v;\n"
    "  der(u) = -s*x; der(v) = -s*y - g;\n"
    "  x^2 + y^2 = L^2;\n"
    "end Pendulum;\n";

/* Called after every step; true would stop the run. */
static bool count_steps(void *context, const daedal_progress *progress) {
  *(uint64_t *)context = progress->steps;
  return false;
}

/* Any handle has diagnostics. */
static int complain(const void *handle) {
  for (uint32_t k = 0; k < daedal_diagnostic_count(handle); k++) {
    daedal_diagnostic diagnostic = daedal_diagnostic_get(handle, k);
    fprintf(stderr, "%u:%u: %s\n", diagnostic.place.line, diagnostic.place.column, diagnostic.message);
  }
  return 1;
}

int main(void) {
  daedal_model *model = daedal_load_text(MODEL, strlen(MODEL), "pendulum", NULL, NULL);
  if (!model) return 1;
  if (daedal_status_of(model) != DAEDAL_OK) return complain(model);
  daedal_analysis analysis = daedal_analyze(model);
  printf("index %d, %lld degrees of freedom\n", (int)analysis.structural_index, (long long)analysis.dof);

  uint64_t steps = 0;
  const daedal_override longer[] = {{"L", 2, NULL}, {"x", 2, NULL}};
  daedal_options options = daedal_default_options();
  options.stop_time = 2;
  options.tolerance = 1e-8;
  options.overrides = longer;
  options.override_count = 2;
  options.on_step = count_steps;
  options.context = &steps;
  daedal_result *result = daedal_simulate(model, &options);
  if (!result) return 1;
  if (daedal_status_of(result) != DAEDAL_OK) return complain(result);
  uint32_t x = daedal_result_find(result, "x"), y = daedal_result_find(result, "y"),
           last = daedal_result_rows(result) - 1;
  double length = hypot(daedal_result_value(result, x, last), daedal_result_value(result, y, last));
  printf("at time %g: length %.12f after %llu steps\n", daedal_result_value(result, 0, last), length,
         (unsigned long long)steps);
  daedal_free(result);
  daedal_free(model);
  return fabs(length - 2) < 1e-12 ? 0 : 1;
}
