/* ida: SUNDIALS IDA, variable-order BDF, on all columns at once.
 *
 * The vector holds every column; the residual is G and, for each link, y'[from] - y[to]. IDA keeps the history of
 * all components whether they are states or not, so a pivot changes the link rows and the run goes on at the same
 * order and step.
 *
 * IDA has no call that asks for a new Jacobian, and after a pivot the old factors belong to other link rows. So the
 * linear solver is our own SUNLinearSolver (the documented interface for user-supplied modules): after a switch it
 * forms the matrix anew, at its next solve, from the Jacobian of G at hand with the coefficient cj of IDA's last
 * set-up, which is the one that IDA's scaling of the solution goes by. When the iteration has become slow it also
 * computes that Jacobian again, at the point of the last residual.
 */
#include "base/linear.h"
#include "solve/elimination.h"
#include "solve/integrator.h"

#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>

#include <math.h>
#include <string.h>

/* Measured on the pendulum of Mattsson and Soderlind, section 5, at 1e-9. With IDA's default of 0.33 the error
 * that the Newton iteration leaves behind is what the error test sees: the order stays low and a run takes twice
 * as many steps. The columns that are no states follow from the states and take little part in the norm. A
 * Jacobian that is old when the iteration is slow costs more in failures than a new one. */
static const double convergence_coefficient = 0.005;
static const double algebraic_share = 0.01, rate_share = 1e-9, higher_index_share = 1e-7;
static const double smallest_step = 1e-15; /* over t */
enum { RENEW_AGE = 10, SLOW_ITERATIONS = 3 };

/* Where factors are cheap, new ones come with every change of cj and the Jacobian is renewed every other step: the first Newton
 * iteration then is the last one, which halves the work at the same steps and error (paraboloid of Kunkel and
 * Mehrmann at 1e-9: 1.06 instead of 2.6 residuals a step). IDA itself would keep the rate of convergence that it saw when the Jacobian
 * was new, and accept too early with an old one. */
enum { SMALL_ROWS = 200, SMALL_RENEW_AGE = 1 };

/* Columns that are no states start with a guess of their rate, so the first error tests may fail often. */
enum { ERROR_TEST_FAILURES = 40 };

typedef struct Ida {
  const System *system;
  Heap *heap;
  IntegratorOptions options;
  Elimination *elimination;
  Linear *linear;
  double *jacobian, *values; /* of G, of the matrix with the states eliminated */
  double *work;              /* [columns] */
  double *rows;              /* [rows] */
  double cj;                 /* of the last set-up */
  double *point, point_time; /* of the last residual, where a new Jacobian is computed */
  int age;                   /* steps since the last set-up */
  long iterations;           /* Newton iterations until the last step */
  bool stale;                /* the links have changed since the last set-up */
  bool renew;                /* the Jacobian is to be computed again at the next solve */
  bool stop;                 /* the system answered EVAL_STOP */
  double *share;             /* [columns] part in IDA's norm */

  SUNContext context;
  void *memory;
  N_Vector y, rate, output;
  SUNMatrix matrix;
  SUNLinearSolver solver;
  double t;
  bool begun;
  uint64_t factorizations;
  IntegratorStatistics before; /* counted in runs before the last start */
} Ida;

/* ---- What IDA calls ---- */

static int ida_answer(Ida *ida, EvalStatus status) {
  if (status == EVAL_STOP) ida->stop = true;
  return (int)status;
}

static int ida_residual(double t, N_Vector y, N_Vector rate, N_Vector residual, void *self) {
  Ida *ida = self;
  const System *system = ida->system;
  const double *v = N_VGetArrayPointer(y), *d = N_VGetArrayPointer(rate);
  double *r = N_VGetArrayPointer(residual);
  memcpy(ida->point, v, (size_t)system->columns * sizeof(double));
  ida->point_time = t;
  EvalStatus status = system->residual(system->context, t, v, r);
  for (int32_t l = 0; l < system->links; l++)
    r[system->rows + l] = d[ida->elimination->from[l]] - v[ida->elimination->to[l]];
  return ida_answer(ida, status);
}

static int ida_jacobian(double t, double cj, N_Vector y, N_Vector rate, N_Vector residual, SUNMatrix matrix,
                        void *self, N_Vector a, N_Vector b, N_Vector c) {
  Ida *ida = self;
  (void)rate, (void)residual, (void)matrix, (void)a, (void)b, (void)c;
  ida->cj = cj;
  return ida_answer(ida,
                    ida->system->jacobian(ida->system->context, t, N_VGetArrayPointer(y), ida->jacobian));
}

