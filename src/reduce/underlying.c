/* underlying: plain differentiation. Only the highest derivative of each equation is kept (Mattsson,
 * Söderlind 1991, section 2: the differentiated problem; Numra book, technique 1). The constraints become
 * invariants of the equations, from which a numerical solution drifts: the drift is reported, not hidden. */
#include "reduce/method.h"

static bool apply(Reduction *reduction) {
  form_use_highest_rows(reduction);
  uint32_t n = reduction->form.rows.count;
  Expr *residual = arena_array(reduction->arena, n, sizeof *residual);
  for (uint32_t i = 0; i < n; i++) residual[i] = form_residual(reduction, &reduction->form.rows.data[i]);
  return reduction_replace(reduction, residual);
}

const Method method_underlying = {
    .name = "underlying",
    .description = "every equation replaced by its last derivative; constraints drift",
    .apply = apply,
};
