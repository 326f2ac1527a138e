/* ida: SUNDIALS IDA, variable-order BDF, on all columns at once.
 *
 * The vector holds every column; the residual is G and, for each link, y'[from] - y[to]. IDA keeps the history of all components
 * whether they are states or not, so a pivot only changes the link rows and the run continues with the same order and step.
 *
 * The corrector is our own SUNNonlinearSolver (the documented interface for user-supplied modules), for two reasons. IDA has no
 * call to request a new Jacobian, which a pivot needs. And factors can be kept much longer than IDA's Newton iteration keeps them
 * if secant updates account for the changes (secant.h). */
#include "base/linear.h"
#include "core/constants.h"
#include "core/corrector.h"
#include "core/secant.h"
#include "integrate/integrator.h"
#include "integrate/vectors.h"
#include "segment/elimination.h"

#include <ida/ida.h>
#include <sundials/sundials_nonlinearsolver.h>

#include <math.h>
#include <string.h>

/* The corrector, measured on the paraboloid of Kunkel and Mehrmann at 1e-9: a step takes fewer than 2 residuals, and a
 * factorization is used for ten steps.
 *
 * `convergence` is the size of a correction divided by that of the one before it. Above SLOW_IDA new factors are made for the
 * next step, above SAFETY for this one. `convergence` is unknown before the second correction of a step. Until then the value of
 * the last step with two corrections is used, multiplied by GROW_LEAST for each step since. It is at least SURE, because a value
 * that is small by chance would be used indefinitely, and at least a half after a change of step or order.
 *
 * Columns that are not states have a larger weight here than in the error test, because a pivot may make them states, with the
 * history that the corrector left. */
typedef struct Ida {
  const System *system;
  Heap *heap;
  IntegratorOptions options;
  Elimination *elimination;
  Linear *linear;
  double *jacobian, *values; /* entries of the Jacobian of G, and of the matrix with the states eliminated */
  double *work;              /* [columns] */
  double *rows;              /* [rows] */
  Secant secant;
  double *correction, *next;       /* [columns] */
  double *scale;                   /* [columns] 1 / tolerance */
  double *norm_weight, *corrected; /* [columns] weight in the norm of the error test, and of the corrector */
  double convergence;              /* as last measured */
  double
      expected; /* the convergence expected for a first correction; later corrections are better, because the first one improves the factors */
  double cj;    /* leading coefficient of the last step */
  double *point, point_time; /* point of the last residual, where a new Jacobian is computed */
  long iterations;           /* iterations of the last step */
  bool stale;    /* new factors are needed: there are none, they converge slowly, or the links have changed */
  int hold;      /* steps until the step size may grow */
  long failures; /* failed error tests so far */
  bool singular; /* the last factorization failed */
  bool stop;     /* the system returned EVAL_STOP */

  SUNContext context;
  void *memory;
  N_Vector y, rate, output;
  SUNNonlinearSolver corrector;
  SUNNonlinSolSysFn equations; /* IDA's function: the residual at its prediction plus a correction */
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
  r[0] = 0;
  memcpy(ida->point, v, (size_t)system->columns * sizeof(double));
  ida->point_time = t;
  EvalStatus status = system->residual(system->context, t, v, r);
  for (int32_t l = 0; l < system->links; l++)
    r[system->rows + l] = d[ida->elimination->from[l]] - v[ida->elimination->to[l]];
  return ida_answer(ida, status);
}

static int ida_weights(N_Vector y, N_Vector weight, void *self) {
  const Ida *ida = self;
  const System *system = ida->system;
  const double *v = N_VGetArrayPointer(y);
  double *w = N_VGetArrayPointer(weight);
  w[0] = 1;
  for (int32_t c = 0; c < system->columns; c++) {
    double tolerance = ida->options.absolute_tolerance * system->size[c];
    w[c] = ida->norm_weight[c] / (tolerance + ida->options.relative_tolerance * fabs(v[c]));
  }
  return 0;
}

/* ---- The corrector ---- */

static SUNNonlinearSolver_Type ida_corrector_type(SUNNonlinearSolver corrector) {
  (void)corrector;
  return SUNNONLINEARSOLVER_ROOTFIND;
}

