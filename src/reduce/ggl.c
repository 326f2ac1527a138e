/* ggl: the stabilization of Gear, Gupta and Leimkuhler (1985; Kunkel, Mehrmann 2003, eq. (50); Numra book,
 * technique 3). Of every equation that is differentiated all levels but the last are kept, and each of them
 * but the highest has a multiplier in the ties of the columns it holds: x' = v + G^T mu. The multipliers
 * are zero along the solution; the index is 2. */
#include "reduce/derived.h"
#include "reduce/method.h"

static bool apply(Reduction *reduction) {
  if (reduction_depth(reduction) < 2) {
    Diag *diag =
        diag_error(reduction->diags, DIAG_STRUCTURE, (Span){0},
                   "method ggl needs a constraint that must be differentiated at least twice, and this model has none");
    diag_note(reduction->diags, diag, (Span){0},
              "methods that work here: dummy, minimal, underlying, overdetermined, strangeness, none");
    return false;
  }
  form_use_levels(reduction, 1);
  derived_integrate(reduction, derived_make(reduction, method_ggl.name), 1);
  return true;
}

const Method method_ggl = {
    .name = "ggl",
    .description = "constraints on two levels with multipliers, index 2 (Gear, Gupta, Leimkuhler)",
    .apply = apply,
};
