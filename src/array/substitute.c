/* substitute: the step of expression substitution (Tan, Nedialkov, Pryce 2017). Let J v = 0, and take the unknowns with v_j != 0.
 * The equations of the block do not depend on all of their highest derivatives, but only on fewer combinations of them: w_j =
 * x_j^(d_j - C) - (v_j / v_l) x_l^(d_l - C). Here C is the largest c of those equations. With w_j as new unknowns, x_l drops out of
 * the equations. */
#include "array/convert_internal.h"

#include <string.h>

typedef struct Substitution {
  const Dependence *dependence;
  int32_t most;          /* C */
  Expr *leaf, *combined; /* per line except the last: x_j^(d_j - C), and w_j + (v_j / v_l) x_l^(d_l - C) */
  Expr *value;           /* the expression that w_j replaces */
} Substitution;

static bool is_inside(const Dependence *dependence, const BlockJacobian *jacobian, int32_t unknown) {
  for (uint32_t k = 0; k < dependence->count; k++)
    if (jacobian->unknown[dependence->line[k]] == unknown) return true;
  return false;
}

/* The largest c of the equations that contain a highest derivative of one of these unknowns. */
static int32_t largest_offset(const Converter *converter, const BlockJacobian *jacobian, const Dependence *dependence) {
  int32_t most = 0;
  for (int32_t p = 0; p < jacobian->size; p++)
    for (int32_t e = jacobian->row_start[p]; e < jacobian->row_start[p + 1]; e++)
      if (is_inside(dependence, jacobian, jacobian->unknown[jacobian->column[e]]) &&
          converter->structure.c[jacobian->equation[p]] > most)
        most = converter->structure.c[jacobian->equation[p]];
  return most;
}

/* The conditions of the method on the vector v: its derivatives must be low enough, and there must be enough of them to
 * remove. */
static bool is_allowed(Converter *converter, const BlockJacobian *jacobian, const Substitution *plan) {
  const Structure *structure = &converter->structure;
  const Dependence *dependence = plan->dependence;
  ExprVec leaves = {0};
  bool allowed = dependence->count > 1;
  for (uint32_t k = 0; k < dependence->count && allowed; k++) {
    dependence->factor[k] = converter_drop_apparent(converter, dependence->factor[k]);
    allowed = structure->d[jacobian->unknown[dependence->line[k]]] >= plan->most;
    dag_variables(converter->dag, dag_scratch(converter->dag), dependence->factor[k], &leaves);
  }
  for (uint32_t k = 0; k < leaves.count && allowed; k++) {
    int32_t j = (int32_t)converter->problem.local[dag_index(converter->dag, leaves.data[k])];
    int32_t bound = structure->d[j] - plan->most - is_inside(dependence, jacobian, j);
    allowed = (int32_t)dag_order(converter->dag, leaves.data[k]) <= bound;
  }
  vec_free(converter->heap, &leaves);
  return allowed;
}

static Expr high_leaf(const Converter *converter, int32_t unknown, int32_t below) {
  return dag_variable(converter->dag, converter->problem.unknown[unknown],
                      (uint32_t)(converter->structure.d[unknown] - below));
}

static void fill_plan(const Converter *converter, const BlockJacobian *jacobian, Substitution *plan) {
  const Dependence *dependence = plan->dependence;
  Dag *dag = converter->dag;
  uint32_t count = dependence->count - 1;
  plan->leaf = arena_array(converter->arena, count, sizeof(Expr));
  plan->combined = arena_array(converter->arena, count, sizeof(Expr));
  plan->value = arena_array(converter->arena, count, sizeof(Expr));
  Expr last = high_leaf(converter, jacobian->unknown[dependence->last], plan->most);
  for (uint32_t k = 0; k < count; k++) {
    Expr ratio = dag_divide(dag, dependence->factor[k], dependence->factor[count]),
         part = dag_multiply(dag, ratio, last);
    Expr unknown = dag_variable(dag, converter->model->unknowns.count + k, 0);
    plan->leaf[k] = high_leaf(converter, jacobian->unknown[dependence->line[k]], plan->most);
    plan->value[k] = dag_subtract(dag, plan->leaf[k], part);
    plan->combined[k] = dag_add(dag, unknown, part);
  }
}

