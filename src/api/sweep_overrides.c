/* sweep_overrides: the values of a point as a list of overrides. */
#include "api/sweep.h"

#include <string.h>

uint32_t sweep_override_count(const daedal_sweep *sweep) {
  return sweep->given.override_count + design_variables(&sweep->design);
}

void sweep_override(const daedal_sweep *sweep, uint32_t point, bool only_structural, daedal_override *room,
                    daedal_options *options) {
  uint32_t given = sweep->given.override_count;
  uint32_t count = only_structural ? sweep->structural_count : design_variables(&sweep->design);
  if (given) memcpy(room, sweep->given.overrides, given * sizeof *room);
  for (uint32_t k = 0; k < count; k++) {
    uint32_t variable = only_structural ? sweep->structural[k] : k;
    double value = design_value(&sweep->design, point, variable);
    room[given + k] = (daedal_override){design_name(&sweep->design, variable), value, NULL};
  }
  options->overrides = room;
  options->override_count = given + count;
}
