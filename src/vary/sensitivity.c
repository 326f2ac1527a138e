/* sensitivity: see sensitivity.h. */
#include "core/constants.h"
#include "core/corrector.h"
#include "vary/sensitivity_internal.h"

#include "base/copy.h"
#include "segment/kinks.h"

#include <math.h>
#include <string.h>

static size_t count_values(const Sensitivity *sensitivity) {
  return (size_t)sensitivity->view->system.columns + modes_leaves(sensitivity->plan->code->modes);
}

/* Lists the entries that are not the same at all points. */
static JacobianEntries list_varying(Heap *heap, const System *system) {
  size_t nonzeros = (size_t)system->column_start[system->columns];
  JacobianEntries list = {.entry = heap_array(heap, nonzeros, sizeof(int32_t)),
                          .row = heap_array(heap, nonzeros, sizeof(int32_t)),
                          .column = heap_array(heap, nonzeros, sizeof(int32_t))};
  for (int32_t q = 0; q < system->columns; q++)
    for (int32_t e = system->column_start[q]; e < system->column_start[q + 1]; e++) {
      if (system->constant && system->constant[e]) continue;
      list.entry[list.count] = e;
      list.row[list.count] = system->row_index[e];
      list.column[list.count++] = q;
    }
  return list;
}

/* Rows of numbers, in one block. */
static void make_rows(Heap *heap, double **rows, int count, size_t numbers) {
  double *block = heap_array(heap, (size_t)count * numbers, sizeof *block);
  for (int k = 0; k < count; k++) rows[k] = block + (size_t)k * numbers;
}

static void make_direction(const Sensitivity *sensitivity, Direction *direction) {
  Heap *heap = sensitivity->heap;
  size_t columns = (size_t)sensitivity->view->system.columns, values = count_values(sensitivity);
  direction->parameter = heap_array(heap, sensitivity->plan->parameters.count, sizeof(double));
  heap_numbers(heap, values, &direction->now, &direction->at);
  direction->pre = heap_array(heap, values - columns, sizeof(double));
  direction->reset = heap_array(heap, sensitivity->plan->resets.count, sizeof(double));
  direction->point[0] = direction->now;
  direction->defect = heap_array(heap, columns, sizeof(double));
  direction->stage = direction->point + 1;
  make_rows(heap, direction->stage, RADAU_STAGES_MAX, columns);
}

Sensitivity *sensitivity_new(Heap *heap, const SensitivityPlan *plan, View *view, double tolerance, double span,
                             Adjoint *adjoint, Diags *diags) {
  Sensitivity *sensitivity = heap_alloc(heap, sizeof *sensitivity);
  const System *system = &view->system;
  size_t columns = (size_t)system->columns, nonzeros = (size_t)system->column_start[system->columns];
  *sensitivity = (Sensitivity){.heap = heap, .plan = plan, .view = view, .diags = diags, .adjoint = adjoint};
  sensitivity->followed = adjoint ? 1 : 0;
  sensitivity->count = adjoint ? 1 + (plan->targets <= FEW ? plan->targets : 1) : plan->targets;
  sensitivity->tolerance = tolerance;
  sensitivity->span = span;
  sensitivity->goal = fmax(tolerance, ROUND_OFF);
  sensitivity->longest = INFINITY;
  sensitivity->jumps = call_jumps_new(heap, plan, view, tolerance);
  sensitivity->directions = heap_array(heap, sensitivity->count, sizeof(Direction));
  sensitivity->at = heap_array(heap, sensitivity->count, sizeof(double *));
  for (uint32_t k = 0; k < sensitivity->count; k++) {
    make_direction(sensitivity, &sensitivity->directions[k]);
    sensitivity->at[k] = sensitivity->directions[k].at;
  }
  sensitivity->variation = variation_new(heap, system);
  if (plan->rows->program) sensitivity->rows = workspace_new(heap, plan->rows->program);
  if (plan->stage) sensitivity->stage = workspace_new(heap, plan->stage);
  if (plan->columns) sensitivity->event_columns = workspace_new(heap, plan->columns->program);
  if (plan->leaves && plan->leaves->program) sensitivity->event_leaves = workspace_new(heap, plan->leaves->program);
  sensitivity->row_values = heap_array(heap, plan->rows->entries, sizeof(double));
  sensitivity->column_values = heap_array(heap, plan->columns ? plan->columns->nonzeros : 0, sizeof(double));
  sensitivity->leaf_values = heap_array(heap, plan->leaves ? plan->leaves->entries : 0, sizeof(double));
  heap_numbers(heap, columns, &sensitivity->scale, &sensitivity->error);
  sensitivity->g = heap_array(heap, (size_t)system->rows, sizeof(double));
  sensitivity->roots = heap_array(heap, plan->roots, sizeof(double));
  heap_numbers(heap, columns, &sensitivity->rate, &sensitivity->before);
  sensitivity->varying = list_varying(heap, system);
  sensitivity->stage_values =
      heap_array(heap, (size_t)sensitivity->varying.count + plan->rows->entries, sizeof(double));
  make_rows(heap, sensitivity->guess, RADAU_STAGES_MAX, columns);
  make_rows(heap, sensitivity->value, RADAU_STAGES_MAX, columns);
  make_rows(heap, sensitivity->entries, RADAU_STAGES_MAX, nonzeros);
  make_rows(heap, sensitivity->owed, RADAU_STAGES_MAX, plan->rows->entries);
  make_rows(heap, sensitivity->residual, RADAU_STAGES_MAX, (size_t)system->rows);
  make_rows(heap, sensitivity->direct, RADAU_STAGES_MAX, (size_t)system->rows);
  return sensitivity;
}

