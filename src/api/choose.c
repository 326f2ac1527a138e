/* choose: finds the signals that a list of words means, by the names of the model's variables. */
#include "api/handles.h"

typedef struct VariableNames {
  const Model *model;
  Heap *heap;
  TextVec text;
} VariableNames;

/* The names: time, then every variable, and after each unknown its derivative. */
static const char *name_at(void *context, uint32_t index) {
  VariableNames *names = context;
  if (index == 0) return "time";
  uint32_t variable = --index / 2;
  if (variable >= names->model->variables.count) return NULL;
  bool is_derivative = index % 2 && names->model->variables.data[variable].role == ROLE_UNKNOWN;
  names->text.count = 0;
  if (is_derivative) text_printf(names->heap, &names->text, "der(");
  signals_print_name(names->heap, &names->text, model_name(names->model, variable));
  if (is_derivative) text_printf(names->heap, &names->text, ")");
  return names->text.data;
}

/* Names of netlists are stored in lower case. */
static const char *const *lower_names(Arena *arena, const char *const *words) {
  const char **lower = arena_array(arena, names_count(words) + 1, sizeof *lower);
  for (uint32_t k = 0; words[k]; k++) lower[k] = spice_lower(arena, words[k]);
  return lower;
}

bool filter_signals(daedal_result *result, const char *const *words, const SignalFilter **filter) {
  if (!words) return true;
  if (result->model->circuit.model) words = lower_names(&result->diags.arena, words);
  VariableNames names = {.model = result->model->model, .heap = result->heap};
  *filter = signal_filter_new(result->heap, &result->diags, words, (NameList){name_at, &names});
  vec_free(result->heap, &names.text);
  return *filter != NULL;
}