static int ida_weights(N_Vector y, N_Vector weight, void *self) {
  const Ida *ida = self;
  const System *system = ida->system;
  const double *v = N_VGetArrayPointer(y);
  double *w = N_VGetArrayPointer(weight);
  for (int32_t c = 0; c < system->columns; c++) {
    double tolerance = ida->options.absolute_tolerance * system->nominal[c];
    w[c] = ida->share[c] / (tolerance + ida->options.relative_tolerance * fabs(v[c]));
  }
  return 0;
}

static SUNLinearSolver_Type ida_solver_type(SUNLinearSolver solver) {
  (void)solver;
  return SUNLINEARSOLVER_DIRECT;
}

static SUNLinearSolver_ID ida_solver_id(SUNLinearSolver solver) {
  (void)solver;
  return SUNLINEARSOLVER_CUSTOM;
}

static int ida_setup(SUNLinearSolver solver, SUNMatrix matrix) {
  Ida *ida = solver->content;
  (void)matrix;
  elimination_real(ida->elimination, ida->jacobian, 1 / ida->cj, ida->values);
  ida->factorizations++;
  ida->stale = ida->renew = false;
  ida->age = 0;
  return linear_factor(ida->linear, ida->values) ? SUNLS_SUCCESS : SUNLS_LUFACT_FAIL;
}

/* With the links taken out: d_from = (d_to + b_link) / cj, and the rows of G for the rest. */
static int ida_solve(SUNLinearSolver solver, SUNMatrix matrix, N_Vector x, N_Vector b, double tolerance) {
  Ida *ida = solver->content;
  const System *system = ida->system;
  const Elimination *elimination = ida->elimination;
  const double *right = N_VGetArrayPointer(b), *link = right + system->rows;
  double *d = N_VGetArrayPointer(x), factor = 1 / ida->cj;
  (void)tolerance;
  if (ida->renew && system->jacobian(system->context, ida->point_time, ida->point, ida->jacobian) != EVAL_OK)
    return SUNLS_PACKAGE_FAIL_REC;
  if ((ida->stale || ida->renew) && ida_setup(solver, matrix) != SUNLS_SUCCESS) return SUNLS_LUFACT_FAIL;
  memset(ida->work, 0, (size_t)system->columns * sizeof(double));
  for (int32_t l = 0; l < system->links; l++)
    ida->work[elimination->from[l]] = (ida->work[elimination->to[l]] + link[l]) * factor;
  memcpy(ida->rows, right, (size_t)system->rows * sizeof(double));
  elimination_subtract(elimination, ida->jacobian, ida->work, ida->rows);
  linear_solve(ida->linear, ida->rows);
  for (int32_t l = 0; l < system->links; l++) ida->work[l] = link[l];
  for (int32_t u = 0; u < system->rows; u++) d[elimination->unknown[u]] = ida->rows[u];
  for (int32_t l = 0; l < system->links; l++)
    d[elimination->from[l]] = (d[elimination->to[l]] + ida->work[l]) * factor;
  return SUNLS_SUCCESS;
}

static SUNMatrix_ID ida_matrix_id(SUNMatrix matrix) {
  (void)matrix;
  return SUNMATRIX_CUSTOM;
}

static int ida_matrix_zero(SUNMatrix matrix) {
  (void)matrix;
  return SUNMAT_SUCCESS;
}

static void ida_ignore(int code, const char *module, const char *function, char *message, void *self) {
  (void)code, (void)module, (void)function, (void)message, (void)self;
}

/* ---- Creation ---- */

static void ida_release(void *object) {
  Ida *ida = object;
  if (ida->memory) IDAFree(&ida->memory);
  if (ida->solver) SUNLinSolFreeEmpty(ida->solver);
  if (ida->matrix) SUNMatFreeEmpty(ida->matrix);
  if (ida->y) N_VDestroy(ida->y);
  if (ida->rate) N_VDestroy(ida->rate);
  if (ida->output) N_VDestroy(ida->output);
  if (ida->context) SUNContext_Free(&ida->context);
}

