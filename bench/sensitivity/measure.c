/* measure MODEL SOLVER TOLERANCE INTERVALS RUNS [TARGETS [FUNCTIONAL]]: prints the CPU seconds of one run of a plan that computes
 * sensitivities with respect to TARGETS, or the gradient of FUNCTIONAL. It measures RUNS runs five times and prints the shortest
 * mean. */
#include "daedal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int count, char **words) {
  if (count < 6) return 2;
  daedal_options options = daedal_default_options();
  options.solver = words[2];
  options.tolerance = atof(words[3]);
  options.intervals = (uint32_t)atoi(words[4]);
  const char *targets[64] = {NULL};
  size_t used = 0;
  for (char *at = count > 6 ? strtok(words[6], ",") : NULL; at && used < 63; at = strtok(NULL, ","))
    targets[used++] = at;
  options.sensitivity = targets[0] ? targets : NULL;
  options.gradient = count > 7 ? words[7] : NULL;
  int runs = atoi(words[5]), tries = getenv("TRIES") ? atoi(getenv("TRIES")) : 5;
  daedal_model *model = daedal_load_file(words[1], NULL, NULL);
  daedal_plan *plan = daedal_plan_make(model, &options);
  daedal_run *run = daedal_run_make(plan);
  double best = HUGE_VAL;
  for (int try = 0; run && try < tries; try++) {
    double begin = cpu_seconds();
    for (int k = 0; k < runs; k++)
      if (daedal_run_execute(run) != DAEDAL_OK) return 1;
    best = fmin(best, (cpu_seconds() - begin) / runs);
  }
  daedal_result *result = run ? daedal_run_result(run) : NULL;
  printf("%.9f %.9f\n", best, daedal_result_statistics(result).seconds_integrate);
  daedal_free(run);
  daedal_free(plan);
  daedal_free(model);
  return !run;
}
