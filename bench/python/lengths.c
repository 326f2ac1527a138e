/* lengths MODEL RUNS: loads and plans the pendulum, and runs it with another length each time. Prints the seconds of
 * processor time. */
#include "daedal.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool run(const char *path, double length) {
  const daedal_override overrides[] = {{"L", length, NULL}, {"x", length, NULL}};
  daedal_options options = daedal_default_options();
  options.overrides = overrides;
  options.override_count = 2;
  daedal_model *model = daedal_load_file(path, NULL, NULL);
  daedal_result *result = daedal_simulate(model, &options);
  bool ok = daedal_status_of(result) == DAEDAL_OK && daedal_result_values(result, 1);
  daedal_free(result);
  daedal_free(model);
  return ok;
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  bool ok = true;
  double begin = seconds();
  for (int k = 0, runs = atoi(arguments[2]); k < runs; k++) ok = run(arguments[1], 1 + 0.01 * k) && ok;
  printf("%.6f\n", seconds() - begin);
  return !ok;
}
