/* The variables of a model. */
#include <daedal.h>
#include <stdio.h>

int main(void) {
  const char *text = "model M parameter Real k(unit = \"1/s\") = 2 \"rate\"; Real r[2, 3]; equation der(r) = -k*r; end M;";
  daedal_model *model = daedal_load_text(text, strlen(text), NULL, NULL, NULL);
  daedal_variable k = daedal_variable_get(model, daedal_variable_find(model, "k"));
  printf("%s [%s] %s: %s\n", k.name, k.unit, k.description, k.kind == DAEDAL_KIND_PARAMETER ? "a parameter" : "no parameter");
  uint32_t sizes[2];
  uint32_t dimensions = daedal_array_sizes(model, "r", sizes, 2);
  printf("%u variables; r has %u dimensions, %u x %u\n", (unsigned)daedal_variable_count(model), (unsigned)dimensions, (unsigned)sizes[0],
         (unsigned)sizes[1]);
  daedal_free(model);
  return 0;
}

/* Output:
 * k [1/s] rate: a parameter
 * 7 variables; r has 2 dimensions, 2 x 3
 */