/* One equation with the combinations substituted for the derivatives at its own stage. */
static Expr put_in(Converter *converter, const BlockJacobian *jacobian, const Substitution *plan, int32_t i) {
  Dag *dag = converter->dag;
  uint32_t count = plan->dependence->count - 1;
  int32_t c = converter->structure.c[i];
  if (c > plan->most) return converter->problem.residual[i]; /* the equation contains none of these derivatives */
  ExprVec from = {0}, to = {0};
  for (uint32_t k = 0; k < count; k++) {
    Expr value = plan->combined[k];
    for (int32_t l = c; l < plan->most; l++) value = dag_time_derivative(dag, value);
    vec_push(converter->heap, &from, high_leaf(converter, jacobian->unknown[plan->dependence->line[k]], c));
    vec_push(converter->heap, &to, value);
  }
  Expr residual = converter->problem.residual[i];
  dag_substitute(dag, from.data, to.data, from.count, &residual, 1);
  vec_free(converter->heap, &from, &to);
  return residual;
}

static bool use(Converter *converter, const BlockJacobian *jacobian, const Dependence *dependence) {
  Substitution plan = {.dependence = dependence, .most = largest_offset(converter, jacobian, dependence)};
  if (!is_allowed(converter, jacobian, &plan)) return false;
  fill_plan(converter, jacobian, &plan);
  const Problem *before = &converter->problem;
  Expr *residual = arena_copy_array(converter->arena, before->residual, before->equations, sizeof *residual);
  for (int32_t p = 0; p < jacobian->size; p++)
    residual[jacobian->equation[p]] = put_in(converter, jacobian, &plan, jacobian->equation[p]);
  Problem problem = problem_extend(before, residual, plan.value, dependence->count - 1, converter->arena);
  Samples samples = samples_make(problem.model, converter->samples.parameters, converter->modes, converter->arena);
  samples_find_zeros(&samples, problem.residual, problem.equations);
  Converter next = *converter;
  next.model = problem.model;
  next.problem = problem;
  next.samples = samples;
  for (int32_t p = 0; p < jacobian->size; p++) {
    int32_t i = jacobian->equation[p];
    if (residual[i] != before->residual[i]) residual[i] = converter_drop_apparent(&next, residual[i]);
  }
  next.problem = problem_extend(before, residual, plan.value, dependence->count - 1, converter->arena);
  next.model = next.samples.model = next.problem.model;
  next.structure = structure_run(converter->arena, &next.problem.incidence);
  if (next.structure.status != STRUCTURE_OK || next.structure.dof >= converter->structure.dof) return false;
  const char *how = "";
  for (uint32_t k = 0; k + 1 < dependence->count; k++)
    how = arena_printf(converter->arena, "%s%s$w%u = %s", how, k ? ", " : "substitution ",
                       converter->model->unknowns.count + k + 1, converter_text(converter, plan.value[k]));
  for (int32_t p = 0; p < jacobian->size; p++) {
    uint32_t i = (uint32_t)jacobian->equation[p];
    if (residual[i] != before->residual[i])
      converter_note(&next, CONVERSION_SUBSTITUTION, i, converter_residual_text(&next, residual[i]), how);
  }
  *converter = next;
  return true;
}

bool converter_substitute(Converter *converter, const BlockJacobian *jacobian) {
  DependenceVec found = {0};
  bool used = false;
  int32_t *order = arena_array(converter->arena, (size_t)jacobian->size, sizeof *order);
  for (int32_t p = 0; p < jacobian->size; p++) order[p] = p;
  if (dependence_find(jacobian, false, order, &converter->samples, converter->arena, &found))
    for (uint32_t k = 0; k < found.count && !used; k++) used = use(converter, jacobian, &found.data[k]);
  vec_free(converter->heap, &found);
  return used;
}
