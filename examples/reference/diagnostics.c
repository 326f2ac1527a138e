/* The messages about a wrong model: each has a code, a place and perhaps notes. */
#include <daedal.h>
#include <stdio.h>

int main(void) {
  const char *text = "model M\n  Real x;\nequation\n  der(x) = -k*x;\nend M;\n";
  daedal_model *model = daedal_load_text(text, strlen(text), "decay.mo", NULL, NULL);
  for (uint32_t k = 0; k < daedal_diagnostic_count(model); k++) {
    daedal_diagnostic said = daedal_diagnostic_get(model, k);
    printf("%s:%u:%u: %s [%s]\n", said.place.path, (unsigned)said.place.line, (unsigned)said.place.column, said.message,
           said.code);
  }
  daedal_code first = daedal_code_get(0);
  printf("the first code is %s, %s\n", first.code, first.title);
  printf("library %s, header %s\n", daedal_version(), DAEDAL_VERSION);
  daedal_free(model);
  return 0;
}

/* Output:
 * decay.mo:4:13: `k` is not declared [D303]
 * the first code is D100, internal error
 * library 0.2.0, header 0.2.0
 */