bool sensitivity_failed(const Sensitivity *sensitivity) { return sensitivity->failed; }

bool sensitivity_shares_factors(const Sensitivity *sensitivity) { return !sensitivity->adjoint; }

/* ---- direct dependence of rows on parameters ---- */

static bool evaluate_rows(Sensitivity *sensitivity, double t, const double *y, double *values) {
  if (!sensitivity->rows) return true;
  Point point = evaluator_point(sensitivity->view->evaluator, t, y);
  return workspace_run(sensitivity->rows, &point, values) == EVAL_OK;
}

void sensitivity_direct(const Sensitivity *sensitivity, const Direction *direction, const double *values,
                        const double *now, double *g) {
  const SensitivityPlan *plan = sensitivity->plan;
  const double *discrete = now + sensitivity->view->system.columns;
  uint32_t leaf = 0;
  memset(g, 0, (size_t)sensitivity->view->system.rows * sizeof *g);
  for (uint32_t p = 0; p < plan->parameters.count; p++, leaf++)
    if (direction->parameter[p] != 0) leaf_jacobian_add(plan->rows, leaf, values, direction->parameter[p], g);
  for (uint32_t d = 0; d < plan->discretes.count; d++, leaf++)
    leaf_jacobian_add(plan->rows, leaf, values, discrete[plan->discretes.data[d]], g);
  for (uint32_t d = 0; d < plan->discretes.count; d++, leaf++)
    leaf_jacobian_add(plan->rows, leaf, values, direction->pre[plan->discretes.data[d]], g);
}

static bool report_singular(Sensitivity *sensitivity, double t) {
  diag_error(sensitivity->diags, DIAG_INTEGRATION, (Span){0},
             "at time %.10g the equations have no derivatives, or a singular Jacobian: no sensitivities", t);
  sensitivity->failed = true;
  return false;
}

bool sensitivity_factor(Sensitivity *sensitivity, double t, const double *y) {
  bool ok = variation_factor(sensitivity->variation, t, y) == EVAL_OK &&
            evaluate_rows(sensitivity, t, y, sensitivity->row_values);
  return ok || report_singular(sensitivity, t);
}

void sensitivity_complete(Sensitivity *sensitivity, Direction *direction) {
  sensitivity_direct(sensitivity, direction, sensitivity->row_values, direction->at, sensitivity->g);
  variation_solve(sensitivity->variation, sensitivity->g, direction->at);
}

/* ---- the step ---- */

