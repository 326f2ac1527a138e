/* cvode: SUNDIALS CVODE, variable-order BDF, on the state-space form.
 *
 * CVODE sees the states only. Each right-hand side is one `complete`. It starts from the columns of the previous call, moved along
 * their derivatives. If that is too far, it proceeds in several parts. The Jacobian is the exact dense one of the rates. A pivot
 * changes the meaning of the components, so it restarts the history with the present step size. */
#include "base/copy.h"
#include "core/constants.h"
#include "integrate/integrator.h"
#include "integrate/vectors.h"

#include <cvode/cvode.h>
#include <sunlinsol/sunlinsol_dense.h>

#include <math.h>
#include <string.h>

typedef struct Cvode {
  const System *system;
  Heap *heap;
  IntegratorOptions options;
  double *completed; /* all columns at the last right-hand side */
  double completed_time;
  double *y, *previous; /* all columns at t and at the end of the step before */
  double t, t_previous, shortest_followed;
  double *trial, *predicted; /* [columns] */
  int32_t *link;             /* [columns] the link whose state the column is; -1: none */
  bool begun, stop;

  SUNContext context;
  void *memory;
  N_Vector states, output;
  SUNMatrix matrix;
  SUNLinearSolver solver;
  IntegratorStatistics before; /* counted before the last restart */
} Cvode;

/* ---- What CVODE calls ---- */

/* For columns that are found only from a prediction: their largest distance from it. */
static double cvode_departure(const Cvode *cvode) {
  const System *system = cvode->system;
  double most = 0;
  for (int32_t c = 0; c < system->columns && system->given; c++)
    if (!system->given[c])
      most = fmax(most, fabs(cvode->trial[c] - cvode->predicted[c]) / (fabs(cvode->trial[c]) + system->nominal[c]));
  return most;
}

static int32_t cvode_rate_of(const Cvode *cvode, int32_t c) {
  return cvode->system->successor ? cvode->system->successor[c] : -1;
}

/* Goes `part` of the way from the last completed point to t and these states, along a straight line. */
static EvalStatus cvode_approach(Cvode *cvode, double t, const double *states, double part) {
  const System *system = cvode->system;
  double next = part < 1 ? cvode->completed_time + part * (t - cvode->completed_time) : t,
         dt = next - cvode->completed_time;
  for (int32_t c = 0; c < system->columns; c++) {
    int32_t rate = cvode_rate_of(cvode, c);
    cvode->trial[c] = cvode->completed[c] + (rate >= 0 && dt != 0 ? dt * cvode->completed[rate] : 0);
  }
  for (int32_t l = 0; l < system->links; l++) {
    double from = cvode->completed[system->link_from[l]];
    cvode->trial[system->link_from[l]] = part < 1 ? from + part * (states[l] - from) : states[l];
  }
  memcpy(cvode->predicted, cvode->trial, (size_t)system->columns * sizeof(double));
  EvalStatus status = system->complete(system->context, next, cvode->trial);
  if (status != EVAL_OK) return status;
  if (next - cvode->t > cvode->shortest_followed && cvode_departure(cvode) > GOOD_PART) return EVAL_DOMAIN;
  swap_numbers(&cvode->completed, &cvode->trial);
  cvode->completed_time = next;
  return EVAL_OK;
}

/* Completes the columns at t with these states. The other columns follow from the last completed point, in parts if it is too
 * far. */
static EvalStatus cvode_complete(Cvode *cvode, double t, const double *states) {
  double part = 1;
  for (int k = 0; k < MANY && part > SLIVER; k++) {
    EvalStatus status = cvode_approach(cvode, t, states, part);
    if (status == EVAL_STOP) cvode->stop = true;
    if (status == EVAL_STOP || (status == EVAL_OK && part == 1)) return status;
    part = status == EVAL_OK ? fmin(1, 2 * part / (1 - part)) : part / 4;
  }
  return EVAL_DOMAIN;
}

