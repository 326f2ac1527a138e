/* sweep_overrides: the values of a point as a list of overrides. */
#include "api/sweep.h"

#include "base/number.h"

#include <string.h>

void sweep_prepare_overrides(daedal_sweep *sweep, Arena *arena) {
  uint32_t count = design_variables(&sweep->design);
  const char *given = sweep->given.overrides;
  sweep->overrides = arena_array(arena, count, sizeof *sweep->overrides);
  sweep->override_length = given ? strlen(given) + 2 : 1;
  for (uint32_t k = 0; k < count; k++) {
    TextVec text = {0};
    text_quote(arena->heap, &text, design_name(&sweep->design, k), '\'');
    text_printf(arena->heap, &text, "=");
    sweep->overrides[k] = text_keep(arena->heap, &text, arena);
    sweep->override_length += strlen(sweep->overrides[k]) + NUMBER_SIZE + 1;
  }
}

static void copy_text(char **at, const char *text) {
  size_t length = strlen(text);
  memcpy(*at, text, length + 1);
  *at += length;
}

void sweep_overrides(const daedal_sweep *sweep, uint32_t point, bool only_structural, char *text) {
  const char *given = sweep->given.overrides;
  uint32_t count = only_structural ? sweep->structural_count : design_variables(&sweep->design);
  char *at = text;
  *at = '\0';
  if (given && *given) copy_text(&at, given), copy_text(&at, ",");
  for (uint32_t k = 0; k < count; k++) {
    uint32_t variable = only_structural ? sweep->structural[k] : k;
    char number[NUMBER_SIZE];
    number_shortest(design_value(&sweep->design, point, variable), number);
    copy_text(&at, k ? "," : "");
    copy_text(&at, sweep->overrides[variable]);
    copy_text(&at, number);
  }
}