/* The Radau IIA method that is as accurate as the step: steps of an explicit method of order 8 are long. */
static const RadauCoefficients *method_for(const Integrator *integrator, void *self) {
  IntegratorStatistics now;
  integrator->statistics(self, &now);
  if (integrator->explicit_form) return &radau_methods[1];
  return &radau_methods[now.order >= 13 ? 2 : now.order >= 6 ? 1 : 0];
}

/* Columns within the step by dense output; those of an explicit method are solved for, others are accurate to the tolerance. */
static bool point_at(Sensitivity *sensitivity, double t, double *y) {
  const Segment *segment = sensitivity->segment;
  if (segment->methods->is_explicit) return view_point(sensitivity->view, segment, t, y) == EVAL_OK;
  segment_values(segment, t, y);
  return true;
}

/* Makes stages for an integrator that has none: the columns at the nodes of a Radau method are read from its dense output. */
static bool interpolate_stages(Sensitivity *sensitivity, const Integrator *integrator, void *self, double from,
                               double to) {
  const RadauCoefficients *method = method_for(integrator, self);
  if (!sensitivity->own) sensitivity->own = stages_new(sensitivity->heap, &sensitivity->view->system, RADAU_STAGES_MAX);
  sensitivity->step = (StepStages){
      .linear = sensitivity->own, .method = method, .t = from, .h = to - from, .values = sensitivity->value};
  for (int i = 0; i < method->stages; i++) {
    double t = i + 1 == method->stages ? to : from + method->node[i] * (to - from);
    bool is_end = t == to;
    if (is_end && view_point(sensitivity->view, sensitivity->segment, t, sensitivity->value[i]) != EVAL_OK)
      return false;
    if (!is_end && !point_at(sensitivity, t, sensitivity->value[i])) return false;
  }
  return true;
}

/* The Jacobian at a point, whose constant entries are already set, and the direct dependence of rows on parameters. Infinite
 * entries count as zeros, as in steps. */
static bool evaluate_stage(Sensitivity *sensitivity, double t, const double *y, double *entries, double *owed) {
  const JacobianEntries *varying = &sensitivity->varying;
  double *values = sensitivity->stage_values;
  if (!sensitivity->stage) return true;
  Point point = evaluator_point(sensitivity->view->evaluator, t, y);
  bool is_finite = workspace_run(sensitivity->stage, &point, values) == EVAL_OK;
  if (!is_finite) evaluator_drop_infinite(values, (size_t)varying->count);
  for (int32_t k = 0; k < varying->count; k++) entries[varying->entry[k]] = values[k];
  for (uint32_t k = 0; k < sensitivity->plan->rows->entries; k++) {
    owed[k] = values[(uint32_t)varying->count + k];
    if (!is_finite && !isfinite(owed[k])) return false;
  }
  return true;
}

/* The whole Jacobian of one point has the constant entries of all points. */
static bool find_constants(Sensitivity *sensitivity, double t, const double *y) {
  const System *system = &sensitivity->view->system;
  size_t bytes = (size_t)system->column_start[system->columns] * sizeof(double);
  if (system->jacobian(system->context, t, y, sensitivity->entries[0]) != EVAL_OK) return false;
  for (int i = 1; i < RADAU_STAGES_MAX; i++) memcpy(sensitivity->entries[i], sensitivity->entries[0], bytes);
  return sensitivity->has_constants = true;
}

/* Evaluates the Jacobians at the stages, and the derivatives of the rows with respect to the parameters there. */
static bool evaluate_stages(Sensitivity *sensitivity) {
  const StepStages *step = &sensitivity->step;
  if (!sensitivity->has_constants &&
      !find_constants(sensitivity, step->t + step->h, step->values[step->method->stages - 1]))
    return false;
  for (int i = 0; i < step->method->stages; i++) {
    double t = step->t + step->method->node[i] * step->h;
    if (!evaluate_stage(sensitivity, t, step->values[i], sensitivity->entries[i], sensitivity->owed[i])) return false;
  }
  return true;
}

