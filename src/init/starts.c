/* starts: see starts.h. */
#include "init/starts.h"

#include "init/terms.h"

#include <math.h>

static double bound_value(Evaluator *evaluator, Expr bound, double none) {
  double value;
  return bound != EXPR_NONE && evaluator_constant(evaluator, bound, &value) && !isnan(value) ? value : none;
}

/* Modelica's default start value is the one nearest to 0 that min and max allow; only a guess. */
static double default_start(Evaluator *evaluator, const Variable *variable) {
  double low = bound_value(evaluator, variable->min, -HUGE_VAL), high = bound_value(evaluator, variable->max, HUGE_VAL);
  double value = fmin(fmax(0, low), high);
  return isfinite(value) ? value : 0;
}

/* The bounds of all members of an alias class restrict its column. */
static void narrow_bounds(Evaluator *evaluator, const Variable *variable, double sign, InitialColumn *column) {
  double low = bound_value(evaluator, variable->min, -HUGE_VAL), high = bound_value(evaluator, variable->max, HUGE_VAL);
  column->min = fmax(column->min, sign > 0 ? low : -high);
  column->max = fmin(column->max, sign > 0 ? high : -low);
}

double column_excess(const InitialColumn *column, double value) {
  static const double ROUND_OFF = 1e-10;
  double excess = fmax(column->min - value, value - column->max);
  return excess > ROUND_OFF * (1 + fabs(value)) ? excess : 0;
}

static double start_value(Evaluator *evaluator, const StartValues *starts, uint32_t position, bool *given) {
  const Model *model = evaluator->model;
  const Variable *variable = &model->variables.data[position];
  double value;
  *given = true;
  if (starts && starts->start && !isnan(starts->start[position])) return starts->start[position];
  if (variable->start != EXPR_NONE && evaluator_constant(evaluator, variable->start, &value)) return value;
  *given = false;
  return default_start(evaluator, variable);
}

static bool same_value(double a, double b, double tolerance) {
  return fabs(a - b) <= tolerance * (1 + fabs(a) + fabs(b));
}

/* The column and sign that an unknown of the model stands for; MAP_NONE for one that is constant. */
static uint32_t column_of(Evaluator *evaluator, uint32_t unknown, double *sign) {
  const Problem *problem = evaluator->array->problem;
  *sign = 1;
  if (!problem->aliases.removed) return evaluator->array->model_column[unknown];
  uint32_t root = problem->aliases.root[unknown];
  *sign = problem->aliases.sign[unknown];
  return root == UINT32_MAX ? MAP_NONE : evaluator->array->model_column[root] + problem->aliases.shift[unknown];
}

static bool has_free_parameters(const Model *model) {
  for (uint32_t p = 0; p < model->parameters.count; p++)
    if (model->variables.data[model->parameters.data[p]].fixed == FIXED_FALSE) return true;
  return false;
}

/* Reports that an unknown is set to an undefined value, such as 1/0. If initialization determines parameters, the value may be
 * defined afterwards, and nothing is reported. */
static bool report_undefined(Evaluator *evaluator, uint32_t unknown, Expr constant, const char *why, Diags *diags) {
  const Model *model = evaluator->model;
  uint32_t position = model->unknowns.data[unknown];
  if (has_free_parameters(model)) return true;
  diag_error(diags, DIAG_INIT, model->variables.data[position].span,
             "no consistent initial values: %s is set to `%s`, which is not defined%s", model_name(model, position),
             model_text(evaluator_model(evaluator), constant, &diags->arena), why);
  return false;
}

static bool divides_by_errors(Evaluator *evaluator, Expr constant) {
  Point point = evaluator_point(evaluator, 0, NULL);
  return terms_lost_divisor(evaluator->heap, evaluator_model(evaluator), &evaluator->code->layout, constant, &point,
                            STEPS_ERROR) != EXPR_NONE;
}

/* An unknown equal to a constant must not be fixed at another value. */
static bool check_constant(Evaluator *evaluator, uint32_t unknown, bool fixed, double start, double tolerance,
                           Diags *diags) {
  const Model *model = evaluator->model;
  uint32_t position = model->unknowns.data[unknown];
  Expr constant = evaluator->array->problem->aliases.constant[unknown];
  double value;
  if (!evaluator_constant(evaluator, constant, &value))
    return report_undefined(evaluator, unknown, constant, "", diags);
  if (divides_by_errors(evaluator, constant) &&
      !report_undefined(evaluator, unknown, constant, ": division by zero up to round-off", diags))
    return false;
  if (!fixed || same_value(value, start, tolerance)) return true;
  diag_error(diags, DIAG_INIT_CONFLICT, model->variables.data[position].span,
             "no consistent initial values: %s is fixed at %.10g, but an equation sets it to %.10g; remove "
             "fixed=true",
             model_name(model, position), start, value);
  return false;
}