/* The foreign objects; any refused one ends in heap_fail, and ida_release frees those that were made. */
static void ida_make_objects(Ida *ida) {
  sunindextype columns = ida->system->columns;
  bool made = SUNContext_Create(NULL, &ida->context) == 0;
  made = made && (ida->y = N_VNew_Serial(columns, ida->context)) != NULL;
  made = made && (ida->rate = N_VNew_Serial(columns, ida->context)) != NULL;
  made = made && (ida->output = N_VNew_Serial(columns, ida->context)) != NULL;
  made = made && (ida->matrix = SUNMatNewEmpty(ida->context)) != NULL;
  made = made && (ida->solver = SUNLinSolNewEmpty(ida->context)) != NULL;
  made = made && (ida->memory = IDACreate(ida->context)) != NULL;
  if (!made) heap_fail(ida->heap);
  ida->matrix->content = ida;
  ida->matrix->ops->getid = ida_matrix_id;
  ida->matrix->ops->zero = ida_matrix_zero;
  ida->solver->content = ida;
  ida->solver->ops->gettype = ida_solver_type;
  ida->solver->ops->getid = ida_solver_id;
  ida->solver->ops->setup = ida_setup;
  ida->solver->ops->solve = ida_solve;
}

static void *ida_create(Heap *heap, const System *system, const IntegratorOptions *options) {
  Ida *ida = heap_alloc(heap, sizeof *ida);
  int32_t nonzeros = system->column_start[system->columns];
  ida->system = system;
  ida->heap = heap;
  ida->options = *options;
  ida->elimination = elimination_new(heap, system);
  ida->linear = linear_new(heap, system->rows, nonzeros, false);
  ida->jacobian = heap_array(heap, (size_t)nonzeros, sizeof(double));
  ida->values = heap_array(heap, (size_t)nonzeros, sizeof(double));
  ida->work = heap_array(heap, (size_t)system->columns, sizeof(double));
  ida->point = heap_array(heap, (size_t)system->columns, sizeof(double));
  ida->rows = heap_array(heap, (size_t)system->rows, sizeof(double));
  ida->share = heap_array(heap, (size_t)system->columns, sizeof(double));
  heap_defer(heap, ida_release, ida);
  ida_make_objects(ida);
  return ida;
}

static void ida_choose(Ida *ida) {
  const System *system = ida->system;
  elimination_choose(ida->elimination);
  linear_set_pattern(ida->linear, ida->elimination->start, ida->elimination->row);
  /* IDA's norm is the root mean square over all columns; this makes it that over the states. */
  double count = system->links > 0 ? system->links : system->columns;
  for (int32_t c = 0; c < system->columns; c++) ida->share[c] = algebraic_share;
  for (int32_t l = 0; l < system->links; l++) ida->share[system->link_to[l]] = rate_share;
  for (int32_t l = 0; l < system->links; l++)
    ida->share[system->link_from[l]] = sqrt(system->columns / count);
  for (int32_t c = 0; c < system->columns && system->column_index; c++)
    if (system->column_index[c] > 1) ida->share[c] = fmin(ida->share[c], higher_index_share);
}

/* Rates at the start: those that are columns; of the others IDA only needs a guess. */
static void ida_set_rates(Ida *ida, const double *y) {
  const System *system = ida->system;
  double *rate = N_VGetArrayPointer(ida->rate);
  for (int32_t c = 0; c < system->columns; c++) {
    int32_t successor = system->successor ? system->successor[c] : -1;
    rate[c] = successor >= 0 ? y[successor] : 0;
  }
  for (int32_t l = 0; l < system->links; l++) rate[system->link_from[l]] = y[system->link_to[l]];
}

/* First start: everything that IDA keeps over a restart. */
static void ida_begin(Ida *ida, double t) {
  void *memory = ida->memory;
  bool made = IDASetErrHandlerFn(memory, ida_ignore, NULL) == IDA_SUCCESS;
  made = made && IDAInit(memory, ida_residual, t, ida->y, ida->rate) == IDA_SUCCESS;
  made = made && IDAWFtolerances(memory, ida_weights) == IDA_SUCCESS;
  made = made && IDASetUserData(memory, ida) == IDA_SUCCESS;
  made = made && IDASetLinearSolver(memory, ida->solver, ida->matrix) == IDA_SUCCESS;
  made = made && IDASetJacFn(memory, ida_jacobian) == IDA_SUCCESS;
  made = made && IDASetMaxNumSteps(memory, -1) == IDA_SUCCESS;
  if (!made) heap_fail(ida->heap);
  if (ida->options.max_step > 0) IDASetMaxStep(memory, ida->options.max_step);
  if (ida->options.max_order > 0)
    IDASetMaxOrd(memory, ida->options.max_order < 5 ? ida->options.max_order : 5);
  IDASetNonlinConvCoef(memory, convergence_coefficient);
  IDASetMaxErrTestFails(memory, ERROR_TEST_FAILURES);
  if (ida->system->rows <= SMALL_ROWS) IDASetDeltaCjLSetup(memory, 0);
  ida->begun = true;
}