static int ida_corrector_equations(SUNNonlinearSolver corrector, SUNNonlinSolSysFn equations) {
  ((Ida *)corrector->content)->equations = equations;
  return SUN_NLS_SUCCESS;
}

static int ida_corrector_iterations(SUNNonlinearSolver corrector, long *iterations) {
  *iterations = ((const Ida *)corrector->content)->iterations;
  return SUN_NLS_SUCCESS;
}

/* Makes new factors at the point of the last residual. */
static int ida_factor(Ida *ida, double cj) {
  EvalStatus status = ida->system->jacobian(ida->system->context, ida->point_time, ida->point, ida->jacobian);
  if (status != EVAL_OK) return ida_answer(ida, status);
  elimination_real(ida->elimination, ida->jacobian, 1 / cj, ida->values);
  secant_reset(&ida->secant);
  ida->factorizations++;
  ida->singular = ida->stale = !linear_factor(ida->linear, ida->values);
  return ida->singular ? SUN_NLS_CONV_RECVR : SUN_NLS_SUCCESS;
}

/* d = inverse times residual, with the factors. The links are eliminated: d_from = (d_to + r_link) / cj, and the rows of G give the
 * rest. */
static void ida_solve(Ida *ida, const double *residual, double cj, double *d) {
  const System *system = ida->system;
  const Elimination *elimination = ida->elimination;
  const double *link = residual + system->rows;
  memset(ida->work, 0, (size_t)system->columns * sizeof(double));
  for (int32_t l = 0; l < system->links; l++)
    ida->work[elimination->from[l]] = (ida->work[elimination->to[l]] + link[l]) / cj;
  memcpy(ida->rows, residual, (size_t)system->rows * sizeof(double));
  elimination_subtract(elimination, ida->jacobian, ida->work, ida->rows);
  linear_solve(ida->linear, ida->rows);
  for (int32_t u = 0; u < system->rows; u++) d[elimination->unknown[u]] = ida->rows[u];
  for (int32_t l = 0; l < system->links; l++) d[elimination->from[l]] = (d[elimination->to[l]] + link[l]) / cj;
  secant_apply(&ida->secant, d);
}

/* Root mean square of a correction relative to the tolerance. */
static double ida_norm(const Ida *ida, const double *d) {
  double sum = 0;
  int32_t n = ida->system->columns;
  for (int32_t c = 0; c < n; c++) {
    double part = d[c] * ida->scale[c] * ida->corrected[c];
    sum += part * part;
  }
  return sqrt(sum / fmax(n, 1));
}

/* A step from its prediction. */
typedef struct IdaCorrection {
  Ida *ida;
  N_Vector total; /* of the corrections */
  bool renew;     /* make new factors first */
  int status;
  Corrector corrector;
} IdaCorrection;

/* Replaces the last correction by the next one, which a secant update from both improves. Contraction is measured without the
 * improvement. Returns its norm. */
static double ida_advance(Ida *ida, double *total, double *last) {
  double *d = ida->next, norm = ida_norm(ida, d), improved = norm;
  if (!isinf(*last)) {
    ida->convergence = norm / *last;
    if (ida->convergence > SURE && secant_learn(&ida->secant, ida->correction, d, ida->scale))
      improved = ida_norm(ida, d), *last *= improved / norm;
  }
  for (int32_t c = 0; c < ida->system->columns; c++) total[c] -= d[c];
  ida->next = ida->correction;
  ida->correction = d;
  return improved;
}

/* A CorrectorStep. */
static double ida_correct_once(void *context, bool *renew) {
  IdaCorrection *step = context;
  Ida *ida = step->ida;
  (void)renew;
  step->status = ida->equations(step->total, ida->output, ida->memory);
  if (step->status == 0 && step->renew) step->status = ida_factor(ida, ida->cj);
  step->renew = false;
  if (step->status != 0) return HUGE_VAL;
  ida->iterations++;
  ida_solve(ida, N_VGetArrayPointer(ida->output), ida->cj, ida->next);
  return ida_advance(ida, N_VGetArrayPointer(step->total), &step->corrector.last);
}

