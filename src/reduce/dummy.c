/* dummy: the method of dummy derivatives. */
#include "reduce/method.h"

static bool apply(Reduction *reduction) {
  form_use_dummies(reduction);
  if (!reduction->options.keep_superfluous) form_remove_superfluous(reduction);
  reduction_keep(reduction);
  return true;
}

const Method method_dummy = {
    .name = "dummy",
    .description = "dummy derivatives (Mattsson, Söderlind), chosen again while running",
    .enforces_all = true,
    .chooses = true,
    .offers_preferred = true,
    .apply = apply,
};
