/* peer_idas: Akzo Nobel with IDAS, written by hand: residual, Jacobian and sensitivity residuals. Staggered corrector, sensitivities in the error
 * test. peer.h describes its arguments. */
enum { UNKNOWNS = 6 };

#include "peer.h"

#include <idas/idas.h>

static int residual(realtype t, N_Vector y, N_Vector yp, N_Vector r, void *data) {
  (void)t, (void)data;
  double *out = N_VGetArrayPointer(r), *rate = N_VGetArrayPointer(yp);
  rates(N_VGetArrayPointer(y), parameters, out);
  for (int k = 0; k < N - 1; k++) out[k] -= rate[k];
  return 0;
}

static int jacobian(realtype t, realtype c, N_Vector y, N_Vector yp, N_Vector r, SUNMatrix matrix, void *data,
                    N_Vector a, N_Vector b, N_Vector d) {
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

static int sensitivities(int count, realtype t, N_Vector y, N_Vector yp, N_Vector r, N_Vector *s, N_Vector *sp,
                         N_Vector *rs, void *data, N_Vector a, N_Vector b, N_Vector d) {
  (void)t, (void)yp, (void)r, (void)data, (void)a, (void)b, (void)d;
  for (int k = 0; k < count; k++) {
    double unit[MOST] = {0}, *out = N_VGetArrayPointer(rs[k]), *rate = N_VGetArrayPointer(sp[k]);
    unit[k] = 1;
    directional(N_VGetArrayPointer(y), parameters, N_VGetArrayPointer(s[k]), unit, out);
    for (int i = 0; i < N - 1; i++) out[i] -= rate[i];
  }
  return 0;
}

/* The algebraic variable is Ks y1 y4. */
static void complete_rate(const double *rate, double *algebraic) {
  *algebraic = Ks * (rate[0] * start[3] + start[0] * rate[3]);
}

static void start_sensitivities(const Run *run, N_Vector *sp) {
  for (int k = 0; k < run->count; k++) {
    double unit[MOST] = {0}, none[N] = {0}, *rate = N_VGetArrayPointer(sp[k]);
    unit[k] = 1;
    directional(start, parameters, none, unit, rate);
    complete_rate(rate, &rate[N - 1]);
  }
}

static int integrate(Run *run) {
  double t = 0;
  N_Vector yp = N_VClone(run->y), *sp = run->count ? N_VCloneVectorArray(run->count, run->y) : NULL;
  rates(start, parameters, N_VGetArrayPointer(yp));
  complete_rate(N_VGetArrayPointer(yp), &NV_Ith_S(yp, N - 1));
  void *ida = IDACreate(run->context);
  IDAInit(ida, residual, 0, run->y, yp);
  IDASStolerances(ida, run->tolerance, run->tolerance);
  IDASetMaxNumSteps(ida, -1);
  IDASetLinearSolver(ida, run->solver, run->matrix);
  IDASetJacFn(ida, jacobian);
  if (run->count) {
    start_sensitivities(run, sp);
    IDASensInit(ida, run->count, IDA_STAGGERED, sensitivities, run->s, sp);
    IDASetSensParams(ida, run->values, run->scales, NULL);
    IDASensEEtolerances(ida);
    IDASetSensErrCon(ida, SUNTRUE);
  }
  int status = IDASolve(ida, end_time, &t, run->y, yp, IDA_NORMAL);
  if (run->count && status >= 0) IDAGetSens(ida, &t, run->s);
  if (sp) N_VDestroyVectorArray(sp, run->count);
  IDAFree(&ida);
  N_VDestroy(yp);
  return status;
}
