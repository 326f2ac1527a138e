/* ggl: the stabilization of Gear, Gupta and Leimkuhler (1985; Kunkel, Mehrmann 2003, eq. (50); Numra book, technique 3). For every
 * differentiated equation, all levels except the last are kept. Each kept level except the highest has a multiplier in the ties of
 * its columns: x' = v + G^T mu. The multipliers are zero along the solution; the index is 2.
 *
 * ggl1 is the variant of index 1. In it, some variables are replaced by derivatives of new variables, mu = nu', lambda = eta' (Gear
 * 1988: one integration lowers the index by one). These are the multipliers, and the algebraic variables that the missing last
 * derivatives would determine. */
#include "reduce/derived.h"
#include "reduce/method.h"

static bool refuse(const Reduction *reduction, const Method *method, const char *times) {
  Diag *diag =
      diag_error(reduction->diags, DIAG_METHOD_UNFIT, (Span){0},
                 "method %s needs a constraint that must be differentiated at least %s, and this model has none",
                 method->name, times);
  diag_note(reduction->diags, diag, (Span){0},
            "methods that work here: dummy, minimal, projection, underlying, overdetermined, strangeness, none");
  return false;
}

static bool apply(Reduction *reduction) {
  if (reduction_keep_unconstrained(reduction)) return true;
  if (reduction_depth(reduction) < 2) return refuse(reduction, &method_ggl, "twice");
  form_use_levels(reduction, 1);
  derived_integrate(reduction, derived_make(reduction, method_ggl.name), 1);
  return true;
}

const Method method_ggl = {
    .name = "ggl",
    .description = "constraints on two levels with multipliers, index 2 (Gear, Gupta, Leimkuhler)",
    .needs_values = true,
    .apply = apply,
};

/* The algebraic variables of blocks with constraints. */
static const bool *mark_multipliers(const Reduction *reduction) {
  const Problem *problem = reduction->array->problem;
  bool *constrains = arena_array(reduction->arena, problem->equations, sizeof *constrains);
  bool *marked = arena_array(reduction->arena, problem->unknowns, sizeof *marked);
  for (uint32_t i = 0; i < problem->equations; i++) constrains[i] = reduction->array->c[i] > 0;
  reduction_mark_multipliers(reduction, constrains, marked);
  return marked;
}

static bool apply_index1(Reduction *reduction) {
  if (reduction_keep_unconstrained(reduction)) return true;
  if (reduction_depth(reduction) < 1) return refuse(reduction, &method_ggl1, "once");
  form_use_levels(reduction, 1);
  reduction->form.integrated = mark_multipliers(reduction);
  /* The multipliers are derivatives now, which are no more accurate than unknowns of index 2. */
  derived_integrate(reduction, derived_make(reduction, method_ggl1.name), 1);
  return true;
}

const Method method_ggl1 = {
    .name = "ggl1",
    .description = "as ggl, with all multipliers as derivatives of new variables, index 1",
    .needs_values = true,
    .apply = apply_index1,
};
