/* signal: see signal.h. */
#include "result/signal.h"

#include "base/suggest.h"

#include <string.h>

SignalTable *signals_new(Heap *heap) {
  SignalTable *table = heap_alloc(heap, sizeof *table);
  table->heap = heap;
  table->texts = names_make(heap);
  table->by_name = map_make(heap);
  return table;
}

SignalTable *signals_over(Heap *heap, const Names *names) {
  SignalTable *table = signals_new(heap);
  names_free(&table->texts);
  table->texts = names_over(heap, names);
  return table;
}

/* One copy of each text: units and descriptions repeat a lot. */
static const char *keep(SignalTable *table, const char *text) {
  if (!text) text = "";
  return names_text(&table->texts, names_add(&table->texts, text, strlen(text)));
}

uint32_t signals_add(SignalTable *table, const Signal *signal) {
  uint32_t index = table->list.count;
  Name name = names_add(&table->texts, signal->name, strlen(signal->name));
  if (map_get(&table->by_name, name) == MAP_NONE) map_put(&table->by_name, name, index);
  Signal copy = *signal;
  copy.name = names_text(&table->texts, name);
  copy.unit = keep(table, signal->unit);
  copy.display_unit = keep(table, signal->display_unit);
  copy.description = keep(table, signal->description);
  vec_push(table->heap, &table->list, copy);
  if (signal->column != SIGNAL_CONSTANT && signal->column >= table->columns) table->columns = signal->column + 1;
  if (!table->hides) table->listed = table->list.count, table->listed_columns = table->columns;
  return index;
}

/* Names that begin with a quote get quotes, too, so that no two names become one. What begins with = + - @ a spreadsheet
 * would compute, in quotes of CSV, too. */
void signals_print_name(Heap *heap, TextVec *text, const char *flat) {
  bool is_taken = strcmp(flat, "time") == 0 || strncmp(flat, "der(", 4) == 0 || (*flat && strchr("'=+-@", *flat));
  text_printf(heap, text, is_taken ? "'%s'" : "%s", flat);
}

const char *signals_name(SignalTable *table, const char *flat) {
  TextVec text = {0};
  signals_print_name(table->heap, &text, flat);
  const char *name = keep(table, text.data);
  vec_free(table->heap, &text);
  return name;
}

uint32_t signals_find_variable(const SignalTable *table, const char *flat) {
  TextVec text = {0};
  signals_print_name(table->heap, &text, flat);
  uint32_t signal = signals_find(table, text.data);
  vec_free(table->heap, &text);
  return signal;
}

uint32_t signals_find(const SignalTable *table, const char *name) {
  Name text = names_find(&table->texts, name, strlen(name));
  return text == MAP_NONE ? MAP_NONE : map_get(&table->by_name, text);
}

void signals_suggest(const SignalTable *table, Diags *diags, Diag *diag, const char *name) {
  Suggestion best = {.word = name};
  for (uint32_t s = 0; s < table->list.count; s++) suggest_offer(&best, table->list.data[s].name);
  if (best.nearest) diag_note(diags, diag, (Span){0}, "did you mean `%s`?", best.nearest);
}
