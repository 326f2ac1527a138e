/* A caller of an exported model (test_programs.py) refuses its memory once, from the first request to the last. The call then fails,
 * and the run from the beginning gives the values of an undisturbed run. */
#include "solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Supply {
  long requests, refused; /* number of requests so far; the number of the refused one; -1: none */
} Supply;

static void *resize(void *context, void *pointer, size_t size) {
  Supply *supply = context;
  if (size) return supply->requests++ == supply->refused ? 0 : realloc(pointer, size);
  free(pointer);
  return 0;
}

static int runs(Solver *solver) {
  const Model *model = solver->model;
  int good = solver_start(solver, model->start) == SOLVER_OK;
  for (int k = 1; k <= 10 && good; k++)
    good = solver_advance(solver, model->start + k * (model->stop - model->start) / 10, 0) == SOLVER_OK;
  return good;
}

/* The sum of all values at the end; 0: the solver cannot be made; NAN: the run fails. */
static double run(Supply *supply) {
  HeapHook hook = {.resize = resize, .context = supply, .slab_size = 512};
  Solver *solver = solver_make(&model_tables, &hook);
  double sum = 0;
  if (!solver) return 0;
  int good = runs(solver) || (supply->requests > supply->refused && runs(solver));
  for (int v = 0; v < solver->model->variables; v++) sum += solver_get(solver, v);
  solver_free(solver);
  return good ? sum : NAN;
}

int main(void) {
  Supply whole = {0, -1};
  double expected = run(&whole);
  int wrong = !isfinite(expected), without = 0;
  for (long k = 0; k < whole.requests; k++) {
    double sum = run(&(Supply){0, k});
    without += sum == 0;
    if (sum == 0 || fabs(sum - expected) <= 1e-6 * (1 + fabs(expected))) continue;
    printf("request %ld of %ld: %.17g, not %.17g\n", k, whole.requests, sum, expected);
    wrong++;
  }
  return wrong || without > 5;
}
