/* The structure of a pendulum in Cartesian coordinates: index 3. */
#include <daedal.h>
#include <stdio.h>

int main(void) {
  const char *text = "model Pendulum Real x(start = 1, fixed = true), y, vx, vy, F; equation der(x) = vx; der(y) = vy; "
                     "der(vx) = -F*x; der(vy) = -F*y - 9.81; x^2 + y^2 = 1; end Pendulum;";
  daedal_model *model = daedal_load_text(text, strlen(text), NULL, NULL, NULL);
  daedal_counts counts = daedal_model_counts(model);
  daedal_analysis analysis = daedal_analyze(model);
  printf("%u equations, %u variables: %s\n", (unsigned)counts.equations, (unsigned)counts.variables, analysis.verdict);
  printf("index %d, %d degrees of freedom, %u block\n", (int)analysis.structural_index, (int)analysis.dof, (unsigned)analysis.blocks);
  printf("the constraint is differentiated %d times\n", (int)analysis.c[4]);
  daedal_free(model);
  return 0;
}

/* Output:
 * 5 equations, 5 variables: ok
 * index 3, 2 degrees of freedom, 1 block
 * the constraint is differentiated 2 times
 */
