/* balance: which classes of a model are not balanced by themselves. Section 4.8 of Modelica 3.6 requires each class to have as many
 * equations as unknowns when all its connectors are open. So each class is counted as a separate model, with its own defaults. */
#include "api/handles.h"

#include "base/number.h"

#include <string.h>

typedef struct ClassCount {
  Balance balance;
  bool is_unbalanced;
  IndexVec inside; /* classes of its components, under their names in the requested model */
} ClassCount;

static bool is_unbalanced(Balance balance) {
  return balance.equations != balance.unknowns || balance.discrete_equations != balance.discrete_unknowns;
}

static ClassCount count_class(const daedal_model *model, Heap *heap, Name name) {
  ClassCount count = {0};
  const Names *names = model->model->names;
  daedal_model *alone = model_load_class(model, names_text(names, name));
  if (alone && alone->model) {
    count.balance = model_balance(alone->model);
    count.is_unbalanced = is_unbalanced(count.balance);
    for (uint32_t i = 0; i < alone->model->classes.count; i++) {
      const char *text = names_text(alone->model->names, alone->model->classes.data[i].name);
      Name known = names_find(names, text, strlen(text));
      if (known != MAP_NONE) vec_push(heap, &count.inside, known);
    }
  }
  api_model_free(alone);
  return count;
}

/* Does an unbalanced class of a component explain the imbalance? */
static bool is_explained(const Model *model, const ClassCount *counts, uint32_t number) {
  for (uint32_t i = 0; i < counts[number].inside.count; i++)
    for (uint32_t k = 0; k < model->classes.count; k++)
      if (k != number && counts[k].is_unbalanced && model->classes.data[k].name == counts[number].inside.data[i])
        return true;
  return false;
}

static void report_class(const Model *model, const ClassCount *count, const ComponentClass *class, Diags *diags) {
  uint32_t equations = count->balance.equations + count->balance.discrete_equations;
  uint32_t unknowns = count->balance.unknowns + count->balance.discrete_unknowns;
  bool is_few = equations < unknowns;
  uint32_t difference = is_few ? unknowns - equations : equations - unknowns;
  const char *name = names_text(model->names, class->name);
  if (difference)
    diag_error(diags, DIAG_UNBALANCED, class->span,
               "class `%s` has %u equation%s too %s: %u for %u variable%s by itself", name, difference,
               plural(difference), is_few ? "few" : "many", equations, unknowns, plural(unknowns));
}

void report_class_balance(const daedal_model *model, Diags *diags) {
  const Model *whole = model->model;
  if (!whole || !whole->classes.count || !is_unbalanced(model_balance(whole))) return;
  Arena arena = arena_make(model->heap);
  ClassCount *counts = arena_array(&arena, whole->classes.count, sizeof *counts);
  for (uint32_t i = 0; i < whole->classes.count; i++)
    counts[i] = count_class(model, model->heap, whole->classes.data[i].name);
  for (uint32_t i = 0; i < whole->classes.count; i++)
    if (counts[i].is_unbalanced && !is_explained(whole, counts, i))
      report_class(whole, &counts[i], &whole->classes.data[i], diags);
  for (uint32_t i = 0; i < whole->classes.count; i++) vec_free(model->heap, &counts[i].inside);
  arena_free(&arena);
}
