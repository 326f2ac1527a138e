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

const char *user_name(const daedal_result *result, Arena *arena, const char *name) {
  return result->model->circuit.model ? spice_lower(arena, name) : arena_copy(arena, name, strlen(name));
}

const char *const *user_names(const daedal_result *result, Arena *arena, const char *const *names) {
  if (!names) return NULL;
  const char **list = arena_array(arena, names_count(names) + 1, sizeof *list);
  for (uint32_t k = 0; names[k]; k++) list[k] = user_name(result, arena, names[k]);
  return list;
}

bool filter_signals(daedal_result *result, const char *const *words, const SignalFilter **filter) {
  if (!words) return true;
  words = user_names(result, &result->diags.arena, words);
  VariableNames names = {.model = result->model->model, .heap = result->heap};
  *filter = signal_filter_new(result->heap, &result->diags, words, (NameList){name_at, &names});
  vec_free(result->heap, &names.text);
  return *filter != NULL;
}
