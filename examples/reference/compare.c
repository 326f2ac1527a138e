/* Two methods on one model. */
#include <daedal.h>
#include <stdio.h>

int main(void) {
  const char *text = "model Pendulum Real x(start = 1, fixed = true), y, vx(start = 0, fixed = true), vy, F; equation der(x) = vx; der(y) = vy; "
                     "der(vx) = -F*x; der(vy) = -F*y - 9.81; x^2 + y^2 = 1; end Pendulum;";
  daedal_model *model = daedal_load_text(text, strlen(text), NULL, NULL, NULL);
  daedal_comparison *compared = daedal_compare(model, NULL, (const char *const[]){"dummy", "projection", NULL}, NULL);
  const char *table = daedal_report(compared, DAEDAL_REPORT_COMPARISON, DAEDAL_TEXT);
  printf("status %d, dummy %s, projection %s\n", daedal_status_of(compared), strstr(table, "dummy") ? "run" : "missing",
         strstr(table, "projection") ? "run" : "missing");
  daedal_free(compared);
  daedal_free(model);
  return 0;
}

/* Output:
 * status 0, dummy run, projection run
 */
