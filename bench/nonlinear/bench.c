/* bench: random systems of equations with known solutions, from poor guesses.
 *
 * A system has 1 to 8 unknowns z = x / scale with scales from 1e-8 to 1e8. An equation is a sum of terms c h(z_j) and c z_j
 * z_k, times its own scale, minus its value at the solution; h is one of the functions below, some of which are not defined
 * everywhere.
 * The guess is off by up to `far` in every z. All solvers have the exact Jacobian and the scales. A point is a solution if each
 * equation is at most 1e-6 of its terms, in long double. A point that a solver reports as a solution is wrong if an equation is
 * above 1e-3 of its terms. */
#include "nonlinear/nonlinear.h"

#include <cminpack.h>
#include <kinsol/kinsol.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <time.h>

enum { MOST = 8, TERMS = 4 };

typedef enum Kind { LINEAR, SQUARE, CUBE, EXP, LOG, ROOT, TANH, SINE, INVERSE, PRODUCT, KINDS } Kind;

typedef struct Term {
  Kind kind;
  int j, k;
  double factor;
} Term;

typedef struct System {
  int n;
  Term term[MOST][TERMS];
  long double constant[MOST];
  double scale[MOST], row_scale[MOST], solution[MOST], guess[MOST]; /* solution and guess are values of z */
} System;

/* ---- random systems ---- */

static unsigned long long state;

static double uniform(double low, double high) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return low + (high - low) * (double)(state >> 11) * 0x1p-53;
}

static long double value(const Term *term, const long double *z) {
  long double u = z[term->j];
  switch (term->kind) {
  case LINEAR: return term->factor * u;
  case SQUARE: return term->factor * u * u;
  case CUBE: return term->factor * u * u * u;
  case EXP: return term->factor * expl(u);
  case LOG: return term->factor * logl(u);
  case ROOT: return term->factor * sqrtl(u);
  case TANH: return term->factor * tanhl(u);
  case SINE: return term->factor * sinl(u);
  case INVERSE: return term->factor / u;
  default: return term->factor * u * z[term->k];
  }
}

/* Derivative with respect to z[j]; for a product, by the first of its factors. */
static double slope(const Term *term, const double *z) {
  double u = z[term->j];
  switch (term->kind) {
  case LINEAR: return term->factor;
  case SQUARE: return term->factor * 2 * u;
  case CUBE: return term->factor * 3 * u * u;
  case EXP: return term->factor * exp(u);
  case LOG: return term->factor / u;
  case ROOT: return term->factor / (2 * sqrt(u));
  case TANH: return term->factor / (cosh(u) * cosh(u));
  case SINE: return term->factor * cos(u);
  case INVERSE: return -term->factor / (u * u);
  default: return term->factor * z[term->k];
  }
}

/* Equation i and the sum of the sizes of its terms. */
static long double equation(const System *system, int i, const long double *z, long double *size) {
  long double sum = -system->constant[i];
  *size = fabsl(system->constant[i]);
  for (int t = 0; t < TERMS; t++) {
    long double part = value(&system->term[i][t], z);
    sum += part;
    *size += fabsl(part);
  }
  return sum;
}

static System make_system(double far) {
  System system = {.n = 1 + (int)uniform(0, MOST)};
  long double z[MOST] = {0}, size;
  for (int j = 0; j < system.n; j++) {
    z[j] = system.solution[j] = uniform(0.2, 3);
    system.guess[j] = system.solution[j] + uniform(-far, far);
    system.scale[j] = pow(10, uniform(-8, 8));
    system.row_scale[j] = pow(10, uniform(-8, 8));
  }
  for (int i = 0; i < system.n; i++)
    for (int t = 0; t < TERMS; t++)
      system.term[i][t] = (Term){t == 0 ? (Kind)(uniform(0, 1) < 0.5 ? LINEAR : CUBE) : (Kind)uniform(0, KINDS),
                                 t == 0 ? i : (int)uniform(0, system.n), (int)uniform(0, system.n),
                                 (uniform(0, 1) < 0.5 ? -1 : 1) * uniform(0.2, t == 0 ? 3 : 1.5)};
  for (int i = 0; i < system.n; i++) system.constant[i] = equation(&system, i, z, &size);
  return system;
}

/* ---- values ---- */

static bool residuals(const System *system, const double *x, double *r) {
  long double z[MOST], size;
  bool is_finite = true;
  for (int j = 0; j < system->n; j++) z[j] = x[j] / system->scale[j];
  for (int i = 0; i < system->n; i++) {
    r[i] = (double)(system->row_scale[i] * equation(system, i, z, &size));
    is_finite &= isfinite(r[i]);
  }
  return is_finite;
}