static bool factor_own(Sensitivity *sensitivity) {
  const StepStages *step = &sensitivity->step;
  stages_take_jacobian(step->linear, sensitivity->entries[step->method->stages / 2]);
  return stages_factor(step->linear, step->method, step->h);
}

/* residual += J v */
static void add_product(const System *system, const double *entries, const double *v, double *residual) {
  for (int32_t q = 0; q < system->columns; q++) {
    if (v[q] == 0) continue;
    for (int32_t e = system->column_start[q]; e < system->column_start[q + 1]; e++)
      residual[system->row_index[e]] += entries[e] * v[q];
  }
}

/* residual[i] = J_i Y_i + g_i */
static void evaluate_residuals(const Sensitivity *sensitivity, double *const *stages) {
  const System *system = &sensitivity->view->system;
  for (int i = 0; i < sensitivity->step.method->stages; i++) {
    memcpy(sensitivity->residual[i], sensitivity->direct[i], (size_t)system->rows * sizeof(double));
    add_product(system, sensitivity->entries[i], stages[i], sensitivity->residual[i]);
  }
}

/* ---- the linear equations of a step ---- */

/* Errors are relative to the variation at the start and at the end of the step; the scale of a small variation is a part of the
 * largest one. Rates count through their variables. */
static void set_scale(Sensitivity *sensitivity, const Direction *direction, const double *end) {
  static const double least = 0x1p-500; /* squares of smaller numbers underflow */
  const System *system = &sensitivity->view->system;
  int stages = sensitivity->step.method->stages;
  double largest = 0, root = sqrt((double)system->columns * stages), *scale = sensitivity->scale;
  for (int32_t c = 0; c < system->columns; c++) {
    scale[c] = fmax(fabs(end[c]), fabs(direction->now[c]));
    largest = fmax(largest, scale[c] / system->nominal[c]);
  }
  if (!(largest > least)) largest = 1;
  for (int32_t c = 0; c < system->columns; c++)
    scale[c] = 1 / ((scale[c] + MINOR * largest * system->nominal[c]) * root);
  for (int32_t l = 0; l < system->links; l++) scale[system->link_to[l]] *= MINOR;
}

/* Solves with a separate Jacobian for each stage. */
static bool solve_whole(Sensitivity *sensitivity, Direction *direction) {
  const StepStages *step = &sensitivity->step;
  WholeStep whole = {step->method, step->h, sensitivity->entries};
  if (!sensitivity->whole) sensitivity->whole = whole_stages_new(sensitivity->heap, &sensitivity->view->system, false);
  evaluate_residuals(sensitivity, direction->stage);
  return whole_stages_solve(sensitivity->whole, &whole, sensitivity->residual, direction->now, direction->stage);
}

/* ---- corrections ---- */

/* Continues the stages of a direction from the step before. */
static void continue_stages(const Sensitivity *sensitivity, const Direction *direction) {
  const StepStages *step = &sensitivity->step;
  double weight[RADAU_STAGES_MAX], ratio = step->h / sensitivity->last_h;
  int first = radau_first_point(sensitivity->last_method, ratio);
  Continuation continuation = radau_continue_from(sensitivity->last_method, first > 0 ? first : 1);
  const double *const *from = (const double *const *)direction->point + continuation.first;
  for (int i = 0; i < step->method->stages; i++) {
    int count = radau_continuation_weights(&continuation, 1 + step->method->node[i] * ratio, weight);
    set_to_sum(sensitivity->guess[i], from, weight, count, sensitivity->view->system.columns);
  }
}

/* Without a step before, they are constant. The states follow from their rates. */
static void predict(const Sensitivity *sensitivity, const Direction *direction) {
  const StepStages *step = &sensitivity->step;
  const System *system = &sensitivity->view->system;
  const Elimination *elimination = step->linear->elimination;
  if (sensitivity->last_h > 0) continue_stages(sensitivity, direction);
  for (int i = 0; i < step->method->stages && sensitivity->last_h == 0; i++)
    copy_numbers(sensitivity->guess[i], direction->now, (size_t)system->columns);
  radau_follow_links(step->method, step->h, elimination->from, elimination->to, system->links, direction->now,
                     sensitivity->guess);
}

