/* Mattsson and Söderlind's model c of the pendulum (equations 4.2 and 4.3) for IDA, written by hand. One coordinate
 * and its rate are states, and the other coordinate with its derivatives is algebraic. When the algebraic coordinate
 * becomes small, the two are exchanged, the values are projected onto the constraints to round-off, and IDA restarts. Usage:
 * PROGRAM CASE TOLERANCE STOP; one line of JSON for the faster of the two settings of the error test (algebraic components in or
 * out). */
#include <ida/ida.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <time.h>

/* Columns: s, s', s'' of the state coordinate; a, a', a'' of the other; lambda. gs, ga: gravity on each. */
typedef struct Roles {
  double gs, ga;
} Roles;

static int residual(realtype t, N_Vector vy, N_Vector vyp, N_Vector vr, void *data) {
  (void)t;
  const Roles *roles = data;
  const double *y = N_VGetArrayPointer(vy), *yp = N_VGetArrayPointer(vyp);
  double *r = N_VGetArrayPointer(vr), s = y[0], s1 = y[1], s2 = y[2], a = y[3], a1 = y[4], a2 = y[5], l = y[6];
  r[0] = yp[0] - s1;
  r[1] = yp[1] - s2;
  r[2] = s * s + a * a - 1;
  r[3] = s * s1 + a * a1;
  r[4] = s * s2 + s1 * s1 + a * a2 + a1 * a1;
  r[5] = s2 + l * s + roles->gs;
  r[6] = a2 + l * a + roles->ga;
  return 0;
}

/* Finds the point on the constraints from the state coordinate, its rate and the sign of the other coordinate. */
static void project(double *y, const Roles *roles) {
  double sign = y[3] < 0 ? -1 : 1;
  y[3] = sign * sqrt(1 - y[0] * y[0]);
  y[4] = -y[0] * y[1] / y[3];
  y[6] = y[1] * y[1] + y[4] * y[4] - roles->gs * y[0] - roles->ga * y[3];
  y[2] = -y[6] * y[0] - roles->gs;
  y[5] = -y[6] * y[3] - roles->ga;
}

static void exchange(double *y, double *yp, Roles *roles) {
  for (int k = 0; k < 3; k++) {
    double keep = y[k];
    y[k] = y[3 + k];
    y[3 + k] = keep;
  }
  double keep = roles->gs;
  roles->gs = roles->ga;
  roles->ga = keep;
  project(y, roles);
  for (int k = 0; k < 7; k++) yp[k] = 0;
  yp[0] = y[1];
  yp[1] = y[2];
  yp[3] = y[4];
  yp[4] = y[5];
}

typedef struct Outcome {
  int ok;
  long steps, evaluations, jacobian_evaluations, restarts;
  double seconds, energy;
} Outcome;

static double energy(const double *y, const Roles *roles) {
  double height = roles->gs != 0 ? y[0] : y[3];
  return 0.5 * (y[1] * y[1] + y[4] * y[4]) + height;
}

static double clock_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void count(void *ida, Outcome *outcome) {
  long steps, evaluations, jacobian;
  IDAGetNumSteps(ida, &steps);
  IDAGetNumResEvals(ida, &evaluations);
  IDAGetNumLinResEvals(ida, &jacobian);
  outcome->steps += steps;
  outcome->evaluations += evaluations;
  outcome->jacobian_evaluations += jacobian;
}

static Outcome integrate(double angle, double rate, double tolerance, double stop, int suppress) {
  Outcome outcome = {.ok = 1};
  double begin = clock_seconds();
  SUNContext context;
  SUNContext_Create(NULL, &context);
  N_Vector vy = N_VNew_Serial(7, context), vyp = N_VNew_Serial(7, context), id = N_VNew_Serial(7, context);
  double *y = N_VGetArrayPointer(vy), *yp = N_VGetArrayPointer(vyp);
  /* begin with y as the state coordinate, then exchange when x is the better one */
  Roles roles = {1, 0};
  double start[7] = {-cos(angle), sin(angle) * rate, 0, sin(angle), cos(angle) * rate, 0, 0};
  for (int k = 0; k < 7; k++) y[k] = start[k], yp[k] = 0, NV_Ith_S(id, k) = k < 2;
  if (fabs(y[0]) > fabs(y[3])) exchange(y, yp, &roles);
  else {
    project(y, &roles);
    yp[0] = y[1];
    yp[1] = y[2];
    yp[3] = y[4];
    yp[4] = y[5];
  }
  double e0 = energy(y, &roles), t = 0;
  void *ida = IDACreate(context);
  IDAInit(ida, residual, 0, vy, vyp);
  IDASStolerances(ida, tolerance, tolerance);
  IDASetUserData(ida, &roles);
  IDASetId(ida, id);
  IDASetSuppressAlg(ida, suppress);
  IDASetMaxNumSteps(ida, -1);
  SUNMatrix matrix = SUNDenseMatrix(7, 7, context);
  SUNLinearSolver solver = SUNLinSol_Dense(vy, matrix, context);
  IDASetLinearSolver(ida, solver, matrix);
  IDASetStopTime(ida, stop);
  while (t < stop && outcome.ok) {
    outcome.ok = IDASolve(ida, stop, &t, vy, vyp, IDA_ONE_STEP) >= 0;
    if (outcome.ok && t < stop && fabs(y[3]) < 0.5 * fabs(y[0])) {
      count(ida, &outcome);
      exchange(y, yp, &roles);
      IDAReInit(ida, t, vy, vyp);
      IDASetStopTime(ida, stop);
      outcome.restarts++;
    }
  }
  count(ida, &outcome);
  outcome.energy = energy(y, &roles) - e0;
  IDAFree(&ida);
  SUNLinSolFree(solver);
  SUNMatDestroy(matrix);
  N_VDestroy(vy);
  N_VDestroy(vyp);
  N_VDestroy(id);
  SUNContext_Free(&context);
  outcome.seconds = clock_seconds() - begin;
  return outcome;
}

int main(int argc, char **argv) {
  if (argc < 4) return fprintf(stderr, "usage: %s CASE TOLERANCE STOP\n", argv[0]), 2;
  int first = atoi(argv[1]) == 1;
  double angle = first ? 0.1 : 1.57079632679489661923, rate = first ? 0 : -1;
  Outcome best = {0};
  for (int suppress = 0; suppress < 2; suppress++) {
    Outcome outcome = integrate(angle, rate, atof(argv[2]), atof(argv[3]), suppress);
    if (outcome.ok && (!best.ok || outcome.seconds < best.seconds)) best = outcome;
  }
  printf("{\"ok\": %s, \"steps\": %ld, \"evaluations\": %ld, \"jacobian_evaluations\": %ld, \"restarts\": %ld, \"dE\": "
         "%.3g, "
         "\"seconds\": %.6g}\n",
         best.ok ? "true" : "false", best.steps, best.evaluations, best.jacobian_evaluations, best.restarts,
         best.energy, best.seconds);
  return 0;
}
