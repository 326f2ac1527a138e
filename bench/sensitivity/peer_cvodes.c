/* peer_cvodes: Akzo Nobel with CVODES, with the algebraic variable substituted by hand: right-hand side, Jacobian and sensitivity
 * right-hand sides. Staggered corrector, sensitivities in the error test. peer.h describes its arguments. */
enum { UNKNOWNS = 5 };

#include "peer.h"

#include <cvodes/cvodes.h>

static void fill(N_Vector states, double *y) {
  memcpy(y, N_VGetArrayPointer(states), UNKNOWNS * sizeof *y);
  y[UNKNOWNS] = Ks * y[0] * y[3];
}

static void state_rates(const double *y, const double *dy, const double *dp, double *out) {
  double f[N], direction[N];
  memcpy(direction, dy, UNKNOWNS * sizeof *direction);
  direction[UNKNOWNS] = Ks * (dy[0] * y[3] + y[0] * dy[3]);
  directional(y, parameters, direction, dp, f);
  memcpy(out, f, UNKNOWNS * sizeof *out);
}

static int right_hand_side(realtype t, N_Vector states, N_Vector out, void *data) {
  (void)t, (void)data;
  double y[N], f[N];
  fill(states, y);
  rates(y, parameters, f);
  memcpy(N_VGetArrayPointer(out), f, UNKNOWNS * sizeof *f);
  return 0;
}

static int jacobian(realtype t, N_Vector states, N_Vector f, SUNMatrix matrix, void *data, N_Vector a, N_Vector b,
                    N_Vector c) {
  (void)t, (void)f, (void)data, (void)a, (void)b, (void)c;
  const double none[MOST] = {0};
  double y[N];
  fill(states, y);
  for (int j = 0; j < UNKNOWNS; j++) {
    double unit[UNKNOWNS] = {0};
    unit[j] = 1;
    state_rates(y, unit, none, SM_COLUMN_D(matrix, j));
  }
  return 0;
}

static int sensitivities(int count, realtype t, N_Vector states, N_Vector f, N_Vector *s, N_Vector *out, void *data,
                         N_Vector a, N_Vector b) {
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

static int integrate(Run *run) {
  double t = 0;
  void *cvode = CVodeCreate(CV_BDF, run->context);
  CVodeInit(cvode, right_hand_side, 0, run->y);
  CVodeSStolerances(cvode, run->tolerance, run->tolerance);
  CVodeSetMaxNumSteps(cvode, -1);
  CVodeSetLinearSolver(cvode, run->solver, run->matrix);
  CVodeSetJacFn(cvode, jacobian);
  if (run->count) {
    CVodeSensInit(cvode, run->count, CV_STAGGERED, sensitivities, run->s);
    CVodeSetSensParams(cvode, run->values, run->scales, NULL);
    CVodeSensEEtolerances(cvode);
    CVodeSetSensErrCon(cvode, SUNTRUE);
  }
  int status = CVode(cvode, end_time, run->y, &t, CV_NORMAL);
  if (run->count && status >= 0) CVodeGetSens(cvode, &t, run->s);
  CVodeFree(&cvode);
  return status;
}
