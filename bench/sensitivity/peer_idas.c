/* peer_idas TOLERANCE RUNS K: Akzo Nobel with IDAS, written by hand: residual, Jacobian and sensitivity residuals of the first K of k1, k2, k3, k4,
 * klA. Staggered corrector, sensitivities in the error test. Prints CPU seconds of a run, the least of five tries, and the derivatives of
 * y1 and y6 by k1 at the end. K = 0: no sensitivities. */
#include "akzo.h"

#include <idas/idas.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

static int residual(realtype t, N_Vector y, N_Vector yp, N_Vector r, void *data) {
  (void)t, (void)data;
  double *out = N_VGetArrayPointer(r), *rate = N_VGetArrayPointer(yp);
  rates(N_VGetArrayPointer(y), parameters, out);
  for (int k = 0; k < N - 1; k++) out[k] -= rate[k];
  return 0;
}

static int jacobian(realtype t, realtype c, N_Vector y, N_Vector yp, N_Vector r, SUNMatrix matrix, void *data, N_Vector a,
                    N_Vector b, N_Vector d) {
  (void)t, (void)yp, (void)r, (void)data, (void)a, (void)b, (void)d;
  const double none[MOST] = {0};
  for (int j = 0; j < N; j++) {
    double unit[N] = {0};
    unit[j] = 1;
    directional(N_VGetArrayPointer(y), parameters, unit, none, SM_COLUMN_D(matrix, j));
    if (j < N - 1) SM_ELEMENT_D(matrix, j, j) -= c;
  }
  return 0;
}

static int sensitivities(int count, realtype t, N_Vector y, N_Vector yp, N_Vector r, N_Vector *s, N_Vector *sp, N_Vector *rs,
                         void *data, N_Vector a, N_Vector b, N_Vector d) {
  (void)t, (void)yp, (void)r, (void)data, (void)a, (void)b, (void)d;
  for (int k = 0; k < count; k++) {
    double unit[MOST] = {0}, *out = N_VGetArrayPointer(rs[k]), *rate = N_VGetArrayPointer(sp[k]);
    unit[k] = 1;
    directional(N_VGetArrayPointer(y), parameters, N_VGetArrayPointer(s[k]), unit, out);
    for (int i = 0; i < N - 1; i++) out[i] -= rate[i];
  }
  return 0;
}

static int run(double tolerance, int count, double *end) {
  static const double start[N] = {0.444, 0.00123, 0, 0.007, 0, 115.83 * 0.444 * 0.007};
  double scales[MOST], values[MOST], t = 0;
  SUNContext context;
  SUNContext_Create(NULL, &context);
  N_Vector y = N_VNew_Serial(N, context), yp = N_VNew_Serial(N, context), *s = NULL, *sp = NULL;
  for (int k = 0; k < N; k++) NV_Ith_S(y, k) = start[k];
  rates(start, parameters, N_VGetArrayPointer(yp));
  NV_Ith_S(yp, N - 1) = Ks * (NV_Ith_S(yp, 0) * start[3] + start[0] * NV_Ith_S(yp, 3));
  void *ida = IDACreate(context);
  IDAInit(ida, residual, 0, y, yp);
  IDASStolerances(ida, tolerance, tolerance);
  IDASetMaxNumSteps(ida, -1);
  SUNMatrix matrix = SUNDenseMatrix(N, N, context);
  SUNLinearSolver solver = SUNLinSol_Dense(y, matrix, context);
  IDASetLinearSolver(ida, solver, matrix);
  IDASetJacFn(ida, jacobian);
  if (count) {
    s = N_VCloneVectorArray(count, y);
    sp = N_VCloneVectorArray(count, y);
    for (int k = 0; k < count; k++) {
      double unit[MOST] = {0}, none[N] = {0};
      unit[k] = 1;
      N_VConst(0, s[k]);
      directional(start, parameters, none, unit, N_VGetArrayPointer(sp[k]));
      NV_Ith_S(sp[k], N - 1) = Ks * (NV_Ith_S(sp[k], 0) * start[3] + start[0] * NV_Ith_S(sp[k], 3));
      values[k] = scales[k] = parameters[k];
    }
    IDASensInit(ida, count, IDA_STAGGERED, sensitivities, s, sp);
    IDASetSensParams(ida, values, scales, NULL);
    IDASensEEtolerances(ida);
    IDASetSensErrCon(ida, SUNTRUE);
  }
  int status = IDASolve(ida, 180, &t, y, yp, IDA_NORMAL);
  if (count && status >= 0) {
    IDAGetSens(ida, &t, s);
    end[0] = NV_Ith_S(s[0], 0);
    end[1] = NV_Ith_S(s[0], 5);
    N_VDestroyVectorArray(s, count);
    N_VDestroyVectorArray(sp, count);
  }
  IDAFree(&ida);
  SUNLinSolFree(solver);
  SUNMatDestroy(matrix);
  N_VDestroy(y);
  N_VDestroy(yp);
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