/* A CorrectorStep. */
static double correct(void *context, bool *renew) {
  const Sensitivity *sensitivity = context;
  const Stages *stages = sensitivity->step.linear;
  int s = sensitivity->step.method->stages;
  double sum = 0;
  (void)renew;
  evaluate_residuals(sensitivity, sensitivity->guess);
  stages_solve(sensitivity->step.linear, sensitivity->residual);
  for (int i = 0; i < s; i++)
    for (int32_t c = 0; c < stages->system->columns; c++) {
      double change = stages->change[c * (s + 1) + i], part = change * sensitivity->scale[c];
      sensitivity->guess[i][c] += change;
      sum += part * part;
    }
  return sqrt(sum);
}

/* It is enough to correct with P if the Jacobians of the stages differ little; otherwise all stages are solved at once. The
 * contraction of a correction is known from the step before. */
static bool iterate(Sensitivity *sensitivity, Direction *direction) {
  double expected = sensitivity->last_h == 0 ? 0.5 : fmax(pow(direction->contraction, CLEARLY_LESS), NEGLIGIBLE);
  Corrector corrector = corrector_with_factors(sensitivity->goal, CONTRACTS, expected, ROUNDS);
  bool is_solved = corrector_iterate(&corrector, correct, sensitivity) == CORRECTOR_CONVERGED;
  direction->contraction = fmin(corrector.ratio, 0.5);
  return is_solved;
}

static bool solve_direction(Sensitivity *sensitivity, Direction *direction) {
  const StepStages *step = &sensitivity->step;
  for (int i = 0; i < step->method->stages; i++)
    sensitivity_direct(sensitivity, direction, sensitivity->owed[i], direction->now, sensitivity->direct[i]);
  predict(sensitivity, direction);
  set_scale(sensitivity, direction, sensitivity->guess[step->method->stages - 1]);
  bool ok = iterate(sensitivity, direction);
  for (int i = 0; i < step->method->stages; i++)
    copy_numbers(direction->stage[i], sensitivity->guess[i], (size_t)sensitivity->view->system.columns);
  return ok || solve_whole(sensitivity, direction);
}

static bool solve_all(Sensitivity *sensitivity) {
  for (uint32_t k = sensitivity->followed; k < sensitivity->count; k++)
    if (!solve_direction(sensitivity, &sensitivity->directions[k])) return false;
  return true;
}

/* ---- the error of a step ---- */

static void find_defect(const Sensitivity *sensitivity, Direction *direction) {
  const StepStages *step = &sensitivity->step;
  const System *system = &sensitivity->view->system;
  memset(direction->defect, 0, (size_t)system->columns * sizeof(double));
  for (int32_t l = 0; l < system->links; l++) {
    double extrapolated = 0;
    for (int i = 0; i < step->method->stages; i++)
      extrapolated += step->method->at_zero[i] * direction->stage[i][system->link_to[l]];
    direction->defect[system->link_from[l]] = step->h * (direction->now[system->link_to[l]] - extrapolated);
  }
}

static double largest_of(const Sensitivity *sensitivity, const Direction *direction, int32_t c) {
  return fmax(fabs(direction->now[c]), fabs(direction->stage[sensitivity->step.method->stages - 1][c]));
}

/* The size to which errors of a state's variation are relative: the variation itself. If that is small, it is 1% of the largest
 * variation of any state so far. Or it is the variation that the present rate would cause over the whole run, if that is large
 * enough to matter for a state of its nominal size. */
static double error_scale(const Sensitivity *sensitivity, const Direction *direction, int32_t link) {
  const System *system = &sensitivity->view->system;
  int32_t c = system->link_from[link];
  double ahead = sensitivity->span * largest_of(sensitivity, direction, system->link_to[link]);
  double matters = fmax(MINOR * direction->peak, fmin(1 / direction->size, ahead / system->nominal[c]));
  return largest_of(sensitivity, direction, c) + matters * system->nominal[c];
}

