/* peer: shared by the peers, which differ only in the integrator: vectors, matrix and linear solver of a run, the parameters to
 * differentiate with respect to, and the measurement of CPU seconds. Before it is included, UNKNOWNS is the number of equations. */
#pragma once

#include "akzo.h"

#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <time.h>

/* A run: the integrator takes vectors, matrix and solver, and stores the sensitivities at the end in s. */
typedef struct Run {
  SUNContext context;
  N_Vector y, *s; /* s: NULL without sensitivities */
  SUNMatrix matrix;
  SUNLinearSolver solver;
  double tolerance, values[MOST], scales[MOST];
  int count;
} Run;

static const double start[N] = {0.444, 0.00123, 0, 0.007, 0, 115.83 * 0.444 * 0.007}, end_time = 180;

/* Integrates to the end; < 0: it failed. By the peer. */
static int integrate(Run *run);

static Run begin(double tolerance, int count) {
  Run run = {.tolerance = tolerance, .count = count};
  SUNContext_Create(NULL, &run.context);
  run.y = N_VNew_Serial(UNKNOWNS, run.context);
  memcpy(N_VGetArrayPointer(run.y), start, UNKNOWNS * sizeof *start);
  run.matrix = SUNDenseMatrix(UNKNOWNS, UNKNOWNS, run.context);
  run.solver = SUNLinSol_Dense(run.y, run.matrix, run.context);
  if (count) run.s = N_VCloneVectorArray(count, run.y);
  for (int k = 0; k < count; k++) {
    N_VConst(0, run.s[k]);
    run.values[k] = run.scales[k] = parameters[k];
  }
  return run;
}

static void end(Run *run) {
  SUNLinSolFree(run->solver);
  SUNMatDestroy(run->matrix);
  N_VDestroy(run->y);
  if (run->s) N_VDestroyVectorArray(run->s, run->count);
  SUNContext_Free(&run->context);
}

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* TOLERANCE RUNS K: prints the CPU seconds of a run with sensitivities for the first K of k1, k2, k3, k4, klA (0: none), the
 * shortest of five tries. Then it prints the derivatives of y1 and of the last unknown with respect to k1 at the end. */
int main(int count, char **words) {
  if (count != 4) return 2;
  double best = HUGE_VAL, first = 0, last = 0;
  int runs = atoi(words[2]);
  for (int try = 0; try < 5; try++) {
    double began = cpu_seconds();
    for (int k = 0; k < runs; k++) {
      Run run = begin(atof(words[1]), atoi(words[3]));
      int status = integrate(&run);
      if (run.s) first = NV_Ith_S(run.s[0], 0), last = NV_Ith_S(run.s[0], UNKNOWNS - 1);
      end(&run);
      if (status < 0) return 1;
    }
    best = fmin(best, (cpu_seconds() - began) / runs);
  }
  printf("%.9f %.12e %.12e\n", best, first, last);
  return 0;
}