/* Adds one unknown of the model to the column of its alias class. */
static bool take_start(Evaluator *evaluator, const StartValues *starts, uint32_t unknown, double tolerance,
                       InitialColumn *columns, Diags *diags) {
  const Model *model = evaluator->model;
  uint32_t position = model->unknowns.data[unknown];
  const Variable *variable = &model->variables.data[position];
  bool given, fixed = variable->fixed == FIXED_TRUE && !(starts && starts->hold);
  double sign, start = start_value(evaluator, starts, position, &given);
  uint32_t q = column_of(evaluator, unknown, &sign);
  if (q == MAP_NONE) return check_constant(evaluator, unknown, fixed, start, tolerance, diags);
  InitialColumn *column = &columns[q];
  narrow_bounds(evaluator, variable, sign, column);
  double value = sign * start;
  if (fixed && column->fixed && !same_value(value, column->start, tolerance)) {
    Diag *diag = diag_error(diags, DIAG_INIT_CONFLICT, variable->span,
                            "no consistent initial values: %s and %s are the same%s, but fixed at %.10g and %.10g",
                            model_name(model, column->named), model_name(model, position),
                            sign < 0 ? " up to sign" : "", column->start, value);
    diag_note(diags, diag, model->variables.data[column->named].span, "remove fixed=true from %s or from %s",
              model_name(model, column->named), model_name(model, position));
    return false;
  }
  bool better = fixed > column->fixed || (fixed == column->fixed && given > column->given);
  if (!better && column->named != MAP_NONE) return true;
  column->given = given || fixed;
  column->fixed = fixed;
  column->start = value;
  column->named = position;
  column->sign = (int8_t)sign;
  return true;
}

static void take_columns(const StartValues *starts, uint32_t count, InitialColumn *columns) {
  for (uint32_t q = 0; q < count; q++) {
    if (isnan(starts->column[q])) continue;
    columns[q].start = starts->column[q];
    columns[q].given = true;
    if (starts->hold) columns[q].fixed = starts->hold[q];
  }
}

/* A variable that the model prefers as a state counts as a state, even if it is not differentiated (Modelica Language Specification
 * 3.6, 4.9.7.1). Its given start value takes precedence over the defaults of states without a start value. */
static void keep_preferred(const Evaluator *evaluator, InitialColumn *columns) {
  const Array *array = evaluator->array;
  const Model *model = evaluator->model;
  for (uint32_t q = 0; q < array->columns; q++) {
    uint32_t unknown = array->problem->unknown[array->column_unknown[q]];
    if (columns[q].given && array_order(array, q) == 0 &&
        model->variables.data[model->unknowns.data[unknown]].select >= SELECT_PREFER)
      columns[q].low = true;
  }
}

bool starts_collect(Evaluator *evaluator, const StartValues *starts, double tolerance, InitialColumn *columns,
                    Diags *diags) {
  const Array *array = evaluator->array;
  for (uint32_t q = 0; q < array->columns; q++) {
    columns[q] = initial_column();
    columns[q].low = (int32_t)array_order(array, q) < array->d[array->column_unknown[q]];
  }
  /* The representative comes first, so that its own start value is used if ranks are equal. */
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t u = 0; u < evaluator->model->unknowns.count; u++) {
      bool root = array->problem->local[u] != MAP_NONE;
      if (root == (pass == 0) && !take_start(evaluator, starts, u, tolerance, columns, diags)) return false;
    }
  }
  if (starts && starts->column) take_columns(starts, array->columns, columns);
  else keep_preferred(evaluator, columns);
  return true;
}

/* ---- start values that wait for parameters ---- */

bool starts_may_move(const Model *model) {
  bool found = false;
  for (uint32_t j = 0; has_free_parameters(model) && j < model->unknowns.count && !found; j++) {
    const Variable *variable = &model->variables.data[model->unknowns.data[j]];
    found = variable->start != EXPR_NONE && dag_depends(model->dag, variable->start, OP_PARAMETER);
  }
  return found;
}

static double start_now(Evaluator *evaluator, uint32_t unknown) {
  const Model *model = evaluator->model;
  return bound_value(evaluator, model->variables.data[model->unknowns.data[unknown]].start, NAN);
}

void starts_list(Evaluator *evaluator, double *start) {
  for (uint32_t j = 0; j < evaluator->model->unknowns.count; j++) start[j] = start_now(evaluator, j);
}

bool starts_have_moved(Evaluator *evaluator, const double *start) {
  bool moved = false;
  for (uint32_t j = 0; j < evaluator->model->unknowns.count && !moved; j++) {
    double now = start_now(evaluator, j);
    moved = now != start[j] && !isnan(now);
  }
  return moved;
}