/* The error estimate: root mean square over the states. */
static double error_norm(const Sensitivity *sensitivity, Direction *direction) {
  const System *system = &sensitivity->view->system;
  double sum = 0;
  for (int32_t l = 0; l < system->links; l++)
    direction->peak = fmax(direction->peak, largest_of(sensitivity, direction, system->link_from[l]) /
                                                system->nominal[system->link_from[l]]);
  for (int32_t l = 0; l < system->links; l++) {
    double error = sensitivity->error[system->link_from[l]];
    double part = error == 0 ? 0 : error / error_scale(sensitivity, direction, l);
    sum += part * part;
  }
  return sqrt(sum / fmax(system->links, 1));
}

/* The error is estimated as in the steps of Radau (radau.c), with the same tolerance: the estimate is of order s, the solution of
 * order 2s - 1. Across a kink the solution is no more accurate than the estimate. */
static double direction_error(Sensitivity *sensitivity, Direction *direction, bool is_bent) {
  const StepStages *step = &sensitivity->step;
  double s = step->method->stages, tolerance = sensitivity->tolerance;
  double inner = fmin(GOOD_PART * pow(tolerance, (s + 1) / (2 * s)), is_bent ? tolerance : INFINITY);
  find_defect(sensitivity, direction);
  memcpy(sensitivity->error, direction->defect, (size_t)sensitivity->view->system.columns * sizeof(double));
  for (int32_t c = 0; c < sensitivity->view->system.columns; c++) sensitivity->error[c] *= step->method->mu_real;
  stages_filter(step->linear, step->h * step->method->mu_real, sensitivity->error);
  return error_norm(sensitivity, direction) / inner;
}

/* Finds whether the step resolves the variations, and how long the next step may be. */
static void control_step(Sensitivity *sensitivity, bool is_bent) {
  const StepStages *step = &sensitivity->step;
  double error = 0;
  for (uint32_t k = sensitivity->followed; k < sensitivity->count; k++) {
    double own = direction_error(sensitivity, &sensitivity->directions[k], is_bent);
    if (!(own <= error)) error = own;
  }
  double factor = fmax(SAFETY * pow(error, -1.0 / (step->method->stages + 1)), GOOD_PART), longest = step->h * factor;
  sensitivity->is_coarse = !(error <= 1);
  if (factor >= SHRINK_MOST) longest = fmax(step->h * SHRINK_MOST, sensitivity->longest);
  sensitivity->longest = isnan(error) ? step->h * GOOD_PART : longest;
}

bool sensitivity_is_coarse(const Sensitivity *sensitivity) { return sensitivity->is_coarse; }

double sensitivity_longest(const Sensitivity *sensitivity) { return sensitivity->longest; }

static bool report_slow(Sensitivity *sensitivity, double t) {
  diag_error(sensitivity->diags, DIAG_INTEGRATION, (Span){0},
             "the variational equations could not be solved after time %.10g; a smaller --max-step may help", t);
  sensitivity->failed = true;
  return false;
}

/* Is there a kink without an event between the ends of the step? */
static bool passes_kink(const Sensitivity *sensitivity, ConstMoment begin) {
  const View *view = sensitivity->view;
  const StepStages *step = &sensitivity->step;
  ConstMoment end = {step->t + step->h, step->values[step->method->stages - 1]};
  return (view->kinks && kinks_pass(view->kinks, begin.t, begin.y, end.t, end.y)) ||
         (view->system.bends && view->system.bends(view->system.context, begin.t, begin.y, end.t, end.y));
}

/* false: a function jumps in the step. */
static bool calls_are_continuous(Sensitivity *sensitivity, double to) {
  const Model *model = sensitivity->plan->code->model;
  uint32_t call;
  double t;
  if (!sensitivity->jumps || sensitivity->is_coarse) return true;
  if (sensitivity->last_h == 0) call_jumps_forget(sensitivity->jumps);
  if (!call_jumps_find(sensitivity->jumps, sensitivity->segment, to, &call, &t)) return true;
  const Function *function =
      model->functions.data[dag_call_info(model->dag, sensitivity->plan->calls.data[call]).function];
  diag_error(sensitivity->diags, DIAG_INTEGRATION, function->routine->span,
             "no sensitivities after time %.10g: the function `%s` jumps there without an event", t,
             names_text(model->names, function->routine->name));
  sensitivity->failed = true;
  return false;
}

