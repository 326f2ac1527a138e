/* none: the model as it is, for solvers that can integrate it; no equation is differentiated. Hidden constraints are not
 * enforced. */
#include "reduce/method.h"

static bool apply(Reduction *reduction) {
  const Array *array = reduction->array;
  int32_t *c = arena_array(reduction->arena, array->problem->equations, sizeof *c);
  form_use_dummies(reduction); /* for the start values that may be fixed */
  reduction->form.rows.count = 0;
  for (uint32_t i = 0; i < array->problem->equations; i++) form_add(reduction, i, 0);
  reduction_shrink(reduction, c, NULL, NULL);
  const Array *here = reduction->reduced.array;
  for (uint32_t q = 0; q < array->columns; q++) {
    uint32_t j = array->column_unknown[q];
    reduction->form.tie[q] = (int32_t)array_order(array, q) < here->d[j] ? TIE_DERIVATIVE : TIE_NONE;
  }
  return true;
}

const Method method_none = {
    .name = "none",
    .description = "the model as it is, for implicit solvers",
    .apply = apply,
};
