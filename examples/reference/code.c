/* C code and an FMU of a model, to take away. */
#include <daedal.h>
#include <stdio.h>

int main(void) {
  const char *text = "model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;";
  daedal_model *model = daedal_load_text(text, strlen(text), NULL, NULL, NULL);
  daedal_result *equations = daedal_export_c(model, "equations", NULL);
  daedal_result *solver = daedal_export_solver(model, "solver", NULL);
  daedal_result *unit = daedal_export_fmu(model, "decay.fmu", 2, "me", NULL);
  printf("equations %d, solver %d, FMU %d\n", daedal_status_of(equations), daedal_status_of(solver), daedal_status_of(unit));
  printf("the pass %s leaves text: %s\n", daedal_pass_names()[0], daedal_dump(model, daedal_pass_names()[0]) ? "yes" : "no");
  daedal_free(unit);
  daedal_free(solver);
  daedal_free(equations);
  daedal_free(model);
  return 0;
}

/* Output:
 * equations 0, solver 0, FMU 0
 * the pass flat leaves text: yes
 */
