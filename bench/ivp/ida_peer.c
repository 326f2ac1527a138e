/* ida_peer: see ida_peer.h. Each tolerance is run with the algebraic components in the error test and without them; the faster
 * run counts, so that the peer is at its best. */
#include "ida_peer.h"

#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <time.h>

static int call_residual(realtype t, N_Vector y, N_Vector yp, N_Vector r, void *data) {
  const Peer *peer = data;
  return peer->residual(t, N_VGetArrayPointer(y), N_VGetArrayPointer(yp), N_VGetArrayPointer(r));
}

typedef struct Outcome {
  int status;
  long steps, residuals, jacobian_residuals, factorizations;
  double seconds, y[64];
} Outcome;

static double clock_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static Outcome integrate(const Peer *peer, double tolerance, int suppress) {
  Outcome outcome = {0};
  double begin = clock_seconds();
  SUNContext context;
  SUNContext_Create(NULL, &context);
  N_Vector y = N_VNew_Serial(peer->n, context), yp = N_VNew_Serial(peer->n, context),
           id = N_VNew_Serial(peer->n, context);
  for (int k = 0; k < peer->n; k++) NV_Ith_S(id, k) = peer->is_differential[k];
  peer->start(N_VGetArrayPointer(y), N_VGetArrayPointer(yp));
  void *ida = IDACreate(context);
  IDAInit(ida, call_residual, 0, y, yp);
  IDASStolerances(ida, tolerance, tolerance);
  IDASetUserData(ida, (void *)peer);
  IDASetId(ida, id);
  IDASetSuppressAlg(ida, suppress);
  IDASetMaxNumSteps(ida, -1);
  SUNMatrix matrix = SUNDenseMatrix(peer->n, peer->n, context);
  SUNLinearSolver solver = SUNLinSol_Dense(y, matrix, context);
  IDASetLinearSolver(ida, solver, matrix);
  outcome.status = IDACalcIC(ida, IDA_YA_YDP_INIT, 1e-6 * peer->stop);
  IDASetStopTime(ida, peer->stop);
  double t = 0;
  if (outcome.status >= 0) outcome.status = IDASolve(ida, peer->stop, &t, y, yp, IDA_NORMAL);
  IDAGetNumSteps(ida, &outcome.steps);
  IDAGetNumResEvals(ida, &outcome.residuals);
  IDAGetNumLinResEvals(ida, &outcome.jacobian_residuals);
  IDAGetNumLinSolvSetups(ida, &outcome.factorizations);
  for (int k = 0; k < peer->n; k++) outcome.y[k] = NV_Ith_S(y, k);
  IDAFree(&ida);
  SUNLinSolFree(solver);
  SUNMatDestroy(matrix);
  N_VDestroy(y);
  N_VDestroy(yp);
  N_VDestroy(id);
  SUNContext_Free(&context);
  outcome.seconds = clock_seconds() - begin;
  return outcome;
}

int peer_main(const Peer *peer, int count, char **arguments) {
  if (count < 2) return fprintf(stderr, "usage: %s TOLERANCE [REPEATS]\n", arguments[0]), 2;
  double tolerance = atof(arguments[1]);
  int repeats = count > 2 ? atoi(arguments[2]) : 3;
  Outcome best = {.status = -1};
  for (int suppress = 0; suppress < 2; suppress++) {
    for (int k = 0; k < repeats; k++) {
      Outcome outcome = integrate(peer, tolerance, suppress);
      if (outcome.status >= 0 && (best.status < 0 || outcome.seconds < best.seconds)) best = outcome;
    }
  }
  printf("{\"ok\": %s, \"steps\": %ld, \"evaluations\": %ld, \"jacobian_evaluations\": %ld, \"seconds\": %.6g, "
         "\"final\": {",
         best.status >= 0 ? "true" : "false", best.steps, best.residuals, best.jacobian_residuals, best.seconds);
  for (int k = 0; peer->names[k]; k++) printf("%s\"%s\": %.17g", k ? ", " : "", peer->names[k], best.y[k]);
  printf("}}\n");
  return 0;
}
