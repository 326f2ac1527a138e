/* text: see text.h. */
#include "reduce/text.h"

#include "reduce/derived.h"
#include "reduce/mass.h"
#include "reduce/solved.h"

/* Lists the derivatives that became separate variables, by name. */
static void head_released(const Reduction *reduction, const Derived *derived, TextVec *text) {
  enum { SHOWN = 12 };
  const Array *array = reduction->array;
  uint32_t count = 0;
  for (uint32_t q = 1; q < array->columns; q++) {
    if (array_order(array, q) == 0 || reduction->form.tie[q - 1] != TIE_NONE || derived->unknown[q] == MAP_NONE ||
        !derived->used[q])
      continue;
    if (count++ >= SHOWN) continue;
    text_printf(reduction->heap, text, "%s%s by %s", count > 1 ? ", " : "derivatives replaced by separate variables: ",
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
  const EquationKinds *after = &reduction->counts.after;
  text_printf(heap, &text, "%s, reduced by method %s: %s\n", names_text(original->names, original->name), method->name,
              method->description);
  if (reduction->mode)
    text_printf(heap, &text, "the equations are those where %s; they differ elsewhere\n", reduction->mode);
  if (reduction->remark) text_printf(heap, &text, "%s\n", reduction->remark);
  text_printf(heap, &text, "%u differential equations, %u algebraic, %u solved\n", after->differential,
              after->algebraic, after->solved);
  head_released(reduction, derived, &text);
  if (reduction->counts.removed)
    text_printf(heap, &text, "%u superfluous differentiation%s left out\n", reduction->counts.removed,
                reduction->counts.removed == 1 ? "" : "s");
  if (method->chooses)
    text_printf(heap, &text, "the states are those of time %.10g; a simulation by daedal changes them when necessary\n",
                reduction->time);
  return text_keep(heap, &text, reduction->arena);
}

/* A plan without values has no form; the form of its first values is printed. */
static void apply_at_values(Reduction *reduction, const Method *method) {
  int32_t block;
  reduction->at.dummy = dummy_new(reduction->heap, reduction->at.evaluator, reduction->choice);
  dummy_select(reduction->at.dummy, reduction->time, reduction->at.y, &block);
  mass_examine(reduction);
  method->apply(reduction);
}

void reduction_print(Reduction *reduction, const Method *method, bool has_values, TextVec *text) {
  if (!has_values) apply_at_values(reduction, method);
  Derived *derived = method->is_solved ? solved_make(reduction, method->name) : derived_make(reduction, method->name);
  derived_count(derived);
  ModelNotes notes = {make_head(reduction, method, derived), derived->equation_notes.data};
  model_print_noted(derived->model, &notes, reduction->heap, text);
}

void reduction_print_choice(const Reduction *reduction, const ArrayRun *at, Arena *arena, TextVec *text) {
  const Reduced *reduced = &reduction->reduced;
  int32_t block;
  if (!reduced->structure || !at->y) return;
  ArrayRun run = reduced_run(reduction, at, arena->heap);
  Dummy *dummy = dummy_new(arena->heap, run.evaluator, reduced->choice);
  if (dummy_select(dummy, reduction->time, run.y, &block))
    dummy_describe(dummy, run.evaluator, reduced->choice, reduction->time, run.y, arena, text);
}
