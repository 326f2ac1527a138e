/* A rate from three measurements. */
#include <daedal.h>
#include <stdio.h>

int main(void) {
  const char *text = "model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;";
  daedal_model *model = daedal_load_text(text, strlen(text), NULL, NULL, NULL);
  const daedal_guess guesses[] = {{"k", 1, 0, 10}}; /* begin at 1, stay between 0 and 10 */
  const daedal_value deviations[] = {{"x", 0.01}};
  daedal_fit_options options = {.size = sizeof options,
                                .data_text = "time,x\n0.5,0.37\n1,0.13\n1.5,0.05\n",
                                .parameters = guesses,
                                .parameter_count = 1,
                                .deviations = deviations,
                                .deviation_count = 1};
  daedal_estimate *estimate = daedal_fit(model, NULL, &options);
  for (uint32_t k = 0; k < daedal_estimate_parameters(estimate); k++) {
    daedal_parameter found = daedal_estimate_parameter(estimate, k);
    printf("%s = %.2f, between %.2f and %.2f\n", found.name, found.value, found.low, found.high);
  }
  printf("variance %.1e, residuals %.1f times the deviations\n", daedal_estimate_covariance(estimate, 0, 0), daedal_estimate_deviation(estimate));
  daedal_free(estimate);
  daedal_free(model);
  return 0;
}

/* Output:
 * k = 2.01, between 1.92 and 2.09
 * variance 1.7e-03, residuals 0.4 times the deviations
 */
