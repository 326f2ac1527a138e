/* The difference of two files of results. */
#include <daedal.h>
#include <stdio.h>

static void write_run(const char *path, double tolerance) {
  const char *text = "model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;";
  daedal_model *model = daedal_load_text(text, strlen(text), NULL, NULL, NULL);
  daedal_options options = daedal_default_options();
  options.tolerance = tolerance;
  daedal_result *result = daedal_simulate(model, &options);
  daedal_save(result, path);
  daedal_free(result);
  daedal_free(model);
}

int main(void) {
  const char *paths[] = {"coarse.csv", "fine.csv"};
  write_run(paths[0], 1e-3);
  write_run(paths[1], 1e-9);
  daedal_files *files = daedal_files_read(paths, 2, NULL);
  daedal_difference_options options = {.size = sizeof options, .tolerance = 1e-2};
  if (daedal_files_compare(files, &options) != DAEDAL_OK) return 1;
  daedal_difference worst = daedal_files_difference(files, 0);
  printf("%s differs by less than 1 %%: %s, %u signals differ by more\n", worst.name, worst.relative < 1e-2 ? "yes" : "no",
         (unsigned)daedal_files_different(files));
  daedal_free(files);
  return 0;
}

/* Output:
 * x differs by less than 1 %: yes, 0 signals differ by more
 */
