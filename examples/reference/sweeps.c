/* A sweep over two lengths and samples of a rate. */
#include <daedal.h>
#include <stdio.h>

static bool on_progress(void *context, const daedal_sweep_progress *progress) {
  *(unsigned *)context = (unsigned)progress->finished;
  return false; /* true stops the sweep */
}

int main(void) {
  const char *text = "model M parameter Real k = 1, a = 1; Real x(start = 1, fixed = true); equation der(x) = -k*a*x; end M;";
  daedal_model *model = daedal_load_text(text, strlen(text), NULL, NULL, NULL);
  const double rates[] = {1, 2};
  const daedal_axis vary = {"k", rates, 2};
  const daedal_distribution drawn = {"a", "uniform", {0.9, 1.1, 0}};
  const daedal_output kept[] = {{.name = "x"}, {.name = "x", .kind = DAEDAL_OUTPUT_MAX}};
  unsigned finished = 0;
  daedal_sweep_options options = {.size = sizeof options,
                                  .vary = &vary,
                                  .vary_count = 1,
                                  .distributions = &drawn,
                                  .distribution_count = 1,
                                  .samples = 2,
                                  .outputs = kept,
                                  .output_count = 2,
                                  .on_progress = on_progress,
                                  .context = &finished};
  daedal_sweep *sweep = daedal_sweep_make(model, NULL, &options);
  if (daedal_sweep_execute(sweep) != DAEDAL_OK) return 1;
  for (uint32_t c = 0; c < daedal_sweep_columns(sweep); c++)
    printf("%s%s", daedal_sweep_column_name(sweep, c), c + 1 < daedal_sweep_columns(sweep) ? " " : "\n");
  for (uint32_t p = 0; p < daedal_sweep_points(sweep); p++)
    printf("%g %.3f %.3f %s\n", daedal_sweep_value(sweep, p, 0), daedal_sweep_value(sweep, p, 1), daedal_sweep_value(sweep, p, 2),
           daedal_sweep_point_status(sweep, p) == DAEDAL_OK ? "ok" : daedal_sweep_point_cause(sweep, p));
  printf("%u of %u finished, %u varied\n", (unsigned)daedal_sweep_progress_get(sweep).finished,
         (unsigned)daedal_sweep_progress_get(sweep).points, (unsigned)daedal_sweep_varied(sweep));

  /* Processes that share a sweep exchange rows of numbers. */
  uint32_t first = daedal_sweep_finished(sweep, 0);
  if (daedal_sweep_point_finished(sweep, first))
    printf("a row has %u numbers: %s\n", (unsigned)daedal_sweep_row_length(sweep),
           daedal_sweep_put(sweep, first, DAEDAL_OK, "", daedal_sweep_row(sweep, first)) == DAEDAL_OK ? "put back" : "refused");
  daedal_free(sweep);
  daedal_free(model);
  return 0;
}

/* Output:
 * k a x max(x)
 * 1 1.024 0.359 ok
 * 1 0.924 0.397 ok
 * 2 1.024 0.129 ok
 * 2 0.924 0.158 ok
 * 4 of 4 finished, 2 varied
 * a row has 2 numbers: put back
 */
