/* A linear form at a steady state. */
#include <daedal.h>
#include <stdio.h>

int main(void) {
  const char *text = "model Tank input Real u(start = 2); Real h(start = 1, fixed = true); output Real y = h; equation der(h) = u - h^2; end Tank;";
  daedal_model *model = daedal_load_text(text, strlen(text), NULL, NULL, NULL);
  daedal_result *steady = daedal_steady(model, NULL, NULL);
  daedal_linear there = daedal_linear_get(steady);
  printf("steady at %s = %.4f, eigenvalue %.4f\n", there.state_names[0], there.point[0], there.eigenvalues_real[0]);
  daedal_linearization *form = daedal_linearize(model, NULL, (const char *const[]){"u", NULL}, (const char *const[]){"y", NULL});
  daedal_linear linear = daedal_linear_get(form);
  printf("at the start: dx' = %.4f dx + %.4f du\n", linear.a[0], linear.b[0]);
  daedal_free(form);
  daedal_free(steady);
  daedal_free(model);
  return 0;
}

/* Output:
 * steady at h = 1.4142, eigenvalue -2.8284
 * at the start: dx' = -2.0000 dx + 1.0000 du
 */