static int ida_iterate(Ida *ida, N_Vector total, double tolerance, bool renew) {
  double cj = 1;
  IDAGetCurrentCj(ida->memory, &cj);
  N_VConst(0, total);
  ida->expected = renew || cj != ida->cj ? 0.5 : fmax(SURE, fmin(0.5, GROW_LEAST * ida->expected));
  ida->convergence = ida->expected;
  ida->cj = cj;
  IdaCorrection step = {ida, total, renew, 0, corrector_with_factors(tolerance, SAFETY, ida->expected, ITERATIONS)};
  CorrectorEnd end = corrector_iterate(&step.corrector, ida_correct_once, &step);
  ida->expected = step.corrector.ratio;
  return end == CORRECTOR_CONVERGED ? SUN_NLS_SUCCESS : step.status ? step.status : SUN_NLS_CONV_RECVR;
}

static int ida_correct(SUNNonlinearSolver corrector, N_Vector predicted, N_Vector total, N_Vector weight,
                       double tolerance, booleantype setup, void *memory) {
  Ida *ida = corrector->content;
  const double *w = N_VGetArrayPointer(weight);
  (void)predicted, (void)setup, (void)memory;
  for (int32_t c = 0; c < ida->system->columns; c++) ida->scale[c] = w[c] / ida->norm_weight[c];
  ida->iterations = 0;
  bool renew = ida->stale;
  int status = ida_iterate(ida, total, tolerance, renew);
  if (status == SUN_NLS_CONV_RECVR && !renew) status = ida_iterate(ida, total, tolerance, true);
  ida->stale = status != SUN_NLS_SUCCESS || (ida->iterations > 1 && ida->convergence > SLOW_IDA);
  return status;
}

/* ---- Creation ---- */

static void ida_release(void *object) {
  Ida *ida = object;
  if (ida->memory) IDAFree(&ida->memory);
  if (ida->corrector) SUNNonlinSolFreeEmpty(ida->corrector);
  if (ida->y) N_VDestroy(ida->y);
  if (ida->rate) N_VDestroy(ida->rate);
  if (ida->output) N_VDestroy(ida->output);
  if (ida->context) SUNContext_Free(&ida->context);
}

/* Makes the foreign objects. If one is refused, heap_fail ends the call, and ida_release frees the objects that were made. IDA
 * accepts no empty vector: without columns there is one component that stays zero. */
static void ida_make_objects(Ida *ida) {
  sunindextype columns = ida->system->columns > 0 ? ida->system->columns : 1;
  ida->context = vector_context(ida->heap);
  ida->y = vector_new(ida->heap, columns, ida->context);
  ida->rate = vector_new(ida->heap, columns, ida->context);
  ida->output = vector_new(ida->heap, columns, ida->context);
  bool made = (ida->corrector = SUNNonlinSolNewEmpty(ida->context)) != NULL;
  made = made && (ida->memory = IDACreate(ida->context)) != NULL;
  if (!made) heap_fail(ida->heap);
  ida->corrector->content = ida;
  ida->corrector->ops->gettype = ida_corrector_type;
  ida->corrector->ops->setsysfn = ida_corrector_equations;
  ida->corrector->ops->solve = ida_correct;
  ida->corrector->ops->getnumiters = ida_corrector_iterations;
}

static void *ida_create(Heap *heap, const System *system, const IntegratorOptions *options) {
  Ida *ida = heap_alloc(heap, sizeof *ida);
  int32_t nonzeros = system->column_start[system->columns];
  ida->system = system;
  ida->heap = heap;
  ida->options = *options;
  ida->elimination = elimination_new(heap, system);
  ida->linear = linear_new(heap, system->rows, nonzeros, false);
  heap_numbers(heap, (size_t)nonzeros, &ida->jacobian, &ida->values);
  int32_t secants = system->columns > LARGE_ROWS ? SECANTS / 2 : SECANTS;
  ida->secant =
      secant_make(system->columns, secants, heap_array(heap, secant_room(system->columns, secants), sizeof(double)));
  heap_numbers(heap, (size_t)system->columns, &ida->correction, &ida->next, &ida->scale, &ida->work, &ida->point);
  ida->rows = heap_array(heap, (size_t)system->rows, sizeof(double));
  heap_numbers(heap, (size_t)system->columns, &ida->norm_weight, &ida->corrected);
  heap_defer(heap, ida_release, ida);
  ida_make_objects(ida);
  return ida;
}

static void ida_set_weights(Ida *ida, int32_t column, double in_test, double in_corrector) {
  ida->norm_weight[column] = in_test;
  ida->corrected[column] = in_corrector;
}

