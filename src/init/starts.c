/* starts: see starts.h. */
#include "init/starts.h"

#include <math.h>

/* Modelica's default start value is 0, which is only a guess. */
static double start_value(const Evaluator *evaluator, const StartValues *starts, uint32_t variable, bool *given) {
  Model *model = evaluator->model;
  const Variable *v = &model->variables.data[variable];
  double value = 0;
  *given = false;
  if (starts && starts->start && !isnan(starts->start[variable])) {
    *given = true;
    return starts->start[variable];
  }
  if (v->start != EXPR_NONE && model_evaluate(model, v->start, evaluator->parameters, &value)) *given = true;
  return *given ? value : 0;
}

static bool same_value(double a, double b) { return fabs(a - b) <= 1e-12 * (1 + fabs(a) + fabs(b)); }

/* Takes one unknown of the model into the column of its alias class. */
static bool take_start(const Evaluator *evaluator, const StartValues *starts, uint32_t unknown, Initial *initial,
                       Diags *diags) {
  Model *model = evaluator->model;
  const Problem *problem = evaluator->array->problem;
  uint32_t variable = model->unknowns.data[unknown], root = unknown;
  double sign = 1;
  if (problem->aliases.removed) {
    root = problem->aliases.root[unknown];
    sign = problem->aliases.sign[unknown];
  }
  if (root == UINT32_MAX) return true; /* a constant: nothing to start */
  uint32_t q = evaluator->array->model_column[root] + (problem->aliases.removed ? problem->aliases.shift[unknown] : 0);
  InitialColumn *column = &initial->column[q];
  bool given, fixed = model->variables.data[variable].fixed == FIXED_TRUE;
  double value = sign * start_value(evaluator, starts, variable, &given);
  if (fixed && column->fixed && !same_value(value, column->start)) {
    diag_error(diags, DIAG_INIT, model->variables.data[variable].span,
               "%s and %s are the same variable%s, but their fixed start values are %g and %g; remove fixed=true from one",
               model_name(model, column->named), model_name(model, variable), sign < 0 ? " up to sign" : "", column->start, value);
    return false;
  }
  bool better = fixed > column->fixed || (fixed == column->fixed && given > column->given);
  if (!better && column->named != UINT32_MAX) return true;
  column->given = given || fixed;
  column->fixed = fixed;
  column->start = value;
  column->named = variable;
  initial->y[q] = value;
  return true;
}

bool starts_collect(const Evaluator *evaluator, const StartValues *starts, Initial *initial, Diags *diags) {
  for (uint32_t q = 0; q < evaluator->array->columns; q++) initial->column[q].named = UINT32_MAX;
  /* The representative first, so that at equal rank its own start value counts. */
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t u = 0; u < evaluator->model->unknowns.count; u++) {
      bool root = evaluator->array->problem->local[u] != MAP_NONE;
      if (root == (pass == 0) && !take_start(evaluator, starts, u, initial, diags)) return false;
    }
  }
  for (uint32_t q = 0; q < evaluator->array->columns; q++) initial->fixed += initial->column[q].fixed;
  return true;
}

bool starts_equations(Heap *heap, const Evaluator *evaluator, ExprVec *residuals, Diags *diags) {
  Model *model = evaluator->model;
  const Array *array = evaluator->array;
  ExprVec leaves = {0};
  bool ok = true;
  for (uint32_t i = 0; i < model->initial_equations.count; i++) {
    const Equation *equation = &model->initial_equations.data[i];
    Expr residual = problem_expression(array->problem, equation->residual);
    leaves.count = 0;
    dag_variables(model->dag, residual, &leaves);
    for (uint32_t k = 0; k < leaves.count; k++) {
      uint32_t j = array->problem->local[dag_index(model->dag, leaves.data[k])];
      if ((int32_t)dag_order(model->dag, leaves.data[k]) <= array->d[j]) continue;
      diag_error(diags, DIAG_INIT, equation->span,
                 "the initial equation needs a derivative of %s that no equation of the model determines",
                 model_name(model, model->unknowns.data[array->problem->unknown[j]]));
      ok = false;
    }
    vec_push(heap, residuals, residual);
  }
  vec_free(heap, &leaves);
  return ok;
}