bool sensitivity_step(Sensitivity *sensitivity, const Integrator *integrator, void *self, const Segment *segment,
                      double to) {
  double from = segment->t0;
  if (sensitivity->has_step)
    sensitivity->last_h = 0; /* the step is repeated: the kept stages are its own, not those of the step before */
  sensitivity->has_step = sensitivity->is_coarse = false;
  sensitivity->segment = segment;
  if (!(to > from)) return true;
  StepStages step;
  bool has_stages = to == segment->t1 && integrator->stages(self, &step);
  sensitivity->is_shared = has_stages && step.linear->system == &sensitivity->view->system;
  if (sensitivity->is_shared) sensitivity->step = step;
  else if (!interpolate_stages(sensitivity, integrator, self, from, to)) return report_slow(sensitivity, from);
  if (!evaluate_stages(sensitivity)) return report_singular(sensitivity, from);
  if (!sensitivity->is_shared && !factor_own(sensitivity)) return report_singular(sensitivity, from);
  if (!solve_all(sensitivity)) return report_slow(sensitivity, from);
  control_step(sensitivity, passes_kink(sensitivity, (ConstMoment){from, segment->begin}));
  if (!calls_are_continuous(sensitivity, to)) return false;
  sensitivity->has_step = true;
  return true;
}

void sensitivity_accept(Sensitivity *sensitivity) {
  const StepStages *step = &sensitivity->step;
  if (!sensitivity->has_step) return;
  sensitivity->has_step = false;
  if (sensitivity->adjoint) adjoint_note_step(sensitivity->adjoint, step);
  for (uint32_t k = sensitivity->followed; k < sensitivity->count; k++) {
    Direction *direction = &sensitivity->directions[k];
    memcpy(direction->now, direction->stage[step->method->stages - 1],
           (size_t)sensitivity->view->system.columns * sizeof(double));
  }
  sensitivity->last_t = step->t;
  sensitivity->last_h = step->h;
  sensitivity->last_method = step->method;
}

/* ---- between the stages ---- */

/* Interpolates the states between stages, like a step of Radau (radau.c). */
static void interpolate(const Sensitivity *sensitivity, double x) {
  const System *system = &sensitivity->view->system;
  const RadauCoefficients *method = sensitivity->step.method;
  double weight[RADAU_WEIGHTS];
  radau_output_weights(method, x, weight);
  for (uint32_t k = 0; k < sensitivity->count; k++) {
    const Direction *direction = &sensitivity->directions[k];
    for (int32_t l = 0; l < system->links; l++) {
      int32_t c = system->link_from[l];
      double sum = weight[method->stages + 1] * direction->defect[c];
      for (int j = 0; j <= method->stages; j++) sum += weight[j] * direction->point[j][c];
      direction->at[c] = sum;
    }
  }
}

const double *const *sensitivity_at(Sensitivity *sensitivity, double t, const double *y) {
  const StepStages *step = &sensitivity->step;
  size_t columns = (size_t)sensitivity->view->system.columns, values = count_values(sensitivity);
  double x = sensitivity->has_step ? fmin((t - step->t) / step->h, 1) : 0;
  bool is_inside = x > 0 && x < 1;
  for (uint32_t k = 0; k < sensitivity->count; k++) {
    const Direction *direction = &sensitivity->directions[k];
    size_t from = is_inside ? columns : 0; /* columns follow */
    memcpy(direction->at + from, direction->now + from, (values - from) * sizeof(double));
    if (x == 1) memcpy(direction->at, direction->stage[step->method->stages - 1], columns * sizeof(double));
  }
  if (is_inside) interpolate(sensitivity, x);
  if (is_inside && sensitivity_factor(sensitivity, t, y))
    for (uint32_t k = 0; k < sensitivity->count; k++) sensitivity_complete(sensitivity, &sensitivity->directions[k]);
  return sensitivity->at;
}
