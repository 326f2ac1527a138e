/* main: simulates the model and writes its trajectory as CSV to standard output.
 *
 *   model [STOP [TOLERANCE]]
 *
 * The memory of the run is asked for once, before it begins. */
#include "solver.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void print_text(void *context, const char *text) { fprintf(context, "%s\n", text); }

/* Quotes within are doubled. */
static void print_name(const char *name) {
  printf(",\"");
  for (; *name; name++) fputs(*name == '"' ? "\"\"" : (const char[]){*name, 0}, stdout);
  printf("\"");
}

static void print_names(const Model *model) {
  printf("time");
  for (int v = 0; v < model->variables; v++)
    if (model->variable[v].flags & IS_RECORDED) print_name(model->variable[v].name);
  printf("\n");
}

static void print_row(Solver *solver) {
  printf("%.17g", solver->now->time);
  for (int v = 0; v < solver->model->variables; v++)
    if (solver->model->variable[v].flags & IS_RECORDED) printf(",%.17g", solver_get(solver, v));
  printf("\n");
}

static int fail(const Solver *solver, const char *what) {
  fprintf(stderr, "%s at time %.17g\n", what, solver->now->time);
  return 1;
}

/* Rows at both sides of events, and at t. */
static int advance(Solver *solver, double t) {
  do {
    if (solver_advance(solver, t, 1) != SOLVER_OK) return 1;
    print_row(solver);
    if (!solver->now->waits) continue;
    if (solver_pass(solver) != SOLVER_OK) return 1;
    print_row(solver);
  } while (solver->now->time < t && !solver->now->terminated);
  return 0;
}

/* Rows at multiples of the interval and at events. */
static int run(Solver *solver, double stop) {
  const Model *model = solver->model;
  long intervals = (long)floor((stop - model->start) / model->interval + 0.5);
  solver->now->end = stop;
  print_row(solver);
  for (long k = 1; k <= intervals && !solver->now->terminated; k++) {
    double t = k < intervals ? model->start + (double)k * model->interval : stop;
    if (advance(solver, t)) return fail(solver, "the integration failed");
  }
  if (model->terminal < 0) return 0;
  if (events_end(solver) || solver->now->asserted) return fail(solver, "the end failed");
  print_row(solver);
  return 0;
}

int main(int count, char **arguments) {
  const Model *model = &model_tables;
  void *memory = malloc(solver_size(model));
  if (!memory) return 1;
  Solver *solver = solver_make(model, memory);
  double stop = count > 1 ? atof(arguments[1]) : model->stop;
  solver->report = print_text;
  solver->context = stderr;
  if (count > 2) solver->now->tolerance = atof(arguments[2]);
  print_names(model);
  int failed =
      solver_start(solver, model->start) != SOLVER_OK ? fail(solver, "there are no initial values") : run(solver, stop);
  fprintf(stderr, "%d steps, %d rejected, %d events, %d pivots\n", solver->now->steps, solver->now->rejected,
          solver->now->events, solver->now->pivots);
  free(memory);
  if (fflush(stdout) == 0 && !ferror(stdout)) return failed;
  perror("standard output"); /* as where the disk is full */
  return failed ? failed : 7;
}
