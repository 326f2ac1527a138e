/* peer_cvodes TOLERANCE RUNS K: Akzo Nobel with CVODES, the algebraic variable substituted by hand: right-hand side, Jacobian and
 * sensitivity right-hand sides of the first K of k1, k2, k3, k4, klA. Staggered corrector, sensitivities in the error test. Prints CPU
 * seconds of a run, the least of five tries, and the derivatives of y1 and y5 by k1 at the end. K = 0: no sensitivities. */
#include "akzo.h"

#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

enum { STATES = N - 1 };

static void fill(N_Vector states, double *y) {
  memcpy(y, N_VGetArrayPointer(states), STATES * sizeof *y);
  y[STATES] = Ks * y[0] * y[3];
}

static void state_rates(const double *y, const double *dy, const double *dp, double *out) {
  double f[N], direction[N];
  memcpy(direction, dy, STATES * sizeof *direction);
  direction[STATES] = Ks * (dy[0] * y[3] + y[0] * dy[3]);
  directional(y, parameters, direction, dp, f);
  memcpy(out, f, STATES * sizeof *out);
}

static int right_hand_side(realtype t, N_Vector states, N_Vector out, void *data) {
  (void)t, (void)data;
  double y[N], f[N];
  fill(states, y);
  rates(y, parameters, f);
  memcpy(N_VGetArrayPointer(out), f, STATES * sizeof *f);
  return 0;
}

static int jacobian(realtype t, N_Vector states, N_Vector f, SUNMatrix matrix, void *data, N_Vector a, N_Vector b, N_Vector c) {
  (void)t, (void)f, (void)data, (void)a, (void)b, (void)c;
  const double none[MOST] = {0};
  double y[N];
  fill(states, y);
  for (int j = 0; j < STATES; j++) {
    double unit[STATES] = {0};
    unit[j] = 1;
    state_rates(y, unit, none, SM_COLUMN_D(matrix, j));
  }
  return 0;
}

static int sensitivities(int count, realtype t, N_Vector states, N_Vector f, N_Vector *s, N_Vector *out, void *data, N_Vector a,
                         N_Vector b) {
  (void)t, (void)f, (void)data, (void)a, (void)b;
  double y[N];
  fill(states, y);
  for (int k = 0; k < count; k++) {
    double unit[MOST] = {0};
    unit[k] = 1;
    state_rates(y, N_VGetArrayPointer(s[k]), unit, N_VGetArrayPointer(out[k]));
  }
  return 0;
}

static int run(double tolerance, int count, double *end) {
  static const double start[STATES] = {0.444, 0.00123, 0, 0.007, 0};
  double scales[MOST], values[MOST], t = 0;
  SUNContext context;
  SUNContext_Create(NULL, &context);
  N_Vector y = N_VNew_Serial(STATES, context), *s = NULL;
  memcpy(N_VGetArrayPointer(y), start, sizeof start);
  void *cvode = CVodeCreate(CV_BDF, context);
  CVodeInit(cvode, right_hand_side, 0, y);
  CVodeSStolerances(cvode, tolerance, tolerance);
  CVodeSetMaxNumSteps(cvode, -1);
  SUNMatrix matrix = SUNDenseMatrix(STATES, STATES, context);
  SUNLinearSolver solver = SUNLinSol_Dense(y, matrix, context);
  CVodeSetLinearSolver(cvode, solver, matrix);
  CVodeSetJacFn(cvode, jacobian);
  if (count) {
    s = N_VCloneVectorArray(count, y);
    for (int k = 0; k < count; k++) {
      N_VConst(0, s[k]);
      values[k] = scales[k] = parameters[k];
    }
    CVodeSensInit(cvode, count, CV_STAGGERED, sensitivities, s);
    CVodeSetSensParams(cvode, values, scales, NULL);
    CVodeSensEEtolerances(cvode);
    CVodeSetSensErrCon(cvode, SUNTRUE);
  }
  int status = CVode(cvode, 180, y, &t, CV_NORMAL);
  if (count && status >= 0) {
    CVodeGetSens(cvode, &t, s);
    end[0] = NV_Ith_S(s[0], 0);
    end[1] = NV_Ith_S(s[0], 4);
    N_VDestroyVectorArray(s, count);
  }
  CVodeFree(&cvode);
  SUNLinSolFree(solver);
  SUNMatDestroy(matrix);
  N_VDestroy(y);
  SUNContext_Free(&context);
  return status;
}

int main(int count, char **words) {
  if (count != 4) return 2;
  double best = HUGE_VAL, end[2] = {0};
  int runs = atoi(words[2]);
  for (int try = 0; try < 5; try++) {
    double begin = cpu_seconds();
    for (int k = 0; k < runs; k++)
      if (run(atof(words[1]), atoi(words[3]), end) < 0) return 1;
    best = fmin(best, (cpu_seconds() - begin) / runs);
  }
  printf("%.9f %.12e %.12e\n", best, end[0], end[1]);
  return 0;
}