static void ida_statistics(const void *self, IntegratorStatistics *out);

static void ida_start(void *self, double t, const double *y, double t_end) {
  Ida *ida = self;
  (void)t_end;
  if (ida->begun) ida_statistics(ida, &ida->before);
  memcpy(N_VGetArrayPointer(ida->y), y, (size_t)ida->system->columns * sizeof(double));
  ida_choose(ida);
  ida_set_rates(ida, y);
  ida->t = t;
  ida->stop = ida->stale = ida->renew = false;
  ida->iterations = 0;
  if (!ida->begun) ida_begin(ida, t);
  else IDAReInit(ida->memory, t, ida->y, ida->rate);
  IDASetInitStep(ida->memory, ida->options.initial_step);
}

/* ---- Running ---- */

static StepStatus ida_status(const Ida *ida, int flag) {
  if (flag >= 0) return STEP_OK;
  if (ida->stop) return STEP_EVALUATION;
  switch (flag) {
  case IDA_LSETUP_FAIL:
  case IDA_LSOLVE_FAIL: return STEP_SINGULAR;
  case IDA_RES_FAIL:
  case IDA_REP_RES_ERR:
  case IDA_FIRST_RES_FAIL: return STEP_EVALUATION;
  default: return STEP_TOO_SMALL;
  }
}

static void ida_watch_iteration(Ida *ida) {
  long iterations = ida->iterations;
  IDAGetNumNonlinSolvIters(ida->memory, &ida->iterations);
  ida->age++;
  if (ida->system->rows <= SMALL_ROWS) ida->renew = ida->age > SMALL_RENEW_AGE;
  else ida->renew = ida->age > RENEW_AGE && ida->iterations - iterations >= SLOW_ITERATIONS;
}

static StepStatus ida_step(void *self, double t_stop) {
  Ida *ida = self;
  double t = ida->t;
  if (t_stop <= t) return STEP_OK;
  if (IDASetStopTime(ida->memory, t_stop) != IDA_SUCCESS) return STEP_TOO_SMALL;
  IDASetMinStep(ida->memory, smallest_step * fabs(t)); /* or it creeps on, by ever smaller steps */
  int flag = IDASolve(ida->memory, t_stop, &ida->t, ida->y, ida->rate, IDA_ONE_STEP);
  if (flag < 0) ida->t = t;
  ida_watch_iteration(ida);
  return ida_status(ida, flag);
}

static double ida_time(const void *self) { return ((const Ida *)self)->t; }

static const double *ida_values(const void *self) { return N_VGetArrayPointer(((const Ida *)self)->y); }

static void ida_interpolate(void *self, double t, double *y) {
  Ida *ida = self;
  const double *from = ida_values(ida);
  if (t != ida->t && IDAGetDky(ida->memory, t, 0, ida->output) == IDA_SUCCESS)
    from = N_VGetArrayPointer(ida->output);
  memcpy(y, from, (size_t)ida->system->columns * sizeof(double));
}

static void ida_switch_states(void *self, const double *y) {
  Ida *ida = self;
  memcpy(N_VGetArrayPointer(ida->y), y, (size_t)ida->system->columns * sizeof(double));
  ida_choose(ida);
  ida->stale = true;
}

static void ida_statistics(const void *self, IntegratorStatistics *out) {
  const Ida *ida = self;
  long steps = 0, errors = 0, convergence = 0, iterations = 0;
  *out = ida->before;
  if (!ida->begun) return;
  IDAGetNumSteps(ida->memory, &steps);
  IDAGetNumErrTestFails(ida->memory, &errors);
  IDAGetNumNonlinSolvConvFails(ida->memory, &convergence);
  IDAGetNumNonlinSolvIters(ida->memory, &iterations);
  IDAGetLastOrder(ida->memory, &out->order);
  IDAGetLastStep(ida->memory, &out->step);
  out->steps += (uint64_t)steps;
  out->rejected_error += (uint64_t)errors;
  out->rejected_convergence += (uint64_t)convergence;
  out->newton_iterations += (uint64_t)iterations;
  out->factorizations = ida->factorizations;
}

const Integrator integrator_ida = {
    .name = "ida",
    .description = "IDA of SUNDIALS, BDF of orders 1 to 5, on the whole system",
    .explicit_form = false,
    .create = ida_create,
    .start = ida_start,
    .step = ida_step,
    .time = ida_time,
    .values = ida_values,
    .interpolate = ida_interpolate,
    .switch_states = ida_switch_states,
    .statistics = ida_statistics,
};
