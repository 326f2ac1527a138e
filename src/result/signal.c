/* signal: see signal.h. */
#include "result/signal.h"

#include "base/suggest.h"

#include <string.h>

/* An entry of the hash table: the hash avoids most visits to the list. */
typedef struct SignalPlace {
  uint32_t hash, signal; /* signal + 1; 0: empty */
} SignalPlace;

struct SignalIndex {
  SignalPlace *places; /* open addressing */
  uint32_t capacity;
  uint32_t signals; /* this many signals at the beginning of the table are in the index */
};

SignalTable *signals_new(Heap *heap) {
  SignalTable *table = heap_alloc(heap, sizeof *table);
  table->heap = heap;
  table->texts = names_make(heap);
  table->index = heap_alloc(heap, sizeof *table->index);
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

/* The place of the name in the hash table, or the place where it would be. Linear probing: at most two thirds are used. */
static SignalPlace *place_of(const SignalTable *table, const char *name, uint32_t hash) {
  uint32_t mask = table->index->capacity - 1, at = hash & mask;
  SignalPlace *places = table->index->places;
  for (; places[at].signal; at = (at + 1) & mask)
    if (places[at].hash == hash && strcmp(table->list.data[places[at].signal - 1].name, name) == 0) break;
  return &places[at];
}

/* Adds the signals that are not in the index yet. Of two signals with one name, the first stays. */
static void complete_index(const SignalTable *table) {
  SignalIndex *index = table->index;
  uint32_t count = table->list.count, capacity = 64;
  while (count > capacity / 3 * 2) {
    if (capacity > UINT32_MAX / 2) heap_fail(table->heap);
    capacity *= 2;
  }
  if (capacity > index->capacity) {
    heap_free(table->heap, index->places);
    *index = (SignalIndex){0};
    index->places = heap_array(table->heap, capacity, sizeof *index->places);
    index->capacity = capacity;
  }
  for (; index->signals < count; index->signals++) {
    const char *name = table->list.data[index->signals].name;
    uint32_t hash = hash_name(name, strlen(name));
    SignalPlace *place = place_of(table, name, hash);
    if (!place->signal) *place = (SignalPlace){hash, index->signals + 1};
  }
}

void signals_reserve(SignalTable *table, uint32_t count) { vec_reserve(table->heap, &table->list, count); }

uint32_t signals_add_kept(SignalTable *table, const Signal *signal) {
  vec_push(table->heap, &table->list, *signal);
  if (signal->column != SIGNAL_CONSTANT && signal->column >= table->columns) table->columns = signal->column + 1;
  if (!table->hides) table->listed = table->list.count, table->listed_columns = table->columns;
  return table->list.count - 1;
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
  if (table->index->signals < table->list.count) complete_index(table);
  return table->list.count ? place_of(table, name, hash_name(name, strlen(name)))->signal - 1 : MAP_NONE;
}

void signals_suggest(const SignalTable *table, Diags *diags, Diag *diag, const char *name) {
  Suggestion best = {.word = name};
  for (uint32_t s = 0; s < table->list.count; s++) suggest_offer(&best, table->list.data[s].name);
  if (best.nearest) diag_note(diags, diag, (Span){0}, "did you mean `%s`?", best.nearest);
}