static int cvode_rates(double t, N_Vector states, N_Vector rates, void *self) {
  Cvode *cvode = self;
  double *r = N_VGetArrayPointer(rates);
  r[0] = 0;
  EvalStatus status = cvode_complete(cvode, t, N_VGetArrayPointer(states));
  for (int32_t l = 0; l < cvode->system->links && status == EVAL_OK; l++)
    r[l] = cvode->completed[cvode->system->link_to[l]];
  return (int)status;
}

static bool cvode_is_complete(const Cvode *cvode, double t, const double *states) {
  if (t != cvode->completed_time) return false;
  for (int32_t l = 0; l < cvode->system->links; l++)
    if (cvode->completed[cvode->system->link_from[l]] != states[l]) return false;
  return true;
}

static int cvode_jacobian(double t, N_Vector states, N_Vector rates, SUNMatrix matrix, void *self, N_Vector a,
                          N_Vector b, N_Vector c) {
  Cvode *cvode = self;
  const System *system = cvode->system;
  const double *x = N_VGetArrayPointer(states);
  EvalStatus status = EVAL_OK;
  (void)rates, (void)a, (void)b, (void)c;
  if (!cvode_is_complete(cvode, t, x)) status = cvode_complete(cvode, t, x);
  if (status == EVAL_OK)
    status = system->rates_jacobian(system->context, t, cvode->completed, SUNDenseMatrix_Data(matrix));
  return (int)status;
}

static int cvode_weights(N_Vector states, N_Vector weight, void *self) {
  const Cvode *cvode = self;
  const System *system = cvode->system;
  const double *x = N_VGetArrayPointer(states);
  double *w = N_VGetArrayPointer(weight);
  w[0] = 1;
  for (int32_t l = 0; l < system->links; l++) {
    double size = system->size[system->link_from[l]];
    w[l] = 1 / (cvode->options.absolute_tolerance * size + cvode->options.relative_tolerance * fabs(x[l]));
  }
  return 0;
}

/* ---- Creation ---- */

static void cvode_release(void *object) {
  Cvode *cvode = object;
  if (cvode->memory) CVodeFree(&cvode->memory);
  if (cvode->solver) SUNLinSolFree(cvode->solver);
  if (cvode->matrix) SUNMatDestroy(cvode->matrix);
  if (cvode->states) N_VDestroy(cvode->states);
  if (cvode->output) N_VDestroy(cvode->output);
  if (cvode->context) SUNContext_Free(&cvode->context);
}

/* Makes the objects of SUNDIALS. If one is refused, heap_fail ends the call, and cvode_release frees the objects that were
 * made. CVODE accepts no empty vector: without states there is one component that stays zero. */
static void cvode_make_objects(Cvode *cvode) {
  sunindextype states = cvode->system->links > 0 ? cvode->system->links : 1;
  cvode->context = vector_context(cvode->heap);
  cvode->states = vector_new(cvode->heap, states, cvode->context);
  cvode->output = vector_new(cvode->heap, states, cvode->context);
  cvode->matrix = vector_matrix(cvode->heap, states, cvode->context);
  bool made = (cvode->solver = SUNLinSol_Dense(cvode->states, cvode->matrix, cvode->context)) != NULL;
  made = made && (cvode->memory = CVodeCreate(CV_BDF, cvode->context)) != NULL;
  if (!made) heap_fail(cvode->heap);
}

static void *cvode_create(Heap *heap, const System *system, const IntegratorOptions *options) {
  Cvode *cvode = heap_alloc(heap, sizeof *cvode);
  size_t columns = (size_t)system->columns;
  cvode->system = system;
  cvode->heap = heap;
  cvode->options = *options;
  heap_numbers(heap, columns, &cvode->completed, &cvode->trial, &cvode->predicted, &cvode->previous, &cvode->y);
  cvode->link = heap_array(heap, columns, sizeof *cvode->link);
  heap_defer(heap, cvode_release, cvode);
  cvode_make_objects(cvode);
  return cvode;
}

/* When a diode has just stopped conducting, Newton's method seems to converge with the matrix of an earlier step. That matrix
 * is large, so corrections are small, and states continue with their old rates. */
