/* One plan, many runs: nothing is derived twice. */
#include <daedal.h>
#include <stdio.h>

int main(void) {
  const char *text = "model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;";
  daedal_model *model = daedal_load_text(text, strlen(text), NULL, NULL, NULL);
  daedal_options options = daedal_default_options();
  options.tolerance = 1e-8;
  daedal_plan *plan = daedal_plan_make(model, &options);
  daedal_run *run = daedal_run_make(plan);
  for (int k = 1; k <= 3; k++) {
    daedal_run_set(run, "k", k);
    if (daedal_run_execute(run) == DAEDAL_OK) printf("k = %d: x(1) = %.4f\n", k, daedal_run_get(run, "x"));
  }
  printf("rows of the last run: %u\n", (unsigned)daedal_result_rows(daedal_run_result(run)));
  daedal_result *mine = daedal_run_take_result(run); /* outlives the run */
  printf("structures: %u, depends on values: %s, first such parameter: %s\n", (unsigned)daedal_plan_structures(plan),
         daedal_plan_depends_on_values(plan) ? "yes" : "no", daedal_plan_value(plan, 0) ? daedal_plan_value(plan, 0) : "none");
  printf("the plan is of %s\n", daedal_model_name(daedal_plan_model(plan)));
  daedal_free(mine);
  daedal_free(run);
  daedal_free(plan);
  daedal_free(model);
  return 0;
}

/* Output:
 * k = 1: x(1) = 0.3679
 * k = 2: x(1) = 0.1353
 * k = 3: x(1) = 0.0498
 * rows of the last run: 501
 * structures: 1, depends on values: no, first such parameter: none
 * the plan is of M
 */
