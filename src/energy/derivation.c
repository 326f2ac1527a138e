/* derivation: see derivation.h. */
#include "energy/derivation.h"

#include <string.h>

void derivation_equate(Derivation *d, Expr left, Expr right, Span span, const char *note) {
  Equation equation = {.left = left,
                       .right = right,
                       .residual = dag_subtract(d->dag, left, right),
                       .span = span,
                       .note = names_add(d->model->names, note, strlen(note))};
  vec_push(d->model->heap, &d->model->equations, equation);
}

Expr scaled_residual(const Derivation *d, Expr residual) {
  const Term *terms;
  double constant;
  if (dag_op(d->dag, residual) != OP_SUM || !dag_terms(d->dag, residual, &constant, &terms)) return residual;
  return dag_scale(d->dag, 1 / terms[0].coefficient, residual);
}

Expr constraint_force(const Derivation *d, uint32_t coordinate) {
  Expr sum = dag_constant(d->dag, 0);
  for (uint32_t c = 0; c < d->energy->constraint.count; c++) {
    Expr multiplier = model_leaf(d->model, d->energy->constraint.data[c].multiplier, 0);
    Expr gradient = d->constraints[c].gradient[coordinate];
    if (gradient != EXPR_NONE) sum = add_product(d, sum, multiplier, gradient);
  }
  return sum;
}