/* By columns. */
static bool entries(const System *system, const double *x, double *matrix) {
  double z[MOST];
  bool is_finite = true;
  int n = system->n;
  for (int j = 0; j < n; j++) z[j] = x[j] / system->scale[j];
  memset(matrix, 0, (size_t)(n * n) * sizeof *matrix);
  for (int i = 0; i < n; i++)
    for (int t = 0; t < TERMS; t++) {
      const Term *term = &system->term[i][t];
      matrix[i + n * term->j] += system->row_scale[i] * slope(term, z) / system->scale[term->j];
      if (term->kind == PRODUCT)
        matrix[i + n * term->k] += system->row_scale[i] * term->factor * z[term->j] / system->scale[term->k];
    }
  for (int e = 0; e < n * n; e++) is_finite &= isfinite(matrix[e]);
  return is_finite;
}

/* The largest equation over its terms. */
static double excess(const System *system, const double *x) {
  long double z[MOST], size, largest = 0;
  for (int j = 0; j < system->n; j++) z[j] = x[j] / system->scale[j];
  for (int i = 0; i < system->n; i++) {
    long double left = fabsl(equation(system, i, z, &size));
    if (!(left <= largest * size)) largest = left / size;
  }
  return isnan((double)largest) ? HUGE_VAL : (double)largest;
}

/* ---- solvers: does a solver report x as a solution? ---- */

static uint64_t evaluations;

static bool residual_here(void *context, const double *x, double *r) {
  evaluations++;
  return residuals(context, x, r);
}

static bool entries_here(void *context, const double *x, double *matrix) { return entries(context, x, matrix); }

static bool solve_here(System *system, double *x, bool by_continuation) {
  Heap *heap = heap_new(NULL);
  int32_t start[MOST + 1], row[MOST * MOST], n = system->n;
  for (int32_t e = 0; e < n * n; e++) row[e] = e % n;
  for (int32_t j = 0; j <= n; j++) start[j] = j * n;
  NonlinearProblem problem = {.context = system,
                              .rows = n,
                              .columns = n,
                              .column_start = start,
                              .row_index = row,
                              .nominal = system->scale,
                              .residual = residual_here,
                              .jacobian = entries_here,
                              .by_corrections = true};
  Nonlinear *nonlinear = nonlinear_new(heap, &problem);
  double guess[MOST];
  memcpy(guess, x, (size_t)n * sizeof *x);
  bool solved = nonlinear_solve(nonlinear, x).solved;
  if (!solved && by_continuation) {
    memcpy(x, guess, (size_t)n * sizeof *x);
    solved = nonlinear_continue(nonlinear, x).solved;
  }
  heap_destroy(heap);
  return solved;
}

static bool solve_plain(System *system, double *x) { return solve_here(system, x, false); }
static bool solve_ladder(System *system, double *x) { return solve_here(system, x, true); }

static int minpack_function(void *context, int n, const double *x, double *r, double *matrix, int stride, int flag) {
  (void)stride;
  (void)n;
  evaluations += flag == 1;
  if (flag == 1) return residuals(context, x, r) ? 0 : -1;
  return entries(context, x, matrix) ? 0 : -1;
}

/* The scales are put into the variables and functions, because this solver has none. */
static bool solve_minpack(System *system, double *x) {
  int n = system->n, functions = 0, jacobians = 0;
  double r[MOST], matrix[MOST * MOST], diagonal[MOST], q[MOST], upper[MOST * (MOST + 1) / 2], work[4][MOST];
  for (int j = 0; j < n; j++) diagonal[j] = 1 / system->scale[j];
  int info = hybrj(minpack_function, system, n, x, r, matrix, n, 1e-12, 100 * (n + 1), diagonal, 2, 100, 0, &functions,
                   &jacobians, upper, n * (n + 1) / 2, q, work[0], work[1], work[2], work[3]);
  return info == 1;
}

static int kinsol_function(N_Vector x, N_Vector r, void *context) {
  evaluations++;
  return residuals(context, N_VGetArrayPointer(x), N_VGetArrayPointer(r)) ? 0 : 1;
}

static int kinsol_jacobian(N_Vector x, N_Vector r, SUNMatrix matrix, void *context, N_Vector a, N_Vector b) {
  (void)r, (void)a, (void)b;
  return entries(context, N_VGetArrayPointer(x), SM_DATA_D(matrix)) ? 0 : 1;
}

