/* signal: see signal.h. */
#include "result/signal.h"

#include <regex.h>
#include <string.h>

SignalTable *signals_new(Heap *heap) {
  SignalTable *table = heap_alloc(heap, sizeof *table);
  table->heap = heap;
  table->texts = names_make(heap);
  table->by_name = map_make(heap);
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
  return index;
}

/* Names that begin with a quote get quotes, too, so that no two names become one. */
static void variable_name(Heap *heap, TextVec *text, const char *flat) {
  bool is_taken = strcmp(flat, "time") == 0 || strncmp(flat, "der(", 4) == 0 || *flat == '\'';
  text_printf(heap, text, is_taken ? "'%s'" : "%s", flat);
}

const char *signals_name(SignalTable *table, const char *flat) {
  TextVec text = {0};
  variable_name(table->heap, &text, flat);
  const char *name = keep(table, text.data);
  vec_free(table->heap, &text);
  return name;
}

uint32_t signals_find_variable(const SignalTable *table, const char *flat) {
  TextVec text = {0};
  variable_name(table->heap, &text, flat);
  uint32_t signal = signals_find(table, text.data);
  vec_free(table->heap, &text);
  return signal;
}

uint32_t signals_find(const SignalTable *table, const char *name) {
  Name text = names_find(&table->texts, name, strlen(name));
  return text == MAP_NONE ? MAP_NONE : map_get(&table->by_name, text);
}

/* ---- filter ---- */

struct SignalFilter {
  regex_t expression;
};

/* The C library's matcher is recursive in the nesting of the pattern. */
enum { PATTERN_LIMIT = 4096 };

static void free_expression(void *object) { regfree(object); }

static bool compile(Diags *diags, regex_t *expression, const char *pattern, const char *shown) {
  int error = regcomp(expression, pattern, REG_EXTENDED | REG_NOSUB);
  if (!error) return true;
  char reason[128];
  regerror(error, expression, reason, sizeof reason);
  Diag *diag = diag_error(diags, DIAG_USAGE, (Span){0, 0}, "`%s` is not a regular expression: %s", shown, reason);
  diag_note(diags, diag, (Span){0, 0}, "a POSIX extended regular expression for the whole name, such as `body\\..*|x`");
  return false;
}

SignalFilter *signal_filter_new(Heap *heap, Diags *diags, const char *pattern) {
  if (strlen(pattern) > PATTERN_LIMIT) {
    diag_error(diags, DIAG_USAGE, (Span){0, 0}, "the regular expression for variables is longer than %d bytes",
               PATTERN_LIMIT);
    return NULL;
  }
  SignalFilter *filter = heap_alloc(heap, sizeof *filter);
  TextVec whole = {0};
  text_printf(heap, &whole, "^(%s)$", pattern);
  /* Alone first: a stray parenthesis must not pair with those added here. */
  if (!compile(diags, &filter->expression, pattern, pattern)) return NULL;
  regfree(&filter->expression);
  if (!compile(diags, &filter->expression, *pattern ? whole.data : "^$", pattern)) return NULL;
  heap_defer(heap, free_expression, &filter->expression);
  vec_free(heap, &whole);
  return filter;
}

bool signal_filter_match(const SignalFilter *filter, const char *name) {
  return regexec(&filter->expression, name, 0, NULL, 0) == 0;
}
