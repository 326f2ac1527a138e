/* signal: see signal.h. */
#include "result/signal.h"

#include "base/suggest.h"

#include <string.h>

SignalTable *signals_new(Heap *heap) {
  SignalTable *table = heap_alloc(heap, sizeof *table);
  table->heap = heap;
  table->texts = names_make(heap);
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
  if (!text || !*text) return "";
  return names_text(&table->texts, names_add(&table->texts, text, strlen(text)));
}

const char *signals_text(SignalTable *table, const Names *names, Name name) {
  const char *text = names_text(names, name);
  return name < table->texts.first ? text : keep(table, text);
}

/* The slot of the name in the hash table, or the slot where it would be. Linear probing: at most two thirds of the slots are used. */
static uint32_t place_of(const SignalTable *table, const char *name, uint32_t hash) {
  uint32_t mask = table->capacity - 1, at = hash & mask;
  for (; table->places[at].signal; at = (at + 1) & mask) {
    SignalPlace place = table->places[at];
    if (place.hash == hash && strcmp(table->list.data[place.signal - 1].name, name) == 0) break;
  }
  return at;
}

static bool has_places(uint32_t capacity, uint32_t signals) { return signals <= capacity / 3 * 2; }

static void grow_places(SignalTable *table, uint32_t signals) {
  uint32_t before = table->capacity, capacity = before ? before : 64;
  SignalPlace *old = table->places;
  while (!has_places(capacity, signals)) {
    if (capacity > UINT32_MAX / 2) heap_fail(table->heap);
    capacity *= 2;
  }
  if (capacity == before) return;
  table->capacity = capacity;
  table->places = heap_array(table->heap, capacity, sizeof *old);
  for (uint32_t k = 0; k < before; k++) {
    uint32_t at = old[k].hash & (capacity - 1);
    if (!old[k].signal) continue;
    while (table->places[at].signal) at = (at + 1) & (capacity - 1);
    table->places[at] = old[k];
  }
  heap_free(table->heap, old);
}

void signals_reserve(SignalTable *table, uint32_t count) {
  grow_places(table, count);
  vec_reserve(table->heap, &table->list, count);
}

uint32_t signals_add_kept(SignalTable *table, const Signal *signal) {
  uint32_t index = table->list.count, hash = hash_name(signal->name, strlen(signal->name));
  grow_places(table, index + 1);
  SignalPlace *place = &table->places[place_of(table, signal->name, hash)];
  if (!place->signal) *place = (SignalPlace){hash, index + 1};
  vec_push(table->heap, &table->list, *signal);
  if (signal->column != SIGNAL_CONSTANT && signal->column >= table->columns) table->columns = signal->column + 1;
  if (!table->hides) table->listed = table->list.count, table->listed_columns = table->columns;
  return index;
}

uint32_t signals_add(SignalTable *table, const Signal *signal) {
  Signal copy = *signal;
  copy.name = keep(table, signal->name);
  copy.unit = keep(table, signal->unit);
  copy.display_unit = keep(table, signal->display_unit);
  copy.description = keep(table, signal->description);
  return signals_add_kept(table, &copy);
}

/* Names that begin with a quote get quotes, too, so that two names never become equal. A spreadsheet would compute a name that
 * begins with = + - @, even in quotes of CSV. */
static bool is_taken(const char *flat) {
  return strcmp(flat, "time") == 0 || strncmp(flat, "der(", 4) == 0 || (*flat && strchr("'=+-@", *flat));
}

void signals_print_name(Heap *heap, TextVec *text, const char *flat) {
  text_printf(heap, text, is_taken(flat) ? "'%s'" : "%s", flat);
}

const char *signals_name(SignalTable *table, const char *flat) {
  if (!is_taken(flat)) return flat;
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
  return table->capacity ? table->places[place_of(table, name, hash_name(name, strlen(name)))].signal - 1 : MAP_NONE;
}

void signals_suggest(const SignalTable *table, Diags *diags, Diag *diag, const char *name) {
  Suggestion best = {.word = name};
  for (uint32_t s = 0; s < table->list.count; s++) suggest_offer(&best, table->list.data[s].name);
  if (best.nearest) diag_note(diags, diag, (Span){0}, "did you mean `%s`?", best.nearest);
}