static void kinsol_silent(int code, const char *module, const char *function, char *message, void *data) {
  (void)code, (void)module, (void)function, (void)message, (void)data;
}

static bool solve_kinsol(System *system, double *x) {
  SUNContext context;
  SUNContext_Create(NULL, &context);
  int n = system->n;
  void *memory = KINCreate(context);
  N_Vector at = N_VNew_Serial(n, context), scale = N_VNew_Serial(n, context), row_scale = N_VNew_Serial(n, context);
  SUNMatrix matrix = SUNDenseMatrix(n, n, context);
  SUNLinearSolver linear = SUNLinSol_Dense(at, matrix, context);
  for (int j = 0; j < n; j++) {
    NV_Ith_S(at, j) = x[j];
    NV_Ith_S(scale, j) = 1 / system->scale[j];
    NV_Ith_S(row_scale, j) = 1 / system->row_scale[j];
  }
  KINSetErrHandlerFn(memory, kinsol_silent, NULL);
  KINInit(memory, kinsol_function, at);
  KINSetUserData(memory, system);
  KINSetLinearSolver(memory, linear, matrix);
  KINSetJacFn(memory, kinsol_jacobian);
  KINSetNumMaxIters(memory, 500);
  KINSetMaxSetupCalls(memory, 1);
  KINSetFuncNormTol(memory, 1e-11);
  int flag = KINSol(memory, at, KIN_LINESEARCH, scale, row_scale);
  memcpy(x, N_VGetArrayPointer(at), (size_t)n * sizeof *x);
  N_VDestroy(at), N_VDestroy(scale), N_VDestroy(row_scale);
  SUNMatDestroy(matrix);
  SUNLinSolFree(linear);
  KINFree(&memory);
  SUNContext_Free(&context);
  return flag == KIN_SUCCESS || flag == KIN_INITIAL_GUESS_OK;
}

typedef struct Solver {
  const char *name;
  bool (*solve)(System *system, double *x);
} Solver;

int main(int count, char **words) {
  static const Solver solvers[] = {{"src/nonlinear", solve_plain},
                                   {"  and continuation", solve_ladder},
                                   {"KINSOL, line search", solve_kinsol},
                                   {"MINPACK hybrj", solve_minpack}};
  static const double fars[] = {0.5, 2, 10};
  enum { SOLVERS = sizeof solvers / sizeof *solvers, FARS = sizeof fars / sizeof *fars };
  int systems = count > 1 ? atoi(words[1]) : 10000, solved[SOLVERS][FARS] = {0}, wrong[SOLVERS] = {0}, ours = 0;
  uint64_t spent[SOLVERS] = {0};
  double seconds[SOLVERS] = {0};
  state = count > 2 ? (unsigned long long)atoll(words[2]) : 1;
  state = state * 0x9E3779B97F4A7C15u + 1;
  for (int s = 0; s < systems; s++) {
    int f = s % FARS;
    System system = make_system(fars[f]);
    for (int k = 0; k < SOLVERS; k++) {
      double x[MOST];
      struct timespec before, after;
      for (int j = 0; j < system.n; j++) x[j] = system.guess[j] * system.scale[j];
      evaluations = 0;
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
      bool claims = solvers[k].solve(&system, x);
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
      seconds[k] += (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
      spent[k] += evaluations;
      solved[k][f] += claims && excess(&system, x) <= 1e-6;
      wrong[k] += claims && !(excess(&system, x) <= 1e-3);
    }
  }
  printf("%d systems of 1 to %d unknowns, scales 1e-8 to 1e8; solved of those whose guess is off by up to\n", systems,
         MOST);
  printf("%-22s", "");
  for (int f = 0; f < FARS; f++) printf(" %7.1f", fars[f]);
  printf("  %8s %6s %12s %10s\n", "all", "wrong", "evaluations", "seconds");
  for (int k = 0; k < SOLVERS; k++) {
    int all = 0;
    printf("%-22s", solvers[k].name);
    for (int f = 0; f < FARS; f++) {
      printf(" %6.1f%%", 100.0 * FARS * solved[k][f] / systems);
      all += solved[k][f];
    }
    printf("  %7.1f%% %6d %12.1f %10.2f\n", 100.0 * all / systems, wrong[k], (double)spent[k] / systems, seconds[k]);
    ours += k < 2 ? wrong[k] : 0;
  }
  return ours > 0;
}
