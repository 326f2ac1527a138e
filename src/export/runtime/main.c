/* main: simulates the model and writes its trajectory as CSV to standard output.
 *
 *   model [STOP [TOLERANCE]]
 */
#include "outputs.h"
#include "solver.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Output {
  Solver *solver;
  Outputs rows; /* the next row to write */
  int failed;
} Output;

static void print_text(void *context, const char *text) {
  (void)context;
  fprintf(stderr, "%s\n", text);
}

/* Quotes within are doubled. */
static void print_name(const char *name) {
  const char *quote;
  fputs(",\"", stdout);
  for (; (quote = strchr(name, '"')); name = quote + 1) printf("%.*s\"\"", (int)(quote - name), name);
  fputs(name, stdout);
  putchar('"');
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

/* Prints a row at the time reached. */
static void print_end(Output *output) {
  double t = output->solver->now->time;
  print_row(output->solver);
  while (outputs_next(&output->rows) <= t) output->rows.number++;
}

/* Handles the event right after the start, and prints a row after it if there is one. */
static int leave_start(Output *output) {
  int any;
  if (events_leave_start(output->solver, &any)) return 1;
  if (any) print_row(output->solver);
  return 0;
}

/* Prints rows at multiples of the interval, and on both sides of events. */
static int run(Output *output) {
  Solver *solver = output->solver;
  Scalars *now = solver->now;
  now->end = output->rows.stop;
  print_end(output);
  if (leave_start(output)) return fail(solver, "the integration failed");
  while (now->time < output->rows.stop && !now->terminated) {
    if (solver_advance(solver, outputs_next(&output->rows), 1) != SOLVER_OK)
      return fail(solver, "the integration failed");
    print_end(output);
    if (!now->waits) continue;
    if (solver_pass(solver) != SOLVER_OK) return fail(solver, "the integration failed");
    print_row(solver);
  }
  if (solver->model->decide.terminal < 0) return 0;
  if (events_end(solver) || now->asserted) return fail(solver, "the end failed");
  print_row(solver);
  return 0;
}

static void start_and_run(void *context) {
  Output *output = context;
  bool is_started = solver_start(output->solver, output->rows.start) == SOLVER_OK;
  output->failed = is_started ? run(output) : fail(output->solver, "there are no initial values");
}

int main(int count, char **arguments) {
  const Model *model = &model_tables;
  Solver *solver = solver_make(model, &(HeapHook){.slab_size = SLAB_SIZE});
  if (!solver) return 1;
  double stop = count > 1 ? atof(arguments[1]) : model->stop;
  long intervals = (long)floor((stop - model->start) / model->interval + 0.5);
  Output output = {solver, {0, model->start, model->interval, stop, intervals > 1 ? (uint64_t)intervals : 1, 0}, 1};
  solver->report = print_text;
  if (count > 2) solver->now->tolerance = atof(arguments[2]);
  print_names(model);
  if (!heap_protect(solver->heap, start_and_run, &output)) fail(solver, "there is no memory");
  fprintf(stderr, "%d steps, %d rejected, %d events, %d pivots\n", solver->now->steps, solver->now->rejected,
          solver->now->events, solver->now->pivots);
  solver_free(solver);
  if (fflush(stdout) == 0 && !ferror(stdout)) return output.failed;
  perror("standard output"); /* for example because the disk is full */
  return output.failed ? output.failed : 7;
}
