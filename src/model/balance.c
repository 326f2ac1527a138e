/* balance: how many equations and unknowns there are (see model.h). A discrete variable that a when assigns
 * in several branches has one equation, also in several whens of one algorithm section; one that two other whens
 * assign has two, which is one too many. */
#include "model/model.h"

/* Discrete variables that a when assigns, each once; `stamps` holds for each variable the last when that
 * did. */
static uint32_t count_assigned(const When *when, uint32_t *stamps, uint32_t stamp) {
  uint32_t count = 0;
  for (uint32_t b = 0; b < when->branches.count; b++) {
    const WhenBranch *branch = &when->branches.data[b];
    for (uint32_t i = 0; i < branch->actions.count; i++) {
      const Action *action = &branch->actions.data[i];
      if (action->kind != ACTION_ASSIGN || stamps[action->target] == stamp) continue;
      stamps[action->target] = stamp;
      count++;
    }
  }
  return count;
}

/* Whens of one algorithm section count as one. */
static uint32_t stamp_of(const Model *model, uint32_t when) {
  uint32_t algorithm = model->whens.data[when].algorithm;
  return algorithm ? model->whens.count + algorithm : when + 1;
}

Balance model_balance(const Model *model) {
  Balance balance = {.equations = model->equations.count, .unknowns = model->unknowns.count};
  balance.discrete_equations = model->discrete_equations.count;
  balance.discrete_unknowns = model->discretes.count;
  uint32_t *stamps = heap_array(model->heap, model->variables.count, sizeof *stamps);
  for (uint32_t i = 0; i < model->whens.count; i++)
    balance.discrete_equations += count_assigned(&model->whens.data[i], stamps, stamp_of(model, i));
  heap_free(model->heap, stamps);
  return balance;
}