static void cvode_keep_no_matrix(void *memory) {
  CVodeSetLSetupFrequency(memory, 1);
  CVodeSetJacEvalFrequency(memory, 1);
}

/* First start: everything that CVODE keeps across a restart. */
static void cvode_begin(Cvode *cvode, double t) {
  void *memory = cvode->memory;
  bool made = CVodeSetErrHandlerFn(memory, vector_ignore, NULL) == CV_SUCCESS;
  made = made && CVodeInit(memory, cvode_rates, t, cvode->states) == CV_SUCCESS;
  if (!made) cvode->memory = NULL; /* CVodeFree would free memory that CVodeInit has already freed */
  made = made && CVodeWFtolerances(memory, cvode_weights) == CV_SUCCESS;
  made = made && CVodeSetUserData(memory, cvode) == CV_SUCCESS;
  made = made && CVodeSetLinearSolver(memory, cvode->solver, cvode->matrix) == CV_SUCCESS;
  made = made && CVodeSetMaxNumSteps(memory, -1) == CV_SUCCESS;
  if (made) cvode_keep_no_matrix(memory);
  if (made && cvode->system->rates_jacobian) made = CVodeSetJacFn(memory, cvode_jacobian) == CV_SUCCESS;
  if (!made) heap_fail(cvode->heap);
  if (cvode->options.max_order > 0) CVodeSetMaxOrd(memory, cvode->options.max_order < 5 ? cvode->options.max_order : 5);
  cvode->begun = true;
}

static void cvode_statistics(const void *self, IntegratorStatistics *out);

static void cvode_restart(Cvode *cvode, const double *y, double step) {
  const System *system = cvode->system;
  size_t size = (size_t)system->columns * sizeof(double);
  if (cvode->begun) cvode_statistics(cvode, &cvode->before);
  memcpy(cvode->y, y, size);
  memcpy(cvode->completed, y, size);
  cvode->completed_time = cvode->t_previous = cvode->t;
  double *x = N_VGetArrayPointer(cvode->states);
  for (int32_t c = 0; c < system->columns; c++) cvode->link[c] = -1;
  for (int32_t l = 0; l < system->links; l++) {
    x[l] = y[system->link_from[l]];
    cvode->link[system->link_from[l]] = l;
  }
  if (!cvode->begun) cvode_begin(cvode, cvode->t);
  else CVodeReInit(cvode->memory, cvode->t, cvode->states);
  CVodeSetInitStep(cvode->memory, step);
  CVodeSetMaxStep(cvode->memory, cvode->options.max_step);
}

static void cvode_start(void *self, double t, const double *y, double t_end) {
  Cvode *cvode = self;
  cvode->t = t;
  cvode->shortest_followed = VANISHED * (t_end - t);
  cvode->stop = false;
  cvode_restart(cvode, y, 0);
}

/* ---- Running ---- */

static StepStatus cvode_status(const Cvode *cvode, int flag) {
  if (flag >= 0) return STEP_OK;
  if (cvode->stop) return STEP_EVALUATION;
  switch (flag) {
  case CV_LSETUP_FAIL:
  case CV_LSOLVE_FAIL: return STEP_SINGULAR;
  case CV_RHSFUNC_FAIL:
  case CV_FIRST_RHSFUNC_ERR:
  case CV_REPTD_RHSFUNC_ERR:
  case CV_UNREC_RHSFUNC_ERR: return STEP_EVALUATION;
  default: return STEP_TOO_SMALL;
  }
}

static StepStatus cvode_step(void *self, double t_stop) {
  Cvode *cvode = self;
  double t = cvode->t;
  if (t_stop <= t) return STEP_OK;
  if (CVodeSetStopTime(cvode->memory, t_stop) != CV_SUCCESS) return STEP_TOO_SMALL;
  CVodeSetMinStep(cvode->memory,
                  integrator_least_step(t, t_stop)); /* otherwise it continues with smaller and smaller steps */
  int flag = CVode(cvode->memory, t_stop, cvode->states, &cvode->t, CV_ONE_STEP);
  if (flag < 0) {
    cvode->t = t;
    return cvode_status(cvode, flag);
  }
  if (cvode_complete(cvode, cvode->t, N_VGetArrayPointer(cvode->states)) != EVAL_OK) return STEP_EVALUATION;
  swap_numbers(&cvode->previous, &cvode->y);
  memcpy(cvode->y, cvode->completed, (size_t)cvode->system->columns * sizeof(double));
  cvode->t_previous = t;
  return STEP_OK;
}

