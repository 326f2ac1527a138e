/* text: see text.h. */
#include "reduce/text.h"

#include "reduce/derived.h"
#include "reduce/solved.h"

/* The derivatives that became variables of their own, by name. */
static void head_released(const Reduction *reduction, const Derived *derived, TextVec *text) {
  enum { SHOWN = 12 };
  const Array *array = reduction->array;
  uint32_t count = 0;
  for (uint32_t q = 1; q < array->columns; q++) {
    if (array_order(array, q) == 0 || reduction->form.tie[q - 1] != TIE_NONE || derived->unknown[q] == MAP_NONE ||
        !derived->used[q])
      continue;
    if (count++ >= SHOWN) continue;
    text_printf(reduction->heap, text, "%s%s by %s",
                count > 1 ? ", " : "derivatives replaced by variables of their own: ",
                array_column_name(array, q, reduction->arena),
                model_name(derived->model, derived->model->unknowns.data[derived->unknown[q]]));
  }
  if (count > SHOWN) text_printf(reduction->heap, text, ", and %u more", count - SHOWN);
  if (count) text_printf(reduction->heap, text, "\n");
}

static const char *make_head(const Reduction *reduction, const Method *method, const Derived *derived) {
  Heap *heap = reduction->heap;
  TextVec text = {0};
  const Model *original = reduction->array->problem->model;
  text_printf(heap, &text, "%s, reduced by method %s: %s\n", names_text(original->names, original->name), method->name,
              method->description);
  if (reduction->remark) text_printf(heap, &text, "%s\n", reduction->remark);
  text_printf(heap, &text, "%u differential equations, %u algebraic, %u solved\n", reduction->counts.differential,
              reduction->counts.algebraic, reduction->counts.solved);
  head_released(reduction, derived, &text);
  if (reduction->counts.removed)
    text_printf(heap, &text, "%u superfluous differentiation%s left out\n", reduction->counts.removed,
                reduction->counts.removed == 1 ? "" : "s");
  if (method->chooses)
    text_printf(heap, &text, "the choice is that of time %.10g; a simulation by daedal changes it when it must\n",
                reduction->time);
  const char *kept = arena_copy(reduction->arena, text.data, text.count);
  vec_free(heap, &text);
  return kept;
}

/* Ties are differential equations, but for those of dummies, which their constraints determine; aliases are solved
 * ones, rows are to be solved together. */
static void count_equations(Reduction *reduction, const Derived *derived) {
  ReductionCounts *counts = &reduction->counts;
  uint32_t named = 0;
  uint32_t ties = 0;
  for (uint32_t q = 0; q + 1 < reduction->array->columns; q++) {
    if (reduction->form.tie[q] == TIE_NONE) continue;
    ties++;
    named += derived->order[q + 1] == 0;
  }
  counts->differential = ties - counts->removed;
  counts->algebraic = reduction->form.rows.count - (counts->differential - named);
  counts->solved = derived->model->equations.count - named - reduction->form.rows.count;
}

void reduction_print(Reduction *reduction, const Method *method, TextVec *text) {
  Derived *derived;
  if (method->is_solved) {
    derived = solved_make(reduction, method->name);
  } else {
    derived = derived_make(reduction, method->name);
    count_equations(reduction, derived);
  }
  ModelNotes notes = {make_head(reduction, method, derived), derived->equation_notes.data};
  model_print_noted(derived->model, &notes, reduction->heap, text);
}
