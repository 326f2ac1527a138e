/* overdetermined: all rows of the array at once. Each added row has a multiplier in the ties of its columns, which makes the
 * overdetermined system square. An implicit step then solves a projection onto all constraints along their gradients, like the
 * least-squares solution of ODASSL (Führer, Leimkuhler 1991; Kunkel, Mehrmann 2003, section 6). */
#include "reduce/derived.h"
#include "reduce/method.h"

static bool apply(Reduction *reduction) {
  form_use_levels(reduction, 0);
  derived_integrate(reduction, derived_make(reduction, method_overdetermined.name), 0);
  return true;
}

const Method method_overdetermined = {
    .name = "overdetermined",
    .description = "all constraints of all levels, projected in every step (as ODASSL)",
    .enforces_all = true,
    .needs_values = true,
    .apply = apply,
};
