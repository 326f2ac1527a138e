/* Two threads share a model and a plan, and have a run each.
 *
 *   cc threads.c -ldaedal -lpthread -lm -o threads && ./threads
 */
#include <daedal.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char MODEL[] = "model Decay parameter Real rate = 1; Real x(start = 1, fixed = true); equation der(x) = -rate*x; end Decay;\n";

enum { THREADS = 2, RUNS = 50 };

typedef struct Share {
  daedal_plan *plan;
  int first;
  double worst;
} Share;

static void *work(void *context) {
  Share *share = context;
  daedal_run *run = daedal_run_make(share->plan); /* used only by this thread */
  for (int k = share->first; k < RUNS; k += THREADS) {
    double rate = 0.1 * k;
    daedal_run_set(run, "rate", rate);
    double error = daedal_run_execute(run) == DAEDAL_OK ? fabs(daedal_run_get(run, "x") - exp(-rate)) : INFINITY;
    share->worst = fmax(share->worst, error);
  }
  daedal_free(run);
  return NULL;
}

int main(void) {
  daedal_options options = daedal_default_options();
  options.stop_time = 1;
  options.tolerance = 1e-9;
  daedal_model *model = daedal_load_text(MODEL, strlen(MODEL), "decay", NULL, NULL);
  daedal_plan *plan = daedal_plan_make(model, &options);
  daedal_free(model); /* the plan keeps it alive */
  Share shares[THREADS];
  pthread_t threads[THREADS];
  for (int k = 0; k < THREADS; k++) {
    shares[k].plan = plan, shares[k].first = k, shares[k].worst = 0;
    if (pthread_create(&threads[k], NULL, work, &shares[k]) != 0) return 1;
  }
  double worst = 0;
  for (int k = 0; k < THREADS; k++) {
    pthread_join(threads[k], NULL);
    worst = fmax(worst, shares[k].worst);
  }
  printf("%d runs in %d threads, errors below %.0e\n", RUNS, THREADS, worst < 1e-7 ? 1e-7 : worst);
  daedal_free(plan);
  return worst < 1e-7 ? 0 : 1;
}