static double cvode_time(const void *self) { return ((const Cvode *)self)->t; }

static const double *cvode_values(const void *self) { return ((const Cvode *)self)->y; }

/* A column inside the last step: Hermite's cubic if it has a rate, otherwise a line. */
static double cvode_between(const Cvode *cvode, int32_t c, double span, double part) {
  int32_t rate = cvode_rate_of(cvode, c);
  double begin = cvode->previous[c], end = cvode->y[c], line = begin + part * (end - begin);
  if (part == 1) return end;
  if (rate < 0) return line;
  double first = span * cvode->previous[rate] - (end - begin), last = span * cvode->y[rate] - (end - begin);
  return line + part * (1 - part) * ((1 - part) * first - part * last);
}

static void cvode_interpolate(void *self, double t, const uint32_t *columns, uint32_t count, double *y) {
  Cvode *cvode = self;
  double span = cvode->t - cvode->t_previous, part = span > 0 ? (t - cvode->t_previous) / span : 1;
  bool has_states = part != 1 && CVodeGetDky(cvode->memory, t, 0, cvode->output) == CV_SUCCESS;
  const double *x = N_VGetArrayPointer(cvode->output);
  for (uint32_t k = 0; k < count; k++) {
    int32_t c = (int32_t)(columns ? columns[k] : k), link = cvode->link[c];
    y[c] = has_states && link >= 0 ? x[link] : cvode_between(cvode, c, span, part);
  }
}

/* Columns that are not states follow cubic polynomials. */
static StepShape cvode_shape(void *self) {
  static const int cubic = 3;
  const Cvode *cvode = self;
  int order = 0;
  if (cvode->t == cvode->t_previous) return (StepShape){0};
  CVodeGetLastOrder(cvode->memory, &order);
  return (StepShape){order > cubic ? order : cubic, 0.5, 0};
}

static void cvode_switch_states(void *self, const double *y) {
  Cvode *cvode = self;
  cvode_restart(cvode, y, 0);
}

static void cvode_statistics(const void *self, IntegratorStatistics *out) {
  const Cvode *cvode = self;
  long steps = 0, errors = 0, convergence = 0, setups = 0;
  *out = cvode->before;
  if (!cvode->begun) return;
  CVodeGetNumSteps(cvode->memory, &steps);
  CVodeGetNumErrTestFails(cvode->memory, &errors);
  CVodeGetNumNonlinSolvConvFails(cvode->memory, &convergence);
  CVodeGetNumLinSolvSetups(cvode->memory, &setups);
  if (steps > 0) {
    CVodeGetLastOrder(cvode->memory, &out->order);
    CVodeGetLastStep(cvode->memory, &out->step);
  }
  out->steps += (uint64_t)steps;
  out->rejected_error += (uint64_t)errors;
  out->rejected_convergence += (uint64_t)convergence;
  out->factorizations += (uint64_t)setups;
}

const Integrator integrator_cvode = {
    .name = "cvode",
    .description = "CVODE of SUNDIALS, BDF of orders 1 to 5, on the state-space form",
    .explicit_form = true,
    .look_every = 128,
    .look_every_rough = 8,
    .create = cvode_create,
    .start = cvode_start,
    .suggest = integrator_suggest_nothing,
    .repeat = integrator_repeat_nothing,
    .step = cvode_step,
    .time = cvode_time,
    .values = cvode_values,
    .segment = {.interpolate = cvode_interpolate, .shape = cvode_shape, .is_explicit = true},
    .is_coarse = integrator_is_never_coarse,
    .stages = integrator_has_no_stages,
    .switch_states = cvode_switch_states,
    .statistics = cvode_statistics,
};
