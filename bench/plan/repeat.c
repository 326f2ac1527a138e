/* repeat MODEL RUNS THREADS: runs of one plan, shared evenly by threads. Prints the seconds that they took. */
#include "daedal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct Share {
  daedal_plan *plan;
  int runs;
  bool failed;
} Share;

static void *work(void *context) {
  Share *share = context;
  daedal_run *run = daedal_run_make(share->plan);
  for (int k = 0; k < share->runs; k++) share->failed |= daedal_run_execute(run) != DAEDAL_OK;
  daedal_free(run);
  return NULL;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  int runs = atoi(arguments[2]), threads = atoi(arguments[3]);
  daedal_model *model = daedal_load_file(arguments[1], NULL, NULL);
  daedal_plan *plan = daedal_plan_make(model, NULL);
  if (daedal_status_of(plan) != DAEDAL_OK || threads < 1) return 1;
  Share *shares = calloc((size_t)threads, sizeof *shares);
  pthread_t *list = calloc((size_t)threads, sizeof *list);
  bool failed = false;
  double begin = seconds();
  for (int k = 0; k < threads; k++) {
    shares[k] = (Share){plan, runs / threads, false};
    if (pthread_create(&list[k], NULL, work, &shares[k]) != 0) return 1;
  }
  for (int k = 0; k < threads; k++) {
    pthread_join(list[k], NULL);
    failed |= shares[k].failed;
  }
  printf("%.3f\n", seconds() - begin);
  free(shares);
  free(list);
  daedal_free(plan);
  daedal_free(model);
  return failed;
}