/* Sets the weights in the norms. Columns that are not states follow from the states and have a small weight; spare columns do not
 * count. Columns that `complete` solves for, and that no pivot can make states, are not in the error test, because they may
 * jump while no state does. */
static void ida_choose(Ida *ida) {
  const System *system = ida->system;
  elimination_choose(ida->elimination, NULL);
  linear_set_pattern(ida->linear, ida->elimination->start, ida->elimination->row);
  /* IDA's norm is the root mean square over all columns; this factor converts it to that over the states. */
  double count = system->links > 0 ? system->links : system->columns;
  for (int32_t c = 0; c < system->columns; c++) {
    bool is_watched = system->watched && system->watched[c], follows = system->links > 0 && !is_watched;
    bool is_candidate = system->successor && system->successor[c] >= 0;
    if (follows && system->spare && system->spare[c]) ida_set_weights(ida, c, LEAST_ABSOLUTE, LEAST_ABSOLUTE);
    else if (follows && system->complete && !is_candidate) ida_set_weights(ida, c, DIFFERENCE_ROUND_OFF, SMALL_PART);
    else ida_set_weights(ida, c, MINOR, SMALL_PART);
  }
  for (int32_t l = 0; l < system->links; l++)
    ida_set_weights(ida, system->link_to[l], DIFFERENCE_ROUND_OFF, DIFFERENCE_ROUND_OFF);
  for (int32_t l = 0; l < system->links; l++)
    ida_set_weights(ida, system->link_from[l], sqrt(system->columns / count), sqrt(system->columns / count));
  for (int32_t c = 0; c < system->columns && system->column_index; c++)
    if (system->column_index[c] > 1)
      ida_set_weights(ida, c, fmin(ida->norm_weight[c], VANISHED), fmin(ida->norm_weight[c], VANISHED));
}

/* First start: everything that IDA keeps across a restart. */
static void ida_begin(Ida *ida, double t) {
  void *memory = ida->memory;
  bool made = IDASetErrHandlerFn(memory, vector_ignore, NULL) == IDA_SUCCESS;
  made = made && IDAInit(memory, ida_residual, t, ida->y, ida->rate) == IDA_SUCCESS;
  made = made && IDAWFtolerances(memory, ida_weights) == IDA_SUCCESS;
  made = made && IDASetUserData(memory, ida) == IDA_SUCCESS;
  made = made && IDASetNonlinearSolver(memory, ida->corrector) == IDA_SUCCESS;
  made = made && IDASetMaxNumSteps(memory, -1) == IDA_SUCCESS;
  if (!made) heap_fail(ida->heap);
  if (ida->options.max_step > 0) IDASetMaxStep(memory, ida->options.max_step);
  if (ida->options.max_order > 0) IDASetMaxOrd(memory, ida->options.max_order < 5 ? ida->options.max_order : 5);
  IDASetNonlinConvCoef(memory, CORRECTOR_GOAL_IDA);
  IDASetMaxErrTestFails(memory, ROUNDS);
  ida->begun = true;
}

static void ida_statistics(const void *self, IntegratorStatistics *out);

static void ida_start(void *self, double t, const double *y, double t_end) {
  Ida *ida = self;
  (void)t_end;
  if (ida->begun) ida_statistics(ida, &ida->before);
  memcpy(N_VGetArrayPointer(ida->y), y, (size_t)ida->system->columns * sizeof(double));
  ida_choose(ida);
  integrator_rates(ida->system, y, N_VGetArrayPointer(ida->rate));
  ida->t = t;
  ida->stop = ida->singular = false;
  ida->hold = 0;
  ida->failures = 0;
  ida->stale = true;
  if (!ida->begun) ida_begin(ida, t);
  else IDAReInit(ida->memory, t, ida->y, ida->rate);
}

/* ---- Running ---- */

static StepStatus ida_status(const Ida *ida, int flag) {
  if (flag >= 0) return STEP_OK;
  if (ida->stop) return STEP_EVALUATION;
  if (ida->singular) return STEP_SINGULAR;
  switch (flag) {
  case IDA_RES_FAIL:
  case IDA_REP_RES_ERR:
  case IDA_FIRST_RES_FAIL: return STEP_EVALUATION;
  default: return STEP_TOO_SMALL;
  }
}

/* After a failed error test at order 1 the step size stays for as many steps as the next order needs. If it grew at
 * once, IDA could stay at order 1 indefinitely (the transistor amplifier at 1e-10). */
static void ida_hold_step(Ida *ida) {
  long failures = 0;
  int order = 0;
  IDAGetNumErrTestFails(ida->memory, &failures);
  IDAGetLastOrder(ida->memory, &order);
  if (failures != ida->failures) ida->hold = order == 1 ? order + 1 : 0;
  else if (ida->hold > 0) ida->hold--;
  ida->failures = failures;
  IDASetEtaFixedStepBounds(ida->memory, 1, ida->hold > 0 ? INFINITE : 2);
}

static StepStatus ida_step(void *self, double t_stop) {
  Ida *ida = self;
  double t = ida->t;
  if (t_stop <= t) return STEP_OK;
  if (IDASetStopTime(ida->memory, t_stop) != IDA_SUCCESS) return STEP_TOO_SMALL;
  IDASetMinStep(ida->memory, integrator_least_step(t, t_stop)); /* otherwise it continues with ever smaller steps */
  int flag = IDASolve(ida->memory, t_stop, &ida->t, ida->y, ida->rate, IDA_ONE_STEP);
  if (flag < 0) ida->t = t;
  ida_hold_step(ida);
  return ida_status(ida, flag);
}

static double ida_time(const void *self) { return ((const Ida *)self)->t; }

static const double *ida_values(const void *self) { return N_VGetArrayPointer(((const Ida *)self)->y); }

/* All columns at a time of the last step. */
static const double *ida_values_at(Ida *ida, double t) {
  if (t == ida->t || IDAGetDky(ida->memory, t, 0, ida->output) != IDA_SUCCESS) return ida_values(ida);
  return N_VGetArrayPointer(ida->output);
}

static void ida_interpolate(void *self, double t, const uint32_t *columns, uint32_t count, double *y) {
  const double *from = ida_values_at(self, t);
  if (!columns) memcpy(y, from, count * sizeof(double));
  for (uint32_t k = 0; k < count && columns; k++) y[columns[k]] = from[columns[k]];
}

/* Like bdf. */
static StepShape ida_shape(void *self) {
  const Ida *ida = self;
  long steps = 0;
  int order = 0;
  if (!ida->begun || IDAGetNumSteps(ida->memory, &steps) != IDA_SUCCESS || !steps) return (StepShape){0};
  IDAGetLastOrder(ida->memory, &order);
  return (StepShape){order > 1 ? order : 1, 0.5, 0};
}

static void ida_switch_states(void *self, const double *y) {
  Ida *ida = self;
  memcpy(N_VGetArrayPointer(ida->y), y, (size_t)ida->system->columns * sizeof(double));
  ida_choose(ida);
  ida->stale = true;
}

static void ida_statistics(const void *self, IntegratorStatistics *out) {
  const Ida *ida = self;
  long steps = 0, errors = 0, convergence = 0;
  *out = ida->before;
  if (!ida->begun) return;
  IDAGetNumSteps(ida->memory, &steps);
  IDAGetNumErrTestFails(ida->memory, &errors);
  IDAGetNumNonlinSolvConvFails(ida->memory, &convergence);
  IDAGetLastOrder(ida->memory, &out->order);
  IDAGetLastStep(ida->memory, &out->step);
  out->steps += (uint64_t)steps;
  out->rejected_error += (uint64_t)errors;
  out->rejected_convergence += (uint64_t)convergence;
  out->factorizations = ida->factorizations;
}

const Integrator integrator_ida = {
    .name = "ida",
    .description = "IDA of SUNDIALS, BDF of orders 1 to 5, on the whole system",
    .explicit_form = false,
    .removes_superfluous = true,
    .look_every = 128,
    .look_every_rough = 64,
    .create = ida_create,
    .start = ida_start,
    .suggest = integrator_suggest_nothing,
    .repeat = integrator_repeat_nothing,
    .step = ida_step,
    .time = ida_time,
    .values = ida_values,
    .segment = {.interpolate = ida_interpolate, .shape = ida_shape},
    .is_coarse = integrator_is_never_coarse,
    .stages = integrator_has_no_stages,
    .switch_states = ida_switch_states,
    .statistics = ida_statistics,
};
